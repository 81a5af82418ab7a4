"""Where tests find the project and the files that they read."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
FILES = TESTS / "files"
