"""DeepEval: test cases with `retrieval_context` (what was retrieved) and `context` (what should have been)."""

from dataclasses import dataclass, field

import goldrank


@dataclass
class LLMTestCase:
    """Stands in for deepeval.test_case.LLMTestCase, whose fields it has; dicts do as well."""

    input: str
    actual_output: str
    retrieval_context: list[str | dict[str, str]] = field(default_factory=list)
    context: list[str] = field(default_factory=list)


cases = [
    LLMTestCase(
        "How long is the warranty?",
        "Two years.",
        ["Returns are free for thirty days.", {"context": "The warranty lasts two years.", "source": "terms.md"}],
        ["The warranty lasts two years."],
    ),
    LLMTestCase(
        "Can I send it back?",
        "Yes.",
        ["We ship on weekdays.", "Our shop is in Ghent."],
        ["Returns are free for thirty days."],
    ),
]

scores = goldrank.evaluate_texts(cases, ["Cover@5", "RR"], matching="rouge-l:0.7")
print(scores)

# Found at rank 2, and not found.
assert scores["RR"] == (1 / 2 + 0) / 2
assert scores["Cover@5"] == (1 + 0) / 2
