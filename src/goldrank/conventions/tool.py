"""What a tool does beside the eight policies: options of measures, refusals, and quirks with three hooks.

The hooks are called where a run is placed (`before_placing`), where a measure reads its table (`placements`,
`own_table`, `reading`), and where its values are summed up (`summary`). `explain_difference` reads the same quirks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

from goldrank.base.errors import InputError, OptionError
from goldrank.base.types import Policies
from goldrank.conventions.refusals import Always, Case, Refusal

if TYPE_CHECKING:
    import numpy as np

    from goldrank.data.placements import Placements
    from goldrank.data.qrels import Qrels
    from goldrank.data.run import Run
    from goldrank.measures import Measure

MeasureOptions: TypeAlias = Mapping[str, Mapping[str, object]]
"""Options by measure: {"IPrec": {"rounding": "up"}}."""

REPEATS = {
    "first": "counts where it first stands",
    "each": "counts at every rank, as another document each time",
    "distinct": "counts at every rank, where precision counts it once",
    "texts": "counts at every rank in precision, once in recall",
}
"""What a measure may count of a document that a ranking repeats and that keeps its ranks."""


class TableReading(NamedTuple):
    """How a measure reads its table."""

    own_table: str | None = None
    """The rule of the quirk whose table it reads, if there is that table; else the usual one."""
    ties: str | None = None
    """What is done with equal scores if it is not what `ties` says: 'expected', or 'grouped' for one step."""
    undefined_from: int | None = None
    """From what length of a ranking on the order of equal scores is not defined: what depends on it is refused."""
    repeats: str = "first"
    """What is counted of a document that a ranking repeats, one of `REPEATS`."""


class SummaryRule(NamedTuple):
    """How a measure's values are summed up over queries."""

    average: str | None = None
    """'mean', 'sum' or 'geometric' if it is not the measure's own."""
    queries: Literal["as missing= says", "all", "answered"] = "as missing= says"
    """Which queries count: all judged ones, or only those that are answered and judged where missing='skip'."""


PLAIN_READING = TableReading()
PLAIN_SUMMARY = SummaryRule()


@dataclass(frozen=True)
class Quirk:
    """Something that one tool, or a few, do and that the policies cannot say. Hooks do nothing unless overridden."""

    rule: ClassVar[str]
    """A word for programs; tools that do the same thing, also in different ways, have the same word."""
    label: ClassVar[str]
    """What it is about, for people."""
    usual: ClassVar[str]
    """What tools without it do, for people: "documents with a score of 0 or less" "count as others do"."""
    refines: ClassVar[str | None] = None
    """The policy that it refines: choosing that policy leaves the quirk out."""
    needs: ClassVar[Literal["query", "placements", "run"]] = "run"
    """What must be at hand: the placements of one query, of all queries, or the run itself."""
    first_documents: ClassVar[Policies] = {}
    """Policies by which the first documents are read, where they differ from the policies of the ranking."""

    def says(self, measure: Measure) -> str:
        """What it does with a measure, for people; `usual` if it leaves that measure alone."""
        raise NotImplementedError

    def refined(self, word: str, measure: Measure) -> str:
        """What becomes of the word of the policy that it refines, for people."""
        return word

    def before_placing(self, run: Run) -> Run:
        """The run as the tool takes it: the same object if nothing changes."""
        return run

    def placements(self, placements: Placements) -> Placements:
        """The table of placements that all measures read."""
        return placements

    def own_table(self, table: Placements, seen: Seen) -> Placements | None:
        """A table for those measures whose `reading` names it; None if it would be the usual one, `table`."""
        return None

    def reading(self, measure: Measure, reading: TableReading) -> TableReading:
        """How a measure reads its table."""
        return reading

    def summary(self, measure: Measure, summary: SummaryRule) -> SummaryRule:
        """How a measure's values are summed up."""
        return summary


@dataclass(frozen=True)
class Seen:
    """A run that was placed, as quirks see it."""

    run: Run
    qrels: Qrels
    placements: Placements
    """As they were placed, before any quirk; `label` says which judged document a row is."""
    score_type: str


