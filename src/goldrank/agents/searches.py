"""Several searches for each question in, what they found and what they cost out."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, TypeAlias

import numpy as np

from goldrank.agents.question import KINDS, Counted, QuestionFacts, QuestionSearches, Search, count_searches
from goldrank.agents.spans import as_questions
from goldrank.base import ids, types
from goldrank.base.errors import InputError, OptionError, of_type, real_number, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.comparison.intervals import UNKNOWN, Interval, mean_interval
from goldrank.comparison.resampling import percentiles, resampled_means
from goldrank.comparison.tabular import attributes
from goldrank.data.query_facts import QueryFacts
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count, note_sentences
from goldrank.io.aliases import QUESTION_IDS, first_present
from goldrank.io.json.whole_records import objects, whole_records
from goldrank.io.questions.id_groups import IdGroup, id_groups
from goldrank.report.numbers import interval as shown_interval

LEVEL = 0.95
EXPECTED = ("expected", "expected_ids", "gold", "relevant", "retrieval_gt")
"""Fields of a record that may hold what is expected."""
SEARCH_TOOL = re.compile("search|retrieval", re.IGNORECASE)
_DOCID = re.compile(r'"?docid"?\s*[:=]\s*"?([^",}\s]+)')

SearchRecords: TypeAlias = types.Path | Iterable[Mapping[str, Any]]
"""A file with JSON or JSON lines, a folder with a file for each question, or records."""
Gold: TypeAlias = Mapping[str, Iterable[Any]]
"""By question, ids or groups of ids; {"d1": 1} counts documents with a grade above 0."""

COLUMNS = {
    "UnionRecall": ("union_recall", True),
    "LastRecall": ("last_recall", True),
    "BestRecall": ("best_recall", True),
    "1/SearchesToFirst": ("reciprocal_first", True),
    "1/SearchesToCover": ("reciprocal_cover", True),
    "NewPerSearch": ("new_per_search", True),
    "WastedShare": ("wasted_share", False),
}
"""By name, the field of a question and whether higher is better."""


@dataclass(frozen=True, repr=False, eq=False)
class SearchScores(Result):
    """What several searches for each question found, how soon and at what cost. Made by `score_searches`."""

    own_forms: ClassVar[Forms] = {
        "html": Form("a page with every search", "goldrank.agents.searches_page:render", (".html",)),
    }

    run: str
    per_question: tuple[QuestionSearches, ...]
    counted: Counted
    notes: tuple[Note, ...] = ()
    chosen: Mapping[str, Column] = field(default_factory=dict)
    """Columns with other options, which `scores` has in place of the usual ones."""

    @cached_property
    def scores(self) -> Scores:
        """The values that can be averaged as `Scores`: for `compare`, gates and histories."""
        columns = dict(self.chosen) or self._columns()
        queries = tuple(each.query for each in self.per_question)
        return Scores(self.run, queries, columns, Remarks(notes=self.notes), "searches", facts=self._facts())

    def _columns(self) -> dict[str, Column]:
        columns = {}
        fields = dict(COLUMNS)
        if self.counted.budget is not None:
            fields[f"UnionRecall(tokens={self.counted.budget:g})"] = ("within", True)
        for name, (attribute, higher_is_better) in fields.items():
            column = self._values(attribute)
            summary = math.nan
            if not np.isnan(column).all():
                summary = float(np.nanmean(column))
            columns[name] = Column(name, column, summary, "mean", higher_is_better)
        return columns

    def _facts(self) -> QueryFacts:
        """What records say of latency, tokens, cost and conversations."""
        facts: dict[str, Any] = {}
        for name in ("latency", "tokens", "cost", "turn"):
            values = np.array([getattr(each.about, name) for each in self.per_question], np.float64)
            if not np.isnan(values).all():
                facts[name] = values
        conversations = tuple(each.about.conversation for each in self.per_question)
        if any(conversations):
            facts["conversation"] = conversations
        return QueryFacts(**facts)

    def _values(self, attribute: str) -> np.ndarray:
        """A value of each question; NaN where it is None."""
        return np.array([getattr(each, attribute) for each in self.per_question], np.float64)

    @property
    def mean(self) -> Mapping[str, float]:
        """The means over questions."""
        return self.scores.mean

    def reached(self, name: str) -> tuple[float, float]:
        """How many questions get as far as the first hit, or as far as enough of them, and after how many searches.

        Parameters
        ----------
        name : str
            "searches_to_first" or "searches_to_cover".

        Returns
        -------
        tuple of float
            The share of questions that get there, and the median number of searches, where never is infinite.
        """
        searches = self._values(name)
        never = np.isnan(searches)
        searches[never] = math.inf
        return float((~never).mean()), median(searches.tolist())

    @property
    def new_per_search(self) -> float | None:
        """Things found by all searches together, over all searches of all questions."""
        searches = sum(each.searches for each in self.per_question)
        if searches:
            return sum(sum(each.new) for each in self.per_question) / searches
        return None

    @property
    def recall_per_1000_tokens(self) -> float | None:
        """1000 times the mean recall over the mean tokens; None if tokens are not known."""
        tokens = self._values("tokens")
        if np.isnan(tokens).any() or not tokens.sum():
            return None
        return float(1000 * self._values("union_recall").mean() / tokens.mean())

    @property
    def recall_per_1000_tokens_interval(self) -> Interval:
        """Its bootstrap interval over questions."""
        if self.recall_per_1000_tokens is None or len(self.per_question) < 2:
            return UNKNOWN
        recall, tokens = resampled_means(np.array([self._values("union_recall"), self._values("tokens")])).T
        ratios = np.full(len(recall), math.nan)
        ratios[tokens > 0] = 1000 * recall[tokens > 0] / tokens[tokens > 0]
        return percentiles(ratios, LEVEL)

    @property
    def words(self) -> str:
        """What was found, and how much of the searching was in vain."""
        searches = sum(each.searches for each in self.per_question)
        wasted = sum(each.wasted for each in self.per_question)
        covered = float(self._values("union_recall").mean())
        return (
            f"{count(searches, 'search')} for {count(len(self.per_question), 'question')}: {covered:.1%} of what is "
            f"expected was found; {count(wasted, 'search')} added nothing."
        )

    def parts(self) -> list[Part]:
        """What people read: means, how soon, and what wasted searches were."""
        rows: list[Cells] = []
        for name, column in self.scores.columns.items():
            highest = 1.0
            if name == "NewPerSearch":
                highest = math.inf
            within = mean_interval(column.counted, level=LEVEL, low=0.0, high=highest)
            rows.append([name, column.summary, Cell(shown_interval(within), within.low)])

        ratio = self.recall_per_1000_tokens
        if ratio is not None:
            rows.append(["RecallPer1000Tokens", ratio, Cell(shown_interval(self.recall_per_1000_tokens_interval))])

        soon: list[Cells] = []
        for name in ("searches_to_first", "searches_to_cover"):
            share, middle = self.reached(name)
            soon.append([name.replace("_", " "), Cell(f"{share:.1%}", share), Cell(f"{middle:g}", middle)])

        kinds: list[Cells] = []
        for kind, meaning in KINDS.items():
            times = sum(each.kinds.count(kind) for each in self.per_question)
            kinds.append([kind, Cell(f"{times:,}", times), meaning])

        return [
            Sentence(self.words),
            Table([*Head.names("measure"), *Head.numbers("mean", "95% interval")], rows, "Searches"),
            Table([*Head.names("how soon"), *Head.numbers("reached", "median")], soon, "How soon"),
            Table([*Head.names("search"), *Head.numbers("count"), *Head.texts("which")], kinds, "Kinds of searches"),
            *note_sentences(self.notes),
        ]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each question."""
        return [each.row() for each in self.per_question]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        low, high = self.recall_per_1000_tokens_interval
        questions = [{**each.row(), "new": list(each.new), "kinds": list(each.kinds)} for each in self.per_question]

        return {
            "format": "goldrank-search-scores",
            "version": 1,
            **attributes(self, "run words"),
            **attributes(self.counted, "k budget cover"),
            "mean": dict(self.mean),
            "recall_per_1000_tokens": {"value": self.recall_per_1000_tokens, "low": low, "high": high},
            "questions": questions,
            "notes": [note.to_dict() for note in self.notes],
        }


