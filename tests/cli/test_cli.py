"""The command line as a person meets it: right output, right exit code, never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import places
import pytest

from goldrank.cli import run

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\nq2 0 d4 1\n"
RUN = "q1 Q0 d1 1 3.0 r\nq1 Q0 d2 2 2.0 r\nq1 Q0 d3 3 1.0 r\nq2 Q0 d4 1 3.0 r\nq2 Q0 d5 2 2.0 r\n"
# q1: relevant at ranks 1 and 3 of 2: AP = (1/1 + 2/3) / 2 = 5/6. q2: at rank 1 of 2: AP = 1/2. Mean 2/3.
AP = {"q1": (1 / 1 + 2 / 3) / 2, "q2": (1 / 1) / 2}
ENV = {**os.environ, "PYTHONPATH": str(places.ROOT / "src"), "COLUMNS": "100"}

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q").write_text(QRELS)
    (tmp_path / "r").write_text(RUN)
    return tmp_path


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", ENV["COLUMNS"])


def process(*args: object, stdin: str | None = None) -> tuple[int, str, str]:
    """The command as a process of its own: its code, output and messages."""
    command = [sys.executable, "-m", "goldrank", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, input=stdin, env=ENV, check=False)
    return done.returncode, done.stdout, done.stderr


def in_process(*args: object) -> tuple[int, str, str]:
    """The same without a new Python."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(map(str, args)))
    return code, out.getvalue(), err.getvalue()


def ok(*args: object, call: Call = in_process, **more: str) -> str:
    code, out, err = call(*args, **more)
    assert code == 0, err
    return out


def refused(*args: object, call: Call = in_process, **more: str) -> str:
    code, _, err = call(*args, **more)
    assert code == 2
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("call", [process, in_process])
def test_table(files: Path, call: Call) -> None:
    text = ok("eval", files / "q", files / "r", "-m", "AP", "-m", "NumRet", call=call)
    assert text.splitlines()[:3] == ["measure       r", "AP       0.6667", "NumRet        5"]
    assert "2 queries, trec_eval-10" in text


def test_by_query(files: Path) -> None:
    lines = ok("eval", files / "q", files / "r", "-m", "AP", "-q").splitlines()
    assert lines[:3] == ["query      AP", "q1     0.8333", "q2     0.5000"]


def test_json(files: Path) -> None:
    data = json.loads(ok("eval", files / "q", files / "r", "-m", "AP", "-q", "--as", "json"))
    assert data["queries"] == ["q1", "q2"]
    assert data["measures"]["AP"]["values"] == [AP["q1"], AP["q2"]]
    assert data["measures"]["AP"]["summary"] == (AP["q1"] + AP["q2"]) / 2
    assert data["provenance"]["policies"]["missing"] == "zero"


@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("tsv", "\t")])
def test_separated(files: Path, ending: str, mark: str) -> None:
    ok("eval", files / "q", files / "r", "-m", "RR", "-q", "-o", files / f"x.{ending}")
    lines = (files / f"x.{ending}").read_text().splitlines()
    assert [line.split(mark) for line in lines] == [["run", "query", "RR"], ["r", "q1", "1.0"], ["r", "q2", "1.0"]]


def test_markdown(files: Path) -> None:
    lines = ok("eval", files / "q", files / "r", "-m", "RR", "--as", "markdown").splitlines()
    assert lines == ["| run | RR |", "|---|---:|", "| r | 1.0000 |"]


def test_several_runs_keep_their_names(files: Path) -> None:
    (files / "other").mkdir()
    (files / "other" / "r").write_text(RUN.replace("3.0", "0.5"))
    # q1: d2, d3, d1: relevant at 2 and 3: (1/2 + 2/3) / 2 = 7/12. q2: d5, d4: (1/2) / 2 = 1/4. Mean 5/12.
    data = json.loads(ok("eval", files / "q", files / "r", files / "other" / "r", "-m", "AP", "--as", "json"))
    assert [one["run"] for one in data["runs"]] == [f"{files.name}/r", "other/r"]
    assert data["runs"][1]["measures"]["AP"]["summary"] == pytest.approx(5 / 12, abs=1e-15)


def test_by_query_file_and_save(files: Path) -> None:
    ok("eval", files / "q", files / "r", "-m", "AP", "-q", "-o", files / "out.csv", "-o", files / "s.json")
    assert (files / "out.csv").read_text().splitlines()[0] == "run,query,AP"
    assert json.loads((files / "s.json").read_text())["format"] == "goldrank-scores"


@pytest.mark.slow
def test_standard_input(files: Path) -> None:
    assert "0.6667" in ok("eval", files / "q", "-", "-m", "AP", call=process, stdin=RUN)
    assert "only once" in refused("eval", "-", "-", call=process, stdin=RUN)


