"""Values of systems on the same queries -> every system's mean and every pair's difference, tested and corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from goldrank.comparison import intervals, paired, power
from goldrank.comparison.correction import adjust, randomized_tukey
from goldrank.comparison.design import Design, Part
from goldrank.comparison.flips import Flipped, flip, max_t, raw_p, t_of_u, t_of_u_weighted, u_of_t, without_rounding
from goldrank.comparison.intervals import Estimate, Interval
from goldrank.comparison.pair import Pair
from goldrank.comparison.settings import Settings
from goldrank.data.scores import SLACK, Column
from goldrank.errors import MeasureError
from goldrank.measures import parse
from goldrank.notes import Note
from goldrank.packages import special


@dataclass(frozen=True)
class Facts:
    """What a comparison must know of a measure."""

    name: str
    higher_is_better: bool = True
    low: float = -math.inf
    high: float = math.inf
    """The bounds of what is compared; infinite where there are none."""
    diagnostic: bool = False

    @property
    def reach(self) -> float:
        """The largest possible difference."""
        return self.high - self.low if self.is_bounded else math.inf

    @property
    def is_bounded(self) -> bool:
        """Whether the measure has two bounds."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def facts_of(column: Column, values: np.ndarray) -> Facts:
    """What is declared of a column's measure. One that nobody declared, or that passes its bounds, has none."""
    try:
        declared = parse(column.measure).declaration
    except MeasureError:
        return Facts(column.measure, column.higher_is_better)
    low, high = declared.low, declared.high
    if column.average == "geometric":
        low, high = (math.log(end) if end > 0 else -math.inf for end in (low, high))
    counted = values[~np.isnan(values)]
    if len(counted) and (counted.min() < low - SLACK or counted.max() > high + SLACK):
        low, high = -math.inf, math.inf
    return Facts(column.measure, column.higher_is_better, low, high, declared.diagnostic)


@dataclass(frozen=True)
class _Row:
    """One measure of one pair."""

    facts: Facts
    a: int
    b: int
    """Numbers of systems."""
    role: str


@dataclass(frozen=True)
class Values:
    """All values of a comparison."""

    names: Sequence[str]
    by_measure: Mapping[str, np.ndarray]
    """One row per system and one column per query; NaN, in all rows, where a query does not count."""
    replicates: Mapping[str, Sequence[np.ndarray]]
    """Per measure and system its runs as rows, where systems were run several times; else empty."""

    def counted(self, measure: str) -> np.ndarray:
        """Which queries count."""
        return np.asarray(~np.isnan(self.by_measure[measure][0]))

    def differences(self, row: _Row) -> np.ndarray:
        """b - a on the queries that count."""
        rows = self.by_measure[row.facts.name][:, self.counted(row.facts.name)]
        return without_rounding(rows[row.b] - rows[row.a])

    def runs(self, row: _Row) -> tuple[np.ndarray, np.ndarray] | None:
        """The runs of a and b, if both have several, of more than one query."""
        systems = self.replicates.get(row.facts.name)
        if systems is None or min(len(systems[row.a]), len(systems[row.b])) < 2:
            return None
        counted = self.counted(row.facts.name)
        if np.count_nonzero(counted) < 2:
            return None
        return systems[row.a][:, counted], systems[row.b][:, counted]


def all_pairs(
    values: Values, facts: Sequence[Facts], pairs: Sequence[tuple[str, str]], settings: Settings, design: Design
) -> list[Pair]:
    """Every pair's difference in each measure, tested by one set of flips and corrected in families."""
    at = {name: i for i, name in enumerate(values.names)}
    rows = [_Row(about, at[a], at[b], _role(about, settings)) for about in facts for a, b in pairs]
    flipped = flipped_rows(values, facts, pairs, settings, design)
    numbers = [_numbers(values, row, flipped, i, design, settings) for i, row in enumerate(rows)]
    for family in _families(rows):
        _correct(family, rows, numbers, values, flipped, settings)
        if settings.margin is not None:
            _equivalent(family, rows, numbers, values, facts, pairs, settings, design)
    found = [
        _pair(values, row, parts, settings, design) for row, parts in zip(rows, numbers, strict=True)
    ]  # fmt: skip
    if settings.interval == "bounded":
        found = _with_bounded(found, rows, numbers, values, settings)
    return with_secondaries(found) if settings.primary else found


def _role(facts: Facts, settings: Settings) -> str:
    if facts.diagnostic:
        return "diagnostic"
    return "" if settings.primary is None else "primary" if facts.name == settings.primary else "secondary"


