"""AutoRAG's retrieval metrics (evaluation/metric/retrieval.py of the project), from records as it writes them.

`retrieval_gt` [["a1", "a2"], ["b"]] is a1 or a2, and b. Its recall is goldrank's. Its nDCG lets every alternative gain
and cuts the ideal at the length of the list, its mrr and map are means over groups, so that a perfect list has less
than 1, and repeated ids count again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base.errors import InputError
from goldrank.data.scores import Column, Scores
from goldrank.io.aliases import QUESTION_IDS, first_present
from goldrank.io.json.whole_records import whole_records

if TYPE_CHECKING:
    from goldrank.cli.readers import FileRequest

NAMES = ("precision", "recall", "f1", "ndcg", "mrr", "map")


class AutoRagScores:
    """The scores of one file."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores


def read(request: FileRequest) -> list[AutoRagScores]:
    """The scores of each file."""
    return [AutoRagScores(_scores(name or PurePath(path).stem, _records(path))) for name, path in request.files]


def _records(path: str) -> Sequence[Mapping[str, Any]]:
    """The records of a JSON file, or the rows of a Parquet file."""
    if not path.endswith(".parquet"):
        return whole_records(path)
    from goldrank.base.packages import needed

    with needed("polars"):
        import polars
    return polars.read_parquet(path).to_dicts()


def _scores(run: str, records: Sequence[Mapping[str, Any]]) -> Scores:
    queries: list[str] = []
    rows: list[dict[str, float]] = []
    for number, record in enumerate(records, 1):
        if "retrieval_gt" not in record or "retrieved_ids" not in record:
            hint = "AutoRAG's records have retrieval_gt and retrieved_ids."
            raise InputError(f"record {number} has not both", where=run, hint=hint, code="other-benchmark")
        key = first_present(record, QUESTION_IDS)
        query = str(number)
        if key is not None:
            query = str(record[key])
        queries.append(query)
        rows.append(values_of(record["retrieval_gt"], record["retrieved_ids"]))

    columns = {}
    for name in NAMES:
        values = np.array([row[name] for row in rows], np.float64)
        known = values[~np.isnan(values)]
        if len(known):
            columns[name] = Column(name, values, float(known.mean()), "mean")
    if not columns:
        raise InputError("no record has both what is expected and what was retrieved", where=run, code="empty-input")
    return Scores(run, tuple(queries), columns, convention="autorag")


def values_of(groups: Any, retrieved: Any) -> dict[str, float]:
    """The six values of one question; NaN where a field is missing or empty, which AutoRAG leaves out."""
    wanted = [[str(doc) for doc in group] for group in groups or () if len(group)]
    docs: list[str] = []
    if retrieved is not None:
        docs = [str(doc) for doc in retrieved]
    if not wanted or not docs:
        return dict.fromkeys(NAMES, math.nan)

    every = {doc for group in wanted for doc in group}
    hits = [any(doc in docs for doc in group) for group in wanted]
    recall = sum(hits) / len(wanted)
    precision = len(every.intersection(docs)) / len(docs)
    f1 = 0.0
    if precision + recall:
        f1 = 2 * precision * recall / (precision + recall)

    gained = _dcg([doc in every for doc in docs])
    ideal = _dcg([True] * min(len(every), len(docs)))
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "ndcg": gained / ideal,
        "mrr": sum(_reciprocal_rank(group, docs) for group in wanted) / len(wanted),
        "map": sum(_average_precision(group, docs) for group in wanted) / len(wanted),
    }


def _dcg(gains: Sequence[bool]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _reciprocal_rank(group: Sequence[str], docs: Sequence[str]) -> float:
    for rank, doc in enumerate(docs, 1):
        if doc in group:
            return 1 / rank
    return 0.0


def _average_precision(group: Sequence[str], docs: Sequence[str]) -> float:
    """The mean of the precisions at the hits, divided by the hits that were found."""
    precisions: list[float] = []
    for rank, doc in enumerate(docs, 1):
        if doc in group:
            precisions.append((len(precisions) + 1) / rank)
    if not precisions:
        return 0.0
    return sum(precisions) / len(precisions)
