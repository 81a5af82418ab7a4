"""Families of measures that are imported when they are asked for are as good as there."""

from __future__ import annotations

import subprocess
import sys

import pytest
from lanes import few


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


START = """
import sys, goldrank
from goldrank.measures import REGISTRY, parse
from goldrank.measures.declare import ALIASES

def is_there():
    return "goldrank.measures.evidence" in sys.modules

pair = ({"q": {"d": 1}}, {"q": ["d"]})
"""


@pytest.mark.parametrize(
    "asked",
    few(
        [
            "parse('SpanRecall')",
            "REGISTRY['SpanRecall']",
            "'SpanRecall' in REGISTRY",
            "len(REGISTRY)",
            "list(REGISTRY)",
            "dict(REGISTRY)['SpanRecall']",
            "{**REGISTRY}['SpanRecall']",
            "REGISTRY.keys() & {'SpanRecall'}",
            "REGISTRY.items()",
            "[one for one in REGISTRY.values() if one.over == 'spans']",
            "REGISTRY.get('SpanRecall')",
            "ALIASES.get('spanrecall')",
        ]
    ),
)
def test_whoever_asks_gets_all(asked: str) -> None:
    assert python(f"{START}print(is_there(), bool({asked}), is_there())") == "False True True"


def test_usual_measures_do_without_them() -> None:
    said = python(f"{START}goldrank.evaluate(*pair)\nprint(is_there(), 'numpy.ma' in sys.modules)")
    assert said == "False False"


def test_a_name_of_a_late_family_is_taken() -> None:
    code = f"""{START}
try:
    goldrank.measure("SpanRecall")(lambda placements: placements.retrieved)
except goldrank.GoldrankError as error:
    print(type(error).__name__)
"""
    assert python(code) == "MeasureError"


def test_a_new_measure_changes_what_a_spelling_means() -> None:
    code = f"""{START}
first = goldrank.evaluate(*pair, ["P@1"])["P@1"]
goldrank.measure("P", replace=True)(lambda placements, *, k=None: placements.retrieved + 6)
print(first, goldrank.evaluate(*pair, ["P@1"])["P@1"])
"""
    assert python(code) == "1.0 7.0"


def test_threads_that_ask_at_once() -> None:
    code = f"""{START}
from concurrent.futures import ThreadPoolExecutor
names = ["SpanRecall", "alpha_nDCG@5", "Cover@5", "SpanIoU"]
with ThreadPoolExecutor(8) as pool:
    print(list(map(str, pool.map(parse, names * 20))) == names * 20)
"""
    assert python(code) == "True"
