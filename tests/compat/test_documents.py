"""The code of the five documents, with only its import changed, and what it prints.

Where a document prints a wrong number, the right one stands here. Blocks of one document share their names, as
in a notebook, and may await at the top level.
"""

from __future__ import annotations

from notebooks import Notebook

# 000, Axion.

AXION_ITEM = """
    from goldrank.compat.axion.dataset import DatasetItem

    item = DatasetItem(
        actual_ranking=[
            {"id": "doc1"},  # Position 1
            {"id": "doc2"},  # Position 2
            {"id": "doc3"},  # Position 3
        ],
        expected_reference=[
            {"id": "doc1", "relevance": 1.0},  # Relevant
            {"id": "doc5", "relevance": 1.0},  # Relevant but not retrieved
        ],
    )
"""


def test_axion_required_inputs(notebook: Notebook) -> None:
    notebook.run(AXION_ITEM)
    assert [entry["id"] for entry in notebook.names["item"].actual_ranking] == ["doc1", "doc2", "doc3"]


def test_axion_hit_rate(notebook: Notebook) -> None:
    notebook.run(AXION_ITEM)
    out = notebook.run("""
        from goldrank.compat.axion.metrics import HitRateAtK

        # Single K
        metric = HitRateAtK(k=10)

        # Multiple K values
        metric = HitRateAtK(k=[5, 10, 20], main_k=10)

        result = await metric.execute(item)
        print(result.score)  # 1.0 if hit, 0.0 if miss
    """)
    assert out == "1.0\n"


def test_axion_mrr(notebook: Notebook) -> None:
    notebook.run(AXION_ITEM)
    out = notebook.run("""
        from goldrank.compat.axion.metrics import MeanReciprocalRank

        metric = MeanReciprocalRank()

        result = await metric.execute(item)
        print(result.score)  # 1/rank or 0.0
        print(result.signals.rank_of_first_relevant)  # e.g., 3
    """)
    assert out == "1.0\n1\n"


def test_axion_ndcg(notebook: Notebook) -> None:
    notebook.run(AXION_ITEM)
    out = notebook.run("""
        from goldrank.compat.axion.metrics import NDCGAtK

        # With graded relevance
        item = DatasetItem(
            actual_ranking=[{"id": "doc1"}, {"id": "doc2"}, {"id": "doc3"}],
            expected_reference=[
                {"id": "doc1", "relevance": 3.0},  # Highly relevant
                {"id": "doc2", "relevance": 1.0},  # Marginally relevant
                {"id": "doc3", "relevance": 2.0},  # Relevant
            ],
        )

        metric = NDCGAtK(k=[5, 10])
        result = await metric.execute(item)
        print(f"NDCG@10: {result.score:.3f}")
        print(f"DCG: {result.signals.results_by_k[10].dcg:.3f}")
        print(f"IDCG: {result.signals.results_by_k[10].idcg:.3f}")
    """)
    # DCG 3 + 1/1.585 + 2/2 = 4.631; IDCG 3 + 2/1.585 + 1/2 = 4.762; 4.63093 / 4.76186 = 0.972504
    assert out == "NDCG@10: 0.973\nDCG: 4.631\nIDCG: 4.762\n"


def test_axion_precision(notebook: Notebook) -> None:
    notebook.run(AXION_ITEM)
    out = notebook.run("""
        from goldrank.compat.axion.metrics import PrecisionAtK

        metric = PrecisionAtK(k=10)

        result = await metric.execute(item)
        print(f"Precision@10: {result.score:.2%}")
        print(f"Hits: {result.signals.results_by_k[10].hits_in_top_k}")
    """)
    assert out == "Precision@10: 10.00%\nHits: 1\n"  # 1 relevant / K, the document's formula


def test_axion_recall(notebook: Notebook) -> None:
    notebook.run(AXION_ITEM)
    out = notebook.run("""
        from goldrank.compat.axion.metrics import RecallAtK

        metric = RecallAtK(k=[5, 10, 20])

        result = await metric.execute(item)
        print(f"Recall@10: {result.score:.2%}")
        print(f"Found: {result.signals.results_by_k[10].hits_in_top_k}")
        print(f"Total relevant: {result.signals.results_by_k[10].total_relevant}")
    """)
    assert out == "Recall@10: 50.00%\nFound: 1\nTotal relevant: 2\n"


