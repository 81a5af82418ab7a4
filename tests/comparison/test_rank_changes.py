"""What moved: ranks, causes, the queries to read first."""

import random

import pytest
from raising import raises_code

import goldrank
from goldrank import diff, read_run
from goldrank.base.errors import InputError, OptionError
from goldrank.comparison.rank_changes import CAUSES, locate
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.evaluation import pipeline


def one(before, after, judged, k=2):
    changes = diff({"q": judged}, {"q": before}, {"q": after}, "RR", k=k)
    return {document.doc: (document.before, document.after, document.cause) for document in changes["q"].documents}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["d", "n"], ["n", "m"], (1, None, "lost")),
        (["n", "m"], ["d", "n"], (None, 1, "found")),
        (["d", "n", "m"], ["n", "m", "d"], (1, 3, "pushed out")),
        (["d", "n", "m"], ["x", "y", "d"], (1, 3, "intruder")),
        (["d", "n", "m"], ["n", "x", "d"], (1, 3, "pushed out")),  # one judged, one not: not most of them
        (["d", "n"], ["n", "d"], (1, 2, "moved down")),
        (["n", "m", "d"], ["d", "n"], (3, 1, "pulled in")),
        (["n", "d"], ["d", "n"], (2, 1, "moved up")),
        (["d", "n"], ["d", "m"], (1, 1, "unchanged")),
        (["n"], ["m"], (None, None, "absent")),
    ],
)
def test_causes(before, after, expected):
    assert one(before, after, {"d": 1, "n": 0, "m": 0})["d"] == expected


def test_a_measure_is_not_explained_by_what_it_does_not_see():
    """P@2 falls because b is third now; c, which went from rank 5 out of the run, has nothing to do with it."""
    judged = {"a": 1, "b": 1, "c": 1, "n": 0}
    before, after = ["a", "b", "n", "x", "c"], ["a", "n", "b"]
    (change,) = diff({"q": judged}, {"q": before}, {"q": after}, "P@2").values()
    assert {d.doc: d.cause for d in change.documents if d.grade} == {
        "a": "unchanged", "b": "pushed out", "c": "out of reach"
    }  # fmt: skip
    assert change.cause == "pushed out"
    assert [d.doc for d in change.documents if d.grade][-1] == "c"
    # AP looks at the whole ranking: there c is lost.
    (change,) = diff({"q": judged}, {"q": before}, {"q": after}, "AP").values()
    assert {d.doc: d.cause for d in change.documents}["c"] == "lost"


@pytest.mark.parametrize("seed", range(20))
def test_what_falls_within_reach_explains_a_fall(seed):
    """A query's cause is that of a document that stands within the cut-off in one of the runs."""
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    judged = {doc: rng.choice((0, 1, 1)) for doc in rng.sample(docs, 8)} | {"missed": 1}
    before, after = (rng.sample(docs, rng.randint(4, 12)) for _ in range(2))
    (change,) = diff({"q": judged}, {"q": before}, {"q": after}, "nDCG@3").values()
    seen = {d.cause for d in change.documents if min(d.before or 99, d.after or 99) <= 3}
    assert change.cause in seen | {""}


def test_nonrelevant_documents_are_told_only_if_they_crossed_the_top():
    told = one(["d", "n", "x", "m"], ["d", "x", "n", "m"], {"d": 1, "n": 0, "m": 0})
    assert told["n"] == (2, 3, "intruder")
    assert "m" not in told


def test_pooled_but_unjudged_counts_as_unjudged():
    assert one(["d"], ["p", "d"], {"d": 1, "p": -1})["d"] == (1, 2, "intruder")


def test_ranks_are_those_of_the_run(data, tmp_path):
    qrels, runs = data
    Run(runs["dense"]).save(tmp_path / "run.txt")
    in_memory, from_file = Run(runs["dense"]), goldrank.read_run(tmp_path / "run.txt")
    ranks = locate([pipeline.place(Qrels(qrels), run, Convention()) for run in (in_memory, from_file)])
    assert (ranks.rank[0] == ranks.rank[1]).all()
    assert (ranks.unjudged[0] == ranks.unjudged[1]).all()
    for i, query in enumerate(ranks.queries):
        order = in_memory.ranking(query)
        for row in range(ranks.start[i], ranks.start[i + 1]):
            doc = ranks.docs[row]
            place = order.index(doc) + 1 if doc in order else 0
            above = order[: place - 1] if place else []
            assert ranks.rank[0, row] == place
            assert ranks.unjudged[0, row] == sum(other not in qrels[query] for other in above)
    assert 0 < (ranks.rank[0] > 0).sum() < len(ranks.docs)


