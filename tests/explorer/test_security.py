"""Nobody gets in: foreign names, foreign sites, no token, forms of other pages, large requests."""

import asyncio
import contextlib
import socket
import stat
import sys
import tempfile
import threading
import time
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from served import Served

from goldrank.explorer import security, serving
from goldrank.explorer.security import BODY

WRITE = {"query": "q04", "doc": "plant-7", "action": "grade", "grade": 2, "judge": "me"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with Served("--demo", "--log", str(folder / "log.db"), cache=folder) as running:
        yield running


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locked")
    with Served("--demo", "--log", str(folder / "log.db"), token=True, cache=folder) as running:
        yield running


PAGES = ["/", "/queries", "/query?id=q04", "/doc?id=plant-7&query=q04", "/judge", "/judges", "/conflicts", "/notes"]


@pytest.mark.parametrize("page", [*PAGES, "/part/query?id=q04", "/part/judge", "/api/numbers", "/nothing"])
def test_every_answer_has_the_policy(server, page):
    status, headers, _ = server.get(page)
    assert status == (404 if page == "/nothing" else 200)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "[", "0.0.0.0", "a@b"]
)
def test_foreign_host_names(server, host):
    assert server.get("/", Host=host)[0] in (400, 421)  # 400: not even HTTP


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "::1", "0:0:0:0:0:0:0:1"])
def test_the_printed_address_is_answered(host, tmp_path):
    """127.0.0.2 was listened on, and answered with 421."""
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with Served("--demo", "--host", host, "--log", str(tmp_path / "log.db"), cache=tmp_path) as running:
        assert running.get("/")[0] == 200
        assert running.get("/", Host="evil.example")[0] == 421


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("127.0.0.3", {"127.0.0.3"}),
        ("192.0.2.1", {"192.0.2.1"}),
        ("Machine.example", {"machine.example"}),
        ("0:0:0:0:0:0:0:1", {"0:0:0:0:0:0:0:1"}),
        ("localhost", set()),
    ],
)
def test_names_that_are_answered(host, names):
    assert set(serving.allowed_hosts(host)) == {"127.0.0.1", "localhost", "::1"} | names


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0:0:0:0:0:0:0:0"])
def test_all_addresses_have_any_name(host):
    assert serving.allowed_hosts(host) is None


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of Unix")
def test_the_token_is_not_in_the_arguments_of_the_browser(monkeypatch, tmp_path):
    """Every user of a machine can read the arguments of programs."""
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(serving, "LEADING", 0.5)
    serving.open_browser("http://127.0.0.1:8642/?token=s3cret&x=1", is_secret=True)

    wait_for(lambda: opened)
    assert "s3cret" not in opened[0]
    path = Path(url2pathname(urlsplit(opened[0]).path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "url=http://127.0.0.1:8642/?token=s3cret&amp;x=1" in path.read_text()
    wait_for(lambda: not path.exists())


def test_a_token_of_ones_own_need_not_be_an_argument(monkeypatch, tmp_path):
    monkeypatch.setenv("GOLDRANK_TOKEN", "s3cret")
    with Served("--demo", "--log", str(tmp_path / "log.db"), token=True, cache=tmp_path) as running:
        assert running.get("/")[0] == 403
        assert running.get("/?token=s3cret")[0] == 303


def test_an_address_without_a_secret_is_opened_as_it_is(monkeypatch):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", opened.append)
    serving.open_browser("http://127.0.0.1:8642/", is_secret=False)
    wait_for(lambda: opened)
    assert opened == ["http://127.0.0.1:8642/"]


def wait_for(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


@pytest.mark.parametrize("host", ["127.0.0.1:1234", "localhost", "[::1]:99", "LOCALHOST:8"])
def test_names_of_this_machine_with_any_port(server, host):
    assert server.get("/queries", Host=host)[0] == 200


def test_writes_of_our_own_page(server):
    status, answer = server.post(WRITE)
    assert status == 200
    assert server.post({"action": "undo", "judge": "me"})[0] == 200
    assert answer["seq"] >= 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"X_Goldrank_Write": "guessed"}, 403),
        ({"X_Goldrank_Write": ""}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_writes_of_others(server, headers, status):
    known = server.secrets()
    sent = {"X_Goldrank_Write": known["write"], **headers}
    assert server.post({**WRITE, "data": known["data"]}, **sent)[0] == status
    assert "Nothing yet" in server.get("/judge?judge=me")[2]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_parts_are_not_for_other_sites(server, site):
    for path in ("/part/query?id=q04", "/api/numbers", "/part/doc?id=plant-7&query=q04"):
        assert server.get(path, Sec_Fetch_Site=site)[0] == 403


def test_sizes_are_bounded(server):
    assert server.get(f"/queries?q={'a' * 9_000}")[0] == 414
    known = server.secrets()
    status, _ = server.post({**WRITE, "comment": "x" * BODY, "data": known["data"]}, X_Goldrank_Write=known["write"])
    assert status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods(server, method):
    assert server.get("/", method)[0] == 405


@pytest.mark.parametrize(
    "what",
    [
        {"grade": 9},
        {"grade": "2"},
        {"grade": True, "action": "grade"},
        {"grade": None},
        {"query": "no such"},
        {"doc": "no such"},
        {"action": "format the disk"},
        {"judge": " "},
        {"judge": "a\x00b"},
        {"judge": ["x"]},
        {"comment": "y" * 2_001},
        {"data": "00000000"},
        {"key": 5},
    ],
)
def test_bad_judgements_are_refused(server, what):
    known = server.secrets()
    status, answer = server.post({**WRITE, "data": known["data"], **what}, X_Goldrank_Write=known["write"])
    assert status in (400, 409)
    assert answer["what"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"[" * 8_000, b'"x"', b"\xff"])
def test_what_is_no_judgement(server, body):
    known = server.secrets()
    sent = {"Origin": server.base, "Content_Type": "application/json", "X_Goldrank_Write": known["write"]}
    assert server.get("/api/judgements", "POST", body, **sent)[0] == 400


@pytest.mark.parametrize(
    "path", ["/assets/../../../etc/passwd", "/assets/x/explorer.css", "/assets/%2e%2e/app.py", "/etc/passwd"]
)
def test_no_path_leaves_the_pages(server, path):
    status, _, text = server.get(path)
    assert status == 404
    assert "root:" not in text


@pytest.mark.parametrize(
    "path",
    [
        *("/conflicts?m=no-such", "/judges?a=no-such", "/judge?judge=%00", "/judge?m=no-such", "/judge?query=no-such"),
        *("/take.svg?of=query&id=q04", "/take.csv?of=nothing", "/take.csv?of=query&id=no-such", "/take.exe"),
        *("/part/query?id=no-such", "/part/doc?id=no-such", "/part/judge?judge=%0A", "/doc?id=~0", "/query?id=~0"),
    ],
)
def test_what_is_not_there_is_said(server, path):
    assert server.get(path)[0] == 404


@pytest.mark.parametrize("number", ["%C2%B2", "99999999999999999999", "-1", "1e3", "%D9%A1", "0", ""])
def test_numbers_in_addresses(server, number):
    for path in ("/queries?page=", "/query?id=q04&from=", "/doc?id=plant-7&query=q04&piece="):
        assert server.get(path + number)[0] == 200


def test_without_the_token_nothing_is_read(locked):
    for page in [*PAGES, "/api/numbers", "/part/query?id=q04", "/take.csv"]:
        status, _, text = locked.get(page)
        assert status == 403
        assert "kettle" not in text
    assert locked.get("/?token=wrong")[0] == 403
    assert locked.get("/", Cookie=f"goldrank_{locked.where.port}=wrong")[0] == 403


def test_the_token_becomes_a_cookie_and_goes_away(locked):
    token = locked.where.query.removeprefix("token=")
    status, headers, _ = locked.get(f"/query?id=q04&token={token}")
    assert (status, headers["location"]) == (303, "/query?id=q04")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert locked.get("/query?id=q04", Cookie=cookie.split(";")[0])[0] == 200


def test_a_redirect_stays_here(locked):
    token = locked.where.query.removeprefix("token=")
    for path in ("//evil.example/x", "/\\evil.example"):
        location = locked.get(f"{path}?token={token}")[1].get("location", "/")
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))


