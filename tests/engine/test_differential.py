"""The library against `oracle.py` on random rankings: the same doubles, whatever the data come in.

Each case is made from its number alone, so a failure names all that is needed to repeat it.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lanes import many
from random_cases import (
    MEASURES,
    PARSED,
    Case,
    make_case,
    same,
)

import goldrank.io.sources
import goldrank.io.tables.polars_tables
from goldrank import Qrels, Run, evaluate
from goldrank.base import ids

# Random data.


# The same data in every form that goldrank reads.


def as_texts(case: Case) -> tuple[dict[str, dict[str, int]], list[tuple[str, str, float]]]:
    decode = ids.decode
    qrels = {decode(query): {decode(doc): grade for doc, grade in docs.items()} for query, docs in case.qrels.items()}
    return qrels, [(decode(query), decode(doc), score) for query, doc, score in case.rows]


def as_dicts(case: Case, folder: Path):
    """Mappings hold a document once, so only cases without repeats go here."""
    qrels, rows = as_texts(case)
    run: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        run.setdefault(query, {})[doc] = score
    return qrels, run


def as_tuples(case: Case, folder: Path):
    qrels, rows = as_texts(case)
    return ((query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()), iter(rows)


def number_text(rng: random.Random, score: float) -> str:
    """A score in one of the ways that programs print it, with nothing lost."""
    text = rng.choice((repr, "{:.17g}".format, "{:.16e}".format, "{:.16E}".format))(score)
    if score > 0 and rng.random() < 0.1:
        text = "+" + text
    return text


def trec_texts(case: Case) -> tuple[bytes, bytes]:
    rng = random.Random(case.number)
    regular = rng.random() < 0.4
    end = rng.choice((b"\n", b"\n", b"\r\n"))

    def join(*fields: bytes) -> bytes:
        if regular:
            return b" ".join(fields) + b"\n"
        blank = rng.choice((b" ", b"\t", b"  ", b" \t "))
        return rng.choice((b"", b"", b" ")) + blank.join(fields) + rng.choice((b"", b"", b" ")) + end

    judged = [(query, doc, grade) for query, docs in case.qrels.items() for doc, grade in docs.items()]
    qrels = [join(query, b"0", doc, b"%d" % grade) for query, doc, grade in judged]
    run = []
    for rank, (query, doc, score) in enumerate(case.rows):
        text = (repr(score) if regular else number_text(rng, score)).encode()
        more = (b"more", b"columns") if not regular and rng.random() < 0.02 else ()
        run.append(join(query, b"Q0", doc, b"%d" % rank, text, b"tag", *more))
        if not regular and rng.random() < 0.05:
            run.append(rng.choice((b"# a comment" + end, end, b"  " + end)))
    whole = b"".join(run)
    return b"".join(qrels), whole[: -len(end)] if rng.random() < 0.1 and whole.endswith(end) else whole


def as_trec(case: Case, folder: Path):
    qrels, run = folder / "qrels", folder / "run"
    for path, text in zip((qrels, run), trec_texts(case), strict=True):
        path.write_bytes(text)
    return qrels, str(run)


def as_gzip(case: Case, folder: Path):
    qrels, run = folder / "qrels.gz", folder / "run.gz"
    for path, text in zip((qrels, run), trec_texts(case), strict=True):
        path.write_bytes(gzip.compress(text, 1, mtime=0))
    return str(qrels), run


def as_zstd(case: Case, folder: Path):
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    qrels, run = folder / "qrels.zst", folder / "run.zst"
    for path, text in zip((qrels, run), trec_texts(case), strict=True):
        path.write_bytes(zstd.compress(text))
    return qrels, run


def as_csv(case: Case, folder: Path):
    """Every cell is text there: scores are printed in full and must come back."""
    rng = random.Random(case.number)
    qrels, run = columns(case)
    run["score"] = [number_text(rng, score) for score in run["score"]]
    separator = rng.choice(",\t")
    for name, table in (("qrels.csv", qrels), ("run.csv", run)):
        pl.DataFrame(table).write_csv(folder / name, separator=separator)
    return folder / "qrels.csv", folder / "run.csv"


def as_json(case: Case, folder: Path):
    qrels, rows = as_texts(case)
    (folder / "qrels.json").write_text(json.dumps(qrels))
    repeated = len({row[:2] for row in rows}) < len(rows)
    if repeated or case.number % 2:
        keys = ("query_id", "doc_id", "score")
        lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
        (folder / "run.json").write_text("\n".join(lines) + "\n")
    else:
        (folder / "run.json").write_text(json.dumps(as_dicts(case, folder)[1]))
    return folder / "qrels.json", folder / "run.json"


def columns(case: Case) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    qrels, rows = as_texts(case)
    judged = [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]
    return (
        dict(zip(("qid", "docno", "label"), map(list, zip(*judged, strict=True)), strict=True)),
        dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)),
    )


def as_polars(case: Case, folder: Path):
    return tuple(pl.DataFrame(table) for table in columns(case))


def as_lazy(case: Case, folder: Path):
    return tuple(pl.LazyFrame(table) for table in columns(case))


def as_parquet(case: Case, folder: Path):
    for name, table in zip(("qrels", "run"), as_polars(case, folder), strict=True):
        table.write_parquet(folder / f"{name}.parquet", row_group_size=5)
    return folder / "qrels.parquet", folder / "run.parquet"


def as_binary_parquet(case: Case, folder: Path):
    """Ids as bytes, which need not be UTF-8."""
    judged = [(query, doc, grade) for query, docs in case.qrels.items() for doc, grade in docs.items()]
    kinds = {"query": pl.Binary, "doc": pl.Binary}
    pl.DataFrame(judged, {**kinds, "grade": pl.Int64}, orient="row").write_parquet(folder / "qrels.parquet")
    pl.DataFrame(case.rows, {**kinds, "score": pl.Float64}, orient="row").write_parquet(folder / "run.parquet")
    return folder / "qrels.parquet", folder / "run.parquet"


def as_pandas(case: Case, folder: Path):
    return tuple(pd.DataFrame(table) for table in columns(case))


def as_arrow(case: Case, folder: Path):
    return tuple(pa.table(table) for table in columns(case))


def as_nouns(case: Case, folder: Path):
    """Judgements from one world and the ranking from another."""
    qrels, run = as_dicts(case, folder)
    return Qrels(qrels), Run(run)


def as_mixed(case: Case, folder: Path):
    return as_dicts(case, folder)[0], as_trec(case, folder)[1]


ANY_BYTES = {
    "trec": as_trec,
    "gzip": as_gzip,
    "tuples": as_tuples,
    "binary": as_binary_parquet,
    "mixed": as_mixed,
    "zstd": as_zstd,
}
TEXT_ONLY = {
    "json": as_json,
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": as_pandas,
    "polars": as_polars,
    "lazy": as_lazy,
    "arrow": as_arrow,
}
NO_REPEATS = {"dicts": as_dicts, "nouns": as_nouns}


def forms(case: Case) -> dict[str, object]:
    """The forms that can hold a case."""
    found = dict(ANY_BYTES)
    if case.is_text:
        found |= TEXT_ONLY
    if len({row[:2] for row in case.rows}) == len(case.rows):
        found |= NO_REPEATS
    if any(query.startswith(b"#") for query, _, _ in case.rows):
        for form in ("trec", "gzip", "zstd", "mixed"):
            del found[form]
    return found


# Comparison.


def expected(case: Case):
    rules = dict(case.rules)
    nine = case.convention == "trec_eval-9"
    measures = []
    for name in case.measures:
        measure = PARSED[name]
        options = dict(measure.options)
        if isinstance(options.get("gain"), tuple):
            options["gain"] = dict(options["gain"])
        if nine and measure.name == "IPrec":
            options["rounding"] = "up"
        measures.append((name, measure.name, measure.k, options))
    return oracle.evaluate(case.qrels, case.rows, measures, score_type="float32" if nine else "float64", **rules)


def differences(case: Case, form: str, folder: Path) -> list[str]:
    """Where the library and the oracle part; empty if nowhere."""
    qrels, run = forms(case)[form](case, folder)
    scores = evaluate(qrels, run, case.measures, convention=case.convention, overlap="allow", **case.rules)
    queries, values = expected(case)
    found = []
    if list(scores.queries) != [ids.decode(query) for query in queries]:
        return [f"case {case.number} as {form}: queries {scores.queries}, expected {queries}"]
    for name in case.measures:
        column = scores.columns[_asked(scores, name)]
        per_query, total = values[name]
        for query, ours, theirs in zip(queries, column.values.tolist(), per_query, strict=True):
            if not same(ours, theirs):
                found.append(f"case {case.number} as {form}: {name} of {query!r} is {ours!r}, expected {theirs!r}")
        if not same(column.summary, total):
            found.append(f"case {case.number} as {form}: {name} over all is {column.summary!r}, expected {total!r}")
    return found


def _asked(scores, name: str) -> str:
    spelled = str(PARSED[name])
    return spelled if spelled in scores.columns else str(PARSED[name].with_defaults({"rounding": "up"}))


@contextmanager
def cut_small(rng: random.Random):
    """Pieces of a few lines, and one thread or several, so that queries are cut and scattered over pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goldrank.io.sources, "PIECE", rng.randint(64, 300))
        patch.setattr(goldrank.io.tables.polars_tables, "BATCH", rng.choice((1, 7, 20, 50)))
        threads = rng.choice((1, 3))
        patch.setattr(os, "sched_getaffinity", lambda _: set(range(threads)), raising=False)
        patch.setattr(os, "cpu_count", lambda: threads)
        yield


