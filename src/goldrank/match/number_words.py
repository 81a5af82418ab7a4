"""Numbers that are written as words, in many languages: three, two hundred, einundzwanzig, двух, 三年, ثلاثة, สามปี.

A word that also means something else ("one", the French "neuf", the Italian "due") is a number only before a unit. In
Chinese, Japanese, Korean and Thai a numeral is one only before what it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from goldrank.match.tokens import words

_WORDS: dict[int, str] = {
    2: "two zwei deux twee dois duas dos два две двух двум двумя kaksi kahden kahta två dwa dwie اثنان اثنين اثنتان",
    3: "three drei trois tres drie três tre три трёх трех трём тремя kolme kolmen kolmea trzy ثلاث ثلاثة",
    4: "four vier quatre cuatro quattro quatro четыре четырёх четырех neljä neljän neljää fyra cztery أربع أربعة",
    5: "five fünf cinq cinco cinque vijf пять пяти viisi viiden viittä fem pięć خمس خمسة",
    6: "six sechs seis zes шесть шести kuusi kuuden kuutta sześć ست ستة",
    7: "seven sieben sept siete sette zeven sete семь семи seitsemän seitsemää sju siedem سبع سبعة",
    8: "eight acht huit ocho otto oito восемь восьми kahdeksan kahdeksaa åtta osiem ثمان ثماني ثمانية",
    9: "nine neun nueve nove negen девять девяти yhdeksän yhdeksää nio dziewięć تسع تسعة",
    10: "ten zehn dix diez dieci tien dez десять десяти kymmenen kymmentä tio dziesięć عشر عشرة",
    11: "eleven elf onze undici одиннадцать одиннадцати yksitoista",
    12: "twelve zwölf douze doce dodici twaalf doze двенадцать двенадцати kaksitoista",
    13: "thirteen dreizehn treize trece tredici dertien тринадцать kolmetoista",
    14: "fourteen vierzehn quatorze catorce quattordici veertien четырнадцать neljätoista",
    15: "fifteen fünfzehn quinze quince quindici vijftien пятнадцать viisitoista",
    16: "sixteen sechzehn seize dieciséis sedici zestien шестнадцать",
    17: "seventeen siebzehn diecisiete diciassette zeventien семнадцать",
    18: "eighteen achtzehn dieciocho diciotto achttien восемнадцать",
    19: "nineteen neunzehn diecinueve diciannove negentien девятнадцать",
    20: "twenty zwanzig vingt veinte venti twintig vinte двадцать двадцати kaksikymmentä tjugo dwadzieścia عشرون عشرين",
    30: "thirty dreißig trente treinta trenta dertig trinta тридцать тридцати kolmekymmentä trettio ثلاثون ثلاثين",
    40: "forty vierzig quarante cuarenta quaranta veertig quarenta сорок сорока neljäkymmentä أربعون أربعين",
    50: "fifty fünfzig cinquante cincuenta cinquanta vijftig пятьдесят пятидесяти viisikymmentä خمسون خمسين",
    60: "sixty sechzig soixante sesenta sessanta zestig шестьдесят kuusikymmentä ستون ستين",
    70: "seventy siebzig soixante-dix setenta settanta zeventig семьдесят سبعون سبعين",
    80: "eighty achtzig quatre-vingt quatre-vingts ochenta ottanta tachtig oitenta восемьдесят ثمانون ثمانين",
    90: "ninety neunzig quatre-vingt-dix noventa novanta negentig девяносто تسعون تسعين",
    100: "hundred hundert honderd cien ciento cento сто ста sata sataa hundra مئة مائة",
    200: "двести двухсот kaksisataa doscientos duecento مئتان مائتان",
    300: "триста трёхсот kolmesataa trescientos trecento",
    400: "четыреста neljäsataa cuatrocientos quattrocento",
    500: "пятьсот viisisataa quinientos cinquecento",
    1000: "thousand tausend duizend tuhat tuhatta tusen тысяча тысячи тысяч ألف",
}
_BEFORE_UNITS: dict[int, str] = {
    1: "one a an ein eine einen einem einer eines un une uno una een um uma en ett один одна одну одного одной yksi "
    "yhden yhtä واحد واحدة",
    2: "due",
    3: "drie",
    6: "sei sex",
    9: "neuf",
    11: "once",
    100: "cent",
    1000: "mille mil mila",
}
"""Words that are numbers only before a unit: elsewhere they are articles, or mean something else."""

_GERMAN_ONES = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
_GERMAN_TENS = ("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
_DUTCH_ONES = ("een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen")
_DUTCH_TENS = ("twintig", "dertig", "veertig", "vijftig", "zestig", "zeventig", "tachtig", "negentig")
_ITALIAN_TENS = ("venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta")
_ITALIAN_ONES = ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
_SPANISH_ONES = ("uno", "dós", "trés", "cuatro", "cinco", "séis", "siete", "ocho", "nueve")


class NumberWord(NamedTuple):
    """A number in words, and where it stands."""

    start: int
    end: int
    value: int
    only_before_units: bool = False
    """Whether it is a number only if it counts a unit."""


@cache
def _values() -> dict[str, int]:
    values = {word: value for value, line in _WORDS.items() for word in line.split()}
    for tens in range(2, 10):
        for ones in range(1, 10):
            value = 10 * tens + ones
            values[f"{_GERMAN_ONES[ones - 1]}und{_GERMAN_TENS[tens - 2]}"] = value
            values[f"{_DUTCH_ONES[ones - 1]}en{_DUTCH_TENS[tens - 2]}"] = value
            values[f"{_DUTCH_ONES[ones - 1]}ën{_DUTCH_TENS[tens - 2]}"] = value
            italian = _ITALIAN_TENS[tens - 2]
            if ones in (1, 8):
                italian = italian[:-1]  # ventuno, ventotto
            values[italian + _ITALIAN_ONES[ones - 1]] = value
    for ones in range(1, 10):
        values[f"veinti{_SPANISH_ONES[ones - 1]}"] = 20 + ones
        values[f"{_GERMAN_ONES[ones - 1]}hundert"] = 100 * ones
        values[f"{_GERMAN_ONES[ones - 1]}tausend"] = 1000 * ones
    return values


@cache
def _values_before_units() -> dict[str, int]:
    return {word: value for value, line in _BEFORE_UNITS.items() for word in line.split()}


@cache
def _first_words() -> frozenset[str]:
    """The folded words of which a text must have one."""
    return frozenset(chain.from_iterable(words(word) for word in (*_values(), *_values_before_units())))


_MAGNITUDES = (100, 1000)
_JOINT = re.compile(r"[ \n\u00a0-](?P<link>and |et |y |e |и |و)?(?=\w)")
"""What stands between the words of one number: "two hundred and five"."""


@cache
def _pattern() -> re.Pattern[str]:
    listed = sorted((*_values(), *_values_before_units()), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])و?({'|'.join(listed)})(?![\w])", re.IGNORECASE)


_INSIDE_ONLY = {
    **dict.fromkeys(("one", "un", "une", "uno", "один", "одна"), 1),
    **dict.fromkeys(("cent", "cents"), 100),
    **dict.fromkeys(("mille", "mil"), 1000),
}
"""Words that are numbers inside a number of several words."""


@cache
def _next_pattern() -> re.Pattern[str]:
    listed = sorted((*_values(), *_INSIDE_ONLY), key=len, reverse=True)
    return re.compile(rf"({'|'.join(listed)})(?!\w)", re.IGNORECASE)


def number_words(text: str) -> Iterator[NumberWord]:
    """The numbers in words.

    >>> [(number.start, number.value) for number in number_words("Five days or two hundred and six.")]
    [(0, 5), (13, 206)]
    """
    if not _first_words().isdisjoint(words(text)):
        yield from _with_blanks(text)
    if not text.isascii():
        yield from _without_blanks(text)


def _with_blanks(text: str) -> Iterator[NumberWord]:
    """Numbers of scripts with blanks between words."""
    past = 0
    for match in _pattern().finditer(text):
        if match.start() < past or _is_part_of_digits(text, match.start()):
            continue
        word = match[1].lower()
        value = _values().get(word)
        only_before_units = value is None
        if value is None:
            value = _values_before_units()[word]
        end, value, is_long = _compounded(text, match.end(), value)
        past = end
        yield NumberWord(match.start(1), end, value, only_before_units and not is_long)


def _is_part_of_digits(text: str, start: int) -> bool:
    """Whether digits stand right before a word: 5 hundred is no number in words."""
    return text[max(start - 1, 0) : start] in (" ", "\u00a0", "-") and text[max(start - 2, 0) : start - 1].isdecimal()


def _compounded(text: str, end: int, value: int) -> tuple[int, int, bool]:
    """The end and the value of a number that may go on in further words, and whether it does."""
    total, current, least = 0, value, _room_after(value)
    is_long = False
    while joint := _JOINT.match(text, end):
        following = _next_pattern().match(text, joint.end())
        if following is None:
            break
        word = following[1].lower()
        part = _INSIDE_ONLY.get(word) or _values()[word]
        if joint["link"] == "و" and current < 10 < part < 100:
            current += part  # Arabic says three and twenty
            least = 1
        elif part in _MAGNITUDES and current < part and least < part:
            current *= part
            least = part
            if part == 1000:
                total, current = total + current, 0
        elif part < least:
            current += part
            least = _room_after(part)
        else:
            break
        end = following.end()
        is_long = True
    return end, total + current, is_long


def _room_after(value: int) -> int:
    """What may be added must be smaller than this: after twenty ones, after three nothing."""
    for size in (1000, 100, 10):
        if value >= size and value % size == 0:
            return size
    return 1


# Chinese, Japanese, Korean and Thai.

_HAN_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_SIZES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}
_HAN_COUNTED = (
    "年岁歳月日天周週星期小时小時时間時分秒个個か箇ヶカ名人位次回度倍项項条件台张張米公斤克吨元块円本枚匹頭"
    "冊階章節层層章点點種种只支页頁国國省市户戸"
)
_HAN = re.compile(
    rf"(?<![\d.])(?:(?<=百分之)[零〇一二两三四五六七八九十百]+|(?!百分之)[零〇一二两兩三四五六七八九十百千万萬亿億]+(?=[{_HAN_COUNTED}]))"
)
_KOREAN_WORDS = {
    **dict(zip(["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"], range(1, 11), strict=True)),
    **dict(zip(["스무", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"], range(20, 100, 10), strict=True)),
    **dict(zip(["석", "넉"], (3, 4), strict=True)),
}
_KOREAN_COUNTED = (
    "달|개월|개|시간|시|명|사람|번|살|주일|주|가지|권|대|병|잔|마리|장|배|해|년|일|분|초|원|회|층|킬로|미터|그램|퍼센트"
)
_KOREAN = re.compile(
    rf"(?<![\w])(?P<own>(?:열|스물|서른|마흔|쉰)?(?:{'|'.join(_KOREAN_WORDS)})) ?(?=(?:{_KOREAN_COUNTED}))"
    rf"|(?<![\w])(?P<sino>[일이삼사오육칠팔구십백천만]{{2,}}|[삼오육칠팔구십백천]) ?(?=(?:{_KOREAN_COUNTED}))"
    r"|(?<![\w])(?P<days>하루|이틀|사흘|나흘|닷새|엿새|이레|여드레|아흐레|열흘|보름)"
)
_KOREAN_DIGITS = {letter: value for value, letter in enumerate("영일이삼사오육칠팔구")}
_KOREAN_SIZES = {"십": 10, "백": 100, "천": 1000, "만": 10_000}
_KOREAN_DAYS = dict(
    zip(("하루", "이틀", "사흘", "나흘", "닷새", "엿새", "이레", "여드레", "아흐레", "열흘"), range(1, 11), strict=True)
) | {"보름": 15}
_THAI_DIGITS = {"หนึ่ง": 1, "เอ็ด": 1, "สอง": 2, "ยี่": 2, "สาม": 3, "สี่": 4, "ห้า": 5, "หก": 6, "เจ็ด": 7, "แปด": 8, "เก้า": 9}
_THAI_SIZES = {"สิบ": 10, "ร้อย": 100, "พัน": 1000, "หมื่น": 10_000, "แสน": 100_000, "ล้าน": 10**6}
_THAI_COUNTED = "ปี|เดือน|วัน|สัปดาห์|ชั่วโมง|นาที|วินาที|ครั้ง|คน|บาท|เมตร|กิโลเมตร|กิโลกรัม|กรัม|ลิตร|เปอร์เซ็นต์|ชั้น|เม็ด|เท่า|ตัว|แห่ง|ข้อ"
_THAI = re.compile(rf"((?:{'|'.join((*_THAI_DIGITS, *_THAI_SIZES))})+) ?(?={_THAI_COUNTED})")
_THAI_PART = re.compile("|".join((*_THAI_DIGITS, *_THAI_SIZES)))
_HAS_HAN = re.compile("[一二三四五六七八九十两百千]")


def _without_blanks(text: str) -> Iterator[NumberWord]:
    """Numbers of scripts without blanks, and of Korean."""
    if _HAS_HAN.search(text):
        for match in _HAN.finditer(text):
            value = _from_signs(match[0], _HAN_DIGITS, _HAN_SIZES)
            yield NumberWord(*match.span(), value, value == 1)
    if re.search("[가-힣]", text):
        for match in _KOREAN.finditer(text):
            yield _korean(match)
    if re.search("[ก-๛]", text):
        for match in _THAI.finditer(text):
            value = _from_signs(_THAI_PART.findall(match[1]), _THAI_DIGITS, _THAI_SIZES)
            yield NumberWord(*match.span(1), value, value == 1)


def _korean(match: re.Match[str]) -> NumberWord:
    if match["days"]:
        return NumberWord(*match.span(), _KOREAN_DAYS[match["days"]])
    if match["sino"]:
        value = _from_signs(match["sino"], _KOREAN_DIGITS, _KOREAN_SIZES)
        return NumberWord(*match.span("sino"), value)
    value = 0
    rest = match["own"]
    for part, size in (("스물", 20), *_KOREAN_WORDS.items()):
        if len(rest) > len(part) and rest.startswith(part) and size >= 10:
            value, rest = size, rest[len(part) :]
    value += _KOREAN_WORDS.get(rest, 0)
    return NumberWord(*match.span("own"), value, value == 1)


def _from_signs(signs: Iterator[str] | str | list[str], digits: dict[str, int], sizes: dict[str, int]) -> int:
    """The value of digits and sizes: 二百五十 is 2 x 100 + 5 x 10; 二〇二四 is read digit by digit."""
    listed = list(signs)
    if not any(sign in sizes for sign in listed):
        return int("".join(str(digits[sign]) for sign in listed))
    total = section = digit = 0
    for sign in listed:
        if sign in digits:
            digit = digits[sign]
            continue
        size = sizes[sign]
        if size >= 10_000:
            total += max(section + digit, 1) * size
            section = digit = 0
        else:
            section += max(digit, 1) * size
            digit = 0
    return total + section + digit
