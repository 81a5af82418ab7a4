"""Result files of memory benchmarks in, the numbers of their scripts out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from goldrank.base import types
from goldrank.base.errors import InputError, cannot_open, one_of
from goldrank.base.keywords import named_arguments
from goldrank.memory.result import MemoryScores

MemoryConvention: TypeAlias = Literal["longmemeval", "locomo", "mempalace", "memorybench"]

CONVENTIONS: dict[MemoryConvention, str] = {
    "longmemeval": "retrieval logs of LongMemEval, averages of run_retrieval",
    "locomo": "result files of LoCoMo: recall of evidence",
    "mempalace": "MemPalace's results of LongMemEval and LoCoMo",
    "memorybench": "reports of memorybench",
}
"""Whose files are read and whose arithmetic is done."""

MemorySource: TypeAlias = types.Path | Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""A file with JSON or JSON lines, or its content."""


@named_arguments
def memory_scores(
    source: MemorySource, benchmark: MemoryConvention, *, gold: MemorySource | None = None
) -> MemoryScores:
    """The numbers of a memory benchmark, from its own result file, as its own script makes them.

    Parameters
    ----------
    source : file, record or records
        JSON, or JSON lines with any ending, as the benchmark writes it.
    benchmark : str
        "longmemeval", "locomo", "mempalace" or "memorybench".
    gold : file or records, optional
        For MemPalace: the data set, which says which sessions hold the answers.

    Returns
    -------
    MemoryScores

    Raises
    ------
    InputError
        If the file cannot be read, or is of another benchmark.

    Examples
    --------
    >>> qa = [{"evidence": ["D1:3", "D2:8"], "category": 1, "m_prediction_context": ["D1:3", "D4:1", "D9:9"]}]
    >>> memory_scores({"qa": qa}, "locomo").mean
    {'recall': 0.5}
    """
    one_of(benchmark, CONVENTIONS, "benchmark")
    records = _records(source)
    if not records:
        raise InputError("there are no records", hint="Is it the right file, and is it complete?", code="empty-input")

    gold_records = None
    if gold is not None:
        gold_records = _records(gold)

    count: Callable[..., MemoryScores] = import_module(f"goldrank.memory.{benchmark}").scores
    return count(records, gold_records)


def _records(source: MemorySource) -> Sequence[Mapping[str, Any]]:
    """The records of a file or of its content; a single record becomes a list with it."""
    content: Any = source
    name = "records"
    if not isinstance(source, Mapping | list | tuple | str | os.PathLike):
        raise InputError("is neither a file nor records", where=name, hint="Give a path, or a list of records.")

    if isinstance(source, str | os.PathLike):
        name = str(source)
        content = _parsed(Path(str(source)))

    if isinstance(content, Mapping):
        content = [content]

    for number, record in enumerate(content, 1):
        if not isinstance(record, Mapping):
            raise InputError(f"record {number} is not an object", where=name, hint="Each record is a JSON object.")

    return list(content)


def _parsed(path: Path) -> Any:
    """JSON, or JSON lines, by the content and not by the ending of the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise cannot_open(error, str(path)) from None

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass

    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InputError(f"is not JSON: {error}", where=f"{path}:{number}", code="bad-json") from None

    return records
