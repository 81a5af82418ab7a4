"""The figures that verdicts were changed for, before and now: python benchmarks/statistics.py second [--rounds N]

One table. Its rows come from the simulations of gates, histories, plans and judges (`statistics_gates.py`) and of
verdicts and leaderboards (`simulations.py`); figures are in %. What it was before is what an earlier version printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import simulations
import statistics_gates

SUBJECTS = {
    "gates": "gates, same queries, positives only",
    "history": "history",
    "plan": "plan",
    "judges": "judges, clusters, clicks",
}


def rows(rounds: int) -> Iterator[tuple[str, str, str, str]]:
    """Subject, figure, before, now."""
    for name, make in statistics_gates.TABLES.items():
        for row in make(rounds):
            yield SUBJECTS[name], row.what, row.before, row.now
    for figure, queries, before, now in simulations.verdict_rows(rounds):
        yield "verdicts", f"{figure}, n = {queries}", str(before), str(now)
    for queries, by_pairs, left, kept in simulations.best_rows(rounds):
        yield "may be best", f"of 20 systems, n = {queries}; the best is left", f"{by_pairs}", f"{left}; {kept} %"


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The figures that verdicts were changed for, before and now.")
    parser.add_argument("--rounds", type=int, default=statistics_gates.ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    print(f"{rounds:,} rounds\n\n| subject | figure | before | now |\n|---|---|---|---|")
    for row in rows(rounds):
        print(f"| {' | '.join(row)} |", flush=True)
