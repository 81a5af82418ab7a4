"""Data of six kinds of users as they have it: made by a seed, with the mess of real exports, and no help from the docs.

Each function writes files below a folder and knows nothing of goldrank. `Mess` says which untidy habits the files have,
so that a trial may draw them by lot. `truth` of what is returned has numbers that the generator counted itself.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Mess:
    """Untidy habits of a file."""

    mark: bool = False
    """A byte order mark, as Excel writes it."""
    windows: bool = False
    """Lines end with CR and LF."""
    semicolons: bool = False
    """Columns of a CSV are separated by semicolons."""
    index: bool = False
    """A first column without a name, as pandas writes its index."""
    floats: bool = False
    """Whole numbers as ids are written as 12.0, as pandas does beside empty cells."""
    gaps: float = 0.0
    """The share of cells of ratings that are empty."""
    packed: bool = False
    """gzip."""

    @classmethod
    def by_lot(cls, seed: int) -> Mess:
        rng = random.Random(seed)
        return cls(
            mark=rng.random() < 0.5,
            windows=rng.random() < 0.5,
            semicolons=rng.random() < 0.5,
            index=rng.random() < 0.5,
            floats=rng.random() < 0.3,
            gaps=rng.choice([0.0, 0.05]),
            packed=rng.random() < 0.5,
        )


@dataclass(frozen=True)
class Files:
    """What a user has in a folder, and what the generator counted."""

    folder: Path
    names: dict[str, str]
    truth: dict[str, float]


def write_text(path: Path, text: str, mess: Mess) -> str:
    """Write a text with the habits of `mess`, and return the file's name."""
    if mess.windows:
        text = text.replace("\n", "\r\n")
    data = text.encode("utf-8-sig" if mess.mark else "utf-8")
    if mess.packed:
        path = path.with_name(path.name + ".gz")
        data = gzip.compress(data)
    path.write_bytes(data)
    return path.name


def write_rows(path: Path, heads: list[str], rows: list[list[Any]], mess: Mess) -> str:
    """Write a CSV with the habits of `mess`, and return the file's name."""
    if mess.index:
        heads = ["", *heads]
        rows = [[number, *row] for number, row in enumerate(rows)]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";" if mess.semicolons else ",", lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return write_text(path, out.getvalue(), mess)


def recall(relevant: dict[Any, set[Any]], lists: dict[Any, list[Any]], k: int) -> float:
    """The mean over all who have something relevant."""
    shares = [len(items & set(lists.get(who, [])[:k])) / len(items) for who, items in relevant.items() if items]
    return sum(shares) / len(shares)


# TREC


def trec(folder: Path, seed: int, mess: Mess) -> Files:
    """Judgements with tabs and spaces, ties, negative grades, unjudged documents; the second run lacks queries."""
    rng = random.Random(seed)
    topics = [f"{seed % 90 + 10}-{number}" for number in range(1, 41)]
    judged = {
        topic: {f"WSJ{rng.randint(1, 10**6):07}": rng.choice([-1, 0, 0, 0, 1, 2]) for _ in range(30)}
        for topic in topics
    }
    for grades in judged.values():
        grades[f"FT{rng.randint(1, 10**6):07}"] = 1
    lines = [f"{topic}\t0  {doc} {grade} " for topic, grades in judged.items() for doc, grade in grades.items()]
    names = {"qrels": write_text(folder / "qrels.trec8.adhoc", "\n".join(lines) + "\n\n", mess)}

    lists: dict[str, dict[str, list[str]]] = {}
    for run, skill in (("bm25", 1.0), ("colbert", 2.0)):
        rows = []
        lists[run] = {}
        for topic in topics if run == "bm25" else topics[:-2]:
            docs = [*judged[topic], *(f"LA{rng.randint(1, 10**6):07}" for _ in range(20))]
            scores = {doc: round(rng.gauss(skill * max(0, judged[topic].get(doc, 0)), 1.0), 2) for doc in docs}
            ranked = sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)
            lists[run][topic] = ranked
            rows += [f"{topic} Q0 {doc} {rank} {scores[doc]} {run}-v2" for rank, doc in enumerate(ranked, 1)]
        rng.shuffle(rows)
        names[run] = write_text(folder / f"input.{run}", "\n".join(rows) + "\n", mess)
    relevant = {topic: {doc for doc, grade in grades.items() if grade >= 1} for topic, grades in judged.items()}
    return Files(folder, names, {run: recall(relevant, lists[run], 10) for run in lists})


