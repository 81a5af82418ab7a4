"""The way from inputs to `Scores`: place, make tables, make columns, make scores.

Documents, texts, judgements in Spark, `goldrank trec_eval` and `worth_judging` are these steps with different parts.
Callers that need a run's placements again keep its `Placed`: nothing is read or ranked twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from goldrank import __version__, conventions
from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError, MissingQueryError, NoRelevantError, OptionError
from goldrank.conventions import Convention, chosen_policies, tool_of
from goldrank.conventions.tool import Seen
from goldrank.data import signature
from goldrank.data.aspects import AspectQrels
from goldrank.data.catalogue import Catalogue
from goldrank.data.placements import Placements
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Qrels
from goldrank.data.query_costs import facts_about
from goldrank.data.query_facts import QueryFacts, judgement_hashes
from goldrank.data.run import Run
from goldrank.data.scores import Bounds, Column, Remarks, Scores
from goldrank.engine import RunCounts, TopRequest, engine_for
from goldrank.evaluation import catalogue_tables as recommending
from goldrank.evaluation import run_notes
from goldrank.evaluation.catalogue_tables import join, table_of, unseen, without_seen
from goldrank.evaluation.inputs import NO_CATALOGUE, Inputs, Judgements, documents_of
from goldrank.evaluation.mismatch import explain_mismatch, explain_repeats
from goldrank.measures import Measure, make, summarise
from goldrank.measures.apply import check_order, credited, expected, grouped
from goldrank.measures.apply import counted as measure_counted
from goldrank.measures.unjudged_share import check_monotone, unjudged_bounds

Tables = Mapping[str, Any]
"""The tables that measures read, by the word of `over=`: each kind of measure reads another type."""


@dataclass(frozen=True)
class Asked:
    """What is measured, by which rules, down to which rank."""

    measures: Sequence[Measure]
    rules: Convention
    depth: int | None = None
    top: int = 0
    """How many first documents of each query are kept for later callers."""


def wanted_top(measures: Sequence[Measure], catalogue: Catalogue) -> int:
    """How many first documents of each query the measures read; 0 if none, or if it depends on the run."""
    deepest = 0
    for measure in measures:
        reads = measure.declaration.over
        if reads not in ("heads", "recommended"):
            continue
        is_deep = measure.k is None or (reads == "recommended" and _reads_whole_run(measure, catalogue))
        if is_deep:
            return 0
        deepest = max(deepest, int(measure.k or 0))
    return deepest


def _reads_whole_run(measure: Measure, catalogue: Catalogue) -> bool:
    """Whether a measure reads whole rankings: for a catalogue that is not given, or to leave out unjudged items."""
    return catalogue.items is None or bool(measure.option("judged_only"))


# 1. Place.


@dataclass(frozen=True)
class Placed:
    """A run whose judged documents were placed: all that measures need of it."""

    judgements: Judgements
    run: Run
    rules: Convention
    placements: Placements
    counts: RunCounts
    catalogue: Catalogue = NO_CATALOGUE
    removed: np.ndarray | None = None
    """How many documents of each query were removed because they are in the history of its user."""
    kept_top: KeptTop | None = None
    """The first documents of each query, if they were taken while the run was read."""
    depth: int | None = None
    """The rank at which the placements were cut, if they were."""

    @property
    def qrels(self) -> Qrels:
        """The judged documents with one grade each; `Placements.label` numbers them."""
        return documents_of(self.judgements)

    def top_documents(self, depth: int) -> Sequence[Sequence[str]]:
        """The first documents of each judged query, best first.

        This reads the run once more, unless enough documents were kept when it was placed.
        """
        if depth < 1:
            return [[] for _ in self.placements.queries]
        more = 0
        if self.removed is not None:
            more = int(self.removed.max(initial=0))
        rows = self._top_of_run(depth + more)
        if self.catalogue.removed is None:
            return rows
        return unseen(rows, self.placements.queries, self.catalogue.removed, depth)

    def _top_of_run(self, depth: int) -> Sequence[Sequence[str]]:
        if self.kept_top is not None and depth <= self.kept_top.depth:
            return [docs[:depth] for docs in self.kept_top.documents]
        rules = top_rules(self.rules)
        if not self.counts.repeated and rules.duplicates in ("first", "last"):
            # Nothing repeats, so that all policies give one result, and this one keeps only what is needed.
            rules = rules.with_policies(duplicates="count")
        return engine_for(self.run).top_documents(self.run, self.placements.queries, depth, rules)


@dataclass(frozen=True)
class KeptTop:
    """The first documents of each judged query of a run, taken while it was read."""

    depth: int
    documents: Sequence[Sequence[str]]


def top_rules(rules: Convention) -> Convention:
    """The rules by which first documents are ordered."""
    return rules.with_policies(**tool_of(rules).first_documents)


def place(
    judgements: Judgements, run: Run, rules: Convention, catalogue: Catalogue = NO_CATALOGUE, top: int = 0
) -> Placed:
    """Where the run put each judged document, without the histories of users.

    `top` is how many first documents of each query are kept for later callers.
    """
    qrels = documents_of(judgements)
    run = tool_of(rules).before_placing(run.with_columns_matching(qrels))
    _check_ids(qrels, run, rules)
    try:
        return _place_checked(judgements, run, rules, catalogue, top)
    except InputError as error:
        raise explain_repeats(error, run) from None


def _place_checked(judgements: Judgements, run: Run, rules: Convention, catalogue: Catalogue, top: int) -> Placed:
    qrels = documents_of(judgements)
    if catalogue.removed is None:
        placements, counts, kept_top = _placed(qrels, run, rules, top)
        return _checked(Placed(judgements, run, rules, placements, counts, catalogue, kept_top=kept_top))

    joined = join(qrels, catalogue.removed)
    if top:
        top += max(map(len, catalogue.removed.items.values()), default=0)
    all_placements, counts, kept_top = _placed(joined.qrels, run, rules, top)
    placements, removed = without_seen(all_placements, joined, qrels)
    return _checked(Placed(judgements, run, rules, placements, counts, catalogue, removed, kept_top))


def _placed(qrels: Qrels, run: Run, rules: Convention, top: int) -> tuple[Placements, RunCounts, KeptTop | None]:
    engine = engine_for(run)
    if not top or engine.holds_runs:
        placements, counts = engine.place(qrels, run, rules)
        return placements, counts, None
    placements, counts, documents = engine.place_with_top(qrels, run, rules, TopRequest(top, top_rules(rules)))
    return placements, counts, KeptTop(top, documents)


def place_all(inputs: Inputs, top: int = 0) -> Iterable[Placed]:
    """As `place`, for all runs of the inputs, one after the other."""
    if inputs.tagged is None:
        for run in inputs.runs:
            yield place(inputs.judgements, run, inputs.rules, inputs.catalogue, top)
        return
    if inputs.catalogue.removed is not None:
        raise OptionError(
            "a catalogue with training data takes runs one by one",
            hint="Read each tag as a run: read_runs(file)['tag'].",
        )

    from goldrank.engine.streaming import ENGINE

    qrels = documents_of(inputs.judgements)
    tagged = inputs.tagged.with_columns_matching(qrels)
    placed = ENGINE.place_by_tag(qrels, tagged.source, inputs.rules)
    for tag, (placements, counts) in placed.items():
        run = tagged.run(ids.decode(tag))
        if tool_of(inputs.rules).before_placing(run) is not run:
            yield place(inputs.judgements, run, inputs.rules, inputs.catalogue)
            continue
        _check_ids(qrels, run, inputs.rules)
        yield _checked(Placed(inputs.judgements, run, inputs.rules, placements, counts, inputs.catalogue))


def _check_ids(qrels: Qrels, run: Run, rules: Convention) -> None:
    if not len(qrels) and qrels.shard_number is None:  # a shard may have no query
        hint = "Is it the right file, and is it complete?"
        raise InputError("no judgements", where=qrels.name, hint=hint, code="empty-input")
    difference = ids.kinds_differ(run.id_kind, qrels.id_kind)
    if difference and rules.overlap == "error":
        noun, run_type, judged_type = difference
        raise InputError(
            f"{noun} ids of the run are {run_type}, judged {noun} ids are {judged_type}",
            where=run.name,
            hint="Make them alike, for example with str(id): 1 and '1' are different ids.",
            code="different-id-types",
        )


def _checked(placed: Placed) -> Placed:
    placements, rules = placed.placements, placed.rules
    if rules.duplicates == "places" and placements.label is not None:
        placements = replace(placements, shared=len(np.unique(placements.label)) < len(placements.label))
        placed = replace(placed, placements=placements)
    if rules.overlap == "error" and placed.qrels.shard_number is None:
        explain_mismatch(placed.qrels, placed.run.name, placements, placed.counts)
    if rules.missing == "error" and not placements.answered.all():
        raise missing_queries(run_notes.absent(placements), placed.run.name)
    return placed


def missing_queries(absent: Sequence[str], run: str) -> MissingQueryError:
    """The error for judged queries that are not in the run."""
    return MissingQueryError(
        f"{len(absent):,} judged queries are not in the run: {ids.samples(absent)}",
        where=run,
        hint="missing='zero' counts them as 0, missing='skip' leaves them out.",
    )


# 2. Make tables.


def tables_of(placed: Placed, measures: Sequence[Measure], depth: int | None = None) -> Tables:
    """The tables that the measures read of a run, cut as if it had returned at most `depth` documents a query."""
    judgements, placements = placed.judgements, placed.placements
    if depth is not None:
        placements = placements.cut(depth)
    tables: dict[str, Any] = {"placements": placements}
    tool = tool_of(placed.rules)
    if tool.quirks:
        tables = tool.tables(Seen(placed.run, placed.qrels, placements, placed.rules.score_type))
    if not isinstance(judgements, Qrels):
        tables[judgements.table] = judgements.table_of(placements)
        return tables

    cutoffs = [int(measure.k) for measure in measures if measure.declaration.over == "heads" and measure.k]
    if cutoffs:
        from goldrank.data.top_documents import TopDocuments

        docs = placed.top_documents(_at_most(max(cutoffs), depth))
        tables["heads"] = TopDocuments.of(placements, docs, judgements)

    of_items = [measure for measure in measures if measure.declaration.over == "recommended"]
    if of_items:
        deepest = max(int(measure.k or 0) for measure in of_items)
        if any(measure.k is None or _reads_whole_run(measure, placed.catalogue) for measure in of_items):
            deepest = int(placements.retrieved.max(initial=0))
        lists = placed.top_documents(_at_most(deepest, depth))
        tables["recommended"] = table_of(placements.queries, lists, judgements, placed.catalogue, placed.rules)
    return tables


def _at_most(count: int, depth: int | None) -> int:
    """A number of documents, not more than `depth`."""
    if depth is None:
        return count
    return min(count, depth)


# 3. Make columns.

_NEEDS = {
    "placements": "one grade per document",
    "aspects": "judgements by aspect: AspectQrels, or read_aspects(file) for qrels with subtopics in column two",
    "preferences": "preferences between documents: Preferences, or read_preferences(file)",
    "heads": "one grade per document",
    "texts": "texts: evaluate_texts with retrieved texts and references",
    "spans": "evidence by place: evaluate_texts with evidence, and the places of retrieved texts or their sources",
    "recommended": "one grade per item, and a run of items: goldrank.evaluate",
}


_OF_GRADES: Tables = dict.fromkeys(("placements", "heads", "recommended"))
"""The tables that there are with one grade per document."""


def check_asked(measures: Sequence[Measure], judgements: object, rules: Convention) -> None:
    """Refuse what no run could change, before anything is read: `judgements` may not be read yet."""
    tables = _OF_GRADES
    if not isinstance(judgements, Qrels) and isinstance(judgements, AspectQrels | Preferences):
        tables = dict.fromkeys(("placements", judgements.table))
    for measure in measures:
        table_for(measure, tables)
        tool_of(rules).refuse_asked(measure)
        if rules.bounds == "unjudged":
            check_monotone(measure, "bounds from unjudged documents")
        elif rules.ties == "bounds":
            check_monotone(measure, "bounds over ties")


def table_for(measure: Measure, tables: Tables) -> Any:
    """The table that a measure reads, or the error that says what it needs."""
    needed = measure.declaration.over
    if needed not in tables:
        hint = f"It takes {_NEEDS[needed]}."
        if measure.declaration.for_documents is not None:
            other = make(measure.declaration.for_documents, measure.k)
            summary = other.declaration.summary
            hint += f" Of ids there is {other}: {summary[:1].lower()}{summary[1:]}"
        raise MeasureError(f"{measure} cannot be measured with this input", hint=hint, code="not-measurable")
    return tables[needed]


def values_of(measure: Measure, tables: Tables, rules: Convention, credit: str | None = None) -> np.ndarray:
    """A measure's value for each query, before queries that do not count are left out.

    `credit` is for texts: what counts where a text covers several references.
    """
    tool = tool_of(rules)
    reading = tool.reading(measure)
    table = table_for(measure, tables)
    if reading.own_table is not None and reading.own_table in tables:
        table = tables[reading.own_table]

    ties = reading.ties or rules.ties
    if credit is not None and measure.declaration.over == "placements":
        values = credited(measure, table, credit)
    elif ties == "grouped":
        values = grouped(measure, table)
    elif ties == "expected" and isinstance(table, Placements):
        values = expected(measure, table.per_label)
    elif ties == "expected":
        values = expected(measure, table)
    else:
        if reading.undefined_from is not None and isinstance(table, Placements):
            check_order(measure, table, reading.undefined_from, rules.name)
        values = measure_counted(measure, table, reading.repeats)

    values = without_empty(measure, values, tables, rules)
    if rules.missing == "skip" and tool.summary(measure).queries == "answered":
        # Beside measures that count every query, this one has no value for queries without results or judgements.
        placements: Placements = tables["placements"]
        values = np.where(placements.answered & (np.diff(placements.judged_start) > 0), values, np.nan)
    return values


class RelevanceCounts(Protocol):
    """What the policy for queries without relevant documents must know of a table."""

    retrieved: np.ndarray

    def relevant(self, rel: float) -> np.ndarray:
        """Per query, how much there is to be found."""
        ...


def without_empty(measure: Measure, values: np.ndarray, tables: Tables, rules: Convention) -> np.ndarray:
    """The values with the policy for queries without anything to find: NaN marks queries that do not count.

    A question of texts that is known to have no answer never counts, unless the policy gives it 1 for nothing returned.
    """
    if not measure.declaration.needs_relevant:
        return values
    if rules.empty == "zero" and "unanswerable" not in tables:
        return values

    unanswerable: np.ndarray = tables.get("unanswerable", np.zeros(len(values), bool))
    if rules.empty != "zero":
        table: RelevanceCounts = tables["placements"]
        if measure.declaration.over == "spans":
            table = tables["spans"]
        level = measure.option("rel")
        if level is None:
            level = 1
        is_empty = (table.relevant(level) == 0) | unanswerable
        values = np.where(is_empty, _value_of_empty(table, tables, rules), values)
    if rules.empty == "one" or not unanswerable.any():
        return values
    return np.where(unanswerable, np.nan, values)


def _value_of_empty(table: RelevanceCounts, tables: Tables, rules: Convention) -> np.ndarray:
    """The value of each query if there is nothing to find for it."""
    if rules.empty != "one":
        return np.full(len(table.retrieved), np.nan)
    if tables.keys() & {"texts", "spans"}:  # a text that is returned would be junk: returning none is right
        return np.where(table.retrieved == 0, 1.0, 0.0)
    return np.ones(len(table.retrieved))


def column_of(
    measure: Measure,
    values: np.ndarray,
    rules: Convention,
    queries: Sequence[str],
    run: str,
    unanswerable: np.ndarray | None = None,
) -> Column:
    """A measure's column from the values of the queries that count."""
    declared = measure.declaration
    counts_nan = rules.empty == "nan" and declared.needs_relevant
    average = tool_of(rules).summary(measure).average or declared.average
    summary = summarise(average, values)
    if summary == summary:  # a value that is NaN would have made it NaN
        return Column(str(measure), values, summary, average, declared.higher_is_better, counts_nan)

    missing = np.isnan(values)
    if unanswerable is not None:
        missing &= ~unanswerable
    if rules.empty == "error" and missing.any() and declared.needs_relevant:
        empty = np.flatnonzero(missing).tolist()
        raise NoRelevantError(
            f"{len(empty):,} queries have no relevant document for {measure}: {ids.samples(queries[i] for i in empty)}",
            where=run,
            hint="empty='zero' scores them 0, empty='skip' leaves them out.",
        )

    if not counts_nan:
        summary = summarise(average, values[~np.isnan(values)])
    return Column(str(measure), values, summary, average, declared.higher_is_better, counts_nan)


