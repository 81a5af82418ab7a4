"""How a `Comparison` is made: score, align by query id, resample once, read off every pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias, overload

import numpy as np

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import InputError, MismatchError, OptionError, did_you_mean, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import JudgementsLike, MeasureLike, MeasuresLike, QueriesLike, RunsLike
from goldrank.comparison import intervals
from goldrank.comparison.design import Design, make_design
from goldrank.comparison.holes import depth_to_keep
from goldrank.comparison.pair import Pair
from goldrank.comparison.replicates import averaged, run_values
from goldrank.comparison.result import Comparison, Summary
from goldrank.comparison.settings import Statistics
from goldrank.comparison.slices import slice_names, with_slices
from goldrank.comparison.statistics import Compared, MeasureFacts, facts_of, on_scale
from goldrank.comparison.unjudged import placed_alike, with_holes
from goldrank.conventions import Convention
from goldrank.data.catalogue import Catalogue
from goldrank.data.qrels import Qrels
from goldrank.data.queries import Queries
from goldrank.data.query_costs import conversation_fields
from goldrank.data.runs import Runs
from goldrank.data.scores import Column, Scores, ScoresByRun
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import NO_CATALOGUE, as_judgements, resolve_measures, usual_measures, whole_depth
from goldrank.evaluation.pipeline import Placed
from goldrank.evaluation.rankings import score_runs
from goldrank.io import as_runs
from goldrank.io.by_id.query_files import read_queries
from goldrank.measures import Measure, parse_all
from goldrank.measures import known as known_measure

LENGTHS_DIFFER = 1.5
"""From this ratio of mean lengths of texts on, ranks are not comparable."""

ScoresLike: TypeAlias = "ScoresByRun | Mapping[str, Scores] | Iterable[Scores]"
"""The scores of several systems: what `evaluate` returns for `Runs`, scores by name, or a list of them."""


@overload
def compare(
    scores: ScoresLike,
    /,
    *,
    baseline: str | None = None,
    primary: MeasureLike | None = None,
    queries: QueriesLike | None = None,
    slice_by: str | Sequence[str] = (),
    statistics: Statistics = Statistics(),
) -> Comparison: ...
@overload
def compare(
    qrels: JudgementsLike,
    runs: RunsLike,
    measures: MeasuresLike = None,
    *,
    baseline: str | None = None,
    primary: MeasureLike | None = None,
    queries: QueriesLike | None = None,
    slice_by: str | Sequence[str] = (),
    statistics: Statistics = Statistics(),
) -> Comparison: ...
@named_arguments
def compare(
    qrels: JudgementsLike | ScoresLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike = None,
    *,
    baseline: str | None = None,
    primary: MeasureLike | None = None,
    queries: QueriesLike | None = None,
    slice_by: str | Sequence[str] = (),
    statistics: Statistics = Statistics(),
) -> Comparison:
    """Compare systems on the same queries: `compare(qrels, runs)`, or `compare(scores)` with the scores of each.

    `compare(qrels, runs, measures)` is `compare(evaluate(qrels, Runs(runs), measures))`. How runs are scored is said to
    `evaluate`: compare its scores to use another convention, a depth or a catalogue.

    Parameters
    ----------
    qrels : judgements, or the scores of several systems
        Judgements of any kind; or a `ScoresByRun`, scores by name, or a list of `Scores`, made now or loaded.
    runs : Runs, mapping or list
        Runs by name, a list of paths or of `Run`s, or a list of (name, run). A name that is given several times is one
        system that was run several times, which tells systems from seeds.
    measures : measures, optional
        What to measure.
    baseline : str, optional
        The system that all others are compared with. By default every pair is compared.
    primary : measure, optional
        The measure that decides; the others are then secondary.
    queries : Queries, optional
        What is known of queries. Those of one cluster are drawn together, weights say how much each counts, and texts
        are shown in reports.
    slice_by : str or list of str
        Attributes of `queries` by which results are broken down, or "relevant", "judged" or "length".
    statistics : Statistics
        How differences are decided.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If there are fewer than two systems, or they have no query or no measure in common.
    OptionError
        If an option cannot be combined with another.

    Examples
    --------
    >>> qrels = {f"q{i}": {"d": 1, "x": 0} for i in range(4)}
    >>> runs = {"a": {q: ["x", "d"] for q in qrels}, "b": {q: ["d", "x"] for q in qrels}}
    >>> compare(qrels, runs, "RR")["RR", "a", "b"].words
    'b is probably better than a (63%), not shown: +0.5000 RR (95% interval -0.3836 to +1.0000). Better on 4, worse on
    0, equal on 0 of 4 queries (p = 0.125). Only 4 of 4 queries differ: no test can decide.'
    >>> compare(evaluate(qrels, Runs(runs), "RR")).pair.difference
    0.5
    """
    query_table = None
    if queries is not None:
        query_table = read_queries(queries)
    names = slice_names(slice_by)
    if baseline is not None:
        of_type(baseline, str, "baseline", "the name of a system")
    of_type(statistics, Statistics, "statistics", "a Statistics", "For example statistics=Statistics(alpha=0.01).")

    if runs is not None:
        if _are_scores(qrels):
            raise _scored_already("runs")
        scores = scores_to_compare(qrels, as_runs(runs), measures, statistics)
    else:
        scores = _scores_of(qrels)
        if measures is not None:
            raise _scored_already("measures")
    return compare_scores(scores, CompareRequest(baseline, primary, query_table, names, statistics))


def scores_to_compare(
    qrels: JudgementsLike,
    runs: Runs,
    measures: MeasuresLike,
    statistics: Statistics,
    convention: Convention | None = None,
    catalogue: Catalogue = NO_CATALOGUE,
    depth: int | None = None,
) -> ScoresByRun:
    """What `evaluate` gives for runs, each of which is read once for all that a comparison looks at."""
    rules = convention or Convention()
    judgements = qrels if io.is_spark(qrels) else as_judgements(qrels, rules)
    resolved = resolve_measures(measures, rules, usual_measures(judgements))
    top = pipeline.wanted_top(resolved, catalogue)
    if statistics.unjudged == "check" and isinstance(judgements, Qrels):
        top = max(top, depth_to_keep(resolved, len(judgements)))

    return score_runs(judgements, runs, pipeline.Asked(resolved, rules, whole_depth(depth), top), catalogue)


@dataclass(frozen=True)
class CompareRequest:
    """What a caller asks of the scores of several systems."""

    baseline: str | None = None
    primary: MeasureLike | None = None
    queries: Queries | None = None
    slice_by: Sequence[str] = ()
    statistics: Statistics = Statistics()
    measures: MeasuresLike = None
    """The measures to compare by; None for all that the systems share."""


def compare_scores(scores: ScoresByRun, request: CompareRequest) -> Comparison:
    """The comparison of systems that were scored."""
    notes: list[Note] = []
    statistics = request.statistics

    replicates = _replicates(scores)
    systems = list(scores.values())
    if replicates:
        systems = [averaged(name, runs_of_system) for name, runs_of_system in replicates.items()]
    names = [system.run for system in systems]
    _check_names(names, request.baseline, scores)

    request = _with_conversations(request, systems)
    common, rows = _align(systems, notes)
    shared = _measures(systems, _requested_names(request.measures, systems), notes)
    by_measure = {name: _columns(name, systems) for name in shared}
    values = {name: _values(name, by_measure[name], rows, notes) for name in shared}

    facts = [facts_of(by_measure[name][0], values[name]) for name in shared]
    facts.sort(key=lambda measure_facts: measure_facts.diagnostic)  # what decides comes first
    primary = None
    if request.primary is not None:
        primary = _primary(request.primary, facts)
        facts.sort(key=lambda measure_facts: measure_facts.name != primary)

    design = make_design(common, request.queries, notes)
    _check_design(design, statistics, bool(replicates))
    _leave_out_weightless(values, design, notes)

    compared = Compared(
        names=names,
        values=values,
        replicates=run_values(replicates, {name: by_measure[name][0].average for name in shared}, common),
        facts=facts,
        pairs=_pairs_of(names, request.baseline),
        statistics=statistics,
        design=design,
        primary=primary,
    )
    tested = compared.tested()
    notes += _notes_on(systems, replicates, compared)

    first_runs = [runs[0] for runs in replicates.values()]
    placed_runs = placed_alike(first_runs or systems)
    if statistics.unjudged == "check":
        tested = _checked_for_unjudged(tested, placed_runs, compared, common, systems, notes)

    comparison = Comparison(
        runs=tuple(names),
        measures=tuple(measure_facts.name for measure_facts in facts),
        queries=common,
        values=values,
        summaries=_summaries(compared, by_measure),
        pairs=tuple(tested),
        baseline=request.baseline,
        statistics=statistics,
        named_primary=primary,
        notes=tuple(dict.fromkeys(notes)),
        scores=scores,
        systems=tuple(systems),
        placed=placed_runs,
        design=None if design.is_plain else design,
        replicates=replicates,
        known=request.queries,
    )
    _check_texts(comparison)
    if not request.slice_by and not comparison.texts:
        return comparison
    return with_slices(comparison, request.slice_by)


def _with_conversations(request: CompareRequest, systems: Sequence[Scores]) -> CompareRequest:
    """The request with what scores know of conversations: each is a cluster, and turns are a slice."""
    fields = conversation_fields(systems)
    if not fields:
        return request

    known = request.queries
    if known is None:
        known = Queries(fields)
    else:
        for name in ("cluster", "turn"):
            values = {query: of_query[name] for query, of_query in fields.items() if name in of_query}
            if values and not known.has(name):
                known = known.with_column(name, values)

    slice_by = list(request.slice_by)
    turns = {of_query["turn"] for of_query in fields.values() if "turn" in of_query}
    if len(turns) > 1 and "turn" not in slice_by:
        slice_by.append("turn")
    return replace(request, queries=known, slice_by=slice_by)


def _columns(measure: str, systems: Sequence[Scores]) -> list[Column]:
    return [system.columns[measure] for system in systems]


def _are_scores(source: object) -> bool:
    """Whether the first argument of `compare` is the scores of one system or several, and not judgements."""
    if isinstance(source, Scores | ScoresByRun):
        return True
    entries: Iterable[object] = ()
    if isinstance(source, list | tuple):
        entries = source
    elif isinstance(source, dict):
        entries = source.values()
    return any(isinstance(entry, Scores) for entry in entries)


def _scores_of(source: object) -> ScoresByRun:
    """The scores of several systems, from the first argument of `compare`."""
    if isinstance(source, ScoresByRun):
        return source

    systems: Any = source
    if isinstance(source, Scores):
        systems = [source]

    entries: list[Any] = []
    if isinstance(systems, Mapping):
        entries = list(systems.values())
    elif isinstance(systems, Iterable) and not isinstance(systems, str | bytes):
        entries = list(systems)

    if any(_are_scores(entry) for entry in entries if isinstance(entry, list | tuple)):
        raise _runs_of_a_system()
    if not any(isinstance(entry, Scores) for entry in entries):
        raise _nothing_to_compare()

    if not all(isinstance(entry, Scores) for entry in entries):
        message = "some of the systems are Scores and others are not"
        raise InputError(message, hint="Evaluate all of them first.", code="mixed-systems")

    if isinstance(systems, Mapping):
        return ScoresByRun(systems)
    return ScoresByRun(entries)


def _nothing_to_compare() -> InputError:
    message = "there is nothing to compare: neither runs nor the scores of several systems"
    hint = "Either compare(qrels, runs), or compare(scores) with a list or mapping of Scores."
    return InputError(message, hint=hint, code="nothing-to-compare")


def _runs_of_a_system() -> InputError:
    message = "a system has several scores"
    hint = "Runs of one system are pairs: compare(ScoresByRun([('dense', scores), ('dense', scores)]))."
    return InputError(message, hint=hint, code="several-scores")


def _scored_already(argument: str) -> InputError:
    message = f"scores are compared as they are; {argument} has no meaning for them"
    hint = (
        "compare({'old': scores, 'new': other_scores}) compares scores; compare(qrels, runs, measures) measures first."
    )
    return InputError(message, hint=hint, code="no-meaning-for-scores")


def _replicates(scores: ScoresByRun) -> dict[str, tuple[Scores, ...]]:
    """The scores of each system's runs, if a system was run several times; else nothing."""
    if all(len(runs) == 1 for runs in scores.systems.values()):
        return {}
    replicates = {}
    for name, runs in scores.systems.items():
        replicates[name] = tuple(scores[run] for run in runs)
    return replicates


