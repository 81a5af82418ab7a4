"""`Items`: questions with their retrieved texts and the texts that should have been retrieved."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, of_type
from goldrank.base.escaping import json_text
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import Frame, Path, Rows, Source
from goldrank.base.writing import write_whole
from goldrank.data.qrels import Qrels
from goldrank.data.queries import Queries
from goldrank.data.run import Run
from goldrank.data.text_item import TextItem
from goldrank.io.columns import Columns
from goldrank.io.files import is_file, is_frame
from goldrank.io.formats import Reading
from goldrank.io.objects import mappings as objects
from goldrank.io.objects.field_values import value_at
from goldrank.io.objects.id_lists import IdLists
from goldrank.io.questions.gold import with_gold
from goldrank.io.questions.item_reader import FAILED, ItemReader, ReadQuestion
from goldrank.io.questions.text_values import retrieved_text
from goldrank.io.records import ItemFields, Records, attributes_of, open_records

Failures: TypeAlias = Literal["error", "zero", "skip"]
"""What happens to questions on which the retriever failed: an error, nothing retrieved, or left out."""
Nulls: TypeAlias = Literal["error", "empty"]
"""The meaning of a retrieved text that is null: an error, or an empty text."""


class Item(NamedTuple):
    """One question of `Items`."""

    query: str
    """The question's id."""
    question: str
    retrieved: tuple[str, ...]
    """Texts, best first; ids if records have only ids of what is expected."""
    references: tuple[tuple[str, ...], ...]
    """What the texts should cover; any text of a reference suffices."""
    response: str
    """The answer of the system."""
    answerable: bool | None
    """Whether the sources hold an answer; None if it is not known."""
    latency: float | None
    """Seconds that retrieving took."""


