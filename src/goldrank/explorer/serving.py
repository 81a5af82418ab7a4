"""Start and end of the server: the address, the browser, Ctrl-C."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import html
import ipaddress
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from goldrank.base.errors import OptionError
from goldrank.base.packages import needed
from goldrank.explorer.security import LOOPBACK, PATIENCE, Guard

CONNECTIONS = 64
LOOKS = 5
"""How often within `PATIENCE` a check sees whether a client takes its answer; the answer must end within 6 times it."""
PORT = 8_642
LEADING = 60.0
"""Seconds until the file that leads a browser to the pages is deleted."""
TRIED = 20
"""Ports after the usual one that are tried if it is taken."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str) -> tuple[str, ...] | None:
    """Names that the Host header may have: this machine, and the host; None for any, if the host is all addresses.

    >>> allowed_hosts("127.0.0.2")
    ('127.0.0.1', 'localhost', '::1', '127.0.0.2')
    """
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return tuple(dict.fromkeys((*LOOPBACK, host.lower())))
    if ip.is_unspecified:
        return None
    return tuple(dict.fromkeys((*LOOPBACK, str(ip), host.lower())))


def listening(host: str, port: int | None) -> socket.socket:
    """A socket on the port; without a port, on the usual one or the next free one."""
    candidates = [*range(PORT, PORT + TRIED), 0]
    if port is not None:
        candidates = [port]
    family = socket.AF_INET
    if ":" in host:
        family = socket.AF_INET6

    reason: str | None = "no port"
    for candidate in candidates:
        # asyncio sends small answers at once (TCP_NODELAY) on sockets that say they are TCP, others 40 ms later.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
        except OSError as error:
            listener.close()
            reason = error.strerror
        else:
            return listener

    message = f"cannot listen on {host}, port {port or PORT}: {reason}"
    raise OptionError(message, hint="--port 0 takes any that is free.")


def run(app: Guard, where: socket.socket, opened: Callable[[], object]) -> None:
    """Serve until Ctrl-C; `opened` is called when requests are answered."""
    with needed("uvicorn"):
        import uvicorn

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        limit_concurrency=CONNECTIONS,
        lifespan="off",
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=65_536,
        timeout_graceful_shutdown=2,
        http=_protocol(),
    )
    server = _Server(config, opened)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server.serve(sockets=[where]))


def _protocol() -> Any:
    """HTTP by h11, with limits for the header of a request, and for a client that does not take its answer.

    If many connections are open, idle ones are closed to make room for a new one.
    """
    with needed("uvicorn"):
        import h11
        from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        deadline: asyncio.TimerHandle | None = None
        look: asyncio.TimerHandle | None = None
        unsent = stuck = waits = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.await_header()
            self.look_later()
            if len(self.connections) > CONNECTIONS // 2:
                connections: list[Any] = list(self.connections)  # of this class
                for connection in connections:
                    if connection.is_idle():
                        connection.transport.close()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.await_header()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self.stop_waiting()
            if self.look is not None:
                self.look.cancel()

        def is_idle(self) -> bool:
            return bool(self.cycle and self.cycle.response_complete and not self.transport.get_write_buffer_size())

        def look_later(self) -> None:
            self.look = self.loop.call_later(PATIENCE / LOOKS, self.look_at_answer)

        def look_at_answer(self) -> None:
            left = self.transport.get_write_buffer_size()
            self.stuck += 1
            self.waits += 1
            if left < self.unsent:
                self.stuck = 0
            if not left:
                self.stuck = self.waits = 0

            self.unsent = left
            if self.stuck > LOOKS or self.waits > 6 * LOOKS:
                self.transport.abort()
            else:
                self.look_later()

        def await_header(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self.stop_waiting()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(PATIENCE, self.give_up)

        def give_up(self) -> None:
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.transport.close()

        def stop_waiting(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return Protocol


def _Server(config: Any, opened: Callable[[], object]) -> Any:  # noqa: N802 - a class, made when uvicorn is there
    with needed("uvicorn"):
        import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                opened()

    return Server(config)


def open_browser(address: str, *, is_secret: bool) -> None:
    """Open the address, if there is a screen; in a thread, because a browser may be slow.

    The arguments of a browser can be read by every user of the machine. Where the address is a secret, the browser is
    given a file that only its owner reads, and that leads to the address.
    """
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen:
        threading.Thread(target=_open, args=(address, is_secret), daemon=True).start()


def _open(address: str, is_secret: bool) -> None:
    import webbrowser

    if not is_secret:
        webbrowser.open(address)
        return

    path = leading_file(address)
    atexit.register(path.unlink, missing_ok=True)
    webbrowser.open(path.as_uri())
    time.sleep(LEADING)
    path.unlink(missing_ok=True)


def leading_file(address: str) -> Path:
    """A temporary page that only its owner reads, and that leads to an address."""
    descriptor, name = tempfile.mkstemp(prefix="goldrank-", suffix=".html")  # with mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_LEADING_PAGE.format(html.escape(address)))
    return Path(name)


_LEADING_PAGE = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={0}">
<title>goldrank</title>
<a href="{0}">Open the explorer</a>
"""
