"""The history keeps what it is given, bit for bit, finds it again, and says so when it cannot."""

import csv
import dataclasses
import datetime
import json
import math
import sqlite3
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from made_up_scores import make
from raising import raises_code

from goldrank import Baseline, GoldrankError, History, Record, Rules, Scores, evaluate, gate
from goldrank.base.errors import OptionError, StoreError
from goldrank.base.notes import Note
from goldrank.comparison.settings import Statistics
from goldrank.data.query_facts import to_plain
from goldrank.data.scores import Remarks
from goldrank.history import packing

FILES = Path(__file__).parents[1] / "files" / "old"

DAY = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.db"


@pytest.fixture
def history(path):
    with History(path) as opened:
        yield opened


def bits(column):
    return column.measure, column.values.tobytes(), column.average, column.higher_is_better, repr(column.summary)


def assert_equal(one, other):
    """Equal in every field, values bit for bit."""
    for field in dataclasses.fields(Scores):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "columns":
            assert [(name, bits(c)) for name, c in a.items()] == [(name, bits(c)) for name, c in b.items()]
        elif field.name == "bounds":
            flat = [[(name, x.why, bits(x.low), bits(x.high)) for name, x in s.items()] for s in (a, b)]
            assert flat[0] == flat[1]
        elif field.name == "placed":
            continue  # fresh scores only
        elif field.name == "origin":
            assert one.provenance == other.provenance
        elif field.name == "remarks":
            assert (one.counts, one.notes) == (other.counts, other.notes)
        elif field.name == "facts":
            assert to_plain(one.query_facts) == to_plain(other.query_facts)
        else:
            assert a == b, field.name


# What is kept.


@pytest.mark.parametrize("options", [{}, {"ties": "bounds"}, {"bounds": "unjudged"}, {"missing": "skip"}])
def test_scores_come_back_as_they_were(history, options):
    qrels = {f"q{i}": {"a": 1, "b": 0, "c": 2} for i in range(9)}
    run = {f"q{i}": {"c": 0.5, "a": 0.5, f"x{i}": i} for i in range(7)}
    scores = evaluate(
        qrels, run, ["nDCG@10", "AP", "P(rel=2)@5", "Hole@2"] if not options else ["nDCG@10", "AP"], **options
    )
    record = history.record(scores)
    assert_equal(history.scores(record), scores)
    assert_equal(history.scores(record.id), scores)
    assert dict(record.mean) == scores.mean
    assert record.qrels_sha256 == scores.provenance["qrels"]["sha256"]
    assert record.run_sha256 == scores.provenance["run"]["sha256"]
    assert (record.convention, record.queries, record.run) == (scores.convention, len(scores.queries), scores.run)


def test_what_is_said_comes_back(history):
    record = history.record(
        make([0.5, 1.0], criteria="of the qrels", depth=100),
        label="main", commit="abc", branch="b", note="n\n\x00\udcff", tags=["k=v", "w"],
        time=DAY.astimezone(datetime.timezone(datetime.timedelta(hours=5))),
    )  # fmt: skip
    (again,) = history.records()
    assert again == record == history[record.id] == history["main"] == history[str(record.id)]
    assert (again.label, again.commit, again.branch, again.note) == ("main", "abc", "b", "n\n\x00\udcff")
    assert (again.tags, again.criteria, again.time) == (("k=v", "w"), "of the qrels", DAY)
    assert (again.qrels_name, again.depth, again.version) == ("gold.qrels", 100, "0.1.0")
    assert dict(again.mean) == {"nDCG@10": 0.75}
    assert len(again.digest) == 64
    assert list(history) == [record]
    assert len(history) == 1


@given(
    hnp.arrays(np.uint64, st.integers(0, 700), elements=st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2, 3])),
    st.integers(1, 400),
)
def test_every_bit_of_every_double_survives(raw, repeats):
    values = np.resize(raw, len(raw) * (1 + repeats % 7)).view(np.float64)
    assert packing.unpack_values(packing.pack_values(values), len(values)).tobytes() == values.tobytes()


