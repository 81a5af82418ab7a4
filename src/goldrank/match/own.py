"""Matching by a function of the user, of one pair or of many pairs at once; `Embedding` takes a function of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from goldrank.base.errors import InputError, OptionError, whole_number
from goldrank.base.waiting import UnansweredError, finished_each
from goldrank.data.text_item import Texts
from goldrank.match.answers import as_number
from goldrank.match.matcher import Matcher
from goldrank.match.models import itself
from goldrank.match.semantic import AT_ONCE, Embedding, shown_pair, slices

__all__ = ["Embedding", "Own"]


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
                f"{function!r} is not a function",
                hint="Give a function of a retrieved text and a reference.",
                code="not-a-function",
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
        matcher.takes_lists = True
        return matcher

    takes_lists = False
    """Whether the function takes lists of texts and references."""

    def __str__(self) -> str:
        name = f"own function {getattr(self.function, '__name__', type(self.function).__name__)}"
        if self.threshold is None:
            return name
        return f"{name}{super().__str__().removeprefix(self.name)}"

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        paired_texts = [retrieved[i] for i in left.tolist()]
        paired_references = [references[j] for j in right.tolist()]
        return np.array(self._answers(paired_texts, paired_references), np.float64)

    def covers(self, retrieved: str, reference: str) -> bool:
        """Whether one text covers a reference, by the function's answer."""
        return bool(self.enough(np.array(self._answers([retrieved], [reference])))[0])

    def _answers(self, texts: list[str], references: list[str]) -> list[float]:
        """The answers for all pairs; asynchronous ones are awaited together."""
        if self.takes_lists:
            answers = self._answers_to_lists(texts, references)
        else:
            pairs = zip(texts, references, strict=True)
            answers = self._finished([partial(self.function, *pair) for pair in pairs], texts, references)
        return [self._value(*triple) for triple in zip(answers, texts, references, strict=True)]

    def _answers_to_lists(self, texts: list[str], references: list[str]) -> list[Any]:
        """The answers for all pairs of a function that takes lists."""
        parts = list(slices(len(texts), self.at_once))
        calls = [partial(self.function, texts[part], references[part]) for part in parts]
        returned = self._finished(calls, texts, references, self.at_once)
        lists = self._finished([partial(list, each) for each in returned], texts, references, self.at_once)

        answers: list[Any] = []
        for part, part_answers in zip(parts, lists, strict=True):
            if len(part_answers) != len(texts[part]):
                raise InputError(
                    f"{self} gave {len(part_answers):,} values for {len(texts[part]):,} pairs",
                    where=shown_pair((texts[part][0], references[part][0])),
                )
            answers += part_answers
        return self._finished([partial(itself, answer) for answer in answers], texts, references)

    def _finished(
        self, calls: Sequence[Callable[[], Any]], texts: list[str], references: list[str], step: int = 1
    ) -> list[Any]:  # whatever the function answers
        try:
            return finished_each(calls)
        except UnansweredError as failed:
            error, index = failed.__cause__, failed.index * step
            among = ""
            if self.takes_lists and step > 1:
                among = f" (the first of {min(step, len(texts) - index):,} pairs)"

            raise InputError(
                f"{self} failed with {type(error).__name__}: {error}",
                where=f"{shown_pair((texts[index], references[index]))}{among}",
                hint="Every pair needs an answer: let the function return False where texts cannot be compared.",
                code="function-failed",
            ) from error

    def _value(self, answer: object, retrieved: str, reference: str) -> float:
        where = shown_pair((retrieved, reference))
        value = as_number(answer, str(self), where)
        if self.threshold is None and 0 < value < 1:
            raise InputError(
                f"{self} returned {value!r}, and no threshold says whether that is a match",
                where=where,
                hint="Return True or False: for example value >= 0.5.",
                code="no-threshold",
            )
        return value
