"""What a mean hides: how bad the bad queries are, and which they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, of_type, real_number, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import QueriesLike
from goldrank.comparison.intervals import UNKNOWN, Interval, percent, t_quantile
from goldrank.comparison.tabular import attributes
from goldrank.data.scores import Column, Scores
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, note_sentences
from goldrank.io.by_id.query_files import read_queries
from goldrank.measures import known as known_measure
from goldrank.report.numbers import interval as shown_interval
from goldrank.report.numbers import number

LEVEL = 0.95
MOST_INTENTS = 20
INFINITE_FREEDOM = 1e9
"""Degrees of freedom at which Student's quantile equals the normal one."""


@dataclass(frozen=True)
class WorstQuery:
    """A query and its value."""

    query: str
    value: float


@dataclass(frozen=True)
class IntentTail:
    """Variants of one query: paraphrases, or the same words with typing errors."""

    intent: str
    queries: int
    mean: float
    worst: float
    worst_query: str
    spread: float
    """The best variant minus the worst one."""


@dataclass(frozen=True)
class MeasureTail:
    """The bad end of one measure."""

    measure: str
    n: int
    """Queries that count."""
    mean: float
    median: float
    median_interval: Interval
    tail: float
    """The percentile at the bad end: of a measure that should be high the low one."""
    tail_interval: Interval
    worst: tuple[WorstQuery, ...]
    """The worst queries, the worst first."""
    higher_is_better: bool = True
    target: float | None = None
    """The value that a query should reach, if there is one."""
    share: float | None = None
    """The share of queries that reach the target, if there is one."""
    share_interval: Interval = UNKNOWN
    intents: tuple[IntentTail, ...] = ()
    """Queries that are variants of each other, if clusters are known; those with the widest spread first."""

    def row(self) -> dict[str, Any]:
        """A flat record."""
        return {
            **attributes(self, "measure n mean median"),
            "median_low": self.median_interval.low,
            "median_high": self.median_interval.high,
            "tail": self.tail,
            "tail_low": self.tail_interval.low,
            "tail_high": self.tail_interval.high,
            "target": self.target,
            "share": self.share,
            "share_low": self.share_interval.low,
            "share_high": self.share_interval.high,
        }


