"""Judgements from clicks: estimates of a click model with counts and intervals, and the qrels made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from goldrank.clicks import ctr, dbn, dcm, position_based, propensity
from goldrank.clicks.log import ClickLog
from goldrank.data.qrels import Qrels
from goldrank.errors import OptionError, one_of, whole_number
from goldrank.io.click_log import read_clicks
from goldrank.misuse import checked
from goldrank.notes import Note

Model = Callable[..., np.ndarray]

MODELS: dict[str, tuple[Model, str, tuple[str, ...]]] = {
    "ctr": (ctr.estimate, "smoothed share of views with a click; ranks are not corrected for", ("prior",)),
    "propensity": (propensity.estimate, "clicks over known propensities of ranks", ("propensities", "unbiased")),
    "pbm": (position_based.estimate, "position-based model, whose propensities are found in the log", ()),
    "dbn": (dbn.estimate, "dynamic Bayesian network: attraction times satisfaction", ("gamma",)),
    "dcm": (dcm.estimate, "dependent click model: attraction", ()),
}
"""Each model with what it is and the options that it takes. A new one is one file here and one line."""

MIN_VIEWS = 10
"""Pairs that were shown less often are not judged."""


class ClickJudgement(NamedTuple):
    """What clicks say of one document for one query."""

    query: str
    doc: str
    value: float
    low: float
    high: float
    shown: int
    clicks: int


@dataclass(frozen=True)
class ClickJudgements(Sequence[ClickJudgement]):
    """The estimate of every pair that was shown, in the order of the log; `qrels` makes judgements of them."""

    rows: tuple[ClickJudgement, ...]
    model: str
    level: float
    min_views: int
    notes: tuple[Note, ...] = field(default=())

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def judged(self) -> list[ClickJudgement]:
        """The rows that were shown often enough to be judged."""
        return [row for row in self.rows if row.shown >= self.min_views]

    def qrels(self, cuts: Sequence[float] | None = None) -> Qrels:
        """Qrels: values as gains, or the number of `cuts` that each value reaches as a grade."""
        table: dict[str, dict[str, float]] = {}
        points = None if cuts is None else _ascending(cuts)
        for row in self.judged:
            grade = row.value if points is None else sum(row.value >= point for point in points)
            table.setdefault(row.query, {})[row.doc] = grade
        how = f"clicks by the model {self.model}" + ("" if points is None else f", cut at {points}")
        return Qrels(table, name="clicks", criteria=how, real_grades=True)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each pair as a dict."""
        return [{**row._asdict(), "judged": row.shown >= self.min_views} for row in self.rows]


@checked
def judgements_from_clicks(
    log: Any,
    model: str = "ctr",
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    min_views: int = MIN_VIEWS,
    level: float = 0.95,
    samples: int = 200,
    seed: int = 0,
    **options: Any,
) -> ClickJudgements:
    """What clicks say of documents: an estimate for each query and document, with counts and an interval.

    `log` is a file, a data frame or a list of records: for each document that was shown query, doc, rank, click and
    page (the id of a page view), or for each page view query, shown and clicks (lists of ids). Models are "ctr"
    (`prior=(a, b)`, else found in the log), "propensity" (`propensities={1: 1.0, 2: 0.6}`, `unbiased=`), "pbm", "dbn"
    (`gamma=`) and "dcm". Intervals of "ctr" are those of its Beta distribution; others are bootstrapped over page views
    within queries, over users where all are known. Pairs with fewer than `min_views` views are not judged.

    >>> view = {"query": "q", "shown": ["a", "b"]}
    >>> log = [{**view, "clicks": ["a"]}] * 6 + [{**view, "clicks": []}] * 6
    >>> found = judgements_from_clicks(log, "ctr", prior=(1, 1))
    >>> [(row.doc, row.clicks, row.shown, round(row.value, 3)) for row in found]
    [('a', 6, 12, 0.5), ('b', 0, 12, 0.071)]
    """
    estimate, _, known = MODELS[one_of(model, MODELS, "model")]
    for name in options:
        if name not in known:
            hint = f"It takes {', '.join(known)}." if known else "It takes none."
            raise OptionError(f"the model {model!r} has no option {name!r}", hint=hint)
    whole_number(min_views, "min_views")
    whole_number(samples, "samples", 20, 100_000)
    whole_number(seed, "seed")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"level is {level!r:.80}", hint="It is a share, such as 0.95.")
    rows, noticed = read_clicks(log, columns=columns, format=format)
    click_log = ClickLog.of(rows)
    ones = np.ones(len(click_log.pair))
    values = estimate(click_log, ones, **options)
    clicks, shown = click_log.per_pair(click_log.click), click_log.per_pair(ones)
    notes = list(noticed)
    if model == "ctr":
        prior = ctr.checked(options.get("prior")) or ctr.prior_of(clicks, shown)
        bounds = ctr.interval(clicks, shown, prior, level)
        notes.append(Note.of("click-prior", a=f"{prior[0]:.3g}", b=f"{prior[1]:.3g}"))
    else:
        bounds = _bootstrap(click_log, lambda weights: estimate(click_log, weights, **options), level, samples, seed)
        notes.append(Note.of("click-bootstrap", draws=samples, unit="users" if click_log.by_user else "page views"))
    if model == "propensity" and (clipped := propensity.of_rows(click_log, options.get("propensities"))[1]):
        notes.append(Note.of("clipped-propensities", count=clipped, least=propensity.LEAST))
    few = int((shown < min_views).sum())
    if few:
        notes.append(Note.of("too-few-views", count=few, pairs=len(shown), least=min_views))
    low, high = np.minimum(bounds[0], values), np.maximum(bounds[1], values)
    judgements = [
        ClickJudgement(query, doc, float(values[i]), float(low[i]), float(high[i]), int(shown[i]), int(clicks[i]))
        for i, (query, doc) in enumerate(click_log.pairs)
    ]
    return ClickJudgements(tuple(judgements), model, level, min_views, tuple(notes))


def _bootstrap(
    log: ClickLog, estimate: Callable[[np.ndarray], np.ndarray], level: float, samples: int, seed: int
) -> np.ndarray:
    """Percentile intervals: page views are drawn within their query, or users as a whole."""
    generator = np.random.default_rng(seed)
    drawn = np.empty((samples, len(log.pairs)))
    groups = np.zeros(int(log.unit_of_page.max()) + 1, np.int64) if log.by_user else log.query_of_page
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    shown = log.per_pair(np.ones(len(log.pair)))
    for i in range(samples):
        picks = order[starts[groups] + (generator.random(len(groups)) * sizes[groups]).astype(np.int64)]
        times = np.bincount(picks, minlength=len(groups)).astype(np.float64)
        weights = times[log.unit_of_page][log.page]
        values = estimate(weights)
        there = log.per_pair(weights) > 0
        drawn[i] = np.where(there, values, np.nan)
    tail = (1 - level) / 2
    never = np.isnan(drawn).all(axis=0) | (shown == 0)
    drawn[:, never] = 0.0
    return np.nanquantile(drawn, [tail, 1 - tail], axis=0)


def _ascending(cuts: Sequence[float]) -> list[float]:
    points = list(cuts) if isinstance(cuts, list | tuple) else []
    if not points or any(isinstance(point, bool) or not isinstance(point, int | float) for point in points):
        raise OptionError(f"cuts is {cuts!r:.80}", hint="It is a list of numbers, such as [0.05, 0.2].")
    if sorted(set(points)) != points:
        raise OptionError(f"cuts is {cuts!r:.80}", hint="Its numbers ascend, each once.")
    return points
