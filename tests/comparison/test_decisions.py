"""What a comparison decides: families, primary measures, diagnostics, clusters, weights."""

import math

import numpy as np
import pytest
from raising import raises_code
from scipy import stats

from goldrank import Queries, ScoresByRun, Statistics, compare
from goldrank.base.errors import InputError, OptionError
from goldrank.base.notes import Note
from goldrank.comparison import flips, power
from goldrank.comparison.correction import adjust
from goldrank.comparison.intervals import difference_interval
from goldrank.comparison.pair import format_p, verdict_of
from goldrank.data.scores import Column, Scores
from goldrank.report.show import render

MEASURES = ("nDCG@10", "AP", "RR", "P@10")


def make(run, values, queries=None):
    """Scores of several measures: name -> values."""
    columns = {name: Column(name, np.asarray(v, float), float(np.mean(v)), "mean") for name, v in values.items()}
    n = len(next(iter(values.values())))
    return Scores(run, tuple(queries or (f"q{i:04d}" for i in range(n))), columns)


def only(systems, measure):
    """The same scores with one measure alone."""
    return [Scores(s.run, s.queries, {measure: s.columns[measure]}) for s in systems]


def alike(seed, n=60, effect=0.0, measures=MEASURES):
    """Two systems by measures that go together; b is better by `effect` standard deviations of 0.1."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.1, n)
    a = {name: np.full(n, 0.5) for name in measures}
    b = {name: np.clip(0.5 + shared * 0.9 + rng.normal(0, 0.04, n) + 0.1 * effect, 0, 1) for name in measures}
    return [make("a", a), make("b", b)]


# The family.


def test_rows_are_corrected_by_the_joint_maximum():
    scores = alike(1, effect=0.3)
    result = compare(scores)
    rows = np.array([scores[1].columns[m].values - scores[0].columns[m].values for m in MEASURES])
    family = flips.max_t(flips.flip(rows))
    assert [pair.p_adjusted for pair in result] == pytest.approx(family.adjusted.tolist())
    assert [pair.critical for pair in result] == pytest.approx([flips.t_of_u(family.critical, 60)] * 4)
    for pair, row in zip(result, rows, strict=True):
        assert pair.interval == pytest.approx(difference_interval(row, critical=pair.critical))
        assert pair.p_by_test["t"] == pytest.approx(stats.ttest_1samp(row, 0).pvalue)
    # Alike measures cost little: Holm over four asks for more.
    holm = adjust(np.array([pair.p_by_test["randomization"] for pair in result]), "holm")
    assert max(pair.p_adjusted for pair in result) < holm.max()


def test_one_row_is_not_corrected_and_has_the_plain_interval():
    scores = alike(2, effect=0.3, measures=("AP",))
    (pair,) = compare(scores)
    d = scores[1].columns["AP"].values - 0.5
    assert pair.p_adjusted == pair.p_by_test["randomization"]
    assert pair.interval == pytest.approx(difference_interval(d))
    assert not pair.at_most


def test_the_order_of_queries_changes_nothing():
    scores = alike(3, effect=0.3)
    order = np.random.default_rng(0).permutation(60)
    turned = [
        Scores(s.run, tuple(s.queries[i] for i in order),
               {m: Column(m, c.values[order], c.summary, "mean") for m, c in s.columns.items()})
        for s in scores
    ]  # fmt: skip
    one, other = compare(scores), compare(turned)
    assert [p.p_adjusted for p in one] == [p.p_adjusted for p in other]
    assert [p.p_by_test["randomization"] for p in one] == [p.p_by_test["randomization"] for p in other]


def test_rows_beyond_the_samples_are_told_apart_and_say_at_most():
    scores = alike(4, n=200, effect=1.0)
    strong = compare(scores, statistics=Statistics(samples=1_000))
    assert all(pair.at_most for pair in strong)
    assert all(0 < pair.p_adjusted <= 1e-3 for pair in strong)
    assert len({pair.p_by_test["randomization"] for pair in strong}) == 4
    assert all(f"p at most {pair.p_adjusted:.1g}" in pair.words for pair in strong)
    assert format_p(0.00004, at_most=True) == "at most 4e-05"


def test_power_is_that_of_the_corrected_test():
    scores = alike(5, effect=0.1)
    for pair in compare(scores):
        d = scores[1].columns[pair.measure].values - 0.5
        alpha = 2 * stats.t.sf(pair.critical, 59)
        expected = power.detectable_effect(60, 0.8, alpha) * d.std(ddof=1)
        assert pair.detectable == pytest.approx(expected)
        assert pair.detectable > 1.05 * power.detectable_effect(60) * d.std(ddof=1)
        u = flips.u_of_t(pair.critical, 60)
        assert pair.queries_needed == power.queries_needed(pair.effect, critical=u)


def test_power_of_a_corrected_comparison_is_what_it_says():
    """A difference as large as the detectable one is found about 80 % of the time: 300 rounds, 4 measures."""
    rng = np.random.default_rng(6)
    n, rounds, found = 50, 300, 0
    detectable = np.median(
        [compare(alike(seed, n), statistics=Statistics(samples=500)).pairs[0].detectable for seed in range(20)]
    )
    for _ in range(rounds):
        shared = rng.normal(0, 0.1, n) * 0.9
        rows = np.array([shared + rng.normal(0, 0.04, n) for _ in range(4)])
        rows[0] += detectable
        flipped = flips.flip(rows, samples=499)
        found += flips.max_t(flipped).adjusted[0] <= 0.05
    # Three standard errors of 300 rounds at 80 % are 7 points.
    assert 0.72 <= found / rounds <= 0.88


@pytest.mark.slow
def test_no_false_finding_more_than_alpha():
    """Three systems, five measures, nothing true: 80 rounds of 499 flips."""
    rng = np.random.default_rng(7)
    measures = (*MEASURES, "R@100")
    false = 0
    for _ in range(80):
        systems = []
        for name in "abc":
            shared = rng.normal(0.5, 0.1, 30)
            systems.append(make(name, {m: np.clip(shared + rng.normal(0, 0.05, 30), 0, 1) for m in measures}))
        false += any(
            pair.verdict in ("better", "worse") for pair in compare(systems, statistics=Statistics(samples=500))
        )
    # 5 % of 80 is 4; more than 10 happens once in 400.
    assert false <= 10


def test_equivalence_is_corrected():
    """Four rows on the margin: at most one report in twenty calls any of them equivalent."""
    rng = np.random.default_rng(8)
    false = uncorrected = 0
    at_half = make("a", {m: np.full(200, 0.5) for m in MEASURES})
    for _ in range(40):
        values = {m: np.clip(0.5 + rng.normal(0.05, 0.1, 200), 0, 1) for m in MEASURES}
        result = compare([at_half, make("b", values)], statistics=Statistics(margin=0.05, samples=500))
        false += any(pair.equivalence <= 0.05 for pair in result)
        plain = [stats.ttest_1samp(v - 0.5, 0.05, alternative="less").pvalue for v in values.values()]
        uncorrected += min(plain) <= 0.05
    # 5 % of 40 is 2; more than 6 happens once in 700.
    assert false <= 6
    assert uncorrected > false
    # The last report again, with flips that are drawn here.
    rows = np.array([v - 0.5 for v in values.values()])
    away = rows - rows.mean(axis=1, keepdims=True)
    signs = rng.choice([-1.0, 1.0], (200, 20_000))
    largest = (away @ signs / np.linalg.norm(away, axis=1)[:, None]).max(axis=0)
    for pair, row in zip(result, rows, strict=True):
        u = flips.u_of_t(power.equivalence_t(row, 0.05)[0], 200)
        assert pair.equivalence == pytest.approx((largest >= u).mean(), abs=0.06)
        assert pair.equivalence > stats.norm.sf(u)


def test_a_few_queries_without_a_difference_do_not_show_equivalence():
    """With two pseudo-queries of +1 and -1 beside ten of 0, t is 0.05 / sqrt(2 / 11 / 12) = 0.41, far from shown."""
    same = [make(name, {m: np.full(10, 0.5) for m in MEASURES}) for name in ("a", "b")]
    for pair in compare(same, statistics=Statistics(margin=0.05)):
        assert pair.equivalence > 0.2


def test_a_row_within_the_margin_is_equivalent():
    rng = np.random.default_rng(9)
    values = {m: 0.5 + rng.normal(0, 0.01, 400) for m in MEASURES}
    result = compare(
        [make("a", {m: np.full(400, 0.5) for m in MEASURES}), make("b", values)], statistics=Statistics(margin=0.05)
    )
    assert {pair.verdict for pair in result} == {"equivalent"}


@pytest.mark.parametrize("correction", ["max-t", "tukey"])
def test_corrections_that_permute_are_refused_for_other_tests(correction):
    with raises_code(OptionError, "options-conflict"):
        compare(alike(1), statistics=Statistics(test="t", correction=correction))
    assert Statistics(test="t").used_correction == "holm"
    assert Statistics().used_correction == "max-t"


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_other_corrections(correction):
    scores = alike(10, effect=0.2)
    result = compare(scores, statistics=Statistics(correction=correction, test="t"))
    raw = np.array([pair.p_by_test["t"] for pair in result])
    assert [pair.p_adjusted for pair in result] == pytest.approx(adjust(raw, correction).tolist())
    tests = 1 if correction == "none" else 4
    assert result.pairs[0].critical == pytest.approx(stats.t.ppf(1 - 0.025 / tests, 59))


def test_rows_found_by_stepping_down_have_intervals_that_leave_out_0():
    """The interval of all rows together reaches 0; the row was found after others, by a smaller critical value."""
    found = 0
    for seed in range(40):
        result = compare(alike(seed, n=25, effect=0.5), statistics=Statistics(samples=500))
        for pair in result:
            if pair.verdict == "better":
                assert 0 not in pair.interval
                reached = pair.difference - pair.critical * pair.difference / flips_t(result, pair)
                found += reached <= 0
    assert found


def flips_t(result, pair):
    """Student's t of a row."""
    values = result.values[pair.measure]
    d = (values[1] - values[0])[~np.isnan(values[0])]
    return d.mean() / (d.std(ddof=1) / math.sqrt(len(d)))


