"""Engine files: what they may say, what is sent, where results are found, and what must never be written or asked."""

from __future__ import annotations

import ipaddress
import json
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from engine_server import Answer, serving
from raising import raises_code

from goldrank.base.errors import GoldrankError, InputError, OptionError, RetrievalError
from goldrank.cli import run as command_line
from goldrank.retrieval import asking
from goldrank.retrieval.addresses import is_allowed, is_public
from goldrank.retrieval.engine_file import EngineLimits, SearchEngine
from goldrank.retrieval.engine_run import run_engine
from goldrank.retrieval.failures import AskFailed
from goldrank.retrieval.hits import AnswerPaths, read_answer, value_at
from goldrank.retrieval.secret_values import Secrets

pytest.importorskip("httpx")

URL = "http://127.0.0.1:9/search?q={query}"
ELASTIC = {"took": 3, "timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": [{"_id": "d1", "_score": 2.0}]}}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asking, "_pause", pause)
    return waited


def asked(url: str, **table: Any) -> Any:
    return run_engine({"q1": "red shoes"}, {"url": url + "/s?q={query}", **table})


def failure_of(url: str, **table: Any) -> str:
    """How one query fails."""
    with pytest.raises(RetrievalError) as caught:
        asked(url, **table)
    return str(caught.value.code)


# What a file may say.


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bm25.toml"
    path.write_text(
        'format = "goldrank-engine/1"\nkind = "elasticsearch"\nurl = "http://localhost:9200/p/_search"\nk = 7\n'
        '[request]\nheaders = { Authorization = "env:ES_AUTH" }\n'
        'body = { size = "{k}", query = { match = { title = "{query}" } } }\n[limits]\nconcurrency = 1\n'
    )
    engine = SearchEngine.load(path)
    assert (engine.name, engine.kind, engine.k, engine.limits) == ("bm25", "elasticsearch", 7, EngineLimits(1))
    assert engine.request is not None
    assert engine.request.method == "POST"


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({"url": URL, "ulr": 3}, "unknown-key"),
        ({"url": URL, "request": {"bodi": 3}}, "unknown-key"),
        ({"url": URL, "response": {"hit": "a"}}, "unknown-key"),
        ({"url": URL, "limits": {"threads": 3}}, "unknown-key"),
        ({"url": URL, "limits": {"timeout_s": -1}}, "bad-number"),
        ({"url": URL, "limits": {"concurrency": True}}, "bad-number"),
        ({"url": URL, "kind": "sphinx"}, "unknown-choice"),
        ({"url": URL, "format": "goldrank-engine/2"}, "unknown-format"),
        ({"url": "ftp://example.org/{query}"}, "bad-url"),
        ({"url": "file:///etc/passwd?{query}"}, "bad-url"),
        ({"url": "http://{query}/search"}, "bad-url"),
        ({"url": "http://localhost:99999/{query}"}, "bad-url"),
        ({}, "bad-url"),
        ({"url": "http://me:pass@example.org/{query}"}, "secret-in-file"),
        ({"url": URL, "request": {"headers": {"Authorization": "Bearer abc"}}}, "secret-in-file"),
        ({"url": URL, "request": {"headers": {"api-key": "abc"}}}, "secret-in-file"),
        ({"url": URL, "request": {"headers": {"X-Any": "env:lower"}}}, "bad-secret"),
        ({"url": URL, "request": {"headers": {"X-Any": "a\r\nHost: b"}}}, "wrong-type"),
        ({"url": URL, "request": {"body": {}, "form": {}}}, "two-bodies"),
        ({"url": "http://localhost/search", "request": {"body": {"q": "shoes"}}}, "query-not-sent"),
        ({"kind": "command"}, "missing-key"),
        ({"kind": "python", "function": "os.system"}, "wrong-type"),
    ],
)
def test_what_cannot_be_is_refused(table: dict[str, Any], code: str) -> None:
    with pytest.raises(GoldrankError) as caught:
        SearchEngine.from_table(table)
    assert caught.value.code == code


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("= 3")
    with raises_code(InputError, "not-toml"):
        SearchEngine.load(path)


