"""Measures that rank references by places: reference values, and every property that the definition promises."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from math import log2
from typing import Any

import numpy as np
import pytest
from lanes import many
from rag_cases import cases
from raising import raises_code

from goldrank import Matching, evaluate, evaluate_texts
from goldrank.base.errors import MeasureError
from goldrank.data.placements import Placements
from goldrank.measures import REGISTRY, parse
from goldrank.measures.apply import credited

Covers = Sequence[Sequence[int]]
"""For each text, the references that it covers."""

COVERAGE = cases("coverage")
BY_PLACES = (
    *("nDCG", "DCG", "nDCGrel", "Rndcg", "NCG", "AP", "GMAP", "IPrec", "IPrecAvg", "SetAP", "Rprec", "RprecMult"),
    *("R_cap", "Q", "GAP", "G", "BinG", "YAAP", "Compat"),
)


NOT_MONOTONE = ("Q",)
"""Measures that fall, with grades, where a relevant document moves up in a classical ranking too: Q's third term of
grades 3, 2, 1 at ranks 3, 4, 5 is worth more than the same grade at rank 2."""


def table(lists: Sequence[tuple[Covers, Sequence[float]]]) -> Placements:
    """The table of some questions: what each text covers, and the references' grades."""
    rows = []
    for q, (covers, grades) in enumerate(lists):
        rows += [(q, rank, at, float(grades[at])) for rank, held in enumerate(covers, 1) for at in held]
    start = np.cumsum([0, *(len(grades) for _, grades in lists)])
    query, rank, label, grade = (np.array(c) for c in zip(*rows, strict=True)) if rows else (np.zeros(0, int),) * 4
    judged = np.array([grade for _, grades in lists for grade in sorted(grades, reverse=True)], float)
    return Placements(
        queries=tuple(map(str, range(len(lists)))),
        retrieved=np.array([len(covers) for covers, _ in lists], int),
        answered=np.ones(len(lists), bool),
        judged_start=start,
        judged=judged,
        query=query.astype(int),
        rank=rank.astype(int),
        grade=grade.astype(float),
        tie_first=rank.astype(int),
        tie_last=rank.astype(int),
        label=(label + start[query.astype(int)]).astype(int),
        shared=True,
    )


def value(measure: str, covers: Covers, grades: Sequence[float], credit: str = "any") -> float:
    return float(credited(parse(measure), table([(covers, grades)]), credit)[0])


def random_case(rng: random.Random, graded: bool = True) -> tuple[list[list[int]], list[float]]:
    number = rng.randint(1, 5)
    covers = [sorted(rng.sample(range(number), rng.choice((0, 0, 1, 1, 2, 3)) % (number + 1)))
              for _ in range(rng.randint(0, 6))]  # fmt: skip
    return covers, [float(rng.choice((1, 1, 2, 3)) if graded else 1) for _ in range(number)]


@pytest.mark.parametrize("case", COVERAGE, ids=[case["id"] for case in COVERAGE])
def test_reference_values(case: dict[str, Any]) -> None:
    given, expected = case["inputs"], case["expected"]
    k = "" if given["k"] is None else f"@{given['k']}"
    depth = given["k"] or max(len(given["retrieved"]), 1)
    items = [{"id": "q", "retrieved": given["retrieved"], "references": given["references"]}]
    spelled = {
        "nDCG": f"nDCG{k}", "AP": f"AP{k}", "Rprec": "Rprec", "R": f"R{k}" if k else "SetR", "Cover": f"Cover{k}",
        "CoverAll": f"CoverAll@{depth}", "P": f"P{k}" if k else "SetP", "RR": f"RR{k}",
    }  # fmt: skip
    found = evaluate_texts(items, list(spelled.values()), matching=Matching(given["matcher"]))
    for name, measure in spelled.items():
        assert found[measure] == pytest.approx(expected[name], abs=1e-12), name
    for credit in ("one_to_one", "pairs"):
        asked = {name: spelled[name] for name in expected[credit]}
        by = evaluate_texts(items, list(asked.values()), matching=Matching(given["matcher"], credit=credit))
        assert {name: by[m] for name, m in asked.items()} == pytest.approx(expected[credit], abs=1e-12), credit


def test_each_measure_declares_what_it_reads() -> None:
    assert {name for name, one in REGISTRY.items() if one.texts == "places"} == set(BY_PLACES)
    references = {name for name, one in REGISTRY.items() if one.texts == "references" and one.over == "placements"}
    assert references == {"R", "SetR", "RecallAll", "NumRelRet"}
    for name in ("P", "RR", "Success", "RBP", "ERR"):
        assert REGISTRY[name].texts == "texts"


