"""`goldrank.io.text.scan` against plain Python: numbers equal `float()` bit for bit, fields equal `bytes.split()`."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lanes import many

from goldrank.data.id_column import IdColumn
from goldrank.io.text import scan

ONE = scan.FieldRoles(0, 0, 0)
"""Tables of one field, which is all there is."""


def column(texts: list[bytes]) -> scan.FieldRanges:
    """Texts as the only field of a table."""
    fields = scan.split(scan.padded(b"".join(text + b"\n" for text in texts)), ONE)
    assert fields is not None
    assert fields.texts(0) == texts
    return fields


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


# Decimals.


def claimed(rng: random.Random) -> str:
    """A number that is done: 1 to 19 digits, perhaps with a point."""
    digits = "".join(rng.choices("0123456789", k=rng.randint(1, 19)))
    point = rng.randint(0, len(digits))
    is_whole = rng.random() < 0.15
    return rng.choice(("", "", "-", "+")) + (digits if is_whole else f"{digits[:point]}.{digits[point:]}")


def check(texts: list[str]) -> int:
    """Compare all that is done with `float`; how many were left."""
    values, left = column([text.encode() for text in texts]).decimals(0)
    todo = set(left.tolist())
    wrong = [
        (text, value)
        for i, (text, value) in enumerate(zip(texts, values.tolist(), strict=True))
        if i not in todo and bits(value) != bits(float(text))
    ]
    assert wrong == []
    return len(todo)


@pytest.mark.parametrize("seed", range(many(10)))
def test_decimals_equal_float(seed):
    rng = random.Random(seed)
    assert check([claimed(rng) for _ in range(20_000)]) == 0


def test_decimals_near_halves():
    """Numbers that lie between two doubles, or within one part in 10**19 of it: the hardest to round."""
    rng = random.Random(1)
    texts = []
    for _ in range(many(20_000)):
        value = rng.random() * 10 ** rng.randrange(0, 6)
        half = (value + np.nextafter(value, np.inf)) / 2 if rng.random() < 0.5 else value
        whole = len(str(int(half)))
        texts.append(f"{half:.{min(16, 19 - whole)}f}")
        exact = rng.randrange(2**53, 2**54) * 2 + 1  # ...5 in binary: a tie when divided by a power of two
        texts.append(f"{exact / 10**12:.12f}"[:20])
    assert all(len(text.replace(".", "")) <= 19 for text in texts)
    assert check(texts) == 0


def test_decimals_that_are_exact_ties():
    """k + 1/2 of the last place has a finite decimal; it must go to the even neighbour."""
    texts = [f"{n}.5" for n in range(1, 3_000)] + [f"{2**22 + n}.{5 * 10**9:010d}" for n in range(500)]
    assert check(texts) == 0
    assert check([f"{n}.{m:04d}" for n in (0, 1, 9, 10, 99_999_999) for m in range(0, 10_000, 7)]) == 0


@settings(max_examples=many(300), deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=True), min_size=1, max_size=20))
def test_any_printed_float_is_right_or_left(values):
    for show in (repr, "{:.17g}".format, "{:.6f}".format, "{:.4f}".format, "{:e}".format):
        texts = [show(value) for value in values]
        check([text for text in texts if len(text) < 60] or ["0"])


NEARLY_NUMBERS = st.builds(
    str.__add__, st.sampled_from(["", "-", "+"]), st.text("0123456789.eE_x,", min_size=1, max_size=24)
)


@settings(max_examples=many(500), deadline=None)
@given(st.lists(NEARLY_NUMBERS, min_size=1, max_size=8))
def test_what_is_no_decimal_is_left(texts):
    """Whatever is done is a number to Python too, and has none of Python's liberties such as 1_000."""
    values, left = column([text.encode() for text in texts]).decimals(0)
    for i in set(range(len(texts))) - set(left.tolist()):
        assert not set(texts[i]) - set("+-0123456789.eE")
        assert bits(values[i]) == bits(float(texts[i]))


