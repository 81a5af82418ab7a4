"""`TextItem`s from records of questions, as RAG tools write them."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, one_of
from goldrank.base.notes import Note, from_counts
from goldrank.data.query_costs import about_query
from goldrank.data.text_item import CitedSentence, EvidencePlaces, Nugget, Reference, Span, TextItem
from goldrank.io.objects.field_values import absent
from goldrank.io.questions import id_groups, text_values
from goldrank.io.questions.cited_answers import cited_sentences, from_trec, is_trec_answer
from goldrank.io.questions.text_values import RetrievedText
from goldrank.io.records import FieldValue, ItemFields, Records, as_mapping, says_places

NULLS = ("error", "empty")
"""Choices for a retrieved text that is null."""
FAILURES = ("error", "zero", "skip")
"""Choices for questions on which the retriever failed."""
BESIDE = ("tokens", "cost", "conversation", "turn")
"""Fields about a question beside its texts."""
FAILED = "retrieval_error"
"""The field of a record for whose question the retriever failed: {"type": ..., "text": ...}."""


class ReadItem(NamedTuple):
    """An item and the other data of its record, as far as there are any."""

    item: TextItem
    ids: tuple[str | None, ...] | None = None
    """The ids of the retrieved texts."""
    sources: tuple[str | None, ...] | None = None
    """The names of their sources."""
    source_texts: Mapping[str, str] | None = None
    """The texts of sources."""
    evidence: Any = None
    """The evidence of the record, with quotations."""
    scores: tuple[float | None, ...] | None = None
    """The scores of the retrieved texts."""
    by_id: bool = False
    """Whether the item's texts and references are ids, because its record has no texts to compare."""
    expected_ids: tuple[str, ...] | None = None
    """The ids of relevant documents, if the record has them beside texts."""

    @property
    def has_evidence(self) -> bool:
        """Whether the question names its evidence."""
        return says_places(self.evidence)


class ReadQuestion(NamedTuple):
    """A question and its record."""

    query: str
    question: str
    record: Mapping[str, Any]
    where: str

    @property
    def failed(self) -> bool:
        """Whether the retriever failed on it."""
        return not absent(self.record.get(FAILED))


