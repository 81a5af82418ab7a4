"""How much memory an evaluation will take, and how to make do with less.

Estimates are made from the sizes of files, the footers of Parquet files and the number of judgements.
What can be made smaller are the pieces that a run is read in, how many are in work at once, how many lines of
scattered queries are sorted at a time, and how many ids of unjudged queries are held. What is left is the room for the
lines of one query, which are ranked together; the engine refuses a query that takes more. Judgements are held whole,
and so are runs in JSON, CSV and Arrow files: their readers ask (`data.budget.reserve`) before they make objects of
bytes. Each constant says what benchmarks/memory.py measured; `tests/evaluation/test_memory.py` compares peaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from goldrank import ids
from goldrank.data.blocks import BlockSource, ReadingPlan
from goldrank.data.budget import LIBRARIES, check, in_words, resident
from goldrank.data.qrels import Qrels
from goldrank.engine.external_sort import SCATTERED_LINE
from goldrank.errors import OptionError

__all__ = ["LIBRARIES", "check", "in_words", "plan", "resident", "size"]

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

PER_JUDGEMENT = 80
"""Bytes that a judgement takes beyond what the qrels hold already: tables to look it up, placements. Measured where all
are retrieved: 65."""
PER_QUERY = 300
"""Bytes that a judged query takes beside its judgements: its name, counts, and 8 for the value of each measure.
Measured with two measures: 100."""
SPOOL = 64 << 20
HELD_ID = 190
"""Bytes for each id of an unjudged query that is held to be counted, with those of the piece in work. Measured with ids
of twelve bytes: 184."""

SMALLER: tuple[tuple[float, int], ...] = ((1.0, 1_000_000), (0.5, 500_000), (0.25, 250_000), (0.1, 100_000),
                                          (0.04, 50_000))  # fmt: skip
"""Shares of the usual size of a piece, and lines to sort at a time."""


def size(given: str | int) -> int:
    """Bytes from a number or from text such as '500MB' or '2GiB'."""
    is_whole = isinstance(given, int) and not isinstance(given, bool) and 0 < given < 10**20
    text = given.strip() if isinstance(given, str) and len(given) < 100 else str(given) if is_whole else ""
    matched = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]{1,30})?) *([A-Za-z]{0,3})", text)
    if matched is None or matched[2].upper() not in UNITS or float(matched[1]) <= 0:
        shown = ids.show(repr(given), 60)
        raise OptionError(f"{shown} is no amount of memory", hint="For example 500MB, 2GiB or a number of bytes.")
    return int(float(matched[1]) * UNITS[matched[2].upper()])


def processors() -> int:
    """How many threads can run at once."""
    from goldrank.engine import streaming  # it brings threads, which runs in memory do without

    return streaming.processors()


def plan(limit: int, qrels: Qrels, sources: Sequence[BlockSource]) -> ReadingPlan:
    """The fastest way to evaluate runs, one after the other, that fits; or an error that says what is needed."""
    fixed = resident() + LIBRARIES + PER_JUDGEMENT * qrels.size + PER_QUERY * len(qrels)
    needed = 0
    most_threads = processors()
    for share, lines in SMALLER:
        for threads in range(most_threads, 0, -1):
            working = max((source.memory(threads, share) for source in sources), default=0)
            spool = min(SPOOL, 32 * lines) + HELD_ID * lines
            needed = fixed + working + spool + SCATTERED_LINE * lines
            if needed <= limit:
                return ReadingPlan(threads, share, lines, limit=limit, room=limit - fixed - working - spool)
    check(
        limit,
        needed,
        f"evaluating with {qrels.size:,} judgements",
        ", ".join(source.name for source in sources) or qrels.name,
        "Give more memory, write Parquet with smaller row groups, or split the queries into shards: docs/scale.md.",
    )
    return ReadingPlan(limit=limit)