@named_arguments
def score_searches(
    records: SearchRecords,
    gold: Gold | None = None,
    *,
    k: int | None = None,
    tokens: float | None = None,
    cover: float = 1.0,
) -> SearchScores:
    """Score agents that search several times for a question.

    Parameters
    ----------
    records : file, folder or records
        For each question an id, `searches` in order ({"retrieved": [ids], "tokens": 400}), and `expected`: ids, or
        groups of ids such as [["a1", "a2"], ["b"]]. Files of BrowseComp-Plus are read as they are.
    gold : mapping, optional
        By question, what is expected, where records do not say it; qrels too.
    k : int, optional
        How many first documents of each search count.
    tokens : number, optional
        A budget: recall is also measured for the searches whose tokens fit into it.
    cover : float
        The share of what is expected that counts as covered.

    Returns
    -------
    SearchScores

    Raises
    ------
    InputError
        If records cannot be read, or none says what is expected.

    Examples
    --------
    >>> searches = [{"retrieved": ["x", "a"]}, {"retrieved": ["a", "x"]}, {"retrieved": ["b"]}]
    >>> found = score_searches([{"id": "q", "searches": searches, "expected": ["a", "b"]}])
    >>> found.mean["UnionRecall"], found.per_question[0].kinds
    (1.0, ('useful', 'repeat', 'useful'))
    """
    if real_number(cover, "cover", 0.0, 1.0) == 0:
        raise OptionError("cover is 0; it must be more", hint="1 is all that is expected.")
    if k is not None:
        whole_number(k, "k", 1)
    if tokens is not None:
        real_number(tokens, "tokens")
    check_gold(gold)

    counted = Counted(k, tokens, cover)
    name, read = read_searches(records)
    questions: list[QuestionSearches] = []
    without: list[str] = []
    for number, record in enumerate(read, 1):
        query = _query(record, number)
        groups = _groups(record, gold, query)
        if not groups:
            without.append(query)
            continue
        searches = searches_of(record, query)
        questions.append(count_searches(query, searches, groups, counted, _about(record, searches, query)))

    if not questions:
        hint = "Say it in `expected`, or give judgements: gold= in Python, QRELS before the file at the prompt."
        raise InputError("no question says what is expected", where=name, hint=hint, code="no-gold")

    names = [question.query for question in questions]
    repeated = next((query for query in names if names.count(query) > 1), None)
    if repeated is not None:
        hint = "One record for each question; --convention browsecomp-plus counts each file."
        raise InputError(f"question {repeated!r} is there more than once", where=name, hint=hint)

    notes: tuple[Note, ...] = ()
    if without:
        notes = (Note.of("searches-without-gold", count=len(without), samples=without),)
    return SearchScores(name, tuple(questions), counted, notes)


