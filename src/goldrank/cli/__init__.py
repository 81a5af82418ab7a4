"""The `goldrank` command. Each subcommand is one thin file here, imported only when it is called."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterable
from importlib import import_module

import click

from goldrank import __version__
from goldrank.base import satellites
from goldrank.base.errors import GoldrankError, did_you_mean
from goldrank.base.satellites import CommandEntry
from goldrank.cli import examples, hints, old_names
from goldrank.cli.commands import Group, Helpful
from goldrank.cli.error_line import error_line, is_asked
from goldrank.cli.output import discard, echo, say
from goldrank.cli.privacy import narrowed

COMMANDS = {
    name: CommandEntry(group, f"goldrank.cli.{module}", words)
    for name, group, module, words in (
        ("eval", "score", "eval", "Score runs against judgements; show or merge saved scores."),
        ("trec_eval", "score", "trec_eval", "Measure a run as trec_eval 10 does: same arguments, same output."),
        ("convert", "score", "convert", "Write a run or qrels in another format."),
        ("compare", "compare", "compare", "Say which of two or more systems is better, and how sure that is."),
        ("diff", "compare", "diff", "Show what moved between two runs."),
        ("plan", "compare", "plan", "Say how many queries a difference needs, and how sure a gate is."),
        ("explain", "compare", "explain", "Say why two conventions give different numbers."),
        ("measures", "look", "measures", "List the measures, or explain one."),
    )
}
"""The core's commands; satellites bring theirs (`goldrank.base.satellites`). `judge ask` is a command below `judge`."""

GROUPS = ("score", "compare", "rag", "keep", "look", "judge")
"""The headings of the help page; headings of other people's satellites come behind them."""

TITLES = {"rag": "RAG"}
"""How a heading is written, where it is no plain word."""

BELOW = {
    "history": "Show how measures went over time, and keep what is there.",
    "judge": "Ask a model for judgements, and see how far to trust it.",
    "judgements": "Make judgements from clicks, or export the judgements of people and models.",
}
"""The help of commands that have others below them."""

WITHOUT_MATRICES = ("eval", "trec_eval", "convert")


def all_commands() -> dict[str, CommandEntry]:
    """Every command: the core's, and those of the satellites."""
    return COMMANDS | satellites.commands()


def load(name: str) -> click.Command:
    """A command by its full name, such as `eval` or `history show`; it is imported now."""
    entries = COMMANDS
    if name not in COMMANDS:  # satellites are read only for their own commands
        entries = all_commands()
    loaded: click.Command | None = None
    if name in entries:
        loaded = import_module(entries[name].module).command

    below = {}
    for full_name, entry in entries.items():
        if full_name.startswith(f"{name} "):
            below[full_name.removeprefix(f"{name} ")] = entry.help
    if below:
        loaded = _group(name, loaded, below)

    assert isinstance(loaded, click.Command)
    closing = (getattr(loaded, "closing", ""), examples.epilog(name))
    loaded.epilog = "\n\n".join(text for text in closing if text)
    return loaded


def _group(name: str, command: click.Command | None, below: dict[str, str]) -> Group:
    """The commands below a name; `command` is what the name does alone, None for nothing."""

    def load_below(word: str) -> click.Command:
        return load(f"{name} {word}")

    short_name = name.rpartition(" ")[2]
    if command is None:
        return Group(short_name, load_below, below, help=BELOW.get(name), no_args_is_help=True)
    return Group(
        short_name,
        load_below,
        below,
        params=command.params,
        callback=command.callback,
        help=command.help,
        invoke_without_command=True,
        no_args_is_help=False,
    )


def top_level() -> dict[str, CommandEntry]:
    """The commands that the first word names."""
    entries: dict[str, CommandEntry] = {}
    for name, entry in all_commands().items():
        first = name.partition(" ")[0]
        if first == name:
            entries[first] = entry
        else:
            entries.setdefault(first, CommandEntry(entry.group, "", BELOW.get(first, entry.help)))
    return entries


