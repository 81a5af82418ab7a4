"""Sweeps: what each setting covers and costs, the frontier, and what is tested."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrank import Evidence, evaluate_texts, read_items, sweep
from goldrank.base.errors import MismatchError, OptionError
from goldrank.comparison.resampling import SAMPLES, resampled_means
from goldrank.comparison.settings import Statistics
from goldrank.data.table import plain
from goldrank.rag import sweep_report as report
from goldrank.rag.sweep import frontier, support

GOLD = [{"id": f"q{i}", "references": [f"fact{i}"]} for i in range(24)]


def found(hits: int, words: int) -> list[dict]:
    """The first `hits` questions have their fact first, the others second; each text has so many words."""
    filler = " ".join(["word"] * (words - 1))
    return [
        {"id": f"q{i}", "retrieved": [f"{a} {filler}", f"{b} {filler}"]}
        for i in range(24)
        for a, b in [(f"fact{i}", "none") if i < hits else ("none", f"fact{i}")]
    ]


RETRIEVED = {("small", "good"): found(20, 4), ("small", "bad"): found(2, 4), ("large", "good"): found(20, 10),
             ("large", "bad"): found(2, 10)}  # fmt: skip
SYSTEMS = {pair: read_items(retrieved, gold=GOLD) for pair, retrieved in RETRIEVED.items()}


@pytest.fixture(scope="module")
def swept():
    return sweep(SYSTEMS, k=[1, 2], matching="contains-words")


def test_values_costs_and_causes(swept) -> None:
    row = swept["small/good@1"]
    assert row.mean == pytest.approx(20 / 24)
    assert (row.tokens, row.tokens_high) == (4, 4)
    assert row.causes == {"covered": 20, "ranked too low": 4}
    assert swept["large/bad@2"].tokens == 20
    assert swept["large/bad@2"].mean == 1
    assert list(swept)[:2] == ["small/good@1", "small/good@2"]


def test_values_are_those_of_evaluate_texts() -> None:
    items = [{**one, **gold} for one, gold in zip(found(9, 6), GOLD, strict=True)]
    made = sweep({"a/b": items}, k=[1, 2], budget=[7, 12], matching="contains-words")
    for row in made.values():
        spelled = f"Cover(tokens={row.setting.budget})@{row.setting.k}"
        assert row.mean == evaluate_texts(items, spelled, matching="contains-words")[spelled]
    assert made["a/b@2 7 tokens"].tokens == 6  # the second text does not fit
    assert made["a/b@2 7 tokens"].causes == {"covered": 9, "over the budget": 15}


def test_frontier_and_cheaper(swept) -> None:
    # 4 tokens: 20/24 and 2/24; 8 tokens: 1, with both retrievers; all others cost more and cover no more.
    assert [row.name for row in swept.values() if row.on_frontier] == ["small/good@1", "small/good@2", "small/bad@2"]
    assert swept["small/bad@1"].support == 0
    assert swept["small/good@2"].support > 0.9
    assert swept.best.name == "small/good@2"
    # All 24 with 8 tokens, 20 with 4: four questions differ, which happens by chance in 2 / 2^4 of cases.
    assert swept.cheaper == ("small/good@1",)


def test_tests_leave_out_the_curve_of_the_baseline(swept) -> None:
    pairs = {pair.b: pair.verdict for pair in swept.compare("small/bad@1").pairs}
    assert "small/bad@2" not in pairs
    assert pairs["small/good@1"] == "better"
    assert pairs["large/bad@1"] == "same"
    effects = swept.tests("small/bad@1").effects
    (effect,) = effects["retriever"].pairs
    assert (effect.a, effect.b, effect.verdict) == ("bad", "good", "better")
    assert effect.difference == pytest.approx((18 / 24 + 0) / 2)  # 18 more at 1, none at 2
    assert effects["chunking"].pairs[0].difference == 0


def test_lengths_that_differ_are_warned_of(swept) -> None:
    codes = [note.code for note in swept.notes]
    assert "different-lengths" in codes  # 8 and 20 words a text
    assert "sweep-by-texts" in codes
    by_budget = sweep(SYSTEMS, budget=[10], matching="contains-words")
    assert "different-lengths" not in [note.code for note in by_budget.notes]


def test_many_settings_are_chosen_on_half() -> None:
    made = sweep(SYSTEMS, budget=[4, 8, 10, 20], matching="contains-words")
    assert len(made) == 16
    assert made.choice is not None
    assert made.choice.questions == 12
    assert made.tests().comparison is None
    assert "sweep-untested" in [note.code for note in made.notes]


def test_evidence_by_place_is_the_same_for_all_chunkings() -> None:
    text = "One two three four. Five six seven eight. Nine ten."
    gold = [{"id": str(i), "evidence": [{"source": "s", "quote": "six"}]} for i in range(4)]
    whole = [{"id": str(i), "retrieved": [{"text": text, "source": "s"}]} for i in range(4)]
    cut = [{"id": str(i), "retrieved": [{"text": text[:19], "source": "s"}, {"text": text[20:41], "source": "s"}]}
           for i in range(4)]  # fmt: skip
    systems = {"whole": read_items(whole, gold=gold), "cut": read_items(cut, gold=gold)}
    made = sweep(systems, k=[1, 2], evidence={"s": text})
    assert made.measure == "EvidenceRecall"
    assert [(row.name, row.mean, row.tokens) for row in made.values()] == [
        ("whole@1", 1, 10), ("whole@2", 1, 10), ("cut@1", 0, 4), ("cut@2", 1, 8),
    ]  # fmt: skip
    assert made["cut@1"].causes == {"ranked too low": 4}


def test_coverage_is_that_of_the_measure_and_of_the_causes() -> None:
    """Three of six letters are retrieved: enough from a coverage of 0.5 on."""
    gold = [{"id": str(i), "evidence": [{"source": "s", "start": 0, "end": 6}]} for i in range(3)]
    results = [{"id": str(i), "retrieved": [{"text": "abc", "source": "s", "start": 0, "end": 3}]} for i in range(3)]
    for coverage, mean, causes in ((0.5, 1.0, {"covered": 3}), (1.0, 0.0, {"unknown": 3})):
        systems = {"half/bm25": read_items(results, gold=gold)}
        swept = sweep(systems, k=[1], evidence=Evidence({"s": "abcdef"}, coverage=coverage))
        assert (swept["half/bm25@1"].mean, dict(swept["half/bm25@1"].causes)) == (mean, causes)


def test_bad_sweeps() -> None:
    other = [{**one, "references": ["else"]} for one in GOLD]
    both = [{**one, **gold} for one, gold in zip(found(3, 4), GOLD, strict=True)]
    wrong = [{**one, **gold} for one, gold in zip(found(3, 4), other, strict=True)]
    with pytest.raises(MismatchError):
        sweep({"a": both, "b": wrong})
    with pytest.raises(OptionError):
        sweep({"a": both}, "Cover@5")
    with pytest.raises(MismatchError):
        read_items(found(3, 4), gold=[{"id": "x", "references": ["y"]}])
    with pytest.raises(OptionError):
        sweep({"a": [{"id": "q", "retrieved_ids": ["d"], "expected_ids": ["d"]}]})


def test_evidence_by_chunking() -> None:
    both = [{**one, **gold} for one, gold in zip(found(3, 4), GOLD, strict=True)]
    systems = {"a/x": both, "b/x": both}
    with pytest.raises(OptionError, match="no such chunking"):
        sweep(systems, evidence={"a": Evidence(), "b": Evidence(), "c": Evidence()})
    with pytest.raises(OptionError, match="no evidence of chunking 'b'"):
        sweep(systems, evidence={"a": Evidence()})
    with pytest.raises(OptionError, match="its ids are chunkings"):
        sweep(systems, evidence={"a": "docs/", "b": "docs/"})
    with pytest.raises(OptionError, match="coverage differs"):
        sweep(systems, evidence={"a": Evidence(coverage=0.5), "b": Evidence()})
    indexes = {name: Evidence(chunks=[{"id": "c", "text": f"fact23 {name}"}]) for name in "ab"}
    swept = sweep({"a/x": both, "b/x": both}, k=1, matching="contains-words", evidence=indexes)
    assert swept["a/x@1"].causes == {"covered": 3, "ranked too low": 21}


def test_settings_are_compared_as_statistics_say(swept) -> None:
    found = swept.compare("small/bad@1", statistics=Statistics(test="t", correction="none", alpha=0.2))
    assert found.statistics.test == "t"
    assert found.statistics.correction == "none"
    assert len(swept.compare().pairs) == 8 * 7 / 2
    with pytest.raises(OptionError, match="no setting is named 'small/bad'"):
        swept.compare("small/bad")
    with pytest.raises(OptionError, match="nothing to compare"):
        sweep({"a": SYSTEMS["small", "good"]}, k=[1, 2], matching="contains-words").compare("a@1")


def test_a_sweep_is_a_mapping_that_says_what_it_lacks(swept) -> None:
    assert len(swept) == 8
    assert repr(swept) == "Sweep('Cover')"
    assert swept["small/good@1"] is next(iter(swept.values()))
    with pytest.raises(KeyError, match="there are: small/good@1"):
        swept["small/good"]


def test_curves_are_among_what_is_shown(swept) -> None:
    assert "first k texts" in str(swept)
    (line,) = [line for line in str(swept).splitlines() if "▇" in line and line.split()[0] == "small/good"]
    assert line.split()[-2:] == ["0.833", "1.000"]  # 20 of 24 with the first text, all with the second
    by_budget = str(sweep(SYSTEMS, k=[1, 2], budget=[4, 8], matching="contains-words"))
    assert "small/good@2" in by_budget.split("budget of tokens")[1]


def test_page_and_table(swept) -> None:
    tests = swept.tests("small/bad@1")
    page = report.page(swept, tests)
    assert page.count("<svg") == 3  # wide, narrow, and how coverage grows
    assert "small/good@1" in page
    assert "Main effect of the retriever" in page
    assert "Against small/bad@1" in plain(report.parts(swept, tests))
    untested = "no setting was named beforehand"
    assert untested in str(swept)
    assert untested not in plain(report.parts(swept, tests))
    hostile = sweep({"<b>/x": read_items(found(3, 4), gold=GOLD)}, k=1, matching="contains-words")
    assert "<b>/x" not in report.page(hostile)


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(points)
def test_frontier_is_what_its_definition_says(drawn) -> None:
    cost, gain = (np.array(column, float) for column in zip(*drawn, strict=True))
    plain = [
        not any(c <= cost[i] and g >= gain[i] and (c < cost[i] or g > gain[i]) for c, g in drawn)
        for i in range(len(drawn))
    ]
    assert frontier(cost, gain).tolist() == plain
    assert support(np.array([cost]), np.array([gain])).tolist() == [float(one) for one in plain]


def test_resamples_are_shared_and_right() -> None:
    values = np.random.default_rng(5).random((2, 400))
    means = resampled_means(np.vstack((values, values[:1])), 2_000, seed=3)
    assert (means[:, 0] == means[:, 2]).all()
    # The standard error of a mean; the bootstrap's differs from it by some 2 % with 2,000 resamples.
    assert means.std(axis=0) == pytest.approx([*(values.std(axis=1) / 20), values[0].std() / 20], rel=0.08)


def test_intervals_of_settings_are_as_wide_as_their_evidence() -> None:
    """Twelve questions whose one reference nothing covers: with a 0 and a 1 added, Student's interval of 14 values."""
    items = [{"id": str(i), "retrieved": ["nothing"], "references": [f"word{i}"]} for i in range(12)]
    found = sweep({"a/b": items}, k=[1], matching="contains-words")
    mean, deviation = 1 / 14, math.sqrt(14 * (1 / 14) * (13 / 14) / 13)
    assert tuple(found.best.interval) == pytest.approx((0.0, mean + 2.160369 * deviation / math.sqrt(14)))
    assert f"{SAMPLES:,} resamples" in str(found)


