"""What a convention makes of a run before measures see it, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from goldrank.conventions import CONDITIONS, Convention, Refusal
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Rankings, Run, rows_of
from goldrank.errors import InputError, MeasureError
from goldrank.measures import Measure


def without_own_ids(run: Run) -> Run:
    """The run without documents whose id is the query's."""
    if not any(query in row for query, row in rows_of(run).items()):
        return run
    kept = {
        query: {doc: score for doc, score in row.items() if doc != query} if query in row else row
        for query, row in rows_of(run).items()
    }
    filtered = Run(Rankings(kept), name=run.name, id_kind=run.id_kind, notes=run.notes)
    filtered.has_scores = run.has_scores
    return filtered


def check_at_hand(run: Run, rules: Convention) -> None:
    """Raises if a convention looks into a run that stays in Spark; no job is needed to know that."""
    looks = rules.reads_scores or any(refusal.when == "scores-beyond-1" for refusal in rules.refusals)
    if looks and run.source.engine == "spark":
        raise InputError(
            f"the convention {rules.name} looks at whole rankings, and the run is in Spark",
            where=run.name,
            hint="Bring the run here, run.toArrow(), or take another convention.",
        )


def seen(run: Run, qrels: Qrels, placements: Placements, rules: Convention) -> dict[str, Placements]:
    """The tables of placements as the convention's measures see them."""
    world = placements.closed if rules.closed and not placements.shared else placements
    tables = {"placements": world}
    if rules.positive and run.has_scores and placements.label is not None and not placements.shared:
        low = _not_above_zero(run, qrels, placements, rules)
        if low.any():
            grade = world.grade.copy()
            grade[placements.row_of_rank[low] if rules.closed else low] = 0
            tables["positive"] = replace(world, grade=grade)
    return tables


def _not_above_zero(run: Run, qrels: Qrels, placements: Placements, rules: Convention) -> np.ndarray:
    """Which placements have a score of 0 or less, as the convention compares scores."""
    assert placements.label is not None
    results, docs = rows_of(run), qrels.docs
    pairs = zip(placements.query.tolist(), placements.label.tolist(), strict=True)
    scores = np.array([results[placements.queries[query]][docs[label]] for query, label in pairs])
    if rules.score_type == "float32":
        scores = scores.astype(np.float32)
    return np.asarray(scores <= 0)


def refuse(
    measures: Sequence[Measure], placements: Placements, counted: np.ndarray | None, rules: Convention, run: Run
) -> None:
    """Raise an error for a measure that the convention cannot give on this data.

    `counted` says which queries count; None is all.
    """
    for refusal in rules.refusals:
        for measure in measures:
            if refusal.concerns(measure.name) and _holds(refusal.when, measure, placements, counted, run):
                raise _refused(measure, refusal, rules)


def refuse_asked(measure: Measure, rules: Convention) -> None:
    """Raise an error for a measure that the convention gives on no data."""
    for refusal in rules.refusals:
        if refusal.when == "asked" and refusal.concerns(measure.name):
            raise _refused(measure, refusal, rules)


def _refused(measure: Measure, refusal: Refusal, rules: Convention) -> MeasureError:
    where = "" if refusal.when == "asked" else f" where {CONDITIONS[refusal.when]}"
    return MeasureError(
        f"{measure} is not measured by the rules of {rules.name}{where}: {refusal.why}",
        hint=refusal.hint,
        code="refused-by-convention",
    )


def _holds(when: str, measure: Measure, placements: Placements, counted: np.ndarray | None, run: Run) -> bool:
    if when == "asked":
        return True
    if when == "negative-grades":
        return bool((placements.judged < 0).any())
    if when == "high-grades":
        return bool((placements.judged > 1).any())
    if when == "scores-beyond-1":
        results = rows_of(run)
        rows = (results[query] for query in placements.queries if query in results)
        return run.has_scores and any(not 0 <= score <= 1 for row in rows for score in row.values())
    if when == "unjudged-queries":
        judged = set(placements.queries)
        return any(query not in judged for query in run)
    level = measure.option("rel")
    level = 1 if level is None else level
    relevant = placements.relevant(level)
    if when == "none-relevant":
        return bool(((relevant == 0) & placements.answered).any())
    one_kind = relevant == np.diff(placements.judged_start)
    if when == "one-kind":
        one_kind |= relevant == 0
    return bool((one_kind if counted is None else one_kind & counted).any())
