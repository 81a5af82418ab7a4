"""Ask a retriever of any framework questions, in several threads; a question is asked again after a failure."""

from __future__ import annotations

import inspect
import os
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from goldrank.base import ids
from goldrank.base.errors import GoldrankError, InputError, OptionError, RetrievalError, one_of, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.packages import installed, needed
from goldrank.base.waiting import EventLoop
from goldrank.data.text_item import TextItem
from goldrank.io.json.json_text import step
from goldrank.io.objects.field_values import absent
from goldrank.io.objects.mappings import refuse_unordered
from goldrank.io.questions.item_reader import FAILED, expected
from goldrank.io.questions.items import Items, ItemsLike, reader_of
from goldrank.io.questions.text_values import retrieved_text
from goldrank.io.records import ItemFields, as_mapping, open_records

Strings: TypeAlias = Literal["texts", "ids"]
"""What a string in a result is."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Seconds before the second attempt, doubled before each further one, up to the longest."""

_KEPT_ROLES = ("references", "evidence", "sources", "expected_ids", "reference", "answerable", "no_answer")
"""Known fields of a question that are kept under goldrank's names; unknown fields are kept as they are."""
_PERMANENT = (TypeError, AttributeError, NameError, ImportError, NotImplementedError, SyntaxError, GoldrankError)
"""Errors that another attempt will not remove."""


class RetrievalInterrupted(KeyboardInterrupt):
    """Ctrl-C while retrieving. `items` holds every question; those without an answer are among its failures."""

    def __init__(self, items: Items) -> None:
        self.items = items
        done = len(items) - len(items.failures)
        super().__init__(f"interrupted after {done:,} of {len(items):,} questions")


@named_arguments
def run_retriever(
    retriever: Callable[..., Any] | object,
    questions: ItemsLike | Sequence[str],
    *,
    k: int | None = None,
    strings: Strings = "texts",
    concurrency: int = 8,
    retries: int = 2,
    timeout: float | None = None,
    progress: Callable[[int, int], None] | bool | None = None,
) -> Items:
    """Ask a retriever every question and keep what it returns, how long it took, and what failed.

    A question that fails for good does not stop the others, and is among the `failures` of the result. On Ctrl-C what
    was done is in the `items` of the exception.

    Parameters
    ----------
    retriever
        A function (also an async one) from a question to a list of texts, documents or ids, or an object with
        LangChain's `invoke`, LlamaIndex's `retrieve` or Haystack's `run(query=...)`.
    questions
        Strings, `Items`, or what `read_items` makes them of; what questions come with, such as references, is kept.
    k
        How many results are kept; None: all.
    strings
        What a string in a result is: one of the "texts" or of the "ids".
    concurrency
        How many questions are asked at a time.
    retries
        How often a question is asked again after a failure, with pauses of 0.5, 1, 2, ... seconds. Errors of
        programming (TypeError and the like) are not retried.
    timeout
        Seconds for each attempt; None: any number. A function that is not async goes on in the background when it is
        over.
    progress
        A function of (done, total), True or False; None: a bar on a terminal.

    Returns
    -------
    Items
        One item for each question, in their order, under the retriever's name. `evaluate_texts` refuses failures,
        unless `read_items(items, failures="skip")` leaves them out or "zero" counts them.

    Raises
    ------
    InputError
        If there are no questions, or one is not text.
    OptionError
        If an option is not one of its choices.
    RetrievalError
        If every question fails, or the retriever cannot be asked. Its `items` are what there is.

    Examples
    --------
    >>> found = run_retriever(lambda question: ["a man", "a plan"], [{"question": "who?", "references": ["a man"]}])
    >>> [(item.query, item.retrieved) for item in found]
    [('1', ('a man', 'a plan'))]
    """
    if k is not None:
        whole_number(k, "k", 1)
    whole_number(concurrency, "concurrency", 1)
    whole_number(retries, "retries", 0)
    if timeout is not None and not _is_time(timeout):
        raise OptionError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
    one_of(strings, get_args(Strings), "strings")

    call, name = _caller_of(retriever, k)
    asked_questions = list(_questions(questions))
    if not asked_questions:
        raise InputError("no questions", where=getattr(questions, "name", "questions"))

    runner = _Runner(call, asked_questions, k, strings, retries, timeout)
    with _progress(progress, len(asked_questions)) as tell:
        answers = runner.run(min(concurrency, len(asked_questions)), tell)

    items = Items([_record(question, answers.get(i)) for i, question in enumerate(asked_questions)], name=name)
    if runner.interrupted is not None:
        raise RetrievalInterrupted(items) from runner.interrupted
    if len(items.failures) == len(items):
        raise _all_failed(items, asked_questions, answers) from runner.first_error
    return items


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0


