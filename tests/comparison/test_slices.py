"""Slices: means, worst slice, small ones, reversals."""

import json
import math
import pickle

import numpy as np
import polars
import pytest
from raising import raises_code

from goldrank import Queries, Statistics, compare
from goldrank.base.errors import InputError, NotMeasuredError
from goldrank.comparison.slice_table import SMALL
from goldrank.data.scores import Column, Scores


def two(delta_by_kind, seed=0):
    """Two systems whose difference depends on the kind of query: kind -> (number of queries, difference)."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind, (n, _) in delta_by_kind.items() for _ in range(n)]
    queries = tuple(f"q{i}" for i in range(len(kinds)))
    base = rng.random(len(kinds)) / 2 + 0.2
    other = base + np.array([delta_by_kind[kind][1] for kind in kinds]) + rng.normal(0, 0.01, len(kinds))
    scores = [
        Scores(name, queries, {"AP": Column("AP", values, float(values.mean()), "mean")})
        for name, values in (("a", base), ("b", other))
    ]
    return scores, dict(zip(queries, kinds, strict=True))


def test_means_by_hand():
    scores, kind = two({"x": (12, 0.1), "y": (15, -0.1)})
    table = compare(scores, slice_by=["kind"], queries=Queries({}).with_column("kind", kind)).slices
    found = {one.value: one for one in table.slices}
    values = scores[1].columns["AP"].values
    assert found["x"].means["b"] == pytest.approx(values[:12].mean())
    assert found["y"].n == 15
    assert found["y"].intervals["b"].low < found["y"].means["b"] < found["y"].intervals["b"].high


def test_worst_slice_and_reversal():
    scores, kind = two({"long": (60, 0.1), "short": (20, -0.1)})
    table = compare(scores, slice_by=["kind"], queries=Queries({}).with_column("kind", kind)).slices
    worst = table.worst("AP", "a", "b")
    assert worst.value == "short"
    assert worst.reversed
    assert worst.p_adjusted < 0.05
    (note,) = [note for note in table.notes if note.code == "slice-turned"]
    assert (note.fact("attribute"), note.fact("value"), note.fact("count")) == ("kind", "short", 20)
    assert str(note).startswith("AP: over all queries b is ahead of a (+0.0499), but not where kind is short")


def test_order_that_turns_round_when_slices_count_the_same():
    # 100 * 0.05 - 20 * 0.15 > 0 over all queries, but (0.05 - 0.15) / 2 < 0.
    scores, kind = two({"many": (100, 0.05), "few": (20, -0.15)})
    table = compare(scores, slice_by=["kind"], queries=Queries({}).with_column("kind", kind)).slices
    assert [note.fact("attribute") for note in table.notes if note.code == "slice-decides"] == ["kind"]


def test_small_slices_are_marked_and_tested_exactly():
    scores, kind = two({"big": (30, 0.1), "few": (SMALL - 1, -0.1), "tiny": (5, -0.15)})
    table = compare(scores, slice_by=["kind"], queries=Queries({}).with_column("kind", kind)).slices
    assert {one.value: one.small for one in table.slices} == {"big": False, "few": True, "tiny": True}
    found = {d.value: d for d in table.differences}
    # All 9 queries lost: 2 of 2^9 flips are as far out. Five queries give at best 2 / 2^5 = 0.0625.
    assert found["few"].p == 2 / 2**9
    assert found["few"].p_adjusted <= 0.05
    assert found["few"].reversed
    assert math.isnan(found["tiny"].p_adjusted)
    assert table.worst("AP", "a", "b").value == "few"


@pytest.mark.slow
def test_worst_slice_search_keeps_its_error_rate():
    rng = np.random.default_rng(8)
    false, rounds = 0, 200
    for i in range(rounds):
        scores, _ = two({"x": (100, 0.0)}, seed=i)
        kind = {q: str(rng.integers(0, 5)) for q in scores[0].queries}
        table = compare(
            scores, slice_by=["kind"], queries=Queries({}).with_column("kind", kind), statistics=Statistics(samples=100)
        ).slices
        false += any(d.p_adjusted <= 0.05 for d in table.differences)
    # Expected 10 of 200 at most; more than 20 happens by chance once in a thousand.
    assert false <= 20


def test_numbers_are_cut_into_thirds():
    scores, _ = two({"x": (30, 0.1)})
    size = {q: i for i, q in enumerate(scores[0].queries)}
    table = compare(scores, slice_by=["size"], queries=Queries({}).with_column("size", size)).slices
    assert [(one.value, one.n) for one in table.slices] == [("0 to 9", 10), ("10 to 19", 10), ("20 to 29", 10)]


def test_automatic_slices(data):
    qrels, runs = data
    texts = {q: "word " * (1 + i % 2) for i, q in enumerate(qrels)}
    table = compare(qrels, runs, ["AP", "Judged@10"], queries=texts, statistics=Statistics(samples=200)).slices
    assert {one.attribute for one in table.slices} == {"relevant", "judged", "length"}
    one_relevant = sum(sum(g >= 1 for g in row.values()) == 1 for row in qrels.values())
    assert next(s for s in table.slices if (s.attribute, s.value) == ("relevant", "1")).n == one_relevant
    assert {s.value for s in table.slices if s.attribute == "length"} == {"1", "2"}


def test_every_way_to_give_an_attribute(tmp_path):
    scores, kind = two({"x": (12, 0.1), "y": (15, -0.1)})
    rows = [{"query_id": q, "kind": value} for q, value in kind.items()]
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = polars.DataFrame(rows)
    by_query = {query: {"kind": value} for query, value in kind.items()}
    column = Queries({}).with_column("kind", kind)
    given = [by_query, column, rows, path, str(path), frame, frame.to_pandas(), frame.to_arrow()]
    tables = [
        compare(scores, slice_by="kind", queries=one, statistics=Statistics(samples=200)).slices.to_dict()
        for one in given
    ]
    assert all(table == tables[0] for table in tables)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("of_others", "no-slice-values"),
        ("nothing", "no-slice-values"),
        ("knd", "no-slice-values"),
        ("length", "slice-needs-input"),
        ("judged", "slice-needs-input"),
        ("relevant", "slice-needs-input"),
        ("own", "too-many-slices"),
    ],
)
def test_bad_attributes(name, code):
    scores, kind = two({"x": (60, 0.1)})
    known = {query: {"kind": value, "own": query, "nothing": None} for query, value in kind.items()}
    with raises_code(InputError, code):
        compare(scores, slice_by=name, queries={**known, "zzz": {"of_others": 1}})


def test_a_misspelled_attribute_is_named():
    scores, kind = two({"x": (60, 0.1)})
    with raises_code(InputError, "no-slice-values", match=r"Did you mean kind\?"):
        compare(scores, slice_by="knd", queries={query: {"kind": value} for query, value in kind.items()})


def test_functions_of_a_query_are_no_attributes():
    with raises_code(InputError, "wrong-type", match="a mapping from query ids to values"):
        Queries({}).with_column("kind", str)


def test_damaged_metadata_names_the_line(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"query": "q0", "kind": 1}\n{oops\n')
    scores, _ = two({"x": (20, 0.1)})
    with pytest.raises(InputError, match=r"m\.jsonl:2"):
        compare(scores, slice_by=["kind"], queries=path)


def test_flips_are_drawn_once_for_all_measures_and_slices(monkeypatch):
    """The work is that of each slice's own queries: over all slices of an attribute, that of the whole once."""
    from goldrank.comparison import slices

    seen = []

    def counted(blocks, units, *args, **options):
        seen.append((units, sum(block.rows.size for block in blocks)))
        return flip_blocks(blocks, units, *args, **options)

    flip_blocks = slices.flip_blocks
    monkeypatch.setattr(slices, "flip_blocks", counted)
    rng = np.random.default_rng(9)
    queries = [f"q{i}" for i in range(60)]
    qrels = {query: {f"d{j}": int(rng.integers(0, 3)) for j in range(8)} for query in queries}
    runs = {run: {query: {f"d{j}": float(rng.random()) for j in range(8)} for query in queries} for run in "abc"}
    kinds = {query: "xyz"[i % 3] for i, query in enumerate(queries)}
    found = compare(
        qrels,
        runs,
        ["nDCG@3", "P@1", "AP"],
        slice_by=["kind"],
        queries=Queries({}).with_column("kind", kinds),
        statistics=Statistics(samples=300),
    )
    assert len(found.slices.differences) == 27
    ((units, numbers),) = seen
    assert units == 60
    assert numbers <= 60 * 9


