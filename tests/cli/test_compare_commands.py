"""The commands compare, diff, fuse and report, as people call them."""

import json
import re
from xml.etree import ElementTree

import pytest

import goldrank
from goldrank.cli import run as command


@pytest.fixture
def files(data, tmp_path):
    qrels, runs = data
    goldrank.read_qrels(qrels).save(tmp_path / "qrels.txt")
    for name, run in runs.items():
        goldrank.read_run(run).save(tmp_path / f"{name}.run")
    rows = [{"query": q, "text": "word " * (1 + i % 3), "kind": ("x", "y")[i % 2]} for i, q in enumerate(qrels)]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def call(capsys, *args, code=0):
    assert command([str(arg) for arg in args]) == code
    return capsys.readouterr()


def test_compare_writes_every_form(files, capsys):
    out = call(
        capsys, "compare", files / "qrels.txt", *(files / f"{n}.run" for n in ("bm25", "dense", "hybrid")),
        "--baseline", "bm25", "-m", "nDCG@10", "-m", "AP", "--samples", "500", "--holes", "ignore",
        "--html", files / "out" / "a.html", "--markdown", files / "a.md", "--latex", files / "a.tex",
        "--csv", files / "a.csv", "--json", files / "a.json", "--svg", files / "svg", "--save", files / "saved",
        "--metadata", files / "queries.jsonl", "--slice", "kind", "--slice", "length", "--slice", "relevant",
    ).out  # fmt: skip
    assert "bm25 (baseline)" in out
    assert "hybrid" in out
    assert "kind" in out
    assert (files / "out" / "a.html").read_text().startswith("<!doctype html>")
    assert json.loads((files / "a.json").read_text())["baseline"] == "bm25"
    assert (files / "a.csv").read_text().count("\n") == 5
    assert "toprule" in (files / "a.tex").read_text()
    assert "### Systems" in (files / "a.md").read_text()
    charts = sorted((files / "svg").glob("*.svg"))
    # 2 forests, 2 curves, and for each of 2 pairs deltas, scatter and ranks.
    assert len(charts) == 2 + 2 + 2 * 3
    for chart in charts:
        ElementTree.fromstring(chart.read_bytes())
    # The same numbers come out of the saved scores, with no run at hand.
    again = call(
        capsys, "report", *sorted((files / "saved").iterdir()), "--baseline", "bm25", "--samples", "500",
        "--holes", "ignore", "--json", files / "b.json",
    )  # fmt: skip
    assert "hybrid" in again.out
    first, second = (json.loads((files / name).read_text()) for name in ("a.json", "b.json"))
    assert first["pairs"] == second["pairs"]


def test_names_are_given_with_an_equals_sign(files, capsys):
    out = call(capsys, "compare", files / "qrels.txt", f"old={files / 'bm25.run'}", f"new={files / 'hybrid.run'}").out
    assert "Not decided between new and old" in out


def test_agreement(files, capsys, data):
    from goldrank import rank_agreement

    runs = [files / f"{n}.run" for n in ("bm25", "dense", "hybrid")]
    out = call(capsys, "compare", files / "qrels.txt", *runs, "-m", "AP", "-m", "RR", "--agreement").out
    expected = rank_agreement(data[1]["bm25"], data[1]["dense"]).mean["rbo"]
    assert re.search(rf"^bm25, dense +{expected:.4f} ", out, re.M)
    assert "AP, RR" in out


def test_two_runs_with_one_name(files, capsys):
    bad = call(capsys, "fuse", files / "qrels.txt", f"x={files / 'bm25.run'}", f"x={files / 'hybrid.run'}", code=2)
    assert "two runs are both named 'x'" in bad.err
    (files / "dense").mkdir()
    (files / "dense" / "hybrid.run").write_bytes((files / "dense.run").read_bytes())
    named, own = f"hybrid={files / 'bm25.run'}", files / "hybrid.run"
    bad = call(capsys, "compare", files / "qrels.txt", own, named, files / "dense.run", code=2)
    assert "two runs are both named 'hybrid'" in bad.err


def test_a_repeated_name_is_another_run_of_the_system(files, capsys):
    runs = [f"old={files / 'bm25.run'}", f"old={files / 'dense.run'}", f"new={files / 'hybrid.run'}"]
    out = call(capsys, "compare", files / "qrels.txt", *runs, f"new={files / 'dense.run'}", "-m", "AP").out
    assert "t test over runs and queries" in out


