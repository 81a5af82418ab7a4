"""Sentences that a word or a digit makes false, and true ones that are written otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from goldrank import evaluate_texts
from goldrank.match import matcher
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


@pytest.mark.parametrize(("text", "reference"), TRUE[:-1])
def test_what_is_true_is_covered(text: str, reference: str) -> None:
    rule, one = matcher("rouge-l:0.6"), np.array([0])
    assert rule.decide([text], [reference], one, one).tolist() == [True]
    assert rule.decide([reference], [text], one, one).tolist() == [True]


def test_numbers_of_several_words_are_not_read() -> None:
    text, reference = TRUE[-1]
    assert TextFacts(text).numbers == []
    assert refusing(TextFacts(text), TextFacts(reference), ("numbers",)) == ""


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