def test_programs_are_run_only_if_that_is_allowed() -> None:
    for table in ({"kind": "command", "argv": ["true"]}, {"kind": "python", "function": "itertools:repeat"}):
        with raises_code(OptionError, "runs-programs"):
            run_engine({"q1": "a"}, table)


# What is sent.


def test_values_are_data_in_bodies_and_addresses() -> None:
    nasty = 'a "b" {k} \\ \n&x=1/../é'
    with serving(lambda request, number: ELASTIC) as server:
        table = {
            "url": server.url + "/{index}/_search",
            "request": {"params": {"p": "{query}"}, "body": {"n": "{k}", "q": ["say {query}"], "g": "{Get{x}}"}},
        }
        run_engine({"q1": {"text": nasty, "index": "a/../b?c"}}, table, k=3)
    (request,) = server.requests
    assert request.json == {"n": 3, "q": [f"say {nasty}"], "g": "{Get{x}}"}
    assert request.params == {"p": nasty}
    assert request.path == "/a%2F..%2Fb%3Fc/_search"


def test_a_vector_is_sent_as_a_list() -> None:
    with serving(lambda request, number: {"result": {"points": []}, "status": "ok", "time": 0.5}) as server:
        table = {"kind": "qdrant", "url": server.url, "request": {"body": {"query": "{vector}", "limit": "{k}"}}}
        found = run_engine({"q1": {"text": "a", "vector": [0.5, 1.0]}}, table)
    assert server.requests[0].json == {"query": [0.5, 1.0], "limit": 10}
    assert found["q1"].took_ms == 500


def test_a_field_that_a_query_lacks_is_named_before_anything_is_asked() -> None:
    with serving(lambda request, number: ELASTIC) as server, raises_code(InputError, "missing-field"):
        run_engine({"q1": "a"}, {"url": server.url + "/{index}?q={query}"})
    assert not server.requests


# Where results are.


def test_results_are_told_by_shape() -> None:
    with serving(lambda request, number: ELASTIC) as server:
        found = asked(server.url)
    assert dict(found.run["q1"]) == {"d1": 2.0}


@pytest.mark.parametrize(
    ("data", "paths", "documents"),
    [
        ({"rows": [["a", 3], ["b", 1]]}, AnswerPaths("rows", "[0]", "[1]"), [("a", 3.0), ("b", 1.0)]),
        ({"ids": [["x", "y"]]}, AnswerPaths("ids[0]"), [("x", -1.0), ("y", -2.0)]),
        ({"a": {"b": [{"c": {"d": 7}}]}}, AnswerPaths("a.b", "c.d"), [("7", -1.0)]),
        ({"h": [{"i": ["one"]}]}, AnswerPaths("h", "i"), [("one", -1.0)]),
        ({"h": [{"i": "a", "s": 1}, {"i": "b", "s": 2}]}, AnswerPaths("h", "i", "s"), [("a", -1.0), ("b", -2.0)]),
        ({"h": [{"i": "a", "s": "0.5"}]}, AnswerPaths("h", "i", "s"), [("a", 0.5)]),
        ({"h": [{"i": "a", "s": None}]}, AnswerPaths("h", "i", "s"), [("a", -1.0)]),
        ({"h": [{"i": "a"}, {"i": "a"}, {"i": "b"}]}, AnswerPaths("h", "i"), [("a", -1.0), ("b", -2.0)]),
        ({"h": []}, AnswerPaths("h", "i"), []),
    ],
)
def test_results_at_paths(data: Any, paths: AnswerPaths, documents: list[tuple[str, float]]) -> None:
    assert [(one.id, one.score) for one in read_answer(data, paths, None, 10).documents] == documents


