"""trec_eval 10, goldrank's default, and trec_eval 9, on which pytrec_eval is built."""

from __future__ import annotations

from goldrank.conventions.tool import Tool

TREC_EVAL_10 = Tool("trec_eval-10")

TREC_EVAL_9 = Tool(
    "trec_eval-9",
    policies={"score_type": "float32", "missing": "skip"},
    options={"IPrec": {"rounding": "up"}, "IPrecAvg": {"rounding": "up"}},
)

TOOLS = (TREC_EVAL_10, TREC_EVAL_9)
