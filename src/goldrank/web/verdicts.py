"""The comparison with its statistics: pages show values at once, and intervals when they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import wait as wait_for
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldrank.comparison import compare
from goldrank.comparison.result import Comparison
from goldrank.comparison.slices import with_slices

if TYPE_CHECKING:
    from goldrank.web.session import Session

KEY = "verdict"


class Verdicts:
    """The newest comparison of a session; judgements make it old, and the next page that asks has it made again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: tuple[int, Comparison | None] | None = None
        self.trouble = ""

    @property
    def known(self) -> Comparison | None:
        """The newest comparison there is."""
        return self._known[1] if self._known else None

    @property
    def seq(self) -> int:
        """As of which judgement the comparison is."""
        return self._known[0] if self._known else -1

    def get(self, wait: float | None = 0.0) -> Comparison | None:
        """The newest comparison; begun if judgements changed, and waited for so many seconds (None: to its end)."""
        session = self._session
        if len(session.systems) < 2:
            return None
        session.ask_heads()
        while self.seq != session.seq:
            session.work.forget(KEY)
            made = session.work.ask(KEY, self._make)
            if wait_for([made], wait).not_done or wait is not None:
                break
        return self.known

    def _make(self) -> None:
        session = self._session
        with session.lock:
            seq, scores = session.seq, session.scores()
            placed = [session.placed(system) for system in session.systems] if session.has_rankings else []
        try:
            made = compare(scores, **session.options)
            made = replace(made, placed=tuple(placed), texts=dict(session.query_texts))
            if session.groups:
                names = {name: _by_query(parts, session.queries) for name, parts in session.groups.items()}
                made = with_slices(made, names)
            self._known = (seq, made)
        except Exception as error:  # it is said on the page, which would wait for it otherwise
            self.trouble = f"{type(error).__name__}: {error}"
            self._known = (seq, None)


def _by_query(parts: Mapping[str, np.ndarray], queries: Sequence[str]) -> dict[str, str]:
    return {queries[i]: name for name, mask in parts.items() for i in np.flatnonzero(mask).tolist()}
