"""From what callers pass to judgements, runs, measures and rules. Each is resolved once, here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank import io
from goldrank.base.errors import InputError, OptionError
from goldrank.base.types import CatalogueLike, JudgementsLike, MeasuresLike, RunLike
from goldrank.conventions import Convention, tool_of
from goldrank.data.aspects import AspectQrels
from goldrank.data.catalogue import Catalogue
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run, TaggedRuns
from goldrank.data.runs import Runs
from goldrank.measures import DEFAULT, Measure, parse_all

Judgements = Qrels | AspectQrels | Preferences

NO_CATALOGUE = Catalogue()


@dataclass(frozen=True)
class Inputs:
    """Judgements, runs and rules, ready to be placed."""

    judgements: Judgements
    runs: Sequence[Run]
    """Empty if a tag says which run a line belongs to."""
    rules: Convention
    catalogue: Catalogue = NO_CATALOGUE
    tagged: TaggedRuns | None = None


def resolve(
    qrels: JudgementsLike, runs: RunLike | Runs, rules: Convention, catalogue: Catalogue = NO_CATALOGUE
) -> Inputs:
    """Read the judgements and open the runs."""
    # Judgements in Spark take a job: errors of the run are raised before it.
    opened = None
    if not isinstance(qrels, Judgements) and io.is_spark(qrels):
        opened = _opened(runs, rules)

    judgements = as_judgements(qrels, rules)
    if opened is None:
        opened = _opened(runs, rules)

    tagged = None
    if isinstance(runs, Runs):
        tagged = runs.tagged

    return Inputs(judgements, opened, rules, catalogue, tagged)


def as_judgements(qrels: JudgementsLike, rules: Convention) -> Judgements:
    """Judgements from what callers pass; what is read now is read as the convention says."""
    if isinstance(qrels, Judgements):
        return qrels
    return io.as_qrels(qrels, judgements=rules.judgements)


def judgements_for(measures: Sequence[Measure], qrels: JudgementsLike) -> JudgementsLike:
    """A file of judgements, read as the measures need: by aspect, or as preferences. Anything else stays as it is."""
    tables = {measure.declaration.over for measure in measures}
    if not tables & {"aspects", "preferences"} or isinstance(qrels, Judgements) or not io.is_file(qrels):
        return qrels
    if "aspects" in tables:
        return io.read_aspects(qrels)
    return io.read_preferences(qrels)


USUAL_OF_ASPECTS = ("alpha_nDCG@10", "ERR_IA@10", "StRecall@10", "P_IA@10")
USUAL_OF_PREFERENCES = ("Prefs",)


def usual_measures(judgements: object) -> tuple[str, ...]:
    """What is measured if nothing is asked for: judgements by aspect and preferences have measures of their own."""
    if isinstance(judgements, AspectQrels):
        return USUAL_OF_ASPECTS
    if isinstance(judgements, Preferences):
        return USUAL_OF_PREFERENCES
    return DEFAULT


def as_catalogue(catalogue: CatalogueLike | None) -> Catalogue:
    """A catalogue from what callers pass: one, its items, or nothing."""
    if catalogue is None:
        return NO_CATALOGUE
    if isinstance(catalogue, Catalogue):
        return catalogue
    return Catalogue(catalogue)


def _opened(runs: RunLike | Runs, rules: Convention) -> Sequence[Run]:
    """The runs, opened; none if a tag says which run a line belongs to."""
    if not isinstance(runs, Runs):
        refuse_several(runs)
        opened = [io.as_run(runs)]
    elif runs.tagged is not None:
        return ()
    else:
        opened = [run for _, run in runs.items()]
    if not opened:
        raise InputError("no runs were given", hint="Give at least one.", code="empty-input")
    for run in opened:
        tool_of(rules).check_at_hand(run)
    return opened


def refuse_several(run: object) -> None:
    """Refuse what looks like several runs where one is expected: a dict of runs has the type of a run."""
    if isinstance(run, Run) or io.is_file(run) or io.is_frame(run):
        return
    several: Sequence[Any] = ()
    if isinstance(run, Mapping):
        several = [value for value in list(run.values())[:1] if io.is_one_run(value)]
    elif isinstance(run, list | tuple):
        several = [entry for entry in run[:1] if isinstance(entry, Run | str | os.PathLike) or io.is_frame(entry)]
    if several:
        first = f"{several[0]!r:.60}"
        if io.is_frame(several[0]):
            first = f"a {type(several[0]).__name__}"
        message = f"this looks like several runs: the first is {first}"
        hint = "Several runs are Runs: evaluate(qrels, Runs(runs)), or compare(qrels, runs)."
        raise InputError(message, where="run", hint=hint, code="several-runs")


def documents_of(judgements: Judgements) -> Qrels:
    """The judged documents with one grade each: what an engine places."""
    if isinstance(judgements, Qrels):
        return judgements
    return judgements.documents


def resolve_measures(measures: MeasuresLike, rules: Convention, usual: Sequence[str] = DEFAULT) -> list[Measure]:
    """The measures of a call, each once, with the options of the convention."""
    parsed = parse_all(measures, usual)
    tool = tool_of(rules)
    if not tool.options:
        return parsed
    return list(dict.fromkeys(measure.with_defaults(tool.options_of(measure)) for measure in parsed))


def whole_depth(depth: int | None) -> int | None:
    """`depth`, checked."""
    if depth is None:
        return None
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 1:
        raise OptionError(f"depth is {depth!r}; it must be a whole number from 1", hint="For example depth=1000.")
    return int(depth)
