"""All matchers: against the packages they follow, against definitions, and on texts that nobody expects."""

from __future__ import annotations

import functools
import json
import random
import re
import string
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import places
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanes import many
from raising import raises_code
from rapidfuzz import fuzz
from rouge import Rouge as RougePackage
from rouge_score.rouge_scorer import RougeScorer

from goldrank import evaluate_texts
from goldrank.base.errors import InputError, OptionError
from goldrank.match import common_tokens, exact, rouge
from goldrank.match.contain import Contains, Either, is_part
from goldrank.match.exact import Exact, ExactNormalised, normalise
from goldrank.match.matcher import _MODULES, Matcher, matcher
from goldrank.match.token_overlap import RougeL, Shingles
from goldrank.match.tokens import words

NAMES = sorted(_MODULES)
BY_WORDS = [name for name in NAMES if name.startswith(("rouge-", "token-", "shingles", "contains-words"))]
SYMMETRIC = ["exact", "exact-normalised", "either", "rouge-l-f", "rouge-score-f", "token-iou", "token-f1", "ratio"]

PIECES = [
    *("the", "the", "the", "a", "cat", "dog", "sat", "mat", "on", "under", "Paris", "London", "don't", "U.S.", "3.5"),
    *("1990", "x_y", "A4", "café", "CAFÉ", "e\u0301te\u0301", "naïve", "Straße", "ΟΔΟΣ", "Москва", "дом"),
    *("東京", "タワー", "は", "高い", "北京", "한국어는", "좋다", "हिन्दी", "भाषा", "مرحبا", "ภาษาไทย"),
    *("-", "--", "...", "!", "?", "👍", "\ud800"),
]
JOINTS = [" ", " ", " ", "  ", "\n", ". ", ".", ", ", "。", ""]


def text(rng: random.Random, longest: int = 30) -> str:
    """A text of any scripts, with repeated words and odd punctuation, that is not white space alone."""
    few = rng.sample(PIECES, rng.randint(1, 12))
    made = "".join(rng.choice(few) + rng.choice(JOINTS) for _ in range(rng.randint(1, longest)))
    return made if made.strip() else "x"


def some_pairs(seed: int, count: int, longest: int = 30) -> list[tuple[str, str]]:
    """Half of them have a stretch in common."""
    rng = random.Random(seed)
    pairs = []
    for i in range(count):
        ours, theirs = text(rng, longest), text(rng, longest)
        pairs.append((f"{ours} {theirs[rng.randint(0, 5) :]}" if i % 2 else ours, theirs))
    return pairs


WHOLE = {"rouge-l": {"window": None}, "token-recall": {"window": None}}
"""Options for the definitions that were published, of whole texts."""


def whole(name: str) -> Matcher:
    return type(matcher(name))(**WHOLE.get(name, {}))  # type: ignore[arg-type]


