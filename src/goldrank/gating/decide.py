"""May this run pass? `Rules`, a run and what it is held against -> a `Verdict`, with a reason for everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from goldrank import __version__, conventions, ids
from goldrank.comparison.metadata import QueryValues
from goldrank.conventions import Convention
from goldrank.data.scores import Scores
from goldrank.errors import BaselineError, InputError, one_of
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import documents_of, resolve, resolve_measures, whole_depth
from goldrank.evaluation.pipeline import Placed
from goldrank.evaluation.recommending import Background
from goldrank.gating import HOLES
from goldrank.gating.baseline import Baseline, BaselineLike, Basis, judgement_hashes
from goldrank.gating.findings import JUDGED, RETURNED, LatencyLike, RuleChecker
from goldrank.gating.holes import Sources
from goldrank.gating.rules import Rules, RulesLike
from goldrank.gating.significance import tested
from goldrank.gating.verdict import Verdict
from goldrank.io.columns import Columns
from goldrank.measures import parse_all, summarise
from goldrank.misuse import checked
from goldrank.notes import Note
from goldrank.types import ConventionLike, HistoryLike, JudgementsLike, Policies, RunLike


@checked
def gate(
    qrels: JudgementsLike | Scores,
    run: RunLike | None = None,
    rules: RulesLike | None = None,
    baseline: BaselineLike | None = None,
    *,
    db: str | Path | None = None,
    convention: ConventionLike = "trec_eval-10",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    relevant_from: float | None = None,
    train: HistoryLike | None = None,
    seen: str = "remove",
    depth: int | None = None,
    metadata: QueryValues | None = None,
    latency: LatencyLike | None = None,
    allow_changed_qrels: bool = False,
    strict: bool | None = None,
    holes: str | None = None,
    judged_by: str | None = None,
    **policies: Unpack[Policies],
) -> Verdict:
    """Check a run against rules: `gate(qrels, run, rules)`, or `gate(scores, rules=...)` with its scores.

    `rules` is a TOML file or a list such as ["nDCG@10 >= 0.40", "AP: -1%"]; `baseline` a file made by
    `goldrank baseline set`, the name of one in the history `db`, or `Scores`. `scores` were made now or saved earlier.
    Other arguments are those of `evaluate`. `metadata` gives attributes of queries to rules about slices, `latency`
    times to those about latency. `strict` fails what is not shown to be within the tolerance; `holes="ignore"` takes
    unjudged documents as not relevant where the verdict would be "unclear: judge these". Both may be in the rules too.

    >>> from goldrank import gate
    >>> gate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, ["RR >= 0.4", "missing <= 0%"]).status
    'pass'
    >>> gate(evaluate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, "RR"), rules="RR >= 0.6").status
    'fail'
    """
    if isinstance(qrels, Scores) and (
        any(given is not None for given in (run, format, columns, relevant_from, train, judged_by))
        or depth is not None
        or policies
        or convention != conventions.DEFAULT
    ):
        raise InputError(
            "scores are held to rules as they are; a run and how to measure it have no meaning for them",
            hint="Either gate(qrels, run, rules, baseline), or gate(scores, rules=..., baseline=...).",
            code="no-meaning-for-scores",
        )
    if rules is None or (run is None and not isinstance(qrels, Scores)):
        raise InputError(
            f"a gate needs {'rules' if rules is None else 'a run'}",
            hint="Either gate(qrels, run, rules), or gate(scores, rules=...).",
            code="no-rules" if rules is None else "no-run",
        )
    held_to = Rules.of(rules)
    if strict is not None:
        held_to = replace(held_to, strict=strict)
    if holes is not None:
        held_to = replace(held_to, holes=one_of(holes, HOLES, "holes"))
    against = None if baseline is None else Baseline.of(baseline, db)
    if isinstance(qrels, Scores):
        scores, now, documents = qrels, Basis.of(qrels), None
        recorded = scores.provenance.get("policies") or {}
        policy = Convention(**{key: recorded[key] for key in conventions.POLICIES if key in recorded})
    else:
        assert run is not None
        policy = conventions.get(convention).with_policies(**policies)
        named = Columns.of(columns)
        background = Background.of(train, seen=seen, columns=named)
        how: Any = {"format": format, "columns": named, "relevant_from": relevant_from, "background": background}
        inputs = resolve(qrels, run, policy, judged_by=judged_by, **how)
        if inputs.several:
            raise InputError("a gate is for one run", hint="Call it once for each run.", code="one-run-needed")
        judged, documents = inputs.judgements, documents_of(inputs.judgements)
        placed = pipeline.place(judged, inputs.runs[0], policy, background=background)
        scores = pipeline.score(placed, resolve_measures(measures_for(held_to, policy), policy), whole_depth(depth))
        changed = against is not None and against.judgements is not None and against.basis.qrels != judged.digest
        hashes = judgement_hashes(judged) if changed else None
        now = Basis(judged.digest, judged.criteria or "", scores.convention, depth, scores.queries, hashes, __version__)
    needing = next((rule for rule in held_to.rules if rule.needs_baseline), None)
    if against is None and needing is not None:
        raise BaselineError(
            f"the rule '{ids.show(str(needing))}' needs a baseline",
            hint="Name one with --baseline (baseline=...); `goldrank baseline set` makes it.",
        )
    notes = [] if against is None else _check_comparable(against, now, allow_changed_qrels)
    _check_answered(scores, "the run")
    before, sources = None, None
    if against is not None:
        before, sources, more = _documents(scores, against, held_to, policy, now)
        notes += more
    checker = RuleChecker(scores, before, held_to, policy, metadata, latency, documents, sources)
    drafts = [draft for rule in held_to.rules for draft in checker.check(rule)]
    return Verdict(
        run=scores.run,
        findings=tuple(checker.explained(finding) for finding in tested(drafts, held_to)),
        baseline=against.words if against else "",
        rules=held_to.name,
        notes=(*dict.fromkeys([*notes, *checker.notes]), *scores.notes),
        scores=scores,
    )


def _documents(
    scores: Scores, against: Baseline, rules: Rules, policy: Convention, now: Basis
) -> tuple[Scores, Sources | None, list[Note]]:
    """The baseline's scores by the judgements of now, and where the documents of both are, as far as they are known."""
    notes: list[Note] = []
    placed, kept = scores.placed, against.documents
    changed = bool(against.basis.other_judgements(now))
    if placed is None or not any(rule.kind == "drop" for rule in rules.rules):
        return against.scores, None, [Note.of("two-yardsticks")] if changed else []
    before: Placed | None = None
    if kept is not None:
        before = kept.place(placed.judgements, against.name, policy)
    elif against.scores.placed is not None:
        before = against.scores.placed
        if changed:
            before = pipeline.place(
                placed.judgements, before.run, policy.with_policies(overlap="allow", missing="zero")
            )
    scored = against.scores
    if changed and before is not None:
        scored = _scored_again(against, before, policy, now.depth)
        notes.append(Note.of("baseline-rescored"))
        partly = kept.partly_known(scored.measures, before.placements) if kept is not None else []
        if partly:
            notes.append(Note.of("rescored-in-part", measures=", ".join(partly), depth=kept.depth if kept else 0))
    elif changed:
        notes.append(Note.of("two-yardsticks"))
    if rules.holes == "look" and policy.ties == "expected":
        why = "values are means over the orders of tied documents"
        return scored, None, [*notes, Note.of("holes-not-looked-at", why=why)]
    if rules.holes == "look" and before is None:
        notes.append(Note.of("baseline-without-documents"))
    return scored, Sources(placed, before, kept, now.depth), notes


