"""Baselines: frozen, hashed, and changed by nothing but the command that says so."""

import json
from pathlib import Path

import pytest
from raising import raises_code

from goldrank import Baseline, History, Qrels, Runs, Scores, demo, evaluate, gate, read_run
from goldrank.base.errors import BaselineError, GoldrankError
from goldrank.cli import run as command

QRELS = Qrels(demo.load()["qrels"])


@pytest.fixture
def scores():
    return evaluate(QRELS, demo.runs()["bm25"], ["nDCG@10", "AP", "NumRet"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    QRELS.save("qrels")
    for name, run in demo.runs().items():
        read_run(run).save(f"{name}.run")
    return tmp_path


def test_round_trip(scores, tmp_path):
    frozen = Baseline(scores, label="main")
    frozen.save(tmp_path / "a" / "b.json")
    again = Baseline.load(tmp_path / "a" / "b.json")
    assert again == frozen
    assert (again.digest, again.label, again.frozen) == (frozen.digest, "main", frozen.frozen)
    assert again.scores.per_query == scores.per_query
    assert again.basis.qrels == QRELS.digest
    assert set(again.scores.judgement_hashes) == set(QRELS)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.json"]
    again.save(tmp_path / "c.json")
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "a" / "b.json").read_bytes()


def test_the_prompt_and_python_write_the_same(scores, folder):
    assert command(["gate", "qrels", "bm25.run", "-m", "nDCG@10", "-m", "AP", "--baseline", "b.json", "--update"]) == 0
    by_prompt = Baseline.load("b.json")
    named = evaluate("qrels", "bm25.run", ["nDCG@10", "AP"])
    assert by_prompt.scores == named
    assert by_prompt.scores.judgement_hashes == scores.judgement_hashes
    assert by_prompt.documents == Baseline(named).documents
    Baseline(named).save("c.json")
    assert command(["gate", "qrels", "bm25.run", "--rule", "AP: -1%", "--baseline", "c.json"]) == 0


def test_a_saved_score_is_a_baseline_too(scores, folder):
    scores.save("scores.json")
    assert gate(scores, "AP: -1%", "scores.json")
    assert gate(scores, "AP: -1%", Scores.load("scores.json"))
    with raises_code(BaselineError, "not-a-baseline", match="Baseline\\(Scores.load"):
        Baseline.load("scores.json")


def test_hostile_ids_survive(tmp_path):
    names = ["a\nb", "\x1b[31m", "]]>", "|", "\udc80", '"', "ü\u2028"]
    qrels = {q: {"d": 1} for q in names}
    Baseline(evaluate(qrels, {q: ["d"] for q in names}, "RR")).save(tmp_path / "b.json")
    kept = Baseline.load(tmp_path / "b.json").scores
    assert set(kept.queries) == set(kept.judgement_hashes) == set(names)


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["scores"]["measures"]["AP"]["values"].__setitem__(0, 0.123),
        lambda data: data["scores"]["measures"]["AP"].__setitem__("summary", 0.9),
        lambda data: data["scores"]["provenance"]["qrels"].__setitem__("sha256", "0"),
        lambda data: data.__setitem__("label", "other"),
        lambda data: data.__setitem__("more", 1),
        lambda data: data.pop("sha256"),
        lambda data: data["scores"]["by_query"]["judgements"].popitem(),
        lambda data: data["scores"]["by_query"]["returned"].__setitem__(0, 3),
    ],
)
def test_edited_files_are_refused(scores, tmp_path, edit):
    file = tmp_path / "b.json"
    Baseline(scores).save(file)
    data = json.loads(file.read_text())
    file.write_text(json.dumps(data, indent=4))
    Baseline.load(file)  # another layout is no edit
    edit(data)
    file.write_text(json.dumps(data))
    with raises_code(BaselineError, "changed"):
        Baseline.load(file)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not-a-baseline"),
        ("[]", "not-a-baseline"),
        ('{"format": "goldrank-scores"}', "not-a-baseline"),
        ('{"format": "goldrank-baseline", "version": 9}', "newer-version"),
        ('{"format": "goldrank-baseline", "version": 2}', "older-version"),
        ('{"format": 1, "format": 2}', "not-a-baseline"),
        ("[" * 100_000, "not-a-baseline"),
    ],
)
def test_other_files_are_refused(tmp_path, text, code):
    (tmp_path / "b.json").write_text(text)
    with raises_code(BaselineError, code):
        Baseline.load(tmp_path / "b.json")


def test_cannot_be_written(scores, tmp_path):
    (tmp_path / "file").touch()
    with raises_code(GoldrankError, "cannot-write"):
        Baseline(scores).save(tmp_path / "file" / "b.json")


