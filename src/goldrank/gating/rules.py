"""What a run must hold to: `Rule`s, in TOML or spelled in a line.

A rule is spelled as people say it, or as a table with the same words:

    nDCG@10 >= 0.40            rule = {measure = "nDCG@10", floor = 0.40}
    AP: -1%                    rule = {measure = "AP", drop = "1%"}
    AP [kind=long]: -5%        rule = {measure = "AP", slice = "kind", value = "long", drop = "5%"}
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from goldrank import ids
from goldrank.comparison.settings import Statistics
from goldrank.errors import (
    GoldrankError,
    InputError,
    OptionError,
    Place,
    cannot_open,
    did_you_mean,
    file_name,
    of_type,
    one_of,
)
from goldrank.gating import HOLES
from goldrank.measures import Measure
from goldrank.measures import parse as parse_measure

KINDS = {
    "floor": "the measure must be at least this",
    "ceiling": "the measure must be at most this",
    "drop": "the measure may be worse than the baseline by at most this, unless chance could do it",
    "unjudged": "at most this share of the returned documents may be unjudged",
    "missing": "at most this share of the judged queries may be without any result",
    "overlap": "at least this share of the judged queries must have a judged document in their results",
    "latency": "the time that all but the slowest few queries take must be at most this",
}
"""What each kind of rule asks."""

OF_MEASURES = ("floor", "ceiling", "drop")
SHARES = ("unjudged", "missing", "overlap")
TESTS = ("randomization", "t")
CORRECTIONS = ("max-t", "holm", "bonferroni", "none")
MOST_LINE = 10_000
"""Characters of a line of a file with rules."""
MOST_DIGITS = 400
"""Characters of a number in a rule."""

_OF_QUERIES = ("measure", "slice", "value")
_ALSO: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, ()) | {
    "floor": _OF_QUERIES,
    "ceiling": _OF_QUERIES,
    "drop": (*_OF_QUERIES, "tested"),
    "latency": ("quantile", "file", "field"),
}
_SETTINGS = ("alpha", "test", "correction", "power", "samples", "seed")
_TOP = ("rules", "rule", "metadata", "worst", "strict", "holes", *_SETTINGS)


Placer: TypeAlias = Callable[[str | None], Place | str | None]
"""Where a key of a rule stands; for None, where the rule does."""


class RuleError(InputError):
    """A rule that says nothing, contradicts itself or is misspelled."""


@dataclass(frozen=True)
class Rule:
    """One condition that a run must meet.

    >>> str(Rule.parse("nDCG@10 >= 0.40")), str(Rule.parse("map: -1%"))
    ('nDCG@10 >= 0.4', 'AP: -1%')
    """

    kind: str
    limit: float
    measure: str | None = None
    relative: bool = False
    """Whether the limit of a drop is a share of the baseline's value."""
    tested: bool = True
    """Whether a drop counts only if chance would rarely do it."""
    slice: str | None = None
    """An attribute of queries: the rule then holds for each group of queries by itself."""
    value: str | None = None
    """The one group that the rule is about; all of them if there is none."""
    quantile: float = 0.95
    file: str | None = None
    """Where latencies are: JSON, or JSONL with an object per query."""
    field: str = "latency"

    @classmethod
    def parse(cls, text: str, where: Place | str | None = None) -> Rule:
        """The rule spelled by a line such as 'nDCG@10 >= 0.40' or 'AP: -1%'."""
        spelled = _spelled(of_type(text, str, "a rule", "text"))
        if spelled is None:
            raise RuleError(
                f"{ids.show(text)!r} is not a rule",
                where=where,
                hint="A rule looks like 'nDCG@10 >= 0.40', 'AP: -1%', 'AP [kind=long]: -5%' or 'missing <= 0%'.",
            )
        subject, group, sign, limit, untested = spelled
        table: dict[str, Any] = {}
        if group is not None:
            name, equals, value = group.partition("=")
            table["slice"] = name.strip()
            if equals:
                table["value"] = value.strip()
        if untested:
            table["tested"] = False
        named = re.fullmatch(r"latency(?:\s+p(\d+(?:\.\d+)?))?", subject, re.ASCII)
        if subject in SHARES or named:
            kind = "latency" if named else subject
            right = ">=" if kind == "overlap" else "<="
            if sign != right:
                raise RuleError(f"{ids.show(text)!r}: {kind} takes {right}", where=where, hint=f"{KINDS[kind]}.")
            table[kind] = limit
            if named and named[1]:
                table["quantile"] = f"{named[1]}%"
        elif sign == ":":
            table |= {"measure": subject, "drop": limit[1:] if limit[0] in "+-" else limit}
            higher = _measure(subject, where).declaration.higher_is_better
            wanted = "-" if higher else "+"
            if limit[0] != wanted:
                raise RuleError(
                    f"{subject} is better when it is {'higher' if higher else 'lower'}: how much worse it may get is "
                    f"written with {wanted}",
                    where=where,
                    hint=f"For example '{subject}: {wanted}1%'.",
                )
        else:
            table |= {"measure": subject, "floor" if sign == ">=" else "ceiling": limit}
        return cls.from_table(table, lambda key: where)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], place: Placer = lambda key: None) -> Rule:
        """The rule of a TOML table; `place(key)` says where a key stands."""
        if not isinstance(table, Mapping):
            raise RuleError(f"a rule is a table, not {_type(table)}", where=place(None))
        known = list(dict.fromkeys([*KINDS, *(word for words in _ALSO.values() for word in words)]))
        _check_keys(table, known, "a rule has", place)
        kinds = [kind for kind in KINDS if kind in table]
        if len(kinds) != 1:
            named = f"has {' and '.join(kinds)}" if kinds else "asks for nothing"
            raise RuleError(f"a rule {named}", where=place(None), hint=f"It takes one of: {', '.join(KINDS)}.")
        (kind,) = kinds
        for key in table:
            if key != kind and key not in _ALSO[kind]:
                takes = f"It takes: {', '.join(_ALSO[kind])}." if _ALSO[kind] else "It takes nothing else."
                raise RuleError(f"a rule of kind {kind} has no key {key!r}", where=place(key), hint=takes)
        limit, percent = _number(table[kind], kind, place(kind))
        said = f"{kind} is {table[kind]!r}"
        if kind in (*SHARES, "drop", "latency") and limit < 0:
            raise RuleError(f"{said}; it must be 0 or more", where=place(kind))
        if kind in SHARES and limit > 1:
            raise RuleError(f"{said}; it is a share, from 0 to 1", where=place(kind), hint='Or "40%" for 0.4.')
        more: dict[str, Any] = {"relative": percent and kind == "drop"}
        if kind in OF_MEASURES:
            if table.get("measure") is None:
                raise RuleError(f"a {kind} needs a measure", where=place(kind), hint='For example measure = "nDCG@10".')
            more["measure"] = str(_measure(table["measure"], place("measure")))
        for key in ("slice", "value", "file", "field"):
            if key in table:
                value = table[key]
                if key == "value" and isinstance(value, int | float) and not isinstance(value, bool):
                    value = f"{value:g}"
                if not isinstance(value, str) or not value:
                    raise RuleError(f"{key} is {value!r:.60}; it must be text", where=place(key))
                more[key] = value
        if "value" in more and "slice" not in more:
            raise RuleError("value needs slice: which attribute of the queries?", where=place("value"))
        if "tested" in table:
            if not isinstance(table["tested"], bool):
                raise RuleError(f"tested is {table['tested']!r:.60}; it must be true or false", where=place("tested"))
            more["tested"] = table["tested"]
        if "quantile" in table:
            more["quantile"] = _number(table["quantile"], "quantile", place("quantile"))[0]
            if not 0 < more["quantile"] <= 1:
                raise RuleError("quantile must be between 0 and 1", where=place("quantile"), hint="0.95 is usual.")
        return cls(kind, limit, **more)

    @property
    def needs_baseline(self) -> bool:
        """Whether there must be something to compare with."""
        return self.kind == "drop"

    @property
    def limit_words(self) -> str:
        """The limit as it is spelled."""
        percent = self.relative or self.kind in SHARES
        # In decimals, so that what is read again is this limit to the last bit.
        number = Decimal(repr(float(self.limit))).scaleb(2 if percent else 0).normalize()
        return f"{number:{'f' if abs(number.adjusted()) < 16 else 'g'}}{'%' if percent else ''}"

    def __str__(self) -> str:
        subject = f"latency p{100 * self.quantile:g}" if self.kind == "latency" else self.measure or self.kind
        if self.slice is not None:
            subject += f" [{self.slice}]" if self.value is None else f" [{self.slice}={self.value}]"
        if self.kind != "drop":
            return f"{subject} {'>=' if self.kind in ('floor', 'overlap') else '<='} {self.limit_words}"
        sign = "-" if parse_measure(str(self.measure)).declaration.higher_is_better else "+"
        return f"{subject}: {sign}{self.limit_words}{'' if self.tested else ' untested'}"

    def to_dict(self) -> dict[str, Any]:
        """The rule as its table, with its spelling."""
        left_out = () if self.kind == "latency" else _ALSO["latency"]
        return {"rule": str(self), **{f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}}


