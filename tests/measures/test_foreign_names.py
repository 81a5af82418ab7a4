"""Other tools' names of measures: each means what it means there, or is refused."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from raising import raises_code

from goldrank import evaluate
from goldrank.base.errors import MeasureError
from goldrank.measures import REGISTRY, parse, parse_all
from goldrank.measures.declare import ALIASES

QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 3}}
RUN = {"q": ["b", "x", "a", "c"]}
_COUNTS = ("NumQ", "NumRet", "NumRel", "NumRelRet")


@pytest.mark.parametrize(
    ("spelled", "means"),
    [
        ("rbp.95", "RBP(p=0.95)"),
        ("rbp.8", "RBP(p=0.8)"),
        ("rbp.p=0.5", "RBP(p=0.5)"),
        ("rbp@10", "RBP@10"),
        ("map-l2", "AP(rel=2)"),
        ("precision@10-l2", "P(rel=2)@10"),
        ("f1@10-l2", "F(rel=2)@10"),
        ("F(beta=2)@10-l3", "F(beta=2, rel=3)@10"),
        ("dcg_burges@5", 'DCG(gain="exp2")@5'),
        ("ndcg@10-l1", "nDCG@10"),
        ("ndcg@10-l3", "nDCG(gain={1: 0, 2: 0})@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("set_F.0.25", "SetF(weight=0.25)"),
        ("set_F_0.25", "SetF(weight=0.25)"),
        ("ndcg.1=2,2=4", "nDCG(gain={1: 2, 2: 4})"),
        ("utility.1,2,3,4", "Utility(b=2.0, c=3.0, d=4.0)"),
        ("11pt_avg.0.1,0.2", "IPrecAvg(points=[0.1, 0.2])"),
        ('nDCG(dcg="exp-log2")@20', 'nDCG(gain="exp2")@20'),
        ('nDCG(dcg="log2")@20', "nDCG@20"),
        ("nDCG(gains={0: 1, 1: 2})@5", "nDCG(gain={0: 1, 1: 2})@5"),
        ("nDCG(cutoff=20)@10", "nDCG@10"),
        ("nDCG(cutoff=20)", "nDCG@20"),
        ("NumRet(rel=2)", "NumRelRet(rel=2)"),
        ("NumRet", "NumRet"),
        ("SetRelP", "SetP(relative=True)"),
        ("SetRelP(rel=2)", "SetP(rel=2, relative=True)"),
        ("\u03b1_nDCG@10", "alpha_nDCG@10"),
        ("\u03b1_DCG(alpha=0.1)@10", "alpha_DCG(alpha=0.1)@10"),
    ],
)
def test_a_name_means_what_it_means_there(spelled, means):
    assert parse(spelled) == parse(means)


@pytest.mark.parametrize(
    ("spelled", "means"),
    [
        ("P.5,10", ["P@5", "P@10"]),
        ("ndcg_cut_5,10", ["nDCG@5", "nDCG@10"]),
        ("iprec_at_recall.0.25,0.5", ["IPrec@0.25", "IPrec@0.5"]),
        ("success", ["Success@1", "Success@5", "Success@10"]),
        ("ndcg_cut", [f"nDCG@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
        ("map_cut", [f"AP@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
        (
            "set",
            [
                "NumQ",
                "NumRet",
                "NumRel",
                "NumRelRet",
                "Utility",
                "SetP",
                "SetP(relative=True)",
                "SetR",
                "SetAP",
                "SetF",
            ],
        ),
    ],
)
def test_a_name_of_several_measures_is_all_of_them(spelled, means):
    assert parse_all(spelled) == parse_all([spelled, *means]) == list(map(parse, means))
    with pytest.raises(MeasureError, match=f"{len(means)} measures|needs a cut-off"):
        parse(spelled)


def test_nicknames_of_trec_eval_can_be_evaluated():
    scores = evaluate(QRELS, RUN, ["official", "all_trec"])
    assert len(scores) == 98  # the 95 of trec_eval 9, less two that are text, and rbp, rbp_resid and three of unj
    assert scores["ndcg_cut_10"] == scores["nDCG@10"]
    assert list(evaluate(QRELS, RUN, "ndcg_cut"))[:2] == ["nDCG@5", "nDCG@10"]


def test_a_measure_of_ones_own_wins_over_a_nickname():
    from goldrank import measure

    @measure("official", per_query=True)
    def official(ranked, judged):
        """Its own number."""
        return 0.25

    try:
        assert dict(evaluate(QRELS, RUN, "official")) == {"official": 0.25}
    finally:
        del REGISTRY["official"], ALIASES["official"]


@pytest.mark.parametrize(
    ("spelled", "why"),
    [
        ("runid", "text"),
        ("relstring.5", "text"),
        ("P_5,1.5", "not a list of cut-offs"),
        ("P.5,0", "above 0"),
        ("P.5,5", "twice"),
        ("utility.1,2", "4 numbers"),
        ("ndcg_burges@10-l2", "-l"),
        ("Judged@10-l2", "no lowest grade"),
        ('nDCG(dcg="exp-log2", gains={1: 2})', "two answers"),
        ('nDCG(dcg="exp")', "must be one of"),
        ("NumQ(rel=1)", "no option 'rel'"),
    ],
)
def test_what_has_no_meaning_is_refused(spelled, why):
    with pytest.raises(MeasureError, match=re.escape(why)):
        parse_all(spelled)


@pytest.mark.parametrize(
    "text",
    [
        "P(5)@",
        "P@",
        "nDCG@10@5",
        "nDCG[10]",
        "nDCG(",
        "ndcg@10-l",
        "set_F.",
        "AP.x",
        "R-",
        "map@x,",
        "nDGC@10",
        "RBp(p",
    ],
)
def test_what_is_offered_is_another_text_that_is_understood(text):
    with pytest.raises(MeasureError) as caught:
        parse(text)
    offered = re.search(r"(?:Did you mean|For example) (.+?)[?;.]", caught.value.hint or "")
    assert offered, caught.value.hint
    assert offered[1] != text
    assert parse(offered[1])


def test_a_lowest_grade_of_ranx_takes_the_gain_of_lower_grades():
    # Ranks 1 to 4: 1, unjudged, 2, 0. From grade 2 up, "b" gains nothing: 2/log2(4) over 3 + 2/log2(3).
    value = evaluate(QRELS, RUN, "ndcg@10-l2")["ndcg@10-l2"]
    assert value == pytest.approx(1 / (3 + 2 / 1.584962500721156), abs=1e-15)


def test_beta_of_ours_is_van_rijsbergens():
    # P = 2/4 and R = 2/3: (1 + 4) P R / (4 P + R).
    assert evaluate(QRELS, RUN, "SetF(beta=2)")["SetF(beta=2)"] == pytest.approx(5 * (1 / 3) / (2 + 2 / 3))


# ir_measures' objects, by their attributes alone.


def irm(name, at="cutoff", params=None, **supported):
    """An object shaped like one of ir_measures; `supported` are its options with their defaults."""
    unset = object()
    given = params or {}

    class Object(SimpleNamespace):
        def __call__(self):
            raise AssertionError("it was taken for a function")

        def __getitem__(self, key):
            return given.get(key, supported.get(key, unset))

        __hash__ = object.__hash__

    return Object(NAME=name, AT_PARAM=at, SUPPORTED_PARAMS=dict.fromkeys((at, *supported)), params=given)


@pytest.mark.parametrize(
    ("given", "means"),
    [
        (irm("nDCG", params={"cutoff": 10}, dcg="log2", judged_only=False), "nDCG@10"),
        (irm("nDCG", params={"cutoff": 5, "dcg": "exp-log2"}, dcg="log2"), 'nDCG(gain="exp2")@5'),
        (irm("SetF", params={"beta": 2.0}, beta=1.0), "SetF(weight=2)"),
        (irm("SetF", beta=1.0), "SetF"),
        (irm("RBP", params={"rel": 1}, rel=None, p=0.8), "RBP(p=0.8, rel=1)"),
        (irm("NumRet", params={"rel": 1}, rel=None), "NumRelRet"),
        (irm("IPrec", at="recall", params={"recall": 0.5}, rel=1), "IPrec@0.5"),
    ],
)
def test_objects_of_ir_measures_are_measures(given, means):
    given.SUPPORTED_PARAMS = dict.fromkeys(given.SUPPORTED_PARAMS)
    assert parse(given) == parse(means)
    scores = evaluate(QRELS, RUN, [given, "AP"])
    assert scores[given] == scores[means]
    assert scores.per_query[given] == scores.per_query[means]


def test_objects_that_goldrank_cannot_measure_are_refused():
    with pytest.raises(MeasureError, match="goldrank has no Nonesuch"):
        evaluate(QRELS, RUN, irm("Nonesuch"))
    with pytest.raises(MeasureError, match="no option 'x'"):
        evaluate(QRELS, RUN, irm("AP", params={"x": 1}))
    runtime = irm("mine")
    runtime.runtime_impl = print
    with raises_code(MeasureError, "needs-data-frames"):
        evaluate(QRELS, RUN, runtime)


# Conventions and names.


@pytest.mark.parametrize("convention", ["sklearn", "trec_eval-9", "trec_eval-10", "torchmetrics", "axion"])
@pytest.mark.parametrize("asked", ["AP", "map", "nDCG@10", "ndcg_cut_10", "P@5", "IPrec@0.5", "rbp.95"])
def test_a_column_is_found_under_the_name_that_was_asked(convention, asked):
    run = {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}}
    known = {"sklearn": {"RBP"}, "torchmetrics": set()}.get(convention, set())
    if parse(asked).name in known | ({"IPrec"} if convention == "sklearn" else set()):
        pytest.skip("has no closed form over ties")
    scores = evaluate(QRELS, run, asked, convention=convention)
    assert scores[asked] == next(iter(scores.values()))
    assert scores.per_query[asked] == next(iter(scores.per_query.values()))


def test_an_option_that_is_spelled_out_wins_over_the_convention():
    """The ranking finds 2 of 3: AP is (1 + 2/3) / 2 over hits, (1 + 2/3) / 3 over all relevant."""
    run = {"q": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}}
    asked = ["AP", 'AP(divisor="relevant")', 'AP(divisor="hits")']
    scores = evaluate(QRELS, run, asked, convention="ir_eval_numba")
    assert [scores[name] for name in asked] == pytest.approx([5 / 6, 5 / 9, 5 / 6])
    assert len(scores) == 2
    assert {name: scores[name] for name in scores.measures} == dict(scores)


@pytest.mark.parametrize("spelled", ["hits", "hits@5", "Hits@5-l2"])
def test_a_name_with_two_meanings_names_both(spelled):
    with pytest.raises(MeasureError, match=r"NumRelRet@10.*Success@10"):
        parse(spelled)


@pytest.mark.parametrize("spelled", ["P(rel=2)@5-l3", "map-l2-l3"])
def test_a_lowest_grade_is_given_once(spelled):
    with pytest.raises(MeasureError):
        parse(spelled)
