"""What Axion's and continuous-eval's facades give, and the native way to the same number (rows of docs/seeds.md)."""

from __future__ import annotations

import ast
import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

import goldrank
from goldrank import Matching, evaluate, evaluate_texts
from goldrank.compat import axion, continuous_eval

AXION = {
    "000.01": ("HitRateAtK(k=5).score(item).score", 'evaluate(qrels, run, "Success@5")["Success@5"]'),
    "000.02": ("MeanReciprocalRank().score(item).score", 'evaluate(qrels, run, "RR")["RR"]'),
    "000.03": ("NDCGAtK(k=5).score(item).score", 'evaluate(qrels, run, "nDCG@5")["nDCG@5"]'),
    "000.04": ("PrecisionAtK(k=5).score(item).score", 'evaluate(qrels, run, "P@5")["P@5"]'),
    "000.05": ("RecallAtK(k=5).score(item).score", 'evaluate(qrels, run, "R@5")["R@5"]'),
    "000.06": (
        "[detail.score for detail in RecallAtK(k=[1, 3]).score(item).signals.results_by_k.values()]",
        'list(evaluate(qrels, run, ["R@1", "R@3"]).mean.values())',
    ),
    "000.07": ("RecallAtK(k=[1, 3], main_k=1).score(item).score", 'evaluate(qrels, run, ["R@1", "R@3"])["R@1"]'),
    "000.15": (
        "RecallAtK(k=3).score(item).signals.results_by_k[3].hits_in_top_k",
        'evaluate(qrels, run, "NumRelRet@3")["NumRelRet@3"]',
    ),
    "000.16": (
        "(lambda found: (found.dcg, found.idcg))(NDCGAtK(k=3).score(item).signals.results_by_k[3])",
        'tuple(evaluate(qrels, run, ["DCG@3", "IdealDCG@3"]).mean.values())',
    ),
    "000.20": (
        "[one.score for one in MetricRunner(metrics=[HitRateAtK(k=5), NDCGAtK(k=5)]).score([item])]",
        'list(evaluate(qrels, run, ["Success@5", "nDCG@5"]).mean.values())',
    ),
}
"""`as_released=True` of PrecisionAtK is P(divisor="retrieved")."""

CONTINUOUS_EVAL = {
    "003.01": (
        "list(RankedRetrievalMetrics(RougeChunkMatch()).calculate(**datum).values())",
        """list(evaluate_texts([datum], ["AP", "RR", 'nDCG(discount="ln")'], matching=Matching("rouge:0.7", """
        'credit="first_free")).mean.values())',
    ),
    "003.03": (
        "RankedRetrievalMetrics().calculate(**datum, ground_truth_relevance=relevance)['ndcg']",
        """next(iter(evaluate_texts([graded], 'nDCG(discount="ln")', matching=Matching("exact", credit="first_free"))"""
        ".mean.values()))",
    ),
    "003.04": (
        "RankedRetrievalMetrics(RougeChunkMatch(0.5)).calculate(**datum)['reciprocal_rank']",
        'evaluate_texts([datum], "RR", matching="rouge:0.5")["RR"]',
    ),
    "003.05": (
        "RankedRetrievalMetrics(ExactChunkMatch()).calculate(**datum)['average_precision']",
        'evaluate_texts([datum], "AP", matching=Matching("exact", credit="first_free"))["AP"]',
    ),
    "003.06": (
        "list(PrecisionRecallF1(RougeChunkMatch()).calculate(**datum).values())",
        'list(evaluate_texts([datum], ["SetP", "SetR", "SetF"], matching="rouge:0.7").mean.values())',
    ),
    "003.07": (
        "list(PrecisionRecallF1(ExactSentenceMatch()).calculate(**datum).values())",
        """list(evaluate_texts([datum], ["SetP", "SetR", "SetF"], matching=Matching("exact", unit="sentence"))"""
        ".mean.values())",
    ),
    "003.09": (
        "RetrievalEvaluator([datum], [RankedRetrievalMetrics()]).run(k=2)[0]['reciprocal_rank']",
        'evaluate_texts([datum], "RR@2", matching="exact")["RR@2"]',
    ),
}


def random_item(seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(9)]
    run = {"q": rng.sample(docs, rng.randint(1, 8))}
    qrels = {"q": {doc: rng.randint(0, 3) for doc in rng.sample(docs, 5)} | {run["q"][-1]: 1}}
    reference = [{"id": doc, "relevance": grade} for doc, grade in qrels["q"].items()]
    item = axion.DatasetItem(actual_ranking=run["q"], expected_reference=reference)
    return {**vars(axion), "evaluate": evaluate, "qrels": qrels, "run": run, "item": item}