# Verdicts.


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"difference": 0.1, "adjusted": 0.01, "differing": 9}, "better"),
        ({"difference": -0.1, "adjusted": 0.05, "differing": 9}, "worse"),
        ({"difference": -0.1, "adjusted": 0.01, "differing": 9, "higher_is_better": False}, "better"),
        ({"difference": 0.1, "adjusted": 0.06, "differing": 9}, "unclear"),
        ({"difference": 0.1, "adjusted": 0.01, "differing": 9, "withheld": True}, "unclear"),
        ({"difference": 0.1, "adjusted": math.nan, "differing": 9}, "unclear"),
        ({"difference": 0.0, "adjusted": 0.01, "differing": 9}, "unclear"),
        ({"difference": 0.0, "adjusted": 1.0, "differing": 0}, "same"),
        ({"difference": 0.1, "adjusted": 0.5, "differing": 9, "equivalence": 0.01}, "equivalent"),
        ({"difference": 0.1, "adjusted": 0.5, "differing": 9, "equivalence": 0.01, "withheld": True}, "unclear"),
    ],
)
def test_a_verdict_is_a_function_of_numbers(numbers, expected):
    assert verdict_of(**numbers, alpha=0.05) == expected


def test_few_queries_are_told():
    five = compare([make("a", {"AP": [0.0] * 20}), make("b", {"AP": [0.5] * 5 + [0.0] * 15})]).pairs[0]
    assert [note.code for note in five.caveats] == ["too-few-differ"]
    assert "Only 5 of 20 queries differ: no test can decide." in five.words
    none = compare([make("a", {"AP": [0.5] * 20}), make("b", {"AP": [0.5] * 20})]).pairs[0]
    assert none.verdict == "same"
    # Twenty zeros, 1 and -1: golden case interval-difference-all-zero.
    assert none.interval.high == pytest.approx(0.1368285454)
    assert "a difference of up to 0.1368 either way cannot be excluded" in none.words


