"""The simulation of judges runs, and its judges are as good as they are said to be."""

import importlib.util
import sys

import places

# By its path: the folder has a statistics.py, which must not stand in for Python's.
specification = importlib.util.spec_from_file_location(
    "goldrank_benchmarks_judges", places.ROOT / "benchmarks/judges.py"
)
judges = importlib.util.module_from_spec(specification)
sys.modules[specification.name] = judges
specification.loader.exec_module(judges)


def test_rows():
    rows = judges.rows(3)
    assert len(rows) == len(judges.JUDGES) * len(judges.SIZES)
    kappas = [float(row[0]) for row in rows]
    assert kappas == sorted(kappas)
    assert kappas[0] < 0.25
    assert kappas[-1] > 0.9
