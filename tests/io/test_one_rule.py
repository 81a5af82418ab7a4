"""One rule for grades, scores and ids, whatever holds them; rankings have an order; written files read back."""

from __future__ import annotations

import io
import json
import math
from collections import deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lanes import few
from raising import raises_code

from goldrank import GoldrankError, Qrels, Runs, evaluate, evaluate_texts, read_qrels, read_run
from goldrank.compat import axion, continuous_eval, lesson, remem
from goldrank.engine.lists import place
from goldrank.io import as_qrels, as_run

Read = Callable[[str], Any]


def stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode("utf-8", "surrogateescape"))


# Numbers that are written as text, in every format that holds text. None says that it is an error.

GRADES: dict[str, int | None] = {
    "0": 0, "2": 2, "-1": -1, "1.0": 1, "2.000": 2, "10000000": 10_000_000, "-0": 0, "0.0": 0,
    "10000001": None, "1E0": None, "1e0": None, "1e-400": None, "1e400": None, "0.99999999999999999999": None,
    "0.9": None, "9" * 31: None, "9" * 5000: None, "-" + "9" * 31: None, "20240101": None,
}  # fmt: skip
ONLY_TEXT: dict[str, int | None] = {
    "+1": 1, "007": 7, "1.": 1, "0" * 30 + "1": 1, "0" * 40 + "12": 12, "-" + "0" * 31 + "1": -1,
    "true": None, "True": None, "yes": None, "1_0": None, "0x1": None, "1,0": None, "٣": None, "inf": None, "nan": None,
    "2x": None, "--1": None, "+": None, ".": None,
}  # fmt: skip

GRADE_FORMATS: dict[str, Read] = {
    "trec": lambda text: read_qrels(stream(f"q 0 d {text}\n")),
    "trec, 3 columns": lambda text: read_qrels(stream(f"q d {text}\n"), format="trec-3col"),
    "tsv": lambda text: read_qrels(stream(f"query\tdoc\tgrade\nq\td\t{text}\n")),
    "quoted csv": lambda text: read_qrels(stream(f'query,doc,grade\nq,d,"{text}"\n')),
    "text in parquet": lambda text: read_qrels(_parquet({"query": ["q"], "doc": ["d"], "grade": [text]})),
    "text in a frame": lambda text: as_qrels(pl.DataFrame({"query": ["q"], "doc": ["d"], "grade": [text]})),
    "opensearch": lambda text: read_qrels(
        stream(json.dumps({"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": text}]}]}))
    ),
}
NUMBERS_IN_JSON: dict[str, Read] = {
    "json": lambda text: read_qrels(stream('{"q": {"d": TEXT}}'.replace("TEXT", text))),
    "json records": lambda text: read_qrels(
        stream('[{"query": "q", "doc": "d", "grade": TEXT}]'.replace("TEXT", text))
    ),
    "json lines": lambda text: read_qrels(
        stream('{"query": "q", "doc": "d", "grade": TEXT}\n'.replace("TEXT", text) * 2)
    ),
}


def _parquet(columns: dict[str, Any]) -> io.BytesIO:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return io.BytesIO(buffer.getvalue())


def found(read: Read, text: str) -> Any:
    try:
        return read(text)["q"]["d"]
    except GoldrankError:
        return None


@pytest.mark.parametrize("format", [*GRADE_FORMATS, *NUMBERS_IN_JSON])
def test_grades(format: str) -> None:
    table = GRADES | (
        ONLY_TEXT if format in GRADE_FORMATS else {"true": None, "false": None, "null": None, "NaN": None}
    )
    read = {**GRADE_FORMATS, **NUMBERS_IN_JSON}[format]
    assert {text: found(read, text) for text in table} == table