def test_axion_complete_example(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.axion.metrics import (
            HitRateAtK,
            MeanReciprocalRank,
            NDCGAtK,
            PrecisionAtK,
            RecallAtK,
        )
        from goldrank.compat.axion.runners import MetricRunner
        from goldrank.compat.axion.dataset import DatasetItem

        # Create test item
        item = DatasetItem(
            actual_ranking=[
                {"id": "doc1"},  # Relevant (relevance: 3)
                {"id": "doc4"},  # Not relevant
                {"id": "doc2"},  # Relevant (relevance: 2)
                {"id": "doc5"},  # Not relevant
                {"id": "doc3"},  # Relevant (relevance: 1)
            ],
            expected_reference=[
                {"id": "doc1", "relevance": 3.0},
                {"id": "doc2", "relevance": 2.0},
                {"id": "doc3", "relevance": 1.0},
            ],
        )

        # Evaluate with all metrics
        metrics = [
            HitRateAtK(k=5),
            MeanReciprocalRank(),
            NDCGAtK(k=5),
            PrecisionAtK(k=5),
            RecallAtK(k=5),
        ]

        runner = MetricRunner(metrics=metrics)
        results = await runner.run([item])

        for result in results:
            print(f"{result.metric_name}: {result.score:.3f}")
    """)
    # nDCG: (3 + 2/2 + 1/2.585) / (3 + 2/1.585 + 1/2) = 4.3869 / 4.7619; the document prints 0.876.
    assert out == (
        "Hit Rate @ K: 1.000\n"
        "Mean Reciprocal Rank (MRR): 1.000\n"
        "NDCG @ K: 0.921\n"
        "Precision @ K: 0.600\n"
        "Recall @ K: 1.000\n"
    )


# 001, the lesson. Its blocks define what they use; here the definitions are the import.


def test_lesson_judgements(notebook: Notebook) -> None:
    notebook.run("""
        from goldrank.compat.lesson import relevant_from_grades

        # Binary relevance example
        query = "What is the capital of France?"
        relevance_judgments = {
            "doc_1": 1,  # "Paris is the capital of France" - Relevant
            "doc_2": 0,  # "France is in Europe" - Not relevant
            "doc_3": 1,  # "The French capital, Paris, has..." - Relevant
            "doc_4": 0,  # "Berlin is the capital of Germany" - Not relevant
        }

        # Graded relevance example
        graded_judgments = {
            "doc_1": 3,  # Perfect answer
            "doc_2": 1,  # Marginally relevant
            "doc_3": 2,  # Partially relevant
            "doc_4": 0,  # Not relevant
        }
        binary = relevant_from_grades(relevance_judgments)
        graded = relevant_from_grades(graded_judgments, rel=2)
    """)
    assert notebook.names["binary"] == notebook.names["graded"] == {"doc_1", "doc_3"}


def test_lesson_recall(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.lesson import recall_at_k

        # Example
        retrieved = ["doc_3", "doc_1", "doc_7", "doc_2", "doc_5", "doc_8", "doc_4"]
        relevant = {"doc_1", "doc_2", "doc_4", "doc_6"}  # 4 relevant docs total

        for k in [1, 3, 5, 10]:
            score = recall_at_k(retrieved, relevant, k)
            print(f"Recall@{k}: {score:.2f}")
    """)
    # One of four in the first three; the document prints 0.50.
    assert out == "Recall@1: 0.00\nRecall@3: 0.25\nRecall@5: 0.50\nRecall@10: 0.75\n"


