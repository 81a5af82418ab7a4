"""What the package says of itself on an index, where no files lie beside its README."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import goldrank

pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[2]
HOME = "https://example.org/somebody/goldrank"


def metadata(home: str) -> dict:
    command = [sys.executable, "-m", "hatchling", "metadata"]
    environment = {**os.environ, "GOLDRANK_HOME": home}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_release_has_links_that_lead_to_files_of_its_own_tag():
    told = metadata(HOME + "/")
    start = f"{HOME}/blob/v{told['version']}/"
    links = re.findall(r"\]\(([^)]+)\)", told["readme"]["text"])
    assert len(links) > 20
    assert all(link.startswith(("https://", "#")) for link in links)
    files = [link.removeprefix(start) for link in links if link.startswith(start)]
    assert "docs/getting_in_and_out.md" in files
    assert all((ROOT / file.split("#")[0]).exists() for file in files)
    assert f"({HOME}/raw/v{told['version']}/docs/compare.png)" in told["readme"]["text"]
    assert told["urls"]["Homepage"] == HOME
    assert (ROOT / told["urls"]["Changes"].removeprefix(start)).exists()


def test_elsewhere_the_readme_is_as_it_is():
    told = metadata("")
    assert told["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")
    assert "urls" not in told


def test_the_version_is_the_same_everywhere():
    told = metadata("")
    assert told["version"] == goldrank.__version__
    assert f"\nversion: {goldrank.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {goldrank.__version__}" in (ROOT / "CHANGES.md").read_text(encoding="utf-8")


def test_the_plugin_of_pytest_is_classified():
    told = metadata("")
    assert "pytest11" in told["entry-points"]
    assert "Framework :: Pytest" in told["classifiers"]
