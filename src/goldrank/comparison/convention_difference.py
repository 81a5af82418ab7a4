"""Why two conventions give two numbers: which rule makes the difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from goldrank import conventions, ids, io
from goldrank.conventions import CONDITIONS, POLICIES, Convention
from goldrank.data.scores import format_value
from goldrank.errors import GoldrankError
from goldrank.evaluation.documents import evaluate
from goldrank.measures import Measure, parse
from goldrank.misuse import checked
from goldrank.types import QrelsLike, RunLike


@dataclass(frozen=True)
class RuleDifference:
    """A rule in which two conventions differ, and what it changes."""

    name: str
    """A policy such as 'ties', or an option of the measure such as 'gain'."""
    first: object
    second: object
    alone: float
    """The value by the first convention with this one rule taken from the second; NaN if there is none."""
    problem: str | None = None
    """The error that this rule makes where the first convention has none, or another one."""
    matters: bool = True
    """Whether this rule alone changes the value, makes an error, or removes one."""

    @property
    def label(self) -> str:
        """The rule's name for people."""
        return _WORDS[self.name][0] if self.name in _WORDS else self.name

    def words(self, value: object) -> str:
        """What the rule says, for people."""
        return str(_WORDS.get(self.name, ("", {}))[1].get(value, value))


@dataclass(frozen=True)
class Difference:
    """One measure by two conventions."""

    measure: str
    conventions: tuple[str, str]
    values: tuple[float, float]
    rules: tuple[RuleDifference, ...]
    """The rules in which they differ and that this measure could feel, those that matter alone first."""
    problems: tuple[str | None, str | None] = (None, None)
    """Why a convention has no value."""

    def __str__(self) -> str:
        first, second = self.conventions
        value, other = self.values
        width = max(len(first), len(second))
        lines = [self.measure]
        for name, score, problem in zip(self.conventions, self.values, self.problems, strict=True):
            lines.append(f"  {name:<{width}}  {f'an error: {problem}' if problem else format_value(score)}")
        effective = [rule for rule in self.rules if rule.matters]
        if not effective:
            same = "the same" if _same(value, other) and self.problems[0] == self.problems[1] else _TOGETHER
            return "\n".join([*lines, f"  None of the {len(self.rules)} rules that differ matters alone: {same}."])
        lines.append(f"  What changes if one rule of {first} is replaced by that of {second}:")
        for rule in effective:
            change = "" if self.problems[0] or math.isnan(rule.alone - value) else f" ({rule.alone - value:+.4f})"
            result = ids.show(rule.problem, 300) if rule.problem else f"{format_value(rule.alone)}{change}"
            lines.append(f"    {rule.label}: {rule.words(rule.first)} -> {rule.words(rule.second)}: {result}")
        without_effect = [rule.label for rule in self.rules if not rule.matters]
        if without_effect:
            lines.append(f"  Also different, but without effect here: {', '.join(without_effect)}.")
        return "\n".join(lines)


@checked
def explain_difference(
    qrels: QrelsLike, run: RunLike, measure: str | Measure, first: str | Convention, second: str | Convention
) -> Difference:
    """The value of a measure by two conventions, and which of their rules makes the difference.

    >>> from goldrank import explain_difference
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}}
    >>> print(explain_difference(qrels, run, "RR", "trec_eval-10", "trec_eval-9"))
    RR
      trec_eval-10  1.0000
      trec_eval-9   0.5000
      What changes if one rule of trec_eval-10 is replaced by that of trec_eval-9:
        score_type: float64 -> float32: 0.5000 (-0.5000)
      Also different, but without effect here: missing.
    """
    old, new = conventions.get(first), conventions.get(second)
    wanted = parse(measure)
    # A stream or an iterator comes only once, and is read by the first convention.
    if isinstance(qrels, Iterator) or hasattr(qrels, "read"):
        qrels = io.as_qrels(qrels, judgements=old.judgements)
    if isinstance(run, Iterator) or hasattr(run, "read"):
        run = io.as_run(run, duplicates=old.duplicates)
    read: dict[tuple[str, str], tuple[QrelsLike, RunLike]] = {}

    failed: list[GoldrankError] = []

    def value(rules: Convention) -> tuple[float, str | None]:
        try:
            # What is repeated is settled in reading, so that these two rules need a reading of their own.
            settled = rules.judgements, rules.duplicates
            if settled not in read:
                read[settled] = (
                    io.as_qrels(qrels, judgements=rules.judgements),
                    io.as_run(run, duplicates=rules.duplicates),
                )
            return evaluate(*read[settled], wanted, convention=rules)[wanted.having(_own(rules, wanted))], None
        except GoldrankError as error:
            failed.append(error)
            return math.nan, error.what

    start, problem = value(old)
    end, at_end = value(new)
    if problem is not None and problem == at_end:
        raise failed[0]  # no rule of theirs is the reason: a file is missing, a measure needs other judgements
    differences: list[RuleDifference] = []
    for name, mine, theirs in _differing(old, new, wanted):
        alone, why = value(_with(old, name, theirs, wanted, new))
        matters = why != problem or not _same(alone, start)
        own_problem = why if why != problem else None
        differences.append(RuleDifference(name, mine, theirs, alone, own_problem, matters))
    differences.sort(key=lambda rule: (not rule.matters, _least(rule.alone - start)))
    return Difference(str(wanted), (old.name, new.name), (start, end), tuple(differences), (problem, at_end))