@pytest.mark.parametrize("format", ["trec", "tsv", "text in parquet", "json", "json lines"])
def test_gains_with_decimals(format: str) -> None:
    """Gains are written as scores are."""
    forms: dict[str, Read] = {
        "trec": lambda text: read_qrels(stream(f"q 0 d {text}\n"), real_grades=True),
        "tsv": lambda text: read_qrels(stream(f"query\tdoc\tgrade\nq\td\t{text}\n"), real_grades=True),
        "text in parquet": lambda text: read_qrels(
            _parquet({"query": ["q"], "doc": ["d"], "grade": [text]}), real_grades=True
        ),
        "json": lambda text: read_qrels(stream('{"q": {"d": TEXT}}'.replace("TEXT", text)), real_grades=True),
        "json lines": lambda text: read_qrels(
            stream('{"query": "q", "doc": "d", "grade": TEXT}\n'.replace("TEXT", text) * 2), real_grades=True
        ),
    }
    table = {"0.5": 0.5, "1": 1, "1.0": 1, "25e-1": 2.5, "1e400": None, "NaN": None, "1e8": None, "true": None}
    assert {text: found(forms[format], text) for text in table} == table


GRADE_OBJECTS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda value: as_qrels({"q": {"d": value}}),
    "Qrels": lambda value: Qrels({"q": {"d": value}}),
    "rows": lambda value: as_qrels([("q", "d", value)]),
    "polars": lambda value: as_qrels(pl.DataFrame({"query": ["q"], "doc": ["d"], "grade": [value]})),
    "parquet": lambda value: read_qrels(_parquet({"query": ["q"], "doc": ["d"], "grade": [value]})),
    "pandas": lambda value: as_qrels(pd.DataFrame({"query": ["q"], "doc": ["d"], "grade": [value]})),
}


@pytest.mark.parametrize("door", GRADE_OBJECTS)
def test_grades_that_are_no_text(door: str) -> None:
    table: list[tuple[Any, int | None]] = [
        (1, 1), (1.0, 1), (-1, -1), (Decimal("2.00"), 2), (True, None), (False, None), (0.5, None), (math.inf, None),
        (Decimal("0.99999999999999999999"), None), (10_000_001, None), (1e300, None),
    ]  # fmt: skip
    for value, want in table:
        assert found(GRADE_OBJECTS[door], value) == want, value


SCORES: dict[str, float | None] = {
    "0": 0.0, "1.5": 1.5, "-2": -2.0, "1e-2": 0.01, "25E1": 250.0, "1e400": math.inf, "-1e400": -math.inf,
    "1e-400": 0.0,
    "0.1000000000000000055511151231257827021181583404541015625": 0.1, "9" * 400: math.inf, "9007199254740993": 2.0**53,
    "true": None,
}  # fmt: skip
SCORES_AS_TEXT: dict[str, float | None] = {
    "+1": 1.0, ".5": 0.5, "5.": 5.0, "inf": math.inf, "-Infinity": -math.inf, "nan": None, "1_000": None, "0x10": None,
    "3,5": None, "٣": None, "1d": None, "1.5f": None, "": None, "abc": None, "1e": None, "infinit": None,
}  # fmt: skip
SCORE_FORMATS: dict[str, Read] = {
    "trec": lambda text: read_run(stream(f"q Q0 d 1 {text} t\n")),
    "tsv": lambda text: read_run(stream(f"query\tdoc\tscore\nq\td\t{text}\n")),
    "quoted csv": lambda text: read_run(stream(f'query,doc,score\nq,d,"{text}"\n')),
    "text in parquet": lambda text: read_run(_parquet({"query": ["q"], "doc": ["d"], "score": [text]})),
    "text in a frame": lambda text: as_run(pl.DataFrame({"query": ["q"], "doc": ["d"], "score": [text]})),
    "json": lambda text: read_run(stream('{"q": {"d": TEXT}}'.replace("TEXT", text))),
    "json lines": lambda text: read_run(stream('{"query": "q", "doc": "d", "score": TEXT}\n'.replace("TEXT", text))),
}


