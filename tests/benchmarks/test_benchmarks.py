"""The benchmark's own parts: its data, its floor, its measuring and its page. No times are asserted."""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import places
import pytest

BENCHMARKS = places.ROOT / "benchmarks"


def load(name):
    """A module of the benchmark, under a name that cannot meet another's."""
    specification = importlib.util.spec_from_file_location(f"goldrank_benchmarks_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


generate = load("generate")
processes = load("processes")
results = load("results")

TINY = generate.Shape(queries=300, depth=20, corpus=100_000, more_relevant=1, not_relevant=4)


def written(directory, shape=TINY, seed=generate.SEED):
    directory.mkdir()
    generate.write(shape, directory / "qrels", directory / "run", seed)
    return (directory / "qrels").read_text(), (directory / "run").read_text()


# The data.


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path):
    once = written(tmp_path / "once")
    assert written(tmp_path / "again") == once
    other = written(tmp_path / "other", seed=generate.SEED + 1)
    assert other[0] != once[0]
    assert other[1] != once[1]


def test_half_of_a_shape_is_its_beginning(tmp_path):
    half = generate.Shape(queries=150, depth=20, corpus=100_000, more_relevant=1, not_relevant=4)
    whole_texts, half_texts = written(tmp_path / "whole"), written(tmp_path / "half", half)
    for whole, part in zip(whole_texts, half_texts, strict=True):
        assert whole.startswith(part)
        assert len(part) < len(whole)


def test_shapes_are_shuffled_and_made_tables(tmp_path, monkeypatch):
    monkeypatch.setitem(generate.SHAPES, "tiny", TINY)
    qrels, table = generate.ensure(tmp_path, "tiny-shuffled-parquet")
    plain, shuffled = ((tmp_path / f"tiny{form}.run").read_text().splitlines() for form in ("", "-shuffled"))
    assert sorted(plain) == sorted(shuffled)
    assert plain != shuffled
    pl = pytest.importorskip("polars")
    query, _, doc, _, score, _ = shuffled[0].split()
    assert pl.read_parquet(table).row(0) == (query, doc, float(score))
    assert qrels.name == "tiny.qrels"
    assert generate.files_of(tmp_path, "tiny") == (qrels, tmp_path / "tiny.run")
    _, lines = generate.ensure(tmp_path, "tiny-jsonl")
    assert lines.name == "tiny.jsonl"
    query, _, doc, _, score, _ = plain[0].split()
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert records[0] == {"query": query, "doc": doc, "score": float(score)}
    assert len(records) == len(plain)


def test_queries_of_two_documents(tmp_path):
    generate.write_many(tmp_path / "qrels", tmp_path / "run", queries=4)
    assert (tmp_path / "qrels").read_text() == "0 0 0 1\n1 0 7920 1\n2 0 15840 1\n3 0 23757 1\n"
    assert (tmp_path / "run").read_text().splitlines()[2:4] == ["1 Q0 7919 1 9.5 bench", "1 Q0 7920 2 7.25 bench"]


def test_the_data_have_the_shape_that_was_asked_for(tmp_path):
    qrels_text, run_text = written(tmp_path / "data")
    grades, rankings = defaultdict(dict), defaultdict(list)
    for line in qrels_text.splitlines():
        query, _, document, grade = line.split()
        assert document not in grades[query]
        grades[query][document] = int(grade)
    for line in run_text.splitlines():
        query, _, document, rank, score, _ = line.split()
        rankings[query].append((int(rank), document, float(score)))

    assert len(rankings) == TINY.queries
    assert grades.keys() == rankings.keys()
    found = relevant = 0
    for query, ranking in rankings.items():
        ranks, documents, scores = zip(*ranking, strict=True)
        assert list(ranks) == list(range(1, TINY.depth + 1))
        assert len(set(documents)) == TINY.depth
        assert all(int(document) < TINY.corpus for document in documents)
        assert list(scores) == sorted(scores, reverse=True)
        judged_relevant = {document for document, grade in grades[query].items() if grade > 0}
        assert judged_relevant
        assert set(grades[query].values()) <= {0, 1, 2, 3}
        # Those judged not relevant are drawn from the ranking, at most as many as were asked for.
        not_relevant = grades[query].keys() - judged_relevant
        assert not_relevant <= set(documents)
        assert len(not_relevant) <= TINY.not_relevant
        found += len(judged_relevant & set(documents))
        relevant += len(judged_relevant)
    # One and, on average, one more; a few fall on the same document.
    assert 1.6 < relevant / TINY.queries < 2.1
    # 0.8 are drawn from the ranking; as these fall together more often, a little less is left.
    assert 0.7 < found / relevant < 0.85