def test_all_in_one_text() -> None:
    """All of N at rank r: Rprec is (N - r + 1) / N, and nDCG that of texts at ranks r, r + 1, ..."""
    for n, r in itertools.product(range(1, 7), range(1, 7)):
        covers = [[]] * (r - 1) + [list(range(n))]
        assert value("Rprec", covers, [1] * n) == pytest.approx(max(n - r + 1, 0) / n)
        ideal = sum(1 / log2(i + 1) for i in range(1, n + 1))
        assert value("nDCG", covers, [1] * n) == pytest.approx(sum(1 / log2(r + i) for i in range(1, n + 1)) / ideal)


def ndcg_of(places: Sequence[int], grades: Sequence[float], all_grades: Sequence[float]) -> float:
    ideal = sum(g / log2(i + 1) for i, g in enumerate(sorted(all_grades, reverse=True), 1))
    return sum(g / log2(p + 1) for p, g in zip(places, grades, strict=True)) / ideal


@pytest.mark.parametrize("seed", range(60))
def test_no_other_schedule_is_better(seed: int) -> None:
    """Every assignment of covered references to different places, none above its text, is tried."""
    covers, grades = random_case(random.Random(seed))
    first = {j: next(r for r, held in enumerate(covers, 1) if j in held) for held in covers for j in held}
    most = max(first.values(), default=0) + len(first)
    best = max(
        ndcg_of(places, [grades[j] for j in first], grades)
        for places in itertools.permutations(range(1, most + 1), len(first))
        if all(place >= rank for place, rank in zip(places, first.values(), strict=True))
    )
    assert value("nDCG", covers, grades) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@2", "AP", "Rprec", "Q", "R_cap@3", "GAP", "BinG", "G"])
class TestProperties:
    """The rows of the table of properties, for measures that read places."""

    def test_one_only_if_nothing_is_missed(self, measure: str) -> None:
        """1 means that the first i texts cover at least i references, up to min(k, N): never behind a perfect list."""
        rng = random.Random(measure)
        k = parse(measure).k
        for _ in range(many(400)):
            covers, grades = random_case(rng, graded=False)
            found = value(measure, covers, grades)
            assert found <= 1 + 1e-12
            reach = len(grades) if k is None else min(int(k), len(grades))
            if measure == "R_cap@3":
                continue  # order within the first k does not matter to it
            covered = [len(set().union(*covers[:i])) for i in range(1, reach + 1)]
            perfect = all(have >= i for i, have in enumerate(covered, 1))
            assert (found >= 1 - 1e-12) == perfect, (covers, grades)

    def test_classical_for_one_to_one_pairs(self, measure: str) -> None:
        rng = random.Random(measure)
        for _ in range(many(100)):
            number = rng.randint(1, 5)
            grades = [rng.choice((1, 2, 3)) for _ in range(number)]
            texts = rng.sample(range(number + 4), rng.randint(0, number + 3))
            covers = [[j] if j < number else [] for j in texts]
            run = {"q": [f"d{j}" for j in texts]}
            classical = evaluate({"q": {f"d{j}": g for j, g in enumerate(grades)}}, run, measure, overlap="allow")
            assert value(measure, covers, grades) == pytest.approx(classical[measure], abs=1e-12)

    def test_covering_more_never_lowers(self, measure: str) -> None:
        rng = random.Random(measure)
        tried = 0
        for _ in range(many(300)):
            covers, grades = random_case(rng, graded=measure not in NOT_MONOTONE)
            if covers:
                tried += 1
                at = rng.randrange(len(covers))
                more = [*covers]
                more[at] = sorted({*covers[at], rng.randrange(len(grades))})
                assert value(measure, more, grades) >= value(measure, covers, grades) - 1e-12
        assert tried > many(300) // 3

    def test_a_text_added_at_the_end_never_lowers(self, measure: str) -> None:
        rng = random.Random(measure)
        for _ in range(many(300)):
            covers, grades = random_case(rng, graded=measure not in NOT_MONOTONE)
            more = [*covers, sorted(rng.sample(range(len(grades)), rng.randint(0, len(grades))))]
            assert value(measure, more, grades) >= value(measure, covers, grades) - 1e-12

    def test_a_useless_text_on_top_lowers(self, measure: str) -> None:
        rng = random.Random(measure)
        k = parse(measure).k or 99
        for _ in range(many(300)):
            covers, grades = random_case(rng, graded=measure not in NOT_MONOTONE)
            before, after = value(measure, covers, grades), value(measure, [[], *covers], grades)
            assert after <= before + 1e-12
            counts = any(covers[: int(k)]) and measure not in ("Rprec", "R_cap@3")
            assert not counts or after < before, (covers, grades)

    def test_more_covered_at_every_rank_is_never_lower(self, measure: str) -> None:
        """Dominance: every reference of the one list is covered no later than in the other."""
        rng = random.Random(measure)
        for _ in range(many(300)):
            covers, grades = random_case(rng, graded=measure not in NOT_MONOTONE)
            better: list[set[int]] = [set(held) for held in covers]
            for _ in range(3):
                if better:
                    at = rng.randrange(len(better))
                    up = rng.randrange(at + 1)
                    better[up] |= set(rng.sample(sorted(better[at]), rng.randint(0, len(better[at]))))
            assert value(measure, [sorted(held) for held in better], grades) >= value(measure, covers, grades) - 1e-12

    def test_moving_a_text_up_past_texts_that_add_no_more(self, measure: str) -> None:
        rng = random.Random(measure)
        tried = 0
        for _ in range(many(400)):
            covers, grades = random_case(rng, graded=False)
            if len(covers) < 2:
                continue
            at = rng.randrange(1, len(covers))
            above = set().union(*covers[: at - 1])
            moved, passed = (set(covers[i]) - above for i in (at, at - 1))
            if len(moved) >= len(passed):
                tried += 1
                swapped = [*covers[: at - 1], covers[at], covers[at - 1], *covers[at + 1 :]]
                assert value(measure, swapped, grades) >= value(measure, covers, grades) - 1e-12
        assert tried > many(300) // 3


