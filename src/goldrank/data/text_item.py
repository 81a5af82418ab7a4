"""Texts instead of ids: what was retrieved for a question, and what should have been retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

Texts: TypeAlias = Sequence[str]
"""Texts in order."""


class Span(NamedTuple):
    """A stretch of a source: characters from `start` up to, not including, `end`."""

    source: str
    start: int
    end: int


class Located(NamedTuple):
    """The positions of the parts of a retrieved text, and the part without a position, such as an added header."""

    spans: tuple[Span, ...]
    outside: str = ""


class Chunk(NamedTuple):
    """One text of an index, and its position if that is known."""

    id: str
    text: str
    source: str | None = None
    span: Span | None = None


class Reference(NamedTuple):
    """One fact that an answer needs. Its texts are alternatives: any of them suffices."""

    texts: tuple[str, ...]
    grade: float = 1


class Nugget(NamedTuple):
    """A fact that an answer should have."""

    text: str
    grade: float = 1
    """2 if it is vital, 1 if it is okay; 0 for one of another kind, which counts among all."""
    support: float | tuple[float, ...] | None = None
    """How far the answer supports it: 1, 0.5 or 0; or one number for each retrieved text. None: not known."""


class CitedSentence(NamedTuple):
    """A sentence of an answer, and the documents that it cites."""

    text: str
    citations: tuple[str, ...]
    """Ids."""
    support: tuple[float, ...] | None = None
    """How far each supports the sentence: 1, 0.5 or 0. None: not known."""

    @property
    def degrees(self) -> dict[str, float]:
        """How far each document supports the sentence: 0 if not known, the best value if it is cited several times."""
        degrees = dict.fromkeys(self.citations, 0.0)
        for doc, degree in zip(self.citations, self.support or (), strict=False):
            degrees[doc] = max(degrees[doc], degree)
        return degrees


@dataclass(frozen=True, slots=True)
class EvidencePlaces:
    """One fact that an answer needs, by position in the sources. Any of its alternatives suffices.

    An alternative is one stretch of a source or several that are needed together.
    """

    alternatives: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class TextItem:
    """One question: the texts retrieved for it, best first, and the references that they should cover."""

    query: str
    """The question's id."""
    retrieved: Sequence[str]
    references: Sequence[Reference] = ()
    question: str = ""
    spans: Sequence[Span | Located | None] | None = None
    """The position of each retrieved text in its source, as far as that is known."""
    evidence: Sequence[EvidencePlaces] = ()
    where: str = ""
    """The position of the item in its input, for messages."""
    latency: float | None = None
    """Seconds that retrieving took."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What else the record says of the question: tokens, cost, conversation, turn."""
    answerable: bool | None = None
    """Whether the sources hold an answer. None: not known; an item with references then has an answer."""
    confidence: float | None = None
    """The score of the first retrieved text, if it has one."""
    reference: str = ""
    """The right answer, whose claims the texts should hold."""
    response: str = ""
    """The answer of the system."""
    nuggets: Sequence[Nugget] = ()
    """The facts that an answer should have."""
    sentences: Sequence[CitedSentence] | None = None
    """The sentences of the system's answer, with their citations; None: not known."""
    correct: bool | None = None
    """Whether people or a judge call the answer right; without an answer, whether declining was right."""
