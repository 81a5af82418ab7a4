"""The results of a system: `Run`, and the sources of its rankings."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypedDict, Unpack

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, Position, one_of, whole_number
from goldrank.base.frozen import Frozen
from goldrank.base.notes import Note, from_counts
from goldrank.base.packages import needed
from goldrank.core import core
from goldrank.data.read_only import ReadOnlyRows

if TYPE_CHECKING:
    import pandas
    import polars

    from goldrank.base.types import DocumentOf, Path, RunMapping, SeenLike
    from goldrank.data.blocks import BlockSource
    from goldrank.data.qrels import Qrels


SHORT_ROW = 50
"""For fewer documents, checking each in Python is faster than calling numpy."""


class RunSource(Protocol):
    """The source of a run's rankings: memory, a file that is read piece by piece, or Spark."""

    engine: ClassVar[str]
    """The engine that places such runs, by its name in `goldrank.engine.ENGINES`."""

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """The whole run as a mapping of mappings."""
        ...

    def digest(self) -> str | None:
        """A hash of the returned documents, equal for equal input; None if it cannot be computed."""
        ...


@dataclass(frozen=True)
class Alternatives:
    """Other columns of a run's input that could hold its ids."""

    candidates: Mapping[str, Sequence[str]]
    """For "query" and "doc" the columns that could hold its ids; the first is in use."""
    read_from: Callable[[Mapping[str, str]], Run]
    """Makes the run with its ids from other columns."""
    matches: Callable[[Sequence[str], Mapping[str, str], Qrels], Sequence[int]]
    """For each of some columns, counts the lines with a judged id in it: document ids if the column of queries is
    chosen already, else query ids."""


class Rankings:
    """A run in memory: for each query the score of each document, which is a float.

    Only goldrank has these mappings, and nothing writes to them.
    """

    engine: ClassVar[str] = "memory"

    def __init__(self, results: Mapping[str, Mapping[str, float]], scores: bytes | None = None) -> None:
        self._results = results, scores

    def with_scores(self) -> tuple[Mapping[str, Mapping[str, float]], bytes | None]:
        """The rankings, and their scores as doubles, row after row; None if scores must be checked one by one."""
        results, scores = self._results
        if scores is None:
            self._results = _copied(results) or (results, None)

        return self._results

    def results(self) -> Mapping[str, Mapping[str, float]]:
        return self._results[0]

    def digest(self) -> str:
        return digest_of(self.results())


