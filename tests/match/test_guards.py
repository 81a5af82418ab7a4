"""What nearly the same words must not differ in, windows of long texts, and the level of chance."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_cases import cases

from goldrank import Matching, evaluate_texts
from goldrank.base.errors import OptionError
from goldrank.match import Matcher, matcher
from goldrank.match.common_tokens import best_windows
from goldrank.match.guards import TextFacts, quantities, refusing
from goldrank.match.own import Own
from goldrank.match.token_overlap import RougeL, TokenRecall

NUMBERS = cases("numbers")
GUARDS = cases("guards")
SQUAD = cases("squad_f1")
ONE = np.array([0])


def decision(rule: Matcher, text: str, reference: str) -> str:
    """'match', the guard that refuses, or 'below'."""
    passing = rule.enough(rule.degrees([text], [reference], ONE, ONE))
    refused = rule.refused(passing, [text], [reference], ONE, ONE)
    decided = bool(rule.decide([text], [reference], ONE, ONE)[0])
    assert decided == (bool(passing[0]) and not refused)
    return "match" if decided else refused.get(0, "below")


@pytest.mark.parametrize("case", NUMBERS, ids=[case["id"] for case in NUMBERS])
def test_reference_numbers(case: dict[str, Any]) -> None:
    left, right = (f"It is {case['inputs'][side]} in all" for side in ("left", "right"))
    both = {refusing(TextFacts(a), TextFacts(b), ["numbers"]) for a, b in ((left, right), (right, left))}
    assert (both == {""}) == case["expected"]["same"]


@pytest.mark.parametrize(
    ("text", "readings"),
    [("1.000", [{(False, "1", 3), (False, "1", 0)}]), ("0.5", [{(False, "5", -1)}]),
     ("1,2,3", [{(False, "1", 0)}, {(False, "2", 0)}, {(False, "3", 0)}]), ("5.0", [{(False, "5", 0)}]),
     ("0", [{(False, "", 0)}]), ("-0", [{(False, "", 0)}]), ("12.05.2024", [{"12.05.2024"}]),
     ("10-20", [{(False, "1", 1)}, {(False, "2", 1)}]), ("1e400", [{(False, "1", 400)}]),
     ("9" * 5000, [{(False, "9" * 5000, 0)}])],
)  # fmt: skip
def test_readings(text: str, readings: list[set[Any]]) -> None:
    assert [set(one.readings) for one in quantities(text)] == readings


@pytest.mark.parametrize("case", GUARDS, ids=[case["id"] for case in GUARDS])
def test_reference_decisions(case: dict[str, Any]) -> None:
    given = case["inputs"]
    expected = {"negation": "negations"}.get(case["expected"]["decision"], case["expected"]["decision"])
    assert decision(matcher(given["matcher"]), given["text"], given["reference"]) == expected
    whole = evaluate_texts([{"retrieved": [given["text"]], "references": [given["reference"]]}], "Cover")
    assert whole["Cover"] == (expected == "match")


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("The fee is 5 % of the sum paid.", "The fee is 5 percent of the sum paid.", "match"),
        ("The fee is $5 for each of them.", "The fee is 5 dollars for each of them.", "match"),
        ("The fee is €5 for each of them.", "The fee is $5 for each of them.", "units"),
        ("It takes 30 weeks until the goods are sent.", "It takes 30 days until the goods are sent.", "units"),
        ("Values 3 and 4 and 5 were found there.", "Values 3 and 3 and 5 were found there.", "numbers"),
        ("It doesn’t work in the rain, they say.", "It does work in the rain, they say.", "negations"),
        ("Das Gerät ist nicht sicher für kleine Kinder.", "Das Gerät ist sicher für kleine Kinder.", "negations"),
        ("Le produit est sans danger pour eux tous.", "Le produit est un danger pour eux tous.", "negations"),
        ("It costs 5.5 in every one of the shops.", "It costs 5 in every one of the shops.", "numbers"),
    ],
)
def test_decisions(text: str, reference: str, expected: str) -> None:
    assert decision(RougeL(0.7), text, reference) == expected
    assert decision(RougeL(0.7, guards=()), text, reference) == "match"


def test_of_equal_windows_any_suffices() -> None:
    filler = "and so on and on it went for many a long day in that place " * 3
    text = f"The drug is not safe for children. {filler} The drug is safe for children."
    assert decision(RougeL(0.7), text, "The drug is safe for children.") == "match"


def test_names_are_guarded_by_choice() -> None:
    text, reference = "In the year 1889 Berlin had a fair for all.", "In the year 1889 Paris had a fair for all."
    assert decision(RougeL(0.7), text, reference) == "match"
    assert decision(RougeL(0.7, guards=["names"]), text, reference) == "names"


def test_precision_guards_the_other_side() -> None:
    """Where the text is looked for in the reference, the reference may say more."""
    rule = matcher("rouge-l-precision")
    assert (
        decision(rule, "It was built in 1889.", "It was built in 1889. It is 330 metres tall and not old.") == "match"
    )
    assert decision(rule, "It was built then in 1899.", "It was built then in 1889. It is tall.") == "numbers"


def test_spelling_shows_and_takes_options() -> None:
    for spelled in ("rouge-l:0.7", "rouge-l(window=None):0.7", "rouge-l(guards=()):0.7", "shingles(n=5):0.5",
                    "rouge-l(window=None, guards=('numbers',)):0.7", "token-recall(window=None)>0.5"):  # fmt: skip
        assert str(matcher(spelled)) == spelled
    for wrong in (
        "rouge-l(windows=None):0.7",
        "rouge-l(guards=('number',)):0.7",
        "rouge-l(7):0.7",
        "exact(window=None)",
    ):
        with pytest.raises(OptionError):
            matcher(wrong)
    items = [{"retrieved": ["It is 300 in all of them."], "references": ["It is 30 in all of them."]}]
    assert evaluate_texts(items, "Cover")["Cover"] == 0
    unguarded = evaluate_texts(items, "Cover", matching=Matching(guards=()))
    assert unguarded["Cover"] == 1
    assert "guards=()" in unguarded.convention


# Windows.


def by_all_windows(text: list[str], reference: list[str], ordered: bool) -> int:
    """The most words in common of any window, in a plain loop."""
    size, step = 2 * len(reference) + 4, max(len(reference) // 2, 1)
    starts = range(0, max(len(text) - size, 0) + step, step) if len(text) > size else [0]
    best = 0
    for start in starts:
        window = text[start : start + size]
        if ordered:
            row = [0] * (len(reference) + 1)
            for word in window:
                before = row[:]
                for j, other in enumerate(reference):
                    row[j + 1] = before[j] + 1 if word == other else max(before[j + 1], row[j])
            best = max(best, row[-1])
        else:
            best = max(best, sum(min(window.count(w), reference.count(w)) for w in set(reference)))
    return best


@pytest.mark.parametrize("ordered", [True, False])
def test_windows_are_those_of_a_plain_loop(ordered: bool) -> None:
    rng = random.Random(ordered)
    for _ in range(300):
        text = rng.choices("abcdefgh", k=rng.randint(1, 60))
        reference = rng.choices("abcdxy", k=rng.randint(1, 8))
        found = best_windows(text, reference, ordered=ordered)
        assert found.common == by_all_windows(text, reference, ordered)
        for first, past in found.stretches:
            assert by_all_windows(text[first:past], reference, ordered) == found.common
            assert text[first] in reference
            assert text[past - 1] in reference
        rule = (RougeL if ordered else TokenRecall)(0.7, guards=())
        degree = rule.degrees([" ".join(text)], [" ".join(reference)], ONE, ONE)[0]
        assert degree == pytest.approx(found.common / len(reference))
        assert rule.decide([" ".join(text)], [" ".join(reference)], ONE, ONE)[0] == (degree >= 0.7)


@pytest.mark.parametrize(
    ("text", "found"),
    [("No refunds are given within 14 days.", "negations"), ("Never refunds are given within 14 days", "negations"),
     ("Say no. Refunds are given within 14 days.", "match"), ("Is it? No\nRefunds are given within 14 days.", "match"),
     ("Is it so, or not? Refunds are given within 14 days.", "match")],
)  # fmt: skip
def test_a_negation_right_before_the_stretch_counts(text: str, found: str) -> None:
    assert decision(matcher("rouge-l:0.7"), text, "Refunds are given within 14 days") == found


def test_scattered_words_are_no_match() -> None:
    reference = "the tower was built in the year of the fair"
    scattered = " ".join(f"{word} {'x ' * 40}" for word in reference.split())
    assert decision(RougeL(0.7), scattered, reference) == "below"
    assert decision(RougeL(0.7, window=None), scattered, reference) == "match"
    assert decision(RougeL(1.0, window=None), scattered, reference) == "match"


@pytest.mark.parametrize("name", ["rouge-l", "token-recall"])
def test_a_higher_threshold_never_covers_more(name: str) -> None:
    """Eleven words lie between the two halves of the reference, more than a window of 2 x 4 + 4 words holds."""
    reference, text = "alpha beta gamma delta", "alpha beta " + " ".join(f"w{i}" for i in range(11)) + " gamma delta"
    degrees = [decision(matcher(f"{name}:{threshold}"), text, reference) for threshold in (0.5, 0.7, 0.9, 1.0)]
    assert degrees == ["match", "below", "below", "below"]


def test_a_very_long_text() -> None:
    rng = random.Random(1)
    words = [f"w{rng.randint(0, 2000)}" for _ in range(200_000)]
    reference = " ".join(words[150_000:150_012])
    text = " ".join(words)
    assert len(text) > 1_000_000
    assert decision(RougeL(0.7, guards=()), text, reference) == "match"


# SQuAD's F1.


@pytest.mark.parametrize("case", SQUAD, ids=[case["id"] for case in SQUAD])
def test_token_f1_is_that_of_the_script(case: dict[str, Any]) -> None:
    given = case["inputs"]
    found = matcher("token-f1").degrees([given["retrieved"]], [given["reference"]], ONE, ONE)
    assert found[0] == pytest.approx(case["expected"]["F1"], abs=1e-12)


# The level of chance.


def sentence(rng: random.Random, words: int, vocabulary: int) -> str:
    return " ".join(f"word{rng.randint(1, vocabulary)}x" for _ in range(words))


def questions(number: int, vocabulary: int, size: int) -> list[dict[str, Any]]:
    rng = random.Random(number)
    items = []
    for q in range(number):
        reference = sentence(rng, 6, vocabulary)
        own = f"{sentence(rng, size, vocabulary)} {reference}"
        items.append({"id": f"q{q}", "retrieved": [own, sentence(rng, size, vocabulary)], "references": [reference]})
    return items


def test_chance_is_shown_and_warned_of() -> None:
    codes = [note.code for note in evaluate_texts(questions(40, 5_000, 30), "Cover@2").notes]
    assert "chance-level" in codes
    # Few different words, and no windows: almost anything matches.
    loose = evaluate_texts(questions(40, 4, 100), "Cover@2", matching="rouge-l(window=None):0.7")
    (note,) = (note for note in loose.notes if note.code == "high-chance-level")
    assert note.is_warning
    assert note.fact("low") <= note.fact("share") <= note.fact("high")
    assert note.fact("share") > 0.9
    assert "by chance" in str(note)
    assert str(loose.notes) == str(
        evaluate_texts(questions(40, 4, 100), "Cover@2", matching="rouge-l(window=None)").notes
    )


@pytest.mark.parametrize(("found", "code"), [(30, "chance-level"), (3, "high-chance-level")])
def test_a_quarter_of_what_is_covered_is_too_much_chance(found: int, code: str) -> None:
    """3.3 % by chance is little beside 100 %, and too much beside 10 %: below the limit of 5 % either way."""
    items = [{"id": str(q), "retrieved": [f"fact{q} is here" if q < found else f"none{q}"], "references": [f"fact{q}"]}
             for q in range(30)]  # fmt: skip

    def rule(text: str, reference: str) -> bool:
        return reference in text.split() or (reference == "fact0" and "fact0" not in text)

    given = Own(rule)
    given.__class__ = type("Free", (Own,), {"free": True})  # as rules of the box are
    (note,) = (n for n in evaluate_texts(items, "Cover@1", matching=Matching(given)).notes if "chance-level" in n.code)
    assert note.code == code
    assert note.fact("share") == pytest.approx(1 / 30)


def test_no_chance_level_where_nothing_can_be_said() -> None:
    def codes(items: list[dict[str, Any]], **how: Any) -> set[str]:
        return {note.code for note in evaluate_texts(items, "Cover@2", **how).notes} & {
            "chance-level",
            "high-chance-level",
        }

    assert not codes(questions(19, 5_000, 30))
    same = [{**item, "references": ["word1x word2x"], "retrieved": ["word1x word2x"]} for item in questions(30, 50, 5)]
    assert not codes(same)  # all share their text and reference
    assert not codes(
        questions(40, 5_000, 30), matching=Matching(lambda text, reference: reference in text)
    )  # may cost money


def test_refused_pairs_are_near_misses() -> None:
    items = [
        {
            "id": "q",
            "retrieved": ["Returns are taken within 300 days."],
            "references": ["Returns are taken within 30 days."],
        }
    ]
    told = str(evaluate_texts(items, "Cover").explain("q"))
    assert "closest to r1" in told
    assert "numbers differ" in told


SIGNS = [
    "1",
    "23",
    "456",
    "000",
    "２",
    "٣",
    " ",
    ".",
    ",",
    "'",
    "-",
    "e",
    "E",
    "+",
    "a",
    "x",
    "kg",
    "$",
    "€",
    "(",
    "\n",
    "%",
    "\u202f",
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(SIGNS), max_size=24).map("".join), st.data())
def test_numbers_of_a_stretch_are_those_of_the_text_that_reach_into_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    expected = [found for found in quantities(text) if found.end > start and found.start < end]
    assert quantities(text, start, end) == expected


def test_powers_in_digits_of_any_script() -> None:
    assert [found.readings for found in quantities("1e+２ and 3.5e٣")] == [{(False, "1", 2)}, {(False, "35", 2)}]


@pytest.mark.parametrize(
    ("reference", "denied"),
    [
        ("Это лекарство безопасно для маленьких детей", "Это лекарство не безопасно для маленьких детей"),
        ("هذا الدواء آمن للأطفال جدا اليوم", "هذا الدواء ليس آمن للأطفال جدا اليوم"),
        ("यह दवा छोटे बच्चों के लिए सुरक्षित है", "यह दवा छोटे बच्चों के लिए सुरक्षित नहीं है"),
        ("Bu ilaç küçük çocuklar için güvenli", "Bu ilaç küçük çocuklar için güvenli değil"),
        ("这种药对儿童是安全的药品", "这种药对儿童不是安全的药品"),
        ("이 약은 아이들에게 안전하지 않은 성분이 있다", "이 약은 아이들에게 안전하지 성분이 있다"),
        ("Medicinen är säker för små barn", "Medicinen är inte säker för små barn"),
        ("The medicine is safe for small children", "The medicine is not safe for small children"),
        ("Das Mittel ist sicher für kleine Kinder", "Das Mittel ist nicht sicher für kleine Kinder"),
        ("Ce produit est sûr pour les enfants", "Ce produit est pas sûr pour les enfants"),
        ("El producto es seguro para niños", "El producto nunca es seguro para niños"),
        ("Il farmaco è sicuro per i bambini", "Il farmaco non è sicuro per i bambini"),
        ("Het middel is veilig voor kleine kinderen", "Het middel is niet veilig voor kleine kinderen"),
        ("O produto é seguro para crianças", "O produto não é seguro para crianças"),
        ("Medisinen er trygg for små barn", "Medisinen er ikke trygg for små barn"),
        ("Ten lek jest bezpieczny dla małych dzieci", "Ten lek nigdy jest bezpieczny dla małych dzieci"),
        ("Obat ini aman untuk anak kecil", "Obat ini tidak aman untuk anak kecil"),
        ("Thuốc này an toàn cho trẻ nhỏ", "Thuốc này không an toàn cho trẻ nhỏ"),
        ("Цей препарат безпечний для малих дітей", "Цей препарат ніколи безпечний для малих дітей"),
        ("Το φάρμακο είναι ασφαλές για παιδιά", "Το φάρμακο δεν είναι ασφαλές για παιδιά"),
        ("התרופה הזאת בטוחה לילדים קטנים", "התרופה הזאת לא בטוחה לילדים קטנים"),
    ],
)
def test_negations_of_other_languages(reference: str, denied: str) -> None:
    """The reference, and the same with one word, or sign, that denies it."""
    rule = matcher("rouge-l:0.6")
    assert decision(rule, f"{reference} {reference}", reference) == "match"
    assert decision(rule, denied, reference) == "negations"


def test_what_follows_a_match_denies_it_only_where_a_language_puts_it_there() -> None:
    assert decision(matcher("rouge-l"), "Die Regel gilt für Kinder nicht", "Die Regel gilt für Kinder") == "negations"
    assert (
        decision(matcher("rouge-l"), "The plan covers dental care without fees", "The plan covers dental care")
        == "match"
    )


def test_the_level_of_chance_is_never_surer_than_its_questions() -> None:
    """None of n covered by chance happens in 2.5 % of cases if 1 - 0.025^(1/n) of all are; all of n, if 0.025^(1/n)."""
    every = " ".join(f"w{i}" for i in range(40))
    for text, low, high in (("w{}", 0.0, 1 - 0.025 ** (1 / 40)), (every + " t{}", 0.025 ** (1 / 40), 1.0)):
        items = [{"id": str(i), "retrieved": [text.format(i)], "references": [f"w{i}"]} for i in range(40)]
        notes = evaluate_texts(items, "Cover@1", matching="contains-words").notes
        (note,) = (note for note in notes if "chance-level" in note.code)
        assert (note.fact("low"), note.fact("high")) == pytest.approx((low, high))
