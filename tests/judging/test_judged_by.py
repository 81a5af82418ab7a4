"""Whose judgements count, values that are corrected by people's, and what results say of it."""

from __future__ import annotations

import random

import pytest
from raising import raises_code

import goldrank
from goldrank import Qrels
from goldrank.base.errors import InputError, OptionError
from goldrank.judging.ask import judge
from goldrank.judging.log import JudgementLog
from goldrank.judging.log_events import Entry
from goldrank.judging.pool_and_calls import Calls, Pool

PEOPLE = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}}
MODEL = {"q1": {"a": 0, "c": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
BOTH = Qrels.joined(PEOPLE, MODEL)
RUN = {"q1": ["a", "c"], "q2": ["a"], "q3": ["a"]}


def codes(notes):
    return [note.code for note in notes]


def who(notes):
    (note,) = [note for note in notes if note.code == "who-judged"]
    return dict(note.facts)


def test_people_count_where_both_judged():
    assert {query: dict(BOTH[query]) for query in BOTH} == {
        "q1": {"a": 1, "b": 0, "c": 1},
        "q2": {"a": 0},
        "q3": {"a": 1},
    }


@pytest.mark.parametrize(
    ("qrels", "value", "counts"),
    [
        # P@1 of q1, q2, q3. Both: 1, 0, 1. People: 1, 0 (q3 is not judged). The model: 0, 1, 1.
        (BOTH, 2 / 3, {"people": 0, "models": 2, "file": 3, "total": 5}),
        (BOTH.by("human"), 1 / 2, {"people": 0, "models": 0, "file": 3, "total": 3}),
        (BOTH.by("model"), 2 / 3, {"people": 0, "models": 4, "file": 0, "total": 4}),
    ],
    ids=["both", "human", "model"],
)
def test_evaluate(qrels, value, counts):
    found = goldrank.evaluate(qrels, RUN, "P@1")
    assert found["P@1"] == pytest.approx(value)
    assert who(found.notes) == counts


def test_what_is_left_out_is_said():
    notes = goldrank.evaluate(BOTH.by("human"), RUN, "P@1").notes
    assert dict(next(note for note in notes if note.code == "judgements-left-out").facts)["count"] == 2


def test_compare():
    runs = {"one": RUN, "two": {"q1": ["c", "b"], "q2": ["x"], "q3": ["a"]}}
    # one: 0, 1, 1; two: 1, 0, 1 by the model. People: one: 1, 0; two: 0, 0.
    assert goldrank.compare(BOTH.by("model"), runs, "P@1")["P@1", "one", "two"].difference == pytest.approx(0.0)
    by_people = goldrank.compare(BOTH.by("human"), runs, "P@1")
    assert by_people["P@1", "one", "two"].difference == pytest.approx(-0.5)
    assert who(by_people.notes)["models"] == 0


def test_plain_judgements_are_people_s():
    assert goldrank.evaluate(Qrels(PEOPLE).by("human"), RUN, "P@1")["P@1"] == 0.5
    with raises_code(InputError, "no-judge"):
        Qrels(PEOPLE).by("model")


@pytest.mark.parametrize("wrong", ["people", "corrected", "", 1, ["model"]])
def test_wrong_words_get_words(wrong):
    with pytest.raises(OptionError):
        BOTH.by(wrong)


@pytest.mark.parametrize("verb", [goldrank.evaluate, goldrank.compare])
def test_the_argument_is_gone_and_the_error_says_where_to(verb):
    with pytest.raises(OptionError) as caught:
        verb(BOTH, RUN, "P@1", judged_by="corrected")
    assert "qrels.by('human')" in caught.value.hint


# Corrected.


@pytest.fixture(scope="module")
def world():
    chance = random.Random(3)
    docs = "abcdef"
    truth = {f"q{i}": {doc: chance.randrange(4) for doc in docs} for i in range(120)}
    model = {
        query: {doc: min(3, grade + (chance.random() < 0.3)) for doc, grade in row.items()}
        for query, row in truth.items()
    }
    people = {query: truth[query] for query in list(truth)[:40]}

    def ranked(query, skill):
        return sorted(docs, key=lambda doc: -(skill * truth[query][doc] + chance.gauss(0, 1)))

    runs = {name: {query: ranked(query, skill) for query in truth} for name, skill in (("bad", 0.1), ("good", 1.5))}
    return people, model, runs


def test_verdicts(world):
    people, model, runs = world
    found = goldrank.corrected_values(Qrels(people).with_model(model), runs, "nDCG@5")
    assert "random-draw" in codes(found.notes)
    better = found["nDCG@5", "good", "bad"]
    assert (better.verdict, better.run, better.against) == ("better", "good", "bad")
    assert "good is better than bad" in better.words


def test_a_difference_is_turned_round(world):
    people, model, runs = world
    found = goldrank.corrected_values(Qrels(people).with_model(model), runs, "nDCG@5")
    one, other = found["nDCG@5", "good", "bad"], found["nDCG@5", "bad", "good"]
    assert (other.verdict, other.run, other.against) == ("worse", "bad", "good")
    assert other.value == -one.value
    assert other.interval == (-one.interval.high, -one.interval.low)
    assert (other.by_people, other.by_model) == (-one.by_people, -one.by_model)
    # The runs in the other order give the difference in the other direction, by the same formulas.
    turned = dict(reversed(runs.items()))
    again = goldrank.corrected_values(Qrels(people).with_model(model), turned, "nDCG@5")["nDCG@5", "bad", "good"]
    assert again.value == pytest.approx(other.value)
    assert again.interval == pytest.approx(other.interval)
    assert again.verdict == other.verdict


def test_alpha_is_that_of_the_statistics(world):
    people, model, runs = world
    both = Qrels(people).with_model(model)
    usual = goldrank.corrected_values(both, runs, "nDCG@5")
    narrow = goldrank.corrected_values(both, runs, "nDCG@5", statistics=goldrank.Statistics(alpha=0.1))
    assert (usual.level, narrow.level) == pytest.approx((0.95, 0.9))
    for one, other in zip(usual.values, narrow.values, strict=True):
        assert one.value == other.value
        assert one.interval.low < other.interval.low < other.interval.high < one.interval.high


def test_verdicts_hold_for_all_pairs_together(world):
    """With 20 systems that differ by chance alone there are 190 pairs, of which 5 % would look different one by one."""
    people, model, _ = world
    chance = random.Random(1)
    runs = {f"r{i}": {query: chance.sample(sorted(row), 6) for query, row in model.items()} for i in range(8)}
    found = goldrank.corrected_values(Qrels(people).with_model(model), runs, "nDCG@5")
    verdicts = [one.verdict for one in found.values if one.against]
    assert len(verdicts) == 28
    assert verdicts.count("unclear") >= 27


def test_a_system_is_not_better_than_itself(world):
    people, model, runs = world
    same = {"one": runs["good"], "two": runs["good"]}
    found = goldrank.corrected_values(Qrels(people).with_model(model), same, "nDCG@5")
    assert found["nDCG@5", "two", "one"].verdict == "unclear"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("clusters", "queries"),
        ("strata", "queries"),
        ("level", "statistics=Statistics(level=...)"),
        ("alpha", "statistics=Statistics(alpha=...)"),
        ("missing", "convention=Convention(missing=...)"),
        ("model", "human.with_model(model)"),
    ],
)
def test_an_unknown_argument_names_the_right_one(world, wrong, right):
    people, model, runs = world
    with pytest.raises(OptionError) as caught:
        goldrank.corrected_values(Qrels(people).with_model(model), runs, "nDCG@5", **{wrong: 1})
    assert right in caught.value.hint