@dataclass(frozen=True)
class SparkLines:
    """The lines of a run as a Spark DataFrame, classic or Connect.

    Its columns are `query` and `doc` (bytes), `score` (a double), `problem` (a key of `PROBLEMS` if the line is wrong,
    or null) and `nothing` (true for a query whose list of results is empty; such a line has no document).
    """

    engine: ClassVar[str] = "spark"

    frame: Any
    name: str
    columns: dict[str, str]
    """The user's names of the columns query, doc and score."""

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Rankings in Spark stay there."""
        raise InputError(
            "the run is in Spark and cannot be looked into",
            where=self.name,
            hint="goldrank.evaluate takes it as it is. For anything else bring it here: run.toArrow().",
        )

    def digest(self) -> None:
        """Always None: a hash would need a pass over all lines."""


PROBLEMS = {
    "query": "the query id is missing",
    "doc": "the document id is missing",
    "length": "an id has more than 65,536 bytes",
    "score": "the score is missing",
    "number": "the score is not a number",
    "nan": "the score is NaN",
}


def digest_of(results: Mapping[str, Mapping[str, float]]) -> str:
    """A hash of rankings, independent of their order in memory."""
    import hashlib

    digest = hashlib.sha256()
    for query in sorted(results, key=ids.encode):
        row = results[query]
        for doc in sorted(row, key=ids.encode):
            digest.update(b"%b\x00%b\x00%b\n" % (ids.encode(query), ids.encode(doc), float(row[doc]).hex().encode()))
    return digest.hexdigest()


class RunFacts(TypedDict, total=False):
    """What is known of a run beside its rankings: attributes of `Run`."""

    name: str
    id_kind: str
    notes: tuple[Note, ...]
    has_scores: bool
    alternatives: Alternatives | None
    about: Mapping[str, Mapping[str, Any]]


class Run(Frozen, Mapping[str, Mapping[str, float]]):
    """A ranking per query: documents with scores, higher first. It never changes.

    It is made from a mapping of documents with scores, or of ranked lists, and keeps a copy of it; or it has a source
    that is read when needed.

    >>> run = Run({"q1": {"d1": 0.7, "d2": 1.3}})
    >>> run["q1"]["d2"]
    1.3
    """

    name: str
    source: RunSource
    id_kind: str
    """'int', 'str' or for example 'str/int' for ids from Python objects, 'text' for ids from files."""
    notes: tuple[Note, ...]
    """What was tolerated when the run was made."""
    has_scores: bool
    """Whether scores come from the system; scores of ranked lists of ids only express the order."""
    alternatives: Alternatives | None
    """Present if several columns could hold the ids: judgements can decide (`with_columns_matching`)."""
    about: Mapping[str, Mapping[str, Any]]
    """What the input says of queries beside their documents: latency, tokens, cost, conversation, turn."""

    def __init__(self, results: RunMapping | RunSource, *, name: str = "run") -> None:
        ids.check_text(name, "name of a run")
        self._keep(about={})
        if not isinstance(results, Mapping):
            self._keep(name=name, source=results, id_kind="text", notes=(), has_scores=True, alternatives=None)
            return

        if _has_lists(results):
            from goldrank.io.objects.mappings import run_from_mapping

            run = run_from_mapping(results, name)
            source, id_kind, has_scores, notes = run.source, run.id_kind, run.has_scores, run.notes
        else:
            source, id_kind = rankings_of(results, name)
            has_scores, notes = True, notes_on_ids(id_kind)
        self._keep(name=name, source=source, id_kind=id_kind, notes=notes, has_scores=has_scores, alternatives=None)

    def with_facts(self, **facts: Unpack[RunFacts]) -> Run:
        """A copy with other facts about the rankings; readers know more than rankings tell."""
        run = copy(self)
        run._keep(**facts)
        return run

    def with_columns_matching(self, judged: Qrels) -> Run:
        """This run with its ids from the columns whose values are judged; unchanged where no values are."""
        alternatives = self.alternatives
        if alternatives is None:
            return self

        chosen: dict[str, str] = {}
        notes: list[Note] = []
        for role in ("query", "doc"):
            names = list(alternatives.candidates[role])
            if len(names) == 1:
                chosen[role] = names[0]
                continue
            counts = list(alternatives.matches(names, chosen, judged))
            best = counts.index(max(counts))
            chosen[role] = names[best]
            notes.append(column_choice(role, chosen[role], names, judged=counts[best] > 0))

        run = alternatives.read_from(chosen)
        other_notes = [note for note in run.notes if note.code != "column-choice"]
        return run.with_facts(name=self.name, alternatives=None, notes=(*other_notes, *notes))

    @property
    def results(self) -> Mapping[str, Mapping[str, float]]:
        """The whole run as a read-only mapping of mappings."""
        return ReadOnlyRows(rows_of(self))

    @cached_property
    def _read(self) -> Mapping[str, Mapping[str, float]]:
        """The results of the source, read once."""
        return self.source.results()

    def renamed(self, name: str) -> Run:
        """This run under another name."""
        ids.check_text(name, "name of a run")
        return self.with_facts(name=name)

    def ranking(self, query: str) -> list[str]:
        """The documents of a query, best first, by trec_eval's order."""
        row = rows_of(self)[query]
        return sorted(row, key=lambda doc: (row[doc], ids.encode(doc)), reverse=True)

    def top(self, k: int) -> Run:
        """The first documents of each query, by trec_eval's order.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        Run

        Raises
        ------
        OptionError
            If `k` is not a whole number from 1.
        """
        whole_number(k, "k", 1)
        top: dict[str, dict[str, float]] = {}
        for query, row in rows_of(self).items():
            top[query] = {doc: row[doc] for doc in self.ranking(query)[:k]}
        return self._with_results(top)

    def without(self, seen: SeenLike) -> Run:
        """This run, held in memory, without the items that users had before; a note counts them.

        Parameters
        ----------
        seen : mapping, rows, path or data frame
            For each user (query) the items (documents) that are removed.

        Returns
        -------
        Run
        """
        from goldrank.io.objects.user_history import as_history

        train = as_history(seen)
        rows = rows_of(self)
        results: dict[str, dict[str, float]] = {}
        users = 0
        for user, row in rows.items():
            earlier = set(train.items.get(user, ()))
            results[user] = {item: score for item, score in row.items() if item not in earlier}
            users += len(results[user]) < len(row)

        removed = sum(map(len, rows.values())) - sum(map(len, results.values()))
        emptied = sum(not row and bool(rows[user]) for user, row in results.items())
        notes = [Note.of("seen-removed", count=removed, users=users, short=emptied, k=1)]
        if not any(user in train.items for user in results):
            notes.append(Note.of("train-without-users", samples=train.items))
        return self._with_results(results, notes)

    def rolled_up(self, doc_of: DocumentOf) -> Run:
        """This run with documents instead of their parts (chunks, turns, passages); a note counts both.

        A document gets the rank and the score of its first part.

        Parameters
        ----------
        doc_of : str, pattern, mapping, path or function
            How to find the document: a separator before the last part of an id ("#" makes doc of doc#3), a regular
            expression with one group, a dict from parts to documents, the path of a file with these two columns, or a
            function. An id that is not a part stays as it is.

        Returns
        -------
        Run

        Raises
        ------
        OptionError
            If `doc_of` is none of these.

        Examples
        --------
        >>> run = Run({"q1": {"a#2": 0.9, "b#1": 0.8, "a#1": 0.7}})
        >>> dict(run.rolled_up("#")["q1"])
        {'a': 0.9, 'b': 0.8}
        """
        from goldrank.data.parents import document_of, unmoved_note

        document = document_of(doc_of)
        rows = rows_of(self)
        rolled: dict[str, dict[str, float]] = {}
        for query, row in rows.items():
            documents = rolled.setdefault(query, {})
            for part in self.ranking(query):
                documents.setdefault(document(part), row[part])

        parts = sum(map(len, rows.values()))
        note = Note.of("rolled-up", count=parts, documents=sum(map(len, rolled.values())))
        unmoved = unmoved_note((part for row in rows.values() for part in row), document)
        return self._with_results(rolled, [note, *unmoved])

    def drop_duplicates(self, *, keep: Literal["first", "last"] = "first") -> Run:
        """This run with each document of a query once; a note counts the lines that were left out.

        A `Run` keeps all its rows. In an evaluation, the convention decides what happens to a document that a ranking
        repeats (`duplicates`); a mapping, a fusion and a diff need each document once.

        Parameters
        ----------
        keep : {"first", "last"}
            Which row of a document stays, with its score and its order among equal scores.

        Returns
        -------
        Run
            It is held in memory if a file had to be read.

        Raises
        ------
        OptionError
            If `keep` is another word.
        InputError
            If the run is in Spark.

        Examples
        --------
        >>> from goldrank import read_run
        >>> run = read_run([("q1", "a", 3.0), ("q1", "b", 2.0), ("q1", "a", 1.0)])
        >>> dict(run.drop_duplicates()["q1"]), dict(run.drop_duplicates(keep="last")["q1"])
        ({'a': 3.0, 'b': 2.0}, {'b': 2.0, 'a': 1.0})
        """
        from goldrank.data.blocks import BlockSource

        one_of(keep, ("first", "last"), "keep")
        if not isinstance(self.source, BlockSource):
            self.source.results()  # raises for a run in Spark; a mapping repeats no document
            return self

        results, dropped = self.source.distinct(keep)
        return self._with_results(results, from_counts({"repeated-documents": dropped}))

    def save(self, path: Path, *, format: str | None = None) -> None:
        """Write this run in the given format, or in the format of the file's ending; else as TREC text.

        Reading the file gives an equal run. A name such as run.txt.gz makes a compressed file.

        Parameters
        ----------
        path : str or path
            The file.
        format : {"trec", "json", "jsonl", "csv", "tsv", "parquet", "arrow"}, optional
            The format, if the ending does not name it.

        Raises
        ------
        OptionError
            If the format cannot be written, or the ending belongs to another format.
        """
        from goldrank.io.writing_files import save_run

        save_run(self, path, format)

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars with the columns query, doc and score."""
        from goldrank.io.formats import columns_of

        with needed("polars"):
            import polars
        return polars.DataFrame(columns_of(self))

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas with the columns query, doc and score."""
        from goldrank.io.formats import columns_of

        with needed("pandas"):
            import pandas
        return pandas.DataFrame(columns_of(self))

    def _with_results(self, results: Mapping[str, Mapping[str, float]], notes: Sequence[Note] = ()) -> Run:
        """A run like this one with other rankings, held in memory."""
        return Run(Rankings(results), name=self.name).with_facts(
            id_kind=self.id_kind, notes=(*self.notes, *notes), has_scores=self.has_scores, about=self.about
        )

    @cached_property
    def digest(self) -> str | None:
        """A hash of the input's bytes for a file, else of the rankings; None if they are in Spark."""
        return self.source.digest()

    def __getitem__(self, query: str) -> Mapping[str, float]:
        return MappingProxyType(rows_of(self)[query])

    def __iter__(self) -> Iterator[str]:
        return iter(rows_of(self))

    def __len__(self) -> int:
        return len(rows_of(self))

    def __repr__(self) -> str:
        return f"Run({self.name!r})"


