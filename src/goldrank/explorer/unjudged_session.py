"""Unjudged runs: what changed between them, and a queue to judge from zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base import ids
from goldrank.comparison.build import compare
from goldrank.comparison.holes import ToJudge
from goldrank.comparison.pair import Pair
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.table import count
from goldrank.explorer.first_documents import DEPTH
from goldrank.explorer.session import QUEUE, Criterion, Session, View, until_judged
from goldrank.report.comparison_queries import cutoff

if TYPE_CHECKING:
    from goldrank.retrieval.churn import Churn

BUDGET = 40
"""Documents that are judged before the next ones are looked at."""
CRITERIA = (
    Criterion(0, "not relevant", "it does not help"),
    Criterion(1, "partly relevant", "it helps, and something is missing"),
    Criterion(2, "relevant", "it is what was looked for"),
)
"""The grades of people who begin from zero; `--criteria` has others."""


def without_judgements(runs: Sequence[Run], known_queries: Sequence[str] = ()) -> Qrels:
    """Judgements of all queries of the runs, of which there are none yet."""
    queries = dict.fromkeys(known_queries)
    for run in runs:
        queries |= dict.fromkeys(run)
    rows: Mapping[str, Any] = {query: {} for query in sorted(queries, key=ids.encode)}
    return Qrels(rows, name="no judgements")


class UnjudgedSession(Session):
    """Rankings of systems over queries without judgements."""

    def __init__(self, *inputs: Any, paths: Sequence[str] = (), **options: Any) -> None:
        self.paths = paths
        """The files of the runs, beside which records of latencies and failures may be."""
        super().__init__(*inputs, **options)
        if not self.paths:
            self.paths = [""] * len(self.runs)
        if not self.criteria:
            self.criteria = CRITERIA

    @property
    def is_judged(self) -> bool:
        """Never: values over all queries would count unjudged ones as failed."""
        return False

    @property
    def judged_queries(self) -> dict[str, dict[str, Grade]]:
        """The judgements of now, of the queries that have some: what `goldrank judgements export` writes."""
        return {query: grades for query, grades in self.grades.items() if grades}

    @until_judged
    def decision(self, view: View) -> Pair | None:
        """A and B on the judged queries, as `goldrank compare` with the exported judgements; None without any."""
        judged = self.judged_queries
        if view.b is None or not judged:
            return None
        qrels = Qrels(judged, name="judgements")
        runs = Runs([(system.name, system.original.run) for system in view.systems])
        return compare(qrels, runs, [view.measure]).pair

    def so_far(self, view: View) -> str:
        """What was judged, in a sentence that names no system."""
        judged = self.judged_queries
        documents = sum(map(len, judged.values()))
        if not documents:
            return "Nothing is judged yet."
        return f"{count(documents, 'document')} of {count(len(judged), 'query')} are judged."

    def churn(self, view: View) -> Churn:
        """What changed from A to B, as `goldrank diff A B` says it; made once."""
        key = ("churn", *view.key)
        if key not in self._cache:
            self._cache[key] = self._compared(view)
        known: Churn = self._cache[key]
        return known

    def _compared(self, view: View) -> Churn:
        from goldrank.retrieval.churn import compare_files

        assert view.b is not None
        numbers = {run.name: i for i, run in enumerate(self.runs)}
        chosen = [numbers[view.a.name], numbers[view.b.name]]
        runs = {self.runs[i].name: self.runs[i] for i in chosen}
        paths = [self.paths[i] for i in chosen]
        return compare_files(runs, paths, cutoff(view.name), self.known_queries, self.slice_by)

    def _prepare(self, view: View) -> None:
        """Only the queue: bounds of values say nothing where nothing is judged."""
        self.queue_all(view)

    def _queue(self, view: View) -> list[ToJudge]:
        """The documents that tell A from B soonest, or the first ones of a single system.

        They come in portions of 40; within a portion, documents of a query are adjacent.
        """
        if view.b is None:
            documents = self._first_of_one(view)
        else:
            documents = self._of_two(view)

        portions = [documents[i : i + BUDGET] for i in range(0, len(documents), BUDGET)]
        return [document for portion in portions for document in _by_query(portion)]

    def _of_two(self, view: View) -> list[ToJudge]:
        documents = []
        for pair in self.churn(view).judge_first(QUEUE):
            documents.append(ToJudge(pair.query, pair.doc, pair.rank_before, pair.rank_after, -pair.weight, 0.0))
        return documents

    def _first_of_one(self, view: View) -> list[ToJudge]:
        """Rank by rank: the first document of every query, then the second of every query, and so on."""
        documents = []
        depth = min(DEPTH, cutoff(view.name))
        tops = [view.a.top_documents.docs(number, depth) for number in range(len(self.queries))]
        for i in range(depth):
            for query, docs in zip(self.queries, tops, strict=True):
                if i < len(docs):
                    documents.append(ToJudge(query, docs[i], i + 1, None, 1 / float(np.log2(i + 2)), 0.0))
        return documents[:QUEUE]

    def loss_order(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        """The queries that moved most come first."""
        if view.b is None:
            return super().loss_order(view)

        moved = [self.numbers[query] for query in self._moved_order(view)]
        order = np.array(moved, np.int64)
        rank = np.full(len(self.queries), len(order), np.int64)
        rank[order] = np.arange(len(order))
        return order, rank

    def _moved_order(self, view: View) -> list[str]:
        churn = self.churn(view)
        moved = [change.query for change in churn.moved_most(len(churn))]
        return list(dict.fromkeys((*moved, *churn)))


def _by_query(documents: Sequence[ToJudge]) -> list[ToJudge]:
    """Documents in an order in which those of a query are adjacent."""
    first_position: dict[str, int] = {}
    for i, document in enumerate(documents):
        first_position.setdefault(document.query, i)
    return sorted(documents, key=lambda document: first_position[document.query])
