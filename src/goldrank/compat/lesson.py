"""The lesson "Retrieval Quality Metrics": its functions and classes (`from goldrank.compat.lesson import *`).

Arguments are (retrieved, relevant, k): the ranking comes first. A ranking is a list of ids, relevant ids are a set or a
list. These are errors: one text instead of a list (it is not read as a list of letters), grades that are not finite
numbers (also text of digits), evaluators without a k or with a negative one, and integers on one side and text on the
other where nothing was found. The code of the document is its release, so `as_released=True` changes one thing only: a
negative k is a Python slice instead of an error, wherever that has a value from 0 to 1. Precision has no such value:
the document's code divides by the negative k. k = 0 gives 0 everywhere, with `as_released` and without, also in
`RetrieverComparison`, where the document's code divides by it. nDCG of a ranking that repeats documents counts each
time, as the document's code does, and stops at 1; where grades below 0 make it a loss it stops at 0. Where even the
ideal ranking gains nothing, or less, nDCG is 0: a share of a loss has no meaning (the document's function divides by
it, its classes give 0, too). No queries give an error in the classes and 0 in the functions, as the functions of the
document do.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.compat._common import column_of, entries_of, is_list, is_whole, mean, positive, sliced_values, values
from goldrank.conventions.seeds import LESSON
from goldrank.data.placements import Placements, log2
from goldrank.engine.lists import place_each
from goldrank.measures.cutoff import ratio

__all__ = [
    "EvalResult",
    "RetrievalEvaluator",
    "RetrievalMetrics",
    "RetrieverComparison",
    "dcg_at_k",
    "dcg_table",
    "format_dcg_table",
    "hit_rate_at_k",
    "mean_hit_rate",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "relevant_from_grades",
]

Ids: TypeAlias = Sequence[Hashable]
Grades: TypeAlias = Mapping[Any, float]
"""Grades by id. `Any`: for type checkers a mapping of text is not a mapping of `Hashable`."""
Query: TypeAlias = Mapping[str, Any]
"""The fields "retrieved", "relevant" and perhaps grades, which have different types."""
DEFAULT_K = (1, 3, 5, 10)
RANKINGS, JUDGEMENTS = {list, tuple}, {set, frozenset, list, tuple, dict}
"""Types that need no further check."""
GRADES = ("relevance_scores", "scores")
"""The names of the grades of a query: the document's two classes have one each, and here both accept both."""


_NOTHING = object()
"""A document that is judged nowhere."""


def relevant_from_grades(judgements: Grades, rel: float = 1) -> set[Hashable]:
    """The relevant ids of judgements: those with a grade of at least `rel`. Works for binary and graded ones.

    >>> sorted(relevant_from_grades({"doc_1": 3, "doc_2": 1, "doc_3": 2, "doc_4": 0}, rel=2))
    ['doc_1', 'doc_3']
    """
    if not isinstance(judgements, Mapping):
        raise InputError(f"judgements are {judgements!r:.60}, not a dict from ids to grades")
    _check_grades([judgements])
    _check_ids(judgements)
    if not _is_grade(rel):
        raise InputError(f"rel is {rel!r:.60}, not a finite number", code="bad-number")
    return {doc for doc, grade in judgements.items() if grade >= rel}


def recall_at_k(retrieved_ids: Ids, relevant_ids: Iterable[Hashable], k: int, *, as_released: bool = False) -> float:
    """The share of all relevant documents that is among the first k.

    It cannot reach 1 if k is smaller than the number of relevant documents. Use it where everything relevant must be
    found and a miss is costly (legal discovery, research); avoid it where the order matters more than coverage.

    >>> recall_at_k(["doc_3", "doc_1", "doc_7"], {"doc_1", "doc_2"}, 3)
    0.5
    """
    return _at_k("R", retrieved_ids, relevant_ids, k, as_released)


def precision_at_k(retrieved_ids: Ids, relevant_ids: Iterable[Hashable], k: int, *, as_released: bool = False) -> float:
    """The share of relevant documents among the first k; the divisor is always k.

    Use it where people look at the first results only (search, recommendations) or wrong ones are costly (spam);
    avoid it where finding everything matters more than the first k. A negative k is always refused: see above.

    >>> precision_at_k(["doc_1", "doc_3"], {"doc_1", "doc_2"}, 5)
    0.2
    """
    return _at_k("P", retrieved_ids, relevant_ids, k, as_released)


