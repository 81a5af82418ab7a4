"""Records of questions -> `TextItem`s: the retrieved texts and references that RAG tools write."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, one_of
from goldrank.base.notes import Note, from_counts
from goldrank.data.text_item import CitedSentence, EvidencePlaces, Reference, Span, TextItem
from goldrank.io.objects.field_values import absent
from goldrank.io.questions import id_groups, text_values
from goldrank.io.questions.cited_answers import cited_sentences, from_trec, is_trec_answer
from goldrank.io.questions.text_values import RetrievedText
from goldrank.io.records import FieldValue, ItemFields, Records, as_mapping, says_places

NULLS = ("error", "empty")
"""What a retrieved text that is null means."""
FAILURES = ("error", "zero", "skip")
"""What becomes of questions on which the retriever failed."""
FAILED = "retrieval_error"
"""The field of a record whose question could not be retrieved for: {"type": ..., "text": ...}."""


class ReadItem(NamedTuple):
    """An item and what its record says beside it, as far as it says anything."""

    item: TextItem
    ids: tuple[str | None, ...] | None = None
    """The ids of the retrieved texts."""
    sources: tuple[str | None, ...] | None = None
    """The names of the sources that they stand in."""
    source_texts: Mapping[str, str] | None = None
    """The texts of sources."""
    evidence: Any = None
    """The evidence as it was given, quotations and all."""
    scores: tuple[float | None, ...] | None = None
    """The scores of the retrieved texts."""
    by_id: bool = False
    """Whether the item's texts and references are ids, since its record has no texts to compare."""

    expected_ids: tuple[str, ...] | None = None
    """The ids of what is relevant, where the record has them beside texts."""

    @property
    def has_evidence(self) -> bool:
        """Whether the question names its evidence."""
        return says_places(self.evidence)


class ReadQuestion(NamedTuple):
    """A question, and the record that it stands in."""

    query: str
    question: str
    record: Mapping[str, Any]
    where: str

    @property
    def failed(self) -> bool:
        """Whether nothing could be retrieved for it."""
        return not absent(self.record.get(FAILED))