# Primary, secondary, diagnostic.


def test_the_primary_measure_is_a_family_of_its_own():
    scores = alike(11, effect=0.4)
    result = compare(scores, primary="ap")
    assert result.measures[0] == result.primary == "AP"
    first, *others = result
    assert (first.role, {pair.role for pair in others}) == ("primary", {"secondary"})
    assert first.p_adjusted == compare(only(scores, "AP")).pairs[0].p_adjusted
    rows = np.array([scores[1].columns[pair.measure].values - 0.5 for pair in others])
    assert [pair.p_adjusted for pair in others] == pytest.approx(flips.max_t(flips.flip(rows)).adjusted.tolist())


def test_secondary_measures_decide_only_with_the_primary_one():
    rng = np.random.default_rng(12)
    base = np.full(40, 0.5)
    up, none, down = base + 0.1 + rng.normal(0, 0.02, 40), base + rng.normal(0, 0.05, 40), base - 0.1
    a = make("a", {"AP": base, "RR": base, "P@10": base})
    undecided = compare([a, make("b", {"AP": none, "RR": up, "P@10": down})], primary="AP")
    assert [pair.verdict for pair in undecided] == ["unclear"] * 3
    assert [note.code for note in undecided["RR", "a", "b"].caveats] == ["primary-undecided"]
    decided = compare([a, make("b", {"AP": up, "RR": up, "P@10": down})], primary="AP")
    assert [pair.verdict for pair in decided] == ["better", "better", "unclear"]


