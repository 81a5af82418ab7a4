"""The seed systems' rules by name, for data of one's own: `evaluate(..., convention=...)` agrees with the facades.

Random rankings repeat documents, judgements have holes (documents that nobody judged) and queries without a relevant
document, and lists are empty. What cannot agree is said in docs/seeds.md, and tested at the end.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lanes import many
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError
from goldrank.compat import axion, continuous_eval, ir_eval_numba, lesson, remem
from goldrank.conventions import NAMES, get
from goldrank.conventions.quirks import CountsRepeats

DOCS = [f"d{i:02}" for i in range(9)]
Query = tuple[list[str], dict[str, float]]


def random_queries(seed: int, grades: tuple[float, ...] = (0, 0, 1, 1, 2, 3)) -> list[Query]:
    """Rankings with repeats, some empty, and judgements of some of the documents, or none."""
    rng = random.Random(seed)
    queries = []
    for _ in range(12):
        ranking = rng.choices(DOCS, k=rng.choice((0, 1, 3, 6, 10)))
        queries.append((ranking, {doc: rng.choice(grades) for doc in rng.sample(DOCS, rng.randint(0, 6))}))
    return queries


def by_convention(name: str, queries: list[Query], measures: list[str]) -> list[list[float]]:
    """Each measure's values in the order of queries."""
    qrels = {f"q{i:02}": judged for i, (_, judged) in enumerate(queries)}
    run = {f"q{i:02}": ranking for i, (ranking, _) in enumerate(queries)}
    judged = goldrank.Qrels(qrels, real_grades=True)
    scores = goldrank.evaluate(judged, run, measures, convention=name, overlap="allow")
    return [list(scores.per_query[measure].values()) for measure in measures]


def gold_of(judged: dict[str, float]) -> list[str]:
    return sorted(lesson.relevant_from_grades(judged))  # type: ignore[type-var]


def each(queries: list[Query], *facade: Callable[[list[str], dict[str, float]], float]) -> list[list[float]]:
    return [[function(ranking, judged) for ranking, judged in queries] for function in facade]


@pytest.mark.parametrize("seed", range(many(30)))
@pytest.mark.parametrize("k", [1, 3, 20])
def test_lesson(seed: int, k: int) -> None:
    queries = random_queries(seed, (-1, 0, 0, 1, 1, 2, 3))
    expected = each(
        queries,
        lambda ranking, judged: lesson.precision_at_k(ranking, gold_of(judged), k),
        lambda ranking, judged: lesson.recall_at_k(ranking, gold_of(judged), k),
        lambda ranking, judged: lesson.hit_rate_at_k(ranking, gold_of(judged), k),
        lambda ranking, judged: lesson.reciprocal_rank(ranking, gold_of(judged)),
        lambda ranking, judged: lesson.dcg_at_k(ranking, judged, k),
        lambda ranking, judged: lesson.ndcg_at_k(ranking, judged, k),
    )
    measures = [f"P@{k}", f"R@{k}", f"Success@{k}", "RR", f"DCG@{k}", f"nDCG@{k}"]
    assert by_convention("lesson", queries, measures) == expected
    evaluator = lesson.RetrievalEvaluator(k_values=[k])
    found = evaluator.evaluate_dataset(
        [{"retrieved": r, "relevant": gold_of(j), "relevance_scores": j} for r, j in queries]
    )
    means = goldrank.evaluate(
        {str(i): judged for i, (_, judged) in enumerate(queries)},
        {str(i): ranking for i, (ranking, _) in enumerate(queries)},
        [f"R@{k}", f"nDCG@{k}", "RR"],
        convention="lesson",
        overlap="allow",
    )
    assert list(means.mean.values()) == pytest.approx([found.recall_at_k[k], found.ndcg_at_k[k], found.mrr])


