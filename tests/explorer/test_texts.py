"""Texts by id from files that are not held: every format, odd ids, files that change, what is kept."""

import gzip
import json
import os
from collections import namedtuple

import polars as pl
import pytest

from goldrank import Document, read_queries
from goldrank.base.errors import InputError
from goldrank.explorer.document_texts import Texts, open_texts
from goldrank.io.by_id import text_index
from goldrank.io.by_id.text_index import json_id

DOCS = {
    "d1": Document("alpha beta", "First"),
    "17": Document("seventeen", ""),
    'quo"te\\': Document("text\nof two lines", "Quoted"),
    "日本": Document("東京", ""),
    "../../etc/passwd": Document("not a path", "Up"),
}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def jsonl(path, docs=DOCS, opener=open):
    with opener(path, "wt", encoding="utf-8") as file:
        for doc, (text, title) in docs.items():
            file.write(json.dumps({"_id": doc, "title": title, "text": text}, ensure_ascii=False) + "\n")
    return path


def write_tsv(path):
    plain = {doc: one for doc, one in DOCS.items() if "\n" not in one.text}
    path.write_text("".join(f"{doc}\t{one.title}\t{one.text}\n" for doc, one in plain.items()))
    return path


def write_parquet(path):
    rows = [{"docid": doc, "title": one.title, "contents": one.text} for doc, one in DOCS.items()]
    pl.DataFrame(rows).write_parquet(path)
    return path


def beir(folder):
    folder.mkdir()
    jsonl(folder / "corpus.jsonl")
    return folder


FORMS = {
    "jsonl": lambda folder: jsonl(folder / "c.jsonl"),
    "gzip": lambda folder: jsonl(folder / "c.jsonl.gz", opener=gzip.open),
    "tsv": lambda folder: write_tsv(folder / "c.tsv"),
    "parquet": lambda folder: write_parquet(folder / "c.parquet"),
    "beir": lambda folder: beir(folder / "set"),
    "mapping": lambda folder: {doc: one._asdict() for doc, one in DOCS.items()},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_format(form, tmp_path):
    texts = open_texts(FORMS[form](tmp_path), lambda: DOCS)
    for doc, expected in DOCS.items():
        if form == "tsv" and "\n" in expected.text:
            continue
        assert texts.get(doc) == expected, doc
    assert texts.get("nobody") is None


def test_an_object_of_ir_datasets():
    Doc = namedtuple("Doc", "doc_id title text")

    class Store:
        def get(self, doc):
            return {"d": Doc("d", "T", "body")}[doc]

    dataset = namedtuple("Dataset", "docs_store")(Store)
    texts = open_texts(dataset, tuple)
    assert (texts.get("d"), texts.get("e")) == (Document("body", "T"), None)


def test_ids_that_are_not_utf8(tmp_path):
    (tmp_path / "c.tsv").write_bytes(b"\xff\xfe1\ttext of it\n")
    texts = open_texts(tmp_path / "c.tsv", tuple)
    assert texts.get(b"\xff\xfe1".decode("utf-8", "surrogateescape")) == Document("text of it", "")


def test_the_first_of_duplicated_ids_counts(tmp_path):
    path = tmp_path / "c.tsv"
    path.write_text("d\tfirst\nd\tsecond\n")
    texts = open_texts(path, tuple)
    assert (texts.get("d").text, texts.index.duplicated) == ("first", 1)


def test_equal_hashes_are_told_apart(tmp_path, monkeypatch):
    """The id at the place is compared, so that a collision gives no wrong text."""
    path = tmp_path / "c.tsv"
    path.write_text("a\tof a\nb\tof b\n")
    texts = open_texts(path, tuple)
    monkeypatch.setattr(texts.index, "positions", lambda doc: [0, 7])
    assert [texts.get(doc) and texts.get(doc).text for doc in ("a", "b", "c")] == ["of a", "of b", None]


def test_the_index_is_made_once(tmp_path, monkeypatch):
    path = jsonl(tmp_path / "c.jsonl")
    open_texts(path, tuple)
    monkeypatch.setattr(text_index, "json_id", lambda line: pytest.fail("read again"))
    assert open_texts(path, tuple).get("d1") == DOCS["d1"]


def test_a_changed_file_is_indexed_again(tmp_path):
    path = tmp_path / "c.tsv"
    path.write_text("a\told\n")
    open_texts(path, tuple)
    path.write_text("b\tx\na\tnew\n")
    assert open_texts(path, tuple).get("a").text == "new"


def test_a_damaged_index_is_made_again(tmp_path):
    path = jsonl(tmp_path / "c.jsonl")
    open_texts(path, tuple)
    (kept,) = text_index.table_folder().glob("*.index")
    kept.write_bytes(kept.read_bytes()[:-5])
    assert open_texts(path, tuple).get("17") == DOCS["17"]


def test_a_file_that_changes_under_a_session_hides_texts(tmp_path):
    path = tmp_path / "c.tsv"
    path.write_text("a\tone\n")
    texts = Texts(path, tuple)
    assert texts.wait(20)
    assert texts.get("a").text == "one"
    path.write_text("a\tanother text\n")
    os.utime(path, (1, 1))
    assert texts.get("a") is None
    assert "changed since it was indexed" in texts.state


@pytest.mark.parametrize(
    ("content", "says"),
    [(b'{"text": "no id"}\n', "no id"), (b'{"x": 1, \n', "not JSON")],
)
def test_bad_lines_say_where(tmp_path, content, says):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"_id": "ok", "text": "t"}\n' + content)
    with pytest.raises(InputError, match=says) as caught:
        open_texts(path, tuple)
    assert "c.jsonl:2" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"_id": "a", "x": 1}', b"a"),
        (b'  { "id" : 17 , "x": 1}', b"17"),
        (b'{"title": "t", "docid": "z"}', b"z"),
        (b'{"_id": "a\\u0062"}', b"ab"),
        (b'{"_id": "a\\"b"}', b'a"b'),
        (b'{"text": "_id"}', None),
    ],
)
def test_the_id_of_a_line(line, found):
    assert json_id(line) == found