def reciprocal_rank(retrieved_ids: Ids, relevant_ids: Iterable[Hashable], *, as_released: bool = False) -> float:
    """One over the rank of the first relevant document, 0 if no document is relevant.

    Use it where people want one answer (questions, facts) and how soon it comes matters; avoid it where several
    relevant documents matter equally. There is no k, and `as_released` changes nothing.

    >>> reciprocal_rank(["doc_a", "doc_b"], {"doc_b"})
    0.5
    """
    return float(values("RR", None, _placed([retrieved_ids], [relevant_ids])[0], LESSON)[0])


def mean_reciprocal_rank(
    queries_results: Sequence[tuple[Ids, Iterable[Hashable]]], *, as_released: bool = False
) -> float:
    """The mean of `reciprocal_rank` over pairs of (retrieved, relevant); 0 for no queries.

    There is no k, and `as_released` changes nothing.

    >>> mean_reciprocal_rank([(["a", "b"], {"b"}), (["x"], {"x"})])
    0.75
    """
    pairs = _listed(queries_results)
    if pairs:
        return mean(values("RR", None, _pairs(pairs), LESSON))
    return 0.0


def dcg_at_k(retrieved_ids: Ids, relevance_scores: Grades, k: int, *, as_released: bool = False) -> float:
    """The grades of the first k documents, each divided by log2(rank + 1), summed.

    >>> dcg_at_k(["a"], {"a": 3}, 5)
    3.0
    """
    return _at_k("DCG", retrieved_ids, relevance_scores, k, as_released)


def ndcg_at_k(retrieved_ids: Ids, relevance_scores: Grades, k: int, *, as_released: bool = False) -> float:
    """DCG as a share of the DCG of the ideal order of all judged documents.

    Use it where the order matters (search, recommendations), documents have grades, or earlier ranks should count
    more; avoid it where all ranks count equally.

    >>> round(ndcg_at_k(["x", "a"], {"a": 3}, 5), 4)
    0.6309
    """
    return _at_k("nDCG", retrieved_ids, relevance_scores, k, as_released)


def hit_rate_at_k(retrieved_ids: Ids, relevant_ids: Iterable[Hashable], k: int, *, as_released: bool = False) -> int:
    """1 if any of the first k documents is relevant, else 0 (also called Success@k).

    Use it where one relevant result is enough (questions), or for a simple number that everybody understands; avoid
    it where the order, or finding everything, matters.

    >>> hit_rate_at_k(["x", "a"], {"a"}, 2)
    1
    """
    return int(_at_k("Success", retrieved_ids, relevant_ids, k, as_released))


def mean_hit_rate(
    queries_results: Sequence[tuple[Ids, Iterable[Hashable]]], k: int, *, as_released: bool = False
) -> float:
    """The mean of `hit_rate_at_k` over pairs of (retrieved, relevant); 0 for no queries.

    >>> mean_hit_rate([(["a"], {"a"}), (["x"], {"a"})], 1)
    0.5
    """
    pairs = _listed(queries_results)
    column = _cut_values("Success", _pairs(pairs), k, as_released)
    if pairs:
        return mean(column)
    return 0.0


def dcg_table(retrieved_ids: Ids, relevance_scores: Grades, k: int) -> list[dict[str, Any]]:
    """How a DCG comes about, rank by rank: position, doc, relevance, discount, contribution.

    >>> dcg_table(["x", "a"], {"a": 3}, 2)[1]["discount"]
    1.584962500721156
    """
    _check_query(retrieved_ids, relevance_scores, 0)
    _placed([retrieved_ids], [relevance_scores])  # raises if these are not a ranking and grades
    if not isinstance(relevance_scores, Mapping):
        raise InputError(f"relevance_scores are {relevance_scores!r:.60}, not a dict from ids to grades")
    depth = 0
    if not (is_whole(k) and k == 0):
        depth = positive(k)

    shown = list(retrieved_ids[:depth])
    discounts = log2(np.arange(2, len(shown) + 2)).tolist()
    rows = []
    for rank, (doc, discount) in enumerate(zip(shown, discounts, strict=True), 1):
        grade = relevance_scores.get(doc, 0)
        alone_at_its_rank = [_NOTHING] * (rank - 1) + [doc]
        rows.append(
            {
                "position": rank,
                "doc": doc,
                "relevance": grade,
                "discount": discount,
                "contribution": dcg_at_k(alone_at_its_rank, {doc: grade}, rank),
                "dcg": dcg_at_k(shown, relevance_scores, rank),
            }
        )
    return rows


