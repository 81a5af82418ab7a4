"""Several files as one run, several runs in one file, and queries whose lines lie anywhere."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers import RUN, SOUND, codes, words
from lanes import many
from raising import raises_code

import goldrank
from goldrank import GoldrankError, Scores, evaluate, read_qrels, read_run, read_runs
from goldrank.engine import streaming
from goldrank.io import files, sources
from goldrank.io.tables import polars_tables as tables
from goldrank.io.text import trec

MEASURES = ["AP", "nDCG"]
Rows = list[tuple[str, str, float]]


def made_up(seed: int, queries: int = 12) -> tuple[dict[str, dict[str, int]], Rows]:
    """Judgements and the rows of a run, with ties, in the order of queries."""
    rng = random.Random(seed)
    qrels = {f"q{i}": {f"d{rng.randrange(30)}": rng.randrange(-1, 4) for _ in range(6)} for i in range(queries)}
    rows = [
        (f"q{i}", f"d{doc}", rng.randrange(8) / 4)
        for i in range(queries + 2)  # the last two are not judged
        for doc in rng.sample(range(40), rng.randrange(1, 30))
    ]
    return qrels, rows


def as_trec(rows: Rows, tag: str = "t") -> bytes:
    return "".join(f"{q} Q0 {d} - {s!r} {tag}\n" for q, d, s in rows).encode()


def as_frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["qid", "docid", "score"], orient="row")


def same(one: Scores, other: Scores) -> None:
    """Equal to the last bit, counts included."""
    assert one.queries == other.queries
    assert one.mean == other.mean
    assert all((one.columns[m].values == other.columns[m].values).all() for m in one.measures)
    assert one.counts == other.counts


WRITERS: dict[str, tuple[str, Callable[[Path, Rows], object]]] = {
    "trec": ("txt", lambda path, rows: path.write_bytes(as_trec(rows))),
    "gzip": ("txt.gz", lambda path, rows: path.write_bytes(gzip.compress(as_trec(rows)))),
    "parquet": ("parquet", lambda path, rows: as_frame(rows).write_parquet(path)),
    "csv": ("csv", lambda path, rows: as_frame(rows).write_csv(path)),
    "arrow": ("arrow", lambda path, rows: as_frame(rows).write_ipc(path)),
    "jsonl": ("jsonl", lambda path, rows: as_frame(rows).write_ndjson(path)),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("order", ["neighbours", "scattered"])
def test_parts_are_one_run(form: str, order: str, tmp_path: Path) -> None:
    qrels, rows = made_up(3)
    whole = evaluate(qrels, [*rows], MEASURES)
    if order == "scattered":
        random.Random(1).shuffle(rows)
    suffix, write = WRITERS[form]
    folder = tmp_path / "run.d"
    (folder / "deeper").mkdir(parents=True)
    for number, low in enumerate(range(0, len(rows), 50)):
        inner = folder / "deeper" if number == 2 else folder
        write(inner / f"part-{number}.{suffix}", rows[low : low + 50])
    for beside in ("_SUCCESS", ".part-0.txt.crc", ".hidden", "part-0.crc"):
        (folder / beside).write_bytes(b"")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "part-9").write_bytes(b"garbage")
    for given in (folder, str(folder), f"{folder}/**/part-*.{suffix}", f"{tmp_path}/run*"):
        found = evaluate(qrels, given, MEASURES)
        same(found, whole)
        assert not [note for note in found.notes if note.about == "run" and note.code != "no-line-end"]
    assert read_run(folder).name == "run"
    if order == "neighbours":
        assert len(read_run(f"{folder}/part-[01].{suffix}")) < len(read_run(folder))


@pytest.mark.slow
def test_order_of_lines_and_pieces_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scattered lines go through buckets in a file, whatever the size of pieces, buckets and memory."""
    for seed in range(many(15)):
        rng = random.Random(seed)
        qrels, rows = made_up(seed)
        whole = evaluate(qrels, [*rows], MEASURES)
        rng.shuffle(rows)
        (tmp_path / "run").write_bytes(as_trec(rows))
        as_frame(rows).write_parquet(tmp_path / "run.parquet", row_group_size=rng.choice((5, 40)))
        monkeypatch.setattr(sources, "PIECE", rng.choice((60, 400, 100_000)))
        monkeypatch.setattr(tables, "BATCH", rng.choice((3, 17, 1000)))
        monkeypatch.setattr(tables, "MOST_SLICED", rng.choice((0, 1000)))
        monkeypatch.setattr(streaming, "IN_MEMORY", rng.choice((0, 1 << 20)))
        monkeypatch.setattr(streaming, "processors", partial(rng.choice, (1, 2)))
        monkeypatch.setattr(streaming, "LINES_AT_A_TIME", rng.choice((1, 20, 10_000)))
        for name in ("run", "run.parquet"):
            same(evaluate(qrels, tmp_path / name, MEASURES), whole)


