"""`compare` as a whole: alignment, determinism, words, bad input."""

import json
import math

import numpy as np
import pytest
from raising import raises_code
from scipy import stats

import goldrank
from goldrank import Queries, Runs, ScoresByRun, Statistics, compare, evaluate
from goldrank.base.errors import GoldrankError, InputError, MeasureError, MismatchError, NotMeasuredError, OptionError
from goldrank.base.notes import Note
from goldrank.data.scores import Column, Scores


def scores(run, values, queries=None, measure="AP", average="mean"):
    values = np.array(values, float)
    names = tuple(queries or [f"q{i}" for i in range(len(values))])
    return Scores(run, names, {measure: Column(measure, values, float(values.mean()), average)})


def test_differences_and_counts_by_hand():
    pair = compare([scores("a", [0.1, 0.5, 0.5, 0.2]), scores("b", [0.3, 0.5, 0.4, 0.6])])["AP", "a", "b"]
    # Differences 0.2, 0, -0.1, 0.4: mean 0.125.
    assert pair.difference == pytest.approx(0.125)
    assert (pair.wins, pair.ties, pair.losses) == (2, 1, 1)
    # Three differ: of the 8 flips of 0.2, 0.1, 0.4 the sums +-0.7 and +-0.5 are as large as 0.5.
    assert pair.p_by_test["randomization"] == 4 / 8
    assert pair.exact


def test_p_values_are_those_of_scipy(data):
    qrels, runs = data
    result = compare(qrels, runs, ["nDCG@10", "AP"], baseline="bm25")
    for pair in result:
        a, b = (evaluate(qrels, runs[name], pair.measure).columns[pair.measure].values for name in (pair.a, pair.b))
        assert pair.p_by_test["t"] == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-9)
        assert pair.difference == pytest.approx((b - a).mean(), abs=1e-14)
        assert pair.mean_b == pytest.approx(b.mean(), abs=1e-14)


def test_aligned_by_query_id_whatever_the_order():
    first = scores("a", [0.1, 0.2, 0.9], ["x", "y", "z"])
    second = scores("b", [0.9, 0.1, 0.2], ["z", "x", "y"])
    pair = compare([first, second])["AP", "a", "b"]
    assert pair.verdict == "same"
    assert pair.ties == 3


def test_different_query_sets_are_compared_on_what_they_share_and_counted():
    first = scores("a", [0.1, 0.2, 0.9, 0.9], ["x", "y", "z", "only a"])
    second = scores("b", [0.3, 0.1], ["z", "x"])
    result = compare([first, second])
    assert set(result.queries) == {"x", "z"}
    assert result.notes == (Note.of("common-queries", count=2, all="all systems", sizes="a 4, b 2"),)
    with pytest.raises(MismatchError, match="a 4, b 2; 2 in common"):
        compare(ScoresByRun([first, second], queries="same"))
    with raises_code(MismatchError, "no-common-queries"):
        compare([first, scores("b", [0.3], ["other"])])


def test_simpson_reversal_of_unequal_query_sets_is_told():
    # On shared queries b wins (0.2 > 0.1), over their own queries a does: (0.1 + 0.9) / 2 > 0.2.
    result = compare([scores("a", [0.1, 0.9], ["x", "y"]), scores("b", [0.2], ["x"])])
    assert Note.of("simpson", measure="AP", ahead="a", behind="b") in result.notes


@pytest.mark.parametrize(
    ("of_a", "of_b"),
    [
        ([0.2, 0.9], [0.2]),  # the means of the shared query are equal
        ([0.1, 0.3], [0.2]),  # the means of their own queries are
    ],
)
def test_equal_means_are_no_reversal(of_a, of_b):
    result = compare([scores("a", of_a, ["x", "y"]), scores("b", of_b, ["x"])])
    assert "simpson" not in [note.code for note in result.notes]


