"""Scores of disjoint shards of queries -> the scores of all of them."""

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
"""What is kept of the provenance of each shard."""


def merge(shards: Sequence[Scores], run: str | None = None) -> Scores:
    """What evaluating all queries at once would give, from the scores of shards that share no query."""
    as_list(shards, "what is merged", Scores, "Scores")
    if not shards:
        raise InputError("no scores to merge")
    origins = [dict(shard.provenance) for shard in shards]
    _check_alike(shards, origins)
    _check_by_query(shards[0])
    queries = [query for shard in shards for query in shard.queries]
    order = np.array(sorted(range(len(queries)), key=lambda i: ids.encode(queries[i])), np.int64)
    _check_disjoint([queries[i] for i in order], shards)
    first = shards[0]
    keys = dict.fromkeys(key for shard in shards for key in shard.counts)
    counts = {key: sum(int(shard.counts.get(key, 0)) for shard in shards) for key in keys}
    shown = list(dict.fromkeys(shard.run for shard in shards))
    name = run
    if name is None:
        if len(shown) == 1:
            name = shown[0]
        else:
            name = "merged"

    return Scores(
        run=name,
        queries=tuple(queries[i] for i in order),
        columns={key: _joined([shard.columns[key] for shard in shards], order) for key in first.columns},
        remarks=Remarks(counts, _notes(shards, counts, origins, shown)),
        convention=first.convention,
        origin=lambda: _origin(origins, name),
        bounds={
            key: Bounds(
                both.why,
                _joined([shard.bounds[key].low for shard in shards], order),
                _joined([shard.bounds[key].high for shard in shards], order),
            )
            for key, both in first.bounds.items()
        },
        options=first.options,
        facts=lambda: joined([shard.query_facts for shard in shards], order),
    )


def _joined(parts: Sequence[Column], order: np.ndarray) -> Column:
    from goldrank.measures import summarise

    whole = replace(parts[0], values=np.concatenate([part.values for part in parts])[order])
    return replace(whole, summary=summarise(whole.average, whole.counted))


def _first_measure(scores: Scores, which: Callable[[Any], bool]) -> str | None:
    """The first measure of which something holds that is declared of it."""
    from goldrank.measures import known

    measures = ((name, known(name)) for name in scores.columns)
    return next((name for name, measure in measures if measure is not None and which(measure.declaration)), None)


def _check_by_query(scores: Scores) -> None:
    """A measure whose values depend on all queries cannot be put together from parts of them."""
    name = _first_measure(scores, lambda declared: declared.of_all_queries)
    if name is not None:
        what = f"{name} depends on all queries together, and shards have some of them"
        hint = "Evaluate all queries at once for it, and leave it out of the shards."
        raise InputError(what, hint=hint, code="all-queries-together")


def _check_alike(shards: Sequence[Scores], origins: Sequence[Mapping[str, Any]]) -> None:
    """All must have been made in the same way."""

    def differ(what: str, of: Callable[[int], Any]) -> None:
        for i in range(1, len(shards)):
            if of(i) != of(0):
                raise InputError(
                    f"{what} differ: {_shown(of(0))} in {_name(shards, 0)}, {_shown(of(i))} in {_name(shards, i)}",
                    hint="Shards are evaluated with the same measures, conventions and options.",
                )

    differ("measures", lambda i: sorted(shards[i].columns))
    differ("conventions", lambda i: shards[i].convention)
    policies = [dict(origin.get("policies") or {}) for origin in origins]
    for policy in dict.fromkeys(key for chosen in policies for key in chosen):
        differ(f"policies ({policy})", lambda i, policy=policy: policies[i].get(policy))  # type: ignore[misc]
    for given in ("train", "catalogue", "against"):
        differ(f"what is known beside ({given})", lambda i, given=given: origins[i].get(given))  # type: ignore[misc]
    differ("depths", lambda i: origins[i].get("depth"))
    differ("criteria of the judgements", lambda i: (origins[i].get("qrels") or {}).get("criteria"))
    differ("numbers of shards", lambda i: _of(origins[i]))
    if _of(origins[0]):
        differ("judgements", lambda i: (origins[i].get("qrels") or {}).get("sha256"))
    else:
        _check_local(shards, origins)
    differ("bounds", lambda i: sorted((key, two.why) for key, two in shards[i].bounds.items()))
    numbers = [origin["shard"] for origin in origins if origin.get("shard")]
    if numbers and len(set(numbers)) == len(numbers) and len(numbers) < (_of(origins[0]) or 0):
        there = {int(number.split("/")[0]) for number in numbers}
        missing = [str(i) for i in range(1, (_of(origins[0]) or 0) + 1) if i not in there]
        raise InputError(
            f"shards are missing: {', '.join(missing[:10])} of {_of(origins[0])}", hint="Merge all of them together."
        )


