"""What the core does: the inner loops of goldrank, each with what it promises.

There are two makes, `goldrank._native` (C) and `goldrank.core.portable` (Python and NumPy). For the same input both
give the same, or both decline: a function that declines returns None or False, and its caller looks at the input more
closely. What was written into buffers before that does not count. Buffers are the caller's: contiguous, with items of
the size that is said here. Buffers that do not fit each other raise ValueError, items of another size TypeError.

Ids are given as three buffers: `data` (bytes, of which at least 8 follow the last id), and for each id where it starts
and ends in them (64 bits). A stretch is some lines that follow each other; the stretches of `begin` are
[begin[i], begin[i + 1]). All integers are of 64 bits unless something else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np

CONTRACT = 11
"""Raised here and in `_native.c` when a promise changes: a module that was built from other sources is not used."""

Buffer: TypeAlias = "np.ndarray | bytes"
Rows: TypeAlias = "list[dict[str, Any]]"
TieRule = Literal[0, 1, 2]
"""How documents of one score are ordered: as in the input, by descending id, by ascending id (`TIES_*`)."""

TIES_BY_INPUT: TieRule = 0
TIES_DESCENDING: TieRule = 1
TIES_ASCENDING: TieRule = 2


class Core(Protocol):
    """The functions of a make."""

    CONTRACT: int
    MAKE: str
    """Which make it is, in words."""

    # ---- text to columns ----

    def lines(self, data: Buffer, size: int, /) -> int:
        """How many of the first `size` bytes are line ends."""

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
        """The fields of a regular table: how many lines it has, how many stretches of one query, how many are left.

        The first `size` bytes of `data` are lines and end with LF; at least 16 zero bytes follow. It declines unless
        every line has `width` fields with one blank or tab between two, no other byte up to 32, no field of more than
        `longest` bytes, and does not begin with #; or if there are more lines than `key` has room for.

        `ends` (32 bits; a row of room for all lines per field) gets where each field ends, `score` the field `number`
        as the double nearest to it (-1: there is none), `key` the hash of field `doc`, `begin` the lines at which field
        `query` changes. `left` gets the lines whose number is not done: not -12.5 or 3e-07 with up to 19 digits, or one
        that needs more than 22 powers of ten. (C compilers without 128-bit integers leave those above 2**53 too.)
        """

    def tidy(
        self, data: Buffer, size: int, width: int, extra: bool, longest: int, out: Buffer, number: Buffer, /
    ) -> tuple[int, int, int, int, int, int] | None:
        """A table without blank lines and comments, with one blank between two fields.

        `data` is as for `columns`. `out` (room for `size` bytes) gets the first `width` fields of each line of data,
        `number` the line of the input that each is. Returned are how many bytes and lines these are, and the counts of
        blank lines, of comments, of comments that look like data, and of lines with more fields. It declines a line
        with too few fields, or too many unless `extra`, a field of more than `longest` bytes, a control byte other than
        the blanks, and more lines than `number` has room for.
        """

    # ---- many ids ----

    def hashes(self, data: Buffer, start: Buffer, end: Buffer, out: Buffer, /) -> None:
        """`out` gets the hash of each id (`goldrank.core.hashing`)."""

    def integers(self, data: Buffer, start: Buffer, end: Buffer, out: Buffer, left: Buffer, /) -> int:
        """`out` gets each id as a whole number of 1 to 8 digits, perhaps with a sign before them, else 0.

        `left` gets those that are anything else; returned is how many they are.
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
        """`out` (bytes) gets for each id whether it is the one of the same position in the other column."""

    def pack(self, data: Buffer, start: Buffer, end: Buffer, out: Buffer, /) -> None:
        """`out` gets the bytes of all ids, one after the other; it has exactly that many."""

    def texts(self, data: Buffer, start: Buffer, end: Buffer, /) -> list[str]:
        """The ids as text; bytes that are not UTF-8 become surrogate escapes."""

    def rankings(
        self, data: Buffer, start: Buffer, end: Buffer, score: Buffer, begin: Buffer, /
    ) -> list[dict[str, float]]:
        """For each stretch the scores by document; a document that is twice in one has its last score."""

    def number(
        self, data: Buffer, start: Buffer, end: Buffer, slots: Buffer, code: Buffer, first: Buffer, /
    ) -> int | None:
        """How many different ids there are.

        `code` gets the number of each, in the order in which they first appear, `first` where that is. `slots` (a power
        of two, more than there are ids) becomes a table that `find` can use. It declines where 1,024 others are in the
        way of an id in that table, which happens only to ids that were chosen for it.
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
        """`code` gets the number of each id among those known, which are all different, or -1.

        `slots` are as `number` left them for the known ones. It declines as `number` does, or if they are not theirs.
        """

    def ascend(self, data: Buffer, start: Buffer, end: Buffer, /) -> bool:
        """Whether each id is above the one before, by its bytes."""

    # ---- lines of a run ----

    def arrange(self, code: Buffer, score: Buffer, begin: Buffer, order: Buffer, /) -> None:
        """`order` gets the lines by code, then descending score, then position.

        Codes are 0 or more and below the length of `begin` less 1; `begin` gets where the lines of each begin.
        """

    def repeated(self, begin: Buffer, key: Buffer, /) -> bool:
        """Whether a key is twice in one of the stretches."""

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
        """How many lines are probably judged, of the stretches whose code is not negative.

        `judged` (bytes, a power of two of them) has a bit for each value of the highest bits of a pair's key
        (`hashing.pair_keys`), which says that the pair may be judged. `line` and `stretch` get these lines and their
        stretches, `first` and `last` the first and last rank of those that share its score, `infinite` for each stretch
        how many scores are infinite. It declines if the scores of a stretch do not descend, if a key is in it twice
        (with `repeats`), or if `line` has no room for more.
        """

    def among(self, docs: Buffer, wanted: Buffer, rank: Buffer, label: Buffer, /) -> tuple[int, int, bool]:
        """How many of the integer ids `docs` are wanted, how many different ids are, and whether one was found twice.

        `rank` and `label` get for each doc that is wanted its rank from 1, and where its id first stands in `wanted`.
        """

    # ---- runs and judgements in dicts ----

    def copied(self, results: object, longest: int, /) -> tuple[dict[str, dict[str, float]], bytes] | None:
        """A copy of a run in which every score is a float, and these scores as doubles, row after row.

        It declines unless the run is an exact dict of exact dicts under exact text of 1 to `longest` bytes of UTF-8,
        and each score a float or an exact int, and not NaN. RuntimeError if somebody changes it meanwhile.
        """

    def candidates(self, rows: object, first: int, out: Buffer, /) -> list[str] | None:
        """The documents of some dicts in the order in which they are first met.

        `out` gets the number of each entry, counted from `first` on. It declines unless `rows` is an exact list of
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
        """Where a run in dicts, as `copied` gave it with its scores, has the judged documents of each query.

        `numbers` are the judged queries, `judged` the dict of each, whose rows begin at `start`. `ties` is a `TieRule`;
        `single` compares scores in single precision. `found` (five columns with room for all judgements each) gets
        query, rank, first and last rank of those that share its score, and row of each judged document that the run
        has, by query and rank; `retrieved` how many documents each query has, `answered` (bytes) whether the run has
        it. Returned are: judged documents found, how many of them share their score, lines of judged queries, numbers
        of queries that are declined, names of queries that are not judged, infinite scores, queries of two or more
        documents whose scores are all the same.

        It declines what is no exact dict of exact dicts under exact text, and a query if documents of one score are no
        text that UTF-8 has bytes for. RuntimeError if the run or the judgements are not what they were.
        """

    # ---- rows of placements: each has the number of its query; rows of a query stand together ----

    def count(self, query: Buffer, which: Buffer, out: Buffer, /) -> bool:
        """`out`, zero before, gets for each query how many rows are marked in `which` (bytes).

        This and the next three decline where a buffer is not what is said here, or a number is not that of a query.
        """

    def cumulate(self, query: Buffer, which: Buffer, out: Buffer, /) -> bool:
        """`out` gets for each row how many marked ones its query has up to and including it."""

    def first(self, query: Buffer, which: Buffer, rank: Buffer, out: Buffer, /) -> bool:
        """`out`, zero before, gets for each query the rank of its first marked row."""

    def divide(self, part: Buffer, whole: Buffer, out: Buffer, /) -> bool:
        """`out`, zero before, gets part / whole where whole is not 0. Both are doubles or integers."""

    def total(self, values: Buffer, /) -> float | None:
        """The sum of doubles, made from left to right; it declines other numbers."""
