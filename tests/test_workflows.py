"""What runs on GitHub: actions by commit, no more permissions than each job needs, publication from a tag only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))


def jobs(text: str) -> dict[str, str]:
    """The text of each job, by name."""
    _, _, body = text.partition("\njobs:\n")
    parts = re.split(r"^  ([\w-]+):\n", body, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def permissions(job: str) -> list[str]:
    """The permissions of a job, one a line."""
    block = re.search(r"^    permissions:\n((?:      .+\n)+)", job, re.MULTILINE)
    return [line.strip() for line in block[1].splitlines()] if block else []


def test_there_are_workflows() -> None:
    assert {path.name for path in WORKFLOWS} >= {"release.yml", "tests.yml"}
    assert all(jobs(path.read_text()) for path in WORKFLOWS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    """A tag can be moved to other code; a commit cannot."""
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+(\.\d+)+", action), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_have_the_permissions_that_they_need(path: Path) -> None:
    text = path.read_text()
    assert re.search(r"^permissions: \{\}", text, re.MULTILINE)
    for name, job in jobs(text).items():
        expected = ["id-token: write"] if name == "publish" else ["contents: read"]
        assert permissions(job) == expected, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_token_of_a_checkout_is_not_kept(path: Path) -> None:
    steps = re.findall(r"uses: actions/checkout@.+\n(.*)\n", path.read_text())
    assert steps
    assert {step.strip() for step in steps} == {"with: {persist-credentials: false}"}


def test_only_a_pushed_tag_is_published() -> None:
    text = (FOLDER / "release.yml").read_text()
    publish = jobs(text)["publish"]
    assert "    if: github.event_name == 'push' && startsWith(github.ref, 'refs/tags/v')\n" in publish
    assert "    environment: release\n" in publish
    assert "checkout" not in publish, "what is published was built by the jobs before"
    assert all("pypi-publish" not in job for name, job in jobs(text).items() if name != "publish")
    assert "branches" not in text
    assert all("pypi-publish" not in path.read_text() for path in WORKFLOWS if path.name != "release.yml")


def test_no_workflow_runs_code_of_a_fork_with_secrets() -> None:
    for path in WORKFLOWS:
        text = path.read_text()
        assert "pull_request_target" not in text
        assert "secrets." not in text
