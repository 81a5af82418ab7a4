"""`Scores`: shapes, saving and loading, what it says of itself."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError, MeasureError
from goldrank.data import query_facts
from goldrank.data.scores import Scores, ScoresByRun

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}, "q3": {"d9": 1}}
RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}, "q7": {"d1": 1.0}}
# RR: q1 1, q2 1, q3 (not in the run) 0. P@2: q1 1/2, q2 1/2, q3 0.


@pytest.fixture
def scores() -> Scores:
    found = goldrank.evaluate(QRELS, RUN, ["RR", "P@2", "NumRet"])
    assert isinstance(found, Scores)
    return found


def test_values(scores: Scores) -> None:
    assert scores.queries == ("q1", "q2", "q3")
    assert scores.mean == {"RR": 2 / 3, "P@2": 1 / 3, "NumRet": 5.0}
    assert scores["MRR"] == scores["RR"] == 2 / 3
    assert scores.per_query["P@2"] == {"q1": 0.5, "q2": 0.5, "q3": 0.0}
    assert scores.n == {"RR": 3, "P@2": 3, "NumRet": 3}
    # RR is 1, 1, 0: squared distances from 2/3 are 1/9 + 1/9 + 4/9, over n - 1 = 2.
    assert scores.std["RR"] == pytest.approx(math.sqrt(1 / 3), abs=1e-15)


def test_counts_and_notes(scores: Scores) -> None:
    assert scores.counts["missing"] == 1
    assert scores.counts["unjudged_queries"] == 1
    assert scores.counts["judged_retrieved"] == 4
    text = str(scores)
    assert repr(scores) == "Scores('run', 3 queries, RR, P@2, NumRet)"
    assert "1 of 3 judged queries are not in the run, counted as 0: 'q3'" in text
    assert "1 query of the run is not judged and was left out: 'q7'" in text
    assert "1 more remark: result.notes" in text
    assert "80.0% of the returned documents are judged" in [str(note) for note in scores.notes]


def test_changed_policies_show() -> None:
    found = goldrank.evaluate(QRELS, RUN, "RR", missing="skip", ties="input")
    assert found.convention == "trec_eval-10, ties=input, missing=skip"
    assert "2 queries, trec_eval-10, ties=input, missing=skip" in str(found)


def test_unmeasured(scores: Scores) -> None:
    with pytest.raises(MeasureError, match="P@3 was not measured; there are: RR, P@2, NumRet"):
        scores["P@3"]


def test_save_and_load(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "s.json")
    back = Scores.load(tmp_path / "s.json")
    assert back.to_dict() == scores.to_dict()
    assert back.mean == scores.mean
    data = json.loads((tmp_path / "s.json").read_text())
    assert data["provenance"]["policies"]["ties"] == "docid"
    assert len(data["provenance"]["qrels"]["sha256"]) == 64


def test_nan_survives_saving(tmp_path: Path) -> None:
    scores = goldrank.evaluate(
        {"q1": {"a": 1}, "q2": {"b": 0}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}, "AP", empty="nan"
    )
    assert math.isnan(scores["AP"])
    scores.save(tmp_path / "s.json")
    assert "NaN" not in (tmp_path / "s.json").read_text()
    back = Scores.load(tmp_path / "s.json")
    assert back.per_query["AP"]["q1"] == 1.0
    assert math.isnan(back.per_query["AP"]["q2"])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not-json"),
        ("{}", "not-saved-scores"),
        ('{"format": "goldrank-scores", "version": 99}', "newer-version"),
        ('{"format": "goldrank-scores", "version": 1}', "older-version"),
        ('{"format": "goldrank-scores", "version": 2}', "older-version"),
        ('{"format": "goldrank-scores", "version": 3}', "damaged-file"),
        ("[" * 100_000, "not-json"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with raises_code(InputError, code):
        Scores.load(tmp_path / "s.json")


def test_frames(scores: Scores) -> None:
    polars, pandas, arrow = scores.to_polars(), scores.to_pandas(), scores.to_arrow()
    assert polars.columns == list(pandas.columns) == arrow.column_names == ["query", "RR", "P@2", "NumRet"]
    assert polars["RR"].to_list() == pandas["RR"].tolist() == arrow["RR"].to_pylist() == [1.0, 1.0, 0.0]


def test_several_runs() -> None:
    both = goldrank.evaluate(QRELS, goldrank.Runs(a=RUN, b={"q1": ["d3"]}), "RR")
    assert list(both) == ["a", "b"]
    assert both.mean == {"a": {"RR": 2 / 3}, "b": {"RR": 1 / 3}}
    assert both.to_polars().columns == ["run", "query", "RR"]
    with pytest.raises(KeyError, match="there are: a, b"):
        both["c"]


def test_scores_of_several_runs_as_frames_and_files(tmp_path: Path) -> None:
    both = goldrank.evaluate(QRELS, goldrank.Runs(a=RUN, b={"q1": ["d2"]}), ["RR", "P@2"])
    frame = both.to_pandas()
    assert list(frame.columns) == ["run", "query", "RR", "P@2"]
    assert frame.to_dict("list") == both.to_polars().to_dict(as_series=False)
    both.save(tmp_path / "both.json")
    back = ScoresByRun.load(tmp_path / "both.json")
    assert list(back) == ["a", "b"]
    assert back.to_dict() == both.to_dict()
    assert back == both
    for name in ("a", "b"):
        both[name].save(tmp_path / f"{name}.json")
    assert ScoresByRun.load(tmp_path / "a.json", tmp_path / "b.json") == both
    assert list(ScoresByRun.load(tmp_path / "a.json")) == ["a"]
    (tmp_path / "list.json").write_text("[]")
    with raises_code(InputError, "not-saved-scores"):
        ScoresByRun.load(tmp_path / "list.json")
    with raises_code(InputError, "cannot-open"):
        ScoresByRun.load(tmp_path / "nowhere.json")


def test_html_is_escaped() -> None:
    page = goldrank.evaluate({"q": {"d": 1}}, goldrank.Runs({"<script>": {"q": {"d": 1.0}}}), "RR")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_empty_policies() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    assert goldrank.evaluate(qrels, run, "AP")["AP"] == 0.5
    assert goldrank.evaluate(qrels, run, "AP", empty="one")["AP"] == 1.0
    skipped = goldrank.evaluate(qrels, run, ["AP", "NumRet"], empty="skip")
    assert skipped["AP"] == 1.0
    assert skipped.n == {"AP": 1, "NumRet": 2}
    with pytest.raises(goldrank.GoldrankError, match="1 queries have no relevant document for AP: 'q2'"):
        goldrank.evaluate(qrels, run, "AP", empty="error")


@pytest.mark.usefixtures("registry")
def test_own_measure_vectorised_and_per_query() -> None:
    about = {"formula": "f", "use": "u", "avoid": "a", "cite": "c", "cutoff": "none"}

    @goldrank.measure("Early", **about)
    def early(p, *, rel: float = 1):  # type: ignore[no-untyped-def]
        """The share of relevant documents among the first three."""
        return p.count((p.grade >= rel) & (p.rank <= 3)) / 3

    @goldrank.measure("EarlyToo", **about, per_query=True)
    def early_too(ranked, judged, *, rel: float = 1):  # type: ignore[no-untyped-def]
        """The same, query by query."""
        return sum(grade is not None and grade >= rel for grade in ranked[:3]) / 3

    found = goldrank.evaluate(QRELS, RUN, ["Early", "EarlyToo", "Early(rel=2)"])
    assert found.per_query["Early"] == found.per_query["EarlyToo"] == {"q1": 2 / 3, "q2": 1 / 3, "q3": 0.0}
    assert found.per_query["Early(rel=2)"] == {"q1": 1 / 3, "q2": 0.0, "q3": 0.0}


# A mapping over measures.


def test_scores_are_a_mapping(scores: Scores) -> None:
    assert list(scores) == ["RR", "P@2", "NumRet"]
    assert dict(scores) == scores.mean
    assert len(scores) == 3
    assert "RR" in scores
    assert "recip_rank" in scores
    assert "P@3" not in scores
    assert "no such measure" not in scores
    assert 0 not in scores
    assert scores.get("P@3") is None
    with pytest.raises(KeyError):
        scores["P@3"]


def test_loaded_scores_are_equal(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "s.json")
    assert Scores.load(tmp_path / "s.json") == scores
    assert scores != goldrank.evaluate(QRELS, RUN, ["RR", "P@2"])
    assert scores != goldrank.evaluate(QRELS, {**RUN, "q2": {"d5": 1.0}}, ["RR", "P@2", "NumRet"])
    assert scores != 3
    nan = goldrank.evaluate({**QRELS, "q4": {"d1": 0}}, RUN, "RR", empty="nan")
    assert math.isnan(nan["RR"])
    nan.save(tmp_path / "nan.json")
    assert Scores.load(tmp_path / "nan.json") == nan


def test_scores_pickle_and_copy(scores: Scores) -> None:
    for again in (pickle.loads(pickle.dumps(scores)), copy.copy(scores), copy.deepcopy(scores)):
        assert again == scores
        assert again.provenance == scores.provenance
        assert repr(again) == repr(scores)


def test_texts_pickle_too() -> None:
    texts = goldrank.evaluate_texts([{"retrieved": ["a"], "references": ["a"]}], "RR")
    assert pickle.loads(pickle.dumps(texts)) == texts
    assert copy.copy(texts).explain("1").degrees.size


def test_processes_hand_scores_over() -> None:
    """What joblib and multiprocessing do."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        handed = pool.submit(goldrank.evaluate, QRELS, RUN, ["RR", "P@2", "NumRet"]).result()
    assert handed == goldrank.evaluate(QRELS, RUN, ["RR", "P@2", "NumRet"])


