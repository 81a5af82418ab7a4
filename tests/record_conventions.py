"""Record what torchmetrics and BEIR say of the queries of `convention_cases`: run it where they are installed.

    python tests/record_conventions.py tests/peers/conventions.json.gz

The file says which versions were run. Values are rounded to 6 digits: torchmetrics works in single precision.
"""

from __future__ import annotations

import copy
import gzip
import json
import sys
from importlib.metadata import version

from convention_cases import KINDS, arrays, queries

COUNT = 1000
TORCH = {
    "AP": ("retrieval_average_precision", {}),
    "AP@3": ("retrieval_average_precision", {"top_k": 3}),
    "RR": ("retrieval_reciprocal_rank", {}),
    "RR@3": ("retrieval_reciprocal_rank", {"top_k": 3}),
    "P@3": ("retrieval_precision", {"top_k": 3}),
    "R@3": ("retrieval_recall", {"top_k": 3}),
    "Success@3": ("retrieval_hit_rate", {"top_k": 3}),
    "FallOut@3": ("retrieval_fall_out", {"top_k": 3}),
    "Rprec": ("retrieval_r_precision", {}),
    "nDCG": ("retrieval_normalized_dcg", {}),
    "nDCG@3": ("retrieval_normalized_dcg", {"top_k": 3}),
    "AUROC": ("retrieval_auroc", {}),
}


def settings(measure: str) -> dict[str, float]:
    """nDCG takes grades; AUROC scores from 0 to 1, which torchmetrics would put through a sigmoid otherwise."""
    return {"highest": 3 if "DCG" in measure else 1, "scale": 1 / 1024 if measure == "AUROC" else 1}


def torch_values(kind: str) -> dict[str, list[float]]:
    import torch
    from torchmetrics.functional import retrieval

    found = {}
    for measure, (function, options) in TORCH.items():
        qrels, run = queries(kind, COUNT, **settings(measure))
        values = []
        for query, returned in run.items():
            grades, scores = arrays(qrels[query], returned)
            value = getattr(retrieval, function)(torch.tensor(scores), torch.tensor(grades), **options)
            values.append(round(float(value), 6))
        found[measure] = values
    return found


def beir_values(kind: str) -> dict[str, float]:
    from beir.retrieval.evaluation import EvaluateRetrieval

    qrels, run = queries(kind, COUNT, highest=3)
    run = with_own_ids(run)
    found: dict[str, float] = {}
    for part in EvaluateRetrieval.evaluate(qrels, copy.deepcopy(run), [1, 3, 10]):
        found |= part
    run = {query: {doc: score for doc, score in row.items() if doc != query} for query, row in run.items()}
    for name in ("mrr", "hole", "acc", "r_cap"):
        judged, ranked = (qrels, run) if name != "r_cap" else with_relevant(qrels, run)
        found |= EvaluateRetrieval.evaluate_custom(judged, copy.deepcopy(ranked), [1, 3, 10], name)
    return found


def with_relevant(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The queries that have relevant documents: BEIR divides by zero in R_cap of others."""
    judged = {query: row for query, row in qrels.items() if max(row.values()) > 0}
    return judged, {query: row for query, row in run.items() if query in judged}


def with_own_ids(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The run with a document of the query's own id, first, in every third query."""
    return {
        query: {query: 10_000.0, **row} if number % 3 == 0 else row for number, (query, row) in enumerate(run.items())
    }


if __name__ == "__main__":
    made = {
        "notice": "Made by record_conventions.py with the real packages on the queries of convention_cases.py.",
        "versions": {name: version(name) for name in ("torch", "torchmetrics", "beir", "pytrec_eval-terrier")},
        "torchmetrics": {kind: torch_values(kind) for kind in KINDS},
        "beir": {kind: beir_values(kind) for kind in KINDS},
    }
    with open(sys.argv[1], "wb") as file:
        file.write(gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0))
