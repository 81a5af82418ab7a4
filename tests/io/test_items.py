"""Items of texts: every tool's fields, every container, every mistake named with its place."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

import pandas as pd
import places
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from goldrank import evaluate_texts
from goldrank.base.errors import InputError, OptionError
from goldrank.base.notes import Note
from goldrank.data.text_item import EvidencePlaces, Reference, Span, TextItem
from goldrank.io import aliases
from goldrank.io.compression import Zstd
from goldrank.io.questions.item_reader import FAILED, ItemReader
from goldrank.io.questions.items import read_items, reader_of

TEXTS = ("chunk one", "chunk two")
WANTED = (Reference(("gold",)),)


def items(data: Any, **options: Any) -> ItemReader:
    """What reads the items of anybody's data."""
    return reader_of(read_items(data, **options))


def only(record: dict[str, Any], **options: Any) -> TextItem:
    """The one item of one record."""
    [item] = items([record], **options)
    return item


def essence(found: ItemReader) -> list[tuple[Any, ...]]:
    """What items say, without their places."""
    return [(item.query, item.question, item.retrieved, item.references, item.spans) for item in found]


# The names of fields.

SHAPES: dict[str, dict[str, Any]] = {
    "ragas": {
        "user_input": "why?", "retrieved_contexts": [*TEXTS], "reference_contexts": ["gold"],
        "retrieved_context_ids": ["a", 2], "reference_context_ids": ["g"], "response": "r", "reference": "an answer",
    },
    "ragas 0.1": {"question": "why?", "contexts": [*TEXTS], "answer": "r", "ground_truths": ["gold"]},
    "deepeval": {
        "input": "why?", "actual_output": "r", "expected_output": "e", "context": ["gold"],
        "retrieval_context": ["chunk one", {"context": "chunk two", "source": "s"}],
    },
    "deepeval camel": {"input": "why?", "actualOutput": "r", "retrievalContext": [*TEXTS], "context": ["gold"]},
    "llamaindex": {"query": "why?", "retrieved_texts": [*TEXTS], "expected_texts": ["gold"]},
    "llamaindex contexts": {"query": "why?", "retrieved_contexts": [*TEXTS], "expected_texts": ["gold"]},
    "haystack": {
        "question": "why?",
        "documents": [{"content": "chunk one", "id": "x", "meta": {}, "score": 0.5}, {"content": "chunk two"}],
        "ground_truth_documents": [{"content": "gold", "id": "g"}],
    },
    "continuous-eval 0.2": {
        "question": "why?", "retrieved_contexts": [*TEXTS], "ground_truth_contexts": ["gold"], "ground_truths": ["yes"],
    },
    "continuous-eval": {"question": "why?", "retrieved_context": [*TEXTS], "ground_truth_context": ["gold"]},
    "remem": {"question": "why?", "retrieved_docs": [*TEXTS], "gold_docs": ["gold"]},
    "goldrank": {"query": "1", "question": "why?", "retrieved": [*TEXTS], "references": ["gold"]},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_fields_of_tools(shape):
    item = only(SHAPES[shape])
    assert (item.question, item.retrieved, item.references) == ("why?", TEXTS, WANTED)
    assert item.query == ("why?" if "llamaindex" in shape else "1")


def test_langsmith_by_mapping():
    record = {
        "inputs": {"question": "why?"},
        "outputs": {"documents": [*TEXTS]},
        "gold": {"passages": ["gold"]},
        "n": 7,
    }
    item = only(record, fields={"retrieved": "outputs.documents", "references": "gold.passages", "query": "n"})
    assert (item.query, item.question, item.retrieved, item.references) == ("7", "why?", TEXTS, WANTED)


def test_a_path_goes_into_every_entry_of_a_list():
    record = {"hits": [{"_source": {"body": text}} for text in TEXTS], "references": ["gold"], "a.b": "why?"}
    item = only(record, fields={"retrieved": "hits._source.body", "question": "a.b"})
    assert (item.retrieved, item.question) == (TEXTS, "why?")


def test_ids_of_retrieved_texts():
    [given] = items([SHAPES["ragas"]]).entries()
    assert given.ids == ("a", "2")
    [given] = items([SHAPES["haystack"]]).entries()
    assert given.ids == ("x", None)
    with pytest.raises(InputError, match=r"items\[0\]: \$\.retrieved_context_ids: has 1 ids for 2 retrieved texts"):
        only(SHAPES["ragas"] | {"retrieved_context_ids": ["a"]})


def test_answers_are_references_of_last_resort_and_said():
    found = items([SHAPES["ragas 0.1"]])
    assert Note.of("answers-as-references", field="ground_truths") in found.notes
    assert only(SHAPES["continuous-eval 0.2"]).references == WANTED


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            {"question": "q", "retreived_contexts": ["a"], "references": ["b"]},
            ["no retrieved texts found; fields are: question, retreived_contexts, references",
             "Is 'retreived_contexts' meant to be retrieved_contexts?", "--map retrieved="],
        ),
        (
            {"inputs": {"question": "q"}, "outputs": {"docs": ["a"]}, "references": ["b"]},
            ["fields are: inputs.question, outputs.docs, references", "--map retrieved=... on"],
        ),
        (
            {"outputs": {"documents": ["a"]}, "references": ["b"]},
            ["fields={'retrieved': 'outputs.documents'}, or --map retrieved=outputs.documents"],
        ),
        (
            {"question": "q", "contexts": ["a"], "gold_answer": "an answer"},
            ["no references found", "--map references="],
        ),
        (
            {"question": "q", "contexts": ["a"], "context": ["b"]},
            ["no references found", "Is 'context' what was retrieved or what should have been?"],
        ),
        ({"question": "q", "retrieved_context_ids": ["a"], "references": ["b"]}, ["goldrank.evaluate"]),
        (
            {"question": "q", "contexts": ["a"], "documents": ["c"], "references": ["b"]},
            ["'contexts' and 'documents' may both be the retrieved texts", "--map retrieved=contexts"],
        ),
    ],
)  # fmt: skip
def test_fields_that_are_missing_or_may_be_two(record, said):
    with pytest.raises(InputError) as caught:
        list(items([record]))
    assert str(caught.value).startswith("items[0]: ")
    for words in said:
        assert words in str(caught.value)


