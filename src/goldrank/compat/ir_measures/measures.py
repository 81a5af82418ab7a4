"""ir_measures' measures: objects that are called for options, and cut with `@`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.measures import summarise

if TYPE_CHECKING:
    from goldrank.compat.ir_measures.providers import Evaluator
    from goldrank.compat.ir_measures.util import CalcResults, Metric

NOT_PROVIDED: Any = object()


class ParamInfo:
    """The values that an option may have."""

    def __init__(
        self,
        dtype: type | None = None,
        required: bool = False,
        choices: Any = NOT_PROVIDED,
        default: Any = NOT_PROVIDED,
        desc: str | None = None,
    ) -> None:
        self.dtype = dtype
        self.required = required
        self.choices = choices
        self.default = default
        self.desc = desc

    def validate(self, value: object) -> bool:
        """Whether an option may have this value."""
        if value is NOT_PROVIDED:
            return not self.required
        right_type = self.dtype is None or isinstance(value, self.dtype)
        return right_type and (self.choices is NOT_PROVIDED or value in self.choices)


class Agg:
    """Values that are added one by one, and their summary."""

    kind = "mean"

    def __init__(self) -> None:
        self._values: list[float] = []

    def add(self, value: float) -> None:
        """Add a query's value."""
        self._values.append(value)

    def extend(self, values: Iterable[float]) -> None:
        """Add the values of many queries."""
        self._values.extend(values)

    def result(self) -> float:
        """The summary of the values."""
        return summarise(self.kind, np.array(self._values, np.float64))


class MeanAgg(Agg):
    """The mean; `default` without any value."""

    def __init__(self, default: float = float("nan")) -> None:
        super().__init__()
        self.default = default

    def result(self) -> float:
        """The mean of the values."""
        if self._values:
            return super().result()
        return self.default


class SumAgg(Agg):
    """The sum."""

    kind = "sum"


class Measure:
    """A measure with its options: `nDCG(dcg='exp-log2') @ 20`. Two of one spelling are equal."""

    NAME: ClassVar[str | None] = None
    AT_PARAM: ClassVar[str] = "cutoff"
    SUPPORTED_PARAMS: ClassVar[Mapping[str, ParamInfo]] = {}
    PRETTY_NAME: ClassVar[str | None] = None
    SHORT_DESC: ClassVar[str | None] = None
    DEFAULT: ClassVar[float] = 0.0
    _aggregator: ClassVar[type[Agg]] = MeanAgg

    def __init__(self, **params: Any) -> None:
        self.params = params

    @property
    def __name__(self) -> str:
        return str(self.NAME)

    def validate_params(self) -> None:
        """Refuse options that the measure does not have, and values that they cannot have."""
        unknown = [key for key in self.params if key not in self.SUPPORTED_PARAMS]
        if unknown:
            raise MeasureError(f"{self.NAME}: unsupported params found: {unknown}")

        for key, rule in self.SUPPORTED_PARAMS.items():
            value = self.params.get(key, NOT_PROVIDED)
            if not rule.validate(value):
                problem = f"is {value!r}"
                if value is NOT_PROVIDED:
                    problem = "is missing"
                raise MeasureError(f"{self.NAME}: invalid param {key}, which {problem}", hint=rule.desc)

    def __call__(self, **params: Any) -> Measure:
        return type(self)(**{**self.params, **params})

    def __matmul__(self, at_param: Any) -> Measure:
        return self(**{self.AT_PARAM: at_param})

    def __getitem__(self, key: str) -> Any:
        return self.params.get(key, self.SUPPORTED_PARAMS[key].default)

    def iter_calc(self, qrels: Any, run: Any) -> Iterator[Metric]:
        """Values by query."""
        return self.evaluator(qrels).iter_calc(run)

    def calc_aggregate(self, qrels: Any, run: Any) -> float:
        """The summary over queries."""
        return self.evaluator(qrels).calc_aggregate(run)[self]

    def calc(self, qrels: Any, run: Any) -> CalcResults:
        """The summary and the values by query."""
        results = self.evaluator(qrels).calc(run)
        assert isinstance(results.aggregated, dict)
        return results._replace(aggregated=results.aggregated[self])

    def evaluator(self, qrels: Any) -> Evaluator:
        """The evaluator of runs against these judgements."""
        from goldrank.compat.ir_measures.providers import DefaultPipeline

        return DefaultPipeline.evaluator([self], qrels)

    def aggregator(self) -> Agg:
        """A new aggregator of values."""
        return self._aggregator()

    def __repr__(self) -> str:
        shown = []
        for key, value in self.params.items():
            is_usual = key in self.SUPPORTED_PARAMS and value == self.SUPPORTED_PARAMS[key].default
            if key != self.AT_PARAM and not is_usual:
                shown.append(f"{key}={_shown(value)}")

        name = self.__name__
        if shown:
            name = f"{self.__name__}({','.join(shown)})"
        if self.AT_PARAM in self.params:
            return f"{name}@{self.params[self.AT_PARAM]}"
        return name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


BaseMeasure = Measure


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{worth}" for key, worth in sorted(value.items()) if key != worth) + "}"
    return repr(value)


registry: dict[str, Measure] = {}
"""Measures by each of their names."""


def register(measure: Measure, aliases: Any = (), name: str | None = None) -> dict[str, Measure]:
    """Make a measure known to `parse_measure`."""
    for known in (name or measure.__name__, *aliases):
        if known in registry:
            raise MeasureError(f"there is a measure {known!r} already")
        registry[known] = measure
    return registry


