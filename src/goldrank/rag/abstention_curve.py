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
from goldrank.match.pairs import first_score
from goldrank.measures import Measure, make, parse

CURVES_OF = "SelectiveCover"
"""The measure that takes a threshold."""
MOST_POINTS = 50
LEAST_OF_A_KIND = 10
"""The fewest questions with, and without, an answer for which a threshold is chosen: half of them on each side."""
SEED = 0


class Point(NamedTuple):
    """A threshold: texts are returned if the first has at least this score."""

    threshold: float
    right: float
    """AbstainRight: the share of unanswerable questions on which the system then abstains."""
    wrong: float
    """AbstainWrong: the share of answerable questions on which it then abstains."""
    selective: float
    """SelectiveCover."""


class Chosen(NamedTuple):
    """The best threshold on one half of the questions, and what it is worth on the other."""

    threshold: float
    value: float
    """SelectiveCover on the half that the threshold was not chosen on."""
    answering: float
    """SelectiveCover there of always answering."""
    abstaining: float
    """SelectiveCover there of always abstaining."""
    chosen_on: int
    reported_on: int


@dataclass(frozen=True, repr=False, eq=False)
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
        rows: list[Cells] = []
        for point in self.points:
            rows.append([f"{point.threshold:.4g}", *(f"{value:.3f}" for value in point[1:])])
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
        chosen = None
        if self.chosen is not None:
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
    reported on the other half: on the first half it would flatter.

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
        The name of a convention, or a `Convention` with chosen policies.

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
    parsed = parse(measure)
    if parsed.name != CURVES_OF or parsed.option("abstain_below") is not None:
        message = f"{parsed}: curves of thresholds are of SelectiveCover"
        raise MeasureError(message, hint="For example SelectiveCover@5.")

    data = as_items(items)
    cover = _coverage(parsed, by_place=reader_of(data).has_evidence, enough=as_evidence(evidence).coverage)
    measures: list[MeasureLike] = [parsed, cover, "AbstainAUROC"]  # the last says which scores are missing
    scores = evaluate_texts(data, measures, matching=matching, evidence=evidence, convention=convention)

    rows = np.flatnonzero(~np.isnan(scores.columns[str(parsed)].values))
    score = np.array([first_score(item) for item in reader_of(data)], np.float64)
    unanswerable = np.array([item.answerable is False for item in reader_of(data)])
    questions = _Questions(score[rows], unanswerable[rows], scores.columns[str(cover)].values[rows])
    if len(set(questions.unanswerable.tolist())) < 2:
        raise InputError(
            "a threshold needs questions with and without an answer", hint='Those without have "answerable": false.'
        )

    levels = np.unique(questions.score[np.isfinite(questions.score)])
    if len(levels) > MOST_POINTS:
        levels = np.quantile(levels, np.linspace(0, 1, MOST_POINTS), method="nearest")
    points = tuple(questions.point(level) for level in (*levels.tolist(), np.inf))
    return AbstentionCurve(str(parsed), points, _chosen(questions))


def _coverage(selective: Measure, *, by_place: bool, enough: float) -> Measure:
    """The measure of how much of each question is covered, in the context of SelectiveCover."""
    options = dict(selective.options)
    if not by_place:
        return make("Cover", selective.k, options)
    options.pop("rel", None)
    return make("EvidenceRecall", selective.k, {**options, "coverage": enough})


class _Questions(NamedTuple):
    """Of each question the score of its first text, whether it has no answer, and how much its texts cover."""

    score: np.ndarray
    unanswerable: np.ndarray
    cover: np.ndarray

    def point(self, threshold: float) -> Point:
        """What a threshold costs and brings."""
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
        cuts = np.append(starts, len(score))
        chosen = int(cuts[int(total[cuts].argmax())])
        if chosen < len(score):
            return float(score[chosen])
        return np.inf

    def where(self, rows: np.ndarray) -> _Questions:
        """Some of the questions."""
        return _Questions(self.score[rows], self.unanswerable[rows], self.cover[rows])


def _chosen(questions: _Questions) -> Chosen | None:
    """A threshold from one half of the questions, with its worth on the other half."""
    random = np.random.default_rng(SEED)
    kinds = [np.flatnonzero(questions.unanswerable), np.flatnonzero(~questions.unanswerable)]
    if min(map(len, kinds)) < LEAST_OF_A_KIND:
        return None

    first_rows = np.concatenate([random.permutation(rows)[: len(rows) // 2] for rows in kinds])
    other_rows = np.setdiff1d(np.arange(len(questions.score)), first_rows)
    threshold = questions.where(first_rows).best()
    other = questions.where(other_rows)
    return Chosen(
        threshold=threshold,
        value=other.point(threshold).selective,
        answering=other.point(-np.inf).selective,
        abstaining=other.point(np.inf).selective,
        chosen_on=len(first_rows),
        reported_on=len(other_rows),
    )


def curves_by_system(sets: Sequence[Items], measures: Sequence[str], **options: Any) -> dict[str, AbstentionCurve]:
    """The curve of the first measure that takes a threshold, for each system."""
    measure = next((text for text in measures if parse(text).name == CURVES_OF), CURVES_OF)
    return {items.name: abstention_curve(items, measure, **options) for items in sets}