class _Commands(Helpful, click.Group):
    running: click.Command | None = None
    running_name: str = ""
    """The command that was looked up last."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(top_level())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS and name not in top_level():
            return None

        if name in WITHOUT_MATRICES:
            # Threads for products of matrices take longer to start than these commands take on small files.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self.running_name = name
        self.running = load(name)
        return self.running

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and args[0] not in top_level():
            renamed = old_names.renamed_command(args[0], ctx)
            if renamed is not None:
                raise renamed
            names = list(top_level())
            hint = did_you_mean(args[0], names) or f"Commands are: {', '.join(names)}."
            raise click.UsageError(f"there is no command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_subcommands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        entries = top_level()
        other_groups = sorted({entry.group for entry in entries.values()} - set(GROUPS))

        for group in (*GROUPS, *other_groups):
            rows = [(name, entry.help) for name, entry in entries.items() if entry.group == group]
            if rows:
                with formatter.section(TITLES.get(group, group.capitalize())):
                    formatter.write_dl(rows)


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Say the version, and which core is in use."""
    if not is_asked or context.resilient_parsing:
        return
    from goldrank.core import core  # it may need numpy, which help and completion do without

    click.echo(f"goldrank, version {__version__} ({core.MAKE})")
    context.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples.epilog("goldrank"),
    no_args_is_help=True,
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
              help="Show the version and exit.")  # fmt: skip
def group() -> None:
    """How much gold is in your ranking? Exact, explained numbers for search, RAG and recommendation."""


class Terminated(BaseException):
    """A signal asked the process to end: everything unwinds, so that no temporary file stays."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def main(args: list[str] | None = None) -> None:
    """Run the command and exit.

    0 done, or a gate passes; 1 a gate fails; 2 wrong usage or input; 3 trouble with a history or a log; 4 a gate is
    unclear, documents must be judged first; 130 interrupted.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            with contextlib.suppress(ValueError):  # not in the main thread
                signal.signal(number, _end)
    code = run(args)
    _flush()
    sys.exit(code)


def _end(number: int, frame: object) -> None:
    raise Terminated(number)


def _flush() -> None:
    """Write what is buffered; an error in writing was reported before, and Python must not report it again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            discard(stream)


def _show_usage_error(error: click.ClickException) -> None:
    """click's message; what it quotes of the command line may hold anything, such as names of files."""
    context: click.Context | None = getattr(error, "ctx", None)
    if context is not None:
        echo(context.get_usage(), err=True)
        if context.command.get_help_option(context) is not None:
            echo(f"Try '{context.command_path} {context.help_option_names[0]}' for help.\n", err=True)
    say(f"Error: {error.format_message()}")


def _check_words(args: Iterable[str]) -> None:
    """Refuse words that no shell passes and no file name can have; a program that calls `run` may pass them."""
    for word in args:
        try:
            is_wrong = b"\0" in os.fsencode(word)
        except UnicodeEncodeError:
            is_wrong = True
        if is_wrong:
            raise click.UsageError(f"{word!r} holds what no word of a command line can hold: NUL or half a character")


def _report(error: GoldrankError, as_json: bool) -> int:
    """Write the error to standard error, as a sentence and a hint or as one line of JSON; return its exit code."""
    if as_json:
        echo(error_line(error, error.exit_code, group.running_name), err=True)
    else:
        echo(f"goldrank: {error}", err=True)
    return error.exit_code


def run(args: list[str] | None = None) -> int:
    """Run the command; whatever happens, people get a sentence and never a traceback."""
    words = args
    if words is None:
        words = sys.argv[1:]
    as_json = is_asked(words)
    group.running, group.running_name = None, ""
    try:
        _check_words(args or ())
        # click returns the code of a command that exits; commands return nothing themselves.
        with narrowed(words):
            code = group.main(args, prog_name="goldrank", standalone_mode=False)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.ClickException as error:
        if as_json:
            hint = "`goldrank COMMAND --help` lists the options."
            return _report(GoldrankError(error.format_message(), hint=hint, code="usage"), as_json)
        _show_usage_error(error)
        return 2
    except GoldrankError as error:
        error.hint = error.hint and hints.at_the_prompt(error.hint, group.running)
        return _report(error, as_json)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except Terminated as signalled:
        return 128 + signalled.number
    except SystemExit:
        # How click says that the reader of a help page has gone, as `head` does. Results go through `echo`.
        return 0
    except MemoryError:
        return _report(GoldrankError("out of memory", code="out-of-memory"), as_json)
    except OSError as error:
        if os.environ.get("GOLDRANK_TRACEBACK"):
            raise
        file_name = None
        if error.filename is not None:
            file_name = os.fsdecode(error.filename)
        return _report(GoldrankError(str(error.strerror or error), where=file_name, code="cannot-read"), as_json)
    except Exception as error:
        if os.environ.get("GOLDRANK_TRACEBACK"):
            raise
        message = f"internal error: {type(error).__name__}: {error}"
        hint = "This is a bug. Set GOLDRANK_TRACEBACK=1 to see where, and please report it."
        return _report(GoldrankError(message, hint=hint, code="bug"), as_json)

    if isinstance(code, int):
        return code
    return 0
