"""The hall: judgements and rankings in, `Scores` out."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, overload

import numpy as np

from goldrank import __version__, conventions, engine, ids, io
from goldrank.conventions import Convention
from goldrank.data.aspects import AspectQrels
from goldrank.data.blocks import USUAL, BlockSource, Plan
from goldrank.data.placements import Placements
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run, Runs
from goldrank.data.scores import Bounds, Column, Scores, ScoresByRun, format_value
from goldrank.data.top_documents import Heads
from goldrank.engine.counts import RunCounts
from goldrank.errors import InputError, MeasureError, MissingQueryError, NoRelevantError, OptionError
from goldrank.evaluation import memory
from goldrank.evaluation.mismatch import explain_mismatch
from goldrank.measures import DEFAULT, Measure, parse, summarise
from goldrank.measures.holes import check_monotone, unjudged_bounds
from goldrank.measures.ties import expected
from goldrank.notes import from_counts

Measures = str | Measure | Iterable[str | Measure] | None


@overload
def evaluate(
    qrels: Any,
    run: Mapping[str, Run] | Sequence[str | os.PathLike[str] | Run],
    measures: Measures = ...,
    **policies: Any,
) -> ScoresByRun: ...


@overload
def evaluate(qrels: Any, run: Any, measures: Measures = ..., **policies: Any) -> Any: ...


def evaluate(
    qrels: Any,
    run: Any,
    measures: Measures = None,
    *,
    convention: str | Convention = conventions.DEFAULT,
    format: str | None = None,
    depth: int | None = None,
    shard: str | None = None,
    max_memory: str | int | None = None,
    **policies: Any,
) -> Any:
    """Score a run, or several, against judgements.

    `qrels` and `run` are files, dicts, data frames (Spark's too), or `Qrels` and `Run`. Several runs are a mapping
    from names to runs or a list of paths; the result is then a mapping from names to `Scores`, else a `Scores`.
    Policies that differ from the convention's (`missing`, `empty`, `ties`, `duplicates`, `judgements`,
    `overlap`, `score_type`) are given by name. With `depth`, rankings count as if the run had returned no more
    than so many documents a query (trec_eval -M). `shard="2/8"` scores the second of eight parts of the queries, told
    apart by a hash of their ids; `Scores.merge` puts the parts together. `max_memory` ('500MB', '2GiB' or
    bytes) is what the process may take: pieces of files become smaller as needed, and what cannot fit is refused
    before the work begins.

    >>> scores = evaluate({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 0.3, "d2": 0.7}}, ["nDCG@10", "RR"])
    >>> round(scores["nDCG@10"], 4), scores["RR"]
    (0.6309, 0.5)
    """
    rules = conventions.get(convention).having(**policies)
    asked = wanted_measures(measures, rules)
    depth = whole_depth(depth)
    limit = None if max_memory is None else memory.size(max_memory)
    if limit is not None:
        check_files(limit, qrels, run)
    several_sided = isinstance(qrels, AspectQrels | Preferences)
    if io.is_spark(qrels) and io.is_spark(run):
        from goldrank.io import spark

        judged = spark.qrels_from_spark(qrels, "qrels", rules.judgements)
        if judged is None:
            from goldrank.evaluation import executors as distributed

            if shard is not None:
                raise OptionError("shard= is for judgements that fit on one machine", hint="Spark shares the work out.")
            return distributed.evaluate(qrels, io.as_run(run), asked, rules, depth)
        qrels = judged
    judgements = qrels if several_sided else io.as_qrels(qrels, judgements=rules.judgements)
    if shard is not None:
        judgements = _of_shard(judgements, shard)
    several = None if isinstance(run, Runs) else io.as_runs(run, format=format, duplicates=rules.duplicates)
    if several is not None and not several:
        raise InputError("no runs were given")
    if isinstance(run, Runs):
        plan = _plan(limit, judgements, [run.source])
        placed = engine.place_by_tag(_documents(judgements), run.source, rules, plan)
        return ScoresByRun(
            [
                _score(judgements, run.run(ids.decode(tag)), asked, rules, depth, plan, one)
                for tag, one in placed.items()
            ]
        )
    if several is None:
        single = io.as_run(run, format=format, duplicates=rules.duplicates)
        plan = _plan(limit, judgements, [single.blocks] if single.blocks is not None else [])
        return _score(judgements, single, asked, rules, depth, plan)
    plan = _plan(limit, judgements, [one.blocks for one in several if one.blocks is not None])
    return ScoresByRun([_score(judgements, one, asked, rules, depth, plan) for one in several])


def _of_shard(qrels: Qrels | AspectQrels | Preferences, shard: str) -> Qrels:
    """The judgements of a shard such as '2/8'."""
    if not isinstance(qrels, Qrels):
        raise OptionError("shard= takes judgements with one grade per document", hint="Split the judgements yourself.")
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", str(shard))
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= of:
        raise OptionError(f"shard is {shard!r}", hint="For example '2/8', the second of eight.")
    kept = qrels.of_shard(number, of)
    if not len(kept):
        raise InputError(f"shard {shard} has no judged query", where=qrels.name, hint=f"Take fewer than {of:,} shards.")
    return kept


def _documents(given: Qrels | AspectQrels | Preferences) -> Qrels:
    return given if isinstance(given, Qrels) else given.documents


def check_files(max_memory: str | int, qrels: Any, run: Any) -> None:
    """Refuse files that must be held whole and do not fit, before they are read."""
    limit = memory.size(max_memory)
    hint = "Give more memory, or split the queries into shards: docs/scale.md."
    base = memory.resident() + memory.LIBRARIES
    runs = list(run.values()) if isinstance(run, dict) else run if isinstance(run, list | tuple) else [run]
    asked = [(qrels, memory.QRELS_BYTE, "reading the judgements"), *((one, memory.HELD_BYTE, "") for one in runs)]
    for given, per_byte, what in asked:
        if isinstance(given, str | os.PathLike):
            held = io.held_bytes(given, "qrels" if what else "run")
            memory.check(limit, base + per_byte * held, what or "holding the run", os.fsdecode(given), hint)


def _plan(limit: int | None, qrels: Qrels | AspectQrels | Preferences, sources: Sequence[BlockSource]) -> Plan:
    return USUAL if limit is None else memory.plan(limit, _documents(qrels), sources, engine.processors())


def wanted_measures(measures: Measures, rules: Convention) -> list[Measure]:
    listed = DEFAULT if measures is None else [measures] if isinstance(measures, str | Measure) else list(measures)
    if not listed:
        raise InputError("no measures were given", hint="For example measures=['nDCG@10', 'AP'].")
    parsed = [parse(one) for one in listed]
    return list(dict.fromkeys(one.having(rules.options.get(one.name, {})) for one in parsed))


def whole_depth(depth: int | None) -> int | None:
    """`depth`, or the error that says why it is none."""
    if depth is None:
        return None
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 1:
        raise OptionError(f"depth is {depth!r}; it must be a whole number from 1", hint="For example depth=1000.")
    return int(depth)


def _score(
    given: Qrels | AspectQrels | Preferences,
    run: Run,
    measures: Sequence[Measure],
    rules: Convention,
    depth: int | None,
    plan: Plan = USUAL,
    placed: tuple[Placements, RunCounts] | None = None,
) -> Scores:
    qrels = _documents(given)
    if not len(qrels):
        raise InputError("no judgements", where=qrels.name, hint="Is it the right file, and is it complete?")
    unlike = ids.kinds_differ(run.id_kind, qrels.id_kind)
    if unlike and rules.overlap == "error":
        what, ours, theirs = unlike
        raise InputError(
            f"{what} ids of the run are {ours}, judged {what} ids are {theirs}",
            where=run.name,
            hint="Make them alike, for example with str(id): 1 and '1' are different ids.",
        )
    placements, counts = placed or engine.place(qrels, run, rules, plan)
    if rules.overlap == "error" and qrels.shard is None:
        explain_mismatch(qrels, run.name, placements, counts)
    if depth is not None:
        placements = placements.cut(depth)
    if rules.missing == "error" and not placements.answered.all():
        absent = [query for query, there in zip(placements.queries, placements.answered, strict=True) if not there]
        raise MissingQueryError(
            f"{len(absent):,} judged queries are not in the run: {ids.samples(absent)}",
            where=run.name,
            hint="missing='zero' counts them as 0, missing='skip' leaves them out.",
        )
    tables: dict[str, Any] = {}
    if not isinstance(given, Qrels):
        placements, tables[given.table] = given.tables(placements)
    tables["placements"] = placements
    counted = placements.answered if rules.missing == "skip" else np.ones(len(placements), bool)
    deepest = max((int(one.k) for one in measures if one.declaration.over == "heads" and one.k), default=0)
    if deepest and isinstance(given, Qrels):
        near = deepest if depth is None else min(deepest, depth)
        tables["heads"] = Heads.of(placements, engine.heads(run, placements.queries, near, rules), qrels)
    found = {one: _columns(one, tables, counted, rules, run.name) for one in measures}
    kept = np.flatnonzero(counted)
    queries = placements.queries if counted.all() else tuple(placements.queries[i] for i in kept)
    numbers = _numbers(placements, counts)
    columns = {str(one): column for one, (column, _) in found.items()}
    bounds = {str(one): two for one, (_, two) in found.items() if two is not None}
    moves: list[str] = []
    if numbers["tied"] and rules.ties != "expected":
        moves = _moves_by_ties({one: column for one, (column, _) in found.items()}, placements, counted)
    return Scores(
        run=run.name,
        queries=queries,
        columns=columns,
        counts=numbers,
        notes=(
            *notes(numbers, counts, given.notes, run, rules, placements, columns, depth, moves),
            *_told(bounds),
            *_out_of_reach(measures, placements),
        ),
        convention=rules.label,
        origin=origin(given, run, rules, depth),
        bounds=bounds,
    )


def origin(
    qrels: Qrels | AspectQrels | Preferences | None, run: Run, rules: Convention, depth: int | None
) -> Callable[[], dict[str, Any]]:
    """Where the numbers come from; hashes are computed when somebody asks. Without qrels, they stayed in Spark."""
    shard = qrels.shard if isinstance(qrels, Qrels) else None
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

    def provenance() -> dict[str, Any]:
        judged = {"name": "qrels", "sha256": None, "criteria": None}
        if qrels is not None:
            judged = {"name": qrels.name, "sha256": qrels.digest, "criteria": qrels.criteria}
        where = "the driver" if qrels is not None else "the executors"
        return {
            "goldrank": __version__,
            "time": time,
            "convention": rules.name,
            "policies": rules.describe(),
            "depth": depth,
            "shard": None if shard is None else f"{shard[0]}/{shard[1]}",
            "qrels": judged,
            "run": {"name": run.name, "sha256": run.digest},
        } | ({} if run.remote is None else {"spark": f"ranked by Spark, scored on {where}"})

    return provenance


_NEEDS = {
    "aspects": "judgements by aspect: AspectQrels, or read_aspects(file) for qrels with subtopics in column two",
    "preferences": "preferences between documents: Preferences, or read_preferences(file)",
    "heads": "one grade per document",
    "texts": "texts: evaluate_texts with retrieved texts and references",
    "spans": "evidence by place: evaluate_texts with evidence, and the places of retrieved texts or their sources",
}


def _columns(
    measure: Measure, tables: Mapping[str, Any], counted: np.ndarray, rules: Convention, run: str
) -> tuple[Column, Bounds | None]:
    """A measure's column, and how far it could move if that was asked for."""
    placements: Placements = tables["placements"]
    needed = measure.declaration.over
    if needed not in tables:
        raise MeasureError(f"{measure} cannot be measured with these judgements", hint=f"It takes {_NEEDS[needed]}.")

    def made(values: np.ndarray) -> Column:
        return summarised(measure, values, placements, counted, rules, run)

    if rules.ties == "expected":
        return made(expected(measure, tables[needed])), None
    found = made(measure(tables[needed]))
    if rules.bounds == "unjudged":
        low, high = unjudged_bounds(measure, placements)
        return found, Bounds("unjudged", made(low), made(high))
    if rules.ties == "bounds":
        check_monotone(measure, "bounds over ties")
        low, high = (measure(placements.best_of_ties(best)) for best in (False, True))
        return found, Bounds("ties", made(low), made(high))
    return found, None


