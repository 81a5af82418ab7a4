"""Records of goldrank's own contract, by its schema: names that no other tool has are held to it.

Records of other tools have fields of their own, so an unknown field is no error. But a field whose name is nearly that
of one of the contract is a slip, which would otherwise be read as nothing. `goldrank schema record --check` and
`goldrank eval --contract` hold a file to all of the schema.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.validating import problems, schema
from goldrank.io import aliases

if TYPE_CHECKING:
    from goldrank.io.columns import Columns

TELLING = ("retrieved", "retrieved_ids", "expected", "expected_ids")
"""Fields by which a record is of the contract."""
PAIRS = (("retrieved", "retrieved_ids"), ("expected", "expected_ids"))
"""Two spellings of one thing."""
NEAR = 0.85
"""How similar a name must be to be a slip of another."""
BAD_RECORD = "bad-record"
SEVERAL_SYSTEMS = "several-systems"
"""The code of the error about records of several systems that are read as those of one."""


@cache
def names() -> frozenset[str]:
    """The names of the contract's fields."""
    return frozenset(schema("record")["properties"])


def check_fields(record: Mapping[Any, Any], where: str, named: Iterable[str] = ()) -> None:
    """Refuse a record that says one thing twice, or has a slip in the name of a field; `named` are the user's names."""
    texts = [key for key in record if isinstance(key, str)]
    _check_shape(tuple(texts), frozenset(named), where)


def check_strictly(record: Any, where: str) -> None:
    """Refuse a record that the schema does not allow."""
    for problem in problems(record, "record"):
        hint = "`goldrank schema record` prints the schema; without --contract other names are understood."
        raise InputError(problem, where=where, hint=hint, code="bad-record")


def records_of(source: Any) -> Iterator[tuple[str, Any]]:
    """The records of a file, each with its position."""
    from goldrank.io.records import ItemFields, open_records

    records = open_records(source, ItemFields())
    for number, record in records.rows(Counter()):
        yield records.position(number), record


def is_records(source: Any, columns: Columns) -> bool:
    """Whether a file has records of questions, with what was expected or what was retrieved."""
    from goldrank.io.objects.id_lists import IdLists

    first = _first_record(source)
    return first is not None and IdLists("run", columns).is_record(first)


def holds_both(source: Any, columns: Columns) -> bool:
    """Whether a file has records of questions, with what was expected and what was retrieved."""
    from goldrank.io.objects.id_lists import IdLists

    first = _first_record(source)
    return first is not None and IdLists("run", columns).holds_both(first)


def _first_record(source: Any) -> Mapping[str, Any] | None:
    """The first record of a file; None for a file without records."""
    if source == "-" or not os.path.isfile(source):
        return None
    try:
        first = next((record for _, record in records_of(source)), None)
    except InputError:
        return None
    if isinstance(first, Mapping):
        return first
    return None


def by_system(source: Any) -> tuple[dict[str, dict[str, Any]], dict[str, list[Any]]]:
    """The first record of each question, and the records of each system, of a file with several systems."""
    questions: dict[str, dict[str, Any]] = {}
    systems: dict[str, list[Any]] = {}
    for where, record in records_of(source):
        system = record.get("system")
        question = next((record[name] for name in ("id", "question") if record.get(name) is not None), None)
        if system is None or question is None:
            hint = "Where there are several systems, every record has a system, and an id or a question."
            raise InputError("has no system or no id", where=where, hint=hint, code="bad-record")

        before = questions.setdefault(str(question), record)
        if any(before.get(name) != record.get(name) for name in ("expected", "expected_ids")):
            problem = f"the question '{ids.show(str(question))}' expects something else than in an earlier record"
            hint = "What is expected of a question is the same for all systems."
            raise InputError(problem, where=where, hint=hint, code="bad-record")
        systems.setdefault(str(system), []).append(record)
    return questions, systems


def _check_shape(keys: tuple[str, ...], named: frozenset[str], where: str) -> None:
    problem = _problem_of(keys, named)
    if problem is not None:
        raise InputError(problem[0], where=where, hint=problem[1], code="bad-record")


@lru_cache(maxsize=1000)
def _problem_of(keys: tuple[str, ...], named: frozenset[str]) -> tuple[str, str] | None:
    """What is wrong with the names of a record's fields, and a hint; None if nothing is."""
    normal_names = {aliases.normal(key): key for key in keys}
    for objects, plain_ids in PAIRS:
        if objects in normal_names and plain_ids in normal_names:
            return f"has both {objects} and {plain_ids}", "Leave one of them out: it is not known which one counts."

    if not normal_names.keys() & set(TELLING):
        return None
    import difflib

    for normal_name, key in normal_names.items():
        if normal_name in names() or normal_name in _other_names() or normal_name.startswith(("x_", "x-")):
            continue
        near = difflib.get_close_matches(normal_name, names(), n=1, cutoff=NEAR)
        if near and near[0] not in normal_names and key not in named:
            hint = f"Did you mean {near[0]}? A field of your own begins with x_, or is in metadata."
            return f"has the unknown field '{ids.show(key, 40)}'", hint
    return None


@cache
def _other_names() -> frozenset[str]:
    """Names of other tools that readers understand."""
    listed = {name for group in aliases.ID_LISTS.values() for name in group}
    listed |= {name for groups in aliases.ITEM_FIELDS.values() for group in groups for name in group}
    return frozenset({*listed, *aliases.QUESTION_IDS, *aliases.QUESTION_TEXTS, "calls"})
