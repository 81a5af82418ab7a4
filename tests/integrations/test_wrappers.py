"""Wrappers for scikit-learn, torchmetrics, HuggingFace, sentence-transformers, MLflow, Weights & Biases, PyTerrier.

Where a package is too heavy for every run of the tests, a stand-in has the methods that the wrapper calls, and the test
with the package itself is skipped unless it is there.
"""

from __future__ import annotations

import importlib.util
import json
import pickle
from typing import Any

import numpy as np
import places
import pytest

from goldrank import Convention, GoldrankError, Scores, evaluate, evaluate_arrays
from goldrank import integrations as all_integrations
from goldrank.integrations import huggingface, mlflow, pyterrier, sentence_transformers, sklearn, torchmetrics, wandb

GOLDEN = {
    case["id"]: case
    for case in json.loads((places.FILES / "golden" / "recommenders.json").read_text(encoding="utf-8"))["cases"]
}
INPUTS = GOLDEN["sklearn-ndcg_k3_ignoreFalse"]["inputs"]
GRADES, SCORES = np.array(INPUTS["grades"]), np.array(INPUTS["scores"])
IDS = np.repeat(np.arange(4), 5)


def test_a_missing_package_is_answered_with_its_install_line():
    with pytest.raises(all_integrations.MissingPackageError) as caught:
        all_integrations.need("no_such_package_here", "no-such-package")
    assert "pip install no-such-package" in str(caught.value)
    assert isinstance(caught.value, ImportError)


# scikit-learn.


@pytest.mark.parametrize(
    ("key", "measure"),
    [
        ("sklearn-ndcg_kNone_ignoreFalse", "nDCG"),
        ("sklearn-ndcg_k3_ignoreFalse", "nDCG@3"),
        ("sklearn-dcg_k3", "DCG@3"),
    ],
)
def test_sklearn_golden(key, measure):
    scores = evaluate_arrays(GRADES, SCORES, measure, convention="sklearn")
    found = next(iter(scores.per_query.values()))
    assert [found[str(i)] for i in range(4)] == pytest.approx(GOLDEN[key]["expected"], abs=1e-11)


@pytest.mark.slow
def test_sklearn_scorer():
    from sklearn.linear_model import Ridge
    from sklearn.metrics import ndcg_score
    from sklearn.model_selection import GroupKFold, cross_val_score

    rng = np.random.default_rng(3)
    features = rng.random((60, 3))
    grades = (features[:, 0] * 4).astype(int)
    query = np.repeat(np.arange(12), 5)
    table = np.column_stack((features, query))
    score = sklearn.scorer("nDCG@3", groups=lambda rows: rows[:, 3].astype(int))
    folds = GroupKFold(3)
    found = cross_val_score(Ridge(), table, grades, groups=query, cv=folds, scoring=score)
    wanted = []
    for train, test in folds.split(table, grades, query):
        predicted = Ridge().fit(table[train], grades[train]).predict(table[test])
        wanted.append(ndcg_score(grades[test].reshape(-1, 5), predicted.reshape(-1, 5), k=3))
    assert found.tolist() == pytest.approx(wanted, abs=1e-12)


def test_sklearn_scorer_by_column_and_by_table():
    import pandas

    frame = pandas.DataFrame({"query": ["a", "a", "b", "b"], "x": [0.2, 0.9, 0.5, 0.1]})

    class Model:
        def predict(self, rows: Any) -> Any:
            return rows["x"].to_numpy()

    assert sklearn.scorer("RR", groups="query")(Model(), frame, [1, 0, 1, 0]) == 0.75

    class Table:
        def decision_function(self, rows: Any) -> Any:
            return np.asarray(rows)

    assert sklearn.scorer("RR")(Table(), [[0.1, 0.9]], [[1, 0]]) == 0.5
    with pytest.raises(GoldrankError):
        sklearn.scorer("RR")(object(), [[0.1]], [[1]])


# torchmetrics.


@pytest.mark.parametrize(
    ("key", "measure", "options"),
    [
        ("torchmetrics-P10", "P@10", {}),
        ("torchmetrics-P10adaptive", 'P(divisor="retrieved")@10', {}),
        ("torchmetrics-Hit3", "Success@3", {"ties": "input"}),  # of query 3 it matters: the order must be named
    ],
)
def test_torchmetrics_golden_where_ties_do_not_matter(key, measure, options):
    expected = GOLDEN[key]["expected"]
    rules = Convention("torchmetrics", **options)
    for action in ("neg", "skip", "pos"):
        metric = torchmetrics.StreamedMeasures(measure, empty_target_action=action, convention=rules)
        metric.update(SCORES.ravel(), GRADES.ravel(), IDS)
        value = next(iter(metric.compute().values()))
        assert value == pytest.approx(expected[action], abs=1e-6)


