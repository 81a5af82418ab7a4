"""Columns of ids, tidied tables, order of lines and judgements as columns: compiled, by NumPy, and by plain Python."""

from __future__ import annotations

import io
import random
import subprocess
import sys

import numpy as np
import pytest

from goldrank.base.errors import InputError
from goldrank.conventions import Convention
from goldrank.core.hashing import SEED
from goldrank.data.id_column import PAD, IdColumn
from goldrank.engine import ranking, streaming
from goldrank.io import read_qrels, read_run, sources
from goldrank.io.text import scan, trec
from tests.lanes import many
from tests.native.conftest import COMPILED, needs_core

IDS = [b"a", b"b", b"aa", b"a\0", b"12345678", b"123456789", b"12345678901234567", b"\xff", "é".encode(), b"d" * 99]


def some_ids(rng: random.Random) -> list[bytes]:
    return rng.choices(IDS[: rng.randrange(1, len(IDS) + 1)], k=rng.randrange(30))


@pytest.mark.parametrize("seed", range(many(100)))
def test_columns_of_ids(seed, both):
    rng = random.Random(seed)
    texts, others = some_ids(rng), sorted(set(some_ids(rng)))
    rows = np.array(rng.choices(range(len(texts)), k=5) if texts else [], np.int64)

    def work():
        column, known = IdColumn.of(texts), IdColumn.of(others)
        code, first = column.numbered()
        some = column.take(rows)
        return (
            column.hashes().tolist(),
            (code.tolist(), first.tolist()),
            known.find(column).tolist(),
            (some.to_list(), some.joined_bytes(), some.copy().to_list()),
            column.same(IdColumn.of(texts[::-1])).tolist(),
            (column.ascend(), known.ascend()),
            IdColumn.joined([column, known]).to_list(),
            some.texts(),
        )

    one, other = both(work)
    assert one == other
    distinct = list(dict.fromkeys(texts))
    assert one[1] == ([distinct.index(text) for text in texts], [texts.index(text) for text in distinct])
    assert one[2] == [others.index(text) if text in others else -1 for text in texts]
    assert one[3] == ([texts[i] for i in rows], b"".join(texts[i] for i in rows), [texts[i] for i in rows])
    assert one[4] == [a == b for a, b in zip(texts, texts[::-1], strict=True)]
    assert one[5] == (texts == sorted(set(texts)), True)
    assert one[6] == [*texts, *others]
    assert one[7] == tuple(texts[i].decode("utf-8", "surrogateescape") for i in rows)


@pytest.mark.parametrize("seed", range(many(100)))
def test_rankings_of_a_file(seed, both):
    """Queries may come in several stretches; documents that are there twice are refused."""
    rng = random.Random(seed)
    lines = [
        (rng.choice(IDS[:4]), rng.choice(IDS), rng.choice([0.5, -1.0, 1e300])) for _ in range(rng.randrange(1, 12))
    ]
    lines = [(query.replace(b"\0", b"z"), doc.replace(b"\0", b"z"), score) for query, doc, score in lines]
    raw = b"".join(b"%b 0 %b 1 %r t\n" % line for line in lines)
    expected: dict[str, dict[str, float]] = {}
    again = None
    for number, (query, doc, score) in enumerate(lines, 1):
        row = expected.setdefault(query.decode("utf-8", "surrogateescape"), {})
        again = again or (number if doc.decode("utf-8", "surrogateescape") in row else None)
        row[doc.decode("utf-8", "surrogateescape")] = score

    def work():
        try:
            return read_run(io.BytesIO(raw), format="trec").results
        except InputError as error:
            return str(error)

    one, other = both(work)
    assert one == other
    if again is None:
        assert one == expected
        assert [list(row) for row in one.values()] == [list(row) for row in expected.values()]
    else:
        assert "duplicated" in one
        assert f"line {again}" in one or f":{again}:" in one


@needs_core
@pytest.mark.parametrize("begin", [[], [0], [0, 1], [1, 2], [0, 2, 1, 2], [0, 3], [0, -1, 2]])
def test_rankings_whose_stretches_do_not_fit(begin):
    column = IdColumn.of([b"a", b"b"])
    with pytest.raises(ValueError, match="do not fit"):
        COMPILED.rankings(column.data, column.start, column.end, np.ones(2), np.array(begin, np.int64))
    with pytest.raises(ValueError, match="do not fit"):
        COMPILED.rankings(column.data, column.start, column.end, np.ones(3), np.array([0, 2], np.int64))


LINES = [
    "q 0 d 1",
    "q\t0  d 1",
    " q 0 d 1 ",
    "",
    "  \t",
    "#",
    "# a remark",
    "#q 0 d 1",
    " # x",
    "q 0 d 1\r",
    "q\v0\fd 1 x",
]
WRONG = ["q 0 d", "q 0 d 1 2 3 4", "q\x1c0 d 1", "q 0 \0 1"]


