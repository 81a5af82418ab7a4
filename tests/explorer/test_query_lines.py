"""One query's lines are found in a large file, all of them or none."""

import gzip

import pytest

from goldrank import io
from goldrank.conventions import Convention
from goldrank.evaluation import pipeline
from goldrank.explorer.first_documents import QueryLines

LINES = {"q1": 3, "q11": 2, "q2": 4}


def text(order=("q1", "q11", "q2"), blank=" "):
    return "".join(blank.join([q, "Q0", f"d{i}", "0", str(9 - i), "t"]) + "\n" for q in order for i in range(LINES[q]))


@pytest.mark.parametrize("blank", [" ", "\t"])
@pytest.mark.parametrize("query", LINES)
def test_found(tmp_path, query, blank):
    (tmp_path / "r").write_text(text(blank=blank))
    found = QueryLines(io.read_run(tmp_path / "r"), LINES).of(query)
    assert list(found) == [query]
    assert len(found[query]) == LINES[query]


def test_scattered_lines_and_compressed_files_are_left_to_the_engine(tmp_path):
    (tmp_path / "r").write_text(text() + "q1 Q0 later 0 1 t\n")
    assert QueryLines(io.read_run(tmp_path / "r"), {"q1": 4}).of("q1") is None
    with gzip.open(tmp_path / "r.gz", "wt") as file:
        file.write(text())
    assert QueryLines(io.read_run(tmp_path / "r.gz"), LINES).of("q1") is None
    assert QueryLines(io.as_run({"q1": ["a"]}), LINES).of("q1") is None


def test_the_engine_places_it_alike(tmp_path):
    (tmp_path / "r").write_text(text())
    run = io.read_run(tmp_path / "r")
    qrels = io.as_qrels({"q2": {"d3": 1}})
    some = QueryLines(run, LINES).of("q2")
    ranks = [pipeline.place(qrels, one, Convention()).placements.rank.tolist() for one in (run, some)]
    assert ranks == [[4], [4]]
