"""A real browser for the tests of pages."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        launched = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


EVENTS = """[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).filter(a => a.name.startsWith('on')
    || a.name == 'srcdoc' || a.name.match(/href|src|action/) && /^\\s*(javascript|data):/i.test(a.value))
    .map(a => a.name)"""
"""Attributes that would run something."""
TOUCH = """for (const e of document.querySelectorAll('*')) {
    if (e.matches('summary, button') && !e.disabled) e.click();
    for (const name of ['mouseover', 'pointerover', 'focus', 'animationstart']) e.dispatchEvent(new Event(name));
}"""
"""All that can be opened is opened, and everything is pointed at."""
FOREIGN = "iframe, img, image, base, object, embed, form, meta[http-equiv=refresh i], foreignObject, use, template"


class Looking:
    """Files that a browser opens one after the other; what each of them asked for and complained of is kept."""

    def __init__(self, browser):
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.requests, self.troubles = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))

    def harmless(self, path, scripts):
        """A file runs nothing but its own scripts, and asks for nothing but itself and what `serve -o FOLDER` wrote."""
        page, at = self.page, path.as_uri()
        self.requests.clear()
        self.troubles.clear()
        page.goto(at)
        page.evaluate(TOUCH)
        page.wait_for_timeout(20)
        is_site = path.suffix == ".html" and (path.parent / "explorer.css").exists()
        beside = (
            {(path.parent / name).as_uri() for name in ("goldrank.css", "explorer.css", "icon.svg")}
            if is_site
            else set()
        )
        assert page.evaluate("window.hacked") is None, path.name
        assert set(self.requests) <= {at, *beside}, path.name
        assert self.troubles == [], path.name
        assert page.locator("script").count() <= scripts, path.name
        assert page.locator(FOREIGN).count() == 0, path.name
        assert page.locator("link").count() == len(beside), path.name
        assert page.evaluate(EVENTS) == [], path.name
        assert page.url.partition("#")[0] == at, path.name

    def close(self):
        self.context.close()
