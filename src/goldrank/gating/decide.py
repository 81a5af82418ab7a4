"""May these scores pass? `Rules`, scores and a baseline -> a `Verdict`, with a reason for everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from goldrank import conventions
from goldrank.base import ids
from goldrank.base.errors import BaselineError, InputError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import QueriesLike
from goldrank.conventions import Convention
from goldrank.data.queries import Queries
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.evaluation import pipeline
from goldrank.evaluation.pipeline import Placed
from goldrank.gating.baseline import Baseline, BaselineLike, Basis, as_baseline
from goldrank.gating.findings import RuleChecker
from goldrank.gating.rules import Rules, RulesLike, as_rules
from goldrank.gating.significance import tested
from goldrank.gating.unjudged_rules import Sources
from goldrank.gating.verdict import Verdict
from goldrank.io.by_id.query_files import read_queries
from goldrank.measures import parse_all, summarise


@named_arguments
def gate(
    scores: Scores, rules: RulesLike, baseline: BaselineLike | None = None, *, queries: QueriesLike | None = None
) -> Verdict:
    """Hold the scores of a run to rules: does it pass?

    Parameters
    ----------
    scores : Scores
        The scores of one run, made now or loaded. They need the measures of the rules, `rules.measures`.
    rules : Rules, file or rules
        `Rules`, a TOML file, a rule such as "AP: -1%", or a list of rules.
    baseline : Baseline, Scores or file, optional
        What rules about drops compare with: a `Baseline`, `Scores`, the file of either, or `history.baseline("main")`.
    queries : Queries, optional
        Attributes of queries for rules about slices, and `latency` for those about it. They take the place of those
        of the rules.

    Returns
    -------
    Verdict
        True if the scores pass; a sequence of findings, one for each rule and slice.

    Raises
    ------
    InputError
        If the scores are not those of one run, nothing was returned, or a rule asks for what is not known.
    BaselineError
        If a rule needs a baseline and there is none, it was changed, or it rests on other judgements.
    RuleError
        If a rule is misspelled.

    Examples
    --------
    >>> from goldrank import gate
    >>> scores = evaluate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, "RR")
    >>> gate(scores, ["RR >= 0.4", "missing <= 0%"]).status
    'pass'
    >>> gate(scores, "RR >= 0.6").exit_code
    1
    """
    _check_scores(scores)
    held_to = as_rules(rules)
    if baseline is None:
        against = None
    else:
        against = as_baseline(baseline)
    if queries is None:
        given = held_to.queries
    else:
        given = queries
    if given is None:
        known = None
    else:
        known = read_queries(given)

    _check_baseline_is_there(held_to, against)
    now = Basis.of(scores)
    if against is None:
        notes = []
    else:
        notes = _check_comparable(against, now, held_to.allow_changed_qrels)
    _check_answered(scores, "the run")
    return _decided(scores, held_to, against, known, now, notes)


def _decided(
    scores: Scores, rules: Rules, against: Baseline | None, queries: Queries | None, now: Basis, notes: list[Note]
) -> Verdict:
    """The verdict on scores that can be held to the rules."""
    policy = _policy_of(scores)
    before, sources = None, None
    if against is not None:
        before, sources, more = _documents(scores, against, rules, policy, now)
        notes = [*notes, *more]

    checker = RuleChecker(scores, before, rules, policy, queries, sources, _deterministic(rules, against))
    drafts = [draft for rule in rules for draft in checker.check(rule)]
    findings = tuple(checker.explained(finding) for finding in tested(drafts, rules))
    return Verdict(
        run=scores.run,
        findings=findings,
        baseline=None if against is None else against.words,
        rules=rules.name,
        notes=(*dict.fromkeys([*notes, *checker.notes]), *scores.notes),
        measured=scores,
    )


def _deterministic(rules: Rules, against: Baseline | None) -> str:
    """How it is known that the system always returns the same, as a sentence; '' if it is not known."""
    if rules.deterministic:
        return "The rules say that the system is deterministic"
    if against is not None and against.equal_runs:
        return f"The system is deterministic ({against.equal_runs} equal runs are recorded)"
    return ""


def _check_scores(scores: object) -> None:
    """Refuse what is not the scores of one run, with the way to have them."""
    if isinstance(scores, ScoresByRun):
        hint = f"Call it once for each run: gate(scores[{next(iter(scores), 'run')!r}], rules)."
        raise InputError("a gate is for one run", hint=hint, code="one-run-needed")
    of_type(scores, Scores, "what a gate takes", "the scores of a run", _EVALUATE_FIRST)


_EVALUATE_FIRST = "gate(evaluate(qrels, run, rules.measures), rules), or gate(Scores.load(path), rules)."


def _check_baseline_is_there(rules: Rules, against: Baseline | None) -> None:
    needing = next((rule for rule in rules if rule.needs_baseline), None)
    if against is None and needing is not None:
        raise BaselineError(
            f"the rule '{ids.show(str(needing))}' needs a baseline",
            hint="Name one with --baseline (baseline=...); `goldrank gate --update` (Baseline(scores).save) makes it.",
            code="needs-baseline",
        )


def _policy_of(scores: Scores) -> Convention:
    """How the scores were made, as far as a gate must know."""
    if scores.placed is not None:
        convention: Convention = scores.placed.rules
        return convention
    recorded = scores.provenance.get("policies") or {}
    known = {key: recorded[key] for key in conventions.POLICIES if key in recorded}
    return conventions.get(conventions.DEFAULT).with_policies(**known)


def _documents(
    scores: Scores, against: Baseline, rules: Rules, policy: Convention, now: Basis
) -> tuple[Scores, Sources | None, list[Note]]:
    """The baseline's scores by the judgements of now, and where the documents of both are, as far as they are known."""
    placed = scores.placed
    changed = bool(against.basis.other_judgements(now))
    if placed is None or not any(rule.kind == "drop" for rule in rules):
        return against.scores, None, [Note.of("two-yardsticks")] if changed else []

    if against.is_kept:
        kept = against.documents
    else:
        kept = None
    before = _placed_again(against, placed, policy, changed)
    scored, notes = against.scores, []
    if changed and before is not None:
        scored = _scored_again(against, before, policy, now.depth)
        notes.append(Note.of("baseline-rescored"))
        if kept is not None:
            partly = kept.partly_known(scored.measures, before.placements)
        else:
            partly = []
        if kept is not None and partly:
            notes.append(Note.of("rescored-in-part", measures=", ".join(partly), depth=kept.depth))
    elif changed:
        notes.append(Note.of("two-yardsticks"))

    checks = rules.statistics.unjudged == "check"
    if checks and policy.ties == "expected":
        why = "values are means over the orders of tied documents"
        return scored, None, [*notes, Note.of("holes-not-looked-at", why=why)]
    if checks and before is None:
        notes.append(Note.of("baseline-without-documents"))
    return scored, Sources(placed, before, kept, now.depth), notes


