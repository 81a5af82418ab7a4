"""Example data in the shapes of continuous-eval's. Nothing is downloaded: they are a few lines in this file."""

from __future__ import annotations

from pathlib import Path

from goldrank.base.errors import OptionError, one_of
from goldrank.compat.continuous_eval.dataset import Dataset

_FRANCE = "Paris is the capital of France."
_PLAY = "Romeo and Juliet is a play by William Shakespeare."

EXAMPLES: dict[str, list[dict[str, object]]] = {
    "retrieval": [
        {
            "question": "What is the capital of France?",
            "retrieved_contexts": ["Lyon is a major city in France.", _FRANCE],
            "ground_truth_contexts": [_FRANCE],
        },
        {
            "question": "Who wrote Romeo and Juliet?",
            "retrieved_contexts": ["Shakespeare was a playwright.", _PLAY],
            "ground_truth_contexts": ["Shakespeare was a playwright.", _PLAY],
        },
    ],
    "graded": [
        {
            "question": "How tall is the Eiffel Tower?",
            "retrieved_contexts": ["The Eiffel Tower is in Paris.", "The Eiffel Tower is 330 metres tall."],
            "ground_truth_contexts": ["The Eiffel Tower is 330 metres tall.", "The Eiffel Tower is in Paris."],
            "ground_truth_relevance": [3, 1],
        },
    ],
    "correctness": [
        {"question": "What is the capital of France?", "answer": "Paris", "ground_truths": ["Paris", "It is Paris."]},
        {"question": "Who wrote Romeo and Juliet?", "answer": "I don't know", "ground_truths": ["Shakespeare"]},
    ],
    "faithfulness": [
        {
            "question": "What is the capital of France?",
            "retrieved_contexts": [_FRANCE],
            "answer": "Paris is the capital of France. It is the largest city in Europe.",
        },
    ],
}
"""One example or two of each shape."""


def example_data(resource: str = "retrieval") -> Dataset:
    """A few queries to try things with: "retrieval", "graded" (with relevance), "correctness" or "faithfulness".

    >>> len(example_data())
    2
    """
    return Dataset([dict(datum) for datum in EXAMPLES[one_of(resource, EXAMPLES, "resource")]])


def example_data_downloader(
    resource: str, destination_dir: str | Path = "data", force_download: bool = False
) -> Dataset:
    """`example_data`, by its name in continuous-eval. No file is written, and nothing is downloaded.

    >>> example_data_downloader("retrieval")["question"][0]
    'What is the capital of France?'
    """
    if str(resource).startswith("graham_essays/"):
        message = f"{resource!r} would have to be downloaded, and goldrank downloads nothing"
        raise OptionError(message, hint=f"There are: {', '.join(EXAMPLES)}.", code="downloads-nothing")
    return example_data(resource)