@pytest.mark.slow
def test_other_addresses_need_a_token(tmp_path):
    with pytest.raises(AssertionError, match="--token"):
        Served("--demo", "--host", "0.0.0.0", "--log", str(tmp_path / "l.db"))


def test_health_says_nothing(locked):
    assert locked.get("/healthz")[::2] == (200, "ok\n")


@pytest.mark.slow
def test_slow_clients_do_not_keep_others_out(tmp_path):
    """Requests that never end: their connections, as many as the server takes, are closed after a while."""
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 1.0 t\n")
    with Served(str(tmp_path / "q"), str(tmp_path / "r"), "--log", str(tmp_path / "log.db")) as server:
        host = (server.where.hostname, server.where.port)
        head = f"Host: {server.where.netloc}\r\n".encode()
        slow = [socket.create_connection(host, 5) for _ in range(70)]
        for i, each in enumerate(slow):
            each.sendall((b"", b"GET / HT", b"GET / HTTP/1.1\r\n" + head + b"X: ")[i % 3])
        end = time.monotonic() + 60
        while not _answers(host, head) and time.monotonic() < end:
            time.sleep(0.5)
        assert _answers(host, head)
        for each in slow:
            each.settimeout(30)
            with contextlib.suppress(ConnectionResetError):
                while each.recv(4096):
                    pass
            each.close()


