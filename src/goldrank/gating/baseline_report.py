"""A baseline: what it is, and what setting it changes."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.data.score_table import score_parts
from goldrank.data.table import Part, Sentence, facts
from goldrank.gating.baseline import Baseline


def parts(baseline: Baseline) -> list[Part]:
    """What a baseline is, when it was set, and its values."""
    basis = baseline.basis
    judgements = f"sha256 {basis.qrels[:12] or 'unknown'}"
    if basis.criteria:
        judgements += f", {basis.criteria}"
    rows = {"set": baseline.frozen, "run": baseline.scores.run, "judgements": judgements}
    return [facts(rows, f"baseline {baseline.words}"), *score_parts([baseline.scores])]


def change_parts(name: str, changes: Sequence[str], is_set: bool) -> list[Part]:
    """That a baseline is set, or would be, and what changes by that."""
    title = f"baseline {name} would be set"
    if is_set:
        title = f"baseline {name} is set"
    return [Sentence(title), *(Sentence(text, "remark") for text in changes)]
