"""Which measures to use, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from raising import raises_code

import goldrank
from goldrank.base.errors import GoldrankError, OptionError
from goldrank.guide.advice import QUESTIONS, RELEVANCE, USE_CASES, Advice, choose
from goldrank.guide.choose_command import command
from goldrank.guide.pitfalls import inconsistent_judgements, pitfalls

LESSON = {
    "qa": (("RR",), ("Success@1",)),
    "search": (("nDCG@10",), ("P@10",)),
    "legal": (("R@100",), ("P@100",)),
    "recommendation": (("nDCG@5",), ("P@5",)),
    "fact-checking": (("Success@3",), ("RR",)),
    "rag": (("R@5", "P@5"), ("RR",)),
}
"""The quick reference of the lesson."""


@pytest.mark.parametrize("name", LESSON)
def test_the_lessons_use_cases(name: str) -> None:
    advice = goldrank.choose(use_case=name)
    assert (advice.primary, advice.secondary) == LESSON[name]
    assert goldrank.choose(USE_CASES[name].title).measures == advice.measures


@pytest.mark.parametrize("name", USE_CASES)
def test_every_use_case_can_be_evaluated(name: str) -> None:
    measures = goldrank.choose(name).measures
    assert tuple(goldrank.evaluate({"q": {"a": 1}}, {"q": ["a"]}, measures).mean) == measures


FLOW = [
    ({"find_all": True}, "R@10"),
    ({"find_all": False, "order_matters": True, "graded": True}, "nDCG@10"),
    ({"find_all": False, "order_matters": True, "graded": False, "first_counts": True}, "RR"),
    ({"find_all": False, "order_matters": True, "graded": False, "first_counts": False}, "P@10"),
    ({"find_all": False, "order_matters": False, "one_is_enough": True}, "Success@10"),
    ({"find_all": False, "order_matters": False, "one_is_enough": False}, "P@10"),
]


@pytest.mark.parametrize(("answers", "expected"), FLOW)
def test_the_lessons_decision_flow(answers: dict[str, bool], expected: str) -> None:
    advice = goldrank.choose(**answers)
    assert advice.primary == (expected,)
    assert [text for text, _ in advice.answers] == [QUESTIONS[key].text for key in answers]


def test_every_path_ends_in_several_measures() -> None:
    for answers in product((True, False), repeat=len(QUESTIONS)):
        advice = goldrank.choose(**dict(zip(QUESTIONS, answers, strict=True)), k=1)
        assert len(set(advice.measures)) == len(advice.measures) >= 2
        assert advice.why in str(advice)


def test_what_is_not_given_is_asked() -> None:
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return "order" in question

    advice = goldrank.choose(find_all=False, ask=ask)
    assert (advice.primary, advice.secondary[0]) == (("P@10",), "AP")  # the order matters, and precision is blind to it
    assert asked == [QUESTIONS[key].text for key in ("order_matters", "graded", "first_counts")]


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(OptionError, match="Must ALL relevant documents be found"):
        goldrank.choose()
    with pytest.raises(OptionError, match="Did you mean legal"):
        goldrank.choose("legel")
    for k in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match="k is"):
            goldrank.choose("rag", k=k)  # type: ignore[arg-type]


def test_advice_says_when_to_use_and_avoid() -> None:
    text = str(goldrank.choose("rag"))
    assert "R@5: A later stage" in text
    assert "Avoid it when:" in text
    for advice in (goldrank.choose("legal"), goldrank.choose(find_all=True)):
        assert "re-ranker" not in str(advice)
        assert "Every relevant document must be found" in str(advice)


EVERY_K = (None, 1, 2, 3, 7, 10, 50, 100, 1000, 10**9)
QUESTION_NAMES = tuple(QUESTIONS)


def every_advice() -> Iterator[tuple[Any, Advice]]:
    """Of every use case and every combination of answers, at several k."""
    for k in EVERY_K:
        for name in USE_CASES:
            yield (name, k), goldrank.choose(name, k=k)
        for answers in product((True, False), repeat=len(QUESTIONS)):
            given = dict(zip(QUESTION_NAMES, answers, strict=True))
            yield (given, k), goldrank.choose(**given, k=k)


def test_advice_does_not_trigger_its_own_pitfalls() -> None:
    said = goldrank.Qrels(QRELS, criteria="The document answers the question.")
    for asked, advice in every_advice():
        scores = goldrank.evaluate(said, RUN, advice.measures)
        assert not pitfalls(scores, qrels=said), asked
        assert len(set(advice.measures)) == len(advice.measures)
        if isinstance(asked, tuple) and isinstance(asked[0], str):
            name, k = asked
            low, high = USE_CASES[name].looked_at
            told = [note.code for note in advice.notes]
            assert told == ([] if k is None or low <= k <= high else ["wrong-k"]), asked
            if not told:
                assert not pitfalls(scores, qrels=said, use_case=name), asked


def test_advice_on_texts_can_be_evaluated() -> None:
    text = "Rome is in Italy, and has been for long."
    items = [
        {
            "retrieved": [{"text": text, "source": "s", "start": 0}],
            "references": [text],
            "evidence": [{"source": "s", "start": 0, "end": 4}],
        }
    ]
    for _, advice in every_advice():
        for measures in filter(None, (advice.texts, advice.evidence)):
            assert set(goldrank.evaluate_texts(items, measures, evidence={"s": text}).mean) == set(measures)


def test_rag_is_more_than_ids() -> None:
    advice = goldrank.choose("rag", k=8)
    assert advice.measures == ("R@8", "P@8", "RR")
    assert {"Cover@8", "Cover(tokens=2000)", "Tokens@8"} <= set(advice.texts)
    assert "EvidenceRecall@8" in advice.evidence
    shown = str(advice)
    for measure in (*advice.measures, *advice.texts, *advice.evidence):
        assert f"\n  {measure}: " in shown


@pytest.mark.parametrize("name", USE_CASES)
def test_k_is_honoured_with_a_use_case(name: str) -> None:
    advice = goldrank.choose(name, k=7)
    assert any(text.endswith("@7") for text in advice.measures)
    assert goldrank.choose(name, k=USE_CASES[name].k) == goldrank.choose(name)
    assert not any(text.endswith(f"@{USE_CASES[name].k}") for text in advice.primary + advice.secondary)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("answer", [True, False])
def test_answers_beside_a_use_case_are_refused(question: str, answer: bool) -> None:
    with pytest.raises(OptionError, match=f"{question}={answer}"):
        goldrank.choose("rag", **{question: answer})
    flag = f"--{'' if answer else 'no-'}{question.replace('_', '-')}"
    found = CliRunner().invoke(command, ["rag", flag])
    assert isinstance(found.exception, OptionError)
    assert flag in str(found.exception)


def test_wrong_k_for_the_use_case() -> None:
    def told(measures: list[str], use_case: str) -> list[str]:
        return [str(note) for note in pitfalls(scored(measures), use_case=use_case) if note.code == "wrong-k"]

    assert told(["nDCG@10", "P@20", "AP"], "qa") == [
        "measured at k = 10, 20; for 'Q&A system' people look at 1 to 3 results"
    ]
    assert not told(["Success@1", "P@20"], "qa")
    assert not told(["RR", "AP"], "qa")
    assert told(["R@10", "P@5"], "Legal discovery") == [
        "measured at k = 5, 10; for 'Legal discovery' people look at 50 or more results"
    ]
    with raises_code(OptionError, "unknown-choice"):
        pitfalls(scored(["RR"]), use_case="no such thing")
    (note,) = goldrank.choose("qa", k=50).notes
    assert note.code == "wrong-k"
    assert str(note) in str(goldrank.choose("qa", k=50))


def test_binary_or_graded_judgements() -> None:
    assert set(RELEVANCE) == {"binary", "graded"}
    for kind in RELEVANCE.values():
        assert kind.values
        assert kind.use
        assert goldrank.evaluate(QRELS, RUN, kind.measures).measures == kind.measures
    listed = CliRunner().invoke(command, ["--list"]).output
    assert "binary" in listed
    assert "graded" in listed


def test_command() -> None:
    run = CliRunner().invoke
    assert run(command, ["rag", "--short"]).output == "R@5 P@5 RR\n"
    assert run(command, ["rag", "--short", "-k", "3"]).output == "R@3 P@3 RR\n"
    assert run(command, ["rag", "--short", "--texts"]).output == "Cover@5 CoverAll@5 Cover(tokens=2000) Tokens@5\n"
    assert run(command, ["--find-all", "-k", "50", "--short"]).output == "R@50 P@50 RecallAll@50 R@500\n"
    for wrong in (["rag", "--texts"], ["qa", "--short", "--texts"], ["rag", "-k", "0"]):
        assert run(command, wrong).exit_code == 2
    assert "Legal discovery" in run(command, ["--list"]).output
    assert "Use R@5, P@5, and look at RR" in run(command, ["rag"]).output
    unanswered = run(command, ["--no-find-all"]).exception  # no terminal, so nobody is asked
    assert isinstance(unanswered, OptionError)
    assert "--order-matters or --no-order-matters" in str(unanswered)
    assert "order_matters" not in str(unanswered)


def test_command_asks_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldrank.guide.choose_command.sys", Terminal)
    found = CliRunner().invoke(command, ["--short"], input="n\ny\ny\n")
    assert found.output.splitlines()[-1] == "nDCG@10 P@10 R@10 R@100"
    assert "Are there grades of relevance?" in found.output


class Terminal:
    """Stands in for `sys` with a terminal as input."""

    class stdin:  # noqa: N801 - the name that sys has
        """A terminal."""

        @staticmethod
        def isatty() -> bool:
            return True


# Pitfalls.

QRELS = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}}
RUN = {"q1": ["a", "b"], "q2": ["x", "a"]}


def scored(measures: Any, **more: Any) -> goldrank.Scores:
    return goldrank.evaluate(QRELS, RUN, measures, **more)


def codes(*given: Any, **more: Any) -> list[str]:
    return [note.code for note in pitfalls(*given, **more)]


def test_one_measure() -> None:
    (note, *_) = pitfalls(scored("nDCG@10"))
    assert (note.code, note.fact("measure"), note.fact("others")) == ("one-measure", "nDCG", "R@10, P@10")
    assert "only nDCG is reported" in str(note)
    assert "one-measure" in codes(scored(["nDCG@10", "nDCG@5"]))
    assert "one-measure" not in codes(scored(["nDCG@10", "R@5"]))
    assert codes(scored(lambda ranked, judged: 1.0)) == ["one-measure"]


def test_one_cutoff() -> None:
    assert codes(scored(["nDCG@10", "P@10"])) == codes(scored(["nDCG@10", "P@10", "IPrec@0.5"])) == ["one-cutoff"]
    for measures in (["nDCG@10", "P@5"], ["nDCG@10", "AP"], ["nDCG@10", lambda ranked, judged: 1.0]):
        assert "one-cutoff" not in codes(scored(measures))


def test_recall_that_cannot_be_one() -> None:
    notes = list(map(str, scored(["R@2", "R@3", "RecallAll@1", "P@1"]).notes))
    assert "R@2 cannot be 1 for 1 of 2 queries: they have more than 2 relevant documents" in notes
    assert not any(note.startswith("R@3") for note in notes)
    assert any(note.startswith("RecallAll@1 cannot be 1") for note in notes)
    assert not any(note.startswith("P@1") for note in notes)


def test_different_cutoffs() -> None:
    first = goldrank.evaluate(QRELS, goldrank.Run(_scores(RUN), name="A"), ["nDCG@10", "RR"])
    second = goldrank.evaluate(QRELS, goldrank.Run(_scores(RUN), name="B"), ["nDCG@20", "RR"])
    (note,) = [note for note in pitfalls([first, second]) if note.code == "different-cutoffs"]
    assert str(note) == "nDCG is cut differently and cannot be compared: 'A' at 10; 'B' at 20"
    assert note.is_warning
    assert "different-cutoffs" not in codes({"A": first, "again": first})


def _scores(run: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    return {query: {doc: -float(i) for i, doc in enumerate(docs)} for query, docs in run.items()}


def test_criteria() -> None:
    scores = scored(["RR", "AP"])
    assert codes(scores, qrels=goldrank.Qrels(QRELS)) == ["no-criteria"]
    said = goldrank.Qrels(QRELS, criteria="The document answers the question.")
    assert goldrank.evaluate(said, RUN, ["RR"]).provenance["qrels"]["criteria"] == "The document answers the question."
    assert not pitfalls(scores, qrels=said)


def test_inconsistent_judgements() -> None:
    qrels = goldrank.Qrels({"q1": {"Doc 1": 2, "doc 1": 0, "b": 1, "c": 0, "d": 1}, "q2": {"doc 1": 1}})
    texts = {"b": "The same  text", "c": "The same text", "d": "The same text"}
    by_id, by_text = inconsistent_judgements(qrels, texts)
    assert (by_id.fact("docs"), by_id.fact("grades"), by_id.fact("same")) == (("Doc 1", "doc 1"), (2, 0), "id")
    assert (by_text.fact("docs"), by_text.fact("grades"), by_text.fact("same")) == (("b", "c"), (1, 0), "text")
    assert "'b' has grade 1 and 'c', which has the same text, grade 0" in str(by_text)
    assert not inconsistent_judgements(goldrank.Qrels({"q1": {"Doc": 1, "doc": 1}}))
    scores = goldrank.evaluate(qrels, {"q1": ["b"], "q2": ["doc 1"]}, ["RR", "AP"])
    assert {by_id, by_text} <= set(pitfalls(scores, qrels=qrels, documents=texts))


def test_ties_are_told() -> None:
    scores = goldrank.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["RR"])
    assert any("tied" in str(note) and "ordered by document id" in str(note) for note in scores.notes)


def test_values_are_kept_and_compared_over_time(tmp_path: Path) -> None:
    scored(["RR", "R@2"]).save(tmp_path / "monday.json")
    today = goldrank.evaluate(QRELS, {"q1": ["x", "a"], "q2": ["x", "a"]}, ["RR", "R@2"])
    monday = goldrank.Scores.load(tmp_path / "monday.json")
    fell = {name: value for name, value in today.mean.items() if value < monday.mean[name]}
    # RR of q1 fell from 1 to 1/2, R@2 of q1 from 2/3 to 1/3.
    assert fell == pytest.approx({"RR": 0.5, "R@2": (1 / 3 + 1) / 2})


def test_the_tips_of_the_documents() -> None:
    assert goldrank.choose("qa").primary == ("RR",)  # one chunk holds the answer: MRR
    assert goldrank.choose("multi-hop").primary == ("AP",)  # several chunks are needed: MAP
    assert goldrank.choose("rag").primary[0] == "R@5"  # context recall first
    early = goldrank.choose("candidates")
    assert all(text.startswith("R@") for text in early.primary + early.secondary)  # early stages: recall
    assert goldrank.choose("reranking").primary[0] == "P@10"  # late stages: precision


def test_one_line_says_what_it_is() -> None:
    assert repr(choose("qa")) == "Advice('RR', 'Success@1')"
    note = pitfalls(scored("nDCG@10"))[0]
    assert repr(note).startswith("Note('one-measure', 'only nDCG is reported")
    assert "\n" not in repr(note)


def test_documents_go_with_judgements() -> None:
    with pytest.raises(GoldrankError, match="Give qrels= too"):
        pitfalls(scored(["RR", "AP"]), documents={"a": "text"})
