"""From items and sources to `Spans`: quotations are located, and texts without offsets are aligned to their source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from goldrank import ids
from goldrank.data.spans import NOWHERE, Spans
from goldrank.data.texts import Evidence, Span, TextItem
from goldrank.errors import InputError, MismatchError, OptionError, did_you_mean, one_of
from goldrank.match.locate import SIMILARITY, Found, Library, fold

Offsets = Callable[[str], Sequence[tuple[int, int]]]
"""The tokens of a text: first character and one past the last of each, in order."""

MOST_ALTERNATIVES = 10_000
"""An evidence with more ways to be covered than this is a mistake."""

MOST_CHARACTERS = 2**40
"""No source is longer; sums of lengths stay exact."""

_KEYS = {
    "source": ("source", "doc", "document", "doc_id", "file"),
    "start": ("start", "start_index", "begin"),
    "end": ("end", "end_index", "stop"),
    "quote": ("quote", "text", "content"),
}
_STRICTEST = ("exact", "folded", "joined", "approximate")
_WORD = re.compile(r"\w+")


class Quote(NamedTuple):
    """Evidence by its words. Without a source it may stand in any."""

    source: str | None
    text: str


def word_offsets(text: str) -> list[tuple[int, int]]:
    """The words of a text, by place.

    >>> word_offsets("So it is.")
    [(0, 2), (3, 5), (6, 8)]
    """
    return [found.span() for found in _WORD.finditer(text)]


def evidence_of(given: Any, sources: Mapping[str, str] | None = None, *, where: str = "evidence") -> Evidence:
    """Evidence from the way it is written down.

    One stretch is `{"source": "doc1", "start": 10, "end": 50}` or `{"source": "doc1", "quote": "..."}`, which needs
    the sources' texts. `{"any_of": [...]}` lists alternatives, `{"all_of": [...]}` what is needed together.

    >>> evidence_of({"source": "doc1", "start": 10, "end": 50})
    Evidence(alternatives=((Span(source='doc1', start=10, end=50),),))
    >>> evidence_of({"any_of": [{"quote": "it was"}, {"quote": "so far"}]}, {"doc1": "So far,\\nit was."}).alternatives
    ((Span(source='doc1', start=8, end=14),), (Span(source='doc1', start=0, end=6),))
    """
    found = Finder(sources).evidence(given, where)
    assert found is not None
    return found


class Finder:
    """Finds where quotations and retrieved texts stand, and counts how they were found.

    `several` says what a quotation means that stands in several places: "any" of them suffices, the "first" is
    meant, or an "error". `unlocated` says what becomes of one that is not found: an "error", evidence that is
    "missed" by everything retrieved, or "skip". An approximate place must have at least this `similarity`; None
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
        self.library = Library(_checked(sources or {}))
        self._known: dict[tuple[str, str | None, bool], list[tuple[str, Found]]] = {}
        self._counts: Counter[str] = Counter()
        self._lost: list[str] = []
        self._least = 1.0
        self._nowhere = 0

    # Evidence.

    def evidence(self, given: Any, where: str) -> Evidence | None:
        """Evidence from the way it is written down; None if it was not located and is to be skipped."""
        found = list(dict.fromkeys(self._alternatives(given, where)))
        return Evidence(tuple(found)) if found else None

    def _alternatives(self, given: Any, where: str) -> list[tuple[Span, ...]]:
        if isinstance(given, Evidence):
            if not given.alternatives or not all(given.alternatives):
                raise InputError("evidence without any span", where=where, hint="Each alternative has at least one.")
            # What was not located before has its place nowhere.
            return [
                tuple(span if span.source == NOWHERE else self.span(span, where) for span in group)
                for group in given.alternatives
            ]
        if isinstance(given, Quote):
            return self._quoted(given.text, given.source, where)
        if isinstance(given, Mapping):
            return self._written(given, where)
        if isinstance(given, tuple | list) and len(given) == 3 and not isinstance(given[0], Mapping):
            return [(self.span(given, where),)]
        raise InputError(
            f"evidence is a {type(given).__name__}, which says no place",
            where=where,
            hint='For example {"source": "doc1", "start": 10, "end": 50} or {"source": "doc1", "quote": "so it was"}.',
        )

    def _written(self, given: Mapping[Any, Any], where: str) -> list[tuple[Span, ...]]:
        groups = [key for key in ("any_of", "all_of") if key in given]
        if groups:
            if len(given) > 1 and (len(groups) > 1 or any(_value(given, key) is not None for key in _KEYS)):
                raise InputError(
                    f"{groups[0]} stands beside another place", where=where, hint="Put one into the other."
                )
            return self._group(groups[0], given[groups[0]], where)
        source, start, end, quote = (_value(given, key) for key in _KEYS)
        if quote is not None and not isinstance(quote, str):
            raise InputError(f"quote is {quote!r}; it must be text", where=where)
        if start is None and end is None and quote is not None:
            return self._quoted(quote, source, where)
        missing = [key for key, value in (("source", source), ("start", start), ("end", end)) if value is None]
        if missing:
            known = {name for names in _KEYS.values() for name in names}
            odd = [str(key) for key in given if key not in known]
            near = next(filter(None, (did_you_mean(key, [*_KEYS, "any_of", "all_of"]) for key in odd)), None)
            raise InputError(
                f"evidence has no {' and no '.join(missing)}; it has: {', '.join(map(repr, given)) or 'nothing'}",
                where=where,
                hint=near or "A place is source, start and end, or source and quote.",
            )
        span = self.span((source, start, end), where)
        if quote is not None and span.source in self.library:
            there = self.library.texts[span.source][span.start : span.end]
            if there != quote and fold(there) != fold(quote):
                raise InputError(
                    f"the quotation '{ids.show(quote)}' is not what stands at {span.start} to {span.end} "
                    f"of '{ids.show(span.source)}': '{ids.show(there)}'",
                    where=where,
                    hint="Offsets count characters from 0, not bytes or tokens. Without them the quotation is located.",
                )
        return [(span,)]

    def _group(self, key: str, given: Any, where: str) -> list[tuple[Span, ...]]:
        if not isinstance(given, list | tuple) or not given:
            raise InputError(f"{key} is {ids.show(repr(given))}; it must be a list of places", where=where)
        parts = [self._alternatives(one, f"{where}, {key} {i}") for i, one in enumerate(given, 1)]
        if key == "any_of":
            return [alternative for part in parts for alternative in part]
        ways = 1
        for part in parts:
            ways *= len(part)
        if ways > MOST_ALTERNATIVES:
            raise InputError(
                f"all_of has {ways:,} combinations of alternatives",
                where=where,
                hint='Longer quotations stand in fewer places; or several="first".',
            )
        return [tuple(span for group in groups for span in group) for groups in product(*parts)]

    def span(self, given: Any, where: str, *, empty: bool = False) -> Span:
        """A span that is known to be one; only a retrieved text may be `empty`."""
        if isinstance(given, Mapping):
            given = [_value(given, key) for key in ("source", "start", "end")]
        if not isinstance(given, list | tuple) or len(given) != 3:
            raise InputError(f"{ids.show(repr(given))} is not a source, a start and an end", where=where)
        source = self._source(given[0], where)
        start, end = (_offset(value, what, where) for value, what in zip(given[1:], ("start", "end"), strict=True))
        if start > end or (start == end and not empty):
            raise InputError(
                f"start is {start} and end is {end}; a span ends after its start",
                where=where,
                hint="end is one past the last character.",
            )
        if self.library.texts and end > len(self.library.texts[source]):
            raise InputError(
                f"end is {end}, but source '{ids.show(source)}' has {len(self.library.texts[source])} characters",
                where=where,
                hint="Offsets count characters from 0, not bytes or tokens.",
            )
        return Span(source, start, end)

    def _source(self, given: Any, where: str) -> str:
        source = ids.as_text(given, f"{where}: source")
        if source == NOWHERE:
            raise InputError("the source has no name", where=where)
        if self.library.texts and source not in self.library:
            raise InputError(
                f"source '{ids.show(source)}' is not among the {len(self.library.texts):,} sources",
                where=where,
                hint=did_you_mean(source, self.library.texts) or f"There are {ids.samples(self.library.texts)}.",
            )
        return source

    def _quoted(self, text: str, source: Any, where: str) -> list[tuple[Span, ...]]:
        if not isinstance(text, str) or not fold(text):
            raise InputError(f"quote is {text!r}; there is nothing to look for", where=where)
        if not self.library.texts:
            raise InputError(
                "a quotation can be located only in the text of its source",
                where=where,
                hint="Give the sources: a mapping from id to text.",
            )
        name = None if source is None else self._source(source, where)
        self._counts["quotations"] += 1
        found = self._find(text, name, words=True)
        spans = [Span(at, *place) for at, one in found for place in one.places]
        if not spans:
            return self._not_located(text, name, where)
        self._count("quotation", found)
        if len(spans) > 1:
            if self.several == "error":
                raise InputError(
                    f"the quotation '{ids.show(text)}' stands in {len(spans)} places",
                    where=where,
                    hint='Give its start and end; or several="any" or "first".',
                )
            self._counts["several"] += 1
        return [(span,) for span in (spans if self.several == "any" else spans[:1])]

    def _not_located(self, text: str, source: str | None, where: str) -> list[tuple[Span, ...]]:
        if self.unlocated == "error":
            there = "any source" if source is None else f"source '{ids.show(source)}'"
            raise InputError(
                f"the quotation '{ids.show(text)}' is not in {there}",
                where=where,
                hint='Correct it, allow a lower similarity, or count it with unlocated="missed".',
            )
        self._lost.append(f"'{ids.show(text)}' ({where})")
        if self.unlocated == "skip":
            return []
        start, self._nowhere = self._nowhere, self._nowhere + max(self.size(text), 1)
        return [(Span(NOWHERE, start, self._nowhere),)]

    # Retrieved texts.

    def place(self, text: str, source: str | None, evidence: Sequence[Evidence] = ()) -> Span | None:
        """Where a retrieved text stands; None if that cannot be found.

        Of several places it is the one that holds most of the evidence: the text is the same in all of them.
        """
        found = self._find(text, source)
        spans = [Span(name, *place) for name, one in found for place in one.places]
        if not spans:
            return None
        self._count("text", found)
        if len(spans) == 1:
            return spans[0]
        self._counts["text several"] += 1
        gold = {span for one in evidence for group in one.alternatives for span in group}
        return max(spans, key=lambda span: sum(_overlap(span, other) for other in gold))

    def _find(self, text: str, source: str | None, words: bool = False) -> list[tuple[str, Found]]:
        """Where a text was found by the strictest way that finds it: in one source, or in those that may hold it."""
        key = text, source, words
        if key not in self._known:
            names = [source] if source is not None else self.library.likely(text)
            self._known[key] = []
            for similarity in (None, self.similarity):
                found = [(name, self.library[name].find(text, similarity=similarity, words=words)) for name in names]
                there = [(name, one) for name, one in found if one is not None]
                if there:
                    best = min(there, key=lambda one: (_STRICTEST.index(one[1].how), -one[1].similarity))[1]
                    alike = [one for one in there if (one[1].how, one[1].similarity) == (best.how, best.similarity)]
                    self._known[key] = alike
                    break
        return self._known[key]

    def _count(self, what: str, found: Sequence[tuple[str, Found]]) -> None:
        self._counts[f"{what} {found[0][1].how}"] += 1
        self._least = min(self._least, found[0][1].similarity)

    def align(self, item: TextItem, sources: Sequence[str | None] | None = None) -> list[Span | None]:
        """The place of each retrieved text of an item: given, or found in the source that is given, or in any."""
        spans: Sequence[Span | None] = [None] * len(item.retrieved) if item.spans is None else item.spans
        for what, given in (("spans", spans), ("sources", sources)):
            if given is not None and len(given) != len(item.retrieved):
                raise InputError(
                    f"{len(item.retrieved)} retrieved texts but {len(given)} {what}",
                    where=_name(item),
                    hint="Give one for each text, None where it is not known.",
                )
        aligned: list[Span | None] = []
        for i, (text, span) in enumerate(zip(item.retrieved, spans, strict=True)):
            where = f"{_name(item)}: retrieved text {i + 1}"
            if not isinstance(text, str):
                raise InputError(f"it is of type {type(text).__name__}, not text", where=where)
            if span is None and self.library.texts:
                source = sources[i] if sources is not None else None
                span = self.place(text, None if source is None else self._source(source, where), item.evidence)
            elif span is not None:
                span = self.span(span, where, empty=True)
                if span.source in self.library and text.strip():
                    there = self.library.texts[span.source][span.start : span.end]
                    self._counts["differ"] += there != text and fold(there) != fold(text)
            self._counts["unplaced"] += span is None
            aligned.append(span)
        return aligned

    # What a reader should know.

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found otherwise than as it stands, in words."""
        notes: list[str] = []
        counts = self._counts.copy()

        def note(key: str, one: str, many: str) -> None:
            count = counts[key]
            if count:
                notes.append(f"{count:,} {one if count == 1 else many}")

        near = "white space, case or forms of letters apart"
        for what in ("quotation", "text"):
            counts[f"{what} near"] = counts[f"{what} folded"] + counts[f"{what} joined"]
        note("quotation near", f"quotation was located {near}", f"quotations were located {near}")
        about = f"approximately (similarity from {self._least:.2f})"
        note("quotation approximate", f"quotation was located {about}", f"quotations were located {about}")
        which = {"any": "any of them counts", "first": "the first counts"}.get(self.several, "")
        note("several", f"quotation stands in several places, {which}", f"quotations stand in several places, {which}")
        if self._lost:
            how = "counted as missed" if self.unlocated == "missed" else "left out"
            more = f" and {len(self._lost) - 3:,} more" if len(self._lost) > 3 else ""
            number = "1 quotation was" if len(self._lost) == 1 else f"{len(self._lost):,} quotations were"
            notes.append(f"{number} not located, {how}: {', '.join(self._lost[:3])}{more}")
        note("text near", f"retrieved text was located {near}", f"retrieved texts were located {near}")
        note("text approximate", f"retrieved text was located {about}", f"retrieved texts were located {about}")
        note(
            "text several",
            "retrieved text stands in several places, counted where it holds most evidence",
            "retrieved texts stand in several places, counted where they hold most evidence",
        )
        note(
            "differ",
            "retrieved text is not what stands at its place in the source",
            "retrieved texts are not what stands at their places in the sources",
        )
        note(
            "unplaced",
            "retrieved text has no known place: counted by its length, without evidence",
            "retrieved texts have no known place: counted by their length, without evidence",
        )
        note("chunks lost", "text of the corpus has no known place", "texts of the corpus have no known place")
        return tuple(notes)

    def chunks(self, given: Any) -> list[Span]:
        """The places of all texts of the corpus: spans, or for each source its texts or their offsets."""
        if isinstance(given, Mapping):
            return [span for source, parts in given.items() for span in self._cut(source, parts)]
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(f"chunks are a {type(given).__name__}", hint="They are a list of (source, start, end).")
        return [self.span(one, f"chunk {i}", empty=True) for i, one in enumerate(given, 1)]

    def _cut(self, source: Any, parts: Iterable[Any]) -> list[Span]:
        """The parts of one source. A text that occurs several times takes the places in order."""
        name = self._source(source, "chunks")
        seen: Counter[str] = Counter()
        found: list[Span] = []
        for i, part in enumerate(parts, 1):
            where = f"source '{ids.show(name)}', chunk {i}"
            if not isinstance(part, str):
                if not isinstance(part, list | tuple) or len(part) != 2:
                    raise InputError("a chunk is a text, or a start and an end", where=where)
                found.append(self.span((name, *part), where, empty=True))
                continue
            if name not in self.library:
                raise InputError("a text can be located only in its source", where=where, hint="Give the sources.")
            there = self._find(part, name)
            if not there:
                self._counts["chunks lost"] += 1
                continue
            places = there[0][1].places
            found.append(Span(name, *places[min(seen[part], len(places) - 1)]))
            seen[part] += 1
        return found


def spans_of(
    items: Sequence[TextItem],
    sources: Mapping[str, str] | None = None,
    *,
    unit: str = "char",
    quotes: Mapping[str, Sequence[Any]] | None = None,
    chunks: Any = None,
    chunk_sources: Mapping[str, Sequence[str | None]] | None = None,
    tokens: Offsets = word_offsets,
    several: str = "any",
    unlocated: str = "error",
    similarity: float | None = SIMILARITY,
    overlap: str = "error",
) -> tuple[Spans, tuple[str, ...]]:
    """The table of spans that measures read, and notes on how places were found.

    `sources` gives the texts in which quotations are located, retrieved texts without offsets are aligned, and
    tokens are counted; without any of these it is not needed. `quotes` gives for each query evidence as
    `evidence_of` takes it, beside what the items have; `chunk_sources` for each query the sources of its retrieved
    texts. `chunks` are all texts of the corpus: spans, or for each source its texts or their offsets. Lengths are
    in characters, or with `unit="token"` in what `tokens` finds. `several`, `unlocated` and `similarity` are as in
    `Finder`. With `overlap="error"` retrieved texts and evidence without any source in common are an error.

    >>> item = TextItem("q", ["It was\\nso."], evidence=[])
    >>> table, notes = spans_of([item], {"doc": "So far. It was so. "}, quotes={"q": [{"quote": "was so."}]})
    >>> table.share(1).tolist(), notes
    ([1.0], ('1 retrieved text was located white space, case or forms of letters apart',))
    """
    one_of(unit, ("char", "token"), "unit")
    one_of(overlap, ("error", "allow"), "overlap")

    def size(text: str) -> int:
        return len(tokens(text)) if unit == "token" else len(text)

    finder = Finder(sources, several=several, unlocated=unlocated, similarity=similarity, size=size)
    resolved = resolve(items, finder, quotes, chunk_sources)
    cut = None if chunks is None else finder.chunks(chunks)
    if overlap == "error" and not finder.library.texts:
        _check_overlap(resolved)
    table = None if unit == "char" else _tokens(resolved, cut or [], finder.library, tokens)
    return Spans.of(resolved, tokens=table, size=size, chunks=cut), finder.notes


def resolve(
    items: Sequence[TextItem],
    finder: Finder,
    quotes: Mapping[str, Sequence[Any]] | None = None,
    chunk_sources: Mapping[str, Sequence[str | None]] | None = None,
) -> list[TextItem]:
    """The items with the places of all evidence and of all retrieved texts, as far as they can be found."""
    for what, given in (("quotes", quotes), ("chunk_sources", chunk_sources)):
        unknown = sorted(set(given or ()) - {item.query for item in items})
        if unknown:
            raise InputError(f"{what} has queries that no item has: {ids.samples(unknown)}")
    found = []
    for item in items:
        quoted = (quotes or {}).get(item.query, ())
        if not isinstance(quoted, list | tuple):
            raise InputError(f"its evidence is a {type(quoted).__name__}, not a list", where=_name(item))
        written = [*item.evidence, *quoted]
        evidence = [finder.evidence(one, f"{_name(item)}: evidence {i}") for i, one in enumerate(written, 1)]
        item = replace(item, evidence=tuple(one for one in evidence if one is not None))
        found.append(replace(item, spans=finder.align(item, (chunk_sources or {}).get(item.query))))
    return found


def _tokens(
    items: Sequence[TextItem], chunks: Sequence[Span], library: Library, tokens: Offsets
) -> dict[str, np.ndarray]:
    """The tokens of every source that is spoken of."""
    used = {span.source: None for item in items for span in item.spans or () if span is not None}
    used |= {
        span.source: None for item in items for one in item.evidence for group in one.alternatives for span in group
    }
    used |= {chunk.source: None for chunk in chunks}
    found: dict[str, np.ndarray] = {}
    for source in used:
        if source == NOWHERE:
            continue
        if source not in library:
            raise InputError(
                f"the tokens of source '{ids.show(source)}' cannot be counted without its text",
                hint='Give the sources: a mapping from id to text; or unit="char".',
            )
        table = np.array(list(tokens(library.texts[source])), np.int64).reshape(-1, 2)
        size = len(library.texts[source])
        if (np.diff(table.ravel()) < 0).any() or (table < 0).any() or (table > size).any():
            raise InputError(
                f"the tokens of source '{ids.show(source)}' overlap, are not in order or lie outside",
                hint="A function for tokens returns pairs (start, end) of characters, ascending.",
            )
        found[source] = table
    return found


def _check_overlap(items: Sequence[TextItem]) -> None:
    ours = {span.source for item in items for span in item.spans or () if span is not None}
    gold = {span.source for item in items for one in item.evidence for group in one.alternatives for span in group}
    gold -= {NOWHERE}
    if ours and gold and not ours & gold:
        raise MismatchError(
            "retrieved texts and evidence have no source in common: "
            f"retrieved {ids.samples(sorted(ours))}, evidence {ids.samples(sorted(gold))}",
            hint='Are the sources named alike? overlap="allow" goes on.',
        )


def _checked(sources: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(sources, Mapping):
        raise InputError(f"sources are a {type(sources).__name__}; they must be a mapping from id to text")
    found: dict[str, str] = {}
    for source, text in sources.items():
        name = ids.as_text(source, "source")
        if name == NOWHERE or not isinstance(text, str):
            raise InputError(f"source {source!r} is {type(text).__name__}; sources are texts with an id")
        found[name] = text
    return found


def _value(given: Mapping[Any, Any], key: str) -> Any:
    """What is given under any of the names of a field."""
    return next((given[name] for name in _KEYS[key] if given.get(name) is not None), None)


def _offset(value: Any, what: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) <= MOST_CHARACTERS:
        raise InputError(
            f"{what} is {value!r}; it must be a whole number from 0 to {MOST_CHARACTERS:,}",
            where=where,
            hint="Offsets count the characters of the source.",
        )
    return int(value)


def _overlap(one: Span, other: Span) -> int:
    return max(min(one.end, other.end) - max(one.start, other.start), 0) if one.source == other.source else 0


def _name(item: TextItem) -> str:
    return f"{item.where}: query '{ids.show(item.query)}'" if item.where else f"query '{ids.show(item.query)}'"
