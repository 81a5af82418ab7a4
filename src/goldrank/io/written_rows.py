"""Runs and qrels as rows, for the formats that have a row for each document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldrank.data.qrels import Qrels
from goldrank.data.run import Run


def header_of(data: Run | Qrels) -> list[str]:
    """The names of the columns: query, doc and score or grade; `judged_by` where a model judged."""
    value = "score" if isinstance(data, Run) else "grade"
    return ["query", "doc", value, *(["judged_by"] if isinstance(data, Qrels) and data.judges else [])]


def rows_of(data: Run | Qrels) -> Iterator[tuple[Any, ...]]:
    """A row for each document of each query; where people and a model judged it, one for each of them."""
    parts: Mapping[str, Run | Qrels] = data.judges if isinstance(data, Qrels) and data.judges else {"": data}
    for who, part in parts.items():
        said = (who,) if who else ()
        for query in part:
            for doc, number in part[query].items():
                yield query, doc, number, *said