def test_n_says_what_the_mean_is_made_of() -> None:
    qrels = {**QRELS, "q4": {"d1": 0}}  # nothing to find
    for empty, n in (("nan", 4), ("skip", 3), ("zero", 4), ("one", 4)):
        assert goldrank.evaluate(qrels, RUN, "RR", empty=empty).n == {"RR": n}


# What scores know of their queries.


def test_scores_know_what_was_returned_judged_and_relevant(scores: Scores, tmp_path: Path) -> None:
    """q1 returned d1 to d3, of which d1 and d3 are judged; q2 d4 and d5; q3 is not in the run."""
    scores.save(tmp_path / "s.json")
    for known in (scores, Scores.load(tmp_path / "s.json"), pickle.loads(pickle.dumps(scores)), copy.copy(scores)):
        facts = known.query_facts
        assert facts.returned is not None
        assert facts.judged is not None
        assert facts.relevant is not None
        assert facts.returned.tolist() == [len(RUN.get(query, {})) for query in scores.queries]
        assert facts.judged.tolist() == [len(RUN.get(q, {}).keys() & QRELS[q].keys()) for q in scores.queries]
        assert facts.relevant.tolist() == [sum(g >= 1 for g in QRELS[q].values()) for q in scores.queries]
        assert known.judgement_hashes == scores.judgement_hashes


