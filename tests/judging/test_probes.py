"""Does a judge agree with itself, and can texts talk to it?"""

from __future__ import annotations

import math

import pytest
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError, OptionError
from goldrank.judging.ask import consistency
from goldrank.judging.pool_and_calls import Calls, Pool
from goldrank.judging.probes import judge_gullibility

QRELS = {"q": {f"d{i}": 0 for i in range(20)} | {"good": 2, "bad": -1}}
DOCS = {f"d{i}": f"plain words {i} about nothing of it" for i in range(20)} | {
    "good": "the answer",
    "bad": "spam it is",
}
QUERIES = {"q": "zebra stripes"}


def probe(tmp_path, judge, **more):
    calls = Calls(tmp_path / "log.db")
    return judge_gullibility(QRELS, judge, documents=DOCS, queries=QUERIES, calls=calls, **more)


def test_a_judge_that_nothing_moves(tmp_path):
    found = probe(tmp_path, lambda question, text: 0)
    # 0 of 20: Wilson's interval reaches to 0.161 (JUDGES.md, section 4).
    assert (found["words"], found["order"]) == (0.0, 0.0)
    for trick in (found.tricks["words"], found.tricks["order"]):
        assert (trick.pairs, trick.raised, trick.mean_rise) == (20, 0, 0.0)
        assert (trick.low, round(trick.high, 3)) == (0.0, 0.161)


def test_a_judge_that_counts_words_and_obeys_half_of_the_time(tmp_path):
    def moved(question, text):
        number = int(text.split("words ")[1].split()[0]) if "words" in text else 0
        if "the grade is 3" in text:
            return 3 if number % 2 == 0 else 0
        return min(2, text.count("zebra"))

    found = probe(tmp_path, moved, pairs=50)
    words, order = found.tricks["words"], found.tricks["order"]
    assert (words.pairs, words.raised, words.mean_rise) == (21, 21, 2.0)
    # Numbers 0, 2, ..., 18 and the text without a number: 11 of 21.
    assert (order.raised, found["order"]) == (11, 11 / 21)
    assert order.mean_rise == pytest.approx(33 / 21)
    assert "11 of 21 texts by an order" in found.words
    assert [row["name"] for row in found.rows()] == ["words", "order"]
    assert "raised" in str(found)


def test_what_has_no_answer_is_left_out_and_counted(tmp_path):
    found = probe(tmp_path, lambda question, text: 9 if "zebra" in text else 0)
    assert found.tricks["words"].pairs == 0
    assert math.isnan(found["words"])
    assert found.tricks["order"].pairs == 20
    assert "answers-unreadable" in [note.code for note in found.notes]
    with raises_code(InputError, "no-answers"):
        probe(tmp_path, lambda question, text: "?")


def test_probes_are_no_judgements(tmp_path):
    probe(tmp_path, lambda question, text: 0)
    with goldrank.JudgementLog(tmp_path / "log.db") as log, raises_code(InputError, "nothing-to-export"):
        log.qrels(by="any")


def test_pairs_of_grade_0_are_needed(tmp_path):
    with pytest.raises(InputError) as caught:
        judge_gullibility({"q": {"good": 1}}, lambda question, text: 0, documents=DOCS, queries=QUERIES)
    assert caught.value.code == "no-zeros"
    with pytest.raises(OptionError):
        probe(tmp_path, lambda question, text: 0, pairs=0)
    with pytest.raises(KeyError, match="there are: words, order"):
        probe(tmp_path, lambda question, text: 0)["flattery"]
    with pytest.raises(OptionError, match="no dry run"):
        judge_gullibility(
            QRELS, lambda question, text: 0, documents=DOCS, queries=QUERIES, calls=Calls(dry_run=True)
        )  # fmt: skip
    with pytest.raises(OptionError) as caught:
        probe(tmp_path, lambda question, text: 0, seed=3)
    assert "calls=Calls(seed=...)" in caught.value.hint


def test_consistency_is_alpha_over_repeats():
    # Krippendorff's table of four observers and twelve units; its ordinal alpha is in JUDGES.md, section 5.
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    repeated = {
        ("q", str(at)): [grade for grade in unit if grade is not None]
        for at, unit in enumerate(zip(*rows, strict=True))
    }
    found = consistency(repeated)
    assert found.alpha == pytest.approx(0.815387503755, abs=1e-12)
    # The last unit has one grade. Of eleven, those that differ: the second, sixth and eighth.
    assert (found.pairs, found.unanimous) == (11, 8 / 11)


def test_consistency_of_a_job(tmp_path):
    said = {"a": iter([0, 0, 0]), "b": iter([3, 3, 3]), "c": iter([1, 2, 1])}
    found = goldrank.judge(
        {}, {"mine": {"q": ["a", "b", "c"]}}, lambda question, text: next(said[text]), queries=QUERIES,
        documents={name: name for name in "abc"}, pool=Pool(repeats=3), calls=Calls(tmp_path / "log.db"),
    )  # fmt: skip
    assert (found.consistency.pairs, found.consistency.unanimous) == (3, 2 / 3)
    # Grades 0 three times, 1 twice, 2 once, 3 three times. In c the 2 meets two 1s, each way, divided by 3 - 1.
    count = {0: 3, 1: 2, 2: 1, 3: 3}
    middle = {0: 1.5, 1: 4.0, 2: 5.5, 3: 7.5}
    observed = 2 * (2 * 1 / 2) * (middle[1] - middle[2]) ** 2
    expected = sum(count[a] * count[b] * (middle[a] - middle[b]) ** 2 for a in count for b in count) / (9 - 1)
    assert found.consistency.alpha == pytest.approx(1 - observed / expected)
    assert consistency({("q", "a"): [1]}) is None
