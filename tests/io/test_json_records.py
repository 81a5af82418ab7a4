"""JSON Lines decoded in batches, with the same outcome as record by record."""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter

import pytest
from lanes import many

from goldrank import read_qrels
from goldrank.base.errors import InputError
from goldrank.io import aliases, read_run, sources
from goldrank.io.json import json_files as json_reader
from goldrank.io.json import json_records, json_text

LINE = '{"query_id": "q1", "doc_id": "d1", "score": 1.5}'


def written(tmp_path, text: str):
    path = tmp_path / "run.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def quick(path):
    """What is read in batches; None if it is left to who reads record by record."""
    batches = json_text.read_batches(sources.open_source(path), Counter(), "", json_text.SCORES)
    return json_records.rankings(batches, "run")


def outcome(path):
    try:
        run = read_run(path, format="jsonl")
        return dict(run), run.id_kind, [str(note) for note in run.notes]
    except InputError as error:
        return str(error)


def leave_all_to_others(monkeypatch) -> None:
    monkeypatch.setattr(json_reader, "rankings", lambda batches, where: None)


@pytest.mark.parametrize(
    ("second", "doc", "score"),
    [
        ('{"query_id": "q1", "doc_id": "d2", "score": 1}', "d2", 1.0),
        ('{"query_id": "q1", "doc_id": "d2", "score": -0.0}', "d2", -0.0),
        ('{"query_id": "q1", "doc_id": "d2", "score": 1e999}', "d2", math.inf),
        ('{"query_id": "q1", "doc_id": "d2", "score": Infinity}', "d2", math.inf),
        ('{"query_id": "q1", "doc_id": "d2", "score": -%s}' % ("9" * 400), "d2", -math.inf),
        ('{"query_id": "q1", "doc_id": "d2", "score": %s}' % ("9" * 5000), "d2", math.inf),
        ('{"query_id": "q1", "doc_id": "d2", "score": 12345678901234567890}', "d2", 12345678901234567890.0),
        ('{"query_id": "q1", "doc_id": "\u6587", "score": 1E+2}', "\u6587", 100.0),
        ('{"query_id": "q1", "doc_id": "d\\u0032", "score": 1}', "d2", 1.0),
        ('{"query_id": "q1", "doc_id": "d\\u003a", "score": 1}', "d:", 1.0),
        ('{"query_id": "q1", "doc_id": "d\\"2", "score": 1}', 'd"2', 1.0),
        ('{"query_id": "q1", "doc_id": "d\\ud83d\\ude00", "score": 1}', "d\U0001f600", 1.0),
        ('{"query_id": "q1", "doc_id": "d\udcff", "score": 1}', "d\udcff", 1.0),
        ('{"doc_id": "d2", "score": 1, "query_id": "q1"}', "d2", 1.0),
        ('{"query_id":"q1","doc_id":"d2","score":1}', "d2", 1.0),
        ('\t{ "query_id" : "q1" , "doc_id" : "d2" , "score" : 1 } \r', "d2", 1.0),
        ('\n \t\r\n\x0b\n{"query_id": "q1", "doc_id": "d2", "score": 1}\n\n', "d2", 1.0),
        ('{"query_id": "q1", "doc_id": "d2", "score": 1, "text": "a: b, {\\"c\\": 1}"}', "d2", 1.0),
        ('{"query_id": "q1", "doc_id": "d2", "score": 1, "meta": {"a": [{"b": 1}], "c": null}}', "d2", 1.0),
        ('{"query_id": "q1", "doc_id": "d2", "score": 1, "tags": [], "rank": 7}', "d2", 1.0),
    ],
)
def test_lines_that_are_read_in_batches(second, doc, score, tmp_path, monkeypatch):
    path = written(tmp_path, f"{LINE}\n{second}")
    expected = {"q1": {"d1": 1.5, doc: score}}
    assert quick(path) == expected
    assert math.copysign(1, quick(path)["q1"][doc]) == math.copysign(1, score)
    found = outcome(path)
    assert found[0] == expected
    leave_all_to_others(monkeypatch)
    assert outcome(path) == found


