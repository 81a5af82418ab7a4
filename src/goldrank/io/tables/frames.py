"""Data frames of any kind as lazy frames of polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.forking import check_polars
from goldrank.base.packages import needed

with needed("polars"):
    import polars as pl


def to_lazy(frame: Any, name: str) -> pl.LazyFrame:
    """Any data frame as a lazy frame of polars, without a copy where that is possible."""
    check_polars()
    if isinstance(frame, pl.LazyFrame | pl.DataFrame):
        return frame.lazy()

    # Columns of objects may hold anything, and Arrow, polars and the frame's library fail with different errors.
    failures = (Exception, pl.exceptions.PanicException)
    with suppress(*failures):
        if hasattr(frame, "__arrow_c_stream__"):
            return pl.DataFrame(frame).lazy()

    if hasattr(frame, "columns"):
        columns = {str(c): _as_polars_knows(list(frame[c])) for c in frame.columns}
        try:
            return pl.DataFrame(columns, strict=True).lazy()
        except failures as error:
            if isinstance(error, UnicodeEncodeError):
                _check_texts(columns, name)
            raise InputError(f"cannot be read as a table: {first_line(error)}", where=name) from None

    raise InputError(f"{type(frame).__name__} is not a data frame", where=name)


def _as_polars_knows(values: list[Any]) -> list[Any]:
    """Values of a column, in which long doubles, which polars does not know, are doubles."""
    if any(isinstance(value, np.longdouble) for value in values):
        return [float(value) if isinstance(value, np.longdouble) else value for value in values]
    return values


def _check_texts(columns: Mapping[str, Sequence[Any]], name: str) -> None:
    """Raise for the first value that contains half of a surrogate pair."""
    for column, values in columns.items():
        for row, value in enumerate(values, 1):
            if isinstance(value, str):
                ids.check_text(value, f"value of column '{ids.show(column)}'", f"{name}: row {row}")


def first_line(error: BaseException) -> str:
    """The first line of an error of another library; the name of its type if it has no text."""
    if str(error).strip():
        return str(error).strip().splitlines()[0]
    return type(error).__name__
