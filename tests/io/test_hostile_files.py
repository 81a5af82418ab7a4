"""Files that are wrong or unusual: the right number and a note, or an error that says where, what and what to do."""

from __future__ import annotations

import bz2
import gzip
import os
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import BEST_Q1, DATA, Q1, Q2, QRELS, RUN, SOUND, Error, Value, check, codes, mean
from raising import raises_code

from goldrank import GoldrankError, evaluate, read_qrels, read_run

HOSTILE = DATA / "hostile"
NO_LINE_END = "the last line has no line end"

PAIRS: dict[str, Value | Error] = {
    "00": Value(),
    "02": Error("qrels: 0 bytes", ("no data lines", "complete?")),
    "04": Value(notes=("run: blank lines: 2",)),
    "05b": Value(notes=("qrels: blank lines: 1",)),
    "07": Error("run:2:1:", ("found 5 columns in 'q1 Q0 d2 2 r'", "lacks rank or score")),
    "09": Error("qrels:1:1:", ("found 5 columns in 'q1 0 d1 1 extra', expected 4",)),
    "11": Value(),
    "13": Value(notes=("run: lines end in CR only",)),
    "15": Value(notes=("qrels: a byte order mark was dropped",)),
    "17": Value(),
    "19": Value(),
    "21": Error("run:2:8:", ("NUL byte in 'q1 Q0 d\\x002 2 2.0 r'", "text file?")),
    "22": Error("qrels:1:7:", ("NUL byte in 'q1 0 d\\x001 1'",)),
    "24": Error("run:6:", ("'d3' is in this ranking twice, first at", "run:3", "duplicates='first'")),
    "26": Value(notes=("qrels: 1 repeated judgement",)),
    "28": Value(mean(BEST_Q1, Q2), ("1 score is infinite",)),
    "30": Error("run:3:12:", ("score 'abc'", "decimal number")),
    "32": Value(mean(BEST_Q1, Q2), ("1 score is infinite",)),
    "34": Error("run:3:12:", ("score '3,5'", "decimal comma?")),
    "36": Error("run:3:12:", ("score '٣'", "decimal number")),
    "38": Value(),
    "40": Value(),
    "41b": Value(mean(Q1, (0, 0)), ("1 query has no relevant document",)),
    "42b": Error("qrels:1:9:", ("grade '0.9'", "real_grades=True")),
    "44": Error("qrels:3:9:", ("grade 9223372036854775808 is out of range", "date")),
    "46": Error("qrels:3:9:", ("grade 'yes'", "whole number")),
    # d3, d2, d1: AP (1/1 + 2/3) / 2, DCG 2 + 1/log2(4). q2 has d5 before d4: AP (1/2) / 2, DCG 1/log2(3).
    "47": Value(
        mean(((1 + 2 / 3) / 2, 2.5 / (2 + 1 / 1.584962500721156)), (1 / 4, (1 / 1.584962500721156) * Q2[1])),
        ("1 judged document claimed a better rank in the rank column than the scores give",),
    ),
    "49": Value(notes=("1 query of the run is not judged and was left out: 'qX'",)),
    "51": Value(mean(Q1, (0, 0)), ("1 query has no relevant document",)),
    "53": Error("53:", ("no query id of the run is judged. Run: '01', '02'; judged: '1', '2'", "leading zeros")),
    "55": Value(notes=("qrels: comment lines: 1", "run: comment lines: 1")),
    "55c": Value(notes=("qrels: comment lines: 1", "run: comment lines: 1")),
    "56": Value(notes=(f"qrels: {NO_LINE_END}", f"run: {NO_LINE_END}")),
    "58": Value(),
    "60": Value(),
    "62": Value(),
    "64": Value(),
}


def placed(expected: Value | Error, qrels: Path, run: Path) -> Value | Error:
    """The same with the files' names put in."""
    if isinstance(expected, Value):
        return expected

    def named(text: str) -> str:
        for word, path in (("qrels", qrels), ("run", run)):
            if text == word or text.startswith((f"{word}:", f"{word} ")):
                return str(path) + text.removeprefix(word)
        return text

    return Error(named(expected.where), tuple(map(named, expected.words)))


