"""Records of questions with expected and retrieved ids in one file.

Such files come from Ragas (`reference_context_ids`, `retrieved_context_ids`), LlamaIndex (`expected_ids`,
`retrieved_ids`), LangSmith (in `outputs` and `reference_outputs`) and DeepEval (in `additional_metadata`). Read as
qrels, a file has the expected ids; read as a run, the retrieved ids; a question has the same name on both sides.

Records of goldrank's own contract have objects instead of ids, `retrieved` and `expected`: if all retrieved objects
have a score, scores order them; if no object has one, the list does. A record with `error` is a question on which the
system failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, did_you_mean
from goldrank.io import aliases, contract
from goldrank.io.columns import Columns
from goldrank.io.objects.field_values import absent, as_mapping, value_at
from goldrank.io.objects.spans import with_span
from goldrank.io.questions.text_values import from_cell

FIELD = {"qrels": "reference_ids", "run": "retrieved_ids"}
TEXTS_NOT_IDS = "texts-not-ids"
"""The code of the error for a file of texts."""
_TEXTS_HINT = (
    "`goldrank texts FILE -o scores.json` (in Python evaluate_texts) measures texts; compare, gate and record take "
    "scores.json."
)


class ListedDocument(NamedTuple):
    """One document of a question's list."""

    query: Any
    doc: Any
    number: Any
    """The grade or score in the list; None if the list has none."""
    score: Any
    """The value that orders documents: from the rank in a list, or the score in {id: score}, which has no order."""
    where: str


