"""`Items`: questions with what was retrieved for them and what should have been."""

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
from goldrank.io.records import ItemFields, attributes_of, open_records

Failures: TypeAlias = Literal["error", "zero", "skip"]
"""What becomes of questions on which the retriever failed: an error, nothing retrieved, or left out."""
Nulls: TypeAlias = Literal["error", "empty"]
"""What a retrieved text that is null means: an error, or an empty text."""


class Item(NamedTuple):
    """One question of `Items`."""

    query: str
    """The question's id."""
    question: str
    retrieved: tuple[str, ...]
    """Texts, best first; ids where records name what is expected by ids alone."""
    references: tuple[tuple[str, ...], ...]
    """What the texts should cover; any text of a reference suffices."""
    response: str
    """The answer that was given."""
    answerable: bool | None
    """Whether the sources hold an answer; None if nothing is said."""
    latency: float | None
    """Seconds that retrieving took."""


class Items:
    """Questions with what was retrieved for them and what should have been.

    They are read when used, and files stay on the disk. `read_items` makes them of files and data frames.

    Parameters
    ----------
    records
        One dict per question, with a question, what was retrieved, and references, evidence or expected ids. Names of
        fields that RAG tools use are known.
    name
        What they are called in results.

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
        entries = tuple(records) if isinstance(records, Iterator | list | tuple) else records
        self._reader = ItemReader(open_records(entries, ItemFields(), name=name), ItemFields())
        self._name = of_type(name, str, "the name of items", "text")

    @classmethod
    def _of(cls, reader: ItemReader, name: str) -> Items:
        items = cls.__new__(cls)
        items._reader = reader
        items._name = name
        return items

    @property
    def name(self) -> str:
        """What they are called in results."""
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

    __hash__ = None  # type: ignore[assignment]  # they are equal by content, which is read anew

    def __repr__(self) -> str:
        return f"Items({self._name!r})"

    def _questions(self) -> Iterator[ReadQuestion]:
        """Every question with its record, but for those that are left out."""
        left_out = self._reader.failures == "skip"
        return (question for question in self._reader.questions() if not (left_out and question.failed))

    def _content(self) -> list[Any]:
        """Everything that is read, without places."""
        read = [(question.query, question.question, question.record) for question in self._questions()]
        return [self._reader.nulls, self._reader.failures, *read]

    @property
    def queries(self) -> Queries:
        """The questions by their ids. Fields of a record that have no other meaning are attributes to slice by.

        >>> record = {"id": "q", "question": "who?", "retrieved": ["a"], "references": ["a"], "language": "en"}
        >>> items = Items([record])
        >>> items.queries["q"].text, items.queries.column("language")["q"]
        ('who?', 'en')
        """
        known = {
            question.query: {**attributes_of(question.record, self._reader.fields), "text": question.question}
            for question in self._questions()
        }
        return Queries(known, name=self._name)

    @property
    def failures(self) -> tuple[str, ...]:
        """The ids of questions on which the retriever failed."""
        return tuple(question.query for question in self._reader.questions() if question.failed)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was tolerated in reading, and what was chosen where there was a choice."""
        may_fail = self._reader.failures == "error" and not self._reader.was_read
        if may_fail and self.failures:  # which reading would refuse
            return (_failure_note(tuple(self._reader.questions())),)
        return self._reader.notes

    @property
    def digest(self) -> str:
        """SHA-256 of the file as stored; for objects, of the items."""
        return self._reader.digest

    @property
    def qrels(self) -> Qrels:
        """The ids that were expected, as judgements. Records must name them.

        >>> dict(Items([{"id": "q", "expected_ids": ["d1"], "retrieved_ids": ["d2", "d1"]}]).qrels["q"])
        {'d1': 1}
        """
        rows, places = self._id_rows("qrels")
        return objects.qrels_from_rows(rows, self._reader.name, Reading("records"), where=places.__getitem__)

    @property
    def run(self) -> Run:
        """The ids that were retrieved, as a run. Scores are the retriever's if they descend, else by rank.

        >>> Items([{"id": "q", "expected_ids": ["d1"], "retrieved_ids": ["d2", "d1"]}]).run.ranking("q")
        ['d2', 'd1']
        """
        lists = self._id_lists("run")
        if any(lists.find(question.record) for question in self._questions()):
            rows, places = self._id_rows("run")
            return objects.run_from_rows(rows, self._name, where=places.__getitem__)
        return self._run_of_results()

    def _id_lists(self, thing: str) -> IdLists:
        """What finds the lists of ids, under names that `fields` gave as well."""
        given = self._reader.fields.given
        roles = {"expected_ids": "reference_ids", "retrieved_ids": "retrieved_ids"}
        named = {roles[role]: path for role, path in given.items() if role in roles and path is not None}
        return IdLists(thing, Columns(named))

    def _id_rows(self, thing: str) -> tuple[list[dict[str, Any]], list[str]]:
        """The lists of ids by question, and where each stands."""
        lists = self._id_lists(thing)
        rows: list[dict[str, Any]] = []
        places: list[str] = []
        for question in self._questions():
            field = lists.find(question.record)
            if field is None:
                raise _without_ids(thing, question)
            rows.append({"query_id": question.query, lists.role: value_at(question.record, field)})
            places.append(question.where)
        return rows, places

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
        hint = "Say read_items(items, failures='skip') to leave such questions out, or 'zero' if they count as not "
        hint += "found."
        what = f"{_failure_note(questions)}; first '{ids.show(failed[0].query)}': {reason}"
        raise InputError(what, where=self._name, hint=hint)

    def renamed(self, name: str) -> Items:
        """The same items under another name.

        Parameters
        ----------
        name
            What they are called in results.

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
            The file. What stood there is replaced.

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
"""`Items`, or what `read_items` makes them of."""


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
    """Questions with what was retrieved for them and what should have been, from anybody's data.

    Parameters
    ----------
    source
        A file (JSON Lines, JSON, Parquet, CSV), a pattern, "-", an open binary file, a data frame, a list of dicts or a
        dict of columns. Field names of the usual frameworks are known.
    fields
        Where things are, by dotted paths: {"retrieved": "outputs.docs"}. None says that a thing is not there.
    format
        The format, if it cannot be detected from the content.
    gold
        References or evidence of another file, put together with the source by the questions' ids. A question that
        the source has nothing for is one for which nothing was retrieved.
    failures
        What becomes of questions on which `run_retriever` failed: an "error", "zero" (nothing was retrieved) or "skip".
    nulls
        What a retrieved text that is null means: an "error", or an "empty" text.
    name
        What they are called in results; None: the file's name, or "items".

    Returns
    -------
    Items
        They are read when they are used.

    Raises
    ------
    InputError
        If something cannot be read. Most of it is seen when the items are used.
    OptionError
        If an option is not one of its choices, or `format` is given for what was read already.

    Examples
    --------
    >>> found = read_items([{"id": "q", "docs": ["a", "b"]}], fields={"retrieved": "docs"},
    ...     gold=[{"id": "q", "references": ["b"]}])
    >>> [(item.query, item.retrieved, item.references) for item in found]
    [('q', ('a', 'b'), (('b',),))]
    """
    if isinstance(source, Items):
        reader = _read_again(source._reader, fields, format, failures, nulls)
        shown = source.name
    else:
        finder = ItemFields(fields) if gold is None else ItemFields()
        records = open_records(source, ItemFields(fields), format)
        reader = ItemReader(records, finder, nulls=nulls, failures=failures)
        shown = reader.name

    if gold is not None:
        wanted = gold._reader.records if isinstance(gold, Items) else gold
        own = gold._reader.fields.given if isinstance(gold, Items) else None
        joined = with_gold(reader.records, wanted, fields=fields or reader.fields.given, gold_fields=own, format=format)
        reader = ItemReader(joined, ItemFields(), nulls=reader.nulls, failures=reader.failures)

    if name is not None:
        shown = of_type(name, str, "the name of items", "text")
    return Items._of(reader, shown)


def reader_of(items: Items) -> ItemReader:
    """What reads items with all that their records say, for those who measure them."""
    return items._reader


def as_items(source: ItemsLike) -> Items:
    """`Items` as they are, or of what `read_items` takes."""
    if isinstance(source, Items):
        return source
    return read_items(source)


def _read_again(
    reader: ItemReader, fields: Mapping[str, str | None] | None, format: str | None, failures: str, nulls: str
) -> ItemReader:
    """The same records, read otherwise where something else is said."""
    if format is not None:
        raise OptionError("format is for what is read; these are Items already", hint="Leave it out.")
    finder = ItemFields({**reader.fields.given, **fields}) if fields else reader.fields
    return ItemReader(
        reader.records,
        finder,
        nulls=reader.nulls if nulls == "error" else nulls,
        failures=reader.failures if failures == "error" else failures,
    )


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
    """The ids of a question's results with their scores; ranks take the place of scores that do not descend."""
    if question.failed:
        return []

    found = fields.find(question.record, question.where)
    if "retrieved" not in found:
        raise fields.missing("retrieved", question.record, question.where)

    texts = [retrieved_text(entry, question.where) for entry in found["retrieved"].value or ()]
    without_id = next((rank for rank, text in enumerate(texts, 1) if text.id is None), None)
    if without_id is not None:
        what = f"result {without_id} of query '{ids.show(question.query)}' has no id"
        hint = "Evaluate the texts, or have the retriever return ids: run_retriever(..., strings='ids')."
        raise InputError(what, where=question.where, hint=hint)

    scores = [text.score for text in texts if text.score is not None]
    if len(scores) < len(texts) or any(not a > b for a, b in pairwise(scores)):
        scores = [-float(rank) for rank in range(1, len(texts) + 1)]

    return [(question.query, str(text.id), score) for text, score in zip(texts, scores, strict=True)]


