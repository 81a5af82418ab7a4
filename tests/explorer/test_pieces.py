"""What each rank adds sums to the value, for every measure of documents; some by hand."""

import math

import numpy as np
import pytest
from lanes import many

from goldrank import io
from goldrank.conventions import Convention
from goldrank.evaluation import pipeline
from goldrank.explorer.live import has_pieces, single
from goldrank.explorer.sides import pieces
from goldrank.measures import REGISTRY, parse


def table(grades, ranking):
    rules = Convention(overlap="allow")
    placed = pipeline.place(io.as_qrels({"q": grades}), io.as_run({"q": ranking}), rules)
    return placed.placements


def test_ndcg_by_hand():
    # Ideal DCG = 2/log2(2) + 1/log2(3) = 2.6309. Grade 2 at rank 4: 2/log2(5); grade 1 at rank 3: 1/log2(4).
    ideal = 2 + 1 / math.log2(3)
    found, rest = pieces(parse("nDCG@10"), table({"a": 2, "b": 1}, ["x", "y", "b", "a"]))
    assert found == pytest.approx([0.5 / ideal, 2 / math.log2(5) / ideal], abs=1e-12)
    assert rest == pytest.approx(0, abs=1e-12)
    assert pieces(parse("nDCG@10"), table({"a": 2, "b": 1}, ["x"]).ideal)[0] == pytest.approx(
        [2 / ideal, 1 / math.log2(3) / ideal], abs=1e-12
    )


def test_ap_by_hand():
    # Relevant at ranks 2 and 3 of three: (1/2)/3 and (2/3)/3; the third was not returned.
    found, rest = pieces(parse("AP"), table({"a": 1, "b": 1, "c": 1}, ["x", "a", "b"]))
    assert found == pytest.approx([1 / 6, 2 / 9], abs=1e-12)
    assert rest == pytest.approx(0, abs=1e-12)


def test_the_deciding_rank_of_rr_has_it_all():
    found, _ = pieces(parse("RR"), table({"a": 1, "b": 1}, ["x", "a", "b"]))
    assert found.tolist() == [0.5, 0.0]


def test_nothing_judged_was_returned():
    found, rest = pieces(parse("nDCG@10"), table({"a": 1}, ["x", "y"]))
    assert (len(found), rest) == (0, 0.0)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_pieces_add_up(name):
    """For every declared measure of documents."""
    if name == "Sampled":
        pytest.skip("it takes rankings of one relevant item each")
    spelled = {"IPrec": "IPrec@0.5"}.get(name, f"{name}@7" if REGISTRY[name].cutoff == "needed" else name)
    try:
        measure = parse(spelled)
    except Exception:
        pytest.skip(f"{name} is not spelled like this")
    if not has_pieces(measure):
        pytest.skip("not about documents")
    rng = np.random.default_rng(5)
    for _ in range(many(40, 5)):
        size = int(rng.integers(1, 30))
        docs = [f"d{i}" for i in range(size)]
        chosen = [doc for doc in docs if rng.random() < 0.5] + ["never"]
        grades = {doc: int(rng.integers(0, 4)) for doc in chosen}
        p = table(grades, docs)
        assert p is not None
        one = single(p, 0)
        value = float(measure(one)[0])
        if math.isnan(value):
            continue
        found, rest = pieces(measure, one)
        assert abs(found.sum() + rest - value) < 1e-12 * max(1, abs(value))
