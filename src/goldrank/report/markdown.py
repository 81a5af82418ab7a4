"""A comparison as Markdown."""

from __future__ import annotations

import re

from goldrank import ids
from goldrank.comparison.result import Comparison
from goldrank.report import cells


def escape(text: str, limit: int = 80) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no line breaks, no links."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~&$@:])", r"\\\1", ids.show(text, limit)).replace("\\<", "&lt;")


def render(comparison: Comparison) -> str:
    """Systems, verdicts of the first measure, differences and notes."""
    s = comparison.settings
    heads = ["", "system", *comparison.measures]
    rows = []
    for run, letter in comparison.letters.items():
        row = [letter, escape(run) + (" (baseline)" if run == comparison.baseline else "")]
        for measure in comparison.measures:
            text = cells.value(comparison, measure, run)
            if run in comparison.best(measure):
                text = f"**{text}**"
            beaten = " ".join(comparison.beats(measure, run))
            row.append(f"{text} <sup>{beaten}</sup>" if beaten else text)
        rows.append(row)
    lines = ["### Systems", "", *_table(heads, rows, 2), "", cells.letters_note(comparison), ""]
    lines += [f"- {escape(pair.words, 2000)}" for pair in comparison.of(comparison.measures[0])[:10]]
    heads = ["measure", "A", "B", "B - A", f"{s.level:.0%} interval", "effect d", "win / tie / loss", "p corrected", ""]
    rows = [
        [
            escape(pair.measure),
            escape(pair.a),
            escape(pair.b),
            cells.number(pair.difference, signed=True),
            cells.interval(pair.interval, signed=True),
            cells.number(pair.effect, 2),
            cells.counts(pair),
            cells.p_value(pair.adjusted).replace("<", "&lt;"),
            pair.verdict,
        ]
        for pair in comparison
    ]
    lines += ["", "### Differences", "", *_table(heads, rows, 3), ""]
    if comparison.slices is not None:
        heads = ["attribute", "value", "measure", "queries", *map(escape, comparison.runs)]
        rows = [
            [
                escape(one.attribute),
                escape(one.value),
                escape(one.measure),
                f"{one.n:,}" + (" (few)" if one.small else ""),
                *(cells.number(one.means[run]) for run in comparison.runs),
            ]
            for one in comparison.slices.slices
        ]
        lines += ["### Slices", "", *_table(heads, rows, 3), ""]
        lines += [f"- {escape(str(note), 500)}" for note in comparison.slices.notes]
    lines += ["", f"{len(comparison.queries):,} queries. {escape(comparison.method, 1000)}."]
    lines += ["", *(f"- {escape(str(note), 500)}" for note in comparison.notes)] if comparison.notes else []
    return "\n".join(lines).rstrip() + "\n"


def _table(heads: list[str], rows: list[list[str]], text_columns: int) -> list[str]:
    ruler = ["---" if i < text_columns else "---:" for i in range(len(heads))]
    heads = [head.replace("|", "\\|") for head in heads]
    return ["| " + " | ".join(row) + " |" for row in [heads, ruler, *rows]]
