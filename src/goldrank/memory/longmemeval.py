"""LongMemEval's numbers from its retrieval logs (eval_utils.py and run_retrieval.py of the project).

A log holds the whole corpus of each question, ranked. Only the ids say what is relevant: those that contain "answer".
recall_any is Success, recall_all is RecallAll; its nDCG gives the first two ranks the same weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.memory.result import MemoryScores, means

CUTS = (1, 3, 5, 10, 30, 50)
ABSTENTION = "_abs"
NO_TARGET = "no turn of the user has the answer"
ABSTAINING = "the question has no answer (_abs)"
CLOSE = 1e-6
OTHER = "Files of MemPalace: convention='mempalace'."


def scores(records: Sequence[Mapping[str, Any]], gold: object = None) -> MemoryScores:
    """The values of each question and the averages of run_retrieval."""
    per_question: dict[str, dict[str, float]] = {}
    left_out: dict[str, list[str]] = {}
    differing: list[str] = []
    for number, record in enumerate(records, 1):
        if "question_id" not in record:
            raise InputError(f"record {number} has no question_id", hint=OTHER, code="other-benchmark")
        question = str(record["question_id"])
        if question in per_question:  # each line counts
            question = f"{question}#{number}"
        per_question[question] = values_of(record)
        if _differs(per_question[question], record):
            differing.append(question)
        if ABSTENTION in question:
            left_out.setdefault(ABSTAINING, []).append(question)
        elif not _has_target(record):
            left_out.setdefault(NO_TARGET, []).append(question)

    absent = {question for questions in left_out.values() for question in questions}
    mean = means(values for question, values in per_question.items() if question not in absent)
    notes = _notes(per_question, left_out, mean)
    if differing:
        notes.append(Note.of("memory-other-values", count=len(differing), samples=differing))

    return MemoryScores(
        "longmemeval",
        per_question,
        mean,
        left_out={reason: tuple(questions) for reason, questions in left_out.items()},
        notes=tuple(notes),
    )


def printed(scored: MemoryScores) -> dict[str, float]:
    """The averages of print_retrieval_metrics, which leaves out questions without an answer only."""
    abstaining = set(scored.left_out.get(ABSTAINING, ()))
    return means(values for question, values in scored.per_question.items() if question not in abstaining)


def values_of(record: Mapping[str, Any]) -> dict[str, float]:
    """The values of one question: of sessions, and of turns if turns were ranked."""
    try:
        ranked = [str(item["corpus_id"]) for item in record["retrieval_results"]["ranked_items"]]
        sessions = {str(name) for name in record["haystack_session_ids"]}
    except KeyError as error:
        message = f"question {record.get('question_id')!r} has no {error} as LongMemEval writes it"
        raise InputError(message, hint=OTHER, code="other-benchmark") from None
    except TypeError:
        message = f"the ranked_items of question {record.get('question_id')!r} are not as LongMemEval writes them"
        raise InputError(message, hint=OTHER, code="other-benchmark") from None

    if all(name.replace("noans", "answer") in sessions or name in sessions for name in ranked):
        return {f"session {name}": value for name, value in _at_all_cuts(ranked).items()}

    sessions_of_turns = [name.rpartition("_")[0] for name in ranked]
    values: dict[str, float] = {}
    for k in CUTS:
        turns = _turns_with_sessions(sessions_of_turns, k)
        values |= {f"session {name}@{k}": value for name, value in _values(sessions_of_turns, turns).items()}
    return values | {f"turn {name}": value for name, value in _at_all_cuts(ranked).items()}


def _at_all_cuts(ranked: Sequence[str]) -> dict[str, float]:
    return {f"{name}@{k}": value for k in CUTS for name, value in _values(ranked, k).items()}


def _turns_with_sessions(sessions_of_turns: Sequence[str], k: int) -> int:
    """How many turns hold k different sessions; all if there are fewer."""
    turns = k
    while turns < len(sessions_of_turns) and len(set(sessions_of_turns[:turns])) < k:
        turns += 1
    return turns


def _values(ranked: Sequence[str], k: int) -> dict[str, float]:
    gold = {name for name in ranked if "answer" in name}
    first = set(ranked[:k])
    gains = ["answer" in name for name in ranked]
    ideal = _dcg(sorted(gains, reverse=True)[:k])
    if ideal:
        ndcg = _dcg(gains[:k]) / ideal
    else:
        ndcg = 0.0
    return {"recall_any": float(bool(gold & first)), "recall_all": float(gold <= first), "ndcg_any": ndcg}


def _dcg(gains: Sequence[bool]) -> float:
    """The first two ranks have the same weight."""
    return sum(gain / math.log2(max(rank, 2)) for rank, gain in enumerate(gains, 1))


def _has_target(record: Mapping[str, Any]) -> bool:
    turns = [turn for session in record.get("haystack_sessions", ()) for turn in session]
    return any(turn.get("role") == "user" and turn.get("has_answer") for turn in turns)


def _differs(values: Mapping[str, float], record: Mapping[str, Any]) -> bool:
    """Whether the file stores other values of the question."""
    stored = record["retrieval_results"].get("metrics") or {}
    by_name = {f"{level} {name}": value for level, metrics in stored.items() for name, value in metrics.items()}
    return any(abs(value - values[name]) > CLOSE for name, value in by_name.items() if name in values)


def _notes(
    per_question: Mapping[str, Mapping[str, float]], left_out: Mapping[str, Sequence[str]], mean: Mapping[str, float]
) -> list[Note]:
    """The other average that the project prints, where it differs."""
    if NO_TARGET not in left_out:
        return []
    abstaining = set(left_out.get(ABSTAINING, ()))
    other = means(values for question, values in per_question.items() if question not in abstaining)
    differing = [name for name in other if abs(other[name] - mean.get(name, math.nan)) > CLOSE or name not in mean]
    if not differing:
        return []

    usual = [name for name in differing if name.endswith(("@5", "@10"))]
    shown = (usual or differing)[:4]
    values = ", ".join(f"{name} {other[name]:.4f}" for name in shown)
    return [Note.of("memory-other-average", count=len(left_out[NO_TARGET]), values=values)]
