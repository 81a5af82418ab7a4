"""What people are told in everyday cases: python benchmarks/realistic.py

Makes a small world for each case (fixed seeds), calls the commands that people would call, and prints what they say
first. docs/comparing.md shows these sentences, and tests/docs/test_comparing_page.py compares them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from goldrank import History
from goldrank.cli import run as command
from goldrank.data.scores import Column, Scores

Lists = Mapping[str, Sequence[str]]
DOCUMENTS = 200
SKILL = 0.68
"""Of the reranker, which also goes by the order that it gets: about 0.03 better."""


def grades_of_queries(rng: np.random.Generator, queries: int) -> list[np.ndarray]:
    """By query the grades of its documents: 3 to 24 of 200 are relevant."""
    made = []
    for _ in range(queries):
        grades = np.zeros(DOCUMENTS, int)
        relevant = int(rng.integers(3, 25))
        grades[:relevant] = rng.integers(1, 4, relevant)
        made.append(grades)
    return made


def ranked(rng: np.random.Generator, grades: Sequence[np.ndarray], skill: float) -> Lists:
    """A system that sees each grade times its skill, through noise of 1."""
    lists = {}
    for i, of_query in enumerate(grades):
        seen = of_query * skill + rng.normal(size=DOCUMENTS)
        lists[f"q{i:03}"] = [f"d{i}_{document}" for document in np.argsort(-seen)[:50]]
    return lists


def reranked(rng: np.random.Generator, grades: Sequence[np.ndarray], first: Lists, skill: float) -> Lists:
    """The same documents in another order."""
    lists = {}
    for i, (query, documents) in enumerate(first.items()):
        numbers = [int(document.split("_")[1]) for document in documents]
        seen = grades[i][numbers] * skill + rng.normal(size=len(numbers)) - 0.02 * np.arange(len(numbers))
        lists[query] = [documents[position] for position in np.argsort(-seen)]
    return lists


def write_run(path: str, lists: Lists) -> None:
    """A run in TREC's format."""
    lines = []
    for query, documents in lists.items():
        lines += [f"{query} Q0 {document} {rank} {-rank} run\n" for rank, document in enumerate(documents, 1)]
    Path(path).write_text("".join(lines), encoding="utf-8")


def write_qrels(path: str, judged: Mapping[tuple[str, str], int]) -> None:
    """Judgements in TREC's format."""
    lines = [f"{query} 0 {document} {grade}\n" for (query, document), grade in judged.items()]
    Path(path).write_text("".join(lines), encoding="utf-8")


def pooled(
    rng: np.random.Generator, grades: Sequence[np.ndarray], runs: Sequence[Lists], depth: int, unjudged: float = 0.0
) -> dict[tuple[str, str], int]:
    """The grades of the first documents of all runs, without a random share."""
    judged = {}
    for i, of_query in enumerate(grades):
        query = f"q{i:03}"
        for document in sorted({document for run in runs for document in run[query][:depth]}):
            if rng.random() >= unjudged:
                judged[query, document] = int(of_query[int(document.split("_")[1])])
    return judged


def reranker(queries: int) -> str:
    """BM25 and a reranker that is about 0.03 better; 30 % of what they return first is unjudged."""
    rng = np.random.default_rng([1, queries])
    grades = grades_of_queries(rng, queries)
    bm25 = ranked(rng, grades, 0.95)
    rerank = reranked(rng, grades, bm25, SKILL)
    write_run("bm25.run", bm25)
    write_run("rerank.run", rerank)
    write_qrels("qrels.txt", pooled(rng, grades, [bm25, rerank], 10, 0.3))
    return "compare qrels.txt bm25.run rerank.run -m nDCG@10"


