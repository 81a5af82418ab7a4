"""Scoring on Spark's executors, for judgements or queries that are too many for the driver.

The cluster ranks and joins as ever (`engine.spark`). Queries are then dealt into buckets, and each bucket is scored
by the same kernels as on one machine. A value depends on its own query alone and is summed in rank order within it,
so it is the same double in whatever bucket. The driver gets one row per query and takes the mean as ever, left to
right in byte order of the queries: the summaries are the same doubles too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from goldrank import conventions, ids, io
from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import MAX_GRADE, JudgementArrays
from goldrank.data.run import Run
from goldrank.data.scores import Column, Scores
from goldrank.data.spark import PROBLEMS
from goldrank.engine.counts import RunCounts, assemble
from goldrank.errors import InputError, MeasureError, MismatchError, MissingQueryError, NoRelevantError, OptionError
from goldrank.evaluation import documents as evaluation
from goldrank.measures import Measure, summarise
from goldrank.measures.ties import expected

BUCKETS = 2_000
"""Into how many parts the queries are dealt; an executor holds one of them at a time for each of its tasks."""

COUNTS = (
    "retrieved",
    "infinite",
    "constant",
    "problems",
    "repeated",
    "wrong_judgements",
    "judged_retrieved",
    "no_relevant",
    "relevant",
    "relevant_retrieved",
    "tied",
)
"""What is counted for each query besides its values."""


def evaluate_spark(
    qrels: Any,
    run: Any,
    measures: evaluation.Measures = None,
    *,
    convention: str | Convention = conventions.DEFAULT,
    depth: int | None = None,
    **policies: Any,
) -> Any:
    """Values per query as a Spark DataFrame: a column `query` and one for each measure. Nothing is collected.

    `run` is a Spark DataFrame, `qrels` is one too or anything that `evaluate` takes. Nothing is computed before
    the frame is used; input that `evaluate` would refuse makes that job fail with the same words. goldrank must be
    installed on the executors.
    """
    rules = conventions.get(convention).having(**policies)
    wanted = evaluation.wanted_measures(measures, rules)
    ranked = io.as_run(run)
    if ranked.remote is None:
        raise InputError(
            "the run is not in Spark", where=ranked.name, hint="goldrank.evaluate scores it, and its Scores are frames."
        )
    scored = _per_query(_judgements(qrels, ranked, rules), ranked, wanted, rules, evaluation.whole_depth(depth), True)
    kept = scored.where("answered") if rules.missing == "skip" else scored
    return kept.selectExpr(
        "CAST(query AS STRING) AS query",
        *(f"m{i} AS `{str(one).replace('`', '``')}`" for i, one in enumerate(wanted)),
    )


def evaluate(qrels: Any, run: Run, wanted: Sequence[Measure], rules: Convention, depth: int | None) -> Scores:
    """`Scores` of a run in Spark by judgements in Spark, scored on the executors."""
    from goldrank.engine import spark

    assert run.remote is not None
    with spark.evaluated_once(run.remote) as lines:
        kept = Run(remote=lines, name=run.name, id_kind=run.id_kind)
        judged = _judgements(qrels, run, rules)
        table = _per_query(judged, kept, wanted, rules, depth, False).toArrow()
        raw = table.column("query").to_pylist()
        if not raw:
            raise InputError("no judgements", where="qrels", hint="Is it the right table, and is it complete?")
        order = np.array(sorted(range(len(raw)), key=raw.__getitem__), np.int64)
        total = {name: int(table.column(name).to_numpy().sum()) for name in COUNTS}
        queries = judged.select("query").distinct().selectExpr("query", "query AS key")
        if total["wrong_judgements"]:
            raise _wrong_judgement(judged)
        if total["problems"]:
            raise spark.first_problem(lines, queries)
        if total["repeated"]:
            spark.refuse_repeats(lines, queries, rules)
        counts = RunCounts(lines=total["retrieved"], infinite=total["infinite"], constant=total["constant"])
        spark.count_unjudged(lines, queries, counts)
    names = ids.decode_all(raw[i] for i in order.tolist())
    answered = table.column("answered").to_numpy()[order].astype(bool)
    if rules.overlap == "error" and not total["judged_retrieved"]:
        what = "query" if not answered.any() else "document"
        some = counts.unjudged_examples if what == "query" else []
        raise MismatchError(
            f"no {what} id of the run is judged" + (f". Run: {ids.samples(some)}" if some else ""),
            where=run.name,
            hint="Are these the judgements for this collection? To score it all the same: overlap='allow'.",
        )
    absent = [query for query, there in zip(names, answered, strict=True) if not there]
    if absent and rules.missing == "error":
        raise MissingQueryError(
            f"{len(absent):,} judged queries are not in the run: {ids.samples(absent)}",
            where=run.name,
            hint="missing='zero' counts them as 0, missing='skip' leaves them out.",
        )
    counted = answered if rules.missing == "skip" else np.ones(len(names), bool)
    columns = {}
    for i, measure in enumerate(wanted):
        values = table.column(f"m{i}").to_numpy()[order][counted]
        if rules.empty == "error" and np.isnan(values).any():
            raise NoRelevantError(
                f"{int(np.isnan(values).sum()):,} queries have no relevant document for {measure}",
                where=run.name,
                hint="empty='zero' scores them 0, empty='skip' leaves them out.",
            )
        there = values if rules.empty == "nan" else values[~np.isnan(values)]
        declared = measure.declaration
        columns[str(measure)] = Column(
            str(measure), values, summarise(measure, there), declared.average, declared.higher_is_better
        )
    retrieved = table.column("retrieved").to_numpy()[order]
    numbers = {
        "queries": len(names),
        "missing": len(absent),
        "unjudged_queries": counts.unjudged_queries,
        "no_results": int((answered & (retrieved == 0)).sum()),
        **{name: total[name] for name in ("no_relevant", "retrieved", "judged_retrieved", "relevant")},
        **{name: total[name] for name in ("relevant_retrieved", "tied")},
        "repeated": 0,
        "infinite": counts.infinite,
        "contradicted": 0,
        "constant": counts.constant,
        "near_forms": 0,
    }
    none = np.zeros(0, np.int64)
    bare = Placements(
        names, retrieved, answered, np.zeros(len(names) + 1, np.int64), none, none, none, none, none, none
    )
    return Scores(
        run=run.name,
        queries=names if counted.all() else tuple(names[i] for i in np.flatnonzero(counted)),
        columns=columns,
        counts=numbers,
        notes=evaluation.notes(numbers, counts, (), run, rules, bare, columns, depth, []),
        convention=rules.label,
        origin=evaluation.origin(None, run, rules, depth),
    )


def _judgements(qrels: Any, run: Run, rules: Convention) -> Any:
    """Each judged document once: query, doc, grade, and whether that grade is none or one of several."""
    from goldrank.io import spark

    assert run.remote is not None
    session = run.remote.frame.sparkSession
    if io.is_spark(qrels):
        frame = spark.judgements_in_spark(qrels, "qrels")
    else:
        import pyarrow as pa

        judged = io.as_qrels(qrels, judgements=rules.judgements)
        rows = [(query, doc, float(grade)) for query, docs in judged.raw.items() for doc, grade in docs.items()]
        names = ("query", "doc", "grade")
        kinds = (pa.binary(), pa.binary(), pa.float64())
        arrays = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
        frame = session.createDataFrame(pa.table(dict(zip(names, arrays, strict=True)))).selectExpr(
            "*", "false AS unjudged"
        )
    return session.sql(
        f"""
        SELECT query, doc, max(grade) AS grade,
               bool_or(query IS NULL OR doc IS NULL OR length(query) = 0 OR length(doc) = 0 OR grade IS NULL
                       OR isnan(grade) OR grade <> floor(grade) OR abs(grade) > {MAX_GRADE})
               OR min(grade) <> max(grade) AS wrong
        FROM {{judged}} WHERE NOT unjudged GROUP BY query, doc
        """,  # noqa: S608 - words of this file only
        judged=frame,
    )


def _wrong_judgement(judged: Any) -> InputError:
    row = judged.where("wrong").orderBy("query", "doc").limit(1).toArrow().to_pylist()[0]
    query, doc = (ids.show(ids.decode(row[word] or b"")) for word in ("query", "doc"))
    return InputError(
        f"document '{doc}' of query '{query}' is judged twice with different grades, or its id or grade is none",
        where="qrels",
        hint="Grades are whole numbers. A Spark DataFrame has no order in which one judgement could be the last:"
        " leave one row of each pair.",
    )


def _per_query(
    judged: Any, run: Run, wanted: Sequence[Measure], rules: Convention, depth: int | None, strict: bool
) -> Any:
    """One row per judged query: query, answered, `COUNTS`, and m0, m1, ... for the measures' values."""
    from goldrank.engine import spark

    assert run.remote is not None
    if rules.ties in ("input", "bounds") or rules.bounds != "none":
        raise OptionError(
            f"ties={rules.ties!r} and bounds={rules.bounds!r} cannot be had when queries are scored on the executors",
            hint="Give fewer judgements, or use the defaults.",
        )
    for one in wanted:
        if one.declaration.over != "placements":
            raise MeasureError(
                f"{one} cannot be measured on the executors", hint="Give judgements that fit on the driver."
            )
    queries = judged.where("query IS NOT NULL").select("query").distinct().selectExpr("query", "query AS key")
    pairs = judged.selectExpr("query AS key", "doc", "grade AS label")
    placed = spark.rank(run.remote, queries, pairs, rules, small=False)
    session = run.remote.frame.sparkSession
    rows = session.sql(
        """
        SELECT query, 0L AS rank, grade, 0L AS tie_first, 0L AS tie_last, false AS is_last, 0L AS lines, 0L AS problems,
               0L AS repeated, 0L AS infinite, 0L AS distinct_scores, wrong FROM {judged}
        UNION ALL
        SELECT key, rank, label, tie_first, tie_last, is_last, lines, problems, repeated, infinite, distinct_scores,
               false FROM {placed}
        """,
        judged=judged,
        placed=placed,
    )
    name = run.name

    def score(table: Any) -> Any:
        return score_bucket(table, wanted, rules, depth, name, strict)

    fields = [f"{column} bigint" for column in COUNTS] + [f"m{i} double" for i in range(len(wanted))]
    schema = ", ".join(["query binary", "answered boolean", *fields])
    dealt = rows.selectExpr("*", f"pmod(hash(query), {BUCKETS}) AS bucket")
    return dealt.groupBy("bucket").applyInArrow(score, schema)


