"""Several runs of each system: a comparison tells systems from seeds."""

import numpy as np
import pytest
from golden_statistics import case
from raising import raises_code

import goldrank
from goldrank import Runs, ScoresByRun, Statistics, compare, evaluate
from goldrank.base.errors import InputError, OptionError
from goldrank.base.notes import Note
from goldrank.data.scores import Column, Scores


def make(run, values):
    """Scores of several measures: name -> values."""
    columns = {name: Column(name, np.asarray(v, float), float(np.mean(v)), "mean") for name, v in values.items()}
    n = len(next(iter(values.values())))
    return Scores(run, tuple(f"q{i:04d}" for i in range(n)), columns)


def replicates(seed, shift=0.02, runs=3, n=100, effect=0.0):
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.3, 0.7, n)

    def one(name, mean):
        return make(name, {"AP": np.clip(base + mean + rng.normal(0, shift) + rng.normal(0, 0.05, n), 0, 1)})

    return {"a": [one("a", 0.0) for _ in range(runs)], "b": [one("b", effect) for _ in range(runs)]}


def pairs(systems):
    """Names and what each of their runs is, as `Runs` and `ScoresByRun` take systems that were run several times."""
    return [(name, one) for name, several in systems.items() for one in several]


def compare_replicates(systems, **options):
    return compare(ScoresByRun(pairs(systems)), **options)


@pytest.mark.slow
def test_replicates_tell_systems_from_seeds():
    together = single = 0
    for seed in range(60):
        given = replicates(seed)
        together += compare_replicates(given).pairs[0].verdict in ("better", "worse")
        single += compare([given["a"][0], given["b"][0]], statistics=Statistics(samples=500)).pairs[0].verdict in (
            "better",
            "worse",
        )
    # 5 % of 60 is 3; more than 8 happens once in 300.
    assert together <= 8
    assert single > 18
    assert compare_replicates(replicates(1, effect=0.1)).pairs[0].verdict == "better"


def test_replicates_are_golden_through_compare():
    given, expected = case("replicates")
    systems = {name: [make(name, {"AP": run}) for run in given[name]] for name in "ab"}
    result = compare_replicates(systems)
    (pair,) = result
    assert pair.difference == pytest.approx(expected["mean"])
    assert pair.p_adjusted == pair.p == pair.p_by_test["t"] == pytest.approx(expected["p"])
    assert "t test over runs and queries" in result.method
    # d is that of the means of runs: the mean difference over the standard deviation of the queries' differences.
    differences = np.mean(given["b"], axis=0) - np.mean(given["a"], axis=0)
    assert pair.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    # Tests that know nothing of runs have no p-value that could be taken for the one that decides.
    assert {test for test, p in pair.p_by_test.items() if not np.isnan(p)} == {"t"}
    assert pair.row()["p_t"] == pair.p
    assert {name: len(runs) for name, runs in result.replicates.items()} == {"a": 3, "b": 4}


def test_runs_of_a_name_may_be_runs_or_files(data, tmp_path):
    qrels, runs = data
    for name, run in runs.items():
        goldrank.read_run(run).save(tmp_path / name)
    given = {"a": [runs["bm25"], runs["dense"]], "b": [runs["hybrid"], runs["dense"]]}
    one = compare(qrels, pairs(given), "AP")
    files = {"a": [tmp_path / "bm25", str(tmp_path / "dense")], "b": [str(tmp_path / "hybrid"), tmp_path / "dense"]}
    assert compare(qrels, pairs(files), "AP").pairs[0].p == one.pairs[0].p
    values = [evaluate(qrels, runs[name], "AP")["AP"] for name in ("bm25", "dense", "hybrid")]
    assert one.pairs[0].mean_a == pytest.approx((values[0] + values[1]) / 2)
    assert one.pairs[0].mean_b == pytest.approx((values[2] + values[1]) / 2)
    saved = one.save_scores(tmp_path / "saved")
    assert len(saved) == 4


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_may_stand_beside_several_runs(library, data):
    frames = pytest.importorskip(library)
    qrels, runs = data
    rows = [(query, doc, score) for query, docs in runs["hybrid"].items() for doc, score in docs.items()]
    columns = dict(zip(("query", "doc", "score"), map(list, zip(*rows, strict=True)), strict=True))
    several = [("a", runs["bm25"]), ("a", runs["dense"])]
    (pair,) = compare(qrels, [*several, ("b", frames.DataFrame(columns))], "AP")
    (same,) = compare(qrels, [*several, ("b", runs["hybrid"])], "AP")
    assert (pair.mean_a, pair.mean_b, pair.p) == (same.mean_a, same.mean_b, same.p)


def test_replicates_at_the_edge():
    mixed = replicates(2)
    result = compare_replicates({"a": mixed["a"], "b": mixed["b"][:1]})
    assert Note.of("single-runs", systems="b") in result.notes
    assert result.pairs[0].how != "replicates"
    one = compare_replicates(
        {"a": [make("a", {"AP": [0.5]}), make("a", {"AP": [0.4]})], "b": [make("b", {"AP": [0.6]})] * 2}
    )
    assert one.pairs[0].verdict == "unclear"
    same = compare_replicates({name: [make(name, {"AP": [0.5] * 20})] * 2 for name in "ab"}).pairs[0]
    assert same.verdict == "same"
    assert same.interval.high == pytest.approx(0.1368285454)


def test_equal_runs_say_no_more_than_one():
    """The mean of three equal runs has its own rounding, which is no variance: the interval was 0.0000 wide."""
    values = np.random.default_rng(3).random(40)
    several = {name: [make(name, {"AP": values})] * runs for name, runs in (("a", 3), ("b", 2))}
    (pair,) = compare_replicates(several)
    (once,) = compare([make("a", {"AP": values}), make("b", {"AP": values})])
    assert pair.verdict == once.verdict == "same"
    assert pair.interval == pytest.approx(once.interval)
    assert once.interval.high > 0.05
    # The same difference on every query: nothing varies, with several runs as with one.
    (pair,) = compare_replicates({"a": several["a"], "b": [make("b", {"AP": values - 0.05})] * 2})
    assert (pair.verdict, pair.difference) == ("worse", pytest.approx(-0.05))


def test_several_runs_have_no_bounded_interval():
    with raises_code(OptionError, "options-conflict"):
        compare_replicates(replicates(1), statistics=Statistics(interval="bounded"))


def test_lists_of_runs_by_name_are_refused_and_say_how(data):
    qrels, runs = data
    with raises_code(InputError, "several-scores", match=r"ScoresByRun\(\[\('dense', scores\)"):
        compare(replicates(1))
    for several in ([runs["bm25"], runs["dense"]], [goldrank.read_run(runs["bm25"])], ["a.run", "b.run"]):
        with raises_code(InputError, "list-of-runs", match=r"\[\('a', run\), \('a', other\)\]"):
            compare(qrels, {"a": several, "b": runs["hybrid"]}, "AP")


def test_names_of_replicates(data):
    qrels, runs = data
    given = Runs([("a", runs["bm25"]), ("b", runs["hybrid"]), ("a", runs["dense"])])
    assert given.names == ("a#1", "b", "a#2")
    assert given.systems == {"a": ("a#1", "a#2"), "b": ("b",)}
    scored = evaluate(qrels, given, "AP")
    assert tuple(scored) == ("a#1", "b", "a#2")
    assert scored.systems == given.systems
    assert compare(scored).runs == ("a", "b")
    with raises_code(InputError, "duplicate-name", match="a#1"):
        Runs([("a", runs["bm25"]), ("a", runs["dense"]), ("a#1", runs["hybrid"])])
