"""WRONG on purpose: recall that counts a document as often as it came back, so that it passes 1."""

import json
import sys

for line in sys.stdin:
    case = json.loads(line)
    if case["name"] != "R" or case["options"] or "records" in case:
        print(json.dumps({"id": case["id"], "skip": True}))
        continue
    relevant = sum(grade > 0 for grade in case["expected"].values())
    hits = sum(case["expected"].get(doc, 0) > 0 for doc in case["retrieved_ids"][: case["k"]])
    print(json.dumps({"id": case["id"], "value": hits / relevant if relevant else 0.0}))
