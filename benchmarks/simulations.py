"""Simulations of comparisons whose truth is known: the tables that `statistics.py` prints.

Rankings are made up: queries with graded documents that two or more systems score with noise. So measures are tied,
skewed and alike as they are in life. Other shapes of differences are drawn directly.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import combinations

import numpy as np
from scipy import stats

from goldrank import Qrels, Run, Statistics, compare, read_run
from goldrank.comparison import flips, intervals, power
from goldrank.comparison.correction import adjust
from goldrank.comparison.leaderboard import rank_intervals
from goldrank.comparison.pair import Pair
from goldrank.data.scores import Column, Scores

ROUNDS = 1_000
SEED = 15
DOCUMENTS = 30
MEASURES = ("nDCG@10", "AP", "RR@10", "P@10", "Success@1")

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


# Data.


def rankings(rng: np.random.Generator, queries: int, skills: Sequence[float]) -> np.ndarray:
    """Values of the five measures: measures x systems x queries. A skill is how well a system tells grades apart."""
    relevant = rng.integers(1, 13, queries)
    grades = np.where(np.arange(DOCUMENTS) < relevant[:, None], rng.integers(1, 4, (queries, DOCUMENTS)), 0)
    hard = rng.gamma(2.0, 0.5, queries)[:, None]
    values = np.empty((len(MEASURES), len(skills), queries))
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = (np.sort(grades, axis=1)[:, ::-1][:, :10] * discount).sum(axis=1)
    for system, skill in enumerate(skills):
        scores = skill * grades * hard + rng.normal(0, 1.5, grades.shape)
        ranked = np.take_along_axis(grades, np.argsort(-scores, axis=1), axis=1)
        hits = ranked > 0
        first = np.where(hits[:, :10].any(axis=1), 1 / (1 + hits.argmax(axis=1)), 0.0)
        precision = hits.cumsum(axis=1) / np.arange(1, DOCUMENTS + 1)
        values[:, system] = (
            (ranked[:, :10] * discount).sum(axis=1) / ideal,
            (precision * hits).sum(axis=1) / relevant,
            first,
            hits[:, :10].mean(axis=1),
            hits[:, 0],
        )
    return values


@lru_cache(maxsize=2)
def _pairs(key: tuple[int, ...], size: tuple[int, ...]) -> np.ndarray:
    """Differences of two systems in the five measures, made once for all of them."""
    values = rankings(np.random.default_rng([SEED, *key]), math.prod(size), (0.5, 0.6))
    return (values[:, 1] - values[:, 0]).reshape(len(MEASURES), *size)


def _some(share: float, change: Draw) -> Draw:
    return lambda rng, size: np.where(rng.random(size) < share, change(rng, size), 0.0)


DRAWN: dict[str, Draw] = {
    "12 % change, mostly losses": _some(0.12, lambda rng, size: 0.2 - rng.gamma(1.0, 0.3, size).clip(0, 1.2)),
    "4 % win": _some(0.04, lambda rng, size: rng.uniform(0.2, 1.0, size)),
    "20 % change, many tiny": _some(0.2, lambda rng, size: 0.01 * rng.exponential(1.0, size)),
    "small wins, 1 % lose 1.0": lambda rng, size: np.where(rng.random(size) < 0.01, -1.0, rng.uniform(0.0, 0.04, size)),
}
UNSEEN = "small wins, 1 % lose 1.0"
SHAPES = (*MEASURES, *DRAWN)


def sample(shape: str, key: tuple[int, ...], size: tuple[int, ...]) -> np.ndarray:
    """Differences of a shape, the same for the same key."""
    if shape in MEASURES:
        return np.asarray(_pairs(key, size)[MEASURES.index(shape)])
    return DRAWN[shape](np.random.default_rng([SEED, SHAPES.index(shape), *key]), size)


@cache
def truth(shape: str) -> float:
    """The mean of a shape, from so many queries that its own error does not matter."""
    return float(sample(shape, (99,), (150_000,)).mean())


# Tables: a title and rows of cells, the first row being heads.


def table(title: str, rows: Iterable[Sequence[object]]) -> str:
    heads, *body = [[str(cell) for cell in row] for row in rows]
    lines = [" | ".join(row) for row in (heads, ["---"] * len(heads), *body)]
    return "\n".join([f"**{title}**", "", *(f"| {line} |" for line in lines), ""])


def percent(hits: float, rounds: int) -> str:
    return f"{100 * hits / rounds:.1f}"


def coverage(rounds: int) -> str:
    """How often 95 % intervals of a difference hold the truth."""
    sizes = (10, 25, 50, 100, 200, 500)
    rows: list[Sequence[object]] = [("differences", *(f"n = {n}" for n in sizes))]
    held = {
        (shape, n): sum(truth(shape) in intervals.difference_interval(d) for d in sample(shape, (1, n), (rounds, n)))
        for n in sizes
        for shape in SHAPES
    }
    rows += [(shape, *(percent(held[shape, n], rounds) for n in sizes)) for shape in SHAPES]
    return table("Coverage of 95 % intervals of a difference, in %", rows)


def methods(rounds: int) -> str:
    """The same for other methods, worst and mean width over all shapes but the one that nothing holds for."""
    sizes, resamples = (25, 50, 100), 600
    shapes = [shape for shape in SHAPES if shape != UNSEEN]
    held = {(name, n): [] for name in METHODS for n in sizes}
    widths = {name: [] for name in METHODS}
    fewer = max(50, rounds // 2)
    for n in sizes:
        for shape in shapes:
            mean, rng = truth(shape), np.random.default_rng([SEED, 2, n])
            samples = sample(shape, (2, n), (fewer, n))
            found: dict[str, list[intervals.Interval]] = {name: [] for name in METHODS}
            for d in samples:
                means = np.sort(d[rng.integers(0, n, (resamples, n))].mean(axis=1))
                for name, method in METHODS.items():
                    found[name].append(method(d, means))
            for name, ends in found.items():
                held[name, n].append(100 * sum(mean in end for end in ends) / fewer)
                if n == 50:
                    widths[name].append(np.mean([end.high - end.low for end in ends]))
    rows: list[Sequence[object]] = [("method", *(f"worst, n = {n}" for n in sizes), "mean width, n = 50")]
    for name in METHODS:
        rows.append((name, *(f"{min(held[name, n]):.1f}" for n in sizes), f"{np.mean(widths[name]):.3f}"))
    return table(f"Methods: worst coverage over {len(shapes)} shapes, in % ({fewer} rounds)", rows)


def _percentile(d: np.ndarray, means: np.ndarray) -> intervals.Interval:
    return intervals.Interval(*np.quantile(means, (0.025, 0.975)))


def _bca(d: np.ndarray, means: np.ndarray) -> intervals.Interval:
    away = d - d.mean()
    spread = float((away**2).sum())
    share = ((means < d.mean()).mean() + (means <= d.mean()).mean()) / 2
    if spread <= 0 or not 0 < share < 1:
        return intervals.Interval(float(d.mean()), float(d.mean()))
    bias, pull = stats.norm.ppf(share), float((away**3).sum()) / (6 * spread**1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    return intervals.Interval(*np.quantile(means, stats.norm.cdf(bias + z / (1 - pull * z))))


def _student(d: np.ndarray, means: np.ndarray) -> intervals.Interval:
    return intervals.estimate(d).interval(intervals.t_quantile(0.975, len(d) - 1))


def _bounded(d: np.ndarray, means: np.ndarray) -> intervals.Interval:
    return intervals.bounded_intervals(d[None], np.ones(1), np.array([0.05]), samples=500)[0]


METHODS = {
    "t": _student,
    "percentile": _percentile,
    "BCa": _bca,
    "bounded (option)": _bounded,
    "chosen": lambda d, means: intervals.difference_interval(d),
}


def _rows(values: np.ndarray) -> np.ndarray:
    """Differences of all pairs in all measures."""
    pairs = combinations(range(values.shape[1]), 2)
    return np.concatenate([values[:, b] - values[:, a] for a, b in pairs])


def families(rounds: int) -> str:
    """False findings among 15 rows without any true one, and how many true ones are found."""
    rows: list[Sequence[object]] = [("", "n", "uncorrected", "Holm", "max-t")]
    for n in (25, 50, 100):
        rng = np.random.default_rng([SEED, 3, n])
        false = np.zeros(3)
        for _ in range(rounds):
            false += [any(p <= 0.05) for p in _corrected(_rows(rankings(rng, n, (0.5, 0.5, 0.5))))]
        rows.append(("any false finding", n, *(percent(hits, rounds) for hits in false)))
    for n in (50, 200):
        rng = np.random.default_rng([SEED, 4, n])
        each, some = np.zeros(3), np.zeros(3)
        for _ in range(rounds):
            found = [p <= 0.05 for p in _corrected(_rows(rankings(rng, n, (0.5, 0.5, 0.5 + 2.5 / math.sqrt(n)))))]
            true = [rows_found[5:] for rows_found in found]
            each += [rows_found.mean() for rows_found in true]
            some += [rows_found.any() for rows_found in true]
        cells = (f"{100 * a / rounds:.0f} / {100 * b / rounds:.0f}" for a, b in zip(each, some, strict=True))
        rows.append(("true rows found / any", n, *cells))
    return table("3 pairs x 5 measures (15 rows), in %", rows)


def _corrected(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P-values of rows: as they are, by Holm, by the joint maximum."""
    flipped = flips.flip(rows, samples=999)
    raw = np.array([flips.raw_p(flipped, i).value for i in range(len(rows))])
    return raw, adjust(raw, "holm"), flips.max_t(flipped, raw=raw.tolist()).adjusted


