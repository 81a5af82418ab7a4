"""The benchmark of a large comparison prints all its rows. No figures are asserted: they are of the machine."""

import importlib.util

import places

specification = importlib.util.spec_from_file_location(
    "goldrank_benchmarks_comparing", places.ROOT / "benchmarks/comparing.py"
)
comparing = importlib.util.module_from_spec(specification)
specification.loader.exec_module(comparing)


def test_prints_every_row(capsys, monkeypatch):
    monkeypatch.setattr(comparing, "ROUNDS", 1)
    monkeypatch.setattr(comparing, "SYSTEMS", 2)
    monkeypatch.setattr(comparing, "MEASURES", comparing.MEASURES[:2])
    monkeypatch.setattr(comparing, "LIMIT", 1e9)
    assert comparing.main(["--queries", "20"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| from")]
    assert len(rows) == 4
    monkeypatch.setattr(comparing, "LIMIT", 0.0)
    assert comparing.main(["--queries", "20"]) == 1
