"""Texts that mean the same, by a model: the cosine of vectors, or what a model says of a pair.

A long text dilutes a vector: what stands in one of its sentences is hardly seen in the vector of all. So a reference of
n sentences is held against every n sentences in a row, and the best window counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, whole_number
from goldrank.base.waiting import UnansweredError, finished_each
from goldrank.data.text_item import Texts
from goldrank.match.guards import DEFAULT as DEFAULT_GUARDS
from goldrank.match.matcher import Matcher
from goldrank.match.models import KeptVectors, cross_encoder, fingerprint, sentence_model
from goldrank.match.tokens import Stretches
from goldrank.match.units import sentences

AT_ONCE = 1_000
"""How many texts, or pairs, a model is given together."""
BLOCK_WINDOWS = 20_000
"""Windows that are held in memory at once."""


LONGEST = 1_000
"""Characters of a part that is taken for one sentence. Models see no more than some hundred words, and say nothing of
the rest: tables, code and scripts without full stops would be seen by their beginnings alone."""


def slices(count: int, size: int) -> Iterator[slice]:
    """Stretches of at most `size`, one after the other."""
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def windows(text: str, size: int) -> Stretches:
    """Where every `size` sentences in a row stand; the whole text, if it has no more.

    What has no end of a sentence for long is cut into parts that overlap by half.

    >>> windows("One. Two. Three.", 2)
    [(0, 9), (5, 16)]
    >>> windows("One two three.\\n\\nFour five.", 1)
    [(0, 14), (16, 26)]
    """
    places: Stretches = []
    for start, end in sentence_places(text):
        for at in range(start, max(end - LONGEST // 2, start + 1), LONGEST // 2):
            past = at + LONGEST
            places.append((_word_start(text, at, start), end if past >= end else _word_start(text, past, start)))
    size = max(size, 1)
    if len(places) <= size:
        return [(0, len(text))]
    return [(places[at][0], places[at + size - 1][1]) for at in range(len(places) - size + 1)]


def sentence_places(text: str) -> Stretches:
    """Where the sentences of a text stand.

    >>> sentence_places("One. Two.")
    [(0, 4), (5, 9)]
    """
    places: Stretches = []
    end = 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        places.append((start, end))
    return places


def _word_start(text: str, at: int, sentence: int) -> int:
    """The beginning of the word at a place, or the place itself where no blank of its sentence is near."""
    if at == sentence:
        return at
    return text.rfind(" ", max(at - 50, sentence), at) + 1 or at


class SemanticMatcher(Matcher):
    """The best window of a text by a model. `cache` is a folder in which its answers are kept, False for none; those
    of a function are kept only if a folder is given and `name` says which model it is, until its code changes."""

    default_guards: ClassVar[tuple[str, ...]] = DEFAULT_GUARDS

    def __init__(
        self,
        model: Any,
        threshold: float | None = None,
        *,
        inclusive: bool = True,
        at_once: int = AT_ONCE,
        window: str | None = "best",
        guards: Iterable[str] | None = None,
        name: str | None = None,
        cache: str | bool | None = None,
    ) -> None:
        super().__init__(inclusive=inclusive, guards=guards)
        if threshold is None:
            raise OptionError(
                f"{self.name} has no usual threshold: which number means a match differs from model to model",
                hint=f"Give one, as in {self.name}:NAME:0.8. Label 50 pairs, 10 or more of each kind, and `goldrank "
                f"judge agree labels.jsonl --matching {self.name}:NAME:0.8` says which is best, and what it is worth "
                "on others.",
                code="no-threshold",
            )

        if not isinstance(model, str) and not callable(self._function(model)):
            what = f"{model!r:.80} is no function"
            raise OptionError(what, hint=f"Give a function of a list of {self.takes}.", code="not-a-function")

        if window not in ("best", None):
            raise OptionError(f"the window of {self.name} is {window!r}; it must be 'best' or None")

        if isinstance(cache, str) and not isinstance(model, str) and name is None:
            what = "answers of a function are kept by the name of its model"
            raise OptionError(what, hint='For example name="v1".', code="no-model-name")

        self.threshold = self._checked(threshold)
        self.at_once = whole_number(at_once, "at_once", 1)
        self.window = window
        self.model = model
        self.called = name
        if name is None and isinstance(model, str):
            self.called = model
        self._cache = cache
        self._asked: tuple[Callable[[list[Any]], Any], KeptVectors] | None = None

    takes: ClassVar[str]
    """What the function takes a list of."""

    @staticmethod
    def _function(model: Any) -> Any:
        """The function of a model that is an object."""
        return model

    @staticmethod
    def _loaded(name: str) -> tuple[Callable[[list[Any]], Any], str]:
        """The function of a model by name, and what tells its answers from those of others."""
        raise NotImplementedError

    @property
    def _ready(self) -> tuple[Callable[[list[Any]], Any], KeptVectors]:
        """The function, and what it answered before; models are loaded when they are first asked."""
        if self._asked is None:
            if isinstance(self.model, str):
                function, key = self._loaded(self.model)
            else:
                function = self._function(self.model)
                key = f"{self.called}\0{fingerprint(function)}"
            keeps = self._cache is not False and (isinstance(self.model, str) or isinstance(self._cache, str))
            if isinstance(self._cache, str):
                folder = self._cache
            else:
                folder = None
            self._asked = function, KeptVectors(f"{self.name}\0{key}" if keeps else None, folder)

        return self._asked

    def __str__(self) -> str:
        spelled = super().__str__()
        inner, sign, threshold = spelled.rpartition(":" if self.inclusive else ">")
        if self.called is None:
            return spelled
        return f"{inner}:{self.called}{sign}{threshold}"

    @property
    def options(self) -> dict[str, object]:
        return {**({} if self.window else {"window": None}), **super().options}

    def _windows(self, text: str, size: int) -> Stretches:
        if self.window is None:
            return [(0, len(text))]
        return windows(text, size)

    def _best(self, parts: Sequence[list[str]], references: list[str]) -> list[np.ndarray]:
        """For each reference, how much each of its windows matches it."""
        raise NotImplementedError

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        sizes = {j: len(sentences(references[j])) for j in np.unique(right).tolist()}
        cut: dict[tuple[int, int], list[str]] = {}
        degrees = np.zeros(len(left))
        parts: list[list[str]] = []
        begin = held = 0
        for at, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            key = i, sizes[j]
            if key not in cut:
                cut[key] = [retrieved[i][a:b] for a, b in self._windows(retrieved[i], sizes[j])]
                held += len(cut[key])
            parts.append(cut[key])
            if held >= BLOCK_WINDOWS or at == len(left) - 1:
                wanted = [references[j] for j in right[begin : at + 1].tolist()]
                degrees[begin : at + 1] = [float(similarities.max()) for similarities in self._best(parts, wanted)]
                begin, held, parts, cut = at + 1, 0, [], {}

        return np.clip(degrees, 0, 1)

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        """The windows that match, the best first."""
        places = self._windows(retrieved, len(sentences(reference)))
        (similarities,) = self._best([[retrieved[a:b] for a, b in places]], [reference])
        order = np.argsort(-similarities, kind="stable")
        return [places[at] for at in order.tolist() if self.enough(similarities[at : at + 1])[0]] or places

    def marks(self, retrieved: str, reference: str) -> Stretches:
        if self.window is None:
            return []
        return self.stretches(retrieved, reference)[:1]

    def _answers(self, given: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        """What the model answers, one row for each; each is asked once, and what was kept is not asked again."""
        function, kept = self._ready

        def asked(parts: list[Any]) -> np.ndarray:
            lots = [parts[here] for here in slices(len(parts), self.at_once)]
            try:
                answers = finished_each([partial(function, lot) for lot in lots])
                rows = [np.asarray(answer, np.float32) for answer in answers]
            except UnansweredError as failed:
                error = failed.__cause__
                raise InputError(
                    f"{self.name} failed with {type(error).__name__}: {error}",
                    where=_first(lots[failed.at], shown),
                    code="function-failed",
                ) from error
            except (TypeError, ValueError, OverflowError) as error:
                what = f"{self.name} gave no numbers, {type(error).__name__}: {error}"
                raise InputError(what, where=_first(lots[0], shown), code="bad-vectors") from error

            rows = [self._rows(row, lot, shown) for row, lot in zip(rows, lots, strict=True)]
            if len({row.shape[1] for row in rows}) > 1:
                raise InputError("embedding gave vectors of different lengths", where=_first(lots[0], shown))
            return np.concatenate(rows)

        return kept.of(given, asked)

    def _rows(self, answer: np.ndarray, lot: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        """One row for each of a lot, checked."""
        raise NotImplementedError


def _first(lot: list[Any], shown: Callable[[Any], str]) -> str:
    return f"{shown(lot[0])} (the first of {len(lot):,} {'texts' if isinstance(lot[0], str) else 'pairs'})"


class Embedding(SemanticMatcher):
    """The cosine of vectors, which a function makes of a list of texts, perhaps later; below 0 it counts as 0.

    In place of a function it may be a model of sentence-transformers, or the name or folder of one.
    """

    name: ClassVar[str] = "embedding"
    says: ClassVar[str] = "cosine of embeddings"
    takes: ClassVar[str] = "texts, which returns a vector for each"

    @staticmethod
    def _function(model: Any) -> Any:
        return getattr(model, "encode", model)

    _loaded = staticmethod(sentence_model)

    def _best(self, parts: Sequence[list[str]], references: list[str]) -> list[np.ndarray]:
        place: dict[str, int] = {}
        for text in (*(text for texts in parts for text in texts), *references):
            place.setdefault(text, len(place))
        if all(texts == [reference] for texts, reference in zip(parts, references, strict=True)):
            return [np.ones(1) for _ in parts]  # the same text is the same, whatever a model makes of it
        vectors = self._answers(list(place), _shown)
        cosines = []
        for texts, reference in zip(parts, references, strict=True):
            at = [place[text] for text in texts]
            cosine = (vectors[at] @ vectors[place[reference]]).astype(np.float64)
            cosine[[index == place[reference] for index in at]] = 1.0
            cosines.append(cosine)
        return cosines

    def _rows(self, answer: np.ndarray, lot: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        if answer.ndim != 2 or len(answer) != len(lot):
            raise InputError(
                f"embedding gave an array of shape {answer.shape} for {len(lot):,} texts",
                where=_first(lot, shown),
                hint="It must have one row for each text, all of one length.",
                code="bad-vectors",
            )
        length = np.linalg.norm(answer.astype(np.float64), axis=1)
        bad = np.flatnonzero(~np.isfinite(length) | (length == 0))
        if len(bad):
            what = "the vector has no direction: it is zero, or not all numbers"
            raise InputError(what, where=shown(lot[bad[0]]), code="bad-vectors")
        return np.asarray(answer / length[:, None], np.float32)


class CrossEncoder(SemanticMatcher):
    """What a model says of a pair: a function of a list of (text, reference), which returns a number from 0 to 1 for
    each, perhaps later. It may be a cross-encoder, or a model of entailment, which tells contradictions from agreement.
    """

    name: ClassVar[str] = "cross-encoder"
    says: ClassVar[str] = "answer of the model"
    takes: ClassVar[str] = "pairs, which returns a number for each"
    default_guards = ()
    free = False

    @staticmethod
    def _function(model: Any) -> Any:
        return getattr(model, "predict", model)

    _loaded = staticmethod(cross_encoder)

    def _best(self, parts: Sequence[list[str]], references: list[str]) -> list[np.ndarray]:
        pairs = [(text, reference) for texts, reference in zip(parts, references, strict=True) for text in texts]
        distinct = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
        values = self._answers(list(distinct), shown_pair)[:, 0].astype(np.float64)
        answers = values[[distinct[pair] for pair in pairs]]
        return np.split(answers, np.cumsum([len(texts) for texts in parts])[:-1])

    def _rows(self, answer: np.ndarray, lot: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        flat = answer.reshape(-1)
        wrong = np.flatnonzero(~((flat >= 0) & (flat <= 1)))
        if len(flat) != len(lot) or len(wrong):
            what = f"gave {len(flat):,} values for {len(lot):,} pairs"
            if len(flat) == len(lot):
                at = int(wrong[0])
            else:
                at = 0
            if len(flat) == len(lot):
                what = f"returned {flat[at]!r:.40}, which is no number from 0 to 1"
            raise InputError(f"{self.name} {what}", where=shown(lot[at]), code="bad-answer")
        return flat[:, None]


def _shown(text: Any) -> str:
    return f"'{ids.show(text)}'"


def shown_pair(pair: Any) -> str:
    """Two texts in an error."""
    return f"retrieved '{ids.show(pair[0])}', reference '{ids.show(pair[1])}'"
