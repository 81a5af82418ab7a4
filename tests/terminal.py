"""A terminal of its own for a command."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import places


def seen_on_a_terminal(*arguments: str, cwd: Path | None = None, **variables: str) -> bytes:
    """All that Python, called with these arguments, writes to a terminal; it must end well."""
    parent, child = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(places.ROOT / "src"), **variables}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, cwd=cwd, stdout=child, stderr=child, env=environment) as process:
        os.close(child)
        seen = b""
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        assert process.wait() == 0, seen
    os.close(parent)
    return seen
