"""What a reader must know of texts that were compared: counts, shares, what chance alone would cover, ties; and what is
counted of questions while they are read, so that they need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.data.passages import Passages
from goldrank.data.placements import Placements
from goldrank.data.text_item import TextItem
from goldrank.evaluation.text_rules import TextRules
from goldrank.io.questions.item_reader import ItemReader, ReadItem
from goldrank.match.chance import Sample, chance_level, covered
from goldrank.match.pairs import TextCounts, explain_item
from goldrank.measures import Measure

SHOWN_IDS = 1_000
"""The number of ids that are looked at where none match."""


class Passing:
    """What the last pass over items showed: how long texts are, equal scores next to each other, ids."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.characters = 0
        self.tied: dict[int, list[int]] = {}
        """By question, ranks whose score the next rank has too."""
        self.retrieved: list[str] = []
        self.expected: list[str] = []

    def by(self, entries: Iterable[ReadItem]) -> Iterator[ReadItem]:
        """The items as they are."""
        self._clear()
        for number, entry in enumerate(entries):
            self.characters += sum(map(len, entry.item.retrieved))
            if entry.scores is not None:
                pairs = enumerate(pairwise(entry.scores), 1)
                ranks = [rank for rank, (score, next_score) in pairs if score is not None and score == next_score]
                if ranks:
                    self.tied[number] = ranks
            if entry.by_id and len(self.expected) < SHOWN_IDS:
                self.retrieved += entry.item.retrieved
                self.expected += (text for reference in entry.item.references for text in reference.texts)
            yield entry

    def items(self, reader: ItemReader) -> Iterator[TextItem]:
        """The items alone, counted as in `by`."""
        return (entry.item for entry in self.by(reader.entries()))


CHANCE = 0.05
"""From this share of references on, or from a quarter of what is covered, chance makes numbers misleading."""


def numbers_of(passages: Passages, counts: TextCounts) -> dict[str, int]:
    """The counts of a result."""
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


def notes_of(numbers: Mapping[str, int], counts: TextCounts, text_rules: TextRules) -> list[Note]:
    """What a reader must know beside the notes of reading the items."""
    notes: list[Note] = []
    if numbers["references"]:
        notes.append(Note.of("covered-share", part=numbers["covered"], whole=numbers["references"]))

    if numbers["retrieved"]:
        notes.append(Note.of("matching-share", part=numbers["matching"], whole=numbers["retrieved"]))
    else:
        notes.append(Note.of("no-text-returned"))

    if text_rules.unit != "chunk":
        notes.append(Note.of("rank-unit", unit=text_rules.unit))

    if numbers["no_relevant"]:
        notes.append(Note.of("without-references", samples=counts.without_references))

    if counts.unguarded:
        scripts = ", ".join(sorted(counts.unguarded))
        notes.append(Note.of("negations-unknown", scripts=scripts, count=counts.unguarded.total()))

    if numbers["repeated"]:
        notes.append(Note.of("repeated-texts", count=numbers["repeated"]))

    return notes


def chance_notes(sample: Sample, pairs: Placements, text_rules: TextRules, measures: Sequence[Measure]) -> list[Note]:
    """What chance alone would cover, beside what is covered."""
    of_texts = [measure for measure in measures if measure.declaration.over == "texts"] or measures
    cutoffs = [measure.k for measure in of_texts]
    k = None
    if None not in cutoffs:
        k = int(max(cutoff for cutoff in cutoffs if cutoff is not None))

    level = chance_level(sample.questions, text_rules.matcher, text_rules.split, k)
    if level is None:
        return []

    observed = float(covered(pairs, k).sum() / max(len(pairs.judged), 1))
    facts: dict[str, Any] = {"share": level.share, "low": level.low, "high": level.high}
    if level.share > CHANCE or level.share > observed / 4:
        return [Note.of("high-chance-level", observed=observed, **facts)]
    return [Note.of("chance-level", **facts)]


def nothing_matches(items: Iterable[TextItem], text_rules: TextRules) -> Note:
    """What to look at when everything is zero: a question's nearest pair."""
    for item in items:
        shown = explain_item(item, text_rules.matcher, text_rules.split)
        if shown.degrees.size:
            row, column = divmod(int(shown.degrees.argmax()), len(shown.references))
            text, reference = shown.retrieved[row], shown.references[column].texts[0]
            if shown.threshold is None and (row, column) not in shown.refused:
                reason = f"{shown.says} {shown.degrees.max():.2f}"
            else:
                reason = shown.reason(row, column)
            nearest = (
                f"; the nearest pair of question {ids.show(item.query)!r} is '{ids.show(text)}' and "
                f"'{ids.show(reference)}', {reason}"
            )
            return Note.of("nothing-matches", matcher=str(text_rules.matcher), nearest=nearest)

    return Note.of("nothing-matches", matcher=str(text_rules.matcher), nearest="")


def ties_at_the_end(measures: Sequence[Measure], tables: Mapping[str, Any], passed: Passing) -> list[Note]:
    """How many contexts end between two texts of the same score: which of them is in it is chance."""
    if not passed.tied:
        return []

    contexts: set[tuple[int, float | None, bool]] = set()
    for measure in measures:
        budget = measure.option("tokens")
        is_of_spans = measure.declaration.over == "spans" or "texts" not in tables
        if budget is not None and measure.option("pack") != "skip":
            contexts.add((int(budget), measure.k, is_of_spans))

    tied_queries: set[int] = set()
    for budget, k, is_of_spans in contexts:
        if is_of_spans:
            table = tables["spans"]
        else:
            table = tables["texts"].pairs
        sizes = table.packed(budget, "prefix", k).retrieved
        tied_queries |= {query for query, ranks in passed.tied.items() if sizes[query] in ranks}

    if tied_queries:
        return [Note.of("ties-at-the-end", count=len(tied_queries))]
    return []
