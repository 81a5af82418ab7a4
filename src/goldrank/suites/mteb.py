"""MTEB's retrieval metrics (retrieval_metrics.py of the project) from judgements and its files of predictions.

Queries without an entry among the results are left out, those with an empty one count; means have 5 decimals, that of
MRR all. The results of a task are plain means over its splits and subsets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.data.showing import Result
from goldrank.data.table import Cells, Head, Part, Sentence, Table, count
from goldrank.evaluation.rankings import evaluate
from goldrank.io import read_qrels
from goldrank.io.sources import open_source

if TYPE_CHECKING:
    from goldrank.cli.readers import FileRequest

CUTS = (1, 3, 5, 10, 20, 100, 1000)
MEASURES = {
    "ndcg": "nDCG@{k}",
    "map": "AP@{k}",
    "recall": "R@{k}",
    "precision": "P@{k}",
    "mrr": "RR@{k}",
    "hit_rate": "Success@{k}",
}
"""MTEB's name of each measure, and goldrank's."""
Results = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, repr=False, eq=False)
class MtebScores(Result):
    """The numbers of MTEB for one file of predictions."""

    scores: Scores

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks."""
        return ()

    @property
    def mean(self) -> dict[str, float]:
        """The means as MTEB prints them."""
        return {name: _rounded(name, value) for name, value in self.scores.mean.items()}

    @property
    def words(self) -> str:
        """The usual main score in a sentence."""
        shown = f"ndcg_at_10 {self.mean.get('ndcg_at_10', float('nan')):.5f}"
        return f"As MTEB counts, {count(len(self.scores.queries), 'query')} with results: {shown}."

    def parts(self) -> list[Part]:
        """What people read."""
        rows: list[Cells] = [[name, value] for name, value in self.mean.items()]
        heads = [*Head.names("number"), *Head.numbers("mean")]
        return [Sentence(self.words), Table(heads, rows, f"{ids.show(self.scores.run)} as MTEB counts")]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each query."""
        return self.scores.rows()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {"format": "goldrank-mteb", "version": 1, "words": self.words, "mean": self.mean}


def _rounded(name: str, value: float) -> float:
    if name.startswith("mrr"):
        return value
    return round(value, 5)


def mteb_scores(qrels: Mapping[str, Mapping[str, float]], results: Results, cuts: tuple[int, ...] = CUTS) -> MtebScores:
    """MTEB's values of results by query; `cuts` are the cut-offs."""
    unjudged = [query for query in results if query not in qrels]
    if unjudged:
        message = f"{count(len(unjudged), 'query')} of the predictions are not judged: {ids.samples(unjudged)}"
        raise InputError(message, hint="MTEB fails at these; leave them out.")

    judged = Qrels({query: dict(qrels[query]) for query in results})
    run = Run({query: dict(docs) for query, docs in results.items() if docs})
    names = {f"{name}_at_{k}": measure.format(k=k) for name, measure in MEASURES.items() for k in cuts}
    rules: dict[str, Any] = {"convention": "trec_eval-9", "missing": "zero", "overlap": "allow"}
    scores = evaluate(judged, run, list(names.values()), **rules)
    columns = {}
    for name, measure in names.items():
        column = scores.column(measure)
        columns[name] = type(column)(name, column.values, column.summary, "mean")
    return MtebScores(Scores("predictions", scores.queries, columns, convention="mteb"))


def read(request: FileRequest) -> list[MtebScores]:
    """The scores of each file of predictions; the first file holds judgements."""
    (_, qrels), *predictions = request.files
    if not predictions:
        raise InputError("nothing was judged", hint="Give QRELS, then TASK_predictions.json.", code="no-gold")
    judged = read_qrels(qrels)
    scored = []
    for name, path in predictions:
        result = mteb_scores({query: dict(judged[query]) for query in judged}, _predictions(path))
        run = name or PurePath(path).stem.removesuffix("_predictions")
        scored.append(MtebScores(result.scores.renamed(run)))
    return scored


def _predictions(path: str) -> Results:
    """The results of a file of predictions: of its only subset and split, or of one that names no subsets."""
    source = open_source(path)
    try:
        content = json.loads(source.read(lines=True))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", where=source.name, code="bad-json") from None
    if not isinstance(content, Mapping):
        raise InputError("is not an object by subset, split and query", where=source.name, code="other-benchmark")

    subsets = {name: splits for name, splits in content.items() if name != "mteb_model_meta"}
    parts: dict[str, Any] = {}
    for subset, splits in subsets.items():
        if isinstance(splits, Mapping):
            parts |= {f"{subset}/{split}": results for split, results in splits.items()}
    if len(parts) != 1:
        hint = "Give a file with one subset and one split; MTEB averages their means."
        message = f"has {len(parts)} subsets and splits: {', '.join(list(parts)[:8])}"
        raise InputError(message, where=source.name, hint=hint)

    (results,) = parts.values()
    if not isinstance(results, Mapping) or not all(isinstance(docs, Mapping) for docs in results.values()):
        raise InputError("has no documents with scores by query", where=source.name, code="other-benchmark")
    return results
