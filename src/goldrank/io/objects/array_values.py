"""Arrays of any library -> numpy's, without a copy where memory is shared; then grades and scores by query.

numpy, torch, jax, polars, pandas and pyarrow are all taken by the protocols that they share (DLPack and `__array__`),
so that none of them is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.ids import encode, has_no_order
from goldrank.data.array_groups import GradedRows, byte_order, names_of
from goldrank.data.grades import MAX_GRADE, check_grade

_ON_CPU = (1, 3)
"""DLPack's numbers of devices whose memory the processor reads."""
_RAGGED = "Queries of different sizes: join them to flat arrays and give groups=, or pad them and give mask=."


def as_array(given: Any, what: str) -> np.ndarray:
    """An array of numpy over the memory of the one given, or the error that says why there is none."""
    if isinstance(given, str | bytes | Mapping) or has_no_order(given) or isinstance(given, type):
        raise _no_array(given, what)
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        raise InputError(f"{what} is a masked array", hint="Give its data, and mask=~array.mask.")
    if isinstance(given, np.ndarray):
        return np.asarray(given)

    if hasattr(given, "detach") and hasattr(given, "requires_grad"):
        given = given.detach()

    array = _by_dlpack(given, what)
    if array is None:
        if not (hasattr(given, "__array__") or isinstance(given, Sequence)):
            raise _no_array(given, what)
        try:
            array = np.asarray(given)
        except ValueError as error:
            raise InputError(f"{what} is no table of numbers: {error}", hint=_RAGGED) from None
        except Exception as error:  # whatever the library that it belongs to raises
            raise InputError(f"{what} cannot be read as an array: {type(error).__name__}: {error}") from None

    return array


def _by_dlpack(given: Any, what: str) -> np.ndarray | None:
    """The array by DLPack; None if it does not speak it."""
    if not (hasattr(given, "__dlpack__") and hasattr(given, "__dlpack_device__")):
        return None

    device = given.__dlpack_device__()
    if int(device[0]) not in _ON_CPU:
        raise InputError(
            f"{what} is on another device ({getattr(given, 'device', device[0])})",
            hint="Bring it to the processor: .cpu() in torch, jax.device_get in jax.",
            code="other-device",
        )

    try:
        return np.from_dlpack(given)
    except (BufferError, TypeError, RuntimeError, ValueError) as error:
        kind = getattr(given, "dtype", "")
        if "bfloat16" in str(kind):
            raise InputError(f"{what} is of type {kind}, which numpy does not have", hint="Give .float().") from None
        if hasattr(given, "__array__"):
            return None
        raise InputError(f"{what} cannot be read by DLPack: {error}") from None


def _no_array(given: Any, what: str) -> InputError:
    hint = "Arrays of numpy, torch, jax, polars or pandas, or lists of numbers. goldrank.evaluate takes mappings."
    if hasattr(given, "toarray"):
        hint = "Give a dense array: .toarray()."
    if isinstance(given, type):
        shown = f"the type {given.__name__}"
    else:
        shown = f"of type {type(given).__name__}"
    return InputError(f"{what} is {shown}, not an array", hint=hint)


def graded_rows(
    grades: Any, scores: Any, groups: Any, indexes: Any, mask: Any, real_grades: bool
) -> tuple[GradedRows, int]:
    """Grades and scores by query, queries in byte order, and how many entries the mask left out."""
    score = as_array(scores, "scores")
    grade = as_array(grades, "grades")
    if score.shape != grade.shape:
        raise InputError(
            f"grades are of shape {grade.shape}, scores of shape {score.shape}", hint="They must be alike."
        )

    kept = _mask(mask, score.shape)
    _check_numbers(score, "scores")
    _check_numbers(grade, "grades")
    if score.ndim == 2 and groups is None and indexes is None:
        rows = _of_table(grade, score, kept)
    elif score.ndim == 1 and (groups is not None or indexes is not None):
        rows = _of_groups(grade, score, kept, groups, indexes)
    elif score.ndim == 1:
        raise InputError(
            "flat arrays, and nothing says which query each entry belongs to",
            hint="Give groups= (sizes or ids) or indexes= (ids), or scores[None, :] for one query.",
        )
    elif score.ndim == 2:
        raise InputError("a table has a query in each row, and no groups", hint="Leave groups= out, or flatten both.")
    else:
        raise InputError(
            f"arrays have {score.ndim} dimensions", hint="Give tables of queries by documents, or flat ones."
        )

    _check_scores(rows)
    grade = _checked_grades(rows, real_grades)
    if kept is None:
        left_out = 0
    else:
        left_out = int(kept.size - np.count_nonzero(kept))

    return GradedRows(rows.queries, rows.start, rows.column, grade, rows.score), left_out


