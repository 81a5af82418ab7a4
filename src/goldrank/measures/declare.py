"""How a measure is declared and found.

A measure is one function. The decorator `@measure` takes what is known about it; the name, the parser, the pages of
documentation, its behaviour under ties and with texts and the property tests follow from that declaration.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, TypeVar, Unpack, get_args

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.measures.families import Names, as_it_is
from goldrank.measures.options import COMMON, COMMON_DEFAULTS, Option, OptionValue, option_for

Kernel: TypeAlias = Callable[..., np.ndarray]
"""From a table and, by keyword, the cut-off and options, to one value per query."""

Over: TypeAlias = Literal["placements", "aspects", "preferences", "spans", "heads", "texts", "recommended"]
Cutoff: TypeAlias = Literal["none", "optional", "needed", "recall", "multiple"]
Average: TypeAlias = Literal["mean", "sum", "geometric"]
TieRule: TypeAlias = Literal["unordered"]
TextRule: TypeAlias = Literal["texts", "references", "places", "meaningless"]
HoleRule: TypeAlias = Literal["linear", "first", "any"]
Wanted: TypeAlias = Literal["references", "claims", "entities", "statements", "response", "nuggets", "citations"]


@dataclass(frozen=True)
class Declaration:
    """Everything that is known of a measure, from which all else is derived."""

    name: str
    kernel: Callable[..., Any]  # parameters and result depend on `over`, `per_query` and the options
    """The function: of a table, or with `per_query` of the grades of one query, then returning a number."""
    aliases: tuple[str, ...] = ()
    options: Mapping[str, Option] = field(default_factory=lambda: COMMON)
    defaults: Mapping[str, OptionValue] = field(default_factory=lambda: COMMON_DEFAULTS)
    doc: str = ""

    formula: str = ""
    cite: str = ""
    use: str = ""
    avoid: str = ""
    cutoff: Cutoff = "none"
    """In place of a rank 'recall' is a recall level, 'multiple' a multiple of the number of relevant documents."""
    low: float = 0.0
    high: float = 1.0
    average: Average = "mean"
    """How a summary is made from the values of queries."""
    needs_relevant: bool = True
    """Whether a query without relevant documents has no meaningful value."""
    monotone: bool = False
    """Whether moving a relevant document up never lowers it; bounds are made for such measures of placements."""
    higher_is_better: bool = True
    diagnostic: bool = False
    """Whether it says how far other numbers can be trusted, or what was there, and nothing of how good a run is. A
    comparison shows it, but tests nothing with it and never calls a run better by it."""
    over: Over = "placements"
    """The table that the kernel reads."""
    ties: Kernel | TieRule | None = None
    """A kernel of the mean over all orders of tied documents, 'unordered' if all orders give the same, None if
    no closed form is known."""
    texts: Kernel | TextRule = "texts"
    """How it reads texts that may cover several references: 'texts' that cover any, each with its best grade;
    'references' where they are first covered; 'places', where each covered reference has a place of its own, so that a
    text with several does not pass the ideal; 'meaningless' is about unjudged or nonrelevant documents, and a matcher
    judges every text. A kernel of its own reads all pairs."""
    pairs: Kernel | None = None
    """A kernel that counts every pair of a text and a reference, where that has a meaning (credit="pairs")."""
    holes: HoleRule = "any"
    """How documents that turn out relevant move it: 'linear', each adds what its rank is worth, over what depends on
    the number of them alone; 'first', only the first relevant one counts; 'any', nothing is known. Bounds of
    differences are exact and quick for the first two."""
    holes_unless: Mapping[str, OptionValue] = field(default_factory=dict)
    """Values of options with which 'linear' or 'first' is not true."""
    counts_nonrelevant: bool = False
    """Whether it counts documents that were judged not relevant, among which those with a grade below 0 are not."""
    limited_by_k: bool = False
    """Whether it cannot be 1 for a query that has more than k relevant documents."""
    counts_tokens: bool = False
    """Whether it needs to know how many tokens texts have."""
    of_all_queries: bool = False
    """Whether a query's value depends on the other queries, so that shards cannot be put together."""
    caveat: str = ""
    """The code of the note that goes with every value of it."""
    for_texts: str | None = None
    """The measure that this name means where texts are measured, and this one has no meaning."""
    for_documents: str | None = None
    """The measure that people mean by this name where ids are ranked, and this one has no meaning."""
    wanted: Wanted = "references"
    """What texts are held against: the 'references', or the 'claims' or 'entities' of the reference answer, or the
    claims of the 'response', or 'nuggets'; 'citations' are held against ids."""
    matched_by: str | None = None
    """The matcher that decides for this measure, whichever was asked for."""
    by_place: bool = False
    """Whether it goes by evidence, where questions have evidence by place: a piece is then what a reference is."""
    takes_budget: bool = False
    """Whether the kernel takes the budget `tokens` itself, and texts are not packed into it."""
    per_query: bool = False

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        if self.doc.strip():
            return self.doc.strip().splitlines()[0]
        return self.name


