"""Units after, and before, numbers: SI, per cent, money and time, in many languages and scripts."""

from __future__ import annotations

import re
from functools import cache

_SYMBOLS = (
    *("m", "km", "cm", "mm", "nm", "kg", "g", "mg", "t", "l", "ml", "cl", "dl", "s", "ms", "min", "h", "d", "W", "kW"),
    *("MW", "GW", "kWh", "MWh", "J", "kJ", "MJ", "V", "mV", "kV", "A", "mA", "Hz", "kHz", "MHz", "GHz", "N", "Pa"),
    *("kPa", "hPa", "bar", "cal", "kcal", "kB", "MB", "GB", "TB", "K", "ft", "lb", "oz", "yd", "mi", "km/h", "mph"),
)
_WORDS = {
    "%": ("%", "percent", "per cent", "prozent", "pct"),
    "‰": ("‰", "permille"),
    "°C": ("°c", "℃", "degrees celsius", "celsius"),
    "°F": ("°f", "℉", "degrees fahrenheit", "fahrenheit"),
    "µg": ("µg", "μg", "mcg", "ug", "microgram", "micrograms"),
    "µm": ("µm", "μm", "um", "micrometre", "micrometres", "micrometer", "micrometers"),
    "m": ("metre", "metres", "meter", "meters", "mètre", "mètres", "metro", "metros"),
    "km": ("kilometre", "kilometres", "kilometer", "kilometers", "kilomètres"),
    "cm": ("centimetre", "centimetres", "centimeter", "centimeters"),
    "mm": ("millimetre", "millimetres", "millimeter", "millimeters"),
    "kg": ("kilogram", "kilograms", "kilo", "kilos", "kilogramm"),
    "g": ("gram", "grams", "gramm", "gramme", "grammes"),
    "mg": ("milligram", "milligrams", "milligramm"),
    "t": ("tonne", "tonnes", "ton", "tons", "tonnen"),
    "l": ("litre", "litres", "liter", "liters"),
    "ml": ("millilitre", "millilitres", "milliliter", "milliliters"),
    "s": ("sec", "secs", "second", "seconds", "sekunde", "sekunden", "seconde", "secondes", "segundos"),
    "ms": ("millisecond", "milliseconds"),
    "min": ("mins", "minute", "minutes", "minuten", "minutos", "minuti"),
    "h": ("hr", "hrs", "hour", "hours", "stunde", "stunden", "heure", "heures", "hora", "horas", "ore"),
    "d": ("day", "days", "tag", "tage", "tagen", "jour", "jours", "día", "días", "giorni", "dagen", "dias"),
    "week": ("weeks", "woche", "wochen", "semaine", "semaines", "semana", "semanas", "weken"),
    "month": ("months", "monat", "monate", "monaten", "mois", "mes", "meses", "mesi", "maanden"),
    "year": ("years", "yr", "yrs", "jahr", "jahre", "jahren", "an", "ans", "año", "años", "anni", "jaar", "anos"),
    "W": ("watt", "watts"),
    "V": ("volt", "volts"),
    "ft": ("foot", "feet"),
    "inch": ("inches",),
    "mi": ("mile", "miles"),
    "lb": ("lbs",),
    "oz": ("ounce", "ounces"),
    "kB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "USD": ("$", "us$", "usd", "dollar", "dollars"),
    "EUR": ("€", "eur", "euro", "euros"),
    "GBP": ("£", "gbp", "pound", "pounds"),
    "JPY": ("¥", "jpy", "yen"),
    "CHF": ("chf", "francs", "franken"),
    "cent": ("cents", "ct"),
    "thousand": ("tausend", "k"),
    "million": ("millions", "mio", "millionen", "mn"),
    "billion": ("billions", "bn", "mrd", "milliarden"),
}
_OTHER_LANGUAGES = {
    "%": ("процент", "процента", "процентов", "prosenttia", "prosentti", "por ciento", "pour cent", "per cento"),
    "m": ("м", "метр", "метра", "метров", "metriä", "متر", "أمتار", "meter"),
    "km": ("км", "километр", "километра", "километров", "kilometriä", "كيلومتر", "كم", "kilómetros", "chilometri"),
    "cm": ("см", "сантиметров", "senttiä", "سم"),
    "mm": ("мм", "миллиметров"),
    "kg": ("кг", "килограмм", "килограмма", "килограммов", "kiloa", "كيلوغرام", "كغ", "kilogramos", "chili"),
    "g": ("грамм", "грамма", "граммов", "grammaa", "غرام", "gramos", "grammi"),
    "mg": ("мг", "миллиграммов"),
    "t": ("тонн", "тонны", "tonnia", "طن", "toneladas"),
    "l": ("литр", "литра", "литров", "litraa", "لتر", "litros", "litri"),
    "ml": ("мл", "миллилитров", "مل"),
    "s": ("сек", "секунд", "секунды", "секунду", "sekuntia", "sekunnin", "ثانية", "ثوان", "secondi", "sekunder"),
    "min": ("мин", "минут", "минуты", "минуту", "minuuttia", "minuutin", "دقيقة", "دقائق", "minuter"),
    "h": ("ч", "час", "часа", "часов", "tuntia", "tunnin", "ساعة", "ساعات", "timmar", "uur"),
    "d": (
        *("день", "дня", "дней", "сутки", "суток", "päivä", "päivää", "päivän", "يوم", "يوما", "أيام", "dag", "dagar"),
        *("werktag", "werktage", "werktagen", "dzień", "dni"),
    ),
    "week": (
        *("неделя", "недели", "неделю", "недель", "viikko", "viikkoa", "viikon", "أسبوع", "أسابيع", "settimane"),
        *("veckor", "week"),
    ),
    "month": ("месяц", "месяца", "месяцев", "kuukautta", "kuukauden", "شهر", "أشهر", "شهور", "månader", "maand"),
    "year": ("год", "года", "лет", "vuotta", "vuoden", "سنة", "سنوات", "عام", "أعوام", "år", "année", "années", "lat"),
    "EUR": ("евро", "euroa", "يورو"),
    "USD": ("доллар", "доллара", "долларов", "دولار", "dollaria"),
    "RUB": ("руб", "рубль", "рубля", "рублей", "₽"),
    "SEK": ("kronor", "sek"),
    "MB": ("мб", "мегабайт"),
    "GB": ("гб", "гигабайт"),
    "million": ("миллион", "миллиона", "миллионов", "miljoonaa", "مليون", "millones", "milioni"),
    "billion": ("миллиард", "миллиарда", "миллиардов", "miljardia", "مليار", "milliards"),
}
_JOINED = {
    "%": ("퍼센트", "パーセント", "เปอร์เซ็นต์", "％", "프로"),
    "km": ("公里", "千米", "キロメートル", "킬로미터", "กิโลเมตร"),
    "m": ("米", "公尺", "メートル", "미터", "เมตร"),
    "cm": ("厘米", "公分", "センチ", "센티", "เซนติเมตร"),
    "mm": ("毫米", "ミリメートル", "밀리미터", "มิลลิเมตร"),
    "kg": ("公斤", "千克", "キログラム", "킬로그램", "กิโลกรัม"),
    "g": ("克", "グラム", "그램", "กรัม"),
    "mg": ("毫克", "ミリグラム", "밀리그램", "มิลลิกรัม"),
    "t": ("吨", "噸", "トン", "톤", "ตัน"),
    "l": ("升", "リットル", "리터", "ลิตร"),
    "ml": ("毫升", "ミリリットル", "밀리리터", "มิลลิลิตร"),
    "ms": ("毫秒", "ミリ秒", "밀리초"),
    "s": ("秒钟", "秒", "초", "วินาที"),
    "min": ("分钟", "分鐘", "分間", "分", "분", "นาที"),
    "h": ("小时", "小時", "個小時", "个小时", "時間", "시간", "ชั่วโมง"),
    "clock": ("点", "點", "時", "시"),
    "d": ("天", "日間", "日", "일", "วัน"),
    "week": ("周", "週間", "週", "个星期", "星期", "주일", "주", "สัปดาห์"),
    "month": ("个月", "個月", "か月", "ヶ月", "カ月", "箇月", "개월", "달", "เดือน"),
    "calendar month": ("月", "월"),
    "year": ("年间", "年間", "年", "년", "ปี"),
    "CNY": ("元", "块"),
    "JPY": ("円",),
    "KRW": ("원",),
    "THB": ("บาท",),
    "age": ("岁", "歳", "살", "ขวบ"),
    "people": ("人", "名", "명", "คน"),
    "times": ("次", "回", "번", "회", "ครั้ง"),
}
"""Units of scripts that join them to what follows."""
_AFTER = re.compile(r"[\s-]?(°\s?[CF]|[%‰℃℉]|[€$£¥](?!\s?\d)|km/h|(?:degrees|per) [a-z]+|[^\W\d_]+)")
_BEFORE = re.compile(r"([$€£¥]|\b(?:USD|EUR|GBP|JPY|CHF))\s?$")

