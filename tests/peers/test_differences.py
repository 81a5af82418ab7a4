"""What docs/migrating.md and docs/fusion.md say differs from pytrec_eval, ir_measures and ranx, shown on small cases:
the real package's value, goldrank's, and which of the two follows by hand.

Real values are those of pytrec_eval-terrier 0.5.11, ir_measures 0.4.3 and ranx 0.3.21, which are run here.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import subprocess
import sys

import places
import pytest
from ranx_values import ask_ranx, plain_ranx

from goldrank import evaluate, fuse, normalize
from goldrank.base.errors import GoldrankError, InputError, MeasureError, OptionError
from goldrank.compat import ir_measures as irm
from goldrank.compat import pytrec_eval as pte
from goldrank.compat import ranx
from goldrank.fusion.methods import all_methods, stepped_weights

pytestmark = pytest.mark.filterwarnings("ignore::Warning")  # of numba, when it compiles ranx for the first time

TOOLS = {"pytrec_eval": pte, "ir_measures": irm, "ranx": ranx}


def both(name):
    """The real package and the module that stands in for it."""
    return pytest.importorskip(name), TOOLS[name]


# pytrec_eval


NOTHING = """
import math, pytrec_eval
evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"iprec_at_recall", "11pt_avg"}, 1, %s)
print(*(name for name, value in evaluator.evaluate({"q": %s})["q"].items() if math.isnan(value)))
"""


@pytest.mark.parametrize(("run", "judged_only"), [({"x": 1.0}, True), ({}, False)], ids=["-J", "empty"])
def test_pytrec_eval_nothing_by_nothing(run, judged_only):
    """No judged document is returned: precision is 0/0. It is 0 in goldrank, and there nan or what memory holds."""
    _, stand_in = both("pytrec_eval")
    told = subprocess.run([sys.executable, "-c", NOTHING % (judged_only, run)], capture_output=True, check=False)
    assert set(told.stdout.decode().split()) <= {"iprec_at_recall_0.00", "11pt_avg"}
    evaluator = stand_in.RelevanceEvaluator({"q": {"a": 1}}, {"iprec_at_recall", "11pt_avg"}, 1, judged_only)
    assert set(evaluator.evaluate({"q": run})["q"].values()) == {0.0}


@pytest.mark.parametrize(("qrels", "run"), [({"a": -1}, {"a": 1.0}), ({"a": 1}, {})], ids=["negative", "empty"])
def test_pytrec_eval_queries_that_crash_it(qrels, run):
    """All measures of a query with negative grades only, and of an empty one."""
    real, stand_in = both("pytrec_eval")
    made = f"p.RelevanceEvaluator({{'q': {qrels}}}, p.supported_measures)"
    code = f"import pytrec_eval as p; {made}.evaluate({{'q': {run}}})"
    found = stand_in.RelevanceEvaluator({"q": qrels}, real.supported_measures).evaluate({"q": run})["q"]
    assert found["map"] == 0.0
    assert not any(math.isnan(value) for value in found.values())
    if subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0:
        pytest.xfail("what it reads there is not its own, and did not hurt this time")


@pytest.mark.parametrize(
    ("asked", "score", "theirs"),
    [
        ({"map.5"}, 2.0, {"map": 1 / 4}),  # as map: one of two relevant documents at rank 2
        ({"set_F.0.5", "set_F.2"}, 2.0, {"set_F": 1 / 2}),  # P = R = 1/2, so that any F is 1/2
        ({"map"}, math.nan, {"map": 1 / 4}),
    ],
    ids=["parameter of map", "set_F twice", "nan"],
)
def test_pytrec_eval_takes_what_is_refused(asked, score, theirs):
    real, stand_in = both("pytrec_eval")
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": score, "a": 1.0}}
    assert real.RelevanceEvaluator(qrels, asked).evaluate(run)["q"] == theirs
    with pytest.raises(GoldrankError):
        stand_in.RelevanceEvaluator(qrels, asked).evaluate(run)


def test_pytrec_eval_sums_in_the_order_of_the_dict():
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last bit; goldrank's order is that of ids."""
    real, stand_in = both("pytrec_eval")
    grades = {f"d{i}": 1 for i in range(10)}
    qrels = dict.fromkeys("cba", grades)
    run = {query: {f"d{i}": 1.0 for i in range(found)} for query, found in {"c": 3, "b": 2, "a": 1}.items()}
    means = [sum(sums) / 3 for sums in ((0.3, 0.2, 0.1), (0.1, 0.2, 0.3))]
    assert means[0] != means[1]
    values = [tool.RelevanceEvaluator(qrels, {"set_recall"}).evaluate(run) for tool in (real, stand_in)]
    assert values[0] == values[1]
    assert (list(values[0]), list(values[1])) == (["c", "b", "a"], ["a", "b", "c"])
    theirs = [row["set_recall"] for row in values[0].values()]
    assert real.compute_aggregated_measure("set_recall", theirs) == pytest.approx(means[0], abs=0)
    assert evaluate(qrels, run, "set_recall").mean["set_recall"] == pytest.approx(means[1], abs=0)


