"""MemPalace's numbers of LongMemEval and LoCoMo (longmemeval_bench.py and locomo_bench.py of the project).

Gold is what the data set names, joined by question; every turn of a gold session is gold. The ideal of its nDCG is made
of the retrieved documents alone, so that a list that misses half of the gold can have 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.base.errors import InputError
from goldrank.memory.longmemeval import CUTS
from goldrank.memory.result import MemoryScores, means

GOLD = "Give the data set: gold='longmemeval_s.json' in Python, before the results at the prompt."
_TURN = re.compile(r"_turn_\d+$")
_SESSION_OF_EVIDENCE = re.compile(r"D(\d+):")


def scores(records: Sequence[Mapping[str, Any]], gold: Sequence[Mapping[str, Any]] | None = None) -> MemoryScores:
    """The values of each question and their plain means."""
    per_question: dict[str, dict[str, float]] = {}
    answers = {str(record["question_id"]): record["answer_session_ids"] for record in gold or ()}
    for number, record in enumerate(records, 1):
        if "retrieved_ids" in record and "evidence" in record:
            name = f"{record.get('sample_id', '')}:{number}"
            per_question[name] = {"recall": evidence_recall(record["evidence"], record["retrieved_ids"])}
            continue

        question = str(record.get("question_id"))
        answer_sessions = record.get("answer_session_ids") or answers.get(question)
        if answer_sessions is None:
            message = f"question {question!r} does not say which sessions hold the answer"
            raise InputError(message, hint=GOLD, code="no-gold")
        ranked = [str(item["corpus_id"]) for item in record["retrieval_results"]["ranked_items"]]
        per_question[question] = values_of(ranked, answer_sessions)

    return MemoryScores("mempalace", per_question, means(per_question.values()))


def values_of(ranked: Sequence[str], answer_sessions: Sequence[str]) -> dict[str, float]:
    """The values of one question, of sessions and of turns; sessions are cut at k turns."""
    gold_sessions = set(map(str, answer_sessions))
    ranked_sessions = [_TURN.sub("", name) for name in ranked]
    gold_turns = {name for name, session in zip(ranked, ranked_sessions, strict=True) if session in gold_sessions}

    values: dict[str, float] = {}
    for level, names, gold in (("session", ranked_sessions, gold_sessions), ("turn", ranked, gold_turns)):
        for k in CUTS:
            values |= {f"{level} {name}@{k}": value for name, value in _values(names, gold, k).items()}
    return values


def _values(ranked: Sequence[str], gold: set[str], k: int) -> dict[str, float]:
    first = set(ranked[:k])
    gains = [name in gold for name in ranked[:k]]
    ideal = _dcg(sorted(gains, reverse=True))
    if ideal:
        ndcg = _dcg(gains) / ideal
    else:
        ndcg = 0.0
    return {"recall_any": float(bool(gold & first)), "recall_all": float(gold <= first), "ndcg_any": ndcg}


def _dcg(gains: Sequence[bool]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def evidence_recall(evidence: Sequence[str], retrieved: Sequence[str]) -> float:
    """Recall of the evidence of LoCoMo as a set, by session if sessions were retrieved; 1 without evidence."""
    expected = set(map(str, evidence))
    if any(str(name).startswith("session_") for name in retrieved):
        numbers = [_SESSION_OF_EVIDENCE.match(entry) for entry in expected]
        expected = {f"session_{number[1]}" for number in numbers if number}
    if not expected:
        return 1.0
    return len(expected & set(map(str, retrieved))) / len(expected)