def _pairs_of(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(names, 2))
    return [(baseline, name) for name in names if name != baseline]


def _requested_names(requested: MeasuresLike, systems: Sequence[Scores]) -> set[str] | None:
    if requested is None:
        return None
    return {_spelled(measure, systems) for measure in parse_all(requested)}


def _notes_on(systems: Sequence[Scores], replicates: Mapping[str, Sequence[Scores]], compared: Compared) -> list[Note]:
    """What a reader must know about the systems and measures that are compared."""
    notes: list[Note] = []
    single_runs = [name for name, runs in replicates.items() if len(runs) == 1]
    if single_runs:
        notes.append(Note.of("single-runs", systems=", ".join(map(ids.show, single_runs))))

    design = compared.design
    if design.weights is not None:
        notes.append(Note.of("effective-queries", count=design.effective, queries=len(design.weights)))

    unbounded = [
        measure_facts.name
        for measure_facts in compared.facts
        if not measure_facts.is_bounded and not measure_facts.diagnostic
    ]
    if unbounded:
        code = "no-bounds"
        if compared.statistics.interval == "bounded":
            code = "no-bounded-interval"
        notes.append(Note.of(code, measures=", ".join(unbounded)))

    measures = list(compared.values)
    return [
        *notes,
        *different_lengths(systems, measures),
        *_unequal_weights(systems, compared.values),
        *scored_notes(systems),
    ]