@pytest.mark.parametrize(
    "second",
    [
        "{",
        "[]",
        "# a remark",
        LINE,
        LINE + "x",
        f"{LINE} {LINE}",
        '{"query_id": "q1", "doc_id": "d2", "score": 01}',
        '{"query_id": "q1", "doc_id": "d2", "score": .5}',
        '{"query_id": "q1", "doc_id": "d2", "score": +5}',
        '{"query_id": "q1", "doc_id": "d2", "score": NaN}',
        '{"query_id": "q1", "doc_id": "d2", "score": "1"}',
        '{"query_id": "q1", "doc_id": "d2", "score": true}',
        '{"query_id": "q1", "doc_id": "d2", "score": null}',
        '{"query_id": "q1", "doc_id": "d2"}',
        '{"query_id": "q1", "doc_id": %s, "score": 1}' % ("9" * 400),
        '{"query_id": "q1", "doc_id": "", "score": 1}',
        '{"query_id": "q1", "doc_id": 7, "score": 1}',
        '{"query_id": "q1", "doc_id": "d\x012", "score": 1}',
        '{"query_id": "q1", "doc_id": "d\\ud83d", "score": 1}',
        '{"query_id": "q1", "doc_id": "%s", "score": 1}' % ("x" * 70_000),
        '{"query_id": "q1", "doc_id": "d2", "score": 1, "score": 2}',
        '{"query_id": "q1", "doc_id": "d2", "score": 1, "text": "\\u003a", "score": 2}',
        '{"query_id": "q1", "doc_id": "d2", "score": 1, "meta": {"a": 1, "\\u0061": 1}}',
        '{"query_id": "q1", "doc_id": "d2", "score": 1, "meta": [[{"a": {"b": {}, "b": {}}}]]}',
        '{"query_id": "q1", "doc_id": "d2", "score": 1, "meta": %s}' % ("[" * 3000),
        '{"query_id": "q1", "docs": ["d2"]}',
        '{"query_id": "q1", "docno": "d2", "score": 1}',
    ],
)
def test_lines_that_are_left_to_others(second, tmp_path, monkeypatch):
    path = written(tmp_path, f"{LINE}\n{second}\n")
    assert quick(path) is None
    found = outcome(path)
    leave_all_to_others(monkeypatch)
    assert outcome(path) == found


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ('{"query_id": "q1", "doc_id": "d2", "score": 1, "score": 2}', "key 'score' occurs twice in the object at $"),
        ('{"a": [0, {"b": {"c": "\\u003a", "d": 1, "d": 2}}]}', "key 'd' occurs twice in the object at $.a[1].b"),
        ('{"a": {"b": ":", "b": 1}}', "key 'b' occurs twice in the object at $.a"),
    ],
)
def test_a_key_that_occurs_twice_is_refused_wherever_it_is(second, message, tmp_path):
    lines = [json.dumps({"query_id": "q1", "doc_id": f"d{i}", "score": i, "text": "a: b"}) for i in range(3000)]
    lines[2500] = second
    found = outcome(written(tmp_path, "\n".join(lines)))
    assert f"run.jsonl:2501: {message}" in found


@pytest.mark.parametrize("seed", range(many(60)))
def test_the_outcome_is_that_of_reading_record_by_record(seed, tmp_path, monkeypatch):
    rng = random.Random(seed)
    names = rng.choice([("query_id", "doc_id", "score"), ("qid", "docid", "score"), ("Query", "doc", "rank")])
    lines = []
    for _ in range(rng.randrange(1, 8)):
        scored = rng.choice([rng.random(), rng.randrange(9), -1e-7])
        row = dict(zip(names, (f"q{rng.randrange(2)}", f"d{rng.randrange(99)}", scored), strict=True))
        if seed % 3 == 0:
            row = {"note": rng.choice(["x", 5, "y: z"]), **row, "tags": [{"a": 1}]}
        if seed % 5 == 0:
            row = dict(rng.sample(list(row.items()), len(row)))
        line = json.dumps(row, ensure_ascii=rng.random() < 0.5)
        lines.append(line + rng.choice(["", "", "", " ", "\r", "\n"]) * (seed % 2))
    path = written(tmp_path, "\n".join(lines) + "\n" * rng.randrange(2))
    monkeypatch.setattr(sources, "PIECE", rng.choice([50, 5 << 20]))
    monkeypatch.setattr(json_text, "BATCH", rng.choice([1, 60, 1 << 16]))
    found = outcome(path)
    leave_all_to_others(monkeypatch)
    assert outcome(path) == found


@pytest.mark.parametrize("batch", [1, 2, 5, 17, 1 << 16])
def test_lines_have_their_numbers_however_they_are_cut(batch, monkeypatch, tmp_path):
    """A number for each line that is not blank, as `str.split` counts them."""
    rng = random.Random(batch)
    monkeypatch.setattr(json_text, "BATCH", batch)
    for _ in range(50):
        lines = rng.choices(["", " ", "1", '"a b"', "[1, 2]", "Infinity", '{"a": 1}'], k=rng.randrange(1, 12))
        monkeypatch.setattr(sources, "PIECE", rng.choice([1, 7, 5 << 20]))
        source = sources.open_source(written(tmp_path, "\n".join(lines) + "\n"))
        counts: Counter[str] = Counter()
        expected = [(number, json.loads(line)) for number, line in enumerate(lines, 1) if line.strip()]
        assert list(json_text.read_lines(source, counts, "")) == expected
        assert counts["blank-lines"] == len(lines) - len(expected)


