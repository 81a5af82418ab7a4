"""Tables of measures that load rarely used families when they are needed.

These families are imported when a caller looks up a name that a table does not have, or all its names: importing
them takes a good part of the time of a small evaluation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, ItemsView, Iterator, KeysView, Sequence, ValuesView
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

Value = TypeVar("Value")

_lock = threading.RLock()
_waiting: tuple[str, ...] = ()
_complete: Callable[[], object] = tuple
_is_loading = False


def wait_with(modules: Sequence[str], complete: Callable[[], None]) -> None:
    """Name the families that are imported when they are needed, and what is called when all are imported."""
    global _waiting, _complete
    _waiting, _complete = tuple(modules), complete


@contextmanager
def as_it_is() -> Iterator[None]:
    """Within it nothing is imported: for families that register themselves, in any order of their imports."""
    global _is_loading
    with _lock:
        before, _is_loading = _is_loading, True
        try:
            yield
        finally:
            _is_loading = before


def load() -> None:
    """Import the families that wait; they register themselves. Other threads wait until it is done."""
    global _waiting, _is_loading
    if not _waiting:
        return

    with _lock:
        if _is_loading:
            return  # called by a family that is being imported: it finds what is there
        _is_loading = True
        try:
            for module in _waiting:
                import_module(module)
            _complete()
            _waiting = ()
        finally:
            _is_loading = False


class Names(dict[str, Value]):
    """Values by name."""

    def __missing__(self, name: str) -> Value:
        load()
        if dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if dict.__contains__(self, name):
            return True
        load()
        return dict.__contains__(self, name)

    def get(self, name: str, default: Any = None) -> Any:  # dict.get is overloaded
        if not dict.__contains__(self, name):
            load()
        return dict.get(self, name, default)

    def arrange(self, key: Callable[[str], int]) -> None:
        """Order the names by a number; names with equal numbers stay as they are."""
        ordered = {name: dict.__getitem__(self, name) for name in sorted(dict.keys(self), key=key)}
        self.clear()
        self.update(ordered)

    def copy(self) -> dict[str, Value]:
        load()
        return dict(self)

    def __iter__(self) -> Iterator[str]:
        load()
        return dict.__iter__(self)

    def __len__(self) -> int:
        load()
        return dict.__len__(self)

    def keys(self) -> KeysView[str]:  # type: ignore[override]  # dict's own views cannot be spelled
        load()
        return dict.keys(self)

    def values(self) -> ValuesView[Value]:  # type: ignore[override]
        load()
        return dict.values(self)

    def items(self) -> ItemsView[str, Value]:  # type: ignore[override]
        load()
        return dict.items(self)