@dataclass(frozen=True)
class Rules:
    """All rules of a gate, and how its tests are made."""

    rules: tuple[Rule, ...]
    statistics: Statistics = field(default_factory=partial(Statistics, correction="max-t"))
    metadata: str | None = None
    """JSONL with the attributes of queries that slices go by."""
    worst: int = 10
    """How many queries are shown that lost most."""
    strict: bool = False
    """Whether a drop that is not shown to be within the tolerance fails."""
    holes: str = "look"
    """What becomes of verdicts that unjudged documents could turn, a key of `HOLES`."""
    name: str = "rules"

    @property
    def measures(self) -> list[str]:
        """The measures that the rules are about."""
        return list(dict.fromkeys(rule.measure for rule in self.rules if rule.measure is not None))

    @classmethod
    def of(cls, given: RulesLike) -> Rules:
        """Rules from a TOML file, a table, a line, or a list of lines, tables and `Rule`s."""
        if isinstance(given, Rules):
            return given
        if isinstance(given, Path) or (isinstance(given, str) and _spelled(given) is None):
            return cls.load(given)
        if isinstance(given, Mapping):
            return cls.from_dict(given)
        if isinstance(given, Rule | str):
            given = [given]
        if not isinstance(given, Iterable):
            what = f"rules are given as {_type(given)}"
            raise RuleError(what, hint="Give a TOML file or a list of rules.", code="wrong-type")
        tables = (Rule.parse(rule) if isinstance(rule, str) else rule for rule in given)
        listed = [rule if isinstance(rule, Rule) else Rule.from_table(rule) for rule in tables]
        return cls.from_dict({}, more=listed)

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """The rules of a TOML file."""
        try:
            text = Path(file_name(path, "rules")).read_bytes().decode()
            if any(len(line) > MOST_LINE for line in text.splitlines()):
                raise tomllib.TOMLDecodeError(f"a line has more than {MOST_LINE:,} characters")
            data = tomllib.loads(text)
        except OSError as error:
            raise cannot_open(error, str(path), RuleError) from None
        except UnicodeDecodeError as error:
            raise RuleError(f"is not UTF-8: {error}", where=str(path), code="not-utf8") from None
        except GoldrankError:
            raise
        except (ValueError, RecursionError) as error:
            raise RuleError(f"is not TOML: {error}", where=str(path)) from None
        return cls.from_dict(data, name=str(path), text=text)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], name: str = "rules", text: str = "", more: Iterable[Rule] = ()
    ) -> Rules:
        """Rules from what a TOML file holds; `text` is for saying in which line something is wrong."""
        of_type(data, Mapping, "what holds the rules", "a table")
        lines = text.splitlines()
        place = partial(_place, name, lines)
        _check_keys(data, _TOP, "rules have", place)
        rules = []
        spelled, tables = data.get("rules", []), data.get("rule", [])
        if not isinstance(spelled, list) or not all(isinstance(line, str) for line in spelled):
            hint = 'For example rules = ["nDCG@10 >= 0.40", "AP: -1%"].'
            raise RuleError("rules is not a list of lines", where=place("rules"), hint=hint)
        if not isinstance(tables, list):
            raise RuleError("rule is not a list of tables", where=place("rule"), hint="Each begins with [[rule]].")
        for rule_line in spelled:
            at = next((i for i, line in enumerate(lines, 1) if rule_line in line), None)
            rules.append(Rule.parse(rule_line, Place(name, at)))
        heads = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]
        for number, table in enumerate(tables):
            first = heads[number] if len(heads) == len(tables) else None
            rules.append(Rule.from_table(table, partial(place, first=first)))
        rules += more
        if not rules:
            raise RuleError("there are no rules", where=name, hint='For example rules = ["nDCG@10: -1%"].')
        for i, rule in enumerate(rules):
            if rule in rules[:i]:
                raise RuleError(f"the rule '{ids.show(str(rule))}' is duplicated", where=name)
        metadata = data.get("metadata")
        if metadata is not None and not isinstance(metadata, str):
            raise RuleError("metadata is not a file name", where=place("metadata"))
        worst = data.get("worst", 10)
        if isinstance(worst, bool) or not isinstance(worst, int) or worst < 0:
            raise RuleError(f"worst is {worst!r}; it must be a whole number", where=place("worst"))
        strict = data.get("strict", False)
        if not isinstance(strict, bool):
            raise RuleError(f"strict is {strict!r:.60}; it must be true or false", where=place("strict"))
        try:
            holes = one_of(data.get("holes", "look"), HOLES, "holes")
        except OptionError as error:
            raise RuleError(error.what, where=place("holes"), hint=error.hint, code=error.code) from None
        return cls(tuple(rules), _settings(data, place), metadata, worst, strict, holes, name)

    def beside(self, path: str) -> Path:
        """A file that the rules name, which is looked for beside the file with the rules."""
        return Path(path) if self.name == "rules" else Path(self.name).parent / path


