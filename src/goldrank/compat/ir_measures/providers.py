"""ir_measures' providers: each has its measures and its rules. All of them are goldrank.

The default pipeline uses one rule for everything: trec_eval 9's, as in pytrec_eval. A provider that is asked by its
name uses the order of equal scores, and the options, that it has in ir_measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np

from goldrank import io
from goldrank.base.errors import MeasureError
from goldrank.base.types import Policies, Ties
from goldrank.compat._common import check_kinds
from goldrank.compat.ir_measures.base import CwlMetric, Evaluator, Provider
from goldrank.compat.ir_measures.measures import NOT_PROVIDED, Measure
from goldrank.compat.ir_measures.runtime import RuntimeProvider, define, define_byquery
from goldrank.compat.ir_measures.util import (
    CalcResults,
    Metric,
    QrelsConverter,
    RunConverter,
    TrecFile,
    by_aspect,
)
from goldrank.conventions import Convention, convention_of, tool_of
from goldrank.conventions.tool import Tool
from goldrank.conventions.trec_eval import TREC_EVAL_9, TREC_EVAL_10
from goldrank.data.aspects import AspectQrels
from goldrank.data.qrels import Qrels
from goldrank.data.run import Rankings, Run
from goldrank.evaluation import pipeline
from goldrank.measures import Measure as OwnMeasure
from goldrank.measures import make, parse
from goldrank.measures.declare import FORGET

__all__ = [
    "AccuracyProvider", "CompatProvider", "CwlEvalProvider", "CwlMetric", "DefaultPipeline", "Evaluator",
    "FallbackProvider", "GdevalProvider", "JudgedProvider", "MsMarcoProvider", "Provider", "PyNdEvalProvider",
    "PytrecEvalProvider", "RanxProvider", "RuntimeProvider", "TrectoolsProvider", "define", "define_byquery",
    "register", "registry",
]  # fmt: skip


# Goldrank as each of the providers.


@dataclass(frozen=True)
class _Rules:
    """The measures of a provider of ir_measures, and its rules."""

    measures: str
    convention: Convention
    only: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By measure, values that an option must have: `NOT_PROVIDED`, or "given" for any."""
    found_only: bool = False
    """Whether queries without a relevant document in the list have no value."""
    decimals: int | None = None
    """How many decimals it prints; its values are read from what it prints."""

    def allows(self, measure: Measure) -> bool:
        """Whether it can compute a measure."""
        if measure.NAME not in self.measures.split():
            return False
        for key, required in self.only.get(str(measure.NAME), {}).items():
            value = measure[key]
            if required == "given":
                if value is NOT_PROVIDED:
                    return False
            elif value is not required:
                return False
        return True


def _convention(
    name: str, base: Tool = TREC_EVAL_10, ties: Ties = "docid", **options: Mapping[str, object]
) -> Convention:
    policies: Policies = {**base.policies, "ties": ties, "overlap": "allow", "missing": "zero"}
    return convention_of(Tool(name, policies=policies, options={**base.options, **options}))


_NO_CUT, _CUT, _ALL = {"cutoff": NOT_PROVIDED}, {"cutoff": "given"}, {"judged_only": False}
_DIVERSITY = "ERR_IA nERR_IA alpha_DCG alpha_nDCG NRBP nNRBP AP_IA P_IA StRecall"
_TREC = "P RR Rprec AP nDCG R Bpref NumRet NumQ NumRel SetAP SetF SetP SetR Success IPrec infAP"
_CWL = "BPM SDCG NERR8 NERR9 NERR10 NERR11 INST INSQ"
_ASCENDING = _convention("ir_measures", ties="docid-ascending")
_STABLE = _convention("ir_measures", ties="input")
_EXP2: Mapping[str, object] = {"gain": "exp2"}
_USUAL = _convention("ir_measures", TREC_EVAL_9)
RULES = {
    "pytrec_eval": _Rules(_TREC, _USUAL, {"RR": _NO_CUT, "nDCG": {"dcg": "log2"}}),
    "cwl_eval": _Rules(
        f"P RR AP RBP {_CWL}",
        _convention("ir_measures", ties="input", AP={"divisor": "hits"}),
        {"RR": {**_NO_CUT, **_ALL}, "AP": {**_NO_CUT, **_ALL}, "P": _ALL, "RBP": {**_NO_CUT, "rel": "given"}},
    ),
    "compat": _Rules("Compat", _ASCENDING),
    "pyndeval": _Rules(_DIVERSITY, _ASCENDING),
    "judged": _Rules("Judged", _ASCENDING),
    "msmarco": _Rules("RR", _ASCENDING, {"RR": _ALL}),
    "gdeval": _Rules(
        "nDCG ERR",
        _convention("ir_measures", nDCG=_EXP2),
        {"ERR": _CUT, "nDCG": {**_CUT, **_ALL, "dcg": "exp-log2"}},
        decimals=5,
    ),
    "accuracy": _Rules("Accuracy", _STABLE, found_only=True),
    "trectools": _Rules("P RR Rprec AP nDCG Bpref RBP", _STABLE, {"RR": _NO_CUT}),
    "ranx": _Rules(
        "P SetP RR Rprec AP nDCG R SetR NumRet Success",
        _STABLE,
        {"RR": {**_NO_CUT, **_ALL}, "NumRet": {"rel": "given"}},
    ),
}
"""ir_measures' providers, by name."""
EVERYTHING = _Rules(f"{_TREC} RBP {_CWL} Compat {_DIVERSITY} Judged ERR Accuracy", _USUAL, found_only=True)


