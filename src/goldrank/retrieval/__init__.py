"""Ask a retriever every question: several at a time, again after a failure, with the time that each took."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, overload

from goldrank import ids
from goldrank.data.run import Run
from goldrank.data.texts import Reference, TextItem
from goldrank.errors import GoldrankError, InputError, OptionError, RetrievalError, one_of
from goldrank.io import objects
from goldrank.io.fields import Fields
from goldrank.io.items import FAILED
from goldrank.io.json import step
from goldrank.io.passages import absent, passage
from goldrank.io.records import as_mapping, open_records

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Seconds before the second attempt, doubled before each further one, up to the longest."""

_IN_VAIN = (TypeError, AttributeError, NameError, ImportError, NotImplementedError, SyntaxError, GoldrankError)
"""Errors that another attempt will not mend."""


class Failure(NamedTuple):
    """A question that could not be retrieved for."""

    query: str
    question: str
    type: str
    text: str
    attempts: int


class RetrievalInterrupted(KeyboardInterrupt):
    """Ctrl-C while retrieving. `retrieved` holds what was done; the rest is among its failures."""

    def __init__(self, retrieved: Retrieved) -> None:
        self.retrieved = retrieved
        done = len(retrieved) - len(retrieved.failures)
        super().__init__(f"interrupted after {done:,} of {len(retrieved):,} questions")


