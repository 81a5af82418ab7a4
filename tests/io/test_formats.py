"""Every input that people already have is read with the right ids and values, and written files read back equal."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import os
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path
from typing import Any

import duckdb
import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from helpers import QRELS, RUN, SOUND, codes, zstd
from raising import raises_code

from goldrank import GoldrankError, evaluate, read_qrels, read_run
from goldrank.base.notes import Note
from goldrank.io import as_qrels, as_run
from goldrank.io.compression import COMPRESSIONS

WANT_QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
WANT_RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}}
RANKED = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}
RUN_ROWS = [(q, d, s) for q, row in WANT_RUN.items() for d, s in row.items()]
QRELS_ROWS = [(q, d, g) for q, row in WANT_QRELS.items() for d, g in row.items()]


def run_of(given: Any, **options: Any) -> dict[str, dict[str, float]]:
    run = read_run(given, **options)
    return {query: dict(run[query]) for query in run}


def qrels_of(given: Any, **options: Any) -> dict[str, dict[str, float]]:
    qrels = read_qrels(given, **options)
    return {query: dict(qrels[query]) for query in qrels}


def stream(data: bytes | str) -> io.BytesIO:
    return io.BytesIO(data if isinstance(data, bytes) else data.encode())


# TREC text and its relatives.

SHAPES = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "zst": zstd,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "comments": lambda data: b"# one\n#two\n" + data + b"# three\n",
    "blanks": lambda data: b" \t" + data.replace(b" ", b"\t\v\f ").replace(b"\n", b" \n\n"),
    "tabs": lambda data: data.replace(b" ", b"\t"),
    "no line end": lambda data: data[:-1],
    "BOM in gz": lambda data: gzip.compress(b"\xef\xbb\xbf" + data),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", ["path", "text path", "stream", "file"])
def test_trec(shape: str, how: str, tmp_path: Path) -> None:
    for data, read, want in ((RUN, run_of, WANT_RUN), (QRELS, qrels_of, WANT_QRELS)):
        path = tmp_path / ("file." + shape if shape in ("gz", "zst", "bz2", "xz") else "file")
        path.write_bytes(SHAPES[shape](data))
        if how == "file":
            with open(path, "rb") as file:
                assert read(file) == want
        else:
            assert read({"path": path, "text path": str(path), "stream": stream(path.read_bytes())}[how]) == want


def test_trec_without_tag() -> None:
    assert run_of(stream(RUN.replace(b" r\n", b"\n")), format="trec-no-tag") == WANT_RUN


def test_trec_qrels_of_three_columns() -> None:
    assert qrels_of(stream(QRELS.replace(b" 0 d", b" d")), format="trec-3col") == WANT_QRELS


def test_ms_marco_run() -> None:
    want = {q: {d: -float(i) for i, d in enumerate(docs, 1)} for q, docs in RANKED.items()}
    text = "".join(f"{q}\t{d}\t{i}\n" for q, docs in RANKED.items() for i, d in enumerate(docs, 1))
    assert run_of(stream(text)) == want
    assert run_of(stream(text), format="msmarco") == want
    with pytest.raises(GoldrankError, match=r"<stream>:2:7: rank 'x' is not a whole number"):
        evaluate(WANT_QRELS, read_run(stream("q1\td1\t1\nq1\td2\tx\n"), format="msmarco"))


def test_beir_qrels_and_folder(tmp_path: Path) -> None:
    text = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in QRELS_ROWS)
    assert qrels_of(stream(text)) == WANT_QRELS
    folder = tmp_path / "qrels"
    folder.mkdir()
    (folder / "test.tsv").write_text(text)
    assert qrels_of(tmp_path) == WANT_QRELS
    (folder / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq9\td9\t1\n")
    assert qrels_of(tmp_path) == WANT_QRELS
    assert qrels_of(str(tmp_path), split="dev") == {"q9": {"d9": 1}}
    assert evaluate(tmp_path, WANT_RUN, "AP")["AP"] == pytest.approx(SOUND[0], abs=1e-12)
    with pytest.raises(GoldrankError, match=r"(?s)has no split 'tset'; there are: dev, test.*Did you mean test\?"):
        read_qrels(tmp_path, split="tset")
    (folder / "test.tsv").rename(folder / "train.tsv")
    with pytest.raises(GoldrankError, match="has several splits: dev, train"):
        read_qrels(tmp_path)


# Tables.


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    "columns",
    [("query", "doc", "score"), ("query_id", "doc_id", "sim"), ("qid", "docno", "Score"), ("q_id", "docid", "score"),
     ("query-id", "corpus-id", "score"), ("Query", " pid ", "similarity")],
)  # fmt: skip
@pytest.mark.parametrize("shape", ["plain", "gz", "CRLF", "BOM", "comments", "quoted", "no line end"])
def test_delimited_run(separator: str, columns: tuple[str, ...], shape: str) -> None:
    rows = [separator.join(columns), *(separator.join(map(str, row)) for row in RUN_ROWS)]
    data = "".join(row + "\n" for row in rows).encode()
    if shape == "quoted":
        data = data.replace(b"d1", b'"d1"')
    elif shape == "comments":
        data = b"# one\n\n" + data
    else:
        data = SHAPES[shape](data)
    assert run_of(stream(data)) == WANT_RUN


@pytest.mark.parametrize("grade", ["grade", "relevance", "rel", "rating", "label", "score", "Rating"])
def test_delimited_qrels(grade: str) -> None:
    data = f"query,docid,{grade}\n" + "".join(f"{q},{d},{g}\n" for q, d, g in QRELS_ROWS)
    assert qrels_of(stream(data)) == WANT_QRELS


def test_table_with_ranks_only() -> None:
    data = "query,doc,rank\nq1,d1,1\nq1,d2,2\n"
    assert run_of(stream(data)) == {"q1": {"d1": -1.0, "d2": -2.0}}
    with raises_code(GoldrankError, "bad-score", match="<stream>:3: rank 'x'"):
        run_of(stream("query,doc,rank\nq1,d1,1\nq1,d2,x\n"))


def test_cells_with_separators_and_line_ends() -> None:
    data = 'query,doc,score\n"a, b","d ""1""",2\n"line\nend",d2,1\nq3,d3,x\n'
    with raises_code(GoldrankError, "bad-score", match="<stream>:5: score 'x'"):
        run_of(stream(data))
    want = {"a, b": {'d "1"': 2.0}, "line\nend": {"d2": 1.0}, "q3": {"d3": 0.5}}
    assert run_of(stream(data.replace("x", "0.5"))) == want


