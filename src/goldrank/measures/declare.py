"""How a measure is declared and found.

A measure is one function. The decorator `@measure` takes what is known about it; the name, the parser, the pages of
documentation, its behaviour under ties and with texts and the property tests follow from that declaration.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
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
    'references' where they are first covered; 'places', where each covered reference has another rank, so that a
    text with several does not pass the ideal; 'meaningless' is about unjudged or nonrelevant documents, and a matcher
    judges every text. A kernel reads all pairs."""
    pairs: Kernel | None = None
    """A kernel that counts every pair of a text and a reference, where that has a meaning (credit="pairs")."""
    holes: HoleRule = "any"
    """How unjudged documents that turn out relevant move it: 'linear', each adds what its rank is worth, divided by
    something that depends on their number alone; 'first', only the first relevant one counts; 'any', nothing is known.
    Bounds of differences are exact and quick for the first two."""
    holes_unless: Mapping[str, OptionValue] = field(default_factory=dict)
    """Values of options with which 'linear' or 'first' is not true."""
    counts_nonrelevant: bool = False
    """Whether it counts documents that were judged not relevant; documents with a grade below 0 are not among them."""
    limited_by_k: bool = False
    """Whether it cannot be 1 for a query that has more than k relevant documents."""
    counts_tokens: bool = False
    """Whether it needs to know how many tokens texts have."""
    of_all_queries: bool = False
    """Whether a query's value depends on the other queries, so that shards cannot be put together."""
    caveat: str = ""
    """The code of the note that goes with every value of it."""
    for_texts: str | None = None
    """The measure that this name means where texts are measured and this measure has no meaning."""
    for_documents: str | None = None
    """The measure that people mean by this name where ids are ranked and this measure has no meaning."""
    wanted: Wanted = "references"
    """What texts are compared with: the 'references', or the 'claims' or 'entities' of the reference answer, or the
    claims of the 'response', or 'nuggets'; 'citations' are compared with ids."""
    matched_by: str | None = None
    """The matcher that decides for this measure, instead of the one that the user chose."""
    by_place: bool = False
    """Whether it goes by evidence, where questions have evidence by place: a piece then counts as a reference."""
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
    """What a declaration may say of a measure; `Declaration` has the meaning and the default of each."""

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
    """A measure of goldrank before it is checked."""

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
    defaults are in its signature; it returns one value per query. With `per_query=True` it is called
    once per query instead, with the grades of the ranked documents (None where unjudged) and of all judged
    ones, and returns a number. Every measure also has `judged_only`, `tokens` and `pack`, which need no
    code.

    Parameters
    ----------
    name : str
        The name, as columns show it.
    aliases : iterable of str, or of (str, options)
        Other names. An alias may imply options: ("RBO", {"normalize": False}).
    options : mapping, optional
        Rules for options. `rel`, numbers and flags need none; rules for options that the function does not have are
        ignored, so that a family of measures can share a table of rules.
    cutoff : {"none", "optional", "needed"}, optional
        Whether there is an `@k`. By default "optional" if the function has `k`, else "none".
    replace : bool
        Whether the measure replaces one of the same name.
    **about
        Other facts; `Declaration` describes them. A measure of aspects, preferences, texts or spans says so with
        `over`, and gets that table.

    Returns
    -------
    function
        A decorator, which returns the function as it is.

    Raises
    ------
    MeasureError
        If the name or an alias is taken, and `replace` is false.

    Examples
    --------
    >>> import goldrank
    >>> @goldrank.measure("FirstThree")
    ... def first_three(p, *, rel: float = 1):
    ...     return p.count((p.grade >= rel) & (p.rank <= 3)) / 3
    >>> goldrank.evaluate({"q1": {"d1": 1}}, {"q1": ["d1", "d2"]}, "FirstThree").mean
    {'FirstThree': 0.3333333333333333}
    """

    def declare(function: Function) -> Function:
        declared = _declaration(name, function, cutoff, options or {}, about)
        loading: AbstractContextManager[None] = nullcontext()
        if _module(function).startswith("goldrank.measures."):
            loading = as_it_is()
        with loading:
            _register(declared, list(aliases), replace)
        return function

    return declare


monotone = partial(measure, monotone=True)
"""Declares a measure that moving a relevant document up never lowers."""


KEYS = ("query", "run")
"""The columns that tables of values have beside a column for each measure."""


def _declaration(
    name: str, function: Callable[..., Any], cutoff: Cutoff | None, rules: Mapping[str, Option], about: About
) -> Declaration:
    """The declaration of a function, or the error that says what is wrong with it."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in KEYS:
        hint = f"Letters, digits and _, a letter first, and not {' or '.join(KEYS)}."
        raise MeasureError(f"{name!r} cannot be the name of a measure", hint=hint, code="bad-measure-name")

    parameters, by_keyword, takes_any = _parameters(function)
    own_rules = {key: rule for key, rule in rules.items() if takes_any or key in parameters[1:]}
    options = {**COMMON, **own_rules}
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
            message = f"measure {name}: option {option!r} needs a default that is {error}"
            raise MeasureError(message, code="no-default") from None

    if not cutoff and "k" in parameters:
        cutoff = "optional"
    declared = Declaration(
        name,
        function,
        options=options,
        defaults=defaults,
        doc=inspect.getdoc(function) or "",
        cutoff=cutoff or "none",
        **about,
    )
    _check_declaration(declared, parameters)
    return declared


