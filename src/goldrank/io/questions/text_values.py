"""Texts, references and evidence from the values that tools keep them in: strings, objects, lists of either."""

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
from goldrank.io.questions.support_words import SUPPORT

NUMBER = Real | Decimal
"""What a score may be; Python does not count decimals among the real numbers."""
TEXT_HINT = f"A text is a string, or an object with one of: {', '.join(TEXT_FIELDS['text'])}."
EVIDENCE_HINT = (
    'Evidence is {"source": ..., "start": ..., "end": ...}, or {"any_of": [...]} or {"all_of": [...]} of such.'
)


NOT_LOCATED = -1
"""Where a text starts whose splitter did not find it in its source, as LangChain writes it."""


class RetrievedText(NamedTuple):
    """A retrieved text and what is known of it. Without a text it is an id alone."""

    text: str | None
    id: str | None = None
    source: str | None = None
    span: Span | None = None
    score: float | None = None


def shown(value: Any) -> str:
    """A value for a message, short."""
    if absent(value):
        return "null"
    return f"{ids.show(repr(value), 40)} (of type {type(value).__name__})"


def listed(value: Any, what: str, at: str) -> list[Any] | tuple[Any, ...]:
    """A list, also one of numpy's, or the error."""
    if isinstance(value, list | tuple):
        return value

    for convert in ("tolist", "to_list"):
        if hasattr(value, convert) and isinstance(entries := getattr(value, convert)(), list):
            return entries

    hint = "A question for which nothing was found has an empty list." if absent(value) else None
    if isinstance(value, str):
        hint = "One text alone is a list, too: [text]."
    elif ids.has_no_order(value):
        hint = "Give a list: a set has no order, so that it gives another result the next time."
    elif isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return list(value)

    raise InputError(f"is {shown(value)}, not a list of {what}", where=at, hint=hint, code="wrong-type")


def retrieved_text(value: Any, at: str) -> RetrievedText:
    """What a retrieved text, or the object or pair (text, score) that holds it, says of itself."""
    if isinstance(value, str):
        return RetrievedText(value)
    if absent(value):
        return RetrievedText(None)

    is_list = isinstance(value, tuple | list)
    if is_list and len(value) == 2 and isinstance(value[1], NUMBER) and not isinstance(value[0], list | tuple):
        return retrieved_text(value[0], at)._replace(score=float(value[1]))
    if is_list or isinstance(value, bytes | bool | NUMBER):
        raise InputError(f"is {shown(value)}, not a text", where=at, hint=TEXT_HINT)

    outer = value
    for wrapper in ("node", "document", "kwargs"):  # LlamaIndex, pairs with a score, LangChain's own JSON
        inner = _get(value, wrapper)
        if not isinstance(inner, str | int | NoneType) and (wrapper == "node" or not _texts(value)) and _texts(inner):
            value = inner
            break

    texts = _texts(value)
    if len({text for _, text in texts}) > 1:
        names = " and ".join(f"'{name}'" for name, _ in texts)
        hint = f"Say which by a path into the list, for example fields={{'retrieved': 'documents.{texts[0][0]}'}}."
        raise InputError(f"{names} may both be the text", where=at, hint=hint)

    text = texts[0][1] if texts else None
    meta = next((m for name in ("metadata", "meta") if isinstance(m := _get(value, name), Mapping)), {})
    given_id = _first((outer, value), "id", str | Integral)
    if given_id is None:  # an id may be an object such as a UUID
        others = (_get(value, name) for name in TEXT_FIELDS["id"])
        given_id = next((str(other) for other in others if not absent(other) and not callable(other)), None)

    text_id = None if given_id is None else ids.as_text(given_id, "document id", at)
    given_score = _first((outer, value), "score", NUMBER)
    score = None if given_score is None else float(given_score)
    if not texts and not has_text_field(value):
        if text_id is None or not isinstance(value, Mapping):
            what = f"a {type(value).__name__}"
            if isinstance(value, Mapping):
                what = f"an object with {', '.join(ids.show(str(key)) for key in value) or 'nothing'}"
            raise InputError(f"is {what} without a text", where=at, hint=TEXT_HINT)
        return RetrievedText(None, text_id, score=score)

    given_source = _first((value, meta), "source", str | Integral)
    source = None if given_source is None else str(given_source)
    span = None
    start = _first((value, meta), "start", Integral)
    if start == NOT_LOCATED:
        start = None

    if source is not None and start is not None and text is not None:
        end = _first((value, meta), "end", Integral)
        end = start + len(text) if end is None else end
        if not 0 <= start <= end:
            raise InputError(f"characters {start} to {end} are no stretch of a text", where=at)
        span = Span(source, int(start), int(end))

    return RetrievedText(text, text_id, source, span, score)


