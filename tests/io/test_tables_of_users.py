"""Tables as people have them: lists of ids, other separators, names of columns that nobody knows, names of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from raising import raises_code

import goldrank
from goldrank import evaluate, io, read_items
from goldrank.base.errors import InputError

TWICE = [{"question": "a", "expected_ids": ["d2"], "retrieved_ids": ["d1", "d1", "d2"]}]
# By hand: d2 is third of three places, or second of two documents.
REPEATED = {"first": 1 / 2, "last": 1 / 2, "count": 1 / 3, "places": 1 / 3}


def forms(records: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """The same records as rows, frames and files."""
    import polars as pl

    frame = pl.DataFrame(records)
    frame.write_parquet(folder / "lists.parquet")
    (folder / "lists.jsonl").write_text("\n".join(map(json.dumps, records)))
    cells = [{key: json.dumps(value) if key != "question" else value for key, value in row.items()} for row in records]
    pl.DataFrame(cells).write_csv(folder / "lists.csv")
    files = {ending: folder / f"lists.{ending}" for ending in ("parquet", "jsonl", "csv")}
    return {"rows": records, "polars": frame, "pandas": frame.to_pandas(), **files}


@pytest.mark.parametrize("form", ["rows", "polars", "pandas", "parquet", "jsonl", "csv"])
def test_repeated_ids_in_lists_follow_the_policy(form: str, tmp_path: Path) -> None:
    items = read_items(forms(TWICE, tmp_path)[form])
    for duplicates, want in REPEATED.items():
        assert evaluate(items.qrels, items.run, "RR", duplicates=duplicates)["RR"] == want
    with raises_code(InputError, "duplicate-document"):
        evaluate(items.qrels, items.run, "RR")


@pytest.mark.parametrize("form", ["rows", "parquet", "jsonl", "csv"])
def test_scores_by_id_order_what_has_no_order(form: str, tmp_path: Path) -> None:
    records = [{"question": "a", "expected_ids": ["d2"], "retrieved_ids": {"d1": 0.2, "d2": 0.9}}]
    items = read_items(forms(records, tmp_path)[form])
    assert evaluate(items.qrels, items.run, "RR")["RR"] == 1


@pytest.mark.parametrize(
    "rows",
    [
        {"query": ["q", "q"], "doc": ["a", "b"], "rank": [1, 2]},
        {"query": ["q", "q"], "doc": ["a", "b"], "distance": [0.1, 0.4]},
        {"question": ["q"], "retrieved_ids": [["a", "b"]]},
    ],
)
def test_ranks_are_no_scores(rows: dict[str, list[Any]]) -> None:
    """torchmetrics passes over scores that are not above 0; places in a list are none."""
    import polars as pl

    frame = pl.DataFrame(rows)
    for run in (frame, frame.to_dicts()):
        assert not io.as_run(run).has_scores
        assert evaluate({"q": {"b": 1, "c": 0}}, run, "RR", convention="torchmetrics")["RR"] == 0.5


@pytest.mark.parametrize("sign", [",", ";", "|", "\t"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_separators(sign: str, quote: str, tmp_path: Path) -> None:
    rows = [("query_id", "doc_id", "score"), ("q1", "d1", "2.5"), ("q1", "d,2" if sign != "," else "d2", "3")]
    text = "\n".join(sign.join(f"{quote}{cell}{quote}" for cell in row) for row in rows)
    (tmp_path / "run").write_text(text + "\n")
    assert dict(io.read_run(tmp_path / "run")["q1"]) == {"d1": 2.5, rows[2][1]: 3.0}


@pytest.mark.parametrize("sign", [",", ";", "|", "\t"])
@pytest.mark.parametrize("read", [io.read_run, io.read_qrels])
def test_unknown_names_of_columns(sign: str, read: Any, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text(f"buyer{sign}thing{sign}stars\nq1{sign}d1{sign}2\n")
    with pytest.raises(InputError, match="buyer, thing, stars") as found:
        read(tmp_path / "odd")
    assert found.value.code == "no-column"
    side = "qrels" if read is io.read_qrels else "run"
    assert f"--map {side}.query=COLUMN,{side}.doc=COLUMN," in (found.value.hint or "")  # only the user knows
    named = {"query": "buyer", "doc": "thing", "grade" if read is io.read_qrels else "score": "stars"}
    assert read(tmp_path / "odd", columns=named)["q1"]["d1"] == 2


def test_trec_text_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("query,1 Q0 doc,a 1 2.5 tag\n")
    assert dict(io.read_run(tmp_path / "run")["query,1"]) == {"doc,a": 2.5}
    (tmp_path / "run").write_text("q1\tQ0\td1\t1\t2.5\ttag\n")
    assert dict(io.read_run(tmp_path / "run")["q1"]) == {"d1": 2.5}


def test_a_mistyped_path_names_the_near_one(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(goldrank.GoldrankError) as found:
        io.read_qrels(tmp_path / "qrel.txt")
    assert "qrels.txt" in (found.value.hint or "")


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("letor", "1 qid:q1 1:0.5 # {}"),
        ("letor", "1 qid:{} 1:0.5 # d1"),
        ("ratings", "u1\t{}\t4\t978300760"),
        ("ratings", "{}::i1::4::978300760"),
    ],
)
def test_ids_of_lines_have_the_limits_of_all_ids(format, line, tmp_path):
    path = tmp_path / "judgements"
    path.write_text(line.format("d" * 65_537) + "\n")
    with raises_code(InputError, "bad-id"):
        goldrank.read_qrels(path, format=format)
    path.write_text(line.format("d" * 65_536) + "\n")
    assert len(goldrank.read_qrels(path, format=format)) == 1