def _check_declaration(declared: Declaration, parameters: Sequence[str]) -> None:
    """Refuse words that a field does not have, and fields that do not go together."""
    name = declared.name
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
        if key in ("ties", "texts") and callable(value):
            continue
        if key == "ties" and value is None:
            continue
        if value not in get_args(words):
            raise MeasureError(f"measure {name}: {key} is {value!r}; it must be one of: {', '.join(get_args(words))}")

    if declared.per_query and declared.over != "placements":
        raise MeasureError(f"measure {name}: a function of one query's grades reads placements, not {declared.over}")
    if declared.cutoff != "none" and "k" not in parameters:
        raise MeasureError(f"measure {name} has a cut-off, but its function takes no `k`")
    if not declared.low < declared.high:
        raise MeasureError(f"measure {name}: low is {declared.low:g}, which is not below high, {declared.high:g}")


def _parameters(function: Callable[..., Any]) -> tuple[list[str], dict[str, Any], bool]:
    """Names of a function's parameters, defaults of its keyword parameters, and whether it takes any keyword."""
    code = getattr(function, "__code__", None)
    if code is not None and vars(function).keys().isdisjoint(("__wrapped__", "__signature__")):
        # Quicker than the signature: most measures are declared when the package is imported, where time matters.
        names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        keyword_defaults = getattr(function, "__kwdefaults__", None) or {}
        defaults = {name: keyword_defaults.get(name, inspect.Parameter.empty) for name in names[code.co_argcount :]}
        return names, defaults, bool(code.co_flags & inspect.CO_VARKEYWORDS)
    parameters = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    return list(parameters), defaults, any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _register(declared: Declaration, aliases: list[str | tuple[str, Mapping[str, object]]], replace: bool) -> None:
    """Add a declaration with all its names, or none of them."""
    spellings = [_alias_and_options(declared.name), *map(_alias_and_options, aliases)]
    names = {word.casefold(): Alias(declared.name, implied) for word, implied in spellings}
    words = [word for word, _ in spellings]
    if len(names) < len(words):
        raise MeasureError(f"measure {declared.name}: a name is given twice: {', '.join(words)}")

    registered = {other.casefold(): other for other in REGISTRY}
    for word in words:
        owner = lookup(word) or other_spelling(word)
        is_measure_name = word != declared.name and word.casefold() in registered
        if owner is None or (replace and not is_measure_name):
            continue
        hint = "Give replace=True to replace it."
        if is_measure_name:
            hint = "An alias cannot be another measure's own name."
        message = f"measure {declared.name}: {word!r} already names {owner[0]}"
        raise MeasureError(message, hint=hint, code="name-taken")

    if replace:
        _forget_names(names, [registered[word] for word in names if word in registered])

    ALIASES.update(names)
    REGISTRY[declared.name] = dataclass_replace(declared, aliases=tuple(words[1:]))
    for forget in FORGET:
        forget()


def _alias_and_options(alias: str | tuple[str, Mapping[str, object]]) -> tuple[str, Mapping[str, object]]:
    """A name of a measure, and the options that it implies."""
    if isinstance(alias, tuple):
        return alias
    return alias, {}


def _forget_names(names: Collection[str], replaced: Sequence[str]) -> None:
    """Remove measures that are replaced, and names that the new measure takes over from others."""
    for measure_name in replaced:
        del REGISTRY[measure_name]
    for word in [word for word, owner in ALIASES.items() if owner.name in replaced]:
        del ALIASES[word]
    for measure_name, known in REGISTRY.items():
        remaining = tuple(alias for alias in known.aliases if alias.casefold() not in names)
        REGISTRY[measure_name] = dataclass_replace(known, aliases=remaining)


def _module(function: Callable[..., Any]) -> str:
    """Where a function was written, if it says so: one made by `exec` or `partial` does not."""
    return getattr(function, "__module__", None) or ""


def in_order(later: Sequence[str]) -> None:
    """Put the measures of families that were imported later in one order, whichever was imported first."""
    family = {name: _module(declared.kernel).rpartition(".")[2] for name, declared in REGISTRY.items()}
    family_number = {module: i for i, module in enumerate(later, 1)}
    REGISTRY.arrange(lambda name: family_number.get(family[name], 0))
    position = {name: i for i, name in enumerate(REGISTRY)}
    ALIASES.arrange(lambda word: position[ALIASES[word].name])


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

    In ranx's `rbp.95` the number after the point is not a cut-off but the decimals of p, the patience.
    """
    matched = re.fullmatch(_OTHER_SPELLING, text)
    if not matched:
        return None
    name, separator, number = matched.groups()
    alias = lookup(name) or lookup(name.removesuffix("_cut"))
    if alias is None:
        return None

    declared = REGISTRY[alias.name]
    if separator == "." and "p" in declared.options:
        if "." not in number:
            number = f"0.{number}"
        return Spelled(alias.name, None, {**alias.options, "p": float(number)})
    if "." in number or declared.cutoff in ("recall", "multiple"):
        return Spelled(alias.name, float(number), alias.options)
    return Spelled(alias.name, int(number), alias.options)
