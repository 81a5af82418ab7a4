"""Every measure that a convention claims beside the package that the convention is named after, as a table.

    python tests/peers/compare_conventions.py [convention or measure ...]       # all unless given

Run it where torch, torchmetrics, scikit-learn, ranx and beir are installed; conventions whose package is not there are
left out, which is said. For each kind of random queries: how many were compared one by one, the largest difference, how
many were refused, and the largest difference of the mean over those that were not. It fails where a difference is
larger than what the package's own precision explains.
"""

from __future__ import annotations

import copy
import logging
import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from convention_cases import KINDS, arrays, queries
from record_conventions import TORCH, with_own_ids

from goldrank import evaluate
from goldrank.base.errors import GoldrankError, MeasureError

COUNT = 1000
EXTRA = ("negative grades", "long ties")
"""Kinds beside those of the recorded answers: grades of -1, and rankings of 16 to 40 documents with equal scores."""

Values = dict[str, float]
REFUSED = ("undefined-order", "refused-by-convention")


@dataclass(frozen=True)
class Row:
    """What came of one measure on one kind of queries."""

    convention: str
    kind: str
    measure: str
    compared: int
    difference: float
    refused: dict[str, int]
    """How many queries, by the code of the error."""
    undefined: int
    """Queries for which the package itself fails."""
    mean: float | None
    """The difference of means; None where nothing was left."""


def ours(convention: str, qrels: Any, run: Any, measure: str) -> tuple[Values, dict[str, str]]:
    """Values of the queries of the run, and the reason of those that were refused."""
    found: Values = {}
    refused: dict[str, str] = {}
    if not measure.startswith("Hole"):  # what is judged for any query of a call is judged there
        try:
            judged = {query: qrels[query] for query in run}
            scores = evaluate(judged, run, measure, convention=convention, overlap="allow")
            return dict(zip(scores.queries, _column(scores), strict=True)), refused
        except MeasureError as error:
            if error.code not in REFUSED:
                raise
    for query, row in run.items():
        try:
            scores = evaluate({query: qrels[query]}, {query: row}, measure, convention=convention, overlap="allow")
            found[query] = _column(scores)[0]
        except MeasureError as error:
            if error.code not in REFUSED:
                raise
            refused[query] = error.code
    return found, refused


def _column(scores: Any) -> list[float]:
    values: list[float] = next(iter(scores.columns.values())).values.tolist()
    return values


def main_value(convention: str, qrels: Any, run: Any, measure: str, **policies: str) -> float:
    """The mean in one call."""
    scores = evaluate(qrels, run, measure, convention=convention, overlap="allow", **policies)
    return float(next(iter(scores.mean.values())))


# What each package says: of the queries one by one, and of all of them.


CLASSES = {
    "AP": "RetrievalMAP", "RR": "RetrievalMRR", "P": "RetrievalPrecision", "R": "RetrievalRecall",
    "Success": "RetrievalHitRate", "FallOut": "RetrievalFallOut", "Rprec": "RetrievalRPrecision",
    "nDCG": "RetrievalNormalizedDCG", "AUROC": "RetrievalAUROC",
}  # fmt: skip
"""torchmetrics' classes."""


class Torchmetrics:
    """Functions for single queries, classes for the mean."""

    tolerance = 3e-6  # single precision
    grades = staticmethod(lambda measure: 3 if "DCG" in measure else 1)
    measures = (*TORCH, *(f"{name}@{k}" for name in ("AP", "RR", "P", "R", "Success", "FallOut", "nDCG", "AUROC")
                          for k in (1, 3, 10) if f"{name}@{k}" not in TORCH))  # fmt: skip

    def __init__(self) -> None:
        self.torch, self.functions = import_module("torch"), import_module("torchmetrics.functional.retrieval")
        self.retrieval = import_module("torchmetrics.retrieval")

    def _call(self, measure: str) -> tuple[Callable[..., Any], dict[str, int]]:
        name, _, k = measure.partition("@")
        function = {name.partition("@")[0]: of for name, (of, _) in TORCH.items()}[name]
        return getattr(self.functions, function), {"top_k": int(k)} if k else {}

    def values(self, qrels: Any, run: Any, measure: str) -> Values:
        function, options = self._call(measure)
        found = {}
        for query, row in run.items():
            grades, scores = arrays(qrels[query], row)
            found[query] = float(function(self.torch.tensor(scores), self.torch.tensor(grades), **options))
        return found

    def mean(self, qrels: Any, run: Any, measure: str) -> float:
        name, _, k = measure.partition("@")
        metric = getattr(self.retrieval, CLASSES[name])(**({"top_k": int(k)} if k else {}))
        grades, scores, index = [], [], []
        for number, (query, row) in enumerate(run.items()):
            judged, returned = arrays(qrels[query], row)
            grades, scores, index = grades + judged, scores + returned, index + [number] * len(row)
        tensor = self.torch.tensor
        return float(metric(tensor(scores), tensor(grades), indexes=tensor(index)))


