"""Values of measures of texts, worked out by hand.

A ranking is written as the references that each text covers: "ab . a" is a text that covers a and b, one that
covers nothing and one that covers a. Texts are as long as they have letters, dots included, so that budgets of
tokens can be worked out too; a text that is written again is the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from goldrank.data.text_item import Reference, TextItem
from goldrank.match import Matcher


class Letters(Matcher):
    """A text covers the letters that it has."""

    name = "letters"
    says = "letters"

    def degrees(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([references[j] in retrieved[i] for i, j in pairs], np.float64)


class TextCase(NamedTuple):
    """A measure, a ranking of texts, the references, the value, and why."""

    measure: str
    ranking: str
    references: str
    value: float
    why: str = ""
    credit: str = "any"


def item(case: TextCase, query: str = "q") -> TextItem:
    """The case as a question."""
    return TextItem(query, case.ranking.split(), [Reference((letter,)) for letter in case.references], confidence=0.5)


TEXTS = [
    # Cover and CoverAll count references.
    TextCase("Cover@1", "ab . c", "abcd", 2 / 4),
    TextCase("Cover@3", "ab . c", "abcd", 3 / 4),
    TextCase("Cover", "ab ab c", "abcd", 3 / 4, "covered twice counts once"),
    TextCase("Cover(rel=2)", "a", "a", 0.0, "there is no reference of grade 2"),
    TextCase("CoverAll@2", "ab . c", "abc", 0.0),
    TextCase("CoverAll@3", "ab . c", "abc", 1.0),
    TextCase("CoverAll(rel=2)@3", "a", "a", 0.0),
    # Budgets of tokens: texts count until the first that does not fit.
    TextCase("Cover(tokens=3)", "ab . c", "abcd", 2 / 4, "2 + 1 tokens"),
    TextCase("Cover(tokens=4)", "ab . c", "abcd", 3 / 4, "2 + 1 + 1 tokens"),
    TextCase("Cover(tokens=1)", "ab c", "abc", 0.0, "the first text does not fit, so the second does not come up"),
    TextCase("Cover(tokens=4)@1", "ab . c", "abcd", 2 / 4, "both limits hold"),
    TextCase("nDCG(tokens=2)", "x a b", "ab", (1 / log2(3)) / (1 + 1 / log2(3))),
    TextCase("P(tokens=1)@2", "a b", "ab", 1 / 2),
    # Repeated and Redundant.
    TextCase("Repeated", "a a b a", "a", 2 / 4),
    TextCase("Repeated@2", "a a b a", "a", 1 / 2),
    TextCase("Repeated@9", "a b", "a", 0.0),
    TextCase("Redundant", "a ab b ba x", "ab", 2 / 5, "the third and the fourth add nothing; the last covers nothing"),
    TextCase("Redundant@3", "a ab b ba x", "ab", 1 / 3),
    TextCase("CoverArea(tokens=8)", "ab . c", "abcd", (2 * (1 - 2 / 8) + (1 - 4 / 8)) / 4, "after 2, 2 and 4 tokens"),
    TextCase("CoverArea(rel=2, tokens=8)", "ab . c", "abcd", 0.0, "there is no reference of grade 2"),
    TextCase("CoverArea(tokens=8)@1", "ab . c", "abcd", 2 * (1 - 2 / 8) / 4),
    TextCase("CoverArea(tokens=3)", "ab . c", "abcd", 2 * (1 - 2 / 3) / 4, "the third text ends beyond the budget"),
    # Tokens.
    TextCase("Tokens", "ab . abc", "a", 6),
    TextCase("Tokens@2", "ab . abc", "a", 3),
    TextCase("Tokens(tokens=3)", "ab . abc", "a", 3),
    # Credit: any. Precision counts texts, recall references.
    TextCase("P@2", "ab a", "ab", 2 / 2),
    TextCase("R@1", "ab a", "abcd", 2 / 4),
    TextCase("RR", ". ab", "ab", 1 / 2),
    TextCase("RecallAll@1", "ab", "ab", 1.0),
    TextCase("F@2", "ab . c", "abcd", 2 * (1 / 2) * (2 / 4) / (1 / 2 + 2 / 4)),
    TextCase("SetF", "ab . c", "abcd", 2 * (2 / 3) * (3 / 4) / (2 / 3 + 3 / 4)),
    TextCase("SetF(weight=4)", "ab . c", "abcd", 5 * (2 / 3) * (3 / 4) / (4 * (2 / 3) + 3 / 4)),
    TextCase("AP", ". abc", "abc", (1 / 2 + 2 / 3 + 3 / 4) / 3, "places 2, 3 and 4"),
    TextCase("AP", "abc", "abc", 1.0),
    TextCase("AP", "a a b", "ab", (1 + 2 / 3) / 2, "what is covered again takes no place"),
    TextCase("AP", "a . b", "abc", (1 + 2 / 3) / 3),
    TextCase('AP(divisor="hits")', "a . b", "abc", (1 + 2 / 3) / 2),
    TextCase('AP(divisor="min")@2', "a . b", "abc", 1 / 2),
    TextCase(
        "nDCG", ". abc", "abc", (1 / log2(3) + 1 / 2 + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / 2), "places 2, 3 and 4"
    ),
    TextCase("nDCG", "abc", "abc", 1.0, "places 1, 2 and 3"),
    TextCase("nDCG@2", "abc", "abc", 1.0, "of the first two places none is empty"),
    TextCase("SetAP", "abc", "abc", 1.0, "three places, and three references"),
    TextCase("nDCG", "a a b", "ab", (1 + 1 / 2) / (1 + 1 / log2(3)), "the second text brings nothing"),
    TextCase("NumRelRet", "ab a", "abc", 2),
    # Credit: every pair.
    TextCase("P@2", "ab a", "abc", 3 / (2 * 3), "three of six pairs", "pairs"),
    TextCase("SetP", "ab . . .", "abc", 2 / (4 * 3), "two of twelve pairs", "pairs"),
    TextCase('P(divisor="retrieved")@9', "ab a", "abc", 3 / (2 * 3), "", "pairs"),
    # Credit: one to one.
    TextCase("P@2", "ab a", "abc", 2 / 2, "the first text gives up a for b", "one_to_one"),
    TextCase("P@2", "ab a", "abc", 1 / 2, "a is given to the first text; the second is left without", "first_free"),
    TextCase("P@3", "a a a", "abc", 1 / 3, "", "one_to_one"),
    TextCase("P@2", "a ab", "abc", 2 / 2, "", "one_to_one"),
    TextCase("R@1", "ab a", "ab", 1 / 2, "", "one_to_one"),
    TextCase("nDCG@2", "ab .", "ab", 1 / (1 + 1 / log2(3)), "", "one_to_one"),
    TextCase("Cover@1", "ab a", "ab", 1.0, "coverage is the same whoever is credited", "one_to_one"),
    # Claims: the same kernels, whatever texts are held against.
    TextCase("ContextPrecision", ". ab a", "abc", (1 / 2 + 2 / 3) / 2, "over texts, by the two that are useful"),
    TextCase("ContextPrecision@2", ". ab a", "abc", 1 / 2),
    TextCase("ContextPrecision(rel=2)", "a", "a", 0.0),
    TextCase('ContextPrecision(by="matcher")', "a", "a", 1.0),
    TextCase("ContextRecall", ". ab a", "abc", 2 / 3),
    TextCase("ContextRecall@1", ". ab a", "abc", 0.0),
    TextCase("ContextRecall(rel=2)", "a", "a", 0.0),
    TextCase('ContextRecall(by="judge")', "a", "ab", 1 / 2),
    TextCase("AlikePrecision", ". a", "a", 1 / 2),
    TextCase("AlikePrecision(rel=2)@1", ". a", "a", 0.0),
    TextCase("AlikeCover", ". a", "ab", 1 / 2),
    TextCase("AlikeCover(rel=2)@1", ". a", "a", 0.0),
    TextCase("Faithfulness", "ab . c", "abcd", 3 / 4, "the claims of the response are given as references"),
    TextCase("Faithfulness@1", "ab . c", "abcd", 2 / 4),
    TextCase('Faithfulness(by="judge")', ". a", "ab", 1 / 2),
    TextCase("EntityRecall", "a b", "abcd", 2 / 4),
    TextCase("EntityRecall@1", "a b", "abcd", 1 / 4),
    TextCase('NoiseSensitivity(mode="irrelevant")', "ab . c", "abcd", 3 / 4, "all claims are wrong, no text useful"),
    TextCase("NoiseSensitivity", "ab . c", "abcd", 0.0),
    TextCase("DistinctPrecision", "a . b a", "ab", 2 / 3),
    TextCase("DistinctPrecision(rel=2)", "a", "a", 0.0),
    TextCase("NoiseShare@4", "a . b", "ab", 2 / 4),
    TextCase('NoiseShare(divisor="retrieved")@4', "a . b", "ab", 1 / 3),
    TextCase("NoiseShare(rel=2)@1", "a", "a", 1.0),
    # Nuggets: these are all okay, and supported or not.
    TextCase("Nugget", ". ab a", "abc", 2 / 3),
    TextCase("Nugget@1", ". ab a", "abc", 0.0),
    TextCase("Nugget(strict=True)", ". ab a", "abc", 2 / 3),
    TextCase('Nugget(by="matcher")', "a", "ab", 1 / 2),
    TextCase("NuggetVital", ". ab a", "abc", 0.0, "none is vital"),
    TextCase('NuggetVital(by="judge", strict=True)@1', "a", "a", 0.0),
    TextCase("NuggetWeighted", ". ab a", "abc", 2 / 3),
    TextCase("NuggetWeighted(least=1)", ". ab a", "abc", (0.5 * 2) / (1 + 0.5 * 3), "as if there were a vital one"),
    TextCase('NuggetWeighted(by="judge", strict=True)@1', ". ab a", "abc", 0.0),
    # Citations: these questions have no answer that cites anything.
    *(
        TextCase(name, "a", "a", float("nan"), "nothing is cited")
        for name in ("CitationPrecision", "CitationRecall", "CitationInvented", "CitationUsed")
    ),
    TextCase('CitationPrecision(of="support")', "a", "a", float("nan")),
    TextCase('CitationRecall(of="support")', "a", "a", float("nan")),
    # Abstaining. Of these questions it is known that they have an answer, and how confident the system is of each.
    TextCase("AbstainWrong", "a", "a", 0.0),
    TextCase("AbstainWrong(abstain_below=9)", "a", "a", 1.0),
    TextCase("AbstainRight", "a", "a", float("nan"), "it has an answer"),
    TextCase("AbstainRight(abstain_below=9)", "a", "a", float("nan")),
    TextCase("SelectiveCover", "a", "ab", 1 / 2),
    TextCase("SelectiveCover@1", ". a", "ab", 0.0),
    TextCase("SelectiveCover(abstain_below=9, rel=1)", "a", "ab", 0.0),
    TextCase("SelectiveCover(rel=2)", "a", "ab", float("nan")),
    TextCase("AbstainAUROC", "a", "a", float("nan"), "there is no question without an answer"),
    # The company covers all its references and is less confident: the mean loss of one, then of two, over two lists.
    TextCase("AURC", "a", "ab", 0.5 * (1 + 1 / 2)),
    TextCase("AURC@1", ". a", "ab", 1.0 * (1 + 1 / 2)),
    TextCase("EAURC", "a", "ab", 0.5 * (1 + 1 / 2) - 0.5 * (1 / 2)),
    TextCase("EAURC@1", ". a", "ab", 1.0 * (1 + 1 / 2) - 1.0 * (1 / 2)),
    TextCase("AUGRC", "a", "ab", 0.5 * (2 / 2)),
    TextCase("AUGRC@1", ". a", "ab", 1.0 * (2 / 2)),
    # Measures of places.
    TextCase("Rprec", "ab .", "ab", 1.0, "places 1 and 2"),
    TextCase("Rprec", ". ab", "ab", 1 / 2, "places 2 and 3"),
    TextCase("IPrecAvg", ". ab", "ab", 2 / 3, "precision is 1/2 at place 2 and 2/3 at place 3, the highest from any"),
]
