"""The wider list of measures against the tools that the field uses for them, on random data without ties."""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

import ir_measures
import pytest
from lanes import many

from goldrank import AspectQrels, evaluate

CASES = many(500)

Table = dict[str, dict[str, Any]]


def random_data(rng: random.Random, highest: int = 3) -> tuple[Table, Table]:
    """Judgements and a run; some documents are unjudged, some judged ones are not returned, none are tied."""
    qrels: Table = {}
    run: Table = {}
    for q in range(CASES):
        docs = [f"d{i:02}" for i in range(rng.randint(2, 30))]
        qrels[f"q{q}"] = {doc: rng.randint(0, highest) for doc in rng.sample(docs, rng.randint(1, len(docs)))}
        returned = rng.sample(docs, rng.randint(1, len(docs)))
        run[f"q{q}"] = dict(zip(returned, rng.sample(range(1, 1000), len(returned)), strict=True))
    return qrels, run


def theirs(measure: str, qrels: Any, run: Any) -> dict[str, float]:
    parsed = ir_measures.parse_measure(measure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {metric.query_id: metric.value for metric in ir_measures.iter_calc([parsed], qrels, run)}


def ours_of(measure: str, qrels: Any, run: Any) -> dict[str, float]:
    scores = evaluate(qrels, run, measure, overlap="allow")
    return dict(zip(scores.queries, scores.column(measure).values.tolist(), strict=True))


def rows(run: Table) -> list[ir_measures.ScoredDoc]:
    return [ir_measures.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]


PLAIN = [
    "P@5",
    "P(rel=2)@3",
    "R@5",
    "RR",
    "AP@5",
    "nDCG@5",
    "Rprec",
    "Bpref",
    "infAP",
    "Success@3",
    "SetP",
    "SetR",
    "SetAP",
    "SetP(relative=True)",
    "Judged@5",
    "Compat",
    "Compat(p=0.8)",
    "Compat(normalize=False)",
    "BPM(T=1.5, max_rel=3)@5",
    "BPM(max_rel=2)@20",
    "SDCG(max_rel=3)@5",
    "SDCG(min_rel=1, max_rel=3)@50",
    "NERR8(max_rel=3)@5",
    "NERR9(max_rel=3)@5",
    "NERR10(max_rel=3)",
    "NERR10(p=0.7, max_rel=2)",
    "NERR11(max_rel=3)",
    "NERR11(T=2.0, max_rel=3)",
    "INSQ(max_rel=3)",
    "INST(max_rel=3)",
    "INST(T=3.0, max_rel=2)",
    "RBP(p=0.8, rel=1)",
]
"""For these ir_measures asks trec_eval 9, cwl_eval or itself."""


@pytest.mark.parametrize("measure", PLAIN)
def test_ir_measures(measure):
    qrels, run = random_data(random.Random(measure))
    other = theirs(measure, qrels, run)
    mine = ours_of(measure, qrels, run)
    assert len(other) == CASES
    for query, value in other.items():
        assert mine[query] == pytest.approx(value, abs=1e-12), (qrels[query], run[query])


def test_accuracy():
    """ir_measures has a value only where something relevant was returned, and divides by 0 where all of it is."""
    qrels, run = random_data(random.Random("accuracy"), highest=1)
    run = {query: docs for query, docs in run.items() if not all(qrels[query].get(doc, 0) for doc in docs)}
    other = theirs("Accuracy", qrels, run)
    mine = ours_of("Accuracy", qrels, run)
    for query in run:
        assert mine[query] == pytest.approx(other.get(query, 0.0), abs=1e-12)
    assert len(other) > CASES / 2


def random_aspects(rng: random.Random) -> tuple[dict[str, dict[str, dict[str, int]]], Table]:
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    run: Table = {}
    for q in range(CASES):
        docs = [f"d{i:02}" for i in range(rng.randint(2, 25))]
        qrels[f"q{q}"] = {
            str(aspect): {doc: rng.choice((0, 0, 1, 2)) for doc in rng.sample(docs, rng.randint(1, len(docs)))}
            for aspect in range(rng.randint(1, 5))
        }
        returned = rng.sample(docs, rng.randint(1, len(docs)))
        run[f"q{q}"] = dict(zip(returned, rng.sample(range(1, 1000), len(returned)), strict=True))
    return qrels, run


DIVERSITY = [
    "alpha_DCG@5",
    "alpha_DCG(alpha=0.25)@10",
    "alpha_nDCG@5",
    "alpha_nDCG@20",
    "alpha_nDCG(alpha=0.25)@10",
    "alpha_nDCG(rel=2)@10",
    "ERR_IA@5",
    "nERR_IA@10",
    "NRBP",
    "NRBP(alpha=0.25, beta=0.75)",
    "nNRBP",
    "AP_IA",
    "P_IA@5",
    "P_IA(rel=2)@20",
    "StRecall@5",
]


@pytest.mark.parametrize("measure", DIVERSITY)
def test_ndeval(measure):
    """Through ir_measures and pyndeval. A cut-off of 1 is left out: ndeval forgets to normalise there."""
    qrels, run = random_aspects(random.Random(measure))
    judged = [
        ir_measures.Qrel(query, doc, grade, aspect)
        for query, aspects in qrels.items()
        for aspect, docs in aspects.items()
        for doc, grade in docs.items()
    ]
    other = theirs(measure, judged, rows(run))
    mine = ours_of(measure, AspectQrels(qrels), run)
    assert len(other) == CASES
    for query, value in other.items():
        if not math.isnan(value):
            assert mine[query] == pytest.approx(value, abs=1e-12), (qrels[query], run[query])


@pytest.mark.slow
def test_auroc_is_scikit_learns():
    from sklearn.metrics import roc_auc_score

    qrels, run = random_data(random.Random("auroc"), highest=1)
    mine = ours_of("AUROC", qrels, run)
    compared = 0
    for query in qrels:
        both = [doc for doc in run[query] if doc in qrels[query]]
        grades = [qrels[query][doc] for doc in both]
        if len(set(grades)) == 2:
            assert mine[query] == pytest.approx(roc_auc_score(grades, [run[query][doc] for doc in both]))
            compared += 1
    assert compared > CASES / 2


def test_graded_relatives_of_ap():
    """With binary grades GAP is AP, and so is Q without gains; NCG is R_cap."""
    qrels, run = random_data(random.Random("binary"), highest=1)
    scores = evaluate(qrels, run, ["AP", "GAP", "Q(beta=0)", "NCG@3", "R_cap@3"], overlap="allow").per_query
    for query in qrels:
        assert scores["GAP"][query] == pytest.approx(scores["AP"][query], abs=1e-12)
        assert scores["Q(beta=0)"][query] == pytest.approx(scores["AP"][query], abs=1e-12)
        assert scores["NCG@3"][query] == pytest.approx(scores["R_cap@3"][query], abs=1e-12)
