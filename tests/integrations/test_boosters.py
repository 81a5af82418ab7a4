"""LightGBM and XGBoost: the wrappers against the values of the packages, and with them where they are installed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import places
import pytest
from raising import raises_code

from goldrank import Convention, GoldrankError, evaluate_arrays
from goldrank.integrations import lightgbm as wrapped_lightgbm
from goldrank.integrations import xgboost as wrapped_xgboost

GOLDEN = {
    case["id"]: case
    for case in json.loads((places.FILES / "golden" / "recommenders.json").read_text(encoding="utf-8"))["cases"]
}
INPUTS = GOLDEN["lightgbm-ndcg"]["inputs"]
GRADES, SCORES = np.array(INPUTS["grades"]), np.array(INPUTS["scores"])


def dataset(grades: Any, sizes: Any) -> Any:
    """What the wrapper asks of a lightgbm.Dataset."""
    return SimpleNamespace(get_label=lambda: np.asarray(grades, np.float32).ravel(), get_group=lambda: np.array(sizes))


@pytest.mark.parametrize(
    ("ours", "theirs", "golden"), [("nDCG", "ndcg", "lightgbm-ndcg"), ("AP", "map", "lightgbm-map")]
)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_lightgbm_golden(ours, theirs, golden, k):
    expected = GOLDEN[golden]["expected"]
    feval = wrapped_lightgbm.feval(f"{ours}@{k}")
    [(_, value, higher)] = feval(SCORES.ravel(), dataset(GRADES, [5] * 4))
    assert value == pytest.approx(expected["all"][f"{theirs}@{k}"], abs=1e-11)
    assert higher
    scores = evaluate_arrays(GRADES, SCORES, f"{ours}@{k}", convention="lightgbm")
    for i in range(4):
        found = next(iter(scores.per_query.values()))[str(i)]
        assert found == pytest.approx(expected[f"q{i}"][f"{theirs}@{k}"], abs=1e-11)


# LightGBM 4.7.0, run again with label_gain=[0, 1, 2, 3] and the scores as init_score: the golden file lists four
# queries, but its values are the means of the first two, to the last digit. These are those of all four.
LINEAR_GAIN = {1: 0.625, 3: 0.6018973190673788, 5: 0.8041795881271872}


@pytest.mark.parametrize("k", [1, 3, 5])
def test_golden_with_linear_gain(k):
    measure = f'nDCG(gain="linear")@{k}'
    expected = GOLDEN["lightgbm-ndcg_linear_gain"]["expected"][f"ndcg@{k}"]
    first_two = evaluate_arrays(GRADES[:2], SCORES[:2], measure, convention="lightgbm")
    assert next(iter(first_two.values())) == pytest.approx(expected, abs=1e-11)
    scores = evaluate_arrays(GRADES, SCORES, measure, convention="lightgbm")
    assert next(iter(scores.values())) == pytest.approx(LINEAR_GAIN[k], abs=1e-12)


def test_groups_of_one_entry_each():
    [(_, value, _)] = wrapped_lightgbm.feval("RR")(np.array([0.1, 0.2]), dataset([1, 1], [1, 1]))
    assert value == 1.0


def test_lightgbm_names_what_is_missing():
    with raises_code(GoldrankError, "no-groups"):
        wrapped_lightgbm.feval()(SCORES.ravel(), SimpleNamespace(get_label=list, get_group=lambda: None))
    with raises_code(GoldrankError, "no-groups"):
        wrapped_lightgbm.eval_metric()(GRADES.ravel(), SCORES.ravel())


def matrix(grades: Any, borders: Any) -> Any:
    """What the wrapper asks of a xgboost.DMatrix."""
    return SimpleNamespace(
        get_label=lambda: np.asarray(grades, np.float32).ravel(),
        get_uint_info=lambda name: np.array(borders, np.uint32) if name == "group_ptr" else None,
    )


@pytest.mark.parametrize(
    ("spelled", "empty", "key"),
    [("nDCG", None, "ndcg"), ("nDCG@3", None, "ndcg@3"), ("nDCG@3", "zero", "ndcg@3-"), ("nDCG", "zero", "ndcg-")],
)
def test_xgboost_golden(spelled, empty, key):
    policies = {} if empty is None else {"empty": empty}
    metric = wrapped_xgboost.custom_metric(spelled, convention=Convention("xgboost", **policies))
    for i in range(4):
        _, value = metric(SCORES[i], matrix(GRADES[i], [0, 5]))
        assert value == pytest.approx(GOLDEN[f"xgboost-q{i}"]["expected"][key], abs=1e-11)
    _, value = metric(SCORES.ravel(), matrix(GRADES, [0, 5, 10, 15, 20]))
    assert value == pytest.approx(GOLDEN["xgboost-all"]["expected"][key], abs=1e-11)


def test_xgboost_names_what_is_missing():
    with raises_code(GoldrankError, "no-groups"):
        wrapped_xgboost.custom_metric()(SCORES.ravel(), matrix(GRADES, []))


def test_catboost_golden_where_rules_are_the_same():
    """CatBoost takes the worst order of ties: the lower bound of ties here."""
    for key, measure in (("catboost-NDCG", "nDCG"), ("catboost-NDCG:top=3", "nDCG@3"), ("catboost-MRR", "RR"),
                         ("catboost-PrecisionAt:top=3", "P@3"), ("catboost-DCG:top=3", "DCG@3")):  # fmt: skip
        scores = evaluate_arrays(GRADES, SCORES, measure, convention=Convention(ties="bounds"))
        low = scores.bounds[measure].low.values
        for i in (0, 1, 3):  # the third has nothing relevant, where CatBoost has rules of its own
            assert low[i] == pytest.approx(GOLDEN[key]["expected"][i], abs=1e-11)


def data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = rng.integers(3, 12, 30)
    features = rng.random((sizes.sum(), 4))
    grades = (features[:, 0] * 3 + rng.random(sizes.sum())).astype(int)
    return features, grades, sizes


@pytest.mark.filterwarnings("ignore")  # its own, of names that change
def test_with_lightgbm_itself():
    lightgbm = pytest.importorskip("lightgbm")
    features, grades, sizes = data(np.random.default_rng(1))
    train = lightgbm.Dataset(features, grades, group=sizes)
    kept: dict[str, Any] = {}
    settings = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [3], "verbosity": -1, "num_threads": 1,
                "min_data_in_leaf": 2}  # fmt: skip
    lightgbm.train(settings, train, 5, valid_sets=[train], valid_names=["t"],
                   feval=wrapped_lightgbm.feval("nDCG@3"), callbacks=[lightgbm.record_evaluation(kept)])  # fmt: skip
    ours = next(value for name, value in kept["t"].items() if name.startswith("nDCG"))
    assert ours == pytest.approx(kept["t"]["ndcg@3"], abs=1e-9)
    ranker = lightgbm.LGBMRanker(n_estimators=3, min_child_samples=2, verbosity=-1, n_jobs=1)
    ranker.fit(features, grades, group=sizes, eval_set=[(features, grades)], eval_group=[sizes],
               eval_metric=wrapped_lightgbm.eval_metric("nDCG@3"), eval_at=[3])  # fmt: skip
    found = next(iter(ranker.evals_result_.values()))
    ours = next(value for name, value in found.items() if name.startswith("nDCG"))
    assert ours == pytest.approx(found["ndcg@3"], abs=1e-9)


def test_with_xgboost_itself():
    xgboost = pytest.importorskip("xgboost")
    features, grades, sizes = data(np.random.default_rng(2))
    train = xgboost.DMatrix(features, grades, qid=np.repeat(np.arange(len(sizes)), sizes))
    kept: dict[str, Any] = {}
    xgboost.train(
        {"objective": "rank:ndcg", "eval_metric": "ndcg@3", "nthread": 1}, train, 4, evals=[(train, "t")],
        custom_metric=wrapped_xgboost.custom_metric("nDCG@3"), evals_result=kept, verbose_eval=False,
    )  # fmt: skip
    ours = next(value for name, value in kept["t"].items() if name.startswith("nDCG"))
    assert ours == pytest.approx(kept["t"]["ndcg@3"], abs=1e-5)