# Where they come from.


def test_judged_pairs_of_people_keep_the_model_s_grade_too(tmp_path):
    texts = {"a": "1", "b": "2", "c": "3"}
    found = judge(
        {"q": {"a": 0}}, {"mine": {"q": ["a", "b", "c"]}}, lambda question, text: int(text), pool=Pool("all"),
        documents=texts, queries={"q": "?"}, calls=Calls(tmp_path / "log.db"),
    )  # fmt: skip
    assert dict(found.qrels["q"]) == {"a": 0, "b": 2, "c": 3}
    assert dict(found.qrels.by("model")["q"]) == {"a": 1, "b": 2, "c": 3}
    assert dict(found.qrels.by("human")["q"]) == {"a": 0}
    again = judge(
        found.qrels, {"mine": {"q": ["a", "b", "c"]}}, lambda question, text: 0, pool=Pool("judged"),
        documents=texts, queries={"q": "?"}, calls=Calls(tmp_path / "log.db"),
    )  # fmt: skip
    assert dict(again.qrels.by("human")["q"]) == {"a": 0}, "a model's judgements do not become people's"


def test_exports_of_a_log_can_be_told_apart(tmp_path):
    with JudgementLog(tmp_path / "log.db") as log:
        log.add("ann", "q", "a", 0)
        log.add_entry(Entry("gpt", "q", "a", grade=3, kind="model"))
        log.add_entry(Entry("gpt", "q", "b", grade=2, kind="model"))
        found = log.qrels(by="any", onto={"q": {"z": 1}})
        assert dict(found["q"]) == {"a": 0, "b": 2, "z": 1}
        assert dict(found.by("human")["q"]) == {"z": 1, "a": 0}
        assert dict(found.by("model")["q"]) == {"a": 3, "b": 2}
        assert set(log.qrels(by="model").judges) == {"model"}
        assert not log.qrels(by="person").judges
