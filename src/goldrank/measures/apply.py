"""How a measure is taken, as its declaration says: over ties, on texts, and over queries."""

from __future__ import annotations

import math

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import MeasureError, one_of
from goldrank.core import core
from goldrank.data.placements import Placements
from goldrank.measures.declare import REGISTRY, Kernel
from goldrank.measures.rank import grouped_average_precision
from goldrank.measures.spelling import Measure, Table, make

CREDITS = {
    "any": "a text that covers any reference is relevant; a reference counts once",
    "one_to_one": "a text is given one reference, so that as many as possible are given",
    "first_free": "a text is given one reference, the first that no text above it was given",
    "pairs": "every pair of a text and a reference that it covers counts; P and SetP only",
}
"""What counts when one text covers several references, or several texts cover one reference."""


def expected(measure: Measure, table: Table) -> np.ndarray:
    """Per query, the exact mean of a measure over all orders of documents with equal scores.

    McSherry and Najork 2008 (Computing information retrieval performance measures efficiently in the presence of
    tied scores) give it in closed form, measure by measure: a document of a group of n ties is at each of the group's
    n ranks with the same chance, and so on.
    """
    kernel = measure.declaration.ties
    if kernel is None:
        names = ", ".join(declared.name for declared in REGISTRY.values() if declared.ties is not None)
        message = f"{measure} has no closed form over ties"
        raise MeasureError(message, hint=f"ties='expected' goes with {names}.", code="no-closed-form")
    if isinstance(kernel, str):
        return measure(table)
    return measure.with_kernel(kernel, measure.packed(table))


def check_credit(measure: Measure, credit: str) -> None:
    """An error where a measure of texts has no meaning under a kind of credit."""
    one_of(credit, CREDITS, "credit")
    declared = measure.declaration
    if declared.over == "placements" and (declared.texts == "meaningless" or measure.option("judged_only")):
        raise MeasureError(f"{measure} has no meaning for texts", hint="The matcher judges every text.")
    if credit == "pairs" and declared.pairs is None:
        names = " and ".join(other.name for other in REGISTRY.values() if other.pairs is not None)
        raise MeasureError(
            f"{measure} has no meaning for pairs of texts and references: no ranking is the ideal one",
            hint=f'credit="pairs" goes with {names}; credit="any" with all measures of texts.',
            code="no-meaning-for-pairs",
        )


GROUPED = {"AP": grouped_average_precision}
"""Kernels that take documents of equal scores for one step, by measure."""


def grouped(measure: Measure, table: Table) -> np.ndarray:
    """Per query, the value of a measure that takes documents of equal scores for one step."""
    kernel = GROUPED.get(measure.name)
    if kernel is None:
        names = ", ".join(GROUPED)
        raise MeasureError(f"{measure} has no form over groups of equal scores", hint=f"These have: {names}.")
    return measure.with_kernel(kernel, table)


def check_order(measure: Measure, placements: Placements, length: int, rules: str) -> None:
    """Refuse rankings of at least `length` documents whose value depends on the order of equal scores."""
    if measure.option("divisor") == "hits":  # then one hit less may raise the value; what is divided goes up and down
        measure = make(measure.declaration, measure.k, {**dict(measure.options), "divisor": "relevant"})

    lowest = measure(placements.best_of_ties(False))
    highest = measure(placements.best_of_ties(True))
    differing = np.flatnonzero((lowest != highest) & (placements.retrieved >= length))
    if not len(differing):
        return

    query = ids.show(placements.queries[differing[0]])
    rankings = ""
    if length > 2:
        rankings = f"in rankings of {length} or more documents "
    raise MeasureError(
        f"{measure} of query '{query}' depends on the order of documents with equal scores, and what order {rules} "
        f"gives them {rankings}cannot be known here",
        hint="Say what order they have, for example with ties='input'.",
        code="undefined-order",
    )


def credited(measure: Measure, pairs: Placements, credit: str) -> np.ndarray:
    """A measure's values where texts and references may be paired several times."""
    check_credit(measure, credit)
    context = measure.packed(pairs)
    assert isinstance(context, Placements)
    if credit == "one_to_one":
        return measure.taken(context.one_to_one)
    if credit == "first_free":
        return measure.taken(context.first_free)

    rule: Kernel | str | None = measure.declaration.texts
    if credit == "pairs":
        rule = measure.declaration.pairs
    if not isinstance(rule, str):
        assert rule is not None
        return measure.with_kernel(rule, context)
    views = {"texts": "per_rank", "references": "per_label", "places": "places"}
    return measure.taken(getattr(context, views[rule]))


def counted(measure: Measure, table: Table, repeats: str) -> np.ndarray:
    """A measure's values where a ranking may repeat documents; `repeats` says what it counts of them (`REPEATS`).

    Without repeated documents this is a call of the measure. With them no value passes the measure's upper bound.
    """
    if not isinstance(table, Placements) or not table.shared:
        return measure(table)
    rule = measure.declaration.texts
    if repeats == "texts" and callable(rule):
        values = measure.with_kernel(rule, table)
    else:
        values = measure({"each": table.every_row, "distinct": table}.get(repeats, table.per_label))
    return values.clip(max=measure.declaration.high)


def logarithms(measure: Measure, values: np.ndarray) -> np.ndarray:
    """A query's values as trec_eval shows them: logarithms where the summary is a geometric mean, else as they are."""
    if measure.declaration.average != "geometric":
        return values
    return _logs(values)


def _logs(values: np.ndarray) -> np.ndarray:
    """Logarithms as the C library has them: minus infinity for 0, NaN below 0."""
    return np.array([_log(value) for value in values.tolist()])


def _log(value: float) -> float:
    if value > 0:
        return math.log(value)
    if value == 0:
        return -math.inf
    return math.nan


def summarise(measure: Measure | str, values: np.ndarray, *, logs: bool = False) -> float:
    """The summary of a measure's values over queries: left to right, as a plain loop would.

    In place of a measure its `average` may be given, as a column has it. With `logs`, values for a geometric mean are
    logarithms already.
    """
    if isinstance(measure, str):
        kind = measure
    else:
        kind = measure.declaration.average
    if kind == "geometric" and not logs:
        values = _logs(values)

    size = len(values)
    if not size:
        if kind == "sum":
            return 0.0
        return math.nan

    total = core.total(values)
    if total is None:  # other numbers
        total = float(values.cumsum()[-1])
    if kind == "sum":
        return total
    if kind == "geometric":
        return math.exp(total / size)
    return total / size
