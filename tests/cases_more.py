"""Values worked out by hand for the wider list of measures; written as in cases.py.

Judgements by aspect, preferences and spans have shapes of their own, further down.
"""

from __future__ import annotations

from math import exp, log, log2
from typing import Any, NamedTuple

from cases import Case

from goldrank.data.spans import Spans
from goldrank.data.text_item import EvidencePlaces, Span, TextItem

L = [0.0, *(1 / log2(rank + 1) for rank in range(1, 12))]
"""What a gain of 1 at a rank adds to DCG."""

MORE = [
    Case('nDCG(discount="ln")@2', "0 1", "", 1 / (log(3) / log(2)), "a quotient of logarithms, as some tools take it"),
    # R with another divisor, SetF by weight, RBP with gains.
    Case('R(divisor="returned")@2', "1 0 1 . .", "1", 1 / 2, "two relevant documents were returned"),
    Case("SetF(weight=4)", "1 1 0 0", "", 5 * (1 / 2) * 1 / (4 * (1 / 2) + 1), "weight is beta squared"),
    Case("RBP(gain={1: 3, 2: 4}, p=0.5)", "1 2", "", 0.5 * (3 / 4 + 4 / 4 * 0.5), "gains are divided by the highest"),
    Case("RBP(gain={1: -1, 2: 1}, p=0.5)", "1 2 0", "", 0.5 * (0 + 1 / 2 + 1 / 2 * 0.25), "-1 to 1 becomes 0 to 1"),
    Case('RBP(gain="exp2", p=0.5)', "1 2", "", 0.5 * (1 / 3 + 3 / 3 * 0.5)),
    # R_cap: relevant among the first k, divided by k or by all relevant if they are fewer.
    Case("R_cap@2", "1 0 1 . .", "1", 1 / 2),
    Case("R_cap@5", "1 0 1 . .", "1", 2 / 3),
    Case("R_cap(rel=2)@2", "2 1 2", "", 1 / 2),
    # FallOut: judged nonrelevant among the first k, divided by all of them.
    Case("FallOut@2", "1 0 . 0", "0", 1 / 3),
    Case("FallOut", "1 0 . 0", "0", 2 / 3),
    Case("FallOut(rel=2)@1", "1 2", "", 1.0),
    # RprecMult: precision at m * R, rounded up. R = 3 here.
    Case("RprecMult@0.5", "1 0 1 .", "1", 1 / 2, "int(1.5 + 0.9) = 2"),
    Case("RprecMult@2.0", "1 0 1 .", "1", 2 / 6),
    Case("RprecMult(rel=2)@1.0", "2 1", "", 1.0),
    # IPrecAvg: R = 2, precision 1 up to the first relevant document and 2/3 up to the second.
    Case("IPrecAvg", "1 0 1 .", "", (8 * 1 + 3 * 2 / 3) / 11, "from level 0.8 on both are needed"),
    Case('IPrecAvg(rounding="up")', "1 0 1 .", "", (6 * 1 + 5 * 2 / 3) / 11, "from level 0.6 on both are needed"),
    Case("IPrecAvg(points=[0.5, 1.0])", "1 0 1 .", "", (1 + 2 / 3) / 2),
    Case("IPrecAvg(points=[1.0], rel=2)", "1 2", "", 1 / 2),
    # YAAP: s = 1 + 2/3 and R = 3.
    Case("YAAP", "1 0 1 .", "1", log((1 + 5 / 3) / (1 + 3 - 5 / 3))),
    Case("YAAP(rel=2)", "1 2", "", log((1 + 1 / 2) / (1 + 1 - 1 / 2))),
    # BinG: 1 / log2(2 + others above).
    Case("BinG", "1 0 1 .", "1", (1 / log2(2) + 1 / log2(3)) / 3),
    Case("BinG(rel=2)", "1 2", "", 1 / log2(3)),
    # AUROC and Accuracy: pairs in the right order.
    Case("AUROC", "0 1 . 1 0", "", 2 / 4, "each relevant one is above the last and below the first"),
    Case("AUROC@2", "0 1 . 1 0", "", 0.0),
    Case("AUROC(rel=2)", "2 1", "", 1.0),
    Case("Accuracy", "0 1 .", "", 1 / 2),
    Case("Accuracy@2", "0 1 .", "", 0.0),
    Case("Accuracy(rel=2)", "2 1 .", "", 1.0),
    Case("Accuracy", "1 1", "", 0.0, "no pairs"),
    # Counts and sets.
    Case("NumNonrelRet", "1 0 . 0 -1", "0", 2),
    Case("NumNonrelRet(rel=2)", "1 0 . 0 -1", "0", 3),
    Case("Utility", "1 0 . 1", "1", 2 - 2),
    Case("Utility(a=2, b=-0.5, c=-1, d=0.1, docs=10)", "1 0 . 1", "1", 4 - 1 - 1 + 0.1 * (10 + 2 - 4 - 3)),
    Case("Utility(rel=2)", "2 1", "", 1 - 1),
    Case("NothingFound", " / 1 / 0", "0 / / ", 1 / 2, "one of two queries without an answer got no result"),
    Case('NothingFound(queries="answerable")', " / 1 / 0", "1 / / 1", 1 / 3),
    Case('NothingFound(queries="all")', " / 1", "1", 1 / 2),
    Case('NothingFound(queries="answerable", rel=2)', " / 2", "1 / ", 0.0, "only the second has an answer"),
    # GMBpref: Bpref is 1 and 0 (floor 0.00001); N = R = 1.
    Case("GMBpref", "1 0 / 0 1", "", exp((log(1) + log(0.00001)) / 2)),
    Case("GMBpref(rel=2)", "2 1", "", 1.0),
    # Unjudged documents.
    Case("Unjudged@4", ". 1 -1 .", "", 3 / 4),
    Case("Unjudged@10", ". 1", "", 1 / 10),
    Case("Forbidden@2", "1 -1 / 1 0 -1", "", 1 / 2, "the first of two queries shows one in its first two"),
    Case("ForbiddenCount@3", "-1 1 -2 / 1 0 0 -1", "", (2 + 0) / 2),
    Case("RBPresidual", "1 1", "1", 0.0, "all judged"),
    Case("RBPresidual", "1 .", "", 0.9**2 + 0.1 * 0.9),
    Case("RBPresidual(p=0.5)", ". 1 -1", "", 0.5**3 + 0.5 * (1 + 0.25)),
    Case("Hole@4", ". 1 0 .", "", 2 / 4),
    Case("Hole@2", "1 / .", "", (0 + 0) / 2, "d0 was judged for the first query"),
    # IdealDCG.
    Case("IdealDCG", "1 . 0", "3", 3 * L[1] + 1 * L[2]),
    Case("IdealDCG@1", "1 . 0", "3", 3.0),
    Case('IdealDCG(gain="exp2")', "2", "", 3.0),
    Case('IdealDCG(gain="binary", rel=2)', "2 1", "", 1.0),
    Case('IdealDCG(discount="log2_from_2")', "1 1 1", "", 1 + 1 + 1 / log2(3)),
    # nDCGrel: 2 at rank 1, 1 at rank 3; nDCG there is 1 and (2 + L3) / (2 + L2); a third document of grade 1 is missed.
    Case(
        "nDCGrel",
        "2 0 1",
        "1",
        (1 + (2 + L[3]) / (2 + L[2] + L[3]) + (2 + L[3]) / (2 + L[2] + L[3])) / 3,
        "the ideal has three documents by rank 3; the missed one counts as the last rank does",
    ),
    Case(
        "nDCGrel(gain={1: 3})", "1 2", "", (3 / 3 + (3 + 2 * L[2]) / (3 + 2 * L[2])) / 2, "grade 1 is worth more here"
    ),
    # Rndcg: the ideal gain changes after rank 1 (2 to 1) and after rank 2 (1 to 0); two more ranks follow.
    Case("Rndcg", "1 2 0 .", "", (1 / 2 + (1 + 2 * L[2]) / (2 + L[2]) + (1 + 2 * L[2]) / (2 + L[2])) / 3),
    Case("Rndcg", "1 2 0", "", (1 / 2 + (1 + 2 * L[2]) / (2 + L[2])) / 2, "one more rank is not enough for a third"),
    Case("Rndcg(gain={1: 2})", "1 2", "", 1.0, "one level of gain"),
    Case("Rndcg(rel=2)", "1", "", 0.0, "nothing relevant"),
    # G: gains 1, 0, 2; ideal 2, 1; what the ideal costs by then is 2, 3, 4 and the gain is 1, 1, 3.
    Case("G", "1 0 2", "", (1 / log2(2 + 2 - 1) + 2 / log2(2 + 4 - 3)) / 3),
    Case("G(gain={1: 4})", "1", "", 4 / log2(2 + 4 - 4) / 4),
    # NCG: gains without a discount.
    Case("NCG@2", "1 0 3", "2", 1 / (3 + 2)),
    Case("NCG", "1 0 3", "2", 4 / 6),
    Case('NCG(gain="exp2")@1', "1 3", "", 1 / 7),
    Case('NCG(gain="binary", rel=2)@1', "1 3", "", 0 / 1),
    # Q: (hits + beta * gain) / (rank + beta * ideal gain). Ideal 3, 1 and gains 1, 0, 3.
    Case("Q", "1 0 3", "", ((1 + 1) / (1 + 3) + (2 + 4) / (3 + 4)) / 2),
    Case("Q@1", "1 0 3", "", ((1 + 1) / (1 + 3)) / 1),
    Case("Q(beta=0)", "1 0 3", "", (1 / 1 + 2 / 3) / 2, "AP"),
    Case('Q(gain="exp2")', "1 0 2", "", ((1 + 1) / (1 + 3) + (2 + 4) / (3 + 4)) / 2),
    Case("Q(rel=2)", "1 3", "", (1 + 3) / (2 + 4), "the ideal holds all gains"),
    # GAP: pairs by the lower gain of the two. Rank 1: 1; rank 3: min(2, 1) + 2, a third of it.
    Case("GAP", "1 0 2", "1", (1 + (1 + 2) / 3) / 4),
    Case('GAP(gain="exp2")', "1 2", "", (1 + (1 + 3) / 2) / 4),
    Case('GAP(gain="binary", rel=2)', "1 2", "", (1 / 2) / 1),
    # The user reads on with some chance. Gains 0, 1 at the first two ranks unless said otherwise.
    Case("BPM@10", "0 1 1", "", 1 / 2, "stops at the second"),
    Case("BPM(T=2)@10", "0 1 1", "", 2 / 3, "stops at the third"),
    Case("BPM(T=5)@2", "0 1 1", "", 1 / 2, "gives up after two"),
    Case("BPM(max_rel=2)@2", "1 2", "", (1 / 2 + 1) / 2),
    Case("BPM(max_rel=3, min_rel=1)@2", "1 2", "", (0 + 1 / 2) / 2),
    Case("INSQ(depth=2)", "0 1", "", (2 / 3) ** 2 / (1 + (2 / 3) ** 2), "goes on with (2/3)^2"),
    Case("INSQ(T=2, depth=2)", "0 1", "", (4 / 5) ** 2 / (1 + (4 / 5) ** 2)),
    Case("INSQ(depth=1, max_rel=2)", "1", "", 1 / 2),
    Case("INSQ(depth=1, max_rel=3, min_rel=1)", "2", "", 1 / 2),
    Case("INST(depth=2)", "0 1", "", (2 / 3) ** 2 / (1 + (2 / 3) ** 2), "nothing gained: ((1 + 1 + 1 - 1) / 3)^2"),
    Case("INST(depth=2)", "1 0", "", 1 / (1 + (1 / 2) ** 2), "all gained: ((1 + 1 + 0 - 1) / 2)^2"),
    Case("INST(T=2, depth=2)", "1 0", "", 1 / (1 + (3 / 4) ** 2), "((1 + 2 + 1 - 1) / 4)^2"),
    Case("INST(depth=1, max_rel=2)", "1", "", 1 / 2),
    Case("INST(depth=1, max_rel=3, min_rel=1)", "2", "", 1 / 2),
    Case("NERR8@5", "0 1 1", "", 1 / 2, "always goes on from 0, never from 1"),
    Case("NERR8(max_rel=2)@2", "1 2", "", (1 / 2 + 1 / 2 * 1) / (1 + 1 / 2)),
    Case("NERR8(max_rel=3, min_rel=1)@1", "2", "", 1 / 2),
    Case("NERR9@5", "0 1 1", "", (1 / 2) / (1 + 1 / 2)),
    Case("NERR9(max_rel=2)@2", "1 2", "", (1 / 2 + 1 / 4 * 1) / (1 + 1 / 4)),
    Case("NERR9(max_rel=3, min_rel=1)@1", "2", "", 1 / 2),
    Case("NERR10", "0 1 1", "", 0.9 / (1 + 0.9)),
    Case("NERR10(p=0.5)", "0 1 1", "", 0.5 / (1 + 0.5)),
    Case("NERR10(depth=1)", "1 1", "", 1.0),
    Case("NERR10(depth=1, max_rel=2)", "1", "", 1 / 2),
    Case("NERR10(depth=1, max_rel=3, min_rel=1)", "2", "", 1 / 2),
    Case("NERR11", "0 1 1", "", (2 / 3) ** 2 / (1 + (2 / 3) ** 2)),
    Case("NERR11(T=2)", "0 1 1", "", (4 / 5) ** 2 / (1 + (4 / 5) ** 2)),
    Case("NERR11(depth=1, max_rel=2)", "1", "", 1 / 2),
    Case("NERR11(depth=1, max_rel=3, min_rel=1)", "2", "", 1 / 2),
    Case("SDCG@2", "0 1", "", L[2] / (L[1] + L[2])),
    Case("SDCG(max_rel=2)@1", "1", "", 1 / 2),
    Case("SDCG(max_rel=3, min_rel=1)@1", "2", "", 1 / 2),
    # Compat: overlaps of (x, a) with (a) at depths 1 and 2 are 0 and 1; of (a) with itself 1 and 1.
    Case("Compat", ". 1", "", (0.95 * 1 / 2) / (1 + 0.95 * 1 / 2)),
    Case("Compat(p=0.5)", ". 1", "", (0.5 * 1 / 2) / (1 + 0.5 * 1 / 2)),
    Case("Compat(normalize=False, p=0.5)", ". 1", "", (0.5 * 1 / 2) / (1 + 0.5)),
    Case("Compat(p=0.5)", "1 2", "", (0 + 0.5 * 2 / 2) / (1 + 0.5 * 2 / 2), "in the wrong order"),
    Case("Compat", "2 1 1", "", 1.0, "any order of equals is ideal"),
    Case("Compat(p=0.5)", "1", "2", (0 + 0.5 * 1 / 2) / (1 + 0.5 * 2 / 2), "the missed one is first in the ideal"),
]