def columns_of(
    measures: Sequence[Measure],
    tables: Tables,
    counted: np.ndarray | None,
    queries: Sequence[str],
    rules: Convention,
    run: str,
    credit: str | None = None,
) -> tuple[dict[Measure, Column], dict[Measure, Bounds]]:
    """Every measure's column over the queries that count, and how far it could move if the policies want that.

    `counted` says which queries count; None is all.
    """
    unanswerable: np.ndarray | None = tables.get("unanswerable")
    if unanswerable is not None and counted is not None:
        unanswerable = unanswerable[counted]

    def column(measure: Measure, values: np.ndarray) -> Column:
        if counted is not None:
            values = values[counted]
        return column_of(measure, values, rules, queries, run, unanswerable)

    columns = {measure: column(measure, values_of(measure, tables, rules, credit)) for measure in measures}
    if rules.ties == "expected" or credit is not None or (rules.bounds == "none" and rules.ties != "bounds"):
        return columns, {}

    bounds: dict[Measure, Bounds] = {}
    for measure in measures:
        ranges = _bounds(measure, tables["placements"], rules)
        if ranges is not None:
            why, *ends = ranges
            low, high = (column(measure, without_empty(measure, values, tables, rules)) for values in ends)
            bounds[measure] = Bounds(why, low, high)
    return columns, bounds


