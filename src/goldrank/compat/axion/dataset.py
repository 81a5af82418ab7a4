"""Items and results of Axion's metrics."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from goldrank.base.errors import InputError, did_you_mean
from goldrank.base.ids import has_no_order
from goldrank.compat._common import has_entries, is_list, rows_of

Entries: TypeAlias = Sequence[str] | Sequence[Mapping[str, Any]]
"""Ids, or dictionaries with an "id" and perhaps a "relevance". `Any`: a wrong value makes a result, not an error."""


_OTHER_FIELDS = (
    *("conversation", "acceptance_criteria", "judgment", "critique", "latency", "trace", "trace_id", "session_id"),
    *("observation_id", "tools_called", "expected_tools", "document_text", "user_tags", "source_timestamp"),
    *("multi_turn_conversation", "single_turn_query", "single_turn_expected_output", "dataset_metadata"),
    "conversation_extraction_strategy",
)
"""Fields of Axion's items that no metric here reads."""


class ItemTypeError(InputError, TypeError):
    """A value that is not a list of items, where a list is needed."""


# `Any`: the value of a field is checked here.
def listed(value: Any, name: str, whose: str) -> list[Mapping[str, Any]] | None:
    """The entries of a ranking or a reference as dictionaries; `name` and `whose` are for the message."""
    if value is None:
        return None

    is_unordered = name == "actual_ranking" and has_no_order(value)
    if is_unordered or not has_entries(value):
        raise InputError(f"{whose}: {name} is a {type(value).__name__}, not a list")

    entries = list(value)
    if all(entry is None or isinstance(entry, str) for entry in entries):
        return [{"id": entry} for entry in entries]  # a metric refuses None as an id

    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            message = f"{whose}: entry {number} of {name} is {entry!r}, not a dictionary"
            raise InputError(message, hint="Give [{'id': 'doc1'}, ...] or a list of ids that are all text.")

    return entries


def other_name(field: str) -> property:
    """A property that is another name of a field."""

    def put(item: object, value: object) -> None:
        setattr(item, field, value)

    return property(attrgetter(field), put, doc=f"Another name of `{field}`.")


class DatasetItem:
    """One query: what was retrieved, best first, and what should have been.

    `actual_ranking` is a list of {"id": ...} or of plain text ids; `expected_reference` is such a list with an
    optional "relevance" (1.0 if left out; relevant means above 0). `actual_reference` and `expected_ranking`
    are other names of the two. `retrieved_content` (the retrieved texts) and `expected_output` (the reference
    answer) are for the metrics that ask a judge. `additional_input`, `additional_output` and `metadata` hold anything
    else; a metric's `field_mapping` can point into them. The other fields of Axion's items (`latency`, `trace_id`, ...)
    are kept.

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
        retrieved_content: Sequence[str] | None = None,
        expected_output: str | None = None,
        actual_output: str | None = None,
        additional_input: Mapping[str, Any] | None = None,
        additional_output: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | str | None = None,
        **others: Any,
    ) -> None:
        if id is None:
            id = str(uuid.uuid4())
        self.id = id
        whose = f"item {self.id!r}"
        self.actual_ranking = _by_either_name(whose, actual_ranking=actual_ranking, actual_reference=actual_reference)
        self.expected_reference = _by_either_name(
            whose, expected_reference=expected_reference, expected_ranking=expected_ranking
        )
        self.query = query
        self.retrieved_content = _texts(retrieved_content, whose)
        self.expected_output = expected_output
        self.actual_output = actual_output
        self.additional_input = _as_dict(additional_input, f"{whose}: additional_input")
        self.additional_output = _as_dict(additional_output, f"{whose}: additional_output")
        self.metadata: str | dict[str, Any]
        if isinstance(metadata, str):
            self.metadata = metadata
        else:
            self.metadata = _as_dict(metadata, f"{whose}: metadata")

        for name, value in others.items():
            if name not in _OTHER_FIELDS:
                raise InputError(f"{whose}: there is no field {name!r}", hint=did_you_mean(name, self.fields()))
            setattr(self, name, value)

    @classmethod
    def fields(cls) -> list[str]:
        """The names of all fields."""
        arguments = [name for name in cls.__init__.__annotations__ if name not in ("others", "return")]
        return [*arguments, *_OTHER_FIELDS]

    actual_reference = other_name("actual_ranking")
    expected_ranking = other_name("expected_reference")

    @property
    def content(self) -> str | None:
        """Everything in the item as text, for a cache's key; None if it holds something that has no exact text."""
        if _is_plain(vars(self)):
            return repr(vars(self))
        return None

    def __repr__(self) -> str:
        return f"DatasetItem(id={self.id!r})"


