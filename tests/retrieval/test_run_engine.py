"""Asking an engine everything: several at a time, in turns, at a rate, again after a stop; and the command."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from engine_server import Answer, serving
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError, RetrievalError
from goldrank.cli import run as command_line
from goldrank.retrieval import asking
from goldrank.retrieval.engine_file import EngineLimits
from goldrank.retrieval.engine_run import EngineRun, run_engine, run_engines
from goldrank.retrieval.journal import Journal

pytest.importorskip("httpx")
HERE = Path(__file__).parent


def answer(*docs: str) -> dict[str, Any]:
    hits = [{"_id": doc, "_score": float(len(docs) - i)} for i, doc in enumerate(docs)]
    return {"took": 2, "timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}}


def echo(request: Any, number: int) -> Any:
    """The document of a query is called as its words."""
    return answer(request.params["q"].replace(" ", "-"))


def table(url: str, **limits: Any) -> dict[str, Any]:
    return {"url": url + "/s?q={query}", "limits": limits}


def queries(count: int) -> dict[str, str]:
    return {f"q{i}": f"text {i}" for i in range(count)}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pause(seconds: float) -> None:
        return None

    monkeypatch.setattr(asking, "_pause", pause)


def test_every_query_is_asked_once() -> None:
    told = []
    with serving(echo) as server:
        engine = {**table(server.url), "kind": "elasticsearch"}
        found = run_engine(queries(50), engine, progress=lambda done, total: told.append((done, total)))
    assert [found.run.ranking(f"q{i}") for i in range(50)] == [[f"text-{i}"] for i in range(50)]
    assert Counter(request.params["q"] for request in server.requests) == Counter(queries(50).values())
    assert told == [(i, 50) for i in range(1, 51)]
    assert set(found.latency_ms) == set(queries(50))
    assert all(0 < value < 10_000 for value in found.latency_ms.values())
    assert found["q3"].took_ms == 2


def test_concurrency_is_kept() -> None:
    def slow(request: Any, number: int) -> Any:
        time.sleep(0.01)
        return echo(request, number)

    for most in (1, 3):
        with serving(slow) as server:
            run_engine(queries(12), table(server.url, concurrency=most))
        assert server.most_at_once == most


def test_limits_of_the_call_count_and_not_those_of_the_file() -> None:
    """Also time and bytes, which the client of the engine keeps."""

    def slow(request: Any, number: int) -> Any:
        time.sleep(0.5)
        return echo(request, number)

    with serving(slow) as server, raises_code(RetrievalError, "timeout"):
        run_engine({"a": "b"}, {"url": server.url + "/s?q={query}"}, limits=EngineLimits(timeout_s=0.05, retries=0))
    with serving(echo) as server, raises_code(RetrievalError, "too-large"):
        run_engine({"a": "b"}, {"url": server.url + "/s?q={query}"}, limits=EngineLimits(max_bytes=5))


def test_a_rate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    with serving(echo) as server:
        monkeypatch.setattr(asking.asyncio, "sleep", sleep)
        run_engine(queries(4), table(server.url, per_second=0.1, concurrency=1))
    assert waited[0] == 0
    for i, seconds in enumerate(waited[1:], 1):
        assert seconds == pytest.approx(10 * i, abs=5), "one begins every ten seconds"


def test_failures_partial_and_empty_answers_are_told_apart() -> None:
    def behave(request: Any, number: int) -> Any:
        which = request.params["q"]
        if which == "text 1":
            return Answer("no", status=400)
        if which == "text 2":
            return answer()
        if which == "text 3":
            return {**answer("d"), "_shards": {"failed": 1}}
        return echo(request, number)

    with serving(behave) as server:
        found = run_engine(queries(6), table(server.url))
    assert found.failures == {"q1": "http-4xx"}
    assert found.empty == ("q2",)
    assert found.partial == ("q3",)
    assert "q1" not in found.run
    assert dict(found.run["q2"]) == {}
    assert "q1" not in found.latency_ms
    assert "5 of 6 queries answered, 1 without results, 1 only in part, 1 failed (http-4xx 1)" in str(found)


def test_a_query_is_asked_again_where_that_may_help() -> None:
    seen: Counter[str] = Counter()

    def behave(request: Any, number: int) -> Any:
        which = request.params["q"]
        seen[which] += 1
        return Answer("busy", status=503) if seen[which] == 1 else echo(request, number)

    with serving(behave) as server:
        found = run_engine(queries(5), table(server.url))
    assert not found.failures
    assert {found[query].attempts for query in found} == {2}


def test_five_failures_alike_end_it(tmp_path: Path) -> None:
    with serving(lambda request, number: Answer("who?", status=401)) as server, raises_code(RetrievalError, "http-4xx"):
        run_engine(queries(100), table(server.url, concurrency=1), output=tmp_path / "x.run")
    assert len(server.requests) == 5
    assert not (tmp_path / "x.run").exists()


def test_percentiles_are_by_nearest_rank() -> None:
    records = tuple({"id": f"q{i}", "retrieved": [], "latency_ms": float(i)} for i in range(1, 21))
    found = EngineRun("x", 10, 1, records)
    assert [found.percentile(share) for share in (0.5, 0.95, 1)] == [10.0, 19.0, 20.0]


# Files, and stops.


def test_what_is_written(tmp_path: Path) -> None:
    out = tmp_path / "new.run"
    with serving(echo) as server:
        run_engine(queries(3), {**table(server.url), "name": "bm25"}, output=out)
    assert goldrank.read_run(out).ranking("q2") == ["text-2"]
    assert out.read_text().split()[-1] == "bm25"
    records = [json.loads(line) for line in (tmp_path / "new.run.jsonl").read_text().splitlines()]
    assert [record["id"] for record in records] == ["q0", "q1", "q2"]
    assert records[0]["retrieved"] == [{"id": "text-0", "score": 1.0}]
    assert records[0]["latency_ms"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.run", "new.run.jsonl"]


def test_failures_are_asked_again_and_answers_never(tmp_path: Path) -> None:
    out = tmp_path / "new.run"
    broken = True

    def behave(request: Any, number: int) -> Any:
        return Answer("no", status=500) if broken and request.params["q"] == "text 2" else echo(request, number)

    with serving(behave) as server:
        assert run_engine(queries(4), table(server.url), output=out).failures == {"q2": "http-5xx"}
        broken = False
        found = run_engine(queries(4), table(server.url), output=out)
    assert not found.failures
    assert Counter(request.params["q"] for request in server.requests)["text 2"] == 2
    assert len(server.requests) == 5
    assert not Path(f"{out}.part").exists()


def test_a_journal_of_something_else_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "new.run"

    def behave(request: Any, number: int) -> Any:
        return Answer("no", status=500) if request.params["q"] == "text 0" else echo(request, number)

    with serving(behave) as server:
        run_engine(queries(3), table(server.url), output=out)
        with raises_code(InputError, "other-journal"):
            run_engine(queries(4), table(server.url), output=out)
        with raises_code(InputError, "other-journal"):
            run_engine(queries(3), table(server.url), output=out, k=3)
        assert len(run_engine(queries(4), table(server.url), output=out, restart=True).run) == 3
        # Limits change nothing of what is asked.
        run_engine(queries(4), table(server.url, concurrency=1), output=out, limits=EngineLimits(1))


def test_a_journal_without_answers_stands_in_nobodys_way(tmp_path: Path) -> None:
    """An engine file that was wrong is put right, and the command is called again."""
    path = str(tmp_path / "x.part")
    with Journal(path, "wrong") as journal:
        journal.add({"id": "a", "error": {"code": "http-4xx"}})
    with Journal(path, "right") as journal:
        assert not journal.records
        journal.add({"id": "a", "retrieved": []})
    with raises_code(InputError, "other-journal"):
        Journal(path, "wrong")
    with Journal(path, "right") as journal:
        assert journal.answered == {"a"}


def test_a_journal_that_is_being_written_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "x.part")
    with Journal(path, "key"), raises_code(InputError, "locked"):
        Journal(path, "key")
    Journal(path, "key").close()


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.part"
    with Journal(str(path), "key") as journal:
        journal.add({"id": "a", "retrieved": []})
        journal.add({"id": "b", "error": {"code": "timeout"}})
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"id": "c", "retr')
    with Journal(str(path), "key") as journal:
        assert journal.answered == {"a"}
        journal.add({"id": "b", "retrieved": []})
    with Journal(str(path), "key") as journal:
        assert journal.answered == {"a", "b"}
    assert path.read_bytes().startswith(whole)


@pytest.mark.parametrize("length", [0, 5, 31, 40])
def test_a_torn_first_line_is_begun_anew(tmp_path: Path, length: int) -> None:
    path = tmp_path / "x.part"
    Journal(str(path), "key").close()
    whole = path.read_bytes()
    path.write_bytes(whole[:length])
    Journal(str(path), "key").close()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"x\n", b"no line end", b"[]\n", b'{"format": "other"}\n', b"\x00" * 10 + b"\n"])
def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.part"
    path.write_bytes(content)
    with pytest.raises(InputError):
        Journal(str(path), "key")
    assert path.read_bytes() == content


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_nothing_is_lost_or_written_twice_when_it_is_killed(tmp_path: Path) -> None:
    count, kills, concurrency = 5_000, 3, 4
    out = tmp_path / "new.run"
    rng = random.Random(5)

    def slow(request: Any, number: int) -> Any:
        time.sleep(0.001)
        return echo(request, number)

    with serving(slow) as server:
        words = [sys.executable, str(HERE / "killed_run.py"), server.url, str(out), str(count)]
        environment = {**os.environ, "PYTHONPATH": str(Path(goldrank.__file__).parent.parent)}
        for _ in range(kills):
            enough = len(server.requests) + rng.randrange(500, 1_200)
            process = subprocess.Popen(words, env=environment)
            while len(server.requests) < enough:
                assert process.poll() is None
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert not out.exists()
            whole = Path(f"{out}.part").read_bytes().rpartition(b"\n")[0].splitlines()[1:]
            answered = Counter(json.loads(line)["id"] for line in whole)
            assert set(answered.values()) <= {1}
        assert subprocess.run(words, env=environment, check=False).returncode == 0
        asked = len(server.requests)
    assert count <= asked <= count + kills * concurrency
    records = [json.loads(line)["id"] for line in Path(f"{out}.jsonl").read_text().splitlines()]
    assert records == [f"q{i}" for i in range(count)]
    assert len(goldrank.read_run(out)) == count


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_command_says_how_to_go_on(tmp_path: Path, number: signal.Signals) -> None:
    def slow(request: Any, number: int) -> Any:
        time.sleep(0.02)
        return echo(request, number)

    (tmp_path / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in queries(400).items()))
    with serving(slow) as server:
        (tmp_path / "x.toml").write_text(f'url = "{server.url}/s?q={{query}}"\n')
        words = [sys.executable, "-m", "goldrank", "run", "queries.tsv", "--engine", "x.toml", "-o", "new.run"]
        environment = {**os.environ, "PYTHONPATH": str(Path(goldrank.__file__).parent.parent)}
        process = subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
        while len(server.requests) < 30:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        told = process.communicate(timeout=30)[1]
        asked = len(server.requests)
        assert process.returncode == 128 + number
        assert "goes on where it was" in told
        assert "Traceback" not in told
        assert not (tmp_path / "new.run").exists()
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert done.returncode == 0
    assert asked < 400 <= len(server.requests) <= 400 + 4


# Engines in turns.


def test_engines_are_asked_in_turns(tmp_path: Path) -> None:
    order: list[str] = []

    def behave(request: Any, number: int) -> Any:
        order.append(request.path.strip("/"))
        return echo(request, number)

    with serving(behave) as server:
        engines = [{"name": name, "url": f"{server.url}/{name}?q={{query}}"} for name in ("a", "b")]
        found = run_engines(
            queries(4), engines, k=None, limits=None, outputs=[tmp_path / "a.run", tmp_path / "b.run"],
            allow_commands=False, restart=False, progress=None,
        )  # fmt: skip
    assert order == [*"aaaa", *"bbbb", *"abbaabba"], "warm-up of each, then query by query"
    assert server.most_at_once == 1
    assert [one.name for one in found] == ["a", "b"]
    assert [one.concurrency for one in found] == [1, 1]
    assert (tmp_path / "b.run").exists()


# Programs and functions.

PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["query"] == "die": sys.exit(3)
    if asked["query"] == "fail": print(json.dumps({"id": asked["id"], "error": "no"}), flush=True); continue
    if asked["query"] == "other": print(json.dumps({"id": "nobody", "retrieved_ids": []}), flush=True); continue
    if asked["query"] == "noise": print("hello", flush=True); continue
    if asked["query"] == "wait": continue
    if asked["query"] == "long": print("x" * 100_000, flush=True); continue
    if asked["query"] == "none": print(json.dumps({"id": asked["id"], "retrieved_ids": []}), flush=True); continue
    found = [{"id": asked["query"] + asked.get("more", ""), "score": asked["k"], "text": "t"}]
    print(json.dumps({"id": asked["id"], "retrieved": found}), flush=True)
"""


