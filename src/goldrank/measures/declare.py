"""How a measure is declared, spelled, parsed and found.

A measure is one function. The decorator `@measure` takes what people need to know about it; the name, the
parser, the pages of documentation and the property tests are derived from that declaration.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goldrank.data.placements import Placements
from goldrank.errors import MeasureError, did_you_mean

MAX_CUTOFF = 1_000_000_000

Kernel = Callable[..., np.ndarray]


# What an option may be.


@dataclass(frozen=True)
class Choice:
    """One of some words; with `mapping`, also a table of its own such as {1: 3, 2: 9}."""

    words: tuple[str, ...]
    mapping: bool = False

    def check(self, value: Any) -> Any:
        if self.mapping and isinstance(value, Mapping | tuple):
            try:
                pairs = value.items() if isinstance(value, Mapping) else value
                return tuple(sorted((_whole(grade), _real(worth)) for grade, worth in pairs))
            except (TypeError, ValueError, OverflowError):
                raise ValueError("a mapping from whole numbers to finite numbers") from None
        if value not in self.words:
            raise ValueError(f"one of {', '.join(map(repr, self.words))}" + (" or a mapping" * self.mapping))
        return value


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`; `whole` allows integers only, `optional` also None."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    optional: bool = False

    def check(self, value: Any) -> Any:
        if value is None and self.optional:
            return None
        try:
            number = _whole(value) if self.whole else _real(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not self.low <= number <= self.high:
            kind = "a whole number" if self.whole else "a number"
            raise ValueError(f"{kind} from {self.low:g} to {self.high:g}")
        return number


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError("True or False")
        return value


@dataclass(frozen=True)
class Numbers:
    """A list of numbers, each from `low` to `high`."""

    low: float = -math.inf
    high: float = math.inf

    def check(self, value: Any) -> tuple[float, ...]:
        one = Number(self.low, self.high)
        if not isinstance(value, list | tuple) or not value:
            raise ValueError("a list of numbers")
        return tuple(one.check(item) for item in value)


Option = Choice | Number | Numbers | Flag

REL = Number(low=-MAX_CUTOFF, high=MAX_CUTOFF)
"""The lowest grade that counts as relevant."""

COMMON: Mapping[str, tuple[Option, Any]] = {
    "judged_only": (Flag(), False),
    "tokens": (Number(low=1, high=MAX_CUTOFF, whole=True, optional=True), None),
}
"""Options that every measure has without any code of its own, with their defaults."""


def describe_option(option: Option) -> str:
    """What an option may be, in words."""
    match option:
        case Choice(words, mapping):
            return "one of " + ", ".join(words) + (", or a mapping from grade to gain" if mapping else "")
        case Number(low, high, whole, optional):
            kind = "a whole number" if whole else "a number"
            limits = "" if math.isinf(high) or high >= MAX_CUTOFF else f" from {low:g} to {high:g}"
            return kind + limits + (", or None" if optional else "")
        case Numbers(low, high):
            return f"a list of numbers from {low:g} to {high:g}"
        case _:
            return "True or False"


def _whole(value: Any) -> int:
    if isinstance(value, bool) or value != int(value):
        raise ValueError("not whole")
    return int(value)


def _real(value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError("not a number")
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value.item() if isinstance(value, np.generic) else value


# Declarations.


@dataclass(frozen=True)
class Declaration:
    """Everything that is known of a measure, from which all else is derived."""

    name: str
    kernel: Kernel
    formula: str
    cite: str
    use: str
    avoid: str
    aliases: tuple[str, ...]
    cutoff: str
    """'none', 'optional', 'needed'; in place of a rank 'recall' for a recall level, 'multiple' for a multiple of R."""
    low: float
    high: float
    average: str
    """'mean', 'sum' or 'geometric': how a summary is made from the values of queries."""
    needs_relevant: bool
    """Whether a query without relevant documents has no meaningful value."""
    monotone: bool
    """Whether moving a relevant document up never lowers it."""
    higher_is_better: bool
    options: Mapping[str, Option]
    defaults: Mapping[str, Any]
    over: str = "placements"
    """The table that the kernel reads: 'placements', 'aspects', 'preferences', 'spans' or 'heads'."""
    doc: str = ""
    per_query: bool = False

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.strip().splitlines()[0] if self.doc.strip() else self.name


REGISTRY: dict[str, Declaration] = {}
_ALIASES: dict[str, tuple[str, Mapping[str, Any]]] = {}
"""Other names, case folded: the measure and the options that the name implies."""


def measure(
    name: str,
    *,
    formula: str,
    cite: str,
    use: str,
    avoid: str,
    aliases: Iterable[str | tuple[str, Mapping[str, Any]]] = (),
    cutoff: str = "optional",
    low: float = 0.0,
    high: float = 1.0,
    average: str = "mean",
    needs_relevant: bool = True,
    monotone: bool = True,
    higher_is_better: bool = True,
    options: Mapping[str, Option] | None = None,
    over: str = "placements",
    per_query: bool = False,
) -> Callable[[Kernel], Kernel]:
    """Declare a measure.

    The function takes `Placements` and, by keyword, `k` (None without a cut-off) and its options, whose
    defaults are those of its signature; it returns one value per query. With `per_query=True` it is called
    once per query instead, with the grades of the ranked documents (None where unjudged) and of all judged
    ones, and returns a float. Every measure also has `judged_only` and `tokens`, which need no code.
    A measure of aspects (subtopics, judges), preferences, texts or spans says so with `over` and gets that table.
    """

    def declare(function: Kernel) -> Kernel:
        parameters = inspect.signature(function).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in ("k", *COMMON)}
        taken = {**{key: rule for key, (rule, _) in COMMON.items()}, **(options or {})}
        if "rel" in defaults:
            taken.setdefault("rel", REL)
        unknown = sorted(set(defaults) - set(taken))
        if unknown:
            raise MeasureError(f"measure {name}: options without a rule: {', '.join(unknown)}")
        names = [alias if isinstance(alias, tuple) else (alias, {}) for alias in aliases]
        declaration = Declaration(
            name=name,
            kernel=function,
            formula=formula,
            cite=cite,
            use=use,
            avoid=avoid,
            aliases=tuple(alias for alias, _ in names),
            cutoff=cutoff,
            low=low,
            high=high,
            average=average,
            needs_relevant=needs_relevant,
            monotone=monotone,
            higher_is_better=higher_is_better,
            options=taken,
            defaults={**{key: default for key, (_, default) in COMMON.items()}, **defaults},
            over=over,
            doc=inspect.getdoc(function) or "",
            per_query=per_query,
        )
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
            raise MeasureError(f"measure name {name!r} is not a word")
        REGISTRY[name] = declaration
        for alias, implied in [(name, {}), *names]:
            _ALIASES.setdefault(alias.casefold(), (name, implied))
        return function

    return declare


# Measures.


@dataclass(frozen=True)
class Measure:
    """A measure with its cut-off and options; equal if spelled equal. Make one with `parse`."""

    name: str
    k: int | float | None = None
    options: tuple[tuple[str, Any], ...] = ()
    """Options that differ from their defaults, by name in alphabetical order."""
    declaration: Declaration = field(compare=False, hash=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        inner = ", ".join(f"{key}={_spell(value)}" for key, value in self.options)
        text = f"{self.name}({inner})" if inner else self.name
        return text if self.k is None else f"{text}@{self.k}"

    def __repr__(self) -> str:
        return str(self)

    def option(self, name: str) -> Any:
        """The value of an option, given or default."""
        return dict(self.options).get(name, self.declaration.defaults.get(name))

    def having(self, defaults: Mapping[str, Any]) -> Measure:
        """This measure with other defaults: options that were given stay."""
        return make(self.name, self.k, {**defaults, **dict(self.options)})

    def __call__(self, placements: Any) -> np.ndarray:
        """One value per query."""
        return self.with_kernel(self.declaration.kernel, placements)

    def with_kernel(self, kernel: Kernel, placements: Any) -> np.ndarray:
        """One value per query by another kernel that takes the same options."""
        given = {**self.declaration.defaults, **dict(self.options)}
        budget = given.pop("tokens")
        if budget is not None:
            if not hasattr(placements, "within"):
                raise MeasureError(f"{self} has no budget of tokens", hint="A budget goes with measures of texts.")
            placements = placements.within(budget)
        if given.pop("judged_only"):
            placements = placements.condensed
        for key, option in self.declaration.options.items():
            if isinstance(option, Choice) and option.mapping and isinstance(given.get(key), tuple):
                given[key] = dict(given[key])
        if self.declaration.cutoff != "none":
            given["k"] = self.k
        if self.declaration.per_query:
            return _by_query(kernel, placements, given)
        values = kernel(placements, **given)
        return np.asarray(values, np.float64)


def make(name: str, k: Any = None, options: Mapping[str, Any] | None = None) -> Measure:
    """A measure from its registered name; checks the cut-off and every option."""
    declaration = REGISTRY[name]
    if declaration.cutoff == "none" and k is not None:
        raise MeasureError(f"{name} takes no cut-off, but was given @{k}")
    if declaration.cutoff in ("needed", "recall", "multiple") and k is None:
        example = f"{name}@10" if declaration.cutoff == "needed" else f"{name}@0.5"
        raise MeasureError(f"{name} needs a cut-off", hint=f"For example {example}.")
    if k is not None:
        k = _check_cutoff(name, k, declaration.cutoff)
    given: dict[str, Any] = {}
    for key, value in (options or {}).items():
        rule = declaration.options.get(key)
        if rule is None:
            known = ", ".join(declaration.options)
            near = did_you_mean(key, declaration.options)
            raise MeasureError(f"{name} has no option {key!r}; it has: {known}", hint=near)
        try:
            value = rule.check(value)
        except (ValueError, TypeError) as error:
            raise MeasureError(f"{name}: {key} is {value!r}; it must be {error}") from None
        if value != declaration.defaults.get(key):
            given[key] = value
    return Measure(name, k, tuple(sorted(given.items())), declaration=declaration)


def _check_cutoff(name: str, k: Any, kind: str) -> int | float:
    if kind == "recall":
        if isinstance(k, bool) or not isinstance(k, int | float) or not 0 <= k <= 1:
            raise MeasureError(f"{name}@{k}: the recall level is a number from 0 to 1")
        return float(k)
    if kind == "multiple":
        if isinstance(k, bool) or not isinstance(k, int | float) or not 0 <= k <= MAX_CUTOFF:
            raise MeasureError(f"{name}@{k}: the multiple of the number of relevant documents is a number from 0 up")
        return float(k)
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise MeasureError(f"{name}@{k}: a cut-off is a whole number", hint=f"For example {name}@10.")
    if not 1 <= k <= MAX_CUTOFF:
        raise MeasureError(f"{name}@{k}: a cut-off is from 1 to {MAX_CUTOFF:,}", hint=f"For example {name}@10.")
    return int(k)


_OTHER_SPELLING = re.compile(r"([A-Za-z][A-Za-z_\-]*?)(?:_at_|_cut_|_|@|\.)(\d{1,20}(?:\.\d{1,20})?)")


def parse(text: str | Measure) -> Measure:
    """A measure from its spelling: `nDCG@10`, `P(rel=2)@5`, or another tool's name such as `ndcg_cut_10`.

    >>> parse("ndcg_cut_10")
    nDCG@10
    >>> parse('nDCG(gain="exp2")@20')
    nDCG(gain="exp2")@20
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError(f"a measure is spelled as text, not {type(text).__name__}", hint="For example 'nDCG@10'.")
    spelled = text.strip()
    found = lookup(spelled)
    if found:
        return make(found[0], None, found[1])
    other = _OTHER_SPELLING.fullmatch(spelled)
    if other:
        found = lookup(other[1]) or lookup(other[1].removesuffix("_cut"))
        if found:
            real = "." in other[2] or REGISTRY[found[0]].cutoff in ("recall", "multiple")
            number = float(other[2]) if real else int(other[2])
            return make(found[0], number, found[1])
    return _parse_expression(spelled)


