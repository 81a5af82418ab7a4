"""Makes the pictures of docs/explorer.md from the demo: `python docs/explorer_pictures.py`.

Needs playwright and chromium, and the extra `serve`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
PAGES = {"overview": ("/", 1_080), "query": ("/query?id=q46", 1_000), "judge": ("/judge?judge=mara", 640)}
WIDTH = 1_100


def main() -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        command = [sys.executable, "-m", "goldrank", "serve", "--demo", "--no-token", "--no-browser", "--port", "0"]
        server = subprocess.Popen([*command, "--log", f"{folder}/log.db"], stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own command
        assert server.stdout is not None
        found = re.search(r"http://\S+/", server.stdout.readline())
        assert found is not None
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, (path, height) in PAGES.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": height})
            page.goto(found[0].rstrip("/") + path)
            page.wait_for_selector("main")
            page.wait_for_selector("[data-waiting]", state="detached", timeout=60_000)
            page.screenshot(path=FOLDER / f"explorer-{name}.png")
            page.close()
        browser.close()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
