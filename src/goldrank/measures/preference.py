"""Measures of preferences between documents: Prefs and the counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from goldrank.data.preferences import Opinion, Preferred
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice
from goldrank.measures.sets import COUNT

_CITE = "Carterette, Bennett, Chickering and Dumais 2008, Here or there: Preference judgments for relevance"
_PAIRS = Choice(("all", "returned", "touched"))


@dataclass(frozen=True)
class Outcome:
    """What a ranking does to one judge's preferences; squares of flags, preferred document in the row."""

    over: np.ndarray
    """The preferences."""
    met: np.ndarray
    """Those met: the preferred document was returned, and above the other one if that was returned too."""
    both: np.ndarray
    """Pairs of which both documents were returned."""
    either: np.ndarray
    """Pairs of which at least one was."""
    place: np.ndarray
    here: np.ndarray

    def possible(self, pairs: str) -> np.ndarray:
        """The preferences that count."""
        if pairs == "all":
            return self.over
        counted: np.ndarray = self.over & (self.both if pairs == "returned" else self.either)
        return counted

    def met_among(self, pairs: str) -> np.ndarray:
        """Those of them that were met."""
        met: np.ndarray = self.met & self.both if pairs == "returned" else self.met
        return met


def outcome_of(opinion: Opinion, place: np.ndarray, returned: int) -> Outcome:
    """Compare one judge's preferences with a ranking."""
    at = place[opinion.doc]
    here = at < returned
    met = opinion.over & (at[:, None] < at[None, :]) & here[:, None]
    return Outcome(opinion.over, met, here[:, None] & here[None, :], here[:, None] | here[None, :], at, here)


