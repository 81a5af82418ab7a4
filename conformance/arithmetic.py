"""Measures in exact arithmetic, and the conventions that other programs have in their place ("rivals").

Nothing here is goldrank's: values are fractions, or decimals of 60 digits where there are logarithms. Each function can
be read beside the definition that it is of.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60

Number = Fraction | Decimal
ERR_MAX_GRADE = 4


@dataclass(frozen=True)
class Rule:
    """One way to count. All fields as they are: the rules of trec_eval 10."""

    order: str = "docid"
    """How documents are sorted: docid, docid-ascending, input-ties, float32, or none (the order of the input)."""
    unjudged: str = "kept"
    repeats: str = "first"
    shift: int = 0
    """What is added to the cut-off."""
    ignores_k: bool = False
    none_relevant: int = 0
    """The value of a question without relevant documents."""
    special: str = ""
    """What the measure itself does otherwise."""


USUAL = Rule()

GENERAL = {
    "order-of-input": replace(USUAL, order="none"),
    "ties-id-ascending": replace(USUAL, order="docid-ascending"),
    "ties-input-order": replace(USUAL, order="input-ties"),
    "scores-float32": replace(USUAL, order="float32"),
    "unjudged-removed": replace(USUAL, unjudged="removed"),
    "repeats-count": replace(USUAL, repeats="count"),
    "no-relevant-is-one": replace(USUAL, none_relevant=1),
}
CUT = {
    "k-off-by-one-less": replace(USUAL, shift=-1),
    "k-off-by-one-more": replace(USUAL, shift=1),
    "k-ignored": replace(USUAL, ignores_k=True),
}
SPECIAL = {
    "P": ("divides-by-relevant", "divides-by-returned"),
    "R": ("hit-not-recall", "divides-by-k", "divides-by-min-k-relevant"),
    "RR": ("rank-from-two", "rank-from-zero", "last-hit"),
    "AP": ("divides-by-hits", "divides-by-k", "divides-by-min-k-relevant"),
    "nDCG": (
        "discount-1-over-rank", "discount-log2-rank", "gain-binary", "gain-exp2", "gain-linear", "ideal-not-cut",
        "ideal-of-retrieved", "ideal-of-whole-run", "negative-gain",
    ),
    "ERR": ("max-grade-of-question", "gain-linear", "stops-with-certainty"),
    "RBP": ("without-1-minus-p", "first-weight-p"),
    "Bpref": ("unjudged-count-against", "divides-by-nonrelevant"),
    "IPrec": ("level-rounded-up", "not-interpolated"),
    "SetF": ("arithmetic-mean",),
    "Rprec": ("divides-by-returned",),
    "GMAP": ("arithmetic-mean", "zeros-left-out"),
}  # fmt: skip
"""What measures themselves do otherwise in other programs."""
COLLECTION = ("missing-left-out", "extra-counted-as-zero", "micro-mean", "no-relevant-left-out")
IGNORING_K = ("AP", "RR", "nDCG", "ERR")
WITHOUT_GENERAL = {
    "IPrec": ("repeats-count",),
    "Judged": ("no-relevant-is-one", "repeats-count"),
    "Bpref": ("repeats-count", "unjudged-removed"),
}
"""Rivals that make no sense for a measure, or change nothing."""


def rivals_of(name: str, k: int | None) -> dict[str, Rule]:
    """The rivals of one measure."""
    rules = {key: rule for key, rule in GENERAL.items() if key not in WITHOUT_GENERAL.get(name, ())}
    if k is not None:
        rules |= {key: rule for key, rule in CUT.items() if key != "k-ignored" or name in IGNORING_K}
    return rules | {key: replace(USUAL, special=key) for key in SPECIAL.get(name, ())}


def single(score: float) -> float:
    """A score in single precision; one that is too large is infinite."""
    if abs(score) > 3.4028235e38:
        return math.copysign(math.inf, score)
    return struct.unpack("<f", struct.pack("<f", score))[0]


def ranking(record: dict, rule: Rule, judged: dict[str, int]) -> list[str]:
    """The documents in the order in which they count."""
    rows = [(row["id"], float(row.get("score", 0))) for row in record["retrieved"]]
    if rule.order == "float32":
        rows = [(doc, single(score)) for doc, score in rows]
    if rule.order in ("docid", "float32"):
        rows.sort(key=lambda row: (row[1], row[0].encode()), reverse=True)
    elif rule.order == "docid-ascending":
        rows.sort(key=lambda row: row[0].encode())
        rows.sort(key=lambda row: -row[1])
    elif rule.order == "input-ties":
        rows.sort(key=lambda row: -row[1])

    docs = [doc for doc, _ in rows]
    if rule.repeats == "first":
        docs = list(dict.fromkeys(docs))
    if rule.unjudged == "removed":
        docs = [doc for doc in docs if doc in judged]
    return docs


def question(name: str, k: int | None, options: dict, record: dict, rule: Rule = USUAL) -> Number:
    """The value of one question."""
    judged = {row["id"]: row.get("grade", 1) for row in record["expected"]}
    docs = ranking(record, rule, judged)
    level = options.get("rel", 1)
    relevant = sum(grade >= level for grade in judged.values())
    if relevant == 0 and rule.none_relevant and name != "Judged":
        return Fraction(1)

    cut = k
    if k is not None:
        cut = k + rule.shift
        if cut < 1:
            raise ZeroDivisionError
    if rule.ignores_k:
        cut = None
    head = docs if cut is None else docs[:cut]
    hits = [judged.get(doc, 0) >= level for doc in head]
    return MEASURES[name](Seen(docs, head, hits, judged, relevant, cut, options, rule))


@dataclass(frozen=True)
class Seen:
    """What a measure sees of a question."""

    docs: list[str]
    head: list[str]
    hits: list[bool]
    judged: dict[str, int]
    relevant: int
    k: int | None
    options: dict
    rule: Rule


def share(part: int, whole: int) -> Fraction:
    """A share, which is 0 of nothing."""
    return Fraction(part, whole) if whole else Fraction(0)


def precision(s: Seen) -> Number:
    """P@k: hits among the first k, over k however many came back."""
    whole = s.k
    if s.rule.special == "divides-by-relevant":
        whole = s.relevant
    if s.rule.special == "divides-by-returned":
        whole = len(s.head)
    return share(sum(s.hits), whole)


def recall(s: Seen) -> Number:
    """R@k: hits among the first k, over all relevant documents."""
    whole = s.relevant
    if s.rule.special == "hit-not-recall":
        return Fraction(int(any(s.hits)))
    if s.rule.special == "divides-by-k":
        whole = s.k
    if s.rule.special == "divides-by-min-k-relevant":
        whole = min(s.k, s.relevant)
    return share(sum(s.hits), whole)


def reciprocal_rank(s: Seen) -> Number:
    """RR: one over the rank of the first hit, counted from 1."""
    ranks = [rank for rank, hit in enumerate(s.hits, 1) if hit]
    if not ranks:
        return Fraction(0)
    shift = {"rank-from-two": 1, "rank-from-zero": -1}.get(s.rule.special, 0)
    chosen = ranks[-1] if s.rule.special == "last-hit" else ranks[0]
    return Fraction(1, chosen + shift)


def average_precision(s: Seen) -> Number:
    """AP: the precision at each hit, summed, over all relevant documents."""
    total, found = Fraction(0), 0
    for rank, hit in enumerate(s.hits, 1):
        if hit:
            found += 1
            total += Fraction(found, rank)
    whole = s.relevant
    if s.rule.special == "divides-by-hits":
        whole = found
    if s.rule.special in ("divides-by-k", "divides-by-min-k-relevant"):
        if s.k is None:
            raise LookupError
        whole = s.k if s.rule.special == "divides-by-k" else min(s.k, s.relevant)
    return total / whole if whole else Fraction(0)


def log2(number: int) -> Decimal:
    """The logarithm to base 2."""
    return Decimal(number).ln() / Decimal(2).ln()


def ndcg(s: Seen) -> Number:
    """nDCG: gains over log2(rank + 1), over what the best order of all judged documents would give."""
    special = s.rule.special
    gain_name = s.options.get("gain", "linear")
    if special.startswith("gain-"):
        gain_name = special.removeprefix("gain-")

    def gain(grade: int) -> int:
        if grade < 0 and special == "negative-gain":
            return grade
        grade = max(grade, 0)
        return {"linear": grade, "exp2": 2**grade - 1, "binary": int(grade > 0)}[gain_name]

    def discount(rank: int) -> Decimal:
        if special == "discount-1-over-rank":
            return Decimal(rank)
        if special == "discount-log2-rank":
            return log2(rank) if rank > 1 else Decimal(1)
        return log2(rank + 1)

    def dcg(grades: list[int]) -> Decimal:
        return sum((gain(grade) / discount(rank) for rank, grade in enumerate(grades, 1)), Decimal(0))

    pool = list(s.judged.values())
    if special == "ideal-of-retrieved":
        pool = [s.judged.get(doc, 0) for doc in s.head]
    if special == "ideal-of-whole-run":
        pool = [s.judged.get(doc, 0) for doc in s.docs]
    pool = sorted((grade for grade in pool if grade > 0), reverse=True)
    if s.k is not None and special != "ideal-not-cut":
        pool = pool[: s.k]
    ideal = dcg(pool)
    return dcg([s.judged.get(doc, 0) for doc in s.head]) / ideal if ideal else Fraction(0)


def err(s: Seen) -> Number:
    """ERR: the chance to stop at each rank over the rank; R = (2^grade - 1) / 2^4."""
    highest = ERR_MAX_GRADE
    if s.rule.special == "max-grade-of-question":
        highest = max([1, *s.judged.values()])
    total, goes_on = Fraction(0), Fraction(1)
    for rank, doc in enumerate(s.head, 1):
        grade = max(s.judged.get(doc, 0), 0)
        stops = Fraction(2**grade - 1, 2**highest)
        if s.rule.special == "gain-linear":
            stops = Fraction(grade, highest)
        if s.rule.special == "stops-with-certainty":
            stops = Fraction(int(grade > 0))
        total += goes_on * stops / rank
        goes_on *= 1 - stops
    return total


def rbp(s: Seen) -> Number:
    """RBP: (1 - p) times the sum of p^(rank - 1) over hits."""
    p = Fraction(str(s.options["p"]))
    total = sum((p ** (rank - 1) for rank, hit in enumerate(s.hits, 1) if hit), Fraction(0))
    if s.rule.special == "without-1-minus-p":
        return total
    if s.rule.special == "first-weight-p":
        return (1 - p) * p * total
    return (1 - p) * total


def bpref(s: Seen) -> Number:
    """Bpref: for each hit, 1 less the share of judged bad documents above it (of min(relevant, bad), at most that)."""
    bad = sum(grade == 0 for grade in s.judged.values())
    above, total = 0, Fraction(0)
    for doc in s.docs:
        grade = s.judged.get(doc)
        if grade is not None and grade >= s.options.get("rel", 1):
            limit = min(s.relevant, bad)
            if s.rule.special == "divides-by-nonrelevant":
                limit = bad
            total += 1 - (Fraction(min(above, s.relevant), limit) if above and limit else 0)
        elif grade == 0 or (grade is None and s.rule.special == "unjudged-count-against"):
            above += 1
    return total / s.relevant if s.relevant else Fraction(0)


def interpolated_precision(s: Seen) -> Number:
    """IPrec: the highest precision at any rank from which recall is at least the level."""
    level = Fraction(str(s.options["recall"]))
    wanted = int(level * s.relevant + Fraction(1, 2))
    if s.rule.special == "level-rounded-up":  # trec_eval 9
        wanted = int(level * s.relevant + Fraction(9, 10))
    found, best, first = 0, Fraction(0), None
    for rank, hit in enumerate(s.hits, 1):
        found += hit
        if hit and found >= max(wanted, 1):
            best = max(best, Fraction(found, rank))
            first = first or Fraction(found, rank)
    if s.rule.special == "not-interpolated":
        return first or Fraction(0)
    return best


def r_precision(s: Seen) -> Number:
    """Rprec: precision at the rank of the number of relevant documents."""
    whole = s.relevant
    found = sum(s.hits[:whole])
    if s.rule.special == "divides-by-returned":
        whole = min(whole, len(s.docs))
    return share(found, whole)


def set_f(s: Seen) -> Number:
    """SetF: the harmonic mean of precision and recall of all that came back."""
    p, r = share(sum(s.hits), len(s.docs)), share(sum(s.hits), s.relevant)
    if s.rule.special == "arithmetic-mean":
        return (p + r) / 2
    return 2 * p * r / (p + r) if p + r else Fraction(0)


MEASURES = {
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "GMAP": average_precision,
    "nDCG": ndcg,
    "ERR": err,
    "RBP": rbp,
    "Bpref": bpref,
    "IPrec": interpolated_precision,
    "Rprec": r_precision,
    "SetP": lambda s: share(sum(s.hits), len(s.docs)),
    "SetR": lambda s: share(sum(s.hits), s.relevant),
    "SetF": set_f,
    "Success": lambda s: Fraction(int(any(s.hits))),
    "Judged": lambda s: share(sum(doc in s.judged for doc in s.head), s.k),
    "RecallAll": lambda s: Fraction(int(s.relevant > 0 and sum(s.hits) == s.relevant)),
}


# Collections.


def averaged(name: str, values: list[Number], special: str = "") -> Number:
    """The summary over questions: the mean; of GMAP the geometric mean of AP, of at least 0.00001 each."""
    exact = [value if isinstance(value, Decimal) else Decimal(value.numerator) / value.denominator for value in values]
    if name == "GMAP" and special != "arithmetic-mean":
        if special == "zeros-left-out":
            exact = [value for value in exact if value]
        floor = [max(value, Decimal("0.00001")) for value in exact]
        return (sum((value.ln() for value in floor), Decimal(0)) / len(floor)).exp() if floor else Fraction(0)
    return sum(exact, Decimal(0)) / len(exact) if exact else Fraction(0)


def value_of(case: dict, rule: Rule = USUAL, collection: str = "") -> Number:
    """The value of a case by some rule; `collection` names what is done otherwise with questions."""
    name, k, options = case["name"], case["k"], case["options"]
    if case["level"] == "question":
        return question(name, k, options, case["records"][0], rule)

    records = case["records"]
    judged = [record for record in records if record["expected"]]
    if collection == "extra-counted-as-zero":
        judged = records
    if collection == "missing-left-out":
        judged = [record for record in judged if record["retrieved"]]
    if collection == "no-relevant-left-out":
        judged = [record for record in judged if any(row.get("grade", 1) > 0 for row in record["expected"])]
    if collection == "micro-mean":
        found = relevant = 0
        for record in judged:
            of_question = sum(row.get("grade", 1) > 0 for row in record["expected"])
            found += question("R", k, options, record) * of_question
            relevant += of_question
        return Fraction(found, relevant) if relevant else Fraction(0)
    return averaged(name, [question(name, k, options, record, rule) for record in judged], rule.special)


def rivals(case: dict) -> dict[str, str]:
    """What each rival would give for a case, where that is not the right value."""
    right = value_of(case)
    table: dict[str, str] = {}
    for key, rule in rivals_of(case["name"], case["k"]).items():
        try:
            other = value_of(case, rule)
        except LookupError:
            continue
        except ZeroDivisionError:
            table[key] = "inf" if key == "rank-from-zero" else "nan"
            continue
        if differs(other, right):
            table[key] = text(other, 12)
    if case["level"] == "collection":
        for key in COLLECTION:
            if key == "micro-mean" and case["name"] != "R":
                continue
            other = value_of(case, collection=key)
            if differs(other, right):
                table[key] = text(other, 12)
    return {key: number for key, number in table.items() if number != "nan"}


def decimal(value: Number) -> Decimal:
    """A number as a decimal."""
    return value if isinstance(value, Decimal) else Decimal(value.numerator) / value.denominator


def differs(first: Number, second: Number) -> bool:
    """Whether two numbers differ by more than a program may err."""
    return abs(decimal(first) - decimal(second)) > Decimal("1e-8")


def text(value: Number, digits: int = 15) -> str:
    """A number as decimal text."""
    rounded = +decimal(value).normalize()
    if rounded == 0:
        return "0"
    plain = format(round(rounded, digits - 1 - rounded.adjusted()), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
