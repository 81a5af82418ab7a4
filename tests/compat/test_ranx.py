"""ranx's names on goldrank: what its users write, with values by hand."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import places
import pytest
from raising import raises_code

from goldrank.base.errors import GoldrankError, InputError, MeasureError, OptionError
from goldrank.compat.ranx import Qrels, Run, compare, evaluate, fuse, normalization, normalize, optimize_fusion
from goldrank.compat.ranx import fusion as functions
from goldrank.compat.ranx import metrics as named
from goldrank.compat.ranx.data_structures import QueryMismatchError, get_file_kind

QRELS = {"q1": {"a": 3, "b": 1}, "q2": {"c": 2}}
RUN = {"q1": {"x": 0.9, "a": 0.8, "b": 0.1}, "q2": {"c": 5.0}}


def log(rank):
    return math.log2(rank + 1)


@pytest.mark.parametrize(
    ("metric", "q1", "q2"),
    [
        ("hits", 2, 1), ("hits@2", 1, 1), ("hit_rate", 1, 1), ("hit_rate@1", 0, 1),
        ("precision", 2 / 3, 1), ("precision@2", 1 / 2, 1 / 2), ("recall@2", 1 / 2, 1), ("recall", 1, 1),
        ("f1@2", 1 / 2, 2 / 3), ("f1", 2 * (2 / 3) / (5 / 3), 1), ("r-precision", 1 / 2, 1),
        ("mrr", 1 / 2, 1), ("mrr@1", 0, 1), ("map", (1 / 2 + 2 / 3) / 2, 1), ("map@2", 1 / 4, 1),
        ("dcg", 3 / log(2) + 1 / log(3), 2), ("dcg_burges@2", 7 / log(2), 3),
        ("ndcg", (3 / log(2) + 1 / log(3)) / (3 + 1 / log(2)), 1),
        ("ndcg_burges", (7 / log(2) + 1 / log(3)) / (7 + 1 / log(2)), 1),
        ("rbp.50", 0.5 * (3 / 2 + 1 / 4), 1), ("rbp.5", 0.5 * (3 / 2 + 1 / 4), 1),
        ("map-l2", 1 / 2, 1), ("precision@2-l3", 1 / 2, 0), ("rbp.5-l2", 0.5 * 3 / 2, 1),
        # Grades below 2 are worth nothing, in the ideal too.
        ("ndcg-l2", (3 / log(2)) / 3, 1), ("ndcg_burges@3-l2", (7 / log(2)) / 7, 1), ("dcg-l3", 3 / log(2), 0),
    ],
)  # fmt: skip
def test_metrics_by_hand(metric, q1, q2):
    found = evaluate(Qrels(QRELS), Run(RUN), metric, return_mean=False)
    assert found.tolist() == pytest.approx([q1, q2])
    assert evaluate(QRELS, RUN, metric) == pytest.approx((q1 + q2) / 2)


def test_results_are_kept_in_the_run():
    run = Run(RUN, name="bm25")
    found = evaluate(Qrels(QRELS), run, ["mrr", "hits"], return_std=True)
    assert found == {"mrr": {"mean": 0.75, "std": 0.25}, "hits": {"mean": 1.5, "std": 0.5}}
    assert run.scores["mrr"] == {"q1": 0.5, "q2": 1.0}
    assert (run.mean_scores["hits"], run.std_scores["hits"]) == (1.5, 0.5)
    evaluate(Qrels(QRELS), other := Run(RUN), "mrr", save_results_in_run=False)
    assert not other.scores


def test_queries_are_joined_by_id_and_must_be_the_same():
    assert evaluate(QRELS, dict(reversed(RUN.items())), "mrr") == 0.75  # ranx joins plain dicts by position
    with pytest.raises(AssertionError, match="make_comparable"):
        evaluate(Qrels(QRELS), Run({"q1": RUN["q1"]}), "mrr")
    run = Run({"q1": RUN["q1"], "other": {"a": 1.0}})
    assert evaluate(Qrels(QRELS), run, "mrr", make_comparable=True) == 0.25
    assert run.get_query_ids() == ["q1", "q2"]


@pytest.mark.parametrize("metric", ["rbp", "ndcgg", "ndcg.5", "r_precision", "map@", ""])
def test_unknown_metrics(metric):
    with pytest.raises(MeasureError):
        evaluate(QRELS, RUN, metric)


def test_arrays():
    judged = np.array([[[1, 1], [4, 1], [5, 1], [6, 1]]])
    ranked = np.array([[[1, 1], [2, 1], [3, 1], [4, 1], [5, 1], [7, 1]]])
    assert evaluate(judged, ranked, "hits@5") == 3
    assert named.average_precision(judged, ranked).tolist() == pytest.approx([(1 + 2 / 4 + 3 / 5) / 4])
    assert [hit.tolist() for hit in named.get_hit_lists(judged, ranked, 4)] == [[1, 0, 0, 1]]
    assert named.rank_biased_precision(judged, ranked, 0.5).tolist() == [0.5 * (1 + 1 / 8 + 1 / 16)]


def test_qrels_and_runs_change():
    run = Run()
    run.add_score("q2", "a", 1)
    run.add_multi(["q1"], [["a", "b"]], [[1, 2]])
    assert (run.sorted, run.get_query_ids(), list(run["q1"])) == (True, ["q1", "q2"], ["b", "a"])
    run.add_score("q1", "c", 3)
    assert not run.sorted
    assert (len(run), run.size, run.keys()) == (2, 2, {"q1", "q2"})
    qrels = Qrels(QRELS)
    qrels.set_relevance_level(2)
    assert qrels.to_dict() == {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    with pytest.raises(InputError, match=r"0\.5"):
        Qrels({"q": {"a": 0.5}})


@pytest.mark.parametrize("name", ["run.json", "run.trec", "run.txt", "run.parquet", "run.lz4"])
def test_files_of_runs(tmp_path, name):
    if name.endswith("lz4"):
        pytest.importorskip("lz4")
        pytest.importorskip("cbor2")
    path = str(tmp_path / name)
    Run(RUN, name="bm25").save(path)
    found = Run.from_parquet(path) if name.endswith("parquet") else Run.from_file(path)
    assert found.to_dict() == RUN
    assert found.name == ("bm25" if name.endswith(("trec", "txt")) else None)


@pytest.mark.parametrize("name", ["qrels.json", "qrels.trec", "qrels.parq"])
def test_files_of_qrels(tmp_path, name):
    path = str(tmp_path / name)
    Qrels(QRELS).save(path)
    found = Qrels.from_parquet(path) if name.endswith("parq") else Qrels.from_file(path)
    assert found.to_dict() == QRELS


def test_kinds_of_files():
    assert [get_file_kind(name) for name in ("a.txt", "a.parq", "a.gz", "a.lz4")] == ["trec", "parquet", "gz", "lz4"]
    with raises_code(AssertionError, "unknown-choice"):
        get_file_kind("a.csv")


def test_frames():
    frame = Run(RUN).to_dataframe()
    assert frame.columns.tolist() == ["q_id", "doc_id", "score"]
    assert Run.from_df(frame, name="f").to_dict() == RUN
    assert Qrels.from_df(Qrels(QRELS).to_dataframe()).to_dict() == QRELS


def runs():
    return [Run({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "one"), Run({"q": {"b": 9.0, "d": 1.0}}, "two")]


def test_fusion():
    found = fuse(runs(), method="sum")
    assert (found.name, found.to_dict()) == ("comb_sum", {"q": {"b": 1.5, "a": 1.0, "c": 0.0, "d": 0.0}})
    assert next(iter(fuse(runs(), norm=None, method="rrf", params={"k": 1})["q"])) == "b"
    assert functions.rrf(runs(), 1)["q"]["b"] == pytest.approx(1 / 3 + 1 / 2)
    assert functions.wsum(runs(), [0.5, 1.0], name="mine").name == "mine"
    assert normalize(Run({"q": {"a": 2.0, "b": 2.0}}))["q"] == {"a": 0.0, "b": 0.0}  # ranx's value of equal scores
    assert [list(run["q"].values()) for run in normalization.borda_norm(runs())] == [
        [1, 0.75, 0.5, 0.25],
        [1, 0.75, 0.375, 0.375],
    ]
    with raises_code(AssertionError, "different-queries"):
        fuse([runs()[0], Run({"other": {"a": 1.0}})])


def test_optimising():
    qrels = Qrels({"q": {"d": 1}})
    best, report = optimize_fusion(qrels, runs(), method="wsum", metric="mrr", return_optimization_report=True)
    # d has 0 after min-max, as c has, which comes first: 1/4 with all weights. The last of the best is taken.
    assert report.results == [1 / 4] * 11
    assert best == {"weights": (1.0, 0.0)}
    # By RRF b, a, d, c with any k.
    assert optimize_fusion(qrels, runs(), method="rrf", metric="mrr", max_k=30) == {"k": 30}
    assert len(optimize_fusion(qrels, runs(), method="posfuse")["probs"]) == 2
    with pytest.raises(OptionError, match="max_phi"):
        optimize_fusion(qrels, runs(), method="rrf", max_phi=1)


def compared(**options):
    qrels = Qrels({f"q{i}": {"r": 1} for i in range(20)})
    good = Run({f"q{i}": {"r": 2.0, "n": 1.0} for i in range(20)}, "good_one")
    poor = Run({f"q{i}": {"n": 2.0, "r": 1.0 if i else 3.0} for i in range(20)}, "poor")
    return compare(qrels, [good, poor], ["mrr", "hit_rate@1"], **options)


@pytest.mark.parametrize("test", ["student", "fisher", "tukey"])
def test_reports(tmp_path, test):
    report = compared(stat_test=test)
    assert report.results == {"good_one": {"mrr": 1.0, "hit_rate@1": 1.0}, "poor": {"mrr": 0.525, "hit_rate@1": 0.05}}
    assert report.comparisons["poor", "good_one"]["mrr"]["significant"]
    assert 0 <= report.comparisons["good_one", "poor"]["mrr"]["p_value"] < 0.001
    assert report.win_tie_loss["good_one", "poor"]["mrr"] == {"W": 19, "T": 1, "L": 0}
    lines = str(report).splitlines()
    assert lines[0].split() == ["#", "Model", "MRR", "Hit", "Rate@1"]
    assert lines[1].split() == ["a", "good_one", "1.000ᵇ", "1.000ᵇ"]
    assert lines[2].split() == ["b", "poor", "0.525", "0.050"]
    latex = report.to_latex()
    assert "good\\_one" in latex
    assert "\\textbf{1.000}$^{b}$" in latex
    assert report.get_stat_test_label(test) in latex
    assert report.to_dataframe()["model_names"].tolist() == ["good_one", "poor"]
    report.save(str(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text())["poor"]["win_tie_loss"]["good_one"]["mrr"]["L"] == 19


def test_percentages_and_labels():
    report = compared(show_percentages=True, rounding_digits=4)
    assert report.format_score(0.12345) == "12.35"
    assert report.get_metric_label("ndcg@10-l2") == "NDCG@10-l2"
    assert report.get_metric_label("rbp.95") == "RBP.95"
    with pytest.raises(OptionError, match="stat_test"):
        compared(stat_test="anova")


def test_many_models():
    many = [Run({"q": {"a": 1.0}, "r": {"a": 1.0}}, f"m{i}") for i in range(28)]
    report = compare(Qrels({"q": {"a": 1}, "r": {"a": 1}}), many, "mrr")
    assert str(report).splitlines()[28].split()[0] == "ab"


def test_a_table_that_nobody_looked_at_is_that_of_one_that_was():
    """Tables are put in order when somebody looks: copies, measures and changes are the same before and after."""
    given = {"q2": {"c": 5}, "q1": {"b": 0.1, "a": 0.8, "x": 0.9, "y": 0.8}}
    run, looked_at = Run(given), Run(given)
    given["q1"]["b"] = 9.0
    given["q3"] = {}
    assert list(looked_at.run) == ["q1", "q2"]
    assert list(looked_at.run["q1"].items()) == [("x", 0.9), ("a", 0.8), ("y", 0.8), ("b", 0.1)]
    assert [type(score) for score in looked_at["q2"].values()] == [float]
    qrels = Qrels({"q2": {"c": 2}, "q1": {"b": 1, "a": 3, "y": 2}})
    metrics = ["ndcg", "mrr", "map-l3"]
    before = evaluate(qrels, run, metrics, return_mean=False)
    after = evaluate(qrels, looked_at, metrics, return_mean=False)
    assert {name: values.tolist() for name, values in before.items()} == {m: v.tolist() for m, v in after.items()}
    assert run.scores == looked_at.scores
    assert list(qrels.qrels["q1"].items()) == [("a", 3), ("y", 2), ("b", 1)]
    run.add_score("q1", "new", 100)
    assert evaluate(Qrels({"q1": {"new": 1}, "q2": {"c": 1}}), run, "mrr") == 1.0
    assert run["q1"] == {"x": 0.9, "a": 0.8, "y": 0.8, "b": 0.1, "new": 100.0}


def test_wrong_numbers_are_refused_when_a_table_is_made():
    with pytest.raises(ValueError, match="high"):
        Run({"q": {"a": "high"}})
    with raises_code(InputError, "bad-grade"):
        Qrels({"q": {"a": 0.5}})
    with pytest.raises(TypeError):
        Run({"q": [("a", 1.0)]})


def test_a_run_has_the_tag_of_the_first_line(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q1 Q0 a 1 2 first\nq1 Q0 b 2 1 other\n")
    assert Run.from_file(str(path), kind="trec").name == "first"
    assert Run.from_file(str(path), kind="trec", name="mine").name == "mine"


@pytest.mark.slow
def test_lz4_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    """58 KB in two layers that say 3 GB: refused before they are held."""
    frame = pytest.importorskip("lz4.frame")
    pytest.importorskip("cbor2")
    packer = frame.LZ4FrameCompressor()
    inner = packer.begin() + packer.compress(b"\x7b" + (3 << 30).to_bytes(8, "big"))
    zeros = bytes(16 << 20)
    inner += b"".join(packer.compress(zeros) for _ in range(192)) + packer.flush()
    path = tmp_path / "bomb.lz4"
    path.write_bytes(frame.compress(inner))
    assert path.stat().st_size < 100_000
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "from goldrank.compat.ranx import Run\n"
        "from goldrank import GoldrankError\n"
        "try:\n    Run.from_file(sys.argv[1], kind='lz4')\n"
        "except GoldrankError as error:\n    print(error)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(places.ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], env=env, capture_output=True, text=True, timeout=60
    )
    assert "it unpacks to more than" in done.stdout, done.stderr


def test_lz4_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("lz4")
    with pytest.raises(GoldrankError, match=r"none\.lz4"):
        Run.from_file(str(tmp_path / "none.lz4"), kind="lz4")


def test_what_was_read_stays_what_it_was(tmp_path):
    """Rows are made when somebody looks; the file may be gone by then, and what is changed in them counts."""
    judged, returned = tmp_path / "qrels.txt", tmp_path / "run.txt"
    judged.write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n")
    returned.write_text("q2 0 x 1 0.2 t\nq1 0 b 1 0.5 t\nq1 0 a 2 0.4 t\nq2 0 c 2 0.1 t\n")
    qrels, run = Qrels.from_file(str(judged), kind="trec"), Run.from_file(str(returned), kind="trec")
    judged.unlink()
    returned.write_text("q9 0 z 1 0.5 other\n")
    assert evaluate(qrels, run, "mrr") == 0.5
    assert run.scores["mrr"] == {"q1": 0.5, "q2": 0.5}
    assert run.run == {"q1": {"b": 0.5, "a": 0.4}, "q2": {"x": 0.2, "c": 0.1}}
    assert list(run.run) == ["q1", "q2"]
    run.run["q1"]["a"] = 0.9
    assert evaluate(qrels, run, "mrr") == 0.75
    qrels.qrels["q2"]["x"] = 1
    assert evaluate(qrels, run, "mrr") == 1.0


def test_a_dict_that_is_changed_later_changes_nothing():
    judged, returned = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    qrels, run = Qrels(judged), Run(returned)
    judged["q"]["b"], returned["q"]["a"] = 1, 3.0
    assert evaluate(qrels, run, "mrr") == 0.5
    assert run.run == {"q": {"b": 2.0, "a": 1.0}}


def test_a_file_is_parsed_when_it_is_read(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1 0 a 1 0.5 t\nq1 0 b 2 many t\n")
    with raises_code(InputError, "bad-score"):
        Run.from_file(str(path), kind="trec")


def test_other_queries_of_a_file_are_found(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1 0 a 1 0.5 t\nq2 0 b 2 0.4 t\n")
    with raises_code(QueryMismatchError, "different-queries"):
        evaluate(Qrels({"q1": {"a": 1}}), Run.from_file(str(path), kind="trec"), "mrr")
