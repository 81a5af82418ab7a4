"""pytrec_eval's interface on goldrank: `from goldrank.compat import pytrec_eval` in place of `import pytrec_eval`.

The rules are those of trec_eval 9, on which pytrec_eval is built; `convention="trec_eval-10"` takes the newer ones.
docs/migrating.md lists what differs.
"""

from __future__ import annotations

import io as streams
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Any

import numpy as np

from goldrank import conventions, io
from goldrank.base import ids
from goldrank.base.errors import MeasureError, did_you_mean
from goldrank.base.types import ConventionLike
from goldrank.compat._common import check_kinds
from goldrank.conventions import tool_of
from goldrank.evaluation import pipeline
from goldrank.measures import Measure, summarise, trec_names
from goldrank.measures.apply import logarithms
from goldrank.measures.declare import FORGET
from goldrank.measures.spelling import of_line

__all__ = ["RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run", "supported_measures",
           "supported_nicknames"]  # fmt: skip

_SINCE_10 = {"rbp", "rbp_resid", "unj"}
supported_nicknames = {nickname: set(names) - _SINCE_10 for nickname, names in trec_names.NICKNAMES.items()}
supported_measures = {
    name for name in trec_names.TABLE if not name.startswith("prefs_") and not name.endswith("_avgjg")
}
"""pytrec_eval's measures, and those that only goldrank has: dcg, ideal_dcg, yaap, rbp, rbp_resid, unj."""

_TEXT = ("runid", "relstring")
_BY_NAME = re.compile(
    rf"({'|'.join(sorted(map(re.escape, supported_measures), key=len, reverse=True))})(?:[._]([-+\d.,=p]+))?"
)


class RelevanceEvaluator:
    """Judgements and measures that runs are held against."""

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        *,
        convention: ConventionLike = "trec_eval-9",
    ) -> None:
        self._columns = _columns(tuple(measures), relevance_level)
        self._judged_only = bool(judged_docs_only_flag)
        self._rules = conventions.get(convention).with_policies(overlap="allow", missing="zero")
        judged = query_relevance
        if not all(map(len, judged.values())):
            judged = {query: docs for query, docs in judged.items() if len(docs)}

        self._qrels = io.as_qrels(judged) if judged else None

    @cached_property
    def _measures(self) -> list[Measure]:
        tool = tool_of(self._rules)
        return [measure.having(tool.options_of(measure)) for measure in self._columns.values() if measure]

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """By query and measure, the values of a run: of those of its queries that are judged, in order of their ids."""
        if not scores or self._qrels is None:
            return {}

        run = io.as_run(scores)
        check_kinds(run, self._qrels)
        placed = pipeline.place(self._qrels, run, self._rules)
        tables: pipeline.Tables = pipeline.tables_of(placed, self._measures)
        if self._judged_only:
            tables = {name: table.condensed for name, table in tables.items()}

        queries, there = placed.placements.queries, np.flatnonzero(placed.placements.answered)
        if len(there) < len(queries):
            queries = tuple(queries[i] for i in there.tolist())

        values = iter(self._measures)
        columns: list[list[float]] = []
        for measure in self._columns.values():
            if measure is None:
                columns.append([0.0] * len(queries))
                continue
            measure = next(values)
            columns.append(logarithms(measure, pipeline.values_of(measure, tables, self._rules)[there]).tolist())

        if not columns:
            return {query: {} for query in queries}

        # There may be a million queries: their rows are made without a line of Python each.
        rows = map(dict, map(zip, repeat(tuple(self._columns)), zip(*columns, strict=True)))
        return dict(zip(queries, rows, strict=True))


@lru_cache
def _columns(measures: tuple[str, ...], level: int) -> Mapping[str, Measure | None]:
    """The keys of a query's values and their measures, in trec_eval's order; None for runid and relstring, 0 there.

    A measure that is asked for with parameters has those and not its usual ones; several requests add up.
    """
    asked: dict[str, dict[str, None]] = {}
    for text in measures:
        for name in supported_nicknames.get(text, (text,)):
            matched = _BY_NAME.fullmatch(name)
            if matched is None:
                raise MeasureError(f"unsupported measure {name}", hint=_hint(text), code="unsupported-measure")
            wanted = asked.setdefault(matched[1], {})
            if matched[2]:
                kind = trec_names.TABLE[matched[1]].parameters
                cut = kind in ("ranks", "levels")
                if kind == "none":
                    raise MeasureError(f"{name}: {matched[1]} takes no parameters", hint="Cut-offs go with P, map_cut.")
                if wanted and not cut and matched[2] not in wanted:
                    what = f"{matched[1]} is asked for twice, as {next(iter(wanted))} and {matched[2]}"
                    raise MeasureError(what, code="asked-twice")
                wanted.update(dict.fromkeys(matched[2].split(",") if cut else [matched[2]]))
    lines = trec_names.lines_of(f"{name}.{','.join(wanted)}" if wanted else name for name, wanted in asked.items())
    # Numbers that are no cut-offs are not part of the key: set_F.0.5 is found under set_F.
    return {
        next((name for name in asked if line.name.startswith(name + "_") and line.entry.parameters == "numbers"),
             line.name if line.measure else line.name.partition("_")[0]): of_line(line, level)
        for line in lines
    }  # fmt: skip


FORGET.append(_columns.cache_clear)


def _hint(asked: str) -> str | None:
    """What was perhaps meant by a name that is not supported; preferences and several judges are for the command."""
    if asked in trec_names.TABLE or asked in supported_nicknames:
        return f"{asked} takes other judgements than qrels: goldrank trec_eval -R prefs (or qrels_jg) measures it."
    supported = (name for name, names in supported_nicknames.items() if names <= supported_measures)
    return did_you_mean(asked, [*supported_measures, *supported])


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """The summary of a measure's values: a sum for num_..., a geometric mean of logarithms for gm_..., else a mean."""
    kind = {"num": "sum", "gm": "geometric"}.get(measure.partition("_")[0], "mean")
    return summarise(kind, np.array(list(values), np.float64), logs=True)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """A run from the lines of a file in TREC's format: {query: {document: score}}."""
    read = io.read_run(_stream(f_run), format="trec", name=getattr(f_run, "name", "run"))
    return defaultdict(dict, {query: dict(row) for query, row in read.items()})


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Judgements from the lines of a file in TREC's format: {query: {document: grade}}."""
    read: Any = io.read_qrels(_stream(f_qrel), format="trec")
    return defaultdict(dict, {query: dict(row) for query, row in read.text.items()})


def _stream(lines: Any) -> streams.BytesIO:
    """The lines of an open file, or of anything else that has them, as bytes."""
    if hasattr(lines, "read"):
        text = lines.read()
    else:
        text = "".join([line if line.endswith("\n") else line + "\n" for line in lines])
    return streams.BytesIO(ids.encode(text) if isinstance(text, str) else text)
