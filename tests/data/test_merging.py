"""Scores of shards merge into those of the whole, to the last bit."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import codes, words
from lanes import many
from raising import raises_code

from goldrank import AspectQrels, GoldrankError, Preferences, Scores, cli, evaluate, evaluate_texts
from goldrank.base.errors import InputError, OptionError
from goldrank.data.qrels import Qrels, shard_of
from goldrank.data.query_facts import to_plain
from goldrank.measures import REGISTRY

CUTS = {"none": "", "recall": "@0.5", "multiple": "@0.5"}


def every_measure(*over: str) -> list[str]:
    """Each registered measure that reads one of these tables, with a cut-off where it takes one."""
    found = [
        name + ("(tokens=9)" if one.takes_budget else "") + CUTS.get(one.cutoff, "@5")
        for name, one in REGISTRY.items()
        if one.over in over
        and one.wanted == "references"  # those of an answer need one, or a judge
        and not one.of_all_queries
        and name != "Sampled"  # it takes one positive among samples
    ]
    assert found
    return found


def test_every_measure_is_in_a_test_below() -> None:
    tables = {"placements", "heads", "aspects", "preferences", "texts", "spans", "recommended"}
    assert {one.over for one in REGISTRY.values()} == tables


def test_texts() -> None:
    """Values are those of the whole. Its mean is taken in the order of the items, the merged one in that of ids."""
    rng = random.Random(4)
    items = []
    for i in range(20):
        found = [
            {"text": word, "source": "s", "start": at, "end": at + 1, "score": rng.random()}
            for at, word in enumerate("abcde")
        ]
        rng.shuffle(found)
        evidence = [{"source": "s", "start": rng.randrange(3), "end": 4}]
        references = rng.sample("abcdexy", 3)
        items.append({"id": f"q{i}", "retrieved": found[:4], "references": references, "evidence": evidence})
    measures = [
        one for one in every_measure("texts", "spans") if not one.startswith(("SpanPrecisionOmega", "AbstainRight"))
    ]
    whole = evaluate_texts(items, [*measures, "nDCG@3"], matching="exact")
    parts = [evaluate_texts(part, [*measures, "nDCG@3"], matching="exact") for part in (items[:7], items[7:])]
    merged = Scores.merge(parts)
    assert merged.per_query == {
        name: {query: column[query] for query in sorted(column)} for name, column in whole.per_query.items()
    }
    assert merged.mean == pytest.approx(whole.mean, rel=1e-14)
    assert merged.counts == whole.counts
    shared = [note for note in whole.notes if note.code == "matching-share"]
    assert shared
    assert set(shared) <= set(merged.notes)


def test_measures_of_all_queries_together_cannot_be_merged() -> None:
    items = [{"id": f"q{i}", "retrieved": [("a", i / 9)], "references": ["a"]} for i in range(4)]
    parts = [evaluate_texts(part, "AURC", matching="exact") for part in (items[:2], items[2:])]
    with raises_code(GoldrankError, "all-queries-together"):
        Scores.merge(parts)


def made_up(seed: int, queries: int = 25) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgements and a run: some queries are missing, some not judged, some have nothing relevant; there are ties."""
    rng = random.Random(seed)
    names = [f"q{i}" for i in range(queries)] + ["ä", "é\u0301", "Z"]
    qrels = {q: {f"d{rng.randrange(30)}": rng.randrange(-1, 4) for _ in range(rng.randrange(1, 9))} for q in names}
    qrels["bare"] = {"d1": 0}
    run = {
        q: {f"d{doc}": rng.randrange(9) / 4 for doc in rng.sample(range(40), rng.randrange(1, 30))}
        for q in [*names, "bare", "not judged", "nor this"]
        if rng.random() < 0.9
    }
    return qrels, run


