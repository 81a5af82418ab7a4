"""Measurements -> the text of RESULTS.md. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

EXACT = 1e-9
"""Means that differ by no more are called equal."""


@dataclass(frozen=True)
class Row:
    """One tool doing one job."""

    job: str
    tool: str
    wall: float | None = None
    """Seconds; None if there is nothing to compare, and `note` says why."""
    cpu: float | None = None
    anonymous: int | None = None
    resident: int | None = None
    rounds: int = 0
    difference: float | None = None
    """The largest difference of a mean from goldrank's; None if there is none to compare."""
    note: str = ""


@dataclass(frozen=True)
class Target:
    """A promise, what was measured, and whether it was kept; None if it could not be measured."""

    promise: str
    measured: str
    met: bool | None


@dataclass(frozen=True)
class Form:
    """A rare form of a file."""

    kind: str
    name: str
    each: float
    """Microseconds a line."""
    ratio: float
    """To the plain file's."""
    met: bool


GOLDRANK = "goldrank"
ANEW = "pytrec_eval, evaluator made anew"
PURE = "goldrank, without the core"
FLOOR = "floor, 2 threads"
SPARK = "Spark, local[2]"
SPARK_ROWS = 10_000_000


def find(rows: Sequence[Row], job: str, tool: str = GOLDRANK) -> Row | None:
    """The row of a tool's job, if it was measured."""
    return next((row for row in rows if row.job == job and row.tool == tool and row.wall is not None), None)


def largest_difference(means: Mapping[str, float], others: Mapping[str, float]) -> float | None:
    """How far two sets of means are apart, over the measures that both have."""
    shared = means.keys() & others.keys()
    return max((abs(means[name] - others[name]) for name in shared), default=None)


def targets(rows: Sequence[Row], heavy: Sequence[str] | None = None) -> list[Target]:
    """Each promise against the rows. `heavy` are the modules that importing goldrank loads, if that was measured."""
    return [
        _faster(rows, "marco files", "trec_eval", 14),
        _faster(rows, "marco files", "pytrec_eval", 18),
        _faster(rows, "marco files", "ir_measures", 15),
        _faster(rows, "marco files", "ranx, cold", 50),
        _near_floor(rows, "marco files", 1.5),
        _growth(rows, "marco-parquet files", "marco files", 2.5),
        _growth(rows, "marco-shuffled files", "marco files", 3),
        _growth(rows, "marco-shuffled-parquet files", "marco-parquet files", 3),
        _memory(rows, "marco files", 450e6),
        _faster(rows, "marco dicts", "pytrec_eval", 6),
        *(_faster(rows, f"dicts {shape}", ANEW, anew) for shape, (anew, _) in OFTEN.items()),
        *(_faster(rows, f"dicts {shape}", "pytrec_eval", once) for shape, (_, once) in OFTEN.items() if once),
        _faster(rows, "deep dicts", "pytrec_eval", 1),
        _near_floor(rows, "wide files", 2.5),
        _memory(rows, "wide files", 400e6),
        _growth(rows, "wide files", "wide-half files", 2.5),
        _memory(rows, "huge files", 1e9),
        _near_floor(rows, "huge files", 1.7),
        _growth(rows, "huge files", "marco files", 9),
        _each(rows, "million-jsonl files", 1_000_000, 2e-6),
        _memory(rows, "many files", 1.5e9),
        _beside_spark(rows, 4),
        _growth(rows, "marco files, 100 measures", "marco files, 5 measures", 2),
        _import(rows, 0.15),
        _light(heavy),
        _within(rows, "goldrank eval on deep", 0.7),
        _after_numpy(rows, 0.06),
    ]


OFTEN = {
    "1x10x2": (1, 0),
    "1x1000x2": (1, 0),
    "10x100x5": (1, 1.5),
    "100x100x5": (1, 1.5),
    "100x1000x5": (1, 1.5),
    "1000x100x5": (1, 1.5),
    "50x1000x600": (1, 1.5),
    "10000x10x1": (3, 1.5),
    "6980x1000x1": (15, 1.5),
}
"""Shapes of dicts (queries, documents and judged ones of each), and how many times as fast as pytrec_eval a call is:
with an evaluator made for each call, and with one made once (0: no promise)."""
WHY = {
    "marco files": "the start of Python, numpy and goldrank (row `start-up`) is in it, and trec_eval and the floor, "
    "which are compiled programs, have none; the floor looks for no repeated document and no unsorted score.",
    "marco-shuffled files": "every line is kept, sorted by query and read again.",
    "dicts 1x10x2": "a call has a fixed cost of about a tenth of a millisecond: measures are NumPy calls on arrays "
    "of one query here; pytrec_eval's evaluator is C throughout.",
    "dicts 10x100x5": "the fixed cost of a call, about a tenth of a millisecond, is most of it.",
    "dicts 6980x1000x1": "seven million numbers are Python objects all over memory, and to fetch each once is most of "
    "the time.",
    "goldrank eval on a line": "the command line is 90 modules of goldrank beside click.",
    "Parquet of": "Spark reads the table three times, and each line is a row of Java's; docs/spark.md has the jobs.",
}
"""What keeps a target from being met, by how the target begins; said where it is missed."""