def _without_ids(thing: str, question: ReadQuestion) -> InputError:
    meant, role = ("expected", "expected_ids") if thing == "qrels" else ("retrieved", "retrieved_ids")
    shown = ", ".join(ids.show(str(key), 40) for key in list(question.record)[:20]) or "nothing"
    hint = f"Say where they are: read_items(..., fields={{'{role}': ...}}). Texts are measured by evaluate_texts."
    return InputError(f"has no ids that were {meant}; it has: {shown}", where=question.where, hint=hint)


def failure_reason(record: Mapping[str, Any]) -> str:
    """Why nothing could be retrieved, in words."""
    failure = record[FAILED]
    if isinstance(failure, Mapping):
        return f"{failure.get('type')}: {ids.show(str(failure.get('text')), 200)}"
    return ids.show(str(failure), 200)


def _failure_note(questions: tuple[ReadQuestion, ...]) -> Note:
    failures = [question.record[FAILED] for question in questions if question.failed]
    types = Counter(str(failure.get("type")) if isinstance(failure, Mapping) else "error" for failure in failures)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in types.most_common())
    return Note.of("failed-questions", count=len(failures), questions=len(questions), kinds=kinds)


def _json_line(record: Mapping[str, Any]) -> bytes:
    """A line that people can read; where a sign would act on a terminal, all that is not ASCII is written by number."""
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
