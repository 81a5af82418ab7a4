"""What stands in a log, and one grade for each pair out of those of several judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, StoreError, one_of
from goldrank.base.notes import Note
from goldrank.base.types import QrelsLike
from goldrank.data.judgement_columns import who_judged
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.table import Cell, Head, Table
from goldrank.judging.log_events import PEOPLE, Entry, standing_numbers

Merge: TypeAlias = Literal["median", "majority", "max", "min", "error"]
By: TypeAlias = Literal["person", "model", "any"]

MERGES = {
    "median": "the lower median, which is always a grade that somebody gave",
    "majority": "the grade that most gave; of equally many the lowest",
    "max": "the highest",
    "min": "the lowest",
    "error": "an error where judges differ",
}
BY = {
    "person": "grades by people",
    "model": "grades by models",
    "any": "grades by people; where there is none, by models",
}


@dataclass(frozen=True)
class StandingJudgement:
    """What stands of one judge's events on a pair."""

    judge: str
    kind: str
    state: str
    """graded, cannot_tell, skipped, withdrawn, or open if there are only comments."""
    grade: Grade | None
    comment: str
    """The last comment that stands."""
    seq: int
    """The judge's last event on the pair, whatever it was."""

    @classmethod
    def of(cls, events: Sequence[Entry]) -> StandingJudgement:
        """What stands of the events of one judge on one pair, in their order."""
        numbers = set(standing_numbers((event.seq, event.action, event.knew) for event in events))
        state, grade, comment = "withdrawn" if any(event.action == "withdraw" for event in events) else "open", None, ""
        for event in events:
            if event.seq not in numbers:
                continue
            comment = event.comment or comment
            if event.action == "grade":
                state, grade = "graded", event.grade
            elif event.action == "cannot_tell":
                state, grade = "cannot_tell", None
            elif event.action == "skip" and grade is None:
                state = "skipped"

        last = events[-1]
        return cls(last.judge, last.kind, state, grade, comment, last.seq)


@dataclass(frozen=True)
class Export:
    """Judgements of a log, merged, and who gave them."""

    qrels: Qrels
    table: Table
    """A row for each pair with a grade in the log: grade, judges, spread, comments, the file's grade."""
    notes: tuple[Note, ...]
    graded: Mapping[tuple[str, str], tuple[str, ...]]
    """For each pair with a grade from the log, the kinds of judges that gave it."""


