"""Who judged is kept by files that can say it, and a note says so where one cannot."""

from __future__ import annotations

import warnings

import pytest

from goldrank import Qrels, evaluate, io, read_qrels

BOTH = Qrels.joined({"q1": {"a": 1, "b": 0}, "q2": {"x": 2}}, {"q1": {"a": 3, "c": 2}, "q3": {"z": 1}})
MERGED = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 2}, "q3": {"z": 1}}


def plain(qrels):
    return {query: dict(qrels[query]) for query in qrels}


def codes(notes):
    return [note.code for note in notes]


@pytest.mark.parametrize(
    ("name", "model", "noted"),
    [
        (
            "x.qrels",
            {"q1": {"c": 2}, "q3": {"z": 1}},
            ["trec has one grade for a pair: 1 grades of the model for pairs that people judged were left out"],
        ),
        ("x.parquet", {"q1": {"a": 3, "c": 2}, "q3": {"z": 1}}, []),
        ("x.json", None, ["json cannot say who judged: 2 of 5 judgements are a model's, and not marked as such"]),
    ],
)
def test_written_and_read_again(tmp_path, name, model, noted):
    path = tmp_path / name
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        BOTH.save(path)
    assert [str(warning.message) for warning in warned] == noted
    found = read_qrels(path)
    assert plain(found) == MERGED
    if model is None:
        assert not found.judges
        return
    assert plain(found.judges["model"]) == model
    assert plain(found.judges["human"]) == {"q1": {"a": 1, "b": 0}, "q2": {"x": 2}}
    assert "who-judged" in codes(evaluate(found, {"q1": ["a"]}, "P@1").notes)


def test_other_tools_read_trec_files_as_before(tmp_path):
    path = tmp_path / "x.qrels"
    with pytest.warns(UserWarning, match="one grade for a pair"):
        BOTH.save(path)
    assert path.read_text() == "q1 0 a 1\nq1 0 b 0\nq1 model c 2\nq2 0 x 2\nq3 model z 1\n"
    Qrels(MERGED).save(path)
    assert " model " not in path.read_text()


def test_judgements_of_a_model_alone(tmp_path):
    for name in ("x.qrels", "x.parquet"):
        BOTH.judges["model"].save(tmp_path / name)
        assert not read_qrels(tmp_path / name).judges, "nothing says whose they are"
        Qrels.joined(None, BOTH.judges["model"]).save(tmp_path / name)
        assert set(read_qrels(tmp_path / name).judges) == {"model"}


FILES = {
    "x.jsonl": '{"query": "q", "doc": "d", "grade": 1, "judged_by": "model"}\n'
    '{"query": "q", "doc": "d", "grade": 2}\n{"query": "q", "doc": "e", "grade": 0, "judged_by": "human"}\n',
    "x.json": '[{"query": "q", "results": [{"doc": "d", "grade": 1, "judged_by": "model"}, {"doc": "d", "grade": 2},'
    ' {"doc": "e", "grade": 0}]}]',
    "x.csv": "query,doc,grade,judged_by\nq,d,1,model\nq,d,2,\nq,e,0,Human\n",
    "x.tsv": "query-id\tcorpus-id\tscore\tJudged By\nq\td\t1\tmodel\nq\td\t2\thuman\nq\te\t0\thuman\n",
    "x.qrels": "q model d 1\nq 0 d 2\nq Q0 e 0\n",
    "with comments.qrels": "# head\nq model  d 1\n\nq 0 d 2\nq Q0 e 0\n",
}


@pytest.mark.parametrize("name", FILES)
def test_both_grades_of_a_pair_are_read(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    found = read_qrels(tmp_path / name)
    assert plain(found) == {"q": {"d": 2, "e": 0}}
    assert plain(found.judges["model"]) == {"q": {"d": 1}}


def test_objects_and_frames():
    import polars as pl

    rows = [
        {"query": "q", "doc": "d", "grade": 1, "judged_by": "model"},
        {"query": "q", "doc": "d", "grade": 2, "judged_by": None},
    ]
    for given in (rows, iter(rows), pl.DataFrame(rows), pl.DataFrame(rows).to_pandas()):
        found = io.as_qrels(given)
        assert plain(found) == {"q": {"d": 2}}
        assert plain(found.judges["model"]) == {"q": {"d": 1}}


def test_parts_of_files_are_joined(tmp_path):
    (tmp_path / "part-1.csv").write_text("query,doc,grade,judged_by\nq,d,1,model\n")
    (tmp_path / "part-2.csv").write_text("query,doc,grade,judged_by\nq,d,2,human\nr,d,1,model\n")
    found = read_qrels(tmp_path / "part-*.csv")
    assert plain(found) == {"q": {"d": 2}, "r": {"d": 1}}
    assert plain(found.judges["model"]) == {"q": {"d": 1}, "r": {"d": 1}}


def test_ratings_are_cut_for_both(tmp_path):
    (tmp_path / "x.csv").write_text("query,doc,grade,judged_by\nq,d,5,model\nq,d,2,human\n")
    found = read_qrels(tmp_path / "x.csv", relevant_from=4)
    assert plain(found) == {"q": {"d": 0}}
    assert plain(found.judges["model"]) == {"q": {"d": 1}}


def test_one_judge_must_not_contradict_itself(tmp_path):
    (tmp_path / "x.qrels").write_text("q model d 1\nq 0 d 2\nq model d 3\n")
    with pytest.raises(ValueError, match="judged 3 here") as caught:
        read_qrels(tmp_path / "x.qrels")
    assert ":3" in str(caught.value)
    assert ":1" in str(caught.value)


def test_judges_with_other_names_are_counted(tmp_path):
    (tmp_path / "x.csv").write_text("query,doc,grade,judged_by\nq,d,1,gpt-4\nq,e,2,ann\n")
    found = read_qrels(tmp_path / "x.csv")
    assert not found.judges
    (note,) = [note for note in found.notes if note.code == "unknown-judges"]
    assert dict(note.facts)["count"] == 2


def test_a_word_in_another_field_is_no_judge(tmp_path):
    (tmp_path / "x.qrels").write_text("model 0 model 1\nq models d 1\nq Model e 1\n")
    assert not read_qrels(tmp_path / "x.qrels").judges