class ItemReader:
    """Reads records as items, again each time: files stay on the disk."""

    def __init__(self, records: Records, fields: ItemFields, *, nulls: str = "error", failures: str = "error") -> None:
        self.records = records
        self.fields = fields
        self.nulls = one_of(nulls, NULLS, "nulls")
        self.failures = one_of(failures, FAILURES, "failures")
        self._counts: Counter[str] | None = None

    @property
    def name(self) -> str:
        """A short name of the file or of the data."""
        return self.records.label

    def __iter__(self) -> Iterator[TextItem]:
        return (entry.item for entry in self.entries())

    def questions(self) -> Iterator[ReadQuestion]:
        """The questions with their records, also incomplete records and failures that are skipped."""
        seen: dict[str, int] = {}
        for number, entry in self.records.rows(Counter()):
            where = self.records.position(number)
            if isinstance(entry, TextItem):
                question = ReadQuestion(entry.query, entry.question, plain_record(entry), where)
            else:
                record = as_mapping(entry, where)
                known = _with_values(self._fields_of(record, where, Counter()), where)
                by_id = _names_ids(known, _answerable(known))
                query = self._query_id(known, len(seen) + 1, by_id, Counter())
                question = ReadQuestion(query, _question(known.get("question")), record, where)

            if question.query in seen:
                raise self._duplicated(question.query, seen[question.query], where)
            seen[question.query] = number
            yield question

    def entries(self, *, measured: bool = True) -> Iterator[ReadItem]:
        """Items with the other data of their records.

        If items are not `measured` but shown, nothing has to be expected, and an id may replace a missing text.
        """
        counts: Counter[str] = Counter()
        seen: dict[str, int] = {}
        by_id: bool | None = None
        position = self.records.position
        for number, record in self.records.rows(counts):
            where = position(number)
            if isinstance(record, TextItem):
                entry = self._check_item(record, where, counts)
            else:
                entry = self._read_record(as_mapping(record, where), where, len(seen) + 1, counts, measured)

            query = entry.item.query
            if query in seen:
                raise self._duplicated(query, seen[query], where)
            seen[query] = number
            if by_id is not None and by_id != entry.by_id:
                raise _mixed_items(entry, where)
            by_id = entry.by_id
            if entry.item.retrieved is not _SKIPPED:
                yield entry

        if not seen:
            hint = "Did the system return anything?"
            raise InputError("no items", where=self.records.name, hint=hint, code="empty-input")
        if measured:
            self._counts = counts

    @property
    def by_id(self) -> bool:
        """Whether ids are compared, because records have only ids of what is expected."""
        return next((entry.by_id for entry in self.entries()), False)

    @cached_property
    def has_evidence(self) -> bool:
        """Whether any question has evidence by position; then all questions are measured by it."""
        return any(entry.has_evidence for entry in self.entries())

    @cached_property
    def has_nuggets_alone(self) -> bool:
        """Whether questions have nuggets and no question has references."""
        has_nuggets = False
        for item in self:
            if item.references:
                return False
            has_nuggets |= bool(item.nuggets)
        return has_nuggets

    @property
    def was_read(self) -> bool:
        """Whether all records were read once without an error."""
        return self._counts is not None

    @property
    def counts(self) -> Counter[str]:
        """What the last complete reading tolerated, by codes of notes; reads all records if that was not done yet."""
        if self._counts is None:
            deque(self.entries(), maxlen=0)
        assert self._counts is not None
        return self._counts

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was tolerated, and choices among several fields."""
        tolerated = from_counts(self.counts)  # first, because reading adds to the notes on fields
        return (*self.records.notes, *self.fields.notes, *tolerated)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file as stored; for objects, of the items."""
        if self.records.digest is not None:
            return self.records.digest()
        digest = hashlib.sha256()
        for item in self:
            digest.update(json.dumps(_hashed(item)).encode() + b"\n")
        return digest.hexdigest()

    def _duplicated(self, query: str, first: int, where: str) -> InputError:
        problem = f"query id '{ids.show(query)}' is duplicated, first at {self.records.position(first)}"
        hint = "Each question has a different id: name the field that holds it "
        hint += "with fields={'query': ...} (--map query=...)."
        return InputError(problem, where=where, hint=hint)

    def _fields_of(self, record: Mapping[str, Any], where: str, counts: Counter[str]) -> dict[str, FieldValue]:
        """The fields of a record by role."""
        if is_trec_answer(record):
            record = from_trec(record, where)
        fields = self.fields.find(record, where)
        if self.records.cells:
            return _from_cells(fields, where, counts)
        return fields

    def _query_id(self, known: Mapping[str, FieldValue], number: int, by_id: bool, counts: Counter[str]) -> str:
        """The question's id. Without an id, a question with ids is named by its text, one with texts by its number.

        Records of ids that are read as judgements and as a run are named by their texts, too.
        """
        field = known.get("query")
        if field is not None and not (self.records.cells and field.value == ""):
            return ids.as_text(field.value, "query id", field.path)

        text = _question(known.get("question"))
        if by_id and text:
            return ids.as_text(text, "query id", known["question"].path)

        counts["numbered-items"] += 1
        return str(number)

    def _read_record(
        self, record: Mapping[str, Any], where: str, number: int, counts: Counter[str], measured: bool
    ) -> ReadItem:
        fields = self._fields_of(record, where, counts)
        known = _with_values(fields, where)
        answerable = _answerable(known)
        by_id = _names_ids(known, answerable)
        query = self._query_id(known, number, by_id, counts)
        if by_id:
            return self._read_ids(record, known, query, answerable, where, counts)

        texts: Sequence[str] = ()
        retrieved: list[RetrievedText] | None = None
        failure = record.get(FAILED)
        if not absent(failure):
            texts = self._failed(failure, query, where, counts)
        elif "retrieved" in fields:
            value, path = fields["retrieved"]
            texts, retrieved = self._retrieved(value, f"{where}: {path}", counts, measured)
        elif not is_answer(known):
            raise self.fields.missing("retrieved", record, where)

        expects = ("references", "evidence", "nuggets", "sentences", "cited_ids")
        is_expected = any(role in fields for role in expects)
        if measured and answerable is not False and not is_expected:
            raise self.fields.missing("references", record, where)

        references: tuple[Reference, ...] = ()
        if "references" in known:
            references = text_values.references(*known["references"], counts)
        evidence = None
        if "evidence" in known:
            evidence = known["evidence"].value
        answers: dict[str, Any] = {}
        for role in ("reference", "response"):
            if role in known:
                answers[role] = text_values.answer(known[role].value, role, known[role].path)

        if answerable is False:
            references, evidence = _without_answer(references, evidence, counts)
            answers.pop("reference", None)
        elif not references and not is_answer(known) and (evidence is None or evidence == []):
            counts["no-references"] += 1

        nuggets: Sequence[Nugget] = ()
        if "nuggets" in known:
            nuggets = text_values.nuggets(*known["nuggets"], len(texts), counts)
        spans, sources, source_texts = _sources(known.get("sources"), retrieved, texts)
        scores = _scores(known.get("scores"), retrieved, texts)
        item = TextItem(
            query,
            texts,
            references,
            _question(known.get("question")),
            spans,
            where=where,
            latency=_latency(known),
            about=_about(known),
            answerable=answerable,
            confidence=_first_score(scores),
            nuggets=nuggets,
            sentences=_sentences(known),
            correct=_correct(known.get("correct")),
            **answers,
        )

        text_ids = _ids(known.get("retrieved_ids"), retrieved, texts)
        expected_ids = None
        if "expected_ids" in known:
            expected_ids = tuple(text_values.graded_ids(*known["expected_ids"]))
        return ReadItem(item, text_ids, sources, source_texts, evidence, scores, expected_ids=expected_ids)

    def _read_ids(
        self,
        record: Mapping[str, Any],
        known: Mapping[str, FieldValue],
        query: str,
        answerable: bool | None,
        where: str,
        counts: Counter[str],
    ) -> ReadItem:
        """A record with only ids of what is expected: the item has ids instead of texts."""
        retrieved_ids: Sequence[str]
        retrieved: list[RetrievedText] | None = None
        failure = record.get(FAILED)
        if not absent(failure):
            retrieved_ids = self._failed(failure, query, where, counts)
        elif "retrieved_ids" in known:
            retrieved_ids = text_values.document_ids(*known["retrieved_ids"])
        elif "retrieved" in known:
            value, path = known["retrieved"]
            entries = text_values.listed(value, "texts", path)
            if _holds_ids(known, entries):
                entries = [{"id": entry, "text": ""} for entry in entries]
            retrieved = [text_values.retrieved_text(entry, f"{path}[{i}]") for i, entry in enumerate(entries)]
            retrieved_ids = tuple([text.id for text in retrieved if text.id is not None])
            if len(retrieved_ids) < len(retrieved):
                raise self.fields.missing("retrieved_ids", record, where)
        elif _names_citations(known):
            retrieved_ids = ()
        else:
            raise self.fields.missing("retrieved_ids", record, where)

        has_retrieved = "retrieved_ids" in known or "retrieved" in known
        if not retrieved_ids and has_retrieved:
            counts["nothing-retrieved"] += 1

        scores = _scores(known.get("scores"), retrieved, retrieved_ids)
        grades: Mapping[str, float] = {}
        if "expected_ids" in known and id_groups.has_groups(known["expected_ids"].value):
            retrieved_ids, scores = _each_once(retrieved_ids, scores, counts)
            references = id_groups.references_of(id_groups.id_groups(*known["expected_ids"]), retrieved_ids)
        else:
            if "expected_ids" in known:
                grades = text_values.graded_ids(*known["expected_ids"])
            references = tuple(Reference((name,), grade) for name, grade in grades.items())

        if answerable is False:
            references, _ = _without_answer(references, None, counts)
        elif not references:
            counts["no-references"] += 1

        item = TextItem(
            query,
            retrieved_ids,
            references,
            _question(known.get("question")),
            where=where,
            latency=_latency(known),
            about=_about(known),
            answerable=answerable,
            confidence=_first_score(scores),
            sentences=_sentences(known),
            correct=_correct(known.get("correct")),
        )
        text_ids = None
        if retrieved_ids is not _SKIPPED and has_retrieved:
            text_ids = tuple(retrieved_ids)
        return ReadItem(item, text_ids, scores=scores, by_id=True, expected_ids=tuple(grades))

    def _retrieved(
        self, value: Any, where: str, counts: Counter[str], measured: bool
    ) -> tuple[tuple[str, ...], list[RetrievedText] | None]:
        """The texts, and their other data if the value has more than texts."""
        entries = text_values.listed(value, "texts", where)
        if not entries:
            counts["nothing-retrieved"] += 1

        if all(type(entry) is str for entry in entries):
            texts = tuple(entries)
            retrieved = None
        else:
            retrieved = [text_values.retrieved_text(entry, f"{where}[{i}]") for i, entry in enumerate(entries)]
            for i, text in enumerate(retrieved):
                if text.text is None and text.id is not None and not measured:
                    retrieved[i] = text._replace(text=text.id)
                elif text.text is None:
                    retrieved[i] = self._without_text(text, entries[i], f"{where}[{i}]", counts)
            texts = tuple([text.text or "" for text in retrieved])
            scores = [text.score for text in retrieved if text.score is not None]
            if len(scores) == len(retrieved) and any(b > a for a, b in itertools.pairwise(scores)):
                counts["scores-not-descending"] += 1

        empty = sum([not text or text.isspace() for text in texts])
        if empty:
            counts["empty-retrieved"] += empty

        return texts, retrieved

    def _without_text(self, text: RetrievedText, entry: Any, where: str, counts: Counter[str]) -> RetrievedText:
        if isinstance(entry, Mapping) and not text_values.has_text_field(entry):
            hint = "Ids are evaluated beside expected_ids, or by goldrank.evaluate(qrels, run)."
            raise InputError(f"has an id, '{ids.show(text.id or '')}', and no text", where=where, hint=hint)
        if self.nulls == "error":
            hint = "A text that could not be fetched is not a result: leave it out, or say "
            hint += "read_items(..., nulls='empty')."
            raise InputError(f"is {text_values.shown(entry)}, not a text", where=where, hint=hint)
        counts["null-retrieved"] += 1
        return text._replace(text="")

    def _failed(self, failure: Any, query: str, where: str, counts: Counter[str]) -> Sequence[str]:
        if self.failures == "skip":
            counts["failed-left-out"] += 1
            return _SKIPPED

        if self.failures == "zero":
            counts["failed-as-nothing"] += 1
            return ()

        reason = str(failure)
        if isinstance(failure, Mapping):
            reason = f"{failure.get('type')}: {failure.get('text')}"
        problem = f"retrieving for query '{ids.show(query)}' failed: {ids.show(reason, 200)}"
        hint = "A question that was not asked has no score. Retrieve again, or say read_items(..., failures='skip') to "
        hint += "leave such questions out, failures='zero' to count them as if nothing was found."
        raise InputError(problem, where=where, hint=hint)

    def _check_item(self, item: TextItem, where: str, counts: Counter[str]) -> ReadItem:
        """Check a `TextItem` that a user made."""
        if not isinstance(item.query, str) or not item.query:
            raise InputError(f"the query id is {text_values.shown(item.query)}", where=where, hint="Ids are text.")

        texts, _ = self._retrieved(item.retrieved, f"{where}: $.retrieved", counts, True)
        references = text_values.references(list(item.references), f"{where}: $.references", counts)
        evidence = tuple(item.evidence)
        if not all(isinstance(piece, EvidencePlaces) for piece in evidence):
            raise InputError("evidence of a TextItem is of type EvidencePlaces", where=f"{where}: $.evidence")

        if item.spans is not None and len(item.spans) != len(texts):
            problem = f"has {len(item.spans):,} spans for {len(texts):,} retrieved texts"
            raise InputError(problem, where=f"{where}: $.spans")

        if item.answerable is False:
            references, _ = _without_answer(references, evidence, counts)
            evidence = ()
        elif not references and not evidence:
            counts["no-references"] += 1

        where = item.where or where
        checked = replace(item, retrieved=texts, references=references, evidence=evidence, where=where)
        return ReadItem(checked, evidence=evidence)


