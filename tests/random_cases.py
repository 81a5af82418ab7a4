"""Random runs and judgements, of all kinds of ids and scores, that engines and the oracle are compared on."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from goldrank.measures import parse

MEASURES = [
    "P@1", "P@5", "P(divisor=\"retrieved\")@7", "P(rel=2)@3", "P(judged_only=True)@4", "R", "R@3", "R(rel=0)@5",
    "F@5", "F(beta=0.5)@3", "Success@1", "Success(rel=3)@5", "RecallAll", "RecallAll@10",
    "RR", "RR@2", "RR(rel=2)", "RR(judged_only=True)@3", "AP", "AP@4", "AP(rel=2)", "AP(divisor=\"hits\")",
    "AP(divisor=\"hits\")@3", "AP(divisor=\"min\")@3", "AP(divisor=\"min\")", "AP(judged_only=True)", "GMAP",
    "GMAP(rel=2)", "Rprec", "Rprec(rel=2)", "IPrec@0.0", "IPrec@0.1", "IPrec@0.33", "IPrec@0.5", "IPrec@0.75",
    "IPrec@1.0", "IPrec(rel=2)@0.5", "IPrec(rounding=\"up\")@0.3", "Judged", "Judged@5", "Bpref", "Bpref(rel=2)",
    "Bpref(rel=0)", "infAP", "infAP(rel=2)", "SetP", "SetP(relative=True)", "SetR", "SetF", "SetF(beta=2)", "SetAP",
    "SetAP(rel=2)", "NumQ", "NumRet", "NumRet(judged_only=True)", "NumRel", "NumRel(rel=2)", "NumRelRet",
    "NumRelRet@5", "DCG", "DCG@3", "DCG(gain=\"exp2\")", "DCG(gain=\"binary\", rel=2)@6",
    "DCG(discount=\"log2_from_2\")@9", "DCG(negative=\"keep\")", "nDCG", "nDCG@1", "nDCG@5", "nDCG(gain=\"exp2\")@10",
    "nDCG(gain={1: 3, 2: 9, 4: 4.5})", "nDCG(gain=\"binary\")@4", "nDCG(ideal=\"retrieved\")@5",
    "nDCG(cut_ideal=False)@3", "nDCG(discount=\"log2_from_2\")@5", "nDCG(negative=\"keep\")@5",
    "nDCG(judged_only=True)@3", "RBP", "RBP@5", "RBP(p=0.5)", "RBP(p=0.8, rel=1)", "RBP(rel=2)@3", "ERR(max_grade=12)",
    "ERR(max_grade=12)@4",
]  # fmt: skip


PARSED = {name: parse(name) for name in MEASURES}


@dataclass
class Case:
    """One run, its judgements and the rules to score it by."""

    number: int
    qrels: dict[bytes, dict[bytes, int]]
    rows: list[tuple[bytes, bytes, float]]
    measures: list[str]
    rules: dict[str, object] = field(default_factory=dict)
    convention: str = "trec_eval-10"

    @property
    def is_text(self) -> bool:
        """Whether every id is UTF-8."""
        try:
            for row in self.rows:
                row[0].decode(), row[1].decode()
            for query, docs in self.qrels.items():
                query.decode(), [doc.decode() for doc in docs]
        except UnicodeDecodeError:
            return False
        return True


def numbered(i: int) -> bytes:
    return b"%d" % (i * 7 % 23)


def prefixes(i: int) -> bytes:
    return b"abcabdabeabf"[: i % 12 + 1] + b"x" * (i // 12)


def long_prefixes(i: int) -> bytes:
    """Alike in the first 8 or 16 bytes, or only in length."""
    return b"document" * (i % 3 + 1) + b"abcdefghijklmnopqrstuvwxyz0123456789"[i : i + 1]


def accented(i: int) -> bytes:
    return ["é", "z", "～", "\U00010000", "Z", "e\u0301", "ß", "日本", "a", "\xa0"][i % 10].encode() + b"1" * (i // 10)


def hashes(i: int) -> bytes:
    return [b"a#%d", b"#%d", b"msmarco_v2.1_doc_%d#4_1", b"%d##", b"%d.5"][i % 5] % i


def raw_bytes(i: int) -> bytes:
    """Bytes that are no UTF-8, between letters that sort otherwise as text than these bytes do as escapes."""
    if i % 3 == 2:
        return ("～" if i % 2 else "\U00010000").encode() + b"%d" % i
    return bytes([0x80 + i * 5 % 128, 0xFF - i % 40]) + b"a" * (i % 3)


def uuids(i: int) -> bytes:
    return b"%08x-%04x-4000-8000-%012x" % (i * 2654435761 % 2**32, i, i * i)


DOC_IDS = (numbered, prefixes, long_prefixes, accented, hashes, raw_bytes, uuids)


QUERY_IDS = (numbered, prefixes, accented, uuids, raw_bytes)


def scores(rng: random.Random, n: int) -> list[float]:
    """Scores of one ranking, in one of the shapes that have broken rankings before."""
    kind = rng.randrange(11)
    if kind == 0:
        return rng.sample([i / 8 for i in range(-n, 3 * n)], n)
    if kind == 1:
        return [rng.choice((0.5, 1.0, 1.5)) for _ in range(n)]
    if kind == 2:
        return [rng.choice((0.0, -0.0, 1e-320, -1e-320)) for _ in range(n)]
    if kind == 3:
        return [1.0 + rng.randrange(4) * 1e-9 for _ in range(n)]
    if kind == 4:
        return [rng.randrange(4) * 1e-17 + rng.choice((0, 1)) for _ in range(n)]
    if kind == 5:
        return [rng.random() * 10 ** rng.randrange(-3, 4) for _ in range(n)]
    if kind == 6:
        return [rng.choice((math.inf, -math.inf, 1.0, 1e300, -1e300, 1e39, 5e-324)) for _ in range(n)]
    if kind == 7:
        return [float(-rank) for rank in range(1, n + 1)]
    if kind == 8:
        return [16777216.0 + rng.randrange(4) for _ in range(n)]
    if kind == 9:
        return sorted((round(rng.random() * 30, 4) for _ in range(n)), reverse=True)
    return [rng.choice((-1, 1)) * rng.random() * 10.0 ** rng.randrange(-300, 300) for _ in range(n)]


def make_case(number: int) -> Case:
    rng = random.Random(number)
    doc_id, query_id = rng.choice(DOC_IDS), rng.choice(QUERY_IDS)
    docs = list(dict.fromkeys(doc_id(i) for i in range(rng.choice((1, 3, 8, 15, 30)))))
    queries = list(dict.fromkeys(query_id(i) for i in range(rng.choice((1, 2, 4, 7)))))
    lowest, highest = rng.choice(((0, 1), (1, 1), (0, 3), (-2, 3), (-1, 12), (-2, 0)))
    qrels: dict[bytes, dict[bytes, int]] = {}
    rows: list[tuple[bytes, bytes, float]] = []
    for query in queries:
        fate = rng.random()
        if fate > 0.12:
            judged = rng.sample(docs, rng.randint(1, len(docs)))
            qrels[query] = {doc: rng.randint(lowest, highest) for doc in judged}
        if not 0.12 < fate < 0.25:
            returned = rng.sample(docs, rng.randint(1, len(docs)))
            rows += [(query, doc, score) for doc, score in zip(returned, scores(rng, len(returned)), strict=True)]
    if not qrels or not rows:
        return make_case(number + 1_000_000)
    rules: dict[str, object] = {"duplicates": "first"}
    if rng.random() < 0.2:
        rows += [(query, doc, rng.choice((score, 1.0))) for query, doc, score in rng.choices(rows, k=3)]
        rules["duplicates"] = rng.choice(("first", "last", "count"))
    order = rng.random()
    if order < 0.3:
        rng.shuffle(rows)
    elif order < 0.5:
        rows.sort(key=lambda row: -row[2])
    for policy, words in {
        "ties": ("docid", "docid", "input"),
        "missing": ("zero", "zero", "skip"),
        "empty": ("zero", "zero", "skip", "one"),
        "depth": (None, None, None, 1, 3, 10),
    }.items():
        rules[policy] = rng.choice(words)
    convention = rng.choice(("trec_eval-10", "trec_eval-10", "trec_eval-9"))
    return Case(number, qrels, rows, sorted(rng.sample(MEASURES, 14)), rules, convention)


def same(ours: float, theirs: float) -> bool:
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
