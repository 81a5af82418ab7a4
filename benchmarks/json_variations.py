"""What variations of JSON Lines cost: python benchmarks/json_variations.py [--rows 300000] [--lists 50000]

Each variation holds the same results as the plain file, but for what its name says. The time is that of reading the
run: the least CPU time of three rounds. None may take more than twice the plain file's time per line, but for long
texts, which are twenty times as many bytes.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import goldrank

PER_QUERY = 100
LISTED = 10
ROUNDS = 3
LIMIT = 2.0
LONG = "a long text field"
TEXT = "Gold is where you find it, and a ranking: the more of it comes first, the better. " * 15

Record = dict[str, Any]
Variation = Callable[[list[Record]], Iterable[str]]


class Timing(NamedTuple):
    """How long a variation of a kind of file takes."""

    kind: str
    variation: str
    seconds: float
    ratio: float


def plain(records: Iterable[Record]) -> Iterable[str]:
    return map(json.dumps, records)


def changed(change: Callable[[int, Record], Record]) -> Variation:
    """The file with every record changed."""
    return lambda records: plain(change(number, record) for number, record in enumerate(records))


def in_the_middle(change: Callable[[str], str]) -> Variation:
    """The file with one line changed."""

    def lines(records: list[Record]) -> Iterable[str]:
        middle = len(records) // 2
        return (change(line) if number == middle else line for number, line in enumerate(plain(records)))

    return lines


def turned(record: Record) -> Record:
    return dict(reversed(record.items()))


def other_names(record: Record) -> Record:
    """The record, and each of the results in it, with ids beyond ASCII."""
    return {name: _other_id(value) for name, value in record.items()}


def _other_id(value: Any) -> Any:
    if isinstance(value, str):
        return value + "\u00e9"
    if isinstance(value, list):
        return [other_names(entry) for entry in value]
    return value


def first_escaped(line: str) -> str:
    """The line with the first character of its first id escaped."""
    at = line.index(': "') + len(': "')
    return f"{line[:at]}\\u{ord(line[at]):04x}{line[at + 1 :]}"


VARIATIONS: dict[str, Variation] = {
    "plain": plain,
    "one escape in one line": in_the_middle(first_escaped),
    "escapes in every line": lambda records: map(first_escaped, plain(records)),
    "other key order": changed(lambda number, record: turned(record)),
    "key order alternating": changed(lambda number, record: turned(record) if number % 2 else record),
    "an optional key missing in some": changed(
        lambda number, record: {name: record[name] for name in record if name != "lang" or number % 2}
    ),
    "an extra key in some": changed(lambda number, record: {**record, "took": number} if number % 2 else record),
    "a nested object": changed(lambda number, record: {**record, "meta": {"shard": {"number": number % 5}}}),
    "unicode ids": lambda records: (json.dumps(other_names(record), ensure_ascii=False) for record in records),
    LONG: changed(lambda number, record: {**record, "text": TEXT}),
    "one blank line": in_the_middle(lambda line: line + "\n"),
    "one CR": in_the_middle(lambda line: line + "\r"),
}


def rows(count: int, rng: random.Random) -> list[Record]:
    """A record for each document."""
    return [
        {
            "query_id": f"q{number // PER_QUERY}",
            "doc_id": f"doc{rng.randrange(100_000):05d}{number % PER_QUERY}",
            "score": round(rng.uniform(0, 30), 6),
            "lang": "en",
        }
        for number in range(count)
    ]


def lists(count: int, rng: random.Random) -> list[Record]:
    """A record for each query, with a list of its results."""
    return [
        {
            "query_id": f"q{number}",
            "lang": "en",
            "results": [
                {"doc_id": f"doc{rng.randrange(100_000):05d}{rank}", "score": round(30 - rank + rng.random(), 6)}
                for rank in range(LISTED)
            ],
        }
        for number in range(count)
    ]


def least(path: Path) -> float:
    """The CPU time that reading takes."""
    times = []
    for _ in range(ROUNDS):
        before = time.process_time()
        goldrank.read_run(path, format="jsonl")
        times.append(time.process_time() - before)
    return min(times)


def measured(counts: dict[str, int]) -> Iterable[Timing]:
    """Every variation of every kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        for kind, make in (("rows", rows), ("lists", lists)):
            records = make(counts[kind], random.Random(7))
            gc.freeze()  # or the collector would look through these records while others are read
            plain_seconds = 0.0
            for name, variation in VARIATIONS.items():
                with path.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(f"{line}\n" for line in variation(records))
                seconds = least(path)
                plain_seconds = plain_seconds or seconds
                yield Timing(kind, name, seconds, seconds / plain_seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; the number of variations that take too long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--lists", type=int, default=50_000)
    given = parser.parse_args(arguments)

    print("| records | variation | CPU s | times plain | met |\n|---|---|---:|---:|---|")
    late = 0
    for timing in measured(vars(given)):
        met = timing.ratio <= LIMIT or timing.variation == LONG
        late += not met
        print(
            f"| {timing.kind} | {timing.variation} | {timing.seconds:.2f} | {timing.ratio:.2f} "
            f"| {'yes' if met else '**no**'} |",
            flush=True,
        )
    return late


if __name__ == "__main__":
    raise SystemExit(main())
