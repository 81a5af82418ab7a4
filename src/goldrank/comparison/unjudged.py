"""What unjudged documents mean for the verdicts of a comparison: which stand, which do not, and what to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from goldrank.comparison.design import Design
from goldrank.comparison.flips import flip, max_t
from goldrank.comparison.holes import PairHoles, ToJudge, finder_of, standing
from goldrank.comparison.pair import Pair, verdict_of
from goldrank.comparison.settings import Statistics
from goldrank.comparison.statistics import Compared, on_scale, with_secondaries
from goldrank.data.placements import Placements
from goldrank.data.scores import Scores
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure, parse
from goldrank.measures.holes import count_holes, hole_reach, hole_rule
from goldrank.notes import Note

MOST_BOUNDED = 200_000
"""With more rows times queries than this, no bounds are made: a verdict is then only held against condensed lists."""
NAMED = 3
"""Documents to judge that a sentence names, and rows beyond `MOST_BOUNDED` whose documents are read."""
LISTED = 20
"""Documents to judge that a row holds."""

CAVEATS = {"closed": "judging-cannot-change", "extreme": "only-extreme-judgements", "open": "unjudged-decide"}
"""The codes of notes on what unjudged documents mean for a row."""


def with_holes(
    found: Sequence[Pair], placed: Sequence[Placed], compared: Compared, queries: Sequence[str]
) -> list[Pair]:
    """The rows, each with what unjudged documents mean for it; a verdict that they could turn is withheld.

    All systems were placed with the same judgements. `queries` are the columns of the values.
    """
    tables, statistics = [run.placements for run in placed], compared.statistics
    measures = {about.name: parse(about.name) for about in compared.facts if not about.diagnostic}
    looked = {name: m for name, m in measures.items() if hole_rule(m) is not None and _has_holes(m, tables)}
    if not looked:
        return list(found)
    position = {query: i for i, query in enumerate(tables[0].queries)}
    at = np.array([position[query] for query in queries], np.int64)
    condensed = {name: _condensed(looked[name], tables, at, matrix) if name in looked else matrix
                 for name, matrix in compared.values.items()}  # fmt: skip
    others = _decisions(found, replace(compared, values=condensed, replicates={}))
    is_open = [pair.measure in looked and _decision(pair) != other for pair, other in zip(found, others, strict=True)]
    rows = [i for i, pair in enumerate(found) if pair.measure in looked]
    small = len(rows) * len(queries) <= MOST_BOUNDED and statistics.used_correction == "max-t"
    if not small and not any(is_open):
        return list(found)
    # Ids are read for the rows that need them: all if there are few, else those that could be turned.
    chosen = rows if small else [i for i in rows if is_open[i]][:NAMED]
    about = {name for i in chosen for name in (found[i].a, found[i].b)}
    read = [(name, run) for name, run in zip(compared.names, placed, strict=True) if name in about]
    finder = finder_of([run for _, run in read], [looked[found[i].measure] for i in chosen])
    number = {name: i for i, (name, _) in enumerate(read)}
    holes: dict[int, PairHoles] = {}
    for i in chosen:
        of_pair = finder.pair(looked[found[i].measure], number[found[i].a], number[found[i].b])
        assert of_pair is not None  # `looked` has the measures that are about documents
        holes[i] = of_pair
    held = dict.fromkeys(chosen, "open")
    if small:
        ends = [_extremes(found, holes, at, compared, end) for end in ("low", "high")]
        held = {i: standing(_decision(found[i]), others[i], ends[0][i], ends[1][i]) for i in chosen}
    pairs = [
        _told(pair, held.get(i, "open" if is_open[i] else ""), holes.get(i), at, compared.design)
        for i, pair in enumerate(found)
    ]
    return with_secondaries(pairs) if compared.primary else pairs


def _decisions(pairs: Sequence[Pair], compared: Compared) -> list[str]:
    """The verdicts on other values of the same rows; of the usual correction without all else that a row has."""
    statistics = compared.statistics
    if statistics.used_correction != "max-t" or statistics.margin is not None:
        return list(map(_decision, compared.tested()))
    flipped = compared.flipped()
    adjusted = np.ones(len(pairs))
    for role in {pair.role for pair in pairs} - {"diagnostic"}:
        family = [i for i, pair in enumerate(pairs) if pair.role == role]
        # What no flip reaches is below alpha, however far.
        adjusted[family] = max_t(flipped, family, alpha=statistics.alpha, raw=[0.0] * len(family)).adjusted
    verdicts = [
        "diagnostic" if pair.role == "diagnostic" else _verdict(pair, float(u), p, statistics)
        for pair, u, p in zip(pairs, flipped.u, adjusted.tolist(), strict=True)
    ]
    if compared.primary is None:
        return verdicts
    first = {(pair.a, pair.b): verdict for pair, verdict in zip(pairs, verdicts, strict=True) if pair.role == "primary"}
    return [
        "unclear" if pair.role == "secondary" and first[pair.a, pair.b] != verdict else verdict
        for pair, verdict in zip(pairs, verdicts, strict=True)
    ]


def _verdict(pair: Pair, u: float, adjusted: float, statistics: Statistics) -> str:
    """The verdict on a row with another sum and p-value; 'unclear' where nothing differs."""
    verdict = verdict_of(
        u, adjusted, int(u != 0), alpha=statistics.alpha, higher_is_better=pair.higher_is_better, withheld=pair.withheld
    )
    return "unclear" if verdict == "same" else verdict


def placed_alike(systems: Sequence[Scores]) -> tuple[Placed, ...]:
    """The placed runs of fresh scores, if all were placed with the same judgements and rules; else none."""
    placed = tuple(system.placed for system in systems)
    if any(run is None for run in placed):
        return ()
    first = placed[0]
    for run in placed[1:]:
        same = run.judgements is first.judgements or run.judgements.digest == first.judgements.digest
        if not same or run.rules != first.rules:
            return ()
    return placed


def _has_holes(measure: Measure, tables: Sequence[Placements]) -> bool:
    return any(count_holes(p, hole_reach(measure, p)).any() for p in tables)


def _condensed(measure: Measure, tables: Sequence[Placements], at: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """The values with unjudged documents taken out, NaN where the observed ones are."""
    condensed = on_scale(np.array([measure(p.condensed)[at] for p in tables]), measure.declaration.average)
    return np.where(np.isnan(observed), np.nan, condensed)


def _decision(pair: Pair) -> str:
    """The verdict, with nothing said of systems that are the same on every query: a sample shows no more than that."""
    return "unclear" if pair.verdict == "same" else pair.verdict


def _extremes(
    pairs: Sequence[Pair], holes: dict[int, PairHoles], at: np.ndarray, compared: Compared, end: str
) -> dict[int, str]:
    """Each row's verdict if every query is as low, or as high, as judgements could make it; families as they are."""
    verdicts: dict[int, str] = {}
    statistics = compared.statistics
    for role in {pair.role for pair in pairs}:
        family = [i for i in holes if pairs[i].role == role]
        if not family:
            continue
        rows = np.array([getattr(holes[i], end)[at] for i in family])
        rows = np.where([compared.counted(pairs[i].measure) for i in family], rows, 0.0)
        rows = np.clip(rows, -1e3, 1e3)
        flipped = flip(compared.design.unit_columns(rows), samples=statistics.draws() - 1, seed=statistics.seed)
        adjusted = max_t(flipped, alpha=statistics.alpha, raw=[0.0] * len(family)).adjusted
        for i, u, p in zip(family, flipped.u.tolist(), adjusted.tolist(), strict=True):
            verdicts[i] = _verdict(pairs[i], u, p, statistics)
    return verdicts


def _told(pair: Pair, held: str, holes: PairHoles | None, at: np.ndarray, design: Design) -> Pair:
    if not held or (holes is not None and not holes.any):
        return pair
    if held != "open":
        if _decision(pair) == "unclear":
            return pair
        return replace(pair, caveats=(*pair.caveats, Note.of(CAVEATS[held])))
    first: tuple[ToJudge, ...] = ()
    if holes is not None:
        weight = np.zeros(len(holes.queries))
        weight[at] = 1.0 if design.weights is None else design.weights
        first = tuple(holes.judge_first(weight, LISTED))
    note = Note.of(CAVEATS[held], samples=[f"{hole.doc} for {hole.query}" for hole in first[: NAMED + 1]])
    return replace(pair, withheld=True, caveats=(*pair.caveats, note), judge_first=first)