def format_dcg_table(table: Sequence[Mapping[str, Any]]) -> str:
    """A `dcg_table` in the layout of the document."""
    hint = "Give what dcg_table returns."
    rows = entries_of(table, "the table", hint)
    positions, docs, grades = (column_of(rows, name, "row", hint) for name in ("position", "doc", "relevance"))
    discounts, contributions = (column_of(rows, name, "row", hint) for name in ("discount", "contribution"))
    for value in chain(discounts, contributions):
        if not _is_grade(value):
            raise InputError(f"the table has {value!r:.60} where a number should be", hint=hint, code="bad-number")

    lines = ["Position | Doc   | Relevance | Discount | Contribution", "-" * 55]
    for position, doc, grade, discount, contribution in zip(
        positions, docs, grades, discounts, contributions, strict=True
    ):
        lines.append(f"    {position}    | {doc} |     {grade}     |  {discount:.2f}   |    {contribution:.2f}")
    return "\n".join(lines)


@dataclass
class RetrievalMetrics:
    """All measures of a query, or their means over a dataset, by k."""

    recall_at_k: dict[int, float]
    precision_at_k: dict[int, float]
    mrr: float
    ndcg_at_k: dict[int, float]
    hit_rate_at_k: dict[int, float]


class _AtSeveralK:
    def __init__(self, k_values: Sequence[int] = DEFAULT_K, *, as_released: bool = False) -> None:
        self.k_values = _cutoffs(k_values)
        self.as_released = as_released


class RetrievalEvaluator(_AtSeveralK):
    """All measures of the lesson at several k. Precision is one of them, so that a negative k is refused in any case.

    >>> evaluator = RetrievalEvaluator(k_values=[1, 3])
    >>> evaluator.evaluate_single_query(["d3", "d1"], {"d1"}).recall_at_k
    {1: 0.0, 3: 1.0}
    """

    def evaluate_single_query(
        self, retrieved_ids: Ids, relevant_ids: Iterable[Hashable], relevance_scores: Grades | None = None
    ) -> RetrievalMetrics:
        """The measures of one query; without `relevance_scores`, nDCG is binary."""
        return self.evaluate_dataset(
            [{"retrieved": retrieved_ids, "relevant": relevant_ids, "relevance_scores": relevance_scores}]
        )

    def evaluate_dataset(self, results: Sequence[Query]) -> RetrievalMetrics:
        """The means over queries given as {"retrieved": ..., "relevant": ..., "relevance_scores": ...}.

        Grades are for nDCG and may be called `scores`, too. Without them it is binary.
        """
        return RetrievalMetrics(**_measured(results, self.k_values, self.as_released))

    def print_report(self, metrics: RetrievalMetrics) -> None:
        """Print the report of the document."""
        print(self.report(metrics))  # noqa: T201 - that is what it is for

    def report(self, metrics: RetrievalMetrics) -> str:
        """The text that `print_report` prints."""
        if not isinstance(metrics, RetrievalMetrics):
            message = f"metrics are {metrics!r:.60}, not what evaluate_dataset returns"
            raise InputError(message, code="wrong-type")
        _check_cutoffs("these metrics were", metrics.recall_at_k, self.k_values)
        lines = ["=" * 50, "RETRIEVAL EVALUATION REPORT", "=" * 50, "", f"MRR: {metrics.mrr:.4f}", ""]
        lines += [f"{'k':>4} | {'Recall':>8} | {'Precision':>10} | {'NDCG':>8} | {'Hit Rate':>8}", "-" * 50]
        lines += [
            f"{k:>4} | {metrics.recall_at_k[k]:>8.4f} | {metrics.precision_at_k[k]:>10.4f} | "
            f"{metrics.ndcg_at_k[k]:>8.4f} | {metrics.hit_rate_at_k[k]:>8.4f}"
            for k in self.k_values
        ]
        return "\n".join(lines)


