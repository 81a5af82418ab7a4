"""Nouns and results never change, are equal by content, and come back equal from a copy in another process."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from dataclasses import is_dataclass
from typing import Any

import made_up
import numpy as np
import pytest

import goldrank
from goldrank.data.equality import same
from goldrank.data.showing import Result

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
RUN = {"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d3": 0.5, "d4": 0.1}}
RUNS = {"a": RUN, "b": {"q1": ["d1"], "q2": ["d9"]}}

NOUNS = {
    "Qrels": lambda: goldrank.Qrels(QRELS),
    "Run": lambda: goldrank.Run(RUN),
    "Run of lists": lambda: goldrank.Run({"q1": ["a", "b"]}),
    "Runs": lambda: goldrank.Runs(RUNS),
    "Queries": lambda: goldrank.Queries({"q1": {"text": "why?", "kind": "x"}}),
    "Documents": lambda: goldrank.Documents({"d1": "text"}),
    "Catalogue": lambda: goldrank.Catalogue(["a", "b"], train={"u": ["a"]}, vectors={"a": [1, 0], "b": [0, 1]}),
    "AspectQrels": lambda: goldrank.AspectQrels({"q1": {"price": {"d1": 1}}}),
    "Preferences": lambda: goldrank.Preferences({"q1": {"judge": [{"d1": 1, "d2": 0}]}}),
    "Convention": lambda: goldrank.Convention("ranx", missing="skip"),
    "Statistics": lambda: goldrank.Statistics(alpha=0.01),
    "Matching": lambda: goldrank.Matching("exact"),
    "Fusion": lambda: goldrank.Fusion("rrf", k=10),
}
RESULTS = {
    "Scores": lambda: goldrank.evaluate(QRELS, RUN, ["AP", "P@2"]),
    "ScoresByRun": lambda: goldrank.evaluate(QRELS, goldrank.Runs(RUNS), "AP"),
    "Comparison": lambda: goldrank.compare(QRELS, RUNS, ["AP", "P@2"]),
    "Pair": lambda: goldrank.compare(QRELS, RUNS, "AP").pair,
    "Leaderboard": lambda: goldrank.compare(*made_up.make_runs(), "AP").leaderboard(),
    "Diff": lambda: goldrank.diff(QRELS, *RUNS.values()),
    "RunIntervals": lambda: goldrank.score_intervals(goldrank.evaluate(QRELS, RUN, "AP")),
    "RankAgreement": lambda: goldrank.rank_agreement(*RUNS.values()),
    "Plan": lambda: goldrank.plan(deviation=0.3),
    "Verdict": lambda: goldrank.gate(goldrank.evaluate(QRELS, RUN, "AP"), "AP >= 0.3"),
    "TunedFusion": lambda: goldrank.tune_fusion(QRELS, RUNS, folds=2),
}
ALL = NOUNS | RESULTS


@pytest.mark.parametrize("name", ALL)
def test_equal_by_content_also_after_a_copy(name: str) -> None:
    made = ALL[name]()
    assert made == ALL[name]()
    assert pickle.loads(pickle.dumps(made)) == made
    assert copy.deepcopy(made) == made
    assert made != "another thing"
    assert "\n" not in repr(made)


@pytest.mark.parametrize("name", ALL)
def test_public_attributes_cannot_be_set(name: str) -> None:
    made = ALL[name]()
    for attribute in ("name", "notes", "anything"):
        with pytest.raises(AttributeError):
            setattr(made, attribute, "changed")
        with pytest.raises((AttributeError, TypeError)):
            delattr(made, attribute)
    assert made == ALL[name]()


def test_another_content_is_not_equal() -> None:
    assert goldrank.compare(QRELS, RUNS, "AP") != goldrank.compare(QRELS, RUNS, "P@2")
    assert goldrank.Catalogue(["a"]) != goldrank.Catalogue(["b"])
    assert goldrank.Catalogue(["a"], train={"u": ["a"]}) != goldrank.Catalogue(["a"], train={"u": ["b"]})
    one = goldrank.Preferences({"q1": {"judge": [{"d1": 1, "d2": 0}]}})
    assert one != goldrank.Preferences({"q1": {"judge": [{"d1": 0, "d2": 1}]}})


def test_a_run_says_how_it_gets_another_name() -> None:
    run = goldrank.Run(RUN)
    with pytest.raises(AttributeError, match=r"a Run does not change: its name cannot be set; renamed\('...'\)"):
        run.name = "bm25"
    assert run.renamed("bm25").name == "bm25"
    assert run.name == "run"


def test_judgements_by_aspect_are_read_only() -> None:
    qrels: Any = goldrank.AspectQrels({"q1": {"price": {"d1": 1}}})
    with pytest.raises(TypeError):
        qrels["q1"]["price"]["d1"] = 2
    with pytest.raises(TypeError):
        qrels["q1"]["taste"] = {}


def test_results_leave_equality_to_their_base_class() -> None:
    """What Python makes for data classes raises on arrays, and says that NaN differs from itself."""
    kinds = [getattr(goldrank, name) for name in goldrank.__all__]
    results = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, Result) and is_dataclass(kind)]
    own = {kind.__name__ for kind in results if kind.__eq__ is not Result.__eq__}
    assert len(results) > 20
    assert own == {"Scores"}


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (math.nan, math.nan, True),
        (1, 1.0, True),
        ((math.nan,), (math.nan,), True),
        ([1.0], (1.0,), False),
        ({"a": math.nan}, {"a": math.nan}, True),
        ({"a": 1}, {"b": 1}, False),
        (np.array([1.0, math.nan]), np.array([1.0, math.nan]), True),
        (np.array([1.0]), np.array([1.0, 2.0]), False),
        (np.array(["a"]), np.array(["a"]), True),
        (np.array([1.0]), 1.0, False),
    ],
)
def test_same(first: object, second: object, is_same: bool) -> None:
    assert same(first, second) is is_same
