"""Records of questions with the ids that were expected and those that were retrieved, in one file.

So write Ragas (`reference_context_ids`, `retrieved_context_ids`), LlamaIndex (`expected_ids`, `retrieved_ids`),
LangSmith (in `outputs` and `reference_outputs`) and DeepEval (in `additional_metadata`). Read as qrels such a file
gives the expected ids, read as a run the retrieved ones; both sides call a question the same.

Records of goldrank's own contract have objects in place of ids, `retrieved` and `expected`: if all that was retrieved
has a score, scores order it; if nothing has, the list does. A record with `error` is a question on which the system
failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, did_you_mean
from goldrank.io import aliases
from goldrank.io.columns import Columns
from goldrank.io.objects.field_values import absent, as_mapping, value_at
from goldrank.io.questions.text_values import from_cell

FIELD = {"qrels": "reference_ids", "run": "retrieved_ids"}
_TEXTS = "It has texts and no ids: `goldrank texts FILE` measures those. "


class ListedDocument(NamedTuple):
    """One document of a question's list."""

    query: Any
    doc: Any
    number: Any
    """A grade or score that the list gives; None where it gives none."""
    score: Any
    """What orders it: the rank in a list, whose order stands; the score in {id: score}, which has no order."""
    where: str


class IdLists:
    """Which fields of records hold the lists of ids, and what a question is called."""

    def __init__(self, thing: str, columns: Columns) -> None:
        self.thing = thing
        self.columns = columns
        self.counts: Counter[str] = Counter()
        self.has_scores = False
        """Whether scores, not places in lists, order what was read."""

    def is_record(self, record: Mapping[str, Any]) -> bool:
        """Whether a record has lists of ids, of either side."""
        if any(self._find(record, role) is not None for role in FIELD.values()):
            return True
        record = with_span(record)
        expected, retrieved = (self._find_objects(record, role) for role in ("reference_ids", "retrieved_ids"))
        if expected is not None:
            return retrieved is not None or _have_ids(record[expected])
        has_other_query = aliases.find(record, "query") is not None
        return retrieved == "retrieved" and not has_other_query and _have_ids(record["retrieved"])

    @property
    def role(self) -> str:
        """What the lists of this side are called."""
        return FIELD[self.thing]

    def find(self, record: Mapping[str, Any]) -> str | None:
        """The path of the field with the list of this side, if the record has one."""
        return self._find(record, self.role)

    def is_header(self, header: Sequence[str]) -> bool:
        """The same for the columns of a table."""
        return self.is_record(dict.fromkeys(header))

    def read(self, rows: Iterable[Any], place: Callable[[int], str]) -> tuple[list[ListedDocument], list[str]]:
        """Every document of the lists of this side, and every query; `place` says where a row stands."""
        seen: dict[str, str] = {}
        entries: list[ListedDocument] = []
        queries: list[str] = []
        for at_row, row in enumerate(rows):
            where = place(at_row)
            record = with_span(as_mapping(row, where))
            query = self._query(record, at_row + 1, where)
            if query in seen:
                what = f"the question '{ids.show(query)}' is duplicated, first at {seen[query]}"
                hint = "Each question has an id of its own: name the field that holds it with --map query=NAME."
                raise InputError(what, where=where, hint=hint)
            seen[query] = where
            if self.thing == "run" and not absent(record.get("error")) and not self._has_results(record):
                self.counts["system-errors"] += 1
                queries.append(query)
                continue
            field = self._find(record, self.role)
            is_objects = field is None
            if is_objects:
                field = self._find_objects(record, self.role)
            if field is None:
                raise self._missing(record, where)
            value = value_at(record, field)
            at = f"{where}, {field}"
            if is_objects:
                self._check_objects(record, value, at)
            if isinstance(value, str):
                value = _split(value, at, self.counts)
            if absent(value):
                self.counts["ungraded-rows" if self.thing == "qrels" else "nothing-retrieved"] += 1
                if self.thing == "run":
                    queries.append(query)
                continue
            queries.append(query)
            by_score = isinstance(value, Mapping) or (is_objects and self.thing == "run" and _are_scored(value, at))
            self.has_scores |= by_score
            for rank, (doc, number) in enumerate(_listed(value, at), 1):
                score = number if by_score else -float(rank)
                entries.append(ListedDocument(query, doc, number, score, f"{at}[{rank - 1}]"))

        return entries, queries

    def _find(self, record: Mapping[str, Any], role: str) -> str | None:
        """The path of the field for a role."""
        side = next(thing for thing, field in FIELD.items() if field == role)
        named = self.columns.named(role, side)
        if named is not None and (named in record or value_at(record, named) is not None):
            self.columns.mark_used(role, side)
            return named

        known = aliases.ID_LISTS[role]
        if name := aliases.first_present(record, known):
            return name

        for outer in aliases.all_present(record, aliases.ID_LIST_HOLDERS[role]):
            inner = record[outer]
            if isinstance(inner, Mapping) and (name := aliases.first_present(inner, known)):
                return f"{outer}.{name}"

        return None

    def _has_results(self, record: Mapping[str, Any]) -> bool:
        return self._find(record, self.role) is not None or self._find_objects(record, self.role) is not None

    def _find_objects(self, record: Mapping[str, Any], role: str) -> str | None:
        """The field for a role that may hold a list of objects with ids."""
        for name in aliases.all_present(record, aliases.OBJECT_LISTS[role]):
            if isinstance(record[name], list | tuple) or (
                role == "reference_ids" and isinstance(record[name], Mapping)
            ):
                return name
        return None

    def _check_objects(self, record: Mapping[str, Any], value: Any, at: str) -> None:
        """Refuse texts in place of ids, and lists of which nobody can say whether they are ids or texts."""
        if not isinstance(value, list | tuple) or not value or _have_ids(value):
            return
        if any(isinstance(entry, Mapping) for entry in value):
            without = next(
                number
                for number, entry in enumerate(value)
                if not isinstance(entry, Mapping) or aliases.first_present(entry, aliases.LISTED_DOC) is None
            )
            hint = (
                'Each is an object with an id: {"id": "d1"}. Texts without ids are measured by `goldrank texts FILE`.'
            )
            raise InputError("has no id", where=f"{at}[{without}]", hint=hint, code="no-ids")

        other = next(role for role in FIELD.values() if role != self.role)
        other_objects = self._find_objects(record, other)
        has_ids = self._find(record, other) is not None or (other_objects and _have_ids(record[other_objects]))
        if has_ids:
            return
        hint = (
            "If they are ids, call the fields retrieved_ids and expected_ids; if they are texts, `goldrank texts FILE` "
            "measures them."
        )
        raise InputError("is a list of words, which may be ids or texts", where=at, hint=hint, code="ids-or-texts")

    def _query(self, record: Mapping[str, Any], number: int, where: str) -> str:
        named = self.columns.named("query", self.thing)
        if named is not None:
            value = value_at(record, named)
            if value is None:
                raise self.columns.missing(named, "query", list(record), where)
            self.columns.mark_used("query", self.thing)
            return ids.as_text(value, "query id", where)

        name = aliases.first_present(record, aliases.QUESTION_IDS)
        if name is not None and not absent(record[name]) and record[name] != "":
            return ids.as_text(record[name], "query id", where)

        for outer in ("", "inputs"):
            inner = record if not outer else record.get(outer)
            key = aliases.first_present(inner, aliases.QUESTION_TEXTS) if isinstance(inner, Mapping) else None
            if key and isinstance(inner, Mapping) and _is_id(inner[key]):
                return ids.as_text(inner[key], "query id", where)

        self.counts["numbered-items"] += 1
        return str(number)

    def _missing(self, record: Mapping[str, Any], where: str) -> InputError:
        role = FIELD[self.thing]
        what = "expected" if self.thing == "qrels" else "retrieved"
        known = ", ".join(aliases.ID_LISTS[role][:4])
        shown = ", ".join(ids.show(str(key), 40) for key in list(record)[:20]) or "nothing"
        near = _near(record, role)
        hint = f"{near} Say where they are: --map {role}=NAME, or columns={{'{role}': ...}}; known names are {known}."
        return InputError(f"has no ids that were {what}; it has: {shown}", where=where, hint=hint.strip())


