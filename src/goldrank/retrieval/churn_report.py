"""What changed between two rankings, for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from goldrank.base import ids
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count
from goldrank.retrieval.churn import Churn, JudgeNext, QueryChurn, ScoreSpread

MOST_SHOWN = 10
MOST_NAMED = 5
"""Documents of a query that are named."""
MOST_SIDE_BY_SIDE = 3
"""Queries whose rankings are shown side by side, if texts of documents are known."""


def parts(churn: Churn) -> list[Part]:
    """What changed on average and where, what to judge, and that nothing here says which is better."""
    shown: list[Part] = [Sentence(f"{churn.words}.", "strong"), _means(churn)]
    shown += [Sentence(text, "remark") for text in _remarks(churn)]
    if churn.slices:
        shown.append(_slices(churn))

    moved = churn.moved_most(MOST_SHOWN)
    if moved:
        columns = [*Head.names("query"), *Head.texts("text"), *Head.numbers("overlap", "RBO", "results")]
        columns += Head.texts("came", "went")
        title = "The queries that moved most"
        shown.append(Table(columns, [_moved_row(change) for change in moved], title=title))

    if churn.titles:
        shown += [_side_by_side(churn, change) for change in moved[:MOST_SIDE_BY_SIDE]]
    shown += _judging(churn)
    shown.append(Sentence("No judgements were used: nothing here says which is better.", "remark"))
    return shown


def _means(churn: Churn) -> Table:
    columns = [*Head.names("before", "after"), *Head.numbers(f"overlap@{churn.k}", f"churn@{churn.k}")]
    columns += Head.numbers("RBO (p=0.9)", "tau on common", "came", "went")
    came = sum(len(change.came) for change in churn.changes)
    went = sum(len(change.went) for change in churn.changes)
    row: Cells = [
        churn.before,
        churn.after,
        churn.overlap,
        churn.churn,
        churn.rbo,
        _number_or_dash(churn.tau),
        Cell(f"{came:,}", came),
        Cell(f"{went:,}", went),
    ]
    return Table(columns, [row])


def _number_or_dash(number: float) -> Cell:
    if math.isnan(number):
        return Cell("-")
    return Cell(f"{number:.4f}", number)


def _remarks(churn: Churn) -> list[str]:
    remarks = []
    if churn.failed:
        reasons = Counter(churn.failed.values()).most_common(MOST_NAMED)
        listed = ", ".join(f"{ids.show(reason)} {times:,}" for reason, times in reasons)
        remarks.append(f"{count(len(churn.failed), 'query')} failed ({listed}) and are in no figure: run them again.")

    for side, name in (("before", churn.before), ("after", churn.after)):
        lacking = sum(change.lacking == side for change in churn.changes)
        if lacking:
            remarks.append(f"{name} lacks {count(lacking, 'query')} of the other: overlap 0.")

    if churn.vanished:
        sample = ids.samples(churn.vanished)
        remarks.append(f"{count(len(churn.vanished), 'query')} had results and have none now: {sample}.")

    shorter = sum(change.shorter_by > 0 for change in churn.changes)
    if shorter:
        remarks.append(f"{count(shorter, 'query')} have fewer results in all, which RBO does not see.")

    for name, spread in zip((churn.before, churn.after), churn.scores, strict=True):
        if spread is not None:
            remarks.append(_score_text(name, spread))

    if churn.latency is not None:
        remarks.append(_latency_text(churn))
    return remarks


def _latency_text(churn: Churn) -> str:
    latency = churn.latency
    assert latency is not None
    times = f"{latency.before[0]:,.1f} to {latency.after[0]:,.1f} ms in the middle (p50), "
    times += f"{latency.before[1]:,.1f} to {latency.after[1]:,.1f} ms for slow ones (p95)"
    ratio = f"{latency.ratio:.2f} times on average"
    if not math.isnan(latency.interval.low):
        ratio += f" (95% interval {latency.interval.low:.2f} to {latency.interval.high:.2f})"
    return f"Latency of {count(latency.queries, 'query')}: {times}; {ratio}."


def _score_text(name: str, spread: ScoreSpread) -> str:
    first = " / ".join(f"{value:.4g}" for value in spread.first)
    gap = " / ".join(f"{value:.4g}" for value in spread.gap)
    return f"Scores of {name} (quartiles): first result {first}; gap to the second {gap}."


def _slices(churn: Churn) -> Table:
    columns = [*Head.names("slice", "value"), *Head.numbers("queries", f"overlap@{churn.k}", "RBO", "another first")]
    rows: list[Cells] = []
    for part in churn.slices:
        share = Cell(f"{part.first_changed:.1%}", part.first_changed)
        number = Cell(f"{part.queries:,}", part.queries)
        rows.append([part.attribute, part.value, number, part.overlap, part.rbo, share])
    return Table(columns, rows, title="By slices of queries")


def _moved_row(change: QueryChurn) -> Cells:
    lengths = f"{change.lengths[0]:,} to {change.lengths[1]:,}"
    return [change.query, change.text, change.overlap, change.rbo, lengths, _named(change.came), _named(change.went)]


def _named(docs: tuple[str, ...]) -> str:
    names = " ".join(docs[:MOST_NAMED])
    if len(docs) > MOST_NAMED:
        names += f" and {len(docs) - MOST_NAMED:,} more"
    return names


def _side_by_side(churn: Churn, change: QueryChurn) -> Table:
    """Both rankings of one query, with texts, and where each document was before."""
    ranks_before = {doc: rank for rank, doc in enumerate(change.before, 1)}
    rows: list[Cells] = []
    for i in range(max(len(change.before), len(change.after))):
        rank = i + 1
        now = ""
        if i < len(change.after):
            now = _movement(ranks_before.get(change.after[i]), rank)
        left, right = _title(churn, change.before, i), _title(churn, change.after, i)
        rows.append([Cell(str(rank), rank), left, now, right])

    columns = [*Head.numbers("rank"), *Head.texts(churn.before, "was", churn.after)]
    return Table(columns, rows, title=f"{ids.show(change.query)}: {change.text or 'both rankings'}")


def _title(churn: Churn, docs: Sequence[str], i: int) -> str:
    if i >= len(docs):
        return "-"
    return churn.titles.get(docs[i]) or ids.show(docs[i])


def _movement(before: int | None, rank: int) -> str:
    if before is None:
        return "new"
    if before == rank:
        return "same"
    return f"{before:,}"


def _judging(churn: Churn) -> list[Part]:
    """What to judge, and what judging brings."""
    pairs = churn.judge_first(churn.listed)
    if not pairs:
        return []

    columns = [*Head.names("query", "document"), *Head.texts("text"), *Head.numbers("before", "after", "weight")]
    if not churn.titles:
        del columns[2]
    rows = [_judging_row(churn, pair) for pair in pairs]
    shown: list[Part] = [Table(columns, rows, title="Judge these first")]

    steps: list[Cells] = []
    for step in churn.judging_steps:
        judgements, queries = Cell(f"{step.judgements:,}", step.judgements), Cell(f"{step.queries:,}", step.queries)
        steps.append([judgements, queries, Cell(f"{step.weight:.1%}", step.weight), step.remaining])
    heads = Head.numbers("judgements", "of queries", "of the weight", "can still differ by")
    caption = (
        f"Weight: how far a document moves the sums of nDCG@{churn.k} apart. The last column is the largest mean "
        f"difference that the others can make, for each unit of gain."
    )
    shown.append(Table(heads, steps, title="What judging brings", caption=caption))
    chosen = "These are chosen: they say which is better on these queries, not how good either is."
    shown.append(Sentence(chosen, "remark"))
    return shown


def _judging_row(churn: Churn, pair: JudgeNext) -> Cells:
    ranks = [_rank(pair.rank_before), _rank(pair.rank_after)]
    if not churn.titles:
        return [pair.query, pair.doc, *ranks, pair.weight]
    return [pair.query, pair.doc, churn.titles.get(pair.doc, ""), *ranks, pair.weight]


def _rank(rank: int | None) -> Cell:
    if rank is None:
        return Cell("-")
    return Cell(f"{rank:,}", rank)
