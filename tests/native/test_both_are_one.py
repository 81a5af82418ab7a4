"""Runs and judgements, in dicts and in files, are the same with the compiled core and with the portable one."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import fields

import numpy as np
import pytest

from goldrank.conventions import Convention, get
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels, judged_rows
from goldrank.data.run import Run
from goldrank.engine import memory, streaming
from goldrank.io import as_run
from goldrank.io.text import scan
from tests.lanes import many
from tests.native.conftest import COMPILED

pytestmark = pytest.mark.skipif(COMPILED is None, reason="the compiled core is not built")


def columns_of(placements: Placements) -> dict[str, list]:
    columns = {}
    for field in fields(placements):
        value = getattr(placements, field.name)
        columns[field.name] = value.tolist() if isinstance(value, np.ndarray) else value
    return columns


SCORES = (
    lambda rng: rng.random(),
    lambda rng: rng.choice([0.5, 1.0, 1.5]),
    lambda rng: rng.choice([0.1, 0.1 + 1e-17, np.nextafter(0.1, 1), math.inf, -math.inf, -0.0, 0.0]),
    lambda rng: rng.randrange(-2, 3),
    lambda rng: np.float64(rng.randrange(4)),
    lambda rng: rng.choice([1e300, 1e39, 3.4e38, 1.0]),
    lambda rng: np.float32(rng.random()),
)
DOCS = (
    lambda rng, i: f"d{i}",
    lambda rng, i: rng.choice(["d", "é", "文", "😀", "z"]) * rng.randrange(1, 3) + str(i),
    lambda rng, i: f"d{i}\udcff" if i % 3 == 0 else f"d{i}",
)


def random_case(rng: random.Random) -> tuple[Qrels, Run]:
    score, name = rng.choice(SCORES), rng.choice(DOCS)
    docs = [name(rng, i) for i in range(rng.choice([1, 3, 12, 40]))]
    judgements, results = {}, {}
    for i in range(rng.choice([1, 2, 6])):
        judged = rng.sample(docs, rng.randrange(1, len(docs) + 1))
        judgements[f"q{i}"] = {doc: rng.randrange(-1, 4) for doc in judged}
        if rng.random() < 0.9:
            returned = rng.sample(docs, rng.randrange(len(docs) + 1))
            row = {doc: score(rng) for doc in returned}
            if rng.random() < 0.4:  # most systems return the best first
                row = dict(sorted(row.items(), key=lambda pair: -pair[1]))
            results[f"q{i}"] = row
    results["elsewhere"] = {"d0": 1.0}
    return Qrels(judgements), Run(results)


@pytest.mark.parametrize("seed", range(many(400)))
def test_dicts(seed, both):
    rng = random.Random(seed)
    qrels, run = random_case(rng)
    convention = rng.choice(
        [
            Convention(),
            get("trec_eval-9"),
            Convention(ties="input"),
            Convention(ties="docid-ascending"),
        ]
    )
    (one, one_counts), (other, other_counts) = both(lambda: memory.ENGINE.place(qrels, run, convention))
    assert columns_of(one) == columns_of(other)
    assert one_counts == other_counts


def place(results, judgements):
    """What the core says of a run in dicts, with what it was told."""
    qrels = Qrels(judgements)
    retrieved, found = np.zeros(len(qrels), np.int64), np.zeros((5, len(qrels.arrays.grade)), np.int64)
    own, scores = COMPILED.copied(results, 99)
    answered = np.zeros(len(qrels), bool)
    how = (qrels.numbers, judged_rows(qrels), qrels.arrays.start, 1, False, retrieved, answered, found)
    told = COMPILED.place(own, scores, *how)
    return told, retrieved.tolist(), answered.tolist(), found.tolist()


def test_dicts_are_done_by_the_core():
    told, retrieved, answered, found = place({"q": {"b": 2.0, "a": 1.0}, "p": {}}, {"q": {"a": 1}, "r": {}})
    assert (told, retrieved, answered) == ((1, 0, 2, [], ["p"], 0, 0), [2, 0], [True, False])
    assert found == [[0], [2], [2], [2], [0]]


def test_hits_that_share_their_score_are_counted():
    results = {"q": {"a": 1.0, "b": 1.0, "c": 3.0, "d": 2.0}}
    assert place(results, {"q": {"a": 1, "b": 0, "c": 1}})[0][:2] == (3, 2)
    assert place(results, {"q": {"b": 0, "d": 1}})[0][:2] == (2, 1)


class Text(str):
    __slots__ = ()


class Number(float):
    __slots__ = ()


@pytest.mark.parametrize(
    ("row", "declined"),
    [
        ({"a": 1.0}, False),
        ({"a": 1}, False),
        ({"a": Number(2)}, False),
        ({"a": True}, True),
        ({"a": "1"}, True),
        ({"a": None}, True),
        ({"a": math.nan}, True),
        ({"a": 10**400}, True),
        ({Text("a"): 1.0}, True),
        ({1: 1.0}, True),
        ({"": 1.0}, True),
        ({"x" * 10: 1.0}, True),
    ],
)
def test_what_dicts_are_declined(row, declined):
    assert (COMPILED.copied({"q": row}, 9) is None) == declined
    assert (COMPILED.copied({"p": {"b": 2}, "q": row}, 9) is None) == declined


@pytest.mark.parametrize("results", [{1: {}}, {"q": []}, {Text("q"): {}}, [], None, {"": {}}, {"longer": {}}])
def test_what_is_no_dict_of_dicts_is_declined(results):
    assert COMPILED.copied(results, 5) is None


@pytest.mark.parametrize("number", [0xD800, 0xDC80])
def test_text_without_bytes_is_declined(number):
    """Half of a surrogate pair is no id, and what stands for a byte that is not UTF-8 is looked at more closely."""
    text = f"b{chr(number)}"
    for results in ({"q": {"a": 1.0, text: 1.0}}, {"q": {"a": 1.0}, text: {}}):
        assert COMPILED.copied(results, 99) is None
    for given in ({"q": {"a": 1, text: 1}}, {"q": {"a": 1}, text: {}}):
        assert COMPILED.judgements(given, 99, 10) is None


def test_a_dict_of_another_class_is_copied_too():
    given = defaultdict(dict, {"q": {"a": 1.0}})
    assert as_run(given).source.with_scores() == ({"q": {"a": 1.0}}, np.ones(1).tobytes())


def test_a_run_that_was_changed_after_it_was_copied_is_refused():
    qrels = Qrels({"q": {"a": 1}})
    retrieved, found = np.zeros(1, np.int64), np.zeros((5, 1), np.int64)
    _, scores = COMPILED.copied({"q": {"a": 1.0}}, 9)
    how = (qrels.numbers, judged_rows(qrels), qrels.arrays.start, 1, False, retrieved, np.zeros(1, bool), found)
    for other in ({"a": 1.0, "b": 2.0}, {}, {"a": 2.0}):
        with pytest.raises(RuntimeError, match="changed while it was read"):
            COMPILED.place({"q": other}, scores, *how)
    assert COMPILED.place({"q": ["a"]}, scores, *how) is None
    with pytest.raises(ValueError, match="do not fit"):
        COMPILED.place({"q": {"a": 1.0}}, scores, {"q": 7}, *how[1:])


JUDGEMENTS = [
    ({"q": {"a": 1, "b": -1000}, "r": {}}, False),
    ({}, False),
    ({"q": {"a": 1001}}, True),
    ({"q": {"a": 10**30}}, True),
    ({"q": {"a": True}}, True),
    ({"q": {"a": 1.0}}, True),
    ({"q": {"": 1}}, True),
    ({"": {"a": 1}}, True),
    ({"q": {Text("a"): 1}}, True),
    ({1: {"a": 1}}, True),
    ({"q": ["a"]}, True),
    ({"q": {"longer": 1}}, True),
]


@pytest.mark.parametrize(("given", "declined"), JUDGEMENTS)
def test_judgements_in_dicts(given, declined):
    copy = COMPILED.judgements(given, 5, 1000)
    assert (copy is None) == declined
    if not declined:
        assert copy == given
        assert copy is not given
        assert all(copy[query] is not given[query] for query in given)


def test_grades_of_dicts():
    out = np.zeros(3, np.int64)
    assert COMPILED.grades([{"a": 1, "b": -2}, {}, {"c": 3}], out)
    assert out.tolist() == [1, -2, 3]
    assert not COMPILED.grades([{"a": 1}], out)
    assert not COMPILED.grades([{"a": 1, "b": 2, "c": 3, "d": 4}], out)
    assert not COMPILED.grades([{"a": 1.5, "b": 2, "c": 3}], out)
    assert not COMPILED.grades([{"a": 10**30, "b": 2, "c": 3}], out)
    assert not COMPILED.grades([["a"]], out)


NUMBERS = [
    "0",
    "-0",
    "1",
    "12.5",
    "-12.5",
    ".5",
    "5.",
    "-.5",
    "0.1",
    "0.30000000000000004",
    "123456789.123456789",
    "9007199254740993",
    "9007199254740992.5",
    "0.0010000000000000001",
    ".0010000000000000001",
    "1.7976931348623157",
    "9999999999999999999",
    "0.9999999999999999999",
    "1844674407370955161.6",
    "1234567890123456789",
    "12345678.90123456789",
    "1e5",
    "1e-400",
    "inf",
    "-inf",
    "+1",
    "99999999999999999999",
    "00.5",
]
FIELDS = ["q", "q1", "q10", "Q0", "é", "文書", "x" * 9, "y" * 17, "z" * 40, "#1", "d-\xa0", "0"]
ENDS = ["\n", "\r\n", "\n\n", " \n", "\n#c\n", "\x0b\n", "\x00\n"]


def random_text(rng: random.Random) -> bytes:
    odd = rng.random() < 0.5
    lines = []
    query = "q"
    for _ in range(rng.randrange(1, 12)):
        if rng.random() < 0.3:
            query = rng.choice(FIELDS)
        row = [query, "Q0", rng.choice(FIELDS), str(rng.randrange(99)), rng.choice(NUMBERS), rng.choice(FIELDS)]
        if odd and lines and rng.random() < 0.1:
            row = row[: rng.randrange(7)] + ["more"] * rng.randrange(2)
        blank = rng.choice([" ", "\t", "  "]) if odd and rng.random() < 0.2 else " "
        lines.append(blank.join(row) + (rng.choice(ENDS) if odd and rng.random() < 0.1 else "\n"))
    text = "".join(lines).encode()
    return text if rng.random() < 0.8 else text.removesuffix(b"\n")


def asked_of(table: scan.FieldRanges | None) -> object:
    if table is None:
        return None
    score, left = table.decimals(4)
    exact = score.copy()
    for line, text in zip(left.tolist(), table.texts(4, left), strict=True):
        try:
            exact[line] = float(text)
        except ValueError:
            exact[line] = math.nan
    return (
        [table.texts(column) for column in range(table.width)],
        table.changes(0).tolist(),
        table.hashes(2).tolist(),
        exact.tobytes(),
    )


@pytest.mark.parametrize("seed", range(many(600)))
def test_text(seed, both):
    rng = random.Random(seed)
    text = random_text(rng)
    one, other = both(lambda: asked_of(scan.split(scan.padded(text), roles=scan.FieldRoles(0, 2, 4))))
    assert one == other


def test_regular_text_is_done_by_the_core():
    table = scan.split(scan.padded(b"q 0 d 1 2.5 t\nq\t0 e 2 1.5 t\n"), roles=scan.FieldRoles(0, 2, 4))
    assert table is not None
    assert table.results is not None


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_the_nearest_doubles(number):
    """Python's float() is the second opinion; what the core does not do is among `left`."""
    table = scan.split(scan.padded(f"q 0 d 1 {number} t\n".encode()), roles=scan.FieldRoles(0, 2, 4))
    assert table is not None
    score, left = table.decimals(4)
    if len(left):
        assert number.strip("-0123456789.") or len(number) > 19
    else:
        assert math.copysign(1, score[0]) == math.copysign(1, float(number))
        assert score[0] == float(number)


