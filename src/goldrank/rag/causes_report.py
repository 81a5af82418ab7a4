"""Causes as one page: counts, and every question with what it needs, what was retrieved for it, and marked words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.escaping import script_json
from goldrank.data.json_values import without_nan
from goldrank.data.spans import parts_of
from goldrank.data.table import Part, note_sentences
from goldrank.data.text_item import Located, Reference, Span, TextItem
from goldrank.io.questions.item_reader import ReadItem
from goldrank.match import Matcher
from goldrank.match.tokens import Stretches
from goldrank.rag.causes import NAMES, Causes, position_name
from goldrank.report.html import render

MOST_CHARACTERS = 30_000_000
"""The most characters of texts on a page. Beyond it the texts of covered questions are left out, then other texts."""


def page(causes: Causes) -> str:
    """One HTML file with all questions: filter by cause, unfold full texts."""
    counts = dict(causes)
    outcomes: list[Part] = []
    if causes.outcomes is not None:
        outcomes = causes.outcomes.parts()

    values = {
        "table": replace(causes.counts_table(), title=""),
        "counts": [(cause, f"{counts[cause]:,}") for cause in NAMES if cause in counts],
        "count": f"{sum(counts.values()):,} questions; the context is {causes.context}; tokens of texts are "
        f"counted as {causes.counted_as}",
        "outcomes": outcomes,
        "notes": note_sentences(causes.notes),
        "data": script_json(json.dumps(without_nan(_data(causes)), separators=(",", ":"), ensure_ascii=True)),
    }
    title = f"Why is it missing? {ids.show(causes.system)}"
    return render("causes.html.jinja", title, values, styles=["causes.css"], scripts=["causes.js"])


def _data(causes: Causes) -> dict[str, Any]:
    diagnosis = causes.diagnosis
    codes = causes.of_references
    by_question = diagnosis.by_question(codes)
    texts: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    number = room = 0
    covering = _covering(causes)
    inside, tokens = _context(causes)
    for i, (entry, item, references) in enumerate(diagnosis.items()):
        needed = [
            {
                "text": " | ".join(reference.texts),
                "cause": each.cause,
                "why": each.why,
                "rank": each.rank,
                "chunk": each.chunk,
            }
            for reference, each in zip(references, causes.needed[number : number + len(references)], strict=True)
        ]
        number += len(references)
        if by_question[i] < 0:
            cause = "nothing needed"
        else:
            cause = NAMES[by_question[i]]
        row = {"id": ids.show(item.query, 200), "question": item.question, "cause": cause, "needed": needed}

        limit = MOST_CHARACTERS
        if cause == "covered":
            limit = MOST_CHARACTERS // 2
        length = sum(len(text) for text in item.retrieved if text not in texts)
        if room + length > limit:
            rows.append({**row, "texts": None})
            continue
        room += length
        hits = _hits(causes, entry, item, references, covering.get(i, {}), texts)
        for hit, is_inside, token_count in zip(hits, inside[i], tokens[i], strict=True):
            hit |= {"inside": bool(is_inside), "tokens": token_count}
        rows.append({**row, "texts": hits})

    order = {name: i for i, name in enumerate((*NAMES[1:], NAMES[0], "nothing needed"))}
    rows.sort(key=lambda row: order[row["cause"]])
    return {"rows": rows, "texts": list(texts)}


def _covering(causes: Causes) -> dict[int, dict[int, list[int]]]:
    """By question and rank, which of its references a text covers."""
    diagnosis = causes.diagnosis
    if diagnosis.by_place:
        return {}
    pairs = diagnosis.placed.tables["texts"].pairs
    covered: dict[int, dict[int, list[int]]] = {}
    for query, rank, label in zip(pairs.query.tolist(), pairs.rank.tolist(), pairs.label.tolist(), strict=True):
        first = int(pairs.judged_start[query])
        covered.setdefault(query, {}).setdefault(rank, []).append(label - first)
    return covered


def _context(causes: Causes) -> tuple[list[np.ndarray], list[list[int | None]]]:
    """For each question, which texts are in its context, and how many tokens each has."""
    diagnosis = causes.diagnosis
    table = diagnosis.table
    if diagnosis.by_place:
        query, rank, lengths = table.texts.query, table.texts.rank, table.texts
    else:
        query, rank, lengths = table.query, table.rank, table.pairs.lengths

    is_inside = np.ones(len(query), bool)
    if causes.k is not None:
        is_inside = rank <= causes.k
    if causes.budget is not None:
        from goldrank.data.placements import packed

        is_inside &= packed(query, rank, lengths.tokens, causes.budget, causes.pack, causes.k)

    token_counts: list[int | None] = [None] * len(query)
    if lengths is not None:
        token_counts = list(map(_known_count, lengths.tokens.tolist()))
    start = np.searchsorted(query, np.arange(len(diagnosis.placed.queries) + 1)).tolist()
    inside_by_question = [is_inside[begin:end] for begin, end in pairwise(start)]
    counts_by_question = [token_counts[begin:end] for begin, end in pairwise(start)]
    return inside_by_question, counts_by_question


def _known_count(tokens: float) -> int | None:
    """A number of tokens; None if it is not known."""
    if tokens < 0:
        return None
    return int(tokens)


def _hits(
    causes: Causes,
    entry: ReadItem,
    item: TextItem,
    references: Sequence[Reference],
    covering: dict[int, list[int]],
    texts: dict[str, int],
) -> list[dict[str, Any]]:
    """The retrieved texts of a question; `texts` numbers the texts of the page, and gets new ones."""
    marks, covers = _marks(causes, item, references, covering)
    unknown: Sequence[None] = [None] * len(item.retrieved)
    doc_ids: Sequence[Any] = unknown
    sources: Sequence[Any] = unknown
    scores: Sequence[Any] = unknown
    if len(entry.item.retrieved) == len(item.retrieved):  # not where texts were cut into sentences
        doc_ids = entry.ids or unknown
        scores = entry.scores or unknown
        sources = entry.sources or unknown
        if item.spans is not None:
            sources = list(map(_position, item.spans))

    hits = []
    for i, text in enumerate(item.retrieved):
        covered = [f"r{number + 1}" for number in covers.get(i + 1, [])]
        hits.append(
            {
                "rank": i + 1,
                "t": texts.setdefault(text, len(texts)),
                "id": doc_ids[i],
                "source": sources[i],
                "score": scores[i],
                "marks": marks.get(i + 1, []),
                "covers": ", ".join(covered),
            }
        )
    return hits


def _position(place: Span | Located | None) -> str | None:
    """Where a text stands, in words; None if that is not known."""
    spans = parts_of(place)
    if spans:
        return position_name(spans)
    return None


def _marks(
    causes: Causes, item: TextItem, references: Sequence[Reference], covering: dict[int, list[int]]
) -> tuple[dict[int, Stretches], dict[int, list[int]]]:
    """By rank, the stretches of a text that show what it covers, and the numbers of the references it covers."""
    placed = causes.diagnosis.placed
    marks: dict[int, Stretches] = {}
    if causes.diagnosis.by_place:
        from goldrank.match.explain_places import explain_places

        explanation = explain_places(item, placed.sources)
        covering = {}
        for row, column in zip(*np.nonzero(explanation.matched), strict=True):
            covering.setdefault(int(row) + 1, []).append(int(column))
        for (row, _), stretches in explanation.marks.items():
            marks.setdefault(row + 1, []).extend(stretches)
        return {rank: sorted(stretches) for rank, stretches in marks.items()}, covering

    for rank, numbers in covering.items():
        text = item.retrieved[rank - 1]
        for number in numbers:
            alternative = _best_alternative(text, references[number], placed.text_rules.matcher)
            marks.setdefault(rank, []).extend(placed.text_rules.matcher.marks(text, alternative))
    return {rank: sorted(stretches) for rank, stretches in marks.items()}, covering


def _best_alternative(text: str, reference: Reference, matcher: Matcher) -> str:
    """The text of a reference that a retrieved text matches most."""
    alternatives = reference.texts
    if len(alternatives) == 1:
        return alternatives[0]
    rows = np.zeros(len(alternatives), np.int64)
    degrees = matcher.degrees([text], alternatives, rows, np.arange(len(alternatives)))
    return alternatives[int(np.argmax(degrees))]