def test_a_choice_of_little_weight_is_said():
    found = items([{"question": "a?", "input": "b?", "contexts": ["x"], "references": ["y"], "query": "q7", "id": 3}])
    assert [(item.query, item.question) for item in found] == [("q7", "a?")]
    assert Note.of("field-choice", fields="'question' and 'input'", role="question") in found.notes
    assert Note.of("query-field", other="id") in found.notes


def test_of_two_fields_of_which_one_is_null_the_other_is_meant():
    assert only({"contexts": None, "documents": ["a"], "references": ["b"]}).retrieved == ("a",)


def test_query_alone_is_question_and_id_but_an_id_goes_before():
    assert only({"query": "why?", "id": 5, "retrieved": ["a"], "references": ["b"]}).query == "5"
    item = only({"query": "why?", "retrieved": ["a"], "references": ["b"]})
    assert (item.query, item.question) == ("why?", "why?")


def test_fields_are_checked():
    with pytest.raises(OptionError, match="Did you mean retrieved"):
        items([], fields={"retreived": "x"})
    with pytest.raises(OptionError, match="path of retrieved"):
        items([], fields={"retrieved": 3})  # type: ignore[dict-item]
    with pytest.raises(
        InputError, match=r"no field 'outputs.doc' for the retrieved texts(.|\n)*Did you mean outputs.docs"
    ):
        only({"outputs": {"docs": []}, "references": []}, fields={"retrieved": "outputs.doc"})


def test_a_field_can_be_ruled_out():
    record = SHAPES["goldrank"] | {"evidence": "a mere remark"}
    [given] = items([record]).entries()
    assert given.evidence == "a mere remark"
    [given] = items([record], fields={"evidence": None}).entries()
    assert given.evidence is None


# Containers.

