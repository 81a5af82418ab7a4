"""Conventions equal the packages they are named after on 1,000 random queries of each kind, or refuse with a reason.

scikit-learn and ranx are run beside goldrank; torchmetrics and BEIR are too heavy for that, so that their recorded
answers are compared (`record_conventions.py` says how they were made).
"""

from __future__ import annotations

import functools
import gzip
import json
import math
import os
from pathlib import Path

import pytest
from convention_cases import KINDS, arrays, queries
from lanes import few, many
from raising import raises_code
from ranx_values import ask_ranx
from record_conventions import COUNT, TORCH, settings, with_own_ids, with_relevant

from goldrank import evaluate
from goldrank.base.errors import MeasureError


@functools.cache
def recorded():
    return json.loads(gzip.decompress((Path(__file__).parent / "conventions.json.gz").read_bytes()))


def column(scores):
    return next(iter(scores.columns.values())).values


def ours(convention, kind, measure, *, highest, scale=1, **policies):
    """Values of the queries that are in the run, in its order, and how many of them were refused."""
    qrels, run = queries(kind, many(COUNT), highest=highest, scale=scale)
    policies = {"overlap": "allow", **policies}
    try:
        scores = evaluate(qrels, run, measure, convention=convention, **policies)
        values = dict(zip(scores.queries, column(scores).tolist(), strict=True))
        return [values[query] for query in run]
    except MeasureError:
        pass
    found = []
    for query, row in run.items():
        try:
            scores = evaluate({query: qrels[query]}, {query: row}, measure, convention=convention, **policies)
            found.append(float(column(scores)[0]))
        except MeasureError as error:
            if error.code not in ("undefined-order", "refused-by-convention"):
                raise
            found.append(None)
    return found