def _scored_again(against: Baseline, before: Placed, policy: Convention, depth: int | None) -> Scores:
    """The baseline's measures by the judgements that its documents were placed with, on the queries that it had."""
    scores = pipeline.score(before, parse_all(against.scores.measures), depth, policy.with_policies(missing="zero"))
    had = set(against.scores.queries)
    keep = np.array([query in had for query in scores.queries], bool)
    columns = {
        name: replace(column, values=column.values[keep], summary=summarise(column.average, column.values[keep]))
        for name, column in scores.columns.items()
    }
    return replace(scores, queries=tuple(q for q in scores.queries if q in had), columns=columns, bounds={})


def measures_for(rules: Rules, convention: Convention) -> list[str]:
    """What must be measured to decide on the rules, and to see which queries returned anything."""
    measures = rules.measures
    if convention.ties != "bounds" and convention.bounds == "none":
        measures.append(RETURNED)
    if any(rule.kind == "overlap" for rule in rules.rules):
        measures.append(JUDGED)
    return list(dict.fromkeys(measures))


def _check_answered(scores: Scores, what: str) -> None:
    """A system that returned nothing at all did not run: no number says anything about it."""
    if scores.counts.get("retrieved") == 0 or not len(scores.queries):
        raise InputError(
            f"{what} returned nothing for any of the {len(scores.queries):,} queries: it did not run",
            hint="Nothing was compared. Look for what went wrong before the evaluation.",
            code="nothing-returned",
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
            code="other-judgements",
        )
    _check_answered(baseline.scores, f"the baseline {ids.show(baseline.name, 200)}")
    notes = [Note.of("changed-judgements", what=what) for what in other_judgements]
    if then.version and now.version and then.version != now.version:
        notes.append(Note.of("baseline-version", then=then.version, now=now.version))
    return notes
