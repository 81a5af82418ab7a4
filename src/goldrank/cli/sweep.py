"""`goldrank sweep`: several chunkings, retrievers, numbers of texts and budgets, by one gold set."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import click

from goldrank.cli.inputs import key_values, named_file, once
from goldrank.cli.options import choice_option, file_option, seed_option
from goldrank.cli.output import deliver, show_as, written
from goldrank.cli.text_options import MATCHERS, numbers, text_arguments, text_options
from goldrank.evaluation.text_settings import Evidence
from goldrank.io.items import Items, read_items
from goldrank.measures.options import PACKERS
from goldrank.types import Pack


@click.command(epilog=MATCHERS)
@click.argument("systems", metavar="CHUNKING/RETRIEVER=DATA...", nargs=-1, required=True)
@file_option("--gold", help="What is needed, once for all: records with id and references or evidence.")
@click.option(
    "-k",
    "ks",
    metavar="N,N,...",
    help="Numbers of texts.  [default: 1,3,5,10,20 as far as lists reach, without --budgets]",
)
@click.option("--budgets", metavar="N,N,...", help="Budgets of tokens; with -k every combination.")
@choice_option("--pack", PACKERS, "prefix", "How texts are packed into a budget.")
@click.option("-m", "--measure", help="What is measured, without a cut-off.  [default: EvidenceRecall, or Cover]")
@click.option(
    "--baseline", metavar="SETTING", help="What others are tested against: small/bm25@5 or 'small/bm25 500 tokens'."
)
@click.option(
    "--chunks", multiple=True, metavar="CHUNKING=FILE", help="All texts of an index, to tell causes; may be repeated."
)
@click.option("--coverage", type=float, default=1.0, show_default=True, help="The share of evidence that is enough.")
@seed_option
@choice_option("-o --output", ["table", "json"], "table", "How to show it.")
@file_option("--html", help="Write the page: recall against cost, all settings, tests.")
@file_option("--svg", help="Write the drawing of recall against cost.")
@text_options
def command(
    systems: tuple[str, ...],
    ks: str | None,
    budgets: str | None,
    pack: Pack,
    measure: str | None,
    baseline: str | None,
    seed: int,
    gold: str | None,
    chunks: tuple[str, ...],
    output: str,
    html: str | None,
    svg: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Recall against cost: which chunking, retriever, number of texts and budget are worth it?

    Each system is a file of questions with what was retrieved for them, named by its chunking and its retriever.
    """
    from goldrank.comparison.settings import Statistics
    from goldrank.comparison.sweep import sweep
    from goldrank.report import sweep as report

    arguments = text_arguments(**options)
    once(systems)
    named: dict[str, Items] = {}
    for text in systems:
        name, path = named_file(text)
        if name is None:
            raise click.UsageError(f"{text!r} has no name: CHUNKING/RETRIEVER={text}")
        if name in named:
            raise click.UsageError(f"two systems are both named {name!r}")
        named[name] = read_items(path, gold=gold, **arguments.reading)
    result = sweep(
        named,
        measure,
        k=numbers(ks, "-k"),
        budget=numbers(budgets, "--budgets"),
        pack=pack,
        matching=arguments.matching,
        evidence=_evidence(arguments.evidence, list(named), key_values(chunks, "--chunks", "CHUNKING=FILE")),
        convention=arguments.convention,
    )
    tests = result.tests(baseline, statistics=Statistics(seed=seed))
    forms = {"json": lambda swept: json.dumps(swept.to_dict(tests), ensure_ascii=True)}
    deliver(
        written(html, lambda: report.page(result, tests)),
        written(svg, lambda: report.chart(result).alone()),
        partial(show_as, output, result, lambda swept: report.parts(swept, tests), forms),
    )


def _evidence(shared: Evidence, systems: list[str], chunks: dict[str, str]) -> Evidence | dict[str, Evidence]:
    """The evidence, by chunking where indexes are given."""
    if not chunks:
        return shared
    chunkings = [name.partition("/")[0] for name in systems]
    return {chunking: replace(shared, chunks=chunks.get(chunking)) for chunking in (*chunkings, *chunks)}
