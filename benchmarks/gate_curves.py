"""How often a gate fails, shows that nothing was lost, or waits for judgements: the tables of docs/gate.md.

    python benchmarks/gate_curves.py

Rankings are made up: 60 documents a query, of which a few are relevant, scored by two systems that agree as much as two
versions of one search do. The second one is made worse until its measure has dropped by just so much over 20,000
queries, from which samples are drawn; so the true drop is known. Seeds are fixed. It takes about two minutes of CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from goldrank import Rules, Scores, evaluate, gate
from goldrank.comparison.settings import Statistics
from goldrank.data.scores import Column, Remarks
from goldrank.gating.verdict import Verdict

POPULATION, DOCUMENTS, DEPTH = 20_000, 60, 10
MEASURES = ("nDCG@10", "RR@10")
POOLED = ("nDCG@10", "nDCG(judged_only=True)@10", "Judged@10")


@dataclass(frozen=True)
class Population:
    """Grades of all documents, and their scores by two systems before anything got worse."""

    grades: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @classmethod
    def make(cls, seed: int = 0, queries: int = POPULATION, agreement: float = 0.9) -> Population:
        """Queries with one to eight relevant documents, easy and hard ones."""
        rng = np.random.default_rng(seed)
        shape = queries, DOCUMENTS
        relevant = np.arange(DOCUMENTS) < rng.integers(1, 9, (queries, 1))
        grades = np.where(relevant, rng.integers(1, 4, shape), 0)
        found = np.where(relevant, 1.2 + rng.normal(0, 1, (queries, 1)), 0.0)
        common, one, other = (rng.normal(0, 1, shape) for _ in range(3))
        rest = np.sqrt(1 - agreement**2)
        return cls(grades, found + agreement * common + rest * one, found + agreement * common + rest * other)

    def worse(self, by: float) -> np.ndarray:
        """The second system's scores, with relevant documents lower by so much."""
        return self.after - by * (self.grades > 0)

    def values(self, measure: str, scores: np.ndarray) -> np.ndarray:
        """nDCG@10 or RR@10 of every query, by their formulas."""
        order = np.argsort(-scores, axis=1)[:, :DEPTH]
        gains = np.take_along_axis(self.grades, order, axis=1)
        if measure == "RR@10":
            hit = gains > 0
            return np.where(hit.any(axis=1), 1 / (hit.argmax(axis=1) + 1), 0.0)
        discount = 1 / np.log2(np.arange(2, DEPTH + 2))
        ideal = -np.sort(-self.grades, axis=1)[:, :DEPTH]
        return np.asarray((gains @ discount) / (ideal @ discount))

    def at_drop(self, measure: str, drop: float) -> tuple[np.ndarray, np.ndarray]:
        """Values before and after, the mean lower by that share; found by halving."""
        before = self.values(measure, self.before)
        low, high = -0.5, 1.5
        for _ in range(18):
            middle = (low + high) / 2
            lost = 1 - self.values(measure, self.worse(middle)).mean() / before.mean()
            low, high = (middle, high) if lost < drop else (low, middle)
        return before, self.values(measure, self.worse(low))


def scores_of(values: np.ndarray, measure: str) -> Scores:
    """Values of queries as scores that nothing else is known of."""
    queries = tuple(f"q{i:05d}" for i in range(len(values)))
    column = Column(measure, values, float(values.mean()), "mean")
    return Scores("run", queries, {measure: column}, Remarks({"retrieved": 1}))


def old_rule(before: np.ndarray, after: np.ndarray, tolerance: float) -> bool:
    """What goldrank 0.2 did: a drop that is larger than tolerated, and significantly larger than none."""
    from scipy.stats import ttest_1samp

    d = after - before
    return bool(-d.mean() > tolerance * before.mean() and ttest_1samp(d, 0, alternative="less").pvalue <= 0.05)


def outcomes(
    measure: str, both: tuple[np.ndarray, np.ndarray], n: int, times: int, tolerance: float = 0.05, seed: int = 1
) -> dict[str, float]:
    """The shares of samples that fail, that are shown to pass, and that the old rule fails."""
    rng = np.random.default_rng([seed, n])
    rules = Rules(f"{measure}: -{100 * tolerance:g}%", statistics=Statistics(samples=1_000))
    counts = {"fail": 0, "shown": 0, "old": 0}
    for _ in range(times):
        at = rng.integers(0, len(both[0]), n)
        before, after = both[0][at], both[1][at]
        verdict = gate(scores_of(after, measure), rules, scores_of(before, measure))
        counts["fail"] += verdict[0].status == "fail"
        counts["shown"] += verdict[0].status == "pass" and verdict[0].shown
        counts["old"] += old_rule(before, after, tolerance)
    return {key: count / times for key, count in counts.items()}


