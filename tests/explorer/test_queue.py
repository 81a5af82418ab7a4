"""The queue of runs that are deeper than what is kept of them, and bounds that are looked up."""

import pytest

from goldrank import io
from goldrank.conventions import Convention
from goldrank.explorer.first_documents import DEPTH
from goldrank.explorer.session import Session
from goldrank.measures import parse
from goldrank.measures.unjudged_share import unjudged_bounds


def deep_session(measure, depth=300, queries=4):
    """Two runs of which B has the second half of A's documents first; one document of each query is judged."""
    names = [f"q{i}" for i in range(queries)]
    docs = [f"d{i:03}" for i in range(depth)]
    moved = docs[depth // 2 :] + docs[: depth // 2]
    runs = {"a": docs, "b": moved}
    found = [
        io.as_run({q: {doc: float(-i) for i, doc in enumerate(order)} for q in names}).renamed(name)
        for name, order in runs.items()
    ]
    return Session("", io.as_qrels({q: {"d005": 1} for q in names}), found, Convention(), [measure])


@pytest.mark.parametrize("measure", ["AP", "RR", "nDCG", "AP@10"])
def test_the_queue_has_the_first_documents_of_deep_runs(measure):
    session = deep_session(measure)
    queue = session.queue_all(session.view())
    assert len(queue) > 20
    assert {one.query for one in queue} == set(session.queries)
    heads = {doc for system in session.systems for doc in system.top_documents.docs(0, DEPTH)}
    assert {one.doc for one in queue} <= heads - {"d005"}


def test_what_moves_most_comes_first():
    session = deep_session("AP", queries=1)
    first = session.queue_all(session.view())[0]
    # At rank 1 of B alone, above all else: B gains 1/1 of two relevant documents, A nothing.
    assert (first.doc, first.after) in [("d150", 1), ("d000", None)]


def test_bounds_of_a_query_are_those_of_all():
    session = deep_session("nDCG@10")
    measure, system = parse("nDCG@10"), session.systems[1]
    alone = system.query_bounds(measure, "q1")
    system.bounds(measure)
    (low,), (high,) = unjudged_bounds(measure, system.table("q1").per_label)
    assert system.query_bounds(measure, "q1") == alone == (float(low), float(high))