@pytest.mark.parametrize("seed", range(many(300)))
def test_tidied(seed, both, tmp_path):
    """What is done at once equals what is done line by line, where that raises nothing."""
    rng = random.Random(seed)
    lines = rng.choices([*LINES, *WRONG] if seed % 4 == 0 else LINES, k=rng.randrange(1, 12))
    raw = "\n".join(lines).encode() + b"\n" * (seed % 3 > 0)
    layout = trec.Layout(("query", "iter", "doc", "grade"), extra=seed % 2 == 0)
    path = tmp_path / "table"
    path.write_bytes(raw or b"\n")
    try:
        kept, numbers, counts = trec.tidy(raw, 0, sources.open_source(path), layout)
    except InputError:
        kept = None

    def work():
        found = scan.tidied(scan.padded(raw), 4, layout.extra)
        if found is None:
            return None
        text = found.data[:-PAD].tobytes()
        rows = [line.split()[:4] for line in text.split(b"\n") if line.strip()]
        notes = {code: count for code, count in found.counts.items() if count and code != "extra-columns"}
        return rows, found.numbers.tolist(), notes

    compiled, plain = both(work)
    if kept is not None:
        del counts["extra-columns"]
        assert plain == ([line.split(b" ") for line in kept], numbers.tolist(), dict(counts))
        assert compiled == plain
    else:
        assert compiled is None or COMPILED is None


@needs_core
@pytest.mark.parametrize(
    "form", ["q 0 d 1 1e5 t", "# r\nq 0 d 1 2 t", "\nq 0 d 1 2 t", "q  0 d 1 2 t", "q 0 d 1 2 t x", "q 0 d 1 +2 t\r"]
)
def test_rare_forms_are_done_by_the_core(form, tmp_path, monkeypatch):
    path = tmp_path / "some.run"
    path.write_text("q 0 e 1 9 t\n" + form + "\n", newline="")
    monkeypatch.setattr(trec, "tidy", None)
    monkeypatch.setattr(trec, "plain_scores", lambda texts: [] if not texts else pytest.fail("left to Python"))
    assert len(read_run(path).results["q"]) == 2


@pytest.mark.parametrize(
    "text",
    ["1e5", "1.5e-07", "1.234560e+02", "12345678901234567e-3", "9007199254740993e0", "1e22", "-1E+2", "+3.5", "1e-22"],
)
def test_exponents_are_the_nearest_doubles(text, both):
    def work():
        table = scan.split(scan.padded(f"q 0 d 1 {text} t\n".encode()), roles=scan.FieldRoles(0, 2, 4))
        score, left = table.decimals(4)
        return None if len(left) else score[0]

    compiled, plain = both(work)
    assert plain in (None, float(text))
    assert compiled == float(text) or COMPILED is None


def test_random_exponents(both):
    rng = random.Random(3)
    texts = [f"{rng.randrange(10 ** rng.randrange(1, 18))}e{rng.randrange(-30, 31)}" for _ in range(many(5_000))]
    texts += [f"{rng.uniform(-1e9, 1e9):.{rng.randrange(17)}e}" for _ in range(many(5_000))]
    data = scan.padded("".join(f"q 0 d 1 {text} t\n" for text in texts).encode())
    score, left = scan.split(data, roles=scan.FieldRoles(0, 2, 4)).decimals(4)
    done = np.setdiff1d(np.arange(len(texts)), left)
    assert score[done].tolist() == [float(texts[i]) for i in done]


@pytest.mark.parametrize("seed", range(many(100)))
def test_order_of_lines(seed, both):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 200))
    code = rng.integers(3, 3 + int(rng.integers(1, 9)), size)
    score = rng.choice([0.0, -0.0, 1.5, np.inf, -np.inf, 3.25, 7.0] if seed % 2 else rng.random(size), size)
    one, other = both(lambda: ranking._arranged(code, score).tolist())
    assert one == other == sorted(range(size), key=lambda i: (code[i], -score[i]))