def _mixed_items(entry: ReadItem, where: str) -> InputError:
    """The error for a record with ids after records with texts, or the reverse."""
    problem = "has texts, and records before it have ids alone"
    if entry.by_id:
        problem = "has ids alone, and records before it have texts"
    hint = "Either all questions are evaluated by texts or all by ids: split the file."
    return InputError(problem, where=where, hint=hint, code="mixed-items")


def _hashed(item: TextItem) -> list[Any]:
    """The values of an item that its digest includes."""
    evidence = [piece.alternatives for piece in item.evidence]
    spans = item.spans and list(item.spans)
    parts: list[Any] = [item.query, item.question, list(item.retrieved), list(item.references), spans, evidence]
    optional = (item.answerable, item.confidence, item.reference, item.response)
    return parts + [part for part in optional if part not in (None, "")]


def plain_record(item: TextItem) -> dict[str, Any]:
    """An item as a record of plain values."""
    record: dict[str, Any] = {"query": item.query, "question": item.question, "retrieved": list(item.retrieved)}
    return record | expected(item)


def expected(item: TextItem) -> dict[str, Any]:
    """The references and the evidence of an item as plain values, as far as it has any."""
    values: dict[str, Any] = {}
    if item.references:
        values["references"] = [
            {"any_of": list(reference.texts), "grade": reference.grade} for reference in item.references
        ]
    if item.evidence:
        values["evidence"] = list(map(_plain_evidence, item.evidence))
    return values


