"""Makes docs/compare.png, the page of a comparison that the README shows: `python docs/screenshot.py`.

Needs playwright and chromium. The data are those of `goldrank demo`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from goldrank import compare, demo, show

TARGET = Path(__file__).with_name("compare.png")
WIDTH, HEIGHT = 1120, 1180


def page() -> str:
    """The page of the two retrievers of the demo."""
    data, runs = demo.load(), demo.runs()
    systems = {"old": runs["overlap"], "new": runs["bm25"]}
    texts = {"queries": data["queries"], "documents": data["documents"]}
    return show(compare(data["qrels"], systems, ["nDCG@10", "P@1"], **texts), "html")


def main() -> None:
    """Write the picture."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        path = Path(folder) / "compare.html"
        path.write_text(page(), "utf-8")
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        opened.goto(path.as_uri())
        opened.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()
