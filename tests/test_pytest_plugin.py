"""The pytest plugin, in sessions of its own: light, explicit about updates, the same with several workers."""

import json
import os
import subprocess
import sys
import tomllib

import places
import pytest

from goldrank import Baseline, History, demo, evaluate

ROOT = places.ROOT

TESTS = """
from goldrank import demo, evaluate
QRELS = demo.load()["qrels"]

def test_good(goldrank_gate):
    scores = evaluate(QRELS, demo.runs()["{first}"], "nDCG@10")
    assert goldrank_gate(scores, baseline="base/one.json").status == "pass"

def test_other(goldrank_gate):
    scores = evaluate(QRELS, demo.runs()["{second}"], "AP")
    goldrank_gate(scores, ["AP >= 0.1", "AP: -1%"], "base/two.json")
"""


def session(folder, *arguments):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "120"}
    env.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "goldrank.pytest_plugin", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\ngoldrank_rules = rules.toml\n")
    (tmp_path / "rules.toml").write_text('unjudged = "ignore"\nrules = ["nDCG@10: -1%"]\n')
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
    assert "new, 60 queries" in done.stdout
    kept = contents(folder / "base")
    assert sorted(kept) == ["one.json", "two.json"]

    write(folder, "overlap", "bm25")
    done = session(folder)
    assert done.returncode == 1
    assert_shows_the_loss(done.stdout)
    assert contents(folder / "base") == kept

    done = session(folder, "--goldrank-update")
    assert done.returncode == 0
    assert "nDCG@10: 0.8047 -> 0.5557 (-0.2490)" in done.stdout


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
    assert "nDCG@10 fell from 0.8047 to 0.5557" in text
    before, after = (demo_values(name)["q04"] for name in ("bm25", "overlap"))
    assert f"q04 {before:.4f} {after:.4f} {after - before:+.4f}" in " ".join(text.split())
    assert "Traceback" not in text


def demo_values(name):
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


def test_update_freezes_these_very_scores(tmp_path):
    """Relevant are grades from 4 on, so that RR is 1/2. A baseline that was measured anew without that had RR 1."""
    (tmp_path / "qrels.csv").write_text("query,doc,grade\n" + "".join(f"u{i},a,3\nu{i},b,4\n" for i in range(20)))
    (tmp_path / "test_it.py").write_text(
        "from goldrank import evaluate, read_qrels\n"
        "def test_rr(goldrank_gate):\n"
        "    qrels = read_qrels('qrels.csv', relevant_from=4)\n"
        "    scores = evaluate(qrels, {f'u{i}': ['a', 'b'] for i in range(20)}, 'RR')\n"
        "    goldrank_gate(scores, 'RR: -1%', 'b.json')\n"
    )
    for arguments in (["--goldrank-update"], []):
        done = session(tmp_path, *arguments)
        assert done.returncode == 0, done.stdout
    assert Baseline.load(tmp_path / "b.json").scores["RR"] == 0.5


def test_what_cannot_be_held_to_the_rules_is_not_frozen(folder):
    (folder / "test_it.py").write_text(
        "from goldrank import Baseline, demo, evaluate\n"
        "SCORES = evaluate(demo.load()['qrels'], demo.runs()['bm25'], 'AP')\n"
        "def test_other_measure(goldrank_gate):\n"
        "    goldrank_gate(SCORES, 'RR >= 0.1', 'b.json')\n"
        "def test_no_file(goldrank_gate):\n"
        "    goldrank_gate(SCORES, 'AP: -1%', Baseline(SCORES))\n"
    )
    done = session(folder, "--goldrank-update")
    assert "2 failed" in done.stdout
    assert "RR was not measured" in done.stdout
    assert "--goldrank-update sets baseline files only" in done.stdout
    assert not (folder / "b.json").exists()


@pytest.mark.slow
def test_baselines_of_a_history(folder):
    qrels = demo.load()["qrels"]
    with History(folder / "h.db") as history:
        for name in ("bm25", "overlap"):
            record = history.record(evaluate(qrels, demo.runs()[name], "nDCG@10"), label=name)
            history.set_baseline(name, record)
    (folder / "test_it.py").write_text(
        "from goldrank import demo, evaluate\n"
        "SCORES = evaluate(demo.load()['qrels'], demo.runs()['overlap'], 'nDCG@10')\n"
        "def test_named(goldrank_gate):\n"
        "    assert goldrank_gate(SCORES, baseline='overlap').scores is SCORES\n"
        "def test_settings(goldrank_gate):\n"
        "    goldrank_gate(SCORES)\n"
    )
    done = session(folder, "--goldrank-db", "h.db", "--goldrank-baseline", "bm25")
    assert "1 failed, 1 passed" in done.stdout
    assert "nDCG@10 fell from 0.8047 to 0.5557" in done.stdout
