"""What the house counts of itself: carriers of options, and how often calls go from one package into another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import tracing

import goldrank
from goldrank import cli

SOURCE = Path(goldrank.__file__).parent

GONE = frozenset(
    [
        *("CorrectedOptions", "EvaluateOptions", "CompareOptions", "ReadingPlan", "Background"),
        *("AskOptions", "Asking", "Settings"),
    ]
)
"""Classes that carried options of verbs before nouns did."""

MOST_SWITCHES = {"evaluate": 185, "eval": 360, "compare": 2_800, "gate": 280}
"""Calls from one package into another on the demo's data. Most are of measures on placements, and of pages on pairs.

bm25 ties documents: to say how far their order could move each value takes 134 of the calls of `eval`.
"""


def test_no_old_carrier_of_options_is_left():
    classes = set()
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert "Statistics" in classes
    assert not classes & GONE


def test_options_are_not_taken_from_local_names():
    """No `locals()`, `__kwdefaults__` or `SimpleNamespace` hands options on."""
    used = []
    for path in set(SOURCE.rglob("*.py")) - {SOURCE / "measures" / "declare.py"}:  # it looks at functions of users
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "id", None) or getattr(node, "attr", None)
            if name in ("locals", "SimpleNamespace", "__kwdefaults__"):
                used.append(f"{path.name}: {name}")
    assert used == []


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    assert cli.run(["demo", "--write", str(tmp_path)]) == 0
    return tmp_path


def test_calls_between_packages_stay_few(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, first, second = (str(demo / name) for name in ("household.qrels", "bm25.run", "overlap.run"))
    commands = {
        "eval": ["eval", qrels, first],
        "compare": ["compare", qrels, first, second, "-o", str(demo / "page.html")],
        "gate": ["gate", qrels, first, "--rule", "nDCG@10 >= 0.1"],
    }
    calls = {name: lambda words=words: cli.run(words) for name, words in commands.items()}
    calls["evaluate"] = lambda: goldrank.evaluate(qrels, first, ["nDCG@10", "AP"])

    for name, call in calls.items():
        call()  # what is made once is made now
        counted = tracing.switches(call)
        assert 0 < sum(counted.values()) <= MOST_SWITCHES[name], counted.most_common(5)
    capsys.readouterr()


def test_pages_read_nothing_and_rank_nothing(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report shows what a comparison holds: it opens no file, places no document and measures nothing."""
    qrels, first, second = (demo / name for name in ("household.qrels", "bm25.run", "overlap.run"))
    comparison = goldrank.compare(qrels, [first, second], ["nDCG@10", "AP"])
    assert comparison.curves

    from goldrank.report.show import render

    render(comparison, "html")
    counted = tracing.switches(lambda: render(comparison, "html"))
    entered = {package for _, package in counted}
    assert "comparison" in entered
    assert not entered & {"io", "engine"}
