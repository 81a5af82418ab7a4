"""Comparisons of arrays, of texts and of saved scores: the same decision and the same page as of runs."""

import json

import numpy as np
import pytest

from goldrank import Scores, compare, evaluate_arrays, evaluate_texts
from goldrank.cli import run as command
from goldrank.report.show import render


def records(first_rank):
    """Thirty questions whose first reference is at a rank, and whose second one nobody has."""
    texts = [f"nothing of use {i}" for i in range(3)]
    texts.insert(first_rank - 1, "The answer to everything is forty-two, as all know.")
    references = ["The answer to everything is forty-two", "A fact that nobody has found"]
    return [
        {"id": f"q{i}", "question": f"Question {i}?", "reference_contexts": references, "retrieved_contexts": texts}
        for i in range(30)
    ]


@pytest.fixture
def files(tmp_path):
    for name, rank in (("low", 4), ("high", 1)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records(rank))))
    return [f"{name}={tmp_path / name}.jsonl" for name in ("low", "high")]


def test_files_of_texts_are_compared_at_the_prompt(files, tmp_path, capsys):
    assert command(["compare", *files, "-m", "Cover@3,RR", "-o", str(tmp_path / "page.html")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("high is better than low: +0.5000 Cover@3")
    assert "Question 0?" in out
    # Cover@3 looks at three texts: the fourth one's reference counts as not covered.
    assert 'low: "The answer to everything is forty-two" and 1 more; high: "A fact that nobody has found"' in out
    page = (tmp_path / "page.html").read_text()
    for words in ("Question 0?", "not covered", "A fact that nobody has found", 'class="say better"'):
        assert words in page


def test_options_of_runs_are_refused_for_texts(files, capsys):
    assert command(["compare", *files, "--depth", "5"]) == 2
    assert "--depth is for judgements and runs" in capsys.readouterr().err


def test_scores_of_texts_know_questions_and_what_is_missing():
    systems = {"low": evaluate_texts(records(4), "Cover@3"), "high": evaluate_texts(records(1), "Cover@3")}
    result = compare(systems)
    assert result.question("q3") == "Question 3?"
    assert result.not_covered("high", "q3") == ("A fact that nobody has found",)
    assert len(result.not_covered("low", "q3")) == 2
    assert "A fact that nobody has found" in render(result, "html")


def test_arrays_and_saved_scores_give_the_page_of_runs(tmp_path):
    rng = np.random.default_rng(0)
    relevant = (rng.random((40, 12)) < 0.3).astype(int)
    relevant[:, 0] = 1
    fresh = {
        "a": evaluate_arrays(relevant, rng.random((40, 12)), ["nDCG@5", "RR"]),
        "b": evaluate_arrays(relevant, relevant + rng.random((40, 12)), ["nDCG@5", "RR"]),
    }
    saved = {}
    for name, scores in fresh.items():
        scores.save(tmp_path / f"{name}.json")
        saved[name] = Scores.load(tmp_path / f"{name}.json")

    for systems in (fresh, saved):
        result = compare(systems)
        assert result.pair.verdict == "better"
        page = render(result, "html")
        assert 'class="say better"' in page
        assert "b is better than a" in page
    assert compare(fresh).pair.interval == compare(saved).pair.interval
