"""Scores to record, made from values."""

import numpy as np

from goldrank.data.scores import Column, Scores

QRELS = "a" * 64


def make(values, *, measure="nDCG@10", run="bm25", qrels=QRELS, queries=None, convention="trec_eval-10", **more):
    """Scores of one measure."""
    values = np.asarray(values, float)
    names = tuple(queries or (f"q{i}" for i in range(len(values))))
    column = Column(measure, values, float(np.nanmean(values)), "mean", more.pop("higher_is_better", True))
    provenance = {
        "goldrank": "0.1.0",
        "depth": more.pop("depth", None),
        "qrels": {"name": "gold.qrels", "sha256": qrels, "criteria": more.pop("criteria", None)},
        "run": {"name": run, "sha256": "b" * 64},
    }
    return Scores(run, names, {measure: column}, convention=convention, origin=lambda: provenance, **more)
