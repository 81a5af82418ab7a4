"""Retrieved texts and reference texts in, `Scores` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, Unpack

import numpy as np

from goldrank import conventions, ids
from goldrank.conventions import Convention
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.placements import Placements
from goldrank.data.scores import Scores
from goldrank.data.spans import Spans
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, OptionError, did_you_mean, one_of
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve_measures
from goldrank.evaluation.mismatch import explain_id_mismatch
from goldrank.evaluation.passing import Passing
from goldrank.io.corpus import read_chunks, read_sources
from goldrank.io.files import is_file
from goldrank.io.items import Items, ReadItem
from goldrank.io.items import items as read_items
from goldrank.match import Matcher, folding, place_items
from goldrank.match import matcher as as_matcher
from goldrank.match.chance import Sample, Sourced, chance_level, covered
from goldrank.match.locate import SIMILARITY
from goldrank.match.pairs import Splitter, TextCounts, explain_item
from goldrank.measures import Measure
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
    convention: str | Convention = conventions.DEFAULT,
    **policies: Unpack[Policies],
) -> Scores:
    """Score retrieved texts against the texts that they should cover.

    `items` is a list of dicts, a file (JSON Lines, JSON, Parquet, CSV) or a data frame with, for each question,
    the retrieved texts and the references; field names of the usual frameworks are known, `fields` maps others
    ({"retrieved": "outputs.docs"}). A reference that is a list of texts is covered by any of them. Where what is
    expected is named by ids alone (`expected_ids`), ids are compared.

    `matcher` says when a text covers a reference: a name such as "exact", "contains" or "rouge-l:0.7", or a
    function of both texts. `guards` are what a match must not differ in, whatever its words ("numbers", "units",
    "negations", "names"); None leaves the matcher its own, () takes none. `unit="sentence"` (or a function) compares
    sentences, and ranks then count those.
    `credit` is "any" (a text that covers any reference is relevant; a reference counts once), "one_to_one",
    "first_free" or "pairs" (docs/texts.md). `tokens` counts a text's tokens (a number, or the tokens) where a measure
    asks for them; otherwise words are counted.

    Measures of spans (`SpanRecall@5`) read evidence by its place instead: items then have `evidence`, each
    {"source": ..., "start": ..., "end": ...} or {"source": ..., "quote": ...}, and retrieved texts have a source
    and a start, or are looked for in `sources` (id to text, a folder of texts, or a file). `chunks` are all texts of
    the corpus, where a measure asks for them; `lengths` are in "char" or "token". A quotation that stands in `several`
    places counts in "any" of them, in the "first", or is an "error"; one that is `unlocated` is an "error", "missed" by
    every text, or left out ("skip"); an approximate one must have this `similarity` (None: none is taken).

    `failures` says what becomes of questions that `goldrank.run_retriever` failed on: an "error", "skip" or "zero".

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
    tables: dict[str, Any]
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
    rules = conventions.get(ask.convention).having(**policies)
    data = read_items(items, fields=ask.fields, format=ask.format, failures=ask.failures)
    by_id = data.by_id
    wanted = resolve_measures(measures, rules, DEFAULT_OF_PAIRS if ask.credit == "pairs" else DEFAULT)
    for measure in wanted:
        check_credit(measure, ask.credit)
        if by_id and (_counts_tokens(measure) or measure.declaration.over == "spans"):
            raise OptionError(f"{measure} needs texts, and {data.name} has ids", hint="Give retrieved texts too.")
    matcher = as_matcher("exact") if by_id else as_matcher(ask.matcher).having(ask.guards)
    unit = "chunk" if by_id else ask.unit
    how = TextRules(matcher, _splitter(unit), "id" if by_id else _unit_name(unit), ask.credit)
    finding: dict[str, Any] = {key: getattr(ask, key) for key in ("several", "unlocated", "similarity")}
    sources = {} if ask.sources is None else read_sources(ask.sources)
    tables: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    notes: list[Note] = [Note.of("ids-compared")] if by_id else []
    needed = {measure.declaration.over for measure in wanted}
    counter = token_counter(ask.tokens) if count or any(map(_counts_tokens, wanted)) else None
    cut_for = [measure.option("tokens") for measure in wanted if measure.option("pack") == "truncate"]
    passed = Passing()
    if needed - {"spans"}:
        sample = Sample()
        passing = sample.passing(map(_with_sources, passed.by(data.given())))
        passages, counts = place_items(passing, how.matcher, split=how.split, count_tokens=counter, cut_for=cut_for)
        if not counts.references:
            raise InputError("no question has a reference text", where=data.name, hint=_NO_REFERENCES)
        tables |= {"placements": passages.pairs, "texts": passages}
        if "aspects" in needed:
            tables["aspects"] = passages.aspects
        queries = passages.queries
        numbers |= _numbers(passages, counts)
        notes += _notes(numbers, counts, how)
        if counts.retrieved and not counts.matching:
            if by_id and rules.overlap == "error":
                explain_id_mismatch(data.name, passed.retrieved, passed.expected)
            notes.append(_nothing_matches(data, how))
        elif how.matcher.free and not by_id:
            notes += _chance(sample, passages.pairs, how, wanted)
    resolved: list[TextItem] = []
    if "spans" in needed:
        if rules.name == conventions.CHROMA.name and ask.lengths != "char":
            raise OptionError('convention "chroma" measures in characters', hint='Leave out lengths="token".')
        more: dict[str, Any] = {"count_tokens": counter, "cut_for": cut_for, "keep": resolved}
        if ask.lengths == "token" and ask.tokens is not None:
            more["tokens"] = _offsets(ask.tokens)
        again = data.given() if "texts" in tables else passed.by(data.given())
        placing = _placing(again, sources)
        sources = placing.texts
        spans, span_notes = _spans(placing, ask.chunks, ask.lengths, finding | more)
        if not spans.relevant().any():
            raise InputError("no question has evidence by place", where=data.name, hint=_NO_EVIDENCE)
        tables["spans"] = spans
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
    notes += _ties_at_the_end(wanted, tables, passed)
    explainer = _explainer(data, how) if "texts" in tables else _place_explainer(data, sources, finding)
    name = ask.name or data.name
    return PlacedTexts(data, wanted, rules, how, tables, queries, numbers, notes, ask.lengths, name, explainer,
                       resolved, sources, finding)  # fmt: skip


