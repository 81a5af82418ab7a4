"""How measures are declared: what suffices, what is refused, and functions as measures."""

from __future__ import annotations

import math
import pickle
from functools import partial

import numpy as np
import pytest
from raising import raises_code
from restoring import restored_registry

from goldrank import Matching, Scores, evaluate, evaluate_texts, measure
from goldrank.base.errors import InputError, MeasureError
from goldrank.conventions import Convention
from goldrank.measures import REGISTRY, known, parse, parse_all
from goldrank.measures.declare import Declaration

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"a": 1}}
RUN = {"q1": ["a", "x", "b"], "q2": ["x", "a"]}


def state() -> tuple[dict[str, Declaration], list[object]]:
    """Everything that declaring a measure may change, as far as callers can see it."""
    return dict(REGISTRY), [known(alias) for one in REGISTRY.values() for alias in one.aliases]


# A name and a function suffice.


@pytest.mark.usefixtures("registry")
def test_a_name_and_a_function_suffice():
    @measure("Early")
    def early(p):
        return p.count((p.grade >= 1) & (p.rank <= 2)) / 2

    assert evaluate(QRELS, RUN, "Early").per_query["Early"] == {"q1": 0.5, "q2": 0.5}
    assert str(parse("early")) == "Early"
    declared = REGISTRY["Early"]
    assert (declared.cutoff, declared.summary, declared.formula, declared.cite) == ("none", "Early", "", "")


@pytest.mark.usefixtures("registry")
def test_a_function_with_k_has_a_cutoff():
    @measure("Seen")
    def seen(p, *, k, rel=1, weight=2.0, twice=False):
        found = p.grade >= rel
        return weight * (1 + twice) * p.count(found if k is None else found & (p.rank <= k))

    scores = evaluate(QRELS, RUN, ["Seen", "Seen@1", "Seen(rel=2, weight=0.5, twice=True)"])
    assert scores.per_query["Seen"] == {"q1": 4.0, "q2": 2.0}
    assert scores.per_query["Seen@1"] == {"q1": 2.0, "q2": 0.0}
    assert scores.per_query["Seen(rel=2, twice=True, weight=0.5)"] == {"q1": 1.0, "q2": 0.0}
    with pytest.raises(MeasureError, match="twice is 3"):
        parse("Seen(twice=3)")


@pytest.mark.usefixtures("registry")
def test_nothing_is_claimed_that_was_not_said():
    """Bounds need a measure that says it is monotone, and means over ties one that says how."""

    @measure("Odd")
    def odd(p):
        return p.first(p.grade >= 1) % 2

    for policy in ({"ties": "bounds"}, {"bounds": "unjudged"}, {"ties": "expected"}):
        with pytest.raises(MeasureError):
            evaluate(QRELS, RUN, "Odd", **policy)


@pytest.mark.usefixtures("registry")
def test_ties_and_texts_are_declared():
    def as_expected(p, *, rel=1):
        return np.full(len(p), 0.25)

    def on_texts(p, *, rel=1):
        return np.full(len(p), 0.75)

    @measure("Told", ties=as_expected, texts=on_texts)
    def told(p, *, rel=1):
        return np.zeros(len(p))

    items = [{"retrieved": ["a"], "references": ["a"]}]
    assert evaluate(QRELS, RUN, "Told", ties="expected")["Told"] == 0.25
    assert evaluate_texts(items, "Told", matching="exact")["Told"] == 0.75
    assert evaluate_texts(items, "Told", matching=Matching("exact", credit="one_to_one"))["Told"] == 0.0
    with raises_code(MeasureError, "no-meaning-for-pairs"):
        evaluate_texts(items, "Told", matching=Matching("exact", credit="pairs"))


# What is refused.


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("name", ["nDCG", "ndcg", "MAP", "map", "P_5", "ndcg_cut_10", "success"])
def test_a_name_that_is_taken(name):
    before = state()
    with raises_code(MeasureError, "name-taken", match="replace=True"):
        measure(name)(lambda p: np.ones(len(p)))
    with raises_code(MeasureError, "name-taken"):
        measure("Fresh", aliases=(name,))(lambda p: np.ones(len(p)))
    assert state() == before
    assert evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"] < 1