def test_paths_of_all() -> None:
    data = {"rows": [{"id": 1}, {"id": 2}]}
    assert value_at(data, "rows[*].id") == [1, 2]
    assert value_at(data, "rows[5].id") is None
    assert value_at({"a.b": 3}, "a.b") == 3


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"h": [{"x": 1}]}, "bad-id"),
        ({"h": [{"i": {"deep": 1}}]}, "bad-id"),
        ({"h": [{"i": "a b"}]}, "bad-id"),
        ({"h": [{"i": "a\x1b[31m"}]}, "bad-id"),
        ({"h": [{"i": True}]}, "bad-id"),
        ({"h": [{"i": "x" * 70_000}]}, "bad-id"),
        ({"h": {"i": "a"}}, "no-hits-path"),
        ({"other": []}, "no-hits-path"),
        ([], "no-hits-path"),
        ("text", "no-hits-path"),
        ({"e": "broken", "h": []}, "engine-error"),
    ],
)
def test_answers_without_results(data: Any, code: str) -> None:
    with pytest.raises(AskFailed) as caught:
        read_answer(data, AnswerPaths("h", "i", error="e"), None, 10)
    assert caught.value.code == code


# Hostile answers.


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer("<html>no</html>"), "not-json"),
        (Answer(b"\xff\xfe\x00"), "not-json"),
        (Answer(""), "not-json"),
        (Answer("[" * 100_000), "too-deep"),
        (Answer('{"a":' * 150 + "1" + "}" * 150), "too-deep"),
        (Answer(b"x" * 20_000), "too-large"),
        (Answer(pieces=(b" " * 65_536,)), "too-large"),
        (Answer(pieces=(b" ",), pause=0.02), "timeout"),
        (Answer(b"no gzip", headers={"Content-Encoding": "gzip"}), "bad-encoding"),
        (Answer(b"x", headers={"Content-Encoding": "br"}), "bad-encoding"),
        (Answer({"hits": "none"}), "no-hits-path"),
        (Answer({"error": {"reason": "bad query"}}), "engine-error"),
        (Answer("no", status=404), "http-4xx"),
        (Answer("no", status=500), "http-5xx"),
        (Answer("no", status=503), "http-5xx"),
        (Answer("slow", status=429, headers={"Retry-After": "1e9"}), "rate-limited"),
        (Answer(status=302, headers={"Location": "http://169.254.169.254/latest"}), "redirect-refused"),
        (Answer(status=307, headers={"Location": "https://example.org/"}), "redirect-refused"),
        (Answer(status=307, headers={"Location": "/s?q=again"}), "redirect-refused"),
        (Answer(status=307), "redirect-refused"),
        ("cut", "connect"),
    ],
)
def test_hostile_answers_are_failures(answer: Any, code: str) -> None:
    limits = {"timeout_s": 0.5 if code == "timeout" else 10, "max_bytes": 10_000, "retries": 1}
    if code == "too-deep":
        limits["max_bytes"] = 1_000_000
    with serving(lambda request, number: answer) as server:
        assert failure_of(server.url, kind="elasticsearch", limits=limits) == code


def test_a_bomb_is_not_unpacked() -> None:
    import gzip
    import tracemalloc

    packed = gzip.compress(bytes(100_000_000))
    with serving(lambda request, number: Answer(packed, headers={"Content-Encoding": "gzip"})) as server:
        tracemalloc.start()
        try:
            assert failure_of(server.url, limits={"max_bytes": 1_000_000}) == "too-large"
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 20_000_000


