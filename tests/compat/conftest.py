"""What tests of the facades share."""

from __future__ import annotations

import pytest
from notebooks import Notebook


@pytest.fixture
def notebook(capsys: pytest.CaptureFixture[str]) -> Notebook:
    return Notebook(capsys)
