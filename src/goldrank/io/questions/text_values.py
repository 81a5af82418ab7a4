"""Texts, references and evidence from the values of different tools: strings, objects, lists of either."""

from __future__ import annotations

import ast
import io
import itertools
import json
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from types import NoneType
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.grades import check_grade
from goldrank.data.text_item import Nugget, Reference, Span
from goldrank.io.aliases import ENTRY_GRADE, TEXT_FIELDS, first_present
from goldrank.io.objects.field_values import absent

NUMBER = Real | Decimal
"""Types of scores; `Decimal` is not a `Real` in Python."""
SUPPORT = {
    **dict.fromkeys(("support", "full_support", "full"), 1.0),
    **dict.fromkeys(("partial_support", "partial"), 0.5),
    **dict.fromkeys(("not_support", "no_support", "none", "failed"), 0.0),
}
"""How far a text supports a nugget or a sentence, by the labels of nuggetizer and others; case matters."""
TEXT_HINT = f"A text is a string, or an object with one of: {', '.join(TEXT_FIELDS['text'])}."
EVIDENCE_HINT = (
    'Evidence is {"source": ..., "start": ..., "end": ...}, or {"any_of": [...]} or {"all_of": [...]} of such.'
)

NOT_LOCATED = -1
"""The start that LangChain writes for a text that its splitter did not find in its source."""


class RetrievedText(NamedTuple):
    """A retrieved text with its id, source, position and score, as far as they are known; perhaps only an id."""

    text: str | None
    id: str | None = None
    source: str | None = None
    span: Span | None = None
    score: float | None = None


def shown(value: Any) -> str:
    """A short description of a value for a message."""
    if absent(value):
        return "null"
    return f"{ids.show(repr(value), 40)} (of type {type(value).__name__})"


def listed(value: Any, noun: str, where: str) -> list[Any] | tuple[Any, ...]:
    """A value that must be a list, an array or another ordered iterable, as a list."""
    if isinstance(value, list | tuple):
        return value

    for convert in ("tolist", "to_list"):
        if hasattr(value, convert):
            entries = getattr(value, convert)()
            if isinstance(entries, list):
                return entries

    hint = None
    if absent(value):
        hint = "A question for which nothing was found has an empty list."
    elif isinstance(value, str):
        hint = "One text alone is a list, too: [text]."
    elif ids.has_no_order(value):
        hint = "Give a list: a set has no order, so it may give another result the next time."
    elif isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return list(value)

    raise InputError(f"is {shown(value)}, not a list of {noun}", where=where, hint=hint, code="wrong-type")


def retrieved_text(value: Any, where: str) -> RetrievedText:
    """A retrieved text from a text, an object that holds it, or a pair (text, score)."""
    if isinstance(value, str):
        return RetrievedText(value)
    if absent(value):
        return RetrievedText(None)

    is_list = isinstance(value, tuple | list)
    if is_list and len(value) == 2 and isinstance(value[1], NUMBER) and not isinstance(value[0], list | tuple):
        return retrieved_text(value[0], where)._replace(score=float(value[1]))
    if is_list or isinstance(value, bytes | bool | NUMBER):
        raise InputError(f"is {shown(value)}, not a text", where=where, hint=TEXT_HINT)

    outer = value
    for wrapper in ("node", "document", "kwargs"):  # LlamaIndex, pairs with a score, LangChain's own JSON
        inner = _get(value, wrapper)
        if not isinstance(inner, str | int | NoneType) and (wrapper == "node" or not _texts(value)) and _texts(inner):
            value = inner
            break

    text = _only_text(value, where)
    text_id = _text_id(outer, value, where)
    score = _first((outer, value), "score", NUMBER)
    if score is not None:
        score = float(score)

    if text is None and not has_text_field(value):
        if text_id is None or not isinstance(value, Mapping):
            kind = f"a {type(value).__name__}"
            if isinstance(value, Mapping):
                kind = f"an object with {', '.join(ids.show(str(key)) for key in value) or 'nothing'}"
            raise InputError(f"is {kind} without a text", where=where, hint=TEXT_HINT)
        return RetrievedText(None, text_id, score=score)

    metadata = _metadata(value)
    source = _first((value, metadata), "source", str | Integral)
    if source is not None:
        source = str(source)
    span = None
    start = _first((value, metadata), "start", Integral)
    if start not in (None, NOT_LOCATED) and source is not None and text is not None:
        end = _first((value, metadata), "end", Integral)
        if end is None:
            end = start + len(text)
        if not 0 <= start <= end:
            raise InputError(f"characters {start} to {end} are not a stretch of a text", where=where)
        span = Span(source, int(start), int(end))

    return RetrievedText(text, text_id, source, span, score)


