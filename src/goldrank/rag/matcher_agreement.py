"""Does a matcher decide as people do? Its decisions against labelled pairs of texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from goldrank.base import ids, types
from goldrank.base.errors import InputError, as_list, of_type, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import Columns
from goldrank.comparison.intervals import Interval, percent
from goldrank.comparison.resampling import percentiles
from goldrank.comparison.settings import Statistics
from goldrank.comparison.tabular import attributes
from goldrank.data.explanation import clip
from goldrank.data.json_values import without_nan
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.match import Matcher
from goldrank.match import matcher as as_matcher
from goldrank.rag.labelled_pairs import LabelledPair, read_labels

LabelsLike: TypeAlias = "types.Path | types.ArrowStream | Iterable[Any]"
"""A file, a data frame, or rows: dicts, tuples of (retrieved, reference, label) or objects, which are checked."""

MatcherLike: TypeAlias = "str | Matcher | Callable[..., Any]"
"""'rouge-l:0.7', a `Matcher`, or a function of two texts or of two lists of them."""


SAMPLES = 2_000
"""The usual number of samples of the bootstrap."""
USUAL = Statistics()


class Confusion(NamedTuple):
    """How often the matcher and the label say yes or no."""

    both: int
    """Both yes: true positives."""
    matcher_only: int
    """The matcher alone says yes: false positives."""
    label_only: int
    """The label alone says yes: false negatives."""
    neither: int
    """Both no: true negatives."""

    @property
    def n(self) -> int:
        """Pairs."""
        return sum(self)

    @property
    def precision(self) -> float:
        """Of the pairs that the matcher takes for a match, the share that is one; NaN if it takes none."""
        decided = self.both + self.matcher_only
        if decided:
            return self.both / decided
        return math.nan

    @property
    def recall(self) -> float:
        """Of the pairs that are a match, the share that the matcher finds."""
        matches = self.both + self.label_only
        if matches:
            return self.both / matches
        return math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if no match is found."""
        wrong = self.matcher_only + self.label_only
        if self.both + wrong:
            return 2 * self.both / (2 * self.both + wrong)
        return math.nan

    @property
    def accuracy(self) -> float:
        """The share of pairs on which matcher and label agree."""
        return (self.both + self.neither) / self.n

    @property
    def kappa(self) -> float:
        """Cohen's kappa: how much of the agreement that chance does not explain is there."""
        return float(_kappas(np.array([self], np.float64))[0])


@dataclass(frozen=True)
class BestThreshold:
    """The threshold at which a matcher agrees most with the labels it was chosen on."""

    by: str
    """'f1' or 'kappa'."""
    threshold: float
    value: float
    """On the labels that it was chosen on, and therefore too high."""
    held_out: float | None
    """What thresholds chosen in this way reach on pairs that were left out; None for too few pairs."""


class Disagreement(NamedTuple):
    """A pair on which matcher and label differ."""

    retrieved: str
    reference: str
    label: bool
    degree: float
    where: str


@dataclass(frozen=True)
class MatcherAgreement:
    """How one matcher's decisions agree with the labels."""

    matcher: str
    confusion: Confusion
    interval: Interval
    """Of kappa."""
    behind: Interval | None
    """How far kappa is below the kappa of the first matcher, on the same pairs; None for the first itself."""
    best: Mapping[str, BestThreshold]
    """By 'f1' and by 'kappa'; empty for a matcher that has no threshold."""
    disagreements: Sequence[Disagreement] = field(repr=False)
    """From the one on which the matcher was most sure."""

    @property
    def kappa(self) -> float:
        """Cohen's kappa."""
        return self.confusion.kappa

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.confusion.f1


