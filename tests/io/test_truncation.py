"""Files that end too soon or have a byte changed: an error or a note, never another exception.

A plain text file that is cut at a line end is a shorter file and cannot be told; cut anywhere else it must be.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable

import polars as pl
import pytest
from helpers import QRELS, RUN, only_ours, zstd
from hypothesis import given, settings
from hypothesis import strategies as st
from lanes import many

from goldrank import GoldrankError, Qrels, Run, evaluate, read_qrels, read_run
from goldrank.io import formats

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}
WITH_HEADER = b"query-id\tcorpus-id\tscore\nq1\td1\t10\nq1\td2\t20\nq2\td4\t30\n"
QUOTED = b'query,doc,score\nq1,"d1",10\nq1,"d,2",20\n"q 2",d4,30\n'
JSONL = b'{"qid": "q1", "docid": "d1", "score": 3.5}\n{"qid": "q1", "docid": "d2", "score": 2}\n'
JSON = json.dumps({"q1": {"d1": 3.5, "d2": 2}, "q2": {"d4": 10}}).encode() + b"\n"
LONG_RUN = b"".join(b"q%d Q0 doc%d %d %d.25 tag\n" % (q, d, d, 100 - d) for q in range(30) for d in range(40))


def notes_of(kind: str, data: bytes) -> list[str]:
    """The codes of all notes on a file after all of it has been read."""
    if kind == "run":
        queries = {b.decode() for line in RUN.splitlines() for b in line.split()[:1]} | {"q 2"}
        qrels = {query: {"d1": 1, "none": 0} for query in queries}
        return [note.code for note in evaluate(qrels, read_run(io.BytesIO(data)), "AP", overlap="allow").notes]
    return [note.code for note in read_qrels(io.BytesIO(data)).notes]


TEXTS = {
    "TREC run": ("run", RUN),
    "TREC run, CRLF": ("run", RUN.replace(b"\n", b"\r\n")),
    "TREC run, blanks and comments": ("run", b"# c\n\n" + RUN.replace(b" ", b"\t ")),
    "MS MARCO run": ("run", b"q1\td1\t1\nq1\td2\t20\nq2\td4\t10\n"),
    "TREC qrels": ("qrels", QRELS.replace(b"2\n", b"20\n")),
    "TREC qrels with BOM": ("qrels", b"\xef\xbb\xbf" + QRELS),
    "BEIR qrels": ("qrels", WITH_HEADER),
    "run with header": ("run", WITH_HEADER),
    "quoted run": ("run", QUOTED),
    "quoted qrels": ("qrels", QUOTED),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_prefix_of_text(name: str) -> None:
    kind, data = TEXTS[name]
    found = [only_ours(lambda size=size: notes_of(kind, data[:size]), [name, size]) for size in range(len(data))]
    refused = [size for size, notes in enumerate(found) if notes is None]
    cut_in_line = [
        size for size, notes in enumerate(found) if notes is not None and data[size - 1 : size] not in (b"\n", b"\r")
    ]
    noted = [size for size in cut_in_line if "no-line-end" in found[size]]
    assert cut_in_line
    assert noted == cut_in_line
    assert len(refused) + len(noted) > len(data) * 0.7


@pytest.mark.parametrize("kind", ["run", "qrels"])
@pytest.mark.parametrize("data", [JSON, JSON.replace(b"3.5", b"3")])
def test_every_prefix_of_json(kind: str, data: bytes) -> None:
    """An object that is not closed is never read."""
    for size in range(len(data) - 1):
        assert only_ours(lambda size=size: notes_of(kind, data[:size]), [size]) is None, data[:size]


def test_every_prefix_of_json_lines() -> None:
    """Only whole lines are read."""
    whole = {0, JSONL.index(b"\n"), JSONL.index(b"\n") + 1, len(JSONL) - 1}
    for size in range(len(JSONL)):
        notes = only_ours(lambda size=size: notes_of("run", JSONL[:size]), [size])
        assert (notes is not None) == (size in whole - {0}), JSONL[:size]


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_every_prefix_of_compressed_text(pack: str, kind: str) -> None:
    """Compression tells where the end is, so that no shorter file passes for the whole."""
    data = PACK[pack](RUN if kind == "run" else QRELS)
    assert notes_of(kind, data) is not None
    for size in range(len(data)):
        assert only_ours(lambda size=size: notes_of(kind, data[:size]), [pack, size]) is None, size


@pytest.mark.parametrize("pack", PACK)
def test_random_cuts_of_long_compressed_runs(pack: str) -> None:
    data = PACK[pack](LONG_RUN)
    rng = random.Random(pack)
    for size in [rng.randrange(len(data)) for _ in range(many(100))]:
        assert only_ours(lambda size=size: notes_of("run", data[:size]), [pack, size]) is None, size


@pytest.mark.parametrize("pack", PACK)
def test_changed_bytes_of_compressed_runs(pack: str) -> None:
    """Every format has a checksum: what is read after all is what was written."""
    data = PACK[pack](LONG_RUN)
    right = read_run(io.BytesIO(data)).results
    rng = random.Random(pack)
    refused = 0
    for _ in range(150):
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        found = only_ours(lambda changed=changed: read_run(io.BytesIO(bytes(changed))).results, [pack])
        assert found is None or found == right or pack == "zst"
        refused += found is None
    assert refused > 100


def tables() -> dict[str, bytes]:
    frame = pl.DataFrame(
        {
            "query": [f"q{i // 50}" for i in range(2000)],
            "doc": [f"doc{i}" for i in range(2000)],
            "score": [1 / (1 + i) for i in range(2000)],
            "grade": [i % 3 for i in range(2000)],
        }
    )
    made = {}
    for compression in ("zstd", "uncompressed", "snappy"):
        buffer = io.BytesIO()
        frame.write_parquet(buffer, compression=compression, row_group_size=500)
        made[f"parquet {compression}"] = buffer.getvalue()
    for name, write in (("arrow file", frame.write_ipc), ("arrow stream", frame.write_ipc_stream)):
        buffer = io.BytesIO()
        write(buffer, compression="zstd" if name == "arrow file" else "uncompressed")
        made[name] = buffer.getvalue()
    return made


TABLES = tables()


def read_all(data: bytes) -> object:
    return read_run(io.BytesIO(data)).results, read_qrels(io.BytesIO(data)).text


@pytest.mark.parametrize("name", TABLES)
def test_random_cuts_of_tables(name: str) -> None:
    data = TABLES[name]
    read_all(data)
    rng = random.Random(name)
    for size in [*range(12), *(rng.randrange(len(data)) for _ in range(60))]:
        found = only_ours(lambda size=size: read_all(data[:size]), [name, size])
        # A stream ends where its last message ends.
        assert found is None or name == "arrow stream", size


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_changed_bytes_of_tables(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Parquet without checksums cannot tell all changes; none may do worse than give another value."""
    rng = random.Random(name)
    for _ in range(80):
        changed = bytearray(TABLES[name])
        for _ in range(rng.randrange(1, 4)):
            # Half of the changes go where the structure is described.
            near_end = rng.random() < 0.5
            at = rng.randrange(max(0, len(changed) - 1500), len(changed)) if near_end else rng.randrange(len(changed))
            changed[at] = rng.randrange(256)
        only_ours(lambda changed=changed: read_all(bytes(changed)), [name])
    capfd.readouterr()  # polars writes its panics to stderr


