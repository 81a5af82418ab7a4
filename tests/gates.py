"""Runs held to rules: what is measured is what the rules ask for."""

from __future__ import annotations

from typing import Any

from goldrank import Verdict, evaluate, gate
from goldrank.gating.rules import as_rules


def gate_run(qrels: Any, run: Any, rules: Any, baseline: Any = None, *, queries: Any = None, **how: Any) -> Verdict:
    """The verdict on a run; `how` are arguments of `evaluate`."""
    held_to = as_rules(rules)
    return gate(evaluate(qrels, run, held_to.measures, **how), held_to, baseline, queries=queries)
