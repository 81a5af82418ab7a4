r"""From files to a decision, on documents in three languages: scores, why questions fail, a sweep, a gate, pages.

The documents are parts of the Constitution of the United States, the Grundgesetz of Germany and the French declaration
of 1789 (public domain, official texts); the questions and quotations in gold.jsonl are made for them. Two small
retrievers stand in for yours: what goldrank needs is only what they return.

    python examples/rag/sweep_causes_gate.py [FOLDER]

writes files of results, chunks, pages and saved scores to FOLDER (a temporary one without it). The same on the command
line, with those files:

    goldrank texts medium-bm25.jsonl --gold gold.jsonl --evidence documents/ --slice language
    goldrank causes small-bm25.jsonl --gold gold.jsonl --evidence documents/,chunks=small-chunks.jsonl -k 3 \
        -o causes.html
    goldrank sweep small/bm25=small-bm25.jsonl large/bm25=large-bm25.jsonl ... --gold gold.jsonl --evidence documents/ \
        --evidence small=documents/,chunks=small-chunks.jsonl,unlocated=missed ... --budget 120,240,480 -o sweep.html
    goldrank gate bm25.json --baseline baseline.json --rule "EvidenceRecall@3: -2%"
    goldrank serve medium-bm25.jsonl --gold gold.jsonl --evidence documents/,chunks=medium-chunks.jsonl
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import goldrank

HERE = Path(__file__).parent
CHUNKINGS = {"small": 25, "medium": 60, "large": 120}
"""Words of a chunk."""
DEPTH = 10


def cut(documents: dict[str, str], size: int) -> list[dict]:
    """Chunks of so many words, with their places."""
    chunks = []
    for source, text in documents.items():
        words = list(re.finditer(r"\S+", text))
        for first in range(0, len(words), size):
            part = words[first : first + size]
            start, end = part[0].start(), part[-1].end()
            name = f"{source}#{first // size + 1}"
            chunks.append({"id": name, "text": text[start:end], "source": source, "start": start, "end": end})
    return chunks


def terms(text: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"[^\W\d_]+", text.lower())]


def bm25(question: str, bags: list[Counter], k1: float = 1.2, b: float = 0.75) -> list[float]:
    """Okapi BM25."""
    mean = sum(bag.total() for bag in bags) / len(bags)
    scores = [0.0] * len(bags)
    for term in dict.fromkeys(terms(question)):  # in their order, so that sums are the same in every process
        having = sum(term in bag for bag in bags)
        idf = math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))
        for i, bag in enumerate(bags):
            tf = bag[term]
            scores[i] += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * bag.total() / mean))
    return scores


def overlap(question: str, bags: list[Counter]) -> list[float]:
    """How many words a chunk shares with the question: a weaker retriever."""
    wanted = set(terms(question))
    return [float(len(wanted & bag.keys())) for bag in bags]


def retrieve(rank, questions: list[dict], chunks: list[dict]) -> list[dict]:
    bags = [Counter(terms(chunk["text"])) for chunk in chunks]
    found = []
    for question in questions:
        scores = rank(question["question"], bags)
        order = sorted(range(len(chunks)), key=lambda i: -scores[i])[:DEPTH]
        retrieved = [{**chunks[i], "score": round(scores[i], 4)} for i in order]
        found.append({"id": question["id"], "question": question["question"], "retrieved": retrieved})
    return found


def write(path: Path, records: list[dict]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def main(folder: Path) -> None:
    documents = {path.name: path.read_text(encoding="utf-8") for path in sorted((HERE / "documents").glob("*.md"))}
    gold = HERE / "gold.jsonl"
    questions = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()]
    systems, indexes = {}, {}
    for chunking, size in CHUNKINGS.items():
        chunks = cut(documents, size)
        indexes[chunking] = write(folder / f"{chunking}-chunks.jsonl", chunks)
        for retriever in (bm25, overlap):
            name = f"{chunking}-{retriever.__name__}.jsonl"
            systems[chunking, retriever.__name__] = write(folder / name, retrieve(retriever, questions, chunks))

    # 1. How good is it, in each language? Slices are a field of the questions themselves.
    items = {name: goldrank.read_items(path, gold=gold) for name, path in systems.items()}
    evidence = {
        name: goldrank.Evidence(HERE / "documents", chunks=path, unlocated="missed") for name, path in indexes.items()
    }
    current = items["medium", "bm25"]
    scores = goldrank.evaluate_texts(current, evidence=evidence["medium"])
    print(goldrank.score_intervals(scores, queries=current.queries, slice_by="language"))

    # 2. Which setting is worth its tokens? The one in use now is named beforehand.
    swept = goldrank.sweep(items, budget=[120, 240, 480], evidence=evidence)
    print(swept)
    print(f"\n{swept.compare('large/overlap 240 tokens')}")
    from goldrank.rag import sweep_report

    tests = swept.tests("large/overlap 240 tokens")
    (folder / "sweep.html").write_text(sweep_report.page(swept, tests), encoding="utf-8")

    # 3. Why do questions fail?
    from goldrank.rag import causes_report

    why = goldrank.find_causes(items["small", "bm25"], k=3, evidence=evidence["small"])
    print(f"\n{why}")
    (folder / "causes.html").write_text(causes_report.page(why), encoding="utf-8")

    # 4. Hold the next change to what there is now.
    measures = ["EvidenceRecall@3", "SpanRecall(tokens=120)"]
    sources = goldrank.Evidence(documents, unlocated="missed")
    before = goldrank.evaluate_texts(items["medium", "overlap"].renamed("now"), measures, evidence=sources)
    after = goldrank.evaluate_texts(items["medium", "bm25"].renamed("bm25"), measures, evidence=sources)
    before.save(folder / "now.json")
    after.save(folder / "bm25.json")
    goldrank.Baseline(before).save(folder / "baseline.json")
    verdict = goldrank.gate(after, "EvidenceRecall@3: -2%", folder / "baseline.json")
    print(f"\n{verdict}")
    assert verdict.status == "pass"

    # 5. Pages of every question, with its evidence in its source: what `goldrank serve` shows, as files.
    from goldrank.explorer import start

    files = [("now", str(systems["medium", "overlap"])), ("bm25", str(systems["medium", "bm25"]))]
    session = start.text_session_of(files, gold=str(gold), evidence=evidence["medium"])
    print(start.export(session, str(folder / "pages")))
    assert swept["small/bm25 120 tokens"].tokens <= 120


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
