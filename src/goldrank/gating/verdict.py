"""Pass or fail, and why: the `Verdict` of a gate, with a `Finding` for each rule and group of queries."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

from goldrank import ids
from goldrank.comparison.paired import UNKNOWN, Interval
from goldrank.data.scores import Scores
from goldrank.errors import GoldrankError
from goldrank.gating.rules import Rule


@dataclass(frozen=True)
class Moved:
    """One query's value before and after."""

    query: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True)
class Finding:
    """What one rule found, for all queries or for one group of them."""

    rule: Rule
    status: str
    """'pass', 'fail', or 'unclear': worse by more than is tolerated, but chance could do it, so it passes."""
    words: str
    """The reason, for people."""
    value: float
    group: str = ""
    """The group of queries, such as 'kind=long'; '' for all of them."""
    baseline: float = math.nan
    interval: Interval = UNKNOWN
    """Of the change."""
    p: float = math.nan
    """One-sided: how often chance alone would make it as much worse."""
    adjusted: float = math.nan
    """The same, corrected for all tests of the gate."""
    detectable: float = math.nan
    """The smallest drop that the test would have found with the chance that the rules name as power."""
    queries: int = 0
    worse: int = 0
    better: int = 0
    worst: tuple[Moved, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the rule does not hold."""
        return self.status == "fail"

    @property
    def change(self) -> float:
        """The value minus the baseline's."""
        return self.value - self.baseline

    @property
    def title(self) -> str:
        """The rule, and the group of queries where it is about one."""
        rule = replace(self.rule, value=self.group.partition("=")[2]) if self.group else self.rule
        return str(rule)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            **self.rule.to_dict(),
            "title": self.title,
            "status": self.status,
            "words": self.words,
            "group": self.group,
            "value": self.value,
            "baseline": self.baseline,
            "change": self.change,
            "interval": [self.interval.low, self.interval.high],
            "p": self.p,
            "p_adjusted": self.adjusted,
            "detectable": self.detectable,
            "queries": self.queries,
            "worse": self.worse,
            "better": self.better,
            "worst": [{"query": one.query, "before": one.before, "after": one.after} for one in self.worst],
        }


@dataclass(frozen=True)
class Verdict:
    """Whether a run may go in, and why."""

    run: str
    findings: tuple[Finding, ...] = ()
    baseline: str = ""
    """What it was held against, in words; '' if against nothing."""
    rules: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why nothing could be decided; '' if it could."""
    scores: Scores | None = field(default=None, repr=False, compare=False)

    @classmethod
    def undecided(cls, run: str, error: GoldrankError) -> Verdict:
        """The verdict of a gate that could not decide."""
        return cls(run=run, error=str(error))

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(one for one in self.findings if one.failed)

    @property
    def status(self) -> str:
        """'pass', 'fail' or 'error'."""
        return "error" if self.error else "fail" if self.failed else "pass"

    @property
    def exit_code(self) -> int:
        """0 if the run may go in, 1 if not, 2 if nothing could be decided."""
        return {"pass": 0, "fail": 1, "error": 2}[self.status]

    def __bool__(self) -> bool:
        return self.status == "pass"

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        if self.error:
            return f"{ids.show(self.run, 200)}: nothing was decided: {self.error}"
        against = f" against {self.baseline}" if self.baseline else ""
        count = len(self.findings)
        held = (
            f"{len(self.failed)} of {count} checks failed"
            if self.failed
            else f"{count} check{'s' * (count != 1)} passed"
        )
        unclear = sum(one.status == "unclear" for one in self.findings)
        doubt = f", {unclear} of them only because the queries cannot tell" if unclear and not self.failed else ""
        return f"{ids.show(self.run, 200)}{against}: {held}{doubt}"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the scores, as plain Python values."""
        return {
            "format": "goldrank-verdict",
            "version": 1,
            "status": self.status,
            "exit_code": self.exit_code,
            "words": self.words,
            "run": self.run,
            "baseline": self.baseline,
            "rules": self.rules,
            "error": self.error,
            "findings": [one.to_dict() for one in self.findings],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Everything but the scores, as JSON; what is not known is null."""
        return json.dumps(_without_nan(self.to_dict()), ensure_ascii=True, indent=2)

    def __repr__(self) -> str:
        return "\n".join([self.words, *(f"  {one.status:7} {one.title}: {one.words}" for one in self.findings)])

    def _repr_html_(self) -> str:
        from goldrank.data.table import html
        from goldrank.report.gate import parts

        return html(parts(self))


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value
