"""Data sets of other libraries as what the readers take: of HuggingFace `datasets` and of `ir_datasets`.

Neither is imported: an object is known by its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank import ids
from goldrank.errors import InputError


def as_table(given: Any, name: str) -> Any:
    """A HuggingFace data set as an Arrow table, an ir_datasets one as its judgements; anything else as it is."""
    if isinstance(given, Mapping) and given and all(is_huggingface(part) for part in given.values()):
        if len(given) != 1:
            listed = ", ".join(ids.show(str(split), 40) for split in given)
            raise InputError(f"has several splits: {listed}", where=name, hint='Give one of them: dataset["test"].')
        given = next(iter(given.values()))
    if is_huggingface(given):
        # Formatted so, a selection or a shuffle of rows is respected; the table behind it knows nothing of them.
        return given.with_format("arrow")[:]
    if name == "qrels" and hasattr(given, "qrels_iter"):
        if callable(getattr(given, "has_qrels", None)) and not given.has_qrels():
            raise InputError("this data set of ir_datasets has no judgements", where=name)
        return given.qrels_iter()
    return given


def is_huggingface(given: Any) -> bool:
    """Whether it is a `datasets.Dataset`, which is held whole; one that is streamed is read as rows."""
    kind = type(given)
    return hasattr(kind, "with_format") and hasattr(kind, "column_names") and hasattr(kind, "__getitem__")