ROWS = [
    {"id": "q1", "user_input": "who?", "retrieved_contexts": ["a man", "ein Übel"], "reference_contexts": ["x", "y"]},
    {"id": "q2", "user_input": "what, then?", "retrieved_contexts": [], "reference_contexts": ["z"]},
]  # fmt: skip
EXPECTED = [
    ("q1", "who?", ("a man", "ein Übel"), (Reference(("x",)), Reference(("y",))), None),
    ("q2", "what, then?", (), (Reference(("z",)),), None),
]
COLUMNS = {key: [row[key] for row in ROWS] for key in ROWS[0]}
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


class Once:
    """An iterable that is not an iterator."""

    def __iter__(self):
        return iter(ROWS)


@pytest.mark.parametrize(
    "data",
    [
        ROWS, tuple(ROWS), iter(ROWS), (row for row in ROWS), Once(), COLUMNS, pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS), pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS).to_arrow(),
        [SimpleNamespace(**row) for row in ROWS],
    ],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_objects_and_frames_more_than_once(data):
    found = items(data)
    assert essence(found) == EXPECTED
    assert essence(found) == EXPECTED
    assert found.counts["nothing-retrieved"] == 1
    assert found.digest == items(ROWS).digest


def files(folder):
    """The same items in every format."""
    table = pl.DataFrame(COLUMNS)
    cells = pl.DataFrame({key: [v if isinstance(v, str) else json.dumps(v) for v in COLUMNS[key]] for key in COLUMNS})
    made = {
        "lines.jsonl": LINES.encode(),
        "crlf.jsonl": b"\xef\xbb\xbf\r\n" + LINES.replace("\n", "\r\n\r\n").encode(),
        "no_end.jsonl": LINES.rstrip().encode(),
        "lines.jsonl.gz": gzip.compress(LINES.encode()),
        "lines.jsonl.zst": import_module(Zstd.module).compress(LINES.encode()),
        "array.json": json.dumps(ROWS, indent=1).encode(),
        "array.json.gz": gzip.compress(json.dumps(ROWS).encode()),
        "columns.json": json.dumps(COLUMNS).encode(),
        "wrapped.json": json.dumps({"version": 1, "examples": ROWS}).encode(),
        "cells.csv": cells.write_csv().encode(),
        "cells.tsv": cells.write_csv(separator="\t").encode(),
    }
    for name, content in made.items():
        (folder / name).write_bytes(content)
    table.write_parquet(folder / "table.parquet")
    table.write_ipc(folder / "table.arrow")
    return [*made, "table.parquet", "table.arrow"]


def test_files_more_than_once(tmp_path):
    for name in files(tmp_path):
        found = items(tmp_path / name)
        assert essence(found) == EXPECTED, name
        assert essence(found) == EXPECTED, name
        assert found.name == name
        assert found.digest == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    with open(tmp_path / "lines.jsonl", "rb") as stream:
        assert essence(items(stream)) == EXPECTED


def test_a_folder_of_parquet(tmp_path):
    pl.DataFrame(COLUMNS)[:1].write_parquet(tmp_path / "a.parquet")
    pl.DataFrame(COLUMNS)[1:].write_parquet(tmp_path / "b.parquet")
    assert essence(items(tmp_path)) == EXPECTED


def test_a_list_that_pandas_wrote_into_a_csv_file(tmp_path):
    (tmp_path / "a.csv").write_text(
        'question,contexts,references\nq,"[\'it\'\'s\', ""b""]",one text\n'.replace("''", "")
    )
    found = items(tmp_path / "a.csv")
    assert [(item.retrieved, item.references) for item in found] == [(("its", "b"), (Reference(("one text",)),))]
    assert Note.of("single-cells", count=1) in found.notes
    (tmp_path / "b.csv").write_text("question,contexts,references\nq,\"['a'\n 'b']\",r\n")
    with pytest.raises(InputError, match=r"b.csv:2: \$.contexts: is a list without commas, as numpy prints it"):
        list(items(tmp_path / "b.csv"))


