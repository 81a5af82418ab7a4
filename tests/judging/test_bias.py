"""How wrong a judge is: figures worked out by hand, biases that were put in, systems whose order is turned."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from golden_judges import CASES

from goldrank import Qrels, Statistics, judge_agreement
from goldrank.base.errors import GoldrankError, InputError, MismatchError, OptionError
from goldrank.cli import run


def agreement(human, model, **more):
    return judge_agreement(Qrels(human).with_model(model), **more)


def drawn(samples):
    return Statistics(samples=samples)


def qrels(grades):
    """Two pairs a query."""
    table = {}
    for i, grade in enumerate(grades):
        table.setdefault(f"q{i // 2:02}", {})[f"d{i}"] = grade
    return table


def test_coefficients_are_those_of_the_reference_file():
    given = CASES["confusion"]["inputs"]
    found = agreement(qrels(given["human"]), qrels(given["model"]), scale=given["labels"])
    assert found.confusion.tolist() == CASES["confusion"]["expected"]
    for name, case in (
        ("kappa", "kappa-none"), ("linear kappa", "kappa-linear"), ("quadratic kappa", "kappa-quadratic"),
        ("AC1", "gwet-exact-identity"), ("AC2", "gwet-exact-quadratic"),
    ):  # fmt: skip
        assert found[name] == pytest.approx(CASES[case]["expected"], rel=1e-10)
        assert found.figures[name].interval.low <= found[name] <= found.figures[name].interval.high
    assert (found.pairs, found.queries) == (20, 10)


def test_lenience_by_hand():
    found = agreement({"q": {"a": 0, "b": 0}, "p": {"a": 3, "b": 1}}, {"q": {"a": 2, "b": 0}, "p": {"a": 3, "b": 0}})
    assert found.scale == (0, 1, 2, 3)
    assert found["lenience"] == (2 + 0 + 0 - 1) / 4
    assert found["high for the lowest"] == 0.5
    assert found.figures["high for the lowest"].pairs == 2


def test_a_judge_that_never_differs_may_differ_yet():
    """12 queries, 50 pairs, all graded alike: that says much of the judge, and not all."""
    grades = {f"q{i % 12}": {} for i in range(12)}
    for i in range(50):
        grades[f"q{i % 12}"][f"d{i}"] = i % 3
    found = agreement(grades, grades, scale=[0, 1, 2])
    for name in ("kappa", "quadratic kappa", "alpha", "AC1"):
        low, high = found.figures[name].interval
        assert 0.8 < low < 0.99
        assert high == 1.0 or high > 0.999


def test_only_pairs_of_both_count_and_none_is_an_error():
    found = agreement({"q": {"a": 1, "b": 0}, "p": {"a": 1}}, {"q": {"a": 1, "c": 3}, "r": {"a": 1}})
    assert found.pairs == 1
    with pytest.raises(MismatchError):
        agreement({"q": {"a": 1}}, {"q": {"b": 1}})


def world(bias, queries=60, seed=1):
    """People's grades, texts, and a judge whose error is 1 where `bias(text words, shared share, rank)` says so."""
    rng = np.random.default_rng(seed)
    human, model, docs, asked, ranking = {}, {}, {}, {}, {}
    for i in range(queries):
        q = f"q{i:02}"
        asked[q] = "red green"
        names = [f"{q}-{j}" for j in range(10)]
        ranking[q] = names
        for rank, doc in enumerate(names, 1):
            length, shared = int(rng.integers(5, 500)), int(rng.integers(0, 3))
            docs[doc] = " ".join([*["red", "green"][:shared], *["word"] * length])
            grade = int(rng.integers(0, 3))
            human.setdefault(q, {})[doc] = grade
            model.setdefault(q, {})[doc] = min(3, grade + int(bias(length, shared / 2, rank)))
    return human, model, docs, asked, ranking


@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("length", lambda length, shared, rank: length > 250),
        ("overlap", lambda length, shared, rank: shared == 1),
        ("rank", lambda length, shared, rank: rank > 5),
    ],
)
def test_a_bias_that_was_put_in_is_found_and_no_other(name, bias):
    human, model, docs, asked, ranking = world(bias)
    runs = {"one": ranking, "two": {q: names[::-1] for q, names in ranking.items()}}
    only = {"one": ranking}
    given = {"scale": [0, 1, 2, 3], "documents": docs, "queries": asked}
    found = agreement(human, model, runs=only, statistics=drawn(500), **given).figures
    assert found[name].interval.low > 0
    for other in {"length", "overlap", "rank"} - {name}:
        assert found[other].interval.low < 0.02
        assert found[other].interval.high > -0.02
    both = agreement(human, model, runs=runs, statistics=drawn(100), **given)
    assert both.figures["system one"].pairs == 0
    assert math.isnan(both["system one"])