@measure(
    "Prefs",
    over="preferences",
    needs_relevant=False,
    formula="Prefs = (preferences met by the ranking) / (preferences)",
    use="Judges compared documents with each other instead of grading them.",
    avoid="Judgements are grades; nDCG uses them better.",
    cite=_CITE,
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
    for query, opinions in enumerate(p.opinions):
        place, returned = p.order(query)
        outcomes = [outcome_of(opinion, place, returned) for opinion in opinions]
        if average == "preference":
            met = sum(int(outcome.met_among(pairs).sum()) for outcome in outcomes)
            values[query] = _share(met, sum(int(outcome.possible(pairs).sum()) for outcome in outcomes))
        elif average == "pair":
            values[query] = _by_pair(outcomes, len(place), returned, pairs)
        else:
            total = 0.0
            for opinion, outcome in zip(opinions, outcomes, strict=True):
                if average == "judge":
                    met, possible = int(outcome.met_among(pairs).sum()), int(outcome.possible(pairs).sum())
                    total += _share(met, possible)
                else:
                    met, possible = _balanced(opinion, outcome, place, returned, pairs)
                    total += met / possible if possible else np.nan
            # A judge without any preference leaves nothing to average, which trec_eval scores 0.
            values[query] = total / len(opinions) if total > 0 else 0.0
    return values


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _by_pair(outcomes: list[Outcome], size: int, returned: int, pairs: str) -> float:
    """The mean over pairs of documents of the share of judges with whom the ranking agrees."""
    count = np.zeros((size, size), np.int64)
    for outcome in outcomes:
        count[np.ix_(outcome.place, outcome.place)] += outcome.over
    judges = count + count.T
    row, column = np.nonzero(np.triu(judges, 1))
    last = np.where(column < returned, 0, np.where(row < returned, 1, 2))
    keep = last <= {"returned": 0, "touched": 1, "all": 2}[pairs]
    row, column, last = row[keep], column[keep], last[keep]
    order = np.lexsort((column, row, last))
    row, column, last = row[order], column[order], last[order]
    share = np.where(last < 2, count[row, column] / judges[row, column], 0.0)
    return float(np.cumsum(share)[-1]) / len(share) if len(share) else 0.0


def _balanced(opinion: Opinion, outcome: Outcome, place: np.ndarray, returned: int, pairs: str) -> tuple[int, int]:
    """Preferences met and possible, with as many nonrelevant documents as relevant ones, as trec_eval counts them."""
    good, bad = opinion.level > 0, opinion.level == 0 if opinion.partial else opinion.level <= 0
    all_good = int(good.sum())
    if pairs == "returned":
        relevant, nonrelevant = int((good & outcome.here).sum()), int((bad & outcome.here).sum())
    else:
        relevant, nonrelevant = all_good, int(bad.sum())
    if relevant >= nonrelevant:
        # Nonrelevant documents that are missing count as standing below everything.
        missing = relevant - nonrelevant
        met = int(outcome.met_among(pairs).sum()) + int((good & outcome.here).sum()) * missing
        return met, int(outcome.possible(pairs).sum()) + all_good * missing
    if opinion.partial:
        order = np.sort(outcome.place[bad & (outcome.here if pairs == "returned" else True)])
        keep = np.ones(len(bad), bool)
        if len(order) > all_good:
            keep[bad & (outcome.place >= order[all_good])] = False
        kept = keep[:, None] & keep[None, :]
        return int((outcome.met_among(pairs) & kept).sum()), int((outcome.possible(pairs) & kept).sum())
    # The lowest level stands for the nonrelevant documents; its first ones are compared with every document.
    last = opinion.level == opinion.level.min()
    usable = outcome.here if pairs == "returned" else np.ones(len(last), bool)
    first = np.flatnonzero(last)[np.argsort(outcome.place[last], kind="stable")][:relevant]
    first = first[usable[first]]
    inner = ~last & usable
    kept = inner[:, None] & inner[None, :]
    met = int((outcome.met & kept).sum())
    possible = int((outcome.possible(pairs) & kept).sum())
    rows = np.flatnonzero(usable)
    above = (outcome.place[rows][:, None] < outcome.place[first][None, :]) & outcome.here[rows][:, None]
    counted = outcome.either[np.ix_(rows, first)] if pairs == "touched" else np.ones((len(rows), len(first)), bool)
    return met + int(above.sum()), possible + int(counted.sum())


@measure(
    "NumPrefs",
    over="preferences",
    formula="NumPrefs = number of preferences",
    use="See how much was judged.",
    avoid="Comparing quality.",
    aliases=("prefs_num_prefs_poss",),
    **COUNT,
)
def num_preferences(p: Preferred) -> np.ndarray:
    """The number of preferences, summed over queries.

    >>> from goldrank.data.preferences import Preferences
    >>> evaluate(Preferences({"q": {"judge": [{"a": 2, "b": 1}]}}), {"q": ["a"]}, "NumPrefs")["NumPrefs"]
    1.0
    """
    return np.array([sum(int(opinion.over.sum()) for opinion in opinions) for opinions in p.opinions], np.float64)


@measure(
    "NumPrefsMet",
    over="preferences",
    formula="NumPrefsMet = number of preferences that the ranking meets",
    use="See what Prefs is made of.",
    avoid="Comparing runs on different queries.",
    aliases=("prefs_num_prefs_ful", ("prefs_num_prefs_ful_ret", {"pairs": "returned"})),
    options={"pairs": _PAIRS},
    **COUNT,
)
def num_preferences_met(p: Preferred, *, pairs: str = "all") -> np.ndarray:
    """The number of preferences met, summed over queries.

    `pairs` is as in Prefs.

    >>> from goldrank.data.preferences import Preferences
    >>> evaluate(Preferences({"q": {"judge": [{"a": 2, "b": 1}]}}), {"q": ["a"]}, "NumPrefsMet")["NumPrefsMet"]
    1.0
    """
    values = np.zeros(len(p))
    for query, opinions in enumerate(p.opinions):
        place, returned = p.order(query)
        values[query] = sum(int(outcome_of(opinion, place, returned).met_among(pairs).sum()) for opinion in opinions)
    return values
