"""What unjudged documents mean for the verdicts of a comparison: which stand, which do not, and what to judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from goldrank.base.notes import Note
from goldrank.comparison.flips import flip, max_t
from goldrank.comparison.holes import PairHoles, finder_of
from goldrank.comparison.pair import Pair, UnjudgedDocuments, verdict_of
from goldrank.comparison.settings import Statistics
from goldrank.comparison.statistics import Compared, on_scale, with_secondaries
from goldrank.comparison.unjudged_rule import unjudged_rule, verdict_stands
from goldrank.data.placements import Placements
from goldrank.data.scores import Scores
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure, parse
from goldrank.measures.unjudged_share import count_holes, hole_reach, hole_rule

MOST_BOUNDED = 200_000
"""With more rows times queries, no bounds are made: a verdict is then only compared with condensed lists."""
NAMED = 3
"""Documents to judge that a sentence names, and rows beyond `MOST_BOUNDED` whose documents are read."""
LISTED = 20
"""Documents to judge that a row has."""

CAVEATS = {"closed": "judging-cannot-change", "extreme": "only-extreme-judgements", "open": "unjudged-decide"}
"""The codes of notes on what unjudged documents mean for a row."""
NOT_RELEVANT = {
    "positives-only": "unjudged-positives-only",
    "catalogue": "unjudged-catalogue",
    "ratings": "unjudged-ratings",
}
"""The codes of notes on why unjudged documents count as not relevant."""


class _Looked(NamedTuple):
    """Measures that unjudged documents could move, by name, and the queries' positions among the judged ones."""

    measures: dict[str, Measure]
    positions: np.ndarray


def with_holes(
    tested: Sequence[Pair], placed_runs: Sequence[Placed], compared: Compared, queries: Sequence[str]
) -> tuple[list[Pair], list[Note]]:
    """The rows, each with what unjudged documents mean for it, and a note where they count as not relevant.

    A verdict that does not stand by the half rule (see `unjudged_rule`) is withheld. All systems were placed with the
    same judgements. `queries` are the columns of the values.
    """
    tables = [run.placements for run in placed_runs]
    movable = {}
    for facts in compared.facts:
        measure = parse(facts.name)
        if not facts.diagnostic and hole_rule(measure) is not None and _has_holes(measure, tables):
            movable[facts.name] = measure
    if not movable:
        return list(tested), []
    rule = unjudged_rule(placed_runs[0])
    if rule != "half":
        return list(tested), [Note.of(NOT_RELEVANT[rule])]

    position = {query: i for i, query in enumerate(tables[0].queries)}
    looked = _Looked(movable, np.array([position[query] for query in queries], np.int64))
    is_open = _open_rows(tested, tables, compared, looked)
    rows = [i for i, pair in enumerate(tested) if pair.measure in movable]
    small = len(rows) * len(queries) <= MOST_BOUNDED and compared.statistics.used_correction == "max-t"
    if not small and not any(is_open):
        return list(tested), []

    # Ids are read for the rows that need them: all if there are few, else those that could be turned.
    chosen = rows
    if not small:
        chosen = [i for i in rows if is_open[i]][:NAMED]
    holes = _holes_of(tested, chosen, placed_runs, compared, looked)
    standing_of = {i: "open" for i in range(len(tested)) if is_open[i]}
    if small:
        standing_of.update(_closed_or_extreme(tested, holes, compared, looked.positions, standing_of))

    pairs = [
        _with_unjudged(pair, standing_of.get(i, ""), holes.get(i), looked.positions, compared)
        for i, pair in enumerate(tested)
    ]
    if compared.primary:
        pairs = with_secondaries(pairs)
    return pairs, []


