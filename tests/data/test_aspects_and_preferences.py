"""Judgements that say more than one grade: reading them, what they refuse, and that every engine agrees."""

from __future__ import annotations

import math
import random

import pytest
from raising import raises_code

from goldrank import AspectQrels, Preferences, evaluate, read_aspects, read_preferences
from goldrank.base.errors import InputError, MeasureError, OptionError


@pytest.fixture
def write(tmp_path):
    def to(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return to


def test_aspects_from_a_file(write):
    qrels = read_aspects(write("qrels", "# subtopics\nq1 1 a 1\nq1 2 a 0\n\nq1 2 b 2\nq0 1 c 1\n"))
    assert list(qrels) == ["q0", "q1"]
    assert qrels["q1"] == {"1": {"a": 1}, "2": {"b": 2, "a": 0}}
    assert len(qrels) == 2
    assert [(note.code, note.fact("count")) for note in qrels.notes] == [("comment-lines", 1), ("blank-lines", 1)]
    scores = evaluate(qrels, {"q1": ["a", "b"], "q0": ["c"]}, ["StRecall@1", "P@1", "NumRel"])
    # In q1, a covers one of two aspects. By the highest grade of each document all three are relevant.
    assert scores.per_query["StRecall@1"] == {"q0": 1.0, "q1": 0.5}
    assert scores["P@1"] == 1.0
    assert scores["NumRel"] == 3


def test_digest_follows_the_judgements():
    one = AspectQrels({"q": {"x": {"a": 1}}})
    assert one.digest == AspectQrels({"q": {"x": {"a": 1}}}).digest
    assert one.digest != AspectQrels({"q": {"x": {"a": 2}}}).digest
    assert one.digest != AspectQrels({"q": {"y": {"a": 1}}}).digest
    two = Preferences({"q": {"x": [{"a": 2, "b": 1}]}})
    assert two.digest != Preferences({"q": {"x": [{"a": 1, "b": 2}]}}).digest
    assert evaluate(one, {"q": ["a"]}, "AP_IA").provenance["qrels"]["sha256"] == one.digest


def test_preferences_from_a_file(write):
    preferences = read_preferences(write("prefs", "q j s1 a 2\nq j s1 b 1\nq j s2 b 3.5\nq j s2 c 1\n"))
    assert evaluate(preferences, {"q": ["a", "c"]}, "NumPrefs")["NumPrefs"] == 3, "a over c follows"
    graded = read_preferences(write("qrels", "q j a 2\nq j b 1\n"), format="qrels_prefs")
    assert evaluate(graded, {"q": ["b", "a"]}, "Prefs")["Prefs"] == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 1 a 1\nq 1 a 1\n", "is judged here and at"),
        ("q 1 a\n", "found 3 columns"),
        ("q 1 a x\n", "is not a whole number"),
        ("\n# nothing\n", "no data lines"),
    ],
)
def test_aspects_that_cannot_be(write, text, message):
    with pytest.raises(InputError, match=message):
        read_aspects(write("qrels", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q j s a 1\nq j s a 2\n", "in one list twice"),
        ("q j s a\n", "level 'a' is not a number"),
        ("q j s a high\n", "is not a number"),
        ("q j s a nan\n", "is not a number"),
        ("q j 1 a 2\nq j 1 b 1\nq j 2 b 2\nq j 2 a 1\n", "contradict each other"),
        ("q j 1 a 0\nq j 1 b 1\nq j 2 a 2\nq j 2 c 1\n", "has level 0"),
    ],
)
def test_preferences_that_cannot_be(write, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read_preferences(write("prefs", text))
    assert "prefs" in str(caught.value.where)


def test_wrong_shapes():
    with raises_code(InputError, "wrong-type"):
        AspectQrels({"q": {"a": 1}})
    with raises_code(InputError, "wrong-type"):
        Preferences({"q": {"judge": {"a": 1}}})
    with pytest.raises(OptionError):
        read_preferences("x", format="json")


def test_measures_ask_for_the_judgements_they_need():
    plain, run = {"q": {"a": 1}}, {"q": ["a"]}
    with raises_code(MeasureError, "not-measurable") as caught:
        evaluate(plain, run, "alpha_nDCG@10")
    assert "read_aspects" in str(caught.value)
    with raises_code(MeasureError, "not-measurable"):
        evaluate(plain, run, "Prefs")
    with raises_code(MeasureError, "not-measurable"):
        evaluate(AspectQrels({"q": {"x": {"a": 1}}}), run, "Hole@1")


def test_files_and_objects_agree(write):
    """The engine for files and the one for dicts place documents alike, ties and all."""
    rng = random.Random(3)
    qrels = {
        f"q{q}": {a: {f"d{d}": rng.randint(0, 2) for d in rng.sample(range(20), 8)} for a in "xyz"} for q in range(20)
    }
    run = {f"q{q}": {f"d{d}": rng.randint(0, 5) for d in rng.sample(range(20), 12)} for q in range(20)}
    lines = [f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()]
    file = write("run", "".join(lines))
    measures = ["alpha_nDCG@5", "AP_IA", "NRBP", "AP", "nDCG@3"]
    judged = AspectQrels(qrels)
    assert evaluate(judged, run, measures).per_query == evaluate(judged, file, measures).per_query
    plain = {q: aspects["x"] for q, aspects in qrels.items()}
    for rules in ({"ties": "docid-ascending"}, {"ties": "expected"}, {"ties": "input"}):
        mine = evaluate(plain, run, ["AP", "nDCG@3"], **rules).per_query
        assert mine == evaluate(plain, file, ["AP", "nDCG@3"], **rules).per_query
    assert evaluate(plain, run, "Hole@5").per_query == evaluate(plain, file, "Hole@5").per_query


@pytest.mark.parametrize("level", ["x", "2", None, True, math.nan, 10**400, [1]])
def test_levels_are_numbers(level):
    with pytest.raises(InputError, match="query 'q', document 'd': the level is"):
        Preferences({"q": {"judge": [{"d": level, "e": 0}]}})


def test_ids_of_two_types_are_refused():
    """As `Qrels` does: 1 and '1' would be one document with two grades."""
    for make in (
        lambda: AspectQrels({"q": {"x": {1: 1, "1": 0}}}),
        lambda: AspectQrels({"q": {"x": {"1": 1}}, 2: {"x": {"1": 1}}}),
        lambda: Preferences({"q": {"judge": [{1: 1, "1": 0}]}}),
    ):
        with pytest.raises(InputError, match="type int and some of type str"):
            make()
