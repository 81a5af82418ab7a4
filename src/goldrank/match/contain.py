"""The rule that a chunk matches the document that it was cut from."""

from __future__ import annotations

import json

_SPEAKERS = ("user: ", "assistant: ")


def is_part(chunk: str, document: str) -> bool:
    """Whether a chunk stands in a document, as it is or with JSON's escapes.

    A first line that starts with "Date: " and a speaker ("user: ", "assistant: ") are not part of the text.
    A chunk without any text matches nothing.

    >>> is_part("Date: 2023-01-02\\nuser: hello", "say hello world")
    True
    """
    text = _without_date(chunk)
    for speaker in _SPEAKERS:
        text = text.removeprefix(speaker)
    if not text.strip():
        return False
    return text in document or json.dumps(text)[1:-1] in document


def is_part_remem(chunk: str, document: str) -> bool:
    """`is_part` as REMem's code has it, which differs where texts are odd.

    Of a speaker's text only what stands before the next ": " is looked for, an empty text is part of every
    document, and JSON's quotes belong to the text.
    """
    text = _without_date(chunk)
    if text.startswith(_SPEAKERS):
        return text.split(": ")[1] in document or json.dumps(text).split(": ")[1] in document
    return text in document or json.dumps(text) in document


def _without_date(chunk: str) -> str:
    return chunk.partition("\n")[2] if chunk.startswith("Date: ") else chunk