def program(tmp_path: Path, **limits: Any) -> dict[str, Any]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return {"kind": "command", "argv": [sys.executable, str(path)], "limits": {"retries": 0, **limits}}


def test_a_program_is_asked(tmp_path: Path) -> None:
    given = {**{f"q{i}": f"w{i}" for i in range(9)}, "e": "none", "m": {"text": "a", "more": "b"}}
    found = run_engine(given, program(tmp_path), allow_commands=True, k=4)
    assert dict(found.run["q3"]) == {"w3": 4.0}
    assert found.run.ranking("m") == ["ab"]
    assert found.empty == ("e",)
    assert not found.failures


@pytest.mark.parametrize(
    ("word", "code"),
    [("die", "command-died"), ("fail", "engine-error"), ("other", "wrong-id"), ("noise", "not-json"),
     ("wait", "timeout"), ("long", "too-large")],
)  # fmt: skip
def test_failures_of_programs(tmp_path: Path, word: str, code: str) -> None:
    engine = program(tmp_path, concurrency=1, timeout_s=1, max_bytes=50_000)
    found = run_engine({"a": "fine", "b": word, "c": "good"}, engine, allow_commands=True)
    assert found.failures == {"b": code}
    assert found.run.ranking("c") == ["good"]


def test_a_program_that_ends_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    """The last line of its standard error, and nothing of it on the terminal."""
    engine = {"kind": "command", "argv": ["{python}", "-c", "import no_such_module_here"], "limits": {"retries": 0}}
    with raises_code(RetrievalError, "command-died") as caught:
        run_engine({"a": "b"}, engine, allow_commands=True)
    assert "it wrote: ModuleNotFoundError: No module named 'no_such_module_here'" in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_program_that_is_not_there() -> None:
    with raises_code(RetrievalError, "command-died"):
        run_engine({"a": "b"}, {"kind": "command", "argv": ["no-such-program-here"]}, allow_commands=True)