def families(n: int, times: int, seed: int = 2) -> float:
    """How often any of eight rules fails, two measures on all queries and three slices, all just at their tolerance."""
    population = Population.make(seed)
    both = {measure: population.at_drop(measure, 0.05) for measure in MEASURES}
    rng = np.random.default_rng([seed, n])
    spelled = [f"{measure}{group}: -5%" for measure in MEASURES for group in ("", " [kind]")]
    rules = Rules(spelled, statistics=Statistics(samples=1_000))
    failed = 0
    for _ in range(times):
        at = rng.integers(0, POPULATION, n)
        columns = [
            {m: Column(m, both[m][side][at], float(both[m][side][at].mean()), "mean") for m in MEASURES}
            for side in (0, 1)
        ]
        queries = tuple(f"q{i:05d}" for i in range(n))
        before, after = (Scores("run", queries, made, Remarks({"retrieved": 1})) for made in columns)
        kinds = {query: {"kind": "abc"[i % 3]} for i, query in enumerate(queries)}
        failed += bool(gate(after, rules, before, queries=kinds).failed)
    return failed / times


@dataclass(frozen=True)
class Pooled:
    """A gate on a run whose documents were not pooled, with what would come of judging all."""

    observed: float
    true: float
    condensed: float
    judged: float
    fails: dict[str, float]


def pooled(by: float, n: int = 50, times: int = 50, seed: int = 3, agreement: float = 0.5) -> Pooled:
    """The first ten documents of the baseline were judged, and a few more; the other system's were not."""
    population = Population.make(seed, n * times, agreement)
    worse = population.worse(by)
    rng = np.random.default_rng(seed)
    names = np.array([f"d{i:02d}" for i in range(DOCUMENTS)])
    changes, shares = [], []
    fails = {"observed": 0, "rule": 0, "all": 0}
    for at in np.split(np.arange(n * times), times):
        every, some, runs = {}, {}, ({}, {})
        for i in at.tolist():
            query = f"q{i:05d}"
            tops = [names[np.argsort(-scores[i])[:30]].tolist() for scores in (population.before, worse)]
            every[query] = dict(zip(names.tolist(), population.grades[i].tolist(), strict=True))
            seen = {*tops[0][:DEPTH], *names[rng.random(DOCUMENTS) < 0.15].tolist()}
            some[query] = {doc: every[query][doc] for doc in seen}
            for run, top in zip(runs, tops, strict=True):
                run[query] = top
        rule = "nDCG@10: -5%"
        ignoring = Rules(rule, statistics=Statistics(unjudged="ignore"))
        by_some, by_all = ([evaluate(qrels, run, POOLED) for run in runs] for qrels in (some, every))
        changes.append([_share(by_some, POOLED[0]), _share(by_all, POOLED[0]), _share(by_some, POOLED[1])])
        shares.append(by_some[1]["Judged@10"])
        told: dict[str, Verdict] = {
            "observed": gate(by_some[1], ignoring, by_some[0]),
            "rule": gate(by_some[1], rule, by_some[0]),
            "all": gate(by_all[1], rule, by_all[0]),
        }
        for name, verdict in told.items():
            fails[name] += verdict.status == "fail"
    observed, true, condensed = np.mean(changes, axis=0).tolist()
    return Pooled(observed, true, condensed, float(np.mean(shares)), {k: v / times for k, v in fails.items()})


def _share(both: Sequence[Scores], measure: str) -> float:
    return both[1][measure] / both[0][measure] - 1


def curves(sizes: Sequence[int], times: int) -> Iterator[str]:
    """The operating curves as a table: per cell the shares that fail, are shown to pass, and failed by the old rule."""
    yield f"|true drop|{'|'.join(f'n={n}' if n == sizes[0] else f'{n:,}' for n in sizes)}|"
    yield f"|---{'|---' * len(sizes)}|"
    population = Population.make()
    for measure in MEASURES:
        for drop in (0.0, 0.03, 0.05, 0.07, 0.12):
            both = population.at_drop(measure, drop)
            cells = []
            for n in sizes:
                found = outcomes(measure, both, n, times)
                cells.append("/".join(f"{100 * found[key]:.0f}" for key in ("fail", "shown", "old")))
            yield f"|{measure} {drop:.0%}|{'|'.join(cells)}|"


def main() -> None:
    """Print the tables."""
    print("\n".join(curves((25, 50, 100, 500, 2_000), 250)))
    print("\nany of eight rules at the tolerance:", ", ".join(f"n={n}: {families(n, 150):.1%}" for n in (50, 200)))
    print("\n|B's Judged@10|observed|true|condensed|fails: observed / rule / all judged|\n|---|---|---|---|---|")
    for by in (-0.2, 0.0, 0.3, 0.6, 1.0):
        found = pooled(by)
        shares = " / ".join(f"{100 * found.fails[key]:.0f}" for key in ("observed", "rule", "all"))
        print(f"|{found.judged:.2f}|{found.observed:+.1%}|{found.true:+.1%}|{found.condensed:+.1%}|{shares}|")


if __name__ == "__main__":
    main()