@pytest.mark.parametrize(
    "text",
    ["-", ".", "-.", "--1", "1-", "1.2.3", "1..2", "inf", "-inf", "nan", "0x10", "1_0", "1,5", "a", "1e", "e5", "1e+",
     "12345678901234567890", "1.2345678901234567890", "1e100", "1e-400", "\u0661", "1.5f", "1/2", "1:2", ":"],
)  # fmt: skip
@pytest.mark.parametrize("company", [[], ["1"], ["1.25"], ["-0.123456789012"]])
def test_declined(text, company):
    """Alone, and beside numbers that make the table's fields longer or signed."""
    _, left = column([text.encode(), *(other.encode() for other in company)]).decimals(0)
    assert left.tolist() == [0]


def test_negative_zero():
    values, left = column([b"-0", b"-0.0", b"0", b"-.0", b"0."]).decimals(0)
    assert left.tolist() == []
    assert [bits(value) for value in values] == [bits(value) for value in (-0.0, -0.0, 0.0, -0.0, 0.0)]


# Integers.


@settings(max_examples=many(300), deadline=None)
@given(st.lists(st.one_of(st.integers(-(10**9), 10**10).map(str), st.from_regex(r"\A[-+0-9/:a ]{1,10}\Z")), max_size=9))
def test_integers(texts):
    numbers, left = IdColumn.of([text.encode() for text in texts]).integers()
    for i, (text, number) in enumerate(zip(texts, numbers.tolist(), strict=True)):
        digits = text[1:] if text[:1] in ("-", "+") and text else text
        is_whole = digits.isdigit() and len(digits) <= 8
        assert (i in left) == (not is_whole)
        assert number == (int(text) if is_whole else 0)


# Fields.

FIELD = st.binary(min_size=1, max_size=20).map(lambda raw: bytes(b for b in raw if b > 32)).filter(len)
GAP = st.sampled_from([b" ", b"\t"])
WIDE_GAP = st.sampled_from([b" ", b" ", b"\t", b"  ", b" \t\r", b"\v\f"])
EDGE = st.sampled_from([b"", b"", b"", b" ", b"\r", b"\t "])


@st.composite
def tables(draw, regular: bool = True):
    """Lines of fields, none of which begins with #, and their bytes."""
    width = draw(st.integers(1, 6))
    lines = draw(st.lists(st.lists(FIELD, min_size=width, max_size=width), min_size=1, max_size=12))
    lines = [[line[0].replace(b"#", b"x"), *line[1:]] for line in lines]
    text = b""
    for line in lines:
        text += b"" if regular else draw(EDGE)
        text += line[0]
        for part in line[1:]:
            text += draw(GAP if regular else WIDE_GAP) + part
        text += (b"" if regular else draw(EDGE)) + b"\n"
    if draw(st.booleans()):
        text = text[:-1]
    return lines, text


def contents(fields: scan.FieldRanges) -> list[list[bytes]]:
    return [list(line) for line in zip(*(fields.texts(c) for c in range(fields.width)), strict=True)]


@settings(max_examples=many(300), deadline=None)
@given(tables())
def test_split_equals_bytes_split(table):
    lines, text = table
    fields = scan.split(scan.padded(text), scan.FieldRoles(0, 0))
    assert fields is not None
    assert (fields.size, fields.width) == (len(lines), len(lines[0]))
    assert contents(fields) == lines
    which = np.arange(len(lines))[::-2]
    for c in range(fields.width):
        assert fields.texts(c, which) == [lines[i][c] for i in which]


@settings(max_examples=many(300), deadline=None)
@given(tables(regular=False))
def test_tidied_tables_can_be_split(table):
    lines, text = table
    tidied = scan.tidied(scan.padded(text), len(lines[0]), False)
    assert tidied is not None
    assert tidied.numbers.tolist() == list(range(len(lines)))
    fields = scan.split(tidied.data, scan.FieldRoles(0, 0))
    assert fields is not None
    assert contents(fields) == lines


