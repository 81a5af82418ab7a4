"""Asks an engine over HTTP (httpx), within limits of time and bytes, at an address that was checked.

Answers are read as they were sent and unpacked with a limit. Secrets are sent in headers, and are taken out of every
text of an answer before it is read.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from goldrank.base import ids
from goldrank.base.errors import OptionError
from goldrank.base.packages import needed
from goldrank.judging.decoding import DamagedBodyError, UnaskedEncodingError, unpacked
from goldrank.retrieval.addresses import checked_address
from goldrank.retrieval.engine_file import HttpRequest, SearchEngine
from goldrank.retrieval.failures import AskFailed
from goldrank.retrieval.hits import ReadAnswer, parsed, read_answer
from goldrank.retrieval.secret_values import Secrets, is_secret, value_of, variable_of
from goldrank.retrieval.templates import EngineQuery, filled, filled_address

if TYPE_CHECKING:
    import httpx

RETRIED = (502, 503, 504)
MOST_REDIRECTS = 3
LONGEST_WAIT = 60.0
"""Seconds that an engine may ask to wait."""


@dataclass(frozen=True)
class EngineReply:
    """What came back for one query."""

    answer: ReadAnswer
    latency_ms: float
    """From the first byte of the request to the last of the answer."""
    connect_ms: float | None = None
    """How long setting up a new connection took."""


@dataclass
class _Clock:
    """The times of one request's events, which httpcore reports."""

    times: dict[str, float] = field(default_factory=dict)

    async def event(self, name: str, info: Mapping[str, Any]) -> None:
        self.times[name.split(".", 1)[1]] = time.perf_counter()

    @property
    def sent(self) -> float | None:
        return self.times.get("send_request_headers.started")

    @property
    def connect_ms(self) -> float | None:
        began = self.times.get("connect_tcp.started")
        ended = self.times.get("start_tls.complete", self.times.get("connect_tcp.complete"))
        if began is None or ended is None:
            return None
        return (ended - began) * 1000


@dataclass(frozen=True)
class _Received:
    status: int
    headers: Mapping[str, str]
    text: str


