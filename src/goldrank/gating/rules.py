"""The conditions that a run must meet: `Rule`s, in TOML or spelled in a line.

A rule is spelled as people say it, or as a table with the same words:

    nDCG@10 >= 0.40            rule = {measure = "nDCG@10", floor = 0.40}
    AP: -1%                    rule = {measure = "AP", drop = "1%"}
    AP [kind=long]: -5%        rule = {measure = "AP", slice = "kind", value = "long", drop = "5%"}
"""

from __future__ import annotations

import copy
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, get_args

from goldrank.base import ids, satellites
from goldrank.base.errors import (
    GoldrankError,
    OptionError,
    Position,
    RuleError,
    cannot_open,
    did_you_mean,
    file_name,
    of_type,
    one_of,
    whole_number,
)
from goldrank.base.types import Path, QueriesLike
from goldrank.comparison.settings import Statistics
from goldrank.gating.query_statistics import EXAMPLES, check_statistic, taken_apart
from goldrank.gating.query_statistics import spelled as spelled_statistic
from goldrank.measures import parse as parse_measure

Kind: TypeAlias = Literal["floor", "ceiling", "drop", "unjudged", "missing", "overlap", "latency", "tokens", "cost"]
Made = TypeVar("Made")

KINDS: dict[Kind, str] = {
    "floor": "the measure must be at least this",
    "ceiling": "the measure must be at most this",
    "drop": "the measure may be worse than the baseline by at most this, unless chance could do it",
    "unjudged": "at most this share of the returned documents may be unjudged",
    "missing": "at most this share of the judged queries may be without any result",
    "overlap": "at least this share of the judged queries must have a judged document in their results",
    "latency": "the time that all but the slowest few queries take must be at most this",
    "tokens": "the tokens that all but the dearest few queries take must be at most this",
    "cost": "what all but the dearest few queries cost must be at most this",
}
"""What each kind of rule asks."""

COSTS = ("latency", "tokens", "cost")
OF_MEASURES = ("floor", "ceiling", "drop")
SHARES = ("unjudged", "missing", "overlap")
TESTS = ("randomization", "t")
CORRECTIONS = ("max-t", "holm", "bonferroni", "none")
MOST_LINE = 10_000
"""Characters of a line of a file with rules."""
MOST_DIGITS = 400
"""Characters of a number in a rule."""

_OF_QUERIES = ("measure", "slice", "value")
_ALSO: dict[Kind, tuple[str, ...]] = dict.fromkeys(get_args(Kind), ()) | {
    "floor": (*_OF_QUERIES, "statistic"),
    "ceiling": (*_OF_QUERIES, "statistic"),
    "drop": (*_OF_QUERIES, "tested"),
    "latency": ("quantile", "statistic"),
    "tokens": ("quantile", "statistic"),
    "cost": ("quantile", "statistic"),
}
_SETTINGS = ("alpha", "test", "correction", "power", "samples", "seed", "unjudged")
_TOP = ("rules", "rule", "queries", "worst", "strict", "deterministic", "allow_changed_qrels", *_SETTINGS)
CALLED_NOW = {"holes": "unjudged", "metadata": "queries"}
"""Keys from before 1.0, which are near to others by their letters alone."""
USUAL = "NumRet"
"""What is measured where no rule names a measure."""

PositionOfKey: TypeAlias = Callable[[str | None], Position | str | None]
"""The position of a rule's key; for None, the position of the rule."""


