"""Text from outside, for people."""

import pytest

from goldrank.base.escaping import show


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("run-a", 5, "run-a"),
        ("run-2024-final-v1", 10, "run-...-v1"),
        ("run-2024-final-v2", 10, "run-...-v2"),
        ("0123456789abcdef", 9, "012...def"),
        ("a\nb", 60, "a\\nb"),
        ("\x1b" + "x" * 100, 10, "\\x1b...xxx"),
    ],
)
def test_long_names_lose_their_middle(text, limit, shown):
    """Names differ at their ends as often as at their beginnings."""
    assert show(text, limit) == shown


def test_no_limit_is_passed():
    for limit in range(4, 80):
        for size in (limit, limit + 1, limit + 50):
            assert len(show("\x00" * size, limit)) <= (limit if size > limit else 4 * limit)
            assert len(show("y" * size, limit)) <= limit