class ItemReader:
    """Reads records as items, anew each time: files stay on the disk."""

    def __init__(self, records: Records, fields: ItemFields, *, nulls: str = "error", failures: str = "error") -> None:
        self.records = records
        self.fields = fields
        self.nulls = one_of(nulls, NULLS, "nulls")
        self.failures = one_of(failures, FAILURES, "failures")
        self._counts: Counter[str] | None = None

    @property
    def name(self) -> str:
        """A short name: the file's, or that of the data."""
        return self.records.label

    def __iter__(self) -> Iterator[TextItem]:
        return (entry.item for entry in self.entries())

    def questions(self) -> Iterator[ReadQuestion]:
        """The records with their questions, whatever else they lack; those of failures that are skipped, too."""
        seen: dict[str, int] = {}
        for number, entry in self.records.rows(Counter()):
            where = self.records.place(number)
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
        """Items with what else their records say.

        If they are not `measured` but looked at, nothing has to be expected, and an id may stand for its text.
        """
        counts: Counter[str] = Counter()
        seen: dict[str, int] = {}
        by_id: bool | None = None
        place = self.records.place
        for number, record in self.records.rows(counts):
            where = place(number)
            if isinstance(record, TextItem):
                given = self._check_item(record, where, counts)
            else:
                given = self._read_record(as_mapping(record, where), where, len(seen) + 1, counts, measured)
            query = given.item.query
            if query in seen:
                raise self._duplicated(query, seen[query], where)
            seen[query] = number
            if by_id is not None and by_id != given.by_id:
                if given.by_id:
                    what = "has ids alone"
                else:
                    what = "has texts"
                raise InputError(
                    f"{what}, and records before it have {'texts' if given.by_id else 'ids alone'}",
                    where=where,
                    hint="Either all questions are evaluated by texts or all by ids: split the file.",
                    code="mixed-items",
                )
            by_id = given.by_id
            if given.item.retrieved is not _SKIPPED:
                yield given
        if not seen:
            what = "no items"
            raise InputError(what, where=self.records.name, hint="Did the system return anything?", code="empty-input")
        if measured:
            self._counts = counts

    @property
    def by_id(self) -> bool:
        """Whether ids are compared: records name what is expected by id alone."""
        return next((given.by_id for given in self.entries()), False)

    @cached_property
    def has_evidence(self) -> bool:
        """Whether any question names its evidence by place: everything then goes by that."""
        return any(given.has_evidence for given in self.entries())

    @cached_property
    def has_nuggets_alone(self) -> bool:
        """Whether questions have nuggets, and none has references."""
        has_nuggets = False
        for item in self:
            if item.references:
                return False
            has_nuggets |= bool(item.nuggets)
        return has_nuggets

    @property
    def was_read(self) -> bool:
        """Whether everything was read once, without an error."""
        return self._counts is not None

    @property
    def counts(self) -> Counter[str]:
        """What the last whole reading tolerated, by codes of notes. Reads everything if nothing did so far."""
        if self._counts is None:
            deque(self.entries(), maxlen=0)
        assert self._counts is not None
        return self._counts

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was tolerated, and what was chosen where there was a choice."""
        tolerated = from_counts(self.counts)  # reading adds to the notes on fields
        return (*self.records.notes, *self.fields.notes, *tolerated)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file as stored; for objects, of the items."""
        if self.records.digest is not None:
            return self.records.digest()
        whole = hashlib.sha256()
        for item in self:
            whole.update(json.dumps(_hashed(item)).encode() + b"\n")
        return whole.hexdigest()

    def _duplicated(self, query: str, first: int, where: str) -> InputError:
        what = f"query id '{ids.show(query)}' is duplicated, first at {self.records.place(first)}"
        hint = "Each question has an id of its own: name the field that holds it "
        hint += "with fields={'query': ...} (--map query=...)."
        return InputError(what, where=where, hint=hint)

    def _fields_of(self, record: Mapping[str, Any], where: str, counts: Counter[str]) -> dict[str, FieldValue]:
        """The fields of a record by goldrank's names."""
        if is_trec_answer(record):
            record = from_trec(record, where)
        fields = self.fields.find(record, where)
        if self.records.cells:
            return _from_cells(fields, where, counts)
        return fields

    def _query_id(self, known: Mapping[str, FieldValue], number: int, by_id: bool, counts: Counter[str]) -> str:
        """The question's id. Without one, a question with ids is known by its text, and one with texts by its number.

        The first is how records of ids are read as judgements and as a run, too.
        """
        given = known.get("query")
        if given is not None and not (self.records.cells and given.value == ""):
            return ids.as_text(given.value, "query id", given.path)

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

        retrieved: list[RetrievedText] | None = None
        texts: Sequence[str]
        if not absent(failure := record.get(FAILED)):
            texts = self._failed(failure, query, where, counts)
        elif "retrieved" not in fields and ("nuggets" in known or _names_citations(known)):
            texts = ()
        elif "retrieved" not in fields:
            raise self.fields.missing("retrieved", record, where)
        else:
            value, path = fields["retrieved"]
            texts, retrieved = self._retrieved(value, f"{where}: {path}", counts, measured)

        expects = ("references", "evidence", "nuggets", "sentences", "cited_ids")
        is_expected = any(role in fields for role in expects)
        if measured and answerable is not False and not is_expected:
            raise self.fields.missing("references", record, where)

        wanted: tuple[Reference, ...] = ()
        if "references" in known:
            wanted = text_values.references(*known["references"], counts)

        if "evidence" in known:
            evidence = known["evidence"].value
        else:
            evidence = None

        answers: dict[str, Any] = {
            role: text_values.answer(known[role].value, role, known[role].path)
            for role in ("reference", "response")
            if role in known
        }
        if answerable is False:
            wanted, evidence = _without_answer(wanted, evidence, counts)
            answers.pop("reference", None)
        elif not wanted and not is_answer(known) and (evidence is None or evidence == []):
            counts["no-references"] += 1

        spans, sources, source_texts = _sources(known.get("sources"), retrieved, texts)
        scores = _scores(known.get("scores"), retrieved, texts)
        question, latency = _question(known.get("question")), _latency(known)
        item = TextItem(
            query,
            texts,
            wanted,
            question,
            spans,
            where=where,
            latency=latency,
            answerable=answerable,
            confidence=scores[0] if scores else None,
            nuggets=text_values.nuggets(*known["nuggets"], len(texts), counts) if "nuggets" in known else (),
            sentences=_sentences(known),
            correct=_correct(known.get("correct")),
            **answers,
        )
        text_ids = _ids(known.get("retrieved_ids"), retrieved, texts)
        if "expected_ids" in known:
            expected = tuple(text_values.graded_ids(*known["expected_ids"]))
        else:
            expected = None

        return ReadItem(item, text_ids, sources, source_texts, evidence, scores, expected_ids=expected)

    def _read_ids(
        self,
        record: Mapping[str, Any],
        known: Mapping[str, FieldValue],
        query: str,
        answerable: bool | None,
        where: str,
        counts: Counter[str],
    ) -> ReadItem:
        """A record that says by ids alone what is expected: ids take the place of texts."""
        retrieved_ids: Sequence[str]
        retrieved: list[RetrievedText] | None = None
        if not absent(failure := record.get(FAILED)):
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
        expected: Mapping[str, float] = {}
        if "expected_ids" in known and id_groups.has_groups(known["expected_ids"].value):
            retrieved_ids, scores = _each_once(retrieved_ids, scores, counts)
            wanted = id_groups.references_of(id_groups.id_groups(*known["expected_ids"]), retrieved_ids)
        else:
            if "expected_ids" in known:
                expected = text_values.graded_ids(*known["expected_ids"])
            wanted = tuple(Reference((name,), grade) for name, grade in expected.items())

        if answerable is False:
            wanted, _ = _without_answer(wanted, None, counts)
        elif not wanted:
            counts["no-references"] += 1

        question, latency = _question(known.get("question")), _latency(known)
        more: dict[str, Any] = {
            "answerable": answerable,
            "confidence": scores[0] if scores else None,
            "sentences": _sentences(known),
            "correct": _correct(known.get("correct")),
        }
        item = TextItem(query, retrieved_ids, wanted, question, where=where, latency=latency, **more)
        if retrieved_ids is _SKIPPED or not has_retrieved:
            returned = None
        else:
            returned = tuple(retrieved_ids)

        return ReadItem(item, returned, scores=scores, by_id=True, expected_ids=tuple(expected))

    def _retrieved(
        self, value: Any, at: str, counts: Counter[str], measured: bool
    ) -> tuple[tuple[str, ...], list[RetrievedText] | None]:
        """The texts, and what else is known of them if they are more than texts."""
        entries = text_values.listed(value, "texts", at)
        if not entries:
            counts["nothing-retrieved"] += 1

        if all(type(entry) is str for entry in entries):
            texts = tuple(entries)
            retrieved = None
        else:
            retrieved = [text_values.retrieved_text(entry, f"{at}[{i}]") for i, entry in enumerate(entries)]
            for i, text in enumerate(retrieved):
                if text.text is None and text.id is not None and not measured:
                    retrieved[i] = text._replace(text=text.id)
                elif text.text is None:
                    retrieved[i] = self._without_text(text, entries[i], f"{at}[{i}]", counts)
            texts = tuple([text.text or "" for text in retrieved])
            scores = [text.score for text in retrieved if text.score is not None]
            if len(scores) == len(retrieved) and any(b > a for a, b in itertools.pairwise(scores)):
                counts["scores-not-descending"] += 1

        empty = sum([not text or text.isspace() for text in texts])
        if empty:
            counts["empty-retrieved"] += empty

        return texts, retrieved

    def _without_text(self, text: RetrievedText, entry: Any, at: str, counts: Counter[str]) -> RetrievedText:
        if isinstance(entry, Mapping) and not text_values.has_text_field(entry):
            hint = "Ids are evaluated beside expected_ids, or by goldrank.evaluate(qrels, run)."
            raise InputError(f"has an id, '{ids.show(text.id or '')}', and no text", where=at, hint=hint)
        if self.nulls == "error":
            hint = "A text that could not be fetched is no result: leave it out, or say read_items(..., nulls='empty')."
            raise InputError(f"is {text_values.shown(entry)}, not a text", where=at, hint=hint)
        counts["null-retrieved"] += 1
        return text._replace(text="")

    def _failed(self, failure: Any, query: str, where: str, counts: Counter[str]) -> Sequence[str]:
        if self.failures == "skip":
            counts["failed-left-out"] += 1
            return _SKIPPED

        if self.failures == "zero":
            counts["failed-as-nothing"] += 1
            return ()

        if isinstance(failure, Mapping):
            reason = f"{failure.get('type')}: {failure.get('text')}"
        else:
            reason = str(failure)

        what = f"retrieving for query '{ids.show(query)}' failed: {ids.show(reason, 200)}"
        hint = "A question that was not asked has no score. Retrieve again, or say read_items(..., failures='skip') to "
        hint += "leave such questions out, failures='zero' to count them as if nothing was found."
        raise InputError(what, where=where, hint=hint)

    def _check_item(self, item: TextItem, where: str, counts: Counter[str]) -> ReadItem:
        """A `TextItem` of somebody's own."""
        if not isinstance(item.query, str) or not item.query:
            raise InputError(f"the query id is {text_values.shown(item.query)}", where=where, hint="Ids are text.")

        texts, _ = self._retrieved(item.retrieved, f"{where}: $.retrieved", counts, True)
        wanted = text_values.references(list(item.references), f"{where}: $.references", counts)
        evidence = tuple(item.evidence)
        if not all(isinstance(piece, EvidencePlaces) for piece in evidence):
            raise InputError("evidence of a TextItem is of type EvidencePlaces", where=f"{where}: $.evidence")

        if item.spans is not None and len(item.spans) != len(texts):
            what = f"has {len(item.spans):,} spans for {len(texts):,} retrieved texts"
            raise InputError(what, where=f"{where}: $.spans")

        if item.answerable is False:
            wanted, _ = _without_answer(wanted, evidence, counts)
            evidence = ()
        elif not wanted and not evidence:
            counts["no-references"] += 1

        where = item.where or where
        checked = replace(item, retrieved=texts, references=wanted, evidence=evidence, where=where)
        return ReadItem(checked, evidence=evidence)


