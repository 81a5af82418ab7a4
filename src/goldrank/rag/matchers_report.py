"""How matchers agree with labels, in the forms of `goldrank judge agree`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrank.comparison.intervals import percent
from goldrank.data.table import Cells, Head, Part, Sentence, Table, note_sentences
from goldrank.report.numbers import interval, number

if TYPE_CHECKING:
    from goldrank.rag.matcher_agreement import MatcherAgreements


def parts(agreements: MatcherAgreements) -> list[Part]:
    """Agreement, best thresholds, and what to know about them."""
    shown: list[Part] = [agreement(agreements)]
    shown.append(Sentence("tp: both say match; fp: the matcher alone; fn: the label alone; tn: neither", "remark"))
    if len(agreements.results) > 1:
        text = "behind the first: how much lower kappa is on the same pairs; if 0 is within, that may be luck"
        shown.append(Sentence(text, "remark"))

    best = thresholds(agreements)
    if best.rows:
        texts = (
            "a best threshold was chosen on these same labels, which flatters it",
            f"held out: what thresholds reach on pairs that they were not chosen on ({agreements.folds} shown in turn)",
        )
        shown += [best, *(Sentence(text, "remark") for text in texts)]

    share = agreements.matches / agreements.pairs
    counts = f"{agreements.pairs:,} labelled pairs, of which {agreements.matches:,} match ({share:.0%})"
    return [*shown, Sentence(counts, "remark"), *note_sentences(agreements.notes)]


def agreement(agreements: MatcherAgreements) -> Table:
    """A row per matcher, the one that agrees most first."""
    rows: list[Cells] = []
    for result in agreements.results:
        c = result.confusion
        values = [number(value, 3) for value in (c.f1, c.precision, c.recall, c.accuracy)]
        counts = " / ".join(f"{count:,}" for count in c)
        behind = ""
        if result.behind is not None:
            behind = interval(result.behind, 3)
        rows.append([result.matcher, number(c.kappa, 3), interval(result.interval, 3), *values, counts, behind])

    heads = Head.numbers("kappa", f"{percent(agreements.level)} interval", "F1", "precision", "recall", "accuracy")
    return Table([*Head.texts("matcher"), *heads, *Head.numbers("tp / fp / fn / tn", "behind the first")], rows)


def thresholds(agreements: MatcherAgreements) -> Table:
    """A row per matcher that has a threshold: the ones at which it agrees most."""
    rows: list[Cells] = []
    for result in agreements.results:
        if result.best:
            cells = [result.matcher.partition(":")[0].partition(">")[0]]
            for by in ("kappa", "f1"):
                best = result.best[by]
                cells += [f"{best.threshold:g}", number(best.value, 3), number(best.held_out, 3)]
            rows.append(cells)
    heads = Head.numbers("by kappa", "kappa", "held out", "by F1", "F1", "held out")
    return Table([*Head.texts("best threshold"), *heads], rows)