def merged_grade(grades: Mapping[str, Grade], merge: str, adjudicator: str | None, where: str) -> Grade:
    """One grade out of those of several judges: the adjudicator's if there is one, else by the rule.

    >>> merged_grade({"ann": 3, "bob": 1, "cy": 1, "di": 2}, "median", None, "")
    1
    """
    if adjudicator is not None and adjudicator in grades:
        return grades[adjudicator]
    ordered = sorted(grades.values())
    if merge == "median":
        return ordered[(len(ordered) - 1) // 2]
    if merge == "majority":
        counts = Counter(ordered)
        return min(counts, key=lambda grade: (-counts[grade], grade))
    if merge == "error" and ordered[0] != ordered[-1]:
        said = ", ".join(f"{ids.show(judge)} {grade}" for judge, grade in sorted(grades.items()))
        hint = "Name an adjudicator, or another rule: merge='median'."
        raise StoreError(f"judges differ: {said}", where=where, hint=hint, code="judges-differ")
    if merge == "max":
        return ordered[-1]
    return ordered[0]


def exported(
    standing: Mapping[tuple[str, str], Mapping[str, StandingJudgement]],
    onto: QrelsLike | None = None,
    *,
    merge: Merge = "median",
    adjudicator: str | None = None,
    by: By = "person",
    where: str = "log",
) -> Export:
    """Qrels from what stands in a log. Pairs with a grade there have it; all others keep the file's grade.

    People and models are never merged with each other: `by` says whose grades count. Queries and documents are in the
    order of their bytes.
    """
    one_of(merge, get_args(Merge), "merge")
    one_of(by, get_args(By), "by")
    known = {judge for judges in standing.values() for judge in judges}
    if adjudicator is not None and adjudicator not in known:
        hint = f"Judges are: {ids.samples(sorted(known), 10)}."
        raise OptionError(f"no judge is called {adjudicator!r:.80}", hint=hint)
    if onto is not None:
        before = io.as_qrels(onto)
    else:
        before = Qrels({})
    table: dict[str, dict[str, Grade]] = {query: dict(docs) for query, docs in before.text.items()}
    rows: list[list[Cell | str]] = []
    graded: dict[tuple[str, str], tuple[str, ...]] = {}
    people: dict[str, dict[str, Grade]] = {}
    models: dict[str, dict[str, Grade]] = {}
    left_out = 0
    for pair in sorted(standing, key=lambda pair: (ids.encode(pair[0]), ids.encode(pair[1]))):
        query, doc = pair
        chosen = _chosen(standing[pair], by)
        left_out += not chosen and any(stands.grade is not None for stands in standing[pair].values())
        comments = [f"{judge}: {stands.comment}" for judge, stands in sorted(standing[pair].items()) if stands.comment]
        if not chosen:
            continue
        place = f"{where}: query '{ids.show(query)}', document '{ids.show(doc)}'"
        grade = merged_grade(chosen, merge, adjudicator, place)
        old = table.get(query, {}).get(doc)
        table.setdefault(query, {})[doc] = grade
        graded[pair] = tuple(sorted({standing[pair][judge].kind for judge in chosen}))
        if "model" not in graded[pair]:
            people.setdefault(query, {})[doc] = grade
        if by != "person" and (said_by_models := _chosen(standing[pair], "model")):
            models.setdefault(query, {})[doc] = merged_grade(said_by_models, merge, adjudicator, place)
        spread = max(chosen.values()) - min(chosen.values())
        said = ", ".join(f"{judge} {given}" for judge, given in sorted(chosen.items()))
        numbers = [Cell(str(grade), grade), Cell("" if old is None else str(old), old), Cell(str(spread), spread)]
        rows.append([query, doc, *numbers, said, "; ".join(comments)])
    heads = [*Head.names("query", "doc"), *Head.numbers("grade", "file", "spread"), *Head.texts("judges", "comments")]
    by_models = sum("model" in kinds for kinds in graded.values())
    total = sum(map(len, table.values()))
    notes = who_judged(people=len(graded) - by_models, models=by_models, total=total)
    if left_out:
        notes.append(Note.of("judgements-left-out", count=left_out, by=by))
    ordered = {
        query: {doc: table[query][doc] for doc in sorted(table[query], key=ids.encode)}
        for query in sorted(table, key=ids.encode)
    }
    if not ordered:
        what = "there is no grade to export" + (f" {BY[by].removeprefix('grades ')}" if standing else "")
        if left_out:
            way_out = "Grades by models are exported with by='any' or by='model' (--by)."
        else:
            way_out = None
        raise InputError(what, where=where, hint=way_out, code="nothing-to-export")
    if onto is not None:
        name = before.name
    else:
        name = where
    merged = Qrels(ordered, name=name, criteria=before.criteria, real_grades=True)
    merged.notes = (*merged.notes, *notes)
    if by != "person" and models:
        own: dict[str, dict[str, Grade]] = {query: dict(docs) for query, docs in before.text.items()}
        for query, docs in people.items():
            own.setdefault(query, {}).update(docs)
        parts = {"human": own, "model": models}
        merged.judges = {who: Qrels(grades, name=name, real_grades=True) for who, grades in parts.items() if grades}
    return Export(merged, Table(heads, rows), tuple(notes), graded)


def _chosen(judges: Mapping[str, StandingJudgement], by: str) -> dict[str, Grade]:
    people = {judge: said.grade for judge, said in judges.items() if said.kind in PEOPLE and said.grade is not None}
    models = {judge: said.grade for judge, said in judges.items() if said.kind not in PEOPLE and said.grade is not None}
    if by == "any":
        return people or models
    if by == "person":
        return people
    return models
