"""The values of one question, for tools that score an answer at a time: MLflow, Weave, promptfoo."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from goldrank import conventions
from goldrank.base.errors import InputError
from goldrank.evaluation.rankings import evaluate
from goldrank.io import as_qrels, as_run
from goldrank.measures import parse_all

USUAL = ("nDCG@10", "R@10", "RR")
"""The measures if none are named."""
RULES = conventions.get("trec_eval-10").with_policies(overlap="allow")
"""One question may well have found nothing that is judged."""
_EXPECTED = ("expected_ids", "expected", "relevant", "gold", "expected_retrieved_context")
_RETRIEVED = ("retrieved_ids", "retrieved", "results", "documents", "source_documents")
_IDS = ("id", "doc_uri", "doc_id", "document_id", "chunk_id", "uri")


def checked_measures(measures: Sequence[str]) -> tuple[str, ...]:
    """The names of measures, refused at once if there is no such measure, not at the first question."""
    chosen = tuple(measures) or USUAL
    return tuple(str(measure) for measure in parse_all(list(chosen)))


def question_values(retrieved: Any, expected: Any, measures: Sequence[str]) -> dict[str, float]:
    """By measure, the value of one question; NaN where it has none.

    `retrieved` are ids or objects with ids, best first, or an object that has them (`retrieved_ids`, `retrieved`, ...);
    `expected` are ids, objects with ids, or {id: grade}, or an object that has them.
    """
    wanted = _grades(_inside(_decoded(expected), _EXPECTED, "expected"))
    ranking = list(dict.fromkeys(_ids(_inside(_decoded(retrieved), _RETRIEVED, "retrieved"), "retrieved")))
    if not wanted:
        raise InputError("nothing was expected of this question", hint="Give expected_ids.", code="no-ids")

    scores = evaluate(as_qrels({"q": wanted}), as_run({"q": ranking}), list(measures), convention=RULES)
    return {measure: scores[measure] for measure in measures}


def finite(values: Mapping[str, float]) -> dict[str, float]:
    """The values that a tool can store: without those that are not defined."""
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _decoded(value: Any) -> Any:
    """A value from its JSON, if it is a text of JSON."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _inside(value: Any, names: Sequence[str], noun: str) -> Any:
    """The list in an object that has it under one of some names; a list or a mapping of grades itself."""
    if not isinstance(value, Mapping):
        return value
    for name in names:
        if name in value:
            return _decoded(value[name])
    if noun == "expected" and value and all(isinstance(grade, int) for grade in value.values()):
        return value
    listed = ", ".join(map(str, list(value)[:10])) or "nothing"
    hint = f"Call the field {names[0]}."
    raise InputError(f"has no ids that were {noun}; it has: {listed}", hint=hint, code="no-ids")


def _ids(value: Any, noun: str) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        hint = 'Ids are in a list, best first: ["d1", "d2"].'
        raise InputError(f"what was {noun} is {value!r:.60}, not a list of ids", hint=hint, code="no-ids")
    return [_id(entry, noun) for entry in value]


def _id(entry: Any, noun: str) -> str:
    """The id of an entry: itself, or a field of an object or of its metadata."""
    if isinstance(entry, str | int) and not isinstance(entry, bool):
        return str(entry)
    fields = entry
    if not isinstance(entry, Mapping):
        fields = {name: getattr(entry, name, None) for name in (*_IDS, "metadata")}
    metadata = fields.get("metadata")
    if isinstance(metadata, Mapping):
        fields = {**metadata, **{name: value for name, value in fields.items() if value is not None}}
    for name in _IDS:
        if fields.get(name) is not None:
            return str(fields[name])
    raise InputError(f"a document that was {noun} has no id: {entry!r:.80}", hint="Give it an id.", code="no-ids")


def _grades(value: Any) -> dict[str, int]:
    """Ids with their grades; 1 where there is none."""
    if isinstance(value, Mapping):
        return {str(doc): int(grade) for doc, grade in value.items()}
    grades = {}
    for doc, entry in zip(_ids(value, "expected"), value, strict=True):
        grades[doc] = 1
        if isinstance(entry, Mapping) and "grade" in entry:
            grades[doc] = int(entry["grade"])
    return grades
