"""What a program's answers are worth: which cases agree, and which known convention the others follow."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goldrank.base.escaping import shown
from goldrank.referee.cases import ConformanceCase

TOLERANCE = 1e-9
SLACK_OF_RIVALS = 1e-9
MOSTLY = 0.05
"""The share of answers that a convention may be contradicted by, and still mostly fit."""
SHOWN = 8
"""Cases of each kind that a report shows."""
QUOTED = 3
"""Lines that are not answers of which a report shows the beginning."""


@dataclass(frozen=True)
class ProgramAnswer:
    """A program's answer to a case: a number (NaN: no finite value), that it skips the case, or that it failed."""

    value: float = math.nan
    skipped: bool = False
    error: str | None = None


def read_answer(line: bytes | str) -> tuple[str, ProgramAnswer] | None:
    """The id and answer of a line; None if it is not an answer."""
    try:
        data = json.loads(_text(line))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("id"), str):
        return None

    name: str = data["id"]
    if data.get("skip") is True:
        return name, ProgramAnswer(skipped=True)
    if data.get("error") is not None:
        return name, ProgramAnswer(error=str(data["error"]))
    if "value" not in data:
        return None
    value = data["value"]
    if value is None:
        return name, ProgramAnswer()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return name, ProgramAnswer(error=f"its value is {shown(value, 40)}, not a number")
    if not abs(value) < 1e308:
        return name, ProgramAnswer()
    return name, ProgramAnswer(float(value))


def _text(line: bytes | str) -> str:
    if isinstance(line, bytes):
        return line.decode("utf-8", "replace")
    return line


@dataclass
class ProgramAnswers:
    """All lines of a program."""

    by_case: dict[str, ProgramAnswer] = field(default_factory=dict)
    repeated: int = 0
    unknown: int = 0
    """Answers to cases that it was not asked."""
    noise: list[str] = field(default_factory=list)
    """Lines that are not answers."""

    def add(self, lines: Iterable[bytes | str], case_of: Mapping[str, ConformanceCase]) -> None:
        """Add lines in any order; of two answers to a case the first counts."""
        for line in lines:
            if not line.strip():
                continue

            parsed = read_answer(line)
            if parsed is None:
                self.noise.append(_text(line))
                continue

            name, answer = parsed
            if name not in case_of:
                self.unknown += 1
            elif name in self.by_case:
                self.repeated += 1
            else:
                self.by_case[name] = answer


def same(first: float, second: float, tolerance: float) -> bool:
    """Whether two values are the same; values that are not finite are all the same."""
    if not math.isfinite(first) or not math.isfinite(second):
        return math.isfinite(first) == math.isfinite(second)
    return abs(first - second) <= tolerance * max(1.0, abs(second))


@dataclass(frozen=True)
class WrongAnswer:
    """A case whose answer is not the right value."""

    case: ConformanceCase
    answer: ProgramAnswer

    @property
    def is_impossible(self) -> bool:
        """Whether no measure of the kit can have such a value."""
        return self.answer.error is None and (self.answer.value > 1 + 1e-9 or self.answer.value < -1e-9)

    def to_dict(self) -> dict[str, Any]:
        """The case, the answer and the right value, as plain values."""
        value = None
        if math.isfinite(self.answer.value):
            value = self.answer.value
        return {
            "id": self.case.id,
            "measure": self.case.measure,
            "value": value,
            "error": self.answer.error,
            "right": self.case.value,
            "impossible": self.is_impossible,
        }

    def __str__(self) -> str:
        answer_words = f"{self.answer.value:.10g}"
        if self.answer.error is not None:
            answer_words = f"an error ({shown(self.answer.error, 80)})"
        elif math.isnan(self.answer.value):
            answer_words = "no finite value"
        return f"{self.case.id} {self.case.measure}: {answer_words}, right is {self.case.value:.10g}. {self.case.why}"


@dataclass(frozen=True)
class Fit:
    """How well a rival convention explains the answers of one measure."""

    rival: str
    explained: int
    """Differences that are what it would give."""
    contradicted: int
    """Answers that are not what it would give."""


@dataclass(frozen=True)
class MeasureVerdict:
    """The answers of one measure."""

    name: str
    answered: int
    differences: Sequence[WrongAnswer]
    fits: Sequence[Fit]
    """The best rivals first."""

    @property
    def diagnosis(self) -> str:
        """Which convention the differences follow, in words; empty if there are none."""
        if not self.differences:
            return ""
        if not self.fits:
            return "fits no known convention"

        wrong = len(self.differences)
        best = self.fits[0]
        is_enough = best.explained >= min(2, wrong)
        fit_words = f"{best.rival}: explains {best.explained} of {wrong}, contradicted by {best.contradicted}"
        if is_enough and best.contradicted == 0:
            return f"fits {fit_words}"
        if is_enough and best.contradicted <= MOSTLY * self.answered:
            return f"mostly fits {fit_words}"
        return "fits no known convention"

    def to_dict(self) -> dict[str, Any]:
        """The numbers and the diagnosis, as plain values."""
        return {
            "name": self.name,
            "answered": self.answered,
            "differences": len(self.differences),
            "diagnosis": self.diagnosis or None,
        }


