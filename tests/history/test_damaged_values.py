"""Values of a type that no history has, as a damaged page may hold them."""

from __future__ import annotations

import pytest
from raising import raises_code

from goldrank.base.errors import StoreError
from goldrank.history.record import record_digest
from goldrank.history.store import History


def test_a_number_is_no_set_of_queries():
    """Made bytes, it would be as many zeros, which take all memory there is."""
    with pytest.raises(TypeError):
        record_digest("", "", 10**12, 0, "", [])  # type: ignore[arg-type]


def test_what_is_no_text_is_damage():
    """SQLite quotes damaged names in its own errors, which Python then cannot decode."""
    with raises_code(StoreError, "damaged-file") as caught, History._translated_at("history.db", 1.0):
        b"\xf4".decode()
    assert caught.value.where == "history.db"