def _parse_expression(text: str) -> Measure:
    try:
        tree: ast.expr = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unknown(text) from None
    k: Any = None
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        k = _literal(tree.right, text)
        tree = tree.left
    options: dict[str, Any] = {}
    if isinstance(tree, ast.Call):
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise MeasureError(f"{text!r}: options are given by name", hint="For example P(rel=2)@5.")
        for keyword in tree.keywords:
            assert keyword.arg is not None
            if keyword.arg in options:
                raise MeasureError(f"{text!r}: option {keyword.arg!r} is given twice")
            options[keyword.arg] = _literal(keyword.value, text)
        tree = tree.func
    if not isinstance(tree, ast.Name):
        raise _unknown(text)
    found = lookup(tree.id)
    if not found:
        raise _unknown(text, tree.id)
    return make(found[0], k, {**found[1], **options})


def _literal(node: ast.expr, text: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise MeasureError(
            f"{text!r}: options and cut-offs are plain values", hint='For example nDCG(gain="exp2")@20.'
        ) from None


def lookup(name: str) -> tuple[str, Mapping[str, Any]] | None:
    """The registered name behind any name, and the options that it implies."""
    if name in REGISTRY:
        return name, {}
    return _ALIASES.get(name.casefold())


def _unknown(text: str, name: str | None = None) -> MeasureError:
    word = name or re.split(r"[@(_.]", text)[0] or text
    near = difflib.get_close_matches(word.casefold(), _ALIASES, n=1, cutoff=0.6)
    hint = "See `goldrank measures` for all of them."
    if near:
        rest = text[len(word) :] if text.startswith(word) else ""
        hint = f"Did you mean {_ALIASES[near[0]][0]}{rest}?"
    return MeasureError(f"unknown measure {text!r}", hint=hint)


def _spell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple) and not isinstance(value[0] if value else (), tuple):
        return "[" + ", ".join(map(repr, value)) + "]"
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{key!r}: {item!r}" for key, item in value) + "}"
    return repr(value)


