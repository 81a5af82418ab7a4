"""Names that people type and that are not measures here, or have two meanings, and what to use for each of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from goldrank.base.errors import MeasureError

OF_ANSWERS = frozenset(
    (
        *("answerrelevancy", "answerrelevance", "responserelevancy", "answercorrectness"),
        *("answersimilarity", "semanticsimilarity", "factualcorrectness", "groundedness", "responsegroundedness"),
        *("hallucination", "answeraccuracy"),
    )
)
"""Names of measures that judge what was made of the texts."""
OF_RATINGS = frozenset(("rmse", "mae", "mse", "fcp", "logloss", "r2", "explainedvariance"))
"""Names of measures of predicted ratings."""
OF_RANKINGS = frozenset(("spearman", "kendall", "tau", "kendalltau", "spearmanr"))
"""Names of measures of two rankings."""

TWO_MEANINGS = {
    "hits": "ranx counts relevant documents, which is NumRelRet@10; elsewhere it is Success@10.",
    "diversity": "Within a list it is IntraListDiversity@10; over all users ItemCoverage@10, Gini@10 or "
    "Personalisation@10; of subtopics alpha_nDCG@10 and StRecall@10.",
    "fairness": "Of groups of items there are ExposureParity@10 and ExposureShare(group=...)@10.",
    "popularity": "Recommended items have AveragePopularity@10; against what users had it is PopularityLift@10.",
    "exposure": 'Groups have ExposureParity@10, one group ExposureShare(group="x")@10.',
}
"""Names that tools give to different measures, and what each of them is here."""

_TAIL = "TailShare@10 is the share of each list that is of the long tail."
_POPULAR = "Popularity is measured by AveragePopularity@10, PopularityLift@10 and Novelty@10."
NEAREST: Mapping[str, str] = {
    "ils": "It is 1 - IntraListDiversity@10, which is higher where a list is more varied.",
    "intralistsimilarity": "It is 1 - IntraListDiversity@10, which is higher where a list is more varied.",
    "aggdiv": "It is ItemCoverage@10 times the number of items in the catalogue.",
    "aggregatediversity": "It is ItemCoverage@10 times the number of items in the catalogue.",
    "ginidiversity": "Gini@10 is lower where items are shown more evenly; Elliot's Gini is 1 - Gini(adjusted=True)@10.",
    "sentropy": "Entropy@10 is of all items shown; Elliot weighs lists equally.",
    "epc": "Novelty@10 is the nearest: self-information, without a discount by rank.",
    "efd": "Novelty@10 is the nearest: self-information, without a discount by rank.",
    "unexpectedness": 'Serendipity(relevance="one")@10 takes all items as relevant.',
    "popularitybias": _POPULAR,
    "meanpoprank": _POPULAR,
    "aplt": _TAIL,
    "aclt": _TAIL,
    "reo": "ExposureParity@10 is the nearest.",
    "rsp": "ExposureParity@10 is the nearest.",
    "popreo": "ExposureParity@10 is the nearest.",
    "poprsp": "ExposureParity@10 is the nearest.",
    "predictioncoverage": "Users with a list are UserCoverage(served=True)@10, items in a list ItemCoverage@10.",
    "prec": "Precision is P@10.",
    "rec": "Recall is R@10.",
    "acc": "A hit among the first k is Success@10.",
    "topkaccuracy": "A hit among the first k is Success@10.",
    "onecall": "A hit among the first k is Success@10.",
    "arhr": "It adds up 1/rank of all hits; with one relevant item a user it is RR@10.",
    "mar": "It is the mean of R@1, R@2 and so on; R@10 is recall.",
    "gauc": "AUROC is the mean over queries or users.",
    "lrap": "Without ties it is AP of rankings of all that is judged.",
    "labelrankingaverageprecisionscore": "Without ties it is AP of rankings of all that is judged.",
    "ndcgscore": "It is nDCG@10; goldrank.integrations.sklearn has a scorer, convention='sklearn' the rules.",
    "dcgscore": "It is DCG@10; convention='sklearn' has the rules.",
    "apk": 'It is AP(divisor="min")@10.',
    "mapk": 'It is AP(divisor="min")@10.',
    "mpr": "RR and nDCG are of ranks; there is no mean rank, which one query without a hit would rule.",
    "meanrank": "RR and nDCG are of ranks; there is no mean rank, which one query without a hit would rule.",
    "medianrank": "RR and nDCG are of ranks; there is no mean rank, which one query without a hit would rule.",
    "ctr": "Clicks become judgements with `goldrank judgements from-clicks`.",
    "contextrelevancy": "Of the texts there are Cover@5, context_recall, context_precision and NoiseShare@5.",
}
"""Names of other tools, and what is nearest here."""

_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")


def known_elsewhere(text: str) -> MeasureError | None:
    """The error for a name that other tools have, with what to use instead; None for any other name."""
    written = _WORD.match(text)
    if written is None:
        return None

    name = written[0].removesuffix("_at").removesuffix("_cut")
    word = re.sub("[_-]", "", name).casefold()
    if word in OF_ANSWERS:
        message = f"{name} judges the answer, and goldrank measures what was retrieved"
        hint = "Of the texts there are Cover@5, context_recall, context_precision and NoiseShare@5."
        return MeasureError(message, hint=hint, code="not-of-rankings")

    if word in OF_RATINGS:
        message = f"{name} is of predicted ratings, and goldrank measures rankings"
        hint = "Of rankings there are nDCG@10, R@10 and HR@10; sklearn.metrics has the other."
        return MeasureError(message, hint=hint, code="not-of-rankings")

    if word in OF_RANKINGS:
        message = f"{name} is of two rankings, and a measure is of one and its judgements"
        hint = "goldrank.rank_agreement compares rankings; `goldrank diff --agreement` shows it."
        return MeasureError(message, hint=hint, code="not-of-rankings")

    if word in TWO_MEANINGS:
        return MeasureError(f"{name!r} has more than one meaning", hint=TWO_MEANINGS[word], code="two-meanings")
    if word not in NEAREST:
        return None
    return MeasureError(f"unknown measure {text!r:.120}", hint=NEAREST[word], code="unknown-measure")