def scores_of(run, values):
    queries = tuple(f"q{number}" for number in range(len(values)))
    return Scores(run, queries, {"AP": Column("AP", np.array(values), float(np.mean(values)), "mean")})


def test_slices_are_a_mapping_by_attribute_and_value():
    """The queries of `short` are the first six: there b is better by 0.1, elsewhere worse by 0.1."""
    values = [0.5] * 6 + [0.6] * 6
    changed = [0.6] * 6 + [0.5] * 6
    one, other = scores_of("a", values), scores_of("b", changed)
    kind = {query: "short" if number < 6 else "long" for number, query in enumerate(one.queries)}
    result = compare([one, other], slice_by="kind", queries=Queries({}).with_column("kind", kind))
    (measure,) = result.measures

    assert list(result.slices) == ["kind"]
    assert set(result.slices["kind"]) == {"short", "long"}
    short = result.slices["kind"]["short"]
    assert (short.n, short.means[measure]["b"]) == (6, pytest.approx(0.6))
    assert short[measure, "a", "b"].difference == pytest.approx(0.1)
    assert short[measure] == (short[measure, "a", "b"],)
    assert result.slices["kind"]["long"][measure, "a", "b"].difference == pytest.approx(-0.1)
    assert "\n" not in repr(result.slices)
    assert pickle.loads(pickle.dumps(result)) == result
    with raises_code(NotMeasuredError, "no-such-pair"):
        short[measure, "b", "a"]


def test_without_slices_the_mapping_is_empty():
    one, other = scores_of("a", [0.1, 0.2]), scores_of("b", [0.2, 0.2])
    assert dict(compare([one, other]).slices) == {}
