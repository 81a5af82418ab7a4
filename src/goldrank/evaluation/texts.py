"""Retrieved texts and reference texts in, `Scores` out; evidence is found by its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from goldrank import conventions
from goldrank.base.errors import InputError, OptionError
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasuresLike
from goldrank.conventions import Convention, tool_of
from goldrank.data.explanation import Explanation
from goldrank.data.passages import Passages
from goldrank.data.passages_by_place import PassagesByPlace
from goldrank.data.query_costs import facts_about
from goldrank.data.query_facts import QueryFacts
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.data.signature import HASH
from goldrank.data.spans import Spans
from goldrank.data.text_item import TextItem
from goldrank.evaluation import pipeline
from goldrank.evaluation.citation_counts import count_citations
from goldrank.evaluation.claim_places import (
    BY_PLACE,
    USUAL,
    ClaimKind,
    ClaimRules,
    kinds_of,
    notes_on,
    place_kind,
    tables_for,
)
from goldrank.evaluation.inputs import resolve_measures
from goldrank.evaluation.mismatch import explain_id_mismatch
from goldrank.evaluation.nugget_places import DEFAULT as DEFAULT_OF_NUGGETS
from goldrank.evaluation.nugget_places import place_nuggets
from goldrank.evaluation.text_notes import Passing, chance_notes, notes_of, nothing_matches, numbers_of, ties_at_the_end
from goldrank.evaluation.text_rules import (
    TextRules,
    counts_tokens,
    splitter,
    token_counter,
    token_offsets,
    unit_name,
)
from goldrank.evaluation.text_settings import (
    Answers,
    Evidence,
    EvidenceLike,
    Matching,
    MatchingLike,
    as_answers,
    as_evidence,
    as_matching,
)
from goldrank.evaluation.text_signature import text_facts
from goldrank.io.files import is_file
from goldrank.io.questions.item_reader import ItemReader, ReadItem
from goldrank.io.questions.items import Items, ItemsLike, as_items, reader_of
from goldrank.io.questions.source_texts import read_chunks, read_sources
from goldrank.match import folding, place_items
from goldrank.match import matcher as as_matcher
from goldrank.match.chance import Sample, Sourced
from goldrank.match.pairs import TextCounts, answerable_code, explain_item, first_score
from goldrank.measures import REGISTRY, Measure
from goldrank.measures.apply import check_credit

DEFAULT = ("Cover@5", "CoverAll@5", "nDCG@10", "AP", "RR", "P@5")
"""What is measured of texts if the user names no measures."""
DEFAULT_OF_PAIRS = ("P@5", "SetP")
DEFAULT_BY_PLACE = ("EvidenceRecall@5", "EvidenceAll@5", "SpanRecall@5", "SpanPrecision@5")
"""What is measured then, where questions have evidence by place."""


@named_arguments
def evaluate_texts(
    items: ItemsLike,
    measures: MeasuresLike = None,
    *,
    matching: MatchingLike = "rouge-l:0.7",
    evidence: EvidenceLike | None = None,
    answers: Answers | None = None,
    convention: ConventionLike = "trec_eval-10",
) -> Scores:
    """Score retrieved texts against the texts that they should cover.

    Measures of an answer (`context_recall`) compare texts with the claims of `reference`. Measures of spans
    (`SpanRecall@5`) find evidence by its place: items then have `evidence`, each {"source": ..., "start": ..., "end":
    ...} or {"source": ..., "quote": ...}, and retrieved texts have a source and a start, or are looked for in the
    sources. Where what is expected is named by ids alone (`expected_ids`), ids are compared. Questions with
    `answerable: false` have no value in measures of coverage.

    Parameters
    ----------
    items
        `Items`, or what `read_items` makes them of: a list of dicts, a file or a data frame with, for each question,
        the retrieved texts and the references. A reference that is a list of texts is covered by any of them.
    measures
        A measure such as "Cover@5", several, or None for the usual ones.
    matching
        When a text covers a reference: a spelling such as "exact", "contains" or "rouge-l:0.7", or a `Matching`.
    evidence
        Where evidence stands: its sources (a folder, a file, or texts by id), or an `Evidence`.
    answers
        How answers are taken apart, who judges their claims, and when a system abstains.
    convention
        The name of a convention, or a `Convention` with chosen policies.

    Returns
    -------
    Scores
        Under the items' name.

    Raises
    ------
    InputError
        If items cannot be read, or have nothing that the measures need.
    OptionError
        If an option is not one of its choices, or a measure needs what is not given.

    Examples
    --------
    >>> items = [{"retrieved": ["Paris is in France.", "Rome is in Italy."], "references": ["Rome is in Italy."]}]
    >>> evaluate_texts(items, ["Cover@1", "RR"]).mean
    {'Cover@1': 0.0, 'RR': 0.5}
    """
    options = TextOptions.of(matching, evidence, answers, convention)
    return score_texts(place_texts(as_items(items), measures, options))


@dataclass(frozen=True)
class TextOptions:
    """How texts are placed: all options of a call."""

    matching: Matching
    evidence: Evidence
    answers: Answers
    convention: Convention
    counts_tokens: bool = False
    """Whether tokens are counted though no measure needs them."""

    @classmethod
    def of(
        cls,
        matching: MatchingLike,
        evidence: EvidenceLike | None,
        answers: Answers | None,
        convention: ConventionLike,
    ) -> TextOptions:
        """The options as users pass them, spellings too."""
        return cls(as_matching(matching), as_evidence(evidence), as_answers(answers), conventions.get(convention))

    @property
    def rules(self) -> Convention:
        """The convention, with the threshold of abstaining."""
        return abstaining(self.convention, self.answers.abstain_below)


@dataclass(frozen=True)
class PlacedTexts:
    """Texts that were compared with what they should cover: the tables that measures read, and facts for scores."""

    data: Items
    options: TextOptions
    measures: Sequence[Measure]
    rules: Convention
    text_rules: TextRules
    claim_rules: ClaimRules
    by_kind: Mapping[ClaimKind, Passages]
    """Passages by what texts are compared with."""
    tables: Mapping[str, Any]
    """The tables that measures of spans and of the first kind read."""
    queries: tuple[str, ...]
    numbers: Mapping[str, int]
    notes: Sequence[Note]
    explainer: Callable[[str], Explanation]
    resolved: Sequence[TextItem]
    """For evidence by place, the items with all positions that were found."""
    sources: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.data.name

    @property
    def reader(self) -> ItemReader:
        """The reader, which reads the items anew."""
        return reader_of(self.data)


def usual_measures(data: Items, matching: Matching) -> tuple[str, ...]:
    """What is measured if the user names no measures: evidence comes first."""
    if reader_of(data).has_evidence:
        return DEFAULT_BY_PLACE
    if reader_of(data).has_nuggets_alone:
        return DEFAULT_OF_NUGGETS
    if matching.credit == "pairs":
        return DEFAULT_OF_PAIRS
    return DEFAULT


def place_texts(data: Items, measures: MeasuresLike, options: TextOptions) -> PlacedTexts:
    """Match or locate all texts once."""
    matching, rules = options.matching, options.rules
    usual = usual_measures(data, matching)
    text_measures = [measure.of_texts for measure in resolve_measures(measures, rules, usual)]
    claim_rules = ClaimRules.of(options.answers, by_place=reader_of(data).has_evidence)
    kinds = kinds_of(text_measures, claim_rules)
    for measure in text_measures:
        check_credit(measure, matching.credit)

    by_id = reader_of(data).by_id
    if by_id:
        _check_ids_suffice(text_measures, claim_rules, reader_of(data).name)
        text_rules = TextRules(as_matcher("exact"), None, "id", matching.credit)
    else:
        text_rules = TextRules(matching.rule, splitter(matching.unit), unit_name(matching.unit), matching.credit)

    placing = _TextPlacing(
        data=data,
        options=options,
        measures=text_measures,
        rules=rules,
        text_rules=text_rules,
        claim_rules=claim_rules,
        by_id=by_id,
    )
    of_texts = [kind for kind in kinds if kind != BY_PLACE]
    for kind in of_texts:
        placing.add_kind(kind, is_first=not placing.by_kind)
    if placing.needs("spans") or BY_PLACE in kinds:
        placing.add_spans()
    if BY_PLACE in kinds:
        placing.add_passages_by_place()
    return placing.finished(next(iter(of_texts), USUAL))


@dataclass
class _TextPlacing:
    """Texts while they are placed, for one kind of targets after the other."""

    data: Items
    options: TextOptions
    measures: Sequence[Measure]
    rules: Convention
    text_rules: TextRules
    claim_rules: ClaimRules
    by_id: bool
    by_kind: dict[ClaimKind, Passages] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    queries: tuple[str, ...] = ()
    numbers: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    resolved: list[TextItem] = field(default_factory=list)
    passed: Passing = field(default_factory=Passing)

    def __post_init__(self) -> None:
        self.reader = reader_of(self.data)
        if self.by_id:
            self.notes.append(Note.of("ids-compared"))
        self.sources: Mapping[str, str] = {}
        if self.options.evidence.sources is not None:
            self.sources = read_sources(self.options.evidence.sources)
        self.counter: Callable[[str], int] | None = None
        if self.options.counts_tokens or any(map(counts_tokens, self.measures)):
            self.counter = token_counter(self.options.matching.token_function)
            self.notes.append(Note.of("tokens-counted", tokens=self.options.matching.counted_as))
        self.cut_for = [measure.option("tokens") for measure in self.measures if measure.option("pack") == "truncate"]

    def needs(self, table: str) -> bool:
        """Whether a measure reads this table."""
        return any(measure.declaration.over == table for measure in self.measures)

    def add_kind(self, kind: ClaimKind, *, is_first: bool) -> None:
        """Compare texts with references, claims or entities."""
        sample = Sample()
        if kind == USUAL:
            passages, counts = self._place_references(sample)
        elif kind.target == "nuggets":
            matcher = self.claim_rules.matcher(kind, self.text_rules.matcher)
            passages, counts, nugget_notes = place_nuggets(self.passed.items(self.reader), matcher)
            self.notes += nugget_notes
        elif kind.target == "citations":
            entries = self.passed.by(self.reader.entries())
            passages, counts, citation_notes = count_citations(entries, self.text_rules.matcher)
            self.notes += citation_notes
        else:
            placing = {"split": self.text_rules.split, "count_tokens": self.counter, "cut_for": self.cut_for}
            passages, counts = place_kind(
                lambda: self.passed.items(self.reader), kind, self.claim_rules, self.text_rules.matcher, placing
            )

        self.notes += self.claim_rules.matcher(kind, self.text_rules.matcher).take_notes()
        self.by_kind[kind] = passages
        if not is_first:
            return

        self.tables |= tables_for(passages)
        self.queries = passages.queries
        self.numbers |= numbers_of(passages, counts)
        if kind.target not in ("nuggets", "citations"):
            self.notes += notes_of(self.numbers, counts, self.text_rules)
        if kind != USUAL:
            return

        if self.needs("aspects"):
            self.tables["aspects"] = passages.aspects
        if counts.references:
            self._note_matches(passages, counts, sample)

    def _place_references(self, sample: Sample) -> tuple[Passages, TextCounts]:
        passing = sample.passing(map(_with_sources, self.passed.by(self.reader.entries())))
        passages, counts = place_items(
            passing,
            self.text_rules.matcher,
            split=self.text_rules.split,
            count_tokens=self.counter,
            cut_for=self.cut_for,
        )

        has_evidence = self.claim_rules.by_place
        if not counts.references and (has_evidence or not passages.unanswerable.any()):
            hint = _NO_REFERENCES
            if has_evidence:
                hint = _EVIDENCE_ALONE
            message = "no question has a reference text"
            raise InputError(message, where=self.reader.name, hint=hint, code="no-references")
        return passages, counts

    def _note_matches(self, passages: Passages, counts: TextCounts, sample: Sample) -> None:
        """Say if nothing matches, and else what chance alone would cover."""
        if counts.retrieved and not counts.matching:
            if self.by_id and self.rules.overlap == "error":
                explain_id_mismatch(self.reader.name, self.passed.retrieved, self.passed.expected)
            self.notes.append(nothing_matches(self.reader, self.text_rules))
        elif self.text_rules.matcher.free and not self.by_id:
            self.notes += chance_notes(sample, passages.pairs, self.text_rules, self.measures)

    def add_spans(self) -> None:
        """Find evidence and texts by their positions."""
        tool_of(self.rules).check_lengths(self.options.evidence.lengths)
        places = places_of(self.passed.by(self.reader.entries()), self.sources)
        self.sources = places.texts
        spans, span_notes = self._spans_by(places)
        unanswerable = np.array([item.answerable is False for item in places.items], bool)
        if not spans.relevant().any() and not unanswerable.any():
            raise _no_evidence(span_notes, self.reader.name)

        self.tables |= {"spans": spans, "unanswerable": unanswerable}
        self.queries = spans.queries
        self.numbers |= {
            "queries": len(spans),
            "retrieved": int(spans.retrieved.sum()),
            "evidence": int(spans.relevant().sum()),
            "no_results": int((spans.retrieved == 0).sum()),
        }
        self.notes += span_notes

    def add_passages_by_place(self) -> None:
        """The table that measures of texts read where evidence takes the place of references."""
        answerable = np.array([answerable_code(item) for item in self.resolved], np.int8)
        confidence = np.array([first_score(item) for item in self.resolved])
        self.by_kind[BY_PLACE] = PassagesByPlace.of(
            self.tables["spans"], self.options.evidence.coverage, answerable, confidence
        )

    def _spans_by(self, places: Places) -> tuple[Spans, Sequence[Note]]:
        """The table that measures of spans read."""
        from goldrank.match.span_table import SpanRules, spans_of, word_offsets

        evidence, own_tokens = self.options.evidence, self.options.matching.token_function
        offsets: Callable[[str], list[tuple[int, int]]] = word_offsets
        if evidence.lengths == "token" and own_tokens is not None:
            offsets = token_offsets(own_tokens)
        chunks: Any = evidence.chunks
        if is_file(chunks) or _are_records(chunks):
            chunks = read_chunks(chunks)
        rules = SpanRules(
            unit=evidence.lengths,
            tokens=offsets,
            count_tokens=self.counter,
            cut_for=self.cut_for,
            several=evidence.several,
            unlocated=evidence.unlocated,
            similarity=evidence.similarity,
        )
        return spans_of(
            places.items,
            places.texts or None,
            rules,
            quotes=places.quotes,
            chunks=chunks,
            chunk_sources=places.places,
            keep=self.resolved,
        )

    def finished(self, first: ClaimKind) -> PlacedTexts:
        """All that was placed."""
        if not self.by_id:
            self.numbers["characters"] = self.passed.characters

        self.notes += ties_at_the_end(self.measures, self.tables, self.passed)
        if "texts" in self.tables:
            explainer = _explainer(self.reader, self.text_rules, self.claim_rules, first)
        else:
            explainer = _place_explainer(self.reader, self.sources, self.options.evidence)

        return PlacedTexts(
            data=self.data,
            options=self.options,
            measures=self.measures,
            rules=self.rules,
            text_rules=self.text_rules,
            claim_rules=self.claim_rules,
            by_kind=self.by_kind,
            tables=self.tables,
            queries=self.queries,
            numbers=self.numbers,
            notes=self.notes,
            explainer=explainer,
            resolved=self.resolved,
            sources=self.sources,
        )


def score_texts(placed: PlacedTexts) -> Scores:
    """The `Scores` of texts that were placed."""
    rules, text_rules, tables, queries = placed.rules, placed.text_rules, placed.tables, placed.queries
    everything = np.ones(len(queries), bool)
    columns: dict[Measure, Column] = {}
    for measure in placed.measures:
        if measure.declaration.over == "spans":
            kind = USUAL
        else:
            kind = placed.claim_rules.kind(measure)
        measure_tables = dict(tables)
        if kind != USUAL:
            measure_tables = tables_for(placed.by_kind[kind])
        columns |= pipeline.columns_of(
            [measure], measure_tables, everything, queries, rules, placed.name, text_rules.credit
        )[0]

    notes = [*placed.notes, *notes_on(columns, placed.by_kind, placed.claim_rules, placed.reader)]
    label = [rules.label]
    if "texts" in tables:
        label.append(str(text_rules))
    if "spans" in tables:
        label.append(f"spans by {placed.options.evidence.lengths}")

    return Scores(
        run=placed.name,
        queries=queries,
        columns={str(measure): column for measure, column in columns.items()},
        remarks=Remarks(dict(placed.numbers), (*placed.data.notes, *notes)),
        convention=", ".join(label),
        origin=_origin(placed),
        explainer=placed.explainer,
        options=tool_of(rules).options,
        facts=partial(_facts_of, placed.reader, queries, tables),
    )


def _facts_of(data: Iterable[TextItem], queries: Sequence[str], tables: Mapping[str, Any]) -> QueryFacts:
    """What is known of each question. Its matcher judges every text that was returned."""
    if "spans" in tables:
        table = tables["spans"]
    else:
        table = tables["placements"]
    relevant = table.relevant(1)
    about: dict[str, dict[str, Any]] = {}
    for item in data:
        about[item.query] = dict(item.about)
        if item.latency is not None:
            about[item.query]["latency"] = item.latency
    known = facts_about(about, queries)
    return QueryFacts(returned=table.retrieved, judged=table.retrieved, relevant=relevant, **known)


def _check_ids_suffice(measures: Sequence[Measure], claim_rules: ClaimRules, name: str) -> None:
    """Refuse measures that need texts where there are ids alone."""
    for measure in measures:
        if measure.declaration.wanted == "citations":
            continue
        if counts_tokens(measure) or measure.declaration.over == "spans" or claim_rules.kind(measure) != USUAL:
            message = f"{measure} needs texts, and {name} has ids"
            raise OptionError(message, hint="Give retrieved texts too.", code="needs-texts")


def abstaining(rules: Convention, below: float | None) -> Convention:
    """The rules with a threshold of abstaining for the measures that take one."""
    if below is None:
        return rules
    names = [name for name, declaration in REGISTRY.items() if "abstain_below" in declaration.options]
    return conventions.with_options(rules, {name: {"abstain_below": below} for name in names})


def _with_sources(entry: ReadItem) -> Sourced:
    return entry.item, frozenset(source for source in entry.sources or () if source is not None)


_NO_REFERENCES = (
    "Give texts that should be found: read_items(..., fields={'references': 'where.they.are'}) (--map references=...)."
)
_EVIDENCE_ALONE = (
    "Questions have evidence by place: measure EvidenceRecall@5, EvidenceAll@5, SpanRecall@5 or SpanPrecision@5."
)
_NONE_LOCATED = "Are these the sources that were quoted? unlocated='error' says what is nearest to each."
_NO_EVIDENCE = """Measures of spans need "evidence": [{"source": "doc1", "start": 10, "end": 50}], or a quote."""


def _origin(placed: PlacedTexts) -> Callable[[], dict[str, Any]]:
    data, text_rules, options, rules = placed.data, placed.text_rules, placed.options, placed.rules
    questions = len(placed.queries)
    stamp = pipeline.provenance(rules)

    def facts() -> dict[str, Any]:
        gold, returned = _digests(reader_of(data))
        normalisation = None
        if text_rules.matcher.folds:
            normalisation = folding.NAME

        return {
            **stamp,
            "matcher": str(text_rules.matcher),
            "normalisation": normalisation,
            "unit": text_rules.unit,
            "credit": text_rules.credit,
            "qrels": {"name": reader_of(data).name, "sha256": gold, "criteria": None},
            "run": {"name": data.name, "sha256": returned},
            "signature": {
                **text_facts(
                    options.matching,
                    options.evidence,
                    options.answers,
                    rules=rules,
                    matcher=text_rules.matcher,
                    gold=gold,
                    questions=questions,
                ),
                "run": returned[:HASH],
            },
        }

    return facts


def _digests(reader: ItemReader) -> tuple[str, str]:
    """Hashes of what should be found and of what was found: the first stays when only the retriever changes."""
    import hashlib

    gold, returned = hashlib.sha256(), hashlib.sha256()
    for entry in reader.entries():
        item = entry.item
        gold.update(repr((item.query, list(map(tuple, item.references)), entry.evidence)).encode())
        if item.answerable is not None or item.reference:
            gold.update(repr((item.answerable, item.reference)).encode())
        returned.update(repr((item.query, list(item.retrieved), item.spans)).encode())
    return gold.hexdigest(), returned.hexdigest()


def _explainer(
    reader: ItemReader, text_rules: TextRules, claim_rules: ClaimRules, kind: ClaimKind
) -> Callable[[str], Explanation]:
    def explain(query: str) -> Explanation:
        for item in reader:
            if item.query == query:
                compared = claim_rules.item(item, kind.target)
                return explain_item(compared, claim_rules.matcher(kind, text_rules.matcher), text_rules.split)
        raise InputError(f"question {query!r} is no longer in {reader.name}")

    return explain


class Places(NamedTuple):
    """What is known of positions beside the items."""

    items: list[TextItem]
    quotes: dict[str, Sequence[Any]]
    places: dict[str, Sequence[str | None]]
    texts: dict[str, str]


def places_of(entries: Iterable[ReadItem], sources: Mapping[str, str] | None) -> Places:
    """What items say of positions, beside sources that are given."""
    places = Places([], {}, {}, dict(sources or {}))
    for entry in entries:
        query = entry.item.query
        places.items.append(entry.item)
        if not entry.item.evidence and entry.evidence is not None:
            quotes = entry.evidence
            if isinstance(quotes, Mapping):
                quotes = [quotes]
            places.quotes[query] = quotes

        if entry.sources is not None:
            places.places[query] = entry.sources
        places.texts.update(entry.source_texts or {})
    return places


def _are_records(chunks: object) -> bool:
    """Whether chunks are records, and not positions or texts by source."""
    return isinstance(chunks, list | tuple) and any(isinstance(chunk, Mapping) for chunk in chunks)


def _no_evidence(notes: Sequence[Note], name: str) -> InputError:
    """The error where no evidence has a known position."""
    if any(note.code == "quotations-lost" for note in notes):
        message = "all evidence was left out: no quotation was located"
        return InputError(message, where=name, hint=_NONE_LOCATED, code="not-located")
    return InputError("no question has evidence by place", where=name, hint=_NO_EVIDENCE, code="not-located")


def _place_explainer(
    reader: ItemReader, sources: Mapping[str, str], evidence: Evidence
) -> Callable[[str], Explanation]:
    """A function that explains a question by the positions of its texts and its evidence."""

    def explain(query: str) -> Explanation:
        from goldrank.match.evidence import Finder, resolve
        from goldrank.match.explain_places import explain_places

        texts = places_of(reader.entries(), sources).texts  # any question may bring the text of a source
        entry = next((entry for entry in reader.entries() if entry.item.query == query), None)
        if entry is None:
            raise InputError(f"question {query!r} is no longer in {reader.name}")
        places = places_of([entry], texts)
        finder = Finder(
            places.texts,
            several=evidence.several,
            unlocated=evidence.unlocated,
            similarity=evidence.similarity,
        )
        (item,) = resolve(places.items, finder, places.quotes, places.places)
        return explain_places(item, places.texts)

    return explain
