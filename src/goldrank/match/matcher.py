"""What a matcher is, and how one is named: `exact`, `rouge-l:0.7`, `token-recall>0.5`, `rouge-l(window=None):0.7`.

A new matcher is a class in a file of this folder and a line in `_HOME`. Spellings are read here and nowhere else.
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
from goldrank.match.guards import TextFacts, refusing
from goldrank.match.guards import checked as checked_guards
from goldrank.match.tokens import Stretches, has_words, verbatim_places


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
    """Whether what it decides depends on the question too: `about` then says which question each pair is of."""
    free: ClassVar[bool] = True
    """Whether asking costs nothing but time, so that a chance level can be estimated."""

    def __init__(
        self, threshold: float | None = None, *, inclusive: bool = True, guards: Iterable[str] | None = None
    ) -> None:
        if threshold is None:
            threshold = self.default_threshold
        elif self.default_threshold is None:
            raise OptionError(f"{self.name} takes no threshold; it knows only yes and no")

        if threshold is None:
            self.threshold = None
        else:
            self.threshold = self._checked(threshold)

        self.inclusive = inclusive
        if guards is None:
            self.guards = self.default_guards
        else:
            self.guards = checked_guards(guards)

    def having(self, guards: Iterable[str] | None) -> Matcher:
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
            what = f"the threshold of {self.name} is {threshold!r}; it must be a number from 0 to 1"
            raise OptionError(what, code="bad-number")
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

        short = f"{self.threshold:g}"
        if float(short) == self.threshold:
            written = short
        else:
            written = repr(self.threshold)

        return f"{name}{':' if self.inclusive else '>'}{written}"

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
        return self.guarded(
            self.enough(self.degrees(retrieved, references, left, right)), retrieved, references, left, right
        )

    def guarded(
        self, passing: np.ndarray, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        """Which of the pairs that pass no guard refuses."""
        refused = self.refused(passing, retrieved, references, left, right)
        kept = passing.copy()
        kept[list(refused)] = False
        return kept

    def refused(
        self, passing: np.ndarray, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray
    ) -> dict[int, str]:
        """Which of the marked pairs a guard refuses, and which guard it is."""
        if not self.guards:
            return {}

        ours: dict[int, TextFacts] = {}
        theirs: dict[int, TextFacts] = {}
        refused: dict[int, str] = {}
        for at in np.flatnonzero(passing).tolist():
            i, j = int(left[at]), int(right[at])
            text = ours.get(i) or ours.setdefault(i, TextFacts(retrieved[i]))
            reference = theirs.get(j) or theirs.setdefault(j, TextFacts(references[j]))
            if self.parts_of_reference:
                text, reference = reference, text
            if not has_words(reference.text) or not reference.needs(text, self.guards):
                continue
            reasons: list[str] = []
            verbatim = verbatim_places(text.text, reference.text)
            for stretch in chain(verbatim, self._stretches_if_needed(retrieved[i], references[j])):
                reasons.append(refusing(reference, text.near(*stretch), self.guards))
                if not reasons[-1]:
                    break
            if reasons and reasons[-1]:
                refused[at] = reasons[0]

        return refused

    def _stretches_if_needed(self, retrieved: str, reference: str) -> Iterator[tuple[int, int]]:
        """The stretches, which are looked for only when the first is asked for."""
        yield from self.stretches(retrieved, reference)

    parts_of_reference: ClassVar[bool] = False
    """Whether the retrieved text is looked for in the reference, not the other way round."""

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        """The parts of the text in which a match was found, any of which suffices: all of it, unless said otherwise."""
        return [(0, len(reference if self.parts_of_reference else retrieved))]

    def enough(self, degrees: np.ndarray) -> np.ndarray:
        """Which degrees are a match. Nothing in common never is one, even if the threshold is 0."""
        if self.threshold is None:
            return degrees > 0
        return (degrees > 0) & (degrees >= self.threshold if self.inclusive else degrees > self.threshold)

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
    """A judge (`goldrank.judging`), which decides as a matcher where one is wanted."""

    def messages(self, call: Any) -> list[dict[str, str]]: ...
    async def ask(self, call: Any) -> Any: ...


MatcherLike: TypeAlias = str | Matcher | type[Matcher] | AsksAJudge | Callable[[str, str], object]
"""A spelling, a matcher, a judge, or a function of a retrieved text and a reference; what that returns is checked."""

_HOME = {
    name: f"goldrank.match.{module}"
    for module, names in {
        "exact": ("exact", "exact-normalised"),
        "contain": (
            *("contains", "contains-normalised", "contains-words", "contained", "contained-normalised"),
            *("either", "either-normalised", "remem"),
        ),
        "token_overlap": (
            *("rouge-l", "rouge-l-precision", "rouge-l-f", "rouge-score", "rouge-score-precision", "rouge-score-f"),
            *("token-recall", "token-iou", "token-f1", "shingles"),
        ),
        "rouge": ("rouge",),
        "fuzzy": ("ratio", "partial-ratio", "token-set", "levenshtein"),
    }.items()
    for name in names
}
"""The module of each matcher's class; loaded when it is asked for."""
NAMES = tuple(_HOME)
MODELS = {
    "embedding": ("goldrank.match.semantic", "Embedding"),
    "cross-encoder": ("goldrank.match.semantic", "CrossEncoder"),
    "judge": ("goldrank.judging.judge_matcher", "JudgeMatcher"),
}
"""Matchers by a model, which is part of the name: `embedding:NAME:0.8`. They are loaded when asked for: a judge has its
home above this room."""

