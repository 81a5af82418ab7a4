"""Files that goldrank saved, changed: scores, baselines, histories, rules.

What loads must be sound: it is shown, judged and saved again, and loads as the same. A history never gives other values
than those that were recorded.
"""

from __future__ import annotations

import datetime
import json
import random
import shutil
import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from goldrank import Baseline, History, Rules, Runs, Scores, evaluate, gate
from goldrank.data.scores import ScoresByRun
from tests.fuzz import mutations
from tests.fuzz.outcomes import Difference, outcome, scores_value

Spec = dict[str, Any]
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d4": 2}, "q3": {"d9": 0}}
RUN = {"q1": {"d1": 3.0, "d2": 3.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.0}, "q7": {"d1": 1.0}}
OTHER = {"q1": {"d3": 3.0, "d1": 2.0}, "q2": {"d5": 3.0, "d4": 2.0}, "q3": {"d9": 1.0}}
MEASURES = ["nDCG@10", "AP", "GMAP", "NumRet", "RR"]
RULES = b"""# what must hold
alpha = 0.05
rules = [
  "nDCG@10: -1%",
  "AP >= 0.10",
  "missing <= 50%",
  "RR >= 0.2 untested",
]

[[rule]]
measure = "RR"
tolerance = "5%"
"""


NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


