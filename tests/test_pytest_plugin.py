"""The pytest plugin, in sessions of its own: light, explicit about updates, the same with several workers."""

import json
import os
import subprocess
import sys
import tomllib

import places
import pytest

from goldrank import demo

ROOT = places.ROOT

TESTS = """
from goldrank import demo
import pytest
DATA = demo.load()

def test_good(goldrank_gate):
    verdict = goldrank_gate(DATA["qrels"], demo.runs()["{first}"], baseline="base/one.json")
    assert verdict.status == "pass"

def test_other(goldrank_gate):
    goldrank_gate(DATA["qrels"], demo.runs()["{second}"], rules=["AP >= 0.1", "AP: -1%"], baseline="base/two.json")
"""


def session(folder, *arguments):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "120"}
    env.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "goldrank.pytest_plugin", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\ngoldrank_rules = rules.toml\n")
    (tmp_path / "rules.toml").write_text('holes = "ignore"\nrules = ["nDCG@10: -1%"]\n')
    write(tmp_path, "bm25", "bm25")
    return tmp_path


def write(folder, first, second):
    (folder / "test_it.py").write_text(TESTS.replace("{first}", first).replace("{second}", second))


@pytest.mark.slow
def test_life_of_a_baseline(folder):
    done = session(folder)
    assert done.returncode == 1
    assert "one.json: cannot be opened" in done.stdout
    assert "pytest --goldrank-update" in done.stdout
    assert not (folder / "base").exists()

    done = session(folder, "--goldrank-update")
    assert done.returncode == 0, done.stdout
    assert "one.json is set by test_it.py::test_good" in done.stdout
    assert "new, 16 queries" in done.stdout
    kept = contents(folder / "base")
    assert sorted(kept) == ["one.json", "two.json"]

    write(folder, "overlap", "bm25")
    done = session(folder)
    assert done.returncode == 1
    assert_shows_the_loss(done.stdout)
    assert contents(folder / "base") == kept

    done = session(folder, "--goldrank-update")
    assert done.returncode == 0
    assert "nDCG@10: 0.8503 -> 0.7106 (-0.1397)" in done.stdout


@pytest.mark.slow
def test_several_workers(folder):
    workers = ("-p", "xdist", "-n", "2")
    done = session(folder, "--goldrank-update", *workers)
    assert done.returncode == 0, done.stdout
    assert "one.json is set by test_it.py::test_good" in done.stdout
    assert "two.json is set by test_it.py::test_other" in done.stdout
    kept = contents(folder / "base")
    assert sorted(kept) == ["one.json", "two.json"]
    write(folder, "overlap", "bm25")
    done = session(folder, *workers)
    assert done.returncode == 1
    assert_shows_the_loss(done.stdout)
    assert contents(folder / "base") == kept


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_shows_the_loss(text):
    assert "1 failed, 1 passed" in text
    assert "nDCG@10 fell from 0.8503 to 0.7106" in text
    before, after = (demo_values(name)["q04"] for name in ("bm25", "overlap"))
    assert f"q04 {before:.4f} {after:.4f} {after - before:+.4f}" in " ".join(text.split())
    assert "Traceback" not in text


def demo_values(name):
    from goldrank import evaluate

    return evaluate(demo.load()["qrels"], demo.runs()[name], "nDCG@10").per_query["nDCG@10"]


@pytest.mark.slow
def test_shared_and_edited_baselines_and_missing_rules(folder):
    """Two tests with one baseline are told apart, an edited one is refused, and a gate needs rules."""
    text = (folder / "test_it.py").read_text().replace("base/two.json", "base/one.json")
    (folder / "test_it.py").write_text(text)
    done = session(folder, "--goldrank-update")
    assert "2 tests set this baseline; give each its own" in done.stdout
    write(folder, "bm25", "bm25")
    data = json.loads((folder / "base/one.json").read_text())
    data["label"] = "mine"
    (folder / "base/one.json").write_text(json.dumps(data))
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = session(folder, "--goldrank-rules", "rules.toml", "-k", "good")
    assert "was changed after it was written" in done.stdout
    done = session(folder, "-k", "good")
    assert "goldrank_gate has no rules" in done.stdout
    assert done.returncode == 1


def test_loads_nothing_heavy(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_collection_finish(session):\n"
        "    assert session.config.pluginmanager.hasplugin('goldrank.pytest_plugin')\n"
        "    print('LOADED', sorted({'numpy', 'scipy', 'polars', 'rich', 'click', 'goldrank'} & set(sys.modules)))\n"
    )
    (tmp_path / "test_it.py").write_text("def test_nothing(): pass\n")
    done = session(tmp_path, "-s")
    assert done.returncode == 0, done.stdout
    assert "LOADED ['goldrank']" in done.stdout


def test_entry_point_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"goldrank": "goldrank.pytest_plugin"}


@pytest.mark.slow
def test_scores_are_held_to_rules_too(folder):
    (folder / "test_it.py").write_text(
        "from goldrank import demo, evaluate\n"
        "def test_scores(goldrank_gate):\n"
        "    scores = evaluate(demo.load()['qrels'], demo.runs()['bm25'], ['nDCG@10', 'NumRet'])\n"
        "    assert goldrank_gate(scores, baseline='b.json').scores is scores\n"
    )
    for arguments in (["--goldrank-update"], []):
        done = session(folder, *arguments)
        assert done.returncode == 0, done.stdout
    assert (folder / "b.json").exists()
