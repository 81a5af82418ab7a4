"""How good: `Scores`, the values of measures for one run, and everything needed to understand them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from goldrank.data.json_values import read_json, utf8, without_nan, write_json
from goldrank.errors import (
    InputError,
    MeasureError,
    NotMeasuredError,
    OptionError,
    as_list,
    did_you_mean,
)
from goldrank.escaping import shown
from goldrank.forking import check_polars
from goldrank.notes import Note
from goldrank.packages import needed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from goldrank.data.explanation import Explanation

Value = TypeVar("Value")
AVERAGES = ("mean", "sum", "geometric")
SLACK = 1e-9
"""By how much a value may pass the bounds of its measure, which are reached with rounding."""


class ByMeasure(dict[str, Value]):
    """A dict by full spelling of measures; others are looked up as `spelled` says. Copies are plain dicts."""

    def __init__(self, items: Iterable[tuple[str, Value]], spelled: Callable[[object], str]) -> None:
        super().__init__(items)
        self._spelled = spelled

    def __missing__(self, measure: object) -> Value:
        return self[self._spelled(measure)]

    def __reduce__(self) -> tuple[type[dict[str, Value]], tuple[dict[str, Value]]]:
        return dict, (dict(self),)


@dataclass(frozen=True, eq=False)
class Column:
    """One measure: its value for each query and their summary."""

    measure: str
    values: np.ndarray
    """One value per query of the `Scores`; NaN where the query does not count."""
    summary: float
    average: str
    """How the summary was made: 'mean', 'sum' or 'geometric'."""
    higher_is_better: bool = True
    counts_nan: bool = False
    """Whether NaN went into the summary and made it NaN (the policy empty='nan'); else it was left out."""

    @property
    def counted(self) -> np.ndarray:
        """The values that went into the summary."""
        return self.values if self.counts_nan else self.values[~np.isnan(self.values)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        plain = ("measure", "average", "higher_is_better", "counts_nan")
        return (
            all(getattr(self, name) == getattr(other, name) for name in plain)
            and np.array_equal([self.summary], [other.summary], equal_nan=True)
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds an array


@dataclass(frozen=True)
class Bounds:
    """How far a measure could move: by the order of tied documents, or by judging unjudged ones."""

    why: str
    """'ties' or 'unjudged'."""
    low: Column
    high: Column

    @property
    def summary(self) -> tuple[float, float]:
        """The least and greatest summary."""
        return self.low.summary, self.high.summary


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Mapping[str, float]):
    """Values per query and measure for one run. As a mapping it has each measure's summary.

    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, ["RR", "P@1"])
    >>> scores["RR"]
    0.5
    >>> scores.per_query["P@1"]
    {'q1': 0.0}
    >>> dict(scores)
    {'RR': 0.5, 'P@1': 0.0}
    """

    run: str
    queries: tuple[str, ...]
    columns: Mapping[str, Column]
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was judged, returned, missing, dropped and so on, as numbers."""
    notes: tuple[Note, ...] = field(default_factory=tuple)
    """Caveats and remarks; `str(note)` is what people read."""
    convention: str = ""
    origin: Callable[[], Mapping[str, Any]] = dict
    """Makes the provenance: hashing large inputs takes time that not every caller wants to spend."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """By measure, how far it could move; made with ties='bounds' or bounds='unjudged'."""
    explainer: Callable[[str], Explanation] | None = None
    """For scores of texts: shows one question's matches. It is not kept in copies that leave the process."""
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """What the convention gave to measures that were asked for without: columns are found without it, too."""
    placed: Any = field(default=None, repr=False)  # evaluation's `Placed`, which this layer does not know
    """The placed run that these are the scores of, for whoever asks which documents it returned; fresh scores only."""

    if not TYPE_CHECKING:  # else every name would be an attribute

        def __getattr__(self, name: str) -> Any:
            state = vars(self)
            if name in ("counts", "notes") and "_remarks" in state:
                state["counts"], state["notes"] = state["_remarks"]()
                state.pop("_remarks", None)
                return state[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def explain(self, query: str) -> Explanation:
        """Which retrieved text covered which reference of a question, by which rule and which words."""
        if self.explainer is None:
            raise OptionError(
                "only fresh scores of texts can be explained",
                hint="Call explain on what evaluate_texts returned.",
                code="not-explainable",
            )
        if query not in self.queries:
            raise InputError(f"there is no question {query!r}", hint=did_you_mean(str(query), self.queries))
        return self.explainer(query)

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """Convention, policies, inputs with their hashes, version and time."""
        return self.origin()

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures' full spelling."""
        return tuple(self.columns)

    @property
    def mean(self) -> dict[str, float]:
        """Each measure's summary: the mean over queries (a sum for counts, geometric for GMAP)."""
        return self._each(lambda column: column.summary)

    @property
    def std(self) -> dict[str, float]:
        """Each measure's standard deviation over queries (of a sample, n - 1)."""
        return self._each(lambda column: float(np.std(column.counted, ddof=1)) if len(column.counted) > 1 else math.nan)

    @property
    def n(self) -> dict[str, int]:
        """Over how many queries each summary was taken."""
        return self._each(lambda column: len(column.counted))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """Each measure's value by query."""
        return self._each(lambda column: dict(zip(self.queries, column.values.tolist(), strict=True)))

    def _each(self, of: Callable[[Column], Value]) -> ByMeasure[Value]:
        return ByMeasure(((name, of(column)) for name, column in self.columns.items()), self.spelled)

    def spelled(self, measure: object) -> str:
        """The full spelling of a column from any of its spellings, with the convention's options or without."""
        if isinstance(measure, str) and measure in self.columns:
            return measure
        from goldrank.measures import known, parse

        parsed = parse(measure)  # type: ignore[arg-type]  # what is no measure is refused there
        for full in map(str, (parsed, parsed.having(self.options.get(parsed.name, {})))):
            if full in self.columns:
                return full
        for full in self.columns:
            column = known(full)
            if column is not None and column.plain == parsed.plain:
                return full
        hint = did_you_mean(str(parsed), self.columns)
        raise NotMeasuredError(f"{parsed} was not measured; there are: {', '.join(self.columns)}", hint=hint)

    def column(self, measure: object) -> Column:
        """One measure's column, by any of its spellings."""
        return self.columns[self.spelled(measure)]

    # A mapping over measures.

    def __getitem__(self, measure: object) -> float:
        """A measure's summary."""
        return self.column(measure).summary

    def __contains__(self, measure: object) -> bool:
        try:
            self.column(measure)
        except MeasureError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __eq__(self, other: object) -> bool:
        """Whether run, values, counts, notes and convention are equal; where they come from does not matter."""
        if not isinstance(other, Scores):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __copy__(self) -> Scores:
        return replace(self)

    def __getstate__(self) -> dict[str, Any]:
        # What makes the provenance may hold whole runs, and cannot be pickled: its result can.
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**kept, "origin": partial(dict, self.provenance), "explainer": None, "placed": None}

    # Other shapes.

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        from goldrank.data.saved_scores import to_plain

        return to_plain(self)

    @classmethod
    def from_dict(cls, data: Any, where: str = "scores") -> Scores:
        """The inverse of `to_dict`. Nothing is believed: summaries must follow from values, values be within bounds."""
        from goldrank.data.saved_scores import from_plain

        return from_plain(data, where)

    def to_json(self) -> str:
        """Everything, as JSON; NaN becomes null."""
        import json

        return json.dumps(without_nan(self.to_dict()), ensure_ascii=True)

    def save(self, path: str | Path) -> None:
        """Write everything to a JSON file that `Scores.load` reads back equal."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Scores:
        """Read what `save` wrote."""
        return cls.from_dict(read_json(path), str(path))

    @classmethod
    def merge(cls, shards: Iterable[Scores], *, run: str | None = None) -> Scores:
        """The scores of all queries, from those of shards that share no query and were made in the same way.

        Values, summaries and counts are those of evaluating everything at once, to the last bit. Each shard has to be
        evaluated with its own part of the judgements: `evaluate(..., shard="1/8")` takes it.
        """
        from goldrank.data.merging import merge

        return merge(as_list(shards, "what is merged"), run)

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """(query, measure, value) for every value."""
        for name, column in self.columns.items():
            for query, value in zip(self.queries, column.values.tolist(), strict=True):
                yield query, name, value

    def to_polars(self) -> polars.DataFrame:
        """One row per query, one column per measure."""
        with needed("polars"):
            import polars

        check_polars()
        return polars.DataFrame(self._frame())

    def to_pandas(self) -> pandas.DataFrame:
        """One row per query, one column per measure."""
        with needed("pandas"):
            import pandas

        return pandas.DataFrame(self._frame())

    def to_arrow(self) -> pyarrow.Table:
        """One row per query, one column per measure."""
        with needed("pyarrow"):
            import pyarrow

        return pyarrow.table(self._frame())

    def _frame(self) -> dict[str, Any]:
        return {
            "query": list(map(utf8, self.queries)),
            **{name: column.values for name, column in self.columns.items()},
        }

    def __repr__(self) -> str:
        from goldrank.data import score_table

        return score_table.text([self])

    def _repr_html_(self) -> str:
        from goldrank.data import score_table

        return score_table.fragment([self])


def with_remarks(remarks: Callable[[], tuple[Mapping[str, int], tuple[Note, ...]]], **known: Any) -> Scores:
    """Scores whose counts and notes are made when somebody asks for them: not everybody who calls often does.

    All other fields that hold something made for each are to be given.
    """
    scores = Scores.__new__(Scores)
    vars(scores).update(known, _remarks=remarks)  # what is not given has its default from the class
    return scores


_COMPARED = ("run", "queries", "columns", "counts", "notes", "convention", "bounds")


class ScoresByRun(Mapping[str, Scores]):
    """The `Scores` of several runs on the same queries, by the runs' names."""

    def __init__(self, scores: Sequence[Scores]) -> None:
        self._scores = {system.run: system for system in scores}

    def __getitem__(self, run: str) -> Scores:
        if run not in self._scores:
            raise KeyError(f"{run!r}; there are: {', '.join(self._scores)}")
        return self._scores[run]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    @property
    def mean(self) -> dict[str, dict[str, float]]:
        """Each run's summaries."""
        return {run: scores.mean for run, scores in self.items()}

    def to_polars(self) -> polars.DataFrame:
        """One row per run and query, one column per measure."""
        with needed("polars"):
            import polars

        frames = [scores.to_polars() for scores in self.values()]
        for run, frame in zip(self, frames, strict=True):
            frame.insert_column(0, polars.lit(utf8(run)).alias("run"))
        return polars.concat(frames, how="diagonal")  # files may hold runs with other measures

    def to_pandas(self) -> pandas.DataFrame:
        """One row per run and query, one column per measure."""
        with needed("pandas"):
            import pandas

        frames = [scores.to_pandas() for scores in self.values()]
        for run, frame in zip(self, frames, strict=True):
            frame.insert(0, "run", utf8(run))
        return pandas.concat(frames, ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Everything, by run."""
        return {run: scores.to_dict() for run, scores in self.items()}

    def save(self, path: str | Path) -> None:
        """Write everything to one JSON file that `ScoresByRun.load` reads back equal."""
        from goldrank.data.saved_scores import FORMAT_BY_RUN, VERSION

        write_json(path, {"format": FORMAT_BY_RUN, "version": VERSION, "runs": list(self.to_dict().values())})

    @classmethod
    def load(cls, path: str | Path) -> ScoresByRun:
        """Read what `save` wrote."""
        from goldrank.data.saved_scores import FORMAT_BY_RUN

        data = read_json(path)
        if not isinstance(data, Mapping) or data.get("format") != FORMAT_BY_RUN:
            hint = "Scores.load reads the scores of one run."
            what = "is not saved goldrank scores of several runs"
            raise InputError(what, where=str(path), hint=hint, code="not-saved-scores")
        if not isinstance(runs := data.get("runs"), list) or not runs:
            what = f"its runs are {shown(runs)}, not a list of some"
            raise InputError(what, where=str(path), hint="Was it edited by hand?")
        by_run = cls([Scores.from_dict(scores, str(path)) for scores in runs])
        if len(by_run) < len(runs):
            raise InputError("two of its runs have one name", where=str(path), hint="Was it edited by hand?")
        return by_run

    def __repr__(self) -> str:
        from goldrank.data import score_table

        return score_table.text(list(self.values()))

    def _repr_html_(self) -> str:
        from goldrank.data import score_table

        return score_table.fragment(list(self.values()))


def format_value(value: float, average: str = "mean") -> str:
    """A value as reports show it: four decimals, counts as whole numbers."""
    if math.isnan(value):
        return "nan"
    return f"{value:,.0f}" if average == "sum" and value == int(value) else f"{value:.4f}"
