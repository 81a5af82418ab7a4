"""Random measures, and data to take them on."""

from __future__ import annotations

import random
from typing import Any

from goldrank.measures import REGISTRY, Declaration, Measure, make
from goldrank.measures.options import Choice, Flag, Number, Numbers, Word

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

ALL = sorted(REGISTRY)


NAMES = [name for name in ALL if REGISTRY[name].over != "texts" and name != "Sampled"]
"""Measures of documents; those of texts, and of one positive among samples, have tests of their own."""


PLAIN = [name for name in NAMES if REGISTRY[name].over == "placements"]


def random_option(rng: random.Random, name: str, option: object) -> Any:
    """A sensible value; grades in this file go up to 4."""
    if isinstance(option, Flag):
        return rng.random() < 0.5
    if isinstance(option, Choice):
        if option.mapping and rng.random() < 0.3:
            return dict(zip((1, 2, 3, 4), sorted(rng.sample(range(1, 40), 4)), strict=True))
        return rng.choice(option.words)
    if isinstance(option, Word):
        return rng.choice(("odd", "even"))
    if isinstance(option, Numbers):
        return sorted(round(rng.uniform(option.low, option.high), 2) for _ in range(rng.randint(1, 4)))
    assert isinstance(option, Number)
    if option.optional and rng.random() < 0.3:
        return None
    if name == "rel":
        return rng.choice((1, 2, 3))
    if name in ("min_rel", "max_rel"):
        return rng.choice((0, 0.5) if name == "min_rel" else (1, 2, 4))
    if option.whole:
        return rng.randint(int(max(option.low, 4)), int(min(option.high, 9)))
    low, high = max(option.low, 0.0), min(option.high, 3.0)
    return round(rng.uniform(low + 0.05 * (high - low), high - 0.05 * (high - low)), 3)


def with_budget(declaration: Declaration, options: dict[str, Any]) -> dict[str, Any]:
    """The options with a budget of tokens where there must be one, and none of packing where there is no budget."""
    if declaration.name == "ExposureShare":
        options = {"group": "odd", **options}
    if declaration.takes_budget:
        return {"tokens": 9} | {key: value for key, value in options.items() if key != "pack" and value is not None}
    return options if options.get("tokens") is not None else {k: v for k, v in options.items() if k != "pack"}


def random_measure(rng: random.Random, declaration: Declaration, *, k: Any = None) -> Measure:
    options = {
        key: random_option(rng, key, option)
        for key, option in declaration.options.items()
        if rng.random() < 0.4 and key not in ("tokens", "pack")  # documents have no length
    }
    if declaration.cutoff == "recall":
        k = rng.choice((0.0, 0.1, 0.25, 0.5, 1.0))
    elif declaration.cutoff == "multiple":
        k = rng.choice((0.2, 0.5, 1.0, 2.0))
    elif declaration.cutoff == "none":
        k = None
    elif k is None and (declaration.cutoff == "needed" or rng.random() < 0.5):
        k = rng.choice((1, 2, 3, 5, 10, 100))
    return make(declaration.name, k, with_budget(declaration, options))


def random_data(rng: random.Random, *, unjudged: bool = True, ties: bool = True, lowest: int = -1) -> tuple[Qrels, Run]:
    qrels: Qrels = {}
    run: Run = {}
    for q in range(rng.randint(1, 5)):
        docs = [f"d{i:02}" for i in range(rng.randint(1, 15))]
        judged = rng.sample(docs, rng.randint(1, len(docs))) if unjudged else docs
        qrels[f"q{q}"] = {doc: rng.randint(lowest, 4) for doc in judged}
        returned = rng.sample(docs, rng.randint(1, len(docs))) if unjudged else docs
        scores = rng.sample(range(100), len(returned))
        run[f"q{q}"] = {doc: score // (10 if ties else 1) / 4 for doc, score in zip(returned, scores, strict=True)}
    return qrels, run