def _all_failed(items: Items, questions: Sequence[_AskedQuestion], answers: Mapping[int, _Answer]) -> RetrievalError:
    reason = type(answers[0].error).__name__ + f": {ids.show(str(answers[0].error), 300)}"
    message = (
        f"retrieving failed for every question ({len(questions):,}); the first, '{ids.show(questions[0].query)}', "
    )
    error = RetrievalError(f"{message}with {reason}", hint="Try the retriever on one question by itself.")
    error.items = items
    return error


def _pause(seconds: float) -> None:
    """Wait before the next attempt."""
    time.sleep(seconds)


class _AskedQuestion(NamedTuple):
    """A question, its id, and its other fields."""

    query: str
    text: str
    extra_fields: dict[str, Any]


def _questions(source: ItemsLike | Sequence[str]) -> Iterator[_AskedQuestion]:
    """Questions with their ids and other fields; results that were retrieved before are left out."""
    if isinstance(source, str) and not os.path.exists(source) and (" " in source or source.endswith("?")):
        raise InputError(f"'{ids.show(source)}' is one question", hint="Give a list of questions, or a path.")

    if isinstance(source, Items):
        reader = reader_of(source)
        fields, records = reader.fields, reader.records
    else:
        fields = ItemFields()
        records = open_records(source, fields)

    seen: dict[str, str] = {}
    for number, record in records.rows(Counter()):
        where = records.position(number)
        question = _question(record, where, fields, len(seen) + 1)
        if question.query in seen:
            shown, first = ids.show(question.query), seen[question.query]
            raise InputError(f"query id '{shown}' is duplicated, first at {first}", where=where)
        seen[question.query] = where
        yield question


def _question(record: Any, where: str, fields: ItemFields, number: int) -> _AskedQuestion:
    question = _AskedQuestion(str(number), record, {})
    if isinstance(record, TextItem):
        question = _AskedQuestion(record.query, record.question, expected(record))
    elif not isinstance(record, str):
        question = _of_record(as_mapping(record, where), where, fields, number)
    if not isinstance(question.text, str) or not question.text.strip():
        raise InputError(f"the question is {question.text!r:.60}, not text", where=where)
    return question


def _of_record(record: Mapping[str, Any], where: str, fields: ItemFields, number: int) -> _AskedQuestion:
    by_role = fields.find(record, where)
    if "question" not in by_role or absent(by_role["question"].value):
        raise fields.missing("question", record, where)

    extra_fields: dict[str, Any] = {role: by_role[role].value for role in _KEPT_ROLES if role in by_role}
    if "sources" in extra_fields and not isinstance(extra_fields["sources"], Mapping):
        del extra_fields["sources"]  # they belong to the texts that were retrieved before

    used = {field.path for field in by_role.values()}
    dropped = ("retrieved", "query", "question", "latency", FAILED)
    for key, value in record.items():
        if isinstance(key, str) and "$" + step(key) not in used and key not in dropped:
            extra_fields[key] = value

    query = str(number)
    if "query" in by_role and not absent(by_role["query"].value):
        query = ids.as_text(by_role["query"].value, "query id")

    return _AskedQuestion(query, by_role["question"].value, extra_fields)