def _checked_for_unjudged(
    tested: list[Pair],
    placed_runs: Sequence[Placed],
    compared: Compared,
    common: Sequence[str],
    systems: Sequence[Scores],
    notes: list[Note],
) -> list[Pair]:
    """The pairs, each with what unjudged documents mean for it; a note where that is not known."""
    reason = ""
    if compared.replicates:
        reason = "several runs per system"
    elif not placed_runs:
        reason = "scores do not tell the documents"
    elif placed_runs[0].rules.ties == "expected":
        reason = "values are means over the orders of tied documents"
    if not reason:
        tested, remarks = with_holes(tested, placed_runs, compared, common)
        notes += remarks
        return tested

    # Texts are all judged: by their matcher.
    unjudged = any(
        system.counts.get("judged_retrieved", math.inf) < system.counts.get("retrieved", 0) for system in systems
    )
    if unjudged:
        notes.append(Note.of("holes-not-looked-at", why=reason))
    return tested


def _primary(spelling: MeasureLike, facts: Sequence[MeasureFacts]) -> str:
    """The full name of the measure that decides."""
    (primary,) = (str(measure) for measure in parse_all(spelling))
    names = [measure_facts.name for measure_facts in facts]
    matching = [name for name in names if name == primary]
    if not matching:
        # A convention may have given the measure options that its short spelling does not show.
        matching = [name for name in names if _plain_name(name) == primary]

    if len(matching) != 1:
        message = f"the primary measure {primary} is not among those compared: {', '.join(names)}"
        hint = did_you_mean(primary, names) or "Name it among the measures too."
        raise OptionError(message, hint=hint, code="not-compared")
    if next(measure_facts for measure_facts in facts if measure_facts.name == matching[0]).diagnostic:
        message = f"{matching[0]} is a diagnostic, by which no system is better"
        raise OptionError(message, hint="Name another measure.", code="diagnostic-measure")
    return matching[0]


