"""The engine for runs in Spark: the cluster ranks and joins by SQL, and only placements leave it.

If few documents of a query are judged, their ranks are counted: one job finds their scores, another counts the lines
between them. Otherwise one job sorts the lines of judged queries. A last job counts the queries that are not judged
and, if lines were not sorted, looks for repeated documents by their hashes. The result is a row or two for each judged
document that was retrieved, and one for each judged query. No Python runs on the executors, and only DataFrames and SQL
are used, so that Spark Connect works like a classic session.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.packages import needed
from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import PROBLEMS, Run, SparkLines
from goldrank.engine import Engine
from goldrank.engine.counts import MOST_EXAMPLES, PlacedRows, RunCounts, assemble

BROADCAST_AT_MOST = 500_000
"""Most judgements that are sent to every executor; for more, Spark decides how to join."""

MOST_JUDGED = 200
MOST_COUNTED = 16
"""Ranks are counted if no query has more judged documents than the first number, nor more retrieved ones than the
second; otherwise lines are sorted."""

NEAR_FORM = -1
"""The label of an id that would be judged after Unicode normalisation."""

_SOURCES = ("FileScan", "BatchScan", "LocalTableScan", "InMemoryTableScan", "Scan ", "Range", "RDDScan")
_FREE = ("Project", "Filter", "ColumnarToRow", "AdaptiveSparkPlan", "InMemoryRelation", "ColumnarToRow", *_SOURCES)


class SparkEngine(Engine):
    """Places runs in Spark by judgements on the driver."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        return _place(qrels, cast(SparkLines, run.source), convention)

    def top_documents(self, run: Run, queries: Sequence[str], depth: int, convention: Convention) -> list[list[str]]:
        return _top_documents(cast(SparkLines, run.source), queries, depth, convention)


ENGINE = SparkEngine()


def _place(qrels: Qrels, lines: SparkLines, convention: Convention) -> tuple[Placements, RunCounts]:
    arrays = qrels.arrays
    session = lines.frame.sparkSession
    order = qrels.order
    raw = qrels.raw
    near = qrels.near_forms
    docs = [doc for query in order for doc in raw[query]]
    codes = np.repeat(np.arange(len(order), dtype=np.int32), np.diff(arrays.start))
    labels = np.arange(len(docs), dtype=np.int32)
    if near:
        near_codes: list[int] = []
        for code, query in enumerate(arrays.queries):
            forms = near.get(query, {})
            docs += map(ids.encode, forms)
            near_codes += [code] * len(forms)
        codes = np.append(codes, np.array(near_codes, np.int32))
        labels = np.append(labels, np.full(len(near_codes), NEAR_FORM, np.int32))
    queries = _frame(session, query=order, key=np.arange(len(order)))
    judged = JudgedPairs(order, docs, codes, labels)

    with evaluated_once(lines) as run:
        placed = count(run, judged, convention) or sort(run, judged, queries, convention)
        if placed.problems:
            raise first_problem(run, queries)

        counts = RunCounts()
        look_for_repeats = placed.repeated is None and convention.duplicates != "count"
        if count_unjudged(run, queries, counts, look_for_repeats) or placed.repeated:
            refuse_repeats(run, queries, convention)
        counts.lines = int(placed.retrieved.sum())
        counts.infinite = placed.infinite
        counts.constant = placed.constant
        counts.near_forms = int((placed.label == NEAR_FORM).sum())
        if not placed.answered.any() and not counts.unjudged_queries:
            hint = "Did the system return anything?"
            raise InputError("no rows", where=lines.name, hint=hint, code="empty-input")

        hits = placed.label >= 0
        if not hits.any():
            examples = run.frame.where("problem IS NULL AND NOT nothing").select("doc").limit(3).toArrow()
            counts.example_docs = [ids.decode(doc) for doc in examples.column("doc").to_pylist()]

    label = placed.label[hits]
    rank, tie_first, tie_last = (column[hits].astype(np.int64) for column in (placed.rank, placed.first, placed.last))
    if convention.ties == "input" and (tie_first < tie_last).any():
        raise _needs_order("judged documents are tied", lines.name, "ties='input'")
    rows = PlacedRows(codes[label].astype(np.int64), rank, label.astype(np.int64), tie_first, tie_last)
    return assemble(arrays, placed.retrieved, placed.answered, rows), counts


