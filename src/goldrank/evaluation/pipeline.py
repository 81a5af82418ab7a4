"""The one way from inputs to `Scores`: place, make tables, make columns, make scores.

Documents, texts, judgements in Spark, `goldrank trec_eval` and `worth_judging` are these steps with different parts.
Whoever needs a run's placements again keeps its `Placed`: nothing is read or ranked twice.
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
from goldrank.data.query_facts import QueryFacts, judgement_hashes
from goldrank.data.run import Run
from goldrank.data.scores import Bounds, Column, Remarks, Scores
from goldrank.engine import RunCounts, TopRequest, engine_for
from goldrank.evaluation import catalogue_tables as recommending
from goldrank.evaluation import run_notes as footer
from goldrank.evaluation.catalogue_tables import join, table_of, unseen, without_seen
from goldrank.evaluation.inputs import NO_CATALOGUE, Inputs, Judgements, documents_of
from goldrank.evaluation.mismatch import explain_mismatch
from goldrank.measures import Measure, make, summarise
from goldrank.measures.apply import check_order, credited, expected, grouped
from goldrank.measures.apply import counted as measure_counted
from goldrank.measures.unjudged_share import check_monotone, unjudged_bounds

Tables = Mapping[str, Any]
"""What measures read, by the name that they give it with `over=`: each kind of measure has a table of its own type."""


@dataclass(frozen=True)
class Asked:
    """What is measured, by which rules, down to which rank."""

    measures: Sequence[Measure]
    rules: Convention
    depth: int | None = None
    top: int = 0
    """How many first documents of each query are kept for those who ask for them later."""


def wanted_top(measures: Sequence[Measure], catalogue: Catalogue) -> int:
    """How many first documents of each query the measures read; 0 if none, or if only the run can tell."""
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
    """Without a catalogue it is what is in the whole run; without what is not judged, the rest moves up."""
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
    """How many documents of each query were removed, because the user had them before."""
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

        This reads the run once more, unless so many were kept when it was placed.
        """
        if depth < 1:
            return [[] for _ in self.placements.queries]
        queries, train = self.placements.queries, self.catalogue.removed
        more = 0 if self.removed is None else int(self.removed.max(initial=0))
        rows = self._top_of_run(depth + more)
        if train is None:
            return rows
        return unseen(rows, queries, train, depth)

    def _top_of_run(self, depth: int) -> Sequence[Sequence[str]]:
        if self.kept_top is not None and depth <= self.kept_top.depth:
            return [docs[:depth] for docs in self.kept_top.documents]
        rules = top_rules(self.rules)
        if not self.counts.repeated and rules.duplicates in ("first", "last"):
            # Nothing repeats, so that all policies give the same, and this one holds no more than what is asked for.
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
    """Where the run put each judged document, without what users had before.

    `top` is how many first documents of each query are kept, for those who ask for them later.
    """
    qrels = documents_of(judgements)
    run = tool_of(rules).before_placing(run.with_columns_matching(qrels))
    _check_ids(qrels, run, rules)
    if catalogue.removed is None:
        placements, counts, kept_top = _placed(qrels, run, rules, top)
        return _checked(Placed(judgements, run, rules, placements, counts, catalogue, kept_top=kept_top))

    joined = join(qrels, catalogue.removed)
    longest = max(map(len, catalogue.removed.items.values()), default=0)
    placements, counts, kept_top = _placed(joined.qrels, run, rules, top + longest if top else 0)
    kept, removed = without_seen(placements, joined, qrels)
    return _checked(Placed(judgements, run, rules, kept, counts, catalogue, removed, kept_top))


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
        what = "no judgements"
        raise InputError(what, where=qrels.name, hint="Is it the right file, and is it complete?", code="empty-input")
    unlike = ids.kinds_differ(run.id_kind, qrels.id_kind)
    if unlike and rules.overlap == "error":
        what, ours, theirs = unlike
        raise InputError(
            f"{what} ids of the run are {ours}, judged {what} ids are {theirs}",
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
        raise missing_queries(footer.absent(placements), placed.run.name)
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
    """What the measures read of a run, cut as if it had returned no more than `depth` documents a query."""
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
    asked = [measure for measure in measures if measure.declaration.over != "placements"]
    deepest = max([int(measure.k) for measure in asked if measure.declaration.over == "heads" and measure.k], default=0)
    if deepest:
        from goldrank.data.top_documents import TopDocuments

        docs = placed.top_documents(deepest if depth is None else min(deepest, depth))
        tables["heads"] = TopDocuments.of(placements, docs, judgements)
    asked = [measure for measure in asked if measure.declaration.over == "recommended"]
    if asked:
        deep = any(measure.k is None or _reads_whole_run(measure, placed.catalogue) for measure in asked)
        most = int(placements.retrieved.max(initial=0)) if deep else max(int(measure.k or 0) for measure in asked)
        lists = placed.top_documents(most if depth is None else min(most, depth))
        tables["recommended"] = table_of(placements.queries, lists, judgements, placed.catalogue, placed.rules)
    return tables


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
    """Refuse what no run could change, before anything is read: `judgements` may be what they are still made from."""
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
    """The table that a measure reads, or the error that says what it would take."""
    needed = measure.declaration.over
    if needed not in tables:
        hint = f"It takes {_NEEDS[needed]}."
        if other := measure.declaration.for_documents:
            meant = make(other, measure.k)
            hint += f" Of ids there is {meant}: {meant.declaration.summary[:1].lower()}{meant.declaration.summary[1:]}"
        raise MeasureError(f"{measure} cannot be measured with this input", hint=hint, code="not-measurable")
    return tables[needed]


def values_of(measure: Measure, tables: Tables, rules: Convention, credit: str | None = None) -> np.ndarray:
    """A measure's value for each query, before queries that do not count are left out.

    `credit` is given for texts: who is credited where a text covers several references.
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
    elif ties == "expected":
        values = expected(measure, table.per_label if isinstance(table, Placements) else table)
    else:
        if reading.undefined_from is not None and isinstance(table, Placements):
            check_order(measure, table, reading.undefined_from, rules.name)
        values = measure_counted(measure, table, reading.repeats)

    values = without_empty(measure, values, tables, rules)
    if rules.missing == "skip" and tool.summary(measure).queries == "answered":
        # Beside measures that count every query, this one has no value for those without results or judgements.
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
    """The values with the policy for queries without anything to find: NaN marks those that do not count.

    A question of texts that is known to have no answer never counts, unless the policy gives it 1 for nothing returned.
    """
    if not measure.declaration.needs_relevant:
        return values
    if rules.empty == "zero" and "unanswerable" not in tables:
        return values
    unanswerable: np.ndarray = tables.get("unanswerable", np.zeros(len(values), bool))
    table: RelevanceCounts = tables["spans" if measure.declaration.over == "spans" else "placements"]
    if rules.empty != "zero":
        level = measure.option("rel")
        # Where a text returned would be junk, returning none is right.
        nothing = table.retrieved == 0 if tables.keys() & {"texts", "spans"} else True
        filled = np.where(nothing, 1.0, 0.0) if rules.empty == "one" else np.nan
        values = np.where((table.relevant(1 if level is None else level) == 0) | unanswerable, filled, values)
    if rules.empty == "one" or not unanswerable.any():
        return values
    return np.where(unanswerable, np.nan, values)


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

    missing = np.isnan(values) if unanswerable is None else np.isnan(values) & ~unanswerable
    if rules.empty == "error" and missing.any() and declared.needs_relevant:
        empty = np.flatnonzero(missing).tolist()
        raise NoRelevantError(
            f"{len(empty):,} queries have no relevant document for {measure}: {ids.samples(queries[i] for i in empty)}",
            where=run,
            hint="empty='zero' scores them 0, empty='skip' leaves them out.",
        )

    summary = summarise(average, values if counts_nan else values[~np.isnan(values)])
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
    """Every measure's column over the queries that count, and how far it could move if that was asked for.

    `counted` says which queries count; None is all.
    """
    unanswerable: np.ndarray | None = tables.get("unanswerable")
    marked = unanswerable if unanswerable is None or counted is None else unanswerable[counted]

    def column(measure: Measure, values: np.ndarray) -> Column:
        return column_of(measure, values if counted is None else values[counted], rules, queries, run, marked)

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
    """Why and how far a measure could move, if the policies ask for it."""
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
    """The `Scores` of a placed run. `rules` may differ from those of placing in what concerns values alone."""
    rules = rules or placed.rules
    tables = tables_of(placed, measures, depth)
    placements: Placements = tables["placements"]
    tool = tool_of(rules)
    counts_all = rules.missing != "skip" or any(tool.summary(measure).queries == "all" for measure in measures)
    counted = None if counts_all or placements.answered.all() else placements.answered
    tool.refuse(measures, placements, counted, placed.run)
    queries = placements.queries
    if counted is not None:
        queries = tuple(queries[i] for i in np.flatnonzero(counted))
    columns, bounds = columns_of(measures, tables, counted, queries, rules, placed.run.name)
    by_name = {str(measure): both for measure, both in bounds.items()}
    recommended = tables.get("recommended")
    on_judgements, on_run = placed.judgements.notes, placed.run.notes

    def remarks() -> Remarks:
        numbers = footer.counts_of(placements, placed.counts)
        return Remarks(numbers, (
            *footer.notes_of(
                numbers, placed.counts, on_judgements, on_run, rules, placements, columns, depth, by_name
            ),
            *recommending.notes(placed.catalogue, placed.qrels, placements.queries, placed.removed,
                                placements.retrieved, recommended, columns),
        ))  # fmt: skip

    return Scores(
        remarks=remarks,
        run=placed.run.name,
        queries=queries,
        columns={str(measure): column for measure, column in columns.items()},
        convention=rules.label + placed.catalogue.label,
        origin=origin(placed.judgements, placed.run, rules, depth, placed.catalogue),
        bounds=by_name,
        options=tool.options,
        placed=placed if depth is None else replace(placed, placements=placements, depth=depth),
        facts=partial(facts_of, placements, placed.judgements, counted),
    )


def facts_of(placements: Placements, judgements: Judgements, counted: np.ndarray | None) -> QueryFacts:
    """What is known of the queries that count; None is all."""
    which = slice(None) if counted is None else counted
    return QueryFacts(
        returned=placements.retrieved[which],
        judged=placements.count(placements.grade >= 0)[which],
        relevant=placements.relevant(1)[which],
        hashes=partial(judgement_hashes, judgements),
    )


def origin(
    judgements: Judgements | None, run: Run, rules: Convention, depth: int | None, catalogue: Catalogue = NO_CATALOGUE
) -> Callable[[], dict[str, Any]]:
    """Where the numbers come from; hashes are computed when somebody asks. Without judgements, they stayed in Spark."""
    shard = judgements.shard_number if isinstance(judgements, Qrels) else None
    now = time.time()

    def made() -> dict[str, Any]:
        judged = {"name": "qrels", "sha256": None, "criteria": None}
        if judgements is not None:
            judged = {"name": judgements.name, "sha256": judgements.digest, "criteria": judgements.criteria}
        where = "the driver" if judgements is not None else "the executors"
        return {
            **provenance(rules, now),
            **catalogue.provenance,
            "depth": depth,
            "shard": None if shard is None else f"{shard[0]}/{shard[1]}",
            "qrels": judged,
            "run": {"name": run.name, "sha256": run.digest},
            "signature": signature_facts(judgements, rules, depth, catalogue),
        } | ({"spark": f"ranked by Spark, scored on {where}"} if run.source.engine == "spark" else {})

    return made


def signature_facts(
    judgements: Judgements | None, rules: Convention, depth: int | None, catalogue: Catalogue
) -> dict[str, Any]:
    """What signatures say beside measure and rules: judgements, and all that differs from the convention."""
    options = {**policy_words(rules), **signature.catalogue_words(catalogue)}
    if depth is not None:
        options["depth"] = str(depth)
    if isinstance(judgements, Qrels) and judgements.shard_number is not None:
        number, of = judgements.shard_number
        options["shard"] = f"{number}/{of}"
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

    moment = datetime.datetime.fromtimestamp(time.time() if now is None else now, datetime.UTC)
    return {
        "goldrank": __version__,
        "time": moment.isoformat(timespec="seconds"),
        "convention": rules.name,
        "policies": rules.policies,
        "options": {name: dict(given) for name, given in tool_of(rules).options.items()},
    }
