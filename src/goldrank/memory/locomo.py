"""LoCoMo's recall of evidence from its result files (evaluation.py and evaluation_stats.py of the project).

Every entry of the evidence counts, also one that is listed twice. A question without evidence has recall 1, but counts
as 0 in the averages; one without a context has 1 in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.memory.result import MemoryScores

CONTEXT = "_prediction_context"
_ONE_ID = re.compile(r"D\d+:\d+")


def scores(records: Sequence[Mapping[str, Any]], gold: object = None) -> MemoryScores:
    """Recall of each question, the averages of categories and of all."""
    questions = dict(_questions(records))
    key = _context_key(list(questions.values()))
    per_question: dict[str, dict[str, float]] = {}
    by_category: dict[str, list[float]] = {}
    broken: list[str] = []
    without: list[str] = []
    for name, question in questions.items():
        evidence = question.get("evidence") or []
        recall = recall_of(evidence, question.get(key))
        per_question[name] = {"recall": recall}
        if not evidence:
            without.append(name)
            recall = 0.0
        by_category.setdefault(str(question.get("category", "")), []).append(recall)
        if not all(_ONE_ID.fullmatch(str(entry)) for entry in evidence):
            broken.append(name)

    values = [value for recalls in by_category.values() for value in recalls]
    groups = {name: {"recall": sum(recalls) / len(recalls)} for name, recalls in sorted(by_category.items())}

    notes = []
    if without:
        notes.append(Note.of("locomo-no-evidence", count=len(without), samples=without))
    if broken:
        notes.append(Note.of("locomo-broken-evidence", count=len(broken), samples=broken))
    return MemoryScores(
        "locomo",
        per_question,
        {"recall": sum(values) / len(values)},
        groups,
        notes=tuple(notes),
        averaged={name: {"recall": 0.0} for name in without},
    )


def recall_of(evidence: Sequence[str], context: Sequence[str] | None) -> float:
    """The share of the entries of the evidence that the context holds, by turn or, if it holds sessions, by session."""
    if not evidence or context is None:
        return 1.0
    if not context:
        return 0.0
    entries = [str(entry) for entry in evidence]
    if str(context[0]).startswith("S"):
        entries = [f"S{entry.split(':')[0][1:]}" for entry in entries]
    context_ids = {str(entry) for entry in context}
    return sum(entry in context_ids for entry in entries) / len(entries)


def _questions(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All questions of all conversations, by conversation and number."""
    for number, conversation in enumerate(records, 1):
        if not isinstance(conversation.get("qa"), list):
            message = f"conversation {number} has no list 'qa' as LoCoMo writes it"
            raise InputError(message, hint="Files of MemPalace: convention='mempalace'.", code="other-benchmark")
        name = conversation.get("sample_id", number)
        for i, question in enumerate(conversation["qa"], 1):
            yield f"{name}:{i}", question


def _context_key(questions: Sequence[Mapping[str, Any]]) -> str:
    """The field with contexts: there must be only one."""
    keys = list(dict.fromkeys(key for question in questions for key in question if key.endswith(CONTEXT)))
    if len(keys) > 1:
        message = f"there are contexts of several systems: {', '.join(keys)}"
        raise InputError(message, hint="Give a file with the contexts of one system.", code="several-systems")
    if not keys:
        message = f"no question has a context (a field that ends in {CONTEXT})"
        hint = "Results of retrieval have contexts; the data set alone has none."
        raise InputError(message, hint=hint)
    return keys[0]
