"""Benchmarks of long-term memory: their result files, with the numbers that their own scripts give."""

PUBLIC = {
    "memory_scores": "goldrank.memory.scores",
    "MemoryScores": "goldrank.memory.result",
}