def test_quepid() -> None:
    """An empty rating is unjudged. Quepid writes a query without ratings as a row with the query alone."""
    data = "query,docid,rating\nstar wars,a,3\nstar wars,b,\nstar wars,c,0\ndune,,\n"
    assert qrels_of(stream(data)) == {"star wars": {"a": 3, "c": 0}}
    assert read_qrels(stream(data)).notes == (Note.of("ungraded-rows", count=2),)
    alone = read_qrels(stream(data.replace("dune,,", "dune")))
    assert set(alone.notes) == {Note.of("ungraded-rows", count=1), Note.of("unrated-queries", count=1)}
    with pytest.raises(GoldrankError, match="<stream>:5: found 2 columns in 'dune c', expected 3"):
        read_qrels(stream(data.replace("dune,,", "dune,c")))


def frame(rows: list[tuple[Any, ...]], *columns: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(columns), orient="row")


def test_parquet(tmp_path: Path) -> None:
    run, qrels = frame(RUN_ROWS, "q_id", "doc_id", "score"), frame(QRELS_ROWS, "query-id", "corpus-id", "score")
    run.write_parquet(tmp_path / "run.parquet")
    qrels.write_parquet(tmp_path / "qrels.parquet")
    assert run_of(tmp_path / "run.parquet") == WANT_RUN
    assert qrels_of(tmp_path / "qrels.parquet") == WANT_QRELS
    assert run_of(stream((tmp_path / "run.parquet").read_bytes())) == WANT_RUN
    assert run_of(stream(gzip.compress((tmp_path / "run.parquet").read_bytes()))) == WANT_RUN
    (tmp_path / "packed.gz").write_bytes(gzip.compress((tmp_path / "run.parquet").read_bytes()))
    assert run_of(tmp_path / "packed.gz") == WANT_RUN
    run.to_pandas().to_parquet(tmp_path / "pandas.parquet")
    assert run_of(tmp_path / "pandas.parquet") == WANT_RUN


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_parquet_of_other_writers(version: str, compression: str, tmp_path: Path) -> None:
    table = frame(RUN_ROWS, "query", "doc", "score").to_arrow()
    for dictionary in (True, False):
        pa.parquet.write_table(
            table,
            tmp_path / "run",
            compression=compression,
            data_page_version=version,
            use_dictionary=dictionary,
            row_group_size=2,
            write_page_index=dictionary,
            write_page_checksum=True,
        )
        assert run_of(tmp_path / "run") == WANT_RUN
    duckdb.from_arrow(table).write_parquet(str(tmp_path / "duck"))
    assert run_of(tmp_path / "duck") == WANT_RUN


