"""Result files of memory benchmarks at the prompt: what `--convention longmemeval` and the others read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

from goldrank.io.json.whole_records import whole_records
from goldrank.memory.result import MemoryScores
from goldrank.memory.scores import MemoryConvention, memory_scores

if TYPE_CHECKING:
    from goldrank.cli.readers import FileRequest


def read(request: FileRequest) -> list[MemoryScores]:
    """The scores of each file; of MemPalace the first file may be the data set, which has no results."""
    (benchmark,) = (name for name in get_args(MemoryConvention) if name == request.reader)
    gold: Sequence[Mapping[str, Any]] | None = None
    scored = []
    for name, path in request.files:
        records = whole_records(path)
        if benchmark == "mempalace" and gold is None and len(request.files) > 1 and _is_data_set(records):
            gold = records
            continue
        result = memory_scores(records, benchmark, gold=gold)
        scored.append(replace(result, run=name or PurePath(path).stem))
    return scored


def _is_data_set(records: Sequence[Mapping[str, Any]]) -> bool:
    return all("retrieval_results" not in record and "retrieved_ids" not in record for record in records)