def test_p_values_of_a_sweep_are_never_0() -> None:
    many = [{"id": str(i), "retrieved": [f"word{i}"], "references": [f"word{i}"]} for i in range(60)]
    none = [{**item, "retrieved": ["nothing"]} for item in many]
    swept = sweep({"a/x": many, "b/x": none}, k=[1], matching="contains-words")
    shown = plain(report.parts(swept, swept.tests("b/x@1")))
    assert "< 0.001" in shown
    assert " 0.000 " not in shown.split("Against")[1]


def test_without_ks_a_sweep_goes_as_deep_as_lists_do() -> None:
    """Lists have two texts, so that 5, 10 and 20 would be the row of 3 again."""
    rows = sweep(SYSTEMS, matching="contains-words").values()
    assert sorted({row.setting.k for row in rows}) == [1, 3]
    deep = sweep(SYSTEMS, k=[20], matching="contains-words")
    assert [row.setting.k for row in deep.values()] == [20] * 4


def test_what_all_systems_lack_is_said_once() -> None:
    text = "Alpha beta gamma. Delta epsilon zeta."
    gold = [
        {"id": f"q{i}", "evidence": [{"source": "s", "quote": "Nowhere to be found at all" if i else "Delta epsilon"}]}
        for i in range(3)
    ]
    places = [{"text": "Alpha beta gamma.", "source": "s", "start": 0, "end": 17}]
    found = [{"id": f"q{i}", "retrieved": places} for i in range(3)]
    items = read_items(found, gold=gold)
    result = sweep({"a/x": items, "b/x": items}, k=[1], evidence=Evidence({"s": text}, unlocated="missed"))
    lost = [note for note in result.notes if note.code == "quotations-lost"]
    assert [(note.about, [sample[:10] for sample in note.samples]) for note in lost] == [
        ("", ["q1: Nowher", "q2: Nowher"])
    ]
