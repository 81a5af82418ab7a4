"""What unjudged documents could change between two systems, against every single way to judge them."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from golden_statistics import case
from lanes import many
from random_measures import PLAIN, random_measure

from goldrank import Catalogue, Qrels, Run, Runs, Scores, Statistics, compare, evaluate
from goldrank.comparison import unjudged
from goldrank.comparison.holes import ALL_WAYS_UP_TO, HoleFinder, PairHoles, System, wanted_depth
from goldrank.conventions import Convention
from goldrank.evaluation import pipeline
from goldrank.measures import REGISTRY, Measure, parse
from goldrank.measures.unjudged_share import hole_rule

RULES = Convention(overlap="allow")

Grades = dict[str, int]


def finder(qrels: dict[str, Grades], runs: list[dict[str, list[str]]], measures: list[Measure]) -> HoleFinder:
    judged = Qrels(qrels)
    ranked = [{query: {doc: -float(i) for i, doc in enumerate(row)} for query, row in run.items()} for run in runs]
    placed = [pipeline.place(judged, Run(run), RULES) for run in ranked]
    depth = wanted_depth(measures, [one.placements for one in placed])
    return HoleFinder([System(one.placements, one.top_documents(depth), depth) for one in placed])


def pair_of(measure: Measure, grades: Grades, a: list[str], b: list[str], factor: float = 1.0) -> PairHoles:
    found = finder({"q": grades}, [{"q": a}, {"q": b}], [measure]).pair(measure, 0, 1, factor)
    assert found is not None
    return found


def values_of(measure: Measure, cases: list[tuple[Grades, list[str]]]) -> np.ndarray:
    """The measure's value for each pair of judgements and ranking."""
    names = [f"{i:06}" for i in range(len(cases))]
    run = {name: {doc: -float(i) for i, doc in enumerate(row)} for name, (_, row) in zip(names, cases, strict=True)}
    placed = pipeline.place(
        Qrels({name: grades for name, (grades, _) in zip(names, cases, strict=True)}), Run(run), RULES
    )
    return measure(placed.placements)


def by_all_ways(measure: Measure, grades: Grades, a: list[str], b: list[str], factor: float = 1.0) -> np.ndarray:
    """The difference for every way to judge the holes as 0 or the highest grade, the same in both rankings."""
    looks_beyond = any(measure.option(key) == value for key, value in measure.declaration.holes_unless.items())
    reach = measure.k if isinstance(measure.k, int) and not looks_beyond else 10**9
    level = measure.option("rel")
    top = max([1 if level is None else max(level, 1), *grades.values()])
    holes = sorted({doc for doc in [*a[:reach], *b[:reach]] if grades.get(doc, -1) < 0})
    ways = [
        {**grades, **dict.fromkeys(filled, top)}
        for size in range(len(holes) + 1)
        for filled in itertools.combinations(holes, size)
    ]
    return values_of(measure, [(way, b) for way in ways]) - factor * values_of(measure, [(way, a) for way in ways])


@pytest.mark.parametrize("name", ["holes-P", "holes-nDCG", "holes-RR", "holes-AP"])
def test_golden(name: str) -> None:
    given, wanted = case(name)
    measure = parse(given["measure"])
    found = pair_of(measure, given["grades"], given["a"], given["b"])
    after, before = values_of(measure, [(given["grades"], given["b"]), (given["grades"], given["a"])])
    assert after - before == pytest.approx(wanted["observed"], abs=1e-11)
    assert (found.low[0], found.high[0]) == pytest.approx((wanted["low"], wanted["high"]), abs=1e-11)
    assert not found.at_most.any()


def test_condensed_by_hand() -> None:
    """Without x, y and z the rankings are a b and a b: no difference, though P@2 was 1/2 against 1/2 of other ones."""
    found = pair_of(parse("nDCG@2"), {"a": 2, "b": 1}, ["x", "a", "b"], ["a", "y", "z", "b"])
    assert found.condensed.tolist() == [0.0]
    found = pair_of(parse("P@2"), {"a": 1, "b": 1, "c": 0}, ["x", "a", "c", "b"], ["a", "b"])
    assert found.condensed.tolist() == [0.5]  # a c against a b


def random_case(rng: random.Random) -> tuple[Grades, list[str], list[str]]:
    docs = [f"d{i}" for i in range(rng.randint(2, 8))]
    judged = rng.sample(docs, rng.randint(1, len(docs) - 1))
    grades = {doc: rng.choice((-1, 0, 0, 1, 2, 3)) for doc in judged} | {"missed": rng.choice((0, 1, 3))}
    return grades, rng.sample(docs, rng.randint(1, len(docs))), rng.sample(docs, rng.randint(1, len(docs)))


