"""Recommendations beyond accuracy: how much of the catalogue is shown, how popular, new, varied and fair it is.

Some are numbers of all users together (coverage, Gini, entropy, exposure): the value of a user is then what it adds,
and the mean over users with a list is the number. They depend on how many users there are, so that a comparison shows
them and tests nothing with them.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.data.placements import log2
from goldrank.data.recommended import NumberLists, Recommended
from goldrank.measures.cutoff import last_rank
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice, Number, Word

_measure = partial(
    measure,
    over="recommended",
    needs_relevant=False,
    options={
        "of": Choice(("users", "interactions")),
        "relevance": Choice(("judged", "one")),
        "unexpected": Choice(("history", "run")),
        "alpha": Number(low=0.000001, high=0.999999),
        "merit": Choice(("items", "relevant")),
        "group": Word(),
        "tail": Number(low=0),
        "alike": Choice(("vectors", "users")),
    },
)
_of_all = partial(_measure, of_all_queries=True, diagnostic=True)


def _adding_up(parts: np.ndarray, total: float) -> np.ndarray:
    """The values that users add, adjusted so that their mean, from left to right, is a total that was divided once.

    The last user that adds anything takes the error of rounding: a share of all items is then exactly 1.0.
    """
    counted = parts[~np.isnan(parts)]
    adding = np.flatnonzero(np.nan_to_num(parts))
    if not len(adding):
        return parts

    last = adding[-1]
    size = len(counted)
    needed_sum = total * size
    if last:
        before = np.nancumsum(parts[:last])[-1]
    else:
        before = 0.0
    nearest = needed_sum - before
    for value in (nearest, np.nextafter(nearest, np.inf), np.nextafter(nearest, -np.inf)):
        parts[last] = value
        if (before + value) / size == total:
            break
    return parts


@_of_all(
    "ItemCoverage",
    high=np.inf,
    formula="ItemCoverage@k = (distinct items in all lists) / (items of the catalogue)",
    use="How much of the catalogue anybody sees.",
    avoid="Numbers of users differ: more users see more items.",
    cite="Ge, Delgado-Battenfeld and Jannach 2010, Beyond accuracy: evaluating recommender systems by coverage and "
    "serendipity",
    aliases=("CatalogCoverage", "CatalogueCoverage", "catalog_coverage", "catalogue_coverage", "item_coverage"),
)
def item_coverage(r: Recommended, *, k: int | None) -> np.ndarray:
    """The share of the catalogue that is in somebody's list.

    The value of a user is what it adds, an item shared among the users that got it.

    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a", "b"], "v": ["a"]}, "ItemCoverage@2",
    ...          catalogue=["a", "b", "c", "d"])["ItemCoverage@2"]
    0.5
    """
    r = r.cut(k)
    shown = np.count_nonzero(r.shown[: r.known.size])
    return _adding_up(r.parts(1.0 / (r.shown[r.item] * r.known.size)), shown / r.known.size)


@_measure(
    "UserCoverage",
    formula="UserCoverage@k = (users with a relevant item among the first k) / (users)",
    use="How many users get anything of use; with `served=True`, anything at all.",
    avoid="It matters how much they get; use R or nDCG.",
    cite="Ge, Delgado-Battenfeld and Jannach 2010, Beyond accuracy: evaluating recommender systems by coverage and "
    "serendipity",
    aliases=("user_coverage",),
)
def user_coverage(r: Recommended, *, k: int | None, rel: float = 1, served: bool = False) -> np.ndarray:
    """Whether a user got a relevant item; users without a list count.

    `served=True` asks for a list that is not empty, whatever is in it.

    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a"], "v": ["x"]}, "UserCoverage@1")["UserCoverage@1"]
    0.5
    """
    r = r.cut(k)
    if served:
        counts = r.size
    else:
        counts = r.sum((r.grade >= rel).astype(float))
    return (counts > 0).astype(float)


@_of_all(
    "Gini",
    low=-np.inf,
    high=np.inf,
    higher_is_better=False,
    formula="Gini@k = sum over items, by ascending count, of (2j - n - 1) c_j / (n C); n items of the catalogue, "
    "C = sum of the counts c",
    use="Whether a few items take all the places: 0 is all alike, 1 - 1/n one item for everybody.",
    avoid="The catalogue is not known: items that no user sees count.",
    cite="Shani and Gunawardana 2011, Evaluating recommendation systems",
    aliases=("GiniIndex", "gini_index", "ListGini"),
)
def gini(r: Recommended, *, k: int | None, adjusted: bool = False) -> np.ndarray:
    """How unevenly recommendations are spread over the catalogue.

    The value of a user is what it adds. `adjusted=True` multiplies by n / (n - 1), so that one item for everybody is 1.

    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a"], "v": ["a"]}, "Gini@1", catalogue=["a", "b"])["Gini@1"]
    0.5
    """
    r = r.cut(k)
    n = r.known.size
    counts = r.shown[:n]
    if n == 1:
        return r.parts(np.zeros(len(r.item)))

    ascending = np.sort(counts)
    # Items that were shown equally often share their ranks.
    twice = np.searchsorted(ascending, counts, "left") + np.searchsorted(ascending, counts, "right") + 1
    uneven = twice - n - 1
    divisor = n * max(len(r.item), 1)
    if adjusted:
        divisor = (n - 1) * max(len(r.item), 1)
    return _adding_up(r.parts((uneven / divisor)[r.item]), int(uneven[r.item].sum()) / divisor)


@_of_all(
    "Entropy",
    high=np.inf,
    formula="Entropy@k = - sum over items of p log2 p, p = (times an item is shown) / (all items shown)",
    use="How evenly recommendations are spread, in bits; 2^Entropy is a number of items that are shown alike.",
    avoid="Catalogues differ in size; normalise it.",
    cite="Shannon 1948, A mathematical theory of communication",
    aliases=("ShannonEntropy", "shannon_entropy", "distributional_coverage"),
)
def entropy(r: Recommended, *, k: int | None, normalize: bool = False) -> np.ndarray:
    """Shannon's entropy of what is recommended.

    The value of a user is what it adds. `normalize=True` divides by log2 of the size of the catalogue.

    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a"], "v": ["b"]}, "Entropy@1")["Entropy@1"]
    1.0
    """
    r = r.cut(k)
    total = max(len(r.item), 1)
    bits = -np.log2(r.shown[r.item] / total) / total
    if normalize:
        if r.known.size > 1:
            bits = bits / np.log2(r.known.size)
        else:
            bits = np.zeros(len(bits))
    return r.parts(bits)


@_measure(
    "AveragePopularity",
    high=np.inf,
    diagnostic=True,
    formula="AveragePopularity@k = mean over the list of (users that had the item before)",
    use="Whether a system pushes what everybody knows.",
    avoid="Comparing data of different sizes; take a share of users.",
    cite="Yin et al. 2012, Challenging the long tail recommendation",
    aliases=("ARP", "average_popularity"),
)
def average_popularity(r: Recommended, *, k: int | None, share: bool = False) -> np.ndarray:
    """How many users of the training data had what is recommended, on average over the list.

    `share=True` divides by the number of users in the training data. Users without a list are left out.

    >>> evaluate({"u": {"a": 1}}, {"u": ["a", "b"]}, "AveragePopularity@2",
    ...          catalogue=Catalogue(train={"v": ["a"], "w": ["a"]})).mean
    {'AveragePopularity@2': 1.0}
    """
    r = r.cut(k)
    divisor = len(r.train.items)
    if not share:
        divisor = 1
    return r.mean(r.known.popularity[r.item] / divisor)


@_measure(
    "TailShare",
    formula="TailShare@k = (items of the long tail among the first k) / (items among the first k)",
    use="How much of what is recommended is seldom chosen.",
    avoid="The training data is small: which items are seldom chosen is then chance.",
    cite="Zhao et al. 2021, RecBole (TailPercentage)",
    aliases=("TailPercentage", "tail_percentage", "LongTailShare"),
)
def tail_share(r: Recommended, *, k: int | None, tail: float = 0.1) -> np.ndarray:
    """The share of a list that is of the long tail: the tenth of the items of the training data that fewest users had.

    `tail` is a share of these items up to 1, ties by id and one item at least; above 1 it is a number of users, and
    items that no more users had are the tail. Items that are not in the training data are not among them. Users
    without a list are left out.

    >>> evaluate({"u": {"a": 1}}, {"u": ["a", "b"]}, "TailShare(tail=0.5)@2",
    ...          catalogue=Catalogue(train={"v": ["a", "b"], "w": ["a"]})).mean
    {'TailShare(tail=0.5)@2': 0.5}
    """
    r = r.cut(k)
    popularity = r.train.popularity
    if tail > 1:
        rare = {item for item, users in popularity.items() if users <= tail}
    else:
        ascending = sorted(popularity, key=lambda item: (popularity[item], item))
        rare = set(ascending[: max(int(len(ascending) * tail), 1)])
    is_rare = np.fromiter((name in rare for name in r.known.names), bool, len(r.known.names))
    return r.mean(is_rare[r.item].astype(float))


@_of_all(
    "PopularityLift",
    low=-1.0,
    high=np.inf,
    formula="PopularityLift@k = (ARP - P) / P; P = mean over users of the mean popularity of what the user had",
    use="Whether recommendations are more popular than what the same users choose themselves.",
    avoid="Users without a history are many: they are left out.",
    cite="Abdollahpouri et al. 2019, The unfairness of popularity bias in recommendation",
    aliases=("popularity_lift",),
)
def popularity_lift(r: Recommended, *, k: int | None) -> np.ndarray:
    """By how much recommendations are more popular than what their users had.

    It is a ratio of means. Users without a history or without a list are left out.

    >>> evaluate({"u": {"a": 1}}, {"u": ["a"]}, "PopularityLift@1",
    ...          catalogue=Catalogue(train={"u": ["b"], "v": ["a"], "w": ["a"]})).mean
    {'PopularityLift@1': 1.0}
    """
    r = r.cut(k)
    history = r.history
    popularity = r.known.popularity
    size = np.diff(history.start)
    user_mean = np.bincount(history.owner, weights=popularity[history.value], minlength=len(r)) / np.maximum(size, 1)
    counted = (size > 0) & (r.size > 0)
    if not counted.any():
        return np.full(len(r), np.nan)
    profile = user_mean[counted].mean()
    return np.where(counted, (r.mean(popularity[r.item]) - profile) / profile, np.nan)


@_measure(
    "Novelty",
    high=np.inf,
    formula="Novelty@k = mean over the list of -log2((users that had the item before) / (users))",
    use="How much news there is in what is recommended, in bits.",
    avoid="What is unknown may be bad: look at accuracy beside it.",
    cite="Zhou et al. 2010, Solving the apparent diversity-accuracy dilemma of recommender systems",
    aliases=("SelfInformation", "self_information", "MSI"),
    caveat="never-seen-items",
)
def novelty(r: Recommended, *, k: int | None, of: str = "users") -> np.ndarray:
    """The mean self-information of what is recommended.

    An item that no user had counts as if one user had it. `of="interactions"` takes the share of all pairs of a user
    and an item instead of the share of users. Users without a list are left out.

    >>> evaluate({"u": {"a": 1}}, {"u": ["a"]}, "Novelty@1",
    ...          catalogue=Catalogue(train={"v": ["a"], "w": ["b"]}))["Novelty@1"]
    1.0
    """
    r = r.cut(k)
    if of == "users":
        total = len(r.train.items)
    else:
        total = r.train.pairs
    return r.mean(-np.log2(np.maximum(r.known.popularity[r.item], 1) / total))


def _sums(owner: np.ndarray, vectors: np.ndarray, users: int) -> np.ndarray:
    """The sum of vectors of each user; owners ascend."""
    total = np.zeros((users, vectors.shape[1]))
    if len(owner):
        begin = np.concatenate(([0], np.flatnonzero(np.diff(owner)) + 1))
        total[owner[begin]] = np.add.reduceat(vectors, begin, axis=0)
    return total


@_measure(
    "IntraListDiversity",
    high=2.0,
    formula="IntraListDiversity@k = mean over pairs of items in the list of 1 - cosine",
    use="Whether a list offers different things; items have features or vectors.",
    avoid="A user wants more of the same.",
    cite="Ziegler et al. 2005, Improving recommendation lists through topic diversification",
    aliases=("ILD", "intra_list_diversity"),
)
def intra_list_diversity(r: Recommended, *, k: int | None, alike: str = "vectors") -> np.ndarray:
    """How different the items of a list are from each other, by the cosine of their vectors.

    `alike="users"` needs no vectors: items are alike if the same users of the training data had them, |A and B| /
    sqrt(|A| |B|). Users with less than two items are left out.

    >>> features = Catalogue(vectors={"a": [1, 0], "b": [0, 2]})
    >>> evaluate({"u": {"a": 1}}, {"u": ["a", "b"]}, "ILD@2", catalogue=features)["ILD@2"]
    1.0
    """
    r = r.cut(k)
    if alike == "users":
        return _diversity_by_users(r)

    vectors = r.known.vectors(r.item)
    total = _sums(r.user, vectors, len(r))
    # The square of a sum has every pair twice, and each vector of length 1 with itself.
    alike = (total**2).sum(axis=1) - r.size
    pairs = r.size * (r.size - 1)
    return np.where(pairs > 0, 1.0 - alike / np.maximum(pairs, 1), np.nan).clip(0.0, 2.0)


def _diversity_by_users(r: Recommended) -> np.ndarray:
    """For each user, the mean over pairs of items of 1 less the cosine of the sets of users that had them."""
    owners: dict[str, set[str]] = {r.known.names[item]: set() for item in np.unique(r.item).tolist()}
    for owner, owned in r.train.items.items():
        for name in owned:
            if name in owners:
                owners[name].add(owner)

    values = np.full(len(r), np.nan)
    for row, items in enumerate(np.split(r.item, np.cumsum(r.size)[:-1])):
        sets = [owners[r.known.names[item]] for item in items.tolist()]
        pairs = list(combinations(sets, 2))
        if pairs:
            values[row] = 1.0 - math.fsum(_cosine_of_sets(a, b) for a, b in pairs) / len(pairs)
    return values


def _cosine_of_sets(a: set[str], b: set[str]) -> float:
    if not a or not b:
        return 0.0
    return len(a & b) / math.sqrt(len(a) * len(b))


@_measure(
    "Serendipity",
    high=2.0,
    formula="Serendipity@k = mean over the list of (1 - mean cosine with what the user had), for relevant items",
    use="Whether users find what they like and would not have looked for.",
    avoid="Vectors do not tell what a user expects.",
    cite="Zhang et al. 2012, Auralist: introducing serendipity into music recommendation; Ge, Delgado-Battenfeld and "
    "Jannach 2010 against a primitive recommender",
)
def serendipity(
    r: Recommended, *, k: int | None, rel: float = 1, relevance: str = "judged", unexpected: str = "history"
) -> np.ndarray:
    """How far relevant recommendations are from what the user had, others counting as 0.

    `relevance="one"` takes all items as relevant. `unexpected="run"` takes an item as unexpected that is not in the
    list of the primitive recommender `against=`, cut at the same k. Users without a history are left out with
    "history"; an empty list is 0.

    >>> evaluate({"u": {"b": 1}}, {"u": ["b"]}, "Serendipity@1",
    ...          catalogue=Catalogue(train={"u": ["a"]}, vectors={"a": [1, 0], "b": [0, 1]}))["Serendipity@1"]
    1.0
    """
    r = r.cut(k)
    if relevance == "one":
        relevant = np.ones(len(r.item))
    else:
        relevant = (r.grade >= rel).astype(float)
    if unexpected == "run":
        return np.asarray(r.sum(_unexpected(r, k) * relevant) / np.maximum(r.size, 1))

    history = r.history
    size = np.diff(history.start)
    taste = _sums(history.owner, r.known.vectors(history.value), len(r)) / np.maximum(size, 1)[:, None]
    # At most as long as the vectors of which it is the mean, but for rounding.
    near = np.einsum("ij,ij->i", r.known.vectors(r.item), taste[r.user]).clip(-1.0, 1.0)
    return np.where(size > 0, r.sum((1.0 - near) * relevant) / np.maximum(r.size, 1), np.nan)


def _unexpected(r: Recommended, k: int | None) -> np.ndarray:
    """Which recommended items the primitive recommender does not have among its first k."""
    other: NumberLists | None = r.known.against
    if other is None:
        raise MeasureError("a primitive recommender is needed", hint="Give against=, its run.")
    owner = other.owner
    shown = np.arange(len(owner)) - other.start[owner] < last_rank(k)
    size = len(r.known.names)
    return (~np.isin(r.user * size + r.item, owner[shown] * size + other.value[shown])).astype(float)


@_of_all(
    "Personalisation",
    formula="Personalisation@k = 1 - mean over pairs of users of (items that both got) / k",
    use="Whether users get different lists.",
    avoid="Users want the same; it says nothing of quality.",
    cite="Zhou et al. 2010, Solving the apparent diversity-accuracy dilemma of recommender systems (inter-user "
    "diversity)",
    aliases=("personalization", "InterUserDiversity", "inter_user_diversity"),
)
def personalisation(r: Recommended, *, k: int | None) -> np.ndarray:
    """How little the lists of two users have in common.

    The value of a user is its mean over all others. Short lists are divided by k, too; without a cut-off it is the
    length of the longest list.

    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a", "b"], "v": ["a", "c"]}, "Personalisation@2").mean
    {'Personalisation@2': 0.5}
    """
    r = r.cut(k)
    users = np.count_nonzero(r.size)
    if users < 2:
        return np.full(len(r), np.nan)
    if k is None:
        length = int(r.size.max())
    else:
        length = k
    shared = r.sum((r.shown[r.item] - 1).astype(float))
    return np.where(r.size > 0, 1.0 - shared / ((users - 1) * length), np.nan)


@_measure(
    "Calibration",
    high=np.inf,
    higher_is_better=False,
    formula="Calibration@k = KL(p, q~) = sum over genres of p ln(p / q~), q~ = (1 - alpha) q + alpha p; p shares of "
    "genres in what the user had, q in the list",
    use="Whether a list has the genres of a user's history in the same proportions; 0 is the best.",
    avoid="Tastes change, or new genres are the aim.",
    cite="Steck 2018, Calibrated recommendations",
    aliases=("Miscalibration", "calibration_kl"),
)
def calibration(r: Recommended, *, k: int | None, alpha: float = 0.01) -> np.ndarray:
    """How far the genres of a list are from the genres of the user's history.

    An item's genres share its weight. `alpha` keeps it finite, at most ln(1 / alpha). Users without a history or
    without a list are left out.

    >>> round(evaluate({"u": {"b": 1}}, {"u": ["b"]}, "Calibration@1",
    ...                catalogue=Catalogue(train={"u": ["a"]}, genres={"a": "x", "b": "y"}))["Calibration@1"], 4)
    4.6052
    """
    r = r.cut(k)
    history = r.history
    history_pairs, p = _genre_shares(r, history.owner, history.value)
    list_pairs, list_shares = _genre_shares(r, r.user, r.item)
    genres = _genres(r)

    index = np.searchsorted(list_pairs, history_pairs)
    in_list = index < len(list_pairs)
    in_list[in_list] = list_pairs[index[in_list]] == history_pairs[in_list]
    q = np.zeros(len(history_pairs))
    q[in_list] = list_shares[index[in_list]]

    loss = p * np.log(p / ((1 - alpha) * q + alpha * p))
    total = np.bincount(history_pairs // genres, weights=loss, minlength=len(r))
    counted = np.zeros((2, len(r)), bool)
    counted[0, history_pairs // genres] = True
    counted[1, list_pairs // genres] = True
    return np.where(counted.all(axis=0), np.maximum(total, 0.0), np.nan)


def _genres(r: Recommended) -> int:
    """How many genres the catalogue has; at least 1."""
    genres: set[str] = set()
    for labels in (r.known.catalogue.genres or {}).values():
        genres.update(labels)
    return max(len(genres), 1)


def _genre_shares(r: Recommended, owner: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each pair of a user and a genre, as one ascending number, its share of the user's items."""
    row, genre, weight, _ = r.known.labelled(item, "genres")
    pair, pair_index = np.unique(owner[row] * _genres(r) + genre, return_inverse=True)
    share = np.bincount(pair_index, weights=weight, minlength=len(pair))
    user = pair // _genres(r)
    return pair, share / np.bincount(user, weights=share, minlength=len(r))[user]