def _only_text(value: Any, where: str) -> str | None:
    """The text of an object; None if it has no text, an error if it has several."""
    texts = _texts(value)
    if len({text for _, text in texts}) > 1:
        names = " and ".join(f"'{name}'" for name, _ in texts)
        hint = f"Say which by a path into the list, for example fields={{'retrieved': 'documents.{texts[0][0]}'}}."
        raise InputError(f"{names} may both be the text", where=where, hint=hint)

    if not texts:
        return None
    return texts[0][1]


def _text_id(outer: Any, value: Any, where: str) -> str | None:
    """The id of a retrieved text; None if it has no id."""
    text_id = _first((outer, value), "id", str | Integral)
    if text_id is None:  # an id may be an object such as a UUID
        objects = (_get(value, name) for name in TEXT_FIELDS["id"])
        text_id = next((str(entry) for entry in objects if not absent(entry) and not callable(entry)), None)
    if text_id is None:
        return None
    return ids.as_text(text_id, "document id", where)


def _metadata(value: Any) -> Mapping[str, Any]:
    for name in ("metadata", "meta"):
        metadata = _get(value, name)
        if isinstance(metadata, Mapping):
            return metadata
    return {}


def document_ids(value: Any, where: str) -> tuple[str, ...]:
    """A value that must be a list of ids, or one id."""
    entries = _id_entries(value, where)
    for i, entry in enumerate(entries):
        if absent(entry):
            raise InputError("is null, not an id", where=f"{where}[{i}]", hint="Leave it out, or give its id.")
    return tuple([ids.as_text(entry, "document id", f"{where}[{i}]") for i, entry in enumerate(entries)])


def _id_entries(value: Any, where: str) -> list[Any] | tuple[Any, ...]:
    if isinstance(value, str):
        return [value]
    return listed(value, "ids", where)