def test_parquet_folder_of_spark(tmp_path: Path) -> None:
    """Beside the parts there are other files, and columns may be in the folders' names."""
    for query in WANT_RUN:
        folder = tmp_path / f"query={query}"
        folder.mkdir()
        rows = [row[1:] for row in RUN_ROWS if row[0] == query]
        frame(rows, "doc", "score").write_parquet(folder / "part-00000.parquet")
        (folder / ".part-00000.parquet.crc").write_bytes(b"crc")
    (tmp_path / "_SUCCESS").touch()
    assert run_of(tmp_path) == WANT_RUN


def test_parquet_folder_and_pattern(tmp_path: Path) -> None:
    for i in range(0, len(RUN_ROWS), 2):
        frame(RUN_ROWS[i : i + 2], "query", "doc", "score").write_parquet(tmp_path / f"part-{i}.parquet")
    assert run_of(tmp_path) == WANT_RUN
    assert run_of(str(tmp_path / "*.parquet")) == WANT_RUN
    assert run_of(str(tmp_path / "part-[02].parquet"))["q1"] == WANT_RUN["q1"]
    for i in range(0, len(QRELS_ROWS), 2):
        (tmp_path / "judged").mkdir(exist_ok=True)
        frame(QRELS_ROWS[i : i + 2], "query", "doc", "grade").write_parquet(tmp_path / f"judged/{i}.parquet")
    assert qrels_of(tmp_path / "judged") == WANT_QRELS
    assert qrels_of(str(tmp_path / "judged" / "*")) == WANT_QRELS
    with raises_code(GoldrankError, "matches-no-file"):
        read_run(str(tmp_path / "none-*.parquet"))


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_arrow(kind: str, tmp_path: Path) -> None:
    for rows, value, read, want in ((RUN_ROWS, "score", run_of, WANT_RUN), (QRELS_ROWS, "rel", qrels_of, WANT_QRELS)):
        table = frame(rows, "query", "doc", value).to_arrow()
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with new(str(tmp_path / "table"), table.schema) as writer:
            writer.write_table(table)
        assert read(tmp_path / "table") == want
        assert read(stream((tmp_path / "table").read_bytes())) == want


# JSON.


def test_ranx_json() -> None:
    assert run_of(stream(json.dumps(WANT_RUN))) == WANT_RUN
    assert run_of(stream(json.dumps(WANT_RUN, indent=2))) == WANT_RUN
    assert qrels_of(stream(json.dumps(WANT_QRELS))) == WANT_QRELS
    assert run_of(stream(gzip.compress(json.dumps(WANT_RUN).encode()))) == WANT_RUN
    assert run_of(stream(b"\xef\xbb\xbf" + json.dumps(WANT_RUN).encode())) == WANT_RUN