def _placed_again(against: Baseline, placed: Placed, policy: Convention, changed: bool) -> Placed | None:
    """The baseline's documents, placed by the judgements of now; None if they are not known."""
    if against.is_kept:
        kept = against.documents
        if kept is None:
            return None
        return kept.place(placed.judgements, against.name, policy)
    before: Placed | None = against.scores.placed
    if before is None or not changed:
        return before
    return pipeline.place(placed.judgements, before.run, policy.with_policies(overlap="allow", missing="zero"))


def _scored_again(against: Baseline, before: Placed, policy: Convention, depth: int | None) -> Scores:
    """The baseline's measures by the judgements that its documents were placed with, on the queries that it had."""
    scores = pipeline.score(before, parse_all(against.scores.measures), depth, policy.with_policies(missing="zero"))
    had = set(against.scores.queries)
    keep = np.array([query in had for query in scores.queries], bool)
    columns = {
        name: replace(column, values=column.values[keep], summary=summarise(column.average, column.values[keep]))
        for name, column in scores.columns.items()
    }
    facts = scores.query_facts
    numbers = {name: values[keep] for name, values in facts.numbers.items()}

    return replace(
        scores,
        queries=tuple(query for query in scores.queries if query in had),
        columns=columns,
        bounds={},
        facts=replace(facts, **numbers),
    )


def _check_answered(scores: Scores, what: str) -> None:
    """A system that returned nothing at all did not run: no number says anything about it."""
    if scores.counts.get("retrieved") == 0 or not len(scores.queries):
        raise InputError(
            f"{what} returned nothing for any of the {len(scores.queries):,} queries: it did not run",
            hint="Nothing was compared. Look for what went wrong before the evaluation.",
            code="nothing-returned",
        )


def _check_comparable(baseline: Baseline, now: Basis, allow_changed_qrels: bool) -> list[Note]:
    """Refuse scores that the baseline says nothing about; what is allowed is noted."""
    then = baseline.basis
    other_rules = then.other_rules(now)
    if other_rules:
        raise BaselineError(
            f"cannot be compared with this run: {'; '.join(other_rules)}",
            where=baseline.name,
            hint="Measure the run as the baseline was measured, or set the baseline anew.",
        )
    other_judgements = then.other_judgements(now)
    if other_judgements and not allow_changed_qrels:
        raise BaselineError(
            f"was made with other judgements: {'; '.join(other_judgements)}",
            where=baseline.name,
            hint="Set the baseline anew with these judgements, or compare all the same: --allow-changed-qrels "
            "(Rules(..., allow_changed_qrels=True)).",
            code="other-judgements",
        )
    _check_answered(baseline.scores, f"the baseline {ids.show(baseline.name, 200)}")

    notes = [Note.of("changed-judgements", what=what) for what in other_judgements]
    if then.version and now.version and then.version != now.version:
        notes.append(Note.of("baseline-version", then=then.version, now=now.version))
    return notes