def same(one: Scores, other: Scores) -> None:
    assert one.queries == other.queries
    assert one.measures == other.measures
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column.values, other.columns[name].values)
        assert column.summary == other.columns[name].summary or np.isnan([column.summary, other[name]]).all(), name
        assert (column.average, column.higher_is_better) == (
            other.columns[name].average,
            other.columns[name].higher_is_better,
        )
    assert to_plain(one.query_facts) == to_plain(other.query_facts)
    assert one.counts == other.counts
    assert one.convention == other.convention
    assert {k: (b.why, b.summary) for k, b in one.bounds.items()} == {
        k: (b.why, b.summary) for k, b in other.bounds.items()
    }


@pytest.mark.parametrize(
    "policies",
    [{}, {"missing": "skip"}, {"empty": "nan"}, {"empty": "skip"}, {"depth": 5}, {"convention": "trec_eval-9"}],
    ids=str,
)
def test_random_splits_merge_exactly(policies: dict[str, object]) -> None:
    """Every registered measure, with its own way of summing up, over parts of the judgements drawn at random."""
    measures = every_measure("placements")
    for seed in range(many(4, 1)):
        rng = random.Random(seed)
        qrels, run = made_up(seed)
        whole = evaluate(qrels, run, measures, **policies)
        parts: list[list[str]] = [[] for _ in range(rng.randrange(2, 5))]
        for query in rng.sample(sorted(qrels), len(qrels)):
            rng.choice(parts).append(query)
        # What is not judged belongs to one part, or it would be counted several times.
        others = [query for query in run if query not in qrels]
        shards = [
            evaluate(
                {q: qrels[q] for q in part},
                {q: run[q] for q in [*part, *(others if i == 0 else [])] if q in run},
                measures,
                overlap="allow",
                **policies,
            )
            for i, part in enumerate(filter(None, parts))
        ]
        rng.shuffle(shards)
        merged = Scores.merge(shards)
        same(merged, evaluate(qrels, run, measures, overlap="allow", **policies))
        assert merged.mean.keys() == whole.mean.keys()


@pytest.mark.parametrize("table", ["aspects", "preferences"])
def test_aspects_and_preferences_merge_exactly(table: str) -> None:
    measures = every_measure(table)
    for seed in range(4):
        rng = random.Random(seed)
        _, run = made_up(seed)
        queries = sorted(run)
        rows = sorted({(q, str(a), f"d{rng.randrange(40)}") for q in queries for a in (1, 2) for _ in range(5)})
        graded = [(*row, rng.randrange(3)) for row in rows]

        def scores(
            some: list[str], run: dict[str, dict[str, float]] = run, graded: list[tuple[str, str, str, int]] = graded
        ) -> Scores:
            columns = [[_raw(row[i]) for row in graded if row[0] in some] for i in range(4)]
            where = "row {}".format
            if table == "aspects":
                judged = AspectQrels.from_rows(*columns, name="qrels", where=where)
            else:
                one = [b"0"] * len(columns[0])
                judged = Preferences.from_rows(
                    columns[0], columns[1], one, columns[2], list(map(float, columns[3])), name="qrels", where=where
                )
            return evaluate(judged, {q: run[q] for q in some}, measures, overlap="allow")

        same(Scores.merge([scores(queries[1::2]), scores(queries[::2])]), scores(queries))


def _raw(value: str | int) -> bytes | int:
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("of", [1, 2, 5])
def test_shards_by_hash_merge_exactly(of: int, tmp_path: Path) -> None:
    """Each sees the whole run and takes its own queries; missing and unjudged ones are in one shard each."""
    qrels, run = made_up(9)
    lines = "".join(f"{q} Q0 {d} - {s} t\n" for q, row in run.items() for d, s in row.items())
    (tmp_path / "run").write_text(lines.replace("not judged", "not-judged").replace("nor this", "nor-this"))
    for given in (run, tmp_path / "run"):
        for bounds in ({}, {"bounds": "unjudged"}, {"ties": "bounds"}):
            measures = ["AP", "nDCG@10"] if bounds else every_measure("placements", "heads")
            whole = evaluate(qrels, given, measures, **bounds)
            shards = [evaluate(Qrels(qrels).shard(i, of), given, measures, **bounds) for i in range(1, of + 1)]
            same(Scores.merge(shards), whole)
            assert whole.counts["missing"]
            assert whole.counts["unjudged_queries"] == 2
            assert whole.counts["missing"] == sum(one.counts["missing"] for one in shards)


