"""What a reader must know of texts that were compared: counts, shares, what chance alone would cover, ties; and what is
noticed of questions while they are read, for which nothing of them has to be kept."""

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
"""Ids that are looked at where none match."""


class Passing:
    """What the last pass of items showed: how long texts are, equal scores next to each other, ids."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.characters = 0
        self.tied: dict[int, list[int]] = {}
        """By question, ranks whose score the next rank has too."""
        self.retrieved: list[str] = []
        self.expected: list[str] = []

    def by(self, given_items: Iterable[ReadItem]) -> Iterator[ReadItem]:
        """The items as they are."""
        self._clear()
        for number, given in enumerate(given_items):
            self.characters += sum(map(len, given.item.retrieved))
            if given.scores is not None:
                pairs = enumerate(pairwise(given.scores), 1)
                if ranks := [rank for rank, (a, b) in pairs if a is not None and a == b]:
                    self.tied[number] = ranks
            if given.by_id and len(self.expected) < SHOWN_IDS:
                self.retrieved += given.item.retrieved
                self.expected += (text for reference in given.item.references for text in reference.texts)
            yield given

    def items(self, reader: ItemReader) -> Iterator[TextItem]:
        """The same, without what else was said of them."""
        return (given.item for given in self.by(reader.entries()))


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


def notes_of(numbers: Mapping[str, int], counts: TextCounts, how: TextRules) -> list[Note]:
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

    if counts.unguarded:
        scripts = ", ".join(sorted(counts.unguarded))
        notes.append(Note.of("negations-unknown", scripts=scripts, count=counts.unguarded.total()))

    if numbers["repeated"]:
        notes.append(Note.of("repeated-texts", count=numbers["repeated"]))

    return notes


def chance_notes(sample: Sample, pairs: Placements, how: TextRules, wanted: Sequence[Measure]) -> list[Note]:
    """What chance alone would cover, beside what is covered."""
    about = [measure for measure in wanted if measure.declaration.over == "texts"] or wanted
    depths = [measure.k for measure in about]
    if None in depths:
        k = None
    else:
        k = int(max(depth for depth in depths if depth is not None))

    level = chance_level(sample.kept, how.matcher, how.split, k)
    if level is None:
        return []

    observed = float(covered(pairs, k).sum() / max(len(pairs.judged), 1))
    facts: dict[str, Any] = {"share": level.share, "low": level.low, "high": level.high}
    if level.share > CHANCE or level.share > observed / 4:
        return [Note.of("high-chance-level", observed=observed, **facts)]
    return [Note.of("chance-level", **facts)]


def nothing_matches(items: Iterable[TextItem], how: TextRules) -> Note:
    """What to look at when everything is zero: a question's nearest pair."""
    for item in items:
        shown = explain_item(item, how.matcher, how.split)
        if shown.degrees.size:
            row, column = divmod(int(shown.degrees.argmax()), len(shown.references))
            text, reference = shown.retrieved[row], shown.references[column].texts[0]
            yes_no = shown.threshold is None and (row, column) not in shown.refused
            if yes_no:
                reason = f"{shown.says} {shown.degrees.max():.2f}"
            else:
                reason = shown.reason(row, column)
            nearest = (
                f"; the nearest pair of question {ids.show(item.query)!r} is '{ids.show(text)}' and "
                f"'{ids.show(reference)}', {reason}"
            )
            return Note.of("nothing-matches", matcher=str(how.matcher), nearest=nearest)

    return Note.of("nothing-matches", matcher=str(how.matcher), nearest="")


def ties_at_the_end(wanted: Sequence[Measure], tables: Mapping[str, Any], passed: Passing) -> list[Note]:
    """How many contexts end between two texts of the same score: which of them is in it is chance."""
    has_texts = "texts" in tables
    contexts = {
        (int(budget), measure.k, "spans" if measure.declaration.over == "spans" or not has_texts else "texts")
        for measure in wanted
        if (budget := measure.option("tokens")) is not None and measure.option("pack") != "skip"
    }
    if not passed.tied or not contexts:
        return []

    straddled: set[int] = set()
    for budget, k, table in contexts:
        whole = tables[table]
        kept = (whole if table == "spans" else whole.pairs).packed(budget, "prefix", k).retrieved
        straddled |= {query for query, ranks in passed.tied.items() if kept[query] in ranks}

    if straddled:
        return [Note.of("ties-at-the-end", count=len(straddled))]
    return []
