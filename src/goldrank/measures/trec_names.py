"""trec_eval's names: the measures that it prints, their nicknames and parameters, in terms of goldrank's.

`goldrank trec_eval`, `evaluate` and the stand-ins for tools that are built on trec_eval all ask here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from goldrank.base.errors import MeasureError, did_you_mean
from goldrank.measures.declare import Alias, lookup

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class PrintedName:
    """What trec_eval prints under a name."""

    parameters: str = "none"
    """'ranks' or 'levels' for cut-offs with a line each, 'numbers', 'gains', 'length' or 'none'."""
    default: tuple[float, ...] = ()
    count: bool = False
    """Whether it is a whole number, summed over queries."""
    single: bool = True
    """Whether it is printed for single queries."""


@dataclass(frozen=True)
class OutputLine:
    """One line of output per query and one for all of them, and the measure that it shows."""

    name: str
    entry: PrintedName
    measure: str | None
    """The name of goldrank's measure; None for runid and relstring, which are text."""
    k: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    length: int = 0


_PREFS = (
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
)
_PREF_COUNTS = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")

_PLAIN, _COUNT, _SUMMARY = PrintedName(), PrintedName(count=True), PrintedName(single=False)
_CUTS, _NUMBERS, _GAINS = PrintedName("ranks", RANKS), PrintedName("numbers"), PrintedName("gains")
_ORDERED: Sequence[tuple[PrintedName, str]] = [
    (_SUMMARY, "runid"),
    (PrintedName(count=True, single=False), "num_q"),
    (_COUNT, "num_ret num_rel num_rel_ret"),
    (_PLAIN, "map"),
    (_SUMMARY, "gm_map"),
    (_PLAIN, "Rprec bpref recip_rank"),
    (PrintedName("levels", ELEVEN), "iprec_at_recall"),
    (_CUTS, "P"),
    (PrintedName("length"), "relstring"),
    (_CUTS, "recall"),
    (_PLAIN, "infAP"),
    (_SUMMARY, "gm_bpref"),
    (PrintedName("levels", MULTIPLES), "Rprec_mult"),
    (_NUMBERS, "utility 11pt_avg"),
    (_PLAIN, "binG"),
    (_GAINS, "G dcg ideal_dcg ndcg ndcg_rel Rndcg"),
    (_CUTS, "ndcg_cut map_cut relative_P"),
    (PrintedName("ranks", (1, 5, 10)), "success"),
    (_PLAIN, "set_P set_relative_P set_recall set_map"),
    (_NUMBERS, "set_F"),
    (_COUNT, " ".join(["num_nonrel_judged_ret", *_PREF_COUNTS])),
    (_PLAIN, " ".join([*_PREFS, "map_avgjg"])),
    (_CUTS, "P_avgjg"),
    (PrintedName("levels", MULTIPLES), "Rprec_mult_avgjg"),
    (_PLAIN, "yaap"),
    (_GAINS, "rbp rbp_resid"),
    (PrintedName("ranks", (5, 10, 20)), "unj"),
]
TABLE = {name: entry for entry, names in _ORDERED for name in names.split()}
"""All measures of trec_eval 10 in the order in which it prints them."""

_OFFICIAL = list(TABLE)[:12]
_OTHER_TABLES = {"yaap", "dcg", "ideal_dcg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg", *_PREFS, *_PREF_COUNTS}
NICKNAMES: dict[str, Sequence[str]] = {
    "official": _OFFICIAL,
    "set": [*_OFFICIAL[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"],
    "all_trec": [name for name in TABLE if name not in _OTHER_TABLES],
    "all_prefs": ["runid", "num_q", *_PREF_COUNTS, *_PREFS],
    "prefs": ["runid", "num_q", *_PREF_COUNTS, *_PREFS[:3]],
    "qrels_jg": ["runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"],
}


def lines_of(measures: Iterable[str]) -> list[OutputLine]:
    """The lines that `-m` options ask for, in trec_eval's order."""
    marked: dict[str, str | None] = {}
    for text in measures:
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise MeasureError(f"trec_eval: measure '{text}' has a point but no parameters after it")
        if name in NICKNAMES:
            marked = dict.fromkeys(NICKNAMES[name]) | marked
        elif name in TABLE:
            marked[name] = marked.get(name) or parameters or None
        else:
            near = did_you_mean(name, [*TABLE, *NICKNAMES])
            raise MeasureError(f"trec_eval: illegal measure '{text}'", hint=near or f"Measures are {', '.join(TABLE)}.")

    lines: list[OutputLine] = []
    for name in TABLE:
        if name in marked:
            lines += _lines(name, marked[name])
    return lines


def lines_named(text: str) -> list[OutputLine] | None:
    """The lines that one of trec_eval's names stands for, if it says more than the name of a measure.

    Such names are nicknames, names whose cut-offs trec_eval would choose (`ndcg_cut`), and names with parameters:
    `P.5,10` or as pytrec_eval has it `P_5,10`, `set_F.0.25`, `ndcg.1=2,2=4`. None for everything else.
    """
    if text in NICKNAMES:
        return lines_of([text])
    if text in TABLE:
        if TABLE[text].default or text in ("runid", "relstring"):
            return lines_of([text])
        return None
    if "." not in text and "_" not in text:
        return None
    matched = _with_parameters().fullmatch(text)
    if not matched:
        return None

    name, parameters = matched.groups()
    kind = TABLE[name].parameters
    # A single cut-off is every tool's spelling, and `rbp.95` is ranx's.
    if kind == "none" or (kind == "gains" and "=" not in parameters) or (kind in _CUT and "," not in parameters):
        return None
    if kind in _CUT and not re.fullmatch(_CUT[kind], parameters):
        raise MeasureError(f"{text!r}: {parameters!r} is not a list of cut-offs", hint=f"For example {name}.5,10.")
    return list(_lines(name, parameters))


_CUT = {"ranks": r"\d+(,\d+)*", "levels": r"\d+(\.\d+)?(,\d+(\.\d+)?)*"}


@cache
def _with_parameters() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, TABLE), key=len, reverse=True))
    return re.compile(rf"({names})[._]([-+\d.,=p]+)")


