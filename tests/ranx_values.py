"""Values of the real ranx, without numba's compiler, which takes more than a minute for what is computed in a second.

It is the same code. Only the order of equal scores may be another one: there the sorting is numba's or numpy's.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import pytest

Table = Mapping[str, Mapping[str, float]]

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy, ranx
answers = []
for qrels, run, names in json.load(sys.stdin):
    judged, ranked = ranx.Qrels(qrels), ranx.Run(run)
    order = list(judged.keys())
    for name in names:
        found = ranx.evaluate(judged, ranked, name, return_mean=False, make_comparable=True)
        answers.append(dict(zip(order, numpy.asarray(found).tolist(), strict=True)))
json.dump(answers, sys.stdout)
"""


def ask_ranx(*questions: tuple[Table, Table, Sequence[str]]) -> list[dict[str, float]]:
    """Values by query, for judgements, a run and the names of measures, one after the other; skips without ranx."""
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("ranx is not installed")
    # The compiler is off or on for a whole process.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(questions), env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout))
