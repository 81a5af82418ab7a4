"""`serve -o FOLDER`: the same pages as files that open from a disk, without scripts."""

import subprocess
import sys

import pytest
from raising import raises_code
from served import SOURCE, Served

from goldrank.base.errors import GoldrankError
from goldrank.explorer.site import write
from goldrank.explorer.start import demo_session


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "pages"
    command = [sys.executable, "-m", "goldrank", "serve", "--demo", "-o", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": SOURCE, "PATH": ""})
    assert "60 queries" in done.stdout
    return folder


@pytest.mark.slow
def test_every_link_leads_to_a_file(site):
    import re

    pages = {path.name: path.read_text() for path in site.glob("*.html")}
    assert len([name for name in pages if name.startswith("query-")]) == 60
    for name, text in pages.items():
        for target in re.findall(r'href="([^"#]+)"', text):
            assert (site / target).is_file(), (name, target)
        assert "<script" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_from_disk_it_shows_what_the_server_shows(browser, site, tmp_path):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).borderRadius") == "8px"  # styled
    page.locator(".btn.go").click()
    assert page.locator("h1").inner_text() == "internet over wifi is slow"
    from_disk = [page.locator(part).inner_text() for part in (".vals", ".why ol", ".led", ".ladder")]
    page.locator(".row .tx a").first.click()
    assert "router" in page.locator("main").inner_text()
    assert all(url.startswith("file:") for url in requests)
    with Served("--demo", "--log", str(tmp_path / "l.db"), cache=tmp_path) as server:
        page.goto(server.base + "/query?id=q14")
        assert [page.locator(part).inner_text() for part in (".vals", ".why ol", ".led", ".ladder")] == from_disk
    context.close()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with raises_code(GoldrankError, "not-empty"):
        write(demo_session(), str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
