"""Ragas: the rows of an `EvaluationDataset`, or the file that its `to_jsonl` writes."""

import json
import tempfile
from pathlib import Path

import goldrank

rows = [
    {
        "user_input": "When is the museum open?",
        "retrieved_contexts": [
            "The museum shop sells posters and books.",
            "The museum is open from ten to six, except on Mondays.",
        ],
        "reference_contexts": ["The museum is open from ten to six, except on Mondays."],
        "response": "From ten to six.",
        "reference": "From ten to six, not on Mondays.",
    },
    {
        "user_input": "What does a ticket cost?",
        "retrieved_contexts": ["A ticket costs nine euros.", "Children under six pay nothing."],
        "reference_contexts": [
            "A ticket costs nine euros.",
            "Children under six pay nothing.",
            "Groups get ten percent off.",
        ],
        "response": "Nine euros.",
        "reference": "Nine euros; children are free, groups pay less.",
    },
]

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "dataset.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = goldrank.evaluate_texts(path, ["Cover@5", "nDCG@10"], matching="rouge-l:0.7")
    print(scores)

# Of the first question everything is covered, of the second two references out of three.
assert abs(scores["Cover@5"] - (1 + 2 / 3) / 2) < 1e-12
