"""How wrong is a judge: its agreement with people, what its errors go with, and whether systems keep their order.

The error of a pair is the judge's grade minus people's. Intervals are by bootstrap over queries; those of agreement are
at least as wide as single pairs leave open. Slopes are taken within people's grades, because long texts, say, may well
be better ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from goldrank import io
from goldrank.base.errors import MismatchError, NotMeasuredError, OptionError, did_you_mean, of_type, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import DocumentsLike, MeasuresLike, QueriesLike, RunsLike
from goldrank.comparison import compare
from goldrank.comparison.agreement import tau_b
from goldrank.comparison.intervals import UNKNOWN, Interval, percent
from goldrank.comparison.pair import Pair
from goldrank.comparison.resampling import percentiles
from goldrank.comparison.settings import Statistics
from goldrank.conventions import Convention
from goldrank.data.documents import Documents
from goldrank.data.judgement_columns import WHO_JUDGED
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.queries import Queries
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.engine import engine_for
from goldrank.evaluation.rankings import evaluate
from goldrank.io.by_id.document_files import read_documents
from goldrank.io.by_id.query_files import read_queries
from goldrank.judging.ask import question_of
from goldrank.judging.coefficients import alpha_of_table, confusion, gwet, kappa, likely_tables
from goldrank.judging.corrected import both_judges
from goldrank.judging.function import checked_scale

MOST_SAMPLES = 100_000
USUAL_SAMPLES = 2_000
LOOKED_AT = 100
"""Ranks of a run in which documents are looked up."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Figure:
    """One number about a judge, with its interval. `about` says what it means."""

    name: str
    value: float
    interval: Interval
    pairs: int
    about: str


@dataclass(frozen=True)
class SystemOrder:
    """How a measure orders the systems under people's and under the judge's judgements, on the same queries."""

    measure: str
    tau: float
    """Kendall's tau-b of the means; NaN if one of them has a single value."""
    pairs: int
    flips: int
    """Pairs of systems of which the judge puts the other one ahead."""
    hard_flips: int
    """Of them, those that are significant under the judge's judgements."""
    table: tuple[tuple[int, int, int], ...]
    """Verdicts of pairs: first, none, second significantly ahead; rows are people's, columns the judge's."""


