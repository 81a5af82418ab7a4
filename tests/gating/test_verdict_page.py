"""The page of a gate: the box with the word, the number and its picture comes first."""

import pytest

from goldrank import Rules, evaluate, gate
from goldrank.gating.verdict_page import decision
from goldrank.report.show import render

QRELS = {f"q{i}": {"d": 1, **{f"x{j}": 0 for j in range(1, 10)}} for i in range(40)}


def scored(ranks):
    run = {f"q{i}": [*(f"x{j}" for j in range(1, rank)), "d"] for i, rank in enumerate(ranks)}
    return evaluate(QRELS, run, "RR")


BEFORE = [1 + i % 2 for i in range(40)]
LOWER = [1 + i % 2 + 2 * (i % 5 > 0) for i in range(40)]


def test_a_drop_that_fails_opens_with_word_number_and_picture():
    verdict = gate(scored(LOWER), ["RR: -1%"], baseline=scored(BEFORE))
    box = decision(verdict)
    assert (box.word, box.style) == ("fail", "worse")
    assert float(box.value) == pytest.approx(verdict[0].change, abs=5e-5)
    assert box.picture is not None
    assert box.picture.high < box.picture.zone[0] < box.picture.zero
    assert box.picture.zone[0] + box.picture.zone[1] == pytest.approx(box.picture.zero, abs=0.02)

    page = render(verdict, "html")
    assert page.index('class="say worse"') < page.index("It rests on") < page.index("What would change it")
    assert page.index("Read the queries that lost most") < page.index('id="rules"')
    assert 'href="#lost"' in page
    assert 'id="lost"' in page
    assert "<script" not in page


def test_a_deterministic_drop_draws_no_interval():
    lower = [*BEFORE[:36], *[9] * 4]
    verdict = gate(scored(lower), Rules(["RR: -1%"], deterministic=True), baseline=scored(BEFORE))
    box = decision(verdict)
    assert box.word == "fail"
    assert box.picture is None
    assert "Asked of these queries, which need no test" in box.rests_on


def test_a_pass_that_got_worse_says_what_would_fail_it():
    lower = [*BEFORE[:37], 9, 9, 9]
    verdict = gate(scored(lower), ["RR >= 0.1", "RR: -1%"], baseline=scored(BEFORE))
    box = decision(verdict)
    assert (box.word, box.about[:7]) == ("pass", "RR: -1%")
    assert any("deterministic = true" in sentence.text for sentence in box.changes)


def test_a_gate_without_a_baseline_shows_the_value():
    box = decision(gate(scored(BEFORE), ["RR >= 0.8"]))
    assert (box.word, box.value, box.picture) == ("fail", "0.7500", None)
    assert "0 of 1 rule held" in box.rests_on