def test_a_function_is_asked(tmp_path: Path) -> None:
    name = f"made_search_{os.getpid()}"
    (tmp_path / f"{name}.py").write_text(
        "import time\n"
        "def search(query, k, fields):\n"
        "    if query == 'raise': raise KeyError('k')\n"
        "    if query == 'wait': time.sleep(1.5)\n"
        "    if query == 'pairs': return [('a', 2.5), ('b', 1)]\n"
        "    if query == 'dicts': return [{'id': 7, 'score': 0.5, 'text': fields['lang']}]\n"
        "    return iter([query, 'z'])\n"
    )
    path = tmp_path / "engine.toml"
    path.write_text(f'kind = "python"\nfunction = "{name}:search"\nlimits.timeout_s = 0.5\n')
    given = {"1": "raise", "2": "wait", "3": "pairs", "4": {"text": "dicts", "lang": "en"}, "5": "y"}
    found = run_engine(given, path, allow_commands=True)
    assert found.failures == {"1": "function-error", "2": "timeout"}
    assert dict(found.run["3"]) == {"a": 2.5, "b": 1.0}
    assert found.run.ranking("4") == ["7"]
    assert found.run.ranking("5") == ["y", "z"]


# The command.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in queries(5).items()))
    return tmp_path


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(echo) as server:
        (folder / "bm25.toml").write_text(f'url = "{server.url}/s?q={{query}}"\n')
        assert command_line(["run", "queries.tsv", "--engine", "bm25.toml", "-o", "new.run"]) == 0
    told = capsys.readouterr()
    assert "bm25: 5 of 5 queries answered" in told.out
    assert "p95" in told.out
    assert "5 of 5 queries asked" in told.err
    assert goldrank.read_run("new.run").ranking("q4") == ["text-4"]