def _mask(given: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Which entries are there; None for all."""
    if given is None:
        return None
    kept = as_array(given, "mask")
    if kept.shape != shape:
        raise InputError(f"mask is of shape {kept.shape}, scores of shape {shape}", hint="They must be alike.")
    if kept.dtype != bool:
        raise InputError(f"mask is of type {kept.dtype}", hint="True where an entry counts, False where it is padding.")
    if kept.all():
        return None
    return kept


def _check_numbers(numbers: np.ndarray, what: str) -> None:
    flags = what == "grades" and numbers.dtype == bool
    if numbers.dtype.kind not in "iuf" and not flags and numbers.size:
        if numbers.dtype == bool:
            hint = "Flags are no scores."
        else:
            hint = "Are there missing values, or text, in it?"
        raise InputError(f"{what} are of type {numbers.dtype}, not numbers", hint=hint)


def _of_table(grade: np.ndarray, score: np.ndarray, kept: np.ndarray | None) -> GradedRows:
    """A query in each row, named by its number; a document in each column."""
    order = byte_order(np.arange(len(score)))
    queries = tuple(map(str, order.tolist()))
    grade, score = grade[order], score[order]
    if kept is None:
        start = np.arange(len(order) + 1) * score.shape[1]
        return GradedRows(queries, start, None, grade.ravel(), score.ravel())
    kept = kept[order]
    start = np.concatenate(([0], np.cumsum(np.count_nonzero(kept, axis=1))))
    return GradedRows(queries, start, np.nonzero(kept)[1], grade[kept], score[kept])


def _of_groups(grade: np.ndarray, score: np.ndarray, kept: np.ndarray | None, groups: Any, indexes: Any) -> GradedRows:
    """A query for each group; a document is its place in it."""
    if groups is not None and indexes is not None:
        raise InputError("groups and indexes both say which query an entry belongs to", hint="Give one of them.")

    given, what = (groups, "groups") if indexes is None else (indexes, "indexes")
    array = as_array(given, what)
    if array.ndim != 1:
        raise InputError(f"{what} has {array.ndim} dimensions", hint="Sizes of groups, or an id for each entry.")

    if what == "groups":
        sizes = _sizes(array, len(score))
    else:
        sizes = None

    if sizes is None:
        names, sizes, order = _by_id(array, len(score), what)
    else:
        names, order = list(map(str, range(len(sizes)))), None

    # Groups in the order of their ids' bytes.
    by_bytes = np.array(sorted(range(len(names)), key=list(map(encode, names)).__getitem__), np.int64)
    size = sizes[by_bytes]
    start = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
    moved = (np.cumsum(sizes) - sizes)[by_bytes] - start[:-1]
    at = np.arange(start[-1]) + np.repeat(moved, size)
    if order is not None:
        at = order[at]

    queries = tuple(names[i] for i in by_bytes.tolist())
    if kept is None:
        return GradedRows(queries, start, None, grade[at], score[at])

    stays = kept[at]
    place = np.arange(start[-1]) - np.repeat(start[:-1], size)
    counted = np.concatenate(([0], np.cumsum(stays)))
    at = at[stays]
    return GradedRows(queries, counted[start], place[stays], grade[at], score[at])


def _sizes(groups: np.ndarray, entries: int) -> np.ndarray | None:
    """Sizes of groups; None if there is an id for each entry instead."""
    whole = groups.dtype.kind in "iu"
    if len(groups) == entries:
        if whole and entries > 1 and (groups == 1).all():
            raise InputError(
                "groups are as many ones as there are entries: sizes, or one id?",
                hint="Give indexes=: np.arange(n) for groups of one entry, np.ones(n, int) for one group.",
            )
        if entries != 1 or not whole or groups[0] != 1:
            return None
        return groups.astype(np.int64)

    if whole:
        total = int(groups.sum())
    else:
        total = None

    if total == entries and (groups >= 0).all():
        return groups.astype(np.int64)

    hint = "Sizes add up to the number of entries; ids are as many as entries."
    if whole and len(groups) and groups[0] == 0 and groups[-1] == entries:
        hint = "These are borders of groups: give np.diff(borders)."

    if total is None:
        their_sum = ""
    else:
        their_sum = f" that add up to {total:,}"

    raise InputError(f"groups has {len(groups):,} values{their_sum}, and there are {entries:,} entries", hint=hint)


def _by_id(given: np.ndarray, entries: int, what: str) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """The groups' names and sizes, and the entries group after group, in each as they were given; None if they are."""
    if len(given) != entries:
        raise InputError(
            f"{what} has {len(given):,} ids, and there are {entries:,} entries", hint="One for each entry."
        )

    if given.dtype.kind == "O" and len(given) and {type(value) for value in given.tolist()} == {str}:
        given = given.astype("U")

    if given.dtype.kind not in "iuUST" and len(given):
        raise InputError(
            f"{what} are of type {given.dtype}", hint="Ids are whole numbers or text. Are there missing values in it?"
        )

    begin = np.concatenate(([0], np.flatnonzero(given[1:] != given[:-1]) + 1))[: len(given)]
    if len(np.unique(given[begin])) == len(begin):  # each group is in one piece, as they mostly are
        return names_of(given[begin]), np.diff(np.append(begin, entries)), None

    order = np.argsort(given, kind="stable")
    ids = given[order]
    begin = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1))
    return names_of(ids[begin]), np.diff(np.append(begin, entries)), order


