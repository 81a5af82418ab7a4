"""What an answer claims, and whether the texts hold it: the measures that users of Ragas know, by their names.

Claims are the sentences of the reference answer, or what a function makes of it; a matcher or a judge says which text
holds which.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.passages import Passages
from goldrank.measures.cutoff import precision, ratio, recall
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice
from goldrank.measures.rank import average_precision

_RAGAS = "Ragas 0.4.3 (Es, James, Espinosa-Anke and Schockaert 2024)"
_of_answer = partial(
    measure, over="texts", wanted="claims", cite=_RAGAS, options={"by": Choice(("auto", "matcher", "judge"))}
)
_alike = partial(measure, over="texts", cite=_RAGAS)


def _precision_of_found(t: Passages, k: int | None, rel: float) -> np.ndarray:
    """AP over texts, divided by the useful ones among them."""
    return average_precision(t.pairs.per_rank, k=k, rel=rel, divisor="hits")


@_of_answer(
    "ContextPrecision",
    caveat="misses-cost-nothing",
    formula="ContextPrecision@k = (sum of P@r over the ranks r <= k of useful texts) / (useful texts of the first k)",
    use="Comparison with Ragas: whether useful texts stand above useless ones.",
    avoid="What is missed should cost something, as it does in AP and Cover.",
    aliases=("context_precision", "llm_context_precision_with_reference"),
)
def context_precision(t: Passages, *, k: int | None, rel: float = 1, by: str = "auto") -> np.ndarray:
    """The mean of precision at each useful text, one that holds any claim of the reference answer.

    `by` says who decides: the "judge" if there is one ("auto"), or the "matcher".

    >>> items = [{"retrieved": ["x", "It rains."], "reference": "It rains. It pours."}]
    >>> evaluate_texts(items, "context_precision", matching="contains")["context_precision"]
    0.5
    """
    return _precision_of_found(t, k, rel)


@_of_answer(
    "ContextRecall",
    formula="ContextRecall@k = (claims of the reference answer that the first k texts hold) / (claims)",
    use="What should be found is known as an answer, not as texts.",
    avoid="References are texts of the corpus: use Cover.",
    aliases=("context_recall", "llm_context_recall"),
)
def context_recall(t: Passages, *, k: int | None, rel: float = 1, by: str = "auto") -> np.ndarray:
    """The share of the reference answer's claims that any of the first k texts holds.

    `by` says who decides: the "judge" if there is one ("auto"), or the "matcher".

    >>> items = [{"retrieved": ["x", "It rains."], "reference": "It rains. It pours."}]
    >>> evaluate_texts(items, "context_recall", matching="contains")["context_recall"]
    0.5
    """
    return recall(t.pairs.per_label, k=k, rel=rel)


@_alike(
    "AlikePrecision",
    caveat="misses-cost-nothing",
    matched_by="levenshtein:0.5",
    formula="AlikePrecision@k = ContextPrecision@k where a text is useful if 1 - (edits / longer length) >= 0.5 for "
    "any reference",
    use="Comparison with Ragas, whose name for it is non_llm_context_precision_with_reference.",
    avoid="Chunks and references differ in length: letters that are alike then say little.",
    aliases=("non_llm_context_precision_with_reference",),
)
def alike_precision(t: Passages, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The mean of precision at each text that is like a reference letter by letter, whatever the matcher.

    >>> items = [{"retrieved": ["xyz", "abcd"], "references": ["abcx"]}]
    >>> evaluate_texts(items, "AlikePrecision")["AlikePrecision"]
    0.5
    """
    return _precision_of_found(t, k, rel)


