"""A real browser for the pages of the site, and its generators and the runner of examples as modules."""

import sys
from pathlib import Path

from browsing import browser as browser

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "docs")]
