"""A gate on corrected values: rules held to means and changes from a model's judgements and people's of some queries.

A rule fails if its interval lies wholly on the wrong side of the limit, and passes if it lies wholly on the right one;
else it is unclear, which passes unless the rules are strict. All rules share alpha (Bonferroni). A drop is that of the
baseline's own documents, scored by the same judgements.
"""

from __future__ import annotations

import math

import numpy as np

from goldrank import __version__, ids
from goldrank.comparison.corrected import ScoredTwice, Units, both_judges
from goldrank.comparison.intervals import Interval
from goldrank.comparison.ppi import CorrectedMean
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Rankings, Run
from goldrank.errors import BaselineError
from goldrank.evaluation.inputs import Inputs, resolve_measures
from goldrank.gating.baseline import Baseline, Basis
from goldrank.gating.rules import OF_MEASURES, Rule, RuleError, Rules
from goldrank.gating.verdict import Finding, Verdict
from goldrank.measures import Measure
from goldrank.notes import Note

DEPTH = 10
"""To which rank people must have judged where a measure has no cut-off."""


def corrected_verdict(inputs: Inputs, rules: Rules, against: Baseline | None, policy: Convention) -> Verdict:
    """What `gate` answers with judged_by="corrected"."""
    for rule in rules.rules:
        if rule.kind not in OF_MEASURES or rule.slice is not None:
            what = f"the rule '{ids.show(str(rule))}' is not about a corrected mean"
            hint = "Hold it in a gate of its own, with judged_by='model' or 'human'."
            raise RuleError(what, hint=hint, code="not-corrected")
    if against is None and (needing := next((rule for rule in rules.rules if rule.needs_baseline), None)):
        raise BaselineError(f"the rule '{ids.show(str(needing))}' needs a baseline", hint="Name one with baseline=...")
    human, model = both_judges(inputs.judgements)
    wanted = resolve_measures(list(dict.fromkeys(rules.measures)), policy)
    runs = [inputs.runs[0]]
    if against is not None and any(rule.kind == "drop" for rule in rules.rules):
        runs.append(_run_of(against, wanted, model, policy))
    both = ScoredTwice.of(human, model, runs, wanted, policy, DEPTH)
    checked = _Checker(both, both.units(), rules, policy)
    findings = tuple(checked.finding(rule) for rule in rules.rules)
    return Verdict(
        run=runs[0].name,
        findings=findings,
        baseline=against.words if against else "",
        rules=rules.name,
        notes=(*both.notes, *checked.notes),
    )


def _run_of(against: Baseline, wanted: list[Measure], model: Qrels, policy: Convention) -> Run:
    """The rankings of a baseline, as far as the measures look."""
    now = Basis(model.digest, model.criteria or "", policy.label, None, tuple(model), None, __version__)
    other_rules = against.basis.other_rules(now)
    if other_rules:
        what = f"cannot be compared with this run: {'; '.join(other_rules)}"
        raise BaselineError(what, where=against.name, hint="Measure the run as the baseline was measured.")
    if against.scores.placed is not None:
        before: Run = against.scores.placed.run
        return before.renamed("baseline")
    kept = against.documents
    if kept is None:
        what = "its documents are not known, so that it cannot be scored by people's and the model's judgements"
        raise BaselineError(what, where=against.name, hint="Set the baseline anew: `goldrank baseline set`.")
    deep = [str(measure) for measure in wanted if not isinstance(measure.k, int) or measure.k > kept.depth]
    if deep and max((ranking.returned for ranking in kept.rankings.values()), default=0) > kept.depth:
        what = f"it keeps {kept.depth:,} documents of a query, and {deep[0]} looks deeper"
        raise BaselineError(what, where=against.name, hint="Use a cut-off, or give the baseline's scores.")
    tops = {query: {doc: -float(i) for i, doc in enumerate(ranking.top)} for query, ranking in kept.rankings.items()}
    return Run(Rankings(tops), name="baseline", id_kind="text")


class _Checker:
    """Rules, held to corrected means."""

    def __init__(self, both: ScoredTwice, units: Units, rules: Rules, policy: Convention) -> None:
        self.both, self.units, self.rules, self.policy = both, units, rules, policy
        alpha = rules.statistics.alpha / max(1, sum(rule.tested for rule in rules.rules))
        self.level = 1 - 2 * alpha
        """Of two-sided intervals each of whose ends errs with this rule's share of alpha."""
        self.notes: list[Note] = []

    def finding(self, rule: Rule) -> Finding:
        (measure,) = resolve_measures(str(rule.measure), self.policy)
        direction = 1.0 if self.both.higher_is_better(measure) else -1.0
        now = self.both.values(0, measure)
        value = self.units.estimate(*now, self.rules.statistics.level)
        by = "corrected" if value.method == "corrected" else "people alone"
        words = f"{rule.measure} is {value.estimate:.4f} ({value.low:.4f} to {value.high:.4f}, {by})"
        before, interval = math.nan, Interval(value.low, value.high)
        if rule.kind == "drop":
            then = self.both.values(1, measure)
            before = self.units.estimate(*then, self.rules.statistics.level).estimate
            change = self.units.estimate(now[0] - then[0], now[1] - then[1], self.rules.statistics.level)
            interval = Interval(change.low, change.high)
            factor = 1.0 - direction * rule.limit * math.copysign(1.0, before) if rule.relative else 1.0
            shift = 0.0 if rule.relative else rule.limit
            y, f = (direction * (now[side] - factor * then[side]) + shift for side in (0, 1))
            two_valued = all(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all() for values in (*now, *then))
            mean, limit = self.units.estimate(y, f, self.level, two_valued), 0.0
            words += f", {change.estimate:+.4f} against the baseline ({change.low:+.4f} to {change.high:+.4f})"
        else:
            mean, limit = self.units.estimate(*now, self.level), rule.limit
        status = self._status(rule, mean, limit)
        wanted = {"floor": "at least", "ceiling": "at most", "drop": "a drop of at most"}[rule.kind]
        words += f"; {wanted} {rule.limit_words} is asked for, which "
        words += {"pass": "is shown", "fail": "does not hold", "unclear": "these queries cannot tell"}[status]
        if status == "unclear" and self.rules.strict:
            status, words = "fail", f"{words}. The rules are strict: what is not shown fails"
        return Finding(
            rule, status, words, value.estimate, baseline=before, interval=interval, queries=len(self.both.queries)
        )

    def _status(self, rule: Rule, mean: CorrectedMean, limit: float) -> str:
        """Whether an estimate is surely on the right side of a limit, or on the wrong one: below, but for ceilings."""
        self.notes += [note for why in mean.cautions if (note := Note.of("weak-correction", why=why)) not in self.notes]
        off = limit - mean.estimate if rule.kind == "ceiling" else mean.estimate - limit
        if rule.tested and mean.holds(limit):
            return "unclear"
        return "fail" if off < 0 else "pass"