def document_ids(value: Any, at: str) -> tuple[str, ...]:
    """A list of ids, or the error for one that has none in a place."""
    entries = [value] if isinstance(value, str) else listed(value, "ids", at)
    for i, entry in enumerate(entries):
        if absent(entry):
            raise InputError("is null, not an id", where=f"{at}[{i}]", hint="Leave it out, or give its id.")
    return tuple([ids.as_text(entry, "document id", f"{at}[{i}]") for i, entry in enumerate(entries)])


def graded_ids(value: Any, at: str) -> dict[str, float]:
    """Ids with grades: a list of ids (each 1) or of {"id": ..., "grade": ...}, or a mapping from ids to grades."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        entries = [value] if isinstance(value, str) else listed(value, "ids", at)
        pairs = []
        for i, entry in enumerate(entries):
            if not isinstance(entry, Mapping):
                pairs.append((document_ids([entry], f"{at}[{i}]")[0], 1))
            elif absent(entry.get("id")):
                raise InputError("has no id", where=f"{at}[{i}]", hint='For example {"id": "d1", "grade": 2}.')
            else:
                grade = _given_grade(entry)
                pairs.append((entry["id"], 1 if absent(grade) else grade))

    grades: dict[str, float] = {}
    for name, grade in pairs:
        key, checked = ids.as_text(name, "document id", at), check_grade(grade, at, real_grades=True)
        if grades.setdefault(key, checked) != checked:
            what = f"'{ids.show(key)}' has two grades, {grades[key]:g} and {checked:g}"
            raise InputError(what, where=at, code="contradicting-judgements")

    return grades


def _given_grade(entry: Mapping[str, Any]) -> Any:
    name = first_present(entry, ENTRY_GRADE)
    if name is None:
        return None
    return entry[name]


def references(value: Any, at: str, counts: Counter[str]) -> tuple[Reference, ...]:
    """References from a text, an object or a list of these; a list in the list holds alternatives."""
    if absent(value):
        return ()

    entries = [value] if isinstance(value, str | Mapping) else listed(value, "references", at)
    kept: list[Reference] = []
    for i, entry in enumerate(entries):
        if type(entry) is str:
            if entry and not entry.isspace():
                kept.append(Reference((entry,)))
            else:
                counts["empty-references"] += 1
            continue
        reference = _reference(entry, f"{at}[{i}]" if entries is not value or isinstance(value, list) else at)
        filled = tuple(text for text in reference.texts if text and not text.isspace())
        counts["empty-references"] += len(reference.texts) - len(filled)
        if filled:
            kept.append(reference._replace(texts=filled))

    return tuple(kept)


def from_cell(text: str, at: str, counts: Counter[str]) -> Any:
    """The list, object or text that a cell of a text table holds."""
    stripped = text.strip()
    if not stripped.startswith(("[", "{")):
        if stripped:
            counts["single-cells"] += 1
        if stripped:
            return [text]
        return []

    with suppress(ValueError, RecursionError):
        return json.loads(stripped)

    try:
        tokens = tokenize.generate_tokens(io.StringIO(stripped).readline)
        words = [token.type for token in tokens if token.type != tokenize.NL]
        if (tokenize.STRING, tokenize.STRING) not in itertools.pairwise(words):
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        hint = 'Expected ["one text", "another"].'
        raise InputError(f"is no list in JSON: '{ids.show(stripped, 60)}'", where=at, hint=hint) from None

    what = "is a list without commas, as numpy prints it: what belongs to which text is lost"
    raise InputError(what, where=at, hint="Write the items as JSON Lines or Parquet.")


def _reference(entry: Any, at: str) -> Reference:
    if isinstance(entry, Reference):
        return entry
    grade: float = 1
    if isinstance(entry, Mapping):
        grade = _grade(entry, at)
        if not absent(either := entry.get("any_of")):
            entry, at = listed(either, "texts", f"{at}.any_of"), f"{at}.any_of"
    if isinstance(entry, list | tuple):
        return Reference(tuple(_text(text, f"{at}[{i}]") for i, text in enumerate(entry)), grade)
    return Reference((_text(entry, at),), grade)


IMPORTANCE = {"vital": 2, "okay": 1}
"""The grades of nuggets as TREC names them."""


def _grade(entry: Mapping[str, Any], at: str) -> float:
    """The grade of a reference: a number, or how important it is in TREC's words."""
    given, importance = _given_grade(entry), entry.get("importance")
    grade = None if absent(given) else check_grade(given, at, real_grades=True)
    if absent(importance):
        if grade is None:
            return 1
        return grade

    word = importance.strip().casefold() if isinstance(importance, str) else ""
    if word not in IMPORTANCE:
        hint = f"It is one of: {', '.join(IMPORTANCE)}; a number is called grade."
        raise InputError(f"the importance is {shown(importance)}", where=at, hint=hint)

    if grade not in (None, IMPORTANCE[word]):
        raise InputError(f"the grade is {grade:g}, and the importance {word} is {IMPORTANCE[word]}", where=at)
    return IMPORTANCE[word]


