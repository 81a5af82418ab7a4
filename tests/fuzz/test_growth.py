"""What comes from others takes time in proportion to its size, whatever stands in it.

What does not, with the reason: bounds of measures without a cut-off try each number of relevant documents among the
unjudged; GAP draws a line at each distinct grade; a comparison without a baseline compares every pair of runs; the
fuzzy matchers take the product of two texts' lengths, and `partial-ratio` refuses long ones.
"""

from __future__ import annotations

import time

import pytest
from growth import HIGHEST, exponent

import goldrank
from goldrank.io.text.delimited import _GAP
from goldrank.io.text.judged_lines import _LETOR
from goldrank.io.wide_tables import ranked_columns
from goldrank.judging.log import JudgementLog
from goldrank.judging.log_events import Entry, checked, standing_numbers
from goldrank.judging.parse import read_answer
from goldrank.judging.prompt import Prompt
from goldrank.match.guards import DEFAULT, TextFacts, refusing
from goldrank.match.locate import SourceText
from goldrank.match.tokens import _without_edges, words
from goldrank.match.units import claims, entities, sentences

pytestmark = pytest.mark.slow

PROMPT = Prompt.of("relevance")
ANSWERS = {
    "thoughts that never end": ("<think>", ""),
    "ends of thoughts": ("</think>", ""),
    "thoughts": ("<think></think>", ""),
    "a fence of lines": ("```\n", " \n", "x"),
    "a fence of blanks": ("```", " ", "x```y"),
    "backticks": ("`", ""),
    "open objects": ('{"a":', ""),
    "objects": ('{"grade": 1}', ""),
    "quotation marks": ('{"', ""),
    "digits": ("1", ""),
    "stars": ("*", "x"),
}
"""What a text begins with, what is repeated in it, and how it ends."""


def hostile(parts):
    begin, repeated, end = parts if len(parts) == 3 else ("", *parts)
    return lambda size: begin + repeated * size + end


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_models(name):
    assert exponent(hostile(ANSWERS[name]), lambda text: read_answer(text, PROMPT, "m"), 1_000) < HIGHEST