class Items:
    """Questions with their retrieved texts and the texts that should have been retrieved.

    They are read when used, and files stay on the disk. `read_items` makes them from files and data frames.

    Parameters
    ----------
    records
        One dict per question, with a question, retrieved texts or ids, and references, evidence or expected ids. The
        names of fields that RAG tools use are known.
    name
        Their name in results.

    Raises
    ------
    InputError
        If `records` are not a list of records.

    Examples
    --------
    >>> items = Items([{"question": "who?", "contexts": ["a man", "a plan"], "references": ["a plan"]}], name="bm25")
    >>> items, len(items)
    (Items('bm25'), 1)
    >>> [(item.query, item.retrieved, item.references) for item in items]
    [('1', ('a man', 'a plan'), (('a plan',),))]
    """

    def __init__(self, records: Iterable[Mapping[str, Any]], *, name: str = "items") -> None:
        if is_file(records) or is_frame(records) or isinstance(records, Mapping):
            hint = "read_items(source) reads files, data frames and dicts of columns."
            raise InputError(f"records are of type {type(records).__name__}, not a list of dicts", hint=hint)
        if isinstance(records, Iterator | list | tuple):
            records = tuple(records)
        self._reader = ItemReader(open_records(records, ItemFields(), name=name), ItemFields())
        self._name = of_type(name, str, "the name of items", "text")

    @classmethod
    def _of(cls, reader: ItemReader, name: str) -> Items:
        items = cls.__new__(cls)
        items._reader = reader
        items._name = name
        return items

    @property
    def name(self) -> str:
        """Their name in results."""
        return self._name

    def __iter__(self) -> Iterator[Item]:
        return (_public(entry.item) for entry in self._reader.entries(measured=False))

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self._questions())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        return self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]  # equality depends on the content, which is read each time

    def __repr__(self) -> str:
        return f"Items({self._name!r})"

    def _questions(self) -> Iterator[ReadQuestion]:
        """All questions with their records, without those that are left out."""
        left_out = self._reader.failures == "skip"
        return (question for question in self._reader.questions() if not (left_out and question.failed))

    def _content(self) -> list[Any]:
        """The content of all records, without positions."""
        questions = [(question.query, question.question, question.record) for question in self._questions()]
        return [self._reader.nulls, self._reader.failures, *questions]

    @property
    def queries(self) -> Queries:
        """The questions by their ids. Fields of a record that have no other meaning are attributes to slice by.

        >>> record = {"id": "q", "question": "who?", "retrieved": ["a"], "references": ["a"], "language": "en"}
        >>> items = Items([record])
        >>> items.queries["q"].text, items.queries.column("language")["q"]
        ('who?', 'en')
        """
        queries = {}
        for question in self._questions():
            attributes = attributes_of(question.record, self._reader.fields)
            queries[question.query] = {**attributes, "text": question.question}
        return Queries(queries, name=self._name)

    @property
    def failures(self) -> tuple[str, ...]:
        """The ids of questions on which the retriever failed."""
        return tuple(question.query for question in self._reader.questions() if question.failed)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was tolerated in reading, and choices among several fields."""
        may_fail = self._reader.failures == "error" and not self._reader.was_read
        if may_fail and self.failures:  # reading would raise an error
            return (_failure_note(tuple(self._reader.questions())),)
        return self._reader.notes

    @property
    def digest(self) -> str:
        """SHA-256 of the file as stored; for objects, of the items."""
        return self._reader.digest

    @property
    def qrels(self) -> Qrels:
        """The expected ids as judgements. Records must have them.

        >>> dict(Items([{"id": "q", "expected_ids": ["d1"], "retrieved_ids": ["d2", "d1"]}]).qrels["q"])
        {'d1': 1}
        """
        rows, positions = self._id_rows("qrels")
        return objects.qrels_from_rows(rows, self._reader.name, Reading("records"), where=positions.__getitem__)

    @property
    def run(self) -> Run:
        """The retrieved ids as a run, with the retriever's scores if they descend, else with scores by rank.

        >>> Items([{"id": "q", "expected_ids": ["d1"], "retrieved_ids": ["d2", "d1"]}]).run.ranking("q")
        ['d2', 'd1']
        """
        lists = self._id_lists("run")
        if any(lists.find(question.record) for question in self._questions()):
            rows, positions = self._id_rows("run")
            return objects.run_from_rows(rows, self._name, where=positions.__getitem__)
        return self._run_of_results()

    def _id_lists(self, thing: str) -> IdLists:
        """Finds the lists of ids, also by the paths that the user named."""
        paths = self._reader.fields.path_of
        roles = {"expected_ids": "reference_ids", "retrieved_ids": "retrieved_ids"}
        named = {roles[role]: path for role, path in paths.items() if role in roles and path is not None}
        return IdLists(thing, Columns(named))

    def _id_rows(self, thing: str) -> tuple[list[dict[str, Any]], list[str]]:
        """The lists of ids by question, and their positions."""
        lists = self._id_lists(thing)
        rows: list[dict[str, Any]] = []
        positions: list[str] = []
        for question in self._questions():
            field = lists.find(question.record)
            if field is None:
                raise _without_ids(thing, question)
            rows.append({"query_id": question.query, lists.role: value_at(question.record, field)})
            positions.append(question.where)
        return rows, positions

    def _run_of_results(self) -> Run:
        """A run of retrieved texts that have ids."""
        questions = tuple(self._questions())
        self._refuse_failures(questions)

        rows: list[tuple[str, str, float]] = []
        for question in questions:
            rows += _ranked_ids(question, self._reader.fields)
        queries = [question.query for question in questions]
        return objects.run_from_rows(rows, self._name, queries=queries)

    def _refuse_failures(self, questions: tuple[ReadQuestion, ...]) -> None:
        failed = [question for question in questions if question.failed]
        if not failed or self._reader.failures != "error":
            return

        reason = failure_reason(failed[0].record)
        problem = f"{_failure_note(questions)}; first '{ids.show(failed[0].query)}': {reason}"
        hint = "Say read_items(items, failures='skip') to leave such questions out, or 'zero' if they count as not "
        hint += "found."
        raise InputError(problem, where=self._name, hint=hint)

    def renamed(self, name: str) -> Items:
        """These items under another name.

        Parameters
        ----------
        name
            Their name in results.

        Returns
        -------
        Items

        Raises
        ------
        InputError
            If the name is not text.

        Examples
        --------
        >>> Items([{"id": "q", "retrieved": ["a"], "references": ["a"]}]).renamed("bm25").name
        'bm25'
        """
        return Items._of(self._reader, of_type(name, str, "the name of items", "text"))

    def save(self, path: Path) -> None:
        """Write the records as JSON Lines, which `read_items` reads.

        Parameters
        ----------
        path
            The file, which is replaced if it exists.

        Raises
        ------
        GoldrankError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "items.jsonl")
        >>> items = Items([{"id": "q", "retrieved": ["a"], "references": ["a"]}])
        >>> items.save(path)
        >>> list(read_items(path)) == list(items)
        True
        """
        write_whole(path, b"".join(_json_line(question.record) for question in self._reader.questions()))


ItemsLike: TypeAlias = "Items | Source | Frame | Rows"
"""`Items`, or a source for `read_items`."""


@named_arguments
def read_items(
    source: ItemsLike,
    *,
    fields: Mapping[str, str | None] | None = None,
    format: str | None = None,
    gold: ItemsLike | None = None,
    failures: Failures = "error",
    nulls: Nulls = "error",
    name: str | None = None,
) -> Items:
    """Read questions with their retrieved texts and the texts that should have been retrieved.

    Parameters
    ----------
    source
        A file (JSON Lines, JSON, Parquet, CSV), a pattern, "-", an open binary file, a data frame, a list of dicts or a
        dict of columns. Field names of the usual frameworks are known.
    fields
        Dotted paths of fields by role: {"retrieved": "outputs.docs"}. None means that there is no such field.
    format
        The format, if it cannot be detected from the content.
    gold
        References or evidence of another file, joined with the source by the questions' ids. A question that is not in
        the source counts as one for which nothing was retrieved.
    failures
        What happens to questions on which `run_retriever` failed: an "error", "zero" (nothing retrieved) or "skip".
    nulls
        The meaning of a retrieved text that is null: an "error", or an "empty" text.
    name
        Their name in results; None: the file's name, or "items".

    Returns
    -------
    Items
        They are read when they are used.

    Raises
    ------
    InputError
        If something cannot be read. Most errors appear when the items are used.
    OptionError
        If an option is not one of its choices, or `format` is given for `Items`.

    Examples
    --------
    >>> found = read_items([{"id": "q", "docs": ["a", "b"]}], fields={"retrieved": "docs"},
    ...     gold=[{"id": "q", "references": ["b"]}])
    >>> [(item.query, item.retrieved, item.references) for item in found]
    [('q', ('a', 'b'), (('b',),))]
    """
    if isinstance(source, Items):
        reader = _read_again(source._reader, fields, format, failures, nulls)
        items_name = source.name
    else:
        finder = ItemFields()
        if gold is None:
            finder = ItemFields(fields)
        records = open_records(source, ItemFields(fields), format)
        reader = ItemReader(records, finder, nulls=nulls, failures=failures)
        items_name = reader.name

    if gold is not None:
        joined = _with_gold(reader, gold, fields, format)
        reader = ItemReader(joined, ItemFields(), nulls=reader.nulls, failures=reader.failures)

    if name is not None:
        items_name = of_type(name, str, "the name of items", "text")
    return Items._of(reader, items_name)


def _with_gold(
    reader: ItemReader, gold: ItemsLike, fields: Mapping[str, str | None] | None, format: str | None
) -> Records:
    """The records of a reader, joined with gold."""
    fields = fields or reader.fields.path_of
    if not isinstance(gold, Items):
        return with_gold(reader.records, gold, fields=fields, format=format)
    gold_reader = gold._reader
    return with_gold(
        reader.records, gold_reader.records, fields=fields, gold_fields=gold_reader.fields.path_of, format=format
    )


def reader_of(items: Items) -> ItemReader:
    """The reader of items, which has all data of their records, for code that measures them."""
    return items._reader


def as_items(source: ItemsLike) -> Items:
    """`Items` from any source of `read_items`; `Items` unchanged."""
    if isinstance(source, Items):
        return source
    return read_items(source)


def _read_again(
    reader: ItemReader, fields: Mapping[str, str | None] | None, format: str | None, failures: str, nulls: str
) -> ItemReader:
    """A reader of the same records with other options, where they are not the default."""
    if format is not None:
        raise OptionError("format is for what is read; these are Items already", hint="Leave it out.")

    finder = reader.fields
    if fields:
        finder = ItemFields({**reader.fields.path_of, **fields})
    if nulls == "error":
        nulls = reader.nulls
    if failures == "error":
        failures = reader.failures
    return ItemReader(reader.records, finder, nulls=nulls, failures=failures)


def _public(item: TextItem) -> Item:
    return Item(
        query=item.query,
        question=item.question,
        retrieved=tuple(item.retrieved),
        references=tuple(reference.texts for reference in item.references),
        response=item.response,
        answerable=item.answerable,
        latency=item.latency,
    )


def _ranked_ids(question: ReadQuestion, fields: ItemFields) -> list[tuple[str, str, float]]:
    """The ids of a question's results with their scores; if scores do not descend, with scores by rank."""
    if question.failed:
        return []

    values = fields.find(question.record, question.where)
    if "retrieved" not in values:
        raise fields.missing("retrieved", question.record, question.where)

    texts = [retrieved_text(entry, question.where) for entry in values["retrieved"].value or ()]
    for rank, text in enumerate(texts, 1):
        if text.id is None:
            problem = f"result {rank} of query '{ids.show(question.query)}' has no id"
            hint = "Evaluate the texts, or have the retriever return ids: run_retriever(..., strings='ids')."
            raise InputError(problem, where=question.where, hint=hint)

    scores = [text.score for text in texts if text.score is not None]
    if len(scores) < len(texts) or any(not a > b for a, b in pairwise(scores)):
        scores = [-float(rank) for rank in range(1, len(texts) + 1)]

    return [(question.query, str(text.id), score) for text, score in zip(texts, scores, strict=True)]


