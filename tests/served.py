"""A real `goldrank serve` in a process of its own, and requests to it without a browser."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import goldrank

SOURCE = str(Path(goldrank.__file__).parent.parent)


class Served:
    """The server; it is ended when the block is left."""

    def __init__(self, *arguments: str, token: bool = False, port: int = 0, cache: Path | None = None) -> None:
        command = [sys.executable, "-m", "goldrank", "serve", *arguments, "--no-browser", "--port", str(port)]
        environment = {**os.environ, "PYTHONPATH": SOURCE}
        if cache is not None:
            environment["XDG_CACHE_HOME"] = str(cache)
        self.process = subprocess.Popen(
            command + ([] if token else ["--no-token"]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            found = re.search(r"Open (http://\S+)", line)
            if found:
                self.address = found[1]
                break
        else:
            self.process.communicate()
            raise AssertionError(said)
        self.where = urlsplit(self.address)
        self.base = f"http://{self.where.netloc}"

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill(signal.SIGTERM)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()

    def get(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, dict, str]:
        """Status, headers and text of an answer; names of headers have _ for -."""
        connection = http.client.HTTPConnection(self.where.hostname, self.where.port, timeout=30)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()
        finally:
            connection.close()

    def secrets(self) -> dict[str, str]:
        """What a page knows: the secret of writes, and the hash of the data."""
        text = self.get("/queries")[2]
        return {name: re.search(f'goldrank-{name}" content="([^"]*)"', text)[1] for name in ("write", "data")}

    def post(self, what: dict, path: str = "/api/judgements", **headers: str) -> tuple[int, dict]:
        """A write as a page sends it."""
        known = self.secrets() if "X_Goldrank_Write" not in headers else {"data": what.get("data", "")}
        sent = {
            "Origin": self.base,
            "Content_Type": "application/json",
            "X_Goldrank_Write": known.get("write", ""),
            **headers,
        }
        status, _, text = self.get(path, "POST", json.dumps({"data": known["data"], **what}).encode(), **sent)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, {"text": text}
