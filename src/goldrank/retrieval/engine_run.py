"""`run_engine`: ask a search engine every query, and keep its answers."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, RetrievalError, file_name, of_type, whole_number
from goldrank.base.escaping import log_line, shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import Path, QueriesLike
from goldrank.base.waiting import EventLoop
from goldrank.base.writing import write_whole
from goldrank.data.queries import Queries
from goldrank.data.run import Rankings, Run
from goldrank.data.showing import Result
from goldrank.data.table import Part, count
from goldrank.io.by_id.query_files import read_queries
from goldrank.retrieval.asking import EngineJob, ask_all
from goldrank.retrieval.engine_file import EngineLimits, SearchEngine
from goldrank.retrieval.journal import Journal
from goldrank.retrieval.templates import EngineQuery

USUAL_K = 10
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EngineAnswer:
    """What an engine did with one query.

    Attributes
    ----------
    query : str
        The query's id.
    documents : tuple of str
        Ids, best first; none where it found nothing or failed.
    failure : str
        Why there is no answer, such as "timeout"; empty where there is one.
    latency_ms : float or None
        From the first byte of the request to the last of the answer.
    """

    query: str
    documents: tuple[str, ...]
    failure: str = ""
    what: str = ""
    """The failure in words."""
    latency_ms: float | None = None
    took_ms: float | None = None
    """How long the answer took, as the engine reports it."""
    is_partial: bool = False
    """Whether the engine says that not all of it answered."""
    attempts: int = 1


@dataclass(frozen=True, repr=False, eq=False)
class EngineRun(Result, Mapping[str, EngineAnswer]):
    """What an engine answered, query by query: `result["q1"]`; `result.run` is the run that is measured.

    A query that failed is not in the run. One for which nothing was found is in it, with no documents.
    """

    name: str
    k: int
    concurrency: int
    records: tuple[Mapping[str, Any], ...]
    """The record of each query, in the order of the queries."""

    @cached_property
    def _answers(self) -> dict[str, EngineAnswer]:
        return {record["id"]: _answer(record) for record in self.records}

    def parts(self) -> list[Part]:
        """Tables and sentences, as data."""
        from goldrank.retrieval import run_report

        return run_report.parts(self)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Always empty: `parts` has all remarks as sentences."""
        return ()

    def __getitem__(self, query: str) -> EngineAnswer:
        return self._answers[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def __repr__(self) -> str:
        return f"EngineRun({self.name!r}, {count(len(self), 'query')}, {len(self.failures):,} failed)"

    @cached_property
    def run(self) -> Run:
        """The rankings, without the queries that failed."""
        rankings: dict[str, dict[str, float]] = {}
        for record in self.records:
            if "error" not in record:
                rankings[record["id"]] = {entry["id"]: float(entry["score"]) for entry in record["retrieved"]}
        has_scores = not any(record.get("scores") == "ranks" for record in self.records)
        return Run(Rankings(rankings), name=self.name).with_facts(has_scores=has_scores)

    @property
    def failures(self) -> dict[str, str]:
        """By query, why it has no answer."""
        return {query: answer.failure for query, answer in self._answers.items() if answer.failure}

    @property
    def empty(self) -> tuple[str, ...]:
        """The queries for which the engine found nothing."""
        answers = self._answers.items()
        return tuple(query for query, answer in answers if not answer.failure and not answer.documents)

    @property
    def partial(self) -> tuple[str, ...]:
        """The queries that only a part of the engine answered."""
        return tuple(query for query, answer in self._answers.items() if answer.is_partial)

    @property
    def latency_ms(self) -> dict[str, float]:
        """By query that was answered, how long that took."""
        answers = self._answers.items()
        return {query: answer.latency_ms for query, answer in answers if answer.latency_ms is not None}

    def percentile(self, share: float) -> float:
        """The latency in milliseconds that this share of the answered queries does not exceed, by nearest rank.

        Parameters
        ----------
        share : float
            Above 0 and up to 1, for example 0.95.

        Returns
        -------
        float
            NaN if nothing was answered.

        Raises
        ------
        OptionError
            If `share` is out of its range.
        """
        if not isinstance(share, int | float) or not 0 < share <= 1:
            raise OptionError(f"share is {shown(share, 40)}; it must be above 0 and up to 1", code="bad-number")
        times = sorted(self.latency_ms.values())
        if not times:
            return math.nan
        return times[math.ceil(share * len(times) - 1e-9) - 1]

    @property
    def words(self) -> str:
        """What happened, in a sentence."""
        answered = len(self) - len(self.failures)
        parts = [f"{self.name}: {answered:,} of {len(self):,} queries answered"]
        if self.empty:
            parts.append(f"{len(self.empty):,} without results")
        if self.partial:
            parts.append(f"{len(self.partial):,} only in part")
        if self.failures:
            counted = Counter(self.failures.values()).most_common()
            listed = ", ".join(f"{code} {times:,}" for code, times in counted)
            parts.append(f"{len(self.failures):,} failed ({listed})")
        return ", ".join(parts)

    def rows(self) -> list[dict[str, Any]]:
        """One row a query."""
        return [
            {
                "query": answer.query,
                "results": len(answer.documents),
                "failure": answer.failure or None,
                "latency_ms": answer.latency_ms,
                "took_ms": answer.took_ms,
                "partial": answer.is_partial,
                "attempts": answer.attempts,
            }
            for answer in self._answers.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        shares = percentiles(len(self.latency_ms))
        return {
            "name": self.name,
            "k": self.k,
            "concurrency": self.concurrency,
            "queries": len(self),
            "failures": dict(Counter(self.failures.values())),
            "empty": len(self.empty),
            "partial": len(self.partial),
            "latency_ms": {f"p{share}": self.percentile(share / 100) for share in shares},
            "records": list(map(dict, self.records)),
        }

    def save_records(self, path: Path) -> None:
        """Write one record a query as JSON Lines: results, latency, and failures.

        Parameters
        ----------
        path : str or path
            The file. An older one is replaced.
        """
        lines = (json.dumps(record, ensure_ascii=True).encode() + b"\n" for record in self.records)
        write_whole(path, b"".join(lines))


def percentiles(count: int) -> tuple[int, ...]:
    """The percentiles that `count` values are enough for."""
    if count >= 100:
        return (50, 95, 99)
    return (50, 95)


def _answer(record: Mapping[str, Any]) -> EngineAnswer:
    error = record.get("error", {})
    return EngineAnswer(
        query=record["id"],
        documents=tuple(entry["id"] for entry in record.get("retrieved", ())),
        failure=error.get("code", ""),
        what=error.get("what", ""),
        latency_ms=record.get("latency_ms"),
        took_ms=record.get("took_ms"),
        is_partial=bool(record.get("partial")),
        attempts=record.get("attempts", 1),
    )


@named_arguments
def run_engine(
    queries: QueriesLike,
    engine: SearchEngine | Path | Mapping[str, Any],
    *,
    k: int | None = None,
    limits: EngineLimits | None = None,
    output: Path | None = None,
    allow_commands: bool = False,
    restart: bool = False,
    progress: Progress | None = None,
) -> EngineRun:
    """Ask a search engine every query, and keep its rankings, how long each took, and what failed.

    Parameters
    ----------
    queries : queries
        `Queries`, a file, a data frame or a mapping; columns are fields for the engine file.
    engine : SearchEngine, path or mapping
        An engine file, or what one says.
    k : int, optional
        How many results are kept; by default what the file says, else 10.
    limits : EngineLimits, optional
        How many queries at a time, how long, how often; by default what the file says.
    output : str or path, optional
        Where to write the run. Records with latencies and failures are written beside it, with `.jsonl` after its name.
        Answers are kept in a file with `.part` after its name, so that nothing is lost when the program is stopped.
    allow_commands : bool
        Whether the engine file may name a program or a function, which are then run.
    restart : bool
        Forget what was answered before.
    progress : function, optional
        Called after each query with the number of queries that are done and of all.

    Returns
    -------
    EngineRun
        `.run` is the run, `.failures` say which queries failed and why, `.latency_ms` how long each took.

    Raises
    ------
    InputError
        If there are no queries, or the engine file cannot be read.
    OptionError
        If an option cannot be used, or a secret is not in the environment.
    RetrievalError
        If the first five queries fail for one reason, or all do.

    Examples
    --------
    >>> engine = {"kind": "python", "function": "itertools:repeat"}
    >>> run_engine({"q1": "rust"}, engine, k=2, allow_commands=True).run.ranking("q1")
    ['rust']
    """
    (result,) = run_engines(
        queries,
        [engine],
        k=k,
        limits=limits,
        outputs=[output],
        allow_commands=allow_commands,
        restart=restart,
        progress=progress,
    )
    return result


def run_engines(
    queries: QueriesLike,
    engines: Sequence[SearchEngine | Path | Mapping[str, Any]],
    *,
    k: int | None,
    limits: EngineLimits | None,
    outputs: Sequence[Path | None],
    allow_commands: bool,
    restart: bool,
    progress: Progress | None,
) -> list[EngineRun]:
    """Ask engines in turns, query by query, so that the load is equal for all."""
    if k is not None:
        whole_number(k, "k", 1)
    if limits is not None:
        of_type(limits, EngineLimits, "limits", "EngineLimits", hint="For example limits=EngineLimits(concurrency=1).")
    if progress is not None and not callable(progress):
        raise OptionError(f"progress is {shown(progress, 40)}, not a function", code="wrong-type")

    search_engines = [_engine(engine) for engine in engines]
    known = read_queries(queries)
    if not len(known):
        raise InputError("no queries", where=known.name, code="empty-input")
    for engine in search_engines:
        _check_programs(engine, allow_commands)

    with ExitStack() as opened:
        jobs = [
            _job(engine, known, k, limits, output, restart, opened)
            for engine, output in zip(search_engines, outputs, strict=True)
        ]
        _ask(jobs, progress)
        return [_finished(job, output, len(jobs)) for job, output in zip(jobs, outputs, strict=True)]


def _engine(source: SearchEngine | Path | Mapping[str, Any]) -> SearchEngine:
    if isinstance(source, SearchEngine):
        return source
    if isinstance(source, Mapping):
        return SearchEngine.from_table(source)
    return SearchEngine.load(source)


def _check_programs(engine: SearchEngine, allow_commands: bool) -> None:
    of_type(allow_commands, bool, "allow_commands", "True or False")
    if engine.runs_programs and not allow_commands:
        program = " ".join(engine.argv) or engine.function
        message = f"the engine file {ids.show(engine.name)} runs a program: {ids.show(program, 100)}"
        raise OptionError(
            message, hint="If that is meant: --allow-commands (allow_commands=True).", code="runs-programs"
        )


def _job(
    engine: SearchEngine,
    queries: Queries,
    k: int | None,
    limits: EngineLimits | None,
    output: Path | None,
    restart: bool,
    opened: ExitStack,
) -> EngineJob:
    if limits is not None:
        engine = replace(engine, limits=limits)
    depth = k or engine.k or USUAL_K
    questions = _questions(queries, engine, depth)
    journal_path = None
    if output is not None:
        journal_path = f"{file_name(output)}.part"

    journal = opened.enter_context(Journal(journal_path, _key(engine, questions), restart=restart))
    return EngineJob(engine, questions, journal)


def _questions(queries: Queries, engine: SearchEngine, k: int) -> list[EngineQuery]:
    """The queries as an engine is asked them; each has the fields that the file needs."""
    required = engine.required_fields
    questions = []
    for query, fields in queries.fields.items():
        text = fields.get("text", "")
        extra_fields = {name: value for name, value in fields.items() if name != "text"}
        missing = sorted(required - extra_fields.keys())
        if missing:
            message = (
                f"query '{ids.show(query)}' has no {missing[0]}, which the engine file {ids.show(engine.name)} names"
            )
            raise InputError(
                message, where=queries.name, hint="Fields are columns of the queries.", code="missing-field"
            )
        if not text.strip() and "vector" not in extra_fields:
            raise InputError(f"query '{ids.show(query)}' has no text", where=queries.name, code="missing-field")
        questions.append(EngineQuery(query, text, k, extra_fields))

    return questions


def _key(engine: SearchEngine, questions: Sequence[EngineQuery]) -> str:
    """A hash of the engine and its questions."""
    digest = hashlib.sha256(engine.digest.encode())
    for question in questions:
        digest.update(json.dumps(question.values, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


def _ask(jobs: Sequence[EngineJob], progress: Progress | None) -> None:
    loop = EventLoop()
    try:
        loop.result(ask_all(jobs, progress or _silent), None)
    finally:
        loop.close()


def _silent(done: int, total: int) -> None:
    """Report nothing."""


def _finished(job: EngineJob, output: Path | None, engines: int) -> EngineRun:
    """The result, written where it was asked for; the journal stays while there are failures to ask again."""
    depth = job.questions[0].k
    records = tuple(job.journal.records[question.id] for question in job.questions)
    concurrency = 1
    if engines == 1:
        concurrency = job.engine.limits.concurrency

    result = EngineRun(job.engine.name, depth, concurrency, records)
    if len(result.failures) == len(result):
        first = result[next(iter(result))]
        message = f"{result.name}: every query failed; the first with {first.failure}: {first.what}"
        raise RetrievalError(message, hint="Try the engine file on one query.", code=first.failure)

    if output is not None:
        name = file_name(output)
        result.save_records(f"{name}.jsonl")
        result.run.save(name)
        if not result.failures:
            job.journal.remove()
    return result


class ProgressLines:
    """Writes to standard error how many queries were asked: one line that changes on a terminal, else ten lines."""

    def __init__(self) -> None:
        self._tenth = -1

    def __call__(self, done: int, total: int) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        tenth = 10 * done // total
        if is_terminal:
            sys.stderr.write(f"\r{done:,} of {total:,} queries asked")
            if done == total:
                sys.stderr.write("\n")
            sys.stderr.flush()
        elif sys.stderr is not None and tenth != self._tenth:
            sys.stderr.write(log_line(f"{done:,} of {total:,} queries asked") + "\n")
        self._tenth = tenth
