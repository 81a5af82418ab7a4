"""Makes the cases that programs in other languages are checked with: src/goldrank/referee/conformance.json.

    python conformance/make.py

It begins with the 151 cases of first_cases.json, whose values were confirmed by trec_eval 9 and 10 among others, and
adds more until each rival is told apart by three cases of every measure that it is for. Values are by `arithmetic.py`,
in fractions and decimals; a case stays only if a program of somebody else gives the same value, or if it was worked out
by hand. goldrank's own measures have no part in it.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from arithmetic import USUAL, decimal, question, rivals, rivals_of, text, value_of
from others import opinions

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "goldrank" / "referee" / "conformance.json"
LEAST = 3
"""Cases that tell a rival apart."""
SEED = 20_261_118
FIRST_NUMBER = 100
"""Above it are the numbers of cases that this program adds."""

CLASSES = {
    "order-of-input": "unsorted-input",
    "ties-id-ascending": "ties",
    "ties-input-order": "ties",
    "scores-float32": "near-ties",
    "repeats-count": "repeated-documents",
    "no-relevant-is-one": "nothing-relevant",
    "k-off-by-one-less": "boundary-at-k",
    "k-off-by-one-more": "boundary-after-k",
    "negative-gain": "negative-grade",
    "missing-left-out": "missing-question",
    "extra-counted-as-zero": "extra-question",
    "micro-mean": "macro-mean",
    "no-relevant-left-out": "question-without-relevant",
    "level-rounded-up": "iprec-level",
}
"""The class of a case that tells a rival apart; else it is that of its measure."""

SETTINGS = [
    ("P", 3, {}), ("P", 5, {}), ("P", 2, {"rel": 2}),
    ("R", 3, {}), ("R", 5, {}), ("R", 4, {"rel": 2}),
    ("RR", None, {}), ("RR", 3, {}), ("RR", 4, {}),
    ("AP", None, {}), ("AP", 3, {}), ("AP", 5, {}),
    ("nDCG", None, {}), ("nDCG", 3, {}), ("nDCG", 5, {}), ("nDCG", 4, {"gain": "exp2"}),
    ("Success", 3, {}), ("Success", 1, {}), ("Rprec", None, {}), ("RecallAll", 3, {}), ("RecallAll", 4, {}),
    ("Judged", 4, {}), ("Judged", 3, {}), ("RBP", 10, {"p": 0.8}), ("RBP", None, {"p": 0.5}),
    ("SetP", None, {}), ("SetR", None, {}), ("SetF", None, {}), ("Bpref", None, {}),
    ("ERR", 5, {}), ("ERR", 3, {}),
    ("IPrec", None, {"recall": 0.1}), ("IPrec", None, {"recall": 0.5}), ("IPrec", None, {"recall": 0.3}),
]  # fmt: skip
COLLECTIONS = [("P", 3, {}), ("R", 3, {}), ("RR", None, {}), ("AP", None, {}), ("nDCG", 5, {}), ("GMAP", None, {})]


def spelled(name: str, k: int | None, options: dict) -> str:
    """A measure as goldrank spells it."""
    shown = {key: value for key, value in options.items() if key != "recall"}
    inner = ", ".join(f"{key}={json.dumps(value)}" for key, value in shown.items())
    text = f"{name}({inner})" if inner else name
    cut = options.get("recall", k)
    return text if cut is None else f"{text}@{cut}"


# Questions by chance, of the kind that tells a rival apart.


def a_question(draw: random.Random, rival: str, query: str = "q") -> dict:
    """A question with a few documents."""
    names = [f"d{number}" for number in draw.sample(range(10, 100), 12)]
    returned = names[: draw.randint(1, 8)]
    scores = [float(len(returned) - place) for place in range(len(returned))]
    highest = draw.choice((1, 3))
    judged = draw.sample(names, draw.randint(1, 7))
    grades = {doc: draw.choice((0, *range(1, highest + 1), *range(1, highest + 1))) for doc in judged}

    if rival.startswith("ties-"):
        scores = [float(draw.randint(1, 2)) for _ in returned]
        scores.sort(reverse=True)
    if rival == "order-of-input":
        draw.shuffle(scores)
    if rival == "scores-float32":
        scores = [1.0 + draw.randint(0, 3) * 1e-8 for _ in returned]
        scores.sort(reverse=True)
    if rival == "no-relevant-is-one":
        grades = dict.fromkeys(grades, 0)
    if rival == "negative-gain":
        grades = {doc: draw.choice((-1, 1, 2)) for doc in grades}
    rows = [{"id": doc, "score": score} for doc, score in zip(returned, scores, strict=True)]
    if rival == "repeats-count":
        rows = [row for row in rows for _ in range(draw.choice((1, 1, 2, 3)))]
        rows = [{"id": row["id"], "score": len(rows) - place + 0.0} for place, row in enumerate(rows)]
    return {"id": query, "retrieved": rows, "expected": [{"id": doc, "grade": grade} for doc, grade in grades.items()]}


def a_collection(draw: random.Random, rival: str) -> list[dict]:
    """Some questions, one of which is of the kind that tells a rival apart."""
    records = [a_question(draw, "", f"q{number}") for number in range(1, draw.randint(3, 5))]
    if rival == "missing-left-out":
        records[-1]["retrieved"] = []
    if rival == "extra-counted-as-zero":
        records[-1]["expected"] = []
    if rival in ("no-relevant-left-out", "no-relevant-is-one"):
        for row in records[-1]["expected"]:
            row["grade"] = 0
    return records


WHY = {
    "question": "{measure} tells {rival} apart",
    "collection": "the mean of {measure} tells {rival} apart",
}


def candidate(draw: random.Random, setting: tuple, rival: str, level: str) -> dict:
    """A case that may tell a rival apart."""
    name, k, options = setting
    measure = spelled(name, k, options)
    records = [a_question(draw, rival)] if level == "question" else a_collection(draw, rival)
    if name == "RBP":  # by grades it is another measure
        for row in records[0]["expected"]:
            row["grade"] = min(row["grade"], 1)
    return {
        "id": "",
        "class": CLASSES.get(rival, f"{name.lower()}-more"),
        "level": level,
        "why": WHY[level].format(measure=measure, rival=rival),
        "measure": measure,
        "name": name,
        "k": k,
        "options": options,
        "policy": {"duplicates": "first"} if rival == "repeats-count" else {},
        "records": records,
    }


def finished(case: dict, by_hand: bool = False, rival: str = "") -> dict | None:
    """The case with its value, rivals and who confirms it; None if nobody does, or if it does not tell the rival."""
    others = rivals(case)
    if rival and rival not in others:
        return None
    name, k, options = case["name"], case["k"], case["options"]
    judged = [record for record in case["records"] if record["expected"]]
    values = {record["id"]: question(name, k, options, record) for record in judged}
    agree, differ = opinions(case, {query: float(decimal(value)) for query, value in values.items()})
    if name == "RecallAll":  # it is 1 where recall is
        agree, differ = opinions(
            {**case, "name": "R"}, {r["id"]: float(decimal(question("R", k, options, r))) for r in judged}
        )
        agree = [f"{program}: recall_k = 1" for program in agree]
    if by_hand:
        agree.append("worked out by hand")
    if not agree:
        return None

    arithmetic = "own arithmetic: fractions" if name not in ("nDCG", "GMAP") else "own arithmetic: 60 digits"
    case = {
        **case,
        "value": text(value_of(case)),
        "tolerance": "1e-9",
        "confirmed_by": [arithmetic, *agree],
        "rivals": others,
    }
    if differ:
        case["differs"] = differ
    if case["level"] == "collection":
        case["confirmed_by"] = [arithmetic, *(f"{program}: mean over questions" for program in agree)]
        if name == "GMAP":
            case["confirmed_by"] = [arithmetic, *(f"{program}: AP of each question" for program in agree)]
        case["confirmed_per_question_by"] = agree
        case["per_question"] = {query: text(value) for query, value in values.items()}
    return case


def told_apart(cases: list[dict]) -> Counter:
    """How many cases of each measure tell each rival apart."""
    return Counter((case["name"], rival) for case in cases for rival in case["rivals"])


def possible(name: str, k: int | None) -> list[str]:
    """The rivals that a measure of one question can be told apart from."""
    return list(rivals_of(name, k))


def wanted_pairs(cases: list[dict]) -> list[tuple[str, str]]:
    """All pairs of a measure and a rival of questions."""
    pairs = {(name, rival) for name, k, _ in SETTINGS for rival in possible(name, k)}
    return sorted(pairs | {pair for pair in told_apart(cases) if pair[0] != "GMAP"})


def more_questions(cases: list[dict], draw: random.Random) -> None:
    """Add cases until each rival is told apart often enough."""
    for name, rival in wanted_pairs(cases):
        settings = [setting for setting in SETTINGS if setting[0] == name and rival in possible(name, setting[1])]
        if not settings:
            continue
        for attempt in range(400):
            if told_apart(cases)[name, rival] >= LEAST:
                break
            setting = settings[attempt % len(settings)]
            made = finished(candidate(draw, setting, rival, "question"), rival=rival)
            if made is not None:
                cases.append(made)


def more_collections(cases: list[dict], draw: random.Random) -> None:
    """The same for means over questions."""
    for setting in COLLECTIONS:
        kinds = ["missing-left-out", "extra-counted-as-zero", "no-relevant-left-out", "no-relevant-is-one"]
        kinds += {"R": ["micro-mean"], "GMAP": ["arithmetic-mean", "zeros-left-out"]}.get(setting[0], [])
        if setting[0] == "GMAP":
            kinds += [rival for rival in possible("AP", None) if rival in ("unjudged-removed",)]
        for rival in kinds:
            for _ in range(200):
                if told_apart(cases)[setting[0], rival] >= LEAST:
                    break
                made = finished(candidate(draw, setting, rival, "collection"), rival=rival)
                if made is not None:
                    cases.append(made)


def single(name: str, k: int | None, options: dict, docs: str, judged: dict[str, int], **words: str) -> dict:
    """A case that was thought up: documents with a blank between them, best first."""
    names = docs.split()
    rows = [{"id": doc, "score": float(len(names) - place)} for place, doc in enumerate(names)]
    expected = [{"id": doc, "grade": grade} for doc, grade in judged.items()]
    return {
        "id": "", "class": words["kind"], "level": "question", "why": words["why"],
        "measure": spelled(name, k, options), "name": name, "k": k, "options": options, "policy": {},
        "records": [{"id": "q", "retrieved": rows, "expected": expected}],
    }  # fmt: skip


def by_hand() -> list[dict]:
    """Cases that programs here give another value for, worked out by hand as `why` says."""
    three = dict.fromkeys("abc", 1)
    cases = [
        single("IPrec", None, {"recall": 0.3}, "a x b y c", {**three, "d": 1}, kind="iprec-level",
               why="0.3 of 4 is 1.2: one document is enough (trec_eval 10), precision 1/1; trec_eval 9 wants two: 2/3"),
        single("IPrec", None, {"recall": 0.6}, "a x y b", {"a": 1, "b": 1}, kind="iprec-level",
               why="0.6 of 2 is 1.2: one document is enough (trec_eval 10), precision 1/1; trec_eval 9 wants two: 2/4"),
        single("IPrec", None, {"recall": 0.7}, "a b x y z c", three, kind="iprec-level",
               why="0.7 of 3 is 2.1: two documents are enough (trec_eval 10), precision 2/2; trec_eval 9 wants three"),
    ]  # fmt: skip
    return [made for case in cases if (made := finished(case, by_hand=True)) is not None]


def extremes() -> list[dict]:
    """Scores at the ends of what a double can hold."""
    largest, smallest = 1.7976931348623157e308, 5e-324
    made = []
    for name, k in (("RR", None), ("AP", None), ("nDCG", 3), ("P", 2)):
        case = single(name, k, {}, "a b c d e", {"b": 1, "d": 2, "a": 0}, kind="extreme-scores",
                      why="the largest and smallest doubles are in order, and 0 is below the smallest")  # fmt: skip
        scores = [largest, largest / 2, smallest, 0.0, -largest]
        order = ("d", "b", "c", "a", "e")
        case["records"][0]["retrieved"] = [
            {"id": doc, "score": score} for doc, score in zip(order, scores, strict=True)
        ][::-1]
        finished_case = finished(case)
        if finished_case is not None:
            made.append(finished_case)
    return made


def numbered(cases: list[dict]) -> list[dict]:
    """Cases with ids: their class, and a number; those of the first ones stay as they are."""
    taken: Counter = Counter()
    for case in cases:
        if not case["id"]:
            taken[case["class"]] += 1
            case["id"] = f"{case['class']}-{FIRST_NUMBER + taken[case['class']]}"
    return cases


def main() -> None:
    """Write the file."""
    draw = random.Random(SEED)  # noqa: S311
    first = json.loads((HERE / "first_cases.json").read_text(encoding="utf-8"))
    cases = first.pop("cases")
    for case in cases:
        assert abs(decimal(value_of(case, USUAL)) - decimal_of(case["value"])) < decimal_of("1e-12"), case["id"]
        case["rivals"] = {**rivals(case), **case["rivals"]}
    cases += by_hand() + extremes()
    more_questions(cases, draw)
    more_collections(cases, draw)
    rare = {pair for pair, count in told_apart(cases).items() if count < LEAST}
    for case in cases:
        case["rivals"] = {rival: value for rival, value in case["rivals"].items() if (case["name"], rival) not in rare}
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in numbered(cases))
    TARGET.write_text(
        json.dumps(first, ensure_ascii=False)[:-1] + ', "cases": [\n' + lines + "\n]}\n", encoding="utf-8"
    )
    print(  # noqa: T201
        f"{len(cases)} cases, {len({case['class'] for case in cases})} classes, {len(told_apart(cases))} pairs"
    )
    print("left out, told apart by fewer than three cases:", sorted(rare))  # noqa: T201


def decimal_of(number: str):
    """Decimal text as a decimal."""
    from decimal import Decimal

    return Decimal(number)


if __name__ == "__main__":
    main()
