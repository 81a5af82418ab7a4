"""The engine for runs in Spark: the cluster ranks and joins in its own SQL, and only placements leave it.

Where few documents of a query are judged, their ranks are counted: one job finds their scores, one counts the lines
between them. Otherwise one job sorts the lines of judged queries. A last one counts the queries that nobody judged
and, where lines were not sorted, looks for repeated documents by their hashes. What comes back is a row or two for
each judged document that was retrieved and one for each judged query. No Python runs on the executors, and nothing but
DataFrames and SQL is used, so Spark Connect works as a classic session does.
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
from goldrank.engine.counts import MOST_EXAMPLES, RunCounts, assemble

BROADCAST_AT_MOST = 500_000
"""Judgements are sent to every executor up to so many; beyond that Spark decides how to join."""

MOST_JUDGED = 200
MOST_COUNTED = 16
"""Ranks are counted where no query has more judged documents than the first, and none that were retrieved than the
second; otherwise lines are sorted."""

NEAR_FORM = -1
"""The label of an id that would be a judged one after Unicode normalisation."""

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
    forms = [[ids.encode(form) for form in near.get(query, ())] for query in arrays.queries] if near else []
    docs = [doc for query in order for doc in raw[query]]
    codes = np.repeat(np.arange(len(order), dtype=np.int32), np.diff(arrays.start))
    labels = np.arange(len(docs), dtype=np.int32)
    if forms:
        docs += [form for row in forms for form in row]
        codes = np.append(codes, np.repeat(np.arange(len(order), dtype=np.int32), [len(row) for row in forms]))
        labels = np.append(labels, np.full(len(docs) - len(labels), NEAR_FORM, np.int32))
    queries = _frame(session, query=order, key=np.arange(len(order)))
    asked = JudgedPairs(order, docs, codes, labels)

    with evaluated_once(lines) as run:
        placed = count(run, asked, convention) or sort(run, asked, queries, convention)
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
    rows = (codes[label].astype(np.int64), rank, label.astype(np.int64), tie_first, tie_last)
    return assemble(arrays, placed.retrieved, placed.answered, *rows), counts


def _frame(session: Any, **columns: Sequence[bytes | None] | np.ndarray) -> Any:
    """A frame of Spark: lists are of bytes, arrays of numbers, which objects may lack."""
    with needed("pyspark"):
        import pyarrow as pa

    def column(values: Any) -> Any:
        if not isinstance(values, np.ndarray):
            return pa.array(values, pa.binary())
        return pa.array(values, pa.float64()) if values.dtype == object else values

    return session.createDataFrame(pa.table({name: column(values) for name, values in columns.items()}))


class JudgedPairs(NamedTuple):
    """Judged documents, and near forms of their ids, by the numbers of their queries."""

    order: Sequence[bytes]
    docs: Sequence[bytes]
    key: np.ndarray
    label: np.ndarray


class Ranked(NamedTuple):
    """What the cluster says of the run: a row per judged document that was retrieved, and counts of judged queries."""

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
    """Whether documents seem to be duplicated, by their hashes; None where nobody looked."""


def count(run: SparkLines, judged: JudgedPairs, convention: Convention) -> Ranked | None:
    """Ranks without any sorting, where few judged documents of a query were retrieved; None where they are many.

    One job finds the scores of judged documents. They go back as columns of their queries, so that each line of the
    run is compared with them where it lies, and only the numbers of lines between them are shuffled.
    """
    per_query = np.bincount(judged.key, minlength=len(judged.order))
    if len(judged.docs) > BROADCAST_AT_MOST or per_query.max(initial=0) > MOST_JUDGED:
        return None
    session = run.frame.sparkSession
    score = _score(convention)
    asked = [judged.order[key] for key in judged.key.tolist()]
    pairs = _frame(session, query=asked, doc=judged.docs, row=np.arange(len(judged.docs)))
    # Joined by one long number, which Spark looks up fastest; both comparisons together are an equality of ids that
    # it does not take for another key.
    placed = session.sql(
        f"""
        SELECT /*+ BROADCAST(p) */ p.row, {score} AS score
        FROM {{run}} r JOIN (SELECT *, xxhash64(query, doc) AS hash FROM {{pairs}}) p
        ON xxhash64(r.query, r.doc) = p.hash AND r.doc >= p.doc AND r.doc <= p.doc
            AND r.query >= p.query AND r.query <= p.query
        """,  # noqa: S608 - words of this file only
        run=run.frame,
        pairs=pairs,
    ).toArrow()
    row, scores = placed.column("row").to_numpy(), placed.column("score").fill_null(0.0).to_numpy()
    key = judged.key[row].astype(np.int64)
    width = int(np.bincount(key, minlength=1).max())
    if width > MOST_COUNTED:
        return None
    up = convention.ties == "docid-ascending"
    docs = np.array([judged.docs[i] for i in row.tolist()], object)
    by_doc = np.zeros(len(row), np.int64)
    by_doc[np.argsort(docs, kind="stable")] = np.arange(len(row))
    best = np.lexsort((by_doc if up else -by_doc, -scores, key))
    key, row, scores, docs = key[best], row[best], scores[best], docs[best]
    start = np.searchsorted(key, np.arange(len(judged.order) + 1))
    number = np.arange(len(key)) - start[key]
    columns: dict[str, Any] = {"query": judged.order, "key": np.arange(len(judged.order))}
    for i in range(width):
        here = number == i
        values = np.full(len(judged.order), None, object)
        texts = values.copy()
        values[key[here]] = scores[here]
        texts[key[here]] = docs[here]
        columns |= {f"s{i}": values, f"d{i}": texts.tolist()}

    def above(condition: str) -> str:
        """How many of the query's judged documents fulfil a condition."""
        cases = [f"CASE WHEN {condition.format(i=i)} THEN 1 ELSE 0 END" for i in range(width)]
        return " + ".join(cases) or "0"

    as_good = f"(j.s{{i}} = r.score AND j.d{{i}} {'<=' if up else '>='} r.doc)"
    between = session.sql(
        f"""
        WITH lines AS (SELECT query, doc, {score} AS score, problem IS NOT NULL AS problem, nothing FROM {{run}} r),
        compared AS (
            SELECT /*+ BROADCAST(j) */ j.key, r.score, r.problem, r.nothing,
                   {above("j.s{i} >= r.score")} AS at_least, {above("j.s{i} > r.score")} AS more,
                   {above("j.s{i} > r.score OR " + as_good)} AS before
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
    of = {name: between.column(name).to_numpy() for name in ("key", "at_least", "more", "before", "lines")}
    queries_count = len(judged.order)
    retrieved = np.bincount(of["key"], weights=of["lines"], minlength=queries_count).astype(np.int64)
    answered = np.bincount(of["key"], minlength=queries_count) > 0

    def better(which: str) -> np.ndarray:
        """For each judged document, the lines of its query that fewer judged ones than its number stand before."""
        table = np.zeros((queries_count, width + 1), np.int64)
        np.add.at(table, (of["key"], of[which]), of["lines"])
        return table.cumsum(axis=1)[key, number] if len(key) else np.zeros(0, np.int64)

    same = np.zeros(len(key), bool)
    same[1:] = (key[1:] == key[:-1]) & (scores[1:] == scores[:-1]) & (docs[1:] == docs[:-1])
    run_of = np.arange(len(key))
    since = run_of - np.maximum.accumulate(np.where(same, 0, run_of))
    low, high = np.full(queries_count, np.inf), np.full(queries_count, -np.inf)
    for name, extreme, ufunc in (("lowest", low, np.minimum), ("highest", high, np.maximum)):
        values = between.column(name)
        there = values.is_valid().to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):  # NaN is refused later
            ufunc.at(extreme, of["key"][there], values.drop_null().to_numpy())
    return Ranked(
        label=judged.label[row],
        rank=1 + better("before") + since,
        first=1 + better("at_least"),
        last=better("more"),
        retrieved=retrieved,
        answered=answered,
        infinite=int(between.column("infinite").to_numpy().sum()),
        constant=int(((retrieved > 1) & (low == high)).sum()),
        problems=bool(between.column("problems").to_numpy().any()),
        repeated=None,
    )


def sort(run: SparkLines, judged: JudgedPairs, queries: Any, convention: Convention) -> Ranked:
    """Ranks by sorting every judged query, where many of its documents are judged; one job."""
    pairs = _frame(run.frame.sparkSession, key=judged.key, doc=judged.docs, label=judged.label)
    placed = rank(run, queries, pairs, convention, small=len(judged.docs) <= BROADCAST_AT_MOST).toArrow()
    columns = {name: placed.column(name).to_numpy() for name in placed.column_names if name != "label"}
    label = placed.column("label").fill_null(-2).to_numpy()
    last = columns["is_last"].astype(bool)
    retrieved = np.zeros(len(judged.order), np.int64)
    retrieved[columns["key"][last]] = columns["lines"][last]
    answered = np.zeros(len(judged.order), bool)
    answered[columns["key"][last]] = True

    return Ranked(
        label=label,
        rank=columns["rank"],
        first=columns["tie_first"],
        last=columns["tie_last"],
        retrieved=retrieved,
        answered=answered,
        infinite=int(columns["infinite"][last].sum()),
        constant=int((last & (columns["lines"] > 1) & (columns["distinct_scores"] == 1)).sum()),
        problems=bool(columns["problems"][last].any()),
        repeated=bool(columns["repeated"][last].any()),
    )


def _score(convention: Convention) -> str:
    return "CAST(CAST(r.score AS FLOAT) AS DOUBLE)" if convention.score_type == "float32" else "r.score"


def rank(run: SparkLines, queries: Any, pairs: Any, convention: Convention, *, small: bool) -> Any:
    """Rows of `pairs` with their ranks among the run's lines, and the last line of each query with what was counted.

    `queries` gives each judged query a `key`; `pairs` gives judged documents of a `key` a `label`. Columns: key,
    label (null in a line that is only the last), rank, tie_first, tie_last, is_last, and running counts, which are
    those of the whole query in its last line: lines, problems, repeated, infinite, distinct_scores.
    """
    up = convention.ties == "docid-ascending"
    best_first = f"PARTITION BY key ORDER BY score DESC NULLS LAST, doc {'ASC' if up else 'DESC'} NULLS LAST"
    by_score = "PARTITION BY key ORDER BY score DESC NULLS LAST"
    score = _score(convention)
    # Equal hashes of one query's documents are suspects; `refuse_repeats` compares their ids. The lines of a query
    # are brought together first (DISTRIBUTE BY): that one shuffle, of rows without hashes, then serves all windows.
    again = (
        "lag(1) OVER (PARTITION BY xxhash64(doc), key ORDER BY xxhash64(doc))"
        if convention.duplicates != "count"
        else "NULL"
    )
    hint = "/*+ BROADCAST({}) */" if small else ""
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
            SELECT *, {again} AS again FROM joined
        ), ranked AS (
            SELECT key, label, score,
                   CAST(row_number() OVER ({best_first}) AS BIGINT) AS rank,
                   lead(1) OVER ({best_first}) IS NULL AS is_last,
                   count_if(NOT nothing) {so_far} AS lines,
                   count_if(problem) {so_far} AS problems,
                   count_if(again IS NOT NULL AND NOT nothing) {so_far} AS repeated,
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
    """A job of its own."""
    if convention.ties == "input":
        raise _needs_order("the first documents of each query are asked for", lines.name, "ties='input'")

    session = lines.frame.sparkSession
    order = [ids.encode(query) for query in queries]
    table = _frame(session, query=order, key=np.arange(len(order)))
    up = "ASC" if convention.ties == "docid-ascending" else "DESC"
    score = _score(convention)
    first = session.sql(
        f"""
        WITH asked AS (
            SELECT j.key, r.doc, {score} AS score FROM {{run}} r JOIN {{queries}} j ON r.query = j.query
            WHERE NOT r.nothing
        ), ranked AS (
            SELECT key, doc, row_number() OVER (PARTITION BY key ORDER BY score DESC, doc {up}) AS rank FROM asked
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

    With `look_for_repeats` the same pass says whether a judged query has two documents of the same hash; `queries` are
    then sent to every executor, and of the lines only hashes are shuffled.
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
    counts.unjudged_examples = [ids.decode(query) for query in sorted(row["query"] for row in rows)[:MOST_EXAMPLES]]
    return bool(len(rows) < table.num_rows)


def refuse_repeats(run: SparkLines, queries: Any, convention: Convention) -> None:
    """Raise if a document is really twice in a ranking, and not only its hash."""
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
    query, doc = ids.show(ids.decode(row["query"])), ids.show(ids.decode(row["doc"]))
    what = f"document '{doc}' is in the ranking of query '{query}' {row['times']} times"
    if convention.duplicates == "error":
        raise InputError(
            what,
            where=run.name,
            hint="Leave one line of each, for example with groupBy(query, doc).agg(max(score)), or let every line"
            " count: duplicates='count'.",
        )

    raise _needs_order(what, run.name, f"duplicates='{convention.duplicates}'")


def first_problem(run: SparkLines, queries: Any) -> InputError:
    """The error for the first line, by query and document, that cannot be ranked."""
    judged = "LEFT SEMI JOIN {queries} j ON r.query = j.query" if queries is not None else ""
    frames = {"run": run.frame} | ({} if queries is None else {"queries": queries})
    table = run.frame.sparkSession.sql(
        f"""
        SELECT r.query, r.doc, r.problem FROM {{run}} r {judged} WHERE r.problem IS NOT NULL
        ORDER BY r.problem = 'query' DESC, r.query, r.doc LIMIT 1
        """,  # noqa: S608 - words of this file only
        **frames,
    ).toArrow()
    row = table.to_pylist()[0]
    parts = [run.name]
    for word, text in (("query", "query"), ("doc", "document")):
        if row[word]:
            parts.append(f"{text} '{ids.show(ids.decode(row[word]))}'")

    word = {"query": "query", "doc": "doc"}.get(row["problem"], "score")
    return InputError(
        PROBLEMS[row["problem"]] + (f" (column '{run.columns[word]}')" if row["problem"] != "length" else ""),
        where=f"{parts[0]}: {', '.join(parts[1:])}" if len(parts) > 1 else parts[0],
        hint="A document that was not scored has no place in a ranking: leave it out." if word == "score" else None,
    )


def _needs_order(what: str, where: str, policy: str) -> InputError:
    return InputError(
        what,
        where=where,
        hint=f"{policy} needs an order of lines, and a Spark DataFrame has none. Leave one line of each document and"
        " make scores that differ, or use another policy.",
    )


@contextlib.contextmanager
def evaluated_once(lines: SparkLines) -> Iterator[SparkLines]:
    """The run for several jobs: kept in Spark's cache meanwhile, unless reading it again is as cheap.

    Files and frames that are cached already are read again. Where the cluster allows no cache (serverless), the
    frame is computed once for each job.
    """
    if is_plain(lines.frame):
        yield lines
        return
    try:
        kept = lines.frame.persist()
    except Exception as error:
        if "PERSIST" not in str(error).upper() and "SERVERLESS" not in str(error).upper():
            raise
        yield lines
        return
    try:
        # A frame that SQL names gets a view, and with the view Spark forgets what it kept of that very frame: so
        # another one is named, which has the columns in another order.
        yield SparkLines(kept.select("doc", "query", "score", "problem", "nothing"), lines.name, lines.columns)
    finally:
        kept.unpersist()


def is_plain(frame: Any) -> bool:
    """Whether a frame only reads, selects and filters, by its plan."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        frame.explain()
    steps = [line.lstrip(" :+-*()0123456789") for line in text.getvalue().splitlines()]
    return all(not step or step.startswith(("== ", *_FREE)) for step in steps)