def test_read_first_is_by_size_of_the_change():
    qrels = {q: {"d": 1} for q in "abc"}
    before = {"a": ["d"], "b": ["d"], "c": ["d"]}
    after = {"a": ["x", "d"], "b": ["x", "y", "z", "d"], "c": ["d"]}
    changes = diff(qrels, before, after, "RR")
    assert [(c.query, c.difference) for c in changes.read_first()] == [("b", -0.75), ("a", -0.5)]
    assert changes.causes == {"intruder": 2, "unchanged": 1}
    assert changes.difference == pytest.approx(-1.25 / 3)
    assert set(changes.causes) <= set(CAUSES)


def test_query_cause_is_that_of_most_documents():
    changes = diff({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "b", "c"]}, {"q": ["x", "a"]}, "AP")
    assert changes["q"].cause == "lost"


def test_bad_cut_off():
    with pytest.raises(OptionError, match="k is 0"):
        diff({"q": {"d": 1}}, {"q": ["d"]}, {"q": ["d"]}, k=0)


def test_other_forms():
    changes = diff({"q": {"d": 1}, "r": {"d": 1}}, {"q": ["d"], "r": ["d"]}, {"q": ["x", "d"], "r": ["d"]}, "RR")
    assert changes.to_pandas()["difference"].tolist() == [-0.5, 0.0]
    assert changes.to_polars()["cause"].to_list() == ["intruder", ""]
    assert repr(changes) == "Diff('before', 'after', 'RR', 2 queries)"
    assert "intruder</t" in changes._repr_html_()


def test_it_is_a_mapping_by_query():
    changes = diff({"q": {"d": 1}, "r": {"d": 1}}, {"q": ["d"], "r": ["d"]}, {"q": ["x", "d"], "r": ["d"]}, "RR")
    assert list(changes) == ["q", "r"]
    assert (changes["q"].before, changes["q"].after, changes["q"].difference) == (1.0, 0.5, -0.5)
    assert "p" not in changes
    assert changes == diff(
        {"q": {"d": 1}, "r": {"d": 1}}, {"q": ["d"], "r": ["d"]}, {"q": ["x", "d"], "r": ["d"]}, "RR"
    )
    assert "RR: -0.2500 from before to after; 0 queries better, 1 worse, 1 equal" in str(changes)


def test_runs_go_by_their_own_names(tmp_path):
    qrels = {"q": {"d": 1}}
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        Run({"q": {"d": 1.0}}).save(tmp_path / folder / "bm25.run")
    named = diff(qrels, Run({"q": {"d": 1.0}}, name="mine"), {"q": ["d"]}, "RR")
    assert (named.a, named.b) == ("mine", "after")
    paths = diff(qrels, tmp_path / "old" / "bm25.run", tmp_path / "new" / "bm25.run", "RR")
    assert (paths.a, paths.b) == ("old/bm25", "new/bm25")
    mixed = diff(qrels, tmp_path / "old" / "bm25.run", {"q": ["d"]}, "RR")
    assert (mixed.a, mixed.b) == ("bm25", "after")


@pytest.mark.parametrize("duplicates", ["error", "count", "places"])
def test_a_repeated_document_has_no_one_rank(duplicates):
    rows = [("q", "x", 3.0), ("q", "d", 2.0), ("q", "x", 1.0)]
    with raises_code(InputError, "duplicate-document", match=r"run\.drop_duplicates\(\)"):
        diff({"q": {"d": 1}}, {"q": ["d"]}, rows, "RR", convention=Convention(duplicates=duplicates))


def test_what_counts_of_a_repeated_document_may_be_said():
    """By first lines the ranking is x, d, by last ones d, x."""
    rows = [("q", "x", 3.0), ("q", "d", 2.0), ("q", "x", 1.0)]
    for keep, after in (("first", 0.5), ("last", 1.0)):
        chosen = diff({"q": {"d": 1}}, {"q": ["d"]}, rows, "RR", convention=Convention(duplicates=keep))
        dropped = diff({"q": {"d": 1}}, {"q": ["d"]}, read_run(rows).drop_duplicates(keep=keep), "RR")
        assert chosen["q"].after == dropped["q"].after == after


def test_other_names_of_arguments_are_told():
    with raises_code(OptionError, "unknown-argument", match="Run\\(results, name=...\\)"):
        diff({"q": {"d": 1}}, {"q": ["d"]}, {"q": ["d"]}, names=("a", "b"))
    with raises_code(OptionError, "unknown-argument", match="convention=Convention\\(missing=...\\)"):
        diff({"q": {"d": 1}}, {"q": ["d"]}, {"q": ["d"]}, missing="skip")