def _families(rows: Sequence[_Row]) -> list[list[int]]:
    """Rows that are corrected together: those of the primary measure, and the others; diagnostics are in none."""
    by_role: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        if row.role != "diagnostic":
            by_role.setdefault(row.role, []).append(i)
    return list(by_role.values())


def flipped_rows(
    values: Values,
    facts: Sequence[Facts],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    design: Design,
    centred: bool = False,
) -> Flipped:
    """All rows under one set of flips; `centred` with each row's mean taken out."""
    at = {name: i for i, name in enumerate(values.names)}
    columns, numbers = [], []
    for m, about in enumerate(facts):
        matrix, counted = values.by_measure[about.name], values.counted(about.name)
        # Differences to the first system: those of pairs stay as they are, and rounding is that of differences.
        moved = np.where(counted, matrix - matrix[0], 0.0)
        if centred:
            means = np.array([design.mean(row[counted], counted) for row in moved])
            moved = np.where(counted, moved - means[:, None], 0.0)
        columns.append(design.unit_columns(moved))
        numbers += [(m * len(matrix) + at[a], m * len(matrix) + at[b]) for a, b in pairs]
    return flip(np.concatenate(columns), np.array(numbers), samples=settings.samples - 1, seed=settings.seed)


@dataclass
class _Numbers:
    """What is worked out for a row, step by step."""

    estimate: Estimate
    units: int
    changed: int
    """Units, and those that differ."""
    p: dict[str, float]
    how: str
    tested: float
    """The p-value that the verdict goes by, before correction."""
    adjusted: float = math.nan
    at_most: bool = False
    critical_u: float | None = None
    """The family's critical value, where it is corrected by the joint maximum."""
    alpha: float = 0.05
    """The alpha of a single test that corrects as much, where it is corrected by p-values."""
    equivalence: float | None = None


def _numbers(
    values: Values, row: _Row, flipped: Flipped, i: int, design: Design, settings: Settings
) -> _Numbers:  # fmt: skip
    differences = values.differences(row)
    part = design.part(values.counted(row.facts.name))
    found = intervals.estimate(differences, *part)
    p, how = raw_p(flipped, i)
    of_units = flipped.row(i) if not design.is_plain else differences
    tests = {
        "randomization": p,
        "t": paired.t_test(differences) if design.is_plain else _t_p(found),
        "wilcoxon": paired.wilcoxon_test(of_units),
        "sign": paired.sign_test(of_units),
    }
    units = len(differences) if part.units is None else int(part.units.max()) + 1
    changed = flipped.differing(i)
    runs = values.runs(row)
    if runs is not None:
        replicated = intervals.replicated(*runs)
        tests["t"] = replicated.p
        return _Numbers(replicated.estimate, units, changed, tests, "replicates", replicated.p, alpha=settings.alpha)
    # Where all differences are the same, t has no answer, and flips have one.
    is_by_flips = settings.test == "randomization" or math.isnan(tests[settings.test])
    tested, how = (p, how) if is_by_flips else (tests[settings.test], "formula")
    return _Numbers(found, units, changed, tests, how, tested, alpha=settings.alpha)


def _t_p(found: Estimate) -> float:
    """The two-sided p-value of an estimate by Student's t."""
    if not found.variance > 0:
        return math.nan
    return float(2 * special.stdtr(found.freedom, -abs(found.mean) / found.error))


def _correct(
    family: Sequence[int],
    rows: Sequence[_Row],
    numbers: Sequence[_Numbers],
    values: Values,
    flipped: Flipped,
    settings: Settings,
) -> None:
    """Corrected p-values and critical values of a family."""
    tested = np.array([numbers[i].tested for i in family])
    method, at_most = settings.correction, np.zeros(len(family), bool)
    if any(numbers[i].how == "replicates" for i in family) and method in ("max-t", "tukey"):
        method = "holm"
    tests = len(family)
    if method == "max-t" and tests > 1:
        found = max_t(flipped, family, alpha=settings.alpha, raw=tested.tolist())
        adjusted, at_most = found.adjusted, found.at_most
        for i in family:
            numbers[i].critical_u = found.critical
    elif method == "tukey":
        adjusted, tests = _tukey([rows[i] for i in family], values, settings), len(values.names)
        tests = tests * (tests - 1) // 2
    else:
        adjusted = adjust(tested, "none" if method == "max-t" else method)
    alpha = settings.alpha if method in ("max-t", "none") else settings.alpha / tests
    for i, p, bound in zip(family, adjusted.tolist(), at_most.tolist(), strict=True):
        numbers[i].adjusted, numbers[i].at_most, numbers[i].alpha = p, bound, alpha


