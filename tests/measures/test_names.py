"""Names of measures outside their files: where they may stand, and that each of them exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import goldrank
from goldrank import evaluate
from goldrank.base.errors import MeasureError
from goldrank.conventions import NAMES, get, tool_of
from goldrank.evaluation import texts
from goldrank.guide import advice, pitfalls
from goldrank.measures import DEFAULT, REGISTRY, make, parse
from goldrank.measures.trec_names import NICKNAMES, TABLE, proper

SOURCE = Path(goldrank.__file__).parent
MAY_NAME = {
    "measures": "measures themselves",
    "conventions/": "options by measure, held to the registry below",
    "guide": "advice, held to the registry below",
    "compat": "other systems' names in terms of ours, held to their recorded values",
}
FILES = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if not any(path.relative_to(SOURCE).as_posix().startswith(start) for start in MAY_NAME)
]


def names_in(node: ast.AST) -> set[str]:
    """The bare names of measures that stand in an expression."""
    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return {value for value in constants if isinstance(value, str) and value in REGISTRY}


def rules_by_name(tree: ast.Module) -> Iterator[tuple[int, set[str]]]:
    """Line and names of each comparison of a `.name` with measures, and of each constant that lists several.

    What is measured by default, or listed first, is a choice, not a rule.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Attribute) and side.attr == "name" for side in sides) and names_in(node):
                yield node.lineno, names_in(node)
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        is_rule = isinstance(target, ast.Name) and target.id not in ("DEFAULT", "USUAL", "__all__")
        if is_rule and len(names_in(node)) > 1:
            yield node.lineno, names_in(node)


BY_NAME = {
    "data/signature.py": "what a measure reads of a catalogue is declared nowhere else yet",
    "gating/forbidden.py": "one rule names the documents that one measure counts",
    "staging/stages.py": "for which measures sorting by grade is the best order was proved for each by itself",
}
"""Files that name measures all the same, and why."""


def test_behaviour_goes_by_the_declaration():
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in FILES}
    quoted = re.compile(rf"[\"'](?:{'|'.join(REGISTRY)})[\"']")
    found = {name: list(rules_by_name(ast.parse(text))) for name, text in texts.items() if quoted.search(text)}
    assert found, "some files name measures"
    assert {name for name, lines in found.items() if lines} == set(BY_NAME), "declare what it needs to know in @measure"


def test_rules_by_name_are_seen():
    code = """
ONCE = frozenset(("R", "SetR"))
EXPECTED: dict[str, int] = {"AP": 1, "RR": 2}
if measure.name in ("AP", "x") or "nDCG" == measure.name:
    pass
DEFAULT = ("AP", "RR")
one = evaluate(qrels, run, "AP")
"""
    assert [(line, len(names)) for line, names in rules_by_name(ast.parse(code))] == [(4, 1), (4, 1), (2, 2), (3, 2)]


@pytest.mark.parametrize("name", NAMES)
def test_conventions_name_measures_and_options_that_exist(name):
    tool = tool_of(get(name))
    for measure, options in tool.options.items():
        k = {"needed": 10, "recall": 0.5, "multiple": 0.5}.get(REGISTRY[measure].cutoff)
        assert dict(make(measure, k, options).options) == options, "an option that is the default changes nothing"
    named = {measure for refusal in tool.refusals for measure in refusal.measures} - {"*"}
    for quirk in tool.quirks:
        named.update(getattr(quirk, "MEASURES", ()), getattr(quirk, "by_measure", ()))
        named.update(set(getattr(quirk, "undefined_from", ())) - {"*"})
    assert named <= set(REGISTRY)


def test_advice_names_measures_that_exist():
    for case in advice.USE_CASES.values():
        assert all(map(parse, (*case.primary, *case.secondary)))
    ends = {end for question in advice.QUESTIONS.values() for end in (question.yes, question.no)} - set(
        advice.QUESTIONS
    )
    assert ends == set(advice.ENDS)
    assert {end.split()[0] for end in ends} <= set(REGISTRY)
    for primary, secondary, _ in advice.ENDS.values():
        assert all(parse(text.format(k=5)) for text in (*primary, *secondary))
    assert all(map(parse, pitfalls.BESIDE))


def test_trec_evals_table_names_measures_that_exist():
    own = {"runid", "relstring"}  # what trec_eval prints that is no number
    assert {proper(name).name for name in TABLE if name not in own} <= set(REGISTRY)
    assert {name for names in NICKNAMES.values() for name in names} <= set(TABLE)


def test_defaults_name_measures_that_exist():
    assert all(map(parse, (*DEFAULT, *texts.DEFAULT)))


def test_above_zero_has_a_name():
    named = parse('Success(rel=">0")@1')
    assert str(named) == 'Success(rel=">0")@1'
    assert named == parse("Success(rel=5e-324)@1")
    judged = goldrank.Qrels({"q": {"a": 0.5}}, real_grades=True)
    assert evaluate(judged, {"q": ["a"]}, named)[named] == 1.0
    assert str(parse('RBP(rel=">0")')) == 'RBP(rel=">0")'
    (name,) = evaluate({"q": {"a": 1}}, {"q": ["a"]}, "Success@1", convention="axion").mean
    assert name == 'Success(rel=">0")@1'
    with pytest.raises(MeasureError, match="it must be a number"):
        parse('P(rel=">1")@5')
    small = parse("RBP(p=5e-324)")  # other options have no such word
    assert parse(str(small)) == small
