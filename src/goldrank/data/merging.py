"""Merging the scores of disjoint shards of queries into the scores of all queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, as_list
from goldrank.base.notes import Note, merged
from goldrank.data.query_facts import joined
from goldrank.data.scores import Bounds, Column, Remarks, Scores

SHARD = ("goldrank", "time", "shard", "qrels", "run")
"""Fields of the provenance of each shard that the merged scores keep."""


def merge(shards: Sequence[Scores], run: str | None = None) -> Scores:
    """The scores that an evaluation of all queries at once would give, from shards that share no query."""
    as_list(shards, "what is merged", Scores, "Scores")
    if not shards:
        raise InputError("no scores to merge")

    origins = [dict(shard.provenance) for shard in shards]
    _check_alike(shards, origins)
    _check_by_query(shards[0])

    queries = [query for shard in shards for query in shard.queries]
    order = np.array(sorted(range(len(queries)), key=lambda i: ids.encode(queries[i])), np.int64)
    merged_queries = tuple(queries[i] for i in order)
    _check_disjoint(merged_queries, shards)

    first = shards[0]
    counts: dict[str, int] = {}
    for shard in shards:
        for key, number in shard.counts.items():
            counts[key] = counts.get(key, 0) + int(number)
    run_names = list(dict.fromkeys(shard.run for shard in shards))
    name = run
    if name is None:
        if len(run_names) == 1:
            name = run_names[0]
        else:
            name = "merged"

    columns = {}
    for key in first.columns:
        columns[key] = _joined([shard.columns[key] for shard in shards], order)
    bounds = {}
    for key in first.bounds:
        bounds[key] = _joined_bounds([shard.bounds[key] for shard in shards], order)

    return Scores(
        run=name,
        queries=merged_queries,
        columns=columns,
        remarks=Remarks(counts, _notes(shards, counts, origins, run_names)),
        convention=first.convention,
        origin=lambda: _origin(origins, name),
        bounds=bounds,
        options=first.options,
        facts=lambda: joined([shard.query_facts for shard in shards], order),
    )


def _joined(parts: Sequence[Column], order: np.ndarray) -> Column:
    from goldrank.measures import summarise

    column = replace(parts[0], values=np.concatenate([part.values for part in parts])[order])
    return replace(column, summary=summarise(column.average, column.counted))


def _joined_bounds(parts: Sequence[Bounds], order: np.ndarray) -> Bounds:
    low = _joined([part.low for part in parts], order)
    high = _joined([part.high for part in parts], order)
    return Bounds(parts[0].why, low, high)


def _first_measure(scores: Scores, condition: Callable[[Any], bool]) -> str | None:
    """The first measure whose declaration fulfils a condition."""
    from goldrank.measures import known

    for name in scores.columns:
        measure = known(name)
        if measure is not None and condition(measure.declaration):
            return name
    return None


def _check_by_query(scores: Scores) -> None:
    """Refuse a measure whose values depend on all queries: they cannot be computed from the values of shards."""
    name = _first_measure(scores, lambda declared: declared.of_all_queries)
    if name is not None:
        problem = f"{name} depends on all queries together, and shards have some of them"
        hint = "Evaluate all queries at once for it, and leave it out of the shards."
        raise InputError(problem, hint=hint, code="all-queries-together")


def _check_alike(shards: Sequence[Scores], origins: Sequence[Mapping[str, Any]]) -> None:
    """Refuse shards that were not evaluated with equal settings, and sets of shards that are not complete."""
    policies = list(dict.fromkeys(policy for origin in origins for policy in origin.get("policies") or {}))
    settings = [_settings(shard, origin, policies) for shard, origin in zip(shards, origins, strict=True)]
    for label, first_value in settings[0].items():
        for i in range(1, len(shards)):
            value = settings[i].get(label)
            if value != first_value:
                sides = f"{_shown(first_value)} in {_name(shards, 0)}, {_shown(value)} in {_name(shards, i)}"
                hint = "Shards are evaluated with the same measures, conventions and options."
                raise InputError(f"{label} differ: {sides}", hint=hint)

    total = _shard_total(origins[0])
    if total is None:
        _check_local(shards, origins)
        return

    numbers = {int(origin["shard"].split("/")[0]) for origin in origins}
    if len(numbers) == len(origins) < total:
        missing = [str(i) for i in range(1, total + 1) if i not in numbers]
        problem = f"shards are missing: {', '.join(missing[:10])} of {total}"
        raise InputError(problem, hint="Merge all of them together.")


def _settings(shard: Scores, origin: Mapping[str, Any], policies: Sequence[str]) -> dict[str, Any]:
    """Everything that must be equal in all shards, by its name in an error message."""
    qrels = origin.get("qrels") or {}
    chosen = origin.get("policies") or {}

    settings: dict[str, Any] = {"measures": sorted(shard.columns), "conventions": shard.convention}
    for policy in policies:
        settings[f"policies ({policy})"] = chosen.get(policy)
    for source in ("train", "catalogue", "against"):
        settings[f"data about items ({source})"] = origin.get(source)
    settings["depths"] = origin.get("depth")
    settings["criteria of the judgements"] = qrels.get("criteria")
    settings["numbers of shards"] = _shard_total(origin)
    if settings["numbers of shards"]:
        settings["judgements"] = qrels.get("sha256")
    settings["bounds"] = sorted((key, bounds.why) for key, bounds in shard.bounds.items())
    return settings


def _check_local(shards: Sequence[Scores], origins: Sequence[Mapping[str, Any]]) -> None:
    """Refuse measures that look at the judgements of all queries, if each shard had only a part of them."""
    hashes = {(origin.get("qrels") or {}).get("sha256") for origin in origins}
    if len(hashes) < 2:
        return

    name = _first_measure(shards[0], lambda declared: declared.over == "heads")
    if name is not None:
        problem = f"{name} depends on the judgements of all queries, and each shard had only its part of them"
        raise InputError(problem, hint="Evaluate shards with all judgements: qrels.shard(1, 8), or --shard 1/8.")


def _shard_total(origin: Mapping[str, Any]) -> int | None:
    """How many shards there are, if goldrank made them."""
    shard = origin.get("shard")
    if shard:
        return int(shard.split("/")[1])
    return None


def _check_disjoint(queries: Sequence[str], shards: Sequence[Scores]) -> None:
    repeated = [query for query, following in pairwise(queries) if query == following]
    if not repeated:
        return

    owners = [_name(shards, i) for i, shard in enumerate(shards) if repeated[0] in shard.queries]
    raise InputError(
        f"queries are in more than one shard: {ids.samples(dict.fromkeys(repeated))} in {' and '.join(owners[:2])}",
        hint="A shard that is evaluated with all judgements scores the queries of the others as missing. Evaluate each "
        "with its own part of the judgements: qrels.shard(1, 8), or --shard 1/8.",
    )


def _notes(
    shards: Sequence[Scores], counts: Mapping[str, int], origins: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[Note, ...]:
    """The notes of the merged scores."""
    origin = f"{len(shards):,} shard{'s' * (len(shards) != 1)}"
    if len(names) > 1:
        origin += f" of runs {ids.samples(names)}"
    notes = [Note.of("merged-shards", shards=origin)]

    versions = sorted({str(origin.get("goldrank")) for origin in origins})
    if len(versions) > 1:
        notes.append(Note.of("several-versions", versions=", ".join(versions)))

    shard_names = [_name(shards, i) for i in range(len(shards))]
    return (*notes, *merged([shard.notes for shard in shards], shard_names, counts))


def _origin(origins: Sequence[Mapping[str, Any]], run: str) -> dict[str, Any]:
    """The provenance of merged scores: what the shards share, and the inputs of each."""
    import hashlib

    inputs = {}
    for side in ("qrels", "run"):
        entries = [dict(origin.get(side) or {}) for origin in origins]
        hashes = sorted({str(entry.get("sha256")) for entry in entries})
        sha256 = hashes[0]
        if len(hashes) > 1:
            sha256 = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
        inputs[side] = {**entries[0], "sha256": sha256}
    inputs["run"]["name"] = run

    shared = {key: value for key, value in origins[0].items() if key not in ("shard", "signature")}
    last_time = max(str(origin.get("time", "")) for origin in origins)
    return {
        **shared,
        **_signature_facts(origins),
        "time": last_time,
        **inputs,
        "shards": [_shard_origin(origin) for origin in origins],
    }


def _shard_origin(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {key: origin.get(key) for key in SHARD}


def _signature_facts(origins: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of a signature of all queries if every shard had the judgements of all; else an empty dict."""
    facts = []
    for origin in origins:
        of_shard = dict(origin.get("signature") or {})
        options = dict(of_shard.get("options") or {})
        options.pop("shard", None)
        of_shard.pop("run", None)
        facts.append({**of_shard, "options": options})

    is_known = "qrels" in facts[0] or "texts" in facts[0]["options"]
    are_alike = is_known and all(of_shard == facts[0] for of_shard in facts)
    if are_alike:
        return {"signature": facts[0]}
    return {}


def _name(shards: Sequence[Scores], i: int) -> str:
    return f"shard {i + 1} ('{ids.show(shards[i].run)}')"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
