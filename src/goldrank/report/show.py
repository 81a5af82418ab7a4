"""The one table of forms: every result is shown and saved by it.

A new form is a file with a function that makes text of a result, and an entry in `FORMS`. A kind of result may write a
form in its own way, or have one more: its `own_forms` say so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import PurePath

from goldrank.base.errors import OptionError, file_name, of_type, one_of
from goldrank.base.types import Path
from goldrank.base.writing import write_whole
from goldrank.data.showing import Form, Result
from goldrank.data.table import charts_of

FORMS: dict[str, Form] = {
    "terminal": Form("tables as plain text", "goldrank.report.plain_text:render", (".txt",)),
    "markdown": Form("tables for a pull request or a wiki", "goldrank.report.markdown:render", (".md",)),
    "csv": Form("rows with exact numbers", "goldrank.report.separated:csv", (".csv",)),
    "tsv": Form("rows with exact numbers and tabs between them", "goldrank.report.separated:tsv", (".tsv",)),
    "latex": Form("booktabs tables for a paper", "goldrank.report.latex:render", (".tex",)),
    "json": Form("everything, for programs", "goldrank.report.json_form:render", (".json",)),
    "html": Form("a page for any browser, offline", "goldrank.report.result_page:render", (".html",)),
    "svg": Form("the charts", "goldrank.report.svg:render", (".svg",)),
    "parquet": Form("rows as columns of a data frame", "goldrank.report.parquet:render", (".parquet",), binary=True),
}
"""Every form by its name."""

ONLY_FILES = ("tsv", "svg")
"""Forms of text that a terminal has no use for."""

PRINTED = tuple(name for name, form in FORMS.items() if not form.binary and name not in ONLY_FILES)
"""Forms that a terminal can show; the others are for files."""

ENDINGS = {ending: name for name, form in FORMS.items() for ending in form.endings}
"""The form of a file, by its ending."""


def show(result: Result, form: str = "terminal") -> str:
    """A result as text, in one of the forms.

    Parameters
    ----------
    result : Result
        What a verb returned: `Scores`, a `Comparison`, a `Verdict` and so on.
    form : str
        "terminal", "markdown", "csv", "tsv", "latex", "json", "html" or "svg" (of results that have charts); of a
        `Verdict` also "github" and "junit".

    Returns
    -------
    str

    Raises
    ------
    OptionError
        If there is no such form, or not of this result.

    Examples
    --------
    >>> import goldrank
    >>> scores = goldrank.evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
    >>> print(goldrank.show(scores, "csv"))
    query,RR
    q1,0.5
    <BLANKLINE>
    """
    return render(result, form)


def render(result: Result, form: str) -> str:
    """A result as text, in one of the forms that it has."""
    chosen = _form(result, form)
    if chosen.binary:
        hint = f"Save it: result.save('result{chosen.endings[0]}')."
        raise OptionError(f"{form} is not text", hint=hint, code="binary-form")

    text = _writer(chosen)(result)
    assert isinstance(text, str)
    return text


def save(result: Result, path: Path) -> None:
    """Write a result to a file, in the form that the ending names."""
    name = form_of(path, result)
    content = _writer(_form(result, name))(result)
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    write_whole(path, content, make_folder=True)


def print_result(result: Result, form: str = "terminal") -> None:
    """Print a result; what standard output cannot encode is shown as escapes."""
    text = render(result, form)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def forms_of(result: Result | type[Result]) -> dict[str, Form]:
    """The forms that a result has; for a kind of result, those that its results may have."""
    forms = FORMS | dict(result.own_forms)
    if isinstance(result, Result) and "svg" not in result.own_forms and not charts_of(result.parts()):
        del forms["svg"]
    return forms


def form_of(path: Path, result: Result | type[Result] | None = None) -> str:
    """The name of the form that a file's ending names, of all forms or of those that a result has."""
    forms = FORMS
    if result is not None:
        forms = forms_of(result)
    endings = {ending: name for name, form in forms.items() for ending in form.endings}
    file = file_name(path)
    ending = PurePath(file).suffix.lower()
    if ending not in endings:
        message = "the name has no ending, which names the form"
        if ending:
            message = f"the ending {ending!r} names no form"
        raise OptionError(message, where=file, hint=f"Endings are {', '.join(endings)}.", code="unknown-ending")

    return endings[ending]


def _form(result: Result, form: str) -> Form:
    of_type(result, Result, "what is shown", "a result", "Results are what verbs return: Scores, a Comparison ...")
    if form != "svg" and isinstance(form, str):  # svg depends on the parts, which take time to make
        declared = FORMS | dict(result.own_forms)
        if form in declared:
            return declared[form]
    forms = forms_of(result)
    return forms[one_of(form, forms, "form")]


def _writer(form: Form) -> Callable[[Result], str | bytes]:
    module, _, function = form.writer.partition(":")
    writer: Callable[[Result], str | bytes] = getattr(import_module(module), function)
    return writer
