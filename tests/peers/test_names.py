"""A name that another tool gave to a measure means in `evaluate` what it means there, or is refused.

The exceptions are here and in docs/migrating.md, with what they mean. The real packages are asked, on queries without
ties.
"""

from __future__ import annotations

import random
import statistics

import pytest
from ranx_values import ask_ranx

from goldrank import evaluate
from goldrank.base.errors import MeasureError

RNG = random.Random(3)
DOCS = [f"d{i}" for i in range(40)]
QRELS = {f"{i}": {doc: RNG.choice([0, 0, 1, 1, 2, 3]) for doc in RNG.sample(DOCS, 20)} for i in range(8)}
RUN = {query: {doc: RNG.random() for doc in RNG.sample(DOCS, 25)} for query in QRELS}


def ours(name):
    """The value, or None where the name is refused."""
    try:
        (value,) = evaluate(QRELS, RUN, name).mean.values()
    except MeasureError:
        return None
    return value


ROUNDING = {"11pt_avg": "trec_eval-9", **{f"iprec_at_recall_{i / 10:.2f}": "trec_eval-9" for i in range(11)}}
TEXT = {"runid", "relstring"}


def test_names_of_pytrec_eval():
    real = pytest.importorskip("pytrec_eval")
    values = real.RelevanceEvaluator(QRELS, real.supported_measures).evaluate(RUN)
    names = next(iter(values.values()))
    assert len(names) > 60
    for name in names:
        if name in TEXT:
            assert ours(name) is None
            continue
        theirs = real.compute_aggregated_measure(name, [row[name] for row in values.values()])
        if name in ROUNDING:  # cut-offs were rounded otherwise in version 9
            (found,) = evaluate(QRELS, RUN, name, convention="trec_eval-9").mean.values()
        else:
            found = ours(name)
        assert found == pytest.approx(theirs, abs=1e-9), name


IR_MEASURES = """nDCG|nDCG@10|NDCG@10|nDCG(gains={1:5,2:6})@5|nDCG(judged_only=True)@5|AP|AP@5|AP(rel=2)|MAP|MAP@10|P@5
    |P(rel=2)@5|P(judged_only=True)@5|R@5|Recall@5|RR|RR@5|MRR@10|Rprec|Bpref|BPref|infAP|Success@3|SetP|SetR|SetF|SetAP
    |SetP(relative=True)|SetF(beta=1.0)|NumRet|NumRet(rel=1)|NumQ|NumRel|NumRelRet|Judged@10|RBP(p=0.5,rel=1)|Compat
    |Compat(p=0.9)|Accuracy|Accuracy@5"""


@pytest.mark.parametrize("name", IR_MEASURES.split("|"))
def test_names_of_ir_measures(name):
    real = pytest.importorskip("ir_measures")
    (theirs,) = real.calc_aggregate([real.parse_measure(name)], QRELS, RUN).values()
    assert ours(name) == pytest.approx(theirs, abs=1e-9)


def test_names_of_ir_measures_that_mean_something_else():
    """Its RBP has another default, and its beta is trec_eval's weight: the printed names say which is meant."""
    assert list(evaluate(QRELS, RUN, ["RBP(rel=1)", "SetF(beta=2)"]).mean) == ["RBP(rel=1)", "SetF(beta=2)"]
    assert ours("RBP(rel=1)") == ours("RBP(p=0.9, rel=1)")
    assert ours("SetF(beta=2)") == ours("SetF(weight=4)")


RANX = """hit_rate@5|precision@5|recall@5|recall|f1@5|r-precision|bpref|mrr|mrr@5|map|map@5|dcg|dcg@5|dcg_burges@5|ndcg
    |ndcg@5|ndcg_burges@5|map-l2|ndcg@5-l2|precision@5-l2|recall@5-l2|f1@5-l2|mrr-l2|r-precision-l2|hit_rate@5-l2|dcg-l2
    |hits@5|hits|hit_rate|precision|f1"""


@pytest.mark.slow
def test_names_of_ranx():
    """`rbp.95` is of grades brought into 0 to 1 here, as docs/migrating.md says, and `RBG(p=0.95)` is ranx's."""
    refused = {"hits@5", "hits", "precision", "f1"}
    names = [*map(str.strip, RANX.split("|")), "rbp.95"]
    values = zip(names, ask_ranx((QRELS, RUN, names)), strict=True)
    *means, (_, rbp) = [(name, pytest.approx(statistics.fmean(found.values()), abs=1e-9)) for name, found in values]
    for name, mean in means:
        assert ours(name) == (None if name in refused else mean), name
    assert ours("rbp.95") == ours("RBP(p=0.95)")
    assert ours("RBG(p=0.95)") == rbp


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("NDCG@10", "nDCG@10"), ("MAP@10", "AP@10"), ("Recall@10", "R@10"), ("P@10", "P@10"), ("MRR@10", "RR@10"),
        ("ndcg_at_10", "nDCG@10"), ("map_at_10", "AP@10"), ("recall_at_10", "R@10"), ("precision_at_10", "P@10"),
        ("mrr_at_10", "RR@10"), ("hit_rate_at_10", "Success@10"), ("R_cap@10", "RelP@10"),
        ("P_5", "P@5"), ("P.5", "P@5"), ("recall_5", "R@5"), ("ndcg_cut_10", "nDCG@10"), ("map_cut.10", "AP@10"),
        ("set_F.2", "SetF(weight=2)"), ("gm_map", "GMAP"), ("unj_5", "Unjudged@5"), ("HR@5", "Success@5"),
    ],
)  # fmt: skip
def test_names_of_beir_mteb_and_trec_eval(name, same):
    assert ours(name) == ours(same) is not None


@pytest.mark.parametrize("name", ["P", "precision", "f1", "hits", "hits@5", "runid", "top_k_accuracy@5", "naucs"])
def test_names_that_would_be_guesses_are_refused(name):
    assert ours(name) is None