class Retrieved(Sequence[Mapping[str, Any]]):
    """What a retriever returned: one record per question, in the order of the questions.

    A record has `query`, `question`, `retrieved`, `latency` (seconds of the attempt that succeeded) and all that
    the question came with. It can be evaluated like any other items. A question that failed has
    `retrieval_error` in place of `retrieved`: evaluating refuses it unless told failures="skip" or "zero".
    """

    def __init__(self, records: Sequence[Mapping[str, Any]], name: str = "retrieved") -> None:
        self._records = list(records)
        self.name = name

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Retrieved: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Retrieved:
        return Retrieved(self._records[index], self.name) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The questions that failed, with the type and text of what was raised."""
        return tuple(
            Failure(record["query"], record["question"], error["type"], error["text"], error["attempts"])
            for record in self._records
            if (error := record.get(FAILED)) is not None
        )

    @property
    def latencies(self) -> tuple[float | None, ...]:
        """Seconds that each question took; None where it failed."""
        return tuple(record.get("latency") for record in self._records)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of it, in words."""
        failures = self.failures
        if not failures:
            return ()
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in Counter(one.type for one in failures).most_common())
        return (f"questions that failed: {len(failures):,} of {len(self):,} ({kinds})",)

    def __repr__(self) -> str:
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return f"<Retrieved {self.name!r}: {len(self):,} question{'' if len(self) == 1 else 's'}{failed}>"

    def run(self, *, failures: str = "error", duplicates: str = "error") -> Run:
        """The ids that were retrieved, as a run. Scores are the retriever's if they descend, else by rank."""
        one_of(failures, ("error", "skip", "zero"), "failures")
        if failures == "error" and self.failures:
            first = self.failures[0]
            raise InputError(
                f"{self.notes[0]}; first '{ids.show(first.query)}': {first.type}: {ids.show(first.text, 200)}",
                where=self.name,
                hint="Say failures='skip' to leave such questions out, or 'zero' if they count as not found.",
            )
        kept = [record for record in self._records if FAILED not in record or failures == "zero"]
        rows: list[tuple[str, str, float]] = []
        for record in kept:
            found = [passage(one, f"{self.name}: query '{ids.show(record['query'])}'") for one in record["retrieved"]]
            bare = next((rank for rank, one in enumerate(found, 1) if one.id is None), None)
            if bare is not None:
                raise InputError(
                    f"result {bare} of query '{ids.show(record['query'])}' has no id",
                    where=self.name,
                    hint="Evaluate the texts, or have the retriever return ids: retrieve(..., strings='ids').",
                )
            scores = [one.score for one in found if one.score is not None]
            if len(scores) < len(found) or any(not a > b for a, b in pairwise(scores)):
                scores = [-float(rank) for rank in range(1, len(found) + 1)]
            rows += [(record["query"], str(one.id), score) for one, score in zip(found, scores, strict=True)]
        return objects.run_from_rows(rows, self.name, duplicates, [record["query"] for record in kept])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the records as JSON Lines, which can be evaluated like these."""
        target = Path(path)
        part = target.with_name(target.name + ".part")
        try:
            with open(part, "wb") as file:
                for record in self._records:
                    file.write(_line(record))
            os.replace(part, target)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", where=str(target)) from None
        finally:
            part.unlink(missing_ok=True)


def retrieve(
    retriever: Any,
    questions: Any,
    *,
    k: int | None = None,
    fields: Mapping[str, str | None] | None = None,
    strings: str = "texts",
    concurrency: int = 8,
    retries: int = 2,
    timeout: float | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    name: str | None = None,
) -> Retrieved:
    """Ask a retriever every question and keep what it returns, how long it took, and what failed.

    The retriever is a function (also an async one) from a question to a list of texts, documents or ids, or an
    object with LangChain's `invoke`, LlamaIndex's `retrieve` or Haystack's `run(query=...)`. Questions are strings,
    or anything that items are read from; what they come with, such as references, is kept. `strings` says what a
    string in a result is: one of the "texts" or of the "ids".

    `concurrency` questions are asked at a time. After a failure a question is asked again, `retries` times, with
    pauses of 0.5, 1, 2, ... seconds; errors of programming (TypeError and the like) are not retried. `timeout` is
    in seconds per attempt; a function that is not async goes on in the background when it is over. A question
    that fails for good does not stop the others; if all fail, that is an error. On Ctrl-C what was done is in the
    `retrieved` of the exception. `progress` is True, False, a function of (done, total), or None: on a terminal.

    >>> found = retrieve(lambda question: ["a man", "a plan"], ["who?"], progress=False)
    >>> found[0]["query"], found[0]["retrieved"]
    ('1', ['a man', 'a plan'])
    """
    _check(k, concurrency, retries, timeout)
    one_of(strings, ("texts", "ids"), "strings")
    call, default_name = _caller(retriever, k)
    asked = list(_questions(questions, Fields(fields)))
    if not asked:
        raise InputError("no questions", where=getattr(questions, "name", "questions"))
    work = _Work(call, asked, k, strings, retries, timeout, sleep)
    with _shown(progress, len(asked)) as tell:
        outcome = work.run(min(concurrency, len(asked)), tell)
    found = Retrieved([_record(one, outcome.get(i)) for i, one in enumerate(asked)], name or default_name)
    if work.interrupted is not None:
        raise RetrievalInterrupted(found) from work.interrupted
    failures = found.failures
    if len(failures) == len(found):
        first = failures[0]
        error = RetrievalError(
            f"retrieving failed for every question ({len(found):,}); the first, '{ids.show(first.query)}', "
            f"with {first.type}: {ids.show(first.text, 300)}",
            hint="Try the retriever on one question by itself.",
        )
        error.retrieved = found
        raise error from work.first_error
    return found


# Questions.


@dataclass
class _Question:
    query: str
    text: str
    others: dict[str, Any]


def _questions(given: Any, fields: Fields) -> Iterator[_Question]:
    """Questions with their ids and all that they came with, but for what was retrieved before."""
    if isinstance(given, str) and not os.path.exists(given) and (" " in given or given.endswith("?")):
        raise InputError(f"'{ids.show(given)}' is one question", hint="Give a list of questions, or a path.")
    if isinstance(given, Iterator):
        given = list(given)
    if isinstance(given, list | tuple) and not given:
        return
    records = open_records(given, fields)
    seen: dict[str, str] = {}
    for number, record in records.rows(Counter()):
        where = records.place(number)
        made = _question(record, where, fields, len(seen) + 1)
        if made.query in seen:
            raise InputError(
                f"query id '{ids.show(made.query)}' is there twice, first at {seen[made.query]}", where=where
            )
        seen[made.query] = where
        yield made


def _question(record: Any, where: str, fields: Fields, number: int) -> _Question:
    if isinstance(record, str):
        return _asked(str(number), record, {}, where)
    if isinstance(record, TextItem):
        kept = {"references": [_plain(one) for one in record.references], "evidence": _evidence(record)}
        return _asked(record.query, record.question, {key: value for key, value in kept.items() if value}, where)
    whole = as_mapping(record, where)
    found = fields.find(whole, where)
    if "question" not in found or absent(found["question"].value):
        raise fields.missing("question", whole, where)
    query = found.get("query")
    others: dict[str, Any] = {
        role: found[role].value for role in ("references", "evidence", "sources") if role in found
    }
    if "sources" in others and not isinstance(others["sources"], Mapping):
        del others["sources"]  # they belong to the texts that were retrieved before
    used = {one.path for one in found.values()}
    others |= {
        key: value
        for key, value in whole.items()
        if isinstance(key, str)
        and "$" + step(key) not in used
        and key not in ("retrieved", "query", "question", "latency", FAILED)
    }
    known = query is not None and not absent(query.value)
    return _asked(
        ids.as_text(query.value, "query id") if known and query is not None else str(number),
        found["question"].value,
        others,
        where,
    )


def _asked(query: str, text: Any, others: dict[str, Any], where: str) -> _Question:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the question is {text!r:.60}, not text", where=where)
    return _Question(query, text, others)


def _plain(reference: Reference) -> dict[str, Any]:
    return {"any_of": list(reference.texts), "grade": reference.grade}


def _evidence(item: TextItem) -> list[Any]:
    return [
        {"any_of": [{"all_of": [span._asdict() for span in spans]} for spans in one.alternatives]}
        for one in item.evidence
    ]


# The retriever.


def _caller(retriever: Any, k: int | None) -> tuple[Callable[[str], Any], str]:
    """How to ask, and what to call the answers."""
    owner = retriever.__self__ if inspect.ismethod(retriever) else retriever
    name = getattr(owner, "__name__", None) or type(owner).__name__
    name = name if name.isidentifier() else "retrieved"
    for method in ("invoke", "retrieve", "ainvoke", "aretrieve"):
        asks = getattr(retriever, method, None)
        if callable(asks) and not inspect.isclass(retriever):
            return asks, name
    run = getattr(retriever, "run", None)
    if callable(run) and not inspect.isclass(retriever):
        return _haystack(run, name, k), name
    if callable(retriever) and not inspect.isclass(retriever):
        return retriever, name
    raise RetrievalError(
        f"a {name} cannot be asked",
        hint="A retriever is a function from a question to a list of texts, or has invoke, retrieve or run.",
    )


def _haystack(run: Callable[..., Any], name: str, k: int | None) -> Callable[[str], Any]:
    parameters = inspect.signature(run).parameters
    open_ended = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    if parameters and "query" not in parameters and not open_ended:
        raise RetrievalError(
            f"{name}.run takes {', '.join(parameters)}, not query",
            hint="Wrap it in a function, for example: "
            "lambda question: retriever.run(query_embedding=embed(question))['documents'].",
        )
    takes_k = k is not None and ("top_k" in parameters or open_ended)
    return (lambda question: run(query=question, top_k=k)) if takes_k else (lambda question: run(query=question))


class _Loop:
    """An event loop in a thread of its own, so that it works where another is running; started when needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def result(self, awaitable: Awaitable[Any], timeout: float | None) -> Any:
        async def wait() -> Any:
            return await asyncio.wait_for(awaitable, timeout)

        with self._lock:
            if self._closed:
                if inspect.iscoroutine(awaitable):
                    awaitable.close()
                raise RuntimeError("retrieving was stopped")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="goldrank-loop", daemon=True)
                self._thread.start()
            waiting = asyncio.run_coroutine_threadsafe(wait(), self._loop)
        return waiting.result()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._loop is None or self._thread is None:
                return
            loop, self._loop = self._loop, None

        async def end() -> None:
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await loop.shutdown_asyncgens()

        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()