def check_gold(gold: Gold | None) -> None:
    """Refuse gold that is not given by question, or not as lists of ids or grades by id."""
    if gold is None:
        return
    of_type(gold, Mapping, "gold", "what is expected, by question")
    for query, expected in gold.items():
        is_grades = isinstance(expected, Mapping) and all(isinstance(grade, Real) for grade in expected.values())
        if not is_grades and not isinstance(expected, list | tuple | set | frozenset):
            hint = "Give {'q1': ['d1', 'd2']} or {'q1': {'d1': 1}}."
            raise InputError(f"what question {ids.show(str(query))!r} expects is not a list of ids", hint=hint)


def _query(record: Mapping[str, Any], number: int) -> str:
    key = first_present(record, QUESTION_IDS)
    if key is None:
        return str(number)
    return ids.as_text(record[key], "query id", f"record {number}")


def _groups(record: Mapping[str, Any], gold: Gold | None, query: str) -> list[IdGroup]:
    if gold is not None:
        expected: Any = gold.get(query, ())
    else:
        expected = next((record[name] for name in EXPECTED if record.get(name)), ())
    if isinstance(expected, Mapping):
        expected = [doc for doc, grade in expected.items() if grade > 0]
    return id_groups(list(expected), f"question {query!r}")


def searches_of(record: Mapping[str, Any], query: str) -> list[Search]:
    """The searches of a record in order: its `searches`, or the tool calls of BrowseComp-Plus."""
    if isinstance(record.get("searches"), list):
        return [_search(entry, f"question {query!r}, search {i}") for i, entry in enumerate(record["searches"], 1)]
    if isinstance(record.get("result"), list):
        return [
            Search(tuple(docids(call.get("output"))), query=_asked(call.get("arguments")))
            for call in record["result"]
            if call.get("type") == "tool_call" and SEARCH_TOOL.search(str(call.get("tool_name")))
        ]
    hint = 'Searches look like "searches": [{"retrieved": ["d1", "d2"]}].'
    raise InputError("has no searches", where=f"question {query!r}", hint=hint, code="no-searches")


