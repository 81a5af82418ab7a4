"""Parameters that are wrong: each is refused with the reason, and a suggestion where a word is mistyped."""

from __future__ import annotations

import io
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import DATA, QRELS, RUN, SOUND, only_ours
from raising import raises_code

from goldrank import GoldrankError, evaluate, read_qrels, read_run
from goldrank.measures import parse

QRELS_FILE, RUN_FILE = DATA / "hostile" / "00.q", DATA / "hostile" / "00.r"
SMALL: tuple[dict[str, dict[str, int]], dict[str, list[str]]] = ({"q": {"a": 2, "b": 1}}, {"q": ["a", "b"]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # 82 to 85: cut-offs.
        ("P@0", "P@0: a cut-off is from 1 to"),
        ("P_0", "P@0: a cut-off is from 1 to"),
        ("nDCG@-1", "a cut-off is from 1 to"),
        ("P@1.5", "P@1.5: a cut-off is a whole number"),
        ("P_1.5", "a cut-off is a whole number"),
        ("P@10abc", "unknown measure 'P@10abc'"),
        ("P@1e3", "a cut-off is a whole number"),
        ("P@100000000000000000000", "a cut-off is from 1 to"),
        ("P@1e20", "a cut-off is a whole number"),
        ("P@True", "a cut-off is a whole number"),
        ("P@'10'", "a cut-off is a whole number"),
        ("P@nan", "plain values"),
        ("P@10@20", "unknown measure"),
        ("P@" + "9" * 5000, "unknown measure"),
        ("P", "P needs a cut-off"),
        ("NumQ@5", "NumQ takes no cut-off"),
        ("IPrec@2", "recall level is a number from 0 to 1"),
        # 86: relevance levels.
        ("P(rel='x')@5", "P: rel is 'x'; it must be a number"),
        ("P(rel=1e30)@5", "P: rel is 1e+30; it must be a number"),
        ("P(rel=None)@5", "it must be a number"),
        ("P(2)@5", "options are given by name"),
        ("P(**{})@5", "options are given by name"),
        ("P(level=2)@5", "P has no option 'level'"),
        ("P(rell=2)@5", "Did you mean rel?"),
        ("P(rel=2, rel=3)@5", "option 'rel' is given twice"),
        # 87: names.
        ("nDGC@10", "Did you mean nDCG@10?"),
        ("ndgc_cut_10", "Did you mean nDCG"),
        ("Precison@5", "Did you mean P@5?"),
        ("recal@5", "Did you mean R@5?"),
        ("zzzzzz", "See `goldrank measures`"),
        ("", "unknown measure ''"),
        ("@10", "unknown measure"),
        ("nDCG(", "unknown measure"),
        ("nDCG\0@10", "unknown measure"),
        # 88: gains.
        ("nDCG(gain='cubic')@10", "gain is 'cubic'; it must be one of"),
        ("nDCG(gain={'a': 1})@10", "gain is"),
        ("nDCG(gain={1: 'x'})@10", "gain is"),
        # 99: no code runs.
        ("__import__('os').system('true')", "options are given by name"),
        ("P@5;import os", "unknown measure"),
        ("P(rel=__import__('os'))@5", "plain values"),
        ("(lambda: 0)()", "unknown measure"),
        ("P(rel=" + "(" * 3000 + ")" * 3000 + ")@5", ""),
        ("P(rel=" + "-" * 100_000 + "1)@5", ""),
    ],
    ids=lambda value: value[:30],
)  # fmt: skip
def test_measure_that_is_none(text: str, words: str) -> None:
    with pytest.raises(GoldrankError) as caught:
        evaluate(*SMALL, text)
    assert words in str(caught.value)


@pytest.mark.parametrize("given", [5, None, b"P@5", 1.5, ["P@5"], object()], ids=lambda value: type(value).__name__)
def test_measure_that_is_no_text(given: Any) -> None:
    with raises_code(GoldrankError, "wrong-type"):
        evaluate(*SMALL, [given])