def test_same_seed_same_numbers_other_seed_others(data):
    qrels, runs = data
    one, again, other = (
        compare(qrels, runs, "nDCG@10", statistics=Statistics(seed=seed, samples=1000)).to_json() for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_saved_scores_give_the_same_comparison(data, tmp_path):
    qrels, runs = data
    result = compare(qrels, runs, ["nDCG@10", "AP"], baseline="bm25", statistics=Statistics(unjudged="ignore"))
    paths = result.save_scores(tmp_path)
    again = compare([Scores.load(path) for path in paths], baseline="bm25", statistics=Statistics(unjudged="ignore"))
    assert again.to_json() == result.to_json()


def test_files_and_names(data, tmp_path):
    qrels, runs = data
    goldrank.read_qrels(qrels).save(tmp_path / "qrels.txt")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        goldrank.read_run(runs["dense"]).save(tmp_path / name / "run.txt")
    result = compare(tmp_path / "qrels.txt", [tmp_path / "one" / "run.txt", tmp_path / "two" / "run.txt"], "AP")
    assert len(set(result.runs)) == 2
    assert result.pairs[0].verdict == "same"


def test_baseline_compares_only_with_it(data):
    qrels, runs = data
    assert [(p.a, p.b) for p in compare(qrels, runs, "AP", baseline="dense")] == [
        ("dense", "bm25"),
        ("dense", "hybrid"),
    ]
    assert len(compare(qrels, runs, "AP")) == 3


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "tukey", "none"])
def test_corrections_never_lower_a_p_value_much(data, correction):
    qrels, runs = data
    for pair in compare(qrels, runs, ["nDCG@10", "AP"], statistics=Statistics(correction=correction, samples=500)):
        assert pair.p_adjusted >= pair.p_by_test["randomization"] - 0.03


def test_verdict_needs_size_and_chance():
    rng = np.random.default_rng(0)
    base = rng.random(100) / 2
    result = compare(
        [
            scores("base", base),
            scores("good", base + 0.1 + rng.normal(0, 0.05, 100)),
            scores("bad", base - 0.1 + rng.normal(0, 0.05, 100)),
            scores("close", base + rng.normal(0, 0.004, 100)),
            scores("noisy", base + rng.normal(0, 0.3, 100)),
            scores("copy", base),
        ],
        baseline="base",
        statistics=Statistics(margin=0.01),
    )
    verdicts = {pair.b: pair.verdict for pair in result}
    assert verdicts == {"good": "better", "bad": "worse", "close": "equivalent", "noisy": "unclear", "copy": "same"}
    for pair in result:
        assert "significant" not in pair.words
        if pair.verdict != "same":
            assert f"{pair.difference:+.4f} AP (95% interval {pair.interval.low:+.4f}" in pair.words
    assert result.best("AP") == ("good",)
    assert "a" in result.beats("AP", "good")


def test_lower_is_better_turns_the_verdict():
    low, high = (
        Scores(name, tuple(map(str, range(20))), {"M": Column("M", values, 0.0, "mean", higher_is_better=False)})
        for name, values in (("low", np.linspace(0, 0.1, 20)), ("high", np.linspace(0.5, 0.7, 20)))
    )
    pair = compare([high, low])["M", "high", "low"]
    assert (pair.verdict, pair.wins, pair.losses) == ("better", 20, 0)


def test_one_query_only():
    pair = compare([scores("a", [0.1]), scores("b", [0.9])])["AP", "a", "b"]
    assert pair.verdict == "unclear"
    assert pair.interval == (-1.0, 1.0)
    assert [note.code for note in pair.caveats] == ["too-few-differ"]
    assert "One query cannot show a difference" in pair.words


def test_constant_differences_and_all_zero_measures():
    pair = compare([scores("a", [0.1] * 10), scores("b", [0.2] * 10)])["AP", "a", "b"]
    assert pair.verdict == "better"
    assert pair.p_by_test["randomization"] == 2 / 2**10
    assert math.isnan(pair.effect)
    assert "effect" not in pair.words
    zero = compare([scores("a", [0.0] * 10), scores("b", [0.0] * 10)])
    assert zero.pairs[0].verdict == "same"
    assert zero.best("AP") == ()
    assert "null" in zero.to_json()
    assert json.loads(zero.to_json())["pairs"][0]["difference"] == 0


