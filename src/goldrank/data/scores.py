"""`Scores`: the values of measures for one run, and everything needed to understand them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import (
    InputError,
    MeasureError,
    MismatchError,
    NotMeasuredError,
    OptionError,
    as_list,
    did_you_mean,
    of_type,
    one_of,
)
from goldrank.base.escaping import shown
from goldrank.base.forking import check_polars
from goldrank.base.frozen import Frozen
from goldrank.base.notes import Note
from goldrank.base.packages import needed
from goldrank.data.json_values import read_json, utf8, without_nan
from goldrank.data.query_facts import NOTHING_KNOWN, QueryFacts
from goldrank.data.showing import Result
from goldrank.data.table import count

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from goldrank.data.explanation import Explanation
    from goldrank.data.table import Part

Value = TypeVar("Value")
AVERAGES = ("mean", "sum", "geometric")
SLACK = 1e-9
"""How far a value may exceed the bounds of its measure, because of rounding."""


class ByMeasure(dict[str, Value]):
    """A dict by the full spelling of measures; other spellings are converted by `spelled`. Copies are plain dicts."""

    def __init__(self, items: Iterable[tuple[str, Value]], spelled: Callable[[object], str]) -> None:
        super().__init__(items)
        self._spelled = spelled

    def __missing__(self, measure: object) -> Value:
        return self[self._spelled(measure)]

    def __reduce__(self) -> tuple[type[dict[str, Value]], tuple[dict[str, Value]]]:
        return dict, (dict(self),)


class ByQuery(dict[str, float]):
    """Values by query id. An integer finds the query with its digits as id, because ids may come as integers."""

    def __missing__(self, query: object) -> float:
        if isinstance(query, int | np.integer) and not isinstance(query, bool) and str(query) in self:
            return self[str(query)]
        raise KeyError(query)

    def __reduce__(self) -> tuple[type[dict[str, float]], tuple[dict[str, float]]]:
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
        if self.counts_nan:
            return self.values
        numbers: np.ndarray = self.values[~np.isnan(self.values)]
        return numbers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        plain = ("measure", "average", "higher_is_better", "counts_nan")
        if any(getattr(self, name) != getattr(other, name) for name in plain):
            return False
        if not np.array_equal([self.summary], [other.summary], equal_nan=True):
            return False
        return np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]  # it holds an array


@dataclass(frozen=True)
class Bounds:
    """How far a measure could change: by the order of tied documents, or by judging unjudged documents."""

    why: str
    """'ties' or 'unjudged'."""
    low: Column
    high: Column

    @property
    def summary(self) -> tuple[float, float]:
        """The least and greatest summary."""
        return self.low.summary, self.high.summary


class Remarks(NamedTuple):
    """Counts and notes that belong to scores."""

    counts: Mapping[str, int] = MappingProxyType({})
    notes: tuple[Note, ...] = ()


NOTHING_TO_SAY = Remarks()


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result, Mapping[str, float]):
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
    remarks: Remarks | Callable[[], Remarks] = NOTHING_TO_SAY
    """Counts and notes, or a function that makes them: code that evaluates often may not need them."""
    convention: str = ""
    origin: Callable[[], Mapping[str, Any]] = dict
    """Makes the provenance when it is needed: hashing large inputs takes time."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """By measure, how far it could change; made with ties='bounds' or bounds='unjudged'."""
    explainer: Callable[[str], Explanation] | None = None
    """For scores of texts: shows one question's matches. Copies that leave the process do not have it."""
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Options that the convention added to measures: columns are found with and without them."""
    placed: Any = field(default=None, repr=False)  # evaluation's `Placed`, which this layer does not know
    """The placed run of these scores, which knows the returned documents; only fresh scores have it."""
    facts: QueryFacts | Callable[[], QueryFacts] = field(default=NOTHING_KNOWN, repr=False)
    """Facts about each query, or a function that makes them: rules of a gate and baselines need them."""

    @cached_property
    def _remarks(self) -> Remarks:
        if callable(self.remarks):
            return self.remarks()
        return self.remarks

    @property
    def counts(self) -> Mapping[str, int]:
        """What was judged, returned, missing, dropped and so on, as numbers."""
        return self._remarks.counts

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats and remarks; `str(note)` is a sentence for people."""
        return self._remarks.notes

    @cached_property
    def query_facts(self) -> QueryFacts:
        """Facts about each query beside its values: how many documents were returned, judged and relevant."""
        if callable(self.facts):
            return self.facts()
        return self.facts

    @property
    def judgement_hashes(self) -> Mapping[str, str] | None:
        """By judged query, a short hash of its judgements; None if they are not known."""
        return self.query_facts.judgement_hashes

    def explain(self, query: str) -> Explanation:
        """Which retrieved text covered which reference of a question, by which rule and which words.

        Parameters
        ----------
        query : str
            The id of a question, as in `scores.queries`.

        Returns
        -------
        Explanation
            A table of texts and references; `print` shows it.

        Raises
        ------
        OptionError
            If the scores are of ids, or were read from a file.
        InputError
            If there is no such question.
        """
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

    def signature(self, measure: object = None, *, full: bool = False) -> str:
        """One line to print beside a number: the measure, rules and judgements that it was made with.

        It has no ids, names or paths. `goldrank.explain_signature` spells it out, and checks it against files.

        Parameters
        ----------
        measure : measure, optional
            The measure whose number it is; by default all of them.
        full : bool
            Whether it includes the run; only fresh scores know the run.

        Returns
        -------
        str

        Raises
        ------
        NotMeasuredError
            If the measure was not measured.
        InputError
            If the scores do not know what they were made with.

        Examples
        --------
        >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
        >>> scores.signature().partition(" ")[2].partition(" sum:")[0]
        'measure:RR rules:trec_eval-10 qrels:9f97abed83f5/1q/1j'
        """
        from goldrank.data.signature import of_scores

        return of_scores(self, measure, full=full)

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signature of all measures, or () if the scores do not know what they were made with."""
        from goldrank.data.signature import distinct

        return distinct([self])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures' full spelling."""
        return tuple(self.columns)

    @property
    def mean(self) -> Mapping[str, float]:
        """Each measure's summary: the mean over queries (a sum for counts, geometric for GMAP)."""
        return self._each(lambda column: column.summary)

    @property
    def std(self) -> Mapping[str, float]:
        """Each measure's standard deviation over queries (of a sample, n - 1)."""
        return self._each(_standard_deviation)

    @property
    def n(self) -> Mapping[str, int]:
        """The number of queries in each summary."""
        return self._each(lambda column: len(column.counted))

    @property
    def per_query(self) -> Mapping[str, Mapping[str, float]]:
        """Each measure's value by query."""
        return self._each(lambda column: ByQuery(zip(self.queries, column.values.tolist(), strict=True)))

    def _each(self, value_of: Callable[[Column], Value]) -> ByMeasure[Value]:
        return ByMeasure(((name, value_of(column)) for name, column in self.columns.items()), self.spelled)

    def spelled(self, measure: object) -> str:
        """The full spelling of a column from any of its spellings, with or without the convention's options."""
        if isinstance(measure, str) and measure in self.columns:
            return measure

        from goldrank.measures import known, parse

        parsed = parse(measure)  # type: ignore[arg-type]  # it refuses anything that is not a measure
        for full in map(str, (parsed, parsed.with_defaults(self.options.get(parsed.name, {})))):
            if full in self.columns:
                return full
        for full in self.columns:
            column = known(full)
            if column is not None and column.plain == parsed.plain:
                return full

        hint = did_you_mean(str(parsed), self.columns)
        raise NotMeasuredError(f"{parsed} was not measured; there are: {', '.join(self.columns)}", hint=hint)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of values, counts, notes and convention: equal scores have equal digests."""
        from goldrank.data.saved_scores import digest_of

        return digest_of(self)

    def renamed(self, run: str) -> Scores:
        """These scores under another name of the run."""
        return replace(self, run=run)

    def values_of(self, measure: object) -> np.ndarray:
        """A measure's values, one for each of `queries`; NaN where a query does not count. The array is read-only."""
        values = self.column(measure).values.view()
        values.flags.writeable = False
        return values

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
        """Whether run, values, counts, notes and convention are equal; the provenance is not compared."""
        if not isinstance(other, Scores):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __copy__(self) -> Scores:
        return replace(self)

    def __getstate__(self) -> dict[str, Any]:
        # The function that makes the provenance may hold whole runs and cannot be pickled; its result can.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **state,
            "remarks": Remarks(dict(self.counts), self.notes),
            "origin": partial(dict, self.provenance),
            "explainer": None,
            "placed": None,
            "facts": self.query_facts.resolved(),
        }

    # Conversions.

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain Python values."""
        from goldrank.data.saved_scores import to_plain

        return to_plain(self)

    @classmethod
    def from_dict(cls, data: Any, where: str = "scores") -> Scores:
        """The inverse of `to_dict`, with checks: summaries must follow from values, values must be within bounds."""
        from goldrank.data.saved_scores import from_plain

        return from_plain(data, where)

    def to_json(self) -> str:
        """The scores as JSON; NaN becomes null."""
        import json

        return json.dumps(without_nan(self.to_dict()), ensure_ascii=True)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Scores:
        """Read a .json file that `save` wrote."""
        return cls.from_dict(read_json(path), str(path))

    @classmethod
    def merge(cls, shards: Iterable[Scores], *, run: str | None = None) -> Scores:
        """The scores of all queries, from the scores of shards that share no query and were made with equal settings.

        Values, summaries and counts equal those of one evaluation of all queries, to the last bit. Each shard must be
        evaluated with its part of the judgements: `qrels.shard(1, 8)`.
        """
        from goldrank.data.merging import merge

        return merge(as_list(shards, "what is merged"), run)

    def parts(self) -> list[Part]:
        """A table of the summaries, and the notes below."""
        from goldrank.data.score_table import score_parts

        return score_parts([self])

    @property
    def words(self) -> str:
        """The summaries in a sentence."""
        values = [f"{name} {format_value(column.summary, column.average)}" for name, column in self.columns.items()]
        return f"{ids.show(self.run)}: {', '.join(values)}, {count(len(self.queries), 'query')}"

    @property
    def title(self) -> str:
        """The title of a page with these scores."""
        return f"Scores: {ids.show(self.run)}"

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per query: its id, and the value of each measure."""
        columns = [column.values.tolist() for column in self.columns.values()]
        return [
            dict(zip(("query", *self.columns), values, strict=True))
            for values in zip(self.queries, *columns, strict=True)
        ]

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
        frame: dict[str, Any] = {"query": list(map(utf8, self.queries))}
        for name, column in self.columns.items():
            frame[name] = column.values
        return frame

    def __repr__(self) -> str:
        return f"Scores({self.run!r}, {count(len(self.queries), 'query')}, {', '.join(self.columns)})"