@pytest.fixture
def small(monkeypatch):
    """The server with an application that answers at once, few connections and little patience; its address."""
    monkeypatch.setattr(serving, "PATIENCE", 1.0)
    monkeypatch.setattr(serving, "CONNECTIONS", 8)
    running = threading.Event()
    made = []
    make = serving._Server
    monkeypatch.setattr(serving, "_Server", lambda *given: made.append(make(*given)) or made[0])

    async def app(scope, receive, send):
        size = 20 << 20 if scope["path"] == "/large" else 2
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
        if scope["path"] == "/slow":
            await asyncio.sleep(4)
        await send({"type": "http.response.body", "body": b"x" * size})

    where = serving.listening("127.0.0.1", 0)
    thread = threading.Thread(target=serving.run, args=(app, where, running.set), daemon=True)
    thread.start()
    assert running.wait(30)
    yield where.getsockname()
    made[0].should_exit = made[0].force_exit = True
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/large", "/healthz"])
def test_clients_that_do_not_read_do_not_keep_others_out(small, path):
    """Answers that nobody takes, and connections that ask for nothing more: there is room for others soon."""
    held = []
    for _ in range(serving.CONNECTIONS - 1):
        client = socket.create_connection(small, 5)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        client.recv(1)
        held.append(client)
    end = time.monotonic() + 25  # less than connections are kept for the next request
    while not _answers(small, b"Host: x\r\n") and time.monotonic() < end:
        time.sleep(0.1)
    assert _answers(small, b"Host: x\r\n")
    for client in held:
        client.close()


def test_clients_that_read_slowly_get_their_answers(small):
    with socket.create_connection(small, 5) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = 0
        while data := client.recv(2 << 20):
            got += len(data)
            time.sleep(0.02)
    assert got > 20 << 20


@pytest.mark.slow
def test_answers_that_take_long_to_make(small):
    with socket.create_connection(small, 30) as client:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = b""
        while data := client.recv(100):
            got += data
    assert got.endswith(b"xx")


def _answers(host, head):
    with socket.create_connection(host, 5) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n")
        return client.recv(100).startswith(b"HTTP/1.1 200")


def test_a_body_that_never_ends(monkeypatch):
    async def receive():
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"", "more_body": True}

    monkeypatch.setattr(security, "PATIENCE", 0.1)
    assert asyncio.run(security._body(receive)) == 408
