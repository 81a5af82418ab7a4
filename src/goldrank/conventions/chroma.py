"""Chroma's evaluation of chunking (Smith and Troynikov 2024): by characters, and what is listed twice counts twice."""

from __future__ import annotations

from goldrank.conventions.tool import Tool

CHROMA = Tool(
    "chroma",
    options={
        "SpanRecall": {"evidence": "each"},
        "SpanPrecision": {"repeated": "each"},
        "SpanIoU": {"repeated": "each", "evidence": "each"},
        "SpanPrecisionOmega": {"touching": "border"},
    },
    lengths=("char",),
)

TOOLS = (CHROMA,)