def test_many_distinct_values_survive():
    for distinct in (255, 256, 257, 65_535, 65_536, 65_537):
        values = np.arange(3 * distinct, dtype=float) % distinct / 7
        assert packing.unpack_values(packing.pack_values(values), len(values)).tobytes() == values.tobytes()


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=6), unique=True, max_size=20))
def test_any_query_id_survives(ids):
    assert packing.unpack_ids(packing.pack_ids(ids)) == tuple(ids)


def test_numbers_that_sql_does_not_have(history):
    values = [math.nan, -0.0, math.inf, -math.inf, 5e-324, struct.unpack("<d", b"\1\0\0\0\0\0\xf8\x7f")[0]]
    for summary in (math.nan, math.inf, -0.0):
        scores = make([0.0] * 6)
        column = dataclasses.replace(scores.columns["nDCG@10"], values=np.array(values), summary=summary)
        scores = dataclasses.replace(scores, columns={"nDCG@10": column})
        found = history.scores(history.record(scores)).columns["nDCG@10"]
        assert found.values.tobytes() == np.array(values).tobytes()
        assert found.summary == summary or (math.isnan(found.summary) and math.isnan(summary))
    history.check()


def test_query_ids_are_kept_once(history, path):
    for i in range(5):
        history.record(make(np.full(50, i / 5)))
    history.record(make([0.5], queries=["other"]))
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM query_set").fetchone() == (2,)
    db.close()


def test_seven_thousand_queries_take_little_room(tmp_path):
    """Ten measures with as many distinct values as two judged documents a query and a hundred ranks give."""
    rng = np.random.default_rng(0)
    ranks = rng.integers(1, 101, (7_000, 2))
    columns = {}
    for k in range(10):
        measure = f"nDCG@{10 * k + 10}"
        values = (np.where(ranks <= 10 * k + 10, 1 / np.log2(ranks + 1), 0)).sum(axis=1) / (1 + 1 / math.log2(3))
        columns |= make(values, measure=measure, queries=list(map(str, range(7_000)))).columns
    scores = dataclasses.replace(make(np.zeros(7_000), queries=list(map(str, range(7_000)))), columns=columns)
    with History(tmp_path / "h.db") as history:
        history.record(scores)
    assert (tmp_path / "h.db").stat().st_size < 300_000


# What is found.


def test_records_are_chosen_and_ordered(history):
    for i, (label, measure) in enumerate([("main", "AP"), ("dev", "RR"), ("main", "RR"), ("main", "AP")]):
        history.record(make([0.5], measure=measure), label=label, time=DAY - datetime.timedelta(days=i))
    assert [r.id for r in history.records()] == [4, 3, 2, 1]
    assert [r.id for r in history.records(label="main")] == [4, 3, 1]
    assert [r.id for r in history.records(label="main", measure="map")] == [4, 1]
    assert [r.id for r in history.records(limit=2)] == [2, 1]
    assert [r.id for r in history.records(measure="RR", limit=1)] == [2]
    assert history.records(limit=0) == history.records(label="nobody") == []
    assert history["main"].id == 1


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda h: h["mian"], ["no record with the label or commit 'mian'", "Did you mean main?"]),
        (lambda h: h["zzz"], ["Labels are: main."]),
        (lambda h: h[99], ["no record 99", "goldrank history"]),
        (lambda h: h[-1], ["no record -1"]),
        (lambda h: h[10**30], ["no record 1000"]),
        (lambda h: h["\udcff"], ["no record with the label"]),
        (lambda h: h.scores(7), ["no record 7"]),
        (lambda h: h.baseline("relase"), ["no baseline 'relase'", "Did you mean release?"]),
        (lambda h: h.set_baseline("x", 9), ["no record 9"]),
        (lambda h: h.set_baseline("", 1), ["printable text"]),
        (lambda h: h.record(make([1.0]), label="12"), ["label is '12'", "not a number alone"]),
        (lambda h: h.record(make([1.0]), label="a\x1b"), ["printable text"]),
        (lambda h: h.record(make([1.0]), tags="k=v"), ["list of texts"]),
        (lambda h: h.prune(), ["say what to keep"]),
        (lambda h: h.prune(keep=-1), ["whole number from 0"]),
        (lambda h: h.prune(before="soon"), ["before is of type str, not a time"]),
        (lambda h: h.values(h.records(), "AP"), ["record 1 has no AP"]),
    ],
)  # fmt: skip
def test_mistakes_are_explained(history, ask, words):
    history.record(make([1.0]), label="main")
    history.set_baseline("release", 1)
    with pytest.raises(GoldrankError) as caught:
        ask(history)
    for word in words:
        assert word in str(caught.value)
    assert len(history.records()) == 1


