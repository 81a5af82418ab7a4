"""Sessions of made-up rankings, for tests of the explorer."""

from goldrank import conventions, io
from goldrank.explorer.session import Session

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"]


def made_up(rng, queries=6, depth=40, judged=6, ties=False):
    qrels, runs = {}, {"a": {}, "b": {}}
    for q in range(queries):
        docs = [f"d{i}" for i in range(depth)]
        qrels[f"q{q}"] = {docs[i]: int(rng.integers(0, 4)) for i in rng.choice(depth, judged, replace=False)}
        for run in runs.values():
            order = rng.permutation(depth)
            score = (lambda i: float(i // 4)) if ties else float
            run[f"q{q}"] = {docs[int(d)]: score(depth - i) for i, d in enumerate(order)}
    return qrels, runs


def session_of(qrels, runs, convention="trec_eval-10", **options):
    opened = [io.as_run(run).renamed(name) for name, run in runs.items()]
    return Session("", io.as_qrels(qrels), opened, conventions.get(convention), MEASURES, **options)
