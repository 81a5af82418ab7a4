"""Time every step from `git clone`, and from `pip install WHEEL`, to the first number of each kind of user.

    python benchmarks/first_minutes.py goldrank.whl > docs/first_minutes.md

Everything happens in a folder of its own with a clean home and no variables but PATH and those of pip (PIP_...), which
say where packages come from. The lines of users are those of README's table, on files of their shape.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import first_numbers  # noqa: E402 - beside the tests

PYTHON = Path(sys.base_prefix) / "bin" / "python3"
Step = tuple[str, float]


class Machine:
    """A folder with a clean home."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.steps = folder, list[Step]()
        (folder / "home").mkdir(parents=True)
        self.environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        self.environment |= {"HOME": str(folder / "home"), "PATH": f"{PYTHON.parent}:/usr/bin:/bin"}

    def step(self, shown: str, *command: str | Path, within: str = ".", note: bool = True) -> float:
        """Run a command and note the seconds that it took; one that fails ends everything."""
        began = time.perf_counter()
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder / within,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        took = time.perf_counter() - began
        if done.returncode:
            sys.exit(f"{shown}: {done.stdout}{done.stderr}")
        if note:
            self.steps.append((shown, took))
        return took

    def first_numbers(self, programs: Path) -> dict[str, float]:
        """The seconds of each kind of user, with the programs of a folder."""
        data = self.folder / "data"
        data.mkdir()
        first_numbers.write(data)
        return {
            user: sum(self.answer(programs, line) for line in lines) for user, lines in first_numbers.lines().items()
        }

    def answer(self, programs: Path, line: str) -> float:
        script = first_numbers.as_python(line)
        command = [programs / "python", "-c", script] if script else [programs / "goldrank", *shlex.split(line)[1:]]
        return self.step(line, *command, within="data", note=False)


def from_wheel(folder: Path, wheel: Path) -> tuple[Machine, dict[str, float]]:
    machine = Machine(folder)
    machine.step("`python3 -m venv venv`", PYTHON, "-m", "venv", "venv")
    machine.step("`pip install WHEEL`", folder / "venv/bin/pip", "install", "-q", wheel)
    machine.step("`goldrank demo`", folder / "venv/bin/goldrank", "demo")
    return machine, machine.first_numbers(folder / "venv/bin")


def from_clone(folder: Path) -> tuple[Machine, dict[str, float]]:
    machine = Machine(folder)
    machine.step("`git clone`", "git", "clone", "-q", f"file://{ROOT}", "goldrank")
    machine.step("`make demo`", "make", "-s", "demo", within="goldrank")
    machine.step("`.venv/bin/goldrank demo`, again", folder / "goldrank/.venv/bin/goldrank", "demo")
    return machine, machine.first_numbers(folder / "goldrank/.venv/bin")


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(wheel: Path) -> None:
    load = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as made:
        wheel_way, wheel_users = from_wheel(Path(made) / "wheel", wheel)
        load.append(os.getloadavg()[0])
        clone_way, clone_users = from_clone(Path(made) / "clone")
        load.append(os.getloadavg()[0])
        size = subprocess.run(["du", "-sm", Path(made) / "wheel/venv"], capture_output=True, text=True, check=True)
    ways = {"From `pip install WHEEL`": (wheel_way, wheel_users), "From `git clone`": (clone_way, clone_users)}
    memory = re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())
    gigabytes = f"{int(memory[1]) / 1e6:.0f} GB, " if memory else ""
    print(
        "# How long the first steps take\n\n"
        "**How long does it take until I see a first number?** Every step is timed in an empty folder with an empty "
        "home:\n\n```\npython benchmarks/first_minutes.py WHEEL\n```\n\n"
        "The lines of users come from the [table of the README](../README.md#i-have-this-i-want-that).\n\n"
        f"The machine: {os.cpu_count()} cores, {gigabytes}Python {sys.version.split()[0]}. "
        f"Its load was {load[0]:.1f} before,\n"
        f"{load[1]:.1f} between and {load[2]:.1f} after. "
        "Packages came from a nearby index: add the time that your connection takes to\nload them. "
        f"The environment has {size.stdout.split()[0]} MB afterwards\n"
        "([install.md](install.md) says which packages these are, and how to have less)."
    )
    for title, (machine, _) in ways.items():
        rows = [(shown, f"{took:.1f} s") for shown, took in machine.steps]
        print(f"\n## {title}\n")
        print(table(("step", "time"), [*rows, ("up to the first number", f"**{first(machine):.0f} s**")]))
        if machine is wheel_way:
            print(f"\nIn an environment that already exists: {first(machine) - machine.steps[0][1]:.0f} s.")
    print("\n## Each kind of user\n")
    print("The command that gives the first number, after installing, and everything together.\n")
    rows = []
    for user, lines in first_numbers.lines().items():
        took = [f"{found[user]:.1f} s, {prepared(machine) + found[user]:.0f} s" for machine, found in ways.values()]
        rows.append((user, "<br>".join(f"`{line}`" for line in lines), *took))
    print(table(("who", "command", "wheel: command, all", "clone: command, all"), rows))
    print(f"\n{by_hand()}", end="")


def by_hand() -> str:
    """The page's last part, which is written by whoever tried it; the page may be what is being written."""
    committed = ["git", "show", "HEAD:docs/first_minutes.md"]
    page = subprocess.run(committed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return "".join(page.partition("## Tried by hand")[1:])


def first(machine: Machine) -> float:
    """Seconds up to the first number: the clone's `make demo` shows one itself."""
    return sum(took for shown, took in machine.steps if "again" not in shown)


def prepared(machine: Machine) -> float:
    """Seconds before anything can be measured; the demo is not part of it, but in `make demo`."""
    return sum(took for shown, took in machine.steps if "goldrank demo" not in shown)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