def test_queries_of_every_form(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\tone two\nq2\tthree\n")
    (tmp_path / "q.jsonl").write_text('{"_id": "q1", "text": "one two"}\n{"_id": "q2", "text": "three"}\n')
    (tmp_path / "beir").mkdir()
    (tmp_path / "beir" / "queries.jsonl").write_text((tmp_path / "q.jsonl").read_text())
    expected = {"q1": "one two", "q2": "three"}
    for given in ("q.tsv", "q.jsonl", "beir"):
        assert {query: one.text for query, one in read_queries(tmp_path / given).items()} == expected
    (tmp_path / "bad.tsv").write_text("q1 no tab\n")
    with pytest.raises(InputError, match="no queries"):
        read_queries(tmp_path / "bad.tsv")


def test_a_line_that_breaks_off_is_complained_of_when_it_is_read(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"_id": "ok", "text": "t"}\n{"_id": "a", "text": "br\n')
    texts = Texts(path, tuple)
    assert texts.wait(20)
    assert texts.get("ok").text == "t"
    assert texts.state == ""
    assert texts.get("a") is None
    assert "c.jsonl" in texts.state


@pytest.mark.parametrize(
    "line",
    [b'{"_id": "d1", "text": "' + b"a" * 500_000 + b'"}\n', b"d1\t" + b"a" * 500_000 + b"\n"],
    ids=["json", "tsv"],
)
def test_a_packed_corpus_is_unpacked_within_the_limits(tmp_path, line):
    """Ten other commands kept them; this one filled the disk."""
    path = tmp_path / "corpus.gz"
    path.write_bytes(gzip.compress(line * 200))
    with pytest.raises(InputError, match="unpacks to more than 250 times its size"):
        open_texts(str(path), None).get("d1")
    assert not list((tmp_path / "cache").rglob("*.copy"))
    assert not list((tmp_path / "cache").rglob("*.new"))


def test_a_line_without_end_is_not_copied(tmp_path, monkeypatch):
    monkeypatch.setattr("goldrank.io.sources.MAX_RECORD", 1_000)
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"_id": "d1", "text": "' + b"a" * 10_000 + b'"}\n'))
    with pytest.raises(InputError, match="a line is longer than 1,000 bytes"):
        open_texts(str(path), None).get("d1")


def test_parquet_is_unpacked_within_the_limits(tmp_path):
    path = tmp_path / "corpus.parquet"
    pl.select(docid=pl.repeat("d", 5_000_000), text=pl.repeat("a", 5_000_000)).write_parquet(path, compression="zstd")
    with pytest.raises(InputError, match="unpacks to more than 250 times its size"):
        open_texts(str(path), None).get("d")


def test_packed_parquet_says_what_to_do(tmp_path):
    path = write_parquet(tmp_path / "c.parquet")
    packed = tmp_path / "c.parquet.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match="compressed once more"):
        open_texts(str(packed), None).get("d1")
