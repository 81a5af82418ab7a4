"""Scoring on Spark's executors, for judgements or queries that are too many for the driver.

The cluster ranks and joins as usual (`engine.spark`). Queries are then dealt into buckets, and each bucket is scored
by the same kernels as on one machine. A value depends on its own query alone and is summed in rank order within it,
so it is the same double in any bucket. The driver gets one row per query and takes the mean as usual, left to
right in byte order of the queries: the summaries are the same doubles too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from goldrank import __version__, conventions, io
from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError, MismatchError, OptionError
from goldrank.base.keywords import named_arguments
from goldrank.base.packages import MissingPackageError, needed
from goldrank.base.types import ConventionLike, MeasuresLike, QrelsLike, SparkFrame
from goldrank.conventions import Convention, tool_of
from goldrank.data.grades import MAX_GRADE
from goldrank.data.placements import Placements
from goldrank.data.qrels import JudgementArrays
from goldrank.data.query_facts import QueryFacts
from goldrank.data.run import PROBLEMS, Run, SparkLines
from goldrank.data.scores import Remarks, Scores
from goldrank.engine.counts import PlacedRows, RunCounts, assemble
from goldrank.evaluation import pipeline, run_notes
from goldrank.evaluation.inputs import resolve_measures, whole_depth
from goldrank.measures import Measure

NOT_THERE = "the executors cannot score with goldrank"
HOW_TO_SEND = (
    "Install it there as it is here (pip install goldrank, in the environment of PYSPARK_PYTHON or the cluster's"
    " libraries), or send it along: spark.addArtifacts('goldrank.zip', pyfile=True). docs/spark.md has both."
)
BUCKETS = 2_000
"""The number of parts into which queries are dealt; a task of an executor has one of them in memory at a time."""

OF_PLACEMENTS = ("judged_retrieved", "no_relevant", "relevant", "relevant_retrieved", "tied")
COUNTS = ("retrieved", "infinite", "constant", "problems", "repeated", "wrong_judgements", *OF_PLACEMENTS)
"""The counts of each query besides its values."""


@named_arguments
def evaluate_spark(
    qrels: QrelsLike,
    run: SparkFrame,
    measures: MeasuresLike = None,
    *,
    convention: ConventionLike = "trec_eval-10",
    depth: int | None = None,
) -> Any:  # a Spark DataFrame, whose type is not there without Spark
    """Values per query as a Spark DataFrame: a column `query` and one for each measure. Nothing is collected.

    Nothing is computed before the frame is used; input that `evaluate` would refuse makes that job fail with that
    error. goldrank must be installed on the executors.

    Parameters
    ----------
    qrels : Spark DataFrame, or anything that `evaluate` takes
        The judgements.
    run : Spark DataFrame
        The results: columns for query, document and score.
    measures : str, Measure, function, list of these, or None
        What to measure; None for the usual measures.
    convention : str or Convention
        Whose rules to follow.
    depth : int, optional
        Look at this number of documents of each query at most.

    Returns
    -------
    Spark DataFrame

    Raises
    ------
    InputError
        If the run is not in Spark.
    OptionError
        If a measure or a policy needs more than one query at a time.

    Examples
    --------
    >>> values = evaluate_spark("qrels.txt", spark.table("results"), "nDCG@10")  # doctest: +SKIP
    >>> values.where("`nDCG@10` < 0.1").show()  # doctest: +SKIP
    """
    rules = conventions.get(convention)
    parsed_measures = resolve_measures(measures, rules)
    depth = whole_depth(depth)
    _check_rules(parsed_measures, rules)
    ranked = io.as_run(run)
    if not isinstance(ranked.source, SparkLines):
        hint = "goldrank.evaluate scores it, and its Scores are frames."
        raise InputError("the run is not in Spark", where=ranked.name, hint=hint, code="not-in-spark")
    lines = ranked.source
    scored = _per_query(_judgements(qrels, lines, rules), lines, parsed_measures, rules, depth, True)
    if rules.missing == "skip":
        scored = scored.where("answered")
    return scored.selectExpr(
        "CAST(query AS STRING) AS query",
        *(f"m{i} AS `{str(measure).replace('`', '``')}`" for i, measure in enumerate(parsed_measures)),
    )


def evaluate(qrels: Any, run: Run, request: pipeline.Asked) -> Scores:
    """`Scores` of a run in Spark by judgements in Spark, scored on the executors."""
    from goldrank.engine import spark_engine as spark

    measures, rules, depth = request.measures, request.rules, request.depth
    _check_rules(measures, rules)
    with spark.evaluated_once(cast(SparkLines, run.source)) as lines:
        judged = _judgements(qrels, lines, rules)
        table = _collected(_per_query(judged, lines, measures, rules, depth, False))
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
        raise _no_overlap(answered, counts, run.name)

    none = np.zeros(0, np.int64)
    retrieved = table.column("retrieved").to_numpy()[order]
    bare = Placements(
        names, retrieved, answered, np.zeros(len(names) + 1, np.int64), none, none, none, none, none, none
    )
    absent = run_notes.absent(bare)
    if absent and rules.missing == "error":
        raise pipeline.missing_queries(absent, run.name)

    counted = np.ones(len(names), bool)
    if rules.missing == "skip":
        counted = answered
    counted_queries = names
    if not counted.all():
        counted_queries = tuple(names[i] for i in np.flatnonzero(counted))
    columns = {}
    for i, measure in enumerate(measures):
        values = table.column(f"m{i}").to_numpy()[order][counted]
        columns[measure] = pipeline.column_of(measure, values, rules, counted_queries, run.name)
    numbers = {**run_notes.counts_of(bare, counts), **{name: total[name] for name in OF_PLACEMENTS}}
    scored = run_notes.ScoredRun(counts, (), run.notes, rules, bare, columns, depth)

    return Scores(
        run=run.name,
        queries=counted_queries,
        columns={str(measure): column for measure, column in columns.items()},
        remarks=Remarks(numbers, run_notes.notes_of(numbers, scored)),
        convention=rules.label,
        origin=pipeline.origin(None, run, rules, depth),
        options=tool_of(rules).options,
        facts=QueryFacts(
            returned=retrieved[counted],
            judged=table.column("judged_retrieved").to_numpy()[order][counted],
            relevant=table.column("relevant").to_numpy()[order][counted],
        ),
    )


def _no_overlap(answered: np.ndarray, counts: RunCounts, run: str) -> MismatchError:
    """The error for a run and judgements that share no query, or no document."""
    noun, samples = "document", ""
    if not answered.any():
        noun = "query"
        if counts.unjudged_examples:
            samples = f". Run: {ids.samples(counts.unjudged_examples)}"
    return MismatchError(
        f"no {noun} id of the run is judged{samples}",
        where=run,
        hint="Are these the judgements for this collection? To score it all the same: overlap='allow'.",
    )


def _collected(frame: Any) -> Any:
    """The rows of a frame that goldrank makes on the executors; a plain error if it is not installed there."""
    try:
        return frame.toArrow()
    except Exception as error:
        text = str(error)
        begin = text.find(NOT_THERE)
        if begin < 0:
            raise
        message = text[begin:].partition("\n")[0].removesuffix(".")
        raise MissingPackageError(message, hint=HOW_TO_SEND) from None


def _check_rules(measures: Sequence[Measure], rules: Convention) -> None:
    """Refuse what the executors cannot compute query by query."""
    if not tool_of(rules).goes_by_query:
        raise OptionError(
            f"the convention {rules.name} is not for judgements that stay in Spark",
            hint="It looks at whole rankings: give fewer judgements, or another convention.",
        )
    if rules.ties in ("input", "bounds") or rules.bounds != "none":
        raise OptionError(
            f"ties={rules.ties!r} and bounds={rules.bounds!r} do not work when queries are scored on the executors",
            hint="Give fewer judgements, or use the defaults.",
        )

    for measure in measures:
        if measure.declaration.over != "placements":
            raise MeasureError(
                f"{measure} cannot be measured on the executors", hint="Give judgements that fit on the driver."
            )


def _judgements(qrels: Any, lines: SparkLines, rules: Convention) -> Any:
    """Each judged document once: query, doc, grade, and whether that grade is missing, bad or one of several."""
    from goldrank.io.tables import spark_frames as spark

    session = lines.frame.sparkSession
    if io.is_spark(qrels):
        frame = spark.judgements_in_spark(qrels, "qrels", None)
    else:
        with needed("pyspark"):
            import pyarrow as pa

        judged = io.as_qrels(qrels, judgements=rules.judgements)
        rows = [(query, doc, float(grade)) for query, docs in judged.raw.items() for doc, grade in docs.items()]
        schema = pa.schema({"query": pa.binary(), "doc": pa.binary(), "grade": pa.float64()})
        records = [dict(zip(schema.names, row, strict=True)) for row in rows]
        table = pa.Table.from_pylist(records, schema)
        frame = session.createDataFrame(table).selectExpr("*", "false AS unjudged")
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
    query = ids.show(ids.decode(row["query"] or b""))
    doc = ids.show(ids.decode(row["doc"] or b""))
    return InputError(
        f"document '{doc}' of query '{query}' is judged twice with different grades, or its id or grade is none",
        where="qrels",
        hint="Grades are whole numbers. A Spark DataFrame has no order in which one judgement could be the last:"
        " leave one row of each pair.",
        code="contradicting-judgements",
    )


def _per_query(
    judged: Any, lines: SparkLines, measures: Sequence[Measure], rules: Convention, depth: int | None, strict: bool
) -> Any:
    """One row per judged query: query, answered, `COUNTS`, and m0, m1, ... for the measures' values."""
    from goldrank.engine import spark_engine as spark

    queries = judged.where("query IS NOT NULL").select("query").distinct().selectExpr("query", "query AS key")
    pairs = judged.selectExpr("query AS key", "doc", "grade AS label")
    placed = spark.rank(lines, queries, pairs, rules, small=False)
    session = lines.frame.sparkSession
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
    name = lines.name

    def score(table: Any) -> Any:
        return score_bucket(table, measures, rules, depth, name, strict)

    count_fields = [f"{column} bigint" for column in COUNTS]
    value_fields = [f"m{i} double" for i in range(len(measures))]
    schema = ", ".join(["query binary", "answered boolean", *count_fields, *value_fields])
    dealt = rows.union(_nothing_if_sound(session, rows.schema)).selectExpr(
        "*", f"pmod(hash(query), {BUCKETS}) AS bucket"
    )
    return dealt.groupBy("bucket").applyInArrow(score, schema)