def _has_lists(results: Mapping[Any, Any]) -> bool:
    """Whether results of queries are ranked lists."""
    return any(isinstance(row, list | tuple | np.ndarray) for row in results.values())


class TaggedRuns:
    """Several runs in one file or set of files, distinguished by their tags. `Runs` reads the files once for all.

    The run of one tag is an ordinary `Run`, which reads all the files and skips the lines of other tags.
    """

    def __init__(
        self,
        source: BlockSource,
        *,
        name: str,
        notes: tuple[Note, ...] = (),
        alternatives: Alternatives | None = None,
    ) -> None:
        self.source = source
        self.name = name
        self.notes = notes
        self.alternatives = alternatives
        """See `Run.alternatives`."""

    def with_columns_matching(self, judged: Qrels) -> TaggedRuns:
        """These runs with their ids from the columns whose values are judged."""
        from goldrank.data.blocks import BlockSource

        if self.alternatives is None:
            return self
        tagged = Run(self.source, name=self.name).with_facts(notes=self.notes, alternatives=self.alternatives)
        untagged = tagged.with_columns_matching(judged)
        assert isinstance(untagged.source, BlockSource)
        return TaggedRuns(untagged.source, name=self.name, notes=untagged.notes)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the order of their first lines; found by reading everything once."""
        tags: dict[bytes, None] = {}
        for piece in self.source.pieces():
            in_piece = piece().tags
            if in_piece is not None:
                tags.update(dict.fromkeys(in_piece.names(in_piece.starts()[:-1])))
        return ids.decode_all(tags)

    def run(self, tag: str) -> Run:
        """The run of a tag; the file is not read yet."""
        from goldrank.data.blocks import OneTag

        return Run(OneTag(self.source, ids.encode(tag)), name=tag).with_facts(notes=self.notes)


def column_choice(role: str, chosen: str, names: Sequence[str], judged: bool = False) -> Note:
    """The note on which of several columns holds the ids of queries or documents, and why."""
    others = tuple(ids.show(name) for name in names if name != chosen)
    if judged:
        why = "judged"
    else:
        why = "by_name"
    return Note.of("column-choice", role=role, column=ids.show(chosen), others=others, why=why)


def notes_on_ids(id_kind: str) -> tuple[Note, ...]:
    """Notes on ids that came as objects of a kind."""
    if "int" in id_kind:
        return (Note.of("integer-ids"),)
    return ()


def rows_of(run: Run) -> Mapping[str, Mapping[str, float]]:
    """The rankings of a run without a read-only view, for code that neither changes nor returns them."""
    if isinstance(run.source, Rankings):
        return run.source.results()
    return run._read


def rankings_of(results: Mapping[Any, Any], name: str) -> tuple[Rankings, str]:
    """A copy of rankings under text ids, in which every score is a float, and the kind of the ids."""
    plain = plain_copy(results, name)
    if plain is not None:
        return plain, "str"

    # Copied first: ids and numbers may run code, which must not change the mappings while they are read.
    copy = dict(results)
    for query, row in copy.items():
        if isinstance(row, Mapping):
            copy[query] = dict(row)
    texts, kind = with_text_ids(copy, name)
    return Rankings({query: _with_floats(row, query, name) for query, row in texts.items()}), kind


def plain_copy(results: Mapping[Any, Any], name: str = "run") -> Rankings | None:
    """A copy of rankings; None if something in them needs a closer check."""
    copy = _copied(results, name)
    if copy is None:
        rows = dict(results)
        are_exact = type(results) is dict and all(type(row) is dict for row in rows.values())
        if not are_exact and all(isinstance(row, Mapping) for row in rows.values()):
            copy = _copied({query: {**row} for query, row in rows.items()}, name)

    if copy is None:
        return None
    return Rankings(*copy)


def _copied(results: Mapping[Any, Any], name: str = "run") -> tuple[dict[str, dict[str, float]], bytes] | None:
    """A copy of a dict of dicts in which all ids and scores are plain, and its scores as doubles.

    None if something needs a closer check.
    """
    try:
        return core.copied(results, ids.SHORT)
    except RuntimeError as error:
        raise changed(name) from error


def changed(name: str) -> InputError:
    """The error for an object that another thread changed while it was read."""
    return InputError(
        "it was changed while it was read",
        where=name,
        hint="Another thread writes to it: wait for that, or give a copy.",
        code="changed",
    )


def _with_floats(row: Mapping[str, Any], query: str, name: str) -> Mapping[str, float]:
    """A ranking whose scores are floats; `row` itself if they are."""
    if set(map(type, row.values())) == {float} and not math.isnan(sum(row.values())):
        return row

    return dict(zip(row, double_scores(row, query, name).tolist(), strict=True))


@np.errstate(over="ignore", invalid="ignore")  # infinite scores are allowed
def double_scores(row: Mapping[str, Any], query: str, name: str) -> np.ndarray:
    """The scores of a ranking as doubles, each a number."""
    try:
        # The fastest way from Python floats to an array; it accepts only numbers.
        scores = np.frombuffer(struct.pack(f"{len(row)}d", *row.values()))

        # True and False would pass as 1 and 0, so types are checked if such scores occur. Short rankings are always
        # checked, which is faster than looking for these scores.
        may_have_flags = len(row) < SHORT_ROW or bool(((scores == 0) | (scores == 1)).any())
        is_number = math.isfinite(scores.dot(scores)) or not np.isnan(scores).any()
        if is_number and not (may_have_flags and not {bool, np.bool_}.isdisjoint(map(type, row.values()))):
            return scores
    except (struct.error, OverflowError, TypeError, ValueError):
        pass

    checked = []
    for doc, score in row.items():
        where = f"{name}: query '{ids.show(query)}', document '{ids.show(str(doc))}'"
        checked.append(check_score(score, where))
    return np.array(checked, np.float64)


def with_text_ids(results: Mapping[Any, Any], name: str) -> tuple[Mapping[str, Mapping[str, Any]], str]:
    """Results under text ids (not copied if all ids are text), and the kind of the ids."""
    query_types: set[type] = set()
    doc_types: set[type] = set()
    for query, row in results.items():
        if not isinstance(row, Mapping):
            raise InputError(
                f"results of query {query!r} are of type {type(row).__name__}, not a mapping",
                where=name,
                hint='Results look like {"d1": 0.9, "d2": 0.4}.',
                code="wrong-type",
            )

        query_types.add(type(query))
        try:
            ids.check_keys(row, "document id", f"{name}: query {query!r:.80}")
            doc_types.update(map(type, islice(row, 1)))
        except TypeError:  # not all of them are text
            doc_types.update(map(type, row))

    kind = ids.kind(query_types, doc_types, name)
    if query_types <= {str} and doc_types <= {str}:
        ids.check_keys(results, "query id", name)
        return results, kind

    texts: dict[str, dict[str, Any]] = {}
    for query, row in results.items():
        where = f"{name}: query {query!r:.80}"
        scores = {ids.as_text(doc, "document id", where): score for doc, score in row.items()}
        texts[ids.as_text(query, "query id", name)] = scores
    return texts, kind


def check_score(value: Any, where: Position | str) -> float:
    """Return `value` as a score, or raise an error that says why it is not one. True and False are not scores."""
    if type(value) is not float:
        try:
            if isinstance(value, str | bytes) or type(value).__name__ in ("bool", "bool_"):
                raise TypeError
            value = float(value)
        except OverflowError:
            raise _bad_score("score is too large for a double", where) from None
        except (TypeError, ValueError):
            raise _bad_score(f"score {value!r:.80} is of type {type(value).__name__}", where) from None

    if math.isnan(value):
        raise InputError(
            "score is NaN",
            where=where,
            hint="A document that was not scored does not belong into a ranking: leave it out.",
            code="bad-score",
        )

    return float(value)


def _bad_score(problem: str, where: Position | str) -> InputError:
    return InputError(problem, where=where, hint="Scores are numbers.", code="bad-score")
