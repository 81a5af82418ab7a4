"""`goldrank doctor`: which core, which packages, what is missing for what; and what it advises works."""

from __future__ import annotations

import os
import subprocess
import sys

import places
import pytest

from goldrank import cli
from goldrank.base import packages
from goldrank.guide import installation


def doctor(capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.run(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_every_part_has_a_purpose_that_the_docs_tell() -> None:
    assert installation.PURPOSES.keys() == set(packages.PARTS.values())
    text = (places.ROOT / "docs" / "install.md").read_text()
    for part in installation.PURPOSES:
        assert f"| `{part}` |" in text


def test_it_names_each_package_with_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    import polars

    lines = doctor(capsys).splitlines()
    rows = {line.split()[0]: line.split()[1] for line in lines if line.split()}
    assert rows["polars"] == polars.__version__
    assert set(packages.PARTS) <= rows.keys()


def test_a_missing_and_a_broken_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    states = [
        installation.PackageState("scipy", "", "intervals"),
        installation.PackageState("polars", "1.0", "tables", "ImportError: no such symbol"),
    ]
    monkeypatch.setattr(installation, "packages", lambda: states)
    out = " ".join(doctor(capsys).split())
    assert "scipy not installed intervals" in out
    assert "polars 1.0, cannot be imported: ImportError: no such symbol" in out
    assert "intervals: pip install 'goldrank[statistics]'" in out
    assert "Everything is installed" not in out


def test_the_core_and_why_it_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "why_plain", "")
    assert installation.core_words() == "compiled"
    monkeypatch.setattr(installation, "why_plain", "GOLDRANK_PURE is set")
    assert installation.core_words().startswith("plain, because GOLDRANK_PURE is set")


def test_the_reason_comes_from_where_the_core_is_chosen() -> None:
    program = "from goldrank.core import core, why_plain; print(core.MAKE, '|', why_plain)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "GOLDRANK_PURE": "1", "PYTHONPATH": str(places.ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "without the compiled core | GOLDRANK_PURE is set\n"