@dataclass(frozen=True)
class ConformanceReport:
    """Which cases a program agrees with, and what its differences look like."""

    cases: Sequence[ConformanceCase]
    answers: ProgramAnswers
    measures: Sequence[MeasureVerdict]
    tolerance: float = TOLERANCE
    ended: str = ""
    """Why the program was stopped early."""
    errors: str = ""
    """The end of what it wrote to standard error, if it did not answer everything."""

    @property
    def differences(self) -> list[WrongAnswer]:
        """All answers that are not right; impossible values first."""
        all_differences = [difference for measure in self.measures for difference in measure.differences]
        return sorted(all_differences, key=lambda difference: not difference.is_impossible)

    @property
    def skipped(self) -> list[ConformanceCase]:
        """Cases that the program said it skips."""
        return [case for case in self.cases if case.id in self.answers.by_case and self._answer(case).skipped]

    @property
    def unanswered(self) -> list[ConformanceCase]:
        """Cases without an answer."""
        return [case for case in self.cases if case.id not in self.answers.by_case]

    @property
    def agreeing(self) -> int:
        """How many cases have the right answer."""
        return sum(measure.answered - len(measure.differences) for measure in self.measures)

    @property
    def exit_code(self) -> int:
        """0 if all agree, 1 if some do not, 2 if the program could not be driven."""
        if not self.answers.by_case:
            return 2
        if self.differences or self.unanswered:
            return 1
        return 0

    def _answer(self, case: ConformanceCase) -> ProgramAnswer:
        return self.answers.by_case[case.id]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        measures = [measure.to_dict() for measure in self.measures]
        differences = [difference.to_dict() for difference in self.differences]
        skipped = [case.id for case in self.skipped]
        unanswered = [case.id for case in self.unanswered]

        return {
            "format": "goldrank-conformance-report",
            "version": 1,
            "cases": len(self.cases),
            "agreeing": self.agreeing,
            "tolerance": self.tolerance,
            "measures": measures,
            "differences": differences,
            "skipped": skipped,
            "unanswered": unanswered,
            "not_answers": len(self.answers.noise),
            "ended": self.ended or None,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        answered = sum(measure.answered for measure in self.measures)
        lines = [f"{self.agreeing} of {answered} answers agree; {len(self.cases)} cases were asked"]
        if self.tolerance != TOLERANCE:
            lines[0] += f", with a tolerance of {self.tolerance:g} in place of {TOLERANCE:g}"

        lines += [f"! impossible: {difference}" for difference in self.differences if difference.is_impossible][:SHOWN]
        for measure in self.measures:
            agreeing = measure.answered - len(measure.differences)
            lines.append(
                f"  {measure.name}: {agreeing}/{measure.answered}{'; ' * bool(measure.diagnosis)}{measure.diagnosis}"
            )
            possible = [difference for difference in measure.differences if not difference.is_impossible]
            lines += [f"    {difference}" for difference in possible[:SHOWN]]
            if len(possible) > SHOWN:
                lines.append(f"    and {len(possible) - SHOWN} more")

        return [*lines, *self._remarks()]

    def _remarks(self) -> list[str]:
        lines = []
        if self.skipped:
            names = Counter(case.name for case in self.skipped)
            lines.append("skipped: " + ", ".join(f"{name} ({count})" for name, count in names.items()))

        if self.unanswered:
            lines.append(f"! without an answer: {len(self.unanswered)}, the first is {self.unanswered[0].id}")

        if self.ended:
            lines.append(f"! the program was ended: {self.ended}")

        if self.answers.noise:
            quoted = ", ".join(shown(line, 60) for line in self.answers.noise[:QUOTED])
            lines.append(f"  lines that are not answers: {len(self.answers.noise)}: {quoted}")

        if self.answers.repeated or self.answers.unknown:
            lines.append(f"  answered twice: {self.answers.repeated}; not asked: {self.answers.unknown}")

        if self.errors and self.unanswered:
            lines.append(f"  its last words: {shown(self.errors.strip()[-300:], 300)}")

        return lines


def judged(
    cases: Sequence[ConformanceCase],
    answers: ProgramAnswers,
    tolerance: float = TOLERANCE,
    ended: str = "",
    errors: str = "",
) -> ConformanceReport:
    """The report on a program's answers."""
    cases_of: dict[str, list[ConformanceCase]] = {}
    for case in cases:
        cases_of.setdefault(case.name, []).append(case)
    measures = [_verdict(name, of_measure, answers, tolerance) for name, of_measure in cases_of.items()]
    answered = [measure for measure in measures if measure.answered]
    return ConformanceReport(cases, answers, answered, tolerance, ended, errors)


def _verdict(name: str, cases: Sequence[ConformanceCase], answers: ProgramAnswers, tolerance: float) -> MeasureVerdict:
    answered = [(case, answers.by_case[case.id]) for case in cases if case.id in answers.by_case]
    answered = [(case, answer) for case, answer in answered if not answer.skipped]
    differences = [
        WrongAnswer(case, answer)
        for case, answer in answered
        if answer.error is not None or not same(answer.value, case.value, tolerance)
    ]

    fits: list[Fit] = []
    if differences:
        rivals = dict.fromkeys(rival for case, _ in answered for rival in case.rivals)
        fits = [_fit(rival, answered, differences, tolerance) for rival in rivals]
        fits.sort(key=lambda fit: (fit.contradicted, -fit.explained))
    return MeasureVerdict(name, len(answered), differences, [fit for fit in fits if fit.explained])


def _fit(
    rival: str,
    answered: Sequence[tuple[ConformanceCase, ProgramAnswer]],
    differences: Sequence[WrongAnswer],
    tolerance: float,
) -> Fit:
    slack = max(tolerance, SLACK_OF_RIVALS)
    wrong = {difference.case.id for difference in differences}
    explained = contradicted = 0
    for case, answer in answered:
        predicted = case.rivals.get(rival, case.value)
        if answer.error is not None or not same(answer.value, predicted, slack):
            contradicted += 1
        elif case.id in wrong:
            explained += 1

    return Fit(rival, explained, contradicted)