def powers(rounds: int) -> str:
    """How often a true difference is found, and what the power sentence says."""
    rows: list[Sequence[object]] = [("measure", "n", "found", "said", "said without correction")]
    for n in (50, 200):
        rng = np.random.default_rng([SEED, 5, n])
        skills = (0.5, 0.5, 0.5 + 2.5 / math.sqrt(n))
        large = _rows(rankings(np.random.default_rng([SEED, 6, n]), 40_000, skills))
        effects = large.mean(axis=1) / large.std(axis=1)
        found, criticals = np.zeros(15), []
        for _ in range(rounds):
            family = flips.max_t(flips.flip(_rows(rankings(rng, n, skills)), samples=999))
            found += family.adjusted <= 0.05
            criticals.append(family.critical)
        alpha = power.family_alpha(float(np.median(criticals)), n)
        for i in (5, 6):  # the first pair with a true difference, nDCG@10 and AP
            said = (power.power(effects[i], n, level) for level in (alpha, 0.05))
            rows.append((MEASURES[i % 5], n, percent(found[i], rounds), *(f"{100 * p:.1f}" for p in said)))
    return table("Power among 15 rows, in %", rows)


def equivalence(rounds: int) -> str:
    """Four rows whose true difference is the margin: how often any is called equivalent."""
    rows: list[Sequence[object]] = [("n", "uncorrected, without pseudo-queries", "as here")]
    for n in (100, 400):
        rng = np.random.default_rng([SEED, 7, n])
        plain = here = 0
        for _ in range(rounds):
            d = rng.normal(0.05, 0.1, (4, n))
            plain += min(stats.ttest_1samp(d, 0.05, axis=1, alternative="less").pvalue) <= 0.05
            family = flips.max_t(flips.flip(d - d.mean(axis=1, keepdims=True), samples=999), tail="greater")
            t = max(power.equivalence_t(row, 0.05)[0] for row in d)
            here += (1 + np.count_nonzero(family.maxima[1:] >= flips.u_of_t(t, n))) / 1_000 <= 0.05
        rows.append((n, percent(plain, rounds), percent(here, rounds)))
    return table("Any of four rows on the margin called equivalent, in %", rows)