def test_lesson_precision(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.lesson import precision_at_k

        # Example
        retrieved = ["doc_1", "doc_3", "doc_2", "doc_7", "doc_5"]
        relevant = {"doc_1", "doc_2", "doc_4"}

        for k in [1, 3, 5]:
            score = precision_at_k(retrieved, relevant, k)
            print(f"Precision@{k}: {score:.2f}")
    """)
    assert out == "Precision@1: 1.00\nPrecision@3: 0.67\nPrecision@5: 0.40\n"


def test_lesson_mrr(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.lesson import mean_reciprocal_rank, reciprocal_rank

        # Example: Three queries
        query_results = [
            # Query 1: First relevant at position 2
            (["doc_a", "doc_b", "doc_c"], {"doc_b", "doc_c"}),  # RR = 1/2
            # Query 2: First relevant at position 1
            (["doc_x", "doc_y", "doc_z"], {"doc_x"}),            # RR = 1/1
            # Query 3: First relevant at position 3
            (["doc_1", "doc_2", "doc_3"], {"doc_3", "doc_5"}),  # RR = 1/3
        ]

        for i, (retrieved, relevant) in enumerate(query_results, 1):
            rr = reciprocal_rank(retrieved, relevant)
            print(f"Query {i} RR: {rr:.2f}")

        mrr = mean_reciprocal_rank(query_results)
        print(f"\\nMRR: {mrr:.2f}")
    """)
    assert out == "Query 1 RR: 0.50\nQuery 2 RR: 1.00\nQuery 3 RR: 0.33\n\nMRR: 0.61\n"


LESSON_NDCG = """
    import math

    from goldrank.compat.lesson import dcg_at_k, dcg_table, format_dcg_table, ndcg_at_k

    # Example with graded relevance
    retrieved = ["doc_c", "doc_a", "doc_d", "doc_b", "doc_e"]
    relevance = {
        "doc_a": 3,  # Highly relevant
        "doc_b": 2,  # Relevant
        "doc_c": 1,  # Marginally relevant
        "doc_d": 0,  # Not relevant
        "doc_e": 1,  # Marginally relevant
    }

    # Show DCG calculation step by step
    print("Position | Doc   | Relevance | Discount | Contribution")
    print("-" * 55)
    for i, doc_id in enumerate(retrieved[:5], start=1):
        rel = relevance.get(doc_id, 0)
        discount = math.log2(i + 1)
        contribution = rel / discount
        print(f"    {i}    | {doc_id} |     {rel}     |  {discount:.2f}   |    {contribution:.2f}")

    print(f"\\nDCG@5: {dcg_at_k(retrieved, relevance, 5):.2f}")
    print(f"NDCG@5: {ndcg_at_k(retrieved, relevance, 5):.2f}")
"""
LESSON_DCG_TABLE = """\
Position | Doc   | Relevance | Discount | Contribution
-------------------------------------------------------
    1    | doc_c |     1     |  1.00   |    1.00
    2    | doc_a |     3     |  1.58   |    1.89
    3    | doc_d |     0     |  2.00   |    0.00
    4    | doc_b |     2     |  2.32   |    0.86
    5    | doc_e |     1     |  2.58   |    0.39
"""


def test_lesson_ndcg(notebook: Notebook) -> None:
    # 4.1410 / (3 + 2/1.585 + 1/2 + 1/2.322) = 4.1410 / 5.1925 = 0.7975; the document prints 0.76.
    assert notebook.run(LESSON_NDCG) == LESSON_DCG_TABLE + "\nDCG@5: 4.14\nNDCG@5: 0.80\n"


def test_lesson_dcg_table(notebook: Notebook) -> None:
    notebook.run(LESSON_NDCG)
    assert notebook.run("print(format_dcg_table(dcg_table(retrieved, relevance, 5)))") == LESSON_DCG_TABLE