def _hashed(item: TextItem) -> list[Any]:
    """What the digest of an item is made of."""
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
    references = [{"any_of": list(reference.texts), "grade": reference.grade} for reference in item.references]
    evidence = [
        {"any_of": [{"all_of": [span._asdict() for span in spans]} for spans in piece.alternatives]}
        for piece in item.evidence
    ]
    return {key: value for key, value in (("references", references), ("evidence", evidence)) if value}


def _with_values(fields: Mapping[str, FieldValue], where: str) -> dict[str, FieldValue]:
    """The fields that hold anything, with their places."""
    return {role: FieldValue(value, f"{where}: {path}") for role, (value, path) in fields.items() if not absent(value)}


def _names_ids(known: Mapping[str, FieldValue], answerable: bool | None) -> bool:
    """Whether a record says by ids alone what is expected."""
    if {"references", "evidence"} & known.keys():
        return False
    if "expected_ids" in known:
        return True
    return answerable is False and "retrieved_ids" in known and "retrieved" not in known


def _names_citations(known: Mapping[str, FieldValue]) -> bool:
    """Whether a record says what its answer cites."""
    return "sentences" in known or "cited_ids" in known


def is_answer(known: Mapping[str, FieldValue]) -> bool:
    """Whether a record is of an answer, for which nothing need be expected of texts."""
    return "nuggets" in known or _names_citations(known)


