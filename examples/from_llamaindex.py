"""LlamaIndex: `retrieve(question)` gives nodes with scores; `await aretrieve(question)` does as well."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import goldrank

TEXTS = {"n1": "The tower is 324 metres high.", "n2": "It was built in 1889.", "n3": "Lifts run until midnight."}


@dataclass
class TextNode:
    """Stands in for llama_index.core.schema.TextNode."""

    node_id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)

    def get_content(self) -> str:
        return self.text


@dataclass
class NodeWithScore:
    """Stands in for llama_index.core.schema.NodeWithScore."""

    node: TextNode
    score: float | None = None


class Retriever:
    """Stands in for a LlamaIndex retriever."""

    async def aretrieve(self, question: str) -> list[NodeWithScore]:
        await asyncio.sleep(0.01)  # a remote index
        order = ["n2", "n1", "n3"] if "built" in question else ["n3", "n1", "n2"]
        return [NodeWithScore(TextNode(key, TEXTS[key]), 1 / rank) for rank, key in enumerate(order, 1)]


questions = [
    {"query": "When was it built?", "expected_texts": ["It was built in 1889."]},
    {"query": "How high is it?", "expected_texts": ["The tower is 324 metres high."]},
]
found = goldrank.run_retriever(Retriever().aretrieve, questions)
scores = goldrank.evaluate_texts(found, ["RR", "Cover@5", "nDCG@10"], matching="rouge-l:0.7")
print(scores)

# At rank 1 and at rank 2.
assert scores["RR"] == (1 + 1 / 2) / 2