@dataclass(frozen=True, repr=False, eq=False)
class MatcherAgreements(Result):
    """Matchers, the one that agrees most with the labels first (by kappa, then F1). `matcher_agreement` makes it.

    Examples
    --------
    >>> labels = [("a cat sat", "a cat", True), ("a dog", "a cat", False), ("the cat", "a cat", True)]
    >>> found = matcher_agreement(labels, ["exact", "contains"])
    >>> [result.matcher for result in found], found["contains"].confusion.both
    (['contains', 'exact'], 1)
    """

    results: Sequence[MatcherAgreement]
    pairs: int
    matches: int
    """Pairs that are labelled a match."""
    level: float
    folds: int
    notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[MatcherAgreement]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, matcher: str) -> MatcherAgreement:
        """The result of a matcher by its spelling."""
        for result in self.results:
            if result.matcher == matcher:
                return result
        raise KeyError(f"{matcher!r}; there are: {', '.join(result.matcher for result in self.results)}")

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.rag.matchers_report import parts

        return parts(self)

    @property
    def words(self) -> str:
        """Which matcher agrees most with the labels."""
        first = self.results[0]
        low, high = first.interval
        kappa = f"kappa {first.kappa:.3f} ({percent(self.level)} interval {low:.3f} to {high:.3f})"
        return f"{first.matcher} agrees most with the {self.pairs:,} labels: {kappa}."

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per matcher."""
        return [_record(result) for result in self.results]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the disagreements, as plain values; NaN as None."""
        rows = without_nan(self.rows())
        about = attributes(self, "pairs matches level folds")
        return {**about, "matchers": rows, "notes": [note.to_dict() for note in self.notes]}


@named_arguments
def matcher_agreement(
    labels: LabelsLike,
    matchers: MatcherLike | Sequence[MatcherLike],
    *,
    fields: Columns | None = None,
    format: str | None = None,
    folds: int = 5,
    statistics: Statistics = USUAL,
) -> MatcherAgreements:
    """How well matchers decide what people decided, so that one is chosen by evidence.

    Parameters
    ----------
    labels
        A file (JSON Lines, JSON, CSV, Parquet), a data frame, or a list of dicts or of (retrieved, reference, label),
        with a retrieved text, a reference and a label (true or false) for each pair.
    matchers
        A spelling such as "rouge-l:0.7", a `Matcher` or a function of both texts, or several.
    fields
        Where things are, if fields have other names: {"label": "human"}.
    format
        The format, if it cannot be detected from the content.
    folds
        Parts of the pairs, for what chosen thresholds reach on pairs that were left out.
    statistics
        The level, the samples (2,000 by default) and the seed of the bootstrap.

    Returns
    -------
    MatcherAgreements
        The matcher that agrees most first, by Cohen's kappa.

    Raises
    ------
    InputError
        If labels cannot be read, or all are the same.
    OptionError
        If an option is not within its limits, or there is no such matcher.

    Examples
    --------
    >>> labels = [("a cat sat", "a cat", True), ("a dog", "a cat", False), ("the cat", "a cat", True)]
    >>> matcher_agreement(labels, "exact")["exact"].confusion
    Confusion(both=0, matcher_only=0, label_only=2, neither=1)
    """
    whole_number(folds, "folds", 2)
    of_type(statistics, Statistics, "statistics", "a Statistics", "For example statistics=Statistics(alpha=0.01).")
    level, seed = statistics.level, statistics.seed
    samples = statistics.draws(SAMPLES)
    if isinstance(matchers, str | Matcher) or callable(matchers):
        matchers = [matchers]
    rules = {str(rule): rule for rule in map(as_matcher, as_list(matchers, "matchers"))}
    if not rules:
        message = "no matchers were given"
        raise InputError(message, hint="For example ['rouge-l:0.7', 'token-recall'].", code="no-matchers")

    pairs, notes = read_labels(labels, fields=fields, format=format)
    truth = np.array([pair.label for pair in pairs], bool)
    if truth.all() or not truth.any():
        raise InputError(
            f"all {len(pairs):,} pairs have the label {str(bool(truth[0])).lower()}",
            hint="Agreement needs pairs that match and pairs that do not.",
        )

    parts = _folds(pairs, folds, seed)
    by_rule = [_Decisions(rule, pairs, truth) for rule in rules.values()]
    by_rule.sort(key=lambda decisions: (-decisions.confusion.kappa, -decisions.confusion.f1))
    best = by_rule[0]
    results = []
    for decisions in by_rule:
        behind = None
        if decisions is not best:
            behind = _behind(best, decisions, truth, level, samples, seed)
        results.append(
            MatcherAgreement(
                matcher=str(decisions.rule),
                confusion=decisions.confusion,
                interval=_kappa_interval(decisions.confusion, level, samples, seed),
                behind=behind,
                best=_best_thresholds(decisions, truth, parts),
                disagreements=_disagreements(decisions, pairs),
            )
        )
    return MatcherAgreements(results, len(pairs), int(truth.sum()), level, folds, tuple(notes))