def test_hashes_of_judgements_tell_which_queries_changed() -> None:
    changed = {**QRELS, "q1": {**QRELS["q1"], "d1": 2}}
    one, other = (goldrank.evaluate(qrels, RUN, "RR").judgement_hashes for qrels in (QRELS, changed))
    assert one is not None
    assert other is not None
    assert [query for query in one if one[query] != other[query]] == ["q1"]
    skipped = goldrank.evaluate(QRELS, RUN, "RR", missing="skip")
    assert skipped.judgement_hashes == one, "queries that were left out are judged too"
    assert len(skipped.query_facts.returned) == len(skipped.queries) == 2  # type: ignore[arg-type]


def test_what_scores_know_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_facts, "judgement_hashes", lambda qrels: pytest.fail("nobody asked"))
    fresh = goldrank.evaluate(QRELS, RUN, "RR")
    assert fresh.query_facts.returned is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.pop("judgements") and facts.update(judgements=3),
        lambda facts: facts.update(judgements={"q1": 3}),
        lambda facts: facts["returned"].append(1),
        lambda facts: facts["judged"].__setitem__(0, -1),
        lambda facts: facts["relevant"].__setitem__(0, 0.5),
        lambda facts: facts["returned"].__setitem__(0, True),
        lambda facts: facts.update(latency=["fast"] * 3),
    ],
)
def test_facts_that_cannot_be_are_refused(scores: Scores, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(scores.to_json())
    change(data["by_query"])
    with raises_code(InputError, "damaged-file"):
        Scores.from_dict(data)


def test_equal_scores_have_equal_digests(tmp_path: Path) -> None:
    scores = goldrank.evaluate(QRELS, RUN, ["RR", "P@2"])
    scores.save(tmp_path / "scores.json")
    assert goldrank.Scores.load(tmp_path / "scores.json").digest == scores.digest
    assert goldrank.evaluate(QRELS, RUN, "RR").digest != scores.digest
    assert goldrank.evaluate(QRELS, RUN, ["RR", "P@2"], convention="ranx", missing="zero").digest != scores.digest
