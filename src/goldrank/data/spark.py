"""A run that stays in Spark: what the door hands to the Spark engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SparkLines:
    """The lines of a run as a Spark DataFrame, classic or Connect.

    Its columns are `query` and `doc` (bytes), `score` (a double), `problem` (what is wrong with the line, a key of
    `PROBLEMS`, or null) and `nothing` (true for a query whose list of results is empty; it stands for no document).
    """

    frame: Any
    name: str
    columns: dict[str, str]
    """The names under which the user knows query, doc and score."""


PROBLEMS = {
    "query": "the query id is missing",
    "doc": "the document id is missing",
    "length": "an id has more than 65,536 bytes",
    "score": "the score is missing",
    "number": "the score is not a number",
    "nan": "the score is NaN",
}
