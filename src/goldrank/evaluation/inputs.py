"""What callers give -> judgements, runs, measures and rules. Each is resolved once, here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank import io
from goldrank.conventions import Convention, tool_of
from goldrank.data import budget
from goldrank.data.aspects import AspectQrels
from goldrank.data.blocks import USUAL, BlockSource, ReadingPlan
from goldrank.data.judgement_columns import JUDGED_BY
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run, Runs
from goldrank.errors import InputError, OptionError, one_of
from goldrank.evaluation import memory
from goldrank.evaluation.recommending import NOTHING, Background
from goldrank.io.columns import Columns
from goldrank.measures import DEFAULT, Measure, parse_all
from goldrank.types import JudgementsLike, MeasuresLike, RunLike, RunsLike

Judgements = Qrels | AspectQrels | Preferences


@dataclass(frozen=True)
class Inputs:
    """Judgements, runs and rules, ready to be placed."""

    judgements: Judgements
    runs: Sequence[Run]
    """Empty if the runs are told apart by tag."""
    rules: Convention
    several: bool = False
    """Whether several runs were asked for, be it a list of one."""
    tagged: Runs | None = None
    plan: ReadingPlan = USUAL
    background: Background = NOTHING


def resolve(
    qrels: JudgementsLike,
    runs: RunLike | RunsLike,
    rules: Convention,
    *,
    format: str | None = None,
    shard: str | None = None,
    max_memory: str | int | None = None,
    columns: Columns | Mapping[str, str] | None = None,
    relevant_from: float | None = None,
    background: Background = NOTHING,
    judged_by: str | None = None,
) -> Inputs:
    """Read the judgements, open the runs, and plan the work within the memory that there is.

    `judged_by` leaves out the judgements of others; None takes all, those of people where there are some.
    """
    limit = None if max_memory is None else memory.size(max_memory)
    if shard is not None:
        parse_shard(shard)
    named = Columns.of(columns)
    with nullcontext() if limit is None else budget.limited(limit):
        if limit is not None:
            check_files(limit, qrels, runs)
        is_read = isinstance(qrels, Judgements)
        if is_read and relevant_from is not None:
            raise OptionError("relevant_from= is for judgements that are read now", hint="Give it to read_qrels.")
        tagged = runs if isinstance(runs, Runs) else None
        how: dict[str, Any] = {"format": format, "duplicates": rules.duplicates, "columns": named}
        # Judgements in Spark take a job: what is wrong with the run is said before it.
        opened = _opened(runs, how, rules) if not is_read and io.is_spark(qrels) else None
        judgements: Judgements
        if isinstance(qrels, Judgements):
            judgements = qrels
        else:
            judgements = io.as_qrels(qrels, judgements=rules.judgements, columns=named, relevant_from=relevant_from)
        if judged_by is not None:
            one_of(judged_by, (*JUDGED_BY, "corrected"), "judged_by")
            if not isinstance(judgements, Qrels):
                raise OptionError("judged_by= takes judgements with one grade per document")
            judgements = judgements.judged_by(judged_by)
        if shard is not None:
            judgements = of_shard(judgements, shard)
        all_runs, several = opened or _opened(runs, how, rules)
        plan = USUAL
        if limit is not None:
            sources = [tagged] if tagged is not None else all_runs
            streamed = [given.source for given in sources if isinstance(given.source, BlockSource)]
            plan = memory.plan(limit, documents_of(judgements), streamed)
    named.check_used()
    return Inputs(judgements, all_runs, rules, several, tagged, plan, background)


def _opened(runs: RunLike | RunsLike, how: dict[str, Any], rules: Convention) -> tuple[Sequence[Run], bool]:
    """The runs, and whether several were asked for; none of those that are told apart by tag."""
    if isinstance(runs, Runs):
        return (), True
    listed = io.as_runs(runs, **how)
    opened = [io.as_run(runs, **how)] if listed is None else listed
    if not opened:
        raise InputError("no runs were given")
    for run in opened:
        tool_of(rules).check_at_hand(run)
    return opened, listed is not None


def documents_of(judgements: Judgements) -> Qrels:
    """The judged documents with one grade each: what an engine places."""
    return judgements if isinstance(judgements, Qrels) else judgements.documents


def resolve_measures(measures: MeasuresLike, rules: Convention, usual: Sequence[str] = DEFAULT) -> list[Measure]:
    """The measures that were asked for, each once, with the options of the convention."""
    parsed = parse_all(measures, usual)
    tool = tool_of(rules)
    if not tool.options:
        return parsed
    return list(dict.fromkeys(measure.having(tool.options_of(measure)) for measure in parsed))


def whole_depth(depth: int | None) -> int | None:
    """`depth`, or the error that says why it is none."""
    if depth is None:
        return None
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 1:
        raise OptionError(f"depth is {depth!r}; it must be a whole number from 1", hint="For example depth=1000.")
    return int(depth)


def parse_shard(shard: str) -> tuple[int, int]:
    """Which of how many."""
    matched = re.fullmatch(r"(\d{1,9})/(\d{1,9})", str(shard))
    number, of = (int(matched[1]), int(matched[2])) if matched else (0, 0)
    if not 1 <= number <= of:
        raise OptionError(f"shard is {shard!r:.80}", hint="For example '2/8', the second of eight.")
    return number, of


def of_shard(judgements: Judgements, shard: str) -> Qrels:
    """The judgements of a shard such as '2/8'."""
    if not isinstance(judgements, Qrels):
        raise OptionError("shard= takes judgements with one grade per document", hint="Split the judgements yourself.")
    number, of = parse_shard(shard)
    kept = judgements.of_shard(number, of)
    if not len(kept):
        raise InputError(
            f"shard {shard} has no judged query",
            where=judgements.name,
            hint=f"Take fewer than {of:,} shards.",
            code="empty-shard",
        )
    return kept


def check_files(max_memory: str | int, qrels: JudgementsLike, runs: RunLike | RunsLike) -> None:
    """Refuse files that must be held whole and do not fit, before they are read."""
    limit = memory.size(max_memory)
    base = memory.resident()
    listed = list(runs.values()) if isinstance(runs, dict) else runs if isinstance(runs, list | tuple) else [runs]
    for given, thing, what in (
        (qrels, "qrels", "reading the judgements"),
        *((run, "run", "holding the run") for run in listed),
    ):
        if isinstance(given, str | os.PathLike):
            # Twice: once as bytes and once as what is made of them. Readers know better when they have the bytes.
            memory.check(limit, base + 2 * io.held_bytes(given, thing), what, os.fsdecode(given))
