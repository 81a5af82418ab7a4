"""Pass or fail, and why: the `Verdict` of a gate, with a `Finding` for each rule and group of queries."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from goldrank import ids
from goldrank.comparison.holes import ToJudge
from goldrank.comparison.intervals import UNKNOWN, Interval
from goldrank.comparison.rank_changes import QueryChange
from goldrank.comparison.tabular import Tabular, attributes
from goldrank.data.scores import Scores
from goldrank.errors import GoldrankError
from goldrank.gating.rules import Rule
from goldrank.notes import Note


@dataclass(frozen=True)
class Finding:
    """What one rule found, for all queries or for one group of them."""

    rule: Rule
    status: str
    """'pass', 'fail', 'unclear' (neither is shown, so it passes unless the rules are strict), or 'judge': unjudged
    documents could decide it, so that it is neither."""
    words: str
    """The reason, for people."""
    value: float
    group: str = ""
    """The group of queries, such as 'kind=long'; '' for all of them."""
    baseline: float = math.nan
    interval: Interval = UNKNOWN
    """Of the change."""
    p: float = math.nan
    """One-sided: how often chance alone would make it as bad, if the drop were just what is tolerated."""
    adjusted: float = math.nan
    """The same, corrected for all tests of the gate."""
    at_most: bool = False
    """Whether the corrected p-value is only known to be at most this."""
    detectable: float = math.nan
    """The smallest drop that the test would have found with the chance that the rules name as power."""
    holes: str = ""
    """What unjudged documents mean for it, a key of `goldrank.comparison.holes.HOLES`; '' if nobody looked."""
    judge: tuple[ToJudge, ...] = ()
    """What to judge first, if unjudged documents could decide it."""
    queries: int = 0
    worse: int = 0
    better: int = 0
    worst: tuple[QueryChange, ...] = ()
    """What lost most; with their documents if those of run and baseline are known."""

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

    def row(self) -> dict[str, Any]:
        """The finding as one flat record."""
        return {
            **attributes(self, "title status words group value baseline change"),
            **attributes(self.interval, "low high"),
            "p": self.p,
            "p_adjusted": self.adjusted,
            **attributes(self, "at_most detectable holes queries worse better"),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        record = self.row()
        record["interval"] = [record.pop("low"), record.pop("high")]
        return {
            **self.rule.to_dict(),
            **record,
            "worst": [moved.to_dict("query before after cause") for moved in self.worst],
            "judge": [vars(document) for document in self.judge],
        }


@dataclass(frozen=True)
class Verdict(Tabular):
    """Whether a run passes, and why."""

    drawn_by = "gate"

    run: str
    findings: tuple[Finding, ...] = ()
    baseline: str = ""
    """What it was held against, in words; '' if against nothing."""
    rules: str = ""
    notes: tuple[Note, ...] = ()
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
        return tuple(finding for finding in self.findings if finding.failed)

    @property
    def to_judge(self) -> tuple[ToJudge, ...]:
        """The documents that could decide it and are to be judged first, each once."""
        holes = {
            (hole.query, hole.doc): hole for finding in reversed(self.findings) for hole in reversed(finding.judge)
        }
        return tuple(reversed(holes.values()))

    @property
    def status(self) -> str:
        """'pass', 'fail', 'unclear' (unjudged documents could decide: judge these) or 'error'."""
        if self.error or self.failed:
            return "error" if self.error else "fail"
        return "unclear" if any(finding.status == "judge" for finding in self.findings) else "pass"

    @property
    def exit_code(self) -> int:
        """0 if the run may go in, 1 if not, 2 if it could not be tried, 4 if documents must be judged to decide."""
        return {"pass": 0, "fail": 1, "error": 2, "unclear": 4}[self.status]

    def __bool__(self) -> bool:
        return self.status == "pass"

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        if self.error:
            return f"{ids.show(self.run, 200)}: nothing was decided: {self.error}"
        against = f" against {self.baseline}" if self.baseline else ""
        count = len(self.findings)
        held = f"{count} check{'s' * (count != 1)} passed"
        if self.failed:
            held = f"{len(self.failed)} of {count} checks failed"
        counts = Counter(finding.status for finding in self.findings)
        doubt = ""
        if self.status == "unclear":
            held = f"judge these: {counts['judge']} of {count} checks could be decided by unjudged documents"
        elif counts["unclear"] and not self.failed:
            doubt = f", {counts['unclear']} of them only because the queries cannot tell"
        return f"{ids.show(self.run, 200)}{against}: {held}{doubt}"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the scores, as plain Python values."""
        return {
            "format": "goldrank-verdict",
            "version": 3,
            **attributes(self, "status exit_code words run baseline rules error"),
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": [note.to_dict() for note in self.notes],
        }

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each finding."""
        return [finding.row() for finding in self.findings]

    def __repr__(self) -> str:
        return "\n".join(
            [self.words, *(f"  {finding.status:7} {finding.title}: {finding.words}" for finding in self.findings)]
        )
