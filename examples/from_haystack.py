"""Haystack: `run(query=..., top_k=...)` gives {"documents": [...]}."""

from dataclasses import dataclass, field
from typing import Any

import goldrank

TEXTS = ["Salt melts ice.", "Ice is frozen water.", "Sugar dissolves in water."]


@dataclass
class Document:
    """Stands in for haystack.Document."""

    content: str
    id: str
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


class BM25Retriever:
    """Stands in for a retriever of Haystack that takes the question itself."""

    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        words = set(query.lower().strip("?").split())
        weight = {text: len(words & set(text.lower().strip(".").split())) for text in TEXTS}
        ranked = sorted(TEXTS, key=lambda text: -weight[text])[:top_k]
        return {"documents": [Document(text, f"d{TEXTS.index(text)}", score=weight[text]) for text in ranked]}


questions = [
    {"question": "What melts ice?", "ground_truth_documents": [{"content": "Salt melts ice.", "id": "d0"}]},
    {"question": "What is ice?", "ground_truth_documents": [{"content": "Ice is frozen water.", "id": "d1"}]},
]
found = goldrank.run_retriever(BM25Retriever(), questions, k=2)
scores = goldrank.evaluate_texts(found, ["Cover@5", "nDCG@10"], matching="rouge-l:0.7")
print(scores)
assert scores["Cover@5"] == 1.0

# A pipeline, or a retriever that wants an embedding, is wrapped in a function:
#     goldrank.run_retriever(lambda question: pipeline.run({"retriever": {"query": question}})["retriever"], questions)
