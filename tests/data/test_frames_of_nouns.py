"""Runs and judgements as data frames, and measures with a cut-off: what editors complete."""

from __future__ import annotations

import pandas
import polars
import pytest

import goldrank

RUN = goldrank.Run({"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 0.5}})
QRELS = goldrank.Qrels({"q1": {"a": 1, "c": 0}})


def test_a_run_is_a_data_frame():
    columns = {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "score": [2.0, 1.0, 0.5]}
    assert RUN.to_polars().to_dict(as_series=False) == columns
    assert RUN.to_pandas().to_dict("list") == columns


def test_judgements_are_a_data_frame():
    assert QRELS.to_polars().rows() == [("q1", "a", 1), ("q1", "c", 0)]
    assert QRELS.to_pandas().to_dict("list") == {"query": ["q1", "q1"], "doc": ["a", "c"], "grade": [1, 0]}


def test_a_data_frame_says_who_judged():
    both = QRELS.with_model({"q1": {"a": 0}})
    assert both.to_polars().columns == ["query", "doc", "grade", "judged_by"]
    assert both.to_polars().height == 3


@pytest.mark.parametrize("kind", [polars.DataFrame, pandas.DataFrame])
def test_frames_are_read_back(kind):
    frame = kind(RUN.to_polars().to_dict(as_series=False))
    assert goldrank.read_run(frame) == RUN


def test_a_measure_takes_a_cutoff():
    ndcg = goldrank.Measure.parse("nDCG(gain='exp2')")
    assert str(ndcg @ 10) == str(goldrank.Measure.parse("nDCG(gain='exp2')@10"))
    assert ndcg.higher_is_better
    assert not goldrank.Measure.parse("Unjudged@5").higher_is_better
    with pytest.raises(goldrank.MeasureError):
        ndcg @ 0


def test_an_explanation_has_a_public_class():
    scores = goldrank.evaluate_texts([{"retrieved": ["Rome is old."], "references": ["Rome is old."]}], "RR")
    assert isinstance(scores.explain("1"), goldrank.Explanation)
