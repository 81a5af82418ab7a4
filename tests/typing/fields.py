"""What type checkers say of the fields of nouns and results that users hold."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any, Literal, assert_type

import goldrank as gr


def of_qrels(qrels: gr.Qrels) -> None:
    assert_type(qrels.name, str)
    assert_type(qrels.criteria, str | None)
    assert_type(qrels.notes, tuple[gr.Note, ...])
    assert_type(qrels.digest, str)
    assert_type(qrels.size, int)


def of_run(run: gr.Run) -> None:
    assert_type(run.name, str)
    assert_type(run.notes, tuple[gr.Note, ...])
    assert_type(run.digest, str | None)


def of_runs(runs: gr.Runs) -> None:
    assert_type(runs.names, tuple[str, ...])
    assert_type(runs.notes, tuple[gr.Note, ...])


def of_items(items: gr.Items) -> None:
    assert_type(items.name, str)
    assert_type(items.notes, tuple[gr.Note, ...])
    assert_type(items.digest, str)
    assert_type(items.qrels, gr.Qrels)
    assert_type(items.run, gr.Run)
    assert_type(items.queries, gr.Queries)
    assert_type(items.failures, tuple[str, ...])


def of_item(item: gr.Item) -> None:
    assert_type(item.query, str)
    assert_type(item.question, str)
    assert_type(item.retrieved, tuple[str, ...])
    assert_type(item.references, tuple[tuple[str, ...], ...])
    assert_type(item.response, str)
    assert_type(item.answerable, bool | None)
    assert_type(item.latency, float | None)


def of_query(query: gr.Query) -> None:
    assert_type(query.text, str)
    assert_type(query.cluster, str | None)
    assert_type(query.weight, float)
    assert_type(query.stratum, str | None)
    assert_type(query.attributes, Mapping[str, Any])


def of_queries(queries: gr.Queries) -> None:
    assert_type(queries.name, str)
    assert_type(queries.attributes, tuple[str, ...])


def of_document(document: gr.Document) -> None:
    assert_type(document.text, str)
    assert_type(document.title, str)


def of_documents(documents: gr.Documents) -> None:
    assert_type(documents.name, str)


def of_catalogue(catalogue: gr.Catalogue) -> None:
    assert_type(catalogue.digest, str | None)


def of_position(position: gr.Position) -> None:
    assert_type(position.file, str)
    assert_type(position.line, int | None)
    assert_type(position.column, int | None)


def of_goldrank_error(goldrank_error: gr.GoldrankError) -> None:
    assert_type(goldrank_error.what, str)
    assert_type(goldrank_error.where, gr.Position | str | None)
    assert_type(goldrank_error.hint, str | None)
    assert_type(goldrank_error.code, str)


def of_convention(convention: gr.Convention) -> None:
    assert_type(convention.label, str)


def of_matching(matching: gr.Matching) -> None:
    assert_type(matching.credit, Literal["any", "one_to_one", "first_free", "pairs"])


def of_evidence(evidence: gr.Evidence) -> None:
    assert_type(evidence.lengths, Literal["char", "token"])
    assert_type(evidence.several, Literal["any", "first", "error"])
    assert_type(evidence.unlocated, Literal["error", "missed", "skip"])
    assert_type(evidence.similarity, float | None)
    assert_type(evidence.coverage, float)


def of_answers(answers: gr.Answers) -> None:
    assert_type(answers.abstain_below, float | None)


def of_statistics(statistics: gr.Statistics) -> None:
    assert_type(statistics.interval, Literal["standard", "bounded"])
    assert_type(statistics.alpha, float)
    assert_type(statistics.power, float)
    assert_type(statistics.margin, float | None)
    assert_type(statistics.samples, int | None)
    assert_type(statistics.seed, int)
    assert_type(statistics.unjudged, Literal["check", "ignore"])
    assert_type(statistics.level, float)


def of_judge(judge: gr.Judge) -> None:
    assert_type(judge.name, str)


def of_endpoint(endpoint: gr.Endpoint) -> None:
    assert_type(endpoint.name, str)


def of_command(command: gr.Command) -> None:
    assert_type(command.name, str)


def of_pool(pool: gr.Pool) -> None:
    assert_type(pool.which, Literal["unjudged", "judged", "all"])
    assert_type(pool.depth, int)
    assert_type(pool.limit, int | None)
    assert_type(pool.repeats, int)


def of_calls(calls: gr.Calls) -> None:
    assert_type(calls.max_cost, float | None)
    assert_type(calls.max_calls, int | None)
    assert_type(calls.prices, tuple[float, float] | tuple[float, float, float] | None)
    assert_type(calls.concurrency, int)
    assert_type(calls.rate, float | None)
    assert_type(calls.attempts, int)
    assert_type(calls.seed, int)
    assert_type(calls.dry_run, bool)
    assert_type(calls.progress, Callable[[int, int], None] | None)


def of_judged(judged: gr.Judged) -> None:
    assert_type(judged.qrels, gr.Qrels)
    assert_type(judged.asked, int)
    assert_type(judged.cost, float)
    assert_type(judged.doubts, Mapping[str, float])


def of_questions(questions: gr.Questions) -> None:
    assert_type(questions.rejected, Mapping[str, int])


def of_baseline(baseline: gr.Baseline) -> None:
    assert_type(baseline.scores, gr.Scores)
    assert_type(baseline.label, str)
    assert_type(baseline.frozen, str)
    assert_type(baseline.digest, str)


def of_rule(rule: gr.Rule) -> None:
    assert_type(
        rule.kind, Literal["floor", "ceiling", "drop", "unjudged", "missing", "overlap", "latency", "tokens", "cost"]
    )
    assert_type(rule.limit, float)
    assert_type(rule.measure, str | None)


def of_rules(rules: gr.Rules) -> None:
    assert_type(rules.measures, tuple[str, ...])


def of_record(record: gr.Record) -> None:
    assert_type(record.id, int)
    assert_type(record.time, datetime.datetime)
    assert_type(record.label, str)
    assert_type(record.commit, str)
    assert_type(record.branch, str)
    assert_type(record.note, str)
    assert_type(record.tags, tuple[str, ...])
    assert_type(record.run, str)
    assert_type(record.convention, str)
    assert_type(record.replicate, bool)
    assert_type(record.mean, Mapping[str, float])
    assert_type(record.digest, str)


def of_event(event: gr.Event) -> None:
    assert_type(event.number, int)
    assert_type(event.judge, str)
    assert_type(event.query, str)
    assert_type(event.doc, str)
    assert_type(event.time, str)


def of_matcher(matcher: gr.Matcher) -> None:
    assert_type(matcher.name, str)


def of_measure(measure: gr.Measure) -> None:
    assert_type(measure.name, str)
    assert_type(measure.higher_is_better, bool)


def of_note(note: gr.Note) -> None:
    assert_type(note.code, str)
    assert_type(note.level, Literal["warning", "info"])
    assert_type(note.words, str)
    assert_type(note.facts, Mapping[str, Any])
    assert_type(note.samples, tuple[str, ...])
    assert_type(note.about, str)


def of_interval(interval: gr.Interval) -> None:
    assert_type(interval.low, float)
    assert_type(interval.high, float)


def of_result(result: gr.Result) -> None:
    assert_type(result.notes, tuple[gr.Note, ...])
    assert_type(result.words, str)


def of_scores(scores: gr.Scores) -> None:
    assert_type(scores.run, str)
    assert_type(scores.queries, tuple[str, ...])
    assert_type(scores.measures, tuple[str, ...])
    assert_type(scores.convention, str)
    assert_type(scores.counts, Mapping[str, int])
    assert_type(scores.provenance, Mapping[str, Any])
    assert_type(scores.digest, str)
    assert_type(scores.mean, Mapping[str, float])
    assert_type(scores.std, Mapping[str, float])
    assert_type(scores.n, Mapping[str, int])
    assert_type(scores.per_query, Mapping[str, Mapping[str, float]])


def of_scores_by_run(scores_by_run: gr.ScoresByRun) -> None:
    assert_type(scores_by_run.mean, Mapping[str, Mapping[str, float]])


def of_explanation(explanation: gr.Explanation) -> None:
    assert_type(explanation.query, str)


def of_pair(pair: gr.Pair) -> None:
    assert_type(pair.measure, str)
    assert_type(pair.a, str)
    assert_type(pair.b, str)
    assert_type(pair.n, int)
    assert_type(pair.mean_a, float)
    assert_type(pair.mean_b, float)
    assert_type(pair.difference, float)
    assert_type(pair.interval, gr.Interval)
    assert_type(pair.effect, float)
    assert_type(pair.wins, int)
    assert_type(pair.ties, int)
    assert_type(pair.losses, int)
    assert_type(pair.p, float)
    assert_type(pair.p_adjusted, float)
    assert_type(pair.p_by_test, Mapping[str, float])
    assert_type(pair.detectable, float)
    assert_type(pair.queries_needed, int | None)
    assert_type(pair.caveats, tuple[gr.Note, ...])


def of_comparison(comparison: gr.Comparison) -> None:
    assert_type(comparison.runs, tuple[str, ...])
    assert_type(comparison.measures, tuple[str, ...])
    assert_type(comparison.queries, tuple[str, ...])
    assert_type(comparison.baseline, str | None)
    assert_type(comparison.primary, str)
    assert_type(comparison.statistics, gr.Statistics)
    assert_type(comparison.scores, gr.ScoresByRun)
    assert_type(comparison.pair, gr.Pair)


def of_standing(standing: gr.Standing) -> None:
    assert_type(standing.position, int)
    assert_type(standing.run, str)
    assert_type(standing.value, float)
    assert_type(standing.interval, gr.Interval)
    assert_type(standing.rank, tuple[int, int])


def of_leaderboard(leaderboard: gr.Leaderboard) -> None:
    assert_type(leaderboard.measure, str)
    assert_type(leaderboard.pairs, tuple[gr.Pair, ...])
    assert_type(leaderboard.may_be_best, tuple[str, ...])


def of_document_change(document_change: gr.DocumentChange) -> None:
    assert_type(document_change.doc, str)
    assert_type(document_change.grade, float)
    assert_type(document_change.before, int | None)
    assert_type(document_change.after, int | None)
    assert_type(document_change.cause, str)


def of_query_change(query_change: gr.QueryChange) -> None:
    assert_type(query_change.query, str)
    assert_type(query_change.before, float)
    assert_type(query_change.after, float)
    assert_type(query_change.cause, str)
    assert_type(query_change.documents, tuple[gr.DocumentChange, ...])


def of_diff(diff: gr.Diff) -> None:
    assert_type(diff.a, str)
    assert_type(diff.b, str)
    assert_type(diff.measure, str)
    assert_type(diff.k, int)
    assert_type(diff.difference, float)


def of_run_intervals(run_intervals: gr.RunIntervals) -> None:
    assert_type(run_intervals.run, str)
    assert_type(run_intervals.level, float)


def of_difference(difference: gr.Difference) -> None:
    assert_type(difference.measure, str)
    assert_type(difference.conventions, tuple[str, str])
    assert_type(difference.values, tuple[float, float])


def of_unjudged(unjudged: gr.Unjudged) -> None:
    assert_type(unjudged.query, str)
    assert_type(unjudged.doc, str)
    assert_type(unjudged.rank, int)
    assert_type(unjudged.gain, float)


def of_tuned_fusion(tuned_fusion: gr.TunedFusion) -> None:
    assert_type(tuned_fusion.fusion, gr.Fusion)
    assert_type(tuned_fusion.run, gr.Run)
    assert_type(tuned_fusion.value, float)
    assert_type(tuned_fusion.optimistic, float)
    assert_type(tuned_fusion.by_fold, tuple[gr.Fusion, ...])


def of_sweep_row(sweep_row: gr.SweepRow) -> None:
    assert_type(sweep_row.name, str)
    assert_type(sweep_row.mean, float)
    assert_type(sweep_row.interval, gr.Interval)
    assert_type(sweep_row.tokens, float)
    assert_type(sweep_row.causes, Mapping[str, int])
    assert_type(sweep_row.on_frontier, bool)


def of_sweep(sweep: gr.Sweep) -> None:
    assert_type(sweep.measure, str)
    assert_type(sweep.best, gr.SweepRow)


def of_needed(needed: gr.Needed) -> None:
    assert_type(needed.query, str)
    assert_type(needed.text, str)
    assert_type(needed.cause, str)
    assert_type(needed.why, str)


def of_causes(causes: gr.Causes) -> None:
    assert_type(causes.of_questions, Mapping[str, str])
    assert_type(causes.needed, tuple[gr.Needed, ...])


def of_abstention_curve(abstention_curve: gr.AbstentionCurve) -> None:
    assert_type(abstention_curve.best, float | None)


def of_corrected_value(corrected_value: gr.CorrectedValue) -> None:
    assert_type(corrected_value.measure, str)
    assert_type(corrected_value.run, str)
    assert_type(corrected_value.against, str | None)
    assert_type(corrected_value.by_people, float)
    assert_type(corrected_value.by_model, float)
    assert_type(corrected_value.value, float)
    assert_type(corrected_value.interval, gr.Interval)


def of_trend(trend: gr.Trend) -> None:
    assert_type(trend.measure, str)
    assert_type(trend.changes, tuple[str, ...])


def of_finding(finding: gr.Finding) -> None:
    assert_type(finding.rule, str)
    assert_type(finding.value, float)
    assert_type(finding.baseline, float | None)
    assert_type(finding.interval, gr.Interval | None)
    assert_type(finding.group, str | None)
    assert_type(finding.worst, tuple[gr.QueryChange, ...])


def of_verdict(verdict: gr.Verdict) -> None:
    assert_type(verdict.run, str)
    assert_type(verdict.baseline, str | None)
    assert_type(verdict.exit_code, Literal[0, 1, 2, 4])
    assert_type(verdict.failed, tuple[gr.Finding, ...])
    assert_type(verdict.judge_first, tuple[tuple[str, str], ...])
    assert_type(verdict.scores, gr.Scores)


def of_preference(preference: gr.Preference) -> None:
    assert_type(preference.share, float)
    assert_type(preference.interval, gr.Interval)
    assert_type(preference.p, float)


def of_advice(advice: gr.Advice) -> None:
    assert_type(advice.measures, tuple[str, ...])