class _Decisions:
    """A matcher's degrees and decisions for all pairs."""

    def __init__(self, rule: Matcher, pairs: Sequence[LabelledPair], truth: np.ndarray) -> None:
        self.rule = rule
        texts: dict[str, int] = {}
        references: dict[str, int] = {}
        filled = [i for i, pair in enumerate(pairs) if pair.retrieved.strip() and pair.reference.strip()]
        left = np.array([texts.setdefault(pairs[i].retrieved, len(texts)) for i in filled], np.int64)
        right = np.array([references.setdefault(pairs[i].reference, len(references)) for i in filled], np.int64)
        self.degrees = np.zeros(len(pairs))
        if filled:
            numbered = list(texts), list(references), left, right
            degrees = rule.degrees(*numbered)
            # What a guard refuses does not match at any threshold.
            degrees[list(rule.refused(degrees > 0, *numbered))] = 0.0
            self.degrees[filled] = degrees

        self.decided = rule.enough(self.degrees)
        self.confusion = _confusion(self.decided, truth)


def _confusion(decided: np.ndarray, truth: np.ndarray) -> Confusion:
    return Confusion(
        both=int((decided & truth).sum()),
        matcher_only=int((decided & ~truth).sum()),
        label_only=int((~decided & truth).sum()),
        neither=int((~decided & ~truth).sum()),
    )


def _kappas(tables: np.ndarray) -> np.ndarray:
    """Cohen's kappa of each row (both, matcher only, label only, neither); NaN where chance explains everything."""
    n = tables.sum(axis=1)
    matcher, label = (tables[:, 0] + tables[:, 1]) / n, (tables[:, 0] + tables[:, 2]) / n
    chance = matcher * label + (1 - matcher) * (1 - label)
    observed = (tables[:, 0] + tables[:, 3]) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas: np.ndarray = np.where(chance < 1, (observed - chance) / (1 - chance), np.nan)
    return kappas


def _kappa_interval(confusion: Confusion, level: float, samples: int, seed: int) -> Interval:
    """What the four counts leave possible: Dirichlet's posterior, from half a pair in each of them."""
    drawn = np.random.default_rng(seed).dirichlet(np.array(confusion, np.float64) + 0.5, samples)
    low, high = percentiles(_kappas(drawn), level)
    return Interval(min(low, confusion.kappa), max(high, confusion.kappa))


def _behind(best: _Decisions, other: _Decisions, truth: np.ndarray, level: float, samples: int, seed: int) -> Interval:
    """How much kappa is lost against the best matcher: what the eight counts leave possible, as for one matcher."""
    code = best.decided * 4 + other.decided * 2 + truth
    counts = np.bincount(code, minlength=8)
    drawn = np.random.default_rng(seed).dirichlet(counts + 0.25, samples).reshape(-1, 2, 2, 2)

    def kappas(table: np.ndarray) -> np.ndarray:  # samples x decided x label
        return _kappas(np.stack([table[:, 1, 1], table[:, 1, 0], table[:, 0, 1], table[:, 0, 0]], 1))

    return percentiles(kappas(drawn.sum(axis=2)) - kappas(drawn.sum(axis=1)), level)


def _choose(degrees: np.ndarray, truth: np.ndarray, by: str) -> tuple[float, float]:
    """The threshold at which the decisions are best, in the widest gap between degrees, and how good they are."""
    cuts, code = np.unique(degrees, return_inverse=True)
    # For each degree that occurs, the four counts if it and all above it are matches.
    yes = np.bincount(code, truth, len(cuts))[::-1].cumsum()[::-1]
    no = np.bincount(code, ~truth, len(cuts))[::-1].cumsum()[::-1]
    tables = np.stack([yes, no, truth.sum() - yes, (~truth).sum() - no], axis=1)[cuts > 0]
    cuts = cuts[cuts > 0]
    if not len(cuts):
        return 1.0, 0.0

    if by == "f1":
        hits, matcher_only, label_only, _ = tables.T
        quality = 2 * hits / np.maximum(1, 2 * hits + matcher_only + label_only)
    else:
        quality = np.nan_to_num(_kappas(tables))
    below = np.concatenate(([0.0], cuts[:-1]))
    top = np.flatnonzero(quality >= quality.max() - 1e-12)
    best = top[np.argmax((cuts - below)[top])]
    return _round_between(float(below[best]), float(cuts[best])), float(quality[best])


