"""Why two conventions give two numbers: which rule makes the difference."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from goldrank import conventions, io
from goldrank.base import ids
from goldrank.base.errors import GoldrankError
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasureLike, Policies, QrelsLike, RunLike
from goldrank.conventions import POLICIES, convention_of, tool_of
from goldrank.conventions.tool import Quirk, Tool
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.scores import format_value
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table
from goldrank.evaluation.rankings import evaluate
from goldrank.measures import Measure, parse


@dataclass(frozen=True)
class RuleDifference:
    """A rule in which two conventions differ, and what it changes."""

    name: str
    """A policy such as 'ties', an option of the measure such as 'gain', or a word for what else a tool does."""
    label: str
    """The rule's name for people."""
    first: object
    second: object
    alone: float
    """The value by the first convention with this one rule taken from the second; NaN if there is none."""
    problem: str | None = None
    """The error that this rule makes where the first convention has none, or another one."""
    matters: bool = True
    """Whether this rule alone changes the value, makes an error, or removes one."""


@dataclass(frozen=True, repr=False, eq=False)
class Difference(Result):
    """One measure by two conventions."""

    measure: str
    conventions: tuple[str, str]
    values: tuple[float, float]
    rules: tuple[RuleDifference, ...]
    """The rules in which they differ and that this measure could feel, those that matter alone first."""
    problems: tuple[str | None, str | None] = (None, None)
    """Why a convention has no value."""
    notes: tuple[Note, ...] = ()

    @property
    def words(self) -> str:
        """Both values in a sentence."""
        sides = []
        for name, value, problem in zip(self.conventions, self.values, self.problems, strict=True):
            outcome = format_value(value)
            if problem:
                outcome = "an error"
            sides.append(f"{name} {outcome}")
        return f"{self.measure}: {', '.join(sides)}"

    @property
    def title(self) -> str:
        """What a page of it is called."""
        return f"{self.measure} by {self.conventions[0]} and by {self.conventions[1]}"

    def parts(self) -> list[Part]:
        """Both values, what each rule changes alone, and the rules without effect."""
        first, second = self.conventions
        value_rows: list[Cells] = []
        for name, value, problem in zip(self.conventions, self.values, self.problems, strict=True):
            cell = Cell(format_value(value), value)
            if problem:
                cell = Cell(f"an error: {problem}")
            value_rows.append([name, cell])
        values = Table(Head.texts("", ""), value_rows, self.measure)

        effective = [rule for rule in self.rules if rule.matters]
        if not effective:
            outcome = "different only together"
            if _same(*self.values) and self.problems[0] == self.problems[1]:
                outcome = "the same"
            sentence = f"None of the {len(self.rules)} rules that differ matters alone: {outcome}."
            return [values, Sentence(sentence, "remark")]

        rows: list[Cells] = [
            [rule.label, str(rule.first), str(rule.second), *self._outcome(rule)] for rule in effective
        ]
        columns = [*Head.texts("rule", first, second), *Head.numbers("value", "change")]
        title = f"What changes if one rule of {first} is replaced by the rule of {second}"
        parts: list[Part] = [values, Table(columns, rows, title)]

        without_effect = [rule.label for rule in self.rules if not rule.matters]
        if without_effect:
            parts.append(Sentence(f"Also different, but without effect here: {', '.join(without_effect)}.", "remark"))
        return parts

    def _outcome(self, rule: RuleDifference) -> tuple[Cell, Cell]:
        """The value with one rule replaced, or the error that it makes, and the change."""
        if rule.problem:
            return Cell(ids.show(rule.problem, 300)), Cell("")

        change = rule.alone - self.values[0]
        change_cell = Cell(f"{change:+.4f}", change)
        if self.problems[0] or math.isnan(change):
            change_cell = Cell("")
        return Cell(format_value(rule.alone), rule.alone), change_cell

    def rows(self) -> list[dict[str, Any]]:
        """A row per rule that differs."""
        return [
            {
                "measure": self.measure,
                "rule": rule.name,
                "first": str(rule.first),
                "second": str(rule.second),
                "alone": rule.alone,
                "problem": rule.problem,
                "matters": rule.matters,
            }
            for rule in self.rules
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "measure": self.measure,
            "conventions": list(self.conventions),
            "values": list(self.values),
            "problems": list(self.problems),
            "rules": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }


