"""Wide tables: a row for each query, with its documents in numbered columns (`rec_1`, `rec_2`, ...), best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goldrank.io import aliases
from goldrank.io.objects.field_values import absent

_DIGITS = "0123456789"
_BEFORE_NUMBERS = " _-.#@"
_LONGEST = 4
"""Digits of the number of a column."""
_NO_DOCUMENTS = {
    *aliases.COLUMNS["score"], *aliases.COLUMNS["rank"], *aliases.COLUMNS["distance"], *aliases.COLUMNS["grade"],
    "prob", "probability", "weight", "feature", "f", "dim", "emb", "embedding", "vector", "split", "fold",
}  # fmt: skip
"""Stems of numbered columns that do not hold ids of documents."""
FEWEST = 2
"""Least number of columns of a ranking."""


def ranked_columns(present: Iterable[str]) -> tuple[str, ...]:
    """The columns with the documents of a query, best first; empty if the table is not wide.

    They have one stem, and numbers from 0 or 1 without a gap. With two such stems the table is not wide.

    >>> ranked_columns(["user", "rec_2", "rec_1"])
    ('rec_1', 'rec_2')
    >>> ranked_columns(["user", "rec_1", "score_1", "rec_2", "score_2"])
    ('rec_1', 'rec_2')
    """
    by_stem: dict[str, dict[int, str]] = {}
    for name in present:
        stem, number = _numbered(name)
        if number:
            by_stem.setdefault(aliases.normal(stem), {})[int(number)] = name

    rankings = [_in_order(names) for stem, names in by_stem.items() if stem not in _NO_DOCUMENTS]
    complete = [names for names in rankings if len(names) >= FEWEST]
    if len(complete) != 1:
        return ()
    return complete[0]


def _numbered(name: str) -> tuple[str, str]:
    """The stem and the number of a column's name; "" if it has no number.

    >>> _numbered("rec_12"), _numbered("rec")
    (('rec', '12'), ('rec', ''))
    """
    digits = len(name) - len(name.rstrip(_DIGITS))
    if not digits:
        return name, ""
    begin = len(name) - min(digits, _LONGEST)
    return name[:begin].rstrip(_BEFORE_NUMBERS), name[begin:]


def _in_order(names: Mapping[int, str]) -> tuple[str, ...]:
    """Columns by number; empty if a number between the first and the last is missing."""
    numbers = sorted(names)
    is_complete = numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1
    if not is_complete:
        return ()
    return tuple(names[number] for number in numbers)


def as_lists(rows: Iterable[Mapping[str, Any]], ranked: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each row with its documents in one list, as `retrieved_ids`; empty cells are left out."""
    for row in rows:
        record = {name: value for name, value in row.items() if name not in ranked}
        cells = (row[name] for name in ranked)
        record["retrieved_ids"] = [_as_id(cell) for cell in cells if not absent(cell) and cell != ""]
        yield record


def _as_id(value: Any) -> Any:
    """An id from a cell: data frames make floats of integers if another cell of the column is empty."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
