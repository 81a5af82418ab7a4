"""Retrieved texts and reference texts in, `Scores` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from goldrank import conventions, ids
from goldrank.conventions import Convention
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.placements import Placements
from goldrank.data.scores import Column, Scores
from goldrank.data.spans import Spans
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, OptionError, one_of
from goldrank.evaluation import pipeline
from goldrank.evaluation.claims import USUAL, Answers, Kind, Placing, kinds_of, notes_on, place_kind, tables_for
from goldrank.evaluation.inputs import resolve_measures
from goldrank.io.items import Items, ReadItem
from goldrank.io.items import items as read_items
from goldrank.match import Matcher, folding, place_items
from goldrank.match import matcher as as_matcher
from goldrank.match.chance import Sample, Sourced, chance_level, covered
from goldrank.match.locate import SIMILARITY
from goldrank.match.pairs import Splitter, TextCounts, explain_item
from goldrank.measures import REGISTRY, Measure
from goldrank.measures.apply import check_credit
from goldrank.notes import Note
from goldrank.types import MeasuresLike, Policies

DEFAULT = ("Cover@5", "CoverAll@5", "nDCG@10", "AP", "RR", "P@5")
"""What is measured of texts when nothing is asked for."""
DEFAULT_OF_PAIRS = ("P@5", "SetP")
UNITS = ("chunk", "sentence")


def evaluate_texts(
    items: Any,
    measures: MeasuresLike = None,
    *,
    matcher: str | Matcher | Callable[..., Any] = "rouge-l:0.7",
    guards: Sequence[str] | None = None,
    unit: str | Splitter = "chunk",
    credit: str = "any",
    tokens: Callable[[str], Any] | None = None,
    judge: Callable[..., Any] | Matcher | None = None,
    claims: Callable[[str], Any] | None = None,
    entities: Callable[[str], Any] | None = None,
    abstain_below: float | None = None,
    sources: Mapping[str, str] | None = None,
    chunks: Any = None,
    lengths: str = "char",
    several: str = "any",
    unlocated: str = "error",
    similarity: float | None = SIMILARITY,
    fields: Mapping[str, str | None] | None = None,
    format: str | None = None,
    failures: str = "error",
    name: str | None = None,
    convention: str | Convention = conventions.DEFAULT,
    **policies: Unpack[Policies],
) -> Scores:
    """Score retrieved texts against the texts that they should cover.

    `items` is a list of dicts, a file (JSON Lines, JSON, Parquet, CSV) or a data frame with, for each question,
    the retrieved texts and the references; field names of the usual frameworks are known, `fields` maps others
    ({"retrieved": "outputs.docs"}). A reference that is a list of texts is covered by any of them.

    `matcher` says when a text covers a reference: a name such as "exact", "contains" or "rouge-l:0.7", or a
    function of both texts. `guards` are what a match must not differ in, whatever its words ("numbers", "units",
    "negations", "names"); None leaves the matcher its own, () takes none. `unit="sentence"` (or a function) compares
    sentences, and ranks then count those.
    `credit` is "any" (a text that covers any reference is relevant; a reference counts once), "one_to_one",
    "first_free" or "pairs" (docs/texts.md). `tokens` counts a text's tokens (a number, or the tokens) where a measure
    asks for them; otherwise words are counted.

    Measures of an answer (`context_recall`) hold texts against the claims of `reference`: its sentences, or what the
    function `claims` makes of it; `entities` likewise finds names and numbers. `judge`, a function of a text and a
    claim, perhaps asynchronous, decides in place of the matcher. Questions with `answerable: false` have no value in
    measures of coverage; a system abstains if it returns nothing, or nothing with a score from `abstain_below` on.

    Measures of spans (`SpanRecall@5`) read evidence by its place instead: items then have `evidence`, each
    {"source": ..., "start": ..., "end": ...} or {"source": ..., "quote": ...}, and retrieved texts have a source
    and a start, or are looked for in `sources` (id to text). `chunks` are all texts of the corpus, where a measure
    asks for them; `lengths` are in "char" or "token". A quotation that stands in `several` places counts in "any" of
    them, in the "first", or is an "error"; one that is `unlocated` is an "error", "missed" by every text, or left out
    ("skip"); an approximate one must have this `similarity` (None: none is taken).

    `failures` says what becomes of questions that `goldrank.run_retriever` failed on: an "error", "skip" or "zero".

    >>> items = [{"retrieved": ["Paris is in France.", "Rome is in Italy."], "references": ["Rome is in Italy."]}]
    >>> evaluate_texts(items, ["Cover@1", "RR"]).mean
    {'Cover@1': 0.0, 'RR': 0.5}
    """
    rules = _abstaining(conventions.get(convention).having(**policies), abstain_below)
    asked = resolve_measures(measures, rules, DEFAULT_OF_PAIRS if credit == "pairs" else DEFAULT)
    wanted = [measure.of_texts for measure in asked]
    answers = Answers.of(claims, entities, judge)
    kinds = kinds_of(wanted, answers)
    for measure in wanted:
        check_credit(measure, credit)
    data = read_items(items, fields=fields, format=format, failures=failures)
    how = TextRules(as_matcher(matcher).having(guards), _splitter(unit), _unit_name(unit), credit)
    finding: dict[str, Any] = {"several": several, "unlocated": unlocated, "similarity": similarity}
    tables: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    notes: list[Note] = []
    needed = {measure.declaration.over for measure in wanted}
    counter = _counter(tokens) if any(map(_counts_tokens, wanted)) else None
    cut_for = [measure.option("tokens") for measure in wanted if measure.option("pack") == "truncate"]
    placing = Placing(how.split, counter, cut_for)
    by_kind: dict[Kind, Passages] = {}
    for kind in [kind for kind in kinds if kind != USUAL]:
        by_kind[kind], counts = place_kind(lambda: iter(data), kind, answers, how.matcher, placing)
        if not tables:
            tables |= tables_for(by_kind[kind])
            queries = by_kind[kind].queries
            numbers |= _numbers(by_kind[kind], counts)
            notes += [] if USUAL in kinds else _notes(numbers, counts, how)
            main = kind
    if USUAL in kinds:
        sample = Sample()
        passing = sample.passing(map(_with_sources, data.given()))
        passages, counts = place_items(passing, how.matcher, **placing._asdict())
        if not counts.references and not passages.unanswerable.any():
            raise InputError("no question has a reference text", where=data.name, hint=_NO_REFERENCES)
        by_kind[USUAL] = passages
        main = USUAL
        tables |= tables_for(passages)
        if "aspects" in needed:
            tables["aspects"] = passages.aspects
        queries = passages.queries
        numbers |= _numbers(passages, counts)
        notes += _notes(numbers, counts, how)
        if counts.retrieved and not counts.matching:
            notes.append(_nothing_matches(data, how))
        elif how.matcher.free:
            notes += _chance(sample, passages.pairs, how, wanted)
    if "spans" in needed:
        if rules.name == conventions.CHROMA.name and lengths != "char":
            raise OptionError('convention "chroma" measures in characters', hint='Leave out lengths="token".')
        if lengths == "token" and tokens is not None:
            finding["tokens"] = _offsets(tokens)
        spans, unanswerable, span_notes = _spans(
            data, sources, chunks, lengths, finding | {"count_tokens": counter, "cut_for": cut_for}
        )
        if not spans.relevant().any() and not unanswerable.any():
            raise InputError("no question has evidence by place", where=data.name, hint=_NO_EVIDENCE)
        tables |= {"spans": spans, "unanswerable": unanswerable}
        queries = spans.queries
        numbers |= {
            "queries": len(spans),
            "retrieved": int(spans.retrieved.sum()),
            "evidence": int(spans.relevant().sum()),
        }
        notes += span_notes
    everything = np.ones(len(queries), bool)
    columns: dict[Measure, Column] = {}
    for measure in wanted:
        kind = USUAL if measure.declaration.over == "spans" else answers.kind(measure)
        read = tables if kind == USUAL else tables_for(by_kind[kind])
        columns |= pipeline.columns_of([measure], read, everything, queries, rules, data.name, credit)[0]
    notes += notes_on(columns, by_kind, answers, data)
    label = [rules.label, *([str(how)] if "texts" in tables else [])]
    return Scores(
        run=name or data.name,
        queries=queries,
        columns={str(measure): column for measure, column in columns.items()},
        counts=numbers,
        notes=(*data.notes, *notes),
        convention=", ".join([*label, *([f"spans by {lengths}"] if "spans" in tables else [])]),
        origin=_origin(data, rules, how),
        explainer=_explainer(data, how, answers, main)
        if "texts" in tables
        else _place_explainer(data, sources, finding),
        options=rules.options,
    )


def _abstaining(rules: Convention, below: float | None) -> Convention:
    """The rules with a threshold of abstaining for the measures that take one."""
    if below is None:
        return rules
    names = [name for name, one in REGISTRY.items() if "abstain_below" in one.options]
    threshold = {name: {**rules.options.get(name, {}), "abstain_below": below} for name in names}
    return replace(rules, options={**rules.options, **threshold})


def _with_sources(given: ReadItem) -> Sourced:
    return given.item, frozenset(source for source in given.sources or () if source is not None)


CHANCE = 0.05
"""From this share of references on, or from a quarter of what is covered, chance makes numbers misleading."""


def _chance(sample: Sample, pairs: Placements, how: TextRules, wanted: Sequence[Measure]) -> list[Note]:
    """What chance alone would cover, beside what is covered."""
    about = [measure for measure in wanted if measure.declaration.over == "texts"] or wanted
    depths = [measure.k for measure in about]
    k = None if None in depths else int(max(depth for depth in depths if depth is not None))
    level = chance_level(sample.kept, how.matcher, how.split, k)
    if level is None:
        return []
    observed = float(covered(pairs, k).sum() / max(len(pairs.judged), 1))
    facts: dict[str, Any] = {"share": level.share, "low": level.low, "high": level.high}
    if level.share > CHANCE or level.share > observed / 4:
        return [Note.of("high-chance-level", observed=observed, **facts)]
    return [Note.of("chance-level", **facts)]


class _Placing(NamedTuple):
    """What is known of places beside the items."""

    items: list[TextItem]
    quotes: dict[str, Sequence[Any]]
    places: dict[str, Sequence[str | None]]
    texts: dict[str, str]


def _placing(given_items: Iterable[ReadItem], sources: Mapping[str, str] | None) -> _Placing:
    found = _Placing([], {}, {}, dict(sources or {}))
    for given in given_items:
        found.items.append(given.item)
        if not given.item.evidence and given.evidence is not None:
            single = isinstance(given.evidence, Mapping)
            found.quotes[given.item.query] = [given.evidence] if single else given.evidence
        if given.sources is not None:
            found.places[given.item.query] = given.sources
        found.texts.update(given.source_texts or {})
    return found


def _spans(
    data: Items,
    sources: Mapping[str, str] | None,
    chunks: Any,
    lengths: str,
    finding: Mapping[str, Any],
) -> tuple[Spans, np.ndarray, Sequence[Note]]:
    from goldrank.match.span_table import spans_of

    found = _placing(data.given(), sources)
    places = {"quotes": found.quotes, "chunk_sources": found.places, "chunks": chunks}
    spans, notes = spans_of(found.items, found.texts or None, unit=lengths, **places, **finding)
    return spans, np.array([item.answerable is False for item in found.items], bool), notes


_NO_REFERENCES = "Give texts that should be found: fields={'references': 'where.they.are'} (--map references=...)."
_NO_EVIDENCE = """Measures of spans need "evidence": [{"source": "doc1", "start": 10, "end": 50}], or a quote."""


def _nothing_matches(data: Items, how: TextRules) -> Note:
    """What to look at when everything is zero: a question's nearest pair."""
    for item in data:
        shown = explain_item(item, how.matcher, how.split)
        if shown.degrees.size:
            row, column = divmod(int(shown.degrees.argmax()), len(shown.references))
            text, reference = shown.retrieved[row], shown.references[column].texts[0]
            nearest = (
                f"; the nearest pair of question {ids.show(item.query)!r} is '{ids.show(text)}' and "
                f"'{ids.show(reference)}', {shown.says} {shown.degrees.max():.2f}"
            )
            return Note.of("nothing-matches", matcher=str(how.matcher), nearest=nearest)
    return Note.of("nothing-matches", matcher=str(how.matcher), nearest="")