def _why(target: Target) -> str:
    return next((why for begin, why in WHY.items() if target.promise.startswith(begin)), "")


MUST_NOT_LOAD = ("polars", "scipy", "rich", "pandas")


def _faster(rows: Sequence[Row], job: str, tool: str, times: float) -> Target:
    promise = f"{job}: at least {times:g}x as fast as {tool}" if times != 1 else f"{job}: not slower than {tool}"
    return _ratio(promise, find(rows, job, tool), find(rows, job), lambda ratio: ratio >= times)


def _growth(rows: Sequence[Row], job: str, base: str, times: float) -> Target:
    return _ratio(f"{job}: at most {times:g}x the time of {base}", find(rows, job), find(rows, base), _up_to(times))


def _near_floor(rows: Sequence[Row], job: str, times: float) -> Target:
    promise = f"{job}: at most {times:g}x the floor, with start-up"
    return _ratio(promise, find(rows, job), find(rows, job, FLOOR), _up_to(times))


def _memory(rows: Sequence[Row], job: str, most: float) -> Target:
    row = find(rows, job)
    promise = f"{job}: RssAnon below {size(most)}"
    if row is None or row.anonymous is None:
        return Target(promise, "not measured", None)
    return Target(promise, size(row.anonymous), row.anonymous < most)


def _within(rows: Sequence[Row], job: str, most: float) -> Target:
    row = find(rows, job)
    promise = f"{job}: below {most:g} s"
    return Target(promise, "not measured", None) if row is None else Target(promise, seconds(row.wall), row.wall < most)


def _import(rows: Sequence[Row], most: float) -> Target:
    """The bare import loads next to nothing; what the first use adds is said beside it."""
    target, first_use = _within(rows, "import goldrank", most), find(rows, "from goldrank import evaluate")
    more = "" if first_use is None else f"; with evaluate {seconds(first_use.wall)}"
    return replace(target, measured=target.measured + more)


def _after_numpy(rows: Sequence[Row], most: float) -> Target:
    """What the command line takes beyond the import of numpy, which it cannot do without."""
    row, base = find(rows, "goldrank eval on a line"), find(rows, "import numpy", "python")
    promise = f"goldrank eval on a line: at most {seconds(most)} more than import numpy"
    if row is None or base is None:
        return Target(promise, "not measured", None)
    measured = f"{seconds(row.wall - base.wall)} more ({seconds(row.wall)} and {seconds(base.wall)})"
    return Target(promise, measured, row.wall - base.wall <= most)


def _each(rows: Sequence[Row], job: str, lines: int, most: float) -> Target:
    """CPU time for each line, start-up included."""
    row = find(rows, job)
    promise = f"{job}: at most {most * 1e6:g} us of CPU a line"
    if row is None or row.cpu is None:
        return Target(promise, "not measured", None)
    return Target(promise, f"{row.cpu / lines * 1e6:.2f} us", row.cpu / lines <= most)


def _beside_spark(rows: Sequence[Row], times: float) -> Target:
    job = f"Parquet of {SPARK_ROWS:,} rows"
    promise = f"{job}, by Spark local[2]: at most {times:g}x the time of the reader of files"
    return _ratio(promise, find(rows, job, SPARK), find(rows, job), _up_to(times))


def _light(heavy: Sequence[str] | None) -> Target:
    promise = f"import goldrank: without {', '.join(MUST_NOT_LOAD)}"
    if heavy is None:
        return Target(promise, "not measured", None)
    return Target(promise, f"loads {', '.join(heavy) or 'none of them'}", not set(heavy) & set(MUST_NOT_LOAD))