class Sklearn:
    tolerance = 1e-9
    grades = staticmethod(lambda measure: 3 if "DCG" in measure else 1)
    measures = ("nDCG", "nDCG@1", "nDCG@3", "nDCG@10", "DCG", "DCG@1", "DCG@3", "DCG@10", "AP", "AUROC")

    def __init__(self) -> None:
        self.metrics = import_module("sklearn.metrics")

    def values(self, qrels: Any, run: Any, measure: str) -> Values:
        return {query: self._value(*arrays(qrels[query], row), measure) for query, row in run.items()}

    def _value(self, grades: list[int], scores: list[float], measure: str) -> float:
        name, _, k = measure.partition("@")
        try:
            if name in ("AP", "AUROC"):
                return float(getattr(self.metrics, {"AP": "average_precision_score", "AUROC": "roc_auc_score"}[name])(
                    grades, scores))  # fmt: skip
            return float(getattr(self.metrics, f"{name.lower()}_score")([grades], [scores], k=int(k) if k else None))
        except ValueError:
            return math.nan

    mean = None  # it takes one query, or several with equally many documents


RANX = {
    "NumRelRet": "hits", "NumRelRet@3": "hits@3", "Success@1": "hit_rate@1", "Success@3": "hit_rate@3",
    "Success@10": "hit_rate@10", "SetP": "precision", "P@1": "precision@1", "P@3": "precision@3",
    "P@10": "precision@10", "SetR": "recall", "R@1": "recall@1", "R@3": "recall@3", "R@10": "recall@10",
    "SetF": "f1", "F@3": "f1@3", "F@10": "f1@10", "Rprec": "r-precision", "Bpref": "bpref", "RBG(p=0.8)": "rbp.8",
    "RBG(p=0.95)": "rbp.95", "RBP(p=0.8)": "rbp.8", "RR": "mrr", "RR@3": "mrr@3", "AP": "map", "AP@3": "map@3",
    "AP@10": "map@10", "DCG": "dcg", "DCG@3": "dcg@3", 'DCG(gain="exp2")': "dcg_burges",
    'DCG(gain="exp2")@3': "dcg_burges@3", "nDCG": "ndcg", "nDCG@1": "ndcg@1", "nDCG@3": "ndcg@3",
    "nDCG@10": "ndcg@10", 'nDCG(gain="exp2")': "ndcg_burges", 'nDCG(gain="exp2")@3': "ndcg_burges@3",
    "NumRelRet(rel=2)@3": "hits@3-l2", "Success(rel=2)@3": "hit_rate@3-l2", "P(rel=2)@3": "precision@3-l2",
    "R(rel=2)@3": "recall@3-l2", "F(rel=2)@3": "f1@3-l2", "Rprec(rel=2)": "r-precision-l2",
    "Bpref(rel=2)": "bpref-l2", "RBG(p=0.8, rel=2)": "rbp.8-l2", "RR(rel=2)": "mrr-l2", "AP(rel=2)": "map-l2",
    "DCG(gain={1: 0})": "dcg-l2", "nDCG(gain={1: 0})": "ndcg-l2", "nDCG(gain={1: 0})@3": "ndcg@3-l2",
}  # fmt: skip
"""ranx's names."""


class Ranx:
    tolerance = 1e-12
    grades = staticmethod(lambda measure: 3)
    measures = tuple(RANX)

    def __init__(self) -> None:
        self.ranx = import_module("ranx")

    def values(self, qrels: Any, run: Any, measure: str) -> Values:
        if not run:
            return {}
        judged = {query: qrels[query] for query in run}  # ranx takes no others
        found = self.ranx.evaluate(self.ranx.Qrels(judged), self.ranx.Run(run), RANX[measure], return_mean=False)
        return dict(zip(sorted(run), found.tolist(), strict=True))

    def mean(self, qrels: Any, run: Any, measure: str) -> float:
        judged = {query: qrels[query] for query in run}
        return float(self.ranx.evaluate(self.ranx.Qrels(judged), self.ranx.Run(run), RANX[measure]))


BEIR = {"nDCG": "NDCG", "AP": "MAP", "R": "Recall", "P": "P", "RR": "MRR", "Hole": "Hole", "Success": "Accuracy",
        "R_cap": "R_cap"}  # fmt: skip
CUSTOM = {"RR": "mrr", "Hole": "hole", "Success": "acc", "R_cap": "r_cap"}
"""BEIR's names, and those by which `evaluate_custom` is asked."""


