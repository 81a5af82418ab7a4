"""Where the output of commands goes: standard output and error, whatever they are, and files."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce, wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from goldrank.base.errors import GoldrankError, OptionError
from goldrank.base.escaping import json_text, log_line, log_text
from goldrank.base.packages import installed, needed
from goldrank.base.writing import write_whole
from goldrank.cli import hints
from goldrank.cli.commands import option
from goldrank.data.showing import Result
from goldrank.data.table import Sentence, few_notes, split_notes, warnings_first
from goldrank.report import show as result_forms
from goldrank.report.show import forms_of

if TYPE_CHECKING:
    from goldrank.data.table import Part


def echo(text: str | bytes, err: bool = False, styled: bool = False) -> None:
    """Text and a line end if it has none, on standard output or error; bytes are written as they are.

    Text is made safe for terminals and logs (`styled` text keeps its colours); characters that cannot be encoded are
    shown as escapes. A stream without a buffer, such as a notebook's or an `io.StringIO`, gets text. If standard output
    fails, standard error gets it: what was computed is not lost.
    """
    if isinstance(text, str):
        text = log_text(_with_line_end(text), styled).encode("utf-8", "backslashreplace")
    stream = sys.stdout
    if err:
        stream = sys.stderr
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
        discard(stream)  # the reader has gone, as `head` does; files are still written, and the exit code holds
    except (OSError, ValueError) as error:  # a ValueError for a stream that was closed
        if err:
            return
        echo(text, err=True)
        reason = getattr(error, "strerror", None) or error
        message = f"cannot be written: {reason}"
        raise GoldrankError(message, where="standard output", hint=_ON_ERROR, code="cannot-write") from None


def _with_line_end(text: str) -> str:
    if text.endswith("\n"):
        return text
    return f"{text}\n"


def discard(stream: IO[Any]) -> None:
    """Discard what is written to a stream from now on: its reader has gone."""
    with contextlib.suppress(OSError, ValueError):  # a stream that is not a file has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def echo_all(texts: Iterable[str | bytes]) -> None:
    """Many pieces, one after the other; if standard output fails, that piece and all after it go to standard error."""
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
        text = json_text(_with_line_end(text))
    if form in ("html", "json", "jsonl", "github"):
        echo(text.encode("utf-8", "backslashreplace"))
    else:
        echo(text)


def say(text: str, err: bool = True) -> None:
    """One line about what was done, whatever is in the names in it."""
    echo(log_line(text), err)


def show(parts: Iterable[Part], width: int | None = None, err: bool = False) -> None:
    """What a command has to say: in colour on a terminal, as plain text elsewhere and where NO_COLOR is set."""
    from goldrank.data.table import plain

    if not err and _is_coloured():
        from goldrank.report.terminal import view

        _print(view(parts))
        return
    text = plain(parts, width)
    if text:
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
    """Write a complete file, and make its folder if it does not exist."""
    write_whole(path, text.encode("utf-8", "backslashreplace"), make_folder=True)


def written(path: str | None, make: Callable[[], str]) -> Callable[[], object] | None:
    """A step that writes what `make` returns; None without a file."""
    if path is None:
        return None
    return lambda: write(path, make())


def deliver(*steps: Callable[[], object] | None) -> None:
    """Take every step, such as writing a file or printing a table, even if others fail.

    So nothing that was computed is lost because one file cannot be written. The first error is raised at the end, the
    others are printed.
    """
    errors: list[Exception] = []
    for step in filter(None, steps):
        try:
            step()
        except (GoldrankError, OSError) as error:
            errors.append(error)

    for other_error in errors[1:]:
        echo(f"goldrank: {other_error}", err=True)
    if errors:
        raise errors[0]


# `-o`, `--as`, `--quiet` and `--notes`.

Writers = Mapping[str, Callable[[Any], str]]
"""How a command writes its result in its own way, by form."""


@dataclass(frozen=True)
class Output:
    """Where a result goes, from options: to files, and to the terminal in a form, with some of its notes or all."""

    files: tuple[str, ...] = ()
    form: str = "terminal"
    is_quiet: bool = False
    shows_notes: bool = False

    def check(self, kind: type[Result] | None, writers: Iterable[str] = ()) -> None:
        """Raise an error if a file's ending names no form of a kind of result, before anything is computed."""
        forms: dict[str, Any] = dict.fromkeys(writers)
        if kind is not None:
            forms = {**forms_of(kind), **forms}
        for path in self.files:
            form_of(path, forms)
        if self.form != "terminal" and self.form not in forms:
            names = (*result_forms.PRINTED, *_OF_GATES)
            listed = ", ".join(form for form in names if form in forms or form == "terminal")
            raise click.UsageError(f"--as {self.form} is not a form of this result; forms are: {listed}")

    def show(
        self,
        result: Any,
        parts: Callable[[Any], Iterable[Part]] | None = None,
        writers: Writers | None = None,
        notes: Iterable[Sentence] = (),
    ) -> None:
        """Write the files, then show the result, even if a file cannot be written.

        `parts` and `writers` are what this command shows in its own way; other forms are those of the result.
        """
        own = writers or {}
        kind = None
        if isinstance(result, Result):
            kind = type(result)
        self.check(kind, own)
        steps: list[Callable[[], object]] = [partial(self._write, path, result, own) for path in self.files]
        deliver(*steps, lambda: self._print(result, parts, own, notes))

    def _write(self, path: str, result: Any, writers: Writers) -> None:
        from goldrank.cli.inputs import working

        form = form_of(path, {**forms_of_any(result), **writers})
        with working(f"writing {path}"):
            if form in writers:
                write(path, writers[form](result))
            else:
                result_forms.save(result, path)

    def _print(
        self,
        result: Any,
        parts: Callable[[Any], Iterable[Part]] | None,
        writers: Writers,
        notes: Iterable[Sentence],
    ) -> None:
        """Show the result on standard output, and its notes on standard error."""
        if self.is_quiet:
            return

        if parts is None:
            result_parts = result.parts()
        else:
            result_parts = parts(result)
        shown_parts, own_notes = split_notes(result_parts)
        all_notes = [*own_notes, *notes]
        if self.form == "terminal":
            self.print_parts(shown_parts)
            self.print_notes(all_notes)
            return

        if self.form in writers:
            text = writers[self.form](result)
        else:
            text = result_forms.render(result, self.form)

        if self.form == "json":
            echo_form(_with_notes(text, all_notes), "json")
            return

        echo_form(text, self.form)
        self.print_notes(all_notes)

    def print_parts(self, parts: Iterable[Part]) -> None:
        """Tables and sentences on standard output."""
        from goldrank.report import WIDTH

        if not self.is_quiet:
            show(parts, WIDTH)

    def print_notes(self, notes: Iterable[Sentence]) -> None:
        """The first notes on standard error, or all of them with --notes."""
        from goldrank.report import WIDTH

        if self.is_quiet:
            return
        command = _running()
        worded = (note._replace(text=hints.at_the_prompt(note.text, command)) for note in notes)
        shown_notes = warnings_first(dict.fromkeys(worded))
        if not self.shows_notes:
            shown_notes = few_notes(shown_notes, "--notes")
        if shown_notes:
            show(shown_notes, WIDTH, err=True)

    def say(self, text: str) -> None:
        """One line on standard error about what was done."""
        if not self.is_quiet:
            say(text)

    def files_of(self, forms: Iterable[str]) -> tuple[Output, tuple[str, ...]]:
        """The output with only those files that are reports in one of these forms, and the other files."""
        report_forms = set(forms)
        reports = tuple(
            path for path in self.files if result_forms.ENDINGS.get(Path(path).suffix.lower()) in report_forms
        )
        other_files = tuple(path for path in self.files if path not in reports)
        return replace(self, files=reports), other_files