@pytest.mark.parametrize("form", ["trec", "parquet"])
@pytest.mark.parametrize("scattered", [False, True])
def test_repeats_across_files_name_both(form: str, scattered: bool, tmp_path: Path) -> None:
    suffix, write = WRITERS[form]
    first = [("q1", "d1", 3.0), ("q1", "d2", 2.0)]
    if scattered:
        first = [*first, ("q2", "d4", 1.0), ("q2", "d5", 0.5)]
    write(tmp_path / f"a.{suffix}", first)
    write(tmp_path / f"b.{suffix}", [("q1", "d7", 1.0), ("q1", "d1", 0.5)])
    with raises_code(GoldrankError, "duplicate-document", match="'d1'") as caught:
        evaluate({"q1": {"d1": 1}, "q2": {"d4": 1}}, f"{tmp_path}/*.{suffix}", "AP")
    row = {"trec": (":2", ":1"), "parquet": (": row 2", ": row 1")}[form]
    assert str(caught.value).startswith(f"{tmp_path}/b.{suffix}{row[0]}: ")
    assert f"first at {tmp_path}/a.{suffix}{row[1]}\n" in str(caught.value)
    last = evaluate(
        {"q1": {"d1": 1}, "q2": {"d4": 1}}, f"{tmp_path}/*.{suffix}", "RR", duplicates="last", overlap="allow"
    )
    # d2 2.0, d7 1.0, d1 0.5: the judged one is third.
    assert last.per_query["RR"]["q1"] == 1 / 3


def test_rows_are_counted_through_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH", 2)
    rows = [("q1", f"d{i}", float(9 - i)) for i in range(6)] + [("q1", "d3", 0.0)]
    as_frame(rows).write_parquet(tmp_path / "run.parquet")
    with pytest.raises(GoldrankError, match=r"run\.parquet: row 7: .*first at .*run\.parquet: row 4"):
        evaluate({"q1": {"d1": 1}}, tmp_path / "run.parquet", "AP")


def test_partitioned_folder_gives_columns(tmp_path: Path) -> None:
    """Values in paths are text as it stands: 007 keeps its zeros, %2F is a slash."""
    for query, folder in (("007", "qid=007"), ("a/b", "qid=a%2Fb")):
        for year in (2025, 2026):
            inner = tmp_path / f"year={year}" / folder
            inner.mkdir(parents=True)
            frame = pl.DataFrame({"docid": [f"{query}-{year}", f"x{year}"], "score": [float(year), 0.5 * year]})
            frame.write_parquet(inner / "part-0.parquet")
    found = read_run(tmp_path)
    assert found["007"] == {"007-2025": 2025.0, "x2025": 1012.5, "007-2026": 2026.0, "x2026": 1013.0}
    assert set(found) == {"007", "a/b"}
    assert set(read_run(f"{tmp_path}/year=2026")["a/b"]) == {"a/b-2026", "x2026"}
    assert set(read_run(f"{tmp_path}/year=*/qid=007/*.parquet")) == {"007"}


