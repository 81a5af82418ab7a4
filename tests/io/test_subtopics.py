"""Judgements by subtopic and preferences, told by what is measured; and the error that leads there."""

from __future__ import annotations

import pytest

from goldrank import InputError, Preferences, evaluate, read_aspects, read_preferences, read_qrels
from goldrank.cli import run as command

SUBTOPICS = "q 1 a 1\nq 2 a 0\nq 1 b 0\nq 2 b 1\n"
RUN = {"q": ["a", "x", "b"]}
"""Subtopic 1 is met at rank 1, subtopic 2 at rank 3: half of the subtopics within the first two."""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "sub.qrels").write_text(SUBTOPICS)
    return tmp_path / "sub.qrels"


def test_a_file_is_read_as_the_measure_asks(path):
    assert evaluate(path, RUN, "StRecall@2")["StRecall@2"] == 1 / 2
    assert evaluate(str(path), RUN, ["StRecall@3", "P@1"]).mean == {"StRecall@3": 1.0, "P@1": 1.0}


def test_the_error_leads_to_measures_of_subtopics(path):
    with pytest.raises(InputError, match="is judged 0 here") as error:
        read_qrels(path)
    assert "judgements='last'" not in error.value.hint
    assert "alpha_nDCG@20" in error.value.hint
    assert (
        evaluate(path, RUN, "alpha_nDCG@20")["alpha_nDCG@20"]
        == evaluate(read_aspects(path), RUN, "alpha_nDCG@20")["alpha_nDCG@20"]
    )


def test_contradictions_of_one_judge_keep_their_hint(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 a 0\n")
    with pytest.raises(InputError) as error:
        read_qrels(tmp_path / "qrels")
    assert "judgements='last'" in error.value.hint


@pytest.mark.parametrize("text", ["q 0 1 a 2.0\nq 0 1 b 1.0\n", "q 0 a 2.0\nq 0 b 1.0\n"])
def test_preferences_are_told_by_their_columns(text, tmp_path):
    (tmp_path / "prefs").write_text(text)
    assert isinstance(read_preferences(tmp_path / "prefs"), Preferences)
    assert evaluate(tmp_path / "prefs", {"q": ["a", "b"]}, "Prefs")["Prefs"] == 1.0


def test_the_prompt_reads_subtopics_by_the_measure(path, tmp_path, capsys):
    (tmp_path / "run.txt").write_text("q Q0 a 1 3.0 t\nq Q0 x 2 2.0 t\nq Q0 b 3 1.0 t\n")
    assert command(["eval", str(path), str(tmp_path / "run.txt"), "-m", "AP"]) == 2
    assert "alpha_nDCG@20" in capsys.readouterr().err
    assert command(["eval", str(path), str(tmp_path / "run.txt"), "-m", "StRecall@2,alpha_nDCG@20"]) == 0
    assert "StRecall@2     0.5000" in capsys.readouterr().out


def test_the_prompt_tells_subtopics_by_content(path, tmp_path, capsys):
    """Without -m, measures of subtopics are shown: both subtopics are met within the first ten."""
    (tmp_path / "run.txt").write_text("q Q0 a 1 3.0 t\nq Q0 x 2 2.0 t\nq Q0 b 3 1.0 t\n")
    assert command(["eval", str(path), str(tmp_path / "run.txt")]) == 0
    lines = dict(line.split() for line in capsys.readouterr().out.splitlines()[1:5])
    assert list(lines) == ["alpha_nDCG@10", "ERR_IA@10", "StRecall@10", "P_IA@10"]
    assert lines["StRecall@10"] == "1.0000"


def test_judgements_by_aspect_and_preferences_have_usual_measures(path):
    assert list(evaluate(read_aspects(path), RUN)) == ["alpha_nDCG@10", "ERR_IA@10", "StRecall@10", "P_IA@10"]
    preferences = Preferences({"q": {"judge": [{"a": 2, "b": 1}]}})
    assert evaluate(preferences, {"q": ["a", "b"]}).mean == {"Prefs": 1.0}
