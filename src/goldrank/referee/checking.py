"""Whether a program in any language measures as it should: `check_conformance`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from goldrank.base.errors import InputError, of_type, one_of, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.referee.cases import ConformanceCase, Profile, cases_for
from goldrank.referee.driving import LIMITS, Limits, run
from goldrank.referee.verdicts import TOLERANCE, ConformanceReport, ProgramAnswers, judged, read_answer


@named_arguments
def check_conformance(
    command: str,
    *,
    profile: Profile = "lists",
    measures: Iterable[str] = (),
    tolerance: float = TOLERANCE,
    batch: int | None = None,
    limits: Limits = LIMITS,
) -> ConformanceReport:
    """Ask a program for the values of cases, and say where it differs and which convention that looks like.

    The program reads one line of JSON for each case and writes one line for each, {"id": ..., "value": ...}, in any
    order; docs/any_language.md has the lines.

    Parameters
    ----------
    command : str
        The program with its arguments, which is split as by a shell; no shell runs.
    profile : {"lists", "scores"}
        Whether it gets ids in their final order, or documents with scores that it sorts itself.
    measures : iterable of str
        Only cases of these, by name ("R") or full name ("R@5").
    tolerance : float
        How far an answer may be off; 1e-6 for programs in single precision.
    batch : int, optional
        Start the program anew after this number of cases.
    limits : Limits
        How long is waited, and how much is read.

    Returns
    -------
    ConformanceReport
        Its `exit_code` is 0 if all agree, 1 if some do not, and 2 if the program gave no answer at all.

    Raises
    ------
    InputError
        If the program cannot be started.
    OptionError
        If there are no cases of a measure.

    Examples
    --------
    >>> check_conformance("cat", measures=["RR"]).exit_code  # it repeats the questions, which are not answers
    2
    """
    of_type(command, str, "command", "the program with its arguments, as text")
    one_of(profile, ("lists", "scores"), "profile")
    of_type(limits, Limits, "limits", "`Limits`")
    of_type(measures, Iterable, "measures", "a list of names")
    names = [of_type(name, str, "measure", "a name such as R@5") for name in measures]
    cases = cases_for(profile, names)
    size = len(cases)
    if batch is not None:
        size = whole_number(batch, "batch", 1)

    case_of = {case.id: case for case in cases}
    answers = ProgramAnswers()
    ended: list[str] = []
    errors = ""
    deadline = time.monotonic() + limits.in_all
    for start in range(0, len(cases), size):
        lines = [case.line(profile) for case in cases[start : start + size]]
        output = run(command, lines, lambda line: read_answer(line) is not None, limits, deadline)
        answers.add(output.lines, case_of)
        errors = output.errors or errors
        if output.ended:
            ended.append(output.ended)
        if time.monotonic() >= deadline:
            break

    return judged(cases, answers, tolerance, "; ".join(dict.fromkeys(ended)), errors)


def check_answers(
    path: str | Path, cases: Sequence[ConformanceCase], tolerance: float = TOLERANCE
) -> ConformanceReport:
    """The report on answers that a program wrote to a file."""
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), code="cannot-open") from None
    answers = ProgramAnswers()
    answers.add(lines, {case.id: case for case in cases})
    return judged(cases, answers, tolerance)