def test_no_pair_is_forgotten() -> None:
    assert sorted(PAIRS) == sorted(path.stem for path in HOSTILE.glob("*.q"))
    assert sorted(PAIRS) == sorted(path.stem for path in HOSTILE.glob("*.r"))


@pytest.mark.parametrize("case", PAIRS)
def test_pair(case: str) -> None:
    qrels, run = HOSTILE / f"{case}.q", HOSTILE / f"{case}.r"
    check(placed(PAIRS[case], qrels, run), qrels, run)


@pytest.mark.parametrize("case", [case for case, expected in PAIRS.items() if isinstance(expected, Value)])
def test_pair_in_pieces(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same when the run is read a few bytes at a time."""
    monkeypatch.setattr("goldrank.io.sources.PIECE", 20)
    check(PAIRS[case], HOSTILE / f"{case}.q", HOSTILE / f"{case}.r")


def put(text: bytes, line: int, new: bytes) -> bytes:
    """`text` with one of its lines, counted from 1, replaced."""
    lines = text.splitlines(keepends=True)
    lines[line - 1] = new + b"\n"
    return b"".join(lines)


@dataclass(frozen=True)
class Case:
    """A row of the table: the two files and what must come of them."""

    expected: Value | Error
    qrels: bytes = QRELS
    run: bytes = RUN
    names: tuple[str, str] = ("qrels", "run")


def scored(text: bytes) -> bytes:
    """The sound run with another score of d3, in line 3 at column 12."""
    return put(RUN, 3, b"q1 Q0 d3 3 %b r" % text)


def graded(text: bytes) -> bytes:
    """The sound qrels with another grade of d3, in line 3 at column 9."""
    return put(QRELS, 3, b"q1 0 d3 %b" % text)


def bad_score(text: bytes, *words: str) -> Case:
    return Case(Error("run:3:12:", (f"score '{text.decode()}'", *words)), run=scored(text))


NO_DATA = ("no data lines", "Is it the right file, and is it complete?")
LONG = b"d" * 65_537
MANY = b"".join(b"q%d 0 d1 1\n" % i for i in range(100))
# One of 100 queries answered, perfectly.
ONE_OF_100 = (1 / 100, 1 / 100)
GZ = gzip.compress(RUN, mtime=0)

CASES: dict[str, Case] = {
    "1 empty run": Case(Error("run: 0 bytes", NO_DATA), run=b""),
    "2 empty qrels": Case(Error("qrels: 0 bytes", NO_DATA), qrels=b""),
    "3 run of blank lines": Case(Error("run: 3 lines", NO_DATA), run=b"\n \n\t\n"),
    "3 qrels of blank lines": Case(Error("qrels: 3 lines", NO_DATA), qrels=b"\n \n\t\n"),
    "3 run of comments": Case(Error("run: 2 lines", NO_DATA), run=b"# a\n# b\n"),
    "4 blank line in run": Case(Value(notes=("run: blank lines: 1",)), run=RUN.replace(b"\n", b"\n\n", 1)),
    "5 blank line in qrels": Case(Value(notes=("qrels: blank lines: 1",)), qrels=QRELS.replace(b"\n", b"\n\n", 1)),
    "6 run without tag": Case(
        Error("run:1:1:", ("found 5 columns in 'q1 Q0 d1 1 3.0'", "4 more lines like it", "tag", "trec-no-tag")),
        run=RUN.replace(b" r\n", b"\n"),
    ),
    "7 bad line after blanks and comments": Case(
        Error("run:6:1:", ("found 4 columns in 'q1 Q0 d2 2', expected 6", "1 more line like it")),
        run=b"# c\n\n\n" + put(put(RUN, 3, b"q1 Q0 d2 2"), 5, b"q1"),
    ),
    "8 qrels of 3 columns": Case(
        Error("qrels:1:1:", ("found 3 columns in 'q1 d1 1', expected 4", "trec-3col")),
        qrels=QRELS.replace(b" 0 ", b" ", 1),
    ),
    "8 qrels TSV of 3 columns": Case(
        Error("qrels:1:1:", ("found 3 columns", "trec-3col", "4 more lines")),
        qrels=QRELS.replace(b" 0 d", b"\td").replace(b" ", b"\t"),
    ),
    "8 qrels of 5 columns": Case(
        Error("qrels:2:1:", ("found 5 columns in 'q1 0 d2 0 x'",)), qrels=put(QRELS, 2, b"q1 0 d2 0 x")
    ),
    "9 run of 7 columns": Case(
        Value(notes=("run: lines with more columns than needed, which were ignored: 5",)),
        run=RUN.replace(b" r\n", b" r x\n"),
    ),
    "9 one line of 8 columns": Case(
        Value(notes=("run: lines with more columns than needed, which were ignored: 1",)),
        run=RUN.replace(b" r\n", b" r x y\n", 1),
    ),
    "10 all blanks": Case(
        Value(),
        qrels=QRELS.replace(b" ", b" \t "),
        run=b"  " + RUN.replace(b" ", b"\v\f").replace(b"\n", b" \n\t")[:-1],
    ),
    "11 CRLF": Case(Value(), qrels=QRELS.replace(b"\n", b"\r\n"), run=RUN.replace(b"\n", b"\r\n")),
    "12 CR only": Case(
        Value(notes=("qrels: lines end in CR only", "run: lines end in CR only")),
        qrels=QRELS.replace(b"\n", b"\r"),
        run=RUN.replace(b"\n", b"\r"),
    ),
    "12 CR only, bad score": Case(
        Error("run:3:12:", ("score 'x'",)), run=scored(b"x").replace(b"\n", b"\r")
    ),
    "13 BOM in run": Case(Value(notes=("run: a byte order mark was dropped",)), run=b"\xef\xbb\xbf" + RUN),
    "14 BOM in qrels": Case(Value(notes=("qrels: a byte order mark was dropped",)), qrels=b"\xef\xbb\xbf" + QRELS),
    "13 BOM, bad score in line 1": Case(
        Error("run:1:12:", ("score 'x'",)), run=b"\xef\xbb\xbf" + put(RUN, 1, b"q1 Q0 d1 1 x r")
    ),
    "15 UTF-16 run": Case(Error("run: looks like UTF-16", ("UTF-8",)), run=RUN.decode().encode("utf-16")),
    "15 UTF-16 without BOM": Case(Error("run: looks like UTF-16"), run=RUN.decode().encode("utf-16-le")),
    "15 UTF-16 big-endian without BOM": Case(Error("run: looks like UTF-16"), run=RUN.decode().encode("utf-16-be")),
    "15 UTF-16 qrels": Case(Error("qrels: looks like UTF-16", ("UTF-8",)), qrels=QRELS.decode().encode("utf-16")),
    "16 UTF-8 ids": Case(
        Value(), QRELS.replace(b"d1", "д1日本".encode()), RUN.replace(b"d1", "д1日本".encode())
    ),
    "16 column after a UTF-8 id": Case(
        Error("run:3:14:", ("score 'x'",)), run=put(RUN, 3, "q1 Q0 日本語x 3 x r".encode())
    ),
    "17 latin-1 ids": Case(Value(), QRELS.replace(b"d1", b"d\xe91"), RUN.replace(b"d1", b"d\xe91")),
    "18 other blanks in ids": Case(
        Value(),
        QRELS.replace(b"d1", "d\u00a0\u2028\x1c\x851".encode()),
        RUN.replace(b"d1", "d\u00a0\u2028\x1c\x851".encode()),
    ),
    # NFD of d1 in the run of q1: d1 at rank 1 is not judged, d3 is the first relevant: AP (1/3) / 2, DCG 2/log2(4).
    "19 NFC and NFD": Case(
        Value(
            mean(((1 / 3) / 2, 1 / (2 + 1 / 1.584962500721156)), Q2),
            ("1 document of the run equals a judged id only after Unicode normalisation",),
        ),
        QRELS.replace(b"d1", "d\u00e91".encode()),
        RUN.replace(b"d1", "de\u03011".encode()),
    ),
    "19 NFC and NFD throughout": Case(
        Error("run: no document id", ("Unicode normal form",)),
        "q1 0 \u00e9 1\n".encode(),
        "q1 Q0 e\u0301 1 1.0 r\n".encode(),
    ),
    "20 NUL in run": Case(Error("run:5:2:", ("NUL byte",)), run=put(RUN, 5, b"q\x002 Q0 d5 2 2.0 r")),
    "21 NUL in qrels": Case(Error("qrels:2:10:", ("NUL byte",)), qrels=put(QRELS, 2, b"q1 0 d2 0\0")),
    "22 long id": Case(
        Error("run:2:7:", ("the doc id has more than 65,536 bytes",)), run=put(RUN, 2, b"q1 Q0 %b 2 2.0 r" % LONG)
    ),
    "22 long judged id": Case(
        Error("qrels:2:6:", ("the doc id has more than 65,536 bytes",)), qrels=put(QRELS, 2, b"q1 0 %b 0" % LONG)
    ),
    "22 longest id": Case(
        Value(), qrels=QRELS.replace(b"d1", LONG[1:]), run=RUN.replace(b"d1", LONG[1:])
    ),
    "22 id of 10 MB": Case(
        Error("run:2: a line is longer than"), run=put(RUN, 2, b"q1 Q0 %b 2 2.0 r" % (b"d" * 10_000_000))
    ),
    "22 judged id of 20 MB": Case(
        Error("qrels:2: a line is longer than"), qrels=put(QRELS, 2, b"q1 0 %b 0" % (b"d" * 20_000_000))
    ),
    "23 duplicate document": Case(
        Error("run:4:", ("'d1' is in this ranking twice, first at", "run:1", "duplicates='first'")),
        run=put(RUN, 4, b"q1 Q0 d1 4 0.5 r"),
    ),
    "23 duplicate document, scattered": Case(
        Error("run:6:", ("'d1' is in this ranking twice, first at", "run:1")), run=RUN + b"q1 Q0 d1 4 0.5 r\n"
    ),
    "24 two grades": Case(
        Error("qrels:6:", ("'d1' of query 'q1' is judged 0 here and 1 at", "qrels:1", "judgements='last'")),
        qrels=QRELS + b"q1 0 d1 0\n",
    ),
    "25 same grade twice": Case(
        Value(notes=("qrels: 2 repeated judgements",)), qrels=QRELS + b"q1 0 d1 1\nq2 0 d4 1\n"
    ),
    "26 score NaN": Case(Error("run:3:12:", ("score is NaN", "leave it out")), run=scored(b"NaN")),
    "26 score -nan": Case(Error("run:3:12:", ("score is NaN",)), run=scored(b"-nan")),
    "27 score inf": Case(Value(mean(BEST_Q1, Q2), ("1 score is infinite",)), run=scored(b"inf")),
    "27 score Infinity": Case(Value(mean(BEST_Q1, Q2), ("1 score is infinite",)), run=scored(b"+Infinity")),
    "27 score -inf": Case(Value(notes=("1 score is infinite",)), run=scored(b"-inf")),
    "27 score 1e400": Case(Value(mean(BEST_Q1, Q2), ("1 score is infinite",)), run=scored(b"1e400")),
    "28 score abc": bad_score(b"abc", "decimal number"),
    "28 score --5": bad_score(b"--5"),
    "28 score -": bad_score(b"-"),
    "28 score .": bad_score(b"."),
    "29 score 0x10": bad_score(b"0x10"),
    "30 score 1_000": bad_score(b"1_000"),
    "31 score 3,5": bad_score(b"3,5", "decimal comma?"),
    "31 score 1.5abc": bad_score(b"1.5abc"),
    "31 score 1.2.3": bad_score(b"1.2.3"),
    "31 score 1.234.567,8": bad_score(b"1.234.567,8"),
    "32 score in Arabic digits": bad_score("٣".encode()),
    "32 score with many digits and a letter": bad_score(b"12345678.12345678x"),
    "28 column after many blanks": Case(
        Error("run:3:17:", ("score 'x'",)), run=put(RUN, 3, b"  q1   Q0 d3  3 x r")
    ),
    "28 column after many blanks, other lines regular": Case(
        Error("run:5:15:", ("score 'y'",)), run=b"# c\n" + put(RUN, 4, b" q2 Q0 d4 1\t  y r")
    ),
    "33 grade -1": Case(Value(), qrels=put(QRELS, 2, b"q1 0 d2 -1")),
    "34 all grades -2 and lower": Case(
        Value(mean(Q1, (0, 0)), ("1 query has no relevant document",)),
        qrels=put(put(QRELS, 4, b"q2 0 d1 -2"), 5, b"q2 0 d4 -9"),
    ),
    "35 grade 1.0": Case(Value(), qrels=put(QRELS, 1, b"q1 0 d1 1.0")),
    "35 grade 0.9": Case(Error("qrels:3:9:", ("grade '0.9'", "real_grades")), qrels=graded(b"0.9")),
    "36 grade yes": Case(Error("qrels:3:9:", ("grade 'yes'", "whole number")), qrels=graded(b"yes")),
    "36 grade 2x": Case(Error("qrels:3:9:", ("grade '2x'",)), qrels=graded(b"2x")),
    "36 grade 1e3": Case(Error("qrels:3:9:", ("grade '1e3'",)), qrels=graded(b"1e3")),
    "36 grade 2_0": Case(Error("qrels:3:9:", ("grade '2_0'",)), qrels=graded(b"2_0")),
    "36 grade in Arabic digits": Case(Error("qrels:3:9:", ("grade '٣'",)), qrels=graded("٣".encode())),
    # Gains 1 and 100000 at ranks 1 and 3; ideally the other way round.
    "37 grade 100,000": Case(
        Value(
            mean((Q1[0], (1 + 50_000) / (100_000 + 1 / 1.584962500721156)), Q2),
            ("qrels: the highest grade is 100,000: is the grade column right?",),
        ),
        qrels=graded(b"100000"),
    ),
    "38 a date": Case(Error("qrels:3:9:", ("grade 20240101 is out of range", "a date")), qrels=graded(b"20240101")),
    "39 grade 178,956,971": Case(Error("qrels:3:9:", ("out of range",)), qrels=graded(b"178956971")),
    "40 grade 2^31": Case(Error("qrels:3:9:", ("out of range",)), qrels=graded(b"2147483648")),
    "41 grade 2^63": Case(Error("qrels:3:9:", ("grade 9223372036854775808 is",)), qrels=graded(b"9223372036854775808")),
    "41 grade -2^63": Case(Error("qrels:3:9:", ("out of range",)), qrels=graded(b"-9223372036854775808")),
    "41 grade of 5,000 digits": Case(Error("qrels:3:9:", ("out of range",)), qrels=graded(b"9" * 5000)),
    "42 rank contradicts score": Case(
        Value(
            mean(BEST_Q1, Q2), ("1 judged document claimed a better rank in the rank column than the scores give",)
        ),
        run=put(put(put(RUN, 1, b"q1 Q0 d3 3 9 r"), 2, b"q1 Q0 d1 2 2 r"), 3, b"q1 Q0 d2 1 1 r"),
    ),
    "42 ranks from 0": Case(Value(), run=re.sub(rb"(\d)( \S+ r)", lambda m: b"%d" % (int(m[1]) - 1) + m[2], RUN)),
    "43 unsorted and interleaved": Case(
        Value(), run=b"\n".join(sorted(RUN.splitlines(), key=lambda line: line[::-1])) + b"\n"
    ),
    "44 query not judged": Case(
        Value(notes=("2 queries of the run are not judged and were left out: 'x', 'y'",)),
        run=b"x 0 d1 1 1 r\n" + RUN + b"y 0 d1 1 1 r\n",
    ),
    "45 judged query not in the run": Case(
        Value(mean(Q1, Q2, (0, 0)), ("1 of 3 judged queries are not in the run, counted as 0: 'q3'",
                                      "without the missing queries: AP 0.6667, nDCG 0.6867")),
        qrels=QRELS + b"q3 0 d1 1\n",
    ),
    "46 one of 100 queries answered": Case(
        Value(ONE_OF_100, ("99 of 100 judged queries are not in the run, counted as 0: 'q0', 'q1', 'q10', ...",
                           "without the missing queries: AP 1.0000, nDCG 1.0000")),
        qrels=MANY,
        run=b"q7 0 d1 1 1 r\n",
    ),
    "47 no query in common": Case(
        Error("run: no query id of the run is judged. Run: 'q1', 'q2'; judged: 'a'", ("Are these the judgements",)),
        qrels=b"a 0 d1 1\n",
    ),
    "47 1 and 01": Case(Error("run: no query id", ("leading zeros",)), b"1 0 d1 1\n", b"01 0 d1 1 1 r\n"),
    "47 case": Case(Error("run: no query id", ("upper and lower case",)), b"Q1 0 d1 1\n"),
    "47 no document in common": Case(
        Error("run: no document id of the run is judged. Run: 'd1', 'd2', 'd3'", ("in addition", "'clueweb-'")),
        QRELS.replace(b"d", b"clueweb-d"),
    ),
    "47 chunks": Case(
        Error("run: no document id", ("chunks",)), b"q1 0 d1 1\n", b"q1 0 d1#3 1 1 r\n"
    ),
    "48 no relevant document": Case(
        Value(mean((0, 0), Q2), ("1 query has no relevant document",)),
        qrels=QRELS.replace(b"q1 0 d1 1", b"q1 0 d1 0").replace(b"q1 0 d3 2", b"q1 0 d3 0"),
    ),
    "49 files swapped": Case(Error("qrels:1:1:", ("looks like a line of a run", "swapped")), RUN, QRELS),
    "49 qrels as run": Case(Error("run:1:1:", ("looks like a line of qrels", "swapped")), QRELS, QRELS),
    "50 comment": Case(Value(notes=("run: comment lines: 1",)), run=b"# q1 Q0\n" + RUN),
    "51 two comments": Case(Value(notes=("qrels: comment lines: 2",)), qrels=b"# a\n  # b\n" + QRELS),
    "52 comment last": Case(Value(notes=("qrels: comment lines: 1",)), qrels=QRELS + b"# end\n"),
    "53 query id that starts with #": Case(
        Value(
            notes=("run: comment lines: 1", "run: comment lines that look like data (an id must not start with #): 1")
        ),
        run=RUN + b"#q3 Q0 d1 1 1.0 r\n",
    ),
    "54 cut in the last field": Case(Value(notes=(f"run: {NO_LINE_END}",)), run=RUN[:-1]),
    "54 10 cut to 1": Case(Value(notes=(f"qrels: {NO_LINE_END}",)), qrels=QRELS[:-1]),
    "54 cut inside a line": Case(Error("run:5:1:", ("found 5 columns in 'q2 Q0 d5 2 2.0'",)), run=RUN[:-3]),
    "55 gz": Case(Value(), run=GZ, names=("qrels", "run.gz")),
    "55 gz without its name": Case(Value(), run=GZ),
    "55 gz cut off": Case(
        Error("run: the gzip data is damaged or cut off", (f"({len(GZ) - 9} bytes as stored)",)), run=GZ[:-9]
    ),
    "55 gz with a bad checksum": Case(
        Error("run: the gzip data is damaged or cut off: CRC check failed"),
        run=GZ[:-8] + bytes([GZ[-8] ^ 1]) + GZ[-7:],
    ),
    "55 gz with garbage behind": Case(
        Error("run: the gzip data is damaged", ("Not a gzipped file",)), run=GZ + b"garbage"
    ),
    "55 two gz members": Case(Value(), run=gzip.compress(RUN[:30]) + gzip.compress(RUN[30:])),
    "55 plain text named gz": Case(Value(notes=("run: named .gz but not compressed",)), names=("qrels", "run.gz")),
    "55 lz4": Case(Error("run: is an lz4 file", ("gzip, zstd",)), run=b"\x04\x22\x4d\x18" + b"\0" * 50),
    "55 zip": Case(Error("run: is a zip archive", ("gzip, zstd",)), run=b"PK\x03\x04" + b"\0" * 50),
    "61 query named all": Case(Value(), QRELS.replace(b"q2", b"all"), RUN.replace(b"q2", b"all")),
    "62 terminal escape in a query id": Case(
        Value(notes=("1 query of the run is not judged and was left out: '\\x1b[31mq\\x07'",)),
        run=RUN + b"\x1b[31mq\x07 Q0 d1 1 1 r\n",
    ),
    "63 no magic document id": Case(
        Value(mean(Q1, Q2, (0, 0)), ("1 of 3 judged queries", "without the missing queries")),
        qrels=QRELS + b"q3 0 ceci_nest_pas_un_docno 1\n",
    ),
    "76 no magic query id": Case(
        Value(), QRELS.replace(b"q2", b"no_query"), RUN.replace(b"q2", b"no_query")
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_file(case: str, tmp_path: Path) -> None:
    given = CASES[case]
    qrels, run = (tmp_path / name for name in given.names)
    qrels.write_bytes(given.qrels)
    run.write_bytes(given.run)
    expected = given.expected
    # Mismatches are about the run as such, which goes by its file's name.
    if not (isinstance(expected, Error) and expected.where.startswith("run: no ")):
        expected = placed(expected, qrels, run)
    check(expected, qrels, run)


def test_values_of_the_sound_pair() -> None:
    """The numbers that four other programs print for it, to four decimals."""
    assert tuple(round(value, 4) for value in SOUND) == (0.6667, 0.6867)


@pytest.mark.parametrize(
    ("policy", "d3"),
    # d3 with 9.0 last or 1.0 first: it ranks first, or last; counted twice, the second also counts.
    [("first", Q1[0]), ("last", 1.0), ("count", (1 / 1 + 2 / 2 + 3 / 4) / 2)],
)
def test_duplicate_documents_by_policy(policy: str, d3: float) -> None:
    scores = evaluate(HOSTILE / "24.q", HOSTILE / "24.r", "AP", duplicates=policy)
    assert scores.per_query["AP"]["q1"] == pytest.approx(d3, abs=1e-12)
    assert ("repeated-documents" in codes(scores)) == (policy != "count")


def test_last_judgement_by_policy(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(QRELS + b"q1 0 d1 0\n")
    # Only d3, at rank 3, is relevant: AP 1/3, and 2/log2(4) of 2.
    check(
        Value(mean((1 / 3, 1 / 2), Q2), ("qrels: 1 repeated judgement",)),
        tmp_path / "qrels",
        HOSTILE / "00.r",
        judgements="last",
    )


def test_run_without_tag_by_format(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(RUN.replace(b" r\n", b"\n"))
    check(Value(), HOSTILE / "00.q", read_run(tmp_path / "run", format="trec-no-tag"))


# 57 to 60: paths.


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_missing_file(read: Callable[[object], object], tmp_path: Path) -> None:
    with raises_code(GoldrankError, "cannot-open", match="No such file or directory") as caught:
        read(tmp_path / "none")
    assert str(tmp_path / "none") in str(caught.value)


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_folder(read: Callable[[object], object], tmp_path: Path) -> None:
    with raises_code(GoldrankError, "no-data-files"):
        read(tmp_path)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(RUN)
    path.chmod(0)
    with pytest.raises(GoldrankError, match="cannot be opened: Permission denied"):
        read_run(path)


@pytest.mark.parametrize("path", ["a" * 5000, "x\0y", "q1 Q0 d1 1 3.0 r\n" * 20, ""])
def test_text_that_is_no_path(path: str) -> None:
    with pytest.raises(GoldrankError, match=r"cannot be opened|is a folder"):
        read_run(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_endless_device() -> None:
    with raises_code(GoldrankError, "is-a-device"):
        read_run("/dev/zero")


def test_path_objects() -> None:
    check(Value(), Path(HOSTILE / "00.q"), Path(HOSTILE / "00.r"))
    check(Value(), str(HOSTILE / "00.q"), str(HOSTILE / "00.r"))


def test_what_was_read_can_be_used_twice() -> None:
    qrels, run = read_qrels(HOSTILE / "00.q"), read_run(HOSTILE / "00.r")
    check(Value(), qrels, run)
    check(Value(), qrels, run)


def test_stream_can_be_used_twice() -> None:
    with open(HOSTILE / "00.r", "rb") as stream:
        run = read_run(stream)
    check(Value(), HOSTILE / "00.q", run)
    check(Value(), HOSTILE / "00.q", run)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("data", [RUN, GZ, bz2.compress(RUN)])
def test_fifo(data: bytes, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()
    run = read_run(pipe)
    writer.join()
    check(Value(), HOSTILE / "00.q", run)
    check(Value(), HOSTILE / "00.q", run)


def test_file_that_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(RUN)
    run = read_run(path)
    path.unlink()
    with raises_code(GoldrankError, "cannot-open", match="No such file"):
        evaluate(HOSTILE / "00.q", run)