@dataclass(frozen=True, repr=False, eq=False)
class ScoreTail(Result):
    """Median, bad percentile, share that reaches a target, and worst queries. Made by `score_tail`."""

    run: str
    of: tuple[MeasureTail, ...]
    at: float
    """Which percentile is the bad one, as a share: 0.05."""
    level: float = LEVEL
    notes: tuple[Note, ...] = ()

    def __getitem__(self, measure: str) -> MeasureTail:
        for tail in self.of:
            if tail.measure == measure:
                return tail
        raise KeyError(measure)

    @property
    def words(self) -> str:
        """The first measure in a sentence."""
        first = self.of[0]
        if first.higher_is_better:
            limit = "at most"
        else:
            limit = "at least"
        worst = f"the worst {self.at:.0%} of the queries have {limit} {first.tail:.4f}"

        reached = ""
        if first.share is not None:
            reached = f", {first.share:.1%} reach {first.target:g}"
        return f"{ids.show(self.run)}: {first.measure} has the median {first.median:.4f}, {worst}{reached}."

    def parts(self) -> list[Part]:
        """What people read."""
        within = f"{percent(self.level)} interval"
        has_target = any(tail.target is not None for tail in self.of)
        rows: list[Cells] = []
        for tail in self.of:
            cells: list[Cell | str | float] = [tail.measure, tail.mean, tail.median]
            cells.append(Cell(shown_interval(tail.median_interval)))
            cells += [Cell(number(tail.tail), tail.tail), Cell(shown_interval(tail.tail_interval))]
            if has_target:
                cells += _share_cells(tail)
            rows.append(cells)

        heads = [*Head.names("measure"), *Head.numbers("mean", "median", within, f"worst {self.at:.0%}", within)]
        if has_target:
            heads += Head.numbers("target", "reach it", within)

        shown: list[Part] = [Sentence(self.words), Table(heads, rows, "Tails")]
        first = self.of[0]
        worst: list[Cells] = [[each.query, each.value] for each in first.worst]
        shown.append(Table([*Head.names("query"), *Head.numbers(first.measure)], worst, "Worst queries"))
        shown += [_intents(tail) for tail in self.of if tail.intents]

        return [*shown, *note_sentences(self.notes)]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each measure."""
        return [tail.row() for tail in self.of]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        measures = [_with_worst_queries(tail) for tail in self.of]

        return {
            "format": "goldrank-score-tail",
            "version": 1,
            **attributes(self, "run at level words"),
            "measures": measures,
            "notes": [note.to_dict() for note in self.notes],
        }


def _with_worst_queries(tail: MeasureTail) -> dict[str, Any]:
    """The flat record of a measure, and its worst queries."""
    intents = [attributes(each, "intent queries mean worst worst_query spread") for each in tail.intents]
    worst = [attributes(each, "query value") for each in tail.worst]
    return {**tail.row(), "worst": worst, "intents": intents}


def _share_cells(tail: MeasureTail) -> list[Cell | str | float]:
    """The target, the share that reaches it and its interval; empty cells for a measure without a target."""
    if tail.target is None:
        return [Cell(""), Cell(""), Cell("")]
    target = Cell(f"{tail.target:g}", tail.target)
    return [target, Cell(number(tail.share), tail.share), Cell(shown_interval(tail.share_interval))]


def _intents(tail: MeasureTail) -> Table:
    """Mean, worst and spread of the variants of each intent."""
    rows: list[Cells] = []
    for each in tail.intents[:MOST_INTENTS]:
        rows.append([each.intent, Cell(str(each.queries)), each.mean, each.worst, each.worst_query, each.spread])
    means = np.array([[each.mean, each.worst, each.spread] for each in tail.intents]).mean(axis=0).tolist()
    rows.append([f"mean of {len(tail.intents):,} intents", Cell(""), means[0], means[1], Cell(""), means[2]])
    heads = [
        *Head.names("intent"), *Head.numbers("variants", "mean", "worst"), *Head.names("worst variant"),
        *Head.numbers("spread"),
    ]  # fmt: skip
    return Table(heads, rows, f"Variants, {tail.measure}")


@named_arguments
def score_tail(
    scores: Scores,
    *,
    at: float = 0.05,
    target: float | Mapping[str, float] | None = None,
    worst: int = 10,
    level: float = LEVEL,
    queries: QueriesLike | None = None,
) -> ScoreTail:
    """Say what a mean hides: the median, a bad percentile, the share that reaches a target, and the worst queries.

    Percentiles have intervals between order statistics, which assume nothing of the values; the share has Wilson's
    interval.

    Parameters
    ----------
    scores : Scores
        What `evaluate` returned.
    at : float
        The share of the queries that makes the bad end: 0.05 is the 5th percentile, and the 95th of measures that
        should be low.
    target : float or mapping, optional
        The value that a query should reach, for all measures or by measure.
    worst : int
        How many of the worst queries are named.
    level : float
        The confidence of intervals.
    queries : Queries, optional
        Queries of one cluster are variants of one intent: mean, worst and spread of each intent are shown.

    Returns
    -------
    ScoreTail

    Raises
    ------
    OptionError
        If at or level is not between 0 and 1.

    Examples
    --------
    >>> import goldrank
    >>> scores = goldrank.evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"], "r": ["x", "a"]}, "RR")
    >>> tail = score_tail(scores, target=1.0, worst=1)["RR"]
    >>> tail.median, tail.share, tail.worst[0].query
    (0.75, 0.5, 'r')
    """
    of_type(scores, Scores, "scores", "what `evaluate` returns")
    tail_share, level = _share(at, "at"), _share(level, "level")
    targets: dict[str, float] = {}
    if isinstance(target, Mapping):
        targets = {scores.spelled(name): real_number(value, "target") for name, value in target.items()}
    elif target is not None:
        targets = dict.fromkeys(scores.columns, real_number(target, "target"))

    request = _TailRequest(tail_share, targets, whole_number(worst, "worst"), level, _clusters(queries))
    tails = tuple(_tail(scores, column, request) for column in scores.columns.values())
    return ScoreTail(scores.run, tails, tail_share, level)


def _clusters(queries: QueriesLike | None) -> Mapping[str, str]:
    """By query its cluster; empty if none is known."""
    if queries is None:
        return {}
    known = read_queries(queries)
    if not known.has("cluster"):
        hint = "Variants of one intent have the same `cluster`."
        raise InputError("no query has a cluster", where=known.name, hint=hint, code="no-clusters")
    return known.column("cluster")


def _share(value: float, name: str) -> float:
    share = real_number(value, name, 0.0, 1.0)
    if share in (0.0, 1.0):
        raise OptionError(f"{name} is {value!r}; it must be between 0 and 1", hint="For example 0.05.")
    return share


@dataclass(frozen=True)
class _TailRequest:
    tail_share: float
    targets: Mapping[str, float]
    worst: int
    level: float
    clusters: Mapping[str, str]


def _tail(scores: Scores, column: Column, request: _TailRequest) -> MeasureTail:
    values = dict(zip(scores.queries, column.values.tolist(), strict=True))
    counted: Mapping[str, float] = {query: value for query, value in values.items() if not math.isnan(value)}
    if not counted:
        raise InputError(f"no query has a value of {column.measure}", where=scores.run, code="empty-input")

    ordered = np.sort(np.array(list(counted.values())))
    if column.higher_is_better:
        sign = 1
        share_below = request.tail_share
    else:
        sign = -1
        share_below = 1 - request.tail_share
    bounds = _bounds(column.measure)
    worst = sorted(counted.items(), key=lambda item: (sign * item[1], item[0]))[: request.worst]

    share, share_interval = None, UNKNOWN
    target = request.targets.get(column.measure)
    if target is not None:
        reached = int((sign * ordered >= sign * target).sum())
        share = reached / len(ordered)
        share_interval = wilson(reached, len(ordered), request.level)

    return MeasureTail(
        measure=column.measure,
        n=len(ordered),
        mean=float(ordered.mean()),
        median=float(np.median(ordered)),
        median_interval=quantile_interval(ordered, 0.5, request.level, bounds),
        tail=float(np.quantile(ordered, share_below)),
        tail_interval=quantile_interval(ordered, share_below, request.level, bounds),
        worst=tuple(WorstQuery(query, value) for query, value in worst),
        higher_is_better=column.higher_is_better,
        target=target,
        share=share,
        share_interval=share_interval,
        intents=_variants(counted, request.clusters, sign),
    )


def _variants(values: Mapping[str, float], clusters: Mapping[str, str], sign: int) -> tuple[IntentTail, ...]:
    """The intents of two variants or more."""
    by_intent: dict[str, dict[str, float]] = {}
    for query, value in values.items():
        if query in clusters:
            by_intent.setdefault(clusters[query], {})[query] = value

    intents = []
    for intent, variants in by_intent.items():
        if len(variants) < 2:
            continue
        worst_query = min(variants, key=lambda query: (sign * variants[query], query))
        numbers = list(variants.values())
        mean = math.fsum(numbers) / len(numbers)
        spread = max(numbers) - min(numbers)
        intents.append(IntentTail(intent, len(numbers), mean, variants[worst_query], worst_query, spread))
    return tuple(sorted(intents, key=lambda each: (-each.spread, each.intent)))


def _bounds(measure: str) -> Interval:
    """The ends of a measure's scale; NaN where it has none or is not known."""
    parsed = known_measure(measure)
    if parsed is None:
        return UNKNOWN
    return Interval(_finite(parsed.declaration.low), _finite(parsed.declaration.high))


