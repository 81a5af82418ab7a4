"""Ranked documents from an engine's answer: by the shape of a known engine, or by paths that the file names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.io.engines.answer_shapes import SHAPES, AnswerShape, shape_of
from goldrank.retrieval.failures import AskFailed

MOST_DEPTH = 100
MOST_HITS = 10_000
_STEP = re.compile(r"\[(\d+|\*)\]|([^.\[\]]+)")


class RankedDocument(NamedTuple):
    """One result."""

    id: str
    score: float
    text: str | None = None


@dataclass(frozen=True)
class AnswerPaths:
    """Where things are in an answer, by dotted paths with `[0]` for a position and `[*]` for all of them."""

    hits: str | None = None
    """None: the shape of the answer decides."""
    id: str | None = None
    score: str | None = None
    text: str | None = None
    took_ms: str | None = None
    took_s: str | None = None
    error: str | None = None
    """Anything there is a failure."""
    partial: tuple[str, ...] = ()
    """Anything but zero, false and null there says that not all of the engine answered."""


@dataclass(frozen=True)
class ReadAnswer:
    """The results of one query, best first, and what the engine says of them."""

    documents: tuple[RankedDocument, ...]
    took_ms: float | None = None
    is_partial: bool = False
    has_scores: bool = True
    """Whether scores are the engine's own."""


class _Hit(NamedTuple):
    record: Any
    doc: Any
    score: Any


def parsed(body: str) -> Any:
    """The JSON of an answer, if it is not nested too deeply."""
    try:
        data = json.loads(body)
    except RecursionError:
        raise AskFailed("too-deep", "the answer is nested too deeply") from None
    except ValueError as error:
        raise AskFailed("not-json", f"the answer is not JSON ({error}); it begins {ids.show(body[:80])!r}") from None
    _check_depth(data)
    return data


def _check_depth(data: Any) -> None:
    level = [data]
    for _ in range(MOST_DEPTH):
        containers = [node for node in level if isinstance(node, dict | list)]
        if not containers:
            return
        level = []
        for node in containers:
            if isinstance(node, dict):
                level += node.values()
            else:
                level += node

    if any(isinstance(node, dict | list) for node in level):
        raise AskFailed("too-deep", f"the answer is nested more than {MOST_DEPTH} deep")


def read_answer(data: Any, paths: AnswerPaths, shape: AnswerShape | None, k: int) -> ReadAnswer:
    """The first `k` results of an answer."""
    if paths.error:
        reason = value_at(data, paths.error)
        if reason:
            raise _engine_error(reason)

    if paths.hits is None:
        hits, is_partial = _by_shape(data, shape)
    else:
        hits, is_partial = _by_path(data, paths), False
    if any(value_at(data, path) for path in paths.partial):
        is_partial = True

    ranked = _ranked(hits[:MOST_HITS], paths, k)
    return ReadAnswer(ranked.documents, _took_ms(data, paths), is_partial, ranked.has_scores)


def _by_shape(data: Any, shape: AnswerShape | None) -> tuple[list[_Hit], bool]:
    known = shape or shape_of(data)
    if known is None:
        keys = ""
        if isinstance(data, Mapping):
            keys = ", ".join(ids.show(str(key), 40) for key in list(data)[:12])
        message = f"the answer is of no engine that is known; it has: {keys or type(data).__name__}"
        raise AskFailed("no-hits-path", message + "; name the path of its results: [response] hits")

    if isinstance(data, Mapping):
        reason = known.failure(data)
        if reason is not None:
            raise _engine_error(reason)

    try:
        page = known.page(data, "the answer")
    except InputError as error:
        raise AskFailed("no-hits-path", ids.show(str(error.what), 200)) from None
    return [_Hit(hit.record, hit.doc, hit.score) for hit in page.hits], page.is_partial


def _by_path(data: Any, paths: AnswerPaths) -> list[_Hit]:
    listed = value_at(data, paths.hits or "")
    if not isinstance(listed, list):
        message = f"there is no list of results at {paths.hits}"
        raise AskFailed("no-hits-path", f"{message}; the answer begins {ids.show(json.dumps(data)[:120], 120)}")
    return [_Hit(record, None, None) for record in listed]


