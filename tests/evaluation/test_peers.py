"""A second opinion: pytrec_eval, ir_measures, scikit-learn and ranx on random rankings, where definitions match.

Where they do not, the difference is listed with its reason and shown on one ranking, so that the list stays true.
"""

from __future__ import annotations

import random
import shutil
from typing import Any

import numpy as np
import pytest
from ranx_values import ask_ranx

from goldrank import evaluate
from goldrank.measures import make, parse

CASES = 300

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def random_data(seed: int, *, ties: bool = False, lowest: int = 0, highest: int = 3, full: bool = False) -> Any:
    """One query per case; `full` rankings hold all judged documents and nothing else."""
    rng = random.Random(seed)
    qrels: Qrels = {}
    run: Run = {}
    for number in range(CASES):
        docs = [f"d{i}" for i in range(rng.randint(2, 40))]
        judged = docs if full else rng.sample(docs, rng.randint(1, len(docs)))
        returned = docs if full else rng.sample(docs, rng.randint(1, len(docs)))
        qrels[str(number)] = {doc: rng.randint(lowest, highest) for doc in judged}
        if max(qrels[str(number)].values()) < 1:
            qrels[str(number)][judged[0]] = 1  # peers differ about queries without relevant documents
        scores = rng.sample(range(1000), len(returned))
        run[str(number)] = {doc: score // (100 if ties else 1) / 8 for doc, score in zip(returned, scores, strict=True)}
    return qrels, run


def ours(qrels: Qrels, run: Run, measure: str, convention: str = "trec_eval-10") -> dict[str, float]:
    return next(iter(evaluate(qrels, run, measure, convention=convention).per_query.values()))


def assert_equal(mine: dict[str, float], theirs: dict[str, float], tolerance: float = 0.0) -> None:
    assert len(theirs) > CASES * 2 / 3
    wrong = {
        query: (mine[query], value)
        for query, value in theirs.items()
        if not (mine[query] == value or abs(mine[query] - value) <= tolerance)
    }
    assert wrong == {}


# pytrec_eval: trec_eval 9, so equal to the last bit under that convention.

PYTREC_EVAL = [
    "map", "map_cut_10", "Rprec", "bpref", "recip_rank", "P_5", "P_100", "recall_10", "success_1", "success_5", "ndcg",
    "ndcg_cut_5", "ndcg_cut_20", "infAP", "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "num_ret",
    "num_rel", "num_rel_ret", "iprec_at_recall_0.00", "iprec_at_recall_0.10", "iprec_at_recall_0.50",
    "iprec_at_recall_1.00",
]  # fmt: skip
PYTREC_EVAL_NAMES = {
    "map", "map_cut", "Rprec", "bpref", "recip_rank", "P", "recall", "success", "ndcg", "ndcg_cut", "infAP", "set_P",
    "set_recall", "set_F", "set_map", "set_relative_P", "num_ret", "num_rel", "num_rel_ret", "iprec_at_recall",
}  # fmt: skip
SHAPES = {
    "distinct scores": {},
    "tied scores": {"ties": True},
    "negative grades": {"lowest": -2},
    "binary": {"highest": 1},
    "high grades": {"highest": 12},
}


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_pytrec_eval(shape, level):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = random_data(1, **SHAPES[shape])
    theirs = pytrec_eval.RelevanceEvaluator(qrels, PYTREC_EVAL_NAMES, relevance_level=level).evaluate(run)
    measures = [at_level(name, level) for name in PYTREC_EVAL]
    mine = evaluate(qrels, run, measures, convention="trec_eval-9").per_query.values()
    for name, values in zip(PYTREC_EVAL, mine, strict=True):
        assert_equal(values, {query: row[name] for query, row in theirs.items()})


def at_level(name: str, level: int) -> str:
    """The measure with documents of at least this grade as relevant; nDCG takes the grades as they are."""
    plain = parse(name)
    options = {"rel": level} if "rel" in plain.declaration.options and plain.name != "nDCG" else {}
    return str(make(plain.name, plain.k, {**dict(plain.options), **options}))


def test_pytrec_eval_judged_only():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = random_data(2)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut", "P"}, judged_docs_only_flag=True)
    theirs = evaluator.evaluate(run)
    for name, measure in {"map": "AP", "ndcg_cut_10": "nDCG@10", "P_5": "P@5"}.items():
        spelled = measure.replace("@", "(judged_only=True)@") if "@" in measure else f"{measure}(judged_only=True)"
        assert_equal(ours(qrels, run, spelled), {query: row[name] for query, row in theirs.items()})


# ir_measures.

IR_MEASURES = [
    "P@5", "P(rel=2)@5", "R@5", "R(rel=2)@5", "AP", "AP@5", "AP(rel=2)", "nDCG", "nDCG@10", "RR", "RR@5", "RR(rel=2)",
    "Rprec", "Bpref", "Bpref(rel=2)", "IPrec@0.5", "Success@3", "NumRet", "NumRel", "NumRelRet", "NumQ", "SetP",
    "SetP(relative=True)", "SetR", "SetF", "SetAP", "infAP", "Judged@5", "AP(judged_only=True)",
    "nDCG(judged_only=True)@5",
]  # fmt: skip
"""Measures that both spell alike."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", IR_MEASURES)
def test_ir_measures(name):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = random_data(3)
    found = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
    theirs = {metric.query_id: float(metric.value) for metric in found}
    assert_equal(ours(qrels, run, name, "trec_eval-9"), theirs, tolerance=1e-14)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_ir_measures_rbp(p, level):
    """By way of cwl_eval, which adds up from probabilities of its own; it knows binary gains only."""
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = random_data(4)
    name = f"RBP(p={p}, rel={level})"
    found = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
    assert_equal(ours(qrels, run, name), {metric.query_id: float(metric.value) for metric in found}, tolerance=1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a perl program")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("theirs", "mine"), [("ERR@5", "ERR@5"), ("ERR@20", "ERR@20"), ("nDCG(dcg='exp-log2')@10", 'nDCG(gain="exp2")@10')]
)
def test_gdeval(theirs, mine):
    """By way of ir_measures; gdeval prints five decimals and takes numbers as query ids."""
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = random_data(5, highest=4)
    numbered = {str(int(query) + 1): docs for query, docs in qrels.items()}
    ranked = {str(int(query) + 1): docs for query, docs in run.items()}
    found = ir_measures.iter_calc([ir_measures.parse_measure(theirs)], numbered, ranked)
    values = {metric.query_id: float(metric.value) for metric in found}
    assert_equal(ours(numbered, ranked, mine), values, tolerance=0.5001e-5)


# scikit-learn, which ranks one query at a time and knows no unjudged documents.


@pytest.mark.parametrize("k", [None, 1, 5, 10])
def test_scikit_learn_ndcg(k):
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, run = random_data(6, full=True)
    theirs = {}
    dcg = {}
    for query, judged in qrels.items():
        grades = [list(judged.values())]
        scores = [[run[query][doc] for doc in judged]]
        theirs[query] = float(metrics.ndcg_score(grades, scores, k=k))
        dcg[query] = float(metrics.dcg_score(grades, scores, k=k))
    cut = "" if k is None else f"@{k}"
    assert_equal(ours(qrels, run, f"nDCG{cut}"), theirs, tolerance=1e-12)
    assert_equal(ours(qrels, run, f"DCG{cut}"), dcg, tolerance=1e-12)


def test_scikit_learn_average_precision():
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, run = random_data(7, full=True, highest=1)
    theirs = {
        query: float(metrics.average_precision_score(list(judged.values()), [run[query][doc] for doc in judged]))
        for query, judged in qrels.items()
    }
    assert_equal(ours(qrels, run, "AP"), theirs, tolerance=1e-12)


# ranx.

RANX = {
    "precision@5": "P@5",
    "recall@5": "R@5",
    "f1@5": "F@5",
    "hit_rate@3": "Success@3",
    "hits@5": "NumRelRet@5",
    "mrr": "RR",
    "mrr@3": "RR@3",
    "map": "AP",
    "map@5": "AP@5",
    "r-precision": "Rprec",
    "ndcg": "nDCG",
    "ndcg@10": "nDCG@10",
    "ndcg_burges@10": 'nDCG(gain="exp2")@10',
}


@pytest.mark.slow
def test_ranx():
    plain, binary = random_data(8), random_data(9, highest=1)
    graded = {"q": {"a": 3, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    one = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    *theirs, rbp, of_grades, bpref = ask_ranx(
        (*plain, list(RANX)), (*binary, ["rbp.95"]), (*graded, ["rbp.5"]), (*one, ["bpref"])
    )
    for values, measure in zip(theirs, RANX.values(), strict=True):
        assert_equal(ours(*plain, measure), values, 1e-12)
    assert_equal(ours(*binary, "RBP(p=0.95)"), rbp, 1e-12)
    # Known differences, each on one ranking; see KNOWN_DIFFERENCES.
    assert of_grades["q"] == pytest.approx(3 * 0.5 + 1 * 0.25)
    assert ours(*graded, "RBP(p=0.5)")["q"] == pytest.approx(3 / 3 * 0.5 + 1 / 3 * 0.25)
    assert np.isnan(bpref["q"])
    assert ours(*one, "Bpref")["q"] == 1.0


# Known differences.

TIED = ({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}})
CLOSE = ({"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}})
THREE = ({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})

KNOWN_DIFFERENCES = [
    # peer, its measure, ours, data, its value, ours, reason
    ("pytrec_eval", "recip_rank", "RR", CLOSE, 1 / 2, 1.0,
     "rounds scores to single precision, so that these tie and b comes first"),
    ("pytrec_eval", "iprec_at_recall_0.40", "IPrec@0.4", THREE, 2 / 3, 1.0,
     "trec_eval 9 rounds 0.4 * 3 documents up, trec_eval 10 to the nearest"),
    ("ir_measures", "RR@3", "RR@3", TIED, 1.0, 1 / 3,
     "with a cut-off another provider ranks, which orders ties by ascending id; without one it says 1/3"),
    ("ir_measures", "RR", "RR", CLOSE, 1 / 2, 1.0, "pytrec_eval's single precision"),
    ("sklearn", "ndcg_score", "nDCG", TIED, (1 / 1 + 1 / np.log2(3) + 1 / 2) / 3, 1 / 2,
     "averages the gain over tied documents"),
    ("ranx", "rbp.5", "RBP(p=0.5)", None, 1.75, 1 + 1 / 12 - 1 / 2, "grades are not scaled; shown in test_ranx"),
    ("ranx", "bpref", "Bpref", None, float("nan"), 1.0, "0/0 without judged nonrelevant ones; shown in test_ranx"),
]  # fmt: skip


def their_value(peer: str, measure: str, qrels: Qrels, run: Run) -> float:
    module = pytest.importorskip("sklearn.metrics" if peer == "sklearn" else peer)
    if peer == "pytrec_eval":
        return module.RelevanceEvaluator(qrels, {"recip_rank", "iprec_at_recall"}).evaluate(run)["q"][measure]
    if peer == "ir_measures":
        return float(next(iter(module.iter_calc([module.parse_measure(measure)], qrels, run))).value)
    grades = [qrels["q"].get(doc, 0) for doc in run["q"]]
    return float(getattr(module, measure)([grades], [list(run["q"].values())]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("difference", [d for d in KNOWN_DIFFERENCES if d[3]], ids=lambda d: f"{d[0]} {d[1]}")
def test_known_difference(difference):
    peer, theirs, mine, (qrels, run), their_expected, our_expected, _ = difference
    assert their_value(peer, theirs, qrels, run) == pytest.approx(their_expected)
    assert ours(qrels, run, mine)["q"] == pytest.approx(our_expected)
    assert their_expected != our_expected