# ir_measures


def test_ir_measures_orders_of_equal_scores():
    """d1 and d9 are tied: by trec_eval's rule d9 is first. Another provider, which measures RR@10, has d1 first."""
    for tool, cut in zip(both("ir_measures"), (1.0, 1 / 2), strict=True):
        found = tool.calc_aggregate([tool.RR, tool.RR @ 10], {"q": {"d1": 1}}, {"q": {"d1": 1.0, "d9": 1.0}})
        assert found == {tool.RR: 1 / 2, tool.RR @ 10: cut}


GAINS = """
from ir_measures import calc_aggregate, nDCG
asked = [nDCG @ 5, nDCG(gains={1: 3}) @ 5]
found = calc_aggregate(asked, {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}})
print(*(found[one] for one in asked))
"""


def test_ir_measures_gains_for_others():
    """1 before 2 has nDCG (1 + 2 / log2 3) / (2 + 1 / log2 3); with 3 for grade 1 the order is ideal.

    ir_measures goes through a set of measures, whose order is another in each process: it is right in some.
    """
    _, stand_in = both("ir_measures")
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    expected = [(1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), 1.0]
    asked = [stand_in.nDCG @ 5, stand_in.nDCG(gains={1: 3}) @ 5]
    found = stand_in.calc_aggregate(asked, qrels, run)
    assert [found[one] for one in asked] == pytest.approx(expected)
    right = []
    for seed in (0, 4, 6, 7):
        seeded = {**os.environ, "PYTHONHASHSEED": str(seed)}
        told = subprocess.run([sys.executable, "-c", GAINS], env=seeded, capture_output=True, check=True)
        right.append(list(map(float, told.stdout.split())) == pytest.approx(expected))
    assert not all(right)


def test_ir_measures_counts_of_unanswered_queries():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1, "c": 1}}, {"q": {"a": 1.0}}
    for tool, counts in zip(both("ir_measures"), ([1, 1], [2, 3]), strict=True):
        asked = [tool.NumQ, tool.NumRel]
        assert [tool.calc_aggregate(asked, qrels, run)[one] for one in asked] == counts


def test_ir_measures_judged_with_negative_grades():
    qrels, run = {"q": {"a": -1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    for tool, value in zip(both("ir_measures"), (1.0, 1 / 2), strict=True):
        assert tool.calc_aggregate([tool.Judged @ 2], qrels, run) == {tool.Judged @ 2: value}


def test_ir_measures_accuracy_beside_others():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"x": 2.0, "a": 1.0}, "r": {"x": 1.0}}
    for tool, queries in zip(both("ir_measures"), (["q", "r"], ["q"]), strict=True):
        alone = tool.iter_calc([tool.Accuracy], qrels, run)
        assert [metric.query_id for metric in alone] == ["q"]
        beside = tool.iter_calc([tool.Accuracy, tool.AP], qrels, run)
        assert [metric.query_id for metric in beside if metric.measure == tool.Accuracy] == queries


def test_ir_measures_err_is_rounded():
    """1/16 at rank 3 is 1/48; ir_measures has five decimals of it, and takes no query id that is not a number."""
    real, stand_in = both("ir_measures")
    ranked = {"x": 3.0, "y": 2.0, "a": 1.0}
    assert stand_in.calc_aggregate([stand_in.ERR @ 5], {"q": {"a": 1}}, {"q": ranked})[stand_in.ERR @ 5] == 1 / 48
    if not real.gdeval.is_available():
        pytest.skip("ir_measures' ERR needs perl")
    assert real.calc_aggregate([real.ERR @ 5], {"1": {"a": 1}}, {"1": ranked})[real.ERR @ 5] == 0.02083
    with pytest.raises(subprocess.CalledProcessError):
        real.calc_aggregate([real.ERR @ 5], {"q": {"a": 1}}, {"q": ranked})


