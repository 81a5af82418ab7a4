"""Benchmarks of long-term memory: their result files, with the numbers that their own scripts give."""

PUBLIC = {
    "memory_scores": "goldrank.memory.scores",
    "MemoryScores": "goldrank.memory.result",
}
READERS = {
    "longmemeval": ("goldrank.memory.files", "retrieval logs of LongMemEval", ("ranked_items", "haystack_session_ids")),
    "locomo": ("goldrank.memory.files", "result files of LoCoMo", ("qa", "evidence", "category")),
    "mempalace": ("goldrank.memory.files", "MemPalace's results of LongMemEval and LoCoMo", ()),
    "memorybench": ("goldrank.memory.files", "reports of memorybench", ("evaluations", "retrievalMetrics")),
}
COLUMNS = {
    "((session|turn) )?(recall_any|recall_all|ndcg_any)": True,
    "recall|hitAtK|precisionAtK|mrr|ndcg|correct": True,
    "search seconds": False,
}
