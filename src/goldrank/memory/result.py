"""The result of a memory benchmark: values of questions and the averages of a script."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.notes import Note
from goldrank.comparison.tabular import attributes
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count, note_sentences

Values = Mapping[str, float]
"""Values by the names that the benchmark gives them."""
LOW_IS_GOOD = ("search seconds",)
SHOWN = ("recall_any@5", "recall_all@5", "ndcg_any@5", "recall_any@10", "recall_all@10", "ndcg_any@10")
"""The values that a sentence names if there are many."""


@dataclass(frozen=True, repr=False, eq=False)
class MemoryScores(Result):
    """The numbers of a memory benchmark as its own script makes them. Made by `memory_scores`."""

    convention: str
    per_question: Mapping[str, Values]
    """Every question of the file, with its values."""
    mean: Values
    """The averages of the benchmark's script."""
    groups: Mapping[str, Values] = field(default_factory=dict)
    """Averages of groups of questions, such as LoCoMo's categories."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By reason, the questions that are not in the averages."""
    notes: tuple[Note, ...] = ()
    run: str = ""
    """The name of the file."""
    averaged: Mapping[str, Values] = field(default_factory=dict)
    """Values that count in the averages in place of a question's own, where these differ."""

    @property
    def scores(self) -> Scores:
        """The values as `Scores`: for `compare`, gates and histories. A question that is left out has no value."""
        absent = {question for questions in self.left_out.values() for question in questions}
        columns = {}
        for name, mean in self.mean.items():
            values = []
            for question in self.per_question:
                value = self.averaged.get(question, self.per_question[question]).get(name, math.nan)
                if question in absent:
                    value = math.nan
                values.append(value)
            columns[name] = Column(name, np.array(values, np.float64), mean, "mean", name not in LOW_IS_GOOD)

        remarks = Remarks(notes=self.notes)
        return Scores(self.run, tuple(self.per_question), columns, remarks, self.convention)

    def __getitem__(self, name: str) -> float:
        return self.mean[name]

    @property
    def words(self) -> str:
        """Some of the averages in a sentence."""
        named = [name for name in self.mean if name.rpartition(" ")[2] in SHOWN] or list(self.mean)
        shown = ", ".join(f"{name} {self.mean[name]:.4f}" for name in named[:6])
        return f"As {self.convention} counts, {count(len(self.per_question), 'question')}: {shown}."

    def parts(self) -> list[Part]:
        """What people read: averages, groups, what was left out."""
        shown: list[Part] = [Sentence(self.words)]
        rows: list[Cells] = [[name, value] for name, value in self.mean.items()]
        shown.append(Table([*Head.names("number"), *Head.numbers("mean")], rows, f"Averages as {self.convention}"))
        if self.groups:
            names = list(next(iter(self.groups.values())))
            by_group: list[Cells] = []
            for group, values in self.groups.items():
                by_group.append([group, *(Cell(f"{values[name]:.3f}", values[name]) for name in names)])
            shown.append(Table([*Head.names("group"), *Head.numbers(*names)], by_group, "Groups"))

        for reason, questions in self.left_out.items():
            listed = ids.samples(questions)
            shown.append(Sentence(f"Not in the averages, {reason}: {len(questions):,} ({listed}).", "remark"))

        return [*shown, *note_sentences(self.notes)]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each question."""
        names = dict.fromkeys(name for values in self.per_question.values() for name in values)
        rows = []
        for question, values in self.per_question.items():
            rows.append({"question": question, **{name: values.get(name) for name in names}})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        groups = {group: dict(values) for group, values in self.groups.items()}
        left_out = {reason: list(questions) for reason, questions in self.left_out.items()}

        return {
            "format": "goldrank-memory-scores",
            "version": 1,
            **attributes(self, "convention words"),
            "mean": dict(self.mean),
            "groups": groups,
            "left_out": left_out,
            "questions": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }


def means(rows: Iterable[Values]) -> dict[str, float]:
    """Plain means of all values, by their names."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in columns.items()}
