"""Why an engine gave no results: classes of failures, which are counted apart and are never an empty result."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

FailureCode: TypeAlias = Literal[
    "connect", "tls", "timeout", "rate-limited", "http-4xx", "http-5xx", "redirect-refused", "address-refused",
    "too-large", "too-deep", "bad-encoding", "not-json", "no-hits-path", "bad-id", "engine-error", "command-died",
    "wrong-id", "function-error",
]  # fmt: skip

FAILURES: dict[FailureCode, str] = {
    "connect": "there was no connection, or it broke",
    "tls": "the server's certificate was not accepted",
    "timeout": "the answer did not end in time",
    "rate-limited": "the engine asked to slow down (429)",
    "http-4xx": "the engine refused the request",
    "http-5xx": "the engine failed",
    "redirect-refused": "the engine sent the request elsewhere",
    "address-refused": "the host is at a private address that the file does not name",
    "too-large": "the answer has more bytes than the limit",
    "too-deep": "the answer is nested too deeply",
    "bad-encoding": "the answer is not packed as it says, or in a way that was not asked for",
    "not-json": "the answer is not JSON",
    "no-hits-path": "there is no list of results where it should be",
    "bad-id": "a result has no id that a run can hold",
    "engine-error": "the engine answered with an error",
    "command-died": "the program ended",
    "wrong-id": "the program answered a query that it was not asked",
    "function-error": "the function raised an error",
}
"""What each means."""
assert set(FAILURES) == set(get_args(FailureCode))


class AskFailed(Exception):  # noqa: N818 - it says what happened, and the caller of `ask` catches it
    """A query that an engine did not answer."""

    def __init__(
        self, code: FailureCode, text: str, *, can_retry: bool = False, retry_after: float | None = None
    ) -> None:
        self.code = code
        self.text = text
        self.can_retry = can_retry
        """Whether another attempt may help."""
        self.retry_after = retry_after
        """Seconds that the engine asks to wait before the next attempt."""
        super().__init__(text)
