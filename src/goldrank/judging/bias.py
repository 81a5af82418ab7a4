"""How wrong is a judge: its agreement with people, what its errors go with, and whether systems keep their order.

The error of a pair is the judge's grade minus people's. Intervals are by bootstrap over queries; those of agreement are
at least as wide as a posterior of the table of pairs. Slopes are taken within people's grades, because long texts, for
example, may really be better.
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
from goldrank.comparison.agreement import tau_b
from goldrank.comparison.build import compare
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
    """Pairs of systems that the judge puts in the other order."""
    hard_flips: int
    """Of them, those that are significant under the judge's judgements."""
    table: tuple[tuple[int, int, int], ...]
    """Verdicts of pairs: first, none, second significantly ahead; rows are people's, columns the judge's."""


@dataclass(frozen=True, repr=False, eq=False)
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
            message = f"there is no figure {figure!r:.60}; there are: {', '.join(figures)}"
            raise NotMeasuredError(message, hint=did_you_mean(str(figure), figures))
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
        orders = [{**vars(order), "table": list(map(list, order.table))} for order in self.orders]
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
    opened = None
    if runs is not None:
        opened = io.as_runs(runs)
        if not len(opened):
            raise OptionError("there are no runs", hint='For example {"bm25": run, "dense": run}; or leave runs out.')

    pairs = [(q, d) for q in people for d in people[q] if d in machine.text.get(q, ())]
    if not pairs:
        message = "people and the model have no pair of query and document in common"
        hint = "Pool('judged') (goldrank judge ask --pool which=judged) asks the model for what people judged."
        raise MismatchError(message, hint=hint)

    human_grades = [people[q][d] for q, d in pairs]
    model_grades = [machine[q][d] for q, d in pairs]
    if scale is None:
        grades = _scale(human_grades, model_grades)
    else:
        grades = checked_scale(scale)
    table = confusion(human_grades, model_grades, grades)
    step = {grade: i for i, grade in enumerate(grades)}
    human_steps = [step[grade] for grade in human_grades]
    model_steps = [step[grade] for grade in model_grades]
    data = _Data(
        pairs=pairs,
        human=np.array(human_steps),
        model=np.array(model_steps),
        error=(np.array(model_grades) - human_grades).astype(np.float64),
        size=len(grades),
        level=statistics.level,
    )
    data.draw(samples, np.random.default_rng(statistics.seed))

    bias = _lenience(data)
    if documents is not None:
        texts = _texts(data, read_documents(documents))
        bias.append(_length_bias(data, texts))
        if queries is not None:
            bias.append(_overlap_bias(data, texts, read_queries(queries)))
    if opened is not None:
        bias += _run_bias(data, [run for _, run in opened.items()])

    orders: tuple[SystemOrder, ...] = ()
    if opened is not None and len(opened) > 1:
        orders = _orders(people, machine, opened, measures, statistics)

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
        estimate = float(value(sums.sum(axis=0, keepdims=True))[0])
        sampled = value(self.drawn @ sums)
        interval = UNKNOWN
        if len(self.names) > 1 and np.isnan(sampled).mean() < 0.5 and not math.isnan(estimate):
            interval = percentiles(sampled, self.level)
        return Figure(name, estimate, interval, pairs, about)


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
    figures = []
    for name, (function, about) in functions.items():
        value = _by_row(function, size)
        figure = data.figure(name, about, sums, value, len(data.pairs))
        figures.append(_widened(figure, likely, value, data.level))
    return tuple(figures)


def _widened(figure: Figure, likely: np.ndarray, value: Callable[[np.ndarray], np.ndarray], level: float) -> Figure:
    """The figure with an interval that contains the likely tables too: its width is never 0."""
    low, high = figure.interval
    if math.isnan(low):
        return figure
    least, most = percentiles(value(likely), level)
    return replace(figure, interval=Interval(min(low, least), max(high, most)))


