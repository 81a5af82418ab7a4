"""The base of Axion's metrics: reading items into placements, a name, a threshold, fields, execute and score."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Number
from typing import Any, ClassVar, NamedTuple, TypedDict, Unpack

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, did_you_mean
from goldrank.compat._common import is_number
from goldrank.compat.axion.dataset import DatasetItem, MetricEvaluationResult, NoItem, as_item, listed
from goldrank.data.placements import Placements
from goldrank.engine.lists import place

FAILED = "Metric computation failed: "
"""The first words of Axion's reason for an item that cannot be scored."""
ERROR = "Error executing metric: "
"""The first words of Axion's reason for a metric that failed."""

_MODELS = ("model_name", "llm", "embed_model_name", "embed_model", "llm_provider")
"""Keywords of Axion's base class that choose a language model."""


_JUDGE = "Those that need one take judge=, a function that may ask any."


class MetricOptions(TypedDict, total=False):
    """The options of every metric; see `RetrievalMetric`."""

    name: str | None
    metric_name: str | None
    metric_description: str | None
    threshold: float | None
    required_fields: Sequence[str] | None
    field_mapping: Mapping[str, str] | None
    as_released: bool


def reason_of(error: Exception) -> str:
    """The text of an error, or its class if it has no text."""
    words = ""
    with contextlib.suppress(Exception):  # the `__str__` of an error may fail, too
        words = str(error)
    return words or type(error).__name__


class BadItemError(Exception):
    """Why an item cannot be scored."""


@dataclass(frozen=True)
class Batch:
    """Items as placements, with the reasons of those that cannot be scored, and remarks."""

    rankings: list[list[str]]
    reasons: list[str | None]
    remarks: list[str]
    """Texts to add to explanations; mostly empty."""
    placed: Placements

    @classmethod
    def of(cls, items: Sequence[object], metric: RetrievalMetric) -> Batch:
        """Every item as the metric reads it; an item that cannot be scored is an empty ranking."""
        read = [_read_or_reason(as_item(item), metric) for item in items]
        rankings = [item.ranking for item in read]
        grades = [item.grades for item in read]
        reasons = [item.reason for item in read]
        remarks = [item.remark for item in read]
        return cls(rankings, reasons, remarks, place(rankings, grades))


class _ReadItem(NamedTuple):
    """The ranking and the grades of an item, or the reason why it cannot be scored."""

    ranking: list[str]
    grades: dict[str, float]
    remark: str = ""
    reason: str | None = None


def _read_or_reason(item: DatasetItem | NoItem, metric: RetrievalMetric) -> _ReadItem:
    try:
        return _read(item, metric)
    except BadItemError as error:
        return _ReadItem([], {}, reason=str(error))


def _read(item: DatasetItem | NoItem, metric: RetrievalMetric) -> _ReadItem:
    metric.require_fields(item)
    ranking = [doc for doc, _, _ in _entries(item, "actual_ranking", metric)]
    grades: dict[str, float] = {}
    contradicted = {}
    for doc, entry, where in _entries(item, "expected_reference", metric):
        grade = _grade(entry, where, metric.as_released)
        if grades.get(doc, grade) != grade:
            contradicted[doc] = True
        grades[doc] = grade

    remark = ""
    if contradicted and not metric.as_released:
        remark = f" Judged twice, differently, where the last counts: {ids.samples(contradicted)}."
    return _ReadItem(ranking, grades, remark)


def _entries(
    item: DatasetItem | NoItem, name: str, metric: RetrievalMetric
) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """The id of each entry, the entry, and its position in words, which Axion's messages do not have."""
    try:
        entries = listed(metric.get_field(item, name), name, f"item {item.id!r}")
    except InputError as error:
        raise BadItemError(f"{FAILED}{error.what}") from None

    for number, entry in enumerate(entries or (), 1):
        where = ""
        if not metric.as_released:
            where = f" (entry {number} of item {item.id!r})"
        if "id" not in entry:
            raise BadItemError(f"{FAILED}`{name}` items must be dicts with an 'id' key. Error: 'id'{where}")
        if not _is_id(entry["id"]) and not metric.as_released:  # Axion's code takes None for the text 'None'
            raise BadItemError(f"{FAILED}an 'id' of `{name}` is {entry['id']!r}, which is not an id{where}")
        yield str(entry["id"]), entry, where


