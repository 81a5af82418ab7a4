"""The contract of the core: the inner loops of goldrank, each with its promises.

There are two makes, `goldrank._native` (C) and `goldrank.core.portable` (Python and NumPy). For equal input both give
equal results, or both decline: a function that declines returns None or False, and its caller checks the input more
closely. Anything written into buffers before that does not count. The caller owns the buffers: they are contiguous,
with items of the size that is stated here. Buffers that do not fit each other raise ValueError, items of another size
TypeError.

Ids are three buffers: `data` (bytes, at least 8 of which follow the last id), and for each id its start and its end in
them (64 bits). A stretch is a number of consecutive lines; the stretches of `begin` are [begin[i], begin[i + 1]). All
integers have 64 bits unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np

CONTRACT = 11
"""Increased here and in `_native.c` when a promise changes: a module that was built from other sources is not used."""

Buffer: TypeAlias = "np.ndarray | bytes"
Rows: TypeAlias = "list[dict[str, Any]]"
TieRule = Literal[0, 1, 2]
"""The order of documents with equal scores: as in the input, by descending id, by ascending id (`TIES_*`)."""

TIES_BY_INPUT: TieRule = 0
TIES_DESCENDING: TieRule = 1
TIES_ASCENDING: TieRule = 2


class Core(Protocol):
    """The functions of a make."""

    CONTRACT: int
    MAKE: str
    """The name of the make."""

    # ---- text to columns ----

    def lines(self, data: Buffer, size: int, /) -> int:
        """The number of line ends in the first `size` bytes."""

    def columns(
        self,
        data: Buffer,
        size: int,
        width: int,
        query: int,
        doc: int,
        number: int,
        longest: int,
        ends: Buffer,
        score: Buffer,
        key: Buffer,
        begin: Buffer,
        left: Buffer,
        /,
    ) -> tuple[int, int, int] | None:
        """The fields of a regular table: the numbers of its lines, of stretches of one query, and of lines left.

        The first `size` bytes of `data` are lines and end with LF; at least 16 zero bytes follow. It declines unless
        every line has `width` fields with one blank or tab between two, no other byte up to 32, no field of more than
        `longest` bytes, and does not begin with #; or if there are more lines than `key` has room for.

        `ends` (32 bits; a row with room for all lines per field) gets the end of each field, `score` the double nearest
        to the field `number` (-1: there is no such field), `key` the hash of field `doc`, `begin` the lines at which
        field `query` changes. `left` gets the lines whose number was not parsed: it is not a number such as -12.5 or
        3e-07 with up to 19 digits, or needs more than 22 powers of ten. (C compilers without 128-bit integers leave
        numbers above 2**53, too.)
        """

    def tidy(
        self, data: Buffer, size: int, width: int, extra: bool, longest: int, out: Buffer, number: Buffer, /
    ) -> tuple[int, int, int, int, int, int] | None:
        """A table without blank lines and comments, with one blank between two fields.

        `data` is as for `columns`. `out` (room for `size` bytes) gets the first `width` fields of each line of data,
        `number` the number of each of these lines in the input. It returns the numbers of these bytes and lines, and
        of blank lines, of comments, of comments that look like data, and of lines with more fields. It declines a line
        with too few fields, or too many unless `extra`, a field of more than `longest` bytes, a control byte other than
        the blanks, and more lines than `number` has room for.
        """

    # ---- many ids ----

    def hashes(self, data: Buffer, start: Buffer, end: Buffer, out: Buffer, /) -> None:
        """`out` gets the hash of each id (`goldrank.core.hashing`)."""

    def integers(self, data: Buffer, start: Buffer, end: Buffer, out: Buffer, left: Buffer, /) -> int:
        """`out` gets each id as a whole number of 1 to 8 digits, perhaps with a sign before them, else 0.

        `left` gets the indices of all other ids; their number is returned.
        """

    def same(
        self,
        data: Buffer,
        start: Buffer,
        end: Buffer,
        other_data: Buffer,
        other_start: Buffer,
        other_end: Buffer,
        out: Buffer,
        /,
    ) -> None:
        """`out` (bytes) gets for each id whether it equals the id of the same position in the other column."""

    def pack(self, data: Buffer, start: Buffer, end: Buffer, out: Buffer, /) -> None:
        """`out` gets the bytes of all ids, one after the other; it has exactly their size."""

    def texts(self, data: Buffer, start: Buffer, end: Buffer, /) -> list[str]:
        """The ids as text; bytes that are not UTF-8 become surrogate escapes."""

    def rankings(
        self, data: Buffer, start: Buffer, end: Buffer, score: Buffer, begin: Buffer, /
    ) -> list[dict[str, float]]:
        """For each stretch the scores by document; a document that occurs twice in a stretch has its last score."""

    def number(
        self, data: Buffer, start: Buffer, end: Buffer, slots: Buffer, code: Buffer, first: Buffer, /
    ) -> int | None:
        """The number of different ids.

        `code` gets the number of each id, in the order of first occurrences, `first` the indices of these. `slots` (a
        power of two, more than there are ids) becomes a table for `find`. It declines if 1,024 other ids are in the way
        of an id in that table, which happens only to ids that were chosen for it.
        """

    def find(
        self,
        data: Buffer,
        start: Buffer,
        end: Buffer,
        known_data: Buffer,
        known_start: Buffer,
        known_end: Buffer,
        slots: Buffer,
        code: Buffer,
        /,
    ) -> bool:
        """`code` gets the number of each id among the known ids, which are all different, or -1.

        `slots` are those that `number` made for the known ids. It declines like `number`, or if they are not theirs.
        """

    def ascend(self, data: Buffer, start: Buffer, end: Buffer, /) -> bool:
        """Whether each id is above the previous id, by its bytes."""

    # ---- lines of a run ----

    def arrange(self, code: Buffer, score: Buffer, begin: Buffer, order: Buffer, /) -> None:
        """`order` gets the lines by code, then descending score, then position.

        Codes are 0 or more and below the length of `begin` less 1; `begin` gets the first line of each code.
        """

    def repeated(self, begin: Buffer, key: Buffer, /) -> bool:
        """Whether a key occurs twice in one of the stretches."""

    def survey(
        self,
        begin: Buffer,
        code: Buffer,
        score: Buffer,
        key: Buffer,
        judged: Buffer,
        repeats: bool,
        line: Buffer,
        stretch: Buffer,
        first: Buffer,
        last: Buffer,
        infinite: Buffer,
        /,
    ) -> int | None:
        """The number of lines that are probably judged, in the stretches whose code is not negative.

        `judged` (bytes, a power of two of them) has a bit for each value of the highest bits of a pair's key
        (`hashing.pair_keys`), which is set if the pair may be judged. `line` and `stretch` get these lines and their
        stretches, `first` and `last` the first and last rank of the lines with an equal score, `infinite` for each
        stretch the number of infinite scores. It declines if the scores of a stretch do not descend, if a key occurs
        twice in it (with `repeats`), or if `line` is too short.
        """

    def among(self, docs: Buffer, wanted: Buffer, rank: Buffer, label: Buffer, /) -> tuple[int, int, bool]:
        """The number of integer ids `docs` that are in `wanted`, of different ids in it, and whether one occurs twice.

        `rank` and `label` get for each such doc its rank from 1, and the first index of its id in `wanted`.
        """

    # ---- runs and judgements in dicts ----

    def copied(self, results: object, longest: int, /) -> tuple[dict[str, dict[str, float]], bytes] | None:
        """A copy of a run in which every score is a float, and these scores as doubles, row after row.

        It declines unless the run is an exact dict of exact dicts under exact text of 1 to `longest` bytes of UTF-8,
        and each score a float or an exact int, and not NaN. RuntimeError if the run changes meanwhile.
        """

    def candidates(self, rows: object, first: int, out: Buffer, /) -> list[str] | None:
        """The documents of some dicts in the order of their first occurrence.

        `out` gets the number of each entry, counted from `first`. It declines unless `rows` is an exact list of
        exact dicts under exact text.
        """

    def judgements(self, given: object, longest: int, highest: int, /) -> dict[str, dict[str, Any]] | None:
        """A copy of judgements.

        It declines unless they are an exact dict of exact dicts under exact text of 1 to `longest` bytes of UTF-8, and
        each grade an exact int from -highest to highest.
        """

    def grades(self, rows: object, out: Buffer, /) -> bool:
        """`out` gets the grades of a list of dicts, row after row; it declines unless each is an exact int."""

    def place(
        self,
        results: object,
        scores: bytes,
        numbers: Mapping[str, int],
        judged: Rows,
        start: Buffer,
        ties: int,
        single: bool,
        retrieved: Buffer,
        answered: Buffer,
        found: Buffer,
        /,
    ) -> tuple[int, int, int, list[int], list[str], int, int] | None:
        """The ranks of the judged documents of each query, in a run in dicts with scores, as returned by `copied`.

        `numbers` are the judged queries, `judged` the dict of each, whose rows begin at `start`. `ties` is a `TieRule`;
        `single` compares scores in single precision. `found` (five columns with room for all judgements each) gets
        query, rank, first and last rank of documents with an equal score, and row of each judged document of the run,
        by query and rank; `retrieved` gets the number of documents of each query, `answered` (bytes) whether the run
        has the query. It returns the number of judged documents found, the number of these with a tied score, the
        number of lines of judged queries, the numbers of declined queries, the names of queries that are not judged,
        the number of infinite scores, and of queries of two or more documents with equal scores.

        It declines a run that is not an exact dict of exact dicts under exact text, and a query if documents of one
        score cannot be encoded as UTF-8. RuntimeError if the run or the judgements changed.
        """

    # ---- rows of placements: each has the number of its query; rows of a query are consecutive ----

    def count(self, query: Buffer, which: Buffer, out: Buffer, /) -> bool:
        """`out`, zero before, gets for each query the number of rows marked in `which` (bytes).

        This and the next three decline if a buffer is not as described here, or a number is not of a query.
        """

    def cumulate(self, query: Buffer, which: Buffer, out: Buffer, /) -> bool:
        """`out` gets for each row the number of marked rows of its query up to and including it."""

    def first(self, query: Buffer, which: Buffer, rank: Buffer, out: Buffer, /) -> bool:
        """`out`, zero before, gets for each query the rank of its first marked row."""

    def divide(self, part: Buffer, whole: Buffer, out: Buffer, /) -> bool:
        """`out`, zero before, gets part / whole where whole is not 0. Both are doubles or integers."""

    def total(self, values: Buffer, /) -> float | None:
        """The sum of doubles, made from left to right; it declines other numbers."""