@pytest.mark.parametrize("format", SCORE_FORMATS)
def test_scores(format: str) -> None:
    table = SCORES | ({} if format.startswith("json") else SCORES_AS_TEXT)
    got: dict[str, float | None] = {}
    for text in table:
        try:
            got[text] = float(SCORE_FORMATS[format](text)["q"]["d"])
        except GoldrankError:
            got[text] = None
    assert got == table


def test_flags_are_no_scores() -> None:
    for flag in (True, np.True_, np.bool_(False)):
        for run in ({"q": {"d": 1.0, "e": flag}}, [("q", "d", 1.0), ("q", "e", flag)]):
            with raises_code(GoldrankError, "bad-score", match="of type bool"):
                evaluate({"q": {"d": 1}}, run)
    with pytest.raises(GoldrankError, match="the score column is of type Boolean"):
        evaluate({"q": {"d": 1}}, pl.DataFrame({"query": ["q"], "doc": ["d"], "score": [True]}))


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("row", ["q1,d3", "q1", "q1,d3,1,9", ","])
@pytest.mark.parametrize("thing", ["run", "qrels"])
def test_rows_of_another_width(quote: str, row: str, thing: str) -> None:
    """A row with a cell too few or too many says its line; nothing is taken to be unjudged."""
    text = f"query,doc,score\n{quote}q1{quote},d1,1\n\nq1,d2,0\n{row}\nq2,d1,1\n"
    with pytest.raises(GoldrankError, match=r"<stream>:5: found \d columns in") as caught:
        read_qrels(stream(text)) if thing == "qrels" else dict(read_run(stream(text)))
    assert "expected 3 (query, doc, score)" in str(caught.value)


# Order.

UNORDERED: list[Any] = [{"d1", "d2"}, frozenset(("d1", "d2")), {"d1": 1, "d2": 2}.keys(), {"d1": 1}.items()]
UNORDERED += [{"a": "d1", "b": "d2"}.values(), iter({"d1", "d2"}), {("d1", 1.0), ("d2", 0.5)}]


@pytest.mark.parametrize("ranking", UNORDERED, ids=lambda ranking: type(ranking).__name__)
def test_what_has_no_order_is_no_ranking(ranking: Any) -> None:
    several = Runs({"a": {"q1": ["d1"]}, "b": {"q1": ranking}})
    for run in ({"q1": ranking}, {"q0": ["d1"], "q1": ranking}, several):
        with pytest.raises(GoldrankError, match=r"has no order|of type") as caught:
            evaluate({"q1": {"d1": 1}}, run)
        assert caught.value.code == "no-order" or "mapping" in str(caught.value)
    if not isinstance(ranking, Iterable) or not hasattr(ranking, "__len__"):
        return
    with pytest.raises(GoldrankError) as caught:
        place([ranking], [{"d1"}])
    assert caught.value.code == "no-order"


def test_rows_without_order() -> None:
    for rows in ({("q1", "d1", 1.0)}, [{"q1", "d1", 0.5}], iter([{"q1", "d1", 0.5}]), [b"abc"], iter(["abc"])):
        with pytest.raises(GoldrankError):
            evaluate({"q1": {"d1": 1}}, rows)
    with pytest.raises(GoldrankError):
        as_qrels([{"q1", "d1", 1}])
    with pytest.raises(GoldrankError):
        as_qrels({("q1", "d1", 1)}, judgements="last")
    mixed: list[Any] = [("q1", "d1", 1.0), {"q1": 1, "d1": 2, "x": 3}]
    with pytest.raises(GoldrankError, match="row 2"):
        evaluate({"q1": {"d1": 1}}, mixed)


def test_texts_without_order() -> None:
    for retrieved in ({"a", "b"}, frozenset("ab"), {"a": 1}.keys()):
        with raises_code(GoldrankError, "wrong-type"):
            evaluate_texts([{"question": "x", "retrieved": retrieved, "references": ["a"]}], "P@1")