@dataclass
class _Answer:
    retrieved: list[Any] | None
    seconds: float | None
    error: BaseException | None
    attempts: int


class _Work:
    """Questions shared out among threads."""

    def __init__(
        self,
        call: Callable[[str], Any],
        asked: Sequence[_Question],
        k: int | None,
        strings: str,
        retries: int,
        timeout: float | None,
        sleep: Callable[[float], None],
    ) -> None:
        self._call = call
        self._asked = asked
        self._k = k
        self._strings = strings
        self._retries = retries
        self._timeout = timeout
        self._sleep = sleep
        self._loop = _Loop()
        self._stop = threading.Event()
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[int, _Answer]] = queue.SimpleQueue()
        self.interrupted: BaseException | None = None
        self.first_error: BaseException | None = None

    def run(self, concurrency: int, tell: Callable[[int, int], None]) -> dict[int, _Answer]:
        """Every answer by the question's position; fewer if interrupted."""
        for i in range(len(self._asked)):
            self._waiting.put(i)
        # Daemons: a call that never ends does not keep the interpreter from ending.
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(concurrency)]
        found: dict[int, _Answer] = {}
        try:
            for worker in workers:
                worker.start()
            while len(found) < len(self._asked):
                try:
                    i, answer = self._answers.get(timeout=0.5)  # where waiting for ever cannot be interrupted
                except queue.Empty:
                    continue
                if answer.error is not None and not isinstance(answer.error, Exception):
                    raise answer.error
                found[i] = answer
                tell(len(found), len(self._asked))
        except KeyboardInterrupt as error:
            self.interrupted = error
        finally:
            self._stop.set()
            self._loop.close()
            while not self._answers.empty():  # what was finished meanwhile
                i, answer = self._answers.get()
                if answer.error is None:
                    found[i] = answer
        first = min((i for i, answer in found.items() if answer.error is not None), default=None)
        self.first_error = None if first is None else found[first].error
        return found

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                i = self._waiting.get_nowait()
            except queue.Empty:
                return
            self._answers.put((i, self._answer(self._asked[i].text)))

    def _answer(self, question: str) -> _Answer:
        for attempt in range(1, self._retries + 2):
            begin = time.perf_counter()
            try:
                raw = self._once(question)
                seconds = time.perf_counter() - begin
                return _Answer(_results(raw, self._k, self._strings), seconds, None, attempt)
            except Exception as error:
                last = error
                if isinstance(error, _IN_VAIN) or attempt > self._retries or self._stop.is_set():
                    break
                self._sleep(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))
            except BaseException as error:
                return _Answer(None, None, error, attempt)
        return _Answer(None, None, last, attempt)

    def _once(self, question: str) -> Any:
        if self._timeout is None or inspect.iscoroutinefunction(self._call):
            raw = self._call(question)
        else:
            raw = self._in_time(question, self._timeout)
        if inspect.isawaitable(raw):
            try:
                return self._loop.result(raw, self._timeout)
            except TimeoutError:
                raise TimeoutError(f"no answer within {self._timeout:g} s" if self._timeout else "timed out") from None
        return raw

    def _in_time(self, question: str, timeout: float) -> Any:
        """A call that is given up, though not ended, after some seconds."""
        answer: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answer.put((self._call(question), None))
            except BaseException as error:
                answer.put((None, error))

        threading.Thread(target=ask, daemon=True).start()
        try:
            raw, error = answer.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no answer within {timeout:g} s") from None
        if error is not None:
            raise error
        return raw