@dataclass(frozen=True)
class Rule:
    """One condition that scores must meet.

    Examples
    --------
    >>> str(Rule.parse("nDCG@10 >= 0.40")), str(Rule.parse("map: -1%"))
    ('nDCG@10 >= 0.4', 'AP: -1%')
    """

    kind: Kind
    limit: float
    measure: str | None = None
    relative: bool = False
    """Whether the limit of a drop is a share of the baseline's value."""
    tested: bool = True
    """Whether a drop counts only if chance would rarely do it."""
    slice: str | None = None
    """An attribute of queries: the rule then holds for each group of queries by itself."""
    value: str | None = None
    """The group that the rule is about; None for all groups."""
    quantile: float = 0.95
    """Of latencies, tokens and costs: the share of the queries that must be as low as the limit."""
    statistic: str | None = None
    """What is asked of the values of queries, instead of the mean (of costs: instead of the quantile): "median", "p5",
    "mean", "total", or a share such as ">= 0.5"."""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Make a rule of a line.

        Parameters
        ----------
        text : str
            For example "nDCG@10 >= 0.40", "AP: -1%", "AP [kind=long]: -5%" or "missing <= 0%".

        Returns
        -------
        Rule

        Raises
        ------
        RuleError
            If it is not spelled as a rule, or its measure is unknown.
        """
        return cls.parse_at(text, None)

    @classmethod
    def parse_at(cls, text: str, where: Position | str | None) -> Rule:
        """The rule of a line; messages name its position."""
        spelled = _spelled(of_type(text, str, "a rule", "text"))
        if spelled is None:
            raise RuleError(
                f"{ids.show(text)!r} is not a rule",
                where=where,
                hint="A rule looks like 'nDCG@10 >= 0.40', 'AP: -1%', 'AP [kind=long]: -5%', 'p5 nDCG@10 >= 0.1' or "
                "'missing <= 0%'.",
            )

        table = _table_of_share(spelled, text, where) or _table_of_measure(spelled, where)
        if spelled.group is not None:
            name, equals, value = spelled.group.partition("=")
            table["slice"] = name.strip()
            if equals:
                table["value"] = value.strip()

        if spelled.untested:
            table["tested"] = False

        return cls.from_table(table, lambda key: where)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], position_of: PositionOfKey = lambda key: None) -> Rule:
        """The rule of a TOML table; `position_of(key)` is the position of a key."""
        if not isinstance(table, Mapping):
            raise RuleError(f"a rule is a table, not {_type(table)}", where=position_of(None))

        kind = _kind_of(table, position_of)
        limit, percent = _number(table[kind], kind, position_of(kind))
        value_words = f"{kind} is {table[kind]!r}"
        if kind in (*SHARES, *COSTS, "drop") and limit < 0:
            raise RuleError(f"{value_words}; it must be 0 or more", where=position_of(kind))
        if kind in SHARES and limit > 1:
            raise RuleError(
                f"{value_words}; it is a share, from 0 to 1", where=position_of(kind), hint='Or "40%" for 0.4.'
            )

        fields_of_rule: dict[str, Any] = {"relative": percent and kind == "drop"}
        if kind in OF_MEASURES:
            if table.get("measure") is None:
                raise RuleError(
                    f"a {kind} needs a measure", where=position_of(kind), hint='For example measure = "nDCG@10".'
                )
            fields_of_rule["measure"] = _measure(table["measure"], position_of("measure")).name

        for key in ("slice", "value"):
            if key in table:
                value = table[key]
                if key == "value" and isinstance(value, int | float) and not isinstance(value, bool):
                    value = f"{value:g}"
                if not isinstance(value, str) or not value:
                    raise RuleError(f"{key} is {value!r:.60}; it must be text", where=position_of(key))
                fields_of_rule[key] = value

        if "value" in fields_of_rule and "slice" not in fields_of_rule:
            raise RuleError("value needs slice: which attribute of the queries?", where=position_of("value"))

        if "tested" in table:
            if not isinstance(table["tested"], bool):
                raise RuleError(
                    f"tested is {table['tested']!r:.60}; it must be true or false", where=position_of("tested")
                )
            fields_of_rule["tested"] = table["tested"]

        if "quantile" in table:
            fields_of_rule["quantile"] = _number(table["quantile"], "quantile", position_of("quantile"))[0]
            if not 0 < fields_of_rule["quantile"] <= 1:
                raise RuleError(
                    "quantile must be between 0 and 1", where=position_of("quantile"), hint="0.95 is usual."
                )

        if table.get("statistic") is not None:
            try:
                fields_of_rule["statistic"] = check_statistic(table["statistic"])
            except RuleError as error:
                raise RuleError(error.what, where=position_of("statistic"), hint=error.hint) from None

        return cls(kind, limit, **fields_of_rule)

    @property
    def needs_baseline(self) -> bool:
        """Whether there must be something to compare with."""
        return self.kind == "drop"

    @property
    def limit_words(self) -> str:
        """The limit as it is spelled."""
        # In decimals, so that what is read again is this limit to the last bit.
        number = Decimal(repr(float(self.limit)))
        percent_sign = ""
        if self.relative or self.kind in SHARES:
            number = number.scaleb(2)
            percent_sign = "%"
        number = number.normalize()
        if abs(number.adjusted()) < 16:
            return f"{number:f}{percent_sign}"
        return f"{number:g}{percent_sign}"

    def __str__(self) -> str:
        subject: str = self.kind
        if self.measure is not None:
            subject = spelled_statistic(self.measure, self.statistic)
        if self.kind in COSTS:
            subject = f"{self.kind} {self.statistic or f'p{100 * self.quantile:g}'}"
        if self.slice is not None and self.value is not None:
            subject += f" [{self.slice}={self.value}]"
        elif self.slice is not None:
            subject += f" [{self.slice}]"

        if self.kind in ("floor", "overlap"):
            return f"{subject} >= {self.limit_words}"
        if self.kind != "drop":
            return f"{subject} <= {self.limit_words}"
        sign = _sign_of_loss(_measure(str(self.measure), None))
        untested = " untested" * (not self.tested)
        return f"{subject}: {sign}{self.limit_words}{untested}"

    def to_dict(self) -> dict[str, Any]:
        """The rule as its table, with its spelling."""
        table = {"rule": str(self), **vars(self)}
        if self.kind not in COSTS:
            del table["quantile"]
        if self.statistic is None:
            del table["statistic"]
        return table


def _kind_of(table: Mapping[str, Any], position_of: PositionOfKey) -> Kind:
    """The kind of a rule's table, whose keys are checked."""
    known_keys: list[str] = list(KINDS)
    for keys in _ALSO.values():
        known_keys += [key for key in keys if key not in known_keys]
    _check_keys(table, known_keys, "a rule has", position_of)

    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        problem = "asks for nothing"
        if kinds:
            problem = f"has {' and '.join(kinds)}"
        raise RuleError(f"a rule {problem}", where=position_of(None), hint=f"It takes one of: {', '.join(KINDS)}.")

    (kind,) = kinds
    for key in table:
        if key != kind and key not in _ALSO[kind]:
            hint = "It takes nothing else."
            if _ALSO[kind]:
                hint = f"It takes: {', '.join(_ALSO[kind])}."
            raise RuleError(f"a rule of kind {kind} has no key {key!r}", where=position_of(key), hint=hint)
    return kind


