"""A page of the site for each measure: its declaration, a picture of how it discounts ranks, and live values."""

from __future__ import annotations

import contextlib
import doctest
import html
import io
import json
import math
from collections.abc import Iterator

import generate

import goldrank
from goldrank.base.errors import GoldrankError
from goldrank.measures import Declaration
from goldrank.measures.options import COMMON

UNSEARCHED = "{ data-search-exclude }"
"""Marks headings of what all pages have, which would be found for every word in it."""
RANKS = 20
"""So many ranks are in a picture."""
TRIED = {
    "● ○ ● ○ ○": ["a", "x", "b", "y", "z"],
    "● ● ○ ○ ○": ["a", "b", "x", "y", "z"],
    "○ ○ ● ● ○": ["x", "y", "a", "b", "z"],
    "○ ○ ○ ○ ●": ["x", "y", "z", "w", "a"],
    "○ ○ ○ ○ ○": ["x", "y", "z", "w", "v"],
}
"""Rankings of five documents, of which a and b are relevant and there is no third one."""


def pages() -> Iterator[tuple[str, str]]:
    """The paths and texts of all pages; docs/measures.md is replaced by a list of them."""
    families = generate.by_family()
    index = ["# Measures", "", *generate.INTRODUCTION]
    for family, title in generate.FAMILIES.items():
        index += ["", f"## {title}", "", "| measure | what it says |", "|---|---|"]
        for declared in families[family]:
            index.append(f"| [{declared.name}]({path(declared.name)}) | {cell(declared.summary)} |")
            yield path(declared.name), page(declared, title)
    yield "measures.md", "\n".join([*index, "", *generate.policies()]) + "\n"


def path(name: str) -> str:
    """Where the page of a measure is; no two names differ only in case, and a test says so."""
    return f"measures/{name.lower()}.md"


def cell(text: str) -> str:
    """A text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def page(declared: Declaration, family: str) -> str:
    """The page of one measure."""
    prose, shown, example = generate.parts(declared)
    tags = json.dumps(declared.aliases)  # other names come first in a search
    lines = [
        "---",
        f"tags: {tags}",
        "---",
        "",
        f"# {declared.name}",
        "",
        f"*[{family}](../measures.md)*",
        "",
        prose,
        "",
    ]
    lines += ["```text", shown.pop("Formula"), "```", ""] if "Formula" in shown else []
    lines += ["| | |", "|---|---|", *(f"| {key} | {cell(value)} |" for key, value in shown.items())]
    own = {key: default for key, default in declared.defaults.items() if key not in COMMON}
    if own:
        lines += ["", "## Options", "", "| option | default | what it may be |", "|---|---|---|"]
        lines += [f"| `{key}` | `{value!r}` | {cell(str(declared.options[key]))} |" for key, value in own.items()]
    values = discounts(declared)
    if values:
        lines += [
            "",
            f"## How it discounts ranks {UNSEARCHED}",
            "",
            f"The value of `{spelling(declared)}` for a query with one ",
        ]
        lines[-1] += "relevant document, by the rank at which that document stands."
        lines += ["", picture(values, spelling(declared))]
    tried = small_rankings(declared)
    if tried:
        lines += [
            "",
            f"## Small rankings {UNSEARCHED}",
            "",
            "Two documents are relevant (●); the others are judged and are not (○).",
        ]
        lines += ["", f"| ranking | `{spelling(declared)}` |", "|---|---:|"]
        lines += [f"| {ranking} | {value:.4f} |" for ranking, value in tried.items()]
    if example:
        lines += ["", "## Example", "", "Run when this page was made:", "", "```pycon", *run(example, declared), "```"]
    return "\n".join(lines) + "\n"


def spelling(declared: Declaration) -> str:
    """The measure as it is asked for here."""
    cutoff = {"optional": "@10", "needed": "@10", "recall": "@0.5", "multiple": "@1.0"}.get(declared.cutoff, "")
    return declared.name + cutoff


def discounts(declared: Declaration) -> list[float]:
    """The values for one relevant document at ranks 1, 2, ...; none where all are equal or it needs other tables."""
    ranking = {f"{rank:02}": [f"x{i}" for i in range(1, RANKS + 1)] for rank in range(1, RANKS + 1)}
    for rank in range(1, RANKS + 1):
        ranking[f"{rank:02}"][rank - 1] = "hit"
    judged = {query: {doc: int(doc == "hit") for doc in docs} for query, docs in ranking.items()}
    found = values(declared, judged, ranking)
    has_shape = len(set(found)) > 1 and all(map(math.isfinite, found)) and not declared.diagnostic
    return found if has_shape else []


def small_rankings(declared: Declaration) -> dict[str, float]:
    """The values of some small rankings, where the measure takes plain judgements."""
    grades = {"a": 1, "b": 1, "x": 0, "y": 0, "z": 0, "w": 0, "v": 0}
    names = {f"q{i}": ranking for i, ranking in enumerate(TRIED.values())}
    return dict(zip(TRIED, values(declared, dict.fromkeys(names, grades), names), strict=False))


def values(declared: Declaration, judged: dict[str, dict[str, int]], run: dict[str, list[str]]) -> list[float]:
    """One value per query in order, or none where the measure reads something else than judged documents."""
    if declared.over not in ("placements", "heads") or declared.of_all_queries:
        return []
    try:
        scores = goldrank.evaluate(judged, run, spelling(declared))
    except GoldrankError:  # it needs more than judged documents
        return []
    (by_query,) = scores.per_query.values()
    return [by_query[query] for query in judged]


def picture(shown: list[float], name: str) -> str:
    """Bars over ranks, as SVG in the colours of the page."""
    width, height, left, top = 480, 150, 34, 16
    low, high = min(0.0, *shown), max(0.0, *shown)
    step, scale = (width - left) / len(shown), (height - top - 24) / (high - low)
    zero = top + high * scale
    words = html.escape(f"{name} by rank: " + ", ".join(f"{value:.3f}" for value in shown))
    parts = [f'<svg class="discount" viewBox="0 0 {width} {height}" role="img" aria-label="{words}">']
    for rank, value in enumerate(shown, 1):
        x, y = left + (rank - 1) * step, min(zero, zero - value * scale)
        tip = f"<title>rank {rank}: {value:.4f}</title>"
        parts.append(
            f'<rect x="{x + 2:.1f}" y="{y:.1f}" width="{step - 4:.1f}" height="{abs(value) * scale:.1f}">{tip}</rect>'
        )
        if rank == 1 or rank % 5 == 0:
            parts.append(f'<text x="{x + step / 2:.1f}" y="{height - 6}" text-anchor="middle">{rank}</text>')
    parts.append(f'<line x1="{left}" y1="{zero:.1f}" x2="{width}" y2="{zero:.1f}"/>')
    for value in {low, high}:
        parts.append(f'<text x="0" y="{top + (high - value) * scale + 4:.1f}">{value:.3g}</text>')
    return "".join([*parts, "</svg>"])


def run(example: list[str], declared: Declaration) -> list[str]:
    """The lines of an example with what they print now."""
    names = dict(vars(__import__(declared.kernel.__module__, fromlist=["*"])), evaluate=goldrank.evaluate)
    names |= {name: getattr(goldrank, name) for name in goldrank.__all__}
    lines = []
    for one in doctest.DocTestParser().get_examples("\n".join(example)):
        first, *more = one.source.rstrip("\n").split("\n")
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in more)]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(one.source, declared.name, "single"), names)  # noqa: S102 - the project's own examples
        lines += printed.getvalue().splitlines()
    return lines