def test_nobody_there(no_pauses: list[float]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert failure_of(f"http://127.0.0.1:{port}") == "connect"
    assert len(no_pauses) == 2
    assert 0.4 <= no_pauses[0] <= 0.6
    assert 0.8 <= no_pauses[1] <= 1.2


def test_an_engine_may_ask_to_wait_for_a_minute_at_most(no_pauses: list[float]) -> None:
    def behave(request: Any, number: int) -> Any:
        if number < 2:
            return Answer("later", status=429, headers={"Retry-After": ("7", "100000")[number]})
        return ELASTIC

    with serving(behave) as server:
        assert asked(server.url)["q1"].attempts == 3
    assert no_pauses == [7.0, 60.0]


def test_a_redirect_on_the_same_server_is_followed() -> None:
    def behave(request: Any, number: int) -> Any:
        if request.path == "/s":
            return Answer(status=307, headers={"Location": "/other/s2"})
        return ELASTIC

    with serving(behave) as server:
        assert asked(server.url).run.ranking("q1") == ["d1"]


# Addresses.


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("192.168.0.1", False), ("172.16.0.1", False), ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False), ("224.0.0.1", False), ("::1", False), ("fe80::1", False), ("fd00::1", False),
        ("::ffff:127.0.0.1", False), ("::ffff:10.0.0.1", False), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
    ],
)  # fmt: skip
def test_private_addresses(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize(
    ("host", "address", "named", "allowed"),
    [
        ("localhost", "127.0.0.1", (), True),
        ("127.0.0.1", "127.0.0.1", (), True),
        ("evil.example", "127.0.0.1", (), False),
        ("evil.example", "127.0.0.1", ("other",), False),
        ("localhost", "10.0.0.1", (), False),
        ("10.0.0.1", "10.0.0.1", (), False),
        ("10.0.0.1", "10.0.0.1", ("10.0.0.1",), True),
        ("search.internal", "10.0.0.1", ("Search.Internal",), True),
    ],
)
def test_who_may_be_at_a_private_address(host: str, address: str, named: tuple[str, ...], allowed: bool) -> None:
    assert is_allowed(host, ipaddress.ip_address(address), named) is allowed


def test_a_private_address_is_not_asked() -> None:
    assert failure_of("http://169.254.169.254") == "address-refused"


def test_an_address_of_six_parts() -> None:
    import socket

    if not socket.has_ipv6:
        pytest.skip("no IPv6")
    try:
        with serving(lambda request, number: ELASTIC, host="::1") as server:
            assert asked(server.url).run.ranking("q1") == ["d1"]
            assert server.requests[0].headers["host"] == server.url.removeprefix("http://")
    except OSError:
        pytest.skip("no IPv6 on this machine")


def test_certificates_are_for_the_name_and_not_for_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection goes to an address that was looked up before; the certificate is held to the host's name."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    words += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    subprocess.run(words, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with serving(lambda request, number: ELASTIC, context) as server:
        by_name = server.url.replace("127.0.0.1", "localhost")
        assert failure_of(by_name) == "tls", "nobody knows who signed it"
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        assert asked(by_name).run.ranking("q1") == ["d1"]
        assert failure_of(server.url) == "tls", "it is not for the address"


# Secrets.

SECRET = "Bearer s3cr3t/value+42"


def test_a_secret_is_sent_and_kept_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ES_AUTH", SECRET)
    said = json.dumps({"error": f"you sent {SECRET}", "again": "s3cr3t%2Fvalue%2B42"}).replace("/", "\\/")

    def behave(request: Any, number: int) -> Any:
        if number == 0:
            return {"hits": {"hits": [{"_id": "d-s3cr3t/value+42", "_score": 1.0}]}}
        return Answer(said, status=403)

    out = tmp_path / "new.run"
    with serving(behave) as server:
        table = {"url": server.url + "/s?q={query}", "request": {"headers": {"Authorization": "env:ES_AUTH"}}}
        engine = SearchEngine.from_table({**table, "limits": {"concurrency": 1}}, allow_env=["ES_AUTH"])
        found = run_engine({"q1": "a", "q2": "b"}, engine, output=out)
    assert server.requests[0].headers["authorization"] == SECRET
    assert found.run.ranking("q1") == ["d-***"]
    assert "***" in found["q2"].what
    kept = "".join(path.read_text() for path in tmp_path.iterdir()) + repr(found) + str(found) + found.to_json()
    assert "s3cr3t" not in kept
    assert "s3cr3t" not in "".join(capsys.readouterr())


def test_a_secret_does_not_follow_a_redirect_out_of_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "abcdefgh")

    def behave(request: Any, number: int) -> Any:
        if number == 0:
            return Answer(status=307, headers={"Location": "/elsewhere"})
        return ELASTIC

    with serving(behave) as server:
        table = {"url": server.url + "/api/s?q={query}", "request": {"headers": {"X-Key": "env:KEY"}}}
        run_engine({"q1": "a"}, SearchEngine.from_table(table, allow_env=["KEY"]))
    assert [request.headers.get("x-key") for request in server.requests] == ["abcdefgh", None]


