"""Every reference case of now.json is run by some test: a group that is added without one fails here."""

from __future__ import annotations

import now_cases
import places
import pytest

import goldrank

RUN_BY = {
    "longmemeval": "memory/test_memory_scores.py",
    "mempalace": "memory/test_memory_scores.py",
    "locomo": "memory/test_memory_scores.py",
    "memorybench": "memory/test_memory_scores.py",
    "groups": "io/test_id_groups.py",
    "autorag": "rag/test_autorag.py",
    "browsecomp_plus": "agents/test_searches.py",
    "agents": "agents/test_searches.py",
    "stages": "staging/test_stages.py",
    "ann_benchmarks": "ann/test_ann_recall.py",
    "ann": "ann/test_ann_recall.py",
    "nuggetizer": "evaluation/test_nuggets.py",
    "open_rag_eval": "rag/test_alce.py",
    "alce": "rag/test_alce.py",
    "mteb": "suites/test_mteb.py",
}
"""Nuggets of open-rag-eval are in evaluation/test_nuggets.py, MTEB's Borda counts in suites/test_collections.py."""


def test_every_group_is_run():
    assert {case["group"] for case in now_cases.CASES} == set(RUN_BY)
    assert len(now_cases.CASES) == 136
    for group, file in RUN_BY.items():
        assert f'"{group}"' in (places.TESTS / file).read_text(encoding="utf-8"), (group, file)


def test_groups_in_two_files_leave_nothing_out():
    """The cases of open-rag-eval are nuggets or citations, those of MTEB Borda counts or results."""
    kinds = {"open_rag_eval": ("nuggets", "support"), "mteb": ("scores", "results")}
    for group, fields in kinds.items():
        cases = [case for case in now_cases.CASES if case["group"] == group]
        assert cases
        assert all(sum(field in case["inputs"] for field in fields) == 1 for case in cases)


def test_nothing_to_average_is_an_error():
    """nug-none: the original fails at no records."""
    (case,) = (case for case in now_cases.CASES if case["id"] == "nug-none")
    assert "error" in case["expected"]
    with pytest.raises(goldrank.GoldrankError):
        goldrank.evaluate_texts(case["inputs"]["records"], "Nugget")