class GoldrankProvider(Provider):
    """Goldrank by the rules of one of the providers."""

    def __init__(self, name: str, rules: _Rules) -> None:
        self.NAME = name
        self._rules = rules

    def supports(self, measure: Measure) -> bool:
        """Whether it can compute a measure."""
        measure.validate_params()
        return self._rules.allows(measure)

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        unknown = [measure for measure in measures if measure.NAME not in self._rules.measures.split()]
        if unknown:
            message = f"Unsupported measures {unknown}"
            raise MeasureError(message, hint=f"{self.NAME} has {self._rules.measures}.", code="unsupported-measure")
        return GoldrankEvaluator(measures, qrels, self._rules)


class GoldrankEvaluator(Evaluator):
    """Measures runs by goldrank: each is ranked once for all measures."""

    def __init__(self, measures: list[Measure], qrels: Any, rules: _Rules) -> None:
        self._rules = rules
        tool = tool_of(rules.convention)
        own = [(measure, _parsed(measure)) for measure in measures]
        self._own = {measure: own_measure.with_defaults(tool.options_of(own_measure)) for measure, own_measure in own}
        by_subtopic = [measure for measure, own_measure in own if own_measure.declaration.over == "aspects"]
        judgements = qrels
        is_read_twice = 0 < len(by_subtopic) < len(measures)
        if is_read_twice and not isinstance(qrels, Mapping) and not hasattr(qrels, "itertuples"):
            judgements = list(qrels)

        self._judged: list[tuple[Qrels | AspectQrels, list[Measure]]] = []
        if by_subtopic:
            self._judged.append((AspectQrels(by_aspect(QrelsConverter(judgements).as_namedtuple_iter())), by_subtopic))

        documents = [measure for measure in measures if measure not in by_subtopic]
        if documents:
            self._judged.append((_qrels_of(judgements), documents))

        super().__init__(measures, list(dict.fromkeys(chain.from_iterable(judged for judged, _ in self._judged))))

    def _columns(self, results: Any) -> Iterator[tuple[Measure, Sequence[str], list[float]]]:
        """For each measure the queries that count and their values."""
        rules = self._rules.convention
        run = _run_of(results)
        for judged, measures in self._judged:
            if not len(judged):
                yield from ((measure, (), []) for measure in measures)
                continue
            if isinstance(judged, Qrels):
                check_kinds(run, judged)

            placed = pipeline.place(judged, run, rules)
            tables = pipeline.tables_of(placed, [self._own[measure] for measure in measures])
            queries = placed.placements.queries
            for measure in measures:
                own = self._own[measure]
                values = pipeline.values_of(own, tables, rules)
                column = values.tolist()
                if self._rules.decimals is not None:
                    column = [float(f"{value:.{self._rules.decimals}f}") for value in column]
                if self._rules.found_only and measure.NAME == "Accuracy":
                    counts = pipeline.values_of(_relevant_found(own), tables, rules)
                    counting = np.flatnonzero(counts).tolist()
                    column = [column[i] for i in counting]
                    yield measure, [queries[i] for i in counting], column
                else:
                    yield measure, queries, column

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Values by query, measure after measure."""
        return chain.from_iterable(_metrics(*column) for column in self._columns(run))

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Summaries over queries."""
        summaries = {measure: _summary(measure, values) for measure, _, values in self._columns(run)}
        return {measure: summaries[measure] for measure in self.measures}

    def calc(self, run: Any) -> CalcResults:
        """Summaries, and the values of queries."""
        summaries: dict[Measure, float] = {}
        rows: list[Metric] = []
        for measure, queries, values in self._columns(run):
            summaries[measure] = _summary(measure, values)
            rows += _metrics(measure, queries, values)
        return CalcResults({measure: summaries[measure] for measure in self.measures}, rows)


