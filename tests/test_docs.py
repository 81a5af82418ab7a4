"""The documentation is current, and what it shows works."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from goldrank import parse
from goldrank.cli.trec_eval import TABLE
from goldrank.errors import MeasureError
from goldrank.measures import REGISTRY, declare

DOCS = Path(__file__).parent.parent / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_measures_page_is_current():
    assert (DOCS / "measures.md").read_text(encoding="utf-8") == generator().text(), "run `make docs`"


def test_measures_page_has_every_measure_once():
    heads = re.findall(r"^### (.*)$", (DOCS / "measures.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(heads) == sorted(REGISTRY)


def test_adding_a_measure():
    """The page's example, as it stands there: declared, spelled, evaluated."""
    code = re.search(r"```python\n(.*?)```", (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    namespace: dict[str, object] = {}
    try:
        exec(code[1], namespace)
        # a stands at rank 1 and b at rank 3; from grade 2 up there is only b.
        assert namespace["scores"].mean == {"MeanRank": (1 + 3) / 2, "MeanRank(rel=2)": 3.0}
        assert str(parse("meanrank(rel=2)")) == "MeanRank(rel=2)"
    finally:
        REGISTRY.pop("MeanRank", None)
        declare._ALIASES.pop("meanrank", None)
    with pytest.raises(MeasureError):
        parse("MeanRank")


def test_trec_eval_page_counts_right():
    text = (DOCS / "trec_eval.md").read_text(encoding="utf-8")
    assert f"All {len(TABLE)} measures" in text