def _by_either_name(whose: str, **by_name: Entries | None) -> list[Mapping[str, Any]] | None:
    """The entries of a field that has two names; if both are given, they must be equal."""
    field = next(iter(by_name))
    lists = []
    for value in by_name.values():
        entries = listed(value, field, whose)
        if entries is not None:
            lists.append(entries)
    if len(lists) > 1 and lists[0] != lists[1]:
        message = f"{whose}: {' and '.join(by_name)} are one field, and they differ"
        raise InputError(message, hint="Give one.", code="fields-differ")
    if lists:
        return lists[0]
    return None


def _texts(texts: Any, whose: str) -> list[str]:
    """A list of texts; one text may be there without a list, as in Axion."""
    if texts is None:
        return []
    if isinstance(texts, str):
        return [texts]
    if not is_list(texts):
        raise InputError(f"{whose}: retrieved_content is a {type(texts).__name__}, not a list")
    return list(texts)


def _as_dict(value: object, noun: str) -> dict[str, Any]:
    """A copy of a dictionary; empty for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{noun} is {value!r:.60}, not a dict", code="wrong-type")
    return dict(value)


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)


@dataclass(frozen=True)
class NoItem:
    """A value that is not an item, and why."""

    value: Any
    """`Any`: it is anything but an item."""
    reason: str

    @property
    def id(self) -> str | None:
        """Its id, if it has one."""
        if isinstance(self.value, Mapping):
            return self.value.get("id")
        return getattr(self.value, "id", None)


# `Any` in both: the source may be anything; what is not an item is kept, with the reason.
def as_item(source: Any) -> DatasetItem | NoItem:
    """An item, or the dictionary of its fields, as an item."""
    if isinstance(source, DatasetItem | NoItem):
        return source
    if not isinstance(source, Mapping):
        return NoItem(source, f"a {type(source).__name__} is not a DatasetItem")
    try:
        return DatasetItem(**source)
    except InputError as error:
        why = error.what
        if error.hint:
            why += f". {error.hint}"
    except (TypeError, ValueError) as error:
        why = str(error)
    return NoItem(source, f"a {type(source).__name__} that makes no DatasetItem: {why}")


def as_items(source: Any) -> list[DatasetItem | NoItem]:
    """Items from a list of items or dictionaries, or from a data frame."""
    rows = rows_of(source)
    is_scalar = isinstance(rows, np.ndarray) and not rows.ndim
    if is_scalar or isinstance(rows, str | bytes | Mapping | DatasetItem) or not isinstance(rows, Iterable):
        expected = "Expected one of: Dataset, List[DatasetItem], or pandas.DataFrame."
        raise ItemTypeError(f"Invalid input type '{type(source).__name__}'. {expected}")
    return [as_item(row) for row in rows]


@dataclass(frozen=True)
class KDetail:
    """The values of a metric at one k; None where it does not count that."""

    score: float
    hits_in_top_k: int | None = None
    total_retrieved_at_k: int | None = None
    total_relevant: int | None = None
    dcg: float | None = None
    idcg: float | None = None
    is_hit: bool | None = None


@dataclass(frozen=True)
class MultiKResult:
    """The values of a metric at every k."""

    k_values: list[int]
    results_by_k: dict[int, KDetail]
    overall_score: float
    main_k_used: int


@dataclass(frozen=True)
class MeanReciprocalRankResult:
    """The rank of the first relevant document; None if there is no relevant one."""

    rank_of_first_relevant: int | None
    score: float


@dataclass(frozen=True)
class JudgedChunk:
    """A text that a judge was asked about, and the number that its answer means."""

    chunk_text: str
    verdict: float
    is_useful: bool


@dataclass(frozen=True)
class JudgedResult:
    """The answers of a judge for an item's texts (or for the sentences of its expected output)."""

    overall_score: float
    total_chunks: int
    useful_chunks: int
    first_useful_position: int | None
    judged_chunks: list[JudgedChunk]


@dataclass(frozen=True)
class MetricEvaluationResult:
    """One metric's answer for one item. A bad item has score NaN, no signals, and the reason as explanation."""

    metric_name: str
    score: float
    explanation: str
    signals: Any = None
    """`Any`: every metric has another type."""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MetricScore(MetricEvaluationResult):
    """A result of a runner: also whether it passed its threshold (None if there is no score)."""

    threshold: float | None = None
    passed: bool | None = None
    item_id: str | None = None
    summary_key: str = ""
    """Where the runner's `summary` has this metric: its name, with k or a number if another has the same."""

    @property
    def name(self) -> str:
        """Another name of `metric_name`."""
        return self.metric_name


@dataclass(frozen=True)
class TestResult:
    """All scores of one item."""

    __test__ = False
    test_case: Any
    """`Any`: the input, also if it is not an item."""
    score_results: list[MetricScore]
    metadata: dict[str, Any] = field(default_factory=dict)
    """`skipped`: the metrics that were left out because the item lacks their fields, if the runner does so."""