@dataclass
class EvalResult:
    """The means of one retriever, by k."""

    retriever_name: str
    recall: dict[int, float]
    precision: dict[int, float]
    mrr: float
    ndcg: dict[int, float]
    hit_rate: dict[int, float]


class RetrieverComparison(_AtSeveralK):
    """Retrievers side by side, with precision among the measures, so that a negative k is refused in any case.

    >>> comparison = RetrieverComparison(k_values=[1])
    >>> result = comparison.evaluate_retriever("A", [{"retrieved": ["d1"], "relevant": ["d1"]}])
    >>> result.precision
    {1: 1.0}
    """

    def evaluate_retriever(self, name: str, queries: Sequence[Query]) -> EvalResult:
        """The means over queries given as {"retrieved": ..., "relevant": ..., "scores": ...}.

        Grades are for nDCG and may be called `relevance_scores`, too. Without them it is binary.
        """
        means = _measured(queries, self.k_values, self.as_released)
        return EvalResult(name, **{key.removesuffix("_at_k"): value for key, value in means.items()})

    def compare(self, results: Sequence[EvalResult], *, hit_rate: bool = False) -> str:
        """The table of the document; `hit_rate=True` adds the rows that its exercise asks for and it leaves out."""
        listed = entries_of(results, "results", "Give a list of what evaluate_retriever returns.")
        for result in listed:
            if not isinstance(result, EvalResult):
                message = f"results are {result!r:.60}, not what evaluate_retriever returns"
                raise InputError(message, code="wrong-type")
            _check_cutoffs(f"retriever {result.retriever_name!r} was", result.recall, self.k_values)

        titles = ["Recall", "Precision", "NDCG"]
        if hit_rate:
            titles.append("Hit Rate")
        rows = [("MRR", [result.mrr for result in listed])]
        for k in self.k_values:
            for title in titles:
                field = title.lower().replace(" ", "_")
                rows.append((f"{title}@{k}", [getattr(result, field)[k] for result in listed]))

        names = " | ".join(f"{result.retriever_name!s:>10}" for result in listed)
        lines = ["=" * 70, "RETRIEVER COMPARISON", "=" * 70, "", f"{'Metric':<20} | {names}", "-" * 70]
        for title, cells in rows:
            lines.append(f"{title:<20} | " + " | ".join(f"{cell:>10.4f}" for cell in cells))
        return "\n".join(lines)


def _cutoffs(k_values: Sequence[int]) -> list[int]:
    cuts = entries_of(k_values, "k_values", "For example k_values=[1, 3, 5, 10].")
    if not cuts:
        raise InputError("k_values is empty", hint="For example k_values=[1, 3, 5, 10].", code="empty-input")
    for k in cuts:
        if not is_whole(k) or k < 0:  # 0 is a cut-off of the document: every value is 0 there
            positive(k, "an entry of k_values")
    return cuts


def _check_cutoffs(subject: str, measured: Iterable[int], k_values: Sequence[int]) -> None:
    known = list(measured)
    hint = "Only values at the same k can be compared: evaluate all with one object, and show them with it."
    for k in k_values:
        if k not in known:
            raise InputError(f"{subject} evaluated at k = {', '.join(map(str, known))}, not at {k}", hint=hint)


def _listed(queries: Any) -> list[Any]:
    """Queries as a list, also from a generator; raise for a set, or if it cannot be a list of queries."""
    if isinstance(queries, Set):
        raise InputError(f"queries are {queries!r:.60}, a {type(queries).__name__}", hint="Give a list of queries.")
    return entries_of(queries, "the list of queries")


