"""The box that the page of a comparison opens with: word, number, picture, what it rests on, what would change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from goldrank.base import ids
from goldrank.comparison.intervals import Interval, percent
from goldrank.comparison.leaderboard import Leaderboard
from goldrank.comparison.pair import Pair, format_interval, format_p, format_probability
from goldrank.data.table import Sentence, count
from goldrank.report.comparison import first_two, reasons, to_judge_words
from goldrank.report.numbers import number

SIGNS = {"better": "▲", "worse": "▼", "same": "=", "unclear": "?", "judge first": "✎", "diagnostic": "·"}
"""What stands before each word, for those who do not see colours."""
STYLES = {"judge first": "judge", "diagnostic": "unclear"}
"""The styles of words that are not their own."""
NEAR = 18
"""In percent of the width, how near 0 an end of the line has no number."""
ROOM = 0.08
"""The share of a picture's width that is free on each side."""


@dataclass(frozen=True)
class Picture:
    """Where a difference lies: positions in percent of the width."""

    zero: float
    value: float
    low: float
    high: float
    zone: tuple[float, float] | None
    """What is too small to matter: where it begins, and its width."""
    unknown: tuple[float, float] | None
    """Where judgements of all documents could put it: where that begins, and its width."""
    ends: tuple[str, str]
    """The numbers at both ends of the line; none beside 0."""
    label: str
    """What it shows, in a sentence."""


@dataclass(frozen=True)
class Likelihood:
    """The probability that B is better on other queries, as a bar."""

    percent: float
    shown_from: float
    words: str


@dataclass(frozen=True)
class Decision:
    """What people see first."""

    word: str
    sign: str
    style: str
    value: str
    about: str
    picture: Picture | None
    likelihood: Likelihood | None
    rests_on: Sequence[str]
    changes: Sequence[Sentence]


def of_pair(pair: Pair, more: Sequence[Sentence] = ()) -> Decision:
    """The decision on two systems; `more` is what else could change it."""
    level = percent(pair.statistics.level)
    about = pair.measure
    if pair.word == "judge first":
        about += " as judged today"
    if not math.isnan(pair.interval.low):
        about += f", {level} interval {format_interval(pair.interval, signed=True)}"

    return Decision(
        word=pair.word,
        sign=SIGNS[pair.word],
        style=STYLES.get(pair.word, pair.word),
        value=number(pair.difference, signed=True),
        about=about,
        picture=_picture(pair, level),
        likelihood=_likelihood(pair),
        rests_on=_rests_on(pair),
        changes=[*reasons(pair), *more],
    )


def of_board(board: Leaderboard, level: str) -> Decision:
    """The decision on many systems: who may be best."""
    first = board.standings[0]
    best, size = len(board.may_be_best), len(board.standings)
    word, style, sign = f"{best} may be best", "unclear", SIGNS["unclear"]
    if best == 1:
        word, style, sign = "best", "better", SIGNS["better"]

    rests_on = [f"{size - best:,} of {size:,} are worse than the best for sure"]
    rests_on.append(
        f"{board.told_apart:,} of {count(len(board.pairs), 'pair')} told apart, on {board.queries:,} queries"
    )

    changes = [Sentence(words, "remark") for words in (first_two(board), to_judge_words(board)) if words]
    return Decision(
        word=word,
        sign=sign,
        style=style,
        value=number(first.value),
        about=f"{board.measure} of {ids.show(first.run)}, {level} interval {format_interval(first.interval)}",
        picture=None,
        likelihood=None,
        rests_on=rests_on,
        changes=changes,
    )


def _rests_on(pair: Pair) -> list[str]:
    """The facts behind a decision: at most four."""
    moved = pair.wins + pair.losses
    queries = f"{moved:,} of {pair.n:,} queries moved: {pair.wins:,} better, {pair.losses:,} worse, {pair.ties:,} equal"
    if pair.verdict == "diagnostic":
        queries = f"{moved:,} of {pair.n:,} queries moved"
    facts = [queries]

    unjudged = pair.unjudged
    if unjudged is not None:
        shares = f"{unjudged.judged_a:.0%} of {ids.show(pair.a)}'s and {unjudged.judged_b:.0%} of {ids.show(pair.b)}'s"
        facts.append(f"{shares} documents within reach are judged")
    if not math.isnan(pair.p_adjusted):
        facts.append(f"p {format_p(pair.p_adjusted, pair.at_most, pair.statistics.alpha)}, corrected")
    if not math.isnan(pair.effect):
        facts.append(f"d = {pair.effect:.2f}")
    return facts


def _likelihood(pair: Pair) -> Likelihood | None:
    if math.isnan(pair.probability):
        return None
    words = f"Better on other queries like these: {format_probability(pair.probability)}"
    return Likelihood(100 * pair.probability, 100 * (1 - pair.statistics.alpha / 2), words)


def _picture(pair: Pair, level: str) -> Picture | None:
    """The interval on a line with 0, the margin, and what judging could make of it."""
    zone, unknown = None, None
    if pair.statistics.margin is not None:
        zone = Interval(-pair.statistics.margin, pair.statistics.margin)
    if pair.could_be_turned and pair.unjudged is not None:
        unknown = Interval(pair.unjudged.low, pair.unjudged.high)
    return picture_of(pair.difference, pair.interval, level, zone, unknown)


def picture_of(
    difference: float,
    interval: Interval,
    level: str = "",
    zone: Interval | None = None,
    unknown: Interval | None = None,
) -> Picture | None:
    """A difference and its interval on a line with 0; None where the interval is not known.

    `zone` is what is too small to matter, `unknown` where judgements of all documents could put the difference.
    """
    low, high = interval
    if math.isnan(low):
        return None

    least = min(0.0, low, high, difference, *(zone or ()), *(unknown or ()))
    greatest = max(0.0, low, high, difference, *(zone or ()), *(unknown or ()))
    room = ROOM * (greatest - least) or 0.01
    begin, width = least - room, greatest - least + 2 * room

    def place(value: float) -> float:
        return round(100 * (value - begin) / width, 2)

    def span(part: Interval | None) -> tuple[float, float] | None:
        if part is None:
            return None
        return place(part.low), round(place(part.high) - place(part.low), 2)

    interval_words = f"{level} interval {format_interval(interval, signed=True)}".strip()
    label = f"Difference {difference:+.4f}, {interval_words}"
    if unknown is not None:
        label += f"; with all documents judged {unknown.low:+.4f} to {unknown.high:+.4f}"

    ends = (_end(begin, width, place(0.0)), _end(begin + width, width, 100 - place(0.0)))
    return Picture(
        zero=place(0.0),
        value=place(difference),
        low=place(low),
        high=place(high),
        zone=span(zone),
        unknown=span(unknown),
        ends=ends,
        label=f"{label}.",
    )


def _end(value: float, width: float, from_zero: float) -> str:
    """The number at an end of the line, with as many decimals as tell it from 0."""
    if from_zero < NEAR:
        return ""
    decimals = 2
    if width < 0.1:
        decimals = 4
    return number(value, decimals, signed=True)