def _plain_name(measure: str) -> str:
    """A measure's name and cut-off without its options."""
    name, _, options_and_cutoff = measure.partition("(")
    return name + options_and_cutoff.rpartition(")")[2]


def _leave_out_weightless(values: dict[str, np.ndarray], design: Design, notes: list[Note]) -> None:
    """Queries that weigh nothing count nowhere."""
    if design.weights is None or design.weights.all():
        return
    weightless = design.weights == 0
    for measure, matrix in values.items():
        values[measure] = np.where(weightless, np.nan, matrix)
        if np.isnan(values[measure][0]).all():
            message = f"all queries that count for {measure} weigh 0"
            raise InputError(message, hint="Give some of them a weight above 0.", code="weights-are-zero")
    notes.append(Note.of("weightless-queries", count=int(weightless.sum()), queries=len(weightless)))


def _check_design(design: Design, statistics: Statistics, has_replicates: bool) -> None:
    """Refuse combinations of options that no method supports."""
    if has_replicates and statistics.interval == "bounded":
        message = "interval='bounded' knows nothing of how runs vary"
        raise OptionError(message, hint="Use interval='standard'.", code="options-conflict")

    if design.is_plain:
        return

    refused = {
        "several runs per system": has_replicates,
        "correction='tukey'": statistics.used_correction == "tukey",
        "interval='bounded'": statistics.interval == "bounded",
    }
    for option, is_used in refused.items():
        if is_used:
            message = f"{option} cannot be combined with clusters or weights"
            raise OptionError(message, hint="Leave one of them out.", code="options-conflict")


