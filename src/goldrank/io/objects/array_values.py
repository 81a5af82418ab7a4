"""Arrays of any library as arrays of numpy, without a copy where memory can be shared; then grades and scores by query.

Arrays of numpy, torch, jax, polars, pandas and pyarrow are read by their common protocols (DLPack and `__array__`), so
that these libraries are not imported here.
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
"""DLPack's numbers of devices whose memory the processor can read."""
_RAGGED = "Queries of different sizes: join them to flat arrays and give groups=, or pad them and give mask=."


def as_array(values: Any, noun: str) -> np.ndarray:
    """An array of numpy, if possible over the memory of the given one; an error if that is not an array."""
    if isinstance(values, str | bytes | Mapping) or has_no_order(values) or isinstance(values, type):
        raise _no_array(values, noun)
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InputError(f"{noun} is a masked array", hint="Give its data, and mask=~array.mask.")
    if isinstance(values, np.ndarray):
        return np.asarray(values)

    if hasattr(values, "detach") and hasattr(values, "requires_grad"):
        values = values.detach()

    array = _by_dlpack(values, noun)
    if array is None:
        if not (hasattr(values, "__array__") or isinstance(values, Sequence)):
            raise _no_array(values, noun)
        try:
            array = np.asarray(values)
        except ValueError as error:
            raise InputError(f"{noun} is not a table of numbers: {error}", hint=_RAGGED) from None
        except Exception as error:  # any error of the library of the array
            raise InputError(f"{noun} cannot be read as an array: {type(error).__name__}: {error}") from None

    return array


def _by_dlpack(values: Any, noun: str) -> np.ndarray | None:
    """The array by DLPack; None if it does not support DLPack."""
    if not (hasattr(values, "__dlpack__") and hasattr(values, "__dlpack_device__")):
        return None

    device = values.__dlpack_device__()
    if int(device[0]) not in _ON_CPU:
        raise InputError(
            f"{noun} is on another device ({getattr(values, 'device', device[0])})",
            hint="Bring it to the processor: .cpu() in torch, jax.device_get in jax.",
            code="other-device",
        )

    try:
        return np.from_dlpack(values)
    except (BufferError, TypeError, RuntimeError, ValueError) as error:
        kind = getattr(values, "dtype", "")
        if "bfloat16" in str(kind):
            raise InputError(f"{noun} is of type {kind}, which numpy does not have", hint="Give .float().") from None
        if hasattr(values, "__array__"):
            return None
        raise InputError(f"{noun} cannot be read by DLPack: {error}") from None


def _no_array(values: Any, noun: str) -> InputError:
    hint = "Arrays of numpy, torch, jax, polars or pandas, or lists of numbers. goldrank.evaluate takes mappings."
    if hasattr(values, "items"):
        hint += " Two models: compare({'old': evaluate_arrays(grades, old), 'new': evaluate_arrays(grades, new)})."
    if hasattr(values, "toarray"):
        hint = "Give a dense array: .toarray()."
    kind = f"of type {type(values).__name__}"
    if isinstance(values, type):
        kind = f"the type {values.__name__}"
    return InputError(f"{noun} is {kind}, not an array", hint=hint)


def graded_rows(
    grades: Any, scores: Any, groups: Any, indexes: Any, mask: Any, real_grades: bool
) -> tuple[GradedRows, int]:
    """Grades and scores by query, queries in byte order, and the number of entries that the mask leaves out."""
    score = as_array(scores, "scores")
    grade = as_array(grades, "grades")
    if score.shape != grade.shape:
        raise InputError(
            f"grades are of shape {grade.shape}, scores of shape {score.shape}", hint="They must be alike."
        )

    keep = _mask(mask, score.shape)
    _check_numbers(score, "scores")
    _check_numbers(grade, "grades")
    if score.ndim == 2 and groups is None and indexes is None:
        rows = _of_table(grade, score, keep)
    elif score.ndim == 1 and (groups is not None or indexes is not None):
        rows = _of_groups(grade, score, keep, groups, indexes)
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
    left_out = 0
    if keep is not None:
        left_out = int(keep.size - np.count_nonzero(keep))
    return GradedRows(rows.queries, rows.start, rows.column, grade, rows.score), left_out


