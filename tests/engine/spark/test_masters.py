"""The same tests on a cluster of two executors and over Spark Connect, each in a process of its own.

To save time only some of them, on a few random cases; `GOLDRANK_SPARK=connect python -m pytest tests/engine/spark`
runs all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


SOME = {
    "local-cluster[2,1,1024]": "killed or (oracle and trec_eval-10-executors)",
    "connect": "(oracle and trec_eval-10-driver) or lists_of_results or leave_the_cluster",
}


@pytest.mark.skipif("GOLDRANK_SPARK" in os.environ, reason="this is already one of the other kinds of session")
@pytest.mark.parametrize("master", SOME)
def test_other_sessions(master, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            str(HERE),
            "-k",
            SOME[master],
            "-p",
            "no:cacheprovider",
            f"--basetemp={tmp_path / 'tmp'}",
        ],
        env=os.environ | {"GOLDRANK_SPARK": master, "GOLDRANK_QUICK": "1"},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
