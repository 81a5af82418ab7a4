"""The words of commands for the forms of `goldrank.report.show`: they call what a terminal shows a `table`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from goldrank.data.showing import Forms, Result
from goldrank.report.show import FORMS, render

NOT_PRINTED = ("svg", "parquet")


def command_words(forms: Forms = FORMS) -> dict[str, str]:
    """The form that each word of a command means."""
    words = {form: form for form in forms if form not in (*NOT_PRINTED, "terminal")}
    if "terminal" in forms:
        words = {"table": "terminal", **words}
    return words


def writers(forms: Forms = FORMS) -> dict[str, Callable[[Result], str]]:
    """How a result is written, by the word of a command."""
    return {word: partial(_written, form=form) for word, form in command_words(forms).items()}


def _written(result: Result, form: str) -> str:
    return render(result, form).removesuffix("\n")