def test_lesson_hit_rate(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.lesson import mean_hit_rate

        # Example
        queries = [
            (["doc_1", "doc_2", "doc_3"], {"doc_2"}),      # Hit at position 2
            (["doc_a", "doc_b", "doc_c"], {"doc_x"}),       # No hit
            (["doc_x", "doc_y", "doc_z"], {"doc_x", "doc_y"}),  # Hit at position 1
            (["doc_p", "doc_q", "doc_r"], {"doc_r"}),      # Hit at position 3
        ]

        for k in [1, 3, 5]:
            hr = mean_hit_rate(queries, k)
            print(f"Hit Rate@{k}: {hr:.2f}")
    """)
    assert out == "Hit Rate@1: 0.25\nHit Rate@3: 0.75\nHit Rate@5: 0.75\n"


def test_lesson_evaluator(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.lesson import RetrievalEvaluator

        # Example usage
        evaluator = RetrievalEvaluator(k_values=[1, 3, 5, 10])

        # Simulate dataset
        dataset = [
            {
                "retrieved": ["d1", "d3", "d5", "d2", "d7", "d8", "d4", "d9", "d10", "d6"],
                "relevant": {"d1", "d2", "d4", "d6"},
                "relevance_scores": {"d1": 3, "d2": 2, "d4": 1, "d6": 2}
            },
            {
                "retrieved": ["d3", "d1", "d7", "d2", "d5", "d4", "d8", "d9", "d10", "d6"],
                "relevant": {"d1", "d2"},
                "relevance_scores": {"d1": 3, "d2": 2}
            },
            {
                "retrieved": ["d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10"],
                "relevant": {"d1", "d3", "d5"},
                "relevance_scores": {"d1": 3, "d3": 2, "d5": 1}
            }
        ]

        metrics = evaluator.evaluate_dataset(dataset)
        evaluator.print_report(metrics)
    """)
    # The layout is the document's. Recall@1: (1/4 + 0 + 1/3) / 3; the document prints 0.3056 and seven more errors.
    assert out == (
        "==================================================\n"
        "RETRIEVAL EVALUATION REPORT\n"
        "==================================================\n"
        "\n"
        "MRR: 0.8333\n"
        "\n"
        "   k |   Recall |  Precision |     NDCG | Hit Rate\n"
        "--------------------------------------------------\n"
        "   1 |   0.1944 |     0.6667 |   0.6667 |   0.6667\n"
        "   3 |   0.4722 |     0.4444 |   0.6181 |   1.0000\n"
        "   5 |   0.8333 |     0.4667 |   0.7486 |   1.0000\n"
        "  10 |   1.0000 |     0.3000 |   0.8020 |   1.0000\n"
    )


def test_lesson_comparison(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.lesson import RetrieverComparison

        # Test data
        queries = [
            {"retrieved": ["d1", "d3", "d2", "d5", "d4"], "relevant": ["d1", "d2", "d4"]},
            {"retrieved": ["d2", "d1", "d4", "d3", "d5"], "relevant": ["d1", "d3"]},
            {"retrieved": ["d3", "d5", "d1", "d2", "d4"], "relevant": ["d1", "d2", "d3"]},
        ]

        # Simulate Retriever B with different (worse) results
        queries_b = [
            {"retrieved": ["d3", "d5", "d1", "d2", "d4"], "relevant": ["d1", "d2", "d4"]},
            {"retrieved": ["d4", "d3", "d1", "d5", "d2"], "relevant": ["d1", "d3"]},
            {"retrieved": ["d5", "d4", "d3", "d2", "d1"], "relevant": ["d1", "d2", "d3"]},
        ]

        comparator = RetrieverComparison(k_values=[1, 3, 5])
        result_a = comparator.evaluate_retriever("Retriever A", queries)
        result_b = comparator.evaluate_retriever("Retriever B", queries_b)

        print(comparator.compare([result_a, result_b]))
    """)
    # The layout is the document's. MRR of A: (1 + 1/2 + 1) / 3; the document prints 0.7222 and eleven more errors.
    assert out == (
        "======================================================================\n"
        "RETRIEVER COMPARISON\n"
        "======================================================================\n"
        "\n"
        "Metric               | Retriever A | Retriever B\n"
        "----------------------------------------------------------------------\n"
        "MRR                  |     0.8333 |     0.3889\n"
        "Recall@1             |     0.2222 |     0.0000\n"
        "Precision@1          |     0.6667 |     0.0000\n"
        "NDCG@1               |     0.6667 |     0.0000\n"
        "Recall@3             |     0.6111 |     0.5556\n"
        "Precision@3          |     0.5556 |     0.4444\n"
        "NDCG@3               |     0.5982 |     0.3876\n"
        "Recall@5             |     1.0000 |     1.0000\n"
        "Precision@5          |     0.5333 |     0.5333\n"
        "NDCG@5               |     0.8141 |     0.6433\n"
    )
    rows = notebook.run("print(comparator.compare([result_a, result_b], hit_rate=True))").splitlines()
    # Hits at 1: two of three queries of A, none of B.
    assert "Hit Rate@1           |     0.6667 |     0.0000" in rows


# 002, REMem. The document shows no code blocks, but describes the calls.


def test_remem_calls(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.remem import RetrievalNDCGAny, RetrievalRecall, RetrievalRecallAll

        gold_docs = [["doc1", "doc2"], ["doc3"]]
        retrieved_docs = [["doc1", "doc3", "doc2"], ["doc4", "doc3"]]
        for metric in (RetrievalRecall(global_config=None), RetrievalRecallAll(), RetrievalNDCGAny()):
            pooled, per_example = metric.calculate_metric_scores(
                gold_docs=gold_docs, retrieved_docs=retrieved_docs, k_list=[1, 2, 5]
            )
            print(pooled)
            print(len(per_example))
    """)
    # Recall@1: (1/2 + 0) / 2 (the page prints 0.5); nDCG: ranks 1 and 2 weigh 1, rank 3 weighs 1/1.585.
    # First query at 5: (1 + 0.6309) / (1 + 1); second query: 1 / 1; at 1: 1 and 0; at 2: 1/2 and 1.
    assert out == (
        "{'Recall@1': 0.25, 'Recall@2': 0.75, 'Recall@5': 1.0}\n2\n"
        "{'Recall_all@1': 0.0, 'Recall_all@2': 0.5, 'Recall_all@5': 1.0}\n2\n"
        "{'NDCG_any@1': 0.5, 'NDCG_any@2': 0.75, 'NDCG_any@5': 0.9077}\n2\n"
    )


