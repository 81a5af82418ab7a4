"""Real signals to real processes: nothing temporary stays, whoever ends the work."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import places
import pytest
from lanes import few

from goldrank import read_run
from goldrank.base import writing
from goldrank.io import sources

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="these signals are not here")


@pytest.mark.parametrize(("number", "code"), few([("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)], 1))
def test_nothing_stays(tmp_path, number, code):
    """The signal comes while standard input is being kept in a temporary file."""
    if signal.getsignal(getattr(signal, number)) is signal.SIG_IGN:
        pytest.skip(f"{number} is ignored here, as under nohup")
    folder = tmp_path / "temporary"
    folder.mkdir()
    (tmp_path / "q").write_text("q 0 d 1\n")
    env = {**os.environ, "PYTHONPATH": str(places.ROOT / "src"), "TMPDIR": str(folder)}
    process = subprocess.Popen(
        [sys.executable, "-m", "goldrank", "eval", "q", "-", "-m", "AP"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=env,
    )  # fmt: skip
    line = b"q Q0 d 1 1.0 t\n"
    process.stdin.write(line * (sources.SPOOL // len(line) + 100_000))
    process.stdin.flush()
    end = time.monotonic() + 60
    while not any(folder.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert any(folder.iterdir()), "the test sees the temporary file"
    process.send_signal(getattr(signal, number))
    assert process.wait(60) == code
    err = process.stderr.read()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stdout.close()
    process.stderr.close()
    assert b"Traceback" not in err, err
    assert list(folder.iterdir()) == []


def test_reading_a_pipe_comes_back_after_each_piece():
    """A signal that comes while a buffer fills itself is seen when that is over: which may be never."""
    reading, writing = os.pipe()
    seen = []

    class Watched(io.BufferedReader):
        def read1(self, size=-1):
            seen.append(super().read1(size))
            if len(seen) == 1:
                os.write(writing, b"q Q0 e 2 0.5 t\n")
                os.close(writing)
            return seen[-1]

    os.write(writing, b"q Q0 d 1 1.0 t\n")
    with Watched(io.FileIO(reading)) as stream:
        assert read_run(stream) == {"q": {"d": 1.0, "e": 0.5}}
    assert seen == [b"q Q0 d 1 1.0 t\n", b"q Q0 e 2 0.5 t\n", b""]


def test_ignored_signals_stay_ignored(tmp_path):
    """As under nohup."""
    program = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from goldrank.cli import main\n"
        "try:\n    main(['measures', '--json'])\nexcept SystemExit:\n    pass\n"
        "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN"
    )
    env = {**os.environ, "PYTHONPATH": str(places.ROOT / "src")}
    subprocess.run([sys.executable, "-c", program], env=env, check=True, stdout=subprocess.DEVNULL)


def test_written_files_are_whole(tmp_path, monkeypatch):
    """A signal, or anything else, in the middle of writing leaves the file that was there and no other."""
    target = tmp_path / "x.json"
    target.write_bytes(b"before")

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writing.write_whole(target, b"after")
    assert target.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("last", ["x" * 250, "\N{GRINNING FACE}" * 63, "é" * 127])
def test_names_as_long_as_they_may_be(tmp_path, last):
    """The file that is written first has a name of its own, which must not be too long where the target's is not."""
    writing.write_whole(tmp_path / last, b"content")
    assert [path.name for path in tmp_path.iterdir()] == [last]


def test_threads_that_write_one_file(tmp_path):
    """Each writes a whole file; none takes away what another is at."""
    contents = [bytes([i]) * 200_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(lambda content: writing.write_whole(tmp_path / "one", content), contents))
            assert (tmp_path / "one").read_bytes() in contents
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
