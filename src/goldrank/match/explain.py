"""One question's matches, pair by pair, for people to look at."""

from __future__ import annotations

import numpy as np

from goldrank.data.explanation import Explanation
from goldrank.data.texts import TextItem
from goldrank.match.matcher import Matcher
from goldrank.match.pairs import Splitter, TextCounts, usable_references
from goldrank.match.tokens import Stretches


def explain_item(item: TextItem, matcher: Matcher, split: Splitter | None = None) -> Explanation:
    """How much each text of a question matches each of its references, and by which words."""
    retrieved, references = usable_references(item, split, TextCounts())
    degrees = np.zeros((len(retrieved), len(references)))
    matched = np.zeros(degrees.shape, bool)
    marks: dict[tuple[int, int], Stretches] = {}
    rows = [row for row, text in enumerate(retrieved) if text.strip()]
    texts = [retrieved[row] for row in rows]
    for column, reference in enumerate(references if rows else ()):
        left = np.repeat(np.arange(len(rows)), len(reference.texts))
        right = np.tile(np.arange(len(reference.texts)), len(rows))
        by_text = matcher.degrees(texts, reference.texts, left, right).reshape(len(rows), -1)
        best = by_text.argmax(axis=1)
        degrees[rows, column] = by_text.max(axis=1)
        matched[rows, column] = matcher.enough(by_text).any(axis=1)
        for i in np.flatnonzero(matched[rows, column]).tolist():
            marks[rows[i], column] = matcher.marks(texts[i], reference.texts[int(best[i])])
    return Explanation(
        query=item.query,
        question=item.question,
        matcher=str(matcher),
        says=matcher.says,
        retrieved=retrieved,
        references=references,
        degrees=degrees,
        matched=matched,
        marks=marks,
        threshold=matcher.threshold,
        inclusive=matcher.inclusive,
    )
