"""What type checkers must say, because run time does the same. Lines with `type: ignore` must be refused by them.

The number at the end of a line is that of its probe; `test_typing.py` has those that wait for their verbs."""

from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import numpy as np
import polars as pl

import goldrank as gr

qrels = {"q1": {"d1": 1, "d2": 0}}
frame = pl.DataFrame({"query": ["q1"], "doc": ["d1"], "score": [1.0]})
one = {"q1": {"d1": 0.9, "d2": 0.4}}
lists = {"q1": ["d1", "d2"]}


def my_search(question: str) -> list[str]:
    return [question]


# --- one run: Scores ---
assert_type(gr.evaluate(qrels, one), gr.Scores)  # 1 a dict of dicts is one run
assert_type(gr.evaluate(qrels, lists, "RR"), gr.Scores)  # 2 ranked lists
assert_type(gr.evaluate(qrels, {"q1": [("d1", 0.9)]}), gr.Scores)  # 3 lists of (doc, score)
assert_type(gr.evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP"]), gr.Scores)  # 4 paths
assert_type(gr.evaluate(Path("qrels.txt"), Path("run.txt")), gr.Scores)  # 5
assert_type(gr.evaluate(frame, frame), gr.Scores)  # 6 frames
assert_type(gr.evaluate([("q1", "d1", 1)], [("q1", "d1", 0.9)]), gr.Scores)  # 7 rows
assert_type(gr.evaluate(qrels, {"q1": {"d1": np.float32(0.9)}}), gr.Scores)  # 8 numpy's numbers
assert_type(gr.evaluate(qrels, gr.Run(one)), gr.Scores)  # 9
assert_type(gr.evaluate({"u1": {"a", "b"}}, {"u1": ("a", "c")}, "HR@2"), gr.Scores)  # 10 sets, tuples

# --- several runs: ScoresByRun, and only by the noun ---
assert_type(gr.evaluate(qrels, gr.Runs(bm25=one, dense=frame)), gr.ScoresByRun)  # 11
assert_type(gr.evaluate(qrels, gr.Runs({"bm25": frame, "dense": frame})), gr.ScoresByRun)  # 12 dict of frames
assert_type(gr.evaluate(qrels, gr.Runs([Path("a.run"), Path("b.run")])), gr.ScoresByRun)  # 13 list of Paths
assert_type(gr.evaluate(qrels, gr.Runs(["a.run", "b.run"])), gr.ScoresByRun)  # 14 list of str
assert_type(gr.evaluate(qrels, gr.Runs([("dense", "s1.run"), ("dense", "s2.run")])), gr.ScoresByRun)  # 15 replicates
assert_type(gr.evaluate(qrels, gr.read_runs("all.run")), gr.ScoresByRun)  # 16
assert_type(gr.evaluate(qrels, gr.read_runs("runs/*.run", by="file"))["a"]["AP"], float)  # 17


def either(run: dict[str, dict[str, float]] | gr.Runs) -> None:
    assert_type(gr.evaluate(qrels, run), gr.Scores | gr.ScoresByRun)  # 18 a union stays a union


# --- must be refused: several runs without the noun ---
gr.evaluate(qrels, {"bm25": frame})  # type: ignore[arg-type]  # 19 dict of frames
gr.evaluate(qrels, {"bm25": "a.run"})  # type: ignore[arg-type]  # 20 dict of paths
gr.evaluate(qrels, [Path("a.run"), Path("b.run")])  # type: ignore[arg-type]  # 21 list of Paths
gr.evaluate(qrels, ["a.run", "b.run"])  # type: ignore[arg-type]  # 22 list of str
gr.evaluate(qrels, {"bm25": {"q1": {"d1": 0.9}}})  # type: ignore[arg-type]  # 23 dict of dict runs
gr.evaluate(qrels, {"bm25": gr.Run(one)})  # type: ignore[arg-type]  # 24 dict of Run
gr.evaluate(qrels, one, missing="zeros")  # type: ignore[call-overload]  # 25 a misspelled policy value
gr.evaluate(qrels, one, mising="zero")  # type: ignore[call-overload]  # 26 a misspelled policy
gr.evaluate(qrels, one, convention="trec_eval")  # type: ignore[call-overload]  # 27 a misspelled convention
gr.Statistics(test="ttest")  # type: ignore[arg-type]  # 28
gr.gate("run.txt", "AP >= 0.3")  # type: ignore[arg-type]  # 29 gates take scores

# --- scores as mappings ---
scores = gr.evaluate(qrels, one, ["nDCG@10", "AP"])
assert_type(scores["nDCG@10"], float)  # 30
assert_type(scores.mean, Mapping[str, float])  # 31
assert_type(scores.per_query["AP"]["q1"], float)  # 32
assert_type(gr.Scores.load("s.json"), gr.Scores)  # 33
both = gr.ScoresByRun({"a": scores, "b": scores})
assert_type(both["a"], gr.Scores)  # 34
assert_type(both.mean["a"]["AP"], float)  # 35
assert_type(gr.ScoresByRun.load("a.json", "b.json"), gr.ScoresByRun)  # 36

# --- compare: plural parameters take dicts and lists, without doubt ---
assert_type(gr.compare(qrels, {"a": one, "b": frame}), gr.Comparison)  # 37
assert_type(gr.compare("qrels.txt", ["a.run", "b.run"], "AP"), gr.Comparison)  # 38
assert_type(gr.compare(qrels, gr.Runs(a=one, b=lists)), gr.Comparison)  # 39
assert_type(gr.compare(both), gr.Comparison)  # 40
assert_type(gr.compare([scores, scores.renamed("b")]), gr.Comparison)  # 41
assert_type(gr.compare({"a": scores, "b": scores}, baseline="a"), gr.Comparison)  # 42
gr.compare(qrels)  # type: ignore[arg-type]  # 43 judgements without runs
gr.compare(both, convention="ranx")  # type: ignore[call-overload]  # 44 scores are scored already
result = gr.compare(qrels, {"a": one, "b": lists})
assert_type(result["AP"], tuple[gr.Pair, ...])  # 45
assert_type(result["AP", "a", "b"], gr.Pair)  # 46
assert_type(result.pair.p_adjusted, float)  # 47
assert_type([pair.verdict == "better" for pair in result], list[bool])  # 48
assert_type(result.leaderboard()[0].run, str)  # 49

# --- texts, satellites ---
items = gr.read_items("rag.jsonl")
assert_type(gr.evaluate_texts(items, "Cover@5", matching=gr.Matching("rouge-l:0.5", unit="sentence")), gr.Scores)  # 50
assert_type(gr.evaluate_texts([{"question": "?", "contexts": ["a"], "reference": "a"}]), gr.Scores)  # 51
assert_type(gr.evaluate(items.qrels, items.run, "R@5"), gr.Scores)  # 52
assert_type(bool(gr.gate(scores, ["AP >= 0.3", "nDCG@10: -1%"], "main.json")), bool)  # 53
assert_type(gr.fuse(["a.run", "b.run"], "rrf", k=60), gr.Run)  # 54
assert_type(gr.tune_fusion(qrels, {"a": one, "b": lists}).fusion, gr.Fusion)  # 55
assert_type(gr.sweep({"small": items, "large": items}, k=[1, 5])["small@5"].mean, float)  # 56
assert_type(gr.find_causes(items, k=5)["not retrieved"], int)  # 57
assert_type(gr.History("h.db").baseline("main"), gr.Baseline)  # 58
assert_type(
    gr.corrected_values(gr.read_qrels("h.txt").with_model("m.txt"), ["a.run"])["AP", "a"], gr.CorrectedValue
)  # 59
assert_type(gr.evaluate_arrays(np.ones(3), np.ones(3), "nDCG@10", groups=[3])["nDCG@10"], float)  # 60
assert_type(gr.Convention("ranx", missing="skip").with_policies(ties="docid"), gr.Convention)  # 61
assert_type(gr.run_retriever(my_search, ["why?"], k=5), gr.Items)  # 62
