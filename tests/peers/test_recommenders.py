"""Values of libraries for recommenders, as second opinions: computed by them, on lists that were drawn at random."""

from __future__ import annotations

import json
from typing import Any

import places
import pytest

from goldrank import Catalogue, evaluate

RECTOOLS: dict[str, Any] = json.loads((places.ROOT / "tests/files/rectools_values.json").read_text())

MEASURES = {
    "P": "P@{k}",
    "R_cap": "R_cap@{k}",  # Precision with r_precision=True
    "R": "R@{k}",
    "MAP": "AP@{k}",
    "MAPk": 'AP(divisor="k")@{k}',  # divide_by_k=True
    "NDCG": 'nDCG(ideal="full")@{k}',
    "NDCGach": "nDCG@{k}",  # divide_by_achievable=True
    "MRR": "RR@{k}",
    "Hit": "HR@{k}",
    "F1": "F@{k}",
    "Novelty": "Novelty@{k}",  # MeanInvUserFreq
    "Pop": "AveragePopularity@{k}",
    "CoverageN": "ItemCoverage@{k}",  # CatalogCoverage with normalize=True
    "Covered": "UserCoverage(served=True)@{k}",
}
"""goldrank's measures by the names of RecTools' metrics in the file."""


@pytest.mark.parametrize("metric", RECTOOLS["values"])
def test_rectools(metric: str) -> None:
    name, _, k = metric.partition("@")
    measure = MEASURES[name].format(k=k)
    catalogue = Catalogue(range(100, 140), train=RECTOOLS["train"], seen="keep")
    scores = evaluate(RECTOOLS["test"], RECTOOLS["lists"], measure, catalogue=catalogue)
    assert next(iter(scores.mean.values())) == pytest.approx(RECTOOLS["values"][metric], rel=1e-12)


MICROSOFT = {
    "P@5": 0.09999999999999999,
    "P@10": 0.09999999999999999,
    "R@5": 0.1111111111111111,
    "R@10": 0.20833333333333334,
    "nDCG@5": 0.13723957923330027,
    "nDCG@10": 0.18234023568264598,
    "AP@5": 0.07222222222222222,  # map
    "AP@10": 0.10092592592592592,
    'AP(divisor="min")@5': 0.08111111111111109,  # map_at_k
    'AP(divisor="min")@10': 0.10092592592592592,
}
"""Values of recommenders 1.2.1 (pip), `recommenders.evaluation.python_evaluation`, on the same lists."""
MICROSOFT_UNSEEN = {
    "Entropy@10": 4.925031458992674,  # distributional_coverage
    'IntraListDiversity(alike="users")@10': 0.8949288866759497,  # diversity
}
"""Values on the lists without what users had in train, which the package wants to be removed."""


@pytest.mark.parametrize("measure", [*MICROSOFT, *MICROSOFT_UNSEEN])
def test_recommenders_of_microsoft(measure: str) -> None:
    expected = MICROSOFT | MICROSOFT_UNSEEN
    seen = "keep" if measure in MICROSOFT else "remove"
    catalogue = Catalogue(range(100, 140), train=RECTOOLS["train"], seen=seen)
    scores = evaluate(RECTOOLS["test"], RECTOOLS["lists"], measure, catalogue=catalogue)
    assert next(iter(scores.mean.values())) == pytest.approx(expected[measure], rel=1e-12)
