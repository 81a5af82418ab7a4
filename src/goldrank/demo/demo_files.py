"""The demo's data as files: qrels, a run of each retriever, queries and documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from goldrank import Qrels, Runs, demo
from goldrank.base.writing import new_folder, write_whole


def write_files(path: str, data: Mapping[str, Any], runs: demo.RankingsByRun) -> Path:
    """Write them into a folder, which is made if it is not there."""
    folder = new_folder(path)
    Qrels(data["qrels"]).save(folder / "household.qrels")
    for name, run in Runs(runs).items():
        run.save(folder / f"{name}.run")

    queries = [{"_id": query, **fields} for query, fields in data["queries"].items()]
    _write_lines(folder / "queries.jsonl", queries)
    documents = [_document(doc, text) for doc, text in data["documents"].items()]
    _write_lines(folder / "documents.jsonl", documents)
    return folder


def _document(doc: str, text: str) -> dict[str, str]:
    """A tip as a record: its first sentence is the title, and the others are the text."""
    title = demo.title(text)
    return {"_id": doc, "title": title, "text": text.removeprefix(f"{title}. ")}


def _write_lines(path: Path, records: Iterable[Mapping[str, str]]) -> None:
    """A file of JSON Lines."""
    lines = [f"{json.dumps(record)}\n" for record in records]
    write_whole(path, "".join(lines).encode())
