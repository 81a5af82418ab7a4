"""How a job is to be asked for: the options that every function which asks a judge takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from goldrank.judgements.log import JudgementLog
from goldrank.judging.item import Item, Judge
from goldrank.judging.money import Budget, prices_of
from goldrank.judging.runner import Job, Outcome

DEFAULT_LOG = "judgements.db"

LogLike = str | os.PathLike[str] | JudgementLog


class AskOptions(TypedDict, total=False):
    """Options of functions that ask, as `judge` has them."""

    criteria: str
    log: LogLike
    concurrency: int
    rate: float | None
    attempts: int
    budget: float | None
    prices: Any
    max_calls: int | None
    progress: Callable[[Outcome], None] | None


@dataclass
class Asking:
    """The same with what they are by default. All jobs that are made of it share one purse."""

    criteria: str = ""
    log: LogLike = DEFAULT_LOG
    concurrency: int = 8
    rate: float | None = None
    attempts: int = 6
    budget: float | None = None
    prices: Any = None
    max_calls: int | None = None
    progress: Callable[[Outcome], None] | None = None
    purse: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.purse = Budget(self.budget, prices_of(self.prices), self.max_calls)

    def job(self, judge: Judge, items: Sequence[Item], log: JudgementLog, **more: Any) -> Job:
        """A job for some items."""
        how: dict[str, Any] = {"concurrency": self.concurrency, "rate": self.rate, "attempts": self.attempts}
        return Job(judge, items, log, budget=self.purse, progress=self.progress, **how, **more)
