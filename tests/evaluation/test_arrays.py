"""Arrays: the same scores as mappings, to the last bit, whatever library and shape they come in."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers import codes
from lanes import many
from raising import raises_code

from goldrank import Convention, GoldrankError, Scores, compare, evaluate, evaluate_arrays
from goldrank.base.errors import MeasureError, OptionError
from goldrank.data.scores import Remarks
from goldrank.io.objects.array_values import as_array
from goldrank.measures import REGISTRY

MEASURES = ["nDCG@10", "AP", "RR", "P@5", "R@3", "Bpref", "Judged@10", "RBP", "ERR@5", "Compat"]
TIED = ["nDCG@10", "AP", "RR", "P@5"]
EXAMPLES = many(60, 15)


def tables(grades: Any, scores: Any, mask: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows as mappings: a query by its row, a document by its column."""
    qrels: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for i, (row, values) in enumerate(zip(grades, scores, strict=True)):
        columns = [j for j in range(len(row)) if mask is None or mask[i][j]]
        qrels[str(i)] = {str(j): int(row[j]) for j in columns}
        run[str(i)] = {str(j): float(values[j]) for j in columns}
    return qrels, run


def without_padding(scores: Scores) -> Scores:
    notes = tuple(note for note in scores.notes if note.code != "padding")
    return replace(scores, remarks=Remarks(scores.counts, notes))


@pytest.mark.parametrize("ties", ["docid", "docid-ascending", "input", "expected", "bounds"])
def test_tables_are_mappings(ties):
    rng = np.random.default_rng(1)
    measures = MEASURES if ties not in ("expected", "bounds") else TIED
    rules = Convention(ties=ties, overlap="allow")
    for example in range(EXAMPLES):
        shape = rng.integers(1, 30), rng.integers(1, 25)
        grades = rng.integers(-1, 4, shape)
        scores = rng.integers(0, 5 if example % 2 else 10**6, shape).astype(
            [np.float64, np.float32, np.int32][example % 3]
        )
        mask = rng.random(shape) < 0.7 if example % 4 == 0 else None
        ours = evaluate_arrays(grades, scores, measures, mask=mask, convention=rules)
        theirs = evaluate(*tables(grades, scores, mask), measures, convention=rules)
        assert without_padding(ours) == theirs
        assert ours.provenance["run"] == theirs.provenance["run"]
        assert ours.provenance["qrels"] == theirs.provenance["qrels"]


def test_every_measure_of_documents():
    rng = np.random.default_rng(2)
    grades, scores = rng.integers(0, 3, (12, 9)), rng.random((12, 9)).round(1)
    cuts = {"none": "", "recall": "@0.5", "multiple": "@0.5"}
    asked = [name + cuts.get(one.cutoff, "@5") for name, one in REGISTRY.items()
             if one.over in ("placements", "heads") and name != "Sampled"]  # fmt: skip
    assert evaluate_arrays(grades, scores, asked) == evaluate(*tables(grades, scores), asked)


def test_groups_and_indexes_are_mappings():
    rng = np.random.default_rng(3)
    for _ in range(EXAMPLES):
        sizes = rng.integers(0, 40, rng.integers(2, 30))
        total = int(sizes.sum())
        if total in (0, len(sizes)):
            continue
        grades, scores = rng.integers(0, 4, total), rng.integers(0, 30, total) / 8
        ends = np.cumsum(sizes)
        rows = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        theirs = evaluate(*tables([grades[row] for row in rows], [scores[row] for row in rows]), MEASURES)
        assert evaluate_arrays(grades, scores, MEASURES, groups=sizes) == theirs
        ids = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(rng.random(total))
        rules = Convention(ties="input")
        ours = evaluate_arrays(grades[order], scores[order], MEASURES, indexes=ids[order], convention=rules)
        qrels: dict[str, Any] = {}
        run: dict[str, Any] = {}
        for i in order.tolist():
            docs = qrels.setdefault(str(ids[i]), {})
            run.setdefault(str(ids[i]), {})[str(len(docs))] = float(scores[i])
            docs[str(len(docs))] = int(grades[i])
        assert ours == evaluate(qrels, run, MEASURES, ties="input")


