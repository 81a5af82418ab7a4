"""Judges as matchers of texts: through the job, the cache and the log that judges of documents have."""

from __future__ import annotations

import json
import sqlite3
import sys

import pytest
from chat_server import KEY, fields, serving
from raising import raises_code

import goldrank
from goldrank import Answers, Matching, evaluate_texts
from goldrank.base.errors import GoldrankError, InputError, JudgeError, OptionError
from goldrank.judging.command import Command
from goldrank.judging.endpoint import Endpoint
from goldrank.judging.function import Function
from goldrank.judging.judge_matcher import JudgeMatcher
from goldrank.judging.log import JudgementLog
from goldrank.judging.pool_and_calls import Calls
from goldrank.match import matcher as as_matcher

ITEMS = [
    {"query": "1", "question": "When?", "retrieved": ["Built in 1889.", "Rome."], "references": ["in 1889", "Rome"]},
    {"query": "2", "question": "Who?", "retrieved": ["x", "Rome."], "references": ["Rome"]},
]
# Pairs of text and reference that match: (Built in 1889., in 1889), (Rome., Rome) for 1 and for 2.
COVER_1 = (1 / 2 + 0) / 2
COVER_2 = 1.0
PAIRS = 2 * 2 + 2 * 1


def holds(question, text, reference):
    return int(reference in text)


def mine(**more):
    return Function(holds, scale=(0, 1), name="mine", **more)


def said(body, label, *, status=200, usage=True):
    """A sound answer to the prompt `support`."""
    marker, _ = fields(body)
    content = json.dumps({"marker": marker, "reason": "so", "label": label})
    found = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    if usage:
        found["usage"] = {"prompt_tokens": 200, "completion_tokens": 10}
    return status, {}, json.dumps(found)


def supports(body, number=0):
    _, values = fields(body)
    return said(body, "support" if values["statement"] in values["text"] else "not_support")


def test_a_judge_is_a_matcher(tmp_path):
    asked = []

    def noting(question, text, reference):
        asked.append((question, text, reference))
        return int(reference in text)

    judge = Function(noting, scale=(0, 1), name="mine")
    found = evaluate_texts(
        ITEMS, ["Cover@1", "Cover@2"], matching=Matching(JudgeMatcher(judge, calls=Calls(tmp_path / "log.db")))
    )
    assert found.mean == {"Cover@1": COVER_1, "Cover@2": COVER_2}
    # The same text and reference for two questions are two pairs: the judge sees the question.
    assert sorted(asked) == sorted(
        (item["question"], text, reference)
        for item in ITEMS for text in item["retrieved"] for reference in item["references"]
    )  # fmt: skip
    (note,) = [note for note in found.notes if note.code == "judge-decided"]
    assert (dict(note.facts)["count"], dict(note.facts)["log"]) == (PAIRS, 0)
    assert "judge:mine:1" in found.convention


def test_a_judge_itself_is_taken_where_a_matcher_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert evaluate_texts(ITEMS, "Cover@1", matching=Matching(mine()))["Cover@1"] == COVER_1
    assert (tmp_path / "judgements.db").exists()


def test_nothing_is_asked_twice(tmp_path):
    with serving(supports) as chat:
        judge = Endpoint("m", chat.url, prompt="support")
        matcher = JudgeMatcher(judge, calls=Calls(tmp_path / "log.db"))
        first = evaluate_texts(ITEMS, ["Cover@1", "RR"], matching=Matching(matcher))
        assert len(chat.requests) == PAIRS
        again = evaluate_texts(
            ITEMS, ["Cover@1", "RR"], matching=Matching(JudgeMatcher(judge, calls=Calls(tmp_path / "log.db")))
        )
        assert len(chat.requests) == PAIRS
        assert again.mean == first.mean == {"Cover@1": COVER_1, "RR": (1 + 1 / 2) / 2}
        assert again.explain("1").matched.tolist() == [[True, False], [False, True]]
        assert len(chat.requests) == PAIRS
    notes = [note for note in again.notes if note.code == "judge-decided"]
    assert [(dict(note.facts)["count"], dict(note.facts)["log"]) for note in notes] == [(PAIRS, PAIRS)]