def test_no_measures() -> None:
    with raises_code(GoldrankError, "no-measures"):
        evaluate(*SMALL, [])


def test_trec_eval_spelling_with_the_plain_name() -> None:
    """Row 83: `ndcg_10` is a mistyped `ndcg_cut_10`, and means the same."""
    assert parse("ndcg_10") == parse("ndcg_cut_10") == parse("nDCG@10")


def test_extreme_relevance_levels() -> None:
    """Row 86: no level reads past anything."""
    assert evaluate(*SMALL, "P(rel=-1)@2")["P(rel=-1)@2"] == 1
    assert evaluate(*SMALL, "P(rel=1000000000)@2")["P(rel=1000000000)@2"] == 0
    with pytest.raises(GoldrankError, match="rel is 2147483647"):
        evaluate(*SMALL, "P(rel=2147483647)@2")


@pytest.mark.parametrize("gain", [{1: 0.5, 2: 0.9}, {1: 0.25, 2: 1}, {1: 1.5, 2: 1.9}, {1: 1e-9, 2: 2e-9}])
def test_small_gains(gain: dict[int, float]) -> None:
    """Row 88: a perfect ranking is 1, whatever the gains; the worst one is below."""
    name = f"nDCG(gain={gain})"
    assert evaluate(*SMALL, name)[name] == pytest.approx(1, abs=1e-12)
    swapped = (gain[1] + gain[2] / math.log2(3)) / (gain[2] + gain[1] / math.log2(3))
    assert evaluate(SMALL[0], {"q": ["b", "a"]}, name)[name] == pytest.approx(swapped, abs=1e-12)


def test_nothing_judged_is_left() -> None:
    """Row 89: condensed lists without any judged document are empty rankings, not NaN."""
    names = ["IPrec(judged_only=True)@0.5", "AP(judged_only=True)", "nDCG(judged_only=True)@5", "P(judged_only=True)@5"]
    scores = evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["x", "y"], "r": ["b"]}, names)
    for name in names:
        assert scores.per_query[name]["q"] == 0, name
        assert not math.isnan(scores[name])


@pytest.mark.parametrize("policy", ["ties", "score_type", "duplicates", "judgements", "missing", "empty", "overlap"])
@pytest.mark.parametrize("value", ["x", 5, ["error"], ""])
def test_policy_value(policy: str, value: Any) -> None:
    with raises_code(GoldrankError, "unknown-choice", match=f"^{policy} is "):
        evaluate(*SMALL, **{policy: value})


def test_mistyped_policy() -> None:
    with pytest.raises(GoldrankError, match=r"(?s)duplicates is 'frist'.*Did you mean first\?"):
        evaluate(*SMALL, duplicates="frist")
    with pytest.raises(GoldrankError, match=r"(?s)evaluate has no argument 'mising'.*Did you mean missing\?"):
        evaluate(*SMALL, mising="skip")


@pytest.mark.parametrize("value", ["trec_eval", "trec_eval-11", 5, None, "", "TREC_EVAL-9"])
def test_convention(value: Any) -> None:
    with raises_code(GoldrankError, "unknown-choice", match="convention is .*trec_eval-10"):
        evaluate(*SMALL, convention=value)


@pytest.mark.parametrize("value", ["excel", "TREC", 5, "", "qrels"])
def test_format(value: Any, tmp_path: Path) -> None:
    with raises_code(GoldrankError, "unknown-choice", match=r"format is .*\btrec"):
        read_run(RUN_FILE, format=value)
    with raises_code(GoldrankError, "unknown-choice", match=r"format is .*\btrec"):
        read_qrels(QRELS_FILE, format=value)
    if value:
        with raises_code(GoldrankError, "unknown-choice", match=r"format is .*\btrec"):
            read_run(RUN_FILE).save(tmp_path / "run", format=value)
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("format", ["json", "jsonl", "parquet", "arrow", "table", "csv", "tsv", "msmarco"])
def test_wrong_format(format: str) -> None:
    assert only_ours(lambda: evaluate(QRELS_FILE, read_run(RUN_FILE, format=format))) is None
    if format != "msmarco":
        assert only_ours(lambda: read_qrels(QRELS_FILE, format=format)) is None


