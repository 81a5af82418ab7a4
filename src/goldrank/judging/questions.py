"""Questions from documents: a model writes them with quotations, and those that fail a check are left out.

The result has the positions that answer each question, so that `evaluate_texts` needs no further judgement.
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
"""The fields of a writer's answer."""
REASONS = {
    "empty": "nothing was written",
    "unanswered": "the writer or the checker gave no readable answer",
    "too short": "the question or the quotation has too few words",
    "not there": "the quotation is not in the passage",
    "too common": "the sources have the quotation too often",
    "points at the text": "the question speaks of a text that its reader does not see",
    "copied": "the question is mostly a run of words of the quotation",
    "repeated": "nearly the same question is there already",
    "not answerable": "the quotation alone does not answer the question",
}
"""Why a question is left out."""
LEAST_WORDS = 3
"""The fewest words of a question and of a quotation."""
MOST_POSITIONS = 20
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
    """The calls that would be made for questions, and their cost."""

    passages: int
    """Passages in the first turn: one for each question, or all if there are fewer."""
    calls: int
    """Calls if every question passes: one to write it and one to check it, less those that the log answers."""
    tokens: int
    """Tokens of their prompts, estimated."""
    cost: float
    """The most that these calls cost, by the prices."""
    most_calls: int
    """Calls if many questions fail: each passage as often as it may be asked about."""


class Questions(Items):
    """Questions with the positions of their evidence, as `evaluate_texts` and `run_retriever` take them.

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
        """The calls that would be made, in a dry run."""
        self._notes = tuple(notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks about how they were made."""
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
    """Ask a model for questions about sources, with the quotations that answer them, and keep those that pass.

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
        How many questions to make.
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

    judges = _WriterAndChecker(_writer(writer), _checker(judge))

    texts = read_sources(sources)
    plan = _PassageOrder(texts, passage, np.random.default_rng(calls.seed))
    if calls.dry_run:
        return _planned(plan, n, texts, judges, calls)

    sieve = _Sieve(SourceIndex(texts), copied, similar)
    tally = _Tally(dict.fromkeys(texts, 0))
    budget = calls.budget()
    with JudgementLog(calls.log) as log:

        def ask(asked_judge: Judge, items: Sequence[JudgeItem]) -> JobOutcome:
            job = Job(asked_judge, items, log, calls, budget=budget, keep_judgements=False)
            outcome: JobOutcome = finished(job.run())
            tally.outcome.add(outcome)
            return outcome

        while len(tally.items) < n and not tally.outcome.stopped:
            passages = plan.next(n - len(tally.items), tally.by_source)
            if not passages:
                break
            _turn(passages, plan, tally, sieve, judges, ask, texts)

    notes = list(tally.outcome.notes)
    if len(tally.items) < n:
        notes.insert(0, Note.of("fewer-questions", count=len(tally.items), wanted=n))
    if not tally.items:
        why = ", ".join(f"{reason}: {count:,}" for reason, count in tally.rejected.items()) or tally.outcome.stopped
        raise InputError(f"no question is left ({why})", hint="Look at the answers in the log.", code="no-questions")

    return Questions(
        tally.items,
        rejected={reason: tally.rejected[reason] for reason in REASONS if tally.rejected[reason]},
        written=plan.passages_asked,
        by_source=tally.by_source,
        outcome=tally.outcome,
        notes=notes,
    )


class _WriterAndChecker(NamedTuple):
    """The judge that writes questions, and the judge that checks them."""

    writer: Judge
    checker: Judge


def _planned(plan: _PassageOrder, n: int, texts: dict[str, str], judges: _WriterAndChecker, calls: Calls) -> Questions:
    """The calls of a dry run. A quotation is at most as long as its passage, a question as the writer's answer."""
    all_turns = plan.left
    first_turn = plan.next(n, dict.fromkeys(texts, 0))
    longest_question = "x" * BYTES_A_TOKEN * judges.writer.max_tokens
    to_write, to_check = [], []
    for i, passage in enumerate(first_turn):
        text = texts[passage.source][passage.start : passage.end]
        name = f"{passage.start}-{passage.end} 0"
        to_write.append(JudgeItem(passage.source, name, "", text, criteria=judges.writer.criteria))
        to_check.append(JudgeItem(passage.source, f"{i}", longest_question, text, criteria=judges.checker.criteria))

    with opened_log(calls) as log:
        writing = Job(judges.writer, to_write, log, calls)
        checking = Job(judges.checker, to_check, log, calls)
        writing_tokens, writing_cost = writing.estimate()
        checking_tokens, checking_cost = checking.estimate()
        planned = Planned(
            passages=len(first_turn),
            calls=writing.to_ask + len(first_turn),
            tokens=writing_tokens + checking_tokens,
            cost=writing_cost + checking_cost,
            most_calls=2 * all_turns,
        )

    nothing = dict.fromkeys(texts, 0)
    return Questions((), rejected={}, written=0, by_source=nothing, outcome=JobOutcome(), planned=planned)