def test_lines_before_a_mistake_are_handed_over(tmp_path):
    """Whoever reads them tells what is wrong with them first."""
    lines = json_text.read_lines(sources.open_source(written(tmp_path, '1\n2\n{"a": \n')), Counter(), "")
    assert [next(lines), next(lines)] == [(1, 1), (2, 2)]
    with pytest.raises(InputError, match=r"run.jsonl:3:7: is not JSON: Expecting value"):
        next(lines)


def test_names_are_looked_up_once_for_each_shape(tmp_path, monkeypatch):
    """Two shapes of records and one of results make as few calls as two lines do."""
    seen: list[str] = []
    normal = aliases.normal
    monkeypatch.setattr(aliases, "normal", lambda name: seen.append(name) or normal(name))

    def looked_up(count: int, mark: str) -> int:
        seen.clear()
        rows = [
            {"query_id": f"q{i}", f"a{mark}{i % 2}": i, "results": [{"doc_id": "d1", f"b{mark}": 1, "score": 1.0}]}
            for i in range(count)
        ]
        path = written(tmp_path, "\n".join(map(json.dumps, rows)))
        assert len(read_run(path)) == count
        return len(seen)

    assert 0 < looked_up(2, "few") == looked_up(500, "many")


def test_grades_keep_how_they_are_written(tmp_path):
    """As in other text files 1.0 is a grade, and 1e0 and 1e-400 are none."""
    line = '{"query_id": "q1", "doc_id": "d%d", "grade": %s}\n'
    assert read_qrels(written(tmp_path, line % (1, "1.0") + line % (2, "2")))["q1"] == {"d1": 1, "d2": 2}
    for grade in ("1e0", "1e-400", "0.5"):
        with pytest.raises(InputError, match=rf"run.jsonl:2(.|\n)*grade '{grade}' is not a whole number"):
            read_qrels(written(tmp_path, line % (1, "1.0") + line % (2, grade)))


# msgspec and Python's own parser.

SCALARS = (
    *("1", "-0", "1.0", "1e0", "1e-400", "1e999", "01", ".5", "-", "NaN", "-Infinity", "null", "true", "9" * 300),
    *("-" + "9" * 299, "9" * 299, "12345678901234567890123", '"a"', '"\\u003a"', '"x:y"', '"\u00e9"', '"\\ud800"'),
    *('"\\ud83d\\ude00"', '"\udcff"', '"\x01"', '"\x7f"', '"', "", "{", "]"),
)
KEYS = ('"a"', '"b"', '"c"', '"d"', '"\\u0061"', '"e:"', '"\\u003a"')


def made_up(rng: random.Random, depth: int = 0) -> str:
    """A JSON text, or nearly one."""
    kind = rng.random()
    if depth > 3 or kind < 0.4:
        return rng.choice(SCALARS)
    count = rng.randrange(4)
    if kind < 0.6:
        return f"[{', '.join(made_up(rng, depth + 1) for _ in range(count))}]"
    return f"{{{','.join(f'{key} :{made_up(rng, depth + 1)}' for key in rng.choices(KEYS, k=count))}}}"


def as_told(value):
    """A value with the types of all that is in it, and numbers as they are written."""
    if isinstance(value, dict):
        return [(key, as_told(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [as_told(inner) for inner in value]
    return type(value), repr(value), getattr(value, "text", None)


def parsed(parse, given):
    try:
        return as_told(parse(given, "file", 3))
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("rule", [json_text.NUMBERS, json_text.SCORES, json_text.GRADES])
def test_both_parsers_give_the_same(rule):
    rng = random.Random(5)
    quick_ones = 0
    for _ in range(many(3000)):
        text = made_up(rng)
        raw = text.encode("utf-8", "surrogateescape")
        parser = json_text.JsonParser("One name.", rule)
        assert parsed(parser.parse, raw) == parsed(parser.parse_closely, text), text
        quick_ones += parser.quick([raw], raw) is not None
    assert quick_ones


@pytest.mark.parametrize("before", ["[", '{"a":'])
def test_what_is_nested_too_deeply_is_refused_by_name(before):
    """Whatever the depth at which decoding, or writing again, comes to its end."""
    after = {"[": "]", '{"a":': "}"}[before]
    parser = json_text.JsonParser("One name.")
    outcomes = []
    for depth in range(10, sys.getrecursionlimit() + 20):
        try:
            parser.parse(((before * depth) + "1" + (after * depth)).encode(), "file", 3)
            outcomes.append("read")
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == "read"
    assert set(outcomes) <= {"read", "file:3: is nested too deeply"}  # newer Pythons nest deeper
    assert outcomes == sorted(outcomes, reverse=True), "what is deeper than what is refused is refused"
