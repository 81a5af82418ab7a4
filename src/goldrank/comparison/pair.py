"""One measure of two systems: its numbers, the verdict they give, and the sentence that says it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from goldrank import ids
from goldrank.comparison.intervals import Interval, percent
from goldrank.comparison.paired import TESTS, effect_word
from goldrank.comparison.settings import Statistics
from goldrank.comparison.tabular import attributes
from goldrank.notes import Note

if TYPE_CHECKING:
    from goldrank.comparison.holes import ToJudge

ROLES = {
    "": "no measure is primary: all rows are one family",
    "primary": "the measure that decides",
    "secondary": "better or worse only if the primary measure is, the same way",
    "diagnostic": "shown, tested with nothing and never better",
}


def verdict_of(
    difference: float,
    adjusted: float,
    differing: int,
    *,
    alpha: float,
    higher_is_better: bool = True,
    equivalence: float | None = None,
    withheld: bool = False,
) -> str:
    """The verdict on a row from its numbers: 'better', 'worse' (b than a), 'same', 'equivalent' or 'unclear'.

    `differing` counts queries; `adjusted` and `equivalence` are corrected p-values. `withheld` says that something
    else keeps it from being decided, such as too few clusters.
    """
    if not differing:
        return "same"
    if not withheld and adjusted <= alpha and difference != 0:
        return "better" if (difference > 0) == higher_is_better else "worse"
    if not withheld and equivalence is not None and equivalence <= alpha:
        return "equivalent"
    return "unclear"


@dataclass(frozen=True, repr=False)
class Pair:
    """One measure of two systems on the same queries. Differences are `b` minus `a`."""

    measure: str
    a: str
    b: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval
    """Where the difference lies, for all rows of the family at once."""
    effect: float
    """Cohen's d of the paired differences; NaN if they are all the same."""
    wins: int
    """Queries on which b is better."""
    ties: int
    losses: int
    p: float
    """The p-value that the verdict goes by, before correction."""
    p_by_test: Mapping[str, float]
    """The p-value of each test, before correction."""
    how: str
    """How the test's own p-value was found: 'exact', 'sampled', 'saddlepoint', 'formula' or 'replicates'."""
    p_adjusted: float
    """The p-value of the chosen test, corrected for the family; NaN for diagnostics, which are in none."""
    at_most: bool
    """Whether no sampled flip reached the difference: the corrected p-value is then only known to be at most that."""
    critical: float
    """Student's quantile of the interval, by which the family is corrected."""
    detectable: float
    """The smallest difference that so many queries would have found, after the same correction."""
    queries_needed: int | None
    """How many queries would find a difference of this size, after the same correction."""
    equivalence: float | None
    """The corrected p-value for the difference being within the margin; None without a margin."""
    role: str = ""
    """One of `ROLES`."""
    withheld: bool = False
    """Whether something else than its p-value keeps it from being decided; a caveat says what."""
    caveats: tuple[Note, ...] = ()
    """How far it can be trusted."""
    higher_is_better: bool = True
    statistics: Statistics = field(default_factory=Statistics)
    judge_first: tuple[ToJudge, ...] = ()
    """If unjudged documents could decide it, those whose judgement would move it most."""

    @property
    def verdict(self) -> str:
        """'better' or 'worse' (b than a), 'same', 'equivalent' or 'unclear'; 'diagnostic' for diagnostics."""
        differing = self.wins + self.losses
        if self.role == "diagnostic" and differing:
            return "diagnostic"
        return verdict_of(
            self.difference,
            self.p_adjusted,
            differing,
            alpha=self.statistics.alpha,
            higher_is_better=self.higher_is_better,
            equivalence=self.equivalence,
            withheld=self.withheld,
        )

    @property
    def could_be_turned(self) -> bool:
        """Whether unjudged documents could decide it."""
        return any(note.code == "unjudged-decide" for note in self.caveats)

    @property
    def exact(self) -> bool:
        """Whether the p-value comes from all flips of signs."""
        return self.how == "exact"

    @property
    def words(self) -> str:
        """The verdict as a sentence: how much, how sure, on how many queries."""
        return " ".join([self._verdict_words, *(note.sentence for note in self.caveats)])

    @property
    def short_words(self) -> str:
        """The verdict as few words, without numbers or an end."""
        a, b, verdict = ids.show(self.a), ids.show(self.b), self.verdict
        if verdict in ("better", "worse"):
            return f"{b} is {verdict} than {a}"
        if verdict == "equivalent":
            return f"{b} and {a} are equivalent within {self.statistics.margin:g}"
        if verdict == "diagnostic":
            return f"{b} against {a}"
        if verdict == "same":
            return f"{b} and {a} have the same {self.measure} on all {self.n:,} queries"
        return (
            f"Not decided between {b} and {a}" if self.could_be_turned else f"No clear difference between {b} and {a}"
        )

    @property
    def _verdict_words(self) -> str:
        s, verdict, short = self.statistics, self.verdict, self.short_words
        if verdict == "same":
            return f"{short}."
        size = f"{self.difference:+.4f} {self.measure}"
        if not math.isnan(self.interval.low):
            size += f" ({percent(s.level)} interval {self.interval.low:+.4f} to {self.interval.high:+.4f})"
        counts = f"better on {self.wins:,}, worse on {self.losses:,}, equal on {self.ties:,} of {self.n:,} queries"
        if verdict == "diagnostic":
            counts = f"higher on {self._higher:,}, lower on {self.n - self.ties - self._higher:,}"
            return f"{short}: {size}; {counts} of {self.n:,} queries. A diagnostic: no system is better by it."
        p = format_p(self.p_adjusted, self.at_most)
        is_within = self.equivalence is not None and self.equivalence <= s.alpha
        if verdict in ("better", "worse"):
            word = "" if math.isnan(self.effect) else f"a {effect_word(self.effect)} effect, d = {self.effect:.2f}; "
            within = f" The difference is real but within the margin of {s.margin:g}." if is_within else ""
            return f"{short}: {size}; {word}{counts}. Chance alone would rarely do this (p {p}).{within}"
        if verdict == "equivalent":
            return f"{short}: {size}; {counts}."
        if self.could_be_turned:
            return f"{short}: {size}; {counts} (p {p})."
        enough = " One query cannot show a difference between systems." if self.n == 1 else ""
        if math.isfinite(self.detectable):
            needed = ""
            if self.queries_needed:
                needed = f"; one of {abs(self.difference):.4f} needs about {self.queries_needed:,} queries"
            chance = f"a difference of {self.detectable:.4f} would be found {s.power:.0%} of the time"
            enough = f" With {self.n:,} queries {chance}{needed}."
        return f"{short}: {size}; {counts} (p {p}).{enough}"

    @property
    def _higher(self) -> int:
        """On how many queries b has the higher value."""
        return self.wins if self.higher_is_better else self.losses

    def __repr__(self) -> str:
        return f"Pair({self.measure!r}, {self.a!r}, {self.b!r}, difference={self.difference:+.4f}, {self.verdict!r})"

    def row(self) -> dict[str, Any]:
        """The numbers as one flat record."""
        return {
            **attributes(self, "measure a b role"),
            "queries": self.n,
            **attributes(self, "mean_a mean_b difference"),
            **attributes(self.interval, "low high"),
            **attributes(self, "effect wins ties losses"),
            **{f"p_{test}": self.p_by_test[test] for test in TESTS},
            "p_adjusted": self.p_adjusted,
            "p_at_most": self.at_most,
            "p_equivalence": self.equivalence,
            **attributes(self, "critical detectable"),
            "queries_needed": self.queries_needed,
            "verdict": self.verdict,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        left_out = {"low", "high", *(f"p_{test}" for test in TESTS)}
        record = {key: value for key, value in self.row().items() if key not in left_out}
        record["interval"] = {"level": self.statistics.level, **attributes(self.interval, "low high")}
        caveats = [note.to_dict() for note in self.caveats]
        judge = [asdict(document) for document in self.judge_first]
        words = attributes(self, "how exact words")
        values = {"p": self.p, "p_by_test": dict(self.p_by_test)}
        return {**record, **values, **words, "caveats": caveats, "judge_first": judge}


def format_p(value: float, at_most: bool = False) -> str:
    """A p-value for people, with its sign: '= 0.012', '< 0.001', or 'at most 0.0001' where only that is known."""
    if math.isnan(value):
        return "is not defined"
    if at_most:
        return f"at most {value:.1g}"
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
