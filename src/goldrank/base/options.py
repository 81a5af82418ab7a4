"""The base class of nouns that are sets of options."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Options:
    """Base of frozen dataclasses that hold options. Their `repr` shows the fields that differ from the default."""

    def changes(self) -> dict[str, Any]:
        """The fields whose values differ from the default."""
        changed = {}
        for field in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, field.name)
            if value != field.default:
                changed[field.name] = value
        return changed

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r:.80}" for name, value in self.changes().items())
        return f"{type(self).__name__}({changed})"
