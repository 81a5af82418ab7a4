"""The demo's result, the verdict first, and what its numbers mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goldrank import Runs, compare, demo, evaluate
from goldrank.base.packages import install_hint
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.data.score_table import score_parts
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.data.table import Cell, Cells, Fold, Head, Part, Sentence, Table

MEASURE = "nDCG@10"
"""The measure that the sentences are about."""
BEST_GRADE = 2


@dataclass(frozen=True)
class DemoResult:
    """The three retrievers of the demo, scored and compared as `goldrank compare` does."""

    data: Mapping[str, Any]
    runs: demo.RankingsByRun
    scores: ScoresByRun
    bm25: Comparison
    """Against overlap."""
    stems: Comparison
    """Against bm25."""


def demo_result(data: Mapping[str, Any], runs: demo.RankingsByRun) -> DemoResult:
    """Score and compare the retrievers of the demo."""
    scores = evaluate(data["qrels"], Runs(runs))
    first = compare([scores["overlap"], scores["bm25"]], queries=data["queries"], slice_by="kind")
    second = compare([scores["bm25"], scores["stems"]], queries=data["queries"])
    return DemoResult(data, runs, scores, first, second)


def parts(result: DemoResult) -> list[Part]:
    """The verdict, the numbers, and what they say, for people who read such numbers for the first time."""
    pair = result.bm25.pair
    return [
        Sentence(pair.sentence, pair.verdict),
        _table(result),
        *_remarks(_about(result.data)),
        Fold("What this says", _remarks(_says(result))),
    ]


def parts_without_verdict(data: Mapping[str, Any], runs: demo.RankingsByRun) -> list[Part]:
    """The numbers alone, for a light install: a verdict needs scipy."""
    scores = evaluate(data["qrels"], Runs(runs))
    return [
        Sentence(f"A verdict needs scipy: {install_hint('scipy')}."),
        *score_parts(list(scores.values())),
        *_remarks(_about(data)),
    ]


def _remarks(texts: list[str]) -> list[Sentence]:
    return [Sentence(text, "remark") for text in texts]


def _table(result: DemoResult) -> Table:
    """A row per measure: the values of the retrievers, and the words of the two comparisons."""
    against_bm25 = {pair.measure: pair for pair in result.stems}
    rows: list[Cells] = []
    for first in result.bm25:
        second = against_bm25[first.measure]
        if first.role != "diagnostic":
            rows.append([first.measure, first.mean_a, first.mean_b, _word(first), second.mean_b, _word(second)])

    heads = [
        *Head.texts("measure"),
        *Head.numbers("overlap", "bm25"),
        *Head.texts("against overlap"),
        *Head.numbers("stems"),
        *Head.texts("against bm25"),
    ]
    return Table(heads, rows)


def _word(pair: Pair) -> Cell:
    return Cell(pair.word, style=pair.verdict)


def _about(data: Mapping[str, Any]) -> list[str]:
    """The data, the rule of the judgements, and the retrievers."""
    judgements = sum(map(len, data["qrels"].values()))
    size = f"{len(data['queries'])} questions, {len(data['documents'])} household tips, {judgements} judgements"
    return [
        f"{size}: 2 answers it, 1 helps, 0 does not help.",
        "overlap counts common words. bm25 weighs rare words more and long tips less. stems is bm25 on words without "
        "their endings.",
    ]


def _says(result: DemoResult) -> list[str]:
    """What the numbers say, point by point."""
    pair = result.bm25.pair
    return [
        f"{MEASURE} rewards good tips at the top: bm25 is better on {pair.wins} questions, worse on {pair.losses}.",
        *_kinds_that_turn(result.bm25),
        _unclear(result.stems.pair),
        _unjudged_story(result),
        _ties(result.scores["overlap"]),
    ]


def _kinds_that_turn(comparison: Comparison) -> list[str]:
    """Kinds of questions on which the verdict is clearly the other way."""
    turned = [part.value for part in comparison.slices.differences if part.reversed and part.measure == MEASURE]
    sentences = []
    for part in comparison.slices.slices:
        if part.measure == MEASURE and part.value in turned:
            means = f"{part.means['overlap']:.2f} against {part.means['bm25']:.2f}"
            better = f"On the {part.n} questions of kind '{part.value}' overlap is better, {means}"
            sentences.append(f"{better}: long lists answer them, and bm25 prefers short tips.")

    return sentences


def _unclear(pair: Pair) -> str:
    """What is likely, and how many questions would show it."""
    return f"{pair.short_words}: to show it takes about {pair.queries_needed:,} questions, not {pair.n}."


def _unjudged_story(result: DemoResult) -> str:
    """The question that bm25 loses because its first tip has no judgement, and what a judgement would change."""
    qrels, runs = result.data["qrels"], result.runs
    values = {name: scores.per_query[MEASURE] for name, scores in result.scores.items()}
    first = {query: next(iter(ranking)) for query, ranking in runs["bm25"].items()}
    unjudged = [query for query, doc in first.items() if doc not in qrels[query]]
    query = min(unjudged, key=lambda query: values["bm25"][query] - values["overlap"][query])

    judged = {query: {**qrels[query], first[query]: BEST_GRADE}}
    then = evaluate(judged, Runs({name: {query: run[query]} for name, run in runs.items()}), MEASURE)
    question = result.data["queries"][query]["text"]
    tip = demo.title(result.data["documents"][first[query]])
    return (
        f'"{question}": overlap has {values["overlap"][query]:.2f}, bm25 {values["bm25"][query]:.2f}. '
        f'But the first tip of bm25, "{tip}", is newer than the judgements, and unjudged tips count as wrong. '
        f"With grade {BEST_GRADE} for it overlap has {then['overlap'][MEASURE]:.2f}, bm25 {then['bm25'][MEASURE]:.2f}."
    )


def _ties(overlap: Scores) -> str:
    """How far the order of equal scores could move the value."""
    notes = {note.code: note for note in overlap.notes}
    ranges = {measure: f"from {low} to {high}" for measure, low, high in notes["tie-ranges"].fact("ranges")}
    return f"overlap gives equal scores, which go by document id; in another order it has {ranges[MEASURE]}."
