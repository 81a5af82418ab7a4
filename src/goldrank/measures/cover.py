"""Measures of retrieved texts: which references they cover, how long they are, what they repeat."""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.passages import Passages
from goldrank.measures.cutoff import last_rank, ratio, recall, recall_all
from goldrank.measures.declare import measure

_measure = partial(measure, over="texts")


@_measure(
    "Cover",
    formula="Cover@k = (references that the first k texts cover) / (references)",
    use="RAG: how much of what an answer needs is in the context. The first number to look at.",
    avoid="The order within the first k matters; use nDCG or AP.",
    cite="Zhai, Cohen and Lafferty 2003, as recall of subtopics; continuous-eval's context recall",
    aliases=("Coverage", "reference_coverage"),
    for_documents="ItemCoverage",
)
def cover(t: Passages, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The share of references that any of the first k texts covers.

    >>> items = [{"retrieved": ["one and two", "x"], "references": ["one", "two", "three", "four"]}]
    >>> evaluate_texts(items, "Cover@1", matching="contains")["Cover@1"]
    0.5
    """
    return recall(t.pairs.per_label, k=k, rel=rel)


@_measure(
    "CoverAll",
    cutoff="needed",
    formula="CoverAll@k = 1 if the first k texts cover every reference, else 0",
    use="RAG where an answer needs all of its evidence: questions of several hops.",
    avoid="Part of the evidence is worth something; use Cover.",
    cite="LongMemEval 2024 and REMem, as recall_all",
    aliases=("CoverageAll",),
)
def cover_all(t: Passages, *, k: int, rel: float = 1) -> np.ndarray:
    """Whether the first k texts cover every reference.

    >>> items = [{"retrieved": ["one", "two"], "references": ["one", "two"]}]
    >>> scores = evaluate_texts(items, ["CoverAll@1", "CoverAll@2"], matching="contains")
    >>> scores["CoverAll@1"], scores["CoverAll@2"]
    (0.0, 1.0)
    """
    return recall_all(t.pairs.per_label, k=k, rel=rel)


@_measure(
    "CoverArea",
    counts_tokens=True,
    takes_budget=True,
    formula="CoverArea(tokens=L) = mean over references of max(0, 1 - T/L), T: tokens up to the end of the first text "
    "that covers it",
    use="Compare systems whose texts differ in length: what is covered after few tokens counts more.",
    avoid="The budget is fixed; use Cover(tokens=L).",
    cite="Sakai and Dou 2013, Summaries, ranked retrieval and sessions: A unified framework (U-measure)",
    aliases=("cover_area",),
)
def cover_area(t: Passages, *, k: int | None, rel: float = 1, tokens: int = 0) -> np.ndarray:
    """The area under Cover against the budget of tokens, from 0 to `tokens`.

    >>> items = [{"retrieved": ["x y", "a b"], "references": ["a b"]}]
    >>> evaluate_texts(items, "CoverArea(tokens=8)", matching="contains")["CoverArea(tokens=8)"]
    0.5
    """
    first = t.pairs.per_label
    is_hit = (first.grade >= rel) & (first.rank <= last_rank(k)) & (tokens > 0)
    worth = np.where(is_hit, np.maximum(0.0, 1.0 - t.spent(first) / max(tokens, 1)), 0.0)
    return ratio(first.sum(worth), t.pairs.relevant(rel))


_cost = partial(_measure, needs_relevant=False, higher_is_better=False, cite="goldrank 0.2")


@_cost(
    "Repeated",
    formula="Repeated@k = (texts among the first k that stand higher up already) / (texts among the first k)",
    use="Whether an index or a fusion returns the same chunk again.",
    avoid="Chunks overlap without being equal; use Redundant.",
    aliases=("duplicate_share",),
)
def repeated(t: Passages, *, k: int | None) -> np.ndarray:
    """The share of the first k texts that are equal to one above them.

    >>> evaluate_texts([{"retrieved": ["a", "b", "a", "a"], "references": ["a"]}], "Repeated@3")["Repeated@3"]
    0.3333333333333333
    """
    inside = t.rank <= last_rank(k)
    return ratio(t.count(inside & t.repeated), t.count(inside))


@_cost(
    "Redundant",
    formula="Redundant@k = (texts among the first k that cover references, but no new one) / (texts among the first k)",
    use="How much of the context says again what is said above; overlapping chunks.",
    avoid="Repetition helps, as when sources should confirm each other.",
    aliases=("redundancy_share",),
)
def redundant(t: Passages, *, k: int | None) -> np.ndarray:
    """The share of the first k texts that cover only what texts above them cover.

    >>> items = [{"retrieved": ["say a", "a again", "b"], "references": ["a", "b"]}]
    >>> evaluate_texts(items, "Redundant", matching="contains")["Redundant"]
    0.3333333333333333
    """
    inside = t.rank <= last_rank(k)
    return ratio(t.count(inside & t.matches & ~t.adds), t.count(inside))


@_cost(
    "Tokens",
    formula="Tokens@k = tokens of the first k texts",
    use="What a context costs, beside what it covers.",
    avoid="Compared without the quality it buys; see Cover(tokens=1000).",
    high=float("inf"),
    aliases=("num_tokens", "TokenCount"),
    by_place=True,
    counts_tokens=True,
)
def tokens(t: Passages, *, k: int | None) -> np.ndarray:
    """How many tokens the first k texts have; words, unless a tokeniser is given.

    >>> evaluate_texts([{"retrieved": ["one two", "three"], "references": ["one two"]}], "Tokens")["Tokens"]
    3.0
    """
    return t.tokens(t.rank <= last_rank(k))
