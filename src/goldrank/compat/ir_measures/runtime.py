"""ir_measures' measures that are functions of data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from goldrank.compat.ir_measures.base import Evaluator, Provider, inputs
from goldrank.compat.ir_measures.measures import Measure, ParamInfo
from goldrank.compat.ir_measures.util import Metric, Qrel, QrelsConverter, RunConverter, ScoredDoc


class RuntimeProvider(Provider):
    """Calls the functions of `define` and `define_byquery`."""

    NAME = "runtime"

    def supports(self, measure: Measure) -> bool:
        """Whether the measure is a function."""
        measure.validate_params()
        return hasattr(measure, "runtime_impl")

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        frame = QrelsConverter(qrels, strict=False).as_pd_dataframe()
        return RuntimeEvaluator(measures, _by_query(frame, "qrels", {"doc_id": True}))

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """The columns that functions need of a run."""
        return inputs(measures, "RUN_INPUTS", ())

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """The columns that functions need of judgements."""
        return inputs(measures, "QREL_INPUTS", ())


def _by_query(frame: Any, noun: str, then: Mapping[str, bool]) -> Any:
    """The rows of a frame in order of their queries, and by the columns `then` that it has: ascending if True."""
    if "query_id" not in frame.columns:
        raise ValueError(f"Required column query_id not found in {noun}. Found columns was {list(frame.columns)}")
    order = {"query_id": True, **{key: up for key, up in then.items() if key in frame.columns}}
    return frame.sort_values(by=list(order), ascending=list(order.values()))


class RuntimeEvaluator(Evaluator):
    """Calls functions with two frames."""

    def __init__(self, measures: list[Measure], qrels: Any) -> None:
        super().__init__(measures, set(qrels["query_id"].unique()))
        self._qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        frame = _by_query(RunConverter(run, strict=False).as_pd_dataframe(), "run", {"score": False})
        for measure in self.measures:
            yield from measure.runtime_impl(self._qrels, frame)  # type: ignore[attr-defined]


def define(
    impl: Callable[[Any, Any], Iterable[tuple[str, float]]],
    name: str | None = None,
    support_cutoff: bool = True,
    *,
    run_inputs: list[str] | None = None,
    qrel_inputs: list[str] | None = None,
    pretty_name: str | None = None,
    short_desc: str | None = None,
) -> Measure:
    """A measure from a function of two frames, judgements and results, that gives pairs of query and value."""

    def runtime_impl(self: Measure, qrels: Any, run: Any) -> Iterator[Metric]:
        cutoff = self.params.get("cutoff")
        if cutoff is not None:
            run = run.groupby("query_id").head(cutoff).reset_index(drop=True)
        for query, value in impl(qrels, run):
            yield Metric(query, self, value)

    supported: dict[str, ParamInfo] = {}
    if support_cutoff:
        supported["cutoff"] = ParamInfo(int)
    body: dict[str, Any] = {
        "NAME": name or f"{getattr(impl, '__name__', 'measure')}_{id(impl):x}",  # two without a name are two
        "SUPPORTED_PARAMS": supported,
        "RUN_INPUTS": run_inputs or list(ScoredDoc._fields),
        "QREL_INPUTS": qrel_inputs or list(Qrel._fields[:3]),
        "PRETTY_NAME": pretty_name,
        "SHORT_DESC": short_desc,
        "runtime_impl": runtime_impl,
    }
    measure: Measure = type("_RuntimeMeasure", (Measure,), body)()
    return measure


def define_byquery(
    impl: Callable[[Any, Any], float], name: str | None = None, support_cutoff: bool = True, **more: Any
) -> Measure:
    """A measure from a function of two frames, the judgements and results of one query, that gives its value."""

    def by_query(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        judged = dict(iter(qrels.groupby("query_id")))
        none = qrels.iloc[:0]
        for query, results in run.groupby("query_id"):
            yield query, impl(judged.get(query, none), results)

    return define(by_query, name or getattr(impl, "__name__", repr(impl)), support_cutoff, **more)