def test_a_primary_measure_must_be_among_the_measures():
    with raises_code(OptionError, "not-compared"):
        compare(alike(1), primary="RBP")


def test_diagnostics_are_in_no_family_and_never_better():
    base = np.full(40, 0.5)
    up = base + np.linspace(0.05, 0.2, 40)
    systems = [
        make(name, {"Judged@10": values, "AP": values, "NumRet": values}) for name, values in (("a", base), ("b", up))
    ]
    result = compare(systems)
    assert result.measures == ("AP", "Judged@10", "NumRet")
    alone = compare(only(systems, "AP"))
    assert result["AP", "a", "b"].p_adjusted == alone["AP", "a", "b"].p_adjusted
    assert result["AP", "a", "b"].verdict == "better"
    for measure in ("Judged@10", "NumRet"):
        pair = result[measure, "a", "b"]
        assert (pair.verdict, pair.role) == ("diagnostic", "diagnostic")
        assert math.isnan(pair.p_adjusted)
        assert "better" not in pair.words.replace("no system is better by it", "")
        assert result.best(measure) == ()
        assert result.beats(measure, "b") == []
    with raises_code(OptionError, "diagnostic-measure"):
        compare(systems, primary="Judged@10")


def test_only_diagnostics():
    systems = [make(name, {"Judged@10": np.full(10, value)}) for name, value in (("a", 0.4), ("b", 0.6))]
    assert compare(systems).pairs[0].verdict == "diagnostic"


def test_measures_of_quality_are_no_diagnostics():
    from goldrank.measures.declare import REGISTRY

    named = {name for name, declared in REGISTRY.items() if declared.diagnostic}
    assert named == {"Judged", "Unjudged", "RBPresidual", "Hole", "NumQ", "NumRel", "NumRet", "NumPrefs"} | {
        *("AbstainAUROC", "AURC", "EAURC", "AUGRC"),  # of a whole, not of a question
        *("ItemCoverage", "Gini", "Entropy", "PopularityLift", "Personalisation", "ExposureParity", "ExposureShare"),
        "AveragePopularity",  # how popular what is recommended is; neither more nor less is better
    }


