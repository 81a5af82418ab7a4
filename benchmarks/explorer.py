"""What `goldrank serve` takes: python benchmarks/explorer.py [--rounds N] [--seconds N]

Two runs of 6,980 queries with 1,000 documents each. Prints the time from the start of the process to the first page,
pages of queries, judgements with all numbers fresh, how many requests a second are answered, and the highest memory.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from generate import SHAPES, ensure, topics

DATA = Path(__file__).parent / "data"
PAGES, JUDGEMENTS, TABS = 100, 50, 8


def second_run(path: Path) -> Path:
    """The documents of marco.run in another order: what each scores is shaken."""
    if not path.exists():
        shaken = random.Random(20)
        making = path.with_suffix(".making")
        with making.open("w") as out:
            for query, _, documents, scores in topics(SHAPES["marco"]):
                shaken_scores = (score + shaken.gauss(0, 0.5) for score in scores)
                moved = sorted(zip(shaken_scores, documents, strict=True), reverse=True)
                out.writelines(f"{query} Q0 {doc} {rank} {score:.4f} b\n" for rank, (score, doc) in enumerate(moved))
        making.rename(path)
    return path


class Server:
    """`goldrank serve` in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "goldrank", "serve", *arguments, "--no-browser", "--no-token", "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(r"Open http://([\d.]+):(\d+)", line):
                self.host, self.port = found[1], int(found[2])
                return
        raise SystemExit(said)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def memory(self) -> str:
        """Megabytes: the highest resident set, pages of mapped files included, and what is its own now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        highest, own = (int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1000 for name in ("VmHWM", "RssAnon"))  # type: ignore[index]
        return f"{highest:.0f} MB at most, {own:.0f} MB of its own at the end"

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate()


def asked(connection: http.client.HTTPConnection, path: str, **sent: str) -> tuple[float, str]:
    """Milliseconds and text of an answer, which must be a good one."""
    began = time.perf_counter()
    body = sent.pop("body", None)
    connection.request("POST" if body else "GET", path, body, {name.replace("_", "-"): v for name, v in sent.items()})
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {text[:300]}")
    return (time.perf_counter() - began) * 1000, text


def judged(server: Server, queries: list[str]) -> list[float]:
    """Milliseconds of judgements, each of the first document of a query."""
    connection = server.connection()
    _, page = asked(connection, "/queries")
    secrets = {name: re.search(f'goldrank-{name}" content="([^"]*)"', page)[1] for name in ("write", "data")}  # type: ignore[index]
    took = []
    for query in queries:
        doc = re.search(r'data-doc="([^"]+)"', asked(connection, f"/query?id={query}")[1])[1]  # type: ignore[index]
        what = {"query": query, "doc": doc, "action": "grade", "grade": 1, "data": secrets["data"]}
        took.append(
            asked(
                connection, "/api/judgements", body=json.dumps(what), Origin=f"http://{server.host}:{server.port}",
                Content_Type="application/json", X_Goldrank_Write=secrets["write"],
            )[0]
        )  # fmt: skip
    return took


def throughput(server: Server, queries: list[str], seconds: float) -> tuple[float, int]:
    """Requests a second that are answered to several tabs at once, and how many failed."""
    until, counts, failed = time.perf_counter() + seconds, [0] * TABS, [0] * TABS

    def tab(number: int) -> None:
        connection, chosen = server.connection(), random.Random(number)
        while time.perf_counter() < until:
            try:
                asked(connection, f"/query?id={quote(chosen.choice(queries))}")
                counts[number] += 1
            except (SystemExit, OSError, http.client.HTTPException):
                failed[number] += 1
                connection = server.connection()

    tabs = [threading.Thread(target=tab, args=(number,)) for number in range(TABS)]
    for one in tabs:
        one.start()
    for one in tabs:
        one.join()
    return sum(counts) / seconds, sum(failed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="of many requests")
    given = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    qrels, run = ensure(DATA, "marco")
    other = second_run(DATA / "marco-other.run")
    queries = [line.split()[0] for line in qrels.read_text().splitlines()]
    chosen = random.Random(1).sample(sorted(set(queries)), PAGES)
    print(f"load {os.getloadavg()[0]:.1f} at the start", flush=True)
    for _ in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            server = Server(str(qrels), f"old={run}", f"new={other}", "--log", f"{folder}/log.db")
            try:
                asked(server.connection(), "/")
                first = time.perf_counter() - began
                connection = server.connection()
                while "follows" in asked(connection, "/")[1]:
                    time.sleep(0.2)
                all_there = time.perf_counter() - began
                pages = [asked(connection, f"/query?id={query}")[0] for query in chosen]
                judging = judged(server, chosen[:JUDGEMENTS])
                rate, failed = throughput(server, chosen, given.seconds)
                middle = statistics.median
                print(
                    f"first page {first:.2f} s, all of it {all_there:.1f} s",
                    f"a query page {middle(pages):.0f} ms, at most {max(pages):.0f}",
                    f"a judgement {middle(judging):.0f} ms, at most {max(judging):.0f}",
                    f"{rate:.0f} requests a second, {failed} failed",
                    server.memory(),
                    sep="; ",
                    flush=True,
                )
            finally:
                server.end()


if __name__ == "__main__":
    main()