def _bounds(measure: Measure, placements: Placements, rules: Convention) -> tuple[str, np.ndarray, np.ndarray] | None:
    """Why and how far a measure could move, if the policies want that."""
    if rules.bounds == "unjudged":
        return "unjudged", *unjudged_bounds(measure, placements.per_label)
    if rules.ties == "bounds":
        check_monotone(measure, "bounds over ties")
        repeats = tool_of(rules).reading(measure).repeats
        low, high = (measure_counted(measure, placements.best_of_ties(best), repeats) for best in (False, True))
        return "ties", low, high
    return None


# 4. Make scores.


def score(
    placed: Placed, measures: Sequence[Measure], depth: int | None = None, rules: Convention | None = None
) -> Scores:
    """The `Scores` of a placed run. `rules` may differ from the rules of placing in policies of values."""
    rules = rules or placed.rules
    tables = tables_of(placed, measures, depth)
    placements: Placements = tables["placements"]
    tool = tool_of(rules)
    counts_all = rules.missing != "skip" or any(tool.summary(measure).queries == "all" for measure in measures)
    counted = None
    queries = placements.queries
    if not counts_all and not placements.answered.all():
        counted = placements.answered
        queries = tuple(queries[i] for i in np.flatnonzero(counted))
    tool.refuse(measures, placements, counted, placed.run)
    columns, bounds = columns_of(measures, tables, counted, queries, rules, placed.run.name)
    bounds_by_name = {str(measure): bound for measure, bound in bounds.items()}
    recommended = tables.get("recommended")
    on_judgements, on_run = placed.judgements.notes, placed.run.notes

    def remarks() -> Remarks:
        numbers = run_notes.counts_of(placements, placed.counts)
        scored = run_notes.ScoredRun(
            placed.counts, on_judgements, on_run, rules, placements, columns, depth, bounds_by_name
        )

        on_items = recommending.notes(
            placed.catalogue,
            placed.qrels,
            placements.queries,
            placed.removed,
            placements.retrieved,
            recommended,
            columns,
        )
        return Remarks(numbers, (*run_notes.notes_of(numbers, scored), *on_items))

    scored_placed = placed
    if depth is not None:
        scored_placed = replace(placed, placements=placements, depth=depth)
    return Scores(
        remarks=remarks,
        run=placed.run.name,
        queries=queries,
        columns={str(measure): column for measure, column in columns.items()},
        convention=rules.label + placed.catalogue.label,
        origin=origin(placed.judgements, placed.run, rules, depth, placed.catalogue),
        bounds=bounds_by_name,
        options=tool.options,
        placed=scored_placed,
        facts=partial(facts_of, placements, placed.judgements, counted, placed.run),
    )


