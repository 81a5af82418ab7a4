"""Stages: what is missed before, thrown out, and lost by order."""

from __future__ import annotations

import math

import now_cases
import pytest
from click.testing import CliRunner

import goldrank
from goldrank.staging.stages_command import command

QRELS = {"q": {"a": 2, "b": 1, "c": 1}}
CANDIDATES = {"q": ["x", "b", "y", "a"]}
NAMES = {"ceiling_kept": "kept"}


@pytest.mark.parametrize("case", now_cases.group("stages"))
@pytest.mark.parametrize("measure", ["nDCG", "P", "R", "RR"])
def test_the_reference_cases(case, measure):
    inputs, expected = case["inputs"], case["expected"]
    lists = [{"q": inputs[name]} for name in ("candidates", "reranked")]
    found = goldrank.stages({"q": inputs["qrels"]}, lists, f"{measure}@{inputs['k']}", depth=inputs["depth"])
    for name, value in expected[measure].items():
        mine = sum(found.thrown) if name == "thrown" else getattr(found, NAMES.get(name, name))
        assert mine == (None if value is None else pytest.approx(value, abs=1e-9)), name
    if measure != "nDCG":
        return
    for kind, docs in expected["documents"].items():
        name = "unjudged" if kind == "unjudged_candidates" else kind
        assert sorted(found.documents(name).get("q", ())) == sorted(docs), kind


def test_the_worked_case():
    found = goldrank.stages(QRELS, [CANDIDATES, {"q": ["b", "x", "a"]}], "nDCG@3")
    # Ideal 2 + 1/log2(3) + 1/2 = 3.1309. Candidates: b at 2; output: b at 1, a at 3; best order of both: a, b.
    ideal = 2 + 1 / math.log2(3) + 0.5
    assert found.base == pytest.approx(1 / math.log2(3) / ideal)
    assert found.got == pytest.approx((1 + 1) / ideal)
    assert found.ceiling == pytest.approx((2 + 1 / math.log2(3)) / ideal)
    assert found.perfect == 1
    assert found.documents("promoted") == {"q": ("a",)}
    assert found.documents("never_retrieved") == {"q": ("c",)}


def test_the_parts_add_up_over_several_stages_and_queries():
    qrels = {"q": QRELS["q"], "r": {"d": 1, "e": 3}}
    first = {"q": CANDIDATES["q"], "r": ["d", "x", "e"]}
    second = {"q": ["b", "a"], "r": ["x", "d"]}
    third = {"q": ["a", "c"], "r": ["d"]}  # adds c to q
    found = goldrank.stages(qrels, [first, second, third], "nDCG@3")
    for each in found.per_query:
        lost = each.missed_before + sum(each.thrown) + each.order
        assert each.perfect - each.got == pytest.approx(lost)
    assert found.perfect - found.got == pytest.approx(found.missed_before + sum(found.thrown) + found.order)
    by_query = {each.query: each for each in found.per_query}
    assert len(by_query["q"].thrown) == 2
    assert by_query["q"].added == ("c",)
    assert by_query["r"].thrown_out == ("e",)


def test_hits_change_by_what_is_promoted_added_and_demoted():
    qrels = {"q": dict.fromkeys("abcdef", 1)}
    before, after = ["a", "x", "b", "c", "d"], ["c", "e", "a", "y", "b"]
    found = goldrank.stages(qrels, [{"q": before}, {"q": after}], "P@3")
    count = {kind: found.count(kind) for kind in ("promoted", "added", "demoted")}
    assert count == {"promoted": 1, "added": 1, "demoted": 1}
    assert round(3 * found.got) == round(3 * found.base) + 1 + 1 - 1


def test_taken_is_a_ratio_of_means():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    candidates = {"q": ["x", "a"], "r": ["a", "x"]}
    output = {"q": ["a", "x"], "r": ["x", "a"]}
    found = goldrank.stages(qrels, [candidates, output], "RR@10")
    # q: 1/2 -> 1, r: 1 -> 1/2, both could have 1: nothing gained of 0.25.
    assert found.taken == 0
    assert [each.taken for each in found.per_query] == [1.0, None]
    assert found.taken_interval.low <= 0 <= found.taken_interval.high


def test_depth_cuts_the_candidates():
    found = goldrank.stages(QRELS, [CANDIDATES, {"q": ["b", "x"]}], "nDCG@3", depth=2)
    assert found.ceiling == pytest.approx(1 / (2 + 1 / math.log2(3) + 0.5))
    assert found.documents("never_retrieved") == {"q": ("a", "c")}
    assert found.documents("thrown_out") == {}


def test_a_query_that_a_stage_lacks_is_an_empty_list_and_said():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    found = goldrank.stages(qrels, [{"q": ["a"], "r": ["a"]}, {"q": ["a"]}], "RR")
    assert found.got == 0.5
    assert found.thrown == (0.5,)
    assert [note.code for note in found.notes] == ["stage-without-queries"]


def test_negative_grades_count_as_0():
    found = goldrank.stages({"q": {"a": 1, "z": -1}}, [{"q": ["z", "a"]}, {"q": ["a", "z"]}], "nDCG@2")
    assert found.ceiling == found.got == 1


def test_other_measures_are_refused():
    with pytest.raises(goldrank.MeasureError, match="order by grade"):
        goldrank.stages(QRELS, [CANDIDATES, CANDIDATES], "Bpref")
    with pytest.raises(goldrank.InputError, match="at least two"):
        goldrank.stages(QRELS, [CANDIDATES])


def test_the_command_and_the_chart(tmp_path):
    qrels, candidates, reranked = (tmp_path / name for name in ("a.qrels", "c.run", "r.run"))
    qrels.write_text("q 0 a 2\nq 0 b 1\nq 0 c 1\n")
    candidates.write_text("q Q0 x 1 4 c\nq Q0 b 2 3 c\nq Q0 y 3 2 c\nq Q0 a 4 1 c\n")
    reranked.write_text("q Q0 b 1 3 r\nq Q0 x 2 2 r\nq Q0 a 3 1 r\n")
    chart = tmp_path / "chart.svg"
    arguments = [*map(str, (qrels, candidates, reranked)), "-m", "nDCG@3", "-o", str(chart)]
    ended = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert ended.exit_code == 0
    assert "68% of what the candidates allow" in ended.output
    assert "missed before" in chart.read_text()
