"""The words of commands for the forms of `goldrank.report.show`: what a terminal shows is a `table` to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from goldrank.data.showing import Forms, Result
from goldrank.report.show import FORMS, render

NOT_PRINTED = ("svg", "parquet")


def command_words(forms: Forms = FORMS) -> dict[str, str]:
    """The form that each word of a command means."""
    return {"table" if form == "terminal" else form: form for form in forms if form not in NOT_PRINTED}


def writers(forms: Forms = FORMS) -> dict[str, Callable[[Result], str]]:
    """How a result is written, by the word of a command."""
    return {word: partial(_written, form=form) for word, form in command_words(forms).items()}


def _written(result: Result, form: str) -> str:
    return render(result, form).removesuffix("\n")
