"""The benchmark of arrays: all contestants find the same value."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "arrays.py"


def test_all_find_the_same():
    spec = importlib.util.spec_from_file_location("benchmark_of_arrays", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_of_arrays"] = module
    spec.loader.exec_module(module)
    found = module.measured(*module.data(50, 20), times=1)
    assert len(found) >= 3  # scikit-learn is among the packages for tests
    values = [value for _, value in found.values()]
    assert values == pytest.approx([values[0]] * len(values), abs=1e-6)