def test_relevant_documents_may_be_a_set() -> None:
    assert as_qrels({"q1": {"d1", "d2"}}) == {"q1": {"d1": 1, "d2": 1}}


ORDERED: list[Any] = [
    ["d1", "d2"],
    ("d1", "d2"),
    deque(("d1", "d2")),
    (d for d in ("d1", "d2")),
    reversed(["d2", "d1"]),
]
ORDERED += [np.array(["d1", "d2"]), pd.Series(["d1", "d2"]), pl.Series(["d1", "d2"])]


@pytest.mark.parametrize("ranking", ORDERED, ids=lambda ranking: type(ranking).__name__)
def test_what_has_an_order(ranking: Any) -> None:
    assert as_run({"q1": ranking})["q1"] == {"d1": -1.0, "d2": -2.0}


def test_facades_refuse_sets() -> None:
    """They hand their lists to the same engine."""
    with pytest.raises(GoldrankError):
        place([["d1"], {"d1", "d2"}], [{"d1"}, {"d1"}])


# What is written reads back.

BEGINNINGS = [
    "\ufeffq", "\ufeff\ufeffq", "BZh", "BZh9", "BZh91AY&SY", "BZh91AY&SYabcdefgh", "PAR1", "PAR1x", "ARROW1",
    "%PDF", "%PDF-1.7", "{", "[", "{q}", "[1]", '{"q":1}', '["a"]', '{"a', "[]", "{}", '[{"qid":"q"}]', "SQLite",
    "PK\x03\x04", "\x04\x22M\x18", "\x1f\udc8b", "\x1f\udc8b\x08", "\x1f\udc8b\x08\x08abcd\x02\x03abc",
    "(\udcb5/\udcfd", "(\udcb5/\udcfd\x04abc", "\udcfd7zXZ", "\udcff\udcfe", "\udcfe\udcff",
    "\udcff\udcff\udcff\udcff", "\udc80\x04\udc95", "query,doc,score", "query,doc,grade", '"query","doc","score"',
    "qid,docno,score", "é", "\u2028q", "q\ufeff", "-", "*", "~", "'", "\\", "\x7f", "\x01", "\x1c",
]  # fmt: skip


@pytest.mark.parametrize("begin", [*BEGINNINGS, pytest.param("[" * 3000, id="3000 brackets")])
def test_what_is_written_reads_back(begin: str, tmp_path: Path) -> None:
    """Ids may begin as files of other formats do."""
    run = {begin: {begin: 2.0, "d": 1.5}, "q2": {"d": 1.0}}
    qrels = {begin: {begin: 2, "d": 0}, "q2": {"d": 1}}
    for suffix in ("", ".txt", ".run", ".json", ".parquet", ".bz2", ".pdf"):
        if suffix == ".bz2" and begin.startswith("BZh"):
            continue  # the name and the beginning say so: it is taken for a bzip2 file
        read_run(run).save(tmp_path / f"run{suffix}")
        read_qrels(qrels).save(tmp_path / f"qrels{suffix}")
        assert read_run(tmp_path / f"run{suffix}") == run, suffix
        assert read_qrels(tmp_path / f"qrels{suffix}") == qrels, suffix
        assert read_run(io.BytesIO((tmp_path / f"run{suffix}").read_bytes())) == run, suffix
        if suffix in ("", ".txt"):
            assert read_run(tmp_path / f"run{suffix}", format="trec") == run, suffix
            assert read_qrels(tmp_path / f"qrels{suffix}", format="trec") == qrels, suffix


TABLES = [".csv", ".tsv", ".CSV", ".jsonl", ".ndjson", ".arrow", ".feather", ".csv.gz", ".jsonl.bz2"]
CELLS = [*BEGINNINGS, *(" ", "a b", " a", "a ", "\t", "a\n", "\na", 'a"b', '"', '""', "a,b", "a\r", "\x00", "NA", "#q")]