def test_more_than_26_systems():
    rng = np.random.default_rng(0)
    result = compare([scores(f"s{i}", rng.random(20)) for i in range(30)], statistics=Statistics(samples=200))
    assert len(result) == 30 * 29 // 2
    letters = list(result.letters.values())
    assert letters[25:28] == ["z", "aa", "ab"]
    assert len(set(letters)) == 30


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (lambda: compare([scores("a", [1])]), InputError, "too-few-systems"),
        (lambda: compare(scores("a", [1])), InputError, "too-few-systems"),
        (lambda: compare({"a": {"q": 1}}), InputError, "nothing-to-compare"),
        (lambda: compare([scores("a", [1]), {"q": 1}]), InputError, "mixed-systems"),
        (lambda: compare([scores("a", [1]), scores("a", [0])]), InputError, "duplicate-name"),
        (lambda: compare([scores("a", [1]), scores("b", [0])], baseline="c"), InputError, "unknown-system"),
        (lambda: compare([scores("a", [1]), scores("b", [0], measure="RR")]), InputError, "no-common-measures"),
        (lambda: compare([scores("a", [1]), scores("b", [np.nan])]), InputError, "no-values"),
        (lambda: compare({"q": {"d": 1}}, {"q": {"d": 1.0}}), InputError, "one-run"),
        (lambda: compare({"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}}), InputError, "too-few-systems"),
        (lambda: compare({"q": {"d": 1}}, "a.run"), InputError, "one-path"),
        (lambda: compare({"a": [scores("a", [1])], "b": [scores("b", [1])]}), InputError, "several-scores"),
        (lambda: compare([("a", scores("a", [1])), ("a", scores("b", [1]))]), InputError, "several-scores"),
        (lambda: compare({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["d"]}}, []), InputError, "no-measures"),
        (lambda: compare({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"z": ["d"]}}), MismatchError, "no-judged-query"),
    ],
)
def test_bad_input_has_its_code(call, error, code):
    with raises_code(error, code):
        call()


@pytest.mark.parametrize("option", [{"runs": {"r": {"q": ["d"]}}}, {"measures": "RR"}])
def test_what_has_no_meaning_for_scores_is_named(option):
    two = [scores("a", [1]), scores("b", [0])]
    for given in (two, ScoresByRun(two), {"a": two[0], "b": two[1]}, two[0]):
        with raises_code(InputError, "no-meaning-for-scores", match=f"{next(iter(option))} has no meaning"):
            compare(given, **option)


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"ties": "input"}, r"compare\(evaluate\(qrels, Runs\(runs\), ties=...\)\)"),
        ({"convention": "ranx"}, r"compare\(evaluate\(qrels, Runs\(runs\), convention=...\)\)"),
        ({"depth": 10}, r"compare\(evaluate\(qrels, Runs\(runs\), depth=...\)\)"),
        ({"catalogue": ["a"]}, r"compare\(evaluate\(qrels, Runs\(runs\), catalogue=...\)\)"),
        ({"correct": "holm"}, "It has: baseline"),
        ({"correction": "holm"}, r"statistics=Statistics\(correction=...\)"),
        ({"clusters": {"q": "c"}}, "queries="),
        ({"align": "error"}, r"ScoresByRun\(scores, queries='same'\)"),
        ({"documents": {"d": "text"}}, r"comparison.with_documents\(documents\)"),
    ],
)
def test_arguments_that_are_elsewhere_are_named(option, hint):
    with raises_code(OptionError, "unknown-argument", match=hint):
        compare([scores("a", [0.1]), scores("b", [0.3])], **option)


@pytest.mark.parametrize(
    "option",
    [
        {"test": "anova"},
        {"correction": "hom"},
        {"interval": "normal"},
        {"alpha": 0},
        {"alpha": float("nan")},
        {"power": 1},
        {"margin": -0.1},
        {"samples": 10},
        {"samples": 1e4},
        {"seed": -1},
        {"seed": 1.5},
        {"unjudged": "look"},
    ],
)
def test_bad_options_name_themselves(option):
    with pytest.raises(OptionError, match=next(iter(option))):
        Statistics(**option)


