"""Tries mutations one after the other: `python -m tests.fuzz.worker FIRST LAST STEP FILE`.

The number of the one that is tried stands in the file at all times, so that one that hangs or kills the process is
known; findings go to standard output.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import mmap
import re
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

from tests.fuzz import kinds
from tests.fuzz.outcomes import Difference

MEMORY_LIMIT = 400 << 20
"""Bytes by which the peak may pass what the process had before. Inputs have 4 MB at most."""


def say(**what: Any) -> None:
    sys.__stdout__.write(json.dumps(what) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def number_in(file: str) -> memoryview:
    """The number in a file, in memory that both processes share; it survives the end of either."""
    with open(file, "r+b") as opened:
        return memoryview(mmap.mmap(opened.fileno(), 8)).cast("q")


def tried(kind: str, spec: dict[str, Any]) -> dict[str, str] | None:
    """What is wrong with a mutation: sort of fault, a line to tell it from others, everything else; None if nothing."""
    before = _memory("VmRSS")
    _reset_peak()
    with tempfile.TemporaryDirectory(prefix="goldrank-fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            kinds.check(kind, spec, Path(folder))
        except KeyboardInterrupt:
            raise
        except Difference as found:
            routes = " / ".join(line.split(" -> ")[0][:40] for line in str(found).splitlines() if " -> " in line)
            return {"sort": "difference", "line": f"{kind}: {routes}", "text": str(found)}
        except BaseException as error:  # polars' panics are no Exception
            ours = [
                frame for frame in traceback.extract_tb(error.__traceback__) if "/goldrank/" in frame.filename
            ] or traceback.extract_tb(error.__traceback__)
            place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
            words = re.sub(r"[0-9]+", "N", str(error))[:80]
            text = "".join(traceback.format_exception(error))[-4000:]
            return {"sort": "exception", "line": f"{type(error).__name__} at {place}: {words}", "text": text}
    grown = _memory("VmHWM") - before
    if grown > MEMORY_LIMIT:
        return {"sort": "memory", "line": f"{kind}: over the limit", "text": f"{grown >> 20} MB at its peak"}
    return None


def _memory(what: str) -> int:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"{what}:\s+(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def main(first: int, last: int, step: int, file: str) -> None:
    faulthandler.enable()
    begun = number_in(file)
    for kind in kinds.SHARES:
        kinds.make(kind, 0)  # imports
    gc.freeze()  # what was imported is never garbage
    for number in range(first, last, step):
        kind = kinds.kind_of(number)
        begun[0] = number
        spec = kinds.make(kind, number)
        finding = tried(kind, spec)
        if finding:
            say(number=number, kind=kind, **finding)
    say(done=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), sys.argv[4])
