"""Which field of a record holds what: the names that RAG tools use, and a user's own by dotted paths."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from goldrank import ids
from goldrank.errors import InputError, OptionError, did_you_mean, one_of
from goldrank.io.json import step

Path = tuple[str, ...]

NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "question_id", "example_id", "id", "_id"),),
    "question": (("question", "user_input", "input", "query_text"), ("query",)),
    "retrieved": (
        (
            "retrieved", "retrieved_contexts", "retrieved_context", "retrieved_texts", "retrieved_docs",
            "retrieved_documents", "retrieved_chunks", "retrieval_context", "contexts", "documents",
        ),
    ),
    "references": (
        (
            "references", "reference_contexts", "expected_texts", "expected_contexts", "ground_truth_documents",
            "ground_truth_contexts", "ground_truth_context", "gold_docs",
        ),
        ("ground_truths", "ground_truth"),
    ),
    "retrieved_ids": (("retrieved_context_ids", "retrieved_ids"),),
    "evidence": (("evidence",),),
    "sources": (("sources",),),
    "latency": (("latency",),),
}  # fmt: skip
"""For each thing its names; those of a later group are taken only if there is none of an earlier one."""

ANSWERS = NAMES["references"][1]
"""Ragas' first names for the answer: references of last resort."""

NOUNS = {
    "query": "query's id",
    "question": "question",
    "retrieved": "retrieved texts",
    "references": "references",
    "retrieved_ids": "retrieved ids",
    "evidence": "evidence",
    "sources": "sources",
    "latency": "latency",
}
_MUST_BE_ONE = ("retrieved", "references", "evidence", "retrieved_ids")
_DEEPEVAL = {"retrieval_context", "input", "actual_output", "expected_output"}
"""Beside one of these, `context` is what should have been retrieved. Elsewhere it may be either."""
_NESTED = ("question", "query", "input", "user_input")
"""What LangSmith's `inputs` may call the question."""
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_MISSING = object()


class Found(NamedTuple):
    """The value of a field and its place in the record."""

    value: Any
    path: str


class _Plan(NamedTuple):
    """Where to look in records that have certain keys."""

    sure: list[tuple[str, str, str]]
    """What, its only key, and that as a path."""
    open: list[tuple[str, list[list[Path]]]]
    """What, and groups of paths among which the values decide."""


