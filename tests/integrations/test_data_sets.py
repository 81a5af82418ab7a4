"""Data sets of HuggingFace and of ir_datasets, with the real packages where they are installed."""

from __future__ import annotations

from typing import Any

import pytest

from goldrank import Catalogue, GoldrankError, evaluate, evaluate_arrays, evaluate_texts, read_items

# By hand: d1 is second for q1, d2 is first for q2; RR is (1/2 + 1) / 2.
QRELS = {"query-id": ["q1", "q2"], "corpus-id": ["d1", "d2"], "score": [1, 1]}
RUN = {"qid": ["q1", "q1", "q2"], "docno": ["d1", "d3", "d2"], "score": [2.0, 3.0, 1.0]}


class TestHuggingFace:
    @pytest.fixture
    def package(self) -> Any:
        return pytest.importorskip("datasets")

    @pytest.fixture
    def sides(self, package: Any) -> tuple[Any, Any]:
        return package.Dataset.from_dict(QRELS), package.Dataset.from_dict(RUN)

    @pytest.mark.parametrize("form", ["whole", "streamed", "formatted", "streamed and formatted", "split", "shuffled"])
    def test_every_form(self, form: str, package: Any, sides: tuple[Any, Any]) -> None:
        change = {
            "whole": lambda data: data,
            "streamed": lambda data: data.to_iterable_dataset(),
            "formatted": lambda data: data.with_format("numpy"),
            "streamed and formatted": lambda data: data.to_iterable_dataset().with_format("arrow"),
            "split": lambda data: package.DatasetDict({"test": data}),
            "shuffled": lambda data: data.shuffle(seed=4),
        }[form]
        assert evaluate(*map(change, sides), "RR")["RR"] == 0.75

    def test_a_selection_is_what_is_selected(self, sides: tuple[Any, Any]) -> None:
        qrels, run = sides
        assert evaluate(qrels.select([0]), run, "RR").per_query["RR"] == {"q1": 0.5}

    def test_several_splits_are_refused(self, package: Any, sides: tuple[Any, Any]) -> None:
        for data in (sides[0], sides[0].to_iterable_dataset()):
            kind = package.DatasetDict if data is sides[0] else package.IterableDatasetDict
            with pytest.raises(GoldrankError, match="several splits"):
                evaluate(kind({"train": data, "test": data}), sides[1], "RR")

    def test_training_data(self, package: Any, sides: tuple[Any, Any]) -> None:
        had = package.Dataset.from_dict({"user_id": ["q1"], "item_id": ["d3"]})
        assert evaluate(*sides, "RR", catalogue=Catalogue(train=had))["RR"] == 1.0
        assert evaluate(*sides, "RR", catalogue=Catalogue(train=had.to_iterable_dataset()))["RR"] == 1.0

    def test_records_and_texts(self, package: Any) -> None:
        ids = {"user_input": ["a"], "reference_context_ids": [["d1"]], "retrieved_context_ids": [["x", "d1"]]}
        items = read_items(package.Dataset.from_dict(ids))
        assert evaluate(items.qrels, items.run, "RR")["RR"] == 0.5
        texts = {"user_input": ["a"], "reference_contexts": [["a cat"]], "retrieved_contexts": [["x", "a cat sat"]]}
        scores = evaluate_texts(package.Dataset.from_dict(texts), "Cover@2", matching="contains")
        assert scores["Cover@2"] == 1.0


def test_rows_of_training_data_may_be_dicts() -> None:
    had = [{"user_id": "q1", "item_id": "d3"}]
    assert evaluate({"q1": {"d1": 1}}, {"q1": ["d3", "d1"]}, "RR", catalogue=Catalogue(train=had))["RR"] == 1.0


class TestIrDatasets:
    def test_its_own_classes(self, tmp_path: Any) -> None:
        """A data set as ir_datasets makes it of files, with its own handlers, rows and iterators."""
        package = pytest.importorskip("ir_datasets")
        from ir_datasets.formats import TrecQrels, TrecScoredDocs
        from ir_datasets.util import LocalDownload

        (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
        (tmp_path / "run").write_text("q1 Q0 d3 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n")
        data = package.Dataset(
            TrecQrels(LocalDownload(tmp_path / "qrels"), {0: "no", 1: "yes"}),
            TrecScoredDocs(LocalDownload(tmp_path / "run")),
        )
        assert evaluate(data, data.scoreddocs_iter(), "RR")["RR"] == 0.75
        assert evaluate(data.qrels_iter(), list(data.scoreddocs_iter()), "RR")["RR"] == 0.75
        with pytest.raises(GoldrankError, match="no judgements"):
            evaluate(package.Dataset(), data.scoreddocs_iter(), "RR")


class TestTables:
    def test_relations_of_duckdb(self) -> None:
        duckdb = pytest.importorskip("duckdb")
        con = duckdb.connect()
        con.execute("create table qrels as from (values ('q1', 'd1', 1), ('q2', 'd2', 1)) t(qid, docno, label)")
        rows = "('q1', 'd1', 2.0), ('q1', 'd3', 3.0), ('q2', 'd2', 1.0)"
        con.execute(f"create table run as from (values {rows}) t(qid, docno, score)")
        scores = evaluate(con.sql("from qrels"), con.table("run"), "RR")
        assert scores["RR"] == 0.75
        assert len(con.from_arrow(scores.to_arrow()).fetchall()) == 2

    def test_a_function_for_groups_of_polars(self) -> None:
        """As docs/arrays.md has it. By hand: the relevant entry is second in a, and alone in b."""
        pl = pytest.importorskip("polars")

        def rr(columns: Any) -> float:
            return float(evaluate_arrays(columns[0], columns[1], "RR", groups=[len(columns[0])])["RR"])

        frame = pl.DataFrame({"query": ["a", "a", "b"], "grade": [0, 1, 1], "score": [0.9, 0.8, 0.7]})
        asked = pl.map_groups(exprs=["grade", "score"], function=rr, returns_scalar=True, return_dtype=pl.Float64)
        found = frame.group_by("query").agg(asked.alias("RR"))
        assert dict(found.rows()) == {"a": 0.5, "b": 1.0}
