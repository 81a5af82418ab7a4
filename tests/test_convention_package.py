"""The package of conventions: what `Convention` is, that a tool's quirks live in its file, and that files are lazy."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import goldrank
from goldrank import Convention, evaluate, explain_difference
from goldrank.base.errors import MeasureError, OptionError
from goldrank.base.types import ConventionName, Policies
from goldrank.conventions import MODULES, NAMES, POLICIES, base, get, tool_of
from goldrank.conventions.refusals import Case, Condition, Refusal
from goldrank.conventions.tool import Quirk, SummaryRule, TableReading, Tool
from goldrank.measures import REGISTRY

SOURCE = Path(goldrank.__file__).parent

# What a convention is.


def test_a_convention_has_a_name_and_eight_policies():
    public = [field.name for field in dataclasses.fields(Convention) if not field.name.startswith("_")]
    assert public == ["name", *POLICIES]
    others = {name for name in dir(Convention) if not name.startswith("_")} - set(public)
    assert others == {"label", "policies", "with_policies"}


def test_the_literals_are_the_tables():
    assert get_args(ConventionName) == NAMES == tuple(MODULES)
    literals = get_type_hints(Policies)
    assert list(literals) == list(POLICIES)
    for policy, literal in literals.items():
        assert get_args(literal) == tuple(POLICIES[policy])
        assert all(POLICIES[policy].values()), "every word is explained"
        assert get_type_hints(Convention)[policy] == literal


@pytest.mark.parametrize("name", NAMES)
def test_every_convention_is_what_its_name_says(name):
    convention = Convention(name)
    assert convention == get(name)
    assert (convention.name, convention.label, repr(convention)) == (name, name, f"Convention({name!r})")
    assert convention.policies == {policy: getattr(convention, policy) for policy in POLICIES}
    assert tool_of(convention).name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_convention_is_equal_by_content_and_survives_pickling(name):
    for policies in ({}, {"missing": "skip", "ties": "bounds"}, {"ties": Convention(name).ties}):
        convention = Convention(name, **policies)
        for again in (pickle.loads(pickle.dumps(convention)), copy.deepcopy(convention), eval(repr(convention))):
            assert again == convention
            assert hash(again) == hash(convention)
            assert tool_of(again) == tool_of(convention)
    assert Convention(name, empty="nan") != Convention(name)
    assert len({Convention(name), Convention(name), Convention(name, overlap="allow")}) == 2


def test_different_tools_with_the_same_policies_differ():
    assert Convention("lightgbm").policies == Convention("xgboost").policies
    assert Convention("lightgbm") != Convention("xgboost")


def test_a_convention_never_changes():
    convention = Convention("ranx", missing="skip")
    with pytest.raises(dataclasses.FrozenInstanceError):
        convention.missing = "zero"
    changed = convention.with_policies(empty="one")
    assert repr(convention) == "Convention('ranx', missing='skip')"
    assert repr(changed) == "Convention('ranx', missing='skip', empty='one')"
    assert changed.label == "ranx, missing=skip, empty=one"
    assert convention.with_policies() is convention
    assert changed.with_policies(missing="error", empty="zero") == Convention("ranx")


def test_who_chooses_an_order_of_ties_chooses_it_without_the_tools_own():
    """ranx' order is not defined from 16 documents on; that of the input is, even if it is the same word."""
    qrels, run = {"q": {"d1": 1}}, {"q": {f"d{i}": 1.0 for i in range(16)}}
    with pytest.raises(MeasureError, match="equal scores"):
        evaluate(qrels, run, "RR", convention="ranx")
    convention = Convention("ranx", ties="input")
    assert repr(convention) == "Convention('ranx', ties='input')"
    assert convention != Convention("ranx")
    assert evaluate(qrels, run, "RR", convention=convention)["RR"] == 1 / 2