def _frame(session: Any, **columns: Sequence[bytes | None] | np.ndarray) -> Any:
    """A frame of Spark: lists are of bytes, arrays of numbers; arrays of objects may have missing numbers."""
    with needed("pyspark"):
        import pyarrow as pa

    def column(values: Any) -> Any:
        if not isinstance(values, np.ndarray):
            return pa.array(values, pa.binary())
        if values.dtype == object:
            return pa.array(values, pa.float64())
        return values

    return session.createDataFrame(pa.table({name: column(values) for name, values in columns.items()}))


class JudgedPairs(NamedTuple):
    """Judged documents, and near forms of their ids, by the numbers of their queries."""

    order: Sequence[bytes]
    docs: Sequence[bytes]
    key: np.ndarray
    label: np.ndarray


class Ranked(NamedTuple):
    """The result of the cluster: a row per judged document that was retrieved, and counts of judged queries."""

    label: np.ndarray
    rank: np.ndarray
    first: np.ndarray
    last: np.ndarray
    retrieved: np.ndarray
    answered: np.ndarray
    infinite: int
    constant: int
    problems: bool
    repeated: bool | None
    """Whether documents seem to be duplicated, by their hashes; None if that was not checked."""


def count(run: SparkLines, judged: JudgedPairs, convention: Convention) -> Ranked | None:
    """Ranks without sorting, if few judged documents of a query were retrieved; None if they are many.

    One job finds the scores of judged documents. They are sent back as columns of their queries, so that each line of
    the run is compared with them on its executor, and only the numbers of lines between them are shuffled.
    """
    per_query = np.bincount(judged.key, minlength=len(judged.order))
    if len(judged.docs) > BROADCAST_AT_MOST or per_query.max(initial=0) > MOST_JUDGED:
        return None
    scored = _judged_scores(run, judged, convention)
    if scored is None:
        return None

    between = _lines_between(run, judged, scored, convention)
    column_of = {name: between.column(name).to_numpy() for name in ("key", "at_least", "more", "before", "lines")}
    line_key = column_of["key"]
    queries = len(judged.order)
    retrieved = np.bincount(line_key, weights=column_of["lines"], minlength=queries).astype(np.int64)

    def lines_before(position: str) -> np.ndarray:
        """For each judged document, the lines of its query with fewer judged documents before them than its number."""
        table = np.zeros((queries, scored.width + 1), np.int64)
        np.add.at(table, (line_key, column_of[position]), column_of["lines"])
        return np.asarray(table.cumsum(axis=1)[scored.key, scored.number])

    low = np.full(queries, np.inf)
    high = np.full(queries, -np.inf)
    for name, extreme, ufunc in (("lowest", low, np.minimum), ("highest", high, np.maximum)):
        values = between.column(name)
        is_valid = values.is_valid().to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):  # NaN is refused later
            ufunc.at(extreme, line_key[is_valid], values.drop_null().to_numpy())

    return Ranked(
        label=judged.label[scored.row],
        rank=1 + lines_before("before") + _repetitions(scored),
        first=1 + lines_before("at_least"),
        last=lines_before("more"),
        retrieved=retrieved,
        answered=np.bincount(line_key, minlength=queries) > 0,
        infinite=int(between.column("infinite").to_numpy().sum()),
        constant=int(((retrieved > 1) & (low == high)).sum()),
        problems=bool(between.column("problems").to_numpy().any()),
        repeated=None,
    )


class _ScoredPairs(NamedTuple):
    """Judged documents that were retrieved, by query, best first."""

    row: np.ndarray
    """The row in `JudgedPairs`."""
    key: np.ndarray
    """The number of the query."""
    number: np.ndarray
    """The number of the document among those of its query, from 0."""
    score: np.ndarray
    doc: np.ndarray

    @property
    def width(self) -> int:
        """The largest number of documents of a query."""
        return int(self.number.max(initial=-1)) + 1