@pytest.mark.usefixtures("registry")
def test_replacing_on_purpose():
    measure("nDCG", replace=True)(lambda p: np.ones(len(p)))
    assert evaluate(QRELS, RUN, "nDCG")["nDCG"] == evaluate(QRELS, RUN, "ndcg")["nDCG"] == 1.0
    assert known("ndcg_cut_10") is None  # a name of the one that was replaced
    measure("Mine", aliases=("MAP",), replace=True)(lambda p: np.ones(len(p)))
    assert str(parse("map")) == "Mine"
    assert str(parse("AP")) == "AP"  # which keeps its other names
    with raises_code(MeasureError, "name-taken", match="'AP'"):
        measure("Other", aliases=("AP",), replace=True)(lambda p: np.ones(len(p)))
    measure("rr", replace=True)(lambda p: np.ones(len(p)))
    assert "RR" not in REGISTRY, "names that differ in case only are one name"
    assert str(parse("RR")) == str(parse("rr")) == "rr"


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("about", "match"),
    [
        ({"over": "documents"}, "over is 'documents'"),
        ({"average": "median"}, "average is 'median'"),
        ({"cutoff": "ever"}, "cutoff is 'ever'"),
        ({"ties": "none"}, "ties is 'none'"),
        ({"texts": "all"}, "texts is 'all'"),
        ({"cutoff": "needed"}, "takes no `k`"),
        ({"aliases": ("Fresh",)}, "twice"),
        ({"low": 1, "high": 0}, "low"),
        ({"texts": None}, "texts is None"),
        ({"per_query": True, "over": "spans"}, "reads placements"),
    ],
)
def test_a_wrong_declaration_changes_nothing(about, match):
    before = state()
    with pytest.raises(MeasureError, match=match):
        measure("Fresh", **about)(lambda p: np.ones(len(p)))
    for name in ("a b", "", "2nd", "_x"):
        with raises_code(MeasureError, "bad-measure-name"):
            measure(name)(lambda p: np.ones(len(p)))
    with raises_code(MeasureError, "undeclared-option"):

        @measure("Fresh")
        def fresh(p, *, mode="words"):
            return np.ones(len(p))

    with raises_code(MeasureError, "no-default"):

        @measure("Fresh")
        def fresh_too(p, *, rel):
            return np.ones(len(p))

    assert state() == before


def test_what_was_registered_is_forgotten():
    before = state()
    with restored_registry():
        measure("nDCG", replace=True)(lambda p: np.ones(len(p)))
        measure("Fresh", aliases=("MAP",), replace=True)(lambda p: np.ones(len(p)))
    assert state() == before
    assert list(REGISTRY) == list(before[0]), "the order is that of the documentation"
    assert known("Fresh") is None


# Functions as measures.


def first_grade(ranked, judged):
    return ranked[0] or 0


class Scaled:
    """A callable object."""

    def __call__(self, ranked, judged):
        return len(ranked) / 2


def test_functions_are_measures():
    scores = evaluate(
        QRELS,
        RUN,
        [first_grade, lambda ranked, judged: len(judged), "AP", lambda ranked, judged: len(ranked), Scaled()],
    )
    assert scores.per_query["first_grade"] == {"q1": 1.0, "q2": 0.0}
    assert scores.per_query["function"] == {"q1": 3.0, "q2": 1.0}
    assert scores.per_query["function_2"] == {"q1": 3.0, "q2": 2.0}
    assert scores.per_query["Scaled"] == {"q1": 1.5, "q2": 1.0}
    assert list(scores.columns) == ["first_grade", "function", "AP", "function_2", "Scaled"]
    assert evaluate(QRELS, RUN, first_grade)["first_grade"] == 0.5
    assert "first_grade" not in REGISTRY


def test_what_a_function_is_given():
    seen = []
    evaluate({"q": {"a": 2, "b": -1, "c": 0}}, {"q": ["x", "a", "b"]}, lambda *given: seen.append(given) or 1)
    assert seen == [([None, 2, -1], [2, 0, -1])]


def test_a_function_named_like_a_measure():
    def ndcg(ranked, judged):
        return 7

    def P_5(ranked, judged):  # noqa: N802
        return 8

    def precision(ranked, judged):
        return 9

    scores = evaluate(QRELS, RUN, ["nDCG", ndcg, "P@5", P_5, precision])
    assert list(scores.columns) == ["nDCG", "ndcg_function", "P@5", "P_5_function", "precision_function"]
    assert scores["ndcg_function"] == 7
    assert scores["nDCG"] < 1


