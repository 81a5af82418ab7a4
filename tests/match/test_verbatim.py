"""A sentence that stands word for word in a text is covered, by every lexical matcher, in every language."""

from __future__ import annotations

import importlib.util
import random
import sys
import unicodedata
from collections.abc import Callable

import numpy as np
import places
import pytest
from falsified_sentences import FURTHER, KNOWN
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrank.match import matcher
from goldrank.match.guards import GUARDS
from goldrank.match.matcher import NAMES, Matcher
from goldrank.match.units import sentences

FILE = places.ROOT / "benchmarks" / "paragraphs.py"
specification = importlib.util.spec_from_file_location("goldrank_benchmarks_paragraphs", FILE)
assert specification
assert specification.loader
paragraphs = importlib.util.module_from_spec(specification)
sys.modules[specification.name] = paragraphs
specification.loader.exec_module(paragraphs)

WHOLE_TEXTS = ("exact", "contained", "either", "remem", "precision", "-f", "-f1", "iou", "ratio", "levenshtein")
"""Endings of names of matchers by which a short sentence is not like a long text, or like all that is short."""
OF_PARTS = [name for name in NAMES if not any(name.removesuffix("-normalised").endswith(end) for end in WHOLE_TEXTS)]


def all_pairs(language: str) -> list[tuple[str, str]]:
    """Chunks, each of all sentences of a language in another order, with every sentence that stands in them."""
    rng = random.Random(language)
    cut = [sentence for paragraph in paragraphs.PARAGRAPHS[language] for sentence in sentences(paragraph)]
    blank = "" if language in ("Chinese", "Japanese") else " "
    chunk = blank.join(rng.sample(cut, len(cut)))
    return [(chunk, sentence) for sentence in cut]


def refused(rule: Matcher, given_pairs: list[tuple[str, str]]) -> list[str]:
    """The references whose texts reach the threshold, and are refused all the same."""
    texts, references = map(list, zip(*given_pairs, strict=True))
    at = np.arange(len(given_pairs))
    passing = rule.enough(rule.degrees(texts, references, at, at))
    kept = rule.guarded(passing, texts, references, at, at)
    return [references[i] for i in np.flatnonzero(passing & ~kept).tolist()]


@pytest.mark.parametrize("language", paragraphs.PARAGRAPHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_guard_refuses_what_stands_there(name: str, language: str) -> None:
    rule = matcher(name)
    if rule.threshold is not None:
        rule = matcher(f"{name}:0.01")
    given_pairs = all_pairs(language)
    if rule.parts_of_reference:
        given_pairs = [(sentence, chunk) for chunk, sentence in given_pairs]
    assert refused(rule, given_pairs) == []
    assert refused(rule.with_guards(GUARDS), given_pairs) == []


@pytest.mark.parametrize("language", paragraphs.PARAGRAPHS)
@pytest.mark.parametrize("name", OF_PARTS)
def test_what_stands_there_is_covered_at_every_threshold(name: str, language: str) -> None:
    given_pairs = all_pairs(language)
    texts, references = map(list, zip(*given_pairs, strict=True))
    at = np.arange(len(given_pairs))
    packages = name in ("rouge-score", "rouge")  # their words are others: rouge-score sees a to z and digits alone
    for threshold in (0.1, 0.5, 0.7, 1.0):
        rule = matcher(name)
        if rule.threshold is not None:
            rule = matcher(f"{name}:{threshold}")
        missed = [references[i] for i in np.flatnonzero(~rule.decide(texts, references, at, at)).tolist()]
        assert missed == [] or packages


def test_matchers_of_parts_are_among_those_that_are_tested() -> None:
    assert {"contains", "contains-words", "rouge-l", "token-recall", "shingles", "token-set"} <= set(OF_PARTS)


def test_a_number_elsewhere_in_the_window_is_no_reason_to_refuse() -> None:
    text, reference = "Each of 4 workers needs 1 GB of RAM, so in total 4 GB of RAM.", "in total 4 GB of RAM"
    for name in OF_PARTS:
        one = np.array([0])
        assert matcher(name).decide([text], [reference], one, one).tolist() == [True], name


MARKED = (
    "The limit is -5 °C [3].",
    "See [the guide](https://example.org/v3.10/no-cache) for **two** more *examples* of `max_size`.",
    "Version 3.10 [1][2] isn’t 3.1.",
    "| tea | 4 | 1.000,50 € |",
    "1. Turn it off.",
    "2. Don't turn it on before 5 p.m.",
    "## 3.2 No limits",
    "Es gilt nicht: 1.234,5 kg ≠ 1,234.5 kg.",
    "Nein, nicht vor dem 3. Mai 2024.",
    "Call `json.dumps(value, sort_keys=True)`, not `json.dump`.",
    "It costs $5–$10 per month (not per year).",
    "第3章 使用しないでください。",
    "價格：NT$1,200（不含稅）。",
    "الطول ٣٥ كيلومترا لا غير.",
    "Up to 10² times, never 102 times.",
    "1½ cups of co-\noperation aren't 2 cups.",
    "CO₂ is not CO.",
)
SENTENCES = (
    *MARKED,
    *(sentence for texts in paragraphs.PARAGRAPHS.values() for text in texts for sentence in sentences(text)),
    *(sentence for _, true, false in (*KNOWN, *FURTHER) for sentence in (true, false)),
)
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "plain quotes": lambda text: text.replace("’", "'").replace("“", '"').replace("”", '"'),
    "fixed blanks": lambda text: text.replace(" ", "\u00a0"),
    "soft hyphens": lambda text: text.replace("e", "e\u00ad"),
    "two blanks": lambda text: text.replace(" ", "  "),
    "wrapped lines": lambda text: text.replace(" a", " \na").replace(" d", "\n  d"),
}


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(SENTENCES),
    st.lists(st.sampled_from(SENTENCES), max_size=3),
    st.lists(st.sampled_from(SENTENCES), max_size=3),
    st.sampled_from(("\n", "\n\n", "\n- ", "\n> ", "\n1. ")),
    st.sampled_from(tuple(WRITTEN)),
    st.sampled_from((0.05, 0.5, 0.7, 1.0)),
)
def test_any_sentence_among_any_others(
    sentence: str, before: list[str], after: list[str], separator: str, way: str, threshold: float
) -> None:
    """Whatever stands around it, and however blanks, accents and quotation marks are written."""
    text = WRITTEN[way](separator.join((*before, sentence, *after)))
    one = np.array([0])
    for name in OF_PARTS:
        if name in ("contains", "rouge", "rouge-score"):
            continue  # these compare texts as they are, or by words of their own
        rule = matcher(name)
        if rule.threshold is not None:
            rule = matcher(f"{name}:{threshold}")
        assert rule.decide([text], [sentence], one, one).tolist() == [True], name


def test_a_number_that_goes_on_is_another_number() -> None:
    """What is cut out of a longer number, or is denied right before, is not a sentence that stands there."""
    one = np.array([0])
    for text, reference in (("It is 1,500 m long.", "500 m long."), ("No refunds are given.", "refunds are given.")):
        assert matcher("rouge-l").decide([text], [reference], one, one).tolist() == [False]
