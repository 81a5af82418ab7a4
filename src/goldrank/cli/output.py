"""Where the output of commands goes: standard output and error, whatever they are, and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from goldrank.errors import GoldrankError

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison
    from goldrank.data.table import Part


def echo(text: str | bytes, err: bool = False) -> None:
    """Text and a line end if it has none, on standard output or error; bytes are written as they are.

    Characters that cannot be encoded are shown as escapes. A stream without a buffer, such as that of a notebook or
    an `io.StringIO`, gets text.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    if isinstance(text, str):
        text = (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "backslashreplace")
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text.decode("utf-8", "backslashreplace"))
    else:
        stream.flush()
        buffer.write(text)
    stream.flush()


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
    return sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _print(renderable: object) -> None:
    from rich.console import Console

    Console(highlight=False, emoji=False).print(renderable)


def write(path: str | Path, text: str) -> None:
    """Write a file whole, making its folder if need be."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise GoldrankError(f"cannot be written: {error.strerror}", where=str(path)) from None


def show_comparison(
    comparison: Comparison, files: Mapping[str, str | None], svg: str | None = None, save: str | None = None
) -> None:
    """Print a comparison and write the files that were asked for: form -> path."""
    from goldrank.report import WIDTH, render
    from goldrank.report.comparison import parts

    for form, path in files.items():
        if path:
            write(path, render(comparison, form))
    if svg:
        from goldrank.report.charts import all_charts

        for name, chart in all_charts(comparison).items():
            write(Path(svg) / f"{name}.svg", chart.alone())
        echo(f"charts are in {svg}", err=True)
    if save:
        comparison.save_scores(save)
    show(parts(comparison), WIDTH)
