"""What queries cost: latency, tokens and money, and the conversations that they are part of, as records say it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.data.query_facts import COSTS, NOTHING_KNOWN, QueryFacts

if TYPE_CHECKING:
    from goldrank.data.scores import Scores

FIELDS = ("latency", "latency_ms", "tokens", "cost", "conversation", "turn")
"""Fields of records and of lines of a run."""
UNITS = {"latency": "latency, s", "tokens": "tokens", "cost": "cost"}


def about_query(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says of its query. Fields of these names that hold something else, such as a list, do not count."""
    about: dict[str, Any] = {}
    for name in ("latency_ms", *COSTS):
        number = _number(record.get(name))
        if number is None:
            continue
        if name == "latency_ms":
            about["latency"] = number / 1000
        else:
            about.setdefault(name, number)
    turn = record.get("turn")
    if isinstance(turn, int) and not isinstance(turn, bool):
        about["turn"] = turn
    conversation = record.get("conversation")
    if isinstance(conversation, str | int) and not isinstance(conversation, bool) and conversation != "":
        about["conversation"] = str(conversation)
    return about


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer that no float holds
        return None
    if 0 <= number < math.inf:
        return number
    return None


def facts_about(about: Mapping[str, Mapping[str, Any]], queries: Sequence[str]) -> dict[str, Any]:
    """The fields of `QueryFacts` for some queries, as far as anything is known."""
    facts: dict[str, Any] = {}
    for name in (*COSTS, "turn"):
        values = np.array([about.get(query, {}).get(name, math.nan) for query in queries], np.float64)
        if not np.isnan(values).all():
            facts[name] = values
    conversations = tuple(about.get(query, {}).get("conversation") for query in queries)
    if any(name is not None for name in conversations):
        facts["conversation"] = conversations
    return facts


@dataclass(frozen=True)
class CostSummary:
    """Latency, tokens or money of the queries of a run."""

    kind: str
    """"latency" (seconds), "tokens" or "cost"."""
    n: int
    """Queries of which it is known."""
    p50: float
    p95: float
    mean: float
    total: float


def cost_summaries(facts: QueryFacts) -> tuple[CostSummary, ...]:
    """What is known of the costs of queries."""
    summaries = []
    for kind in COSTS:
        values: np.ndarray | None = getattr(facts, kind)
        if values is None:
            continue
        known = values[~np.isnan(values)]
        if not len(known):
            continue
        p50, p95 = np.quantile(known, [0.5, 0.95]).tolist()
        total = math.fsum(known.tolist())
        summaries.append(CostSummary(kind, len(known), p50, p95, total / len(known), total))
    return tuple(summaries)


def said_of_queries(scores: Scores) -> QueryFacts:
    """The facts of scores whose input may say something of queries; nothing of a run that does not, at no cost."""
    if scores.placed is not None and not scores.placed.run.about:
        return NOTHING_KNOWN
    return scores.query_facts


def costs_of(scores: Scores) -> dict[str, np.ndarray]:
    """By kind, the costs of each query of some scores; only kinds that are known."""
    facts = said_of_queries(scores)
    known = {kind: getattr(facts, kind) for kind in COSTS}
    return {kind: values for kind, values in known.items() if values is not None}


def short(value: float) -> str:
    """A cost with four digits that count."""
    if math.isnan(value):
        return "-"
    if value and abs(value) < 1000:
        return f"{value:.4g}"
    return f"{value:,.0f}"


def conversation_fields(systems: Sequence[Scores]) -> dict[str, dict[str, Any]]:
    """By query, its conversation as the cluster and its turn, from all scores that know them."""
    fields: dict[str, dict[str, Any]] = {}
    for scores in systems:
        facts = said_of_queries(scores)
        if facts.conversation is not None:
            for query, name in zip(scores.queries, facts.conversation, strict=True):
                if name is not None:
                    fields.setdefault(query, {})["cluster"] = name
        if facts.turn is not None:
            for query, turn in zip(scores.queries, facts.turn.tolist(), strict=True):
                if not math.isnan(turn):
                    fields.setdefault(query, {})["turn"] = int(turn)
    return fields