def _without_ids(thing: str, question: ReadQuestion) -> InputError:
    state = "retrieved"
    if thing == "qrels":
        state = "expected"
    keys = ", ".join(ids.show(str(key), 40) for key in list(question.record)[:20]) or "nothing"
    hint = f"Say where they are: read_items(..., fields={{'{state}_ids': ...}}). Texts are measured by evaluate_texts."
    return InputError(f"has no ids that were {state}; it has: {keys}", where=question.where, hint=hint)


def failure_reason(record: Mapping[str, Any]) -> str:
    """Why the retriever failed, in words."""
    failure = record[FAILED]
    if isinstance(failure, Mapping):
        return f"{failure.get('type')}: {ids.show(str(failure.get('text')), 200)}"
    return ids.show(str(failure), 200)


def _failure_note(questions: tuple[ReadQuestion, ...]) -> Note:
    failures = [question.record[FAILED] for question in questions if question.failed]
    types = Counter(map(_failure_type, failures))
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in types.most_common())
    return Note.of("failed-questions", count=len(failures), questions=len(questions), kinds=kinds)


def _failure_type(failure: Any) -> str:
    if isinstance(failure, Mapping):
        return str(failure.get("type"))
    return "error"


def _json_line(record: Mapping[str, Any]) -> bytes:
    """A line of JSON that people can read; as ASCII if it has characters that control a terminal."""
    text = json.dumps(record, ensure_ascii=False, default=_plain_value)
    if not text.isprintable():
        text = json.dumps(record, default=_plain_value)
    return json_text(text).encode() + b"\n"


def _plain_value(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