def _open_rows(tested: Sequence[Pair], tables: Sequence[Placements], compared: Compared, looked: _Looked) -> list[bool]:
    """Which rows unjudged documents could decide.

    Those are verdicts that do not stand by the half rule, and rows that are decided only without those documents.
    """
    condensed = dict(compared.values)
    for name, measure in looked.measures.items():
        condensed[name] = _condensed(measure, tables, looked.positions, compared.values[name])
    others = _decisions(tested, replace(compared, values=condensed, replicates={}))

    row_of = {name: i for i, name in enumerate(compared.names)}
    is_open = []
    for pair, other in zip(tested, others, strict=True):
        if pair.measure not in looked.measures:
            is_open.append(False)
        elif pair.is_decided:
            counted, matrix = compared.counted(pair.measure), condensed[pair.measure]
            differences = (matrix[row_of[pair.b]] - matrix[row_of[pair.a]])[counted]
            is_open.append(not verdict_stands(pair.difference, compared.design.mean(differences, counted)))
        else:
            is_open.append(other in ("better", "worse") and not pair.withheld and pair.verdict != "equivalent")
    return is_open


def _holes_of(
    tested: Sequence[Pair], chosen: Sequence[int], placed_runs: Sequence[Placed], compared: Compared, looked: _Looked
) -> dict[int, PairHoles]:
    """The holes of some rows, by their numbers."""
    systems = {name for i in chosen for name in (tested[i].a, tested[i].b)}
    runs_to_read = [(name, run) for name, run in zip(compared.names, placed_runs, strict=True) if name in systems]
    measures = [looked.measures[tested[i].measure] for i in chosen]
    finder = finder_of([run for _, run in runs_to_read], measures, len(chosen))
    number = {name: i for i, (name, _) in enumerate(runs_to_read)}
    holes: dict[int, PairHoles] = {}
    for i, measure in zip(chosen, measures, strict=True):
        of_pair = finder.pair(measure, number[tested[i].a], number[tested[i].b])
        assert of_pair is not None  # the measures that are looked at are about documents
        holes[i] = of_pair

    return holes


def _closed_or_extreme(
    tested: Sequence[Pair],
    holes: dict[int, PairHoles],
    compared: Compared,
    positions: np.ndarray,
    standing_of: Mapping[int, str],
) -> dict[int, str]:
    """Whether all judgements leave a verdict that stands as it is, or all but extreme ones."""
    worst, best = (_extremes(tested, holes, positions, compared, end) for end in ("low", "high"))

    standing = {}
    for i in holes:
        if i in standing_of or not tested[i].is_decided:
            continue
        if worst[i] == tested[i].verdict == best[i]:
            standing[i] = "closed"
        else:
            standing[i] = "extreme"
    return standing


def _decisions(pairs: Sequence[Pair], compared: Compared) -> list[str]:
    """The verdicts on other values of the same rows; with the usual correction, without the rest of a row."""
    statistics = compared.statistics
    if statistics.used_correction != "max-t" or statistics.margin is not None:
        return [pair.verdict for pair in compared.tested()]

    flipped = compared.flipped()
    adjusted = np.ones(len(pairs))
    for role in {pair.role for pair in pairs} - {"diagnostic"}:
        family = [i for i, pair in enumerate(pairs) if pair.role == role]
        # What no flip reaches is below alpha, however far.
        adjusted[family] = max_t(flipped, family, alpha=statistics.alpha, raw=[0.0] * len(family)).adjusted

    verdicts = []
    for pair, u, p in zip(pairs, flipped.u, adjusted.tolist(), strict=True):
        if pair.role == "diagnostic":
            verdicts.append("diagnostic")
        else:
            verdicts.append(_verdict(pair, float(u), p, statistics))
    if compared.primary is None:
        return verdicts

    primary_verdicts = {
        (pair.a, pair.b): verdict for pair, verdict in zip(pairs, verdicts, strict=True) if pair.role == "primary"
    }
    for i, pair in enumerate(pairs):
        if pair.role == "secondary" and primary_verdicts[pair.a, pair.b] != verdicts[i]:
            verdicts[i] = "unclear"
    return verdicts


def _verdict(pair: Pair, u: float, adjusted: float, statistics: Statistics) -> str:
    """The verdict on a row with another sum and p-value; 'unclear' where nothing differs."""
    verdict = verdict_of(u, adjusted, int(u != 0), alpha=statistics.alpha, higher_is_better=pair.higher_is_better)
    if verdict == "same":
        return "unclear"
    return verdict


