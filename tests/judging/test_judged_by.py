"""Whose judgements count: `judged_by=` of evaluate, compare and gate, and what results say of it."""

from __future__ import annotations

import random

import pytest
from raising import raises_code

import goldrank
from goldrank import Qrels
from goldrank.errors import GoldrankError, InputError, OptionError
from goldrank.judgements import JudgementLog
from goldrank.judgements.records import Event
from goldrank.judging.ask import judge

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
    ("judged_by", "value", "counts"),
    [
        # P@1 of q1, q2, q3. Both: 1, 0, 1. People: 1, 0 (q3 is not judged). The model: 0, 1, 1.
        (None, 2 / 3, {"people": 0, "models": 2, "file": 3, "total": 5}),
        ("human", 1 / 2, {"people": 0, "models": 0, "file": 3, "total": 3}),
        ("model", 2 / 3, {"people": 0, "models": 4, "file": 0, "total": 4}),
    ],
)
def test_evaluate(judged_by, value, counts):
    found = goldrank.evaluate(BOTH, RUN, "P@1", judged_by=judged_by)
    assert found["P@1"] == pytest.approx(value)
    assert who(found.notes) == counts


def test_what_is_left_out_is_said():
    notes = goldrank.evaluate(BOTH, RUN, "P@1", judged_by="human").notes
    assert dict(next(note for note in notes if note.code == "judgements-left-out").facts)["count"] == 2


def test_compare_and_gate():
    runs = {"one": RUN, "two": {"q1": ["c", "b"], "q2": ["x"], "q3": ["a"]}}
    by_model = goldrank.compare(BOTH, runs, "P@1", judged_by="model")
    # one: 0, 1, 1; two: 1, 0, 1 by the model. People: one: 1, 0; two: 0, 0.
    assert by_model["P@1", "one", "two"].difference == pytest.approx(0.0)
    by_people = goldrank.compare(BOTH, runs, "P@1", judged_by="human")
    assert by_people["P@1", "one", "two"].difference == pytest.approx(-0.5)
    assert who(by_people.notes)["models"] == 0
    assert goldrank.gate(BOTH, RUN, ["P@1 >= 0.6"], judged_by="model").status == "pass"
    assert goldrank.gate(BOTH, RUN, ["P@1 >= 0.6"], judged_by="human").status == "fail"


def test_plain_judgements_are_people_s():
    assert goldrank.evaluate(PEOPLE, RUN, "P@1", judged_by="human")["P@1"] == 0.5
    for judged_by in ("model", "corrected"):
        with pytest.raises(InputError) as caught:
            goldrank.evaluate(PEOPLE, RUN, "P@1", judged_by=judged_by)
        assert caught.value.code == "no-judge"


@pytest.mark.parametrize("wrong", ["people", "", 1, ["model"]])
def test_wrong_words_get_words(wrong):
    for call in (goldrank.evaluate, goldrank.gate):
        with pytest.raises(OptionError):
            call(BOTH, RUN, ["P@1"] if call is goldrank.evaluate else ["P@1 >= 0"], judged_by=wrong)


def test_scores_were_judged_already():
    scores = goldrank.evaluate(BOTH, {"one": RUN, "two": RUN}, "P@1")
    with pytest.raises(GoldrankError):
        goldrank.compare(scores, judged_by="model")
    with pytest.raises(GoldrankError):
        goldrank.gate(scores["one"], rules=["P@1 >= 0"], judged_by="model")


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


def test_corrected_is_what_corrected_values_says(world):
    people, model, runs = world
    both = Qrels.joined(people, model)
    expected = goldrank.corrected_values(people, model, runs, "nDCG@5")
    for found in (
        goldrank.evaluate(both, runs, "nDCG@5", judged_by="corrected"),
        goldrank.compare(both, runs, "nDCG@5", judged_by="corrected"),
    ):
        assert found.rows() == expected.rows()
        assert "random-draw" in codes(found.notes)
    assert expected.value("nDCG@5", "good", "bad").verdict == "better"
    assert "good is better than bad" in expected.value("nDCG@5", "good", "bad").words
    turned = goldrank.compare(both, runs, "nDCG@5", judged_by="corrected", baseline="good", alpha=0.1)
    assert [(one.system, one.against, one.verdict) for one in turned.values if one.against] == [
        ("bad", "good", "worse")
    ]
    assert turned.level == pytest.approx(0.9)


def test_verdicts_hold_for_all_pairs_together(world):
    """With 20 systems that differ by chance alone there are 190 pairs, of which 5 % would look different one by one."""
    people, model, _ = world
    chance = random.Random(1)
    runs = {f"r{i}": {query: chance.sample(sorted(row), 6) for query, row in model.items()} for i in range(8)}
    found = goldrank.corrected_values(people, model, runs, "nDCG@5")
    verdicts = [one.verdict for one in found.values if one.against]
    assert len(verdicts) == 28
    assert verdicts.count("unclear") >= 27


