"""The examples for any language: programs that write records, run where their tools are, else checked by the schema."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import places
import pytest

from goldrank import check_conformance, evaluate, read_qrels, read_run
from goldrank.base.validating import problems, schema
from goldrank.cli import run
from goldrank.io import aliases

FOLDER = places.ROOT / "examples" / "any_language"


def scores_of(path) -> dict[str, float]:
    """q1 has d1 second, q2 has nothing: RR is (1/2 + 0) / 2, R@2 (1 + 0) / 2."""
    return dict(evaluate(read_qrels(path), read_run(path), ["RR", "R@2"]))


def test_the_records():
    for line in (FOLDER / "records.jsonl").read_text().splitlines():
        assert problems(json.loads(line), "record") == []
    assert scores_of(FOLDER / "records.jsonl") == {"RR": 0.25, "R@2": 0.5}


def test_typescript_writes_them(tmp_path):
    """Node runs it without its types, which are all that TypeScript has beyond JavaScript here."""
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    (tmp_path / "records.mjs").write_text(without_types((FOLDER / "records.ts").read_text()))
    subprocess.run(["node", "records.mjs"], cwd=tmp_path, check=True)
    assert scores_of(tmp_path / "records.jsonl") == {"RR": 0.25, "R@2": 0.5}


def test_go_writes_them(tmp_path):
    source = (FOLDER / "records.go").read_text()
    names = set(re.findall(r'json:"(\w+)', source))
    assert names - {"score"} <= set(schema("record")["properties"])
    if shutil.which("go") is None:
        return
    shutil.copy(FOLDER / "records.go", tmp_path)
    subprocess.run(["go", "run", "records.go"], cwd=tmp_path, check=True)
    assert scores_of(tmp_path / "records.jsonl") == {"RR": 0.25, "R@2": 0.5}


PROGRAMS = {
    "records.rs": ["rustc -o records records.rs", "./records"],
    "Records.java": ["java Records.java"],
    "records.sh": ["jq --version", "bash records.sh"],
    "Records.cs": ["dotnet run Records.cs"],
}
"""How the other programs are run; without their tools, the names of their fields are checked."""


@pytest.mark.slow
@pytest.mark.parametrize("file", PROGRAMS)
def test_other_languages_write_them(file, tmp_path):
    source = (FOLDER / file).read_text()
    assert re.search(r"expected_?ids", source, re.IGNORECASE)
    assert "retrieved" in source.lower()
    if not all(command.startswith("./") or shutil.which(command.split()[0]) for command in PROGRAMS[file]):
        pytest.skip(f"the tools of {file} are not here: its names alone were checked")
    shutil.copy(FOLDER / file, tmp_path)
    for command in PROGRAMS[file]:
        subprocess.run(command.split(), cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    for line in (tmp_path / "records.jsonl").read_text().splitlines():
        assert problems(json.loads(line), "record") == []
    assert scores_of(tmp_path / "records.jsonl") == {"RR": 0.25, "R@2": 0.5}


def without_types(source: str) -> str:
    """TypeScript as JavaScript: types are all that it has beyond it here."""
    plain = re.sub(r"^type .*$", "", source, flags=re.MULTILINE)
    return plain.replace(": GoldRecord[]", "").replace(" as Question", "")


def test_the_wrong_recall_in_typescript_is_caught(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    (tmp_path / "recall.mjs").write_text(without_types((FOLDER / "recall_over_one.ts").read_text()))
    assert_is_caught(f"node {tmp_path / 'recall.mjs'}")


@pytest.mark.slow
def test_the_wrong_recall_in_go_is_caught(tmp_path):
    if shutil.which("go") is None:
        pytest.skip("there is no go here")
    subprocess.run(["go", "build", "-o", str(tmp_path / "recall"), str(FOLDER / "recall_over_one.go")], check=True)
    assert_is_caught(str(tmp_path / "recall"))


def assert_is_caught(command: str) -> None:
    """Recall above 1 is named as impossible, and as what it is."""
    report = check_conformance(command, measures=["R"])
    assert report.exit_code == 1
    assert any(difference.is_impossible for difference in report.differences)
    assert "fits repeats-count" in str(report)


def test_ranks_from_zero_in_node_are_named():
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    report = check_conformance(f"node {FOLDER / 'mrr_from_zero.mjs'}", measures=["RR"])
    assert report.exit_code == 1
    assert "fits rank-from-zero" in str(report)


def test_one_command_decides(capsys, monkeypatch):
    """The number of the records is 0.25 (above): a rule of 0.2 holds, one of 0.9 does not."""
    monkeypatch.chdir(FOLDER)
    assert run(["gate", "records.jsonl", "--rule", "RR >= 0.2"]) == 0
    assert "0.2500" in capsys.readouterr().out
    assert run(["gate", "records.jsonl", "--rule", "RR >= 0.9"]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_names_of_typescript_are_those_of_the_schema():
    source = (FOLDER / "records.ts").read_text()
    fields = re.search(r"type GoldRecord = \{(.*)\}", source)
    assert fields is not None
    names = {aliases.normal(name) for name in re.findall(r"(\w+)\??:", fields[1])}
    assert names <= set(schema("record")["properties"])


@pytest.mark.parametrize("page", ["llms.txt", "SKILL.md", "AGENTS.md", "docs/any_language.md"])
def test_commands_that_pages_name_are_there(page):
    from goldrank.cli import group

    text = (places.ROOT / page).read_text()
    named = set(re.findall(r"`goldrank ([a-z_-]+)", text)) | set(
        re.findall(r"^goldrank ([a-z_-]+)", text, re.MULTILINE)
    )
    assert named <= set(group.list_commands(None))  # type: ignore[arg-type]
    for linked in re.findall(r"\]\(([\w./-]+\.md)\)", text):
        assert ((places.ROOT / page).parent / linked).exists(), linked


def test_pages_count_the_cases():
    from goldrank.referee.cases import kit

    count, measures = len(kit()["cases"]), len({case["name"] for case in kit()["cases"]})
    assert f"There are {count} cases of {measures} measures" in (places.ROOT / "docs" / "any_language.md").read_text()
    assert f"asks it {count} cases" in (places.ROOT / "README.md").read_text()
