"""Measure goldrank beside a hand-written floor and its peers: python benchmarks/run.py [--help]

A complete run writes benchmarks/RESULTS.md. A run of a part prints its tables instead, so that it does not
replace the complete ones, unless --output names a file. goldrank is run by the interpreter that runs this.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import processes
import results
from generate import files_of
from processes import Cost, FailedError
from results import ANEW, FLOOR, GOLDRANK, PURE, Form, Row

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
SCRIPTS = HERE / "peers"
PEERS = HERE / ".peers"
PEERS_PYTHON = PEERS / "bin" / "python"

ROUNDS = 3
IMPORT_ROUNDS = 9
SLOW_SECONDS = 60
"""What takes longer is measured once."""
PATIENCE_SECONDS = 900
WIDE_PATIENCE_SECONDS = 120
BUSY = 0.5
"""The load average above which wall times say more about the neighbours."""

PEER_PACKAGES = ("pytrec_eval-terrier", "ir_measures", "ranx", "numba", "numpy")
HEAVY = ("numpy", "polars", "scipy", "rich", "pandas", "pyarrow", "click", "jinja2", "rapidfuzz")
TREC_EVAL = (sys.executable, "-m", "goldrank", "trec_eval", "-m", "official")
LIST_HEAVY = f"import sys, json; print(json.dumps({{'heavy': [m for m in {HEAVY!r} if m in sys.modules]}}))"


@dataclass(frozen=True)
class Work:
    """A tool's command for a job; it prints its means."""

    job: str
    tool: str
    command: tuple[str | os.PathLike[str], ...]
    patience: float = PATIENCE_SECONDS
    fresh_cache: bool = False
    """Whether it gets an empty directory for compiled code each time."""
    pure: bool = False
    """Whether goldrank goes without its compiled core."""
    note: str = ""


