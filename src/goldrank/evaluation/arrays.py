"""Grades and scores in arrays in, `Scores` out, as for mappings."""

from __future__ import annotations

from typing import Any

from goldrank import conventions
from goldrank.base.errors import InputError, MeasureError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasuresLike
from goldrank.data.array_groups import ArrayQrels, ScoredArrays
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve_measures
from goldrank.io.objects.array_values import graded_rows


@named_arguments
def evaluate_arrays(
    grades: Any,  # arrays of any library; `io.arrays.as_array` says which
    scores: Any,
    measures: MeasuresLike = None,
    *,
    groups: Any = None,
    indexes: Any = None,
    mask: Any = None,
    real_grades: bool = False,
    convention: ConventionLike = "trec_eval-10",
) -> Scores:
    """Score predictions by the grades of the same documents, both in arrays.

    Queries are named by their row or group from 0, or by their ids, and documents by their column or position in their
    group. Values are equal to `evaluate` with mappings under these names, to the last bit. Documents that are not in
    the arrays do not exist, so they cannot be missed.

    Parameters
    ----------
    grades : array
        Grades, whole numbers or flags: a table with a query in each row and a document in each column, or a flat array
        with `groups` or `indexes`. Arrays of numpy, torch, jax, polars and pandas are read directly.
    scores : array
        Predictions, of the same shape.
    measures : measures, optional
        "nDCG@10", a `Measure`, a function, or a list of these; by default the usual ones.
    groups : array, optional
        For flat arrays: the sizes of groups in order, or an id for each entry.
    indexes : array, optional
        For flat arrays: an id for each entry, in any order.
    mask : array, optional
        Entries that are False are padding.
    real_grades : bool
        Whether grades may have decimals, as gains do.
    convention : str or Convention
        Whose rules hold: "sklearn" and "torchmetrics" are usual here.

    Returns
    -------
    Scores
        The run is called "run"; `scores.renamed(name)` has another name.

    Raises
    ------
    InputError
        If arrays are not of the same shape, cannot be read, or are empty.
    MeasureError
        If a measure is unknown, or cannot be measured with arrays.

    Examples
    --------
    >>> evaluate_arrays([[0, 2], [1, 0]], [[0.3, 0.7], [0.1, 0.2]], "RR").per_query["RR"]
    {'0': 1.0, '1': 0.5}
    >>> evaluate_arrays([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.4], "P@1", groups=[2, 2])["P@1"]
    0.5
    """
    rules = conventions.get(convention)
    parsed_measures = resolve_measures(measures, rules)
    items = next((measure for measure in parsed_measures if measure.declaration.over == "recommended"), None)
    if items is not None and not (groups is None and indexes is None):
        raise MeasureError(f"{items} is about items, and flat arrays do not say which they are", hint="Give a table.")

    is_real = of_type(real_grades, bool, "real_grades", "a flag")
    rows, padding = graded_rows(grades, scores, groups, indexes, mask, is_real)
    if not len(rows.queries):
        raise InputError("no queries", where="grades", hint="The arrays are empty.")

    notes: tuple[Note, ...] = ()
    if padding:
        notes = (Note.of("padding", count=padding),)
    run = Run(ScoredArrays(rows), name="run").with_facts(id_kind="str", notes=notes)
    placed = pipeline.place(ArrayQrels(rows), run, rules)
    return pipeline.score(placed, parsed_measures)
