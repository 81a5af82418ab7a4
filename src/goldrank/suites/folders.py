"""A folder of collections: for each its judgements and the runs of systems, which go by the names of their files.

Three layouts are told by content: a folder for each collection with judgements and runs (also BEIR's `qrels/test.tsv`);
a folder for each system with MTEB's `TASK_predictions.json`, and the judgements in `qrels/TASK.tsv`; and MTEB's
results, `MODEL/REVISION/TASK.json`, which have one number for each task and no queries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goldrank.base.errors import InputError
from goldrank.base.types import ConventionLike
from goldrank.data.runs import Runs
from goldrank.data.scores import ScoresByRun
from goldrank.evaluation.rankings import evaluate
from goldrank.io import read_qrels, read_run

PREDICTIONS = "_predictions.json"
RUN_ENDINGS = (".run", ".trec", ".res", ".txt", ".tsv", ".csv", ".json", ".jsonl", ".parquet", ".arrow")
COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz")
NOT_RUNS = ("qrels", "queries", "corpus", "documents", "docs", "topics", "readme", "model_meta")
HINT = (
    "A folder for each collection has qrels.txt (or BEIR's qrels/test.tsv) and runs of the same names, such as "
    "nfcorpus/bm25.run; or a folder for each system has TASK_predictions.json, beside qrels/TASK.tsv."
)


@dataclass(frozen=True)
class CollectionFiles:
    """One collection on disk."""

    name: str
    qrels: Path
    runs: dict[str, Path] = field(default_factory=dict)
    """By system."""


def read_collections(folder: str, measure: str, convention: ConventionLike) -> dict[str, ScoresByRun]:
    """The scores of every system on every collection of a folder."""
    scored = {}
    for collection in collections_in(Path(folder)):
        judged = read_qrels(collection.qrels)
        runs = Runs([(system, read_run(path).renamed(system)) for system, path in collection.runs.items()])
        scored[collection.name] = evaluate(judged, runs, measure, convention=convention)
    return scored


def collections_in(folder: Path) -> list[CollectionFiles]:
    """The collections of a folder, in either layout."""
    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder), hint=HINT)

    collections = list(_by_system(folder))
    if not collections:
        collections = list(_by_collection(folder))
    collections = [collection for collection in collections if collection.runs]
    if not collections:
        raise InputError("has no collection with judgements and runs", where=str(folder), hint=HINT, code="empty-input")
    return collections


def _by_collection(folder: Path) -> Iterator[CollectionFiles]:
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith("."):
            continue
        qrels = _qrels_of(path)
        if qrels is None:
            if _runs_of(path):
                hint = "Name it qrels.txt, or give BEIR's qrels/test.tsv."
                raise InputError("has runs and no judgements", where=str(path), hint=hint)
            continue
        yield CollectionFiles(path.name, qrels, _runs_of(path))


def _qrels_of(folder: Path) -> Path | None:
    """The judgements of a collection: a file whose name begins with qrels, or the test file of BEIR's folder qrels."""
    beir = folder / "qrels"
    if beir.is_dir():
        tests = sorted(beir.glob("test.*")) or sorted(path for path in beir.iterdir() if path.is_file())
        if tests:
            return tests[0]
    named = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name.lower().startswith("qrels")]
    if len(named) > 1:
        listed = ", ".join(path.name for path in named)
        raise InputError(f"has several judgements: {listed}", where=str(folder), hint="Leave one.")
    if named:
        return named[0]
    return None


def _runs_of(folder: Path) -> dict[str, Path]:
    """The runs of a collection by system: beside the judgements, or in a folder `runs`."""
    inner = folder / "runs"
    place = folder
    if inner.is_dir():
        place = inner
    runs: dict[str, Path] = {}
    for path in sorted(place.iterdir()):
        stem, ending = _stem(path)
        is_other = place == folder and stem.lower().split(".")[0].startswith(NOT_RUNS)
        if not path.is_file() or path.name.startswith(".") or ending not in RUN_ENDINGS or is_other:
            continue
        if stem in runs:
            message = f"{path.name} and {runs[stem].name} are both runs of {stem}"
            raise InputError(message, where=str(place), hint="Leave one.", code="duplicate-name")
        runs[stem] = path
    return runs


def _stem(path: Path) -> tuple[str, str]:
    """The name of a file without its ending and its compression, and the ending."""
    name = path
    if name.suffix in COMPRESSIONS:
        name = name.with_suffix("")
    return name.name.removesuffix(name.suffix), name.suffix.lower()


def _by_system(folder: Path) -> Iterator[CollectionFiles]:
    """MTEB's predictions: a folder for each system, and the judgements of each task in `qrels`."""
    predictions: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.rglob(f"*{PREDICTIONS}")):
        system = path.relative_to(folder).parts[0]
        predictions.setdefault(path.name.removesuffix(PREDICTIONS), {})[system] = path

    for task, runs in predictions.items():
        named = sorted((folder / "qrels").glob(f"{task}.*"))
        qrels: Path | None = None
        if named:
            qrels = named[0]
        elif (folder / task).is_dir():
            qrels = _qrels_of(folder / task)
        if qrels is None:
            hint = f"Put them into {folder / 'qrels' / task}.tsv."
            raise InputError(f"the task {task} has no judgements", where=str(folder), hint=hint)
        yield CollectionFiles(task, qrels, runs)


def task_scores(folder: Path) -> dict[str, dict[str, float]]:
    """MTEB's results by task and model: the main score, a mean over splits and subsets. Empty if there are none."""
    cells: dict[str, dict[str, float]] = {}
    for path in sorted(folder.rglob("*.json")):
        parts = path.relative_to(folder).parts
        if len(parts) < 2 or path.name.endswith(PREDICTIONS):
            continue
        content = _task_result(path)
        if content is None:
            continue
        entries = [entry for split in content["scores"].values() for entry in split]
        values = [float(entry["main_score"]) for entry in entries if entry.get("main_score") is not None]
        if values:
            cells.setdefault(str(content["task_name"]), {})[parts[0]] = sum(values) / len(values)
    return cells


def _task_result(path: Path) -> Mapping[str, Any] | None:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(content, Mapping) and "task_name" in content and isinstance(content.get("scores"), Mapping):
        return content
    return None