class Rules:
    """The rules that a gate checks scores against, and how they are decided.

    Parameters
    ----------
    rules : str, Rule or list of these
        "nDCG@10 >= 0.40" is a floor, "AP: -1%" the drop against the baseline that is tolerated, "missing <= 0%" a
        share; docs/gate.md has all kinds. `Rules.load` reads them from a TOML file.
    statistics : Statistics
        How drops are tested. A gate takes the tests "randomization" and "t", and the corrections "max-t", "holm",
        "bonferroni" and "none". `unjudged="check"` withholds a verdict that unjudged documents could change.
    strict : bool
        Whether a drop fails that is not shown to be within the tolerance.
    deterministic : bool
        Whether the system always returns the same for the same queries. A drop on them is then not due to chance: one
        that is larger than tolerated fails without a test.
    worst : int
        How many of the queries that lost most are listed.
    allow_changed_qrels : bool
        Whether a baseline that was made with other judgements is used; it is then scored again, if it can be.
    queries : Queries, optional
        Attributes of queries that slices go by, and their latencies.

    Raises
    ------
    RuleError
        If there is no rule, one is misspelled or there twice, or the statistics are not for a gate.

    Examples
    --------
    >>> rules = Rules(["nDCG@10 >= 0.40", "map: -1%", "missing <= 0%"], strict=True)
    >>> rules.measures
    ('nDCG@10', 'AP')
    >>> [rule.kind for rule in rules]
    ['floor', 'drop', 'missing']
    """

    def __init__(
        self,
        rules: str | Rule | Iterable[str | Rule],
        *,
        statistics: Statistics = Statistics(),
        strict: bool = False,
        deterministic: bool = False,
        worst: int = 10,
        allow_changed_qrels: bool = False,
        queries: QueriesLike | None = None,
    ) -> None:
        self._rules = _each_once(_listed(rules), "rules")
        self.statistics = _for_gates(statistics)
        self.strict = _flag(strict, "strict")
        self.deterministic = _flag(deterministic, "deterministic")

        self.worst = whole_number(worst, "worst")
        self.allow_changed_qrels = _flag(allow_changed_qrels, "allow_changed_qrels")
        self.queries = queries
        self.name = "rules"
        """The file that they were read from, else 'rules'."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the rules of a TOML file.

        Parameters
        ----------
        path : str or path
            A file with `rules = [...]`, tables `[[rule]]`, and the options of `Rules` and `Statistics` as keys:
            strict, deterministic, worst, allow_changed_qrels, queries, unjudged, test, correction, alpha, power,
            samples, seed. The file that `queries` names is looked for beside it.

        Returns
        -------
        Rules

        Raises
        ------
        RuleError
            If it cannot be read, or has something that rules cannot have; with the line.
        """
        name = file_name(path, "rules")
        loaded = cls.__new__(cls)
        content = RulesFile(name)
        loaded._rules = _each_once(content.rules(), name)
        loaded.statistics = content.statistics()
        loaded.strict = content.flag("strict")
        loaded.deterministic = content.flag("deterministic")
        loaded.worst = content.worst()
        loaded.allow_changed_qrels = content.flag("allow_changed_qrels")
        loaded.queries = content.queries()
        loaded.name = name
        return loaded

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures to evaluate for these rules, each once; one measure even if no rule names any."""
        named = dict.fromkeys(rule.measure for rule in self._rules if rule.measure is not None)
        return tuple(named) or (USUAL,)

    def with_changes(self, *, rules: Iterable[Rule] = (), **changes: Any) -> Rules:
        """These rules, more of them, and other values of the options that are named.

        Parameters
        ----------
        rules : list of Rule
            What is added.
        **changes
            Options of `Rules`, such as `strict=True`.

        Returns
        -------
        Rules
            A copy.
        """
        changed = copy.copy(self)
        changed._rules = _each_once([*self._rules, *rules], self.name)
        for name, value in changes.items():
            setattr(changed, name, value)
        return changed

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        options = ("_rules", "statistics", "strict", "deterministic", "worst", "allow_changed_qrels", "queries")
        return all(getattr(self, name) == getattr(other, name) for name in options)

    __hash__ = None  # type: ignore[assignment]  # queries may be anything

    def __repr__(self) -> str:
        return f"Rules({', '.join(repr(str(rule)) for rule in self._rules[:3])}{', ...' * (len(self) > 3)})"


RulesLike: TypeAlias = Rules | Path | Rule | Sequence[str | Rule]
"""`Rules`, a TOML file, a rule such as 'AP: -1%', or a list of rules."""


def as_rules(source: RulesLike) -> Rules:
    """Rules from what callers pass: a text is a rule if it is spelled as one, else the name of a file."""
    if isinstance(source, Rules):
        return source
    if isinstance(source, os.PathLike):
        return Rules.load(source)
    if isinstance(source, str) and _spelled(source) is None:
        return Rules.load(source)
    return Rules(source)


def _listed(source: str | Rule | Iterable[str | Rule]) -> list[Rule]:
    if isinstance(source, str | Rule):
        source = [source]
    if not isinstance(source, Iterable) or isinstance(source, Mapping):
        message = f"rules are given as {_type(source)}"
        raise RuleError(message, hint="Give a TOML file or a list of rules.", code="wrong-type")

    rules = []
    for rule in source:
        if not isinstance(rule, Rule):
            rule = Rule.parse(rule)
        rules.append(rule)
    return rules


def _each_once(rules: Sequence[Rule], where: str) -> tuple[Rule, ...]:
    if not rules:
        raise RuleError("there are no rules", where=where, hint='For example rules = ["nDCG@10: -1%"].')
    for i, rule in enumerate(rules):
        if rule in rules[:i]:
            raise RuleError(f"the rule '{ids.show(str(rule))}' is duplicated", where=where)
    return tuple(rules)


def _flag(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return value
    raise RuleError(f"{name} is {value!r:.60}; it must be true or false")


def _for_gates(statistics: Statistics) -> Statistics:
    """The statistics, checked: not all of them are for gates."""
    of_type(statistics, Statistics, "statistics", "Statistics", "For example Statistics(alpha=0.01).")
    one_of(statistics.test, TESTS, "the test of a gate")
    one_of(statistics.used_correction, CORRECTIONS, "the correction of a gate")
    if statistics.margin is not None or statistics.interval != "standard":
        message = "margin and interval of Statistics have no meaning for a gate"
        raise OptionError(message, hint="The tolerance is in the rule: 'AP: -1%'.", code="options-conflict")
    return statistics


class RulesFile:
    """A TOML file with rules: its content, and the position of each key."""

    def __init__(self, name: str) -> None:
        self.name = name
        text = _read(name)
        self.lines = text.splitlines()
        self.data = _parsed(text, self.lines, name)
        self.position_of: PositionOfKey = partial(_position_of_key, name, self.lines)
        _check_keys(self.data, _TOP, "rules have", self.position_of)

    def rules(self) -> list[Rule]:
        """The rules: spelled ones, then tables."""
        spelled, tables = self.data.get("rules", []), self.data.get("rule", [])
        if not isinstance(spelled, list) or not all(isinstance(line, str) for line in spelled):
            hint = 'For example rules = ["nDCG@10 >= 0.40", "AP: -1%"].'
            raise RuleError("rules is not a list of lines", where=self.position_of("rules"), hint=hint)
        if not isinstance(tables, list):
            raise RuleError(
                "rule is not a list of tables", where=self.position_of("rule"), hint="Each begins with [[rule]]."
            )

        rules = []
        for rule_line in spelled:
            line_number = next((i for i, line in enumerate(self.lines, 1) if rule_line in line), None)
            rules.append(Rule.parse_at(rule_line, Position(self.name, line_number)))

        table_starts = [i for i, line in enumerate(self.lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]
        for number, table in enumerate(tables):
            first = None
            if len(table_starts) == len(tables):
                first = table_starts[number]
            rules.append(Rule.from_table(table, partial(_position_of_key, self.name, self.lines, first=first)))
        return rules

    def statistics(self) -> Statistics:
        """How drops are tested."""
        settings = {key: self.data[key] for key in _SETTINGS if key in self.data}
        for key, value in settings.items():
            self._with_position(key, lambda key=key, value=value: _for_gates(Statistics(**{key: value})))  # type: ignore[misc]
        return self._with_position("test", lambda: Statistics(**settings))

    def _with_position(self, key: str, make: Callable[[], Made]) -> Made:
        """What `make` returns; an error names the line of the key."""
        try:
            return make()
        except OptionError as error:
            raise RuleError(error.what, where=self.position_of(key), hint=error.hint, code=error.code) from None

    def flag(self, key: str) -> bool:
        """A key that is true or false."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise RuleError(f"{key} is {value!r:.60}; it must be true or false", where=self.position_of(key))
        return value

    def worst(self) -> int:
        """How many queries are listed."""
        return self._with_position("worst", lambda: whole_number(self.data.get("worst", 10), "worst"))

    def queries(self) -> FilePath | None:
        """The file with the attributes of queries, which is looked for beside this one."""
        file = self.data.get("queries")
        if file is None:
            return None
        if not isinstance(file, str):
            raise RuleError("queries is not a file name", where=self.position_of("queries"))
        return FilePath(self.name).parent / file


