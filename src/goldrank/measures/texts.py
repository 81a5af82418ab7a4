"""Measures of retrieved texts: which references they cover, how long they are, what they repeat.

Also here: how the measures that were made for documents read a table in which one text may cover several
references and several texts the same one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goldrank.data.passages import Passages
from goldrank.data.placements import Placements
from goldrank.errors import MeasureError, one_of
from goldrank.measures.cutoff import harmonic, precision, ratio, recall, recall_all
from goldrank.measures.declare import Measure, measure
from goldrank.measures.sets import set_precision, set_recall

CREDITS = {
    "any": "a text that covers any reference is relevant; a reference counts once",
    "pairs": "every pair of a text and a reference that it covers counts",
    "one_to_one": "a text is given one reference, the first that no text above it was given",
}
"""Who is credited when one text covers several references, or several texts the same."""

ONCE = frozenset(
    ("R", "RecallAll", "SetR", "NumRelRet", "Rprec", "RprecMult", "R_cap", "nDCG", "DCG", "nDCGrel", "Rndcg", "NCG")
)
"""Measures that count references, each where it is first covered. A text may bring several at one rank."""
SHARED = frozenset(("GMAP", "IPrec", "IPrecAvg", "SetAP", "Q", "GAP", "G", "BinG", "YAAP", "Compat"))
"""Measures that weigh what is found against all there is, rank by rank: a text is always given one reference."""


JUDGING = frozenset(
    (
        *("Judged", "Unjudged", "Hole", "RBPresidual"),
        *("Bpref", "GMBpref", "infAP", "AUROC", "Accuracy", "FallOut", "NumNonrelRet"),
    )
)
"""Measures about what was not judged, or was judged and not relevant: a matcher judges every text."""


def credited(measure: Measure, pairs: Placements, credit: str) -> np.ndarray:
    """A measure's values where texts and references may be paired several times; none passes its upper bound."""
    one_of(credit, CREDITS, "credit")
    if measure.name in JUDGING or measure.option("judged_only"):
        raise MeasureError(f"{measure} has no meaning for texts", hint="The matcher judges every text.")
    if credit == "one_to_one" or measure.name in SHARED:
        found = measure(pairs.one_to_one)
    elif credit == "pairs":
        found = measure(pairs.every_row)
    elif measure.name in ANY:
        found = measure.with_kernel(ANY[measure.name], pairs)
    else:
        found = measure(pairs.per_aspect if measure.name in ONCE else pairs.per_rank)
    bounded: np.ndarray = np.minimum(found, measure.declaration.high)
    return bounded


def _average_precision(p: Placements, *, k: int | None, rel: float = 1, divisor: str = "relevant") -> np.ndarray:
    """The mean over references of precision at the text that first covers each; precision counts texts."""
    found = p.where((p.grade >= rel) & (p.rank <= (np.inf if k is None else k)))
    fresh = np.ones(len(found.query), bool)
    fresh[1:] = (np.diff(found.query) != 0) | (np.diff(found.rank) != 0)
    total = found.sum(np.where(found.novel, found.cumulate(fresh) / found.rank, 0.0))
    if divisor == "hits":
        return ratio(total, found.count(found.novel))
    relevant = p.relevant(rel)
    return ratio(total, relevant if divisor == "relevant" or k is None else np.minimum(relevant, k))


def _f(p: Placements, *, k: int, rel: float = 1, beta: float = 1) -> np.ndarray:
    return harmonic(precision(p.per_rank, k=k, rel=rel), recall(p.per_aspect, k=k, rel=rel), beta**2)


def _set_f(p: Placements, *, rel: float = 1, beta: float = 1, weight: float | None = None) -> np.ndarray:
    by = beta**2 if weight is None else weight
    return harmonic(set_precision(p.per_rank, rel=rel), set_recall(p.per_aspect, rel=rel), by)


