"""The same tests on a cluster of two executors and over Spark Connect, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.mark.skipif("GOLDRANK_SPARK" in os.environ, reason="this is already one of the other kinds of session")
@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect"])
def test_all_of_it(master, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(HERE), "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'tmp'}"],
        env=os.environ | {"GOLDRANK_SPARK": master},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