def _check_local(shards: Sequence[Scores], origins: Sequence[Mapping[str, Any]]) -> None:
    """Refuse measures that look at the judgements of all queries, if shards did not have them."""
    if len({(origin.get("qrels") or {}).get("sha256") for origin in origins}) > 1:
        name = _first_measure(shards[0], lambda declared: declared.over == "heads")
        if name is not None:
            what = f"{name} depends on the judgements of all queries, and each shard knew its own alone"
            raise InputError(what, hint="Evaluate shards with all judgements: shard='1/8' or --shard 1/8.")


def _of(origin: Mapping[str, Any]) -> int | None:
    """How many shards there are, if goldrank made them."""
    shard = origin.get("shard")
    if shard:
        return int(shard.split("/")[1])
    return None


def _check_disjoint(queries: Sequence[str], shards: Sequence[Scores]) -> None:
    twice = [a for a, b in pairwise(queries) if a == b]
    if not twice:
        return
    owners = [_name(shards, i) for i, shard in enumerate(shards) if twice[0] in shard.queries]
    raise InputError(
        f"queries are in more than one shard: {ids.samples(dict.fromkeys(twice))} in {' and '.join(owners[:2])}",
        hint="A shard that is evaluated with all judgements scores the queries of the others as missing. Evaluate each "
        "with its own part of the judgements: shard='1/8' or --shard 1/8 takes it.",
    )


def _notes(
    shards: Sequence[Scores], counts: Mapping[str, int], origins: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[Note, ...]:
    """What the shards come to together."""
    number = f"{len(shards):,} shard{'s' * (len(shards) != 1)}"
    notes = [Note.of("merged-shards", shards=number + (f" of runs {ids.samples(names)}" if len(names) > 1 else ""))]
    versions = sorted({str(origin.get("goldrank")) for origin in origins})
    if len(versions) > 1:
        notes.append(Note.of("several-versions", versions=", ".join(versions)))
    return (*notes, *merged([shard.notes for shard in shards], [_name(shards, i) for i in range(len(shards))], counts))


def _origin(origins: Sequence[Mapping[str, Any]], run: str) -> dict[str, Any]:
    """Where the merged numbers come from: what the shards share, and the inputs of each."""
    import hashlib

    inputs = {}
    for side in ("qrels", "run"):
        entries = [dict(origin.get(side) or {}) for origin in origins]
        hashes = sorted({str(given.get("sha256")) for given in entries})
        together = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
        inputs[side] = {**entries[0], "sha256": hashes[0] if len(hashes) == 1 else together}
    inputs["run"]["name"] = run
    return {
        **{key: value for key, value in origins[0].items() if key not in ("shard", "signature")},
        **_signature_facts(origins),
        "time": max(str(origin.get("time", "")) for origin in origins),
        **inputs,
        "shards": [{key: origin.get(key) for key in SHARD} for origin in origins],
    }


def _signature_facts(origins: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What signatures of all queries say, if every shard knew the judgements of all; else nothing is known."""
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