ANY: dict[str, Callable[..., np.ndarray]] = {"AP": _average_precision, "F": _f, "SetF": _set_f}
"""Kernels of measures that count both texts and references; they take the options of the measure itself."""


@measure(
    "Cover",
    over="texts",
    formula="Cover@k = (references that the first k texts cover) / (references)",
    use="RAG: how much of what an answer needs is in the context. The first number to look at.",
    avoid="The order within the first k matters; use nDCG or AP.",
    cite="Zhai, Cohen and Lafferty 2003, as recall of subtopics; continuous-eval's context recall",
    aliases=("Coverage", "reference_coverage"),
)
def cover(t: Passages, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The share of references that any of the first k texts covers.

    >>> items = [{"retrieved": ["one and two", "x"], "references": ["one", "two", "three", "four"]}]
    >>> evaluate_texts(items, "Cover@1", matcher="contains")["Cover@1"]
    0.5
    """
    return recall(t.pairs.per_aspect, k=k, rel=rel)


@measure(
    "CoverAll",
    over="texts",
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
    >>> scores = evaluate_texts(items, ["CoverAll@1", "CoverAll@2"], matcher="contains")
    >>> scores["CoverAll@1"], scores["CoverAll@2"]
    (0.0, 1.0)
    """
    return recall_all(t.pairs.per_aspect, k=k, rel=rel)


@measure(
    "Repeated",
    over="texts",
    formula="Repeated@k = (texts among the first k that stand higher up already) / (texts among the first k)",
    use="Whether an index or a fusion returns the same chunk again.",
    avoid="Chunks overlap without being equal; use Redundant.",
    cite="goldrank 0.2",
    needs_relevant=False,
    monotone=False,
    higher_is_better=False,
    aliases=("duplicate_share",),
)
def repeated(t: Passages, *, k: int | None) -> np.ndarray:
    """The share of the first k texts that are equal to one above them.

    >>> evaluate_texts([{"retrieved": ["a", "b", "a", "a"], "references": ["a"]}], "Repeated@3")["Repeated@3"]
    0.3333333333333333
    """
    inside = t.rank <= (np.inf if k is None else k)
    return ratio(t.count(inside & t.repeated), t.count(inside))


@measure(
    "Redundant",
    over="texts",
    formula="Redundant@k = (texts among the first k that cover references, but no new one) / (texts among the first k)",
    use="How much of the context says again what is said above; overlapping chunks.",
    avoid="Being told twice helps, as when sources are to confirm each other.",
    cite="goldrank 0.2",
    needs_relevant=False,
    monotone=False,
    higher_is_better=False,
    aliases=("redundancy_share",),
)
def redundant(t: Passages, *, k: int | None) -> np.ndarray:
    """The share of the first k texts that cover only what texts above them cover.

    >>> items = [{"retrieved": ["say a", "a again", "b"], "references": ["a", "b"]}]
    >>> evaluate_texts(items, "Redundant", matcher="contains")["Redundant"]
    0.3333333333333333
    """
    inside = t.rank <= (np.inf if k is None else k)
    return ratio(t.count(inside & t.matches & ~t.adds), t.count(inside))


@measure(
    "Tokens",
    over="texts",
    formula="Tokens@k = tokens of the first k texts",
    use="What a context costs, beside what it covers.",
    avoid="Compared without the quality it buys; see Cover(tokens=1000).",
    cite="goldrank 0.2",
    high=float("inf"),
    needs_relevant=False,
    monotone=False,
    higher_is_better=False,
    aliases=("num_tokens", "TokenCount"),
)
def tokens(t: Passages, *, k: int | None) -> np.ndarray:
    """How many tokens the first k texts have; words, unless a tokeniser is given.

    >>> evaluate_texts([{"retrieved": ["one two", "three"], "references": ["one two"]}], "Tokens")["Tokens"]
    3.0
    """
    return t.tokens(t.rank <= (np.inf if k is None else k))