def _plain_evidence(evidence: EvidencePlaces) -> dict[str, Any]:
    alternatives = []
    for spans in evidence.alternatives:
        alternatives.append({"all_of": [span._asdict() for span in spans]})
    return {"any_of": alternatives}


def _with_values(fields: Mapping[str, FieldValue], where: str) -> dict[str, FieldValue]:
    """The fields that have a value, with their positions."""
    return {role: FieldValue(value, f"{where}: {path}") for role, (value, path) in fields.items() if not absent(value)}


def _names_ids(known: Mapping[str, FieldValue], answerable: bool | None) -> bool:
    """Whether a record has only ids of what is expected."""
    if {"references", "evidence"} & known.keys():
        return False
    if "expected_ids" in known:
        return True
    return answerable is False and "retrieved_ids" in known and "retrieved" not in known


def _names_citations(known: Mapping[str, FieldValue]) -> bool:
    """Whether a record has the citations of its answer."""
    return "sentences" in known or "cited_ids" in known


def is_answer(known: Mapping[str, FieldValue]) -> bool:
    """Whether a record is about an answer, so that it needs no retrieved texts and no references."""
    return "nuggets" in known or _names_citations(known)


def _sentences(known: Mapping[str, FieldValue]) -> tuple[CitedSentence, ...] | None:
    """The sentences of an answer; cited ids without sentences belong to one sentence."""
    if "sentences" in known:
        return cited_sentences(*known["sentences"])
    if "cited_ids" in known:
        return (CitedSentence("", text_values.document_ids(*known["cited_ids"])),)
    return None