def score_texts(placed: PlacedTexts) -> Scores:
    """The `Scores` of texts that were placed."""
    data, rules, how, tables, queries = placed.data, placed.rules, placed.how, placed.tables, placed.queries
    everything = np.ones(len(queries), bool)
    columns, _ = pipeline.columns_of(placed.wanted, tables, everything, queries, rules, placed.name, how.credit)
    label = [rules.label, *([str(how)] if "texts" in tables else [])]
    return Scores(
        run=placed.name,
        queries=queries,
        columns={str(measure): column for measure, column in columns.items()},
        counts=placed.numbers,
        notes=(*data.notes, *placed.notes),
        convention=", ".join([*label, *([f"spans by {placed.lengths}"] if "spans" in tables else [])]),
        origin=_origin(data, rules, how, placed.name),
        explainer=placed.explainer,
        options=rules.options,
    )


def _ties_at_the_end(wanted: Sequence[Measure], tables: Mapping[str, Any], passed: Passing) -> list[Note]:
    """How many contexts end between two texts of the same score: which of them is in it is chance."""
    contexts = {
        (
            int(budget),
            str(measure.option("pack")),
            measure.k,
            "spans" if measure.declaration.over == "spans" else "texts",
        )
        for measure in wanted
        if (budget := measure.option("tokens")) is not None and measure.option("pack") != "skip"
    }
    if not passed.tied or not contexts:
        return []
    straddled: set[int] = set()
    for budget, _, k, table in contexts:
        whole = tables[table]
        kept = (whole if table == "spans" else whole.pairs).packed(budget, "prefix", k).retrieved
        straddled |= {query for query, ranks in passed.tied.items() if kept[query] in ranks}
    return [Note.of("ties-at-the-end", count=len(straddled))] if straddled else []


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


def _spans(found: _Placing, chunks: Any, lengths: str, finding: Mapping[str, Any]) -> tuple[Spans, Sequence[Note]]:
    from goldrank.match.span_table import spans_of

    if is_file(chunks) or (isinstance(chunks, list | tuple) and any(isinstance(one, Mapping) for one in chunks)):
        chunks = read_chunks(chunks)
    places = {"quotes": found.quotes, "chunk_sources": found.places, "chunks": chunks}
    return spans_of(found.items, found.texts or None, unit=lengths, **places, **finding)


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


def token_counter(tokens: Callable[[str], Any] | None) -> Callable[[str], int]:
    """What counts the tokens of a text: one's own function, or words."""
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


def _explainer(data: Items, how: TextRules) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        for item in data:
            if item.query == query:
                return explain_item(item, how.matcher, how.split)
        raise InputError(f"question {query!r} is no longer in {data.name}")

    return explain