# Byte soup.

SEEDS: dict[str, bytes] = {
    "run": RUN,
    "qrels": QRELS,
    "json": JSON,
    "jsonl": JSONL,
    "csv": QUOTED,
    "tsv": WITH_HEADER,
    "elastic": b'{"metric_score":0.5,"details":{"q1":{"hits":[{"hit":{"_id":"d1","_score":2.5},"rating":1}]}}}',
    "requests": b'{"requests":[{"id":"q1","ratings":[{"_index":"i","_id":"d1","rating":1}]}]}',
    "judgements": b'{"judgmentRatings":[{"query":"q1","ratings":[{"docId":"d1","rating":"3.000"}]}]}',
    "mteb": b'{"mteb_model_meta":{},"default":{"test":{"q1":{"d1":0.5}}}}',
    "llama": b'{"queries":{"q1":"x"},"corpus":{},"relevant_docs":{"q1":["d1"]},"mode":"text"}',
}
PIECES = [
    b"\n", b"\r", b"\r\n", b"\0", b" ", b"\t", b"\v", b'"', b",", b"#", b"\xef\xbb\xbf", b"\xff", b"\xc3",
    b"\xed\xa0\x80",
    b"nan", b"inf", b"-", b"1e999", b"9" * 400, b"0x1", b"1_0", b"{", b"}", b"[", b"]", b":", b"null", b"NaN",
    b"\\ud800",
    b"q1", b"d1", b"PAR1", b"ARROW1", b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\xff\xff\xff\xff", b"query", b"score",
    b"rank_eval", b"details", b"true", b"''", "é".encode(), "\u2028".encode(), b"rating", b"1.5", b"-0", b"5" * 30,
]  # fmt: skip


