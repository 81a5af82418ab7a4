"""Which measures to use: the decision flow "what matters most?" and a table of use cases.

What is recommended does not fall into the pitfalls of `goldrank.guide.pitfalls`: there are always several measures,
and more than one cut-off.

>>> from goldrank import choose
>>> choose("rag").primary, choose("rag").texts[0]
(('R@5', 'P@5'), 'Cover@5')
>>> choose(find_all=False, order_matters=True, graded=True, k=20).primary
('nDCG@20',)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from goldrank.base.errors import OptionError, did_you_mean, of_type, whole_number
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.data.showing import Result
from goldrank.data.table import Part, Sentence, note_sentences
from goldrank.measures import parse
from goldrank.measures.options import MAX_CUTOFF

DEFAULT_K = 10


@dataclass(frozen=True, repr=False, eq=False)
class Advice(Result):
    """Measures that fit, and why."""

    primary: tuple[str, ...]
    """What to judge systems by."""
    secondary: tuple[str, ...]
    """What to look at beside it: no single measure tells everything."""
    why: str
    answers: tuple[tuple[str, bool], ...] = ()
    """The questions that led here and how they were answered."""
    also: tuple[str, ...] = ()
    """Another cut-off or measure, so that the report does not rest on one."""
    texts: tuple[str, ...] = ()
    """What `goldrank.evaluate_texts` measures beside, where retrieved texts and references are known."""
    evidence: tuple[str, ...] = ()
    """What `goldrank.evaluate_texts` measures beside, where the position of evidence in its sources is known."""
    beyond: tuple[str, ...] = ()
    """What to look at beyond accuracy, where `train=` and `catalogue=` are known."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a measure is of use here, by its name, where that is not its general use."""
    notes: tuple[Note, ...] = ()
    """What to think about: a k that does not go with the use case."""

    @property
    def measures(self) -> tuple[str, ...]:
        """All of them, as `goldrank.evaluate` takes them."""
        return self.primary + self.secondary + self.also

    @property
    def words(self) -> str:
        """The advice in a sentence."""
        beside = ", ".join(self.secondary + self.also)
        return f"Use {', '.join(self.primary)}, and look at {beside} beside it."

    def __repr__(self) -> str:
        return f"Advice({', '.join(map(repr, self.measures))})"

    def parts(self) -> list[Part]:
        """The advice, why, and each measure with what speaks for and against it."""
        shown_parts: list[Part] = [Sentence(self.words, "strong"), Sentence(self.why), *note_sentences(self.notes)]
        shown_parts += [self._sentence(spelled) for spelled in self.measures]
        for title, spelled in (
            ("With retrieved texts and references (goldrank texts):", self.texts),
            ("With the position of evidence in its sources (goldrank texts):", self.evidence),
            ("Beyond accuracy (goldrank.evaluate with train= and catalogue=; docs/recommenders.md):", self.beyond),
        ):
            if spelled:
                shown_parts += [Sentence(title, "strong"), *map(self._sentence, spelled)]
        return shown_parts

    def _sentence(self, spelled: str) -> Sentence:
        row = self._row(spelled, "")
        return Sentence(f"{spelled}: {row['use']} Avoid it when: {row['avoid']}", "remark")

    def _row(self, spelled: str, role: str) -> dict[str, Any]:
        declared = parse(spelled).declaration
        use = self.reasons.get(declared.name, declared.use)
        return {"measure": spelled, "role": role, "use": use, "avoid": declared.avoid}

    def rows(self) -> list[dict[str, Any]]:
        """A row per measure, with what it is for here, and when to avoid it."""
        roles = ("primary", "secondary", "also", "texts", "evidence", "beyond")
        return [self._row(spelled, role) for role in roles for spelled in getattr(self, role)]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        notes = [note.to_dict() for note in self.notes]
        return {
            "words": self.words,
            "why": self.why,
            "answers": dict(self.answers),
            "measures": self.rows(),
            "notes": notes,
        }


@dataclass(frozen=True)
class UseCase:
    """A row of the table of use cases. With another k all cut-offs change."""

    title: str
    k: int
    """How many results are looked at by default."""
    looked_at: tuple[int, int]
    """The smallest and the largest cut-off that makes sense."""
    primary: tuple[str, ...]
    secondary: tuple[str, ...]
    why: str
    also: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    beyond: tuple[str, ...] = ()


