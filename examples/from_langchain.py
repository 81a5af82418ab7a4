"""LangChain: a retriever is asked every question, several at a time, and what it returns is evaluated."""

from dataclasses import dataclass, field
from typing import Any

import goldrank

TEXTS = ["Bees live in hives.", "Ants live in nests.", "Spiders spin webs."]


@dataclass
class Document:
    """Stands in for langchain_core.documents.Document."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


class Retriever:
    """Stands in for any langchain_core.retrievers.BaseRetriever: `invoke(question)` returns Documents."""

    def invoke(self, question: str) -> list[Document]:
        words = set(question.lower().strip("?").split())
        ranked = sorted(TEXTS, key=lambda text: -len(words & set(text.lower().strip(".").split())))
        return [Document(text, {"source": "animals.txt"}, id=f"doc{TEXTS.index(text)}") for text in ranked]


questions = [
    {"question": "Where do ants live?", "references": ["Ants live in nests."]},
    {"question": "Who spins webs?", "references": ["Spiders spin webs."]},
]
found = goldrank.run_retriever(Retriever(), questions, k=2)
print(found, [f"{item.latency:.4f} s" for item in found])

scores = goldrank.evaluate_texts(found, ["Cover@5", "nDCG@10"], matching="rouge-l:0.7")
print(scores)
assert scores["Cover@5"] == 1.0

# The documents have ids, too, so that judgements by id can be used as well.
by_id = goldrank.evaluate({"1": {"doc1": 1}, "2": {"doc2": 1}}, found.run, "RR")
print(by_id)
assert by_id["RR"] == 1.0