class TextRules(NamedTuple):
    """How texts are compared: by which rule, cut into what, and who is credited."""

    matcher: Matcher
    split: Splitter | None
    unit: str
    credit: str

    def __str__(self) -> str:
        form = f", {folding.NAME}" if self.matcher.folds else ""
        return f"{self.matcher} by {self.unit}, credit {self.credit}{form}"


def _splitter(unit: str | Splitter) -> Splitter | None:
    if callable(unit):
        return unit
    if one_of(unit, UNITS, "unit") == "chunk":
        return None
    from goldrank.match.units import sentences

    return sentences


def _unit_name(unit: str | Splitter) -> str:
    return unit if isinstance(unit, str) else getattr(unit, "__name__", "one's own unit")


def _counts_tokens(measure: Measure) -> bool:
    return measure.declaration.counts_tokens or measure.option("tokens") is not None


def _counter(tokens: Callable[[str], Any] | None) -> Callable[[str], int]:
    from goldrank.match.tokens import words

    count = words if tokens is None else tokens

    def counted(text: str) -> int:
        found = count(text)
        number = found if isinstance(found, int | np.integer) else len(found)
        if number < 0:
            raise OptionError(f"tokens counted {number} in a text; it must return the tokens or their number")
        return int(number)

    return counted


def _offsets(tokens: Callable[[str], Any]) -> Callable[[str], list[tuple[int, int]]]:
    """Where the tokens of a function of one's own stand in a text."""
    wrong = OptionError(
        'lengths="token" needs tokens that say where they stand',
        hint="A function that returns the tokens as they stand in the text, or (start, end) of each.",
    )

    def placed(text: str) -> list[tuple[int, int]]:
        found = tokens(text)
        if isinstance(found, int | np.integer):
            raise wrong
        places: list[tuple[int, int]] = []
        end = 0
        for token in found:
            if isinstance(token, str):
                start = text.find(token, end)
                if start < 0:
                    raise wrong
                end = start + len(token)
                places.append((start, end))
            elif isinstance(token, tuple | list) and len(token) == 2:
                places.append((int(token[0]), int(token[1])))
            else:
                raise wrong
        return places

    return placed


