"""Measures with their cut-off and options: how they are spelled, parsed and taken."""

from __future__ import annotations

import ast
import difflib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from goldrank.data.aspects import Aspects
from goldrank.data.passages import Passages
from goldrank.data.placements import Placements
from goldrank.data.preferences import Preferred
from goldrank.data.spans import Spans
from goldrank.data.top_documents import TopDocuments
from goldrank.errors import InputError, MeasureError, did_you_mean
from goldrank.measures.declare import ALIASES, KEPT, REGISTRY, Cutoff, Declaration, Kernel, lookup, other_spelling
from goldrank.measures.options import MAX_CUTOFF, Choice, OptionValue, spell

if TYPE_CHECKING:
    from goldrank.types import MeasureLike, MeasuresLike

DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")
"""What is measured when nothing is asked for."""

Table: TypeAlias = Placements | Aspects | Preferred | Spans | TopDocuments | Passages
"""What measures read; `Declaration.over` says which."""


@dataclass(frozen=True)
class Measure:
    """A measure with its cut-off and options; equal if spelled equal. Make one with `parse`."""

    name: str
    k: int | float | None = None
    options: tuple[tuple[str, OptionValue], ...] = ()
    """Options that differ from their defaults, by name in alphabetical order."""
    declaration: Declaration = field(compare=False, hash=False, repr=False, kw_only=True)
    asked: str = field(default="", kw_only=True)
    """Another tool's name by which it was asked for, if that is one that columns keep (`declare.KEPT`)."""

    def __str__(self) -> str:
        implied = ALIASES[self.asked.casefold()].options if self.asked else {}
        inner = ", ".join(f"{key}={spell(value)}" for key, value in self.options if key not in implied)
        name = self.asked or self.name
        text = f"{name}({inner})" if inner else name
        return text if self.k is None else f"{text}@{self.k}"

    __repr__ = __str__

    def option(self, name: str) -> Any:  # the measure's declaration, not this signature, says of which type
        """The value of an option, given or default."""
        return dict(self.options).get(name, self.declaration.defaults.get(name))

    def having(self, defaults: Mapping[str, object]) -> Measure:
        """This measure with other defaults: options that were given stay."""
        made = make(self.declaration, self.k, {**defaults, **dict(self.options)}) if defaults else self
        return replace(made, asked=self.asked)

    @property
    def of_texts(self) -> Measure:
        """What is meant by the name where texts are measured."""
        name = self.declaration.for_texts
        return self if name is None else replace(make(name, self.k, dict(self.options)), asked=self.name)

    @property
    def plain(self) -> Measure:
        """The same by goldrank's own name."""
        return replace(self, asked="")

    def __call__(self, table: Table) -> np.ndarray:
        """One value per query."""
        return self.taken(self.packed(table))

    def packed(self, table: Table) -> Table:
        """The table as if only what fits into the measure's budget of tokens had been retrieved."""
        budget = self.option("tokens")
        if budget is None or self.declaration.takes_budget:
            return table
        if not isinstance(table, Placements | Passages | Spans):
            raise MeasureError(f"{self} has no budget of tokens", hint="A budget goes with measures of texts.")
        depth = self.k if self.declaration.cutoff in ("optional", "needed") else None
        return table.packed(budget, self.option("pack"), None if depth is None else int(depth))

    def taken(self, table: Table) -> np.ndarray:
        """One value per query of a table that was packed."""
        return self.with_kernel(self.declaration.kernel, table)

    def with_kernel(self, kernel: Kernel, table: Table) -> np.ndarray:
        """The same by another kernel that takes the same options."""
        judged_only, given = self._given
        if judged_only:
            table = table.condensed
        if self.declaration.per_query and kernel is self.declaration.kernel:
            assert isinstance(table, Placements)
            return self._query_by_query(table, given)
        return np.asarray(kernel(table, **given), np.float64)

    @cached_property
    def _given(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether only judged documents count, and what else the kernel gets by name."""
        given: dict[str, Any] = {**self.declaration.defaults, **dict(self.options)}
        judged_only = given.pop("judged_only")
        del given["pack"]
        if not self.declaration.takes_budget:
            del given["tokens"]
        for key, rule in self.declaration.options.items():
            if isinstance(rule, Choice) and rule.mapping and isinstance(given.get(key), tuple):
                given[key] = dict(given[key])
        if self.declaration.cutoff != "none":
            given["k"] = self.k
        return judged_only, given

    def _query_by_query(self, p: Placements, given: Mapping[str, object]) -> np.ndarray:
        """Calls the kernel once per query, with grades by rank (None where unjudged) and all judged grades."""
        values = np.zeros(len(p))
        for i, query in enumerate(p.queries):
            rows = slice(p.start[i], p.start[i + 1])
            ranked: list[float | None] = [None] * int(p.retrieved[i])
            for rank, grade in zip(p.rank[rows].tolist(), p.grade[rows].tolist(), strict=True):
                ranked[rank - 1] = grade
            judged = p.judged[p.judged_start[i] : p.judged_start[i + 1]].tolist()
            value = self.declaration.kernel(ranked, judged, **given)
            if not isinstance(value, int | float | np.number | np.bool_):
                raise MeasureError(f"{self} returned {value!r} for query {query!r}", hint="It must return a number.")
            values[i] = value
        return values


def make(name: str | Declaration, k: object = None, options: Mapping[str, object] | None = None) -> Measure:
    """A measure from its registered name, or a declaration; checks the cut-off and every option."""
    declaration = REGISTRY[name] if isinstance(name, str) else name
    name = declaration.name
    if declaration.cutoff == "none" and k is not None:
        raise MeasureError(f"{name} takes no cut-off, but was given @{k}")
    if declaration.cutoff in ("needed", "recall", "multiple") and k is None:
        example = f"{name}@10" if declaration.cutoff == "needed" else f"{name}@0.5"
        raise MeasureError(f"{name} needs a cut-off", hint=f"For example {example}.")
    checked = None if k is None else _check_cutoff(name, k, declaration.cutoff)
    given: dict[str, OptionValue] = {}
    for key, value in (options or {}).items():
        rule = declaration.options.get(key)
        if rule is None:
            listed = ", ".join(declaration.options)
            near = did_you_mean(key, declaration.options)
            raise MeasureError(f"{name} has no option {key!r}; it has: {listed}", hint=near)
        try:
            kept = rule.check(value)
        except (ValueError, TypeError) as error:
            raise MeasureError(f"{name}: {key} is {value!r}; it must be {error}") from None
        if kept != declaration.defaults.get(key):
            given[key] = kept
    if declaration.takes_budget and (given.get("tokens") is None or "pack" in given):
        raise MeasureError(
            f"{name} needs a budget of tokens, and packs nothing", hint=f"For example {name}(tokens=2000)."
        )
    if "pack" in given and given.get("tokens") is None:
        raise MeasureError(
            f"{name}: pack says how texts fill a budget, and there is none", hint=f'{name}(tokens=2000, pack="skip")'
        )
    return Measure(name, checked, tuple(sorted(given.items())), declaration=declaration)


def _check_cutoff(name: str, k: object, kind: Cutoff) -> int | float:
    if kind in ("recall", "multiple"):
        highest, what = {
            "recall": (1, "the recall level is a number from 0 to 1"),
            "multiple": (MAX_CUTOFF, "the multiple of the number of relevant documents is a number from 0 up"),
        }[kind]
        if isinstance(k, bool) or not isinstance(k, int | float) or not 0 <= k <= highest:
            raise MeasureError(f"{name}@{k}: {what}")
        return float(k)
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise MeasureError(f"{name}@{k}: a cut-off is a whole number", hint=f"For example {name}@10.")
    if not 1 <= k <= MAX_CUTOFF:
        raise MeasureError(f"{name}@{k}: a cut-off is from 1 to {MAX_CUTOFF:,}", hint=f"For example {name}@10.")
    return int(k)


# From a spelling, or a function, to a measure.


def parse(measure: MeasureLike) -> Measure:
    """A measure from its spelling: `nDCG@10`, `P(rel=2)@5`, or another tool's name such as `ndcg_cut_10`.

    A function becomes a measure of that name: it is called once per query with the grades of the ranked documents
    (None where unjudged) and of all judged ones, and returns a number.

    >>> parse("ndcg_cut_10")
    nDCG@10
    >>> parse('nDCG(gain="exp2")@20')
    nDCG(gain="exp2")@20
    """
    if not isinstance(measure, str):
        return measure if isinstance(measure, Measure) else _of_function(measure)
    spelled = measure.strip()
    if alias := lookup(spelled):
        return _asked(spelled, make(alias.name, None, alias.options))
    if other := other_spelling(spelled):
        name, options, k = other
        return _asked(spelled, make(name, k, options))
    return _asked(spelled, _parse_expression(spelled))


_WORD = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)*")


def _asked(spelled: str, measure: Measure) -> Measure:
    """The measure under the name that was asked for, if that is one that columns keep."""
    found = _WORD.match(spelled)
    word = found[0].removesuffix("_at").removesuffix("_cut") if found else ""
    if word.casefold() not in KEPT:
        return measure
    implied = ALIASES[word.casefold()].options.items()
    return replace(measure, asked=word) if implied <= dict(measure.options).items() else measure


def parse_all(measures: MeasuresLike, usual: Iterable[str] = DEFAULT) -> list[Measure]:
    """One measure or several, each once; None stands for the `usual` ones. Functions get names that differ."""
    if measures is None:
        listed: list[MeasureLike] = list(usual)
    elif isinstance(measures, str) or callable(measures) or not isinstance(measures, Iterable):
        listed = [measures]  # what is no measure is refused below
    else:
        listed = list(measures)
    if not listed:
        raise InputError("no measures were given", hint="For example measures=['nDCG@10', 'AP'].")
    found: dict[str, Measure] = {}
    for given in listed:
        measure = parse(given)
        name, number = measure.name, 1
        while found.get(str(measure), measure).declaration.kernel is not measure.declaration.kernel:
            number += 1
            measure = replace(measure, name=f"{name}_{number}")
        found[str(measure)] = measure
    return list(found.values())


def known(name: str) -> Measure | None:
    """The measure of that spelling; None if there is none, as for a column that a function made."""
    try:
        return parse(name)
    except MeasureError:
        return None


def _of_function(function: Callable[..., Any]) -> Measure:
    if not callable(function):
        raise MeasureError(
            f"a measure is a text or a function, not {type(function).__name__}", hint="For example 'nDCG@10'."
        )
    for declared in REGISTRY.values():
        if declared.kernel is function:
            return make(declared.name)
    try:
        inspect.signature(function).bind([], [])
    except TypeError:
        raise MeasureError(
            "a function as a measure takes two arguments: grades in the order of ranks, and all judged grades",
            hint="For example lambda ranked, judged: ranked[0] or 0. For others see goldrank.measure.",
        ) from None
    except ValueError:
        pass  # written in C, without a signature
    name = getattr(function, "__name__", "function" if type(function).__module__ == "functools" else "")
    name = re.sub(r"\W|^_+", "", name or type(function).__name__, flags=re.ASCII)
    name = name if re.match("[A-Za-z]", name) and name != "lambda" else "function"
    if lookup(name) or other_spelling(name):
        name += "_function"  # columns of the library's own measures keep their names
    doc = inspect.getdoc(function) or ""
    declared = Declaration(name, function, doc=doc, low=-math.inf, high=math.inf, per_query=True)
    return make(declared)


def _parse_expression(text: str) -> Measure:
    try:
        tree: ast.expr = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unknown(text) from None
    k: object = None
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        k = _literal(tree.right, text)
        tree = tree.left
    options: dict[str, object] = {}
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
    alias = lookup(tree.id)
    if not alias:
        raise _unknown(text, tree.id)
    return make(alias.name, k, {**alias.options, **options})


def _literal(node: ast.expr, text: str) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise MeasureError(
            f"{text!r}: options and cut-offs are plain values", hint='For example nDCG(gain="exp2")@20.'
        ) from None


OF_ANSWERS = frozenset(
    (
        *("faithfulness", "answer_relevancy", "answer_relevance", "response_relevancy", "answer_correctness"),
        *("answer_similarity", "semantic_similarity", "factual_correctness", "groundedness", "response_groundedness"),
        *("hallucination", "answer_accuracy"),
    )
)
"""Names of measures that judge what was made of the texts."""


def _unknown(text: str, name: str | None = None) -> MeasureError:
    written = _WORD.match(text)
    if written and written[0].removesuffix("_at").casefold() in OF_ANSWERS:
        return MeasureError(
            f"{written[0]} judges the answer, and goldrank measures what was retrieved",
            hint="Of the texts there are Cover@5, context_recall, context_precision and NoiseShare@5.",
        )
    word = name or re.split(r"[@(_.]", text)[0] or text
    near = difflib.get_close_matches(word.casefold(), ALIASES, n=1, cutoff=0.6)
    alias = lookup(near[0]) if near else None
    hint = "See `goldrank measures` for all of them."
    if alias:
        rest = text[len(word) :] if text.startswith(word) else ""
        hint = f"Did you mean {alias.name}{rest}?"
    return MeasureError(f"unknown measure {text!r}", hint=hint)