def test_policies(files: Path) -> None:
    (files / "r").write_text("".join(RUN.splitlines(keepends=True)[:3]))
    assert "0.4167" in ok("eval", files / "q", files / "r", "-m", "AP")  # (5/6 + 0) / 2
    assert "0.8333" in ok("eval", files / "q", files / "r", "-m", "AP", "--convention", "missing=skip")
    assert "1 judged queries are not in the run: 'q2'" in refused(
        "eval", files / "q", files / "r", "-m", "AP", "--convention", "missing=error"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["evl"], "Did you mean eval?"),
        (["eval", "nowhere", "r"], "nowhere: cannot be opened: No such file or directory"),
        (["eval", "q", "nowhere"], "nowhere: cannot be opened: No such file or directory"),
        (["eval", "q", "."], "empty: 0 bytes, no data lines"),
        (["eval", "q", "r", "-m", "nDGC@10"], "Did you mean nDCG@10?"),
        (["eval", "q", "r", "-m", "P"], "P needs a cut-off"),
        (["eval", "q", "r", "-m", "P@0"], "a cut-off is from 1"),
        (["eval", "q", "r", "--convention", "ties=random"], "docid"),
        (["eval", "q", "empty"], "empty: 0 bytes, no data lines"),
        (["eval", "q"], "Missing argument"),
        (["eval", "r", "q"], "looks like a line of a run"),
        (["measures", "nDGC"], "Did you mean nDCG"),
        (["convert", "r", "nowhere/x.json"], "cannot be written"),
    ],
)
def test_mistakes_get_a_sentence(files: Path, arguments: list[str], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "empty").touch()
    monkeypatch.chdir(files)
    told = refused(*arguments)
    assert text in told
    assert "\\n" not in told  # no line end that was escaped


def test_bug_is_told_without_traceback(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import goldrank.evaluation.rankings

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(goldrank.evaluation.rankings, "evaluate", broken)
    assert run(["eval", str(files / "q"), str(files / "r")]) == 2
    assert "internal error: ZeroDivisionError: oops" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["measures", "eval q r -q --as csv", "trec_eval -q q r"])
def test_closed_pipe_is_no_error(files: Path, arguments: str) -> None:
    for reader in ("head -1", "true"):
        command = f"set -o pipefail; {sys.executable} -m goldrank {arguments} | {reader}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=ENV, cwd=files, check=False)
        assert done.returncode == 0
        assert "Error" not in done.stderr
        assert "Traceback" not in done.stderr


def test_measures_page() -> None:
    assert "nDCG" in ok("measures")
    page = ok("measures", "ndcg_cut_10")
    assert "Jarvelin" in page
    assert "gain='linear'" in page
    assert json.loads(ok("measures", "P", "--as", "json"))["cutoff"] == "needed"


def test_convert_round_trip(files: Path) -> None:
    ok("convert", files / "r", files / "r.parquet")
    ok("convert", files / "r.parquet", files / "r.json")
    ok("convert", files / "q", files / "q.json", "--qrels")
    assert "0.6667" in ok("eval", files / "q.json", files / "r.json", "-m", "AP")


def test_demo(tmp_path: Path) -> None:
    text = ok("demo", "--write", tmp_path / "demo")
    assert "bm25" in text
    assert "What this says" in text
    ok("eval", tmp_path / "demo" / "household.qrels", tmp_path / "demo" / "bm25.run", "-q")


def test_control_bytes_do_not_reach_the_terminal(files: Path) -> None:
    (files / "q").write_text("\x1b[31mq1\x1b]0;pwn\x07 0 d1 1\n")
    (files / "r").write_text("\x1b[31mq1\x1b]0;pwn\x07 Q0 d1 1 3.0 r\n")
    for output in ("terminal", "json", "csv", "markdown"):
        text = ok("eval", files / "q", files / "r", "-q", "--as", output)
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "pwn" in text


def test_query_named_all(files: Path) -> None:
    (files / "q").write_text(QRELS.replace("q2", "all"))
    (files / "r").write_text(RUN.replace("q2", "all"))
    data = json.loads(ok("eval", files / "q", files / "r", "-m", "AP", "-q", "--as", "json"))
    assert dict(zip(data["queries"], data["measures"]["AP"]["values"], strict=True)) == {
        "q1": AP["q1"],
        "all": AP["q2"],
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_progress_shows_on_a_terminal_only(files: Path) -> None:
    """With no delay at all, a terminal sees the bar; a pipe never does."""
    code = (
        "import goldrank.cli.inputs as c, goldrank.io.sources as s; c.PROGRESS_DELAY = -1; s.PIECE = 16;"
        f"from goldrank.cli import run; run(['eval', {str(files / 'q')!r}, {str(files / 'r')!r}, '-m', 'AP'])"
    )
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=child, env={**ENV, "TERM": "xterm"}
    )
    output, _ = process.communicate(timeout=60)
    os.close(child)
    time.sleep(0.1)
    seen = b""
    while True:
        try:
            data = os.read(parent, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(parent)
    assert b"0.6667" in output
    assert b"reading" in seen
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, env=ENV, check=True)
    assert b"reading" not in piped.stderr
    assert b"80.0% of the returned documents are judged" in piped.stderr  # notes go there
