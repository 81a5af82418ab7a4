"""Questions with retrieved texts and references -> `TextItem`s: what RAG tools write, in files, frames and objects."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

from goldrank import ids
from goldrank.data.texts import Evidence, Reference, Span, TextItem
from goldrank.errors import InputError, one_of
from goldrank.io import passages
from goldrank.io.fields import Fields, Found
from goldrank.io.passages import Passage, absent
from goldrank.io.records import FORMATS, Records, as_mapping, open_records

__all__ = ["FORMATS", "Given", "Items", "items"]

FAILED = "retrieval_error"
"""The field of a record whose question could not be retrieved for: {"type": ..., "text": ...}."""

SAYS = {
    "blank_lines": "blank lines",
    "not_utf8": "items with bytes that are not UTF-8",
    "single_cells": "cells that are no list, taken as one text",
    "numbered": "items without an id, numbered",
    "empty_retrieved": "retrieved texts that are empty, kept at their rank",
    "none_retrieved": "retrieved texts that are null, taken as empty",
    "nothing_retrieved": "items for which nothing was retrieved",
    "empty_references": "references that are empty, left out",
    "no_references": "items without references",
    "scores_not_descending": "items whose scores do not descend, taken in the order of their list",
    "failed_zero": "questions that failed, taken as if nothing was retrieved",
    "failed_skipped": "questions that failed, left out",
}
"""Counts of what was tolerated, in words; `items`, `retrieved` and `references` are counted as well."""


class Given(NamedTuple):
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


def items(
    data: Any,
    *,
    fields: Mapping[str, str | None] | None = None,
    format: str | None = None,
    none: str = "error",
    failures: str = "error",
) -> Items:
    """Items from whatever holds questions, retrieved texts and references.

    `fields` says where things are by dotted paths, {"retrieved": "outputs.docs"}; None says that a thing is not
    there. `none` says what a retrieved text that is null means: an "error" or an "empty" text. `failures` says
    what becomes of questions that `goldrank.retrieve` failed on: an "error", "zero" (nothing was retrieved) or
    "skip". Evidence is kept as it was given (`Given.evidence`): it is understood where sources are at hand.

    >>> found = items([{"question": "who?", "contexts": ["a man", "a plan"], "references": ["a plan"]}])
    >>> [(item.query, item.retrieved, item.references[0].texts) for item in found]
    [('1', ('a man', 'a plan'), ('a plan',))]
    """
    if isinstance(data, Items):
        return data
    one_of(none, ("error", "empty"), "none")
    one_of(failures, ("error", "zero", "skip"), "failures")
    chosen = Fields(fields)
    return Items(open_records(data, chosen, format), chosen, none, failures)


class Items:
    """Questions with texts, read anew each time that they are iterated over; files stay on the disk.

    >>> found = items({"question": ["who?"], "contexts": [["a man", ""]], "references": [["a man"]]})
    >>> found.counts["empty_retrieved"], len(list(found)), len(list(found))
    (1, 1, 1)
    """

    def __init__(
        self,
        records: Records,
        fields: Fields,
        none: str = "error",
        failures: str = "error",
    ) -> None:
        self._records = records
        self._fields = fields
        self._none = none
        self._failures = failures
        self._counts: Counter[str] | None = None

    @property
    def name(self) -> str:
        """A short name: the file's, or that of the data."""
        return self._records.label

    def __iter__(self) -> Iterator[TextItem]:
        return (given.item for given in self.given())

    def given(self) -> Iterator[Given]:
        """Items with what else their records say."""
        counts: Counter[str] = Counter()
        seen: dict[str, int] = {}
        place = self._records.place
        for number, record in self._records.rows(counts):
            where = place(number)
            counts["items"] += 1
            made = (
                self._checked(record, where, counts)
                if isinstance(record, TextItem)
                else self._made(as_mapping(record, where), where, counts)
            )
            query = made.item.query
            if query in seen:
                raise InputError(
                    f"query id '{ids.show(query)}' is there twice, first at {place(seen[query])}",
                    where=where,
                    hint="Each question has an id of its own: name the field that holds it "
                    "with fields={'query': ...} (--map query=...).",
                )
            seen[query] = number
            if made.item.retrieved is _SKIPPED:
                continue
            counts["retrieved"] += len(made.item.retrieved)
            counts["references"] += len(made.item.references)
            yield made
        if not counts["items"]:
            raise InputError("no items", where=self._records.name, hint="Did the system return anything?")
        self._counts = counts

    @property
    def counts(self) -> Counter[str]:
        """What was counted in the last whole reading: see `SAYS`. Reads everything if nothing did so far."""
        if self._counts is None:
            for _ in self.given():
                pass
        assert self._counts is not None
        return self._counts

    @property
    def notes(self) -> tuple[str, ...]:
        """What was tolerated, in words."""
        counts = self.counts
        told = (f"{words}: {counts[key]:,}" for key, words in SAYS.items() if counts[key])
        return (*self._records.notes, *self._fields.said, *told)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file as stored; for objects, of the items."""
        if self._records.digest is not None:
            return self._records.digest()
        found = hashlib.sha256()
        for item in self:
            evidence = [one.alternatives for one in item.evidence]
            spans = item.spans and list(item.spans)
            parts = [item.query, item.question, list(item.retrieved), list(item.references), spans, evidence]
            found.update(json.dumps(parts).encode() + b"\n")
        return found.hexdigest()

    def __repr__(self) -> str:
        return f"Items({self.name!r})"

    # One record.

    def _made(self, record: Mapping[str, Any], where: str, counts: Counter[str]) -> Given:
        found = self._fields.find(record, where)
        if self._records.cells:
            found = self._from_cells(found, where, counts)
        query = self._query(found, where, counts)
        if not absent(failure := record.get(FAILED)):
            texts: Sequence[str] = self._failed(failure, query, where, counts)
            retrieved = None
        else:
            if "retrieved" not in found:
                raise self._fields.missing("retrieved", record, where)
            texts, retrieved = self._retrieved(found["retrieved"], where, counts)
        if "references" not in found and "evidence" not in found:
            raise self._fields.missing("references", record, where)
        wanted: tuple[Reference, ...] = ()
        if "references" in found:
            value, path = found["references"]
            wanted = passages.references(value, f"{where}: {path}", counts)
        raw = None
        if "evidence" in found:
            raw = found["evidence"].value
        if not wanted and (absent(raw) or raw == []):
            counts["no_references"] += 1
        spans, sources, source_texts = self._sources(found, retrieved, texts, where)
        return Given(
            TextItem(
                query=query,
                retrieved=texts,
                references=wanted,
                question=_question(found, where),
                spans=spans,
                where=where,
                latency=_latency(found, where),
            ),
            self._ids(found, retrieved, texts, where),
            sources,
            source_texts,
            raw,
        )

    def _query(self, found: Mapping[str, Found], where: str, counts: Counter[str]) -> str:
        given = found.get("query")
        if given is None or absent(given.value) or (self._records.cells and given.value == ""):
            counts["numbered"] += 1
            return str(counts["items"])
        try:
            query = ids.as_text(given.value, "query id")
        except InputError as error:
            raise InputError(error.what, where=f"{where}: {given.path}", hint=error.hint) from None
        if not query:
            raise InputError("the query id is empty", where=f"{where}: {given.path}")
        return query

    def _retrieved(
        self, found: Found, where: str, counts: Counter[str]
    ) -> tuple[tuple[str, ...], list[Passage] | None]:
        value, path = found
        entries = passages.listed(value, "texts", f"{where}: {path}")
        if not entries:
            counts["nothing_retrieved"] += 1
        if all(type(entry) is str for entry in entries):
            texts = tuple(entries)
            made = None
        else:
            made = [passages.passage(entry, f"{where}: {path}[{i}]") for i, entry in enumerate(entries)]
            for i, one in enumerate(made):
                if one.text is None:
                    made[i] = self._without_text(one, entries[i], f"{where}: {path}[{i}]", counts)
            texts = tuple([one.text or "" for one in made])
            scores = [one.score for one in made if one.score is not None]
            if len(scores) == len(made) and any(b > a for a, b in itertools.pairwise(scores)):
                counts["scores_not_descending"] += 1
        empty = sum([not text or text.isspace() for text in texts])
        if empty:
            counts["empty_retrieved"] += empty
        return texts, made

    def _without_text(self, one: Passage, entry: Any, at: str, counts: Counter[str]) -> Passage:
        if isinstance(entry, Mapping) and not passages.has_text_field(entry):
            raise InputError(
                f"has an id, '{ids.show(one.id or '')}', and no text",
                where=at,
                hint="Ids alone are evaluated by goldrank.evaluate(qrels, run).",
            )
        if self._none == "error":
            raise InputError(
                f"is {passages.shown(entry)}, not a text",
                where=at,
                hint="A text that could not be fetched is no result: leave it out, or say none='empty'.",
            )
        counts["none_retrieved"] += 1
        return one._replace(text="")

    def _failed(self, failure: Any, query: str, where: str, counts: Counter[str]) -> Sequence[str]:
        if self._failures == "skip":
            counts["failed_skipped"] += 1
            return _SKIPPED
        if self._failures == "zero":
            counts["failed_zero"] += 1
            return ()
        told = f"{failure.get('type')}: {failure.get('text')}" if isinstance(failure, Mapping) else str(failure)
        raise InputError(
            f"retrieving for query '{ids.show(query)}' failed: {ids.show(told, 200)}",
            where=where,
            hint="A question that was not asked has no score. Retrieve again, or say failures='skip' to leave such "
            "questions out, failures='zero' to count them as if nothing was found.",
        )

    def _ids(
        self, found: Mapping[str, Found], retrieved: list[Passage] | None, texts: Sequence[str], where: str
    ) -> tuple[str | None, ...] | None:
        if "retrieved_ids" in found and not absent(found["retrieved_ids"].value) and texts:
            value, path = found["retrieved_ids"]
            listed = passages.listed(value, "ids", f"{where}: {path}")
            if len(listed) != len(texts):
                raise InputError(
                    f"has {len(listed):,} ids for {len(texts):,} retrieved texts",
                    where=f"{where}: {path}",
                    hint="Each retrieved text has one id, in the same order.",
                )
            return tuple([_id(one, f"{where}: {path}[{i}]") for i, one in enumerate(listed)])
        if retrieved is None or all(one.id is None for one in retrieved):
            return None
        return tuple([one.id for one in retrieved])

    def _sources(
        self, found: Mapping[str, Found], retrieved: list[Passage] | None, texts: Sequence[str], where: str
    ) -> tuple[tuple[Span | None, ...] | None, tuple[str | None, ...] | None, Mapping[str, str] | None]:
        """Places of the retrieved texts, names of their sources, and texts of sources."""
        made = retrieved
        kept: Mapping[str, str] | None = None
        if "sources" in found and not absent(found["sources"].value):
            value, path = found["sources"]
            if isinstance(value, Mapping):
                wrong = next((name for name, text in value.items() if not isinstance(text, str)), None)
                if wrong is not None:
                    raise InputError(f"the text of source {wrong!r:.40} is no text", where=f"{where}: {path}")
                kept = value
            else:
                listed = passages.listed(value, "sources", f"{where}: {path}")
                if len(listed) != len(texts):
                    raise InputError(
                        f"has {len(listed):,} sources for {len(texts):,} retrieved texts",
                        where=f"{where}: {path}",
                        hint="Each retrieved text has one source (or null), in the same order.",
                    )
                made = [
                    _source(entry, text, f"{where}: {path}[{i}]")
                    for i, (entry, text) in enumerate(zip(listed, texts, strict=True))
                ]
        if made is None:
            return None, None, kept
        spans = tuple([one.span for one in made]) if any(one.span for one in made) else None
        named = tuple([one.source for one in made]) if any(one.source is not None for one in made) else None
        return spans, named, kept

    def _from_cells(self, found: dict[str, Found], where: str, counts: Counter[str]) -> dict[str, Found]:
        """Fields of a text table with the lists that their cells hold."""
        made = dict(found)
        for role in ("retrieved", "references", "retrieved_ids", "evidence", "sources"):
            if role in made and isinstance(made[role].value, str):
                value, path = made[role]
                made[role] = Found(passages.from_cell(value, f"{where}: {path}", counts), path)
        if "latency" in made and made["latency"].value == "":
            del made["latency"]
        return made

    def _checked(self, item: TextItem, where: str, counts: Counter[str]) -> Given:
        """A `TextItem` of somebody's own."""
        if not isinstance(item.query, str) or not item.query:
            raise InputError(f"the query id is {passages.shown(item.query)}", where=where, hint="Ids are text.")
        texts, _ = self._retrieved(Found(item.retrieved, "$.retrieved"), where, counts)
        wanted = passages.references(list(item.references), f"{where}: $.references", counts)
        evidence = tuple(item.evidence)
        if not all(isinstance(one, Evidence) for one in evidence):
            raise InputError("evidence of a TextItem is of type Evidence", where=f"{where}: $.evidence")
        if item.spans is not None and len(item.spans) != len(texts):
            raise InputError(
                f"has {len(item.spans):,} spans for {len(texts):,} retrieved texts", where=f"{where}: $.spans"
            )
        if not wanted and not evidence:
            counts["no_references"] += 1
        made = TextItem(
            item.query, texts, wanted, item.question, item.spans, evidence, item.where or where, item.latency
        )
        return Given(made, evidence=item.evidence)


