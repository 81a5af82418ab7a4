"""A small server on 127.0.0.1 that answers as a test says, in one write (else delayed acknowledgements cost 40 ms)."""

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit


@dataclass
class Request:
    method: str
    path: str
    params: dict
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def form(self):
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


@dataclass
class Answer:
    """What is sent back; `pieces` are sent one after the other with pauses, endlessly if asked."""

    body: bytes | str | dict | list = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    pieces: tuple = ()
    pause: float = 0.0


@dataclass
class Server:
    behave: object
    url: str = ""
    requests: list = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0
    _lock: object = field(default_factory=threading.Lock)
    _done: object = field(default_factory=threading.Event)

    def handle(self, connection):
        with connection:
            stream = connection.makefile("rb")
            connection.settimeout(20)
            try:
                while (request := read_request(stream)) is not None:
                    with self._lock:
                        self.requests.append(request)
                        number = len(self.requests) - 1
                        self._at_once += 1
                        self.most_at_once = max(self.most_at_once, self._at_once)
                    answer = self.behave(request, number)
                    with self._lock:
                        self._at_once -= 1  # before the client has the answer, and may ask again
                    self.reply(connection, answer)
            except OSError:
                return

    def reply(self, connection, answer):
        if answer == "cut":
            connection.shutdown(socket.SHUT_RDWR)
            raise OSError
        if not isinstance(answer, Answer):
            answer = Answer(answer)
        body = answer.body if isinstance(answer.body, bytes) else text_of(answer.body).encode()
        headers = {"Content-Type": "application/json", **answer.headers}
        if not answer.pieces:
            headers["Content-Length"] = str(len(body))
        head = f"HTTP/1.1 {answer.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(head.encode() + b"\r\n" + body)
        while answer.pieces:
            for piece in answer.pieces:
                if self._done.wait(answer.pause):
                    raise OSError
                connection.sendall(piece)


def text_of(body):
    return body if isinstance(body, str) else json.dumps(body)


def read_request(stream):
    line = stream.readline().decode()
    if not line:
        return None
    method, target, _ = line.split(" ", 2)
    headers = {}
    while (line := stream.readline().decode().strip()) != "":
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    body = stream.read(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    params = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return Request(method, parts.path, params, headers, body)


@contextmanager
def serving(behave, context=None, host="127.0.0.1"):
    """The server; `behave(request, number)` gives an `Answer`, a body, or "cut". `context` is for TLS."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, 0), family=family, backlog=128)
    named = f"[{host}]" if ":" in host else host
    scheme = "http" if context is None else "https"
    server = Server(behave, f"{scheme}://{named}:{listening.getsockname()[1]}")

    def accept():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            if context is not None:
                try:
                    connection = context.wrap_socket(connection, server_side=True)
                except OSError:
                    continue
            threading.Thread(target=server.handle, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        server._done.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
