"""Texts with one meaning, by a model: the cosine of vectors, or the model's answer for a pair.

A long text dilutes a vector: one of its sentences hardly shows in the vector of all. So a reference of n sentences is
compared with every n sentences in a row, and the best window counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
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
"""The number of texts, or pairs, that a model gets together."""
BLOCK_WINDOWS = 20_000
"""The number of windows that are in memory at once."""


LONGEST = 1_000
"""The most characters of a part that counts as one sentence. Models see no more than some hundred words of a text: of
tables, code and scripts without full stops they would see only the beginnings."""


def slices(count: int, size: int) -> Iterator[slice]:
    """Ranges of at most `size`, one after the other."""
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def windows(text: str, size: int) -> Stretches:
    """Where every `size` sentences in a row stand; the whole text, if it has no more.

    What has no end of a sentence for long is cut into parts that overlap by half.

    >>> windows("One. Two. Three.", 2)
    [(0, 9), (5, 16)]
    >>> windows("One two three.\\n\\nFour five.", 1)
    [(0, 14), (16, 26)]
    """
    parts: Stretches = []
    for start, end in sentence_places(text):
        for begin in range(start, max(end - LONGEST // 2, start + 1), LONGEST // 2):
            past = begin + LONGEST
            if past >= end:
                past = end
            else:
                past = _word_start(text, past, start)
            parts.append((_word_start(text, begin, start), past))

    size = max(size, 1)
    if len(parts) <= size:
        return [(0, len(text))]
    return [(parts[i][0], parts[i + size - 1][1]) for i in range(len(parts) - size + 1)]


def sentence_places(text: str) -> Stretches:
    """Where the sentences of a text stand.

    >>> sentence_places("One. Two.")
    [(0, 4), (5, 9)]
    """
    stretches: Stretches = []
    end = 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        stretches.append((start, end))
    return stretches


def _word_start(text: str, index: int, sentence: int) -> int:
    """The beginning of the word at an index, or the index itself where no blank of its sentence is near."""
    if index == sentence:
        return index
    return text.rfind(" ", max(index - 50, sentence), index) + 1 or index


class SemanticMatcher(Matcher):
    """The best window of a text by a model.

    `cache` is a folder in which its answers are stored, False for none. Answers of a function are stored only if a
    folder is given and `name` says which model it is, until its code changes.
    """

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
            message = f"{model!r:.80} is not a function"
            raise OptionError(message, hint=f"Give a function of a list of {self.takes}.", code="not-a-function")

        if window not in ("best", None):
            raise OptionError(f"the window of {self.name} is {window!r}; it must be 'best' or None")

        if isinstance(cache, str) and not isinstance(model, str) and name is None:
            message = "answers of a function are kept by the name of its model"
            raise OptionError(message, hint='For example name="v1".', code="no-model-name")

        self.threshold = self._checked(threshold)
        self.at_once = whole_number(at_once, "at_once", 1)
        self.window = window
        self.model = model
        self.model_name = name
        if name is None and isinstance(model, str):
            self.model_name = model
        self._cache = cache
        self._loaded_model: tuple[Callable[[list[Any]], Any], KeptVectors] | None = None

    takes: ClassVar[str]
    """What the function takes a list of."""

    @staticmethod
    def _function(model: Any) -> Any:
        """The function of a model that is an object."""
        return model

    @staticmethod
    def _loaded(name: str) -> tuple[Callable[[list[Any]], Any], str]:
        """The function of a model by name, and a key that differs from the keys of other models."""
        raise NotImplementedError

    @property
    def _ready(self) -> tuple[Callable[[list[Any]], Any], KeptVectors]:
        """The function, and its earlier answers; models are loaded when they are first used."""
        if self._loaded_model is None:
            if isinstance(self.model, str):
                function, key = self._loaded(self.model)
            else:
                function = self._function(self.model)
                key = f"{self.model_name}\0{fingerprint(function)}"

            folder = None
            if isinstance(self._cache, str):
                folder = self._cache
            stored_as = None
            if self._cache is not False and (isinstance(self.model, str) or folder is not None):
                stored_as = f"{self.name}\0{key}"
            self._loaded_model = function, KeptVectors(stored_as, folder)

        return self._loaded_model

    def __str__(self) -> str:
        spelled = super().__str__()
        if self.model_name is None:
            return spelled
        inner, sign, threshold = spelled.rpartition(self._sign)
        return f"{inner}:{self.model_name}{sign}{threshold}"

    @property
    def options(self) -> dict[str, object]:
        if self.window:
            return super().options
        return {"window": None, **super().options}

    def _windows(self, text: str, size: int) -> Stretches:
        if self.window is None:
            return [(0, len(text))]
        return windows(text, size)

    def _best(self, parts: Sequence[list[str]], references: list[str]) -> list[np.ndarray]:
        """For each reference, how much each window of its text matches it."""
        raise NotImplementedError

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        sizes = {j: len(sentences(references[j])) for j in np.unique(right).tolist()}
        cut: dict[tuple[int, int], list[str]] = {}
        degrees = np.zeros(len(left))
        parts: list[list[str]] = []
        begin = window_count = 0
        for pair, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            key = i, sizes[j]
            if key not in cut:
                cut[key] = [retrieved[i][start:end] for start, end in self._windows(retrieved[i], sizes[j])]
                window_count += len(cut[key])
            parts.append(cut[key])
            if window_count >= BLOCK_WINDOWS or pair == len(left) - 1:
                block = slice(begin, pair + 1)
                block_references = [references[j] for j in right[block].tolist()]
                degrees[block] = [float(window.max()) for window in self._best(parts, block_references)]
                begin, window_count, parts, cut = pair + 1, 0, [], {}

        return np.clip(degrees, 0, 1)

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        """The windows that match, the best first."""
        spans = self._windows(retrieved, len(sentences(reference)))
        (similarities,) = self._best([[retrieved[start:end] for start, end in spans]], [reference])
        order = np.argsort(-similarities, kind="stable").tolist()
        is_enough = self.enough(similarities)
        return [spans[i] for i in order if is_enough[i]] or spans

    def marks(self, retrieved: str, reference: str) -> Stretches:
        if self.window is None:
            return []
        return self.stretches(retrieved, reference)[:1]

    def _answers(self, items: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        """The model's answers, one row for each item; it gets each item once, and none whose answer is stored."""
        function, stored = self._ready

        def answer_all(missing: list[Any]) -> np.ndarray:
            lots = [missing[lot] for lot in slices(len(missing), self.at_once)]
            try:
                answers = finished_each([partial(function, lot) for lot in lots])
                rows = [np.asarray(answer, np.float32) for answer in answers]
            except UnansweredError as failed:
                error = failed.__cause__
                raise InputError(
                    f"{self.name} failed with {type(error).__name__}: {error}",
                    where=_first(lots[failed.index], shown),
                    code="function-failed",
                ) from error
            except (TypeError, ValueError, OverflowError) as error:
                message = f"{self.name} gave no numbers, {type(error).__name__}: {error}"
                raise InputError(message, where=_first(lots[0], shown), code="bad-vectors") from error

            rows = [self._rows(row, lot, shown) for row, lot in zip(rows, lots, strict=True)]
            if len({row.shape[1] for row in rows}) > 1:
                raise InputError("embedding gave vectors of different lengths", where=_first(lots[0], shown))
            return np.concatenate(rows)

        return stored.of(items, answer_all)

    def _rows(self, answer: np.ndarray, lot: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        """One row for each item of a lot, checked."""
        raise NotImplementedError


def _first(lot: list[Any], shown: Callable[[Any], str]) -> str:
    noun = "pairs"
    if isinstance(lot[0], str):
        noun = "texts"
    return f"{shown(lot[0])} (the first of {len(lot):,} {noun})"


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
        if all(texts == [reference] for texts, reference in zip(parts, references, strict=True)):
            return [np.ones(1) for _ in parts]  # equal texts match, whatever a model makes of them

        distinct = dict.fromkeys((*chain.from_iterable(parts), *references))
        number = {text: i for i, text in enumerate(distinct)}
        vectors = self._answers(list(distinct), _shown)
        cosines = []
        for texts, reference in zip(parts, references, strict=True):
            numbers = np.array([number[text] for text in texts], np.int64)
            cosine = (vectors[numbers] @ vectors[number[reference]]).astype(np.float64)
            cosine[numbers == number[reference]] = 1.0
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
            message = "the vector has no direction: it is zero, or not all numbers"
            raise InputError(message, where=shown(lot[bad[0]]), code="bad-vectors")
        return np.asarray(answer / length[:, None], np.float32)


class CrossEncoder(SemanticMatcher):
    """The answer of a model for a pair: a function of a list of (text, reference), which returns a number from 0 to 1
    for each, perhaps later. It may be a cross-encoder, or a model of entailment, which sees contradictions.
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
        number = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
        values = self._answers(list(number), shown_pair)[:, 0].astype(np.float64)
        answers = values[[number[pair] for pair in pairs]]
        return np.split(answers, np.cumsum([len(texts) for texts in parts])[:-1])

    def _rows(self, answer: np.ndarray, lot: list[Any], shown: Callable[[Any], str]) -> np.ndarray:
        flat = answer.reshape(-1)
        if len(flat) != len(lot):
            message = f"{self.name} gave {len(flat):,} values for {len(lot):,} pairs"
            raise InputError(message, where=shown(lot[0]), code="bad-answer")

        wrong = np.flatnonzero(~((flat >= 0) & (flat <= 1)))
        if len(wrong):
            first = int(wrong[0])
            message = f"{self.name} returned {flat[first]!r:.40}, which is not a number from 0 to 1"
            raise InputError(message, where=shown(lot[first]), code="bad-answer")
        return flat[:, None]


def _shown(text: Any) -> str:
    return f"'{ids.show(text)}'"


def shown_pair(pair: Any) -> str:
    """Two texts in an error."""
    return f"retrieved '{ids.show(pair[0])}', reference '{ids.show(pair[1])}'"
