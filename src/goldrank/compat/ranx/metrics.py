"""ranx's metrics: their names in goldrank, and functions of arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.base.errors import MeasureError, did_you_mean
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.engine import lists
from goldrank.measures import Measure, make
from goldrank.measures.options import MAX_CUTOFF
from goldrank.measures.weights import gains

# By ranx's name: goldrank's measure with a cut-off, without one, and its options.
METRICS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "hits": ("NumRelRet", "NumRelRet", {}),
    "hit_rate": ("Success", "Success", {}),
    "precision": ("P", "SetP", {}),
    "recall": ("R", "SetR", {}),
    "f1": ("F", "SetF", {}),
    "r-precision": ("Rprec", "Rprec", {}),
    "mrr": ("RR", "RR", {}),
    "map": ("AP", "AP", {}),
    "dcg": ("DCG", "DCG", {"gain": "linear"}),
    "dcg_burges": ("DCG", "DCG", {"gain": "exp2"}),
    "ndcg": ("nDCG", "nDCG", {"gain": "linear"}),
    "ndcg_burges": ("nDCG", "nDCG", {"gain": "exp2"}),
    "bpref": ("Bpref", "Bpref", {}),
    "rbp": ("RBG", "RBG", {}),
}
_SPELLING = re.compile(r"(?P<name>[a-z0-9_-]+?)(?:(?P<mark>[@.])(?P<number>\d+))?(?:-l(?P<level>\d+))?")


def measure_of(metric: str, highest: int) -> Measure:
    """goldrank's measure for one of ranx's spellings, for judgements whose highest grade is known.

    In `ndcg@10-l2` grades below 2 count as 0: for measures of gain this is a table of gains.
    """
    matched = _SPELLING.fullmatch(metric)
    is_known = matched is not None and matched["name"] in METRICS
    if matched is None or not is_known or (matched["mark"] == "." and matched["name"] != "rbp"):
        hint = did_you_mean(metric.split("@")[0].split("-l")[0], METRICS) or f"There are: {', '.join(METRICS)}."
        raise MeasureError(f"metric {metric!r} is not one of ranx's", hint=hint)

    name, number, level = matched["name"], matched["number"], int(matched["level"] or 1)
    with_cutoff, without, options = METRICS[name]
    if name == "rbp":
        if number is None:
            raise MeasureError(f"{metric!r} needs a persistence", hint="For example rbp.95.")
        return make("RBG", None, {"p": float(f"0.{number}"), "rel": level})
    if "gain" in options:
        return make(with_cutoff, _cutoff(number), {"gain": _gains(str(options["gain"]), level, highest)})

    if name not in ("r-precision", "bpref") and int(number or 0) > 0:
        return make(with_cutoff, _cutoff(number), {**options, "rel": level})
    if name == "hit_rate":
        return make(without, MAX_CUTOFF, {**options, "rel": level})
    return make(without, None, {**options, "rel": level})


def highest(judged: Qrels) -> int:
    """The highest grade; 0 if no grade is above 0."""
    return int(judged.arrays.grade.max(initial=0))


def _cutoff(number: str | None) -> int | None:
    if number is not None and int(number) > 0:
        return int(number)
    return None


def _gains(gain: str, level: int, highest: int) -> str | dict[int, float]:
    if level <= 1:
        return gain
    grades = np.arange(max(highest, level) + 1)
    by_grade = gains(grades, gain, 1)
    table = dict.fromkeys(range(1, level), 0.0)
    return table | {grade: float(by_grade[grade]) for grade in grades.tolist()[level:]}


Arrays = Sequence[np.ndarray]
"""For each query rows of (document, value), the best first."""


def of_arrays(qrels: Arrays, run: Arrays, metric: str) -> np.ndarray:
    """The values of a metric for arrays of judged and returned documents, both in their order."""
    placements = _placed(qrels, run)
    return measure_of(metric, int(placements.judged.max(initial=0)))(placements)


def _placed(qrels: Arrays, run: Arrays) -> Placements:
    judged = [_by_doc(rows) for rows in qrels]
    ranked = [np.asarray(rows).reshape(-1, 2)[:, 0].tolist() for rows in run]
    return lists.place(ranked, judged).per_label


def _by_doc(rows: np.ndarray) -> dict[float, float]:
    return {row[0]: row[1] for row in np.asarray(rows).tolist()}


def _function(metric: str) -> Callable[..., np.ndarray]:
    def call(qrels: Arrays, run: Arrays, k: int = 0, rel_lvl: int = 1) -> np.ndarray:
        return of_arrays(qrels, run, f"{metric}@{k}-l{rel_lvl}")

    call.__doc__ = f"ranx's {metric} of each query, for arrays."
    return call


hits, hit_rate, precision, recall = map(_function, ("hits", "hit_rate", "precision", "recall"))
f1, r_precision, reciprocal_rank = map(_function, ("f1", "r-precision", "mrr"))
average_precision, bpref = map(_function, ("map", "bpref"))
dcg, dcg_burges, ndcg, ndcg_burges = map(_function, ("dcg", "dcg_burges", "ndcg", "ndcg_burges"))


def rank_biased_precision(qrels: Arrays, run: Arrays, p: float, rel_lvl: int = 1) -> np.ndarray:
    """ranx's rbp of each query, for arrays."""
    return make("RBG", None, {"p": p, "rel": rel_lvl})(_placed(qrels, run))


def get_hit_lists(qrels: Arrays, run: Arrays, k: int = 0, rel_lvl: int = 1) -> list[np.ndarray]:
    """For each query, 1 for each returned document that is relevant, else 0."""
    hit_lists = []
    for judged, ranked in zip(qrels, run, strict=True):
        relevant = {row[0] for row in np.asarray(judged).tolist() if row[1] >= rel_lvl}
        docs = [row[0] for row in np.asarray(ranked).reshape(-1, 2).tolist()][: k or None]
        hit_lists.append(np.array([float(doc in relevant) for doc in docs]))
    return hit_lists
