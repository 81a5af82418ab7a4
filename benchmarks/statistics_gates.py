"""How right gates, histories, plans and intervals of judges are: python benchmarks/statistics_gates.py [N]

Prints a row for each figure: what was measured before, and what is measured now with N rounds (100 unless given; a few
rounds are enough to see that it runs). Seeds are fixed. docs/gate.md, docs/history.md, docs/planning.md and
docs/judges.md show these rows.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from goldrank import Rules, evaluate, gate, judgements_from_clicks
from goldrank.comparison.power import equivalence_t, freedom_of_deviation, power, queries_needed
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.history.analysis import Analysis, look_at
from goldrank.judging.coefficients import kappa, likely_tables
from goldrank.judging.corrected import Units

ROUNDS = 100


class Row(NamedTuple):
    """One figure: what it is, in percent before and now."""

    what: str
    before: str
    now: str


def of_values(values: np.ndarray, measure: str = "nDCG@10") -> Scores:
    """Scores of which nothing but values is known."""
    queries = tuple(f"q{i}" for i in range(len(values)))
    column = Column(measure, np.asarray(values, float), float(np.mean(values)), "mean")
    return Scores("run", queries, {measure: column}, Remarks({"retrieved": 1}))


def percent(count: float, rounds: int) -> str:
    """A share as a whole percentage."""
    return f"{100 * count / rounds:.0f}%"


# Gates.


def gates(rounds: int) -> Iterator[Row]:
    """What a gate says where the truth is known."""
    rng = np.random.default_rng(1)
    fails = 0
    for _ in range(rounds):
        n = int(rng.choice([3, 5, 8, 10, 20, 40]))
        tenths = np.full(n, rng.integers(0, 11)) if rng.random() < 0.5 else rng.integers(0, 11, n)
        limit = round(float(tenths.sum()) / (10 * n), 12)
        fails += gate(of_values(tenths / 10, "P@10"), f"P@10 >= {limit}").status == "fail"
    yield Row("a run at its own limit fails", "15%", percent(fails, rounds))

    before = rng.uniform(0.3, 1.0, 50)
    lost = np.where(np.arange(50) < 4, 0.0, before)
    for deterministic, name in ((False, "nothing is known"), (True, "it is deterministic")):
        rules = Rules("nDCG@10: -1%", deterministic=deterministic)
        verdict = gate(of_values(lost), rules, of_values(before))
        word = "worse on these queries" if verdict[0].regressed else verdict.status
        yield Row(f"4 of 50 queries fall to 0, 46 are the same, {name}", "pass", word)
    same = gate(of_values(before), Rules("nDCG@10: -1%", strict=True), of_values(before))
    yield Row("a run that is its baseline, strict rules", "fail", same.status)
    yield Row("a random order, positives-only judgements", "unclear", _random_order())

    for truth, name, old in ((0.0, "no difference", "0%"), (0.02, "on the margin", "0%")):
        shown = 0
        for _ in range(rounds):
            t, freedom = equivalence_t(rng.normal(truth, 0.05, 50), 0.02)
            shown += stats.t.sf(t, freedom) <= 0.05
        yield Row(f"equivalent within 0.02, deviation 0.05, 50 queries: {name}", old, percent(shown, rounds))


def _random_order() -> str:
    shuffle = random.Random(1)
    qrels = {f"q{i}": {"good": 1} for i in range(200)}
    documents = ["good", *(f"d{i}" for i in range(100))]
    before = evaluate(qrels, dict.fromkeys(qrels, documents), "RR@10")
    after = evaluate(qrels, {query: shuffle.sample(documents, 101) for query in qrels}, "RR@10")
    return str(gate(after, "RR@10: -1%", before).status)


# Histories.


@dataclass
class Line:
    """Records of a line, without a file."""

    values_of: np.ndarray
    """Records by queries."""

    def marks(self) -> list[Any]:
        """The marks that looking at one record after another sets."""
        rows = self.values_of
        queries = tuple(f"q{i:04d}" for i in range(rows.shape[1]))
        records: list[Any] = [
            SimpleNamespace(id=i + 1, replicate=False, commit="", values_sha256={"m": str(i)}) for i in range(len(rows))
        ]
        history: Any = SimpleNamespace(values=lambda wanted, _: [(queries, rows[record.id - 1]) for record in wanted])
        state = Analysis(0)
        look_at(history, "m", records, records, state, 0.05)
        return state.marks


def lines(rounds: int) -> Iterator[Row]:
    """Marks of lines of 40 records: where, and whether."""
    rng = np.random.default_rng(2)
    n = 100

    def noisy(records: int = 40, queries: int = n) -> np.ndarray:
        base = rng.uniform(0.2, 0.8, queries)
        return np.asarray(base + rng.normal(0, 0.1, (records, queries)))

    def stepped() -> np.ndarray:
        rows = noisy()
        rows[20:] -= 0.04
        return rows

    def dying() -> np.ndarray:
        rows = noisy(queries=50)
        rows[20:, :4] = 0.0
        return rows

    def seasonal() -> np.ndarray:
        week = 0.03 * np.isin(np.arange(40) % 7, (5, 6))
        return np.asarray(noisy() + week[:, None])

    def shifted() -> np.ndarray:
        return np.asarray(noisy() + rng.normal(0, 0.01, 40)[:, None])

    def wandering() -> np.ndarray:
        return np.asarray(noisy() + np.cumsum(rng.normal(0, 0.03, (40, n)), axis=0))

    for name, made, sure, any_mark in (
        ("nothing changes", noisy, "6%", "6%"),
        ("run shift 0.01, no replicates", shifted, "53%", "53%"),
        ("weekly season", seasonal, "100%", "100%"),
        ("queries wander, each by itself", wandering, "7%", "7%"),
    ):
        sures = seen = 0
        for _ in range(rounds):
            marks = Line(made()).marks()
            sures += any(mark.is_sure for mark in marks)
            seen += bool(marks)
        yield Row(f"{name}: false mark that is sure", sure, percent(sures, rounds))
        yield Row(f"{name}: any false mark, 'perhaps' among them", any_mark, percent(seen, rounds))

    for name, made, old, old_exact in (
        ("step of 0.04 at record 21", stepped, "60%", "37%"),
        ("8% of 50 queries fall to 0 at record 21", dying, "7%", "15%"),
    ):
        found = sures = exact = 0
        for _ in range(rounds):
            marks = [mark for mark in Line(made()).marks() if mark.first <= 21 <= mark.last]
            found += bool(marks)
            sures += any(mark.is_sure for mark in marks)
            exact += any(mark.record == 21 for mark in marks)
        yield Row(f"{name}: found", old, percent(found, rounds))
        yield Row(f"{name}: found and sure", "-", percent(sures, rounds))
        yield Row(f"{name}: the exact record, among found", old_exact, percent(exact, max(found, 1)))


# Plans.


def plans(rounds: int) -> Iterator[Row]:
    """The chance that a plan for 80% gives, on average over pilots."""
    rng = np.random.default_rng(3)
    shapes: dict[str, Callable[[int], np.ndarray]] = {
        "normal differences": lambda size: rng.normal(0, 0.2, size),
        "three of ten queries differ": lambda size: rng.normal(0, 0.4, size) * (rng.random(size) < 0.3),
    }
    for name, draw in shapes.items():
        true = float(np.std(draw(200_000)))
        for pilot in (10, 25, 50):
            given: list[list[float]] = [[], []]
            for _ in range(rounds):
                values = draw(pilot)
                spread = float(values.std(ddof=1))
                for chances, freedom in zip(given, (math.inf, freedom_of_deviation(values)), strict=True):
                    needed = queries_needed(0.05 / spread, 0.8, critical=1.959964, freedom=freedom) if spread else None
                    if needed is not None:
                        chances.append(power(0.05 / true, needed))
            old, new = (f"{100 * np.mean(chances):.0f}%" for chances in given)
            yield Row(f"80% promised by a pilot of {pilot} queries, {name}", old, new)


# Judges and clicks.


def judges(rounds: int) -> Iterator[Row]:
    """How often intervals of 95% hold the truth."""
    rng = np.random.default_rng(4)
    for size in (2, 4):
        truth = np.exp(-4.0 * np.abs(np.subtract.outer(np.arange(size), np.arange(size))))
        truth /= truth.sum()
        for pairs in (20, 50, 200):
            held = [0, 0]
            for _ in range(rounds):
                counts = rng.multinomial(pairs, truth.ravel())
                drawn = rng.multinomial(pairs, counts / pairs, 300), likely_tables(counts, 300, rng)
                for i, tables in enumerate(drawn):
                    values = [kappa(table.reshape(size, size)) for table in tables]
                    low, high = np.nanquantile(values, [0.025, 0.975])
                    held[i] += low <= kappa(truth) <= high
            yield Row(f"kappa of {pairs} pairs, {size} grades", *(percent(count, rounds) for count in held))
    yield from _clusters(rng, rounds)
    yield from _clicks(rng, rounds)


def _clusters(rng: np.random.Generator, rounds: int) -> Iterator[Row]:
    held, truth = 0, math.nan
    for number in range(rounds + 1):
        clusters = 400 if number else 20_000
        size = rng.choice([1, 1, 2, 3, 5, 8, 15, 25], clusters)
        cluster = np.repeat(np.arange(clusters), size)
        y = (0.4 + 0.012 * size + rng.normal(0, 0.1, clusters))[cluster] + rng.normal(0, 0.12, len(cluster))
        if not number:
            truth = float(y.mean())
            continue
        f = 0.2 + 0.8 * y + rng.normal(0, 0.1, len(y))
        at = np.flatnonzero(np.isin(cluster, rng.choice(clusters, 40, replace=False)))
        estimated = Units(at, len(y), cluster=cluster).estimate(y[at], f, 0.95)
        held += estimated.low <= truth <= estimated.high
    yield Row("corrected value, 40 clusters of 1 to 25 queries", "0%", percent(held, rounds))


def _clicks(rng: np.random.Generator, rounds: int) -> Iterator[Row]:
    propensities = {1: 1.0, 2: 0.7, 3: 0.5, 4: 0.35, 5: 0.25}
    shares = {"a": 0.02, "b": 0.05, "c": 0.1, "d": 0.3, "e": 0.6}
    for views, old in ((12, "64%"), (50, "88%")):
        held = pairs = 0
        for _ in range(max(1, rounds // 5)):
            log = []
            for _page in range(views):
                shown = rng.permutation(list(shares)).tolist()
                clicks = [doc for i, doc in enumerate(shown, 1) if rng.random() < propensities[i] * shares[doc]]
                log.append({"query": "q", "shown": shown, "clicks": clicks})
            for pair in judgements_from_clicks(log, "propensity", propensities=propensities):
                held += pair.low <= shares[pair.doc] <= pair.high
                pairs += 1
        yield Row(f"clicks with known propensities, {views} views", old, percent(held, pairs))


TABLES = {"gates": gates, "history": lines, "plan": plans, "judges": judges}


def main(arguments: list[str]) -> None:
    """Print all tables."""
    rounds = int(arguments[0]) if arguments else ROUNDS
    for name, rows in TABLES.items():
        print(f"\n{name}, {rounds:,} rounds\n\n| what | before | now |\n|---|---|---|")
        for row in rows(rounds):
            print(f"| {row.what} | {row.before} | {row.now} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
