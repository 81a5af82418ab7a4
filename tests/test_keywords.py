"""Public verbs that are called with an argument that they do not have name the one that is meant."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
from raising import raises_code

import goldrank
from goldrank import GoldrankError, OptionError
from goldrank.base.keywords import NOUNS, READERS, SYNONYMS, named_arguments

QRELS = {"q": {"d": 1}, "p": {"d": 1, "e": 0}}
RUN = {"q": {"d": 1.0, "x": 0.5}, "p": {"e": 1.0, "d": 0.5}}
LATER: set[str] = {"measure"}
"""Verbs that have not got their new interface yet."""
MOST = 8
MANY = {"read_qrels": 8, "evaluate": 7}
"""Verbs whose parameters are near the limit, by hand."""


def verbs() -> list[str]:
    return [name for name in goldrank.__all__ if name[0].islower() and name not in LATER]


def parameters(name: str) -> list[inspect.Parameter]:
    return list(inspect.signature(getattr(goldrank, name)).parameters.values())


def test_verbs_are_looked_at() -> None:
    assert {"evaluate", "compare", "score_intervals", "read_run", "read_runs", "read_qrels", "read_items"} <= {*verbs()}
    assert len(verbs()) >= 10


@pytest.mark.parametrize("name", verbs())
def test_no_verb_has_more_than_eight_parameters(name: str) -> None:
    assert len(parameters(name)) <= MOST
    if name in MANY:
        assert len(parameters(name)) == MANY[name]


@pytest.mark.parametrize("name", verbs())
def test_wrong_arguments_are_named(name: str) -> None:
    """One letter too many in any keyword: the error says which argument there is."""
    verb = getattr(goldrank, name)
    named = [one.name for one in parameters(name) if one.kind is one.KEYWORD_ONLY]
    if name == "fuse":
        named = []  # what it does not know is for its method to take or refuse
    given = [{} for one in parameters(name) if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty]
    tried = 0
    for argument in named:
        with raises_code(OptionError, "unknown-argument", match=rf"{name} has no argument '{argument}x'") as caught:
            verb(*given, **{f"{argument}x": 1})
        assert f"Did you mean {argument}" in str(caught.value)
        tried += 1
    assert tried == len(named)


@pytest.mark.parametrize(
    ("name", "argument", "hint"),
    [
        ("evaluate", "metrics", "It is called measures=."),
        ("evaluate", "runs", "It is called run=."),
        ("evaluate", "train", "It is a field of Catalogue: catalogue=Catalogue(train=...)."),
        ("evaluate", "relevant_from", "It belongs to read_qrels(source, relevant_from=...)."),
        ("evaluate", "shard", "It belongs to qrels.shard(2, 8)."),
        ("evaluate", "judged_by", "It belongs to qrels.by('human') or qrels.by('model')."),
        ("evaluate", "mising", "Did you mean missing?"),
        ("compare", "alpha", "It is a field of Statistics: statistics=Statistics(alpha=...)."),
        ("compare", "missing", "compare(evaluate(qrels, Runs(runs), missing=...))."),
        ("compare", "weights", "queries=Queries({}).with_column('weight', weights)."),
        ("compare", "metadata", "It is called queries=."),
        ("score_intervals", "seed", "It is a field of Statistics: statistics=Statistics(seed=...)."),
        ("read_qrels", "fields", "It belongs to read_items(source, fields=...)."),
        ("read_run", "duplicates", "run.drop_duplicates()"),
    ],
)
def test_what_is_meant(name: str, argument: str, hint: str) -> None:
    with raises_code(OptionError, "unknown-argument") as caught:
        getattr(goldrank, name)(**{argument: 1})
    assert hint in str(caught.value)


def test_hints_name_arguments_that_there_are() -> None:
    """A synonym is the argument of some verb, and a field that of its noun."""
    every = {one.name for name in verbs() for one in parameters(name)}
    known = every | {"groups", "documents", "matching", "fusion", "k", "budget", "evidence", "answers", "calls", "pool"}
    assert set(SYNONYMS.values()) <= known
    fields = set(NOUNS["Statistics"].split()[1:]) - {"level", "holes"}
    assert fields == set(inspect.signature(goldrank.Statistics).parameters)
    assert set(READERS) & {"relevant_from", "real_grades", "format", "columns"} <= set(
        inspect.signature(goldrank.read_qrels).parameters
    )


def test_the_errors_of_users_stay_as_they_are() -> None:
    """A measure that fails is not blamed on an argument that is right."""
    with pytest.raises((ZeroDivisionError, GoldrankError)) as caught:
        goldrank.evaluate(QRELS, RUN, lambda a, b: 1 / 0, depth=np.int64(10))
    assert "depth" not in str(caught.value)
    assert "division by zero" in str(caught.value) or isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_inside_is_no_matter_of_arguments() -> None:
    @named_arguments
    def broken(number: int, *, words: str = "") -> None:
        {}["key"]

    with pytest.raises(KeyError, match="key"):
        broken(3, words="a")
    with pytest.raises(TypeError, match="missing 1 required"):
        broken()  # type: ignore[call-arg]
    with raises_code(OptionError, "unknown-argument", match=r"broken has no argument 'word'\n  Did you mean words\?"):
        broken(3, word="a")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", verbs())
def test_verbs_can_be_pickled_and_read(name: str) -> None:
    verb = getattr(goldrank, name)
    assert pickle.loads(pickle.dumps(verb)) is verb
    assert inspect.getdoc(verb)


MISSPELLED = {
    "measure": lambda: goldrank.evaluate(QRELS, RUN, "nDGC@10"),
    "policy": lambda: goldrank.evaluate(QRELS, RUN, missing="skipp"),
    "argument": lambda: goldrank.evaluate(QRELS, RUN, metrics="AP"),
    "convention": lambda: goldrank.evaluate(QRELS, RUN, convention="rnx"),
    "measure of a comparison": lambda: goldrank.compare(QRELS, {"a": RUN, "b": RUN}, "nDGC"),
    "baseline": lambda: goldrank.compare(QRELS, {"a": RUN, "b": RUN}, "RR", baseline="c"),
    "test": lambda: goldrank.Statistics(test="tt"),
    "matcher": lambda: goldrank.evaluate_texts([{"retrieved": ["a"], "references": ["a"]}], matching="rogue-l"),
    "fusion": lambda: goldrank.fuse([RUN, RUN], "rff"),
    "rule": lambda: goldrank.gate(goldrank.evaluate(QRELS, RUN, "RR"), "RRR >= 1"),
}


@pytest.mark.parametrize("name", MISSPELLED)
def test_a_misspelled_word_has_a_short_traceback(name):
    with pytest.raises(goldrank.GoldrankError) as caught:
        MISSPELLED[name]()
    root = str(Path(goldrank.__file__).parent)
    frames = [frame for frame in caught.traceback if str(frame.path).startswith(root)]
    assert 1 <= len(frames) <= 4, [str(frame.path) for frame in frames]


def test_the_whole_way_is_shown_to_those_who_ask(monkeypatch):
    monkeypatch.setenv("GOLDRANK_TRACEBACK", "1")
    with pytest.raises(goldrank.MeasureError) as caught:
        MISSPELLED["measure"]()
    assert len(caught.traceback) > 5


def test_the_error_of_a_function_of_the_user_keeps_its_own_traceback():
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whichever it is, the division is told
        goldrank.evaluate(QRELS, RUN, lambda ranked, judged: 1 / 0, depth=np.int64(10))
    told = [caught.value, caught.value.__cause__]
    assert any(isinstance(error, ZeroDivisionError) for error in told)