def _judged_scores(run: SparkLines, judged: JudgedPairs, convention: Convention) -> _ScoredPairs | None:
    """The scores of judged documents; None if a query has more than `MOST_COUNTED`."""
    session = run.frame.sparkSession
    queries = [judged.order[key] for key in judged.key.tolist()]
    pairs = _frame(session, query=queries, doc=judged.docs, row=np.arange(len(judged.docs)))
    # Joined by one long number, which Spark finds fastest. The two comparisons together mean equal ids, but Spark
    # does not use them as another key.
    placed = session.sql(
        f"""
        SELECT /*+ BROADCAST(p) */ p.row, {_score(convention)} AS score
        FROM {{run}} r JOIN (SELECT *, xxhash64(query, doc) AS hash FROM {{pairs}}) p
        ON xxhash64(r.query, r.doc) = p.hash AND r.doc >= p.doc AND r.doc <= p.doc
            AND r.query >= p.query AND r.query <= p.query
        """,  # noqa: S608 - words of this file only
        run=run.frame,
        pairs=pairs,
    ).toArrow()
    row = placed.column("row").to_numpy()
    score = placed.column("score").fill_null(0.0).to_numpy()
    key = judged.key[row].astype(np.int64)
    if int(np.bincount(key, minlength=1).max()) > MOST_COUNTED:
        return None

    doc = np.array([judged.docs[i] for i in row.tolist()], object)
    by_doc = np.zeros(len(row), np.int64)
    by_doc[np.argsort(doc, kind="stable")] = np.arange(len(row))
    if convention.ties != "docid-ascending":
        by_doc = -by_doc
    best_first = np.lexsort((by_doc, -score, key))
    key = key[best_first]
    start = np.searchsorted(key, np.arange(len(judged.order) + 1))
    number = np.arange(len(key)) - start[key]
    return _ScoredPairs(row[best_first], key, number, score[best_first], doc[best_first])


def _lines_between(run: SparkLines, judged: JudgedPairs, scored: _ScoredPairs, convention: Convention) -> Any:
    """The numbers of lines between judged documents, by query, with counts, as a table of Arrow."""
    session = run.frame.sparkSession
    columns: dict[str, Any] = {"query": judged.order, "key": np.arange(len(judged.order))}
    for i in range(scored.width):
        is_ith = scored.number == i
        scores = np.full(len(judged.order), None, object)
        docs = scores.copy()
        scores[scored.key[is_ith]] = scored.score[is_ith]
        docs[scored.key[is_ith]] = scored.doc[is_ith]
        columns |= {f"s{i}": scores, f"d{i}": docs.tolist()}

    def fulfilled(condition: str) -> str:
        """SQL: the number of the query's judged documents that fulfil a condition."""
        cases = [f"CASE WHEN {condition.format(i=i)} THEN 1 ELSE 0 END" for i in range(scored.width)]
        return " + ".join(cases) or "0"

    comparison = ">="
    if convention.ties == "docid-ascending":
        comparison = "<="
    as_good = f"(j.s{{i}} = r.score AND j.d{{i}} {comparison} r.doc)"
    return session.sql(
        f"""
        WITH lines AS (
            SELECT query, doc, {_score(convention)} AS score, problem IS NOT NULL AS problem, nothing FROM {{run}} r
        ),
        compared AS (
            SELECT /*+ BROADCAST(j) */ j.key, r.score, r.problem, r.nothing,
                   {fulfilled("j.s{i} >= r.score")} AS at_least, {fulfilled("j.s{i} > r.score")} AS more,
                   {fulfilled("j.s{i} > r.score OR " + as_good)} AS before
            FROM lines r JOIN (SELECT *, xxhash64(query) AS hash FROM {{judged}}) j
            ON xxhash64(r.query) = j.hash AND r.query >= j.query AND r.query <= j.query
        )
        SELECT key, at_least, more, before, count_if(NOT nothing) AS lines, count_if(problem) AS problems,
               count_if(score IN (CAST('Infinity' AS DOUBLE), CAST('-Infinity' AS DOUBLE))) AS infinite,
               min(score) AS lowest, max(score) AS highest
        FROM compared GROUP BY key, at_least, more, before
        """,  # noqa: S608 - words of this file only
        run=run.frame,
        judged=_frame(session, **columns),
    ).toArrow()


def _repetitions(scored: _ScoredPairs) -> np.ndarray:
    """For each line of a document that a ranking repeats, the number of its earlier lines."""
    key, score, doc = scored.key, scored.score, scored.doc
    is_repeated = np.zeros(len(key), bool)
    is_repeated[1:] = (key[1:] == key[:-1]) & (score[1:] == score[:-1]) & (doc[1:] == doc[:-1])
    index = np.arange(len(key))
    repetitions: np.ndarray = index - np.maximum.accumulate(np.where(is_repeated, 0, index))
    return repetitions