def _is_id(value: object) -> bool:
    """Whether a value can be an id: text, a whole number, or an object that stands for one, such as a UUID.

    The text of bytes is not theirs ("b'doc1'"), and that of a function or a bare object is its address.

    >>> _is_id("doc1"), _is_id(1), _is_id(None), _is_id(1.5), _is_id({}), _is_id(b"doc1"), _is_id(print)
    (True, True, False, False, False, False, False)
    """
    if isinstance(value, str):
        return not ids.is_missing(value)
    if isinstance(value, bool | Number | Collection):
        return isinstance(value, Integral) and not isinstance(value, bool)
    if callable(value) or isinstance(value, Iterator) or str(value) == object.__repr__(value):
        return False
    return not ids.is_missing(value)


def _grade(entry: Mapping[str, Any], where: str, as_released: bool) -> float:
    relevance = entry.get("relevance", 1.0)
    try:
        grade = float(relevance)
    except TypeError as error:
        rule = "relevance must be a number"
        if as_released:
            rule = "items must be dicts with an 'id' key"
        raise BadItemError(f"{FAILED}`expected_reference` {rule}. Error: {error}{where}") from None
    except (ValueError, OverflowError) as error:  # the latter for an integer that no float holds
        raise BadItemError(f"{ERROR}{error}{where}") from None

    if not hasattr(relevance, "__float__") and not as_released:  # Axion's code reads text of digits
        message = f"`expected_reference` relevance must be a number. Error: {relevance!r} is text"
        raise BadItemError(f"{FAILED}{message}{where}")
    if not math.isfinite(grade):
        raise BadItemError(f"{FAILED}`expected_reference` relevance is {grade}, not a finite number{where}")
    return grade


def _iterated(value: Any) -> list[Any]:
    """The entries of something, or a list of itself if it has no entries."""
    try:
        return list(value)
    except TypeError:
        return [value]


def _attribute(item: object, name: str) -> Any:
    return getattr(item, str(name), None)


def _checked_mapping(mapping: Any) -> dict[str, str]:
    """Paths by field; raise unless all are fields of items and paths with dots."""
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise OptionError(f"field_mapping is {mapping!r:.60}; it must be a dict of paths", code="wrong-type")
    for field, path in mapping.items():
        if field not in DatasetItem.fields():
            hint = did_you_mean(field, DatasetItem.fields())
            raise OptionError(f"field_mapping: items have no field {field!r}", hint=hint)
        if not isinstance(path, str) or not all(path.split(".")):
            hint = "For example 'additional_output.documents'."
            raise OptionError(f"field_mapping: {field!r} is {path!r}, not a path", hint=hint)
    return dict(mapping)


# `Any`: a field may hold anything.
def first_lacking(required: Iterable[str], item: object, get: Callable[[object, str], Any] = _attribute) -> str | None:
    """The first required field that an item does not have, or that is empty."""
    for name in required:
        value = get(item, name)
        if value is None:
            return name
        if hasattr(value, "__len__") and not len(value):
            return name
    return None