def test_decisions_on_texts_are_no_judgements_of_documents(tmp_path):
    evaluate_texts(ITEMS, "Cover@1", matching=Matching(JudgeMatcher(mine(), calls=Calls(tmp_path / "log.db"))))
    with JudgementLog(tmp_path / "log.db") as log, raises_code(InputError, "nothing-to-export"):
        log.qrels(by="any")
    with sqlite3.connect(tmp_path / "log.db") as db:
        assert db.execute("SELECT count(*) FROM answered").fetchone() == (PAIRS,)


def test_partial_support_is_a_match_from_its_threshold_on(tmp_path):
    with serving(lambda body, number: said(body, "partial_support")) as chat:
        judge = Endpoint("m", chat.url, prompt="support")
        for threshold, value in ((None, 0.0), (0.5, 1.0), (0.6, 0.0)):
            matcher = JudgeMatcher(judge, threshold, calls=Calls(tmp_path / "log.db"))
            assert evaluate_texts(ITEMS, "Cover@2", matching=Matching(matcher))["Cover@2"] == value
        assert len(chat.requests) == PAIRS


def test_pairs_without_an_answer_are_never_guessed(tmp_path):
    def faulty(body, number):
        _, values = fields(body)
        return said(body, "maybe") if values["text"] == "x" else supports(body)

    with serving(faulty) as chat:
        judge = Endpoint("m", chat.url, prompt="support")
        with raises_code(JudgeError, "pairs-unanswered", match="1 of 6") as caught:
            evaluate_texts(ITEMS, "Cover@1", matching=Matching(JudgeMatcher(judge, calls=Calls(tmp_path / "log.db"))))
        assert caught.value.code == "pairs-unanswered"
        assert len(chat.requests) == PAIRS + 1  # the unreadable one was asked for twice
        matcher = JudgeMatcher(judge, calls=Calls(tmp_path / "log.db"), unanswered="no")
        found = evaluate_texts(ITEMS, "Cover@1", matching=Matching(matcher))
        assert len(chat.requests) == PAIRS + 1
    counts = {note.code: dict(note.facts).get("count") for note in found.notes}
    assert (counts["no-answer-no-match"], counts["answers-unreadable"]) == (1, 1)


def test_a_budget_stops_in_time_and_what_was_answered_stays(tmp_path):
    with pytest.raises(JudgeError) as caught:
        evaluate_texts(
            ITEMS, "Cover@1", matching=Matching(JudgeMatcher(mine(), calls=Calls(tmp_path / "log.db", max_calls=2)))
        )
    assert caught.value.code == "pairs-unanswered"
    found = evaluate_texts(
        ITEMS, "Cover@1", matching=Matching(JudgeMatcher(mine(), calls=Calls(tmp_path / "log.db", max_calls=PAIRS - 2)))
    )
    assert found["Cover@1"] == COVER_1


def test_a_command_is_a_matcher(tmp_path):
    program = tmp_path / "judge.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin:\n"
        "    r = json.loads(line)\n"
        "    print(json.dumps({'id': r['id'], 'grade': int(r['reference'] in r['text'])}), flush=True)\n"
    )
    judge = Command([sys.executable, str(program)], scale=(0, 1))
    found = evaluate_texts(ITEMS, "Cover@1", matching=Matching(JudgeMatcher(judge, calls=Calls(tmp_path / "log.db"))))
    assert found["Cover@1"] == COVER_1


def test_probabilities_need_a_threshold(tmp_path):
    with raises_code(OptionError, "no-threshold"):
        JudgeMatcher(Function(lambda question, text: 0.5, scale=None))
    sure = Function(lambda question, text, reference: 0.6 if reference in text else 0.2, scale=None)
    found = evaluate_texts(
        ITEMS, "Cover@1", matching=Matching(JudgeMatcher(sure, 0.6, calls=Calls(tmp_path / "log.db")))
    )
    assert found["Cover@1"] == COVER_1


