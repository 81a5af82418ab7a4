"""Recommendations as people write them: a row for each user with numbered columns, or with a list in a cell."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pytest

from goldrank import InputError, evaluate, read_run
from goldrank.cli import run as command
from goldrank.io.wide_tables import ranked_columns

QRELS = {"7": {"10": 1}, "0": {"21": 1}}
EXPECTED = {"7": ["11", "10"], "0": ["20", "22", "21"]}
"""User 7 has what is relevant at rank 2, user 0 at rank 3: RR is (1/2 + 1/3) / 2."""
RR = (1 / 2 + 1 / 3) / 2

WIDE = "user,rec_1,rec_2,rec_3\n7,11,10,\n0,20,22,21\n"
LISTS = 'user,items\n7,"[11, 10]"\n0,"[20, 22, 21]"\n'
LINES = "".join(json.dumps({"user": int(user), "recommendations": docs}) + "\n" for user, docs in EXPECTED.items())


@pytest.mark.parametrize(("name", "text"), [("wide.csv", WIDE), ("lists.csv", LISTS), ("lines.jsonl", LINES)])
def test_files_of_recommendations_are_read(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    run = read_run(tmp_path / name)
    assert {query: run.ranking(query) for query in run} == EXPECTED
    assert evaluate(QRELS, run, "RR")["RR"] == RR


def test_wide_frames_are_read():
    columns = {"user": [7, 0], "rec_1": [11, 20], "rec_2": [10, 22], "rec_3": [None, 21]}
    for frame in (pl.DataFrame(columns), pd.DataFrame(columns)):
        run = read_run(frame)
        assert {str(query): [str(doc) for doc in run.ranking(query)] for query in run} == EXPECTED


@pytest.mark.parametrize(
    ("present", "ranked"),
    [
        (["user", "rec_1", "rec_2"], ["rec_1", "rec_2"]),
        (["user", "2", "0", "1"], ["0", "1", "2"]),
        (["user", "item10", "item9", *(f"item{i}" for i in range(1, 9))], [f"item{i}" for i in range(1, 11)]),
        (["user", "rec_1", "score_1", "rec_2", "score_2"], ["rec_1", "rec_2"]),
        (["user", "rec_1", "rec_3"], []),  # one is missing
        (["user", "rec_1"], []),
        (["user", "rec_1", "rec_2", "also_1", "also_2"], []),  # which?
        (["user", "f_1", "f_2"], []),  # features
        (["query", "doc", "score"], []),
    ],
)
def test_numbered_columns_are_a_ranking_if_there_is_no_doubt(present, ranked):
    assert list(ranked_columns(present)) == ranked


def test_a_table_of_documents_with_numbered_columns_is_not_wide(tmp_path):
    (tmp_path / "run.csv").write_text("query,doc,score,f_1,f_2\nq,a,1.5,0,0\n")
    assert read_run(tmp_path / "run.csv")["q"] == {"a": 1.5}


def test_the_hint_invents_no_columns(tmp_path):
    (tmp_path / "run.csv").write_text("user,first_choice,second_choice\n1,11,10\n")
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "run.csv")
    assert "first_choice" not in error.value.hint
    assert "doc=COLUMN" in error.value.hint


def test_the_hint_for_lists_in_records_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.csv").write_text("user,item,rating\n7,10,1\n0,21,1\n")
    records = [{"user": int(user), "shelf": docs} for user, docs in EXPECTED.items()]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))

    assert command(["eval", "qrels.csv", "run.jsonl", "-m", "RR"]) == 2
    assert "--map retrieved_ids=FIELD" in capsys.readouterr().err
    assert command(["eval", "qrels.csv", "run.jsonl", "-m", "RR", "--map", "retrieved_ids=shelf"]) == 0
    assert "0.4167" in capsys.readouterr().out
