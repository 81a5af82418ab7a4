"""Which retrieved text covers which reference, as Placements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from goldrank.data.passages import Passages
from goldrank.data.placements import Lengths, Placements
from goldrank.data.texts import Reference, TextItem, Texts
from goldrank.errors import InputError
from goldrank.match.exact import same
from goldrank.match.matcher import Matcher

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


def place_items(
    items: Iterable[TextItem],
    matcher: Matcher,
    *,
    split: Splitter | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> tuple[Passages, TextCounts]:
    """The pairs of texts and references that match, question by question.

    Items are taken in batches, so that nothing but numbers is kept of those that are done. Each pair of
    texts within a batch is tested once. With `split`, both sides are cut into its units first.
    """
    counts = TextCounts()
    parts = [_place_batch(batch, matcher, split, count_tokens, counts) for batch in _batches(items)]
    if not parts:
        raise InputError("there are no questions", hint="Is it the right file, and is it complete?")
    return _joined(parts), counts


def _batches(items: Iterable[TextItem]) -> Iterator[list[TextItem]]:
    stream = iter(items)
    while batch := list(islice(stream, BATCH)):
        yield batch


def _place_batch(
    batch: Sequence[TextItem],
    matcher: Matcher,
    split: Splitter | None,
    count_tokens: Callable[[str], int] | None,
    counts: TextCounts,
) -> Passages:
    sides = [usable_references(item, split, counts) for item in batch]
    texts = [side[0] for side in sides]
    references = [side[1] for side in sides]
    ours: dict[str, int] = {}
    theirs: dict[str, int] = {}
    text_codes = [ours.setdefault(text, len(ours)) for row in texts for text in row]
    blank = np.array([not text.strip() for text in ours], bool)
    wanted = [theirs.setdefault(text, len(theirs)) for row in references for each in row for text in each.texts]
    retrieved = np.fromiter(map(len, texts), np.int64, len(batch))
    start = np.concatenate(([0], np.cumsum(retrieved)))
    query = np.repeat(np.arange(len(batch)), retrieved)
    rank = np.arange(1, len(query) + 1) - start[query]
    codes = np.array(text_codes, np.int64)
    known = ~blank[codes] if len(codes) else np.zeros(0, bool)

    # Every text against every reference of its question, in order of question, rank and reference.
    aspects = np.array([i for row in references for i, each in enumerate(row) for _ in each.texts], np.int64)
    grades = np.array([each.grade for row in references for each in row for _ in each.texts], np.float64)
    widths = np.fromiter((sum(len(each.texts) for each in row) for row in references), np.int64, len(batch))
    first = np.concatenate(([0], np.cumsum(widths)))
    rows = np.flatnonzero(known & (widths[query] > 0)) if len(codes) else np.zeros(0, np.int64)
    times = widths[query[rows]]
    left = np.repeat(rows, times)
    within = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times)
    right = first[query[left]] + within
    decided = _decided(matcher, list(ours), list(theirs), codes[left], np.array(wanted, np.int64)[right])
    left, right = left[decided], right[decided]
    # Alternatives of one reference that one text covers are one row.
    fresh = np.ones(len(left), bool)
    fresh[1:] = (np.diff(left) != 0) | (np.diff(aspects[right]) != 0)
    left, right = left[fresh], right[fresh]

    judged = [sorted((each.grade for each in row), reverse=True) for row in references]
    lengths = None
    if count_tokens is not None:
        tokens = np.array([count_tokens(text) for text in ours], np.int64)
        lengths = Lengths(start, tokens[codes] if len(codes) else np.zeros(0, np.int64))
    judged_start = np.concatenate(([0], np.cumsum([len(row) for row in judged]))).astype(np.int64)
    pairs = Placements(
        queries=tuple(item.query for item in batch),
        retrieved=retrieved,
        answered=np.ones(len(batch), bool),
        judged_start=judged_start,
        judged=np.array([grade for row in judged for grade in row], np.float64),
        query=query[left],
        rank=rank[left],
        grade=grades[right],
        tie_first=rank[left],
        tie_last=rank[left],
        label=judged_start[query[left]] + aspects[right],
        shared=True,
        lengths=lengths,
    )
    placed = Passages(pairs, query, rank, _repeats(query, codes))
    counts.retrieved += len(codes)
    counts.references += len(pairs.judged)
    counts.empty_retrieved += int((~known).sum())
    counts.repeated += int(placed.repeated.sum())
    counts.covered += int(pairs.novel.sum())
    counts.matching += int(placed.matches.sum())
    return placed


def _decided(matcher: Matcher, ours: Texts, theirs: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The matcher's decisions, each distinct pair being asked for once."""
    if not len(left):
        return np.zeros(0, bool)
    key, back = np.unique(left * len(theirs) + right, return_inverse=True)
    decided: np.ndarray = matcher.decide(ours, theirs, key // len(theirs), key % len(theirs))[back]
    return decided


def usable_references(item: TextItem, split: Splitter | None, counts: TextCounts) -> tuple[Texts, list[Reference]]:
    """The texts and references of a question as they are compared, cut into units if `split` is given.

    References without text are left out, and the same one listed twice is one.
    """
    if split is not None:
        item = _in_units(item, split)
    usable: dict[Reference, None] = {}
    for reference in item.references:
        texts = tuple(text for text in reference.texts if text.strip())
        if texts:
            usable.setdefault(reference if texts == reference.texts else reference._replace(texts=texts))
        else:
            counts.empty_references += 1
    if not usable:
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


def _repeats(query: np.ndarray, codes: np.ndarray) -> np.ndarray:
    repeated = np.zeros(len(codes), bool)
    order = np.lexsort((codes, query))
    repeated[order[1:]] = (np.diff(query[order]) == 0) & (np.diff(codes[order]) == 0)
    return repeated


def _joined(parts: Sequence[Passages]) -> Passages:
    """Batches one after the other, with questions numbered through."""
    if len(parts) == 1:
        return parts[0]
    tables = [part.pairs for part in parts]
    offsets = np.cumsum([0, *(len(table) for table in tables[:-1])]).tolist()
    label_offsets = np.cumsum([0, *(len(table.judged) for table in tables[:-1])]).tolist()

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(table, name) for table in tables])

    def starts(of: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(([0], np.cumsum(np.concatenate([np.diff(start) for start in of]))))

    lengths = [table.lengths for table in tables if table.lengths is not None]
    pairs = Placements(
        queries=tuple(query for table in tables for query in table.queries),
        judged_start=starts([table.judged_start for table in tables]),
        query=np.concatenate([table.query + offset for table, offset in zip(tables, offsets, strict=True)]),
        lengths=Lengths(starts([part.start for part in lengths]), np.concatenate([part.tokens for part in lengths]))
        if lengths
        else None,
        label=np.concatenate([table.label + offset for table, offset in zip(tables, label_offsets, strict=True)]),
        shared=True,
        **{
            name: column(name) for name in ("retrieved", "answered", "judged", "rank", "grade", "tie_first", "tie_last")
        },
    )
    query = np.concatenate([part.query + offset for part, offset in zip(parts, offsets, strict=True)])
    rank, repeated = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rank", "repeated"))
    return Passages(pairs, query, rank, repeated)


def place(
    retrieved: Sequence[Texts],
    references: Sequence[Texts],
    rule: TextRule,
    *,
    repeated_references: str = "once",
) -> Placements:
    """One row for each pair of a retrieved text and a reference that a plain rule says it covers; grades are 1.

    The rule is asked about empty texts too. A reference that is listed twice is one. With
    `repeated_references="each"` it is judged, and has a row, each time that it is listed, all of one aspect.
    """
    query: list[int] = []
    rank: list[int] = []
    aspect: list[int] = []
    judged_size = []
    for q, (texts, wanted) in enumerate(zip(retrieved, references, strict=True)):
        number = {text: i for i, text in enumerate(dict.fromkeys(wanted))}
        listed = list(wanted) if repeated_references == "each" else list(number)
        judged_size.append(len(listed))
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
            aspect += known[text]
    ranks = np.array(rank, np.int64)
    queries = np.array(query, np.int64)
    judged_start = np.concatenate(([0], np.cumsum(judged_size))).astype(np.int64)
    return Placements(
        queries=tuple(map(str, range(len(retrieved)))),
        retrieved=np.fromiter(map(len, retrieved), np.int64, len(retrieved)),
        answered=np.ones(len(retrieved), bool),
        judged_start=judged_start,
        judged=np.ones(sum(judged_size)),
        query=queries,
        rank=ranks,
        grade=np.ones(len(rank)),
        tie_first=ranks,
        tie_last=ranks,
        label=judged_start[queries] + np.array(aspect, np.int64),
        shared=True,
    )
