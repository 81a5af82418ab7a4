"""record, history, its commands and comparing records, as people call them."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import places
import polars
import pytest

from goldrank import History, Qrels, Scores, evaluate, read_qrels
from goldrank.cli import run as command
from goldrank.history.analysis import line_key

SOURCE = places.ROOT / "src"
QRELS = "q1 0 a 1\nq2 0 b 1\n"
RUNS = {"good": "q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\n", "bad": "q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 x 1 2 t\nq2 Q0 y 2 1 t\n"}
# RR: good 1 and 1; bad 1/2 and 0, mean 1/4.


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GOLDRANK_DB", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "qrels").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def call(capsys):
    """Run a command; its exit code, output and messages."""

    def go(*args):
        code = command(list(map(str, args)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return go


def opened(path="history.db"):
    return History(path, mode="r")


def test_recording_runs(call):
    code, out, err = call("record", "qrels", "good", "bad", "-m", "RR", "--note", "n", "--tag", "k=v")
    assert code == 0
    assert re.search(r"RR +1\.0000 +0\.2500", out)
    assert err.endswith("recorded as 1 (good) in history.db\nrecorded as 2 (bad) in history.db\n")
    with opened() as history:
        first, second = history.records()
        assert (first.label, first.note, first.tags) == ("good", "n", ("k=v",))
        assert dict(second.mean) == {"RR": 0.25}
        assert history.scores(2).per_query == {"RR": {"q1": 0.5, "q2": 0.0}}
    assert call("record", "qrels", "good", "bad", "-m", "RR", "--label", "main")[0] == 0
    with opened() as history:
        assert [r.label for r in history.records()][2:] == ["main/good", "main/bad"]


def test_recording_saved_scores(call):
    scores = evaluate("qrels", "bad", ["RR", "P@1"])
    scores.save("saved.json")
    code, out, _ = call("record", "saved.json", "--label", "main", "--baseline", "release")
    assert code == 0
    assert "0.2500" in out
    with opened() as history:
        assert history.scores(history["main"]).to_dict() == Scores.load("saved.json").to_dict()
        assert history.baselines() == {"release": 1}
    assert call("record", "saved.json", "saved.json")[0] == 0
    assert "-m is for runs" in call("record", "saved.json", "-m", "RR")[2]


def test_the_environment_names_the_history(call, monkeypatch):
    monkeypatch.setenv("GOLDRANK_DB", "elsewhere.db")
    assert call("record", "qrels", "good", "-m", "RR")[0] == 0
    assert Path("elsewhere.db").exists()
    assert not Path("history.db").exists()
    assert "1.0000" in call("history")[1]
    assert call("history", "--db", "history.db")[0] == 3


def git(*args):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    return subprocess.run(["git", *identity, *args], capture_output=True, text=True, check=True, env=environment).stdout


def test_commits(call, monkeypatch):
    code, _, err = call("record", "qrels", "good", "-m", "RR", "--commit", "auto")
    assert code == 0
    assert "no commit is recorded: " in err
    git("init", "-q", "-b", "trunk")
    git("add", "qrels")
    git("commit", "-qm", "x")
    head = git("rev-parse", "HEAD").strip()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")  # git is not needed
        code, _, err = call("record", "qrels", "good", "-m", "RR", "--commit", "auto")
    assert code == 0
    assert "whether files were changed since is not known" in err
    assert call("record", "qrels", "good", "-m", "RR", "--commit", "v1.2", "--branch", "release")[0] == 0
    with opened() as history:
        found = [(r.commit, r.branch) for r in history.records()]
    assert found == [("", ""), (head, "trunk"), ("v1.2", "release")]


def test_the_result_is_printed_though_the_history_cannot_be_written(call):
    Path("history.db").write_bytes(b"this is not a history\n" * 20)
    code, out, err = call("record", "qrels", "bad", "-m", "RR")
    assert code == 3
    assert "0.2500" in out
    assert "is not an SQLite file" in err
    assert "Traceback" not in err
    assert Path("history.db").read_bytes() == b"this is not a history\n" * 20
    code, out, err = call("record", "qrels", "bad", "-m", "RR", "--db", "no/such/folder.db")
    assert (code, "0.2500" in out, "cannot be opened or made" in err) == (3, True, True)


def test_the_result_is_printed_though_the_disk_is_full():
    pytest.importorskip("resource")
    program = (
        "import resource, sys; sys.dont_write_bytecode = True; "  # the limit would cut compiled modules short
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        "from goldrank.cli import main; main(['record', 'qrels', 'bad', '-m', 'RR'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == 3
    assert "0.2500" in done.stdout
    assert "disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_trend(call):
    for name in ("bad", "good"):
        call("record", "qrels", name, "-m", "RR", "-m", "P@1", "--label", "main")
    code, out, err = call("history", "-m", "RR", "-m", "P@1", "-o", "page.html", "-o", "chart.svg")
    assert code == 0
    assert err == "written: page.html\nwritten: chart.svg\n"
    assert "main  ▁█  1.0000  (2 records)" in out
    assert re.search(r"2 +2.* +1\.0000 +\+0\.7500", out)
    assert "no change beyond what chance does" in out
    assert "RR over time" in Path("page.html").read_text()
    assert Path("chart.svg").read_text().startswith("<?xml")
    assert call("history", "--label", "main", "-n", "1")[1].startswith("RR\n\nmain  ▄  1.0000  (1 record)")


def test_one_record(call):
    call("record", "qrels", "bad", "-m", "RR", "--label", "main", "--note", "first", "--baseline", "release")
    code, out, _ = call("history", "show", "main", "-q")
    assert code == 0
    for words in ("record +1", "baseline +release", "note +first", "0.2500"):
        assert re.search(words, out)
    assert re.search(r"q1 +0\.5000\nq2 +0\.0000", out)
    assert json.loads(call("history", "show", "1", "--as", "json")[1])["measures"]["RR"]["values"] == [0.5, 0.0]
    assert call("history", "show", "mian") == (
        3, "", "goldrank: history.db: there is no record with the label or commit 'mian'\n  Did you mean main?\n",
    )  # fmt: skip


def test_exports(call):
    call("record", "qrels", "bad", "good", "-m", "RR", "-m", "P@1", "--tag", "a=b")
    assert call("history", "export", "-q", "-o", "all.parquet")[0] == 0
    frame = polars.read_parquet("all.parquet")
    assert frame.height == 2 * 2 * 2  # records, measures, queries
    row = frame.filter(polars.col("label") == "bad", polars.col("measure") == "RR", polars.col("query") == "q1")
    assert row.select("id", "summary", "value", "tags").row(0) == (1, 0.25, 0.5, "a=b")
    assert frame.schema["time"] == polars.Datetime("us", "UTC")
    assert call("history", "export", "-o", "short.parquet", "--label", "good")[0] == 0
    assert polars.read_parquet("short.parquet").select("measure", "summary").rows() == [("RR", 1.0), ("P@1", 1.0)]
    assert call("history", "export", "-q", "-o", "all.json")[0] == 0
    data = json.loads(Path("all.json").read_text())
    assert Scores.from_dict(data["records"][0]["scores"]).mean == {"RR": 0.25, "P@1": 0.0}
    assert call("history", "export", "-q", "-o", "all.csv")[0] == 0
    rows = polars.read_csv("all.csv")
    assert rows.height == 8
    assert rows.columns == frame.columns
    row = rows.filter(polars.col("label") == "bad", polars.col("measure") == "RR", polars.col("query") == "q1")
    assert row.select("id", "summary", "value", "tags").row(0) == (1, 0.25, 0.5, "a=b")
    assert call("history", "export", "-o", "short.csv", "--label", "good")[0] == 0
    assert polars.read_csv("short.csv").select("measure", "summary").rows() == [("RR", 1.0), ("P@1", 1.0)]
    assert call("history", "export", "-q", "-o", "all.xlsx")[0] == 2
    assert call("history", "export", "-o", "no/folder.json")[0] == 2
    assert call("history", "export", "--label", "x")[0] == 2


def test_what_is_sound_is_exported_from_a_damaged_history(call):
    import sqlite3

    call("record", "qrels", "bad", "good", "-m", "RR")
    with sqlite3.connect("history.db") as db:
        db.execute("UPDATE value SET per_query = x'00' WHERE record = 1")
    db.close()
    assert call("history", "show", "1")[0] == 3
    code, _, err = call("history", "export", "-q", "-o", "rest.json")
    assert code == 3
    assert "rest.json: 1 record\nleft out: the file is damaged: the values of RR in record 1 " in err
    assert ".recover" in err
    assert [r["label"] for r in json.loads(Path("rest.json").read_text())["records"]] == ["good"]


def test_a_csv_runs_no_formula(call):
    call("record", "qrels", "bad", "-m", "RR", "--note", "=HYPERLINK(1)")
    call("history", "export", "-q", "-o", "all.csv")
    assert polars.read_csv("all.csv")["note"][0] == "'=HYPERLINK(1)"


def test_a_history_is_checked(call):
    import sqlite3

    call("record", "qrels", "bad", "good", "-m", "RR")
    assert call("history", "check")[:2] == (0, "history.db: 2 records, all as they were recorded\n")
    with sqlite3.connect("history.db") as db:
        db.execute("UPDATE value SET per_query = x'00' WHERE record = 2")
    db.close()
    code, out, err = call("history", "check")
    assert (code, out) == (3, "")
    assert "the values of RR in record 2" in err


def test_records_are_compared(call):
    """By number, label and commit, into the same reports."""
    call("record", "qrels", "bad", "-m", "RR", "-m", "P@1", "--label", "main", "--commit", "0123456789abcdef")
    call("record", "qrels", "good", "-m", "RR", "-m", "P@1", "--label", "main", "--commit", "12345678")
    call("record", "qrels", "good", "-m", "RR", "--label", "dev", "--commit", "0123999")
    for first, second, names in (
        ("1", "2", ["1 main", "2 main"]),
        ("1", "main", ["1 main", "2 main"]),
        ("01234", "12345678", ["1 main", "2 main"]),
        ("0123456789abcdef", "dev", ["1 main", "3 dev"]),
    ):
        code, out, err = call("compare", "--db", "history.db", first, second, "-m", "RR", "-o", "pairs.csv")
        assert code == 0, err
        (row,) = polars.read_csv("pairs.csv").to_dicts()
        assert [row["a"], row["b"]] == names
        assert row["difference"] == pytest.approx(0.75)
        assert "no test can decide" in out
    code, out, _ = call("compare", "--db", "history.db", "1", "2", "--baseline", "2", "-o", "page.html")
    assert code == 0
    assert "<html" in Path("page.html").read_text()
    assert "2 main (baseline)" in out


def test_records_that_are_not_about_the_same_are_not_compared(call):
    for run, criteria, commit in (("bad", "v1", "abcd1"), ("good", "v2", "abcd2")):
        qrels = Qrels(dict(read_qrels("qrels")), criteria=criteria)
        with History("history.db") as history:
            history.record(evaluate(qrels, run, "RR"), label=run, commit=commit)
    code, _, err = call("compare", "--db", "history.db", "1", "2")
    assert code == 2
    assert "records 1 and 2 are not about the same: other relevance rules (v2, before v1)" in err
    code, _, err = call("compare", "--db", "history.db", "1", "abcd")
    assert (code, "2 commits begin with 'abcd'" in err) == (3, True)
    code, _, err = call("compare", "--db", "history.db", "1", "beef")
    assert (code, "no record with the label or commit 'beef'" in err) == (3, True)
    code, _, err = call("compare", "--db", "history.db", "1", "2", "--convention", "ties=input")
    assert code == 2


def test_replicates_are_recorded(call):
    call("record", "qrels", "bad", "-m", "RR", "--label", "main")
    call("record", "qrels", "good", "-m", "RR", "--label", "main", "--replicate")
    with opened() as history:
        assert [record.replicate for record in history.records()] == [False, True]
    assert (
        "run-to-run noise: runs of the same system differ by 0.5303" in call("history")[1]
    )  # (0.25, 1): 0.75 / sqrt 2


def test_marks_are_kept_and_set_anew(call):
    """Twelve queries, all better from the fourth run on."""
    queries = [f"q{i}" for i in range(12)]
    Path("qrels").write_text("".join(f"{q} 0 a 1\n" for q in queries))
    Path("low").write_text("".join(f"{q} Q0 x 1 2 t\n{q} Q0 a 2 1 t\n" for q in queries))
    Path("high").write_text("".join(f"{q} Q0 a 1 2 t\n" for q in queries))
    for run in ("low", "low", "high"):
        call("record", "qrels", run, "-m", "RR", "--label", "main")
    assert "better since record 3, by 0.5000 against record 1: 12 of 12 queries differ" in call("history")[1]
    with opened() as history:
        line = line_key(history[1])
        assert [mark["record"] for mark in history.analysis(line, "RR", 0.05)["marks"]] == [3]
        assert history.analysis(line, "RR", 0.01) is None
    call("history", "prune", "--keep", "1")
    assert "better since record 3" in call("history")[1]
    assert "better since record 3" not in call("history", "--dry-run")[1]
    assert call("history", "--slice", "lang", "--queries", "m.jsonl")[0] == 2, "slices are drawn on a page"


def test_the_page_has_all_measures_and_slices(call):
    for run in ("bad", "good"):
        call("record", "qrels", run, "-m", "RR", "-m", "P@1", "--label", "main")
    Path("m.jsonl").write_text('{"query": "q1", "lang": "de"}\n{"query": "q2", "lang": "en"}\n')
    assert call("history", "-o", "page.html", "--slice", "lang", "--queries", "m.jsonl")[0] == 0
    page = Path("page.html").read_text()
    for words in ('<h2 id="m1">RR</h2>', '<h2 id="m2">P@1</h2>', "RR of main by lang", 'href="#r2"', 'id="r2"'):
        assert words in page
    call("history", "-o", "page.html", "-m", "P@1")
    assert ">RR</h2>" not in Path("page.html").read_text()


def test_a_history_that_cannot_be_written_is_shown_all_the_same(call, monkeypatch):
    for run in ("bad", "good"):
        call("record", "qrels", run, "-m", "RR", "--label", "main")
    monkeypatch.setattr("goldrank.history.history_file.can_be_written", lambda db: False)
    code, out, _ = call("history")
    assert (code, "main" in out) == (0, True)
    assert call("history", "--dry-run")[0] == 0, "it keeps nothing"


def test_pruning(call):
    for _ in range(3):
        call("record", "qrels", "bad", "-m", "RR", "--label", "main")
    code, out, err = call("history", "prune", "--keep", "1", "--dry-run")
    assert (code, [line.split()[0] for line in out.splitlines()], err) == (
        0,
        ["1", "2"],
        "2 records would be removed\n",
    )
    assert call("history", "prune", "--before", "2020-01-01")[2] == "0 records were removed\n"
    assert call("history", "prune", "--keep", "1")[2] == "2 records were removed\n"
    with opened() as history:
        assert [r.id for r in history.records()] == [3]
    assert "--keep N" in call("history", "prune", "--label", "x")[2]
    assert call("history", "prune", "--before", "soon")[0] == 2


def test_usage_is_explained(call):
    for args, words in (
        (["record", "qrels", "good", "--tag", "x"], "is not KEY=VALUE"),
        (["record", "qrels", "good", "bad", "--baseline", "b"], "--baseline takes one run"),
        (["record", "qrels", "good", "-m", "nDGC@10"], "Did you mean nDCG"),
        (["record", "qrels"], "QRELS must hold both"),
    ):
        code, _, err = call(*args)
        assert code == 2
        assert words in err
        assert "Traceback" not in err


def test_no_database_until_it_is_asked_for():
    program = """
