"""WRONG on purpose: the reciprocal rank of a program that counts ranks from 0, and then divides by rank 0."""

import json
import sys

for line in sys.stdin:
    case = json.loads(line)
    if case["name"] != "RR" or case["options"] or "records" in case:
        print(json.dumps({"id": case["id"], "skip": True}))
        continue
    value = 0.0
    for rank, doc in enumerate(list(dict.fromkeys(case["retrieved_ids"]))[: case["k"]]):
        if case["expected"].get(doc, 0) > 0:
            value = 1 / rank if rank else None  # Infinity, which JSON has no number for
            break
    print(json.dumps({"id": case["id"], "value": value}))
