"""A key that is no secret, and a log of judgements, for tests that ask a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import KEY

from goldrank.judging.log import JudgementLog


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is set, and nothing is remembered of what servers refused before."""
    from goldrank.judging import endpoint

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint._STEPPED_DOWN.clear()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[JudgementLog]:
    with JudgementLog(tmp_path / "judgements.db") as log:
        yield log
