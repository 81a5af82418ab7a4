"""Values of the real ranx, without numba's compiler, which takes more than a minute for what is computed in a second.

It is the same code. Only the order of equal scores may be another one: there the sorting is numba's or numpy's.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType

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


def ask_ranx(*questions: tuple[Table, Table, Sequence[str]], compiled: bool = False) -> list[dict[str, float]]:
    """Values by query, for judgements, a run and the names of measures, one after the other; skips without ranx.

    Compiled functions use one thread: several stop one by one.
    """
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("ranx is not installed")
    # The compiler is off or on for a whole process.
    chosen = {"NUMBA_NUM_THREADS": "1"} if compiled else {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(questions), env={**os.environ, **chosen},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout))


_PLAIN: dict[str, ModuleType] = {}


@contextmanager
def plain_ranx() -> Iterator[None]:
    """`import ranx` gives functions that are not compiled, until the block is left; skips without ranx."""
    numba = pytest.importorskip("numba")
    for name in ("typeddict", "typedlist"):  # imported later, they would not be compiled for anybody
        importlib.import_module(f"numba.typed.{name}")
    compiled = _take_out()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        numba.config.reload_config()
        sys.modules.update(_PLAIN)
        try:
            pytest.importorskip("ranx")
            yield
        finally:
            _PLAIN.update(_take_out())
            sys.modules.update(compiled)
    numba.config.reload_config()


def _take_out() -> dict[str, ModuleType]:
    """Forget that ranx was imported; what it was."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "ranx"}
