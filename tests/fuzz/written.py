"""Runs and qrels with changed ids and numbers, written in every format that goldrank writes, and read back equal."""

from __future__ import annotations

import math
import random
import struct
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldrank import Qrels, read_qrels, read_run
from goldrank.io.compression import COMPRESSIONS
from tests.fuzz import cannot_say, mutations
from tests.fuzz.outcomes import Difference, Outcome, agree, bits, drawn, outcome, without_core
from tests.fuzz.packing import SUFFIXES

Spec = dict[str, Any]
FILES = {
    "fuzzed.out": "trec", "fuzzed.json": "json", "fuzzed.jsonl": "jsonl", "fuzzed.csv": "csv", "fuzzed.tsv": "tsv",
    "fuzzed.parquet": "parquet", "fuzzed.arrow": "arrow",
}  # fmt: skip
"""A file of each format that is written; `cannot_say` has what it cannot say."""
IDS = ("d1", "d2", "d10", "a", "longer-than-sixteen-bytes", "1", "é", "NA", "null", "q1,d1", "x;y", "x|y", "a\\b")
SCORES = (0.0, 1.0, -1.0, 0.1, 0.30000000000000004, 12345678901234567.0, 1e308, 5e-324, -0.0, 1e22, math.inf, -math.inf)
GRADES = (0, 1, 2, 3, -1, -2, 10_000_000, 0.5, 1.5, 1e-7)


def _id(rng: random.Random) -> str:
    kind = rng.randrange(8)
    if kind < 3:
        return rng.choice(IDS)
    if kind < 6:
        return mutations.name(rng)
    return mutations.changed_text(rng, rng.choice(IDS))[:80]


def _score(rng: random.Random) -> float:
    if rng.random() < 0.5:
        return rng.choice(SCORES)
    found = float(struct.unpack("d", rng.randbytes(8))[0])
    return 0.0 if math.isnan(found) else found


def make(rng: random.Random) -> Spec:
    thing = rng.choice(("run", "qrels", "judges"))

    def table() -> dict[str, dict[str, Any]]:
        docs = rng.choice((1, 2, 5))
        numbers = [_score(rng) if thing == "run" else rng.choice(GRADES[: rng.choice((7, 10))]) for _ in range(docs)]
        return {_id(rng): {_id(rng): number for number in numbers} for _ in range(rng.choice((1, 1, 2, 4)))}

    return {
        "thing": thing,
        "tables": [table() for _ in range(2 if thing == "judges" else 1)],
        "compression": rng.choice((None, None, None, *COMPRESSIONS)),
        "draw": rng.getrandbits(32),
    }


def check(spec: Spec, folder: Path) -> None:
    tables, thing = spec["tables"], spec["thing"]
    if thing == "run":
        given: Any = tables[0]
    else:
        made = outcome(lambda: Qrels.joined(*tables) if thing == "judges" else Qrels(tables[0], real_grades=True))
        if made.refused:
            return
        given = made.value
    packing = SUFFIXES[spec["compression"]] if spec["compression"] else ""
    for name in drawn(list(FILES), spec["draw"]):
        read_back(given, folder / (name + packing), FILES[name])


def read_back(given: Any, path: Path, format: str) -> bool:
    """A run as a dict, or qrels, are what is read from the file that was made of them; whether one was made.

    They may be refused if the format cannot say them, or if no format takes them.
    """
    is_run = not isinstance(given, Qrels)
    said = outcome(lambda: _write(given, path))
    if said.refused:
        rows = [(q, d, repr(number)) for q, docs in given.items() for d, number in docs.items()]
        route = "written trec grades" if format == "trec" and not is_run else f"written {format}"
        if cannot_say.can_say(route, rows) and not _refused_everywhere(given, path.parent):
            raise Difference(f"a {'run' if is_run else 'judgement'} -> {given!r:.300}\nwrite {path.name} -> {said}")
        return False
    held = Outcome(_held(given, format))

    def read() -> Any:
        return _held(read_run(path).results if is_run else read_qrels(path, real_grades=True), format)

    ways = {"given": held, f"written {path.name}": outcome(read)}
    with without_core():
        ways[f"written {path.name}, without the core"] = outcome(read)
    agree(ways)
    return True


def _refused_everywhere(given: Any, folder: Path) -> bool:
    """Whether what is given is no run or qrels at all: Parquet can say whatever is one."""
    return bool(outcome(lambda: _write(given, folder / "any.parquet")).refused)


def _write(given: Any, path: Path) -> None:
    """Write a run or qrels. What a format cannot keep of who judged is warned of, and is no finding here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (given if isinstance(given, Qrels) else read_run(given)).save(path)


def _held(given: Any, format: str) -> Any:
    """Documents and numbers in no order, as TREC text is written by rank; who judged, where the format keeps it."""
    if not isinstance(given, Qrels):
        return {query: {doc: bits(score) for doc, score in docs.items()} for query, docs in given.items()}
    judges = {who: _graded(part) for who, part in given.judges.items()} if format in KEEP_JUDGES else {}
    return _graded(given), judges


KEEP_JUDGES = ("jsonl", "csv", "tsv", "parquet", "arrow")


def _graded(qrels: Mapping[str, Mapping[str, Any]]) -> Any:
    """A whole grade is one number, whether it was read among fractions or not."""
    return {query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in qrels.items()}
