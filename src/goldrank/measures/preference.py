"""Measures of preferences between documents: Prefs and the counts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from goldrank.data.preferences import Opinion, Preferred
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice
from goldrank.measures.sets import count

_PAIRS = Choice(("all", "returned", "touched"))
_count = partial(count, over="preferences")


class PreferenceOutcome(NamedTuple):
    """What a ranking does to one judge's preferences; squares of flags, preferred document in the row."""

    opinion: Opinion
    position: np.ndarray
    is_returned: np.ndarray
    """Which documents were returned."""
    counted: np.ndarray
    """Pairs that count: all, pairs of which both documents were returned, or at least one ("touched")."""
    possible: np.ndarray
    """The preferences that count."""
    met: np.ndarray
    """The preferences met: the preferred document was returned, and above the other one if both were returned."""

    def counts(self, among: np.ndarray | slice = slice(None)) -> tuple[int, int]:
        """How many preferences are met and how many possible, between some of the documents."""
        return int(self.met[among][:, among].sum()), int(self.possible[among][:, among].sum())


def _outcomes(p: Preferred, pairs: str) -> Iterator[tuple[list[PreferenceOutcome], int, int]]:
    """Per query, each judge's preferences compared with the ranking, how many documents there are and were returned."""
    for query, opinions in enumerate(p.opinions):
        position, returned = p.order(query)
        outcomes = [_outcome(opinion, position[opinion.doc], returned, pairs) for opinion in opinions]
        yield outcomes, len(position), returned


def _outcome(opinion: Opinion, position: np.ndarray, returned: int, pairs: str) -> PreferenceOutcome:
    is_returned = position < returned
    row, column = is_returned[:, None], is_returned[None, :]
    counted = {"all": np.ones_like(opinion.over), "returned": row & column, "touched": row | column}[pairs]
    possible = opinion.over & counted
    met = possible & (position[:, None] < position[None, :]) & row
    return PreferenceOutcome(opinion, position, is_returned, counted, possible, met)


@measure(
    "Prefs",
    over="preferences",
    needs_relevant=False,
    formula="Prefs = (preferences met by the ranking) / (preferences)",
    use="Judges compared documents with each other instead of grading them.",
    avoid="Judgements are grades; nDCG uses them better.",
    cite="Carterette, Bennett, Chickering and Dumais 2008, Here or there: Preference judgments for relevance",
    aliases=(
        "prefs_simp",
        ("prefs_simp_ret", {"pairs": "returned"}),
        ("prefs_simp_imp", {"pairs": "touched"}),
        ("prefs_pair", {"average": "pair"}),
        ("prefs_pair_ret", {"average": "pair", "pairs": "returned"}),
        ("prefs_pair_imp", {"average": "pair", "pairs": "touched"}),
        ("prefs_avgjg", {"average": "judge"}),
        ("prefs_avgjg_ret", {"average": "judge", "pairs": "returned"}),
        ("prefs_avgjg_imp", {"average": "judge", "pairs": "touched"}),
        ("prefs_avgjg_Rnonrel", {"average": "balanced"}),
        ("prefs_avgjg_Rnonrel_ret", {"average": "balanced", "pairs": "returned"}),
    ),
    options={"pairs": _PAIRS, "average": Choice(("preference", "pair", "judge", "balanced"))},
)
def preferences_met(p: Preferred, *, pairs: str = "all", average: str = "preference") -> np.ndarray:
    """The share of preferences that the ranking agrees with.

    A preference is met if the preferred document was returned and stands above the other, or the other was
    not returned. `pairs="returned"` looks only at pairs of which both were returned, "touched" at those of
    which at least one was. `average` says what counts equally: each "preference", each "pair" of documents,
    each "judge", or each judge with as many nonrelevant documents as relevant ones ("balanced").

    >>> from goldrank.data.preferences import Preferences
    >>> preferences = Preferences({"q": {"judge": [{"a": 2, "b": 1}, {"b": 2, "c": 1}]}})
    >>> evaluate(preferences, {"q": ["a", "c"]}, "Prefs")["Prefs"]
    0.6666666666666666
    """
    values = np.zeros(len(p))
    for query, (outcomes, size, returned) in enumerate(_outcomes(p, pairs)):
        if average == "preference":
            met, possible = np.sum([outcome.counts() for outcome in outcomes], axis=0)
            if possible:
                values[query] = met / possible
        elif average == "pair":
            values[query] = _by_pair(outcomes, size, returned, pairs)
        else:
            values[query] = _by_judge(outcomes, pairs, average == "balanced")
    return values