@pytest.mark.parametrize("seed", range(many(100)))
def test_judgements_in_files(seed, both, tmp_path):
    """As columns they are what a dict makes of the lines."""
    rng = random.Random(seed)
    rows = [
        (
            f"q{rng.randrange(4)}",
            rng.choice(["a", "b", "é", "e\u0301", "long" * 9]),
            rng.choice(["0", "1", "+2", "-1", "2000"]),
        )
        for _ in range(rng.randrange(1, 20))
    ]
    policy = rng.choice(["error", "last"])
    parts = tmp_path / "parts"
    parts.mkdir()
    for i in range(seed % 2 + 1):
        lines = [" ".join((query, "0", doc, grade)) + "\n" for query, doc, grade in rows[i :: seed % 2 + 1]]
        (parts / f"{i}.txt").write_text("".join(lines) or "# nothing\nq9 0 x 1\n", encoding="utf-8")

    def work():
        try:
            qrels = read_qrels(str(parts / "*.txt"), format="trec", judgements=policy)
        except InputError as error:
            return str(error)
        arrays = qrels.arrays
        notes = [(note.code, str(note)) for note in qrels.notes]
        return qrels.digest, dict(qrels), arrays.queries, arrays.start.tolist(), arrays.grade.tolist(), notes

    one, other = both(work)
    assert one == other
    expected: dict[str, dict[str, int]] = {}
    for path in sorted(parts.iterdir()):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                query, _, doc, grade = line.split()
                expected.setdefault(query, {})[doc] = int(grade)
    if not isinstance(one, str):
        assert one[1] == expected
        assert [list(one[1][query]) for query in sorted(expected)] == [
            list(expected[query]) for query in sorted(expected)
        ]


def test_real_grades_of_several_files_keep_their_fractions(tmp_path):
    (tmp_path / "0.txt").write_text("q 0 a 1\n")
    (tmp_path / "1.txt").write_text("q 0 b 0.5\nq 0 c 2\n")
    qrels = read_qrels(str(tmp_path / "*.txt"), format="trec", real_grades=True)
    assert repr(dict(qrels["q"])) == "{'a': 1, 'b': 0.5, 'c': 2}"


@pytest.mark.parametrize("seed", range(many(100)))
def test_shuffled_runs(seed, both, tmp_path, monkeypatch):
    """Shuffled or interleaved, in one piece or many, through memory or a file: as in order."""
    rng = random.Random(seed)
    rows = [(f"q{q}", f"d{d}", rng.choice([1, 2, rng.random()])) for q in range(5) for d in range(8)]
    judged = {f"q{q}": {f"d{d}": rng.randrange(3) for d in rng.sample(range(9), 4)} for q in rng.sample(range(6), 4)}
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in judged.items() for d, g in docs.items()))
    convention = Convention(ties=rng.choice(["docid", "docid-ascending"]), duplicates=rng.choice(["error", "last"]))
    paths = []
    for name in ("sorted", "shuffled"):
        paths.append(tmp_path / name)
        paths[-1].write_text("".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in rows))
        rng.shuffle(rows)
    monkeypatch.setattr(sources, "PIECE", rng.choice([100, 300, 5 << 20]))
    monkeypatch.setattr(streaming, "BUCKET", rng.choice([64, 4 << 20]))
    monkeypatch.setattr(streaming, "IN_MEMORY", rng.choice([0, 1 << 20]))

    def work(path):
        placements, counts = streaming.ENGINE.place(
            read_qrels(qrels, format="trec"), read_run(path, format="trec"), convention
        )
        columns = (placements.query, placements.rank, placements.grade, placements.tie_first, placements.tie_last)
        return (
            [column.tolist() for column in columns],
            placements.retrieved.tolist(),
            counts.unjudged_queries,
            counts.lines,
        )

    one, other = both(lambda: [work(path) for path in paths])
    assert one == other
    assert one[0] == one[1]