@dataclass
class _Answer:
    attempts: int
    retrieved: list[Any] | None = None
    seconds: float | None = None
    error: BaseException | None = None


@dataclass
class _Runner:
    """Questions shared out among threads."""

    call: Callable[[str], Any]
    questions: Sequence[_AskedQuestion]
    k: int | None
    strings: Strings
    retries: int
    timeout: float | None
    interrupted: BaseException | None = None
    first_error: BaseException | None = None
    _loop: EventLoop = field(default_factory=EventLoop)
    _stop: threading.Event = field(default_factory=threading.Event)
    _waiting: queue.SimpleQueue[int] = field(default_factory=queue.SimpleQueue)
    _answers: queue.SimpleQueue[tuple[int, _Answer]] = field(default_factory=queue.SimpleQueue)

    def run(self, concurrency: int, tell: Callable[[int, int], None]) -> dict[int, _Answer]:
        """Every answer by the question's position; fewer if interrupted."""
        for i in range(len(self.questions)):
            self._waiting.put(i)

        answers: dict[int, _Answer] = {}
        try:
            for _ in range(concurrency):
                # Daemons: a call that never ends does not keep the interpreter from ending.
                threading.Thread(target=self._work, daemon=True).start()
            while len(answers) < len(self.questions):
                try:
                    i, answer = self._answers.get(timeout=0.5)  # where waiting for ever cannot be interrupted
                except queue.Empty:
                    continue
                if answer.error is not None and not isinstance(answer.error, Exception):
                    raise answer.error
                answers[i] = answer
                tell(len(answers), len(self.questions))
        except KeyboardInterrupt as error:
            self.interrupted = error
        finally:
            self._stop.set()
            self._loop.close()
            while not self._answers.empty():  # what was finished meanwhile
                i, answer = self._answers.get()
                if answer.error is None:
                    answers[i] = answer

        self.first_error = next((answers[i].error for i in sorted(answers) if answers[i].error is not None), None)
        return answers

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                i = self._waiting.get_nowait()
            except queue.Empty:
                return
            self._answers.put((i, self._answer(self.questions[i].text)))

    def _answer(self, question: str) -> _Answer:
        attempt = 0
        while True:
            attempt += 1
            begin = time.perf_counter()
            try:
                raw = self._call_once(question)
                seconds = time.perf_counter() - begin
                return _Answer(attempt, _plain_results(raw, self.k, self.strings), seconds)
            except BaseException as error:
                is_final = not isinstance(error, Exception) or isinstance(error, _PERMANENT)
                if is_final or attempt > self.retries or self._stop.is_set():
                    return _Answer(attempt, error=error)
            _pause(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))

    def _call_once(self, question: str) -> Any:
        if self.timeout is None or inspect.iscoroutinefunction(self.call):
            raw = self.call(question)
        else:
            raw = self._call_in_time(question, self.timeout)
        if inspect.isawaitable(raw):
            try:
                return self._loop.result(raw, self.timeout)
            except TimeoutError:
                message = "timed out"
                if self.timeout:
                    message = f"no answer within {self.timeout:g} s"
                raise TimeoutError(message) from None
        return raw

    def _call_in_time(self, question: str, timeout: float) -> Any:
        """A call that is given up, though not ended, after some seconds."""
        answer: Future[Any] = Future()

        def ask() -> None:
            try:
                answer.set_result(self.call(question))
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        if not wait([answer], timeout).done:
            raise TimeoutError(f"no answer within {timeout:g} s")
        return answer.result()


def _record(question: _AskedQuestion, answer: _Answer | None) -> dict[str, Any]:
    record: dict[str, Any] = {"query": question.query, "question": question.text}
    if answer is not None and answer.error is None:
        return record | {"retrieved": answer.retrieved, "latency": answer.seconds} | question.extra_fields
    error: dict[str, Any] = {"type": "NotAsked", "text": "interrupted before it was answered", "attempts": 0}
    if answer is not None:
        error = {"type": type(answer.error).__name__, "text": str(answer.error), "attempts": answer.attempts}
    return record | {"retrieved": [], FAILED: error} | question.extra_fields


