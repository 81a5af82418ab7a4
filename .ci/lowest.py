"""The lowest versions that pyproject.toml allows, for `pip install -r`: `numpy>=2.0.2` becomes `numpy==2.0.2`.

Those of the optional parts too, but for Spark: it takes a gigabyte and Java, and its tests are not among the fast ones.
"""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
optional = {part: wanted for part, wanted in project["optional-dependencies"].items() if part not in ("all", "spark")}
for requirement in sorted({*project["dependencies"], *(one for wanted in optional.values() for one in wanted)}):
    if not re.match(r"[A-Za-z0-9_.-]+>=[0-9.]+( *;.*)?$", requirement):
        sys.exit(f"no lower bound that can be tried: {requirement}")
    sys.stdout.write(requirement.replace(">=", "==", 1) + "\n")