def test_random_numbers_are_the_nearest_doubles():
    rng = random.Random(5)
    texts = []
    for _ in range(many(20_000)):
        digits = str(rng.randrange(10 ** rng.randrange(1, 20)))
        point = rng.randrange(len(digits) + 1)
        texts.append(("-" if rng.random() < 0.3 else "") + digits[:point] + "." + digits[point:])
    data = scan.padded("".join(f"q 0 d 1 {text} t\n" for text in texts).encode())
    table = scan.split(data, roles=scan.FieldRoles(0, 2, 4))
    assert table is not None
    score, left = table.decimals(4)
    assert not len(left)
    assert score.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("seed", range(many(200)))
def test_pieces(seed, both, tmp_path, monkeypatch):
    """Files in small pieces: ties, repeats, unsorted scores, scattered queries, unjudged ones."""
    from goldrank.base.errors import InputError
    from goldrank.io import read_run, sources

    rng = random.Random(seed)
    monkeypatch.setattr(sources, "PIECE", rng.choice([64, 200, 5 << 20]))
    docs = [rng.choice(["d", "é"]) + str(i) for i in range(rng.choice([3, 20]))]
    queries = [f"q{i}" for i in range(rng.choice([1, 4]))]
    qrels = Qrels({q: {d: rng.randrange(3) for d in rng.sample(docs, rng.randrange(1, len(docs)))} for q in queries})
    rows = []
    for query in [*queries, "unjudged"]:
        scores = [rng.choice([0.5, 1, 1.5, 2, "inf"]) if rng.random() < 0.3 else rng.random() for _ in docs]
        if rng.random() < 0.8:
            scores.sort(key=float, reverse=True)
        chosen = rng.sample(docs, rng.randrange(1, len(docs) + 1))
        if rng.random() < 0.1:
            chosen.append(chosen[0])
        rows += [(query, doc, score) for doc, score in zip(chosen, scores, strict=False)]
    if rng.random() < 0.2:
        rng.shuffle(rows)
    path = tmp_path / "some.run"
    path.write_text("".join(f"{q} Q0 {d} {i} {s} t\n" for i, (q, d, s) in enumerate(rows)))
    duplicates, ties = rng.choice(["error", "first", "last", "count"]), rng.choice(["input", "docid"])
    convention = Convention(duplicates=duplicates, ties=ties)

    def work():
        try:
            placements, counts = streaming.ENGINE.place(qrels, read_run(path), convention)
        except InputError as error:
            return str(error)
        return columns_of(placements), counts

    one, other = both(work)
    assert one == other