def nuggets(value: Any, at: str, retrieved: int, counts: Counter[str]) -> tuple[Nugget, ...]:
    """Nuggets from a list of texts or objects with text, importance and assignment (or support)."""
    return tuple(
        [_nugget(entry, f"{at}[{i}]", retrieved, counts) for i, entry in enumerate(listed(value, "nuggets", at))]
    )


def _nugget(entry: Any, at: str, retrieved: int, counts: Counter[str]) -> Nugget:
    if isinstance(entry, str):
        return Nugget(entry)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
        hint = 'For example {"text": "...", "importance": "vital", "assignment": "support"}.'
        raise InputError(f"is {shown(entry)}, not a nugget", where=at, hint=hint)

    importance = entry.get("importance")
    grade: float = IMPORTANCE["okay"]
    if not absent(importance):
        grade = IMPORTANCE.get(importance, 0) if isinstance(importance, str) else 0
        counts["unknown-nugget-labels"] += importance not in (*IMPORTANCE, "failed")

    given = entry.get("assignment") if absent(entry.get("support")) else entry.get("support")
    if absent(given):
        return Nugget(entry["text"], grade)
    if isinstance(given, str):
        return Nugget(entry["text"], grade, _degree(given, counts))
    degrees = tuple([_degree(label, counts) for label in listed(given, "labels", at)])
    if len(degrees) != retrieved:
        hint = "Support is one label, or one for each retrieved text in the same order."
        raise InputError(f"has {len(degrees):,} labels for {retrieved:,} retrieved texts", where=at, hint=hint)
    return Nugget(entry["text"], grade, degrees)


def _degree(label: Any, counts: Counter[str]) -> float:
    """How far a nugget is supported, by its label."""
    if label in SUPPORT:
        return SUPPORT[label]
    counts["unknown-nugget-labels"] += 1
    return 0.0


def yes_or_no(value: Any, at: str) -> bool:
    """A value that says yes or no: a bool, 0 or 1, or a word in a cell."""
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    is_yes = words.get(value.strip().casefold()) if isinstance(value, str) else None
    if is_yes is None and isinstance(value, Real) and value in (0, 1):
        is_yes = bool(value)
    if is_yes is None and type(value).__name__ in ("bool", "bool_"):  # numpy's is no number
        is_yes = bool(value)
    if is_yes is None:
        raise InputError(f"is {shown(value)}, not true or false", where=at)
    return is_yes


def answer(value: Any, what: str, at: str) -> str:
    """The text of an answer; several texts are its parts."""
    parts = [value] if isinstance(value, str) else value
    if isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts):
        return "\n".join(parts)
    hint = f"If it is something else, say fields={{'{what}': None}} (Python), or name the field that holds it."
    raise InputError(f"the {what} is {shown(value)}, not text", where=at, hint=hint)


def _text(value: Any, at: str) -> str:
    text = None if isinstance(value, tuple) else retrieved_text(value, at).text
    if text is None:
        raise InputError(f"is {shown(value)}, not a text", where=at, hint=TEXT_HINT)
    return text


def _get(value: Any, name: str) -> Any:
    """A key of a mapping or an attribute of an object; None if there is none, or if it cannot be had."""
    if type(value) is dict or isinstance(value, Mapping):
        return value.get(name)
    try:
        return getattr(value, name, None)
    except Exception:  # a property may refuse: LlamaIndex's .text does for nodes without text
        return None


def has_text_field(value: Any) -> bool:
    """Whether there is a place for a text, be it empty."""
    if isinstance(value, Mapping):
        return any(name in value for name in TEXT_FIELDS["text"])
    return any(hasattr(type(value), name) or name in getattr(value, "__dict__", ()) for name in TEXT_FIELDS["text"])


def _texts(value: Any) -> list[tuple[str, str]]:
    texts = [(name, text) for name in TEXT_FIELDS["text"] if isinstance(text := _get(value, name), str)]
    if not texts and not isinstance(value, Mapping) and callable(content := _get(value, "get_content")):
        text = content()
        texts = [("get_content()", text)] if isinstance(text, str) else []
    return texts


def _first(places: Iterable[Any], wanted: str, kind: Any) -> Any:
    """The first value of a type that goes by one of the names for `wanted`."""
    for place in places:
        for name in TEXT_FIELDS[wanted]:
            value = _get(place, name)
            if isinstance(value, kind) and not isinstance(value, bool) and not absent(value):
                return value
    return None