@dataclass(frozen=True)
class Tool:
    """All that a convention does: policies, options of measures, refusals, quirks."""

    name: str
    policies: Policies = field(default_factory=Policies, hash=False)
    """Those that differ from trec_eval 10's."""
    options: MeasureOptions = field(default_factory=dict, hash=False)
    """Options that a measure gets unless it is spelled with its own."""
    quirks: tuple[Quirk, ...] = field(default=(), hash=False)
    refusals: tuple[Refusal, ...] = field(default=(), hash=False)
    lengths: tuple[str, ...] = ("char", "token")
    """The units in which the tool measures evidence by place."""

    def options_of(self, measure: Measure) -> Mapping[str, object]:
        """The options that a measure gets."""
        return self.options.get(measure.name, {})

    def without_refined(self, policies: Policies) -> Tool:
        """The tool without quirks that refine one of these policies."""
        remaining = tuple(quirk for quirk in self.quirks if quirk.refines not in policies)
        if len(remaining) == len(self.quirks):
            return self
        return replace(self, quirks=remaining)

    # Before placing.

    def before_placing(self, run: Run) -> Run:
        """The run as the tool takes it: the same object if nothing changes."""
        for quirk in self.quirks:
            run = quirk.before_placing(run)
        return run

    @property
    def first_documents(self) -> Policies:
        """Policies by which the first documents are read, where they differ from the policies of the ranking."""
        policies = Policies()
        for quirk in self.quirks:
            policies.update(quirk.first_documents)
        return policies

    # The table that a measure reads.

    def tables(self, seen: Seen) -> dict[str, Any]:
        """The table of placements, and other tables of some measures by the rules that make them."""
        placements = seen.placements
        for quirk in self.quirks:
            placements = quirk.placements(placements)
        tables = {"placements": placements}

        for quirk in self.quirks:
            own_table = quirk.own_table(placements, seen)
            if own_table is not None:
                tables[quirk.rule] = own_table
        return tables

    def reading(self, measure: Measure) -> TableReading:
        """How a measure reads its table."""
        reading = PLAIN_READING
        for quirk in self.quirks:
            reading = quirk.reading(measure, reading)
        return reading

    # The summary.

    def summary(self, measure: Measure) -> SummaryRule:
        """How a measure's values are summed up."""
        summary = PLAIN_SUMMARY
        for quirk in self.quirks:
            summary = quirk.summary(measure, summary)
        return summary

    # What the tool cannot do.

    @property
    def goes_by_query(self) -> bool:
        """Whether the placements of one query are all that its values need."""
        return not self.refusals and all(quirk.needs == "query" for quirk in self.quirks)

    def check_at_hand(self, run: Run) -> None:
        """Raises if the tool looks into a run that stays in Spark; no job is needed to know that."""
        if run.source.engine != "spark":
            return
        looks = any(quirk.needs == "run" for quirk in self.quirks)
        asks = any(refusal.when.reads_run for refusal in self.refusals)
        if looks or asks:
            raise InputError(
                f"the convention {self.name} looks at whole rankings, and the run is in Spark",
                where=run.name,
                hint="Bring the run here, run.toArrow(), or take another convention.",
            )

    def check_lengths(self, lengths: str) -> None:
        """Raises if the tool does not measure evidence in this unit."""
        if lengths in self.lengths:
            return
        words = {"char": "characters", "token": "tokens"}
        measured = " or ".join(words[each] for each in self.lengths)
        raise OptionError(
            f'convention "{self.name}" measures in {measured}',
            hint=f'Leave out lengths="{lengths}".',
            code="options-conflict",
        )

    def refuse_asked(self, measure: Measure) -> None:
        """Raises for a measure that the convention never gives, whatever the data."""
        for refusal in self.refusals:
            if isinstance(refusal.when, Always) and refusal.concerns(measure):
                raise refusal.error(measure, self.name)

    def refuse(self, measures: Sequence[Measure], placements: Placements, counted: np.ndarray | None, run: Run) -> None:
        """Raises for a measure that the convention cannot give on this data.

        `counted` says which queries count; None is all.
        """
        for refusal in self.refusals:
            for measure in measures:
                if refusal.concerns(measure) and refusal.when.holds(Case(measure, placements, counted, run)):
                    raise refusal.error(measure, self.name)
