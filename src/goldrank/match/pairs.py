"""Which retrieved text covers which reference: as Placements, and pair by pair for people to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.placements import CutTexts, Lengths, Placements
from goldrank.data.text_item import Reference, TextItem, Texts
from goldrank.match.exact import same
from goldrank.match.folding import fold
from goldrank.match.matcher import Matcher
from goldrank.match.negations import unknown_script
from goldrank.match.tokens import Stretches, has_words, spans

TextRule = Callable[[str, str], bool]
"""Whether a retrieved text holds a reference text."""
Splitter = Callable[[str], Texts]
"""Cuts a text into the units that are compared."""

BATCH = 2_000
"""The number of questions that are matched at once: enough for two cores, few enough for little memory."""


@dataclass
class TextCounts:
    """How many texts and references there were, and how many of them were special."""

    retrieved: int = 0
    references: int = 0
    empty_retrieved: int = 0
    """Texts without any letter or digit to compare; they keep their rank and cover nothing."""
    empty_references: int = 0
    """References without any letter or digit to compare; they are left out."""
    repeated: int = 0
    covered: int = 0
    """References that some text covers."""
    matching: int = 0
    """Texts that cover some reference."""
    without_references: list[str] = field(default_factory=list)
    """The first few questions without references."""
    no_references: int = 0
    unguarded: Counter[str] = field(default_factory=Counter)
    """References by their script, if no guard knows the negations of a language that is written in it."""


class MatchedBatch(NamedTuple):
    """What is stored of a batch of questions. Texts and references are numbered through all batches."""

    retrieved: np.ndarray
    """How many texts each question has."""
    judged_size: np.ndarray
    """How many references each question has."""
    judged: np.ndarray
    """The grades of the references, descending within a question."""
    repeated: np.ndarray
    """Whether a text stands above already."""
    tokens: np.ndarray
    """The tokens of each text; empty if they are not counted."""
    text: np.ndarray
    """The text of each match."""
    reference: np.ndarray
    """The reference of each match."""
    grade: np.ndarray
    """The grade of the reference of each match."""

    @classmethod
    def joined(cls, batches: Sequence[MatchedBatch]) -> MatchedBatch:
        """All batches as one."""
        return cls(*map(np.concatenate, zip(*batches, strict=True)))


class MatchRows(NamedTuple):
    """The matches as rows: query and rank of the text, number and grade of the reference."""

    query: np.ndarray
    rank: np.ndarray
    reference: np.ndarray
    """Numbered through all queries."""
    grade: np.ndarray


def place_items(
    items: Iterable[TextItem],
    matcher: Matcher,
    *,
    split: Splitter | None = None,
    count_tokens: Callable[[str], int] | None = None,
    cut_for: Sequence[int] = (),
) -> tuple[Passages, TextCounts]:
    """The pairs of texts and references that match, question by question.

    `cut_for` are budgets of tokens for which the first text that does not fit is cut, and matched anew.

    Items are taken in batches, so that only numbers are stored of those that are done. Each pair of
    texts within a batch is tested once. With `split`, both sides are cut into its units first.
    """
    counts = TextCounts()
    queries: list[str] = []
    answerable: list[int] = []
    confidence: list[float] = []
    batches = []
    stream = iter(items)
    cuts = []
    if count_tokens:
        cuts = [_Cuts(budget, matcher, split, count_tokens) for budget in dict.fromkeys(cut_for)]
    while batch := list(islice(stream, BATCH)):
        queries += (item.query for item in batch)
        answerable += map(answerable_code, batch)
        confidence += map(first_score, batch)
        batches.append(_matched(batch, matcher, split, count_tokens, counts))
        for cut in cuts:
            cut.add(batch)
    if not batches:
        raise InputError("there are no questions", hint="Is it the right file, and is it complete?", code="empty-input")

    matched = MatchedBatch.joined(batches)
    start = np.concatenate(([0], np.cumsum(matched.retrieved)))
    query = np.repeat(np.arange(len(queries)), matched.retrieved)
    rank = np.arange(1, len(query) + 1) - start[query]
    lengths = None
    if count_tokens:
        lengths = Lengths(start, matched.tokens, {cut.budget: cut.texts() for cut in cuts})

    rows = MatchRows(query[matched.text], rank[matched.text], matched.reference, matched.grade)
    pairs = _placements(queries, matched.retrieved, matched.judged_size, matched.judged, rows, lengths)
    placed = Passages(pairs, query, rank, matched.repeated, np.array(answerable, np.int8), np.array(confidence))
    counts.repeated = int(matched.repeated.sum())
    counts.covered = int(pairs.novel.sum())
    counts.matching = int(placed.matches.sum())
    return placed, counts


def answerable_code(item: TextItem) -> int:
    """1 for yes, 0 for no, -1 if it is not known: the question has no references, and nothing says why."""
    if item.answerable is None:
        if item.references or item.evidence:
            return 1
        return -1
    return int(item.answerable)


def first_score(item: TextItem) -> float:
    """The score of the first text: -inf where nothing was returned, NaN where it is not known."""
    if not len(item.retrieved):
        return -np.inf
    if item.confidence is None:
        return np.nan
    return item.confidence


class _Cuts:
    """The first text of each question that does not fit into a budget, cut so that it does."""

    def __init__(self, budget: int, matcher: Matcher, split: Splitter | None, count: Callable[[str], int]) -> None:
        self.budget = budget
        self._matcher = matcher
        self._split = split
        self._count = count
        self._counts = TextCounts()
        self._batches: list[MatchedBatch] = []

    def add(self, batch: Sequence[TextItem]) -> None:
        items = []
        for item in batch:
            texts, references = usable_references(item, self._split, TextCounts())
            items.append(TextItem(item.query, self._cut(texts), references, item.question))
        self._batches.append(_matched(items, self._matcher, None, self._count, self._counts))

    def _cut(self, texts: Texts) -> list[str]:
        left = self.budget
        for text in texts:
            length = self._count(text)
            if length > left:
                start = beginning(text, left, self._count)
                if start:
                    return [start]
                return []
            left -= length
        return []

    def texts(self) -> CutTexts:
        """The texts that were cut, as numbers."""
        matched = MatchedBatch.joined(self._batches)
        query = np.repeat(np.arange(len(matched.retrieved)), matched.retrieved)
        by_query = np.zeros(len(matched.retrieved), np.int64)
        by_query[query] = matched.tokens
        return CutTexts(by_query, query[matched.text], matched.reference, matched.grade)


def beginning(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest beginning of a text that ends at the end of a word and has at most this number of tokens.

    >>> beginning("one two three", 2, lambda text: len(text.split()))
    'one two'
    """
    ends = [end for _, end in spans(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[: ends[middle - 1]]) <= tokens:
            low = middle
        else:
            high = middle - 1
    if low and tokens > 0:
        return text[: ends[low - 1]]
    return ""


def _matched(
    batch: Sequence[TextItem],
    matcher: Matcher,
    split: Splitter | None,
    count_tokens: Callable[[str], int] | None,
    counts: TextCounts,
) -> MatchedBatch:
    """A batch of questions, matched."""
    compared = [usable_references(item, split, counts) for item in batch]
    text_numbers: dict[str, int] = {}
    alternative_numbers: dict[str, int] = {}
    codes: list[int] = []  # the number of each retrieved text
    alternatives: list[int] = []  # the number of each text of each reference
    references: list[int] = []  # for each of these its reference, numbered through the batch
    grades: list[float] = []  # of each reference
    judged: list[float] = []
    widths: list[int] = []  # how many texts the references of each question have
    for texts, question_references in compared:
        codes += [text_numbers.setdefault(text, len(text_numbers)) for text in texts]
        before = len(alternatives)
        for reference in question_references:
            for text in reference.texts:
                alternatives.append(alternative_numbers.setdefault(text, len(alternative_numbers)))
                references.append(len(grades))
            grades.append(reference.grade)
        widths.append(len(alternatives) - before)
        judged += sorted((reference.grade for reference in question_references), reverse=True)
    if "negations" in matcher.guards:
        counts.unguarded.update(filter(None, map(unknown_script, alternative_numbers)))

    code = np.array(codes, np.int64)
    retrieved = np.array([len(texts) for texts, _ in compared], np.int64)
    query = np.repeat(np.arange(len(batch)), retrieved)
    is_blank = np.array([not text.strip() for text in text_numbers], bool)[code]

    left, right = _all_pairs(query, is_blank, np.array(widths, np.int64))
    questions = []
    if matcher.sees_questions:
        questions = [item.question for item in batch]
    sides = list(text_numbers), list(alternative_numbers)
    decided = _decided(matcher, sides, code[left], np.array(alternatives, np.int64)[right], questions, query[left])
    left, number = left[decided], np.array(references, np.int64)[right[decided]]
    # Alternatives of one reference that one text covers are one row.
    is_first = np.ones(len(left), bool)
    is_first[1:] = (np.diff(left) != 0) | (np.diff(number) != 0)
    left, number = left[is_first], number[is_first]

    tokens = np.zeros(0, np.int64)
    if count_tokens:
        tokens = np.array([count_tokens(text) for text in text_numbers], np.int64)[code]
    matched = MatchedBatch(
        retrieved=retrieved,
        judged_size=np.array([len(question_references) for _, question_references in compared], np.int64),
        judged=np.array(judged, np.float64),
        repeated=_repeated(code, query),
        tokens=tokens,
        text=left + counts.retrieved,
        reference=number + counts.references,
        grade=np.array(grades, np.float64)[number],
    )
    counts.retrieved += len(codes)
    counts.references += len(grades)
    counts.empty_retrieved += int(is_blank.sum())
    return matched


def _all_pairs(query: np.ndarray, is_blank: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every text with every reference text of its question, in order of question, rank and reference.

    `query` is the question of each text; `widths` has the number of reference texts of each question.
    """
    rows = np.flatnonzero(~is_blank & (widths[query] > 0))
    times = widths[query[rows]]
    left = np.repeat(rows, times)
    within = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times)
    right = (np.cumsum(widths) - widths)[query[left]] + within
    return left, right


def _repeated(code: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Which texts stand above already, in the same question."""
    repeated = np.zeros(len(code), bool)
    order = np.lexsort((code, query))
    repeated[order[1:]] = (np.diff(query[order]) == 0) & (np.diff(code[order]) == 0)
    return repeated


def _placements(
    queries: Iterable[str],
    retrieved: np.ndarray,
    judged_size: Sequence[int] | np.ndarray,
    judged: np.ndarray,
    rows: MatchRows,
    lengths: Lengths | None = None,
) -> Placements:
    """One row for each match."""
    answered = np.ones(len(retrieved), bool)
    start = np.concatenate(([0], np.cumsum(judged_size))).astype(np.int64)
    columns = rows.query, rows.rank, rows.grade, rows.rank, rows.rank, rows.reference

    return Placements(tuple(queries), retrieved, answered, start, judged, *columns, shared=True, lengths=lengths)


def _decided(
    matcher: Matcher,
    sides: tuple[Texts, Texts],
    left: np.ndarray,
    right: np.ndarray,
    questions: Texts,
    query: np.ndarray,
) -> np.ndarray:
    """The matcher's decisions; it decides each distinct pair once (for each question, if it sees questions)."""
    if not len(left):
        return np.zeros(0, bool)

    if questions:
        _, first, back = np.unique(np.stack([left, right, query]), axis=1, return_index=True, return_inverse=True)
        about = matcher.about([questions[i] for i in query[first].tolist()])
        return np.asarray(about.decide(*sides, left[first], right[first])[back.ravel()])

    width = len(sides[1])
    key, back = np.unique(left * width + right, return_inverse=True)
    return np.asarray(matcher.decide(*sides, key // width, key % width)[back])


def usable_references(item: TextItem, split: Splitter | None, counts: TextCounts) -> tuple[Texts, list[Reference]]:
    """The texts and references of a question as they are compared, cut into units if `split` is given.

    References without text are left out, and a reference that is listed twice is one.
    """
    if split is not None:
        item = _in_units(item, split)
    usable: dict[Reference, None] = {}
    for reference in item.references:
        texts = tuple(text for text in reference.texts if text.strip())
        for text in texts:
            if not has_words(text) and not fold(text):
                raise InputError(
                    f"question {ids.show(item.query)!r} has a reference of which nothing can be seen: {text!a}",
                    where=item.where or None,
                    hint="Correct it, or leave it out.",
                )
        if texts:
            usable.setdefault(reference._replace(texts=texts))
        else:
            counts.empty_references += 1

    if not usable and item.answerable is not False:
        counts.no_references += 1
        if len(counts.without_references) < 5:
            counts.without_references.append(item.query)
    return item.retrieved, list(usable)


def _in_units(item: TextItem, split: Splitter) -> TextItem:
    references = []
    for reference in item.references:
        cut = [tuple(split(text)) for text in reference.texts]
        if len(cut) == 1:
            references += [Reference((unit,), reference.grade) for unit in cut[0]]
        elif all(len(units) == 1 for units in cut):
            references.append(Reference(tuple(units[0] for units in cut), reference.grade))
        else:
            raise InputError(
                "references with alternatives cannot be cut into sentences",
                where=item.where or f"question {item.query!r}",
                hint="Give each alternative as one sentence, or use unit='chunk'.",
            )

    retrieved = [unit for text in item.retrieved for unit in split(text)]
    return replace(item, retrieved=retrieved, references=references)


def place(
    retrieved: Sequence[Texts],
    references: Sequence[Texts],
    rule: TextRule,
    *,
    repeated_references: str = "once",
    grades: Sequence[Sequence[float]] | None = None,
) -> Placements:
    """One row for each pair of a retrieved text and a reference that a plain rule says it covers.

    The rule is called for empty texts too. A reference that is listed twice is one. With
    `repeated_references="each"` it is judged, and has a row, each time that it is listed, all of one aspect.
    `grades` has one for each reference (1 without it); of a reference that is listed twice the last one counts.
    """
    query: list[int] = []
    rank: list[int] = []
    labels: list[int] = []
    judged_size: list[int] = []
    judged: list[float] = []
    worth: dict[int, float] = {}
    before = 0
    for q, (texts, query_references) in enumerate(zip(retrieved, references, strict=True)):
        number = {text: i for i, text in enumerate(dict.fromkeys(query_references), before)}
        if repeated_references == "each":
            listed = list(query_references)
        else:
            listed = list(number)

        worth |= dict.fromkeys(number.values(), 1.0)
        if grades is not None:
            worth |= {number[text]: grade for text, grade in zip(query_references, grades[q], strict=True)}
        judged += sorted((worth[number[text]] for text in listed), reverse=True)
        judged_size.append(len(listed))
        before += len(listed)

        labels_of: dict[str, list[int]] = {}
        for text_rank, text in enumerate(texts, 1):
            if text not in labels_of:
                covered = _covered(text, number, rule)
                labels_of[text] = [number[reference] for reference in listed if reference in covered]
            query += [q] * len(labels_of[text])
            rank += [text_rank] * len(labels_of[text])
            labels += labels_of[text]

    sizes = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
    grade = np.array([worth[label] for label in labels], np.float64)
    rows = MatchRows(np.array(query, np.int64), np.array(rank, np.int64), np.array(labels, np.int64), grade)
    names = map(str, range(len(retrieved)))
    return _placements(names, sizes, judged_size, np.array(judged), rows)


def _covered(text: str, references: Collection[str], rule: TextRule) -> set[str]:
    """The references that a text covers, by a plain rule."""
    if rule is not same:
        return {reference for reference in references if rule(text, reference)}
    if text in references:
        return {text}
    return set()


def explain_item(item: TextItem, matcher: Matcher, split: Splitter | None = None) -> Explanation:
    """How much each text of a question matches each of its references, and by which words."""
    retrieved, references = usable_references(item, split, TextCounts())
    degrees = np.zeros((len(retrieved), len(references)))
    matched = np.zeros(degrees.shape, bool)
    marks: dict[tuple[int, int], Stretches] = {}
    refused: dict[tuple[int, int], str] = {}
    rows = [row for row, text in enumerate(retrieved) if text.strip()]
    texts = [retrieved[row] for row in rows]
    for column, reference in enumerate(references):
        if not rows:
            break
        left = np.repeat(np.arange(len(rows)), len(reference.texts))
        right = np.tile(np.arange(len(reference.texts)), len(rows))
        degree = matcher.about([item.question] * len(left)).degrees(texts, reference.texts, left, right)
        enough = matcher.enough(degree)
        guards = matcher.refused(enough, texts, reference.texts, left, right)
        enough[list(guards)] = False

        # The best alternative is one that matches, if any does.
        by_text = (degree + 2.0 * enough).reshape(len(rows), -1)
        best = by_text.argmax(axis=1)
        chosen = np.arange(len(rows)) * len(reference.texts) + best
        degrees[rows, column] = degree[chosen]
        matched[rows, column] = enough[chosen]
        refused |= {(rows[i], column): guards[pair] for i, pair in enumerate(chosen.tolist()) if pair in guards}
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
        refused=refused,
        threshold=matcher.threshold,
        inclusive=matcher.inclusive,
    )