def sort(run: SparkLines, judged: JudgedPairs, queries: Any, convention: Convention) -> Ranked:
    """Ranks by sorting all lines of judged queries, in one job."""
    pairs = _frame(run.frame.sparkSession, key=judged.key, doc=judged.docs, label=judged.label)
    placed = rank(run, queries, pairs, convention, small=len(judged.docs) <= BROADCAST_AT_MOST).toArrow()
    columns = {name: placed.column(name).to_numpy() for name in placed.column_names if name != "label"}
    label = placed.column("label").fill_null(-2).to_numpy()
    is_last = columns["is_last"].astype(bool)
    retrieved = np.zeros(len(judged.order), np.int64)
    retrieved[columns["key"][is_last]] = columns["lines"][is_last]
    answered = np.zeros(len(judged.order), bool)
    answered[columns["key"][is_last]] = True

    return Ranked(
        label=label,
        rank=columns["rank"],
        first=columns["tie_first"],
        last=columns["tie_last"],
        retrieved=retrieved,
        answered=answered,
        infinite=int(columns["infinite"][is_last].sum()),
        constant=int((is_last & (columns["lines"] > 1) & (columns["distinct_scores"] == 1)).sum()),
        problems=bool(columns["problems"][is_last].any()),
        repeated=bool(columns["repeated"][is_last].any()),
    )


def _score(convention: Convention) -> str:
    """SQL: the score in the precision of the convention."""
    if convention.score_type == "float32":
        return "CAST(CAST(r.score AS FLOAT) AS DOUBLE)"
    return "r.score"


def _doc_order(convention: Convention) -> str:
    """SQL: the order of documents with equal scores."""
    if convention.ties == "docid-ascending":
        return "ASC"
    return "DESC"


def rank(run: SparkLines, queries: Any, pairs: Any, convention: Convention, *, small: bool) -> Any:
    """Rows of `pairs` with their ranks among the run's lines, and the last line of each query with counts.

    `queries` has a `key` for each judged query; `pairs` has a `label` for each judged document of a `key`. Columns:
    key, label (null in a line that is there only because it is the last), rank, tie_first, tie_last, is_last, and
    running counts, which are those of the complete query in its last line: lines, problems, repeated, infinite,
    distinct_scores.
    """
    best_first = f"PARTITION BY key ORDER BY score DESC NULLS LAST, doc {_doc_order(convention)} NULLS LAST"
    by_score = "PARTITION BY key ORDER BY score DESC NULLS LAST"
    score = _score(convention)
    # Documents of one query with equal hashes may be equal; `refuse_repeats` compares their ids. The lines of a query
    # are brought together first (DISTRIBUTE BY): this one shuffle, of rows without hashes, serves all windows.
    repetition = "NULL"
    if convention.duplicates != "count":
        repetition = "lag(1) OVER (PARTITION BY xxhash64(doc), key ORDER BY xxhash64(doc))"
    hint = ""
    if small:
        hint = "/*+ BROADCAST({}) */"
    so_far = f"OVER ({best_first} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    return run.frame.sparkSession.sql(
        f"""
        WITH asked AS (
            SELECT {hint.format("j")} j.key, r.doc, {score} AS score, r.problem IS NOT NULL AS problem, r.nothing
            FROM {{run}} r JOIN {{queries}} j ON r.query = j.query
        ), joined AS (
            SELECT {hint.format("p")} a.*, p.label FROM asked a LEFT JOIN {{pairs}} p ON a.key = p.key AND a.doc = p.doc
            DISTRIBUTE BY key
        ), known AS (
            SELECT *, {repetition} AS repetition FROM joined
        ), ranked AS (
            SELECT key, label, score,
                   CAST(row_number() OVER ({best_first}) AS BIGINT) AS rank,
                   lead(1) OVER ({best_first}) IS NULL AS is_last,
                   count_if(NOT nothing) {so_far} AS lines,
                   count_if(problem) {so_far} AS problems,
                   count_if(repetition IS NOT NULL AND NOT nothing) {so_far} AS repeated,
                   count_if(score IN (CAST('Infinity' AS DOUBLE), CAST('-Infinity' AS DOUBLE))) {so_far} AS infinite
            FROM known
        ), tied AS (
            SELECT *, CAST(rank() OVER ({by_score}) AS BIGINT) AS tie_first, count(1) OVER ({by_score}) AS tie_last,
                   CAST(dense_rank() OVER ({by_score}) AS BIGINT) AS distinct_scores
            FROM ranked
        )
        SELECT key, label, rank, tie_first, tie_last, is_last, lines, problems, repeated, infinite, distinct_scores
        FROM tied WHERE label IS NOT NULL OR is_last
        """,  # noqa: S608 - words of this file only
        run=run.frame,
        queries=queries,
        pairs=pairs,
    )