def _search(entry: Any, position: str) -> Search:
    if not isinstance(entry, Mapping):
        entry = {"retrieved": entry}
    docs = entry.get("retrieved", entry.get("retrieved_ids"))
    if not isinstance(docs, list | tuple):
        raise InputError(
            "has no list of retrieved ids", where=position, hint='For example {"retrieved": ["d1", "d2"]}.'
        )
    retrieved = tuple(ids.as_text(_document_id(doc), "document id", position) for doc in docs)
    tokens = _number(entry.get("tokens"), "tokens", position)
    return Search(retrieved, tokens, str(entry.get("query") or ""), _latency(entry, position))


def _asked(arguments: Any) -> str:
    """The query among the arguments of a tool call, which are JSON in a string."""
    parsed = arguments
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
    if isinstance(parsed, Mapping):
        return str(parsed.get("query") or parsed.get("q") or "")
    return ""


def _about(record: Mapping[str, Any], searches: Sequence[Search], query: str) -> QuestionFacts:
    """What a record says beside its searches; latency and tokens of the searches are summed where it has none."""
    position = f"question {query!r}"
    latency = _latency(record, position)
    if latency is None:
        latency = _sum(search.latency for search in searches)

    tokens = _number(record.get("tokens"), "tokens", position)
    usage = record.get("usage")
    if tokens is None and isinstance(usage, Mapping):
        tokens = _number(usage.get("total_tokens"), "usage.total_tokens", position)
    if tokens is None:
        tokens = _sum(search.tokens for search in searches)

    turn = record.get("turn")
    if turn is not None and type(turn) is not int:
        raise InputError(f"turn is {turn!r:.60}", where=position, hint="Turns are whole numbers.")
    conversation = record.get("conversation")
    if conversation is not None:
        conversation = ids.as_text(conversation, "conversation", position)
    text = str(record.get("question") or "")
    return QuestionFacts(text, latency, tokens, _number(record.get("cost"), "cost", position), conversation, turn)


def _sum(values: Iterable[float | None]) -> float | None:
    numbers = list(values)
    if not numbers or None in numbers:
        return None
    return math.fsum(number for number in numbers if number is not None)


def _latency(record: Mapping[str, Any], position: str) -> float | None:
    """Seconds, from `latency` in seconds or `latency_ms`."""
    milliseconds = _number(record.get("latency_ms"), "latency_ms", position)
    if milliseconds is not None:
        return milliseconds / 1000
    return _number(record.get("latency"), "latency", position)


def _number(value: Any, name: str, position: str) -> float | None:
    if value is None:
        return None
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer that no float holds
            number = float(value)
    if not 0 <= number < math.inf:
        raise InputError(
            f"{name} is {value!r:.60}", where=position, hint="It is a number from 0 on.", code="bad-number"
        )
    return number


def _document_id(doc: Any) -> Any:
    """The id of a document that is a record with "id", or that is its id."""
    if isinstance(doc, Mapping) and "id" in doc:
        return doc["id"]
    return doc


def docids(output: Any) -> list[str]:
    """The documents that a search of BrowseComp-Plus returned: JSON in a string, else what looks like ids in it."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return _DOCID.findall(output)
    if not isinstance(output, list):
        return []
    return [str(entry["docid"]) for entry in output if isinstance(entry, Mapping) and "docid" in entry]


def read_searches(source: SearchRecords) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """A name and the records: of a file, of a folder with a file for each question, or the records themselves."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        files = [path]
        if os.path.isdir(path):
            files = sorted(path.glob("*.json"))
        records = [record for file in files for record in whole_records(file)]
        return path.name, as_questions(records, path.name)
    if isinstance(source, Mapping):
        return "searches", [source]
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise InputError("is neither a file nor records", where="searches", hint="Give a path, or a list of records.")
    return "searches", as_questions(objects(list(source), "searches"), "searches")
