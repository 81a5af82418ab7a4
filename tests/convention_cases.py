"""Random queries of six kinds, on which conventions are compared with the packages that they are named after."""

from __future__ import annotations

import functools
import random

KINDS = ("plain", "tied", "partial", "negative", "missing", "empty")

Judged = dict[str, dict[str, int]]
Ranked = dict[str, dict[str, float]]


@functools.cache
def queries(
    kind: str, count: int, *, highest: int = 1, seed: int = 0, longest: int = 14, scale: float = 1.0
) -> tuple[Judged, Ranked]:
    """Judgements and a run. 'partial': not all judged documents are returned and the other way round. 'negative':
    scores of both signs and 0. 'missing': some judged queries are not in the run. 'empty': some queries have no
    relevant document, some no other. Beside these six, 'negative grades': some are -1; 'long ties': 16 to 40 documents
    with equal scores. They are made once: nobody may change them."""
    rng = random.Random(f"{kind} {highest} {seed}")
    qrels: Judged = {}
    run: Ranked = {}
    for number in range(count):
        query = f"q{number:04}"
        length = rng.randint(16, 40) if kind == "long ties" else rng.randint(2, longest)
        docs = [f"d{i:02}" for i in range(length)]
        grades = [rng.randint(0, highest) for _ in docs]
        if kind == "empty":
            grades = [rng.choice((0, highest))] * len(docs) if rng.random() < 0.5 else grades
        scores: list[float] = [float(score) for score in rng.sample(range(1, 1000), len(docs))]
        if kind == "negative grades":
            grades = [-1 if rng.random() < 0.3 else grade for grade in grades]
        if kind == "long ties":
            scores = [float(rng.randint(1, 20)) for _ in docs]
        if kind == "tied":
            scores = [float(rng.randint(1, 4)) for _ in docs]
        if kind == "negative":
            scores = [(score - 500) / 8 or 1 / 16 for score in scores]  # 0 is for one of them: equal scores are 'tied'
            scores[rng.randrange(len(scores))] = 0.0
        judged = dict(zip(docs, grades, strict=True))
        returned = {doc: score * scale for doc, score in zip(docs, scores, strict=True)}
        if kind == "partial":
            judged = {doc: grade for doc, grade in judged.items() if rng.random() < 0.7} or {docs[0]: 1}
            returned = {doc: score for doc, score in returned.items() if rng.random() < 0.7} or {docs[0]: 1.0}
        order = list(returned)
        rng.shuffle(order)
        qrels[query] = judged
        if kind != "missing" or rng.random() < 0.8:
            run[query] = {doc: returned[doc] for doc in order}
    return qrels, run


def arrays(judged: dict[str, int], returned: dict[str, float]) -> tuple[list[int], list[float]]:
    """Grades and scores of the returned documents: all that tools on arrays see."""
    return [judged.get(doc, 0) for doc in returned], list(returned.values())