def test_the_spelling(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with raises_code(OptionError, "no-endpoint"):
        as_matcher("judge:llama3:8b")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    one = as_matcher("judge:llama3:8b")
    assert (one.judge.model, one.threshold, one.judge.prompt.name) == ("llama3:8b", 1.0, "support")
    two = as_matcher("judge(base_url='http://localhost:1/v1', calls={'prices': (1, 2)}, unanswered='no'):big/model:0.5")
    assert two.calls == Calls(prices=(1, 2))
    assert (two.judge.model, two.threshold, two.judge.url) == (
        "big/model", 0.5, "http://localhost:1/v1/chat/completions",
    )  # fmt: skip
    spelled = ("judge", "ask", "judge(no_such=1):m", "judge(unanswered='yes'):m", "judge:m:7")
    for wrong in (*spelled, *(f"judge(calls={calls}):m" for calls in ("{'max_cal': 1}", "{'dry_run': True}", "3"))):
        with pytest.raises(GoldrankError):
            as_matcher(wrong)


def test_context_precision_and_recall_by_judge(tmp_path):
    items = [{"query": "1", "question": "?", "retrieved": ["no", "It rains. x"], "reference": "It rains. It pours."}]
    asked = []

    def judged(question, text, reference):
        asked.append((text, reference))
        return int(reference in text)

    judge = JudgeMatcher(Function(judged, scale=(0, 1)), calls=Calls(tmp_path / "log.db"))
    found = evaluate_texts(items, ["context_precision", "context_recall"], answers=Answers(judge=judge))
    assert list(found.mean.values()) == [0.5, 0.5]
    assert len(asked) == 4
    assert [note.code for note in found.notes].count("judge-decided") == 1


@pytest.mark.parametrize("by", ["judge", "ask", "matcher"])
def test_claims_of_an_answer_supported_or_not(tmp_path, by):
    items = [
        {"query": "1", "retrieved": ["no", "It rains."], "response": "It rains. It pours. It rains.", "reference": "x"},
        {"query": "2", "retrieved": ["It is so."], "response": "It is so."},
        {"query": "3", "retrieved": ["It is so."], "response": ""},
    ]
    for item in items:
        item["references"] = ["y"]
    judge = JudgeMatcher(mine(), calls=Calls(tmp_path / "log.db")) if by == "judge" else None
    found = evaluate_texts(items, "faithfulness", matching="contains", answers=Answers(judge=judge))
    # 1: two of its three sentences, one of which is repeated, so one of two claims; 2: all; 3: no claims, no value.
    assert found.column("Faithfulness").values == pytest.approx([0.5, 1.0, float("nan")], nan_ok=True)
    assert found["Faithfulness"] == 0.75


def test_keys_are_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def refuses(body, number):
        return 401, {}, json.dumps({"error": {"message": f"wrong key {KEY}"}})

    with serving(refuses) as chat:
        matcher = JudgeMatcher("m", base_url=chat.url, calls=Calls(tmp_path / "log.db"))
        with pytest.raises(JudgeError) as caught:
            evaluate_texts(ITEMS, "Cover@1", matching=Matching(matcher))
    assert KEY not in str(caught.value) + repr(matcher) + str(matcher)
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_matchers_agree_with_people_as_any_other(tmp_path):
    labels = [{"retrieved": "in 1889 it was", "reference": "in 1889", "label": True},
              {"retrieved": "never", "reference": "in 1889", "label": False}]  # fmt: skip
    found = goldrank.matcher_agreement(labels, [JudgeMatcher(mine(), calls=Calls(tmp_path / "log.db"))])
    assert found


def mean_of(capsys, measure):
    return json.loads(capsys.readouterr().out)["measures"][measure]["summary"]


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    from goldrank.cli import run

    monkeypatch.chdir(tmp_path)
    data = [{**item, "response": "Rome. It never was."} for item in ITEMS]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in data))
    with serving(supports) as chat:
        monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
        words = ["texts", "items.jsonl", "--as", "json", "-m"]
        assert run([*words, "Cover@1", "--matching", "judge:m"]) == 0
        assert mean_of(capsys, "Cover@1") == COVER_1
        assert run([*words, "Faithfulness", "--judge", "judge:m"]) == 0
        assert mean_of(capsys, "Faithfulness") == 0.5
