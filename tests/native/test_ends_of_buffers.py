"""Random bytes for the compiled parser, in buffers that end where its contract says. `make fuzz N=...` tries N of them,
under sanitizers, which see a byte that is read or written beyond an end."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from goldrank.base import ids
from goldrank.data.id_column import IdColumn
from goldrank.io.text import scan, trec
from tests.lanes import many
from tests.native.conftest import COMPILED

pytestmark = pytest.mark.skipif(COMPILED is None, reason="the compiled core is not built")

CASES = int(os.environ.get("GOLDRANK_FUZZ", many(3_000)))
LEAST_PAD = 16
"""Zero bytes that `columns` and `tidy` ask for; readers give more."""
PIECES = [b" ", b" ", b"\t", b"\n", b"\n", b"\r\n", b"\v", b"#", b"# ", b"q", b"d1", b"1", b"-", b"+", b".", b"e", b"E"]
PIECES += [b"9" * 19, b"0.5", b"1e22", b"1e-23", b"inf", b"\0", b"\x1f", b"\x7f", b"\xff", b"x" * 7, b"x" * 8, b"x" * 9]
LINES = [b"q 0 d 1 2.5 t\n", b"q 0 e 2 1e-3 t\n", b"r\t0 d 1 +7 t\n", b"# remark\n", b"\n", b"q  0 f 3 9 t \n"]


def random_bytes(rng: random.Random) -> bytes:
    text = b"".join(rng.choices(LINES if rng.random() < 0.5 else PIECES, k=rng.randrange(1, 12)))
    for _ in range(rng.choice([0, 0, 1, 3]) if text else 0):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([b"", *PIECES]) + text[at + rng.randrange(2) :]
    return text + b"\n"


def tight(raw: bytes, pad: int) -> np.ndarray:
    """A buffer of its own with no byte more than is asked for."""
    data = np.zeros(len(raw) + pad, np.uint8)
    data[: len(raw)] = np.frombuffer(raw, np.uint8)
    return data


def compiled_columns(raw: bytes, width: int) -> tuple[list[list[bytes]], list[int], list[float]] | None:
    room = COMPILED.lines(tight(raw, 0), len(raw))
    ends = np.empty((width, room), np.int32)
    score, key = np.empty(room), np.empty(room, np.uint64)
    begin, left = np.empty(room, np.int64), np.empty(room, np.int64)
    places = (0, min(2, width - 1), min(4, width - 1), 99)
    counts = COMPILED.columns(tight(raw, LEAST_PAD), len(raw), width, *places, ends, score, key, begin, left)
    if counts is None:
        return None
    lines, stretches, undone = counts
    assert lines == room
    table = scan.FieldRanges(scan.padded(raw), list(ends))
    texts = [table.texts(column) for column in range(width)]
    numbers = texts[places[2]]
    rest = set(left[:undone].tolist())
    assert all(score[i] == float(numbers[i]) for i in range(lines) if i not in rest)
    assert key.tolist() == table.ids(places[1]).hashes().tolist()
    return texts, begin[:stretches].tolist(), sorted(rest)


def test_columns():
    rng = random.Random(11)
    for _ in range(CASES):
        raw = random_bytes(rng)
        width = rng.choice([1, 4, 6, max(1, len(raw.split(b"\n")[0].split()))])
        found = compiled_columns(raw, width)
        lines = [line.split() for line in raw.removesuffix(b"\n").split(b"\n")]
        if found is None:
            continue
        texts, begin, _ = found
        assert [list(row) for row in zip(*texts, strict=True)] == lines, raw
        queries = [line[0] for line in lines]
        assert begin == [i for i, query in enumerate(queries) if i == 0 or query != queries[i - 1]]


def test_tidy():
    rng = random.Random(12)
    done = 0
    for _ in range(CASES):
        raw = random_bytes(rng)
        width, extra = rng.choice([1, 4, 6]), rng.random() < 0.5
        number = np.empty(raw.count(b"\n"), np.int64)
        out = np.empty(len(raw), np.uint8)
        found = COMPILED.tidy(tight(raw, LEAST_PAD), len(raw), width, extra, ids.MAX_ID_BYTES, out, number)
        layout = trec.Layout(tuple(f"f{i}" for i in range(width)), extra=extra)
        lines = [line.split() for line in raw.removesuffix(b"\n").split(b"\n")]
        data = [(i, row) for i, row in enumerate(lines) if row and not row[0].startswith(b"#")]
        if found is None:
            odd = any(byte < 9 or 13 < byte < 32 for byte in raw)
            assert odd or any(not layout.fits(len(row)) for _, row in data), raw
            continue
        done += 1
        written, count, blank, comments, _, more = found
        assert out[:written].tobytes() == b"".join(b" ".join(row[:width]) + b"\n" for _, row in data), raw
        assert number[:count].tolist() == [i for i, _ in data]
        assert (blank, comments) == (sum(not row for row in lines), len(lines) - len(data) - blank)
        assert more == sum(len(row) > width for _, row in data)
    assert done


def test_ids_at_the_end_of_their_data():
    rng = random.Random(13)
    for _ in range(CASES // 10 + 1):
        texts = [
            bytes(rng.choices(b"ab\0\xff", k=rng.choice([0, 1, 7, 8, 9, 16, 17]))) for _ in range(rng.randrange(6))
        ]
        whole = IdColumn.of(texts)
        data = tight(b"".join(texts), 8)  # the least that the contract asks for
        hashes, code, first = (
            np.empty(len(texts), np.uint64),
            np.empty(len(texts), np.int64),
            np.empty(len(texts), np.int64),
        )
        COMPILED.hashes(data, whole.start, whole.end, hashes)
        assert hashes.tolist() == whole.hashes().tolist()
        count = COMPILED.number(data, whole.start, whole.end, np.empty(16, np.uint64), code, first)
        assert [texts[first[i]] for i in code] == texts
        assert count == len(set(texts))
        out = np.empty(sum(map(len, texts)), np.uint8)
        COMPILED.pack(data, whole.start, whole.end, out)
        assert out.tobytes() == b"".join(texts)