def _holds_ids(known: Mapping[str, FieldValue], entries: Sequence[Any]) -> bool:
    """Whether plain entries of `retrieved` are ids, which is certain if the expected ids have groups."""
    is_plain = all(isinstance(entry, str | int) for entry in entries)
    return is_plain and id_groups.has_groups(known["expected_ids"].value)


def _each_once(
    retrieved: Sequence[str], scores: Sequence[float | None] | None, counts: Counter[str]
) -> tuple[Sequence[str], Any]:
    """Distinct ids, by their first occurrence, and their scores."""
    first = {doc: i for i, doc in reversed(list(enumerate(retrieved)))}
    indices = sorted(first.values())
    if len(indices) == len(retrieved):
        return retrieved, scores

    counts["repeated-documents"] += len(retrieved) - len(indices)
    distinct = tuple(retrieved[i] for i in indices)
    if scores is None:
        return distinct, None
    return distinct, tuple(scores[i] for i in indices)


_SKIPPED: Sequence[str] = ("",)
"""Marks the texts of an item that is left out; compared by identity."""


def _one_for_each(field: FieldValue, texts: Sequence[str], noun: str) -> Sequence[Any]:
    """The entries of a field that must have one entry for each retrieved text."""
    entries = text_values.listed(field.value, f"{noun}s", field.path)
    if len(entries) != len(texts):
        problem = f"has {len(entries):,} {noun}s for {len(texts):,} retrieved texts"
        hint = f"Each retrieved text has one {noun} (or null), in the same order."
        raise InputError(problem, where=field.path, hint=hint)
    return entries


