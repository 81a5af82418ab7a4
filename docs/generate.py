"""Writes docs/measures.md from the declarations of the measures."""

from __future__ import annotations

import sys
from pathlib import Path

from goldrank.conventions import NAMES, POLICIES
from goldrank.measures import REGISTRY, Declaration
from goldrank.measures.describe import facts
from goldrank.measures.options import COMMON

TARGET = Path(__file__).parent / "measures.md"

FAMILIES = {
    "cutoff": "The first k documents as a set",
    "rank": "The ranks of relevant documents",
    "gain": "Graded relevance",
    "browsing": "Users who read down the list",
    "similarity": "Similarity to an ideal ranking",
    "judged": "Incomplete judgements",
    "sets": "Everything that was returned, and counts",
    "diversity": "Aspects: subtopics, or several judges",
    "preference": "Preferences between documents",
    "evidence": "Evidence by its place in the sources",
    "cover": "Retrieved texts and the references that they cover",
    "claims": "Claims of an answer, as Ragas measures them",
    "citations": "Citations of an answer",
    "nuggets": "Nuggets: facts that an answer should have",
    "abstention": "Questions without an answer",
    "recommending": "Recommendations beyond accuracy",
    "sampled": "One positive among sampled negatives",
}


INTRODUCTION = [
    "**Which measure do I need, and what does it count?** The first command recommends measures, the second explains",
    "one:",
    "",
    "```",
    "goldrank choose rag",
    "goldrank measures nDCG@10",
    "```",
    "",
    "* Where nothing else is said, values are from 0 to 1, higher is better, and the mean over queries is reported.",
    "* `rel` is the lowest grade that counts as relevant.",
    "* Every measure also takes `judged_only=True`, which leaves unjudged documents out of rankings, and on texts",
    "  `tokens=N`, which counts only the first texts that fit into N tokens.",
    "* [Policies](#policies), at the end, are the rules on which tools differ.",
]
USUAL = {"Range": "0 to 1, higher is better", "Over queries": "the mean"}
"""Facts that most measures share, which the introduction says once."""
SHORT = {
    "counts texts that cover any reference": "*texts*",
    "counts references, each where it is first covered": "*references*",
    "counts texts and references": "*texts* and *references*",
    "counts references, each at another rank, not above the text that first covers it": "*places*",
    "has no meaning, because a matcher judges every text": "no meaning",
}
"""What a measure does with texts, in a word. The page of many measures explains the words once."""
WORDS = [
    "",
    "What a measure counts **with texts** ([who is credited](texts.md#who-is-credited)):",
    "",
    "* *texts*: texts that cover any reference",
    "* *references*: references, each where it is first covered",
    "* *places*: references, each at another rank, not above the text that first covers it",
    "* no meaning: a matcher judges every text, and the measure is about unjudged or nonrelevant ones",
]


def by_family() -> dict[str, list[Declaration]]:
    """The measures of each family, in the order of their declaration."""
    families: dict[str, list[Declaration]] = {name: [] for name in FAMILIES}
    for declared in REGISTRY.values():
        families[declared.kernel.__module__.rsplit(".", 1)[-1]].append(declared)
    return families


def text() -> str:
    """The whole page."""
    families = by_family()
    lines = ["# Measures", "", *INTRODUCTION, *WORDS, "", "The measures:", ""]
    for family, title in FAMILIES.items():
        listed = ", ".join(f"[{declared.name}](#{declared.name.lower()})" for declared in families[family])
        lines.append(f"* {title}: {listed}")
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}"]
        for declared in families[family]:
            lines += ["", *_page(declared)]
    return "\n".join([*lines, "", *policies()]) + "\n"


def policies() -> list[str]:
    """The section about the rules on which tools differ."""
    lines = ["## Policies", "", "A set of policies with a name is a convention: " + ", ".join(NAMES) + "."]
    for policy, words in POLICIES.items():
        lines += ["", f"`{policy}`", "", *(f"* `{word}`: {meaning}" for word, meaning in words.items())]
    return lines


def parts(declared: Declaration) -> tuple[str, dict[str, str], list[str]]:
    """What its docstring says, the facts of its declaration, and the lines of its example."""
    body = declared.doc.strip().splitlines()
    example = next((i for i, line in enumerate(body) if line.startswith(">>>")), len(body))
    return "\n".join(body[:example]).strip(), facts(declared, "`"), body[example:]


def _page(declared: Declaration) -> list[str]:
    prose, shown, example = parts(declared)
    lines = [f"### {declared.name}", "", prose, "", f"    {shown.pop('Formula', '')}", ""]
    lines += [f"* **{key}**: {SHORT.get(value, value)}" for key, value in shown.items() if USUAL.get(key) != value]
    own = {key: default for key, default in declared.defaults.items() if key not in COMMON}
    options = [f"    * `{key}={default!r}`: {declared.options[key]}" for key, default in own.items()]
    lines += ["* **Options**:", *options] if options else []
    return [*lines, "", "```python", *example, "```"] if example else lines


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name}: {len(REGISTRY)} measures\n")
