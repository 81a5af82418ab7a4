"""Stages as parts and as a chart."""

from __future__ import annotations

from typing import NamedTuple

from goldrank.comparison.intervals import percent
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, escape_html, note_sentences
from goldrank.report.charts import WIDTH, Chart, scale, ticks, x_axis
from goldrank.report.numbers import interval, number
from goldrank.staging.stages import DOCUMENTS, Stages

MOST_QUERIES = 20
MEANINGS = {
    "promoted": "relevant, moved into the first k",
    "demoted": "relevant, lost from the first k",
    "thrown_out": "relevant candidates that the last stage lacks",
    "added": "relevant, in the first k, and not candidates",
    "never_retrieved": "relevant, and not candidates",
    "unjudged": "candidates without a judgement",
}


class Step(NamedTuple):
    """One part of the distance from a perfect ranking."""

    label: str
    value: float


def steps(stages: Stages) -> list[Step]:
    """What is lost from stage to stage, in order."""
    lost = [Step(f"missed before {stages.stages[0]}", stages.missed_before)]
    for name, value in zip(stages.stages[1:], stages.thrown, strict=True):
        if value < 0:
            word = "added by"
        else:
            word = "thrown out by"
        lost.append(Step(f"{word} {name}", value))
    return [*lost, Step(f"order of {stages.stages[-1]}", stages.order)]


def parts(stages: Stages) -> list[Part]:
    """The answer, where the value is, what became of documents, and the queries that lose most."""
    return [Sentence(stages.words), values(stages), documents(stages), queries(stages), *note_sentences(stages.notes)]


def values(stages: Stages) -> Table:
    """From a perfect ranking to what was returned."""
    rows: list[Cells] = [["perfect", stages.perfect]]
    rows += [[step.label, Cell(number(0.0 - step.value, signed=True), 0.0 - step.value)] for step in steps(stages)]
    rows.append([f"{stages.stages[-1]} as ranked", stages.got])
    rows.append([f"{stages.stages[0]} as ranked", stages.base])
    rows.append([f"{stages.stages[0]} in the best order", stages.ceiling])

    caption = ""
    if stages.taken is not None:
        within = f"{percent(stages.level)} interval {interval(stages.taken_interval, 3)}"
        caption = f"Taken of what the candidates allow: {stages.taken:.3f} ({within}), a ratio of means."
    return Table([*Head.names("part"), *Head.numbers(stages.measure)], rows, "Stages", caption)


def documents(stages: Stages) -> Table:
    """What became of documents."""
    rows: list[Cells] = [
        [kind.replace("_", " "), Cell(f"{stages.count(kind):,}", stages.count(kind)), MEANINGS[kind]]
        for kind in DOCUMENTS
    ]
    heads = [*Head.texts("documents"), *Head.numbers("count"), *Head.texts("which")]
    return Table(heads, rows, "Documents")


def queries(stages: Stages) -> Table:
    """The queries that are furthest from a perfect ranking."""
    worst = sorted(stages.per_query, key=lambda each: each.got - each.perfect)[:MOST_QUERIES]
    rows: list[Cells] = [
        [each.query, each.base, each.got, each.missed_before, sum(each.thrown), each.order] for each in worst
    ]
    heads = [*Head.names("query"), *Head.numbers("candidates", "got", "missed before", "thrown out", "order")]
    left_out = len(stages.per_query) - len(worst)
    if left_out:
        caption = f"{left_out:,} more queries lose less."
    else:
        caption = ""
    return Table(heads, rows, "Queries that lose most", caption)


def waterfall(stages: Stages) -> Chart:
    """From a perfect ranking down to what was returned, one bar for each loss."""
    lost = steps(stages)
    left, right, top, step = 8.0, WIDTH - 64.0, 4.0, 36.0
    bottom = top + step * (len(lost) + 2)
    highest = max(stages.perfect, stages.got) or 1.0
    x = scale(0.0, highest, left, right)
    drawn = [x_axis(x, {tick: f"{tick:g}" for tick in ticks(0.0, highest)}, bottom, top)]

    def bar(row: int, label: str, ends: tuple[float, float], colour: str, value: str) -> None:
        y = top + step * row
        low, high = sorted(map(x, ends))
        drawn.append(f'<text class="lab" x="{left:g}" y="{y + 12:g}">{escape_html(label, 44)}</text>')
        drawn.append(f'<path class="bars {colour}" d="M{low:.1f} {y + 17:g}H{high:.1f}V{y + 31:g}H{low:.1f}z"/>')
        drawn.append(f'<text class="end" x="{WIDTH - 4}" y="{y + 28:g}">{value}</text>')

    bar(0, "perfect", (0.0, stages.perfect), "even", number(stages.perfect))
    level = stages.perfect
    for row, loss in enumerate(lost, 1):
        if loss.value < 0:
            colour = "up"
        else:
            colour = "down"
        bar(row, loss.label, (level, level - loss.value), colour, number(-loss.value, signed=True))
        level -= loss.value

    bar(len(lost) + 1, stages.stages[-1], (0.0, stages.got), "s0", number(stages.got))
    return Chart(f"{stages.measure}: where the value is lost", stages.words, bottom + 22, "".join(drawn))
