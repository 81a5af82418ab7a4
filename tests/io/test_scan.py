"""`goldrank.io.scan` against plain Python: numbers equal `float()` bit for bit, fields equal `bytes.split()`."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lanes import many

from goldrank.data.id_column import hashed
from goldrank.io import scan


def column(texts: list[bytes]) -> scan.Fields:
    """Texts as the only field of a table."""
    fields = scan.split(scan.padded(b"".join(text + b"\n" for text in texts)))
    assert fields is not None
    assert fields.texts(0) == texts
    return fields


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


# Decimals.


def decimal(rng: random.Random, whole: int, fraction: int | None, sign: str) -> str:
    """A decimal number with so many digits before and after the point; None for no point at all."""
    head = "".join(rng.choices("0123456789", k=whole))
    if fraction is None:
        return sign + head
    return f"{sign}{head}." + "".join(rng.choices("0123456789", k=fraction))


def claimed(rng: random.Random) -> str:
    """A number of a shape that `decimals` says it does: 1 to 19 digits, at most 8 of them before the point."""
    whole = rng.randint(0, 8)
    fraction = None if whole and rng.random() < 0.15 else rng.randint(0 if whole else 1, min(16, 19 - whole))
    return decimal(rng, whole, fraction, rng.choice(("", "", "-")))


def check(texts: list[str]) -> int:
    """Compare all that is done with `float`; how many were left."""
    values, left = scan.decimals(column([text.encode() for text in texts]), 0)
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
    """200,000 numbers in all, in tables of many sizes, short and long ones mixed or apart."""
    rng = random.Random(seed)
    texts = [claimed(rng) for _ in range(20_000)]
    left = check(texts)
    # Declined are those whose extended quotient looks like an exact half, about one in 2,048 of the long ones.
    if np.finfo(np.longdouble).nmant == 63:
        assert left < 60
    short = [text for text in texts if len(text.lstrip("-")) <= 8]
    assert len(short) > 1_000
    assert check(short) == 0


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
    check(texts)


def test_decimals_that_are_exact_ties():
    """k + 1/2 of the last place has a finite decimal; it must go to the even neighbour, or be declined."""
    texts = [f"{n}.5" for n in range(1, 3_000)] + [f"{2**22 + n}.{5 * 10**9:010d}" for n in range(500)]
    check(texts)
    check([f"{n}.{m:04d}" for n in (0, 1, 9, 10, 99_999_999) for m in range(0, 10_000, 7)])


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
    values, left = scan.decimals(column([text.encode() for text in texts]), 0)
    for i in set(range(len(texts))) - set(left.tolist()):
        assert not set(texts[i]) - set("-0123456789.")
        assert bits(values[i]) == bits(float(texts[i]))


@pytest.mark.parametrize(
    "text",
    ["-", ".", "-.", "+1", "--1", "1-", "1.2.3", "1..2", "1e5", "1E5", "inf", "-inf", "nan", "0x10", "1_0", "1,5", "a",
     "123456789", "12345678901234567890", "1.23456789012345678", "123456789.5", "\u0661", "1.5f", "1/2", "1:2", ":"],
)  # fmt: skip
@pytest.mark.parametrize("company", [[], ["1"], ["1.25"], ["-0.123456789012"]])
def test_declined(text, company):
    """Alone, and beside numbers that make the table's fields longer or signed."""
    _, left = scan.decimals(column([text.encode(), *(other.encode() for other in company)]), 0)
    assert left.tolist() == [0]


def test_negative_zero():
    values, left = scan.decimals(column([b"-0", b"-0.0", b"0", b"-.0", b"0."]), 0)
    assert left.tolist() == []
    assert [bits(value) for value in values] == [bits(value) for value in (-0.0, -0.0, 0.0, -0.0, 0.0)]


# Integers.


@settings(max_examples=many(300), deadline=None)
@given(
    st.lists(
        st.one_of(st.integers(0, 10**10).map(str), st.from_regex(r"\A[-+0-9/:a ]{1,10}\Z")), min_size=1, max_size=9
    )
)
def test_integers(texts):
    whole = [text.replace(" ", "_").encode() for text in texts]
    value, left = scan.integers(column(whole), 0)
    value[left] = -1
    found = value.tolist()
    assert found == [int(text) if text.isdigit() and len(text) <= 8 else -1 for text in whole]


@example(b"12345678", 8)
@given(st.one_of(st.binary(min_size=8, max_size=8), st.from_regex(rb"\A[0-9]{8}\Z")), st.integers(0, 8))
def test_digits(raw, length):
    word = np.array([int.from_bytes(raw, "little") & ((1 << 8 * length) - 1)], np.uint64)
    value, valid = scan.digits(word, np.array([length]))
    text = raw[:length]
    assert bool(valid[0]) == all(byte in b"0123456789" for byte in text)
    if valid[0]:
        assert int(value[0]) == int(text or b"0")


