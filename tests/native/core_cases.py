"""Calls of every function of the core: random ones by a seed, and some whose outcome was worked out by hand.

Arguments are made anew for each call, as functions write into them.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from goldrank.core.hashing import SEED

PAD = 16
"""Zero bytes behind a text, as many as the contract asks for."""


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def keys(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


def room(size: int, kind: Any = np.int64) -> np.ndarray:
    return np.zeros(size, kind)


def padded(raw: bytes, pad: int = PAD) -> np.ndarray:
    return np.frombuffer(raw + bytes(pad), np.uint8).copy()


def id_buffers(texts: list[bytes]) -> list[np.ndarray]:
    """Ids one after the other, with no byte more behind them than the contract asks for."""
    ends = np.cumsum([0, *map(len, texts)])
    return [padded(b"".join(texts), 8), ends[:-1].astype(np.int64), ends[1:].astype(np.int64)]


# ---- random calls ----

IDS = [
    b"",
    b"a",
    b"b",
    b"aa",
    b"a\0",
    b"12345678",
    b"123456789",
    b"12345678901234567",
    b"\xff",
    "é".encode(),
    b"d" * 99,
]
NUMBERS = [b"0", b"-0", b"+7", b"12345678", b"123456789", b"-12345678", b"+", b"-", b"1.5", b" 1", b"--1", b"00000001"]
DECIMALS = [
    b"0",
    b"-0",
    b"1",
    b"12.5",
    b"-12.5",
    b".5",
    b"5.",
    b"-.5",
    b"0.1",
    b"0.30000000000000004",
    b"9007199254740993",
    b"9007199254740992.5",
    b"9999999999999999999",
    b"0.9999999999999999999",
    b"1844674407370955161.6",
    b"1e5",
    b"1e-400",
    b"1e22",
    b"1e23",
    b"-1E+2",
    b"+3.5",
    b"1e-22",
    b"1.e1",
    b"12345678901234567e-3",
    b"9007199254740993e1",
    b"inf",
    b"nan",
    b"99999999999999999999",
    b"1_0",
    b"1-2",
    b"1..2",
    b".",
    b"e5",
    b"0x1",
    "\u0661".encode(),
    b"000000000000000000012",
]
LINES = [
    b"q 0 d 1 2.5 t\n",
    b"q 0 e 2 1e-3 t\n",
    b"r\t0 d 1 +7 t\n",
    b"q 0 f 3 9 u\n",
    b"\xe9 0 g 1 1 t\n",
    b"q1 0 dd 1 7 t\n",
]
ODD_LINES = [
    b"# remark\n",
    b"#q 0 d 1 2 t\n",
    b"\n",
    b"  \t\n",
    b"q  0 f 3 9 t\n",
    b"q 0 f 3 9 t \n",
    b" q 0 f 3 9 t\n",
    b"q 0 f 3 9 t x\n",
    b"q 0 f\n",
    b"q 0 f 3 9 t\r\n",
    b"q\x1c0 f 3 9 t z\n",
    b"q 0 \0 3 9 t\n",
    b"#\n",
    b"q\v0\ff 3 9 t\n",
]


def some_ids(rng: random.Random, most: int = 12) -> list[bytes]:
    return rng.choices(IDS[: rng.randrange(1, len(IDS) + 1)], k=rng.randrange(most))


def some_text(rng: random.Random) -> bytes:
    lines = rng.choices(LINES, k=rng.randrange(1, 10))
    if rng.random() < 0.5:
        lines = [line.replace(b"2.5", rng.choice(DECIMALS)) for line in lines]
    if rng.random() < 0.5:
        lines += rng.choices(ODD_LINES, k=rng.randrange(1, 3))
        rng.shuffle(lines)
    return b"".join(lines) + (b"q 0 d" if rng.random() < 0.1 else b"")


def lines(rng: random.Random) -> list[Any]:
    raw = bytes(rng.choices(b"\n\nab\0", k=rng.randrange(200)))
    return [padded(raw, 0), rng.randrange(len(raw) + 1)]


def columns(rng: random.Random) -> list[Any]:
    raw = some_text(rng)
    width = rng.choice([6, 6, 6, 1, 4])
    lines = raw.count(b"\n") - (rng.random() < 0.1)
    lines = max(lines, 0)
    fields = (0, min(2, width - 1), rng.choice([-1, min(4, width - 1)]), rng.choice([99, 99, 1]))
    out = (room(width * lines, np.int32), room(lines, np.float64), room(lines, np.uint64), room(lines), room(lines))
    return [padded(raw), len(raw), width, *fields, *out]


def tidy(rng: random.Random) -> list[Any]:
    raw = some_text(rng)
    lines = max(0, raw.count(b"\n") - (rng.random() < 0.1))
    out = (room(len(raw), np.uint8), room(lines))
    return [padded(raw), len(raw), rng.choice([6, 6, 1, 4]), rng.random() < 0.5, rng.choice([99, 99, 1]), *out]


def hashes(rng: random.Random) -> list[Any]:
    texts = some_ids(rng)
    return [*id_buffers(texts), room(len(texts), np.uint64)]


def integers(rng: random.Random) -> list[Any]:
    texts = rng.choices(NUMBERS if rng.random() < 0.5 else [b"0", b"1", b"77", b"12345678"], k=rng.randrange(9))
    return [*id_buffers(texts), room(len(texts)), room(len(texts))]


def same(rng: random.Random) -> list[Any]:
    texts, others = some_ids(rng), some_ids(rng)
    size = min(len(texts), len(others))
    return [*id_buffers(texts[:size]), *id_buffers(others[:size]), room(size, bool)]


def pack(rng: random.Random) -> list[Any]:
    texts = some_ids(rng)
    return [*id_buffers(texts), room(sum(map(len, texts)), np.uint8)]


def texts(rng: random.Random) -> list[Any]:
    return id_buffers(some_ids(rng))


def rankings(rng: random.Random) -> list[Any]:
    texts = some_ids(rng)
    inner = sorted(rng.choices(range(len(texts) + 1), k=rng.randrange(3)))
    scores = np.array([rng.choice([0.5, -0.0, math.inf]) for _ in texts], np.float64)
    return [*id_buffers(texts), scores, ints(0, *inner, len(texts))]


def number(rng: random.Random) -> list[Any]:
    texts = some_ids(rng)
    return [*id_buffers(texts), room(rng.choice([16, 32]), np.uint64), room(len(texts)), room(len(texts))]


def find(rng: random.Random) -> list[Any]:
    from goldrank.core import portable

    texts, known = some_ids(rng), list(dict.fromkeys(some_ids(rng)))
    slots = room(16, np.uint64)
    portable.number(*id_buffers(known), slots, room(len(known)), room(len(known)))
    if rng.random() < 0.1:
        slots[:] = rng.getrandbits(64)
    return [*id_buffers(texts), *id_buffers(known), slots, room(len(texts))]


def ascend(rng: random.Random) -> list[Any]:
    texts = some_ids(rng, 4)
    return id_buffers(sorted(set(texts)) if rng.random() < 0.5 else texts)


def arrange(rng: random.Random) -> list[Any]:
    size, codes = rng.randrange(40), rng.randrange(1, 5)
    score = [rng.choice([0.0, -0.0, 1.5, math.inf, -math.inf, rng.random()]) for _ in range(size)]
    code = [rng.randrange(codes) for _ in range(size)]
    return [ints(*code), np.array(score, np.float64), room(codes + 1), room(size)]


def stretches(rng: random.Random) -> tuple[list[int], list[int]]:
    """Bounds of some stretches, and as many keys as the last bound, of which few are there twice."""
    bounds = [rng.randrange(3)]
    for _ in range(rng.randrange(5)):
        bounds.append(bounds[-1] + rng.randrange(8))
    known = [rng.getrandbits(64) for _ in range(rng.choice([8, 1000]))]
    return bounds, rng.choices(known, k=bounds[-1] + rng.randrange(2))


def repeated(rng: random.Random) -> list[Any]:
    bounds, key = stretches(rng)
    return [ints(*bounds), keys(*key)]


def survey(rng: random.Random) -> list[Any]:
    bounds, key = stretches(rng)
    score = [rng.choice([0.5, 1.0, math.inf, rng.random()]) for _ in key]
    if rng.random() < 0.8:
        for low, high in pairwise(bounds):
            score[low:high] = sorted(score[low:high], reverse=True)
    code = [rng.choice([-1, 0, 1, 7]) for _ in bounds[1:]]
    bits = bytes(rng.choices([0, 255, 0b1010_0110], k=rng.choice([1, 8, 64])))
    hits = rng.choice([len(key), len(key), 1])
    out = [room(hits) for _ in range(4)]
    columns = (ints(*bounds), ints(*code), np.array(score, np.float64), keys(*key), padded(bits, 0))
    return [*columns, rng.random() < 0.3, *out, room(len(code))]


def among(rng: random.Random) -> list[Any]:
    known = [0, 1, -1, 2, 5, -(2**63), 2**63 - 1, 1 << 32, *range(100, 120)][: rng.randrange(1, 28)]
    docs, wanted = rng.choices(known, k=rng.randrange(20)), rng.choices(known, k=rng.randrange(20))
    return [ints(*docs), ints(*wanted), room(len(docs)), room(len(docs))]


class Text(str):
    __slots__ = ()


class Number(float):
    __slots__ = ()

    def __float__(self) -> float:
        raise AssertionError("code of a number was run")


DOCS = ["d1", "d2", "d10", "é", "文", "😀", "z" * 30]
ODD_DOCS: list[Any] = ["", "x" * 100, "b\udcff", "b\ud800", Text("t"), 7, None, b"b"]
ODD_SCORES: list[Any] = [True, "1", None, math.nan, 10**400, np.float32(1), np.int64(1)]
SCORES: list[Any] = [0.5, 1.0, -0.0, math.inf, 3, np.float64(2.5), Number(1.5), -(2**53) - 1]


def some_run(rng: random.Random, odd: bool, scores: list[Any]) -> Any:
    results: Any = {}
    for i in range(rng.randrange(4)):
        docs = rng.sample(DOCS, rng.randrange(len(DOCS) + 1))
        results[f"q{i}"] = {doc: rng.choice(scores) for doc in docs}
    if not odd:
        return results
    what = rng.randrange(5)
    if what == 0:
        results["q9"] = {rng.choice(ODD_DOCS): 1.0}
    elif what == 1:
        results["q9"] = {"d": rng.choice(ODD_SCORES)}
    elif what == 2:
        results["q9"] = rng.choice([[], None, defaultdict(float), "text"])
    elif what == 3:
        results[rng.choice(ODD_DOCS)] = {}
    else:
        results = rng.choice([[], None, defaultdict(dict, results)])
    return results


def copied(rng: random.Random) -> list[Any]:
    return [some_run(rng, rng.random() < 0.5, SCORES), rng.choice([99, 30, 3])]


def candidates(rng: random.Random) -> list[Any]:
    rows = [dict.fromkeys(rng.sample(DOCS, rng.randrange(len(DOCS))), 1.0) for _ in range(rng.randrange(4))]
    size = sum(map(len, rows))
    odd: list[Any] = [rows, rows, rows, (*rows,), [*rows, {1: 1.0}], [*rows, ["a"]], [*rows, {Text("a"): 1.0}]]
    given = rng.choice(odd)
    return [given, rng.randrange(9), room(size + len(given) - len(rows))]


def judgements(rng: random.Random) -> list[Any]:
    grades = [0, 1, -3, 1000, -1000] + [1001, True, 1.0, 10**30] * (rng.random() < 0.2)
    return [some_run(rng, rng.random() < 0.3, grades), rng.choice([99, 30, 3]), 1000]


def grades(rng: random.Random) -> list[Any]:
    known = [0, 1, -3, 2**63 - 1] + [True, 1.0, 10**30] * (rng.random() < 0.2)
    rows: Any = [
        {doc: rng.choice(known) for doc in rng.sample(DOCS, rng.randrange(4))} for _ in range(rng.randrange(4))
    ]
    size = sum(map(len, rows))
    return [rng.choice([rows, rows, rows, tuple(rows), [*rows, None]]), room(size + (rng.random() < 0.1))]


def place(rng: random.Random) -> list[Any]:
    from goldrank.core import portable

    scores = rng.choice([[0.5], [0.5, 1.0, 1.5], [0.1, 0.1 + 1e-9, math.inf, -math.inf, 1e300], [1.0, 2.0, 3.0, 4.0]])
    run, packed = portable.copied(some_run(rng, False, scores), 99) or ({}, b"")
    run["elsewhere"] = {}
    judged = [dict.fromkeys(rng.sample(DOCS, rng.randrange(len(DOCS))), 1) for _ in range(3)]
    start = np.cumsum([0, *map(len, judged)]).astype(np.int64)
    numbers = {f"q{i}": i for i in range(3)}
    if rng.random() < 0.1 and run.get("q0"):
        run["q0"]["d1"] = 77.0  # not what was copied
    if rng.random() < 0.05:
        run = rng.choice([defaultdict(dict), None, [], {"q": []}, {7: {}}])
        packed = b""
    ties, single = rng.randrange(3), rng.random() < 0.3
    return [run, packed, numbers, judged, start, ties, single, room(3), room(3, bool), room(5 * int(start[-1]))]


def placement_rows(rng: random.Random) -> tuple[np.ndarray, np.ndarray, int]:
    queries = rng.randrange(1, 5)
    query = sorted(rng.randrange(queries) for _ in range(rng.randrange(9)))
    if query and rng.random() < 0.1:
        query[rng.randrange(len(query))] = rng.choice([-1, queries, 2**62])
    return ints(*query), np.array([rng.random() < 0.5 for _ in query], bool), queries


def count(rng: random.Random) -> list[Any]:
    query, which, queries = placement_rows(rng)
    return [query, which, room(queries)]


def cumulate(rng: random.Random) -> list[Any]:
    query, which, _ = placement_rows(rng)
    return [query, which, room(len(query))]


def first(rng: random.Random) -> list[Any]:
    query, which, queries = placement_rows(rng)
    return [query, which, ints(*(rng.randrange(1, 50) for _ in query)), room(queries)]


def some_numbers(rng: random.Random, size: int) -> np.ndarray:
    whole = [0, 1, 3, 7, 10**17 + 1, -2]
    given = rng.choices(whole if rng.random() < 0.5 else [*whole, 0.1, -0.0, 1e200, 1e-100, math.inf], k=size)
    kind = rng.choice([None, None, None, np.float64, np.float32, np.uint64, ">f8"])
    with np.errstate(all="ignore"):
        return np.array(given, np.float64 if not size else None).astype(kind or np.array(given or [0.5]).dtype)


def divide(rng: random.Random) -> list[Any]:
    size = rng.randrange(9)
    return [some_numbers(rng, size), some_numbers(rng, size), room(size, np.float64)]


def total(rng: random.Random) -> list[Any]:
    values = some_numbers(rng, rng.randrange(9))
    return [rng.choice([values, values, values[::2]])]


RANDOM: dict[str, Callable[[random.Random], list[Any]]] = {
    made.__name__: made
    for made in (
        *(lines, columns, tidy, hashes, integers, same, pack, texts, rankings, number, find, ascend, arrange, repeated),
        *(survey, among, copied, candidates, judgements, grades, place, count, cumulate, first, divide, total),
    )
}


# ---- by hand ----


@dataclass
class Case:
    """A call whose outcome was worked out by hand."""

    arguments: list[Any]
    result: object
    written: dict[int, list[Any]] = field(default_factory=dict)
    """What is in some of the arguments afterwards, by position."""


_TABLE = b"q 0 d 1 2.5 t\nq\t0 e 2 1e999 t\nr 0 d 1 -7 t\n"
_UNTIDY = b"# made by hand\nq  0 d 1\n\n#q 0 d 1\n q 0 e 2 x\n"
_MIX, _MIX_WORD, _MASK = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, (1 << 64) - 1


def hash_by_hand(text: bytes) -> int:
    """The hash of an id as its definition says: word by word from the seed on, in Python's whole numbers."""
    value = SEED
    for i in range((len(text) + 7) // 8):
        word = int.from_bytes(text[8 * i : 8 * i + 8], "little")
        if word:
            mixed = ((value ^ word) + i) * _MIX & _MASK
            mixed = (mixed ^ mixed >> 32) * _MIX_WORD & _MASK
            value = mixed ^ mixed >> 29
    return value ^ value >> 32


def _slots_with(text: bytes, number: int) -> np.ndarray:
    """A table of one id: its number, from 1, below the higher half of its hash, at the slot of its lowest bits."""
    key = hash_by_hand(text)
    slots = room(16, np.uint64)
    slots[key % 16] = (key >> 32 << 32) | number
    return slots


def _survey_case(scores: list[float], key: list[int], repeats: bool, result: int | None) -> Case:
    """Two stretches of which the first is asked for, all of whose lines may be judged."""
    columns = (ints(0, 3, 4), ints(0, -1), np.array(scores), keys(*key), padded(b"\xff", 0))
    arguments = [*columns, repeats, room(3), room(3), room(3), room(3), room(2)]
    if result is None:
        return Case(arguments, None)
    return Case(arguments, result, {6: [0, 1, 2], 7: [0, 0, 0], 8: [1, 2, 2], 9: [1, 3, 3], 10: [1, 0]})


BY_HAND: dict[str, list[Case]] = {
    "lines": [Case([padded(b"a\nb\n\n", 0), 4], 2), Case([padded(b"", 0), 0], 0)],
    "columns": [
        Case(
            [
                padded(_TABLE),
                len(_TABLE),
                6,
                0,
                2,
                4,
                99,
                room(18, np.int32),
                room(3, float),
                room(3, np.uint64),
                room(3),
                room(3),
            ],
            (3, 2, 1),
            {
                # q 0 d 1 2.5 t: the fields end at 1, 3, 5, 7, 11 and 13; the second line begins at 14, the third at 30.
                7: [1, 15, 31, 3, 17, 33, 5, 19, 35, 7, 21, 37, 11, 27, 40, 13, 29, 42],
                8: [2.5, 0.0, -7.0],
                9: [hash_by_hand(b"d"), hash_by_hand(b"e"), hash_by_hand(b"d")],
                10: [0, 2, 0],
                11: [1, 0, 0],
            },
        ),
        *(
            Case(
                [
                    padded(raw),
                    len(raw),
                    2,
                    0,
                    1,
                    -1,
                    3,
                    room(4, np.int32),
                    room(2, float),
                    room(2, np.uint64),
                    room(2),
                    room(2),
                ],
                None,
            )
            for raw in (
                b"a b",
                b"#a b\n",
                b"a  b\n",
                b"a b\n\n",
                b"a\n",
                b"a b c\n",
                b"a\x1cb c\n",
                b"a long\n",
                b"a b\r\n",
                b"a b\n" * 3,
            )
        ),
    ],
    "tidy": [
        Case(
            [padded(_UNTIDY), len(_UNTIDY), 4, True, 99, room(len(_UNTIDY), np.uint8), room(5)],
            # "q 0 d 1\nq 0 e 2\n": 16 bytes, 2 lines, 1 blank line, 2 comments, 1 of them like data, 1 line with more.
            (16, 2, 1, 2, 1, 1),
            {5: [*b"q 0 d 1\nq 0 e 2\n"] + [0] * (len(_UNTIDY) - 16), 6: [1, 4, 0, 0, 0]},
        ),
        Case([padded(_UNTIDY), len(_UNTIDY), 4, False, 99, room(len(_UNTIDY), np.uint8), room(5)], None),
        Case([padded(b"a b\n"), 4, 3, True, 99, room(4, np.uint8), room(1)], None),
        Case([padded(b"a\0b\n"), 4, 1, True, 99, room(4, np.uint8), room(1)], None),
    ],
    "hashes": [
        Case(
            [*id_buffers([b"", b"a", b"12345678", b"123456789", b"a" * 17]), room(5, np.uint64)],
            None,
            {3: [SEED ^ SEED >> 32, *map(hash_by_hand, [b"a", b"12345678", b"123456789", b"a" * 17])]},
        )
    ],
    "integers": [
        Case(
            [*id_buffers([b"7", b"-12", b"+3", b"x", b"123456789", b""]), room(6), room(6)],
            3,
            {3: [7, -12, 3, 0, 0, 0], 4: [3, 4, 5, 0, 0, 0]},
        ),
    ],
    "same": [
        Case([*id_buffers([b"a", b"b", b""]), *id_buffers([b"a", b"bb", b""]), room(3, bool)], None, {6: [1, 0, 1]})
    ],
    "pack": [Case([padded(b"xaybbz"), ints(1, 3), ints(2, 5), room(3, np.uint8)], None, {3: [*b"abb"]})],
    "texts": [Case(id_buffers([b"a", "é".encode(), b"\xff", b""]), ["a", "é", "\udcff", ""])],
    "rankings": [
        Case(
            [*id_buffers([b"a", b"b", b"a"]), np.array([3.0, 2.0, 1.0]), ints(0, 2, 2, 3)],
            [{"a": 3.0, "b": 2.0}, {}, {"a": 1.0}],
        ),
        Case([*id_buffers([b"a", b"a"]), np.array([3.0, 2.0]), ints(0, 2)], [{"a": 2.0}]),
    ],
    "number": [
        Case(
            [*id_buffers([b"x", b"y", b"x", b"z"]), room(8, np.uint64), room(4), room(4)],
            3,
            {4: [0, 1, 0, 2], 5: [0, 1, 3, 0]},
        )
    ],
    "find": [
        Case(
            [
                *id_buffers([b"x", b"other"]),
                *id_buffers([b"x"]),
                _slots_with(b"x", 1),
                room(2),
            ],
            True,
            {7: [0, -1]},
        ),
        # Slots that name an id which is not there.
        Case([*id_buffers([b"x"]), *id_buffers([b"x"]), _slots_with(b"x", 7), room(1)], False),
    ],
    "ascend": [
        Case(id_buffers([b"a", b"a\0", b"b"]), True),
        Case(id_buffers([b"a", b"a"]), False),
        Case(id_buffers([b"b", b"a"]), False),
        Case(id_buffers([]), True),
    ],
    "arrange": [
        Case(
            [ints(1, 0, 1, 1), np.array([1.0, 5.0, 2.0, 1.0]), room(4), room(4)],
            None,
            {2: [0, 1, 4, 4], 3: [1, 2, 0, 3]},
        )
    ],
    "repeated": [
        Case([ints(0, 2, 4), keys(1, 2, 1, 2)], False),
        Case([ints(0, 2, 4), keys(1, 2, 3, 3)], True),
        Case([ints(1, 3), keys(5, 5, 6, 6)], False),
        Case([ints(0), keys()], False),
    ],
    "survey": [
        _survey_case([math.inf, 2.0, 2.0, 9.0], [1, 2, 3, 4], True, 3),
        _survey_case([1.0, 2.0, 2.0, 9.0], [1, 2, 3, 4], True, None),
        _survey_case([math.inf, 2.0, 2.0, 9.0], [1, 2, 2, 4], True, None),
        _survey_case([math.inf, 2.0, 2.0, 9.0], [1, 2, 2, 4], False, 3),
    ],
    "among": [
        Case([ints(5, 9, 5, 7), ints(7, 5, 7), room(4), room(4)], (3, 2, True), {2: [1, 3, 4, 0], 3: [1, 1, 0, 0]}),
        Case([ints(1), ints(), room(1), room(1)], (0, 0, False)),
    ],
    "copied": [
        Case(
            [{"q": {"a": 1, "b": 0.5}, "p": {}}, 9],
            ({"q": {"a": 1.0, "b": 0.5}, "p": {}}, np.array([1.0, 0.5]).tobytes()),
        ),
        *(Case([{"q": {doc: 1.0}}, 30], None) for doc in ODD_DOCS),
        *(Case([{"q": {"a": score}}, 30], None) for score in ODD_SCORES),
        Case([{"q": []}, 9], None),
        Case([[], 9], None),
        Case([{"": {}}, 9], None),
        Case([{"q": {"éé": 1.0}}, 3], None),
    ],
    "candidates": [
        Case([[{"a": 1.0, "b": 1.0}, {}, {"c": 1.0, "a": 2.0}], 7, room(4)], ["a", "b", "c"], {2: [7, 8, 9, 7]}),
        Case([({"a": 1.0},), 0, room(1)], None),
        Case([[{1: 1.0}], 0, room(1)], None),
    ],
    "judgements": [
        Case([{"q": {"a": 1, "b": -5}, "p": {}}, 9, 5], {"q": {"a": 1, "b": -5}, "p": {}}),
        *(Case([{"q": {"a": grade}}, 9, 5], None) for grade in (6, -6, True, 1.0, 10**30, None)),
        *(Case([{"q": {doc: 1}}, 30, 5], None) for doc in ODD_DOCS),
    ],
    "grades": [
        Case([[{"a": 1, "b": -2}, {}, {"c": 3}], room(3)], True, {1: [1, -2, 3]}),
        *(Case([[{"a": grade}], room(1)], False) for grade in (1.5, True, 10**30, None)),
        Case([[{"a": 1}], room(2)], False),
        Case([[["a"]], room(1)], False),
    ],
    "place": [
        # c is first with 3; a and b share the ranks 2 and 3, and b comes first by descending id. p is not judged, r is
        # not in the run.
        Case(
            [
                {"q": {"a": 1.0, "b": 1.0, "c": 3.0}, "p": {"a": math.inf}},
                np.array([1.0, 1.0, 3.0, math.inf]).tobytes(),
                {"q": 0, "r": 1},
                [{"a": 2, "x": 1, "c": 0}, {"a": 1}],
                ints(0, 3, 4),
                1,
                False,
                room(2),
                room(2, bool),
                room(20),
            ],
            (2, 1, 3, [], ["p"], 0, 0),
            {7: [3, 0], 8: [1, 0], 9: [0, 0, 0, 0, 1, 3, 0, 0, 1, 2, 0, 0, 1, 3, 0, 0, 2, 0, 0, 0]},
        ),
        *(
            # The three tie rules for a among a and b, which both score 1: as given, by descending, by ascending id.
            Case(
                [
                    {"q": {"b": 1.0, "a": 1.0}},
                    np.ones(2).tobytes(),
                    {"q": 0},
                    [{"a": 1}],
                    ints(0, 1),
                    ties,
                    False,
                    room(1),
                    room(1, bool),
                    room(5),
                ],
                (1, 1, 2, [], [], 0, 1),
                {9: [0, rank, 1, 2, 0]},
            )
            for ties, rank in ((0, 2), (1, 2), (2, 1))
        ),
        # In single precision the two scores are one.
        Case(
            [
                {"q": {"b": 0.1 + 1e-12, "a": 0.1}},
                np.array([0.1 + 1e-12, 0.1]).tobytes(),
                {"q": 0},
                [{"a": 1}],
                ints(0, 1),
                2,
                True,
                room(1),
                room(1, bool),
                room(5),
            ],
            (1, 1, 2, [], [], 0, 1),
            {9: [0, 1, 1, 2, 0]},
        ),
    ],
    "count": [
        Case([ints(0, 0, 2), np.array([True, True, False]), room(3)], True, {2: [2, 0, 0]}),
        Case([ints(0, 3), np.ones(2, bool), room(3)], False),
    ],
    "cumulate": [
        Case([ints(0, 0, 0, 2), np.array([True, False, True, True]), room(4)], True, {2: [1, 1, 2, 1]}),
        Case([ints(0), np.ones(2, bool), room(1)], False),
    ],
    "first": [
        Case([ints(0, 0, 0, 2), np.array([False, True, True, False]), ints(1, 4, 5, 2), room(3)], True, {3: [4, 0, 0]}),
        Case([ints(-1), np.ones(1, bool), ints(1), room(3)], False),
    ],
    "divide": [
        Case([ints(1, 3, 5), np.array([2.0, 4.0, 0.0]), room(3, float)], True, {2: [0.5, 0.75, 0.0]}),
        Case([np.ones(1, np.float32), np.ones(1), room(1, float)], False),
    ],
    "total": [
        # 1e16 + 1 + 1 is 1e16 from left to right, as each 1 is half of the last place; from right to left it is more.
        Case([np.array([1e16, 1.0, 1.0])], 1e16),
        Case([np.array([1.0, 1.0, 1e16])], 1.0000000000000002e16),
        Case([np.zeros(0)], 0.0),
        Case([ints(1)], None),
    ],
}
