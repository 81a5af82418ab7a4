"""How a `Comparison` is made: score, align by query id, resample once, read off every pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, Unpack, overload

import numpy as np

from goldrank import conventions, ids
from goldrank.comparison import intervals
from goldrank.comparison.corrected import CorrectedValues, corrected_comparison
from goldrank.comparison.curves import curve_measures, curves_of
from goldrank.comparison.design import Design, make_design
from goldrank.comparison.metadata import Attribute, QueryValues, document_texts, lookup
from goldrank.comparison.pair import Pair
from goldrank.comparison.replicates import averaged, flattened, run_values
from goldrank.comparison.result import Comparison, Summary
from goldrank.comparison.settings import CompareOptions, Settings
from goldrank.comparison.slices import with_slices
from goldrank.comparison.statistics import Compared, MeasureFacts, facts_of, on_scale
from goldrank.comparison.unjudged import placed_alike, with_holes
from goldrank.data.scores import Column, Scores
from goldrank.errors import InputError, MismatchError, OptionError, did_you_mean, of_type, one_of
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve, resolve_measures
from goldrank.evaluation.pipeline import Placed
from goldrank.evaluation.recommending import Background
from goldrank.io.columns import Columns
from goldrank.measures import Measure, parse_all
from goldrank.measures import known as known_measure
from goldrank.misuse import checked
from goldrank.notes import Note
from goldrank.types import (
    CatalogueLike,
    ConventionLike,
    HistoryLike,
    MeasureLike,
    MeasuresLike,
    Policies,
    QrelsLike,
    RunLike,
    RunsLike,
)

LENGTHS_DIFFER = 1.5
"""From this ratio of mean lengths of texts on, ranks are not comparable."""
ALIGN = {
    "common": "only queries that all systems have scores for are compared; the counts are shown",
    "error": "different sets of queries are an error",
}


ScoresLike: TypeAlias = "Mapping[str, Scores] | Sequence[Scores]"
"""The scores of several systems: by name, or a list. What `evaluate` returns for several runs is one."""


@overload
def compare(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = None,
    *,
    judged_by: Literal["corrected"],
    **options: Unpack[CompareOptions],
) -> CorrectedValues: ...
@overload
def compare(
    qrels: QrelsLike | ScoresLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike = None,
    *,
    judged_by: Literal["human", "model"] | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison: ...
@checked
def compare(
    qrels: QrelsLike | ScoresLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike = None,
    *,
    baseline: str | None = None,
    primary: MeasureLike | None = None,
    clusters: Attribute = None,
    weights: Attribute = None,
    seed: int = 0,
    slice_by: Mapping[str, Attribute] | None = None,
    queries: QueryValues | None = None,
    documents: QueryValues | Callable[[str], Any] | None = None,
    convention: ConventionLike = "trec_eval-10",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    relevant_from: float | None = None,
    align: str = "common",
    curves: bool = True,
    test: str = "randomization",
    correction: str | None = None,
    interval: str = "standard",
    alpha: float = 0.05,
    power: float = 0.8,
    margin: float | None = None,
    samples: int = 10_000,
    holes: str = "look",
    max_memory: str | int | None = None,
    train: HistoryLike | None = None,
    catalogue: CatalogueLike | None = None,
    against: RunLike | None = None,
    seen: str = "remove",
    judged_by: str | None = None,
    **policies: Unpack[Policies],
) -> Any:  # a Comparison, or CorrectedValues: see the overloads
    """Compare systems on the same queries: `compare(qrels, runs)`, or `compare(scores)` with the scores of each.

    `runs` is a mapping from names to runs, or a list of paths; `scores` a mapping from names to `Scores`, or a list
    of them, made now or saved earlier. With a `baseline` every other system is compared with it, else every pair.
    A list of runs under one name is one system that was run several times, which tells systems from seeds.

    With a `primary` measure that one decides, and the others are secondary. `clusters` says which queries belong
    together (paraphrases, one user) and `weights` what each counts (traffic): by query id, as a function of it, a JSONL
    file or a data frame with a column 'cluster' or 'weight'. `slice_by` names attributes of queries: for each a dict, a
    function of the query id, or None for one of the automatic ones; `queries` gives the texts of the queries, by id,
    and `documents` texts or titles of documents, for reports.
    A verdict that unjudged documents could turn is withheld, unless `holes="ignore"`. Policies, `format`,
    `columns`, `relevant_from`, `max_memory`, `judged_by`, `train`, `catalogue`, `against` and `seen` are those of
    `evaluate`; with judged_by="corrected" the result is `CorrectedValues`, with a verdict for each pair.
    The result is the same for the same `seed`.

    >>> qrels = {f"q{i}": {"d": 1, "x": 0} for i in range(4)}
    >>> runs = {"a": {q: ["x", "d"] for q in qrels}, "b": {q: ["d", "x"] for q in qrels}}
    >>> compare(qrels, runs, "RR")["RR", "a", "b"].words
    'No clear difference between b and a: +0.5000 RR (95% interval -0.3836 to +1.0000); better on 4, worse on 0,
    equal on 0 of 4 queries (p = 0.125). Only 4 of 4 queries differ: no test can decide.'
    >>> compare(evaluate(qrels, runs, "RR"))["RR", "a", "b"].difference
    0.5
    """
    given_options = dict(locals())
    settings = Settings(test, correction or "", interval, alpha, power, margin, samples, seed)
    one_of(align, ALIGN, "align")
    one_of(holes, ("look", "ignore"), "holes")
    for name in policies:
        if name not in conventions.POLICIES:
            hint = did_you_mean(name, [*conventions.POLICIES, *(compare.__kwdefaults__ or ())])
            raise OptionError(f"compare has no argument {name!r}", hint=hint)
    grouped = flattened(qrels) or flattened(runs)
    if grouped is not None and isinstance(next(iter(grouped[0].values())), Scores):
        qrels = grouped[0]
    elif grouped is not None:
        runs = grouped[0]
    if grouped is not None and all(len(owned) == 1 for owned in grouped[1].values()):
        grouped = None
    systems, asked, curve_scores = _scores_of(qrels), None, None
    placed: tuple[Placed, ...] = ()
    if systems is None:
        if runs is None:
            what = "there is nothing to compare: neither runs nor the scores of several systems"
            hint = "Either compare(qrels, runs), or compare(scores) with a list or mapping of Scores."
            raise InputError(what, hint=hint, code="nothing-to-compare")
        rules = conventions.get(convention).with_policies(**policies)
        if judged_by == "corrected":
            return corrected_comparison(qrels, runs, measures, rules, given_options, compare.__kwdefaults__ or {})
        wanted = resolve_measures(measures, rules)
        named = Columns.of(columns)
        beside = Background.of(train, catalogue, against, seen, rules.duplicates, named)
        opened = resolve(
            qrels, runs, rules, format=format, max_memory=max_memory, columns=named, relevant_from=relevant_from,
            background=beside, judged_by=judged_by,
        )  # fmt: skip
        if not opened.several:
            hint = 'Give {"name": run, "other": run} or a list of two or more paths.'
            raise InputError("a comparison needs several runs", hint=hint, code="too-few-systems")
        placed = tuple(pipeline.place_all(opened))
        systems = [pipeline.score(run, wanted) for run in placed]
        if curves:
            # Curves show values, no bounds or expectations, which not every measure has.
            plain = rules.with_policies(bounds="none")
            if rules.ties in ("expected", "bounds"):
                plain = plain.with_policies(ties="docid")
            at_cutoffs = resolve_measures(curve_measures(wanted), plain)
            curve_scores = [pipeline.score(run, at_cutoffs, rules=plain) for run in placed]
    else:
        of_runs = {
            "runs": runs, "documents": documents, "format": format, "max_memory": max_memory, "columns": columns,
            "relevant_from": relevant_from, "train": train, "catalogue": catalogue, "against": against,
            "judged_by": judged_by, **policies,
        }  # fmt: skip
        given = [name for name, value in of_runs.items() if value is not None]
        if given or convention != conventions.DEFAULT:
            what = f"scores are compared as they are; {(given or ['convention'])[0]} has no meaning for them"
            hint = "Either compare(qrels, runs, measures), or compare(scores, measures=...)."
            raise InputError(what, hint=hint, code="no-meaning-for-scores")
        asked = None if measures is None else {_spelled(measure, systems) for measure in parse_all(measures)}
    replicates: dict[str, tuple[Scores, ...]] = {}
    if grouped is not None:
        by_name = {system.run: i for i, system in enumerate(systems)}
        places = {name: [by_name[own] for own in owned] for name, owned in grouped[1].items()}
        replicates = {name: tuple(systems[i] for i in at) for name, at in places.items()}
        systems = [averaged(name, of_system) for name, of_system in replicates.items()]
        if curve_scores is not None:
            curve_scores = [averaged(name, [curve_scores[i] for i in at]) for name, at in places.items()]
        placed = tuple(placed[at[0]] for at in places.values()) if placed else ()
    names = [system.run for system in systems]
    _check_names(names, baseline)
    notes: list[Note] = []
    common, rows = _align(systems, align, notes)
    shared = _measures(systems, asked, notes)
    by_measure = {name: [system.columns[name] for system in systems] for name in shared}
    values = {name: _values(name, by_measure[name], rows, notes) for name in shared}
    facts = [facts_of(by_measure[name][0], values[name]) for name in shared]
    facts.sort(key=lambda about: about.diagnostic)  # what decides comes first
    if primary is not None:
        settings = replace(settings, primary=_primary(primary, facts))
        facts.sort(key=lambda about: about.name != settings.primary)
    design = make_design(common, clusters, weights, notes)
    _check_design(design, settings, bool(replicates))
    _leave_out_weightless(values, design, notes)
    single = [name for name, runs_of in replicates.items() if len(runs_of) == 1]
    if single:
        notes.append(Note.of("single-runs", systems=", ".join(map(ids.show, single))))
    averages = {name: by_measure[name][0].average for name in shared}
    pairs = [(baseline, other) for other in names if other != baseline] if baseline else list(combinations(names, 2))
    runs_of_systems = run_values(replicates, averages, common)
    compared = Compared(names, values, runs_of_systems, facts, pairs, settings, design)
    unbounded = [about.name for about in facts if not about.is_bounded and not about.diagnostic]
    if unbounded:
        code = "no-bounded-interval" if settings.interval == "bounded" else "no-bounds"
        notes.append(Note.of(code, measures=", ".join(unbounded)))
    notes += [*different_lengths(systems, shared), *_unequal_weights(systems, values), *scored_notes(systems)]
    tested = compared.tested()
    if holes == "look":
        known = placed or placed_alike(systems)
        why = "several runs per system" if replicates else "" if known else "scores do not tell the documents"
        if known and known[0].rules.ties == "expected":
            why = "values are means over the orders of tied documents"
        # Texts are all judged: by their matcher.
        unjudged = any(s.counts.get("judged_retrieved", math.inf) < s.counts.get("retrieved", 0) for s in systems)
        if why and unjudged:
            notes.append(Note.of("holes-not-looked-at", why=why))
        if not why:
            tested = with_holes(tested, known, compared, common)
    comparison = Comparison(
        runs=tuple(names),
        measures=tuple(about.name for about in facts),
        queries=common,
        values=values,
        summaries={
            (about.name, name): _summary(values[about.name][i], by_measure[about.name][i], about, settings, design)
            for about in facts
            for i, name in enumerate(names)
        },
        pairs=tuple(tested),
        baseline=baseline,
        settings=settings,
        notes=tuple(dict.fromkeys(notes)),
        scores=tuple(systems),
        curves=curves_of(curve_scores or systems),
        placed=placed,
        design=None if design.is_plain else design,
        replicates=replicates,
        texts={} if queries is None else _texts(queries, common),
        documents={} if documents is None else document_texts(documents, _shown_documents(placed, tested)),
    )
    if slice_by is not None:
        of_type(slice_by, Mapping, "slice_by", "a mapping from names of attributes to their values")
    return comparison if slice_by is None and queries is None else with_slices(comparison, slice_by)


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


def _check_design(design: Design, settings: Settings, has_replicates: bool) -> None:
    """Refuse what no method here is right for."""
    if has_replicates and settings.interval == "bounded":
        what = "interval='bounded' knows nothing of how runs vary"
        raise OptionError(what, hint="Use interval='standard'.", code="options-conflict")
    if design.is_plain:
        return
    refused = {
        "several runs per system": has_replicates,
        "correction='tukey'": settings.correction == "tukey",
        "interval='bounded'": settings.interval == "bounded",
    }
    for what, is_asked in refused.items():
        if is_asked:
            text = f"{what} cannot be combined with clusters or weights"
            raise OptionError(text, hint="Leave one of them out.", code="options-conflict")


def _summary(values: np.ndarray, column: Column, about: MeasureFacts, settings: Settings, design: Design) -> Summary:
    """One system's mean with its interval."""
    counted = ~np.isnan(values)
    part, n = design.part(counted)._asdict(), int(counted.sum())
    interval = intervals.mean_interval(values[counted], level=settings.level, low=about.low, high=about.high, **part)
    mean, shown = design.mean(values[counted], counted), column.summary
    if design.weights is not None:
        shown = math.exp(mean) if column.average == "geometric" else mean * (n if column.average == "sum" else 1)
    return Summary(mean, interval, shown, column.average, n)


