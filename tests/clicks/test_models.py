"""Click models against values of brute force and other programs (tests/files/clicks.json), and by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import places
import pytest
from scipy.stats import beta

from goldrank import Statistics, evaluate, judgements_from_clicks, read_qrels
from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.cli import run
from goldrank.clicks import ctr, dbn, dcm, position_based, propensity
from goldrank.clicks.click_log import ShownDocument, read_clicks
from goldrank.clicks.sessions import ClickLog

GOLDEN = {case["id"]: case for case in json.loads((places.FILES / "clicks.json").read_text())["cases"]}


def log_of(rows: Any) -> ClickLog:
    return ClickLog.of([ShownDocument(str(i), q, d, r, bool(c), None) for i, (q, d, r, c) in enumerate(rows)])


def log_of_sessions(sessions: Any) -> ClickLog:
    return ClickLog.of(
        [
            ShownDocument(str(i), "q", doc, rank, bool(click), None)
            for i, (docs, clicks) in enumerate(sessions)
            for rank, (doc, click) in enumerate(zip(docs, clicks, strict=True), 1)
        ]
    )


def by_doc(log: ClickLog, values: np.ndarray) -> dict[str, float]:
    return {doc: float(value) for (_, doc), value in zip(log.pairs, values, strict=True)}


def ones(log: ClickLog) -> np.ndarray:
    return np.ones(len(log.pair))


def test_smoothed_shares() -> None:
    case = GOLDEN["ctr-smoothing"]
    clicks, shown = (np.array(case["inputs"][key], float) for key in ("clicks", "shown"))
    prior = (case["inputs"]["a"], case["inputs"]["b"])
    low, high = ctr.interval(clicks, shown, prior, 0.95)
    for i, expected in enumerate(case["expected"]):
        rows = [("q", "d", 1, k < clicks[i]) for k in range(int(shown[i]))]
        log = log_of(rows)
        value = ctr.estimate(log, ones(log), prior=prior)[0]
        assert [value, low[i], high[i]] == pytest.approx(expected, abs=1e-10)


def test_prior_by_moments() -> None:
    """Shares 0.5 and 0.1: mean 0.3, variance 0.04, so that a + b = 0.21 / 0.04 - 1 = 4.25 and a = 1.275."""
    a, b = ctr.prior_of(np.array([5.0, 1.0]), np.array([10.0, 10.0]))
    assert (a, b) == pytest.approx((1.275, 2.975))


@pytest.mark.parametrize("name", ["pbm-em-1", "pbm-em-50"])
def test_position_based(name: str) -> None:
    case = GOLDEN[name]
    log = log_of(case["inputs"]["rows_query_doc_rank_click"])
    fit = position_based.fit(log, ones(log), rounds=case["inputs"]["iterations"])
    want = case["expected"]
    assert {str(r): v for r, v in enumerate(fit.examination) if r} == pytest.approx(want["examination"], abs=1e-9)
    assert by_doc(log, fit.attraction) == pytest.approx(want["attraction"], abs=1e-9)
    assert by_doc(log, fit.scaled_attraction) == pytest.approx(want["scaled_attraction"], abs=1e-9)
    relative = {str(r): v for r, v in enumerate(fit.relative_examination) if r}
    assert relative == pytest.approx(want["relative_examination"], abs=1e-9)
    assert fit.log_likelihood == pytest.approx(want["loglik"], abs=1e-8)


def test_position_based_finds_what_made_the_log() -> None:
    """Exact shares of a known model: e = 1, 0.5; a = 0.8, 0.4; each document at both ranks, 1,000 views each."""
    rows = []
    for doc, attraction in (("a", 0.8), ("b", 0.4)):
        for rank, examined in ((1, 1.0), (2, 0.5)):
            clicks = round(1000 * attraction * examined)
            rows += [("q", doc, rank, k < clicks) for k in range(1000)]
    log = log_of(rows)
    assert by_doc(log, position_based.estimate(log, ones(log))) == pytest.approx({"a": 0.8, "b": 0.4}, abs=0.02)


def test_position_based_refuses_what_it_cannot_tell() -> None:
    log = log_of([("q", "a", 1, 1), ("q", "b", 2, 0), ("q", "a", 1, 0)])
    with pytest.raises(InputError) as caught:
        position_based.estimate(log, ones(log))
    assert caught.value.code == "not-identified"


def test_known_propensities() -> None:
    case = GOLDEN["ipw"]
    log = log_of(case["inputs"]["rows_query_doc_rank_click"])
    p = {int(rank): value for rank, value in case["inputs"]["propensity"].items()}
    for unbiased, key in ((True, "ips"), (False, "clicks_over_propensity")):
        found = by_doc(log, propensity.estimate(log, ones(log), propensities=p, unbiased=unbiased))
        assert found == pytest.approx({doc: values[key] for doc, values in case["expected"].items()}, abs=1e-10)


def test_clipped_propensities_are_counted() -> None:
    log = [{"query": "q", "shown": ["a", "b"], "clicks": ["b"]}] * 10
    found = judgements_from_clicks(log, "propensity", propensities={1: 1, 2: 0.01})
    (note,) = [note for note in found.notes if note.code == "clipped-propensities"]
    assert note.fact("count") == 10
    assert {row.doc: row.value for row in found} == pytest.approx({"a": 0.0, "b": 1 / 0.05})


def test_dynamic_bayesian_network() -> None:
    case = GOLDEN["sdbn"]
    log = log_of_sessions(case["inputs"]["sessions"])
    fit = dbn.counted(log, ones(log))
    for key, values in (
        ("attraction", fit.attraction),
        ("satisfaction", fit.satisfaction),
        ("relevance", fit.relevance),
    ):
        want = {doc: about[key] or 0.0 for doc, about in case["expected"].items()}
        assert by_doc(log, values) == pytest.approx(want, abs=1e-10)


def brute_force(docs: str, clicks: list[int], a: dict[str, float], s: dict[str, float], gamma: float) -> Any:
    """By enumeration of every hidden state of one page: P(looked at) of each place, P(satisfied at the last click)."""
    total, looked, satisfied = 0.0, np.zeros(len(docs)), 0.0
    last = max((i for i, click in enumerate(clicks) if click), default=-1)

    def walk(i: int, weight: float, path: list[int], was: bool) -> None:
        nonlocal total, satisfied
        if weight == 0:
            return
        if i == len(docs) or not path[-1]:
            if any(clicks[i:]):
                return
            total += weight
            looked[: len(path)] += weight * np.array(path[: len(docs)])[: len(docs)]
            satisfied += weight * was
            return
        doc = docs[i]
        if clicks[i]:
            walk(i + 1, weight * a[doc] * s[doc], [*path, 0], i == last)
            rest = weight * a[doc] * (1 - s[doc])
        else:
            rest = weight * (1 - a[doc])
        walk(i + 1, rest * gamma, [*path, 1], False)
        walk(i + 1, rest * (1 - gamma), [*path, 0], False)

    walk(0, 1.0, [1], False)
    return looked / total, satisfied / total


@pytest.mark.parametrize("gamma", [0.9, 0.5])
@pytest.mark.parametrize("clicks", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 0]])
def test_expectations_of_the_network(gamma: float, clicks: list[int]) -> None:
    a, s = {"a": 0.6, "b": 0.3, "c": 0.5}, {"a": 0.4, "b": 0.7, "c": 0.2}
    log = log_of_sessions([("abc", clicks)])
    pairs = [doc for _, doc in log.pairs]
    grid = dbn._Grid(log)
    looked, satisfied = grid.expected(np.array([a[d] for d in pairs]), np.array([s[d] for d in pairs]), gamma)
    want_looked, want_satisfied = brute_force("abc", clicks, a, s, gamma)
    assert looked.tolist() == pytest.approx(want_looked.tolist(), abs=1e-12)
    assert satisfied.sum() == pytest.approx(want_satisfied, abs=1e-12)


def test_dependent_click_model() -> None:
    case = GOLDEN["dcm"]
    log = log_of_sessions(case["inputs"]["sessions"])
    found = {str(rank): value for rank, value in enumerate(dcm.going_on(log, ones(log))) if rank}
    assert found == pytest.approx(case["expected"], abs=1e-10)


# The way in and out.

FEW = Statistics(samples=100)

VIEWS = [{"query": "q", "shown": ["a", "b"], "clicks": ["a"]}] * 6 + [
    {"query": "q", "shown": ["b", "a"], "clicks": []}
] * 6


def rows_of(views: Any) -> list[dict[str, Any]]:
    return [
        {"query": view["query"], "doc": doc, "rank": rank, "click": int(doc in view["clicks"]), "page": f"p{i}"}
        for i, view in enumerate(views)
        for rank, doc in enumerate(view["shown"], 1)
    ]


def test_rows_and_page_views_say_the_same(tmp_path: Any) -> None:
    import polars as pl

    rows = rows_of(VIEWS)
    pl.DataFrame(rows).write_csv(tmp_path / "log.csv")
    pl.DataFrame(rows).write_parquet(tmp_path / "log.parquet")
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(view) + "\n" for view in VIEWS))
    want = judgements_from_clicks(VIEWS).pairs
    for log in (rows, pl.DataFrame(rows), *(str(tmp_path / f"log.{end}") for end in ("csv", "parquet", "jsonl"))):
        assert judgements_from_clicks(log).pairs == want


@pytest.mark.parametrize("model", ["ctr", "pbm", "dbn", "dcm"])
def test_intervals_hold_the_value_and_repeat(model: str) -> None:
    found = judgements_from_clicks(VIEWS, model, statistics=FEW)
    assert found.pairs == judgements_from_clicks(VIEWS, model, statistics=FEW).pairs
    assert all(row.low <= row.value <= row.high for row in found)
    assert [(row.shown, row.clicks) for row in found] == [(12, 6), (12, 0)]


def test_more_data_make_intervals_narrower() -> None:
    few, many = (judgements_from_clicks(VIEWS * times, "dbn", statistics=FEW)[0] for times in (1, 30))
    assert many.high - many.low < (few.high - few.low) / 2


def test_few_views_are_not_judged() -> None:
    log = [*VIEWS, {"query": "q", "shown": ["new"], "clicks": ["new"]}]
    found = judgements_from_clicks(log)
    assert set(found.qrels()["q"]) == {"a", "b"}
    (note,) = [note for note in found.notes if note.code == "too-few-views"]
    assert note.fact("count") == 1


def test_users_are_drawn_together() -> None:
    log = [{**view, "user": f"u{i % 3}"} for i, view in enumerate(VIEWS)]
    (note,) = [n for n in judgements_from_clicks(log, "dbn", statistics=FEW).notes if n.code == "click-bootstrap"]
    assert note.fact("unit") == "users"


def test_cuts_make_grades() -> None:
    found = judgements_from_clicks(VIEWS, "dcm", statistics=FEW)
    assert dict(found.qrels(cuts=[0.2, 0.4])["q"]) == {"a": 2, "b": 0}
    with pytest.raises(OptionError):
        found.qrels(cuts=[0.4, 0.2])


@pytest.mark.parametrize(
    "row",
    [
        {"query": "q", "shown": ["a"], "clicks": ["x"]},
        {"query": "q", "shown": "a", "clicks": []},
        {"query": "q", "doc": "d", "rank": 0, "click": 1, "page": "p"},
        {"query": "q", "doc": "d", "rank": 1, "click": "maybe", "page": "p"},
        {"query": "q", "doc": "d", "rank": 1, "click": 1},
        {"shown": ["a"], "clicks": []},
    ],
    ids=str,
)
def test_bad_logs_are_refused(row: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_clicks([row])
    assert caught.value.where


def test_pages_are_consistent() -> None:
    row = {"query": "q", "doc": "d", "rank": 1, "click": 1, "page": "p"}
    for other in ({"query": "r"}, {"doc": "e"}, {"rank": 2}):
        with pytest.raises(InputError):
            read_clicks([row, {**row, **other}] if other != {"query": "r"} else [row, {**row, "rank": 2, **other}])


def test_options_belong_to_models() -> None:
    with pytest.raises(OptionError) as caught:
        judgements_from_clicks(VIEWS, "ctr", gamma=0.9)
    assert caught.value.hint == "It takes prior."
    with pytest.raises(OptionError):
        judgements_from_clicks(VIEWS, "propensity")
    for wrong, right in (("level", "statistics=Statistics(level=...)"), ("gama", "gamma"), ("samples", "Statistics(")):
        with pytest.raises(OptionError) as caught:
            judgements_from_clicks(VIEWS, "ctr", **{wrong: 0.9})
        assert right in caught.value.hint
    for wrong in ({"statistics": 0.9}, {"min_views": -1}, {"model": "ct"}, {"statistics": Statistics(samples=200_000)}):
        with pytest.raises(GoldrankError):
            judgements_from_clicks(VIEWS, **wrong)


def test_they_can_be_looked_at() -> None:
    found = judgements_from_clicks(VIEWS, prior=(1, 1))
    assert [(row["doc"], row["clicks"], row["judged"]) for row in found.rows()] == [("a", 6, True), ("b", 0, True)]
    assert found.to_dict()["pairs"] == found.rows()
    assert found.words == "By the model ctr, 2 of 2 pairs have a judgement"
    assert "share of views with a click" in str(found)


def test_command(tmp_path: Any, capsys: Any) -> None:
    log, out = (str(tmp_path / name) for name in ("log.jsonl", "qrels.json"))
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(view) + "\n" for view in VIEWS))
    assert (
        run(
            [
                "judgements",
                "from-clicks",
                log,
                "-o",
                out,
                "--model",
                "dcm",
                "--statistics",
                "samples=100",
                "--as",
                "csv",
            ]
        )
        == 0
    )
    qrels = read_qrels(out, real_grades=True)
    assert dict(qrels["q"]) == {"a": 0.5, "b": 0.0}
    assert capsys.readouterr().out.startswith("query,doc,value,low,high,shown,clicks")
    (tmp_path / "run.json").write_text('{"q": ["b", "a"]}')
    assert run(["eval", out, str(tmp_path / "run.json"), "--real-grades", "-m", "nDCG@10"]) == 0
    assert "0.6309" in capsys.readouterr().out
    assert evaluate(qrels, {"q": ["b", "a"]}, "nDCG@10")["nDCG@10"] == pytest.approx(0.63093, abs=1e-5)


def test_a_log_without_enough_views_writes_nothing(tmp_path, capfd) -> None:
    from goldrank.cli import run

    log, target = tmp_path / "log.csv", tmp_path / "qrels.json"
    log.write_text("query,doc,rank,click,page\nq,a,1,1,p\n")
    assert run(["judgements", "from-clicks", str(log), "-o", str(target), "--model", "ctr"]) == 2
    assert "--min-views" in capfd.readouterr().err
    assert not target.exists()
    assert run(["judgements", "from-clicks", str(log), "-o", str(target), "--model", "ctr", "--min-views", "1"]) == 0
    assert "1 query, 1 judgement" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("propensity", {"propensities": {1: 1.0, 2: 0.5}}),
        ("pbm", {}),
        ("dbn", {}),
        ("dbn", {"gamma": 0.9}),
        ("dcm", {}),
    ],
)
def test_no_click_in_12_views_is_not_never(model, parameters):
    """And neither is a click in all of them always."""
    shown = [["a", "b"], ["b", "a"]] * 6
    log = [{"query": "q", "shown": documents, "clicks": ["a"]} for documents in shown]
    judgements = {pair.doc: pair for pair in judgements_from_clicks(log, model, **parameters)}
    assert judgements["b"].clicks == 0
    assert judgements["b"].low < 1e-9
    # Jeffreys' limit of no click in 12 views; more where fewer of them were looked at.
    assert judgements["b"].high >= beta.ppf(0.975, 0.5, 12.5) - 1e-9
    assert judgements["a"].low < 0.95


def test_limits_without_clicks_hold_the_truth():
    """A document with a share of 0.05, shown 12 times at each of two ranks: nearly always within its interval."""
    rng = np.random.default_rng(4)
    propensities = {1: 1.0, 2: 0.5}
    held = 0
    for _ in range(60):
        log = []
        for page in range(24):
            documents = ["a", "b"] if page % 2 else ["b", "a"]
            chances = [propensities[rank] * {"a": 0.3, "b": 0.05}[doc] for rank, doc in enumerate(documents, 1)]
            clicks = [doc for doc, chance in zip(documents, chances, strict=True) if rng.random() < chance]
            log.append({"query": "q", "shown": documents, "clicks": clicks})
        for pair in judgements_from_clicks(
            log, "propensity", propensities=propensities, statistics=Statistics(samples=100)
        ):
            held += pair.low <= {"a": 0.3, "b": 0.05}[pair.doc] <= pair.high
    assert held >= 0.88 * 120
