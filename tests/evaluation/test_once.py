"""Each run is read and ranked once, whatever is made of it."""

from __future__ import annotations

from pathlib import Path

import made_up
import pytest

import goldrank
from goldrank import cli
from goldrank.engine import streaming
from goldrank.io.sources import ByteSource
from goldrank.io.text.scan import PAD


class Counts:
    """How often the engine was asked, and how many bytes of each file were loaded."""

    def __init__(self) -> None:
        self.placed = 0
        self.top_documents = 0
        self.loaded: dict[str, int] = {}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    counts = Counts()
    place, top, pieces = streaming._place, streaming.StreamingEngine.top_documents, ByteSource.pieces

    def counted_place(*given):  # type: ignore[no-untyped-def]
        counts.placed += 1
        return place(*given)

    def counted_top(self, *given):  # type: ignore[no-untyped-def]
        counts.top_documents += 1
        return top(self, *given)

    def counted_pieces(self):  # type: ignore[no-untyped-def]
        for offset, load in pieces(self):

            def counted(load=load):  # type: ignore[no-untyped-def]
                data = load()
                name = Path(self.name).name
                counts.loaded[name] = counts.loaded.get(name, 0) + len(data) - PAD
                return data

            yield offset, counted

    monkeypatch.setattr(streaming, "_place", counted_place)
    monkeypatch.setattr(streaming.StreamingEngine, "top_documents", counted_top)
    monkeypatch.setattr(ByteSource, "pieces", counted_pieces)
    return counts


@pytest.fixture
def files(tmp_path: Path) -> Path:
    qrels, runs = made_up.make_runs()
    goldrank.read_qrels(qrels).save(tmp_path / "qrels.txt")
    for name in ("bm25", "dense"):
        goldrank.read_run(runs[name]).save(tmp_path / f"{name}.run")
    goldrank.Baseline(goldrank.evaluate(qrels, runs["dense"], ["nDCG@10", "P@5"])).save(tmp_path / "dense.json")
    return tmp_path


COMMANDS = {
    "compare": ["compare", "{0}/qrels.txt", "{0}/bm25.run", "{0}/dense.run", "--statistics", "samples=200"],
    "compare, every form": [
        *("compare", "{0}/qrels.txt", "{0}/bm25.run", "{0}/dense.run", "--statistics", "samples=200"),
        *("-o", "{0}/c.html", "-o", "{0}/c.svg", "-o", "{0}/c.json", "-o", "{0}/c.csv"),
        *("--slice", "relevant"),
    ],
    "diff": ["diff", "{0}/qrels.txt", "{0}/bm25.run", "{0}/dense.run", "-o", "{0}/d.json"],
    "eval": ["eval", "{0}/qrels.txt", "{0}/bm25.run", "{0}/dense.run", "-m", "nDCG@10", "-m", "AP", "-q"],
    "gate": ["gate", "{0}/qrels.txt", "{0}/bm25.run", "--rule", "nDCG@10 >= 0.1"],
    "gate with a baseline": [
        *("gate", "{0}/qrels.txt", "{0}/bm25.run", "--rule", "nDCG@10: -1%", "--rule", "P@5 [relevant]: -1%"),
        *("--baseline", "{0}/dense.json"),
    ],
    "baseline set": [
        "gate",
        "{0}/qrels.txt",
        "{0}/bm25.run",
        "-m",
        "nDCG@10,P@5",
        "--baseline",
        "{0}/new.json",
        "--update",
    ],
    "trec_eval": ["trec_eval", "-q", "-m", "all_trec", "{0}/qrels.txt", "{0}/bm25.run"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_run_is_read_once(name: str, files: Path, counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word.format(files) for word in COMMANDS[name]]
    assert cli.run(words) in (0, 1), capsys.readouterr().err  # a gate may fail
    runs = [word for word in ("bm25.run", "dense.run") if any(given.endswith(word) for given in words)]
    assert counts.placed == len(runs)
    # Whoever names unjudged documents gets them with the placements.
    assert counts.top_documents == 0
    assert {run: counts.loaded[run] for run in runs} == {run: (files / run).stat().st_size for run in runs}


def test_compare_ranks_once_from_python(files: Path, counts: Counts) -> None:
    runs = {"old": files / "bm25.run", "new": files / "dense.run"}
    result = goldrank.compare(files / "qrels.txt", runs, ["nDCG@10", "AP"], statistics=goldrank.Statistics(samples=200))
    from goldrank.report.show import render

    for form in ("html", "markdown", "latex", "csv", "json", "terminal"):
        assert render(result, form)
    assert result.curves
    assert counts.placed == 2


def test_unjudged_documents_come_with_the_placements(files: Path, counts: Counts) -> None:
    assert goldrank.worth_judging(files / "qrels.txt", files / "bm25.run", limit=3)
    assert goldrank.diff(files / "qrels.txt", files / "bm25.run", files / "dense.run")
    assert (counts.placed, counts.top_documents) == (3, 0)
