"""BrowseComp-Plus's recall and citations (evaluate_run.py of the project) from its run files.

Recall counts the set of retrieved documents; every number in any bracket of the answer is a citation, years too.
Files are averaged, so that two runs of a question count twice, and unfinished runs count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank.agents.searches import SearchRecords, check_gold, read_searches, searches_of
from goldrank.base.errors import InputError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.comparison.tabular import attributes
from goldrank.data.scores import Column, Remarks, Scores, numbered
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table

_BRACKETS = re.compile(r"\[([^\[\]]*)\]|【([^【】]*)】")
COMPLETED = "completed"
COLUMNS = {
    "recall": "recall",
    "citation precision": "citation_precision",
    "citation recall": "citation_recall",
}
"""By the name of a column of scores, the field of a file; citations are averaged over answers that cite."""


@dataclass(frozen=True)
class CitedDocuments:
    """The documents that an answer cites."""

    cited: tuple[str, ...]
    relevant: int
    """How many of them are evidence."""
    evidence: int
    """How much evidence there is."""

    @property
    def precision(self) -> float:
        """The share of the citations that are evidence; 0 if nothing is cited."""
        if self.cited:
            return self.relevant / len(self.cited)
        return 0.0

    @property
    def recall(self) -> float:
        """The share of the evidence that is cited."""
        return self.relevant / self.evidence


@dataclass(frozen=True)
class FileScores:
    """One run file."""

    query: str
    recall: float
    retrieved: tuple[str, ...]
    citations: CitedDocuments | None
    """None of an unfinished run."""

    def row(self) -> dict[str, Any]:
        """A flat record; without citations their numbers are None."""
        row: dict[str, Any] = {
            "query": self.query,
            "recall": self.recall,
            "retrieved": len(self.retrieved),
            "cited": None,
            "citation_precision": None,
            "citation_recall": None,
        }

        if self.citations is not None:
            row["cited"] = len(self.citations.cited)
            row["citation_precision"] = self.citations.precision
            row["citation_recall"] = self.citations.recall
        return row


@dataclass(frozen=True, repr=False, eq=False)
class BrowseCompScores(Result):
    """The numbers of BrowseComp-Plus. Made by `browsecomp_scores`."""

    files: tuple[FileScores, ...]
    notes: tuple[Note, ...] = ()
    run: str = "browsecomp-plus"

    @property
    def scores(self) -> Scores:
        """Recall and citations as `Scores`: for `compare`, gates and histories. Further runs of a question have a
        number behind its id, since each file counts.
        """
        rows = self.rows()
        columns = {}
        for name, key in COLUMNS.items():
            values = np.array([row[key] for row in rows], np.float64)
            if name != "recall":
                cites = np.array([bool(row["cited"]) for row in rows])
                values = np.where(cites, values, math.nan)
            if not np.isnan(values).all():
                columns[name] = Column(name, values, float(np.nanmean(values)), "mean")
        queries = tuple(numbered([each.query for each in self.files]))
        return Scores(self.run, queries, columns, Remarks(notes=self.notes), "browsecomp-plus")

    @property
    def recall_percent(self) -> float:
        """Mean recall over files in percent, with two decimals."""
        return round(100 * sum(each.recall for each in self.files) / len(self.files), 2)

    @property
    def citing(self) -> tuple[CitedDocuments, ...]:
        """The citations of answers that cite anything."""
        return tuple(each.citations for each in self.files if each.citations is not None and each.citations.cited)

    @property
    def words(self) -> str:
        """Recall and citations in a sentence."""
        cited = f"{len(self.citing):,} of {len(self.files):,} answers cite something"
        return f"Recall {self.recall_percent:.2f}% of the evidence, by the set of retrieved documents; {cited}."

    def parts(self) -> list[Part]:
        """What people read."""
        rows: list[Cells] = [["recall", Cell(f"{self.recall_percent:.2f}%", self.recall_percent)]]
        for name in ("precision", "recall"):
            values = [getattr(each, name) for each in self.citing]
            if values:
                mean = sum(values) / len(values)
                rows.append([f"{name} of citations, of answers that cite", Cell(f"{mean:.4f}", mean)])
        return [Sentence(self.words), Table([*Head.names("number"), *Head.numbers("mean")], rows)]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each file."""
        return [each.row() for each in self.files]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "format": "goldrank-browsecomp-plus",
            "version": 1,
            **attributes(self, "words recall_percent"),
            "files": self.rows(),
        }


@named_arguments
def browsecomp_scores(runs: SearchRecords, gold: Mapping[str, Iterable[str]]) -> BrowseCompScores:
    """Recall and citations as BrowseComp-Plus counts them.

    Parameters
    ----------
    runs : folder, file or records
        Its run files, one for each question.
    gold : mapping
        By question the ids of the evidence, or qrels; grades are ignored.

    Returns
    -------
    BrowseCompScores

    Raises
    ------
    InputError
        If a question has no evidence, at which the original fails.

    Examples
    --------
    >>> browsecomp_scores([{"query_id": "1", "retrieved_docids": ["10", "11"]}], {"1": ["10", "12"]}).recall_percent
    50.0
    """
    check_gold(of_type(gold, Mapping, "gold", "the evidence, by question"))
    _, records = read_searches(runs)
    if not records:
        raise InputError("there are no run files", hint="Is it the right folder?", code="empty-input")
    return BrowseCompScores(tuple(_scored(record, gold) for record in records))


def _scored(record: Mapping[str, Any], gold: Mapping[str, Iterable[str]]) -> FileScores:
    query = str(record.get("query_id"))
    evidence = [str(doc) for doc in gold.get(query, ())]
    if not evidence:
        raise InputError("has no evidence", where=f"question {query!r}", hint="Is it in the qrels?", code="no-gold")

    retrieved = record.get("retrieved_docids")
    if retrieved is None:
        retrieved = [doc for search in searches_of(record, query) for doc in search.retrieved]

    distinct = tuple(sorted(set(map(str, retrieved))))
    recall = len(set(distinct) & set(evidence)) / len(evidence)
    return FileScores(query, recall, distinct, _citations(record, evidence))


def _citations(record: Mapping[str, Any], evidence: list[str]) -> CitedDocuments | None:
    if record.get("status", COMPLETED) != COMPLETED:
        return None
    answers = [step.get("output") for step in record.get("result", ()) if step.get("type") == "output_text"]
    if answers:
        answer = str(answers[-1])
    else:
        answer = ""

    numbers: set[str] = set()
    for square, lenticular in _BRACKETS.findall(answer):
        numbers.update(re.findall(r"\d+", square or lenticular))
    cited = tuple(sorted(numbers))
    return CitedDocuments(cited, len(set(cited) & set(evidence)), len(evidence))