def _sentences(known: Mapping[str, FieldValue]) -> tuple[CitedSentence, ...] | None:
    """The sentences of an answer; ids that it cites, without any, are those of one sentence."""
    if "sentences" in known:
        return cited_sentences(*known["sentences"])
    if "cited_ids" in known:
        return (CitedSentence("", text_values.document_ids(*known["cited_ids"])),)
    return None


def _holds_ids(known: Mapping[str, FieldValue], entries: Sequence[Any]) -> bool:
    """Whether plain entries of `retrieved` are ids: beside `expected` with groups they can be nothing else."""
    is_plain = all(isinstance(entry, str | int) for entry in entries)
    return is_plain and id_groups.has_groups(known["expected_ids"].value)


def _each_once(
    retrieved: Sequence[str], scores: Sequence[float | None] | None, counts: Counter[str]
) -> tuple[Sequence[str], Any]:
    """Ids without repetitions, the first place counts and ranks close up, and the scores of those kept."""
    first = {doc: i for i, doc in reversed(list(enumerate(retrieved)))}
    kept = sorted(first.values())
    if len(kept) == len(retrieved):
        return retrieved, scores
    counts["repeated-documents"] += len(retrieved) - len(kept)
    return tuple(retrieved[i] for i in kept), None if scores is None else tuple(scores[i] for i in kept)


