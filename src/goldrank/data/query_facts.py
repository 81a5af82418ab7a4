"""What scores know of each query beside its values: `QueryFacts`, which rules of a gate and baselines read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.data.qrels import Qrels

NUMBERS = ("returned", "judged", "relevant", "latency")
"""The facts that are one number for each query."""
COUNTS = ("returned", "judged", "relevant")
"""Those that are whole numbers."""


@dataclass(frozen=True, eq=False)
class QueryFacts:
    """What is known of each query of some scores: an array has one number for each, None is unknown."""

    returned: np.ndarray | None = None
    """How many documents were returned."""
    judged: np.ndarray | None = None
    """How many of these are judged."""
    relevant: np.ndarray | None = None
    """How many documents are relevant (grade 1 or more), returned or not."""
    latency: np.ndarray | None = None
    """How long it took; NaN where that is not known."""
    hashes: Mapping[str, str] | Callable[[], Mapping[str, str] | None] | None = None
    """By query, a short hash of its judgements, or what makes them: that takes time, and few ask for it."""

    @cached_property
    def judgement_hashes(self) -> Mapping[str, str] | None:
        """By query, a short hash of its judgements; None if they are unknown or more than a grade per document."""
        if callable(self.hashes):
            return self.hashes()
        return self.hashes

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """The facts that are known and are one number for each query, by name."""
        known = {name: getattr(self, name) for name in NUMBERS}
        return {name: values for name, values in known.items() if values is not None}

    def made(self) -> QueryFacts:
        """The same facts with nothing left to be made: for copies that leave the process."""
        return replace(self, hashes=self.judgement_hashes)


NOTHING_KNOWN = QueryFacts()


def judgement_hashes(qrels: object) -> dict[str, str] | None:
    """By query, a short hash of its judgements; None for judgements that are more than a grade per document."""
    if not isinstance(qrels, Qrels):
        return None
    import hashlib

    hashes = {}
    for query, docs in qrels.raw.items():
        lines = b"".join(b"%b\x00%r\n" % (doc, grade) for doc, grade in sorted(docs.items()))
        hashes[ids.decode(query)] = hashlib.sha256(lines).hexdigest()[:8]
    return hashes


def joined(parts: Sequence[QueryFacts], order: np.ndarray) -> QueryFacts:
    """The facts of several scores that share no query, as one, in another order of the queries."""
    numbers = {}
    for name in NUMBERS:
        arrays = [getattr(part, name) for part in parts]
        if all(array is not None for array in arrays):
            numbers[name] = np.concatenate(arrays)[order]

    def hashes() -> dict[str, str] | None:
        every = [part.judgement_hashes for part in parts]
        if any(part is None for part in every):
            return None
        return {query: sign for part in every if part is not None for query, sign in part.items()}

    return QueryFacts(**numbers, hashes=hashes)


def to_plain(facts: QueryFacts) -> dict[str, Any]:
    """The facts as plain values."""
    hashes = facts.judgement_hashes
    numbers = {name: values.tolist() for name, values in facts.numbers.items()}
    return {**numbers, "judgements": None if hashes is None else dict(hashes)}


def from_plain(data: Any, size: int) -> QueryFacts:
    """The inverse of `to_plain` for scores of `size` queries; a ValueError if these are no facts."""
    if not isinstance(data, dict):
        raise ValueError(f"what is known of queries is {data!r:.60}")
    numbers = {name: _array(name, data[name], size) for name in NUMBERS if name in data}

    hashes = data.get("judgements")
    if hashes is not None:
        texts = isinstance(hashes, dict) and all(isinstance(sign, str) for sign in hashes.values())
        if not texts:
            raise ValueError("hashes of judgements are not texts by query")
        hashes = {ids.as_text(query, "query id"): sign for query, sign in hashes.items()}
    return QueryFacts(**numbers, hashes=hashes)


def _array(name: str, values: Any, size: int) -> np.ndarray:
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"{name} is not a list of {size:,} numbers")
    if name in COUNTS:
        if not all(type(value) is int and 0 <= value < 1 << 62 for value in values):
            raise ValueError(f"{name} has a value that is no count")
        return np.array(values, np.int64)
    numbers = [np.nan if value is None else value for value in values]
    if not all(type(value) in (int, float) for value in numbers):
        raise ValueError(f"{name} has a value that is no number")
    return np.array(numbers, np.float64)