class Judged(Protocol):
    """What the policy for queries without relevant documents must know of a table."""

    @property
    def queries(self) -> tuple[str, ...]:
        """Ids of the queries."""

    def relevant(self, rel: float) -> np.ndarray:
        """Per query, how much there is to be found."""


def summarised(
    measure: Measure, values: np.ndarray, placements: Judged, counted: np.ndarray, rules: Convention, run: str
) -> Column:
    """A measure's column: the values of the queries that count, and their summary."""
    declared = measure.declaration
    if rules.empty != "zero" and declared.needs_relevant:
        level = measure.option("rel")
        bare = (placements.relevant(1 if level is None else level) == 0) & counted
        if rules.empty == "error" and bare.any():
            names = ids.samples(placements.queries[i] for i in np.flatnonzero(bare))
            raise NoRelevantError(
                f"{int(bare.sum()):,} queries have no relevant document for {measure}: {names}",
                where=run,
                hint="empty='zero' scores them 0, empty='skip' leaves them out.",
            )
        values = np.where(bare, 1.0 if rules.empty == "one" else np.nan, values)
    values = values[counted]
    there = values if rules.empty == "nan" else values[~np.isnan(values)]
    return Column(str(measure), values, summarise(measure, there), declared.average, declared.higher_is_better)