def test_a_secret_that_is_missing_is_named() -> None:
    table = {"url": URL, "request": {"headers": {"X-Key": "env:NO_SUCH_NAME_HERE"}}}
    with raises_code(OptionError, "no-secret"):
        run_engine({"q1": "a"}, SearchEngine.from_table(table, allow_env=["NO_SUCH_NAME_HERE"]))


def test_secrets_do_not_show_themselves() -> None:
    secrets = Secrets(("hunter2-hunter2",))
    assert repr(secrets) == "***"
    assert secrets.clean("a hunter2-hunter2 b aHVudGVyMi1odW50ZXIy c") == "a *** b *** c"
    assert Secrets(("x",)).clean("xx") == "xx"


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(lambda request, number: ELASTIC) as server:
        assert len(asked(server.url).run) == 1


def test_what_is_sent_where_is_known_before_it_is_sent() -> None:
    """An engine file of somebody else names variables of the environment: people should see which."""
    table = {"url": "http://localhost:9200/x?q={query}", "request": {"headers": {"Authorization": "env:ES_AUTH"}}}
    engine = SearchEngine.from_table(table)
    assert (engine.sends, engine.host) == (("ES_AUTH",), "localhost:9200")
    assert SearchEngine.from_table({"kind": "python", "function": "a:b"}).sends == ()


def test_a_variable_is_sent_only_if_people_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a file of somebody else could send any variable of the environment to a host of theirs."""
    monkeypatch.setenv("CLOUD_KEY", "abcdefgh")
    (tmp_path / "q.tsv").write_text("a\tb\n")
    with serving(lambda request, number: ELASTIC) as server:
        (tmp_path / "e.toml").write_text(
            f'url = "{server.url}/?q={{query}}"\n[request]\nheaders = {{ X-Any = "env:CLOUD_KEY" }}\n'
        )
        words = ["run", str(tmp_path / "q.tsv"), "--engine", str(tmp_path / "e.toml"), "-o", str(tmp_path / "o.run")]
        with raises_code(OptionError, "secret-not-allowed"):
            run_engine({"a": "b"}, tmp_path / "e.toml")
        assert command_line(words) == 2
        shown = capsys.readouterr().err
        assert "CLOUD_KEY" in shown
        assert "--allow-env CLOUD_KEY" in shown
        assert "abcdefgh" not in shown
        assert command_line([*words, "--allow-env", "ES_AUTH"]) == 2
        assert not server.requests, "nothing was sent"
        assert command_line([*words, "--allow-env", "CLOUD_KEY"]) == 0
    assert [request.headers["x-any"] for request in server.requests] == ["abcdefgh"]


def test_a_file_cannot_allow_itself_variables() -> None:
    with raises_code(InputError, "unknown-key"):
        SearchEngine.from_table({"url": URL, "allow_env": ["HOME"]})
    with raises_code(OptionError, "wrong-type"):
        SearchEngine.from_table({"url": URL}, allow_env="HOME")


def test_a_file_cannot_allow_itself_private_addresses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else a file of somebody else could read what the cloud tells this machine alone (169.254.169.254)."""
    table = {"url": "http://169.254.169.254/latest?q={query}", "limits": {"retries": 0}}
    with raises_code(InputError, "unknown-key"):
        SearchEngine.from_table({**table, "allow_private": ["169.254.169.254"]})
    with raises_code(RetrievalError, "address-refused"):
        run_engine({"a": "b"}, table)
    engine = SearchEngine.from_table(table, allow_private=["169.254.169.254"])
    assert engine.allow_private == ("169.254.169.254",)

    (tmp_path / "e.toml").write_text(
        'url = "http://10.255.255.1:9/?q={query}"\n[limits]\nretries = 0\ntimeout_s = 0.2\n'
    )
    (tmp_path / "q.tsv").write_text("a\tb\n")
    words = ["run", str(tmp_path / "q.tsv"), "--engine", str(tmp_path / "e.toml"), "-o", str(tmp_path / "o.run")]
    assert command_line(words) == 2
    assert "--allow-private 10.255.255.1" in capsys.readouterr().err
    assert command_line([*words, "--allow-private", "10.255.255.1"]) == 2
    assert "private address" not in capsys.readouterr().err, "it was asked, and did not answer"
