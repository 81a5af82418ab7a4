"""`goldrank measures`: what there is, and the page of one measure."""

from __future__ import annotations

import json
import textwrap

import click


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(name: str | None, as_json: bool) -> None:
    """List all measures, or show one with its formula, options, when to use it and who proposed it."""
    from goldrank.measures import REGISTRY, parse

    if name is None:
        if as_json:
            click.echo(json.dumps({key: declared.summary for key, declared in REGISTRY.items()}, indent=2))
            return
        width = max(map(len, REGISTRY))
        for key, declared in REGISTRY.items():
            click.echo(f"{key.ljust(width)}  {declared.summary}")
        click.echo(
            '\n`goldrank measures nDCG` tells all about one. Spelling: nDCG@10, P(rel=2)@5, nDCG(gain="exp2")@20.'
        )
        return
    bare = name.split("@")[0].split("(")[0]
    try:
        declared = REGISTRY[bare] if bare in REGISTRY else parse(name).declaration
    except ValueError:
        declared = parse(f"{bare}@10").declaration
    if as_json:
        facts = ("name", "formula", "use", "avoid", "cite", "cutoff", "low", "high", "average", "doc")
        page = {fact: getattr(declared, fact) for fact in facts}
        page |= {"aliases": list(declared.aliases), "options": {k: str(v) for k, v in declared.defaults.items()}}
        page = {k: None if v in (float("inf"), float("-inf")) else v for k, v in page.items()}
        click.echo(json.dumps(page, indent=2))
        return
    for line in page_of(declared.name):
        click.echo(line)


def page_of(name: str) -> list[str]:
    """The page of one measure, as lines."""
    from goldrank.measures import REGISTRY
    from goldrank.measures.describe import facts, option_lines

    declared = REGISTRY[name]
    shown = facts(declared)
    lines = [declared.summary, ""]
    width = max(map(len, shown))
    for key, text in shown.items():
        wrapped = textwrap.wrap(text, 96 - width)
        lines += [f"{(key if i == 0 else '').ljust(width)}  {part}" for i, part in enumerate(wrapped)]
    body = declared.doc.strip().splitlines()[1:]
    lines += ["", *body] if any(body) else []
    return [*lines, "", "Options", *(f"  {line}" for line in option_lines(declared, common=True))]