def _by_judge(outcomes: list[PreferenceOutcome], pairs: str, balanced: bool) -> float:
    """The mean over judges of the share of preferences met."""
    total = 0.0
    for outcome in outcomes:
        if balanced:
            met, possible = _balanced(outcome, pairs)
        else:
            met, possible = outcome.counts()

        if possible:
            total += met / possible
        elif balanced:  # a judge without any preference scores 0, as in trec_eval
            total += np.nan

    if total > 0:
        return total / len(outcomes)
    return 0.0


def _by_pair(outcomes: list[PreferenceOutcome], size: int, returned: int, pairs: str) -> float:
    """The mean over pairs of documents of the share of judges with whom the ranking agrees."""
    count = np.zeros((size, size), np.int64)
    for outcome in outcomes:
        count[np.ix_(outcome.position, outcome.position)] += outcome.opinion.over

    judges = count + count.T
    row, column = np.nonzero(np.triu(judges, 1))
    last = np.where(column < returned, 0, np.where(row < returned, 1, 2))
    keep = last <= {"returned": 0, "touched": 1, "all": 2}[pairs]
    row, column, last = row[keep], column[keep], last[keep]
    order = np.lexsort((column, row, last))
    row, column, last = row[order], column[order], last[order]
    share = np.where(last < 2, count[row, column] / judges[row, column], 0.0)
    if len(share):
        return float(np.cumsum(share)[-1]) / len(share)
    return 0.0


def _balanced(outcome: PreferenceOutcome, pairs: str) -> tuple[int, int]:
    """Preferences met and possible, with as many nonrelevant documents as relevant ones, as trec_eval counts them."""
    opinion, position, is_returned = outcome.opinion, outcome.position, outcome.is_returned
    if pairs == "returned":
        usable = is_returned
    else:
        usable = np.ones(len(is_returned), bool)

    good = opinion.level > 0
    if opinion.partial:
        bad = opinion.level == 0
    else:
        bad = opinion.level <= 0
    all_good, relevant, nonrelevant = int(good.sum()), int((good & usable).sum()), int((bad & usable).sum())

    if relevant >= nonrelevant:
        # Nonrelevant documents that are missing count as standing below everything.
        missing = relevant - nonrelevant
        met, possible = outcome.counts()
        return met + int((good & is_returned).sum()) * missing, possible + all_good * missing

    if opinion.partial:
        keep = np.ones(len(bad), bool)
        if nonrelevant > all_good:
            keep[bad & (position >= np.sort(position[bad & usable])[all_good])] = False
        return outcome.counts(keep)

    # The lowest level stands for the nonrelevant documents; its first ones are compared with every document.
    last = opinion.level == opinion.level.min()
    first = np.flatnonzero(last)[np.argsort(position[last], kind="stable")][:relevant]
    first = first[usable[first]]
    met, possible = outcome.counts(~last & usable)
    rows = np.flatnonzero(usable)
    above = (position[rows][:, None] < position[first][None, :]) & is_returned[rows][:, None]
    return met + int(above.sum()), possible + int(outcome.counted[np.ix_(rows, first)].sum())


@_count(
    "NumPrefs",
    formula="NumPrefs = number of preferences",
    use="See how much was judged.",
    avoid="Comparing quality.",
    diagnostic=True,
    aliases=("prefs_num_prefs_poss",),
)
def num_preferences(p: Preferred) -> np.ndarray:
    """The number of preferences, summed over queries.

    >>> from goldrank.data.preferences import Preferences
    >>> evaluate(Preferences({"q": {"judge": [{"a": 2, "b": 1}]}}), {"q": ["a"]}, "NumPrefs")["NumPrefs"]
    1.0
    """
    counts = []
    for opinions in p.opinions:
        counts.append(sum(int(opinion.over.sum()) for opinion in opinions))
    return np.array(counts, np.float64)


@_count(
    "NumPrefsMet",
    formula="NumPrefsMet = number of preferences that the ranking meets",
    use="See what Prefs is made of.",
    avoid="Comparing runs on different queries.",
    aliases=("prefs_num_prefs_ful", ("prefs_num_prefs_ful_ret", {"pairs": "returned"})),
    options={"pairs": _PAIRS},
)
def num_preferences_met(p: Preferred, *, pairs: str = "all") -> np.ndarray:
    """The number of preferences met, summed over queries.

    `pairs` is as in Prefs.

    >>> from goldrank.data.preferences import Preferences
    >>> evaluate(Preferences({"q": {"judge": [{"a": 2, "b": 1}]}}), {"q": ["a"]}, "NumPrefsMet")["NumPrefsMet"]
    1.0
    """
    met = []
    for outcomes, _, _ in _outcomes(p, pairs):
        met.append(sum(outcome.counts()[0] for outcome in outcomes))
    return np.array(met, np.float64)
