"""`goldrank measures`: what there is, and the page of one measure."""

from __future__ import annotations

import click

from goldrank.cli.output import echo_form, show


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(name: str | None, as_json: bool) -> None:
    """List all measures, or show one with its formula, options, when to use it and who proposed it."""
    from goldrank.measures import REGISTRY, parse
    from goldrank.report import measures

    if name is None:
        if as_json:
            echo_form(measures.listed_json(), "json")
        else:
            show(measures.listed())
        return
    bare = name.split("@")[0].split("(")[0]
    try:
        declared = REGISTRY[bare] if bare in REGISTRY else parse(name).declaration
    except ValueError as error:
        try:
            declared = parse(f"{bare}@10").declaration  # one that needs a cut-off
        except ValueError:
            raise error from None
    if as_json:
        echo_form(measures.page_json(declared), "json")
    else:
        show(measures.page(declared))
