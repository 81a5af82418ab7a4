"""Retrieved texts: which reference each covers, how long it is, and whether it repeats a text above it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import MeasureError
from goldrank.data.aspects import Aspects
from goldrank.data.citations import Citations
from goldrank.data.placements import Placements


@dataclass(frozen=True)
class Passages:
    """One row per retrieved text, and the pairs of a text and a reference that it covers."""

    pairs: Placements
    """One row per text and reference that it covers; `label` numbers the references of all queries."""
    query: np.ndarray
    rank: np.ndarray
    repeated: np.ndarray
    """Whether an equal text is at a higher rank of the query."""
    answerable: np.ndarray | None = None
    """Per query, 1 if it has an answer, 0 if it has none, -1 if that is not known; None: all have an answer."""
    confidence: np.ndarray | None = None
    """Per query, the score of the first text: -inf where nothing was returned, NaN where it is not known."""
    wrong: np.ndarray | None = None
    """Per reference, where these are the claims of a response: whether the claim is wrong; None: all are."""
    useful: np.ndarray | None = None
    """Per text, whether it holds anything of the reference answer; None: no text does."""
    citations: Citations | None = None
    """The citations of answers, where they are measured."""
    support: np.ndarray | None = None
    """Per row of `pairs`, how far the text supports the nugget: 1, 0.5 or 0; None: 1."""

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def queries(self) -> tuple[str, ...]:
        """Ids of the questions."""
        return self.pairs.queries

    def count(self, which: np.ndarray) -> np.ndarray:
        """Per query, how many texts are marked."""
        return np.bincount(self.query[which], minlength=len(self))

    def tokens(self, which: np.ndarray) -> np.ndarray:
        """Per query, how many tokens the marked texts have."""
        if self.pairs.lengths is None:
            raise MeasureError("tokens were not counted")
        return np.bincount(self.query, weights=np.where(which, self.pairs.lengths.tokens, 0), minlength=len(self))

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> Passages:
        """As if only the texts that fit into the budget of tokens had been retrieved; ranks close up."""
        assert self.pairs.lengths is not None
        keep = self.pairs.lengths.packed(budget, pack, depth)
        pairs = self.pairs.packed(budget, pack, depth)
        assert pairs.lengths is not None

        # A text that was cut is the last of its context, and equal to no other text.
        last = pairs.lengths.start[1:] - 1
        added = pairs.retrieved > np.bincount(self.query[keep], minlength=len(self))
        repeated = np.zeros(len(pairs.lengths.tokens), bool)
        repeated[np.setdiff1d(np.arange(len(repeated)), last[added])] = self.repeated[keep]
        return replace(self, pairs=pairs, query=pairs.lengths.query, rank=pairs.lengths.rank, repeated=repeated)

    @property
    def unanswerable(self) -> np.ndarray:
        """Which questions have no answer."""
        if self.answerable is None:
            return np.zeros(len(self), bool)
        return np.asarray(self.answerable == 0)

    @property
    def known(self) -> np.ndarray:
        """For which questions it is known whether they have an answer."""
        if self.answerable is None:
            return np.ones(len(self), bool)
        return np.asarray(self.answerable >= 0)

    def abstained(self, below: float | None) -> np.ndarray:
        """For which questions nothing was returned, or nothing with a score from `below` on."""
        if below is not None:
            return self.confident(self.known) < below
        if self.confidence is None:
            return np.asarray(self.pairs.retrieved == 0)
        return np.asarray(self.confidence == -np.inf)

    def confident(self, needed: np.ndarray) -> np.ndarray:
        """The scores of the first texts; an error if the first text of a `needed` question has no score."""
        lacking = needed
        if self.confidence is not None:
            lacking = needed & np.isnan(self.confidence)
        if lacking.any():
            query = self.queries[int(np.flatnonzero(lacking)[0])]
            raise MeasureError(
                f"the first text of question '{ids.show(query)}' has no score",
                hint='Scores come with texts, {"text": ..., "score": 0.9}, or beside them: "scores": [0.9, 0.4].',
            )
        assert self.confidence is not None
        return self.confidence

    def spent(self, rows: Placements) -> np.ndarray:
        """For each row, the tokens up to the end of its text."""
        if self.pairs.lengths is None:
            raise MeasureError("tokens were not counted")
        start = self.pairs.lengths.start[rows.query]
        total = np.concatenate(([0], np.cumsum(self.pairs.lengths.tokens)))
        needed: np.ndarray = total[start + rows.rank] - total[start]
        return needed

    @cached_property
    def adds(self) -> np.ndarray:
        """Whether each text covers a reference that no text above it covers."""
        return self._any(self.pairs.novel)

    @cached_property
    def matches(self) -> np.ndarray:
        """Whether each text covers any reference."""
        return self._any(np.ones(len(self.pairs.query), bool))

    def _any(self, which: np.ndarray) -> np.ndarray:
        first = np.searchsorted(self.query, np.arange(len(self)))
        marked = np.zeros(len(self.query), bool)
        marked[first[self.pairs.query[which]] + self.pairs.rank[which] - 1] = True
        return marked

    @cached_property
    def aspects(self) -> Aspects:
        """Each reference as an aspect of its question; the texts that cover it are relevant for the aspect.

        A reference that no text covers is an aspect whose relevant text was not retrieved.
        """
        pairs = self.pairs
        assert pairs.label is not None
        owner = pairs.judged_query

        order = np.lexsort((pairs.rank, pairs.label))
        first = np.searchsorted(self.query, np.arange(len(self)))
        text = first[pairs.query] + pairs.rank - 1
        uncovered = np.setdiff1d(np.arange(len(owner)), pairs.label)
        aspect = np.concatenate((pairs.label[order], uncovered))
        judged_doc = np.concatenate((text[order], len(self.query) + np.arange(len(uncovered))))

        grouped = np.argsort(aspect, kind="stable")
        rank = pairs.rank[order]
        parts = Placements(
            queries=tuple(map(str, range(len(owner)))),
            retrieved=pairs.retrieved[owner],
            answered=pairs.answered[owner],
            judged_start=np.searchsorted(aspect[grouped], np.arange(len(owner) + 1)),
            judged=np.ones(len(aspect)),
            query=pairs.label[order],
            rank=rank,
            grade=np.ones(len(rank)),
            tie_first=rank,
            tie_last=rank,
        )
        return Aspects(self.queries, pairs.retrieved, pairs.answered, owner, parts, judged_doc[grouped])

    @property
    def condensed(self) -> Passages:
        """Not available for texts: a text that matches nothing is not unjudged."""
        raise MeasureError("judged_only has no meaning for texts", hint="Every text was compared with every reference.")
