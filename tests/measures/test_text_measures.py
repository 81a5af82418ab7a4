"""Measures of texts: values by hand, and what must hold whatever texts cover."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from lanes import many
from raising import raises_code
from text_cases import TEXTS, Letters, TextCase, item

from goldrank import AspectQrels, evaluate
from goldrank.base.errors import GoldrankError, InputError, MeasureError
from goldrank.data.passages import Passages
from goldrank.data.text_item import Reference, TextItem
from goldrank.match import place, place_items
from goldrank.measures import REGISTRY, parse
from goldrank.measures.apply import CREDITS, credited


def placed(items: list[TextItem]) -> Passages:
    return place_items(items, Letters(), count_tokens=len)[0]


def value(measure: str, table: Passages, credit: str = "any") -> np.ndarray:
    one = parse(measure)
    return one(table) if one.declaration.over == "texts" else credited(one, table.pairs, credit)


@pytest.mark.parametrize("case", TEXTS, ids=[f"{case.measure} of {case.ranking}, {case.credit}" for case in TEXTS])
def test_value(case: TextCase) -> None:
    # Company on both sides, so that a query never reads its neighbours' rows.
    before = TextItem("before", ["a", "b", "abc"], [Reference(("a",))], confidence=0.1)
    others = [before, TextItem("after", ["x"], [])]
    table = placed([others[0], item(case), others[1]])
    assert value(case.measure, table, case.credit)[1] == pytest.approx(case.value, abs=1e-15, nan_ok=True), case.why


def random_items(rng: random.Random, size: int) -> list[TextItem]:
    letters = "abcde"
    found = []
    for q in range(size):
        texts = ["".join(rng.sample(letters + "xyz.", rng.randint(0, 4))) or " " for _ in range(rng.randint(0, 7))]
        references = []
        for _ in range(rng.randint(0, 4)):
            alternatives = tuple(rng.sample(letters, rng.choice((1, 1, 2))))
            references.append(Reference(alternatives, rng.choice((1, 1, 2))))
        found.append(TextItem(f"q{q}", texts, references))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_those_of_a_plain_loop(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    items = random_items(rng, rng.randint(1, 12))
    expected = []
    for q, one in enumerate(items):
        for rank, text in enumerate(one.retrieved, 1):
            for number, reference in enumerate(dict.fromkeys(one.references)):
                if text.strip() and any(wanted in text for wanted in reference.texts):
                    expected.append((q, rank, number, reference.grade))
    for batch in (1, 3, 2_000):
        monkeypatch.setattr("goldrank.match.pairs.BATCH", batch)
        table = placed(items)
        pairs = table.pairs
        assert pairs.label is not None
        number = pairs.label - pairs.judged_start[pairs.query]
        rows = zip(*(c.tolist() for c in (pairs.query, pairs.rank, number, pairs.grade)), strict=True)
        assert list(rows) == expected
        assert pairs.retrieved.tolist() == [len(one.retrieved) for one in items]
        assert pairs.lengths is not None
        assert pairs.lengths.tokens.tolist() == [len(text) for one in items for text in one.retrieved]
        for q, one in enumerate(items):
            grades = pairs.judged[pairs.judged_start[q] : pairs.judged_start[q + 1]].tolist()
            assert grades == sorted((r.grade for r in dict.fromkeys(one.references)), reverse=True)
        assert table.repeated.tolist() == [
            text in one.retrieved[:at] for one in items for at, text in enumerate(one.retrieved)
        ]


def test_every_pair_is_tested_once() -> None:
    asked: list[tuple[str, str]] = []

    class Counting(Letters):
        def degrees(self, retrieved, references, left, right):  # type: ignore[no-untyped-def]
            pairs = zip(left.tolist(), right.tolist(), strict=True)
            asked.extend((retrieved[i], references[j]) for i, j in pairs)
            return super().degrees(retrieved, references, left, right)

    same = TextItem("q", ["a", "b", "a"], [Reference(("a",)), Reference(("b",)), Reference(("a",))])
    place_items([same, replace(same, query="q2")], Counting())
    assert sorted(asked) == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]


PLAIN = [name for name, one in REGISTRY.items() if one.over == "placements" and one.texts != "meaningless"]


@pytest.mark.parametrize("name", PLAIN)
def test_credits_agree_where_each_text_has_its_own_reference(name: str) -> None:
    """If no text covers two references and no reference is covered twice, it does not matter who is credited."""
    rng = random.Random(name)
    cut = {"none": "", "optional": "@3", "needed": "@3", "recall": "@0.5", "multiple": "@1.0"}
    measure = parse(name + cut[REGISTRY[name].cutoff])
    items = []
    for q in range(30):
        letters = rng.sample("abcdexyz", rng.randint(1, 6))
        items.append(TextItem(f"q{q}", letters, [Reference((one,)) for one in rng.sample("abcde", rng.randint(1, 5))]))
    pairs = placed(items).pairs
    plain = measure(pairs.every_row)
    for credit in ("any", "one_to_one", "first_free"):
        assert credited(measure, pairs, credit) == pytest.approx(plain, abs=1e-12, nan_ok=True), credit


@pytest.mark.parametrize("name", PLAIN)
def test_values_stay_within_bounds(name: str) -> None:
    rng = random.Random(name)
    cut = {"none": "", "optional": "@3", "needed": "@3", "recall": "@0.5", "multiple": "@1.0"}
    measure = parse(name + cut[REGISTRY[name].cutoff])
    for _ in range(many(20, 4)):
        pairs = placed(random_items(rng, 8)).pairs
        for credit in CREDITS:
            if credit == "pairs" and measure.declaration.pairs is None:
                continue
            found = credited(measure, pairs, credit)
            found = found[~np.isnan(found)]
            assert (found >= measure.declaration.low - 1e-12).all()
            assert (found <= measure.declaration.high + 1e-12).all()


@pytest.mark.parametrize("measure", ["AP", "nDCG", "Cover@3", "R@3", "RR", "P@3", "Success@2"])
def test_a_text_that_covers_more_never_costs(measure: str) -> None:
    rng = random.Random(measure)
    for _ in range(200):
        (one,) = random_items(rng, 1)
        if not one.retrieved or not one.references:
            continue
        at = rng.randrange(len(one.retrieved))
        more = [*one.retrieved]
        more[at] += rng.choice("abcde")
        before, after = value(measure, placed([one, replace(one, query="r", retrieved=more)]))
        assert after >= before - 1e-12, (one, more)


def test_empty_texts_cover_nothing_and_are_counted() -> None:
    items = [
        TextItem("q1", ["", "  ", "a"], [Reference(("a",)), Reference(("",))]),
        TextItem("q2", [], [Reference((" ",))]),
    ]
    table, counts = place_items(items, Letters())
    assert table.pairs.rank.tolist() == [3]
    assert (counts.empty_retrieved, counts.empty_references, counts.no_references) == (2, 2, 1)
    assert counts.without_references == ["q2"]


def test_sentences() -> None:
    one = TextItem("q", ["a. b", "c"], [Reference(("b. c",), 2)])
    table, _ = place_items([one], Letters(), split=lambda text: text.split(". "))
    assert table.pairs.retrieved.tolist() == [3]
    assert table.pairs.judged.tolist() == [2, 2]
    assert table.pairs.rank.tolist() == [2, 3]


def test_alternatives_are_not_cut() -> None:
    one = TextItem("q", ["a"], [Reference(("a. b", "c"))], where="data.jsonl:7")
    with pytest.raises(InputError, match=r"data\.jsonl:7.*alternatives"):
        place_items([one], Letters(), split=lambda text: text.split(". "))


def test_no_questions() -> None:
    with raises_code(InputError, "empty-input"):
        place_items([], Letters())


def test_documents_have_no_budget_of_tokens() -> None:
    table = place([["a"]], [["a"]], lambda text, reference: text == reference)
    with raises_code(MeasureError, "texts-only"):
        parse("nDCG(tokens=5)")(table)
    with pytest.raises(GoldrankError):
        parse("nDCG(tokens=-1)")


DIVERSITY = [name for name, one in REGISTRY.items() if one.over == "aspects"]


@pytest.mark.parametrize("name", DIVERSITY)
def test_references_are_aspects(name: str) -> None:
    """Measures of subtopics see what they would see if texts were documents judged for each reference."""
    rng = random.Random(name)
    measure = parse(name + {"none": "", "optional": "@3", "needed": "@3", "multiple": "@1.0"}[REGISTRY[name].cutoff])
    items = [one for one in random_items(rng, 30) if one.references and one.retrieved]
    table = placed([replace(one, references=[r._replace(grade=1) for r in one.references]) for one in items])
    judged: dict[str, dict[str, dict[str, int]]] = {}
    run = {}
    for one in items:
        run[one.query] = [f"text{rank}" for rank in range(len(one.retrieved))]
        for number, texts in enumerate(dict.fromkeys(r.texts for r in one.references)):
            covering = {
                f"text{rank}": 1
                for rank, text in enumerate(one.retrieved)
                if any(wanted in text for wanted in texts) and text.strip()
            }
            judged.setdefault(one.query, {})[f"{number:02}"] = covering or {f"missing{number}": 1}
    expected = evaluate(AspectQrels(judged), run, measure, overlap="allow").per_query[str(measure)]
    found = dict(zip(table.queries, measure(table.aspects).tolist(), strict=True))
    assert found == pytest.approx({query: expected[query] for query in found}, abs=1e-12)
