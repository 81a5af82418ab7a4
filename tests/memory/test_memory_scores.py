"""Memory benchmarks: the numbers of their own scripts from their own files."""

from __future__ import annotations

import json
import re

import now_cases
import pytest

import goldrank
from goldrank.memory import longmemeval, memorybench, mempalace


def close(value):
    return pytest.approx(value, abs=1e-9)


def by_level(values):
    nested = {"session": {}, "turn": {}}
    for name, value in values.items():
        level, measure = name.split(" ")
        nested[level][measure] = value
    return nested


@pytest.mark.parametrize("case", now_cases.group("longmemeval"))
def test_longmemeval(case):
    inputs, expected = case["inputs"], case["expected"]
    if "record" in inputs:
        (values,) = goldrank.memory_scores([inputs["record"]], "longmemeval").per_question.values()
        found = by_level(values)
        assert found == {level: close(expected[level]) for level in found}
        return
    found = goldrank.memory_scores(inputs["records"], "longmemeval")
    means = by_level(found.mean)
    assert means == {level: close(expected["run_retrieval"][level]) for level in means}
    assert list(found.left_out.get(longmemeval.ABSTAINING, ())) == expected["ignored_abstention"]
    assert list(found.left_out.get(longmemeval.NO_TARGET, ())) == expected["ignored_no_target"]
    printed = by_level(longmemeval.printed(found))
    sessions, turns = expected["print_retrieval_metrics_stdout"].split("Turn-level")
    for level, text in (("session", sessions), ("turn", turns)):
        for name, value in re.findall(r"(\w+@\d+) = ([\d.]+)", text):
            assert round(printed[level][name], 4) == float(value), name


def test_longmemeval_says_the_other_average():
    (case,) = (case for case in now_cases.CASES if case["id"] == "lme-file-session-mixed")
    found = goldrank.memory_scores(case["inputs"]["records"], "longmemeval")
    assert found["session ndcg_any@5"] == 1
    (note,) = (note for note in found.notes if note.code == "memory-other-average")
    assert "ndcg_any@5 0.5000" in str(note)


def test_a_file_without_an_ending_and_its_own_values(tmp_path):
    (case,) = (case for case in now_cases.CASES if case["id"] == "lme-sess-1")
    record = json.loads(json.dumps(case["inputs"]["record"]))
    record["retrieval_results"]["metrics"] = json.loads(json.dumps(case["expected"]))
    file = tmp_path / "x_retrievallog_session_flat-bm25"
    file.write_text(json.dumps(record) + "\n" + json.dumps(record | {"question_id": "other"}) + "\n")
    found = goldrank.memory_scores(file, "longmemeval")
    assert len(found.per_question) == 2
    assert not found.notes
    record["retrieval_results"]["metrics"]["session"]["recall_any@5"] = 0.5
    assert [note.code for note in goldrank.memory_scores([record], "longmemeval").notes] == ["memory-other-values"]


def test_the_first_two_places_count_the_same():
    """s2, answer_a, s1: the gold document is second, and nDCG is 1."""
    (case,) = (case for case in now_cases.CASES if case["id"] == "lme-sess-1")
    found = goldrank.memory_scores(case["inputs"]["record"], "longmemeval")
    assert found["session ndcg_any@3"] == 1


@pytest.mark.parametrize("case", now_cases.group("locomo"))
def test_locomo(case):
    expected = case["expected"]
    found = goldrank.memory_scores({"qa": case["inputs"]["qa"]}, "locomo")
    assert [values["recall"] for values in found.per_question.values()] == close(expected["per_question"])
    assert {group: values["recall"] for group, values in found.groups.items()} == close(expected["recall_by_category"])
    assert found["recall"] == close(expected["overall"])


def test_locomo_by_hand():
    qa = [{"evidence": ["D1:3", "D2:8"], "category": 1, "m_prediction_context": ["D1:3", "D4:1", "D9:9"]}]
    assert goldrank.memory_scores({"qa": qa}, "locomo")["recall"] == 0.5
    qa[0]["m_prediction_context"] = []  # the original fails
    assert goldrank.memory_scores({"qa": qa}, "locomo")["recall"] == 0
    qa[0]["evidence"] = ["D8:6; D9:17"]
    assert "locomo-broken-evidence" in [note.code for note in goldrank.memory_scores({"qa": qa}, "locomo").notes]


@pytest.mark.parametrize("case", now_cases.group("mempalace"))
def test_mempalace(case):
    inputs, expected = case["inputs"], case["expected"]
    if "evidence" in inputs:
        assert mempalace.evidence_recall(inputs["evidence"], inputs["retrieved_ids"]) == close(expected["recall"])
        return
    items = [{"corpus_id": name} for name in inputs["corpus_best_first"]]
    record = {"question_id": inputs["question_id"], "retrieval_results": {"ranked_items": items}}
    gold = [{"question_id": inputs["question_id"], "answer_session_ids": inputs["answer_session_ids"]}]
    found = by_level(goldrank.memory_scores([record], "mempalace", gold=gold).mean)
    assert found == {level: close(expected[level]) for level in found}


def test_mempalace_asks_for_the_data_set():
    record = {"question_id": "q", "retrieval_results": {"ranked_items": [{"corpus_id": "a"}]}}
    with pytest.raises(goldrank.InputError, match="which sessions hold the answer"):
        goldrank.memory_scores([record], "mempalace")


@pytest.mark.parametrize("case", now_cases.group("memorybench"))
def test_memorybench(case):
    inputs = case["inputs"]
    is_readable = inputs["judge_reply"].startswith("[")
    judged = inputs["judged"] if is_readable else [0] * len(inputs["judged"])
    assert memorybench.values_of(judged, inputs["k"]) == close(case["expected"])


def test_a_report_of_memorybench_never_says_recall():
    metrics = {"hitAtK": 1, "precisionAtK": 0.5, "recallAtK": 1, "mrr": 0.5, "ndcg": 0.6}
    evaluation = {"questionId": "q", "label": "correct", "searchDurationMs": 12, "retrievalMetrics": metrics}
    found = goldrank.memory_scores({"evaluations": [evaluation]}, "memorybench")
    assert found["hitAtK"] == found["correct"] == 1
    assert "recallAtK" not in found.mean


@pytest.mark.parametrize("convention", ["longmemeval", "locomo", "memorybench"])
def test_a_file_of_another_benchmark_is_an_error(convention):
    with pytest.raises(goldrank.InputError):
        goldrank.memory_scores([{"question_id": "q"}], convention)