def _told(bounds: Mapping[str, Bounds]) -> list[str]:
    """Bounds from unjudged documents in words; those over ties are among the notes anyway."""
    ranges = [
        f"{name} from {format_value(two.low.summary)} to {format_value(two.high.summary)}"
        for name, two in bounds.items()
        if two.why == "unjudged"
    ]
    return [f"as unjudged documents may turn out: {', '.join(ranges)}"] if ranges else []


def _moves_by_ties(columns: Mapping[Measure, Column], placements: Placements, counted: np.ndarray) -> list[str]:
    """How far tied documents could move the summaries, where four decimals show it."""
    told = []
    tied = np.zeros(len(placements), bool)
    tied[placements.query[placements.tie_first < placements.tie_last]] = True
    if not (tied & counted).any():
        return []
    worst, best = placements.best_of_ties(False), placements.best_of_ties(True)
    for measure, column in columns.items():
        declared = measure.declaration
        if not declared.monotone or declared.over != "placements" or np.isnan(column.values).any():
            continue
        low, high = (summarise(measure, measure(table)[counted]) for table in (worst, best))
        if high - low >= 0.00005:
            told.append(f"{measure} from {format_value(low)} to {format_value(high)}")
    return told


def _numbers(placements: Placements, counts: RunCounts) -> dict[str, int]:
    """The counts of a result."""
    return {
        "queries": len(placements),
        "missing": int((~placements.answered).sum()),
        "unjudged_queries": counts.unjudged_queries,
        "no_results": int((placements.answered & (placements.retrieved == 0)).sum()),
        "no_relevant": int((placements.relevant(1) == 0).sum()),
        "retrieved": int(placements.retrieved.sum()),
        "judged_retrieved": int((placements.grade >= 0).sum()),
        "relevant": int(placements.relevant(1).sum()),
        "relevant_retrieved": int((placements.grade >= 1).sum()),
        "tied": int((placements.tie_first < placements.tie_last).sum()),
        "repeated": counts.repeated,
        "infinite": counts.infinite,
        "contradicted": counts.contradicted,
        "constant": counts.constant,
        "near_forms": counts.near_forms,
    }


