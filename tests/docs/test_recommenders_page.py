"""The examples of docs/recommenders.md and docs/arrays.md run, name what there is, and so does the script of films."""

from __future__ import annotations

import importlib
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import places
import polars as pl
import pytest

import goldrank
from goldrank import Scores
from goldrank.base.errors import BaselineError, MeasureError
from goldrank.measures import REGISTRY, parse


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (places.ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(("page", "number"), [("recommenders.md", 3), ("arrays.md", 4)])
def test_examples(page, number):
    found = blocks(page)
    assert len(found) == number
    names: dict[str, Any] = {}
    for code in found:
        *before, last = re.split(r"\n(?=\S)", code.strip())
        exec("\n".join(before), names)
        result = eval(last, names)
        assert isinstance(result, Scores | dict)
        assert result
        assert not any(math.isnan(value) for value in result.values())


def test_arrays_in_other_packages():
    """Functions of wrappers that the page only names are there, and its example of polars gives the right values."""
    text = (places.ROOT / "docs" / "arrays.md").read_text(encoding="utf-8")
    wrappers, in_polars = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    modules = re.search(r"^from goldrank\.integrations import (.*)$", wrappers, re.MULTILINE)[1].split(", ")
    assert len(modules) >= 9
    called = re.findall(rf"(?<![\w.])({'|'.join(modules)})\.(\w+)\(", wrappers)
    assert len(called) >= 9
    for module, function in called:
        assert callable(getattr(importlib.import_module(f"goldrank.integrations.{module}"), function))
    frame = pl.DataFrame({"query": ["q1", "q1", "q2"], "grade": [0, 1, 1], "score": [2.0, 1.0, 3.0]})
    names = {"frame": frame, "pl": pl, "evaluate_arrays": goldrank.evaluate_arrays}
    exec(in_polars.replace("frame.group_by", "found = frame.group_by"), names)
    assert dict(names["found"].rows()) == {"q1": 1 / 2, "q2": 1.0}


def test_every_measure_of_items_is_on_the_page():
    text = (places.ROOT / "docs" / "recommenders.md").read_text(encoding="utf-8")
    names = [name for name, declaration in REGISTRY.items() if declaration.over == "recommended"]
    assert names
    for name in names:
        assert f"`{name}" in text, name


def test_the_advice_for_recommendations_knows_them():
    advice = goldrank.choose("recommendation")
    assert {parse(one).declaration.over for one in advice.beyond} == {"recommended"}
    assert "ItemCoverage@20" in goldrank.choose("recommendation", k=20).beyond
    assert "docs/recommenders.md" in str(advice)


def test_scores_with_and_without_train_are_kept_apart(tmp_path):
    qrels, run = {"u1": ["c"], "u2": ["b"]}, {"u1": ["a", "c"], "u2": ["b", "a"]}
    without = goldrank.evaluate(qrels, run, "R@1")
    known = goldrank.Catalogue(train={"u1": ["a"], "u2": ["c"]})
    removed = goldrank.evaluate(qrels, run, "R@1", catalogue=known)
    with pytest.raises(BaselineError, match="train removed"):
        goldrank.gate(removed, "R@1: -5%", without)
    with goldrank.History(tmp_path / "history.db") as history:
        for scores in (without, removed):
            history.record(scores, label="main")
        assert [of.line.values for of in history.trend("R@1").lines] == [[0.5], [1.0]]


def test_names_with_several_meanings():
    text = " ".join((places.ROOT / "docs" / "recommenders.md").read_text(encoding="utf-8").split())
    assert "`coverage` means `Cover`, of texts; with ids it is an error that names `ItemCoverage`" in text
    assert list(goldrank.evaluate_texts([{"retrieved": ["a"], "references": ["a"]}], "coverage").mean) == ["Cover"]
    for name, meant in (("coverage@5", "ItemCoverage@5"), ("diversity", "IntraListDiversity@10")):
        with pytest.raises(MeasureError, match=meant):
            goldrank.evaluate({"u": ["a"]}, {"u": ["a", "b"]}, name)


@pytest.mark.slow
def test_the_script_of_films(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(places.ROOT / "examples" / "movies.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(goldrank.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "ItemCoverage@10" in done.stdout
    assert "nDCG@10" in done.stdout