def _top_documents(lines: SparkLines, queries: Sequence[str], depth: int, convention: Convention) -> list[list[str]]:
    """The first documents of each query, by a separate job."""
    if convention.ties == "input":
        raise _needs_order("the first documents of each query are asked for", lines.name, "ties='input'")

    session = lines.frame.sparkSession
    order = [ids.encode(query) for query in queries]
    table = _frame(session, query=order, key=np.arange(len(order)))
    score = _score(convention)
    doc_order = _doc_order(convention)
    first = session.sql(
        f"""
        WITH asked AS (
            SELECT j.key, r.doc, {score} AS score FROM {{run}} r JOIN {{queries}} j ON r.query = j.query
            WHERE NOT r.nothing
        ), ranked AS (
            SELECT key, doc, row_number() OVER (PARTITION BY key ORDER BY score DESC, doc {doc_order}) AS rank
            FROM asked
        )
        SELECT key, rank, doc FROM ranked WHERE rank <= {int(depth)}
        """,  # noqa: S608 - words of this file only
        run=lines.frame,
        queries=table,
    ).toArrow()
    rankings: list[list[str]] = [[] for _ in order]
    rows = zip(*(first.column(name).to_pylist() for name in ("key", "rank", "doc")), strict=True)
    for key, _, doc in sorted(rows):
        rankings[key].append(ids.decode(doc))

    return rankings


def count_unjudged(run: SparkLines, queries: Any, counts: RunCounts, look_for_repeats: bool = False) -> bool:
    """Count the run's queries that are not judged; a query without an id is an error.

    With `look_for_repeats` this pass also returns whether a judged query has two documents with equal hashes; then
    `queries` are sent to every executor, and only the hashes of lines are shuffled.
    """
    bad = f"NOT judged AND (query IS NULL OR length(query) = 0 OR length(query) > {ids.MAX_ID_BYTES})"
    part = "judged, pmod(hash(query), 64)"
    seen = """
        SELECT r.query, false AS judged, false AS repeated
        FROM (SELECT DISTINCT query FROM {run}) r LEFT ANTI JOIN {queries} j ON r.query = j.query
    """
    if look_for_repeats:
        seen = """
        SELECT query, judged, size(array_distinct(hashes)) < size(hashes) AS repeated FROM (
            SELECT /*+ BROADCAST(j) */ IF(j.key IS NULL, r.query, NULL) AS query, j.key IS NOT NULL AS judged,
                   collect_list(IF(j.key IS NULL OR r.nothing, NULL, xxhash64(r.doc))) AS hashes
            FROM {run} r LEFT JOIN (SELECT *, xxhash64(query) AS hash FROM {queries}) j
            ON xxhash64(r.query) = j.hash AND r.query >= j.query AND r.query <= j.query
            GROUP BY j.key, IF(j.key IS NULL, r.query, NULL)
        )
        """
    table = run.frame.sparkSession.sql(
        f"""
        WITH seen AS ({seen}), counted AS (
            SELECT query, judged, {bad} AS bad, count(1) OVER (PARTITION BY {part}) AS size,
                   row_number() OVER (PARTITION BY {part} ORDER BY {bad} DESC, query) AS number
            FROM seen WHERE repeated OR NOT judged
        )
        SELECT query, judged, bad, size, number FROM counted WHERE number <= {MOST_EXAMPLES}
        """,  # noqa: S608 - words of this file only
        run=run.frame,
        queries=queries,
    ).toArrow()
    rows = [row for row in table.to_pylist() if not row["judged"]]
    if any(row["bad"] for row in rows):
        raise first_problem(run, None)
    counts.unjudged_queries = sum(row["size"] for row in rows if row["number"] == 1)
    examples = sorted(row["query"] for row in rows)[:MOST_EXAMPLES]
    counts.unjudged_examples = list(map(ids.decode, examples))
    return bool(len(rows) < table.num_rows)