def test_files_that_are_there_are_not_made_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(generate.SHAPES, "tiny", generate.Shape(3, 5, 100, 0, 0))
    qrels, run = generate.ensure(tmp_path, "tiny")
    assert sorted(os.listdir(tmp_path)) == ["tiny.qrels", "tiny.run"]
    assert len(run.read_text().splitlines()) == 3 * 5
    qrels.write_text("kept")
    assert generate.ensure(tmp_path, "tiny") == (qrels, run)
    assert qrels.read_text() == "kept"
    assert capsys.readouterr().err == "making tiny\n"


# The floor.


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_the_floor_computes_what_a_person_does(tmp_path):
    program = tmp_path / "floor"
    subprocess.run(["g++", "-std=c++20", "-pthread", BENCHMARKS / "floor.cpp", "-o", program], check=True)
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 x 1\n3 0 y 1\n")
    # Query 1: c, a, b, as of the tied a and c the greater id comes first. Query 2: x is second. Query 3: nothing
    # that is relevant. Query 4 is not judged.
    (tmp_path / "run").write_text(
        "1 Q0 a 1 0.5 t\n1 Q0 c 2 0.5 t\n1 Q0 b 3 0.25 t\n4 Q0 y 1 9 t\n2 Q0 z 1 2 t\n2 Q0 x 2 1 t\n3 Q0 z 1 1 t\n"
    )
    log3 = math.log2(3)
    expected = {
        "AP": ((1 / 2 + 2 / 3) / 2 + 1 / 2 + 0) / 3,
        "RR": (1 / 2 + 1 / 2 + 0) / 3,
        "nDCG@10": ((2 / log3 + 1 / 2) / (2 + 1 / log3) + 1 / log3 + 0) / 3,
    }
    for threads in ("1", "2", "5"):
        done = subprocess.run(
            [program, tmp_path / "qrels", tmp_path / "run", threads], check=True, capture_output=True, text=True
        )
        assert json.loads(done.stdout)["means"] == pytest.approx(expected, abs=1e-15)


# Measuring.


def python(script, timeout=60):
    return processes.run([sys.executable, "-c", script], os.environ, timeout)


def test_a_process_is_measured_and_its_answer_read():
    size = 64_000_000
    cost = python(
        f"import time, json; held = b'x' * {size}; time.sleep(0.3); print('hello'); print(json.dumps(dict(a=1)))"
    )
    assert cost.answer == {"a": 1}
    assert cost.wall >= 0.3  # a sleep is never shorter
    assert cost.cpu > 0
    assert cost.resident > size
    if Path("/proc/self/status").exists():
        assert cost.anonymous > size


def test_a_process_that_fails_says_how():
    with pytest.raises(processes.FailedError, match="exit code 3: gone wrong"):
        python("import sys; print('gone wrong', file=sys.stderr); sys.exit(3)")


def test_a_process_that_takes_too_long_is_ended():
    with pytest.raises(processes.FailedError, match=r"not finished after 0\.2 s"):
        python("import time; time.sleep(60)", timeout=0.2)


def test_the_middle_of_several_costs():
    costs = [
        processes.Cost(wall=wall, cpu=cpu, anonymous=memory, resident=9 * memory, answer={"first": memory})
        for wall, cpu, memory in ((3.0, 1.0, 10), (1.0, 7.0, 30), (2.0, 2.0, 20))
    ]
    assert processes.middle(costs) == processes.Cost(2.0, 2.0, 30, 270, {"first": 10})


# The page.

MADE_UP = [
    results.Row("marco files", "goldrank", wall=1.0, cpu=1.5, anonymous=200_000_000, resident=500_000_000, rounds=3),
    results.Row("marco files", results.FLOOR, wall=0.25, difference=0.0, rounds=3),
    results.Row("marco files", "pytrec_eval", wall=10.0, difference=1e-12, rounds=3),
    results.Row("marco files", "ir_measures", wall=14.0, difference=2e-5, rounds=3),
    results.Row("marco files", "ranx, cold", note="not finished after 900 s"),
    results.Row("marco-shuffled files", "goldrank", wall=2.5),
    results.Row("huge files", "goldrank", wall=8.0, cpu=15.0, anonymous=1_500_000_000),
    results.Row("million-jsonl files", "goldrank", wall=3.0, cpu=2.5),
    results.Row("Parquet of 10,000,000 rows", "goldrank", wall=1.5),
    results.Row("Parquet of 10,000,000 rows", results.SPARK, wall=6.0),
    results.Row("import numpy", "python", wall=0.1),
    results.Row("goldrank eval on a line", "goldrank", wall=0.15),
    results.Row("import goldrank", "goldrank", wall=0.05),
    results.Row("from goldrank import evaluate", "goldrank", wall=0.2),
]