def _by_query(function: Kernel, p: Placements, given: Mapping[str, Any]) -> np.ndarray:
    values = np.zeros(len(p))
    for i in range(len(p)):
        rows = slice(p.start[i], p.start[i + 1])
        ranked: list[float | None] = [None] * int(p.retrieved[i])
        for rank, grade in zip(p.rank[rows].tolist(), p.grade[rows].tolist(), strict=True):
            ranked[rank - 1] = grade
        judged = p.judged[p.judged_start[i] : p.judged_start[i + 1]].tolist()
        values[i] = function(ranked, judged, **given)
    return values


def summarise(measure: Measure, values: np.ndarray) -> float:
    """The summary of a measure's values over queries: left to right, as a plain loop would."""
    kind = measure.declaration.average
    if kind == "geometric":
        values = np.array([math.log(v) for v in values.tolist()])
    total = float(np.cumsum(values)[-1]) if len(values) else 0.0
    if kind == "sum":
        return total
    if not len(values):
        return math.nan
    return math.exp(total / len(values)) if kind == "geometric" else total / len(values)


__all__ = [
    "REGISTRY",
    "Choice",
    "Declaration",
    "Flag",
    "Measure",
    "Number",
    "Numbers",
    "make",
    "measure",
    "parse",
    "summarise",
]
