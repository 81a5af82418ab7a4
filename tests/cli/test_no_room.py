"""Full disks, missing folders and readers that have gone: a sentence, an exit code, and the result is not lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import places
import pytest
from lanes import few

from goldrank import History, demo, read_qrels, read_run
from goldrank.cli import run

FULL = "/dev/full"
SAMPLES = ["--statistics", "samples=100"]
WRITERS: dict[str, list[str]] = {
    "eval": ["eval", "q", "a.run", "-m", "AP", "-o", "{}.json"],
    "eval by query": ["eval", "q", "a.run", "-m", "AP", "-q", "-o", "{}.csv"],
    "eval to Parquet": ["eval", "q", "a.run", "-m", "AP", "-o", "{}.parquet"],
    "texts": ["texts", "t.jsonl", "--matching", "contains", "-o", "{}.json"],
    "texts as a page": ["texts", "t.jsonl", "--matching", "contains", "-o", "{}.html"],
    "saved scores": ["eval", "s.json", "-o", "{}.json"],
    "diff": ["diff", "q", "a.run", "b.run", "-o", "{}.json"],
    "fuse": ["fuse", "q", "a.run", "b.run", "-o", "{}"],
    **{
        f"compare to {ending}": ["compare", "q", "a.run", "b.run", *SAMPLES, "-o", f"{{}}.{ending}"]
        for ending in ("html", "md", "tex", "csv", "json", "svg")
    },
    "compare saved scores": ["compare", "s.json", "s2.json", *SAMPLES, "-o", "{}.html"],
    "history as a page": ["history", "-o", "{}.html"],
    "history as a chart": ["history", "-o", "{}.svg"],
    "gate": ["gate", "q", "a.run", "--rule", "AP >= 0.1", "-o", "{}.md"],
}
PRINT_NOTHING = {
    "convert": ["convert", "a.run", "{}", "--to", "json"],
    "convert --qrels": ["convert", "q", "{}", "--qrels", "--to", "trec"],
    "export": ["history", "export", "-o", "{}.json"],
    "export to Parquet": ["history", "export", "-o", "{}.parquet"],
    "gate --update": ["gate", "q", "a.run", "--baseline", "{}", "--update"],
}
FOLDERS = {"demo": ["demo", "--write", "{}"]}
ENDINGS = ("json", "csv", "parquet", "html", "md", "tex", "svg")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    before = os.getcwd()
    os.chdir(folder)
    try:
        read_qrels(demo.load()["qrels"]).save("q")
        for name, retriever in (("a", "overlap"), ("b", "bm25")):
            read_run(demo.runs()[retriever]).save(f"{name}.run")
        Path("t.jsonl").write_text('{"id": "q", "retrieved": ["a b"], "references": ["a"]}\n')
        assert run(["eval", "q", "a.run", "-m", "AP", "-o", "s.json"]) == 0
        assert run(["eval", "q", "b.run", "-m", "AP", "-o", "s2.json"]) == 0
        assert run(["record", "s.json"]) == 0
        Path("file").touch()
        Path("full").symlink_to(FULL)
        for ending in ENDINGS:
            Path(f"full.{ending}").symlink_to(FULL)
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def sorry(capsys, arguments, target, codes=(2,)):
    code = run([word.replace("{}", target) for word in arguments])
    out, err = capsys.readouterr()
    assert code in codes, err
    assert "internal error" not in err
    assert "Traceback" not in err
    assert "goldrank: " in err
    return out, err


@pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full")
@pytest.mark.parametrize("name", WRITERS)
def test_full_disk(folder, capsys, name):
    out, err = sorry(capsys, WRITERS[name], "full")
    assert "No space left on device" in err
    assert len(out.splitlines()) >= 2, "the table is printed all the same"


@pytest.mark.parametrize("name", [*WRITERS, *PRINT_NOTHING, *FOLDERS])
def test_folder_that_is_a_file(folder, capsys, name):
    arguments = (WRITERS | PRINT_NOTHING | FOLDERS)[name]
    out, _ = sorry(capsys, arguments, "file/x")
    assert bool(out) is (name not in PRINT_NOTHING and name != "demo")
    assert os.path.getsize("file") == 0


@pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full")
@pytest.mark.parametrize("name", ["convert", "convert --qrels"])
def test_full_disk_without_a_table(folder, capsys, name):
    assert "No space left on device" in sorry(capsys, PRINT_NOTHING[name], FULL)[1]


def test_missing_folder_of_a_history(folder, capsys):
    out, err = sorry(capsys, ["record", "s.json", "--db", "{}"], "no/such/h.db", codes=(3,))
    assert "AP" in out
    assert "cannot be opened or made" in err


def test_a_full_disk_leaves_the_file_that_was_there(folder, tmp_path, monkeypatch):
    from goldrank import GoldrankError, Scores
    from goldrank.base import writing

    target = tmp_path / "s.json"
    Scores.load("s.json").save(target)
    before = target.read_bytes()

    def full(file, content):
        file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "_fill", full)
    with pytest.raises(GoldrankError, match="No space left on device"):
        Scores.load("s2.json").save(target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_links_and_modes_stay(tmp_path):
    from goldrank.base.writing import write_whole

    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"1")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, b"2")
    assert link.is_symlink()
    assert real.read_bytes() == b"2"
    assert real.stat().st_mode & 0o777 == 0o640


STREAMS = ("eval", "q", "a.run", "-q")


def goldrank(folder, *arguments, **streams):
    env = {**os.environ, "PYTHONPATH": str(places.ROOT / "src")}
    command = [sys.executable, "-m", "goldrank", *arguments]
    return subprocess.run(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, check=False, **streams)


@pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", few([STREAMS, ("trec_eval", "q", "a.run"), ("measures",), ("demo",)], 2))
def test_standard_output_is_full(made, arguments):
    with open(FULL, "w") as full:
        done = goldrank(made, *arguments, stdout=full)
    assert done.returncode == 2
    assert "goldrank: standard output: cannot be written: No space left on device" in done.stderr
    assert "internal error" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert len(done.stderr.splitlines()) > 4, "what was computed is there"


@pytest.mark.parametrize("arguments", [STREAMS, ("measures",), ("trec_eval", "-q", "q", "a.run")])
def test_whoever_reads_has_gone(made, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = goldrank(made, *arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == 0
    assert "goldrank: " not in done.stderr


@pytest.mark.parametrize("form", ["terminal", "json", "github"])
@pytest.mark.parametrize(("rule", "code"), [("nDCG@10 >= 0", 0), ("nDCG@10 >= 0.99999", 1)])
def test_a_verdict_keeps_its_exit_code_when_the_reader_has_gone(made, form, rule, code):
    reader, writer = os.pipe()
    os.close(reader)
    done = goldrank(made, "gate", "q", "a.run", "--rule", rule, "--as", form, "-o", f"{form}.json", stdout=writer)
    os.close(writer)
    assert done.returncode == code
    assert (made / f"{form}.json").exists()


def test_a_history_without_room_is_not_damaged(made):
    with History(made / "history.db", mode="r") as history:
        history.check()