def test_ir_measures_files():
    """Rows in the order of the file there, by query and iteration here; what is repeated is an error here."""
    real, stand_in = both("ir_measures")
    text = "q 1 a 1\nr 0 a 2\nq 0 b 1\n"
    in_file = [("q", "a", 1, "1"), ("r", "a", 2, "0"), ("q", "b", 1, "0")]
    assert [tuple(row) for row in real.read_trec_qrels(text)] == in_file
    assert [tuple(row) for row in stand_in.read_trec_qrels(text)] == [in_file[i] for i in (2, 0, 1)]
    for name, lines in {
        "read_trec_qrels": "q 0 a 1\nq 0 a 2\n",
        "read_trec_run": "q Q0 a 1 2.0 t\nq Q0 a 2 1 t\n",
    }.items():
        assert len(list(getattr(real, name)(lines))) == 2
        with pytest.raises(InputError):
            list(getattr(stand_in, name)(lines))


def test_ir_measures_options_that_are_ignored():
    """Its provider of ranx takes SetP(rel=2)@5 for SetP(rel=2), as ir_measures' own test_ranx.py::test_P expects. (With
    pandas 3 that provider fails, so that it is not run here.)"""
    with pytest.raises(MeasureError):
        irm.ranx.calc_aggregate([irm.SetP(rel=2) @ 5], {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}})


# ranx: it compiles each function when it is first used, which takes long.
# Where the order of ties does not matter it is `plain`, not compiled.


def test_ranx_has_as_many_methods_of_fusion():
    """README counts them, and goldrank has those that ranx knows by name."""
    pytest.importorskip("ranx")
    import ranx.fusion

    named = set(re.findall(r'== "(\w+)"', inspect.getsource(ranx.fusion.fusion_switch)))
    assert named == set(all_methods())
    assert f"| {len(named)} methods |" in (places.ROOT / "README.md").read_text(encoding="utf-8")


def test_what_readme_says_that_others_have():
    """Cells of its table of tools that are about ir_measures and ranx."""
    theirs, ranx = pytest.importorskip("ir_measures"), pytest.importorskip("ranx")
    rows = re.findall(r"^\| (.*?) \| .* \| (.*?) \| (.*?) \|$", (places.ROOT / "README.md").read_text("utf-8"), re.M)
    table = {what: (of_ir_measures, of_ranx) for what, of_ir_measures, of_ranx in rows}

    def cells(start):
        return next(value for what, value in table.items() if what.startswith(start))

    assert cells("measures beyond") == ("diversity, browsing", "no")
    assert {"AP_IA", "ERR_IA", "StRecall", "INST", "SDCG", "Judged"} <= set(dir(theirs))
    assert cells("how far unjudged")[0] == "`Judged@k`"
    assert cells("reads more")[1] == "dicts, data frames, JSON, Parquet"
    assert {"from_dict", "from_df", "from_file", "from_parquet", "from_ranxhub"} <= set(dir(ranx.Run))
    assert cells("tests with") == ("no", "tests; Tukey's corrects")
    assert "Tukey" in ranx.compare.__doc__
    assert cells("a hub") == ("no", "yes")


@pytest.fixture
def plain():
    with plain_ranx():
        yield


@pytest.mark.slow
def test_ranx_joins_dicts_by_position(plain):
    """Each query's one document is first: the mean reciprocal rank is 1. ranx takes q2's ranking for q1's."""
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1.0}, "q1": {"a": 1.0}}
    for tool, value in zip(both("ranx"), (0.0, 1.0), strict=True):
        assert tool.evaluate(qrels, run, "mrr") == value


@pytest.mark.slow
def test_ranx_does_not_keep_the_order_of_long_ties():
    for size, kept in ((15, True), (16, False)):
        docs = [f"d{i:02}" for i in range(size)]
        real, stand_in = (tool.Run({"q": dict.fromkeys(docs, 1.0)}) for tool in both("ranx"))
        assert (list(real.run["q"]) == docs) is kept
        assert list(stand_in.run["q"]) == docs


