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
    """Check the scores of a run against rules: does it pass?

    Parameters
    ----------
    scores : Scores
        The scores of one run, made now or loaded. They need the measures of the rules, `rules.measures`.
    rules : Rules, file or rules
        `Rules`, a TOML file, a rule such as "AP: -1%", or a list of rules.
    baseline : Baseline, Scores or file, optional
        What rules about drops compare with: a `Baseline`, `Scores`, the file of either, or `history.baseline("main")`.
    queries : Queries, optional
        Attributes of queries for rules about slices, and `latency` for rules about it. They replace the queries of the
        rules.

    Returns
    -------
    Verdict
        True if the scores pass; a sequence of findings, one for each rule and slice.

    Raises
    ------
    InputError
        If the scores are not those of one run, nothing was returned, or a rule needs something that is not known.
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
    checked_rules = as_rules(rules)
    frozen = None
    if baseline is not None:
        frozen = as_baseline(baseline)
    if queries is None:
        queries = checked_rules.queries
    query_table = None
    if queries is not None:
        query_table = read_queries(queries)

    _check_baseline_is_there(checked_rules, frozen)
    basis = Basis.of(scores)
    notes = []
    if frozen is not None:
        notes = _check_comparable(frozen, basis, checked_rules.allow_changed_qrels)
    _check_answered(scores, "the run")
    return _decided(scores, checked_rules, frozen, query_table, basis, notes)


def _decided(
    scores: Scores, rules: Rules, baseline: Baseline | None, queries: Queries | None, basis: Basis, notes: list[Note]
) -> Verdict:
    """The verdict on scores that the rules apply to."""
    policy = _policy_of(scores)
    before, sources, baseline_words = None, None, None
    if baseline is not None:
        before, sources, document_notes = _documents(scores, baseline, rules, policy, basis)
        notes = [*notes, *document_notes]
        baseline_words = baseline.words

    checker = RuleChecker(scores, before, rules, policy, queries, sources, _deterministic(rules, baseline))
    drafts = [draft for rule in rules for draft in checker.check(rule)]
    findings = tuple(checker.explained(finding) for finding in tested(drafts, rules))
    return Verdict(
        run=scores.run,
        findings=findings,
        baseline=baseline_words,
        rules=rules.name,
        notes=(*dict.fromkeys([*notes, *checker.notes]), *scores.notes),
        measured=scores,
    )


def _deterministic(rules: Rules, baseline: Baseline | None) -> str:
    """How it is known that the system always returns the same, as a sentence; '' if it is not known."""
    if rules.deterministic:
        return "The rules say that the system is deterministic"
    if baseline is not None and baseline.equal_runs:
        return f"The system is deterministic ({baseline.equal_runs} equal runs are recorded)"
    return ""


def _check_scores(scores: object) -> None:
    """Refuse what is not the scores of one run, and say how to get them."""
    if isinstance(scores, ScoresByRun):
        hint = f"Call it once for each run: gate(scores[{next(iter(scores), 'run')!r}], rules)."
        raise InputError("a gate is for one run", hint=hint, code="one-run-needed")
    of_type(scores, Scores, "what a gate takes", "the scores of a run", _EVALUATE_FIRST)


_EVALUATE_FIRST = "gate(evaluate(qrels, run, rules.measures), rules), or gate(Scores.load(path), rules)."


def _check_baseline_is_there(rules: Rules, baseline: Baseline | None) -> None:
    rule_with_baseline = next((rule for rule in rules if rule.needs_baseline), None)
    if baseline is None and rule_with_baseline is not None:
        raise BaselineError(
            f"the rule '{ids.show(str(rule_with_baseline))}' needs a baseline",
            hint="Name one with --baseline (baseline=...); `goldrank gate --update` (Baseline(scores).save) makes it.",
            code="needs-baseline",
        )


def _policy_of(scores: Scores) -> Convention:
    """The convention of the scores, as far as a gate must know it."""
    if scores.placed is not None:
        convention: Convention = scores.placed.rules
        return convention
    recorded = scores.provenance.get("policies") or {}
    policies = {key: recorded[key] for key in conventions.POLICIES if key in recorded}
    return conventions.get(conventions.DEFAULT).with_policies(**policies)


def _documents(
    scores: Scores, baseline: Baseline, rules: Rules, policy: Convention, basis: Basis
) -> tuple[Scores, Sources | None, list[Note]]:
    """The baseline's scores by today's judgements, and where the documents of both are, as far as they are known."""
    notes: list[Note] = []
    placed_run = scores.placed
    changed = bool(baseline.basis.other_judgements(basis))
    if placed_run is None or not any(rule.kind == "drop" for rule in rules):
        if changed:
            notes.append(Note.of("baseline-not-rescored"))
        return baseline.scores, None, notes

    documents = None
    if baseline.is_kept:
        documents = baseline.documents
    before = _placed_again(baseline, placed_run, policy, changed)
    scored = baseline.scores
    if changed and before is not None:
        scored = _scored_again(baseline, before, policy, basis.depth)
        notes.append(Note.of("baseline-rescored"))
        partly_known = []
        if documents is not None:
            partly_known = documents.partly_known(scored.measures, before.placements)
        if documents is not None and partly_known:
            notes.append(Note.of("rescored-in-part", measures=", ".join(partly_known), depth=documents.depth))
    elif changed:
        notes.append(Note.of("baseline-not-rescored"))

    checks_unjudged = rules.statistics.unjudged == "check"
    if checks_unjudged and policy.ties == "expected":
        reason = "values are means over the orders of tied documents"
        return scored, None, [*notes, Note.of("holes-not-looked-at", why=reason)]
    if checks_unjudged and before is None:
        notes.append(Note.of("baseline-without-documents"))
    return scored, Sources(placed_run, before, documents, basis.depth), notes


def _placed_again(baseline: Baseline, placed_run: Placed, policy: Convention, changed: bool) -> Placed | None:
    """The baseline's documents, placed by today's judgements; None if they are not known."""
    if baseline.is_kept:
        documents = baseline.documents
        if documents is None:
            return None
        return documents.place(placed_run.judgements, baseline.name, policy)
    before: Placed | None = baseline.scores.placed
    if before is None or not changed:
        return before
    return pipeline.place(placed_run.judgements, before.run, policy.with_policies(overlap="allow", missing="zero"))


def _scored_again(baseline: Baseline, before: Placed, policy: Convention, depth: int | None) -> Scores:
    """The baseline's measures by the judgements that its documents were placed with, on the queries that it had."""
    scores = pipeline.score(before, parse_all(baseline.scores.measures), depth, policy.with_policies(missing="zero"))
    old_queries = set(baseline.scores.queries)
    is_old = np.array([query in old_queries for query in scores.queries], bool)
    columns = {
        name: replace(column, values=column.values[is_old], summary=summarise(column.average, column.values[is_old]))
        for name, column in scores.columns.items()
    }
    facts = scores.query_facts
    numbers = {name: values[is_old] for name, values in facts.numbers.items()}

    return replace(
        scores,
        queries=tuple(query for query in scores.queries if query in old_queries),
        columns=columns,
        bounds={},
        facts=replace(facts, **numbers),
    )