def placed_alike(systems: Sequence[Scores]) -> tuple[Placed, ...]:
    """The placed runs of fresh scores, if all were placed with the same judgements and rules; else none."""
    placed_runs = tuple(system.placed for system in systems)
    if any(run is None for run in placed_runs):
        return ()
    first = placed_runs[0]
    for run in placed_runs[1:]:
        same = run.judgements is first.judgements or run.judgements.digest == first.judgements.digest
        if not same or run.rules != first.rules:
            return ()
    return placed_runs


def _has_holes(measure: Measure, tables: Sequence[Placements]) -> bool:
    return any(count_holes(p, hole_reach(measure, p)).any() for p in tables)


def _condensed(
    measure: Measure, tables: Sequence[Placements], positions: np.ndarray, observed: np.ndarray
) -> np.ndarray:
    """The values with unjudged documents taken out, NaN where the observed ones are."""
    condensed = on_scale(np.array([measure(p.condensed)[positions] for p in tables]), measure.declaration.average)
    return np.where(np.isnan(observed), np.nan, condensed)


def _extremes(
    pairs: Sequence[Pair], holes: dict[int, PairHoles], positions: np.ndarray, compared: Compared, end: str
) -> dict[int, str]:
    """Each row's verdict if every query is as low, or as high, as judgements could make it; families as they are."""
    verdicts: dict[int, str] = {}
    statistics = compared.statistics
    for role in {pair.role for pair in pairs}:
        family = [i for i in holes if pairs[i].role == role]
        if not family:
            continue
        rows = np.array([getattr(holes[i], end)[positions] for i in family])
        rows = np.where([compared.counted(pairs[i].measure) for i in family], rows, 0.0)
        rows = np.clip(rows, -1e3, 1e3)
        flipped = flip(compared.design.unit_columns(rows), samples=statistics.draws() - 1, seed=statistics.seed)
        adjusted = max_t(flipped, alpha=statistics.alpha, raw=[0.0] * len(family)).adjusted
        for i, u, p in zip(family, flipped.u.tolist(), adjusted.tolist(), strict=True):
            verdicts[i] = _verdict(pairs[i], u, p, statistics)

    return verdicts


def _with_unjudged(
    pair: Pair, standing: str, holes: PairHoles | None, positions: np.ndarray, compared: Compared
) -> Pair:
    """The row with what unjudged documents mean for it: how far they could move it, and what to judge first."""
    if holes is None:
        if not standing:
            return pair
        return _waiting(pair, Note.of(CAVEATS[standing]))
    if not holes.any:
        return pair

    counted = compared.counted(pair.measure)
    weight = np.zeros(len(holes.queries))
    weight[positions] = counted
    if compared.design.weights is not None:
        weight[positions] = np.where(counted, compared.design.weights, 0.0)
    pair = replace(pair, unjudged=_unjudged(holes, weight))
    if not standing:
        return pair
    if standing != "open":
        return replace(pair, caveats=(*pair.caveats, Note.of(CAVEATS[standing])))

    observed = 0.0
    to_turn = None
    if pair.is_decided:
        observed = pair.difference
        to_turn = holes.fewest_to_turn(weight)
    documents = tuple(holes.judge_first(weight, LISTED, observed))
    note = Note.of(CAVEATS[standing], samples=[f"{hole.doc} for {hole.query}" for hole in documents[: NAMED + 1]])
    unjudged = replace(_unjudged(holes, weight), to_turn=to_turn)
    return replace(_waiting(pair, note), judge_first=documents, unjudged=unjudged)


def _waiting(pair: Pair, note: Note) -> Pair:
    """The row, which waits for judgements: neither a p-value nor a probability says how it ends.

    Its interval is that of the difference as judged today.
    """
    caveats = (*pair.caveats, note)
    return replace(pair, withheld=True, p_adjusted=math.nan, at_most=False, probability=math.nan, caveats=caveats)


def _unjudged(holes: PairHoles, weight: np.ndarray) -> UnjudgedDocuments:
    """How many documents are unjudged, and where the difference lies if all are judged."""
    counted = weight > 0
    low, high = (float(np.dot(weight[counted], ends[counted]) / weight.sum()) for ends in (holes.low, holes.high))
    documents = int(np.count_nonzero(counted[holes.query]))
    return UnjudgedDocuments(documents=documents, low=low, high=high, judged_a=holes.judged_a, judged_b=holes.judged_b)
