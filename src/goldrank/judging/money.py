"""The cost of calls: prices, the amount that is reserved before a call, the amount that was spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from goldrank.base.errors import OptionError, whole_number
from goldrank.base.escaping import shown

BYTES_A_TOKEN = 3
"""For estimates before a call. It gives too many tokens rather than too few: English has about four bytes a token."""


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens, in any currency. `cached` are tokens of the prompt that the server had already."""

    prompt: float
    completion: float
    cached: float | None = None

    def __post_init__(self) -> None:
        for value in (self.prompt, self.completion, self.cached):
            if value is not None and not _is_amount(value):
                raise OptionError(f"a price is {shown(value, 40)}; it must be a number from 0, for a million tokens")

    @classmethod
    def of(cls, amounts: Sequence[float]) -> Prices:
        """Prices from (prompt, completion) or (prompt, completion, cached)."""
        if isinstance(amounts, tuple | list) and len(amounts) in (2, 3):
            return cls(*amounts)
        hint = "For example prices=(0.15, 0.60), for a million tokens of prompts and of answers."
        raise OptionError(f"prices are {shown(amounts, 60)}, not two or three numbers", hint=hint)

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """The cost of a call. Cached tokens are among those of the prompt, thoughts among those of the answer.

        >>> Prices(2.0, 8.0, 0.5).cost(1_000_000, 500_000, 200_000)
        5.7
        """
        cached = min(tokens_cached, tokens_in)
        cached_price = self.prompt
        if self.cached is not None:
            cached_price = self.cached
        return ((tokens_in - cached) * self.prompt + cached * cached_price + tokens_out * self.completion) / 1e6


def estimated_tokens(messages: list[dict[str, str]]) -> int:
    """About the most tokens that messages can have; no tokeniser is used."""
    return bytes_of(messages) // BYTES_A_TOKEN + 8 * len(messages)


def bytes_of(messages: list[dict[str, str]]) -> int:
    """The size of messages, whatever is in them."""
    return sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)


class Budget:
    """The money and the calls that may be spent. A call is sent only if its highest possible cost is left."""

    def __init__(self, amount: float | None, prices: Prices | None, most_calls: int | None) -> None:
        if amount is not None and not _is_amount(amount):
            raise OptionError(f"max_cost is {shown(amount, 40)}; it must be an amount from 0", code="bad-number")
        if most_calls is not None:
            whole_number(most_calls, "max_calls", 0)
        if amount is not None and prices is None:
            hint = "For example Calls(max_cost=5, prices=(0.15, 0.60)), or --calls max_cost=5,prices=0.15+0.60."
            raise OptionError("max_cost needs prices", hint=hint)

        self.amount, self.prices, self.most_calls = amount, prices, most_calls
        self.spent, self.reserved, self.calls = 0.0, 0.0, 0
        self.on_their_way = 0
        """Calls that were reserved and are not settled."""

    def reserve(self, tokens_in: int, tokens_out: int) -> float | None:
        """The amount that was reserved for one call; None if not enough is left."""
        if self.most_calls is not None and self.calls >= self.most_calls:
            return None
        most = 0.0
        if self.prices:
            most = self.prices.cost(tokens_in, tokens_out)
        if self.amount is not None and self.spent + self.reserved + most > self.amount * (1 + 1e-12):
            return None

        self.reserved += most
        self.calls += 1
        self.on_their_way += 1
        return most

    def settle(self, reserved: float, cost: float) -> None:
        """Replace the reserved amount of a call by its cost."""
        self.on_their_way -= 1
        self.reserved -= reserved
        if not self.on_their_way:
            self.reserved = 0.0  # without what rounding left over
        self.spent += cost

    @property
    def exhausted(self) -> str:
        """Why nothing more can be reserved, in words."""
        if self.most_calls is not None and self.calls >= self.most_calls:
            return f"{self.calls:,} calls were made, as many as may be"
        return f"{self.spent:.4f} was spent, and another call may cost more than what is left of {self.amount:g}"


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