@pytest.mark.parametrize("seed", range(many(30)))
@pytest.mark.parametrize("k", [1, 3, 20])
def test_axion(seed: int, k: int) -> None:
    # An empty list is NaN in Axion: see below.
    queries = [query for query in random_queries(seed, (-1, 0, 0, 0.5, 1, 2)) if all(query)]
    items = [
        axion.DatasetItem(
            actual_ranking=ranking, expected_reference=[{"id": doc, "relevance": g} for doc, g in judged.items()]
        )
        for ranking, judged in queries
    ]
    classes = (axion.PrecisionAtK, axion.RecallAtK, axion.NDCGAtK, axion.HitRateAtK)
    metrics = [*(make(k=k) for make in classes), axion.MeanReciprocalRank()]
    expected = [[metric.score(item).score for item in items] for metric in metrics]
    measures = [f"P@{k}", f"R@{k}", f"nDCG@{k}", f"Success@{k}", "RR"]
    assert by_convention("axion", queries, measures) == expected


@pytest.mark.parametrize("seed", range(many(30)))
@pytest.mark.parametrize("k", [1, 3, 20])
def test_remem(seed: int, k: int) -> None:
    queries = random_queries(seed)
    gold, retrieved = [gold_of(judged) for _, judged in queries], [ranking for ranking, _ in queries]
    metrics = (remem.RetrievalRecall, remem.RetrievalRecallAll, remem.RetrievalNDCGAny, remem.RetrievalRecallAny)
    measures = [f"R@{k}", f"RecallAll@{k}", f"nDCG@{k}", f"Success@{k}"]
    found = by_convention("remem", queries, measures)
    for metric, values in zip(metrics, found, strict=True):
        for said in (metric(), metric(gold="ids")):
            _, examples = said.calculate_metric_scores(gold, retrieved, [k])
            assert [value for example in examples for value in example.values()] == values


@pytest.mark.parametrize("seed", range(many(30)))
@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("released", [False, True])
def test_continuous_eval(seed: int, k: int, released: bool) -> None:
    name = "continuous_eval_released" if released else "continuous_eval"
    queries = random_queries(seed)
    exact = continuous_eval.ExactChunkMatch()
    ranked = continuous_eval.RankedRetrievalMetrics(exact, as_released=released)
    plain = continuous_eval.PrecisionRecallF1(exact, as_released=released)
    found = by_convention(name, queries, [f"AP@{k}", f"RR@{k}", f"nDCG@{k}"])
    sets = by_convention(name, [(ranking[:k], judged) for ranking, judged in queries], ["SetP", "SetR", "SetF"])
    cut = by_convention(name, queries, [f"P@{k}", f"R@{k}"])
    golds = [gold_of(judged) for _, judged in queries]
    if released:
        # The later releases have no k of their own, and fail where there is no gold.
        rows = [
            list(ranked(ranking[:k], gold).values()) for (ranking, _), gold in zip(queries, golds, strict=True) if gold
        ]
        found = [[value for value, gold in zip(column, golds, strict=True) if gold] for column in found]
    else:
        data = [
            {"retrieved_contexts": ranking, "ground_truth_contexts": gold}
            for (ranking, _), gold in zip(queries, golds, strict=True)
        ]
        evaluator = continuous_eval.RetrievalEvaluator(continuous_eval.Dataset(data), [ranked])
        rows = [list(row.values()) for row in evaluator.run(k=k, quiet=True)]
    assert list(map(list, zip(*found, strict=True))) == rows
    values = [list(plain(ranking[:k], gold).values()) for (ranking, _), gold in zip(queries, golds, strict=True)]
    assert list(map(list, zip(*sets, strict=True))) == values
    assert list(map(list, zip(*cut, strict=True))) == [row[:2] for row in values]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 3, 20])
