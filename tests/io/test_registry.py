"""Formats, compressions and names of columns are tables: a new entry is all that it takes."""

from __future__ import annotations

import bz2
import io
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from helpers import QRELS, RUN
from raising import raises_code

from goldrank import GoldrankError, evaluate, read_qrels, read_run
from goldrank.base.errors import InputError, OptionError
from goldrank.base.notes import Note
from goldrank.io import aliases, formats
from goldrank.io.compression import COMPRESSIONS, Compression
from goldrank.io.formats import FORMATS, Format
from goldrank.io.questions.items import read_items
from goldrank.io.sources import open_source
from goldrank.io.tables import spark_frames as spark

TOY = '''
"""A format of one's own: TOY, then `query|doc|number` in each line."""

from goldrank.data.qrels import Judgements
from goldrank.io.objects import mappings
from goldrank.io.records import Records


def rows(source):
    for line in source.read().decode().splitlines()[1:]:
        query, doc, number = line.split("|")
        yield query, doc, float(number)


def read_run(source, how):
    return mappings.run_from_rows(rows(source), source.label)


def read_qrels(source, how):
    queries, docs, grades = zip(*rows(source))
    as_bytes = ([text.encode() for text in column] for column in (queries, docs))
    return Judgements(*as_bytes, [int(grade) for grade in grades], lambda i: f"{source.name}:{i + 2}")


def read_records(source, how):
    def records(counts):
        for number, (query, retrieved, reference) in enumerate(
            line.split("|") for line in source.read().decode().splitlines()[1:]
        ):
            yield number, {"query_id": query, "retrieved": [retrieved], "references": [reference]}
    return Records.of_source(source, records)


def dump(data):
    lines = [f"{query}|{doc}|{number}" for query in data for doc, number in data[query].items()]
    return "\\n".join(["TOY", *lines, ""]).encode()
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module and an entry."""
    (tmp_path / "toy_format.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    entry = Format(
        "toy",
        holds=("run", "qrels", "records"),
        module="toy_format",
        recognised=lambda seen: seen.text.startswith(b"TOY"),
        writes=True,
        suffixes=(".toy",),
        in_memory=True,
    )
    monkeypatch.setitem(FORMATS, "toy", entry)


@pytest.mark.usefixtures("toy")
def test_a_format_is_one_module_and_one_entry(tmp_path: Path) -> None:
    run, qrels = {"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 1}}
    read_run(run).save(tmp_path / "run.toy")
    read_qrels(qrels).save(tmp_path / "qrels", format="toy")
    assert (tmp_path / "run.toy").read_bytes() == b"TOY\nq1|d1|2.0\nq1|d2|1.0\n"
    assert read_run(tmp_path / "run.toy") == run
    assert read_run(tmp_path / "run.toy", format="toy") == run
    assert read_qrels(tmp_path / "qrels") == qrels
    assert evaluate(tmp_path / "qrels", tmp_path / "run.toy", "RR")["RR"] == 1 / 2
    assert "toy" in formats.names("run")
    with pytest.raises(OptionError, match="toy"):
        read_run(tmp_path / "run.toy", format="tiy")
    (tmp_path / "items").write_text("TOY\nq1|a text|a text\n")
    [item] = read_items(tmp_path / "items")
    assert (item.query, item.retrieved) == ("q1", ("a text",))


@pytest.mark.usefixtures("toy")
def test_part_files_of_a_new_format(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a").write_text("TOY\nq1|d1|2\n")
    (tmp_path / "run" / "b").write_text("TOY\nq2|d1|2\n")
    assert read_run(tmp_path / "run") == {"q1": {"d1": 2.0}, "q2": {"d1": 2.0}}
    assert read_qrels(tmp_path / "run") == {"q1": {"d1": 2}, "q2": {"d1": 2}}
    (tmp_path / "run" / "b").write_bytes(RUN)
    with pytest.raises(InputError, match=r"a is toy, .*b is trec"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("entry", FORMATS.values(), ids=list(FORMATS))
def test_entries_hold_what_they_say(entry: Format) -> None:
    """What is declared is in the module, and the other way round a writer is declared."""
    assert entry.holds
    for thing in entry.holds if entry.folder is None else ():
        assert callable(getattr(entry.implementation, f"read_{thing}"))
    assert callable(getattr(entry.implementation, "find_file", None)) == (entry.folder is not None)
    assert callable(entry.implementation.dump) if entry.writes else not entry.suffixes


@pytest.mark.slow
def test_only_what_is_used_is_loaded() -> None:
    """TREC text needs neither polars nor the parser of JSON; JSON and CSV with texts need no polars."""

    def loaded(code: str) -> set[str]:
        program = f"{textwrap.dedent(code)}\nimport sys\nprint(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    trec = loaded(
        f"import io, goldrank; goldrank.evaluate(goldrank.read_qrels(io.BytesIO({QRELS!r})), io.BytesIO({RUN!r}), 'AP')"
    )
    assert "goldrank.io.text.trec" in trec
    assert not trec & {
        "polars",
        "goldrank.io.json.json_text",
        "goldrank.io.json.json_files",
        "goldrank.io.tables.polars_tables",
    }
    row = {"question": "a", "retrieved": ["b"], "references": ["b"]}
    csv = "question,retrieved,references\na,b,b\n"
    for text in (json.dumps(row), csv):
        found = loaded(f"import io, goldrank; list(goldrank.read_items(io.BytesIO({text.encode()!r})))")
        assert "goldrank.io.records" in found
        assert "polars" not in found


@pytest.mark.parametrize(
    ("data", "thing", "name"),
    [
        (RUN, "run", "trec"),
        (QRELS, "qrels", "trec"),
        (b"q1\td1\t1\n", "run", "msmarco"),
        (b"q1\td1\t1\n", "qrels", "trec"),
        (b"# c\nquery-id\tcorpus-id\tscore\n", "qrels", "table"),
        (b'"query","doc","score"\n', "run", "table"),
        (b'{"q1": {"d1": 1}}\n', "run", "json"),
        (b'[{"qid": "q1"}]', "run", "json"),
        (b'{\n"q1": {"d1": 1}}\n', "qrels", "json"),
        (b'\n{"qid": "q1"}\n\n{"qid": "q2"}\n', "run", "jsonl"),
        (b'{"question": "a"}\n{"question": "b"}', "records", "jsonl"),
        (b" " * 100_000 + b'\n{"question": "a"}\n{"question": "b"}', "records", "jsonl"),
        (b"ARROW1", "run", "arrow"),
        (b"\xff\xff\xff\xff", "qrels", "arrow"),
        (b"PAR1", "run", "parquet"),
    ],
)
def test_detection(data: bytes, thing: str, name: str) -> None:
    assert formats.detect(open_source(io.BytesIO(data)), thing).name == name


def test_unknown_columns_of_records() -> None:
    source = open_source(io.BytesIO(b"a,b\n"))
    assert formats.detect(source, "records", lambda header: header == ["a", "b"]).name == "table"
    with pytest.raises(InputError, match="begins with 'a,b'"):
        formats.detect(source, "records", lambda header: False)


@pytest.mark.parametrize("data", [b"", b"\n \n", b"# only\n# comments\n", b"# c\n" * 30_000])
def test_files_without_data(data: bytes) -> None:
    with raises_code(InputError, "empty-input"):
        read_run(io.BytesIO(data))


def test_formats_that_must_be_asked_for_by_name() -> None:
    with pytest.raises(OptionError, match="format is 'prefs'"):
        read_run(io.BytesIO(RUN), format="prefs")
    with raises_code(OptionError, "not-a-beir-folder", match="Name the folder"):
        read_qrels(io.BytesIO(QRELS), format="beir")


def test_json_on_one_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole file is no record: the limit on records is not one on files."""
    monkeypatch.setattr("goldrank.io.sources.MAX_RECORD", 100)
    monkeypatch.setattr("goldrank.io.sources.PIECE", 50)
    run = {"q1": {f"d{i}": float(i) for i in range(50)}}
    assert read_run(io.BytesIO(json.dumps(run).encode())) == run


# Compressions.


class Reversed(Compression):
    """The bytes, back to front, behind a sign."""

    name, magic, suffixes = "reversed", b"\x00REV", (".rev",)

    def open(self, raw: Any) -> Any:
        return io.BytesIO(raw.read()[len(self.magic) :][::-1])


def test_a_compression_is_one_class_and_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain.rev").write_bytes(RUN)
    assert read_run(tmp_path / "plain.rev").notes == ()
    monkeypatch.setitem(COMPRESSIONS, "reversed", Reversed())
    (tmp_path / "run.rev").write_bytes(Reversed.magic + RUN[::-1])
    assert set(read_run(tmp_path / "run.rev")) == {"q1", "q2"}
    assert read_run(tmp_path / "plain.rev").notes == (Note.of("not-compressed", suffix=".rev"),)
    with pytest.raises(InputError, match="reversed"):
        read_run(io.BytesIO(b"PK\x03\x04\x14\x00"))


@pytest.mark.parametrize("kind", COMPRESSIONS.values(), ids=list(COMPRESSIONS))
def test_damage_is_said(kind: Compression) -> None:
    with raises_code(InputError, "damaged-file", match=kind.name):
        read_run(io.BytesIO(kind.magic + b"9" + bytes(40)))


def test_names_behind_a_compression() -> None:
    """A broken first line of a .jsonl.bz2 is one of JSON Lines."""
    stream = io.BytesIO(bz2.compress(b'{"question": \n{"question": "b"}\n'))
    stream.name = "items.jsonl.bz2"
    with raises_code(InputError, "not-json", match=r"items\.jsonl\.bz2:1:\d+: "):
        list(read_items(stream))


# Names.


def test_names_are_in_lower_case_and_once() -> None:
    tables: list[Any] = [aliases.COLUMNS, aliases.PAIR_FIELDS, aliases.TEXT_FIELDS]
    groups = [known for table in tables for known in table.values()]
    groups += [[name for group in known for name in group] for known in aliases.ITEM_FIELDS.values()]
    for known in groups:
        assert [name.casefold() for name in known] == list(dict.fromkeys(known))


def test_ordered_by() -> None:
    assert aliases.ordered_by(["query", "doc", "Rank"]) == "rank"
    assert aliases.ordered_by(["rank", "sim"]) == "score"
    assert aliases.ordered_by(["doc"]) == "score"


# Errors that other code goes by.


class FakeType:
    def __init__(self, name: str) -> None:
        self.name = name

    def typeName(self) -> str:  # noqa: N802 - Spark's name
        return self.name

    simpleString = typeName  # noqa: N815


class FakeFrame:
    """As much of a Spark DataFrame as judgements are read through."""

    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns
        kinds = {str: "string", int: "int", float: "double"}
        self.schema = self
        self.fields = [
            type("Field", (), {"name": name, "dataType": FakeType(kinds[type(values[0])])})
            for name, values in columns.items()
        ]

    def selectExpr(self, *expressions: str) -> FakeFrame:  # noqa: N802
        return self

    def limit(self, number: int) -> FakeFrame:
        return self

    def toArrow(self) -> Any:  # noqa: N802
        import pyarrow as pa

        return pa.table(self._columns)


def test_contradictions_in_spark_go_by_their_code() -> None:
    """Not by the words of a hint, which other errors may have as well."""
    contradicting = FakeFrame(query=["q", "q"], doc=["d", "d"], grade=[1, 2])
    with pytest.raises(InputError, match="needs an order of lines"):
        spark.qrels_from_spark(contradicting, "qrels", "last")
    with pytest.raises(InputError) as caught:
        spark.qrels_from_spark(contradicting, "qrels", "error")
    assert caught.value.code == "contradicting-judgements"
    with raises_code(GoldrankError, "bad-grade"):
        spark.qrels_from_spark(FakeFrame(query=["q"], doc=["d"], grade=[1.5]), "qrels", "last")
