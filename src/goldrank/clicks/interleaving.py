"""Which of two rankings do users click, when their results are mixed into one list?

Credit goes by impression and lies between -1/2 and 1/2; more is better for B:

- **team draft** (Radlinski, Kurup, Joachims 2008): the sign of clicks on B's picks less clicks on A's, halved;
- **probabilistic** (Hofmann, Whiteson, de Rijke 2011): rankings are softmax distributions, a document's chance being
  1 / rank^3. A click gives B the share P_B / (P_A + P_B) that its distribution had in drawing the document, after the
  documents above it were taken out; d is the mean over clicks of 2 x share - 1, halved.

The test and the interval are those of every comparison: flips of signs, and intervals over units, here users.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, of_type, one_of
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import Frame, Rows, Source
from goldrank.clicks.impressions import Impression, read_impressions
from goldrank.comparison.flips import flip, raw_p, unit_sums
from goldrank.comparison.intervals import FEWEST_CLUSTERS, Interval, caveats, difference_interval, differing, percent
from goldrank.comparison.settings import Statistics
from goldrank.comparison.tabular import attributes
from goldrank.data.scores import SLACK
from goldrank.data.showing import Result
from goldrank.data.table import Part

Method: TypeAlias = Literal["team-draft", "probabilistic"]
"""How lists were made: each shown document is the pick of one ranking, or was drawn from both by 1 / rank^3."""
Decided: TypeAlias = Literal["better", "worse", "unclear"]
UNITS = ("user", "query", "impression")
REACH = 0.5
STEEPNESS = 3


@dataclass(frozen=True, repr=False, eq=False)
class Preference(Result):
    """Whether users prefer B to A, by their clicks."""

    method: Method
    a: str
    b: str
    impressions: int
    """Impressions with a click; the others do not count."""
    wins: int
    """Impressions that B won."""
    losses: int
    ties: int
    unit: str
    """The unit of draws: 'user', 'query' or 'impression'."""
    units: int
    share: float
    """B's: 1/2 if users see no difference."""
    interval: Interval
    p: float
    how: str
    """How p was computed."""
    alpha: float
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        return f"Preference({self.a!r}, {self.b!r}, {self.verdict!r})"

    @property
    def verdict(self) -> Decided:
        """'better' or 'worse' for B, or 'unclear'."""
        has_few_clusters = self.unit != "impression" and self.units < FEWEST_CLUSTERS
        if has_few_clusters or self.p > self.alpha:
            return "unclear"
        if self.share > 0.5:
            return "better"
        return "worse"

    @property
    def words(self) -> str:
        """The result as a sentence."""
        level = f"{percent(1 - self.alpha)} interval {self.interval.low:.1%} to {self.interval.high:.1%}"
        preferences: dict[Decided, str] = {
            "better": f"Users prefer {self.b} to {self.a}",
            "worse": f"Users prefer {self.a} to {self.b}",
            "unclear": f"No clear preference between {self.b} and {self.a}",
        }
        return (
            f"{preferences[self.verdict]}: {self.b} gets {self.share:.1%} of the credit ({level}), "
            f"wins {self.wins:,} and loses {self.losses:,} of {self.impressions:,} impressions with a click"
        )

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.clicks.interleaving_report import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        names = "method a b impressions wins losses ties unit units share p alpha verdict"
        return [{**attributes(self, names), "low": self.interval.low, "high": self.interval.high}]

    def to_dict(self) -> dict[str, Any]:
        return {**self.rows()[0], "p_by": self.how, "notes": [note.to_dict() for note in self.notes]}


@named_arguments
def analyse_interleaving(
    log: Source | Frame | Rows,
    method: Method | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    statistics: Statistics = Statistics(),
) -> Preference:
    """Which of two rankings users prefer, from a log of lists that mix both and of clicks on them.

    Parameters
    ----------
    log : path or records
        For each list `shown` and `clicks` (document ids); for team draft `team` ("a" or "b" for each shown document),
        for probabilistic interleaving `a` and `b` (the two rankings); `user` and `query` if they are known.
    method : {"team-draft", "probabilistic"}, optional
        How lists were made; by default "team-draft" if the log has the field `team`, otherwise "probabilistic".
    names : tuple of str
        What the two rankings are called.
    statistics : Statistics
        Alpha, and the seed where signs are flipped at random.

    Returns
    -------
    Preference

    Raises
    ------
    InputError
        If the log cannot be read, is empty, or has no click.
    OptionError
        If an option cannot be used.

    Examples
    --------
    >>> log = [{"user": f"u{i}", "shown": ["x", "y"], "team": ["a", "b"], "clicks": ["y"]} for i in range(10)]
    >>> preference = analyse_interleaving(log)
    >>> preference.verdict, preference.share, preference.p
    ('better', 1.0, 0.001953125)
    """
    if method is not None:
        one_of(method, get_args(Method), "method")
    of_type(statistics, Statistics, "statistics", "Statistics", hint="For example statistics=Statistics(alpha=0.1).")
    if not isinstance(names, tuple | list) or len(names) != 2:
        raise OptionError(f"names is {shown(names)}; it must be two names", code="two-names-needed")
    alpha = statistics.alpha

    impressions, reading_notes = read_impressions(log)
    if not impressions:
        raise InputError("the log is empty", hint="A line for each list that was shown.", code="empty-log")
    if method is None:
        if impressions[0].team is not None:
            method = "team-draft"
        else:
            method = "probabilistic"

    clicked = [impression for impression in impressions if impression.clicks]
    credit = np.array([_CREDIT[method](impression) for impression in clicked])
    if not clicked:
        message = f"none of {len(impressions):,} impressions has a click"
        raise InputError(message, hint="There is nothing to compare.", code="no-clicks")

    unit, units = _units(clicked)
    flipped = flip(unit_sums(credit[None], units), seed=statistics.seed)
    p = raw_p(flipped, 0)

    clusters = None
    if unit != "impression" and len(set(units.tolist())) < len(units):
        clusters = units
    interval = difference_interval(credit, level=statistics.level, reach=REACH, units=clusters)
    mean = float(credit.mean())

    return Preference(
        method=method,
        a=str(names[0]),
        b=str(names[1]),
        impressions=len(clicked),
        wins=int((credit > SLACK).sum()),
        losses=int((credit < -SLACK).sum()),
        ties=int((np.abs(credit) <= SLACK).sum()),
        unit=unit,
        units=int(units.max()) + 1,
        share=0.5 + mean,
        interval=Interval(0.5 + interval.low, 0.5 + interval.high),
        p=p.value,
        how=p.method,
        alpha=alpha,
        notes=(*reading_notes, *_notes(impressions, clicked, unit), *_caveats(credit, units, unit, interval, alpha)),
    )


