"""Contexts of a budget of tokens: packers, CoverArea, for texts and for evidence by place."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from lanes import many
from rag_cases import cases
from raising import raises_code

from goldrank import Evidence, Matching, evaluate_texts
from goldrank.base.errors import InputError, MeasureError, OptionError

BUDGETS = cases("budget")
PACKS = ("prefix", "skip", "truncate")


@pytest.mark.parametrize("case", BUDGETS, ids=[case["id"] for case in BUDGETS])
def test_reference_values(case: dict[str, Any]) -> None:
    given, expected = case["inputs"], case["expected"]
    budget = given["tokens"]
    items = [{"id": "q", "retrieved": given["retrieved"], "references": given["references"]}]
    for pack in PACKS:
        option = "" if pack == "prefix" else f'pack="{pack}", '
        names = [f"{name}({option}tokens={budget})" for name in ("Cover", "Tokens", "NumRet")]
        found = evaluate_texts(items, names, matching=Matching(given["matcher"]))
        values = expected[pack]
        assert list(found.mean.values()) == pytest.approx([values["Cover"], values["tokens"], len(values["kept"])]), (
            pack
        )
    if budget:
        name = f"CoverArea(tokens={budget})"
        assert evaluate_texts(items, name, matching=Matching(given["matcher"]))[name] == pytest.approx(
            expected["CoverArea"]
        )


def random_items(rng: random.Random, number: int) -> list[dict[str, Any]]:
    names = ["amber", "basil", "cedar", "delta"]
    items = []
    for q in range(number):
        texts = []
        for t in range(rng.randint(0, 6)):
            words = [f"w{q}x{t}y{i}" for i in range(rng.randint(0, 6))] + rng.sample(names, rng.randint(0, 2))
            texts.append(" ".join(rng.sample(words, len(words))))
        items.append({"id": f"q{q}", "retrieved": texts, "references": rng.sample(names, rng.randint(1, 4))})
    return items


def context(texts: list[str], budget: int, pack: str, k: int | None) -> list[str]:
    """A packer in a plain loop, words as tokens."""
    kept: list[str] = []
    left = budget
    for text in texts[:k] if budget else []:
        words = text.split()
        if len(words) <= left:
            kept.append(text)
            left -= len(words)
        elif pack != "skip":
            if pack == "truncate" and left:
                kept.append(" ".join(words[:left]))
            break
    return kept


MEASURES = ("Cover", "nDCG", "AP", "RR", "SetP", "SetR", "Redundant", "Tokens", "R_cap@3", "P@2", "Cover@2", "nDCG@2")


@pytest.mark.parametrize("pack", PACKS)
def test_measures_see_the_context_alone(pack: str) -> None:
    rng = random.Random(pack)
    items = random_items(rng, many(60))
    for budget in (0, 3, 7, 12, 40):
        for measure in MEASURES:
            name, _, k = measure.partition("@")
            depth = int(k) if k else None
            packed = [{**one, "retrieved": context(one["retrieved"], budget, pack, depth)} for one in items]
            option = f"tokens={budget}" if pack == "prefix" else f'pack="{pack}", tokens={budget}'
            spelled = f"{name}({option})" + (f"@{k}" if k else "")
            for credit in ("any", "one_to_one"):
                found = evaluate_texts(items, spelled, matching=Matching("contains-words", credit=credit)).per_query[
                    spelled
                ]
                plain = evaluate_texts(packed, measure, matching=Matching("contains-words", credit=credit)).per_query[
                    measure
                ]
                assert found == pytest.approx(plain), (spelled, credit)


def test_area_is_that_under_the_curve() -> None:
    items = random_items(random.Random(1), 30)
    limit = 20
    area = evaluate_texts(items, f"CoverArea(tokens={limit})", matching="contains-words")[f"CoverArea(tokens={limit})"]
    curve = evaluate_texts(items, [f"Cover(tokens={b})" for b in range(limit)], matching="contains-words")
    # A reference that needs no more than b tokens is covered by the budgets b, b + 1, ..., limit - 1.
    assert area == pytest.approx(sum(curve.mean.values()) / limit)


def test_what_a_budget_needs() -> None:
    items = random_items(random.Random(1), 3)
    for wrong in (
        "CoverArea",
        'Cover(pack="skip")',
        'CoverArea(tokens=5, pack="skip")',
        'Cover(tokens=5, pack="best")',
    ):
        with pytest.raises(MeasureError):
            evaluate_texts(items, wrong)


# Evidence by place.

SOURCE = " ".join(f"w{i}" for i in range(100))
WORDS = [(m, m + len(word)) for word, m in ((word, SOURCE.index(f"{word} ")) for word in SOURCE.split()[:-1])]


def chunk(first: int, last: int) -> dict[str, Any]:
    start, end = WORDS[first][0], WORDS[last][1]
    return {"text": SOURCE[start:end], "source": "s", "start": start, "end": end}


def spans(
    retrieved: list[Any], evidence: list[tuple[int, int]], measures: Any, tokens: Any = "words", lengths: Any = "char"
) -> dict[str, float]:
    gold = [{"source": "s", "start": WORDS[a][0], "end": WORDS[b][1]} for a, b in evidence]
    items = [{"id": "q", "retrieved": retrieved, "evidence": gold}]
    places = Evidence({"s": SOURCE}, lengths=lengths)
    return dict(evaluate_texts(items, measures, matching=Matching(tokens=tokens), evidence=places).mean)


def test_budgets_of_evidence() -> None:
    retrieved = [chunk(0, 4), chunk(10, 29), chunk(40, 44)]
    evidence = [(2, 3), (12, 13), (40, 41)]

    def recall(budget: int, pack: str = "prefix", k: str = "") -> float:
        option = f"tokens={budget}" if pack == "prefix" else f'pack="{pack}", tokens={budget}'
        return next(iter(spans(retrieved, evidence, f"EvidenceRecall({option}){k}").values()))

    assert recall(5) == recall(24) == pytest.approx(1 / 3)
    assert recall(25) == pytest.approx(2 / 3)
    assert recall(30) == 1.0
    assert recall(4) == recall(0) == 0.0
    assert recall(10, "skip") == pytest.approx(2 / 3)
    assert recall(10, "skip", "@2") == pytest.approx(1 / 3)
    assert recall(9, "truncate") == pytest.approx(2 / 3)  # four words of the second: 10 to 13
    assert recall(8, "truncate") == pytest.approx(1 / 3)
    assert recall(9, "truncate", "@1") == pytest.approx(1 / 3)


def test_skipping_leaves_what_another_text_holds() -> None:
    """A stretch whose first text is packed out is held by a later one."""
    retrieved = [chunk(0, 19), chunk(2, 4)]
    assert spans(retrieved, [(2, 4)], 'SpanRecall(pack="skip", tokens=5)') == {'SpanRecall(pack="skip", tokens=5)': 1.0}


def test_headers_are_paid_first() -> None:
    body = SOURCE[WORDS[0][0] : WORDS[39][1]]
    name = 'SpanRecall(pack="truncate", tokens=10)'
    given = [{"text": f"Manual part seven\n\n{body}", "source": "s"}]
    # Three words of header, then seven of the text: 0 to 6.
    assert spans(given, [(0, 6)], name)[name] == 1.0
    assert spans(given, [(7, 8)], name)[name] == 0.0


def test_own_tokens_count_whatever_lengths_are() -> None:
    retrieved = [chunk(0, 4), chunk(10, 14)]
    evidence = [(0, 1), (10, 11)]
    measure = "EvidenceRecall(tokens=20)"
    assert spans(retrieved, evidence, measure)[measure] == 1.0
    assert spans(retrieved, evidence, measure, tokens=lambda text: 2 * len(text.split()))[measure] == 1.0
    assert spans(retrieved, evidence, measure, tokens=lambda text: 3 * len(text.split()))[measure] == 0.5
    letters = spans(retrieved, [(0, 1)], "SpanPrecision@1", lengths="token", tokens=list)["SpanPrecision@1"]
    words = spans(retrieved, [(0, 1)], "SpanPrecision@1", lengths="token")["SpanPrecision@1"]
    assert words == pytest.approx(2 / 5)
    assert letters == pytest.approx(len("w0 w1") / len("w0 w1 w2 w3 w4"))
    with raises_code(OptionError, "tokens-without-places"):
        spans(retrieved, evidence, "SpanRecall", lengths="token", tokens=len)


def test_an_unknown_length_is_an_error() -> None:
    items = [{"id": "q7", "retrieved": [""], "sources": [{"source": "s", "start": 0, "end": 9}],
              "evidence": [{"source": "s", "start": 0, "end": 9}]}]  # fmt: skip
    with pytest.raises(InputError, match="text 1 of query 'q7'"):
        evaluate_texts(items, "SpanRecall(tokens=5)")


@pytest.mark.parametrize("wrong", [None, -1, True, 2.5, "three", {"input_ids": [1, 2, 3]}])
def test_what_counts_tokens_returns_them_or_their_number(wrong: object) -> None:
    """The mapping is what a tokenizer of transformers returns: its length is that of its keys."""
    items = [{"retrieved": ["one two three"], "references": ["two"]}]
    for tokens in (lambda text: 3, lambda text: np.int64(3), str.split):
        assert evaluate_texts(items, "Tokens", matching=Matching(tokens=tokens))["Tokens"] == 3
    with pytest.raises(InputError):
        evaluate_texts(items, "Tokens", matching=Matching(tokens=lambda text: wrong))