def test_a_baseline_stays_where_it_is(history):
    first = history.record(make([0.5]), label="main")
    history.set_baseline("release", first.id)
    second = history.record(make([0.7]), label="main")
    assert history.baseline("release").digest == first.digest
    assert history.baselines() == {"release": first.id}
    history.set_baseline("release", second.id)
    assert history.baseline("release").digest == second.digest


def test_pruning(history, path):
    for i in range(6):
        history.record(make([0.5], queries=[f"only{i}"]), label="ab"[i % 2], time=DAY + datetime.timedelta(days=i))
    history.set_baseline("release", 1)  # a: 1 3 5, b: 2 4 6
    assert [r.id for r in history.prune(keep=1, dry_run=True)] == [2, 3, 4]
    assert len(history.records()) == 6
    assert [r.id for r in history.prune(keep=1, before=datetime.datetime(2026, 1, 4), dry_run=True)] == [2, 3]
    assert [r.id for r in history.prune(before=DAY + datetime.timedelta(days=2), label="b")] == [2]
    assert [r.id for r in history.prune(keep=0)] == [3, 4, 5, 6]
    assert [r.id for r in history.records()] == [1]
    history.check()
    with sqlite3.connect(path) as db:
        assert [db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("query_set", "value")] == [1, 1]
    db.close()
    assert history.record(make([0.5])).id == 7, "numbers are never used again"


def test_pruning_makes_the_file_smaller(history, path):
    rng = np.random.default_rng(0)
    for _ in range(30):
        history.record(make(rng.random(2_000)))
    history.close()
    before = path.stat().st_size
    with History(path) as again:
        again.prune(keep=1)
    assert path.stat().st_size < before / 5


def test_one_measure_of_many_records(history):
    for values in ([0.1, 0.2], [0.3, math.nan]):
        history.record(make(values))
    found = history.values(history.records(), "ndcg_cut_10")
    assert [ids for ids, _ in found] == [("q0", "q1")] * 2
    np.testing.assert_array_equal([values for _, values in found], [[0.1, 0.2], [0.3, math.nan]])


# Versions of the format.


def test_the_file_says_what_it_is(history, path):
    with sqlite3.connect(path) as db:
        told = [
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version", "journal_mode")
        ]
    db.close()
    assert told == [int.from_bytes(b"gold"), 4, "wal"]


@pytest.mark.parametrize("old", [1, 2])
def test_a_file_of_before_is_refused_in_words_and_left_alone(path, old):
    """tests/files/old/history-1.db was written by goldrank 0.2.0, history-2.db by 0.3.0 in the making."""
    before = (FILES / f"history-{old}.db").read_bytes()
    path.write_bytes(before)
    for mode in ("a", "r"):
        with raises_code(StoreError, "older-version", match="record into a new file"):
            History(path, mode=mode)
    assert path.read_bytes() == before


def test_a_baseline_of_a_history_is_one_for_gates(history):
    qrels = {f"q{i}": {"a": 1} for i in range(10)}
    scores = evaluate(qrels, {query: ["a", "x"] for query in qrels}, "RR")
    record = history.record(scores, label="main")
    history.set_baseline("release", record)
    baseline = history.baseline("release")
    assert isinstance(baseline, Baseline)
    assert (baseline.scores, baseline.label, baseline.digest) == (scores, "main", record.digest)
    assert baseline.scores.judgement_hashes == scores.judgement_hashes
    worse = evaluate(qrels, {query: ["x", "a"] for query in qrels}, "RR")
    rules = Rules("RR: -1%", statistics=Statistics(unjudged="ignore"))
    assert not gate(worse, rules, baseline)
    assert gate(scores, rules, baseline)
    with raises_code(StoreError, "no-baseline", match="Did you mean release"):
        history.baseline("relaese")


def test_judgements_are_kept_once(history, path):
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(50)}
    for i in range(4):
        history.record(evaluate(qrels, {"q1": [f"x{i}", "d1"]}, "RR"))
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM judgement_set").fetchone() == (1,)
    db.close()
    history.record(evaluate({"q1": {"d1": 1}}, {"q1": ["d1"]}, "RR"))
    history.prune(keep=1)
    history.check()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM judgement_set").fetchone() == (1,)
    db.close()


