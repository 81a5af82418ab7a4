"""`goldrank measures`: the list of measures, and the page of one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.completing import MeasureNames
from goldrank.cli.output import Output, output_options

if TYPE_CHECKING:
    from goldrank.measures.declare import Declaration


@declared()
@click.argument("name", required=False, type=MeasureNames())
@output_options()
def command(name: str | None, output: Output) -> None:
    """List all measures, or show one with its formula, options, when to use it and who proposed it."""
    from goldrank.data.table import plain
    from goldrank.report import measures

    if name is None:
        listed = measures.listed()
        writers = {"terminal": lambda _: plain(listed), "json": lambda _: measures.listed_json()}
        output.show(None, lambda _: listed, writers)
        return

    declared_measure = _declared(name)
    page = measures.page(declared_measure)
    writers = {"terminal": lambda _: plain(page), "json": lambda _: measures.page_json(declared_measure)}
    output.show(None, lambda _: page, writers)


def _declared(name: str) -> Declaration:
    """The measure of a name, with or without a cut-off."""
    from goldrank.measures import REGISTRY, parse

    bare = name.split("@")[0].split("(")[0]
    if bare in REGISTRY:
        return REGISTRY[bare]
    try:
        return parse(name).declaration
    except ValueError as error:
        try:
            return parse(f"{bare}@10").declaration  # one that needs a cut-off
        except ValueError:
            raise error from None
