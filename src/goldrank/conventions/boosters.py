"""LightGBM and XGBoost: the gain is 2^grade - 1, rows keep their order among equal scores, an empty query is 1."""

from __future__ import annotations

from dataclasses import replace

from goldrank.conventions.tool import Tool

LIGHTGBM = Tool(
    "lightgbm",
    policies={"ties": "input", "empty": "one"},
    options={"nDCG": {"gain": "exp2"}, "AP": {"divisor": "min"}},
)

XGBOOST = replace(LIGHTGBM, name="xgboost")
"""`ndcg@10-` there is empty="zero" here."""

TOOLS = (LIGHTGBM, XGBOOST)
