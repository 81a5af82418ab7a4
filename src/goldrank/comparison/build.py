"""How a `Comparison` is made: score, align by query id, resample once, read off every pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from goldrank.data.runs import Runs
from goldrank.data.scores import Column, Scores, ScoresByRun
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import NO_CATALOGUE, as_judgements, resolve_measures, whole_depth
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
    known = None if queries is None else read_queries(queries)
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
    return compare_scores(scores, CompareRequest(baseline, primary, known, names, statistics))


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
    wanted = resolve_measures(measures, rules)
    top = pipeline.wanted_top(wanted, catalogue)
    if statistics.unjudged == "check" and isinstance(judgements, Qrels):
        top = max(top, depth_to_keep(wanted, len(judgements)))

    return score_runs(judgements, runs, pipeline.Asked(wanted, rules, whole_depth(depth), top), catalogue)


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
        systems = [averaged(name, of_system) for name, of_system in replicates.items()]
    names = [system.run for system in systems]
    _check_names(names, request.baseline, scores)

    common, rows = _align(systems, notes)
    shared = _measures(systems, _asked(request.measures, systems), notes)
    by_measure = {name: [system.columns[name] for system in systems] for name in shared}
    values = {name: _values(name, by_measure[name], rows, notes) for name in shared}

    facts = [facts_of(by_measure[name][0], values[name]) for name in shared]
    facts.sort(key=lambda about: about.diagnostic)  # what decides comes first
    primary = None if request.primary is None else _primary(request.primary, facts)
    if primary is not None:
        facts.sort(key=lambda about: about.name != primary)

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

    placed = placed_alike([runs_of[0] for runs_of in replicates.values()] or systems)
    if statistics.unjudged == "check":
        known_places = () if replicates else placed
        tested = _checked_for_unjudged(tested, known_places, compared, common, systems, notes)

    comparison = Comparison(
        runs=tuple(names),
        measures=tuple(about.name for about in facts),
        queries=common,
        values=values,
        summaries={
            (about.name, name): _summary(values[about.name][i], by_measure[about.name][i], about, statistics, design)
            for about in facts
            for i, name in enumerate(names)
        },
        pairs=tuple(tested),
        baseline=request.baseline,
        statistics=statistics,
        named_primary=primary,
        notes=tuple(dict.fromkeys(notes)),
        scores=scores,
        systems=tuple(systems),
        placed=placed,
        design=None if design.is_plain else design,
        replicates=replicates,
        known=request.queries,
    )
    _check_texts(comparison)
    if not request.slice_by and not comparison.texts:
        return comparison
    return with_slices(comparison, request.slice_by)


def _are_scores(given: object) -> bool:
    """Whether what stands in the place of judgements is scores of one system or several."""
    if isinstance(given, Scores | ScoresByRun):
        return True
    entries: Iterable[object] = ()
    if isinstance(given, list | tuple):
        entries = given
    elif isinstance(given, dict):
        entries = given.values()
    return any(isinstance(entry, Scores) for entry in entries)


def _scores_of(given: object) -> ScoresByRun:
    """The scores of several systems, from what `compare` takes in the place of judgements."""
    if isinstance(given, ScoresByRun):
        return given

    listed: Any = given
    if isinstance(given, Scores):
        listed = [given]

    values = list(listed.values()) if isinstance(listed, Mapping) else listed
    is_list = isinstance(values, Iterable) and not isinstance(values, str | bytes)
    entries = list(values) if is_list else []
    if any(_are_scores(entry) for entry in entries if isinstance(entry, list | tuple)):
        raise _runs_of_a_system()
    if not any(isinstance(entry, Scores) for entry in entries):
        raise _nothing_to_compare()

    if not all(isinstance(entry, Scores) for entry in entries):
        what = "some of the systems are Scores and others are not"
        raise InputError(what, hint="Evaluate all of them first.", code="mixed-systems")

    return ScoresByRun(listed if isinstance(listed, Mapping) else entries)


def _nothing_to_compare() -> InputError:
    what = "there is nothing to compare: neither runs nor the scores of several systems"
    hint = "Either compare(qrels, runs), or compare(scores) with a list or mapping of Scores."
    return InputError(what, hint=hint, code="nothing-to-compare")


def _runs_of_a_system() -> InputError:
    what = "a system has several scores"
    hint = "Runs of one system are pairs: compare(ScoresByRun([('dense', scores), ('dense', scores)]))."
    return InputError(what, hint=hint, code="several-scores")


def _scored_already(argument: str) -> InputError:
    what = f"scores are compared as they are; {argument} has no meaning for them"
    hint = "Either compare(qrels, runs, measures), or compare(evaluate(qrels, Runs(runs), measures))."
    return InputError(what, hint=hint, code="no-meaning-for-scores")


def _replicates(scores: ScoresByRun) -> dict[str, tuple[Scores, ...]]:
    """The scores of each system's runs, if a system was run several times; else nothing."""
    if all(len(runs) == 1 for runs in scores.systems.values()):
        return {}
    return {name: tuple(scores[run] for run in runs) for name, runs in scores.systems.items()}