def _texts(queries: QueryValues, common: Sequence[str]) -> dict[str, str]:
    """The texts of the queries that are compared."""
    text_of = lookup(queries, "queries")
    given = {query: text_of(query) for query in common}
    texts = {query: str(text) for query, text in given.items() if text is not None}
    if not texts:
        raise InputError("no query of the comparison has a text", hint="Are the ids the same?", code="no-texts")
    return texts


def _shown_documents(placed: Sequence[Placed], pairs: Sequence[Pair]) -> set[str]:
    """The documents that a report may name."""
    judged = set(placed[0].qrels.docs) if placed else set()
    return judged.union(document.doc for pair in pairs for document in pair.judge_first)


def _scores_of(given: object) -> list[Scores] | None:
    """The scores of several systems, named as the mapping names them; None if something else is given."""
    if isinstance(given, Scores):
        return [given]
    values = given.values() if isinstance(given, Mapping) else given if isinstance(given, list | tuple) else ()
    if not isinstance(next(iter(values), None), Scores):
        return None
    scores = [system for system in values if isinstance(system, Scores)]
    if len(scores) < len(values):
        what = "some of the systems are Scores and others are not"
        raise InputError(what, hint="Evaluate all of them first.", code="mixed-systems")
    if not isinstance(given, Mapping):
        return scores
    return [
        system if system.run == name else replace(system, run=str(name))
        for name, system in zip(given, scores, strict=True)
    ]


def _spelled(measure: Measure, systems: Sequence[Scores]) -> str:
    """A measure as the first system that has it spells it."""
    return next((system.spelled(measure) for system in systems if str(measure) in system), str(measure))


def _check_names(names: Sequence[str], baseline: str | None) -> None:
    if len(names) < 2:
        what = f"a comparison needs at least two systems, {len(names)} given"
        raise InputError(what, hint="To score one, use evaluate.", code="too-few-systems")
    for name in names:
        if names.count(name) > 1:
            hint = 'Name them apart, for example {"old": run, "new": other}.'
            raise InputError(f"two systems are both named '{ids.show(name)}'", hint=hint, code="duplicate-name")
    if baseline is not None and baseline not in names:
        known = ", ".join(map(ids.show, names))
        what = f"no system is named '{ids.show(baseline)}'; there are: {known}"
        raise InputError(what, hint=did_you_mean(baseline, names), code="unknown-system")


def _align(scores: Sequence[Scores], align: str, notes: list[Note]) -> tuple[tuple[str, ...], list[np.ndarray]]:
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
        if align == "error":
            raise MismatchError(
                f"the systems have different queries ({sizes}; {len(common):,} in common)",
                hint="align='common' compares them on the queries that all of them have.",
            )
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
