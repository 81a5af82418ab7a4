"""Pass or fail, and why: the `Verdict` of a gate, with a `Finding` for each rule and group of queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias, overload

from goldrank.base import ids
from goldrank.base.errors import GoldrankError, InputError
from goldrank.base.notes import Note
from goldrank.comparison.holes import ToJudge
from goldrank.comparison.intervals import Interval
from goldrank.comparison.rank_changes import QueryChange
from goldrank.comparison.tabular import attributes
from goldrank.data.scores import Scores
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import Part
from goldrank.gating.limits import is_below
from goldrank.gating.rules import Rule

Question: TypeAlias = Literal["value", "these queries", "queries like these"]
Status: TypeAlias = Literal["pass", "fail", "unclear", "error"]
EXIT_CODES: dict[Status, Literal[0, 1, 2, 4]] = {"pass": 0, "fail": 1, "error": 2, "unclear": 4}


@dataclass(frozen=True, repr=False, eq=False)
class Finding(Result):
    """What one rule found, for all queries or for one group of them."""

    asked: Rule
    """The rule."""
    status: Status
    """'pass' (exit 0), 'fail' (exit 1), or 'unclear' (exit 4): unjudged documents could decide it."""
    words: str
    """The reason, for people."""
    value: float
    group: str | None = None
    """The group of queries, such as 'kind=long'; None for all of them."""
    baseline: float | None = None
    """The baseline's value, if there is one."""
    interval: Interval | None = None
    """Of the change, if it was tested."""
    p: float = math.nan
    """One-sided: how often chance alone would make it as bad, if the drop were just what is tolerated."""
    p_adjusted: float = math.nan
    """`p`, corrected for all tests of the gate; NaN where no test decides: these queries, or judgements do."""
    at_most: bool = False
    """Whether the corrected p-value is only known to be at most this."""
    detectable: float = math.nan
    """The smallest drop that the test would have found with the chance that the rules name as power."""
    unjudged: str = ""
    """What unjudged documents mean for it, a key of `goldrank.comparison.holes.HOLES`; '' if that was not checked."""
    judge_first: tuple[ToJudge, ...] = ()
    """What to judge first, if unjudged documents could decide it."""
    question: Question = "value"
    """What was asked: how the value is, what happened on these queries, or what happens on queries like these."""
    shown: bool = True
    """Whether it is shown. A drop rule also passes where neither a larger drop nor its absence is shown; strict rules
    fail then."""
    regressed: bool = False
    """Whether these queries got worse by more than tolerated, which is not shown for queries like these."""
    queries: int = 0
    worse: int = 0
    better: int = 0
    worst: tuple[QueryChange, ...] = ()
    """The queries that lost most; with their documents if these are known for run and baseline."""
    notes: tuple[Note, ...] = ()

    @property
    def rule(self) -> str:
        """The rule as it is spelled, with the group of queries where it is about one."""
        if self.group is None:
            return str(self.asked)
        return str(replace(self.asked, value=self.group.partition("=")[2]))

    @property
    def failed(self) -> bool:
        """Whether the rule does not hold."""
        return self.status == "fail"

    @property
    def needs_judging(self) -> bool:
        """Whether unjudged documents could decide it."""
        return self.status == "unclear"

    @property
    def label(self) -> str:
        """A word for people: the status, or 'judge' where documents are to be judged first."""
        if self.needs_judging:
            return "judge"
        return self.status

    @property
    def change(self) -> float | None:
        """The value minus the baseline's, if there is one; 0 where only rounding is between them."""
        if self.baseline is None:
            return None
        if not is_below(self.value, self.baseline) and not is_below(self.baseline, self.value):
            return 0.0
        return self.value - self.baseline

    def parts(self) -> list[Part]:
        """The reason, the values, and the queries that lost most."""
        from goldrank.gating.verdict_report import finding_parts

        return finding_parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        return [self.row()]

    def row(self) -> dict[str, Any]:
        """The finding as one flat record."""
        low, high = None, None
        if self.interval is not None:
            low, high = self.interval
        return {
            **attributes(self, "rule status words group value baseline change"),
            "low": low,
            "high": high,
            **attributes(self, "p p_adjusted at_most detectable unjudged question shown regressed"),
            **attributes(self, "queries worse better"),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        record = self.row()
        del record["low"], record["high"]
        interval = None
        if self.interval is not None:
            interval = list(self.interval)
        worst = [moved.to_dict("query before after cause") for moved in self.worst]
        judge_first = [asdict(document) for document in self.judge_first]

        return {
            **self.asked.to_dict(),
            **record,
            "interval": interval,
            "worst": worst,
            "judge_first": judge_first,
        }


_REPORT = "goldrank.gating.verdict_report"


@dataclass(frozen=True, repr=False, eq=False)
class Verdict(Result, Sequence[Finding]):
    """Whether scores pass the rules, and why: a sequence of `Finding`s, true if they pass.

    Attributes
    ----------
    run : str
        The run.
    baseline : str, optional
        What it was compared with, in words; None if with nothing.
    status : {"pass", "fail", "unclear", "error"}
        "unclear" means: unjudged documents could decide, judge these first. "error": nothing could be decided.
    exit_code : {0, 1, 2, 4}
        What the prompt exits with: pass, fail, error, unclear.
    failed : tuple of Finding
        The findings that do not hold.
    judge_first : tuple of (query, document)
        The documents that could decide it.
    scores : Scores
        The scores that were checked.

    Examples
    --------
    >>> from goldrank import gate
    >>> verdict = gate(evaluate({"q1": {"d1": 1}}, {"q1": ["x", "d1"]}, "RR"), ["RR >= 0.4", "RR >= 0.6"])
    >>> bool(verdict), verdict.exit_code, [finding.status for finding in verdict]
    (False, 1, ['pass', 'fail'])
    """

    own_forms: ClassVar[Forms] = {
        "markdown": Form("for a comment on a pull request", f"{_REPORT}:markdown_text", (".md",)),
        "junit": Form("JUnit XML, which build servers read", f"{_REPORT}:junit", (".xml",)),
        "html": Form("a page for any browser, offline", "goldrank.gating.verdict_page:render", (".html",)),
        "github": Form("annotations of GitHub Actions", f"{_REPORT}:github"),
    }

    run: str
    findings: tuple[Finding, ...] = ()
    """What is in the sequence."""
    baseline: str | None = None
    rules: str = ""
    notes: tuple[Note, ...] = ()
    error: str = ""
    """Why nothing could be decided; '' if it could."""
    measured: Scores | None = field(default=None, repr=False, compare=False)
    """The scores; None if nothing could be measured."""

    @classmethod
    def undecided(cls, run: str, error: GoldrankError) -> Verdict:
        """The verdict of a gate that could not decide."""
        return cls(run=run, error=str(error))

    @property
    def scores(self) -> Scores:
        """The scores that were checked."""
        if self.measured is None:
            raise InputError(f"nothing was measured: {self.error}", code="not-measured")
        return self.measured

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(finding for finding in self.findings if finding.failed)

    @property
    def to_judge(self) -> tuple[ToJudge, ...]:
        """The documents that could decide it and should be judged first, each once."""
        first: dict[tuple[str, str], ToJudge] = {}
        for finding in self.findings:
            for document in finding.judge_first:
                first.setdefault((document.query, document.doc), document)
        return tuple(first.values())

    @property
    def judge_first(self) -> tuple[tuple[str, str], ...]:
        """The query and the id of each document that could decide it, in the order in which to judge them."""
        return tuple((document.query, document.doc) for document in self.to_judge)

    @property
    def status(self) -> Status:
        """'pass', 'fail', 'unclear' (unjudged documents could decide: judge these) or 'error'."""
        if self.error:
            return "error"
        if self.failed:
            return "fail"
        if any(finding.needs_judging for finding in self.findings):
            return "unclear"
        return "pass"

    @property
    def exit_code(self) -> Literal[0, 1, 2, 4]:
        """0 if the run may go in, 1 if not, 2 if it could not be tried, 4 if documents must be judged to decide."""
        return EXIT_CODES[self.status]

    def __bool__(self) -> bool:
        return self.status == "pass"

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        if self.error:
            return f"{ids.show(self.run, 200)}: nothing was decided: {self.error}"
        baseline = ""
        if self.baseline:
            baseline = f" against {self.baseline}"
        return f"{ids.show(self.run, 200)}{baseline}: {self._outcome_words}"

    @property
    def _outcome_words(self) -> str:
        """How many checks held, in words."""
        count = len(self.findings)
        if self.failed:
            return f"{len(self.failed)} of {count} checks failed"
        waiting = sum(finding.needs_judging for finding in self.findings)
        if waiting:
            return f"judge these: {waiting} of {count} checks could be decided by unjudged documents"
        words = f"{count} check{'s' * (count != 1)} passed"
        regressed = sum(finding.regressed for finding in self.findings)
        if not regressed:
            return words
        return f"{words}; {regressed} of them got worse on these queries, which is not shown for others"

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.gating.verdict_report import parts

        return parts(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the scores, as plain Python values."""
        findings = [finding.to_dict() for finding in self.findings]
        notes = [note.to_dict() for note in self.notes]
        signature = {}
        if self.signatures:
            signature["signature"] = self.signatures[0]
        return {
            "format": "goldrank-verdict",
            "version": 5,
            **attributes(self, "status exit_code words run baseline rules error"),
            "findings": findings,
            "notes": notes,
            **signature,
        }

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signature of the scores that were checked; () if there are none."""
        if self.measured is None:
            return ()
        return self.measured.signatures

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each finding."""
        return [finding.row() for finding in self.findings]

    def __repr__(self) -> str:
        return f"Verdict({self.run!r}, {self.status!r})"