def _pairs_of(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(names, 2))
    return [(baseline, other) for other in names if other != baseline]


def _asked(measures: MeasuresLike, systems: Sequence[Scores]) -> set[str] | None:
    if measures is None:
        return None
    return {_spelled(measure, systems) for measure in parse_all(measures)}


def _notes_on(systems: Sequence[Scores], replicates: Mapping[str, Sequence[Scores]], compared: Compared) -> list[Note]:
    """What a reader must know of the systems and measures that are compared."""
    notes: list[Note] = []
    single = [name for name, runs_of in replicates.items() if len(runs_of) == 1]
    if single:
        notes.append(Note.of("single-runs", systems=", ".join(map(ids.show, single))))

    design = compared.design
    if design.weights is not None:
        notes.append(Note.of("effective-queries", count=design.effective, queries=len(design.weights)))

    unbounded = [about.name for about in compared.facts if not about.is_bounded and not about.diagnostic]
    if unbounded:
        code = "no-bounded-interval" if compared.statistics.interval == "bounded" else "no-bounds"
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
    placed: Sequence[Placed],
    compared: Compared,
    common: Sequence[str],
    systems: Sequence[Scores],
    notes: list[Note],
) -> list[Pair]:
    """The pairs, each with what unjudged documents mean for it; a note where that cannot be told."""
    why = ""
    if compared.replicates:
        why = "several runs per system"
    elif not placed:
        why = "scores do not tell the documents"
    elif placed[0].rules.ties == "expected":
        why = "values are means over the orders of tied documents"
    if not why:
        tested, remarks = with_holes(tested, placed, compared, common)
        notes += remarks
        return tested

    # Texts are all judged: by their matcher.
    unjudged = any(s.counts.get("judged_retrieved", math.inf) < s.counts.get("retrieved", 0) for s in systems)
    if unjudged:
        notes.append(Note.of("holes-not-looked-at", why=why))
    return tested


def _primary(given: MeasureLike, facts: Sequence[MeasureFacts]) -> str:
    """The full name of the measure that decides."""
    (wanted,) = (str(measure) for measure in parse_all(given))
    names = [about.name for about in facts]
    # A convention may have given the measure options that its short spelling does not show.
    matching = [name for name in names if name == wanted] or [name for name in names if _plain_name(name) == wanted]
    if len(matching) != 1:
        what = f"the primary measure {wanted} is not among those compared: {', '.join(names)}"
        hint = did_you_mean(wanted, names) or "Name it among the measures too."
        raise OptionError(what, hint=hint, code="not-compared")
    if next(about for about in facts if about.name == matching[0]).diagnostic:
        what = f"{matching[0]} is a diagnostic, by which no system is better"
        raise OptionError(what, hint="Name another measure.", code="diagnostic-measure")
    return matching[0]


def _plain_name(measure: str) -> str:
    """A measure's name and cut-off without its options."""
    head, _, tail = measure.partition("(")
    return head + tail.rpartition(")")[2]