@pytest.mark.parametrize(
    ("wrong", "message", "hint"),
    [
        ({"name": "rnx"}, "convention is 'rnx'; it must be one of: trec_eval-10, ", "Did you mean ranx?"),
        ({"mising": "skip"}, "unknown policy 'mising'; the policies are: ties, ", "Did you mean missing?"),
        ({"missing": "skipp"}, "missing is 'skipp'; it must be one of: zero, skip, error", "Did you mean skip?"),
        ({"missing": None}, "missing is None; it must be one of: zero, skip, error", None),
        ({"missing": ["skip"]}, "missing is ['skip']; it must be one of: zero, skip, error", None),
        ({"name": None}, "convention is None; it must be one of: trec_eval-10, ", None),
        ({"name": ["ranx"]}, "convention is ['ranx']; it must be one of: trec_eval-10, ", None),
    ],
)
def test_a_wrong_word_is_an_error_that_lists_the_right_ones(wrong, message, hint):
    calls = [lambda: Convention(**wrong)]
    if "name" not in wrong:
        calls += [lambda: Convention("ranx").with_policies(**wrong)]
        if "mising" not in wrong:  # evaluate says that it has no such argument
            calls += [lambda: evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", **wrong)]
    else:
        calls += [lambda: evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", convention=wrong["name"])]
    for call in calls:
        with pytest.raises(OptionError) as caught:
            call()
        assert caught.value.what.startswith(message)
        assert hint is None or hint in caught.value.hint


def test_a_policy_that_evaluate_does_not_have_is_named_as_an_argument():
    with pytest.raises(OptionError, match="evaluate has no argument 'mising'") as caught:
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", mising="skip")
    assert caught.value.hint == "Did you mean missing?"


def test_signatures_show_the_default_by_its_name():
    verbs = [getattr(goldrank, name) for name in goldrank.__all__ if inspect.isfunction(getattr(goldrank, name))]
    defaults = {}
    for verb in verbs:
        parameters = inspect.signature(verb).parameters
        if "convention" in parameters:
            defaults[verb.__name__] = parameters["convention"].default
    assert "evaluate" in defaults
    assert set(defaults.values()) == {"trec_eval-10"}, defaults


# Files are loaded when they are needed.

_SHOW = "\nimport sys\nprint(*sorted(name for name in sys.modules if name.startswith('goldrank.conventions')))"
_EVALUATE = "import goldrank\ngoldrank.evaluate({'q': {'a': 1}}, {'q': {'a': 0.5}}, 'RR'"
_TOOLS = set(MODULES.values())


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("import goldrank.conventions", None),
        (f"{_EVALUATE})", "goldrank.conventions.trec_eval"),
        (f"{_EVALUATE}, convention='ranx')", "goldrank.conventions.ranx"),
    ],
)
def test_only_the_file_of_a_convention_that_is_used_is_loaded(code, module):
    program = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\n{code}{_SHOW}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & _TOOLS == {module} - {None}


# Steps that all tools share name none of them.

STEPS = ("evaluation/pipeline.py", "evaluation/executors.py", "evaluation/run_notes.py", "conventions/tool.py")
STEPS += ("conventions/policies.py", "conventions/refusals.py", "comparison/convention_difference.py")


def names_in(code: str) -> set[str]:
    """Conventions and measures that code names, the default of a parameter and docstrings excepted."""
    known = {*NAMES, *REGISTRY}
    tree = ast.parse(code)
    passed_over = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            passed_over |= {id(default) for default in (*node.defaults, *node.kw_defaults)}
        if isinstance(node, ast.Expr):
            passed_over.add(id(node.value))
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in passed_over]
    words = {node.value for node in constants if isinstance(node.value, str)}
    modules = {module.rpartition(".")[2] for module in MODULES.values()}
    imported = {
        part for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for part in (node.module or "").split(".")
    }
    return (words & known) | (imported & modules)


@pytest.mark.parametrize("step", STEPS)
def test_steps_name_no_tool_and_no_measure(step):
    assert names_in((SOURCE / step).read_text(encoding="utf-8")) == set()


def test_names_are_seen():
    code = '''
"""ranx"""
from goldrank.conventions.beir import BEIR
def f(convention="sklearn", *, other="chroma"):
    "AP"
    if convention.name == "ranx" or measure.name in ("RR", "other"):
        pass
'''
    assert names_in(code) == {"beir", "ranx", "RR"}


def test_all_quirks_and_refusals_have_words():
    quirks = {quirk for name in NAMES for quirk in tool_of(get(name)).quirks}
    assert len(quirks) > 6
    for quirk in quirks:
        assert quirk.rule
        assert quirk.refines in POLICIES or (quirk.label and quirk.usual)
        assert type(quirk).__doc__
    refusals = [refusal for name in NAMES for refusal in tool_of(get(name)).refusals]
    assert len(refusals) > 6
    assert all(refusal.why and refusal.when.words for refusal in refusals)


# A tool of one's own: one file, one line in the table.


