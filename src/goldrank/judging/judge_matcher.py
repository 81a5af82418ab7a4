"""A judge as a matcher: a model decides whether a text supports a reference; its answers are kept in the log."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import JudgeError, OptionError, did_you_mean, of_type, one_of
from goldrank.base.notes import Note
from goldrank.base.waiting import FailedCall, finished
from goldrank.data.qrels import Grade
from goldrank.data.text_item import Texts
from goldrank.judging.ask import JudgeLike, as_judge
from goldrank.judging.endpoint import Endpoint
from goldrank.judging.item import Judge, JudgeItem
from goldrank.judging.log import JudgementLog
from goldrank.judging.money import Budget
from goldrank.judging.pool_and_calls import Calls
from goldrank.judging.runner import Job, JobOutcome
from goldrank.match.matcher import Matcher

Unanswered: TypeAlias = Literal["error", "no"]
"""A pair without a readable answer is an error (all answers so far are kept), or no match."""


class JudgeMatcher(Matcher):
    """A judge that says whether a text supports a reference (or a claim), given the question.

    The degree is the judge's grade as a share of its scale; a match needs the highest grade unless a threshold says
    otherwise. Answers are kept in the log of `calls`, so that none is asked or paid twice.

    Parameters
    ----------
    judge : Endpoint, Command, function or str
        Who is asked; a text is the name of a model, which is asked by the prompt `support`.
    threshold : float, optional
        The share of the scale that a match needs. Judges that answer with numbers from 0 to 1 need one.
    inclusive : bool
        Whether the threshold itself is a match.
    guards : iterable of str, optional
        What else must agree, as in other matchers.
    base_url : str, optional
        Where the model of a name is; by default OPENAI_BASE_URL of the environment.
    calls : Calls
        On which terms the judge is asked. A mapping of its fields is what spellings have:
        "judge(calls={'max_calls': 100}):MODEL".
    unanswered : {"error", "no"}
        A pair without a readable answer is an error, or no match.

    Raises
    ------
    OptionError
        If an option cannot be used, or a judge without a scale has no threshold.

    Examples
    --------
    >>> from goldrank.judging.function import Function
    >>> str(JudgeMatcher(Function(lambda question, text, reference: 1, scale=(0, 1), name="mine")))
    'judge:mine:1'
    """

    name: ClassVar[str] = "judge"
    says: ClassVar[str] = "the judge's grade as a share of its scale"
    default_threshold: ClassVar[float | None] = 1.0
    free = False
    sees_questions = True

    def __init__(
        self,
        judge: JudgeLike | str,
        threshold: float | None = None,
        *,
        inclusive: bool = True,
        guards: Iterable[str] | None = None,
        base_url: str | None = None,
        calls: Calls | Mapping[str, Any] = Calls(),
        unanswered: Unanswered = "error",
    ) -> None:
        super().__init__(threshold, inclusive=inclusive, guards=guards)
        one_of(unanswered, get_args(Unanswered), "unanswered")
        if base_url is not None and not isinstance(judge, str):
            raise OptionError("base_url is for the name of a model", hint="A judge knows where it is asked.")

        if isinstance(judge, str):
            self.judge: Judge = _endpoint(judge, base_url)
        else:
            self.judge = as_judge(judge)
        if self.judge.scale is None and threshold is None:
            hint = f"For example JudgeMatcher(judge, 0.5), or --matching judge:{self.judge.name}:0.5."
            message = f"{self.judge.name} answers with numbers from 0 to 1, which need a threshold"
            raise OptionError(message, hint=hint, code="no-threshold")

        self.unanswered = unanswered
        self.calls = _calls(calls)
        self._budget = self.calls.budget()
        """One for all jobs of this matcher and its copies."""
        self._questions: Sequence[str] = ()
        self._jobs: list[JobOutcome] = []
        """Outcomes since the last `take_notes`; shared by all copies."""

    def __str__(self) -> str:
        return super().__str__().replace(self.name, f"{self.name}:{self.judge.name}", 1)

    def about(self, questions: Sequence[str]) -> Matcher:
        """This judge for pairs of these questions."""
        matcher = copy.copy(self)
        matcher._questions = questions
        return matcher

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        questions = self._questions or [""] * len(left)
        items = [
            _item(question, retrieved[i], references[j], self.judge.criteria)
            for question, i, j in zip(questions, left.tolist(), right.tolist(), strict=True)
        ]
        outcome = self._ask(items)
        return np.array([self._degree(outcome.grades.get((item.query, item.doc))) for item in items], np.float64)

    def answers(self, asked_about: Sequence[tuple[str, str, str]]) -> list[float | FailedCall]:
        """The degree for each (question, text, reference), or why it failed: for callers that go on after failures."""
        items = [_item(*triple, self.judge.criteria) for triple in asked_about]
        outcome = ask_about(self.judge, items, self.calls, self._budget)
        degrees: list[float | FailedCall] = []
        for item in items:
            pair = item.query, item.doc
            grade = outcome.grades.get(pair)
            if grade is None:
                degrees.append(FailedCall(JudgeError(f"no answer: {outcome.why_not(pair)}")))
            else:
                degrees.append(self._degree(grade))
        return degrees

    def _ask(self, items: Sequence[JudgeItem]) -> JobOutcome:
        outcome = ask_about(self.judge, items, self.calls, self._budget)
        missing = [item for item in items if (item.query, item.doc) not in outcome.grades]
        if missing and (self.unanswered == "error" or outcome.stopped):
            first = missing[0]
            why = outcome.why_not((first.query, first.doc))
            error = JudgeError(
                f"{self.judge.name} gave no answer for {len(missing):,} of {len(items):,} pairs: {ids.show(why)}",
                where=f"text '{ids.show(first.text)}', reference '{ids.show(first.reference)}'",
                hint="What was answered is kept in the log. Ask again, or take unanswered='no': no answer, no match.",
                code="pairs-unanswered",
            )
            error.judged = outcome
            raise error

        self._jobs.append(outcome)
        return outcome

    def _degree(self, grade: Grade | None) -> float:
        if grade is None:
            return 0.0
        scale = self.judge.scale
        if scale is None:
            return float(grade)
        return (grade - scale[0]) / (scale[-1] - scale[0])

    def take_notes(self) -> list[Note]:
        """Notes about the questions since the last call: how many there were, and how many have no answer."""
        jobs = list(self._jobs)
        self._jobs.clear()
        if not jobs:
            return []

        total = JobOutcome()
        for job in jobs:
            total.add(job)
        notes = [Note.of("judge-decided", judge=str(self), count=total.total, log=total.from_log)]
        without_answer = len(total.failed) + len(total.unreadable)
        if without_answer:
            notes.append(Note.of("no-answer-no-match", count=without_answer))
        return [*notes, *total.notes]


def ask_about(judge: Judge, items: Sequence[JudgeItem], calls: Calls, budget: Budget | None = None) -> JobOutcome:
    """Ask a judge about texts that are not documents of a run: the log keeps the calls, and gets no judgements."""
    with JudgementLog(calls.log) as log:
        job = Job(judge, items, log, calls, budget=budget, keep_judgements=False)
        outcome: JobOutcome = finished(job.run())
    return outcome


def _item(question: str, text: str, reference: str, criteria: str) -> JudgeItem:
    """The item of a pair; its ids are hashes of its texts."""
    return JudgeItem(_hash(question, reference), _hash(text), question, text, reference, criteria)


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _endpoint(model: str, base_url: str | None) -> Endpoint:
    if not model:
        raise OptionError("judge names no model", hint="For example judge:NAME, with OPENAI_BASE_URL set.")
    if base_url is None and not os.environ.get("OPENAI_BASE_URL"):
        hint = f"Set OPENAI_BASE_URL, or spell it judge(base_url='http://localhost:8000/v1'):{model}."
        raise OptionError(f"judge:{model} needs an endpoint", hint=hint, code="no-endpoint")
    return Endpoint(model, base_url, prompt="support")


def _calls(terms: Calls | Mapping[str, Any]) -> Calls:
    """The `Calls`, as they are or from the fields in a spelling."""
    calls = terms
    if isinstance(terms, Mapping):
        known = [field.name for field in fields(Calls)]
        for name in terms:
            if name not in known:
                message = f"calls has no field {name!r:.40}; it has: {', '.join(known)}"
                raise OptionError(message, hint=did_you_mean(str(name), known))
        calls = Calls(**terms)
    of_type(calls, Calls, "calls", "Calls")
    if calls.dry_run:  # type: ignore[union-attr]
        raise OptionError("a judge that matches texts has no dry run", hint="max_calls limits what is asked.")
    return calls  # type: ignore[return-value]
