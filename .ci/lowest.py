"""The lowest versions that pyproject.toml allows, for `pip install -r`: `numpy>=2.0.2` becomes `numpy==2.0.2`."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
for requirement in project["dependencies"]:
    if not re.match(r"[A-Za-z0-9_.-]+>=[0-9.]+( *;.*)?$", requirement):
        sys.exit(f"no lower bound that can be tried: {requirement}")
    sys.stdout.write(requirement.replace(">=", "==", 1) + "\n")
