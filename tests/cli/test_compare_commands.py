"""The commands compare, diff and fuse, as people call them."""

import json
import re
from xml.etree import ElementTree

import pytest
from made_up import make_runs

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
        "--baseline", "bm25", "-m", "nDCG@10", "-m", "AP", "--statistics", "samples=500,unjudged=ignore",
        "-o", files / "out" / "a.html", "-o", files / "a.md", "-o", files / "a.tex",
        "-o", files / "a.csv", "-o", files / "a.json", "-o", files / "a.svg",
        "--queries", files / "queries.jsonl", "--slice", "kind", "--slice", "length", "--slice", "relevant",
    ).out  # fmt: skip
    assert "bm25 (baseline)" in out
    assert "hybrid" in out
    assert "kind" in out
    assert (files / "out" / "a.html").read_text().startswith("<!doctype html>")
    assert json.loads((files / "a.json").read_text())["baseline"] == "bm25"
    assert (files / "a.csv").read_text().count("\n") == 5
    assert "toprule" in (files / "a.tex").read_text()
    assert "### Systems" in (files / "a.md").read_text()
    ElementTree.fromstring((files / "a.svg").read_bytes())
    # The same numbers come out of the saved scores, with no run at hand.
    runs = [files / f"{n}.run" for n in ("bm25", "dense", "hybrid")]
    call(capsys, "eval", files / "qrels.txt", *runs, "-m", "nDCG@10,AP", "-o", files / "scores.json")
    again = call(
        capsys, "compare", files / "scores.json", "--baseline", "bm25", "-o", files / "b.json",
        "--statistics", "samples=500,unjudged=ignore",
    )  # fmt: skip
    assert "hybrid" in again.out
    first, second = (json.loads((files / name).read_text()) for name in ("a.json", "b.json"))
    assert first["pairs"] == second["pairs"]


def test_many_systems_fill_a_page_with_their_order_first(tmp_path, capsys):
    """12 systems, 4 measures: one leaderboard, no list or matrix of 66 pairs, at most 30 lines."""
    names = tuple(f"s{i:02}" for i in range(12))
    qrels, runs = make_runs(queries=20, systems=names)
    goldrank.read_qrels(qrels).save(tmp_path / "qrels.txt")
    for name, run in runs.items():
        goldrank.read_run(run).save(tmp_path / f"{name}.run")

    files = [tmp_path / f"{name}.run" for name in names]
    out = call(capsys, "compare", tmp_path / "qrels.txt", *files, "-m", "nDCG@10,AP,P@10,RR").out
    assert re.match(r"(\d+ of 12 may be best|Best) by nDCG@10: ", out)
    assert out.count("Leaderboard") == 1
    assert "All pairs, nDCG@10" not in out
    assert len(out.splitlines()) <= 30
    (first_row,) = re.findall(r"^ +1 .*$", out, re.M)
    assert re.search(r" o=*\.* ", first_row), "the ranks that the first may have are drawn"


def test_names_are_given_with_an_equals_sign(files, capsys):
    out = call(capsys, "compare", files / "qrels.txt", f"old={files / 'bm25.run'}", f"new={files / 'hybrid.run'}").out
    assert out.startswith("new is better than old: ")


def test_agreement(files, capsys, data):
    from goldrank import rank_agreement

    runs = [files / f"{n}.run" for n in ("bm25", "dense")]
    out = call(capsys, "diff", files / "qrels.txt", *runs, "-m", "AP", "--agreement").out
    expected = rank_agreement(data[1]["bm25"], data[1]["dense"]).mean["rbo"]
    assert re.search(rf"rbo {expected:.4f}", out)


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
    rows = [json.loads(line) for line in (files / "queries.jsonl").read_text().splitlines()]
    rows = [{**row, "cluster": i // 2, "weight": 1 + i % 3} for i, row in enumerate(rows)]
    (files / "design.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = call(capsys, "compare", *given, "--queries", files / "design.jsonl", "--primary", "RR").out
    assert "on 20 clusters of queries and weighted queries" in " ".join(out.split())
    assert "Queries that differ most, RR" in out
    assert "AP (secondary)" in out
    rows = [{**row, "cluster": row["kind"]} for row in rows]
    (files / "kinds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = call(capsys, "compare", *given, "--queries", files / "kinds.jsonl").out
    assert "oo few clusters for a verdict: 2" in out


def test_the_order_of_three_comes_first(files, capsys):
    runs = [files / f"{n}.run" for n in ("bm25", "dense", "hybrid")]
    out = call(capsys, "compare", files / "qrels.txt", *runs, "-m", "nDCG@10").out
    assert out.startswith("2 of 3 may be best by nDCG@10: hybrid leads, 1 other is not told from it.")
    assert "Leaderboard" in out
    assert "Leaderboard" not in call(capsys, "compare", files / "qrels.txt", *runs[:2], "-m", "nDCG@10").out
    call(capsys, "compare", files / "qrels.txt", *runs, "-o", files / "a.gif", code=2)


def test_one_run_only(files, capsys):
    bad = call(capsys, "compare", files / "qrels.txt", files / "bm25.run", code=2)
    assert "at least two systems" in bad.err


def test_slice_without_queries(files, capsys):
    bad = call(
        capsys, "compare", files / "qrels.txt", files / "bm25.run", files / "dense.run", "--slice", "kind", code=2
    )
    assert "needs --queries" in bad.err


def test_diff(files, capsys):
    out = call(
        capsys, "diff", files / "qrels.txt", files / "bm25.run", files / "hybrid.run", "-n", "3",
        "-o", files / "d.json",
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
    assert "Weights by all queries" in call(capsys, *args, "--tune", "--fusion", "wsum").out
    assert "must be a number" in call(capsys, *args, "--fusion", "wsum,weights=a+b", code=2).err
    other = files / "without_qrels.run"
    call(capsys, "fuse", *args[2:], "-o", other)
    assert other.read_bytes() == target.read_bytes()
    assert "need QRELS" in call(capsys, "fuse", *args[2:], "-m", "AP", code=2).err


def test_unwritable_output(files, capsys):
    (files / "file").write_text("")
    bad = call(
        capsys, "compare", files / "qrels.txt", files / "bm25.run", files / "dense.run", "--statistics", "samples=200",
        "-o", files / "file" / "x.html", code=2,
    )  # fmt: skip
    assert "cannot be written" in bad.err


@pytest.mark.parametrize("name", ["compare", "diff", "fuse"])
def test_help(name, capsys):
    assert "Usage: goldrank" in call(capsys, name, "--help").out
