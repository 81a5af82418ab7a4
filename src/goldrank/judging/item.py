"""The questions to a judge, and its answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from goldrank.data.qrels import Grade


@dataclass(frozen=True)
class JudgeItem:
    """One thing to judge: a document for a question. `reference` and `criteria` may be empty."""

    query: str
    doc: str
    question: str
    text: str
    reference: str = ""
    criteria: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer of a judge for an item: a grade, and why. `problem` says why an answer cannot be read."""

    grade: Grade | None
    reason: str = ""
    label: str = ""
    problem: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    """The written texts by field, where the judge writes texts instead of a grade."""


@dataclass(frozen=True)
class Reply:
    """The answer to one call."""

    body: str
    """As it came, for the log."""
    answer: Answer
    status: str = "ok"
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int = 0

    @classmethod
    def of(cls, body: str, answer: Answer) -> Reply:
        """A reply whose status says whether the answer could be read."""
        if answer.problem:
            return cls(body, answer, "unreadable")
        return cls(body, answer, "ok")


class AskAgainLater(Exception):  # noqa: N818 - what to do, not what went wrong
    """A call that failed and may succeed later: after `after` seconds, if the endpoint gives a time.

    `limited` if it was refused because there were too many calls, `paid` if it may cost money all the same.
    """

    def __init__(
        self, status: str, body: str, after: float | None = None, *, limited: bool = False, paid: bool = False
    ) -> None:
        super().__init__(status)
        self.status, self.body, self.after, self.limited, self.paid = status, body, after, limited, paid


class ItemFailed(Exception):  # noqa: N818
    """A call that cannot succeed for this item."""

    def __init__(self, status: str, body: str) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class JobStopped(Exception):  # noqa: N818
    """A failure that every further call would have too: a wrong key, no credit."""

    def __init__(self, what: str, body: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.body, self.hint = what, body, hint


@dataclass(frozen=True)
class Call:
    """One question to a judge: an item, its repetition, and whether it is asked again after an unreadable answer."""

    item: JudgeItem
    repeat: int = 0
    again: int = 0
    marker: str = ""


@dataclass(frozen=True)
class Description:
    """Everything that a judge's answers depend on: the key of the cache is made of it."""

    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Judge(Protocol):
    """Anything that can be asked for judgements. `ask` raises `AskAgainLater`, `ItemFailed` or `JobStopped`."""

    name: str
    scale: tuple[Grade, ...] | None
    """The grades that it can give, from the lowest; None for numbers from 0 to 1."""
    criteria: str
    """What counts as relevant, in words; empty if the prompt says everything."""
    max_tokens: int
    """The most tokens of an answer; 0 if nothing is paid by tokens."""

    def description(self) -> Description:
        """Everything that its answers depend on, beside the item."""
        ...

    def messages(self, call: Call) -> list[dict[str, str]]:
        """The messages of a call."""
        ...

    async def ask(self, call: Call) -> Reply:
        """The answer to one call."""
        ...

    async def close(self) -> None:
        """Close connections and end processes."""
        ...
