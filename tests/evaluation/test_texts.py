"""evaluate_texts from items to Scores."""

from __future__ import annotations

import json

import pytest
from helpers import words
from raising import raises_code

import goldrank
from goldrank import Matching, evaluate_texts, read_items
from goldrank.base.errors import GoldrankError, InputError, MeasureError, OptionError
from goldrank.compat.continuous_eval import RankedRetrievalMetrics
from goldrank.conventions import Convention
from goldrank.data.scores import Scores

ITEMS = [
    {"id": "q1", "question": "Where?", "retrieved": ["Rome is in Italy.", "Paris is in France."],
     "references": ["Paris is in France."]},
    {"id": "q2", "question": "When?", "retrieved": ["It began in 1914 and ended in 1918."],
     "references": ["began in 1914", "ended in 1918"]},
]  # fmt: skip


def test_values() -> None:
    scores = evaluate_texts(ITEMS, ["Cover@1", "CoverAll@1", "RR", "P@1", "nDCG@10"], matching="contains")
    # q1: the second text covers; q2: the first covers both references.
    assert scores.per_query["Cover@1"] == {"q1": 0.0, "q2": 1.0}
    assert scores.per_query["CoverAll@1"] == {"q1": 0.0, "q2": 1.0}
    assert scores["RR"] == (1 / 2 + 1) / 2
    assert scores["P@1"] == 1 / 2
    assert scores.per_query["nDCG@10"]["q2"] == 1.0
    assert scores.counts["references"] == 3
    assert scores.counts["covered"] == 3
    assert "contains by chunk, credit any" in scores.convention


def test_the_document_of_continuous_eval() -> None:
    """Its example, by the facade and by goldrank's own words."""
    retrieved = ["Paris is the largest city in France.", "Lyon is a major city in France."]
    references = ["Lyon is a major city in France."]
    expected = {"average_precision": 0.5, "reciprocal_rank": 0.5, "ndcg": 0.6309297535714574}
    facade = RankedRetrievalMetrics().calculate(retrieved, references)
    assert facade == expected
    scores = evaluate_texts(
        [{"retrieved": retrieved, "references": references}], ["AP", "RR", "nDCG"], matching="exact"
    )
    assert list(scores.mean.values()) == pytest.approx(list(expected.values()), rel=1e-15)


def test_what_rag_teams_have() -> None:
    ragas = [{"user_input": "?", "retrieved_contexts": ["a b c d"], "reference_contexts": ["a b c d"]}]
    assert evaluate_texts(ragas, "Cover@5")["Cover@5"] == 1.0
    own = [{"out": {"docs": ["a b"]}, "gold": ["a b"]}]
    assert (
        evaluate_texts(read_items(own, fields={"retrieved": "out.docs", "references": "gold"}), "Cover")["Cover"] == 1.0
    )


def test_alternatives_suffice() -> None:
    items = [{"retrieved": ["x", "b"], "references": [["a", "b"], "c"]}]
    scores = evaluate_texts(items, ["Cover@2", "CoverAll@2"], matching="exact")
    assert (scores["Cover@2"], scores["CoverAll@2"]) == (1 / 2, 0.0)


def test_sentences_are_ranked() -> None:
    items = [{"retrieved": ["It rains. Rome is old.", "Paris is big."], "references": ["Paris is big. It rains."]}]
    scores = evaluate_texts(items, ["Cover@1", "Cover@3", "SetP"], matching=Matching("exact", unit="sentence"))
    assert scores.mean == {"Cover@1": 1 / 2, "Cover@3": 1.0, "SetP": 2 / 3}
    assert "ranks count sentences" in words(scores)


def test_a_splitter_of_ones_own() -> None:
    items = [{"retrieved": ["a|b"], "references": ["b|c"]}]
    assert (
        evaluate_texts(items, "Cover", matching=Matching("exact", unit=lambda text: text.split("|")))["Cover"] == 1 / 2
    )


def test_budgets_of_tokens() -> None:
    items = [{"retrieved": ["one two three", "four five"], "references": ["four five", "one two three"]}]
    scores = evaluate_texts(
        items, ["Cover(tokens=3)", "Cover(tokens=4)", "Cover(tokens=5)", "Tokens"], matching="exact"
    )
    assert scores.mean == {"Cover(tokens=3)": 0.5, "Cover(tokens=4)": 0.5, "Cover(tokens=5)": 1.0, "Tokens": 5.0}
    by_character = evaluate_texts(items, ["Tokens@1"], matching=Matching("exact", tokens=len))
    assert by_character["Tokens@1"] == len("one two three")
    by_list = evaluate_texts(items, ["Tokens@1"], matching=Matching("exact", tokens=lambda text: text.split("e")))
    assert by_list["Tokens@1"] == len(["on", " two thr", "", ""])


def test_places() -> None:
    """The same evidence whatever the cut; places given, and quotations found."""
    source = "Alpha beta gamma. Delta epsilon zeta. Eta theta iota."
    evidence = [{"source": "doc", "quote": "Delta epsilon zeta."}]
    whole = [{"retrieved": [{"text": source, "source": "doc"}], "evidence": evidence}]
    half = [{"retrieved": [{"text": source[18:31], "source": "doc", "start": 18, "end": 31}], "evidence": evidence}]
    measures = ["SpanRecall", "SpanPrecision", "EvidenceAll"]
    found = evaluate_texts(whole, measures, evidence={"doc": source})
    assert found.mean == {"SpanRecall": 1.0, "SpanPrecision": 19 / len(source), "EvidenceAll": 0.0 + 1.0}
    found = evaluate_texts(half, measures, evidence={"doc": source})
    assert found.mean == {"SpanRecall": 13 / 19, "SpanPrecision": 1.0, "EvidenceAll": 0.0}
    assert "spans by char" in found.convention