import goldrank, sys
goldrank.evaluate({'q': {'a': 1}}, {'q': ['a']}, 'RR')
assert 'sqlite3' not in sys.modules
goldrank.History
assert 'sqlite3' in sys.modules
assert 'mlflow' not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": str(SOURCE)})


# MLflow.


def test_without_mlflow_there_is_a_sentence(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    code, out, err = call("record", "qrels", "bad", "-m", "RR", "--mlflow")
    assert (code, "0.2500" in out, "pip install mlflow, or leave out --mlflow" in err) == (2, True, True)


MLFLOW = """
import warnings, sys
warnings.simplefilter("ignore")
from goldrank.cli import run
assert run(["record", "qrels", "bad", "-m", "RR@10", "-m", "P(rel=2)@1", "--label", "main", "--tag", "k=v",
            "--mlflow"]) == 0
import mlflow
(found,) = mlflow.MlflowClient().search_runs(["0"])
assert found.data.metrics == {"rr_at_10": 0.25, "p_rel_2_at_1": 0.0}, found.data.metrics
assert found.data.params["measure.rr_at_10"] == "RR@10"
assert found.data.tags["goldrank.record"] == "1"
assert found.data.tags["mlflow.runName"] == "main"
"""


@pytest.mark.slow
def test_mlflow_has_the_same(tmp_path):
    """Against the real package, in an interpreter of its own: it changes logging and warnings."""
    pytest.importorskip("importlib.util").find_spec("mlflow") or pytest.skip("mlflow is not installed")
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "MLFLOW_TRACKING_URI": (tmp_path / "mlruns").as_uri(),
        "MLFLOW_ALLOW_FILE_STORE": "true",
    }
    done = subprocess.run([sys.executable, "-c", MLFLOW], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    with opened() as history:
        assert history["main"].tags == ("k=v",)


def test_the_default_store_needs_the_whole_package(call, monkeypatch):
    """MLflow's default is a database; mlflow-skinny has nothing to open one with, and said something of models."""
    from goldrank.history import mlflow_runs

    class Skinny:
        def get_tracking_uri(self):
            return "sqlite:///mlflow.db"

    monkeypatch.setitem(sys.modules, "mlflow", Skinny())
    monkeypatch.setattr(mlflow_runs, "find_spec", lambda name: None if name == "sqlalchemy" else True)
    code, out, err = call("record", "qrels", "bad", "-m", "RR", "--mlflow")
    assert (code, "0.2500" in out) == (3, True)
    assert "sqlite:///mlflow.db" in err
    assert "pip install mlflow," in err
    assert not Path("history.db").exists(), "nothing was recorded twice when it is tried again"


@pytest.mark.slow
def test_mlflow_s_default_store(tmp_path):
    """Against the real package as it comes, in a folder of its own: mlflow.db."""
    if not (find_spec("mlflow") and find_spec("sqlalchemy")):
        pytest.skip("mlflow is not installed, or only mlflow-skinny")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    environment.pop("MLFLOW_TRACKING_URI", None)
    done = subprocess.run([sys.executable, "-c", MLFLOW], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_server_that_is_away_does_not_undo_the_record(call, monkeypatch):
    from goldrank.history import mlflow_runs

    class Away:
        def get_tracking_uri(self):
            return "http://localhost:1"

        def start_run(self, **_):
            raise ConnectionError("refused")

    monkeypatch.setitem(sys.modules, "mlflow", Away())
    monkeypatch.setattr(mlflow_runs, "find_spec", lambda name: True)
    code, _, err = call("record", "qrels", "bad", "-m", "RR", "--mlflow")
    assert code == 3
    assert "record 1 is in the history, but MLflow did not take it" in err
    with opened() as history:
        assert len(history.records()) == 1


def test_names_for_mlflow_are_distinct_and_allowed():
    from goldrank.history.mlflow_runs import names

    found = names(["P@10", "p@10", 'nDCG(gain="exp2")@10', "AP", "@"])
    assert list(found.values()) == ["p_at_10", "p_at_10_2", "ndcg_gain_exp2_at_10", "ap", "at"]
    assert all(re.fullmatch(r"[\w./: -]+", name) for name in found.values())


def test_labels_from_odd_run_names(call):
    Path("7").write_text(RUNS["bad"])
    assert call("record", "qrels", "7", "-m", "RR")[0] == 0
    with opened() as history:
        assert history[1].label == "run 7"