class AspectCase(NamedTuple):
    """`aspects` gives for each aspect the grades of the documents of the ranking, dots for unjudged ones."""

    measure: str
    aspects: list[str]
    value: float
    why: str = ""


ASPECTS = [
    # Two aspects: the first document covers x, the second both, the third nothing; y has another grade-1 document.
    AspectCase("P_IA@2", ["1 1 0", "0 1 0"], (2 / 2 + 1 / 2) / 2),
    AspectCase("P_IA(rel=2)@1", ["2 1", "1 2"], (1 + 0) / 2),
    AspectCase("P_IA@1", ["1", "0"], 1.0, "the aspect without a relevant document does not count"),
    AspectCase('P_IA(aspects="all")@1', ["1", "0"], 1 / 2, "it does here"),
    AspectCase("AP_IA", ["1 1 0", "0 1 0"], (1 + 1 / 2) / 2),
    AspectCase("AP_IA(rel=2)", ["2 1", "1 2"], (1 + 1 / 2) / 2),
    AspectCase('AP_IA(aspects="all")', ["1 0", "0 ."], 1 / 2),
    AspectCase("RprecMult_IA@1.0", ["1 1 0", "0 1 0"], (2 / 2 + 0 / 1) / 2),
    AspectCase("RprecMult_IA(rel=2)@1.0", ["2 1", "1 2"], (1 + 0) / 2),
    AspectCase('RprecMult_IA(aspects="all")@1.0', ["1", "0"], 1 / 2),
    AspectCase("StRecall@1", ["1 1 0", "0 1 0"], 1 / 2),
    AspectCase("StRecall@2", ["1 1 0", "0 1 0"], 1.0),
    AspectCase("StRecall(rel=2)@1", ["2 1", "1 2"], 1 / 2),
    AspectCase('StRecall(aspects="all")@2', ["1 1", "0 0"], 1 / 2),
    # alpha_DCG: rank 1 gains 1 (x), rank 2 gains 1/2 (x again) + 1 (y); perfect documents gain 2, then 1.
    AspectCase("alpha_DCG@2", ["1 1 0", "0 1 0"], (1 + 1.5 * L[2]) / (2 + 1 * L[2])),
    AspectCase("alpha_DCG(alpha=0.25)@2", ["1 1 0", "0 1 0"], (1 + 1.75 * L[2]) / (2 + 1.5 * L[2])),
    AspectCase("alpha_DCG(rel=2)@1", ["2 1", "1 2"], 1 / 2),
    # The greedy ideal takes the second document first (2), then the first (1/2).
    AspectCase("alpha_nDCG@2", ["1 1 0", "0 1 0"], (1 + 1.5 * L[2]) / (2 + 0.5 * L[2])),
    AspectCase("alpha_nDCG(alpha=0.25)@2", ["1 1 0", "0 1 0"], (1 + 1.75 * L[2]) / (2 + 0.75 * L[2])),
    AspectCase("alpha_nDCG(rel=2)@1", ["1 2", "2 1"], 1.0),
    AspectCase("ERR_IA@2", ["1 1 0", "0 1 0"], (1 + 1.5 / 2) / (2 + 1 / 2)),
    AspectCase("ERR_IA(alpha=0.25)@2", ["1 1 0", "0 1 0"], (1 + 1.75 / 2) / (2 + 1.5 / 2)),
    AspectCase("ERR_IA(rel=2)@1", ["2 1", "1 2"], 1 / 2),
    AspectCase("nERR_IA@2", ["1 1 0", "0 1 0"], (1 + 1.5 / 2) / (2 + 0.5 / 2)),
    AspectCase("nERR_IA(alpha=0.25)@2", ["1 1 0", "0 1 0"], (1 + 1.75 / 2) / (2 + 0.75 / 2)),
    AspectCase("nERR_IA(rel=2)@1", ["1 2", "2 1"], 1.0),
    AspectCase("NRBP", ["1 1 0", "0 1 0"], (1 + 1.5 * 0.5) * (1 - 0.5 * 0.5) / 2),
    AspectCase("NRBP(alpha=0.25, beta=0.75)", ["1 1 0", "0 1 0"], (1 + 1.75 * 0.75) * (1 - 0.75 * 0.75) / 2),
    AspectCase("NRBP(rel=2)", ["2", "1"], 1 * (1 - 0.25) / 1),
    AspectCase("nNRBP", ["1 1 0", "0 1 0"], (1 + 1.5 * 0.5) / (2 + 0.5 * 0.5)),
    AspectCase("nNRBP(alpha=0.25, beta=0.75)", ["1 1 0", "0 1 0"], (1 + 1.75 * 0.75) / (2 + 0.75 * 0.75)),
    AspectCase("nNRBP(rel=2)", ["2", "1"], 1.0),
]


