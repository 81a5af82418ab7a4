"""docs/migrating.md: what its right columns say is there, and runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import places
import pytest
from peers.run_suites import SUITES

import goldrank
from goldrank.base.errors import GoldrankError
from goldrank.measures import REGISTRY, parse

PAGE = (places.ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
ROWS = [
    (section.splitlines()[0], re.split(r" \| ", line.strip("| "))[1])
    for section in PAGE.split("\n## ")[1:]
    for line in section.splitlines()
    if line.startswith("| ") and len(re.split(r" \| ", line.strip("| "))) == 2 and section[:5] != "Speed"
]
CODE = [(tool, code) for tool, cell in ROWS for code in re.findall(r"`([^`]+)`", cell)]
CALLS = [(tool, code) for tool, code in CODE if re.match(r"(goldrank\.)?\w+\(.*\)", code) and "..." not in code]


@pytest.fixture
def names(tmp_path: Path) -> dict[str, Any]:
    qrels = {f"q{i}": {"a": 1, "b": 2} for i in range(5)}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    dataset = [{"user_input": "When?", "retrieved_contexts": ["Built in 1889."], "reference": "Built in 1889."}]
    import ir_measures

    (tmp_path / "aspects.txt").write_text("q1 1 a 1\n")
    given = {
        "file": tmp_path / "aspects.txt",
        "qrels": qrels,
        "run": run,
        "runs": {"a": run, "b": run},
        "measures": ["AP"],
        "dataset": dataset,
    }
    public = {name: getattr(goldrank, name) for name in goldrank.__all__}
    return {**public, **given, "goldrank": goldrank, "ir_measures": ir_measures}


def is_measure(code: str) -> bool:
    try:
        return code in REGISTRY or bool(parse(code.strip('"')))
    except GoldrankError:
        return False


def test_names_and_spellings_are_known() -> None:
    spelled = [code for _, code in CODE if re.fullmatch(r'"?[A-Z]\w*(\(.*\))?(@\d+)?"?|"[a-z_]+(-l\d)?"', code)]
    spelled = [code for code in spelled if not hasattr(goldrank, code.split("(")[0])]
    assert len(spelled) > 25
    assert [code for code in spelled if not is_measure(code)] == []


@pytest.mark.parametrize(("tool", "code"), [call for call in CALLS if not is_measure(call[1])])
def test_calls_run(tool: str, code: str, names: dict[str, Any]) -> None:
    assert eval(code, names) is not None, tool


def test_most_calls_are_found() -> None:
    assert sum(not is_measure(code) for _, code in CALLS) >= 8


def test_every_tool_of_the_list_has_a_section_or_a_link() -> None:
    for tool in ("trec_eval", "pytrec_eval", "ir_measures", "ranx", "scikit-learn", "torchmetrics", "BEIR", "Ragas"):
        assert re.search(rf"^## .*{tool}", PAGE, re.MULTILINE), tool
    for tool in ("continuous-eval", "Axion", "REMem"):
        assert re.search(rf"^## .*{tool}", PAGE, re.MULTILINE), tool


def test_every_test_of_a_peer_that_fails_is_explained():
    """What `make peers` expects to fail is a row with a reason."""
    rows = [line for line in PAGE.splitlines() if re.match(r"\| `\w+\.py::", line)]
    for suite in SUITES:
        for test in suite.expected:
            file, name = Path(test.split("::")[0]).name, test.split("::")[-1]
            (row,) = [line for line in rows if file in line and f"::{name}`" in line]
            assert len(row.split("|")[2].strip()) > 40