def test_merged_by_hand() -> None:
    # RR: q1 1/2, q2 1/1; their mean 3/4. NumRet is a sum: 2 + 1. GMAP: exp of the mean of logs of 1/2 and 1.
    one = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, ["RR", "NumRet", "GMAP"])
    two = evaluate({"q2": {"b": 1}}, {"q2": ["b"]}, ["RR", "NumRet", "GMAP"])
    merged = Scores.merge([two, one])
    assert merged.queries == ("q1", "q2")
    assert merged["RR"] == 0.75
    assert merged.per_query["RR"] == {"q1": 0.5, "q2": 1.0}
    assert merged["NumRet"] == 3
    assert merged["GMAP"] == pytest.approx(0.5**0.5)
    assert merged.counts["queries"] == 2
    assert words(merged)[0] == "merged from 2 shards"
    # Two of three returned documents are judged.
    assert "66.7% of the returned documents are judged" in words(merged)
    assert len(merged.provenance["shards"]) == 2
    assert merged.provenance["run"]["sha256"] not in (one.provenance["run"]["sha256"], two.provenance["run"]["sha256"])


def refused(shards: list[Scores]) -> str:
    with pytest.raises(GoldrankError) as caught:
        Scores.merge(shards)
    return str(caught.value)


def test_what_does_not_merge() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q1": ["a"], "q2": ["b"]}
    one = evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "RR")
    assert "no scores to merge" in refused([])
    said = refused([evaluate(qrels, {"q1": ["a"]}, "RR"), evaluate(qrels, {"q2": ["b"]}, "RR")])
    assert "queries are in more than one shard: 'q1', 'q2' in shard 1 ('run') and shard 2 ('run')" in said
    assert "--shard 1/8" in said
    holes = [evaluate({q: qrels[q]}, run, "Hole@5") for q in qrels]
    assert "Hole@5 depends on the judgements of all queries" in refused(holes)
    assert "measures differ: RR in shard 1 ('run'), AP in shard 2" in refused([one, evaluate(qrels, run, "AP")])
    other = evaluate({"q2": qrels["q2"]}, run, "RR", missing="skip")
    assert "conventions differ: " in refused([one, other])
    assert "missing=skip" in refused([one, other]) or "skip" in refused([one, other])
    assert "depths differ: None in shard 1 ('run'), 5" in refused([one, evaluate({"q2": {"b": 1}}, run, "RR", depth=5)])
    judged = Qrels({"q2": {"b": 1}}, criteria="on topic")
    assert "criteria of the judgements differ: None in" in refused([one, evaluate(judged, run, "RR")])


def test_shards_that_are_missing_are_named() -> None:
    qrels, run = made_up(1)
    judged = Qrels(qrels)
    parts = [evaluate(judged.shard(i, 3), run, "RR") for i in (1, 2, 3)]
    assert "shards are missing: 2 of 3" in refused([parts[0], parts[2]])
    other = evaluate(judged.shard(1, 4), run, "RR")
    assert "numbers of shards differ: 3 in shard 1 ('run'), 4 in shard 2" in refused([parts[0], other])
    elsewhere = evaluate(Qrels({**qrels, "q1": {"d1": 3}}).shard(2, 3), run, "RR")
    assert "judgements differ: " in refused([parts[0], elsewhere, parts[2]])
    for number, of, name in ((0, 3, "number"), (4, 3, "number"), ("x", 3, "number"), (-1, 3, "number"), (1, 0, "of")):
        with pytest.raises(OptionError, match=f"^{name} is "):
            judged.shard(number, of)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["dict", "file"])
