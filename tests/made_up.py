"""Made-up judgements and runs."""

import numpy as np


def make_runs(queries=40, systems=("bm25", "dense", "hybrid"), seed=0, depth=30, skill=0.35):
    """Each system finds a query's relevant documents the better, the later it is in the list."""
    rng = np.random.default_rng(seed)
    qrels, runs = {}, {name: {} for name in systems}
    for i in range(queries):
        query = f"q{i:04d}"
        relevant = [f"doc-{i}-{j}" for j in range(int(rng.integers(1, 5)))]
        other = [f"doc-{i}-n{j}" for j in range(6)]
        qrels[query] = {d: int(rng.integers(1, 3)) for d in relevant} | dict.fromkeys(other, 0)
        hard = rng.normal(0, 1)
        unjudged = [f"x-{i}-{j}" for j in range(depth)]
        for s, name in enumerate(systems):
            pool = [d for d in relevant if rng.random() < 0.9] + other + unjudged
            gain = skill * s + hard
            scores = rng.normal(0, 1, len(pool)) + np.array([gain if d in relevant else 0 for d in pool])
            top = np.argsort(-scores)[:depth]
            runs[name][query] = {pool[t]: round(float(scores[t]), 6) for t in top}
    return qrels, runs
