"""Any of goldrank's measures in PyTerrier's `Experiment`, and goldrank as a provider of ir_measures.

`pt.Experiment(systems, topics, qrels, [measure("nDCG@10"), measure("Compat")])`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldrank import conventions
from goldrank.base import ids
from goldrank.base.types import ConventionLike, MeasureLike
from goldrank.evaluation.rankings import evaluate
from goldrank.integrations import need
from goldrank.measures import parse


def measure(
    spelled: MeasureLike, *, convention: ConventionLike = "trec_eval-10"
) -> Any:  # a measure of ir_measures, whose classes have no types
    """A measure of ir_measures that goldrank computes, for `Experiment` and `ir_measures.calc_aggregate`.

    PyTerrier leaves out queries without results; here judged ones count as 0, as in trec_eval 10.

    Parameters
    ----------
    spelled : measure
        What to measure.
    convention : str or Convention
        Whose rules hold.

    Returns
    -------
    ir_measures.Measure
    """
    ir_measures = need("ir_measures")
    parsed = parse(spelled)
    rules = conventions.get(convention)

    def query_values(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        scores = evaluate(_table(qrels, "relevance"), _table(run, "score"), parsed, convention=rules)
        yield from zip(scores.queries, next(iter(scores.columns.values())).values.tolist(), strict=True)

    return ir_measures.define(query_values, name=str(parsed), support_cutoff=False)


def _table(frame: Any, column: str) -> Mapping[str, Mapping[str, Any]]:
    """A frame of ir_measures as a mapping of mappings."""
    by_query: dict[str, dict[str, Any]] = {}
    rows = zip(frame["query_id"].tolist(), frame["doc_id"].tolist(), frame[column].tolist(), strict=True)
    for query, doc, value in rows:
        by_query.setdefault(ids.as_text(query, "query id"), {})[ids.as_text(doc, "document id")] = value
    return by_query


def register(*, first: bool = True) -> Any:
    """Let ir_measures, and with it PyTerrier, ask goldrank for its measures; with `first`, before other providers."""
    need("ir_measures")
    from goldrank.compat import ir_measures_provider

    return ir_measures_provider.register(first=first)