def clusters(rounds: int) -> str:
    """Queries that belong together, and several runs of a system."""
    rows: list[Sequence[object]] = [("case", "false findings", "false if that is not said", "coverage")]
    for groups, largest in ((12, 10), (20, 5), (40, 25)):
        rng = np.random.default_rng([SEED, 8, groups])
        together = alone = held = 0
        for _ in range(rounds):
            sizes = rng.integers(1, largest + 1, groups) if largest != 5 else np.full(groups, 5)
            unit = np.repeat(np.arange(groups), sizes)
            d = rng.normal(0, 0.1, groups)[unit] + rng.normal(0, 0.1, len(unit))
            sums = flips.unit_sums(d[None], unit)
            together += flips.raw_p(flips.flip(sums, samples=999), 0).value <= 0.05
            alone += flips.raw_p(flips.flip(d[None], samples=999), 0).value <= 0.05
            held += 0 in intervals.difference_interval(d, units=unit)
        what = f"{groups} clusters of " + ("5" if largest == 5 else f"1 to {largest}") + " queries"
        rows.append((what, *(percent(hits, rounds) for hits in (together, alone, held))))
    rng = np.random.default_rng([SEED, 9])
    false = held = 0
    for _ in range(rounds):
        weights, d = rng.lognormal(0, 1, 50), rng.normal(0, 0.1, 50)
        false += flips.raw_p(flips.flip(d[None] * weights, samples=999), 0).value <= 0.05
        held += 0 in intervals.difference_interval(d, weights=weights)
    rows.append(("50 queries with log-normal weights", percent(false, rounds), "-", percent(held, rounds)))
    for runs in (2, 3, 5):
        rng = np.random.default_rng([SEED, 10, runs])
        false = single = held = 0
        for _ in range(rounds):
            a, b = (rng.normal(0, 0.02, (runs, 1)) + rng.normal(0, 0.1, (runs, 200)) for _ in range(2))
            found = intervals.replicated(a, b)
            false += found.p <= 0.05
            held += 0 in found.interval(intervals.t_quantile(0.975, found.freedom))
            single += stats.ttest_1samp(b[0] - a[0], 0).pvalue <= 0.05
        rows.append(
            (f"{runs} runs of each system, n = 200", *(percent(hits, rounds) for hits in (false, single, held)))
        )
    return table("Clusters, weights and runs without a true difference, in %", rows)


