"""What every command has: help in groups with the usual options first, and errors for names of old versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

import click

from goldrank.cli import old_names
from goldrank.cli.nouns import NounType

HEADINGS = ("Input", "What to measure", "Output")
"""The headings of a page of help, in their order; others come behind them."""

WHOLE_HELP = "goldrank.whole_help"
"""The key in a context's `meta` that says that all options are to be shown."""


class Option(click.Option):
    """An option that knows which heading of the help it belongs under."""

    def __init__(self, *words: Any, heading: str = "Input", **more: Any) -> None:
        super().__init__(*words, **more)
        self.heading = heading


def option(*flags: str, heading: str = "Input", **more: Any) -> Callable[[Any], Any]:
    """An option under one of the `HEADINGS`."""
    return click.option(*flags, cls=Option, heading=heading, **more)


def _show_all(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        context.meta[WHOLE_HELP] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Helpful(click.Command):
    """What commands and groups share."""

    usual: tuple[str, ...] = ()
    """The options that `--help` shows; `--help-all` shows the others too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its parameters, and `--help-all` where there is more than `--help` shows."""
        params = super().get_params(ctx)
        if any(self._is_more(param) for param in self.params):
            shows_all = Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help="Show all options and exit.",
            )
            params = [*params, shows_all]
        return params

    def _is_more(self, param: click.Parameter) -> bool:
        return isinstance(param, click.Option) and bool(self.usual) and not set(param.opts) & set(self.usual)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words of a command line; without any, a command that needs some shows its help."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        self._refuse_repeated(ctx, args)
        try:
            return super().parse_args(ctx, self._with_words(args))
        except click.NoSuchOption as error:
            raise old_names.explained(error) from None

    def _with_words(self, args: list[str]) -> list[str]:
        """The words of a command line, where options whose word may be left out do not take a file for it."""
        word_of: dict[str, click.Option] = {}
        for param in self.params:
            if isinstance(param, click.Option) and isinstance(param.type, click.Choice) and param.flag_value:
                word_of |= dict.fromkeys(param.opts, param)

        words = []
        for word, following in zip_longest(args, args[1:]):
            chosen = word_of.get(word)
            if chosen is not None and following not in chosen.type.choices:  # type: ignore[attr-defined]
                words.append(f"{word}={chosen.flag_value}")
            else:
                words.append(word)
        return words

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        """A noun is one option: the second of two would hide the first."""
        for param in self.params:
            if not isinstance(param, click.Option) or param.multiple or not isinstance(param.type, NounType):
                continue
            flag = param.opts[0]
            times = sum(word == flag or word.startswith(f"{flag}=") for word in args)
            if times > 1 and not ctx.resilient_parsing:
                raise click.UsageError(f"{flag} is given {times} times; say all of it at once: {flag} A,KEY=VALUE", ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under their headings."""
        shows_all = ctx.meta.get(WHOLE_HELP, False)
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        left_out = 0
        for param in self.params:
            if not isinstance(param, click.Option) or param.hidden:
                continue
            if self._is_more(param) and not shows_all:
                left_out += 1
                continue
            record = param.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(param, "heading", "Output"), []).append(record)

        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

        if left_out:
            formatter.write_paragraph()
            formatter.write_text(f"{left_out} more options: {ctx.command_path} --help-all")
        self.format_subcommands(ctx, formatter)

    def format_subcommands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands below this one; a plain command has none."""


class PromptCommand(Helpful):
    """A command of goldrank."""

    def __init__(self, *words: Any, usual: str = "", help_alone: bool = False, **more: Any) -> None:
        super().__init__(*words, **more)
        self.usual = tuple(usual.split())
        self.closing = self.epilog or ""
        """What its help says before the examples."""
        needs_some = any(isinstance(param, click.Argument) and param.required for param in self.params)
        self.no_args_is_help = help_alone or needs_some


def command(usual: str = "", *, help_alone: bool = False, **more: Any) -> Callable[[Any], PromptCommand]:
    """A command whose help shows the `usual` options; `help_alone` if it does nothing without arguments."""
    return click.command(cls=PromptCommand, usual=usual, help_alone=help_alone, **more)


class Group(Helpful, click.Group):
    """Commands below a command, such as `history show`; `load` imports one when it is called."""

    def __init__(self, name: str, load: Callable[[str], click.Command], helps: dict[str, str], **more: Any) -> None:
        super().__init__(name, **more)
        self._load = load
        self._helps = helps

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands below."""
        return list(self._helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command below this one."""
        if cmd_name not in self._helps:
            return None
        return self._load(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; another word is an error that lists them."""
        if args and args[0] not in self._helps:
            listed = ", ".join(self._helps)
            raise click.UsageError(f"{ctx.command_path} has no command {args[0]!r}. Commands are: {listed}.", ctx)
        return super().resolve_command(ctx, args)

    def format_subcommands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands below, with a sentence each."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._helps.items()))


def options_of(command: click.Command, ctx: click.Context) -> Iterator[click.Option]:
    """The options of a command and of those below it."""
    yield from (param for param in command.params if isinstance(param, click.Option))
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from options_of(below, ctx)
