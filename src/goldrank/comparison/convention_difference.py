"""Why two conventions give two numbers: which rule makes the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from goldrank import conventions, ids, io
from goldrank.conventions import POLICIES, Convention
from goldrank.data.scores import format_value
from goldrank.errors import GoldrankError
from goldrank.evaluation.documents import evaluate
from goldrank.measures import Measure, parse
from goldrank.types import QrelsLike, RunLike


@dataclass(frozen=True)
class RuleDifference:
    """A rule in which two conventions differ, and what it changes."""

    name: str
    """A policy such as 'ties', or an option of the measure such as 'gain'."""
    first: object
    second: object
    alone: float
    """The value by the first convention with this one rule taken from the second; NaN if that is an error."""
    so_far: float
    """The value with this rule and those listed before it taken from the second convention."""
    problem: str | None = None
    """Why there is no value."""


@dataclass(frozen=True)
class Difference:
    """One measure by two conventions."""

    measure: str
    conventions: tuple[str, str]
    values: tuple[float, float]
    rules: tuple[RuleDifference, ...]
    """The rules in which they differ and that this measure could feel, those that matter alone first."""

    def __str__(self) -> str:
        first, second = self.conventions
        value, other = self.values
        width = max(len(first), len(second))
        lines = [self.measure, f"  {first:<{width}}  {_shown(value)}", f"  {second:<{width}}  {_shown(other)}"]
        effective = [rule for rule in self.rules if rule.alone != value or rule.problem]
        if not effective:
            same = "the same" if value == other else "different only together"
            return "\n".join([*lines, f"  None of the {len(self.rules)} rules that differ matters alone: {same}."])
        lines.append(f"  What changes if one rule of {first} is replaced by that of {second}:")
        for rule in effective:
            result = (
                ids.show(rule.problem, 300) if rule.problem else f"{_shown(rule.alone)} ({rule.alone - value:+.4f})"
            )
            lines.append(f"    {rule.name}: {rule.first} -> {rule.second}: {result}")
        without_effect = [rule.name for rule in self.rules if rule not in effective]
        if without_effect:
            lines.append(f"  Also different, but without effect here: {', '.join(without_effect)}.")
        return "\n".join(lines)


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
    judged = io.as_qrels(qrels, judgements=old.judgements)
    ranked = io.as_run(run, duplicates=old.duplicates)

    def value(rules: Convention) -> tuple[float, str | None]:
        try:
            return evaluate(judged, ranked, wanted, convention=rules)[wanted.having(_own(rules, wanted))], None
        except GoldrankError as error:
            return math.nan, error.what

    start, problem = value(old)
    end, _ = value(new)
    differences: list[RuleDifference] = []
    for name, mine, theirs in _differing(old, new, wanted):
        alone, why = value(_with(old, name, theirs, wanted))
        differences.append(RuleDifference(name, mine, theirs, alone, math.nan, why or problem))
    differences.sort(key=lambda rule: -abs(rule.alone - start) if not math.isnan(rule.alone - start) else -math.inf)
    changed = old
    for i, rule in enumerate(differences):
        changed = _with(changed, rule.name, rule.second, wanted)
        differences[i] = replace(rule, so_far=value(changed)[0])
    return Difference(str(wanted), (old.name, new.name), (start, end), tuple(differences))


def _own(rules: Convention, measure: Measure) -> Mapping[str, Any]:
    return rules.options.get(measure.name, {})


def _differing(old: Convention, new: Convention, measure: Measure) -> list[tuple[str, Any, Any]]:
    """Policies and options of the measure in which two conventions differ; what the measure spells out is fixed."""
    keys = sorted({*_own(old, measure), *_own(new, measure)} - set(dict(measure.options)))

    def felt(rules: Convention) -> list[Any]:
        options = {**measure.declaration.defaults, **_own(rules, measure)}
        counted = rules.repeats.get(measure.name, "first") if kept else None
        return [*(getattr(rules, policy) for policy in POLICIES), counted, *map(options.get, keys)]

    kept = "places" in (old.duplicates, new.duplicates)
    rows = zip([*POLICIES, "repeats", *keys], felt(old), felt(new), strict=True)
    return [(name, mine, theirs) for name, mine, theirs in rows if mine != theirs]


def _with(rules: Convention, name: str, value: object, measure: Measure) -> Convention:
    """A convention with one rule changed."""
    if name in POLICIES:
        return rules.having(**{name: str(value)})
    if name == "repeats":
        return replace(rules, repeats={**rules.repeats, measure.name: str(value)})
    return replace(rules, options={**rules.options, measure.name: {**_own(rules, measure), name: value}})


def _shown(value: float) -> str:
    return "an error" if math.isnan(value) else format_value(value)
