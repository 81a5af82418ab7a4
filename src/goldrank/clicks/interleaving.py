"""Which of two rankings do users click, when their results are mixed into one list?

Credit goes by impression and lies between -1/2 and 1/2; more is better for B:

- **team draft** (Radlinski, Kurup, Joachims 2008): the sign of clicks on B's picks less clicks on A's, halved;
- **probabilistic** (Hofmann, Whiteson, de Rijke 2011): rankings are softmax distributions, a document's chance being
  1 / rank^3. A click gives B the share P_B / (P_A + P_B) that its distribution had in drawing the document, after what
  stands above was taken out; d is the mean over clicks of 2 x share - 1, halved.

The rest is that of every comparison: flips of signs and intervals over what is drawn together, here the user.
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


@dataclass(frozen=True, repr=False)
class Preference(Result):
    """What clicks say about B against A."""

    method: Method
    a: str
    b: str
    impressions: int
    """With a click; those without say nothing."""
    wins: int
    """Impressions that B won."""
    losses: int
    ties: int
    unit: str
    """What is drawn together: 'user', 'query' or 'impression'."""
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
        if self.p > self.alpha or (self.unit != "impression" and self.units < FEWEST_CLUSTERS):
            return "unclear"
        if self.share > 0.5:
            return "better"
        return "worse"

    @property
    def words(self) -> str:
        """The result as a sentence."""
        level = f"{percent(1 - self.alpha)} interval {self.interval.low:.1%} to {self.interval.high:.1%}"
        said = {"better": f"Users prefer {self.b} to {self.a}", "worse": f"Users prefer {self.a} to {self.b}"}
        return (
            f"{said.get(self.verdict, f'No clear preference between {self.b} and {self.a}')}: {self.b} gets "
            f"{self.share:.1%} of the credit ({level}), wins {self.wins:,} and loses {self.losses:,} of "
            f"{self.impressions:,} impressions with a click"
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
        How lists were made; without it, those of a log with the field `team` are team draft's.
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

    impressions, noticed = read_impressions(log)
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
        what = f"none of {len(impressions):,} impressions has a click"
        raise InputError(what, hint="There is nothing to compare.", code="no-clicks")
    unit, units = _units(clicked)
    flipped = flip(unit_sums(credit[None], units), seed=statistics.seed)
    p = raw_p(flipped, 0)
    if unit == "impression" or len(set(units.tolist())) == len(units):
        clusters = None
    else:
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
        how=p.how,
        alpha=alpha,
        notes=(*noticed, *_notes(impressions, clicked, unit), *_caveats(credit, units, unit, interval, alpha)),
    )


def team_draft_credit(impression: Impression) -> float:
    """The sign of B's clicks less A's, halved."""
    if impression.team is None:
        raise InputError("team draft needs the field 'team'", where=impression.where, hint="Whose pick each was.")
    clicked = [impression.team[at] for at in impression.clicks]
    if lead := clicked.count("b") - clicked.count("a"):
        return math.copysign(0.5, lead)
    return 0.0


def probabilistic_credit(impression: Impression) -> float:
    """The mean over clicks of twice B's share less 1, halved."""
    if impression.a is None or impression.b is None:
        raise InputError(
            "probabilistic interleaving needs the fields 'a' and 'b'",
            where=impression.where,
            hint="The two rankings that the list was drawn from.",
        )

    chances = [{doc: rank**-STEEPNESS for rank, doc in enumerate(of, 1)} for of in (impression.a, impression.b)]
    left = [math.fsum(of.values()) for of in chances]
    leads = []
    clicks = set(impression.clicks)
    for at, doc in enumerate(impression.shown):
        of_a, of_b = (
            of[doc] / max(rest, of[doc]) if doc in of else 0.0 for of, rest in zip(chances, left, strict=True)
        )
        if not of_a and not of_b:
            raise InputError(f"'{ids.show(doc)}' was shown but is in neither ranking", where=impression.where)
        if at in clicks:
            leads.append(2 * of_b / (of_a + of_b) - 1)
        left = [rest - of.pop(doc, 0.0) for of, rest in zip(chances, left, strict=True)]

    return math.fsum(leads) / len(leads) / 2


_CREDIT: dict[Method, Callable[[Impression], float]] = {
    "team-draft": team_draft_credit,
    "probabilistic": probabilistic_credit,
}


def _units(impressions: Sequence[Impression]) -> tuple[str, np.ndarray]:
    """What is drawn together, and the number of each impression's, in the order of the ids."""
    for unit in UNITS[:2]:
        named = [getattr(impression, unit) for impression in impressions]
        if None not in named:
            number = {name: i for i, name in enumerate(sorted(set(named)))}
            return unit, np.array([number[name] for name in named])
    return "impression", np.arange(len(impressions))


def _caveats(credit: np.ndarray, units: np.ndarray, unit: str, interval: Interval, alpha: float) -> list[Note]:
    """How far the verdict can be trusted."""
    changed, count = differing(credit, units), int(units.max()) + 1
    codes = caveats(changed, count, alpha, clustered=unit != "impression")
    plural = {"query": "queries"}.get(unit, f"{unit}s")
    return [Note.of(code, units=count, unit=plural, differing=changed, end=interval.high) for code in codes]


def _notes(all_of_them: Sequence[Impression], clicked: Sequence[Impression], unit: str) -> list[Note]:
    notes = []
    if silent := len(all_of_them) - len(clicked):
        notes.append(Note.of("no-clicks", count=silent, impressions=len(all_of_them)))
    if repeated := sum(impression.repeated for impression in all_of_them):
        notes.append(Note.of("repeated-clicks", count=repeated))
    known = sum(impression.user is not None for impression in clicked)
    if unit != "user" and known:
        notes.append(Note.of("partly-known-users", count=len(clicked) - known, impressions=len(clicked), unit=unit))
    return notes
