"""Files that goldrank writes are never wider than what they were made from."""

from __future__ import annotations

import gzip
import json
import os
import stat
import sys

import pytest

from goldrank.base import writing
from goldrank.base.writing import private_file, write_whole
from goldrank.io.by_id.document_files import indexed
from goldrank.match import models

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions of Unix")


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(autouse=True)
def _usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666])
def test_a_file_has_its_mode_before_anything_stands_in_it(tmp_path, mode, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(mode)
    seen = []
    fill = writing._fill

    def watched(file, content):
        seen.append((mode_of(file.fileno()), os.path.getsize(file.fileno())))
        fill(file, content)

    monkeypatch.setattr(writing, "_fill", watched)
    write_whole(path, b"after")
    assert seen == [(mode, 0)]
    assert path.read_bytes() == b"after"
    assert mode_of(path) == mode


def test_a_new_file_has_the_usual_mode(tmp_path):
    write_whole(tmp_path / "file", b"new")
    assert mode_of(tmp_path / "file") == 0o644


def test_a_private_file_is_not_opened_twice(tmp_path):
    with private_file(tmp_path / "file") as file:
        file.write(b"secret")
    assert mode_of(tmp_path / "file") == 0o600
    with pytest.raises(FileExistsError):
        private_file(tmp_path / "file")


@pytest.mark.parametrize("packed", [True, False])
def test_what_is_kept_of_a_corpus_is_not_for_others(tmp_path, monkeypatch, packed):
    """A corpus of mode 0600 was unpacked into the cache as 0644."""
    monkeypatch.setenv("GOLDRANK_CACHE", str(tmp_path / "cache"))
    line = json.dumps({"_id": "d1", "text": "private"}).encode() + b"\n"
    path = tmp_path / ("corpus.jsonl.gz" if packed else "corpus.jsonl")
    path.write_bytes(gzip.compress(line) if packed else line)
    path.chmod(0o600)

    assert indexed(path, None).get("d1").text == "private"
    kept = list((tmp_path / "cache").rglob("*.*"))
    assert len(kept) == 2 if packed else 1
    assert {mode_of(file) for file in kept} == {0o600}


def test_vectors_are_not_for_others(tmp_path):
    kept = models.KeptVectors("model", str(tmp_path))
    kept._with_file(lambda opened: None)
    assert mode_of(kept.path) == 0o600