def numbered(names: Sequence[str]) -> list[str]:
    """Names of runs from the names of their systems: a name that occurs several times gets a number."""
    numbers: Counter[str] = Counter()
    counts = Counter(names)
    run_names = []
    for name in names:
        numbers[name] += 1
        if counts[name] > 1:
            run_names.append(f"{name}#{numbers[name]}")
        else:
            run_names.append(name)

    repeated = _first_repeated(run_names)
    if repeated is not None:
        problem = f"two runs are both named '{ids.show(repeated)}'"
        raise InputError(problem, hint="Give them different names.", code="duplicate-name")
    return run_names


def _first_repeated(names: Iterable[str]) -> str | None:
    for name, times in Counter(names).items():
        if times > 1:
            return name
    return None


def names_of_runs(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each system the names of its runs, in the order of the systems' first runs."""
    runs: dict[str, list[str]] = {}
    for system, run in zip(names, numbered(names), strict=True):
        runs.setdefault(system, []).append(run)
    return {system: tuple(of_system) for system, of_system in runs.items()}


def _named_scores(source: Any) -> list[tuple[str, Scores]]:
    """Scores with the names of their systems; only pairs of a name and scores may repeat the name of a system."""
    pairs: list[tuple[str, Any]] = []
    unnamed: list[str] = []
    if isinstance(source, Mapping):
        pairs = [(str(name), scores) for name, scores in source.items()]
    else:
        for entry in as_list(source, "scores"):
            if isinstance(entry, tuple):
                pairs.append(entry)
                continue
            name = getattr(entry, "run", "")
            pairs.append((name, entry))
            unnamed.append(name)

    for name, scores in pairs:
        of_type(scores, Scores, f"the entry {name!r:.80}", "scores of a run", "Evaluate it first.")
    if not pairs:
        raise InputError("there are no scores", hint="Give the scores of some runs.", code="empty-input")

    repeated = _first_repeated(unnamed)
    if repeated is not None:
        problem = f"two systems are both named '{ids.show(repeated)}'"
        hint = (
            "Give them different names: scores.renamed('other'), or {'one': scores, 'other': scores}. Runs of one "
            "system are pairs: [('dense', scores), ('dense', scores)]."
        )
        raise InputError(problem, hint=hint, code="duplicate-name")
    return pairs


_COMPARED = ("run", "queries", "columns", "counts", "notes", "convention", "bounds")


class ScoresByRun(Frozen, Result, Mapping[str, Scores]):
    """The `Scores` of several runs, by the runs' names.

    Parameters
    ----------
    scores : mapping or iterable of Scores
        Scores by name, a list of them, or a list of (name, scores). A name that such pairs give several times is one
        system that was run several times: its runs are then called "dense#1", "dense#2" and so on.
    queries : {"common", "same"}
        Whether runs are compared on the queries that all of them have, or must have the same queries.

    Raises
    ------
    MismatchError
        If queries="same" and the runs have different queries.

    Examples
    --------
    >>> one = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
    >>> ScoresByRun({"first": one, "second": one}).mean["second"]["RR"]
    0.5
    """

    systems: Mapping[str, tuple[str, ...]]
    """For each system the names of its runs: one, unless it was run several times."""

    def __init__(
        self,
        scores: Mapping[str, Scores] | Iterable[Scores] | Iterable[tuple[str, Scores]],
        *,
        queries: Literal["common", "same"] = "common",
    ) -> None:
        one_of(queries, ("common", "same"), "queries")
        pairs = _named_scores(scores)
        system_names = [name for name, _ in pairs]
        self._keep(systems=names_of_runs(system_names))

        self._scores: dict[str, Scores] = {}
        for name, (_, of_run) in zip(numbered(system_names), pairs, strict=True):
            if of_run.run != name:
                of_run = of_run.renamed(name)
            self._scores[name] = of_run
        if queries == "same":
            self._check_same_queries()

    def _check_same_queries(self) -> None:
        runs = list(self._scores.values())
        if all(set(scores.queries) == set(runs[0].queries) for scores in runs):
            return

        common = set(runs[0].queries).intersection(*(scores.queries for scores in runs))
        sizes = ", ".join(f"{ids.show(scores.run)} {len(scores.queries):,}" for scores in runs)
        raise MismatchError(
            f"the systems have different queries ({sizes}; {len(common):,} in common)",
            hint="queries='common' compares them on the queries that all of them have.",
            code="different-queries",
        )

    def __getitem__(self, run: str) -> Scores:
        if run not in self._scores:
            raise KeyError(f"{run!r}; there are: {', '.join(self._scores)}")
        return self._scores[run]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    __eq__ = Mapping.__eq__
    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @property
    def mean(self) -> Mapping[str, Mapping[str, float]]:
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

    def parts(self) -> list[Part]:
        """A table of the runs' summaries side by side, and the notes below."""
        from goldrank.data.score_table import score_parts

        return score_parts(list(self.values()))

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signatures of the runs, each once."""
        from goldrank.data.signature import distinct

        return distinct(self.values())

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats and remarks of all runs, each once."""
        return tuple(dict.fromkeys(note for scores in self.values() for note in scores.notes))

    @property
    def words(self) -> str:
        """The summaries of every run, in a sentence."""
        return "; ".join(scores.words for scores in self.values())

    @property
    def title(self) -> str:
        """The title of a page with these scores."""
        return f"Scores: {', '.join(map(ids.show, self))}"

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per run and query."""
        measures = dict.fromkeys(name for scores in self.values() for name in scores.columns)
        empty = dict.fromkeys(measures, math.nan)
        return [
            {"run": run, "query": row["query"], **empty, **row} for run, scores in self.items() for row in scores.rows()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain Python values: `runs` has the scores of each run."""
        from goldrank.data.saved_scores import FORMAT_BY_RUN, VERSION

        saved = [
            scores.renamed(system).to_dict()
            for system, runs in self.systems.items()
            for scores in map(self._scores.__getitem__, runs)
        ]
        return {"format": FORMAT_BY_RUN, "version": VERSION, "runs": saved}

    def to_json(self) -> str:
        """The scores as JSON, which `ScoresByRun.load` reads back; NaN becomes null."""
        import json

        return json.dumps(without_nan(self.to_dict()), ensure_ascii=True)

    @classmethod
    def load(cls, *paths: str | PathLike[str]) -> ScoresByRun:
        """Read one or several files that `save` wrote, of one run or of several."""
        if not paths:
            raise InputError("there are no files to load", hint="ScoresByRun.load('a.json', 'b.json').")
        loaded = [cls._loaded(path) for path in paths]
        if len(loaded) == 1:
            return cls([(scores.run, scores) for scores in loaded[0]])
        return cls([scores for of_file in loaded for scores in of_file])

    @staticmethod
    def _loaded(path: str | PathLike[str]) -> list[Scores]:
        from goldrank.data.saved_scores import FORMAT_BY_RUN

        data = read_json(path)
        if not isinstance(data, Mapping) or data.get("format") != FORMAT_BY_RUN:
            return [Scores.from_dict(data, str(path))]

        runs = data.get("runs")
        if not isinstance(runs, list) or not runs:
            problem = f"its runs are {shown(runs)}, not a list of some"
            raise InputError(problem, where=str(path), hint="Was it edited by hand?")
        return [Scores.from_dict(scores, str(path)) for scores in runs]

    def to_arrow(self) -> pyarrow.Table:
        """One row per run and query, one column per measure."""
        return self.to_polars().to_arrow()

    def __repr__(self) -> str:
        return f"ScoresByRun({', '.join(map(repr, self))})"


def format_value(value: float, average: str = "mean") -> str:
    """The text of a value in reports: four decimals, counts as whole numbers."""
    if math.isnan(value):
        return "nan"
    if average == "sum" and value == int(value):
        return f"{value:,.0f}"
    return f"{value:.4f}"


def _standard_deviation(column: Column) -> float:
    if len(column.counted) < 2:
        return math.nan
    return float(np.std(column.counted, ddof=1))