@pytest.mark.parametrize("form", WRITERS)
def test_judgements_in_parts(form: str, tmp_path: Path) -> None:
    suffix, write = WRITERS[form]
    rows = [("q1", "d1", 1), ("q1", "d2", 0), ("q1", "d3", 2), ("q2", "d1", 1), ("q2", "d4", 1)]
    if form in ("trec", "gzip"):
        pack = gzip.compress if form == "gzip" else bytes
        for i in (0, 2):
            text = "".join(f"{q} 0 {d} {g}\n" for q, d, g in rows[i : i + 2 if i == 0 else None])
            (tmp_path / f"{i}.{suffix}").write_bytes(pack(text.encode()))
    else:
        write(tmp_path / f"0.{suffix}", rows[:2])  # type: ignore[arg-type]
        write(tmp_path / f"2.{suffix}", rows[2:])  # type: ignore[arg-type]
    for given in (tmp_path, f"{tmp_path}/*.{suffix}"):
        assert read_qrels(given) == {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
        scores = evaluate(given, {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}}, MEASURES)
        assert (scores["AP"], scores["nDCG"]) == pytest.approx(SOUND, abs=1e-12)


def test_judgements_that_contradict_across_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"q1 0 d1 1\n")
    (tmp_path / "b").write_bytes(b"q2 0 d1 1\nq1 0 d1 2\n")
    with pytest.raises(GoldrankError, match=rf"{tmp_path}/b:2: .* judged 2 here and 1 at {tmp_path}/a:1"):
        read_qrels(tmp_path)
    assert read_qrels(tmp_path, judgements="last")["q1"] == {"d1": 2}


def sound_part(path: Path) -> None:
    as_frame([("q1", "d1", 1.0)]).write_parquet(path)


def test_what_is_wrong_with_a_part(tmp_path: Path) -> None:
    def refused(given: object) -> str:
        with pytest.raises(GoldrankError) as caught:
            evaluate({"q1": {"d1": 1}}, given, "AP")
        return str(caught.value)

    assert "none-*.txt: matches no file" in refused(f"{tmp_path}/none-*.txt")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    assert "empty: is a folder without data files" in refused(folder)
    assert "matches no data file" in refused(f"{folder}/_*")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    sound_part(mixed / "a.parquet")
    (mixed / "b.txt").write_bytes(RUN)
    assert "different formats: a.parquet is parquet" in refused(mixed)
    assert "b.txt is trec" in refused(mixed)
    text = tmp_path / "text"
    text.mkdir()
    (text / "a").write_bytes(RUN)
    (text / "b").touch()
    assert refused(text).startswith(f"{text}/b: 0 bytes, no data lines")
    (text / "b").write_bytes(b"q1 Q0 d1\n")
    assert refused(text).startswith(f"{text}/b:1:1: found 3 columns")
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "a.gz").write_bytes(gzip.compress(RUN))
    (packed / "b.gz").write_bytes(gzip.compress(RUN * 100)[:-20])
    assert refused(packed).startswith(f"{packed}/b.gz: the gzip data is damaged or cut off")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for name in "abc":
        sound_part(damaged / f"{name}.parquet")
    (damaged / "b.parquet").write_bytes((damaged / "b.parquet").read_bytes()[:-9])
    assert refused(damaged).startswith(f"{damaged}/b.parquet: cannot be read as Parquet")
    other = tmp_path / "other"
    other.mkdir()
    sound_part(other / "a.parquet")
    pl.DataFrame({"qid": ["q1"], "text": ["x"]}).write_parquet(other / "b.parquet")
    assert refused(other).startswith(f"{other}/b.parquet: no column for the doc")


def test_parquet_part_without_rows_is_noted(tmp_path: Path) -> None:
    """Its footer says that it is whole; a text file of 0 bytes may be one that was cut off."""
    sound_part(tmp_path / "a.parquet")
    as_frame([("q1", "d1", 1.0)]).clear().write_parquet(tmp_path / "b.parquet")
    scores = evaluate({"q1": {"d1": 1}}, tmp_path, "AP")
    assert scores["AP"] == 1.0
    assert f"run: files without rows: 1 of 2, the first is {tmp_path}/b.parquet" in words(scores)
    (tmp_path / "a.parquet").unlink()
    with raises_code(GoldrankError, "empty-input"):
        evaluate({"q1": {"d1": 1}}, tmp_path, "AP")