def test_json_of_ranked_lists() -> None:
    want = {q: {d: -float(i) for i, d in enumerate(docs, 1)} for q, docs in RANKED.items()}
    assert run_of(stream(json.dumps(RANKED))) == want
    assert qrels_of(stream(json.dumps({"q1": ["d1"]}))) == {"q1": {"d1": 1}}


def test_mteb_predictions() -> None:
    assert run_of(stream(json.dumps({"mteb_model_meta": {"name": "m"}, "default": {"test": WANT_RUN}}))) == WANT_RUN


def test_llama_index() -> None:
    data = {"queries": {"q1": "text"}, "corpus": {"d1": "text"}, "relevant_docs": {"q1": ["d1", "d3"]}, "mode": "text"}
    assert qrels_of(stream(json.dumps(data))) == {"q1": {"d1": 1, "d3": 1}}


def test_elasticsearch() -> None:
    request = {
        "requests": [
            {
                "id": q,
                "request": {"query": {"match": {"title": q}}},
                "ratings": [{"_index": "i", "_id": d, "rating": g} for d, g in row.items()],
            }
            for q, row in WANT_QRELS.items()
        ],
        "metric": {"dcg": {"k": 20, "normalize": True}},
    }
    assert qrels_of(stream(json.dumps(request))) == WANT_QRELS
    for score in ("metric_score", "quality_level"):
        details = {
            q: {
                score: 0.5,
                "unrated_docs": [],
                "hits": [{"hit": {"_index": "i", "_id": d, "_score": s}, "rating": None} for d, s in row.items()],
            }
            for q, row in WANT_RUN.items()
        }
        response = {score: 0.5, "details": details, "failures": {}}
        assert run_of(stream(json.dumps(response))) == WANT_RUN
        assert run_of(stream(json.dumps({"rank_eval": response}))) == WANT_RUN
    no_score = {"metric_score": 0, "details": {"q1": {"hits": [{"hit": {"_id": "d1"}}, {"hit": {"_id": "d2"}}]}}}
    assert run_of(stream(json.dumps(no_score))) == {"q1": {"d1": -1.0, "d2": -2.0}}
    no_hits = {"metric_score": 0, "details": {"q1": {"hits": []}}}
    assert run_of(stream(json.dumps(no_hits))) == {"q1": {}}


def test_opensearch() -> None:
    data = {
        "name": "j",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": q, "ratings": [{"docId": d, "rating": f"{g:.3f}"} for d, g in row.items()]}
            for q, row in WANT_QRELS.items()
        ],
    }
    assert qrels_of(stream(json.dumps(data))) == WANT_QRELS
    results = [{"searchText": q, "documentIds": docs, "metrics": []} for q, docs in RANKED.items()]
    want = {q: {d: -float(i) for i, d in enumerate(docs, 1)} for q, docs in RANKED.items()}
    assert run_of(stream(json.dumps(results))) == want


@pytest.mark.parametrize("as_list", [False, True])
def test_json_records(as_list: bool) -> None:
    def dump(records: list[Any]) -> io.BytesIO:
        return stream(json.dumps(records) if as_list else "\n".join(map(json.dumps, records)) + "\n\n")

    assert run_of(dump([{"query_id": q, "doc_id": d, "score": s} for q, d, s in RUN_ROWS])) == WANT_RUN
    assert qrels_of(dump([{"qid": q, "docid": d, "relevance": g, "x": 1} for q, d, g in QRELS_ROWS])) == WANT_QRELS
    nested = [{"query": q, "results": [{"id": d, "score": s} for d, s in row.items()]} for q, row in WANT_RUN.items()]
    assert run_of(dump(nested)) == WANT_RUN
    assert run_of(dump(nested[:1])) == {"q1": WANT_RUN["q1"]}
    ranked = [{"query": q, "retrieved": docs} for q, docs in RANKED.items()]
    assert run_of(dump(ranked)) == {q: {d: -float(i) for i, d in enumerate(docs, 1)} for q, docs in RANKED.items()}