_YEAR = re.compile(r"[12]\d{3}|[一二][零〇一二三四五六七八九]{3}")
_FRENCH = {"Ko": "kB", "Mo": "MB", "Go": "GB", "To": "TB"}
"""Octets. In lower case some of them are English words."""
_NEVER_BEFORE = frozenset(("", *"abcdefghijklmnopqrstuvwxyz0123456789-(.,"))
"""Signs that do not end a currency: most signs before a number are among them."""


@cache
def _units() -> dict[str, str]:
    units: dict[str, str] = {}
    for table in (_WORDS, _OTHER_LANGUAGES):
        for unit, listed in table.items():
            units |= dict.fromkeys((*listed, unit.casefold()), unit)
    return {**units, **dict(zip(_SYMBOLS, _SYMBOLS, strict=True)), "L": "l", "mL": "ml", **_FRENCH}


@cache
def _joined() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of the units of scripts without blanks, longest first, and the unit of each."""
    units = {word: unit for unit, listed in _JOINED.items() for word in listed}
    listed = sorted(units, key=len, reverse=True)
    return re.compile(rf"[ \u00a0-]?({'|'.join(listed)})"), units


def unit_at(text: str, start: int, end: int) -> str | None:
    """What the number between two places counts, if that is a known unit.

    >>> unit_at("within 30 days", 7, 9), unit_at("保修期为3年", 4, 5)
    ('d', 'year')
    """
    units = _units()
    if text[start - 1 : start] not in _NEVER_BEFORE:
        before = _BEFORE.search(text, max(start - 5, 0), start)
        if before:
            return units[before[1].casefold()]
    after = _AFTER.match(text, end)
    if after is None:
        return None
    if not after[1].isascii():
        is_year = _YEAR.fullmatch(text, start, end) is not None  # 2024年 is no 2,024 years
        pattern, joined = _joined()
        unit = pattern.match(text, end)
        if unit and not (joined[unit[1]] == "year" and is_year):
            return joined[unit[1]]
        if is_year:
            return None
    return units.get(after[1]) or units.get(" ".join(after[1].casefold().replace("° ", "°").split()))
