"""What an engine answered, for people."""

from __future__ import annotations

from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table
from goldrank.retrieval.engine_run import EngineRun, percentiles

MOST_SHOWN = 10


def _counts(result: EngineRun) -> Table:
    """How many queries were asked, how many failed, and how many have no results."""
    failed, empty = len(result.failures), len(result.empty)
    row: Cells = [result.name, *(Cell(f"{number:,}", number) for number in (len(result), failed, empty))]
    return Table([*Head.names("engine"), *Head.numbers("queries", "failed", "without results")], [row])


def parts(result: EngineRun) -> list[Part]:
    """How many queries were answered, how long that took, and what failed."""
    shown: list[Part] = [Sentence(f"{result.words}.", ""), _counts(result)]
    times = result.latency_ms
    if times:
        listed = [f"p{share} {result.percentile(share / 100):,.1f} ms" for share in percentiles(len(times))]
        sentence = f"Latency of {len(times):,} answered queries, {result.concurrency:,} at a time: {', '.join(listed)}."
        shown.append(Sentence(sentence, "remark"))

    if result.failures:
        rows: list[Cells] = []
        for query in list(result.failures)[:MOST_SHOWN]:
            answer = result[query]
            rows.append([query, answer.failure, answer.what, Cell(str(answer.attempts), answer.attempts)])
        columns = [*Head.names("query", "failure"), *Head.texts("what"), *Head.numbers("attempts")]
        shown.append(Table(columns, rows))

    return shown