# Clusters and weights.


def paraphrases(seed, intents=20, each=5, effect=0.0):
    """Two systems on intents with paraphrases, whose differences go together."""
    rng = np.random.default_rng(seed)
    intent = np.repeat(np.arange(intents), each)
    d = rng.normal(0, 0.1, intents)[intent] + rng.normal(0, 0.05, intents * each) + effect
    queries = [f"q{i:04d}" for i in range(len(d))]
    scores = [make("a", {"AP": np.full(len(d), 0.5)}, queries), make("b", {"AP": np.clip(0.5 + d, 0, 1)}, queries)]
    return scores, {query: f"i{number}" for query, number in zip(queries, intent, strict=True)}


@pytest.mark.slow
def test_clusters_are_flipped_together_and_false_findings_stay_rare():
    together = alone = 0
    for seed in range(150):
        scores, cluster = paraphrases(seed)
        together += (
            compare(scores, queries=Queries({}).with_column("cluster", cluster), statistics=Statistics(samples=500))
            .pairs[0]
            .verdict
            != "unclear"
        )
        alone += compare(scores, statistics=Statistics(samples=500)).pairs[0].verdict != "unclear"
    # 5 % of 150 is 7.5; more than 16 happens once in 300. Without clusters about a third are false.
    assert together <= 16
    assert alone > 30


