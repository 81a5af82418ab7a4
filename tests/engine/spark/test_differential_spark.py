"""Spark against the oracle and the other engines, on the same random cases as they; many cases are one job.

Query ids get the number of their case in front, so that all cases are one run.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import sys
from pathlib import Path

import numpy as np
import oracle
import pyarrow as pa
import pytest
from lanes import many
from random_cases import MEASURES, PARSED, make_case, same
from random_measures import PLAIN, random_data, random_measure

sys.path.insert(0, str(Path(__file__).parent))

from frames import lines, qrels_frame, run_frame

from goldrank import conventions, evaluate, io
from goldrank.base import ids
from goldrank.engine import engine_for
from goldrank.engine import spark_engine as by_spark
from goldrank.io.objects import mappings as objects
from goldrank.io.tables import spark_frames as door
from goldrank.measures import REGISTRY

CASES = many(400, 60)


def batch(numbers: range, repeats: bool):
    """Cases as one, by their numbers; with repeated documents or without."""
    qrels, rows, cases = {}, [], {}
    for number in numbers:
        case = make_case(number)
        if (len({row[:2] for row in case.rows}) < len(case.rows)) != repeats:
            continue
        prefix = b"%06d/" % number
        cases[prefix] = case
        qrels |= {prefix + query: docs for query, docs in case.qrels.items()}
        rows += [(prefix + query, doc, score) for query, doc, score in case.rows]
    return cases, qrels, rows


def decoded(qrels, rows):
    texts = {ids.decode(query): {ids.decode(doc): g for doc, g in docs.items()} for query, docs in qrels.items()}
    return texts, [(ids.decode(query), ids.decode(doc), score) for query, doc, score in rows]


CHOICES = (("counted", "sorted"), (False, True), ("float64", "float32"), ("docid", "docid-ascending"))
HALF = [
    tuple(values[at] for values, at in zip(CHOICES, chosen, strict=True))
    for chosen in itertools.product((0, 1), repeat=4)
    if sum(chosen) % 2 == 0
]
"""Any three choices meet in all ways, in half as many jobs as all four would take."""


@pytest.mark.parametrize(("how", "repeats", "score_type", "ties"), HALF)
def test_placements_are_those_of_other_engines(spark, ties, score_type, repeats, how, monkeypatch):
    """Array by array, type by type, and the counts too; whether ranks are counted or lines sorted."""
    monkeypatch.setattr(by_spark, "MOST_COUNTED", 1_000 if how == "counted" else -1)
    if how == "counted":
        monkeypatch.setattr(by_spark, "sort", None)
    _, qrels, rows = batch(range(CASES), repeats)
    assert len(rows) > CASES
    duplicates = "count" if repeats else "error"
    rules = conventions.get("trec_eval-10").with_policies(ties=ties, score_type=score_type, duplicates=duplicates)
    texts, text_rows = decoded(qrels, rows)
    judged = io.as_qrels(texts)
    in_spark = io.as_run(run_frame(spark, rows, pa.binary()))
    in_memory = objects.run_from_rows(text_rows, "run")
    ours, our_counts = engine_for(in_spark).place(judged, in_spark, rules)
    theirs, their_counts = engine_for(in_memory).place(judged, in_memory, rules)
    for field in dataclasses.fields(theirs):
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype, field.name
            assert np.array_equal(one, other), field.name
        else:
            assert one == other, field.name
    for name in ("unjudged_queries", "infinite", "repeated", "near_forms", "constant"):
        assert getattr(our_counts, name) == getattr(their_counts, name), name
    assert our_counts.unjudged_queries == 0 or our_counts.unjudged_examples


@pytest.mark.parametrize("on", ["driver", "executors"])
@pytest.mark.parametrize("convention", ["trec_eval-10", "trec_eval-9"])
def test_equals_the_oracle(spark, convention, on, monkeypatch):
    """Every value of every case, scored on the driver and on the executors."""
    if on == "executors":
        monkeypatch.setattr(door, "MOST_JUDGEMENTS", 10)
    nine = convention == "trec_eval-9"
    names = [name for name in MEASURES if not (nine and PARSED[name].name == "IPrec")]
    cases, qrels, rows = batch(range(1_000, 1_000 + CASES), False)
    judged = qrels_frame(spark, qrels, pa.binary())
    scores = evaluate(judged, run_frame(spark, rows, pa.binary()), names, convention=convention, overlap="allow")
    assert scores.provenance["spark"] == f"ranked by Spark, scored on the {on}"
    columns = {name: scores.per_query[str(PARSED[name])] for name in names}
    measures = []
    for name in names:
        options = dict(PARSED[name].options)
        if isinstance(options.get("gain"), tuple):
            options["gain"] = dict(options["gain"])
        measures.append((name, PARSED[name].name, PARSED[name].k, options))
    wrong, compared = [], 0
    for prefix, case in cases.items():
        rules = {"ties": "docid", "duplicates": "count", "missing": "skip" if nine else "zero", "empty": "zero"}
        score_type = "float32" if nine else "float64"
        queries, values = oracle.evaluate(case.qrels, case.rows, measures, score_type=score_type, depth=None, **rules)
        for name in names:
            for query, expected in zip(queries, values[name][0], strict=True):
                found = columns[name][ids.decode(prefix + query)]
                compared += 1
                if not same(found, expected):
                    wrong.append(f"case {case.number}: {name} of {query!r} is {found!r}, expected {expected!r}")
    assert wrong == []
    assert compared > 25 * CASES


def test_properties_of_all_measures(spark, monkeypatch):
    """Each measure has the values that it has for dicts; order, partitions, names and scale do not matter."""
    rng = random.Random(5)
    measures = [random_measure(rng, REGISTRY[name]) for name in PLAIN]
    qrels, run = {}, {}
    for number in range(60):
        judged, ranked = random_data(rng)
        qrels |= {f"{number:03}{query}": docs for query, docs in judged.items()}
        run |= {f"{number:03}{query}": docs for query, docs in ranked.items()}
    expected = evaluate(qrels, run, measures, overlap="allow")

    def values(judged, ranked, **rules):
        found = evaluate(judged, ranked, measures, overlap="allow", **rules)
        return [found.columns[name].values.tobytes() for name in expected.columns], found.mean

    def bits(scores):
        return [column.values.tobytes() for column in scores.columns.values()], scores.mean

    base = run_frame(spark, lines(run))
    assert _equal(values(qrels_frame(spark, qrels), base), bits(expected))
    assert _equal(values(qrels, base.orderBy("score").coalesce(1)), bits(expected))
    renamed = base.selectExpr("query_id", "concat(doc_id, '/\N{SNOWMAN}') AS doc_id", "score * 4 - 7 AS score")
    other = {query: {f"{doc}/\N{SNOWMAN}": grade for doc, grade in docs.items()} for query, docs in qrels.items()}
    assert _equal(values(other, renamed), bits(expected))
    assert _equal(values(qrels, base, depth=3), bits(evaluate(qrels, run, measures, overlap="allow", depth=3)))
    monkeypatch.setattr(door, "MOST_JUDGEMENTS", 10)
    assert _equal(values(qrels_frame(spark, qrels), base), bits(expected))


def _equal(ours, theirs) -> bool:
    same_means = all(same(ours[1][name], theirs[1][name]) for name in theirs[1])
    return ours[0] == theirs[0] and ours[1].keys() == theirs[1].keys() and same_means
