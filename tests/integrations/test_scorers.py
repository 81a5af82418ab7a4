"""Scorers of other tools: the values of one question, and what each tool gets. Values are worked out by hand.

They were tried with mlflow 3.17.2 (`mlflow.genai.evaluate`, with outputs and with spans of retrievers), weave 0.54.0
(`weave.Evaluation`), promptfoo 0.123.1 (`promptfoo eval`), langfuse 5.0.4 and arize-phoenix-client 3.5.0 (to a local
server). Where a package is not installed here, a stand-in has the functions of it that are called.
"""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import pytest

from goldrank import InputError, MeasureError, evaluate
from goldrank.integrations import langfuse, mlflow, phoenix, promptfoo, weave
from goldrank.integrations.one_question import question_values

# d1 is the one expected document, second of two: RR is 1/2, R@1 is 0, R@2 is 1.
RETRIEVED = [
    ["x", "d1"],
    {"retrieved_ids": ["x", "d1"]},
    '{"retrieved_ids": ["x", "d1"]}',
    '["x", "d1"]',
    [{"id": "x", "score": 2}, {"id": "d1"}],
    {"documents": [{"metadata": {"doc_uri": "x"}}, {"id": None, "metadata": {"doc_uri": "d1"}}]},
    ["x", "x", "d1"],
]
EXPECTED = [["d1"], {"d1": 1}, {"expected_ids": ["d1"]}, '["d1"]', [{"id": "d1", "grade": 1}]]
EXPECTED += [{"expected_retrieved_context": [{"doc_uri": "d1"}]}]


@pytest.mark.parametrize("retrieved", RETRIEVED)
@pytest.mark.parametrize("expected", EXPECTED)
def test_one_question(retrieved, expected):
    assert question_values(retrieved, expected, ["RR", "R@1", "R@2"]) == {"RR": 0.5, "R@1": 0.0, "R@2": 1.0}


def test_grades_count():
    """DCG is 3/log2(3), the ideal 3/1: nDCG is 1/log2(3) = 0.63093."""
    value = question_values(["x", "d1"], [{"id": "d1", "grade": 3}], ["nDCG@10"])["nDCG@10"]
    assert value == pytest.approx(0.6309297535714574)


def test_nothing_found_is_zero():
    assert question_values(["x"], ["d1"], ["RR"]) == {"RR": 0.0}
    assert question_values([], ["d1"], ["RR"]) == {"RR": 0.0}


@pytest.mark.parametrize(
    ("retrieved", "expected"),
    [({"answer": "?"}, ["d1"]), ("an answer", ["d1"]), (["d1"], []), ([{"text": "?"}], ["d1"]), (["d1"], {"a": "b"})],
)
def test_what_has_no_ids_is_no_zero(retrieved, expected):
    with pytest.raises(InputError) as caught:
        question_values(retrieved, expected, ["RR"])
    assert caught.value.code == "no-ids"


# MLflow.


class _Feedback(types.SimpleNamespace):
    pass


@pytest.fixture
def fake_mlflow(monkeypatch):
    """The functions of mlflow that the scorer calls."""
    modules = {name: types.ModuleType(name) for name in ("mlflow", "mlflow.genai", "mlflow.genai.scorers")}
    entities = types.ModuleType("mlflow.entities")
    entities.Feedback = _Feedback  # type: ignore[attr-defined]
    scorers: Any = modules["mlflow.genai.scorers"]
    scorers.scorer = lambda function, **options: function
    for name, module in {**modules, "mlflow.entities": entities}.items():
        monkeypatch.setitem(sys.modules, name, module)


def test_mlflow_has_a_feedback_for_each_measure(fake_mlflow):
    score = mlflow.scorer("RR", "R@1")
    feedback = score(outputs={"retrieved_ids": ["x", "d1"]}, expectations={"expected_ids": ["d1"]})
    assert [(one.name, one.value) for one in feedback] == [("rr", 0.5), ("r_at_1", 0.0)]
    wrong = score(outputs="an answer", expectations={"expected_ids": ["d1"]})
    assert all(isinstance(one.error, InputError) for one in wrong)


