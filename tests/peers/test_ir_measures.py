"""goldrank.compat.ir_measures beside the real package: spelling, inputs, values, providers."""

from __future__ import annotations

import io
import math
import random

import pytest
from raising import raises_code

from goldrank import evaluate
from goldrank.base.errors import GoldrankError, MeasureError
from goldrank.compat import ir_measures as irm
from goldrank.compat.ir_measures import (
    AP,
    ERR,
    RBP,
    RR,
    Accuracy,
    IPrec,
    Metric,
    NumQ,
    NumRelRet,
    NumRet,
    P,
    Qrel,
    ScoredDoc,
    SetF,
    SetRelP,
    alpha_nDCG,
    nDCG,
)  # fmt: skip

QRELS = {"0": {"D1": 1, "D2": 1, "D3": 2, "D0": 0}, "1": {"D3": 2}}
RUN = {"0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4}}


@pytest.mark.parametrize(
    ("measure", "spelled"),
    [
        (nDCG @ 10, "nDCG@10"),
        (nDCG(dcg="exp-log2") @ 20, "nDCG(dcg='exp-log2')@20"),
        (nDCG(gains={1: 2, 0: 1}), "nDCG(gains={0:1,1:2})"),
        (P(rel=2) @ 5, "P(rel=2)@5"),
        (P(rel=1) @ 5, "P@5"),
        (IPrec(rel=2) @ 0.4, "IPrec(rel=2)@0.4"),
        (SetF(beta=2.0), "SetF(beta=2.0)"),
        (NumRelRet, "NumRet(rel=1)"),
        (SetRelP, "SetP(relative=True)"),
        (RBP(p=0.5, rel=1), "RBP(p=0.5,rel=1)"),
        (alpha_nDCG @ 5, "alpha_nDCG@5"),
    ],
)
def test_measures_are_spelled_and_parsed(measure, spelled):
    assert str(measure) == spelled
    assert irm.parse_measure(spelled) == measure == irm.parse_measure(measure)
    assert hash(irm.parse_measure(spelled)) == hash(measure)


def test_what_is_no_measure_is_refused():
    for text in ("P(5)", "P@", "P@5@5", "a; b", "1"):
        with pytest.raises(ValueError, match="problem parsing"):
            irm.parse_measure(text)
    with pytest.raises(NameError):
        irm.parse_measure("Nope@5")
    for measure in (P, P(x=1) @ 5, P @ 0.5, nDCG(dcg="nope")):
        with pytest.raises(MeasureError):
            irm.calc_aggregate([measure], QRELS, RUN)


def test_names_of_trec_eval():
    assert irm.parse_trec_measure("ndcg_cut.5,10") == [nDCG @ 5, nDCG @ 10] == irm.parse_trec_measure("ndcg_cut_5,10")
    assert irm.parse_trec_measure("set_F.1.0,0.5") == [SetF, SetF(beta=0.5)]
    assert irm.parse_trec_measure("num_rel_ret") == [NumRelRet]
    assert len(irm.parse_trec_measure("official")) == 28
    for name in ("Rndcg", "nope", "map.5"):
        with pytest.raises(ValueError, match=name.partition(".")[0]):
            irm.parse_trec_measure(name)


def forms(pandas):
    """The same judgements and results in every form that is taken."""
    judged = [Qrel(query, doc, grade) for query, docs in QRELS.items() for doc, grade in docs.items()]
    ranked = [ScoredDoc(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    text = "".join(f"{row.query_id} 0 {row.doc_id} {row.relevance}\n" for row in judged)
    lines = "".join(f"{row.query_id} Q0 {row.doc_id} 0 {row.score} t\n" for row in ranked)
    yield QRELS, RUN
    yield judged, ranked
    yield iter(judged), iter(ranked)
    yield pandas.DataFrame(judged), pandas.DataFrame(ranked)
    yield irm.read_trec_qrels(text), irm.read_trec_run(lines)
    yield irm.read_trec_qrels(io.StringIO(text)), irm.read_trec_run(io.StringIO(lines))
    yield list(irm.read_trec_qrels(text)), list(irm.read_trec_run(lines))


def test_every_form_of_input_gives_the_same():
    pandas = pytest.importorskip("pandas")
    measures = [AP, nDCG @ 3, NumQ, alpha_nDCG @ 3]
    found = [irm.calc(measures, qrels, run) for qrels, run in forms(pandas)]
    assert len(found) == 7
    assert all(each == found[0] for each in found)
    # Query 0: the relevant ones are at ranks 2, 3, 4 of D0 D2 D3 D1; query 1 is missing and counts.
    assert found[0].aggregated[AP] == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3 / 2)
    assert found[0].aggregated[NumQ] == 2


def test_an_evaluator_can_be_used_again():
    evaluator = irm.evaluator([P @ 2, RR], iter([Qrel("0", "D1", 1)]))
    for run in (RUN, {"0": {"D1": 1.0}}, {}):
        assert evaluator.calc_aggregate(run) == irm.calc_aggregate([P @ 2, RR], {"0": {"D1": 1}}, run)
    assert set(evaluator.iter_calc({})) == {Metric("0", P @ 2, 0.0), Metric("0", RR, 0.0)}


def test_nothing_is_no_error():
    assert list(irm.iter_calc([P @ 5], [], RUN)) == []
    assert math.isnan(irm.calc_aggregate([P @ 5], {}, RUN)[P @ 5])
    assert irm.calc_aggregate([NumRet], [], [])[NumRet] == 0
    assert set(irm.iter_calc([P @ 5], QRELS, [])) == {Metric("0", P @ 5, 0.0), Metric("1", P @ 5, 0.0)}


def test_accuracy_leaves_out_queries_without_a_relevant_result():
    found = list(irm.iter_calc([Accuracy], QRELS, RUN))
    assert found == [Metric("0", Accuracy, 0.0)]  # the one document that is not relevant stands above all others
    assert irm.calc_aggregate([Accuracy], QRELS, RUN) == {Accuracy: 0.0}


def test_providers_by_name_keep_their_rules():
    tied = {"0": {"D1": 1.0, "D9": 1.0}}
    assert irm.msmarco.calc_aggregate([RR @ 5], {"0": {"D1": 1}}, tied)[RR @ 5] == 1.0  # ties by id, ascending
    assert irm.pytrec_eval.calc_aggregate([RR], {"0": {"D1": 1}}, tied)[RR] == 0.5
    assert irm.calc_aggregate([RR, RR @ 5], {"0": {"D1": 1}}, tied) == {RR: 0.5, RR @ 5: 0.5}
    # One of two relevant documents found at rank 2: AP over what was found.
    half = {"0": {"x": 2.0, "D1": 1.0}}
    assert irm.cwl_eval.calc_aggregate([AP], {"0": {"D1": 1, "D2": 1}}, half)[AP] == 0.5
    assert irm.gdeval.calc_aggregate([ERR @ 5], {"0": {"D1": 1}}, half)[ERR @ 5] == 0.03125  # 1/16 at rank 2
    third = {"0": {"x": 3.0, "y": 2.0, "D1": 1.0}}
    assert irm.gdeval.calc_aggregate([ERR @ 5], {"0": {"D1": 1}}, third)[ERR @ 5] == 0.02083  # five decimals of 1/48
    assert not irm.pytrec_eval.supports(RR @ 5)
    assert irm.msmarco.supports(RR @ 5)
    with raises_code(GoldrankError, "unsupported-measure"):
        irm.judged.calc([AP], QRELS, RUN)


def test_functions_of_frames():
    pytest.importorskip("pandas")

    def share(qrels, run):
        return run.doc_id.isin(qrels.doc_id).sum() / len(run)

    mine = irm.define_byquery(share)
    assert str(mine @ 2) == "share@2"
    # Of D0 and D2, which are first, both are judged.
    assert next(irm.iter_calc([mine @ 2, AP], QRELS, RUN)) == Metric("0", mine @ 2, 1.0)
    assert irm.calc_aggregate([mine, P @ 1], QRELS, RUN) == {mine: 0.5, P @ 1: 0.0}
    with raises_code(MeasureError, "needs-data-frames"):
        evaluate(QRELS, RUN, mine)


# The real package.

TREC = [
    "P@5", "P(rel=2)@3", "RR", "Rprec", "AP", "AP(rel=2)@10", "nDCG", "nDCG@10", "nDCG(gains={1:3,2:5})@5",
    "nDCG(judged_only=True)@5", "R@5", "R(rel=2)@5", "Bpref", "Bpref(rel=2)", "NumRet", "NumRet(rel=1)",
    "NumRet(rel=2)", "SetAP", "SetF", "SetF(beta=2.0)", "SetP", "SetP(relative=True)", "SetP(judged_only=True)", "SetR",
    "Success@1", "Success(rel=2)@3", "IPrec@0.1", "IPrec@0.5", "infAP", "RR(judged_only=True)",
]  # fmt: skip
OTHERS = [
    "RR@3", "RBP(p=0.8,rel=1)", "BPM(max_rel=3)@10", "SDCG(max_rel=3)@10", "NERR8(max_rel=3)@10",
    "NERR9(max_rel=3)@10", "NERR10(max_rel=3)", "NERR11(max_rel=3)", "INST(max_rel=3)", "INSQ(max_rel=3)", "Compat",
    "Compat(p=0.8,normalize=False)", "Judged@5", "Judged",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(16))
def test_equal_to_the_real_package(seed):
    """trec_eval's measures to the last bit, tied or not; others to 1e-12, and without ties."""
    real = pytest.importorskip("ir_measures")
    pytest.importorskip("cwl")
    rng = random.Random(seed)
    names = TREC if seed % 2 else OTHERS
    docs = [f"d{i}" for i in range(30)]
    qrels = {f"q{i}": {doc: rng.choice([0, 0, 1, 1, 2, 3]) for doc in rng.sample(docs, 14)} for i in range(6)}
    run = {
        query: {doc: float(rng.randint(0, 6)) if seed % 4 == 1 else rng.random() for doc in rng.sample(docs, 16)}
        for query in list(qrels)[: rng.randint(3, 6)]
    }
    # Beside an nDCG with gains, ir_measures may measure others with those gains too, and NumRet with the grade that
    # NumRet(rel=...) takes, as its sets happen to be ordered: each of these is measured alone.
    alone = [name for name in names if "gains" in name or name.startswith("NumRet")]
    apart = [*([name] for name in alone), [name for name in names if name not in alone]]
    theirs = [real.calc(list(map(real.parse_measure, each)), qrels, run) for each in apart]
    found = irm.calc(list(map(irm.parse_measure, names)), qrels, run)
    values = {(metric.query_id, str(metric.measure)): metric.value for metric in found.per_query}
    expected = {(metric.query_id, str(metric.measure)): metric.value for each in theirs for metric in each.per_query}
    assert values == (expected if seed % 2 else pytest.approx(expected, abs=1e-12))
    means = {str(measure): value for measure, value in found.aggregated.items()}
    their_means = {str(measure): value for each in theirs for measure, value in each.aggregated.items()}
    assert means == pytest.approx(their_means, abs=1e-12)


def test_diversity_is_equal_to_the_real_package():
    real = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    rng = random.Random(7)
    names = ["ERR_IA@10", "nERR_IA@10", "alpha_DCG@10", "alpha_nDCG@10", "NRBP", "AP_IA", "P_IA@5", "StRecall@5"]
    docs = [f"d{i}" for i in range(20)]
    judged = [
        (f"q{i}", doc, rng.choice([0, 1, 2]), str(part))
        for i in range(5)
        for part in range(3)
        for doc in rng.sample(docs, 6)
    ]
    ranked = [(f"q{i}", doc, rng.random()) for i in range(5) for doc in rng.sample(docs, 12)]
    theirs = real.calc_aggregate(
        list(map(real.parse_measure, names)), [real.Qrel(*row) for row in judged], [real.ScoredDoc(*r) for r in ranked]
    )
    found = irm.calc_aggregate(
        list(map(irm.parse_measure, names)), [Qrel(*row) for row in judged], [ScoredDoc(*row) for row in ranked]
    )
    assert {str(key): value for key, value in found.items()} == pytest.approx(
        {str(key): value for key, value in theirs.items()}, abs=1e-9
    )


def test_evaluate_takes_the_real_packages_measures():
    real = pytest.importorskip("ir_measures")
    asked = [real.nDCG @ 10, real.SetF(beta=2.0), real.NumRet(rel=1), real.RBP(rel=1)]
    scores = evaluate(QRELS, RUN, asked)
    theirs = real.calc_aggregate(asked[:3], QRELS, RUN)
    assert [scores[measure] for measure in asked[:3]] == pytest.approx([theirs[measure] for measure in asked[:3]])
    assert scores.measures == ("nDCG@10", "SetF(weight=2)", "NumRelRet", "RBP(p=0.8, rel=1)")


def test_goldrank_is_a_provider_of_the_real_package(monkeypatch):
    real = pytest.importorskip("ir_measures")
    from goldrank.compat import ir_measures_provider

    monkeypatch.setattr(real.DefaultPipeline, "providers", list(real.DefaultPipeline.providers))
    before = real.calc_aggregate([real.nDCG @ 10, real.P @ 5], QRELS, RUN)
    provider = ir_measures_provider.register()
    try:
        assert real.providers.registry["goldrank"] is provider is real.goldrank is ir_measures_provider.register()
        assert provider not in real.DefaultPipeline.providers
        assert provider.calc_aggregate([real.nDCG @ 10, real.P @ 5], QRELS, RUN) == before
        assert provider.supports(real.RR @ 5)
        assert not provider.supports(real.define_byquery(lambda qrels, run: 0.0, name="mine"))
        ir_measures_provider.register(first=True)
        tied = {"0": {"D1": 1.0, "D9": 1.0}}
        found = list(real.iter_calc([real.RR @ 5], {"0": {"D1": 1}}, tied))
        assert found == [real.Metric("0", real.RR @ 5, 0.5)]  # by one rule of ties
    finally:
        del real.providers.registry["goldrank"], real.goldrank
