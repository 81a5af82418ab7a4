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
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import goldrank.io.sources
import goldrank.io.tables
from goldrank import Qrels, Run, evaluate, ids, parse

MEASURES = [
    "P@1", "P@5", "P(divisor=\"retrieved\")@7", "P(rel=2)@3", "P(judged_only=True)@4", "R", "R@3", "R(rel=0)@5",
    "F@5", "F(beta=0.5)@3", "Success@1", "Success(rel=3)@5", "RecallAll", "RecallAll@10",
    "RR", "RR@2", "RR(rel=2)", "RR(judged_only=True)@3", "AP", "AP@4", "AP(rel=2)", "AP(divisor=\"hits\")",
    "AP(divisor=\"hits\")@3", "AP(divisor=\"min\")@3", "AP(divisor=\"min\")", "AP(judged_only=True)", "GMAP",
    "GMAP(rel=2)", "Rprec", "Rprec(rel=2)", "IPrec@0.0", "IPrec@0.1", "IPrec@0.33", "IPrec@0.5", "IPrec@0.75",
    "IPrec@1.0", "IPrec(rel=2)@0.5", "IPrec(rounding=\"up\")@0.3", "Judged", "Judged@5", "Bpref", "Bpref(rel=2)",
    "Bpref(rel=0)", "infAP", "infAP(rel=2)", "SetP", "SetP(relative=True)", "SetR", "SetF", "SetF(beta=2)", "SetAP",
    "SetAP(rel=2)", "NumQ", "NumRet", "NumRet(judged_only=True)", "NumRel", "NumRel(rel=2)", "NumRelRet",
    "NumRelRet@5", "DCG", "DCG@3", "DCG(gain=\"exp2\")", "DCG(gain=\"binary\", rel=2)@6",
    "DCG(discount=\"log2_from_2\")@9", "DCG(negative=\"keep\")", "nDCG", "nDCG@1", "nDCG@5", "nDCG(gain=\"exp2\")@10",
    "nDCG(gain={1: 3, 2: 9, 4: 4.5})", "nDCG(gain=\"binary\")@4", "nDCG(ideal=\"retrieved\")@5",
    "nDCG(cut_ideal=False)@3", "nDCG(discount=\"log2_from_2\")@5", "nDCG(negative=\"keep\")@5",
    "nDCG(judged_only=True)@3", "RBP", "RBP@5", "RBP(p=0.5)", "RBP(p=0.8, rel=1)", "RBP(rel=2)@3", "ERR(max_grade=12)",
    "ERR(max_grade=12)@4",
]  # fmt: skip
PARSED = {name: parse(name) for name in MEASURES}


# Random data.


@dataclass
class Case:
    """One run, its judgements and the rules to score it by."""

    number: int
    qrels: dict[bytes, dict[bytes, int]]
    rows: list[tuple[bytes, bytes, float]]
    measures: list[str]
    rules: dict[str, object] = field(default_factory=dict)
    convention: str = "trec_eval-10"

    @property
    def is_text(self) -> bool:
        """Whether every id is UTF-8."""
        try:
            for row in self.rows:
                row[0].decode(), row[1].decode()
            for query, docs in self.qrels.items():
                query.decode(), [doc.decode() for doc in docs]
        except UnicodeDecodeError:
            return False
        return True


def numbered(i: int) -> bytes:
    return b"%d" % (i * 7 % 23)