def compare(found, theirs, tolerance, most_refused):
    assert len(found) == len(theirs)
    refused = sum(value is None for value in found)
    assert refused <= most_refused * len(found)
    for mine, other in zip(found, theirs, strict=True):
        if mine is not None:
            assert mine == pytest.approx(other, abs=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", TORCH)
def test_torchmetrics(kind, measure):
    found = ours("torchmetrics", kind, measure, **settings(measure))
    most_refused = 0.0
    if kind == "tied" and not measure.startswith(("nDCG", "AUROC")):
        most_refused = 0.9
    if kind == "negative" and measure == "AUROC":
        most_refused = 1.0
    if measure.startswith("FallOut"):  # of what is all relevant, the function and the class give different values
        qrels, run = queries(kind, many(COUNT), **settings(measure))
        all_relevant = [all(arrays(qrels[query], row)[0]) for query, row in run.items()]
        assert all(value is None for value, refused in zip(found, all_relevant, strict=True) if refused)
        most_refused += sum(all_relevant) / len(all_relevant)
    compare(found, recorded()["torchmetrics"][kind][measure][: len(found)], 3e-6, most_refused)


@functools.cache
def sklearn_values(kind, measure, highest):
    import sklearn

    # What is given here is sound: most of the time would go into looking at it.
    with sklearn.config_context(skip_parameter_validation=True, assume_finite=True):
        return list(_sklearn_values(*queries(kind, many(COUNT), highest=highest), measure))


def _sklearn_values(qrels, run, measure):
    from sklearn import metrics

    for query, returned in run.items():
        grades, scores = arrays(qrels[query], returned)
        if measure == "AP":
            value = metrics.average_precision_score(grades, scores)
        elif measure == "AUROC":
            value = metrics.roc_auc_score(grades, scores) if 0 < sum(grades) < len(grades) else math.nan
        elif len(grades) < 2:
            value = math.nan  # scikit-learn refuses a single document
        else:
            name, _, k = measure.partition("@")
            value = getattr(metrics, f"{name.lower()}_score")([grades], [scores], k=int(k) if k else None)
        yield float(value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3", "DCG@3", "AP", "AUROC"])
def test_sklearn(kind, measure):
    highest = 3 if "DCG" in measure else 1
    theirs = sklearn_values(kind, measure, highest)
    found = ours("sklearn", kind, measure, highest=highest)
    undefined = [math.isnan(value) for value in theirs]
    if measure == "AUROC":  # refused where it is not defined, and nowhere else
        assert [value is None for value in found] == undefined
    pairs = [(mine, other) for mine, other in zip(found, theirs, strict=True) if not math.isnan(other)]
    compare([mine for mine, _ in pairs], [other for _, other in pairs], 1e-9, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("convention", ["torchmetrics", "sklearn"])
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3", "AP"])
def test_tools_on_arrays_know_no_queries_without_documents(convention, measure):
    highest = 3 if "DCG" in measure else 1
    theirs = {
        "torchmetrics": lambda: recorded()["torchmetrics"]["missing"][measure],
        "sklearn": lambda: sklearn_values("missing", measure, highest),
    }[convention]()
    qrels, run = queries("missing", many(COUNT), highest=highest)
    theirs = theirs[: len(run)]
    scores = evaluate(qrels, run, measure, convention=convention)
    assert len(run) < len(qrels)
    assert scores.queries == tuple(run)
    assert next(iter(scores.mean.values())) == pytest.approx(sum(theirs) / len(run), abs=3e-6)


def test_a_query_that_does_not_count_refuses_nothing():
    qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 0}}, {"q1": {"a": 2.0, "b": 1.0}}
    assert evaluate(qrels, run, "AUROC", convention="sklearn").mean == {"AUROC": 1.0}


def test_torchmetrics_refuses_fall_out_where_its_function_and_its_class_differ():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    with raises_code(MeasureError, "refused-by-convention", match="RetrievalFallOut"):
        evaluate(qrels, run, "FallOut@1", convention="torchmetrics")


def test_sklearn_refuses_what_it_refuses():
    with raises_code(MeasureError, "refused-by-convention"):
        evaluate({"q": {"a": -1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, "nDCG", convention="sklearn")


BEIR = {"nDCG": "NDCG", "AP": "MAP", "R": "Recall", "P": "P", "RR": "MRR", "Hole": "Hole", "Success": "Accuracy",
        "RelP": "R_cap"}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", few([3, 1, 10], 1))
@pytest.mark.parametrize("measure", BEIR)
def test_beir(kind, k, measure):
    theirs = recorded()["beir"][kind][f"{BEIR[measure]}@{k}"]
    qrels, run = queries(kind, COUNT, highest=3)
    run = with_own_ids(run)
    if measure == "RelP":
        qrels, run = with_relevant(qrels, run)
    try:
        found = evaluate(qrels, run, f"{measure}@{k}", convention="beir", overlap="allow")
    except MeasureError as error:
        if error.code != "undefined-order" or kind != "tied" or measure not in ("RR", "Success", "RelP"):
            raise
        return
    assert next(iter(found.mean.values())) == pytest.approx(theirs, abs=6e-6)


def test_beir_counts_queries_by_measure_in_one_call():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    scores = evaluate(qrels, {"q1": {"q1": 2.0, "a": 1.0}}, ["R@1", "RR@1"], convention="beir")
    assert scores.mean == {"R@1": 1.0, "RR@1": 0.5}


ONE = {"q1": {"a": 1.0}}


@pytest.mark.parametrize(
    ("qrels", "run", "theirs"),
    [
        ({"q1": {"a": 1}, "q2": {"b": 1}}, {**ONE, "q2": {}}, (0.5, 0.5, 0.5, 0.16667, 0.5, 0.0, 0.5, 0.5)),
        ({"q1": {"a": 1}, "q2": {"b": 1}}, ONE, (1.0, 1.0, 1.0, 0.33333, 0.5, 0.0, 0.5, 0.5)),
        ({"q1": {"a": 1}}, {**ONE, "q2": {"b": 1.0}}, (1.0, 1.0, 1.0, 0.33333, 1.0, None, 1.0, 1.0)),
        ({"q1": {"a": 1}, "q2": {}}, {**ONE, "q2": {"b": 1.0}}, (1.0, 1.0, 1.0, 0.33333, 0.5, 0.16667, 0.5, None)),
        ({"q1": {"a": 1}, "q2": {"b": 0}}, {**ONE, "q2": {"b": 1.0}}, (0.5, 0.5, 0.5, 0.16667, 0.5, 0.0, 0.5, None)),
    ],
    ids=["no results", "missing", "not judged", "no judgements", "none relevant"],
)
def test_beir_at_its_edges(qrels, run, theirs):
    """What BEIR 2.2.0 said at 3, but for None: refused, as it fails or counts what is not judged. MRR, Accuracy and
    R_cap of a query that is not judged are KeyErrors there; here such a query is left out."""
    measures = ("nDCG@3", "AP@3", "R@3", "P@3", "RR@3", "Hole@3", "Success@3", "R_cap@3")
    for measure, value in zip(measures, theirs, strict=True):
        if value is None:
            with pytest.raises(MeasureError) as error:
                evaluate(qrels, run, measure, convention="beir")
            assert error.value.code == "refused-by-convention"
        else:
            found = evaluate(qrels, run, measure, convention="beir").mean
            assert list(found.values()) == pytest.approx([value], abs=6e-6), measure


RANX = {"P@3": "precision@3", "R@3": "recall@3", "F@3": "f1@3", "Success@3": "hit_rate@3", "NumRelRet@3": "hits@3",
        "RR": "mrr", "AP": "map", "AP@3": "map@3", "Rprec": "r-precision", "DCG": "dcg", "nDCG@3": "ndcg@3",
        'nDCG(gain="exp2")': "ndcg_burges", "RBG(p=0.8)": "rbp.8", "SetP": "precision", "Bpref": "bpref"}  # fmt: skip


@functools.cache
def ranx_data(kind):
    """Judgements and the run; then without queries of one kind: one makes ranx's Bpref of all others wrong too."""
    qrels, run = queries(kind, many(COUNT), highest=3)
    both = [query for query in run if 0 < sum(grade >= 1 for grade in qrels[query].values()) < len(qrels[query])]
    return [({query: qrels[query] for query in which}, {query: run[query] for query in which}) for which in (run, both)]


@functools.cache
def ranx_values():
    """By kind and measure."""
    kinds = [kind for kind in KINDS if kind != "tied"]
    most = [name for name in RANX.values() if name != "bpref"]
    questions = [
        (*data, names) for kind in kinds for data, names in zip(ranx_data(kind), (most, ["bpref"]), strict=True)
    ]
    answers = iter(ask_ranx(*questions))
    return {kind: {name: next(answers) for name in (*most, "bpref")} for kind in kinds}


def compare_with_ranx(kind, measure, theirs):
    found = dict(zip(ranx_data(kind)[0][1], ours("ranx", kind, measure, highest=3, missing="skip"), strict=True))
    # Queries of one kind are refused for Bpref, and no others.
    assert {query for query, value in found.items() if value is not None} == set(theirs)
    assert [found[query] for query in theirs] == pytest.approx(list(theirs.values()), abs=1e-12), (measure, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tied"])
def test_ranx(kind):
    for measure, name in RANX.items():
        compare_with_ranx(kind, measure, ranx_values()[kind][name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_order_of_ties_is_that_of_compiled_ranx():
    """Numba's sorting decides. DCG shows the whole order of grades, and one measure is enough to compile."""
    ranx = pytest.importorskip("ranx")
    qrels, run = ranx_data("tied")[0]
    judged = ranx.Qrels(qrels)
    values = ranx.evaluate(judged, ranx.Run(run), RANX["DCG"], return_mean=False).tolist()
    compare_with_ranx("tied", "DCG", dict(zip(judged.keys(), values, strict=True)))


def test_ranx_refuses_long_tied_rankings_and_high_grades_of_rbp():
    tied = {"q": {f"d{i}": 1.0 for i in range(16)}}
    with raises_code(MeasureError, "undefined-order"):
        evaluate({"q": {"d3": 1}}, tied, "RR", convention="ranx")
    assert column(evaluate({"q": {"d3": 1}}, tied, "RR", convention="ranx", ties="input")) == [1 / 4]
    assert column(evaluate({"q": {"d3": 1}}, tied, "R@16", convention="ranx")) == [1.0]  # whatever the order
    with pytest.raises(MeasureError, match="RBG"):
        evaluate({"q": {"d3": 2}}, {"q": {"d3": 1.0}}, "RBP", convention="ranx")


@pytest.mark.skipif("GOLDRANK_PEERS" not in os.environ, reason="needs torch, torchmetrics and beir")
def test_the_record_is_what_the_packages_say():
    from record_conventions import beir_values, torch_values

    for kind in KINDS:
        assert torch_values(kind) == recorded()["torchmetrics"][kind]
        assert beir_values(kind) == recorded()["beir"][kind]