def test_continuous_eval_graded(seed: int, k: int) -> None:
    """Grades as `ground_truth_relevance`; the convention's nDCG gains them where it is asked to."""
    queries = random_queries(seed, (0, 0, 1, 1, 2, 3))
    data = [
        {
            "retrieved_contexts": ranking,
            "ground_truth_contexts": list(judged),
            "ground_truth_relevance": list(judged.values()),
        }
        for ranking, judged in queries
    ]
    ranked = continuous_eval.RankedRetrievalMetrics(continuous_eval.ExactChunkMatch())
    rows = [list(row.values()) for row in continuous_eval.RetrievalEvaluator(data, [ranked]).run(k=k)]
    found = by_convention("continuous_eval", queries, [f"AP@{k}", f"RR@{k}", f'nDCG(gain="linear")@{k}'])
    assert list(map(list, zip(*found, strict=True))) == rows


@pytest.mark.parametrize("seed", range(many(30)))
@pytest.mark.parametrize("k", [1, 3, 20])
def test_ir_eval_numba(seed: int, k: int) -> None:
    queries = random_queries(seed)
    names = ("precision", "recall", "f1_score", "average_precision", "ndcg", "reciprocal_rank")

    def numbers(docs: list[str]) -> list[int]:
        return [int(doc[1:]) for doc in docs]

    expected = [
        [getattr(ir_eval_numba, name)(numbers(gold_of(judged)), numbers(ranking), k) for ranking, judged in queries]
        for name in names
    ]
    measures = [f"P@{k}", f"R@{k}", f"F@{k}", f"AP@{k}", f"nDCG@{k}", f"RR@{k}"]
    assert by_convention("ir_eval_numba", queries, measures) == expected


# Where they cannot agree: docs/seeds.md says so.


@pytest.mark.parametrize(("ranking", "judged"), [([], {"a": 1}), (["a"], {})])
def test_an_empty_list_is_nan_in_axion(ranking: list[str], judged: dict[str, float]) -> None:
    item = axion.DatasetItem(actual_ranking=ranking, expected_reference=list(judged))
    assert math.isnan(axion.PrecisionAtK(k=1).score(item).score)
    assert by_convention("axion", [(ranking, judged), (["b"], {"b": 1})], ["P@1"]) == [[0.0, 1.0]]


def test_remem_rounds_its_means() -> None:
    pooled, _ = remem.RetrievalRecall().calculate_metric_scores([["a", "b", "c"]], [["a"]], [1])
    assert pooled == {"Recall@1": 0.3333}
    assert by_convention("remem", [(["a"], {"a": 1, "b": 1, "c": 1})], ["R@1"]) == [[1 / 3]]


# The policy behind it.


def test_repeated_documents_keep_their_places() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "a", "b"]}
    measures = ["P@2", "R@3", "RR", "AP"]
    scores = goldrank.evaluate(qrels, run, measures, duplicates="places")
    # a at 1, nothing new at 2, b at 3: AP is (1/1 + 2/3) / 2.
    assert list(scores.mean.values()) == [0.5, 1.0, 1.0, pytest.approx((1 + 2 / 3) / 2)]
    (note,) = [note for note in scores.notes if note.code == "repeated-places"]
    assert note.fact("count") == 1
    # With "first" the line is dropped, and b moves up.
    assert goldrank.evaluate(qrels, run, "P@2", duplicates="first")["P@2"] == 1.0
    with raises_code(InputError, "duplicate-document", match="twice"):
        goldrank.evaluate(qrels, run, measures)


def test_files_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 3 t\nq Q0 a 2 2 t\nq Q0 b 3 1 t\n")
    measures = ["P@2", "nDCG@2", "AP", "R@3"]
    qrels, listed = {"q": {"a": 1, "b": 1}}, {"q": ["a", "a", "b"]}
    names = [name for name in NAMES if get(name).duplicates == "places"]
    assert names
    for name in names:
        of_file = goldrank.evaluate(qrels, path, measures, convention=name)
        assert of_file.mean == goldrank.evaluate(qrels, listed, measures, convention=name).mean, name


def test_what_convention_says_of_repeats_is_checked() -> None:
    with raises_code(goldrank.GoldrankError, "unknown-choice", match="repeats of P"):
        CountsRepeats({"P": "twice"})
