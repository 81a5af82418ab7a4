"""Measures that read the first documents of rankings which repeat documents: every policy, by every route."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from raising import raises_code
from recommender_cases import KEPT, QRELS, REMOVED

from goldrank import Catalogue, Convention, conventions, evaluate, read_run, worth_judging
from goldrank.base.errors import InputError
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve
from goldrank.io import sources
from goldrank.measures import parse
from goldrank.measures.declare import REGISTRY

Rows = list[tuple[str, str, float]]
POLICIES = [policy for policy in conventions.POLICIES["duplicates"] if policy != "error"]
OVER_TOPS = [name for name, declared in REGISTRY.items() if declared.over in ("heads", "recommended")]
OPTIONS = {"ExposureShare": "(group='g')"}
"""What a measure cannot do without."""
MEASURES = [str(parse(f"{name}{OPTIONS.get(name, '')}@{k}")) for name in OVER_TOPS for k in (1, 2, 4)]
BESIDE = {"catalogue": Catalogue(**KEPT)}


def drawn(seed: int) -> Rows:
    """Lists of items of the catalogue for its three users, with repeats whose scores differ, in no order."""
    rng = random.Random(seed)
    return [(user, rng.choice("abcdef"), float(rng.randrange(8))) for user in "uvw" for _ in range(rng.randrange(1, 9))]


def counted(rows: Rows, policy: str) -> dict[str, list[tuple[str, float]]]:
    """By hand: the lines of each user that count, in the order of the input."""
    lists: dict[str, list[tuple[str, float]]] = {}
    for user, item, score in rows:
        line = lists.setdefault(user, [])
        known = [other for other, _ in line]
        if policy == "first" and item in known:
            continue
        if policy == "last" and item in known:
            del line[known.index(item)]
        line.append((item, score))
    return lists


def ranked(rows: Rows, policy: str) -> dict[str, list[str]]:
    """By hand: each user's list, best first; of equal scores the higher id first."""
    by_score = {user: sorted(line, key=lambda pair: (pair[1], pair[0]), reverse=True) for user, line in
                counted(rows, policy).items()}  # fmt: skip
    return {user: [item for item, _ in line] for user, line in by_score.items()}


def interleaved(rows: Rows) -> Rows:
    """The lines with those of all users mixed, each user's in their order."""
    users = [user for user, _, _ in rows]
    random.Random(len(rows)).shuffle(users)
    lines = {user: iter([row for row in rows if row[0] == user]) for user in users}
    return [next(lines[user]) for user in users]


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row")


def pairs(rows: Rows, folder: Path) -> Any:
    users = dict.fromkeys(user for user, _, _ in rows)
    return {user: [(item, score) for of, item, score in rows if of == user] for user in users}


def trec(rows: Rows, folder: Path) -> Any:
    path = folder / "run.trec"
    path.write_text("".join(f"{user} Q0 {item} 1 {score} tag\n" for user, item, score in rows))
    return path


def csv(rows: Rows, folder: Path) -> Any:
    frame(rows).write_csv(folder / "run.csv")
    return folder / "run.csv"


def parquet(rows: Rows, folder: Path) -> Any:
    frame(rows).write_parquet(folder / "run.parquet")
    return folder / "run.parquet"


def json_lines(rows: Rows, folder: Path) -> Any:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps({"query": q, "doc": d, "score": s}) + "\n" for q, d, s in rows))
    return path


ROUTES: dict[str, Callable[[Rows, Path], Any]] = {
    "pairs": pairs,
    "rows": lambda rows, folder: rows,
    "records": lambda rows, folder: frame(rows).to_dicts(),
    "trec": trec,
    "shuffled trec": lambda rows, folder: trec(interleaved(rows), folder),
    "csv": csv,
    "shuffled csv": lambda rows, folder: csv(interleaved(rows), folder),
    "parquet": parquet,
    "polars": lambda rows, folder: frame(rows),
    "pandas": lambda rows, folder: frame(rows).to_pandas(),
    "JSON Lines": json_lines,
    "a run that was read before": lambda rows, folder: read_run(trec(rows, folder)),
}


def test_there_are_such_measures() -> None:
    assert {"Hole", "ItemCoverage", "Gini", "Entropy", "Personalisation", "Novelty", "UserCoverage"} <= {*OVER_TOPS}


def test_by_hand() -> None:
    """x is first with its first line, second with its last: the unjudged y is then first, and a third or second."""
    rows: Rows = [("q", "x", 3.0), ("q", "y", 2.0), ("q", "a", 1.5), ("q", "x", 1.0)]
    judged = {"q": {"x": 1, "a": 0}}
    for policy, hole_at_1, hole_at_2 in (("first", 0.0, 0.5), ("last", 1.0, 0.5)):
        scores = evaluate(judged, frame(rows), ["Hole@1", "Hole@2", "Unjudged@1", "Unjudged@2"], duplicates=policy)
        assert [scores["Hole@1"], scores["Hole@2"]] == [hole_at_1, hole_at_2]
        assert [scores["Unjudged@1"], scores["Unjudged@2"]] == [hole_at_1, hole_at_2]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("policy", POLICIES)