def test_provenance_of_parts_is_of_their_bytes(tmp_path: Path) -> None:
    """Hashing a Parquet run does not load it, and parts have a hash of their own."""
    sound_part(tmp_path / "a.parquet")
    one = read_run(tmp_path / "a.parquet")
    assert one.digest == read_run(str(tmp_path / "a.parquet")).digest
    assert repr(one) == "Run('a')"
    many = read_run(tmp_path)
    as_frame([("q2", "d1", 1.0)]).write_parquet(tmp_path / "b.parquet")
    assert len({one.digest, many.digest, read_run(tmp_path).digest}) == 3


# Tags.


def tagged(tmp_path: Path, form: str, order: str) -> tuple[Path, dict[str, Rows], dict[str, dict[str, int]]]:
    qrels, rows = made_up(5)
    _, others = made_up(6)
    runs = {"bm25": rows, "dense": others}
    lines = [(tag, *row) for tag, run in runs.items() for row in run]
    if order == "by query":
        lines.sort(key=lambda line: line[1])
    elif order == "shuffled":
        random.Random(2).shuffle(lines)
    path = tmp_path / f"runs-{order}.{form}"
    if form == "trec":
        path.write_text("".join(f"{q} Q0 {d} - {s!r} {tag}\n" for tag, q, d, s in lines))
    else:
        pl.DataFrame(lines, schema=["system", "query", "doc", "score"], orient="row").write_parquet(path)
    return path, runs, qrels