_FIND_ALL = {
    "R": "Every relevant document must be found, and each one that is missed is costly.",
    "P": "Somebody reads all that is returned, and wrong documents cost their time.",
}
USE_CASES = {
    "qa": UseCase("Q&A system", 1, (1, 3), ("RR",), ("Success@1",), "Users want one answer, and read from the top."),
    "search": UseCase(
        "Search engine",
        10,
        (5, 20),
        ("nDCG@10",),
        ("P@10",),
        "Users see a page of ten, and order matters.",
        also=("R@100",),
        reasons={"R": "How much a better order of more results could bring to the page."},
    ),
    "legal": UseCase(
        "Legal discovery",
        100,
        (50, MAX_CUTOFF),
        ("R@100",),
        ("P@100",),
        "A missed document is costly.",
        also=("R@1000",),
        reasons=_FIND_ALL,
    ),
    "recommendation": UseCase(
        "Recommendations",
        5,
        (1, 20),
        ("nDCG@5",),
        ("P@5",),
        "A few places, and the first ones sell.",
        also=("R@50",),
        reasons={"R": "How much of what people like is within reach of a better order."},
        beyond=("ItemCoverage@5", "Gini@5", "Novelty@5", "PopularityLift@5", "IntraListDiversity@5", "Calibration@5"),
    ),
    "fact-checking": UseCase(
        "Fact verification", 3, (1, 5), ("Success@3",), ("RR",), "One piece of evidence settles it."
    ),
    "rag": UseCase(
        "RAG retrieval",
        5,
        (1, 20),
        ("R@5", "P@5"),
        ("RR",),
        "The model must get the evidence, and little else: look at what the texts cover and what they cost.",
        texts=("Cover@5", "CoverAll@5", "Cover(tokens=2000)", "Tokens@5"),
        evidence=("EvidenceRecall@5", "SpanRecall@5", "SpanPrecision@5"),
    ),
    "multi-hop": UseCase(
        "Answers from several documents",
        10,
        (2, 100),
        ("AP",),
        ("RecallAll@10", "R@10"),
        "Several documents are put together, and all of the evidence must be there.",
        texts=("CoverAll@10", "Cover@10", "CoverAll(tokens=4000)@10"),
        evidence=("EvidenceAll@10", "EvidenceRecall@10"),
        reasons={"AP": "Every document that is needed counts, and those further up count more."},
    ),
    "candidates": UseCase(
        "First stage of several",
        1000,
        (100, MAX_CUTOFF),
        ("R@1000",),
        ("R@100",),
        "What is not retrieved here is lost to the later stages.",
        also=("RecallAll@1000",),
        reasons={"RecallAll": "For how many queries nothing is lost."},
    ),
    "reranking": UseCase(
        "Last stage", 10, (1, 20), ("P@10", "nDCG@10"), ("AP",), "False positives near the top cost most."
    ),
}


@dataclass(frozen=True)
class Relevance:
    """A way to judge documents."""

    values: str
    use: str
    measures: tuple[str, ...]
    """What makes use of it."""


RELEVANCE = {
    "binary": Relevance(
        "relevant (1) or not (0)",
        "Simple, quick to judge, and what most collections have.",
        ("RR", "AP", "P@10", "R@10"),
    ),
    "graded": Relevance(
        "a scale such as 0 to 3 or 0 to 5",
        "Documents are relevant by degrees, and better ones count more.",
        ("nDCG@10",),
    ),
}
"""Binary or graded judgements: what they are and when to use them."""


@dataclass(frozen=True)
class Question:
    """A fork of the decision flow; `yes` and `no` name the next question or end in a measure."""

    text: str
    yes: str
    no: str


QUESTIONS = {
    "find_all": Question("Must ALL relevant documents be found?", "R", "order_matters"),
    "order_matters": Question("Is the order of the results important?", "graded", "one_is_enough"),
    "graded": Question("Are there grades of relevance?", "nDCG", "first_counts"),
    "first_counts": Question("Is the first relevant result the one that counts?", "RR", "P in order"),
    "one_is_enough": Question("Is one relevant result enough?", "Success", "P"),
}