def test_texts_and_places_together() -> None:
    items = [{"retrieved": [{"text": "b", "source": "d", "start": 1, "end": 2}], "references": ["b"],
              "evidence": [{"source": "d", "start": 0, "end": 2}]}]  # fmt: skip
    scores = evaluate_texts(items, ["SpanRecall", "Cover"], matching="exact")
    assert scores.mean == {"SpanRecall": 0.5, "Cover": 1.0}


def test_explain() -> None:
    scores = evaluate_texts(ITEMS, "Cover", matching="contains")
    found = scores.explain("q2")
    assert found.matched.tolist() == [[True, True]]
    text = found.retrieved[0]
    assert [text[a:b] for a, b in found.marks[0, 1]] == ["ended in 1918"]
    with pytest.raises(InputError, match="no question 'q9'"):
        scores.explain("q9")
    with raises_code(OptionError, "not-explainable"):
        goldrank.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR").explain("q")


def test_hashes_tell_gold_from_results() -> None:
    before = evaluate_texts(ITEMS, "Cover").provenance
    changed = [{**ITEMS[0], "retrieved": ["x"]}, ITEMS[1]]
    after = evaluate_texts(changed, "Cover").provenance
    assert before["qrels"]["sha256"] == after["qrels"]["sha256"]
    assert before["run"]["sha256"] != after["run"]["sha256"]
    other = [{**ITEMS[0], "references": ["x"]}, ITEMS[1]]
    assert evaluate_texts(other, "Cover").provenance["qrels"]["sha256"] != before["qrels"]["sha256"]


def test_files_and_saving(tmp_path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    scores = evaluate_texts(path, ["Cover@1", "RR"], matching="contains")
    assert scores.mean == evaluate_texts(ITEMS, ["Cover@1", "RR"], matching="contains").mean
    scores.save(tmp_path / "scores.json")
    assert Scores.load(tmp_path / "scores.json").mean == scores.mean
    assert scores.explain("q1").matched.tolist() == [[False], [True]]


def test_comparing() -> None:
    a = evaluate_texts(read_items(ITEMS, name="a"), ["Cover@1"], matching="contains")
    turned = read_items([{**item, "retrieved": item["retrieved"][::-1]} for item in ITEMS], name="b")
    b = evaluate_texts(turned, ["Cover@1"], matching="contains")
    compared = goldrank.compare([a, b])
    assert "Cover@1" in str(compared)


def test_no_references_follow_the_policy() -> None:
    items = [ITEMS[0], {"id": "q3", "retrieved": ["x"], "references": []}]
    assert evaluate_texts(items, "RR", matching="exact").per_query["RR"] == {"q1": 0.5, "q3": 0.0}
    skip, error = (Convention("trec_eval-10", empty=policy) for policy in ("skip", "error"))
    assert evaluate_texts(items, "RR", matching="exact", convention=skip)["RR"] == 0.5
    with pytest.raises(GoldrankError, match="q3"):
        evaluate_texts(items, "RR", matching="exact", convention=error)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"matching": "rouge-x:0.7"}, OptionError, "rouge-l"),
        ({"matching": "rouge-l:7"}, OptionError, "from 0 to 1"),
        ({"matching": lambda text, reference: True}, OptionError, "goes into Matching(...)"),
        ({"evidence": ["docs/"]}, OptionError, "Evidence('docs/'"),
        ({"answers": lambda text, claim: True}, OptionError, "Answers(judge="),
        ({"matcher": "exact"}, OptionError, "It is called matching=."),
        ({"unit": "sentence"}, OptionError, "matching=Matching(unit=...)"),
        ({"sources": {}}, OptionError, "evidence=Evidence(sources=...)"),
        ({"empty": "skip"}, OptionError, "convention=Convention(empty=...)"),
        ({"failures": "skip"}, OptionError, "read_items(source, failures=...)"),
        ({"measures": "Prefs"}, MeasureError, "cannot be measured with this input"),
        ({"measures": "Judged@5"}, MeasureError, "no meaning for texts"),
        ({"measures": "SpanRecall"}, GoldrankError, "evidence"),
        ({"matching": Matching("exact", tokens=lambda text: -1), "measures": "Tokens"}, InputError, "-1"),
    ],
)
def test_what_is_refused(given, kind, words) -> None:
    with pytest.raises(kind) as caught:
        evaluate_texts(ITEMS, **{"matching": "exact", **given})
    assert words in str(caught.value)


def test_a_zero_is_never_silent() -> None:
    scores = evaluate_texts([{"retrieved": ["Paris is big"], "references": ["paris is big!"]}], "RR", matching="exact")
    assert scores["RR"] == 0
    (note,) = [str(note) for note in scores.notes if note.code == "nothing-matches"]
    assert "'Paris is big' and 'paris is big!', equal 0.00" in note
    safe = [{"retrieved": ["It is not safe."], "references": ["It is safe."]}]
    for rule in ("rouge-l:0.7", lambda text, reference: True):
        notes = evaluate_texts(safe, "RR", matching=Matching(rule, guards=("negations",))).notes
        (note,) = [str(note) for note in notes if note.code == "nothing-matches"]
        assert "but negations differ" in note, "the degree was enough; what refused the pair all the same"
    evidence = [{"source": "d", "start": 0, "end": 2}]
    with raises_code(InputError, "no-references"):
        evaluate_texts([{"retrieved": ["a"], "evidence": evidence}], "RR")
