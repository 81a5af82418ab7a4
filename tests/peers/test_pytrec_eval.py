"""goldrank.compat.pytrec_eval beside the real package: keys, order and every value to the last bit."""

from __future__ import annotations

import io
import math
import random

import pytest
from raising import raises_code

from goldrank.base.errors import InputError, MeasureError
from goldrank.compat import pytrec_eval as ours

QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 2}, "q2": {"d2": 1, "d3": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 0.5, "d3": 0.2}, "q2": {}}


def measured(measures, run=RUN, **options):
    return ours.RelevanceEvaluator(QRELS, measures, **options).evaluate(run)


def test_values_worked_out_by_hand():
    found = measured({"map", "P.2", "ndcg_cut.2", "recip_rank", "num_rel", "gm_map"})
    # Ranks 2 and 3 are relevant: AP = (1/2 + 2/3) / 2; DCG@2 = 1 / log2(3), ideal 2 + 1 / log2(3).
    discount = math.log2(3)
    assert found["q1"] == pytest.approx(
        {"num_rel": 2, "map": 7 / 12, "gm_map": math.log(7 / 12), "recip_rank": 0.5, "P_2": 0.5,
         "ndcg_cut_2": (1 / discount) / (2 + 1 / discount)}
    )  # fmt: skip
    assert found["q2"] == {**dict.fromkeys(found["q1"], 0.0), "num_rel": 2, "gm_map": math.log(0.00001)}


def test_parameters_add_up_and_keys_are_pytrec_evals():
    asked = ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "set_F.0.5", "success", "iprec_at_recall_0.5", "relstring.3"]
    assert list(measured(asked)["q1"]) == [
        "iprec_at_recall_0.50", "relstring", "ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_20", "success_1", "success_5",
        "success_10", "set_F",
    ]  # fmt: skip


def test_the_lowest_relevant_grade_and_judged_documents_only():
    assert measured({"map"}, relevance_level=2)["q1"] == {"map": pytest.approx(1 / 3)}
    run = {"q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    assert measured({"map"}, run)["q2"] == {"map": pytest.approx((1 / 2 + 2 / 3) / 2)}
    assert measured({"map"}, run, judged_docs_only_flag=True)["q2"] == {"map": 1.0}


def test_nothing_is_no_error():
    evaluator = ours.RelevanceEvaluator
    assert evaluator(QRELS, {"map"}).evaluate({}) == {}
    assert evaluator(QRELS, set()).evaluate(RUN) == {"q1": {}, "q2": {}}
    assert evaluator({}, {"map"}).evaluate(RUN) == {}
    assert evaluator({"q1": {}}, {"map"}).evaluate(RUN) == {}
    assert evaluator(QRELS, {"map"}).evaluate({"other": {"d": 1.0}}) == {}


@pytest.mark.parametrize("name", ["foo", "map.5", "prefs", "P_5abc", "P_0", "set_F."])
def test_measures_that_it_has_not_are_refused(name):
    with pytest.raises(ValueError, match=r"."):
        measured({name})


def test_two_wishes_for_one_key_are_refused():
    with raises_code(MeasureError, "asked-twice"):
        measured(["set_F.0.5", "set_F.2"])


def test_ids_of_two_kinds_are_refused():
    with raises_code(InputError, "different-id-types"):
        ours.RelevanceEvaluator({1: {2: 1}}, {"map"}).evaluate({"1": {"2": 1.0}})


def test_lines_are_parsed():
    run = ours.parse_run(io.StringIO("q1 Q0 d1 1 2.5 t\nq1\tQ0 d2 2 1e-3 t"))
    assert run == {"q1": {"d1": 2.5, "d2": 0.001}}
    assert run["nothing"] == {}
    assert ours.parse_qrel(["q1 0 d1 1\n", "q1 0 d2 -1"]) == {"q1": {"d1": 1, "d2": -1}}
    with raises_code(InputError, "contradicting-judgements"):
        ours.parse_qrel(["q1 0 d1 1", "q1 0 d1 2"])


def test_summaries():
    assert ours.compute_aggregated_measure("num_ret", [1, 2, 4]) == 7
    assert ours.compute_aggregated_measure("map", [0.5, 1.0]) == 0.75
    assert ours.compute_aggregated_measure("gm_map", [math.log(0.5), math.log(0.125)]) == pytest.approx(0.25)


def test_the_newer_rules_can_be_asked_for():
    """Of three relevant documents, 0.4 of recall is one for trec_eval 10 and two for trec_eval 9."""
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    for convention, value in (("trec_eval-9", 2 / 3), ("trec_eval-10", 1.0)):
        evaluator = ours.RelevanceEvaluator(qrels, {"iprec_at_recall.0.4"}, convention=convention)
        assert evaluator.evaluate(run) == {"q": {"iprec_at_recall_0.40": pytest.approx(value)}}


MEASURES = [
    {"all_trec"}, {"official", "set"}, {"ndcg_cut.3,7", "P_1", "map", "set_F.0.25"},
    {"iprec_at_recall_0.15,0.5", "gm_map", "success"},
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_equal_to_the_real_package(seed):
    """Every value, and the order of keys. With -J, 0/0 is nan there and 0 here; queries that crash it are left out."""
    real = pytest.importorskip("pytrec_eval")
    rng = random.Random(seed)
    for _ in range(5):
        docs = [f"d{i}" for i in range(rng.randint(1, 40))]
        grades = [0, 0, 1, 1, 2, 3] + ([-1, -2] if seed % 4 == 0 else [])
        qrels = {f"q{i}": {doc: rng.choice(grades) for doc in docs if rng.random() < 0.5} for i in range(6)}
        qrels = {query: judged for query, judged in qrels.items() if max(judged.values(), default=-1) >= 0}
        near = [lambda: float(rng.randint(0, 5)), rng.random, lambda: 1 + rng.random() * 1e-9]
        run = {query: {doc: rng.choice(near)() for doc in [*docs, "x"] if rng.random() < 0.6} for query in qrels}
        run = {query: results for query, results in run.items() if results}
        if not run:
            continue
        asked = rng.choice(MEASURES)
        options = {"relevance_level": rng.choice([1, 1, 2]), "judged_docs_only_flag": rng.random() < 0.3}
        theirs = real.RelevanceEvaluator(qrels, asked, **options).evaluate(run)
        found = ours.RelevanceEvaluator(qrels, asked, **options).evaluate(run)
        assert set(found) == set(theirs)
        for query, values in theirs.items():
            assert list(found[query]) == list(values)
            assert found[query] == {
                name: 0.0 if math.isnan(value) and options["judged_docs_only_flag"] else value
                for name, value in values.items()
            }


def test_names_are_those_of_the_real_package():
    real = pytest.importorskip("pytrec_eval")
    assert real.supported_measures <= ours.supported_measures
    assert {name: set(names) for name, names in real.supported_nicknames.items()} == ours.supported_nicknames


@pytest.mark.parametrize("name", ["prefs", "all_prefs", "qrels_jg", "prefs_simp", "map_avgjg"])
def test_what_takes_other_judgements_is_not_proposed_again(name):
    with raises_code(MeasureError, "unsupported-measure") as caught:
        measured({name})
    assert "Did you mean" not in str(caught.value)
    assert "-R" in str(caught.value)


@pytest.mark.parametrize(("name", "hint"), [("prefs_sim", ""), ("offical", "Did you mean official?")])
def test_only_what_is_supported_is_proposed(name, hint):
    with pytest.raises(MeasureError) as caught:
        measured({name})
    assert hint in str(caught.value)
    assert "Did you mean prefs" not in str(caught.value)
