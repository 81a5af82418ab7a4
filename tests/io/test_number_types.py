"""Scores and grades of any type of number: by every route each is the float, or whole number, that it stands for."""

from __future__ import annotations

import random
from collections import defaultdict, namedtuple
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from raising import raises_code

from goldrank import Qrels, Run, evaluate, read_qrels, read_run
from goldrank.base.errors import InputError
from goldrank.io import as_run
from goldrank.io.questions.text_values import retrieved_text

WHOLE: dict[str, Callable[[float], Any]] = {
    "int": int,
    "huge int": lambda value: int(value) * 10**30 + 1,
    **{f"numpy {name}": getattr(np, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")},
    "numpy uint64": np.uint64,
}
"""Types of whole numbers, from scores of 0 to 100."""
REAL: dict[str, Callable[[float], Any]] = {
    "float": float,
    "numpy float16": np.float16,
    "numpy float32": np.float32,
    "numpy float64": np.float64,
    "numpy longdouble": lambda value: np.longdouble(value) / np.longdouble(3),
    "Decimal": lambda value: Decimal(f"{value:.3f}"),
    "Fraction": lambda value: Fraction(int(value * 1000), 7),
}
NUMBERS = WHOLE | REAL
Rows = list[tuple[str, str, Any]]
Row = namedtuple("Row", "query doc score")


def nested(rows: Rows) -> dict[str, dict[str, Any]]:
    results: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for query, doc, score in rows:
        results[query][doc] = score
    return dict(results)


def pairs(rows: Rows) -> dict[str, list[tuple[str, Any]]]:
    return {query: list(row.items()) for query, row in nested(rows).items()}


def read_only(rows: Rows) -> Any:
    return MappingProxyType({query: MappingProxyType(row) for query, row in nested(rows).items()})


def records(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(Row._fields, row, strict=True)) for row in rows]


def objects_in_pandas(rows: Rows) -> Any:
    columns = dict(zip(Row._fields, zip(*rows, strict=True), strict=True))
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def decimals_in_polars(rows: Rows) -> Any:
    frame = pl.DataFrame(records(rows), schema={"query": pl.String, "doc": pl.String, "score": pl.Decimal(38, 3)})
    assert frame.schema["score"] == pl.Decimal(38, 3)
    return frame


def decimals_in_arrow(rows: Rows) -> Any:
    columns = dict(zip(Row._fields, map(list, zip(*rows, strict=True)), strict=True))
    return pa.table({**columns, "score": pa.array(columns["score"], pa.decimal128(38, 3))})


ROUTES: dict[str, Callable[[Rows], Any]] = {
    "dicts": nested,
    "Run": lambda rows: Run(nested(rows)),
    "mappings that are no dicts": read_only,
    "Run of such mappings": lambda rows: Run(read_only(rows)),
    "pairs": pairs,
    "rows": list,
    "named tuples": lambda rows: [Row(*row) for row in rows],
    "records": records,
    "pandas": objects_in_pandas,
}
FRAMES: dict[str, Callable[[Rows], Any]] = {"polars": decimals_in_polars, "arrow": decimals_in_arrow}
MEASURES = ["RR", "AP", "nDCG@3", "P@1", "Hole@2"]


def drawn(seed: int, number: Callable[[float], Any]) -> Rows:
    """Rankings of up to 60 documents, some of them with equal scores."""
    rng = random.Random(seed)
    rows = []
    for query in range(3):
        for doc in range(rng.choice([1, 5, 60])):
            rows.append((f"q{query}", f"d{doc}", number(float(rng.randrange(100)) + rng.choice([0, 0.125, 0.3]))))
    return rows


def drawn_judgements(seed: int) -> dict[str, dict[str, int]]:
    """Few judged documents, which are counted one by one, or many, for which the scores are sorted."""
    rng = random.Random(seed)
    return {f"q{query}": {f"d{doc}": rng.randrange(3) for doc in range(rng.choice([2, 40]))} for query in range(3)}


def values(qrels: Any, run: Any) -> list[list[float]]:
    scores = evaluate(qrels, run, MEASURES)
    return [scores.columns[name].values.tolist() for name in MEASURES]


def test_by_hand() -> None:
    """The judged document is second by every type: 1.2 is above 1.1."""
    scores = {"a": "1.1", "b": "1.2", "c": "0.5"}
    for number in (Decimal, Fraction, np.longdouble, np.float16, float):
        run = {"q": {doc: number(score) for doc, score in scores.items()}}
        assert evaluate({"q": {"a": 1}}, run, ["RR"])["RR"] == 0.5, number


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_is_its_float(name: str, route: str) -> None:
    for seed in range(12):
        rows = drawn(seed, NUMBERS[name])
        floats = {query: {doc: float(score) for doc, score in row.items()} for query, row in nested(rows).items()}
        qrels = drawn_judgements(seed)
        assert values(qrels, ROUTES[route](rows)) == values(qrels, floats), seed


@pytest.mark.parametrize("frame", FRAMES)
def test_decimals_in_frames(frame: str) -> None:
    for seed in range(12):
        rows = drawn(seed, NUMBERS["Decimal"])
        floats = {query: {doc: float(score) for doc, score in row.items()} for query, row in nested(rows).items()}
        qrels = drawn_judgements(seed)
        assert values(qrels, FRAMES[frame](rows)) == values(qrels, floats), seed


@pytest.mark.parametrize("name", NUMBERS)
def test_a_run_holds_floats_and_nothing_else(name: str, tmp_path: Path) -> None:
    rows = drawn(1, NUMBERS[name])
    run = Run(nested(rows))
    held = [score for row in run.values() for score in row.values()]
    assert set(map(type, held)) == {float}
    assert held == [float(score) for _, _, score in rows]

    read_run(nested(rows)).save(tmp_path / "run.trec")
    back = read_run(tmp_path / "run.trec")
    assert {query: dict(row) for query, row in back.items()} == {query: dict(row) for query, row in run.items()}


BAD = {
    "flag": (True, "of type bool"),
    "numpy flag": (np.True_, "of type bool"),
    "text": ("1.5", "of type str"),
    "nothing": (None, "of type NoneType"),
    "complex": (1 + 2j, "of type complex"),
    "NaN": (float("nan"), "NaN"),
    "NaN as a Decimal": (Decimal("nan"), "NaN"),
    "too large an int": (10**400, "too large"),
    "too large a Fraction": (Fraction(10**400), "too large"),
}


@pytest.mark.parametrize("route", [name for name in ROUTES if name != "pandas"])
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_score_is_refused(name: str, route: str) -> None:
    """Of every query, be it judged or not: as in files."""
    number, text = BAD[name]
    for query in ("q", "not judged"):
        rows: Rows = [("q", "a", 2.0), ("q", "b", 1.0), (query, "c", number)]
        with raises_code(InputError, "bad-score", match=text):
            evaluate({"q": {"a": 1}}, ROUTES[route](rows), "RR")


@pytest.mark.parametrize("number", [Decimal, Fraction, np.float32, np.longdouble, float])
def test_scores_of_hits_and_of_retrieved_texts(number: Any) -> None:
    """What a client returns: the scores are the hits' own, whatever type of number they are."""
    hits = [SimpleNamespace(id="b", score=number(3)), SimpleNamespace(id="a", score=number(2))]
    assert {query: dict(row) for query, row in as_run({"q": hits}).items()} == {"q": {"b": 3.0, "a": 2.0}}

    assert retrieved_text(("a text", number(2)), "here").score == 2.0
    assert retrieved_text({"text": "a text", "score": number(2)}, "here").score == 2.0


# Grades.

GRADES: dict[str, Callable[[int], Any]] = {
    "int": int,
    "float": float,
    **{
        f"numpy {name}": getattr(np, name) for name in ("int8", "uint64", "float16", "float32", "float64", "longdouble")
    },
    "Decimal": Decimal,
    "Decimal with a point": lambda grade: Decimal(f"{grade}.00"),
    "Fraction": Fraction,
}
GRADE_ROUTES: dict[str, Callable[[Rows], Any]] = {
    "dicts": nested,
    "Qrels": lambda rows: Qrels(nested(rows)),
    "mappings that are no dicts": read_only,
    "rows": list,
    "records": lambda rows: [{"query": query, "doc": doc, "grade": grade} for query, doc, grade in rows],
    "pandas": lambda rows: objects_in_pandas(rows).rename(columns={"score": "grade"}),
}
RUN = {"q0": {"d1": 3.0, "d0": 2.0, "d2": 1.0}, "q1": {"d5": 1.0}}


def cases(names: Any) -> list[tuple[str, str]]:
    return [(name, route) for name in names for route in GRADE_ROUTES]


@pytest.mark.parametrize(("name", "route"), cases(GRADES))
def test_every_grade_is_its_whole_number(name: str, route: str) -> None:
    """nDCG@3 of grades 1, 2, 0 in this order, of which DCG is 1 + 2/log2(3) and the best 2 + 1/log2(3); q1 has 0."""
    rows: Rows = [("q0", f"d{doc}", GRADES[name](grade)) for doc, grade in enumerate([2, 1, 0])]
    rows.append(("q1", "d0", GRADES[name](1)))
    by_hand = (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)) / 2
    assert evaluate(GRADE_ROUTES[route](rows), RUN, "nDCG@3")["nDCG@3"] == pytest.approx(by_hand, abs=1e-15)


