"""What Axion's metrics take and return: items and results."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from goldrank.errors import InputError
from goldrank.ids import has_no_order

Entries: TypeAlias = Sequence[str] | Sequence[Mapping[str, Any]]
"""Ids, or dictionaries with an "id" and perhaps a "relevance". `Any`: a wrong value makes a result, not an error."""


class ItemTypeError(InputError, TypeError):
    """Something that is no list of items where one is needed."""


class DatasetItem:
    """One query: what was retrieved, best first, and what should have been.

    `actual_ranking` is a list of {"id": ...} or of plain text ids; `expected_reference` the same with an
    optional "relevance" (1.0 if left out; relevant means above 0). `actual_reference` and `expected_ranking`
    are other names of the two. `retrieved_content` (the retrieved texts) and `expected_output` (the reference
    answer) are for the metrics that ask a judge.

    >>> DatasetItem(actual_ranking=["a", "b"], expected_reference=["b"]).actual_ranking
    [{'id': 'a'}, {'id': 'b'}]
    """

    def __init__(
        self,
        id: str | None = None,
        *,
        actual_ranking: Entries | None = None,
        expected_reference: Entries | None = None,
        actual_reference: Entries | None = None,
        expected_ranking: Entries | None = None,
        query: str | None = None,
        retrieved_content: Sequence[str] = (),
        expected_output: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = str(uuid.uuid4()) if id is None else id
        retrieved = actual_ranking if actual_ranking is not None else actual_reference
        expected = expected_reference if expected_reference is not None else expected_ranking
        self.actual_ranking = self._listed(retrieved, "actual_ranking")
        self.expected_reference = self._listed(expected, "expected_reference")
        self.query = query
        self.retrieved_content = list(retrieved_content)
        self.expected_output = expected_output
        self.metadata = dict(metadata or {})

    def _listed(self, given: object, name: str) -> list[Mapping[str, Any]] | None:
        if given is None:
            return None
        is_unordered = name == "actual_ranking" and has_no_order(given)
        if is_unordered or isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputError(f"item {self.id!r}: {name} is a {type(given).__name__}, not a list")
        entries = list(given)
        if entries and all(isinstance(entry, str) for entry in entries):
            return [{"id": entry} for entry in entries]
        for at, entry in enumerate(entries, 1):
            if not isinstance(entry, Mapping):
                raise InputError(
                    f"item {self.id!r}: entry {at} of {name} is {entry!r}, not a dictionary",
                    hint="Give [{'id': 'doc1'}, ...] or a list of ids that are all text.",
                )
        return entries

    @property
    def actual_reference(self) -> list[Mapping[str, Any]] | None:
        """Another name of `actual_ranking`."""
        return self.actual_ranking

    @property
    def expected_ranking(self) -> list[Mapping[str, Any]] | None:
        """Another name of `expected_reference`."""
        return self.expected_reference

    def __repr__(self) -> str:
        return f"DatasetItem(id={self.id!r})"


# `Any`: rows may be anything, and those that do not make an item are left to the metrics; pandas is not imported here.
def as_items(given: Any) -> list[Any]:
    """Items from a list of items or dictionaries, or from a data frame."""
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ItemTypeError(
            f"Invalid input type '{type(given).__name__}'. "
            "Expected one of: Dataset, List[DatasetItem], or pandas.DataFrame."
        )
    items: list[Any] = []
    for item in given:
        if isinstance(item, Mapping):
            # What does not make an item stays as it is, and every metric says of it that it is none.
            with contextlib.suppress(TypeError, InputError):
                item = DatasetItem(**item)
        items.append(item)
    return items


@dataclass(frozen=True)
class KDetail:
    """What a metric found at one k; None where it does not count that."""

    score: float
    hits_in_top_k: int | None = None
    total_retrieved_at_k: int | None = None
    total_relevant: int | None = None
    dcg: float | None = None
    idcg: float | None = None
    is_hit: bool | None = None


@dataclass(frozen=True)
class MultiKResult:
    """What a metric found at every k."""

    k_values: list[int]
    results_by_k: dict[int, KDetail]
    overall_score: float
    main_k_used: int


@dataclass(frozen=True)
class MeanReciprocalRankResult:
    """Where the first relevant document stands; None if there is none."""

    rank_of_first_relevant: int | None
    score: float


@dataclass(frozen=True)
class MetricEvaluationResult:
    """One metric's answer for one item. A bad item has score NaN, no signals, and the reason as explanation."""

    metric_name: str
    score: float
    explanation: str
    signals: Any = None
    """`Any`: every metric has a type of its own."""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MetricScore(MetricEvaluationResult):
    """A result of a runner: also whether it passed its threshold (None if there is no score)."""

    threshold: float | None = None
    passed: bool | None = None
    item_id: str | None = None

    @property
    def name(self) -> str:
        """Another name of `metric_name`."""
        return self.metric_name


@dataclass(frozen=True)
class TestResult:
    """All scores of one item."""

    __test__ = False
    test_case: Any
    """`Any`: what was given, also if it is no item."""
    score_results: list[MetricScore]
    metadata: dict[str, Any] = field(default_factory=dict)
