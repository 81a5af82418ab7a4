"""pytrec_eval's interface on goldrank: `from goldrank.compat import pytrec_eval` instead of `import pytrec_eval`.

The rules are those of trec_eval 9, on which pytrec_eval is built; `convention="trec_eval-10"` uses the newer ones.
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
from goldrank.evaluation.evaluator import Evaluator
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
    """Judgements and measures, which `evaluate` applies to runs."""

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

        self._qrels = None
        if judged:
            self._qrels = io.as_qrels(judged)

    @cached_property
    def _measures(self) -> list[Measure]:
        tool = tool_of(self._rules)
        return [measure.with_defaults(tool.options_of(measure)) for measure in self._columns.values() if measure]

    @cached_property
    def _evaluator(self) -> Evaluator | None:
        """What takes short runs; None where it would not give a value for each column."""
        is_plain = not self._judged_only and self._columns and all(self._columns.values())
        if self._qrels is None or not is_plain or len(set(self._measures)) < len(self._measures):
            return None
        return Evaluator(self._qrels, self._measures, convention=self._rules)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """The values of a run by query and measure, for its judged queries, in the order of their ids."""
        if not scores or self._qrels is None:
            return {}

        if self._evaluator is not None:
            rows = self._evaluator.short_rows(scores)
            if rows is not None:
                return {row.query: dict(zip(self._columns, row.values, strict=True)) for row in rows}

        run = io.as_run(scores)
        check_kinds(run, self._qrels)
        placed = pipeline.place(self._qrels, run, self._rules)
        tables: pipeline.Tables = pipeline.tables_of(placed, self._measures)
        if self._judged_only:
            tables = {name: table.condensed for name, table in tables.items()}

        queries, answered = placed.placements.queries, np.flatnonzero(placed.placements.answered)
        if len(answered) < len(queries):
            queries = tuple(queries[i] for i in answered.tolist())

        values = iter(self._measures)
        columns: list[list[float]] = []
        for measure in self._columns.values():
            if measure is None:
                columns.append([0.0] * len(queries))
                continue
            measure = next(values)
            columns.append(logarithms(measure, pipeline.values_of(measure, tables, self._rules)[answered]).tolist())

        if not columns:
            return {query: {} for query in queries}

        # There may be a million queries: their rows are made without a line of Python each.
        by_query = map(dict, map(zip, repeat(tuple(self._columns)), zip(*columns, strict=True)))
        return dict(zip(queries, by_query, strict=True))


@lru_cache
def _columns(measures: tuple[str, ...], level: int) -> Mapping[str, Measure | None]:
    """The keys of a query's values and their measures, in trec_eval's order; None for runid and relstring, 0 there.

    A measure that is requested with parameters has those and not its usual ones; several requests add up.
    """
    parameters_of: dict[str, dict[str, None]] = {}
    for text in measures:
        for spelling in supported_nicknames.get(text, (text,)):
            matched = _BY_NAME.fullmatch(spelling)
            if matched is None:
                raise MeasureError(f"unsupported measure {spelling}", hint=_hint(text), code="unsupported-measure")
            _add_request(parameters_of, matched)

    requests = []
    for name, parameters in parameters_of.items():
        if parameters:
            name = f"{name}.{','.join(parameters)}"
        requests.append(name)
    return {_key(line, parameters_of): of_line(line, level) for line in trec_names.lines_of(requests)}


FORGET.append(_columns.cache_clear)


def _add_request(parameters_of: dict[str, dict[str, None]], request: re.Match[str]) -> None:
    """Add one request for a measure, a match of `_BY_NAME`, to the parameters by measure."""
    name, text = request[1], request[2]
    parameters = parameters_of.setdefault(name, {})
    if not text:
        return

    kind = trec_names.TABLE[name].parameters
    if kind == "none":
        raise MeasureError(f"{request[0]}: {name} takes no parameters", hint="Cut-offs go with P, map_cut.")
    if kind in ("ranks", "levels"):
        parameters.update(dict.fromkeys(text.split(",")))
        return
    if parameters and text not in parameters:
        message = f"{name} is asked for twice, as {next(iter(parameters))} and {text}"
        raise MeasureError(message, code="asked-twice")
    parameters[text] = None


def _key(line: Any, names: Iterable[str]) -> str:
    """The key of a line. Numbers that are not cut-offs are not part of it: set_F.0.5 is found under set_F."""
    for name in names:
        if line.name.startswith(name + "_") and line.entry.parameters == "numbers":
            return name
    if line.measure:
        return str(line.name)
    return str(line.name.partition("_")[0])


def _hint(name: str) -> str | None:
    """The hint for a name that is not supported; measures of preferences and of several judges are for the command."""
    if name in trec_names.TABLE or name in supported_nicknames:
        return f"{name} takes other judgements than qrels: goldrank trec_eval -R prefs (or qrels_jg) measures it."
    nicknames = (nickname for nickname, names in supported_nicknames.items() if names <= supported_measures)
    return did_you_mean(name, [*supported_measures, *nicknames])


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
    """The lines of an open file, or of anything else that has lines, as bytes."""
    if hasattr(lines, "read"):
        text = lines.read()
    else:
        text = "".join([line.removesuffix("\n") + "\n" for line in lines])
    if isinstance(text, str):
        text = ids.encode(text)
    return streams.BytesIO(text)