def _leave_out_weightless(values: dict[str, np.ndarray], design: Design, notes: list[Note]) -> None:
    """Queries that weigh nothing count nowhere."""
    if design.weights is None or design.weights.all():
        return
    weightless = design.weights == 0
    for measure, matrix in values.items():
        values[measure] = np.where(weightless, np.nan, matrix)
        if np.isnan(values[measure][0]).all():
            what = f"all queries that count for {measure} weigh 0"
            raise InputError(what, hint="Give some of them a weight above 0.", code="weights-are-zero")
    notes.append(Note.of("weightless-queries", count=int(weightless.sum()), queries=len(weightless)))


def _check_design(design: Design, statistics: Statistics, has_replicates: bool) -> None:
    """Refuse what no method here is right for."""
    if has_replicates and statistics.interval == "bounded":
        what = "interval='bounded' knows nothing of how runs vary"
        raise OptionError(what, hint="Use interval='standard'.", code="options-conflict")

    if design.is_plain:
        return

    refused = {
        "several runs per system": has_replicates,
        "correction='tukey'": statistics.used_correction == "tukey",
        "interval='bounded'": statistics.interval == "bounded",
    }
    for what, is_asked in refused.items():
        if is_asked:
            text = f"{what} cannot be combined with clusters or weights"
            raise OptionError(text, hint="Leave one of them out.", code="options-conflict")


def _summary(
    values: np.ndarray, column: Column, about: MeasureFacts, statistics: Statistics, design: Design
) -> Summary:
    """One system's mean with its interval."""
    counted = ~np.isnan(values)
    part, n = design.part(counted)._asdict(), int(counted.sum())
    interval = intervals.mean_interval(values[counted], level=statistics.level, low=about.low, high=about.high, **part)
    mean, shown = design.mean(values[counted], counted), column.summary
    if design.weights is not None:
        shown = mean
        if column.average == "geometric":
            shown = math.exp(mean)
        elif column.average == "sum":
            shown = mean * n
    return Summary(mean, interval, shown, column.average, n)


def _check_texts(comparison: Comparison) -> None:
    """Refuse texts of which none is about a query of the comparison."""
    known = comparison.known
    if known is not None and known.has("text") and not comparison.texts:
        raise InputError("no query of the comparison has a text", hint="Are the ids the same?", code="no-texts")


def _spelled(measure: Measure, systems: Sequence[Scores]) -> str:
    """A measure as the first system that has it spells it."""
    return next((system.spelled(measure) for system in systems if str(measure) in system), str(measure))


def _check_names(names: Sequence[str], baseline: str | None, scores: ScoresByRun) -> None:
    if len(names) < 2:
        what = f"a comparison needs at least two systems, {len(names)} given"
        hint = "To score one, use evaluate."
        if len(scores) > 1:
            hint = f"All {len(scores)} are named '{ids.show(names[0])}': name them apart with scores.renamed(name)."
        raise InputError(what, hint=hint, code="too-few-systems")
    if baseline is not None and baseline not in names:
        listed = ", ".join(map(ids.show, names))
        what = f"no system is named '{ids.show(str(baseline))}'; there are: {listed}"
        raise InputError(what, hint=did_you_mean(baseline, names), code="unknown-system")


