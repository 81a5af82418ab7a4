"""One question that was searched for several times."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from goldrank.comparison.tabular import attributes
from goldrank.io.questions.id_groups import IdGroup

SearchKind: TypeAlias = Literal["useful", "empty", "late", "repeat", "miss"]
KINDS: dict[SearchKind, str] = {
    "useful": "found something new",
    "empty": "returned nothing",
    "late": "all was found before",
    "repeat": "returned only what was seen before",
    "miss": "returned something unseen, and nothing new of what is expected",
}
"""What a search may be; all but the first are wasted."""


@dataclass(frozen=True)
class Search:
    """One search: what it returned, best first, and what that cost."""

    retrieved: tuple[str, ...]
    tokens: float | None = None
    """Tokens of the results, if they are known."""
    query: str = ""
    """What was searched for, if it is known."""
    latency: float | None = None
    """Seconds, if they are known."""


@dataclass(frozen=True)
class Counted:
    """How searches are counted."""

    k: int | None = None
    """How many first documents of a search count."""
    budget: float | None = None
    """How many tokens of results are allowed."""
    cover: float = 1.0
    """The share of the expected things that counts as covered."""


@dataclass(frozen=True)
class WantedThing:
    """One thing that a question needs."""

    name: str
    """Its ids in words: "a1 or a2"."""
    ids: frozenset[str]
    search: int | None
    """The number of the search with which it was found, from 1; None if it never was."""


@dataclass(frozen=True)
class QuestionFacts:
    """What a record says of its question beside its searches; None where it does not say it."""

    text: str = ""
    latency: float | None = None
    tokens: float | None = None
    """Tokens of the whole run: results, prompts and answer."""
    cost: float | None = None
    conversation: str | None = None
    turn: int | None = None


NOTHING_ELSE = QuestionFacts()


@dataclass(frozen=True)
class QuestionSearches:
    """What the searches for one question found."""

    query: str
    wanted: int
    """How many things the question needs."""
    found: tuple[int, ...]
    """After each search, how many of them were found by then."""
    alone: tuple[int, ...]
    """For each search, how many of them it returned itself."""
    kinds: tuple[SearchKind, ...]
    tokens: float | None
    """Tokens of all searches, if they are known."""
    within: float | None
    """What share was found by the searches that fit into the budget of tokens; None without a budget."""
    needed: int
    """How many things must be found so that the question counts as covered."""
    trajectory: tuple[Search, ...] = ()
    """The searches, in order."""
    evidence: tuple[WantedThing, ...] = ()
    """Each thing that is expected."""
    about: QuestionFacts = NOTHING_ELSE
    """What the record says beside its searches."""

    @property
    def searches(self) -> int:
        """How many searches there were."""
        return len(self.found)

    @property
    def union_recall(self) -> float:
        """The share that all searches together found."""
        if self.found:
            return self.found[-1] / self.wanted
        return 0.0

    @property
    def last_recall(self) -> float:
        """The share that the last search returned."""
        if self.alone:
            return self.alone[-1] / self.wanted
        return 0.0

    @property
    def best_recall(self) -> float:
        """The largest share that a single search returned."""
        return max(self.alone, default=0) / self.wanted

    @property
    def searches_to_first(self) -> int | None:
        """How many searches it took to find anything; None if nothing was found."""
        return self._reached(1)

    @property
    def searches_to_cover(self) -> int | None:
        """How many searches it took to find all, or the share that counts as covered; None if it was not found."""
        return self._reached(self.needed)

    def _reached(self, least: int) -> int | None:
        return next((number for number, total in enumerate(self.found, 1) if total >= least), None)

    @property
    def reciprocal_first(self) -> float:
        """1 / searches to the first find, 0 if there is none: for means, tests and gates."""
        if self.searches_to_first:
            return 1 / self.searches_to_first
        return 0.0

    @property
    def reciprocal_cover(self) -> float:
        """1 / searches to cover, 0 if that was never reached."""
        if self.searches_to_cover:
            return 1 / self.searches_to_cover
        return 0.0

    @property
    def new(self) -> tuple[int, ...]:
        """For each search, how many things it was the first to find."""
        return tuple(now - before for before, now in zip((0, *self.found), self.found, strict=False))

    @property
    def new_per_search(self) -> float | None:
        """Things found for each search; None without a search."""
        if self.found:
            return self.found[-1] / self.searches
        return None

    @property
    def wasted(self) -> int:
        """How many searches found nothing new."""
        return sum(kind != "useful" for kind in self.kinds)

    @property
    def wasted_share(self) -> float | None:
        """The share of the searches that found nothing new; None without a search."""
        if self.searches:
            return self.wasted / self.searches
        return None

    @property
    def recall_per_1000_tokens(self) -> float | None:
        """1000 times the recall over the tokens; None if there are none or they are not known."""
        if self.tokens:
            return 1000 * self.union_recall / self.tokens
        return None

    def row(self) -> dict[str, Any]:
        """A flat record."""
        names = (
            "query wanted searches union_recall last_recall best_recall searches_to_first searches_to_cover "
            "reciprocal_first reciprocal_cover new_per_search wasted wasted_share tokens within recall_per_1000_tokens"
        )
        return attributes(self, names)


def count_searches(
    query: str,
    searches: Sequence[Search],
    groups: Sequence[IdGroup],
    counted: Counted,
    about: QuestionFacts = NOTHING_ELSE,
) -> QuestionSearches:
    """What the searches of a question found."""
    lists = [list(dict.fromkeys(search.retrieved))[: counted.k] for search in searches]
    seen: set[str] = set()
    totals: list[int] = []
    kinds: list[SearchKind] = []
    before = 0
    for docs in lists:
        unseen = set(docs) - seen
        seen |= unseen
        total = covered(groups, seen)
        kinds.append(_kind(docs, unseen, is_new=total > before, is_late=before == len(groups)))
        totals.append(total)
        before = total

    spent = [search.tokens for search in searches]
    if not spent or None in spent:
        tokens = None
    else:
        tokens = math.fsum(each for each in spent if each is not None)

    return QuestionSearches(
        query=query,
        wanted=len(groups),
        found=tuple(totals),
        alone=tuple(covered(groups, set(docs)) for docs in lists),
        kinds=tuple(kinds),
        tokens=tokens,
        within=_within(totals, spent, counted.budget, len(groups)),
        needed=max(1, math.ceil(counted.cover * len(groups) - 1e-9)),
        trajectory=tuple(searches),
        evidence=tuple(_evidence(group, lists) for group in groups),
        about=about,
    )


def _evidence(group: IdGroup, lists: Sequence[Sequence[str]]) -> WantedThing:
    name = " or ".join(" and ".join(alternative) for alternative in group.alternatives)
    members = frozenset(doc for alternative in group.alternatives for doc in alternative)
    return WantedThing(name, members, _found_by(group, lists))


def _found_by(group: IdGroup, lists: Sequence[Sequence[str]]) -> int | None:
    """The number of the search with which a group was complete."""
    seen: set[str] = set()
    for number, docs in enumerate(lists, 1):
        seen.update(docs)
        if _is_covered(group, seen):
            return number
    return None


def _kind(docs: Sequence[str], unseen: Collection[str], is_new: bool, is_late: bool) -> SearchKind:
    if is_new:
        return "useful"
    if not docs:
        return "empty"
    if is_late:
        return "late"
    if not unseen:
        return "repeat"
    return "miss"


def covered(groups: Sequence[IdGroup], docs: Collection[str]) -> int:
    """How many groups some documents cover."""
    available = set(docs)
    return sum(_is_covered(group, available) for group in groups)


def _is_covered(group: IdGroup, docs: set[str]) -> bool:
    return any(set(alternative) <= docs for alternative in group.alternatives)


def _within(totals: Sequence[int], spent: Sequence[float | None], budget: float | None, needed: int) -> float | None:
    """The share found by the longest beginning of the searches that fits into the budget."""
    if budget is None or None in spent:
        return None
    spent_so_far, share = 0.0, 0.0
    for total, tokens in zip(totals, spent, strict=True):
        spent_so_far += tokens or 0.0
        if spent_so_far > budget:
            break
        share = total / needed
    return share