_SKIPPED: Sequence[str] = ("",)
"""Stands for the texts of an item that is left out; known by identity."""


def _one_for_each(value: Any, texts: Sequence[str], what: str, at: str) -> Sequence[Any]:
    listed = text_values.listed(value, f"{what}s", at)
    if len(listed) != len(texts):
        hint = f"Each retrieved text has one {what} (or null), in the same order."
        raise InputError(f"has {len(listed):,} {what}s for {len(texts):,} retrieved texts", where=at, hint=hint)
    return listed


def _ids(
    given: FieldValue | None, retrieved: list[RetrievedText] | None, texts: Sequence[str]
) -> tuple[str | None, ...] | None:
    if given is not None and texts:
        entries = enumerate(_one_for_each(given.value, texts, "id", given.path))
        return tuple([None if absent(e) else ids.as_text(e, "document id", f"{given.path}[{i}]") for i, e in entries])
    if retrieved is None or all(text.id is None for text in retrieved):
        return None
    return tuple([text.id for text in retrieved])


def _sources(
    given: FieldValue | None, retrieved: list[RetrievedText] | None, texts: Sequence[str]
) -> tuple[tuple[Span | None, ...] | None, tuple[str | None, ...] | None, Mapping[str, str] | None]:
    """Places of the retrieved texts, names of their sources, and texts of sources."""
    source_texts: Mapping[str, str] | None = None
    if given is not None and isinstance(given.value, Mapping):
        source_texts = given.value
        wrong = next((name for name, text in source_texts.items() if not isinstance(text, str)), None)
        if wrong is not None:
            raise InputError(f"the text of source {wrong!r:.40} is no text", where=given.path)
    elif given is not None:
        entries = _one_for_each(given.value, texts, "source", given.path)
        pairs = enumerate(zip(entries, texts, strict=True))
        retrieved = [_source(entry, text, f"{given.path}[{i}]") for i, (entry, text) in pairs]

    if retrieved is None:
        return None, None, source_texts

    if any(text.span for text in retrieved):
        spans = tuple([text.span for text in retrieved])
    else:
        spans = None

    named = any(text.source is not None for text in retrieved)
    return spans, tuple([text.source for text in retrieved]) if named else None, source_texts


