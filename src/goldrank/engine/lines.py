"""Lines of a run as columns, and judgements as the streaming engine asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from goldrank import ids
from goldrank.data.blocks import BlockSource, Rows
from goldrank.data.qrels import Grade, Qrels
from goldrank.native import core

_MIX = np.uint64(0x9E3779B97F4A7C15)
SEARCH_AT_MOST = 16
"""Up to so many judged documents of a query, one is found by looking at each of them."""


class JudgementIndex:
    """The judgements as an engine asks for them: is this (query, document) pair judged, and how?"""

    def __init__(self, qrels: Qrels, source: BlockSource) -> None:
        raw = qrels.raw
        self.arrays = qrels.arrays
        self.owns = qrels.owns
        order = qrels.order
        self.code = {query: code for code, query in enumerate(order)}
        self.judged: list[dict[bytes, Grade]] = [raw[query] for query in order]
        docs = [doc for row in self.judged for doc in row]
        codes = np.repeat(np.arange(len(order)), np.diff(self.arrays.start))
        self.near: list[dict[bytes, str]] | None = None
        if qrels.near_forms:
            forms = qrels.near_forms
            self.near = [{ids.encode(f): d for f, d in forms.get(q, {}).items()} for q in self.arrays.queries]
            docs += [form for row in self.near for form in row]
            codes = np.append(codes, np.repeat(np.arange(len(order)), [len(row) for row in self.near]))
        keys = pair_keys(source.keys(docs), codes)
        bits = min(24, max(16, (128 * len(docs)).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, bool)
        self._table[(keys >> self._shift).view(np.int64)] = True
        self.slots: np.ndarray | None = None
        """The keys of judged pairs as a hash table for the compiled core, where there is one."""
        if core is not None:
            self.slots = np.zeros(1 << (2 * len(docs)).bit_length(), np.uint64)
            core.fill(keys, self.slots)

        self._positions: dict[int, dict[bytes, int]] = {}

    def candidates(self, keys: np.ndarray) -> np.ndarray:
        """The lines that may be judged: all that are, and a few that are not."""
        return np.flatnonzero(self._table[(keys >> self._shift).view(np.int64)])

    def position(self, code: int, doc: bytes) -> int:
        """The place of a judged document among those of its query."""
        row = self.judged[code]
        if len(row) <= SEARCH_AT_MOST:
            return list(row).index(doc)
        positions = self._positions.get(code)
        if positions is None:
            positions = self._positions[code] = {other: i for i, other in enumerate(row)}
        return positions[doc]


def pair_keys(doc_keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A hash of (query, document) pairs from the document's hash and the query's number."""
    mixed: np.ndarray = (doc_keys ^ (codes.view(np.uint64) + np.uint64(1)) * _MIX) * _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed


@dataclass
class RunLines:
    """RunLines of judged queries, as columns, with access to their documents."""

    code: np.ndarray
    score: np.ndarray
    key: np.ndarray
    docs: Callable[[np.ndarray], list[bytes]]
    place: Callable[[int], object]
    claimed: Callable[[np.ndarray], np.ndarray] | None

    def take(self, which: np.ndarray) -> RunLines:
        """Some of the lines, in the order given."""
        claimed = self.claimed
        return RunLines(
            self.code[which],
            self.score[which],
            self.key[which],
            lambda lines: self.docs(which[lines]),
            lambda line: self.place(int(which[line])),
            None if claimed is None else lambda lines: claimed(which[lines]),
        )


def join(parts: Sequence[tuple[int | np.ndarray, Rows]]) -> RunLines:
    """RunLines from several places, in input order, as one table."""
    all_rows = [rows for _, rows in parts]
    begin = np.concatenate(([0], np.cumsum([len(rows) for rows in all_rows])))
    code = np.concatenate([np.broadcast_to(np.asarray(code), len(rows)) for code, rows in parts])

    def docs(lines: np.ndarray) -> list[bytes]:
        owner = np.searchsorted(begin, lines, "right") - 1
        found: list[bytes] = [b""] * len(lines)
        for i in np.flatnonzero(np.bincount(owner)):  # np.unique would import numpy.ma
            mine = np.flatnonzero(owner == i)
            for at, doc in zip(mine.tolist(), all_rows[i].docs(lines[mine] - begin[i]), strict=True):
                found[at] = doc
        return found

    def place_of(line: int) -> object:
        owner = int(np.searchsorted(begin, line, "right")) - 1
        return all_rows[owner].place(int(line - begin[owner]))

    def claimed(lines: np.ndarray) -> np.ndarray:
        owner = np.searchsorted(begin, lines, "right") - 1
        found = np.full(len(lines), -1)
        for i in np.flatnonzero(np.bincount(owner)):  # np.unique would import numpy.ma
            ask = all_rows[i].claimed
            if ask is not None:
                found[owner == i] = ask(lines[owner == i] - begin[i])
        return found

    return RunLines(
        code,
        np.concatenate([rows.score for rows in all_rows]),
        pair_keys(np.concatenate([rows.key for rows in all_rows]), code),
        docs,
        place_of,
        claimed,
    )
