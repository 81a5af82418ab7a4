"""A run that stays in Spark: what the door hands to the Spark engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from goldrank.errors import InputError


@dataclass(frozen=True)
class SparkLines:
    """The lines of a run as a Spark DataFrame, classic or Connect.

    Its columns are `query` and `doc` (bytes), `score` (a double), `problem` (what is wrong with the line, a key of
    `PROBLEMS`, or null) and `nothing` (true for a query whose list of results is empty; it stands for no document).
    """

    engine: ClassVar[str] = "spark"

    frame: Any
    name: str
    columns: dict[str, str]
    """The names under which the user knows query, doc and score."""

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Rankings in Spark stay there."""
        raise InputError(
            "the run is in Spark and cannot be looked into",
            where=self.name,
            hint="goldrank.evaluate takes it as it is. For anything else bring it here: run.toArrow().",
        )

    def digest(self) -> None:
        """There is none: it would take a pass over all lines."""


PROBLEMS = {
    "query": "the query id is missing",
    "doc": "the document id is missing",
    "length": "an id has more than 65,536 bytes",
    "score": "the score is missing",
    "number": "the score is not a number",
    "nan": "the score is NaN",
}
