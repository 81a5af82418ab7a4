"""`Matcher`, and the spellings of matchers: `exact`, `rouge-l:0.7`, `token-recall>0.5`, `rouge-l(window=None):0.7`.

A new matcher is a class in a file of this folder and a line in `_MODULES`. Only this file reads spellings.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from goldrank.base.errors import OptionError, did_you_mean
from goldrank.base.notes import Note
from goldrank.data.text_item import Texts
from goldrank.match.folding import tidied
from goldrank.match.guards import TextFacts, refusing
from goldrank.match.guards import checked as checked_guards
from goldrank.match.tokens import Stretches, has_words, stands_there, verbatim_places


class Matcher(ABC):
    """Says how much a retrieved text matches a reference, and whether that is enough.

    Texts come as two lists without repetition and pairs of positions in them, so that each text is prepared
    once and each pair is tested once. No text is empty or white space alone.

    Examples
    --------
    >>> import numpy as np
    >>> class SameLength(Matcher):
    ...     name = "same-length"
    ...     says = "of one length"
    ...     def degrees(self, retrieved, references, left, right):
    ...         pairs = zip(left.tolist(), right.tolist())
    ...         return np.array([float(len(retrieved[i]) == len(references[j])) for i, j in pairs])
    >>> places = np.array([0]), np.array([0])
    >>> SameLength().decide(["abc"], ["xyz"], *places).tolist()
    [True]
    """

    name: ClassVar[str]
    """As it is spelled: `rouge-l`."""
    says: ClassVar[str]
    """What the degree is, in words: `ROUGE-L recall`."""
    default_threshold: ClassVar[float | None] = None
    """None: a matcher that knows only yes and no."""
    folds: ClassVar[bool] = False
    """Whether texts are compared in their folded form (`folding.fold`)."""
    default_guards: ClassVar[tuple[str, ...]] = ()
    """What a pair that reaches the threshold must not differ in (`guards.GUARDS`)."""
    guards: tuple[str, ...] = ()
    sees_questions: ClassVar[bool] = False
    """Whether its decisions depend on the question too: `about` then says which question each pair belongs to."""
    free: ClassVar[bool] = True
    """Whether decisions cost nothing but time, so that a chance level can be estimated."""

    def __init__(
        self, threshold: float | None = None, *, inclusive: bool = True, guards: Iterable[str] | None = None
    ) -> None:
        if threshold is None:
            threshold = self.default_threshold
        elif self.default_threshold is None:
            raise OptionError(f"{self.name} takes no threshold; it knows only yes and no")

        self.threshold: float | None = None
        if threshold is not None:
            self.threshold = self._checked(threshold)

        self.inclusive = inclusive
        if guards is None:
            self.guards = self.default_guards
        else:
            self.guards = checked_guards(guards)

    def with_guards(self, guards: Iterable[str] | None) -> Matcher:
        """This matcher with other guards; None leaves them as they are."""
        if guards is None:
            return self
        other = copy.copy(self)
        other.guards = checked_guards(guards)
        return other

    def about(self, questions: Sequence[str]) -> Matcher:
        """This matcher for pairs of these questions, one for each pair."""
        return self

    def take_notes(self) -> list[Note]:
        """What a reader must know of the decisions since the last call."""
        return []

    def _checked(self, threshold: float) -> float:
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            message = f"the threshold of {self.name} is {threshold!r}; it must be a number from 0 to 1"
            raise OptionError(message, code="bad-number")
        return threshold

    def __str__(self) -> str:
        """The spelling that `matcher()` takes."""
        inner = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        if inner:
            name = f"{self.name}({inner})"
        else:
            name = self.name

        if self.threshold is None:
            return name

        number = f"{self.threshold:g}"
        if float(number) != self.threshold:
            number = repr(self.threshold)
        return f"{name}{self._sign}{number}"

    @property
    def _sign(self) -> str:
        """What stands before the threshold in the spelling."""
        if self.inclusive:
            return ":"
        return ">"

    @property
    def options(self) -> dict[str, object]:
        """Options that are not as usual; the spelling shows them."""
        if self.guards == self.default_guards:
            return {}
        return {"guards": self.guards}

    @abstractmethod
    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How much retrieved[left[i]] matches references[right[i]], from 0 to 1, for every i."""

    def decide(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Whether they match."""
        passing = self.enough(self.degrees(retrieved, references, left, right))
        return self.guarded(passing, retrieved, references, left, right)

    def guarded(
        self, passing: np.ndarray, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        """Which of the pairs that pass no guard refuses."""
        refused = self.refused(passing, retrieved, references, left, right)
        remaining = passing.copy()
        remaining[list(refused)] = False
        return remaining

    def refused(
        self, passing: np.ndarray, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray
    ) -> dict[int, str]:
        """Which of the marked pairs a guard refuses, and which guard it is."""
        if not self.guards:
            return {}

        text_facts: dict[int, TextFacts] = {}
        reference_facts: dict[int, TextFacts] = {}
        refused: dict[int, str] = {}
        for pair in np.flatnonzero(passing).tolist():
            i, j = int(left[pair]), int(right[pair])
            text = text_facts.get(i) or text_facts.setdefault(i, TextFacts(tidied(retrieved[i])))
            reference = reference_facts.get(j) or reference_facts.setdefault(j, TextFacts(tidied(references[j])))
            sides = text.text, reference.text
            if self.parts_of_reference:
                text, reference = reference, text
            if not has_words(reference.text) or stands_there(text.text, reference.text):
                continue
            if not reference.needs(text, self.guards):
                continue

            reasons: list[str] = []
            verbatim = verbatim_places(text.text, reference.text)
            for stretch in chain(verbatim, self._stretches_if_needed(*sides)):
                reasons.append(refusing(reference, text.near(*stretch, reference), self.guards))
                if not reasons[-1]:
                    break
            if reasons and reasons[-1]:
                refused[pair] = reasons[0]

        return refused

    def _stretches_if_needed(self, retrieved: str, reference: str) -> Iterator[tuple[int, int]]:
        """The stretches, which are looked for only when the first one is needed."""
        yield from self.stretches(retrieved, reference)

    parts_of_reference: ClassVar[bool] = False
    """Whether the retrieved text is looked for in the reference, not the other way round."""

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        """The parts of the text in which a match was found, any of which suffices: by default the whole text."""
        if self.parts_of_reference:
            return [(0, len(reference))]
        return [(0, len(retrieved))]

    def enough(self, degrees: np.ndarray) -> np.ndarray:
        """Which degrees are a match. Nothing in common never is one, even if the threshold is 0."""
        if self.threshold is None:
            return degrees > 0
        if self.inclusive:
            return (degrees > 0) & (degrees >= self.threshold)
        return (degrees > 0) & (degrees > self.threshold)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        """Which parts of the retrieved text speak for the match."""
        return []


class PruningMatcher(Matcher):
    """A matcher that can decide about many pairs without measuring them."""

    @abstractmethod
    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        """With `deciding`, any number does that lies on the same side of the threshold."""

    def decide(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        passing = self.enough(self.degrees(retrieved, references, left, right, deciding=True))
        return self.guarded(passing, retrieved, references, left, right)


class AsksAJudge(Protocol):
    """A judge (`goldrank.judging`), which can decide in place of a matcher."""

    def messages(self, call: Any) -> list[dict[str, str]]: ...
    async def ask(self, call: Any) -> Any: ...


MatcherLike: TypeAlias = str | Matcher | type[Matcher] | AsksAJudge | Callable[[str, str], object]
"""A spelling, a matcher, a judge, or a function of a retrieved text and a reference; what that returns is checked."""

_MODULES = {
    **dict.fromkeys(("exact", "exact-normalised"), "goldrank.match.exact"),
    **dict.fromkeys(
        (
            *("contains", "contains-normalised", "contains-words", "contained", "contained-normalised"),
            *("either", "either-normalised", "remem"),
        ),
        "goldrank.match.contain",
    ),
    **dict.fromkeys(
        (
            *("rouge-l", "rouge-l-precision", "rouge-l-f", "rouge-score", "rouge-score-precision", "rouge-score-f"),
            *("token-recall", "token-iou", "token-f1", "shingles"),
        ),
        "goldrank.match.token_overlap",
    ),
    "rouge": "goldrank.match.rouge",
    **dict.fromkeys(("ratio", "partial-ratio", "token-set", "levenshtein"), "goldrank.match.fuzzy"),
}
"""The module of each matcher's class; loaded when the matcher is used."""
NAMES = tuple(_MODULES)
MODELS = {
    "embedding": ("goldrank.match.semantic", "Embedding"),
    "cross-encoder": ("goldrank.match.semantic", "CrossEncoder"),
    "judge": ("goldrank.judging.judge_matcher", "JudgeMatcher"),
}
"""Matchers by a model, which is part of the name: `embedding:NAME:0.8`. They are loaded when used, because the class of
judges is in a package that imports this one."""

_OF_MODEL = re.compile(
    r"(?P<name>embedding|cross-encoder|judge)(?:\((?P<options>.*?)\))?"
    r"(?::(?P<model>.*?))??(?:\s*(?P<sign>:|>=|>)\s*(?P<threshold>[0-9.]+))?"
)
_SPELLING = re.compile(
    r"(?P<name>[a-z][a-z0-9-]*)(?:\((?P<options>.*)\))?(?:\s*(?P<sign>:|>=|>)\s*(?P<threshold>\S+))?"
)


def matcher(source: MatcherLike) -> Matcher:
    """A matcher from its spelling, a function, a judge, or a matcher.

    >>> str(matcher("exact"))
    'exact'
    """
    if isinstance(source, Matcher):
        return source
    if isinstance(source, type) and issubclass(source, Matcher):
        return source()
    if hasattr(source, "ask") and hasattr(source, "messages"):
        by_judge: Matcher = _loaded_class(*MODELS["judge"])(source)
        return by_judge
    if callable(source):
        from goldrank.match.own import Own

        return Own(source)
    if not isinstance(source, str):
        raise _unknown_matcher(source)
    return _spelled_matcher(source)


def _spelled_matcher(text: str) -> Matcher:
    """A matcher from its spelling."""
    by_model = _OF_MODEL.fullmatch(text.strip())
    if by_model:
        return _of_model(text, by_model)

    spelling = _SPELLING.fullmatch(text.strip())
    if not spelling or spelling["name"] not in _MODULES:
        raise _unknown_matcher(text)

    module = vars(import_module(_MODULES[spelling["name"]]))
    matcher_class: type[Matcher] = next(
        kind for kind in module.values() if getattr(kind, "name", None) == spelling["name"]
    )
    options = _options(text, spelling["options"] or "", matcher_class)
    if spelling["threshold"] is None:
        return matcher_class(**options)
    if matcher_class.default_threshold is None:
        message = f"{matcher_class.name} takes no threshold; it knows only yes and no"
        raise OptionError(message, code="takes-no-threshold")
    return matcher_class(_threshold(text, spelling["threshold"]), inclusive=spelling["sign"] != ">", **options)


def _unknown_matcher(source: object) -> OptionError:
    hint = None
    if isinstance(source, str):
        name = re.match(r"[\w-]+", source.strip())
        if name:
            hint = did_you_mean(name[0], (*_MODULES, *MODELS))
    known_names = ", ".join((*_MODULES, *(f"{name}:NAME:0.8" for name in MODELS)))
    return OptionError(
        f"there is no matcher {source!r:.80}; there are: {known_names}", hint=hint or "For example 'rouge-l:0.7'."
    )


def _threshold(spelling: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise OptionError(f"{spelling!r}: the threshold is a number from 0 to 1", hint="For example 0.7.") from None


def _loaded_class(module: str, name: str) -> Any:  # a class of matchers
    return getattr(import_module(module), name)


def _of_model(text: str, spelling: re.Match[str]) -> Matcher:
    """A matcher by a model: `embedding:NAME:0.8`."""
    kind = _loaded_class(*MODELS[spelling["name"]])
    options = _options(text, spelling["options"] or "", kind)
    threshold = None
    if spelling["threshold"] is not None:
        threshold = _threshold(text, spelling["threshold"])
    if not spelling["model"] and threshold is not None:
        name = spelling["name"]
        message = f"{text!r} names no model"
        raise OptionError(message, hint=f"For example {name}:sentence-transformers/NAME:0.8.", code="no-model")

    by_model: Matcher = kind(spelling["model"] or "", threshold, inclusive=spelling["sign"] != ">", **options)
    return by_model


def _options(spelling: str, text: str, kind: type[Matcher]) -> dict[str, Any]:
    """The options in the brackets of a spelling: plain values by name."""
    if not text.strip():
        return {}

    try:
        call = ast.parse(f"f({text})", mode="eval").body
        is_by_name = isinstance(call, ast.Call) and not call.args
        options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in getattr(call, "keywords", ())}
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        is_by_name = False

    if not is_by_name:
        raise OptionError(
            f"{spelling!r}: options are plain values by name", hint="For example rouge-l(window=None, guards=()):0.7."
        )

    known = [
        name
        for name in inspect.signature(kind).parameters
        if name not in ("threshold", "inclusive", "words", "model", "judge")
    ]
    for name in options:
        if name not in known:
            if known:
                listed = f"it has: {', '.join(known)}"
            else:
                listed = "it has none"
            raise OptionError(f"{kind.name} has no option {name!r}; {listed}", hint=did_you_mean(name, known))

    return options