def _writer(writer: JudgeLike) -> Judge:
    """The judge that writes a question and a quotation; a program or a function becomes one."""
    if not isinstance(writer, Judge):
        return Function(writer, fields=FIELDS)
    if isinstance(writer, Command):
        return writer.writing(FIELDS)
    fields = getattr(writer, "fields", getattr(getattr(writer, "prompt", None), "fields", ()))
    if set(fields) != set(FIELDS):
        hint = 'Endpoint(..., prompt="question"), or a function that returns {"question": ..., "quote": ...}.'
        raise OptionError(f"{writer.name} writes no question and quote", hint=hint, code="writes-no-questions")
    return writer


def _checker(judge: JudgeLike) -> Judge:
    checker = as_judge(judge)
    if checker.scale is None:
        raise OptionError(f"{checker.name} answers with numbers from 0 to 1; the judge of questions needs a scale")
    return checker


@dataclass
class _Tally:
    """The result so far. Calls and cost of the outcome are those of the budget, which all jobs share."""

    by_source: dict[str, int]
    rejected: Counter[str] = field(default_factory=Counter)
    outcome: JobOutcome = field(default_factory=JobOutcome)
    items: list[dict[str, Any]] = field(default_factory=list)


class _PassageOrder:
    """The order of passages: sources with the fewest questions first, passages in random order."""

    def __init__(self, texts: dict[str, str], size: int, chance: np.random.Generator) -> None:
        self.passages_asked = 0
        self.before: dict[Passage, list[str]] = {}
        """Questions that were written about a passage."""
        self._left: dict[str, list[Passage]] = {}

        names = sorted(texts)
        self._order = {names[i]: rank for rank, i in enumerate(chance.permutation(len(names)).tolist())}
        for source in self._order:
            cut = list(passages(source, texts[source], size))
            turns = [chance.permutation(len(cut)).tolist() for _ in range(TURNS)]
            self._left[source] = [cut[i] for turn in turns for i in turn][::-1]

    @property
    def left(self) -> int:
        """How often passages may still be asked about."""
        return sum(map(len, self._left.values()))

    def next(self, count: int, by_source: dict[str, int]) -> list[Passage]:
        """The next `count` passages, or those that are left, no passage twice."""
        heap = [(by_source[source], rank, source) for source, rank in self._order.items() if self._left[source]]
        heapq.heapify(heap)
        chosen: dict[Passage, None] = {}
        while heap and len(chosen) < count:
            questions, rank, source = heapq.heappop(heap)
            left = self._left[source]
            if left[-1] in chosen:
                continue  # its next turn comes with the next call
            chosen[left.pop()] = None
            if left:
                heapq.heappush(heap, (questions + 1, rank, source))

        self.passages_asked += len(chosen)
        return list(chosen)


def passages(source: str, text: str, size: int) -> Iterator[Passage]:
    """A text in stretches of whole sentences with about `size` characters; a longer sentence is cut.

    >>> [(passage.start, passage.end) for passage in passages("s", "One two three. Four five six.", 20)]
    [(0, 14), (15, 29)]
    """
    begin = end = -1
    for sentence_start, sentence_end in sentence_places(text):
        for first, last in _cut(sentence_start, sentence_end, size):
            if begin >= 0 and last - begin > size:
                yield Passage(source, begin, end)
                begin = -1
            if begin < 0:
                begin = first
            end = last

    if begin >= 0 and text[begin:end].strip():
        yield Passage(source, begin, end)


