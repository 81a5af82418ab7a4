"""`Convention`: whose rules a number is made by, with any of the eight policies changed.

What a tool does beyond the policies is in its own file of this package; `MODULES` says which, and only the file of a
convention that is used is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Unpack, cast, get_args

from goldrank.base.errors import one_of
from goldrank.base.types import (
    Bounds,
    ConventionLike,
    ConventionName,
    Duplicates,
    Empty,
    Judgements,
    Missing,
    Overlap,
    Policies,
    ScoreType,
    Ties,
)
from goldrank.conventions.policies import POLICIES, USUAL, check_policies
from goldrank.conventions.tool import MeasureOptions, Tool

NAMES: tuple[ConventionName, ...] = get_args(ConventionName)
"""The conventions that there are."""

DEFAULT: ConventionName = "trec_eval-10"

MODULES: dict[str, str] = {
    "trec_eval-10": "goldrank.conventions.trec_eval",
    "trec_eval-9": "goldrank.conventions.trec_eval",
    "ranx": "goldrank.conventions.ranx",
    "sklearn": "goldrank.conventions.sklearn",
    "torchmetrics": "goldrank.conventions.torchmetrics",
    "lightgbm": "goldrank.conventions.boosters",
    "xgboost": "goldrank.conventions.boosters",
    "beir": "goldrank.conventions.beir",
    "chroma": "goldrank.conventions.chroma",
    "axion": "goldrank.conventions.seeds",
    "lesson": "goldrank.conventions.seeds",
    "remem": "goldrank.conventions.seeds",
    "continuous_eval": "goldrank.conventions.seeds",
    "continuous_eval_released": "goldrank.conventions.seeds",
    "ir_eval_numba": "goldrank.conventions.seeds",
}
"""The module that has each convention's `Tool` among its `TOOLS`."""


@cache
def _tool(name: str) -> Tool:
    tools: tuple[Tool, ...] = import_module(MODULES[name]).TOOLS
    return {tool.name: tool for tool in tools}[name]


@dataclass(frozen=True, init=False, repr=False)
class Convention:
    """Whose rules a number is made by: the name of a tool, and eight policies.

    Objects never change, and are equal if name and policies are.

    Parameters
    ----------
    name
        Whose rules to follow.
    **policies
        Policies that differ from the tool's own: `ties`, `score_type`, `duplicates`, `judgements`, `missing`, `empty`,
        `bounds`, `overlap`. `goldrank.conventions.POLICIES` says what each of their words does.

    Raises
    ------
    OptionError
        If there is no such convention, policy or word; the message lists the known ones.

    Examples
    --------
    >>> from goldrank import Convention, evaluate
    >>> convention = Convention("ranx", missing="skip")
    >>> convention
    Convention('ranx', missing='skip')
    >>> convention.ties
    'input'
    >>> evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": ["d1"]}, "RR", convention=convention).mean
    {'RR': 1.0}
    """

    name: ConventionName
    ties: Ties
    score_type: ScoreType
    duplicates: Duplicates
    judgements: Judgements
    missing: Missing
    empty: Empty
    bounds: Bounds
    overlap: Overlap
    _chosen: tuple[tuple[str, str], ...]
    """Policies that are not as the tool has them."""
    _declared: Tool
    _applied: Tool = field(compare=False)
    """The tool without the quirks that chosen policies replace."""

    def __init__(self, name: ConventionName = "trec_eval-10", **policies: Unpack[Policies]) -> None:
        _fill(self, _tool(one_of(name, MODULES, "convention")), policies)

    @property
    def label(self) -> str:
        """The name, and every policy that is not as the tool has it.

        Examples
        --------
        >>> from goldrank import Convention
        >>> Convention("ranx", missing="skip").label
        'ranx, missing=skip'
        """
        if not self._chosen:
            return self.name
        return ", ".join((self.name, *(f"{policy}={word}" for policy, word in self._chosen)))

    @property
    def policies(self) -> Policies:
        """All eight policies, the tool's own or chosen.

        Examples
        --------
        >>> from goldrank import Convention
        >>> Convention("ranx", missing="skip").policies["missing"]
        'skip'
        """
        return cast(Policies, {policy: getattr(self, policy) for policy in POLICIES})

    def with_policies(self, **policies: Unpack[Policies]) -> Convention:
        """This convention with some policies changed.

        Parameters
        ----------
        **policies
            The policies to change; the others stay as they are.

        Returns
        -------
        Convention
            A convention of the same name.

        Raises
        ------
        OptionError
            If there is no such policy or word.

        Examples
        --------
        >>> from goldrank import Convention
        >>> Convention("beir").with_policies(ties="input", missing="zero")
        Convention('beir', ties='input', missing='zero')
        """
        if not policies:
            return self
        chosen = {**dict(self._chosen), **policies}
        return convention_of(self._declared, **cast(Policies, chosen))

    def __repr__(self) -> str:
        chosen = (f"{policy}={word!r}" for policy, word in self._chosen)
        return f"Convention({', '.join((repr(self.name), *chosen))})"


def _fill(convention: Convention, tool: Tool, policies: Policies) -> None:
    """Set everything that a convention has."""
    check_policies(policies)
    own = {**USUAL, **tool.policies}
    refined = {quirk.refines for quirk in tool.quirks}
    values = {**own, **policies}
    chosen = tuple(
        (policy, str(values[policy]))
        for policy in POLICIES
        if policy in policies and (values[policy] != own[policy] or policy in refined)
    )

    fields = {
        "name": tool.name,
        **values,
        "_chosen": chosen,
        "_declared": tool,
        "_applied": tool.without_refined(policies),
    }
    for name, value in fields.items():
        object.__setattr__(convention, name, value)  # frozen for everybody else


def convention_of(tool: Tool, **policies: Unpack[Policies]) -> Convention:
    """The convention of a tool that needs no entry in `MODULES`: a drop-in's, or a mixture of two."""
    convention = object.__new__(Convention)
    _fill(convention, tool, policies)
    return convention


def chosen_policies(convention: Convention) -> dict[str, str]:
    """The policies that are not as the convention's tool has them."""
    return dict(convention._chosen)


def tool_of(convention: Convention) -> Tool:
    """What a convention does beside its policies."""
    return convention._applied


@cache
def _named(name: ConventionName) -> Convention:
    return Convention(name)


def get(convention: ConventionLike) -> Convention:
    """A convention by name; a `Convention` is itself."""
    if isinstance(convention, Convention):
        return convention
    if isinstance(convention, str):
        return _named(convention)
    return Convention(convention)  # raises the error that lists the names


def options_of(label: str) -> MeasureOptions:
    """The options of the convention that a label begins with; none if there is no such convention."""
    name = label.partition(",")[0]
    if name not in MODULES:
        return {}
    return _tool(name).options


def with_options(convention: Convention, options: Mapping[str, Mapping[str, object]]) -> Convention:
    """A convention whose measures get some more options."""
    tool = convention._declared
    changed = {**tool.options}
    for measure, more in options.items():
        changed[measure] = {**tool.options.get(measure, {}), **more}
    return convention_of(replace(tool, options=changed), **cast(Policies, dict(convention._chosen)))