def test_torchmetrics_golden_ndcg():
    """torchmetrics' nDCG is a mean over orders of ties, as scikit-learn's."""
    for key, measure in (("torchmetrics-NDCG_all", "nDCG"), ("torchmetrics-NDCG", "nDCG@3")):
        metric = torchmetrics.StreamedMeasures(measure, convention="sklearn")
        metric.update(SCORES, GRADES, IDS.reshape(4, 5))
        assert next(iter(metric.compute().values())) == pytest.approx(GOLDEN[key]["expected"]["neg"], abs=1e-6)


def test_streaming_is_the_same_as_all_at_once():
    rng = np.random.default_rng(5)
    scores, grades, ids = rng.random(200), rng.integers(0, 3, 200), rng.integers(0, 9, 200)
    parts = [torchmetrics.StreamedMeasures(["nDCG@5", "AP"]) for _ in range(3)]
    for at, part in enumerate(parts):
        for low in range(at * 60, min(at * 60 + 60, 200) if at < 2 else 200, 7):
            high = min(low + 7, 120 if at == 1 else 60 if at == 0 else 200)
            part.update(scores[low:high], grades[low:high], ids[low:high])
    first = pickle.loads(pickle.dumps(parts[0]))
    first.merge_state(parts[1:])
    whole = evaluate_arrays(grades, scores, ["nDCG@5", "AP"], indexes=ids, convention="torchmetrics")
    assert first.compute() == whole
    first.reset()
    with pytest.raises(GoldrankError):
        first.compute()


def test_a_batch_is_copied_and_its_padding_left_out():
    metric = torchmetrics.StreamedMeasures("RR", ignore_index=-100)
    batch = np.array([0.9, 0.5, 0.1])
    assert metric(batch, np.array([-100, 0, 1]), np.zeros(3, int))["RR"] == 0.5
    batch[:] = 0
    assert metric.compute()["RR"] == 0.5
    with pytest.raises(GoldrankError):
        metric.update([0.1], [1, 0], [0])
    with pytest.raises(GoldrankError):
        torchmetrics.StreamedMeasures("RR", empty_target_action="zero")


def test_with_torch_and_torchmetrics_themselves():
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.retrieval")
    generator = torch.Generator().manual_seed(1)
    preds = torch.rand(300, generator=generator, requires_grad=True)
    target = torch.randint(0, 2, (300,), generator=generator)
    indexes = torch.randint(0, 20, (300,), generator=generator)
    theirs = {
        "nDCG@5": retrieval.RetrievalNormalizedDCG(top_k=5),
        "AP@5": retrieval.RetrievalMAP(top_k=5),
        "RR": retrieval.RetrievalMRR(),
        "P@5": retrieval.RetrievalPrecision(top_k=5),
        "R@5": retrieval.RetrievalRecall(top_k=5),
        "Success@5": retrieval.RetrievalHitRate(top_k=5),
    }
    for measure, metric in theirs.items():
        ours = torchmetrics.StreamedMeasures(measure)
        ours.update(preds, target, indexes)
        wanted = float(metric(preds.detach(), target, indexes))
        assert next(iter(ours.compute().values())) == pytest.approx(wanted, abs=1e-6), measure


# HuggingFace's evaluate.


def test_huggingface_compute():
    metric = huggingface.load(["nDCG@3", "RR"])
    found = metric.compute(predictions=SCORES, references=GRADES)
    assert found == dict(evaluate_arrays(GRADES, SCORES, ["nDCG@3", "RR"]))
    assert isinstance(metric.scores, Scores)
    flat = metric.compute(predictions=SCORES.ravel(), references=GRADES.ravel(), indexes=IDS)
    assert flat == found


def test_huggingface_rankings_and_batches():
    metric = huggingface.load("RR")
    metric.add(prediction=["x", "a"], reference=["a"])
    metric.add_batch(predictions=[["b"], ["c", "d"]], references=[["b"], {"d": 2}])
    assert metric.compute() == {"RR": pytest.approx(2 / 3)}
    for wrong in ({}, {"predictions": [["a"]]}, {"predictions": [["a"]], "references": []}):
        with pytest.raises(GoldrankError):
            metric.compute(**wrong)
    with pytest.raises(GoldrankError):
        metric.add_batch(predictions=[[1]], references=[])


# sentence-transformers.

QUERIES = {"q1": "red", "q2": "blue"}
CORPUS = {"d1": "red", "d2": "blue", "d3": "green"}


class Model:
    """A model whose vectors are known: one direction for each colour."""

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        return np.array([[text == "red", text == "blue", 0.5 * (text == "green") + 0.1] for text in texts], float)


