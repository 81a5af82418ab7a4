"""A judge beside people: confusion, agreement, what its errors go with, the order of systems."""

from __future__ import annotations

from goldrank.comparison.intervals import percent
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, note_sentences
from goldrank.judging.bias import Figure, JudgeAgreement, SystemOrder
from goldrank.report.numbers import interval, number


def parts(agreement: JudgeAgreement) -> list[Part]:
    """The tables of an agreement."""
    shown: list[Part] = [
        _confusion(agreement),
        _figures(agreement.agreement, "Agreement", agreement.level, signed=False),
        _figures(agreement.bias, "What its errors go with", agreement.level, signed=True),
    ]
    if agreement.orders:
        rows = [_order_row(order) for order in agreement.orders]
        columns = [*Head.names("measure"), *Head.numbers("tau", "pairs", "flips", "hard flips", "verdicts")]
        caption = (
            "flips: the judge puts the other system ahead; hard: and significantly so; verdicts: pairs of which the "
            "first, none, the second is significantly ahead by the judge, for the same three by people"
        )
        shown.append(Table(columns, rows, title="The order of systems", caption=caption))

    remark = f"{agreement.pairs:,} pairs of {agreement.queries:,} queries; intervals by bootstrap over queries"
    return [*shown, Sentence(remark, "remark"), *note_sentences(agreement.notes)]


def _confusion(agreement: JudgeAgreement) -> Table:
    columns = [*Head.names("people \\ judge"), *Head.numbers(*map(str, agreement.scale))]
    rows: list[Cells] = []
    for grade, counts in zip(agreement.scale, agreement.confusion, strict=True):
        rows.append([str(grade), *(Cell(f"{count:,}", count) for count in counts.tolist())])
    return Table(columns, rows, title="Pairs by grade")


def _order_row(order: SystemOrder) -> Cells:
    verdicts = " / ".join(",".join(map(str, row)) for row in order.table)
    return [order.measure, number(order.tau, 3), str(order.pairs), str(order.flips), str(order.hard_flips), verdicts]


def _figures(figures: tuple[Figure, ...], title: str, level: float, signed: bool) -> Table:
    rows: list[Cells] = [
        [figure.name, Cell(number(figure.value, 3, signed), figure.value), interval(figure.interval, 3, signed),
         f"{figure.pairs:,}", figure.about]
        for figure in figures
    ]  # fmt: skip
    columns = [*Head.names("figure"), *Head.numbers("value", f"{percent(level)} interval", "pairs"), *Head.texts("")]
    return Table(columns, rows, title=title)
