"""Where evidence and retrieved texts stand: evidence is read as people write it down, quotations are located, and
texts without offsets are aligned to their source.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, product
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, did_you_mean, one_of
from goldrank.base.notes import Note
from goldrank.data.spans import NOWHERE
from goldrank.data.text_item import EvidencePlaces, Located, Span, TextItem
from goldrank.match.folding import fold
from goldrank.match.locate import SIMILARITY, Location, Locator
from goldrank.match.tokens import words

MOST_ALTERNATIVES = 10_000
"""The most ways to cover one evidence: more is a mistake."""

ELLIPSIS = re.compile(r"\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…|\. \. \.")
"""The signs in a quotation for words that were left out."""
FEWEST_WORDS = 3
"""The fewest words of a part of such a quotation that is looked for."""
SHOWN_MISSES = 5
FEWEST_TEXTS = 5
LEAST_PLACED = 0.1
"""If fewer than this share of at least `FEWEST_TEXTS` texts have a known position, that is an error."""
ENOUGH_PLACED = 0.95
"""From this share of texts with a known position on, the others are not a warning."""
MOST_CHARACTERS = 2**40
"""No source is longer; sums of lengths stay exact."""

_KEYS = {
    "source": ("source", "doc", "document", "doc_id", "file"),
    "start": ("start", "start_index", "begin"),
    "end": ("end", "end_index", "stop"),
    "quote": ("quote", "text", "content"),
}

Alternatives: TypeAlias = list[tuple[Span, ...]]
"""Ways to cover one evidence, each of one span or of several that are needed together."""


class Quote(NamedTuple):
    """Evidence by its words. Without a source it may stand in any of them."""

    source: str | None
    text: str


EvidenceLike: TypeAlias = EvidencePlaces | Quote | Mapping[str, object] | Sequence[object]
"""Evidence as people write it down. A span is `{"source": "doc1", "start": 10, "end": 50}`, a list of these three, or
`{"source": "doc1", "quote": "..."}`, which needs the sources' texts. `{"any_of": [...]}` lists alternatives,
`{"all_of": [...]}` what is needed together."""


def gold_spans(evidence: Iterable[EvidencePlaces]) -> Iterator[Span]:
    """All spans of some evidence."""
    return (span for gold in evidence for alternative in gold.alternatives for span in alternative)


def resolve(
    items: Sequence[TextItem],
    finder: Finder,
    quotes: Mapping[str, Sequence[EvidenceLike]] | None = None,
    chunk_sources: Mapping[str, Sequence[str | None]] | None = None,
) -> list[TextItem]:
    """The items with the positions of all evidence and of all retrieved texts, as far as they can be found."""
    known_queries = {item.query for item in items}
    for name, by_query in (("quotes", quotes), ("chunk_sources", chunk_sources)):
        unknown = sorted(set(by_query or ()) - known_queries)
        if unknown:
            raise InputError(f"{name} has queries that no item has: {ids.samples(unknown)}")

    resolved = []
    for item in items:
        quoted = (quotes or {}).get(item.query, ())
        if not isinstance(quoted, list | tuple):
            raise InputError(f"its evidence is a {type(quoted).__name__}, not a list", where=_name(item))

        evidence = []
        for i, entry in enumerate((*item.evidence, *quoted), 1):
            located = finder.evidence(entry, f"{_name(item)}: evidence {i}")
            if located is not None:
                evidence.append(located)
        item = replace(item, evidence=tuple(evidence))
        resolved.append(replace(item, spans=finder.align(item, (chunk_sources or {}).get(item.query))))

    finder.check()
    return resolved


class Finder:
    """Finds where quotations and retrieved texts stand, and counts how they were found.

    `several` says what a quotation means that stands in several positions: "any" of them suffices, the "first" is
    meant, or an "error". `unlocated` says what becomes of one that is not found: an "error", evidence that is
    "missed" by everything retrieved, or "skip". An approximate position must have at least this `similarity`; None
    allows none. `size` is the length of a text, for evidence that is missed.
    """

    def __init__(
        self,
        sources: Mapping[str, str] | None = None,
        *,
        several: str = "any",
        unlocated: str = "error",
        similarity: float | None = SIMILARITY,
        size: Callable[[str], int] = len,
    ) -> None:
        self.several = one_of(several, ("any", "first", "error"), "several")
        self.unlocated = one_of(unlocated, ("error", "missed", "skip"), "unlocated")
        if similarity is not None and (
            isinstance(similarity, bool) or not isinstance(similarity, int | float) or not 0 < similarity <= 1
        ):
            raise OptionError(f"similarity is {similarity!r}; it must be a number above 0, up to 1, or None")

        self.similarity = similarity
        self.size = size
        self.sources = _checked(sources or {})
        self._locator = Locator(self.sources, similarity)
        self._counts: Counter[str] = Counter()
        self._lost: list[str] = []
        self._missed: list[tuple[str, str | None, str]] = []
        self._unplaced = ""
        self._least = {"quotations": 1.0, "texts": 1.0}
        self._nowhere = 0

    # Evidence.

    def evidence(self, entry: EvidenceLike, where: str) -> EvidencePlaces | None:
        """Evidence from an entry as people write it; None if it was not located and is to be skipped."""
        alternatives = dict.fromkeys(self._alternatives(entry, where))
        if alternatives:
            return EvidencePlaces(tuple(alternatives))
        return None

    def _alternatives(self, entry: object, where: str) -> Alternatives:
        if isinstance(entry, EvidencePlaces):
            if not entry.alternatives or not all(entry.alternatives):
                raise InputError("evidence without any span", where=where, hint="Each alternative has at least one.")
            return [self._checked_spans(alternative, where) for alternative in entry.alternatives]

        if isinstance(entry, Quote):
            return self._quoted(entry.text, entry.source, where)
        if isinstance(entry, Mapping):
            return self._of_record(entry, where)
        if isinstance(entry, tuple | list) and len(entry) == 3 and not isinstance(entry[0], Mapping):
            return [(self.span(entry, where),)]

        raise InputError(
            f"evidence is a {type(entry).__name__}, which says no place",
            where=where,
            hint='For example {"source": "doc1", "start": 10, "end": 50} or {"source": "doc1", "quote": "so it was"}.',
        )

    def _checked_spans(self, alternative: Sequence[Span], where: str) -> tuple[Span, ...]:
        """The spans of an alternative; what was not located before is nowhere, and stays there."""
        spans = []
        for span in alternative:
            if span.source != NOWHERE:
                span = self.span(span, where)
            spans.append(span)
        return tuple(spans)

    def _of_record(self, record: Mapping[str, object], where: str) -> Alternatives:
        groups = [key for key in ("any_of", "all_of") if key in record]
        if groups:
            if len(record) > 1 and (len(groups) > 1 or any(_value(record, key) is not None for key in _KEYS)):
                raise InputError(
                    f"{groups[0]} stands beside another place", where=where, hint="Put one into the other."
                )
            return self._group(groups[0], record[groups[0]], where)

        source, start, end, quote = (_value(record, key) for key in _KEYS)
        if quote is not None and not isinstance(quote, str):
            raise InputError(f"quote is {quote!r}; it must be text", where=where)
        if start is None and end is None and quote is not None:
            return self._quoted(quote, source, where)

        missing = [key for key, value in (("source", source), ("start", start), ("end", end)) if value is None]
        if missing:
            known = {name for names in _KEYS.values() for name in names}
            unknown = [str(key) for key in record if key not in known]
            near = next(filter(None, (did_you_mean(key, [*_KEYS, "any_of", "all_of"]) for key in unknown)), None)
            raise InputError(
                f"evidence has no {' and no '.join(missing)}; it has: {', '.join(map(repr, record)) or 'nothing'}",
                where=where,
                hint=near or "A place is source, start and end, or source and quote.",
            )

        span = self.span((source, start, end), where)
        if quote is not None and self._differs(quote, span):
            raise InputError(
                f"the quotation '{ids.show(quote)}' is not what stands at {span.start} to {span.end} "
                f"of '{ids.show(span.source)}': '{ids.show(self._text_at(span))}'",
                where=where,
                hint="Offsets count characters from 0, not bytes or tokens. Without them the quotation is located.",
            )

        return [(span,)]

    def _group(self, key: str, entries: object, where: str) -> Alternatives:
        if not isinstance(entries, list | tuple) or not entries:
            raise InputError(f"{key} is {ids.show(repr(entries))}; it must be a list of places", where=where)

        parts = [self._alternatives(entry, f"{where}, {key} {i}") for i, entry in enumerate(entries, 1)]
        if key == "any_of":
            return [alternative for part in parts for alternative in part]

        ways = math.prod(map(len, parts))
        if ways > MOST_ALTERNATIVES:
            raise InputError(
                f"all_of has {ways:,} combinations of alternatives",
                where=where,
                hint='Longer quotations stand in fewer places; or several="first".',
                code="too-many-combinations",
            )

        return [tuple(chain.from_iterable(chosen)) for chosen in product(*parts)]

    def span(self, entry: object, where: str, *, empty: bool = False) -> Span:
        """A span from a source, a start and an end, checked; only a retrieved text may be `empty`."""
        if isinstance(entry, Mapping):
            entry = [_value(entry, key) for key in ("source", "start", "end")]

        if not isinstance(entry, list | tuple) or len(entry) != 3:
            raise InputError(f"{ids.show(repr(entry))} is not a source, a start and an end", where=where)

        source = self.source(entry[0], where)
        start, end = _offset(entry[1], "start", where), _offset(entry[2], "end", where)
        if start > end or (start == end and not empty):
            raise InputError(
                f"start is {start} and end is {end}; a span ends after its start",
                where=where,
                hint="end is one past the last character.",
            )
        if self.sources and end > len(self.sources[source]):
            raise InputError(
                f"end is {end}, but source '{ids.show(source)}' has {len(self.sources[source])} characters",
                where=where,
                hint="Offsets count characters from 0, not bytes or tokens.",
            )

        return Span(source, start, end)

    def source(self, name: object, where: str) -> str:
        """The name of a source, checked."""
        if name == NOWHERE:
            raise InputError("the source has no name", where=where)
        source = ids.as_text(name, f"{where}: source")
        if self.sources and source not in self.sources:
            raise InputError(
                f"source '{ids.show(source)}' is not among the {len(self.sources):,} sources",
                where=where,
                hint=did_you_mean(source, self.sources) or f"There are {ids.samples(self.sources)}.",
            )
        return source

    def _text_at(self, span: Span) -> str:
        return self.sources[span.source][span.start : span.end]

    def _differs(self, text: str, span: Span) -> bool:
        """Whether the source is known and has another text there, not only in another form."""
        if span.source not in self.sources:
            return False
        actual = self._text_at(span)
        return actual != text and fold(actual) != fold(text)

    def _quoted(self, text: str, source: object, where: str) -> Alternatives:
        if not isinstance(text, str) or not fold(text):
            raise InputError(f"quote is {text!r}; there is nothing to look for", where=where)
        if not self.sources:
            raise InputError(
                "a quotation can be located only in the text of its source",
                where=where,
                hint="Give the sources: a mapping from id to text.",
                code="needs-source-text",
            )

        name = None
        if source is not None:
            name = self.source(source, where)

        spans = self._spans("quotations", text, name)
        if not spans:
            return self._in_parts(text, name) or self._not_located(text, name, where)
        if len(spans) > 1 and self.several == "error":
            raise InputError(
                f"the quotation '{ids.show(text)}' stands in {len(spans)} places",
                where=where,
                hint='Give its start and end; or several="any" or "first".',
            )

        return [(span,) for span in self._counted(spans)]

    def _counted(self, spans: list[Span]) -> list[Span]:
        """Those positions of a quotation that count, by `several`."""
        if self.several == "any":
            return spans
        return spans[:1]

    def quoted(self, text: str) -> list[Span]:
        """The positions of a text in any source, as of a quotation; none if it is nowhere."""
        if not self.sources or not fold(text):
            return []
        return _found_spans(self._locator.find(text, None, words=True))

    def _in_parts(self, text: str, source: str | None) -> Alternatives:
        """The positions of a quotation with something left out: of all parts between its ellipses, in one source."""
        parts = [part for part in ELLIPSIS.split(text) if len(words(part)) >= FEWEST_WORDS]
        if not ELLIPSIS.search(text) or not parts:
            return []
        spans_of_parts = [self._counted(self._spans("quotations", part, source)) for part in parts]
        ways = islice(product(*spans_of_parts), MOST_ALTERNATIVES)
        return [way for way in ways if _is_in_one_source(way)]

    def _not_located(self, text: str, source: str | None, where: str) -> Alternatives:
        if self.unlocated == "error":
            self._missed.append((text, source, where))
            return []
        self._counts["quotations-lost"] += 1
        query = _QUERY.search(where)
        if query:
            self._lost.append(f"{ids.show(query[1], 12)}: {ids.show(text, 24)}")
        else:
            self._lost.append(ids.show(text, 40))

        if self.unlocated == "skip":
            return []
        start, self._nowhere = self._nowhere, self._nowhere + max(self.size(text), 1)
        return [(Span(NOWHERE, start, self._nowhere),)]

    def check(self) -> None:
        """An error for quotations that were not located, or if next to no retrieved text was: scores would be 0."""
        if self._missed:
            listed = "; ".join(map(self._miss, self._missed[:SHOWN_MISSES]))
            more = ""
            if len(self._missed) > SHOWN_MISSES:
                more = f"; and {len(self._missed) - SHOWN_MISSES:,} more"
            raise InputError(
                f"{len(self._missed):,} quotation{'s' * (len(self._missed) > 1)} not located: {listed}{more}",
                where=self._missed[0][2],
                hint="Correct them, allow a lower similarity, or say what becomes of them: unlocated='missed' or "
                "unlocated='skip'.",
                code="not-located",
            )

        texts, unplaced = self._counts["texts"], self._counts["texts-unplaced"]
        if texts >= FEWEST_TEXTS and texts - unplaced < LEAST_PLACED * texts:
            hint = "Are these the sources that the texts were cut from?"
            if not self.sources:
                hint = (
                    "Give each its source, start and end, or the texts of the sources that they were cut from "
                    "(Evidence(sources), --evidence SOURCES)."
                )
            raise InputError(
                f"{texts - unplaced:,} of {texts:,} retrieved texts have a known place in a source, so that evidence "
                f"cannot be found in them; the first without: '{ids.show(self._unplaced)}'",
                hint=hint,
            )

    def _miss(self, missed: tuple[str, str | None, str]) -> str:
        """A quotation that is nowhere, and the stretch that is most like it."""
        text, source, where = missed
        if source is None:
            searched = "any source"
        else:
            searched = f"source '{ids.show(source)}'"

        near = self._locator.nearest(text, source)
        miss = f"the quotation '{ids.show(text)}' is not in {searched} ({where})"
        if near is None:
            return miss

        name, location = near
        start, end = location.places[0]
        shown = ids.show(self.sources[name][start:end])
        position = f"{start} to {end} of '{ids.show(name)}'"
        return f"{miss}, nearest is '{shown}' at {position}, similarity {location.similarity:.2f}"

    # Retrieved texts.

    def place(self, text: str, source: str | None, evidence: Sequence[EvidencePlaces] = ()) -> Span | Located | None:
        """Where a retrieved text stands; None if that cannot be found.

        Of several positions it is the one that holds most of the evidence: the text is equal in all of them.
        """
        spans = self._spans("texts", text, source)
        if not spans:
            return self._body(text, source)
        if len(spans) < 2:
            return spans[0]
        gold = set(gold_spans(evidence))
        return max(spans, key=lambda span: sum(_overlap(span, other) for other in gold))

    def _body(self, text: str, source: str | None) -> Located | None:
        """Where the parts of a text stand that is not in a source as it is: a chunk with a header, or with gaps."""
        body = self._locator.body(text, source)
        if body is not None:
            code = "texts-near"
            if body.outside.strip():
                code = "texts-in-part"
            self._counts[code] += 1
        return body

    def align(self, item: TextItem, sources: Sequence[str | None] | None = None) -> list[Span | Located | None]:
        """The position of each retrieved text of an item: given, or found in the source that is given, or in any."""
        spans: Sequence[Span | Located | None] = [None] * len(item.retrieved)
        if item.spans is not None:
            spans = item.spans

        for noun, listed in (("spans", spans), ("sources", sources)):
            if listed is not None and len(listed) != len(item.retrieved):
                raise InputError(
                    f"{len(item.retrieved)} retrieved texts but {len(listed)} {noun}",
                    where=_name(item),
                    hint="Give one for each text, None where it is not known.",
                )

        aligned: list[Span | Located | None] = []
        for i, (text, span) in enumerate(zip(item.retrieved, spans, strict=True)):
            where = f"{_name(item)}: retrieved text {i + 1}"
            if not isinstance(text, str):
                raise InputError(f"it is of type {type(text).__name__}, not text", where=where)

            if span is None and self.sources:
                source = None
                if sources is not None and sources[i] is not None:
                    source = self.source(sources[i], where)
                span = self.place(text, source, item.evidence)
            elif isinstance(span, Located):
                span = Located(tuple(self.span(part, where, empty=True) for part in span.spans), span.outside)
            elif span is not None:
                span = self.span(span, where, empty=True)
                self._counts["texts-differ"] += bool(text.strip()) and self._differs(text, span)

            self._counts["texts"] += span is not None or bool(text.strip())
            if span is None:
                self._counts["texts-unplaced"] += 1
                self._unplaced = self._unplaced or text
            aligned.append(span)

        return aligned

    def chunk(self, text: str, source: str | None) -> list[tuple[Span, ...]]:
        """The positions of a text of the corpus, each one span or its parts; texts that are nowhere are counted."""
        if not self.sources:
            self._counts["chunks-lost"] += 1
            return []

        located = self._locator.find(text, source)
        if located:
            return [(span,) for span in _found_spans(located)]
        body = self._locator.body(text, source)
        if body is not None:
            return [body.spans]
        self._counts["chunks-lost"] += 1
        return []

    # Finding, and what a reader should know of it.

    def _spans(self, kind: str, text: str, source: str | None) -> list[Span]:
        """The positions of a text, counted among the "quotations" or the "texts"."""
        located = self._locator.find(text, source, words=kind == "quotations")
        spans = _found_spans(located)
        if located:
            best = located[0][1]
            if best.way == "approximate":
                self._counts[f"{kind}-approximate"] += 1
            elif best.way != "exact":
                self._counts[f"{kind}-near"] += 1
            self._least[kind] = min(self._least[kind], best.similarity)
            self._counts[f"{kind}-several"] += len(spans) > 1
        return spans

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found in another form, approximately or not at all."""
        which = "the first counts"
        if self.several == "any":
            which = "any of them counts"
        treatment = "left out"
        if self.unlocated == "missed":
            treatment = "counted as missed"
        facts: dict[str, dict[str, Any]] = {
            "quotations-approximate": {"least": self._least["quotations"]},
            "quotations-several": {"which": which},
            "quotations-lost": {"how": treatment, "samples": self._lost},
        }

        notes = []
        for code in _NOTES:
            count = self._counts[code]
            if count:
                notes.append(Note.of(self._note_code(code), count=count, **facts.get(code, {})))
        return tuple(notes)

    def _note_code(self, code: str) -> str:
        """The code of a note; a few texts without a position are another note than many."""
        unplaced, texts = self._counts["texts-unplaced"], self._counts["texts"]
        if code == "texts-unplaced" and texts - unplaced >= ENOUGH_PLACED * texts:
            return "few-texts-unplaced"
        return code


