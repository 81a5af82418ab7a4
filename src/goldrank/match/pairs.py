"""Which retrieved text covers which reference: as Placements, and pair by pair for people to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

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
"""Questions that are matched at once: enough for two cores, few enough for little memory."""


@dataclass
class TextCounts:
    """How many texts and references there were, and how many of them were special."""

    retrieved: int = 0
    references: int = 0
    empty_retrieved: int = 0
    """Texts without any letter or digit to compare; they keep their rank and cover nothing."""
    empty_references: int = 0
    """References of the same kind; they are left out."""
    repeated: int = 0
    covered: int = 0
    """References that some text covers."""
    matching: int = 0
    """Texts that cover some reference."""
    without_references: list[str] = field(default_factory=list)
    """The questions that have none, the first few."""
    no_references: int = 0
    unguarded: Counter[str] = field(default_factory=Counter)
    """References by their script, if no guard knows the negations of a language that is written in it."""


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

    Items are taken in batches, so that nothing but numbers is kept of those that are done. Each pair of
    texts within a batch is tested once. With `split`, both sides are cut into its units first.
    """
    counts = TextCounts()
    queries: list[str] = []
    answerable: list[int] = []
    confidence: list[float] = []
    batches = []
    stream = iter(items)
    cuts = [_Cuts(budget, matcher, split, count_tokens) for budget in dict.fromkeys(cut_for) if count_tokens]
    while batch := list(islice(stream, BATCH)):
        queries += (item.query for item in batch)
        answerable += map(answerable_code, batch)
        confidence += map(first_score, batch)
        batches.append(_matched(batch, matcher, split, count_tokens, counts))
        for cut in cuts:
            cut.add(batch)
    if not batches:
        raise InputError("there are no questions", hint="Is it the right file, and is it complete?", code="empty-input")
    columns = map(np.concatenate, zip(*batches, strict=True))
    retrieved, judged_size, judged, repeated, tokens, text, reference, grade = columns
    start = np.concatenate(([0], np.cumsum(retrieved)))
    query = np.repeat(np.arange(len(queries)), retrieved)
    rank = np.arange(1, len(query) + 1) - start[query]
    if count_tokens:
        lengths = Lengths(start, tokens, {cut.budget: cut.texts() for cut in cuts})
    else:
        lengths = None
    pairs = _placements(queries, retrieved, judged_size, judged, query[text], rank[text], reference, grade, lengths)
    placed = Passages(pairs, query, rank, repeated, np.array(answerable, np.int8), np.array(confidence))
    counts.repeated, counts.covered, counts.matching = (
        int(which.sum()) for which in (repeated, pairs.novel, placed.matches)
    )
    return placed, counts


def answerable_code(item: TextItem) -> int:
    """1, 0, or -1 for a question of which nothing is known: it has no references, and nothing says why."""
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

    def __init__(
        self, budget: int, matcher: Matcher, split: Splitter | None, count: Callable[[str], int] | None
    ) -> None:
        assert count is not None
        self.budget, self._matcher, self._split, self._count = budget, matcher, split, count
        self._counts = TextCounts()
        self._batches: list[tuple[np.ndarray, ...]] = []

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
        """What was cut, as numbers."""
        columns = map(np.concatenate, zip(*self._batches, strict=True))
        retrieved, _, _, _, tokens, text, reference, grade = columns
        query = np.repeat(np.arange(len(retrieved)), retrieved)
        by_query = np.zeros(len(retrieved), np.int64)
        by_query[query] = tokens
        return CutTexts(by_query, query[text], reference, grade)


