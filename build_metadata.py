"""The metadata hook: addresses that only the place of a release knows.

GOLDRANK_HOME is the address of the repository, which the release workflow knows. With it, the package has its links,
and those of the README lead there, since a package index has no files beside it. Without it the README is as it is.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")
"""A Markdown link or picture that leads to a file of the repository."""


class Addresses(MetadataHookInterface):
    """Fills in `readme` and `urls`, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        home = os.environ.get("GOLDRANK_HOME", "").rstrip("/")
        if home:
            tag = f"v{metadata['version']}"

            def absolute(link: re.Match[str]) -> str:
                shown, text, path = link.groups()
                return f"{shown}{text}({home}/{'raw' if shown else 'blob'}/{tag}/{path})"

            readme = RELATIVE.sub(absolute, readme)
            metadata["urls"] = {
                "Homepage": home,
                "Documentation": f"{home}/blob/{tag}/docs/getting_in_and_out.md",
                "Changes": f"{home}/blob/{tag}/CHANGES.md",
                "Issues": f"{home}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
