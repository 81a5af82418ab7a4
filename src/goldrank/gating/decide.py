"""May this run pass? `Rules`, a run and what it is held against -> a `Verdict`, with a reason for everything."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from goldrank import __version__, conventions, ids
from goldrank.comparison.metadata import QueryValues
from goldrank.conventions import Convention
from goldrank.data.scores import Scores
from goldrank.errors import BaselineError, InputError
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import documents_of, resolve, resolve_measures, whole_depth
from goldrank.gating.baseline import Baseline, BaselineLike, Basis, judgement_hashes
from goldrank.gating.findings import JUDGED, RETURNED, LatencyLike, RuleChecker
from goldrank.gating.rules import Rules, RulesLike
from goldrank.gating.significance import tested
from goldrank.gating.verdict import Verdict
from goldrank.notes import Note
from goldrank.types import JudgementsLike, Policies, RunLike


def gate(
    qrels: JudgementsLike | Scores,
    run: RunLike | None = None,
    rules: RulesLike | None = None,
    baseline: BaselineLike | None = None,
    *,
    db: str | Path | None = None,
    convention: str | Convention = conventions.DEFAULT,
    format: str | None = None,
    depth: int | None = None,
    metadata: QueryValues | None = None,
    latency: LatencyLike | None = None,
    allow_changed_qrels: bool = False,
    **policies: Unpack[Policies],
) -> Verdict:
    """Hold a run to rules: `gate(qrels, run, rules)`, or `gate(scores, rules=...)` with its scores.

    `rules` is a TOML file or a list such as ["nDCG@10 >= 0.40", "AP: -1%"]; `baseline` a file made by
    `goldrank baseline set`, the name of one in the history `db`, or `Scores`. `scores` were made now or saved earlier.
    Other arguments are those of `evaluate`. `metadata` gives attributes of queries to rules about slices, `latency`
    times to those about latency.

    >>> from goldrank import gate
    >>> gate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, ["RR >= 0.4", "missing <= 0%"]).status
    'pass'
    >>> gate(evaluate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, "RR"), rules="RR >= 0.6").status
    'fail'
    """
    if isinstance(qrels, Scores) and (
        run is not None or format is not None or depth is not None or policies or convention is not conventions.DEFAULT
    ):
        raise InputError(
            "scores are held to rules as they are; a run and how to measure it have no meaning for them",
            hint="Either gate(qrels, run, rules, baseline), or gate(scores, rules=..., baseline=...).",
        )
    if rules is None or (run is None and not isinstance(qrels, Scores)):
        raise InputError(
            f"a gate needs {'rules' if rules is None else 'a run'}",
            hint="Either gate(qrels, run, rules), or gate(scores, rules=...).",
        )
    held_to = Rules.of(rules)
    against = None if baseline is None else Baseline.of(baseline, db)
    if isinstance(qrels, Scores):
        scores, now, documents = qrels, Basis.of(qrels), None
        recorded = scores.provenance.get("policies") or {}
        policy = conventions.DEFAULT.having(**{key: recorded[key] for key in conventions.POLICIES if key in recorded})
    else:
        assert run is not None
        policy = conventions.get(convention).having(**policies)
        inputs = resolve(qrels, run, policy, format=format)
        if inputs.several:
            raise InputError("a gate is for one run", hint="Call it once for each run.")
        judged, documents = inputs.judgements, documents_of(inputs.judgements)
        placed = pipeline.place(judged, inputs.runs[0], policy)
        scores = pipeline.score(placed, resolve_measures(measures_for(held_to, policy), policy), whole_depth(depth))
        changed = against is not None and against.judgements is not None and against.basis.qrels != judged.digest
        hashes = judgement_hashes(judged) if changed else None
        now = Basis(judged.digest, judged.criteria or "", policy.label, depth, scores.queries, hashes, __version__)
    notes = _check_basis(scores, held_to, against, now, allow_changed_qrels)
    checker = RuleChecker(scores, against.scores if against else None, held_to, policy, metadata, latency, documents)
    drafts = [draft for rule in held_to.rules for draft in checker.check(rule)]
    return Verdict(
        run=scores.run,
        findings=tuple(tested(drafts, held_to.settings)),
        baseline=against.words if against else "",
        rules=held_to.name,
        notes=(*dict.fromkeys([*notes, *checker.notes]), *scores.notes),
        scores=scores,
    )


def measures_for(rules: Rules, convention: Convention) -> list[str]:
    """What must be measured to decide on the rules, and to see which queries returned anything."""
    measures = rules.measures
    if convention.ties != "bounds" and convention.bounds == "none":
        measures.append(RETURNED)
    if any(rule.kind == "overlap" for rule in rules.rules):
        measures.append(JUDGED)
    return list(dict.fromkeys(measures))


def _check_basis(
    scores: Scores, rules: Rules, baseline: Baseline | None, now: Basis, allow_changed_qrels: bool
) -> list[Note]:
    """Refuse what nothing can be decided about: a run without results, a baseline that says nothing about the run."""
    needing = next((rule for rule in rules.rules if rule.needs_baseline), None)
    if baseline is None and needing is not None:
        raise BaselineError(
            f"the rule '{ids.show(str(needing))}' needs a baseline",
            hint="Name one with --baseline (baseline=...); `goldrank baseline set` makes it.",
        )
    notes = [] if baseline is None else _check_comparable(baseline, now, allow_changed_qrels)
    _check_answered(scores, "the run")
    return notes


def _check_answered(scores: Scores, what: str) -> None:
    """A system that returned nothing at all did not run: no number says anything about it."""
    if scores.counts.get("retrieved") == 0 or not len(scores.queries):
        raise InputError(
            f"{what} returned nothing for any of the {len(scores.queries):,} queries: it did not run",
            hint="Nothing was compared. Look for what went wrong before the evaluation.",
        )


def _check_comparable(baseline: Baseline, now: Basis, allow_changed_qrels: bool) -> list[Note]:
    """Refuse a run that the baseline says nothing about; what is allowed is noted."""
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
            "(allow_changed_qrels=True).",
        )
    _check_answered(baseline.scores, f"the baseline {ids.show(baseline.name, 200)}")
    notes = [Note.of("changed-judgements", what=what) for what in other_judgements]
    if then.version and now.version and then.version != now.version:
        notes.append(Note.of("baseline-version", then=then.version, now=now.version))
    return notes