def beginning(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest beginning of a text that ends at the end of a word and has no more than so many tokens.

    >>> beginning("one two three", 2, lambda text: len(text.split()))
    'one two'
    """
    ends = [end for _, end in spans(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[: ends[middle - 1]]) <= tokens else (low, middle - 1)
    if low and tokens > 0:
        return text[: ends[low - 1]]
    return ""


def _matched(
    batch: Sequence[TextItem],
    matcher: Matcher,
    split: Splitter | None,
    count_tokens: Callable[[str], int] | None,
    counts: TextCounts,
) -> tuple[np.ndarray, ...]:
    """All that is kept of a batch. Texts and references are numbered through all batches.

    For each question how many texts and references it has; the references' grades, descending within a question; for
    each text whether it stands above already, and its tokens if they are counted; for each match the text, the
    reference and its grade.
    """
    texts, references = zip(*(usable_references(item, split, counts) for item in batch), strict=True)
    ours: dict[str, int] = {}
    theirs: dict[str, int] = {}
    codes = np.array([ours.setdefault(text, len(ours)) for row in texts for text in row], np.int64)
    wanted = [theirs.setdefault(text, len(theirs)) for row in references for each in row for text in each.texts]
    if "negations" in matcher.guards:
        counts.unguarded.update(filter(None, map(unknown_script, theirs)))
    retrieved = np.fromiter(map(len, texts), np.int64, len(batch))
    query = np.repeat(np.arange(len(batch)), retrieved)
    blank = np.array([not text.strip() for text in ours], bool)[codes]

    # Every text against every reference of its question, in order of question, rank and reference.
    numbers = np.repeat(np.arange(sum(map(len, references))), [len(each.texts) for row in references for each in row])
    grades = np.array([each.grade for row in references for each in row], np.float64)
    widths = np.fromiter((sum(len(each.texts) for each in row) for row in references), np.int64, len(batch))
    rows = np.flatnonzero(~blank & (widths[query] > 0))
    times = widths[query[rows]]
    left = np.repeat(rows, times)
    within = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times)
    right = (np.cumsum(widths) - widths)[query[left]] + within
    if matcher.sees_questions:
        asked = [item.question for item in batch]
    else:
        asked = []
    decided = _decided(
        matcher, list(ours), list(theirs), codes[left], np.array(wanted, np.int64)[right], asked, query[left]
    )
    left, number = left[decided], numbers[right[decided]]
    # Alternatives of one reference that one text covers are one row.
    fresh = np.ones(len(left), bool)
    fresh[1:] = (np.diff(left) != 0) | (np.diff(number) != 0)
    left, number = left[fresh], number[fresh]

    judged = [sorted((each.grade for each in row), reverse=True) for row in references]
    tokens = np.array([count_tokens(text) for text in ours] if count_tokens else [], np.int64)
    sizes = np.fromiter(map(len, judged), np.int64, len(batch))
    judged_grades = np.array([grade for row in judged for grade in row], np.float64)
    repeated = np.zeros(len(codes), bool)
    order = np.lexsort((codes, query))
    repeated[order[1:]] = (np.diff(query[order]) == 0) & (np.diff(codes[order]) == 0)
    per_text = repeated, tokens[codes] if count_tokens else tokens
    per_match = left + counts.retrieved, number + counts.references, grades[number]
    counts.retrieved += len(codes)
    counts.references += len(grades)
    counts.empty_retrieved += int(blank.sum())
    return retrieved, sizes, judged_grades, *per_text, *per_match


def _placements(
    queries: Iterable[str],
    retrieved: np.ndarray,
    judged_size: Sequence[int] | np.ndarray,
    judged: np.ndarray,
    query: np.ndarray,
    rank: np.ndarray,
    reference: np.ndarray,
    grade: np.ndarray,
    lengths: Lengths | None = None,
) -> Placements:
    """One row for each match; `reference` is numbered through all queries."""
    answered = np.ones(len(retrieved), bool)
    start = np.concatenate(([0], np.cumsum(judged_size))).astype(np.int64)
    columns = query, rank, grade, rank, rank, reference

    return Placements(tuple(queries), retrieved, answered, start, judged, *columns, shared=True, lengths=lengths)


def _decided(
    matcher: Matcher,
    ours: Texts,
    theirs: Texts,
    left: np.ndarray,
    right: np.ndarray,
    questions: Texts,
    query: np.ndarray,
) -> np.ndarray:
    """The matcher's decisions, each distinct pair being asked for once (of each question, if it sees those)."""
    if not len(left):
        return np.zeros(0, bool)

    if questions:
        _, first, back = np.unique(np.stack([left, right, query]), axis=1, return_index=True, return_inverse=True)
        about = matcher.about([questions[i] for i in query[first].tolist()])
        return np.asarray(about.decide(ours, theirs, left[first], right[first])[back.ravel()])

    key, back = np.unique(left * len(theirs) + right, return_inverse=True)
    return np.asarray(matcher.decide(ours, theirs, key // len(theirs), key % len(theirs))[back])


def usable_references(item: TextItem, split: Splitter | None, counts: TextCounts) -> tuple[Texts, list[Reference]]:
    """The texts and references of a question as they are compared, cut into units if `split` is given.

    References without text are left out, and the same one listed twice is one.
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
            usable.setdefault(reference if texts == reference.texts else reference._replace(texts=texts))
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

    return replace(item, retrieved=[unit for text in item.retrieved for unit in split(text)], references=references)


def place(
    retrieved: Sequence[Texts],
    references: Sequence[Texts],
    rule: TextRule,
    *,
    repeated_references: str = "once",
    grades: Sequence[Sequence[float]] | None = None,
) -> Placements:
    """One row for each pair of a retrieved text and a reference that a plain rule says it covers.

    The rule is asked about empty texts too. A reference that is listed twice is one. With
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
    for q, (texts, wanted) in enumerate(zip(retrieved, references, strict=True)):
        number = {text: i for i, text in enumerate(dict.fromkeys(wanted), before)}
        if repeated_references == "each":
            listed = list(wanted)
        else:
            listed = list(number)
        worth |= dict.fromkeys(number.values(), 1.0)
        if grades is not None:
            worth |= {number[text]: grade for text, grade in zip(wanted, grades[q], strict=True)}
        judged += sorted((worth[number[text]] for text in listed), reverse=True)
        judged_size.append(len(listed))
        before += len(listed)
        known: dict[str, list[int]] = {}
        for at, text in enumerate(texts, 1):
            if text not in known:
                if rule is same:
                    known[text] = [number[text]] * listed.count(text) if text in number else []
                else:
                    covered = {reference for reference in number if rule(text, reference)}
                    known[text] = [number[reference] for reference in listed if reference in covered]
            query += [q] * len(known[text])
            rank += [at] * len(known[text])
            labels += known[text]
    sizes = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
    queries, ranks, references_of = (np.array(column, np.int64) for column in (query, rank, labels))
    grade = np.array([worth[label] for label in labels], np.float64)
    names = map(str, range(len(retrieved)))
    return _placements(names, sizes, judged_size, np.array(judged), queries, ranks, references_of, grade)


def explain_item(item: TextItem, matcher: Matcher, split: Splitter | None = None) -> Explanation:
    """How much each text of a question matches each of its references, and by which words."""
    retrieved, references = usable_references(item, split, TextCounts())
    degrees = np.zeros((len(retrieved), len(references)))
    matched = np.zeros(degrees.shape, bool)
    marks: dict[tuple[int, int], Stretches] = {}
    refused: dict[tuple[int, int], str] = {}
    rows = [row for row, text in enumerate(retrieved) if text.strip()]
    texts = [retrieved[row] for row in rows]
    for column, reference in enumerate(references if rows else ()):
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
        refused |= {(rows[i], column): guards[at] for i, at in enumerate(chosen.tolist()) if at in guards}
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
