"""Matching by a function of one's own: of one pair, of many pairs at once, or of vectors that it makes of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from goldrank import ids
from goldrank.data.texts import Texts
from goldrank.errors import InputError, OptionError, whole_number
from goldrank.match.answers import as_number
from goldrank.match.matcher import Matcher
from goldrank.waiting import Unanswered, finished, finished_each

AT_ONCE = 1_000
"""How many pairs, or texts, a function is given together."""


def _itself(value: Any) -> Any:  # an answer of any type
    return value


def _pair(retrieved: str, reference: str) -> str:
    return f"retrieved '{ids.show(retrieved)}', reference '{ids.show(reference)}'"


class Own(Matcher):
    """A function of a retrieved text and a reference, which returns a bool, or a number from 0 to 1.

    Numbers need a threshold. The function may be asynchronous, and may answer in words such as yes and no.

    >>> str(Own(str.startswith))
    'own function startswith'
    """

    name: ClassVar[str] = "own"
    says: ClassVar[str] = "own function"
    free = False

    def __init__(
        self, function: Callable[[str, str], object], threshold: float | None = None, *, inclusive: bool = True
    ) -> None:
        super().__init__(inclusive=inclusive)
        if not callable(function):
            raise OptionError(
                f"{function!r} is no function", hint="Give a function of a retrieved text and a reference."
            )
        self.function: Callable[..., Any] = function  # of two texts, or of two lists of them
        self.at_once = 1
        if threshold is not None:
            self.threshold = self._checked(threshold)

    @classmethod
    def batched(
        cls,
        function: Callable[[list[str], list[str]], Iterable[object]],
        threshold: float | None = None,
        *,
        inclusive: bool = True,
        at_once: int = AT_ONCE,
    ) -> Own:
        """A function of two lists of the same length, retrieved texts and references, which returns one bool or
        number for each pair. It is given `at_once` pairs, or the rest, at a time."""
        matcher = cls(cast("Callable[..., object]", function), threshold, inclusive=inclusive)
        matcher.at_once = whole_number(at_once, "at_once", 1)
        matcher.many = True
        return matcher

    many = False
    """Whether the function takes lists."""

    def __str__(self) -> str:
        called = f"own function {getattr(self.function, '__name__', type(self.function).__name__)}"
        return called if self.threshold is None else f"{called}{super().__str__().removeprefix(self.name)}"

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        ours = [retrieved[i] for i in left.tolist()]
        theirs = [references[j] for j in right.tolist()]
        return np.array(self._asked(ours, theirs), np.float64)

    def covers(self, retrieved: str, reference: str) -> bool:
        """Whether one text covers a reference, by the function's answer."""
        return bool(self.enough(np.array(self._asked([retrieved], [reference])))[0])

    def _asked(self, ours: list[str], theirs: list[str]) -> list[float]:
        """The answers for all pairs, those that come later awaited together."""
        if self.many:
            parts = list(_slices(len(ours), self.at_once))
            calls = [partial(self.function, ours[here], theirs[here]) for here in parts]
            answers = []
            for here, answered in zip(parts, self._finished(calls, ours, theirs, self.at_once), strict=True):
                given = list(answered) if isinstance(answered, Iterable) else []
                if len(given) != len(ours[here]):
                    raise InputError(
                        f"{self} gave {len(given):,} values for {len(ours[here]):,} pairs",
                        where=_pair(ours[here][0], theirs[here][0]),
                    )
                answers += given
            answers = self._finished([partial(_itself, answer) for answer in answers], ours, theirs)
        else:
            pairs = zip(ours, theirs, strict=True)
            answers = self._finished([partial(self.function, *pair) for pair in pairs], ours, theirs)
        return [self._value(*triple) for triple in zip(answers, ours, theirs, strict=True)]

    def _finished(
        self, calls: list[Callable[[], Any]], ours: list[str], theirs: list[str], step: int = 1
    ) -> list[Any]:  # whatever the function answers
        try:
            return finished_each(calls)
        except Unanswered as failed:
            error, at = failed.__cause__, failed.at * step
            among = f" (the first of {min(step, len(ours) - at):,} pairs)" if self.many and step > 1 else ""
            raise InputError(
                f"{self} failed with {type(error).__name__}: {error}",
                where=f"{_pair(ours[at], theirs[at])}{among}",
                hint="Every pair needs an answer: let the function return False where texts cannot be compared.",
            ) from error

    def _value(self, answer: object, retrieved: str, reference: str) -> float:
        value = as_number(answer, str(self), _pair(retrieved, reference))
        if self.threshold is None and 0 < value < 1:
            raise InputError(
                f"{self} returned {value!r}, and no threshold says whether that is a match",
                where=_pair(retrieved, reference),
                hint="Give one, as in Own(function, 0.5), or return True or False.",
            )
        return value


