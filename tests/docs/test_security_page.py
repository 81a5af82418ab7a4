"""What SECURITY.md and docs/scale.md promise: each row names tests that are there, and limits hold for every reader."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import re
from collections import OrderedDict, UserDict
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import goldrank
from goldrank import Qrels, Run
from goldrank.base.errors import InputError
from goldrank.io import sources

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")][1:]


def test_every_protection_names_tests_that_are_there() -> None:
    assert len(ROWS) > 8
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/.]+)`", row)
        assert named, row
        for path in named:
            assert (ROOT / path).exists(), path


def test_the_page_says_the_limits_of_the_code() -> None:
    assert f"beyond {sources.MAX_RATIO} times their size and {sources.FREE >> 20} MB" in PAGE
    scale = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert f"more than {sources.MAX_RATIO} times their size and more than {sources.FREE >> 20} MB" in scale


def test_nothing_is_promised_of_options_that_are_gone() -> None:
    pages = set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "moved.md"}  # which is about old names
    for path in (ROOT / "SECURITY.md", ROOT / "README.md", *pages):
        assert "--max-memory" not in path.read_text(encoding="utf-8"), path


TEXT = b"a" * 1_000
LINES: dict[str, tuple[bytes, bytes]] = {
    "run": (b"", b"q Q0 d 1 1.0 " + b"t" * 40 + b"\n"),
    "qrels": (b"", b"q 0 d 1\n"),
    "json": (b'{"q": {"d": 1', b" "),
    "csv": (b"query,doc,score\n", b"q,d,1\n"),
    "csv qrels": (b"query,doc,grade\n", b"q,d,1\n"),
    "texts": (b"", b'{"_id": "d", "text": "' + TEXT + b'"}\n'),
    "columns": (b"", b"d\t" + TEXT + b"\n"),
    "items": (b"", b'{"id": "q", "question": "' + TEXT + b'", "retrieved": ["a"], "references": ["a"]}\n'),
}
"""How a file begins, and what is repeated in it."""

READERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "read_run": ("run", lambda path: dict(goldrank.read_run(path))),
    "read_run, JSON": ("json", lambda path: dict(goldrank.read_run(path))),
    "read_run, CSV": ("csv", lambda path: dict(goldrank.read_run(path))),
    "read_runs": ("run", lambda path: dict(goldrank.read_runs(path).items())),
    "read_qrels": ("qrels", goldrank.read_qrels),
    "read_qrels, JSON": ("json", goldrank.read_qrels),
    "read_qrels, CSV": ("csv qrels", goldrank.read_qrels),
    "read_queries": ("texts", lambda path: goldrank.read_queries(path).column("text")),
    "read_queries, columns": ("columns", lambda path: goldrank.read_queries(path).column("text")),
    "read_documents": ("texts", lambda path: goldrank.read_documents(path).some(["d"])),
    "read_documents, columns": ("columns", lambda path: goldrank.read_documents(path).some(["d"])),
    "read_items": ("items", goldrank.read_items),
    "evaluate": ("run", lambda path: goldrank.evaluate({"q": {"d": 1}}, path)),
    "evaluate, qrels": ("qrels", lambda path: goldrank.evaluate(path, {"q": {"d": 1.0}})),
    "evaluate_texts": ("items", goldrank.evaluate_texts),
}


@pytest.mark.parametrize("reader", READERS)
def test_packed_files_are_not_unpacked_beyond_the_limits(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "FREE", 100_000)
    kind, read = READERS[reader]
    begin, repeated = LINES[kind]
    packed = gzip.compress(begin + repeated * (4_000_000 // len(repeated)))
    path = tmp_path / f"{kind.replace(' ', '-')}.gz"
    path.write_bytes(packed)
    with pytest.raises(InputError, match="unpacks to more than 250 times its size"):
        read(path)


def test_a_bomb_is_found_by_what_was_read_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after a bomb makes the file larger, and so made the whole ratio harmless."""
    monkeypatch.setattr(sources, "FREE", 100_000)
    path = tmp_path / "run.bz2"
    path.write_bytes(bz2.compress(b"q Q0 d 1 1 t\n" * 800_000) + bz2.compress(random.Random(1).randbytes(500_000)))
    with pytest.raises(InputError, match="unpacks to more than 250 times its size"):
        goldrank.read_qrels(path)


def test_streams_have_the_limits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "FREE", 100_000)
    begin, repeated = LINES["run"]
    packed = gzip.compress(begin + repeated * 100_000)
    with pytest.raises(InputError, match="unpacks to more than 250 times its size"):
        dict(goldrank.read_run(io.BytesIO(packed)))


FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": lambda row: {"q": row},
    "OrderedDict": lambda row: OrderedDict({"q": row}),
    "mapping of one's own": lambda row: UserDict({"q": row}),
    "view": lambda row: MappingProxyType({"q": MappingProxyType(row)}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [float, int, np.float32, np.int64], ids=lambda kind: kind.__name__)
def test_a_run_keeps_a_copy_of_every_form(form: str, number: Any) -> None:
    row = {"d": number(1), "e": number(2)}
    given = FORMS[form](row)
    run, qrels = Run(given), Qrels(given) if number in (int, np.int64) else None
    row["d"] = number(9)
    row["new"] = number(3)
    assert dict(run["q"]) == {"d": 1.0, "e": 2.0}
    if qrels is not None:
        assert dict(qrels["q"]) == {"d": 1, "e": 2}


@pytest.mark.parametrize("kind", [list, np.array], ids=["list", "array"])
def test_a_run_keeps_a_copy_of_ranked_lists(kind: Any) -> None:
    ranking = kind(["a", "b"])
    run = Run({"q": ranking})
    ranking[0] = "z"
    assert list(run["q"]) == ["a", "b"]
