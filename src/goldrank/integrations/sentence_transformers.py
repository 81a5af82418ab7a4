"""An evaluator for sentence-transformers that ranks a corpus with the model and gives intervals with its numbers.

`SentenceTransformerTrainer(..., evaluator=evaluator(queries, corpus, relevant_docs))`
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import InputError, of_type
from goldrank.base.types import ConventionLike, MeasuresLike
from goldrank.comparison.one_system import score_intervals
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.evaluation.rankings import evaluate
from goldrank.integrations import need
from goldrank.io.objects.array_values import as_array
from goldrank.measures import parse_all

MEASURES = ("nDCG@10", "RR@10", "AP@100", "Success@1", "R@10")
_BATCH = 256
"""Queries whose similarities to the corpus are held together."""


def evaluator(
    queries: Mapping[str, str],
    corpus: Mapping[str, str],
    relevant_docs: Mapping[str, Iterable[str]] | Mapping[str, Mapping[str, int]],
    *,
    measures: MeasuresLike = MEASURES,
    convention: ConventionLike = "trec_eval-10",
    depth: int = 100,
    batch_size: int = 32,
    name: str = "",
) -> Any:  # a SentenceEvaluator, whose types are not ours
    """An evaluator that a trainer calls with the model; it returns the measures and the ends of their intervals.

    `relevant_docs` are ids of relevant documents for each query, or grades by id. The first measure is the primary
    metric. The `scores` of the last call can be compared, gated and recorded as any others.
    """
    need("sentence_transformers", "sentence-transformers")
    try:  # version 6 and later
        base: Any = import_module("sentence_transformers.sentence_transformer.evaluation").SentenceEvaluator
    except ImportError:
        base = import_module("sentence_transformers.evaluation").SentenceEvaluator

    class Evaluating(Ranking, base):  # type: ignore[misc]
        """A SentenceEvaluator by goldrank."""

        def __init__(self) -> None:
            base.__init__(self)
            Ranking.__init__(self, queries, corpus, relevant_docs, measures, convention, depth, batch_size, name)

    return Evaluating()


class Ranking:
    """Ranks a corpus with a model, which needs a method `encode` and no more."""

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        relevant_docs: Mapping[str, Any],
        measures: MeasuresLike = MEASURES,
        convention: ConventionLike = "trec_eval-10",
        depth: int = 100,
        batch_size: int = 32,
        name: str = "",
    ) -> None:
        of_type(queries, Mapping, "queries", "a mapping from ids to texts")
        of_type(corpus, Mapping, "corpus", "a mapping from ids to texts")
        self.qrels = io.as_qrels({query: _grades_or_list(docs) for query, docs in relevant_docs.items()})
        textless = [query for query in self.qrels if query not in queries]
        if textless:
            raise InputError(f"{len(textless):,} judged queries have no text: {ids.samples(textless)}", where="queries")

        self.queries = {query: queries[query] for query in self.qrels}
        self.corpus = corpus
        self.measures = parse_all(measures, MEASURES)
        self.depth, self.batch_size, self.name, self.convention = depth, batch_size, name, convention
        if name:
            self.primary_metric = f"{name}_{self.measures[0]}"
        else:
            self.primary_metric = str(self.measures[0])

        self.scores: Scores | None = None

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1, *args: Any, **kwargs: Any
    ) -> dict[str, float]:
        """Rank, score, and write the scores to `output_path` if there is one."""
        run = Run(self.ranked(model), name=self.name or "model")
        self.scores = evaluate(self.qrels, run, self.measures, convention=self.convention)

        metrics = {}
        ends = score_intervals(self.scores)
        for measure, value in self.scores.mean.items():
            if self.name:
                key = f"{self.name}_{measure}"
            else:
                key = measure
            metrics[key] = value
            if math.isfinite(ends[measure].low):
                metrics[f"{key}_low"], metrics[f"{key}_high"] = ends[measure]

        if output_path is not None:
            Path(output_path).mkdir(parents=True, exist_ok=True)
            file_name = "goldrank"
            if epoch >= 0:
                file_name += f"_epoch{epoch}"
            if steps >= 0:
                file_name += f"_step{steps}"
            self.scores.save(Path(output_path) / f"{file_name}.json")

        return metrics

    def ranked(self, model: Any) -> dict[str, dict[str, float]]:
        """The nearest documents of each query by cosine, as far down as `depth`."""
        docs = list(self.corpus)
        doc_vectors = self._encoded(model, "encode_document", [self.corpus[doc] for doc in docs])
        query_vectors = self._encoded(model, "encode_query", list(self.queries.values()))

        most = min(self.depth, len(docs))
        rankings: dict[str, dict[str, float]] = {}
        query_ids = list(self.queries)
        for low in range(0, len(query_ids), _BATCH):
            similarities = query_vectors[low : low + _BATCH] @ doc_vectors.T
            top = np.argpartition(-similarities, most - 1, axis=1)[:, :most]
            for query, row, columns in zip(query_ids[low : low + _BATCH], similarities, top, strict=True):
                rankings[query] = {docs[i]: float(row[i]) for i in columns.tolist()}
        return rankings

    def _encoded(self, model: Any, method: str, texts: list[str]) -> np.ndarray:
        """Vectors of length 1; older models have one `encode` for queries and documents."""
        encode = getattr(model, method, None) or model.encode
        vectors = as_array(encode(texts, batch_size=self.batch_size, show_progress_bar=False), "vectors")
        vectors = vectors.astype(np.float64)
        length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        if not (np.isfinite(length) & (length > 0)).all():
            raise InputError("the model made a vector that is zero or not finite", hint="It has no direction.")
        return np.asarray(vectors / length)


def _grades_or_list(docs: Any) -> Any:
    """Relevant documents as `as_qrels` takes them: grades by id, or a list of ids."""
    if isinstance(docs, Mapping):
        return docs
    return list(docs)