def _ranked(hits: Sequence[_Hit], paths: AnswerPaths, k: int) -> ReadAnswer:
    """Each document once, at its first rank; by the engine's scores where they descend, else by the list's order."""
    documents: dict[str, tuple[Any, str | None]] = {}
    for hit in hits:
        doc = _doc(hit, paths)
        if paths.score:
            score = value_at(hit.record, paths.score)
        else:
            score = hit.score
        text = None
        if paths.text:
            text = value_at(hit.record, paths.text)
        if not isinstance(text, str):
            text = None
        documents.setdefault(doc, (_number(score), text))

    first_k = list(documents.items())[:k]
    scores = [score for _, (score, _) in first_k]
    has_scores = None not in scores and all(first >= second for first, second in pairwise(scores))
    if not has_scores:
        scores = [-float(rank) for rank in range(1, len(first_k) + 1)]

    ranked = [RankedDocument(doc, score, text) for (doc, (_, text)), score in zip(first_k, scores, strict=True)]
    return ReadAnswer(tuple(ranked), has_scores=has_scores)


def _doc(hit: _Hit, paths: AnswerPaths) -> str:
    doc = hit.doc
    if paths.id is not None:
        doc = value_at(hit.record, paths.id)
    elif doc is None and not isinstance(hit.record, Mapping | list):
        doc = hit.record
    if isinstance(doc, list) and len(doc) == 1:  # a field with several values
        doc = doc[0]

    text = ""
    if isinstance(doc, str | int) and not isinstance(doc, bool):
        text = str(doc)
    if not text or not text.isprintable() or any(sign.isspace() for sign in text):
        raise AskFailed("bad-id", f"a result has no id that a run can hold: {ids.show(repr(doc)[:80])}")
    if len(ids.encode(text)) > ids.MAX_ID_BYTES:
        raise AskFailed("bad-id", f"a result has an id of more than {ids.MAX_ID_BYTES:,} bytes")
    return text


def _number(score: Any) -> float | None:
    """A score as a number; Weaviate writes it as text. None where it is not a finite number."""
    if isinstance(score, bool) or not isinstance(score, int | float | str):
        return None
    try:
        number = float(score)
    except (ValueError, OverflowError):
        return None
    if math.isfinite(number):
        return number
    return None


def _took_ms(data: Any, paths: AnswerPaths) -> float | None:
    if paths.took_s is not None:
        seconds = _number(value_at(data, paths.took_s))
        if seconds is None:
            return None
        return seconds * 1000
    if paths.took_ms:
        return _number(value_at(data, paths.took_ms))
    return None


def _engine_error(reason: Any) -> AskFailed:
    return AskFailed("engine-error", f"the engine says: {ids.show(_reason_text(reason), 200)}")


def _reason_text(reason: Any) -> str:
    if isinstance(reason, str):
        return reason
    return json.dumps(reason)[:500]


def value_at(data: Any, path: str) -> Any:
    """The value at a path; None if there is no such path.

    >>> data = {"a": [{"b": 1}, {"b": 2}]}
    >>> value_at(data, "a[1].b"), value_at(data, "a[*].b"), value_at([7, 8], "[0]")
    (2, [1, 2], 7)
    """
    if isinstance(data, Mapping) and path in data:
        return data[path]
    return _walked(data, [(step[1], step[2]) for step in _STEP.finditer(path)])


def _walked(data: Any, steps: Sequence[tuple[str | None, str | None]]) -> Any:
    for i, (position, name) in enumerate(steps):
        if position == "*":
            if isinstance(data, list):
                return [_walked(entry, steps[i + 1 :]) for entry in data]
            return None
        if name is not None:
            if isinstance(data, Mapping):
                data = data.get(name)
            else:
                data = None
        elif isinstance(data, list) and int(position or 0) < len(data):
            data = data[int(position or 0)]
        else:
            return None

    return data


def is_path(path: str) -> bool:
    """Whether a text can be a path: names with dots between them, and positions."""
    return bool(path) and _STEP.sub("", path).strip(".") == "" and ".." not in path


def shape_named(name: str) -> AnswerShape:
    """The shape of a known engine."""
    return next(shape for shape in SHAPES if shape.name == name)