def _ratio(promise: str, numerator: Row | None, denominator: Row | None, kept: Callable[[float], bool]) -> Target:
    if numerator is None or denominator is None:
        return Target(promise, "not measured", None)
    ratio = numerator.wall / denominator.wall
    measured = f"{ratio:.2f}x ({seconds(numerator.wall)} to {seconds(denominator.wall)})"
    if numerator.cpu and denominator.cpu:
        # On a busy machine the wall clock also counts waiting; where the two ratios part, it did.
        measured += f"; by CPU {numerator.cpu / denominator.cpu:.2f}x"
    return Target(promise, measured, kept(ratio))


def _up_to(times: float) -> Callable[[float], bool]:
    return lambda ratio: ratio <= times


def render(
    facts: Mapping[str, str],
    rows: Sequence[Row],
    promises: Sequence[Target],
    notes: Sequence[str],
    forms: Mapping[str, Sequence[Form]] | None = None,
) -> str:
    """The whole page, as Markdown; `forms` are rare forms of files by the build of goldrank that read them."""
    parts = [
        "# Speed and memory, measured",
        "Written by `make bench` (`benchmarks/run.py`); do not edit.",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        "## Targets",
        _table(
            ("target", "measured", "met"),
            [(t.promise, t.measured, "" if t.met is None else "yes" if t.met else "**no**") for t in promises],
        ),
        "## Measurements",
        "Every measurement is a process of its own, one at a time. Time is the median, memory the highest of the "
        "rounds. For files it is the whole process, start-up included. For dicts it is the call alone, after the "
        "dicts were built; their memory is the whole process's. RssAnon is a process's own memory, sampled every "
        "10 ms; the resident set also counts the pages of mapped files. The ratio is the tool's time to goldrank's for "
        "the same job. Agreement compares the means of all measures that both report.",
        _table(
            (
                "job",
                "tool",
                "time",
                "CPU",
                "RssAnon",
                "resident",
                "time / goldrank",
                "CPU / goldrank",
                "agreement",
                "rounds",
                "note",
            ),
            [_cells(row, find(rows, row.job)) for row in rows],
            right=(2, 3, 4, 5, 6, 7, 9),
        ),
    ]
    missed = [f"- {promise.promise}: {why}" for promise in promises if promise.met is False and (why := _why(promise))]
    if missed:
        parts[5:5] = ["Why targets are missed:", "\n".join(missed)]
    if forms:
        parts += [
            "## Rare forms of files",
            "CPU time for each line of TREC files that are not plain, and how many times the plain file's that is: at "
            "most 3, or 30 where ids are ten times as long.",
            _table(
                ("file", "form", *(f"{build}{what}" for build in forms for what in (": us a line", ", times plain"))),
                _form_rows(forms),
            ),
        ]
    if notes:
        parts += ["## Notes", "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts) + "\n"


def _form_rows(forms: Mapping[str, Sequence[Form]]) -> list[list[str]]:
    """A row for each form, with two cells for each build."""
    rows: dict[tuple[str, str], list[str]] = {}
    for found in forms.values():
        for one in found:
            ratio = f"{one.ratio:.2f}" if one.met else f"**{one.ratio:.2f}**"
            rows.setdefault((one.kind, one.name), [one.kind, one.name]).extend((f"{one.each:.2f}", ratio))
    return list(rows.values())


def _cells(row: Row, base: Row | None) -> tuple[str, ...]:
    ratio = "" if row.wall is None or base is None else f"{row.wall / base.wall:.2f}"
    return (
        row.job,
        row.tool,
        "" if row.wall is None else seconds(row.wall),
        "" if row.cpu is None else seconds(row.cpu),
        "" if row.anonymous is None else size(row.anonymous),
        "" if row.resident is None else size(row.resident),
        ratio,
        "" if not row.cpu or base is None or not base.cpu else f"{row.cpu / base.cpu:.2f}",
        _agreement(row.difference),
        str(row.rounds or ""),
        row.note,
    )


def _agreement(difference: float | None) -> str:
    if difference is None:
        return ""
    return "equal" if difference <= EXACT else f"**differs by {difference:.1e}**"


def seconds(time: float) -> str:
    """A time for people, with three digits or so."""
    if time >= 1:
        return f"{time:.2f} s"
    return f"{time * 1000:.0f} ms" if time >= 0.1 else f"{time * 1000:.1f} ms"


def size(count: float) -> str:
    """Bytes for people."""
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _table(head: Sequence[str], body: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("---:" if i in right else "---" for i in range(len(head))) + "|"
    return "\n".join([line(head), rule, *(line(cells) for cells in body)])
