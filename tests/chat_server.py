"""A server on loopback that speaks the protocol of chat endpoints, and misbehaves as tests want it to."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from goldrank.judging.item import JudgeItem

KEY = "sk-secret-4f1e9c77aa"


def user_message(body):
    return body["messages"][-1]["content"]


def fields(body):
    """The marker, the question and the text of a request."""
    said = user_message(body)
    marker = re.search(r"^marker: (\w+)$", said, re.M)[1]
    values = {name: json.loads(value) for name, value in re.findall(r"^(\w+): (\".*\")$", said, re.M)}
    return marker, values


def grade_of(text):
    """What this model thinks: the number in the text, modulo 4."""
    return int(re.search(r"\d+", text)[0]) % 4


def answer(body, *, grade=None, usage=True, finish="stop", content=None):
    """A sound answer to a request."""
    marker, values = fields(body)
    given = grade_of(values["passage"]) if grade is None else grade
    said = json.dumps({"marker": marker, "reason": "because", "grade": given}) if content is None else content
    found = {
        "id": "x",
        "model": body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": finish}],
    }
    if usage:
        found["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return 200, {}, json.dumps(found)


class Chat:
    """What the server saw. `behave(body, number)` gives (status, headers, body), or "cut"."""

    def __init__(self, behave):
        self.behave = behave
        self.requests = []
        self.headers = []
        self.answered = Counter()
        """Sound answers by text."""
        self.at_once = 0
        self.most_at_once = 0
        self.lock = threading.Lock()


@contextmanager
def serving(behave=lambda body, number: answer(body)):
    """The server, and its base URL."""
    chat = Chat(behave)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(raw)
            with chat.lock:
                number = len(chat.requests)
                chat.requests.append(body)
                chat.headers.append(dict(self.headers))
                chat.at_once += 1
                chat.most_at_once = max(chat.most_at_once, chat.at_once)
            try:
                found = chat.behave(body, number)
                if found == "cut":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                status, headers, said = found
                data = said if isinstance(said, bytes) else said.encode()
                if status == 200 and b'"finish_reason"' in data:
                    with chat.lock:
                        chat.answered[user_message(body).split("\n", 1)[1]] += 1
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True
            finally:
                with chat.lock:
                    chat.at_once -= 1

        def log_message(self, *args):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request, client_address):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def items(count):
    """So many things to judge."""
    return [JudgeItem(f"q{i % 7}", f"d{i}", f"question {i % 7}", f"text {i}") for i in range(count)]


def expected(count):
    """What this model says of them."""
    return {(f"q{i % 7}", f"d{i}"): i % 4 for i in range(count)}