def _finite(end: float) -> float:
    """The end of a scale; NaN if it is infinite."""
    if math.isfinite(end):
        return end
    return math.nan


def quantile_interval(ordered: np.ndarray, share: float, level: float, bounds: Interval = UNKNOWN) -> Interval:
    """The interval of a quantile between two order statistics, by the binomial distribution.

    With too few values for an order statistic on one side, the interval goes to the end of the scale.
    """
    n = len(ordered)
    count = np.arange(n + 1)
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in count.tolist()]
    at_most = np.cumsum(np.exp(np.array(logs) + count * math.log(share) + (n - count) * math.log1p(-share)))

    outside = (1 - level) / 2
    # The i-th value from below is above the quantile if fewer than i values are below the quantile.
    low_rank = int(np.searchsorted(at_most, outside, side="right"))
    high_rank = int(np.searchsorted(at_most, 1 - outside, side="left")) + 1

    low, high = bounds
    if low_rank >= 1:
        low = float(ordered[low_rank - 1])
    if high_rank <= n:
        high = float(ordered[high_rank - 1])
    return Interval(low, high)


def wilson(hits: int, n: int, level: float) -> Interval:
    """Wilson's interval of a share."""
    z = t_quantile((1 + level) / 2, INFINITE_FREEDOM)
    share, square = hits / n, z * z / n
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
