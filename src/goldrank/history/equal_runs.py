"""Does a system always return the same? Replicates with equal values say so."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.history.record import Record


def equal_runs(records: Sequence[Record], record: Record) -> int:
    """How many runs of a record's system are recorded, if all have the same values; 0 if they differ or it is one.

    Runs of a system are a record and the replicates after it. The same file recorded again is no other run.
    """
    name = record.label or record.run
    line = [other for other in records if (other.label or other.run, other.basis) == (name, record.basis)]
    groups: list[list[Record]] = []
    for other in line:
        if other.replicate and groups:
            groups[-1].append(other)
        else:
            groups.append([other])

    runs = next(group for group in groups if any(other.id == record.id for other in group))
    values = {tuple(sorted(other.values_sha256.items())) for other in runs}
    if len(runs) > 1 and len(values) == 1:
        return len(runs)
    return 0
