"""Everything public with things that it does not take: an error in words, never a bare AttributeError or KeyError."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import goldrank
from goldrank import GoldrankError, escaping

QRELS = {"q": {"d": 1}, "p": {"d": 1, "e": 0}}
RUN = {"q": {"d": 1.0, "x": 0.5}, "p": {"e": 1.0, "d": 0.5}}
FEW = goldrank.Statistics(samples=100)
WRONG = [
    *(3, -1, 3.5, None, True, b"x", "no such thing", "\0", "x" * 5_000, object(), [], {}, (), [3], [None], {"a": 3}),
    *({3: {}}, {"q": None}, {"q": {"d": None}}, [[]], [{}], set(), lambda: 3, int, goldrank, float("nan"), 10**30),
    *(range(3), iter(())),
]

SOUND = {
    "evaluate": (QRELS, RUN, ["AP"]),
    "compare": (QRELS, {"a": RUN, "b": RUN}, ["AP"]),
    "score_intervals": (goldrank.evaluate(QRELS, RUN, "AP"),),
    "choose": ("rag",),
    "pitfalls": (goldrank.evaluate(QRELS, RUN, "AP"),),
    "plan": (goldrank.compare(QRELS, {"a": RUN, "b": RUN}, ["AP"]),),
    "read_qrels": ("no.file",),
    "read_run": ("no.file",),
    "read_runs": ("no.file",),
    "read_aspects": ("no.file",),
    "read_preferences": ("no.file",),
    "read_queries": ({"q": "why?"},),
    "read_documents": ({"d": "so"},),
    "Qrels": (QRELS,),
    "Run": (RUN,),
    "Runs": ({"a": RUN},),
    "Queries": ({"q": "why?"},),
    "Documents": ({"d": "so"},),
    "AspectQrels": ({"q": {"1": {"d": 1}}},),
    "Preferences": ({"q": {"j": [{"d": 1, "e": 2}]}},),
    "Catalogue": (["a", "b"],),
    "ScoresByRun": ([goldrank.evaluate(QRELS, RUN, "AP")],),
    "ScoresByRun.load": ("no.file",),
    "Scores.load": ("no.file",),
    "Scores.merge": ([goldrank.evaluate(QRELS, RUN, "AP")],),
    "Scores.from_dict": ({},),
}


TAKES_MEASURES = {"evaluate", "compare"}
"""They take functions, which types are too, as measures."""


def called(name):
    if name == "compare":
        return lambda *arguments, **options: goldrank.compare(*arguments, **{"statistics": FEW, **options})
    found = goldrank
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def complaint(call):
    """What is wrong with how it fails; None if it does not, or says so in words."""
    try:
        call()
    except GoldrankError as error:
        return None if len(str(error).split()) > 2 else f"says only {error}"
    except TypeError as error:
        bare = "unexpected keyword" not in str(error) and "goldrank" not in str(error)
        return f"TypeError: {error}" if bare else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOUND)
def test_wrong_arguments_get_words(name):
    function, sound = called(name), SOUND[name]
    wrong = []
    for i in range(len(sound)):
        for given in WRONG:
            if callable(given) and name in TAKES_MEASURES:
                continue  # functions and types can be measures, matchers and retrievers
            arguments = [*sound[:i], given, *sound[i + 1 :]]
            if found := complaint(lambda arguments=arguments: function(*arguments)):
                wrong.append(f"argument {i + 1} {given!r:.30}: {found}")
    assert not wrong, "\n".join(wrong)


HUGE, LARGE = 10**5_000, 10**400
"""Python does not write the one down, also not in a message; the other is larger than any float."""


STRANGE = [
    *(
        HUGE,
        (LARGE, 1),
        [LARGE],
        {"q": LARGE},
        {"q": [LARGE]},
        math.inf,
        np.array([1, 2]),
        Decimal("NaN"),
        Fraction(1, 3),
    ),
    *([[3]], 1j, frozenset("a"), "\ud800"),
]
TAKES_FUNCTIONS = (
    *("unit", "matcher", "judge", "writer", "measure", "measures", "progress", "similarity", "tokens", "method"),
    *("normalise", "parameters", "place", "documents", "docs", "queries", "chunks", "sources", "seen", "strata"),
)


FUNCTIONS = [name for name in SOUND if name[0].islower()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_options_get_words(name):
    """Every option of every function, also those that come to be later."""
    function, sound = called(name), SOUND[name]
    known = list(inspect.signature(getattr(goldrank, name)).parameters.values())
    wrong = []
    for i, option in enumerate(known):
        if (i < len(sound) and option.kind is not option.KEYWORD_ONLY) or option.kind is option.VAR_KEYWORD:
            continue
        for given in (*WRONG, *STRANGE):
            if callable(given) and option.name in TAKES_FUNCTIONS:
                continue
            found = complaint(lambda option=option, given=given: function(*sound, **{option.name: given}))
            if found:
                wrong.append(f"{option.name}={escaping.shown(given, 30)}: {found}")
    assert not wrong, "\n".join(wrong)