def _grades(queries: Sequence[Query]) -> list[Grades | None]:
    """The grades of each query, by either name. Grades by any other name are an error: nothing would read them."""
    grades: list[Grades | None] = []
    for number, query in enumerate(queries):
        first, second = query.get(GRADES[0]), query.get(GRADES[1])
        if first is not None and second is not None and first != second:
            message = f"query {number} has both {GRADES[0]!r} and {GRADES[1]!r}, and they differ"
            raise InputError(message, hint="Give one.")
        if first is None:
            first = second
        grades.append(first)

    for key in set().union(*queries) - {"retrieved", "relevant", *GRADES}:
        for number, query in enumerate(queries):
            value = query.get(key)
            if isinstance(value, Mapping) and any(doc in value for doc in query["retrieved"]):
                message = f"query {number} has what look like grades as {key!r}, which nothing reads"
                raise InputError(message, hint="Call them 'scores'.")

    return grades


def _measured(given_queries: Sequence[Query], k_values: Sequence[int], as_released: bool) -> dict[str, Any]:
    queries: list[Query] = _listed(given_queries)
    if not queries:
        raise InputError("there are no queries, so there is no mean", code="empty-input")

    hint = 'A query looks like {"retrieved": ["d1", "d2"], "relevant": {"d1"}}.'
    for number, query in enumerate(queries):
        if not isinstance(query, Mapping):
            raise InputError(f"query {number} is {query!r:.60}, not a dict", hint=hint)

    rankings = column_of(queries, "retrieved", "query", hint)
    relevant = column_of(queries, "relevant", "query", hint)
    judged = [relevant]
    all_grades = _grades(queries)
    if any(grades is not None for grades in all_grades):
        for_ndcg = list(relevant)
        for number, grades in enumerate(all_grades):
            if grades is not None:
                for_ndcg[number] = grades
        judged.append(for_ndcg)

    placed = _placed(rankings, *judged)
    binary, graded = placed[0], placed[-1]
    tables = {
        "recall_at_k": ("R", binary),
        "precision_at_k": ("P", binary),
        "hit_rate_at_k": ("Success", binary),
        "ndcg_at_k": ("nDCG", graded),
    }
    means: dict[str, Any] = {}
    for key, (name, table) in tables.items():
        means[key] = {k: mean(_cut_values(name, table, k, as_released)) for k in k_values}
    return means | {"mrr": mean(values("RR", None, binary, LESSON))}


def _check_query(ranking: Any, judged: Any, number: int) -> None:
    """Raise for a value that would be read as something else: a text as its letters, a set as a ranking."""
    if isinstance(ranking, str | bytes | Mapping | Set):
        message = f"the ranking of query {number} is {ranking!r:.60}, a {type(ranking).__name__}"
        raise InputError(message, hint='A ranking is a list of ids, best first: ["d1", "d2"].')
    if isinstance(judged, str | bytes):
        message = f"the relevant ids of query {number} are {judged!r:.60}, a {type(judged).__name__}"
        raise InputError(message, hint='Relevant ids are a set or a list, also for one id: {"d1"}.')


def _placed(rankings: Sequence[Ids], *judgements: Sequence[Any]) -> list[Placements]:
    for judged in judgements:
        if not set(map(type, rankings)) <= RANKINGS or not set(map(type, judged)) <= JUDGEMENTS:
            for number, query in enumerate(zip(rankings, judged, strict=True)):
                _check_query(*query, number)
        if not _holds_plain_numbers(judged):
            _check_grades(judged)

    reusable = [_without_iterators(judged) for judged in judgements]
    try:
        for docs in chain(rankings, *reusable):
            _check_ids(docs)
        tables = place_each(rankings, *reusable)
    except InputError:
        raise  # it is a ValueError too, and says what is wrong
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        message = f"these are not rankings and judgements: {error}"
        hint = "A ranking is a list of ids; relevant ids are a set or a list, grades a dict of numbers."
        raise InputError(message, hint=hint, code="unreadable-object") from None

    for table, judged in zip(tables, reusable, strict=True):
        if not np.isfinite(table.judged).all():
            _check_grades(judged)
        if not len(table.rank):
            _check_kinds(rankings, judged)

    return tables


def _without_iterators(judgements: Sequence[Any]) -> list[Any]:
    """Judgements with lists instead of iterators, because they are read twice."""
    reusable = list(judgements)
    for i, docs in enumerate(reusable):
        if isinstance(docs, Iterator):
            reusable[i] = list(docs)
    return reusable