class Exposures(NamedTuple):
    """The exposure of every rank of a list, once for each group of its item."""

    user: np.ndarray
    group: np.ndarray
    """Indices of `names`."""
    exposure: np.ndarray
    names: tuple[str, ...]
    """The groups."""


def _exposures(r: Recommended) -> Exposures:
    row, group, weight, names = r.known.labelled(r.item, "groups")
    return Exposures(r.user[row], group, weight / log2(r.rank[row] + 1), names)


_FAIR = "Singh and Joachims 2018, Fairness of exposure in rankings"


@_of_all(
    "ExposureParity",
    high=np.inf,
    formula="ExposureParity@k = (least exposure per item of a group) / (greatest), exposure = sum of 1/log2(1 + rank)",
    use="Whether groups of items, such as the items of each seller, are seen alike; 1 is alike.",
    avoid='Groups are not equally relevant: `merit="relevant"`.',
    cite=_FAIR,
    aliases=("exposure_parity",),
)
def exposure_parity(r: Recommended, *, k: int | None, rel: float = 1, merit: str = "items") -> np.ndarray:
    """The exposure per item of the group that is seen least, divided by the exposure of the group seen most.

    The value of a user is what it adds. `merit="relevant"` divides a group's exposure by the number of its relevant
    recommended items instead of its items in the catalogue. An item of several groups is divided among them.

    >>> catalogue = Catalogue(["a", "b"], groups={"a": "x", "b": "y"})
    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a"], "v": ["b"]}, "ExposureParity@1", catalogue=catalogue).mean
    {'ExposureParity@1': 1.0}
    """
    r = r.cut(k)
    user, group, exposure, names = _exposures(r)
    if merit == "items":
        items = np.arange(r.known.size)
    else:
        items = r.item[r.grade >= rel]
    _, owners, weight, _ = r.known.labelled(items, "groups")
    worth = np.bincount(owners, weights=weight, minlength=len(names))
    total = np.bincount(group, weights=exposure, minlength=len(names))
    counted = np.flatnonzero(worth > 0)
    if len(counted) < 2 or not total[counted].any():
        return np.full(len(r), np.nan)

    per_item = total[counted] / worth[counted]
    least, most = counted[int(per_item.argmin())], per_item.max()
    added = np.bincount(user, weights=np.where(group == least, exposure, 0.0), minlength=len(r))
    listed = np.count_nonzero(r.size)
    parts = np.where(r.size > 0, added * listed / worth[least] / most, np.nan)
    return _adding_up(parts, float(per_item.min() / most))


