"""A gate in a repository, from the first baseline to a change that it stops.

Run it: `python examples/gate_in_ci.py`. It works in a temporary git repository with goldrank's demo data, and
prints what a developer, and a build server, would see.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RULES = """\
# What must hold before a change is merged.
rules = [
  "nDCG@10: -1%",      # fails if it surely dropped by more than 1%
  "AP: -1%",
  "nDCG@10 >= 0.50",   # whatever the baseline is
  "missing <= 0%",     # every question gets an answer
]
"""

SEARCH = """\
import sys
from goldrank import demo, read_run

read_run(demo.runs()["{ranker}"]).save(sys.argv[1])
"""


def run(*command: str, expect: int = 0) -> str:
    """Run a command, show it as a shell would, and return what it printed."""
    print(f"$ {' '.join(command)}")
    program = [sys.executable, "-m", *command] if command[0] == "goldrank" else list(command)
    program = [sys.executable, *command[1:]] if command[0] == "python" else program
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    assert done.returncode == expect, f"exit code {done.returncode}, not {expect}"
    return done.stdout


def commit(message: str) -> None:
    """Commit everything in the folder."""
    run("git", "add", "--all")
    run("git", "-c", "user.name=dev", "-c", "user.email=dev@localhost", "commit", "--quiet", "--message", message)


def main() -> None:
    """Record, break, fail, read, mend."""
    from goldrank import Qrels, demo

    run("git", "init", "--quiet", ".")
    Path("rules.toml").write_text(RULES)
    Path(".gitignore").write_text("out/\n")
    Qrels(demo.load()["qrels"]).save("qrels.txt")

    print("--- A search that works is frozen as the baseline, which is committed with the code.\n")
    Path("search.py").write_text(SEARCH.replace("{ranker}", "bm25"))
    Path("out").mkdir()
    run("python", "search.py", "out/run.txt")
    run(
        "goldrank",
        "gate",
        "qrels.txt",
        "out/run.txt",
        "--rules",
        "rules.toml",
        "--baseline",
        "baseline.json",
        "--update",
    )
    commit("Search with BM25; the baseline of the gate")

    check = ("goldrank", "gate", "qrels.txt", "out/run.txt", "--rules", "rules.toml", "--baseline", "baseline.json")
    reports = ("-o", "out/gate.md", "-o", "out/gate.xml", "-o", "out/gate.json")

    print("--- Nothing changed: the gate is open.\n")
    run(*check)

    print("--- A change breaks the ranking: the gate fails, and says what got worse.\n")
    Path("search.py").write_text(SEARCH.replace("{ranker}", "overlap"))
    run("python", "search.py", "out/run.txt")
    run(*check, *reports, "--as", "github", expect=1)
    verdict = json.loads(Path("out/gate.json").read_text())
    failed = [one for one in verdict["findings"] if one["status"] == "fail"]
    for one in failed:
        worst = one["worst"][0]
        print(f"{one['rule']}: look at {worst['query']} first, {worst['before']:.2f} -> {worst['after']:.2f}")
    assert [one["measure"] for one in failed] == ["nDCG@10", "AP"]
    print(Path("out/gate.md").read_text())

    print("--- The baseline did not move by itself, and nobody can edit it.\n")
    assert run("git", "status", "--short", "baseline.json") == ""
    text = Path("baseline.json").read_text()
    Path("baseline.json").write_text(text.replace('"label": ""', '"label": "fine"'))
    run(*check, expect=2)
    Path("baseline.json").write_text(text)

    print("--- The change is taken back: the gate is open again.\n")
    run("git", "checkout", "--quiet", "search.py")
    run("python", "search.py", "out/run.txt")
    run(*check)


if __name__ == "__main__":
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            main()
        finally:
            os.chdir(before)
