"""A baseline: what it is, and what setting it changes."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.data.score_table import score_parts
from goldrank.data.table import Part, Sentence, facts
from goldrank.gating.baseline import Baseline


def parts(baseline: Baseline) -> list[Part]:
    """What a baseline is, when it was set, and its values."""
    basis = baseline.basis
    judgements = f"sha256 {basis.qrels[:12] or 'unknown'}" + (f", {basis.criteria}" if basis.criteria else "")
    known = {"set": baseline.frozen, "run": baseline.scores.run, "judgements": judgements}
    return [facts(known, f"baseline {baseline.words}"), *score_parts([baseline.scores])]


def change_parts(name: str, changes: Sequence[str], set_now: bool) -> list[Part]:
    """That a baseline is set, or would be, and what changes by that."""
    head = Sentence(f"baseline {name} {'is set' if set_now else 'would be set'}")
    return [head, *(Sentence(text, "remark") for text in changes)]