def _cut(start: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    return ((begin, min(begin + size, stop)) for begin in range(start, stop, size))


def _turn(
    shown: Sequence[Passage],
    plan: _PassageOrder,
    tally: _Tally,
    sieve: _Sieve,
    judges: _WriterAndChecker,
    ask: Callable[[Judge, Sequence[JudgeItem]], JobOutcome],
    texts: dict[str, str],
) -> None:
    """Ask about some passages, and keep the questions that pass the checks."""
    to_write: list[JudgeItem] = []
    by_name: dict[tuple[str, str], Passage] = {}
    for passage in shown:
        before = plan.before.get(passage, [])
        name = passage.source, f"{passage.start}-{passage.end} {len(before)}"
        text = texts[passage.source][passage.start : passage.end]
        by_name[name] = passage
        to_write.append(JudgeItem(*name, "", text, reference="\n".join(before), criteria=judges.writer.criteria))

    written = ask(judges.writer, to_write)
    candidates: dict[tuple[str, str], tuple[Passage, JudgeItem, list[dict[str, Any]]]] = {}
    for name, passage in by_name.items():
        answer = written.answers.get(name)
        if answer is None:
            tally.rejected["unanswered"] += name in written.failed or name in written.unreadable
            continue
        plan.before.setdefault(passage, []).append(answer.fields.get("question", ""))
        reason, positions = sieve.looked_at(answer, texts[passage.source][passage.start : passage.end], passage.source)
        if reason:
            tally.rejected[reason] += 1
            continue

        first = positions[0]
        question, quote = answer.fields["question"], texts[first["source"]][first["start"] : first["end"]]
        key = hashlib.sha256(f"{passage.source}\0{question}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
        to_check = JudgeItem(passage.source, key, question, quote, criteria=judges.checker.criteria)
        candidates[passage.source, key] = passage, to_check, positions

    checked = JobOutcome()
    if candidates:
        checked = ask(judges.checker, [item for _, item, _ in candidates.values()])

    scale = judges.checker.scale
    assert scale is not None
    for name, (passage, item, positions) in candidates.items():
        grade = checked.grades.get(name)
        if grade is None:
            tally.rejected["unanswered"] += name in checked.failed or name in checked.unreadable
        elif grade < scale[-1]:
            tally.rejected["not answerable"] += 1
        elif sieve.repeats(item.question):
            tally.rejected["repeated"] += 1
        else:
            evidence: dict[str, Any] = {"any_of": positions}
            if len(positions) == 1:
                evidence = positions[0]
            sieve.keep(item.question)
            tally.items.append(
                {"query": item.doc, "question": item.question, "evidence": [evidence], "references": [item.text]}
            )
            tally.by_source[passage.source] += 1


def _runs_of_words(text_words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(text_words[i : i + length]) for i in range(len(text_words) - length + 1)}


class _Sieve:
    """The checks of a question that need no judge."""

    def __init__(self, index: SourceIndex, copied: float, similar: float) -> None:
        self._index, self._copied, self._similar = index, copied, similar
        self._kept_questions: list[frozenset[str]] = []
        self._holders: dict[str, list[int]] = {}

    def looked_at(self, answer: Answer, passage: str, source: str) -> tuple[str, list[dict[str, Any]]]:
        """Why a question is left out, or an empty text and all positions of its quotation, its own source first."""
        if not answer.grade:
            return "empty", []

        question, quote = answer.fields["question"], answer.fields["quote"]
        question_words, quote_words = words(fold(question)), words(fold(quote))
        if min(len(question_words), len(set(quote_words))) < LEAST_WORDS:
            return "too short", []
        if _AT_THE_TEXT.search(question):
            return "points at the text", []
        if SourceIndex({source: passage})[source].find(quote, similarity=None, words=True) is None:
            return "not there", []

        run = max(LEAST_WORDS, -int(-self._copied * len(question_words) // 1))
        if _runs_of_words(question_words, run) & _runs_of_words(quote_words, run):
            return "copied", []
        if self.repeats(question):
            return "repeated", []

        positions = self._positions(quote, source)
        if len(positions) > MOST_POSITIONS:
            return "too common", []
        return "", positions

    def _positions(self, quote: str, own: str) -> list[dict[str, Any]]:
        """Where a quotation is, in any source: a text from another copy answers the question as well."""
        positions: list[dict[str, Any]] = []
        for source in dict.fromkeys((own, *self._index.likely(quote))):
            location = self._index[source].find(quote, similarity=None, words=True)
            if location is not None:
                positions += [{"source": source, "start": start, "end": end} for start, end in location.places]
        return positions

    def repeats(self, question: str) -> bool:
        """Whether nearly the same question is kept."""
        question_words = frozenset(words(fold(question)))
        shared = Counter(number for word in question_words for number in self._holders.get(word, ()))
        return any(
            count >= self._similar * (len(question_words) + len(self._kept_questions[number]) - count)
            for number, count in shared.items()
        )

    def keep(self, question: str) -> None:
        """Remember a question, so that `repeats` finds it."""
        question_words = frozenset(words(fold(question)))
        for word in question_words:
            self._holders.setdefault(word, []).append(len(self._kept_questions))
        self._kept_questions.append(question_words)