def test_first_documents_are_those_that_count(policy: str, route: str, tmp_path: Path) -> None:
    for seed in range(15):
        rows = drawn(seed)
        rules = Convention(duplicates=policy)
        inputs = resolve(QRELS, ROUTES[route](rows, tmp_path), rules)
        placed = pipeline.place(inputs.judgements, inputs.runs[0], rules)
        by_hand = ranked(rows, policy)
        for depth in (1, 2, 9):
            tops = dict(zip(placed.placements.queries, placed.top_documents(depth), strict=True))
            assert {user: list(top) for user, top in tops.items()} == {user: by_hand[user][:depth] for user in QRELS}, (
                seed,
                depth,
            )


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("policy", ["first", "last"])
def test_measures_equal_those_of_the_run_without_repeats(policy: Any, route: str, tmp_path: Path) -> None:
    for seed in range(15):
        rows = drawn(seed)
        alone = {user: dict(line) for user, line in counted(rows, policy).items()}
        wanted = evaluate(QRELS, alone, MEASURES, **BESIDE)
        found = evaluate(QRELS, ROUTES[route](rows, tmp_path), MEASURES, duplicates=policy, **BESIDE)
        assert found.mean == pytest.approx(wanted.mean, abs=0, nan_ok=True), seed


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("policy", ["count", "places"])
def test_measures_count_every_line(policy: Any, route: str, tmp_path: Path) -> None:
    """Every line is a place of the list, by whichever route; Hole@2 is then worked out by hand."""
    judged_somewhere = {item for row in QRELS.values() for item in row}
    for seed in range(15):
        rows = drawn(seed)
        found = evaluate(QRELS, ROUTES[route](rows, tmp_path), MEASURES, duplicates=policy, **BESIDE)
        assert found.mean == evaluate(QRELS, rows, MEASURES, duplicates=policy, **BESIDE).mean, seed
        holes = [sum(item not in judged_somewhere for item in top[:2]) / 2 for top in ranked(rows, policy).values()]
        assert found["Hole@2"] == pytest.approx(sum(holes) / 3, abs=1e-15), seed


@pytest.mark.parametrize("policy", ["first", "last"])
def test_what_users_had_is_removed_from_what_counts(policy: Any, tmp_path: Path) -> None:
    for seed in range(15):
        rows = drawn(seed)
        alone = {user: dict(line) for user, line in counted(rows, policy).items()}
        wanted = evaluate(QRELS, alone, MEASURES, overlap="allow", catalogue=Catalogue(**REMOVED))
        found = evaluate(
            QRELS, trec(rows, tmp_path), MEASURES, duplicates=policy, overlap="allow", catalogue=Catalogue(**REMOVED)
        )
        assert found.mean == pytest.approx(wanted.mean, abs=0, nan_ok=True), seed


@pytest.mark.parametrize("policy", ["first", "last"])
def test_runs_that_come_in_small_pieces(policy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of a document that counts, and the one that does not, lie in different pieces."""
    monkeypatch.setattr(sources, "PIECE", 64)
    test_measures_equal_those_of_the_run_without_repeats(policy, "trec", tmp_path)
    test_first_documents_are_those_that_count(policy, "shuffled trec", tmp_path)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("policy", ["first", "last"])
def test_what_is_judged_is_not_worth_judging(policy: Any, route: str, tmp_path: Path) -> None:
    for seed in range(15):
        rows = drawn(seed)
        rules = Convention(duplicates=policy, overlap="allow")
        asked = worth_judging(QRELS, ROUTES[route](rows, tmp_path), "P@4", convention=rules)
        by_hand = ranked(rows, policy)
        unjudged = {(user, item) for user in QRELS for item in by_hand[user][:4] if item not in QRELS[user]}
        assert {(one.query, one.doc) for one in asked} == unjudged, seed
        assert all(by_hand[one.query][one.rank - 1] == one.doc for one in asked), seed


@pytest.mark.parametrize("route", ROUTES)
def test_the_run_to_compare_with_is_held_to_the_policy_too(route: str, tmp_path: Path) -> None:
    """Serendipity is about what the other run does not show: its lists are those that count, or it is refused."""
    for seed in range(15):
        rows = drawn(seed)
        alone = {user: dict(line) for user, line in counted(rows, "first").items()}
        lists = {"u": ["c", "d"], "v": ["d", "e"], "w": ["a"]}
        wanted = evaluate(QRELS, lists, "Serendipity@2", catalogue=Catalogue(**{**KEPT, "against": alone}))
        against = ROUTES[route](rows, tmp_path)
        found = evaluate(
            QRELS, lists, "Serendipity@2", duplicates="first", catalogue=Catalogue(**{**KEPT, "against": against})
        )
        assert found.mean == wanted.mean, seed

    rows = [("u", "c", 2.0), ("u", "c", 1.0)]
    with raises_code(InputError, "duplicate-document", match="'c'"):
        against = ROUTES[route](rows, tmp_path)
        evaluate(QRELS, lists, "Serendipity@2", catalogue=Catalogue(**{**KEPT, "against": against}))
