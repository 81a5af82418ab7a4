"""Causes as one page: counts, and every question with what it needs, what was retrieved for it, and marked words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.escaping import script_json
from goldrank.data.json_values import without_nan
from goldrank.data.table import note_sentences
from goldrank.data.text_item import Reference, TextItem
from goldrank.io.questions.item_reader import ReadItem
from goldrank.match.tokens import Stretches
from goldrank.rag.causes import NAMES, Causes
from goldrank.report.html import render

MOST_CHARACTERS = 30_000_000
"""Characters of texts on a page. Beyond it the texts of covered questions are left out, then those of others."""


def page(causes: Causes) -> str:
    """One HTML file with all questions: filter by cause, unfold full texts."""
    counts = dict(causes)
    values = {
        "table": replace(causes.counts_table(), title=""),
        "counts": [(cause, f"{counts[cause]:,}") for cause in NAMES if cause in counts],
        "count": f"{sum(counts.values()):,} questions; the context is {causes.context}; tokens of texts are "
        f"counted as {causes.counted_as}",
        "outcomes": [] if causes.outcomes is None else causes.outcomes.parts(),
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
    for at, (given, item, references) in enumerate(diagnosis.items()):
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
        if by_question[at] < 0:
            cause = "nothing needed"
        else:
            cause = NAMES[by_question[at]]
        row = {"id": ids.show(item.query, 200), "question": item.question, "cause": cause, "needed": needed}
        length = sum(len(text) for text in item.retrieved if text not in texts)
        if room + length > (MOST_CHARACTERS // 2 if cause == "covered" else MOST_CHARACTERS):
            rows.append({**row, "texts": None})
        else:
            room += length
            hits = _hits(causes, given, item, references, covering.get(at, {}), texts)
            for hit, is_inside, taken in zip(hits, inside[at], tokens[at], strict=True):
                hit |= {"inside": bool(is_inside), "tokens": taken}
            rows.append({**row, "texts": hits})
        number += len(references)

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
    table = diagnosis.placed.tables["spans" if diagnosis.by_place else "texts"]
    if diagnosis.by_place:
        lengths = table.texts
    else:
        lengths = table.pairs.lengths
    query, rank = (table.texts.query, table.texts.rank) if diagnosis.by_place else (table.query, table.rank)
    if causes.k is None:
        keep = np.ones(len(query), bool)
    else:
        keep = rank <= causes.k
    if causes.budget is not None:
        from goldrank.data.placements import packed

        keep &= packed(query, rank, lengths.tokens, causes.budget, causes.pack, causes.k)
    start = np.searchsorted(query, np.arange(len(diagnosis.placed.queries) + 1))
    counted: list[int | None] = (
        [None] * len(query) if lengths is None else [None if n < 0 else int(n) for n in lengths.tokens.tolist()]
    )
    bounds = list(zip(start[:-1].tolist(), start[1:].tolist(), strict=True))
    return [keep[a:b] for a, b in bounds], [counted[a:b] for a, b in bounds]


def _hits(
    causes: Causes,
    given: ReadItem,
    item: TextItem,
    references: Sequence[Reference],
    covering: dict[int, list[int]],
    texts: dict[str, int],
) -> list[dict[str, Any]]:
    marks, covers = _marks(causes, item, references, covering)
    aligned = len(given.item.retrieved) == len(item.retrieved)  # not where texts were cut into sentences
    sources: Sequence[str | None] = given.sources or [None] * len(item.retrieved)
    if item.spans is not None:
        from goldrank.data.spans import parts_of

        placed = [parts_of(place) for place in item.spans]
        sources = [f"{spans[0].source}, {spans[0].start} to {spans[-1].end}" if spans else None for spans in placed]
    return [
        {
            "rank": rank,
            "t": texts.setdefault(text, len(texts)),
            "id": given.ids[rank - 1] if aligned and given.ids else None,
            "source": sources[rank - 1] if aligned else None,
            "score": given.scores[rank - 1] if aligned and given.scores else None,
            "marks": marks.get(rank, []),
            "covers": ", ".join(f"r{number + 1}" for number in covers.get(rank, [])),
        }
        for rank, text in enumerate(item.retrieved, 1)
    ]


def _marks(
    causes: Causes, item: TextItem, references: Sequence[Reference], covering: dict[int, list[int]]
) -> tuple[dict[int, Stretches], dict[int, list[int]]]:
    """By rank, the stretches of a text that speak for what it covers, and what that is."""
    placed = causes.diagnosis.placed
    if causes.diagnosis.by_place:
        from goldrank.match.explain_places import explain_places

        shown = explain_places(item, placed.sources)
        held: dict[int, list[int]] = {}
        for row, column in zip(*np.nonzero(shown.matched), strict=True):
            held.setdefault(int(row) + 1, []).append(int(column))
        by_rank: dict[int, Stretches] = {}
        for (row, _), stretches in shown.marks.items():
            by_rank.setdefault(row + 1, []).extend(stretches)
        return {rank: sorted(marks) for rank, marks in by_rank.items()}, held
    matcher = placed.how.matcher
    marked: dict[int, Stretches] = {}
    for rank, numbers in covering.items():
        text = item.retrieved[rank - 1]
        for number in numbers:
            wanted = references[number].texts
            best = 0
            if len(wanted) > 1:
                columns = np.arange(len(wanted))
                best = int(np.argmax(matcher.degrees([text], wanted, np.zeros(len(wanted), np.int64), columns)))
            marked.setdefault(rank, []).extend(matcher.marks(text, wanted[best]))
    return {rank: sorted(marks) for rank, marks in marked.items()}, covering
