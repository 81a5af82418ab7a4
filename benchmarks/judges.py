"""Do corrected intervals hold the truth as often as they say? Judges of several qualities, simulated.

Each query has 20 documents with grades 0 to 3; the judge sees them through noise, and is lenient by an amount that
differs from query to query. Of N queries n are judged by people, drawn at random. The figures of docs/judges.md are
from `python benchmarks/judges.py 8000` and, of strata, from 2,500 repetitions (`benchmarks/judges.py 2500 strata`).
"""

from __future__ import annotations

import sys
import time

import numpy as np

from goldrank.judging.coefficients import kappa
from goldrank.judging.ppi import corrected_mean
from goldrank.judging.strata import allocated, spreads, strata_of, stratified_mean

DOCS, CUTOFF = 20, 10
DISCOUNT = 1 / np.log2(np.arange(2, CUTOFF + 2))
SIZES = ((20, 200), (50, 200), (100, 1000))
JUDGES = ((2.0, 1.0), (0.6, 1.0), (0.3, 0.5), (0.15, 0.25), (0.07, 0.1))
"""The judge's noise and lenience; the kappa that they come to is printed."""
CUTS = np.array([0.3, 1.0, 1.7])
POPULATION = 40_000


def ndcg(ranked: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """nDCG@10 of each row: grades in rank order, and all judged grades."""
    ideal = -np.sort(-judged, axis=1)[:, :CUTOFF] @ DISCOUNT
    return np.where(ideal > 0, ranked[:, :CUTOFF] @ DISCOUNT / np.where(ideal > 0, ideal, 1), 0.0)


def world(noise: float, lenience: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Per query: values of two systems by people and by the judge; and the grades, for kappa."""
    need = rng.normal(0, 0.5, (POPULATION, 1))
    quality = need + rng.normal(0, 1, (POPULATION, DOCS))
    lenient = lenience * (0.3 + rng.normal(0, 0.35, (POPULATION, 1)))
    human = np.searchsorted(CUTS, quality)
    seen = quality + lenient
    model = np.searchsorted(CUTS, seen + noise * rng.normal(0, 1, quality.shape))
    again = np.searchsorted(CUTS, seen + noise * rng.spawn(1)[0].normal(0, 1, quality.shape))
    found = {"human": human, "model": model, "doubt": np.abs(model - again).mean(axis=1)}
    for name, skill in (("a", 0.6), ("b", 0.9)):
        order = np.argsort(-(skill * quality + rng.normal(0, 1, quality.shape)), axis=1)
        for who in ("human", "model"):
            ranked = np.take_along_axis(found[who], order, axis=1)
            found[f"{name} {who}"] = ndcg(ranked, found[who])
            found[f"{name} {who} success"] = (ranked[:, :1] >= 2).any(axis=1) * 1.0
    return found


def rows(repetitions: int, seed: int = 0) -> list[tuple[str, ...]]:
    """Per kappa and size: coverage and width relative to people alone, of a mean, a difference and a 0/1 measure."""
    made = []
    for noise, lenience in JUDGES:
        rng = np.random.default_rng([seed, int(100 * noise)])
        w = world(noise, lenience, rng)
        table = np.zeros((4, 4))
        np.add.at(table, (w["human"].ravel(), w["model"].ravel()), 1)
        values = {
            "mean": (w["a human"], w["a model"]),
            "difference": (w["b human"] - w["a human"], w["b model"] - w["a model"]),
            "success": (w["a human success"], w["a model success"]),
        }
        for n, total in SIZES:
            line = [f"{kappa(table):.2f}", f"{n}/{total}"]
            for what, (y, f) in values.items():
                hits, widths = 0, []
                for _ in range(repetitions):
                    drawn = rng.integers(0, POPULATION, total)
                    e = corrected_mean(y[drawn[:n]], f[drawn[:n]], f[drawn[n:]], two_valued=what == "success")
                    hits += e.low <= y.mean() <= e.high
                    widths.append((e.high - e.low) / max(e.human_high - e.human_low, 1e-12))
                line.append(f"{hits / repetitions:.1%} {np.mean(widths):.2f}")
            made.append(tuple(line))
    return made


def strata_rows(repetitions: int, seed: int = 0) -> list[tuple[str, ...]]:
    """Per kappa: coverage by strata of doubt, and the width relative to as many queries drawn at random."""
    n, total, pilot = 100, 1000, 40
    made = []
    for noise, lenience in JUDGES:
        rng = np.random.default_rng([seed, 1, int(100 * noise)])
        w = world(noise, lenience, rng)
        table = np.zeros((4, 4))
        np.add.at(table, (w["human"].ravel(), w["model"].ravel()), 1)
        line = [f"{kappa(table):.2f}", f"{n}/{total}"]
        for y, f in (
            (w["a human"], w["a model"]),
            (w["b human"] - w["a human"], w["b model"] - w["a model"]),
        ):
            hits, widths = 0, []
            for _ in range(repetitions):
                drawn = rng.integers(0, POPULATION, total)
                at, stratum = drawn_by_strata(y[drawn], f[drawn], w["doubt"][drawn], n, pilot, rng)
                truth, model = y[drawn], f[drawn]
                e = stratified_mean(truth[at], model, at, stratum, level=0.95, two_valued=False)
                plain = corrected_mean(truth[:n], model[:n], model[n:])
                hits += e.low <= y.mean() <= e.high
                widths.append((e.high - e.low) / (plain.high - plain.low))
            line.append(f"{hits / repetitions:.1%} {np.mean(widths):.2f}")
        made.append(tuple(line))
    return made


def drawn_by_strata(
    truth: np.ndarray, model: np.ndarray, doubt: np.ndarray, n: int, pilot: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The queries that people judge, a pilot at random and then by strata; and the stratum of each query."""
    stratum, names = strata_of(doubt.tolist())
    first = corrected_mean(truth[:pilot], model[:pilot], model[pilot:])
    spread = spreads(truth[:pilot] - first.weight * model[:pilot], stratum[:pilot], len(names))
    judged = np.bincount(stratum[:pilot], minlength=len(names))
    more = allocated(np.bincount(stratum, minlength=len(names)), spread, judged, n - pilot)
    left = [pilot + np.flatnonzero(stratum[pilot:] == one) for one in range(len(names))]
    chosen = [rng.permutation(some)[:k] for some, k in zip(left, more, strict=True)]
    return np.concatenate([np.arange(pilot), *chosen]), stratum


if __name__ == "__main__":
    began = time.process_time()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    if "strata" in sys.argv:
        print("| kappa | n/N | mean by strata: coverage, width against a random draw | difference |\n|---|---|---|---|")
        for row in strata_rows(count):
            print("| " + " | ".join(row) + " |", flush=True)
        sys.exit()
    print("| kappa | n/N | mean | difference | Success@1 |\n|---|---|---|---|---|")
    for row in rows(count):
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"{count:,} repetitions, {time.process_time() - began:.0f} s")