def _read(name: str) -> str:
    try:
        return FilePath(name).read_bytes().decode()
    except OSError as error:
        raise cannot_open(error, name, RuleError) from None
    except UnicodeDecodeError as error:
        raise RuleError(f"is not UTF-8: {error}", where=name, code="not-utf8") from None
    except ValueError as error:  # such as a null byte in a name
        raise RuleError(f"cannot be opened: {error}", where=name, code="cannot-open") from None


def _parsed(text: str, lines: Sequence[str], name: str) -> dict[str, Any]:
    try:
        if any(len(line) > MOST_LINE for line in lines):
            raise tomllib.TOMLDecodeError(f"a line has more than {MOST_LINE:,} characters")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuleError(f"is not TOML: {error}", where=name) from None


_LIMIT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COST = re.compile(r"(latency|tokens|cost)(?:\s+(?:p(\d+(?:\.\d+)?)|(mean|median|total)))?", re.ASCII)


class _Spelled(NamedTuple):
    """The parts of a spelled rule."""

    subject: str
    """A measure, a share, or latency, tokens or cost."""
    group: str | None
    sign: str
    limit: str
    untested: bool


def _spelled(text: str) -> _Spelled | None:
    """The parts of a spelled rule; None if the text is not a rule.

    They are read from right to left, each part once, so that the time grows with the length alone.
    """
    unread = text.strip()
    untested = unread.endswith("untested")
    unread = unread.removesuffix("untested").rstrip()
    percent = "%" * unread.endswith("%")
    unread = unread.removesuffix("%").rstrip()

    sign_start, sign = max((unread.rfind(sign), sign) for sign in (">=", "<=", "==", ":"))
    number = unread[sign_start + len(sign) :].strip()
    if sign_start < 0 or len(number) > MOST_DIGITS or not _LIMIT.fullmatch(number):
        return None

    subject, group = unread[:sign_start].rstrip(), None
    if subject.endswith("]"):
        subject, opened, group = subject[:-1].rpartition("[")
        if not opened or "]" in group:
            return None
        subject = subject.rstrip()
    if subject == "P" and group is not None and (">=" in group or "<=" in group):
        subject, group = f"P[{group}]", None
    if subject:
        return _Spelled(subject, group, sign, number + percent, untested)
    return None


