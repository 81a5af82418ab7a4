"""JSON Lines with one object per document: read at once where all lines are alike, with the same outcome."""

from __future__ import annotations

import json
import random

import pytest
from lanes import many

from goldrank.errors import InputError
from goldrank.io import json_rows, read_run, sources

ROWS = [{"query_id": "q1", "doc_id": "d1", "score": 1.5}, {"query_id": "q1", "doc_id": "é", "score": -2e-3}]


def written(tmp_path, text: str):
    path = tmp_path / "run.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def outcome(path):
    try:
        run = read_run(path, format="jsonl")
        return dict(run), run.id_kind, [str(note) for note in run.notes]
    except InputError as error:
        return str(error)


LINE = '{"query_id": "q1", "doc_id": "d1", "score": 1.5}'


@pytest.mark.parametrize(
    "second",
    [
        '{"query_id": "q1", "doc_id": "d2", "score": 1}',
        '{"query_id": "q1", "doc_id": "d2", "score": -0.0}',
        '{"query_id": "q1", "doc_id": "d2", "score": 1e999}',
        '{"query_id": "q1", "doc_id": "d2", "score": 12345678901234567890}',
        '{"query_id": "q1", "doc_id": "文", "score": 1E+2}',
    ],
)
def test_lines_that_are_alike(second, tmp_path):
    path = written(tmp_path, f"{LINE}\n{second}")
    found = json_rows.rankings(sources.open_source(path))
    record = json.loads(second)
    assert found == {"q1": {"d1": 1.5, record["doc_id"]: float(record["score"])}}
    assert outcome(path)[0] == found


@pytest.mark.parametrize(
    "second",
    [
        "",
        "{",
        "[]",
        "# a remark",
        LINE,
        LINE + " ",
        LINE + "x",
        '{"query_id": "q1", "doc_id": "d2", "score": 01}',
        '{"query_id": "q1", "doc_id": "d2", "score": .5}',
        '{"query_id": "q1", "doc_id": "d2", "score": +5}',
        '{"query_id": "q1", "doc_id": "d2", "score": NaN}',
        '{"query_id": "q1", "doc_id": "d2", "score": Infinity}',
        '{"query_id": "q1", "doc_id": "d2", "score": "1"}',
        '{"query_id": "q1", "doc_id": "d2", "score": true}',
        '{"query_id": "q1", "doc_id": "d2", "score": null}',
        '{"query_id": "q1", "doc_id": "", "score": 1}',
        '{"query_id": "q1", "doc_id": 7, "score": 1}',
        '{"query_id": "q1", "doc_id": "d\\u0032", "score": 1}',
        '{"query_id": "q1", "doc_id": "d\\"2", "score": 1}',
        '{"query_id": "q1", "doc_id": "d\x012", "score": 1}',
        '{"query_id": "q1", "doc_id": "d\udcff", "score": 1}',
        '{"query_id": "q1", "doc_id": "%s", "score": 1}' % ("x" * 70_000),
        '{"query_id": "q1", "doc_id": "d2", "score": 1, "score": 2}',
        '{"doc_id": "d2", "query_id": "q1", "score": 1}',
        '{"query_id":"q1", "doc_id": "d2", "score": 1}',
        '{"query_id": "q1", "docs": ["d2"]}',
    ],
)
def test_lines_that_are_not_alike_are_left_to_others(second, tmp_path, monkeypatch):
    path = written(tmp_path, f"{LINE}\n{second}\n")
    assert json_rows.rankings(sources.open_source(path)) is None
    found = outcome(path)
    monkeypatch.setattr(json_rows, "rankings", lambda source: None)
    assert outcome(path) == found


@pytest.mark.parametrize("seed", range(many(60)))
def test_the_outcome_is_that_of_reading_record_by_record(seed, tmp_path, monkeypatch):
    rng = random.Random(seed)
    names = rng.choice([("query_id", "doc_id", "score"), ("qid", "docid", "score"), ("Query", "doc", "score")])
    lines = []
    for _ in range(rng.randrange(1, 8)):
        scored = rng.choice([rng.random(), rng.randrange(9), -1e-7])
        row = dict(zip(names, (f"q{rng.randrange(2)}", f"d{rng.randrange(99)}", scored), strict=True))
        if seed % 3 == 0:
            row = {"note": rng.choice(["x", 5, "y z"]), **row, "rank": 1}
        lines.append(
            json.dumps(row, ensure_ascii=rng.random() < 0.5) + rng.choice(["", "", "", " ", "\r"]) * (seed % 2)
        )
    path = written(tmp_path, "\n".join(lines) + "\n" * rng.randrange(2))
    monkeypatch.setattr(sources, "PIECE", rng.choice([50, 5 << 20]))
    found = outcome(path)
    monkeypatch.setattr(json_rows, "rankings", lambda source: None)
    assert outcome(path) == found
