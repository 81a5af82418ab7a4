"""A mutation fuzzer over readers, saved files and spellings.

    python -m tests.fuzz -n 1000000 [--first 0] [--workers 2] [--routes 2] [--out .fuzz]
    python -m tests.fuzz --replay .fuzz/readers-1234.json
    python -m tests.fuzz --replay readers:1234

`make fuzz N=1000000` and `make fuzz REPLAY=...` do the same. The mutation of a number is the same at all times. Each
finding is a small file with the mutation, its number and what came of it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.fuzz import kinds
from tests.fuzz.running import Findings, run
from tests.fuzz.worker import tried


def replay(given: str) -> int:
    """Try one mutation again in this process, by its file or as KIND:NUMBER."""
    if Path(given).exists():
        content = kinds.from_json(Path(given).read_text())
        kind, spec = content["kind"], content["spec"]
    else:
        kind, _, number = given.partition(":")
        spec = kinds.make(kind, int(number))
    print(kinds.to_json(spec)[:4000])
    found = tried(kind, spec)
    print(f"\n{found['sort']}: {found['line']}\n{found['text']}" if found else "\nnothing is wrong with it")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20_000, help="how many mutations")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--routes", type=int, help="try so many routes of each mutation, drawn by its number, not all")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--out", type=Path, default=Path(".fuzz"), help="where findings are written")
    parser.add_argument("--replay", help="a finding's file, or KIND:NUMBER")
    given = parser.parse_args()
    if given.replay:
        return replay(given.replay)
    if given.routes is not None:
        os.environ["GOLDRANK_FUZZ_ROUTES"] = str(given.routes)
    findings = Findings(given.out)
    began = time.monotonic()

    def progress(done: int) -> None:
        spent = time.monotonic() - began
        print(f"\r{done:,} mutations, {done / spent:,.0f} a second, {len(findings.kept)} kinds of findings", end="",
              file=sys.stderr, flush=True)  # fmt: skip

    done = run(given.n, findings, first=given.first, workers=given.workers, seconds=given.seconds, progress=progress)
    print(f"\n{done:,} mutations; {findings.total:,} findings of {len(findings.kept)} kinds\n{findings}")
    return 1 if findings.kept else 0


if __name__ == "__main__":
    sys.exit(main())
