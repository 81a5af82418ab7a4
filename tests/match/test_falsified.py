"""Sentences that a word or a digit makes false, and true ones that are written otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from falsified_sentences import FURTHER, KNOWN, MISSED

from goldrank import evaluate_texts
from goldrank.match import Matcher, matcher
from goldrank.match.guards import TextFacts, quantities, refusing

FALSE = [
    ("Support for this feature begins with Python 3.10 on all platforms.", "3.10", "3.1", "numbers"),
    ("The option was added in version 3.10 of the package last year.", "3.10", "3.1", "numbers"),
    ("You may return the goods within five days of the delivery.", "five", "three", "numbers"),
    ("You may return the goods within five days of the delivery.", "five", "3", "numbers"),
    ("You may return the goods within 3 days of the delivery.", "3", "five", "numbers"),
    ("Sie können die Ware innerhalb von fünf Tagen zurückgeben.", "fünf", "3", "numbers"),
    ("Set allow_methods to the verbs that your service answers to.", "allow_methods", "allow_headers", "identifiers"),
    ("Call readFile before the buffer is read by other threads.", "readFile", "writeFile", "identifiers"),
    ("The module os.path has all functions that you need for this.", "os.path", "os.stat", "identifiers"),
    ("Start the program with --dry-run to see what it would do.", "--dry-run", "--force-all", "identifiers"),
    ("The format is defined by `nbformat` for all of the notebooks.", "`nbformat`", "`nbconvert`", "identifiers"),
    ("The default value of the option is True since last year.", "True", "False", "negations"),
    ("Logging of all requests is enabled when the server starts.", "enabled", "disabled", "negations"),
    ("Die Prüfung ist seit der letzten Fassung eingeschaltet worden.", "eingeschaltet", "ausgeschaltet", "negations"),
    ("この商品は三十日以内なら返品できます。", "できます", "できません", "negations"),
    ("二階の喫茶店はとても安い店です。", "安い店です", "安い店ではない", "negations"),
    ("이 상품은 삼십 일 안에 반품할 수 있습니다.", "있습니다", "없습니다", "negations"),
    ("이 건물의 이층 카페는 값이 매우 싸다.", "싸다", "싸지 않다", "negations"),
    ("빈속에 이 약을 물과 함께 드십시오.", "드십시오", "드시지 마십시오", "negations"),
    ("البرامج المفتوحة قابلة للإعادة خلال شهر واحد.", "قابلة", "غير قابلة", "negations"),
    ("الجرعة المضاعفة تفيد المريض أسرع من غيرها كثيرا.", "تفيد", "ولا تفيد", "negations"),
    ("ร้านกาแฟชั้นสองของโรงสีเก่าถูกมาก", "ถูกมาก", "ไม่ถูกมาก", "negations"),
    ("กินยานี้ตอนท้องว่างกับน้ำมาก ๆ", "กินยา", "ห้ามกินยา", "negations"),
    ("Kaksinkertainen annos auttaa potilasta nopeammin.", "auttaa", "ei auttaa", "negations"),
    ("Aja autoa heti viimeisen annoksen jälkeen kotiin.", "Aja autoa", "Älä aja autoa", "negations"),
    ("我们退还全部货款和邮费。", "退还", "不退还", "negations"),
    ("从这个版本起，检查默认是打开的。", "打开", "关闭", "negations"),
    ("Проверка в этой версии всегда включена для всех.", "включена", "отключена", "negations"),
    ("यह दवा खाली पेट लेनी चाहिए।", "चाहिए", "नहीं चाहिए", "negations"),
    ("این دارو برای کودکان مفید است و کمک می‌کند.", "می‌کند", "نمی‌کند", "negations"),
    ("Take 2 tablets of 500 mg each with plenty of water.", "500 mg", "500 g", "units"),
]


@pytest.mark.parametrize(("reference", "right", "wrong", "guard"), FALSE)
def test_what_is_false_is_refused(reference: str, right: str, wrong: str, guard: str) -> None:
    """`guard` is the one that sees it, in a text that has all other words; or too few words are left."""
    rule, one = matcher("rouge-l:0.5"), np.array([0])
    assert right in reference
    text = f"{reference.replace(right, wrong)}"
    assert rule.decide([reference], [reference], one, one).tolist() == [True]
    passing = rule.enough(rule.degrees([text], [reference], one, one))
    assert passing.tolist() == [True]
    assert rule.refused(passing, [text], [reference], one, one) == {0: guard}


TRUE = [
    ("You may return goods within 3 days of the delivery.", "You may return goods within three days of the delivery."),
    ("The fee is 5.50 in every one of the shops.", "The fee is 5.5 in every one of the shops."),
    ("It runs with Python 3.10 on all of the machines.", "It runs with 3.10 on all of the machines."),
    ("Set `max_size` to limit the queue of the server.", "Set max_size to limit the queue of the server."),
    ("Logging is disabled when the server starts up.", "Logging is not enabled when the server starts up."),
    ("About two hundred people came to see the mill.", "About 200 people came to see the mill."),
]


@pytest.mark.parametrize(("text", "reference"), TRUE)
def test_what_is_true_is_covered(text: str, reference: str) -> None:
    rule, one = matcher("rouge-l:0.6"), np.array([0])
    assert rule.decide([text], [reference], one, one).tolist() == [True]
    assert rule.decide([reference], [text], one, one).tolist() == [True]


def test_numbers_of_several_words_are_read() -> None:
    assert refusing(TextFacts("Two hundred came."), TextFacts("Three hundred came."), ("numbers",)) == "numbers"
    assert refusing(TextFacts("Two hundred and six came."), TextFacts("206 came."), ("numbers",)) == ""


def accepted(sentences: list[tuple[str, str, str]], rule: Matcher) -> list[str]:
    """The true sentences for which the false one is taken, or the other way round."""
    one = np.array([0])
    return [
        true
        for _, true, false in sentences
        if any(rule.decide([text], [reference], one, one)[0] for text, reference in ((true, false), (false, true)))
    ]


@pytest.mark.parametrize("name", ["rouge-l:0.7", "token-recall:0.7", "shingles:0.5"])
def test_sentences_with_one_fact_changed(name: str) -> None:
    rule = matcher(name)
    assert accepted(KNOWN, rule) == []
    assert set(accepted(FURTHER, rule)) <= MISSED


@pytest.mark.parametrize("name", ["rouge-l:0.7", "token-recall:0.7"])
def test_most_of_them_are_alike_enough_without_guards(name: str) -> None:
    rule = matcher(name).with_guards(())
    assert len(accepted(KNOWN, rule)) > 0.95 * len(KNOWN)
    assert set(accepted(FURTHER, rule)) >= MISSED


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("The warranty lasts three years.", "The warranty lasts 3 years."),
        ("Die Frist beträgt einundzwanzig Tage.", "Die Frist beträgt 21 Tage."),
        ("Le délai est de quatre-vingt-dix jours.", "Le délai est de 90 jours."),
        ("该设备的保修期为三年。", "该设备的保修期为3年。"),
        ("該設備の保証期間は十二か月です。", "該設備の保証期間は12か月です。"),
        ("보증 기간은 구입일로부터 세 달입니다.", "보증 기간은 구입일로부터 3달입니다."),
        ("مدة الضمان ثلاث سنوات من الشراء.", "مدة الضمان 3 سنوات من الشراء."),
        ("مدة الضمان ثلاثة وعشرون يوما من الشراء.", "مدة الضمان 23 يوما من الشراء."),
        ("Срок гарантии составляет пять лет.", "Срок гарантии составляет 5 лет."),
        ("Takuu on voimassa kolme vuotta.", "Takuu on voimassa 3 vuotta."),
        ("การรับประกันมีอายุสามปี", "การรับประกันมีอายุ 3 ปี"),
        ("You have a week to answer the letter.", "You have one week to answer the letter."),
        ("The bridge opened in 2024年 after a delay.", "The bridge opened in 2024 after a delay."),
        ("See [the guide](https://example.org/v3.10/no-cache) for more about it.", "See the guide for more about it."),
        ("The park opens on Monday, and not before noon.", "The park opens on Monday."),
    ],
)
def test_the_same_in_other_words(text: str, reference: str) -> None:
    """Numbers in words and digits, articles, and what is said beside."""
    one = np.array([0])
    assert matcher("rouge-l:0.6").decide([text], [reference], one, one).tolist() == [True]


def test_a_version_is_what_is_written() -> None:
    assert [set(number.readings) for number in quantities("Python is 3.10, with Django 4.20 and v2.10")] == [
        {(False, "31", -1)}, {"4.20"}, {"2.10"},
    ]  # fmt: skip


def test_a_language_without_known_negations_is_said_once() -> None:
    items = [
        {"id": str(i), "retrieved": ["ეს წამალი უსაფრთხოა ბავშვებისთვის"], "references": ["ეს წამალი უსაფრთხოა"]}
        for i in range(3)
    ]
    notes = [note for note in evaluate_texts(items, "Cover").notes if note.code == "negations-unknown"]
    assert [(note.fact("scripts"), note.fact("count")) for note in notes] == [("Georgian", 1)]
    known = [{"retrieved": ["Το φάρμακο είναι ασφαλές"], "references": ["Το φάρμακο είναι ασφαλές"]}]
    assert "negations-unknown" not in [note.code for note in evaluate_texts(known, "Cover").notes]
