"""docs/comparing.md: its commands print what it shows, and its numbers are right."""

import math
import re
import shlex
from pathlib import Path

import numpy as np
import places
import pytest

from goldrank import compare, demo, evaluate, show
from goldrank.cli import run as command
from goldrank.comparison.worth import document_worth
from goldrank.measures import parse

PAGE = (places.ROOT / "docs" / "comparing.md").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
def test_commands_print_what_the_page_shows(capsys):
    first, second = re.findall(r"^\$ goldrank (.*)$", PAGE, re.M)
    assert command(shlex.split(first)) == 0
    capsys.readouterr()
    assert command(shlex.split(second)) == 0
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    assert "".join(capsys.readouterr()) == shown
    assert Path("report.html").exists()
    inline = [line for line in re.findall(r"`goldrank (diff [^`]*)`", PAGE) if "demo/" in line]
    assert len(inline) == 1
    assert command(shlex.split(inline[0])) == 0


def test_numbers_in_the_prose():
    qrels, runs = demo.load()["qrels"], demo.runs()
    old, new = (np.array(evaluate(qrels, runs[r], "nDCG@10").columns["nDCG@10"].values) for r in ("overlap", "bm25"))
    d = new - old
    assert f"{d.mean():.4f} more nDCG@10" in PAGE
    assert f"Better on {(d > 0).sum()} questions, worse on {(d < 0).sum()}" in PAGE
    compared = compare(qrels, {"old": runs["overlap"], "new": runs["bm25"]}, ["nDCG@10", "P@1"])
    pair = compared["nDCG@10", "old", "new"]
    text = " ".join(PAGE.split())
    assert f"between {pair.interval.low:.4f} and {pair.interval.high:.4f}" in text

    # P@1 is 0 or 1: as large a difference takes as many coins that fall the same way, up or down.
    old, new = (np.array(evaluate(qrels, runs[r], "P@1").columns["P@1"].values) for r in ("overlap", "bm25"))
    better, worse = int((new > old).sum()), int((new < old).sum())
    coins = better + worse
    p = 2 * sum(math.comb(coins, heads) for heads in range(better, coins + 1)) / 2**coins
    assert f"By P@1 {coins} questions differ, each by 1, and {better} of them are better." in text
    assert f"{better} or more of {coins} coins fall the same way has a probability of {p:.3f}" in text
    first = compared["P@1", "old", "new"]
    assert first.p == pytest.approx(p, abs=1e-12)
    assert f"that makes {first.p_adjusted:.3f} of {p:.3f}" in text


@pytest.mark.usefixtures("folder")
def test_the_examples_of_a_slice_and_of_an_unclear_row(capsys):
    command(["demo", "--write", "demo"])
    (line,) = re.findall(r"`goldrank (compare demo/[^`]*)`", PAGE)
    assert command(shlex.split(line)) == 0
    assert "but not where kind is overview" in capsys.readouterr().err
    assert "but not where kind is overview" in PAGE
    first, second = re.search(r"`(demo/\S+)` and `(demo/\S+)` are an example", PAGE).groups()
    assert compare("demo/household.qrels", [first, second], "nDCG@10").pair.verdict == "unclear"


def test_forms_in_python():
    comparison = compare(demo.load()["qrels"], demo.runs(), "nDCG@10")
    told = PAGE[PAGE.index("`comparison.show(") : PAGE.index("`comparison.save(")]
    listed = re.findall(r'"(\w+)"', told)
    assert len(listed) == 6
    assert len({show(comparison, form) for form in listed}) == 6


def test_the_words_are_those_of_the_code():
    from goldrank.comparison.correction import CORRECTIONS
    from goldrank.comparison.rank_changes import FALLS
    from goldrank.comparison.slice_table import SMALL

    for word in (*FALLS, "better", "worse", "unclear", "equivalent", "same", "judge first", "diagnostic"):
        assert f"{word}" in PAGE
    for name in CORRECTIONS:
        assert name == "none" or f"`{name}`" in PAGE
    assert f"fewer than {SMALL} queries" in PAGE


def test_detectable_difference_halves_with_four_times_as_many_queries():
    from goldrank.comparison.power import detectable_effect

    assert detectable_effect(100) / detectable_effect(400) == pytest.approx(2, rel=0.02)


def test_tables_are_those_of_the_simulations():
    """Heads and rows; the figures take minutes and are printed by benchmarks/statistics.py."""
    source = (places.ROOT / "benchmarks" / "simulations.py").read_text()
    theory = (places.ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    titles = re.findall(r"^\*\*(.+, in %.*)\*\*$", theory, re.M)
    assert len(titles) == 8
    for title in titles:
        assert re.split(r"\d|\(", title)[0].strip() in source


def test_page_is_one_page():
    assert len(PAGE.splitlines()) < 180


def test_effects_of_documents_add_up():
    """What B loses without each document, minus what A does, sums up to the difference, as the page says."""
    qrels = {"q": {"a": 3, "b": 1, "c": 2, "d": 0, "e": 1}}
    runs = {"A": {"q": ["x", "b", "c", "d", "y", "e"]}, "B": {"q": ["a", "x", "b", "d", "c"]}}
    assert "for nDCG, precision and recall these add up to the difference of the query" in " ".join(PAGE.split())
    for measure in ("nDCG@5", "nDCG", "P@3", "R@4"):
        found = compare(qrels, runs, measure)
        worth = document_worth(found.placed, parse(measure), np.arange(len(qrels["q"])))
        assert (worth[1] - worth[0]).sum() == pytest.approx(found.pairs[0].difference, abs=1e-12)


@pytest.mark.slow
def test_what_is_said_in_everyday_cases(monkeypatch):
    """Every sentence of the page is what the commands print, and none contradicts the numbers beside it."""
    monkeypatch.syspath_prepend(places.ROOT / "benchmarks")
    import realistic

    count = 0
    for name, words, code in realistic.sentences():
        count += 1
        assert f"| {name} | {words} | {code} |" in PAGE
        for low, high in re.findall(r"95% interval ([+-][\d.]+) to ([+-][\d.]+)", words):
            is_clear = float(low) > 0 or float(high) < 0
            assert is_clear == (" is better than " in words or " is worse than " in words)
        for share in re.findall(r"([\d.]+)% likely", words):
            assert float(share) >= 97.5
        for share in re.findall(r"\(([\d.]+)%\), not shown", words):
            assert float(share) < 97.5
        assert code == int(words.startswith("FAIL"))
    assert count == len(realistic.CASES)