def notes(
    numbers: Mapping[str, int],
    counts: RunCounts,
    tolerated: Sequence[str],
    run: Run,
    rules: Convention,
    placements: Placements,
    columns: Mapping[str, Column],
    depth: int | None,
    moves: Sequence[str],
) -> tuple[str, ...]:
    """The counts that a reader must know, in words; what is as it should be is not mentioned."""
    judged = numbers["queries"]
    notes: list[str] = []

    def note(key: str, one: str, many: str) -> None:
        if numbers[key]:
            notes.append(f"{numbers[key]:,} {one if numbers[key] == 1 else many}")

    if numbers["missing"]:
        absent = ids.samples(q for q, there in zip(placements.queries, placements.answered, strict=True) if not there)
        how = {"zero": "counted as 0", "skip": "left out of the mean"}[rules.missing]
        are = "query is" if judged == 1 else "queries are"
        notes.append(f"{numbers['missing']:,} of {judged:,} judged {are} not in the run, {how}: {absent}")
        if rules.missing == "zero" and placements.answered.any():
            notes.append(f"without them: {_means(columns, placements.answered)}")
    note("no_results", "query is in the run without any document", "queries are in the run without any document")
    if numbers["retrieved"] == 0:
        notes.append("the run returned nothing at all for the judged queries")
    if numbers["unjudged_queries"]:
        one = numbers["unjudged_queries"] == 1
        which = "query of the run is not judged and was" if one else "queries of the run are not judged and were"
        notes.append(f"{numbers['unjudged_queries']:,} {which} left out: {ids.samples(counts.unjudged_examples)}")
    if depth is not None:
        notes.append(f"rankings were cut after {depth:,} document{'s' * (depth != 1)}")
    note("no_relevant", "query has no relevant document", "queries have no relevant document")
    if numbers["retrieved"]:
        notes.append(f"{numbers['judged_retrieved'] / numbers['retrieved']:.1%} of the returned documents are judged")
    rule = {"input": "ordered in input order", "expected": "averaged over all orders"}.get(rules.ties)
    rule = rule or "ordered by document id"
    note("tied", f"judged document is tied with others, {rule}", f"judged documents are tied, {rule}")
    if moves:
        more = f" and {len(moves) - 3} more" if len(moves) > 3 else ""
        notes.append(f"in another order of tied documents: {', '.join(moves[:3])}{more}")
    note("constant", "query has one score for all its documents", "queries have one score for all their documents")
    note("repeated", "repeated document was dropped", "repeated documents were dropped")
    note("infinite", "score is infinite", "scores are infinite")
    contradiction = "claimed a better rank in the rank column than the scores give; the scores count"
    note("contradicted", f"judged document {contradiction}", f"judged documents {contradiction}")
    normal = "a judged id only after Unicode normalisation (NFC, NFD) and do not count: normalise the ids on both sides"
    note(
        "near_forms", f"document of the run equals {normal}".replace("do not", "does not"), f"documents equal {normal}"
    )
    if len(counts.tags) > 1:
        tags = ids.samples(map(ids.decode, counts.tags))
        notes.append(
            f"lines have different tags and count as one run all the same: {tags}; "
            "to score each tag on its own: read_runs, or --by-tag"
        )
    notes += [f"qrels: {text}" for text in tolerated]
    notes += [f"run: {text}" for text in run.notes]
    notes += map(str, from_counts(counts.tolerated, about="run"))
    return tuple(notes)


def _out_of_reach(measures: Sequence[Measure], placements: Placements) -> list[str]:
    """Recall that cannot be 1 because the cut-off is smaller than the number of relevant documents."""
    notes = []
    for one in measures:
        if one.name in ("R", "RecallAll") and one.k is not None:
            beyond = int((placements.relevant(one.option("rel")) > one.k).sum())
            if beyond:
                notes.append(
                    f"{one} cannot be 1 for {beyond:,} of {len(placements):,} queries: "
                    f"they have more than {one.k:,} relevant documents"
                )
    return notes


def _means(columns: Mapping[str, Column], counted: np.ndarray, limit: int = 4) -> str:
    """The first few measures' summaries over some of the queries."""
    shown = []
    for one in list(columns.values())[:limit]:
        values = one.values[counted & ~np.isnan(one.values)]
        shown.append(f"{one.measure} {format_value(summarise(parse(one.measure), values), one.average)}")
    return ", ".join(shown) + (", ..." if len(columns) > limit else "")