def _check_ids(docs: Iterable[Hashable]) -> None:
    """Raise for a missing id: None would be found wherever a field has a wrong name on both sides."""
    if set(map(type, docs)) <= {str, int} and "" not in docs:  # the usual case
        return
    for doc in docs:
        if ids.is_missing(doc):
            raise ids.missing(doc, "document id")


def _holds_plain_numbers(judgements: Sequence[Any]) -> bool:
    """Whether all grades are Python's own numbers, which is the usual case."""
    grades = chain.from_iterable(judged.values() for judged in judgements if isinstance(judged, Mapping))
    return set(map(type, grades)) <= {int, float}


def _check_grades(judgements: Sequence[Any]) -> None:
    """Raise for grades that are not finite numbers: NaN would make every mean NaN, and text of digits is a mistake."""
    for number, judged in enumerate(judgements):
        if not isinstance(judged, Mapping):
            continue
        for doc, grade in judged.items():
            if not _is_grade(grade):
                hint = None
                if isinstance(grade, str | bytes):
                    hint = "Give numbers, not text."
                message = f"query {number}: the grade of {doc!r} is {grade!r:.60}, not a finite number"
                raise InputError(message, hint=hint, code="bad-number")


def _is_grade(grade: Any) -> bool:
    """Whether something is a number that a mean can be made of; text and bytes of digits are not."""
    if not hasattr(grade, "__float__"):
        return False
    try:
        return math.isfinite(grade)
    except (TypeError, ValueError, OverflowError):
        return False


def _check_kinds(rankings: Sequence[Ids], judgements: Sequence[Any]) -> None:
    """Raise for ids whose types have nothing in common (integers and text, text and bytes): they are never equal."""
    ranked_kinds, judged_kinds = _kinds(rankings), _kinds(judgements)
    if ranked_kinds and judged_kinds and not ranked_kinds & judged_kinds:
        ranked, judged = " and ".join(sorted(ranked_kinds)), " and ".join(sorted(judged_kinds))
        message = f"ids of the rankings are {ranked}, judged ids are {judged}"
        raise InputError(message, hint="Give ids of one type.", code="different-id-types")


def _kinds(lists: Iterable[Iterable[Hashable]]) -> set[str]:
    """The types of ids by name: "str" also for its subclasses, "int" for all numbers, as 1.0 and 1 are equal."""
    kinds = set()
    for kind in set(map(type, chain.from_iterable(lists))):
        if issubclass(kind, Number):
            kinds.add("int")
        elif issubclass(kind, str):
            kinds.add("str")
        else:
            kinds.add(kind.__name__)
    return kinds


def _pairs(queries_results: Sequence[tuple[Ids, Iterable[Hashable]]]) -> Placements:
    """Pairs of (retrieved, relevant), placed."""
    for number, pair in enumerate(queries_results):
        if not is_list(pair) or len(pair) != 2:
            hint = 'Give (retrieved, relevant): (["d1", "d2"], {"d1"}).'
            raise InputError(f"query {number} is {pair!r:.60}, not a pair", hint=hint)

    rankings = [pair[0] for pair in queries_results]
    relevant = [pair[1] for pair in queries_results]
    return _placed(rankings, relevant)[0]


def _at_k(name: str, ranking: Ids, judged: Any, k: Any, as_released: bool) -> float:
    return float(_cut_values(name, _placed([ranking], [judged])[0], k, as_released)[0])


def _cut_values(name: str, placed: Placements, k: Any, as_released: bool) -> np.ndarray:
    """One value per query at k, which may be 0 and, where the released code has a value for that, negative."""
    if name in ("P", "R"):
        placed = placed.per_label  # a repeated document counts once
    if is_whole(k) and k == 0:
        return np.zeros(len(placed))
    if as_released and is_whole(k) and k < 0 and name != "P":
        if name == "nDCG":  # the ideal ranking is sliced, too
            gained = sliced_values("DCG", k, placed, LESSON)
            best = sliced_values("DCG", k, placed.ideal, LESSON)
            return ratio(gained, best.clip(min=0.0)).clip(0.0, 1.0)
        return sliced_values(name, k, placed, LESSON)
    return values(name, positive(k), placed, LESSON)