def test_mlflow_reads_the_spans_of_retrievers(fake_mlflow):
    span = types.SimpleNamespace(outputs=[{"id": "x"}, {"metadata": {"doc_uri": "d1"}}])
    trace = types.SimpleNamespace(search_spans=lambda span_type: [span] * (span_type == "RETRIEVER"))
    (feedback,) = mlflow.scorer("RR")(outputs="an answer", expectations={"expected_ids": ["d1"]}, trace=trace)
    assert feedback.value == 0.5


def test_a_measure_that_is_none_is_refused_at_once(fake_mlflow):
    with pytest.raises(MeasureError):
        mlflow.scorer("nDGC@10")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_itself(tmp_path):
    genai = pytest.importorskip("mlflow.genai", exc_type=ImportError)
    package = pytest.importorskip("mlflow")
    if not hasattr(genai, "evaluate"):
        pytest.skip("this mlflow has no evaluations")
    package.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    data = [{"inputs": {"q": "a"}, "outputs": ["x", "d1"], "expectations": {"expected_ids": ["d1"]}}]
    try:
        result = genai.evaluate(data=data, scorers=[mlflow.scorer("RR")])
    except (ImportError, package.MlflowException) as error:
        pytest.skip(f"this mlflow cannot evaluate: {error}")
    assert result.metrics["rr/mean"] == 0.5


# Weave and promptfoo.


def test_weave(monkeypatch):
    fake: Any = types.ModuleType("weave")
    fake.op = lambda **options: lambda function: function
    monkeypatch.setitem(sys.modules, "weave", fake)
    assert weave.scorer("RR", "R@1")({"retrieved_ids": ["x", "d1"]}, ["d1"]) == {"RR": 0.5, "R@1": 0.0}


def test_promptfoo():
    context = {"vars": {"expected_ids": '["d1"]'}, "config": {"measures": ["RR", "R@2"], "threshold": 0.5}}
    result = promptfoo.get_assert('{"retrieved_ids": ["x", "d1"]}', context)
    assert (result["pass"], result["score"], result["namedScores"]) == (True, 0.5, {"RR": 0.5, "R@2": 1.0})
    context["config"]["threshold"] = 0.6
    assert promptfoo.get_assert('["x", "d1"]', context)["pass"] is False
    json.dumps(result)


@pytest.mark.parametrize(
    ("output", "context"),
    [
        ("an answer", {"vars": {"expected_ids": ["d1"]}}),
        ('["d1"]', {"vars": {}}),
        ('["d1"]', {"vars": {"expected_ids": ["d1"]}, "config": {"measures": ["nonsense"]}}),
        ('["d1"]', {"vars": {"expected_ids": ["d1"]}, "config": {"threshold": "high"}}),
    ],
)
def test_promptfoo_fails_with_the_reason(output, context):
    result = promptfoo.get_assert(output, context)
    assert result["pass"] is False
    assert result["reason"].startswith("goldrank: ")


# Langfuse and Phoenix.

SCORES = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["x", "a"], "q2": ["b"]}, ["RR"])


def test_langfuse():
    sent = []
    client = types.SimpleNamespace(create_score=lambda **fields: sent.append(fields), flush=lambda: sent.append("end"))
    assert langfuse.push(SCORES, {"q1": "trace-1"}, client=client) == 1
    assert sent[0] == {
        "name": "RR", "value": 0.5, "trace_id": "trace-1", "data_type": "NUMERIC", "comment": SCORES.signature("RR"),
    }  # fmt: skip
    assert sent[1:] == ["end"]


def test_phoenix():
    sent: list[dict[str, Any]] = []
    spans = types.SimpleNamespace(log_span_annotations=lambda span_annotations: sent.extend(span_annotations))
    assert phoenix.push(SCORES, {"q2": "ab12", "q9": "cd34"}, client=types.SimpleNamespace(spans=spans)) == 1
    assert sent == [
        {
            "span_id": "ab12",
            "name": "RR",
            "annotator_kind": "CODE",
            "result": {"score": 1.0},
            "metadata": {"signature": SCORES.signature("RR")},
        }
    ]
