"""Writes docs/measures.md from the declarations of the measures."""

from __future__ import annotations

import inspect
import math
import sys
from pathlib import Path

from goldrank.conventions import CONVENTIONS, POLICIES
from goldrank.measures import REGISTRY
from goldrank.measures.declare import COMMON, Declaration, describe_option

TARGET = Path(__file__).parent / "measures.md"

FAMILIES = {
    "cutoff": "The first k documents as a set",
    "rank": "Where relevant documents stand",
    "gain": "Graded relevance",
    "browsing": "Users who read down the list",
    "similarity": "Likeness to an ideal ranking",
    "judging": "Incomplete judgements",
    "sets": "Everything that was returned, and counts",
    "diversity": "Aspects: subtopics, or several judges",
    "preference": "Preferences between documents",
    "spans": "Evidence by its place in the sources",
    "texts": "Retrieved texts and the references that they cover",
}
_OVER = {
    "placements": "",
    "heads": "",
    "aspects": "judgements by aspect (`AspectQrels`, `read_aspects`)",
    "preferences": "preferences (`Preferences`, `read_preferences`)",
    "spans": "evidence by place, and the places of retrieved texts (`evaluate_texts`)",
    "texts": "texts (`evaluate_texts`)",
}
_SPELLING = {
    "none": "`{0}`",
    "optional": "`{0}` or `{0}@10`",
    "needed": "`{0}@10`",
    "recall": "`{0}@0.1`",
    "multiple": "`{0}@0.5`",
}


def text() -> str:
    """The whole page."""
    families: dict[str, list[Declaration]] = {name: [] for name in FAMILIES}
    for declared in REGISTRY.values():
        module = inspect.getmodule(declared.kernel)
        assert module is not None
        family = module.__name__.rsplit(".", 1)[-1]
        if family in families:
            families[family].append(declared)
    lines = [
        "# Measures",
        "",
        "This page is made by `make docs` from the declarations in `src/goldrank/measures`. `goldrank measures NAME`",
        "shows the same. Every measure also takes `judged_only=True`, which leaves unjudged documents out of rankings,",
        "and on texts `tokens=N`, which counts only the first texts that fit into N tokens.",
        "",
    ]
    for family, title in FAMILIES.items():
        listed = ", ".join(f"[{one.name}](#{one.name.lower()})" for one in families[family])
        lines.append(f"* {title}: {listed}")
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}"]
        for declared in families[family]:
            lines += ["", *_page(declared)]
    lines += ["", "## Policies", "", "Named sets of them are the conventions: " + ", ".join(CONVENTIONS) + "."]
    for policy, words in POLICIES.items():
        lines += ["", f"`{policy}`", "", *(f"* `{word}`: {meaning}" for word, meaning in words.items())]
    return "\n".join(lines) + "\n"


def _page(declared: Declaration) -> list[str]:
    body = declared.doc.strip().splitlines()
    example = next((i for i, line in enumerate(body) if line.startswith(">>>")), len(body))
    prose = "\n".join(body[:example]).strip()
    facts = {
        "Spelling": _SPELLING[declared.cutoff].format(declared.name),
        "Takes": _OVER[declared.over],
        "Range": f"{_number(declared.low)} to {_number(declared.high)}, "
        + ("higher is better" if declared.higher_is_better else "lower is better"),
        "Over queries": {"mean": "the mean", "sum": "the sum", "geometric": "the geometric mean"}[declared.average],
        "Use it when": declared.use,
        "Avoid it when": declared.avoid,
        "Also known as": ", ".join(f"`{alias}`" for alias in declared.aliases),
        "From": declared.cite,
    }
    lines = [f"### {declared.name}", "", prose, "", f"    {declared.formula}", ""]
    lines += [f"* **{key}**: {value}" for key, value in facts.items() if value]
    options = [
        f"    * `{key}={default!r}`: {describe_option(declared.options[key])}"
        for key, default in declared.defaults.items()
        if key not in COMMON
    ]
    lines += ["* **Options**:", *options] if options else []
    if example < len(body):
        lines += ["", "```python", *body[example:], "```"]
    return lines


def _number(value: float) -> str:
    if math.isinf(value):
        return "infinity" if value > 0 else "minus infinity"
    return f"{value:g}"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name}: {len(REGISTRY)} measures\n")
