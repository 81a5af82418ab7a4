"""`goldrank completion`: the script that completes commands and options in a shell."""

from __future__ import annotations

import click

from goldrank.cli.output import echo

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands and options of goldrank in a shell.

    Add it to what the shell reads at its start: ~/.bashrc, ~/.zshrc, or ~/.config/fish/completions/goldrank.fish.
    """
    from click.shell_completion import get_completion_class

    from goldrank.cli import group

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(group, {}, "goldrank", "_GOLDRANK_COMPLETE")
    echo(made.source_template % made.source_vars())