# Results.


def _results(raw: Any, k: int | None, strings: str) -> list[Any]:
    """What a retriever returned, as a list of texts and plain objects."""
    if isinstance(raw, Mapping):
        named = [key for key in ("documents", "retrieved", "nodes", "source_nodes") if key in raw]
        if len(named) != 1:
            raise InputError(
                f"the retriever returned an object with {', '.join(map(str, raw)) or 'nothing'}",
                hint="Return a list of texts or documents.",
            )
        raw = raw[named[0]]
    elif hasattr(raw, "source_nodes"):  # LlamaIndex's query engines
        raw = raw.source_nodes
    if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
        raise InputError(
            f"the retriever returned {raw!r:.60} (of type {type(raw).__name__}), not a list",
            hint="Return a list of texts, documents or ids, best first.",
        )
    found = []
    for rank, one in enumerate(raw, 1):
        if k is not None and rank > k:
            break
        found.append(_simple(one, f"result {rank}", strings))
    return found


def _simple(one: Any, at: str, strings: str) -> Any:
    """A result as text alone, if there is no more to it, or as a plain object."""
    if isinstance(one, str) and strings == "texts":
        return one
    score = None
    inner = one
    if isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[1], int | float):
        inner, score = one[0], float(one[1])
    is_id = isinstance(inner, str) if strings == "ids" else False
    if is_id or (isinstance(inner, int) and not isinstance(inner, bool)):
        return _without_none(id=ids.as_text(inner, "document id"), score=score)
    made = passage(one, at)
    if made.text is None and made.id is None:
        raise InputError(f"is {one!r:.60}, without a text and without an id", where=at)
    span = made.span
    plain = _without_none(text=made.text, id=made.id, source=made.source, score=made.score)
    return plain | ({"start": span.start, "end": span.end} if span else {})


def _without_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _record(asked: _Question, answer: _Answer | None) -> dict[str, Any]:
    record: dict[str, Any] = {"query": asked.query, "question": asked.text}
    if answer is None:
        error = {"type": "NotAsked", "text": "interrupted before it was answered", "attempts": 0}
        return record | {"retrieved": [], FAILED: error} | asked.others
    if answer.error is not None:
        error = {"type": type(answer.error).__name__, "text": str(answer.error), "attempts": answer.attempts}
        return record | {"retrieved": [], FAILED: error} | asked.others
    return record | {"retrieved": answer.retrieved, "latency": answer.seconds} | asked.others


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, default=_as_json)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can say only by its number
        return json.dumps(record, default=_as_json).encode() + b"\n"


def _as_json(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else dict(value) if isinstance(value, Mapping) else str(value)


# Options and progress.


def _check(k: Any, concurrency: Any, retries: Any, timeout: Any) -> None:
    for what, value, lowest in (("k", k, 1), ("concurrency", concurrency, 1), ("retries", retries, 0)):
        if what == "k" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise OptionError(f"{what} is {value!r}; it must be a whole number of at least {lowest}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise OptionError(f"timeout is {timeout!r}; it must be a number of seconds above 0")


@contextmanager
def _shown(progress: bool | Callable[[int, int], None] | None, total: int) -> Iterator[Callable[[int, int], None]]:
    """What to tell how far things are: a bar on a terminal, somebody's function, or nothing."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("retrieving"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, total: bar.update(task, completed=done)
