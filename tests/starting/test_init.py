"""`goldrank init`: four questions, files that are not there yet, and a gate that works."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml
from raising import raises_code

from goldrank.base.errors import OptionError
from goldrank.cli import run as command_line
from goldrank.retrieval.engine_file import KINDS, SearchEngine
from goldrank.starting import init_command
from goldrank.starting.project import Project, engine_text

EXAMPLES = Path(__file__).parents[2] / "examples" / "engines"
SEARCH = "def search(query, k):\n    return ['d1', 'd2'][:k]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with queries, judgements and a function that searches."""
    (tmp_path / "queries.tsv").write_text("q1\tred shoes\nq2\tblue coat\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "searching_here.py").write_text(SEARCH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_next_gate_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["init", "--source", "python searching_here:search", "--allow-commands"]) == 0
    assert "Next:  goldrank gate qrels.txt current.run" in capsys.readouterr().out
    command = ["gate", "qrels.txt", "current.run", "--rules", "rules.toml", "--baseline", "baseline.json"]
    assert command_line(command) == 0

    workflow = yaml.safe_load((folder / ".github" / "workflows" / "ranking.yml").read_text())
    steps = [step.get("run", "") for step in workflow["jobs"]["gate"]["steps"]]
    assert any(
        "goldrank run queries.tsv --engine engine.toml -o current.run --allow-commands" in step for step in steps
    )
    assert any(step.startswith("goldrank " + " ".join(command)) for step in steps)

    (folder / "worse.run").write_text("q1 Q0 x 1 1 x\nq2 Q0 x 1 1 x\n")
    command[2] = "worse.run"
    assert command_line(command) != 0


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rules.toml").write_text('rules = ["P@1: -5%"]\n')
    options = ["init", "--source", "python searching_here:search", "--allow-commands", "-m", "AP"]
    assert command_line(options) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert (folder / "rules.toml").read_text() == 'rules = ["P@1: -5%"]\n'
    assert (
        command_line(["gate", "qrels.txt", "current.run", "--rules", "rules.toml", "--baseline", "baseline.json"]) == 0
    )

    capsys.readouterr()
    assert command_line(options) == 0
    assert capsys.readouterr().out.count("kept") == 4
    after = {path: path.read_bytes() for path in before}
    assert after == before


def test_an_engine_that_does_not_answer_leaves_the_other_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = "http http://127.0.0.1:9/search"
    assert command_line(["init", "--source", engine]) == 0
    told = capsys.readouterr().out
    assert "not made" in told
    assert "goldrank run queries.tsv --engine engine.toml -o current.run" in told
    assert (folder / "rules.toml").is_file()
    assert not (folder / "baseline.json").exists()


def test_a_program_runs_only_if_it_may(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["init", "--source", "python searching_here:search"]) == 0
    assert "runs a program" in capsys.readouterr().out
    assert not (folder / "current.run").exists()


def test_without_judgements_it_says_how_to_get_some(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "qrels.txt").unlink()
    (folder / "mine.run").write_text("q1 Q0 d1 1 1 x\n")
    assert command_line(["init", "--source", "mine.run"]) == 0
    told = capsys.readouterr().out
    assert "there are no judgements yet" in told
    assert "goldrank serve mine.run --queries queries.tsv" in told
    assert not (folder / "engine.toml").exists(), "a run needs no engine"


def test_people_are_asked_at_a_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def prompt(text: str, default: str | None, err: bool) -> str:
        asked.append((text, default))
        if default is None:
            return "python searching_here:search"
        return default

    monkeypatch.setattr(init_command.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(init_command.click, "prompt", prompt)
    assert command_line(["init", "--allow-commands"]) == 0
    assert [default for _, default in asked] == ["queries.tsv", "qrels.txt", None, "nDCG@10"]
    assert (folder / "baseline.json").is_file()


def test_without_a_terminal_what_lacks_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["init"]) == 2
    assert "give --source" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"source": "elastic http://localhost"}, "unknown-engine"),
        ({"source": "python"}, "missing-key"),
        ({"queries": "gone.tsv"}, "cannot-open"),
        ({"queries": "a\nb.tsv"}, "bad-name"),
    ],
)
def test_what_cannot_be_used_writes_nothing(folder: Path, change: dict[str, str], code: str) -> None:
    answers = {"queries": "queries.tsv", "qrels": "qrels.txt", "source": "solr", "measure": "AP"} | change
    with raises_code(OptionError, code):
        list(Project(str(folder), **answers).write(allow_commands=False))
    assert not (folder / "rules.toml").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_file_that_can_be_read(kind: str, tmp_path: Path) -> None:
    address = {"python": "a:b", "command": "node x.mjs"}.get(kind, "http://localhost:1/x")
    path = tmp_path / "engine.toml"
    path.write_text(engine_text(f"{kind} {address}"))
    engine = SearchEngine.load(path)
    assert engine.kind == kind
    if engine.request is not None:
        assert engine.request.url == address


def test_the_files_are_those_of_the_examples() -> None:
    folder = Path(init_command.__file__).parent / "engines"
    names = sorted(path.name for path in folder.glob("*.toml"))
    assert len(names) == 9
    for name in names:
        assert (folder / name).read_text() == (EXAMPLES / name).read_text()
        assert tomllib.loads((folder / name).read_text())["kind"] == name.removesuffix(".toml")