def _ids(
    field: FieldValue | None, retrieved: list[RetrievedText] | None, texts: Sequence[str]
) -> tuple[str | None, ...] | None:
    """The ids of the retrieved texts; None if they have no ids."""
    if field is not None and texts:
        text_ids: list[str | None] = []
        for i, entry in enumerate(_one_for_each(field, texts, "id")):
            if absent(entry):
                text_ids.append(None)
            else:
                text_ids.append(ids.as_text(entry, "document id", f"{field.path}[{i}]"))
        return tuple(text_ids)

    if retrieved is None or all(text.id is None for text in retrieved):
        return None
    return tuple([text.id for text in retrieved])


def _sources(
    field: FieldValue | None, retrieved: list[RetrievedText] | None, texts: Sequence[str]
) -> tuple[tuple[Span | None, ...] | None, tuple[str | None, ...] | None, Mapping[str, str] | None]:
    """The positions of the retrieved texts, the names of their sources, and the texts of sources."""
    source_texts: Mapping[str, str] | None = None
    if field is not None and isinstance(field.value, Mapping):
        source_texts = field.value
        wrong = next((name for name, text in source_texts.items() if not isinstance(text, str)), None)
        if wrong is not None:
            raise InputError(f"the text of source {wrong!r:.40} is not a text", where=field.path)
    elif field is not None:
        entries = _one_for_each(field, texts, "source")
        pairs = enumerate(zip(entries, texts, strict=True))
        retrieved = [_source(entry, text, f"{field.path}[{i}]") for i, (entry, text) in pairs]

    if retrieved is None:
        return None, None, source_texts

    spans = None
    if any(text.span for text in retrieved):
        spans = tuple([text.span for text in retrieved])
    sources = None
    if any(text.source is not None for text in retrieved):
        sources = tuple([text.source for text in retrieved])
    return spans, sources, source_texts


def _from_cells(fields: Mapping[str, FieldValue], where: str, counts: Counter[str]) -> dict[str, FieldValue]:
    """Fields of a text table with the lists in their cells."""
    parsed = dict(fields)
    lists = (
        "retrieved",
        "references",
        "retrieved_ids",
        "expected_ids",
        "evidence",
        "sources",
        "scores",
        "nuggets",
        "sentences",
        "cited_ids",
    )
    for role in lists:
        if role in parsed and isinstance(parsed[role].value, str):
            value, path = parsed[role]
            parsed[role] = FieldValue(text_values.from_cell(value, f"{where}: {path}", counts), path)

    for role in ("latency", "latency_ms", "answerable", "no_answer", "correct"):
        if role in parsed and parsed[role].value == "":
            del parsed[role]

    return parsed


def _answerable(known: Mapping[str, FieldValue]) -> bool | None:
    """Whether a question has an answer; None if its record does not say it."""
    answerable = no_answer = None
    if "answerable" in known:
        answerable = text_values.yes_or_no(*known["answerable"])
    if "no_answer" in known:
        no_answer = text_values.yes_or_no(*known["no_answer"])

    if answerable is not None and answerable == no_answer:
        problem = f"answerable is {answerable} and no_answer is {no_answer}"
        raise InputError(problem, where=known["answerable"].path, hint="Leave one of them out.")
    if no_answer is not None:
        return not no_answer
    return answerable