def test_a_slope_by_hand():
    """Within grade 0: lengths e^0, e^1 and errors 0, 1; within grade 1: lengths e^0, e^2 and errors 0, 0."""
    human = {"q": {"a": 0, "b": 0}, "p": {"c": 1, "d": 1}}
    model = {"q": {"a": 0, "b": 1}, "p": {"c": 1, "d": 1}}
    docs = {"a": "x", "b": "x x x", "c": "x", "d": "x x x x x x x"}
    l3, l7 = math.log(3), math.log(7)
    # centred sums: grade 0: xe = l3 / 2, xx = l3^2 / 2; grade 1: xe = 0, xx = l7^2 / 2
    expected = (l3 / 2) / (l3**2 / 2 + l7**2 / 2)
    assert agreement(human, model, documents=docs)["length"] == pytest.approx(expected)


def test_a_judge_that_favours_one_system():
    human, model, runs = {}, {}, {"one": {}, "two": {}}
    for i in range(30):
        q = f"q{i}"
        human[q] = {"a": i % 2, "b": i % 2, "c": 1}
        model[q] = {"a": i % 2, "b": 1 + i % 2, "c": 1}
        runs["one"][q], runs["two"][q] = ["a", "c"], ["b", "c"]
    found = agreement(human, model, scale=[0, 1, 2, 3], runs=runs, measures="P(rel=2)@1", statistics=drawn(200))
    # on b alone the error is 1, elsewhere 0
    assert found["system two"] == 1
    assert found["system one"] == pytest.approx(0 - 0.5)


def test_the_order_of_systems():
    human, model, runs = {}, {}, {"one": {}, "two": {}, "three": {}}
    for i in range(40):
        q = f"q{i}"
        human[q] = {"a": 1, "b": 0, "c": 0}
        model[q] = {"a": 0, "b": 1, "c": 0}
        runs["one"][q], runs["two"][q], runs["three"][q] = ["a"], ["b"], ["c"]
    (order,) = agreement(human, model, runs=runs, measures="P@1", statistics=drawn(100)).orders
    assert (order.pairs, order.flips, order.hard_flips) == (3, 1, 1)
    # means: people 1, 0, 0; the judge 0, 1, 0: one pair each way, and ties: tau-b = (0 - 1) / sqrt(2 * 2)
    assert order.tau == pytest.approx(-0.5)
    # one-two: people first, judge second; one-three: people first, judge none; two-three: people none, judge first
    assert order.table == ((0, 1, 1), (1, 0, 0), (0, 0, 0))
    (same,) = agreement(human, human, runs=runs, measures="P@1", statistics=drawn(100)).orders
    assert (same.flips, same.table) == (0, ((2, 0, 0), (0, 1, 0), (0, 0, 0)))
    assert same.tau == pytest.approx(1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": [0]},
        {"scale": [1, 0, 2, 3]},
        {"statistics": 0.05},
        {"statistics": Statistics(samples=1_000_000)},
        {"runs": {"q": ["a"]}},
        {"documents": {"z": ""}},
    ],
)
def test_wrong_options_get_words(wrong):
    with pytest.raises(GoldrankError):
        agreement({"q": {"a": 0}}, {"q": {"a": 2}}, **wrong)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("docs", "documents="), ("level", "statistics=Statistics(level=...)"), ("samples", "Statistics(samples=")],
)
def test_an_unknown_argument_names_the_right_one(wrong, right):
    with pytest.raises(OptionError) as caught:
        agreement({"q": {"a": 0}}, {"q": {"a": 2}}, **{wrong: 1})
    assert right in caught.value.hint


def test_judgements_of_both_are_needed():
    for given in (Qrels({"q": {"a": 1}}), {"q": {"a": 1}}, "people.txt"):
        with pytest.raises(InputError, match="of a model"):
            judge_agreement(given)


def test_figures_have_names():
    found = agreement({"q": {"a": 0, "b": 1}}, {"q": {"a": 0, "b": 1}})
    assert found["kappa"] == 1.0
    assert "quadratic kappa of 1.000" in found.words
    with pytest.raises(KeyError, match="there are: kappa, linear kappa"):
        found["kapa"]


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    human, model, docs, asked, ranking = world(lambda length, shared, rank: length > 250, queries=12)
    for name, table in (("people.json", human), ("model.json", model)):
        (tmp_path / name).write_text(json.dumps(table))
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps({"id": d, "text": t}) + "\n" for d, t in docs.items()))
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps({"id": q, "text": t}) + "\n" for q, t in asked.items()))
    for name, order in (("a", 1), ("b", -1)):
        lines = [
            f"{q} Q0 {d} 1 {order * -i} t\n" for q, names in ranking.items() for i, d in enumerate(names)
        ]  # fmt: skip
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = ("--documents", "docs.jsonl", "--queries", "queries.jsonl", "a.run", "b.run")
    call = [
        "judge",
        "agree",
        "people.json",
        "--model-qrels",
        "model.json",
        *files,
        "-m",
        "nDCG@5",
        "--statistics",
        "samples=100",
    ]
    assert run([*call, "--scale", "0,1,2,3"]) == 0
    out = capsys.readouterr().out
    assert "quadratic kappa" in out
    assert "hard flips" in out
    assert run([*call, "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["orders"][0]["measure"] == "nDCG@5"
    assert run([*call, "--as", "csv"]) == 0
    assert run([*call, "--scale", "a"]) == 2
    assert run(["judge", "agree", "people.json", "a.run"]) == 2
