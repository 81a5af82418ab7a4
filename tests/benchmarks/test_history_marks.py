"""The simulation of marks for docs/history.md: that it runs, and that the page has its table."""

import importlib.util
import sys

import places


def load():
    path = places.ROOT / "benchmarks" / "history_marks.py"
    specification = importlib.util.spec_from_file_location("goldrank_benchmarks_history_marks", path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def test_each_case_is_a_row_of_the_page():
    benchmark = load()
    page = (places.ROOT / "docs" / "history.md").read_text(encoding="utf-8")
    head, rule, *rows = benchmark.table(1)
    assert f"{head}\n{rule}\n" in page
    assert len(rows) == len(benchmark.CASES)
    for row in rows:
        assert row.split(" | ")[0] in page


def test_a_step_is_seen_at_its_record():
    benchmark = load()
    case = next(case for case in benchmark.CASES if case.name.startswith("step of 0.06 at 15 of 30"))
    shares = benchmark.simulate(case, 5, 0)
    assert shares["found"] >= 0.8
    assert shares["near"] >= 0.6