QUICK = [name for name in PLAIN if REGISTRY[name].holes != "any"]


@pytest.mark.parametrize("name", QUICK)
def test_declared_rules_are_exact(name: str) -> None:
    """Whoever declares a measure linear, or first, finds here whether it is, with all of its options."""
    rng = random.Random(name)
    for _ in range(many(40)):
        compare_with_all_ways(random_measure(rng, REGISTRY[name]), rng)


@pytest.mark.parametrize("name", ["AP", "AP@3", "Rprec", "Bpref", "ERR@4", 'nDCG(ideal="retrieved")@3', "F@2"])
def test_any_other_measure_by_all_ways(name: str) -> None:
    measure = parse(name)
    assert hole_rule(measure) == "any"
    for seed in range(many(10)):
        compare_with_all_ways(measure, random.Random(f"{name}{seed}"))


def compare_with_all_ways(measure: Measure, rng: random.Random) -> None:
    """Several queries at once, each against every way to judge its holes."""
    if measure.option("judged_only"):
        return  # there are no holes to it
    cases = {f"q{i}": random_case(rng) for i in range(5)}
    if measure.option("negative") == "keep":  # pooled documents are losses to it
        cases = {q: ({doc: max(g, 0) for doc, g in grades.items()}, a, b) for q, (grades, a, b) in cases.items()}
    factor = rng.choice((1.0, 0.95, 0.0))
    qrels = {query: grades for query, (grades, _, _) in cases.items()}
    runs = [{query: case[side] for query, case in cases.items()} for side in (1, 2)]
    found = finder(qrels, runs, [measure]).pair(measure, 0, 1, factor)
    assert found is not None
    assert not found.at_most.any()
    for i, (query, (grades, a, b)) in enumerate(cases.items()):
        ways = by_all_ways(measure, grades, a, b, factor)
        assert found.low[i] == pytest.approx(ways.min(), abs=1e-12), (measure, grades, a, b)
        assert found.high[i] == pytest.approx(ways.max(), abs=1e-12), (measure, grades, a, b)
        alone = {found.doc[row]: found.move[row] for row in np.flatnonzero(found.query == i).tolist()}
        for doc, move in alone.items():
            top = max([1, *grades.values(), measure.option("rel") or 1])
            judged = {**grades, doc: top}
            after, before, old_after, old_before = values_of(
                measure, [(judged, b), (judged, a), (grades, b), (grades, a)]
            )
            assert move == pytest.approx(after - factor * before - (old_after - factor * old_before), abs=1e-12), query


@pytest.mark.parametrize("name", ["AP", "ERR@14", "Bpref"])
def test_many_holes_are_at_most(name: str) -> None:
    """Wider than what can be, never narrower; 13 holes are 8,192 ways, of which some are tried here."""
    rng = random.Random(1)
    measure = parse(name)
    for _ in range(5):
        docs = [f"x{i}" for i in range(ALL_WAYS_UP_TO + 1)]
        a, b = (rng.sample([*docs, "a", "b"], len(docs) + 2) for _ in range(2))
        grades = {"a": 1, "b": 2, "c": 1}
        found = pair_of(measure, grades, a, b)
        assert found.at_most.all()
        ways = [{**grades, **dict.fromkeys(rng.sample(docs, rng.randint(0, len(docs))), 2)} for _ in range(40)]
        apart = values_of(measure, [(way, b) for way in ways]) - values_of(measure, [(way, a) for way in ways])
        assert found.low[0] - 1e-12 <= apart.min()
        assert apart.max() <= found.high[0] + 1e-12


def test_documents_of_unknown_name_are_at_most() -> None:
    """A system of which fewer documents are known than the measure looks at: the same document in both is not seen."""
    qrels = {"q": {"a": 1}}
    runs = [{"q": {"x": 3.0, "y": 2.0, "a": 1.0}}, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}]
    placed = [pipeline.place(Qrels(qrels), Run(run), RULES) for run in runs]
    known = HoleFinder([System(one.placements, one.top_documents(3), 3) for one in placed])
    both = zip(placed, (3, 1), strict=True)
    unknown = HoleFinder([System(one.placements, one.top_documents(depth), depth) for one, depth in both])
    measure = parse("P@3")
    exact, wide = known.pair(measure, 0, 1), unknown.pair(measure, 0, 1)
    assert exact is not None
    assert wide is not None
    assert (exact.low[0], exact.high[0], bool(exact.at_most[0])) == (0.0, 0.0, False)
    assert (wide.low[0], wide.high[0]) == pytest.approx((-2 / 3, 2 / 3))
    assert wide.at_most[0]