def _numbers(passages: Passages, counts: TextCounts) -> dict[str, int]:
    return {
        "queries": len(passages),
        "retrieved": counts.retrieved,
        "references": counts.references,
        "covered": counts.covered,
        "matching": counts.matching,
        "no_results": int((passages.pairs.retrieved == 0).sum()),
        "no_relevant": counts.no_references,
        "empty_retrieved": counts.empty_retrieved,
        "empty_references": counts.empty_references,
        "repeated": counts.repeated,
    }


def _notes(numbers: Mapping[str, int], counts: TextCounts, how: TextRules) -> list[Note]:
    """What a reader must know beside what reading the items told."""
    notes: list[Note] = []
    if numbers["references"]:
        notes.append(Note.of("covered-share", part=numbers["covered"], whole=numbers["references"]))
    if numbers["retrieved"]:
        notes.append(Note.of("matching-share", part=numbers["matching"], whole=numbers["retrieved"]))
    else:
        notes.append(Note.of("no-text-returned"))
    if how.unit != "chunk":
        notes.append(Note.of("rank-unit", unit=how.unit))
    if numbers["no_relevant"]:
        notes.append(Note.of("without-references", samples=counts.without_references))
    if numbers["repeated"]:
        notes.append(Note.of("repeated-texts", count=numbers["repeated"]))
    return notes


