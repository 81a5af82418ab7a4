"""What changed between two rankings, for people."""

from __future__ import annotations

import math

from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count
from goldrank.retrieval.churn import Churn, JudgeNext, QueryChurn, ScoreSpread

MOST_SHOWN = 10
MOST_NAMED = 5
"""Documents of a query that are named."""


def parts(churn: Churn) -> list[Part]:
    """What changed on average, which queries moved most, and that nothing here says which is better."""
    shown: list[Part] = [Sentence(f"{churn.words}.", "strong"), _means(churn)]
    shown += [Sentence(text, "remark") for text in _remarks(churn)]
    moved = churn.moved_most(MOST_SHOWN)
    if moved:
        columns = [*Head.names("query"), *Head.texts("text"), *Head.numbers("overlap", "RBO", "results")]
        columns += Head.texts("came", "went")
        title = "The queries that moved most"
        shown.append(Table(columns, [_moved_row(change) for change in moved], title=title))

    shown.append(Sentence("No judgements were used: nothing here says which is better.", "remark"))
    return shown


def _means(churn: Churn) -> Table:
    columns = [*Head.names("before", "after"), *Head.numbers(f"overlap@{churn.k}", "RBO (p=0.9)", "tau on common")]
    if math.isnan(churn.tau):
        tau = Cell("-")
    else:
        tau = Cell(f"{churn.tau:.4f}", churn.tau)
    row: Cells = [churn.before, churn.after, churn.overlap, churn.rbo, tau]
    return Table(columns, [row])


def _remarks(churn: Churn) -> list[str]:
    remarks = []
    for side in ("before", "after"):
        lacking = sum(change.lacking == side for change in churn.changes)
        if lacking:
            if side == "before":
                name = churn.before
            else:
                name = churn.after
            remarks.append(f"{name} lacks {count(lacking, 'query')} of the other: overlap 0.")

    if churn.vanished:
        remarks.append(f"{count(len(churn.vanished), 'query')} had results and have none now.")

    shorter = sum(change.shorter_by > 0 for change in churn.changes)
    if shorter:
        remarks.append(f"{count(shorter, 'query')} have fewer results in all, which RBO does not see.")

    for name, spread in zip((churn.before, churn.after), churn.scores, strict=True):
        if spread is not None:
            remarks.append(_score_text(name, spread))

    latency = churn.latency
    if latency is not None:
        times = f"{latency.before[0]:,.1f} to {latency.after[0]:,.1f} ms in the middle (p50), "
        times += f"{latency.before[1]:,.1f} to {latency.after[1]:,.1f} ms for slow ones (p95)"
        remarks.append(f"Latency of {count(latency.queries, 'query')}: {times}; {latency.ratio:.2f} times on average.")

    return remarks


def _score_text(name: str, spread: ScoreSpread) -> str:
    first = " / ".join(f"{value:.4g}" for value in spread.first)
    gap = " / ".join(f"{value:.4g}" for value in spread.gap)
    return f"Scores of {name} (quartiles): first result {first}; gap to the second {gap}."


def _moved_row(change: QueryChurn) -> Cells:
    lengths = f"{change.lengths[0]:,} to {change.lengths[1]:,}"
    return [change.query, change.text, change.overlap, change.rbo, lengths, _named(change.came), _named(change.went)]


def _named(docs: tuple[str, ...]) -> str:
    names = " ".join(docs[:MOST_NAMED])
    if len(docs) > MOST_NAMED:
        names += f" and {len(docs) - MOST_NAMED:,} more"
    return names


def judging_parts(churn: Churn, n: int) -> list[Part]:
    """What to judge, and how much remains open then."""
    pairs = churn.judge_first(n)
    columns = [*Head.names("query", "document"), *Head.numbers("before", "after", "weight")]
    title = "Judge these first"
    words = (
        f"What is left can make a mean difference of {churn.remaining(n):.4f} at most, for each unit of gain, "
        f"in the sums of nDCG@{churn.k}."
    )
    chosen = "These are chosen: they say which is better on these queries, not how good either is."
    return [
        Table(columns, [_judging_row(pair) for pair in pairs], title=title),
        Sentence(words, "remark"),
        Sentence(chosen, "remark"),
    ]


def _judging_row(pair: JudgeNext) -> Cells:
    return [pair.query, pair.doc, _rank(pair.rank_before), _rank(pair.rank_after), pair.weight]


def _rank(rank: int | None) -> Cell:
    if rank is None:
        return Cell("-")
    return Cell(f"{rank:,}", rank)
