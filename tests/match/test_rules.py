"""The rules that decide whether two texts match, and the sentences that texts are cut into."""

from __future__ import annotations

import random

import pytest

from goldrank.base.errors import InputError, OptionError
from goldrank.data.placements import Placements
from goldrank.match import matcher, place
from goldrank.match.contain import is_part, is_part_remem
from goldrank.match.exact import same
from goldrank.match.rouge import common_words, reaches, rouge_l_recall
from goldrank.match.units import sentences


def plain_recall(retrieved: str, reference: str) -> float:
    """The definition with whole subsequences kept in the table, so that no walk back is needed."""

    def split(text: str) -> list[list[str]]:
        return [" ".join(part.split()).split(" ") for part in text.split(".") if part]

    def subsequence(x: list[str], y: list[str]) -> list[str]:
        if not x or not y:
            return []
        if x[-1] == y[-1]:
            return [*subsequence(x[:-1], y[:-1]), x[-1]]
        without_x, without_y = subsequence(x[:-1], y), subsequence(x, y[:-1])
        return without_x if len(without_x) > len(without_y) else without_y

    covered = {word for x in split(reference) for y in split(retrieved) for word in subsequence(x, y)}
    return len(covered) / len({word for sentence in split(reference) for word in sentence})


@pytest.mark.parametrize("seed", range(40))
def test_rouge_is_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        retrieved, reference = (
            "x " + "".join(rng.choice(["a ", "b ", "the ", ". ", ".", " "]) for _ in range(rng.randint(1, 9)))
            for _ in range(2)
        )
        expected = plain_recall(retrieved, reference)
        assert rouge_l_recall(retrieved, reference) == pytest.approx(expected), (retrieved, reference)
        for threshold in (0.5, 0.7, 1.0):
            assert reaches(retrieved, reference, threshold) == (expected >= threshold)
            assert reaches(retrieved, reference, threshold, inclusive=False) == (expected > threshold)


def test_rouge_of_empty_texts() -> None:
    with pytest.raises(InputError, match="Hypothesis is empty"):
        rouge_l_recall("", "a")
    with pytest.raises(InputError, match="Reference is empty"):
        rouge_l_recall("a", "...")
    assert not reaches("", "a", 0.0)
    assert not reaches("a", "...", 0.0)


def test_rouge_has_no_depth() -> None:
    words = [f"w{i}" for i in range(1500)]
    assert common_words(tuple(words), ("start", *words)) == set(words)


def test_containment() -> None:
    assert is_part("blue", "The sky is blue.")
    assert not is_part("The sky is blue.", "blue")
    assert not is_part("Blue", "The sky is blue.")
    assert is_part("line\nbreak", '{"text": "a line\\nbreak"}')
    assert is_part_remem("line\nbreak", '{"text": "line\\nbreak"}')
    assert not is_part_remem("line\nbreak", '{"text": "a line\\nbreak"}')  # its quotes belong to the text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("No mark at the end", ["No mark at the end"]),
        ("Dr. Smith met Mr. Jones. They left.", ["Dr. Smith met Mr. Jones.", "They left."]),
        ("It costs 3.50 euros. Cheap.", ["It costs 3.50 euros.", "Cheap."]),
        ("See Fig. 3 and No. 7. He said no. Then he left.", ["See Fig. 3 and No. 7.", "He said no.", "Then he left."]),
        ("J. R. Smith wrote it. I did.", ["J. R. Smith wrote it.", "I did."]),
        ("So do I. He knows.", ["So do I.", "He knows."]),
        ("The U.S. economy grew. Fast.", ["The U.S. economy grew.", "Fast."]),
        ("Well... maybe. Yes... No.", ["Well... maybe.", "Yes...", "No."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Use e.g. this one. Done.", ["Use e.g. this one.", "Done."]),
        ("goldrank.evaluate works. It does.", ["goldrank.evaluate works.", "It does."]),
        ("今天下雨。我在家。", ["今天下雨。", "我在家。"]),
        ("本当？はい！「そう。」終わり", ["本当？", "はい！", "「そう。」", "終わり"]),
        ("A heading\n\nA text", ["A heading", "A text"]),
        ("First line\nsame sentence.", ["First line\nsame sentence."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_sentences_keep_every_character_but_space() -> None:
    text = "Dr. A. said: (this.) And 3.5... so. 今天。 End"
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


# From texts to placements.


def rows(placed: Placements) -> list[tuple[int, int, int]]:
    assert placed.label is not None
    reference = placed.label - placed.judged_start[placed.query]
    return list(zip(placed.query.tolist(), placed.rank.tolist(), reference.tolist(), strict=True))


def test_one_row_for_each_pair() -> None:
    placed = place([["ab", "x", "a"], ["b"]], [["a", "b"], ["b"]], lambda text, reference: reference in text)
    assert rows(placed) == [(0, 1, 0), (0, 1, 1), (0, 3, 0), (1, 1, 0)]
    assert placed.retrieved.tolist() == [3, 1]
    assert placed.relevant(1).tolist() == [2, 1]


def test_views_of_the_pairs() -> None:
    placed = place([["ab", "x", "a", "b"]], [["a", "b"]], lambda text, reference: reference in text)
    assert placed.per_rank.rank.tolist() == [1, 3, 4]
    assert placed.per_label.rank.tolist() == [1, 1]
    assert placed.first_free.rank.tolist() == [1, 4]  # the first takes a, so that only b is left for the last
    assert placed.every_row.rank.tolist() == [1, 1, 3, 4]
    assert placed.cut(3).per_rank.rank.tolist() == [1, 3]


def test_repeated_references() -> None:
    wanted = [["a", "a", "b"]]
    assert place([["a"]], wanted, same).relevant(1).tolist() == [2]
    assert place([["a"]], wanted, same, repeated_references="each").relevant(1).tolist() == [3]
    for rule in (same, lambda text, reference: text == reference):
        placed = place([["x", "a"]], wanted, rule, repeated_references="each")
        assert rows(placed) == [(0, 2, 0), (0, 2, 0)]
        assert placed.per_label.rank.tolist() == [2]
        assert placed.first_free.rank.tolist() == [2]


def test_equality_needs_no_search() -> None:
    by_search = place([["b", "x", "b"]], [["a", "b"]], lambda text, reference: text == reference)
    assert rows(by_search) == rows(place([["b", "x", "b"]], [["a", "b"]], same)) == [(0, 1, 1), (0, 3, 1)]


@pytest.mark.parametrize("typed", ["rouge_l:0.7", "ROUGE-L", "token_recall", "embeding:x:0.8"])
def test_a_mistyped_matcher_is_answered_with_the_one_that_was_meant(typed: str) -> None:
    meant = {"r": "rouge", "R": "rouge-l", "t": "token-recall", "e": "embedding"}[typed[0]]
    with pytest.raises(OptionError) as error:
        matcher(typed)
    assert f"Did you mean {meant}" in str(error.value.hint)
