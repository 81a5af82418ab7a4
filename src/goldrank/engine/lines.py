"""Lines of a run as columns, and judgements as the streaming engine asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import Position
from goldrank.core.hashing import pair_keys
from goldrank.data.blocks import BlockSource, Rows
from goldrank.data.id_column import IdColumn
from goldrank.data.qrels import JudgementArrays, Qrels

_BITS = np.array([1 << place for place in range(8)], np.uint8)


class JudgementIndex:
    """The judgements as an engine asks for them: is this (query, document) pair judged, and how?"""

    def __init__(self, qrels: Qrels, source: BlockSource) -> None:
        columns = qrels.columns
        self._qrels = qrels
        self.size = len(columns.queries)
        """How many queries are judged."""
        self.rows_end = len(columns.grade)
        """The number above those of all judgements."""
        self.owns = qrels.owns
        self._start = columns.start
        self._queries = columns.queries
        self._queries.find(columns.queries.part(0, 1))  # made ready before threads ask
        self._docs = columns.docs
        code = np.repeat(np.arange(self.size), np.diff(columns.start))
        self._near_code = np.zeros(0, np.int64)
        if qrels.near_forms:
            forms = [
                (number, form)
                for number, name in enumerate(qrels.arrays.queries)
                for form in qrels.near_forms.get(name, ())
            ]
            self._docs = IdColumn.joined([self._docs, IdColumn.of(ids.encode(form) for _, form in forms)])
            self._near_code = np.array([number for number, _ in forms], np.int64)
            code = np.append(code, self._near_code)

        keys = pair_keys(source.keys(self._docs), code)
        del code
        bits = min(24, max(16, (128 * len(keys)).bit_length()))
        self._shift = np.uint64(64 - bits)
        table = np.zeros(1 << bits, bool)
        table[(keys >> self._shift).view(np.int64)] = True
        self.may_be_judged = np.packbits(table, bitorder="little")
        """A bit for each value of a key's highest bits: whether a judged pair has them."""
        rows = np.argsort(keys)
        self._keys = keys[rows]
        self._rows = rows.astype(np.int32)  # there may be millions, and none needs more bits

    @property
    def arrays(self) -> JudgementArrays:
        """The judgements as placements need them: with the names of queries, which take more than all else."""
        return self._qrels.arrays

    def name(self, code: int) -> str:
        """A query's name."""
        return ids.decode(self._queries[code])

    def release(self) -> None:
        """Give back the tables by which documents are found: none will be asked for any more."""
        self.may_be_judged = np.zeros(0, np.uint8)
        self._keys = self._rows = np.zeros(0, np.int64)
        self._queries.forget()

    def codes(self, queries: IdColumn) -> np.ndarray:
        """The numbers of some queries, -1 where nobody judged one."""
        return self._queries.find(queries)

    def candidates(self, keys: np.ndarray) -> np.ndarray:
        """The lines that may be judged: all that are, and a few that are not."""
        bit = (keys >> self._shift).view(np.int64)
        return np.flatnonzero(self.may_be_judged[bit >> 3] & _BITS[bit & 7])

    def rows(self, codes: np.ndarray, doc_keys: np.ndarray, docs: IdColumn) -> np.ndarray:
        """The judgement that some documents of some queries have, by its row in `arrays`; -1 where there is none.

        A document whose other Unicode form is judged has a number above all rows.
        """
        keys = pair_keys(doc_keys, codes)
        rows = np.full(len(keys), -1)
        at = np.searchsorted(self._keys, keys)
        left = np.arange(len(keys))
        while len(left):  # once, unless two pairs have one key
            left = left[at[left] < len(self._keys)]
            left = left[self._keys[at[left]] == keys[left]]
            row = self._rows[at[left]]
            same = self._docs.take(row).same(docs.take(left)) & self._is_of(row, codes[left])
            rows[left[same]] = row[same]
            left = left[~same]
            at[left] += 1
        return rows

    def _is_of(self, row: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Whether each row, be it of a judgement or of a near form, is of a query."""
        belongs: np.ndarray = (row >= self._start[codes]) & (row < self._start[codes + 1])
        near = np.flatnonzero(row >= self.rows_end)
        belongs[near] = self._near_code[row[near] - self.rows_end] == codes[near]
        return belongs


@dataclass(frozen=True)
class RunLines(Rows):
    """Lines of judged queries, and the number of the query of each."""

    code: np.ndarray

    def take(self, which: np.ndarray) -> RunLines:
        """Some of the lines, in the order given."""
        return RunLines(**self.taken(which), code=self.code[which])


def join(parts: Sequence[tuple[int | np.ndarray, Rows]]) -> RunLines:
    """RunLines from several places, in input order, as one table."""
    all_rows = [rows for _, rows in parts]
    begin = np.concatenate(([0], np.cumsum([len(rows) for rows in all_rows])))
    code = np.concatenate([np.broadcast_to(np.asarray(code), len(rows)) for code, rows in parts])

    def docs(lines: np.ndarray) -> IdColumn:
        owner = np.searchsorted(begin, lines, "right") - 1
        order = np.argsort(owner, kind="stable")
        owners = np.flatnonzero(np.bincount(owner))  # np.unique would import numpy.ma
        columns = [all_rows[i].docs(lines[order[owner[order] == i]] - begin[i]) for i in owners]
        place = np.empty(len(lines), np.int64)
        place[order] = np.arange(len(lines))
        return IdColumn.joined(columns).take(place)

    def place_of(line: int) -> Position | str:
        owner = int(np.searchsorted(begin, line, "right")) - 1
        return all_rows[owner].place(int(line - begin[owner]))

    def claimed(lines: np.ndarray) -> np.ndarray:
        owner = np.searchsorted(begin, lines, "right") - 1
        claims = np.full(len(lines), -1)
        for i in np.flatnonzero(np.bincount(owner)):  # np.unique would import numpy.ma
            ask = all_rows[i].claimed
            if ask is not None:
                claims[owner == i] = ask(lines[owner == i] - begin[i])
        return claims

    score, key = (np.concatenate([getattr(rows, name) for rows in all_rows]) for name in ("score", "key"))
    return RunLines(score, key, docs, place_of, code, claimed=claimed)
