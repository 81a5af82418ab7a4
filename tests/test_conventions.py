"""Whose rules: the named conventions against the tools they are named after, and why two of them differ."""

from __future__ import annotations

import json
import math
import pickle
import random
import re

import pytest

from goldrank import History, Runs, Scores, compare, evaluate, explain_difference, gate
from goldrank.cli import run as goldrank
from goldrank.conventions import NAMES, convention_of
from goldrank.conventions.tool import Tool
from goldrank.data.scores import ScoresByRun


def test_all_of_them_are_there():
    tools = {"trec_eval-10", "trec_eval-9", "ranx", "sklearn", "torchmetrics", "lightgbm", "xgboost", "beir", "chroma"}
    compatible = {"axion", "lesson", "remem", "continuous_eval", "ir_eval_numba"}  # tests/compat/test_conventions.py
    compatible |= {"continuous_eval_released"}
    assert set(NAMES) == tools | compatible


@pytest.mark.slow
def test_sklearn():
    from sklearn.metrics import ndcg_score

    rng = random.Random(0)
    for _ in range(100):
        size = rng.randint(2, 9)
        grades = [rng.randint(0, 3) for _ in range(size)]
        scores = [rng.randint(0, 3) for _ in range(size)]
        # A judged document that was not returned does not exist for scikit-learn.
        qrels = {"q": {**{str(i): grade for i, grade in enumerate(grades)}, "missed": 3}}
        run = {"q": {str(i): score for i, score in enumerate(scores)}}
        ours = evaluate(qrels, run, "nDCG@3", convention="sklearn", overlap="allow")
        assert next(iter(ours.mean.values())) == pytest.approx(ndcg_score([grades], [scores], k=3), abs=1e-12)


def test_torchmetrics_divides_by_what_it_sees():
    # r n r with one relevant document missed: (1 + 2/3) / 2, where trec_eval divides by 3.
    scores = evaluate({"q": {"a": 1, "c": 1, "d": 1}}, {"q": ["a", "b", "c"]}, ["AP", "R@1"], convention="torchmetrics")
    assert list(scores.mean.values()) == [(1 + 2 / 3) / 2, 1 / 2]


def test_beir_leaves_out_queries_without_results():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    assert evaluate(qrels, {"q1": ["a"]}, "R@1", convention="beir")["R@1"] == 1.0
    assert evaluate(qrels, {"q1": ["a"]}, "R@1")["R@1"] == 0.5


def cells(result):
    """What is printed, line by line, as the texts of its cells."""
    return [re.split(r"\s{2,}", line.strip()) for line in str(result).splitlines()]


def test_difference_names_the_rule():
    qrels = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"x": 1.0}}
    found = explain_difference(qrels, run, "AP", "trec_eval-10", "torchmetrics")
    # (1 + 2/3) / 3 and (1 + 2/3) / 2 in the first query, nothing in the second.
    assert found.values == pytest.approx((5 / 9 / 2, 5 / 6 / 2))
    first = found.rules[0]
    assert (first.name, first.first, first.second) == ("divisor", "relevant", "hits")
    assert found.rules[0].alone == pytest.approx(5 / 6 / 2)
    assert ["divisor", "relevant", "hits", "0.4167", "+0.1389"] in cells(found)
    assert "without effect here: ties" in str(found)


def test_difference_of_a_spelled_option_stays():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a"]}
    found = explain_difference(qrels, run, 'AP(divisor="min")@1', "trec_eval-10", "torchmetrics")
    assert found.values == (1.0, 1.0)
    assert "divisor" not in {rule.name for rule in found.rules}
    assert "None of the" in str(found)


def test_difference_knows_what_is_counted_of_repeated_documents():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "a", "b"]}
    found = explain_difference(qrels, run, "nDCG@3", "axion", "lesson")
    # a, nothing new, b: 1 + 1/2; a each time: 1 + 0.63 + 1/2, which is the ideal of three.
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert found.values == pytest.approx((1.5 / ideal, 1.0))
    assert [(rule.name, rule.first, rule.second) for rule in found.rules if rule.alone != found.values[0]] == [
        ("repeats", "counts where it first stands", "counts at every rank, as another document each time")
    ]


