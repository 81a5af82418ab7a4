"""From which score on texts should be returned at all: what each threshold costs and brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError, MeasureError
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasureLike
from goldrank.data.showing import Result
from goldrank.data.table import Cells, Head, Part, Sentence, Table
from goldrank.evaluation.text_settings import EvidenceLike, MatchingLike, as_evidence
from goldrank.evaluation.texts import evaluate_texts
from goldrank.io.questions.items import Items, ItemsLike, as_items, reader_of
from goldrank.measures import Measure, make, parse

CURVES_OF = "SelectiveCover"
"""The measure that takes a threshold."""
MOST_POINTS = 50
LEAST_OF_A_KIND = 10
"""Questions with, and without an answer, from which on a threshold is chosen: half of them on each side."""
SEED = 0


class Point(NamedTuple):
    """A threshold: texts are returned if the first has at least this score."""

    threshold: float
    right: float
    """AbstainRight: the share of unanswerable questions on which the system then abstains."""
    wrong: float
    """AbstainWrong: the share of answerable ones."""
    selective: float
    """SelectiveCover."""


class Chosen(NamedTuple):
    """The best threshold on one half of the questions, and what it is worth on the other."""

    threshold: float
    value: float
    """SelectiveCover on the half that the threshold was not chosen on."""
    answering: float
    """The same for always answering."""
    abstaining: float
    """And for always abstaining."""
    chosen_on: int
    reported_on: int


@dataclass(frozen=True, repr=False)
class AbstentionCurve(Result):
    """SelectiveCover, AbstainRight and AbstainWrong by threshold; and a threshold that was chosen, if there are enough
    questions of both kinds. `abstention_curve` makes it.

    Examples
    --------
    >>> items = [{"retrieved": [("a", 0.9)], "references": ["a"]}, {"retrieved": [("x", 0.2)], "no_answer": True}]
    >>> curve = abstention_curve(items, matching="contains")
    >>> curve.points[1], curve.best
    (Point(threshold=0.9, right=1.0, wrong=0.0, selective=1.0), None)
    """

    measure: str
    points: tuple[Point, ...]
    chosen: Chosen | None
    notes: tuple[Note, ...] = ()

    @property
    def best(self) -> float | None:
        """The threshold that was chosen; None if there are too few questions of both kinds."""
        if self.chosen is None:
            return None
        return self.chosen.threshold

    def parts(self) -> list[Part]:
        """What people see."""
        heads = Head.numbers("abstain below", "AbstainRight", "AbstainWrong", self.measure)
        rows: list[Cells] = [[f"{p.threshold:.4g}", *(f"{value:.3f}" for value in p[1:])] for p in self.points]
        return [Table(heads, rows), Sentence(self.words, "remark")]

    @property
    def words(self) -> str:
        """The threshold that was chosen, and what it is worth."""
        chosen = self.chosen
        if chosen is None:
            return f"too few questions of both kinds to choose a threshold: {LEAST_OF_A_KIND} of each are needed"
        return (
            f"below {chosen.threshold:.4g}, chosen on {chosen.chosen_on:,} questions: {self.measure} "
            f"{chosen.value:.3f} on the other {chosen.reported_on:,}, where always answering has "
            f"{chosen.answering:.3f} and always abstaining {chosen.abstaining:.3f}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """A row per threshold."""
        return [point._asdict() for point in self.points]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        if self.chosen is None:
            chosen = None
        else:
            chosen = self.chosen._asdict()
        notes = [note.to_dict() for note in self.notes]
        return {"measure": self.measure, "words": self.words, "points": self.rows(), "chosen": chosen, "notes": notes}


@named_arguments
def abstention_curve(
    items: ItemsLike,
    measure: MeasureLike = CURVES_OF,
    *,
    matching: MatchingLike = "rouge-l:0.7",
    evidence: EvidenceLike | None = None,
    convention: ConventionLike = "trec_eval-10",
) -> AbstentionCurve:
    """What every threshold for the score of the first text costs and brings, and which one to take.

    The threshold is chosen on one half of the questions, drawn among the answerable and the unanswerable ones, and
    reported on the other half: on the same one it would flatter.

    Parameters
    ----------
    items
        `Items`, or what `read_items` makes them of. Retrieved texts have scores.
    measure
        SelectiveCover, with any cut-off and options.
    matching
        When a text covers a reference: a spelling such as "contains", or a `Matching`.
    evidence
        Where evidence stands, as in `evaluate_texts`.
    convention
        The name of a convention, or a `Convention` with policies of its own.

    Returns
    -------
    AbstentionCurve
        A point for each threshold; `best` is the one that was chosen.

    Raises
    ------
    InputError
        If items cannot be read, have no scores, or are all of one kind.
    MeasureError
        If the measure takes no threshold.

    Examples
    --------
    >>> items = [{"retrieved": [("a", 0.9)], "references": ["a"]}, {"retrieved": [("x", 0.2)], "no_answer": True}]
    >>> [(point.threshold, point.selective) for point in abstention_curve(items, matching="contains").points]
    [(0.2, 0.5), (0.9, 1.0), (inf, 0.5)]
    """
    asked = parse(measure)
    if asked.name != CURVES_OF or asked.option("abstain_below") is not None:
        raise MeasureError(f"{asked}: curves of thresholds are of SelectiveCover", hint="For example SelectiveCover@5.")
    data = as_items(items)
    cover = _coverage(asked, by_place=reader_of(data).has_evidence, enough=as_evidence(evidence).coverage)
    measures: list[MeasureLike] = [asked, cover, "AbstainAUROC"]  # the last says which scores are missing
    scores = evaluate_texts(data, measures, matching=matching, evidence=evidence, convention=convention)
    rows = np.flatnonzero(~np.isnan(scores.columns[str(asked)].values))
    pairs = [(-np.inf if not item.retrieved else item.confidence, item.answerable is False) for item in reader_of(data)]
    score, unanswerable = (np.array(column)[rows] for column in zip(*pairs, strict=True))
    questions = _Questions(score.astype(np.float64), unanswerable, scores.columns[str(cover)].values[rows])
    if len(set(questions.unanswerable.tolist())) < 2:
        raise InputError(
            "a threshold needs questions with and without an answer", hint='Those without have "answerable": false.'
        )
    levels = np.unique(questions.score[np.isfinite(questions.score)])
    if len(levels) > MOST_POINTS:
        levels = np.quantile(levels, np.linspace(0, 1, MOST_POINTS), method="nearest")
    points = tuple(questions.at(level) for level in (*levels.tolist(), np.inf))
    return AbstentionCurve(str(asked), points, _chosen(questions))


def _coverage(asked: Measure, *, by_place: bool, enough: float) -> Measure:
    """What says how much of each question is covered, in the same context."""
    options = dict(asked.options)
    if not by_place:
        return make("Cover", asked.k, options)
    options.pop("rel", None)
    return make("EvidenceRecall", asked.k, {**options, "coverage": enough})


class _Questions(NamedTuple):
    """Of each question the score of its first text, whether it has no answer, and how much its texts cover."""

    score: np.ndarray
    unanswerable: np.ndarray
    cover: np.ndarray

    def at(self, threshold: float) -> Point:
        abstained = self.score < threshold
        worth = np.where(self.unanswerable, abstained, np.where(abstained, 0.0, self.cover))
        right, wrong = abstained[self.unanswerable].mean(), abstained[~self.unanswerable].mean()
        return Point(threshold, float(right), float(wrong), float(worth.mean()))

    def best(self) -> float:
        """The threshold with the highest SelectiveCover, by one pass over the sorted scores; the lowest of several."""
        order = np.argsort(self.score, kind="stable")
        score = self.score[order]
        # Abstaining on one more question brings 1 if it has no answer, and costs its coverage if it has one.
        gain = np.where(self.unanswerable, 1.0, -self.cover)[order]
        total = np.concatenate(([0.0], np.cumsum(gain)))
        starts = np.flatnonzero(np.concatenate(([True], score[1:] != score[:-1])))
        at = np.append(starts, len(score))
        chosen = int(at[int(total[at].argmax())])
        if chosen < len(score):
            return float(score[chosen])
        return np.inf

    def some(self, rows: np.ndarray) -> _Questions:
        return _Questions(self.score[rows], self.unanswerable[rows], self.cover[rows])


def _chosen(questions: _Questions) -> Chosen | None:
    """A threshold from one half, worth what it is on the other."""
    random = np.random.default_rng(SEED)
    kinds = [np.flatnonzero(questions.unanswerable), np.flatnonzero(~questions.unanswerable)]
    if min(map(len, kinds)) < LEAST_OF_A_KIND:
        return None
    first = np.concatenate([random.permutation(rows)[: len(rows) // 2] for rows in kinds])
    rest = np.setdiff1d(np.arange(len(questions.score)), first)
    threshold = questions.some(first).best()
    other = questions.some(rest)
    never, always = other.at(-np.inf).selective, other.at(np.inf).selective
    return Chosen(threshold, other.at(threshold).selective, never, always, len(first), len(rest))


def curves_by_system(sets: Sequence[Items], measures: Sequence[str], **how: Any) -> dict[str, AbstentionCurve]:
    """What thresholds do to the first of the measures that takes one, for each system."""
    measure = next((text for text in measures if parse(text).name == CURVES_OF), CURVES_OF)
    return {items.name: abstention_curve(items, measure, **how) for items in sets}
