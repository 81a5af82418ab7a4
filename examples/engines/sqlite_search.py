"""Full text search with SQLite (FTS5) over the documents of `goldrank demo`: as two functions, and as a program."""

import json
import re
import sqlite3
import sys
import threading
from functools import cache

from goldrank import demo

_one_at_a_time = threading.Lock()  # queries come from several threads


@cache
def _database(tokenizer):
    """The documents, indexed with a tokenizer."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(f"CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, text, tokenize='{tokenizer}')")
    rows = [(doc, *text.split(". ", 1)) for doc, text in demo.load()["documents"].items()]
    database.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)
    return database


def _search(query, k, tokenizer, weight_of_titles):
    """Ids, scores and texts of the best documents; FTS5's bm25 is lower for better ones."""
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
    score = f"-bm25(documents, 0, {weight_of_titles}, 1)"
    select = f"SELECT id, {score}, title || '. ' || text FROM documents WHERE documents MATCH ?"
    with _one_at_a_time:
        rows = _database(tokenizer).execute(f"{select} ORDER BY 2 DESC, id LIMIT ?", (words, k)).fetchall()
    return [{"id": doc, "score": points, "text": text} for doc, points, text in rows]


def search(query, k):
    """Words as they are; titles count three times."""
    return _search(query, k, "unicode61", 3)


def search_stems(query, k):
    """Words without their endings; titles count as much as texts."""
    return _search(query, k, "porter", 1)


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"id": asked["id"], "retrieved": search(asked["query"], asked["k"])}), flush=True)
