"""Judgements and rankings in, `Scores` out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from goldrank import conventions, io
from goldrank.data.aspects import AspectQrels
from goldrank.data.preferences import Preferences
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run, Runs
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.errors import InputError, OptionError
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve, resolve_measures, whole_depth
from goldrank.evaluation.recommending import NOTHING, Background
from goldrank.io.columns import Columns
from goldrank.io.sources import open_source
from goldrank.misuse import checked
from goldrank.types import (
    CatalogueLike,
    ConventionLike,
    HistoryLike,
    JudgementsLike,
    MeasuresLike,
    Path,
    Policies,
    RunLike,
    RunsLike,
)

if TYPE_CHECKING:
    from goldrank.comparison.corrected import CorrectedValues

NamedRuns = (
    Runs
    | Mapping[str, Run]
    | Mapping[str, Path]
    | Mapping[str, Mapping[str, Mapping[str, float]]]
    | Mapping[str, Mapping[str, list[str]]]
    | list[Run]
    | list[str]
    | list[os.PathLike[str]]
    | tuple[Run | Path, ...]
)
"""What surely holds several runs. A `Run` is a mapping too, so that one run matches both overloads; the first wins."""


class CorrectedOptions(Policies, total=False):
    """What `evaluate` takes by name where values are corrected."""

    convention: ConventionLike
    format: str | None
    columns: Mapping[str, str] | None
    relevant_from: float | None


class EvaluateOptions(CorrectedOptions, total=False):
    """What `evaluate` takes by name."""

    judged_by: Literal["human", "model"] | None
    depth: int | None
    shard: str | None
    max_memory: str | int | None
    train: HistoryLike | None
    catalogue: CatalogueLike | None
    against: RunLike | None
    seen: str


@overload
def evaluate(
    qrels: JudgementsLike,
    run: RunLike | RunsLike,
    measures: MeasuresLike = None,
    *,
    judged_by: Literal["corrected"],
    **options: Unpack[CorrectedOptions],
) -> CorrectedValues: ...
@overload
def evaluate(
    qrels: JudgementsLike, run: NamedRuns, measures: MeasuresLike = None, **options: Unpack[EvaluateOptions]
) -> ScoresByRun: ...
@overload
def evaluate(
    qrels: JudgementsLike, run: RunLike | None = None, measures: MeasuresLike = None, **options: Unpack[EvaluateOptions]
) -> Scores: ...
@checked
def evaluate(
    qrels: JudgementsLike,
    run: RunLike | RunsLike | None = None,
    measures: MeasuresLike = None,
    *,
    convention: ConventionLike = "trec_eval-10",
    format: str | None = None,
    depth: int | None = None,
    shard: str | None = None,
    max_memory: str | int | None = None,
    columns: Mapping[str, str] | None = None,
    relevant_from: float | None = None,
    train: HistoryLike | None = None,
    catalogue: CatalogueLike | None = None,
    against: RunLike | None = None,
    seen: str = "remove",
    judged_by: str | None = None,
    **policies: Unpack[Policies],
) -> Any:  # Scores for one run, ScoresByRun for several, CorrectedValues: see the overloads
    """Score a run, or several, against judgements.

    `qrels` and `run` are files, dicts, data frames (Spark's too), or `Qrels` and `Run`. Several runs are a mapping
    from names to runs or a list of paths; the result is then a mapping from names to `Scores`, else a `Scores`.
    Policies that differ from the convention's (`missing`, `empty`, `ties`, `duplicates`, `judgements`,
    `overlap`, `score_type`) are given by name. `depth` is the number of documents of a query that count (trec_eval
    -M). `shard="2/8"` scores the second of eight parts of the queries; `Scores.merge` puts the parts together.
    `max_memory` ('500MB', '2GiB' or bytes) limits the memory of the process: files are read in smaller pieces, and
    what cannot fit is refused before the work begins. `columns` says which column or field holds what, {"query":
    "qid", "doc": "docno"}; with `relevant_from` grades are ratings, and those from this number on are relevant.

    `judged_by` says whose judgements count where those of people and of a model are together (`Qrels.joined`, what
    `judge` returns, files that say it): "human", "model", or "corrected". The last gives means with intervals, from the
    model's judgements of all queries and people's of some, as `corrected_values` does (docs/judges.md).

    Without a run, `qrels` holds both: records of questions with the ids that were expected and those that were
    retrieved, as Ragas, LlamaIndex, LangSmith and DeepEval have them.

    For recommendations, `train` has the items that users had before: they are removed from the run before it is cut,
    and measures of popularity and novelty read them; with `seen="keep"` nothing is removed. `catalogue` is a
    `Catalogue`, or the ids of all items; `against` is the run of a simple recommender for Serendipity.

    >>> scores = evaluate({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 0.3, "d2": 0.7}}, ["nDCG@10", "RR"])
    >>> round(scores["nDCG@10"], 4), scores["RR"]
    (0.6309, 0.5)
    """
    rules = conventions.get(convention).with_policies(**policies)
    asked = resolve_measures(measures, rules)
    depth = whole_depth(depth)
    if run is None:
        qrels, run = both_sides(qrels)
    if judged_by == "corrected":
        from goldrank.comparison.corrected import corrected_of

        none_of = {"depth": depth, "shard": shard, "max_memory": max_memory, "train": train, "catalogue": catalogue,
                   "against": against, "seen": None if seen == "remove" else seen}  # fmt: skip
        how: Any = {"format": format, "columns": columns, "relevant_from": relevant_from, "refused": none_of}
        return corrected_of(qrels, run, measures, rules, **how)
    named = Columns.of(columns)
    background = NOTHING
    if not (seen == "remove" and train is None and catalogue is None and against is None):
        background = Background.of(train, catalogue, against, seen, rules.duplicates, named)
    pipeline.check_asked(asked, qrels, rules)
    try:
        inputs = resolve(
            qrels, run, rules, format=format, shard=shard, max_memory=max_memory, columns=named,
            relevant_from=relevant_from, background=background, judged_by=judged_by,
        )  # fmt: skip
    except InputError as error:
        if error.code != "judgements-stay-in-spark" or not io.is_spark(run):
            raise
        for name, given in {"shard": shard, "relevant_from": relevant_from, "train": train, "catalogue": catalogue,
                            "against": against, "judged_by": judged_by}.items():  # fmt: skip
            if given is not None:
                hint = f"Here {error.what}, which are shared out by Spark."
                raise OptionError(f"{name}= is for judgements that fit on one machine", hint=hint) from None
        from goldrank.evaluation import executors

        return executors.evaluate(qrels, io.as_run(run, columns=named), asked, rules, depth, named)
    scores = [pipeline.score(placed, asked, depth) for placed in pipeline.place_all(inputs)]
    return ScoresByRun(scores) if inputs.several else scores[0]


def both_sides(given: Any) -> tuple[Any, Any]:
    """Records of questions with expected and retrieved ids, to be read as judgements and as a run."""
    if isinstance(given, Qrels | AspectQrels | Preferences | Mapping):
        raise InputError(
            "there is no run", hint="Give evaluate(qrels, run), or records with expected and retrieved ids."
        )
    if hasattr(given, "read") or (isinstance(given, str) and given == "-"):
        given = open_source(given)
    elif isinstance(given, Iterator):
        given = list(given)
    return given, given