@pytest.mark.slow
@pytest.mark.parametrize("form", ["trec", "parquet"])
@pytest.mark.parametrize("order", ["one by one", "by query", "shuffled"])
def test_runs_by_tag(form: str, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, runs, qrels = tagged(tmp_path, form, order)
    monkeypatch.setattr(sources, "PIECE", 500)
    monkeypatch.setattr(tables, "BATCH", 30)
    found = evaluate(qrels, read_runs(path), MEASURES)
    assert set(found) == set(runs)
    for tag, rows in runs.items():
        whole = evaluate(qrels, [*rows], MEASURES)
        same(found[tag], whole)
        assert found[tag].run == tag
        same(evaluate(qrels, read_runs(path)[tag], MEASURES), whole)
        assert "several-tags" not in codes(found[tag])


def test_tags_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tags: as many pieces as one pass has, and one of the file's head."""
    lines = [f"q{i // 4} Q0 d{i % 4} 0 {4 - i % 4} tag{t}\n" for t in range(20) for i in range(40)]
    (tmp_path / "run").write_text("".join(lines))
    seen = []
    block = trec.TrecRun._block
    monkeypatch.setattr(trec.TrecRun, "_block", lambda *args: seen.append(1) or block(*args))
    monkeypatch.setattr(sources, "PIECE", 1000)
    pieces = len(list(sources.open_source(tmp_path / "run").pieces()))
    assert pieces > 10
    runs = read_runs(tmp_path / "run")
    seen.clear()
    scores = evaluate({f"q{i}": {"d1": 1} for i in range(10)}, runs, "RR")
    assert list(scores) == [f"tag{t}" for t in range(20)]
    assert {one["RR"] for one in scores.values()} == {0.5}
    assert len(seen) == pieces


def test_partition_as_tag(tmp_path: Path) -> None:
    for system, first in (("a", "d1"), ("b", "d2")):
        (tmp_path / f"system={system}").mkdir()
        rows = [("q1", first, 2.0), ("q1", "d3", 1.0)]
        as_frame(rows).write_parquet(tmp_path / f"system={system}" / "part.parquet")
    scores = evaluate({"q1": {"d1": 1}}, read_runs(tmp_path), "RR", overlap="allow")
    assert scores.mean == {"a": {"RR": 1.0}, "b": {"RR": 0.0}}


def test_mixed_tags_are_never_silent(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 2.0 b\n")
    scores = evaluate({"q1": {"d1": 1}}, tmp_path / "run", "RR")
    (note,) = [note for note in scores.notes if note.code == "several-tags"]
    assert note.samples == ("a", "b")
    assert "read_runs" in str(note)
    (tmp_path / "run").write_bytes(b"q1 Q0 d1 1 3.0 a\nq1 Q0 d1 2 2.0 b\n")
    with raises_code(GoldrankError, "duplicate-document", match="read_runs"):
        evaluate({"q1": {"d1": 1}}, tmp_path / "run", "RR")
    frame = as_frame([("q1", "d1", 3.0), ("q1", "d2", 2.0)]).with_columns(run=pl.Series(["a", "b"]))
    assert "several-tags" in codes(evaluate({"q1": {"d1": 1}}, frame, "RR"))
    (tmp_path / "run").write_bytes(RUN)
    assert "several-tags" not in codes(evaluate({"q1": {"d1": 1}}, tmp_path / "run", "RR"))


@pytest.mark.parametrize("name", ["run.parquet", "run.json", "run.tsv"])
def test_without_tags(name: str, tmp_path: Path) -> None:
    frame = as_frame([("q1", "d1", 3.0)])
    path = tmp_path / name
    match name:
        case "run.parquet":
            frame.write_parquet(path)
        case "run.json":
            path.write_text(json.dumps({"q1": {"d1": 3.0}}))
        case _:
            path.write_text("q1\td1\t1\n")
    with raises_code(GoldrankError, "no-tags"):
        read_runs(path)


def test_runs_by_name(tmp_path: Path) -> None:
    path, runs, qrels = tagged(tmp_path, "trec", "shuffled")
    found = read_runs(path)
    assert sorted(found) == sorted(runs)
    assert len(found) == 2
    assert repr(found) == "Runs('runs-shuffled', by tag)"
    with pytest.raises(KeyError, match="there are"):
        _ = found["nobody"]
    result = goldrank.compare(qrels, found, ["AP"], statistics=goldrank.Statistics(samples=100))
    assert sorted(result.runs) == sorted(runs)


def test_edges_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept open between pieces is the last query alone, however many pieces there are."""
    monkeypatch.setattr(sources, "PIECE", 200)
    rows = [(f"q{i // 10:03}", f"d{i % 10}", float(-i)) for i in range(1000)]
    (tmp_path / "run").write_bytes(as_trec(rows))
    held = []
    add = streaming.RunAccumulator.add

    def watched(self: streaming.RunAccumulator, piece: streaming.Piece) -> None:
        add(self, piece)
        held.append(sum(len(part) for _, part in self._open))

    monkeypatch.setattr(streaming.RunAccumulator, "add", watched)
    scores = evaluate({f"q{i:03}": {"d4": 1} for i in range(100)}, tmp_path / "run", "RR")
    assert scores["RR"] == pytest.approx(1 / 5)
    assert len(held) > 50
    assert max(held) <= 10
    assert np.mean(held) > 0


def test_a_folder_that_links_to_itself_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_text("q1 0 d1 1\n")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert goldrank.read_qrels(tmp_path).text == {"q1": {"d1": 1}}


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home or a whole disk would take minutes to go through."""
    monkeypatch.setattr(files, "MOST_FILES", 3)
    for i in range(3):
        (tmp_path / f"part-{i}").write_text(f"q{i} 0 d1 1\n")
    assert len(goldrank.read_qrels(tmp_path)) == 3
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "part-3").write_text("q3 0 d1 1\n")
    with raises_code(GoldrankError, "too-many-files"):
        goldrank.read_qrels(tmp_path)


def test_links_that_branch_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level is linked twice from the one above: 2 to the power of 30 ways, and no file."""
    monkeypatch.setattr(files, "MOST_FILES", 1_000)
    for level in range(30):
        (tmp_path / str(level)).mkdir()
        for name in ("a", "b") if level < 29 else ():
            (tmp_path / str(level) / name).symlink_to(tmp_path / str(level + 1), target_is_directory=True)
    with raises_code(GoldrankError, "too-many-files"):
        goldrank.read_qrels(tmp_path / "0")


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "part-0").write_text("q1 0 d1 1\n")
    monkeypatch.setattr(files.os, "scandir", refuse)
    with raises_code(GoldrankError, "cannot-open", match="Permission denied"):
        goldrank.read_qrels(tmp_path)
