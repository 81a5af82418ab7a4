"""The hall's other door: retrieved texts and reference texts in, `Scores` out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from goldrank import __version__, conventions, ids
from goldrank.conventions import Convention
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.scores import Column, Scores
from goldrank.data.spans import Spans
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, MeasureError, OptionError, one_of
from goldrank.evaluation.documents import Measures, summarised, wanted_measures
from goldrank.io.items import Items
from goldrank.io.items import items as read_items
from goldrank.match import Matcher, place_items
from goldrank.match import matcher as as_matcher
from goldrank.match.explain import explain_item
from goldrank.match.pairs import Splitter, TextCounts
from goldrank.measures import Measure
from goldrank.measures.texts import CREDITS, credited

DEFAULT = ("Cover@5", "CoverAll@5", "nDCG@10", "AP", "RR", "P@5")
"""What is measured of texts when nothing is asked for."""
UNITS = ("chunk", "sentence")


def evaluate_texts(
    items: Any,
    measures: Measures = None,
    *,
    matcher: str | Matcher | Callable[..., Any] = "rouge-l:0.7",
    unit: str | Splitter = "chunk",
    credit: str = "any",
    tokens: Callable[[str], Any] | None = None,
    sources: Mapping[str, str] | None = None,
    chunks: Any = None,
    lengths: str = "char",
    fields: Mapping[str, str | None] | None = None,
    format: str | None = None,
    failures: str = "error",
    name: str | None = None,
    convention: str | Convention = conventions.DEFAULT,
    **policies: Any,
) -> Scores:
    """Score retrieved texts against the texts that they should cover.

    `items` is a list of dicts, a file (JSON Lines, JSON, Parquet, CSV) or a data frame with, for each question,
    the retrieved texts and the references; field names of the usual frameworks are known, `fields` maps others
    ({"retrieved": "outputs.docs"}). A reference that is a list of texts is covered by any of them.

    `matcher` says when a text covers a reference: a name such as "exact", "contains" or "rouge-l:0.7", or a
    function of both texts. `unit="sentence"` (or a function) compares sentences, and ranks then count those.
    `credit` is "any" (a text that covers any reference is relevant; a reference counts once), "pairs" or
    "one_to_one". `tokens` counts a text's tokens (a number, or the tokens) where a measure asks for them;
    otherwise words are counted.

    Measures of spans (`SpanRecall@5`) read evidence by its place instead: items then have `evidence`, each
    {"source": ..., "start": ..., "end": ...} or {"source": ..., "quote": ...}, and retrieved texts have a source
    and a start, or are looked for in `sources` (id to text). `chunks` are all texts of the corpus, where a measure
    asks for them; `lengths` are in "char" or "token".

    `failures` says what becomes of questions that `goldrank.run_retriever` failed on: an "error", "skip" or "zero".

    >>> items = [{"retrieved": ["Paris is in France.", "Rome is in Italy."], "references": ["Rome is in Italy."]}]
    >>> evaluate_texts(items, ["Cover@1", "RR"]).mean
    {'Cover@1': 0.0, 'RR': 0.5}
    """
    rules = conventions.get(convention).having(**policies)
    wanted = wanted_measures(DEFAULT if measures is None else measures, rules)
    one_of(credit, CREDITS, "credit")
    data = read_items(items, fields=fields, format=format, failures=failures)
    how = _Way(as_matcher(matcher), _splitter(unit), _unit_name(unit), credit)
    columns: dict[Measure, Column] = {}
    numbers: dict[str, int] = {}
    notes: list[str] = []
    by_place = [one for one in wanted if one.declaration.over == "spans"]
    if by_text := [one for one in wanted if one.declaration.over != "spans"]:
        counter = _counter(tokens) if any(_counts_tokens(one) for one in by_text) else None
        passages, counts = place_items(data, how.matcher, split=how.split, count_tokens=counter)
        columns |= {one: _column(one, passages, rules, how, data.name) for one in by_text}
        queries = passages.queries
        numbers |= _numbers(passages, counts)
        if not counts.references:
            raise InputError("no question has a reference text", where=data.name, hint=_NO_REFERENCES)
        notes += _notes(numbers, counts, how)
        if counts.retrieved and not counts.matching:
            notes.append(_nothing_matches(data, how))
    if by_place:
        spans, told = _spans(data, sources, chunks, lengths)
        everything = np.ones(len(spans), bool)
        columns |= {one: summarised(one, one(spans), spans, everything, rules, data.name) for one in by_place}
        queries = spans.queries
        if not spans.relevant().any():
            raise InputError("no question has evidence by place", where=data.name, hint=_NO_EVIDENCE)
        numbers |= {
            "queries": len(spans),
            "retrieved": int(spans.retrieved.sum()),
            "evidence": int(spans.relevant().sum()),
        }
        notes += told
    label = [rules.label, *([str(how)] if by_text else []), *([f"spans by {lengths}"] if by_place else [])]
    return Scores(
        run=name or data.name,
        queries=queries,
        columns={str(one): columns[one] for one in wanted},
        counts=numbers,
        notes=(*map(str, data.notes), *notes),
        convention=", ".join(label),
        origin=_origin(data, rules, how),
        explainer=_explainer(data, how),
    )


def _spans(data: Items, sources: Mapping[str, str] | None, chunks: Any, lengths: str) -> tuple[Spans, tuple[str, ...]]:
    from goldrank.match.evidence import spans_of

    items: list[TextItem] = []
    quotes: dict[str, Sequence[Any]] = {}
    places: dict[str, Sequence[str | None]] = {}
    texts = dict(sources or {})
    for given in data.given():
        items.append(given.item)
        if not given.item.evidence and given.evidence is not None:
            single = isinstance(given.evidence, Mapping)
            quotes[given.item.query] = [given.evidence] if single else given.evidence
        if given.sources is not None:
            places[given.item.query] = given.sources
        texts.update(given.source_texts or {})
    return spans_of(items, texts or None, unit=lengths, quotes=quotes, chunk_sources=places, chunks=chunks)


_NO_REFERENCES = "Give texts that should be found: fields={'references': 'where.they.are'} (--map references=...)."
_NO_EVIDENCE = """Measures of spans need "evidence": [{"source": "doc1", "start": 10, "end": 50}], or a quote."""


def _nothing_matches(data: Items, how: _Way) -> str:
    """What to look at when everything is zero: a question's nearest pair."""
    for item in data:
        found = explain_item(item, how.matcher, how.split)
        if found.degrees.size:
            row, column = divmod(int(found.degrees.argmax()), len(found.references))
            text, reference = found.retrieved[row], found.references[column].texts[0]
            return (
                f"no text covers any reference by {how.matcher}; the nearest pair of question {ids.show(item.query)!r} "
                f"is '{ids.show(text)}' and '{ids.show(reference)}', {found.says} {found.degrees.max():.2f}"
            )
    return f"no text covers any reference by {how.matcher}"