RulesLike: TypeAlias = Rules | Rule | str | Path | Mapping[str, Any] | Iterable[Rule | str | Mapping[str, Any]]
"""A TOML file, what one holds (whose values are checked), a line such as 'AP: -1%', or a list of these."""

_LIMIT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def _spelled(text: str) -> tuple[str, str | None, str, str, bool] | None:
    """The parts of a spelled rule: what it is about, the group, the sign, the limit, and whether it is 'untested'.

    From right to left, each part once, so that the time grows with the length alone. None if it is no rule.
    """
    rest = text.strip()
    untested = rest.endswith("untested")
    rest = rest.removesuffix("untested").rstrip()
    percent = "%" * rest.endswith("%")
    rest = rest.removesuffix("%").rstrip()
    at, sign = max((rest.rfind(sign), sign) for sign in (">=", "<=", ":"))
    number = rest[at + len(sign) :].strip()
    if at < 0 or len(number) > MOST_DIGITS or not _LIMIT.fullmatch(number):
        return None
    subject, group = rest[:at].rstrip(), None
    if subject.endswith("]"):
        subject, opened, group = subject[:-1].rpartition("[")
        if not opened or "]" in group:
            return None
        subject = subject.rstrip()
    return (subject, group, sign, number + percent, untested) if subject else None


