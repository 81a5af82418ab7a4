"""Tables with quotes are split as Python's csv reads them: the same cells, lines, notes and errors."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import goldrank
from goldrank.base.errors import InputError
from goldrank.io.text import delimited

CELLS = [
    "a",
    "b c",
    "",
    " ",
    'say "so"',
    '"',
    "x,y",
    "x\ty",
    "two\nlines",
    "\n",
    "é",
    "中,文",
    "1.5",
    "''",
    '""',
    "\x01",
]


def split(body: bytes, by_rows: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Header, rows, lines and counts of a table, or the message of the error; `by_rows` by Python's csv alone."""
    with monkeypatch.context() as patch:
        if by_rows:
            patch.setattr(delimited, "_unquoted", lambda body, first: None)
        counts: Counter[str] = Counter()
        try:
            frame, lines = delimited._split_quoted(body, delimited._LineNumbers(3), "t.csv", counts)
        except InputError as error:
            return (str(error),)
    return frame.columns, frame.rows(), lines.tolist(), +counts


@pytest.mark.parametrize("seed", range(150))
def test_quoted_tables_are_split_as_csv_reads_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    text = io.StringIO()
    end = rng.choice(("\n", "\n", "\r\n"))
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(text, delimiter=rng.choice((",", "\t")), quoting=quoting, lineterminator=end)
    writer.writerow(["query", "doc", "score"])
    for _ in range(rng.randint(0, 12)):
        writer.writerow(rng.choice(CELLS) for _ in range(rng.choice((3, 3, 3, 3, 3, 3, 3, 3, 2))))
        if rng.random() < 0.2:
            text.write(rng.choice((end, "  " + end, ",," + end, '"",,""' + end)))
    raw = text.getvalue()
    if rng.random() < 0.3:
        raw = raw.rstrip("\n")
    if rng.random() < 0.3:  # what is not regular
        place = rng.randrange(len(raw))
        raw = raw[:place] + rng.choice('",\n\r \0') + raw[place:]

    body = raw.encode()
    assert split(body, False, monkeypatch) == split(body, True, monkeypatch)


def test_cells_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'query,doc,note\nq1,"a,b",x\n"q\n2","say ""so""",\nq3,c,"y"\n'
    header, rows, lines, _ = split(body, False, monkeypatch)
    assert header == ["query", "doc", "note"]
    assert rows == [("q1", "a,b", "x"), ("q\n2", 'say "so"', ""), ("q3", "c", "y")]
    assert lines == [4, 5, 7]  # the header is in line 3
    assert delimited._unquoted(body, 3) is not None


@pytest.mark.parametrize(
    "body", [b'a,b\nx"y,z\n', b'a,b\n"x"y,z\n', b'a,b\n"x,z\n', b'a,b\n "x",z\n', b'a,b\n"x\r",z\n']
)
def test_odd_quotes_are_left_to_csv(body: bytes) -> None:
    assert delimited._unquoted(body, 1) is None


def test_a_file_that_has_all_control_bytes_is_left_to_csv() -> None:
    cell = bytes(byte for byte in range(1, 32) if byte not in b"\t\n\r\x0b\x0c")
    assert delimited._unquoted(b'a,b\n"x",' + cell + b"\n", 1) is None


def test_one_quoted_cell_reads_as_the_same_run(tmp_path: Path) -> None:
    lines = [f"q{i},d{i}-{j},{9 - j}.5" for i in range(30) for j in range(5)]
    (tmp_path / "plain.csv").write_text("\n".join(["query,doc,score", *lines, ""]))
    lines[70] = 'q14,"d14-0",9.5'
    (tmp_path / "quoted.csv").write_text("\n".join(["query,doc,score", *lines, ""]))
    assert goldrank.read_run(tmp_path / "plain.csv").results == goldrank.read_run(tmp_path / "quoted.csv").results


@pytest.mark.parametrize("before", [0, 1, 499, 500, 501, 1_234])
def test_long_gaps_are_found_wherever_they_begin(before: int) -> None:
    body = b"q,d,s\n" + b"x" * before + b",y,1\n" + b" \n" * 1_000 + b"q,e,2\n"
    numbers = delimited._LineNumbers(1)
    counts: Counter[str] = Counter()
    kept = delimited._without_gaps(body, numbers, counts)
    assert len(kept) < len(body) - 1_900
    assert counts["blank-lines"] == 1_000 - 1 + (b" \n" not in kept)