ENDS = {
    "R": (("R@{k}",), ("P@{k}", "RecallAll@{k}"), "Coverage counts: every relevant document that is missed is a loss."),
    "nDCG": (("nDCG@{k}",), ("P@{k}", "R@{k}"), "Better documents should stand further up."),
    "RR": (("RR",), ("Success@1", "Success@{k}"), "The sooner the first relevant result comes, the better."),
    "P in order": (
        ("P@{k}",),
        ("AP", "R@{k}"),
        "The results that are shown should be relevant. Precision does not see their order; AP beside it does.",
    ),
    "P": (("P@{k}",), ("R@{k}", "AP"), "The results that are shown should be relevant."),
    "Success": (("Success@{k}",), ("RR",), "Any relevant result will do."),
}
"""Where the flow ends: primary and secondary measures, and why."""
OTHER_CUTOFF = {"R": ("R@{other}",), "nDCG": ("R@{other}",)}
"""What keeps those ends from a report at one cut-off."""


Spelling = Callable[[str, bool], str]
"""How messages write an answer to one of the questions."""


def _as_argument(name: str, answer: bool) -> str:
    return f"{name}={shown(answer)}"


@named_arguments
def choose(
    use_case: str | None = None,
    *,
    find_all: bool | None = None,
    order_matters: bool | None = None,
    graded: bool | None = None,
    first_counts: bool | None = None,
    one_is_enough: bool | None = None,
    k: int | None = None,
    ask: Callable[[str], bool] | None = None,
) -> Advice:
    """Choose measures for a use case, or by answers to "what matters most?".

    Parameters
    ----------
    use_case : str, optional
        One of `USE_CASES`: "qa", "search", "legal", "recommendation", "fact-checking", "rag", "multi-hop",
        "candidates", "reranking". Without it the answers decide.
    find_all : bool, optional
        Must all relevant documents be found?
    order_matters : bool, optional
        Is the order of the results important?
    graded : bool, optional
        Are there grades of relevance?
    first_counts : bool, optional
        Is the first relevant result the one that counts?
    one_is_enough : bool, optional
        Is one relevant result enough?
    k : int, optional
        How many results users look at: by default what fits the use case (10 for a page of search results, 1 to 3 for
        answers to questions), or 10.
    ask : function, optional
        Is asked for an answer that is needed and not given; gets the question and returns whether it is so.

    Returns
    -------
    Advice
        `.measures` goes into `evaluate`.

    Raises
    ------
    OptionError
        If there is no such use case, there are answers beside one, or an answer is needed.

    Examples
    --------
    >>> choose(find_all=False, order_matters=True, graded=True).measures
    ('nDCG@10', 'P@10', 'R@10', 'R@100')
    """
    answers = QuestionAnswers(find_all, order_matters, graded, first_counts, one_is_enough)
    return advise(use_case, answers, k, ask)


class QuestionAnswers(NamedTuple):
    """Answers to the `QUESTIONS`, by their names; None for questions without an answer."""

    find_all: bool | None = None
    order_matters: bool | None = None
    graded: bool | None = None
    first_counts: bool | None = None
    one_is_enough: bool | None = None


def advise(
    use_case: str | None,
    answers_given: QuestionAnswers,
    k: int | None = None,
    ask: Callable[[str], bool] | None = None,
    spelled: Spelling = _as_argument,
) -> Advice:
    """The advice for a use case or for answers; messages write answers as `spelled` says."""
    if k is not None:
        whole_number(k, "k", 1, MAX_CUTOFF)
    if use_case is not None:
        answered = [spelled(name, answer) for name, answer in answers_given._asdict().items() if answer is not None]
        if answered:
            message = f"a use case has answered the questions already: {', '.join(answered)}"
            raise OptionError(message, hint="Give a use case, or answers.")
        return _for_use_case(use_case, k)

    answers: list[tuple[str, bool]] = []
    node = "find_all"
    while node in QUESTIONS:
        question = QUESTIONS[node]
        answer = getattr(answers_given, node)
        if answer is None:
            answer = _asked_answer(node, question, ask, spelled)
        of_type(answer, bool, node, "a flag")
        answers.append((question.text, answer))
        node = question.no
        if answer:
            node = question.yes

    cutoff = k or DEFAULT_K
    primary_texts, secondary_texts, why = ENDS[node]
    templates = [primary_texts, secondary_texts, OTHER_CUTOFF.get(node, ())]
    primary, secondary, extra = _each_once(_filled(texts, cutoff) for texts in templates)
    reasons: Mapping[str, str] = {}
    if node == "R":
        reasons = _FIND_ALL
    return Advice(primary, secondary, why, tuple(answers), extra, reasons=reasons)