@dataclass(frozen=True, repr=False)
class JudgeAgreement(Result):
    """A judge beside people, on the pairs that both judged."""

    scale: tuple[Grade, ...]
    confusion: np.ndarray
    """Pairs by people's grade (row) and the judge's (column)."""
    queries: int
    level: float
    agreement: tuple[Figure, ...]
    bias: tuple[Figure, ...]
    orders: tuple[SystemOrder, ...] = ()
    notes: tuple[Note, ...] = ()
    """What was tolerated in reading the judgements."""

    def __repr__(self) -> str:
        return f"JudgeAgreement({self.pairs:,} pairs, {self.queries:,} queries)"

    @property
    def pairs(self) -> int:
        """Pairs that both judged."""
        return int(self.confusion.sum())

    @property
    def figures(self) -> Mapping[str, Figure]:
        """All numbers about the judge by name, with their intervals."""
        return {figure.name: figure for figure in (*self.agreement, *self.bias)}

    def __getitem__(self, figure: str) -> float:
        figures = self.figures
        if figure not in figures:
            what = f"there is no figure {figure!r:.60}; there are: {', '.join(figures)}"
            raise NotMeasuredError(what, hint=did_you_mean(str(figure), figures))
        return figures[figure].value

    @property
    def words(self) -> str:
        """How far the judge agrees with people, in one sentence."""
        kappa = self.figures["quadratic kappa"]
        low, high = kappa.interval
        return (
            f"Over {self.pairs:,} pairs of {self.queries:,} queries the judge agrees with people by a quadratic kappa "
            f"of {kappa.value:.3f} ({percent(self.level)} interval {low:.3f} to {high:.3f})"
        )

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.judging.agreement_report import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each figure."""
        return [
            {"figure": figure.name, "value": figure.value, "low": figure.interval.low, "high": figure.interval.high,
             "pairs": figure.pairs, "about": figure.about}
            for figure in self.figures.values()
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        orders = [{**vars(order), "table": [list(row) for row in order.table]} for order in self.orders]
        return {
            "scale": list(self.scale), "confusion": self.confusion.tolist(), "queries": self.queries,
            "level": self.level, "figures": self.rows(), "orders": orders,
            "notes": [note.to_dict() for note in self.notes],
        }  # fmt: skip


@named_arguments
def judge_agreement(
    qrels: Qrels,
    *,
    runs: RunsLike | None = None,
    measures: MeasuresLike = None,
    documents: DocumentsLike | None = None,
    queries: QueriesLike | None = None,
    scale: Sequence[Grade] | None = None,
    statistics: Statistics = Statistics(),
) -> JudgeAgreement:
    """How far a judge agrees with people on the pairs that both judged, and what its errors go with.

    Parameters
    ----------
    qrels : Qrels
        Judgements of people with those of the model beside them: `people.with_model(model)`, or what `judge` returned.
    runs : runs, optional
        Systems. Errors are then held against ranks and systems, and the order of systems by people's and by the model's
        judgements is compared.
    measures : measures, optional
        What systems are ordered by; by default the usual ones.
    documents : documents, optional
        Texts of documents. Errors are then held against their length.
    queries : queries, optional
        Texts of queries. With those of documents, errors are held against the words that they have in common.
    scale : sequence of float, optional
        Every grade that could be given; by default all whole numbers from the lowest to the highest that was.
    statistics : Statistics
        The level of intervals, how many samples they are made of (2,000), and the seed.

    Returns
    -------
    JudgeAgreement
        `agreement["alpha"]` is a figure's value; `agreement.figures` has their intervals.

    Raises
    ------
    InputError
        If there are no judgements of a model beside those of people, or they have no pair in common.
    OptionError
        If an option cannot be used.

    Examples
    --------
    >>> people = Qrels({"q": {"a": 0, "b": 1, "c": 2, "d": 0}, "p": {"a": 1, "b": 0}})
    >>> both = people.with_model({"q": {"a": 1, "b": 1, "c": 2, "d": 0}, "p": {"a": 1, "b": 0}})
    >>> agreement = judge_agreement(both, scale=[0, 1, 2])
    >>> agreement.pairs, round(agreement["lenience"], 3)
    (6, 0.167)
    """
    of_type(statistics, Statistics, "statistics", "Statistics", hint="For example statistics=Statistics(alpha=0.1).")
    samples = whole_number(statistics.draws(USUAL_SAMPLES), "samples", 1, MOST_SAMPLES)
    people, machine = both_judges(qrels)
    opened = None if runs is None else io.as_runs(runs)
    if opened is not None and not len(opened):
        raise OptionError("there are no runs", hint='For example {"bm25": run, "dense": run}; or leave runs out.')
    pairs = [(q, d) for q in people for d in people[q] if d in machine.text.get(q, ())]
    if not pairs:
        what = "people and the model have no pair of query and document in common"
        raise MismatchError(
            what, hint="Pool('judged') (goldrank judge ask --pool which=judged) asks the model for what people judged."
        )

    first = [people[q][d] for q, d in pairs]
    second = [machine[q][d] for q, d in pairs]
    grades = checked_scale(scale) if scale is not None else _scale(first, second)
    table = confusion(first, second, grades)
    places = {grade: i for i, grade in enumerate(grades)}
    data = _Data(
        pairs=pairs,
        human=np.array([places[grade] for grade in first]),
        model=np.array([places[grade] for grade in second]),
        error=(np.array(second) - first).astype(np.float64),
        size=len(grades),
        level=statistics.level,
    )
    data.draw(samples, np.random.default_rng(statistics.seed))

    bias = _lenience(data)
    if documents is not None:
        bias += _text_bias(data, read_documents(documents), None if queries is None else read_queries(queries))
    if opened is not None:
        bias += _run_bias(data, [run for _, run in opened.items()])
    orders = () if opened is None or len(opened) < 2 else _orders(people, machine, opened, measures, statistics)

    return JudgeAgreement(
        scale=grades,
        confusion=table,
        queries=len(data.names),
        level=statistics.level,
        agreement=_coefficients(data, grades),
        bias=tuple(bias),
        orders=orders,
        notes=tuple(note for note in qrels.notes if note.code != WHO_JUDGED),
    )


def _scale(first: Sequence[Grade], second: Sequence[Grade]) -> tuple[Grade, ...]:
    steps = {*first, *second}
    if all(isinstance(grade, int) for grade in steps) and max(steps) - min(steps) <= 100:
        if len(steps) > 1:
            return tuple(range(int(min(steps)), int(max(steps)) + 1))
        return (min(steps), min(steps) + 1)
    return tuple(sorted(steps))


@dataclass
class _Data:
    """The doubly judged pairs as arrays."""

    pairs: list[tuple[str, str]]
    human: np.ndarray
    model: np.ndarray
    error: np.ndarray
    size: int
    level: float

    def __post_init__(self) -> None:
        self.names = list(dict.fromkeys(query for query, _ in self.pairs))
        number = {query: i for i, query in enumerate(self.names)}
        self.query = np.array([number[query] for query, _ in self.pairs])

    def draw(self, samples: int, rng: np.random.Generator) -> None:
        """Draw how often each query is in each sample."""
        count = len(self.names)
        self.rng = rng
        self.drawn = rng.multinomial(count, np.full(count, 1 / count), samples).astype(np.float64)

    def by_query(self, *columns: np.ndarray) -> np.ndarray:
        """The sums of columns over each query's pairs: queries by columns."""
        return np.stack([np.bincount(self.query, column, len(self.names)) for column in columns], axis=1)

    def figure(
        self, name: str, about: str, sums: np.ndarray, value: Callable[[np.ndarray], np.ndarray], pairs: int
    ) -> Figure:
        """A figure that is a function of sums, whose last axis is columns."""
        whole = float(value(sums.sum(axis=0, keepdims=True))[0])
        sampled = value(self.drawn @ sums)
        is_known = len(self.names) > 1 and np.isnan(sampled).mean() < 0.5 and not math.isnan(whole)
        return Figure(name, whole, percentiles(sampled, self.level) if is_known else UNKNOWN, pairs, about)


