"""Negations: words, endings and signs of many languages, and words that say the opposite, such as "disabled".

Words that are frequent and harmless in another language are left out, or known only where the text shows its language:
"en" is Finnish for "I do not" and Spanish for "in". Of languages that deny by an ending or a beginning of each verb,
such as Turkish and Czech, only the separate words are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from goldrank.match.folding import fold
from goldrank.match.tokens import Stretches, spans, words

WORDS: dict[str, tuple[str, ...]] = {
    "English": (
        *("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without", "hardly"),
        *("false", "disabled", "disable", "disables", "off", "forbidden", "prohibited", "impossible", "unable"),
    ),
    "German": (
        *("nicht", "nie", "niemals", "kein", "keine", "keinem", "keinen", "keiner", "keines", "ohne", "weder"),
        *("nichts", "niemand", "niemandem", "kaum"),
        *("falsch", "deaktiviert", "ausgeschaltet", "abgeschaltet", "verboten", "unmöglich"),
    ),
    "French": (
        *("pas", "jamais", "aucun", "aucune", "sans", "ni", "rien"),
        *("faux", "désactivé", "désactivée", "interdit", "interdite", "impossible"),
    ),
    "Spanish": (
        *("nunca", "jamás", "sin", "nadie", "ninguno", "ninguna", "ningún", "tampoco", "nada"),
        *("falso", "desactivado", "desactivada", "deshabilitado", "prohibido", "imposible"),
    ),
    "Italian": (
        *("non", "mai", "senza", "nessun", "nessuno", "nessuna", "né", "niente"),
        *("falso", "disattivato", "disabilitato", "vietato", "impossibile"),
    ),
    "Dutch": ("niet", "niemand", "geen", "nooit", "zonder", "noch", "uitgeschakeld", "verboden", "onmogelijk"),
    "Portuguese": (
        *("não", "ninguém", "sem", "nenhum", "nenhuma", "nem"),
        *("desativado", "desativada", "proibido", "impossível"),
    ),
    "Swedish": ("inte", "aldrig", "utan", "ingen", "inget", "inga", "inaktiverad", "förbjudet"),
    "Danish and Norwegian": ("ikke", "aldri", "uden", "uten", "ingen", "deaktiveret", "deaktivert"),
    "Finnish": ("ei", "eikä", "eivät", "eivätkä", "emme", "emmekä", "älä", "älkää", "ilman", "ettei", "pois"),
    "Polish": ("nie", "nikt", "nigdy", "bez", "żaden", "wyłączony", "zabroniony"),
    "Czech": ("není", "nikdy", "bez", "žádný", "zakázáno"),
    "Hungarian": ("nem", "nincs", "nélkül", "soha", "tilos"),
    "Turkish": ("değil", "yok", "asla", "hiçbir", "yasak"),
    "Indonesian": ("tidak", "bukan", "tanpa", "jangan", "dilarang"),
    "Vietnamese": ("không", "chưa", "chẳng", "đừng"),
    "Russian": (
        *("не", "нет", "ни", "без", "никогда", "никто", "нельзя"),
        *("отключен", "отключена", "отключено", "выключен", "выключена", "выключено", "запрещено", "ложь"),
    ),
    "Ukrainian": ("немає", "ніколи", "вимкнено", "заборонено"),
    "Greek": ("δεν", "μη", "μην", "χωρίς", "όχι", "ποτέ"),
    "Arabic": (
        *("ليس", "ليست", "ليسوا", "لسنا", "لست", "لم", "لن", "لا", "غير", "بدون", "دون", "بلا", "عدم"),
        *("ممنوع", "معطل", "معطلة"),
    ),
    "Persian": ("نیست", "نیستند", "نه", "بدون", "هیچ"),
    "Hebrew": ("לא", "אין", "בלי", "ללא", "אסור", "אל"),
    "Hindi": ("नहीं", "मत", "बिना", "ना"),
    "Korean": ("안", "비활성화", "금지"),
}
"""Words that stand alone. Arabic words are known with "and" and "so" before them too."""

_INSIDE = {
    "Chinese": "[不没沒无無勿]|未(?![来來])|非(?![常洲])|禁止|停用|关闭|關閉",
    "Japanese": "ない|なかっ|なく|ません|ずに|禁止|かねます",
    "Korean": "않|못|없|아니|지 ?마(?=[십세라시요])|말아",
    "Thai": "ไม่|ห้าม|อย่า|ปราศจาก|มิได้|ไร้",
}
"""Patterns of languages that put no blanks around negations, or that deny by endings."""
_INSIDE_WORDS = re.compile("|".join(_INSIDE.values()))
_CONTRACTED = re.compile(r"n['’ʼ`´]t\b|\bpersonne(?= n['’e])", re.IGNORECASE)
_FINNISH = re.compile(r"\w{3}ä\b", re.IGNORECASE)
"""A word that ends so is Finnish, and no word of a language in which "en" is an article."""
_FINNISH_ONLY = frozenset(("en", "et", "ette", "enkä", "etkä"))
_PERSIAN_VERB = "نمي"
"""The beginning of a verb that is denied, folded."""

LANGUAGES = tuple(dict.fromkeys((*WORDS, *_INSIDE)))
"""The languages whose negations are known."""

_SCRIPTS = (
    *("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "HANGUL", "THAI", "CJK", "HIRAGANA"),
    *("KATAKANA", "KATAKANA-HIRAGANA", "FULLWIDTH", "HALFWIDTH", "IDEOGRAPHIC", "MODIFIER", "FEMININE", "MASCULINE"),
)
"""Scripts of these languages, as the names of letters begin."""

_FOLLOWING = frozenset(map(fold, ("değil", "yok", "नहीं", "nicht", "niet", "मत")))
"""Negations that stand after what they deny."""


@cache
def negative_words() -> frozenset[str]:
    """All words that stand alone, folded."""
    listed = {word for language in WORDS.values() for word in language}
    joined = {letter + word for letter in "وف" for word in WORDS["Arabic"]}
    return frozenset(map(fold, listed | joined))


def negations(text: str) -> Stretches:
    """Where negations stand in a text.

    >>> negations("It isn't safe, no.")
    [(5, 8), (15, 17)]
    """
    cut = words(text)
    if text.isascii():
        stretches = []
    else:
        stretches = [match.span() for match in _INSIDE_WORDS.finditer(text)]
    if "t" in cut or "personne" in cut:  # don't is the words don and t
        stretches += (match.span() for match in _CONTRACTED.finditer(text))

    known = negative_words()
    if _FINNISH.search(text):
        known |= _FINNISH_ONLY
    persian = "نم" in text and any(word.startswith(_PERSIAN_VERB) for word in cut)
    if persian or not known.isdisjoint(cut):
        for word, stretch in zip(cut, spans(text), strict=True):
            if word in known or word.startswith(_PERSIAN_VERB):
                stretches.append(stretch)
    return list(_apart(sorted(stretches)))


def may_deny(text: str) -> bool:
    """Whether a text may have a negation; quicker than looking for positions.

    >>> may_deny("It is safe."), may_deny("It isn't.")
    (False, True)
    """
    cut = words(text)
    if "t" in cut or "personne" in cut or not negative_words().isdisjoint(cut):
        return True
    if not _FINNISH_ONLY.isdisjoint(cut) and _FINNISH.search(text):
        return True
    return not text.isascii() and (_INSIDE_WORDS.search(text) is not None or "نم" in text)


def denies_what_it_follows(negation: str) -> bool:
    """Whether a negation denies what stands before it.

    >>> denies_what_it_follows("nicht"), denies_what_it_follows("without")
    (True, False)
    """
    folded = fold(negation)
    return folded in _FOLLOWING or folded.startswith(_PERSIAN_VERB)


def _apart(stretches: Stretches) -> Iterator[tuple[int, int]]:
    """The stretches that are not inside an earlier one: a known word with a known sign in it denies once."""
    end = 0
    for stretch in stretches:
        if stretch[0] >= end:
            yield stretch
            end = stretch[1]


_VERB_LAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CLAUSE = re.compile(r"[^\n\r.,;:!?…。、，；：！？)（）」』\"”]{0,12}")


def end_of_clause(text: str, end: int) -> int:
    """The end of the clause around the end of a match, in Chinese, Japanese and Korean: their verbs, and the negations
    of these, come last. In other languages `end` itself.

    >>> end_of_clause("安いとは言えない。", 2)
    8
    """
    if not end or _VERB_LAST.match(text, end - 1) is None:
        return end
    clause_end = _CLAUSE.match(text, end)
    if clause_end:
        return clause_end.end()
    return end


def unknown_script(text: str) -> str:
    """The script of the first letters, if no language is known that is written in it; else nothing.

    >>> unknown_script("ეს უსაფრთხოა"), unknown_script("It is safe")
    ('Georgian', '')
    """
    if text.isascii():
        return ""
    for letter in text:
        if letter.isalpha() and not letter.isascii():
            script = unicodedata.name(letter, "LATIN").split()[0]
            if script in _SCRIPTS:
                return ""
            return script.title()
    return ""