def _summaries(compared: Compared, by_measure: Mapping[str, Sequence[Column]]) -> dict[tuple[str, str], Summary]:
    """The mean of each system by each measure."""
    summaries = {}
    for facts in compared.facts:
        columns = by_measure[facts.name]
        for i, system in enumerate(compared.names):
            values = compared.values[facts.name][i]
            summaries[facts.name, system] = _summary(values, columns[i], facts, compared.statistics, compared.design)
    return summaries


def _summary(
    values: np.ndarray, column: Column, facts: MeasureFacts, statistics: Statistics, design: Design
) -> Summary:
    """One system's mean with its interval."""
    counted = ~np.isnan(values)
    n = int(counted.sum())
    units, weights = design.part(counted)
    interval = intervals.mean_interval(
        values[counted], level=statistics.level, low=facts.low, high=facts.high, units=units, weights=weights
    )

    mean = design.mean(values[counted], counted)
    summary = column.summary
    if design.weights is not None:
        summary = mean
        if column.average == "geometric":
            summary = math.exp(mean)
        elif column.average == "sum":
            summary = mean * n

    return Summary(mean, interval, summary, column.average, n)


def _check_texts(comparison: Comparison) -> None:
    """Refuse texts if no query of the comparison has one."""
    query_table = comparison.known
    if query_table is not None and query_table.has("text") and not comparison.texts:
        raise InputError("no query of the comparison has a text", hint="Are the ids the same?", code="no-texts")


def _spelled(measure: Measure, systems: Sequence[Scores]) -> str:
    """A measure as the first system that has it spells it."""
    return next((system.spelled(measure) for system in systems if str(measure) in system), str(measure))


def _check_names(names: Sequence[str], baseline: str | None, scores: ScoresByRun) -> None:
    if len(names) < 2:
        message = f"a comparison needs at least two systems, {len(names)} given"
        hint = "To score one, use evaluate."
        if len(scores) > 1:
            hint = f"All {len(scores)} are named '{ids.show(names[0])}': name them apart with scores.renamed(name)."
        raise InputError(message, hint=hint, code="too-few-systems")

    if baseline is not None and baseline not in names:
        listed = ", ".join(map(ids.show, names))
        message = f"no system is named '{ids.show(str(baseline))}'; there are: {listed}"
        raise InputError(message, hint=did_you_mean(baseline, names), code="unknown-system")