def _coefficients(data: _Data, grades: tuple[Grade, ...]) -> tuple[Figure, ...]:
    size = data.size
    sums = np.zeros((len(data.names), size * size))
    np.add.at(sums, (data.query, data.human * size + data.model), 1)
    functions: dict[str, tuple[Callable[[np.ndarray], float], str]] = {
        "kappa": (kappa, "Cohen's, all differences alike"),
        "linear kappa": (lambda table: kappa(table, "linear"), "Cohen's, weighted by steps of the scale"),
        "quadratic kappa": (lambda table: kappa(table, "quadratic"), "Cohen's, weighted by squared steps"),
        "alpha": (lambda table: alpha_of_table(table, grades), "Krippendorff's, ordinal"),
        "AC1": (gwet, "Gwet's: does not fall where nearly all grades are one"),
        "AC2": (lambda table: gwet(table, "quadratic"), "Gwet's, weighted by squared steps"),
    }
    likely = likely_tables(sums.sum(axis=0), len(data.drawn), data.rng)

    return tuple(
        _widened(data.figure(name, about, sums, _each(function, size), len(data.pairs)), likely, _each(function, size),
                 data.level)
        for name, (function, about) in functions.items()
    )  # fmt: skip


def _widened(figure: Figure, likely: np.ndarray, value: Callable[[np.ndarray], np.ndarray], level: float) -> Figure:
    """The figure, with what single pairs leave possible in its interval: no finite number of pairs leaves nothing."""
    low, high = figure.interval
    if math.isnan(low):
        return figure
    least, most = percentiles(value(likely), level)
    return replace(figure, interval=Interval(min(low, least), max(high, most)))


