"""Something for each measure of `Scores`, found by any spelling of the measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Value = TypeVar("Value")


class ByMeasure(dict[str, Value]):
    """A dict by full spelling; other spellings are looked up as `spelled` says. Copies are plain dicts."""

    def __init__(self, items: Iterable[tuple[str, Value]], spelled: Callable[[object], str]) -> None:
        super().__init__(items)
        self._spelled = spelled

    def __missing__(self, measure: object) -> Value:
        return self[self._spelled(measure)]

    def __reduce__(self) -> tuple[type[dict[str, Value]], tuple[dict[str, Value]]]:
        return dict, (dict(self),)
