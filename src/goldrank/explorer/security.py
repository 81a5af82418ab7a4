"""Who gets in, and what pages may do. A request is refused unless it comes from the user's own browser.

- The Host header must name this machine, so that no foreign name that resolves to it (DNS rebinding) is answered.
- A random token, in the address that is opened, becomes a cookie, which other users of a shared machine do not have.
- Writes need the page's secret in a header, the right Origin, and JSON: no form of another site can send these.
- A strict Content-Security-Policy: a text that was not escaped could not load or run anything.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from goldrank.explorer.addresses import MOST, address, parsed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
BODY = 16_384
"""Bytes of a request's body."""
PATIENCE = 10.0
"""Seconds that a client has to send the header of a request, and then its body. A request that never ends would keep
its connection from others."""
WRITES = 50
"""Writes a second."""
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types parts"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
REFUSED = {
    400: "This request cannot be understood.",
    403: "This address needs its token: open the one that `goldrank serve` printed.",
    405: "Pages are read with GET, judgements written with POST.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    414: "The address is too long.",
    415: "Writes are JSON.",
    421: "This server answers to the names of this machine only.",
    429: "Too many writes at once; try again.",
}


@dataclass
class Guard:
    """The gate that every request passes."""

    app: ASGIApp
    token: str | None
    """None if no token is needed."""
    cookie: str
    write_secret: str
    hosts: Collection[str] | None = LOOPBACK
    """Names that the Host header may have; None for any, where a token keeps others out."""
    _writes: list[float] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        status, cookie = self._checked(scope, headers)
        if status == 303:
            query = parsed(scope["query_string"])
            query.pop("token", None)
            where = address(_same_site(scope["path"]), query)
            await _answer(send, 303, b"", {"location": where, "set-cookie": cookie, "cache-control": "no-store"})
            return

        if status == 200 and scope["method"] == "POST":
            body = await _body(receive)
            if isinstance(body, int):
                status = body
            else:
                receive = _replayed(body)

        if status == 200:
            await self.app(scope, receive, _with_headers(send))
        else:
            await _answer(send, status, REFUSED[status].encode(), {"content-type": "text/plain; charset=utf-8"})

    def _checked(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str]:
        """200 to go on, 303 to come back with a cookie, or why not."""
        if len(scope["query_string"]) + len(scope.get("raw_path") or b"") > MOST:
            return 414, ""

        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, ""

        method, path = scope["method"], scope["path"]
        if method not in ("GET", "HEAD", "POST"):
            return 405, ""
        if path == "/healthz":
            return 200, ""

        if self.token is not None:
            if method == "GET" and equal_secrets(parsed(scope["query_string"]).get("token", ""), self.token):
                return 303, f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"
            if not self._has_cookie(headers):
                return 403, ""

        site = headers.get("sec-fetch-site", "same-origin")
        if path.startswith(("/api/", "/part/")) and site not in ("same-origin", "none"):
            return 403, ""
        if method == "POST":
            return self._checked_write(headers, host, site), ""
        return 200, ""

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        return bool(name) and (self.hosts is None or name in self.hosts)

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        assert self.token is not None
        for part in headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie and equal_secrets(value, self.token):
                return True
        return False

    def _checked_write(self, headers: dict[str, str], host: str, site: str) -> int:
        if headers.get("origin") not in (f"http://{host}", f"https://{host}") or site != "same-origin":
            return 403
        if not equal_secrets(headers.get("x-goldrank-write", ""), self.write_secret):
            return 403
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415

        length = headers.get("content-length", "")
        if length and (not length.isdigit() or int(length) > BODY):
            return 413

        now = time.monotonic()
        self._writes = [then for then in self._writes if now - then < 1.0]
        if len(self._writes) >= WRITES:
            return 429

        self._writes.append(now)
        return 200


def equal_secrets(first: str, second: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(first.encode("utf-8", "surrogatepass"), second.encode("utf-8", "surrogatepass"))


def new_secret() -> str:
    """A random text that cannot be guessed."""
    return secrets.token_urlsafe(24)


def _same_site(path: str) -> str:
    """A path that cannot lead to another host."""
    return "/" + path.lstrip("/\\")


async def _body(receive: Receive) -> bytes | int:
    """The whole body, or the status of the answer if it is too large or too slow."""
    body: bytes = b""
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                body += bytes(message.get("body", b""))
                if len(body) > BODY:
                    return 413
                if not message.get("more_body"):
                    return body
    except TimeoutError:
        return 408


def _replayed(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), text.encode()) for name, text in HEADERS.items() if name.encode() not in present]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    all_headers = {**HEADERS, **headers, "content-length": str(len(body))}
    pairs = [(name.encode(), text.encode()) for name, text in all_headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