def buffers(**changes):
    """Arguments of `columns` for one line, some of them changed."""
    text = b"q 0 d 1 2.5 t\n"
    given = {
        "data": scan.padded(text),
        "size": len(text),
        "width": 6,
        "query": 0,
        "doc": 2,
        "number": 4,
        "longest": 99,
        "ends": np.empty((6, 1), np.int32),
        "score": np.empty(1),
        "key": np.empty(1, np.uint64),
        "begin": np.empty(1, np.int64),
        "left": np.empty(1, np.int64),
    }
    return list((given | changes).values())


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"size": 0}, ValueError),
        ({"size": 60}, ValueError),
        ({"size": -1}, ValueError),
        ({"width": 0}, ValueError),
        ({"width": 7}, ValueError),
        ({"query": 6}, ValueError),
        ({"doc": -1}, ValueError),
        ({"number": 6}, ValueError),
        ({"ends": np.empty((5, 1), np.int32)}, ValueError),
        ({"ends": np.empty((6, 1), np.int64)}, TypeError),
        ({"score": np.empty(0)}, ValueError),
        ({"begin": np.empty(0, np.int64)}, ValueError),
        ({"left": np.empty(0, np.int64)}, ValueError),
        ({"key": b"12345678"}, BufferError),
        ({"data": "text"}, TypeError),
    ],
)
def test_buffers_that_do_not_fit(changes, error):
    assert COMPILED.columns(*buffers()) == (1, 1, 0)
    with pytest.raises(error):
        COMPILED.columns(*buffers(**changes))


