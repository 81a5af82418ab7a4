"""ALCE's citations and open-rag-eval's, as their own code counts them."""

from __future__ import annotations

import now_cases
import pytest

from goldrank.rag.alce import AlceSentence, alce_citations
from goldrank.rag.open_rag_eval import citation_scores


def supporter(alternatives):
    return lambda docs: any(set(alternative) <= set(docs) for alternative in alternatives)


@pytest.mark.parametrize("case", now_cases.group("alce"))
def test_citations_of_alce(case):
    inputs, expected = case["inputs"], case["expected"]
    answers = []
    for answer in inputs["answers"]:
        answers.append([AlceSentence(each["sentence"], supporter(each["supported_by"])) for each in answer])
    scores = alce_citations(answers, inputs["docs"], inputs["at_most_citations"])
    assert scores.recall == pytest.approx(expected["citation_rec"], abs=1e-9)
    assert scores.precision == pytest.approx(expected["citation_prec"], abs=1e-9)


CITED = [case for case in now_cases.group("open_rag_eval") if "support" in case.values[0]["inputs"]]


@pytest.mark.parametrize("case", CITED)
def test_citations_of_open_rag_eval(case):
    inputs = case["inputs"]
    support = {}
    for key, label in inputs["support"].items():
        sentence, _, passage = key.partition("|")
        support[int(sentence), passage] = label
    found = citation_scores(inputs["citations_per_sentence"], inputs["passages"], support)
    assert found == pytest.approx(case["expected"], abs=1e-9)
