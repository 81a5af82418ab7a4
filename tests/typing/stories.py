"""User stories in Python. All of it must pass mypy --strict and pyright."""

import numpy as np
import polars as pl

import goldrank as gr
from goldrank import Catalogue, Evidence, Runs, Statistics, compare, evaluate, evaluate_texts, gate

frame = pl.DataFrame()
model_scores, labels = np.zeros(6), np.zeros(6)


def my_search(question: str) -> list[str]:
    return [question]


# TREC researcher
print(evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP", "RR"]))  # 1
evaluate("qrels.txt", "run.txt", "AP").per_query["AP"]["301"]  # 2
compare("qrels.txt", ["bm25.run", "dense.run"], ["AP", "nDCG@10"]).show()  # 3
compare("qrels.txt", gr.read_runs("runs/*.run", by="file"), "AP").leaderboard().save("table.tex")  # 4
evaluate("qrels.txt", "run.txt", "AP", convention="trec_eval-9")["AP"]  # 5
gr.explain_difference("qrels.txt", "run.txt", "nDCG@10", "trec_eval-10", "ranx").show()  # 6
compare("qrels.txt", ["a.run", "b.run"], statistics=Statistics(test="t", correction="holm", alpha=0.01))  # 7
evaluate(gr.read_aspects("diversity.qrels"), "run.txt", "alpha-nDCG@20")  # 8
pilot = compare("qrels.txt", ["a.run", "b.run"], "AP")
gr.plan(pilot, difference=0.02, n_queries=[50, 100]).show()  # 9

# search engineer
for change in gr.diff("qrels.txt", "old.run", "new.run", "nDCG@10").read_first(5):
    print(change.query, change.cause)  # 10
compare("qrels.txt", {"old": "old.run", "new": frame}, queries="queries.jsonl", slice_by="kind")  # 11
tuned = gr.tune_fusion("train.qrels", ["bm25.run", "dense.run"], "nDCG@10", "wsum")
gr.fuse(["bm25.test.run", "dense.test.run"], tuned.fusion).save("fused.run")  # 12
evaluate(gr.read_qrels("ratings.csv", columns={"query": "uid", "doc": "iid"}, relevant_from=4), frame, "RR")  # 13
gr.worth_judging("qrels.txt", "new.run", "nDCG@10", limit=50)  # 14

# RAG engineer
evaluate_texts("rag.jsonl", ["Cover@5", "RR"]).show()  # 15
evaluate_texts("rag.jsonl", "SpanR@5", evidence=Evidence("docs/", chunks="chunks.jsonl"))  # 16
items = gr.run_retriever(my_search, gr.read_items("questions.jsonl"), k=10)  # 17
gr.find_causes(items, k=5, evidence="docs/").show()  # 18
gr.sweep({"512": "a.jsonl", "1024": "b.jsonl"}, k=[3, 5, 10], budget=[1000, 4000]).save("sweep.html")  # 19
compare([evaluate_texts("a.jsonl"), evaluate_texts("b.jsonl")]).pair.verdict  # 20

# recommender team
catalogue = Catalogue(range(1000), train="train.csv", groups={"1": "new"})
evaluate("test.csv", frame, ["nDCG@10", "Novelty@10", "Gini@10"], catalogue=catalogue).show()  # 21
gr.Run({"u1": ["a", "b"]}).without({"u1": ["a"]}).save("clean.run")  # 22

# training loop
gr.evaluate_arrays(labels, model_scores, "nDCG@10", groups=[3, 3])["nDCG@10"]  # 23

# notebook
scores = evaluate(frame, Runs(bm25=frame, dense=frame), ["nDCG@10", "AP"])  # 24
scores.to_pandas()
scores["dense"].per_query["AP"]
compare(scores, baseline="bm25")["AP", "bm25", "dense"].interval  # 25

# CI
verdict = gate(evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP"]), ["nDCG@10 >= 0.40", "AP: -1%"], "main.json")  # 26
raise_code = verdict.exit_code  # sys.exit(raise_code)
with gr.History("history.db") as history:  # 27
    history.record(evaluate("qrels.txt", "run.txt"), label="nightly", commit="auto")
    gate(evaluate("qrels.txt", "run.txt"), "gate.toml", history.baseline("main"))

# judge
asked = gr.judge(
    "qrels.txt",
    ["a.run", "b.run"],
    gr.Endpoint("llama-70b", "http://localhost:8000/v1"),  # 28
    documents="docs.jsonl",
    queries="queries.tsv",
    calls=gr.Calls(max_cost=5, prices=(0.5, 1.5)),
)
both = gr.read_qrels("qrels.txt").with_model(asked.qrels)
gr.judge_agreement(both).show()  # 29
gr.corrected_values(both, ["a.run", "b.run"], "nDCG@10")["nDCG@10", "b", "a"].interval  # 30