def test_ids_of_groups_may_be_text():
    scores = evaluate_arrays([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.4], "RR", groups=["b", "b", "a", "a"])
    assert scores.per_query["RR"] == {"a": 0.5, "b": 1.0}
    objects = np.array(["b", "a", "b", "a"], object)
    assert evaluate_arrays([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.4], "RR", indexes=objects)["RR"] == 1.0


def test_padding_in_flat_arrays():
    scores = evaluate_arrays([9, 1, 0, 1], [0.9, 0.1, 0.8, 0.4], "RR", groups=[2, 2], mask=[False, True, True, True])
    assert scores.per_query["RR"] == {"0": 1.0, "1": 0.5}
    assert codes(scores).count("padding") == 1


def test_scores_from_arrays_can_be_compared():
    rng = np.random.default_rng(4)
    grades = rng.integers(0, 2, (30, 8))
    good, bad = grades + rng.random((30, 8)), rng.random((30, 8))
    found = compare([evaluate_arrays(grades, s, "AP").renamed(n) for n, s in (("bad", bad), ("good", good))])
    assert found["AP", "bad", "good"].difference > 0


@pytest.mark.parametrize(
    ("argument", "meant"),
    [
        ("k", "'nDCG@5'"),
        ("group", "It is called groups=."),
        ("depth", "the measure's cut-off"),
        ("name", "scores.renamed(name)"),
        ("ties", "convention=Convention(ties=...)"),
        ("metric", "It is called measures=."),
    ],
)
def test_other_arguments_are_named(argument, meant):
    with raises_code(OptionError, "unknown-argument", match=re.escape(meant)):
        evaluate_arrays([[0, 1]], [[0.9, 0.8]], "P@1", **{argument: 3})


def test_flags_and_gains():
    assert evaluate_arrays(np.array([[True, False]]), [[0.1, 0.2]], "RR")["RR"] == 0.5
    assert evaluate_arrays(np.array([[1.0, 0.0]]), [[0.1, 0.2]], "RR") == evaluate_arrays([[1, 0]], [[0.1, 0.2]], "RR")
    gains = evaluate_arrays([[0.5, 2.0]], [[0.1, 0.2]], "DCG", real_grades=True)
    assert gains["DCG"] == pytest.approx(2 + 0.5 / math.log2(3))


NAN = math.nan
GOOD = ([[1, 0]], [[0.5, 0.2]])


@pytest.mark.parametrize(
    ("grades", "scores", "more"),
    [
        ([[1, 0]], [[0.5, NAN]], {}),
        ([[1, NAN]], [[0.5, 0.2]], {}),
        ([[1, 0.5]], [[0.5, 0.2]], {}),
        ([[1, math.inf]], [[0.5, 0.2]], {"real_grades": True}),
        ([[1, 10**9]], [[0.5, 0.2]], {}),
        ([[1, 0]], [[True, False]], {}),
        ([["a", "b"]], [[0.5, 0.2]], {}),
        ([[1, 0]], [["a", "b"]], {}),
        ([[1, None]], [[0.5, 0.2]], {}),
        ([[1], [0, 1]], [[1], [0, 1]], {}),
        ([[1, 0]], [[0.5]], {}),
        ([1, 0], [0.5, 0.2], {}),
        ([[[1]]], [[[0.5]]], {}),
        (1, 0.5, {}),
        ([], [], {}),
        (np.zeros((0, 3)), np.zeros((0, 3)), {}),
        (*GOOD, {"groups": [2]}),
        (*GOOD, {"mask": [[1, 0]]}),
        (*GOOD, {"mask": [True, False]}),
        ([1, 0], [0.5, 0.2], {"groups": [1, 1]}),
        ([1, 0], [0.5, 0.2], {"groups": [3]}),
        ([1, 0, 1], [0.5, 0.2, 0.1], {"groups": [-1, 4]}),
        ([1, 0], [0.5, 0.2], {"groups": [0.5, 1.5]}),
        ([1, 0], [0.5, 0.2], {"indexes": [1]}),
        ([1, 0], [0.5, 0.2], {"indexes": [0, 0], "groups": [2]}),
        ([1, 0], [0.5, 0.2], {"groups": [[1, 1]]}),
        (np.ma.array([[1, 0]], mask=[[0, 1]]), [[0.5, 0.2]], {}),
        ({"q": {"a": 1}}, {"q": {"a": 1}}, {}),
        ({1, 2}, {1, 2}, {}),
        (np.array([[1 + 2j]]), [[0.5]], {}),
    ],
)
def test_what_is_wrong_is_said(grades, scores, more):
    with pytest.raises(GoldrankError) as caught:
        evaluate_arrays(grades, scores, "RR", **more)
    assert caught.value.hint


