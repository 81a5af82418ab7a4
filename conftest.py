"""What docstring examples may use without importing it."""

import pytest


@pytest.fixture(autouse=True)
def example_names(request: pytest.FixtureRequest) -> None:
    """Examples in docstrings call `evaluate` and `evaluate_texts` as a reader of the documentation would."""
    if isinstance(request.node, pytest.DoctestItem):
        from goldrank import Catalogue, evaluate, evaluate_arrays, evaluate_texts

        request.getfixturevalue("doctest_namespace").update(
            evaluate=evaluate, evaluate_arrays=evaluate_arrays, evaluate_texts=evaluate_texts, Catalogue=Catalogue
        )