@pytest.mark.parametrize("name", ["Hole@3", "nDCG(judged_only=True)@3"])
def test_measures_without_holes_have_no_bounds(name: str) -> None:
    assert finder({"q": {"a": 1}}, [{"q": ["a"]}, {"q": ["x"]}], []).pair(parse(name), 0, 1) is None


def test_judge_first_by_hand() -> None:
    """P@2. Of judged documents at ranks 1 to 3, two relevant and one not: (2 + 1) / (3 + 2) = 0.6 is the chance.

    x is second in b alone: it would move the difference by 1/2. y is within reach of both and moves nothing.
    z counts against b: -1/2, in a query that weighs three times as much.
    """
    qrels = {"p": {"a": 1, "b": 0}, "q": {"c": 1}}
    runs: list[dict[str, Any]] = [{"p": ["a", "y"], "q": ["z", "c"]}, {"p": ["y", "x", "b"], "q": ["v", "w"]}]
    measure = parse("P@2")
    found = finder(qrels, runs, [measure]).pair(measure, 0, 1)
    assert found is not None
    first = found.judge_first(np.array([1.0, 3.0]), 10)
    assert [(one.query, one.doc, one.before, one.after) for one in first] == [
        ("q", "z", 1, None), ("q", "v", None, 1), ("q", "w", None, 2), ("p", "x", None, 2),
    ]  # fmt: skip
    assert [one.move for one in first] == [-0.5, 0.5, 0.5, 0.5]
    assert {one.chance for one in first} == {0.6}


@pytest.mark.slow
def test_seven_thousand_queries() -> None:
    rng = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(7_000)]
    qrels = {query: {f"d{i}": int(i % 3) for i in rng.choice(30, 6, replace=False)} for query in queries}
    runs = [{query: [f"d{i}" for i in rng.permutation(30)[:10]] for query in queries} for _ in range(2)]
    measures = [parse("nDCG@10"), parse("RR@10"), parse("P@10")]
    known = finder(qrels, runs, measures)
    for measure in measures:
        found = known.pair(measure, 0, 1)
        assert found is not None
        assert (found.high > found.low).any()


@pytest.mark.parametrize("name", ["P@3", "nDCG@4", "AP", "RR", "R@3"])
def test_bounds_of_systems_and_of_their_difference_come_from_the_same_worlds(name: str) -> None:
    """Each system's bounds hold its value under every judgement of what either of them returned, and no wider ones."""
    measure = parse(name)
    rng = random.Random(name)
    for _ in range(many(30, 6)):
        grades, a, b = random_case(rng)
        grades = {doc: max(0, grade) for doc, grade in grades.items()}
        found = pair_of(measure, grades, a, b)
        first, second = found.each_system
        of_a, of_b = (by_all_ways(measure, grades, *rankings) for rankings in ((b, a, 0.0), (a, b, 0.0)))
        assert (first.low[0], first.high[0]) == pytest.approx((of_a.min(), of_a.max()), abs=1e-12)
        assert (second.low[0], second.high[0]) == pytest.approx((of_b.min(), of_b.max()), abs=1e-12)
        assert second.low[0] - first.high[0] <= found.low[0] + 1e-12
        assert found.high[0] <= second.high[0] - first.low[0] + 1e-12


def test_queries_without_a_relevant_document_are_judged_last() -> None:
    """nDCG@2 of q would move by 1, that of p by less; but nothing says that q has anything to find."""
    qrels = {"p": {"a": 2, "b": 1, "c": 0}, "q": {"d": 0, "e": 0}}
    runs: list[dict[str, Any]] = [{"p": ["a", "b"], "q": ["d", "e"]}, {"p": ["x", "a"], "q": ["y", "d"]}]
    measure = parse("nDCG@2")
    found = finder(qrels, runs, [measure]).pair(measure, 0, 1)
    assert found is not None
    moves = {found.doc[i]: abs(move) for i, move in enumerate(found.move)}
    assert moves["y"] > moves["x"]
    assert [one.doc for one in found.judge_first(np.ones(2), 10)] == ["x", "y"]


def test_documents_that_could_turn_a_verdict_are_judged_first() -> None:
    """B is ahead by P@2: what only A has counts against that, and comes first, although it is worth no more."""
    qrels = {"p": {"a": 1, "b": 1, "c": 0}}
    runs: list[dict[str, Any]] = [{"p": ["c", "y"]}, {"p": ["x", "a"]}]
    measure = parse("P@2")
    found = finder(qrels, runs, [measure]).pair(measure, 0, 1)
    assert found is not None
    assert [one.doc for one in found.judge_first(np.ones(1), 10)] == ["x", "y"]
    assert [one.doc for one in found.judge_first(np.ones(1), 10, found.observed.sum())] == ["y", "x"]
    assert found.fewest_to_turn(np.ones(1)) == 1


