"""Difference between systems: `Comparison`, and what it says in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank import ids
from goldrank.comparison.correction import CORRECTIONS
from goldrank.comparison.intervals import Interval
from goldrank.comparison.paired import TESTS, effect_word
from goldrank.comparison.tabular import Tabular, attributes
from goldrank.data.scores import Scores
from goldrank.errors import InputError, MeasureError, OptionError, did_you_mean, one_of, whole_number
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import parse
from goldrank.notes import Note

if TYPE_CHECKING:
    from goldrank.comparison.slices import SliceTable

INTERVALS = {
    "percentile": "percentile bootstrap over queries",
    "bca": "bias-corrected and accelerated bootstrap over queries",
}


@dataclass(frozen=True)
class Settings:
    """How a comparison was made: everything that its numbers depend on besides the values."""

    test: str = "randomization"
    correction: str = "holm"
    interval: str = "percentile"
    alpha: float = 0.05
    power: float = 0.8
    margin: float | None = None
    """Differences smaller than this do not matter; None if nobody said so."""
    samples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.test, TESTS, "test")
        one_of(self.correction, CORRECTIONS, "correction")
        one_of(self.interval, INTERVALS, "interval")
        if not 0 < self.alpha < 0.5:
            raise OptionError(f"alpha is {self.alpha!r}; it must be between 0 and 0.5", hint="0.05 is usual.")
        if not 0 < self.power < 1:
            raise OptionError(f"power is {self.power!r}; it must be between 0 and 1", hint="0.8 is usual.")
        if self.margin is not None and not self.margin > 0:
            raise OptionError(f"margin is {self.margin!r}; it must be greater than 0")
        whole_number(self.samples, "samples", 100, 10_000_000)
        whole_number(self.seed, "seed")

    @property
    def level(self) -> float:
        """The confidence of intervals."""
        return 1 - self.alpha


@dataclass(frozen=True)
class Pair:
    """One measure of two systems on the same queries. Differences are `b` minus `a`."""

    measure: str
    a: str
    b: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    percentile: Interval
    bca: Interval
    effect: float
    """Cohen's d of the paired differences; NaN if they are all the same."""
    wins: int
    """Queries on which b is better."""
    ties: int
    losses: int
    p: Mapping[str, float]
    """The p-value of each test, before correction."""
    exact: bool
    """Whether the randomisation test looked at all flips of signs."""
    adjusted: float
    """The p-value of the chosen test, corrected for the number of comparisons."""
    detectable: float
    """The smallest difference that so many queries would have found."""
    needed: int | None
    """How many queries would find a difference of this size."""
    equivalence: float | None
    """The p-value for the difference being within the margin; None without a margin."""
    higher_is_better: bool = True
    settings: Settings = field(default_factory=Settings)

    @property
    def interval(self) -> Interval:
        """The interval of the difference, by the method that the comparison asked for."""
        return self.bca if self.settings.interval == "bca" else self.percentile

    @property
    def verdict(self) -> str:
        """'better' or 'worse' (b than a), 'same', 'equivalent' or 'unclear'."""
        if self.wins + self.losses == 0:
            return "same"
        if self.adjusted <= self.settings.alpha and self.difference != 0:
            return "better" if (self.difference > 0) == self.higher_is_better else "worse"
        return "equivalent" if self._is_equivalent else "unclear"

    @property
    def _is_equivalent(self) -> bool:
        return self.equivalence is not None and self.equivalence <= self.settings.alpha

    @property
    def words(self) -> str:
        """The verdict as a sentence: how much, how sure, on how many queries."""
        s, a, b = self.settings, ids.show(self.a), ids.show(self.b)
        if self.verdict == "same":
            return f"{b} and {a} have the same {self.measure} on all {self.n:,} queries."
        size = f"{self.difference:+.4f} {self.measure}"
        if not math.isnan(self.interval.low):
            size += f" ({s.level:.0%} interval {self.interval.low:+.4f} to {self.interval.high:+.4f})"
        counts = f"better on {self.wins:,}, worse on {self.losses:,}, equal on {self.ties:,} of {self.n:,} queries"
        p = format_p(self.adjusted)
        if self.verdict in ("better", "worse"):
            is_known, is_within = not math.isnan(self.effect), self._is_equivalent
            word = f"a {effect_word(self.effect)} effect, d = {self.effect:.2f}; " if is_known else ""
            within = f" The difference is real but within the margin of {s.margin:g}." if is_within else ""
            return (
                f"{b} is {self.verdict} than {a}: {size}; {word}{counts}. "
                f"Chance alone would rarely do this (p {p}).{within}"
            )
        if self.verdict == "equivalent":
            return f"{b} and {a} are equivalent within {s.margin:g}: {size}; {counts}."
        enough = " One query cannot show a difference between systems." if self.n == 1 else ""
        if not math.isnan(self.detectable):
            needed = f"; one of {abs(self.difference):.4f} needs about {self.needed:,} queries" if self.needed else ""
            found = f"a difference of {self.detectable:.4f} would be found {s.power:.0%} of the time"
            enough = f" With {self.n:,} queries {found}{needed}."
        return f"No clear difference between {b} and {a}: {size}; {counts} (p {p}).{enough}"

    def row(self) -> dict[str, Any]:
        """The numbers as one flat record, with the interval that the comparison asked for."""
        return {
            **attributes(self, "measure a b"),
            "queries": self.n,
            **attributes(self, "mean_a mean_b difference"),
            **attributes(self.interval, "low high"),
            **attributes(self, "effect wins ties losses"),
            **{f"p_{test}": self.p[test] for test in TESTS},
            "p_adjusted": self.adjusted,
            "p_equivalence": self.equivalence,
            "detectable": self.detectable,
            "queries_needed": self.needed,
            "verdict": self.verdict,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        left_out = {"low", "high", *(f"p_{test}" for test in TESTS)}
        record = {key: value for key, value in self.row().items() if key not in left_out}
        intervals = {"percentile": list(self.percentile), "bca": list(self.bca)}
        record["interval"] = {"level": self.settings.level, **intervals}
        return {**record, "p": dict(self.p), **attributes(self, "exact words")}


@dataclass(frozen=True)
class Summary:
    """One measure of one system."""

    mean: float
    interval: Interval
    shown: float
    """The measure's own summary: the mean, or a sum or geometric mean where that is what the measure reports."""
    average: str = "mean"


@dataclass(frozen=True)
class Comparison(Tabular):
    """Several systems on the same queries: means with intervals, and each pair's difference.

    >>> from goldrank import compare
    >>> qrels = {f"q{i}": {"d": 1} for i in range(8)}
    >>> first, second = {q: ["d"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> pair = compare(qrels, {"new": first, "old": second}, "RR", baseline="old")["RR", "old", "new"]
    >>> pair.difference, pair.p["randomization"] == 2 / 2**8, pair.verdict
    (0.5, True, 'better')
    """

    drawn_by = "comparison"

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    queries: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    """Per measure one row per system and one column per query; NaN where a query does not count."""
    summaries: Mapping[tuple[str, str], Summary]
    """By measure and system."""
    pairs: tuple[Pair, ...]
    baseline: str | None
    settings: Settings
    notes: tuple[Note, ...] = ()
    scores: tuple[Scores, ...] = ()
    curves: Mapping[str, Mapping[str, tuple[tuple[float, float], ...]]] = field(default_factory=dict)
    """Values over cut-offs ('nDCG') or recall levels ('IPrec'), by system."""
    slices: SliceTable | None = None
    placed: tuple[Placed, ...] = ()
    """Where each run put the judged documents, if it was evaluated here; needed to say which of them moved."""

    def __getitem__(self, key: tuple[str, str, str]) -> Pair:
        """The pair (measure, a, b), whose difference is b minus a."""
        measure, a, b = key
        name = self.measure(measure)
        for pair in self.pairs:
            if (pair.measure, pair.a, pair.b) == (name, a, b):
                return pair
        for run in (a, b):
            if run not in self.runs:
                raise KeyError(f"no system {run!r}; there are: {', '.join(self.runs)}")
        raise KeyError(f"{a!r} and {b!r} were not compared in this order; differences are the second minus the first")

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def measure(self, given: object) -> str:
        """A measure's full name, from any of its spellings."""
        name = str(given)
        if name in self.measures:
            return name
        name = str(parse(name))
        if name not in self.measures:
            hint = did_you_mean(name, self.measures)
            raise MeasureError(f"{name} was not compared; there are: {', '.join(self.measures)}", hint=hint)
        return name

    def of(self, measure: str) -> list[Pair]:
        """The pairs of one measure."""
        return [pair for pair in self.pairs if pair.measure == measure]

    def best(self, measure: str) -> set[str]:
        """The systems with the best mean; more than one if they are equal to four decimals, as shown."""
        higher = self.higher_is_better(measure)
        means = {run: round(self.summaries[measure, run].mean, 4) for run in self.runs}
        known = [mean for mean in means.values() if not math.isnan(mean)]
        if len(set(known)) < 2:
            return set()
        top = max(known) if higher else min(known)
        return {run for run, mean in means.items() if mean == top}

    def higher_is_better(self, measure: str) -> bool:
        """Whether more of this measure is better."""
        return all(scores.columns[measure].higher_is_better for scores in self.scores if measure in scores.columns)

    @property
    def letters(self) -> dict[str, str]:
        """A short mark for each system: a to z, then aa, ab and so on."""
        marks = (letters for size in count(1) for letters in product(ascii_lowercase, repeat=size))
        return {run: "".join(mark) for run, mark in zip(self.runs, marks, strict=False)}

    def beats(self, measure: str, run: str) -> list[str]:
        """The systems that this one is clearly better than, by their letters."""
        pairs = self.of(measure)
        beaten = {pair.a for pair in pairs if pair.b == run and pair.verdict == "better"}
        beaten |= {pair.b for pair in pairs if pair.a == run and pair.verdict == "worse"}
        return [letter for other, letter in self.letters.items() if other in beaten]

    @property
    def method(self) -> str:
        """How the comparison was made, in a sentence."""
        s = self.settings
        exact = " (exact where at most 13 queries differ)" if s.test == "randomization" else ""
        tests = f"{len(self):,} comparison{'s' * (len(self) != 1)}"
        how = {"none": f"not corrected for {tests}"}.get(s.correction, f"corrected over {tests} by {s.correction}")
        if s.correction == "tukey":
            how = "corrected over all pairs of systems, measure by measure, by randomised Tukey HSD"
        return (
            f"{TESTS[s.test].split(':')[0]}{exact}, {how}, alpha {s.alpha:g}; "
            f"{s.level:.0%} intervals by {INTERVALS[s.interval]}; {s.samples:,} samples, seed {s.seed}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the single queries' values, as plain Python values."""
        return {
            "format": "goldrank-comparison",
            "version": 2,
            "runs": list(self.runs),
            "measures": list(self.measures),
            "baseline": self.baseline,
            "queries": len(self.queries),
            "method": self.method,
            "settings": dict(vars(self.settings)),
            "systems": [
                {"measure": measure, "run": run, "mean": s.mean, "summary": s.shown, "interval": list(s.interval)}
                for (measure, run), s in self.summaries.items()
            ],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "slices": self.slices.to_dict() if self.slices else None,
            "notes": [note.to_dict() for note in self.notes],
        }

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each measure and pair of systems."""
        return [pair.row() for pair in self.pairs]

    def save_scores(self, folder: str | Path) -> list[Path]:
        """Each system's scores as a file of the folder, from which `compare` makes the comparison again."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", where=str(target)) from None
        paths = []
        for i, scores in enumerate(self.scores, 1):
            word = "".join(c if c.isalnum() or c in "-_." else "_" for c in scores.run)[:80].strip(".")
            paths.append(target / f"{i:02d}-{word or 'run'}.json")
            scores.save(paths[-1])
        return paths

    def __repr__(self) -> str:
        n, systems = len(self.queries), len(self.runs)
        lines = [f"<Comparison of {systems} systems on {n:,} queries: {', '.join(self.measures)}>"]
        first = self.of(self.measures[0])
        lines += [f"  {pair.words}" for pair in first[:10]]
        if len(first) > 10:
            lines.append(f"  and {len(first) - 10:,} more pairs")
        return "\n".join(lines)


def format_p(value: float) -> str:
    """A p-value for people, with its sign: '= 0.012' or '< 0.001'."""
    if math.isnan(value):
        return "is not defined"
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