class IdLists:
    """Finds the fields of records with lists of ids, and the names of questions."""

    def __init__(self, thing: str, columns: Columns) -> None:
        self.thing = thing
        self.columns = columns
        self.counts: Counter[str] = Counter()
        self.has_scores = False
        """Whether scores, not ranks in lists, order the documents."""

    def is_record(self, record: Mapping[str, Any]) -> bool:
        """Whether a record has lists of ids, of either side."""
        if any(self._find(record, role) is not None for role in FIELD.values()):
            return True

        record = with_span(record)
        expected = self._find_objects(record, "reference_ids")
        retrieved = self._find_objects(record, "retrieved_ids")
        if expected is not None:
            return retrieved is not None or _have_ids(record[expected])
        has_other_query = aliases.find(record, "query") is not None
        return retrieved == "retrieved" and not has_other_query and _have_ids(record["retrieved"])

    def holds_both(self, record: Mapping[str, Any]) -> bool:
        """Whether a record has what was expected and what was retrieved."""
        record = with_span(record)
        return all(self._find(record, role) or self._find_objects(record, role) for role in FIELD.values())

    @property
    def _named(self) -> list[str]:
        """The fields that the user named."""
        named = [self.columns.named(role, self.thing) for role in ("query", *FIELD.values())]
        return [name for name in named if name is not None]

    @property
    def role(self) -> str:
        """The role of the lists of this side."""
        return FIELD[self.thing]

    def find(self, record: Mapping[str, Any]) -> str | None:
        """The path of the field with the list of this side; None if the record has no such field."""
        return self._find(record, self.role)

    def is_header(self, header: Sequence[str]) -> bool:
        """Whether the columns of a table have lists of ids, of either side."""
        return self.is_record(dict.fromkeys(header))

    def read(self, rows: Iterable[Any], position: Callable[[int], str]) -> tuple[list[ListedDocument], list[str]]:
        """Every document of the lists of this side, and every query; `position` describes the position of a row."""
        seen: dict[str, str] = {}
        entries: list[ListedDocument] = []
        queries: list[str] = []
        for index, row in enumerate(rows):
            where = position(index)
            record = with_span(as_mapping(row, where))
            contract.check_fields(record, where, self._named)
            query = self._query(record, index + 1, where)
            if query in seen and not absent(record.get("system")):
                problem = f"the question '{ids.show(query)}' has answers of several systems"
                hint = "`goldrank eval FILE` shows systems side by side; in Python read the records of one system."
                raise InputError(problem, where=where, hint=hint, code="several-systems")
            if query in seen:
                problem = f"the question '{ids.show(query)}' is duplicated, first at {seen[query]}"
                hint = "Each question has a different id: name the field that holds it with --map query=NAME."
                raise InputError(problem, where=where, hint=hint)
            seen[query] = where

            documents = self._documents(record, query, where)
            if documents is not None:
                entries += documents
            if documents is not None or self.thing == "run":
                queries.append(query)

        return entries, queries

    def _documents(self, record: Mapping[str, Any], query: str, where: str) -> list[ListedDocument] | None:
        """The documents of a question's list; None if it has no list."""
        if self.thing == "run" and not absent(record.get("error")) and not self._has_results(record):
            self.counts["system-errors"] += 1
            return None

        field = self._find(record, self.role)
        is_objects = field is None
        if is_objects:
            field = self._find_objects(record, self.role)
        if field is None:
            raise self._missing(record, where)

        value = value_at(record, field)
        where = f"{where}, {field}"
        if is_objects:
            self._check_objects(record, value, where)
        if isinstance(value, str):
            value = _split(value, where, self.counts)
        if absent(value):
            if self.thing == "qrels":
                self.counts["ungraded-rows"] += 1
            else:
                self.counts["nothing-retrieved"] += 1
            return None

        by_score = isinstance(value, Mapping) or (is_objects and self.thing == "run" and _are_scored(value, where))
        self.has_scores |= by_score
        documents = []
        for rank, (doc, number) in enumerate(_listed(value, where), 1):
            score = -float(rank)
            if by_score:
                score = number
            documents.append(ListedDocument(query, doc, number, score, f"{where}[{rank - 1}]"))
        return documents

    def _find(self, record: Mapping[str, Any], role: str) -> str | None:
        """The path of the field for a role."""
        side = next(thing for thing, field in FIELD.items() if field == role)
        named = self.columns.named(role, side)
        if named is not None and (named in record or value_at(record, named) is not None):
            self.columns.mark_used(role, side)
            return named

        known = aliases.ID_LISTS[role]
        name = aliases.first_present(record, known)
        if name:
            return name

        for outer in aliases.all_present(record, aliases.ID_LIST_HOLDERS[role]):
            inner = record[outer]
            if not isinstance(inner, Mapping):
                continue
            name = aliases.first_present(inner, known)
            if name:
                return f"{outer}.{name}"

        return None

    def _has_results(self, record: Mapping[str, Any]) -> bool:
        return self._find(record, self.role) is not None or self._find_objects(record, self.role) is not None

    def _find_objects(self, record: Mapping[str, Any], role: str) -> str | None:
        """The field for a role that may hold a list of objects with ids."""
        for name in aliases.all_present(record, aliases.OBJECT_LISTS[role]):
            if isinstance(record[name], list | tuple):
                return name
            if role == "reference_ids" and isinstance(record[name], Mapping):
                return name
        return None

    def _check_objects(self, record: Mapping[str, Any], value: Any, where: str) -> None:
        """Refuse texts instead of ids, and lists that may be ids or texts."""
        if not isinstance(value, list | tuple) or not value or _have_ids(value):
            return

        if any(isinstance(entry, Mapping) for entry in value):
            have_ids = [_has_id(entry) for entry in value]
            hint = (
                'Each is an object with an id: {"id": "d1"}. Texts without ids are measured by `goldrank texts FILE`.'
            )
            raise InputError("has no id", where=f"{where}[{have_ids.index(False)}]", hint=hint, code="no-ids")

        other_role = next(role for role in FIELD.values() if role != self.role)
        if self._find(record, other_role) is not None:
            return
        other_objects = self._find_objects(record, other_role)
        if other_objects and _have_ids(record[other_objects]):
            return
        hint = (
            "If they are ids, call the fields retrieved_ids and expected_ids; if they are texts, `goldrank texts FILE` "
            "measures them."
        )
        raise InputError("is a list of words, which may be ids or texts", where=where, hint=hint, code="ids-or-texts")

    def query_of(self, row: Any, number: int, where: str) -> str:
        """The id of a record's question, as `read` finds it."""
        return self._query(with_span(as_mapping(row, where)), number, where)

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

        for fields in (record, record.get("inputs")):
            if not isinstance(fields, Mapping):
                continue
            key = aliases.first_present(fields, aliases.QUESTION_TEXTS)
            if key and _is_id(fields[key]):
                return ids.as_text(fields[key], "query id", where)

        self.counts["numbered-items"] += 1
        return str(number)

    def _missing(self, record: Mapping[str, Any], where: str) -> InputError:
        role = self.role
        texts = texts_error(record, where)
        if texts is not None:
            return texts

        state = "retrieved"
        if self.thing == "qrels":
            state = "expected"
        known = ", ".join(aliases.ID_LISTS[role][:4])
        keys = ", ".join(ids.show(str(key), 40) for key in list(record)[:20]) or "nothing"
        field = _likely_field(record, role)
        code = None
        hint = f"Say where they are: --map {role}={field or 'NAME'}, or columns={{'{role}': {field or '...'!r}}}; "
        hint += f"known names are {known}."
        if "searches" in record or "calls" in record:
            hint = "It has several searches for a question: `goldrank.score_searches` in Python measures those."
            code = "bad-record"
        elif field:
            code = "bad-record"
        return InputError(f"has no ids that were {state}; it has: {keys}", where=where, hint=hint, code=code)


