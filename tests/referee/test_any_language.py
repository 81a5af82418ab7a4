"""The examples for any language: programs that write records, run where their tools are, else checked by the schema."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import places
import pytest

from goldrank import evaluate, read_qrels, read_run
from goldrank.io import aliases
from goldrank.referee.validating import problems, schema

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
    source = (FOLDER / "records.ts").read_text()
    plain = re.sub(r"^type .*$", "", source, flags=re.MULTILINE).replace(": GoldRecord[]", "")
    (tmp_path / "records.mjs").write_text(plain)
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