def test_one_record_is_one_item(tmp_path):
    assert only(SHAPES["goldrank"]) == TextItem("1", TEXTS, WANTED, "why?", where="items[0]")
    assert essence(items(SHAPES["goldrank"])) == essence(items([SHAPES["goldrank"]]))
    (tmp_path / "one.json").write_text(json.dumps(SHAPES["goldrank"], indent=2))
    assert essence(items(tmp_path / "one.json")) == essence(items([SHAPES["goldrank"]]))


def test_text_items_pass_and_are_checked():
    item = TextItem("q", ["a", ""], [Reference(("b",), 2)], spans=[Span("s", 0, 1), None])
    found = items([item])
    [same] = found
    assert (same.query, same.retrieved, same.references, same.spans) == (
        "q",
        ("a", ""),
        (Reference(("b",), 2),),
        item.spans,
    )
    assert found.counts["empty-retrieved"] == 1
    with pytest.raises(InputError, match=r"items\[0\]: \$\.retrieved\[0\]: is null"):
        list(items([TextItem("q", [None])]))  # type: ignore[list-item]


def test_items_of_items_are_the_same():
    found = read_items(ROWS)
    assert read_items(found) == found
    assert read_items(found, name="other").name == "other"


@pytest.mark.parametrize("data", [5, None, b"bytes", object()])
def test_what_cannot_be_items(data):
    with raises_code(InputError, "unreadable-object"):
        items(data)


def test_an_array_larger_than_a_piece(tmp_path, monkeypatch):
    """Items, escapes and white space cut anywhere."""
    rows = [SHAPES["goldrank"] | {"query": f"q{i}", "retrieved": [f'"\\ü{i}', "b" * (i % 7)]} for i in range(50)]
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    expected = [(row["query"], tuple(row["retrieved"])) for row in rows]
    for piece in (1, 7, 64, 1000):
        monkeypatch.setattr("goldrank.io.sources.PIECE", piece)
        assert [(item.query, item.retrieved) for item in items(tmp_path / "a.json")] == expected


