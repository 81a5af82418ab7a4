"""`goldrank sweep`: several chunkings, retrievers, numbers of texts and budgets, by one gold set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from goldrank.base.errors import did_you_mean
from goldrank.base.types import Pack
from goldrank.cli.commands import command as declared
from goldrank.cli.inputs import named_file, once
from goldrank.cli.nouns import split_at_commas
from goldrank.cli.options import (
    FILE,
    baseline_option,
    budget_option,
    k_option,
    measures_option,
    one_measure,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, output_options
from goldrank.cli.text_options import EVIDENCE, MATCHERS, TextArguments, evidence_option, text_options
from goldrank.evaluation.text_settings import Evidence
from goldrank.io.questions.items import Items, read_items
from goldrank.rag.causes_command import pack_option

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics

NamedEvidence = tuple[str, Evidence]
"""The chunking that evidence is about, empty for all of them, and the evidence."""


def _of_chunking(text: str) -> NamedEvidence:
    """Evidence, perhaps of one chunking: CHUNKING=SOURCES,KEY=VALUE."""
    first, *more = split_at_commas(text)
    name, sign, sources = first.partition("=")
    if not sign or name in EVIDENCE.fields:
        return "", EVIDENCE.parse(text)
    if sources:
        more = [sources, *more]
    return name, EVIDENCE.parse(",".join(more))


@declared(usual="-k --budget -m -o --gold --evidence", epilog=MATCHERS)
@click.argument("systems", metavar="CHUNKING/RETRIEVER=DATA...", nargs=-1, required=True, type=FILE)
@k_option
@budget_option
@pack_option
@measures_option
@baseline_option
@statistics_option
@text_options(evidence_option(_of_chunking, multiple=True))
@output_options()
def command(
    systems: tuple[str, ...],
    k: tuple[int, ...] | None,
    budget: tuple[int, ...] | None,
    pack: Pack,
    measures: tuple[str, ...],
    baseline: str | None,
    statistics: Statistics | None,
    gold: str | None,
    texts: TextArguments,
    output: Output,
) -> None:
    """Recall against cost: which chunking, retriever, number of texts and budget are worth it?

    Each system is a file of questions with what was retrieved for them, named by its chunking and its retriever.
    Without -k and --budget the first 1, 3, 5, 10 and 20 texts are tried. --baseline is a setting, small/bm25@5 or
    'small/bm25 500 tokens'. --evidence may be repeated, for each chunking: small=docs/,chunks=small.jsonl.
    """
    from goldrank.rag import sweep_report as report
    from goldrank.rag.sweep import sweep

    once(systems)
    named: dict[str, Items] = {}
    for text in systems:
        name, path = named_file(text)
        if name is None:
            raise click.UsageError(f"{text!r} has no name: CHUNKING/RETRIEVER={text}")
        if name in named:
            raise click.UsageError(f"two systems are both named {name!r}")
        named[name] = read_items(path, gold=gold, **texts.reading)

    result = sweep(
        named,
        one_measure(measures),
        k=k,
        budget=budget,
        pack=pack,
        matching=texts.matching,
        evidence=_evidence(texts.evidence, list(named)),
        convention=texts.convention,
    )
    tests = result.tests(baseline, statistics=statistics_of(statistics))
    writers = {
        "json": lambda swept: json.dumps(swept.to_dict(tests), ensure_ascii=True),
        "html": lambda swept: report.page(swept, tests),
    }
    output.show(result, lambda swept: report.parts(swept, tests), writers)


def _evidence(evidence: tuple[NamedEvidence, ...] | Evidence, systems: list[str]) -> Evidence | dict[str, Evidence]:
    """The evidence for all, or by chunking where some is named."""
    if isinstance(evidence, Evidence):
        return evidence

    by_name = dict(evidence)
    if len(by_name) < len(evidence):
        raise click.UsageError("--evidence is given twice for one chunking")

    shared = by_name.pop("", Evidence())
    if not by_name:
        return shared

    chunkings = list(dict.fromkeys(name.partition("/")[0] for name in systems))
    for name in by_name:
        if name not in chunkings:
            hint = did_you_mean(name, chunkings) or f"Chunkings are: {', '.join(chunkings)}."
            raise click.UsageError(f"--evidence is for {name!r}, which is neither a key nor a chunking. {hint}")

    return {chunking: by_name.get(chunking, shared) for chunking in chunkings}
