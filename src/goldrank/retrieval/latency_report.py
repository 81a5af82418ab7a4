"""How long the engines took that made some runs, for commands that measure these runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldrank.data.queries import Queries
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count
from goldrank.retrieval.churn import latency_shift, usual_and_slow
from goldrank.retrieval.run_records import records_beside


def latency_parts(paths: Mapping[str, str]) -> list[Part]:
    """A table of the runs beside which records with latencies are; none if only one has them."""
    times = {name: records_beside(path).latency_ms for name, path in paths.items()}
    times = {name: latencies for name, latencies in times.items() if latencies}
    if len(times) < 2:
        return []

    rows = [_row(name, list(latencies.values())) for name, latencies in times.items()]
    columns = [*Head.names("run"), *Head.numbers("answered queries", "p50 (ms)", "p95 (ms)")]
    shown: list[Part] = [Table(columns, rows, title="Latency")]
    if len(times) == 2:
        before, after = times
        shift = latency_shift(times[before], times[after])
        if shift is not None:
            ratio = f"{after} takes {shift.ratio:.2f} times as long as {before}"
            interval = f"95% interval {shift.interval.low:.2f} to {shift.interval.high:.2f}"
            shown.append(Sentence(f"{ratio} ({interval}), over {count(shift.queries, 'query')}.", "remark"))
    return shown


def _row(name: str, times: Sequence[float]) -> Cells:
    usual, slow = usual_and_slow(times)
    return [name, Cell(f"{len(times):,}", len(times)), Cell(f"{usual:,.1f}", usual), Cell(f"{slow:,.1f}", slow)]


def recorded_latencies(path: str) -> Queries | None:
    """Queries with the attribute `latency`, in milliseconds, from the records beside a run; None without any."""
    times = records_beside(path).latency_ms
    if not times:
        return None
    return Queries({query: {"latency": milliseconds} for query, milliseconds in times.items()}, name=f"{path}.jsonl")
