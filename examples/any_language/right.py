"""A small program of its own that measures as it should: goldrank conformance --command "python right.py"."""

import json
import math
import sys


def ranking(case):
    """Ids in their order, each once: scores first if there are any, equal ones by id, last first."""
    if "retrieved" in case:
        rows = sorted(case["retrieved"], key=lambda row: (row["score"], row["id"].encode()), reverse=True)
        ids = [row["id"] for row in rows]
    else:
        ids = case["retrieved_ids"]
    return list(dict.fromkeys(ids))


def value(case, name, k):
    """The value of one question; None for a measure that this program does not have."""
    expected, ids = case["expected"], ranking(case)
    relevant = sum(grade > 0 for grade in expected.values())
    hits = [expected.get(doc, 0) > 0 for doc in ids[:k]]
    if name == "P":
        return sum(hits) / k
    if relevant == 0:
        return 0.0
    if name == "R":
        return sum(hits) / relevant
    if name == "RR":
        return 1 / (hits.index(True) + 1) if any(hits) else 0.0
    if name == "AP":
        return sum(sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit) / relevant
    if name == "nDCG":
        gains = [max(expected.get(doc, 0), 0) for doc in ids[:k]]
        ideal = sorted((max(grade, 0) for grade in expected.values()), reverse=True)[:k]
        dcg, best = (sum(gain / math.log2(rank + 2) for rank, gain in enumerate(row)) for row in (gains, ideal))
        return dcg / best
    return None


def answer(case):
    """The line for a case."""
    questions = [record for record in case.get("records", [case]) if record["expected"]]
    if case["options"] or case["name"] not in ("P", "R", "RR", "AP", "nDCG"):
        return {"id": case["id"], "skip": True}
    values = [value(question, case["name"], case["k"]) for question in questions]
    return {"id": case["id"], "value": sum(values) / len(values)}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
