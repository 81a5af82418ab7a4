"""The verdict that the overview opens with: lead, reasons and caveats are fields, no sentence is taken apart."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from goldrank import Note, Pair, compare
from goldrank.explorer import overview_page

QRELS = {f"q{i}": {"good": 1, "bad": 0} for i in range(12)}
BEST = {query: ["good", "bad"] for query in QRELS}


def pair_of(second: dict[str, list[str]]) -> Pair:
    return compare(QRELS, {"a": BEST, "b": second}, "RR").pair


def shown(pair: Pair) -> dict[str, object]:
    return overview_page.verdict(SimpleNamespace(), SimpleNamespace(b="b"), pair, True)  # type: ignore[arg-type]


def test_a_verdict_is_made_of_fields() -> None:
    """A caveat that repeats the words of the verdict takes nothing from them."""
    caveat = Note.of("repeated-documents", count=2, about="b is worse than a")
    pair = replace(pair_of({query: ["bad", "good"] for query in QRELS}), caveats=(caveat,))
    words = shown(pair)
    assert str(words["lead"]).startswith("b is worse than a: \u22120.5000 RR")
    assert words["lead"] == pair.sentence.replace("-", "\u2212")
    assert words["caveats"] == [(caveat.is_warning, caveat.sentence)]
    assert words["style"] == "worse"


def test_what_is_not_clear_says_what_would_change_it() -> None:
    second = {**BEST, "q1": ["bad", "good"]}
    pair = pair_of(second)
    assert pair.reasons
    assert shown(pair)["rest"] == " ".join(pair.reasons).replace(" -", " \u2212")


def test_the_same_needs_no_reasons() -> None:
    words = shown(pair_of(BEST))
    assert (words["rest"], words["style"]) == ("", "")