def prefixes(i: int) -> bytes:
    return b"abcabdabeabf"[: i % 12 + 1] + b"x" * (i // 12)


def long_prefixes(i: int) -> bytes:
    """Alike in the first 8 or 16 bytes, or only in length."""
    return b"document" * (i % 3 + 1) + b"abcdefghijklmnopqrstuvwxyz0123456789"[i : i + 1]


def accented(i: int) -> bytes:
    return ["é", "z", "～", "\U00010000", "Z", "e\u0301", "ß", "日本", "a", "\xa0"][i % 10].encode() + b"1" * (i // 10)


def hashes(i: int) -> bytes:
    return [b"a#%d", b"#%d", b"msmarco_v2.1_doc_%d#4_1", b"%d##", b"%d.5"][i % 5] % i


def raw_bytes(i: int) -> bytes:
    """Bytes that are no UTF-8, between letters that sort otherwise as text than these bytes do as escapes."""
    if i % 3 == 2:
        return ("～" if i % 2 else "\U00010000").encode() + b"%d" % i
    return bytes([0x80 + i * 5 % 128, 0xFF - i % 40]) + b"a" * (i % 3)


def uuids(i: int) -> bytes:
    return b"%08x-%04x-4000-8000-%012x" % (i * 2654435761 % 2**32, i, i * i)


DOC_IDS = (numbered, prefixes, long_prefixes, accented, hashes, raw_bytes, uuids)
QUERY_IDS = (numbered, prefixes, accented, uuids, raw_bytes)


def scores(rng: random.Random, n: int) -> list[float]:
    """Scores of one ranking, in one of the shapes that have broken rankings before."""
    kind = rng.randrange(11)
    if kind == 0:
        return rng.sample([i / 8 for i in range(-n, 3 * n)], n)
    if kind == 1:
        return [rng.choice((0.5, 1.0, 1.5)) for _ in range(n)]
    if kind == 2:
        return [rng.choice((0.0, -0.0, 1e-320, -1e-320)) for _ in range(n)]
    if kind == 3:
        return [1.0 + rng.randrange(4) * 1e-9 for _ in range(n)]
    if kind == 4:
        return [rng.randrange(4) * 1e-17 + rng.choice((0, 1)) for _ in range(n)]
    if kind == 5:
        return [rng.random() * 10 ** rng.randrange(-3, 4) for _ in range(n)]
    if kind == 6:
        return [rng.choice((math.inf, -math.inf, 1.0, 1e300, -1e300, 1e39, 5e-324)) for _ in range(n)]
    if kind == 7:
        return [float(-rank) for rank in range(1, n + 1)]
    if kind == 8:
        return [16777216.0 + rng.randrange(4) for _ in range(n)]
    if kind == 9:
        return sorted((round(rng.random() * 30, 4) for _ in range(n)), reverse=True)
    return [rng.choice((-1, 1)) * rng.random() * 10.0 ** rng.randrange(-300, 300) for _ in range(n)]


def make_case(number: int) -> Case:
    rng = random.Random(number)
    doc_id, query_id = rng.choice(DOC_IDS), rng.choice(QUERY_IDS)
    docs = list(dict.fromkeys(doc_id(i) for i in range(rng.choice((1, 3, 8, 15, 30)))))
    queries = list(dict.fromkeys(query_id(i) for i in range(rng.choice((1, 2, 4, 7)))))
    lowest, highest = rng.choice(((0, 1), (1, 1), (0, 3), (-2, 3), (-1, 12), (-2, 0)))
    qrels: dict[bytes, dict[bytes, int]] = {}
    rows: list[tuple[bytes, bytes, float]] = []
    for query in queries:
        fate = rng.random()
        if fate > 0.12:
            judged = rng.sample(docs, rng.randint(1, len(docs)))
            qrels[query] = {doc: rng.randint(lowest, highest) for doc in judged}
        if not 0.12 < fate < 0.25:
            returned = rng.sample(docs, rng.randint(1, len(docs)))
            rows += [(query, doc, score) for doc, score in zip(returned, scores(rng, len(returned)), strict=True)]
    if not qrels or not rows:
        return make_case(number + 1_000_000)
    rules: dict[str, object] = {"duplicates": "first"}
    if rng.random() < 0.2:
        rows += [(query, doc, rng.choice((score, 1.0))) for query, doc, score in rng.choices(rows, k=3)]
        rules["duplicates"] = rng.choice(("first", "last", "count"))
    order = rng.random()
    if order < 0.3:
        rng.shuffle(rows)
    elif order < 0.5:
        rows.sort(key=lambda row: -row[2])
    for policy, words in {
        "ties": ("docid", "docid", "input"),
        "missing": ("zero", "zero", "skip"),
        "empty": ("zero", "zero", "skip", "one"),
        "depth": (None, None, None, 1, 3, 10),
    }.items():
        rules[policy] = rng.choice(words)
    convention = rng.choice(("trec_eval-10", "trec_eval-10", "trec_eval-9"))
    return Case(number, qrels, rows, sorted(rng.sample(MEASURES, 14)), rules, convention)


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
    return spelled if spelled in scores.columns else str(PARSED[name].having({"rounding": "up"}))


def same(ours: float, theirs: float) -> bool:
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@contextmanager
def cut_small(rng: random.Random):
    """Pieces of a few lines, and one thread or several, so that queries are cut and scattered over pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goldrank.io.sources, "PIECE", rng.randint(64, 300))
        patch.setattr(goldrank.io.tables, "BATCH", rng.choice((1, 7, 20, 50)))
        threads = rng.choice((1, 3))
        patch.setattr(os, "sched_getaffinity", lambda _: set(range(threads)), raising=False)
        patch.setattr(os, "cpu_count", lambda: threads)
        yield


CASES = 2_000
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


@pytest.mark.parametrize("first", range(10_000, 10_080, 10))
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
    cases = [make_case(number) for number in range(CASES)]
    assert sum(not case.is_text for case in cases) > 200
    assert sum(len({row[:2] for row in case.rows}) < len(case.rows) for case in cases) > 200
    assert sum(any(grade < 0 for docs in case.qrels.values() for grade in docs.values()) for case in cases) > 500
    assert sum(any(math.isinf(score) for _, _, score in case.rows) for case in cases) > 200
    assert sum(len({row[2] for row in case.rows}) < len(case.rows) for case in cases) > 800
    assert sum(bool(case.qrels.keys() - {row[0] for row in case.rows}) for case in cases) > 200
    assert sum(bool({row[0] for row in case.rows} - case.qrels.keys()) for case in cases) > 200
    used = {sorted(forms(case))[case.number % len(forms(case))] for case in cases if case.number < CASES}
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
