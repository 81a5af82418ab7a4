"""How much memory an evaluation will take, and how to make do with less.

Estimates are made from the sizes of files, the footers of Parquet files and the number of judgements.
What can be made smaller are the pieces that a run is read in, how many are in work at once, and how many lines of
scattered queries are sorted at a time.
The constants are choices; peaks were compared for Parquet and TREC runs only.
Judgements are held whole, and so are runs in JSON, CSV and Arrow files.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from goldrank import ids
from goldrank.data.blocks import USUAL, BlockSource, Plan
from goldrank.data.qrels import Qrels
from goldrank.errors import MemoryLimitError, OptionError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

LIBRARIES = 60 << 20
"""What is loaded while the work is done: modules and thread stacks."""
PER_JUDGEMENT = 120
"""Bytes that a judgement takes beyond what the qrels hold already: tables to look it up, placements, values."""
PER_QUERY = 1_000
QRELS_BYTE = 14
"""Memory for each byte of a file of qrels while it is read."""
HELD_BYTE = 12
"""Memory for each byte of a run that is held whole, such as JSON."""
SCATTERED_LINE = 260
"""Bytes for each line of scattered queries that is ranked at a time."""
SPOOL = 64 << 20

SMALLER: tuple[tuple[float, int], ...] = ((1.0, 1_000_000), (0.5, 500_000), (0.25, 250_000), (0.1, 100_000),
                                          (0.04, 50_000))  # fmt: skip
"""Shares of the usual size of a piece, and lines to sort at a time."""


def size(given: str | int) -> int:
    """Bytes from a number or from text such as '500MB' or '2GiB'."""
    text = "" if isinstance(given, bool) or not isinstance(given, str | int) else str(given).strip()
    found = re.fullmatch(r"([0-9]{1,30}(?:\.[0-9]{1,30})?) *([A-Za-z]{0,3})", text[:100]) if len(text) < 100 else None
    if found is None or found[2].upper() not in UNITS or float(found[1]) <= 0:
        shown = ids.show(repr(given), 60)
        raise OptionError(f"{shown} is no amount of memory", hint="For example 500MB, 2GiB or a number of bytes.")
    return int(float(found[1]) * UNITS[found[2].upper()])


def in_words(size: int) -> str:
    """Bytes for people: '1.5 GB'."""
    if size < 10**9:
        return f"{max(1, round(size / 10**6)):,} MB"
    return f"{size / 10**9:,.1f} GB"


def resident() -> int:
    """Bytes of memory that this process has now, as far as the system says."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return LIBRARIES
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check(limit: int, needed: int, what: str, where: str, hint: str) -> None:
    """Refuse what surely does not fit."""
    if needed > limit:
        raise MemoryLimitError(
            f"{what} takes about {in_words(needed)}, more than the {in_words(limit)} of max_memory",
            where=where,
            hint=hint,
        )


def processors() -> int:
    """How many threads can run at once."""
    from goldrank.engine import streaming  # it brings threads, which runs in memory do without

    return streaming.processors()


def plan(limit: int, qrels: Qrels, sources: Sequence[BlockSource]) -> Plan:
    """The fastest way to evaluate runs, one after the other, that fits; or an error that says what is needed."""
    fixed = resident() + LIBRARIES + PER_JUDGEMENT * len(qrels.arrays.grade) + PER_QUERY * len(qrels)
    needed = 0
    most_threads = processors()
    for share, lines in SMALLER:
        for threads in range(most_threads, 0, -1):
            working = max((source.memory(threads, share) for source in sources), default=0)
            spool = min(SPOOL, 32 * lines)
            needed = fixed + max(working + spool, SCATTERED_LINE * lines + spool)
            if needed <= limit:
                return USUAL if (share, threads) == (1.0, most_threads) else Plan(threads, share, lines)
    check(
        limit,
        needed,
        f"evaluating with {len(qrels.arrays.grade):,} judgements",
        ", ".join(source.name for source in sources) or qrels.name,
        "Give more memory, write Parquet with smaller row groups, or split the queries into shards: docs/scale.md.",
    )
    return USUAL