def refuse_repeats(run: SparkLines, queries: Any, convention: Convention) -> None:
    """Raise if a document, and not only its hash, is twice in a ranking."""
    twice = run.frame.sparkSession.sql(
        """
        SELECT r.query, r.doc, count(1) AS times FROM {run} r LEFT SEMI JOIN {queries} j ON r.query = j.query
        WHERE NOT r.nothing GROUP BY r.query, r.doc HAVING count(1) > 1 ORDER BY r.query, r.doc LIMIT 1
        """,
        run=run.frame,
        queries=queries,
    ).toArrow()
    if not twice.num_rows:
        return

    row = twice.to_pylist()[0]
    query = ids.show(ids.decode(row["query"]))
    doc = ids.show(ids.decode(row["doc"]))
    problem = f"document '{doc}' is in the ranking of query '{query}' {row['times']} times"
    if convention.duplicates == "error":
        raise InputError(
            problem,
            where=run.name,
            hint="Leave one line of each, for example with groupBy(query, doc).agg(max(score)), or let every line"
            " count: duplicates='count'.",
        )

    raise _needs_order(problem, run.name, f"duplicates='{convention.duplicates}'")


def first_problem(run: SparkLines, queries: Any) -> InputError:
    """The error for the first line, by query and document, that cannot be ranked."""
    judged = ""
    frames = {"run": run.frame}
    if queries is not None:
        judged = "LEFT SEMI JOIN {queries} j ON r.query = j.query"
        frames["queries"] = queries
    table = run.frame.sparkSession.sql(
        f"""
        SELECT r.query, r.doc, r.problem FROM {{run}} r {judged} WHERE r.problem IS NOT NULL
        ORDER BY r.problem = 'query' DESC, r.query, r.doc LIMIT 1
        """,  # noqa: S608 - words of this file only
        **frames,
    ).toArrow()
    row = table.to_pylist()[0]
    names = []
    for column, noun in (("query", "query"), ("doc", "document")):
        if row[column]:
            names.append(f"{noun} '{ids.show(ids.decode(row[column]))}'")
    where = run.name
    if names:
        where = f"{run.name}: {', '.join(names)}"

    column = {"query": "query", "doc": "doc"}.get(row["problem"], "score")
    problem = PROBLEMS[row["problem"]]
    if row["problem"] != "length":
        problem += f" (column '{run.columns[column]}')"
    hint = None
    if column == "score":
        hint = "A document that was not scored does not belong into a ranking: leave it out."
    return InputError(problem, where=where, hint=hint)


def _needs_order(problem: str, where: str, policy: str) -> InputError:
    return InputError(
        problem,
        where=where,
        hint=f"{policy} needs an order of lines, and a Spark DataFrame has none. Leave one line of each document and"
        " make scores that differ, or use another policy.",
    )


@contextlib.contextmanager
def evaluated_once(lines: SparkLines) -> Iterator[SparkLines]:
    """The run for several jobs: in Spark's cache meanwhile, unless reading it again is as cheap.

    Files and frames that are cached already are read again. If the cluster allows no cache (serverless), the frame is
    computed for each job.
    """
    if is_plain(lines.frame):
        yield lines
        return

    try:
        cached = lines.frame.persist()
    except Exception as error:
        if "PERSIST" not in str(error).upper() and "SERVERLESS" not in str(error).upper():
            raise
        yield lines
        return

    try:
        # SQL makes a view of a frame that it uses, and when the view ends, Spark drops the cache of that frame. So SQL
        # gets another frame, with the columns in another order.
        yield SparkLines(cached.select("doc", "query", "score", "problem", "nothing"), lines.name, lines.columns)
    finally:
        cached.unpersist()


def is_plain(frame: Any) -> bool:
    """Whether a frame only reads, selects and filters, according to its plan."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        frame.explain()
    steps = [line.lstrip(" :+-*()0123456789") for line in text.getvalue().splitlines()]
    return all(not step or step.startswith(("== ", *_FREE)) for step in steps)