def _mask(mask: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Which entries count; None for all."""
    if mask is None:
        return None
    keep = as_array(mask, "mask")
    if keep.shape != shape:
        raise InputError(f"mask is of shape {keep.shape}, scores of shape {shape}", hint="They must be alike.")
    if keep.dtype != bool:
        raise InputError(f"mask is of type {keep.dtype}", hint="True where an entry counts, False where it is padding.")
    if keep.all():
        return None
    return keep


def _check_numbers(numbers: np.ndarray, noun: str) -> None:
    are_flags = noun == "grades" and numbers.dtype == bool
    if numbers.dtype.kind not in "iuf" and not are_flags and numbers.size:
        hint = "Are there missing values, or text, in it?"
        if numbers.dtype == bool:
            hint = "Flags are not scores."
        raise InputError(f"{noun} are of type {numbers.dtype}, not numbers", hint=hint)


def _of_table(grade: np.ndarray, score: np.ndarray, keep: np.ndarray | None) -> GradedRows:
    """A query in each row, named by its number; a document in each column."""
    order = byte_order(len(score))
    queries = tuple(map(str, order.tolist()))
    grade, score = grade[order], score[order]
    if keep is None:
        start = np.arange(len(order) + 1) * score.shape[1]
        return GradedRows(queries, start, None, grade.ravel(), score.ravel())

    keep = keep[order]
    start = np.concatenate(([0], np.cumsum(np.count_nonzero(keep, axis=1))))
    return GradedRows(queries, start, np.nonzero(keep)[1], grade[keep], score[keep])


def _of_groups(grade: np.ndarray, score: np.ndarray, keep: np.ndarray | None, groups: Any, indexes: Any) -> GradedRows:
    """A query for each group; a document is named by its position in the group."""
    if groups is not None and indexes is not None:
        raise InputError("groups and indexes both say which query an entry belongs to", hint="Give one of them.")

    noun, values = "groups", groups
    if indexes is not None:
        noun, values = "indexes", indexes
    array = as_array(values, noun)
    if array.ndim != 1:
        raise InputError(f"{noun} has {array.ndim} dimensions", hint="Sizes of groups, or an id for each entry.")

    sizes = None
    if indexes is None:
        sizes = _sizes(array, len(score))
    if sizes is None:
        names, sizes, order = _by_id(array, len(score), noun)
    else:
        names, order = list(map(str, range(len(sizes)))), None

    # Groups in the order of their ids' bytes.
    by_bytes = np.array(sorted(range(len(names)), key=list(map(encode, names)).__getitem__), np.int64)
    size = sizes[by_bytes]
    start = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
    shift = (np.cumsum(sizes) - sizes)[by_bytes] - start[:-1]
    entry = np.arange(start[-1]) + np.repeat(shift, size)
    if order is not None:
        entry = order[entry]

    queries = tuple(names[i] for i in by_bytes.tolist())
    if keep is None:
        return GradedRows(queries, start, None, grade[entry], score[entry])

    is_kept = keep[entry]
    position = np.arange(start[-1]) - np.repeat(start[:-1], size)
    before = np.concatenate(([0], np.cumsum(is_kept)))
    entry = entry[is_kept]
    return GradedRows(queries, before[start], position[is_kept], grade[entry], score[entry])


def _sizes(groups: np.ndarray, entries: int) -> np.ndarray | None:
    """Sizes of groups; None if there is an id for each entry instead."""
    are_integers = groups.dtype.kind in "iu"
    if len(groups) == entries:
        if are_integers and entries > 1 and (groups == 1).all():
            raise InputError(
                "groups are as many ones as there are entries: sizes, or one id?",
                hint="Give indexes=: np.arange(n) for groups of one entry, np.ones(n, int) for one group.",
            )
        if entries != 1 or not are_integers or groups[0] != 1:
            return None
        return groups.astype(np.int64)

    total = None
    if are_integers:
        total = int(groups.sum())
    if total == entries and (groups >= 0).all():
        return groups.astype(np.int64)

    hint = "Sizes add up to the number of entries; ids are as many as entries."
    if are_integers and len(groups) and groups[0] == 0 and groups[-1] == entries:
        hint = "These are borders of groups: give np.diff(borders)."
    values = f"{len(groups):,} values"
    if total is not None:
        values += f" that add up to {total:,}"
    raise InputError(f"groups has {values}, and there are {entries:,} entries", hint=hint)


def _by_id(group_ids: np.ndarray, entries: int, noun: str) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """The names and sizes of groups, and the order of entries by group; None if entries are in that order."""
    if len(group_ids) != entries:
        raise InputError(
            f"{noun} has {len(group_ids):,} ids, and there are {entries:,} entries", hint="One for each entry."
        )

    if group_ids.dtype.kind == "O" and len(group_ids) and {type(value) for value in group_ids.tolist()} == {str}:
        group_ids = group_ids.astype("U")

    if group_ids.dtype.kind not in "iuUST" and len(group_ids):
        hint = "Ids are whole numbers or text. Are there missing values in it?"
        raise InputError(f"{noun} are of type {group_ids.dtype}", hint=hint)

    begin = np.concatenate(([0], np.flatnonzero(group_ids[1:] != group_ids[:-1]) + 1))[: len(group_ids)]
    if len(np.unique(group_ids[begin])) == len(begin):  # the usual case: the entries of a group follow each other
        return names_of(group_ids[begin]), np.diff(np.append(begin, entries)), None

    order = np.argsort(group_ids, kind="stable")
    ordered = group_ids[order]
    begin = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    return names_of(ordered[begin]), np.diff(np.append(begin, entries)), order


def _check_scores(rows: GradedRows) -> None:
    if rows.score.dtype.kind != "f":
        return
    wrong = np.flatnonzero(np.isnan(rows.score))
    if len(wrong):
        problem = "score is NaN"
        if len(wrong) > 1:
            problem += f", and {len(wrong) - 1:,} more"
        raise InputError(
            problem,
            where=_position(rows, int(wrong[0]), "scores"),
            hint="A document that was not scored does not belong into a ranking: leave it out with mask=.",
        )


def _checked_grades(rows: GradedRows, real_grades: bool) -> np.ndarray:
    """The grades; integers if all are whole numbers."""
    grade = rows.grade
    if grade.dtype.kind in "bu" and grade.dtype.itemsize < 8:
        grade = grade.astype(np.int64)

    if grade.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            is_whole = (np.abs(grade) <= MAX_GRADE) & (grade == np.trunc(grade))
        wrong = np.flatnonzero(~is_whole)
        if real_grades:
            wrong = np.flatnonzero(~(np.abs(grade) <= MAX_GRADE))
        are_integers = bool(is_whole.all())
    else:
        wrong = np.flatnonzero((grade > MAX_GRADE) | (grade < -MAX_GRADE))
        are_integers = True

    if len(wrong):
        entry = int(wrong[0])
        check_grade(grade[entry], _position(rows, entry, "grades"), real_grades)

    if are_integers:
        return grade.astype(np.int64, copy=False)
    return grade.astype(np.float64, copy=False)


def _position(rows: GradedRows, entry: int, noun: str) -> str:
    """The position of an entry in words: its query and document."""
    query = int(np.searchsorted(rows.start, entry, "right")) - 1
    column = int(rows.columns(query)[entry - rows.start[query]])
    return f"{noun}: query {rows.queries[query]}, document {column}"