def _align(scores: Sequence[Scores], notes: list[Note]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """The queries that all systems have, and their positions in each system."""
    first = scores[0].queries
    if all(system.queries == first for system in scores):
        all_positions = np.arange(len(first))
        return first, [all_positions] * len(scores)

    common = set(first).intersection(*(system.queries for system in scores[1:]))
    sizes = ", ".join(f"{ids.show(system.run)} {len(system.queries):,}" for system in scores)
    if not common:
        samples = "; ".join(f"{ids.show(system.run)}: {ids.samples(system.queries)}" for system in scores[:3])
        message = f"the systems have no query in common ({sizes} queries)"
        raise MismatchError(message, hint=samples, code="no-common-queries")

    if any(len(system.queries) != len(common) for system in scores):
        notes.append(Note.of("common-queries", count=len(common), all="all systems", sizes=sizes))

    ordered = tuple(query for query in first if query in common)
    rows = []
    for system in scores:
        position = {query: i for i, query in enumerate(system.queries)}
        rows.append(np.array([position[query] for query in ordered], np.int64))

    return ordered, rows


def _measures(scores: Sequence[Scores], requested: set[str] | None, notes: list[Note]) -> list[str]:
    """The measures that all systems have, in order."""
    listed = list(dict.fromkeys(name for system in scores for name in system.columns))
    measured_by_all = set(listed).intersection(*(system.columns for system in scores))
    shared = [name for name in listed if name in measured_by_all]
    if requested is not None:
        for absent in sorted(requested - set(shared)):
            lacking = ", ".join(ids.show(system.run) for system in scores if absent not in system.columns)
            message = f"{absent} was not measured for {lacking}"
            raise InputError(message, hint="Evaluate all systems with it.", code="not-measured")
        return [name for name in shared if name in requested]

    if not shared:
        hint = "Evaluate them with the same measures."
        raise InputError("the systems have no measure in common", hint=hint, code="no-common-measures")

    left_out = [name for name in listed if name not in shared]
    if left_out:
        notes.append(Note.of("left-out-measures", measures=", ".join(left_out)))

    return shared


def _values(measure: str, columns: Sequence[Column], rows: Sequence[np.ndarray], notes: list[Note]) -> np.ndarray:
    matrix = np.array([column.values[positions] for column, positions in zip(columns, rows, strict=True)])
    kinds = {column.average for column in columns}
    if "geometric" in kinds:
        matrix = on_scale(matrix, "geometric")
        notes.append(Note.of("on-logarithm", measure=measure))

    if "sum" in kinds:
        notes.append(Note.of("mean-of-sum", measure=measure))

    undefined = ~np.isfinite(matrix)
    dropped = undefined.any(axis=0)
    if dropped.all():
        message = f"{measure} has no value that counts on any query"
        raise InputError(message, hint="Leave this measure out.", code="no-values")

    if dropped.any():
        matrix[:, dropped] = np.nan
        counted = int((~dropped).sum())
        notes.append(Note.of("partly-compared", measure=measure, count=counted, queries=matrix.shape[1]))

    return matrix


def _unequal_weights(scores: Sequence[Scores], values: Mapping[str, np.ndarray]) -> list[Note]:
    """Pairs whose order on their own queries is not their order on the same queries (Simpson's paradox)."""
    notes = []
    for measure, matrix in values.items():
        columns = [system.columns[measure] for system in scores]
        if columns[0].average != "mean" or all(len(column.values) == matrix.shape[1] for column in columns):
            continue
        means = np.nanmean(matrix, axis=1)
        for i, j in combinations(range(len(scores)), 2):
            own = columns[j].summary - columns[i].summary
            if not own * (means[j] - means[i]) < 0:
                continue
            ahead, behind = scores[j].run, scores[i].run
            if own < 0:
                ahead, behind = behind, ahead
            notes.append(Note.of("simpson", measure=measure, ahead=ids.show(ahead), behind=ids.show(behind)))

    return notes


def different_lengths(scores: Sequence[Scores], measures: Sequence[str]) -> list[Note]:
    """A warning where measures of ranks compare systems whose texts are not alike in length: a rank is a text."""
    means = {
        system.run: system.counts["characters"] / system.counts["retrieved"]
        for system in scores
        if system.counts.get("characters") and system.counts.get("retrieved")
    }
    ranked = [name for name in measures if _reads_ranks(name)]
    if len(means) < 2 or not ranked:
        return []

    shorter = min(means, key=lambda run: means[run])
    longer = max(means, key=lambda run: means[run])
    if means[longer] < LENGTHS_DIFFER * means[shorter]:
        return []

    facts = {"longer": ids.show(longer), "shorter": ids.show(shorter), "measures": ", ".join(ranked)}
    return [Note.of("different-lengths", long=means[longer], short=means[shorter], **facts)]


def _reads_ranks(name: str) -> bool:
    """Whether the value of a measure depends on how a source is cut into texts."""
    measure = known_measure(name)
    if measure is None:
        return False
    declared = measure.declaration
    if declared.diagnostic or measure.option("tokens") is not None:
        return False
    if measure.k is not None:
        return True
    return declared.over == "placements" and declared.ties != "unordered"


def scored_notes(scores: Sequence[Scores]) -> list[Note]:
    """The notes of the single systems: once where all systems share them."""
    shared = []
    for note in scores[0].notes:
        if all(note in system.notes for system in scores):
            shared.append(note)

    notes = list(shared)
    for system in scores:
        notes += [note.with_about(ids.show(system.run)) for note in system.notes if note not in shared]
    return notes
