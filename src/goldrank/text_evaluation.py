"""The hall's other door: retrieved texts and reference texts in, `Scores` out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from goldrank import __version__, conventions
from goldrank.conventions import Convention
from goldrank.data import ids
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.scores import Column, Scores
from goldrank.errors import InputError, MeasureError, OptionError, one_of
from goldrank.evaluation import Measures, summarised, wanted_measures
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
    fields: Mapping[str, str] | None = None,
    format: str | None = None,
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

    >>> items = [{"retrieved": ["Paris is in France.", "Rome is in Italy."], "references": ["Rome is in Italy."]}]
    >>> evaluate_texts(items, ["Cover@1", "RR"]).mean
    {'Cover@1': 0.0, 'RR': 0.5}
    """
    rules = conventions.get(convention).having(**policies)
    wanted = wanted_measures(DEFAULT if measures is None else measures, rules)
    one_of(credit, CREDITS, "credit")
    data = read_items(items, fields=fields, format=format)
    how = _Way(as_matcher(matcher), _splitter(unit), _unit_name(unit), credit)
    counter = _counter(tokens) if any(_counts_tokens(one) for one in wanted) else None
    passages, counts = place_items(data, how.matcher, split=how.split, count_tokens=counter)
    _check(wanted)
    columns = {str(one): _column(one, passages, rules, how, data.name) for one in wanted}
    numbers = _numbers(passages, counts)
    return Scores(
        run=name or data.name,
        queries=passages.queries,
        columns=columns,
        counts=numbers,
        notes=_notes(numbers, counts, how, data.notes),
        convention=f"{rules.label}, {how}",
        origin=_origin(data, rules, how),
        explainer=_explainer(data, how),
    )


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


def _check(measures: Sequence[Measure]) -> None:
    for one in measures:
        if one.declaration.over not in ("placements", "texts"):
            raise MeasureError(f"{one} cannot be measured on texts", hint="See `goldrank measures`.")


def _column(measure: Measure, passages: Passages, rules: Convention, how: _Way, run: str) -> Column:
    alone = measure.declaration.over == "texts"
    values = measure(passages) if alone else credited(measure, passages.pairs, how.credit)
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


def _notes(numbers: Mapping[str, int], counts: TextCounts, how: _Way, tolerated: Sequence[str]) -> tuple[str, ...]:
    notes = list(tolerated)

    def note(key: str, one: str, many: str) -> None:
        if numbers[key]:
            notes.append(f"{numbers[key]:,} {one if numbers[key] == 1 else many}")

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
        which = ids.samples(counts.without_references)
        are = "question has" if numbers["no_relevant"] == 1 else "questions have"
        notes.append(f"{numbers['no_relevant']:,} {are} no reference: {which}")
    note("no_results", "question has no retrieved text", "questions have no retrieved text")
    note(
        "empty_retrieved",
        "retrieved text is empty; it keeps its rank",
        "retrieved texts are empty; they keep their rank",
    )
    note("empty_references", "empty reference was left out", "empty references were left out")
    note("repeated", "retrieved text stands higher up already", "retrieved texts stand higher up already")
    return tuple(notes)


def _origin(data: Any, rules: Convention, how: _Way) -> Callable[[], dict[str, Any]]:
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

    def provenance() -> dict[str, Any]:
        return {
            "goldrank": __version__,
            "time": time,
            "convention": rules.name,
            "policies": rules.describe(),
            "matcher": str(how.matcher),
            "unit": how.unit,
            "credit": how.credit,
            "items": {"name": data.name, "sha256": data.digest},
        }

    return provenance


def _explainer(data: Any, how: _Way) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        for item in data:
            if item.query == query:
                return explain_item(item, how.matcher, how.split)
        raise InputError(f"question {query!r} is no longer in {data.name}")

    return explain