def test_statistics_are_no_dict():
    with raises_code(InputError, "wrong-type", match="statistics"):
        compare([scores("a", [0.1]), scores("b", [0.3])], statistics={"alpha": 0.01})


def test_scores_by_run_and_names_of_a_mapping(data):
    qrels, runs = data
    direct = compare(qrels, runs, ["AP", "RR"], statistics=Statistics(samples=200))
    scored = evaluate(qrels, Runs(runs), ["AP", "RR"])
    assert compare(scored, statistics=Statistics(samples=200)).pairs == direct.pairs
    same_name = [scores("run", [0.1, 0.5]), scores("run", [0.3, 0.2])]
    assert compare({"old": same_name[0], "new": same_name[1]}).runs == ("old", "new")


def test_runs_are_scored_by_evaluate_and_nothing_else(data):
    """`compare(qrels, runs, measures)` is `compare(evaluate(qrels, Runs(runs), measures))`, to the bit."""
    qrels, runs = data
    known = Queries({query: {"text": "some words", "kind": query[-1], "cluster": query[:4]} for query in qrels})
    asked = {"queries": known, "slice_by": ["kind", "relevant"], "statistics": Statistics(samples=200), "primary": "RR"}
    direct = compare(qrels, runs, ["AP", "RR", "Judged@10"], **asked)
    by_hand = compare(evaluate(qrels, Runs(runs), ["AP", "RR", "Judged@10"]), **asked)
    assert by_hand.to_json() == direct.to_json()
    assert by_hand.scores == direct.scores
    assert all(by_hand.values[m].tobytes() == direct.values[m].tobytes() for m in direct.measures)


def test_pairs_of_a_measure(data):
    qrels, runs = data
    result = compare(qrels, runs, ["AP", "RR"], statistics=Statistics(samples=200))
    assert [(pair.measure, pair.a, pair.b) for pair in result["map"]] == [
        ("AP", "bm25", "dense"),
        ("AP", "bm25", "hybrid"),
        ("AP", "dense", "hybrid"),
    ]
    assert result["RR"] == tuple(pair for pair in result if pair.measure == "RR")
    assert "AP" in result
    assert "map" in result
    assert "P@5" not in result
    with raises_code(MeasureError, "not-compared"):
        result["P@5"]
    with pytest.raises(KeyError, match="A pair is named by its measure and two systems"):
        result["AP", "bm25"]
    with raises_code(InputError, "several-pairs", match="there are 3 pairs"):
        result.pair  # noqa: B018


def test_the_pair_of_two_systems_is_that_of_the_primary_measure(data):
    qrels, runs = data
    two = {name: runs[name] for name in ("bm25", "dense")}
    result = compare(qrels, two, ["AP", "RR"], primary="RR", statistics=Statistics(samples=200))
    assert result.primary == "RR"
    assert result.pair is result["RR", "bm25", "dense"]
    assert isinstance(result.pair.p, float)
    assert result.pair.p == result.pair.p_by_test["randomization"]


def test_other_forms(data, tmp_path):
    qrels, runs = data
    result = compare(qrels, runs, ["AP", "RR"], statistics=Statistics(samples=200))
    frame = result.to_pandas()
    assert frame["difference"].tolist() == [pair.difference for pair in result]
    assert result.to_polars().columns == list(frame.columns)
    result.save(tmp_path / "comparison.json")
    assert (
        json.loads((tmp_path / "comparison.json").read_text())["pairs"][0]["difference"] == result.pairs[0].difference
    )
    html = compare([scores("<b>", [0.1, 0.5]), scores("b", [0.3, 0.2])])._repr_html_()
    assert "<th>p</th>" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_unknown_pairs_and_measures(data):
    qrels, runs = data
    result = compare(qrels, runs, "AP", baseline="bm25", statistics=Statistics(samples=200))
    assert result["map", "bm25", "dense"].measure == "AP"
    with raises_code(NotMeasuredError, "no-such-pair", match="there is no system 'nope'"):
        result["AP", "bm25", "nope"]
    with raises_code(NotMeasuredError, "no-such-pair", match="in the other order"):
        result["AP", "dense", "bm25"]
    with raises_code(MeasureError, "not-compared"):
        result["RR", "bm25", "dense"]