def test_digits_of_every_byte():
    for byte in range(256):
        for at in range(8):
            text = bytearray(b"12345678")
            text[at] = byte
            word = np.array([int.from_bytes(text, "little")], np.uint64)
            value, valid = scan.digits(word, np.array([8]))
            assert bool(valid[0]) == (byte in b"0123456789")
            assert not valid[0] or int(value[0]) == int(text)


# Fields.

FIELD = st.binary(min_size=1, max_size=20).map(lambda raw: bytes(b for b in raw if b > 32)).filter(len)
GAP = st.sampled_from([b" ", b" ", b" ", b"\t", b"  ", b" \t\r", b"\v\f"])
EDGE = st.sampled_from([b"", b"", b"", b" ", b"\r", b"\t "])


@st.composite
def tables(draw, regular: bool = False):
    """Lines of fields, and their bytes."""
    width = draw(st.integers(1, 6))
    lines = draw(st.lists(st.lists(FIELD, min_size=width, max_size=width), min_size=1, max_size=12))
    text = b""
    for line in lines:
        text += b"" if regular else draw(EDGE)
        text += line[0]
        for part in line[1:]:
            text += (b" " if regular else draw(GAP)) + part
        text += (b"" if regular else draw(EDGE)) + b"\n"
    if draw(st.booleans()):
        text = text[:-1]
    return lines, text


def contents(fields: scan.Fields) -> list[list[bytes]]:
    return [list(line) for line in zip(*(fields.texts(c) for c in range(fields.width)), strict=True)]


@settings(max_examples=many(300), deadline=None)
@given(st.one_of(tables(), tables(regular=True)), st.booleans())
def test_split_equals_bytes_split(table, exact):
    lines, text = table
    fields = scan.split(scan.padded(text), exact=exact)
    assert fields is not None
    assert (fields.size, fields.width) == (len(lines), len(lines[0]))
    assert contents(fields) == lines
    which = np.arange(len(lines))[::-2]
    for c in range(fields.width):
        assert fields.texts(c, which) == [lines[i][c] for i in which]
        for i, line in enumerate(text.split(b"\n")[: len(lines)]):
            begin = line.index(line.split()[0])
            offsets, at = [], begin
            for part in line.split():
                at = line.index(part, at)
                offsets.append(at - begin + 1)
                at += len(part)
            assert fields.start(c)[i] - fields.start(0)[i] + 1 == offsets[c]


@example([[b"a", b"b"], [b"c", b"d"]], b" ")
@example([[b"a", b"b"], [b"c"]], b" ")
@settings(max_examples=many(300), deadline=None)
@given(st.lists(st.lists(FIELD, max_size=4), min_size=1, max_size=6), GAP)
def test_split_declines_uneven_lines(lines, gap):
    """Lines with different numbers of fields, or none, are never made to look even."""
    text = b"".join(gap.join(line) + b"\n" for line in lines)
    fields = scan.split(scan.padded(text))
    even = len({len(line) for line in lines}) == 1 and lines[0]
    assert (None if fields is None else contents(fields)) == (lines if even else None)


@pytest.mark.parametrize("control", [0, 1, 8, 14, 27, 28, 29, 30, 31])
def test_control_bytes(control):
    """They are no blanks: declined at first, and part of the field on a close look."""
    text = b"a" + bytes([control]) + b"b c\nd e\n"
    assert scan.split(scan.padded(text)) is None
    fields = scan.split(scan.padded(text), exact=True)
    assert fields is not None
    assert contents(fields) == [[b"a" + bytes([control]) + b"b", b"c"], [b"d", b"e"]]
    even = b"a" + bytes([control]) + b"b\nd" + bytes([control]) + b"e\n"
    assert scan.split(scan.padded(even)) is None


@settings(max_examples=many(200), deadline=None)
@given(st.one_of(tables(), tables(regular=True)), st.data())
def test_copy_holds_the_same_lines(table, data):
    lines, text = table
    fields = scan.split(scan.padded(text))
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
    fields = column(texts)
    found = hashed(fields.columns(0), len(texts)).tolist()
    of = {}
    for text, value in zip(texts, found, strict=True):
        assert of.setdefault(text, value) == value
    assert len(set(of.values())) == len(of)
    # Alone, an id hashes as it does beside longer ones.
    for text in texts[:3]:
        assert hashed(column([text]).columns(0), 1).tolist() == [of[text]]


def test_hashes_of_like_ids_differ():
    """Ids that differ in one digit, one letter or their length, as those of real collections do."""
    texts = [b"%d" % i for i in range(30_000)] + [b"msmarco_passage_%02d_%d" % (i % 70, i) for i in range(30_000)]
    texts += [b"a" * n for n in range(1, 200)] + [b"d%d#%d" % (i, j) for i in range(100) for j in range(100)]
    found = hashed(column(texts).columns(0), len(texts))
    assert len(set(found.tolist())) == len(set(texts))


@settings(max_examples=many(300), deadline=None)
@given(IDS)
def test_changes(texts):
    found = scan.changes(column(texts).columns(0), len(texts)).tolist()
    assert found == [i for i in range(len(texts)) if i == 0 or texts[i] != texts[i - 1]]
