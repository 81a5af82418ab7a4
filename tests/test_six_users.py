"""Six kinds of users with messy data of their own reach a number, a comparison, a report and a gate.

What they type is what README and `--help` show, and then what hints say. Numbers are those that
the generator counted.
"""

from __future__ import annotations

import re
from pathlib import Path

import messy_users
import numpy as np
import pytest
from messy_users import Files, Mess

import goldrank
from goldrank import cli

SEEDS = (1, 4, 5)
"""They draw, together, each habit of `Mess` at least once."""
OF_RATINGS = ["--map", "qrels.query=Search term,qrels.doc=SKU,qrels.grade=Rating (0-3),run.query=@queries.txt"]
OF_IDS = ["--map", "retrieved_ids=chunk_ids"]
OF_TEXTS = ["--map", "references=gold"]


def test_seeds_draw_every_habit() -> None:
    drawn = [Mess.by_lot(seed) for seed in SEEDS]
    for habit in ("mark", "windows", "semicolons", "index", "floats", "gaps", "packed"):
        assert any(getattr(mess, habit) for mess in drawn), habit
        assert not all(getattr(mess, habit) for mess in drawn), habit


@pytest.fixture(params=SEEDS)
def mess(request: pytest.FixtureRequest) -> Mess:
    return Mess.by_lot(request.param)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """A command in the user's folder: its output, after it ended with the expected code."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str, code: int = 0) -> str:
        ended = cli.run(list(words))
        out, err = capsys.readouterr()
        assert ended == code, out + err
        return out + err

    return command


def value(output: str, measure: str) -> float:
    """The number behind a measure in a table."""
    number = re.search(rf"^{re.escape(measure)} +\*?([0-9.]+)", output, re.MULTILINE)
    assert number is not None, output
    return float(number[1])


def reach_all(run, files: Files, judged: list[str], systems: list[str], measure: str, options: list[str]) -> None:
    """Number, comparison, report and gate with a baseline, for two systems of which the second is better."""
    for system in systems:
        output = run("eval", *judged, files.names[system], "-m", measure, *options)
        assert value(output, measure) == pytest.approx(files.truth[system.partition("_")[0]], abs=6e-5)

    old, new = (files.names[system] for system in systems)
    compared = run("compare", *judged, old, new, "-m", measure, "-o", "report.html", *options)
    assert " is better than " in compared
    assert "judge first" not in compared
    assert "<html" in Path("report.html").read_text(encoding="utf-8")

    gate = ["gate", *judged]
    rule = ["--baseline", "base.json", "--rule", f"{measure}: -1%", *options]
    assert "gate --update" in run(*gate, new, *rule, code=2)
    run(*gate, old, *rule, "--update")
    assert "PASS" in run(*gate, new, *rule)
    run(*gate, new, *rule, "--update")
    assert "FAIL" in run(*gate, old, *rule, code=1)


def test_trec(tmp_path: Path, run, mess: Mess) -> None:
    files = messy_users.trec(tmp_path, 5, mess)
    judged, old, new = files.names.values()
    for name in ("bm25", "colbert"):
        output = run("eval", judged, files.names[name], "-m", "R@10")
        assert value(output, "R@10") == pytest.approx(files.truth[name], abs=6e-5)
    compared = run("compare", judged, old, new, "-m", "R@10", "-o", "report.html")
    assert "input.bm25" in compared
    assert "input.colbert" in compared
    assert "(2)" not in compared
    run("gate", judged, old, "--baseline", "base.json", "--rule", "R@10: -1%", "--update")
    assert "PASS" in run("gate", judged, new, "--baseline", "base.json", "--rule", "R@10: -1%")


def test_search_engine(tmp_path: Path, run, mess: Mess) -> None:
    files = messy_users.search(tmp_path, 5, mess)
    first_try = run("compare", files.names["ratings"], files.names["prod"], files.names["candidate"], code=2)
    assert OF_RATINGS[1].rpartition(",")[0] in first_try
    reach_all(run, files, [files.names["ratings"]], ["prod", "candidate"], "R@10", OF_RATINGS)


def test_rag_with_ids(tmp_path: Path, run, mess: Mess) -> None:
    files = messy_users.rag(tmp_path, 5, mess)
    assert "--map retrieved_ids=chunk_ids" in run("eval", files.names["naive_ids"], code=2)
    reach_all(run, files, [], ["naive_ids", "hybrid_ids"], "R@5", OF_IDS)


def test_rag_with_texts(tmp_path: Path, run, mess: Mess) -> None:
    files = messy_users.rag(tmp_path, 5, mess)
    assert "--map references=gold" in run("texts", files.names["naive_texts"], code=2)
    for name in ("naive", "hybrid"):
        run("texts", files.names[f"{name}_texts"], "-m", "Cover@5", *OF_TEXTS, "-o", f"{name}.json")
    assert " is better than " in run("compare", "naive.json", "hybrid.json", "-o", "report.html")
    run("gate", "naive.json", "--baseline", "base.json", "--update")
    assert "PASS" in run("gate", "hybrid.json", "--baseline", "base.json", "--rule", "Cover@5: -1%")


@pytest.mark.parametrize("shape", ["wide", "long", "cell"])
def test_recommender(tmp_path: Path, run, mess: Mess, shape: str) -> None:
    files = messy_users.recommender(tmp_path, 5, mess)
    ratings, lists = files.names["ratings"], files.names[f"als_{shape}"]
    assert "--relevant-from 4" in run("eval", ratings, lists, code=2)
    options = ["--relevant-from", "4", "--convention", "empty=skip"]
    if shape == "cell" and mess.floats:
        assert "12.0 for 12" in run("eval", ratings, lists, *options, code=2)
        return
    reach_all(run, files, [ratings], [f"als_{shape}", f"twotower_{shape}"], "R@10", options)
    trained = run(
        "eval", ratings, lists, "-m", "R@10,Novelty@5", "--catalogue", f"train={files.names['train']}", *options
    )
    assert value(trained, "Novelty@5") > 0
    assert value(trained, "R@10") == pytest.approx(files.truth["als"], abs=6e-5)  # lists have nothing of the log


def test_training_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    grades = rng.integers(0, 4, (60, 12))
    old, new = rng.normal(0.3 * grades), rng.normal(1.5 * grades)
    compared = goldrank.compare(
        {name: goldrank.evaluate_arrays(grades, scores, "P@1") for name, scores in (("old", old), ("new", new))}
    )
    best = np.arange(60), new.argmax(axis=1)
    assert compared.scores["new"]["P@1"] == pytest.approx((grades[best] >= 1).mean())
    assert compared.pair.verdict == "better"
    compared.save("report.html")
    assert "<html" in Path("report.html").read_text(encoding="utf-8")
    assert goldrank.gate(compared.scores["new"], "P@1 >= 0.5").status == "pass"


@pytest.mark.parametrize("shape", ["wide", "long", "cell"])
def test_notebook(tmp_path: Path, shape: str) -> None:
    pandas = pytest.importorskip("pandas")
    files = messy_users.recommender(tmp_path, 5, Mess(index=True, floats=True, gaps=0.05))
    read = {name: pandas.read_csv(tmp_path / file, index_col=0) for name, file in files.names.items()}
    assert read["ratings"]["movieId"].dtype == "float64"
    qrels = goldrank.read_qrels(read["ratings"], relevant_from=4)
    for model in ("als", "twotower"):
        scores = goldrank.evaluate(qrels, read[f"{model}_{shape}"], "R@10", empty="skip")
        assert scores["R@10"] == pytest.approx(files.truth[model])
    compared = goldrank.compare(qrels, {"a": read[f"als_{shape}"], "b": read[f"twotower_{shape}"]}, "R@10")
    assert compared.pair.verdict == "better"
    assert goldrank.gate(scores, "R@10 >= 0.1").status == "pass"