_parsed = lru_cache(parse)
"""goldrank's measure for one of ir_measures', cached by its spelling."""
FORGET.append(_parsed.cache_clear)


def _metrics(measure: Measure, queries: Sequence[str], values: Sequence[float]) -> Iterator[Metric]:
    """A `Metric` for each query. There may be a million, so that they are made without a call in Python each."""
    return map(tuple.__new__, repeat(Metric), zip(queries, repeat(measure), values))


def _summary(measure: Measure, values: Sequence[float]) -> float:
    adder = measure.aggregator()
    adder.extend(values)
    return adder.result()


def _relevant_found(accuracy: OwnMeasure) -> OwnMeasure:
    """The measure that counts the relevant documents down to the cut-off of another."""
    return make("NumRelRet", accuracy.k, {"rel": accuracy.option("rel")})


def _qrels_of(source: Any) -> Qrels:
    """Judgements of documents; of several judgements of one document the last counts."""
    if isinstance(source, TrecFile) and source.untouched:
        return io.read_qrels(source.source, format="trec", judgements="last")
    converter = QrelsConverter(source)
    if converter.checked_type() == "pd_dataframe" and len(source):
        return io.as_qrels(source[list(QrelsConverter.needed)], judgements="last")
    return io.as_qrels(converter.as_dict_of_dict(), judgements="last")


def _run_of(source: Any) -> Run:
    """A run, which may be empty."""
    if isinstance(source, TrecFile) and source.untouched:
        return io.read_run(source.source, format="trec")
    converter = RunConverter(source)
    if converter.checked_type() == "pd_dataframe" and len(source):
        return io.as_run(source[list(RunConverter.needed)])
    scores = converter.as_dict_of_dict()
    if scores:
        return io.as_run(scores)
    return Run(Rankings({}), name="run")


# All together.


class FallbackProvider(Provider):
    """For each measure, the first of several providers that can compute it."""

    NAME = "fallback"

    def __init__(self, providers: Sequence[Provider]) -> None:
        self.providers = providers

    def supports(self, measure: Measure) -> bool:
        """Whether any of them can compute a measure."""
        return any(provider.supports(measure) for provider in self.providers)

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        chosen: dict[int, list[Measure]] = {}
        for measure in measures:
            number = next((i for i, provider in enumerate(self.providers) if provider.supports(measure)), None)
            if number is None:
                raise MeasureError(f"Unsupported measures {{{measure}}}", hint="See `goldrank measures`.")
            chosen.setdefault(number, []).append(measure)

        if len(chosen) > 1:
            qrels = _reusable(qrels)
        evaluators = []
        for number, provider_measures in chosen.items():
            evaluators.append(self.providers[number].evaluator(provider_measures, qrels))
        if len(evaluators) == 1:
            return evaluators[0]
        return FallbackEvaluator(measures, evaluators)


class FallbackEvaluator(Evaluator):
    """Several evaluators, one after the other."""

    def __init__(self, measures: list[Measure], evaluators: list[Evaluator]) -> None:
        super().__init__(measures, evaluators[0].qrel_qids)
        self.evaluators = evaluators

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Values by query, evaluator after evaluator."""
        reusable = _reusable(run)
        for evaluator in self.evaluators:
            yield from evaluator.iter_calc(reusable)


def _reusable(rows: Any) -> Any:
    """Rows that can be read several times."""
    if isinstance(rows, Iterator):
        return list(rows)
    return rows


registry: dict[str, Provider] = {}
"""Providers by name."""


def register(provider: Provider) -> Provider:
    """Make a provider known by its name."""
    registry[provider.NAME] = provider
    return provider


for _name, _rules in RULES.items():
    register(GoldrankProvider(_name, _rules))
register(RuntimeProvider())
DefaultPipeline = FallbackProvider([registry["runtime"], GoldrankProvider("goldrank", EVERYTHING)])


def _named(name: str) -> Callable[[], Provider]:
    return lambda: registry[name]


AccuracyProvider, CompatProvider, CwlEvalProvider = map(_named, ("accuracy", "compat", "cwl_eval"))
PyNdEvalProvider, PytrecEvalProvider, JudgedProvider = map(_named, ("pyndeval", "pytrec_eval", "judged"))
GdevalProvider, TrectoolsProvider, MsMarcoProvider = map(_named, ("gdeval", "trectools", "msmarco"))
RanxProvider = _named("ranx")
