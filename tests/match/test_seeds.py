"""Retrieved texts that are not in a source as they are: headers, changed letters, gaps; and what is an error."""

from __future__ import annotations

import random
from typing import Any

import pytest
from lanes import few
from rag_cases import cases
from raising import raises_code

from goldrank import Evidence, evaluate_texts
from goldrank.base.errors import InputError
from goldrank.data.spans import parts_of
from goldrank.data.text_item import Located, Span
from goldrank.match.evidence import Finder

LOCATE = cases("locate")


@pytest.mark.parametrize("case", LOCATE, ids=[case["id"] for case in LOCATE])
def test_reference_places(case: dict[str, Any]) -> None:
    found = parts_of(Finder({"doc": case["inputs"]["source"]}).place(case["inputs"]["text"], None))
    assert [[span.start, span.end] for span in found] == case["expected"]["spans"]


def made_up_sources(rng: random.Random, number: int, words: int) -> dict[str, str]:
    vocabulary = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(3_000)]
    return {
        f"d{i}": ". ".join(" ".join(rng.choices(vocabulary, k=9)) for _ in range(words // 9)) for i in range(number)
    }


def changed(rng: random.Random, text: str, how: str) -> str:
    if how == "header":
        return f"Manual > Part {rng.randint(1, 9)} > Use\n\n{text}"
    if how == "context":
        return " ".join(rng.choices(["this", "chunk", "speaks", "of", "things"], k=80)) + "\n" + text
    if how == "forms":
        return text.upper().replace(".", " **.**").replace(" ", "\n", 3)
    if how == "letters":
        return "".join(rng.choice("xyz") if c.isalpha() and rng.random() < 0.02 else c for c in text)
    return text


@pytest.mark.parametrize("how", ["header", "context", "forms", "letters"])
@pytest.mark.parametrize("size", few([300, 800, 2_000], 1))
def test_changed_texts_are_found(how: str, size: int) -> None:
    rng = random.Random(f"{how}{size}")
    sources = made_up_sources(rng, 5, 3_000)
    finder = Finder(sources)
    right = 0
    for _ in range(40):
        name = rng.choice(list(sources))
        start = rng.randrange(len(sources[name]) - size)
        found = parts_of(finder.place(changed(rng, sources[name][start : start + size], how), None))
        common = sum(
            max(min(span.end, start + size) - max(span.start, start), 0) for span in found if span.source == name
        )
        union = size + sum(span.end - span.start for span in found) - common
        right += common / union >= 0.8
    assert right >= (36 if how == "letters" and size == 300 else 38)


def test_texts_of_other_documents_are_not_found() -> None:
    rng = random.Random(9)
    finder = Finder(made_up_sources(rng, 3, 3_000))
    others = made_up_sources(random.Random(10), 1, 3_000)["d0"]
    assert sum(finder.place(others[i : i + 800], None) is not None for i in range(0, 12_000, 300)) == 0


def test_what_stands_nowhere_is_length_without_evidence() -> None:
    rng = random.Random(2)
    source = made_up_sources(rng, 1, 600)["d0"]
    body, header = source[500:900].strip(), "Guide to things: chapter 7"
    start = source.index(body)
    placed = Finder({"doc": source}).place(f"{header}\n{body}", "doc")
    assert placed == Located((Span("doc", start, start + len(body)),), header)
    evidence = [{"source": "doc", "start": start, "end": start + 100}]
    items = [{"id": "q", "retrieved": [{"text": f"{header}\n{body}", "source": "doc"}], "evidence": evidence}]
    scores = evaluate_texts(
        items, ["SpanRecall", "SpanPrecision", 'SpanPrecision(repeated="each")'], evidence={"doc": source}
    )
    share = 100 / (len(body) + len(header))
    assert list(scores.mean.values()) == pytest.approx([1.0, share, share])
    assert "texts-in-part" in [note.code for note in scores.notes]


def test_parts_in_two_places() -> None:
    source = made_up_sources(random.Random(3), 1, 900)["d0"]
    first, second = source[100:400].strip(), source[2_000:2_300].strip()
    found = parts_of(Finder({"doc": source}).place(f"{first} {second}", None))
    assert [(span.start, span.end) for span in found] == [
        (source.index(part), source.index(part) + len(part.rstrip())) for part in (first, second)
    ]


def test_next_to_nothing_located_is_an_error() -> None:
    sources = made_up_sources(random.Random(4), 1, 900)
    other = made_up_sources(random.Random(5), 1, 900)["d0"]
    gold = [{"source": "d0", "start": 0, "end": 50}]
    items = [{"id": f"q{i}", "retrieved": [other[i * 300 : i * 300 + 250]], "evidence": gold} for i in range(6)]
    with pytest.raises(InputError, match="0 of 6"):
        evaluate_texts(items, "SpanRecall", evidence=sources)
    with pytest.raises(InputError, match="0 of 6"):
        evaluate_texts(items, "SpanRecall")
    some = [*items, {"id": "r", "retrieved": [sources["d0"][:200]], "evidence": gold}]
    assert "texts-unplaced" in [note.code for note in evaluate_texts(some, "SpanRecall", evidence=sources).notes]


def test_headings_before_a_text_do_not_hide_its_place() -> None:
    rng = random.Random(6)
    sources = made_up_sources(rng, 10, 20_000)
    finder = Finder(sources)
    texts = []
    for _ in range(300):
        name = rng.choice(list(sources))
        start = rng.randrange(len(sources[name]) - 800)
        texts.append(f"Manual > Part\n\n{sources[name][start : start + 800]}")
    assert all(finder.place(text, None) is not None for text in texts)


# Quotations.

SOURCE = (
    "The tower was built in 1889 by the firm of Gustave Eiffel for the world's fair. It is about 330 metres tall and "
    "was, for forty-one years, the tallest structure in the world. It is painted every seven years."
)


def recall(quote: str, **how: Any) -> float:
    items = [{"id": "q", "retrieved": [{"text": SOURCE, "source": "s"}], "evidence": [{"source": "s", "quote": quote}]}]
    return evaluate_texts(items, "SpanRecall", evidence=Evidence({"s": SOURCE}, **how))["SpanRecall"]


@pytest.mark.parametrize(
    "quote",
    ["The tower was built in 1889 ... for the world's fair.", "The tower was built […] the tallest structure in the",
     "built in 1889 [...] painted every seven years", "by the firm of Gus-\ntave Eiffel", "for forty‐one years"],
)  # fmt: skip
def test_ellipses_and_hyphens_of_quotations(quote: str) -> None:
    assert recall(quote) == 1.0


def test_parts_of_a_quotation_are_needed_together() -> None:
    text = SOURCE[:80]
    items = [{"id": "q", "retrieved": [{"text": text, "source": "s"}],
              "evidence": [{"source": "s", "quote": "The tower was built ... painted every seven years"}]}]  # fmt: skip
    found = evaluate_texts(items, ["EvidenceRecall", "SpanRecall"], evidence={"s": SOURCE})
    assert found["EvidenceRecall"] == 0.0
    assert 0 < found["SpanRecall"] < 1


def test_misquoted_evidence_is_told_of_and_can_be_allowed() -> None:
    wrong = "The bridge was closed for thirty days after a storm"
    with pytest.raises(InputError) as error:
        recall(wrong)
    told = str(error.value)
    assert "nearest is" in told
    assert "similarity 0." in told
    assert "unlocated" in told
    assert recall(wrong, unlocated="missed") == 0.0
    with raises_code(InputError, "not-located"):
        recall(wrong, unlocated="skip")
    assert recall("The tower was build in 1898 by the frim of Gustav Eifel", similarity=0.7) == 1.0
    items = [{"id": f"q{i}", "retrieved": [{"text": SOURCE, "source": "s"}],
              "evidence": [{"source": "s", "quote": f"{wrong} number {i}"}]} for i in range(7)]  # fmt: skip
    with pytest.raises(InputError, match=r"7 quotations.*and 2 more"):
        evaluate_texts(items, "SpanRecall", evidence={"s": SOURCE})


def test_several_places() -> None:
    twice = f"{SOURCE} {SOURCE}"
    items = [{"id": "q", "retrieved": [{"text": SOURCE, "source": "s", "start": len(SOURCE) + 1, "end": len(twice)}],
              "evidence": [{"source": "s", "quote": "painted every seven years"}]}]  # fmt: skip
    sources = {"s": twice}
    assert evaluate_texts(items, "EvidenceAll", evidence=sources)["EvidenceAll"] == 1.0
    assert evaluate_texts(items, "EvidenceAll", evidence=Evidence(sources, several="first"))["EvidenceAll"] == 0.0
    with pytest.raises(InputError, match="2 places"):
        evaluate_texts(items, "EvidenceAll", evidence=Evidence(sources, several="error"))


def test_leaving_out_all_evidence_is_said() -> None:
    item = {"id": "q", "retrieved": ["some text"], "evidence": [{"source": "s", "quote": "Nobody said this here"}]}
    with raises_code(InputError, "not-located"):
        evaluate_texts(
            [item], "SpanRecall", evidence=Evidence({"s": "Something else stands in this one."}, unlocated="skip")
        )