def graded_ids(value: Any, where: str) -> dict[str, float]:
    """Ids with grades: a list of ids (each 1) or of {"id": ..., "grade": ...}, or a mapping from ids to grades."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        pairs = [_graded_id(entry, f"{where}[{i}]") for i, entry in enumerate(_id_entries(value, where))]

    grades: dict[str, float] = {}
    for name, number in pairs:
        doc = ids.as_text(name, "document id", where)
        grade = check_grade(number, where, real_grades=True)
        if grades.setdefault(doc, grade) != grade:
            problem = f"'{ids.show(doc)}' has two grades, {grades[doc]:g} and {grade:g}"
            raise InputError(problem, where=where, code="contradicting-judgements")

    return grades


def _graded_id(entry: Any, where: str) -> tuple[Any, Any]:
    """The id and the grade of an entry; the grade is 1 if the entry has none."""
    if not isinstance(entry, Mapping):
        return document_ids([entry], where)[0], 1
    if absent(entry.get("id")):
        raise InputError("has no id", where=where, hint='For example {"id": "d1", "grade": 2}.')
    grade = _grade_value(entry)
    if absent(grade):
        grade = 1
    return entry["id"], grade


def _grade_value(entry: Mapping[str, Any]) -> Any:
    """The grade in an entry, under any of its names; None if it has none."""
    name = first_present(entry, ENTRY_GRADE)
    if name is None:
        return None
    return entry[name]


def references(value: Any, where: str, counts: Counter[str]) -> tuple[Reference, ...]:
    """References from a text, an object or a list of these; an inner list holds alternatives."""
    if absent(value):
        return ()

    if isinstance(value, str | Mapping):
        value = [value]
    filled_references: list[Reference] = []
    for i, entry in enumerate(listed(value, "references", where)):
        if type(entry) is str:
            if entry and not entry.isspace():
                filled_references.append(Reference((entry,)))
            else:
                counts["empty-references"] += 1
            continue

        reference = _reference(entry, f"{where}[{i}]")
        filled = tuple(text for text in reference.texts if text and not text.isspace())
        counts["empty-references"] += len(reference.texts) - len(filled)
        if filled:
            filled_references.append(reference._replace(texts=filled))

    return tuple(filled_references)


def from_cell(text: str, where: str, counts: Counter[str]) -> Any:
    """The list, object or text in a cell of a text table."""
    stripped = text.strip()
    if not stripped:
        return []
    if not stripped.startswith(("[", "{")):
        counts["single-cells"] += 1
        return [text]

    with suppress(ValueError, RecursionError):
        return json.loads(stripped)

    try:
        tokens = tokenize.generate_tokens(io.StringIO(stripped).readline)
        words = [token.type for token in tokens if token.type != tokenize.NL]
        if (tokenize.STRING, tokenize.STRING) not in itertools.pairwise(words):
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        hint = 'Expected ["one text", "another"].'
        raise InputError(f"is not a list in JSON: '{ids.show(stripped, 60)}'", where=where, hint=hint) from None

    problem = "is a list without commas, as numpy prints it: what belongs to which text is lost"
    raise InputError(problem, where=where, hint="Write the items as JSON Lines or Parquet.")


def _reference(entry: Any, where: str) -> Reference:
    if isinstance(entry, Reference):
        return entry

    grade: float = 1
    if isinstance(entry, Mapping):
        grade = _grade(entry, where)
        if not absent(entry.get("any_of")):
            where = f"{where}.any_of"
            entry = listed(entry["any_of"], "texts", where)
    if isinstance(entry, list | tuple):
        return Reference(tuple(_text(text, f"{where}[{i}]") for i, text in enumerate(entry)), grade)
    return Reference((_text(entry, where),), grade)


IMPORTANCE = {"vital": 2, "okay": 1}
"""The grades of nuggets, by TREC's words."""


def _grade(entry: Mapping[str, Any], where: str) -> float:
    """The grade of a reference: a number, or its importance in TREC's words."""
    grade = None
    if not absent(_grade_value(entry)):
        grade = check_grade(_grade_value(entry), where, real_grades=True)

    importance = entry.get("importance")
    if absent(importance):
        if grade is None:
            return 1
        return grade

    word = ""
    if isinstance(importance, str):
        word = importance.strip().casefold()
    if word not in IMPORTANCE:
        hint = f"It is one of: {', '.join(IMPORTANCE)}; a number is called grade."
        raise InputError(f"the importance is {shown(importance)}", where=where, hint=hint)

    if grade not in (None, IMPORTANCE[word]):
        raise InputError(f"the grade is {grade:g}, and the importance {word} is {IMPORTANCE[word]}", where=where)
    return IMPORTANCE[word]


def nuggets(value: Any, where: str, retrieved: int, counts: Counter[str]) -> tuple[Nugget, ...]:
    """Nuggets from a list of texts or objects with text, importance and assignment (or support)."""
    entries = listed(value, "nuggets", where)
    return tuple([_nugget(entry, f"{where}[{i}]", retrieved, counts) for i, entry in enumerate(entries)])