OUTCOMES = {"right": True, "correct": True, "pass": True, "wrong": False, "incorrect": False, "fail": False}
"""Words for right and wrong answers, beside true and false."""


def _correct(field: FieldValue | None) -> bool | None:
    """Whether the answer is right; None if its record does not say it."""
    if field is None:
        return None
    if isinstance(field.value, str) and field.value.strip().casefold() in OUTCOMES:
        return OUTCOMES[field.value.strip().casefold()]
    try:
        return text_values.yes_or_no(*field)
    except InputError as error:
        hint = "It says whether the answer is right: true or false. If it is something else, fields={'correct': None}."
        raise InputError(error.what, where=field.path, hint=hint) from None


def _without_answer(references: tuple[Reference, ...], evidence: Any, counts: Counter[str]) -> tuple[tuple[()], None]:
    """Remove the references and evidence of a question without an answer, and count the question."""
    counts["unanswerable"] += 1
    if references or evidence:
        counts["unanswerable-references"] += 1
    return (), None


def _scores(
    field: FieldValue | None, retrieved: list[RetrievedText] | None, texts: Sequence[str]
) -> tuple[float | None, ...] | None:
    """The scores of the retrieved texts; None if they have no scores."""
    if field is not None and texts and not isinstance(field.value, Mapping):  # scores by name have another meaning
        entries = _one_for_each(field, texts, "score")
        return tuple([_score(entry, f"{field.path}[{i}]") for i, entry in enumerate(entries)])
    if retrieved is None or all(text.score is None for text in retrieved):
        return None
    return tuple([text.score for text in retrieved])


def _score(value: Any, where: str) -> float | None:
    if absent(value):
        return None
    if isinstance(value, bool) or not isinstance(value, text_values.NUMBER):
        hint = "If it is something else, say fields={'scores': None}."
        raise InputError(f"the score is {text_values.shown(value)}, not a number", where=where, hint=hint)
    return float(value)


def _first_score(scores: Sequence[float | None] | None) -> float | None:
    if scores:
        return scores[0]
    return None


def _question(field: FieldValue | None) -> str:
    if field is None:
        return ""
    if not isinstance(field.value, str):
        hint = "Name the field that holds it with fields={'question': ...} (--map question=...)."
        raise InputError(f"the question is {text_values.shown(field.value)}, not text", where=field.path, hint=hint)
    return field.value


def _about(known: Mapping[str, FieldValue]) -> dict[str, Any]:
    """Tokens, cost, conversation and turn, as far as the record says them."""
    return about_query({name: known[name].value for name in BESIDE if name in known})


def _latency(known: Mapping[str, FieldValue]) -> float | None:
    """Seconds, from `latency` in seconds or `latency_ms` in milliseconds."""
    if "latency_ms" in known:
        return _duration(known["latency_ms"], "milliseconds") / 1_000
    if "latency" in known:
        return _duration(known["latency"], "seconds")
    return None


def _duration(field: FieldValue, unit: str) -> float:
    value = field.value
    number = -1.0
    if isinstance(value, str | text_values.NUMBER) and not isinstance(value, bool):
        with suppress(ValueError):
            number = float(value)
    if not math.isfinite(number) or number < 0:
        problem = f"the latency is {text_values.shown(value)}, not a number of {unit}"
        raise InputError(problem, where=field.path, hint="If it is something else, say fields={'latency': None}.")
    return number


def _source(entry: Any, text: str, where: str) -> RetrievedText:
    """A retrieved text with its source: a name, or an object that may have the position of the text in the source."""
    if absent(entry):
        return RetrievedText(text)
    if isinstance(entry, str):
        return RetrievedText(text, source=entry)
    if not isinstance(entry, Mapping):
        raise InputError(f"is {text_values.shown(entry)}, not a source", where=where, hint=text_values.EVIDENCE_HINT)
    return text_values.retrieved_text({**entry, "text": text}, where)
