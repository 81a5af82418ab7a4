"""What may happen to a history: killed writers, full disks, other writers, damage. Nothing acknowledged is lost."""

import hashlib
import os
import random
import sqlite3
import struct
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import numpy as np
import pytest
from helpers import PEAK_MEMORY
from lanes import many
from made_up_scores import make
from raising import raises_code

from goldrank import GoldrankError, History
from goldrank.base.errors import StoreError
from goldrank.history.record import RecordRow, record_digest

HERE = Path(__file__).parent
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])}


def python(code, *args, check=True):
    """Run a program in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True,
        text=True,
        env=ENV,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.db"


@pytest.fixture
def filled(path):
    """A history of three records, and a baseline."""
    rng = np.random.default_rng(0)
    with History(path) as history:
        for i in range(3):
            history.record(make(rng.random(300)), label="main", note=f"note {i}")
        history.set_baseline("release", 2)
    return path


def content(path, mode="a"):
    """All that a history says."""
    with History(path, mode=mode) as history:
        records = history.records()
        values = [history.scores(r).columns["nDCG@10"].values.tobytes() for r in records]
        return records, values, history.baselines(), history.baseline("release").digest


# K1: killed writers.


def killed(tmp_path, kills):
    done = subprocess.run(
        [sys.executable, str(HERE / "killed.py"), str(tmp_path), str(kills), "1"],
        capture_output=True, text=True, env=ENV, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    count, acknowledged = map(int, done.stdout.split())
    assert count == kills
    assert acknowledged >= kills / 2, "every other writer is killed after it has written"


@pytest.mark.slow
def test_killed_writers_lose_nothing(tmp_path):
    """Every 20 kills begin a new file; with GOLDRANK_LONG=1 there are a thousand."""
    killed(tmp_path, 1_000 if os.environ.get("GOLDRANK_LONG") else many(200, 60))


# K2: full disks, folders that cannot be written, others at work.

LIMITED = """
    import resource, sys
    sys.dont_write_bytecode = True  # the limit would cut compiled modules short, which later starts would load
    import numpy as np
    from made_up_scores import make
    from goldrank import GoldrankError, History
    path, limit = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    said = []
    try:
        with History(path) as history:
            for i in range(10_000):
                said.append(history.record(make(np.random.default_rng(i).random(500)), label=f"n {i}").id)
    except GoldrankError as error:
        print(len(said), "disk" in str(error), error.hint is not None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 4_096, 20_000, 40_000, 64_000, 100_000, 200_000, 400_000])
def test_a_full_disk_loses_nothing(path, limit):
    pytest.importorskip("resource")
    said, disk, hint = python(LIMITED, path, limit).stdout.split()
    assert (disk, hint) == ("True", "True")
    assert int(said) > 0 or limit < 100_000
    with History(path) as history:
        history.check()
        assert [r.label for r in history.records()][: int(said)] == [f"n {i}" for i in range(int(said))]
        assert len(history.records()) <= int(said) + 1
        for i, record in enumerate(history.records()):
            expected = np.random.default_rng(i).random(500).tobytes()
            assert history.scores(record).columns["nDCG@10"].values.tobytes() == expected
        assert history.record(make([1.0])).label == "", "when there is room again, it goes on"


def test_sqlite_s_own_limit_says_that_the_disk_is_full(filled):
    before = content(filled)
    with History(filled) as history:
        history._db.execute(f"PRAGMA max_page_count = {history._db.execute('PRAGMA page_count').fetchone()[0]}")
        with raises_code(StoreError, "disk-full") as caught:
            history.record(make(np.random.default_rng(9).random(5_000)))
        assert "Make room" in str(caught.value)
        assert not history._db.in_transaction
    assert content(filled) == before


READ_ONLY = """
    import os, sys
    from made_up_scores import make
    from goldrank import GoldrankError, History
    import goldrank.measures, goldrank.history
    folder = sys.argv[1]
    scores = make([1.0])
    scores.provenance
    if os.geteuid() == 0:
        os.setegid(65534)
        os.seteuid(65534)  # root may write anywhere
    with History(folder + "/history.db", mode="r") as history:
        print(len(history.records()), len(history.scores(3).queries))
    for name in ("history.db", "new.db"):
        try:
            with History(folder + "/" + name) as history:
                history.record(scores)
        except GoldrankError as error:
            print(error.what)
"""