def _check_keys(table: Iterable[str], known: Sequence[str], what: str, place: Placer) -> None:
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"Known are: {', '.join(known)}."
            raise RuleError(f"{what} no key {ids.show(str(key))!r}", where=place(str(key)), hint=hint)


def _settings(data: Mapping[str, Any], place: Placer) -> Statistics:
    given = {key: data[key] for key in _SETTINGS if key in data}
    for key, value in given.items():
        try:
            if key in ("test", "correction"):
                one_of(value, TESTS if key == "test" else CORRECTIONS, key)
            elif key in ("alpha", "power") and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise OptionError(f"{key} is {value!r:.60}; it must be a number")
            Statistics(**{key: value})
        except OptionError as error:
            raise RuleError(error.what, where=place(key), hint=error.hint, code=error.code) from None
    is_t = given.get("test") == "t"
    if is_t and given.get("correction") == "max-t":
        hint = "Leave out test, or use correction = 'holm'."
        what = "correction max-t is made of flips; it cannot correct t tests"
        raise RuleError(what, where=place("test"), hint=hint, code="options-conflict")
    return Statistics(**{"correction": "holm" if is_t else "max-t", **given})


def _number(value: object, what: str, where: Place | str | None) -> tuple[float, bool]:
    """A number or a percentage, and which of them it was."""
    percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        text = value.strip().removesuffix("%") if isinstance(value, str) else repr(value)
        number = float(Decimal(text) / (100 if percent else 1))
        if not math.isfinite(number):
            raise ValueError
    except (ValueError, ArithmeticError):
        raise RuleError(
            f"{what} is {value!r:.60}; it must be a number", where=where, hint='For example 0.01 or "1%".'
        ) from None
    return number, percent


def _measure(value: Any, where: Place | str | None) -> Measure:
    try:
        return parse_measure(value)
    except GoldrankError as error:
        raise RuleError(error.what, where=where, hint=error.hint, code=error.code) from None


def _place(name: str, lines: list[str], key: str | None, first: int | None = None) -> Place:
    """The line of a key, from the head of its table on."""
    if key is None:
        return Place(name, None if first is None else first + 1)
    sought = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
    begin = first or 0
    for i, line in enumerate(lines[begin:], begin + 1):
        if sought.match(line):
            return Place(name, i)
        if i > begin + 1 and first is not None and line.lstrip().startswith("["):
            break
    return Place(name, None if first is None else first + 1)


def _type(value: object) -> str:
    return f"a value of type {type(value).__name__}"
