"""A result as plain text, for terminals, logs and files."""

from __future__ import annotations

from goldrank.data.showing import Result
from goldrank.data.table import few_notes, plain, split_notes
from goldrank.report import WIDTH


def render(result: Result) -> str:
    """Tables, sentences and the first notes; charts are left out."""
    shown_parts, notes = split_notes(result.parts())
    return plain([*shown_parts, *few_notes(notes, "result.notes")], WIDTH) + "\n"
