"""Measures with their cut-off and options: how they are spelled, parsed and taken."""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError, did_you_mean
from goldrank.data.placements import Placements
from goldrank.measures import foreign, trec_names
from goldrank.measures.declare import (
    ALIASES,
    FORGET,
    KEPT,
    KEYS,
    REGISTRY,
    Cutoff,
    Declaration,
    Kernel,
    Spelled,
    lookup,
    other_spelling,
)
from goldrank.measures.elsewhere import known_elsewhere
from goldrank.measures.options import MAX_CUTOFF, Choice, OptionValue, spell_option

if TYPE_CHECKING:
    from goldrank.base.types import MeasureLike, MeasuresLike
    from goldrank.data.aspects import Aspects
    from goldrank.data.passages import Passages
    from goldrank.data.preferences import Preferred
    from goldrank.data.recommended import Recommended
    from goldrank.data.spans import Spans
    from goldrank.data.top_documents import TopDocuments

MAX_SPELLING = 20_000
"""The most characters of a measure's name: room for a thousand gains."""
DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")
"""What is measured if the user names no measures."""

Table: TypeAlias = "Placements | Aspects | Preferred | Spans | TopDocuments | Passages | Recommended"
"""What measures read; `Declaration.over` says which."""


@dataclass(frozen=True)
class Measure:
    """A measure with its cut-off and options; equal if spelled equal. Make one with `Measure.parse`."""

    name: str
    k: int | float | None = None
    chosen: tuple[tuple[str, OptionValue], ...] = ()
    """`options`, by name in alphabetical order."""
    declaration: Declaration = field(compare=False, hash=False, repr=False, kw_only=True)
    spelled_out: frozenset[str] = field(default=frozenset(), compare=False, hash=False, repr=False, kw_only=True)
    """Options that were given by name, also with their default values, so that no convention replaces them."""
    asked: str = field(default="", kw_only=True)
    """Another tool's name that the user gave, if columns keep that name (`declare.KEPT`)."""

    @classmethod
    def parse(cls, text: MeasureLike) -> Measure:
        """A measure from its spelling, such as 'nDCG@10', or another tool's name for it.

        Parameters
        ----------
        text : str
            The spelling.

        Returns
        -------
        Measure

        Raises
        ------
        MeasureError
            If there is no such measure, or it has no such option or cut-off.

        Examples
        --------
        >>> Measure.parse("ndcg_cut_10")
        nDCG@10
        >>> Measure.parse('nDCG(gain="exp2")@20').name
        'nDCG'
        """
        return parse(text)

    def __str__(self) -> str:
        return self._spelling

    @cached_property
    def _spelling(self) -> str:
        if self.asked:
            implied = ALIASES[self.asked.casefold()].options
        else:
            implied = {}
        inner = ", ".join(spell_option(key, value) for key, value in self.chosen if key not in implied)
        name = self.asked or self.name
        if inner:
            text = f"{name}({inner})"
        else:
            text = name
        if self.k is None:
            return text
        return f"{text}@{self.k}"

    __repr__ = __str__

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better."""
        return self.declaration.higher_is_better

    def __matmul__(self, k: int) -> Measure:
        """This measure with a cut-off: `Measure.parse("nDCG") @ 10` is nDCG@10."""
        return replace(make(self.declaration, k, dict(self.options)), spelled_out=self.spelled_out, asked=self.asked)

    def option(self, name: str) -> Any:  # the measure's declaration, not this signature, says of which type
        """The value of an option, given or default."""
        return self._options.get(name)

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """Options that differ from their defaults, by name."""
        return MappingProxyType(dict(self.chosen))

    @cached_property
    def _options(self) -> Mapping[str, Any]:
        return {**self.declaration.defaults, **dict(self.options)}

    def with_defaults(self, defaults: Mapping[str, object]) -> Measure:
        """This measure with other defaults: options that were given stay."""
        if not defaults:
            return self
        changed = {key: value for key, value in defaults.items() if key not in self.spelled_out}
        measure = make(self.declaration, self.k, {**changed, **dict(self.options)})
        # An option that departs from these defaults shows in the name, though it is what the declaration has.
        shown = {key: self.declaration.defaults[key] for key in self.spelled_out & defaults.keys()}
        options = tuple(sorted({**shown, **dict(measure.options)}.items()))
        return replace(measure, chosen=options, spelled_out=self.spelled_out, asked=self.asked)

    @property
    def of_texts(self) -> Measure:
        """The measure that the name means where texts are measured."""
        name = self.declaration.for_texts
        if name is None:
            return self
        return replace(make(name, self.k, dict(self.options)), asked=self.asked or self.name)

    @property
    def plain(self) -> Measure:
        """This measure by goldrank's own name."""
        return replace(self, asked="")

    def __call__(self, table: Table) -> np.ndarray:
        """One value per query."""
        return self.with_kernel(self.declaration.kernel, self.packed(table))

    def packed(self, table: Table) -> Table:
        """The table as if only what fits into the measure's budget of tokens had been retrieved."""
        budget = self._options["tokens"]
        if budget is None or self.declaration.takes_budget:
            return table

        fill = getattr(table, "packed", None)
        if fill is None:
            message = f"{self} has no budget of tokens"
            raise MeasureError(message, hint="A budget goes with measures of texts.", code="no-token-budget")

        depth = None
        if self.declaration.cutoff in ("optional", "needed") and self.k is not None:
            depth = int(self.k)

        packed: Table = fill(budget, self.option("pack"), depth)
        return packed

    def taken(self, table: Table) -> np.ndarray:
        """One value per query of a table that was packed."""
        return self.with_kernel(self.declaration.kernel, table)

    def with_kernel(self, kernel: Kernel, table: Table) -> np.ndarray:
        """One value per query, by another kernel that takes the same options."""
        judged_only, arguments = self.kernel_arguments
        if judged_only:
            table = table.condensed
        if self.declaration.per_query and kernel is self.declaration.kernel:
            assert isinstance(table, Placements)
            return self._query_by_query(table, arguments)
        return np.asarray(kernel(table, **arguments), np.float64)

    @cached_property
    def kernel_arguments(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether only judged documents count, and the keyword arguments of the kernel."""
        arguments: dict[str, Any] = dict(self._options)
        judged_only = arguments.pop("judged_only")
        del arguments["pack"]
        if not self.declaration.takes_budget:
            del arguments["tokens"]
        for key, rule in self.declaration.options.items():
            if isinstance(rule, Choice) and rule.mapping and isinstance(arguments.get(key), tuple):
                arguments[key] = dict(arguments[key])
        if self.declaration.cutoff != "none":
            arguments["k"] = self.k
        return judged_only, arguments

    def _query_by_query(self, p: Placements, arguments: Mapping[str, object]) -> np.ndarray:
        """Calls the kernel once per query, with grades by rank (None where unjudged) and all judged grades."""
        values = np.zeros(len(p))
        for i, query in enumerate(p.queries):
            rows = slice(p.start[i], p.start[i + 1])
            ranked: list[float | None] = [None] * int(p.retrieved[i])
            for rank, grade in zip(p.rank[rows].tolist(), p.grade[rows].tolist(), strict=True):
                ranked[rank - 1] = grade
            judged = p.judged[p.judged_start[i] : p.judged_start[i + 1]].tolist()

            value = self.declaration.kernel(ranked, judged, **arguments)
            if not isinstance(value, int | float | np.number | np.bool_):
                raise MeasureError(f"{self} returned {value!r} for query {query!r}", hint="It must return a number.")
            values[i] = value
        return values


def make(name: str | Declaration, k: object = None, options: Mapping[str, object] | None = None) -> Measure:
    """A measure from its registered name, or a declaration; checks the cut-off and every option."""
    if isinstance(name, str):
        declaration = REGISTRY[name]
    else:
        declaration = name

    name = declaration.name
    if declaration.cutoff == "none" and k is not None:
        raise MeasureError(f"{name} takes no cut-off, but was given @{k}")

    if declaration.cutoff in ("needed", "recall", "multiple") and k is None:
        if declaration.cutoff == "needed":
            example = f"{name}@10"
        else:
            example = f"{name}@0.5"
        raise MeasureError(f"{name} needs a cut-off", hint=f"For example {example}.")

    if k is None:
        checked = None
    else:
        checked = _check_cutoff(name, k, declaration.cutoff)

    changed = _changed_options(declaration, options or {})
    if declaration.takes_budget and (changed.get("tokens") is None or "pack" in changed):
        raise MeasureError(
            f"{name} needs a budget of tokens, and packs nothing", hint=f"For example {name}(tokens=2000)."
        )
    if "pack" in changed and changed.get("tokens") is None:
        raise MeasureError(
            f"{name}: pack says how texts fill a budget, and there is none", hint=f'{name}(tokens=2000, pack="skip")'
        )

    spelled_out = frozenset(options or ())
    return Measure(name, checked, tuple(sorted(changed.items())), declaration=declaration, spelled_out=spelled_out)


def _changed_options(declaration: Declaration, options: Mapping[str, object]) -> dict[str, OptionValue]:
    """Options, checked, without those that have their default values."""
    name = declaration.name
    changed: dict[str, OptionValue] = {}
    for key, value in options.items():
        rule = declaration.options.get(key)
        if rule is None:
            listed = ", ".join(declaration.options)
            near = did_you_mean(key, declaration.options)
            raise MeasureError(f"{name} has no option {key!r}; it has: {listed}", hint=near, code="unknown-option")

        try:
            checked = rule.check(value)
        except (ValueError, TypeError) as error:
            raise MeasureError(f"{name}: {key} is {value!r}; it must be {error}", code="bad-option") from None
        if checked != declaration.defaults.get(key):
            changed[key] = checked
    return changed


def _check_cutoff(name: str, k: object, kind: Cutoff) -> int | float:
    if kind in ("recall", "multiple"):
        highest, sentence = {
            "recall": (1, "the recall level is a number from 0 to 1"),
            "multiple": (MAX_CUTOFF, "the multiple of the number of relevant documents is a number from 0 up"),
        }[kind]
        if isinstance(k, bool) or not isinstance(k, int | float) or not 0 <= k <= highest:
            raise MeasureError(f"{name}@{k}: {sentence}")
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
    if isinstance(measure, Measure):
        return measure
    if foreign.is_measure_object(measure):
        return _made(foreign.of_object(measure))
    if not isinstance(measure, str):
        return _of_function(measure)

    spelled = measure.strip()
    if len(spelled) > MAX_SPELLING:
        shown, size = ids.show(spelled, 40), len(spelled)
        raise MeasureError(f"{shown!r} of {size:,} characters is not a measure", hint="For example 'nDCG@10'.")

    listed = _listed(spelled)
    if listed is None:
        return _with_given_name(spelled, _parse_one(spelled))
    if len(listed) != 1:
        names = ", ".join(map(str, listed))
        raise MeasureError(f"{spelled!r} stands for {len(listed)} measures: {names}", hint="Name one of them.")
    return listed[0]


def _parse_one(spelled: str) -> Measure:
    """A measure from a text that names no more than one."""
    plain = _spelled(spelled)
    if plain is not None:
        return _made(plain)

    levelled = foreign.split_level(spelled)
    if levelled is None:
        return _parse_expression(spelled)

    text, level = levelled
    base = _spelled(text)
    if base is None:  # with options, with a digit in its name, or nothing that is known
        with suppress(MeasureError):
            measure = _parse_expression(text)
            base = Spelled(measure.name, measure.k, dict(measure.options))
    if base is None:
        return _parse_expression(spelled)
    return _made(foreign.from_level(base, level, spelled))


_WORD = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)*")
_WORD_AND_NUMBER = re.compile(r"([A-Za-z_]+)(\d{1,9})")


def _with_given_name(spelled: str, measure: Measure) -> Measure:
    """The measure under the name that the user gave, if columns keep that name."""
    matched = _WORD.match(spelled)
    if matched:
        word = matched[0].removesuffix("_at").removesuffix("_cut")
    else:
        word = ""
    if word.casefold() not in KEPT:
        return measure
    implied = ALIASES[word.casefold()].options.items()
    if implied <= dict(measure.options).items():
        return replace(measure, asked=word)
    return measure


def _spelled(text: str) -> Spelled | None:
    """What a plain name stands for, with or without a cut-off in any tool's spelling."""
    alias = lookup(text)
    if alias is None:
        return other_spelling(text)
    return Spelled(alias.name, None, alias.options)


def _made(spelled: Spelled) -> Measure:
    return make(spelled.name, spelled.k, spelled.options)


ALWAYS_CUT = ("success",)
"""trec_eval's names that stand for its cut-offs, though the measure needs none."""


def _listed(spelled: str) -> list[Measure] | None:
    """The measures that one of trec_eval's names stands for, if it is more than a name of goldrank; else None.

    Names of goldrank and of measures that users declared win. What needs a cut-off, and is spelled as in trec_eval,
    gets trec_eval's cut-offs.
    """
    alias = lookup(spelled)
    if alias and spelled in REGISTRY:
        return None
    lines = trec_names.lines_named(spelled)
    if lines is None:
        return None
    needs_no_cutoff = alias is not None and REGISTRY[alias.name].cutoff in ("none", "optional")
    if needs_no_cutoff and spelled not in ALWAYS_CUT:
        return None

    candidates = [of_line(line) for line in lines]
    measures = [measure for measure in candidates if measure is not None]
    if not measures:
        raise MeasureError(f"{spelled!r} is text, not a measure", hint="`goldrank trec_eval` prints it.")
    return measures


def parse_all(measures: MeasuresLike, usual: Iterable[str] = DEFAULT) -> list[Measure]:
    """One measure or several, each once; None stands for the `usual` ones. Functions get names that differ."""
    if measures is None:
        listed: list[MeasureLike] = list(usual)
    elif isinstance(measures, str) or callable(measures) or not isinstance(measures, Iterable):
        listed = [measures]  # what is not a measure is refused below
    else:
        listed = list(measures)

    if not listed:
        hint = "For example measures=['nDCG@10', 'AP']."
        raise InputError("no measures were given", hint=hint, code="no-measures")

    if set(map(type, listed)) == {str}:
        spelled = tuple(listed)
        parsed = _of_texts(spelled)
        if any(dict.get(REGISTRY, m.name) is not m.declaration for m in parsed):  # somebody took a measure away
            _of_texts.cache_clear()
            parsed = _of_texts(spelled)
        return list(parsed)

    return _each_once(listed)


@lru_cache(1024)  # calls in a loop spell the same measures each time
def _of_texts(spelled: tuple[str, ...]) -> tuple[Measure, ...]:
    return tuple(_each_once(spelled))


FORGET.append(_of_texts.cache_clear)


def _each_once(listed: Iterable[MeasureLike]) -> list[Measure]:
    by_name: dict[str, Measure] = {}
    for entry in listed:
        for measure in _measures_of(entry):
            unique = _with_free_name(measure, by_name)
            by_name[str(unique)] = unique
    return list(by_name.values())


def _with_free_name(measure: Measure, by_name: Mapping[str, Measure]) -> Measure:
    """The measure, numbered if another function has its name."""
    name, number = measure.name, 1
    while by_name.get(str(measure), measure).declaration.kernel is not measure.declaration.kernel:
        number += 1
        measure = replace(measure, name=f"{name}_{number}")
    return measure


def of_line(line: trec_names.OutputLine, level: float = 1, docs: int = 0) -> Measure | None:
    """What a line of trec_eval shows, with its lowest relevant grade and number of documents; None for text."""
    if line.measure is None:
        return None

    defaults = REGISTRY[line.measure].defaults
    options = dict(line.options)
    # Where rel is None unless given, it means something else: gains of 0 and 1.
    if level != 1 and defaults.get("rel") is not None:
        options["rel"] = level
    if docs and "docs" in defaults:
        options["docs"] = docs

    return make(line.measure, line.k, options)


def _measures_of(entry: MeasureLike) -> Sequence[Measure]:
    """The measures that one entry of a list names: several for trec_eval's nicknames and lists of cut-offs."""
    listed = None
    if isinstance(entry, str):
        listed = _listed(entry.strip())
    if listed is None:
        return (parse(entry),)
    return listed


def known(name: str) -> Measure | None:
    """The measure of that spelling; None if there is none, as for a column that a function made."""
    try:
        return parse(name)
    except MeasureError:
        return None


def _of_function(function: Callable[..., Any]) -> Measure:
    if not callable(function):
        raise MeasureError(
            f"a measure is a text or a function, not {type(function).__name__}",
            hint="For example 'nDCG@10'.",
            code="wrong-type",
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
            code="bad-function",
        ) from None
    except ValueError:
        pass  # written in C, without a signature

    name = _function_name(function)
    if name in KEYS or lookup(name) or other_spelling(name):
        name += "_function"  # ids and the library's own measures keep the names of their columns

    doc = inspect.getdoc(function) or ""
    declared = Declaration(name, function, doc=doc, low=-math.inf, high=math.inf, per_query=True)
    return make(declared)


def _function_name(function: Callable[..., Any]) -> str:
    """A name for the column of a function; "function" if its own name cannot be one."""
    unnamed = ""
    if type(function).__module__ == "functools":
        unnamed = "function"
    name = getattr(function, "__name__", unnamed) or type(function).__name__
    name = re.sub(r"\W|^_+", "", name, flags=re.ASCII)
    if re.match("[A-Za-z]", name) and name != "lambda":
        return name
    return "function"


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
            raise MeasureError(f"{text!r:.120}: options are given by name", hint="For example P(rel=2)@5.")
        for keyword in tree.keywords:
            assert keyword.arg is not None
            if keyword.arg in options:
                raise MeasureError(f"{text!r:.120}: option {keyword.arg!r} is given twice")
            if isinstance(keyword.value, ast.Name):
                options[keyword.arg] = keyword.value.id
            else:
                options[keyword.arg] = _literal(keyword.value, text)
        tree = tree.func

    if not isinstance(tree, ast.Name):
        raise _unknown(text)

    alias = lookup(tree.id)
    if not alias:
        raise _unknown(text, tree.id)
    return _made(foreign.in_own_words(alias, k, options))


def _literal(node: ast.expr, text: str) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise MeasureError(
            f"{text!r:.120}: options and cut-offs are plain values", hint='For example nDCG(gain="exp2")@20.'
        ) from None


def _unknown(text: str, name: str | None = None) -> MeasureError:
    """The error for a text that does not name a measure. Its hint offers only spellings that are understood."""
    elsewhere = known_elsewhere(text)
    if elsewhere is not None:
        return elsewhere

    if "," in text and all(known(part.strip()) for part in text.split(",")):
        several = ", ".join(f'"{part.strip()}"' for part in text.split(","))
        message = f"{text!r:.120} is several measures"
        return MeasureError(message, hint=f"Give a list: [{several}].", code="several-measures")

    unknown = partial(MeasureError, f"unknown measure {text!r:.120}", code="unknown-measure")
    numbered = _WORD_AND_NUMBER.fullmatch(text)
    if numbered:
        spelled = f"{numbered[1]}@{numbered[2]}"
        if known(spelled):
            return unknown(hint=f"Did you mean {spelled}?")

    starts = [re.split(ends, text)[0] for ends in (r"[@(.\[]", r"[@(_.\[]")]
    words = [word for word in dict.fromkeys((name, *starts)) if word]
    for word in words:
        alias = lookup(word)
        if alias is not None:  # the name is right, and what follows it is not
            example = {"recall": "@0.5", "multiple": "@0.5", "none": ""}.get(REGISTRY[alias.name].cutoff, "@10")
            hint = (
                f"What follows {word} is not understood. For example {word}{example}; see `goldrank measures {word}`."
            )
            return unknown(hint=hint)

    for word in words:
        nearest = _nearest_spelling(word, text)
        if nearest is not None:
            return unknown(hint=f"Did you mean {nearest}?")
    return unknown(hint="See `goldrank measures` for all of them.")


def _nearest_spelling(word: str, text: str) -> str | None:
    """A text with the known name that is most like the word it begins with; None if that is not understood."""
    import difflib

    near = difflib.get_close_matches(word.casefold(), ALIASES, n=1, cutoff=0.6)
    if not near:
        return None
    alias = lookup(near[0])
    if alias is None:
        return None

    end = text[len(word) :]
    is_name_complete = not end or end[0] in "@(.["  # else the name would go on, and be as unknown
    if is_name_complete and known(alias.name + end):
        return alias.name + end
    if known(alias.name):
        return alias.name
    return None
