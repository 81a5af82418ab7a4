"""Runs against groups of ids: scored as questions whose references are groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goldrank import conventions
from goldrank.base.errors import OptionError
from goldrank.base.types import MeasuresLike
from goldrank.conventions import Convention
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.engine import engine_for
from goldrank.evaluation.texts import evaluate_texts
from goldrank.io.grouped_ids import Groups

USUAL = ("nDCG@10", "AP", "RR", "R@10", "RecallAll@10")


def scores_by_groups(groups: Groups, run: Run, measures: MeasuresLike, rules: Convention) -> Scores:
    """The scores of a run against groups of ids."""
    refuse_rules(rules)
    records = _records(groups, run, rules)
    return evaluate_texts(records, measures or list(USUAL)).renamed(run.name)


def refuse_rules(rules: Convention) -> None:
    """Refuse rules of other tools: none of them knows groups."""
    if rules != conventions.get("trec_eval-10"):
        hint = "Leave --convention and policies out; groups are counted by goldrank's own rule."
        raise OptionError("groups of ids have no other rules", hint=hint)


def _records(groups: Groups, run: Run, rules: Convention) -> list[Mapping[str, Any]]:
    """A question for each query with groups: its documents in the order of the run, and what is expected."""
    queries = [query for query, of_query in groups.items() if of_query]
    longest = max((len(run[query]) for query in queries if query in run), default=0)
    rankings: Sequence[Sequence[str]] = engine_for(run).top_documents(run, queries, max(longest, 1), rules)
    records: list[Mapping[str, Any]] = []
    for query, docs in zip(queries, rankings, strict=True):
        records.append({"id": query, "retrieved_ids": list(docs), "expected_ids": groups[query]})
    return records
