"""Inputs of which most lines say nothing: blank ones and comments."""

from __future__ import annotations

import io
import random
from collections import Counter
from typing import Any

import pytest

from goldrank import GoldrankError, evaluate_texts, read_qrels, read_run
from goldrank.io import sources

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
    with pytest.raises(GoldrankError, match=r"1,048,576 lines, no data lines"):
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
