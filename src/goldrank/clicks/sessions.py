"""A click log as arrays: what click models read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from goldrank.clicks.click_log import ShownDocument


@dataclass(frozen=True)
class ClickLog:
    """Rows ordered by page view and rank. Models take weights of rows: a bootstrap sample is other weights."""

    pairs: tuple[tuple[str, str], ...]
    """(query, document), as `pair` numbers them."""
    pair: np.ndarray
    rank: np.ndarray
    click: np.ndarray
    page: np.ndarray
    """Page views, numbered from 0 in the order of rows."""
    query_of_page: np.ndarray
    unit_of_page: np.ndarray
    """The unit that a bootstrap draws: the user, or the page view where users are not known."""
    by_user: bool

    @classmethod
    def of(cls, rows: Sequence[ShownDocument]) -> ClickLog:
        pages: dict[str, int] = {}
        numbered = sorted((pages.setdefault(row.page, len(pages)), row.rank, i) for i, row in enumerate(rows))
        ordered = [rows[i] for _, _, i in numbered]
        page_numbers = [number for number, _, _ in numbered]
        ranks = [row.rank for row in ordered]
        clicks = [row.click for row in ordered]

        pairs: dict[tuple[str, str], int] = {}
        pair = [pairs.setdefault((row.query, row.doc), len(pairs)) for row in ordered]

        row_of_page = {pages[row.page]: row for row in ordered}
        queries: dict[str, int] = {}
        query_of_page = [queries.setdefault(row_of_page[i].query, len(queries)) for i in range(len(pages))]

        by_user = all(row.user is not None for row in row_of_page.values())
        units = list(range(len(pages)))
        if by_user:
            users: dict[str, int] = {}
            units = [users.setdefault(str(row_of_page[i].user), len(users)) for i in range(len(pages))]

        return cls(
            pairs=tuple(pairs),
            pair=np.array(pair),
            rank=np.array(ranks),
            click=np.array(clicks, np.float64),
            page=np.array(page_numbers),
            query_of_page=np.array(query_of_page),
            unit_of_page=np.array(units),
            by_user=by_user,
        )

    @property
    def pages(self) -> int:
        return len(self.query_of_page)

    def per_pair(self, values: np.ndarray) -> np.ndarray:
        """Sums over the rows of each pair."""
        return np.bincount(self.pair, values, len(self.pairs))

    def per_rank(self, values: np.ndarray) -> np.ndarray:
        """Sums over the rows of each rank, from rank 0, which has none."""
        return np.bincount(self.rank, values, int(self.rank.max()) + 1)

    @cached_property
    def last_click(self) -> np.ndarray:
        """The rank of the last click of each page view, 0 if it has none."""
        last = np.zeros(self.pages, np.int64)
        np.maximum.at(last, self.page, np.where(self.click > 0, self.rank, 0))
        return last

    @cached_property
    def is_last(self) -> np.ndarray:
        """Whether a row is the last click of its page view."""
        return np.asarray((self.click > 0) & (self.rank == self.last_click[self.page]))

    @cached_property
    def seen(self) -> np.ndarray:
        """Whether a row is at or above the last click; where nothing was clicked, all are."""
        last = self.last_click[self.page]
        return np.asarray((last == 0) | (self.rank <= last))


def ratio(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Quotients, 0 where there is nothing to divide by."""
    return np.asarray(np.divide(part, total, out=np.zeros(len(part)), where=total > 0))
