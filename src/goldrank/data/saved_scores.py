"""`Scores` in files: writing them as plain values, and reading them with every value checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, one_of
from goldrank.base.notes import Note
from goldrank.conventions import options_of
from goldrank.data import query_facts
from goldrank.data.json_values import utf8, without_nan
from goldrank.data.scores import AVERAGES, SLACK, Bounds, Column, Remarks, Scores

FORMAT = "goldrank-scores"
FORMAT_BY_RUN = "goldrank-scores-by-run"
MOST = 1 << 62
"""The limit of counts: larger numbers are not exact as doubles, and no run has as many documents."""
VERSION = 3
"""Version 3 has facts about each query. Versions 1 and 2 are older than goldrank 1.0."""
_FLAGS = ("higher_is_better", "counts_nan")


def to_plain(scores: Scores) -> dict[str, Any]:
    """Scores as plain Python values."""
    measures = {}
    for name, column in scores.columns.items():
        measures[name] = {**_plain(column), **_signature(scores, name)}

    bounds = {}
    for name, bound in scores.bounds.items():
        bounds[name] = {"why": bound.why, "low": _plain(bound.low), "high": _plain(bound.high)}

    return {
        "format": FORMAT,
        "version": VERSION,
        "run": scores.run,
        "queries": list(scores.queries),
        "measures": measures,
        "bounds": bounds,
        "counts": dict(scores.counts),
        "notes": [note.to_dict() for note in scores.notes],
        "convention": scores.convention,
        "provenance": dict(scores.provenance),
        "by_query": query_facts.to_plain(scores.query_facts),
        **_signature(scores),
    }


def digest_of(scores: Scores) -> str:
    """SHA-256 of what equal scores have in common: all but their provenance."""
    import hashlib
    import json

    saved = to_plain(scores)
    content = {key: saved[key] for key in ("run", "queries", "bounds", "counts", "notes", "convention")}
    content["measures"] = {name: _plain(column) for name, column in scores.columns.items()}
    return hashlib.sha256(json.dumps(without_nan(content), sort_keys=True).encode()).hexdigest()


def _signature(scores: Scores, measure: str | None = None) -> dict[str, str]:
    """The signature of one measure or of all, as a field; an empty dict where the scores have no signature."""
    if "signature" not in scores.provenance:
        return {}
    return {"signature": scores.signature(measure)}


def check_version(version: object, where: str) -> None:
    """Refuse scores that were saved in another version of the format."""
    if version == VERSION:
        return
    problem = f"was saved in version {version!r} of the format; this goldrank reads version {VERSION}"
    if version in (1, 2):
        hint = "It is older than goldrank 1.0: evaluate again, and save the scores anew."
        raise InputError(problem, where=where, hint=hint, code="older-version")
    hint = "Use the goldrank that wrote it, or a newer one."
    raise InputError(problem, where=where, hint=hint, code="newer-version")


def from_plain(data: Any, where: str) -> Scores:
    """The inverse of `to_plain`. Summaries must follow from the values, and values must be within their bounds."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise InputError("is not saved goldrank scores", where=where, code="not-saved-scores")

    check_version(data.get("version"), where)
    try:
        queries = _queries(data)
        measures = _of_type(data["measures"], dict, "measures")
        columns = {name: _from_plain(name, column, len(queries)) for name, column in measures.items()}
        bounds = {}
        for name, bound in _of_type(data.get("bounds", {}), dict, "bounds").items():
            why = one_of(bound["why"], ("ties", "unjudged"), "why")
            low = _from_plain(name, bound["low"], len(queries))
            high = _from_plain(name, bound["high"], len(queries))
            bounds[name] = Bounds(why, low, high)

        counts = dict(_of_type(data["counts"], dict, "counts"))
        for key, count in counts.items():
            if not 0 <= _of_type(count, int, key) < MOST:
                raise ValueError(f"a count is below 0 or not below {MOST:,}")
        notes = tuple(map(Note.from_dict, _of_type(data["notes"], list, "notes")))

        run = _of_type(data["run"], str, "run")
        ids.check_text(run, "name of a run")
        convention = _of_type(data["convention"], str, "convention")
        provenance = _of_type(data["provenance"], dict, "provenance")
        _check_provenance(provenance)
        options = _of_type(provenance.get("options", options_of(convention)), dict, "options")
        for name, values in options.items():
            _of_type(values, dict, f"options of {name}")

        return Scores(
            run=run,
            queries=queries,
            columns=columns,
            remarks=Remarks(counts, notes),
            convention=convention,
            origin=partial(dict, provenance),
            bounds=bounds,
            options=options,
            facts=query_facts.from_plain(data["by_query"], len(queries)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, ArithmeticError) as error:
        raise InputError(f"saved scores are damaged: {error}", where=where, code="damaged-file") from None


def _queries(data: Mapping[str, Any]) -> tuple[str, ...]:
    queries = []
    for query in _of_type(data["queries"], list, "queries"):
        queries.append(ids.as_text(_of_type(query, str, "a query id"), "query id"))
    if len(set(queries)) < len(queries):
        raise ValueError("a query id is duplicated")
    return tuple(queries)


def _check_provenance(provenance: Mapping[str, Any]) -> None:
    for part in ("qrels", "policies"):
        _of_type(provenance.get(part) or {}, dict, part)
    _check_signature(provenance)


def _check_signature(provenance: Mapping[str, Any]) -> None:
    """Refuse facts from which no signature can be made."""
    if "signature" not in provenance:
        return
    facts = _of_type(provenance["signature"], dict, "signature")
    options = _of_type(facts.get("options", {}), dict, "options of the signature")
    for key, word in (*facts.items(), *options.items()):
        if key != "options":
            _of_type(word, str, f"{key} of the signature")
    if "depth" in options and not options["depth"].isdigit():
        raise ValueError(f"depth of the signature is {options['depth']!r:.60}")
    for key in ("goldrank", "convention"):
        _of_type(provenance.get(key), str, key)


def _plain(column: Column) -> dict[str, Any]:
    return {
        "summary": column.summary,
        "average": column.average,
        "higher_is_better": column.higher_is_better,
        "counts_nan": column.counts_nan,
        "values": column.values.tolist(),
    }


def _of_type(value: Any, kind: type, label: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise ValueError(f"{label} is {value!r:.60}")
    return value


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    return float(_of_type(value, int | float, "a value"))  # type: ignore[arg-type]


def _from_plain(name: str, column: Any, size: int) -> Column:
    """A column of a file, checked against the declaration of its measure and against its summary."""
    from goldrank.measures import known, summarise
    from goldrank.measures.declare import KEYS

    if name in KEYS or utf8(name) != name:
        raise ValueError(f"{name!r} cannot be the name of a measure")

    values = np.array([_number(value) for value in _of_type(column["values"], list, "values")], np.float64)
    if len(values) != size:
        raise ValueError(f"{name} has {len(values):,} values for {size:,} queries")

    average = one_of(column["average"], AVERAGES, "average")
    flags = (_of_type(column[key], bool, key) for key in _FLAGS)
    saved = Column(name, values, _number(column["summary"]), average, *flags)
    summary = summarise(average, saved.counted)
    both_nan = math.isnan(summary) and math.isnan(saved.summary)
    if not both_nan and not math.isclose(summary, saved.summary, rel_tol=1e-9):
        raise ValueError(f"{name} is {saved.summary:g} in it, and its values give {summary:g}")

    measure = known(name)
    if measure is not None:
        low, high = measure.declaration.low, measure.declaration.high
        beyond = values[(values < low - SLACK) | (values > high + SLACK)]
        if len(beyond):
            raise ValueError(f"{name} has the value {beyond[0]:g}, which it cannot")
        if average != measure.declaration.average:
            raise ValueError(f"{name} is averaged by {average}, which it cannot")
    return saved