def test_queries_that_do_not_count_are_left_out_of_their_measure(data):
    qrels, runs = data
    qrels["q0000"] = dict.fromkeys(qrels["q0000"], 0)
    result = compare(evaluate(qrels, Runs(runs), ["AP", "Judged@10"], empty="skip"), statistics=Statistics(samples=200))
    assert result["AP", "bm25", "dense"].n == 39
    assert result["Judged@10", "bm25", "dense"].n == 40
    assert Note.of("partly-compared", measure="AP", count=39, queries=40) in result.notes


def test_geometric_and_summed_measures(data):
    qrels, runs = data
    result = compare(qrels, runs, ["GMAP", "NumRet"], statistics=Statistics(samples=200))
    pair = result["GMAP", "bm25", "dense"]
    shown = {run: result.summaries["GMAP", run].shown for run in ("bm25", "dense")}
    assert math.exp(pair.difference) == pytest.approx(shown["dense"] / shown["bm25"], rel=1e-9)
    assert Note.of("on-logarithm", measure="GMAP") in result.notes
    assert Note.of("mean-of-sum", measure="NumRet") in result.notes


def test_missing_queries_are_told(data):
    qrels, runs = data
    runs["dense"].pop("q0003")
    result = compare(qrels, runs, "AP", statistics=Statistics(samples=200))
    (note,) = [note for note in result.notes if note.code == "missing-queries"]
    assert (note.about, note.samples, note.fact("count"), note.fact("judged")) == ("dense", ("q0003",), 1, 40)


def test_all_errors_are_goldrank_errors():
    for error in (InputError, MismatchError, OptionError, MeasureError):
        assert issubclass(error, GoldrankError)


def test_import_stays_light():
    import subprocess
    import sys

    code = "import sys, goldrank.comparison; print('scipy' in sys.modules, 'polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_many_comparisons_can_still_find_a_difference():
    # 300 comparisons corrected by Bonferroni: 10,000 flips alone could not get below 300 / 10,001 = 0.03, and
    # 1,000 not below 0.3.
    rng = np.random.default_rng(0)
    base = rng.random(40) / 2
    systems = [scores(f"s{i}", base + rng.normal(0, 0.01, 40)) for i in range(24)]
    systems.append(scores("good", base + 0.3 + rng.normal(0, 0.01, 40)))
    result = compare(systems, statistics=Statistics(correction="bonferroni", samples=1_000))
    assert len(result) == 300
    assert result["AP", "s0", "good"].verdict == "better"


def test_prints_its_verdicts():
    result = compare([scores(f"s{i}\x1b[1m", [0.1 * i] * 8) for i in range(6)], statistics=Statistics(samples=200))
    text = repr(result)
    assert text == r"Comparison('s0\x1b[1m', 's1\x1b[1m', 's2\x1b[1m', ..., 8 queries, AP)"
    assert str(result).startswith(r"Best by AP: s5\x1b[1m.")
    assert "\x1b" not in str(result)


@pytest.mark.parametrize(
    "policy", [{"ties": "expected"}, {"ties": "bounds"}, {"bounds": "unjudged"}, {"ties": "input"}]
)
def test_policies_of_evaluate_hold(data, policy):
    from goldrank.report.show import render

    qrels, runs = data
    tied = {name: {q: {d: round(s) for d, s in row.items()} for q, row in run.items()} for name, run in runs.items()}
    result = compare(evaluate(qrels, Runs(tied), ["P@10", "nDCG@10"], **policy), statistics=Statistics(samples=200))
    assert result.summaries["P@10", "dense"].shown == evaluate(qrels, tied["dense"], "P@10", **policy)["P@10"]
    assert set(result.curves) == {"P", "IPrec"}
    assert "dense" in render(result, "html")
