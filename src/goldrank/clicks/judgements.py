"""Judgements from clicks: estimates of a click model with counts and intervals, and the qrels made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, cast, get_args

import numpy as np

from goldrank.base.errors import OptionError, of_type, one_of, whole_number
from goldrank.base.escaping import shown
from goldrank.base.keywords import unknown_argument
from goldrank.base.notes import Note
from goldrank.base.packages import special
from goldrank.base.types import Columns, Frame, Rows, Source
from goldrank.clicks import ctr, dbn, dcm, position_based, propensity
from goldrank.clicks.click_log import read_clicks
from goldrank.clicks.sessions import ClickLog
from goldrank.comparison.settings import Statistics
from goldrank.comparison.tabular import attributes
from goldrank.data.qrels import Qrels
from goldrank.data.showing import Result
from goldrank.data.table import Part

Model = Callable[..., np.ndarray]
ModelName: TypeAlias = Literal["ctr", "propensity", "pbm", "dbn", "dcm"]


class ModelParameters(TypedDict, total=False):
    """Parameters of click models; the name of the model is at the beginning of each sentence."""

    prior: tuple[float, float]
    """ctr: a and b of its Beta distribution; by default estimated from the log."""
    propensities: Mapping[int, float]
    """propensity: how likely each rank is looked at."""
    unbiased: bool
    """propensity: the sum of click / p over views, which varies more."""
    gamma: float
    """dbn: how likely people go on when they are not satisfied; by default 1."""


MODELS: dict[ModelName, tuple[Model, str, tuple[str, ...]]] = {
    "ctr": (ctr.estimate, "smoothed share of views with a click; ranks are not corrected for", ("prior",)),
    "propensity": (propensity.estimate, "clicks over known propensities of ranks", ("propensities", "unbiased")),
    "pbm": (position_based.estimate, "position-based model, whose propensities are found in the log", ()),
    "dbn": (dbn.estimate, "dynamic Bayesian network: attraction times satisfaction", ("gamma",)),
    "dcm": (dcm.estimate, "dependent click model: attraction", ()),
}
"""Each model: its function, what it is, and its options. A new one is one file here and one line."""

EXPOSURES: dict[ModelName, Model] = {
    "propensity": propensity.exposure,
    "pbm": position_based.exposure,
    "dbn": dbn.exposure,
    "dcm": dcm.exposure,
}
"""By model, the function that gives how many views of each pair were looked at: the sample size of a share. A model
without one takes every view as looked at."""

USUAL_SAMPLES = 200
MOST_SAMPLES = 100_000
MOST_VIEWS = 10**9
MIN_VIEWS = 10
"""Pairs that were shown less often are not judged."""


class ClickJudgement(NamedTuple):
    """The estimate from clicks for one document and one query."""

    query: str
    doc: str
    value: float
    low: float
    high: float
    shown: int
    clicks: int


@dataclass(frozen=True, repr=False, eq=False)
class ClickJudgements(Result, Sequence[ClickJudgement]):
    """The estimate of every pair that was shown, in the order of the log; `qrels` makes judgements of them."""

    pairs: tuple[ClickJudgement, ...]
    model: ModelName
    level: float
    min_views: int
    notes: tuple[Note, ...] = field(default=())

    def __repr__(self) -> str:
        return f"ClickJudgements({self.model!r}, {len(self.pairs):,} pairs)"

    def __getitem__(self, index: Any) -> Any:
        return self.pairs[index]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def judged(self) -> list[ClickJudgement]:
        """The pairs that were shown often enough to be judged."""
        return [pair for pair in self.pairs if pair.shown >= self.min_views]

    @property
    def words(self) -> str:
        """How much was judged, in one sentence."""
        return f"By the model {self.model}, {len(self.judged):,} of {len(self.pairs):,} pairs have a judgement"

    def qrels(self, cuts: Sequence[float] | None = None) -> Qrels:
        """Judgements: values as gains, or whole grades.

        Parameters
        ----------
        cuts : sequence of float, optional
            The grade is the number of these that a value reaches.

        Returns
        -------
        Qrels

        Raises
        ------
        OptionError
            If the cuts are not ascending numbers.
        """
        criteria = f"clicks by the model {self.model}"
        points = None
        if cuts is not None:
            points = _ascending(cuts)
            criteria += f", cut at {points}"

        table: dict[str, dict[str, float]] = {}
        for row in self.judged:
            if points is None:
                grade = row.value
            else:
                grade = sum(row.value >= point for point in points)
            table.setdefault(row.query, {})[row.doc] = grade
        return Qrels(table, name="clicks", criteria=criteria, real_grades=True)

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.clicks.clicks_report import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each pair."""
        return [{**pair._asdict(), "judged": pair.shown >= self.min_views} for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        notes = [note.to_dict() for note in self.notes]
        return {**attributes(self, "model level min_views"), "notes": notes, "pairs": self.rows()}


def judgements_from_clicks(
    log: Source | Frame | Rows,
    model: ModelName = "ctr",
    *,
    columns: Columns | None = None,
    format: str | None = None,
    min_views: int = MIN_VIEWS,
    statistics: Statistics = Statistics(),
    **parameters: Unpack[ModelParameters],
) -> ClickJudgements:
    """Estimate relevance from clicks: a value for each query and document, with counts and an interval.

    Intervals of "ctr" are those of its Beta distribution; others are bootstrapped over page views within queries, over
    users where all are known, and are at least as wide as the number of views leaves open (Jeffreys' interval).

    Parameters
    ----------
    log : path, open binary file, data frame or records
        For each document that was shown query, doc, rank, click and page (the id of a page view); or for each page view
        query, shown and clicks (lists of ids).
    model : {"ctr", "propensity", "pbm", "dbn", "dcm"}
        How clicks are understood.
    columns : mapping, optional
        The names of fields by what they hold.
    format : str, optional
        The format of a file, where its content does not tell.
    min_views : int
        Pairs that were shown less often are not judged.
    statistics : Statistics
        The level of intervals, how many samples they are made of (200), and the seed.
    **parameters
        Of the model: `prior` (a, b) of "ctr", by default estimated from the log; `propensities` {1: 1.0, 2: 0.6} and
        `unbiased` of "propensity"; `gamma` of "dbn".

    Returns
    -------
    ClickJudgements
        A sequence of pairs; `qrels()` makes judgements of them.

    Raises
    ------
    InputError
        If the log cannot be read, or does not tell what the model needs.
    OptionError
        If the model has no such parameter, or an option cannot be used.

    Examples
    --------
    >>> view = {"query": "q", "shown": ["a", "b"]}
    >>> log = [{**view, "clicks": ["a"]}] * 6 + [{**view, "clicks": []}] * 6
    >>> judgements = judgements_from_clicks(log, "ctr", prior=(1, 1))
    >>> [(pair.doc, pair.clicks, pair.shown, round(pair.value, 3)) for pair in judgements]
    [('a', 6, 12, 0.5), ('b', 0, 12, 0.071)]
    """
    estimate, _, known = MODELS[cast(ModelName, one_of(model, get_args(ModelName), "model"))]
    _check_parameters(model, parameters, known)
    of_type(statistics, Statistics, "statistics", "Statistics", hint="For example statistics=Statistics(alpha=0.1).")
    whole_number(min_views, "min_views", 0, MOST_VIEWS)
    samples = whole_number(statistics.draws(USUAL_SAMPLES), "samples", 20, MOST_SAMPLES)
    level = statistics.level

    rows, reading_notes = read_clicks(log, columns=columns, format=format)
    click_log = ClickLog.of(rows)
    unit_weights = np.ones(len(click_log.pair))
    values = estimate(click_log, unit_weights, **parameters)
    clicks, shown = click_log.per_pair(click_log.click), click_log.per_pair(unit_weights)

    notes = list(reading_notes)
    if model == "ctr":
        prior = ctr.checked(parameters.get("prior")) or ctr.prior_of(clicks, shown)
        bounds = ctr.interval(clicks, shown, prior, level)
        notes.append(Note.of("click-prior", a=f"{prior[0]:.3g}", b=f"{prior[1]:.3g}"))
    else:
        bounds = _bootstrap(click_log, partial(estimate, click_log, **parameters), level, samples, statistics.seed)
        looked = shown
        if model in EXPOSURES:
            looked = EXPOSURES[model](click_log, **parameters)
        bounds = _widened(bounds, share_interval(values, looked, level))
        unit = "page views"
        if click_log.by_user:
            unit = "users"
        notes.append(Note.of("click-bootstrap", draws=samples, unit=unit))

    if model == "propensity":
        _, clipped = propensity.of_rows(click_log, parameters.get("propensities"))
        if clipped:
            notes.append(Note.of("clipped-propensities", count=clipped, least=propensity.LEAST))

    rarely_shown = int((shown < min_views).sum())
    if rarely_shown:
        notes.append(Note.of("too-few-views", count=rarely_shown, pairs=len(shown), least=min_views))

    low, high = np.minimum(bounds[0], values), np.maximum(bounds[1], values)
    judgements = [
        ClickJudgement(query, doc, float(values[i]), float(low[i]), float(high[i]), int(shown[i]), int(clicks[i]))
        for i, (query, doc) in enumerate(click_log.pairs)
    ]
    return ClickJudgements(tuple(judgements), model, level, min_views, tuple(notes))


def _check_parameters(model: str, parameters: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise for a parameter that the model, or every model, does not have."""
    of_any_model = {name for _, _, names in MODELS.values() for name in names}
    for name in parameters:
        if name not in of_any_model:
            raise unknown_argument("judgements_from_clicks", name, {*_ARGUMENTS, *of_any_model})
        if name not in known:
            if known:
                hint = f"It takes {', '.join(known)}."
            else:
                hint = "It takes none."
            raise OptionError(f"the model {model!r} has no option {name!r}", hint=hint, code="unknown-argument")


_ARGUMENTS = ("log", "model", "columns", "format", "min_views", "statistics")


def _bootstrap(
    log: ClickLog, estimate: Callable[[np.ndarray], np.ndarray], level: float, samples: int, seed: int
) -> np.ndarray:
    """Percentile intervals: page views are drawn within their query, or users with all their page views."""
    generator = np.random.default_rng(seed)
    drawn = np.empty((samples, len(log.pairs)))
    if log.by_user:
        groups = np.zeros(int(log.unit_of_page.max()) + 1, np.int64)
    else:
        groups = log.query_of_page

    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    shown = log.per_pair(np.ones(len(log.pair)))
    for i in range(samples):
        picks = order[starts[groups] + (generator.random(len(groups)) * sizes[groups]).astype(np.int64)]
        times = np.bincount(picks, minlength=len(groups)).astype(np.float64)
        weights = times[log.unit_of_page][log.page]
        values = estimate(weights)
        drawn_pairs = log.per_pair(weights) > 0
        drawn[i] = np.where(drawn_pairs, values, np.nan)

    tail = (1 - level) / 2
    never_drawn = np.isnan(drawn).all(axis=0) | (shown == 0)
    drawn[:, never_drawn] = 0.0
    return np.nanquantile(drawn, [tail, 1 - tail], axis=0)


def share_interval(values: np.ndarray, looked: np.ndarray, level: float) -> np.ndarray:
    """Jeffreys' interval of each share of `looked` views, as two rows: Beta(clicks + 1/2, others + 1/2).

    A document that was looked at 12 times without a click may still have a share of 0.18.
    """
    clicks = np.minimum(values * looked, looked)
    a, b = clicks + 0.5, looked - clicks + 0.5
    tail = (1 - level) / 2
    low, high = special.betaincinv(a, b, tail), special.betaincinv(a, b, 1 - tail)
    return np.array([np.where(clicks > 0, low, 0.0), np.where(clicks < looked, high, np.maximum(values, 1.0))])


def _widened(bounds: np.ndarray, share_bounds: np.ndarray) -> np.ndarray:
    """Intervals that contain both: few views are too small a sample to draw from, and Beta's trust the model."""
    return np.array([np.minimum(bounds[0], share_bounds[0]), np.maximum(bounds[1], share_bounds[1])])


def _ascending(cuts: Sequence[float]) -> list[float]:
    points = []
    if isinstance(cuts, list | tuple):
        points = list(cuts)
    if not points or any(isinstance(point, bool) or not isinstance(point, int | float) for point in points):
        raise OptionError(f"cuts is {shown(cuts, 80)}", hint="It is a list of numbers, such as [0.05, 0.2].")
    if sorted(set(points)) != points:
        raise OptionError(f"cuts is {shown(cuts, 80)}", hint="Its numbers ascend, each once.")
    return points
