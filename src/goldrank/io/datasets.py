"""Data sets of other libraries as what the readers take: of HuggingFace `datasets` and of `ir_datasets`.

Neither is imported: an object is known by its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from goldrank import ids
from goldrank.errors import InputError


def as_table(given: Any, name: str) -> Any:
    """A HuggingFace data set as an Arrow table, an ir_datasets one as its judgements; anything else as it is."""
    if isinstance(given, Mapping) and given and all(map(_is_huggingface, given.values())):
        if len(given) != 1:
            listed = ", ".join(ids.show(str(split), 40) for split in given)
            raise InputError(f"has several splits: {listed}", where=name, hint='Give one of them: dataset["test"].')
        given = next(iter(given.values()))
    if _is_huggingface(given) and hasattr(type(given), "set_epoch"):
        return given.with_format(None)  # streamed: read as rows, whatever form they were asked for in
    if _is_huggingface(given):
        # Formatted so, a selection or a shuffle of rows is respected; the table behind it knows nothing of them.
        return given.with_format("arrow")[:]
    # Frames of Spark Connect have an attribute, a column, of every name: only what can be called is a method.
    if name == "qrels" and callable(getattr(given, "has_qrels", None)) and not given.has_qrels():
        raise InputError("this data set of ir_datasets has no judgements", where=name)
    if name == "qrels" and callable(getattr(given, "qrels_iter", None)):
        return given.qrels_iter()
    return given


def _is_huggingface(given: Any) -> bool:
    """Whether it is a `datasets.Dataset`, which is held whole, or a `datasets.IterableDataset`, which is streamed."""
    kind: Any = type(given)
    return _of_huggingface(kind)


@lru_cache(64)  # whoever evaluates in a loop gives objects of the same few classes each time
def _of_huggingface(kind: type) -> bool:
    return hasattr(kind, "with_format") and hasattr(kind, "column_names")
