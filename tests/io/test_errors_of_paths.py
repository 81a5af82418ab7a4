"""A path that is not there: the message names the file that may be meant."""

from __future__ import annotations

import pytest
from raising import raises_code

from goldrank import Baseline, Rules, Scores, read_qrels, read_run
from goldrank.base.errors import GoldrankError


@pytest.mark.parametrize("read", [read_run, read_qrels, Scores.load, Baseline.load, Rules.load])
def test_the_file_that_may_be_meant_is_named(read, tmp_path):
    (tmp_path / "results.jsonl").write_text("{}")
    with raises_code(GoldrankError, "cannot-open") as caught:
        read(tmp_path / "result.jsonl")
    assert "results.jsonl" in caught.value.hint


@pytest.mark.parametrize("read", [read_run, Scores.load])
def test_a_folder_that_is_not_there_is_named(read, tmp_path):
    with pytest.raises(GoldrankError) as caught:
        read(tmp_path / "runs" / "bm25.run")
    assert str(tmp_path / "runs") in caught.value.hint


def test_nothing_is_offered_where_nothing_is_near(tmp_path):
    (tmp_path / "zzz").write_text("")
    with pytest.raises(GoldrankError) as caught:
        read_run(tmp_path / "bm25.run")
    assert caught.value.hint is None
