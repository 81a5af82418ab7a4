"""Nouns of data: what they are made from, how they are shown, and what they refuse."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from raising import raises_code

from goldrank import (
    Catalogue,
    Document,
    Documents,
    Qrels,
    Queries,
    Query,
    Run,
    Runs,
    Scores,
    ScoresByRun,
    Statistics,
    compare,
    evaluate,
    read_documents,
    read_qrels,
    read_queries,
    read_run,
    read_runs,
)
from goldrank.base.errors import InputError, OptionError

QRELS = {f"q{i}": {"d": 1, "x": 0} for i in range(8)}
FIRST, SECOND = {q: ["d"] for q in QRELS}, {q: ["x", "d"] for q in QRELS}


# How they are shown: one line, and nothing is read for it.


def test_short_reprs() -> None:
    assert repr(Statistics()) == "Statistics()"
    assert repr(Statistics(test="t", alpha=0.01)) == "Statistics(test='t', alpha=0.01)"
    assert repr(Qrels(QRELS)) == "Qrels('qrels')"
    assert repr(Qrels(QRELS, name="judged")) == "Qrels('judged')"
    assert repr(Run(FIRST, name="bm25")) == "Run('bm25')"
    assert repr(Runs(bm25=FIRST, dense=SECOND)) == "Runs('bm25', 'dense')"
    assert repr(Queries({"q1": "why?"})) == "Queries('queries')"
    assert repr(Documents({"d": "text"})) == "Documents('documents')"
    assert repr(Catalogue(["a", "b"], train={"u": ["a"]})) == "Catalogue(2 items, train)"
    pair = compare(QRELS, {"new": FIRST, "old": SECOND}, "RR")["RR", "new", "old"]
    assert repr(pair) == "Pair('RR', 'new', 'old', difference=-0.5000, 'worse')"


def test_a_repr_reads_nothing(tmp_path: Path) -> None:
    runs = Runs([tmp_path / "none.run", tmp_path / "other" / "none.run"])
    assert repr(runs) == f"Runs('{tmp_path.name}/none', 'other/none')"
    with raises_code(InputError, "cannot-open"):
        runs[f"{tmp_path.name}/none"]


# Runs and their names.


def test_names_of_runs(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        Run(FIRST).save(tmp_path / folder / "bm25.run.gz")
    paths = [tmp_path / "a" / "bm25.run.gz", str(tmp_path / "b" / "bm25.run.gz")]
    assert read_run(paths[0]).name == "bm25"
    assert read_run(paths[0], name="old").name == "old"
    assert Runs(paths).names == ("a/bm25", "b/bm25")
    assert read_runs(str(tmp_path / "*" / "bm25.run.gz"), by="file").names == ("a/bm25", "b/bm25")
    assert Runs([Run(FIRST, name="one"), Run(SECOND, name="two")]).names == ("one", "two")
    assert Runs({"old": paths[0]}, new=SECOND).names == ("old", "new")
    runs = Runs(old=paths[0], new=SECOND)
    assert runs["old"].name == "old"
    assert runs.only("new").names == ("new",)
    assert runs.renamed({"old": "before"}).names == ("before", "new")
    assert [name for name, _ in runs.items()] == list(runs) == ["old", "new"]
    assert ("old" in runs, "other" in runs, len(runs)) == (True, False, 2)
    with pytest.raises(KeyError, match="Did you mean old"):
        runs["olt"]


def test_each_run_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    from goldrank import io as readers

    as_run = readers.as_run
    monkeypatch.setattr(readers, "as_run", lambda given, **how: opened.append(given) or as_run(given, **how))
    runs = Runs(old=FIRST, new=SECOND)
    assert opened == []
    assert runs["old"] is runs["old"]
    assert opened == [FIRST]


def test_runs_are_no_mapping_and_equal_by_content() -> None:
    from collections.abc import Mapping

    assert not isinstance(Runs(a=FIRST), Mapping)
    assert Runs(a=FIRST) == Runs({"a": Run(FIRST)})
    assert Runs(a=FIRST) != Runs(a=SECOND)
    assert Runs(a=FIRST) != {"a": FIRST}


def test_scores_by_run() -> None:
    one = evaluate(QRELS, FIRST, "RR")
    both = ScoresByRun({"a": one, "b": one})
    assert (list(both), both.mean["b"]["RR"], both["b"].run) == (["a", "b"], 1.0, "b")
    assert ScoresByRun([one, one.renamed("b")]).systems == {"run": ("run",), "b": ("b",)}
    with raises_code(InputError, "duplicate-name", match=r"scores\.renamed\('other'\)"):
        ScoresByRun([one, one])
    with raises_code(InputError, "empty-input"):
        ScoresByRun([])
    part = Scores.from_dict(evaluate({"q0": {"d": 1}}, FIRST, "RR").to_dict())
    with raises_code(InputError, "different-queries", match="8, b 1; 1 in common"):
        ScoresByRun({"a": one, "b": part}, queries="same")


# Queries in every form.

WITH_FIELDS = {
    "q1": {"text": "why?", "kind": "short", "session": "s1"},
    "q2": {"text": "how?", "kind": "long", "session": "s1"},
}
RECORDS = [{"qid": query, **fields} for query, fields in WITH_FIELDS.items()]


class TopicOfDatasets(NamedTuple):
    query_id: str
    text: str


class DataSet:
    """Shaped as those of ir_datasets."""

    def queries_iter(self) -> Any:
        return iter([TopicOfDatasets("q1", "why?"), TopicOfDatasets("q2", "how?")])


def forms_of_queries(folder: Path) -> dict[str, Any]:
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    (folder / "q.jsonl").write_text(lines)
    (folder / "q.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "q.json").write_text(json.dumps(RECORDS))
    (folder / "by_id.json").write_text(json.dumps(WITH_FIELDS))
    frame = pl.DataFrame(RECORDS)
    frame.write_csv(folder / "q.csv")
    frame.write_csv(folder / "q.tsv", separator="\t")
    frame.write_parquet(folder / "q.parquet")
    files: dict[str, Any] = {path.name: path for path in folder.iterdir()}
    return files | {
        "text of a path": str(folder / "q.jsonl"),
        "open file": io.BytesIO(lines.encode()),
        "mapping": WITH_FIELDS,
        "records": RECORDS,
        "iterator": iter(RECORDS),
        "polars": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
    }


FORMS = ["q.jsonl", "q.jsonl.gz", "q.json", "by_id.json", "q.csv", "q.tsv", "q.parquet", "text of a path", "open file",
         "mapping", "records", "iterator", "polars", "pandas", "arrow"]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_queries_of_every_form(form: str, tmp_path: Path) -> None:
    forms = forms_of_queries(tmp_path)
    assert set(FORMS) == set(forms)
    queries = read_queries(forms[form])
    assert list(queries) == ["q1", "q2"]
    assert queries["q1"] == Query("why?", attributes={"kind": "short", "session": "s1"})
    assert queries.attributes == ("kind", "session")
    assert dict(queries.column("kind")) == {"q1": "short", "q2": "long"}
    assert not queries.has("cluster")


@pytest.mark.parametrize("form", FORMS)
def test_roles_of_queries_by_their_columns(form: str, tmp_path: Path) -> None:
    queries = read_queries(forms_of_queries(tmp_path)[form], columns={"cluster": "session", "stratum": "kind"})
    assert (queries["q2"].cluster, queries["q2"].stratum, queries.attributes) == ("s1", "long", ())


def test_texts_of_queries_alone(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("q1\twhy?\nq2\thow?\n")
    (tmp_path / "beir").mkdir()
    (tmp_path / "beir" / "queries.jsonl").write_text('{"_id": "q1", "text": "why?"}\n{"_id": "q2", "text": "how?"}\n')
    for given in (
        tmp_path / "q.txt",
        tmp_path / "beir",
        {"q1": "why?", "q2": "how?"},
        DataSet(),
        Queries({"q1": "why?", "q2": "how?"}),
    ):
        queries = read_queries(given)  # type: ignore[arg-type]
        assert {query: one.text for query, one in queries.items()} == {"q1": "why?", "q2": "how?"}


@pytest.mark.parametrize(
    ("given", "how", "error", "code"),
    [
        ({"q1": 3}, {}, InputError, "wrong-type"),
        (3, {}, InputError, "unreadable-object"),
        ([{"text": "why?"}], {}, InputError, "no-id"),
        ([], {}, InputError, "empty-input"),
        ({"q1": "why?"}, {"columns": {"group": "x"}}, OptionError, "unknown-choice"),
        ({"q1": "why?"}, {"columns": 3}, InputError, "wrong-type"),
    ],
)  # fmt: skip
def test_what_are_no_queries(given: Any, how: Any, error: type[Exception], code: str) -> None:
    with raises_code(error, code):
        read_queries(given, **how)


def test_a_query_that_is_there_twice(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("q1\twhy?\nq1\thow?\n")
    with pytest.raises(InputError, match=r"q\.tsv:2: query 'q1' is there twice"):
        read_queries(tmp_path / "q.tsv")


def test_columns_of_queries() -> None:
    queries = Queries({"q1": "why?"}).with_column("weight", {"q1": 3, "q2": 1})
    assert (queries["q1"].weight, queries["q2"]) == (3.0, Query(weight=1.0))
    assert Queries({"q1": "why?"})["q1"].weight == 1.0
    with raises_code(OptionError, "unknown-column", match="there are: text, weight"):
        queries.column("wieght")
    with pytest.raises(InputError, match="its weight is 'much'"):
        Queries({"q1": {"weight": "much"}})


# Documents in every form.

DOCUMENTS = {"d1": Document("first", "One"), "d2": Document("second", "Two")}
DOCUMENT_RECORDS = [{"docid": doc, "title": one.title, "text": one.text} for doc, one in DOCUMENTS.items()]


def forms_of_documents(folder: Path) -> dict[str, Any]:
    lines = "".join(json.dumps(record) + "\n" for record in DOCUMENT_RECORDS)
    (folder / "d.jsonl").write_text(lines)
    (folder / "d.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "d.tsv").write_text("d1\tOne\tfirst\nd2\tTwo\tsecond\n")
    frame = pl.DataFrame(DOCUMENT_RECORDS)
    frame.write_parquet(folder / "d.parquet")
    files: dict[str, Any] = {path.name: path for path in folder.iterdir()}
    (folder / "beir").mkdir()
    (folder / "beir" / "corpus.jsonl").write_text(lines)
    return files | {
        "beir": folder / "beir",
        "mapping": {record["docid"]: record for record in DOCUMENT_RECORDS},
        "documents": DOCUMENTS,
        "records": DOCUMENT_RECORDS,
        "polars": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
        "function": lambda doc: DOCUMENTS.get(doc),
    }


DOCUMENT_FORMS = [
    *("d.jsonl", "d.jsonl.gz", "d.tsv", "d.parquet", "beir", "mapping", "documents", "records"),
    *("polars", "pandas", "arrow", "function"),
]


@pytest.mark.parametrize("form", DOCUMENT_FORMS)
def test_documents_of_every_form(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    forms = forms_of_documents(tmp_path)
    assert set(DOCUMENT_FORMS) == set(forms)
    documents = read_documents(forms[form])
    assert documents["d2"] == DOCUMENTS["d2"]
    assert documents.some(["d2", "none", "d1"]) == {"d2": DOCUMENTS["d2"], "d1": DOCUMENTS["d1"]}
    with pytest.raises(KeyError):
        documents["none"]
    with raises_code(InputError, "no-texts"):
        documents.some(["none"])
    if form == "function":
        with raises_code(InputError, "cannot-list"):
            list(documents)
    else:
        assert (list(documents), len(documents)) == (["d1", "d2"], 2)


def test_fields_of_documents_by_their_names() -> None:
    records = [{"sku": "d1", "name": "One", "description": "first"}]
    documents = read_documents(records, columns={"doc": "sku", "title": "name", "text": "description"})
    assert documents["d1"] == Document("first", "One")
    with raises_code(InputError, "no-texts", match="there are: description"):
        read_documents([{"sku": "d1", "description": "x"}], columns={"doc": "sku"}).some(["d1"])


# Judgements.


def test_judgements_by_people_and_by_a_model(tmp_path: Path) -> None:
    both = read_qrels({"q": {"a": 0}}).with_model({"q": {"a": 3, "b": 1}})
    assert dict(both["q"]) == {"a": 0, "b": 1}
    assert (dict(both.by("human")["q"]), dict(both.by("model")["q"])) == ({"a": 0}, {"a": 3, "b": 1})
    assert both.size == 2
    with raises_code(InputError, "no-judge"):
        Qrels({"q": {"a": 1}}).by("model")


def test_some_judgements() -> None:
    assert list(Qrels(QRELS).only(["q3", "none"])) == ["q3"]
    with raises_code(InputError, "no-queries"):
        Qrels(QRELS).only(["none"])
