"""Citations of answers: do they cite what is relevant, or what supports each sentence?

By ids alone this is counted: cited, relevant and retrieved documents. With labels of support (full 1, partial 0.5, none
0) it is about each sentence and what it cites. An answer that cites nothing has no precision, and by ids no recall.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.passages import Passages
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice

_measure = partial(
    measure, over="texts", wanted="citations", needs_relevant=False, options={"of": Choice(("relevant", "support"))}
)
_BROWSECOMP = "Chen et al. 2025, BrowseComp-Plus (by ids); Upadhyay et al. 2024, TREC RAG (by support)"


def _share(t: Passages, part_name: str, total_name: str, counted: np.ndarray | None = None) -> np.ndarray:
    """One count divided by another; NaN where there is nothing to divide by, or an answer does not count."""
    if t.citations is None:
        return np.full(len(t), np.nan)
    total = t.citations.column(total_name)
    if counted is None:
        counts = total > 0
    else:
        counts = (total > 0) & counted
    share = np.full(len(t), np.nan)
    np.divide(t.citations.column(part_name), total, out=share, where=counts)
    return share


def _cites(t: Passages) -> np.ndarray:
    """Which answers cite anything."""
    if t.citations is None:
        return np.zeros(len(t), bool)
    return t.citations.column("cited") > 0


@_measure(
    "CitationPrecision",
    formula='CitationPrecision = (cited and relevant documents) / (cited documents); of="support": (sum of the support '
    "of each sentence by each document that it cites) / (such pairs)",
    use="Whether what answers cite is worth citing.",
    avoid="Alone: an answer with one safe citation has 1. See CitationRecall.",
    cite=_BROWSECOMP,
    aliases=("citation_precision",),
)
def citation_precision(t: Passages, *, of: str = "relevant") -> np.ndarray:
    """The share of what is cited that is relevant; answers that cite nothing have no value.

    With `of="support"` it is the mean support of the pairs of a sentence and a document that it cites.

    >>> items = [{"id": "q", "cited_ids": ["d1", "d2"], "retrieved_ids": ["d1", "d3"], "expected_ids": ["d1", "d3"]}]
    >>> evaluate_texts(items, "CitationPrecision")["CitationPrecision"]
    0.5
    """
    if of == "support":
        return _share(t, "support", "pairs")
    is_known = ~np.isnan(_share(t, "relevant", "cited"))
    return _share(t, "cited_relevant", "cited", is_known)


@_measure(
    "CitationRecall",
    formula='CitationRecall = (cited and relevant documents) / (relevant documents); of="support": mean over sentences '
    "of the best support by a document that they cite, 0 for those that cite nothing",
    use="Whether answers cite what there is to cite, or support what they say.",
    avoid="More documents are relevant than an answer has use for.",
    cite=_BROWSECOMP,
    aliases=("citation_recall",),
)
def citation_recall(t: Passages, *, of: str = "relevant") -> np.ndarray:
    """The share of relevant documents that are cited; answers that cite nothing have no value.

    With `of="support"` it is the mean over sentences of the best support of their citations.

    >>> items = [{"id": "q", "cited_ids": ["d1", "d2"], "retrieved_ids": ["d1", "d3"], "expected_ids": ["d1", "d3"]}]
    >>> evaluate_texts(items, "CitationRecall")["CitationRecall"]
    0.5
    """
    if of == "support":
        return _share(t, "best", "sentences")
    return _share(t, "cited_relevant", "relevant", _cites(t))


@_measure(
    "CitationInvented",
    higher_is_better=False,
    formula="CitationInvented = (cited documents that were not retrieved) / (cited documents)",
    use="Citations that a model cannot have read.",
    avoid="Models may look up documents by themselves.",
    cite="goldrank 1.0",
    aliases=("citation_invented",),
)
def citation_invented(t: Passages) -> np.ndarray:
    """The share of what is cited that was not retrieved; answers that cite nothing have no value.

    >>> items = [{"id": "q", "cited_ids": ["d1", "d2"], "retrieved_ids": ["d1", "d3"], "expected_ids": ["d1", "d3"]}]
    >>> evaluate_texts(items, "CitationInvented")["CitationInvented"]
    0.5
    """
    return 1.0 - _share(t, "cited_retrieved", "cited")


@_measure(
    "CitationUsed",
    formula="CitationUsed = (relevant documents that were retrieved and are cited) / (relevant documents retrieved)",
    use="How much of what retrieval brought the generator uses, whatever retrieval missed.",
    avoid="Several documents say the same: one citation is then enough.",
    cite="goldrank 1.0",
    aliases=("citation_used",),
)
def citation_used(t: Passages) -> np.ndarray:
    """The share of the relevant documents among those retrieved that are cited; no value without a citation.

    >>> items = [{"id": "q", "cited_ids": ["d1", "d2"], "retrieved_ids": ["d1", "d3"], "expected_ids": ["d1", "d3"]}]
    >>> evaluate_texts(items, "CitationUsed")["CitationUsed"]
    0.5
    """
    return _share(t, "used", "retrieved_relevant", _cites(t))