@pytest.mark.usefixtures("folder")
def test_set_says_what_changes(capsys, scores):
    assert command(["gate", "qrels", "bm25.run", "-m", "AP", "-m", "P@1", "--baseline", "b.json", "--update"]) == 0
    assert "new, 60 queries" in capsys.readouterr().out
    first = Baseline.load("b.json")
    other = evaluate(QRELS, demo.runs()["overlap"], "AP")["AP"]
    again = ["gate", "qrels", "overlap.run", "-m", "AP", "-m", "nDCG@10", "--baseline", "b.json", "--update"]
    assert command([*again, "--dry-run"]) == 0
    assert Baseline.load("b.json").digest == first.digest
    out = capsys.readouterr().out
    assert f"AP: {scores['AP']:.4f} -> {other:.4f} ({other - scores['AP']:+.4f})" in out
    assert "P@1: not measured any more" in out
    assert "nDCG@10: new" in out
    assert "would be set" in out
    assert command(again) == 0
    new = Baseline.load("b.json")
    assert f"sha256: {first.digest[:12]} -> {new.digest[:12]}" in capsys.readouterr().out
    fewer = {q: docs for i, (q, docs) in enumerate(QRELS.items()) if i > 1}
    Qrels({**fewer, "new": {"d": 1}}).save("qrels")
    assert command([*again, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "queries added: 1" in out
    assert "queries removed: 2" in out
    assert "judgements: 1 query added: 'new'" in out


@pytest.mark.usefixtures("folder")
def test_the_gate_never_sets_it(capsys):
    command(["gate", "qrels", "overlap.run", "-m", "AP", "--baseline", "b.json", "--update"])
    before = Path("b.json").read_bytes()
    assert command(["gate", "qrels", "bm25.run", "--rule", "AP: -1%", "--baseline", "b.json"]) == 0
    assert Path("b.json").read_bytes() == before


@pytest.mark.usefixtures("folder")
def test_history(capsys):
    """A name keeps meaning the record it was set to, whatever is recorded later."""
    assert command(["gate", "qrels", "bm25.run", "-m", "AP", "--db", "h.db", "--baseline", "main", "--update"]) == 0
    gate = ["gate", "qrels", "overlap.run", "--rule", "AP: -1%", "--db", "h.db", "--baseline"]
    assert command([*gate, "main"]) == 1
    with History("h.db") as history:
        later = history.record(evaluate(QRELS, demo.runs()["overlap"], ["AP", "NumRet"]), label="main")
    assert command([*gate, "main"]) == 1
    assert command([*gate, str(later.id)]) == 0
    capsys.readouterr()
    assert command(["history", "baseline", "main", str(later.id), "--db", "h.db"]) == 0
    assert "AP: 0.7099 -> 0.4597" in capsys.readouterr().out
    assert command([*gate, "main"]) == 0
    assert command(["history", "baseline", "main", "--db", "h.db"]) == 0
    assert command([*gate, "mian"]) == 3  # as wherever a history does not have what was asked for
    assert "Did you mean main?" in capsys.readouterr().err
    assert command(["gate", "qrels", "overlap.run", "--rule", "AP: -1%", "--baseline", "main"]) == 2
    assert "there is no file 'main'" in capsys.readouterr().err


def test_unjudged_documents_could_decide_against_a_history(capsys, tmp_path, monkeypatch):
    """A record of a history has no documents: unjudged ones count as the run's alone, and could decide.

    The new run puts an unjudged document above the relevant one of each query: AP falls from 1 to 1/2.
    """
    monkeypatch.chdir(tmp_path)
    queries = [f"q{i}" for i in range(10)]
    Qrels({query: {"good": 1, "bad": 0} for query in queries}).save("qrels")
    read_run({query: ["good", "bad"] for query in queries}).save("old.run")
    read_run({query: ["x", "good", "bad"] for query in queries}).save("new.run")
    assert command(["gate", "qrels", "old.run", "-m", "AP", "--db", "h.db", "--baseline", "main", "--update"]) == 0
    gate = ["gate", "qrels", "new.run", "--rule", "AP: -1%", "--db", "h.db", "--baseline", "main"]
    assert command([*gate, "--statistics", "unjudged=ignore"]) == 1
    capsys.readouterr()
    assert command(gate) == 4
    assert "the baseline keeps no documents" in " ".join("".join(capsys.readouterr()).split())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gate", "qrels", "--baseline", "b.json", "--update"], "give a RUN"),
        (["gate", "qrels", "bm25.run", "--update"], "--update needs --baseline"),
        (["gate", "qrels", "bm25.run", "--rule", "AP >= 0", "--dry-run"], "--dry-run goes with --update"),
        (["gate", "qrels", "nowhere", "--baseline", "b.json", "--update"], "cannot be opened"),
        (["eval", "nowhere.json"], "cannot be opened"),
        (["gate", "qrels", "bm25.run", "--baseline", "qrels", "--update"], "is not a baseline"),
    ],
)
def test_mistakes(capsys, arguments, told):
    assert command(arguments) == 2
    assert told in capsys.readouterr().err


def test_a_baseline_of_before_is_refused_in_words():
    """tests/files/old/baseline-1.json was written by goldrank 0.2.0."""
    with raises_code(BaselineError, "older-version", match="set the baseline anew"):
        Baseline.load(Path(__file__).parents[1] / "files" / "old" / "baseline-1.json")


@pytest.mark.parametrize("given", [{"q": {"d": 1.0}}, [1], 1.5, b"x"])
def test_what_is_no_baseline(given):
    with pytest.raises(GoldrankError, match=r"^the baseline is of type \w+, not a Baseline, Scores or a file"):
        gate(evaluate({"q": {"d": 1}}, {"q": ["d"]}, "RR"), "RR: -1%", given)


def test_saved_scores_of_several_runs_are_no_baseline(tmp_path):
    scores = evaluate({"q": {"d": 1}}, Runs({"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}), "RR")
    scores.save(tmp_path / "both.json")
    with pytest.raises(BaselineError, match="has the scores of several runs; a baseline is one"):
        gate(scores["a"], "RR: -1%", tmp_path / "both.json")