@_of_all(
    "ExposureShare",
    high=np.inf,
    formula='ExposureShare(group="g")@k = (exposure of items of g) / (exposure of all); '
    "exposure = sum of 1 / log2(1 + rank)",
    use="How much of what users see belongs to a group of items.",
    avoid="Groups differ in size: use ExposureParity.",
    cite=_FAIR,
    aliases=("exposure_share",),
)
def exposure_share(r: Recommended, *, k: int | None, group: str = "") -> np.ndarray:
    """The share of exposure that the items of a group get.

    `group` names it. The value of a user is what it adds.

    >>> evaluate({"u": {"a": 1}, "v": {"b": 1}}, {"u": ["a"], "v": ["b"]}, 'ExposureShare(group="x")@1',
    ...          catalogue=Catalogue(["a", "b"], groups={"a": "x", "b": "y"})).mean
    {'ExposureShare(group="x")@1': 0.5}
    """
    r = r.cut(k)
    user, owners, exposure, names = _exposures(r)
    if group not in names:
        hint = None
        if names:
            shown = ", ".join(names[:10])
            hint = f"For example ExposureShare(group={names[0]!r}); there are: {shown}."
        raise MeasureError(f"there is no group {group!r}", hint=hint)

    total = exposure.sum()
    own = np.where(owners == names.index(group), exposure, 0.0)
    added = np.bincount(user, weights=own, minlength=len(r))
    parts = np.where(r.size > 0, added * np.count_nonzero(r.size) / (total or 1.0), np.nan)
    return _adding_up(parts, float(own.sum() / (total or 1.0)))
