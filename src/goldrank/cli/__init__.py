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
from goldrank.cli import examples, hints
from goldrank.cli.output import echo, say
from goldrank.errors import GoldrankError, did_you_mean

COMMANDS = {
    "eval": "Score runs against judgements.",
    "texts": "Score retrieved texts against the texts that they should cover.",
    "causes": "Say why what an answer needs is not in the context, question by question.",
    "sweep": "Compare chunkings, retrievers, numbers of texts and budgets: recall against cost.",
    "agree": "Say which matcher of texts, or how well a model, decides as people do.",
    "judge": "Ask a model for judgements that are missing.",
    "corrected": "Means and differences from a model's judgements, corrected by people's.",
    "questions": "Ask a model for questions about documents, with the places of their answers.",
    "merge": "Put the saved scores of shards together.",
    "compare": "Say whether one system is better than another, and how sure that is.",
    "leaderboard": "Say which of many systems is best, and which ranks each may have.",
    "diff": "Show what moved between two runs.",
    "fuse": "Combine runs, and say whether that helps.",
    "report": "Compare systems from saved scores.",
    "record": "Keep scores in a history.",
    "history": "Show how measures went over time, and where they changed.",
    "show": "Show one record of a history.",
    "export": "Write a history as Parquet, CSV or JSON.",
    "check": "Say whether a history is undamaged.",
    "prune": "Remove old records of a history.",
    "plan": "Say how many queries a difference needs, and how sure a gate is.",
    "interleave": "Say which of two interleaved rankings users click.",
    "gate": "Check a run against rules and a baseline: pass or fail, and why.",
    "baseline": "Set or show the baseline that runs are compared with.",
    "explain-difference": "Say why two conventions give different numbers.",
    "trec_eval": "Measure a run as trec_eval 10 does: same arguments, same output.",
    "measures": "List the measures, or explain one.",
    "choose": "Recommend measures and cut-offs.",
    "convert": "Write a run or qrels in another format.",
    "judgements": "Make judgements of clicks, or export those that people and models gave.",
    "completion": "Print the script that completes commands and options in a shell.",
    "serve": "Show queries in the browser: why they got worse, and what nobody judged.",
    "demo": "Evaluate two small retrievers and say what the numbers mean.",
}
"""The subcommands; `name-with-dash` lives in name_with_dash.py."""

WITHOUT_MATRICES = ("eval", "trec_eval", "convert", "merge")

GROUPS = {
    "Score": ("eval", "texts", "causes", "sweep", "merge", "trec_eval", "explain-difference"),
    "Compare": ("compare", "leaderboard", "diff", "fuse", "report", "interleave", "plan"),
    "Keep": ("record", "history", "show", "export", "check", "prune", "gate", "baseline"),
    "Explore": ("serve", "measures", "choose", "demo"),
    "Judge": ("judge", "judgements", "agree", "corrected", "questions"),
    "Convert": ("convert", "completion"),
}
"""The subcommands as the help page shows them, by what people want to do; any other comes at its end."""


class _Commands(click.Group):
    running: click.Command | None = None
    """The command that was asked for last."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        if name in WITHOUT_MATRICES:
            # Threads for products of matrices take longer to start than these commands take on small files.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command = import_module(f"goldrank.cli.{name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        command.epilog = examples.epilog(name)
        self.running = command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS) or f"Commands are: {', '.join(COMMANDS)}."
            raise click.UsageError(f"there is no command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        grouped = {name for names in GROUPS.values() for name in names}
        others = tuple(name for name in COMMANDS if name not in grouped)
        for title, names in {**GROUPS, "Other": others}.items():
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name, COMMANDS[name]) for name in names])


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Say the version, and which core is in use."""
    if not is_asked or context.resilient_parsing:
        return
    from goldrank.core import core  # it may need numpy, which help and completion do without

    click.echo(f"goldrank, version {__version__} ({core.MAKE})")
    context.exit()


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=examples.epilog("goldrank")
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
    """Run the command and exit: 0 fine, 1 findings of a gate, 2 bad usage or input, 3 trouble with a history."""
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
    """Write out what is left; what cannot be written was complained about, and Python shall not do so again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _show_usage_error(error: click.ClickException) -> None:
    """click's message; what it quotes of the command line may hold anything, such as names of files."""
    context: click.Context | None = getattr(error, "ctx", None)
    if context is not None:
        echo(context.get_usage(), err=True)
        if context.command.get_help_option(context) is not None:
            echo(f"Try '{context.command_path} {context.help_option_names[0]}' for help.\n", err=True)
    say(f"Error: {error.format_message()}")


def _check_words(args: Iterable[str]) -> None:
    """No shell hands over such words; a program that calls `run` may, and no file can have such a name."""
    for word in args:
        try:
            wrong = b"\0" in os.fsencode(word)
        except UnicodeEncodeError:
            wrong = True
        if wrong:
            raise click.UsageError(f"{word!r} holds what no word of a command line can hold: NUL or half a character")


def run(args: list[str] | None = None) -> int:
    """Run the command; whatever happens, people get a sentence and never a traceback."""
    try:
        _check_words(args or ())
        # click returns the code of a command that exits; commands return nothing themselves.
        code = group.main(args, prog_name="goldrank", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        _show_usage_error(error)
        return 2
    except GoldrankError as error:
        error.hint = error.hint and hints.at_the_prompt(error.hint, group.running)
        echo(f"goldrank: {error}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except Terminated as signalled:
        return 128 + signalled.number
    except SystemExit:
        # click's way of saying that whoever read our output has gone, as `head` does.
        return 0
    except MemoryError:
        echo("goldrank: out of memory", err=True)
        return 2
    except OSError as error:
        if os.environ.get("GOLDRANK_TRACEBACK"):
            raise
        where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        say(f"goldrank: {where}{error.strerror or error}")
        return 2
    except Exception as error:
        if os.environ.get("GOLDRANK_TRACEBACK"):
            raise
        say(f"goldrank: internal error: {type(error).__name__}: {error}")
        echo("  This is a bug. Set GOLDRANK_TRACEBACK=1 to see where, and please report it.", err=True)
        return 2
    return code if isinstance(code, int) else 0