def degrees_of(found: Matcher, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    at = np.arange(len(pairs))
    return found.degrees([ours for ours, _ in pairs], [theirs for _, theirs in pairs], at, at)


def decided(found: Matcher, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    at = np.arange(len(pairs))
    return found.decide([ours for ours, _ in pairs], [theirs for _, theirs in pairs], at, at)


# Against the packages.


@functools.cache
def rouge_scores() -> tuple[list[tuple[str, str]], np.ndarray]:
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    pairs = [tuple(side.replace("\ud800", "") or "x" for side in pair) for pair in some_pairs(11, 2_000)]
    scores = [scorer.score(theirs, ours)["rougeL"] for ours, theirs in pairs]
    return pairs, np.array([(s.recall, s.precision, s.fmeasure) for s in scores])  # type: ignore[return-value]


@pytest.mark.parametrize(("name", "column"), [("rouge-score", 0), ("rouge-score-precision", 1), ("rouge-score-f", 2)])
def test_rouge_score_is_the_package_to_the_last_bit(name: str, column: int) -> None:
    pairs, expected = rouge_scores()
    assert np.count_nonzero(expected[:, column]) > 1_000
    assert degrees_of(matcher(name), pairs).tolist() == expected[:, column].tolist()


@pytest.mark.slow
def test_rouge_is_the_package_to_the_last_bit() -> None:
    package = RougePackage(metrics=["rouge-l"])
    pairs = [pair for pair in some_pairs(12, 2_000) if all(side.strip(".") for side in pair)]
    expected = [package.get_scores(ours, theirs)[0]["rouge-l"]["r"] for ours, theirs in pairs]
    assert len(pairs) > 1_900
    assert degrees_of(matcher("rouge"), pairs).tolist() == expected
    for spelled in ("rouge:0.5", "rouge>0.5", "rouge:0.7", "rouge:1"):
        found = matcher(spelled)
        assert decided(found, pairs).tolist() == found.enough(np.array(expected)).tolist()


def test_rouge_by_parts_is_rouge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long sentences keep only some rows, and make masks when they are needed."""
    pairs = [(ours.replace(".", ""), theirs.replace(".", "")) for ours, theirs in some_pairs(13, 300)]
    pairs = [pair for pair in pairs if all(side.strip() for side in pair)]
    expected = degrees_of(matcher("rouge"), pairs)
    monkeypatch.setattr(rouge, "STORED_ROWS", 3)
    assert degrees_of(matcher("rouge"), pairs).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "function", "fold"),
    [
        ("ratio", fuzz.ratio, normalise),
        ("partial-ratio", fuzz.partial_ratio, normalise),
        ("token-set", fuzz.token_set_ratio, lambda given: " ".join(words(given))),
    ],
)
def test_fuzzy_degrees_are_those_of_rapidfuzz(name, function, fold) -> None:
    pairs = [pair for pair in some_pairs(14, many(300)) if words(pair[0]) and words(pair[1])]
    expected = [function(fold(ours), fold(theirs)) / 100 for ours, theirs in pairs]
    assert degrees_of(matcher(name), pairs).tolist() == pytest.approx(expected)


# Against definitions.


def subsequence(a: Sequence[object], b: Sequence[object]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = row[:]
        for j, y in enumerate(b):
            row[j + 1] = before[j] + 1 if x == y else max(before[j + 1], row[j])
    return row[-1]


def squad(given: str) -> list[str]:
    """The steps of SQuAD's script, written again character by character."""
    bare = "".join(c for c in given.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def by_definition(name: str, ours: str, theirs: str) -> float:
    a, b = words(ours), words(theirs)
    if name == "token-f1":
        a, b = squad(ours), squad(theirs)
        if not a and not b:
            return 1.0
    elif not b:
        return float(normalise(theirs) in normalise(ours)) if normalise(theirs) else 0
    if not a or not b:
        return 0
    both = subsequence(a, b) if name.startswith("rouge-l") else (Counter(a) & Counter(b)).total()
    if name == "shingles":
        n = min(3, len(b))
        runs_a, runs_b = ({tuple(x[i : i + n]) for i in range(len(x) - n + 1)} for x in (a, b))
        return len(runs_a & runs_b) / len(runs_b)
    return {
        "rouge-l": both / len(b),
        "rouge-l-precision": both / len(a),
        "rouge-l-f": 2 * both / (len(a) + len(b)),
        "token-recall": both / len(b),
        "token-iou": both / (len(a) + len(b) - both),
        "token-f1": 2 * both / (len(a) + len(b)),
    }[name]


COUNTED = ["rouge-l", "rouge-l-precision", "rouge-l-f", "token-recall", "token-iou", "token-f1", "shingles"]


@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_the_definition(name: str) -> None:
    pairs = some_pairs(15, many(600))
    assert degrees_of(whole(name), pairs).tolist() == [by_definition(name, *pair) for pair in pairs]


@functools.cache
def defined(name: str) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Pairs of texts and their degrees by definition, which are slow to come by."""
    pairs = some_pairs(16, 150)
    return pairs, np.array([by_definition(name, *pair) for pair in pairs])


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize(
    "limits",
    [{"CODES": 3}, {"EXPENSIVE": 5}, {"BLOCK_CHARACTERS": 100}, {"GROUP_PAIRS": 2}, {"THREADS_FROM": 1}, {"SHOWN": 0}],
    ids=lambda limits: next(iter(limits)),
)
def test_no_limit_changes_a_count(name: str, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, expected = defined(name)
    for limit, value in limits.items():
        monkeypatch.setattr(common_tokens, limit, value)
    assert degrees_of(whole(name), pairs).tolist() == expected.tolist()
    for threshold in (0.5, 0.7):
        found = type(matcher(name))(threshold, guards=(), **WHOLE.get(name, {}))
        assert decided(found, pairs).tolist() == found.enough(expected).tolist()
    for ours, theirs in pairs[:20]:
        matcher(name).marks(ours, theirs)


def test_texts_in_many_pairs_are_counted_in_each() -> None:
    rng = random.Random(17)
    ours, theirs = [text(rng) for _ in range(20)], [text(rng) for _ in range(15)]
    left, right = np.array([rng.randrange(20) for _ in range(200)]), np.array([rng.randrange(15) for _ in range(200)])
    for name in COUNTED:
        expected = [by_definition(name, ours[i], theirs[j]) for i, j in zip(left, right, strict=True)]
        assert whole(name).degrees(ours, theirs, left, right).tolist() == expected


def test_hand_made_values() -> None:
    """Reference: the cat sat on the mat (6 words); retrieved: on the mat sat a cat (6)."""
    pair = [("On the mat sat a cat.", "The cat sat on the mat.")]
    assert degrees_of(matcher("rouge-l"), pair) == [3 / 6]  # on the mat
    assert degrees_of(matcher("token-recall"), pair) == [5 / 6]  # all but the second "the"
    assert degrees_of(matcher("token-iou"), pair) == [5 / 7]  # 6 + 6 - 5 = 7 words in either
    assert degrees_of(matcher("token-f1"), pair) == [1]  # as SQuAD's script: without the and a, all words are there
    assert degrees_of(matcher("token-f1"), [("the red cat", "a red dog!")]) == [2 * 1 / 4]
    assert degrees_of(matcher("shingles"), pair) == [1 / 4]  # on the mat, of four runs
    assert degrees_of(Shingles(n=2), pair) == [2 / 5]  # on the, the mat; of five
    assert degrees_of(matcher("shingles"), [("x a b y", "a b")]) == [1]  # two words are one run
    assert degrees_of(matcher("rouge-l"), [("東京は雨", "東京は晴")]) == [3 / 4]
    assert degrees_of(matcher("rouge-score"), [("Été", "Eté")]) == [0]  # t, and et


# Decisions.


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_decisions_are_enough_of_degrees(name: str) -> None:
    """At every third degree that occurs, and at the next numbers on both sides of it."""
    pairs = some_pairs(18, 20, 10)
    found = matcher(name)
    degrees = degrees_of(found, pairs)
    assert ((degrees >= 0) & (degrees <= 1)).all()
    if found.threshold is None:
        assert decided(found, pairs).tolist() == found.enough(degrees).tolist()
        return
    some = np.unique(degrees)[::3]
    near = {value for degree in some for value in (degree, np.nextafter(degree, 0), np.nextafter(degree, 1))}
    for threshold in (0.0, 0.7, 1.0, *sorted(near)):
        for inclusive in (True, False):
            strict = type(found)(float(threshold), inclusive=inclusive)
            enough = strict.enough(degrees)
            at = np.arange(len(pairs))
            texts = [ours for ours, _ in pairs], [theirs for _, theirs in pairs]
            assert decided(strict, pairs).tolist() == strict.guarded(enough, *texts, at, at).tolist(), threshold


PLAIN = st.lists(st.sampled_from("abcde"), min_size=1, max_size=12).map(" ".join)


@pytest.mark.parametrize("name", [name for name in NAMES if matcher(name).threshold is not None])
@settings(max_examples=many(30), deadline=None)
@given(
    pairs=st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=5), numerator=st.integers(0, 12), sign=st.booleans()
)
def test_decisions_at_fractions(name: str, pairs: list[tuple[str, str]], numerator: int, sign: bool) -> None:
    for denominator in (numerator, 7, 10, 12):
        threshold = min(1.0, numerator / denominator) if denominator else 0.0
        found = type(matcher(name))(threshold, inclusive=sign)
        degrees = degrees_of(found, pairs)
        expected = (degrees > 0) & (degrees >= threshold if sign else degrees > threshold)
        assert decided(found, pairs).tolist() == expected.tolist()


# What holds for all.


@pytest.mark.parametrize("name", NAMES)
def test_a_text_matches_itself_and_is_marked(name: str) -> None:
    pairs = [(side, side) for pair in some_pairs(19, many(60, 12)) for side in pair if len(words(side)) > 1]
    if name.startswith("rouge-score"):
        pairs = [pair for pair in pairs if set(pair[0]) & set("abcdefghijklmnopqrstuvwxyz0123456789")]
    found = matcher(name)
    if found.threshold is not None:
        found = type(found)(1.0)
    assert decided(found, pairs).all()
    assert degrees_of(found, pairs).tolist() == [1.0] * len(pairs)
    for ours, theirs in pairs:
        marks = found.marks(ours, theirs)
        assert marks
        assert marks == sorted(marks)
        assert all(0 <= begin < end <= len(ours) for begin, end in marks)
        assert all(before[1] < after[0] for before, after in pairwise(marks))


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric(name: str) -> None:
    pairs = some_pairs(20, many(200))
    turned = [(theirs, ours) for ours, theirs in pairs]
    assert degrees_of(matcher(name), pairs).tolist() == degrees_of(matcher(name), turned).tolist()


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in ("exact", "exact-normalised", "remem", "rouge", "levenshtein")]
)
def test_punctuation_matches_nothing(name: str) -> None:
    """It is part of nothing that has words, not even if the threshold is 0."""
    pairs = [(".", "a. b."), ("-", "a-b"), ("👍", "x 👍👍")]
    found = matcher(name)
    for strict in [found] if found.threshold is None else [type(found)(0.0), type(found)(0.0, inclusive=False)]:
        assert not decided(strict, pairs).any()
        assert not degrees_of(strict, pairs).any()
    assert not any(found.marks(*pair) for pair in pairs)


def test_punctuation_by_rules_that_look_at_it() -> None:
    assert degrees_of(matcher("rouge"), [("...", "..."), (".", "a."), ("!", "!")]).tolist() == [0, 0, 1]
    assert degrees_of(matcher("exact"), [("...", "..."), (".", "a.")]).tolist() == [1, 0]


def test_nothing_in_common_is_no_match_at_any_threshold() -> None:
    graded = [type(found) for found in map(matcher, NAMES) if found.threshold is not None]
    assert len(graded) > 10
    for matcher_class in graded:
        assert not decided(matcher_class(0.0), [("red", "你")]).any()


@pytest.mark.parametrize("name", NAMES)
def test_no_pairs(name: str) -> None:
    nothing = np.empty(0, np.int64)
    found = matcher(name)
    assert found.degrees(["a"], ["b"], nothing, nothing).tolist() == []
    assert found.decide([], [], nothing, nothing).tolist() == []


@pytest.mark.parametrize("name", NAMES)
def test_strange_characters(name: str) -> None:
    pairs = [("\ud800\udfff a", "\ud800"), ("\0", "a\0b"), ("a\0b \U0010ffff", "a\0b"), ("ﬁ İ ß ŉ", "fi i̇ ss ʼn")]
    found = matcher(name)
    assert decided(found, pairs).tolist() == found.enough(degrees_of(found, pairs)).tolist()
    for pair in pairs:
        found.marks(*pair)


# Names.


class FirstWord(Matcher):
    """Whether the first words are the same."""

    name = "first-word"
    says = "the first word is the same"
    default_threshold = 0.5

    def degrees(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([float(words(retrieved[i])[:1] == words(references[j])[:1]) for i, j in pairs])


def test_a_new_matcher_is_a_class_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_matchers", SimpleNamespace(FirstWord=FirstWord))
    monkeypatch.setitem(_MODULES, "first-word", "my_matchers")
    assert str(matcher("first-word>0.4")) == "first-word>0.4"
    items = [{"retrieved": ["Rome is big.", "Paris, too."], "references": ["Paris is in France."]}]
    assert evaluate_texts(items, "RR", matching="first-word").mean == {"RR": 0.5}
    with pytest.raises(OptionError, match="Did you mean first-word"):
        matcher("frist-word")


@pytest.mark.parametrize("name", NAMES)
def test_names_and_spellings(name: str) -> None:
    found = matcher(name)
    assert found.name == name
    assert found.says
    assert type(found).__doc__
    assert str(matcher(str(found))) == str(found)
    assert type(found).__module__ == _MODULES[name]
    if found.threshold is None:
        assert str(found) == name
        with raises_code(OptionError, "takes-no-threshold"):
            matcher(f"{name}:0.5")
    else:
        odd = type(found)(0.1 + 0.2, inclusive=False)
        assert matcher(str(odd)).threshold == 0.1 + 0.2
        assert not matcher(str(odd)).inclusive
        for bad in (-0.1, 1.1, float("nan"), True, "0.5"):
            with raises_code(OptionError, "bad-number"):
                type(found)(bad)  # type: ignore[arg-type]


def test_names_of_folds() -> None:
    assert str(Exact()) == "exact"
    assert str(Exact(case=True)) == "exact but for case"
    assert str(Exact(whitespace=True, case=True, unicode=True)) == "exact-normalised"
    assert str(ExactNormalised(case=False)) == "exact but for whitespace, unicode"
    assert str(ExactNormalised(whitespace=False, case=False, unicode=False)) == "exact"
    assert str(Shingles(n=5)) == "shingles(n=5):0.5"
    assert str(RougeL(words=str.split)) == "rouge-l:0.7 by split"
    assert str(matcher(RougeL)) == "rouge-l:0.7"


def test_bad_options() -> None:
    for n in (0, -1, 1.5, True, "3"):
        with raises_code(OptionError, "bad-number", match="the n of shingles"):
            Shingles(n=n)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="Did you mean rouge-l"):
        matcher("rouge-k")


def test_ones_own_words() -> None:
    found = RougeL(words=list)
    assert degrees_of(found, [("abc", "axc")]).tolist() == [2 / 3]
    assert found.marks("abc", "abc") == []


# Containment.


def test_containment() -> None:
    pairs = [
        ("the cat sat", "cat"),
        ("cat", "the cat sat"),
        ("party", "art"),
        ("Cat  sat", "cat sat"),
        ("e\u0301", "é"),
    ]
    expected = {
        "contains": [1, 0, 1, 0, 0],
        "contained": [0, 1, 0, 0, 0],
        "either": [1, 1, 1, 0, 0],
        "contains-normalised": [1, 0, 1, 1, 1],
        "contained-normalised": [0, 1, 0, 1, 1],
        "either-normalised": [1, 1, 1, 1, 1],
        "contains-words": [1, 0, 0, 1, 1],
    }
    for name, found in expected.items():
        assert degrees_of(matcher(name), pairs).tolist() == found, name
    assert degrees_of(Contains(case=True), pairs).tolist() == [1, 0, 1, 0, 0]
    assert degrees_of(Contains(case=True, whitespace=True), pairs).tolist() == [1, 0, 1, 1, 0]
    assert degrees_of(matcher("contains-words"), [("It is Paris, France!", "paris france")]).tolist() == [1]


def test_remem_is_its_rule() -> None:
    rng = random.Random(21)
    pairs = []
    for _ in range(300):
        said = text(rng, 6)
        document = rng.choice([f"so {said} end", json.dumps({"t": said}), text(rng)])
        pairs.append((rng.choice(["", "Date: 1\n", "user: ", "Date: 1\nassistant: "]) + said, document))
    pairs += [("user: ", "any"), ("Date: 1", "any"), ("Date: 1\n", "any")]
    expected = [float(is_part(*pair)) for pair in pairs]
    assert 100 < sum(expected) < 300
    assert degrees_of(matcher("remem"), pairs).tolist() == expected


# Marks.


def marked(name: str, ours: str, theirs: str) -> list[str]:
    return [ours[begin:end] for begin, end in matcher(name).marks(ours, theirs)]


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "expected"),
    [
        ("exact", "ab", "ab", ["ab"]),
        ("exact", "ab", "ba", []),
        ("contains", "the cat sat", "cat", ["cat"]),
        ("contains", "the dog", "cat", []),
        ("contains-normalised", " The\n CAT  Sat", "the cat", ["The\n CAT"]),
        ("contains-normalised", "Die STRASSE hier", "straße", ["STRASSE"]),
        ("contains-normalised", "Die Straße hier", "STRASSE h", ["Straße h"]),
        ("contains-normalised", "un cafe\u0301 noir", "café", ["cafe\u0301"]),
        ("contains-words", "In Paris, France. Paris", "paris france", ["Paris", "France"]),
        ("contained", "cat", "the cat", ["cat"]),
        ("contained", "the cat", "cat", []),
        ("either", "cat", "the cat", ["cat"]),
        ("either", "the cat", "cat", ["cat"]),
        ("remem", "Date: 1\nuser: hello", "say hello", ["hello"]),
        ("remem", "nothing", "say hello", []),
        ("rouge-l", "the big cat sat, then the mat", "The cat sat the mat", ["the", "cat sat", "the mat"]),
        ("rouge-l", "東京は雨だ", "東京は晴だ", ["東京は", "だ"]),
        ("rouge-l", "red", "blue", []),
        ("rouge-score", "İ cat é sat", "cat sat", ["cat", "sat"]),
        ("rouge", "The cat. sat down on it", "The cat sat on it", ["The cat", "sat", "on it"]),
        ("token-recall", "mat the cat the the", "the mat the", ["mat the", "the"]),
        ("shingles", "x a b c y a b", "a b c d", ["a b c"]),
        ("token-set", "a cat, a dog", "dog cat", ["cat", "dog"]),
        ("partial-ratio", "so The Cat Sat there", "the cat sat", ["The Cat Sat"]),
    ],
)
def test_marks(name: str, ours: str, theirs: str, expected: list[str]) -> None:
    assert marked(name, ours, theirs) == expected


@given(
    st.text(alphabet=st.sampled_from("aB \nßİe\u0301é한ᄒ\u1161\u3099か"), min_size=1, max_size=15),
    st.data(),
)
def test_marks_of_folded_texts_hold_what_was_found(ours: str, data: st.DataObject) -> None:
    folded = normalise(ours)
    if not folded:
        return
    begin = data.draw(st.integers(0, len(folded) - 1))
    end = data.draw(st.integers(begin + 1, len(folded)))
    ((first, after),) = exact.original_span(ours, begin, end)
    assert folded[begin:end].strip() in normalise(ours[first:after])


# Sizes.


@pytest.mark.slow
def test_a_huge_chunk() -> None:
    """2 MB of words against sentences, one of which is in it."""
    rng = random.Random(22)
    vocabulary = [f"w{i}" for i in range(50_000)]
    chunk = " ".join(rng.choices(vocabulary, k=300_000))
    assert len(chunk) > 1_800_000
    inside, outside = " ".join(chunk[1_000_000:1_000_200].split()[1:-1]), "none of these words is there"
    at = np.zeros(2, np.int64), np.arange(2)
    for name in ("contains", "either", "contains-words", "rouge-l", "rouge-score", "token-recall", "shingles", "rouge"):
        assert matcher(name).decide([chunk], [inside, outside], *at).tolist() == [True, False], name
    assert not matcher("contained").decide([chunk], [inside, outside], *at).any()
    assert matcher("rouge-l").marks(chunk, "none of these words is there") == []
    start = chunk.index(inside)
    assert matcher("contains-normalised").marks(chunk + "É", inside) == [(start, start + len(inside))]


@pytest.mark.slow
def test_two_long_texts() -> None:
    """30,000 tokens each: decided by what they share, or by bits."""
    ours = " ".join(f"a{i}" for i in range(30_000))
    theirs = " ".join(f"b{i}" for i in range(30_000))
    similar = " ".join(f"a{i}" if i % 10 else f"c{i}" for i in range(30_000))
    for name in ("rouge-l", "rouge-score", "token-recall", "token-f1", "shingles", "rouge"):
        assert decided(matcher(name), [(ours, theirs), (ours, ours)]).tolist() == [False, True]
    assert degrees_of(matcher("token-recall"), [(ours, similar)]).tolist() == [0.9]
    assert degrees_of(matcher("rouge-l"), [(ours, similar)]).tolist() == [0.9]


def test_rouge_of_long_sentences() -> None:
    """Without a full stop, and one word in ten different."""
    ours = " ".join(f"a{i}" for i in range(5_000))
    similar = " ".join(f"a{i}" if i % 10 else f"c{i}" for i in range(5_000))
    assert degrees_of(matcher("rouge"), [(ours, similar)]).tolist() == [0.9]
    assert Either().marks(ours, similar) == []


# The page about them.

PAGE = places.ROOT / "docs" / "matching.md"


def test_the_page_lists_all_matchers_with_their_thresholds() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]*) ?\|", PAGE.read_text(), re.MULTILINE)
    defaults = {name: matcher(name).threshold for name in _MODULES}
    assert {name: float(shown) if shown else None for name, shown in rows} == defaults


def test_the_code_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found: dict[str, Matcher] = {}
    exec(code, found)
    pairs = [("green tree", "green"), ("green", "green"), ("a tree", "green")]
    assert decided(found["starts"], pairs).tolist() == [True, True, False]
    assert decided(found["alike"], pairs).tolist() == [True, True, False]
    assert decided(found["many"], pairs).tolist() == [False, True, False]
    assert decided(found["near"], pairs)[1]


def test_a_best_stretch_is_not_looked_for_in_long_texts() -> None:
    """The time grows with the third power of the shorter text: 8,000 characters took 34 s."""
    short, long = "a b" * 600, "b a " * 10_000
    assert degrees_of(matcher("partial-ratio"), [(short, long)])[0] > 0
    with pytest.raises(InputError, match=r"8,000 characters or more each; at most 2,000 of the shorter") as raised:
        degrees_of(matcher("partial-ratio"), [("a b " * 2_000, "b a " * 2_500)])
    assert raised.value.code == "text-too-long"
    assert "rouge-l" in str(raised.value)