# What it means for the verdicts of a comparison.

QUERIES = [f"q{i:02d}" for i in range(30)]
QRELS = {query: {"a": 2, "b": 1, "c": 0} for query in QUERIES}
RUNS = {
    "old": {query: ["a", "b", "c"] for query in QUERIES},
    "pushed": {query: ["x", "y", "z", "a", "b", "c"] for query in QUERIES},
    "turned": {query: ["c", "b", "a", "x"] for query in QUERIES},
    "both": {query: ["x", "c", "b", "a"] for query in QUERIES},
}
"""Below three unjudged documents the same ranking; a worse order of judged ones; both."""


@pytest.mark.parametrize("measure", ["nDCG@10", "RR", "AP", "P@2"])
def test_unjudged_documents_on_top_make_no_system_worse(measure: str) -> None:
    runs = {name: RUNS[name] for name in ("old", "pushed")}
    (pair,) = compare(QRELS, runs, measure)
    assert (pair.verdict, pair.withheld) == ("unclear", True)
    assert pair.p < 0.05
    assert math.isnan(pair.p_adjusted)  # no p-value of a verdict stands beside a word that is none
    assert "p =" not in pair.words
    assert "p <" not in pair.words
    (note,) = [note for note in pair.caveats if note.code == "unjudged-decide"]
    assert note.samples[0].split(" for ")[0] in ("x", "y", "z")
    assert "unjudged documents could decide this; judge first: " in pair.words.lower()
    assert pair.word == "judge first"
    assert pair.short_words.startswith("Judge first: ")
    assert math.isnan(pair.probability)
    (told,) = compare(QRELS, runs, measure, statistics=Statistics(unjudged="ignore"))
    assert told.verdict == "worse"
    # Fresh scores know their documents too; saved ones do not, and the comparison says so.
    scores = evaluate(QRELS, Runs(runs), measure)
    (again,) = compare(scores)
    assert again.verdict == "unclear"
    saved = {name: Scores.from_dict(one.to_dict()) for name, one in scores.items()}
    assert "holes-not-looked-at" in {note.code for note in compare(saved).notes}


def test_verdicts_that_stand_say_how_surely() -> None:
    """One hole at the end turns nothing; one on top only if it is relevant for most queries."""
    result = compare(QRELS, {name: RUNS[name] for name in ("old", "turned", "both")}, "nDCG@10", baseline="old")
    for name, code in (("turned", "judging-cannot-change"), ("both", "only-extreme-judgements")):
        pair = result["nDCG@10", "old", name]
        assert pair.verdict == "worse"
        assert code in {note.code for note in pair.caveats}


def test_secondary_measures_wait_with_the_primary_one() -> None:
    """RR could be turned; nDCG@10 could not, as judged documents are in a worse order, but it only follows.

    nDCG@10 falls by (1 / log2(3) + 2 / log2(5)) / (2 + 1 / log2(3)) - 1 = -0.43, and by -0.24 without x.
    """
    runs = {"old": RUNS["old"], "new": {query: ["x", "b", "c", "a"] for query in QUERIES}}
    assert compare(QRELS, runs, "nDCG@10").pairs[0].verdict == "worse"
    result = compare(QRELS, runs, ["RR", "nDCG@10"], primary="RR")
    assert {pair.verdict for pair in result} == {"unclear"}


def test_everything_judged_says_nothing() -> None:
    runs = {"old": RUNS["old"], "new": {query: ["c", "b", "a"] for query in QUERIES}}
    (pair,) = compare(QRELS, runs, "nDCG@10")
    assert pair.verdict == "worse"
    assert not {note.code for note in pair.caveats} & {"judging-cannot-change", "unjudged-decide"}