def test_a_folder_that_cannot_be_written(filled, tmp_path_factory):
    # The folders above it must let another user in: pytest's own do not.
    folder = filled.parent
    for above in (folder, *list(folder.parents)[:3]):
        if above.owner() != "root" or os.geteuid() != 0:
            break
        above.chmod(0o755)
    filled.chmod(0o444)
    folder.chmod(0o555)
    try:
        said = python(READ_ONLY, folder).stdout.splitlines()
    finally:
        folder.chmod(0o755)
    assert said == [
        "3 300",
        "cannot be written: the file or its folder is read-only",
        "cannot be opened or made",
    ]
    assert len(content(filled)[0]) == 3


WRITER = """
    import sys
    from made_up_scores import make
    from goldrank import History
    for i in range(30):
        with History(sys.argv[1]) as history:
            print(history.record(make([i / 30]), label=f"{sys.argv[2]} {i}").id)
"""


@pytest.mark.slow
def test_two_writers_at_once(path):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True, env=ENV) for name in "ab"]
    said = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    with History(path) as history:
        history.check()
        labels = {str(record.id): record.label for record in history.records()}
    assert len(labels) == 60
    for name, numbers in zip("ab", said, strict=True):
        assert [labels[number] for number in numbers] == [f"{name} {i}" for i in range(30)]


def test_a_reader_sees_one_state_while_another_writes(filled):
    with History(filled, mode="r") as reader, History(filled) as writer:
        assert len(reader.records()) == 3
        with reader._reading():
            assert len(reader.records()) == 3
            for _ in range(5):
                writer.record(make([1.0]))
            writer.prune(keep=1, label="main")
            assert len(reader.records()) == 3, "the state at the beginning"
            assert len(reader.scores(1).queries) == 300
        assert len(reader.records()) == 3 + 5 - 1, "all but the baseline, the newest, and the five"
        reader.check()


def test_a_writer_does_not_wait_for_ever(filled, monkeypatch):
    monkeypatch.setattr("goldrank.history.history_file.LOCK_TIMEOUT", 0.05)
    with History(filled) as one, History(filled) as other:
        with one._writing(), raises_code(StoreError, "file-in-use"):
            other.record(make([1.0]))
        assert other.record(make([1.0])).id == 4


# Damage.


@pytest.mark.parametrize("before", [b"q1 0 d1 1\n" * 200, b"\n", b"a note"])
def test_a_file_that_is_no_history(path, before):
    path.write_bytes(before)
    for mode in ("a", "r"):
        with raises_code(StoreError, "not-sqlite") as caught:
            History(path, mode=mode)
        assert ".recover" in str(caught.value)
    assert path.read_bytes() == before
    path.unlink()
    python("import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE t (x)')", path)
    with raises_code(StoreError, "other-program"):
        History(path)


def damaged(path, data, expected):
    """Write damaged data; the history must say the truth or refuse. Whether it refused."""
    path.write_bytes(data)
    for left in ("-wal", "-shm"):
        Path(f"{path}{left}").unlink(missing_ok=True)
    try:
        found = content(path, "r")
    except GoldrankError as error:
        return bool(error.hint) or pytest.fail(f"no way out: {error}")
    assert found == expected
    return False


@pytest.mark.slow
def test_a_changed_byte_is_seen(filled):
    expected, sound = content(filled), filled.read_bytes()
    rng = random.Random(5)
    places = [*range(0, 100, 3), *(rng.randrange(len(sound)) for _ in range(250))]
    refused = 0
    for place in places:
        data = bytearray(sound)
        data[place] ^= 1 << rng.randrange(8)
        refused += damaged(filled, bytes(data), expected)
    assert refused > 40, "about a fifth of so small a file is content"


def test_a_cut_file_is_seen(filled):
    expected, sound = content(filled), filled.read_bytes()
    cuts = [1, 99, *range(100, len(sound), 1_500)]
    assert sum(damaged(filled, sound[:cut], expected) for cut in cuts) == len(cuts)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE value SET per_query = zeroblob(50) WHERE record = 2", "the values of nDCG@10 in record 2"),
        (
            "UPDATE value SET per_query = (SELECT per_query FROM value WHERE record = 1) WHERE record = 2",
            "the values of nDCG@10 in record 2 are not those that were recorded",
        ),
        ("UPDATE value SET summary = 0.9 WHERE record = 2", "record 2 is not what was recorded"),
        ("UPDATE record SET label = 'other' WHERE id = 2", "record 2 is not what was recorded"),
        ("UPDATE record SET details = replace(details, 'note 1', 'note 9')", "record 2 is not what was recorded"),
        ("DELETE FROM value WHERE record = 2", "record 2 is not what was recorded"),
        ("DELETE FROM record WHERE id = 1", "3 records were recorded and 2 can be read"),
        ("UPDATE total SET records = 'x'", "an unknown number of records were recorded and 3 can be read"),
        ("UPDATE query_set SET ids = x'00'", "the query ids of record"),
        ("UPDATE baseline SET record = 1", "baseline 'release' does not point"),
        ("DELETE FROM baseline", "not all baselines"),
    ],
)
def test_what_was_changed_by_hand_is_refused(filled, statement, words):
    python(
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()", filled, statement
    )
    with pytest.raises(StoreError) as caught, History(filled) as history:
        history.check()
    assert words in str(caught.value)
    assert ".recover" in str(caught.value)


