"""Facts about each query beside its values: `QueryFacts`, which rules of a gate and baselines read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.data.qrels import Qrels

COSTS = ("latency", "tokens", "cost")
"""The facts that say what a query costs; lower is better."""
NUMBERS = ("returned", "judged", "relevant", *COSTS, "turn")
"""The facts that are one number for each query."""
COUNTS = ("returned", "judged", "relevant")
"""The facts that are whole numbers."""


@dataclass(frozen=True, eq=False)
class QueryFacts:
    """Facts about each query of some scores: an array has one number for each query, None means unknown."""

    returned: np.ndarray | None = None
    """How many documents were returned."""
    judged: np.ndarray | None = None
    """How many of these are judged."""
    relevant: np.ndarray | None = None
    """How many documents are relevant (grade 1 or more), returned or not."""
    latency: np.ndarray | None = None
    """The latency in seconds; NaN where it is not known, as in the next ones."""
    tokens: np.ndarray | None = None
    """How many tokens it took."""
    cost: np.ndarray | None = None
    """What it cost, in any currency."""
    turn: np.ndarray | None = None
    """Which turn of its conversation it is, from 1."""
    conversation: tuple[str | None, ...] | None = None
    """The conversation that it is part of."""
    hashes: Mapping[str, str] | Callable[[], Mapping[str, str] | None] | None = None
    """By query, a short hash of its judgements, or a function that makes them: it takes time and is seldom needed."""

    @cached_property
    def judgement_hashes(self) -> Mapping[str, str] | None:
        """By query, a short hash of its judgements; None if unknown, or if a document has more than one grade."""
        if callable(self.hashes):
            return self.hashes()
        return self.hashes

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """The facts that are known and are one number for each query, by name."""
        known = {name: getattr(self, name) for name in NUMBERS}
        return {name: values for name, values in known.items() if values is not None}

    def resolved(self) -> QueryFacts:
        """A copy without functions, which can leave the process."""
        return replace(self, hashes=self.judgement_hashes)


NOTHING_KNOWN = QueryFacts()


def judgement_hashes(qrels: object) -> dict[str, str] | None:
    """By query, a short hash of its judgements; None for judgements with more than one grade per document."""
    if not isinstance(qrels, Qrels):
        return None
    import hashlib

    hashes = {}
    for query, docs in qrels.raw.items():
        lines = b"".join(b"%b\x00%r\n" % (doc, grade) for doc, grade in sorted(docs.items()))
        hashes[ids.decode(query)] = hashlib.sha256(lines).hexdigest()[:8]
    return hashes


def joined(parts: Sequence[QueryFacts], order: np.ndarray) -> QueryFacts:
    """The joined facts of several scores that share no query, in another order of the queries."""
    numbers = {}
    for name in NUMBERS:
        arrays = [getattr(part, name) for part in parts]
        if all(array is not None for array in arrays):
            numbers[name] = np.concatenate(arrays)[order]

    conversations: list[str | None] = []
    for part in parts:
        conversations += part.conversation or ()
    conversation = None
    if conversations and len(conversations) == len(order):
        conversation = tuple(conversations[i] for i in order.tolist())

    def hashes() -> dict[str, str] | None:
        by_query: dict[str, str] = {}
        for part in parts:
            of_part = part.judgement_hashes
            if of_part is None:
                return None
            by_query.update(of_part)
        return by_query

    return QueryFacts(**numbers, hashes=hashes, conversation=conversation)


def to_plain(facts: QueryFacts) -> dict[str, Any]:
    """The facts as plain values."""
    plain: dict[str, Any] = {name: values.tolist() for name, values in facts.numbers.items()}
    if facts.conversation is not None:
        plain["conversation"] = list(facts.conversation)
    plain["judgements"] = None
    if facts.judgement_hashes is not None:
        plain["judgements"] = dict(facts.judgement_hashes)
    return plain


def from_plain(data: Any, size: int) -> QueryFacts:
    """The inverse of `to_plain` for scores of `size` queries; a ValueError if the data is not valid."""
    if not isinstance(data, dict):
        raise ValueError(f"the facts about queries are {data!r:.60}")
    numbers = {name: _array(name, data[name], size) for name in NUMBERS if name in data}

    hashes = data.get("judgements")
    if hashes is not None:
        are_texts = isinstance(hashes, dict) and all(isinstance(value, str) for value in hashes.values())
        if not are_texts:
            raise ValueError("hashes of judgements are not texts by query")
        hashes = {ids.as_text(query, "query id"): value for query, value in hashes.items()}
    return QueryFacts(**numbers, hashes=hashes, conversation=_conversations(data.get("conversation"), size))


def _conversations(names: Any, size: int) -> tuple[str | None, ...] | None:
    if names is None:
        return None
    is_list = isinstance(names, list) and len(names) == size
    if not is_list or not all(name is None or isinstance(name, str) for name in names):
        raise ValueError(f"conversation is not a list of {size:,} names")
    return tuple(names)


def _array(name: str, values: Any, size: int) -> np.ndarray:
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"{name} is not a list of {size:,} numbers")
    if name in COUNTS:
        if not all(type(value) is int and 0 <= value < 1 << 62 for value in values):
            raise ValueError(f"{name} has a value that is not a count")
        return np.array(values, np.int64)

    known = [value for value in values if value is not None]
    if not all(type(value) in (int, float) for value in known):
        raise ValueError(f"{name} has a value that is not a number")
    return np.array(values, np.float64)  # None becomes NaN