_OF_GATES = ("github", "junit")
_OLD_FORMS = ("table", "text", "jsonl")


def forms_of_any(result: Any) -> dict[str, Any]:
    """The forms of a result; an empty dict for what is not a `Result`."""
    if isinstance(result, Result):
        return dict(forms_of(result))
    return {}


def form_of(path: str, forms: Mapping[str, Any]) -> str:
    """The form that a file's ending names, of those that a result has."""
    ending = Path(path).suffix.lower()
    endings = {
        known_ending: name for known_ending, name in _every_ending(forms).items() if name in forms or name == "terminal"
    }
    if ending in endings:
        return endings[ending]
    hint = f"Endings are {', '.join(endings)}."
    if path in (*forms, *_OLD_FORMS):
        hint = f"-o takes a file; what the terminal shows is --as {path}."
    raise OptionError(f"-o {path}: cannot tell the form from the ending", hint=hint, code="unknown-ending")


def _every_ending(forms: Mapping[str, Any]) -> dict[str, str]:
    """Forms by the endings of their files; a kind of result may have more than there usually are."""
    own = {ending: name for name, form in forms.items() for ending in getattr(form, "endings", ())}
    return result_forms.ENDINGS | own


def _running() -> click.Command | None:
    """The command that runs; notes use the names of its options."""
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    return context.command


