"""`goldrank demo`: the verdict first, then the table, then what it says, in a screen; and its files."""

from __future__ import annotations

import shlex
from pathlib import Path

import places
import pytest

from goldrank import cli, compare, demo, read_documents, read_qrels, read_queries, read_run

DATA = demo.load()
SCREEN = 24


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert cli.run(["demo", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return shown(capsys)


def test_the_verdict_comes_first_and_all_fits_on_a_screen(lines: list[str]) -> None:
    runs = {name: demo.runs()[name] for name in ("overlap", "bm25")}
    assert lines[0] == compare(DATA["qrels"], runs).pair.sentence
    assert lines[0].startswith("bm25 is better than overlap: ")
    assert lines[2].split("  ")[0] == "measure"
    assert "What this says" in lines
    assert len(lines) <= SCREEN


def test_the_table_has_the_values_of_trec_eval_and_the_words(lines: list[str]) -> None:
    """Values of trec_eval, from the last lines of the files in tests/files/demo."""
    rows = [line.split() for line in lines[3:8]]
    assert rows == [
        ["nDCG@10", "0.5557", "0.8047", "better", "0.8218", "unclear"],
        ["AP", "0.4597", "0.7099", "better", "0.7342", "unclear"],
        ["RR", "0.5655", "0.8361", "better", "0.8447", "unclear"],
        ["P@10", "0.1133", "0.1567", "better", "0.1617", "unclear"],
        ["R@100", "0.6786", "0.8900", "better", "0.9031", "unclear"],
    ]


def mean_of_trec_eval(run: str, kind: str) -> float:
    """The mean nDCG@10 of the questions of a kind, from what trec_eval printed."""
    queries = [query for query, fields in DATA["queries"].items() if fields["kind"] == kind]
    lines = (places.FILES / "demo" / f"{run}.txt").read_text().splitlines()
    values = {query: float(value) for measure, query, value in map(str.split, lines) if measure == "ndcg_cut_10"}
    return sum(values[query] for query in queries) / len(queries)


def test_it_says_what_turns_what_is_unclear_and_what_is_unjudged(lines: list[str]) -> None:
    """The story's values are worked out in test_demo.py."""
    overlap, bm25 = (mean_of_trec_eval(run, "overview") for run in ("overlap", "bm25"))
    text = " ".join(line.strip() for line in lines)
    assert "60 questions, 149 household tips, 966 judgements" in text
    assert f"On the 14 questions of kind 'overview' overlap is better, {overlap:.2f} against {bm25:.2f}" in text
    assert "stems is probably better than bm25" in text
    assert 'overlap has 1.00, bm25 0.63. But the first tip of bm25, "A fridge without power", is newer' in text
    assert "With grade 2 for it overlap has 0.61, bm25 1.00." in text


def test_the_files_hold_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(capsys, "--write", str(tmp_path))
    names = {"household.qrels", "overlap.run", "bm25.run", "stems.run", "queries.jsonl", "documents.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert dict(read_qrels(tmp_path / "household.qrels")) == DATA["qrels"]
    for name, run in demo.runs().items():
        assert dict(read_run(tmp_path / f"{name}.run")) == run

    queries = read_queries(tmp_path / "queries.jsonl")
    assert queries.column("kind") == {query: fields["kind"] for query, fields in DATA["queries"].items()}
    assert queries.column("text") == {query: fields["text"] for query, fields in DATA["queries"].items()}
    documents = read_documents(tmp_path / "documents.jsonl")
    assert {doc: documents[doc].whole for doc in DATA["documents"]} == DATA["documents"]
    assert documents["tea-1"].title == "Water temperature for tea"


@pytest.mark.slow
def test_the_command_that_it_shows_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--write", str(tmp_path / "a folder"))
    start = next(i for i, line in enumerate(lines) if line.startswith("Written."))
    name, *arguments = shlex.split(" ".join(lines[start:]).partition("Try:")[2])
    assert name == "goldrank"
    assert cli.run(arguments) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("bm25 is better than overlap: ")
    assert "but not where kind is overview" in err


def test_a_light_install_shows_the_numbers_and_says_what_a_verdict_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrank.base.packages.installed", lambda package: package != "scipy")
    lines = shown(capsys)
    assert lines[0].startswith("A verdict needs scipy: pip install 'goldrank[statistics]'")
    assert ["nDCG@10", "0.5557", "0.8047", "0.8218"] in [line.split() for line in lines]
