"""Questions from documents: a model writes them with quotations, and what does not hold is left out.

The result says by place what answers each question, so that `evaluate_texts` needs no further judgement.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError, OptionError, of_type, whole_number
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import Path
from goldrank.base.waiting import finished
from goldrank.data.table import plain
from goldrank.io.questions.items import Item, Items
from goldrank.io.questions.source_texts import read_sources
from goldrank.judging.ask import JudgeLike, as_judge, opened_log
from goldrank.judging.command import Command
from goldrank.judging.function import Function
from goldrank.judging.item import Answer, Judge, JudgeItem
from goldrank.judging.log import JudgementLog
from goldrank.judging.money import BYTES_A_TOKEN
from goldrank.judging.pool_and_calls import Calls
from goldrank.judging.runner import Job, JobOutcome
from goldrank.match.folding import fold
from goldrank.match.locate import SourceIndex
from goldrank.match.semantic import sentence_places
from goldrank.match.tokens import words

FIELDS = ("question", "quote")
"""What a writer answers with."""
REASONS = {
    "empty": "nothing was written",
    "unanswered": "the writer or the checker gave no readable answer",
    "too short": "the question or the quotation has too few words",
    "not there": "the quotation is not in the passage",
    "too common": "the quotation stands in too many places",
    "points at the text": "the question speaks of a text that who asks does not see",
    "copied": "the question is mostly a run of words of the quotation",
    "repeated": "nearly the same question is there already",
    "not answerable": "the quotation alone does not answer the question",
}
"""Why a question is left out, in the order in which it is looked at."""
LEAST_WORDS = 3
"""Of a question and of a quotation."""
MOST_PLACES = 20
TURNS = 3
"""How often one passage is asked about, where there are few."""
_AT_THE_TEXT = re.compile(
    r"\b(?:this|the|given|above|following|provided)\s+(?:\w+\s+)?(?:passage|text|excerpt|paragraph|quote|quotation|snippet)"
    r"|\baccording to (?:it|this)\b",
    re.IGNORECASE,
)


class Passage(NamedTuple):
    """A stretch of a source that a writer is shown."""

    source: str
    start: int
    end: int


@dataclass(frozen=True)
class Planned:
    """What would be asked for questions, and what it would cost."""

    passages: int
    """That a question would be asked about first: one for each that is wanted, as far as there are so many."""
    calls: int
    """If every question holds: one to write it and one to check it, less what the log answers."""
    tokens: int
    """Of their prompts, estimated."""
    cost: float
    """Of these calls at most, by the prices."""
    most_calls: int
    """If questions have to be asked for again and again: each passage as often as it may be."""


class Questions(Items):
    """Questions with the places of their evidence, as `evaluate_texts` and `run_retriever` take them.

    `make_questions` makes them. Nothing is retrieved for them yet.
    """

    def __init__(
        self,
        records: Sequence[dict[str, Any]],
        *,
        rejected: Mapping[str, int],
        written: int,
        by_source: Mapping[str, int],
        outcome: JobOutcome,
        notes: Sequence[Note] = (),
        planned: Planned | None = None,
    ) -> None:
        super().__init__(list(records), name="questions")
        self.records = tuple(records)
        """Each question with its evidence and references, as it is saved."""
        self.rejected = rejected
        """How many were left out, by reason (`REASONS`)."""
        self.written = written
        """Passages that the writer was asked about."""

        self.by_source = by_source
        """Questions of each source; sources without any are in it too."""
        self.outcome = outcome
        """Calls, tokens and cost of both jobs."""
        self.planned = planned
        """What would be asked, in a dry run."""
        self._notes = tuple(notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What there is to know of how they were made."""
        return self._notes

    @property
    def cost(self) -> float:
        """What was spent, by the prices."""
        return self.outcome.cost

    def __iter__(self) -> Iterator[Item]:
        for record in self.records:
            references = tuple((text,) for text in record["references"])
            yield Item(record["query"], record["question"], (), references, "", None, None)

    def __repr__(self) -> str:
        return f"Questions({len(self.records):,} questions)"

    def __str__(self) -> str:
        from goldrank.judging.questions_report import parts

        return plain(parts(self))


