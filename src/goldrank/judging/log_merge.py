"""The judgements that stand in a log, and one grade for each pair out of those of several judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

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
    "median": "the lower median, which is always a grade that a judge gave",
    "majority": "the grade that most gave; of equally many the lowest",
    "max": "the highest",
    "min": "the lowest",
    "error": "an error where judges differ",
}
BY = {
    "person": "grades by people",
    "model": "grades by models",
    "any": "grades by people; where there are none, by models",
}


@dataclass(frozen=True)
class StandingJudgement:
    """The result of one judge's events on a pair."""

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
        """The result of the events of one judge on one pair, in their order."""
        numbers = set(standing_numbers((event.seq, event.action, event.knew) for event in events))
        state, grade, comment = "open", None, ""
        if any(event.action == "withdraw" for event in events):
            state = "withdrawn"

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
        listed = ", ".join(f"{ids.show(judge)} {grade}" for judge, grade in sorted(grades.items()))
        hint = "Name an adjudicator, or another rule: merge='median'."
        raise StoreError(f"judges differ: {listed}", where=where, hint=hint, code="judges-differ")

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
    """Qrels from the judgements that stand in a log. Pairs without a grade there keep the file's grade.

    People and models are never merged with each other: `by` says whose grades count. Queries and documents are in the
    order of their bytes.
    """
    one_of(merge, get_args(Merge), "merge")
    one_of(by, get_args(By), "by")
    known = {judge for judges in standing.values() for judge in judges}
    if adjudicator is not None and adjudicator not in known:
        hint = f"Judges are: {ids.samples(sorted(known), 10)}."
        raise OptionError(f"no judge is called {adjudicator!r:.80}", hint=hint)

    file, name = Qrels({}), where
    if onto is not None:
        file = io.as_qrels(onto)
        name = file.name
    rules = _MergeRules(merge, adjudicator, by, where)
    merging = _Merging(_copy(file.text))
    for pair in sorted(standing, key=lambda pair: (ids.encode(pair[0]), ids.encode(pair[1]))):
        merging.add(pair, standing[pair], rules)
    if not merging.table:
        raise _nothing_to_export(rules, merging.left_out, bool(standing))

    by_models = sum("model" in kinds for kinds in merging.graded.values())
    total = sum(map(len, merging.table.values()))
    notes = who_judged(people=len(merging.graded) - by_models, models=by_models, total=total)
    if merging.left_out:
        notes.append(Note.of("judgements-left-out", count=merging.left_out, by=by))

    qrels = Qrels(_in_byte_order(merging.table), name=name, criteria=file.criteria, real_grades=True)
    qrels = qrels.with_facts(notes=(*qrels.notes, *notes))
    if by != "person" and merging.models:
        human = _copy(file.text)
        for query, grades in merging.people.items():
            human.setdefault(query, {}).update(grades)
        by_kind = {"human": human, "model": merging.models}
        judges = {kind: Qrels(table, name=name, real_grades=True) for kind, table in by_kind.items() if table}
        qrels = qrels.with_facts(judges=judges)

    columns = [*Head.names("query", "doc"), *Head.numbers("grade", "file", "spread"), *Head.texts("judges", "comments")]
    return Export(qrels, Table(columns, merging.rows), tuple(notes), merging.graded)


class _MergeRules(NamedTuple):
    merge: Merge
    adjudicator: str | None
    by: By
    where: str

    def grade(self, grades: Mapping[str, Grade], pair: tuple[str, str]) -> Grade:
        """One grade out of those of several judges of a pair."""
        query, doc = pair
        where = f"{self.where}: query '{ids.show(query)}', document '{ids.show(doc)}'"
        return merged_grade(grades, self.merge, self.adjudicator, where)


@dataclass
class _Merging:
    """The result of merging, pair by pair."""

    table: dict[str, dict[str, Grade]]
    """All grades: the file's, replaced by those of the log."""
    rows: list[list[Cell | str]] = field(default_factory=list)
    graded: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    people: dict[str, dict[str, Grade]] = field(default_factory=dict)
    models: dict[str, dict[str, Grade]] = field(default_factory=dict)
    left_out: int = 0
    """Pairs that have only grades that do not count."""

    def add(self, pair: tuple[str, str], judges: Mapping[str, StandingJudgement], rules: _MergeRules) -> None:
        """Add a pair, if it has grades that count."""
        counting = _counting(judges, rules.by)
        if not counting:
            self.left_out += any(judgement.grade is not None for judgement in judges.values())
            return

        query, doc = pair
        grade = rules.grade(counting, pair)
        file_grade = self.table.get(query, {}).get(doc)
        self.table.setdefault(query, {})[doc] = grade
        self.graded[pair] = tuple(sorted({judges[judge].kind for judge in counting}))
        if "model" not in self.graded[pair]:
            self.people.setdefault(query, {})[doc] = grade
        if rules.by != "person":
            model_grades = _counting(judges, "model")
            if model_grades:
                self.models.setdefault(query, {})[doc] = rules.grade(model_grades, pair)

        spread = max(counting.values()) - min(counting.values())
        numbers = [Cell(str(grade), grade), _grade_cell(file_grade), Cell(str(spread), spread)]
        listed = ", ".join(f"{judge} {judge_grade}" for judge, judge_grade in sorted(counting.items()))
        comments = [f"{judge}: {judges[judge].comment}" for judge in sorted(judges) if judges[judge].comment]
        self.rows.append([query, doc, *numbers, listed, "; ".join(comments)])


def _grade_cell(grade: Grade | None) -> Cell:
    if grade is None:
        return Cell("", None)
    return Cell(str(grade), grade)


def _copy(table: Mapping[str, Mapping[str, Grade]]) -> dict[str, dict[str, Grade]]:
    return {query: dict(grades) for query, grades in table.items()}


def _in_byte_order(table: Mapping[str, Mapping[str, Grade]]) -> dict[str, dict[str, Grade]]:
    ordered: dict[str, dict[str, Grade]] = {}
    for query in sorted(table, key=ids.encode):
        ordered[query] = {doc: table[query][doc] for doc in sorted(table[query], key=ids.encode)}
    return ordered


def _nothing_to_export(rules: _MergeRules, left_out: int, has_judgements: bool) -> InputError:
    message = "there is no grade to export"
    if has_judgements:
        message += f" {BY[rules.by].removeprefix('grades ')}"
    hint = None
    if left_out:
        hint = "Grades by models are exported with by='any' or by='model' (--by)."
    return InputError(message, where=rules.where, hint=hint, code="nothing-to-export")


def _counting(judges: Mapping[str, StandingJudgement], by: str) -> dict[str, Grade]:
    """The grades that count, by judge."""
    people: dict[str, Grade] = {}
    models: dict[str, Grade] = {}
    for judge, judgement in judges.items():
        if judgement.grade is None:
            continue
        if judgement.kind in PEOPLE:
            people[judge] = judgement.grade
        else:
            models[judge] = judgement.grade

    if by == "any":
        return people or models
    if by == "person":
        return people
    return models