class HttpEngine:
    """One engine over HTTP."""

    def __init__(self, engine: SearchEngine) -> None:
        with needed("httpx"):
            import httpx

        assert engine.request is not None
        self._engine = engine
        self._request: HttpRequest = engine.request

        variables = {
            name: variable_of(value, engine.name) for name, value in self._request.headers.items() if is_secret(value)
        }
        for variable in variables.values():
            if variable not in engine.allow_env:
                raise _not_allowed(engine, variable)
        self._secret_headers = {name: value_of(variable, engine.name) for name, variable in variables.items()}
        self._plain_headers = {
            name: value for name, value in self._request.headers.items() if name not in self._secret_headers
        }
        self.secrets = Secrets(tuple(self._secret_headers.values()))
        self._address: str | None = None
        self._address_lock = asyncio.Lock()

        no_limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        # There is one deadline for all that a request does (`ask`), and no proxy of the environment.
        self._client = httpx.AsyncClient(
            limits=no_limits,
            timeout=None,  # noqa: S113
            follow_redirects=False,
            trust_env=False,
            verify=_trusted(),
        )

    async def ask(self, question: EngineQuery) -> EngineReply:
        """One attempt."""
        clock = _Clock()
        seconds = self._engine.limits.timeout_s
        try:
            async with asyncio.timeout(seconds):
                received = await self._sent(question, clock)
        except TimeoutError:
            raise AskFailed("timeout", f"the answer did not end within {seconds:g} s") from None
        ended = time.perf_counter()

        if received.status != 200:
            raise self._refused(received)
        answer = read_answer(parsed(received.text), self._engine.paths, self._engine.shape, question.k)
        return EngineReply(answer, (ended - (clock.sent or ended)) * 1000, clock.connect_ms)

    async def _sent(self, question: EngineQuery, clock: _Clock) -> _Received:
        values = question.values
        content, content_type = _content(self._request, values)
        url = filled_address(self._request.url, values)
        params: Any = {name: filled(value, values) for name, value in self._request.params.items()}
        headers = {**self._plain_headers, **self._secret_headers}
        if content_type:
            headers = {"Content-Type": content_type, **headers}

        for _ in range(MOST_REDIRECTS + 1):
            received = await self._exchanged(url, params, headers, content, clock)
            if not 300 <= received.status < 400:
                return received
            following = self._followed(url, received)
            if not urlsplit(following).path.startswith(_folder(self._request.url)):
                headers = {name: value for name, value in headers.items() if name not in self._secret_headers}
            url, params = following, None
        raise AskFailed("redirect-refused", f"the engine redirects more than {MOST_REDIRECTS} times")

    async def _exchanged(
        self, url: str, params: Any, headers: Mapping[str, str], content: bytes | None, clock: _Clock
    ) -> _Received:
        """Send one request to the address that was checked, and read its answer up to the limit."""
        with needed("httpx"):
            import httpx

        parts = urlsplit(url)
        host = parts.hostname or ""
        full_url = httpx.URL(url)
        if params:
            full_url = httpx.URL(url, params=params)
        pinned = full_url.copy_with(host=await self._checked(host, parts.port or _PORTS[parts.scheme]))
        most = self._engine.limits.max_bytes
        clock.times.clear()
        sent = {**headers, "Host": parts.netloc, "Accept": "application/json", "Accept-Encoding": "gzip"}
        extensions = {"sni_hostname": host, "trace": clock.event}

        raw = bytearray()
        try:
            async with self._client.stream(
                self._request.method, pinned, headers=sent, content=content, extensions=extensions
            ) as response:
                async for piece in response.aiter_raw():
                    raw += piece[: most + 1 - len(raw)]
                    if len(raw) > most:
                        raise AskFailed("too-large", f"the answer has more than {most:,} bytes")
            body = unpacked(bytes(raw), response.headers.get("content-encoding", ""), most + 1)
        except (DamagedBodyError, UnaskedEncodingError) as error:
            raise AskFailed("bad-encoding", f"the answer {self.secrets.clean(str(error))}") from None
        except httpx.InvalidURL as error:
            raise AskFailed("http-4xx", f"the address cannot be used: {self.secrets.clean(str(error))}") from None
        except httpx.TransportError as error:
            raise self._broken(error) from None
        if len(body) > most:
            raise AskFailed("too-large", f"the answer has more than {most:,} bytes when it is unpacked")

        text = self.secrets.clean(body.decode("utf-8", "replace"))
        return _Received(response.status_code, response.headers, text)

    async def _checked(self, host: str, port: int) -> str:
        """The address, looked up once."""
        async with self._address_lock:
            if self._address is None:
                self._address = await checked_address(host, port, self._engine.allow_private)
            return self._address

    def _broken(self, error: httpx.TransportError) -> AskFailed:
        reason: BaseException | None = error
        while reason is not None:
            if isinstance(reason, ssl.SSLError) or "certificate" in str(reason).lower():
                return AskFailed("tls", self.secrets.clean(str(error)))
            reason = reason.__cause__ or reason.__context__
        words = self.secrets.clean(str(error)) or type(error).__name__
        return AskFailed("connect", words, can_retry=True)

    def _followed(self, url: str, received: _Received) -> str:
        """Where a redirect leads, if that is the same server and the request can be repeated there."""
        location = received.headers.get("location", "")
        origin = urlsplit(url)
        try:
            following = urljoin(url, location)
            target = urlsplit(following)
            is_same_server = (target.scheme, target.hostname, target.port) == (
                origin.scheme,
                origin.hostname,
                origin.port,
            )
        except ValueError:
            is_same_server, following = False, ""

        if not location or not is_same_server or "@" in urlsplit(following).netloc:
            message = f"the engine sends elsewhere ({received.status}): {ids.show(self.secrets.clean(location), 100)}"
            raise AskFailed("redirect-refused", message)

        if self._request.method == "POST" and received.status not in (307, 308):
            raise AskFailed("redirect-refused", f"the engine redirects without the request's body ({received.status})")
        return following

    def _refused(self, received: _Received) -> AskFailed:
        status = received.status
        message = f"{status}: {ids.show(' '.join(received.text.split())[:300], 200)}"
        if status == 429:
            return AskFailed(
                "rate-limited", message, can_retry=True, retry_after=_seconds(received.headers.get("retry-after", ""))
            )
        if status in RETRIED:
            return AskFailed(
                "http-5xx", message, can_retry=True, retry_after=_seconds(received.headers.get("retry-after", ""))
            )
        if status >= 500:
            return AskFailed("http-5xx", message)
        return AskFailed("http-4xx", message)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _trusted() -> ssl.SSLContext | bool:
    """Whose certificates are accepted: the usual ones, or those of an authority in SSL_CERT_FILE."""
    file = os.environ.get("SSL_CERT_FILE")
    if not file:
        return True
    try:
        return ssl.create_default_context(cafile=file)
    except (OSError, ValueError) as error:
        raise OptionError(f"SSL_CERT_FILE cannot be read: {error}", where=file, code="cannot-open") from None


_PORTS = {"http": 80, "https": 443}


def _not_allowed(engine: SearchEngine, variable: str) -> OptionError:
    """A file of somebody else could name any variable, and send it to a host of theirs."""
    return OptionError(
        f"{engine.name} would send {variable} of the environment to {engine.host}, which was not allowed",
        hint=f"If that is meant: --allow-env {variable}, in Python SearchEngine.load(file, allow_env=['{variable}']).",
        code="secret-not-allowed",
    )


def _content(request: HttpRequest, values: Mapping[str, Any]) -> tuple[bytes | None, str]:
    """The body of a request and its type."""
    if request.form is not None:
        from urllib.parse import urlencode

        form = {name: filled(value, values) for name, value in request.form.items()}
        return urlencode(form, doseq=True).encode(), "application/x-www-form-urlencoded"
    if request.body is None:
        return None, ""
    body = filled(request.body, values)
    return json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace"), "application/json"


def _folder(url: str) -> str:
    """The path of an address up to its last slash."""
    return urlsplit(url).path.rpartition("/")[0] + "/"


def _seconds(header: str) -> float | None:
    """The seconds that an engine asks to wait, at most `LONGEST_WAIT`."""
    try:
        seconds = float(header)
    except ValueError:
        return None
    if seconds >= 0:
        return min(seconds, LONGEST_WAIT)
    return None
