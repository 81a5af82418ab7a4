"""A collection of which a quarter is judged, for tests of judging and of what unjudged documents do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import places

from goldrank import Qrels, io
from goldrank.explorer.session import Session
from goldrank.explorer.start import DEMO_CRITERIA, DEMO_MEASURES, PageTexts, session_of

DATA: dict[str, Any] = json.loads((places.FILES / "partly_judged.json").read_text(encoding="utf-8"))
QRELS: dict[str, dict[str, int]] = DATA["qrels"]
RUNS: dict[str, dict[str, dict[str, float]]] = {name: DATA["runs"][name] for name in ("bm25", "overlap")}


def new_session() -> Session:
    """What the explorer shows of it, with the measures and grades of `goldrank serve --demo`."""
    runs = {name: io.as_run(run).renamed(name) for name, run in RUNS.items()}
    texts = PageTexts(DATA["documents"], DATA["queries"], "Household tips", DEMO_CRITERIA)
    return session_of(QRELS, runs, texts, measures=DEMO_MEASURES)


def served_files(folder: Path) -> list[str]:
    """It as files in a folder, and the arguments of `goldrank serve` that show them."""
    Qrels(QRELS).save(folder / "some.qrels")
    for name, run in RUNS.items():
        io.as_run(run, name=name).save(folder / f"{name}.run")
    documents = [{"_id": doc, "text": text} for doc, text in DATA["documents"].items()]
    (folder / "documents.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in documents))
    (folder / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in DATA["queries"].items()))
    grades = (f"{one.grade}\t{one.name}\t{one.sentence}\n" for one in DEMO_CRITERIA)
    (folder / "criteria.tsv").write_text("".join(grades))
    runs = [f"{name}={folder / name}.run" for name in RUNS]
    texts = ["--documents", str(folder / "documents.jsonl"), "--queries", str(folder / "queries.tsv")]
    criteria = ["--criteria", str(folder / "criteria.tsv"), "-m", ",".join(DEMO_MEASURES)]
    return [str(folder / "some.qrels"), *runs, *texts, *criteria]