def test_a_shard_without_queries_is_a_shard(form: str, tmp_path: Path) -> None:
    """Whoever scores eight shards in a loop does not know which of them have a query."""
    judged = Qrels({"q1": {"a": 1}, "q2": {"a": 1, "b": 2}})
    run: Any = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    if form == "file":
        lines = [f"{query} Q0 {doc} 1 {score} t\n" for query, docs in run.items() for doc, score in docs.items()]
        (tmp_path / "run").write_text("".join(lines))
        run = tmp_path / "run"
    measures = ["RR", "nDCG@10", "GMAP", "NumRel"]
    shards = [evaluate(judged.shard(i, 8), run, measures) for i in range(1, 9)]

    filled = {shard_of(query, 8) for query in (b"q1", b"q2")}
    for number, shard in enumerate(shards, 1):
        assert bool(shard.queries) == (number in filled)
        if number not in filled:
            assert math.isnan(shard["RR"]), "the mean of no values"
            assert shard["NumRel"] == 0
            assert codes(shard) == ["empty-shard"]
            shard.save(tmp_path / "saved.json")
            assert not Scores.load(tmp_path / "saved.json").queries

    merged, whole = Scores.merge(shards), evaluate(judged, run, measures)
    same(merged, whole)
    assert merged["RR"] == (0.5 + 1) / 2
    assert "empty-shard" not in codes(merged)
    assert "nothing-returned" not in codes(merged)


def test_judgements_without_queries_are_no_shard() -> None:
    with raises_code(InputError, "empty-input"):
        evaluate({}, {"q1": {"a": 1.0}}, "RR")


def test_empty_shards_at_the_prompt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "r").write_text("q1 Q0 a 1 1 t\nq2 Q0 b 1 2 t\nq2 Q0 a 2 1 t\n")
    names = [str(tmp_path / f"{i}.json") for i in range(1, 9)]
    for number, name in enumerate(names, 1):
        arguments = [str(tmp_path / "q"), str(tmp_path / "r"), "-m", "RR", "--shard", f"{number}/8", "-o", name]
        assert cli.run(["eval", *arguments]) == 0
    capsys.readouterr()
    assert cli.run(["eval", *names]) == 0
    assert "0.7500" in capsys.readouterr().out


def test_notes_of_shards_are_kept() -> None:
    one = evaluate({"q1": {"a": 1}, "q9": {"a": 1}}, {"q1": ["a", "x"]}, "RR")
    high = evaluate({"q2": {"b": 5000}}, {"q2": ["b"]}, "RR")
    merged = Scores.merge([one, high], run="both")
    assert merged.run == "both"
    assert "1 of 3 judged queries are not in the run, counted as 0: 'q9'" in words(merged)
    assert "shard 2 ('run'): qrels: the highest grade is 5,000: is the grade column right?" in words(merged)
    assert "without-missing" in codes(one)
    assert "without-missing" not in codes(merged)
    kept = set(codes(one)) | set(codes(high))
    assert kept - set(codes(merged)) == {"without-missing"}


def test_command(tmp_path: Path) -> None:
    qrels, run = made_up(2)
    (tmp_path / "q").write_text("".join(f"{q} 0 {d} {g}\n" for q, row in qrels.items() for d, g in row.items()))
    lines = (f"{q.replace(' ', '-')} Q0 {d} - {s} t\n" for q, row in run.items() for d, s in row.items())
    (tmp_path / "r").write_text("".join(lines))
    for i in (1, 2, 3):
        command = ["eval", f"{tmp_path}/q", f"{tmp_path}/r", "--shard", f"{i}/3", "-o", f"{tmp_path}/{i}.json"]
        assert CliRunner().invoke(cli.group, command).exit_code == 0
    files = [f"{tmp_path}/{i}.json" for i in (3, 1, 2)]
    done = CliRunner().invoke(cli.group, ["eval", *files, "-o", f"{tmp_path}/all.json"])
    assert done.exit_code == 0
    assert "merged from 3 shards" in done.output
    same(Scores.load(tmp_path / "all.json"), evaluate(tmp_path / "q", tmp_path / "r"))
    assert cli.run(["eval", files[0], f"{tmp_path}/q"]) == 2
    assert cli.run(["eval", files[0], files[0]]) == 2