@dataclass(frozen=True)
class ForgetsTheLast(Quirk):
    """The last document of a ranking is not there; nDCG counts no document beyond that."""

    rule = "forgets"
    label = "the last document"
    usual = "is there"

    def says(self, measure):
        return "is forgotten"

    def before_placing(self, run):
        kept = {query: dict(list(row.items())[:-1]) for query, row in run.results.items()}
        return goldrank.Run(kept, name=run.name)


@dataclass(frozen=True)
class DoublesGrades(Quirk):
    """DCG sees twice the grade."""

    rule = "doubles"
    label = "the grade"
    usual = "is as judged"

    def says(self, measure):
        return "is doubled" if measure.name == "DCG" else self.usual

    def own_table(self, table, seen):
        return replace(table, grade=2 * table.grade)

    def reading(self, measure, reading):
        return reading._replace(own_table=self.rule) if measure.name == "DCG" else reading


@dataclass(frozen=True)
class SumsUp(Quirk):
    """P is summed up over queries."""

    rule = "sums"
    label = "the summary"
    usual = "is a mean"

    def says(self, measure):
        return "is a sum" if measure.name == "P" else self.usual

    def summary(self, measure, summary):
        return summary._replace(average="sum") if measure.name == "P" else summary


@dataclass(frozen=True)
class ManyQueries(Condition):
    words = "there are more than two queries"

    def holds(self, case: Case) -> bool:
        return len(case.placements.queries) > 2


TOOLS = (
    Tool("forgetful", quirks=(ForgetsTheLast(),)),
    Tool("doubling", policies={"missing": "skip"}, quirks=(DoublesGrades(),)),
    Tool("summing", quirks=(SumsUp(),), refusals=(Refusal(("RR",), ManyQueries(), "it cannot count further"),)),
)
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"a": 2.0, "x": 1.0}}


@pytest.fixture
def own_tools(monkeypatch):
    for tool in TOOLS:
        monkeypatch.setitem(base.MODULES, tool.name, __name__)


@pytest.mark.usefixtures("own_tools")
def test_a_tool_that_changes_the_run_before_it_is_placed():
    # b is the last of q1: (1/1) / 2 and 1/1, where AP is (1/1 + 2/3) / 2 and 1/1.
    assert evaluate(QRELS, RUN, "AP")["AP"] == pytest.approx((5 / 6 + 1) / 2)
    assert evaluate(QRELS, RUN, "AP", convention="forgetful")["AP"] == (1 / 2 + 1) / 2
    found = explain_difference(QRELS, RUN, "AP", "trec_eval-10", "forgetful")
    (rule,) = found.rules
    assert (rule.name, rule.label, rule.first, rule.second) == (
        "forgets",
        "the last document",
        "is there",
        "is forgotten",
    )
    assert rule.alone == 0.75
    assert re.search(r"the last document +is there +is forgotten +0.7500", str(found))


@pytest.mark.usefixtures("own_tools")
def test_a_tool_whose_measure_reads_a_table_of_its_own():
    # DCG@1 is the grade of the first document; P@1 reads the usual table.
    scores = evaluate(QRELS, RUN, ["DCG@1", "P@1"], convention="doubling")
    assert scores.mean == {"DCG@1": 2.0, "P@1": 1.0}
    assert explain_difference(QRELS, RUN, "P@1", "trec_eval-10", "doubling").values == (1.0, 1.0)
    found = explain_difference(QRELS, RUN, "DCG@1", "trec_eval-10", "doubling")
    assert {rule.name: rule.matters for rule in found.rules} == {"doubles": True, "missing": False}


@pytest.mark.usefixtures("own_tools")
def test_a_tool_that_sums_up_otherwise_and_refuses():
    scores = evaluate(QRELS, RUN, ["P@1", "RR"], convention="summing")
    assert scores.mean == {"P@1": 2.0, "RR": 1.0}
    three = {**QRELS, "q3": {"a": 1}}
    assert evaluate(three, RUN, "P@1", convention="summing")["P@1"] == 2.0
    with pytest.raises(MeasureError, match="RR is not measured by the rules of summing where there are more than two"):
        evaluate(three, RUN, "RR", convention="summing")
    assert Convention("summing", missing="skip").label == "summing, missing=skip"


def test_hooks_of_a_quirk_do_nothing_unless_written():
    quirk, reading, summary = Quirk(), TableReading(), SummaryRule()
    measure = goldrank.Measure.parse("AP")
    assert quirk.reading(measure, reading) is reading
    assert quirk.summary(measure, summary) is summary
    assert quirk.before_placing(RUN) is RUN
    assert quirk.refined("docid", measure) == "docid"