def proper(name: str) -> Alias:
    """goldrank's measure for a name of the table. `ndcg_cut` and `map_cut` stand for nothing without a cut-off."""
    alias = lookup(name) or lookup(name.removesuffix("_cut"))
    assert alias is not None, name
    return alias


def _lines(name: str, parameters: str | None) -> Iterator[OutputLine]:
    entry = TABLE[name]
    long_name = name
    if parameters:
        long_name = f"{name}_{parameters}"

    if entry.parameters == "length":
        length = 10
        if parameters:
            length = int(max(0.0, min(to_float(parameters), 1e9)))
        yield OutputLine(long_name, entry, None, length=length)
        return

    if name == "runid":
        yield OutputLine(name, entry, None)
        return

    measure, implied = proper(name)
    match entry.parameters:
        case "ranks" | "levels":
            number_format = "{:3.2f}"
            if entry.parameters == "ranks":
                number_format = "{}"
            for cutoff in _cutoffs(name, parameters):
                yield OutputLine(f"{name}_{number_format.format(cutoff)}", entry, measure, cutoff, implied)
        case "numbers":
            numbers = [to_float(part) for part in _parts(parameters)]
            yield OutputLine(long_name, entry, measure, None, {**implied, **_numbers(name, numbers)})
        case "gains":
            yield OutputLine(long_name, entry, measure, None, {**implied, **_gains(name, parameters)})
        case _:
            yield OutputLine(name, entry, measure, None, implied)


def _parts(parameters: str | None) -> list[str]:
    """Parameters between commas."""
    if parameters:
        return parameters.split(",")
    return []


def _cutoffs(name: str, parameters: str | None) -> Sequence[float]:
    """The cut-offs of a measure, ascending: those given, or trec_eval's."""
    entry = TABLE[name]
    read: Callable[[str], float] = to_float
    if entry.parameters == "ranks":
        read = to_whole
    cutoffs: Sequence[float] = sorted(map(read, _parts(parameters))) or entry.default

    if len(set(cutoffs)) < len(cutoffs):
        raise MeasureError(f"trec_eval: {name}: a cut-off is given twice")
    if entry.parameters == "ranks" and cutoffs[0] <= 0:
        raise MeasureError(f"trec_eval: {name}: a cut-off must be above 0")
    return cutoffs


def _numbers(name: str, numbers: Sequence[float]) -> dict[str, Any]:
    if name == "utility":
        if numbers and len(numbers) != 4:
            raise MeasureError(f"trec_eval: utility takes 4 numbers, not {len(numbers)}")
        return dict(zip("abcd", numbers, strict=False))
    if name == "set_F":
        if numbers:
            return {"weight": numbers[0]}
        return {}
    if numbers:
        return {"points": list(numbers)}
    return {}


def _gains(name: str, parameters: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    gain: dict[int, float] = {}
    for part in _parts(parameters):
        key, _, value = part.partition("=")
        if part.count("=") != 1:
            raise MeasureError(
                f"trec_eval: malformed pair parameters in '{parameters}'", hint="They look like 1=3,2=9."
            )
        if key == "p" and name in ("rbp", "rbp_resid"):
            options["p"] = to_float(value)
        elif re.fullmatch(r"[+-]?\d+", key, re.ASCII) and name != "rbp_resid":
            gain.setdefault(int(key), to_float(value))  # as there, the first of two for one grade

    if gain:
        return {**options, "gain": gain}
    return options


def to_whole(text: str) -> int:
    """The whole number that a text starts with, as C reads it: within 64 bits."""
    matched = re.match(r"\s*[+-]?\d+", text, re.ASCII)
    if matched is None:
        return 0
    most = (1 << 63) - 1
    if len(matched[0]) >= 4_000:
        if "-" in matched[0]:
            return -most
        return most
    return max(-most, min(int(matched[0]), most))


def to_float(text: str) -> float:
    """The number that a text starts with, as C reads it: decimal, with 0x hexadecimal, inf or nan; 0 for none."""
    matched = _C_NUMBER.match(text)
    if matched is None:
        return 0.0
    number = matched[0].strip()
    try:
        if "x" in number.lower():
            return float.fromhex(number)
        return float(number)
    except OverflowError:  # decimals that are too large are infinite by themselves
        if number.startswith("-"):
            return -math.inf
        return math.inf


_C_NUMBER = re.compile(
    r"""\s*[+-]?(?:
        0x(?:[\da-f]+(?:\.[\da-f]*)?|\.[\da-f]+)(?:p[+-]?\d+)?
        | (?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?
        | inf | nan)""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