@pytest.mark.slow
def test_json_lines_with_a_long_first_line() -> None:
    docs = [{"id": f"d{i}", "score": 1.0} for i in range(20_000)]
    text = "\n".join(json.dumps({"qid": q, "results": docs}) for q in ("q1", "q2"))
    assert {query: len(row) for query, row in run_of(stream(text)).items()} == {"q1": 20_000, "q2": 20_000}


# Where it comes from.


@pytest.mark.slow
def test_standard_input(tmp_path: Path) -> None:
    code = (
        "import goldrank, sys; s = goldrank.evaluate(sys.argv[1], '-', 'AP'); "
        "print(s['AP'], s.run, [n.code for n in s.notes if n.code != 'judged-share'])"
    )
    (tmp_path / "qrels").write_bytes(QRELS)
    for data in (RUN, gzip.compress(RUN), json.dumps(WANT_RUN).encode()):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "qrels")], input=data, capture_output=True, check=True
        )
        value, name, notes = done.stdout.decode().split()
        assert (float(value), name, notes) == (pytest.approx((5 / 6 + 1 / 2) / 2, abs=1e-12), "<stdin>", "[]")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "qrels")], input=b"", capture_output=True)
    assert b"<stdin>: 0 bytes, no data lines" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_fifo_with_qrels(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(QRELS))
    writer.start()
    assert qrels_of(tmp_path / "pipe") == WANT_QRELS
    writer.join()


def test_large_stream_is_kept_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldrank.io.sources.SPOOL", 10)
    run = read_run(stream(RUN))
    assert run.name == "<stream>"
    assert {q: dict(run[q]) for q in run} == WANT_RUN


def test_text_stream_is_refused() -> None:
    with raises_code(GoldrankError, "text-stream"):
        read_run(io.StringIO(RUN.decode()))
    with open(os.devnull, encoding="utf-8") as file, raises_code(GoldrankError, "empty-input"):
        read_run(file)


# Data frames and objects.


