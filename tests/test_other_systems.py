"""What other systems do not have or do differently, taken away here: Windows and macOS are not among our machines."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import places
import pytest
import windows_files
from lanes import few

import goldrank
from goldrank import evaluate, read_run
from goldrank.base import forking, writing
from goldrank.cli.inputs import named_file
from goldrank.io import sources
from goldrank.io.by_id import text_index
from goldrank.io.text import scan
from goldrank.judging import command

QRELS = {"q": {"a": 1, "b": 0}}
RUN = {"q": {"a": 0.1234567890123456789, "b": 12345678901234567.0, "c": 0.30000000000000004}}


def test_long_doubles_that_are_doubles(tmp_path, monkeypatch):
    """Windows, and macOS on arm: numbers of many digits are read to the same bit, by another way."""
    lines = [f"q Q0 d{i} 1 {i}.{'1234567890123456789'[: i % 19 + 1]} t\n" for i in range(1, 400)]
    (tmp_path / "r").write_text("".join(lines))
    expected = {f"d{i}": float(line.split()[4]) for i, line in enumerate(lines, 1)}
    assert dict(read_run(tmp_path / "r")["q"]) == expected
    monkeypatch.setattr(scan.np, "finfo", lambda kind: SimpleNamespace(nmant=52))
    assert dict(read_run(tmp_path / "r")["q"]) == expected


def test_files_that_are_open_elsewhere(tmp_path, monkeypatch):
    """Windows refuses to replace them; they are written to."""

    def refuse(*names):
        raise PermissionError(13, "being used by another process")

    monkeypatch.setattr(writing.os, "replace", refuse)
    target = tmp_path / "r.json"
    read_run(RUN).save(target)
    read_run(RUN).save(target)
    assert {path.name for path in tmp_path.iterdir()} == {"r.json"}
    assert read_run(target).results == RUN


def test_temporary_files_are_closed_before_they_are_opened_again(monkeypatch):
    """Windows cannot open by its name a temporary file that is still open."""
    monkeypatch.setattr(sources, "SPOOL", 10)
    still_open = set()
    opened = open

    def watched(path, mode="r", *more, **how):
        assert str(path) not in still_open
        file = opened(path, mode, *more, **how)
        if "w" in mode:
            still_open.add(str(path))
            closing = file.close
            file_name = str(path)

            class Watched(io.BufferedWriter):
                def close(self):
                    super().close()
                    still_open.discard(file_name)

            closing()
            return Watched(opened(path, mode, buffering=0))
        return file

    monkeypatch.setattr(sources, "open", watched, raising=False)
    source = sources.open_source(io.BytesIO(b"q Q0 a 1 1.0 t\n" * 3))
    assert source.read() == b"q Q0 a 1 1.0 t\n" * 3
    path = source.path
    assert path.exists()
    del source
    assert not path.exists()


def test_systems_without_proc(monkeypatch):
    """macOS: what was loaded before a fork is not trusted after it; without a fork nothing changes."""
    frame = pytest.importorskip("polars").DataFrame({"query": ["q"], "doc": ["a"], "score": [1.0]})
    monkeypatch.setattr(forking, "_TASKS", "/no/such/folder")
    monkeypatch.setattr(forking, "_sound_in", 0)
    assert evaluate(QRELS, frame, "RR")["RR"] == 1.0
    monkeypatch.setattr(forking, "_loaded_at_fork", True)
    monkeypatch.setattr(forking, "_sound_in", 0)
    with pytest.raises(goldrank.GoldrankError) as caught:
        evaluate(QRELS, frame, "RR")
    assert caught.value.code == "forked"


PROGRAM = """
import os, signal, sys
for name in ("fork", "register_at_fork", "sched_getaffinity", "getuid"):
    if hasattr(os, name):
        delattr(os, name)
del signal.SIGHUP
sys.modules["resource"] = sys.modules["fcntl"] = sys.modules["pwd"] = None
from goldrank.cli import run
for line in sys.argv[1:]:
    code = run(line.split())
    if code != 0:
        sys.exit(f"{line}: {code}")
"""


@pytest.mark.parametrize("locale", few(["utf-16", "cp1252", "ascii"], 1))
def test_other_encodings_and_missing_functions(tmp_path, locale):
    """No fork, no SIGHUP, no resource; consoles of another encoding; and no file is opened in the locale's."""
    (tmp_path / "q").write_text("qé 0 dü 1\n", "utf-8")
    (tmp_path / "r").write_text("qé Q0 dü 1 1.0 t\n", "utf-8")
    env = {
        **os.environ, "PYTHONPATH": str(places.ROOT / "src"), "PYTHONIOENCODING": locale, "PYTHONUTF8": "0",
        "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0",
    }  # fmt: skip
    warned = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning:goldrank"]
    commands = (
        "eval q r -q -o s.json -o b.csv",
        "record s.json --label main",
        "history -o h.html",
        "compare q r two=r --statistics samples=100 -o c.html -o c.md",
        "gate q r --rule RR>=0.5 -o g.md",
    )
    program = [sys.executable, *warned, "-c", PROGRAM, *commands]
    done = subprocess.run(program, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    done.stdout.decode("utf-8")
    for name in ("h.html", "c.html", "c.md", "g.md"):
        assert (tmp_path / name).stat().st_size > 0
    assert "qé" in (tmp_path / "b.csv").read_text("utf-8")


def test_tables_of_texts_that_a_session_has_mapped(tmp_path, monkeypatch):
    """Windows does not replace them: the new one has another name, and the old one still works."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "docs.jsonl"
    rows = [(b"a", 0), (b"b", 7)]
    with windows_files.strict():
        path.write_text("first")
        first = text_index.index_of(path, lambda: iter(rows), None)
        path.write_text("second, which is longer")
        second = text_index.index_of(path, lambda: iter([(b"b", 9)]), None)
    assert (first.positions("b"), second.positions("b"), second.positions("a")) == ([7], [9], [])


def test_files_that_are_open_cannot_be_removed(tmp_path):
    """The stand-in itself: it sees descriptors and mappings."""
    path = tmp_path / "x"
    path.write_bytes(b"x" * 4096)
    with windows_files.strict():
        with path.open("rb"), pytest.raises(PermissionError):
            path.unlink()
        mapped = np.memmap(path, mode="r")
        with pytest.raises(PermissionError):
            os.replace(path, tmp_path / "y")
        del mapped
        path.unlink()


def test_command_lines_of_windows():
    line = 'C:\\py\\python.exe "C:\\my files\\judge.py" --name="a b" it\'s'
    expected = ["C:\\py\\python.exe", "C:\\my files\\judge.py", "--name=a b", "it's"]
    assert command.words_of(line, windows=True) == expected
    assert command.words_of("python 'my judge.py'", windows=False) == ["python", "my judge.py"]


@pytest.mark.parametrize("text", ["a=C:\\runs\\x.run", "a=\\\\server\\x=1.run", "a=C:x.run"])
def test_paths_of_windows_have_names(text):
    assert named_file(text) == ("a", text[2:])


@pytest.mark.parametrize("name", ["R.JSON.GZ", "R.PARQUET", "R.CSV.ZST", "R.TSV.Xz", "R.RUN.BZ2"])
def test_names_in_capitals(tmp_path, name):
    """A system that does not tell them from small letters."""
    read_run(RUN).save(tmp_path / name)
    small = tmp_path / "small" / name.lower()
    small.parent.mkdir()
    read_run(RUN).save(small)
    assert (tmp_path / name).read_bytes()[:4] == small.read_bytes()[:4]
    assert read_run(tmp_path / name).results == RUN