class Embedding(Matcher):
    """The cosine of two texts' vectors, which `embed` makes of a list of texts, perhaps later; below 0 it counts as 0.

    Each distinct text is embedded once, `at_once` texts at a time. Which cosine means a match differs from
    model to model, so that there is no threshold unless it is given.
    """

    name: ClassVar[str] = "embedding"
    says: ClassVar[str] = "cosine of embeddings"

    def __init__(
        self,
        embed: Callable[[list[str]], ArrayLike],
        threshold: float,
        *,
        inclusive: bool = True,
        at_once: int = AT_ONCE,
    ) -> None:
        super().__init__(inclusive=inclusive)
        if not callable(embed):
            raise OptionError(f"{embed!r} is no function", hint="Give a function of a list of texts.")
        self.embed = embed
        self.threshold = self._checked(threshold)
        self.at_once = whole_number(at_once, "at_once", 1)

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        place: dict[str, int] = {}
        ours = np.zeros(len(retrieved), np.int64)
        theirs = np.zeros(len(references), np.int64)
        for texts, places, needed in ((retrieved, ours, left), (references, theirs, right)):
            for i in np.unique(needed).tolist():
                places[i] = place.setdefault(texts[i], len(place))
        degrees = np.ones(len(left))
        # The same text is the same, whatever rounding makes of its cosine with itself.
        differ = np.flatnonzero(ours[left] != theirs[right])
        if not len(differ):
            return degrees
        vectors = self._vectors(list(place))
        for here in _slices(len(differ), 10_000):
            chosen = differ[here]
            a, b = vectors[ours[left[chosen]]], vectors[theirs[right[chosen]]]
            degrees[chosen] = np.einsum("ij,ij->i", a, b, dtype=np.float64)
        return np.clip(degrees, 0, 1)

    def _vectors(self, texts: list[str]) -> np.ndarray:
        """Vectors of length 1."""
        parts: list[np.ndarray] = []
        for here in _slices(len(texts), self.at_once):
            given = texts[here]
            first = f"'{ids.show(given[0])}' (the first of {len(given):,} texts)"
            try:
                part = np.asarray(finished(self.embed(given)), dtype=np.float64)
            except Exception as error:
                raise InputError(f"embedding failed with {type(error).__name__}: {error}", where=first) from error
            if part.ndim != 2 or len(part) != len(given) or (parts and part.shape[1] != parts[0].shape[1]):
                raise InputError(
                    f"embedding gave an array of shape {part.shape} for {len(given):,} texts",
                    where=first,
                    hint="It must have one row for each text, all of one length.",
                )
            length = np.linalg.norm(part, axis=1)
            bad = np.flatnonzero(~np.isfinite(length) | (length == 0))
            if len(bad):
                raise InputError(
                    "the vector has no direction: it is zero, or not all numbers", where=f"'{ids.show(given[bad[0]])}'"
                )
            parts.append(part / length[:, None])
        return np.concatenate(parts)


def _slices(count: int, size: int) -> Iterator[slice]:
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))