def test_policies_of_readers() -> None:
    with raises_code(GoldrankError, "unknown-argument", match=r"run\.drop_duplicates\(\)"):
        read_run(RUN_FILE, duplicates="first")
    with pytest.raises(GoldrankError, match="judgements is 'x'"):
        read_qrels(QRELS_FILE, judgements="x")
    with raises_code(GoldrankError, "not-a-beir-folder"):
        read_qrels(QRELS_FILE, split="test")


# 90 and 91: scale, at sizes that a test can afford.


def test_many_queries() -> None:
    """Row 90: 20,000 queries of one document; every third one is right."""
    qrels = {f"q{i}": {"a": 1} for i in range(20_000)}
    run = {f"q{i}": {"a" if i % 3 == 0 else "b": 1.0} for i in range(20_000)}
    assert evaluate(qrels, run, "AP")["AP"] == pytest.approx(6_667 / 20_000, abs=1e-12)
    text = "".join(f"{q} Q0 {d} 1 1.0 r\n" for q, row in run.items() for d in row).encode()
    assert evaluate(qrels, io.BytesIO(text), "AP")["AP"] == pytest.approx(6_667 / 20_000, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("score", ["distinct", "one"])
def test_many_documents(score: str) -> None:
    """Row 91: 200,000 documents in one query, every fourth one judged; the even ones of them are relevant."""
    size, step = 200_000, 4
    docs = [f"d{i:06}" for i in range(size)]
    qrels = {"q": {doc: (i // step) % 2 for i, doc in enumerate(docs) if i % step == 0}}
    # With one score for all, ids descend: the document of index i has rank size - i in both cases.
    scores = np.arange(size) if score == "distinct" else np.ones(size)
    run = {"q": dict(zip(docs, scores.tolist(), strict=True))}
    ranks = sorted(size - i for i in range(0, size, step) if (i // step) % 2)
    expected = math.fsum((n + 1) / rank for n, rank in enumerate(ranks)) / len(ranks)
    assert evaluate(qrels, run, "AP")["AP"] == pytest.approx(expected, rel=1e-12)
    text = "".join(f"q Q0 {doc} 0 {value} r\n" for doc, value in run["q"].items()).encode()
    assert evaluate(qrels, io.BytesIO(text), "AP")["AP"] == pytest.approx(expected, rel=1e-12)


# 99 and 100: no code runs from data.


class Trap:
    """Unpickling it would raise."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('code from data was run')",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_not_loaded(protocol: int, tmp_path: Path) -> None:
    data = pickle.dumps(Trap(), protocol)
    for name in ("run", "run.json", "run.parquet", "run.pkl"):
        (tmp_path / name).write_bytes(data)
        for read in (lambda path: evaluate(QRELS_FILE, path), read_qrels):
            assert only_ours(lambda read=read, name=name: read(tmp_path / name)) is None
    if protocol >= 2:
        with raises_code(GoldrankError, "unsupported-format"):
            read_run(tmp_path / "run")


def test_defaults_still_work() -> None:
    """The sound pair, so that none of the refusals above can come from the pair itself."""
    assert QRELS_FILE.read_bytes() == QRELS
    assert RUN_FILE.read_bytes() == RUN
    assert evaluate(QRELS_FILE, RUN_FILE, "AP")["AP"] == pytest.approx(SOUND[0], abs=1e-12)


@pytest.mark.parametrize(
    "text", ["alpha\u0663_nDC G@20]", "alpha3_foo@10", "ndcgg_nDCG_x@5", "prec_foo_bar(]", "alpha_x_y_z"]
)
def test_an_unknown_name_that_begins_like_a_known_one(text):
    with raises_code(GoldrankError, "unknown-measure"):
        parse(text)
