"""From the id of a chunk, a turn or a passage to the id of its document."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from goldrank.base import ids
from goldrank.base.errors import OptionError
from goldrank.base.escaping import shown
from goldrank.base.notes import Note

if TYPE_CHECKING:
    from goldrank.base.types import DocumentOf

_HINT = (
    'Pass a separator ("#" makes doc of doc#3), a regular expression with one group ("(.*)-p[0-9]+"), a dict from '
    "chunks to documents, the path of a file with these two columns, or a function."
)


def document_of(rule: DocumentOf) -> Callable[[str], str]:
    """The function from the id of a part to the id of its document, made from any kind of rule."""
    if isinstance(rule, Mapping):
        documents = {_id(part): _id(document) for part, document in rule.items()}
        return lambda part: documents.get(part, part)
    if isinstance(rule, re.Pattern) or (isinstance(rule, str) and "(" in rule):
        return _by_pattern(rule)
    if isinstance(rule, os.PathLike) or (isinstance(rule, str) and os.path.isfile(rule)):
        from goldrank.io.by_id.parts_file import read_parts

        return document_of(read_parts(rule))
    if isinstance(rule, str) and _names_file(rule):
        raise OptionError(f"there is no file {rule!r:.80}", hint=_HINT)
    if isinstance(rule, str) and rule:
        return lambda part: _before_last(part, rule)
    if callable(rule):
        return lambda part: _id(rule(part))
    raise OptionError(f"doc_of is {shown(rule, 60)}", hint=_HINT)


def _names_file(rule: str) -> bool:
    """Whether a text is the name of a file rather than a separator."""
    return len(rule) > 4 and rule.lower().endswith((".tsv", ".csv", ".txt"))


def unmoved_note(parts: Iterable[str], document: Callable[[str], str]) -> list[Note]:
    """What is said of parts that the rule leaves as they are; nothing if it changes all of them."""
    unmoved = [part for part in dict.fromkeys(parts) if document(part) == part]
    if not unmoved:
        return []
    return [Note.of("parts-unmoved", count=len(unmoved), samples=unmoved)]


def _before_last(part: str, separator: str) -> str:
    """The part of an id before the last separator; the id itself if that part is empty."""
    return part.rpartition(separator)[0] or part


def _by_pattern(rule: str | re.Pattern[str]) -> Callable[[str], str]:
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise OptionError(f"doc_of is {rule!r:.80}, which is not a regular expression: {error}", hint=_HINT) from None
    if pattern.groups != 1:
        raise OptionError(f"doc_of has {pattern.groups} groups: {pattern.pattern:.80}", hint=_HINT)

    def document(part: str) -> str:
        matched = pattern.fullmatch(part)
        if matched is None:
            return part
        return matched[1] or part

    return document


def _id(value: Any) -> str:
    return ids.as_text(value, "document id", "doc_of")