def random_datum(seed: int) -> dict[str, Any]:
    rng = random.Random(seed)

    def text() -> str:
        return ". ".join(" ".join(rng.choices("abcde", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 2))) + "."

    truths = list(dict.fromkeys(text() for _ in range(3)))
    retrieved = [rng.choice([text(), rng.choice(truths)]) for _ in range(4)]
    relevance = [rng.randint(1, 3) for _ in truths]
    references = [{"text": truth, "grade": grade} for truth, grade in zip(truths, relevance, strict=True)]
    return {
        **vars(continuous_eval),
        "evaluate_texts": evaluate_texts,
        "Matching": Matching,
        "datum": {"retrieved_contexts": retrieved, "ground_truth_contexts": truths},
        "relevance": relevance,
        "graded": {"retrieved": retrieved, "references": references},
    }


@pytest.mark.parametrize("row", AXION)
def test_axion(row: str) -> None:
    facade, native = AXION[row]
    for seed in range(20):
        names = random_item(seed)
        assert eval(facade, names) == eval(native, names)


@pytest.mark.parametrize("row", CONTINUOUS_EVAL)
def test_continuous_eval(row: str) -> None:
    facade, native = CONTINUOUS_EVAL[row]
    for seed in range(20):
        names = random_datum(seed)
        assert eval(facade, names) == eval(native, names)


def test_released_precision() -> None:
    names = random_item(3)
    found = axion.PrecisionAtK(k=10, as_released=True).score(names["item"]).score
    assert found == next(iter(evaluate(names["qrels"], names["run"], 'P(divisor="retrieved")@10').mean.values()))


def test_a_judges_answers_are_judgements() -> None:
    """Rows 000.30 and 003.16: verdicts on what was retrieved, as the grades of `evaluate`."""

    async def judge(context: str, question: str) -> str:
        return "yes" if question in context else "no"

    contexts = ["x", "a b", "a"]
    item = axion.DatasetItem(query="a", retrieved_content=contexts)
    facade = axion.ContextualPrecision(judge=lambda item, text: judge(text, item.query)).score(item)
    assert facade.score == pytest.approx((1 / 2 + 2 / 3) / 2)
    other = continuous_eval.LLMBasedContextPrecision(judge=lambda question, text: judge(text, question))
    found = other.calculate(question="a", retrieved_contexts=contexts)
    assert found["LLM_based_context_average_precision"] == facade.score
    verdicts = {context: int("a" in context) for context in contexts}
    assert evaluate({"q": verdicts}, {"q": contexts}, "AP")["AP"] == facade.score
    # A function of a text and a reference is a matcher, asynchronous or not.
    native = evaluate_texts([{"retrieved": contexts, "references": ["a"]}], "RR", matching=Matching(judge))["RR"]
    assert native == evaluate({"q": verdicts}, {"q": contexts}, "RR")["RR"] == 0.5


def test_the_mean_is_the_runners() -> None:
    """Row 000.21: `summary` beside the mean of `evaluate`, and thresholds beside a gate's."""
    names = [random_item(seed) for seed in range(5)]
    runner = axion.MetricRunner(metrics=[axion.RecallAtK(k=3)])
    asyncio.run(runner.run([one["item"] for one in names]))
    qrels = {str(i): one["qrels"]["q"] for i, one in enumerate(names)}
    run = {str(i): one["run"]["q"] for i, one in enumerate(names)}
    assert runner.summary["Recall @ K"]["avg"] == goldrank.evaluate(qrels, run, "R@3")["R@3"]


def test_passing_is_a_gate() -> None:
    """Row 003.15: `MeanGreaterOrEqualThan` beside `goldrank.gate`."""
    data = [{"retrieved_contexts": ["x", "a"], "ground_truth_contexts": ["a"]}]
    results = continuous_eval.RetrievalEvaluator(data, [continuous_eval.RankedRetrievalMetrics()]).run()
    scores = evaluate_texts(data, "RR", matching="exact")
    for least in (0.5, 0.6):
        test = continuous_eval.MeanGreaterOrEqualThan("rank", "reciprocal_rank", least)
        assert test.run(results) is (goldrank.gate(scores, rules=f"RR >= {least}").status == "pass")


FILES = sorted(Path(axion.__file__).parents[1].rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=["/".join(path.parts[-2:]) for path in FILES])
def test_facades_divide_nothing(path: Path) -> None:
    """Shares, means and discounts are made by goldrank's measures."""
    operators = (ast.Div, ast.FloorDiv, ast.Pow)
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = [node for node in nodes if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, operators)]
    assert [ast.unparse(node) for node in found] == []