def test_notes_come_back_as_data(history):
    said = (
        Note.of("missing-queries", count=1, judged=4, how="counted as 0", samples=["q3"]),
        Note.of("text", text="words alone"),
    )
    record = history.record(dataclasses.replace(make([0.25, 0.5]), remarks=Remarks(notes=said)))
    assert [str(note) for note in history.scores(record).notes] == [str(note) for note in said]
    assert history.scores(record).notes[0] == said[0]


def test_a_newer_file_is_refused_and_left_alone(path):
    with History(path) as history:
        history.record(make([1.0]))
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    for mode in ("a", "r"):
        with raises_code(StoreError, "newer-version", match="99") as caught:
            History(path, mode=mode)
        assert "newer one" in str(caught.value)
    assert path.read_bytes() == before


def test_every_field_of_scores_is_kept():
    """A new field of Scores must be recorded too: `History.record`, `History.scores`, and a new VERSION if need be."""
    kept = {"run", "queries", "columns", "remarks", "convention", "origin", "bounds", "options", "facts"}
    fresh = {"explainer", "placed"}  # they need the texts and the run, which are not kept
    assert {field.name for field in dataclasses.fields(Scores)} == kept | fresh


def test_opening(path, tmp_path):
    with raises_code(StoreError, "no-file") as caught:
        History(path, mode="r")
    assert "goldrank record" in str(caught.value)
    assert not path.exists()
    with raises_code(StoreError, "is-a-folder"):
        History(tmp_path)
    with raises_code(StoreError, "cannot-open"):
        History(tmp_path / "no" / "h.db")
    with raises_code(OptionError, "unknown-choice"):
        History(path, mode="w")
    odd = tmp_path / "a?mode=ro#%41 ü.db"
    with History(odd) as history:
        assert isinstance(history.record(make([1.0])), Record)
    assert odd.exists()
    path.write_bytes(b"")
    with raises_code(StoreError, "empty-file"):
        History(path, mode="r")
    with History(path) as history:
        assert history.records() == []


def test_read_only_does_not_write(history, path):
    history.record(make([1.0]), label="main")
    with History(path, mode="r") as reader:
        for action in (
            lambda: reader.record(make([1.0])),
            lambda: reader.set_baseline("x", 1),
            lambda: reader.prune(keep=0),
        ):
            with raises_code(StoreError, "read-only"):
                action()
        assert [r.label for r in reader.records()] == ["main"]


def test_a_whole_commit_is_found_however_short_and_before_longer_ones(path):
    with History(path) as history:
        numbers = {
            name: history.record(make([0.5, 0.6]), commit=name).id for name in ("r7", "v1.2", "v1.2.1", "ab-dirty")
        }
        assert {name: history[name].id for name in numbers} == numbers
        assert history["ab"].id == numbers["ab-dirty"]
        with raises_code(StoreError, "no-record", match="'v1'"):
            history["v1"]
        assert history["v1.2."].id == numbers["v1.2.1"]


def test_a_history_is_saved_for_other_programs(history, path, tmp_path):
    """0.25 and 0.5 of two queries, under two labels; a damaged record is left out, and that is said."""
    for label in ("main", "other"):
        history.record(make([0.25, 0.5]), label=label)
    history.save(tmp_path / "all.json")
    records = json.loads((tmp_path / "all.json").read_text())["records"]
    assert [record["label"] for record in records] == ["main", "other"]
    assert Scores.from_dict(records[0]["scores"]) == history.scores("main")
    history.save(tmp_path / "main.csv", label="main")
    with (tmp_path / "main.csv").open() as file:
        assert [row["value"] for row in csv.DictReader(file)] == ["0.25", "0.5"]
    with pytest.raises(OptionError, match="ends in none of"):
        history.save(tmp_path / "all.pdf")
    history._db.execute("UPDATE record SET label = 'mine' WHERE id = 1")
    with raises_code(StoreError, "damaged-file", match="1 left out"):
        history.save(tmp_path / "sound.json")
    assert len(json.loads((tmp_path / "sound.json").read_text())["records"]) == 1