def _each(function: Callable[[np.ndarray], float], size: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.array([function(row.reshape(size, size)) for row in rows])


def _share(rows: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rows[:, 1] > 0, rows[:, 0] / rows[:, 1], np.nan)


def _lenience(data: _Data) -> list[Figure]:
    ones = np.ones(len(data.pairs))
    zero = (data.human == 0) * 1.0
    high = zero * (data.model >= (data.size + 1) // 2)
    return [
        data.figure("lenience", "the judge's grade minus people's, on average", data.by_query(data.error, ones),
                    _share, len(data.pairs)),
        data.figure("high for the lowest", "share in the upper half of the scale of what people graded lowest",
                    data.by_query(high, zero), _share, int(zero.sum())),
    ]  # fmt: skip


def _slope(data: _Data, x: np.ndarray, name: str, about: str) -> Figure:
    """The slope of the error on x within people's grades."""
    known = ~np.isnan(x)
    columns = []
    for grade in range(data.size):
        here = (known & (data.human == grade)) * 1.0
        at, error = np.where(known, x, 0.0), data.error
        columns += [here, here * at, here * error, here * at * error, here * at * at]
    sums = data.by_query(*columns)

    def value(rows: np.ndarray) -> np.ndarray:
        n, sx, se, sxe, sxx = np.moveaxis(rows.reshape(len(rows), data.size, 5), 2, 0)
        safe = np.where(n > 0, n, 1)
        shared, spread = (sxe - sx * se / safe).sum(axis=1), (sxx - sx * sx / safe).sum(axis=1)
        return np.where(spread > 1e-9, shared / np.where(spread > 1e-9, spread, 1), np.nan)

    return data.figure(name, about, sums, value, int(known.sum()))


def _text_bias(data: _Data, documents: Documents, queries: Queries | None) -> list[Figure]:
    known = documents.some(list(dict.fromkeys(doc for _, doc in data.pairs)))
    texts = {doc: document.whole for doc, document in known.items() if document.whole}
    words = {doc: set(_WORD.findall(text.casefold())) for doc, text in texts.items()}
    length = np.array(
        [math.log(max(1, len(_WORD.findall(texts[doc])))) if doc in texts else math.nan for _, doc in data.pairs]
    )
    about = "how much higher the judge grades a text that is e = 2.7 times as long, people's grade being the same"
    figures = [_slope(data, length, "length", about)]
    if queries is None:
        return figures

    asked = {query: set(_WORD.findall(question_of(queries, query).casefold())) for query in data.names}
    shared = np.array([
        len(asked[query] & words[doc]) / len(asked[query]) if asked[query] and doc in words else math.nan
        for query, doc in data.pairs
    ])  # fmt: skip
    about = "how much higher the judge grades a text with all words of the query than one with none"
    return [*figures, _slope(data, shared, "overlap", about)]


def _run_bias(data: _Data, runs: Sequence[Run]) -> list[Figure]:
    rules = Convention()
    tops = [engine_for(run).top_documents(run, tuple(data.names), LOOKED_AT, rules) for run in runs]
    ranks: list[Mapping[tuple[str, str], int]] = [
        {(query, doc): rank for query, docs in zip(data.names, top, strict=True) for rank, doc in enumerate(docs, 1)}
        for top in tops
    ]
    at = np.array([[own.get(pair, math.nan) for pair in data.pairs] for own in ranks])
    best = np.array([np.nanmin(column) if not np.isnan(column).all() else math.nan for column in at.T])
    about = "how much higher the judge grades a document one rank further down, people's grade being the same"
    figures = [_slope(data, best, "rank", about)]
    several = (~np.isnan(at)).sum(axis=0)
    for run, own in zip(runs, at, strict=True) if len(runs) > 1 else ():
        alone = (~np.isnan(own) & (several == 1)) * 1.0
        sums = data.by_query(alone * data.error, alone, (1 - alone) * data.error, 1 - alone)
        about = f"the judge's lenience on documents that {run.name} alone returned, less that on all others"
        value: Callable[[np.ndarray], np.ndarray] = lambda rows: _share(rows[:, :2]) - _share(rows[:, 2:])  # noqa: E731
        figures.append(data.figure(f"system {run.name}", about, sums, value, int(alone.sum())))

    return figures


def _orders(
    people: Qrels, machine: Qrels, runs: Runs, measures: MeasuresLike, statistics: Statistics
) -> tuple[SystemOrder, ...]:
    """Systems on the queries that both judged, each side with all its judgements of them."""
    both = [query for query in people if query in machine.text]
    how = replace(statistics, samples=statistics.draws(USUAL_SAMPLES), unjudged="ignore")
    sides = [compare(evaluate(qrels.only(both), runs, measures), statistics=how) for qrels in (people, machine)]
    names = sides[0].runs
    orders = []
    for measure in sides[0].measures:
        table = np.zeros((3, 3), np.int64)
        flips = hard = 0
        for a, b in combinations(names, 2):
            own = [side[measure, a, b] for side in sides]
            verdicts = [_side(pair) for pair in own]
            table[verdicts[0] + 1, verdicts[1] + 1] += 1
            flipped = own[0].difference * own[1].difference < 0
            flips += flipped
            hard += flipped and verdicts[1] != 0
        tau = tau_b(*([side.summaries[measure, name].mean for name in names] for side in sides))
        rows = tuple((int(a), int(b), int(c)) for a, b, c in table)
        orders.append(SystemOrder(measure, tau, int(table.sum()), flips, hard, rows))

    return tuple(orders)


def _side(pair: Pair) -> int:
    """-1 if the first system is significantly ahead, 1 if the second is, else 0."""
    return {"better": 1, "worse": -1}.get(pair.verdict, 0)
