"""Retrieved texts and reference texts in, `Scores` out; evidence is found by its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, Unpack

import numpy as np

from goldrank import conventions
from goldrank.conventions import Convention, tool_of
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.data.spans import Spans
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, OptionError, did_you_mean
from goldrank.evaluation import pipeline
from goldrank.evaluation.claims import USUAL, Answers, ClaimKind, kinds_of, notes_on, place_kind, tables_for
from goldrank.evaluation.inputs import resolve_measures
from goldrank.evaluation.mismatch import explain_id_mismatch
from goldrank.evaluation.text_notes import Passing, chance_notes, notes_of, nothing_matches, numbers_of, ties_at_the_end
from goldrank.evaluation.text_rules import (
    TextRules,
    counts_tokens,
    splitter,
    token_counter,
    token_offsets,
    unit_name,
)
from goldrank.io.corpus import read_chunks, read_sources
from goldrank.io.files import is_file
from goldrank.io.items import Items, ReadItem
from goldrank.io.items import items as read_items
from goldrank.match import Matcher, folding, place_items
from goldrank.match import matcher as as_matcher
from goldrank.match.chance import Sample, Sourced
from goldrank.match.locate import SIMILARITY
from goldrank.match.matcher import AsksAJudge
from goldrank.match.pairs import Splitter, explain_item
from goldrank.measures import REGISTRY, Measure
from goldrank.measures.apply import check_credit
from goldrank.misuse import checked
from goldrank.notes import Note
from goldrank.types import ConventionLike, MeasuresLike, Policies

DEFAULT = ("Cover@5", "CoverAll@5", "nDCG@10", "AP", "RR", "P@5")
"""What is measured of texts when nothing is asked for."""
DEFAULT_OF_PAIRS = ("P@5", "SetP")


@checked
def evaluate_texts(
    items: Any,
    measures: MeasuresLike = None,
    *,
    matcher: str | Matcher | AsksAJudge | Callable[..., Any] = "rouge-l:0.7",
    guards: Sequence[str] | None = None,
    unit: str | Splitter = "chunk",
    credit: str = "any",
    tokens: Callable[[str], Any] | None = None,
    judge: Callable[..., Any] | Matcher | AsksAJudge | None = None,
    claims: Callable[[str], Any] | None = None,
    entities: Callable[[str], Any] | None = None,
    abstain_below: float | None = None,
    sources: Any = None,
    chunks: Any = None,
    lengths: str = "char",
    several: str = "any",
    unlocated: str = "error",
    similarity: float | None = SIMILARITY,
    fields: Mapping[str, str | None] | None = None,
    format: str | None = None,
    failures: str = "error",
    name: str | None = None,
    convention: ConventionLike = "trec_eval-10",
    **policies: Unpack[Policies],
) -> Scores:
    """Score retrieved texts against the texts that they should cover.

    `items` is a list of dicts, a file (JSON Lines, JSON, Parquet, CSV) or a data frame with, for each question,
    the retrieved texts and the references; field names of the usual frameworks are known, `fields` maps others
    ({"retrieved": "outputs.docs"}). A reference that is a list of texts is covered by any of them. Where what is
    expected is named by ids alone (`expected_ids`), ids are compared.

    `matcher` says when a text covers a reference: a name such as "exact", "contains" or "rouge-l:0.7", or a
    function of both texts. `guards` are what a match must not differ in ("numbers", "units", "negations", "names");
    None means those of the matcher, () means none. `unit="sentence"` (or a function) compares sentences, and ranks
    then count those.
    `credit` is "any" (a text that covers any reference is relevant; a reference counts once), "one_to_one",
    "first_free" or "pairs" (docs/texts.md). `tokens` counts a text's tokens (a number, or the tokens) where a measure
    asks for them; otherwise words are counted.

    Measures of an answer (`context_recall`) compare texts with the claims of `reference`: its sentences, or what the
    function `claims` makes of it; the function `entities` finds names and numbers. `judge`, a function of a text and a
    claim, perhaps asynchronous, decides instead of the matcher. Questions with `answerable: false` have no value in
    measures of coverage; a system abstains if it returns nothing, or nothing with a score from `abstain_below` on.

    Measures of spans (`SpanRecall@5`) read evidence by its place instead: items then have `evidence`, each
    {"source": ..., "start": ..., "end": ...} or {"source": ..., "quote": ...}, and retrieved texts have a source
    and a start, or are looked for in `sources` (id to text, a folder of texts, or a file). `chunks` are all texts of
    the corpus, where a measure asks for them; `lengths` are in "char" or "token". `several` says whether a quotation
    in several places counts in "any" of them, in the "first", or is an "error". `unlocated` says whether one that is
    not found is an "error", "missed" by every text, or left out ("skip"). `similarity` is the least similarity of
    an approximate one (None: only exact ones count).

    `failures` says what to do with questions on which `goldrank.run_retriever` failed: an "error", "skip" or "zero".

    >>> items = [{"retrieved": ["Paris is in France.", "Rome is in Italy."], "references": ["Rome is in Italy."]}]
    >>> evaluate_texts(items, ["Cover@1", "RR"]).mean
    {'Cover@1': 0.0, 'RR': 0.5}
    """
    usual = evaluate_texts.__kwdefaults__ or {}
    given: dict[str, Any] = {key: value for key, value in locals().items() if key in usual}
    return score_texts(place_texts(items, measures, **given, **policies))


class PlacedTexts(NamedTuple):
    """Texts that were compared with what they should cover: the tables that measures read, and all that scores tell."""

    data: Items
    wanted: list[Measure]
    rules: Convention
    how: TextRules
    answers: Answers
    by_kind: Mapping[ClaimKind, Passages]
    """Passages by what texts are held against."""
    tables: dict[str, Any]
    """What measures of places and of the first kind read."""
    queries: tuple[str, ...]
    numbers: dict[str, int]
    notes: list[Note]
    lengths: str
    name: str
    explainer: Callable[[str], Explanation]
    resolved: Sequence[TextItem]
    """For evidence by place, the items with all places that were found."""
    sources: Mapping[str, str]
    finding: Mapping[str, Any]


def place_texts(
    items: Any,
    measures: MeasuresLike = None,
    *,
    count: bool = False,
    **given: Any,  # the arguments of `evaluate_texts`
) -> PlacedTexts:
    """Match or locate all texts once. With `count` tokens are counted though no measure asks for them."""
    usual = dict(evaluate_texts.__kwdefaults__ or {})
    policies = {key: value for key, value in given.items() if key in conventions.POLICIES}
    for key in given:
        if key not in usual and key not in policies:
            raise OptionError(f"there is no option {key!r}", hint=did_you_mean(key, [*usual, *conventions.POLICIES]))
    ask = SimpleNamespace(**{**usual, **given})
    rules = abstaining(conventions.get(ask.convention).with_policies(**policies), ask.abstain_below)
    asked = resolve_measures(measures, rules, DEFAULT_OF_PAIRS if ask.credit == "pairs" else DEFAULT)
    wanted = [measure.of_texts for measure in asked]
    answers = Answers.of(ask.claims, ask.entities, ask.judge)
    kinds = kinds_of(wanted, answers)
    for measure in wanted:
        check_credit(measure, ask.credit)
    matcher, unit = as_matcher(ask.matcher).having(ask.guards), ask.unit
    data = read_items(items, fields=ask.fields, format=ask.format, failures=ask.failures)
    by_id = data.by_id
    if by_id:
        _check_ids_suffice(wanted, answers, data.name)
        matcher, unit = as_matcher("exact"), "chunk"
    how = TextRules(matcher, splitter(unit), "id" if by_id else unit_name(unit), ask.credit)
    finding: dict[str, Any] = {key: getattr(ask, key) for key in ("several", "unlocated", "similarity")}
    sources = {} if ask.sources is None else read_sources(ask.sources)
    tables: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    notes: list[Note] = [Note.of("ids-compared")] if by_id else []
    needed = {measure.declaration.over for measure in wanted}
    counter = token_counter(ask.tokens) if count or any(map(counts_tokens, wanted)) else None
    cut_for = [measure.option("tokens") for measure in wanted if measure.option("pack") == "truncate"]
    placing: dict[str, Any] = {"split": how.split, "count_tokens": counter, "cut_for": cut_for}
    passed = Passing()
    by_kind: dict[ClaimKind, Passages] = {}
    first = next(iter(kinds), USUAL)
    for kind in kinds:
        sample = Sample()
        if kind == USUAL:
            passing = sample.passing(map(_with_sources, passed.by(data.given())))
            passages, counts = place_items(passing, how.matcher, **placing)
            if not counts.references and not passages.unanswerable.any():
                what = "no question has a reference text"
                raise InputError(what, where=data.name, hint=_NO_REFERENCES, code="no-references")
        else:
            passages, counts = place_kind(lambda: passed.items(data), kind, answers, how.matcher, placing)
        notes += answers.matcher(kind, how.matcher).take_notes()
        by_kind[kind] = passages
        if kind != first:
            continue
        tables |= tables_for(passages)
        queries = passages.queries
        numbers |= numbers_of(passages, counts)
        notes += notes_of(numbers, counts, how)
        if kind != USUAL:
            continue
        if "aspects" in needed:
            tables["aspects"] = passages.aspects
        if not counts.references:
            continue
        if counts.retrieved and not counts.matching:
            if by_id and rules.overlap == "error":
                explain_id_mismatch(data.name, passed.retrieved, passed.expected)
            notes.append(nothing_matches(data, how))
        elif how.matcher.free and not by_id:
            notes += chance_notes(sample, passages.pairs, how, wanted)
    resolved: list[TextItem] = []
    if "spans" in needed:
        tool_of(rules).check_lengths(ask.lengths)
        more: dict[str, Any] = {"count_tokens": counter, "cut_for": cut_for, "keep": resolved}
        if ask.lengths == "token" and ask.tokens is not None:
            more["tokens"] = token_offsets(ask.tokens)
        places = places_of(passed.by(data.given()), sources)
        sources = places.texts
        spans, span_notes = spans_by(places, ask.chunks, ask.lengths, finding | more)
        unanswerable = np.array([item.answerable is False for item in places.items], bool)
        if not spans.relevant().any() and not unanswerable.any():
            lost = any(note.code == "quotations-lost" for note in span_notes)
            what = (
                "all evidence was left out: no quotation was located" if lost else "no question has evidence by place"
            )
            raise InputError(what, where=data.name, hint=_NONE_LOCATED if lost else _NO_EVIDENCE, code="not-located")
        tables |= {"spans": spans, "unanswerable": unanswerable}
        queries = spans.queries
        numbers |= {
            "queries": len(spans),
            "retrieved": int(spans.retrieved.sum()),
            "evidence": int(spans.relevant().sum()),
            "no_results": int((spans.retrieved == 0).sum()),
        }
        notes += span_notes
    if not by_id:
        numbers["characters"] = passed.characters
    notes += ties_at_the_end(wanted, tables, passed)
    explainer = _explainer(data, how, answers, first) if "texts" in tables else place_explainer(data, sources, finding)
    return PlacedTexts(data, wanted, rules, how, answers, by_kind, tables, queries, numbers, notes, ask.lengths,
                       ask.name or data.name, explainer, resolved, sources, finding)  # fmt: skip


def score_texts(placed: PlacedTexts) -> Scores:
    """The `Scores` of texts that were placed."""
    data, rules, how, tables, queries = placed.data, placed.rules, placed.how, placed.tables, placed.queries
    everything = np.ones(len(queries), bool)
    columns: dict[Measure, Column] = {}
    for measure in placed.wanted:
        kind = USUAL if measure.declaration.over == "spans" else placed.answers.kind(measure)
        read = tables if kind == USUAL else tables_for(placed.by_kind[kind])
        columns |= pipeline.columns_of([measure], read, everything, queries, rules, placed.name, how.credit)[0]
    notes = [*placed.notes, *notes_on(columns, placed.by_kind, placed.answers, data)]
    label = [rules.label, *([str(how)] if "texts" in tables else [])]
    return Scores(
        run=placed.name,
        queries=queries,
        columns={str(measure): column for measure, column in columns.items()},
        remarks=Remarks(placed.numbers, (*data.notes, *notes)),
        convention=", ".join([*label, *([f"spans by {placed.lengths}"] if "spans" in tables else [])]),
        origin=_origin(data, rules, how, placed.name),
        explainer=placed.explainer,
        options=tool_of(rules).options,
    )


def _check_ids_suffice(wanted: Sequence[Measure], answers: Answers, name: str) -> None:
    """Refuse measures that need texts where there are ids alone."""
    for measure in wanted:
        if counts_tokens(measure) or measure.declaration.over == "spans" or answers.kind(measure) != USUAL:
            what = f"{measure} needs texts, and {name} has ids"
            raise OptionError(what, hint="Give retrieved texts too.", code="needs-texts")


def abstaining(rules: Convention, below: float | None) -> Convention:
    """The rules with a threshold of abstaining for the measures that take one."""
    if below is None:
        return rules
    names = [name for name, declaration in REGISTRY.items() if "abstain_below" in declaration.options]
    return conventions.with_options(rules, {name: {"abstain_below": below} for name in names})


def _with_sources(given: ReadItem) -> Sourced:
    return given.item, frozenset(source for source in given.sources or () if source is not None)


_NO_REFERENCES = "Give texts that should be found: fields={'references': 'where.they.are'} (--map references=...)."
_NONE_LOCATED = "Are these the sources that were quoted? unlocated='error' (--unlocated) says what is nearest to each."
_NO_EVIDENCE = """Measures of spans need "evidence": [{"source": "doc1", "start": 10, "end": 50}], or a quote."""


def _origin(data: Items, rules: Convention, how: TextRules, name: str) -> Callable[[], dict[str, Any]]:
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
            "run": {"name": name, "sha256": returned},
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


def _explainer(data: Items, how: TextRules, answers: Answers, kind: ClaimKind) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        for item in data:
            if item.query == query:
                return explain_item(answers.item(item, kind.wanted), answers.matcher(kind, how.matcher), how.split)
        raise InputError(f"question {query!r} is no longer in {data.name}")

    return explain


class Places(NamedTuple):
    """What is known of places beside the items."""

    items: list[TextItem]
    quotes: dict[str, Sequence[Any]]
    places: dict[str, Sequence[str | None]]
    texts: dict[str, str]


def places_of(given_items: Iterable[ReadItem], sources: Mapping[str, str] | None) -> Places:
    """What items say of places, beside sources that are given."""
    places = Places([], {}, {}, dict(sources or {}))
    for given in given_items:
        places.items.append(given.item)
        if not given.item.evidence and given.evidence is not None:
            single = isinstance(given.evidence, Mapping)
            places.quotes[given.item.query] = [given.evidence] if single else given.evidence
        if given.sources is not None:
            places.places[given.item.query] = given.sources
        places.texts.update(given.source_texts or {})
    return places


def spans_by(found: Places, chunks: Any, lengths: str, finding: Mapping[str, Any]) -> tuple[Spans, Sequence[Note]]:
    """The table that measures of spans read."""
    from goldrank.match.span_table import spans_of

    if is_file(chunks) or (isinstance(chunks, list | tuple) and any(isinstance(chunk, Mapping) for chunk in chunks)):
        chunks = read_chunks(chunks)
    places = {"quotes": found.quotes, "chunk_sources": found.places, "chunks": chunks}
    return spans_of(found.items, found.texts or None, unit=lengths, **places, **finding)


def place_explainer(
    data: Items, sources: Mapping[str, str] | None, finding: Mapping[str, Any]
) -> Callable[[str], Explanation]:
    """What explains a question by the places of its texts and its evidence."""

    def explain(query: str) -> Explanation:
        from goldrank.match.evidence import Finder, resolve
        from goldrank.match.explain_places import explain_places

        texts = places_of(data.given(), sources).texts  # a source may be told of with any question
        given = next((given for given in data.given() if given.item.query == query), None)
        if given is None:
            raise InputError(f"question {query!r} is no longer in {data.name}")
        places = places_of([given], texts)
        asked = {key: finding[key] for key in ("several", "unlocated", "similarity")}
        finder = Finder(places.texts, **asked)
        (item,) = resolve(places.items, finder, places.quotes, places.places)
        return explain_places(item, places.texts)

    return explain
