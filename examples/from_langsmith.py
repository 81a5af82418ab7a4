"""LangSmith: `inputs` and `outputs` have keys of one's own, so that `fields` says where things are."""

import goldrank

runs = [
    {
        "id": "a1",
        "inputs": {"question": "What is the notice period?"},
        "outputs": {"documents": [{"page_content": "The notice period is three months.", "metadata": {}}]},
        "reference_outputs": {"passages": ["The notice period is three months."]},
    },
    {
        "id": "b2",
        "inputs": {"question": "Is there a canteen?"},
        "outputs": {"documents": [{"page_content": "Lunch is from noon to two.", "metadata": {}}]},
        "reference_outputs": {"passages": ["The canteen is on the first floor."]},
    },
]

# Without `fields` nothing is guessed: the error lists what is there.
try:
    goldrank.evaluate_texts(runs, ["Cover@5"])
except goldrank.GoldrankError as error:
    print(error, "\n")

fields = {"retrieved": "outputs.documents", "references": "reference_outputs.passages"}
items = goldrank.read_items(runs, fields=fields)
scores = goldrank.evaluate_texts(items, ["Cover@5", "nDCG@10"], matching="rouge-l:0.7")
print(scores)
assert scores["Cover@5"] == (1 + 0) / 2