def test_a_system_is_not_better_than_itself(world):
    people, model, runs = world
    found = goldrank.corrected_values(people, model, {"one": runs["good"], "two": runs["good"]}, "nDCG@5")
    assert found.value("nDCG@5", "two", "one").verdict == "unclear"


@pytest.mark.parametrize(
    ("option", "value"),
    [("weights", {"q1": 1}), ("margin", 0.1), ("test", "t"), ("slice_by", {"judged": None}), ("primary", "nDCG@5")],
)
def test_options_without_a_meaning_are_refused(world, option, value):
    people, model, runs = world
    with pytest.raises(OptionError, match=option):
        goldrank.compare(Qrels.joined(people, model), runs, "nDCG@5", judged_by="corrected", **{option: value})


def test_gates_go_by_corrected_intervals(world, tmp_path):
    people, model, runs = world
    both = Qrels.joined(people, model)
    one = goldrank.corrected_values(people, model, runs["good"], "nDCG@5")["nDCG@5", "run"]
    rules = [f"nDCG@5 >= {one.low - 0.05:.3f}", f"nDCG@5 >= {one.estimate:.4f}", f"nDCG@5 >= {one.high + 0.05:.3f}"]
    verdict = goldrank.gate(both, runs["good"], rules, judged_by="corrected")
    assert [finding.status for finding in verdict.findings] == ["pass", "unclear", "fail"]
    assert verdict.findings[0].value == pytest.approx(one.estimate)
    strict = goldrank.gate(both, runs["good"], rules[1:2], judged_by="corrected", strict=True)
    assert strict.status == "fail"
    before = goldrank.evaluate(both, runs["good"], "nDCG@5")
    assert goldrank.gate(both, runs["bad"], ["nDCG@5: -1%"], before, judged_by="corrected").status == "fail"
    assert goldrank.gate(both, runs["good"], ["nDCG@5: -0.02"], before, judged_by="corrected").status == "pass"
    path = tmp_path / "baseline.json"
    goldrank.Baseline.freeze(before, path, qrels=both)
    assert goldrank.gate(both, runs["bad"], ["nDCG@5: -1%"], path, judged_by="corrected").status == "fail"


def test_gates_of_two_valued_measures_go_by_wilson(world):
    """38 of 40: Wilson's one-sided end is 0.860, Student's 0.891; the two-sided interval is 0.835 to 0.986."""
    runs = {f"q{i}": ["a"] for i in range(60)}
    model = {query: {"a": 1} for query in runs}
    people = {f"q{i}": {"a": int(i >= 2)} for i in range(40)}
    both = Qrels.joined(people, model)
    verdict = goldrank.gate(both, runs, ["Success@1 >= 0.875"], judged_by="corrected")
    assert [finding.status for finding in verdict.findings] == ["unclear"]
    (finding,) = verdict.findings
    assert (finding.interval.low, finding.interval.high) == pytest.approx((0.8350, 0.9862), abs=2e-4)


@pytest.mark.parametrize("rule", ["missing <= 0%", "nDCG@5 [kind=long] >= 0.1"])
def test_rules_that_are_no_means_are_refused(world, rule):
    people, model, runs = world
    with raises_code(GoldrankError, "not-corrected"):
        goldrank.gate(Qrels.joined(people, model), runs["good"], [rule], judged_by="corrected")


# Where they come from.


def test_judged_pairs_of_people_keep_the_model_s_grade_too(tmp_path):
    texts = {"a": "1", "b": "2", "c": "3"}
    found = judge(
        {"q": {"a": 0}}, {"q": ["a", "b", "c"]}, judge=lambda question, text: int(text), which="all", docs=texts,
        queries={"q": "?"}, log=tmp_path / "log.db",
    )  # fmt: skip
    assert dict(found.qrels["q"]) == {"a": 0, "b": 2, "c": 3}
    assert dict(found.qrels.judged_by("model")["q"]) == {"a": 1, "b": 2, "c": 3}
    assert dict(found.qrels.judged_by("human")["q"]) == {"a": 0}
    again = judge(
        found.qrels, {"q": ["a", "b", "c"]}, judge=lambda question, text: 0, which="judged", docs=texts,
        queries={"q": "?"}, log=tmp_path / "log.db",
    )  # fmt: skip
    assert dict(again.qrels.judged_by("human")["q"]) == {"a": 0}, "a model's judgements do not become people's"


def test_exports_of_a_log_can_be_told_apart(tmp_path):
    with JudgementLog.open(tmp_path / "log.db") as log:
        log.add(Event("ann", "q", "a", grade=0))
        log.add(Event("gpt", "q", "a", grade=3, kind="model"))
        log.add(Event("gpt", "q", "b", grade=2, kind="model"))
        found = log.export({"q": {"z": 1}}, by="any").qrels
        assert dict(found["q"]) == {"a": 0, "b": 2, "z": 1}
        assert dict(found.judged_by("human")["q"]) == {"z": 1, "a": 0}
        assert dict(found.judged_by("model")["q"]) == {"a": 3, "b": 2}
        alone = log.export(by="model").qrels
        assert set(alone.judges) == {"model"}
        assert not log.export(by="person").qrels.judges
