"""Spans equal sets of characters; evidence as people write it down; the same values however texts are cut."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises_code

from goldrank.base.errors import InputError, MeasureError, MismatchError, OptionError
from goldrank.base.notes import Note
from goldrank.data.spans import Spans
from goldrank.data.stretches import length_within, merge
from goldrank.data.text_item import EvidencePlaces, Span, TextItem
from goldrank.match.evidence import Finder, Quote, resolve
from goldrank.match.span_table import SpanRules, spans_of, word_offsets
from goldrank.measures import parse

# Intervals.

PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair))), max_size=6)


def positions(pairs: list[tuple[int, int]]) -> set[int]:
    return {i for start, end in pairs for i in range(start, end)}


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


@settings(deadline=None)
@given(PAIRS, PAIRS)
def test_intervals_equal_sets(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    start, end = merge(*columns(one))
    merged = list(zip(start.tolist(), end.tolist(), strict=True))
    assert positions(merged) == positions(one)
    assert all(a[1] < b[0] for a, b in pairwise(merged)), "neither overlapping nor touching"
    held = length_within(start, end, *columns(other)).tolist()
    assert held == [len(positions(one) & positions([pair])) for pair in other]


# The table, against sets of characters.

SPAN = st.builds(
    lambda source, start, size: Span(source, start, start + size),
    st.sampled_from("ab"), st.integers(0, 25), st.integers(1, 12),
)  # fmt: skip
EVIDENCE = st.lists(st.lists(SPAN, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(
    lambda groups: EvidencePlaces(tuple(groups))
)
TEXT = st.one_of(SPAN, st.text("x", max_size=9))


@st.composite
def some_items(draw: st.DrawFn) -> list[TextItem]:
    items = []
    for query in range(draw(st.integers(1, 3))):
        texts = draw(st.lists(TEXT, max_size=5))
        items.append(
            TextItem(
                f"q{query}",
                ["at its place" if isinstance(one, Span) else one for one in texts],
                spans=[one if isinstance(one, Span) else None for one in texts],
                evidence=draw(st.lists(EVIDENCE, max_size=3)),
            )
        )
    return items


SOURCES = {"a": "one, two three  four-five six seven eight", "b": " un deux; trois quatre cinq six sept huit neuf"}


class ByHand:
    """The measures of one item by sets of positions: characters, or tokens of which any character is inside."""

    def __init__(self, item: TextItem, k: int | None, unit: str, chunks: list[Span]) -> None:
        self.unit = unit
        texts = list(zip(item.retrieved, item.spans or (), strict=True))[:k]
        self.read = [self.inside([span]) for _, span in texts if span is not None]
        self.unknown = sum(len(text) if unit == "char" else len(text.split()) for text, span in texts if span is None)
        self.alternatives = [
            list({frozenset(self.inside(group)) for group in one.alternatives}) for one in item.evidence
        ]
        self.seen = set().union(*self.read)
        self.gold = set().union(*(group for groups in self.alternatives for group in groups))
        self.chunks = [inside for inside in (self.inside([one]) for one in chunks) if inside & self.gold]

    def inside(self, spans: Any) -> set[tuple[str, int]]:
        if self.unit == "char":
            return {(span.source, i) for span in spans for i in range(span.start, span.end)}
        return {
            (span.source, number)
            for span in spans
            for number, (start, end) in enumerate(word_offsets(SOURCES[span.source]))
            if max(start, span.start) < min(end, span.end)
        }

    def share(self, groups: list[frozenset[tuple[str, int]]]) -> float:
        return max(len(group & self.seen) / len(group) for group in groups)

    def recall_parts(self) -> tuple[float, float]:
        plain = set().union(*(groups[0] for groups in self.alternatives if len(groups) == 1))
        covered, whole = float(len(plain & self.seen)), float(len(plain))
        for groups in self.alternatives:
            if len(groups) > 1:
                shortest = min(map(len, groups))
                whole += shortest
                covered += shortest * self.share(groups)
        return covered, whole

    def value(self, name: str, repeated: str, coverage: float) -> float:
        covered, needed = self.recall_parts()
        found = len(self.seen & self.gold)
        read = self.unknown + (len(self.seen) if repeated == "once" else sum(map(len, self.read)))
        recall, precision = divided(covered, needed), divided(found, read)
        enough = [self.share(groups) > 0 and self.share(groups) >= coverage for groups in self.alternatives]
        together = set().union(*self.chunks)
        length = len(together) if repeated == "once" else sum(map(len, self.chunks))
        return {
            "SpanRecall": recall,
            "SpanPrecision": precision,
            "SpanIoU": divided(found, read + needed - covered),
            "SpanF": divided(2 * precision * recall, precision + recall),
            "SpanPrecisionOmega": divided(len(together & self.gold), length),
            "EvidenceRecall": divided(sum(enough), len(enough)),
            "EvidenceAll": float(bool(enough) and all(enough)),
        }[name]


def divided(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


NAMES = ("SpanRecall", "SpanPrecision", "SpanIoU", "SpanF", "SpanPrecisionOmega", "EvidenceRecall", "EvidenceAll")


@pytest.mark.parametrize("unit", ["char", "token"])
@settings(deadline=None)
@given(some_items(), st.lists(SPAN, max_size=6), st.sampled_from([None, 1, 2, 4]), st.sampled_from([1.0, 0.5, 0.0]))
@pytest.mark.slow
def test_measures_equal_sets(
    unit: str, items: list[TextItem], chunks: list[Span], k: int | None, coverage: float
) -> None:
    empty = any(
        not ByHand(item, None, unit, []).inside(group) for item in items for one in item.evidence
        for group in one.alternatives
    )  # fmt: skip
    tokens = {source: np.array(word_offsets(text)) for source, text in SOURCES.items()}
    sizes = {"char": len, "token": lambda text: len(text.split())}
    given = {"tokens": None if unit == "char" else tokens, "size": sizes[unit], "chunks": chunks}
    if empty:
        with pytest.raises(InputError, match="without any character or token"):
            Spans.of(items, **given)  # type: ignore[arg-type]
        return
    table = Spans.of(items, **given)  # type: ignore[arg-type]
    for name in NAMES:
        for repeated in ("once", "each"):
            options = {"repeated": repeated} if name.startswith("Span") and name != "SpanRecall" else {}
            if name.startswith("Evidence"):
                options = {"coverage": coverage}  # type: ignore[dict-item]
            spelled = f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})"
            cut = "" if k is None or name == "SpanPrecisionOmega" else f"@{k}"
            ours = parse(f"{spelled}{cut}")(table).tolist()
            assert ours == pytest.approx(
                [ByHand(item, k, unit, chunks).value(name, repeated, coverage) for item in items], abs=1e-12
            ), spelled


def test_a_part_of_evidence_that_holds_no_token() -> None:
    """A blank beside a word, both needed: the word alone counts, in chunks too."""
    both = EvidencePlaces(((Span("a", 0, 3), Span("b", 0, 1)),))
    tokens = {source: np.array(word_offsets(text)) for source, text in SOURCES.items()}
    chunks = [Span("a", 0, 8), Span("b", 0, 5)]
    table = Spans.of([TextItem("q", [], spans=[], evidence=[both])], tokens=tokens, size=len, chunks=chunks)
    # Of "one, two" one token of two is evidence; " un d" touches none.
    assert parse("SpanPrecisionOmega")(table).tolist() == [0.5]


@settings(deadline=None)
@given(some_items(), st.integers(1, 5))
def test_cut_and_condensed(items: list[TextItem], depth: int) -> None:
    """Views of the table equal the tables of what they say."""
    shorter = [
        TextItem(i.query, i.retrieved[:depth], spans=(i.spans or ())[:depth], evidence=i.evidence) for i in items
    ]
    placed = []
    for item in items:
        spans = [span for span in item.spans or () if span is not None]
        placed.append(TextItem(item.query, ["text"] * len(spans), spans=spans, evidence=item.evidence))
    table = Spans.of(items)
    for view, whole in ((table.cut(depth), Spans.of(shorter)), (table.condensed, Spans.of(placed))):
        assert view.retrieved.tolist() == whole.retrieved.tolist()
        for measure in ("SpanRecall", "SpanPrecision", "SpanIoU@2", "EvidenceRecall@1", 'SpanF(repeated="each")@3'):
            assert parse(measure)(view).tolist() == parse(measure)(whole).tolist()


@settings(deadline=None)
@given(some_items())
def test_more_texts_never_lower_recall(items: list[TextItem]) -> None:
    table = Spans.of(items)
    for name in ("SpanRecall", "EvidenceRecall", "EvidenceAll"):
        values = np.array([parse(f"{name}@{k}")(table) for k in range(1, 7)])
        assert (np.diff(values, axis=0) >= 0).all()


def test_no_items() -> None:
    table = Spans.of([])
    assert len(table) == 0
    assert parse("SpanRecall")(table).tolist() == []


def test_relevant_is_the_number_of_evidences() -> None:
    items = [
        TextItem("q1", [], evidence=[EvidencePlaces(((Span("a", 0, 1),), (Span("b", 0, 1),)))]),
        TextItem("q2", []),
    ]
    assert Spans.of(items).relevant(1).tolist() == [1, 0]


def test_omega_needs_the_corpus() -> None:
    with raises_code(MeasureError, "needs-corpus"):
        parse("SpanPrecisionOmega")(Spans.of([TextItem("q", [])]))


# Cutting texts otherwise.


def a_source(words: int) -> str:
    rng = random.Random(7)
    return "".join(
        "".join(rng.choices("abcdefghij", k=rng.randint(1, 9))) + rng.choice((" ", "  ", "\n", ". "))
        for _ in range(words)
    )


SOURCE = a_source(4096)
WORDS = word_offsets(SOURCE)
GOLD = [Span("doc", WORDS[i][0], WORDS[i + n][1]) for i, n in ((100, 40), (700, 9), (1500, 300), (3000, 80))]


def cut(size: int) -> list[Span]:
    """The source in pieces of so many words, each up to where the next begins."""
    edges = [*(WORDS[i][0] for i in range(0, len(WORDS), size)), len(SOURCE)]
    return [Span("doc", low, high) for low, high in pairwise(edges)]


def evaluated(chunks: list[Span], measure: str, unit: str) -> float:
    item = TextItem("q", [SOURCE[one.start : one.end] for one in chunks], spans=chunks)
    evidence = {"q": [{"source": "doc", "start": one.start, "end": one.end} for one in GOLD]}
    table, notes = spans_of([item], {"doc": SOURCE}, SpanRules(unit=unit), quotes=evidence)
    assert notes == ()
    return float(parse(measure)(table)[0])


@pytest.mark.parametrize("unit", ["char", "token"])
def test_the_same_region_has_the_same_value_however_it_is_cut(unit: str) -> None:
    region = [(512, 1536), (2560, 3072)]
    start = {at: WORDS[at][0] for pair in region for at in pair}
    for measure in (
        "SpanRecall",
        "SpanPrecision",
        "SpanIoU",
        "SpanF",
        "EvidenceRecall",
        "EvidenceRecall(coverage=0.1)",
    ):
        values = {
            evaluated(
                [one for one in cut(size) if any(start[low] <= one.start < start[high] for low, high in region)],
                measure,
                unit,
            )
            for size in (128, 256, 512)
        }
        assert len(values) == 1, measure
    # By words: of 41 + 10 + 301 + 81, the region has the second, 36 of the third and 72 of the last.
    whole = [one for one in cut(512) if any(start[low] <= one.start < start[high] for low, high in region)]
    assert evaluated(whole, "SpanRecall", "token") == pytest.approx((10 + 36 + 72) / (41 + 10 + 301 + 81))


@pytest.mark.parametrize("size", [128, 256, 512])
def test_a_region_that_does_not_fit_the_cut_differs_by_its_rounding(size: int) -> None:
    """All texts that touch a region hold it, and less than one text more at either end."""
    low, high = 650, 1611
    chunks = [one for one in cut(size) if one.start < WORDS[high - 1][1] and WORDS[low][0] < one.end]

    def recall(first: int, last: int) -> float:
        held = Span("doc", WORDS[first][0], WORDS[last - 1][1])
        return evaluated([held], "SpanRecall", "token")

    value = evaluated(chunks, "SpanRecall", "token")
    assert recall(low, high) <= value <= recall(low - size + 1, high + size - 1)


def test_texts_without_offsets_are_aligned() -> None:
    """Chunkers strip and join white space; the places are found again, so that the values are nearly the same."""
    chunks = cut(256)
    texts = [" ".join(SOURCE[one.start : one.end].split()) for one in chunks]
    evidence = {"q": [{"source": "doc", "start": one.start, "end": one.end} for one in GOLD]}
    for sources in (None, {"q": ["doc"] * len(texts)}):
        table, notes = spans_of(
            [TextItem("q", texts)], {"other": "x y z", "doc": SOURCE}, SpanRules(unit="token"),
            quotes=evidence, chunk_sources=sources, chunks={"doc": texts},
        )  # fmt: skip
        assert parse("SpanRecall@16")(table).tolist() == [1.0]
        assert parse("SpanRecall@5")(table)[0] == evaluated(chunks[:5], "SpanRecall", "token")
        assert notes == (Note.of("texts-near", count=16),)
        # Words 100 to 140 and 700 to 709 are in one text each, 1500 to 1800 in three, 3000 to 3080 in two: 7 of 256.
        assert parse("SpanPrecisionOmega")(table)[0] == pytest.approx((41 + 10 + 301 + 81) / (7 * 256))


# Evidence as it is written down.

TEXTS = {"doc1": "So far, it was.\nIt is so far away.", "doc2": "Nothing of the kind"}
S = Span


def evidence_of(written: Any, sources: dict[str, str] | None = None) -> EvidencePlaces | None:
    finder = Finder(sources)
    found = finder.evidence(written, "evidence")
    finder.check()
    return found


@pytest.mark.parametrize(
    ("written", "alternatives"),
    [
        ({"source": "doc1", "start": 0, "end": 6}, [[S("doc1", 0, 6)]]),
        ({"doc": "doc1", "start_index": 0, "end_index": 6}, [[S("doc1", 0, 6)]]),
        ({"source": "doc1", "start": 0, "end": 6, "quote": "so  far"}, [[S("doc1", 0, 6)]]),
        (("doc1", 0, 6), [[S("doc1", 0, 6)]]),
        (Quote("doc1", "it was"), [[S("doc1", 8, 14)]]),
        (Quote(None, "of the"), [[S("doc2", 8, 14)]]),
        ({"source": "doc1", "quote": "IT  WAS"}, [[S("doc1", 8, 14)]]),
        ({"source": "doc1", "quote": "So far"}, [[S("doc1", 0, 6)]]),
        ({"source": "doc1", "quote": "SO FAR"}, [[S("doc1", 0, 6)], [S("doc1", 22, 28)]]),
        ({"any_of": [("doc1", 0, 2), ("doc2", 0, 7)]}, [[S("doc1", 0, 2)], [S("doc2", 0, 7)]]),
        ({"all_of": [("doc1", 0, 2), ("doc2", 0, 7)]}, [[S("doc1", 0, 2), S("doc2", 0, 7)]]),
        (
            {"all_of": [{"any_of": [("doc1", 0, 2), ("doc1", 3, 6)]}, ("doc2", 0, 7)]},
            [[S("doc1", 0, 2), S("doc2", 0, 7)], [S("doc1", 3, 6), S("doc2", 0, 7)]],
        ),
        (
            {"any_of": [{"all_of": [("doc1", 0, 2), ("doc1", 3, 6)]}, ("doc2", 0, 7)]},
            [[S("doc1", 0, 2), S("doc1", 3, 6)], [S("doc2", 0, 7)]],
        ),
    ],
    ids=str,
)  # fmt: skip
def test_evidence_as_written(written: Any, alternatives: list[list[Span]]) -> None:
    assert evidence_of(written, TEXTS) == EvidencePlaces(tuple(map(tuple, alternatives)))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"source": "doc1", "start": -1, "end": 6}, "start is -1; it must be a whole number"),
        ({"source": "doc1", "start": 1.0, "end": 6}, "start is 1.0; it must be a whole number"),
        ({"source": "doc1", "start": 1, "end": "6"}, "end is '6'; it must be a whole number"),
        ({"source": "doc1", "start": True, "end": 6}, "start is True"),
        ({"source": "doc1", "start": 7, "end": 6}, "start is 7 and end is 6"),
        ({"source": "doc1", "start": 6, "end": 6}, "start is 6 and end is 6"),
        ({"source": "doc1", "start": 6, "end": 60}, "end is 60, but source 'doc1' has 34 characters"),
        ({"source": "doc3", "start": 0, "end": 6}, "source 'doc3' is not among the 2 sources\n  Did you mean doc"),
        ({"source": "doc1", "strat": 0, "end": 6}, "evidence has no start.*\n  Did you mean start"),
        ({"start": 0, "end": 6}, "evidence has no source"),
        ({}, "evidence has no source and no start and no end; it has: nothing"),
        ({"source": "doc1", "quote": "so near"}, "the quotation 'so near' is not in source 'doc1'"),
        ({"quote": "so near"}, "the quotation 'so near' is not in any source"),
        ({"source": "doc1", "quote": " "}, "nothing to look for"),
        ({"source": "doc1", "quote": 7}, "quote is 7; it must be text"),
        ({"source": "doc1", "start": 1, "end": 7, "quote": "So far"}, "not what stands at 1 to 7 of 'doc1': 'o far,'"),
        ({"any_of": []}, r"any_of is \[\]; it must be a list of places"),
        ({"any_of": [("doc1", 0, 2)], "all_of": [("doc1", 0, 2)]}, "any_of stands beside another place"),
        ({"any_of": [("doc1", 0, 2)], "start": 3}, "any_of stands beside another place"),
        ({"any_of": [("doc1", 0, 2), ("doc1", 9, 2)]}, ", any_of 2: start is 9 and end is 2"),
        ("So far", "evidence is a str, which says no place"),
        (None, "evidence is a NoneType"),
        (EvidencePlaces(()), "evidence without any span"),
        (EvidencePlaces(((),)), "evidence without any span"),
    ],
    ids=str,
)  # fmt: skip
def test_evidence_that_cannot_be(written: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"(?s)^evidence.*{message}"):
        evidence_of(written, TEXTS)


def test_a_quotation_needs_its_source() -> None:
    with raises_code(InputError, "needs-source-text"):
        evidence_of({"source": "doc1", "quote": "So far"})
    assert evidence_of(("doc1", 5, 10**9)) == EvidencePlaces(((S("doc1", 5, 10**9),),)), "the end cannot be checked"


def test_too_many_combinations() -> None:
    twice = {"any_of": [("doc1", i, i + 1) for i in range(10)]}
    with raises_code(InputError, "too-many-combinations"):
        evidence_of({"all_of": [twice] * 5}, TEXTS)


def test_quotations_that_stand_in_several_places() -> None:
    written = {"source": "doc1", "quote": "SO FAR"}
    any_of, first = Finder(TEXTS), Finder(TEXTS, several="first")
    assert len(any_of.evidence(written, "here").alternatives) == 2  # type: ignore[union-attr]
    assert first.evidence(written, "here").alternatives == ((S("doc1", 0, 6),),)  # type: ignore[union-attr]
    for finder, which in ((any_of, "any of them counts"), (first, "the first counts")):
        assert [note.code for note in finder.notes] == ["quotations-near", "quotations-several"]
        assert finder.notes[1].counts == {"count": 1}
        assert finder.notes[1].fact("which") == which
    with pytest.raises(InputError, match="'SO FAR' stands in 2 places"):
        Finder(TEXTS, several="error").evidence(written, "here")


def test_quotations_that_are_not_located() -> None:
    item = TextItem("q1", ["So far"], spans=[S("doc1", 0, 6)], where="items.jsonl:3")
    quotes = {"q1": [{"source": "doc1", "quote": "So far"}, {"source": "doc1", "quote": "so near it was"}]}
    with raises_code(InputError, "not-located", match="'so near it was' .* 'doc1'") as caught:
        spans_of([item], TEXTS, quotes=quotes)
    assert caught.value.where == "items.jsonl:3: query 'q1': evidence 2"
    table, notes = spans_of([item], TEXTS, SpanRules(unlocated="missed"), quotes=quotes)
    assert parse("SpanRecall")(table).tolist() == [6 / (6 + 14)]
    (note,) = notes
    assert note.code == "quotations-lost"
    assert note.is_warning
    assert note.samples == ("q1: so near it was",)
    assert note.fact("how") == "counted as missed"
    assert str(note).startswith("1 quotation was not located, counted as missed: 'q1: so near it was'")
    by_word, _ = spans_of([item], TEXTS, SpanRules(unlocated="missed", unit="token"), quotes=quotes)
    assert parse("SpanRecall")(by_word).tolist() == [2 / (2 + 4)]
    again = resolve(resolve([item], Finder(TEXTS, unlocated="missed"), quotes), Finder(TEXTS))
    assert parse("SpanRecall")(Spans.of(again)).tolist() == [6 / (6 + 14)], "what is resolved stays so"
    table, notes = spans_of([item], TEXTS, SpanRules(unlocated="skip"), quotes=quotes)
    assert parse("SpanRecall")(table).tolist() == [1.0]
    assert [(note.code, note.fact("how")) for note in notes] == [("quotations-lost", "left out")]


def test_approximate_places_are_noted() -> None:
    finder = Finder(TEXTS, similarity=0.85)
    found = finder.evidence({"quote": "nothing of teh kind"}, "here")
    assert found == EvidencePlaces(((S("doc2", 0, 19),),))
    # Two of 19 letters differ.
    assert finder.notes == (Note.of("quotations-approximate", count=1, least=17 / 19),)
    assert finder.place("nothing of hte kin", None) is None, "too short to be found by its parts"
    strict = Finder(TEXTS)
    assert strict.evidence({"quote": "nothing of teh kind"}, "here") is None
    with raises_code(InputError, "not-located"):
        strict.check()


def test_retrieved_texts_without_a_place() -> None:
    item = TextItem(
        "q", ["So far", "never seen in any of them", "It is"], evidence=[EvidencePlaces(((S("doc1", 0, 6),),))]
    )
    table, notes = spans_of([item], TEXTS)
    assert table.texts.placed.tolist() == [True, False, True]
    assert parse("SpanPrecision")(table).tolist() == [6 / (6 + 25 + 5)]
    assert notes == (Note.of("texts-unplaced", count=1),)
    table, _ = spans_of([item])
    assert not table.texts.placed.any(), "without sources nothing can be found"


def test_of_several_places_the_one_with_evidence() -> None:
    item = TextItem("q", ["SO FAR"], evidence=[EvidencePlaces(((S("doc1", 20, 30),),))])
    resolved = resolve([item], Finder(TEXTS))
    assert resolved[0].spans == [S("doc1", 22, 28)]


def test_a_text_that_is_not_what_stands_there_is_noted() -> None:
    item = TextItem("q", ["So far"], spans=[S("doc1", 1, 7)])
    assert spans_of([item], TEXTS)[1] == (Note.of("texts-differ", count=1),)
    assert spans_of([TextItem("q", ["SO FAR "], spans=[S("doc1", 0, 6)])], TEXTS)[1] == ()


def test_overlapping_gold_counts_once() -> None:
    item = TextItem("q", ["t"], spans=[S("d", 0, 10)], evidence=[EvidencePlaces(((S("d", 5, 15), S("d", 10, 20)),))])
    assert parse("SpanRecall")(spans_of([item])[0]).tolist() == [5 / 15]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (TextItem("q", ["a"], spans=[]), "query 'q': 1 retrieved texts but 0 spans"),
        (TextItem("q", ["a"], spans=[S("doc1", 3, 2)]), "query 'q': retrieved text 1: start is 3"),
        (TextItem("q", ["a"], spans=[S("doc9", 0, 2)]), "query 'q': retrieved text 1: source 'doc9' is not among"),
        (TextItem("q", ["a"], spans=[S("doc1", 0, 99)]), "query 'q': retrieved text 1: end is 99"),
        (
            TextItem("q", ["a"], spans=[("doc1", 0)]),
            "query 'q': retrieved text 1: .* is not a source, a start and an end",
        ),
        (TextItem("q", ["a"], spans=[S("", 0, 1)]), "query 'q': retrieved text 1: the source has no name"),
        (TextItem("q", ["a"], spans=[S("doc1", 0, 2**70)]), "query 'q': retrieved text 1: end is"),
        (TextItem("q", [7]), "query 'q': retrieved text 1: it is of type int, not text"),
        (TextItem("q", [], evidence=[EvidencePlaces(((S("doc1", 0, 99),),))]), "query 'q': evidence 1: end is 99"),
    ],
)
def test_items_that_cannot_be(item: TextItem, message: str) -> None:
    with pytest.raises(InputError, match=message):
        spans_of([item], TEXTS)


def test_what_else_cannot_be() -> None:
    item = TextItem("q", [""])
    with pytest.raises(InputError, match="occur more than once: 'q'"):
        spans_of([item, item])
    with pytest.raises(InputError, match="quotes has queries that no item has: 'p'"):
        spans_of([item], quotes={"p": []})
    with pytest.raises(InputError, match="1 retrieved texts but 2 sources"):
        spans_of([item], TEXTS, chunk_sources={"q": ["doc1", "doc2"]})
    with pytest.raises(OptionError, match="unit is 'word'"):
        spans_of([item], rules=SpanRules(unit="word"))
    with pytest.raises(OptionError, match="similarity is 2"):
        spans_of([item], rules=SpanRules(similarity=2))
    with raises_code(InputError, "wrong-type"):
        spans_of([item], ["text"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="source 'a' is NoneType"):
        spans_of([item], {"a": None})  # type: ignore[dict-item]
    placed = TextItem("q", [""], spans=[S("doc1", 0, 4)])
    with pytest.raises(InputError, match="tokens of source 'doc1' cannot be counted"):
        spans_of([placed], rules=SpanRules(unit="token"))
    with pytest.raises(InputError, match="overlap, are not in order"):
        spans_of([placed], TEXTS, SpanRules(unit="token", tokens=lambda text: [(0, 5), (3, 6)]))
    with pytest.raises(InputError, match="chunk 1: 'text' is not a source, a start and an end"):
        spans_of([placed], TEXTS, chunks=["text"])
    with pytest.raises(InputError, match="chunks are a int"):
        spans_of([placed], TEXTS, chunks=5)
    with pytest.raises(InputError, match="query 'q': its evidence is a dict, not a list"):
        spans_of([item], TEXTS, quotes={"q": {"source": "doc1", "quote": "So far"}})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="source 'doc1', chunk 1: a chunk is"):
        spans_of([placed], TEXTS, chunks={"doc1": [3]})


def test_no_source_in_common() -> None:
    item = TextItem("q", [""], spans=[S("doc1.pdf", 0, 4)], evidence=[EvidencePlaces(((S("doc1", 0, 4),),))])
    with pytest.raises(MismatchError, match=r"no source in common: retrieved 'doc1.pdf', evidence 'doc1'"):
        spans_of([item])
    assert parse("SpanRecall")(spans_of([item], rules=SpanRules(overlap="allow"))[0]).tolist() == [0.0]


def test_corpus_in_every_form() -> None:
    item = TextItem("q", [], evidence=[EvidencePlaces(((S("doc1", 22, 28),),))])
    forms = [
        [S("doc1", 0, 16), S("doc1", 16, 34)],
        [{"source": "doc1", "start": 0, "end": 16}, ("doc1", 16, 34)],
        {"doc1": [(0, 16), (16, 34)]},
        {"doc1": ["So far, it was.", "It is so far away."]},
        {"doc1": ["SO FAR", ", it was.\nIt is ", "SO FAR", "lost"], "doc2": []},
    ]
    values = [parse("SpanPrecisionOmega")(spans_of([item], TEXTS, chunks=form)[0])[0] for form in forms]
    # The second text has 18 characters, 6 of them evidence; the last form has these alone, at their second place.
    assert values == [6 / 18] * 4 + [6 / 6]
    assert spans_of([item], TEXTS, chunks=forms[-1])[1] == (Note.of("chunks-lost", count=1),)