_SKIPPED: Sequence[str] = ("",)
"""Stands for the texts of an item that is left out; known by identity."""


def _id(value: Any, at: str) -> str | None:
    try:
        return None if absent(value) else ids.as_text(value, "document id")
    except InputError as error:
        raise InputError(error.what, where=at, hint=error.hint) from None


def _question(found: Mapping[str, Found], where: str) -> str:
    given = found.get("question")
    if given is None or absent(given.value):
        return ""
    if not isinstance(given.value, str):
        raise InputError(
            f"the question is {passages.shown(given.value)}, not text",
            where=f"{where}: {given.path}",
            hint="Name the field that holds it with fields={'question': ...} (--map question=...).",
        )
    return given.value


def _latency(found: Mapping[str, Found], where: str) -> float | None:
    given = found.get("latency")
    if given is None or absent(given.value):
        return None
    value = given.value
    try:
        seconds = float(value) if isinstance(value, str | Real) and not isinstance(value, bool) else -1.0
    except ValueError:
        seconds = -1.0
    if not math.isfinite(seconds) or seconds < 0:
        raise InputError(
            f"the latency is {passages.shown(value)}, not a number of seconds",
            where=f"{where}: {given.path}",
            hint="If it is something else, say fields={'latency': None}.",
        )
    return seconds


def _source(entry: Any, text: str, at: str) -> Passage:
    """The source of a retrieved text, given beside it: a name, or an object that may say where in it the text is."""
    if absent(entry):
        return Passage(text)
    if isinstance(entry, str):
        return Passage(text, source=entry)
    if not isinstance(entry, Mapping):
        raise InputError(f"is {passages.shown(entry)}, not a source", where=at, hint=passages.EVIDENCE_HINT)
    return passages.passage({**entry, "text": text}, at)