def _declared(
    name: str,
    *,
    at_param: str = "cutoff",
    cutoff: bool | None = None,
    aliases: str = "",
    total: bool = False,
    **more: Any,
) -> Measure:
    """A measure; `cutoff` is True if it must have one, False if it may. `more` are options: a default or a rule."""
    rules: dict[str, ParamInfo] = {}
    if cutoff is not None:
        dtype: type = int
        if at_param == "recall":
            dtype = float
        rules[at_param] = ParamInfo(dtype, required=cutoff)
    for key, rule in more.items():
        if not isinstance(rule, ParamInfo):
            rule = ParamInfo(type(rule), default=rule)
        rules[key] = rule

    aggregator: type[Agg] = MeanAgg
    if total:
        aggregator = SumAgg
    body = {"NAME": name, "AT_PARAM": at_param, "SUPPORTED_PARAMS": rules, "_aggregator": aggregator}
    measure: Measure = type(f"_{name}", (Measure,), body)()
    register(measure, aliases.split())
    return measure


_LEVEL: dict[str, Any] = {"rel": 1}
_JUDGED: dict[str, Any] = {"rel": 1, "judged_only": False}
_SCALE: dict[str, Any] = {"min_rel": 0, "max_rel": ParamInfo(int, required=True)}
_ANY_LEVEL = ParamInfo(int)
_LOG2 = ParamInfo(str, choices=["log2"], default="log2")

Accuracy = _declared("Accuracy", cutoff=False, **_LEVEL)
AP = MAP = _declared("AP", cutoff=False, aliases="MAP", **_JUDGED)
BPM = _declared("BPM", cutoff=True, T=1.0, **_SCALE)
Bpref = BPref = _declared("Bpref", aliases="BPref", **_LEVEL)
Compat = _declared("Compat", p=0.95, normalize=True)
ERR = _declared("ERR", cutoff=False)
ERR_IA = _declared("ERR_IA", cutoff=False, **_JUDGED)
nERR_IA = _declared("nERR_IA", cutoff=False, **_JUDGED)
alpha_DCG = _declared("alpha_DCG", cutoff=False, aliases="\u03b1_DCG", alpha=0.5, **_JUDGED)
alpha_nDCG = _declared("alpha_nDCG", cutoff=False, aliases="\u03b1_nDCG", alpha=0.5, **_JUDGED)
NRBP = _declared("NRBP", alpha=0.5, beta=0.5, **_LEVEL)
nNRBP = _declared("nNRBP", alpha=0.5, beta=0.5, **_LEVEL)
AP_IA = MAP_IA = _declared("AP_IA", aliases="MAP_IA", **_JUDGED)
P_IA = _declared("P_IA", cutoff=False, **_JUDGED)
StRecall = _declared("StRecall", cutoff=False, **_LEVEL)
infAP = _declared("infAP", **_LEVEL)
INST = _declared("INST", T=1.0, **_SCALE)
INSQ = _declared("INSQ", T=1.0, **_SCALE)
IPrec = _declared("IPrec", at_param="recall", cutoff=True, **_JUDGED)
Judged = _declared("Judged", cutoff=False)
nDCG = NDCG = _declared(
    "nDCG",
    cutoff=False,
    aliases="NDCG",
    dcg=ParamInfo(str, choices=["log2", "exp-log2"], default="log2"),
    gains=ParamInfo(dict),
    judged_only=False,
)
NERR8 = _declared("NERR8", cutoff=True, **_SCALE)
NERR9 = _declared("NERR9", cutoff=True, **_SCALE)
NERR10 = _declared("NERR10", p=0.9, **_SCALE)
NERR11 = _declared("NERR11", T=1.0, **_SCALE)
NumQ = _declared("NumQ", total=True)
NumRel = _declared("NumRel", total=True, **_LEVEL)
NumRet = _declared("NumRet", total=True, rel=_ANY_LEVEL)
NumRelRet = NumRet(rel=1)
P = Precision = _declared("P", cutoff=True, aliases="Precision", **_JUDGED)
R = Recall = _declared("R", cutoff=True, aliases="Recall", **_JUDGED)
RBP = _declared("RBP", cutoff=False, p=0.8, rel=_ANY_LEVEL)
Rprec = RPrec = _declared("Rprec", aliases="RPrec", **_JUDGED)
RR = MRR = _declared("RR", cutoff=False, aliases="MRR", **_JUDGED)
SDCG = _declared("SDCG", cutoff=True, dcg=_LOG2, **_SCALE)
SetP = _declared("SetP", relative=False, **_JUDGED)
SetRelP = SetP(relative=True)
SetR = _declared("SetR", **_LEVEL)
SetF = _declared("SetF", beta=1.0, **_JUDGED)
SetAP = _declared("SetAP", **_JUDGED)
Success = _declared("Success", cutoff=True, **_JUDGED)
register(NumRelRet, name="NumRelRet")
register(SetRelP, name="SetRelP")

__all__ = [  # noqa: RUF022, F822 - measures as they are declared above, and two with a Greek letter
    "\u03b1_DCG", "\u03b1_nDCG",
    "Agg", "BaseMeasure", "MeanAgg", "Measure", "ParamInfo", "SumAgg", "register", "registry",
    "Accuracy", "AP", "MAP", "BPM", "Bpref", "BPref", "Compat", "ERR", "ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG",
    "NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA", "StRecall", "infAP", "INST", "INSQ", "IPrec", "Judged", "nDCG", "NDCG",
    "NERR8", "NERR9", "NERR10", "NERR11", "NumQ", "NumRel", "NumRet", "NumRelRet", "P", "Precision", "R", "Recall",
    "RBP", "Rprec", "RPrec", "RR", "MRR", "SDCG", "SetP", "SetRelP", "SetR", "SetF", "SetAP", "Success",
]  # fmt: skip
globals().update({name: registry[name] for name in __all__[:2]})