@named_arguments
def make_questions(
    sources: Path | Mapping[str, str],
    writer: JudgeLike,
    judge: JudgeLike,
    *,
    n: int = 200,
    passage: int = 1_500,
    copied: float = 0.7,
    similar: float = 0.8,
    calls: Calls = Calls(),
) -> Questions:
    """Ask a model for questions about sources, with the quotations that answer them, and keep those that hold.

    The quotation must be in the passage, and the judge, who sees question and quotation alone, must give its highest
    grade. Questions are spread over the sources as evenly as these allow.

    Parameters
    ----------
    sources : path or mapping
        A folder of text files, a file of records with source and text, or texts by name.
    writer : Endpoint, Command or function
        Is shown a passage and answers with a question and a quotation: an `Endpoint` with the prompt "question", a
        `Command`, or a function of (question, text[, reference]) that returns a dict of "question" and "quote".
        `reference` has what was asked about the passage before.
    judge : Endpoint, Command or function
        Says whether the quotation answers the question: an `Endpoint` with the prompt "answerable", or any judge with
        a scale.
    n : int
        How many questions are wanted.
    passage : int
        About how many characters the writer is shown.
    copied : float
        Leave a question out if a run of its words of this share is copied from the quotation.
    similar : float
        Leave a question out if it has this share of words in common with another one.
    calls : Calls
        On which terms both are asked. In a dry run nothing is asked, and `planned` says what would be.

    Returns
    -------
    Questions
        `rejected` counts what was left out and why.

    Raises
    ------
    InputError
        If the sources cannot be read, or no question is left.
    OptionError
        If an option cannot be used, the writer writes no questions, or the judge has no scale.
    JudgeError
        If writer or judge cannot be asked; what was answered before is in the log.

    Examples
    --------
    >>> import tempfile
    >>> def writer(question, text):
    ...     return {"question": "When was it opened?", "quote": "It was finished in 1889."}
    >>> questions = make_questions({"eiffel": "It was finished in 1889. It was red."}, writer,
    ...     lambda question, text: 3, n=1, calls=Calls(tempfile.mkdtemp() + "/log.db"))
    >>> questions.records[0]["question"], questions.records[0]["evidence"]
    ('When was it opened?', [{'source': 'eiffel', 'start': 0, 'end': 24}])
    """
    of_type(calls, Calls, "calls", "Calls", hint="For example calls=Calls(max_calls=100).")
    whole_number(n, "n", 1)
    whole_number(passage, "passage", 100)
    for name, share in (("copied", copied), ("similar", similar)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise OptionError(f"{name} is {shown(share, 40)}; it must be a share of words, above 0 and up to 1")
    asked = _Asked(_writer(writer), _checker(judge))

    texts = read_sources(sources)
    plan = _PassageOrder(texts, passage, np.random.default_rng(calls.seed))
    if calls.dry_run:
        return _planned(plan, n, texts, asked, calls)

    sieve = _Sieve(SourceIndex(texts), copied, similar)
    tally = _Found(dict.fromkeys(texts, 0))
    budget = calls.budget()
    with JudgementLog(calls.log) as log:

        def ask(who: Judge, items: Sequence[JudgeItem]) -> JobOutcome:
            job = Job(who, items, log, calls, budget=budget, keep_judgements=False)
            outcome: JobOutcome = finished(job.run())
            tally.outcome.add(outcome)
            return outcome

        while len(tally.items) < n and not tally.outcome.stopped:
            passages = plan.next(n - len(tally.items), tally.by_source)
            if not passages:
                break
            _turn(passages, plan, tally, sieve, asked, ask, texts)

    notes = list(tally.outcome.notes)
    if len(tally.items) < n:
        notes.insert(0, Note.of("fewer-questions", count=len(tally.items), wanted=n))
    if not tally.items:
        why = ", ".join(f"{reason}: {count:,}" for reason, count in tally.rejected.items()) or tally.outcome.stopped
        raise InputError(f"no question is left ({why})", hint="Look at the answers in the log.", code="no-questions")
    return Questions(
        tally.items,
        rejected={reason: tally.rejected[reason] for reason in REASONS if tally.rejected[reason]},
        written=plan.asked,
        by_source=tally.by_source,
        outcome=tally.outcome,
        notes=notes,
    )


class _Asked(NamedTuple):
    """Who writes questions, and who checks them."""

    writer: Judge
    checker: Judge


def _planned(plan: _PassageOrder, n: int, texts: dict[str, str], asked: _Asked, calls: Calls) -> Questions:
    """What would be asked. A quotation is no longer than its passage, nor a question than the writer's answer."""
    every = plan.left
    shown = plan.next(n, dict.fromkeys(texts, 0))
    cut = [(each, texts[each.source][each.start : each.end]) for each in shown]
    to_write = [
        JudgeItem(each.source, f"{each.start}-{each.end} 0", "", text, criteria=asked.writer.criteria)
        for each, text in cut
    ]
    longest = "x" * BYTES_A_TOKEN * asked.writer.max_tokens
    to_check = [
        JudgeItem(each.source, f"{i}", longest, text, criteria=asked.checker.criteria)
        for i, (each, text) in enumerate(cut)
    ]

    with opened_log(calls) as log:
        writing = Job(asked.writer, to_write, log, calls)
        checking = Job(asked.checker, to_check, log, calls)
        sizes = [job.estimate() for job in (writing, checking)]
        planned = Planned(
            passages=len(shown),
            calls=writing.to_ask + len(shown),
            tokens=sum(tokens for tokens, _ in sizes),
            cost=sum(cost for _, cost in sizes),
            most_calls=2 * every,
        )
    nothing = dict.fromkeys(texts, 0)
    return Questions((), rejected={}, written=0, by_source=nothing, outcome=JobOutcome(), planned=planned)


def _writer(given: JudgeLike) -> Judge:
    """Whoever writes a question and a quotation; a program and a function need not be told that they do."""
    if not isinstance(given, Judge):
        return Function(given, fields=FIELDS)
    if isinstance(given, Command):
        return given.writing(FIELDS)
    fields = getattr(given, "fields", getattr(getattr(given, "prompt", None), "fields", ()))
    if set(fields) != set(FIELDS):
        hint = 'Endpoint(..., prompt="question"), or a function that returns {"question": ..., "quote": ...}.'
        raise OptionError(f"{given.name} writes no question and quote", hint=hint, code="writes-no-questions")
    return given


def _checker(given: JudgeLike) -> Judge:
    checker = as_judge(given)
    if checker.scale is None:
        raise OptionError(f"{checker.name} answers with numbers from 0 to 1; the judge of questions needs a scale")
    return checker


@dataclass
class _Found:
    """What there is so far. Calls and cost of the outcome are those of the budget, which all jobs share."""

    by_source: dict[str, int]
    rejected: Counter[str] = field(default_factory=Counter)
    outcome: JobOutcome = field(default_factory=JobOutcome)
    items: list[dict[str, Any]] = field(default_factory=list)


class _PassageOrder:
    """Which passages are asked about next: sources with the fewest questions first, passages in random order."""

    def __init__(self, texts: dict[str, str], size: int, chance: np.random.Generator) -> None:
        self.asked = 0
        self.before: dict[Passage, list[str]] = {}
        """Questions that were written about a passage."""
        self._left: dict[str, list[Passage]] = {}
        names = sorted(texts)
        self._order = {names[i]: at for at, i in enumerate(chance.permutation(len(names)).tolist())}
        for source in self._order:
            cut = list(passages(source, texts[source], size))
            turns = [chance.permutation(len(cut)).tolist() for _ in range(TURNS)]
            self._left[source] = [cut[i] for turn in turns for i in turn][::-1]

    @property
    def left(self) -> int:
        """How often passages may still be asked about."""
        return sum(map(len, self._left.values()))

    def next(self, count: int, by_source: dict[str, int]) -> list[Passage]:
        """So many passages, or those that are left, no passage twice."""
        heap = [(by_source[source], at, source) for source, at in self._order.items() if self._left[source]]
        heapq.heapify(heap)
        chosen: dict[Passage, None] = {}
        while heap and len(chosen) < count:
            have, at, source = heapq.heappop(heap)
            left = self._left[source]
            if left[-1] in chosen:
                continue  # its next turn comes with the next call
            chosen[left.pop()] = None
            if left:
                heapq.heappush(heap, (have + 1, at, source))

        self.asked += len(chosen)
        return list(chosen)


def passages(source: str, text: str, size: int) -> Iterator[Passage]:
    """A text in stretches of whole sentences with about `size` characters; a longer sentence is cut.

    >>> [(each.start, each.end) for each in passages("s", "One two three. Four five six.", 20)]
    [(0, 14), (15, 29)]
    """
    begin = end = -1
    for first, last in (place for start, stop in sentence_places(text) for place in _cut(start, stop, size)):
        if begin >= 0 and last - begin > size:
            yield Passage(source, begin, end)
            begin = -1
        begin, end = (first if begin < 0 else begin), last
    if begin >= 0 and text[begin:end].strip():
        yield Passage(source, begin, end)


def _cut(start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    return ((at, min(at + size, stop)) for at in range(start, stop, size))


def _turn(
    shown: Sequence[Passage],
    plan: _PassageOrder,
    tally: _Found,
    sieve: _Sieve,
    asked: _Asked,
    ask: Callable[[Judge, Sequence[JudgeItem]], JobOutcome],
    texts: dict[str, str],
) -> None:
    """Ask about some passages, and keep those that pass the checks."""
    items = {
        (passage.source, f"{passage.start}-{passage.end} {len(plan.before.get(passage, ()))}"): passage
        for passage in shown
    }  # fmt: skip
    written = ask(asked.writer, [
        JudgeItem(
            *name, "", texts[passage.source][passage.start : passage.end],
            reference="\n".join(plan.before.get(passage, ())), criteria=asked.writer.criteria,
        )
        for name, passage in items.items()
    ])  # fmt: skip
    candidates: dict[tuple[str, str], tuple[Passage, JudgeItem, list[dict[str, Any]]]] = {}
    for name, passage in items.items():
        answer = written.answers.get(name)
        if answer is None:
            tally.rejected["unanswered"] += name in written.failed or name in written.unreadable
            continue
        plan.before.setdefault(passage, []).append(answer.fields.get("question", ""))
        reason, places = sieve.looked_at(answer, texts[passage.source][passage.start : passage.end], passage.source)
        if reason:
            tally.rejected[reason] += 1
            continue
        question, quote = answer.fields["question"], texts[places[0]["source"]][places[0]["start"] : places[0]["end"]]
        key = hashlib.sha256(f"{passage.source}\0{question}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
        to_check = JudgeItem(passage.source, key, question, quote, criteria=asked.checker.criteria)
        candidates[passage.source, key] = passage, to_check, places

    if candidates:
        said = ask(asked.checker, [item for _, item, _ in candidates.values()])
    else:
        said = JobOutcome()

    scale = asked.checker.scale
    assert scale is not None
    for name, (passage, item, places) in candidates.items():
        grade = said.grades.get(name)
        if grade is None:
            tally.rejected["unanswered"] += name in said.failed or name in said.unreadable
        elif grade < scale[-1]:
            tally.rejected["not answerable"] += 1
        elif sieve.repeats(item.question):
            tally.rejected["repeated"] += 1
        else:
            if len(places) == 1:
                evidence = places[0]
            else:
                evidence = {"any_of": places}
            sieve.keep(item.question)
            tally.items.append(
                {"query": item.doc, "question": item.question, "evidence": [evidence], "references": [item.text]}
            )
            tally.by_source[passage.source] += 1


class _Sieve:
    """What can be said of a question without asking anybody."""

    def __init__(self, index: SourceIndex, copied: float, similar: float) -> None:
        self._index, self._copied, self._similar = index, copied, similar
        self._kept: list[frozenset[str]] = []
        self._holders: dict[str, list[int]] = {}

    def looked_at(self, answer: Answer, passage: str, source: str) -> tuple[str, list[dict[str, Any]]]:
        """Why a question is left out, or an empty text and all places of its quotation, its own source first."""
        if not answer.grade:
            return "empty", []

        question, quote = answer.fields["question"], answer.fields["quote"]
        asked, told = words(fold(question)), words(fold(quote))
        if min(len(asked), len(set(told))) < LEAST_WORDS:
            return "too short", []
        if _AT_THE_TEXT.search(question):
            return "points at the text", []
        if SourceIndex({source: passage})[source].find(quote, similarity=None, words=True) is None:
            return "not there", []

        run = max(LEAST_WORDS, -int(-self._copied * len(asked) // 1))
        if {tuple(asked[i : i + run]) for i in range(len(asked) - run + 1)} & {
            tuple(told[i : i + run]) for i in range(len(told) - run + 1)
        }:
            return "copied", []
        if self.repeats(question):
            return "repeated", []

        places = self._places(quote, source)
        if len(places) > MOST_PLACES:
            return ("too common", [])
        return ("", places)

    def _places(self, quote: str, own: str) -> list[dict[str, Any]]:
        """Where a quotation stands, in any source: a text from another copy answers the question as well."""
        sources = dict.fromkeys((own, *self._index.likely(quote)))
        return [
            {"source": source, "start": start, "end": end}
            for source in sources
            if (location := self._index[source].find(quote, similarity=None, words=True)) is not None
            for start, end in location.places
        ]

    def repeats(self, question: str) -> bool:
        """Whether nearly the same question is kept."""
        mine = frozenset(words(fold(question)))
        shared = Counter(at for word in mine for at in self._holders.get(word, ()))
        return any(count >= self._similar * (len(mine) + len(self._kept[at]) - count) for at, count in shared.items())

    def keep(self, question: str) -> None:
        """From now on the same question is a repeated one."""
        mine = frozenset(words(fold(question)))
        for word in mine:
            self._holders.setdefault(word, []).append(len(self._kept))
        self._kept.append(mine)
