"""Grades and scores in arrays in, the same `Scores` out as for mappings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from goldrank import conventions
from goldrank.data.arrays import ArrayQrels, ScoredArrays
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.errors import InputError, MeasureError, OptionError, of_type
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve_measures, whole_depth
from goldrank.io.arrays import graded_rows
from goldrank.measures import DEFAULT, Measure, make, parse, parse_all
from goldrank.misuse import checked
from goldrank.notes import Note
from goldrank.types import ConventionLike, MeasureLike, MeasuresLike, Policies


@checked
def evaluate_arrays(
    grades: Any,  # arrays of any library; `io.arrays.as_array` says which
    scores: Any,
    measures: MeasuresLike = None,
    *,
    groups: Any = None,
    indexes: Any = None,
    k: int | Iterable[int] | None = None,
    mask: Any = None,
    real_grades: bool = False,
    convention: ConventionLike = "trec_eval-10",
    depth: int | None = None,
    name: str = "run",
    **policies: Unpack[Policies],
) -> Scores:
    """Score predictions by the grades of the same documents, both in arrays.

    Tables have a query in each row and a document in each column. Flat arrays take `groups`, the sizes of groups in
    order or an id for each entry, or `indexes`, an id for each entry in any order. Arrays of numpy, torch, jax, polars
    and pandas are read directly. Entries that are False in `mask` are padding. `k` is the cut-off, or several, of
    measures that have none. Grades are whole numbers or flags; gains need `real_grades=True`.

    Queries are named by their row or group from 0, or by their ids, and documents by their column or place in their
    group. Values are those of `evaluate` with mappings under these names, to the last bit. Documents that are not in
    the arrays do not exist, so they cannot be missed. `convention="sklearn"` and others, and policies, are as in
    `evaluate`.

    >>> evaluate_arrays([[0, 2], [1, 0]], [[0.3, 0.7], [0.1, 0.2]], "RR").per_query["RR"]
    {'0': 1.0, '1': 0.5}
    >>> evaluate_arrays([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.4], "P", groups=[2, 2], k=1)["P@1"]
    0.5
    """
    rules = conventions.get(convention).with_policies(**policies)
    asked = resolve_measures(_cut(measures, k), rules)
    items = next((measure for measure in asked if measure.declaration.over == "recommended"), None)
    if items is not None and not (groups is None and indexes is None):
        raise MeasureError(f"{items} is about items, and flat arrays do not say which they are", hint="Give a table.")
    rows, padding = graded_rows(
        grades, scores, groups, indexes, mask, of_type(real_grades, bool, "real_grades", "a flag")
    )
    if not len(rows.queries):
        raise InputError("no queries", where="grades", hint="The arrays are empty.")
    notes = (Note.of("padding", count=padding),) if padding else ()
    run = Run(ScoredArrays(rows), name=of_type(name, str, "name", "text"), id_kind="str", notes=notes)
    placed = pipeline.place(ArrayQrels(rows), run, rules)
    return pipeline.score(placed, asked, whole_depth(depth))


def _cut(measures: MeasuresLike, k: int | Iterable[int] | None) -> MeasuresLike:
    """The measures at their own cut-offs, else at the ones given."""
    if k is None:
        return measures
    cuts = [int(cut) if isinstance(cut, np.integer) else cut for cut in (k if isinstance(k, Iterable) else [k])]
    if not cuts or isinstance(k, str | bytes):
        raise OptionError(f"k is {k!r:.80}; it must be a cut-off or several", hint="For example k=10 or k=[1, 10].")
    given: list[MeasureLike] = list(DEFAULT)
    if measures is not None:
        single = isinstance(measures, str) or not isinstance(measures, Iterable)
        given = [measures] if single else list(measures)  # type: ignore[list-item, arg-type]
    return [measure for wanted in given for cut in cuts for measure in _at(wanted, cut)]


def _at(given: MeasureLike, cut: int) -> list[Measure]:
    refused: MeasureError | None = None
    if isinstance(given, str) and "@" not in given:
        try:
            return [parse(f"{given}@{cut}")]
        except MeasureError as error:  # another tool's spelling with a cut-off of its own, or it takes none
            refused = error
    asked = parse_all(given)
    if refused is not None and any(measure.k is None for measure in asked):
        raise refused
    return [
        measure if measure.k is not None else make(measure.declaration, cut, dict(measure.options)) for measure in asked
    ]