def _check_scores(rows: GradedRows) -> None:
    if rows.score.dtype.kind != "f":
        return
    wrong = np.flatnonzero(np.isnan(rows.score))
    if len(wrong):
        if len(wrong) > 1:
            more = f", and {len(wrong) - 1:,} more"
        else:
            more = ""
        raise InputError(
            f"score is NaN{more}",
            where=_place(rows, int(wrong[0]), "scores"),
            hint="A document that was not scored has no place in a ranking: leave it out with mask=.",
        )


def _checked_grades(rows: GradedRows, real_grades: bool) -> np.ndarray:
    """The grades, integers if all are whole."""
    grade = rows.grade
    if grade.dtype.kind in "bu" and grade.dtype.itemsize < 8:
        grade = grade.astype(np.int64)

    if grade.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = (np.abs(grade) <= MAX_GRADE) & (grade == np.trunc(grade))
        wrong = np.flatnonzero(~whole)
        if real_grades:
            wrong = np.flatnonzero(~(np.abs(grade) <= MAX_GRADE))
        is_whole = bool(whole.all())
    else:
        wrong = np.flatnonzero((grade > MAX_GRADE) | (grade < -MAX_GRADE))
        is_whole = True

    if len(wrong):
        at = int(wrong[0])
        check_grade(grade[at], _place(rows, at, "grades"), real_grades)

    return grade.astype(np.int64 if is_whole else np.float64, copy=False)


def _place(rows: GradedRows, at: int, what: str) -> str:
    """Where an entry stands, in the words of the arrays that were given."""
    query = int(np.searchsorted(rows.start, at, "right")) - 1
    column = int(rows.columns(query)[at - rows.start[query]])
    return f"{what}: query {rows.queries[query]}, document {column}"