def _table_of_share(spelled: _Spelled, text: str, where: Position | str | None) -> dict[str, Any] | None:
    """The table of a rule about shares or latencies; None if it is about a measure."""
    cost = _COST.fullmatch(spelled.subject)
    if spelled.subject not in SHARES and cost is None:
        return None
    kind: Kind = spelled.subject  # type: ignore[assignment]  # it is one of the shares
    if cost:
        kind = cost[1]  # type: ignore[assignment]  # it is one of the costs
    expected_sign = "<="
    if kind == "overlap":
        expected_sign = ">="
    if spelled.sign != expected_sign:
        raise RuleError(f"{ids.show(text)!r}: {kind} takes {expected_sign}", where=where, hint=f"{KINDS[kind]}.")

    table: dict[str, Any] = {kind: spelled.limit}
    if cost and cost[2]:
        table["quantile"] = f"{cost[2]}%"
    if cost and cost[3]:
        table["statistic"] = cost[3]
    return table


def _table_of_measure(spelled: _Spelled, where: Position | str | None) -> dict[str, Any]:
    """The table of a rule about a measure."""
    subject, statistic = taken_apart(spelled.subject)
    sign, limit = spelled.sign, spelled.limit
    if sign == "==":
        sign = _sign_of_equality(subject, limit, where)
    if sign == ">=":
        return {"measure": subject, "floor": limit, "statistic": statistic}
    if sign == "<=":
        return {"measure": subject, "ceiling": limit, "statistic": statistic}
    if statistic is not None:
        message = f"'{spelled.subject}' takes >= or <=; only drops of means are tested"
        raise RuleError(message, where=where, hint=f"For example {EXAMPLES}.")

    sign_of_loss = _sign_of_loss(_measure(subject, where))
    if limit[0] != sign_of_loss:
        better = {"-": "higher", "+": "lower"}[sign_of_loss]
        message = f"{subject} is better when it is {better}: how much worse it may get is written with {sign_of_loss}"
        raise RuleError(message, where=where, hint=f"For example '{subject}: {sign_of_loss}1%'.")
    return {"measure": subject, "drop": limit[1:]}


