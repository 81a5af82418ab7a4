"""Full text search with SQLite (FTS5) over the documents of `goldrank demo`: as a function, and as a program."""

import json
import re
import sqlite3
import sys
import threading

from goldrank import demo

_own = threading.local()  # a connection of SQLite belongs to one thread


def _database():
    if not hasattr(_own, "database"):
        _own.database = sqlite3.connect(":memory:")
        _own.database.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, text, tokenize='porter')")
        _own.database.executemany("INSERT INTO documents VALUES (?, ?)", demo.load()["documents"].items())
    return _own.database


def search(query, k):
    """Ids and scores of the best documents; FTS5's bm25 is lower for better ones."""
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
    rows = "SELECT id, -bm25(documents) FROM documents WHERE documents MATCH ? ORDER BY 2 DESC, id LIMIT ?"
    return _database().execute(rows, (words, k)).fetchall()


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        found = [{"id": doc, "score": score} for doc, score in search(asked["query"], asked["k"])]
        print(json.dumps({"id": asked["id"], "retrieved": found}), flush=True)