def facts_of(placements: Placements, judgements: Judgements, counted: np.ndarray | None, run: Run) -> QueryFacts:
    """What is known of the queries that count; None is all."""
    rows: slice | np.ndarray = slice(None)
    queries: Sequence[str] = placements.queries
    if counted is not None:
        rows = counted
        queries = [placements.queries[i] for i in np.flatnonzero(counted)]
    return QueryFacts(
        returned=placements.retrieved[rows],
        judged=placements.count(placements.grade >= 0)[rows],
        relevant=placements.relevant(1)[rows],
        hashes=partial(judgement_hashes, judgements),
        **facts_about(run.about, queries),
    )


def origin(
    judgements: Judgements | None, run: Run, rules: Convention, depth: int | None, catalogue: Catalogue = NO_CATALOGUE
) -> Callable[[], dict[str, Any]]:
    """Where the numbers come from; hashes are computed when they are needed. None: the judgements stayed in Spark."""
    shard = None
    if isinstance(judgements, Qrels) and judgements.shard_number is not None:
        number, shards = judgements.shard_number
        shard = f"{number}/{shards}"
    now = time.time()

    def facts() -> dict[str, Any]:
        judged = {"name": "qrels", "sha256": None, "criteria": None}
        machine = "the executors"
        if judgements is not None:
            judged = {"name": judgements.name, "sha256": judgements.digest, "criteria": judgements.criteria}
            machine = "the driver"

        record: dict[str, Any] = {
            **provenance(rules, now),
            **catalogue.provenance,
            "depth": depth,
            "shard": shard,
            "qrels": judged,
            "run": {"name": run.name, "sha256": run.digest},
            "signature": signature_facts(judgements, rules, depth, catalogue),
        }
        if run.source.engine == "spark":
            record["spark"] = f"ranked by Spark, scored on {machine}"
        return record

    return facts


