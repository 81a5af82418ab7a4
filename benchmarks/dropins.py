"""The drop-ins of goldrank.compat beside the same steps with goldrank's own names and the originals: CPU milliseconds.

python benchmarks/dropins.py [queries]       # 1,000 unless given; originals that are not installed are left out

Five measures of rankings of 200 documents. All work on the same data in turns, in one process; the least of five turns
counts, after one for what has to be compiled or cached. Every value is compared with goldrank's.
"""

from __future__ import annotations

import gc
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import goldrank

DEPTH, POOL, TURNS = 200, 1_000, 5
OURS = ("AP", "nDCG@10", "RR", "P@10", "R@100")
TREC = ("map", "ndcg_cut_10", "recip_rank", "P_10", "recall_100")
RANX = ("map", "ndcg@10", "mrr", "precision@10", "recall@100")


def data(queries: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels of 20 documents and runs without ties."""
    rng = random.Random(0)
    docs = [f"doc{i:04}" for i in range(POOL)]
    qrels = {f"q{i:05}": {doc: rng.choice((0, 1, 1, 2)) for doc in rng.sample(docs, 20)} for i in range(queries)}
    run = {query: {doc: rng.random() for doc in rng.sample(docs, DEPTH)} for query in qrels}
    return qrels, run


def evaluated(qrels: Any, run: Any) -> list[float]:
    """goldrank's own way."""
    return list(goldrank.evaluate(qrels, run, OURS).mean.values())


def evaluated_from_dicts(qrels: Any, run: Any) -> list[float]:
    """goldrank in pytrec_eval's steps and by its rules: files become dicts, and dicts of all values are made."""
    if isinstance(run, str):
        judged, ranked = goldrank.read_qrels(qrels), goldrank.read_run(run)
        qrels, run = {query: dict(docs) for query, docs in judged.items()}, ranked.results
    scores = goldrank.evaluate(qrels, run, OURS, convention="trec_eval-9")
    values = {measure: dict(of_queries) for measure, of_queries in scores.per_query.items()}
    assert all(len(of_queries) == len(qrels) for of_queries in values.values())
    return list(scores.mean.values())


def evaluated_from_objects(qrels: Any, run: Any) -> list[float]:
    """goldrank in ranx's steps: dicts are copied into objects, and those are evaluated."""
    return evaluated(qrels, run) if isinstance(run, str) else evaluated(goldrank.Qrels(qrels), goldrank.Run(run))


def as_pytrec_eval(module: Any, qrels: Any, run: Any) -> list[float]:
    """Means by pytrec_eval or its stand-in; files are parsed first."""
    if isinstance(run, str):
        with open(qrels) as judged, open(run) as ranked:
            qrels, run = module.parse_qrel(judged), module.parse_run(ranked)
    values = module.RelevanceEvaluator(qrels, set(TREC)).evaluate(run)
    return [float(module.compute_aggregated_measure(name, [row[name] for row in values.values()])) for name in TREC]


def as_ir_measures(module: Any, qrels: Any, run: Any) -> list[float]:
    """Means by ir_measures or its stand-in."""
    asked = [module.parse_measure(name) for name in OURS]
    if isinstance(run, str):
        qrels, run = module.read_trec_qrels(qrels), module.read_trec_run(run)
    found = module.calc_aggregate(asked, qrels, run)
    return [float(found[measure]) for measure in asked]


def as_ranx(module: Any, qrels: Any, run: Any) -> list[float]:
    """Means by ranx or its stand-in, with the objects that it needs."""
    if isinstance(run, str):
        given = module.Qrels.from_file(qrels, kind="trec"), module.Run.from_file(run, kind="trec")
    else:
        given = module.Qrels(qrels), module.Run(run)
    found = module.evaluate(*given, list(RANX))
    return [float(found[name]) for name in RANX]


TOOLS = {
    "pytrec_eval": (as_pytrec_eval, evaluated_from_dicts),
    "ir_measures": (as_ir_measures, evaluated),
    "ranx": (as_ranx, evaluated_from_objects),
}
"""For each tool its steps, and the same steps with goldrank's own names."""

OWN, DROP_IN, ORIGINAL = "goldrank, the same steps", "drop-in", "original"


def contestants() -> dict[tuple[str, str], Callable[[Any, Any], list[float]]]:
    """By tool and who plays it, what gives the means; originals only if they are installed."""
    found: dict[tuple[str, str], Callable[[Any, Any], list[float]]] = {}
    for name, (call, own) in TOOLS.items():
        found[name, OWN] = own
        found[name, DROP_IN] = partial(call, import_module(f"goldrank.compat.{name}"))
        try:
            found[name, ORIGINAL] = partial(call, import_module(name))
        except ImportError:
            continue
    return found


def measured(qrels: Any, run: Any, turns: int = TURNS) -> dict[tuple[str, str], float]:
    """By tool and player, the least CPU time in milliseconds; an error where values differ."""
    calls = contestants()
    best = dict.fromkeys(calls, math.inf)
    expected = evaluated(qrels, run)
    for turn in range(turns + 1):
        for name, call in calls.items():
            gc.collect()  # nobody pays for what another one left
            begin = time.process_time()
            values = call(qrels, run)
            spent = 1000 * (time.process_time() - begin)
            best[name] = min(best[name], spent if turn else math.inf)
            if any(abs(value - other) > 1e-6 for value, other in zip(values, expected, strict=True)):
                raise SystemExit(f"{' '.join(name)} has other values: {values}, not {expected}")
    return best


def main() -> None:
    """Print a Markdown table."""
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    qrels, run = data(queries)
    with tempfile.TemporaryDirectory() as folder:
        paths = str(Path(folder) / "qrels.txt"), str(Path(folder) / "run.txt")
        goldrank.read_qrels(qrels).save(paths[0], format="trec")
        goldrank.read_run(run).save(paths[1], format="trec")
        rows = {"dicts": measured(qrels, run), "files": measured(*paths)}
    players = (OWN, DROP_IN, ORIGINAL)
    sys.stdout.write(f"{queries:,} queries x {DEPTH} documents, {len(OURS)} measures, CPU milliseconds\n\n")
    sys.stdout.write(f"| tool | input | {' | '.join(players)} |\n|---|---|{'---:|' * len(players)}\n")
    for tool in TOOLS:
        for what, best in rows.items():
            times = (f"{best[tool, player]:.1f}" if (tool, player) in best else "" for player in players)
            sys.stdout.write(f"| {tool} | {what} | {' | '.join(times)} |\n")


if __name__ == "__main__":
    main()
