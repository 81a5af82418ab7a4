"""Values worked out by hand, at least one for every measure and every option.

A ranking is written as the grades of its documents, best rank first; a dot is an unjudged document. `missed` are the
grades of judged documents that the run did not return. Several queries are separated by slashes. The expected value is
the arithmetic itself.
"""

from __future__ import annotations

from math import log2, sqrt
from typing import NamedTuple

import pytest


class Case(NamedTuple):
    measure: str
    ranking: str
    missed: str
    value: float
    why: str = ""


E = 0.00001
"""infAP's smoothing."""

CASES = [
    # P: relevant among the first k, divided by k.
    Case("P@2", "1 0 1 . .", "1", 1 / 2),
    Case("P@10", "1 0 1 . .", "1", 2 / 10, "ranks that were not filled count as not relevant"),
    Case('P(divisor="retrieved")@10', "1 0 1 . .", "1", 2 / 5, "five were returned"),
    Case('P(divisor="retrieved")@2', "1 0 1 . .", "1", 1 / 2, "k is the smaller number here"),
    Case("P(rel=2)@3", "1 2 3", "", 2 / 3, "grades 2 and 3 are relevant, 1 is not"),
    Case("P(judged_only=True)@2", ". 1 -1 0", "", 1 / 2, "only 1 and 0 were judged"),
    # R: relevant among the first k, divided by all relevant.
    Case("R@2", "1 0 1 . .", "1", 1 / 3),
    Case("R", "1 0 1 . .", "1", 2 / 3),
    Case("R@5", "0 0", "", 0.0, "nothing to find"),
    Case("R(rel=2)@2", "2 1 3", "2", 1 / 3, "three documents of grade 2 or more, one in the first two"),
    # F: with P = 1/2 and R = 1/3.
    Case("F@2", "1 0 1 . .", "1", 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
    Case("F@2", "0 0 1", "", 0.0, "both are 0"),
    Case("F(beta=2)@2", "1 0 1 . .", "1", 5 * (1 / 2) * (1 / 3) / (4 * (1 / 2) + 1 / 3)),
    Case("F(rel=2)@3", "2 1 2", "", 2 * (2 / 3) * 1 / (2 / 3 + 1), "P = 2/3, R = 1"),
    # Success: any relevant among the first k.
    Case("Success@1", "0 1", "", 0.0),
    Case("Success@2", "0 1", "", 1.0),
    Case("Success(rel=2)@2", "1 1 2", "", 0.0),
    Case("Success(rel=2)@3", "1 1 2", "", 1.0),
    Case("Success@1", "1 / 0", "", 1 / 2, "one query of two"),
    Case("Success", "0 0 1", "", 1.0, "all that was returned"),
    Case("Success", "0 0", "1", 0.0),
    # RecallAll: every relevant one among the first k.
    Case("RecallAll@2", "1 0 1", "", 0.0),
    Case("RecallAll@3", "1 0 1", "", 1.0),
    Case("RecallAll", "1 0 1", "1", 0.0),
    Case("RecallAll@3", "0 0", "", 0.0, "all of nothing is not a success"),
    Case("RecallAll(rel=2)@1", "2 1", "", 1.0),
    # RR: one over the rank of the first relevant document.
    Case("RR", "0 . 1 1", "", 1 / 3),
    Case("RR@2", "0 . 1 1", "", 0.0),
    Case("RR", "0 0", "1", 0.0),
    Case("RR(rel=2)", "1 0 0 2", "", 1 / 4),
    Case("RR(judged_only=True)", ". . 1", "", 1.0),
    # AP: precision at each relevant document, divided by all relevant ones.
    Case("AP", "1 0 1 0 0", "1", (1 / 1 + 2 / 3) / 3),
    Case("AP@2", "1 0 1 0 0", "1", (1 / 1) / 3),
    Case('AP(divisor="hits")', "1 0 1 0 0", "1", (1 / 1 + 2 / 3) / 2, "two were found"),
    Case('AP(divisor="min")@2', "1 0 1 0 0", "1", (1 / 1) / 2, "no more than two can be in the first two"),
    Case('AP(divisor="min")@10', "1 0 1 0 0", "1", (1 / 1 + 2 / 3) / 3, "three are relevant"),
    Case("AP(rel=2)", "1 2 0 3", "", (1 / 2 + 2 / 4) / 2),
    Case("AP(judged_only=True)", ". 1 . 1", "", (1 / 1 + 2 / 2) / 2),
    # GMAP: the geometric mean of AP.
    Case("GMAP", "0 1", "", 1 / 2),
    Case("GMAP", "0 1 / 0 0 0 0 0 0 0 1", "", sqrt(1 / 2 * 1 / 8)),
    Case("GMAP", "0 0", "1", 0.00001, "the floor"),
    Case("GMAP(rel=2)", "1 2", "", 1 / 2),
    # Rprec: precision at rank R.
    Case("Rprec", "1 0 1", "1", 2 / 3, "R = 3"),
    Case("Rprec", "0 1", "", 0 / 1, "R = 1"),
    Case("Rprec", "1", "1 1", 1 / 3, "R = 3, one returned"),
    Case("Rprec(rel=2)", "1 2 2", "", 1 / 2, "R = 2"),
    # IPrec: the highest precision from the rank on at which the recall level is reached. Here R = 3 and precision at
    # the relevant documents is 1/1, 2/3, 3/6.
    Case("IPrec@0.0", "1 0 1 0 0 1", "", 1.0),
    Case("IPrec@0.4", "1 0 1 0 0 1", "", 1.0, "0.4 * 3 = 1.2 is 1 document"),
    Case('IPrec(rounding="up")@0.4', "1 0 1 0 0 1", "", 2 / 3, "int(1.2 + 0.9) = 2 documents"),
    Case("IPrec@0.5", "1 0 1 0 0 1", "", 2 / 3, "1.5 is rounded to 2"),
    Case("IPrec@1.0", "1 0 1 0 0 1", "", 3 / 6),
    Case("IPrec@0.0", "0 1 1", "", 2 / 3, "the best precision is at the second relevant document"),
    Case("IPrec@1.0", "1 1", "1", 0.0, "full recall is never reached"),
    Case("IPrec(rel=2)@1.0", "1 2", "", 1 / 2),
    # Judged: the share of judged ones among the first k or as many as there are.
    Case("Judged", "1 . 0 -1", "", 2 / 4, "a negative grade means pooled but not judged"),
    Case("Judged@2", "1 . 0", "", 1 / 2),
    Case("Judged@10", "1 . 0", "", 2 / 3),
    # Bpref: per relevant document 1 - min(nonrelevant above, R) / min(N, R), divided by R.
    Case("Bpref", "1 0 1 0 0", "1", (1 + (1 - 1 / 3)) / 3, "R = 3, N = 3"),
    Case("Bpref", "0 1", "", 1 - 1 / 1),
    Case("Bpref", "1 . 1", "", 1.0, "nothing judged nonrelevant"),
    Case("Bpref", "-1 1 0", "", 1.0, "the negative one does not count"),
    Case("Bpref", "0 1 1 1", "", 0.0, "R = 3, N = 1: each 1 - 1/1"),
    Case("Bpref", "0 1 0 1", "0", ((1 - 1 / 2) + (1 - 2 / 2)) / 2, "R = 2, N = 3"),
    Case("Bpref(rel=2)", "1 2", "", 1 - 1 / 1, "grade 1 is not relevant now"),
    # infAP: 1/r + (r-1)/r * (share of pooled above) * (smoothed share of relevant among judged above).
    Case("infAP", "1", "", 1.0),
    Case("infAP", "0 1", "", 1 / 2 + 1 / 2 * 1 * (0 + E) / (0 + 1 + 2 * E)),
    Case("infAP", "-1 1", "", 1 / 2 + 1 / 2 * 1 * (1 / 2), "pooled, but nothing is known: half"),
    Case("infAP", ". 1", "", 1 / 2 + 1 / 2 * 0, "not pooled is not relevant"),
    Case("infAP", "1 1", "1", (1 + (1 / 2 + 1 / 2 * 1 * (1 + E) / (1 + 2 * E))) / 3),
    Case("infAP(rel=2)", "1 2", "", 1 / 2 + 1 / 2 * 1 * E / (1 + 2 * E)),
    # Sets.
    Case("SetP", "1 0 . 1", "", 2 / 4),
    Case("SetP(relative=True)", "1 0 . 1", "", 2 / 2, "two are relevant, fewer than returned"),
    Case("SetP(relative=True)", "1 0", "1 1", 1 / 2, "two were returned, fewer than relevant"),
    Case("SetP(rel=2)", "1 2", "", 1 / 2),
    Case("IdPrecision", "1 0 . 1", "", 2 / 4),
    Case("IdPrecision(rel=2)", "1 2", "", 1 / 2),
    Case("SetR", "1 0 1", "1", 2 / 3),
    Case("SetR(rel=2)", "2 1", "3", 1 / 2),
    Case("SetF", "1 0 . 1", "1 1", 1 / 2, "P = R = 1/2"),
    Case("SetF(beta=2)", "1 1 0 0", "", 5 * (1 / 2) * 1 / (4 * (1 / 2) + 1), "P = 1/2, R = 1"),
    Case("SetF(rel=2)", "2 1", "", 2 * (1 / 2) * 1 / (1 / 2 + 1)),
    Case("SetAP", "1 0 1 0", "1", (2 / 4) * (2 / 3)),
    Case("SetAP(rel=2)", "2 1", "", (1 / 2) * (1 / 1)),
    # Counts are summed over queries.
    Case("NumQ", "1 / 0", "", 2),
    Case("NumRet", "1 0 . / 1", "", 3 + 1),
    Case("NumRet(judged_only=True)", "1 0 . / 1", "", 2 + 1),
    Case("NumRel", "1 / 0 1", "1 / ", 2 + 1),
    Case("NumRel(rel=2)", "1 2", "", 1),
    Case("NumRelRet", "1 0 1", "1", 2),
    Case("NumRelRet@1", "1 0 1 / 1", "", 1 + 1),
    Case("NumRelRet(rel=2)", "1 2 3", "", 2),
    # DCG: gains divided by log2(rank + 1).
    Case("DCG", "3 2 0 1", "", 3 / 1 + 2 / log2(3) + 1 / log2(5)),
    Case("DCG@2", "3 2 0 1", "", 3 / 1 + 2 / log2(3)),
    Case('DCG(gain="exp2")@2', "3 2 0 1", "", 7 / 1 + 3 / log2(3)),
    Case('DCG(gain="binary", rel=2)', "3 1 2", "", 1 / 1 + 1 / log2(4)),
    Case("DCG(gain={1: 5})", "1 2", "", 5 / 1 + 2 / log2(3), "a grade that is not in the table is its own gain"),
    Case('DCG(discount="log2_from_2")', "1 1 1 1", "", 1 + 1 / log2(2) + 1 / log2(3) + 1 / log2(4)),
    Case("DCG", "1 -1", "", 1.0),
    Case('DCG(negative="keep")', "1 -1", "", 1 - 1 / log2(3)),
    # nDCG: DCG divided by that of the best order.
    Case("nDCG", "1 3", "", (1 + 3 / log2(3)) / (3 + 1 / log2(3))),
    Case("nDCG@1", "1 3", "", 1 / 3),
    Case("nDCG", "1 2 3", "", (1 + 2 / log2(3) + 3 / 2) / (3 + 2 / log2(3) + 1 / 2)),
    Case('nDCG(gain="exp2")@3', "1 2 3", "", (1 + 3 / log2(3) + 7 / 2) / (7 + 3 / log2(3) + 1 / 2)),
    Case("nDCG", "1", "3", 1 / (3 + 1 / log2(3)), "the missed one is part of the best order"),
    Case('nDCG(ideal="retrieved")', "1", "3", 1.0, "the missed one is not asked for"),
    Case("nDCG@1", "2", "1", 1.0),
    Case("nDCG(cut_ideal=False)@1", "2", "1", 2 / (2 + 1 / log2(3))),
    Case('nDCG(discount="log2_from_2")', "0 1 2", "", (1 / 1 + 2 / log2(3)) / (2 / 1 + 1 / 1)),
    Case('nDCG(negative="keep")', "-1 2", "", (-1 + 2 / log2(3)) / (2 - 1 / log2(3))),
    Case('nDCG(negative="keep")', "-1 1", "", 0),  # a loss is no share
    Case('nDCG(gain="binary", rel=2)', "1 2", "", (1 / log2(3)) / 1),
    Case("nDCG(gain={1: 3, 2: 9})", "1 2", "", (3 + 9 / log2(3)) / (9 + 3 / log2(3))),
    Case("nDCG(judged_only=True)@1", ". 1", "", 1.0),
    Case("nDCG@5", "0 0", "", 0.0),
    # RBP: (1 - p) * sum of gain * p^(rank - 1).
    Case("RBP", "0 1", "", 0.1 * 0.9),
    Case("RBP(p=0.5)", "1 0 1", "", 0.5 * (1 + 0.25)),
    Case("RBP(p=0.5)", "1 0 2", "", 0.5 * (1 / 2 + 2 / 2 * 0.25), "grades are divided by the highest"),
    Case("RBP(p=0.5)@1", "1 0 1", "", 0.5),
    Case("RBG(p=0.5)", "3 1", "", 0.5 * (3 + 1 * 0.5), "grades as they are"),
    Case("RBG(p=0.5, rel=2)@2", "3 1", "", 0.5 * 3),
    Case('RBG(gain="exp2", p=0.5)', "3 1", "", 0.5 * (7 + 1 * 0.5)),
    Case("RBP(p=0.5, rel=2)", "1 2", "", 0.5 * 0.5),
    Case("RBP(p=0.5)", "1", "2", 0.5 * 1 / 2, "the highest grade of all judged, returned or not"),
    # ERR: the chance to stop at a rank is (2^grade - 1) / 2^max_grade.
    Case("ERR(max_grade=1)", "1 1", "", 1 / 2 + (1 / 2) * (1 / 2) / 2),
    Case("ERR", "4", "", 15 / 16),
    Case("ERR", "0 2 4", "", (3 / 16) / 2 + (1 - 3 / 16) * (15 / 16) / 3),
    Case("ERR@1", "0 4", "", 0.0),
]


def tables(case: Case) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Judgements and run of a case."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, list[str]] = {}
    missed = case.missed.split("/")
    for i, ranked in enumerate(case.ranking.split("/")):
        query = f"q{i}"
        grades = ranked.split()
        run[query] = [f"d{rank}" for rank in range(len(grades))]
        qrels[query] = {f"d{rank}": int(grade) for rank, grade in enumerate(grades) if grade != "."}
        more = missed[i].split() if i < len(missed) else []
        qrels[query] |= {f"missed{rank}": int(grade) for rank, grade in enumerate(more)}
    return qrels, run


def close(value: float) -> object:
    """Equal but for the order of operations; equality to the bit is tested elsewhere."""
    return pytest.approx(value, rel=1e-14, abs=1e-15)