def _align(scores: Sequence[Scores], notes: list[Note]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """The queries that all systems have, and where they are in each system."""
    first = scores[0].queries
    if all(system.queries == first for system in scores):
        every = np.arange(len(first))
        return first, [every] * len(scores)

    common = set(first).intersection(*(system.queries for system in scores[1:]))
    sizes = ", ".join(f"{ids.show(system.run)} {len(system.queries):,}" for system in scores)
    if not common:
        samples = "; ".join(f"{ids.show(system.run)}: {ids.samples(system.queries)}" for system in scores[:3])
        what = f"the systems have no query in common ({sizes} queries)"
        raise MismatchError(what, hint=samples, code="no-common-queries")

    if any(len(system.queries) != len(common) for system in scores):
        notes.append(Note.of("common-queries", count=len(common), all="all systems", sizes=sizes))

    ordered = tuple(query for query in first if query in common)
    rows = []
    for system in scores:
        position = {query: i for i, query in enumerate(system.queries)}
        rows.append(np.array([position[query] for query in ordered], np.int64))

    return ordered, rows


def _measures(scores: Sequence[Scores], asked: set[str] | None, notes: list[Note]) -> list[str]:
    """The measures that all systems have, in order."""
    listed = list(dict.fromkeys(name for system in scores for name in system.columns))
    shared = [name for name in listed if all(name in system.columns for system in scores)]
    if asked is not None:
        for absent in sorted(asked - set(shared)):
            lacking = ", ".join(ids.show(system.run) for system in scores if absent not in system.columns)
            what = f"{absent} was not measured for {lacking}"
            raise InputError(what, hint="Evaluate all systems with it.", code="not-measured")
        return [name for name in shared if name in asked]

    if not shared:
        hint = "Evaluate them with the same measures."
        raise InputError("the systems have no measure in common", hint=hint, code="no-common-measures")

    left_out = [name for name in listed if name not in shared]
    if left_out:
        notes.append(Note.of("left-out-measures", measures=", ".join(left_out)))

    return shared


def _values(measure: str, columns: Sequence[Column], rows: Sequence[np.ndarray], notes: list[Note]) -> np.ndarray:
    matrix = np.array([column.values[at] for column, at in zip(columns, rows, strict=True)])
    kinds = {column.average for column in columns}
    if "geometric" in kinds:
        matrix = on_scale(matrix, "geometric")
        notes.append(Note.of("on-logarithm", measure=measure))

    if "sum" in kinds:
        notes.append(Note.of("mean-of-sum", measure=measure))

    absent = ~np.isfinite(matrix)
    dropped = absent.any(axis=0)
    if dropped.all():
        what = f"{measure} has no value that counts on any query"
        raise InputError(what, hint="Leave this measure out.", code="no-values")

    if dropped.any():
        matrix[:, dropped] = np.nan
        kept = int((~dropped).sum())
        notes.append(Note.of("partly-compared", measure=measure, count=kept, queries=matrix.shape[1]))

    return matrix


def _unequal_weights(scores: Sequence[Scores], values: Mapping[str, np.ndarray]) -> list[Note]:
    """Pairs whose order on their own queries is not their order on the same queries (Simpson's paradox)."""
    notes = []
    for measure, matrix in values.items():
        columns = [system.columns[measure] for system in scores]
        if columns[0].average != "mean" or all(len(column.values) == matrix.shape[1] for column in columns):
            continue
        same = np.nanmean(matrix, axis=1)
        for i, j in combinations(range(len(scores)), 2):
            own = columns[j].summary - columns[i].summary
            if own * (same[j] - same[i]) < 0:
                ahead, behind = (ids.show(scores[x].run) for x in ((j, i) if own > 0 else (i, j)))
                notes.append(Note.of("simpson", measure=measure, ahead=ahead, behind=behind))
    return notes


def different_lengths(scores: Sequence[Scores], measures: Sequence[str]) -> list[Note]:
    """A warning where measures of ranks compare systems whose texts are not alike in length: a rank is a text."""
    means = {
        system.run: system.counts["characters"] / system.counts["retrieved"]
        for system in scores
        if system.counts.get("characters") and system.counts.get("retrieved")
    }
    ranked = [name for name in measures if (measure := known_measure(name)) is not None and _reads_ranks(measure)]
    if len(means) < 2 or not ranked:
        return []

    shorter, longer = min(means, key=lambda run: means[run]), max(means, key=lambda run: means[run])
    if means[longer] < LENGTHS_DIFFER * means[shorter]:
        return []

    facts = {"longer": ids.show(longer), "shorter": ids.show(shorter), "measures": ", ".join(ranked)}
    return [Note.of("different-lengths", long=means[longer], short=means[shorter], **facts)]


def _reads_ranks(measure: Measure) -> bool:
    """Whether its value depends on how many texts something takes."""
    declared = measure.declaration
    if declared.diagnostic or measure.option("tokens") is not None:
        return False
    return measure.k is not None or (declared.over == "placements" and declared.ties != "unordered")


def scored_notes(scores: Sequence[Scores]) -> list[Note]:
    """The notes of the single systems: once where all systems share them."""
    shared = [note for note in scores[0].notes if all(note in system.notes for system in scores)]
    return shared + [
        note.with_about(ids.show(system.run)) for system in scores for note in system.notes if note not in shared
    ]
