"""continuous-eval: the columns `question`, `retrieved_context` and `ground_truth_context` of its data sets."""

import goldrank

columns = {
    "question": ["What is the capital of France?", "Who wrote Faust?"],
    "retrieved_context": [
        ["Paris is the capital of France and also the largest city in the country.", "Lyon is a major city in France."],
        ["Schiller wrote The Robbers.", "Goethe wrote Faust."],
    ],
    "ground_truth_context": [["Paris is the capital of France."], ["Goethe wrote Faust."]],
}

scores = goldrank.evaluate_texts(columns, ["Cover@5", "RR", "nDCG@10"], matching="rouge-l:0.7")
print(scores)

# Found at rank 1 and at rank 2.
assert scores["RR"] == (1 + 1 / 2) / 2
