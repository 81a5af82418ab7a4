"""How dense the source is: the figures that CONTRIBUTING asks to look at after a larger change.

    python benchmarks/style_counts.py               one table
    python benchmarks/style_counts.py --places      and where the worst places are
    python benchmarks/style_counts.py --check       fail if a limit is passed (`make lint` does this)

They are for looking, not for winning: a figure that gets better while the code gets harder to read is worth nothing.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "goldrank"
VAGUE = frozenset(
    [
        *("what", "given", "found", "made", "both", "ours", "theirs", "said", "kept", "held", "whole", "how", "told"),
        *("noticed", "taken", "asked", "meant", "had", "has", "one", "ones", "at"),
    ]
)
"""Pronouns, participles and prepositions: names that say nothing of the thing."""
MOST_PARAMETERS = 8
LONG_FUNCTION = 15
WIDE_LINE = 120
ASSETS = (".css", ".js", ".jinja", ".html")

MANY_PARAMETERS = {
    "compat/": "the signature of another tool",
    "core/": "one contract with the C code, which takes arrays one by one",
    "_command.py": "click hands every option to the function of a command",
    "measures/sampled.py": "the options of a measure",
    "cli/compare.py": "click hands every option to the function of a command",
    "cli/eval.py": "click hands every option to the function of a command",
    "cli/plan.py": "click hands every option to the function of a command",
}
"""Files, by a part of their path, whose functions may have many parameters, and why."""
LONG_TUPLES = {
    "core/portable.py": "one contract with the C code, which returns arrays one by one",
}
"""Files whose functions may return tuples of four values and more, and why."""
MOST_CONDITIONALS = 10.0
"""Conditional expressions per 1,000 lines."""
MOST_VAGUE = 0.01
"""The share of vague names."""
MOST_UNBROKEN = 0.25
"""The share of long functions without a blank line."""


@dataclass
class Counts:
    """What was counted in a tree of files."""

    lines: int = 0
    functions: int = 0
    long_functions: int = 0
    unbroken: list[str] = field(default_factory=list)
    """Functions of many lines without a blank line."""
    conditionals: int = 0
    nested: list[str] = field(default_factory=list)
    """Conditional expressions that hold another."""
    nodes: list[int] = field(default_factory=list)
    """How many expressions begin on each line."""
    names: int = 0
    vague: list[str] = field(default_factory=list)
    many_parameters: list[str] = field(default_factory=list)
    tuples: list[str] = field(default_factory=list)
    """Returned tuples of four values and more."""
    wide_assets: list[str] = field(default_factory=list)


def count_tree(root: Path) -> Counts:
    """Count everything below a folder."""
    counts = Counts()
    for path in sorted(root.rglob("*.py")):
        _count_file(path, path.relative_to(root), counts)

    for path in sorted(root.rglob("*")):
        if path.suffix in ASSETS:
            lines = path.read_text(encoding="utf-8").splitlines()
            wide = [number for number, line in enumerate(lines, 1) if len(line) > WIDE_LINE]
            counts.wide_assets += [f"{path.relative_to(root)}:{number}" for number in wide]
    return counts


def _count_file(path: Path, name: Path, counts: Counts) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.splitlines()
    counts.lines += len(lines)
    counts.nodes += _expressions_by_line(tree)

    for node in ast.walk(tree):
        place = f"{name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.IfExp):
            counts.conditionals += 1
            if _holds_another(node):
                counts.nested.append(place)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts.names += 1
            if node.id in VAGUE:
                counts.vague.append(f"{place} {node.id}")
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) >= 4:
            counts.tuples.append(f"{place} ({len(node.value.elts)})")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _count_function(node, place, lines, counts)


def _count_function(node: ast.FunctionDef | ast.AsyncFunctionDef, place: str, lines: list[str], counts: Counts) -> None:
    counts.functions += 1
    parameters = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
    own = [parameter for parameter in parameters if parameter.arg not in ("self", "cls")]
    if len(own) > MOST_PARAMETERS:
        counts.many_parameters.append(f"{place} {node.name} ({len(own)})")

    body = lines[node.lineno - 1 : node.end_lineno]
    if len(body) < LONG_FUNCTION:
        return
    counts.long_functions += 1
    if all(line.strip() for line in body):
        counts.unbroken.append(f"{place} {node.name}")


def _expressions_by_line(tree: ast.AST) -> list[int]:
    by_line: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            by_line[node.lineno] = by_line.get(node.lineno, 0) + 1
    return list(by_line.values())


def _holds_another(node: ast.IfExp) -> bool:
    return any(isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node)


def figures(counts: Counts) -> Iterator[tuple[str, str]]:
    """What the table shows: a name and a figure."""
    yield "lines", f"{counts.lines:,}"
    yield "functions", f"{counts.functions:,}"
    yield "expressions a line, median", f"{statistics.median(counts.nodes):g}"
    yield "conditional expressions per 1,000 lines", f"{counts.conditionals / counts.lines * 1000:.1f}"
    yield "conditional expressions in others", f"{len(counts.nested):,}"
    share = len(counts.unbroken) / max(1, counts.long_functions)
    yield f"functions of {LONG_FUNCTION} lines and more without a blank line", f"{share:.0%}"
    yield "vague names", f"{len(counts.vague) / max(1, counts.names):.1%}"
    yield f"functions with more than {MOST_PARAMETERS} parameters", f"{len(counts.many_parameters):,}"
    yield "returned tuples of four and more", f"{len(counts.tuples):,}"
    yield f"lines of assets over {WIDE_LINE} characters", f"{len(counts.wide_assets):,}"


def broken_limits(counts: Counts) -> list[str]:
    """A line for each limit that is passed, with the places."""
    lines = [f"{place}: a conditional expression holds another" for place in counts.nested]
    lines += [
        f"{place}: more than {MOST_PARAMETERS} parameters"
        for place in _not_excepted(counts.many_parameters, MANY_PARAMETERS)
    ]
    lines += [
        f"{place}: returns four values or more without names" for place in _not_excepted(counts.tuples, LONG_TUPLES)
    ]
    lines += [f"{place}: longer than {WIDE_LINE} characters" for place in counts.wide_assets]

    shares = {
        "conditional expressions per 1,000 lines": (counts.conditionals / counts.lines * 1000, MOST_CONDITIONALS),
        "share of vague names": (len(counts.vague) / max(1, counts.names), MOST_VAGUE),
        "share of long functions without a blank line": (
            len(counts.unbroken) / max(1, counts.long_functions),
            MOST_UNBROKEN,
        ),
    }
    for name, (figure, limit) in shares.items():
        if figure > limit:
            lines.append(f"{name}: {figure:.3g}, at most {limit:g} is wanted")
    return lines


def _not_excepted(places: list[str], exceptions: dict[str, str]) -> list[str]:
    return [place for place in places if not any(part in place for part in exceptions)]


def main() -> None:
    """Print the table, and the places if they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCE)
    parser.add_argument("--places", action="store_true", help="list the worst places of each kind")
    parser.add_argument("--check", action="store_true", help="print only what passes a limit, and fail then")
    arguments = parser.parse_args()

    counts = count_tree(arguments.folder)
    if arguments.check:
        broken = broken_limits(counts)
        sys.exit("\n".join(broken) or 0)
    for name, figure in figures(counts):
        print(f"{figure:>8}  {name}")
    if not arguments.places:
        return
    for kind in ("nested", "many_parameters", "tuples", "wide_assets", "unbroken", "vague"):
        print(f"\n{kind}:")
        print("\n".join(f"  {place}" for place in getattr(counts, kind)[:40]))


if __name__ == "__main__":
    main()