def _nugget(entry: Any, where: str, retrieved: int, counts: Counter[str]) -> Nugget:
    if isinstance(entry, str):
        return Nugget(entry)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
        hint = 'For example {"text": "...", "importance": "vital", "assignment": "support"}.'
        raise InputError(f"is {shown(entry)}, not a nugget", where=where, hint=hint)

    importance = entry.get("importance")
    grade: float = IMPORTANCE["okay"]
    if not absent(importance):
        grade = 0
        if isinstance(importance, str):
            grade = IMPORTANCE.get(importance, 0)
        counts["unknown-nugget-labels"] += importance not in (*IMPORTANCE, "failed")

    support = entry.get("support")
    if absent(support):
        support = entry.get("assignment")
    if absent(support):
        return Nugget(entry["text"], grade)
    if isinstance(support, str):
        return Nugget(entry["text"], grade, _degree(support, counts))

    degrees = tuple([_degree(label, counts) for label in listed(support, "labels", where)])
    if len(degrees) != retrieved:
        hint = "Support is one label, or one for each retrieved text in the same order."
        raise InputError(f"has {len(degrees):,} labels for {retrieved:,} retrieved texts", where=where, hint=hint)
    return Nugget(entry["text"], grade, degrees)


def _degree(label: Any, counts: Counter[str]) -> float:
    """How far a text supports a nugget, by a label."""
    if label in SUPPORT:
        return SUPPORT[label]
    counts["unknown-nugget-labels"] += 1
    return 0.0


def yes_or_no(value: Any, where: str) -> bool:
    """A flag: a bool, 0 or 1, or a word in a cell."""
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if isinstance(value, str) and value.strip().casefold() in words:
        return words[value.strip().casefold()]
    if isinstance(value, Real) and value in (0, 1):
        return bool(value)
    if type(value).__name__ in ("bool", "bool_"):  # numpy's flag is not a number
        return bool(value)
    raise InputError(f"is {shown(value)}, not true or false", where=where)


def answer(value: Any, role: str, where: str) -> str:
    """The text of an answer; several texts are its parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    hint = f"If it is something else, say fields={{'{role}': None}} (Python), or name the field that holds it."
    raise InputError(f"the {role} is {shown(value)}, not text", where=where, hint=hint)


def _text(value: Any, where: str) -> str:
    text = None
    if not isinstance(value, tuple):
        text = retrieved_text(value, where).text
    if text is None:
        raise InputError(f"is {shown(value)}, not a text", where=where, hint=TEXT_HINT)
    return text


def _get(value: Any, name: str) -> Any:
    """A key of a mapping or an attribute of an object; None if it does not exist or raises an error."""
    if type(value) is dict or isinstance(value, Mapping):
        return value.get(name)
    try:
        return getattr(value, name, None)
    except Exception:  # a property may raise: LlamaIndex's .text does for nodes without text
        return None


def has_text_field(value: Any) -> bool:
    """Whether an object has a field for a text, also an empty one."""
    if isinstance(value, Mapping):
        return any(name in value for name in TEXT_FIELDS["text"])
    return any(hasattr(type(value), name) or name in getattr(value, "__dict__", ()) for name in TEXT_FIELDS["text"])


def _texts(value: Any) -> list[tuple[str, str]]:
    """The texts of an object with the names of their fields."""
    texts = []
    for name in TEXT_FIELDS["text"]:
        text = _get(value, name)
        if isinstance(text, str):
            texts.append((name, text))
    if texts or isinstance(value, Mapping):
        return texts

    get_content = _get(value, "get_content")
    if callable(get_content):
        text = get_content()
        if isinstance(text, str):
            return [("get_content()", text)]
    return []


def _first(objects: Iterable[Any], role: str, kind: Any) -> Any:
    """The first value of a type under one of the names of a role."""
    for entry in objects:
        for name in TEXT_FIELDS[role]:
            value = _get(entry, name)
            if isinstance(value, kind) and not isinstance(value, bool) and not absent(value):
                return value
    return None
