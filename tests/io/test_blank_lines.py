"""Inputs of which most lines say nothing: blank ones and comments."""

from __future__ import annotations

import io
import random
from collections import Counter
from typing import Any

import pytest
from raising import raises_code

from goldrank import GoldrankError, evaluate_texts, read_qrels, read_run
from goldrank.io import sources
from goldrank.io.text import delimited as text_tables

MANY = 1 << 20
NOTHING = {
    "blank": b"\n",
    "CRLF": b"\r\n",
    "CR": b"\r",
    "spaces": b" \t\n",
    "form feeds": b"\x0c\n",
    "comments": b"#\n",
}


@pytest.mark.parametrize("read", [read_run, read_qrels, lambda given: evaluate_texts(given, "P@1")])
@pytest.mark.parametrize("kind", NOTHING)
def test_a_million_lines_of_nothing(kind: str, read: Any) -> None:
    """No object is made for each, so that they are refused at once."""
    if kind == "comments" and read not in (read_run, read_qrels):
        return  # no table has them
    with raises_code(GoldrankError, "empty-input", match="1,048,576 lines"):
        read(io.BytesIO(NOTHING[kind] * MANY))


@pytest.mark.parametrize("share", [1, 3, 7, 1000])
def test_lines_that_are_not_blank(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers and their bytes are the same however the input is cut into pieces."""
    rng = random.Random(share)
    monkeypatch.setattr(sources, "PIECE", share)
    for _ in range(200):
        raw = b"".join(
            rng.choices((b"\n", b"\n", b" ", b"\t", b"\r", b"a", b"#", b"\x0b", b"\x85"), k=rng.randrange(40))
        )
        source = sources.open_source(io.BytesIO(raw))
        raw = raw.replace(b"\r", b"\n") if source.old_mac else raw
        lines = list(enumerate(raw.split(b"\n") if raw else [], 1))
        if lines and not lines[-1][1]:
            lines.pop()
        counts: Counter[str] = Counter()
        assert list(source.lines()) == lines
        assert list(source.filled_lines(counts)) == [line for line in lines if line[1].strip()]
        assert counts["blank-lines"] == sum(not line.strip() for _, line in lines)


@pytest.mark.parametrize("text", ["", "\n", "# nothing else\n", "# nothing\n\n", " "])
@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize("format", ["csv", "tsv", "table"])
def test_tables_of_nothing(text: str, read: Any, format: str) -> None:
    with pytest.raises(GoldrankError):
        dict(read(io.BytesIO(text.encode()), format=format))


ROWS = [b"q1,d1,2.0", b"q1,d2,1.0"]
QUOTED = [b'"q1",d1,2.0', b"q1,d2,1.0"]


@pytest.mark.parametrize("rows", [ROWS, QUOTED])
@pytest.mark.parametrize("kind", ["blank", "CRLF", "spaces", "form feeds"])
@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_many_blank_lines_in_a_table(kind: str, rows: list[bytes], at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line of them is looked at alone; the lines after them keep their numbers."""
    seen: list[bytes] = []
    decoded, split = text_tables._decoded, text_tables._split_plain
    monkeypatch.setattr(text_tables, "_decoded", lambda line, where: seen.append(line) or decoded(line, where))
    monkeypatch.setattr(text_tables, "_split_plain", lambda body, *rest: seen.append(body) or split(body, *rest))
    parts = [b"query,doc,score", *rows]
    parts.insert(at, (NOTHING[kind] * 5_000).removesuffix(b"\n"))
    run = read_run(io.BytesIO(b"\n".join([*parts, b""])))
    assert {query: dict(docs) for query, docs in run.results.items()} == {"q1": {"d1": 2.0, "d2": 1.0}}
    assert [str(note) for note in run.notes] == (["blank lines: 5,000"] if at else [])
    assert sum(map(len, seen)) < 200
    for wrong, said in (
        (b"q2,d1,x", "score 'x' is not a number"),
        (b"q2,d1", "found 2 columns"),
        (b"\xff,d,1", "UTF-8"),
    ):
        with pytest.raises(GoldrankError, match=rf"^<stream>:5004(:\d+)?: .*{said}"):
            dict(read_run(io.BytesIO(b"\n".join([*parts, wrong, b""])), format="table").results)


@pytest.mark.parametrize("rows", [ROWS, QUOTED])
@pytest.mark.parametrize("sign", [b",", b"\t"])
@pytest.mark.parametrize("line", [b" ", b" \t", b"\t\t\t\t\t", b"\x0c\x0b", b"\r", b",,", b" , ,  "])
def test_what_a_blank_line_is(line: bytes, sign: bytes, rows: list[bytes]) -> None:
    """One rule, whether the table has a quotation mark somewhere or not."""
    raw = b"\n".join([b"query,doc,score", rows[0], line, rows[1], b""]).replace(b",", sign)
    run = read_run(io.BytesIO(raw), format="table")
    assert {query: dict(docs) for query, docs in run.results.items()} == {"q1": {"d1": 2.0, "d2": 1.0}}


@pytest.mark.parametrize("rows", [ROWS, QUOTED])
@pytest.mark.parametrize("line", ["\xa0", "\x1c", "\u2003,\u2003"])
def test_what_is_no_blank_line(line: str, rows: list[bytes]) -> None:
    raw = b"\n".join([b"query,doc,score", rows[0], line.encode(), rows[1], b""])
    with pytest.raises(GoldrankError, match=r"^<stream>:3: found [12] columns"):
        dict(read_run(io.BytesIO(raw), format="table").results)


def test_blank_lines_inside_quotation_marks() -> None:
    """They belong to the cell, also in the header."""
    raw = b'\n\nquery,doc,score,"a\n\n\nnote"\n\n"q\n\n1",d1,2.0,x\n\n\nq2,d2,bad,x\n'
    with pytest.raises(GoldrankError, match=r"^<stream>:13: score 'bad'"):
        dict(read_run(io.BytesIO(raw), format="table").results)
    run = read_run(io.BytesIO(raw.replace(b"bad", b"1.0")), format="table")
    assert {query: dict(docs) for query, docs in run.results.items()} == {"q\n\n1": {"d1": 2.0}, "q2": {"d2": 1.0}}