@pytest.mark.parametrize("suffix", few(TABLES))
def test_the_format_of_the_ending_is_written(suffix: str, tmp_path: Path) -> None:
    """Ids come back as they were, or are refused where a table of text cannot hold them."""
    refused = set()
    for text in CELLS:
        run = {text: {text: 2.0, "d": 1.5}, "q2": {"d": math.inf if "json" not in suffix else 1e300}}
        qrels = {text: {text: 2, "d": -1}, "q2": {"d": 0}}
        try:
            read_run(run).save(tmp_path / f"run{suffix}")
            read_qrels(qrels).save(tmp_path / f"qrels{suffix}")
        except GoldrankError:
            refused.add(text)
            continue
        assert read_run(tmp_path / f"run{suffix}") == run
        assert read_qrels(tmp_path / f"qrels{suffix}") == qrels
    is_text = ".csv" in suffix.lower() or ".tsv" in suffix
    assert refused == {
        text for text in CELLS if is_text and not {*"\0\r", *map(chr, range(0xDC80, 0xDD00))}.isdisjoint(text)
    }


def test_what_the_endings_mean(tmp_path: Path) -> None:
    begins = {".csv": b"query,doc,score\n", ".tsv": b"query\tdoc\tscore\n", ".jsonl": b'{"query"', ".arrow": b"ARROW1"}
    begins |= {".json": b'{"q"', ".parquet": b"PAR1", ".txt": b"q Q0", ".trec": b"q Q0", "": b"q Q0"}
    for suffix, begin in begins.items():
        read_run({"q": {"d": 1.0}}).save(tmp_path / f"run{suffix}")
        assert (tmp_path / f"run{suffix}").read_bytes().startswith(begin)
    with pytest.raises(GoldrankError, match=r"\.xlsx are not written") as caught:
        read_run({"q": {"d": 1.0}}).save(tmp_path / "run.xlsx")
    assert ".csv (csv)" in str(caught.value)
    assert not (tmp_path / "run.xlsx").exists()
    read_run({"q": {"d": 1.0}}).save(tmp_path / "run.xlsx", format="csv")
    assert read_run(tmp_path / "run.xlsx", format="csv") == {"q": {"d": 1.0}}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".arrow", ".parquet"])
def test_tables_keep_who_judged(suffix: str, tmp_path: Path) -> None:
    given = as_qrels(
        [
            {"query": "q", "doc": "a", "grade": 1, "judged_by": "model"},
            {"query": "q", "doc": "b", "grade": 0, "judged_by": "human"},
        ]
    )
    given.save(tmp_path / f"qrels{suffix}")  # without a warning: nothing is lost
    found = read_qrels(tmp_path / f"qrels{suffix}")
    assert {who: dict(part) for who, part in found.judges.items()} == {
        "model": {"q": {"a": 1}},
        "human": {"q": {"b": 0}},
    }


def test_a_format_that_is_named_wins() -> None:
    assert read_qrels(stream("[1] d1 1\n"), format="trec-3col") == {"[1]": {"d1": 1}}
    assert read_run(stream("{q} Q0 d1 1 0.5\n"), format="trec-no-tag") == {"{q}": {"d1": 0.5}}
    assert read_run(stream("query,doc,score\td\t1\n"), format="msmarco") == {"query,doc,score": {"d": -1.0}}


def test_texts_of_facades_have_an_order() -> None:
    texts: Any = {"a", "b", "c"}
    with pytest.raises(GoldrankError):
        remem.RetrievalRecall().calculate_metric_scores(gold_docs=[["a"]], retrieved_docs=[texts], k_list=[1])
    with pytest.raises(GoldrankError):
        continuous_eval.RankedRetrievalMetrics()(texts, ["a"])
    with pytest.raises(GoldrankError):
        axion.DatasetItem(actual_ranking=texts, expected_reference=["a"])
    with pytest.raises(GoldrankError):
        lesson.reciprocal_rank(texts, {"a"})