@example([[b"a", b"b"], [b"c", b"d"]], b" ")
@example([[b"a", b"b"], [b"c"]], b" ")
@settings(max_examples=many(300), deadline=None)
@given(st.lists(st.lists(FIELD, max_size=4), min_size=1, max_size=6), GAP)
def test_split_declines_uneven_lines(lines, gap):
    """Lines with different numbers of fields, or none, and comments are never made to look even."""
    text = b"".join(gap.join(line) + b"\n" for line in lines)
    fields = scan.split(scan.padded(text), scan.FieldRoles(0, 0))
    even = len({len(line) for line in lines}) == 1 and lines[0]
    has_comment = any(line and line[0].startswith(b"#") for line in lines)
    assert (None if fields is None else contents(fields)) == (lines if even and not has_comment else None)


@pytest.mark.parametrize("control", [0, 1, 8, 14, 27, 28, 29, 30, 31])
def test_control_bytes(control):
    """They are no blanks: declined, and part of the field where lines were looked at closely."""
    line = b"a" + bytes([control]) + b"b c"
    assert scan.split(scan.padded(line + b"\nd e\n"), scan.FieldRoles(0, 1)) is None
    assert scan.tidied(scan.padded(line + b"\nd e\n"), 2, False) is None
    fields = scan.FieldRanges.of_lines([line, b"d e"], 2)
    assert contents(fields) == [[b"a" + bytes([control]) + b"b", b"c"], [b"d", b"e"]]
    assert fields.hashes(1).tolist() == IdColumn.of([b"c", b"e"]).hashes().tolist()
    assert fields.changes(0).tolist() == [0, 1]
    assert fields.decimals(1)[1].tolist() == [0, 1]


def test_no_lines():
    fields = scan.FieldRanges.of_lines([], 4)
    assert (fields.size, fields.width) == (0, 4)
    assert fields.texts(2) == []


@settings(max_examples=many(200), deadline=None)
@given(tables(), st.data())
def test_copy_holds_the_same_lines(table, data):
    lines, text = table
    fields = scan.split(scan.padded(text), scan.FieldRoles(0, 0))
    assert fields is not None
    low = data.draw(st.integers(0, len(lines)))
    high = data.draw(st.integers(low, len(lines)))
    assert contents(fields.copy(low, high)) == lines[low:high]


# Hashes and changes.

IDS = st.lists(
    st.one_of(FIELD, st.sampled_from([b"a", b"aa", b"document1", b"document2", b"x" * 8, b"x" * 9, b"x" * 17])),
    min_size=1,
    max_size=30,
)  # fmt: skip


@settings(max_examples=many(300), deadline=None)
@given(IDS)
def test_hashes_are_equal_where_ids_are(texts):
    found = IdColumn.of(texts).hashes().tolist()
    of = {}
    for text, value in zip(texts, found, strict=True):
        assert of.setdefault(text, value) == value
    assert len(set(of.values())) == len(of)
    # Alone, an id hashes as it does beside longer ones.
    for text in texts[:3]:
        assert IdColumn.of([text]).hashes().tolist() == [of[text]]


def test_hashes_of_like_ids_differ():
    """Ids that differ in one digit, one letter or their length, as those of real collections do."""
    texts = [b"%d" % i for i in range(30_000)] + [b"msmarco_passage_%02d_%d" % (i % 70, i) for i in range(30_000)]
    texts += [b"a" * n for n in range(1, 200)] + [b"d%d#%d" % (i, j) for i in range(100) for j in range(100)]
    assert len(set(IdColumn.of(texts).hashes().tolist())) == len(set(texts))


@settings(max_examples=many(300), deadline=None)
@given(IDS)
def test_changes(texts):
    expected = [i for i in range(len(texts)) if i == 0 or texts[i] != texts[i - 1]]
    assert IdColumn.of(texts).changes().tolist() == expected