class OnlyArrow:
    """A table of some other library."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def duck(table: pl.DataFrame) -> Any:
    return duckdb.from_arrow(table.to_arrow())


FRAMES = {
    "polars": lambda table: table,
    "polars lazy": lambda table: table.lazy(),
    "pandas": lambda table: table.to_pandas(),
    "pandas with pyarrow": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
    "pandas with objects": lambda table: table.to_pandas().astype(object),
    "pandas with categories": lambda table: table.to_pandas().astype({table.columns[0]: "category"}),
    "polars with categories": lambda table: table.with_columns(pl.col(table.columns[1]).cast(pl.Categorical)),
    "pyarrow": lambda table: table.to_arrow(),
    "pyarrow in chunks": lambda table: pa.concat_tables([table[:2].to_arrow(), table[2:].to_arrow()]),
    "pyarrow batch": lambda table: table.to_arrow().combine_chunks().to_batches()[0],
    "duckdb": duck,
    "arrow stream": lambda table: OnlyArrow(table.to_arrow()),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    run = as_run(FRAMES[kind](frame(RUN_ROWS, "query_id", "doc_id", "score")))
    assert {q: dict(run[q]) for q in run} == WANT_RUN
    qrels = as_qrels(FRAMES[kind](frame(QRELS_ROWS, "query_id", "doc_id", "relevance")))
    assert {q: dict(qrels[q]) for q in qrels} == WANT_QRELS
    scores = evaluate(qrels, run, ["AP", "nDCG"])
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(SOUND, abs=1e-12)
    assert codes(scores) == ["judged-share"]


def test_ranked_lists() -> None:
    scores = evaluate(WANT_QRELS, RANKED, ["AP", "nDCG"])
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(SOUND, abs=1e-12)
    pairs = {q: list(row.items()) for q, row in WANT_RUN.items()}
    assert evaluate(WANT_QRELS, pairs, "AP")["AP"] == pytest.approx(SOUND[0], abs=1e-12)


def test_named_tuples_of_ir_measures() -> None:
    run = [ir_measures.ScoredDoc(q, d, s) for q, d, s in RUN_ROWS]
    qrels = [ir_measures.Qrel(q, d, g) for q, d, g in QRELS_ROWS]
    assert evaluate(qrels, run, "AP")["AP"] == pytest.approx(SOUND[0], abs=1e-12)
    assert evaluate(iter(qrels), iter(run), "AP")["AP"] == pytest.approx(SOUND[0], abs=1e-12)


def test_rows_of_other_kinds() -> None:
    row = namedtuple("row", "score docno qid")
    assert as_run([row(s, d, q) for q, d, s in RUN_ROWS]).results == WANT_RUN
    assert as_run([{"qid": q, "pid": d, "score": s} for q, d, s in RUN_ROWS]).results == WANT_RUN
    assert as_run(RUN_ROWS).results == WANT_RUN
    assert as_run((q, d, s, "more") for q, d, s in RUN_ROWS).results == WANT_RUN


# Ids and numbers survive.

TWEETS = [1_700_000_000_000_000_001, 1_700_000_000_000_000_002, 1_700_000_000_000_000_003]
"""They differ, but not as doubles."""


@pytest.mark.parametrize("kind", ["dict", "rows", "polars", "pandas", "arrow", "json", "jsonl", "csv", "trec"])
def test_large_integer_ids(kind: str) -> None:
    rows = [(TWEETS[0], doc, float(i)) for i, doc in enumerate(TWEETS)]
    texts = ["%s Q0 %s 1 %s r\n", "%s,%s,%s\n"]
    given: Any = {
        "dict": lambda: {TWEETS[0]: {doc: score for _, doc, score in rows}},
        "rows": lambda: rows,
        "polars": lambda: frame(rows, "query", "doc", "score"),
        "pandas": lambda: frame(rows, "query", "doc", "score").to_pandas(),
        "arrow": lambda: frame(rows, "query", "doc", "score").to_arrow(),
        "json": lambda: stream(json.dumps({TWEETS[0]: {doc: score for _, doc, score in rows}})),
        "jsonl": lambda: stream("\n".join(json.dumps({"qid": q, "docid": d, "score": s}) for q, d, s in rows)),
        "csv": lambda: stream("query,doc,score\n" + "".join(texts[1] % row for row in rows)),
        "trec": lambda: stream("".join(texts[0] % row for row in rows)),
    }[kind]()
    run = as_run(given)
    assert {q: dict(run[q]) for q in run} == {str(TWEETS[0]): {str(doc): float(i) for i, doc in enumerate(TWEETS)}}


ODD = ["NA", "null", "nan", "None", "NULL", "N/A", "true", "1e5", "007", "1.0", "+1", "-", "é", "日本", "a.b"]


@pytest.mark.parametrize("kind", ["trec", "csv", "quoted csv", "json", "jsonl", "parquet", "pandas", "polars"])
def test_ids_that_look_like_something_else(kind: str) -> None:
    rows = [(q, d, float(i)) for q in ODD for i, d in enumerate(ODD)]
    want = {q: {d: float(i) for i, d in enumerate(ODD)} for q in ODD}
    table = frame(rows, "query", "doc", "score")
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    given: Any = {
        "trec": lambda: stream("".join(f"{q} Q0 {d} 1 {s} r\n" for q, d, s in rows)),
        "csv": lambda: stream("query,doc,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in rows)),
        "quoted csv": lambda: stream("query,doc,score\n" + "".join(f'"{q}",{d},{s}\n' for q, d, s in rows)),
        "json": lambda: stream(json.dumps(want)),
        "jsonl": lambda: stream("\n".join(json.dumps({"qid": q, "docid": d, "score": s}) for q, d, s in rows)),
        "parquet": lambda: stream(buffer.getvalue()),
        "pandas": lambda: pd.DataFrame(rows, columns=["query", "doc", "score"]),
        "polars": lambda: table,
    }[kind]()
    run = as_run(given)
    assert {q: dict(run[q]) for q in run} == want


def test_empty_id_names_its_row() -> None:
    with pytest.raises(GoldrankError, match="<stream>:3: the doc id is empty"):
        run_of(stream("query,doc,score\nq1,d1,1\nq1,,2\n"))
    with pytest.raises(GoldrankError, match="row 1: the query id is empty"):
        evaluate(frame([("", "d1", 1)], "query", "doc", "grade"), WANT_RUN)
    with pytest.raises(GoldrankError, match="row 2: the doc id is missing"):
        evaluate(WANT_QRELS, pd.DataFrame({"query": ["q1", "q1"], "doc": ["d1", None], "score": [1.0, 2.0]}))


NOT_UTF8 = b"d\xe9\xff1"


@pytest.mark.parametrize("shape", ["plain", "gz", "CRLF", "blanks"])
def test_bytes_that_are_not_utf8(shape: str, tmp_path: Path) -> None:
    """They match, survive, and are written as they were."""
    qrels, run = (SHAPES[shape](data.replace(b"d1", NOT_UTF8)) for data in (QRELS, RUN))
    scores = evaluate(read_qrels(stream(qrels)), read_run(stream(run)), ["AP", "nDCG"])
    assert (scores["AP"], scores["nDCG"]) == pytest.approx(SOUND, abs=1e-12)
    for name in ("run.txt", "run.json", "run.parquet"):
        read_run(stream(run)).save(tmp_path / name)
        assert run_of(tmp_path / name) == run_of(stream(run))
        assert evaluate(stream(qrels), tmp_path / name, "AP")["AP"] == pytest.approx(SOUND[0], abs=1e-12)
    for name in ("qrels.txt", "qrels.json", "qrels.parquet"):
        read_qrels(stream(qrels)).save(tmp_path / name)
        assert qrels_of(tmp_path / name) == qrels_of(stream(qrels))
    assert NOT_UTF8 in (tmp_path / "run.txt").read_bytes()
    assert (tmp_path / "qrels.txt").read_bytes() == QRELS.replace(b"d1", NOT_UTF8)


def test_table_that_is_not_utf8() -> None:
    with pytest.raises(GoldrankError, match="<stream>:3:5: is not UTF-8 text"):
        run_of(stream(b"query,doc,score\nq1,d1,1\nq1,d\xe9,2\n"))


# Writing.

NUMBERS = [
    0.1 + 0.2,
    1 / 3,
    -0.0,
    0.0,
    5e-324,
    1.7976931348623157e308,
    -1e-7,
    123456789.123456789,
    2**53 + 2.0,
    1e22,
    -3.0,
]


@pytest.mark.parametrize("name", ["run", "run.txt", "run.json", "run.parquet", "run.pq"])
@pytest.mark.parametrize("odd", [ODD, ["d\u00a0x", "\x1c", "a\u2028b", '"quoted"', "a,b", "{x}", "'"]])
def test_run_round_trip(name: str, odd: list[str], tmp_path: Path) -> None:
    run = {
        "q": {f"d{i}": number for i, number in enumerate(NUMBERS)},
        **{query: {doc: float(i) for i, doc in enumerate(odd)} for query in odd},
    }
    read_run(run).save(tmp_path / name)
    found = run_of(tmp_path / name)
    assert found == run
    assert [math.copysign(1, v) for v in found["q"].values()].count(-1) == 3
    scores = [found["q"][f"d{i}"] for i in range(len(NUMBERS))]
    assert np.array(scores).tobytes() == np.array(NUMBERS).tobytes()


@pytest.mark.parametrize("name", ["run.txt", "run.parquet"])
def test_infinite_scores_round_trip(name: str, tmp_path: Path) -> None:
    run = {"q": {"a": math.inf, "b": 1.0, "c": -math.inf}}
    read_run(run).save(tmp_path / name)
    assert run_of(tmp_path / name) == run


def test_infinite_scores_are_not_json(tmp_path: Path) -> None:
    with pytest.raises(GoldrankError, match="the score of 'a' in query 'q' is infinite: JSON has no such number"):
        read_run({"q": {"a": math.inf}}).save(tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize("name", ["qrels", "qrels.json", "qrels.parquet"])
def test_qrels_round_trip(name: str, tmp_path: Path) -> None:
    qrels = {"q": {"d1": 2, "d2": 0, "d3": -1, "d4": 1_000}, **{query: dict.fromkeys(ODD, 1) for query in ODD}}
    read_qrels(qrels).save(tmp_path / name)
    assert qrels_of(tmp_path / name) == qrels
    assert all(type(grade) is int for row in qrels_of(tmp_path / name).values() for grade in row.values())


@pytest.mark.parametrize("name", ["qrels.json", "qrels.parquet"])
def test_real_grades_round_trip(name: str, tmp_path: Path) -> None:
    from goldrank import Qrels

    qrels = {"q": {"d1": 0.5, "d2": 1 / 3}}
    Qrels(qrels, real_grades=True).save(tmp_path / name)
    assert qrels_of(tmp_path / name, real_grades=True) == qrels
    with raises_code(GoldrankError, "bad-grade"):
        read_qrels(tmp_path / name)
    with pytest.raises(GoldrankError, match=r"grade 0.5 is not a whole number"):
        Qrels(qrels, real_grades=True).save(tmp_path / "qrels.txt")


@pytest.mark.parametrize("id", ["a b", "#a", "a\tb", "a\nb", "a\0b", " a"])
def test_ids_that_cannot_stand_in_trec_files(id: str, tmp_path: Path) -> None:
    """Nothing is written, not even the lines before."""
    for run in ({"q": {"d": 1.0, id: 0.5}}, {"a": {"d": 1.0}, id: {"d": 1.0}}):
        with raises_code(GoldrankError, "not-for-trec"):
            read_run(run).save(tmp_path / "run")
        assert not (tmp_path / "run").exists()
    with raises_code(GoldrankError, "not-for-trec"):
        read_qrels({"q": {"d": 1, id: 1}}).save(tmp_path / "qrels")
    read_run({"q": {id: 0.5}}).save(tmp_path / "run.json")
    assert run_of(tmp_path / "run.json") == {"q": {id: 0.5}}
    read_run({"q": {id: 0.5}}).save(tmp_path / "run.parquet")
    assert run_of(tmp_path / "run.parquet") == {"q": {id: 0.5}}


@pytest.mark.parametrize("name", ["run", "run.json", "run.parquet"])
@pytest.mark.parametrize("bad", [math.nan, None, "1"])
def test_bad_scores_are_not_written(name: str, bad: Any, tmp_path: Path) -> None:
    with pytest.raises(GoldrankError, match="query 'q', document 'd': score"):
        read_run({"q": {"d": bad}}).save(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    for name in ("none/run", "none/run.json", "none/run.parquet"):
        with raises_code(GoldrankError, "cannot-write", match="No such file or directory"):
            read_run(WANT_RUN).save(tmp_path / name)
    with raises_code(GoldrankError, "cannot-write", match="Is a directory"):
        read_run(WANT_RUN).save(tmp_path)


def test_run_with_repeated_documents_is_not_written(tmp_path: Path) -> None:
    with raises_code(GoldrankError, "duplicate-document", match="'q1'"):
        read_run(stream(RUN + b"q1 Q0 d1 4 0.5 r\n")).save(tmp_path / "run")


@pytest.mark.parametrize("packing", COMPRESSIONS.values(), ids=COMPRESSIONS)
@pytest.mark.parametrize("name", ["a.run", "a.json", "a.parquet"])
def test_names_of_compressed_files_are_true(name, packing, tmp_path):
    """What is written under such a name is compressed and of the format before it, whatever its ids begin with."""
    for suffix in packing.suffixes:
        path, plain = tmp_path / f"{name}{suffix}", tmp_path / name
        for query in ("q", "BZh9", "PAR1"):
            run, qrels = {query: {"a": 2.0, "b": 1.0}}, {query: {"a": 1}}
            read_run(run).save(path)
            read_run(run).save(plain)
            with open(path, "rb") as stored, packing.open(stored) as unpacked:
                assert unpacked.read() == plain.read_bytes()
            assert {q: dict(docs) for q, docs in read_run(path).results.items()} == run
            read_qrels(qrels).save(path)
            assert {q: dict(docs) for q, docs in read_qrels(path).items()} == qrels