class About(TypedDict, total=False):
    """What may be said of a measure; `Declaration` has the meaning and the default of each."""

    formula: str
    cite: str
    use: str
    avoid: str
    low: float
    high: float
    average: Average
    needs_relevant: bool
    monotone: bool
    higher_is_better: bool
    diagnostic: bool
    over: Over
    ties: Kernel | TieRule | None
    texts: Kernel | TextRule
    holes: HoleRule
    holes_unless: Mapping[str, OptionValue]
    pairs: Kernel | None
    counts_nonrelevant: bool
    limited_by_k: bool
    counts_tokens: bool
    of_all_queries: bool
    caveat: str
    for_texts: str | None
    for_documents: str | None
    wanted: Wanted
    matched_by: str | None
    by_place: bool
    takes_budget: bool
    per_query: bool


KEPT = frozenset(
    (
        *("context_precision", "context_recall", "context_entity_recall", "noise_sensitivity", "hit_rate", "hitrate"),
        *("hr", "non_llm_context_precision_with_reference", "non_llm_context_recall", "mrr"),
        *("llm_context_precision_with_reference", "llm_context_recall"),
        *("id_based_context_precision", "id_based_context_recall"),
    )
)
"""Names of other tools that a column keeps, since their users look for them; case folded."""


class Alias(NamedTuple):
    """What a name stands for: a measure, and options that the name implies."""

    name: str
    options: Mapping[str, object]


class Spelled(NamedTuple):
    """A measure of ours before it is checked."""

    name: str
    k: Any
    options: Mapping[str, Any]


REGISTRY: Names[Declaration] = Names()
ALIASES: Names[Alias] = Names()
"""All names, case folded."""
FORGET: list[Callable[[], None]] = []
"""What is called when a measure was declared: spellings that were understood before may mean something else."""

Function = TypeVar("Function", bound=Callable[..., Any])


def measure(
    name: str,
    *,
    aliases: Iterable[str | tuple[str, Mapping[str, object]]] = (),
    options: Mapping[str, Option] | None = None,
    cutoff: Cutoff | None = None,
    replace: bool = False,
    **about: Unpack[About],
) -> Callable[[Function], Function]:
    """Declare a measure; a name and a function suffice.

    The function takes `Placements` and, by keyword, `k` (None without a cut-off) and its options, whose
    defaults are those of its signature; it returns one value per query. With `per_query=True` it is called
    once per query instead, with the grades of the ranked documents (None where unjudged) and of all judged
    ones, and returns a number. Every measure also has `judged_only`, `tokens` and `pack`, which need no
    code.
    A measure of aspects (subtopics, judges), preferences, texts or spans says so with `over` and gets that table.

    `cutoff` is 'optional' if the function has `k`, else 'none'. `options` are the rules for options; `rel`, numbers
    and flags need none, and rules for options that the function does not have are passed over, so that a family can
    share a table of them. An alias may imply options: ("RBO", {"normalize": False}). A name or alias that is taken
    is an error unless `replace=True`. What else may be said is described in `Declaration`.
    """

    def declare(function: Function) -> Function:
        declared = _declaration(name, function, cutoff, options or {}, about)
        is_own = _module(function).startswith("goldrank.measures.")
        with as_it_is() if is_own else nullcontext():
            _register(declared, list(aliases), replace)
        return function

    return declare


monotone = partial(measure, monotone=True)
"""Declares a measure that moving a relevant document up never lowers."""


KEYS = ("query", "run")
"""What tables of values have beside a column for each measure."""


