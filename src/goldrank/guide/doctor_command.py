"""`goldrank doctor`: what is installed, and what is missing for what."""

from __future__ import annotations

from goldrank.cli.commands import command as declared
from goldrank.cli.output import Output, notes_options


@declared()
@notes_options
def command(output: Output) -> None:
    """Say which core and which packages are installed, and what is missing for what.

    Nothing is changed. Commands work without the packages that they do not need.
    """
    from goldrank.guide.installation import parts

    output.print_parts(parts())