def _tukey(rows: Sequence[_Row], values: Values, settings: Settings) -> np.ndarray:
    """Corrected p-values measure by measure, by permutation of all systems."""
    by_measure = {}
    for m, measure in enumerate(dict.fromkeys(row.facts.name for row in rows)):
        matrix = values.by_measure[measure][:, values.counted(measure)]
        rng = np.random.default_rng([settings.seed, m, 2])
        by_measure[measure] = randomized_tukey(matrix[None], settings.samples, rng)[0]
    return np.array([by_measure[row.facts.name][row.a, row.b] for row in rows])


def _equivalent(
    family: Sequence[int],
    rows: Sequence[_Row],
    numbers: Sequence[_Numbers],
    values: Values,
    facts: Sequence[Facts],
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    design: Design,
) -> None:
    """Corrected p-values of equivalence: two one-sided tests, held against the family's one-sided maximum."""
    assert settings.margin is not None
    t_and_freedom = []
    for row, parts in ((rows[i], numbers[i]) for i in family):
        if parts.how == "replicates":
            t_and_freedom.append((power.t_within(parts.estimate, settings.margin), parts.estimate.freedom))
            continue
        part = design.part(values.counted(row.facts.name))
        differences = values.differences(row)
        t_and_freedom.append(power.equivalence_t(differences, settings.margin, row.facts.reach, *part))
    raw = np.array([float(special.stdtr(freedom, -t)) for t, freedom in t_and_freedom])
    if len(family) > 1 and all(numbers[i].critical_u is not None for i in family):
        flips = flipped_rows(values, facts, pairs, settings, design, centred=True)
        maxima = max_t(flips, family, tail="greater", alpha=settings.alpha).maxima[1:]
        if design.is_plain:
            reached = [u_of_t(t, numbers[i].units) for i, (t, _) in zip(family, t_and_freedom, strict=True)]
        else:
            reached = special.ndtri(1 - raw).tolist()
        raw = np.array([(1 + int(np.count_nonzero(maxima >= u))) / (len(maxima) + 1) for u in reached])
    elif settings.correction not in ("max-t", "none"):
        raw = adjust(raw, "holm" if settings.correction == "tukey" else settings.correction)
    for i, p in zip(family, raw.tolist(), strict=True):
        numbers[i].equivalence = p


def _pair(values: Values, row: _Row, numbers: _Numbers, settings: Settings, design: Design) -> Pair:
    """A row's numbers with its interval, and what there is to say of it."""
    facts, differences = row.facts, values.differences(row)
    counted = values.counted(facts.name)
    part = design.part(counted)
    found = numbers.estimate
    critical = _critical(numbers, design)
    interval = _interval(differences, part, numbers, critical, facts, settings)
    decided = numbers.adjusted <= settings.alpha and found.mean != 0
    caveats = _caveats(numbers, interval, settings, design)
    if decided and 0 in interval:
        u = abs(found.mean) / found.error if found.variance > 0 else math.inf
        if numbers.critical_u is not None and u < critical:
            # Found by stepping down: that it is on this side of 0 is all that the family leaves to say.
            interval = Interval(0.0, interval.high) if found.mean > 0 else Interval(interval.low, 0.0)
        else:
            caveats.append(Note.of("interval-reaches-zero"))
    elif not decided and row.role != "diagnostic" and not math.isnan(interval.low) and 0 not in interval:
        caveats.append(Note.of("interval-excludes-zero"))
    of_counted = values.by_measure[facts.name][:, counted]
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    return Pair(
        measure=facts.name,
        a=values.names[row.a],
        b=values.names[row.b],
        n=len(differences),
        mean_a=design.mean(of_counted[row.a], counted),
        mean_b=design.mean(of_counted[row.b], counted),
        difference=found.mean if abs(found.mean) > 1e-15 else 0.0,
        interval=interval,
        **_power(differences, numbers, critical, facts.reach, settings, design),
        wins=above if facts.higher_is_better else below,
        ties=len(differences) - above - below,
        losses=below if facts.higher_is_better else above,
        p=numbers.p,
        how=numbers.how,
        adjusted=numbers.adjusted,
        at_most=numbers.at_most,
        critical=critical,
        equivalence=numbers.equivalence,
        role=row.role,
        withheld=any(note.code in ("too-few-differ", "too-few-clusters") for note in caveats),
        caveats=tuple(caveats),
        higher_is_better=facts.higher_is_better,
        settings=settings,
    )