_TOGETHER = "different only together"

_WORDS: dict[str, tuple[str, Mapping[Any, str]]] = {
    "closed": ("documents that were not returned", {False: "count if they are judged", True: "do not exist"}),
    "positive": ("documents with a score of 0 or less", {False: "count as others do", True: "are not relevant"}),
    "all_queries": ("queries without results", {False: "as missing= says", True: "always count"}),
    "averaged": ("the summary over queries", {False: "is the measure's own", True: "is a mean"}),
    "drops_own_id": ("a document with the query's id", {False: "stays", True: "is left out"}),
    "heads": ("the first documents", {}),
    "refused": ("refused with an error", {}),
    "repeats": ("a repeated document", {"first": "counts at its first place", "each": "counts at each place"}),
}
"""What rules that are no policy and no option of a measure are called, and what they say, for people."""


def _same(value: float, other: float) -> bool:
    """Whether two values are equal; no value is equal to no value."""
    return value == other or (math.isnan(value) and math.isnan(other))


def _least(change: float) -> float:
    """A key that sorts great changes first, and errors before them."""
    return -math.inf if math.isnan(change) else -abs(change)


def _own(rules: Convention, measure: Measure) -> Mapping[str, Any]:
    return rules.options.get(measure.name, {})


def _differing(old: Convention, new: Convention, measure: Measure) -> list[tuple[str, Any, Any]]:
    """Rules and options of the measure in which two conventions differ; what the measure spells out is fixed."""
    keys = sorted({*_own(old, measure), *_own(new, measure)} - set(dict(measure.options)))
    kept = "places" in (old.duplicates, new.duplicates)

    def felt(rules: Convention) -> dict[str, Any]:
        options = {**measure.declaration.defaults, **_own(rules, measure)}
        rows = {policy: getattr(rules, policy) for policy in POLICIES}
        rows["repeats"] = rules.repeats.get(measure.name, "first") if kept else None
        rows |= {key: options.get(key) for key in keys}
        return rows | {name: shown(rules, measure) for name, (_, shown) in _RULES.items()}

    mine, theirs = felt(old), felt(new)
    return [(name, mine[name], theirs[name]) for name in mine if mine[name] != theirs[name]]


def _ties(rules: Convention, measure: Measure) -> str:
    rule = rules.tie_rules.get(measure.name, rules.ties)
    length = rules.undefined_order.get(measure.name, rules.undefined_order.get("*"))
    if length is None or rule in ("expected", "grouped") or measure.declaration.over != "placements":
        return rule
    return f"{rule}, undefined from {length} documents on"


def _heads(rules: Convention, measure: Measure) -> str:
    own = ", ".join(f"{policy}={value}" for policy, value in rules.heads.items())
    return own if measure.declaration.over == "heads" and own else "as for other measures"


def _refused(rules: Convention, measure: Measure) -> str:
    refused = [CONDITIONS[each.when] for each in rules.refusals if each.concerns(measure.name)]
    return f"where {' or '.join(refused)}" if refused else "never"


_RULES: dict[str, tuple[tuple[str, ...], Callable[[Convention, Measure], object]]] = {
    "ties": (("ties", "tie_rules", "undefined_order"), _ties),
    "closed": (("closed",), lambda rules, measure: rules.closed),
    "positive": (("positive",), lambda rules, measure: measure.name in rules.positive),
    "all_queries": (("all_queries",), lambda rules, measure: measure.name in rules.all_queries),
    "averaged": (("averaged",), lambda rules, measure: measure.name in rules.averaged),
    "heads": (("heads",), _heads),
    "drops_own_id": (("drops_own_id",), lambda rules, measure: rules.drops_own_id),
    "refused": (("refusals",), _refused),
}
"""Rules that are not one word for all measures: the fields of `Convention`, and what they say of a measure."""


def _with(rules: Convention, name: str, value: object, measure: Measure, new: Convention) -> Convention:
    """A convention with one rule of another."""
    if name in _RULES:
        return replace(rules, **{field: getattr(new, field) for field in _RULES[name][0]})
    if name in POLICIES:
        return rules.having(**{name: str(value)})
    if name == "repeats":
        return replace(rules, repeats={**rules.repeats, measure.name: str(value)})
    return replace(rules, options={**rules.options, measure.name: {**_own(rules, measure), name: value}})
