"""What rare forms of TREC files cost: python benchmarks/rare_paths.py [--lines 100000]

Each form holds the same judgements or results as the plain one, but for what its name says. The time per line is that
of reading judgements whole, and of evaluating a run against a hundred of them: the least CPU time of three rounds. None
may take more than three times the plain file's time per line. Long ids are ten times as many bytes, and may take that
much more.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import goldrank

PER_QUERY = 100
LIMIT = 3.0
LIMITS = {"long ids": 10 * LIMIT}
ROUNDS = 3

Line = list[str]
Form = Callable[[list[Line], random.Random], str]


def joined(lines: list[Line], blank: str = " ", end: str = "\n") -> str:
    return "".join(blank.join(line) + end for line in lines)


def with_column(column: int, change: Callable[[str, int], str]) -> Form:
    """The file with one column changed, line by line."""
    return lambda lines, rng: joined(
        [[*line[:column], change(line[column], i), *line[column + 1 :]] for i, line in enumerate(lines)]
    )


def between(lines: list[Line], more: str) -> str:
    """The file with a line more after every ten."""
    return "".join(joined([line]) + (more if i % 10 == 9 else "") for i, line in enumerate(lines))


def shuffled(lines: list[Line], rng: random.Random) -> str:
    return joined(rng.sample(lines, len(lines)))


FORMS: dict[str, Form] = {
    "plain": lambda lines, rng: joined(lines),
    "comments": lambda lines, rng: between(lines, "# a remark\n"),
    "blank lines": lambda lines, rng: between(lines, "\n"),
    "CRLF": lambda lines, rng: joined(lines, end="\r\n"),
    "tabs": lambda lines, rng: joined(lines, "\t"),
    "several blanks": lambda lines, rng: joined(lines, "   "),
    "long ids": with_column(2, lambda text, i: text + "x" * 190),
    "ids beyond ASCII": with_column(2, lambda text, i: text + "\u00e9"),
    "interleaved queries": shuffled,
}
"""Forms that both kinds of files can have."""
QRELS_FORMS: dict[str, Form] = {
    **FORMS,
    "negative grades": with_column(3, lambda text, i: str(-1 - i % 2)),
    "some negative grades": with_column(3, lambda text, i: "-1" if i % 10 == 0 else text),
    "signs": with_column(3, lambda text, i: "+" + text),
    "duplicates": lambda lines, rng: joined([*lines, *lines[: len(lines) // 10]]),
}
RUN_FORMS: dict[str, Form] = {
    **FORMS,
    "exponents": with_column(4, lambda text, i: f"{float(text):e}"),
    "17 digits": with_column(4, lambda text, i: f"{float(text) + 1 / 3:.17g}"),
    "negative scores": with_column(4, lambda text, i: "-" + text),
    "duplicates": lambda lines, rng: joined([*lines, *lines[: len(lines) // 10]]),
    "scores all equal": with_column(4, lambda text, i: "1"),
}


def least(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return min(times)


def measured(lines: int) -> list[tuple[str, str, float, float]]:
    """Kind, form, microseconds per line, and how many times the plain file's that is."""
    rng = random.Random(7)
    queries, docs = max(lines // PER_QUERY, 1), [f"doc{number:07d}" for number in range(PER_QUERY * 20)]
    judged = [
        [f"q{q}", "0", doc, str(rng.randint(0, 3))] for q in range(queries) for doc in rng.sample(docs, PER_QUERY)
    ]
    ranked = [
        [f"q{q}", "Q0", doc, str(rank), f"{1000 - rank + rng.random():.6f}", "t"]
        for q in range(queries)
        for rank, doc in enumerate(rng.sample(docs, PER_QUERY), 1)
    ]
    qrels = {f"q{q}": {docs[q % len(docs)]: 1} for q in range(min(queries, 100))}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"

        def read_qrels() -> object:
            return len(goldrank.read_qrels(path, format="trec", judgements="last"))

        def evaluate() -> object:
            run = goldrank.read_run(path, format="trec")
            return goldrank.evaluate(qrels, run, "AP", overlap="allow", duplicates="last")

        kinds = (("qrels", QRELS_FORMS, judged, read_qrels), ("run", RUN_FORMS, ranked, evaluate))
        for kind, forms, rows, work in kinds:
            plain = 0.0
            for name, form in forms.items():
                path.write_text(form(rows, rng), encoding="utf-8")
                each = least(work) / len(rows) * 1e6
                plain = plain or each
                found.append((kind, name, each, each / plain))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; the number of forms that take too long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="kind, form, microseconds, ratio and whether it is met")
    given = parser.parse_args(arguments)
    lines = given.lines
    if given.json:
        found = measured(lines)
        print(json.dumps([(*row, row[3] <= LIMITS.get(row[1], LIMIT)) for row in found]))
        return 0
    print(f"{lines:,} lines each\n\n| file | form | microseconds a line | times plain | met |\n|---|---|---:|---:|---|")
    late = 0
    for kind, name, each, ratio in measured(lines):
        met = ratio <= LIMITS.get(name, LIMIT)
        late += not met
        print(f"| {kind} | {name} | {each:.2f} | {ratio:.2f} | {'yes' if met else '**no**'} |")
    return late


if __name__ == "__main__":
    raise SystemExit(main())
