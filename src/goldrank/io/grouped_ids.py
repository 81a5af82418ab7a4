"""Judgements with groups of ids: every group is wanted, and any id of a group suffices.

q1 0 a1 1 g1                     a fifth column of TREC's lines names the group, as a column `group` of a table does
{"q1": [["a1", "a2"], ["b"]]}    JSON by query: a1 or a2, and b
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.types import Path
from goldrank.data.grades import check_grade
from goldrank.io.aliases import COLUMNS
from goldrank.io.questions.id_groups import HINT, has_groups
from goldrank.io.sources import open_source

BEGINNING = 1 << 16
MOST_LINES = 2_000
"""Lines that show whether a fifth column names groups."""
_GROUP = rb'\[\s*(?:\[|\{[^{}]*"(?:any_of|all_of|group)"\s*:)'
_BY_QUERY = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*' + _GROUP)
_FIELD = rb'"(?:expected_ids|expected|reference_context_ids|reference_ids|retrieval_gt|gold_ids|relevant_ids)"\s*:\s*'
_RECORD = re.compile(_FIELD + _GROUP)

Groups = dict[str, list[Any]]
"""By query, its groups as `id_groups` reads them."""


def groups_of(source: Any) -> Groups | None:
    """The groups of judgements that have them; None for all other judgements, which are not read."""
    if isinstance(source, Mapping):
        first = next(iter(source.values()), None)
        if isinstance(first, list | tuple) and any(has_groups(groups) for groups in source.values()):
            return _checked({ids.as_text(query, "query id"): list(groups) for query, groups in source.items()}, "qrels")
        return None
    beginning = _beginning(source)
    if not beginning:
        return None
    if _BY_QUERY.match(beginning):
        return _of_json(source)
    if _is_grouped_table(beginning):
        return _of_lines(source, beginning)
    return None


def are_grouped_records(source: Any) -> bool:
    """Whether a file has records of questions whose expected ids are in groups."""
    return bool(_RECORD.search(_beginning(source)))


def _beginning(source: Any) -> bytes:
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return b""
    try:
        with open(source, "rb") as file:
            return file.read(BEGINNING)
    except OSError:
        return b""


def _is_grouped_table(beginning: bytes) -> bool:
    """Whether lines of TREC have a fifth column with groups, or names of columns have `group` among them."""
    line = beginning.partition(b"\n")[0].strip()
    if b"group" in re.split(rb"[,\t]", line.lower()):
        return True
    return b"{" not in line and _has_groups_of_lines(beginning)


def _has_groups_of_lines(beginning: bytes) -> bool:
    """Whether a fifth column of TREC's lines names groups: a query has several, and one of them several documents.

    A remark that every line has, or that only one has, names none.
    """
    lines = [line.split() for line in beginning.splitlines()[:MOST_LINES]]
    if not lines or len(lines[0]) != 5:
        return False

    groups: dict[bytes, dict[bytes, list[bytes]]] = {}
    for columns in lines:
        if len(columns) == 5 and re.fullmatch(rb"-?\d+", columns[3]):
            query, _, doc, _, group = columns
            groups.setdefault(query, {}).setdefault(group, []).append(doc)
    for of_query in groups.values():
        docs = [doc for members in of_query.values() for doc in members]
        if len(set(docs)) == len(docs) and 1 < len(of_query) < len(docs):
            return True
    return False


def _of_json(source: Path) -> Groups:
    import json

    opened = open_source(source)
    try:
        content = json.loads(opened.read(lines=True))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", where=opened.name, code="bad-json") from None
    if not isinstance(content, Mapping):
        raise InputError("is not groups by query", where=opened.name, hint=HINT)
    return _checked({str(query): groups for query, groups in content.items()}, opened.name)


def _checked(by_query: Mapping[str, Any], name: str) -> Groups:
    """Groups that are lists, and not pairs of a document and a grade."""
    checked: Groups = {}
    for query, groups in by_query.items():
        where = f"{name}, query '{ids.show(query)}'"
        if not isinstance(groups, list):
            raise InputError("has no list of groups", where=where, hint=HINT)
        if groups and all(_is_graded_pair(group) for group in groups):
            hint = 'Judgements with grades look like {"q1": {"d1": 2}}; groups hold ids only.'
            raise InputError("has pairs of a document and a number", where=where, hint=hint)
        checked[query] = groups
    return checked


def _is_graded_pair(group: Any) -> bool:
    return isinstance(group, list | tuple) and len(group) == 2 and isinstance(group[1], int | float)


def _of_lines(source: Path, beginning: bytes) -> Groups:
    opened = open_source(source)
    lines = opened.read(lines=True).decode("utf-8", "surrogateescape").splitlines()
    by_query: Groups = {}
    for number, (query, doc, grade, group) in _rows(lines, beginning, opened.name):
        where = f"{opened.name}:{number}"
        checked = check_grade(_as_number(grade, where), where, real_grades=False)
        groups = by_query.setdefault(query, [])
        if checked > 0:
            groups.append({"id": doc, "group": group or f"{doc}, alone", "grade": checked})
    return by_query


def _as_number(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"grade {text!r:.60} is not a whole number", where=where, code="bad-grade") from None


Row = tuple[str, str, str, str]
"""Query, document, grade and group."""


def _rows(lines: list[str], beginning: bytes, name: str) -> Iterable[tuple[int, Row]]:
    first = beginning.partition(b"\n")[0].lower()
    if b"group" not in re.split(rb"[,\t]", first.strip()):
        for number, line in enumerate(lines, 1):
            columns = line.split()
            if not columns:
                continue
            if len(columns) not in (4, 5):
                message = f"found {len(columns)} columns, expected 5 (query, iter, doc, grade, group)"
                raise InputError(message, where=f"{name}:{number}", hint="A line without a group has 4.")
            yield number, (columns[0], columns[2], columns[3], "".join(columns[4:]))
        return

    import csv

    delimiter = ","
    if b"\t" in first:
        delimiter = "\t"
    reader = csv.DictReader(lines, delimiter=delimiter)
    fields = {str(field).strip().lower(): field for field in reader.fieldnames or ()}
    roles = {role: next((fields[alias] for alias in COLUMNS[role] if alias in fields), None) for role in _ROLES}
    for role, field in roles.items():
        if field is None and role != "grade":
            raise InputError(
                f"has no column of the {role}", where=name, hint="Columns: query_id, doc_id, grade, group."
            )
    for row in reader:
        grade = "1"
        if roles["grade"] is not None:
            grade = row[roles["grade"]]
        group = row[fields["group"]] or ""
        yield reader.line_num, (row[str(roles["query"])], row[str(roles["doc"])], grade, group)


_ROLES = ("query", "doc", "grade")