_NOTES = (
    *("quotations-near", "quotations-approximate", "quotations-several", "quotations-lost"),
    *("texts-near", "texts-in-part", "texts-several", "texts-differ", "texts-unplaced", "chunks-lost"),
)
"""The codes of the notes, in their order."""


def _found_spans(located: Iterable[tuple[str, Location]]) -> list[Span]:
    """All positions at which a text was found, as spans."""
    return [Span(source, *place) for source, location in located for place in location.places]


def _is_in_one_source(spans: Iterable[Span]) -> bool:
    return len({span.source for span in spans}) == 1


def _checked(sources: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(sources, Mapping):
        message = f"sources are a {type(sources).__name__}; they must be a mapping from id to text"
        raise InputError(message, code="wrong-type")
    checked: dict[str, str] = {}
    for source, text in sources.items():
        name = ids.as_text(source, "source")
        if name == NOWHERE or not isinstance(text, str):
            raise InputError(f"source {source!r} is {type(text).__name__}; sources are texts with an id")
        checked[name] = text
    return checked


def _value(record: Mapping[str, object], key: str) -> object:
    """The value of a field under any of its names."""
    return next((record[name] for name in _KEYS[key] if record.get(name) is not None), None)


def _offset(value: object, name: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) <= MOST_CHARACTERS:
        raise InputError(
            f"{name} is {value!r}; it must be a whole number from 0 to {MOST_CHARACTERS:,}",
            where=where,
            hint="Offsets count the characters of the source.",
        )
    return int(value)


def _overlap(span: Span, other: Span) -> int:
    if span.source == other.source:
        return max(min(span.end, other.end) - max(span.start, other.start), 0)
    return 0


_QUERY = re.compile(r"query '(.*)': evidence")
"""The query in the `where` of evidence (`_name`), without the file: it is equal in the files of all systems."""


def _name(item: TextItem) -> str:
    if item.where:
        return f"{item.where}: query '{ids.show(item.query)}'"
    return f"query '{ids.show(item.query)}'"