def test_beyond_the_limit_only_systems_of_named_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of documents are most of the work: with many rows, those of three rows' systems are enough to name some."""
    monkeypatch.setattr(unjudged, "MOST_BOUNDED", 0)
    asked: list[str] = []
    top_documents = pipeline.Placed.top_documents

    def counted(self: pipeline.Placed, depth: int) -> object:
        asked.append(self.run.name)
        return top_documents(self, depth)

    monkeypatch.setattr(pipeline.Placed, "top_documents", counted)
    alike = {f"alike{i}": RUNS["old"] for i in range(4)}
    result = compare(QRELS, {**alike, "pushed": RUNS["pushed"]}, "RR")
    assert sorted(asked) == ["alike0", "alike1", "alike2", "pushed"]
    rows = [result["RR", name, "pushed"] for name in alike]
    assert [pair.withheld for pair in rows] == [True] * 4
    # The fourth row is open as well, and names no document.
    assert [pair.judge_first[0].doc if pair.judge_first else None for pair in rows] == ["x", "x", "x", None]
    assert {pair.judge_first[0].after for pair in rows[:3]} == {1}


# Judgements of relevant documents alone.


def test_judgements_of_relevant_documents_alone_decide() -> None:
    """Without judged documents that are not relevant, condensed lists have every relevant document first.

    That left +0.37 RR@10 on 6,980 queries undecided.
    """
    queries = [f"q{i}" for i in range(200)]
    qrels = {query: {"a": 1} for query in queries}
    runs = {
        "old": {query: ["x", "y", "z", "a"] for query in queries},
        "new": {query: ["x", "a"] if i % 4 else ["y", "z", "v", "w", "a"] for i, query in enumerate(queries)},
    }
    result = compare(qrels, runs, "RR@10")
    # 150 queries go from 1/4 to 1/2, 50 to 1/5.
    assert result.pair.difference == pytest.approx((150 * 0.25 - 50 * 0.05) / 200)
    assert (result.pair.verdict, result.pair.word) == ("better", "better")
    assert [note.code for note in result.notes].count("unjudged-positives-only") == 1
    assert not result.pair.could_be_turned


def test_with_a_catalogue_what_nobody_judged_is_not_relevant() -> None:
    runs = {name: RUNS[name] for name in ("old", "pushed")}
    scores = evaluate(QRELS, Runs(runs), "nDCG@10", catalogue=Catalogue(list("abcxyz")))
    result = compare(scores)
    assert result.pair.verdict == "worse"
    assert "unjudged-catalogue" in {note.code for note in result.notes}


# The half rule.


@pytest.mark.parametrize(("hidden", "verdict"), [(0, "worse"), (1, "worse"), (2, "unclear")])
def test_half_of_a_difference_must_be_left_without_unjudged_documents(hidden: int, verdict: str) -> None:
    """P@4 falls by 1/4 for a judged document that is not relevant, and by as much for each unjudged one before it."""
    old = ["a", "b", "d", "e"]
    new = ["c", *"xy"[:hidden], "a", "b", "d", "e"]
    qrels = {query: {"a": 1, "b": 1, "d": 1, "e": 1, "c": 0} for query in QUERIES}
    runs = {"old": dict.fromkeys(QUERIES, old), "new": dict.fromkeys(QUERIES, new)}
    (pair,) = compare(qrels, runs, "P@4")
    assert pair.difference == pytest.approx(-(1 + hidden) / 4)
    assert pair.verdict == verdict
    assert (pair.word == "judge first") == (verdict == "unclear")
    if verdict == "unclear":
        assert pair.unjudged is not None
        # Each query has x and y. With both relevant everywhere 1/4 is still missing.
        assert (pair.unjudged.documents, pair.unjudged.to_turn) == (60, None)
        assert (pair.unjudged.low, pair.unjudged.high) == pytest.approx((-0.75, -0.25))


def test_one_query_does_not_take_all_first_places_to_judge() -> None:
    """RR@10 by hand: in q0 each of ten unjudged documents moves more than any document of the others."""
    qrels: dict[str, Any] = {"q0": {"a": 1}, "none": {"n": 0}}
    first: dict[str, Any] = {"q0": ["z", "a"], "none": ["n"]}
    second: dict[str, Any] = {"q0": [f"u{i}" for i in range(10)], "none": [f"v{i}" for i in range(10)]}
    for i in range(1, 6):
        qrels[f"q{i}"] = {"a": 1, "b": 1, "c": 0}
        first[f"q{i}"] = ["a", "b", "c"]
        second[f"q{i}"] = ["c", "x", "a"]
    measure = parse("P@10")
    found = finder(qrels, [first, second], [measure]).pair(measure, 0, 1)
    assert found is not None
    to_judge = found.judge_first(np.array([1.0 if query != "q0" else 9.0 for query in found.queries]), 100)
    queries = [one.query for one in to_judge]
    assert queries[:3] == ["q0"] * 3
    assert set(queries[3:8]) == {f"q{i}" for i in range(1, 6)}
    assert set(queries[-10:]) == {"none"}
    assert len(to_judge) == len({(one.query, one.doc) for one in to_judge})