BPREF = {
    # a and d are relevant; a has one of two others above it, d both: (1 - 1/2 + 1 - 2/2) / 2 by both rules.
    "usual": ({"q": {"a": 1, "b": 0, "c": 0, "d": 1}}, "bacdx", [1 / 4], [1 / 4]),
    # Nothing that is judged not relevant: trec_eval takes nothing off. ranx divides 0 by min(R, N) = 0.
    "no other": ({"q": {"a": 1, "b": 1}}, "xab", [math.nan], [1.0]),
    # trec_eval takes -1 for not judged, so that nothing is above a; ranx for judged not relevant: 1 - 1/1.
    "negative": ({"q": {"a": 1, "n": -1}}, "na", [0.0], [1.0]),
    # Nothing relevant is 0 by both; ranx stops there, and leaves 0 for the queries that follow.
    "none": ({"q": {"a": 0}, "r": {"a": 1, "b": 0}}, "ab", [0.0, 0.0], [0.0, 1.0]),
}


def ranked(case):
    qrels, ranking, _, _ = BPREF[case]
    return qrels, {query: {doc: float(-rank) for rank, doc in enumerate(ranking)} for query in qrels}


@functools.cache
def bpref_of_ranx():
    """By case. Compiled, because Python divides by zero in another way."""
    answers = ask_ranx(*((*ranked(case), ["bpref"]) for case in BPREF), compiled=True)
    return {case: list(answer.values()) for case, answer in zip(BPREF, answers, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("case", BPREF)
def test_ranx_bpref(case):
    _, _, theirs, by_hand = BPREF[case]
    qrels, run = ranked(case)
    assert bpref_of_ranx()[case] == pytest.approx(theirs, nan_ok=True)
    found = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref", return_mean=False)
    assert found.tolist() == pytest.approx(by_hand)
    official = pytest.importorskip("pytrec_eval").RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)
    assert [row["bpref"] for row in official.values()] == pytest.approx(by_hand)


@pytest.mark.slow
def test_ranx_p_values_of_zero(plain):
    """All of 20 queries are better: of 2^20 ways to flip signs two are as extreme, so that p is not 0."""
    for tool, zero in zip(both("ranx"), (True, False), strict=True):
        qrels = tool.Qrels({f"q{i}": {"r": 1} for i in range(20)})
        good = tool.Run({f"q{i}": {"r": 2.0, "n": 1.0} for i in range(20)}, "good")
        poor = tool.Run({f"q{i}": {"n": 2.0, "r": 1.0} for i in range(20)}, "poor")
        report = tool.compare(qrels, [good, poor], ["mrr"], stat_test="fisher")
        assert bool(report.comparisons[frozenset(("good", "poor"))]["mrr"]["p_value"] == 0) is zero


@pytest.mark.slow
def test_ranx_drops_decimals_of_grades(plain):
    """b, a: 1 + 1.9 / log2 3 with the decimals, 1 + 1 / log2 3 without."""
    real, stand_in = both("ranx")
    run, qrels = {"q": {"b": 2.0, "a": 1.0}}, {"q": {"a": 1.9, "b": 1}}
    assert real.evaluate(real.Qrels(qrels), real.Run(run), "dcg") == pytest.approx(1 + 1 / math.log2(3))
    with pytest.raises(InputError, match="whole"):
        stand_in.Qrels(qrels)


@pytest.mark.slow
def test_ranx_letters_and_types(plain):
    real, stand_in = both("ranx")

    def report(tool):
        many = [tool.Run({"q": {"a": 1.0}, "r": {"a": 1.0}}, f"m{i}") for i in range(27)]
        return str(tool.compare(tool.Qrels({"q": {"a": 1}, "r": {"a": 1}}), many, ["mrr"]))

    with pytest.raises(IndexError):
        report(real)
    assert report(stand_in).splitlines()[27].split()[0] == "aa"
    for tool, kind in ((real, "float64"), (stand_in, "float")):
        qrels, run = tool.Qrels({"q": {"a": 1}}), tool.Run({"q": {"a": 1.0}})
        assert type(tool.evaluate(qrels, run, "mrr")).__name__ == kind


@pytest.mark.slow
def test_ranx_lists_of_numba():
    for tool, kind in zip(both("ranx"), ("List", "list"), strict=True):
        assert type(tool.Run({"q": {"a": 1.0}}).to_typed_list()).__name__ == kind


# Fusion


@pytest.mark.slow
@pytest.mark.parametrize("scores", [{"a": 3.0}, {"a": 3.0, "b": 3.0}], ids=["single", "equal"])
@pytest.mark.parametrize(("name", "how"), [("min_max_norm", "min-max"), ("sum_norm", "sum")])
def test_ranx_normalises_equal_scores_to_nothing(plain, scores, name, how):
    real, _ = both("ranx")
    from importlib import import_module

    theirs = getattr(import_module("ranx.normalization"), name)(real.Run({"q": scores}))
    assert dict(theirs.run["q"]) == dict.fromkeys(scores, 0.0)
    value = 1.0 if how == "min-max" else 1 / len(scores)
    assert dict(normalize({"q": scores}, how)["q"]) == dict.fromkeys(scores, value)
    assert dict(normalize({"q": scores}, how, equal=0.0)["q"]) == dict.fromkeys(scores, 0.0)


@pytest.mark.slow
def test_ranx_divides_by_a_small_number_where_no_score_is_above_zero(plain):
    real, _ = both("ranx")
    from ranx.normalization import max_norm

    scores = {"a": -1.0, "b": -2.0}
    assert dict(max_norm(real.Run({"q": scores})).run["q"]) == pytest.approx({"a": -1e9, "b": -2e9})
    with pytest.raises((InputError, OptionError)):
        normalize({"q": scores}, "max")


@pytest.mark.slow
def test_ranx_condorcet_lets_absent_runs_vote(plain):
    """Of a run with neither document ranx says that the second is before the first, whichever is asked for first."""
    both("ranx")
    from ranx.fusion.condorcet import _compare

    nowhere = [[1_000_000, 1_000_000]]
    assert (_compare(0, 1, nowhere), _compare(1, 0, nowhere)) == (1, 1)
    # One run has a before b and three have neither: a wins by the one vote that there is.
    runs = {"one": {"q": {"a": 2.0, "b": 1.0}}, **{f"other {i}": {"q": {"c": 1.0}} for i in range(3)}}
    fused = fuse(runs, "condorcet", normalization="none")["q"]
    assert fused["a"] > fused["b"]


@pytest.mark.slow
def test_ranx_ranks_what_borda_added(plain):
    """By RRF each document has 1 / (60 + its rank in the one run that returned it), borda or not."""
    real, _ = both("ranx")
    runs = {"one": {"q": {"a": 2.0, "b": 1.0}}, "two": {"q": {"c": 2.0, "d": 1.0}}}
    by_hand = {"a": 1 / 61, "b": 1 / 62, "c": 1 / 61, "d": 1 / 62}
    assert dict(fuse(runs, "rrf", normalization="borda", k=60)["q"]) == pytest.approx(by_hand)
    theirs = real.fuse([real.Run(run) for run in runs.values()], norm="borda", method="rrf", params={"k": 60}).run["q"]
    assert all(theirs[doc] > by_hand[doc] + 1 / 70 for doc in by_hand)  # each has ranks in both


@pytest.mark.slow
def test_ranx_has_odds_of_a_thousand_ranks(plain):
    """Beyond them goldrank takes the odds of what was not returned: log(0.001 / 0.999)."""
    real, _ = both("ranx")
    from ranx.fusion.bayesfuse import bayesfuse_train

    docs = {f"d{i:04}": float(-i) for i in range(1_003)}
    odds = bayesfuse_train(real.Qrels({"q": {"d0000": 1}}), [real.Run({"q": docs})])
    assert len(odds[0]) == 1_000
    runs = {"one": {"q": docs}, "two": {"q": {"other": 1.0}}}
    fused = fuse(runs, "bayesfuse", log_odds=[[1.0] * 1_000, [1.0] * 1_000])["q"]
    low = math.log(0.001 / 0.999)
    assert (fused["d0999"], fused["d1000"]) == pytest.approx((1 + low, 2 * low))


@pytest.mark.slow
def test_ranx_loses_weights_by_rounding(plain):
    """Of three runs in steps of 0.1, 66 sets of weights sum to 1: (12 over 2). In doubles some of them do not quite."""
    both("ranx")
    from ranx.fusion_optimization import optimize_weights

    theirs = optimize_weights.get_trial_configs(optimize_weights.get_possible_weights(0.1), 3)
    assert len(stepped_weights(3, 10)) == math.comb(12, 2) == 66
    assert len(theirs) < 66
