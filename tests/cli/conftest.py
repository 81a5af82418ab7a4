"""Made-up judgements and runs, as fixtures."""

import made_up
import pytest


@pytest.fixture
def data():
    return made_up.make_runs()