def ranks(rounds: int) -> str:
    """Eight systems: how often all rank intervals hold every rank that ties allow."""
    rows: list[Sequence[object]] = [("systems", "n", "all intervals hold", "mean width of 8 ranks")]
    fewer = max(50, rounds // 2)
    for what, skills in (("all equal", [0.5] * 8), ("two groups", [0.5] * 4 + [0.65] * 4)):
        for n in (50, 200):
            rng = np.random.default_rng([SEED, 11, n, len(set(skills))])
            held, width = 0, 0.0
            for _ in range(fewer):
                values = rankings(rng, n, skills)[0]
                pairs = np.array(list(combinations(range(8), 2)))
                flipped = flips.flip(values - values[0], pairs, samples=999)
                clear = flips.max_t(flipped).adjusted <= 0.05
                better = np.zeros((8, 8), bool)
                for (a, b), is_clear, u in zip(pairs, clear, flipped.u, strict=True):
                    better[(b, a) if u > 0 else (a, b)] |= is_clear
                low, high = rank_intervals(better)
                first = np.array([1 + sum(other > skill for other in skills) for skill in skills])
                last = np.array([sum(other >= skill for other in skills) for skill in skills])
                held += bool((low <= first).all() and (last <= high).all())
                width += float((high - low + 1).mean())
            rows.append((what, n, percent(held, fewer), f"{width / fewer:.1f}"))
    return table(f"Rank intervals of 8 systems, in % ({fewer} rounds)", rows)


# Verdicts: what a rule does that was not there before, on the same data.


def verdicts(rounds: int) -> str:
    """Each rule on data whose truth is known: how often something is said without it, and with it."""
    rows = [("said", "n", "without the rule", "with it"), *verdict_rows(rounds)]
    return table("Verdicts with and without a rule, in %", rows)


def verdict_rows(rounds: int) -> list[Sequence[object]]:
    """What is said, of how many queries, how often without the rule, and how often with it."""
    rows: list[Sequence[object]] = []
    cases = {"equivalent within 0.02, deviation 0.05, no difference": 0.0, "equivalent, on the margin": 0.02}
    for said, mean in cases.items():
        before, now = _equivalent(rounds, mean)
        rows.append((said, 50, percent(before, rounds), percent(now, rounds)))
    for n in (50, 100, 200):
        rng = np.random.default_rng([SEED, 12, n])
        flipped, decided = _decided(reranked(rng, (rounds, n)))
        rows.append(("better or worse, skewed, no difference", n, percent(flipped, rounds), percent(decided, rounds)))
    for n in (20, 50, 200):
        rng = np.random.default_rng([SEED, 13, n])
        flipped, decided = _decided(rng.normal(0.3 / math.sqrt(n), 0.1, (rounds, n)))
        rows.append(("better, not skewed, true", n, percent(flipped, rounds), percent(decided, rounds)))
    likely, right = _probable(rounds)
    rows.append((f"probably better, 90 to 97.4 % ({likely:,} cases): right", 50, "-", percent(right, max(1, likely))))
    fewer = max(2, rounds // 20)
    pools = {"worse, B not pooled, no difference": (0.5, False), "better, both pooled to rank 5, true": (0.56, True)}
    for said, (skill, is_pooled) in pools.items():
        ignored, alike, half = _pooled(fewer, skill, is_pooled, said.split(",")[0])
        without = f"{percent(ignored, fewer)} ignoring, {percent(alike, fewer)} if condensed lists must agree"
        rows.append((f"{said} ({fewer:,} rounds)", 100, without, percent(half, fewer)))
    return rows


def reranked(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Differences of mean 0 as re-rankers make them: many small wins, few large losses."""
    draw = rng.random(size)
    losses, wins = -rng.uniform(0.1, 0.5, size), rng.exponential(0.03, size)
    return np.where(draw < 0.06, losses, np.where(draw < 0.66, wins, 0.0))


def _equivalent(rounds: int, mean: float) -> tuple[int, int]:
    """How often 50 queries show equivalence within 0.02, with pseudo-queries of 1 and of the largest difference."""
    rng = np.random.default_rng([SEED, 14, int(100 * mean)])
    before = now = 0
    for d in rng.normal(mean, 0.05, (rounds, 50)):
        wide = intervals.estimate(d, added=(1.0, -1.0))
        before += stats.t.sf((0.02 - abs(wide.mean)) / wide.error, wide.freedom) <= 0.05
        t, freedom = power.equivalence_t(d, 0.02)
        now += stats.t.sf(t, freedom) <= 0.05
    return before, now


def _scores(run: str, values: np.ndarray) -> Scores:
    column = Column("nDCG@10", values, float(values.mean()), "mean")
    return Scores(run, tuple(f"q{i:04}" for i in range(len(values))), {"nDCG@10": column})


def _pair(d: np.ndarray) -> Pair:
    """The comparison of two systems with these differences."""
    half = np.full(len(d), 0.5)
    return compare([_scores("a", half), _scores("b", half + d)], statistics=Statistics(samples=999)).pair


def _decided(samples: np.ndarray) -> tuple[int, int]:
    """How often flips alone decide, and how often a comparison does."""
    pairs = [_pair(d) for d in samples]
    by_flips = sum(pair.p_by_test["randomization"] <= 0.05 for pair in pairs)
    return by_flips, sum(pair.is_decided for pair in pairs)


def _probable(rounds: int) -> tuple[int, int]:
    """Undecided comparisons with a probability of 90 % or more, and in how many of them it is so."""
    rng = np.random.default_rng([SEED, 16])
    likely = right = 0
    for _ in range(rounds):
        true = rng.normal(0, 0.03)
        pair = _pair(rng.normal(true, 0.15, 50))
        if not pair.is_decided and max(pair.probability, 1 - pair.probability) >= 0.9:
            likely += 1
            right += (pair.probability > 0.5) == (true > 0)
    return likely, right


def _pooled(rounds: int, skill: float, is_pooled: bool, verdict: str) -> tuple[int, int, int]:
    """How often B gets a verdict with unjudged documents: ignoring them, by condensed lists too, by the half rule."""
    rng = np.random.default_rng([SEED, 17, int(100 * skill)])
    ignored = alike = half = 0
    for _ in range(rounds):
        qrels, runs = _pool(rng, (0.5, 0.5, 0.5, skill), is_pooled)
        observed = compare(qrels, runs, "nDCG@10", statistics=Statistics(samples=999, unjudged="ignore")).pair.verdict
        condensed = compare(qrels, runs, "nDCG(judged_only=True)@10", statistics=Statistics(samples=999)).pair.verdict
        ignored += observed == verdict
        alike += observed == condensed == verdict
        half += compare(qrels, runs, "nDCG@10", statistics=Statistics(samples=999)).pair.verdict == verdict
    return ignored, alike, half


def _pool(rng: np.random.Generator, skills: Sequence[float], is_pooled: bool) -> tuple[Qrels, dict[str, Run]]:
    """Judgements of the first five documents of all systems, or all but the last; runs of the first and the last."""
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, list[str]]] = {"A": {}, "B": {}}
    for query in map(str, range(100)):
        grades = np.where(np.arange(60) < rng.integers(4, 16), rng.integers(1, 3, 60), 0)
        rankings = [np.argsort(-(skill * 3 * grades + rng.normal(0, 1.5, 60))) for skill in skills]
        judged = rankings if is_pooled else rankings[:-1]
        pooled = np.unique(np.concatenate([ranking[:5] for ranking in judged]))
        qrels[query] = {f"d{i}": int(grades[i]) for i in pooled.tolist()}
        for name, ranking in (("A", rankings[0]), ("B", rankings[-1])):
            runs[name][query] = [f"d{i}" for i in ranking[:20].tolist()]
    return Qrels(qrels), {name: read_run(run, name=name) for name, run in runs.items()}


def best(rounds: int) -> str:
    """Twenty systems: how many may be best by pairs and by comparisons with the best, and whether the best is left."""
    fewer = _fewer_boards(rounds)
    rows = [("n", "by pairs", "held against the best alone", "the best is left"), *best_rows(rounds)]
    return table(f"Systems of 20 that may be best; the best is left, in % ({fewer} rounds)", rows)


def _fewer_boards(rounds: int) -> int:
    """How many rounds of twenty systems are made; each takes long."""
    return max(2, rounds // 50)


def best_rows(rounds: int) -> list[Sequence[object]]:
    """Queries, systems left by pairs, systems left by comparisons with the best, and how often the best is left."""
    fewer = _fewer_boards(rounds)
    rows: list[Sequence[object]] = []
    for n in (50, 200):
        rng = np.random.default_rng([SEED, 18, n])
        by_pairs = left = kept = 0
        for _ in range(fewer):
            skills = np.sort(rng.normal(0.5, 0.05, 20))
            systems = [_scores(f"s{i:02}", skill + rng.normal(0, 0.12, n)) for i, skill in enumerate(skills)]
            board = compare(systems, statistics=Statistics(samples=999)).leaderboard()
            by_pairs += len(board.may_be_best)
            left += len(board.contenders)
            kept += "s19" in board.contenders
        rows.append((n, f"{by_pairs / fewer:.1f}", f"{left / fewer:.1f}", percent(kept, fewer)))
    return rows


TABLES: dict[str, Callable[[int], str]] = {
    "coverage": coverage,
    "methods": methods,
    "families": families,
    "powers": powers,
    "equivalence": equivalence,
    "clusters": clusters,
    "ranks": ranks,
    "verdicts": verdicts,
    "best": best,
}
"""A table is one function of the number of rounds."""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Simulated error rates, coverage and power.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"some of: {', '.join(TABLES)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds for each cell (default {ROUNDS})")
    given = parser.parse_args(arguments)
    for name in given.tables:
        if name not in TABLES:
            parser.error(f"there is no table {name!r}; there are: {', '.join(TABLES)}")
    near, middle = (100 * math.sqrt(p * (1 - p) / given.rounds) for p in (0.05, 0.5))
    errors = f"one standard error is {near:.1f} points near 5 and 95 %, {middle:.1f} near 50 %"
    print(f"{given.rounds:,} rounds a cell: {errors}.\n")
    for name in given.tables or TABLES:
        began = time.process_time()
        print(TABLES[name](given.rounds))
        print(f"<!-- {name}: {time.process_time() - began:.0f} s of CPU -->\n", flush=True)