def _declaration(
    name: str, function: Callable[..., Any], cutoff: Cutoff | None, rules: Mapping[str, Option], about: About
) -> Declaration:
    """The declaration of a function, or the error that says what is wrong with it."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in KEYS:
        hint = f"Letters, digits and _, a letter first, and not {' or '.join(KEYS)}."
        raise MeasureError(f"{name!r} cannot be the name of a measure", hint=hint, code="bad-measure-name")

    parameters, by_keyword, takes_any = _parameters(function)
    taken = {key: rule for key, rule in rules.items() if takes_any or key in parameters[1:]}
    options = {**COMMON, **taken}
    defaults = dict(COMMON_DEFAULTS)
    for option, default in by_keyword.items():
        if option in ("k", *COMMON):
            continue
        rule = options.get(option) or option_for(option, default)
        if rule is None:
            raise MeasureError(
                f"measure {name}: nothing says what option {option!r} may be",
                hint=f'For example options={{"{option}": Choice(("one", "two"))}}, from goldrank.measures.options.',
                code="undeclared-option",
            )
        options[option] = rule
        try:
            defaults[option] = rule.check(default)
        except ValueError as error:
            what = f"measure {name}: option {option!r} needs a default that is {error}"
            raise MeasureError(what, code="no-default") from None

    declared = Declaration(
        name,
        function,
        options=options,
        defaults=defaults,
        doc=inspect.getdoc(function) or "",
        cutoff=cutoff or ("optional" if "k" in parameters else "none"),
        **about,
    )
    allowed = {
        "over": Over,
        "cutoff": Cutoff,
        "average": Average,
        "ties": TieRule,
        "texts": TextRule,
        "holes": HoleRule,
    }
    for key, words in allowed.items():
        value = getattr(declared, key)
        is_kernel = key in ("ties", "texts") and callable(value)
        if not is_kernel and value not in (*get_args(words), *([None] if key == "ties" else [])):
            raise MeasureError(f"measure {name}: {key} is {value!r}; it must be one of: {', '.join(get_args(words))}")

    if declared.per_query and declared.over != "placements":
        raise MeasureError(f"measure {name}: a function of one query's grades reads placements, not {declared.over}")
    if declared.cutoff != "none" and "k" not in parameters:
        raise MeasureError(f"measure {name} has a cut-off, but its function takes no `k`")
    if not declared.low < declared.high:
        raise MeasureError(f"measure {name}: low is {declared.low:g}, which is not below high, {declared.high:g}")
    return declared


def _parameters(function: Callable[..., Any]) -> tuple[list[str], dict[str, Any], bool]:
    """Names of a function's parameters, defaults of those that are given by name, and whether it takes any name."""
    code = getattr(function, "__code__", None)
    if code is not None and vars(function).keys().isdisjoint(("__wrapped__", "__signature__")):
        # What the signature would say; most measures are declared when the package is imported, where each counts.
        names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        given = getattr(function, "__kwdefaults__", None) or {}
        defaults = {name: given.get(name, inspect.Parameter.empty) for name in names[code.co_argcount :]}
        return names, defaults, bool(code.co_flags & inspect.CO_VARKEYWORDS)
    parameters = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    return list(parameters), defaults, any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _register(declared: Declaration, aliases: list[str | tuple[str, Mapping[str, object]]], replace: bool) -> None:
    """Add a declaration with all its names, or none of them."""
    given = [(declared.name, {}), *(alias if isinstance(alias, tuple) else (alias, {}) for alias in aliases)]
    names = {word.casefold(): Alias(declared.name, implied) for word, implied in given}
    if len(names) < len(given):
        raise MeasureError(f"measure {declared.name}: a name is given twice: {', '.join(word for word, _ in given)}")

    own = {other.casefold(): other for other in REGISTRY}
    for word, _ in given:
        owner = lookup(word) or other_spelling(word)
        is_own_name = word != declared.name and word.casefold() in own
        if owner is not None and (is_own_name or not replace):
            raise MeasureError(
                f"measure {declared.name}: {word!r} already names {owner[0]}",
                hint="An alias cannot be another measure's own name."
                if is_own_name
                else "Give replace=True to replace it.",
                code="name-taken",
            )

    if replace:
        replaced = [own[word] for word in names if word in own]
        for other in replaced:
            del REGISTRY[other]
        for word in [word for word, owner in ALIASES.items() if owner.name in replaced]:
            del ALIASES[word]
        # A name that an alias took over is no longer an alias of its old owner.
        for other, known in REGISTRY.items():
            kept = tuple(alias for alias in known.aliases if alias.casefold() not in names)
            REGISTRY[other] = dataclass_replace(known, aliases=kept)

    ALIASES.update(names)
    REGISTRY[declared.name] = dataclass_replace(declared, aliases=tuple(word for word, _ in given[1:]))
    for forget in FORGET:
        forget()


def _module(function: Callable[..., Any]) -> str:
    """Where a function was written, if it says so: one made by `exec` or `partial` does not."""
    return getattr(function, "__module__", None) or ""


def in_order(later: Sequence[str]) -> None:
    """Put the measures of families that were imported later in one order, whoever imported which of them first."""
    family = {name: _module(declared.kernel).rpartition(".")[2] for name, declared in REGISTRY.items()}
    number = {name: later.index(module) + 1 if module in later else 0 for name, module in family.items()}
    REGISTRY.arrange(number.__getitem__)
    place = {name: i for i, name in enumerate(REGISTRY)}
    ALIASES.arrange(lambda word: place[ALIASES[word].name])


def lookup(name: str) -> Alias | None:
    """The registered name behind any name, and the options that it implies."""
    if "@" in name or "(" in name:
        return None  # no name has these, and asking for it would import every family
    if name in REGISTRY:
        return Alias(name, {})
    alias: Alias | None = ALIASES.get(name.casefold())
    return alias


_OTHER_SPELLING = r"([A-Za-z][A-Za-z_\-]*?)(_at_|_cut_|_|@|\.)(\d{1,20}(?:\.\d{1,20})?)"


def other_spelling(text: str) -> Spelled | None:
    """Measure, options and cut-off of a name as other tools spell it: ndcg_cut_10, ndcg_at_10, P.5.

    In ranx's `rbp.95` the number after the point is no cut-off but the decimals of p, the patience.
    """
    matched = re.fullmatch(_OTHER_SPELLING, text)
    alias = matched and (lookup(matched[1]) or lookup(matched[1].removesuffix("_cut")))
    if not matched or not alias:
        return None
    _, between, number = matched.groups()
    declared = REGISTRY[alias.name]
    if between == "." and "p" in declared.options:
        return Spelled(alias.name, None, {**alias.options, "p": float(number if "." in number else f"0.{number}")})
    real = "." in number or declared.cutoff in ("recall", "multiple")
    return Spelled(alias.name, float(number) if real else int(number), alias.options)