@pytest.mark.parametrize(("most", "code"), [("0%", 1), ("20%", 0), ("0.1", 1)])
def test_exit_codes(folder: Path, most: str, code: int) -> None:
    def behave(request: Any, number: int) -> Any:
        return Answer("no", status=404) if request.params["q"] == "text 3" else echo(request, number)

    with serving(behave) as server:
        (folder / "x.toml").write_text(f'url = "{server.url}/s?q={{query}}"\n')
        words = ["run", "queries.tsv", "--engine", "x.toml", "-o", "new.run", "--max-failures", most, "--quiet"]
        assert command_line(words) == code
    assert len(goldrank.read_run("new.run")) == 4


def test_wrong_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.toml").write_text('kind = "command"\nargv = ["true"]\n')
    words = ["run", "queries.tsv", "--engine", "x.toml"]
    assert command_line([*words, "-o", "a.run"]) == 2
    assert "--allow-commands" in capsys.readouterr().err
    assert command_line([*words, "--engine", "x.toml", "-o", "a.run"]) == 2
    assert command_line([*words, "--engine", "x.toml", "-o", "a.run", "-o", "./a.run"]) == 2
    assert command_line([*words, "-o", "a.run", "--max-failures", "many"]) == 2
    assert not list(folder.glob("a.run*"))
