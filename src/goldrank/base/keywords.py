"""Public verbs that get an unknown argument raise an error that names the argument the caller probably meant."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, TypeVar

from goldrank.base.errors import GoldrankError, OptionError, did_you_mean

Verb = TypeVar("Verb", bound=Callable[..., Any])

SYNONYMS = {
    "metric": "measures",
    "metrics": "measures",
    "measure": "measures",
    "run": "runs",
    "runs": "run",
    "group": "groups",
    "docs": "documents",
    "corpus": "documents",
    "ground_truth": "qrels",
    "predictions": "run",
    "matcher": "matching",
    "method": "fusion",
    "cutoff": "k",
    "top_k": "k",
    "ks": "k",
    "budgets": "budget",
    "metadata": "queries",
    "human": "qrels",
    "latency": "queries",
}
"""Names of arguments in other tools, and their names here."""

COLUMNS_OF_QUERIES = {"clusters": "cluster", "weights": "weight", "strata": "stratum"}
"""Arguments that are columns of `queries` here."""

NOUNS = {
    "Statistics": "statistics test correction interval alpha power margin samples seed unjudged level holes",
    "Convention": "convention ties score_type duplicates judgements missing empty bounds overlap",
    "Matching": "matching unit credit guards tokens",
    "Evidence": "evidence sources chunks lengths several unlocated similarity coverage",
    "Answers": "answers claims entities abstain_below",
    "Catalogue": "catalogue train seen against",
    "Calls": "calls log max_cost max_calls prices concurrency rate attempts seed dry_run progress",
    "Pool": "pool which measure depth limit repeats",
    "Fusion": "fusion normalization",
    "Rules": "rules strict worst allow_changed_qrels",
}
"""For each noun: the argument that takes it, then the fields of the noun."""

OF_EVALUATE = ("depth", *NOUNS["Convention"].split(), *NOUNS["Catalogue"].split())
"""Options of scoring, which verbs that take scores do not have."""

READERS = {
    "relevant_from": "read_qrels(source, relevant_from=...)",
    "real_grades": "read_qrels(source, real_grades=True)",
    "format": "a reader: read_qrels(source, format=...), read_run(source, format=...)",
    "columns": "a reader: read_qrels(source, columns=...), read_run(source, columns=...)",
    "fields": "read_items(source, fields=...)",
    "failures": "read_items(source, failures=...)",
    "nulls": "read_items(source, nulls=...)",
    "shard": "qrels.shard(2, 8)",
    "judged_by": "qrels.by('human') or qrels.by('model')",
    "k": "the measure: 'nDCG@5'",
    "duplicates": (
        "the convention of an evaluation, in which judgements= is the rule for judgements; "
        "run.drop_duplicates() keeps one line of each document"
    ),
    "depth": "the measure's cut-off: 'nDCG@100'",
    "name": "the noun: Run(results, name=...), scores.renamed(name)",
    "names": "the runs: Run(results, name=...), {'old': run, 'new': other}",
    "align": "ScoresByRun(scores, queries='same')",
    "documents": "comparison.with_documents(documents)",
    "db": "History(path).baseline(name)",
    "criteria": "the judge: Endpoint(model, criteria=...), Command(words, criteria=...)",
    "model": "the judgements: human.with_model(model)",
}
"""Arguments that belong to the objects which a verb takes."""


def named_arguments(verb: Verb) -> Verb:
    """Wrap a verb so that an unknown argument raises an error which names the probable one."""
    return named_arguments_or(())(verb)


def named_arguments_or(extra_names: Iterable[str]) -> Callable[[Verb], Verb]:
    """`named_arguments` for a verb that also takes `extra_names` as arguments."""
    return partial(_checked, frozenset(extra_names))


def _checked(extra_names: frozenset[str], verb: Verb) -> Verb:
    code = verb.__code__
    known = extra_names | frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @wraps(verb)
    def call(*arguments: Any, **named: Any) -> Any:
        if not named.keys() <= known:
            unknown_name = next(name for name in named if name not in known)
            raise unknown_argument(verb.__name__, unknown_name, known)
        try:
            return verb(*arguments, **named)
        except GoldrankError as error:
            raise _without_inner_frames(error) from error.__cause__

    return call  # type: ignore[return-value]


def with_short_tracebacks(verb: Verb) -> Verb:
    """Wrap a verb so that its errors about what it was given have no inner frames of goldrank in their traceback."""

    @wraps(verb)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return verb(*arguments, **named)
        except GoldrankError as error:
            raise _without_inner_frames(error) from error.__cause__

    return call  # type: ignore[return-value]


def _without_inner_frames(error: GoldrankError) -> GoldrankError:
    """The error without its traceback inside goldrank, which does not help to correct a word or a file."""
    if os.environ.get("GOLDRANK_TRACEBACK"):
        return error
    return error.with_traceback(None)


def unknown_argument(verb: str, name: str, known: frozenset[str] | set[str]) -> OptionError:
    """The error for an argument that a verb does not have."""
    return OptionError(
        f"{verb} has no argument {name!r}", hint=_argument_hint(verb, name, known), code="unknown-argument"
    )


def _argument_hint(verb: str, name: str, known: frozenset[str] | set[str]) -> str:
    synonym = SYNONYMS.get(name)
    if synonym in known:
        return f"It is called {synonym}=."
    if name in COLUMNS_OF_QUERIES and "queries" in known:
        return f"It is a column of queries: queries=Queries({{}}).with_column({COLUMNS_OF_QUERIES[name]!r}, {name})."

    for noun, words in NOUNS.items():
        argument, *fields = words.split()
        if name in fields and argument in known:
            return f"It is a field of {noun}: {argument}={noun}({name}=...)."

    if name in OF_EVALUATE and "convention" not in known and known & {"scores", "runs"}:
        if "runs" in known:
            call = "evaluate(qrels, Runs(runs)"
        else:
            call = "evaluate(qrels, run"
        return f"It is an argument of evaluate: {verb}({call}, {name}=...))."

    if name in READERS:
        return f"It belongs to {READERS[name]}."

    near = did_you_mean(name, known)
    if near:
        return near

    listed = f"It has: {', '.join(sorted(known))}."
    if "measures" in known or "measure" in known:
        listed += f" Options of a measure are part of its name: 'AP({name}=True)'."

    return listed
