# ruff: noqa: N802 - functions bear the names of the measures
"""A second goldrank, as plain as can be: loops over lists, one query and one document at a time.

It restates the published rules of trec_eval (and, for measures that trec_eval lacks, their formulas) and shares no
code with the library. Tests demand that both give the same doubles, so sums run in rank order here as there.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

UNPOOLED = None
"""The grade of a retrieved document that is not in the judgements."""

Row = tuple[bytes, bytes, float]
Judgements = Mapping[bytes, Mapping[bytes, float]]


# From lines to rankings.


def single(score: float) -> float:
    """A double rounded to single precision, as a C cast does it."""
    try:
        return struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)


def without_repeats(lines: list[tuple[bytes, float]], duplicates: str) -> list[tuple[bytes, float]]:
    if duplicates == "count":
        return lines
    kept: list[tuple[bytes, float]] = []
    for i, (doc, score) in enumerate(lines):
        others = lines[:i] if duplicates == "first" else lines[i + 1 :]
        if all(doc != other for other, _ in others):
            kept.append((doc, score))
    return kept


def ranking(
    lines: list[tuple[bytes, float]], *, ties: str = "docid", score_type: str = "float64", duplicates: str = "first"
) -> list[bytes]:
    """The documents of one query, best first."""
    lines = without_repeats(lines, duplicates)
    if score_type == "float32":
        lines = [(doc, single(score)) for doc, score in lines]
    if ties == "docid":
        lines = sorted(lines, key=lambda line: line[0], reverse=True)
    return [doc for doc, _ in sorted(lines, key=lambda line: -line[1])]


# Measures: `found` is the grade at each rank (None if not in the judgements), `judged` every judged grade.


def is_relevant(grade: float | None, rel: float) -> bool:
    return grade is not None and grade >= rel


def is_nonrelevant(grade: float | None, rel: float) -> bool:
    return grade is not None and 0 <= grade < rel


def count_relevant(grades: Sequence[float | None], rel: float) -> int:
    return sum(is_relevant(grade, rel) for grade in grades)


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def P(found, judged, k, rel=1, divisor="k"):
    hits = count_relevant(found[:k], rel)
    return share(hits, min(k, len(found)) if divisor == "retrieved" else k)


def R(found, judged, k, rel=1):
    return share(count_relevant(found[:k], rel), count_relevant(judged, rel))


def f_value(p, r, beta):
    x = beta * beta
    return share((x + 1.0) * p * r, x * p + r)


def F(found, judged, k, rel=1, beta=1):
    return f_value(P(found, judged, k, rel), R(found, judged, k, rel), beta)


def Success(found, judged, k, rel=1):
    return 1.0 if count_relevant(found[:k], rel) else 0.0


def RecallAll(found, judged, k, rel=1):
    total = count_relevant(judged, rel)
    return 1.0 if total and count_relevant(found[:k], rel) == total else 0.0


def RR(found, judged, k, rel=1):
    for i, grade in enumerate(found[:k]):
        if is_relevant(grade, rel):
            return 1.0 / (i + 1)
    return 0.0


def AP(found, judged, k, rel=1, divisor="relevant"):
    total, so_far = 0.0, 0
    for i, grade in enumerate(found[:k]):
        if is_relevant(grade, rel):
            so_far += 1
            total += so_far / (i + 1)
    relevant = count_relevant(judged, rel)
    if divisor == "hits":
        return share(total, so_far)
    if divisor == "min" and k is not None:
        return share(total, min(k, relevant))
    return share(total, relevant)


def GMAP(found, judged, k, rel=1):
    return max(AP(found, judged, None, rel), 0.00001)


def Rprec(found, judged, k, rel=1):
    relevant = count_relevant(judged, rel)
    return share(count_relevant(found[:relevant], rel), relevant)


def IPrec(found, judged, k, rel=1, rounding="nearest"):
    relevant = count_relevant(judged, rel)
    if rounding == "nearest":
        cutoff = int(Decimal(k * relevant).quantize(Decimal(1), ROUND_HALF_UP))
    else:
        cutoff = int(k * relevant + 0.9)
    hits, begin, best = 0, 0 if cutoff == 0 else None, 0.0
    precision = []
    for i, grade in enumerate(found):
        hits += is_relevant(grade, rel)
        precision.append(hits / (i + 1))
        if begin is None and hits == cutoff:
            begin = i
    if begin is not None:
        for value in precision[begin:]:
            best = max(best, value)
    return best


def Judged(found, judged, k):
    top = found[:k]
    return share(sum(grade is not None and grade >= 0 for grade in top), len(top))


def Bpref(found, judged, k, rel=1):
    relevant = count_relevant(judged, rel)
    nonrelevant = sum(is_nonrelevant(grade, rel) for grade in judged)
    total, seen = 0.0, 0
    for grade in found:
        if is_relevant(grade, rel):
            total += 1.0 - min(seen, relevant) / min(nonrelevant, relevant) if seen else 1.0
        elif is_nonrelevant(grade, rel):
            seen += 1
    return share(total, relevant)


def infAP(found, judged, k, rel=1):
    e = 0.00001
    total, rels, nonrels, unjudged = 0.0, 0, 0, 0
    for j, grade in enumerate(found):
        if is_relevant(grade, rel):
            if j == 0:
                total += 1.0
            else:
                pooled = (rels + nonrels + unjudged) / j
                total += 1.0 / (j + 1) + j / (j + 1) * pooled * ((rels + e) / (rels + nonrels + 2 * e))
            rels += 1
        elif is_nonrelevant(grade, rel):
            nonrels += 1
        elif grade is not None:
            unjudged += 1
    return share(total, count_relevant(judged, rel))


def SetP(found, judged, k, rel=1, relative=False):
    whole = min(len(found), count_relevant(judged, rel)) if relative else len(found)
    return share(count_relevant(found, rel), whole)


def SetR(found, judged, k, rel=1):
    return share(count_relevant(found, rel), count_relevant(judged, rel))


def SetF(found, judged, k, rel=1, beta=1):
    return f_value(SetP(found, judged, k, rel), SetR(found, judged, k, rel), beta)


def SetAP(found, judged, k, rel=1):
    hits = count_relevant(found, rel)
    return share(hits * hits, len(found) * count_relevant(judged, rel))


def NumQ(found, judged, k):
    return 1


def NumRet(found, judged, k):
    return len(found)


def NumRel(found, judged, k, rel=1):
    return count_relevant(judged, rel)


def NumRelRet(found, judged, k, rel=1):
    return count_relevant(found[:k], rel)


def gain_of(grade, gain, rel, negative):
    if grade is None:
        return 0.0
    if isinstance(gain, Mapping):
        return float(gain.get(grade, max(grade, 0)))
    if gain == "binary":
        return 1.0 if grade >= rel else 0.0
    if negative == "none":
        grade = max(grade, 0)
    return 2.0**grade - 1.0 if gain == "exp2" else float(grade)


def dcg_of(gains, discount):
    total = 0.0
    for i, value in enumerate(gains):
        by = math.log(i + 2, 2) if discount == "ln" else math.log2(i + 2 if discount == "log2" else max(i + 1, 2))
        total += value / by
    return total


def DCG(found, judged, k, rel=1, gain="linear", discount="log2", negative="none"):
    return dcg_of([gain_of(grade, gain, rel, negative) for grade in found[:k]], discount)


def nDCG(found, judged, k, rel=1, gain="linear", discount="log2", ideal="judged", cut_ideal=True, negative="none"):
    pool = judged if ideal == "judged" else [grade for grade in found if grade is not None]
    best = sorted((gain_of(grade, gain, rel, negative) for grade in pool), reverse=True)
    best = dcg_of(best[:k] if cut_ideal else best, discount)
    gained = DCG(found, judged, k, rel, gain, discount, negative)
    return share(max(gained, 0) if negative == "keep" else gained, max(best, 0))


def RBP(found, judged, k, rel=None, p=0.9):
    highest = max([1, *judged])
    total, arrive = 0.0, 1.0
    for grade in found[:k]:
        worth = float(is_relevant(grade, rel)) if rel is not None else max(grade or 0, 0) / highest
        total += worth * arrive
        arrive *= p
    return (1.0 - p) * total


def ERR(found, judged, k, max_grade=4):
    total, arrive = 0.0, 1.0
    for i, grade in enumerate(found[:k]):
        satisfied = (2.0 ** max(grade or 0, 0) - 1.0) / 2.0**max_grade
        total += satisfied * arrive / (i + 1)
        arrive *= 1.0 - satisfied
    return total


MEASURES = {
    function.__name__: function
    for function in (
        P, R, F, Success, RecallAll, RR, AP, GMAP, Rprec, IPrec, Judged, Bpref, infAP,
        SetP, SetR, SetF, SetAP, NumQ, NumRet, NumRel, NumRelRet, DCG, nDCG, RBP, ERR,
    )
}  # fmt: skip
SUMMED = {"NumQ", "NumRet", "NumRel", "NumRelRet"}
GEOMETRIC = {"GMAP"}
ALWAYS_MEANINGFUL = {*SUMMED, "Judged"}
"""Measures of which a query without relevant documents has a value of its own."""


def evaluate(
    judgements: Judgements,
    rows: Sequence[Row],
    measures: Sequence[tuple[str, str, Any, Mapping[str, Any]]],
    *,
    ties: str = "docid",
    score_type: str = "float64",
    duplicates: str = "first",
    missing: str = "zero",
    empty: str = "zero",
    depth: int | None = None,
) -> tuple[list[bytes], dict[str, tuple[list[float], float]]]:
    """The queries counted, and for each measure, given as (key, name, k, options), its values and summary."""
    lines: dict[bytes, list[tuple[bytes, float]]] = {}
    for query, doc, score in rows:
        lines.setdefault(query, []).append((doc, score))
    counted = [query for query in sorted(judgements) if missing == "zero" or query in lines]
    values: dict[str, list[float]] = {key: [] for key, _, _, _ in measures}
    for query in counted:
        docs = ranking(lines.get(query, []), ties=ties, score_type=score_type, duplicates=duplicates)[:depth]
        found = [judgements[query].get(doc, UNPOOLED) for doc in docs]
        judged = list(judgements[query].values())
        for key, name, k, options in measures:
            values[key].append(value_of(name, k, dict(options), found, judged, empty))
    return counted, {key: (values[key], summary(name, values[key])) for key, name, _, _ in measures}


def value_of(name, k, options, found, judged, empty="zero"):
    """One measure of one ranking."""
    if options.pop("judged_only", False):
        found = [grade for grade in found if grade is not None and grade >= 0]
    level = 1 if options.get("rel") is None else options["rel"]
    if empty != "zero" and name not in ALWAYS_MEANINGFUL and not count_relevant(judged, level):
        return 1.0 if empty == "one" else math.nan
    return float(MEASURES[name](found, judged, k, **options))


def summary(name: str, values: Sequence[float]) -> float:
    total, n = 0.0, 0
    for value in values:
        if not math.isnan(value):
            total += math.log(value) if name in GEOMETRIC else value
            n += 1
    if name in SUMMED:
        return total
    if not n:
        return math.nan
    return math.exp(total / n) if name in GEOMETRIC else total / n