def test_texts_after_k_change_nothing() -> None:
    rng = random.Random(7)
    for _ in range(many(300)):
        covers, grades = random_case(rng)
        for measure, credit in itertools.product(("nDCG@2", "P@2", "R@2", "AP@2", "R(rel=2)@2"),
                                                 ("any", "one_to_one", "first_free")):  # fmt: skip
            whole, cut = (value(measure, held, grades, credit) for held in (covers, covers[:2]))
            assert whole == pytest.approx(cut, abs=1e-12), (measure, credit)


def most_matched(covers: Covers) -> int:
    """The size of a maximum matching, by trying everything."""
    if not covers:
        return 0
    *above, last = covers
    rest = [most_matched([[j for j in held if j != taken] for held in above]) + 1 for taken in last]
    return max([most_matched(above), *rest])


def test_every_prefix_of_one_to_one_is_a_maximum_whatever_the_order() -> None:
    rng = random.Random(3)
    for _ in range(300):
        covers, grades = random_case(rng)
        order = rng.sample(range(len(grades)), len(grades))
        renamed = [[order[j] for j in held] for held in covers]
        for k in range(1, len(covers) + 1):
            most = most_matched(covers[:k])
            for held in (covers, renamed):
                assert value(f"R@{k}", held, [1] * len(grades), "one_to_one") == pytest.approx(most / len(grades))
                assert value(f"P@{k}", held, [1] * len(grades), "one_to_one") == pytest.approx(most / k)


def test_first_free_is_the_rule_that_depends_on_the_order() -> None:
    assert value("P@2", [[0, 1], [0]], [1, 1], "first_free") == 0.5
    assert value("P@2", [[0, 1], [0]], [1, 1], "one_to_one") == 1.0
    assert value("P@2", [[0, 1], [1]], [1, 1], "first_free") == 1.0


def test_many_texts_for_few_references_take_no_longer() -> None:
    """The search of a matching is not repeated from where it failed before."""
    covers = [list(range(many(300)))] * 2_000
    assert value("R@2000", covers, [1] * many(300), "one_to_one") == 1.0
    assert value("P@2000", covers, [1] * many(300), "one_to_one") == many(300) / 2_000


def test_pairs_have_no_ideal() -> None:
    items = [{"retrieved": ["one and two", "one again", "x"], "references": ["one", "two", "three"]}]
    assert evaluate_texts(items, "P@3", matching=Matching("contains", credit="pairs"))["P@3"] == pytest.approx(3 / 9)
    for measure in ("R@3", "nDCG", "AP", "RR", "Cover"):
        with raises_code(MeasureError, "no-meaning-for-pairs"):
            evaluate_texts(items, measure, matching=Matching("contains", credit="pairs"))


def test_a_relative_set_never_passes_one() -> None:
    assert value("SetP(relative=True)", [[0], [0], [0]], [1]) == 1.0
    assert value("SetP(relative=True)", [[0, 1, 2]], [1, 1, 1]) == 1.0
    # Utility counts texts that are returned and references that are missed.
    assert value("Utility(c=-10)", [[0, 1], []], [1, 1, 1]) == 1 - 1 - 10