def positives_only() -> str:
    """6,980 queries with one relevant document each, as in MS MARCO; nothing else is judged."""
    rng = np.random.default_rng(2)
    runs: dict[str, dict[str, list[str]]] = {"bm25": {}, "cross-encoder": {}}
    judged = {}
    for i in range(6980):
        query, relevant = str(i), f"p{i}"
        judged[query, relevant] = 1
        for name, found, spread in (("bm25", 0.6, 6.0), ("cross-encoder", 0.85, 1.2)):
            documents = [f"x{i}_{rank}" for rank in range(10)]
            rank = int(rng.exponential(spread))
            if rng.random() < found and rank < len(documents):
                documents[rank] = relevant
            runs[name][query] = documents
    for name, lists in runs.items():
        write_run(f"{name}.run", lists)
    write_qrels("qrels.txt", judged)
    return "compare qrels.txt bm25.run cross-encoder.run -m RR@10"


def build(more: str) -> str:
    """A deterministic build in which 4 of 50 queries fall to 0."""
    rng = np.random.default_rng(3)
    grades = grades_of_queries(rng, 50)
    before = ranked(rng, grades, 1.2)
    after = dict(before)
    for query in ("q007", "q019", "q023", "q041"):
        after[query] = [f"x{query}"]
    judged = pooled(rng, grades, [before], 50)
    judged |= {(query, f"x{query}"): 0 for query in after}
    write_run("main.run", before)
    write_run("now.run", after)
    write_qrels("qrels.txt", judged)
    Path("gate.toml").write_text(f'rules = ["nDCG@10: -1%"]\n{more}', encoding="utf-8")
    return "gate qrels.txt now.run --rules gate.toml --baseline main.run"


def season() -> str:
    """Six weeks of daily records; on weekends all queries are 0.03 better, and nothing else changes."""
    rng = np.random.default_rng(5)
    base = rng.uniform(0.2, 0.8, 100)
    queries = tuple(f"q{i}" for i in range(100))
    with History("history.db") as history:
        for day in range(42):
            values = np.clip(base + 0.03 * (day % 7 in (5, 6)) + rng.normal(0, 0.1, 100), 0, 1)
            column = Column("nDCG@10", values, float(values.mean()), "mean")
            history.record(Scores("search", queries, {"nDCG@10": column}), label="main")
    return "history --db history.db"


def many_systems() -> str:
    """20 systems of growing skill on 50 queries."""
    rng = np.random.default_rng(6)
    grades = grades_of_queries(rng, 50)
    names = [f"s{i:02}" for i in range(20)]
    runs = [ranked(rng, grades, 0.6 + 0.04 * i) for i in range(len(names))]
    for name, run in zip(names, runs, strict=True):
        write_run(f"{name}.run", run)
    write_qrels("qrels.txt", pooled(rng, grades, runs, 10))
    return f"compare qrels.txt {' '.join(f'{name}.run' for name in names)} -m nDCG@10"


CASES = {
    "BM25 and a reranker, +0.03, 50 queries, 30% unjudged": lambda: reranker(50),
    "The same with 200 queries": lambda: reranker(200),
    "One relevant document a query, 6,980 queries": positives_only,
    "A build, 4 of 50 queries fall to 0": lambda: build(""),
    "The same, `deterministic = true`": lambda: build("deterministic = true\n"),
    "Six weeks with a weekly season": season,
    "20 systems, 50 queries": many_systems,
}


def said(text: str) -> str:
    """The sentence that comes first; of a gate with its reason, of a history the one about its last change."""
    if text.startswith("nDCG@10\n"):
        (paragraph,) = re.findall(
            r"^(?: *no change beyond.*|[+!] (?:perhaps )?(?:better|worse).*(?:\n\S.*)*)", text, re.M
        )[-1:]
        return " ".join(paragraph.split())
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    if text.startswith(("PASS", "FAIL", "JUDGE FIRST")):
        return f"{paragraphs[0]}. {paragraphs[2]}"
    return paragraphs[0]


def sentences() -> Iterator[tuple[str, str, int]]:
    """For each case what is said first, and the exit code."""
    started_in = Path.cwd()
    for name, make in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                arguments = make().split()
                out = io.StringIO()
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                    code = command(arguments)
            finally:
                os.chdir(started_in)
        yield name, said(out.getvalue()), code


if __name__ == "__main__":
    print("| case | what is said | exit |\n|---|---|---|")
    for name, words, code in sentences():
        print(f"| {name} | {words} | {code} |")