def _nothing_if_sound(session: Any, schema: Any) -> Any:
    """A frame without rows, which fails with a plain error where the executors have no goldrank, or another version.

    Spark sends `score_bucket` as the name of a function, so that without goldrank not a line of it would run. The
    function here is sent with its code, because it names nothing of this module, and runs before.
    """
    here, missing, other = __version__, f"{NOT_THERE}: it is not installed there.", f"{NOT_THERE}: it is version "

    def check(batches: Any) -> Any:
        for _ in batches:
            pass
        try:
            import goldrank
        except ImportError:
            raise ImportError(missing) from None
        if goldrank.__version__ != here:
            raise ImportError(f"{other}{goldrank.__version__} there and {here} here.")
        return iter(())

    return session.range(1).mapInArrow(check, schema)


def score_bucket(
    table: Any, measures: Sequence[Measure], rules: Convention, depth: int | None, name: str, strict: bool
) -> Any:
    """The values of some queries, on an executor: rows of rank 0 are judgements, the others placements."""
    with needed("pyspark"):
        import pyarrow as pa

    columns = {name: table.column(name).to_numpy() for name in ("rank", "tie_first", "tie_last")}
    raw = table.column("query").to_pylist()
    order = sorted({query for query in raw if query is not None})
    code = {query: i for i, query in enumerate(order)}
    query = np.fromiter((code.get(key, -1) for key in raw), np.int64, len(raw))
    judged = (columns["rank"] == 0) & (query >= 0)
    grade = table.column("grade").to_numpy(zero_copy_only=False)
    wrong = table.column("wrong").to_numpy().astype(bool)
    if strict and wrong.any():
        first_wrong = raw[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"a document of query '{ids.show(ids.decode(first_wrong or b''))}' is judged twice with different grades, "
            "or its id or grade is none",
            where="qrels",
        )

    whole_grade = np.where(np.isnan(grade) | (np.abs(grade) > MAX_GRADE), 0, grade).astype(np.int64)
    rows = np.flatnonzero(judged)
    rows = rows[np.lexsort((-whole_grade[rows], query[rows]))]
    start = np.concatenate(([0], np.cumsum(np.bincount(query[rows], minlength=len(order))))).astype(np.int64)
    arrays = JudgementArrays(ids.decode_all(order), start, whole_grade[rows])
    hits = (columns["rank"] > 0) & ~np.isnan(grade)
    last = table.column("is_last").to_numpy().astype(bool)

    def counted(column: str) -> np.ndarray:
        by_query = np.zeros(len(order), np.int64)
        by_query[query[last]] = table.column(column).to_numpy()[last]
        return by_query

    if strict:
        for column, text in (("problems", " or ".join(PROBLEMS.values())), ("repeated", "a document is duplicated")):
            bad = np.flatnonzero(counted(column))
            if len(bad):
                raise InputError(f"in the ranking of query '{ids.show(arrays.queries[bad[0]])}', {text}", where=name)

    answered = np.zeros(len(order), bool)
    answered[query[last]] = True
    rank, first, final = columns["rank"][hits], columns["tie_first"][hits], columns["tie_last"][hits]
    placed = PlacedRows(query[hits], rank, None, first, final, whole_grade[hits])
    placements = assemble(arrays, counted("lines"), answered, placed)
    lines = placements.retrieved
    counts_before_cut = {
        "infinite": counted("infinite"),
        "constant": ((lines > 1) & (counted("distinct_scores") == 1)).astype(np.int64),
        "problems": counted("problems"),
        "repeated": counted("repeated"),
        "wrong_judgements": np.bincount(query[wrong & (query >= 0)], minlength=len(order)),
    }

    if depth is not None:
        placements = placements.cut(depth)
    counts = {
        "retrieved": placements.retrieved,
        **counts_before_cut,
        "judged_retrieved": placements.count(placements.grade >= 0),
        "no_relevant": (placements.relevant(1) == 0).astype(np.int64),
        "relevant": placements.relevant(1),
        "relevant_retrieved": placements.count(placements.grade >= 1),
        "tied": placements.count(placements.tie_first < placements.tie_last),
    }

    values = {}
    for i, measure in enumerate(measures):
        values[f"m{i}"] = pipeline.values_of(measure, {"placements": placements}, rules)
        if strict:  # raises where the policy for queries without relevant documents says so
            pipeline.column_of(measure, values[f"m{i}"], rules, arrays.queries, name)

    return pa.table(
        {
            "query": pa.array(order, pa.binary()),
            "answered": answered,
            **{column: np.asarray(counts[column], np.int64) for column in COUNTS},
            **values,
        }
    )
