"""open-rag-eval's precision and recall of citations (citation_metric.py of the project), from labels of support.

Precision is a mean over passages, each the mean of its uses; recall is a mean over sentences, each the mean over its
citations. A citation of a passage that is not there is skipped, and a sentence with only such citations leaves recall.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

CREDITS = {"full_support": 1.0, "partial_support": 0.5, "no_support": 0.0}
"""What a label is worth."""


def citation_scores(
    citations: Sequence[Sequence[str]], passages: Collection[str], support: Mapping[tuple[int, str], str]
) -> dict[str, float]:
    """Its numbers for one answer: by sentence (from 0) what it cites, and by sentence and passage the label."""
    uses: dict[str, list[float]] = {}
    scores: dict[str, float] = {}
    sentence_scores: list[float] = []
    for i, cited in enumerate(citations):
        known = [passage for passage in cited if passage in passages]
        if cited and not known:
            continue
        credits = [CREDITS[support[i, passage]] for passage in known]
        for passage, credit in zip(known, credits, strict=True):
            uses.setdefault(passage, []).append(credit)
        sentence_scores.append(_mean(credits))
        scores[f"part_score_{i + 1}"] = sentence_scores[-1]

    for passage, credits in uses.items():
        scores[f"citation_score_{passage}"] = _mean(credits)
    precision = _mean([_mean(credits) for credits in uses.values()])
    recall = _mean(sentence_scores)
    f1 = 0.0
    if precision + recall:
        f1 = 2 * precision * recall / (precision + recall)
    return {**scores, "weighted_precision": precision, "weighted_recall": recall, "f1": f1}


def _mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    if not values:
        return 0.0
    return sum(values) / len(values)