_OF_MODEL = re.compile(
    r"(?P<name>embedding|cross-encoder|judge)(?:\((?P<options>.*?)\))?"
    r"(?::(?P<model>.*?))??(?:\s*(?P<sign>:|>=|>)\s*(?P<threshold>[0-9.]+))?"
)
_SPELLING = re.compile(
    r"(?P<name>[a-z][a-z0-9-]*)(?:\((?P<options>.*)\))?(?:\s*(?P<sign>:|>=|>)\s*(?P<threshold>\S+))?"
)


def matcher(given: MatcherLike) -> Matcher:
    """A matcher from its spelling, a function of one's own, or a matcher.

    >>> str(matcher("exact"))
    'exact'
    """
    if isinstance(given, Matcher):
        return given
    if isinstance(given, type) and issubclass(given, Matcher):
        return given()
    if hasattr(given, "ask") and hasattr(given, "messages"):
        made: Matcher = _of_home(*MODELS["judge"])(given)
        return made
    if callable(given):
        from goldrank.match.own import Own

        return Own(given)
    if isinstance(given, str) and (by_model := _OF_MODEL.fullmatch(given.strip())):
        return _of_model(given, by_model)
    if isinstance(given, str):
        spelling = _SPELLING.fullmatch(given.strip())
    else:
        spelling = None
    if not spelling or spelling["name"] not in _HOME:
        if isinstance(given, str):
            meant = re.match(r"[\w-]+", given.strip())
        else:
            meant = None
        if meant:
            hint = did_you_mean(meant[0], (*_HOME, *MODELS))
        else:
            hint = None
        known_names = ", ".join((*_HOME, *(f"{name}:NAME:0.8" for name in MODELS)))
        raise OptionError(
            f"there is no matcher {given!r:.80}; there are: {known_names}", hint=hint or "For example 'rouge-l:0.7'."
        )
    known = vars(import_module(_HOME[spelling["name"]])).values()
    matcher_class: type[Matcher] = next(kind for kind in known if getattr(kind, "name", None) == spelling["name"])
    options = _options(given, spelling["options"] or "", matcher_class)
    if spelling["threshold"] is None:
        return matcher_class(**options)
    if matcher_class.default_threshold is None:
        what = f"{matcher_class.name} takes no threshold; it knows only yes and no"
        raise OptionError(what, code="takes-no-threshold")
    return matcher_class(_threshold(given, spelling["threshold"]), inclusive=spelling["sign"] != ">", **options)


def _threshold(given: object, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{given!r}: the threshold is a number from 0 to 1", hint="For example 0.7.") from None


def _of_home(module: str, name: str) -> Any:  # a class of matchers
    return getattr(import_module(module), name)


def _of_model(given: str, spelling: re.Match[str]) -> Matcher:
    """A matcher by a model: `embedding:NAME:0.8`."""
    kind = _of_home(*MODELS[spelling["name"]])
    options = _options(given, spelling["options"] or "", kind)
    if spelling["threshold"] is None:
        threshold = None
    else:
        threshold = _threshold(given, spelling["threshold"])
    if not spelling["model"] and threshold is not None:
        name = spelling["name"]
        what = f"{given!r} names no model"
        raise OptionError(what, hint=f"For example {name}:sentence-transformers/NAME:0.8.", code="no-model")
    made: Matcher = kind(spelling["model"] or "", threshold, inclusive=spelling["sign"] != ">", **options)
    return made


def _options(given: object, text: str, kind: type[Matcher]) -> dict[str, Any]:
    """The options in the brackets of a spelling: plain values by name."""
    if not text.strip():
        return {}

    try:
        call = ast.parse(f"f({text})", mode="eval").body
        given_by_name = isinstance(call, ast.Call) and not call.args
        options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in getattr(call, "keywords", ())}
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        given_by_name = False

    if not given_by_name:
        raise OptionError(
            f"{given!r}: options are plain values by name", hint="For example rouge-l(window=None, guards=()):0.7."
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
