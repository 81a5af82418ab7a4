"""The simulations of docs/statistics.md: tables of the right shape, the same each time. No figures are asserted."""

import importlib.util
import subprocess
import sys

import numpy as np
import places
import pytest

FOLDER = places.ROOT / "benchmarks"
specification = importlib.util.spec_from_file_location("goldrank_benchmarks_simulations", FOLDER / "simulations.py")
simulations = importlib.util.module_from_spec(specification)
sys.modules[specification.name] = simulations
specification.loader.exec_module(simulations)


def test_measures_of_made_up_rankings_are_measures():
    values = simulations.rankings(np.random.default_rng(0), 500, (0.5, 1.5))
    assert values.shape == (5, 2, 500)
    assert values.min() >= 0
    assert values.max() <= 1 + 1e-12
    assert (values[:, 1].mean(axis=1) > values[:, 0].mean(axis=1)).all()


@pytest.mark.parametrize("name", ["equivalence", "clusters", "ranks", "verdicts", "best"])
def test_tables_are_the_same_each_time(name):
    one, again = (simulations.TABLES[name](4) for _ in range(2))
    assert one == again
    widths = {line.count("|") for line in one.splitlines() if line.startswith("|")}
    assert len(widths) == 1


def test_pythons_own_module_is_not_hidden():
    code = "import statistics; print(statistics.median([1, 2, 9]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"


def test_an_unknown_table_is_refused():
    done = subprocess.run([sys.executable, FOLDER / "statistics.py", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no table 'nothing'" in done.stderr


def test_the_figures_before_and_now_are_one_table(capsys, monkeypatch):
    """A round each: every subject has rows, and none is empty."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setitem(sys.modules, "simulations", simulations)
    import second_look

    second_look.main(["--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()
    table_rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][1:]
    subjects = {row[0] for row in table_rows}
    assert subjects == {*second_look.SUBJECTS.values(), "verdicts", "may be best"}
    assert {len(row) for row in table_rows} == {4}
