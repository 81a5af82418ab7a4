"""At the prompt: measures with commas, grouped help with examples that hold, completion, a word while it works."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import places
import pytest
from terminal import seen_on_a_terminal

from goldrank import evaluate
from goldrank.base.errors import OptionError
from goldrank.cli import GROUPS, TITLES, all_commands, group, inputs, run, top_level
from goldrank.cli.examples import EXAMPLES
from goldrank.cli.nouns import split_at_commas
from goldrank.io.sources import open_source


@pytest.fixture
def files(tmp_path: Any) -> list[str]:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n")
    return [str(tmp_path / "q"), str(tmp_path / "r")]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("nDCG@10,AP", ["nDCG@10", "AP"]), (" nDCG@10 , AP ,", ["nDCG@10", "AP"]), ("AP", ["AP"]),
        ('nDCG(gain="exp2", rel=2)@20,P(rel=2)@5', ['nDCG(gain="exp2", rel=2)@20', "P(rel=2)@5"]),
        ("X(a={1,2}),AP", ["X(a={1,2})", "AP"]), ("X{1,2},AP", ["X{1,2}", "AP"]), ("X[1,2],AP", ["X[1,2]", "AP"]),
        ('X(a="b,c")', ['X(a="b,c")']), ("nDCG@5,10", ["nDCG@5", "10"]),
    ],
)  # fmt: skip
def test_commas(text: str, want: list[str]) -> None:
    assert split_at_commas(text) == want


def test_measures_with_commas(files: list[str], capsys: Any) -> None:
    assert run(["eval", *files, "-m", "RR,P(rel=1, judged_only=True)@1", "-m", "AP"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("RR", "P(judged_only=True)@1", "AP"))


def test_help_has_groups(capsys: Any) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    places_of = [out.index(f"\n{TITLES.get(title, title.capitalize())}:\n") for title in GROUPS]
    assert places_of == sorted(places_of)
    assert all(f"\n  {name} " in out for name in top_level())
    assert len(top_level()) == 26


@pytest.mark.parametrize("name", sorted({*all_commands(), *top_level()}))
def test_help_ends_with_examples(name: str, capsys: Any) -> None:
    assert EXAMPLES.get(name), "every command has examples"
    if name == "trec_eval":  # its help is trec_eval's
        return
    assert run([*name.split(), "--help"]) == 0
    last = capsys.readouterr().out.rstrip().splitlines()
    assert last[-len(EXAMPLES[name]) :] == [f"    goldrank {line}" for line in EXAMPLES[name]]


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_are_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of an example exists, and takes what it is given."""
    monkeypatch.chdir(tmp_path)
    for word in re.findall(r"[\w/]+\.[a-z]+", line):
        Path(word).parent.mkdir(parents=True, exist_ok=True)
        Path(word).touch()
    name, *words = shlex.split(line.split(" >>")[0])
    if name == "trec_eval":
        return
    command = group.get_command(click.Context(group), name)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    command.make_context(name, words)


def completed(words: str, folder: Path) -> set[str]:
    """What click's own completion offers for the last word."""
    env = {**os.environ, "_GOLDRANK_COMPLETE": "bash_complete", "COMP_WORDS": words}
    env |= {"COMP_CWORD": str(len(words.split(" ")) - 1), "PYTHONPATH": str(places.ROOT / "src")}
    command = [sys.executable, "-m", "goldrank"]
    found = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    return {line.partition(",")[2] for line in found.stdout.split()}


def test_completion_has_its_scripts() -> None:
    env = {**os.environ, "_GOLDRANK_COMPLETE": "zsh_source", "PYTHONPATH": str(places.ROOT / "src")}
    command = [sys.executable, "-m", "goldrank"]
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "_GOLDRANK_COMPLETE" in found.stdout


def test_completion_completes(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("qid,docno,stars\nq1,d1,1\n")
    assert completed("goldrank comp", tmp_path) == {"compare"}
    assert completed("goldrank eval q.csv -m AP,nDCG@", tmp_path) == set()
    assert "AP,nDCG" in completed("goldrank eval q.csv -m AP,nDC", tmp_path)
    assert completed("goldrank eval q.csv --map query=q", tmp_path) == {"query=qid"}
    assert completed("goldrank eval q.csv --map query=qid,doc=", tmp_path) == {
        "query=qid,doc=qid",
        "query=qid,doc=docno",
        "query=qid,doc=stars",
    }
    assert completed("goldrank eval q.csv --convention ranx,missing=s", tmp_path) == {"ranx,missing=skip"}


def test_measures_begin_with_what_people_use(capsys: Any) -> None:
    assert run(["measures"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[:6]]
    assert names == ["nDCG", "AP", "RR", "R", "P", "Success"]


def test_reading_what_is_compressed_says_how_far_it_is(tmp_path: Any) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"".join(b"q%d Q0 d%d 1 1 t\n" % (i, i * 7919) for i in range(60_000))))
    source = open_source(path)
    seen: list[int] = []
    source.watch = seen.append
    assert sum(len(chunk) for chunk in source.chunks()) > 0
    assert seen == sorted(seen)
    assert 0 < seen[-1] <= path.stat().st_size


def test_a_word_while_it_works(tmp_path: Any) -> None:
    """On a terminal only, and gone at the end."""
    program = (
        "import time; from goldrank.cli import inputs; inputs.WORKING_DELAY = 0.0\n"
        "with inputs.working('counting sheep'): time.sleep(0.5)\n"
    )
    seen = seen_on_a_terminal("-c", program, TERM="xterm")
    assert b"counting sheep" in seen


def test_nothing_in_a_pipe(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(inputs, "WORKING_DELAY", 0.0)
    with inputs.working("counting sheep"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("measures nothing", "unknown measure 'nothing'\n"),
        ("measures ndgc", "unknown measure 'ndgc'\n"),
        ("record scores.json --input trec", "--input is for judgements and runs"),
        ("record scores.json --format trec", "--format is now: --input FORMAT"),
        ("leaderboard qrels.txt a.run", "`goldrank leaderboard` is now: compare"),
        ("eval qrels.txt a.run -o json", "what the terminal shows is --as json"),
        ("fuse qrels.txt a.run b=a.run --fusion combannz", "it must be one of: sum, mnz, anz"),
    ],
)
def test_errors_name_what_was_typed(line: str, said: str, tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q 0 a 1\n")
    Path("a.run").write_text("q Q0 a 1 1.0 x\n")
    assert run(["eval", "qrels.txt", "a.run", "-o", "scores.json"]) == 0
    capfd.readouterr()
    assert run(shlex.split(line)) == 2
    assert said in capfd.readouterr().err


def test_fusion_takes_the_names_of_papers(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q 0 a 1\n")
    Path("a.run").write_text("q Q0 a 1 1.0 x\n")
    for name in ("combanz", "comb_mnz", "weighted_sum"):
        assert run(["fuse", "qrels.txt", "a.run", "b=a.run", "--fusion", name]) == 0
    assert run(["eval", "qrels.txt", "a.run"]) == 0
    assert "\n  1 query, trec_eval-10\n" in capfd.readouterr().out


def test_an_option_of_a_measure_is_no_policy() -> None:
    with pytest.raises(OptionError, match=r"AP\(judged_only=True\)"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", judged_only=True)  # type: ignore[call-overload]
