"""Axion's registry of metrics: by key, by tag, by the fields of an item, and all of them in a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goldrank.base.errors import OptionError, did_you_mean
from goldrank.compat.axion.base import RetrievalMetric
from goldrank.compat.axion.dataset import as_item
from goldrank.compat.axion.metrics import METRICS

_SHOWN = (
    *("measures", "use_case", "best_for", "key_question", "formula", "scores", "group", "relations"),
    *("score_range", "default_k", "tags", "required_fields"),
)


class MetricRegistry:
    """Metrics by key and by tag."""

    def __init__(self, classes: Iterable[type[RetrievalMetric]]) -> None:
        self._classes = {metric.key: metric for metric in classes}

    def get(self, key: str) -> type[RetrievalMetric]:
        """The class of a key such as 'ndcg_at_k'."""
        if not isinstance(key, str) or key not in self._classes:
            known = ", ".join(self._classes)
            hint = did_you_mean(str(key), self._classes)
            raise OptionError(f"unknown metric {key!r:.60}; there are: {known}", hint=hint)
        return self._classes[key]

    def find(self, tag: str) -> list[type[RetrievalMetric]]:
        """The classes with a tag in any case: 'retrieval', 'heuristic', 'multi-k' or 'judged'."""
        if not isinstance(tag, str):
            raise OptionError(f"tag is {tag!r:.60}; it must be a text", code="wrong-type")
        return [metric for metric in self._classes.values() if tag.casefold() in metric.tags]

    # `Any`: an item, or the dictionary of its fields.
    def compatible(self, item: Any) -> list[type[RetrievalMetric]]:
        """The classes whose required fields an item has."""
        case = as_item(item)
        metrics = []
        for metric in self._classes.values():
            if all(getattr(case, name, None) for name in metric.required_fields):
                metrics.append(metric)
        return metrics

    get_compatible_metrics = compatible

    def describe(self) -> list[dict[str, object]]:
        """A row for every metric.

        What it measures, its use case, what it is best for and the question that it answers; its formula and
        values; its group ("coverage" or "quality") and how it relates to others (words, and the other's key).

        >>> [row["measures"] for row in registry.describe() if row["key"] == "recall_at_k"]
        ['Fraction of relevant docs in top K']
        """
        rows = []
        for key, metric in self._classes.items():
            rows.append({"key": key, "name": metric.default_name, **{name: getattr(metric, name) for name in _SHOWN}})
        return rows


registry = MetricRegistry(METRICS)