def test_targets_are_judged_by_the_rows():
    told = {target.promise: target for target in results.targets(MADE_UP, heavy=["numpy"])}

    def verdict(promise):
        return told[promise].measured, told[promise].met

    assert verdict("marco files: at least 18x as fast as pytrec_eval") == ("10.00x (10.00 s to 1.00 s)", False)
    assert verdict("marco files: at least 14x as fast as trec_eval") == ("not measured", None)
    assert verdict("marco files: at least 15x as fast as ir_measures") == ("14.00x (14.00 s to 1.00 s)", False)
    assert verdict("marco files: at least 50x as fast as ranx, cold") == ("not measured", None)
    assert verdict("marco files: at most 1.5x the floor, with start-up") == ("4.00x (1.00 s to 250 ms)", False)
    assert verdict("marco-shuffled files: at most 3x the time of marco files") == ("2.50x (2.50 s to 1.00 s)", True)
    assert verdict("marco files: RssAnon below 450 MB") == ("200 MB", True)
    assert verdict("huge files: RssAnon below 1.00 GB") == ("1.50 GB", False)
    assert verdict("huge files: at most 9x the time of marco files") == (
        "8.00x (8.00 s to 1.00 s); by CPU 10.00x",  # 15.0 / 1.5
        True,
    )
    assert verdict("million-jsonl files: at most 2 us of CPU a line") == ("2.50 us", False)
    assert verdict("many files: RssAnon below 1.50 GB") == ("not measured", None)
    assert verdict("Parquet of 10,000,000 rows, by Spark local[2]: at most 4x the time of the reader of files") == (
        "4.00x (6.00 s to 1.50 s)",
        True,
    )
    assert verdict("goldrank eval on a line: at most 60.0 ms more than import numpy") == (
        "50.0 ms more (150 ms and 100 ms)",
        True,
    )
    assert verdict("import goldrank: below 0.15 s") == ("50.0 ms; with evaluate 200 ms", True)
    assert verdict("import goldrank: without polars, scipy, rich, pandas") == ("loads numpy", True)
    assert verdict("wide files: at most 2.5x the floor, with start-up") == ("not measured", None)


def test_a_heavy_import_breaks_its_promise():
    (target,) = [one for one in results.targets([], ["numpy", "polars"]) if "without polars" in one.promise]
    assert (target.measured, target.met) == ("loads numpy, polars", False)


def test_the_page_shows_ratios_agreement_and_what_is_missing():
    forms = {
        results.GOLDRANK: [results.Form("run", "CRLF", 0.2, 2.0, True)],
        results.PURE: [results.Form("run", "CRLF", 1.0, 4.0, False)],
    }
    page = results.render({"CPU": "one | two"}, MADE_UP, results.targets(MADE_UP), ["a note"], forms)
    lines = page.splitlines()
    assert "- CPU: one | two" in lines
    assert "| marco files | goldrank | 1.00 s | 1.50 s | 200 MB | 500 MB | 1.00 | 1.00 |  | 3 |  |" in lines
    assert "| marco files | floor, 2 threads | 250 ms |  |  |  | 0.25 |  | equal | 3 |  |" in lines
    assert "| marco files | pytrec_eval | 10.00 s |  |  |  | 10.00 |  | equal | 3 |  |" in lines
    assert "| marco files | ir_measures | 14.00 s |  |  |  | 14.00 |  | **differs by 2.0e-05** | 3 |  |" in lines
    assert "| marco files | ranx, cold |  |  |  |  |  |  |  |  | not finished after 900 s |" in lines
    assert "| marco files: at least 15x as fast as ir_measures | 14.00x (14.00 s to 1.00 s) | **no** |" in lines
    assert "| wide files: at most 2.5x the floor, with start-up | not measured |  |" in lines
    assert "| run | CRLF | 0.20 | 2.00 | 1.00 | **4.00** |" in lines
    assert "- a note" in lines


def test_differences_are_taken_over_the_measures_that_both_have():
    assert results.largest_difference({"AP": 0.5, "RR": 0.25}, {"AP": 0.5, "RR": 0.75, "P@10": 9.0}) == 0.5
    assert results.largest_difference({"AP": 0.5}, {"RR": 0.5}) is None
