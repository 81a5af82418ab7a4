"""goldrank as a provider of the real ir_measures, which has to be installed.

>>> from goldrank.compat import ir_measures_provider
>>> ir_measures_provider.register()  # doctest: +SKIP
>>> ir_measures.providers.registry["goldrank"].calc_aggregate([ir_measures.nDCG @ 10], qrels, run)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from goldrank.compat.ir_measures.providers import EVERYTHING, GoldrankEvaluator


def register(*, first: bool = False) -> Any:  # a provider of ir_measures, whose classes have no types
    """Make goldrank known to ir_measures under its name, as `ir_measures.goldrank` too.

    With `first`, ir_measures' own functions (`ir_measures.calc` and so on) ask it before all others.
    """
    ir_measures: Any = import_module("ir_measures")
    providers = ir_measures.providers

    class Evaluating(providers.Evaluator):  # type: ignore[misc, name-defined]
        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            measure_list = list(measures)
            self._goldrank = GoldrankEvaluator(measure_list, qrels, EVERYTHING)
            super().__init__(measure_list, set(self._goldrank.qrel_qids))

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            return (ir_measures.Metric(*metric) for metric in self._goldrank.iter_calc(run))

    class Goldrank(providers.Provider):  # type: ignore[misc, name-defined]
        """goldrank: exact, explained, fast evaluation of rankings."""

        NAME = "goldrank"

        def supports(self, measure: Any) -> bool:
            measure.validate_params()
            return not hasattr(measure, "runtime_impl") and EVERYTHING.allows(measure)

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
            return Evaluating(measures, qrels)

    provider = providers.registry.get("goldrank") or providers.register(Goldrank())
    ir_measures.goldrank = provider
    default = ir_measures.DefaultPipeline.providers
    if first and provider not in default:
        default.insert(0, provider)
    return provider