@_alike(
    "AlikeCover",
    matched_by="levenshtein>0.5",
    formula="AlikeCover@k = (references for which 1 - (edits / longer length) > 0.5 for any of the first k texts) / "
    "(references)",
    use="Comparison with Ragas, whose name for it is non_llm_context_recall.",
    avoid="Chunks and references differ in length: letters that are alike then say little.",
    aliases=("non_llm_context_recall",),
)
def alike_cover(t: Passages, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The share of references that any of the first k texts is like letter by letter, whatever the matcher.

    >>> items = [{"retrieved": ["xyz", "abcd"], "references": ["abcx", "a long one"]}]
    >>> evaluate_texts(items, "AlikeCover")["AlikeCover"]
    0.5
    """
    return recall(t.pairs.per_label, k=k, rel=rel)


@_alike(
    "DistinctPrecision",
    formula="DistinctPrecision = (distinct texts that cover a reference) / (distinct texts returned)",
    use="Comparison with Ragas, whose id_based_context_precision is of sets: ids that come again count once.",
    avoid="What is repeated takes room in a context: use SetP or P@k.",
)
def distinct_precision(t: Passages, *, rel: float = 1) -> np.ndarray:
    """The share of useful texts among those that were returned, each text or id once.

    >>> items = [{"retrieved_ids": [4, 4, 4, 4, 7], "expected_ids": [4]}]
    >>> evaluate_texts(items, "DistinctPrecision")["DistinctPrecision"]
    0.5
    """
    useful = t.pairs.per_rank
    is_useful = np.zeros(len(t.query), bool)
    first = np.searchsorted(t.query, useful.query)
    is_useful[(first + useful.rank - 1)[useful.grade >= rel]] = True
    return ratio(t.count(is_useful & ~t.repeated), t.count(~t.repeated))


@measure(
    "Faithfulness",
    over="texts",
    wanted="statements",
    needs_relevant=False,
    cite=_RAGAS,
    options={"by": Choice(("auto", "matcher", "judge"))},
    formula="Faithfulness@k = (claims of the response that the first k texts hold) / (claims of the response)",
    use="Whether an answer says what its context says.",
    avoid="Whether the answer is right matters: texts may be wrong too.",
)
def faithfulness(t: Passages, *, k: int | None, by: str = "auto") -> np.ndarray:
    """The share of the given answer's claims that any of the first k texts holds; none without any claim.

    `by` says who decides: the "judge" if there is one ("auto"), or the "matcher".

    >>> items = [{"retrieved": ["It rains."], "response": "It rains. It pours.", "references": ["?"]}]
    >>> evaluate_texts(items, "Faithfulness", matching="contains")["Faithfulness"]
    0.5
    """
    return _where_any(t, recall(t.pairs.per_label, k=k, rel=1))


@measure(
    "EntityRecall",
    over="texts",
    wanted="entities",
    matched_by="contains-words",
    cite=_RAGAS,
    formula="EntityRecall@k = (entities of the reference answer that the first k texts have) / (its distinct entities)",
    use="Answers depend on names and numbers.",
    avoid="What is said of them matters: use ContextRecall.",
    aliases=("context_entity_recall", "entity_recall"),
)
def entity_recall(t: Passages, *, k: int | None) -> np.ndarray:
    """The share of the names and numbers of the reference answer that the first k texts have; none without any.

    >>> items = [{"retrieved": ["In 1889 it was new."], "reference": "Eiffel built it in 1889."}]
    >>> evaluate_texts(items, "EntityRecall")["EntityRecall"]
    0.5
    """
    return _where_any(t, recall(t.pairs.per_label, k=k, rel=1))


def _where_any(t: Passages, values: np.ndarray) -> np.ndarray:
    """The values of questions that have something to compare texts with."""
    return np.where(t.pairs.relevant(1) > 0, values, np.nan)


@measure(
    "NoiseSensitivity",
    over="texts",
    wanted="response",
    higher_is_better=False,
    needs_relevant=False,
    cite=_RAGAS,
    options={"mode": Choice(("relevant", "irrelevant"))},
    formula='NoiseSensitivity = (wrong claims of the response that a relevant text supports; mode="irrelevant": that '
    "only others support) / (claims of the response)",
    use="Which wrong statements come from the context, and from which part of it.",
    avoid="There is no judge that can be trusted; NoiseShare needs none.",
    aliases=("noise_sensitivity",),
)
def noise_sensitivity(t: Passages, *, mode: str = "relevant") -> np.ndarray:
    """The share of the response's claims that are wrong and come from relevant texts.

    `mode="irrelevant"` counts those that only texts support which hold nothing of the reference answer.

    >>> items = [{"retrieved": ["a", "b"], "reference": "a", "response": "b"}]
    >>> judge = lambda text, claim: claim in text
    >>> evaluate_texts(items, 'NoiseSensitivity(mode="irrelevant")', answers=Answers(judge=judge)).mean
    {'NoiseSensitivity(mode="irrelevant")': 1.0}
    """
    pairs = t.pairs
    assert pairs.label is not None
    claims = int(pairs.judged_start[-1])
    if t.wrong is None:
        wrong = np.ones(claims, bool)
    else:
        wrong = t.wrong

    first = np.searchsorted(t.query, pairs.query)
    if t.useful is None:
        useful = np.zeros(len(pairs.query), bool)
    else:
        useful = t.useful[first + pairs.rank - 1]

    by_useful = np.bincount(pairs.label[useful], minlength=claims) > 0
    supported = np.bincount(pairs.label, minlength=claims) > 0
    if mode == "relevant":
        blamed = wrong & by_useful
    else:
        blamed = wrong & supported & ~by_useful
    counted = np.bincount(pairs.judged_query, weights=blamed, minlength=len(t))
    return _where_any(t, ratio(counted, np.diff(pairs.judged_start)))


@measure(
    "NoiseShare",
    over="texts",
    cutoff="needed",
    higher_is_better=False,
    cite=_RAGAS,
    options={"divisor": Choice(("k", "retrieved"))},
    formula="NoiseShare@k = 1 - P@k",
    use="How much of a context is of no use for the question.",
    avoid="Questions have fewer than k useful texts: even a perfect list has noise.",
    aliases=("noise_share",),
)
def noise_share(t: Passages, *, k: int, rel: float = 1, divisor: str = "k") -> np.ndarray:
    """The share of the first k texts that cover no reference.

    `divisor="retrieved"` divides by the texts returned where those are fewer than k.

    >>> items = [{"retrieved": ["x", "a", "y", "z"], "references": ["a"]}]
    >>> evaluate_texts(items, "NoiseShare@4", matching="contains")["NoiseShare@4"]
    0.75
    """
    return 1.0 - precision(t.pairs.per_rank, k=k, rel=rel, divisor=divisor)