@named_arguments
def explain_difference(
    qrels: QrelsLike, run: RunLike, measure: MeasureLike, first: ConventionLike, second: ConventionLike
) -> Difference:
    """Say which rule of two conventions makes them give two numbers for the same run.

    Parameters
    ----------
    qrels : judgements
        `Qrels`, a file, a data frame, a mapping or rows. All but `Qrels` are read by the rules of each convention.
    run : run
        `Run`, a file, a data frame, a mapping or rows.
    measure : measure
        What is measured.
    first, second : str or Convention
        The two conventions.

    Returns
    -------
    Difference
        Both values, and what each rule in which they differ changes alone.

    Raises
    ------
    GoldrankError
        The error that both conventions make, if it is the same: then none of their rules is the reason.

    Examples
    --------
    >>> from goldrank import explain_difference
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}}
    >>> print(explain_difference(qrels, run, "RR", "trec_eval-10", "trec_eval-9"))
    RR
    trec_eval-10  1.0000
    trec_eval-9   0.5000
    <BLANKLINE>
    What changes if one rule of trec_eval-10 is replaced by the rule of trec_eval-9
    rule        trec_eval-10  trec_eval-9   value   change
    score_type  float64       float32      0.5000  -0.5000
      Also different, but without effect here: missing.
    """
    old, new = _rules_of(first), _rules_of(second)
    parsed = parse(measure)
    # A stream or an iterator comes only once; judgements are then read by the first convention.
    if isinstance(qrels, Iterator) or hasattr(qrels, "read"):
        qrels = io.as_qrels(qrels, judgements=old.policies["judgements"])
    judged: dict[str, Qrels] = {}
    opened: list[Run] = []
    failed: list[GoldrankError] = []

    def value(rules: Tool) -> tuple[float, str | None]:
        try:
            # Repeated judgements are settled in reading, so that each value of this rule needs another reading.
            judgements = rules.policies["judgements"]
            if judgements not in judged:
                judged[judgements] = io.as_qrels(qrels, judgements=judgements)
            if not opened:
                opened.append(io.as_run(run))
            scores = evaluate(judged[judgements], opened[0], parsed, convention=convention_of(rules))
            return scores[parsed.with_defaults(rules.options_of(parsed))], None
        except GoldrankError as error:
            failed.append(error)
            return math.nan, error.what

    start, start_problem = value(old)
    end, end_problem = value(new)
    if start_problem is not None and start_problem == end_problem:
        raise failed[0]  # none of their rules is the reason: a file is missing, a measure needs other judgements

    differences: list[RuleDifference] = []
    for name, (label, first_value, second_value) in _differing(old, new, parsed).items():
        alone, rule_problem = value(with_rule(old, name, new, parsed))
        matters = rule_problem != start_problem or not _same(alone, start)
        if rule_problem == start_problem:
            rule_problem = None
        differences.append(RuleDifference(name, label, first_value, second_value, alone, rule_problem, matters))

    differences.sort(key=lambda rule: (not rule.matters, _sort_key(rule.alone - start)))
    return Difference(str(parsed), (old.name, new.name), (start, end), tuple(differences), (start_problem, end_problem))


def _same(first: float, second: float) -> bool:
    """Whether two values are equal; no value is equal to no value."""
    if math.isnan(first) and math.isnan(second):
        return True
    return first == second


def _sort_key(change: float) -> float:
    """A key that sorts great changes first, and errors before them."""
    if math.isnan(change):
        return -math.inf
    return -abs(change)


# A rule is a policy with the quirks that refine it, an option of the measure, another quirk, or when it is refused.

REFUSED = "refused"
"""The name of the rule that says when a measure is refused."""


def _rules_of(convention: ConventionLike) -> Tool:
    """A convention's rules as a tool that has them all as its own, so that one can be replaced."""
    rules = conventions.get(convention)
    return replace(tool_of(rules), policies=rules.policies)


def _differing(old: Tool, new: Tool, measure: Measure) -> dict[str, tuple[str, object, object]]:
    """By name, the rules in which two tools differ for a measure: label, value of the first, value of the second.

    Options that the measure itself spells out are not rules of a tool.
    """
    rules: dict[str, tuple[str, object, object]] = {}
    for policy in POLICIES:
        rules[policy] = policy, _policy(old, policy, measure), _policy(new, policy, measure)

    spelled = dict(measure.options)
    for option in sorted({*old.options_of(measure), *new.options_of(measure)}):
        if option not in spelled:
            rules[option] = option, _option(old, option, measure), _option(new, option, measure)

    for quirk in (*old.quirks, *new.quirks):
        if quirk.refines is None:
            rules[quirk.rule] = quirk.label, _quirk_words(old, quirk, measure), _quirk_words(new, quirk, measure)

    rules[REFUSED] = "refused with an error", _refused(old, measure), _refused(new, measure)
    return {name: rule for name, rule in rules.items() if rule[1] != rule[2]}


def _policy(tool: Tool, policy: str, measure: Measure) -> str:
    """The value of a policy for a measure, as the tool's quirks refine it."""
    word = str(tool.policies[policy])  # type: ignore[literal-required]  # a key of POLICIES
    for quirk in tool.quirks:
        if quirk.refines == policy:
            word = quirk.refined(word, measure)
    return word


def _option(tool: Tool, option: str, measure: Measure) -> object:
    """The value of a measure's option."""
    return {**measure.declaration.defaults, **tool.options_of(measure)}.get(option)


def _quirk_words(tool: Tool, quirk: Quirk, measure: Measure) -> str:
    """What a tool does where some tools have this quirk."""
    for tool_quirk in tool.quirks:
        if tool_quirk.rule == quirk.rule:
            return tool_quirk.says(measure)
    return quirk.usual


def _refused(tool: Tool, measure: Measure) -> str:
    """When a tool refuses a measure."""
    conditions = [refusal.when.words for refusal in tool.refusals if refusal.concerns(measure)]
    if not conditions:
        return "never"
    return f"where {' or '.join(conditions)}"


def with_rule(old: Tool, name: str, new: Tool, measure: Measure) -> Tool:
    """A tool with one rule of another."""
    if name == REFUSED:
        return replace(old, refusals=new.refusals)

    if name in POLICIES:
        own_quirks = tuple(quirk for quirk in old.quirks if quirk.refines != name)
        new_quirks = tuple(quirk for quirk in new.quirks if quirk.refines == name)
        policies = cast(Policies, {**old.policies, name: cast(dict[str, str], new.policies)[name]})
        return replace(old, policies=policies, quirks=(*own_quirks, *new_quirks))

    if name in measure.declaration.defaults:
        options = {**old.options_of(measure), name: _option(new, name, measure)}
        return replace(old, options={**old.options, measure.name: options})

    own_quirks = tuple(quirk for quirk in old.quirks if quirk.rule != name)
    new_quirks = tuple(quirk for quirk in new.quirks if quirk.rule == name)
    return replace(old, quirks=(*own_quirks, *new_quirks))
