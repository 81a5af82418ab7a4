"""A judge beside people: confusion, agreement, what its errors go with, the order of systems."""

from __future__ import annotations

from goldrank.comparison.intervals import percent
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, note_sentences
from goldrank.judging.bias import Figure, JudgeAgreement
from goldrank.report.forms import writers
from goldrank.report.numbers import interval, number


def parts(found: JudgeAgreement) -> list[Part]:
    """The tables of an agreement."""
    shown: list[Part] = [
        Table(
            [*Head.names("people \\ judge"), *Head.numbers(*map(str, found.scale))],
            [[str(grade), *(Cell(f"{count:,}", count) for count in row.tolist())]
             for grade, row in zip(found.scale, found.confusion, strict=True)],
            title="Pairs by grade",
        ),
        _figures(found.agreement, "Agreement", found.level, signed=False),
        _figures(found.bias, "What its errors go with", found.level, signed=True),
    ]  # fmt: skip
    if found.orders:
        rows: list[Cells] = [
            [order.measure, number(order.tau, 3), str(order.pairs), str(order.flips), str(order.hard_flips),
             " / ".join(",".join(map(str, row)) for row in order.table)]
            for order in found.orders
        ]  # fmt: skip
        heads = [*Head.names("measure"), *Head.numbers("tau", "pairs", "flips", "hard flips", "verdicts")]
        caption = (
            "flips: the judge puts the other system ahead; hard: and significantly so; verdicts: pairs of which the "
            "first, none, the second is significantly ahead by the judge, for the same three by people"
        )
        shown.append(Table(heads, rows, title="The order of systems", caption=caption))

    remark = f"{found.pairs:,} pairs of {found.queries:,} queries; intervals by bootstrap over queries"
    return [*shown, Sentence(remark, "remark"), *note_sentences(found.notes)]


def _figures(figures: tuple[Figure, ...], title: str, level: float, signed: bool) -> Table:
    rows: list[Cells] = [
        [figure.name, Cell(number(figure.value, 3, signed), figure.value), interval(figure.interval, 3, signed),
         f"{figure.pairs:,}", figure.about]
        for figure in figures
    ]  # fmt: skip
    heads = [*Head.names("figure"), *Head.numbers("value", f"{percent(level)} interval", "pairs"), *Head.texts("")]
    return Table(heads, rows, title=title)


WRITERS = writers()
