"""What texts with nearly equal words must not differ in: numbers, units, negations, opposites, identifiers, names.

A pair of texts that a lexical matcher takes for a match is looked at once more: "is not safe" has all the words of "is
safe", and "within 300 days" has most words of "within 30 days". Only the stretch that matched is looked at.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from goldrank.base.errors import OptionError, did_you_mean
from goldrank.match.citations import number_marks
from goldrank.match.folding import fold, left_out, without_gaps
from goldrank.match.measured_units import unit_at
from goldrank.match.negations import denies_what_it_follows, end_of_clause, may_deny, negations
from goldrank.match.number_words import NumberWord, number_words
from goldrank.match.opposites import contradicts
from goldrank.match.tokens import spans, words

GUARDS = {
    "numbers": "every number of the reference is there, as often",
    "units": "with the same unit",
    "negations": "there are as many negations, and words such as disabled and false, as in the reference",
    "opposites": "no word of the reference is replaced by one that excludes it: before and after, Monday and Friday",
    "identifiers": "every identifier of the reference is there: max_size, maxSize, os.path, --dry-run, RFC9110",
    "names": "every name of the reference is there: what is capitalised inside sentences",
}
DEFAULT = ("numbers", "units", "negations", "opposites", "identifiers")

Value = tuple[bool, str, int]
"""A number: whether it is negative, its digits without zeros at the ends, and the power of ten."""


class Quantity(NamedTuple):
    """A number in a text."""

    start: int
    end: int
    readings: frozenset[Value | str]
    """What it can mean: 1.000 is one, or one thousand. A date or the number of a version has one reading, its text."""
    unit: str | None
    written: str
    """Its digits and marks: 3.10 and 3.1 differ where these are versions."""
    is_weak: bool = False
    """Whether it may be missing, since its word is an article too: "one week" is contradicted by "two weeks" alone."""


def checked(guards: Iterable[str] | None) -> tuple[str, ...]:
    """The names of guards, in the usual order, or the error that says which there are."""
    if isinstance(guards, str):
        guards = (guards,)
    names = tuple(guards or ())
    for name in names:
        if name not in GUARDS:
            raise OptionError(
                f"there is no guard {name!r}; there are: {', '.join(GUARDS)}", hint=did_you_mean(name, GUARDS)
            )
    return tuple(name for name in GUARDS if name in names)


# Numbers.

_GAP = "[ \\u00a0\\u2009\\u202f]"
_NUMBER = re.compile(
    rf"""(?P<date>\d{{4}}-\d{{2}}-\d{{2}}(?![\d-]))
    | (?P<spaced>(?<![\d.,])\d{{1,3}}(?:{_GAP}\d{{3}})+(?!\d)(?:[.,]\d+)?)
    | (?P<plain>\d+(?:[.,'’\u066b\u066c]\d+)*)(?P<power>[eE][+-]?\d+(?!\w))?""",
    re.VERBOSE,
)
_DIGIT = re.compile(r"\d")
_SIGN = re.compile(r"(?:^|[\s(\[{=:,;<>≤≥~$€£¥])[-−–]$")
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:'\d{3})+")


_PART_OF_NUMBER = frozenset(".,'’\u066b\u066c \u00a0\u2009\u202feE+-")


def quantities(text: str, start: int = 0, end: int | None = None) -> list[Quantity]:
    """The numbers of a text, with their units; or only the numbers that reach into a stretch of it.

    >>> [(sorted(found.readings), found.unit) for found in quantities("1,500 kg by 2030")]
    [([(False, '15', 2)], 'kg'), ([(False, '203', 1)], None)]
    """
    past = len(text)
    if end is not None:
        past = end
    first = start
    while first and (text[first - 1].isdecimal() or text[first - 1] in _PART_OF_NUMBER):
        first -= 1  # no number holds the sign before
    if not _DIGIT.search(text, first, past + 1):
        return []

    numbers: list[Quantity] = []
    for match in _NUMBER.finditer(text, first):
        begin, match_end = match.span()
        if begin > past:
            break
        minus = _SIGN.search(text[max(begin - 2, 0) : begin]) is not None
        if match_end <= start or begin - minus >= past:
            continue
        digits = "".join(map(_ascii, match[0]))
        unit = unit_at(text, begin - minus, match_end)
        if unit is None and match["plain"] and _is_label(text, begin, match_end, digits):
            readings: list[frozenset[Value | str]] = [frozenset((digits,))]
        else:
            readings = _readings_of(match, digits, minus)
        numbers += [Quantity(begin - minus, match_end, reading, unit, digits) for reading in readings]
    return numbers


def _readings_of(match: re.Match[str], digits: str, minus: bool) -> list[frozenset[Value | str]]:
    """What a number can mean, by its form."""
    if match["date"]:
        return [frozenset((digits,))]
    if match["spaced"]:
        return [frozenset((_value(re.sub(r"\s", "", digits).replace(",", "."), minus),))]
    if digits.isdigit():
        return [frozenset((_value(digits, minus),))]
    return _readings(digits, minus, "".join(map(_ascii, match["power"] or "")))


_NUMBERED = re.compile(
    r"""(?:^|[\s(\[`])(?:v|ver\.?|versions?|releases?|fassung|versionen|versión|versione|versie|версия|версии|版本)\s?$
    |(?:[^\s.!?:]\s|(?:^|[.!?]\s|\n)(?!(?:About|Around|Nearly|Almost|Only|Over|Under|Roughly|The|It|At|In|By)\b))
     (?-i:[A-Z])\w*\s$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before the number of a version, a section or a table: such a word, or a name inside a sentence."""


def _is_label(text: str, begin: int, end: int, digits: str) -> bool:
    """Whether a number with a decimal point names something, as versions do: 3.10 is then not 3.1."""
    if digits.count(".") != 1 or not digits.replace(".", "").isdigit():
        return False
    return text.startswith("版", end) or _NUMBERED.search(text, max(begin - 24, 0), begin) is not None


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    if character in "\u066b\u066c’":
        return {"\u066b": ".", "\u066c": ",", "’": "'"}[character]
    digit = unicodedata.decimal(character, None)
    if digit is None:
        return character
    return str(digit)


def _readings(digits: str, minus: bool, power: str) -> list[frozenset[Value | str]]:
    """What a run of digits and marks can mean; several numbers if it is a list of them."""
    number = digits.removesuffix(power)
    marks = [character for character in number if not character.isdigit()]
    if not marks:
        return [frozenset((_value(digits, minus),))]

    decimal = marks[-1]
    integer, _, decimals = number.rpartition(decimal)
    plain = re.sub(r"[.,']", "", integer)
    fraction = _value(f"{plain}.{decimals}{power}", minus)
    if len(marks) == 1 and decimal != "'":
        if len(decimals) != 3 or len(integer) > 3 or integer.startswith("0"):
            return [frozenset((fraction,))]
        thousands = _value(integer + decimals + power, minus)
        if decimal == ".":
            return [frozenset((thousands, fraction))]
        return [frozenset((thousands,))]

    if _GROUPED.fullmatch(number):
        return [frozenset((_value(re.sub(r"[.,']", "", number) + power, minus),))]
    if len(set(marks)) > 1 and marks.count(decimal) == 1 and decimal != "'" and _GROUPED.fullmatch(integer):
        return [frozenset((fraction,))]
    if set(marks) == {"."}:
        return [frozenset((number,))]

    readings: list[frozenset[Value | str]] = []
    for part in filter(None, re.split(r"[,']", number)):
        readings += _readings(part, False, "")
    return readings


def _value(number: str, minus: bool) -> Value:
    mantissa, _, power = number.lower().partition("e")
    integer, _, decimals = mantissa.partition(".")
    exponent = int(power[:9] or 0) - len(decimals)
    digits = (integer + decimals).lstrip("0")
    short = digits.rstrip("0")
    if not short:
        return (False, "", 0)
    return (minus, short, exponent + len(digits) - len(short))


# Negations, identifiers and names.

_BLANKS = " \t\u00a0\u3000"
"""What may stand between a negation and what it denies. A line end may be the end of an answer: "Refundable: no"."""

_IDENTIFIER = re.compile(
    r"""`(?P<quoted>[^`\s]{2,80})`
    | (?<![\w-])--[a-z][\w-]+
    | (?<!\w)(?:[^\W\d]\w*_\w+ | [a-z]+[A-Z]\w* | _\w+ | [A-Za-z]+[0-9]\w*)
    | (?<![\w.])[^\W\d]\w+(?:\.[^\W\d]\w+)+""",
    re.VERBOSE,
)
"""Words that programs have: with an underscore, a capital or a digit inside, joined by full stops, quoted as code."""

_NAME = re.compile(r"(?<![.!?:\n\"“„»(]\s)(?<!^)(?<=[\s(\"“„'-])[^\W\d_a-z][\w’'-]+")


_SENTENCE_END = re.compile(r"[.!?;:…](?=\s|\Z)|[。！？；\n|]")
_BESIDE = 24
"""The number of characters before and after a stretch in which a word may stand that replaced one of the reference."""
_NEAR = 100
"""The number of characters before and after a stretch that may belong to a number or a negation of the stretch."""


class TextFacts:
    """What guards look at in a text, found when it is first needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.around = text
        """The text with a few words before and after it, where it is a part of another."""

    @cached_property
    def numbers(self) -> list[Quantity]:
        """The numbers, in digits and in words, without the numbers of citations, items of lists and addresses."""
        in_words = [number for word in number_words(self.text) if (number := _quantity(self.text, word))]
        marks: set[int] = set()
        for start, end in chain(number_marks(self.text), left_out(self.text)):
            marks.update(range(start, end))
        in_digits = (number for number in quantities(self.text) if number.start not in marks)
        return sorted((*in_digits, *in_words), key=_start)

    @cached_property
    def negations(self) -> list[tuple[int, int]]:
        """Where negations stand."""
        return negations(self.text)

    @cached_property
    def may_deny(self) -> bool:
        """Whether there may be negations."""
        return may_deny(self.text)

    @cached_property
    def identifiers(self) -> list[str]:
        """The identifiers, as they are written."""
        return [match["quoted"] or match[0] for match in _IDENTIFIER.finditer(without_gaps(self.text))]

    def has_identifier(self, identifier: str) -> bool:
        """Whether an identifier stands here: as whole words, or where other scripts join it as it is written."""
        if _line(identifier) in self.line:
            return True
        return not identifier.isascii() and identifier in self.text

    @cached_property
    def line(self) -> str:
        """All words with blanks between them."""
        return _line(self.text)

    @cached_property
    def names(self) -> Counter[str]:
        """Words that are capitalised inside sentences, folded."""
        return Counter(fold(match[0]) for match in _NAME.finditer(self.text) if match[0][0].isupper())

    def near(self, start: int, end: int, reference: TextFacts | None = None) -> TextFacts:
        """The facts of one stretch; only the text near it is looked at.

        If words of a reference stand before or after those that matched, the words in their places belong to the
        stretch: "You cannot open it" for "We may open it".
        """
        low = max(start - _NEAR, 0)
        near = TextFacts(self.text[low : end + _NEAR])
        first, past = start - low, end - low
        if reference is not None:
            first, past = near._with_replaced(first, past, reference.words)
        return near.within([(first, past)])

    @cached_property
    def words(self) -> list[str]:
        """The words, folded."""
        return words(self.text)

    def _with_replaced(self, start: int, end: int, reference_words: Sequence[str]) -> tuple[int, int]:
        """A stretch with as many words before and after it as the reference has there, in the same sentence."""
        matched = words(self.text[start:end])
        if not matched or not reference_words:
            return start, end

        if matched[0] in reference_words and matched[0] != reference_words[0]:
            number = reference_words.index(matched[0])
            before = _SENTENCE_END.split(self.text[:start])[-1]
            replaced = spans(before)[-number - 1 :]
            if replaced:
                start += replaced[0][0] - len(before)
        if matched[-1] in reference_words and matched[-1] != reference_words[-1]:
            number = reference_words[::-1].index(matched[-1])
            replaced = spans(_SENTENCE_END.split(self.text[end:])[0])[: number + 1]
            if replaced:
                end += replaced[-1][1]
        return start, end

    def within(self, stretches: Sequence[tuple[int, int]]) -> TextFacts:
        """The facts of some stretches alone; a number that reaches into one belongs to it."""
        if list(stretches) == [(0, len(self.text))]:
            return self

        texts: list[str] = []
        numbers: list[Quantity] = []
        negations: list[tuple[int, int]] = []
        for start, end in stretches:
            first, past = self._to_words(start, end)
            texts.append(self.text[first:past])
            numbers += self._numbers(start, end)
            negations += self._denials(start, end)

        part = TextFacts(" ".join(texts))
        part.around = " ".join(self._to_clause(start, end) for start, end in stretches)
        part.__dict__["numbers"] = numbers
        part.__dict__["negations"] = negations
        return part

    def _to_words(self, start: int, end: int) -> tuple[int, int]:
        """A stretch with all of the words that it begins and ends in."""
        while start and _is_inside_word(self.text, start):
            start -= 1
        while end < len(self.text) and _is_inside_word(self.text, end):
            end += 1
        return start, end

    def _to_clause(self, start: int, end: int) -> str:
        """A stretch with a few words before and after it in the same sentence: a word that was replaced is no part."""
        before = _SENTENCE_END.split(self.text[max(start - _BESIDE, 0) : start])[-1]
        after = _SENTENCE_END.split(self.text[end : end + _BESIDE])[0]
        return before + self.text[start:end] + after

    def _numbers(self, start: int, end: int) -> Sequence[Quantity]:
        """The numbers that reach into a stretch; they ascend."""
        low = bisect_right(self.numbers, start, key=lambda number: number.end)
        return self.numbers[low : bisect_left(self.numbers, end, lo=low, key=lambda number: number.start)]

    def _denials(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The negations of a stretch, with one right before it ("No refunds"), and one that denies what it follows."""
        end = end_of_clause(self.text, end)
        index = bisect_right(self.negations, start, key=lambda span: span[1])
        if index and not self.text[self.negations[index - 1][1] : start].strip(_BLANKS):
            yield self.negations[index - 1]

        yield from _overlapping(self.negations, start, end)

        index = bisect_left(self.negations, end, key=lambda span: span[0])
        if index < len(self.negations):
            first, past = self.negations[index]
            if not self.text[end:first].strip(_BLANKS) and denies_what_it_follows(self.text[first:past]):
                yield first, past

    def needs(self, other: TextFacts, guards: Sequence[str]) -> bool:
        """Whether there is anything to guard between this reference and a text."""
        if self.numbers and ("numbers" in guards or "units" in guards):
            return True
        if "identifiers" in guards and self.identifiers:
            return True
        if "names" in guards and self.names:
            return True
        if "opposites" in guards:
            return True
        return "negations" in guards and (bool(self.negations) or other.may_deny)


def _line(text: str) -> str:
    return f" {' '.join(words(text))} "


def _is_inside_word(text: str, index: int) -> bool:
    """Whether an index lies between two letters of an ASCII word: other scripts need no blanks."""
    before, after = text[index - 1], text[index]
    return before.isascii() and after.isascii() and (before + after).replace("_", "a").isalnum()


def _start(quantity: Quantity) -> int:
    return quantity.start


_ONE_LETTER = re.compile(r"[\s-]?[A-Za-z]\b")
"""A unit that may as well be a letter: "a d"."""


def _quantity(text: str, word: NumberWord) -> Quantity | None:
    """A number in words, with its unit; nothing if its word is a number only before a unit, and none follows."""
    digits = str(word.value)
    unit = unit_at(text, word.start, word.end)
    if word.only_before_units and (unit is None or _ONE_LETTER.match(text, word.end)):
        return None
    reading = frozenset[Value | str]((_value(digits, False),))
    return Quantity(word.start, word.end, reading, unit, digits, is_weak=word.value == 1)


def _overlapping(spans: Sequence[tuple[int, int]], start: int, end: int) -> Sequence[tuple[int, int]]:
    """The spans that reach into a stretch; they ascend and do not overlap."""
    low = bisect_right(spans, start, key=lambda span: span[1])
    return spans[low : bisect_left(spans, end, lo=low, key=lambda span: span[0])]


def refusing(reference: TextFacts, text: TextFacts, guards: Sequence[str]) -> str:
    """The first guard that refuses a text as a match of a reference; empty if none does.

    >>> refusing(TextFacts("within 30 days"), TextFacts("within 300 days"), DEFAULT)
    'numbers'
    """
    if "numbers" in guards and reference.numbers and not _has_all(text.numbers, reference.numbers, units=False):
        return "numbers"
    if "units" in guards and any(quantity.unit for quantity in reference.numbers):
        known = {form for quantity in text.numbers for form in _forms(quantity)}
        present = [quantity for quantity in reference.numbers if _forms(quantity) & known]
        if not _has_all(text.numbers, present, units=True):
            return "units"
    if "negations" in guards and len(reference.negations) != len(text.negations):
        return "negations"
    if "opposites" in guards and contradicts(reference.text, text.around):
        return "opposites"
    if "identifiers" in guards and not all(map(text.has_identifier, reference.identifiers)):
        return "identifiers"
    if "names" in guards:
        text_words = set(fold(text.text).split()) | set(re.findall(r"[\w’'-]+", fold(text.text)))
        if any(name not in text_words for name in reference.names):
            return "names"
    return ""


def _has_all(text_numbers: Sequence[Quantity], numbers: Sequence[Quantity], units: bool) -> bool:
    """Whether a text has each of some numbers, as often, with its unit if units count."""
    waiting: dict[tuple[Value | str, str | None], deque[int]] = {}
    for index, text_number in enumerate(text_numbers):
        for form in _forms(text_number):
            waiting.setdefault((form, None), deque()).append(index)
            if units and text_number.unit is not None:
                waiting.setdefault((form, text_number.unit), deque()).append(index)

    used: set[int] = set()
    # Numbers that can be met in one way only come first.
    for quantity in sorted(numbers, key=lambda item: (len(item.readings), item.unit is None)):
        unit = None
        if units:
            unit = quantity.unit
        index_met = _first_unused((waiting.get((form, unit)) for form in _forms(quantity)), used)
        if index_met is not None:
            used.add(index_met)
        elif not quantity.is_weak or _is_replaced(quantity, text_numbers):
            return False
    return True


def _is_replaced(quantity: Quantity, text_numbers: Sequence[Quantity]) -> bool:
    """Whether a text counts the same unit, and never as often."""
    return any(number.unit == quantity.unit for number in text_numbers)


def _forms(quantity: Quantity) -> frozenset[Value | str]:
    """What a number can mean, and its text: the number of a version has no other meaning."""
    if "." in quantity.written:
        return quantity.readings | {quantity.written}
    return quantity.readings


def _first_unused(queues: Iterable[deque[int] | None], used: Container[int]) -> int | None:
    """The first of the queues' numbers that is not used. Used ones leave their queue, so each is looked at once."""
    for queue in queues:
        while queue and queue[0] in used:
            queue.popleft()
        if queue:
            return queue[0]
    return None
