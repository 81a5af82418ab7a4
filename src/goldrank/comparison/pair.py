"""One measure of two systems: its numbers, the verdict they give, and the sentence that says it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.base.types import VerdictWord
from goldrank.comparison.intervals import Interval, percent
from goldrank.comparison.paired import TESTS
from goldrank.comparison.settings import Statistics
from goldrank.comparison.tabular import attributes
from goldrank.data.showing import Result
from goldrank.data.table import Part

if TYPE_CHECKING:
    from goldrank.comparison.holes import ToJudge

ROLES = {
    "": "no measure is primary: all rows are one family",
    "primary": "the measure that decides",
    "secondary": "better or worse only if the primary measure is, the same way",
    "diagnostic": "shown, tested with nothing and never better",
}

WORDS = {
    "better": "better",
    "worse": "worse",
    "same": "same",
    "equivalent": "same",
    "unclear": "unclear",
    "diagnostic": "diagnostic",
}
"""What people read for each verdict; "judge first" where unjudged documents could decide it."""
LIKELY = 0.6
"""From this probability on, a row that is unclear is called probably better, or worse."""


@dataclass(frozen=True)
class UnjudgedDocuments:
    """The unjudged documents of two systems within the reach of a measure, and what their judgements could do."""

    documents: int
    low: float
    """The least and the greatest difference that judgements of all of them could give."""
    high: float
    judged_a: float
    """The share of the documents within reach that are judged, in a."""
    judged_b: float
    to_turn: int | None = None
    """How many of them, if relevant, would reverse the difference; None if they cannot, or if it was not computed."""


def verdict_of(
    difference: float,
    adjusted: float,
    differing: int,
    *,
    alpha: float,
    higher_is_better: bool = True,
    equivalence: float | None = None,
    withheld: bool = False,
) -> VerdictWord:
    """The verdict on a row from its numbers: 'better', 'worse' (b than a), 'same', 'equivalent' or 'unclear'.

    `differing` counts queries; `adjusted` and `equivalence` are corrected p-values. `withheld` says that something
    else keeps it from being decided, such as too few clusters.
    """
    if not differing:
        return "same"
    if not withheld and adjusted <= alpha and difference != 0:
        if (difference > 0) == higher_is_better:
            return "better"
        return "worse"
    if not withheld and equivalence is not None and equivalence <= alpha:
        return "equivalent"
    return "unclear"


@dataclass(frozen=True, repr=False, eq=False)
class Pair(Result):
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
    """Cohen's d: the mean difference over the standard deviation of the queries' differences.

    NaN if they are all the same. If systems were run several times, a query's difference is the difference of means.
    """
    wins: int
    """Queries on which b is better."""
    ties: int
    losses: int
    p: float
    """The p-value that the verdict goes by, before correction."""
    p_by_test: Mapping[str, float]
    """The p-value of each test, before correction."""
    how: str
    """How the p-value was found: 'exact', 'sampled', 'saddlepoint', 'formula', 'replicates', or 'hall'.

    'hall' says that the differences are so skewed that the interval decides, and not the test.
    """
    p_adjusted: float
    """The p-value that goes with the verdict: that of the chosen test, corrected for the family.

    NaN where no test decides: for diagnostics, which are in no family, and where documents are to be judged first.
    """
    at_most: bool
    """Whether no sampled flip reached the difference: the corrected p-value is then only known to be at most that."""
    critical: float
    """Student's quantile of the interval, by which the family is corrected."""
    detectable: float
    """The smallest difference that this number of queries would have found, after the same correction."""
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
    probability: float = math.nan
    """The probability that b is better; NaN if nothing differs, or if documents are to be judged first."""
    unjudged: UnjudgedDocuments | None = None
    """The unjudged documents within the measure's reach; None if there are none, or if they were not looked at."""

    @property
    def verdict(self) -> VerdictWord:
        """'better' or 'worse' (b than a), 'same', 'equivalent' or 'unclear'; 'diagnostic' for diagnostics.

        Where unjudged documents could decide it (`could_be_turned`), it is 'unclear', and `word` is 'judge first'.
        """
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
    def word(self) -> str:
        """The verdict as people read it: 'better', 'worse', 'same', 'unclear', 'judge first'; or 'diagnostic'."""
        if self.could_be_turned:
            return "judge first"
        return WORDS[self.verdict]

    @property
    def is_decided(self) -> bool:
        """Whether b is better or worse than a."""
        return self.verdict in ("better", "worse")

    @property
    def moved(self) -> float:
        """The share of queries whose values differ."""
        if self.n:
            return (self.wins + self.losses) / self.n
        return math.nan

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
        """The verdict in sentences: how much, how sure, on how many queries; then what would change it."""
        sentences = [self.sentence, self._counts_words, *self.reasons, *(note.sentence for note in self.caveats)]
        return " ".join(filter(None, sentences))

    @property
    def sentence(self) -> str:
        """The verdict in a sentence that can be read aloud."""
        verdict, short = self.verdict, self.short_words
        if verdict == "same":
            return f"{short}."
        if verdict in ("better", "worse"):
            return f"{short}: {self._size}{self._likely}."
        if verdict == "equivalent":
            return f"{short}. As measured: {self._size}."
        if self.could_be_turned:
            return f"{short}. As judged today: {self._size}."
        return f"{short}: {self._size}."

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the verdict rests on beside its numbers, and what would change it; each a sentence."""
        if self.verdict in ("better", "worse"):
            return tuple(filter(None, [self._margin_words]))
        if self.could_be_turned:
            return tuple(filter(None, [self._judged_words]))
        if self.verdict == "unclear":
            return tuple(filter(None, [self._enough_words, self._judging_words]))
        return ()

    @property
    def short_words(self) -> str:
        """The verdict as few words that can be read aloud, without numbers or an end."""
        a, b, verdict = ids.show(self.a), ids.show(self.b), self.verdict
        if verdict in ("better", "worse"):
            return f"{b} is {verdict} than {a}"
        if verdict == "equivalent":
            return f"{b} and {a} are the same: no difference larger than {self.statistics.margin:g}"
        if verdict == "diagnostic":
            return f"{b} against {a}"
        if verdict == "same":
            return f"{b} and {a} have the same {self.measure} on all {self.n:,} queries"
        if self.could_be_turned:
            return f"Judge first: {self._open_documents} could decide between {b} and {a}"
        return self._unclear_words(a, b)

    @property
    def _open_documents(self) -> str:
        if self.unjudged is None or self.unjudged.to_turn is None:
            return "unjudged documents"
        count = self.unjudged.to_turn
        return f"{count:,} document{'s' * (count != 1)}"

    def _unclear_words(self, a: str, b: str) -> str:
        """Which of two systems without a clear difference is probably better."""
        if math.isnan(self.probability):
            return f"{b} and {a} are not told apart"

        likelier = max(self.probability, 1 - self.probability)
        if likelier < LIKELY:
            return f"{b} and {a} are not told apart ({format_probability(self.probability)} that {b} is better)"
        word = "worse"
        if self.probability > 0.5:
            word = "better"
        return f"{b} is probably {word} than {a} ({format_probability(likelier)}), not shown"

    @property
    def _size(self) -> str:
        """The difference with its interval."""
        size = f"{self.difference:+.4f} {self.measure}"
        if math.isnan(self.interval.low):
            return size
        return f"{size} ({percent(self.statistics.level)} interval {format_interval(self.interval, signed=True)})"

    @property
    def _counts_words(self) -> str:
        """On how many queries b is better, with the effect and the p-value."""
        if self.verdict == "same":
            return ""
        if self.verdict == "diagnostic":
            lower = self.n - self.ties - self._higher
            counts = f"Higher on {self._higher:,}, lower on {lower:,} of {self.n:,} queries."
            return f"{counts} A diagnostic: no system is better by it."

        counts = f"Better on {self.wins:,}, worse on {self.losses:,}, equal on {self.ties:,} of {self.n:,} queries"
        numbers = []
        if not math.isnan(self.effect):
            numbers.append(f"d = {self.effect:.2f}")
        if not math.isnan(self.p_adjusted):
            numbers.append(f"p {format_p(self.p_adjusted, self.at_most, self.statistics.alpha)}")
        if not numbers:
            return f"{counts}."
        return f"{counts} ({', '.join(numbers)})."

    @property
    def _likely(self) -> str:
        """How likely it is that what is shown is so."""
        if math.isnan(self.probability):
            return ""
        return f", {format_probability(max(self.probability, 1 - self.probability))} likely"

    @property
    def _margin_words(self) -> str:
        is_within = self.equivalence is not None and self.equivalence <= self.statistics.alpha
        if is_within:
            return f"The difference is real but within the margin of {self.statistics.margin:g}."
        return ""

    @property
    def _enough_words(self) -> str:
        """How many queries would show what is not shown."""
        if self.n == 1:
            return "One query cannot show a difference between systems."
        times = f"{100 * self.statistics.power:.0f} of 100 cases"
        sentences = []
        if self.queries_needed:
            needed = f"about {self.queries_needed:,} queries ({self.n:,} now)"
            sentences.append(f"To show a difference of this size in {times}: {needed}.")
        if math.isfinite(self.detectable):
            sentences.append(f"With {self.n:,} queries one of {self.detectable:.4f} would be found in {times}.")
        return " ".join(sentences)

    @property
    def _judging_words(self) -> str:
        """What judging could do for a row that is not decided."""
        if self.unjudged is None or not self.unjudged.documents:
            return ""
        documents = f"{self.unjudged.documents:,} unjudged documents"
        furthest = max(abs(self.unjudged.low - self.difference), abs(self.unjudged.high - self.difference))
        if furthest < (self.interval.high - self.interval.low) / 4:
            return f"Judging is not the way: the {documents} move it by {furthest:.4f} at most."
        return f"With its {documents} judged it lies between {self.unjudged.low:+.4f} and {self.unjudged.high:+.4f}."

    @property
    def _judged_words(self) -> str:
        """How much is judged, and what judging all of it could give."""
        if self.unjudged is None:
            return ""
        a, b, unjudged = ids.show(self.a), ids.show(self.b), self.unjudged
        shares = (
            f"{unjudged.judged_b:.0%} of what {b} returned within reach is judged, {unjudged.judged_a:.0%} of {a}'s."
        )
        return f"{shares} With all judged: {unjudged.low:+.4f} to {unjudged.high:+.4f}."

    @property
    def _higher(self) -> int:
        """On how many queries b has the higher value."""
        if self.higher_is_better:
            return self.wins
        return self.losses

    def __repr__(self) -> str:
        return f"Pair({self.measure!r}, {self.a!r}, {self.b!r}, difference={self.difference:+.4f}, {self.verdict!r})"

    @property
    def notes(self) -> tuple[Note, ...]:
        """How far it can be trusted."""
        return self.caveats

    def parts(self) -> list[Part]:
        """The verdict as a sentence, and the numbers behind it."""
        from goldrank.report.comparison import pair_parts

        return pair_parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        return [self.row()]

    def row(self) -> dict[str, Any]:
        """The numbers as one flat record."""
        return {
            **attributes(self, "measure a b role"),
            "queries": self.n,
            **attributes(self, "mean_a mean_b difference"),
            **attributes(self.interval, "low high"),
            **attributes(self, "effect wins ties losses moved"),
            **{f"p_{test}": self.p_by_test[test] for test in TESTS},
            "p_adjusted": self.p_adjusted,
            "p_at_most": self.at_most,
            "p_equivalence": self.equivalence,
            **attributes(self, "critical detectable"),
            **attributes(self, "queries_needed probability verdict word"),
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
        unjudged = None
        if self.unjudged is not None:
            unjudged = asdict(self.unjudged)
        return {**record, **values, **words, "caveats": caveats, "judge_first": judge, "unjudged": unjudged}


def format_p(value: float, at_most: bool = False, alpha: float = 0.05) -> str:
    """A p-value for people, with its sign: '= 0.012', '< 0.001', or 'at most 0.0001' where only that is known.

    It has as many digits as it takes to see on which side of alpha it lies.

    >>> format_p(0.0123), format_p(0.0502), format_p(0.05004)
    ('= 0.012', '= 0.0502', '= 0.05004')
    """
    if math.isnan(value):
        return "is not defined"
    if at_most:
        return f"at most {value:.1g}"
    if value < 0.001:
        return "< 0.001"
    return f"= {p_digits(value, alpha)}"


def p_digits(value: float, alpha: float = 0.05) -> str:
    """A p-value with three decimals, or as many as show on which side of alpha it lies."""
    text = f"{value:.3f}"
    for digits in range(3, 16):
        text = f"{value:.{digits}f}"
        if (float(text) <= alpha) == (value <= alpha):
            break
    return text


def format_interval(interval: Interval, signed: bool = False) -> str:
    """'+0.0187 to +0.0641': four decimals, or as many as show that an end near 0 is not 0."""
    return " to ".join(_end(end, signed) for end in interval)


def _end(end: float, signed: bool) -> str:
    text = f"{end:{'+' * signed}.4f}"
    for digits in range(4, 16):
        text = f"{end:{'+' * signed}.{digits}f}"
        if not end or float(text):
            break
    return text


def format_probability(share: float) -> str:
    """A probability for people: '91%', '99.5%', and never 100% nor 0%.

    >>> format_probability(0.9149), format_probability(0.9951), format_probability(0.99999)
    ('91%', '99.5%', 'more than 99.9%')
    >>> format_probability(0.0049), format_probability(0.00001)
    ('0.5%', 'less than 0.1%')
    """
    if share >= 0.9995:
        return "more than 99.9%"
    if share <= 0.0005:
        return "less than 0.1%"
    if 0.01 < share < 0.99:
        return f"{share:.0%}"
    return f"{share:.1%}"