def ids_of(column: IdColumn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return column.data, column.start, column.end


@needs_core
@pytest.mark.parametrize(
    ("start", "end"), [([-1], [1]), ([0], [99]), ([1], [0]), ([0, 0], [1]), ([0], [2**62]), ([2**62], [2**62 + 1])]
)
def test_ranges_outside_their_data_are_refused(start, end):
    column = IdColumn.of([b"a"])
    bad = (column.data, np.array(start), np.array(end))
    room = np.empty(4, np.int64)
    slots = np.empty(16, np.uint64)
    calls = (
        lambda: COMPILED.hashes(*bad, np.empty(4, np.uint64)),
        lambda: COMPILED.same(*bad, *bad, np.empty(4, bool)),
        lambda: COMPILED.pack(*bad, np.empty(1, np.uint8)),
        lambda: COMPILED.number(*bad, slots, room, room.copy()),
        lambda: COMPILED.ascend(*bad),
        lambda: COMPILED.find(*bad, *ids_of(column), np.zeros(16, np.uint64), room),
    )
    for call in calls:
        with pytest.raises(ValueError, match="fit"):
            call()


@needs_core
def test_tables_of_ids_that_do_not_fit_are_refused():
    column = IdColumn.of([b"a"])
    room = np.empty(1, np.int64)
    code = np.uint64(column.hashes()[0])
    wrong = np.full(2, (code & np.uint64(0xFFFFFFFF00000000)) | np.uint64(7))  # a number that nobody has
    for slots in (wrong, np.full(2, 1, np.uint64)):
        assert COMPILED.find(*ids_of(column), *ids_of(column), slots, room) is False
    for slots in (np.zeros(3, np.uint64), np.zeros(1, np.uint64)):
        with pytest.raises(ValueError, match="fit"):
            COMPILED.find(*ids_of(column), *ids_of(column), slots, room)
    for codes, begin in (([2], 2), ([-1], 2), ([0], 0), ([0, 0], 2)):
        with pytest.raises(ValueError, match="fit"):
            COMPILED.arrange(np.array(codes), np.ones(1), np.empty(begin, np.int64), room)
    for start in ([0, 2], [-1, 1], [1, 0], []):
        with pytest.raises(ValueError, match="fit"):
            COMPILED.repeated(np.array(start, np.int64), np.zeros(1, np.uint64))
    data = scan.padded(b"q 0 d 1\n")
    for size, width, out in ((8, 0, 8), (8, 4, 7), (30, 4, 30), (-1, 4, 8)):
        with pytest.raises(ValueError, match="fit"):
            COMPILED.tidy(data, size, width, False, 99, np.empty(out, np.uint8), room)


def ids_with_hashes(hashes):
    """Ids of eight bytes with hashes of one's choice, by somebody who knows the seed: turned back, step by step."""
    value = hashes ^ (hashes >> np.uint64(32))
    value ^= (value >> np.uint64(29)) ^ (value >> np.uint64(58))
    value = value * np.uint64(pow(0xD6E8FEB86659FD93, -1, 1 << 64))
    value ^= value >> np.uint64(32)
    value = value * np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))
    value ^= np.uint64(SEED)
    return [text.tobytes() for text in value.view(np.uint8).reshape(-1, 8)]


@needs_core
def test_ids_chosen_to_be_in_each_others_way_are_told_apart_all_the_same():
    """With all of them in one row of slots, to look at one after the other would take minutes."""
    hashes = np.arange(1, 200_001, dtype=np.uint64) << np.uint64(24)
    texts = ids_with_hashes(hashes)
    column = IdColumn.of(texts)
    assert column.hashes().tolist() == hashes.tolist()
    code, first = IdColumn.of([*texts, *texts[:3]]).numbered()
    assert code.tolist() == [*range(200_000), 0, 1, 2]
    assert first.tolist() == list(range(200_000))
    assert column.find(IdColumn.of([texts[-1], b"other", texts[0]])).tolist() == [199_999, -1, 0]


def chosen_ids(count: int, seed: int = 1) -> list[bytes]:
    """Ids that had one hash when hashes began with 0, and each word was mixed for itself."""
    mix, mix_word, every = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, (1 << 64) - 1

    def mixed(word: int, at: int) -> int:
        value = (word + at) * mix & every
        return (value ^ value >> 32) * (mix_word + 2 * at) & every

    def unmixed(value: int, at: int) -> int:
        value = value * pow(mix_word + 2 * at, -1, 1 << 64) & every
        value ^= value >> 32
        return value * pow(mix, -1, 1 << 64) - at & every

    rng = random.Random(seed)
    chosen: list[bytes] = []
    while len(chosen) < count:
        first = bytes(rng.choices(range(97, 123), k=8))
        second = unmixed(0x1234567890ABCDEF ^ mixed(int.from_bytes(first, "little"), 0), 1).to_bytes(8, "little")
        if min(second) > 32:
            chosen.append(first + second)
    return chosen


def test_nobody_chooses_ids_of_one_hash(both):
    """8,000 documents with one hash took 6.6 s, four times as many 16 times as long."""
    chosen = chosen_ids(1_000)
    for hashes in both(lambda: IdColumn.of(chosen).hashes()):
        assert len(np.unique(hashes)) == len(chosen)
        assert len(np.unique(hashes & np.uint64(0xFFFF))) > len(chosen) // 2


def test_hashes_are_others_in_another_process():
    code = "from goldrank.data.id_column import IdColumn; print(IdColumn.of([b'd1']).hashes()[0])"
    said = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(said) == 2


def test_words_of_zeros_and_places_of_words(both):
    ids = [b"A" * 8 + b"B" * 8, b"B" * 8 + b"A" * 8, b"A" * 8 + bytes(8) + b"B" * 8, b"A" * 8, b"A" * 9, b"A" * 16]
    for hashes in both(lambda: IdColumn.of([*ids, b"A" * 8 + bytes(3)]).hashes().tolist()):
        assert len(set(hashes[:-1])) == len(ids)
        assert hashes[-1] == hashes[3], "zeros at the end change nothing: ids are compared where hashes are equal"