def _critical(numbers: _Numbers, design: Design) -> float:
    """Student's quantile of a row's interval: that of its family, or the usual one."""
    if numbers.critical_u is None:
        return intervals.t_quantile(1 - numbers.alpha / 2, numbers.estimate.freedom)
    if design.is_plain:
        return t_of_u(numbers.critical_u, numbers.units)
    return t_of_u_weighted(numbers.critical_u, numbers.estimate.freedom)


def _interval(
    differences: np.ndarray, part: Part, numbers: _Numbers, critical: float, facts: Facts, settings: Settings
) -> Interval:
    if numbers.how == "replicates" and numbers.estimate.variance > 0:
        return numbers.estimate.interval(critical).cut(-facts.reach, facts.reach)
    is_joint = numbers.critical_u is not None
    return intervals.difference_interval(
        differences,
        level=settings.level if is_joint else 1 - numbers.alpha,
        reach=facts.reach,
        critical=critical if is_joint else None,
        units=part.units,
        weights=part.weights,
    )


def _power(
    differences: np.ndarray, numbers: _Numbers, critical: float, reach: float, settings: Settings, design: Design
) -> dict[str, Any]:
    """The effect, the smallest difference that would be found, and the queries that this one needs."""
    found = numbers.estimate
    size = found.freedom + 1
    # With clusters, weights or replicates the effect is in units of the spread that so many single queries would have.
    spread = found.error * math.sqrt(size) if found.variance > 0 else 0.0
    if len(differences) < 2 or paired.is_constant(differences) or spread <= 0:
        return {"effect": math.nan, "detectable": math.nan, "needed": None}
    effect = found.mean / spread
    alpha = numbers.alpha
    if numbers.critical_u is not None:
        alpha = float(2 * special.stdtr(found.freedom, -critical)) if math.isfinite(critical) else 0.0
    if settings.test in ("sign", "wilcoxon"):  # they ask for directions and ranks, whatever the mean difference
        return {"effect": effect, "detectable": math.nan, "needed": None}
    detectable = power.detectable_effect(size, settings.power, alpha) * spread
    # The rarest flip of so many units has a chance of 2^(1 - units): with fewer, no difference is large enough.
    fewest = 1 + math.ceil(-math.log2(alpha)) if numbers.how not in ("formula", "replicates") and alpha > 0 else 2
    if numbers.units < fewest or detectable > reach:
        detectable = math.nan
    queries = power.queries_needed(effect, settings.power, alpha, numbers.critical_u if design.is_plain else None)
    if numbers.how == "replicates":
        queries = None  # more queries do not make runs vary less
    elif queries is not None:
        queries = math.ceil(max(queries, fewest) * len(differences) / size - 1e-9)
    return {"effect": effect, "detectable": detectable, "needed": queries}


def _caveats(numbers: _Numbers, interval: Interval, settings: Settings, design: Design) -> list[Note]:
    clustered = design.clusters is not None
    unit = "clusters" if clustered else "queries"
    codes = intervals.caveats(numbers.changed, numbers.units, settings.alpha, clustered=clustered)
    if math.isnan(interval.high):
        codes = tuple("none-differs-unbounded" if code == "none-differs" else code for code in codes)
    return [
        Note.of(code, units=numbers.units, unit=unit, differing=numbers.changed, end=interval.high) for code in codes
    ]


def _with_bounded(
    found: Sequence[Pair], rows: Sequence[_Row], numbers: Sequence[_Numbers], values: Values, settings: Settings
) -> list[Pair]:
    """The pairs with intervals that hold whatever the queries lack."""
    changed = list(found)
    for measure in dict.fromkeys(row.facts.name for row in rows):
        chosen = [i for i, row in enumerate(rows) if row.facts.name == measure]
        differences = np.array([values.differences(rows[i]) for i in chosen])
        reach = np.array([rows[i].facts.reach for i in chosen])
        alphas = [2 * float(special.stdtr(numbers[i].estimate.freedom, -found[i].critical)) for i in chosen]
        for i, interval in zip(
            chosen, intervals.bounded_intervals(differences, reach, np.array(alphas), seed=settings.seed), strict=True
        ):
            changed[i] = replace(found[i], interval=interval)
    return changed


def with_secondaries(found: Sequence[Pair]) -> list[Pair]:
    """Secondary rows that are decided only if their pair's primary row is, the same way."""
    primary = {(pair.a, pair.b): pair for pair in found if pair.role == "primary"}
    changed = []
    for pair in found:
        first = primary.get((pair.a, pair.b))
        if pair.role == "secondary" and first and pair.verdict in ("better", "worse") and pair.verdict != first.verdict:
            why = Note.of("primary-undecided", primary=first.measure)
            pair = replace(pair, withheld=True, caveats=(*pair.caveats, why))
        changed.append(pair)
    return changed
