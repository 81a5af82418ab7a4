"""Approximate search against exact search: recall of nearest neighbours."""

PUBLIC = {
    "ann_recall": "goldrank.ann.recall",
    "AnnRecall": "goldrank.ann.recall",
    "ann_benchmarks": "goldrank.ann.distances",
    "AnnBenchmarks": "goldrank.ann.distances",
}
PROVIDES = {"recall against exact search": "goldrank.ann.truth:against_exact"}
COLUMNS = {"ANN-R": True}
