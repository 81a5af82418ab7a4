"""Which measures to use: the decision flow "what matters most?" and a table of use cases.

>>> from goldrank import choose
>>> choose("rag").measures
('R@5', 'P@5', 'RR')
>>> choose(find_all=False, order_matters=True, graded=True, k=20).primary
('nDCG@20',)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from goldrank.errors import OptionError, did_you_mean, of_type, whole_number
from goldrank.measures import parse

DEFAULT_K = 10


@dataclass(frozen=True)
class Advice:
    """Measures that fit, and why."""

    primary: tuple[str, ...]
    """What to judge systems by."""
    secondary: tuple[str, ...]
    """What to look at beside it: no single measure tells everything."""
    why: str
    answers: tuple[tuple[str, bool], ...] = ()
    """The questions that led here and how they were answered."""

    @property
    def measures(self) -> tuple[str, ...]:
        """All of them, as `goldrank.evaluate` takes them."""
        return self.primary + self.secondary

    def __str__(self) -> str:
        lines = [f"Use {', '.join(self.primary)}, and look at {', '.join(self.secondary)} beside it.", self.why]
        for spelled in self.measures:
            declared = parse(spelled).declaration
            lines.append(f"  {spelled}: {declared.use} Avoid it when: {declared.avoid}")
        return "\n".join(lines)


@dataclass(frozen=True)
class UseCase:
    """A row of the table of use cases."""

    title: str
    primary: tuple[str, ...]
    secondary: tuple[str, ...]
    why: str


USE_CASES = {
    "qa": UseCase("Q&A system", ("RR",), ("Success@1",), "Users want one answer, and read from the top."),
    "search": UseCase("Search engine", ("nDCG@10",), ("P@10",), "Users see a page of ten, and order matters."),
    "legal": UseCase("Legal discovery", ("R@100",), ("P@100",), "A missed document is costly."),
    "recommendation": UseCase("Recommendations", ("nDCG@5",), ("P@5",), "A few places, and the first ones sell."),
    "fact-checking": UseCase("Fact verification", ("Success@3",), ("RR",), "One piece of evidence settles it."),
    "rag": UseCase("RAG retrieval", ("R@5", "P@5"), ("RR",), "The model must get the evidence, and little else."),
    "multi-hop": UseCase(
        "Answers from several documents", ("RecallAll@10",), ("R@10", "AP"), "All of the evidence must be there."
    ),
    "candidates": UseCase(
        "First stage of several", ("R@1000",), ("R@100",), "What is not retrieved here is lost to the later stages."
    ),
    "reranking": UseCase("Last stage", ("P@10", "nDCG@10"), ("AP",), "False positives near the top cost most."),
}


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
    "first_counts": Question("Is the first relevant result the one that counts?", "RR", "P"),
    "one_is_enough": Question("Is one relevant result enough?", "Success", "P"),
}
ENDS = {
    "R": (("R@{k}",), ("P@{k}", "RecallAll@{k}"), "Coverage counts: every relevant document that is missed is a loss."),
    "nDCG": (("nDCG@{k}",), ("P@{k}", "R@{k}"), "Better documents should stand further up."),
    "RR": (("RR",), ("Success@1", "Success@{k}"), "The sooner the first relevant result comes, the better."),
    "P": (("P@{k}",), ("R@{k}", "AP"), "The results that are shown should be relevant."),
    "Success": (("Success@{k}",), ("RR",), "Any relevant result will do."),
}


def choose(
    use_case: str | None = None,
    *,
    find_all: bool | None = None,
    order_matters: bool | None = None,
    graded: bool | None = None,
    first_counts: bool | None = None,
    one_is_enough: bool | None = None,
    k: int = DEFAULT_K,
    ask: Callable[[str], bool] | None = None,
) -> Advice:
    """Measures for a use case, or for answers to "what matters most?".

    `use_case` is one of `USE_CASES`. Without it the answers decide; those that the flow comes to and that are
    not given are asked by `ask(question)`, or are an error that says which. `k` is how many results are looked
    at: 10 for a page of search results, 1 to 3 for answers to questions.
    """
    whole_number(k, "k", 1)
    if use_case is not None:
        of_type(use_case, str, "use_case", f"one of: {', '.join(USE_CASES)}")
        return _for_use_case(use_case)
    given = {
        "find_all": find_all,
        "order_matters": order_matters,
        "graded": graded,
        "first_counts": first_counts,
        "one_is_enough": one_is_enough,
    }
    answers: list[tuple[str, bool]] = []
    at = "find_all"
    while at in QUESTIONS:
        question = QUESTIONS[at]
        answer = given[at]
        if answer is None:
            if ask is None:
                raise OptionError(
                    f"it is not known: {question.text}",
                    hint=f"Give {at}=True or {at}=False, or a use case: {', '.join(USE_CASES)}.",
                )
            of_type(ask, Callable, "ask", "a function of a question")  # type: ignore[arg-type]
            answer = ask(question.text)
        answers.append((question.text, answer))
        at = question.yes if answer else question.no
    *named, why = ENDS[at]
    primary, secondary = (tuple(dict.fromkeys(text.format(k=k) for text in texts)) for texts in named)
    return Advice(primary, secondary, why, tuple(answers))


def _for_use_case(name: str) -> Advice:
    wanted = name.strip().casefold()
    for key, case in USE_CASES.items():
        if wanted in (key, case.title.casefold()):
            return Advice(case.primary, case.secondary, case.why)
    known = ", ".join(USE_CASES)
    raise OptionError(f"unknown use case {name!r}; there are: {known}", hint=did_you_mean(name, USE_CASES))
