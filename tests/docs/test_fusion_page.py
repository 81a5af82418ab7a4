"""docs/fusion.md: its code runs, on the runs of the demo under the names of the page."""

from __future__ import annotations

import re
from typing import Any

import places
import pytest

import goldrank
from goldrank import demo

PAGE = (places.ROOT / "docs" / "fusion.md").read_text(encoding="utf-8")


def test_the_code_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    goldrank.read_qrels(demo.load()["qrels"]).save("qrels.txt")
    goldrank.read_run(demo.runs()["bm25"]).save("bm25.run")
    goldrank.read_run(demo.runs()["overlap"]).save("dense.run")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {"goldrank": goldrank, "new_runs": {"bm25": "bm25.run", "dense": "dense.run"}}
    exec(code, names)
    assert set(names["fused"]["q01"]) == {doc for run in demo.runs().values() for doc in run["q01"]}
    assert 0 < names["tuned"].value <= 1
    assert sum(names["tuned"].fusion.options["weights"]) == pytest.approx(1)