def _origin(data: Items, rules: Convention, how: TextRules) -> Callable[[], dict[str, Any]]:
    stamp = pipeline.provenance(rules)

    def made() -> dict[str, Any]:
        gold, returned = _digests(data)
        return {
            **stamp,
            "matcher": str(how.matcher),
            "normalisation": folding.NAME if how.matcher.folds else None,
            "unit": how.unit,
            "credit": how.credit,
            "qrels": {"name": data.name, "sha256": gold, "criteria": None},
            "run": {"name": data.name, "sha256": returned},
        }

    return made


def _digests(data: Items) -> tuple[str, str]:
    """Hashes of what should be found and of what was: the first stays when only the retriever changes."""
    import hashlib

    gold, returned = hashlib.sha256(), hashlib.sha256()
    for given in data.given():
        item = given.item
        gold.update(repr((item.query, list(map(tuple, item.references)), given.evidence)).encode())
        if item.answerable is not None or item.reference:
            gold.update(repr((item.answerable, item.reference)).encode())
        returned.update(repr((item.query, list(item.retrieved), item.spans)).encode())
    return gold.hexdigest(), returned.hexdigest()


def _place_explainer(
    data: Items, sources: Mapping[str, str] | None, finding: Mapping[str, Any]
) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        from goldrank.match.evidence import Finder, resolve
        from goldrank.match.explain_places import explain_places

        texts = _placing(data.given(), sources).texts  # a source may be told of with any question
        given = next((given for given in data.given() if given.item.query == query), None)
        if given is None:
            raise InputError(f"question {query!r} is no longer in {data.name}")
        found = _placing([given], texts)
        asked = {key: finding[key] for key in ("several", "unlocated", "similarity")}
        finder = Finder(found.texts, **asked)
        (item,) = resolve(found.items, finder, found.quotes, found.places)
        return explain_places(item, found.texts)

    return explain


def _explainer(data: Items, how: TextRules, answers: Answers, kind: Kind) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        for item in data:
            if item.query == query:
                return explain_item(answers.item(item, kind.wanted), answers.matcher(kind, how.matcher), how.split)
        raise InputError(f"question {query!r} is no longer in {data.name}")

    return explain