def test_difference_shows_errors():
    found = explain_difference({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"]}, "RR", "trec_eval-10", "ranx")
    assert found.values[0] == 0.5
    assert math.isnan(found.values[1])
    (line,) = [line for line in cells(found) if line[0] == "missing"]
    assert line[1:3] == ["zero", "error"]
    assert line[3].startswith("1 judged queries are not in the run")


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1 t\n")
    arguments = ["explain", "qrels", "run", "-m", "RR", "-m", "P@1"]
    assert goldrank([*arguments, "--convention", "trec_eval-10", "--convention", "trec_eval-9"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"missing +zero +skip +1.0000 +\+0.5000\n", text)
    assert text.count("trec_eval-9   1.0000") == 2
    assert goldrank([*arguments, "--convention", "trec_eval-10", "--convention", "nobody"]) == 2


# A column is found by what was asked for, whatever options the convention added to its name.

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUNS = {"one": {"q1": ["a", "x"], "q2": ["y", "c"]}, "two": {"q1": ["x", "y"], "q2": ["c", "y"]}}
ASKED = ["P@1", "R@2", "nDCG@2", "AP", "RR", "Success@2", "DCG"]
OWN = convention_of(Tool("own", options={"nDCG": {"gain": "exp2", "cut_ideal": False}, "P": {"divisor": "retrieved"}}))


@pytest.mark.parametrize("convention", [*NAMES, OWN], ids=str)
def test_a_column_is_found_by_what_was_asked(convention, tmp_path):
    scores = evaluate(QRELS, RUNS["one"], ASKED, convention=convention)
    scores.save(tmp_path / "scores.json")
    by_run = evaluate(QRELS, Runs(RUNS), ASKED, convention=convention)
    by_run.save(tmp_path / "runs.json")
    with History(tmp_path / "history.db") as history:
        recorded = history.scores(history.record(scores))
    again = [
        Scores.load(tmp_path / "scores.json"),
        ScoresByRun.load(tmp_path / "runs.json")["one"],
        by_run["one"],
        recorded,
        pickle.loads(pickle.dumps(scores)),
        Scores.merge([scores]),
    ]
    for measure, full in zip(ASKED, scores.measures, strict=True):
        assert scores[measure] == scores[full]
        assert measure in scores
        for other in again:
            assert other[measure] == scores[full]
            assert other.mean[measure] == other.mean[full]
            assert other.per_query[measure] == scores.per_query[full]
            assert (other.n[measure], other.std[measure]) == (scores.n[full], scores.std[full])
    # What was not asked for is not found, though a column of the same name has other options.
    with pytest.raises(KeyError):
        scores["nDCG(gain={0: 1, 1: 3})@2"]
    with pytest.raises(KeyError):
        scores.mean["P@7"]


def test_an_option_that_was_asked_for_is_not_left_out():
    scores = evaluate(QRELS, RUNS["one"], ["P(rel=2)@1"], convention="axion")
    assert "P@1" not in scores
    assert "P(rel=2)@1" in scores


@pytest.mark.parametrize("convention", ["axion", "sklearn", "ir_eval_numba", OWN], ids=str)
def test_comparisons_and_gates_find_it_too(convention, tmp_path):
    both = evaluate(QRELS, Runs(RUNS), ["P@1", "nDCG@2"], convention=convention)
    compared = compare(both, primary="nDCG@2")
    assert compared.measures == (both["one"].spelled("nDCG@2"), both["one"].spelled("P@1"))
    assert compared["P@1", "one", "two"].difference == both["two"]["P@1"] - both["one"]["P@1"]
    assert compared["nDCG@2", "one", "two"].difference == both["two"]["nDCG@2"] - both["one"]["nDCG@2"]
    verdict = gate(both["one"], rules=["P@1 >= 0.5", "nDCG@2: -1%"], baseline=both["one"])
    assert [finding.status for finding in verdict.findings] == ["pass", "pass"]
    assert "the run is the same as the baseline" in verdict[1].words


def test_the_command_line_finds_it_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    # A document that the list repeats: allowed by the convention, not by goldrank's own.
    (tmp_path / "run.json").write_text(json.dumps({"q1": ["a", "a"], "q2": ["c"]}))
    arguments = ["qrels.json", "run.json", "-m", "P@1"]
    assert goldrank(["eval", *arguments, "--convention", "axion"]) == 0
    assert "1.0000" in capsys.readouterr().out
    assert goldrank(["eval", *arguments]) == 2
    assert goldrank(["gate", "qrels.json", "run.json", "--convention", "axion", "--rule", "P@1 >= 0.5"]) == 0
    assert goldrank(["record", *arguments, "--convention", "axion", "--db", "history.db"]) == 0
    assert goldrank(["history", "-m", "P@1", "--db", "history.db"]) == 0


def test_ranx_means_what_others_sum():
    """Two and one relevant documents found: ranx's hits is 1.5 (`ranx.evaluate(..., "hits")`), trec_eval's sum 3."""
    qrels, run = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}, {"q1": ["a", "b", "x"], "q2": ["x", "c"]}
    scores = evaluate(qrels, run, "NumRelRet", convention="ranx")
    assert (scores["NumRelRet"], scores.columns["NumRelRet"].average) == (1.5, "mean")
    assert evaluate(qrels, run, "NumRelRet")["NumRelRet"] == 3
    found = explain_difference(qrels, run, "NumRelRet", "trec_eval-10", "ranx")
    assert [rule.name for rule in found.rules if rule.matters] == ["averaged"]
    (line,) = [line for line in cells(found) if line[0] == "the summary over queries"]
    assert line[1:4] == ["is the measure's own", "is a mean", "1.5000"]


def test_beirs_own_measures_with_a_document_of_the_querys_id() -> None:
    """After `evaluate`, which drops it, `evaluate_custom` does not see it; alone it does: docs/migrating.md."""
    qrels, run = {"a": {"b": 1}}, {"a": {"a": 2.0, "b": 1.0}}
    assert evaluate(qrels, run, "RR@10", convention="beir")["RR@10"] == 1.0
    qrels, run = ({f"q-{query}": docs for query, docs in table.items()} for table in (qrels, run))  # type: ignore[assignment]
    assert evaluate(qrels, run, "RR@10", convention="beir")["RR@10"] == 0.5