@pytest.mark.parametrize("start", [[0, 3], [-1, 2], [0, 2, 1], [2, 0]])
def test_stretches_that_do_not_fit(start):
    code = np.zeros(len(start) - 1, np.int64)
    rows = [np.empty(4, np.int64) for _ in range(5)]
    columns = (np.array(start), code, np.ones(2), np.arange(2, dtype=np.uint64), np.zeros(4, np.uint8))
    with pytest.raises(ValueError, match="fit"):
        COMPILED.survey(*columns, True, *rows)


@pytest.mark.parametrize("size", [0, 3, 12])
def test_tables_of_bits_are_powers_of_two(size):
    columns = (np.array([0, 1]), np.zeros(1, np.int64), np.ones(1), np.zeros(1, np.uint64), np.zeros(size, np.uint8))
    with pytest.raises(ValueError, match="fit"):
        COMPILED.survey(*columns, True, *(np.empty(4, np.int64) for _ in range(5)))


@pytest.mark.parametrize("shift", [20, 40, 44])
def test_keys_that_are_in_each_others_way_are_told_apart_soon(shift):
    """Keys with the same lowest bits, as somebody may choose ids for: one after the other would take hours."""
    count = 1 << 19
    key = np.arange(1, count + 1, dtype=np.uint64) << np.uint64(shift)
    start, code, score = np.array([0, count]), np.zeros(1, np.int64), np.ones(count)
    rows = [np.empty(count, np.int64) for _ in range(5)]
    assert not COMPILED.repeated(start, key)
    assert COMPILED.survey(start, code, score, key, np.zeros(1, np.uint8), True, *rows) == 0
    assert COMPILED.survey(start, code, score, key, np.zeros(1, np.uint8), False, *rows) == 0


@pytest.mark.parametrize(
    "rows", [[{1: 1.0}], [{"a": 1.0}, {b"b": 1.0}], [defaultdict(float, a=1.0)], ({"a": 1.0},), [["a"]]],
    ids=["int", "bytes", "subclass", "tuple", "list"],
)  # fmt: skip
def test_candidates_that_are_not_plain_are_declined(rows):
    assert COMPILED.candidates(rows, 0, np.zeros(sum(map(len, rows)), np.int64)) is None


def test_candidates_and_their_numbers_must_fit():
    for size in (0, 1, 3):
        with pytest.raises(ValueError, match="do not fit"):
            COMPILED.candidates([{"a": 1.0, "b": 1.0}], 0, np.zeros(size, np.int64))
    with pytest.raises(TypeError):
        COMPILED.candidates([{"a": 1.0}], 0, np.zeros(1, np.int32))
    with pytest.raises(TypeError):
        COMPILED.candidates([], 0)
    assert COMPILED.candidates([], 7, np.zeros(0, np.int64)) == []