class _Noon(datetime.datetime):
    """A clock that stands, so that files are the same at all times."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime.datetime:
        return NOON


_CLOCK = SimpleNamespace(datetime=_Noon, UTC=datetime.UTC)


@cache
def scores(which: int = 0) -> Scores:
    return evaluate(QRELS, (RUN, OTHER)[which], MEASURES)


@cache
def seed(kind: str) -> bytes:
    """A sound file."""
    with (
        tempfile.TemporaryDirectory() as name,
        patch("goldrank.evaluation.pipeline.time", SimpleNamespace(time=NOON.timestamp)),
        patch("goldrank.gating.baseline.datetime", _CLOCK),
    ):
        path = Path(name) / "saved.json"
        if kind == "scores":
            scores().save(path)
        elif kind == "bounds":
            evaluate(QRELS, RUN, ["AP", "RR"], ties="bounds").save(path)
        elif kind == "scores by run":
            evaluate(QRELS, Runs(a=RUN, b=OTHER), MEASURES).save(path)
        elif kind == "baseline":
            Baseline(scores(), label="main").save(path)
        elif kind == "history":
            with History(path) as history:
                history.record(scores(), label="main", time=NOON)
                history.set_baseline("good", history.record(scores(1), label="main", time=NOON).id)
            connection = sqlite3.connect(path)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
        else:
            return RULES
        return path.read_bytes()


KINDS = ("scores", "bounds", "scores by run", "baseline", "history", "history", "rules")


def make(rng: random.Random) -> Spec:
    kind = rng.choice(KINDS)
    data = seed(kind)
    if kind == "history" and rng.random() < 0.6:
        return {"kind": kind, "data": data, "change": _change(rng)}
    if kind not in ("history", "rules") and rng.random() < 0.6:
        data = json.dumps(mutations.changed_json(rng, json.loads(data))).encode()
        if kind == "baseline" and rng.random() < 0.7:
            data = _resealed(data)
    else:
        data = mutations.changed(rng, data)
    return {"kind": kind, "data": data, "change": None}


def _resealed(data: bytes) -> bytes:
    """A changed baseline whose hash is that of the change, as somebody who cheats would make it."""
    from goldrank.gating.baseline import content_hash

    content = json.loads(data)
    hashed = next((key for key in content if "sha256" in key), None) if isinstance(content, dict) else None
    if hashed is None:
        return data
    try:
        content[hashed] = content_hash({key: value for key, value in content.items() if key != hashed})
    except (TypeError, ValueError, UnicodeEncodeError):
        return data
    return json.dumps(content).encode()


def _change(rng: random.Random) -> list[Any]:
    """A statement on the tables of a history: a cell is another, a row or a table is gone."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "history"
        path.write_bytes(seed("history"))
        connection = sqlite3.connect(path)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = rng.choice([each for each in tables if not each.startswith("sqlite_")])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        values = [row[0] for row in connection.execute(f"SELECT {column} FROM {table} LIMIT 5")]
        connection.close()
    kind = rng.randrange(8)
    if kind == 0:
        return [f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table})", []]
    if kind == 1:
        return [rng.choice((f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME COLUMN {column} TO gone")), []]
    if kind == 2:
        return [f"PRAGMA user_version = {rng.choice((0, 1, 2, 3, 99, -1))}", []]
    old = rng.choice(values) if values else None
    if isinstance(old, bytes) and rng.random() < 0.8:
        new: Any = mutations.changed(rng, old)
    elif isinstance(old, str) and rng.random() < 0.6:
        new = mutations.changed_text(rng, old).encode("utf-8", "replace").decode()
    else:
        new = rng.choice((None, 0, -1, 1, 2**63 - 1, 0.5, float("inf"), "", "x", b"", b"\0" * 8, "{}", "[]", "null"))
    return [f"UPDATE OR REPLACE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})", [new]]


def check(spec: Spec, folder: Path) -> None:
    path = folder / ("rules.toml" if spec["kind"] == "rules" else "fuzzed")
    path.write_bytes(spec["data"])
    CHECKS[spec["kind"]](path, spec)


def _check_scores(path: Path, spec: Spec) -> None:
    loaded = outcome(lambda: Scores.load(path))
    if loaded.refused:
        return
    _use(loaded.value)
    again = path.with_name("again.json")
    loaded.value.save(again)
    if scores_value(Scores.load(again), notes=True) != scores_value(loaded.value, notes=True):
        raise Difference("loaded -> scores\nsaved and loaded again -> other scores")
    outcome(lambda: gate(scores(), ["AP: -1%", "nDCG@10 >= 0.1"], loaded.value))
    outcome(lambda: gate(loaded.value, ["AP >= 0.1", "missing <= 1%", "overlap >= 1%", "AP [relevant] >= 0.1"]))


def _use(loaded: Scores) -> None:
    """Whoever holds scores shows them."""
    repr(loaded), loaded._repr_html_(), loaded.to_polars(), loaded.mean, loaded.std, loaded.per_query, loaded.n
    json.loads(loaded.to_json())


def _check_by_run(path: Path, spec: Spec) -> None:
    loaded = outcome(lambda: ScoresByRun.load(path))
    if not loaded.refused:
        repr(loaded.value), loaded.value.to_polars()
        for each in loaded.value.values():
            _use(each)


def _check_baseline(path: Path, spec: Spec) -> None:
    loaded = outcome(lambda: Baseline.load(path))
    if not loaded.refused:
        _use(loaded.value.scores)
        str(loaded.value.words)
    outcome(lambda: str(gate(scores(1), ["AP: -1%", "nDCG@10 >= 0.1"], path)))


def _check_history(path: Path, spec: Spec) -> None:
    if spec["change"]:
        statement, values = spec["change"]
        connection = sqlite3.connect(path)
        try:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute(statement, values)
            connection.commit()
        except (sqlite3.Error, OverflowError):
            pass
        connection.close()
    known = [scores_value(scores(which))[0] for which in (0, 1)]
    if outcome(lambda: History(path).close()).refused:
        return
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    with History(path, mode="r") as history:
        outcome(history.check)
        records = outcome(history.records)
        for record in records.value or ():
            found = outcome(lambda record=record: scores_value(history.scores(record))[0])
            if not found.refused and found.value not in known:
                raise Difference(f"recorded -> {known!r:.400}\nread -> {found}")
            str(record), record.mean
        outcome(history.sound_records)
        outcome(history.baselines)
        outcome(lambda: history.baseline("good"))
        outcome(lambda: history["main"])
        outcome(lambda: str(gate(scores(1), "AP: -1%", history.baseline("good"))))

    def recorded() -> None:
        with History(copy) as history:
            history.record(scores(), label="more")

    outcome(recorded)


def _check_rules(path: Path, spec: Spec) -> None:
    loaded = outcome(lambda: Rules.load(path))
    if not loaded.refused:
        for rule in loaded.value:
            str(rule), rule.to_dict()
        outcome(lambda: str(gate(scores(), loaded.value, scores(1))))


CHECKS = {
    "scores": _check_scores, "bounds": _check_scores, "scores by run": _check_by_run, "baseline": _check_baseline,
    "history": _check_history, "rules": _check_rules,
}  # fmt: skip
