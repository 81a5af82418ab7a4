"""Advice at the prompt names options of the command, and the way out of what new users run into."""

from __future__ import annotations

import pytest

from goldrank import evaluate
from goldrank.base.errors import MeasureError, MismatchError
from goldrank.cli import run


def told(capsys, folder, arguments, **files):
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    assert run(arguments.split()) == 2
    return capsys.readouterr().err


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_half_stars_lead_to_the_option_for_ratings(capsys, tmp_path):
    ratings = "userId,movieId,rating,timestamp\n1,1,4.0,964982703\n1,6,1.5,964982224\n"
    run_text = "userId,movieId,score\n1,6,0.9\n"
    error = told(capsys, tmp_path, "eval q.csv r.csv", q=ratings, r=run_text)
    assert "--relevant-from 4" in error
    assert "--real-grades" in error
    assert "=" not in error.splitlines()[-1]


@pytest.mark.parametrize("command", ["eval q.csv r.csv", "compare q.csv r.csv s.csv"])
def test_nothing_in_common_names_the_option(capsys, tmp_path, command):
    files = {"q": "query,doc,grade\nq,a,1\n", "r": "query,doc,score\nq,b,1\n", "s": "query,doc,score\nq,c,1\n"}
    error = told(capsys, tmp_path, command, **files)
    assert "--convention overlap=allow" in error
    assert "overlap='allow'" not in error


def test_a_number_within_another_says_nothing():
    with pytest.raises(MismatchError) as error:
        evaluate({"1": {"1193": 5, "661": 3}}, {"1": {"6": 0.9, "50": 0.2}}, "RR")
    assert "in addition" not in str(error.value)
    assert "overlap='allow'" in str(error.value)  # as it is spelled in Python


def test_several_measures_in_one_text_are_a_list_in_python():
    with pytest.raises(MeasureError, match=r'\["nDCG@5", "AP"\]'):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "nDCG@5,AP")