ALL_CASES = 1_000
CASES = many(ALL_CASES)
GROUP = 100


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_equals_the_oracle(first, tmp_path):
    """Every case in one form, chosen by turns; in half of them pieces are small."""
    wrong = []
    for number in range(first, first + GROUP):
        case = make_case(number)
        rng = random.Random(-number)
        able = sorted(forms(case))
        form = able[number % len(able)]
        if number % 4:
            with cut_small(rng):
                wrong += differences(case, form, tmp_path)
        else:
            wrong += differences(case, form, tmp_path)
    assert wrong == []


@pytest.mark.parametrize("first", range(10_000, 10_000 + many(80), 10))
def test_all_forms_are_equal(first, tmp_path):
    wrong = []
    for number in range(first, first + 10):
        case = make_case(number)
        for form in forms(case):
            with cut_small(random.Random(number)):
                wrong += differences(case, form, tmp_path)
    assert wrong == []


def test_cases_are_hostile():
    """The generator makes what this file says it does; else the tests above would prove little."""
    cases = [make_case(number) for number in range(ALL_CASES)]
    assert sum(not case.is_text for case in cases) > 100
    assert sum(len({row[:2] for row in case.rows}) < len(case.rows) for case in cases) > 100
    assert sum(any(grade < 0 for docs in case.qrels.values() for grade in docs.values()) for case in cases) > 250
    assert sum(any(math.isinf(score) for _, _, score in case.rows) for case in cases) > 100
    assert sum(len({row[2] for row in case.rows}) < len(case.rows) for case in cases) > 400
    assert sum(bool(case.qrels.keys() - {row[0] for row in case.rows}) for case in cases) > 100
    assert sum(bool({row[0] for row in case.rows} - case.qrels.keys()) for case in cases) > 100
    used = {sorted(forms(case))[case.number % len(forms(case))] for case in cases if case.number < ALL_CASES}
    assert used == ANY_BYTES.keys() | TEXT_ONLY.keys() | NO_REPEATS.keys()
    assert {PARSED[name].name for name in MEASURES} == oracle.MEASURES.keys()


@pytest.mark.parametrize("mutation", ["ascending ids", "float32 scores", "strictly lower level"])
def test_mutations_are_caught(mutation, tmp_path, monkeypatch):
    """An oracle that is wrong in one rule differs soon: the comparison sees what it should see."""
    if mutation == "ascending ids":
        monkeypatch.setattr(oracle, "ranking", lambda lines, **rules: _ascending(lines, **rules))
    elif mutation == "float32 scores":
        real = oracle.ranking
        monkeypatch.setattr(oracle, "ranking", lambda lines, **rules: real(lines, **{**rules, "score_type": "float32"}))
    else:
        monkeypatch.setattr(oracle, "is_relevant", lambda grade, rel: grade is not None and grade > rel)
    assert any(differences(make_case(number), "tuples", tmp_path) for number in range(100))


def _ascending(lines, *, ties, score_type, duplicates):
    kept = oracle.without_repeats(lines, duplicates)
    return [doc for doc, _ in sorted(kept, key=lambda line: (-line[1], line[0]))]
