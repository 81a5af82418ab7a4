"""How texts are compared with what they should cover: `Matching`, `Evidence` by place, and `Answers`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from goldrank.base.errors import OptionError, one_of
from goldrank.base.escaping import shown
from goldrank.base.options import Options
from goldrank.base.types import Path
from goldrank.evaluation.tokenizers import is_tokenizer, tokenizer
from goldrank.match import Matcher
from goldrank.match import matcher as as_matcher
from goldrank.match.guards import checked as checked_guards
from goldrank.match.locate import SIMILARITY
from goldrank.match.matcher import AsksAJudge
from goldrank.match.pairs import Splitter

Unit: TypeAlias = Literal["chunk", "sentence"]
"""What is compared, and what ranks count: whole retrieved texts, or their sentences."""
Credit: TypeAlias = Literal["any", "one_to_one", "first_free", "pairs"]
"""What counts where a text covers several references, or several texts cover one (`measures.apply.CREDITS`)."""
Guard: TypeAlias = Literal["numbers", "units", "negations", "opposites", "identifiers", "names"]
"""What a match must not differ in (`match.guards.GUARDS`)."""
Tokens: TypeAlias = Literal["words", "characters"]
"""What budgets count, beside tokenizers by name (`evaluation.tokenizers`)."""
Lengths: TypeAlias = Literal["char", "token"]
"""The unit of lengths of spans."""
Several: TypeAlias = Literal["any", "first", "error"]
"""What a quotation means that stands in several places: any of them, the first, or an error."""
Unlocated: TypeAlias = Literal["error", "missed", "skip"]
"""What becomes of a quotation that is not found: an error, missed by every text, or left out."""

MatcherLike: TypeAlias = str | Matcher | type[Matcher] | AsksAJudge | Callable[..., Any]
"""A spelling, a matcher, a judge, or a function of a retrieved text and a reference."""


@dataclass(frozen=True, repr=False)
class Matching(Options):
    """When a retrieved text covers a reference, and how that is counted.

    Parameters
    ----------
    matcher
        A spelling such as "exact", "contains" or "rouge-l:0.7", a `Matcher`, a judge, or a function of both texts.
    unit
        What is compared, and what ranks count: a "chunk", a "sentence", or the texts that a function makes of one.
    credit
        "any": a text that covers any reference is relevant, and a reference counts once; "one_to_one": a text is given
        one reference, so that as many as possible are given; "first_free": the first reference that no text above it
        was given; "pairs": every pair counts (docs/texts.md).
    guards
        What a match must not differ in: "numbers", "units", "negations", "opposites", "identifiers", "names". None: the
        matcher's guards; (): none.
    tokens
        What budgets count: "words", "characters", "tiktoken:o200k_base" or "hf:NAME" where these packages and the
        tokenizer are on the machine (nothing is downloaded), or a function of a text that returns its tokens or their
        number.

    Raises
    ------
    OptionError
        If something is not one of its choices, or there is no such matcher.

    Examples
    --------
    >>> Matching("contains", unit="sentence")
    Matching(matcher='contains', unit='sentence')
    >>> Matching() == Matching("rouge-l:0.7")
    True
    """

    matcher: MatcherLike = "rouge-l:0.7"
    unit: Unit | Splitter = "chunk"
    credit: Credit = "any"
    guards: Sequence[Guard] | None = None
    tokens: str | Callable[[str], Any] = "words"

    def __post_init__(self) -> None:
        if not callable(self.unit):
            one_of(self.unit, get_args(Unit), "unit")
        one_of(self.credit, get_args(Credit), "credit")
        if not callable(self.tokens) and not (isinstance(self.tokens, str) and is_tokenizer(self.tokens)):
            one_of(self.tokens, (*get_args(Tokens), "tiktoken:ENCODING", "hf:NAME"), "tokens")
        guards = None
        if self.guards is not None:
            guards = checked_guards(self.guards)
        object.__setattr__(self, "guards", guards)
        object.__setattr__(self, "_rule", as_matcher(self.matcher).with_guards(guards))

    @property
    def rule(self) -> Matcher:
        """The matcher, with the guards."""
        rule: Matcher = vars(self)["_rule"]
        return rule

    @property
    def token_function(self) -> Callable[[str], Any] | None:
        """What makes tokens of a text; None for words."""
        if self.tokens == "words":
            return None
        if self.tokens == "characters":
            return list
        if isinstance(self.tokens, str):
            return tokenizer(self.tokens)
        return self.tokens

    @property
    def counted_as(self) -> str:
        """What a token is, in words."""
        if isinstance(self.tokens, str):
            return self.tokens
        name = getattr(self.tokens, "__name__", "<lambda>")
        if name == "<lambda>":
            return "tokens of your own function"
        return f"tokens of {name}"

    def __repr__(self) -> str:
        return _short(self)


@dataclass(frozen=True, repr=False)
class Evidence(Options):
    """Where the evidence stands that answers need, for measures of places such as SpanRecall, and for causes.

    Parameters
    ----------
    sources
        The texts that were cut into chunks: a folder of text files, a file of records, or texts by id.
    chunks
        All texts of the index: a file, or records with id, text, source, start and end.
    lengths
        The unit of lengths of spans: "char" or "token".
    several
        What a quotation means that stands in several places: "any" of them suffices, the "first" is meant, or an
        "error".
    unlocated
        What becomes of a quotation that is not found: an "error", "missed" by every text, or left out ("skip").
        `find_causes` and `sweep` tell of it as "not in the corpus" instead of an error.
    similarity
        The least similarity of an approximate quotation; None: only exact ones count.
    coverage
        The share of a piece of evidence that is enough, for causes, sweeps and measures of abstaining.

    Raises
    ------
    OptionError
        If something is not one of its choices, or not a number within its limits.

    Examples
    --------
    >>> Evidence("docs/", unlocated="skip")
    Evidence(sources='docs/', unlocated='skip')
    """

    sources: Path | Mapping[str, str] | Iterable[Mapping[str, Any]] | None = None
    chunks: Path | Mapping[str, Any] | Iterable[Any] | None = None
    lengths: Lengths = "char"
    several: Several = "any"
    unlocated: Unlocated = "error"
    similarity: float | None = SIMILARITY
    coverage: float = 1.0

    def __post_init__(self) -> None:
        one_of(self.lengths, get_args(Lengths), "lengths")
        one_of(self.several, get_args(Several), "several")
        one_of(self.unlocated, get_args(Unlocated), "unlocated")
        if self.similarity is not None and not _is_share(self.similarity):
            message = f"similarity is {shown(self.similarity)}; it must be a number above 0, up to 1, or None"
            raise OptionError(message, code="bad-number")
        if not _is_share(self.coverage):
            message = f"coverage is {shown(self.coverage)}; it must be a number above 0, up to 1"
            raise OptionError(message, code="bad-number")
        for name in ("sources", "chunks"):
            value = getattr(self, name)
            if isinstance(value, Iterator):
                object.__setattr__(self, name, tuple(value))

    def __repr__(self) -> str:
        return _short(self)


@dataclass(frozen=True, repr=False)
class Answers(Options):
    """How answers are taken apart, who judges their claims, and when a system abstains.

    Parameters
    ----------
    judge
        Who decides on claims in place of the matcher: a function of a text and a claim, perhaps asynchronous, a judge,
        or a `Matcher`.
    claims
        A function from an answer to its claims; None: its sentences.
    entities
        A function from an answer to its names and numbers; None: those that are capitalised, and numbers.
    abstain_below
        A system abstains if its first text has a lower score. None: if it returns nothing.

    Raises
    ------
    OptionError
        If a function is none, or `abstain_below` is not a number.

    Examples
    --------
    >>> Answers(abstain_below=0.5)
    Answers(abstain_below=0.5)
    """

    judge: MatcherLike | None = None
    claims: Callable[[str], Any] | None = None
    entities: Callable[[str], Any] | None = None
    abstain_below: float | None = None

    def __post_init__(self) -> None:
        for name in ("claims", "entities"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise OptionError(f"{name} is {shown(function)}; it must be a function from a text to a list of texts")
        if self.abstain_below is not None and not _is_number(self.abstain_below):
            raise OptionError(f"abstain_below is {shown(self.abstain_below)}; it must be a number", code="bad-number")
        rule = None
        if self.judge is not None:
            rule = as_matcher(self.judge)
        object.__setattr__(self, "_rule", rule)

    @property
    def rule(self) -> Matcher | None:
        """The judge as a matcher."""
        rule: Matcher | None = vars(self)["_rule"]
        return rule

    def __repr__(self) -> str:
        return _short(self)


MatchingLike: TypeAlias = str | Matching
"""A `Matching`, or the spelling of its matcher."""
EvidenceLike: TypeAlias = Evidence | Path | Mapping[str, str]
"""`Evidence`, or its sources: a folder, a file, or texts by id."""


def as_matching(matching: MatchingLike) -> Matching:
    """A `Matching`, also from a spelling."""
    if isinstance(matching, Matching):
        return matching
    if isinstance(matching, str):
        return Matching(matching)
    message = f"matching is {shown(matching)}; it must be a spelling such as 'rouge-l:0.7', or a Matching"
    raise OptionError(message, hint="A function, or a matcher of your own, goes into Matching(...).")


def as_evidence(evidence: EvidenceLike | None) -> Evidence:
    """`Evidence`, also from its sources."""
    if evidence is None:
        return Evidence()
    if isinstance(evidence, Evidence):
        return evidence
    if isinstance(evidence, str | os.PathLike | Mapping):
        return Evidence(evidence)
    message = f"evidence is {shown(evidence)}; it must be sources (a folder, a file, or texts by id) or an Evidence"
    raise OptionError(message, hint="For example Evidence('docs/', chunks='chunks.jsonl').")


def as_answers(answers: Answers | None) -> Answers:
    """`Answers` as they are, or the usual ones."""
    if answers is None:
        return Answers()
    if isinstance(answers, Answers):
        return answers
    hint = "For example Answers(judge=lambda text, claim: claim in text)."
    raise OptionError(f"answers is {shown(answers)}; it must be Answers(...)", hint=hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and _is_number(value) and 0 < value <= 1


def _short(noun: Matching | Evidence | Answers) -> str:
    """The constructor with what is not as usual."""
    shown = ", ".join(f"{name}={_shown_value(value)}" for name, value in noun.changes().items())
    return f"{type(noun).__name__}({shown})"


def _shown_value(value: object) -> str:
    """A value in a repr of one line."""
    if isinstance(value, str | int | float | os.PathLike) or value in (None, ()):
        return repr(value)
    if isinstance(value, Matcher):
        return repr(str(value))
    if isinstance(value, tuple) and all(isinstance(part, str) for part in value):
        return repr(value)
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return f"<{type(value).__name__}>"