def test_borders_of_groups_are_known_by_their_looks():
    with pytest.raises(GoldrankError, match="diff"):
        evaluate_arrays([1, 0, 1], [0.5, 0.2, 0.1], "RR", groups=[0, 2, 2, 3])


def test_a_wrong_entry_is_named_by_its_place():
    scores = np.ones((12, 3))
    scores[11, 2] = NAN
    with pytest.raises(GoldrankError) as caught:
        evaluate_arrays(np.ones((12, 3), int), scores, "RR")
    assert str(caught.value).startswith("scores: query 11, document 2: ")


def test_measures_of_items_take_tables():
    """The columns of a table are items, the places in a group are not."""
    scores = evaluate_arrays([[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]], "ItemCoverage@1")
    assert scores["ItemCoverage@1"] == 0.5
    with pytest.raises(MeasureError):
        evaluate_arrays([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.4], "ItemCoverage@1", groups=[2, 2])


# Other libraries.


def test_frames_and_series():
    import pandas
    import polars

    wanted = evaluate_arrays([1, 0, 1], [0.1, 0.5, 0.3], "AP", groups=[2, 1])
    for library in (pandas, polars):
        grades, scores, ids = (library.Series(v) for v in ([1, 0, 1], [0.1, 0.5, 0.3], [0, 0, 1]))
        assert evaluate_arrays(grades, scores, "AP", groups=ids) == wanted
        frame = library.DataFrame({"a": [1, 0], "b": [0, 1]})
        assert evaluate_arrays(frame, frame, "AP")["AP"] == 1.0
    with pytest.raises(GoldrankError):
        evaluate_arrays(polars.Series([1, None]), polars.Series([0.1, 0.2]), "AP", groups=[2])
    with pytest.raises(GoldrankError):
        evaluate_arrays(pandas.Series([1, None], dtype="Int64"), pandas.Series([0.1, 0.2]), "AP", groups=[2])


class Tensor:
    """What an array of another library shows by DLPack: here one of numpy's, on a device of one's choice."""

    def __init__(self, values: np.ndarray, device: int = 1) -> None:
        self.values, self.on = values, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.on, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)


def test_dlpack_shares_memory():
    values = np.array([[0.25, 0.5]])
    assert np.shares_memory(as_array(Tensor(values), "scores"), values)
    assert np.shares_memory(as_array(values, "scores"), values)
    with raises_code(GoldrankError, "other-device"):
        as_array(Tensor(values, 2), "scores")


def test_torch_itself():
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.1, 0.9, 0.4]], requires_grad=True)
    grades = torch.tensor([[1, 0, 1]])
    assert np.shares_memory(as_array(grades, "grades"), grades.numpy())
    assert evaluate_arrays(grades, scores, "AP") == evaluate_arrays([[1, 0, 1]], np.float32([[0.1, 0.9, 0.4]]), "AP")
    with pytest.raises(GoldrankError, match="float"):
        evaluate_arrays(grades, scores.bfloat16(), "AP")


def test_jax_itself():
    jax = pytest.importorskip("jax.numpy")
    assert evaluate_arrays(jax.array([[1, 0]]), jax.array([[0.1, 0.9]]), "RR")["RR"] == 0.5