class PreferenceCase(NamedTuple):
    measure: str
    judges: dict[str, list[dict[str, float]]]
    ranking: list[str]
    value: float
    why: str = ""


ONE: dict[str, Any] = {"judge": [{"a": 2, "b": 1, "c": 0}]}
"""a over b, a over c, b over c."""
TWO: dict[str, Any] = {"first": [{"a": 2, "b": 1}], "second": [{"b": 2, "a": 1, "c": 0}]}
"""a over b; b over a, b over c, a over c."""

PREFERENCES = [
    PreferenceCase("Prefs", ONE, ["a", "c", "b"], 2 / 3, "b over c is not met"),
    PreferenceCase("Prefs", ONE, ["b"], 1 / 3, "b over c only: c was not returned, but neither was a"),
    PreferenceCase(
        "Prefs", {"judge": [{"a": 2, "b": 1}, {"b": 2, "c": 1}]}, ["c", "a"], 1 / 3, "a over b, by what follows"
    ),
    PreferenceCase('Prefs(pairs="returned")', ONE, ["b", "c"], 1.0, "the only pair that was returned"),
    PreferenceCase('Prefs(pairs="touched")', ONE, ["c"], 0.0, "two pairs have c in them"),
    PreferenceCase('Prefs(average="pair")', TWO, ["a", "b", "c"], (1 / 2 + 1 + 1) / 3, "a, b: one judge of two agrees"),
    PreferenceCase('Prefs(average="judge")', TWO, ["a", "b", "c"], (1 + 2 / 3) / 2),
    PreferenceCase(
        'Prefs(average="balanced")', ONE, ["a", "c", "b"], (2 + 2) / (3 + 2), "one more nonrelevant one, below a and b"
    ),
    PreferenceCase("NumPrefs", TWO, ["a"], 4),
    PreferenceCase("NumPrefsMet", TWO, ["a", "b", "c"], 3),
    PreferenceCase('NumPrefsMet(pairs="returned")', TWO, ["a", "b"], 1),
]