def _check_answered(scores: Scores, subject: str) -> None:
    """Refuse a system that returned nothing at all: it did not run."""
    if scores.counts.get("retrieved") == 0 or not len(scores.queries):
        raise InputError(
            f"{subject} returned nothing for any of the {len(scores.queries):,} queries: it did not run",
            hint="Nothing was compared. Look for what went wrong before the evaluation.",
            code="nothing-returned",
        )


def _check_comparable(baseline: Baseline, basis: Basis, allow_changed_qrels: bool) -> list[Note]:
    """Refuse scores that cannot be compared with the baseline; differences that are allowed become notes."""
    old_basis = baseline.basis
    other_rules = old_basis.other_rules(basis)
    if other_rules:
        raise BaselineError(
            f"cannot be compared with this run: {'; '.join(other_rules)}",
            where=baseline.name,
            hint="Measure the run as the baseline was measured, or set the baseline anew.",
        )

    other_judgements = old_basis.other_judgements(basis)
    if other_judgements and not allow_changed_qrels:
        raise BaselineError(
            f"was made with other judgements: {'; '.join(other_judgements)}",
            where=baseline.name,
            hint="Set the baseline anew with these judgements, or compare all the same: --allow-changed-qrels "
            "(Rules(..., allow_changed_qrels=True)).",
            code="other-judgements",
        )
    _check_answered(baseline.scores, f"the baseline {ids.show(baseline.name, 200)}")

    notes = [Note.of("changed-judgements", what=difference) for difference in other_judgements]
    if old_basis.version and basis.version and old_basis.version != basis.version:
        notes.append(Note.of("baseline-version", then=old_basis.version, now=basis.version))
    return notes
