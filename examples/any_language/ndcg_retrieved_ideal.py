"""WRONG on purpose: nDCG whose ideal is the best order of what was retrieved, so that what was missed costs nothing."""

import json
import math
import sys


def dcg(gains):
    """Gains, each over the logarithm of its rank."""
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


for line in sys.stdin:
    case = json.loads(line)
    if case["name"] != "nDCG" or case["options"] or "records" in case:
        print(json.dumps({"id": case["id"], "skip": True}))
        continue
    first = list(dict.fromkeys(case["retrieved_ids"]))[: case["k"]]
    gains = [max(case["expected"].get(doc, 0), 0) for doc in first]
    ideal = dcg(sorted(gains, reverse=True))
    print(json.dumps({"id": case["id"], "value": dcg(gains) / ideal if ideal else 0.0}))
