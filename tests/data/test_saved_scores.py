"""Saved scores are not believed: what was edited or damaged is refused, with the file's name and nothing else."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
from raising import raises_code

import goldrank
from goldrank import Runs, Scores
from goldrank.base.errors import InputError
from goldrank.data.scores import ScoresByRun

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d4": 2}, "q3": {"d9": 0}}
RUN = {"q1": {"d1": 3.0, "d2": 3.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}, "q7": {"d1": 1.0}}


def saved(**policies: Any) -> dict[str, Any]:
    scores = goldrank.evaluate(QRELS, RUN, ["nDCG@10", "AP", "GMAP", "NumRet", "RR"], **policies)
    plain: dict[str, Any] = json.loads(scores.to_json())
    return plain


def load(data: Any, folder: Path) -> Scores:
    (folder / "s.json").write_text(json.dumps(data))
    return Scores.load(folder / "s.json")


@pytest.mark.parametrize("policies", [{}, {"empty": "nan"}, {"empty": "skip"}, {"ties": "bounds"}, {"missing": "skip"}])
def test_what_was_saved_is_read(policies: dict[str, str], tmp_path: Path) -> None:
    data = _with_bounds() if "ties" in policies else saved(**policies)
    assert json.loads(load(data, tmp_path).to_json()) == data


def _with_bounds() -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(goldrank.evaluate(QRELS, RUN, ["AP", "RR"], ties="bounds").to_json())
    assert plain["bounds"]
    return plain


def changed(data: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(data)
    *keys, last = path.split(".")
    inner: Any = data
    for key in keys:
        inner = inner[int(key) if isinstance(inner, list) else key]
    inner[int(last) if isinstance(inner, list) else last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("measures.AP.summary", 0.99, "AP is 0.99 in it, and its values give 0.333333"),
        ("measures.AP.summary", None, "AP is nan in it"),
        ("measures.AP.values.0", 5.0, "AP is 0.333333 in it"),
        ("measures.NumRet.average", "mean", "NumRet is 5 in it"),
        ("measures.AP.average", "median", "average is 'median'"),
        ("queries.1", "q1", "a query id is duplicated"),
        ("queries.1", 7, "a query id is 7"),
        ("measures.AP.values", [1.0], "AP has 1 values for 3 queries"),
        ("measures.AP.values.0", "0.5", "a value is '0.5'"),
        ("measures.AP.values.0", True, "a value is True"),
        ("measures.AP.higher_is_better", "no", "higher_is_better is 'no'"),
        ("counts.missing", "1", "missing is '1'"),
        ("notes", "all fine", "notes is 'all fine'"),
        ("notes.0", {"code": "missing-queries", "facts": {}, "samples": [], "about": ""}, "damaged"),
        ("notes.0.about", [1], "damaged"),
        ("notes.0.samples", [None], "damaged"),
        ("provenance.qrels", 0.5, "qrels is 0.5"),
        ("provenance.policies", ["x"], "policies is"),
        ("provenance", [], r"provenance is \[\]"),
        ("run", 3, "run is 3"),
        ("measures", [], r"measures is \[\]"),
    ],
)
def test_edited_files_are_refused(path: str, value: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as caught:
        load(changed(saved(), path, value), tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "s.json"))


def test_values_that_a_measure_cannot_have(tmp_path: Path) -> None:
    data = saved()
    data["measures"]["AP"] |= {"values": [5.0, 5.0, 5.0], "summary": 5.0}
    with pytest.raises(InputError, match="AP has the value 5, which it cannot"):
        load(data, tmp_path)


def _paths(value: Any, before: str = "") -> list[str]:
    found = [before] if before else []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found += _paths(inner, f"{before}.{key}" if before else str(key))
    return found


WRONG = (None, True, 0, -1, 7, 0.25, 1e308, -1e-9, "", "x", [], {}, ["a"], {"a": 1}, "nan", 10**30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_mutated_files_are_refused_or_consistent(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    sound = _with_bounds() if seed % 3 == 0 else saved(empty=rng.choice(("zero", "nan", "skip")))
    paths = [path for path in _paths(sound) if "." in path or path in sound]
    refused = 0
    for _ in range(60):
        path = rng.choice(paths)
        if "." in path.split("@")[0] and path.count("@"):
            path = rng.choice([other for other in paths if "@" not in other])
        data = changed(sound, path, rng.choice(WRONG))
        try:
            scores = load(data, tmp_path)
        except InputError:
            refused += 1
            continue
        for name, column in scores.columns.items():
            if column.average == "mean" and len(column.counted) and not math.isnan(column.summary):
                assert column.summary == pytest.approx(sum(column.counted) / len(column.counted)), (path, name)
        assert repr(scores)
        assert scores._repr_html_()
        assert Scores.from_dict(json.loads(scores.to_json())) == scores
    assert refused > 15


def test_runs_with_other_measures_are_one_table(tmp_path: Path) -> None:
    """A file of several runs may have been put together by hand."""
    goldrank.evaluate(QRELS, Runs(a=RUN, b=RUN), ["AP", "RR"]).save(tmp_path / "s.json")
    data = json.loads((tmp_path / "s.json").read_text())
    del data["runs"][1]["measures"]["RR"]
    (tmp_path / "s.json").write_text(json.dumps(data))
    loaded = ScoresByRun.load(tmp_path / "s.json")
    assert loaded.to_polars()["RR"].to_list() == [0.5, 1.0, 0.0, None, None, None]
    assert loaded.to_pandas()["RR"].isna().tolist() == [False] * 3 + [True] * 3


@pytest.mark.parametrize("count", [-1, 2**63, 10**400])
def test_a_count_that_cannot_be_is_refused(count):
    data = goldrank.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP").to_dict()
    data["counts"]["retrieved"] = count
    with raises_code(InputError, "damaged-file"):
        Scores.from_dict(data)


@pytest.mark.parametrize(
    "change",
    [lambda runs: 3, lambda runs: None, lambda runs: [], lambda runs: dict(enumerate(runs)),
     lambda runs: [3], lambda runs: [runs]],
)  # fmt: skip
def test_runs_edited_by_hand_are_refused(tmp_path: Path, change) -> None:
    path = tmp_path / "s.json"
    goldrank.evaluate(QRELS, Runs(a=RUN, b=RUN), ["AP"]).save(path)
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"runs": change(data["runs"])}))
    with pytest.raises(InputError, match=re.escape(str(path))):
        ScoresByRun.load(path)


@pytest.mark.parametrize("fact", [float("nan"), float("inf")])
def test_a_fact_that_could_not_be_written_again_is_refused(fact):
    data = goldrank.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP").to_dict()
    data["notes"] = [{"code": "high-grade", "facts": {"grade": fact}, "about": "", "samples": []}]
    with raises_code(InputError, "damaged-file"):
        Scores.from_dict(data)


@pytest.mark.parametrize("name", ["\ud800", "a\udc80", "query"])
def test_names_that_no_measure_has_are_refused(name: str, tmp_path: Path) -> None:
    data = saved()
    data["measures"][name] = next(iter(data["measures"].values()))
    with pytest.raises(InputError, match="cannot be the name of a measure"):
        load(data, tmp_path)


def test_data_frames_show_the_bytes_of_a_name_that_is_no_text() -> None:
    both = goldrank.evaluate(QRELS, Runs({"caf\udce9": RUN, "b": RUN}), "RR")
    expected = {"caf\\udce9", "b"}  # a file called so in Latin-1
    assert set(both.to_polars()["run"]) == expected
    assert set(both.to_pandas()["run"]) == expected