class Bench:
    """Does the jobs and keeps what was found."""

    def __init__(self, *, peers: bool) -> None:
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.heavy: list[str] | None = None
        self.forms: dict[str, list[Form]] = {}
        self.peers = peers and self.install_peers()
        self.floor = self.compile_floor()
        if not peers:
            self.note("Peers were left out (--no-peers).")

    def note(self, text: str) -> None:
        say(text)
        self.notes.append(text)

    # The jobs.

    def marco_files(self) -> None:
        start = Work("start-up", GOLDRANK, (sys.executable, SCRIPTS / "with_goldrank.py", "start", "-", "-"))
        note = "does not order tied documents by id"
        ranx = self.peer("ranx", "files", "marco", tool="ranx, cold", fresh_cache=True, note=note)
        trec_eval = Work("marco files", "goldrank trec_eval", (*TREC_EVAL, *data("marco")), note="official output")
        others = ("marco-parquet", "marco-shuffled", "marco-shuffled-parquet")
        tables = [work for shape in others for work in self.both("files", shape)]
        ours = [*with_and_without(trec_eval), *with_and_without(start), *tables]
        self.measure([*self.readers("marco"), *self.original("marco"), *ranx, *ours])

    def marco_dicts(self) -> None:
        self.measure([*self.both("dicts", "marco"), *self.peer("pytrec_eval", "dicts", "marco")])

    def deep_files(self) -> None:
        # Without ranx, whose time is that of its compiler, as on marco.
        self.measure(self.readers("deep"))

    def deep_dicts(self) -> None:
        self.measure([*self.both("dicts", "deep"), *self.peer("pytrec_eval", "dicts", "deep")])

    def often(self) -> None:
        """Calls on dicts with judgements made once, beside pytrec_eval's evaluator made once and for each call."""
        for shape in results.OFTEN:
            job, scripts = f"dicts {shape}", {"often": "pytrec_eval", "anew": ANEW}
            ours = Work(job, GOLDRANK, (sys.executable, SCRIPTS / "with_goldrank.py", "often", shape, "-"))
            theirs = [
                Work(job, tool, (PEERS_PYTHON, SCRIPTS / "with_pytrec_eval.py", how, shape, "-"))
                for how, tool in scripts.items()
                if self.peers
            ]
            self.measure([*with_and_without(ours), *theirs])

    def wide(self) -> None:
        slow = self.peer("pytrec_eval", "files", "wide", patience=WIDE_PATIENCE_SECONDS)
        self.measure([*self.both("files", "wide"), *self.floor_work("wide"), *slow, *self.both("files", "wide-half")])

    def huge(self) -> None:
        beside = [] if results.find(self.rows, "marco files") else self.both("files", "marco")
        self.measure([*self.both("files", "huge"), *self.floor_work("huge"), *beside])

    def json_lines(self) -> None:
        self.measure(self.both("files", "million-jsonl"))

    def many_queries(self) -> None:
        self.measure(self.both("files", "many"))

    def spark(self) -> None:
        """Spark beside the reader of files, on the same Parquet files."""
        if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
            self.note("Spark was left out: pyspark (`make test` installs it) or Java is not installed.")
            return
        say("making the files for Spark")
        subprocess.run([sys.executable, HERE / "spark.py", "--make", str(results.SPARK_ROWS)], check=True)
        job = f"Parquet of {results.SPARK_ROWS:,} rows"
        command = (sys.executable, HERE / "spark.py", "--rows", str(results.SPARK_ROWS), "--worker")
        note = "the call alone, in a session that has answered once"
        file, spark = Work(job, GOLDRANK, (*command, "file")), Work(job, results.SPARK, (*command, "spark"), note=note)
        self.measure([*with_and_without(file), *with_and_without(spark)])

    def rare_forms(self) -> None:
        for build, pure in ((GOLDRANK, False), (PURE, True)):
            command = (sys.executable, HERE / "rare_paths.py", "--json")
            found = subprocess.run(command, env=_environment(pure), check=True, capture_output=True, text=True).stdout
            self.forms[build] = [Form(*row) for row in json.loads(found)]
            late = [f"{form.kind} with {form.name}" for form in self.forms[build] if not form.met]
            if late:
                self.note(f"Rare forms that take more than they may, {build}: {', '.join(late)}.")

    def measures(self) -> None:
        self.measure(
            [
                *with_and_without(self.goldrank("files", "marco", job="marco files, 5 measures")),
                *with_and_without(self.goldrank("hundred", "marco", job="marco files, 100 measures")),
            ]
        )

    def importing(self) -> None:
        def work(job: str, tool: str, statement: str) -> Work:
            return Work(job, tool, (sys.executable, "-c", f"{statement}; {LIST_HEAVY}"))

        found = self.measure(
            [
                work("start of Python", "python", "pass"),
                work("import numpy", "python", "import numpy"),
                work("import goldrank", GOLDRANK, "import goldrank"),
                *with_and_without(work("from goldrank import evaluate", GOLDRANK, "from goldrank import evaluate")),
            ],
            rounds=IMPORT_ROUNDS,
        )
        for (job, tool), cost in found.items():
            if tool == PURE:
                continue
            loaded = list(cost.answer["heavy"])
            self.note(f"Of {', '.join(HEAVY)}, {job} loads {', '.join(loaded) or 'none'}.")
            if job == "import goldrank":
                self.heavy = loaded

    def command_line(self) -> None:
        command = (sys.executable, "-m", "goldrank", "eval")
        self.measure(with_and_without(Work("goldrank eval on deep", GOLDRANK, (*command, *data("deep")))))
        with tempfile.TemporaryDirectory(prefix="goldrank-bench-") as folder:
            tiny = Path(folder, "qrels"), Path(folder, "run")
            tiny[0].write_text("q1 0 a 1\n")
            tiny[1].write_text("q1 Q0 a 1 2.5 t\n")
            line = Work("goldrank eval on a line", GOLDRANK, (*command, *tiny))
            self.measure(with_and_without(line), rounds=IMPORT_ROUNDS)

    # Who does them.

    def readers(self, shape: str) -> list[Work]:
        return [
            *self.both("files", shape),
            *self.floor_work(shape),
            *self.peer("pytrec_eval", "files", shape),
            *self.peer("ir_measures", "files", shape),
        ]

    def goldrank(self, how: str, shape: str, job: str = "") -> Work:
        command = (sys.executable, SCRIPTS / "with_goldrank.py", how, *data(shape))
        return Work(job or f"{shape} {how}", GOLDRANK, command)

    def both(self, how: str, shape: str) -> list[Work]:
        return with_and_without(self.goldrank(how, shape))

    def original(self, shape: str) -> list[Work]:
        """trec_eval itself, where it is installed."""
        program = shutil.which("trec_eval")
        if program is None:
            self.note("trec_eval was left out: it is not installed.")
            return []
        return [Work(f"{shape} files", "trec_eval", (program, "-m", "official", *data(shape)), note="official output")]

    def floor_work(self, shape: str) -> list[Work]:
        note = "AP, RR and nDCG@10 only; checks nothing"
        return [Work(f"{shape} files", FLOOR, (self.floor, *data(shape), "2"), note=note)] if self.floor else []

    def peer(
        self,
        name: str,
        how: str,
        shape: str,
        *,
        tool: str = "",
        patience: float = PATIENCE_SECONDS,
        fresh_cache: bool = False,
        note: str = "",
    ) -> list[Work]:
        if not self.peers:
            return []
        command = (PEERS_PYTHON, SCRIPTS / f"with_{name}.py", how, *data(shape))
        return [Work(f"{shape} {how}", tool or name, command, patience, fresh_cache, note=note)]

    # Measuring.

    def measure(self, works: Sequence[Work], rounds: int = ROUNDS) -> dict[tuple[str, str], Cost]:
        """Do all works in turns, so that all meet the same machine, and keep a row for each; the middle costs."""
        costs: dict[Work, list[Cost]] = {work: [] for work in works}
        failed: dict[Work, str] = {}
        for turn in range(1, rounds + 1):
            for work, seen in costs.items():
                if work in failed or (seen and seen[0].wall > SLOW_SECONDS):
                    continue
                try:
                    seen.append(attempt(work))
                    say(f"{work.job}: {work.tool}, round {turn} of {rounds}: {seen[-1].wall:.3f} s")
                except FailedError as error:
                    failed[work] = without_paths(str(error))
                    self.note(f"{work.job}: {work.tool}: {failed[work]}")
        found = {(work.job, work.tool): processes.middle(seen) for work, seen in costs.items() if seen}
        for work, seen in costs.items():
            if work in failed:
                self.rows.append(Row(work.job, work.tool, note=failed[work]))
            else:
                self.rows.append(as_row(work, seen, found))
        return found

    # Preparing.

    def install_peers(self) -> bool:
        """Put the peers into an environment of their own, so that they do not mix with the project's."""
        wanted = (SCRIPTS / "requirements.txt").read_text()
        stamp = PEERS / "installed.txt"
        if stamp.exists() and stamp.read_text() == wanted:
            return True
        say("installing the peers into benchmarks/.peers")
        pip = [PEERS_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", PEERS], check=True, stdout=sys.stderr)
            subprocess.run([*pip, "--requirement", SCRIPTS / "requirements.txt"], check=True, stdout=sys.stderr)
        except (OSError, subprocess.CalledProcessError) as error:
            self.note(f"Peers were left out, they could not be installed: {without_paths(str(error))}")
            return False
        stamp.write_text(wanted)
        return True

    def compile_floor(self) -> Path | None:
        """The floor's program, compiled for this machine; None without a compiler."""
        compiler, program = shutil.which("g++"), HERE / "floor"
        if compiler is None:
            self.note("The floor was left out: there is no g++.")
            return None
        options = ["-O3", "-march=native", "-std=c++20", "-pthread"]
        done = subprocess.run([compiler, *options, HERE / "floor.cpp", "-o", program], stdout=sys.stderr)
        if done.returncode:
            self.note("The floor was left out: g++ failed.")
            return None
        return program


JOBS: dict[str, Callable[[Bench], None]] = {
    "deep-files": Bench.deep_files,
    "deep-dicts": Bench.deep_dicts,
    "marco-files": Bench.marco_files,
    "marco-dicts": Bench.marco_dicts,
    "often": Bench.often,
    "measures": Bench.measures,
    "wide": Bench.wide,
    "huge": Bench.huge,
    "json-lines": Bench.json_lines,
    "many": Bench.many_queries,
    "spark": Bench.spark,
    "forms": Bench.rare_forms,
    "import": Bench.importing,
    "cli": Bench.command_line,
}
QUICK = ("deep-files", "deep-dicts", "import")


def with_and_without(work: Work) -> list[Work]:
    """goldrank's work with its compiled core and without."""
    pure = PURE if work.tool == GOLDRANK else f"{work.tool}, without the core"
    return [work, replace(work, tool=pure, pure=True)]


def attempt(work: Work) -> Cost:
    """One measurement of a work."""
    environment = _environment(work.pure)
    if work.command[0] == PEERS_PYTHON:  # peers have modules of their own
        environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory(prefix="goldrank-bench-") as empty:
        if work.fresh_cache:
            environment["NUMBA_CACHE_DIR"] = empty
        return processes.run(work.command, environment, work.patience)


def _environment(pure: bool) -> dict[str, str]:
    """What a process is told: whether goldrank goes without its compiled core. Start-up does not include compiling."""
    environment = {**os.environ, "GOLDRANK_PURE": "1" if pure else "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def as_row(work: Work, seen: Sequence[Cost], found: dict[tuple[str, str], Cost]) -> Row:
    """The middle of a work's costs; the time inside the process where the process took it."""
    cost = found[work.job, work.tool]
    base = found.get((work.job, GOLDRANK))
    inside = [one.answer["spent"] for one in seen if "spent" in one.answer]
    note = work.note
    if "whole" in cost.answer:
        whole = statistics.median(one.answer["whole"]["wall"] for one in seen)
        note = f"with making the evaluator and the means: {results.seconds(whole)}"
    difference = None
    if base is not None and work.tool != GOLDRANK:
        difference = results.largest_difference(base.answer.get("means", {}), cost.answer.get("means", {}))
    return Row(
        job=work.job,
        tool=work.tool,
        wall=statistics.median(one["wall"] for one in inside) if inside else cost.wall,
        cpu=_median(one.get("cpu") for one in inside) if inside else cost.cpu,
        anonymous=cost.anonymous,
        resident=cost.resident,
        rounds=len(seen),
        difference=difference,
        note=note,
    )


def _median(values: Iterable[float | None]) -> float | None:
    """The median of what was measured, None if nothing was: not all work is done where it can be counted."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def data(shape: str) -> tuple[Path, Path]:
    """A shape's files, made if they are missing, and read once so that no tool pays for the disk."""
    qrels, run = files_of(DATA, shape)
    if not (qrels.exists() and run.exists()):
        # In a process of its own: what this process holds would count as memory of those it starts.
        subprocess.run([sys.executable, HERE / "generate.py", DATA, shape], check=True)
    if shape not in _read:
        for path in (qrels, run):
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass
        _read.add(shape)
    return qrels, run


_read: set[str] = set()


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        named = [
            line.partition(":")[2].strip() for line in information.read_text().splitlines() if "model name" in line
        ]
        model = named[0] if named else model
    packages = versions(sys.executable, ("goldrank", "numpy", "polars"))
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": f"{model}, {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores",
        "memory": results.size(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")),
        "system": f"{platform.system()} {platform.release()}, load {os.getloadavg()[0]:.1f} at the start",
        "Python": platform.python_version(),
        "goldrank's environment": packages,
    }


def versions(python: str | Path, packages: Sequence[str]) -> str:
    """The versions of packages in an environment, by the environment's own word."""
    script = (
        "import sys, json, importlib.metadata as m\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: found[name] = getattr(sys.modules.get(name), '__version__', '(none)')\n"
        "print(json.dumps(found))"
    )
    if "goldrank" in packages:  # may be found by PYTHONPATH alone; and its bytecode is written now, not later
        script = "import goldrank.evaluation.rankings\n" + script
    done = subprocess.run([python, "-c", script, *packages], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{python} cannot import goldrank; `make bench` installs it:\n{done.stderr}")
    return ", ".join(f"{name} {version}" for name, version in json.loads(done.stdout).items())


def chosen(names: Sequence[str]) -> list[str]:
    """The jobs that are named, or whose name starts with what is named."""
    unknown = [name for name in names if not any(job.startswith(name) for job in JOBS)]
    if unknown:
        raise SystemExit(f"unknown job {unknown[0]!r}; there are {', '.join(JOBS)}")
    return [job for job in JOBS if any(job.startswith(name) for name in names)]


def without_paths(text: str) -> str:
    """A message without this machine's directories."""
    return text.replace(sys.executable, "python").replace(f"{HERE.parent}{os.sep}", "")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"jobs, or how they start: {', '.join(JOBS)}")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--no-peers", action="store_true", help="only goldrank and the floor")
    parser.add_argument("--output", type=Path, help="where to write the page")
    arguments = parser.parse_args()
    jobs = chosen(arguments.only) if arguments.only else list(QUICK) if arguments.quick else list(JOBS)
    facts = machine()
    load = os.getloadavg()[0]
    bench = Bench(peers=not arguments.no_peers)
    if bench.peers:
        facts["peers' environment"] = versions(PEERS_PYTHON, PEER_PACKAGES)
    if load > BUSY:
        bench.note(
            f"Something else was running (load {load:.1f} at the start): believe the CPU times, not the wall clock."
        )
    for job in jobs:
        JOBS[job](bench)
    promises = results.targets(bench.rows, bench.heavy)
    complete = len(jobs) == len(JOBS) and bench.peers
    output = arguments.output or (HERE / "RESULTS.md" if complete else None)
    if output is None:
        kept = [one for one in promises if one.met is not None]
        print(results.render(facts, bench.rows, kept, bench.notes, bench.forms))
    else:
        output.write_text(results.render(facts, bench.rows, promises, bench.notes, bench.forms), encoding="utf-8")
        say(f"wrote {output}")


if __name__ == "__main__":
    main()