def test_sound_records_can_be_saved_from_a_damaged_file(filled):
    python(
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
        "c.execute('UPDATE record SET label = 1 WHERE id = 2'); c.commit()", filled,
    )  # fmt: skip
    with History(filled, mode="r") as history:
        records, troubles = history.sound_records()
    assert [record.id for record in records] == [1, 3]
    assert len(troubles) == 1
    assert "record 2" in str(troubles[0])


# Files that somebody made to do harm.


def forge(path, *statements):
    """Change a history by hand; its hashes are made anew where a test needs that."""
    with sqlite3.connect(path) as db:
        for statement, *values in statements:
            db.execute(statement, *values)
    db.close()


PEAK = f"""
{PEAK_MEMORY}
import sys
from goldrank import GoldrankError, History
try:
    with History(sys.argv[1], mode="r") as history:
        history.check()
except GoldrankError as error:
    print(error)
print("peak", peak() >> 20)
"""


@pytest.mark.slow
def test_bombs_are_not_unpacked(tmp_path):
    """Ids and values of half a GB each in less than a MB, with the hashes that belong to them."""
    pytest.importorskip("resource")
    for which in ("ids", "values"):
        path = tmp_path / f"{which}.db"
        with History(path) as history:
            history.record(make(np.ones(3)), label="main")
        if which == "ids":
            packer, digest, parts = zlib.compressobj(9), hashlib.sha256(), []
            for piece in (b'["', *[b"a" * (1 << 24)] * 32, b'"]'):
                digest.update(piece)
                parts.append(packer.compress(piece))
            bomb = b"".join([*parts, packer.flush()])
            forge(
                path,
                ("UPDATE query_set SET ids = ?, sha256 = ?", (bomb, digest.digest())),
                ("UPDATE record SET query_set = ?", (digest.digest(),)),
            )
            with sqlite3.connect(path) as db:
                row = db.execute(f"SELECT {', '.join(RecordRow._fields)} FROM record").fetchone()
                columns = db.execute(
                    "SELECT position, kind, measure, summary, average, higher_is_better, sha256 FROM value"
                ).fetchall()
                db.execute("UPDATE record SET digest = ?", (record_digest(RecordRow(*row), columns),))
            db.close()
        else:
            head = struct.pack("<BBII", 1, 0, 1 << 26, 1 << 26)
            forge(path, ("UPDATE value SET per_query = ?", (head + zlib.compress(bytes(1 << 29), 9),)))
        said, peak = python(PEAK, path).stdout.split("peak")
        assert "damaged" in said, said
        assert int(peak) < 400, f"{which}: {peak} MB"


def test_ids_that_compress_too_well_are_still_read(tmp_path):
    """What is recorded can be read, however alike the ids are."""
    ids = tuple(f"{'a' * 60_000}{i}" for i in range(300))
    with History(tmp_path / "h.db") as history:
        record = history.record(make(np.ones(300), queries=ids))
        assert history.scores(record).queries == ids


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "CREATE TABLE more (x, y GENERATED ALWAYS AS (zeroblob(1000000000)))",
    ],
)
def test_tables_of_others_are_refused(tmp_path, statement):
    path = tmp_path / "h.db"
    with History(path) as history:
        history.record(make(np.ones(3)))
    forge(path, (statement,))
    for mode in ("r", "a"):
        with raises_code(StoreError, "damaged-file"):
            History(path, mode=mode)


def test_rows_without_end_are_refused(tmp_path):
    """A view in place of a table would never end."""
    path = tmp_path / "h.db"
    with History(path) as history:
        history.record(make(np.ones(3)))
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS records, i AS baselines FROM n"
    )
    forge(path, ("DROP TABLE total",), (f"CREATE VIEW total AS {endless}",))
    with raises_code(StoreError, "damaged-file"):
        History(path)