# 003, continuous-eval.


def test_continuous_eval_example(notebook: Notebook) -> None:
    out = notebook.run("""
        from goldrank.compat.continuous_eval.metrics import RankedRetrievalMetrics, RougeChunkMatch

        datum = {
            "retrieved_contexts": [
                "Lyon is a major city in France.",
                "Paris is the capital of France and also the largest city in the country.",
            ],
            "ground_truth_contexts": ["Paris is the capital of France."],
        }

        metric = RankedRetrievalMetrics(RougeChunkMatch())
        print(metric.calculate(**datum))
    """)
    assert out == "{'average_precision': 0.5, 'reciprocal_rank': 0.5, 'ndcg': 0.6309297535714574}\n"


# 004, ir_eval_numba. The document's blocks are its imports.


def test_ir_eval_numba_imports(notebook: Notebook) -> None:
    out = notebook.run("""
        import numpy as np
        from goldrank.compat.ir_eval_numba.metrics import recall
        from goldrank.compat.ir_eval_numba.metrics import precision
        from goldrank.compat.ir_eval_numba.metrics import average_precision
        from goldrank.compat.ir_eval_numba.metrics import mean_average_precision
        from goldrank.compat.ir_eval_numba.metrics import ndcg
        from goldrank.compat.ir_eval_numba.metrics import reciprocal_rank
        from goldrank.compat.ir_eval_numba.metrics import mean_reciprocal_rank

        actual, predicted = np.array([1, 3, 5]), np.array([1, 2, 3, 4, 5])
        for function in (recall, precision, average_precision, ndcg, reciprocal_rank):
            print(function.__name__, f"{function(actual, predicted, 3):.4f}")
        print(f"{mean_average_precision([actual, actual], [predicted, predicted[::-1]], 3):.4f}")
        print(f"{mean_reciprocal_rank([actual, actual], [predicted, predicted[1:]], 3):.4f}")
    """)
    # Hits at 1 and 3 of 3 relevant. AP (1 + 2/3) / 2; nDCG (1 + 1/2) / (1 + 0.6309 + 1/2) = 0.7039;
    # backwards the ids are 5 4 3: AP the same. From the second id on the first hit is at 2.
    assert out == (
        "recall 0.6667\nprecision 0.6667\naverage_precision 0.8333\nndcg 0.7039\nreciprocal_rank 1.0000\n"
        "0.8333\n0.7500\n"
    )