def test_clusters_weights_and_texts(files, capsys):
    given = [files / "qrels.txt", files / "bm25.run", files / "dense.run", "-m", "AP", "-m", "RR"]
    about = ["--metadata", files / "queries.jsonl", "--queries", files / "queries.jsonl", "--primary", "RR"]
    rows = [json.loads(line) for line in (files / "queries.jsonl").read_text().splitlines()]
    rows = [{**row, "cluster": i // 2, "weight": 1 + i % 3} for i, row in enumerate(rows)]
    (files / "design.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = call(capsys, "compare", *given, *about, "--clusters", files / "design.jsonl").out
    assert "on 20 clusters of queries" in out
    assert "Queries that differ most, RR" in out
    assert "AP (secondary)" in out
    out = call(capsys, "compare", *given, *about, "--clusters", "kind").out
    assert "oo few clusters for a verdict: 2" in out
    out = call(capsys, "compare", *given, "--metadata", files / "design.jsonl", "--weights", "weight").out
    assert "on 20 clusters of queries and weighted queries" in " ".join(out.split())
    assert "no file" in call(capsys, "compare", *given, "--weights", "weight", code=2).err


def test_leaderboard(files, capsys):
    runs = [files / f"{n}.run" for n in ("bm25", "dense", "hybrid")]
    paths = [files / "board" / f"a.{ending}" for ending in ("md", "tex", "csv", "json", "txt", "svg")]
    asked = [part for path in paths for part in ("-o", path)]
    out = call(capsys, "leaderboard", files / "qrels.txt", *runs, "-m", "nDCG@10", *asked).out
    assert out.startswith(("Best by nDCG@10: ", "By nDCG@10 "))
    assert (files / "board" / "a.txt").read_text().split() == out.split()
    assert ElementTree.parse(files / "board" / "a.svg").getroot().tag.endswith("svg")
    board = json.loads((files / "board" / "a.json").read_text())
    values = [system["value"] for system in board["systems"]]
    assert values == sorted(values, reverse=True)
    assert len((files / "board" / "a.csv").read_text().splitlines()) == 4
    call(capsys, "leaderboard", files / "qrels.txt", *runs, "-o", files / "a.gif", code=2)


def test_one_run_only(files, capsys):
    bad = call(capsys, "compare", files / "qrels.txt", files / "bm25.run", code=2)
    assert "at least two systems" in bad.err


def test_slice_without_metadata(files, capsys):
    bad = call(
        capsys, "compare", files / "qrels.txt", files / "bm25.run", files / "dense.run", "--slice", "kind", code=2
    )
    assert "needs --metadata" in bad.err


def test_diff(files, capsys):
    out = call(
        capsys, "diff", files / "qrels.txt", files / "bm25.run", files / "hybrid.run", "-n", "3",
        "--json", files / "d.json",
    ).out  # fmt: skip
    saved = json.loads((files / "d.json").read_text())
    assert len(saved["queries"]) == 40
    top = sorted(saved["queries"], key=lambda row: (-abs(row["difference"]), row["query"]))[:3]
    for row in top:
        assert f"{row['query']}  {row['difference']:+.4f}" in out
    assert f"nDCG@10: {saved['difference']:+.4f} from bm25 to hybrid" in out


def test_fuse(files, capsys):
    target = files / "fused.run"
    args = ["fuse", files / "qrels.txt", files / "bm25.run", files / "hybrid.run"]
    out = call(capsys, *args, "-o", target).out
    assert "fused" in out
    assert len(goldrank.read_run(target)) == 40
    assert "Weights by all queries" in call(capsys, *args, "--tune", "--method", "wsum").out
    assert "not numbers" in call(capsys, *args, "--weights", "a,b", code=2).err
    assert "leave --weights out" in call(capsys, *args, "--tune", "--weights", "1,2", code=2).err


def test_unwritable_output(files, capsys):
    (files / "file").write_text("")
    bad = call(
        capsys, "compare", files / "qrels.txt", files / "bm25.run", files / "dense.run", "--samples", "200",
        "--html", files / "file" / "x.html", code=2,
    )  # fmt: skip
    assert "cannot be written" in bad.err


@pytest.mark.parametrize("name", ["compare", "diff", "fuse", "report"])
def test_help(name, capsys):
    assert "Usage: goldrank" in call(capsys, name, "--help").out