class Beir:
    tolerance = 6e-6  # rounded to 5 digits
    grades = staticmethod(lambda measure: 3)
    measures = tuple(f"{name}@{k}" for name in BEIR for k in (1, 3, 10))

    def __init__(self) -> None:
        self.evaluation = import_module("beir.retrieval.evaluation").EvaluateRetrieval

    def values(self, qrels: Any, run: Any, measure: str) -> Values:
        return {query: self.mean({query: qrels[query]}, {query: row}, measure) for query, row in run.items()}

    def mean(self, qrels: Any, run: Any, measure: str) -> float:
        name, _, k = measure.partition("@")
        run = copy.deepcopy(run)
        try:
            if name not in CUSTOM:
                parts = self.evaluation.evaluate(qrels, run, [int(k)])
                return float({key: value for part in parts for key, value in part.items()}[f"{BEIR[name]}@{k}"])
            # `evaluate` drops documents of the query's id; `evaluate_custom` is for what it has left.
            run = {query: {doc: score for doc, score in row.items() if doc != query} for query, row in run.items()}
            return float(self.evaluation.evaluate_custom(qrels, run, [int(k)], CUSTOM[name])[f"{BEIR[name]}@{k}"])
        except ZeroDivisionError:
            return math.nan


PACKAGES: dict[str, Callable[[], Any]] = {
    "torchmetrics": Torchmetrics, "sklearn": Sklearn, "ranx": Ranx, "beir": Beir,
}  # fmt: skip


def compared(convention: str, package: Any, kind: str, measure: str, count: int = COUNT) -> Row:
    """One measure on one kind of queries."""
    scale = 1 / 1024 if convention == "torchmetrics" and measure.startswith("AUROC") else 1
    highest = package.grades(measure)
    if "RBP" in measure:
        highest = 1
    qrels, run = queries(kind, count, highest=highest, scale=scale)
    if convention == "beir":
        run = with_own_ids(run)
    found, refused = ours(convention, qrels, run, measure)
    kept = {query: row for query, row in run.items() if query in found}
    theirs = package.values(qrels, kept, measure)
    pairs = [(found[query], theirs[query]) for query in kept if not math.isnan(theirs[query])]
    difference = max((_apart(mine, other) for mine, other in pairs), default=0.0)
    alive = {query: row for query, row in kept.items() if not math.isnan(theirs[query])}
    mean = None
    if alive:
        # Judged queries that are not in the run count as each tool counts them; those that were refused are gone.
        judged = {query: row for query, row in qrels.items() if query in alive or query not in run}
        if convention == "ranx":
            judged = {query: qrels[query] for query in alive}
        own = main_value(convention, judged, alive, measure)
        other = package.mean(judged, alive, measure) if package.mean else np.mean([theirs[query] for query in alive])
        mean = _apart(own, float(other))
    undefined = len(kept) - len(pairs)
    return Row(convention, kind, measure, len(pairs), difference, Counter(refused.values()), undefined, mean)


def _apart(mine: float, other: float) -> float:
    return 0.0 if math.isnan(mine) and math.isnan(other) else abs(mine - other) if mine == mine else math.inf


def main(asked: Sequence[str]) -> int:
    """Print the table; the number of rows with a difference."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    wrong = 0
    print("| convention | kind | measure | compared | largest difference | of the mean | refused | package fails |")
    print("|---|---|---|---:|---:|---:|---|---:|")
    wanted = [name for name in asked if name in PACKAGES] or list(PACKAGES)
    only = set(asked) - set(PACKAGES)
    for convention, make in PACKAGES.items():
        if convention not in wanted:
            continue
        try:
            package = make()
        except ImportError as error:
            print(f"{convention}: left out, {error}", file=sys.stderr)
            continue
        for kind in (*KINDS, *EXTRA):
            for measure in package.measures:
                if only and measure not in only:
                    continue
                try:
                    row = compared(convention, package, kind, measure)
                except GoldrankError as error:
                    print(f"| {convention} | {kind} | {measure} | error: {error} |||||")
                    wrong += 1
                    continue
                bad = not max(row.difference, row.mean or 0.0) <= package.tolerance
                wrong += bad
                refused = ", ".join(f"{number} {code}" for code, number in row.refused.items())
                mean = "" if row.mean is None else f"{row.mean:.1e}"
                print(
                    f"| {convention} | {kind} | `{measure}` | {row.compared} | {row.difference:.1e} | {mean} |"
                    f" {refused} | {row.undefined or ''} |" + (" DIFFERENT" if bad else ""),
                    flush=True,
                )
    print(f"{wrong} rows differ", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