def signature_facts(
    judgements: Judgements | None, rules: Convention, depth: int | None, catalogue: Catalogue
) -> dict[str, Any]:
    """The facts of a signature beside measure and rules: judgements, and all that differs from the convention."""
    options = {**policy_words(rules), **signature.catalogue_words(catalogue)}
    if depth is not None:
        options["depth"] = str(depth)
    if isinstance(judgements, Qrels) and judgements.shard_number is not None:
        number, shards = judgements.shard_number
        options["shard"] = f"{number}/{shards}"
    return {"qrels": _judgements_word(judgements), "options": options}


def policy_words(rules: Convention) -> dict[str, str]:
    """The policies that differ from the convention's; bounds over ties are around the value by document id."""
    words = chosen_policies(rules)
    if words.get("ties") == "bounds":
        words["ties"] = "docid"
    if words.get("ties") == "docid" and conventions.get(rules.name).ties in ("docid", "bounds"):
        del words["ties"]
    return words


def _judgements_word(judgements: Judgements | None) -> str:
    if judgements is None:
        return signature.UNKNOWN
    if isinstance(judgements, Qrels):
        return signature.judgements_word(judgements)
    documents = judgements.documents
    count = sum(map(len, documents.raw.values()))
    return f"{judgements.digest[: signature.HASH]}/{len(documents)}q/{count}j"


def provenance(rules: Convention, now: float | None = None) -> dict[str, Any]:
    """What every result says of how it was made: version, time and policies."""
    import datetime

    if now is None:
        now = time.time()
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
    return {
        "goldrank": __version__,
        "time": moment.isoformat(timespec="seconds"),
        "convention": rules.name,
        "policies": rules.policies,
        "options": {name: dict(options) for name, options in tool_of(rules).options.items()},
    }