def _sign_of_equality(subject: str, limit: str, where: Position | str | None) -> str:
    """`== 0` of a measure that should be low, such as Forbidden@10, is `<= 0`; other numbers are seldom met exactly."""
    if not _measure(subject, where).higher_is_better and float(limit.removesuffix("%")) == 0:
        return "<="
    message = f"'{subject} == {limit}': == is for 0, and for measures that should be low"
    raise RuleError(message, where=where, hint="Say >= or <=.")


class _RuleMeasure(NamedTuple):
    """A measure that a rule names."""

    name: str
    higher_is_better: bool


def _sign_of_loss(measure: _RuleMeasure) -> str:
    """The sign that a tolerated drop of a measure is written with."""
    if measure.higher_is_better:
        return "-"
    return "+"


def _check_keys(table: Iterable[str], known_keys: Sequence[str], subject: str, position_of: PositionOfKey) -> None:
    for key in table:
        if key not in known_keys:
            hint = did_you_mean(key, known_keys) or f"Known are: {', '.join(known_keys)}."
            if key in CALLED_NOW:
                hint = f"It is called {CALLED_NOW[key]}."
            raise RuleError(f"{subject} no key {ids.show(str(key))!r}", where=position_of(str(key)), hint=hint)


def _number(value: object, name: str, where: Position | str | None) -> tuple[float, bool]:
    """A number or a percentage, and which of them it was."""
    is_percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        decimal = Decimal(str(value).strip().removesuffix("%"))
        if is_percent:
            decimal /= 100
        number = float(decimal)
        if not math.isfinite(number):
            raise ValueError
    except (ValueError, ArithmeticError):
        raise RuleError(
            f"{name} is {value!r:.60}; it must be a number", where=where, hint='For example 0.01 or "1%".'
        ) from None

    return number, is_percent


def _measure(value: Any, where: Position | str | None) -> _RuleMeasure:
    """A measure, or a column that a satellite counts in files of other programs."""
    try:
        measure = parse_measure(value)
        return _RuleMeasure(str(measure), measure.declaration.higher_is_better)
    except GoldrankError as error:
        is_good = satellites.is_high_good(str(value))
        if is_good is not None:
            return _RuleMeasure(str(value), is_good)
        raise RuleError(error.what, where=where, hint=error.hint, code=error.code) from None


def _position_of_key(name: str, lines: list[str], key: str | None, first: int | None = None) -> Position:
    """The line of a key, from the first line of its table on."""
    start = None
    if first is not None:
        start = first + 1
    if key is None:
        return Position(name, start)

    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
    begin = first or 0
    for i, line in enumerate(lines[begin:], begin + 1):
        if pattern.match(line):
            return Position(name, i)
        if i > begin + 1 and first is not None and line.lstrip().startswith("["):
            break
    return Position(name, start)


def _type(value: object) -> str:
    return f"a value of type {type(value).__name__}"
