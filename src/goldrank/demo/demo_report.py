"""The demo's result, and what its numbers mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.data.score_table import score_parts
from goldrank.data.scores import ScoresByRun
from goldrank.data.table import Fold, Part, Sentence

DEFAULT = ("nDCG@10", "AP", "RR", "P@1", "R@5", "Judged@5")


# The data are what `goldrank.demo.load` reads from its JSON file.
def parts(data: Mapping[str, Any], scores: ScoresByRun) -> list[Part]:
    """What was measured, the numbers, and what they say, for who reads such numbers for the first time."""
    judged = sum(map(len, data["qrels"].values()))
    size = f"{len(data['documents'])} household tips, {len(data['queries'])} questions, {judged} judgements"
    overlap, bm25 = scores["overlap"], scores["bm25"]
    gains = {q: bm25.per_query["nDCG@10"][q] - v for q, v in overlap.per_query["nDCG@10"].items()}
    more, less = sum(gain > 0 for gain in gains.values()), sum(gain < 0 for gain in gains.values())
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    says = [
        f"The first tip is a good one for {overlap['P@1']:.0%} of the questions with overlap and "
        f"{bm25['P@1']:.0%} with bm25.",
        f"nDCG@10 rewards the best tips at the top: bm25 is better for {more} questions, worse for {less}.",
        f'It gains most for "{data["queries"][most]}" ({gains[most]:+.2f})'
        + (f' and loses most for "{data["queries"][least]}" ({gains[least]:+.2f}).' if gains[least] < 0 else "."),
        f"Only {bm25['Judged@5']:.0%} of the first five tips were judged: the others count as wrong, perhaps unfairly.",
        "`overlap` gives many equal scores; goldrank orders ties by document id and says how many there were.",
    ]

    return [
        Sentence(f"{size} (2 answers it, 1 helps, 0 does not)."),
        Sentence("Two retrievers: `overlap` counts common words, `bm25` weighs rare words more."),
        *score_parts(list(scores.values())),
        Fold("What this says", [Sentence(text, "remark") for text in says]),
    ]