def team_draft_credit(impression: Impression) -> float:
    """The sign of B's clicks less A's, halved."""
    if impression.team is None:
        raise InputError("team draft needs the field 'team'", where=impression.where, hint="Whose pick each was.")

    clicked = [impression.team[position] for position in impression.clicks]
    lead = clicked.count("b") - clicked.count("a")
    if lead == 0:
        return 0.0
    return math.copysign(0.5, lead)


def probabilistic_credit(impression: Impression) -> float:
    """The mean over clicks of twice B's share less 1, halved."""
    if impression.a is None or impression.b is None:
        raise InputError(
            "probabilistic interleaving needs the fields 'a' and 'b'",
            where=impression.where,
            hint="The two rankings that the list was drawn from.",
        )

    from_a, from_b = _Softmax(impression.a), _Softmax(impression.b)
    clicks = set(impression.clicks)
    leads = []
    for position, doc in enumerate(impression.shown):
        chance_a, chance_b = from_a.take(doc), from_b.take(doc)
        if not chance_a and not chance_b:
            raise InputError(f"'{ids.show(doc)}' was shown but is in neither ranking", where=impression.where)
        if position in clicks:
            leads.append(2 * chance_b / (chance_a + chance_b) - 1)

    return math.fsum(leads) / len(leads) / 2


class _Softmax:
    """The distribution of a ranking: documents are drawn without putting them back, by 1 / rank^3."""

    def __init__(self, ranking: Sequence[str]) -> None:
        self._weights: dict[str, float] = {doc: rank**-STEEPNESS for rank, doc in enumerate(ranking, 1)}
        self._total = math.fsum(self._weights.values())

    def take(self, doc: str) -> float:
        """The chance that the next draw is this document, which is then taken out; 0 if the ranking lacks it."""
        weight = self._weights.pop(doc, 0.0)
        if not weight:
            return 0.0
        chance = weight / max(self._total, weight)
        self._total -= weight
        return chance


_CREDIT: dict[Method, Callable[[Impression], float]] = {
    "team-draft": team_draft_credit,
    "probabilistic": probabilistic_credit,
}


def _units(impressions: Sequence[Impression]) -> tuple[str, np.ndarray]:
    """The unit of draws, and the number of each impression's unit; numbers are in the order of the ids."""
    for unit in UNITS[:2]:
        unit_ids = [getattr(impression, unit) for impression in impressions]
        if None not in unit_ids:
            number = {unit_id: i for i, unit_id in enumerate(sorted(set(unit_ids)))}
            return unit, np.array([number[unit_id] for unit_id in unit_ids])
    return "impression", np.arange(len(impressions))


def _caveats(credit: np.ndarray, units: np.ndarray, unit: str, interval: Interval, alpha: float) -> list[Note]:
    """How far the verdict can be trusted."""
    changed, count = differing(credit, units), int(units.max()) + 1
    codes = caveats(changed, count, alpha, clustered=unit != "impression")
    plural = {"query": "queries"}.get(unit, f"{unit}s")
    return [Note.of(code, units=count, unit=plural, differing=changed, end=interval.high) for code in codes]


def _notes(impressions: Sequence[Impression], clicked: Sequence[Impression], unit: str) -> list[Note]:
    notes = []
    silent = len(impressions) - len(clicked)
    if silent:
        notes.append(Note.of("no-clicks", count=silent, impressions=len(impressions)))

    repeated = sum(impression.repeated for impression in impressions)
    if repeated:
        notes.append(Note.of("repeated-clicks", count=repeated))

    known = sum(impression.user is not None for impression in clicked)
    if unit != "user" and known:
        notes.append(Note.of("partly-known-users", count=len(clicked) - known, impressions=len(clicked), unit=unit))
    return notes