def _round_between(low: float, high: float) -> float:
    """The number with the fewest decimals above `low` and not above `high`, the one nearest to their middle."""
    for digits in range(1, 17):
        unit = 10**digits
        first, last = math.floor(low * unit), math.floor(high * unit)
        near = {min(max(round((low + high) / 2 * unit), first), last), first, last, first + 1}
        inside = [number / unit for number in near if low < number / unit <= high]
        if inside:
            return float(min(inside, key=lambda value: abs(value - (low + high) / 2)))
    return high


def _best_thresholds(decisions: _Decisions, truth: np.ndarray, parts: np.ndarray | None) -> dict[str, BestThreshold]:
    if decisions.rule.threshold is None:
        return {}

    best = {}
    for by in ("f1", "kappa"):
        threshold, value = _choose(decisions.degrees, truth, by)
        held_out = None
        if parts is not None:
            decided = np.zeros(len(truth), bool)
            for part in range(int(parts.max()) + 1):
                left_out = parts == part
                chosen, _ = _choose(decisions.degrees[~left_out], truth[~left_out], by)
                decided[left_out] = (decisions.degrees[left_out] > 0) & (decisions.degrees[left_out] >= chosen)
            held_out = getattr(_confusion(decided, truth), by)
        best[by] = BestThreshold(by, threshold, value, held_out)

    return best


def _folds(pairs: Sequence[LabelledPair], folds: int, seed: int) -> np.ndarray | None:
    """A part for each pair, with one share of matches in all; None if there are too few of either label.

    Pairs that are listed twice are in one part: a pair must not be used to choose and be held out.
    """
    distinct: dict[tuple[str, str], int] = {}
    code = np.array([distinct.setdefault((pair.retrieved, pair.reference), len(distinct)) for pair in pairs])
    first = np.unique(code, return_index=True)[1]
    truth = np.array([pairs[i].label for i in first.tolist()], bool)
    count = min(folds, int(truth.sum()), int((~truth).sum()))
    if count < 2:
        return None

    rng = np.random.default_rng(seed)
    parts = np.zeros(len(truth), np.int64)
    for rows in (np.flatnonzero(truth), np.flatnonzero(~truth)):
        parts[rng.permutation(rows)] = np.arange(len(rows)) % count
    return np.asarray(parts[code])


def _disagreements(decisions: _Decisions, pairs: Sequence[LabelledPair]) -> list[Disagreement]:
    limit = decisions.rule.threshold
    if limit is None:
        limit = 0.5
    distance = np.abs(decisions.degrees - limit)
    wrong = [i for i, pair in enumerate(pairs) if bool(decisions.decided[i]) != pair.label]
    wrong.sort(key=lambda i: -float(distance[i]))
    return [Disagreement(*pairs[i][:3], float(decisions.degrees[i]), pairs[i].where) for i in wrong]


def describe_disagreements(result: MatcherAgreement, count: int) -> str:
    """The first few disagreements of a matcher, as text that any terminal can show."""
    wrong = result.disagreements
    title = f"{ids.show(result.matcher)}: {len(wrong):,} disagreements"
    if len(wrong) == 1:
        title = f"{ids.show(result.matcher)}: 1 disagreement"
    if len(wrong) > count:
        title += f", the first {count}"

    lines = [title]
    for pair in wrong[:count]:
        says = "match, the label says no match"
        if pair.label:
            says = "no match, the label says match"
        lines += [
            f"  {ids.show(pair.where, 100)}  degree {pair.degree:.2f}: {says}",
            f"    retrieved  {_words(pair.retrieved)}",
            f"    reference  {_words(pair.reference)}",
        ]
    return "\n".join(lines)


def _words(text: str) -> str:
    return "".join(piece.text for piece in clip(text, (), 200)).strip()


def _record(result: MatcherAgreement) -> dict[str, Any]:
    record: dict[str, Any] = {"matcher": result.matcher, "kappa": result.kappa}
    record |= {"kappa_low": result.interval.low, "kappa_high": result.interval.high}
    record |= attributes(result.confusion, "f1 precision recall accuracy both matcher_only label_only neither")
    record |= {f"behind_{end}": getattr(result.behind, end, None) for end in ("low", "high")}
    for by in ("kappa", "f1"):
        for key, name in (("best_threshold", "threshold"), ("best", "value"), ("held_out", "held_out")):
            record[f"{key}_{by}"] = getattr(result.best.get(by), name, None)
    return record