class SpanCase(NamedTuple):
    """`a:0-10` is characters 0 to 9 of source a, `?7` a retrieved text of 7 characters that has no known place.

    Spans of an evidence that are needed together are joined with `+`, its alternatives with `|`.
    """

    measure: str
    retrieved: list[str]
    evidence: list[str]
    value: float
    why: str = ""
    chunks: list[str] | None = None

    def table(self) -> Spans:
        texts = ["x" * int(one[1:]) if one.startswith("?") else "text" for one in self.retrieved]
        spans = [None if one.startswith("?") else _span(one) for one in self.retrieved]
        evidence = [
            EvidencePlaces(tuple(tuple(map(_span, group.split("+"))) for group in one.split("|")))
            for one in self.evidence
        ]
        item = TextItem("q", texts, spans=spans, evidence=evidence)
        return Spans.of([item], chunks=None if self.chunks is None else list(map(_span, self.chunks)))


def _span(text: str) -> Span:
    source, _, places = text.strip().partition(":")
    start, _, end = places.partition("-")
    return Span(source, int(start), int(end))


SPANS = [
    SpanCase("SpanRecall@1", ["a:0-20", "a:20-40"], ["a:10-30"], 10 / 20),
    SpanCase("SpanRecall", ["a:0-20", "a:20-40"], ["a:10-30"], 20 / 20),
    SpanCase("SpanRecall@2", ["a:0-20", "a:15-25"], ["a:10-30"], 15 / 20, "what both hold counts once"),
    SpanCase("SpanRecall", ["a:0-20"], ["a:10-30", "a:20-40"], 10 / 30, "what both evidences hold counts once"),
    SpanCase("SpanRecall", ["a:0-5"], ["a:0-10|b:0-20", "a:50-60"], (10 * 1 / 2 + 0) / (10 + 10), "worth the shorter"),
    SpanCase("SpanRecall", ["b:0-20"], ["a:0-10|b:0-20", "a:50-60"], (10 * 1 + 0) / (10 + 10), "the longer, whole"),
    SpanCase("SpanRecall", ["b:0-15"], ["a:0-10+b:0-20"], 15 / 30, "both are needed"),
    SpanCase("SpanRecall", ["a:0-5"], ["a:0-10|a:0-6+a:4-10", "a:5-20"], 5 / 20, "equal alternatives are one"),
    SpanCase("SpanRecall", ["a:0-10", "?90"], ["a:0-20"], 10 / 20, "an unknown place covers nothing"),
    SpanCase("SpanRecall", ["b:0-20"], ["a:0-20"], 0.0, "another source"),
    SpanCase("SpanRecall", ["a:0-20"], [], 0.0, "no evidence"),
    SpanCase("SpanRecall", [], ["a:0-20"], 0.0, "nothing retrieved"),
    SpanCase('SpanRecall(evidence="each")', ["a:0-30"], ["a:10-30", "a:20-40"], 20 / 40, "each has its whole length"),
    SpanCase("SpanPrecision@1", ["a:0-40", "b:0-10"], ["a:10-30"], 20 / 40),
    SpanCase("SpanPrecision", ["a:0-40", "b:0-10"], ["a:10-30"], 20 / 50),
    SpanCase("SpanPrecision", ["a:0-20", "a:10-30"], ["a:10-20"], 10 / 30),
    SpanCase('SpanPrecision(repeated="each")', ["a:0-20", "a:10-30"], ["a:10-20"], 10 / 40, "paid twice, useful once"),
    SpanCase("SpanPrecision", ["a:0-10", "?30"], ["a:0-20"], 10 / 40),
    SpanCase("SpanPrecision(judged_only=True)@1", ["?30", "a:0-10"], ["a:0-5"], 5 / 10, "the first with a place"),
    SpanCase("SpanPrecision", ["a:0-10", "b:0-10"], ["a:0-10|b:0-10"], 20 / 20, "any alternative is evidence"),
    SpanCase("SpanPrecision", ["a:0-10"], [], 0.0, "no evidence"),
    SpanCase("SpanIoU@1", ["a:0-30", "b:0-10"], ["a:20-40"], 10 / 40),
    SpanCase("SpanIoU", ["a:0-30", "b:0-10"], ["a:20-40"], 10 / 50),
    SpanCase('SpanIoU(repeated="each")', ["a:0-30", "a:0-30"], ["a:20-40"], 10 / (60 + 10)),
    SpanCase('SpanIoU(evidence="each")', ["a:0-30"], ["a:20-40", "a:25-45"], 10 / (30 + 10 + 15), "missed of each"),
    SpanCase("SpanIoU", ["b:0-20"], ["a:0-10|b:0-20"], 20 / 20, "nothing is missed"),
    SpanCase("SpanF@1", ["a:0-20", "b:0-60"], ["a:10-50"], 2 * (1 / 2) * (1 / 4) / (1 / 2 + 1 / 4)),
    SpanCase("SpanF", ["a:0-20", "b:0-60"], ["a:10-50"], 2 * (1 / 8) * (1 / 4) / (1 / 8 + 1 / 4)),
    SpanCase("SpanF(beta=2)", ["a:0-20"], ["a:10-50"], 5 * (1 / 2) * (1 / 4) / (4 * (1 / 2) + 1 / 4)),
    SpanCase('SpanF(repeated="each")', ["a:0-20", "a:0-20"], ["a:10-50"], 1 / 4, "both 10 / 40"),
    SpanCase("SpanPrecisionOmega", [], ["a:10-30"], 20 / 40, "two of three", ["a:0-20", "a:20-40", "a:40-60"]),
    SpanCase("SpanPrecisionOmega", [], ["a:10-20"], 10 / 30, "overlapping", ["a:0-20", "a:10-30", "b:10-20"]),
    SpanCase('SpanPrecisionOmega(repeated="each")', [], ["a:10-20"], 10 / 40, "both", ["a:0-20", "a:10-30"]),
    SpanCase("SpanPrecisionOmega", [], ["a:10-20"], 5 / 15, "half of it is in no text", ["a:0-15"]),
    SpanCase("SpanPrecisionOmega", [], ["a:10-20"], 0.0, "none of it is", ["b:0-15"]),
    SpanCase('SpanPrecisionOmega(touching="border")', [], ["a:20-30"], 10 / 40, "a border", ["a:0-20", "a:20-40"]),
    SpanCase('SpanPrecisionOmega(touching="border")', [], ["a:30-50"], 10 / 50, "and what is missed", ["a:0-40"]),
    SpanCase("SpanPrecisionOmega", ["a:0-9"], [], 0.0, "no evidence", ["a:0-20"]),
    SpanCase("EvidenceRecall@1", ["a:0-20", "a:20-40"], ["a:5-9", "a:10-30"], 1 / 2),
    SpanCase("EvidenceRecall", ["a:0-20", "a:20-40"], ["a:5-9", "a:10-30"], 2 / 2, "two texts together"),
    SpanCase("EvidenceRecall(coverage=0.5)@1", ["a:0-20"], ["a:5-9", "a:10-30"], 2 / 2, "half is enough"),
    SpanCase("EvidenceRecall(coverage=0.55)", ["a:0-55"], ["a:0-100"], 1.0, "55 of 100 is 0.55"),
    SpanCase("EvidenceRecall(coverage=0)", ["a:0-20"], ["a:19-99", "b:0-9"], 1 / 2, "touched at all"),
    SpanCase("EvidenceRecall", ["b:0-9"], ["a:0-9|b:0-9", "a:0-9+b:0-9"], 1 / 2, "either; not both"),
    SpanCase("EvidenceRecall", ["a:0-9"], [], 0.0, "no evidence"),
    SpanCase("EvidenceAll@1", ["a:0-20", "a:20-40"], ["a:5-9", "a:10-30"], 0.0),
    SpanCase("EvidenceAll", ["a:0-20", "a:20-40"], ["a:5-9", "a:10-30"], 1.0),
    SpanCase("EvidenceAll(coverage=0.5)@1", ["a:0-20"], ["a:5-9", "a:10-30"], 1.0),
    SpanCase("EvidenceAll", ["a:0-9"], [], 0.0, "no evidence is not all of it"),
]