def test_lines_longer_than_a_piece(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text(LINES)
    for piece in (1, 7, 64):
        monkeypatch.setattr("goldrank.io.sources.PIECE", piece)
        assert essence(items(tmp_path / "a.jsonl")) == EXPECTED


# Texts, references, evidence.


@dataclass
class Document:
    """As LangChain and Haystack have it, in one."""

    page_content: str | None = None
    content: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    score: float | None = None


class TextNode:
    """As LlamaIndex has it: text by method, places as attributes."""

    node_id = "n1"
    metadata = {"file_path": "f.txt"}  # noqa: RUF012
    start_char_idx = 10
    end_char_idx = 14

    def get_content(self) -> str:
        return "node"


class NodeWithScore:
    node = TextNode()
    score = 0.25

    @property
    def text(self) -> str:
        raise ValueError("Node must be a TextNode to get text.")


@pytest.mark.parametrize(
    ("value", "text", "ident", "source", "span"),
    [
        ("plain", "plain", None, None, None),
        ({"page_content": "t", "metadata": {"source": "s", "start_index": 4}}, "t", None, "s", Span("s", 4, 5)),
        ({"text": "tt", "node_id": 7, "file_path": "f", "start_char_idx": 0, "end_char_idx": 9}, "tt", "7", "f",
         Span("f", 0, 9)),
        ({"chunk": "t", "source": "s", "start": 1, "end": None}, "t", None, "s", Span("s", 1, 2)),
        ({"text": "same", "content": "same"}, "same", None, None, None),
        ({"node": {"text": "t", "id_": "n"}, "score": 0.5}, "t", "n", None, None),
        ({"lc": 1, "id": ["langchain"], "kwargs": {"page_content": "t"}}, "t", None, None, None),
        (Document(page_content="t", metadata={"source": "s"}, id="d"), "t", "d", "s", None),
        (Document(content="t"), "t", None, None, None),
        (("t", 0.5), "t", None, None, None),
        ((Document(page_content="t", id="d"), 0.5), "t", "d", None, None),
        (NodeWithScore(), "node", "n1", "f.txt", Span("f.txt", 10, 14)),
    ],
)  # fmt: skip
def test_retrieved_texts_of_every_kind(value, text, ident, source, span):
    [given] = items([{"retrieved": [value, "other"], "references": ["r"]}]).entries()
    assert given.item.retrieved == (text, "other")
    assert (given.ids[0] if given.ids else None) == ident
    assert (given.sources[0] if given.sources else None) == source
    assert (given.item.spans[0] if given.item.spans else None) == span


def test_sources_beside_the_texts():
    record = {"retrieved": ["abc", "d", "e"], "references": ["r"]}
    [given] = items([record | {"sources": ["s", None, {"source": "t", "start": 5}]}]).entries()
    assert given.sources == ("s", None, "t")
    assert given.item.spans == (None, None, Span("t", 5, 6))
    [given] = items([record | {"sources": {"s": "the whole text"}}]).entries()
    assert given.source_texts == {"s": "the whole text"}
    with pytest.raises(InputError, match="has 1 sources for 3 retrieved texts"):
        only(record | {"sources": ["s"]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one", [Reference(("one",))]),
        (["a", ["b", "c"]], [Reference(("a",)), Reference(("b", "c"))]),
        ([{"any_of": ["a", {"text": "b"}], "grade": 2}], [Reference(("a", "b"), 2)]),
        ([{"text": "a", "grade": 0.5}, {"content": "b", "grade": None}], [Reference(("a",), 0.5), Reference(("b",))]),
        ({"text": "a"}, [Reference(("a",))]),
        ([Document(page_content="a")], [Reference(("a",))]),
        (["", " \n", "a", ["", "b"], ["", " "]], [Reference(("a",)), Reference(("b",))]),
        ([], []),
        (None, []),
    ],
)
def test_references_of_every_kind(value, expected):
    found = items([{"retrieved": ["x"], "references": value}])
    [item] = found
    assert list(item.references) == expected
    assert found.counts["no-references"] == (not expected)


def test_empty_references_are_counted():
    # "", " \n", one of ["", "b"], two of ["", " "]
    assert (
        items([{"retrieved": [], "references": ["", " \n", "a", ["", "b"], ["", " "]]}]).counts["empty-references"] == 5
    )


def test_evidence_is_for_somebody_else_to_understand():
    quote = {"source": "s", "quote": "to be"}
    [given] = items([{"retrieved": ["x"], "evidence": [quote]}]).entries()
    assert (given.item.evidence, given.evidence) == ((), [quote])
    evidence = EvidencePlaces(((Span("s", 0, 5),),))
    assert only(TextItem("q", ["x"], evidence=[evidence])).evidence == (evidence,)
    with pytest.raises(InputError, match="of type EvidencePlaces"):
        only(TextItem("q", ["x"], evidence=[quote]))


# Bad input.


@pytest.mark.parametrize(
    ("change", "path", "said"),
    [
        ({"retrieved_contexts": ["a", None]}, "$.retrieved_contexts[1]", "is null, not a text"),
        ({"retrieved_contexts": ["a", 5]}, "$.retrieved_contexts[1]", "is 5 (of type int), not a text"),
        ({"retrieved_contexts": ["a", ["b", "c"]]}, "$.retrieved_contexts[1]", "not a text"),
        ({"retrieved_contexts": [{"body": "a"}]}, "$.retrieved_contexts[0]", "is an object with body without a text"),
        ({"retrieved_contexts": [{"id": "d1"}]}, "$.retrieved_contexts[0]", "has an id, 'd1', and no text"),
        ({"retrieved_contexts": [{"text": "a", "content": "b"}]}, "$.retrieved_contexts[0]", "may both be the text"),
        ({"retrieved_contexts": "a b"}, "$.retrieved_contexts", "is 'a b' (of type str), not a list of texts"),
        ({"retrieved_contexts": None}, "$.retrieved_contexts", "is null, not a list of texts"),
        ({"reference_contexts": ["a", None]}, "$.reference_contexts[1]", "is null, not a text"),
        ({"reference_contexts": [["a", 3]]}, "$.reference_contexts[0][1]", "is 3 (of type int), not a text"),
        ({"reference_contexts": 3}, "$.reference_contexts", "is 3 (of type int), not a list of references"),
        ({"reference_contexts": [{"any_of": [None]}]}, "$.reference_contexts[0].any_of[0]", "is null"),
        ({"reference_contexts": [{"text": "a", "grade": "x"}]}, "$.reference_contexts[0]", "grade 'x'"),
        ({"id": 1.5}, "$.id", "query id 1.5 is of type float"),
        ({"id": ""}, "$.id", "the query id is empty"),
        ({"user_input": 5}, "$.user_input", "the question is 5"),
        ({"latency": "fast"}, "$.latency", "not a number of seconds"),
        ({"latency": -1}, "$.latency", "not a number of seconds"),
    ],
)
def test_wrong_values_are_named_with_their_place(tmp_path, change, path, said):
    file = tmp_path / "data.jsonl"
    file.write_text(LINES + "\n" + json.dumps(ROWS[0] | {"id": "q3"} | change) + "\n")
    with pytest.raises(InputError) as caught:
        list(items(file))
    assert str(caught.value).startswith(f"{file}:4: {path}: ")
    assert said in str(caught.value)


LEAVES = [None, True, -1, 0, 5, 0.5, float("nan"), "", " ", "a b", b"b", "\ud800", "[1]", (1, 2), ("a", 0.5)]
KEYS = [
    *aliases.TEXT_FIELDS["text"],
    "node",
    "kwargs",
    "score",
    "grade",
    "any_of",
    "all_of",
    "id",
    "source",
    "start",
    "end",
    "meta",
]


def anything(chance: Random, depth: int = 3) -> Any:
    """A value such as nobody expects."""
    kind = chance.random()
    if not depth or kind < 0.4:
        return chance.choice(LEAVES)
    if kind < 0.7:
        return [anything(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(KEYS): anything(chance, depth - 1) for _ in range(chance.randrange(5))}


@pytest.mark.parametrize("seed", range(5))
def test_any_record_is_read_or_refused(seed):
    """No error but ours, with its place, and what is read is of the types that it should be."""
    chance = Random(seed)
    outcomes: Counter[bool] = Counter()
    for _ in range(400):
        record = {"retrieved": [anything(chance) for _ in range(chance.randrange(3))], "references": anything(chance)}
        for role in ("evidence", "sources", "query", "question", "latency", "retrieved_ids", "retrieval_error"):
            if chance.random() < 0.1:
                record[role] = anything(chance)
        try:
            [item] = items([record], nulls="empty")
        except InputError as error:
            if "items[0]" not in str(error):
                raise
            outcomes[False] += 1
            continue
        outcomes[True] += 1
        assert all(type(text) is str for text in item.retrieved)
        assert all(isinstance(one, Reference) and all(text.strip() for text in one.texts) for one in item.references)
        assert item.spans is None or len(item.spans) == len(item.retrieved)
    assert min(outcomes[True], outcomes[False]) > 20


@given(content=st.binary(max_size=30) | st.text(alphabet='[]{}",:ab1 \\\n', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(content):
    for format in (None, "json", "jsonl", "table"):
        with contextlib.suppress(InputError):
            list(items(io.BytesIO(content), format=format))


def test_null_texts_by_choice():
    found = items([{"retrieved": ["a", None, {"content": None, "id": "x"}], "references": ["r"]}], nulls="empty")
    assert [item.retrieved for item in found] == [("a", "", "")]
    assert (found.counts["null-retrieved"], found.counts["empty-retrieved"]) == (2, 2)


def test_empty_texts_keep_their_rank():
    found = items([{"retrieved": ["", "a", " \t\n"], "references": ["r"]}])
    assert [item.retrieved for item in found] == [("", "a", " \t\n")]
    assert found.counts["empty-retrieved"] == 2
    assert Note.of("empty-retrieved", count=2) in found.notes


def test_scores_out_of_order_are_counted_and_the_list_rules():
    one = {"retrieved": [{"text": "a", "score": 0.1}, {"text": "b", "score": 0.2}], "references": ["r"]}
    tied = {"retrieved": [{"text": "a", "score": 0.1}, {"text": "b", "score": 0.1}], "references": ["r"]}
    part = {"retrieved": [{"text": "a", "score": 0.1}, {"text": "b"}], "references": ["r"]}
    found = items([one, tied, part])
    assert [item.retrieved for item in found] == [("a", "b")] * 3
    assert found.counts["scores-not-descending"] == 1


def test_surrogates_survive(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"question": "q", "retrieved": ["\\ud800", "caf\xe9"], "references": ["r"]}\n')
    found = items(tmp_path / "a.jsonl")
    assert [item.retrieved for item in found] == [("\ud800", "caf\udce9")]
    assert len(items([{"retrieved": ["\ud800"], "references": ["r"]}]).digest) == 64


def test_bytes_that_are_not_utf8_are_counted(tmp_path):
    line = b'{"question": "q%d", "retrieved": ["caf\xe9"], "references": ["r"]}'
    (tmp_path / "a.jsonl").write_bytes(line % 1 + b"\n" + line % 2)
    (tmp_path / "a.json").write_bytes(b"[" + line % 1 + b"," + line % 2 + b"]")
    for name in ("a.jsonl", "a.json"):
        assert items(tmp_path / name).counts["not-utf8"] == 2


def test_repeated_ids(tmp_path):
    (tmp_path / "a.jsonl").write_text(LINES + LINES)
    with pytest.raises(InputError, match=r"a\.jsonl:3: query id 'q1' is duplicated, first at .*a\.jsonl:1\b"):
        list(items(tmp_path / "a.jsonl"))
    with pytest.raises(InputError, match=r"items\[1\]: query id 'a' is duplicated, first at items\[0\]"):
        list(items([SHAPES["goldrank"] | {"query": "a"}] * 2))


def test_items_without_ids_are_numbered():
    found = items([SHAPES["ragas"]] * 3)
    assert [item.query for item in found] == ["1", "2", "3"]
    assert Note.of("numbered-items", count=3) in found.notes


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no data lines"),
        (b"\n \r\n\n", "no data lines"),
        (b"[]", "no items"),
        (b"{}", "no items"),
        (b"hello world\n", "of no known format"),
        (b'{"retrieved": ["a"], "references": ["b"]}\n{"retrieved": ["a", }\n', r":2:21: is not JSON"),
        (b'{"retrieved": ["a"], "references": ["b"]}\n{"retrieved": ["a"\n', r":2:\d+: is not JSON(.|\n)*complete"),
        (b'[{"retrieved": ["a"], "references": ["b"]},\n {"retrieved": ["a" "b"]}]', r":2:21: is not JSON"),
        (b'[{"retrieved": ["a"], "references": ["b"]}', "array has no end"),
        (b'[{"retrieved": ["a"], "references": ["b"]}] x', r":1:45: is not JSON: Extra data"),
        (b'[{"retrieved": ["a"], "references": ["b"]} {}]', r":1:44: is not JSON: Expecting , or ]"),
        (b'[{"retrieved": ["a"], "references": ["b"], "references": []}]', "key 'references' occurs twice"),
        (b'{"id": 1, "retrieved": ["a"], "retrieved": ["b"]}\n{"id": 2}\n', "key 'retrieved' occurs twice"),
        (b"[5]", r"\[0\]: is 5, not an object with fields"),
        (b'"text"', "of no known format"),
        (b"question,contexts,references\n", "no items"),
        (b"question,contexts,references\na,b\n", ":2: found 2 columns in 'a b', expected 3"),
        (b'question,contexts,references\na,"b\n', ":2: is not a regular table"),
        (b'question,contexts,references\na,"[b",c\n', r":2: \$.contexts: is not a list in JSON"),
        (b"question,contexts,references\na,caf\xe9,c\n", r":2:6: is not UTF-8"),
        (b"PAR1 and nothing more", "Parquet|parquet"),
        ("[]".encode("utf-16"), "UTF-16"),
    ],
)  # fmt: skip
def test_broken_files(tmp_path, content, said):
    (tmp_path / "data").write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        list(items(tmp_path / "data"))
    assert str(caught.value).startswith(str(tmp_path / "data"))


def test_columns_of_unequal_length():
    with pytest.raises(InputError, match="not equally long: question has 2, contexts has 1"):
        items({"question": ["a", "b"], "contexts": [["x"]]})


def test_missing_file_and_wrong_options(tmp_path):
    with raises_code(InputError, "cannot-open"):
        items(tmp_path / "none.jsonl")
    for option in ({"format": "jsonlines"}, {"nulls": "drop"}, {"failures": "ignore"}):
        with raises_code(OptionError, "unknown-choice"):
            items(ROWS, **option)


def test_counts_are_of_one_reading():
    found = items([{"query_id": 1, "question": "a", "retrieved": ["", "x", " "], "references": ["r", ""]}])
    first = Counter(found.counts)
    list(found)
    assert found.counts == first == {"empty-retrieved": 2, "empty-references": 1}


def test_two_readings_at_a_time():
    found = items(ROWS)
    pairs = list(zip(found, found, strict=True))
    assert all(a == b for a, b in pairs)
    assert len(pairs) == 2


# Documentation.


def test_the_page_has_every_name_of_a_field():
    page = (places.ROOT / "docs" / "texts_inputs.md").read_text(encoding="utf-8")
    for groups in aliases.ITEM_FIELDS.values():
        for group in groups:
            assert all(f"`{name}`" in page for name in group)
    assert all(f"`{name}`" in page for name in aliases.TEXT_FIELDS["text"])


def test_gold_may_hold_questions_without_an_answer() -> None:
    gold = [{"id": "1", "references": ["a"], "reference": "It is a."}, {"id": "2", "answerable": False}]
    results = [
        {"id": "1", "retrieved": ["a"], "scores": [0.9], "response": "a"},
        {"id": "2", "retrieved": ["b"], "scores": [0.1]},
    ]
    first, second = items(results, gold=gold)
    assert (first.confidence, first.reference, first.response, first.answerable) == (0.9, "It is a.", "a", None)
    assert (second.confidence, second.answerable, second.references) == (0.1, False, ())


def test_gold_of_ids() -> None:
    gold = [{"id": "1", "expected_ids": ["d1"]}, {"id": "2", "no_answer": True}, {"id": "3", "expected_ids": ["d3"]}]
    results = [{"id": "1", "retrieved_ids": ["d1"]}, {"id": "2", "retrieved_ids": ["d2"]}]
    found = items(results, gold=gold)
    assert found.by_id
    assert [(item.query, tuple(item.retrieved), item.answerable) for item in found] == [
        ("1", ("d1",), None),
        ("2", ("d2",), False),
        ("3", (), None),
    ]


def test_a_failure_stays_one_beside_gold() -> None:
    """It would be a silent zero."""
    gold = [{"id": "1", "references": ["a"]}, {"id": "2", "references": ["b"]}]
    failed = {"id": "2", "retrieved": [], FAILED: {"type": "TimeoutError", "text": "too slow"}}
    results = [{"id": "1", "retrieved": ["a"]}, failed]
    with pytest.raises(InputError, match="TimeoutError"):
        list(items(results, gold=gold))
    found = items(results, gold=gold, failures="skip")
    assert [item.query for item in found] == ["1"]
    assert found.counts["failed-left-out"] == 1


def test_scores_of_texts_are_numbers_wherever_they_stand() -> None:
    with pytest.raises(InputError, match="the score is") as caught:
        list(items([{"id": "1", "retrieved": ["a", "b"], "scores": [0.5, "high"], "references": ["a"]}]))
    assert "scores[1]" in str(caught.value.where)


def test_the_right_answer_under_any_of_its_names_is_a_reference() -> None:
    """DeepEval's test cases have no texts that should be retrieved, only the answer."""
    for name in ("reference", "reference_answer", "expected_answer", "expected_output"):
        item = {"input": "Where?", "retrieval_context": ["Rome lies in Italy."], name: "Rome lies in Italy."}
        assert evaluate_texts([item], "context_recall")["context_recall"] == 1.0