class _Way:
    """How texts are compared: by which rule, cut into what, and who is credited."""

    def __init__(self, rule: Matcher, split: Splitter | None, unit: str, credit: str) -> None:
        self.matcher, self.split, self.unit, self.credit = rule, split, unit, credit

    def __str__(self) -> str:
        return f"{self.matcher} by {self.unit}, credit {self.credit}"


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
    return measure.name == "Tokens" or measure.option("tokens") is not None


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


def _column(measure: Measure, passages: Passages, rules: Convention, how: _Way, run: str) -> Column:
    over = measure.declaration.over
    if over == "placements":
        values = credited(measure, passages.pairs, how.credit)
    elif over in ("texts", "aspects"):
        values = measure(passages if over == "texts" else passages.aspects)
    else:
        raise MeasureError(f"{measure} cannot be measured on texts", hint="See `goldrank measures`.")
    return summarised(measure, values, passages.pairs, np.ones(len(passages), bool), rules, run)


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


def _notes(numbers: Mapping[str, int], counts: TextCounts, how: _Way) -> list[str]:
    """What a reader must know beside what reading the items told."""
    notes: list[str] = []
    if numbers["references"]:
        share = numbers["covered"] / numbers["references"]
        notes.append(f"{share:.1%} of {numbers['references']:,} references are covered by some retrieved text")
    if numbers["retrieved"]:
        share = numbers["matching"] / numbers["retrieved"]
        notes.append(f"{share:.1%} of {numbers['retrieved']:,} retrieved texts cover a reference")
    else:
        notes.append("nothing at all was retrieved")
    if how.unit != "chunk":
        notes.append(f"ranks count {how.unit}s")
    if numbers["no_relevant"]:
        notes.append(f"questions without references: {ids.samples(counts.without_references)}")
    if numbers["repeated"]:
        notes.append(f"retrieved texts that stand higher up already: {numbers['repeated']:,}")
    return notes


def _origin(data: Items, rules: Convention, how: _Way) -> Callable[[], dict[str, Any]]:
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

    def provenance() -> dict[str, Any]:
        gold, returned = _digests(data)
        return {
            "goldrank": __version__,
            "time": time,
            "convention": rules.name,
            "policies": rules.describe(),
            "matcher": str(how.matcher),
            "unit": how.unit,
            "credit": how.credit,
            "qrels": {"name": data.name, "sha256": gold, "criteria": None},
            "run": {"name": data.name, "sha256": returned},
        }

    return provenance


def _digests(data: Items) -> tuple[str, str]:
    """Hashes of what should be found and of what was: the first stays when only the retriever changes."""
    import hashlib

    gold, returned = hashlib.sha256(), hashlib.sha256()
    for given in data.given():
        item = given.item
        gold.update(repr((item.query, list(map(tuple, item.references)), given.evidence)).encode())
        returned.update(repr((item.query, list(item.retrieved), item.spans)).encode())
    return gold.hexdigest(), returned.hexdigest()


def _explainer(data: Items, how: _Way) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        for item in data:
            if item.query == query:
                return explain_item(item, how.matcher, how.split)
        raise InputError(f"question {query!r} is no longer in {data.name}")

    return explain
