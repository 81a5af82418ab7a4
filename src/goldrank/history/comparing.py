"""Records side by side: their scores, for `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goldrank.base.errors import MismatchError
from goldrank.data.scores import Scores
from goldrank.history.record import Record
from goldrank.history.store import History
from goldrank.history.trends import other_basis


def record_name(record: Record) -> str:
    """What a record is called beside others."""
    return f"{record.id} {record.label or record.run}"


def record_scores(history: History, refs: Sequence[int | str]) -> dict[str, Scores]:
    """The scores of records, by name, for `compare`: `compare(record_scores(history, [12, 17]))`.

    `refs` are numbers, labels (the newest record that has it) or commits. Records with other judgements, relevance
    rules, convention or depth are an error: their numbers are not about the same.
    """
    records = [history[ref] for ref in refs]
    for record in records[1:]:
        if record.basis != records[0].basis:
            raise MismatchError(
                f"records {records[0].id} and {record.id} are not about the same: {other_basis(records[0], record)}",
                where=history.path,
                hint="Measure one of them again, so that both have the same judgements and rules.",
            )

    scores = {}
    for record in records:
        name = record_name(record)
        scores[name] = replace(history.scores(record), run=name)
    return scores


def scores_of_records(db: str, refs: Sequence[str], baseline: str | None) -> tuple[list[Scores], str | None]:
    """The scores of records of the history in a file, and the name of the baseline's record."""
    from goldrank.history.opening import open_history

    with open_history(db) as history:
        scores = list(record_scores(history, refs).values())
        if baseline is not None:
            baseline = record_name(history[baseline])
    return scores, baseline