def _likely_field(record: Mapping[str, Any], role: str) -> str | None:
    """The field that may hold the ids: a list, or a field with a similar name, that has not the other role."""
    other_role = "reference_ids"
    if role == "reference_ids":
        other_role = "retrieved_ids"
    names = [str(key) for key in record if aliases.normal(str(key)) not in aliases.ID_LISTS[other_role]]

    lists = [name for name in names if isinstance(record.get(name), list)]
    if len(lists) == 1:
        return lists[0]
    known = [*aliases.ID_LISTS[role], *aliases.OBJECT_LISTS[role]]
    return next((name for name in names if did_you_mean(aliases.normal(name), known)), None)


def _have_ids(value: Any) -> bool:
    """Whether a list is of objects with an id, or a mapping from ids to grades."""
    if isinstance(value, Mapping):
        return all(isinstance(grade, int | float) for grade in value.values())
    return all(map(_has_id, value))


def _has_id(entry: Any) -> bool:
    return isinstance(entry, Mapping) and aliases.first_present(entry, aliases.LISTED_DOC) is not None


def _are_scored(value: Any, where: str) -> bool:
    """Whether all objects of a list have a score; an error if only some have, because their order is not known."""
    scored = [isinstance(entry, Mapping) and not absent(entry.get("score")) for entry in value]
    if any(scored) and not all(scored):
        index = scored.index(not scored[0])
        hint = "Give all of them a score, which then orders them, or none: then the list does."
        problem = "some documents have a score, and some have none"
        raise InputError(problem, where=f"{where}[{index}]", hint=hint, code="bad-record")
    return bool(scored) and all(scored)


def _is_id(value: Any) -> bool:
    """Whether a value can be the id of a question: text, or an integer of any library."""
    if isinstance(value, str):
        return value != ""
    return isinstance(value, Integral) and not isinstance(value, bool)


def texts_error(record: Mapping[str, Any], where: str) -> InputError | None:
    """The error for a record that has texts instead of ids; None for other records."""
    groups = (*aliases.ITEM_FIELDS["retrieved"], *aliases.ITEM_FIELDS["references"])
    known = {name for group in groups for name in group}
    names = {aliases.normal(name) for name in record if isinstance(name, str)}
    lists = {aliases.normal(name) for name in record if isinstance(record[name], list)}
    has_texts = any(map(_are_texts, record.values()))
    if not has_texts and not names & known & lists and "retrieval_context" not in names:
        return None

    keys = ", ".join(ids.show(str(key), 40) for key in list(record)[:20])
    return InputError(f"holds texts and no ids; it has: {keys}", where=where, hint=_TEXTS_HINT, code="texts-not-ids")


def _are_texts(value: Any) -> bool:
    """Whether a value is a list of texts, which have several words; ids seldom have."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(entry, str) and len(entry.split()) > 1 for entry in value)


def _split(text: str, where: str, counts: Counter[str]) -> Any:
    """The list in a cell: in JSON, or ids with a separator between them."""
    if not text.strip():
        return None
    if text.lstrip().startswith(("[", "{")):
        return from_cell(text, where, counts)
    sign = next((sign for sign in ("|", ";", ",") if sign in text), None)
    if sign:
        return [part.strip() for part in text.split(sign) if part.strip()]
    return text.split()


def _listed(value: Any, where: str) -> Iterator[tuple[Any, Any]]:
    """Ids with their grades or scores, from a list of ids, of pairs or objects, or from {id: number}."""
    if isinstance(value, Mapping):
        yield from value.items()
        return

    if hasattr(value, "tolist"):
        value = value.tolist()

    if ids.has_no_order(value) or not isinstance(value, list | tuple):
        hint = 'Ids are in a list, best first: ["d1", "d2"].'
        raise InputError(f"is {ids.show(repr(value), 60)}, not a list of ids", where=where, hint=hint)

    for i, item in enumerate(value):
        if isinstance(item, Mapping):
            doc = aliases.first_present(item, aliases.LISTED_DOC)
            if doc is None:
                keys = ", ".join(ids.show(str(key), 40) for key in item)
                raise InputError(f"has no document id; it has: {keys or 'nothing'}", where=f"{where}[{i}]")
            grade = aliases.first_present(item, (*aliases.ENTRY_GRADE, "score"))
            number = None
            if grade is not None:
                number = item[grade]
            yield item[doc], number
        elif isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[1], int | float):
            yield item[0], item[1]
        else:
            yield item, None