# A search engine

WORDS = [
    "Kühlschrank",
    "lamp, led",
    'tv 55"',
    "sofa",
    "rug 80x150",
    "café table",
    "O'Brien shelf",
    "Øl",
    "desk & chair",
    "bed",
]


def search(folder: Path, seed: int, mess: Mess) -> Files:
    """A spreadsheet of ratings by words, and a folder of responses for each of two versions, named by slugs."""
    rng = random.Random(seed)
    queries = [f"{word} {tail}".strip() for word in WORDS for tail in ("", "cheap", "white")]
    rated = {
        query: {str(rng.randint(10**5, 10**6)): rng.choice([0, 0, 1, 2, 3]) for _ in range(12)} for query in queries
    }
    for grades in rated.values():
        grades[str(rng.randint(10**6, 10**7))] = 3
    rows = [
        [query, sku, grade, rng.choice(["", "ok", "see ticket"])]
        for query, grades in rated.items()
        for sku, grade in grades.items()
    ]
    names = {
        "ratings": write_rows(
            folder / "ratings_export.csv", ["Search term", "SKU", "Rating (0-3)", "Comment"], rows, mess
        )
    }
    names["queries"] = write_text(folder / "queries.txt", "\n".join(queries) + "\n", Mess(windows=mess.windows))

    lists: dict[str, dict[str, list[str]]] = {}
    for version, skill in (("prod", 0.6), ("candidate", 1.2)):
        lists[version] = {}
        responses = []
        for query in queries:
            skus = [*rated[query], *(str(rng.randint(10**7, 10**8)) for _ in range(6))]
            scores = {sku: rng.gauss(skill * rated[query].get(sku, 0), 1.0) for sku in skus}
            ranked = sorted(scores, key=lambda sku: -scores[sku])[:10]
            lists[version][query] = ranked
            hits = [
                {"_index": "shop", "_id": sku, "_score": round(scores[sku] + 20, 4), "_source": {"title": "x"}}
                for sku in ranked
            ]
            responses.append(
                {"took": 3, "timed_out": False, "hits": {"total": {"value": 18, "relation": "eq"}, "hits": hits}}
            )
        text = "\n".join(json.dumps(response) for response in responses) + "\n"
        names[version] = write_text(folder / f"{version}.jsonl", text, Mess(windows=mess.windows, packed=mess.packed))
    relevant = {query: {sku for sku, grade in grades.items() if grade >= 1} for query, grades in rated.items()}
    return Files(folder, names, {version: recall(relevant, lists[version], 10) for version in lists})


# RAG


def rag(folder: Path, seed: int, mess: Mess) -> Files:
    """Questions with gold chunks by id and by text, from two pipelines, with fields that a team called so itself."""
    rng = random.Random(seed)
    words = [
        f"{first}{second}"
        for first in ("ro", "ka", "li", "mun", "te", "sol")
        for second in ("ta", "ner", "vik", "du", "pa")
    ]
    chunks = {
        f"handbook.pdf#p{page}-{part}": " ".join(rng.choices(words, k=40)) + "."
        for page in range(1, 40)
        for part in (1, 2, 3)
    }
    ids = list(chunks)
    names: dict[str, str] = {}
    lists: dict[str, dict[str, list[str]]] = {}
    gold = {f"What is rule {number}?": rng.sample(ids, rng.choice([1, 1, 2])) for number in range(40)}
    for pipeline, skill in (("naive", 0.4), ("hybrid", 0.8)):
        by_id, by_text = [], []
        lists[pipeline] = {}
        for number, (question, needed) in enumerate(gold.items()):
            hits = [chunk for chunk in needed if rng.random() < skill]
            others = [chunk for chunk in rng.sample(ids, 5) if chunk not in hits]
            retrieved = (hits + others)[:5]
            rng.shuffle(retrieved)
            if number == 7:
                retrieved = []
            lists[pipeline][question] = retrieved
            base = {"q": question, "answer": "so", "latency_ms": rng.randint(10, 900)}
            by_id.append({**base, "chunk_ids": retrieved, "gold_ids": needed if number % 3 else needed[:1]})
            quotes = [chunks[chunk][5:120] for chunk in needed]
            by_text.append({**base, "contexts": [chunks[chunk] for chunk in retrieved], "gold": quotes})
        names[f"{pipeline}_ids"] = write_text(
            folder / f"{pipeline}_ids.jsonl", "".join(json.dumps(row) + "\n" for row in by_id), mess
        )
        names[f"{pipeline}_texts"] = write_text(folder / f"{pipeline}_texts.json", json.dumps(by_text, indent=1), mess)
    relevant = {
        question: set(needed if number % 3 else needed[:1]) for number, (question, needed) in enumerate(gold.items())
    }
    return Files(folder, names, {pipeline: recall(relevant, lists[pipeline], 5) for pipeline in lists})


