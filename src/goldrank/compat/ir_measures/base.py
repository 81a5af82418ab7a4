"""The base classes of ir_measures' providers and evaluators, from which users may derive new ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from goldrank.compat.ir_measures.measures import Measure
from goldrank.compat.ir_measures.util import CalcResults, Metric, Qrel, ScoredDoc, parse_measure


class CwlMetric(NamedTuple):
    """A query's value with the other values of C/W/L; only for its name, because goldrank does not compute these."""

    query_id: str
    measure: Measure
    value: float
    expected_total_utility: float
    expected_cost: float
    expected_total_cost: float
    expected_items: float


class Evaluator:
    """Measures runs. A new class needs `_iter_calc`; queries that it leaves out get the measure's DEFAULT."""

    def __init__(self, measures: Iterable[Measure], qrel_qids: Iterable[str]) -> None:
        self.measures = list(measures)
        self.qrel_qids = qrel_qids

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Values by query."""
        left = {(measure, query) for measure in self.measures for query in self.qrel_qids}
        for metric in self._iter_calc(run):
            left.discard((metric.measure, metric.query_id))
            yield metric

        for measure, query in sorted(left, key=lambda pair: (str(pair[0]), pair[1])):
            yield Metric(query, measure, measure.DEFAULT)

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        raise NotImplementedError

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Summaries over queries."""
        summaries = self.calc(run).aggregated
        assert isinstance(summaries, dict)
        return summaries

    def calc(self, run: Any) -> CalcResults:
        """Summaries, and the values of queries."""
        metrics = list(self.iter_calc(run))
        adders = {measure: measure.aggregator() for measure in self.measures}
        for metric in metrics:
            adders[metric.measure].add(metric.value)
        return CalcResults({measure: adder.result() for measure, adder in adders.items()}, metrics)


class Provider:
    """Makes evaluators. A new class needs `NAME`, `SUPPORTED_MEASURES` or `supports`, and `_evaluator`."""

    NAME: str = ""
    SUPPORTED_MEASURES: Sequence[Measure] = ()

    def evaluator(self, measures: Iterable[Measure | str], qrels: Any) -> Evaluator:
        """The evaluator of runs against these judgements, which are read once."""
        parsed = [parse_measure(measure) for measure in measures]
        for measure in parsed:
            measure.validate_params()
        return self._evaluator(list(dict.fromkeys(parsed)), qrels)

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        raise NotImplementedError

    def iter_calc(self, measures: Iterable[Measure | str], qrels: Any, run: Any) -> Iterator[Metric]:
        """Values by query."""
        return self.evaluator(measures, qrels).iter_calc(run)

    def calc_aggregate(self, measures: Iterable[Measure | str], qrels: Any, run: Any) -> dict[Measure, float]:
        """Summaries over queries."""
        return self.evaluator(measures, qrels).calc_aggregate(run)

    def calc(self, measures: Iterable[Measure | str], qrels: Any, run: Any) -> CalcResults:
        """Summaries, and the values of queries."""
        return self.evaluator(measures, qrels).calc(run)

    @contextmanager
    def calc_ctxt(self, measures: Iterable[Measure | str], qrels: Any) -> Iterator[Callable[[Any], Iterator[Metric]]]:
        """The old way to an evaluator."""
        warnings.warn("calc_ctxt is deprecated; it is evaluator now", DeprecationWarning, stacklevel=3)
        yield self.evaluator(measures, qrels).iter_calc

    def supports(self, measure: Measure) -> bool:
        """Whether it can compute a measure."""
        measure.validate_params()
        for known in self.SUPPORTED_MEASURES:
            if known.NAME == measure.NAME and all(rule.validate(measure[key]) for key, rule in known.params.items()):
                return True
        return False

    def is_available(self) -> bool:
        """Whether its packages are installed: goldrank needs none."""
        return True

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """The columns that measures need of a run."""
        return inputs(measures, "RUN_INPUTS", ScoredDoc._fields)

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """The columns that measures need of judgements."""
        return inputs(measures, "QREL_INPUTS", Qrel._fields[:3])


def inputs(measures: Iterable[Measure], where: str, usual: Sequence[str]) -> list[str]:
    """The columns that measures say they need, or the usual ones, each once."""
    return list(dict.fromkeys(name for measure in measures for name in getattr(measure, where, usual)))
