"""README's table of six kinds of users: what each types first, files of their shape, and the number that is right.

The ranking is that of `sources`: q1 gets d2 then d1, of which d1 is relevant. So RR and AP are 1/2, nDCG is 1/log2(3).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import sources

README = Path(__file__).resolve().parents[2] / "README.md"
OBJECTS = (
    "qrels, run = {'q1': {'d1': 1, 'd2': 0}}, {'q1': {'d2': 2.0, 'd1': 1.0}}; grades, scores = [[0, 1]], [[2.0, 1.0]]"
)
"""What users of Python have in memory."""
NUMBERS = {
    "TREC files": ["nDCG@10 0.6309"],
    "a search engine": ["nDCG@10 0.6309"],
    "a RAG pipeline": ["RR 0.5000", "RR 0.5000"],
    "a recommender": ["R@10 1.0000"],
    "a training loop": ["nDCG@10 0.6309"],
    "a notebook": ["RR 0.5000"],
}
"""By kind of user, what the answer to each line has in it, blanks as one."""


def lines() -> dict[str, list[str]]:
    """By kind of user, the lines of the table's third column: commands, and expressions of Python."""
    (table,) = re.findall(r"^\| I have \|.*\n\|[-|]+\n((?:\|.*\n)+)", README.read_text("utf-8"), flags=re.MULTILINE)
    rows = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in table.splitlines()]
    return {row[0]: re.findall(r"`(goldrank.*?)`", row[2]) for row in rows}


def as_python(line: str) -> str:
    """A script that shows the value of a line of Python; empty for a command."""
    return f"import goldrank; {OBJECTS}; print({line})" if line.startswith("goldrank.") else ""


def write(folder: Path) -> None:
    """All files that the lines name."""
    sources.write(folder)
    responses = {"a.json": ["d2", "d1"], "b.json": ["d1", "d2"]}
    for name, ranking in responses.items():
        hits = [{"_index": "i", "_id": doc, "_score": 2.0 - i} for i, doc in enumerate(ranking)]
        (folder / name).write_text(json.dumps({"q1": {**sources.SEARCH, "hits": {"hits": hits}}}))
    item = {
        "question": "who?",
        "retrieved": ["Rome lies in Italy.", "Goethe wrote it."],
        "references": ["Goethe wrote it"],
    }
    (folder / "rag.jsonl").write_text(json.dumps(item) + "\n")
