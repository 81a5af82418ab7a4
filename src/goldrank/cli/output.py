"""Where the output of commands goes: standard output and error, whatever they are, and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrank.errors import GoldrankError
from goldrank.escaping import json_text, log_line, log_text
from goldrank.packages import installed, needed
from goldrank.writing import write_whole

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison
    from goldrank.data.table import Part


def echo(text: str | bytes, err: bool = False, styled: bool = False) -> None:
    """Text and a line end if it has none, on standard output or error; bytes are written as they are.

    Text is made safe for terminals and logs (`styled` text keeps its colours); characters that cannot be encoded are
    shown as escapes. A stream without a buffer, such as that of a notebook or an `io.StringIO`, gets text. If standard
    output cannot take it, standard error gets it: what was computed is not lost.
    """
    if isinstance(text, str):
        text = log_text(text if text.endswith("\n") else f"{text}\n", styled).encode("utf-8", "backslashreplace")
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    try:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(text.decode("utf-8", "backslashreplace"))
        else:
            stream.flush()
            buffer.write(text)
        stream.flush()
    except BrokenPipeError:
        raise  # whoever read it has gone, as `head` does
    except (OSError, ValueError) as error:  # a ValueError for a stream that was closed
        if err:
            return
        echo(text, err=True)
        reason = getattr(error, "strerror", None) or error
        what = f"cannot be written: {reason}"
        raise GoldrankError(what, where="standard output", hint=_ON_ERROR, code="cannot-write") from None


def echo_all(texts: Iterable[str | bytes]) -> None:
    """Many pieces, one after the other; from the first that standard output cannot take, all go to standard error."""
    failure: GoldrankError | None = None
    for text in texts:
        try:
            echo(text, err=failure is not None)
        except GoldrankError as error:
            failure = error
    if failure is not None:
        raise failure


_ON_ERROR = "What belongs there is on standard error, above."


def echo_form(text: str, form: str) -> None:
    """A result in one of the forms, on standard output. HTML, JSON and a build server's annotations are safe by their
    own rules, and nothing else may be changed in them."""
    if form in ("json", "jsonl"):
        text = json_text(text if text.endswith("\n") else f"{text}\n")
    echo(text.encode("utf-8", "backslashreplace") if form in ("html", "json", "jsonl", "github") else text)


def say(text: str, err: bool = True) -> None:
    """One line about what was done, whatever is in the names in it."""
    echo(log_line(text), err)


def show(parts: Iterable[Part], width: int | None = None, err: bool = False) -> None:
    """What a command has to say: in colour on a terminal, as plain text elsewhere and where NO_COLOR is set."""
    from goldrank.data.table import plain

    if not err and _is_coloured():
        from goldrank.report.terminal import view

        _print(view(parts))
    elif text := plain(parts, width):
        echo(text, err)


def show_itself(result: object) -> None:
    """A result that knows how rich shows it (`__rich__`), in colour or as text."""
    if _is_coloured():
        _print(result)
    else:
        echo(str(result))


def _is_coloured() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ and installed("rich")


def _print(renderable: object) -> None:
    with needed("rich"):
        from rich.console import Console

    console = Console(highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(renderable)
    # Rich folds long words, so that a line may begin in the middle of one.
    echo(captured.get(), styled=True)


def write(path: str | Path, text: str) -> None:
    """Write a file whole, making its folder if need be."""
    write_whole(path, text.encode("utf-8", "backslashreplace"), make_folder=True)


def written(path: str | None, make: Callable[[], str]) -> Callable[[], object] | None:
    """A step that writes what `make` returns; none if no file was asked for."""
    return None if path is None else lambda: write(path, make())


def deliver(*steps: Callable[[], object] | None) -> None:
    """Take every step, such as writing a file or printing a table, whatever becomes of the others.

    So nothing that was computed is lost because one file cannot be written. The first error is raised at the end, the
    others are printed.
    """
    errors: list[Exception] = []
    for step in filter(None, steps):
        try:
            step()
        except (GoldrankError, OSError) as error:
            errors.append(error)
    for more in errors[1:]:
        echo(f"goldrank: {more}", err=True)
    if errors:
        raise errors[0]


def show_comparison(
    comparison: Comparison, files: Mapping[str, str | None], svg: str | None = None, save: str | None = None
) -> None:
    """Print a comparison and write the files that were asked for: form -> path."""
    from goldrank.cli.inputs import working
    from goldrank.report import WIDTH, render
    from goldrank.report.comparison import parts

    def rendered(form: str, path: str) -> None:
        with working(f"writing the comparison as {form}"):
            write(path, render(comparison, form))

    steps: list[Callable[[], object]] = [partial(rendered, form, path) for form, path in files.items() if path]
    if svg:
        steps.append(partial(_write_charts, comparison, svg))
    if save:
        steps.append(partial(comparison.save_scores, save))
    deliver(*steps, lambda: show(parts(comparison), WIDTH))


def show_as(
    form: str,
    found: Any,
    parts: Callable[[Any], list[Part]],
    writers: Mapping[str, Callable[[Any], str]],
    width: int | None = None,
) -> None:
    """Print a result: as parts for people, or in one of its other forms."""
    if form == "table":
        show(parts(found), width)
    else:
        echo_form(writers[form](found), form)


def _write_charts(comparison: Comparison, folder: str) -> None:
    from goldrank.report.charts import all_charts

    for name, chart in all_charts(comparison).items():
        write(Path(folder) / f"{name}.svg", chart.alone())
    say(f"charts are in {folder}")
