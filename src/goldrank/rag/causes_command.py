"""`goldrank causes`: why is what an answer needs not in the context?"""

from __future__ import annotations

import click

from goldrank.base.types import Pack
from goldrank.cli.commands import command as declared
from goldrank.cli.inputs import watching
from goldrank.cli.options import FILE, MEASURE, budget_option, choice_option, k_option, one_number
from goldrank.cli.output import Output, output_options
from goldrank.cli.text_options import MATCHERS, TextArguments, named_sets, text_options
from goldrank.measures.options import PACKERS

pack_option = choice_option("--pack", PACKERS, "prefix", "How texts are packed into a budget.", heading=MEASURE)


@declared(usual="-k --budget -o --gold --matching --evidence", epilog=MATCHERS)
@click.argument("data", type=FILE)
@k_option
@budget_option
@pack_option
@text_options()
@output_options()
def command(
    data: str,
    k: tuple[int, ...] | None,
    budget: tuple[int, ...] | None,
    pack: Pack,
    gold: str | None,
    texts: TextArguments,
    output: Output,
) -> None:
    """Say for each thing that an answer needs why it is not in the context.

    The context is the first 5 texts, or as many as -k and --budget say. Causes are: over the budget, ranked too low,
    found but not matched, not in the corpus, not indexed, cut by the border of a chunk, not retrieved. --evidence with
    sources and chunks tells the last four.
    """
    from goldrank.rag.causes import Causes, find_causes

    output.check(Causes)
    depth, tokens = one_number(k, "-k"), one_number(budget, "--budget")
    if depth is None and tokens is None:
        depth = 5
    (items,), opened = named_sets([data], texts.reading, gold)
    with watching(opened):
        causes = find_causes(
            items,
            k=depth,
            budget=tokens,
            pack=pack,
            matching=texts.matching,
            evidence=texts.evidence,
            convention=texts.convention,
        )
    output.show(causes)