def test_the_same_function_is_one_column():
    assert [str(one) for one in parse_all([first_grade, "AP", first_grade])] == ["first_grade", "AP"]
    other = partial(first_grade)
    assert [str(one) for one in parse_all([other, first_grade, partial(first_grade)])] == [
        "function",
        "first_grade",
        "function_2",
    ]


def test_the_functions_of_declared_measures_are_those_measures():
    from goldrank.measures.rank import average_precision

    assert parse(average_precision) == parse("AP")


def test_functions_have_no_bounds_and_no_options():
    for policy in ({"ties": "bounds"}, {"bounds": "unjudged"}, {"ties": "expected"}):
        with pytest.raises(MeasureError):
            evaluate(QRELS, RUN, first_grade, **policy)
    items = [{"retrieved": ["a", "b"], "references": ["b", "c"]}]
    scores = evaluate_texts(items, lambda ranked, judged: 5 + len(judged), matching="exact")
    assert scores["function"] == 7.0, "values of one's own have no upper bound"


def test_a_function_that_does_not_fit():
    for function in (lambda ranked: 1.0, lambda: 1.0, lambda ranked, judged, third: 1.0):
        with raises_code(MeasureError, "bad-function"):
            parse(function)
    for value in (None, "1", [1.0]):
        with pytest.raises(MeasureError, match=r"function returned .* for query 'q1'"):
            evaluate(QRELS, RUN, lambda ranked, judged, value=value: value)
    assert math.isnan(parse(lambda ranked, judged: math.nan)(_placements())[0])
    for nothing in (5, None, 1.5):
        with raises_code(MeasureError, "wrong-type"):
            parse(nothing)
    with raises_code(InputError, "no-measures"):
        parse_all([])
    for wrong in (3, 1.5, [3], {"AP": 3}.values()):
        with raises_code(MeasureError, "wrong-type"):
            evaluate(QRELS, RUN, wrong)


def _placements():
    from goldrank import io
    from goldrank.evaluation.pipeline import place

    return place(io.as_qrels(QRELS), io.as_run(RUN), Convention()).placements


def test_measures_go_through_pickle():
    for one in (parse("nDCG(gain={1: 2})@3"), parse(first_grade)):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert again(_placements()).tolist() == one(_placements()).tolist()


def test_a_budget_of_tokens_needs_texts():
    items = [
        {"retrieved": [{"text": "abc", "source": "s", "start": 0}], "evidence": [{"source": "s", "start": 0, "end": 3}]}
    ]
    for spelled in ("StRecall(tokens=2)@5",):
        with raises_code(MeasureError, "no-token-budget"):
            evaluate_texts([{**items[0], "references": ["abc"]}], spelled)


@pytest.mark.parametrize("name", [name for name, declared in REGISTRY.items() if declared.over != "placements"])
def test_what_is_declared_is_read(name):
    """Flags that only measures of placements have are not set on others."""
    declared = REGISTRY[name]
    assert (declared.monotone, declared.ties, declared.texts, declared.limited_by_k) == (False, None, "texts", False)


def test_known_is_none_for_what_is_not_declared():
    assert str(known("ndcg_cut_10")) == "nDCG@10"
    assert known("first_grade") is None
    assert known("nDCG@0") is None


@pytest.mark.parametrize("name", ["query", "run"])
def test_the_names_of_ids_are_taken(name):
    """A measure of that name would take the place of the ids in tables of values."""
    with raises_code(MeasureError, "bad-measure-name"):
        measure(name)(lambda ranked, judged: 1.0)

    def function(ranked, judged):
        return 0.5

    function.__name__ = name
    scores = evaluate({"q": {"d": 1}}, {"q": ["d"]}, [function])
    assert scores.to_polars().to_dicts() == [{"query": "q", f"{name}_function": 0.5}]
    saved = scores.to_dict()
    saved["measures"][name] = saved["measures"].pop(f"{name}_function")
    with pytest.raises(InputError, match=f"'{name}' cannot be the name"):
        Scores.from_dict(saved)


def test_a_geometric_mean_with_a_zero_is_zero():
    with restored_registry():

        @measure("Found", average="geometric")
        def found(p):
            return p.count(p.grade >= 1).astype(float)

        scores = evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"x": 1.0}}, "Found")
    assert scores.per_query["Found"] == {"q": 1.0, "r": 0.0}
    assert scores["Found"] == 0.0