def soup(rng: random.Random) -> bytes:
    """A sound file after some accidents."""
    data = bytearray(rng.choice(list(SEEDS.values())))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                data[at:at] = rng.choice(PIECES)
            case 1:
                del data[at : at + rng.choice((1, 2, 5, 20))]
            case 2:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 3:
                end = at + rng.randrange(1, 30)
                data[rng.randrange(len(data) + 1) :][:0] = data[at:end]
                data += data[at:end]
            case 4:
                data[at : at + rng.randrange(1, 6)] = rng.choice(PIECES)
    return bytes(data)


def use(data: bytes) -> None:
    """Read it in every way that there is."""
    about = [data]
    qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}
    only_ours(lambda: evaluate(qrels, io.BytesIO(data), overlap="allow"), about)
    only_ours(lambda: evaluate(io.BytesIO(data), run, overlap="allow"), about)
    only_ours(lambda: evaluate(io.BytesIO(data), io.BytesIO(data), overlap="allow", duplicates="count"), about)
    only_ours(lambda: read_run(io.BytesIO(data)).results, about)
    for format in formats.names("run"):
        only_ours(lambda format=format: read_run(io.BytesIO(data), format=format).results, [format, data])
    for format in formats.names("qrels"):
        only_ours(lambda format=format: read_qrels(io.BytesIO(data), format=format).text, [format, data])


@pytest.mark.parametrize("seed", range(many(40)))
def test_soup(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        use(soup(rng))


@settings(max_examples=many(60), deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    use(data)


LINES = st.lists(
    st.lists(st.sampled_from([*PIECES, b"q1", b"Q0", b"d1", b"1", b"2.5", b"tag"]), min_size=1, max_size=8).map(
        b" ".join
    ),
    max_size=6,
).map(b"\n".join)


@settings(max_examples=many(60), deadline=None)
@given(LINES)
def test_any_lines(data: bytes) -> None:
    use(data)


def test_result_of_damage_is_never_silent() -> None:
    """The same run cut in the middle of a line is refused, not scored."""
    with pytest.raises(GoldrankError, match="found 3 columns in 'q1 Q0 d2'"):
        evaluate({"q1": {"d1": 1}}, io.BytesIO(RUN[:25]))
    assert isinstance(read_qrels(io.BytesIO(QRELS)), Qrels)
    assert isinstance(read_run(io.BytesIO(RUN)), Run)


@pytest.mark.parametrize("piece", [7, 61, 5 << 20])
@pytest.mark.parametrize(
    ("tail", "cut_off"), [(b"\r", False), (b" \t", False), (b"# no judgement", False), (b"q2 Q0 d9 3 0.5 r", True)]
)
def test_only_a_line_of_data_can_be_cut_off(tail: bytes, cut_off: bool, piece: int, tmp_path, monkeypatch) -> None:
    """Whatever the pieces are that the file is read in."""
    monkeypatch.setattr("goldrank.io.sources.PIECE", piece)
    (tmp_path / "run").write_bytes(RUN + tail)
    for given_run in (tmp_path / "run", io.BytesIO(RUN + tail)):
        notes = evaluate(io.BytesIO(QRELS), given_run, "AP").notes
        assert ("no-line-end" in [note.code for note in notes]) == cut_off