# A recommender


def recommender(folder: Path, seed: int, mess: Mess) -> Files:
    """Ratings with gaps, a training log, and lists in three shapes: wide, in a cell, and long without scores."""
    rng = random.Random(seed)
    users = rng.sample(range(1, 5000), 60)
    items = rng.sample(range(1, 900), 200)
    number = (lambda value: f"{value}.0") if mess.floats else str
    taste = {user: set(rng.sample(items, 12)) for user in users}
    train = {user: rng.sample(sorted(taste[user]), rng.choice([1, 2, 3, 5])) for user in users}
    test = {user: [item for item in sorted(taste[user]) if item not in train[user]][:6] for user in users}
    ratings = {user: {item: rng.choice([1.0, 2.5, 3.0, 4.0, 4.5, 5.0]) for item in test[user]} for user in users}
    rows: list[list[Any]] = []
    known: dict[int, dict[int, float]] = {user: {} for user in users}
    for user in users:
        for item, rating in ratings[user].items():
            empty = rng.random() < mess.gaps
            rows.append([number(user), number(item), "" if empty else rating, 1_600_000_000 + rng.randint(0, 10**6)])
            if not empty:
                known[user][item] = rating
    names = {
        "ratings": write_rows(folder / "test_ratings.csv", ["userId", "movieId", "rating", "timestamp"], rows, mess)
    }
    log = [
        [number(user), number(item), 1_500_000_000 + rng.randint(0, 10**6)] for user in users for item in train[user]
    ]
    names["train"] = write_rows(folder / "train_log.csv", ["userId", "movieId", "timestamp"], log, mess)
    lists: dict[str, dict[int, list[int]]] = {}
    for model, skill in (("als", 0.3), ("twotower", 0.6)):
        lists[model] = {}
        for user in users:
            hits = [item for item in test[user] if rng.random() < skill]
            others = [item for item in rng.sample(items, 20) if item not in hits and item not in train[user]]
            ranked = (hits + others)[:10]
            rng.shuffle(ranked)
            lists[model][user] = ranked
        heads = ["userId", *(f"rec_{place}" for place in range(1, 11))]
        wide = [
            [number(user), *(number(item) for item in ranked), *[""] * (10 - len(ranked))]
            for user, ranked in lists[model].items()
        ]
        names[f"{model}_wide"] = write_rows(folder / f"{model}_wide.csv", heads, wide, mess)
        cells = [[number(user), str(ranked)] for user, ranked in lists[model].items()]
        names[f"{model}_cell"] = write_rows(folder / f"{model}_cell.csv", ["userId", "recommendations"], cells, mess)
        long = [
            [number(user), number(item), place]
            for user, ranked in lists[model].items()
            for place, item in enumerate(ranked, 1)
        ]
        names[f"{model}_long"] = write_rows(folder / f"{model}_long.csv", ["userId", "movieId", "rank"], long, mess)
    liked = {user: {item for item, rating in known[user].items() if rating >= 4} for user in users}
    return Files(folder, names, {model: recall(liked, lists[model], 10) for model in lists})
