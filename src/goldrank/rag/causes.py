"""Why is what an answer needs not in the context? Each reference, or evidence, by the first cause that is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, one_of, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, Pack
from goldrank.data.passages_by_place import completed_at
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.spans import NOWHERE, parts_of
from goldrank.data.table import Cells, Head, Part, Row, Table, note_sentences
from goldrank.data.text_item import Chunk, EvidencePlaces, Reference, Span, TextItem
from goldrank.evaluation.text_settings import EvidenceLike, MatchingLike, Unlocated
from goldrank.evaluation.texts import PlacedTexts, TextOptions, place_texts, score_texts
from goldrank.io.questions.item_reader import ReadItem
from goldrank.io.questions.items import Items, ItemsLike, as_items, reader_of
from goldrank.io.questions.source_texts import read_chunks
from goldrank.match import Matcher
from goldrank.match.evidence import gold_spans
from goldrank.match.explain_places import as_reference
from goldrank.match.folding import fold
from goldrank.match.pairs import TextCounts, usable_references
from goldrank.measures.options import MAX_CUTOFF, PACKERS
from goldrank.rag.corpus import NO, UNKNOWN, YES, Availability, Corpus
from goldrank.rag.outcomes import Outcomes, outcomes_of

CAUSES = {
    "covered": "a text of the context covers it",
    "over the budget": "a text among the first k covers it, but does not fit into the budget",
    "ranked too low": "a text covers it, below the first k",
    "not matched": "a text among the first k is close to it, or stands where it stands",
    "not in the corpus": "it is in no source",
    "not indexed": "it is in a source, and no chunk holds any of it",
    "cut by a border": "no chunk holds it, chunks next to each other do",
    "not retrieved": "a chunk holds it that was not retrieved",
    "unknown": "nothing that was given tells",
}
"""Causes in the order in which they are looked for, and what each means."""
NAMES = tuple(CAUSES)
NEAR = 0.2
"""A degree is a near miss if it is below its threshold by at most this."""
IN_THE_INDEX = ("cut by a border", "not retrieved", "unknown")
"""Causes for which a chunk of the index may hold something that was not retrieved."""
COVER, COVER_BY_PLACE = "Cover", "EvidenceRecall"
"""The measures of how much is covered: of references, and of evidence by place."""


def decide(
    covered: np.ndarray,
    within: np.ndarray,
    deeper: np.ndarray,
    near: np.ndarray,
    availability: Sequence[Availability],
) -> np.ndarray:
    """The number of each cause in `CAUSES`: the first that is true.

    `covered`: in the context; `within`: among the first k; `deeper`: anywhere in the list; `near`: close to a text
    among the first k; `availability`: what the corpus has of it.
    """
    in_corpus, indexed, in_one_chunk, joined = np.array(availability, np.int8).reshape(-1, 4).T
    rows = [
        covered,
        within,
        deeper,
        near,
        in_corpus == NO,
        indexed == NO,
        (in_one_chunk == NO) & (joined == YES),
        in_one_chunk == YES,
    ]
    return np.asarray(np.select(rows, range(len(rows)), len(rows)))


class Needed(NamedTuple):
    """One thing that an answer needs, and what became of it: an entry of `Causes.needed`."""

    query: str
    text: str
    cause: str
    why: str
    rank: int | None = None
    """Where the text stands that covers it, or comes closest to it; None if nothing that was retrieved does."""
    chunk: str | None = None
    """The name of that text; of what was not retrieved, the chunk of the index that holds it."""


class Nearest(NamedTuple):
    """The text that comes closest to a reference that nothing covers."""

    rank: int
    why: str


class Diagnosis:
    """All that is known of each reference of one system, from which causes at any k and budget are read off."""

    def __init__(self, placed: PlacedTexts, corpus: Corpus | None) -> None:
        self.placed = placed
        self.corpus = corpus
        self.coverage = placed.options.evidence.coverage
        self.by_place = "spans" in placed.tables
        self.query: np.ndarray
        if self.by_place:
            self.query = self.table.evidence_query
        else:
            self.query = self.table.pairs.judged_query

        self.deeper = self._covered(self.table)
        self.first_rank = self._first_ranks(self.table)
        self.near: dict[int, Nearest] = {}
        self.availability: list[Availability] = [Availability()] * len(self.query)
        self.names: list[str] = [""] * len(self.query)
        self._look()

    @property
    def table(self) -> Any:  # Spans or Passages
        """The table that says what texts cover."""
        if self.by_place:
            return self.placed.tables["spans"]
        return self.placed.tables["texts"]

    def _covered(self, table: Any, k: int | None = None) -> np.ndarray:
        """Which references the first k texts of a table cover."""
        if self.by_place:
            return np.asarray(table.enough(k, self.coverage))
        first = table.pairs.per_label
        labels = first.label
        assert labels is not None
        if k is not None:
            labels = labels[first.rank <= k]
        covered = np.zeros(len(self.query), bool)
        covered[labels] = True
        return covered

    def _first_ranks(self, table: Any) -> np.ndarray:
        """For each reference, the rank of the first text that covers it, or completes it; 0 if none does."""
        if self.by_place:
            return completed_at(table, self.coverage)
        ranks = np.zeros(len(self.query), np.int64)
        first = table.pairs.per_label
        ranks[first.label[::-1]] = first.rank[::-1]
        return ranks

    def rank(self, number: int, cause: int) -> int | None:
        """Where the text stands that a cause is about."""
        if self.first_rank[number]:
            return int(self.first_rank[number])
        if NAMES[cause] == "not matched":
            return self.near[number].rank
        return None

    def chunks_in_index(self, cause: int, reference: Reference, evidence: EvidencePlaces | None) -> tuple[str, ...]:
        """The chunks that hold what was not retrieved, as far as chunks were given."""
        if self.corpus is None or self.corpus.chunks is None or NAMES[cause] not in IN_THE_INDEX:
            return ()
        if evidence is not None:
            return self.corpus.chunks_of_evidence(evidence)
        return self.corpus.chunks_of_reference(reference, self.placed.text_rules.matcher)

    def at(self, k: int | None, budget: int | None = None, pack: str = "prefix") -> np.ndarray:
        """The cause of each reference, as a number."""
        within = covered = self._covered(self.table, k)
        if budget is not None:
            covered = self._covered(self.table.packed(budget, pack, k))
        near = np.zeros(len(self.query), bool)
        near[[number for number, nearest in self.near.items() if k is None or nearest.rank <= k]] = True
        return decide(covered, within, self.deeper, near, self.availability)

    def by_question(self, causes: np.ndarray) -> np.ndarray:
        """The cause of each question: of its first reference that is not covered; -1 if it needs nothing."""
        cause_of = np.full(len(self.placed.queries), -1)
        for number in range(len(causes) - 1, -1, -1):
            question = self.query[number]
            if causes[number] or cause_of[question] < 0:
                cause_of[question] = causes[number]
        return cause_of

    def items(self) -> Iterator[tuple[ReadItem, TextItem, Sequence[Reference]]]:
        """The entry as it was read, the item as it was compared, and its references, in the order of their numbers."""
        resolved = iter(self.placed.resolved)
        for entry in self.placed.reader.entries():
            if self.by_place:
                item = next(resolved)
                yield entry, item, list(_as_references(item, entry, self.placed.sources))
            else:
                texts, references = usable_references(entry.item, self.placed.text_rules.split, TextCounts())
                yield entry, TextItem(entry.item.query, texts, question=entry.item.question), references

    def _look(self) -> None:
        """Look at what no text covers: how close texts come, and what the corpus has of it."""
        number = 0
        for entry, item, references in self.items():
            for i, reference in enumerate(references):
                if reference.texts:
                    self.names[number] = reference.texts[0]
                if not self.deeper[number]:
                    if self.by_place:
                        self._look_by_place(number, item, item.evidence[i], reference)
                    else:
                        self._look_by_words(number, entry, item, reference)
                number += 1

    def _look_by_place(self, number: int, item: TextItem, evidence: EvidencePlaces, reference: Reference) -> None:
        if self.corpus is not None:
            self.availability[number] = self.corpus.of_evidence(evidence)
        phrases = [fold(text) for text in reference.texts]
        for rank, text in enumerate(item.retrieved, 1):
            folded = fold(text)
            if any(phrase and phrase in folded for phrase in phrases):
                self.near[number] = Nearest(rank, f"text {rank} has its words, and its place is elsewhere or not known")
                return

    def _look_by_words(self, number: int, entry: ReadItem, item: TextItem, reference: Reference) -> None:
        matcher = self.placed.text_rules.matcher
        spans: list[Span] = []
        if self.corpus is not None:
            self.availability[number], spans = self.corpus.of_reference(reference, matcher)

        nearest = _nearest_by_degree(item, reference, matcher)
        if nearest is not None:
            self.near[number] = nearest
            return

        if spans and self.corpus is not None and not entry.by_id:
            for rank, text in enumerate(item.retrieved, 1):
                if any(self.corpus.stands_in(text, span) for span in spans):
                    self.near[number] = Nearest(rank, f"text {rank} stands where it stands")
                    return

    def why(self, number: int, cause: int) -> str:
        """A cause in words."""
        if NAMES[cause] == "not matched":
            return self.near[number].why
        if NAMES[cause] != "unknown":
            return CAUSES[NAMES[cause]]
        availability = self.availability[number]
        if availability.joined == NO:
            return "chunks hold only part of it"
        if self.corpus is None:
            return "sources and chunks would tell whether it is in the corpus and in the index"
        if availability.in_corpus == UNKNOWN:
            return "no text with its words was found; the matcher may see it elsewhere"
        return "the chunks with their places would tell whether it is in the index"


def _nearest_by_degree(item: TextItem, reference: Reference, matcher: Matcher) -> Nearest | None:
    """The first text that a guard refuses, or whose degree is just below the threshold; None if there is none."""
    rows = [rank for rank, text in enumerate(item.retrieved, 1) if text.strip()]
    if matcher.threshold is None or not rows:
        return None

    left = np.repeat(np.arange(len(rows)), len(reference.texts))
    right = np.tile(np.arange(len(reference.texts)), len(rows))
    texts = [item.retrieved[rank - 1] for rank in rows]
    degrees = matcher.degrees(texts, reference.texts, left, right)
    near = np.flatnonzero(degrees >= max(matcher.threshold - NEAR, 1e-9))
    if not len(near):
        return None

    refused = matcher.refused(matcher.enough(degrees), texts, reference.texts, left, right)
    pair = int(near[0])
    rank = rows[left[pair]]
    why = f"{matcher.says} {degrees[pair]:.2f}, {matcher.threshold:g} is needed"
    if pair in refused:
        why = f"{matcher.says} {degrees[pair]:.2f}, but {refused[pair]} differ"
    return Nearest(rank, f"text {rank}: {why}")


def chunk_name(entry: ReadItem, item: TextItem, rank: int) -> str | None:
    """The name of a retrieved text: its id, or where it stands; None if neither is known."""
    if len(entry.item.retrieved) != len(item.retrieved):  # texts were cut into sentences
        return None
    if entry.ids is not None and entry.ids[rank - 1] is not None:
        return entry.ids[rank - 1]
    if item.spans is not None and parts_of(item.spans[rank - 1]):
        return position_name(parts_of(item.spans[rank - 1]))
    if entry.sources is None:
        return None
    return entry.sources[rank - 1]


def position_name(spans: Sequence[Span]) -> str:
    """Where a text stands, in words."""
    return f"{spans[0].source}, {spans[0].start} to {spans[-1].end}"


def _cells(needed: Needed) -> Cells:
    """One thing that is missing as a row of a table."""
    rank = chunk = ""
    if needed.rank is not None:
        rank = str(needed.rank)
    if needed.chunk is not None:
        chunk = ids.show(needed.chunk, 40)
    return [needed.query, ids.show(needed.text, 60), needed.cause, rank, chunk, needed.why]


def _as_references(item: TextItem, entry: ReadItem, sources: Mapping[str, str]) -> Iterator[Reference]:
    """Evidence as people read it: the text at its position, or the quotation if it is nowhere."""
    quotes = entry.evidence
    if not isinstance(quotes, list | tuple):
        quotes = [quotes]
    has_quotes = len(quotes) == len(item.evidence)
    for i, evidence in enumerate(item.evidence):
        text = None
        if has_quotes and isinstance(quotes[i], Mapping) and _is_nowhere(evidence):
            text = quotes[i].get("quote", quotes[i].get("text"))
        if isinstance(text, str):
            yield Reference((text,))
        else:
            yield as_reference(evidence, sources)


def _is_nowhere(evidence: EvidencePlaces) -> bool:
    return any(span.source == NOWHERE for span in gold_spans([evidence]))


def diagnose(items: Items, measures: Sequence[str], options: TextOptions) -> Diagnosis:
    """Place the texts of a system once, and look where missing things are.

    A quotation that is not located is not an error here: it is not in the corpus.
    """
    evidence = options.evidence
    chunks: list[Chunk] | None = None
    if evidence.chunks is not None:
        chunks = read_chunks(evidence.chunks)
    unlocated: Unlocated = "missed"
    if evidence.unlocated == "skip":
        unlocated = "skip"
    located = replace(evidence, chunks=None, unlocated=unlocated)
    placed = place_texts(items, measures, replace(options, evidence=located, counts_tokens=not reader_of(items).by_id))

    corpus = None
    if evidence.sources is not None or placed.sources or chunks is not None:
        corpus = Corpus(placed.sources, chunks, located)
    return Diagnosis(placed, corpus)


class Causes(Result, Mapping[str, int]):
    """Questions by the cause for which something is missing in their context: `causes["not retrieved"]`.

    Causes that no question has are not listed, and count 0. `find_causes` makes it.

    Examples
    --------
    >>> causes = find_causes([{"id": "q", "retrieved": ["x", "one two"], "references": ["one two"]}], k=1)
    >>> dict(causes), causes["not retrieved"], causes.of_questions
    ({'ranked too low': 1}, 0, {'q': 'ranked too low'})
    """

    own_forms: ClassVar[Forms] = {
        "html": Form("a page with every question", "goldrank.rag.causes_report:page", (".html",))
    }
    notes: tuple[Note, ...]

    def __init__(
        self,
        system: str,
        diagnosis: Diagnosis,
        *,
        k: int | None,
        budget: int | None,
        pack: Pack,
        notes: Sequence[Note] = (),
    ) -> None:
        self.system = system
        self.diagnosis = diagnosis
        self.k = k

        self.budget = budget
        self.pack = pack
        self.notes = tuple(notes)

    @cached_property
    def _counts(self) -> dict[str, int]:
        counts = Counter(self.of_questions.values())
        return {cause: counts[cause] for cause in NAMES if counts[cause]}

    def __getitem__(self, cause: str) -> int:
        if cause not in CAUSES:
            raise KeyError(f"{cause!r}; causes are: {', '.join(NAMES)}")
        return self._counts.get(cause, 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, cause: object) -> bool:
        return cause in self._counts

    def __repr__(self) -> str:
        return f"Causes({self.system!r})"

    @cached_property
    def of_references(self) -> np.ndarray:
        """The cause of each reference, as a number in `CAUSES`."""
        numbers = self.diagnosis.at(self.k, self.budget, self.pack)
        numbers.flags.writeable = False
        return numbers

    @cached_property
    def of_questions(self) -> Mapping[str, str]:
        """The cause of each question that needs anything, by its id."""
        numbers = self.diagnosis.by_question(self.of_references).tolist()
        by_question = zip(self.diagnosis.placed.queries, numbers, strict=True)
        return {query: NAMES[number] for query, number in by_question if number >= 0}

    @property
    def reference_counts(self) -> dict[str, int]:
        """How many references each cause has."""
        counts = Counter(self.of_references.tolist())
        return {cause: counts[number] for number, cause in enumerate(NAMES) if counts[number]}

    @cached_property
    def needed(self) -> tuple[Needed, ...]:
        """Everything that is needed, with its cause, in order."""
        diagnosis = self.diagnosis
        causes = self.of_references.tolist()
        needed: list[Needed] = []
        for entry, item, references in diagnosis.items():
            for i, reference in enumerate(references):
                number = len(needed)
                cause, rank = causes[number], diagnosis.rank(number, causes[number])
                evidence = None
                if diagnosis.by_place:
                    evidence = item.evidence[i]
                if rank is None:
                    chunk = " + ".join(diagnosis.chunks_in_index(cause, reference, evidence)) or None
                else:
                    chunk = chunk_name(entry, item, rank)
                why = diagnosis.why(number, cause)
                needed.append(Needed(item.query, diagnosis.names[number], NAMES[cause], why, rank, chunk))

        return tuple(needed)

    @property
    def words(self) -> str:
        """How many questions have all that they need, and why most others have not."""
        total = sum(self.values())
        answer = f"{self['covered']:,} of {total:,} questions have all that they need in {self.context}"
        missing = {cause: number for cause, number in self.items() if cause != "covered"}
        if not missing:
            return f"{answer}."
        cause = max(missing, key=missing.__getitem__)
        return f"{answer}; the most frequent cause is '{cause}', of {missing[cause]:,}."

    def rows(self) -> list[dict[str, Any]]:
        """Everything that is needed as flat records, each with its question."""
        questions = {item.query: item.question for item in self.diagnosis.placed.reader}
        return [
            {"query": each.query, "question": questions[each.query], "text": each.text, "cause": each.cause,
             "why": each.why, "rank": each.rank, "chunk": each.chunk}
            for each in self.needed
        ]  # fmt: skip

    @cached_property
    def outcomes(self) -> Outcomes | None:
        """Retrieved x answered right, where items say of answers whether they are `correct`; else None."""
        is_retrieved = {query: cause == "covered" for query, cause in self.of_questions.items()}
        return outcomes_of(self.diagnosis.placed.reader, is_retrieved)

    @property
    def context(self) -> str:
        """What is taken as the context, in words."""
        parts = ["all texts"]
        if self.k is not None:
            parts = [f"the first {self.k:,} texts"]
        if self.budget is not None:
            parts.append(f"{self.budget:,} tokens, counted as {self.counted_as} ({self.pack})")
        return ", ".join(parts)

    @property
    def counted_as(self) -> str:
        """What a token is, in words."""
        return self.diagnosis.placed.options.matching.counted_as

    def counts_table(self) -> Table:
        """Causes with how many questions and references each has."""
        references = self.reference_counts
        rows: list[Row | Cells] = [
            [cause, f"{self[cause]:,}", f"{references.get(cause, 0):,}", CAUSES[cause]]
            for cause in NAMES
            if cause in self or cause in references
        ]
        heads = [*Head.texts("cause"), *Head.numbers("questions", "references"), *Head.texts("meaning")]
        title = f"{ids.show(self.system)}: why something is missing in {self.context}"
        return Table(heads, rows, title)

    def parts(self, most: int = 20) -> list[Part]:
        """The counts, and the first things that are missing."""
        missing = [each for each in self.needed if each.cause != "covered"]
        listed: list[Row | Cells] = [_cells(each) for each in missing[:most]]
        parts: list[Part] = [self.counts_table()]

        if listed:
            caption = ""
            if len(missing) > most:
                caption = f"{len(missing) - most:,} more are not listed here."
            heads = [*Head.names("question"), *Head.texts("needed", "cause"), *Head.numbers("rank")]
            heads += Head.texts("chunk", "why")
            parts.append(Table(heads, listed, "What is missing", caption))
        if self.outcomes is not None:
            parts += self.outcomes.parts()
        return [*parts, *note_sentences(self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        outcomes = None
        if self.outcomes is not None:
            outcomes = self.outcomes.to_dict()

        return {
            "system": self.system,
            "k": self.k,
            "budget": self.budget,
            "pack": self.pack,
            "tokens": self.counted_as,
            "questions": dict(self),
            "references": self.reference_counts,
            "outcomes": outcomes,
            "needed": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }


@named_arguments
def find_causes(
    items: ItemsLike,
    *,
    k: int | None = 5,
    budget: int | None = None,
    pack: Pack = "prefix",
    matching: MatchingLike = "rouge-l:0.7",
    evidence: EvidenceLike | None = None,
    convention: ConventionLike = "trec_eval-10",
) -> Causes:
    """Why is what an answer needs not in the context? Every reference, or evidence, by the first cause that is true.

    Parameters
    ----------
    items
        `Items`, or what `read_items` makes them of.
    k
        The context is made of the first k texts; None: of all.
    budget
        How many tokens the context holds; None: any number.
    pack
        How texts are packed into the budget: "prefix" up to the first that does not fit, "skip" without those that do
        not fit, "truncate" with the beginning of the first that does not.
    matching
        When a text covers a reference: a spelling such as "contains", or a `Matching`.
    evidence
        Its `sources` tell what is in the corpus at all, its `chunks` what is in the index, and in one piece; evidence
        counts as held from its `coverage` on. A quotation that is not located is "not in the corpus".
    convention
        The name of a convention, or a `Convention` with chosen policies.

    Returns
    -------
    Causes
        How many questions each cause has; `of_questions` and `needed` say which.

    Raises
    ------
    InputError
        If items cannot be read, or no question needs anything.
    OptionError
        If an option is not one of its choices.

    Examples
    --------
    >>> from goldrank import Evidence
    >>> items = [{"retrieved": ["x", "one two"], "references": ["one two", "three"]}]
    >>> indexed = Evidence(chunks=[{"id": "c1", "text": "one two"}])
    >>> causes = find_causes(items, k=1, matching="contains", evidence=indexed)
    >>> [(each.text, each.cause) for each in causes.needed]
    [('one two', 'ranked too low'), ('three', 'not in the corpus')]
    """
    if k is not None:
        k = whole_number(k, "k", 1, MAX_CUTOFF)
    if budget is not None:
        budget = whole_number(budget, "budget", 1, MAX_CUTOFF)
    one_of(pack, PACKERS, "pack")
    options = TextOptions.of(matching, evidence, None, convention)

    data = as_items(items)
    measures = [COVER]
    if reader_of(data).has_evidence:
        measures = [COVER_BY_PLACE]
    if budget is not None:
        measures.append(f'{measures[0]}(tokens={budget}, pack="{pack}")')
    diagnosis = diagnose(data, measures, options)
    if not len(diagnosis.query):
        raise InputError("no question needs anything", where=reader_of(data).name)

    notes = [*score_texts(diagnosis.placed).notes]
    if budget is None:
        notes = [note for note in notes if note.code != "tokens-counted"]
    if diagnosis.corpus is not None:
        notes += diagnosis.corpus.notes
    return Causes(data.name, diagnosis, k=k, budget=budget, pack=pack, notes=notes)