@pytest.mark.parametrize("route", GRADE_ROUTES)
@pytest.mark.parametrize("grade", [Decimal("1.5"), Fraction(3, 2), np.longdouble("1.5"), np.float16(1.5), 1.5])
def test_a_grade_that_is_not_whole_is_refused_or_a_gain(grade: Any, route: str) -> None:
    rows: Rows = [("q0", "d0", grade), ("q0", "d1", type(grade)(3))]
    with raises_code(InputError, "bad-grade", match="whole number"):
        evaluate(GRADE_ROUTES[route](rows), RUN, "nDCG@3")

    if route != "Qrels":
        gains = read_qrels(GRADE_ROUTES[route](rows), real_grades=True)
        assert {query: dict(row) for query, row in gains.items()} == {"q0": {"d0": 1.5, "d1": 3}}
        assert set(map(type, gains["q0"].values())) == {float, int}


@pytest.mark.parametrize("grade", [True, np.True_, Decimal("nan"), Decimal("inf"), np.longdouble("nan"), 10**9, "1"])
def test_what_is_no_grade_is_refused(grade: Any) -> None:
    for route in ("dicts", "Qrels", "rows", "records"):
        with raises_code(InputError, "bad-grade"):
            evaluate(GRADE_ROUTES[route]([("q0", "d0", grade)]), RUN, "nDCG@3")
