"""Questions with retrieved texts and references: pages that show texts instead of ranked documents."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.base.errors import InputError
from goldrank.comparison.holes import PairHoles, ToJudge
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.queries import Queries
from goldrank.data.scores import Scores
from goldrank.explorer.document_texts import Texts
from goldrank.explorer.live import LiveSystem, QueryBounds
from goldrank.explorer.session import FEW, Session, View
from goldrank.explorer.work import Verdicts, Worker
from goldrank.measures import Measure, parse


class TextSystem(LiveSystem):
    """A system's values over questions; they do not change, because a matcher judges texts."""

    def __init__(self, scores: Scores, queries: Sequence[str]) -> None:
        self.name, self.scores = scores.run, scores
        self.values = {}
        for name, column in scores.columns.items():
            known = dict(zip(scores.queries, column.values.tolist(), strict=True))
            self.values[name] = np.array([known.get(query, np.nan) for query in queries])

    def mean(self, measure: Measure) -> float:
        return self.scores.columns[str(measure)].summary

    def bounds(self, measure: Measure) -> QueryBounds | None:
        return None

    def too_many(self, measure: Measure) -> bool:
        return False

    def mean_bounds(self, measure: Measure) -> tuple[float, float] | None:
        return None


class TextSession(Session):
    """Systems that were scored on texts."""

    has_rankings = False

    def __init__(self, scores: Sequence[Scores], title: str, query_texts: Mapping[str, str]) -> None:
        if not scores:
            raise InputError("no system to show", hint="goldrank serve rag.jsonl other=rag2.jsonl")

        self.title, self.known_queries, self.rules = title, Queries(query_texts), Convention()
        self._scores = list(scores)
        self.queries = tuple(dict.fromkeys(query for run in scores for query in run.queries))
        self.numbers = {query: i for i, query in enumerate(self.queries)}
        shared = dict.fromkeys(scores[0].columns)
        for run in scores[1:]:
            shared = {name: None for name in shared if name in run.columns}
        self.measures = [parse(name) for name in shared]
        self.systems = [TextSystem(run, self.queries) for run in scores]
        self.runs, self.criteria, self.slice_by = (), (), ()
        self.grades, self.seq = {}, 0
        self.qrels = Qrels({})
        self.lock = threading.RLock()
        self.texts = Texts(None, tuple)
        self.work, self.is_small = Worker(), len(self.queries) <= FEW
        self.verdicts = Verdicts(self)
        self._cache: dict[object, Any] = {}

        digest = hashlib.sha256()
        for system in self.systems:
            digest.update(repr((system.name, self.queries)).encode("utf-8", "backslashreplace"))
            for name, values in system.values.items():
                digest.update(name.encode() + values.tobytes())

        self.known_hash = digest.hexdigest()[:8]

    @property
    def data_hash(self) -> str:
        return self.known_hash

    def ready(self, view: View) -> bool:
        return True

    def ask_top_documents(self) -> None:
        pass

    def scores(self) -> list[Scores]:
        return self._scores

    def retrieved(self, view: View) -> np.ndarray:
        return np.ones(len(self.queries), np.int64)

    def unjudged(self, view: View, depth: int) -> np.ndarray:
        return np.zeros(len(self.queries), np.int64)

    def noted(self, view: View) -> dict[str, np.ndarray]:
        missing = np.any([np.isnan(system.values[view.name]) for system in view.systems], axis=0)
        if missing.any():
            return {"missing-queries": missing}
        return {}

    def queue_all(self, view: View) -> list[ToJudge]:
        return []

    def holes(self, view: View) -> PairHoles | None:
        return None

    def deltas(self, view: View) -> np.ndarray:
        first = view.a.values[view.name]
        if view.b is None:
            return np.asarray(first - view.measure.declaration.high)
        return np.asarray(view.b.values[view.name] - first)


def is_items(path: str) -> bool:
    """Whether a file holds questions with retrieved texts."""
    from goldrank.io.questions.items import read_items, reader_of
    from goldrank.io.sources import open_source

    try:
        first_bytes = open_source(path).head
        if first_bytes.lstrip()[:1] not in (b"{", b"[") and not first_bytes.startswith(b"PAR1"):
            return False
        return next(iter(reader_of(read_items(path))), None) is not None
    except (InputError, OSError):
        return False
