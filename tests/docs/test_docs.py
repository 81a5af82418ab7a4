"""The documentation is current, and what it shows works."""

from __future__ import annotations

import gzip
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import measured
import places
import polars as pl

from goldrank.cli.eval import command
from goldrank.measures import REGISTRY
from goldrank.measures.trec_names import TABLE

DOCS = places.ROOT / "docs"


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


def test_trec_eval_page_counts_right():
    text = (DOCS / "trec_eval.md").read_text(encoding="utf-8")
    assert f"All {len(TABLE)} measures" in text


def test_scale_page_works(tmp_path, monkeypatch):
    """Every Python example of the page, on small files of the names that it uses."""
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    assert text.count("<!-- measured: begin -->") == text.count("<!-- measured: end -->") == 1
    monkeypatch.chdir(tmp_path)
    run, qrels = b"q1 Q0 d1 1 2.0 bm25\n", b"q1 0 d1 1\n"
    for folder in ("runs", "run.d", "qrels.d"):
        (tmp_path / folder).mkdir()
    pl.DataFrame({"query": ["q1"], "doc": ["d1"], "score": [1.0]}).write_parquet("runs/part-0.parquet")
    Path("run.d/a.txt.gz").write_bytes(gzip.compress(run))
    Path("qrels.d/a.txt.gz").write_bytes(gzip.compress(qrels))
    Path("qrels.txt").write_bytes(qrels)
    Path("all-runs.txt").write_bytes(run + run.replace(b"bm25", b"dense"))
    for i in range(8):
        Path(f"qrels-{i}.txt").write_bytes(qrels.replace(b"q1", b"q%d" % i))
        Path(f"run-{i}.txt").write_bytes(run.replace(b"q1", b"q%d" % i))
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 3
    namespace: dict[str, object] = {}
    for line in "\n".join(blocks).splitlines():
        if line.startswith("goldrank."):
            found = eval(line, namespace)
            size = len(found) if "read_runs" in line else len(found.queries)
            assert size == (2 if "read_runs" in line else 8 if "merge" in line else 1), line
        else:
            exec(line, namespace)


def test_scale_page_names_what_there_is():
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    options = {name for one in command.params for name in one.opts}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert named
    assert named <= options


def test_scale_page_compares_rows_of_the_benchmark():
    rows = measured.rows()
    text = " ".join((DOCS / "scale.md").read_text(encoding="utf-8").split())
    ours, pure = (
        rows["marco-shuffled files", tool]["time"] / rows["marco files", tool]["time"]
        for tool in ("goldrank", "goldrank, without the core")
    )
    told = f"take {ours:.1f} times what sorted ones take, without the compiled core {pure:.1f} times"
    assert told in text