def test_ranking_with_a_model(tmp_path):
    ranking = sentence_transformers.Ranking(
        QUERIES, CORPUS, {"q1": {"d1"}, "q2": {"d3": 2}}, ["RR", "nDCG@10"], name="colours"
    )
    found = ranking(Model(), str(tmp_path), epoch=1)
    assert found["colours_RR"] == 0.75  # d3 is nearer to blue than d1 is
    assert ranking.primary_metric == "colours_RR"
    assert found["colours_RR_low"] <= 0.75 <= found["colours_RR_high"]
    assert Scores.load(tmp_path / "goldrank_epoch1.json") == ranking.scores
    with pytest.raises(GoldrankError):
        sentence_transformers.Ranking({}, CORPUS, {"q1": {"d1"}})


@pytest.mark.filterwarnings("ignore")  # its own, of places that change
def test_with_sentence_transformers_itself():
    if importlib.util.find_spec("sentence_transformers") is None:
        with pytest.raises(all_integrations.MissingPackageError, match="sentence-transformers"):
            sentence_transformers.evaluator(QUERIES, CORPUS, {"q1": {"d1"}})
        return
    from sentence_transformers.evaluation import SentenceEvaluator

    evaluator = sentence_transformers.evaluator(QUERIES, CORPUS, {"q1": {"d1"}, "q2": {"d2"}})
    assert isinstance(evaluator, SentenceEvaluator)
    assert evaluator(Model())["nDCG@10"] == 1.0


# Trackers.


@pytest.mark.slow
def test_mlflow_takes_scores(tmp_path, monkeypatch):
    real = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    real.set_tracking_uri(f"file://{tmp_path}/runs")
    scores = evaluate({f"q{i}": {"a": 1} for i in range(5)}, {f"q{i}": ["a", "b"] for i in range(5)}, ["nDCG@10", "RR"])
    with real.start_run() as run:
        logged = mlflow.log(scores, step=3, prefix="dev.")
    kept = real.get_run(run.info.run_id).data
    assert kept.metrics == pytest.approx(logged)
    assert kept.metrics["dev.ndcg_at_10"] == 1.0
    assert kept.metrics["dev.ndcg_at_10_low"] < 1.0
    assert kept.tags["goldrank.convention"] == "trec_eval-10"


def test_wandb_takes_scores():
    """A run of wandb has `log(data, step)`: this one keeps what it is given."""
    kept: list[tuple[dict[str, Any], int | None]] = []

    class Run:
        def log(self, data: dict[str, Any], step: int | None = None) -> None:
            kept.append((data, step))

    scores = evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"], "r": ["x", "a"]}, "RR")
    logged = wandb.log(scores, run=Run(), step=7)
    assert kept == [(logged, 7)]
    assert logged["RR"] == 0.75
    assert logged["RR/low"] < 0.75 < logged["RR/high"]


def test_with_wandb_itself(tmp_path, monkeypatch):
    if importlib.util.find_spec("wandb") is None:
        with pytest.raises(all_integrations.MissingPackageError, match="pip install wandb"):
            wandb.log(evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR"))
        return
    import wandb as real

    monkeypatch.setenv("WANDB_MODE", "disabled")
    monkeypatch.chdir(tmp_path)
    run = real.init()
    try:
        assert wandb.log(evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR"), per_query=True)["RR"] == 1.0
    finally:
        run.finish()


# PyTerrier.


def test_measures_of_goldrank_in_ir_measures(monkeypatch):
    ir_measures = pytest.importorskip("ir_measures")
    pipeline = ir_measures.DefaultPipeline
    monkeypatch.setattr(pipeline, "providers", list(pipeline.providers))  # other tests ask the package itself
    qrels = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 0.1, "b": 0.9, "x": 0.5}, "q2": {"x": 1.0, "a": 0.5}}
    asked = [pyterrier.measure("nDCG@10"), pyterrier.measure("Compat"), ir_measures.AP]
    found = ir_measures.calc_aggregate(asked, qrels, run)
    ours = evaluate(qrels, run, ["nDCG@10", "Compat", "AP"])
    assert [found[one] for one in asked] == pytest.approx(list(ours.values()), abs=1e-12)
    assert [str(one) for one in asked[:2]] == ["nDCG@10", "Compat"]
    assert pyterrier.register().NAME == "goldrank"
    del ir_measures.providers.registry["goldrank"], ir_measures.goldrank


def test_with_pyterrier_itself():
    pt = pytest.importorskip("pyterrier")
    import pandas

    topics = pandas.DataFrame({"qid": ["q1", "q2"], "query": ["x", "y"]})
    qrels = pandas.DataFrame({"qid": ["q1", "q2"], "docno": ["d1", "d2"], "label": [1, 1]})
    rows = {"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d2"], "score": [1.0, 2.0, 1.0], "rank": [1, 0, 0]}
    system = pt.Transformer.from_df(pandas.DataFrame({**rows, "query": ["x", "x", "y"]}))
    table = pt.Experiment([system], topics, qrels, [pyterrier.measure("RR"), pyterrier.measure("P@1")])
    assert table[["RR", "P@1"]].to_numpy().tolist() == [[0.75, 0.5]]
