"""What must hold for every measure, derived from its declaration: a new measure is tested by being declared."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lanes import many
from random_measures import ALL, NAMES, PLAIN, random_data, random_measure, random_option, with_budget

from goldrank import AspectQrels, Catalogue, Preferences, evaluate
from goldrank.data.spans import Spans
from goldrank.data.text_item import EvidencePlaces, Span, TextItem
from goldrank.measures import REGISTRY, Measure, make, parse
from goldrank.measures.options import COMMON, MAX_CUTOFF, Choice, Number

EXAMPLES = many(40, 6)
"""Random rankings for each measure and each property."""

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

OUT_OF_BOUNDS = {
    ("nDCG", "negative", "keep"): "a negative gain at the top can bring the sum below 0",
    ("DCG", "negative", "keep"): "the same",
}
NOT_MONOTONE = {
    ("AP", "divisor", "hits"): "a document that moves into the first k raises the divisor too",
}
"""Options with which a measure does not keep what its declaration says of it, and why."""


def keeps(measure: Measure, exceptions: dict[tuple[str, str, Any], str]) -> bool:
    return not any((measure.name, key, value) in exceptions for key, value in measure.options)


# Random measures.


# Random rankings.


def values(qrels: Qrels, run: Any, measure: Measure, **rules: Any) -> dict[str, float]:
    if measure.declaration.over == "spans":
        return span_values(qrels, run, measure, **rules)
    known = background(run) if measure.declaration.over == "recommended" else {}
    scores = evaluate(judgements(qrels, measure), run, measure, overlap="allow", **known, **rules)
    found = {**scores.per_query[str(measure)], "over all": scores[measure]}
    return {key: value for key, value in found.items() if not math.isnan(value)}


def background(run: Run) -> dict[str, Any]:
    """The same catalogue and training data for all rankings of the same names."""
    tail = next(doc.partition("/")[2] for docs in run.values() for doc in docs)
    items = [f"{name}/{tail}" if tail else name for name in (*(f"d{i:02}" for i in range(15)), "new0", "new1", "new2",
                                                             "new3", "new4")]  # fmt: skip
    groups = {item: "even" if i % 2 else "odd" for i, item in enumerate(items)}
    vectors = {item: (1.0, i % 3, i % 5 - 2) for i, item in enumerate(items)}
    users = list(run) + [f"other{i}" for i in range(4)]
    train = {user: items[int(user[-1]) % 3 : 9 : 1 + int(user[-1]) % 4] for user in users}
    against = dict.fromkeys(run, items[4:9])
    known = Catalogue(items, train=train, seen="keep", vectors=vectors, groups=groups, genres=groups, against=against)
    return {"catalogue": known}


def judgements(qrels: Qrels, measure: Measure) -> Any:
    """The same judgements in the shape that the measure takes."""
    if measure.declaration.over == "aspects":
        return AspectQrels(
            {q: {"all": docs, "odd": {doc: g for doc, g in docs.items() if g % 2}} for q, docs in qrels.items()}
        )
    if measure.declaration.over == "preferences":
        return Preferences({q: {"judge": [{d: max(g, 0) for d, g in docs.items()}]} for q, docs in qrels.items()})
    return qrels


def span_values(qrels: Qrels, run: Any, measure: Measure, depth: int | None = None) -> dict[str, float]:
    """As if each document were a source of ten characters; its grade says how many of them are evidence."""
    items = []
    for query in sorted(qrels):
        docs = ordered(run, query)
        evidence = [EvidencePlaces(((Span(doc, 0, 2 * grade),),)) for doc, grade in qrels[query].items() if grade > 0]
        items.append(TextItem(query, docs, spans=[Span(doc, 0, 10) for doc in docs], evidence=evidence))
    chunks = {Span(doc, 0, 10) for docs in qrels.values() for doc in docs}
    table = Spans.of(items, chunks=sorted(chunks))
    found = measure(table if depth is None else table.cut(depth))
    return {**dict(zip(table.queries, found.tolist(), strict=True)), "over all": float(found.mean())}


def examples(name: str, count: int = EXAMPLES, **data: Any) -> Iterator[tuple[random.Random, Measure, Qrels, Run]]:
    rng = random.Random(name)
    for _ in range(count):
        yield rng, random_measure(rng, REGISTRY[name]), *random_data(rng, **data)


def shuffled(rng: random.Random, mapping: dict[str, Any]) -> dict[str, Any]:
    keys = list(mapping)
    rng.shuffle(keys)
    return {key: mapping[key] for key in keys}


def ordered(run: Run, query: str) -> list[str]:
    return sorted(run[query], key=lambda doc: (run[query][doc], doc), reverse=True)


# What a declaration says.


@pytest.mark.parametrize("name", ALL)
def test_is_documented(name):
    declaration = REGISTRY[name]
    assert re.search(r">>> .*\bevaluate(_texts)?\(", declaration.doc), "no example"
    assert len(declaration.summary.split()) >= 4
    for text in (declaration.formula, declaration.use, declaration.avoid):
        assert len(text.split()) >= 2
    assert any(letter.isdigit() for letter in declaration.cite), "a citation has a year or a version"
    assert declaration.cutoff in ("none", "optional", "needed", "recall", "multiple")
    assert declaration.over in ("placements", "aspects", "preferences", "heads", "texts", "spans", "recommended")
    assert declaration.average in ("mean", "sum", "geometric")
    assert declaration.low < declaration.high
    for key in declaration.defaults.keys() - {*COMMON, "rel"}:
        assert f"`{key}" in declaration.doc or key in declaration.formula, f"nothing is said of {key}"


@pytest.mark.parametrize("name", NAMES)
def test_values_are_within_bounds(name):
    declaration = REGISTRY[name]
    seen = 0
    for _, measure, qrels, run in examples(name):
        if not keeps(measure, OUT_OF_BOUNDS):
            continue
        for value in list(values(qrels, run, measure).values())[:-1]:
            assert declaration.low - 1e-12 <= value <= declaration.high + 1e-12
            seen += 1
    assert seen > EXAMPLES / 2


@pytest.mark.parametrize("name", ALL)
def test_spelling_comes_back(name):
    """With any option and any cut-off that is allowed, not only with sensible ones."""
    declaration = REGISTRY[name]
    rng = random.Random(name)
    for _ in range(EXAMPLES):
        options = {}
        for key, option in declaration.options.items():
            if rng.random() < 0.5:
                options[key] = random_option(rng, key, option)
                if isinstance(option, Number) and not option.whole and options[key] is not None:
                    low, high = max(option.low, -1e9), min(option.high, 1e9)
                    high = math.nextafter(high, low) if option.below else high
                    options[key] = rng.choice((low, high, rng.uniform(low, high), low + rng.random() * 1e-9))
                if isinstance(option, Choice) and option.mapping and rng.random() < 0.5:
                    options[key] = {rng.randint(-9, 9): rng.choice((rng.random(), -rng.random() * 1e30, 3))}
        k = random_measure(rng, declaration).k
        if declaration.cutoff in ("recall", "multiple"):
            k = rng.choice((k, rng.random(), rng.random() * 1e-9))
        elif k is not None:
            k = rng.choice((k, rng.randint(1, MAX_CUTOFF), MAX_CUTOFF, np.int64(7)))
        measure = make(name, k, with_budget(declaration, options))
        assert parse(str(measure)) == measure
        assert hash(parse(str(measure))) == hash(measure)
        assert str(parse(str(measure))) == str(measure)


@pytest.mark.parametrize("name", ALL)
def test_aliases_mean_it(name):
    for alias in REGISTRY[name].aliases:
        cut = {"none": "", "recall": "@0.5", "multiple": "@0.5"}.get(REGISTRY[name].cutoff, "@5")
        cut = f"(tokens=9){cut}" if REGISTRY[name].takes_budget else cut
        spelled = f"{alias}{cut}" if alias.isidentifier() else f"{alias}{cut}".replace("@", "_")
        assert parse(spelled).name == name
        assert parse(spelled.replace(alias, alias.swapcase())).name == name


# What must not matter.


@pytest.mark.parametrize("name", NAMES)
def test_order_of_lines_and_queries(name):
    for rng, measure, qrels, run in examples(name):
        other = shuffled(rng, {query: shuffled(rng, docs) for query, docs in run.items()})
        judged = shuffled(rng, {query: shuffled(rng, docs) for query, docs in qrels.items()})
        assert values(judged, other, measure) == values(qrels, run, measure)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_documents_and_queries(name):
    """Ids may change as long as their order stays."""
    for _, measure, qrels, run in examples(name):

        def renamed(table: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
            return {f"topic {q}": {f"{d}/\N{SNOWMAN}": v for d, v in docs.items()} for q, docs in table.items()}

        theirs = values(renamed(qrels), renamed(run), measure)
        assert list(theirs.values()) == list(values(qrels, run, measure).values())


@pytest.mark.parametrize("name", NAMES)
def test_scale_of_scores(name):
    """Scores may change as long as their order and their ties stay."""
    for _, measure, qrels, run in examples(name):
        other = {query: {doc: math.atan(score) * 3 - 7 for doc, score in docs.items()} for query, docs in run.items()}
        assert values(qrels, other, measure) == values(qrels, run, measure)


@pytest.mark.parametrize("name", [name for name in NAMES if REGISTRY[name].cutoff in ("optional", "needed")])
def test_documents_after_k(name):
    """What comes after rank k, where there are so many, may be shuffled and followed by anything unjudged."""
    changed = 0
    for rng, measure, qrels, run in examples(name):
        k = min(map(len, run.values()))
        measure = make(name, rng.randint(1, k), {**dict(measure.options), "judged_only": False})
        other = {}
        for query in run:
            docs = ordered(run, query)
            tail = docs[measure.k :]
            rng.shuffle(tail)
            docs = docs[: measure.k] + tail + [f"new{i}" for i in range(rng.randint(0, 5))]
            changed += docs != ordered(run, query)
            other[query] = {doc: -float(rank) for rank, doc in enumerate(docs)}
        assert values(qrels, other, measure) == values(qrels, run, measure)
    assert changed > EXAMPLES / 2


@pytest.mark.parametrize("name", PLAIN)
def test_judged_only(name):
    """The option does what leaving out unjudged documents does."""
    for _, measure, qrels, run in examples(name):
        options = {key: value for key, value in measure.options.items() if key != "judged_only"}
        judged = {
            query: {doc: score for doc, score in docs.items() if qrels[query].get(doc, -1) >= 0}
            for query, docs in run.items()
        }
        ours = values(qrels, run, make(name, measure.k, {**options, "judged_only": True}))
        assert list(ours.values()) == list(values(qrels, judged, make(name, measure.k, options)).values())


@pytest.mark.parametrize("name", NAMES)
def test_depth(name):
    """`depth` does what cutting the rankings does."""
    for rng, measure, qrels, run in examples(name):
        depth = rng.randint(1, 8)
        cut = {query: {doc: run[query][doc] for doc in ordered(run, query)[:depth]} for query in run}
        assert values(qrels, run, measure, depth=depth) == values(qrels, cut, measure)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if REGISTRY[name].over != "heads" and not REGISTRY[name].of_all_queries]
)
def test_shards(name):
    """Parts of the queries, evaluated apart and joined, are the whole."""
    for rng, measure, qrels, run in examples(name):
        left = {query for query in qrels if rng.random() < 0.5}
        joined: dict[str, float] = {}
        for part in (left, qrels.keys() - left):
            if part:
                shard = {query: docs for query, docs in qrels.items() if query in part}
                joined |= values(shard, run, measure)
        whole = values(qrels, run, measure)
        assert {query: joined.get(query) for query in qrels} == {query: whole.get(query) for query in qrels}


@pytest.mark.parametrize("name", [name for name in NAMES if REGISTRY[name].over != "spans"])
def test_company_does_not_matter(name):
    """A measure has the same value alone and among others."""
    rng = random.Random(name)
    qrels, run = random_data(rng)
    measure = random_measure(rng, REGISTRY[name])
    alike = [other for other in NAMES if REGISTRY[other].over in ("placements", REGISTRY[name].over)]
    others = [random_measure(rng, REGISTRY[other]) for other in rng.sample(alike, 8)]
    qrels = judgements(qrels, measure)
    known = background(run)
    together = evaluate(qrels, run, [*others, measure], overlap="allow", **known)
    alone = evaluate(qrels, run, measure, overlap="allow", **known)
    assert np.array_equal(together.column(measure).values, alone.column(measure).values, equal_nan=True)


# What must matter.

MONOTONE = [name for name in PLAIN if REGISTRY[name].monotone]


def worth(qrels: Qrels, query: str, doc: str) -> int:
    return max(qrels[query].get(doc, 0), 0)


@pytest.mark.parametrize("name", MONOTONE)
def test_moving_a_relevant_document_up(name):
    """Past a neighbour of lower grade: that never lowers a monotone measure."""
    moved, count = 0, many(40, 12)
    for rng, measure, qrels, run in examples(name, count, ties=False):
        if not keeps(measure, NOT_MONOTONE):
            continue
        query = rng.choice(list(run))
        docs = ordered(run, query)
        better = [i for i in range(1, len(docs)) if worth(qrels, query, docs[i]) > worth(qrels, query, docs[i - 1])]
        if not better:
            continue
        i = rng.choice(better)
        docs[i - 1], docs[i] = docs[i], docs[i - 1]
        other = {**run, query: {doc: -float(rank) for rank, doc in enumerate(docs)}}
        before, after = values(qrels, run, measure)[query], values(qrels, other, measure)[query]
        assert after >= before - 1e-12, f"{measure}: {before} -> {after}"
        moved += 1
    assert moved > count / 5


@pytest.mark.parametrize("name", MONOTONE)
def test_the_ideal_ranking_is_the_best(name):
    for _, measure, qrels, run in examples(name, unjudged=False, lowest=0):
        if not keeps(measure, NOT_MONOTONE):
            continue
        ideal = {query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in qrels.items()}
        best = values(qrels, ideal, measure)
        for query, value in values(qrels, run, measure).items():
            assert value <= best[query] + 1e-12


@pytest.mark.parametrize("exception", [*OUT_OF_BOUNDS, *NOT_MONOTONE], ids=str)
def test_exceptions_are_real(exception):
    """Each exception names an option that exists."""
    name, key, value = exception
    make(name, 5, {key: value})


def test_ap_of_hits_is_not_monotone():
    """The reason why it is an exception, in numbers: 1 at rank 1 alone, (1 + 2/3) / 2 with a second one at rank 3."""
    qrels = {"q": {"a": 1, "b": 1}}
    before = evaluate(qrels, {"q": ["a", "x", "y", "b"]}, 'AP(divisor="hits")@3').mean
    after = evaluate(qrels, {"q": ["a", "x", "b", "y"]}, 'AP(divisor="hits")@3').mean
    assert list(before.values()) == [1.0]
    assert list(after.values()) == [(1 + 2 / 3) / 2]
