"""The systems that goldrank.compat stands in for.

They rank by the order of a list, in which a document may be repeated, and judge by numbers that need not be whole.
docs/seeds.md says what only their own functions can show.
"""

from __future__ import annotations

import math

from goldrank.base.types import Policies
from goldrank.conventions.quirks import CountsRepeats
from goldrank.conventions.tool import Tool

ABOVE_ZERO = math.ulp(0.0)
"""The lowest `rel` that leaves out 0: the smallest positive number, which names of measures write as ">0"."""

_LISTS: Policies = {"ties": "input", "duplicates": "places"}
_LOSSES = {"DCG": {"negative": "keep"}, "nDCG": {"negative": "keep"}}
_GRADED = {name: {"rel": ABOVE_ZERO} for name in ("P", "R", "RR", "Success")}
_TEXTS = {"P": "each", "SetP": "each", "F": "texts", "SetF": "texts"}

AXION = Tool("axion", policies={**_LISTS, "judgements": "last"}, options={**_GRADED, **_LOSSES})

LESSON = Tool(
    "lesson",
    policies=_LISTS,
    options=_LOSSES,
    quirks=(CountsRepeats({"DCG": "each", "nDCG": "each"}),),
)

REMEM = Tool(
    "remem",
    policies=_LISTS,
    options={"nDCG": {"discount": "log2_from_2", "gain": "binary", "ideal": "retrieved"}},
    quirks=(CountsRepeats({"nDCG": "each"}),),
)

CONTINUOUS_EVAL = Tool(
    "continuous_eval",
    policies=_LISTS,
    options={"nDCG": {"gain": "binary", "discount": "ln"}, "P": {"divisor": "retrieved"}},
    quirks=(CountsRepeats(_TEXTS),),
)
"""continuous-eval by its document: AP is divided by all ground truth, and the ideal of nDCG is cut at k."""

CONTINUOUS_EVAL_RELEASED = Tool(
    "continuous_eval_released",
    policies=_LISTS,
    options={
        "AP": {"divisor": "hits"},
        "nDCG": {"gain": "binary", "cut_ideal": False, "discount": "ln"},
        "P": {"divisor": "retrieved"},
    },
    quirks=(CountsRepeats({**_TEXTS, "AP": "each"}),),
)
"""continuous-eval by its later releases: AP is divided by the chunks that match, and the ideal is never cut."""

IR_EVAL_NUMBA = Tool(
    "ir_eval_numba",
    policies=_LISTS,
    options={"AP": {"divisor": "hits"}, "nDCG": {"gain": "binary"}},
    quirks=(CountsRepeats({"AP": "distinct", "nDCG": "each"}),),
)

TOOLS = (AXION, LESSON, REMEM, CONTINUOUS_EVAL, CONTINUOUS_EVAL_RELEASED, IR_EVAL_NUMBA)