def _near(record: Mapping[str, Any], role: str) -> str:
    """A field whose name is nearly a known one."""
    for key in record:
        known = [*aliases.ID_LISTS[role], *aliases.OBJECT_LISTS[role]]
        suggestion = did_you_mean(aliases.normal(str(key)), known)
        if suggestion:
            return f"{ids.show(str(key), 40)}: {suggestion}"
    return ""


def with_span(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record with what a span of OpenTelemetry or OpenInference retrieved as `retrieved`; others as they are."""
    attributes = record.get("attributes")
    fields = {**attributes, **record} if isinstance(attributes, Mapping) else record
    documents = fields.get(aliases.SPAN_DOCUMENTS)
    if isinstance(documents, str):
        documents = from_cell(documents, aliases.SPAN_DOCUMENTS, Counter())
    if documents is None:
        documents = _flattened(fields)
    if documents is None:
        return record
    return {**record, "retrieved": documents}


def _flattened(fields: Mapping[Any, Any]) -> list[dict[str, Any]] | None:
    """Documents whose fields stand one by one under their number."""
    by_number: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        matched = aliases.SPAN_DOCUMENT.fullmatch(key) if isinstance(key, str) else None
        if matched:
            by_number.setdefault(int(matched[1]), {})[matched[2]] = value
    return [by_number[number] for number in sorted(by_number)] or None


def _have_ids(value: Any) -> bool:
    """Whether a list is of objects with an id, or a mapping from ids to grades."""
    if isinstance(value, Mapping):
        return all(isinstance(grade, int | float) for grade in value.values())
    entries = list(value)
    return all(
        isinstance(entry, Mapping) and aliases.first_present(entry, aliases.LISTED_DOC) is not None for entry in entries
    )


def _are_scored(value: Any, at: str) -> bool:
    """Whether all objects of a list have a score; if only some have, nothing says what their order is."""
    scored = [isinstance(entry, Mapping) and not absent(entry.get("score")) for entry in value]
    if any(scored) and not all(scored):
        place = scored.index(not scored[0])
        hint = "Give all of them a score, which then orders them, or none: then the list does."
        raise InputError("some documents have a score, and some have none", where=f"{at}[{place}]", hint=hint)
    return bool(scored) and all(scored)


def _is_id(value: Any) -> bool:
    """Whether a value can be the id of a question: text, or an integer of any library."""
    if isinstance(value, str):
        return value != ""
    return isinstance(value, Integral) and not isinstance(value, bool)


def texts_hint(record: Mapping[str, Any]) -> str:
    """The way on for a record that has texts in place of ids, else nothing."""
    known = {name for role in ("retrieved", "references") for group in aliases.ITEM_FIELDS[role] for name in group}
    names = {aliases.normal(name) for name in record if isinstance(name, str)}
    lists = {aliases.normal(name) for name in record if isinstance(record[name], list)}
    if names & known & lists or "retrieval_context" in names:
        return _TEXTS
    return ""


def _split(text: str, at: str, counts: Counter[str]) -> Any:
    """The list of a cell: in JSON, or ids with a separator between them."""
    if not text.strip():
        return None
    if text.lstrip().startswith(("[", "{")):
        return from_cell(text, at, counts)
    sign = next((sign for sign in ("|", ";", ",") if sign in text), None)
    if sign:
        return [part.strip() for part in text.split(sign) if part.strip()]
    return text.split()


def _listed(value: Any, at: str) -> Iterator[tuple[Any, Any]]:
    """Ids with their grades or scores, from a list of ids, of pairs or objects, or from {id: number}."""
    if isinstance(value, Mapping):
        yield from value.items()
        return

    if hasattr(value, "tolist"):
        value = value.tolist()

    if ids.has_no_order(value) or not isinstance(value, list | tuple):
        hint = 'Ids are in a list, best first: ["d1", "d2"].'
        raise InputError(f"is {ids.show(repr(value), 60)}, not a list of ids", where=at, hint=hint)

    for i, item in enumerate(value):
        if isinstance(item, Mapping):
            doc = aliases.first_present(item, aliases.LISTED_DOC)
            if doc is None:
                keys = ", ".join(ids.show(str(key), 40) for key in item)
                raise InputError(f"has no document id; it has: {keys or 'nothing'}", where=f"{at}[{i}]")
            grade = aliases.first_present(item, (*aliases.ENTRY_GRADE, "score"))
            yield item[doc], None if grade is None else item[grade]
        elif isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[1], int | float):
            yield item[0], item[1]
        else:
            yield item, None
