"""Click logs: a row for each document that was shown, or a record for each page view. The user cleans them before.

Rows have a query, a document, its rank, whether it was clicked, and the id of the page view; records have a query, the
documents that were `shown`, best first, and those of them that got `clicks`. Users are kept if they are named.
Events of UBI (`ubi`) are told by their content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.notes import Note, from_counts
from goldrank.clicks.ubi import is_ubi, page_views
from goldrank.io.aliases import CLICK_FIELDS
from goldrank.io.objects.field_values import absent, as_mapping
from goldrank.io.questions.text_values import from_cell, yes_or_no
from goldrank.io.records import FieldValue, RecordFields, Records, fields_of, open_records

HINT = "Each row has query, doc, rank, click and page (a page view's id); or each record query, shown and clicks."


class ShownDocument(NamedTuple):
    """One document that was shown."""

    page: str
    query: str
    doc: str
    rank: int
    click: bool
    user: str | None


def read_clicks(
    log: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> tuple[list[ShownDocument], tuple[Note, ...]]:
    """Read shown documents and clicks from a file, a frame or records; return them with notes about the reading."""
    finder = RecordFields(columns, {role: (known,) for role, known in CLICK_FIELDS.items()})
    records = open_records(log, finder, format, name="clicks")
    counts: Counter[str] = Counter()
    shown: list[ShownDocument] = []
    for number, row in _views(records, counts):
        where = records.position(number)
        record = as_mapping(row, where)

        fields: dict[str, FieldValue] = {}
        for role, field in finder.find(record, where).items():
            if role not in finder.path_of and absent(field.value):
                continue
            if records.cells and role in _LISTS:
                fields[role] = FieldValue(from_cell(field.value, where, counts), field.path)
            else:
                fields[role] = field

        if "shown" in fields:
            shown += _page(fields, number, where)
        else:
            shown.append(_row(fields, record, where))

    if not shown:
        raise InputError("nothing was shown", where=records.name, hint=HINT)

    _check_pages(shown, records.name)
    return shown, (*records.notes, *from_counts(counts))


_LISTS = ("shown", "clicks")


def _views(records: Records, counts: Counter[str]) -> Iterator[tuple[int, Any]]:
    """The records of the log; events of UBI are put together to a record for each search."""
    rows = iter(records.rows(counts))
    first = next(rows, None)
    if first is None:
        return
    if not is_ubi(first[1]):
        yield from chain([first], rows)
        return
    positioned = ((records.position(number), row) for number, row in chain([first], rows))
    yield from enumerate(page_views(positioned, counts), 1)


def _row(fields: Mapping[str, FieldValue], record: Mapping[str, Any], where: str) -> ShownDocument:
    missing = next((role for role in ("query", "doc", "rank", "click", "page") if role not in fields), None)
    if missing is not None:
        hint = f"Say which field it is: --map {missing}=NAME. {HINT}"
        raise InputError(f"there is no {missing}; fields are: {fields_of(record)}", where=where, hint=hint)

    value = fields["click"].value
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if is_count:
        clicked = value > 0
    else:
        clicked = yes_or_no(value, f"{where}: click")

    query, doc, page = (ids.as_text(fields[role].value, f"{role} id", where) for role in ("query", "doc", "page"))
    return ShownDocument(page, query, doc, _rank(fields["rank"].value, where), clicked, _user(fields, where))


def _page(fields: Mapping[str, FieldValue], number: int, where: str) -> Iterator[ShownDocument]:
    """The documents of a page view."""
    if "query" not in fields or "clicks" not in fields:
        if "query" not in fields:
            missing = "query"
        else:
            missing = "clicks"
        raise InputError(f"there is no {missing}", where=where, hint=HINT)

    shown, clicked = (_ids(fields[role].value, role, where) for role in _LISTS)
    not_shown = set(clicked) - set(shown)
    if not_shown:
        raise InputError(f"clicks has '{ids.show(sorted(not_shown)[0])}', which was not shown", where=where, hint=HINT)

    query = ids.as_text(fields["query"].value, "query id", where)
    if "page" in fields:
        page = ids.as_text(fields["page"].value, "page id", where)
    else:
        page = f"#{number}"

    for rank, doc in enumerate(shown, 1):
        yield ShownDocument(page, query, doc, rank, doc in clicked, _user(fields, where))


def _ids(value: Any, role: str, where: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{role} is {ids.show(repr(value), 60)}, not a list of document ids", where=where, hint=HINT)
    return [ids.as_text(doc, "document id", where) for doc in value]


def _rank(value: Any, where: str) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isdecimal() or not 1 <= int(text) <= 10_000:
        hint = "Ranks are whole numbers from 1; add 1 where they begin with 0."
        raise InputError(f"the rank is {ids.show(repr(value), 40)}", where=where, hint=hint)
    return int(text)


def _user(fields: Mapping[str, FieldValue], where: str) -> str | None:
    if "user" in fields:
        return ids.as_text(fields["user"].value, "user id", where)
    return None


def _check_pages(rows: Iterable[ShownDocument], where: str) -> None:
    """Raise unless every page view has one query, one document at each rank, and each document once."""
    queries: dict[str, str] = {}
    ranks: set[tuple[str, int]] = set()
    docs: set[tuple[str, str]] = set()

    for row in rows:
        page = f"page view '{ids.show(row.page)}'"
        if queries.setdefault(row.page, row.query) != row.query:
            hint = "A page view is one list that one search showed."
            raise InputError(f"{page} is of two queries", where=where, hint=hint)
        if (row.page, row.rank) in ranks:
            raise InputError(f"{page} has two documents at rank {row.rank}", where=where, hint=HINT)
        if (row.page, row.doc) in docs:
            raise InputError(f"{page} has '{ids.show(row.doc)}' twice", where=where, hint=HINT)
        ranks.add((row.page, row.rank))
        docs.add((row.page, row.doc))
