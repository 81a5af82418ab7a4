"""`--doc-of`: chunk ids at the prompt, from the error that offers it to the number."""

from __future__ import annotations

import re
import shlex

import pytest

from goldrank.cli import run


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.qrels").write_text("q 0 b 1\n")
    (tmp_path / "chunks.qrels").write_text("q 0 b#1 1\nq 0 b#2 1\n")
    (tmp_path / "chunks.run").write_text("q Q0 a#1 1 3.0 t\nq Q0 a#2 2 2.0 t\nq Q0 b#7 3 1.0 t\n")
    (tmp_path / "docs.run").write_text("q Q0 a 1 3.0 t\nq Q0 b 2 2.0 t\n")


@pytest.mark.parametrize(("qrels", "run_file"), [("docs.qrels", "chunks.run"), ("chunks.qrels", "docs.run")])
def test_the_error_offers_the_option_and_the_option_works(qrels, run_file, capsys):
    """b is the second document of both runs."""
    assert run(["eval", qrels, run_file, "-m", "RR"]) == 2
    offered = re.search(r"--doc-of '\S+'", capsys.readouterr().err)
    assert offered is not None

    assert run(["eval", qrels, run_file, "-m", "RR", *shlex.split(offered[0])]) == 0
    assert re.search(r"RR +0\.5000", capsys.readouterr().out)


def test_both_sides_may_be_rolled_up(capsys):
    assert run(["eval", "chunks.qrels", "chunks.run", "-m", "RR", "--doc-of", "#", "--doc-of", "qrels.#"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"RR +0\.5000", shown.out)
    assert "3 parts became 2 documents" in shown.err


def test_compare_and_gate_take_it_too():
    assert run(["compare", "docs.qrels", "chunks.run", "two=chunks.run", "-m", "RR", "--doc-of", "#"]) == 0
    assert run(["gate", "docs.qrels", "chunks.run", "--rule", "RR >= 0.5", "--doc-of", "#"]) == 0
    assert run(["gate", "docs.qrels", "chunks.run", "--rule", "RR >= 0.6", "--doc-of", "#"]) == 1


def test_wrong_rules_get_words(capsys):
    assert run(["eval", "docs.qrels", "chunks.run", "--doc-of", "(a)(b)"]) == 2
    assert "groups" in capsys.readouterr().err


def test_parts_that_the_file_lacks_are_said(tmp_path, capsys):
    """b#7 is not in the file, so that b is not found: that must not look like a result of the run alone."""
    (tmp_path / "parts.tsv").write_text("a#1\ta\na#2\ta\n")
    (tmp_path / "some.qrels").write_text("q 0 b 1\nq 0 a 0\n")
    assert run(["eval", "some.qrels", "chunks.run", "-m", "RR", "--doc-of", "parts.tsv"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"RR +0\.0000", shown.out)
    assert "1 id of a part has no other document by the rule, and stays as it is: 'b#7'" in shown.err


def test_a_file_that_does_not_exist_is_no_separator(capsys):
    assert run(["eval", "docs.qrels", "chunks.run", "-m", "RR", "--doc-of", "missing.tsv"]) == 2
    assert "there is no file 'missing.tsv'" in capsys.readouterr().err