def test_clusters_by_hand():
    d = np.array([0.2, 0.0, 0.1, 0.1, -0.1, 0.3, 0.2, 0.0, 0.4, 0.1, 0.1, 0.3])
    scores = [make("a", {"AP": np.zeros(12)}), make("b", {"AP": np.abs(d)})]
    cluster = {f"q{i:04d}": i // 2 for i in range(12)}
    (pair,) = compare(scores, queries=Queries({}).with_column("cluster", cluster))
    # All six clusters are above 0: 2 of 2^6 flips.
    assert pair.p_by_test["randomization"] == 2 / 64
    assert {note.code for note in pair.caveats} == {"few-clusters", "few-differ"}
    assert pair.verdict == "better"
    assert pair.interval.low > 0
    sums = np.abs(d).reshape(6, 2).sum(axis=1)
    assert pair.p_by_test["t"] == pytest.approx(stats.ttest_1samp(sums, 0).pvalue)
    (few,) = compare(scores, queries=Queries({}).with_column("cluster", {f"q{i:04d}": i // 3 for i in range(12)}))
    assert few.verdict == "unclear"
    assert "too-few-clusters" in [note.code for note in few.caveats]


def test_every_query_its_own_cluster_changes_no_test():
    scores = alike(13, effect=0.3)
    own_cluster = {query: query for query in scores[0].queries}
    plain, own = compare(scores), compare(scores, queries=Queries({}).with_column("cluster", own_cluster))
    assert [p.p_adjusted for p in own] == [p.p_adjusted for p in plain]
    assert [p.difference for p in own] == pytest.approx([p.difference for p in plain])


def test_queries_without_a_cluster_stand_for_themselves():
    scores, cluster = paraphrases(1)
    del cluster["q0000"], cluster["q0001"]
    result = compare(scores, queries=Queries({}).with_column("cluster", cluster))
    (note,) = [note for note in result.notes if note.code == "unclustered-queries"]
    assert (note.fact("count"), result.design.words) == (2, "22 clusters of queries")
    with raises_code(InputError, "no-clusters"):
        compare(scores, queries=Queries({}).with_column("cluster", {"other": 1}))


def test_weights_by_hand():
    a, b = make("a", {"AP": [0.1, 0.2, 0.3, 0.4]}), make("b", {"AP": [0.2, 0.2, 0.5, 0.3]})
    result = compare(
        [a, b], queries=Queries({}).with_column("weight", {"q0000": 5, "q0001": 1, "q0002": 3, "q0003": 1})
    )
    (pair,) = result
    # (5 * 0.1 + 0 + 3 * 0.2 - 0.1) / 10, and a's mean (0.5 + 0.2 + 0.9 + 0.4) / 10.
    assert pair.difference == pytest.approx(0.1)
    assert (pair.mean_a, pair.mean_b) == pytest.approx((0.2, 0.3))
    assert result.summaries["AP", "a"].shown == pytest.approx(0.2)
    # Weighted sums 0.5, 0.6, -0.1: of 8 flips 1.2 is passed by itself, and by no other but its mirror.. and 1.0.
    sums = [abs(x * 0.5 + y * 0.6 + z * 0.1) for x in (1, -1) for y in (1, -1) for z in (1, -1)]
    assert pair.p_by_test["randomization"] == sum(s >= 1.0 - 1e-9 for s in sums) / 8


def test_weights_say_as_how_many_queries_they_count():
    """Zipf's weights 1/1 to 1/1000: (sum 1/i)^2 / sum 1/i^2 = 7.4855^2 / 1.6439 = 34.1."""
    rng = np.random.default_rng(15)
    values = [rng.random(1000) for _ in range(2)]
    systems = [make(name, {"AP": v}) for name, v in zip("ab", values, strict=True)]
    weights = {f"q{i:04d}": 1 / (i + 1) for i in range(1000)}
    result = compare(systems, queries=Queries({}).with_column("weight", weights))
    assert "1,000 weighted queries count as 34 of the same weight" in [str(note) for note in result.notes]
    even = compare(systems, queries=Queries({}).with_column("weight", dict.fromkeys(weights, 2.0)))
    assert "1,000 weighted queries count as 1,000 of the same weight" in [str(note) for note in even.notes]


def test_equal_weights_change_nothing_and_scale_does_not_matter():
    scores = alike(14, effect=0.2)
    plain = compare(scores)
    for weight in (1e-9, 1.0, 1e9):
        weights = dict.fromkeys(scores[0].queries, weight)
        weighted = compare(scores, queries=Queries({}).with_column("weight", weights))
        assert [p.p_adjusted for p in weighted] == [p.p_adjusted for p in plain]
        assert [p.difference for p in weighted] == pytest.approx([p.difference for p in plain])


def test_queries_that_weigh_nothing_are_left_out():
    a, b = make("a", {"AP": [0.1, 0.2, 0.3, 0.4]}), make("b", {"AP": [0.9, 0.2, 0.5, 0.3]})
    result = compare(
        [a, b], queries=Queries({}).with_column("weight", {"q0000": 0, "q0001": 1, "q0002": 1, "q0003": 2})
    )
    (pair,) = result
    # (0 + 0.2 - 2 * 0.1) / 4 of the three that count.
    assert (pair.n, pair.wins, pair.ties, pair.losses) == (3, 1, 1, 1)
    assert pair.difference == pytest.approx(0.0)
    assert Note.of("weightless-queries", count=1, queries=4) in result.notes
    empty = [make(name, {"AP": [np.nan, 0.5]}) for name in "ab"]
    with raises_code(InputError, "weights-are-zero"):
        compare(empty, queries=Queries({}).with_column("weight", {"q0000": 1, "q0001": 0}))


@pytest.mark.parametrize("bad", [None, -1, math.nan, math.inf, "much", True])
def test_bad_weights(bad):
    scores = alike(1)
    weights = {query: bad if query == "q0003" else 1 for query in scores[0].queries}
    with pytest.raises(InputError, match="weight") as refused:
        compare(scores, queries=Queries({}).with_column("weight", weights))
    assert "q0003" in str(refused.value)


def test_weights_that_are_all_zero():
    scores = alike(1)
    with raises_code(InputError, "weights-are-zero"):
        compare(scores, queries=Queries({}).with_column("weight", dict.fromkeys(scores[0].queries, 0)))


def test_what_no_method_is_right_for_is_refused():
    scores, cluster = paraphrases(1)
    for more in ({"correction": "tukey"}, {"interval": "bounded"}):
        with raises_code(OptionError, "options-conflict"):
            compare(scores, queries=Queries({}).with_column("cluster", cluster), statistics=Statistics(**more))
    twice = ScoresByRun([("a", scores[0]), ("a", scores[0]), ("b", scores[1]), ("b", scores[1])])
    with raises_code(OptionError, "options-conflict"):
        compare(twice, queries=Queries({}).with_column("cluster", cluster))


# Texts and intervals.


def test_texts_without_judged_shares(data):
    qrels, runs = data
    texts = {q: "word " * (1 + i % 2) for i, q in enumerate(qrels)}
    result = compare(qrels, runs, "AP", queries=texts, statistics=Statistics(samples=200))
    assert {one.attribute for one in result.slices.slices} == {"relevant", "judged", "length"}
    assert result.texts == texts
    saved = [Scores.from_dict(scores.to_dict()) for scores in result.scores.values()]
    again = compare(saved, queries=texts, statistics=Statistics(samples=200))
    assert {one.attribute for one in again.slices.slices} == {"length"}

    for form in ("terminal", "markdown", "latex"):
        assert "Queries that differ most, AP" in render(result, form)
        assert "word word" in render(result, form)
    with raises_code(InputError, "no-texts"):
        compare(qrels, runs, "AP", queries={"other": "x"})


@pytest.mark.parametrize(("alpha", "level"), [(0.05, "95%"), (0.001, "99.9%"), (0.025, "97.5%"), (0.1, "90%")])
def test_the_confidence_is_not_rounded_up(alpha, level):
    """alpha = 0.001 was shown as a 100% interval, and 0.025 as one of 98%."""
    result = compare(alike(15, n=30, measures=("AP",)), statistics=Statistics(alpha=alpha))
    assert f"({level} interval" in result.pairs[0].words
    assert f"{level} interval" in render(result, "terminal")
    assert f"{level} interval" in render(result, "html")


def test_no_difference_above_the_scale_is_promised_to_be_found():
    """Three queries would find a difference of 1.6 in nDCG@10, said the sentence."""
    systems = [make(name, {"nDCG@10": values}) for name, values in (("a", [0.1, 0.2, 0.9]), ("b", [0.9, 0.1, 0.2]))]
    (pair,) = compare(systems, statistics=Statistics(test="t"))
    assert math.isnan(pair.detectable)
    assert "would be found" not in pair.words


def test_bounded_intervals():
    scores = alike(15, n=30, measures=("AP",))
    (plain,), (wide,) = compare(scores), compare(scores, statistics=Statistics(interval="bounded"))
    assert wide.interval.low < plain.interval.low
    assert plain.interval.high < wide.interval.high
    assert wide.verdict == plain.verdict


def test_measures_without_bounds_are_told():
    systems = [make(name, {"DCG@10": [1.0, 3.0, 2.0 + i, 7.0]}) for i, name in enumerate("ab")]
    result = compare(systems)
    assert Note.of("no-bounds", measures="DCG@10") in result.notes
    (pair,), notes = (found := compare(systems, statistics=Statistics(interval="bounded"))).pairs, found.notes
    assert math.isnan(pair.interval.low)
    assert Note.of("no-bounded-interval", measures="DCG@10") in notes
    values = np.array([1.0, 3.0, 2.0, 7.0])
    _, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert result.summaries["DCG@10", "a"].interval == pytest.approx((0.0, high))


def test_intervals_of_geometric_means_are_on_their_scale(data):
    qrels, runs = data
    summary = compare(qrels, runs, "GMAP", statistics=Statistics(samples=200)).summaries["GMAP", "bm25"]
    assert summary.shown_interval.low < summary.shown < summary.shown_interval.high