TEXTS = {
    "full stops": ("a. ", ""),
    "dots": (".", " x"),
    "empty lines": ("\n", "x"),
    "blanks": ("A", " ", "b"),
    "names": ("Ann of the ", "b"),
    "abbreviations": ("a.b.", " c"),
    "brackets": ("[ (", ""),
    "numbers": ("1 ", ""),
    "grouped numbers": ("1,", ""),
    "powers": ("1e", ""),
    "marks": ("a\u0301", ""),
    "quotation marks": ('"', " x"),
    "links": ("[a](b.", "x"),
    "emphasis": (" *a", "* "),
    "citations": ("[1, ", ""),
    "number words": ("five ", ""),
    "lines of headings": ("# a\n", ""),
    "a rule of a table that is none": ("-", "x|"),
    "rows of a table": ("|-", "x"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("cut", [sentences, entities, claims, words])
def test_texts_into_sentences_and_names(name, cut):
    assert exponent(hostile(TEXTS[name]), cut, 1_000) < HIGHEST


@pytest.mark.parametrize("name", TEXTS)
def test_guards(name):
    def work(text):
        refusing(TextFacts(text), TextFacts(text), (*DEFAULT, "names"))

    assert exponent(hostile(TEXTS[name]), work, 500) < HIGHEST


def test_the_same_number_again_and_again():
    def work(text):
        assert refusing(TextFacts(text), TextFacts(text), ("numbers", "units")) == ""

    assert exponent(lambda size: "7 kg and " * size, work, 1_000) < HIGHEST


def test_numbers_of_many_stretches():
    def make(size):
        return "1 " * size, [(2 * i, 2 * i + 1) for i in range(size)]

    assert exponent(make, lambda given: TextFacts(given[0]).within(given[1]), 500) < HIGHEST


def test_long_quotations_that_are_nowhere():
    """The time is the product of a quotation and a window of its length, no third power: 8,000 letters took 7 s."""
    source = SourceText("lorem ipsum dolor sit amet " * 1_000)
    assert exponent(lambda size: "wxyz kvq " * size, source.nearest_place, 120) < 2.3


def test_lines_of_letor():
    for line in (b"1 qid:1" + b" " * 3, b"x", b"1 qid:1 1:1", b"1 qid:1#"):
        assert exponent(lambda size, line=line: line * size, _LETOR.fullmatch, 1_000) < HIGHEST


def test_signs_within_a_part_of_a_text():
    """32,000 full stops between two letters took 5 s."""
    assert exponent(lambda size: "a" + "." * size + "b", _without_edges, 1_000) < HIGHEST


@pytest.mark.parametrize("repeated", ["-.", " ", "1", "_1"])
def test_names_of_columns(repeated):
    """A line of 1 MB is a line; a name of 16,000 dashes and dots took a second, and four times as many 16."""
    assert exponent(lambda size: [repeated * size + "x", "user"], ranked_columns, 1_000) < HIGHEST


def test_gaps_of_tables():
    """A gap has a thousand signs of white space; 900 of them were looked at 900 times."""
    line = b"x" + b"\n" * 900
    lines = b"x" + b"\n" * 9
    begin = time.process_time()
    assert not list(_GAP.finditer(line * 1_000))
    took = time.process_time() - begin
    begin = time.process_time()
    assert not list(_GAP.finditer(lines * 90_000))
    assert took < 10 * (time.process_time() - begin), "it took 100 times as long"


def test_judgements_that_are_taken_back():
    def make(size):
        given = [(2 * i, "grade", None) for i in range(size)]
        return given + [(2 * i + 1, "withdraw", 2 * i) for i in range(size)]

    assert exponent(make, standing_numbers, 500) < HIGHEST


def test_a_log_of_judgements(tmp_path):
    def make(size):
        path = tmp_path / f"{size}.db"
        with JudgementLog(path) as log:
            if log.last:
                return path
            with log._writing():
                for i in range(size):
                    log._add(checked(Entry("ann", f"q{i % 50}", f"d{i}", grade=i % 3, key=f"k{i}")))
        return path

    def work(path):
        with JudgementLog(path) as log:
            log.latest()

    assert exponent(make, work, 1_000) < HIGHEST


def test_a_session_with_a_log(tmp_path):
    """Each query was looked for among the judgements of all."""
    pytest.importorskip("starlette")
    from goldrank.explorer.judging_session import Judging
    from goldrank.explorer.start import session_of

    def make(size):
        qrels = {f"q{i}": {"d0": 1} for i in range(size)}
        runs = {"a": goldrank.io.as_run({f"q{i}": ["d0", "d1"] for i in range(size)})}
        path = tmp_path / f"{size}.db"
        with JudgementLog(path) as log:
            if not log.last:
                with log._writing():
                    for i in range(size):
                        log._add(checked(Entry("ann", f"q{i}", "d1", grade=1, key=f"k{i}")))
        judging = Judging(session_of(qrels, runs, measures=["P@1"]), str(path), "ann")
        judging.close()
        return judging

    def work(judging):
        for query in judging.session.numbers:
            judging.grades(query)

    assert exponent(make, work, 1_500) < HIGHEST


def table(queries, docs, grades):
    return {f"q{i}": {f"d{j}": grades(j) for j in range(docs)} for i in range(queries)}


@pytest.mark.parametrize("measure", ["nDCG", "AP", "RBP", "Bpref", "Q"])
def test_distinct_grades(measure):
    def make(size):
        return table(1, size, lambda j: j), {"q0": {f"d{j}": float(-j) for j in range(size)}}

    assert exponent(make, lambda given: goldrank.evaluate(*given, [measure]), 2_000) < HIGHEST


def test_bounds_with_a_cutoff():
    def make(size):
        return table(size, 2, lambda j: 1), {f"q{i}": ["d0", "x", "y", "z"] for i in range(size)}

    assert exponent(make, lambda given: goldrank.evaluate(*given, ["AP@10"], bounds="unjudged"), 200) < HIGHEST


def test_runs_against_a_baseline():
    def make(size):
        qrels = table(20, 5, lambda j: 1)
        runs = {f"r{n}": {f"q{i}": {f"d{(i + n) % 7}": 2.0, "d8": 1.0} for i in range(20)} for n in range(size)}
        return qrels, runs

    assert exponent(make, lambda given: goldrank.compare(*given, ["AP"], baseline="r0"), 12) < HIGHEST