def _filled(templates: Iterable[str], k: int) -> list[str]:
    """Templates of measures with their cut-offs."""
    return [text.format(k=k, other=_other_cutoff(k)) for text in templates]


def _asked_answer(name: str, question: Question, ask: Callable[[str], bool] | None, spelled: Spelling) -> bool:
    """The answer to a question that has none yet."""
    if ask is None:
        hint = f"Give {spelled(name, True)} or {spelled(name, False)}, or a use case: {', '.join(USE_CASES)}."
        raise OptionError(f"it is not known: {question.text}", hint=hint)
    of_type(ask, Callable, "ask", "a function of a question")  # type: ignore[arg-type]
    return ask(question.text)


def find_use_case(name: str) -> tuple[str, UseCase]:
    """The key and the row of a use case, by key or title."""
    of_type(name, str, "use_case", f"one of: {', '.join(USE_CASES)}")
    sought = name.strip().casefold()
    for key, case in USE_CASES.items():
        if sought in (key, case.title.casefold()):
            return key, case
    names = ", ".join(USE_CASES)
    message = f"unknown use case {shown(name)}; there are: {names}"
    raise OptionError(message, hint=did_you_mean(name, USE_CASES), code="unknown-choice")


def _for_use_case(name: str, k: int | None) -> Advice:
    _, case = find_use_case(name)
    cutoff = k or case.k
    lists = (case.primary, case.secondary, case.also, case.texts, case.evidence, case.beyond)
    primary, secondary, also, texts, evidence, beyond = _each_once(_at_cutoff(texts, case, cutoff) for texts in lists)

    notes: tuple[Note, ...] = ()
    low, high = case.looked_at
    if not low <= cutoff <= high:
        notes = (unusual_cutoff(case, (cutoff,)),)
    return Advice(primary, secondary, case.why, (), also, texts, evidence, beyond, case.reasons, notes)


def unusual_cutoff(case: UseCase, cutoffs: Iterable[float]) -> Note:
    """The note that none of some cut-offs goes with a use case."""
    low, high = case.looked_at
    usual = f"{low} to {high}"
    if high >= MAX_CUTOFF:
        usual = f"{low} or more"
    return Note.of("wrong-k", cutoffs=", ".join(f"{k:g}" for k in cutoffs), use_case=case.title, usual=usual)


def _at_cutoff(measures: Iterable[str], case: UseCase, k: int) -> list[str]:
    """Measures of a use case at another k."""
    return [_cut_at(text, case.k, k) for text in measures]


def _cut_at(spelled: str, usual: int, k: int) -> str:
    """A measure of a use case at another k; cut-offs beside the usual one stay beside it."""
    measure = parse(spelled)
    if not isinstance(measure.k, int) or k == usual:
        return spelled
    if measure.k == usual:
        return str(replace(measure, k=k))
    return str(replace(measure, k=_other_cutoff(k, larger=measure.k > usual)))


def _other_cutoff(k: int, larger: bool = True) -> int:
    """Another cut-off: ten times k; a tenth of it without `larger`, or where the first is too large."""
    candidates = [candidate for candidate in (10 * k, k // 10) if 1 <= candidate <= MAX_CUTOFF]
    if larger:
        return candidates[0]
    return candidates[-1]


def _each_once(lists: Iterable[Iterable[str]]) -> list[tuple[str, ...]]:
    used: set[str] = set()
    unique_lists = []
    for texts in lists:
        fresh = tuple(text for text in dict.fromkeys(texts) if text not in used)
        used.update(fresh)
        unique_lists.append(fresh)
    return unique_lists
