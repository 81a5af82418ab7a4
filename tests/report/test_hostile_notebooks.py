"""Everything that a notebook shows, made of hostile names and texts, in a real browser.

A notebook has no policy that forbids scripts, so that escaping alone protects whoever opens it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil

import hostile_names
import numpy as np
import pytest
from browsing import Looking
from hostile_names import MARKUP

import goldrank
from goldrank import (
    Advice,
    Baseline,
    ClickJudgements,
    CorrectedValue,
    Gullibility,
    Judged,
    Qrels,
    Queries,
    Run,
    Runs,
    Scores,
    Statistics,
    Trend,
    TunedFusion,
    abstention_curve,
    analyse_interleaving,
    compare,
    corrected_values,
    diff,
    evaluate,
    evaluate_texts,
    explain_difference,
    find_causes,
    gate,
    judge_agreement,
    matcher_agreement,
    plan,
    rank_agreement,
    score_intervals,
    sweep,
)
from goldrank.comparison.leaderboard import leaderboard
from goldrank.rag.coverage_curves import curves_of_sweep
from goldrank.report.one_system import IntervalTables
from goldrank.report.scores import ScoreTables
from goldrank.suites.mteb import MtebScores

pytestmark = pytest.mark.slow

QUERIES = [f"{text} {i}" for i, text in enumerate(MARKUP * 2)]
QRELS = {query: {doc: i % 3 for i, doc in enumerate([query, *MARKUP[:5]])} for query in QUERIES}
MODEL = {query: {doc: (grade + 1) % 3 for doc, grade in docs.items()} for query, docs in QRELS.items()}
RUNS = {
    name: {query: [*np.roll(MARKUP, shift + i), query] for i, query in enumerate(QUERIES)}
    for shift, name in enumerate(MARKUP[:3])
}
ITEMS = [
    {"id": text, "question": text, "retrieved": [(text, 0.5 + i), (MARKUP[0], 0.1)], "references": [text, MARKUP[3]]}
    for i, text in enumerate(QUERIES)
]
SLICES = {MARKUP[1]: {query: MARKUP[i % 4] for i, query in enumerate(QUERIES)}}
KNOWN = Queries({}).with_column(MARKUP[1], SLICES[MARKUP[1]])
CONTAINS = {"matching": "contains"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """An object of every class that notebooks show."""
    saved = []
    for i, text in enumerate(MARKUP[:3]):
        path = tmp_path_factory.mktemp("saved") / "s.json"
        hostile_names.saved(path, MARKUP[0])
        held = json.loads(path.read_text())
        path.write_text(json.dumps(held | {"run": text, "convention": MARKUP[i]}))
        saved.append(Scores.load(path))
    compared = compare(
        QRELS, RUNS, ["AP", "RR"], slice_by=list(SLICES), queries=KNOWN, statistics=Statistics(samples=100)
    )
    before, after = list(RUNS.values())[:2]
    clicks = [{"user": text, "shown": ["x", text], "team": ["a", "b"], "clicks": [text]} for text in MARKUP]
    unanswered = [{"id": f"{i}{text}", "retrieved": [(text, 0.0)], "no_answer": True} for i, text in enumerate(MARKUP)]
    swept = sweep({f"{MARKUP[0]}/{MARKUP[1]}": ITEMS, f"a/{MARKUP[2]}": ITEMS}, k=[1, 2], **CONTAINS)
    labels = [(text, text[: 3 + i % 2], i % 2 == 0) for i, text in enumerate(MARKUP)]
    verdict = gate(evaluate(QRELS, after, "AP"), ["AP: -1%", "AP >= 0.9"], evaluate(QRELS, before, "AP"))
    return [
        evaluate(QRELS, before, ["AP", "RR"]),
        evaluate(QRELS, Runs(RUNS), ["AP", "RR"]),
        *saved,
        compared,
        compare(saved, statistics=Statistics(samples=100)),
        leaderboard(compared, "AP"),
        diff(QRELS, Run(before, name=MARKUP[0]), Run(after, name=MARKUP[1])),
        compared.pairs[0],
        score_intervals(saved[0]),
        Baseline(saved[0], label=MARKUP[0]),
        rank_agreement(before, after),
        explain_difference(QRELS, Run(before, name=MARKUP[0]), "AP", "trec_eval-10", "ranx"),
        score_intervals(evaluate(QRELS, before, "AP"), slice_by=list(SLICES), queries=KNOWN),
        corrected_values(Qrels(QRELS).with_model(MODEL), RUNS, "P@1"),
        analyse_interleaving(clicks, names=(MARKUP[0], MARKUP[1])),
        plan(compared, tolerance="5%"),
        verdict,
        verdict[0],
        judge_agreement(Qrels(QRELS).with_model(MODEL), runs=RUNS),
        matcher_agreement(labels, ["contains", "exact"]),
        swept,
        swept.compare(),
        curves_of_sweep(swept),
        find_causes(ITEMS, k=1, **CONTAINS),
        find_causes([{**item, "correct": True} for item in ITEMS], k=1, **CONTAINS).outcomes,
        abstention_curve(ITEMS + unanswered, **CONTAINS),
        *(evaluate_texts(ITEMS, "Cover", **CONTAINS).explain(text) for text in QUERIES[:20]),
    ]


def classes() -> set[type]:
    """All classes of goldrank that notebooks show."""
    found = set()
    for module in pkgutil.walk_packages(goldrank.__path__, "goldrank."):
        if ".integrations" in module.name or module.name.endswith("__main__"):
            continue
        for each in vars(importlib.import_module(module.name)).values():
            if isinstance(each, type) and hasattr(each, "_repr_html_") and each.__module__.startswith("goldrank"):
                found.add(each)
    return {each for each in found if not getattr(each, "__abstractmethods__", None)}


ELSEWHERE = {
    Judged,
    Gullibility,
    Trend,
    ClickJudgements,
    CorrectedValue,
    TunedFusion,
    Advice,
    ScoreTables,
    IntervalTables,
    goldrank.AnnBenchmarks,
    goldrank.AnnRecall,
    goldrank.BrowseCompScores,
    goldrank.Churn,
    goldrank.CollectionComparison,
    goldrank.EngineRun,
    goldrank.MemoryScores,
    MtebScores,
    goldrank.ScoreTail,
    goldrank.SearchScores,
    goldrank.Stages,
}
"""Shown by the same tables as the others, from objects that other tests make."""


def test_every_class_is_shown(shown):
    assert {type(each) for each in shown} == classes() - ELSEWHERE


def test_notebooks_run_nothing(browser, shown, tmp_path):
    looking = Looking(browser)
    for i, each in enumerate(shown):
        path = tmp_path / f"{i}.html"
        path.write_text(f"<!doctype html><meta charset=utf-8>{each._repr_html_()}", "utf-8")
        looking.harmless(path, scripts=0)
    looking.close()