def _with_notes(text: str, notes: Iterable[Sentence]) -> str:
    """A document with its notes, if it has no such field."""
    import json

    document = json.loads(text)
    if isinstance(document, dict) and "notes" not in document:
        document["notes"] = [{"code": note.code, "level": _level(note), "words": note.text} for note in notes]
        return json.dumps(document, indent=2)
    return text


def _level(note: Sentence) -> str:
    if note.style == "warning":
        return "warning"
    return "info"


def _quiet_option() -> Any:
    return option(
        "--quiet", is_flag=True, heading="Output", help="Print nothing; write files and set the exit code as always."
    )


def _notes_option() -> Any:
    return option("--notes", is_flag=True, heading="Output", help="Show all notes, not the first three.")


def as_option(*forms: str) -> Callable[[Any], Any]:
    """`--as`, with the forms that a command has."""
    return option(
        "--as",
        "form",
        type=click.Choice(forms),
        default="terminal",
        show_default=True,
        heading="Output",
        help="The form in which the terminal shows the result.",
    )


def output_option(**more: Any) -> Callable[[Any], Any]:
    """`-o`."""
    return option(
        "-o",
        "--output",
        "files",
        multiple=True,
        type=click.Path(),
        metavar="FILE",
        heading="Output",
        help="Write the result to FILE; its ending names the form, such as .html or .json; may be repeated.",
        **more,
    )


def output_options(*more_forms: str) -> Callable[[Any], Any]:
    """`-o`, `--as`, `--quiet` and `--notes`. The command gets them as `output`; `more_forms` are this command's own."""
    options = [output_option(), as_option(*result_forms.PRINTED, *more_forms), _quiet_option(), _notes_option()]
    return partial(_with_output, options)


def notes_options(function: Any) -> Any:
    """`--quiet` and `--notes`, for commands that show no result. The command gets them as `output`."""
    return _with_output([_quiet_option(), _notes_option()], function)


def export_options(function: Any) -> Any:
    """`-o`, `--quiet` and `--notes`, for commands that only write. The command gets them as `output`."""
    return _with_output([output_option(required=True), _quiet_option(), _notes_option()], function)


def _with_output(options: list[Any], function: Any) -> Any:
    @wraps(function)
    def command(
        *args: Any, files: tuple[str, ...] = (), form: str = "terminal", quiet: bool, notes: bool, **more: Any
    ) -> Any:
        return function(*args, output=Output(files, form, quiet, notes), **more)

    return reduce(lambda decorated, decorate: decorate(decorated), reversed(options), command)