def _by_row(function: Callable[[np.ndarray], float], size: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.array([function(row.reshape(size, size)) for row in rows])


def _share(rows: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rows[:, 1] > 0, rows[:, 0] / rows[:, 1], np.nan)


def _lenience(data: _Data) -> list[Figure]:
    unit = np.ones(len(data.pairs))
    zero = (data.human == 0) * 1.0
    high = zero * (data.model >= (data.size + 1) // 2)
    return [
        data.figure("lenience", "the judge's grade minus people's, on average", data.by_query(data.error, unit),
                    _share, len(data.pairs)),
        data.figure("high for the lowest", "share in the upper half of the scale of what people graded lowest",
                    data.by_query(high, zero), _share, int(zero.sum())),
    ]  # fmt: skip


def _slope(data: _Data, x: np.ndarray, name: str, about: str) -> Figure:
    """The slope of the error on x within people's grades."""
    known = ~np.isnan(x)
    columns = []
    for grade in range(data.size):
        in_grade = (known & (data.human == grade)) * 1.0
        filled, error = np.where(known, x, 0.0), data.error
        columns += [
            in_grade,
            in_grade * filled,
            in_grade * error,
            in_grade * filled * error,
            in_grade * filled * filled,
        ]
    sums = data.by_query(*columns)

    def value(rows: np.ndarray) -> np.ndarray:
        n, sx, se, sxe, sxx = np.moveaxis(rows.reshape(len(rows), data.size, 5), 2, 0)
        safe = np.where(n > 0, n, 1)
        shared, spread = (sxe - sx * se / safe).sum(axis=1), (sxx - sx * sx / safe).sum(axis=1)
        return np.where(spread > 1e-9, shared / np.where(spread > 1e-9, spread, 1), np.nan)

    return data.figure(name, about, sums, value, int(known.sum()))


def _length_bias(data: _Data, texts: Mapping[str, str]) -> Figure:
    length = np.array([_log_length(texts.get(doc)) for _, doc in data.pairs])
    about = "how much higher the judge grades a text that is e = 2.7 times as long, people's grade being the same"
    return _slope(data, length, "length", about)


def _overlap_bias(data: _Data, texts: Mapping[str, str], queries: Queries) -> Figure:
    doc_words = {doc: _words(text) for doc, text in texts.items()}
    query_words = {query: _words(question_of(queries, query)) for query in data.names}
    shared = np.array([_shared_words(query_words[query], doc_words.get(doc)) for query, doc in data.pairs])
    about = "how much higher the judge grades a text with all words of the query than one with none"
    return _slope(data, shared, "overlap", about)


def _texts(data: _Data, documents: Documents) -> dict[str, str]:
    known = documents.some(list(dict.fromkeys(doc for _, doc in data.pairs)))
    return {doc: document.whole for doc, document in known.items() if document.whole}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _log_length(text: str | None) -> float:
    if text is None:
        return math.nan
    return math.log(max(1, len(_WORD.findall(text))))


def _shared_words(query_words: set[str], doc_words: set[str] | None) -> float:
    """The share of the query's words that a document has; NaN if either has no text."""
    if not query_words or doc_words is None:
        return math.nan
    return len(query_words & doc_words) / len(query_words)


def _run_bias(data: _Data, runs: Sequence[Run]) -> list[Figure]:
    rank_table = np.array([_ranks(data, run) for run in runs])
    best = np.array([_best_rank(column) for column in rank_table.T])
    about = "how much higher the judge grades a document one rank further down, people's grade being the same"
    figures = [_slope(data, best, "rank", about)]
    if len(runs) < 2:
        return figures

    returned_by = (~np.isnan(rank_table)).sum(axis=0)
    for run, run_ranks in zip(runs, rank_table, strict=True):
        alone = (~np.isnan(run_ranks) & (returned_by == 1)) * 1.0
        sums = data.by_query(alone * data.error, alone, (1 - alone) * data.error, 1 - alone)
        about = f"the judge's lenience on documents that {run.name} alone returned, less that on all others"
        figures.append(data.figure(f"system {run.name}", about, sums, _difference_of_shares, int(alone.sum())))

    return figures


def _ranks(data: _Data, run: Run) -> list[float]:
    """The rank of each pair in a run; NaN if it is not among the first `LOOKED_AT`."""
    rankings = engine_for(run).top_documents(run, tuple(data.names), LOOKED_AT, Convention())
    ranks: dict[tuple[str, str], int] = {}
    for query, docs in zip(data.names, rankings, strict=True):
        for rank, doc in enumerate(docs, 1):
            ranks[query, doc] = rank
    return [ranks.get(pair, math.nan) for pair in data.pairs]


def _best_rank(ranks: np.ndarray) -> float:
    if np.isnan(ranks).all():
        return math.nan
    return float(np.nanmin(ranks))


def _difference_of_shares(rows: np.ndarray) -> np.ndarray:
    return np.asarray(_share(rows[:, :2]) - _share(rows[:, 2:]))


def _orders(
    people: Qrels, machine: Qrels, runs: Runs, measures: MeasuresLike, statistics: Statistics
) -> tuple[SystemOrder, ...]:
    """Systems on the queries that both judged, each side with all its judgements of them."""
    shared_queries = [query for query in people if query in machine.text]
    settings = replace(statistics, samples=statistics.draws(USUAL_SAMPLES), unjudged="ignore")
    by_people = compare(evaluate(people.only(shared_queries), runs, measures), statistics=settings)
    by_model = compare(evaluate(machine.only(shared_queries), runs, measures), statistics=settings)

    orders = []
    for measure in by_people.measures:
        table = np.zeros((3, 3), np.int64)
        flips = hard_flips = 0
        for a, b in combinations(by_people.runs, 2):
            human_pair, model_pair = by_people[measure, a, b], by_model[measure, a, b]
            human_side, model_side = _side_ahead(human_pair), _side_ahead(model_pair)
            table[human_side + 1, model_side + 1] += 1
            is_flipped = human_pair.difference * model_pair.difference < 0
            flips += is_flipped
            hard_flips += is_flipped and model_side != 0

        human_means = [by_people.summaries[measure, run].mean for run in by_people.runs]
        model_means = [by_model.summaries[measure, run].mean for run in by_people.runs]
        rows = tuple((int(first), int(none), int(second)) for first, none, second in table)
        tau = tau_b(human_means, model_means)
        orders.append(SystemOrder(measure, tau, int(table.sum()), flips, hard_flips, rows))

    return tuple(orders)


def _side_ahead(pair: Pair) -> int:
    """-1 if the first system is significantly ahead, 1 if the second is, else 0."""
    return {"better": 1, "worse": -1}.get(pair.verdict, 0)