def score_bucket(
    table: Any, wanted: Sequence[Measure], rules: Convention, depth: int | None, name: str, strict: bool
) -> Any:
    """The values of some queries, on an executor: rows of rank 0 are judgements, the others placements."""
    import pyarrow as pa

    columns = {name: table.column(name).to_numpy() for name in ("rank", "tie_first", "tie_last")}
    raw = table.column("query").to_pylist()
    order = sorted({query for query in raw if query is not None})
    code = {query: i for i, query in enumerate(order)}
    query = np.fromiter((code.get(one, -1) for one in raw), np.int64, len(raw))
    judged = (columns["rank"] == 0) & (query >= 0)
    grade = table.column("grade").to_numpy(zero_copy_only=False)
    wrong = table.column("wrong").to_numpy().astype(bool)
    if strict and wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"a document of query '{ids.show(ids.decode(raw[at] or b''))}' is judged twice with different grades, or"
            " its id or grade is none",
            where="qrels",
        )
    whole = np.where(np.isnan(grade) | (np.abs(grade) > MAX_GRADE), 0, grade).astype(np.int64)
    rows = np.flatnonzero(judged)
    rows = rows[np.lexsort((-whole[rows], query[rows]))]
    start = np.concatenate(([0], np.cumsum(np.bincount(query[rows], minlength=len(order))))).astype(np.int64)
    arrays = JudgementArrays(ids.decode_all(order), start, whole[rows])
    hits = (columns["rank"] > 0) & ~np.isnan(grade)
    last = table.column("is_last").to_numpy().astype(bool)

    def counted(column: str) -> np.ndarray:
        found = np.zeros(len(order), np.int64)
        found[query[last]] = table.column(column).to_numpy()[last]
        return found

    if strict:
        for column, text in (("problems", " or ".join(PROBLEMS.values())), ("repeated", "a document is there twice")):
            bad = np.flatnonzero(counted(column))
            if len(bad):
                raise InputError(f"in the ranking of query '{ids.show(arrays.queries[bad[0]])}', {text}", where=name)
    answered = np.zeros(len(order), bool)
    answered[query[last]] = True
    found = (columns[column][hits] for column in ("rank", "tie_first", "tie_last"))
    rank, first, final = found
    placements = assemble(arrays, counted("lines"), answered, query[hits], rank, whole[hits], first, final)
    lines = placements.retrieved
    whole_counts = {
        "infinite": counted("infinite"),
        "constant": ((lines > 1) & (counted("distinct_scores") == 1)).astype(np.int64),
        "problems": counted("problems"),
        "repeated": counted("repeated"),
        "wrong_judgements": np.bincount(query[wrong & (query >= 0)], minlength=len(order)),
    }
    if depth is not None:
        placements = placements.cut(depth)
    told = {
        "retrieved": placements.retrieved,
        **whole_counts,
        "judged_retrieved": placements.count(placements.grade >= 0),
        "no_relevant": (placements.relevant(1) == 0).astype(np.int64),
        "relevant": placements.relevant(1),
        "relevant_retrieved": placements.count(placements.grade >= 1),
        "tied": placements.count(placements.tie_first < placements.tie_last),
    }
    # An executor cannot say which of all queries are without a relevant document: the driver looks for NaN.
    lenient = replace(rules, empty="nan") if rules.empty == "error" and not strict else rules
    everyone = np.ones(len(order), bool)
    values = {
        f"m{i}": evaluation.summarised(
            one,
            expected(one, placements) if rules.ties == "expected" else one(placements),
            placements,
            everyone,
            lenient,
            name,
        ).values
        for i, one in enumerate(wanted)
    }
    return pa.table(
        {
            "query": pa.array(order, pa.binary()),
            "answered": answered,
            **{column: np.asarray(told[column], np.int64) for column in COUNTS},
            **values,
        }
    )
