"""`goldrank causes`: why is what an answer needs not in the context?"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from goldrank.cli.inputs import watching
from goldrank.cli.options import choice_option, file_option
from goldrank.cli.output import deliver, show_as, written
from goldrank.cli.text_options import MATCHERS, gold_option, named_sets, text_arguments, text_options
from goldrank.measures.options import PACKERS
from goldrank.types import Pack


@click.command(epilog=MATCHERS)
@click.argument("data")
@click.option(
    "-k",
    type=click.IntRange(1),
    help="How many of the first texts make up the context.  [default: 5, or all with --budget]",
)
@click.option("--budget", type=click.IntRange(1), help="How many tokens the context holds.")
@choice_option("--pack", PACKERS, "prefix", "How texts are packed into the budget.")
@click.option(
    "--chunks", type=click.Path(), help="All texts of the index: records with id, text, source, start and end."
)
@click.option("--coverage", type=float, default=1.0, show_default=True, help="The share of evidence that is enough.")
@gold_option
@choice_option("-o --output", ["table", "json"], "table", "How to show it.")
@file_option("--html", help="Write a page with all questions: filter by cause, unfold texts.")
@text_options
def command(
    data: str,
    k: int | None,
    budget: int | None,
    pack: Pack,
    gold: str | None,
    output: str,
    html: str | None,
    **options: Any,
) -> None:
    """Say for each thing that an answer needs why it is not in the context.

    Causes are: over the budget, ranked too low, found but not matched, not in the corpus, not indexed, cut by the
    border of a chunk, not retrieved. --sources and --chunks tell the last four.
    """
    from goldrank.evaluation.causes import find_causes

    arguments = text_arguments(**options)
    (items,), opened = named_sets([data], arguments.reading, gold)
    with watching(opened):
        depth = k if k is not None or budget is not None else 5
        causes = find_causes(
            items,
            k=depth,
            budget=budget,
            pack=pack,
            matching=arguments.matching,
            evidence=arguments.evidence,
            convention=arguments.convention,
        )
    if html:
        from goldrank.report.causes import page

    forms = {"json": lambda result: json.dumps(result.to_dict(), ensure_ascii=True)}
    printed = partial(show_as, output, causes, lambda result: result.parts(), forms)
    deliver(written(html, lambda: page(causes)), printed)
