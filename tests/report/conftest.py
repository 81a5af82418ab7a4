"""A real browser for the tests of pages."""

import pytest
from browsing import browser as browser


@pytest.fixture
def show(browser, tmp_path):
    """A function that opens a report and returns the page; at the end nothing may have gone wrong on it."""
    troubles, requests, contexts = [], [], []

    def open_page(text, **options):
        path = tmp_path / "report.html"
        path.write_text(text, "utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    assert all(url.startswith("file://") and url.endswith("report.html") for url in requests)
