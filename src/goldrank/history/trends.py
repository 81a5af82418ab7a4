"""A measure over time: lines of records that may be compared, and where a line changed by more than chance does.

Records make one line if they have the same label (without one, the run's name) and the same basis: judgements,
relevance rules, convention and depth. Any other record begins a new line, and the line says why.

How changes are found is in `changes`; how they are kept, so that marks stay, in `analysis`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from goldrank.base.errors import StoreError, did_you_mean, whole_number
from goldrank.comparison.settings import Statistics
from goldrank.data.scores import format_value
from goldrank.history.analysis import Analysis, Mark, analyse
from goldrank.history.changes import NO_NOISE, FoundBy, RunNoise
from goldrank.history.record import Record, full_name
from goldrank.history.store import History
from goldrank.measures import known

DOUBTS: dict[FoundBy, str] = {
    "queries": "shown by queries alone: what all queries of a run share, such as a seed or a season, may look so",
    "records": "shown by records alone: queries that wander, each by itself, may look so",
    "both": "shown by queries and by records",
}
"""Why a change is not sure, by the test that found it."""


@dataclass(frozen=True)
class TrendChange:
    """A record from which on a line is at another level."""

    record: Record
    mark: Mark
    """How it was found, as it is kept in the history."""
    better: bool

    @property
    def difference(self) -> float:
        """Of the means of the records from this one on and of those before it, when the change was seen."""
        return self.mark.difference

    @property
    def p(self) -> float:
        """The chance of as much evidence at this look if nothing but chance were at work."""
        return self.mark.p

    @property
    def side(self) -> str:
        """'better' or 'worse'."""
        if self.better:
            return "better"
        return "worse"

    @property
    def words(self) -> str:
        """The change as a sentence: since when, how large, how sure."""
        m = self.mark
        earlier = f"records {m.since} to {m.until}"
        if m.since == m.until:
            earlier = f"record {m.since}"
        side = self.side
        if not m.is_sure:
            side = f"perhaps {side}"
        text = f"{side} since record {m.record}, by {abs(m.difference):.4f} against {earlier}"
        if m.first != m.last:
            text += f" (it may have come with any of records {m.first} to {m.last})"

        text += f": {m.differing:,} of {m.queries:,} queries differ, p {m.p_words}"
        if m.seen != m.record:
            text += f", seen at record {m.seen}"
        if m.confirmed:
            text += f", confirmed at record {m.confirmed}"
        if not m.is_sure:
            text += f" ({DOUBTS[m.found_by]})"
        return text


@dataclass(frozen=True)
class TrendLine:
    """Records of one label and basis, oldest first."""

    name: str
    measure: str
    records: tuple[Record, ...]
    changes: tuple[TrendChange, ...]
    new_because: str
    """How its basis differs from the line of the same name before it; empty for the first."""
    noise: RunNoise = NO_NOISE
    """How far runs of the same system differ, as replicates show it."""
    late: int = 0
    """Records that were added with an earlier time, and were not looked at for changes."""
    hidden: int = 0
    """Older records that were left out by a limit."""

    @property
    def values(self) -> list[float]:
        """The summaries."""
        return [record.mean[self.measure] for record in self.records]

    @property
    def noise_words(self) -> str:
        """What is known about the noise of runs."""
        if is_diagnostic(self.measure):
            return f"{self.measure} is a diagnostic, by which no run is better: changes are not looked for"
        if not self.noise.known:
            return (
                "run-to-run noise unknown: what all queries of one run share (a seed, a rebuilt index) would look like "
                "a change; `record --replicate` tells"
            )
        return (
            f"run-to-run noise: runs of the same system differ by {self.noise.deviation:.4f} (standard deviation of "
            f"the mean, {self.noise.freedom + 1} replicates), and marks allow for it"
        )

    @property
    def step(self) -> int | None:
        """The position of the largest step between records that were the same before it and after it; None if none is.

        Such a system returns the same each time, so the step is no chance on these queries; whether other queries would
        show it is another question, which only marks answer.
        """
        hashes = [record.values_sha256.get(self.measure, "") for record in self.records]
        steps = []
        for i in range(2, len(hashes) - 1):
            is_step = hashes[i - 2] == hashes[i - 1] != hashes[i] == hashes[i + 1]
            if is_step and math.isfinite(self.values[i] - self.values[i - 1]):
                steps.append(i)
        return max(steps, key=lambda i: abs(self.values[i] - self.values[i - 1]), default=None)

    @property
    def step_words(self) -> str:
        """What is said of the step where nothing is marked; empty if there is none."""
        if self.step is None:
            return ""
        change = self.values[self.step] - self.values[self.step - 1]
        record = self.records[self.step].id
        moved = f"on these queries it moved by {change:+.4f} with record {record}"
        same = "records before and after it are the same, so this is not chance"
        return f"{moved}; {same}. For queries like these no change is shown"

    @property
    def shown(self) -> str:
        """The newest summary as reports show it."""
        last = self.records[-1]
        return format_value(last.mean[self.measure], last.averages[self.measure])


def trend_lines(
    history: History,
    measure: object = None,
    *,
    label: str | None = None,
    limit: int | None = None,
    statistics: Statistics = Statistics(),
    reanalyse: bool = False,
) -> list[TrendLine]:
    """The lines of a measure (the newest record's first one, if none is named), in the order in which they began.

    `alpha` and `seed` of `statistics` are used. `limit` shows the newest records only; changes are looked for in all of
    them. Marks that were set stay where they are, unless `reanalyse` forgets them and looks at all records anew. They
    are kept in the history, unless it is opened read-only.
    """
    if limit is not None:
        whole_number(limit, "limit", 1)
    records = history.records(label=label)
    if not records:
        if label is not None:
            history[label]  # says which labels there are
        message = "nothing has been recorded yet"
        raise StoreError(message, where=history.path, hint="`goldrank record` does that.", code="nothing-recorded")

    if measure is None:
        name = next(iter(records[-1].mean))
    else:
        name = full_name(measure)
    measured = [record for record in records if record.spelled(name)]
    if not measured:
        names = dict.fromkeys(recorded for record in records for recorded in record.mean)
        hint = did_you_mean(name, names) or f"There are: {', '.join(names)}."
        raise StoreError(f"{name} was never recorded", where=history.path, hint=hint)

    shown_ids = {record.id for record in measured[-(limit or len(measured)) :]}
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in measured:
        groups.setdefault((record.label or record.run, record.basis), []).append(record)

    lines: list[TrendLine] = []
    for group in groups.values():
        if group[-1].id not in shown_ids:
            continue
        line_name = group[0].label or group[0].run
        before = [line for line in lines if line.name == line_name]
        difference = ""
        if before:
            difference = other_basis(before[-1].records[0], group[0])
        spelling = group[0].spelled(name) or name  # records of one basis have one convention
        analysis = Analysis(statistics.seed)
        if not is_diagnostic(spelling):
            analysis = analyse(history, spelling, group, statistics.alpha, seed=statistics.seed, afresh=reanalyse)
        shown_records = tuple(record for record in group if record.id in shown_ids)
        changes = tuple(_changes(analysis, shown_records, spelling))
        lines.append(
            TrendLine(
                line_name,
                spelling,
                shown_records,
                changes,
                difference,
                analysis.noise,
                analysis.late,
                len(group) - len(shown_records),
            )
        )
    return lines


def is_diagnostic(measure: str) -> bool:
    """Whether a measure says nothing about how good a run is."""
    declared = known(measure)  # None for a user's measure that is not declared here
    return declared is not None and declared.declaration.diagnostic


def _changes(analysis: Analysis, records: tuple[Record, ...], measure: str) -> list[TrendChange]:
    """The marks of the records that are shown."""
    by_id = {record.id: record for record in records}
    return [
        TrendChange(by_id[mark.record], mark, (mark.difference > 0) == by_id[mark.record].higher_is_better[measure])
        for mark in analysis.marks
        if mark.record in by_id
    ]


def other_basis(old: Record, new: Record) -> str:
    """In words, what makes two records incomparable."""
    differences = []
    if old.qrels_sha256 != new.qrels_sha256:
        differences.append(f"other judgements ({_judgement_words(new)}, before {_judgement_words(old)})")
    if old.criteria != new.criteria:
        old_criteria, new_criteria = old.criteria or "none given", new.criteria or "none given"
        differences.append(f"other relevance rules ({new_criteria}, before {old_criteria})")
    if old.convention != new.convention:
        differences.append(f"another convention ({new.convention}, before {old.convention})")
    if old.depth != new.depth:
        differences.append(f"another depth ({new.depth or 'all'}, before {old.depth or 'all'})")
    return ", ".join(differences)


def _judgement_words(record: Record) -> str:
    return f"{record.qrels_name or 'qrels'} {record.qrels_sha256[:8] or '?'}"
