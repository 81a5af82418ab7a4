"""`Pool`: the pairs that a judge is asked about. `Calls`: where its answers are kept, and what may be spent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from goldrank.base.errors import OptionError, file_name, of_type, one_of, whole_number
from goldrank.base.escaping import shown
from goldrank.base.options import Options
from goldrank.base.types import MeasureLike, Path
from goldrank.judging.money import Budget, Prices

Which: TypeAlias = Literal["unjudged", "judged", "all"]

WHICH: dict[Which, str] = {
    "unjudged": "unjudged documents, those that could change the measure most first",
    "judged": "what people judged: to see how far the model agrees with them",
    "all": "the first `depth` documents of every run, judged or not",
}

MOST = 10**9
"""The highest number that an option takes."""


@dataclass(frozen=True, repr=False)
class Pool(Options):
    """Which pairs of query and document a judge is asked about.

    Parameters
    ----------
    which : {"unjudged", "judged", "all"}
        Unjudged documents, those that could change the measure most first; what people judged, to see how far the judge
        agrees with them; or the first `depth` documents of every run, judged or not.
    measure : measure, optional
        What unjudged documents could change. By default nDCG at `depth`.
    depth : int
        How many documents of each query and run are looked at.
    limit : int, optional
        Ask about no more pairs than this.
    repeats : int
        How often each question is asked, to see whether the judge agrees with itself.

    Raises
    ------
    OptionError
        If a value is not one of the choices, or a number is out of its limits.

    Examples
    --------
    >>> Pool("all", depth=20)
    Pool(which='all', depth=20)
    """

    which: Which = "unjudged"
    measure: MeasureLike | None = None
    depth: int = 10
    limit: int | None = None
    repeats: int = 1

    def __post_init__(self) -> None:
        one_of(self.which, get_args(Which), "which")
        whole_number(self.depth, "depth", 1, MOST)
        whole_number(self.repeats, "repeats", 1, MOST)
        if self.limit is not None:
            whole_number(self.limit, "limit", 0, MOST)


@dataclass(frozen=True, repr=False)
class Calls(Options):
    """On which terms a judge is asked: where answers are kept, how much may be spent, how fast.

    Parameters
    ----------
    log : str or path
        The judgement log. A question that has an answer there is not asked again, also after a crash.
    max_cost : float, optional
        Spend no more than this, in the currency of `prices`. No call is sent that could exceed it.
    max_calls : int, optional
        Make no more calls than this.
    prices : tuple of float, optional
        The prices of a million tokens: of prompts, of answers and, if their price differs, cached ones.
    concurrency : int
        How many calls are made at a time.
    rate : float, optional
        The most calls a minute.
    attempts : int
        How often a call that fails is tried.
    seed : int
        The seed of random numbers, for verbs that draw pairs or passages.
    dry_run : bool
        Ask nothing; report the number of questions and their cost.
    progress : function, optional
        Called after each answer with the number of questions that are done and of all.

    Raises
    ------
    OptionError
        If a number is out of its limits, or `max_cost` has no `prices`.

    Examples
    --------
    >>> Calls(max_cost=5, prices=(0.5, 1.5))
    Calls(max_cost=5, prices=(0.5, 1.5))
    """

    log: Path = "judgements.db"
    max_cost: float | None = None
    max_calls: int | None = None
    prices: tuple[float, float] | tuple[float, float, float] | None = None
    concurrency: int = 8
    rate: float | None = None
    attempts: int = 6
    seed: int = 0
    dry_run: bool = False
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        file_name(self.log, "a log of judgements")
        whole_number(self.concurrency, "concurrency", 1, MOST)
        whole_number(self.attempts, "attempts", 1, MOST)
        whole_number(self.seed, "seed")
        of_type(self.dry_run, bool, "dry_run", "True or False")
        if self.rate is not None and not _is_rate(self.rate):
            raise OptionError(f"rate is {shown(self.rate, 40)}; it must be calls a minute, above 0", code="bad-number")
        if self.progress is not None and not callable(self.progress):
            hint = "For example progress=lambda done, total: print(done, total)."
            raise OptionError(f"progress is {shown(self.progress, 40)}, not a function", hint=hint)
        self.budget()  # checks max_cost, max_calls and prices

    def budget(self) -> Budget:
        """A new budget with these limits. Jobs that share one share the limits."""
        prices = None
        if self.prices is not None:
            prices = Prices.of(self.prices)
        return Budget(self.max_cost, prices, self.max_calls)


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
