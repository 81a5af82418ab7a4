"""Lines of a run as columns, and an index of judgements for the streaming engine."""

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

_BITS = np.array([1 << bit for bit in range(8)], np.uint8)


class JudgementIndex:
    """Finds the judgement of a (query, document) pair."""

    def __init__(self, qrels: Qrels, source: BlockSource) -> None:
        columns = qrels.columns
        self._qrels = qrels
        self.size = len(columns.queries)
        """The number of judged queries."""
        self.rows_end = len(columns.grade)
        """The number of judgements; larger row numbers are of near forms."""
        self.owns = qrels.owns
        self._start = columns.start
        self._queries = columns.queries
        self._queries.find(columns.queries.part(0, 1))  # prepared before threads use it
        self._docs = columns.docs
        code = np.repeat(np.arange(self.size), np.diff(columns.start))
        self._near_code = np.zeros(0, np.int64)
        if qrels.near_forms:
            forms: list[bytes] = []
            near_codes: list[int] = []
            for number, name in enumerate(qrels.arrays.queries):
                for form in qrels.near_forms.get(name, ()):
                    forms.append(ids.encode(form))
                    near_codes.append(number)
            self._docs = IdColumn.joined([self._docs, IdColumn.of(forms)])
            self._near_code = np.array(near_codes, np.int64)
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
        self._rows = rows.astype(np.int32)  # there may be millions, and 32 bits suffice

    @property
    def arrays(self) -> JudgementArrays:
        """The judgements as arrays for placements; they include the names of queries, which need most memory."""
        return self._qrels.arrays

    def name(self, code: int) -> str:
        """A query's name."""
        return ids.decode(self._queries[code])

    def release(self) -> None:
        """Free the tables for finding documents, which are not needed any more."""
        self.may_be_judged = np.zeros(0, np.uint8)
        self._keys = self._rows = np.zeros(0, np.int64)
        self._queries.forget()

    def codes(self, queries: IdColumn) -> np.ndarray:
        """The numbers of some queries, -1 where a query is not judged."""
        return self._queries.find(queries)

    def candidates(self, keys: np.ndarray) -> np.ndarray:
        """The lines that may be judged: all that are judged, and a few others."""
        bit = (keys >> self._shift).view(np.int64)
        return np.flatnonzero(self.may_be_judged[bit >> 3] & _BITS[bit & 7])

    def rows(self, codes: np.ndarray, doc_keys: np.ndarray, docs: IdColumn) -> np.ndarray:
        """The judgements of some documents of some queries, as rows of `arrays`; -1 where a document is not judged.

        A document whose other Unicode form is judged has a number above all rows.
        """
        keys = pair_keys(doc_keys, codes)
        rows = np.full(len(keys), -1)
        position = np.searchsorted(self._keys, keys)
        remaining = np.arange(len(keys))
        while len(remaining):  # one round, unless two pairs have equal keys
            remaining = remaining[position[remaining] < len(self._keys)]
            remaining = remaining[self._keys[position[remaining]] == keys[remaining]]
            row = self._rows[position[remaining]]
            is_equal = self._docs.take(row).same(docs.take(remaining)) & self._is_of(row, codes[remaining])
            rows[remaining[is_equal]] = row[is_equal]
            remaining = remaining[~is_equal]
            position[remaining] += 1
        return rows

    def _is_of(self, row: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Whether each row, of a judgement or of a near form, belongs to a query."""
        belongs: np.ndarray = (row >= self._start[codes]) & (row < self._start[codes + 1])
        near = np.flatnonzero(row >= self.rows_end)
        belongs[near] = self._near_code[row[near] - self.rows_end] == codes[near]
        return belongs


@dataclass(frozen=True)
class RunLines(Rows):
    """Lines of judged queries, and the number of the query of each."""

    code: np.ndarray

    def take(self, which: np.ndarray) -> RunLines:
        """Some of the lines, in the order of `which`."""
        return RunLines(**self.columns_of(which), code=self.code[which])


def join(parts: Sequence[tuple[int | np.ndarray, Rows]]) -> RunLines:
    """Lines of several parts, in input order, as one table."""
    all_rows = [rows for _, rows in parts]
    begin = np.concatenate(([0], np.cumsum([len(rows) for rows in all_rows])))
    code = np.concatenate([np.broadcast_to(np.asarray(code), len(rows)) for code, rows in parts])

    def docs(lines: np.ndarray) -> IdColumn:
        owner = np.searchsorted(begin, lines, "right") - 1
        order = np.argsort(owner, kind="stable")
        owners = np.flatnonzero(np.bincount(owner))  # np.unique would import numpy.ma
        columns = [all_rows[i].docs(lines[order[owner[order] == i]] - begin[i]) for i in owners]
        index = np.empty(len(lines), np.int64)
        index[order] = np.arange(len(lines))
        return IdColumn.joined(columns).take(index)

    def position(line: int) -> Position | str:
        owner = int(np.searchsorted(begin, line, "right")) - 1
        return all_rows[owner].position(int(line - begin[owner]))

    def claimed(lines: np.ndarray) -> np.ndarray:
        owner = np.searchsorted(begin, lines, "right") - 1
        claims = np.full(len(lines), -1)
        for i in np.flatnonzero(np.bincount(owner)):  # np.unique would import numpy.ma
            claimed_in_part = all_rows[i].claimed
            if claimed_in_part is not None:
                claims[owner == i] = claimed_in_part(lines[owner == i] - begin[i])
        return claims

    score = np.concatenate([rows.score for rows in all_rows])
    key = np.concatenate([rows.key for rows in all_rows])
    return RunLines(score, key, docs, position, code, claimed=claimed)