@contextmanager
def _progress(progress: bool | Callable[[int, int], None] | None, total: int) -> Iterator[Callable[[int, int], None]]:
    """The function that is called after each question: the user's, a bar on a terminal, or one that does nothing."""
    if callable(progress):
        yield progress
        return

    if progress is None:
        progress = sys.stderr.isatty() and installed("rich")
    if progress is False:
        yield lambda done, total: None
        return

    with needed("rich"):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("retrieving"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, total: bar.update(task, completed=done)


# How to call a retriever of any framework, and what it returned as plain objects.


def _caller_of(retriever: Any, k: int | None) -> tuple[Callable[[str], Any], str]:
    """The function that asks the retriever, and the name of the result."""
    owner = retriever
    if inspect.ismethod(retriever):
        owner = retriever.__self__

    name = getattr(owner, "__name__", None) or type(owner).__name__
    if not name.isidentifier():
        name = "retrieved"

    if not inspect.isclass(retriever):
        for method_name in ("invoke", "retrieve", "ainvoke", "aretrieve"):
            method = getattr(retriever, method_name, None)
            if callable(method):
                return method, name
        run = getattr(retriever, "run", None)
        if callable(run):
            return _haystack(run, name, k), name
        if callable(retriever):
            return retriever, name

    hint = "A retriever is a function from a question to a list of texts, or has invoke, retrieve or run."
    raise RetrievalError(f"a {name} cannot be asked", hint=hint)


def _haystack(run: Callable[..., Any], name: str, k: int | None) -> Callable[[str], Any]:
    parameters = inspect.signature(run).parameters
    open_ended = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    if parameters and "query" not in parameters and not open_ended:
        hint = "Wrap it in a function, for example: "
        hint += "lambda question: retriever.run(query_embedding=embed(question))['documents']."
        raise RetrievalError(f"{name}.run takes {', '.join(parameters)}, not query", hint=hint)

    more = {}
    if k is not None and ("top_k" in parameters or open_ended):
        more = {"top_k": k}
    return lambda question: run(query=question, **more)


def _plain_results(raw: Any, k: int | None, strings: str) -> list[Any]:
    """What a retriever returned, as a list of texts and plain objects."""
    if isinstance(raw, Mapping):
        named = [key for key in ("documents", "retrieved", "nodes", "source_nodes") if key in raw]
        if len(named) != 1:
            message = f"the retriever returned an object with {', '.join(map(str, raw)) or 'nothing'}"
            raise InputError(message, hint="Return a list of texts or documents.")
        raw = raw[named[0]]
    elif hasattr(raw, "source_nodes"):  # LlamaIndex's query engines
        raw = raw.source_nodes

    if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
        hint = "Return a list of texts, documents or ids, best first."
        raise InputError(f"the retriever returned {raw!r:.60} (of type {type(raw).__name__}), not a list", hint=hint)

    refuse_unordered(raw, "what the retriever returned")
    return [_plain(result, f"result {rank}", strings) for rank, result in enumerate(islice(raw, k), 1)]


def _plain(result: Any, where: str, strings: str) -> Any:
    """A result as text alone, if there is no more to it, or as a plain object."""
    if isinstance(result, str) and strings == "texts":
        return result

    score = None
    inner = result
    if isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[1], int | float):
        inner, score = result[0], float(result[1])

    is_text_id = isinstance(inner, str) and strings == "ids"
    is_number_id = isinstance(inner, int) and not isinstance(inner, bool)
    if is_text_id or is_number_id:
        return _without_none(id=ids.as_text(inner, "document id"), score=score)

    text = retrieved_text(result, where)
    if text.text is None and text.id is None:
        raise InputError(f"is {result!r:.60}, without a text and without an id", where=where)

    plain = _without_none(text=text.text, id=text.id, source=text.source, score=text.score)
    if text.span:
        plain |= {"start": text.span.start, "end": text.span.end}
    return plain


def _without_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
