"""nDCG@10 of 10,000 queries with 100 documents each, in arrays: goldrank, scikit-learn and torchmetrics in one run.

python benchmarks/arrays.py            # what is installed is measured; CPU time, the least of three
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from goldrank import evaluate_arrays

QUERIES, DOCUMENTS = 10_000, 100


def data(queries: int = QUERIES, documents: int = DOCUMENTS) -> tuple[np.ndarray, np.ndarray]:
    """Grades from 0 to 3 and scores."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, (queries, documents)), rng.random((queries, documents))


def contestants(grades: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[], float]]:
    """By name, what computes the mean nDCG@10; only of packages that are installed."""
    ids = np.repeat(np.arange(len(grades)), grades.shape[1])
    found: dict[str, Callable[[], float]] = {
        "goldrank, table": lambda: evaluate_arrays(grades, scores, "nDCG@10")["nDCG@10"],
        "goldrank, flat with indexes": lambda: evaluate_arrays(grades.ravel(), scores.ravel(), "nDCG@10", indexes=ids)[
            "nDCG@10"
        ],
    }
    try:
        from sklearn.metrics import ndcg_score
    except ImportError:
        pass
    else:
        found["scikit-learn"] = lambda: float(ndcg_score(grades, scores, k=10))
    try:
        import torch
        from torchmetrics.retrieval import RetrievalNormalizedDCG
    except ImportError:
        pass
    else:
        torch.set_num_threads(1)
        given = torch.tensor(scores).ravel(), torch.tensor(grades).ravel(), torch.tensor(ids)
        found["torchmetrics"] = lambda: float(RetrievalNormalizedDCG(top_k=10)(*given))
    return found


def measured(grades: np.ndarray, scores: np.ndarray, times: int = 3) -> dict[str, tuple[float, float]]:
    """By name, the least CPU time in seconds, and the value."""
    found = {}
    for name, compute in contestants(grades, scores).items():
        spent = []
        for _ in range(times):
            begin = time.process_time()
            value = compute()
            spent.append(time.process_time() - begin)
        found[name] = min(spent), value
    return found


def main() -> None:
    """Print a line for each."""
    found = measured(*data())
    ours = found["goldrank, table"][0]
    sys.stdout.write(f"nDCG@10, {QUERIES:,} queries x {DOCUMENTS} documents, CPU seconds\n")
    for name, (seconds, value) in found.items():
        sys.stdout.write(f"{name:30} {seconds:8.3f} s  {seconds / ours:6.1f}x  {value:.6f}\n")


if __name__ == "__main__":
    main()