class Fields:
    """Finds the fields of records. `given` maps goldrank's names to dotted paths; None says that there is none."""

    def __init__(self, given: Mapping[str, str | None] | None = None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise OptionError(
                f"fields is {given!r:.60}, not a dict", hint='For example fields={"retrieved": "outputs.docs"}.'
            )
        self.given: dict[str, str | None] = {}
        for role, path in (given or {}).items():
            one_of(role, NAMES, "the name of a field")
            if path is not None and (not isinstance(path, str) or not path.strip(".")):
                raise OptionError(
                    f"the path of {role} is {path!r}", hint='A path is text, for example "outputs.docs"; None for none.'
                )
            self.given[role] = path
        self.said: dict[str, None] = {}
        """What was chosen where there was a choice, in words."""
        self._plans: dict[tuple[Any, ...], _Plan] = {}

    def wants(self, column: str) -> bool:
        """Whether a column of a table can be of use."""
        roots = {path.split(".")[0] for path in self.given.values() if path} | set(self.given.values())
        known = {name for groups in NAMES.values() for group in groups for name in group}
        return column in roots or _snake(column) in known | {"context", "inputs", "retrieval_error"} | _DEEPEVAL

    def find(self, record: Mapping[str, Any], where: str) -> dict[str, Found]:
        """What the record holds, by goldrank's names."""
        keys = tuple(record)
        plan = self._plans.get(keys)
        if plan is None:
            plan = self._plans[keys] = self._plan(keys)
        found = {role: Found(record[key], path) for role, key, path in plan.sure}
        for role, groups in plan.open:
            for group in groups:
                if one := self._one(role, group, record, where):
                    found[role] = one
                    break
        for role, path in self.given.items():
            if path is not None:
                found[role] = self._mapped(role, path, record, where)
        question = found.get("question")
        # `query` is an id beside a question; alone it is the question and, for want of another, its id.
        if "query" not in self.given and isinstance(record.get("query"), str | int):
            is_question = question is not None and question.path == "$.query"
            if not (is_question and "query" in found):
                if "query" in found and not is_question:
                    self.said[f"query ids are those of 'query', not of '{found['query'].path[2:]}'"] = None
                found["query"] = Found(record["query"], "$.query")
        return found

    def missing(self, role: str, record: Mapping[str, Any], where: str) -> InputError:
        """The error for a field that is needed and not there."""
        there = list(_paths(record))
        hints = []
        known = [name for group in NAMES[role] for name in group]
        inner = [name for name in there if "." in name and _snake(name.rpartition(".")[2]) in known]
        for name in there:
            near = difflib.get_close_matches(_snake(name.rpartition(".")[2]), known, n=1, cutoff=0.8)
            if near and near[0] != _snake(name) and name not in inner:
                hints.append(f"Is '{ids.show(name)}' meant to be {near[0]}?")
                break
        if role == "retrieved" and {_snake(name) for name in there} & set(NAMES["retrieved_ids"][0]):
            hints.append("Ids alone are evaluated by goldrank.evaluate(qrels, run).")
        if role == "references" and "context" in there:
            hints.append("Is 'context' what was retrieved or what should have been?")
        path = inner[0] if inner else "..."
        quoted = f"'{path}'" if inner else path
        hints.append(
            f"Say which field it is: fields={{'{role}': {quoted}}}, or --map {role}={path} on the command line."
        )
        listed = ", ".join(ids.show(name) for name in there[:30]) or "none"
        return InputError(f"no {NOUNS[role]} found; fields are: {listed}", where=where, hint=" ".join(hints))

    def _plan(self, keys: tuple[Any, ...]) -> _Plan:
        plan = _Plan([], [])
        for role in NAMES:
            groups = self._candidates(role, keys)
            if groups and len(groups[0]) == 1 and len(groups[0][0]) == 1:
                key = groups[0][0][0]
                plan.sure.append((role, key, "$" + step(key)))
                self._say_answers(role, key)
            elif groups:
                plan.open.append((role, groups))
        return plan

    def _say_answers(self, role: str, key: str) -> None:
        if role == "references" and _snake(key) in ANSWERS:
            self.said[f"references are the answers in '{key}'"] = None

    def _candidates(self, role: str, keys: tuple[Any, ...]) -> list[list[Path]]:
        if role in self.given:
            return []
        by_name: dict[str, list[str]] = {}
        for key in keys:
            if isinstance(key, str):
                by_name.setdefault(_snake(key), []).append(key)
        groups: list[list[Path]] = [
            [(key,) for name in group for key in by_name.get(name, ())] for group in NAMES[role]
        ]
        if role == "references" and "context" in by_name and by_name.keys() & _DEEPEVAL:
            groups[0] += [(key,) for key in by_name["context"]]
        if role == "question" and "inputs" in by_name:
            groups.append([("inputs", name) for name in _NESTED])
        return [group for group in groups if group]

    def _one(self, role: str, group: list[Path], record: Mapping[str, Any], where: str) -> Found | None:
        found = [(path, value) for path in group if (value := _value(record, path)) is not _MISSING]
        if len(found) > 1:
            found = [(path, value) for path, value in found if value is not None] or found[:1]
        if not found:
            return None
        path, value = found[0]
        if len(found) > 1:
            shown = " and ".join(f"'{'.'.join(other)}'" for other, _ in found)
            if role in _MUST_BE_ONE:
                raise InputError(
                    f"{shown} may both be the {NOUNS[role]}",
                    where=where,
                    hint=f"Say which: fields={{'{role}': '{'.'.join(path)}'}}, "
                    f"or --map {role}={'.'.join(path)} on the command line.",
                )
            self.said[f"of {shown} the first was taken as the {NOUNS[role]}"] = None
        self._say_answers(role, path[0])
        return Found(value, "$" + "".join(map(step, path)))

    def _mapped(self, role: str, path: str, record: Mapping[str, Any], where: str) -> Found:
        keys: Path = (path,) if path in record else tuple(path.split("."))
        value = _value(record, keys)
        if value is _MISSING:
            there = list(_paths(record))
            raise InputError(
                f"has no field '{path}' for the {NOUNS[role]}; fields are: "
                f"{', '.join(map(ids.show, there[:30])) or 'none'}",
                where=where,
                hint=did_you_mean(path, there),
            )
        return Found(value, "$" + "".join(map(step, keys)))


def _value(record: Any, path: Path) -> Any:
    """What stands at a path; a name that is no position is looked up in every entry of a list."""
    for at, key in enumerate(path):
        if isinstance(record, Mapping):
            if key not in record:
                return _MISSING
            record = record[key]
        elif isinstance(record, list | tuple):
            if key.isdecimal():
                if int(key) >= len(record):
                    return _MISSING
                record = record[int(key)]
            else:
                found = [_value(entry, path[at:]) for entry in record]
                return _MISSING if any(value is _MISSING for value in found) else found
        else:
            return _MISSING
    return record


def _paths(record: Mapping[Any, Any], before: str = "", depth: int = 3) -> Iterator[str]:
    """The fields of a record, those of objects in it by dotted paths."""
    for key, value in record.items():
        if isinstance(value, Mapping) and value and depth > 1:
            yield from _paths(value, f"{before}{key}.", depth - 1)
        else:
            yield f"{before}{key}"


def _snake(name: str) -> str:
    """retrievalContext as retrieval_context."""
    return _HUMP.sub(lambda hump: "_" + hump[1].lower(), name)
