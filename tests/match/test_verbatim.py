"""A sentence that stands word for word in a text is covered, by every lexical matcher, in every language."""

from __future__ import annotations

import importlib.util
import random
import sys

import numpy as np
import places
import pytest

from goldrank.match import matcher
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


def pairs(language: str) -> list[tuple[str, str]]:
    """Chunks, each of all sentences of a language in another order, with every sentence that stands in them."""
    rng = random.Random(language)
    cut = [sentence for paragraph in paragraphs.PARAGRAPHS[language] for sentence in sentences(paragraph)]
    blank = "" if language in ("Chinese", "Japanese") else " "
    chunk = blank.join(rng.sample(cut, len(cut)))
    return [(chunk, sentence) for sentence in cut]


def refused(rule: Matcher, given: list[tuple[str, str]]) -> list[str]:
    """The references whose texts reach the threshold, and are refused all the same."""
    texts, references = map(list, zip(*given, strict=True))
    at = np.arange(len(given))
    passing = rule.enough(rule.degrees(texts, references, at, at))
    kept = rule.guarded(passing, texts, references, at, at)
    return [references[i] for i in np.flatnonzero(passing & ~kept).tolist()]


@pytest.mark.parametrize("language", paragraphs.PARAGRAPHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_guard_refuses_what_stands_there(name: str, language: str) -> None:
    rule = matcher(name)
    if rule.threshold is not None:
        rule = matcher(f"{name}:0.01")
    given = pairs(language)
    if rule.parts_of_reference:
        given = [(sentence, chunk) for chunk, sentence in given]
    assert refused(rule, given) == []
    assert refused(rule.with_guards(("numbers", "units", "negations", "identifiers", "names")), given) == []


@pytest.mark.parametrize("language", paragraphs.PARAGRAPHS)
@pytest.mark.parametrize("name", OF_PARTS)
def test_what_stands_there_is_covered_at_every_threshold(name: str, language: str) -> None:
    given = pairs(language)
    texts, references = map(list, zip(*given, strict=True))
    at = np.arange(len(given))
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