class RetrievalMetric:
    """The base of all metrics: a name, a threshold, and execute / score."""

    key: ClassVar[str]
    default_name: ClassVar[str]
    measures: ClassVar[str]
    """What it measures, in a few words."""
    use_case: ClassVar[str]
    best_for: ClassVar[str]
    key_question: ClassVar[str]
    formula: ClassVar[str]
    group: ClassVar[str] = "quality"
    """The group that it belongs to: coverage or quality."""
    relations: ClassVar[tuple[tuple[str, str], ...]] = ()
    """How it relates to others: words, and the key of the other."""
    scores: ClassVar[str] = "0 to 1"
    """The possible values, in words."""
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    default_k: ClassVar[int | None] = None
    tags: ClassVar[tuple[str, ...]] = ("retrieval", "heuristic")
    default_threshold: ClassVar[float] = 0.5
    required_fields: tuple[str, ...] = ("actual_ranking", "expected_reference")

    def __init__(self, **options: Unpack[MetricOptions]) -> None:
        """Make a metric ready; it keeps nothing between items.

        `name` (or `metric_name`) is the name in results, `metric_description` a description for it. `threshold` is
        the score from which a runner says that an item passed (by default 0.5; 0 counts). `required_fields` adds
        fields that an item must have; without one of them its score is NaN. `field_mapping` says where a field is
        found instead: {"actual_ranking": "additional_output.documents"}, a path with dots. `as_released=True` gives
        the numbers of Axion's released code where they differ from its document (see the package's help).
        """
        self._check_options(options)
        names = [options.get("name"), options.get("metric_name")]
        for name in names:
            if name is not None and not isinstance(name, str):
                raise OptionError(f"name is {name!r:.60}; it must be a text", code="wrong-type")
        self.metric_name = names[0] or names[1] or self.default_name
        self.metric_description = options.get("metric_description")

        self.threshold = self.default_threshold
        threshold = options.get("threshold")
        if threshold is not None:
            if not is_number(threshold):
                raise OptionError(f"threshold is {threshold!r}; it must be a number")
            self.threshold = threshold

        required: Any = options.get("required_fields")
        if required is None:
            required = ()
        if isinstance(required, str | Mapping) or not all(isinstance(name, str) for name in _iterated(required)):
            raise OptionError(f"required_fields is {required!r:.60}; it must be a list of names", code="wrong-type")
        self.required_fields = tuple(dict.fromkeys((*type(self).required_fields, *required)))

        self.field_mapping = _checked_mapping(options.get("field_mapping"))
        self.as_released = bool(options.get("as_released", False))

    def _check_options(self, options: Mapping[str, Any]) -> None:
        for word in options:
            if word in _MODELS:
                message = f"{word} chooses a language model, and goldrank's metrics have none of their own"
                raise OptionError(message, hint=_JUDGE)
            if word not in MetricOptions.__annotations__:
                known = ("k", "main_k", "judge", *MetricOptions.__annotations__)
                raise OptionError(f"{type(self).__name__} has no option {word!r}", hint=did_you_mean(word, known))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.metric_name!r})"

    @property
    def name(self) -> str:
        """Another name of `metric_name`."""
        return self.metric_name

    @property
    def description(self) -> str:
        """The description of the options, or else what it measures."""
        return self.metric_description or self.measures

    @property
    def reading(self) -> tuple[Hashable, ...]:
        """Everything that changes how an item is read."""
        return self.as_released, self.required_fields, tuple(sorted(self.field_mapping.items()))

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        """Everything that changes a result; part of a cache's key."""
        return (type(self).__name__, self.metric_name, *self.reading)

    # `Any`: a field may hold anything, and metrics check what they use.
    def get_field(self, item: object, field_name: str, default: Any = None) -> Any:
        """A field of an item, found as `field_mapping` says."""
        value = item
        for step in self.field_mapping.get(field_name, field_name).split("."):
            if isinstance(value, Mapping):
                value = value.get(step)
            else:
                value = getattr(value, step, None)
            if value is None:
                return default
        return value

    def lacks(self, item: object) -> str | None:
        """The first required field that an item does not have."""
        return first_lacking(self.required_fields, item, self.get_field)

    def require_fields(self, item: DatasetItem | NoItem) -> None:
        """Raise the reason why something is not an item, or lacks a field."""
        if isinstance(item, NoItem):
            raise BadItemError(f"{FAILED}{item.reason}")

        name = self.lacks(item)
        if name:
            mapped = ""
            path = self.field_mapping.get(name)
            if path:
                mapped = f" (looked for at {path!r})"
            raise BadItemError(f"{FAILED}`{name}` field is missing or empty.{mapped}")

    # `Any`: a dictionary of an item's fields is taken too.
    async def execute(self, item: Any, **_: object) -> MetricEvaluationResult:
        """The result of one item. A bad item gives NaN and the reason, never an exception.

        Other keywords (Axion's `callbacks` and `cache`) are taken and left alone.
        """
        return self.score(item)

    def score(self, item: Any) -> MetricEvaluationResult:
        """`execute` without await."""
        return self.score_all([item])[0]

    def score_all(self, items: Sequence[Any]) -> list[MetricEvaluationResult]:
        """The results of many items in one pass."""
        return self.results(Batch.of(items, self))

    def results(self, batch: Batch) -> list[MetricEvaluationResult]:
        """The results of items that are read already."""
        placed = batch.placed
        if not self.as_released:
            placed = batch.placed.per_label

        results = []
        measured = self._measured(batch, placed)
        for reason, remark, result in zip(batch.reasons, batch.remarks, measured, strict=True):
            if reason is not None:
                results.append(self._result(math.nan, reason))
            elif remark:
                results.append(replace(result, explanation=result.explanation + remark))
            else:
                results.append(result)
        return results

    def _result(self, score: float, explanation: str, signals: object = None) -> MetricEvaluationResult:
        return MetricEvaluationResult(self.metric_name, score, explanation, signals)

    def _measured(self, batch: Batch, placed: Placements) -> list[MetricEvaluationResult]:
        raise NotImplementedError
