"""What docstring examples may use without importing it."""

import pytest


@pytest.fixture(autouse=True)
def example_names(request: pytest.FixtureRequest) -> None:
    """Examples in docstrings call `evaluate` as a reader of the documentation would."""
    if isinstance(request.node, pytest.DoctestItem):
        from goldrank import evaluate

        request.getfixturevalue("doctest_namespace")["evaluate"] = evaluate