def _from_cells(fields: Mapping[str, FieldValue], where: str, counts: Counter[str]) -> dict[str, FieldValue]:
    """Fields of a text table with the lists that their cells hold."""
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
    """Whether a question has an answer, as far as its record says so."""
    said = {role: text_values.yes_or_no(*known[role]) for role in ("answerable", "no_answer") if role in known}
    meant = {role: yes if role == "answerable" else not yes for role, yes in said.items()}
    if len(set(meant.values())) > 1:
        what = f"answerable is {said['answerable']} and no_answer is {said['no_answer']}"
        raise InputError(what, where=known["answerable"].path, hint="Leave one of them out.")
    return next(iter(meant.values()), None)


OUTCOMES = {"right": True, "correct": True, "pass": True, "wrong": False, "incorrect": False, "fail": False}
"""What an answer may be called, beside true and false."""


def _correct(given: FieldValue | None) -> bool | None:
    """Whether the answer is right, as far as its record says so."""
    if given is None:
        return None
    if isinstance(given.value, str) and (word := given.value.strip().casefold()) in OUTCOMES:
        return OUTCOMES[word]
    try:
        return text_values.yes_or_no(*given)
    except InputError as error:
        hint = "It says whether the answer is right: true or false. If it is something else, fields={'correct': None}."
        raise InputError(error.what, where=given.path, hint=hint) from None


def _without_answer(wanted: tuple[Reference, ...], evidence: Any, counts: Counter[str]) -> tuple[tuple[()], None]:
    """What a question without an answer needs: nothing. What is given nevertheless is counted."""
    counts["unanswerable"] += 1
    if wanted or evidence:
        counts["unanswerable-references"] += 1
    return (), None


def _scores(
    given: FieldValue | None, retrieved: list[RetrievedText] | None, texts: Sequence[str]
) -> tuple[float | None, ...] | None:
    """The scores of the retrieved texts, as far as they have any."""
    if given is not None and texts and not isinstance(given.value, Mapping):  # scores by name are of something else
        listed = _one_for_each(given.value, texts, "score", given.path)
        return tuple([None if absent(score) else _score(score, given.path, i) for i, score in enumerate(listed)])
    if retrieved is None or all(text.score is None for text in retrieved):
        return None
    return tuple([text.score for text in retrieved])


def _score(given: Any, path: str, at: int) -> float:
    if isinstance(given, bool) or not isinstance(given, text_values.NUMBER):
        hint = "If it is something else, say fields={'scores': None}."
        raise InputError(f"the score is {text_values.shown(given)}, not a number", where=f"{path}[{at}]", hint=hint)
    return float(given)


def _question(given: FieldValue | None) -> str:
    if given is None:
        return ""
    if not isinstance(given.value, str):
        hint = "Name the field that holds it with fields={'question': ...} (--map question=...)."
        raise InputError(f"the question is {text_values.shown(given.value)}, not text", where=given.path, hint=hint)
    return given.value


def _latency(known: Mapping[str, FieldValue]) -> float | None:
    """Seconds: what `latency` says, or `latency_ms` in milliseconds."""
    if "latency_ms" in known:
        return _duration(known["latency_ms"], "milliseconds") / 1_000
    if "latency" in known:
        return _duration(known["latency"], "seconds")
    return None


def _duration(given: FieldValue, unit: str) -> float:
    value = given.value
    try:
        if isinstance(value, str | text_values.NUMBER) and not isinstance(value, bool):
            number = float(value)
        else:
            number = -1.0
    except ValueError:
        number = -1.0
    if not math.isfinite(number) or number < 0:
        what = f"the latency is {text_values.shown(value)}, not a number of {unit}"
        raise InputError(what, where=given.path, hint="If it is something else, say fields={'latency': None}.")
    return number


def _source(entry: Any, text: str, at: str) -> RetrievedText:
    """The source of a retrieved text, given beside it: a name, or an object that may say where in it the text is."""
    if absent(entry):
        return RetrievedText(text)
    if isinstance(entry, str):
        return RetrievedText(text, source=entry)
    if not isinstance(entry, Mapping):
        raise InputError(f"is {text_values.shown(entry)}, not a source", where=at, hint=text_values.EVIDENCE_HINT)
    return text_values.retrieved_text({**entry, "text": text}, at)
