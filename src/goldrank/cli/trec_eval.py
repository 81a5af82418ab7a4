"""`goldrank trec_eval`: the arguments of trec_eval 10 in, its output out."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from goldrank import ids
from goldrank.cli.output import echo, echo_all, show
from goldrank.data.table import note_sentences
from goldrank.errors import InputError, MeasureError, OptionError, did_you_mean, one_of

if TYPE_CHECKING:
    from goldrank.evaluation.inputs import Judgements
    from goldrank.measures import Measure
    from goldrank.measures.declare import Declaration
    from goldrank.notes import Note

MISSING_ZSCORE = -1000000.0
RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Entry:
    """What trec_eval prints under a name."""

    parameters: str = "none"
    """'ranks' or 'levels' for cut-offs with a line each, 'numbers', 'gains', 'length' or 'none'."""
    default: tuple[float, ...] = ()
    count: bool = False
    """Whether it is a whole number, summed over queries."""
    single: bool = True
    """Whether it is printed for single queries."""


_PREFS = (
    *(f"prefs_{kind}{over}" for over in ("", "_ret") for kind in ("simp", "pair", "avgjg", "avgjg_Rnonrel")),
    *(f"prefs_{kind}_imp" for kind in ("simp", "pair", "avgjg")),
)
_PREF_COUNTS = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")

_PLAIN, _COUNT, _SUMMARY = Entry(), Entry(count=True), Entry(single=False)
_CUTS, _NUMBERS, _GAINS = Entry("ranks", RANKS), Entry("numbers"), Entry("gains")
_ORDERED: Sequence[tuple[Entry, str]] = [
    (_SUMMARY, "runid"),
    (Entry(count=True, single=False), "num_q"),
    (_COUNT, "num_ret num_rel num_rel_ret"),
    (_PLAIN, "map"),
    (_SUMMARY, "gm_map"),
    (_PLAIN, "Rprec bpref recip_rank"),
    (Entry("levels", ELEVEN), "iprec_at_recall"),
    (_CUTS, "P"),
    (Entry("length"), "relstring"),
    (_CUTS, "recall"),
    (_PLAIN, "infAP"),
    (_SUMMARY, "gm_bpref"),
    (Entry("levels", MULTIPLES), "Rprec_mult"),
    (_NUMBERS, "utility 11pt_avg"),
    (_PLAIN, "binG"),
    (_GAINS, "G dcg ideal_dcg ndcg ndcg_rel Rndcg"),
    (_CUTS, "ndcg_cut map_cut relative_P"),
    (Entry("ranks", (1, 5, 10)), "success"),
    (_PLAIN, "set_P set_relative_P set_recall set_map"),
    (_NUMBERS, "set_F"),
    (_COUNT, " ".join(["num_nonrel_judged_ret", *_PREF_COUNTS])),
    (_PLAIN, " ".join([*_PREFS, "map_avgjg"])),
    (_CUTS, "P_avgjg"),
    (Entry("levels", MULTIPLES), "Rprec_mult_avgjg"),
    (_PLAIN, "yaap"),
    (_GAINS, "rbp rbp_resid"),
    (Entry("ranks", (5, 10, 20)), "unj"),
]
TABLE = {name: entry for entry, names in _ORDERED for name in names.split()}
"""All measures of trec_eval 10 in the order in which it prints them."""

_OFFICIAL = list(TABLE)[:12]
_OTHER_TABLES = {"yaap", "dcg", "ideal_dcg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg", *_PREFS, *_PREF_COUNTS}
NICKNAMES: dict[str, Sequence[str]] = {
    "official": _OFFICIAL,
    "set": [*_OFFICIAL[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"],
    "all_trec": [name for name in TABLE if name not in _OTHER_TABLES],
    "all_prefs": ["runid", "num_q", *_PREF_COUNTS, *_PREFS],
    "prefs": ["runid", "num_q", *_PREF_COUNTS, *_PREFS[:3]],
    "qrels_jg": ["runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"],
}

FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")


@dataclass(frozen=True)
class Line:
    """One line of output per query and one for all of them."""

    name: str
    entry: Entry
    measure: Measure | None
    """None for runid and relstring, which are text."""
    length: int = 0


@dataclass(frozen=True)
class Arguments:
    """What the arguments say."""

    qrels: str
    run: str
    measures: Sequence[str]
    by_query: bool
    complete: bool
    level: int
    summary: bool
    judged_only: bool
    docs: int
    depth: int | None
    format: str
    zscores: str | None
    only_query: str | None


def lines_of(measures: Sequence[str], level: int = 1, docs: int = 0) -> list[Line]:
    """The lines that `-m` options ask for, in trec_eval's order."""
    marked: dict[str, str | None] = {}
    for text in measures or ["official"]:
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise MeasureError(f"trec_eval: measure '{text}' has a point but no parameters after it")
        if name in NICKNAMES:
            marked = dict.fromkeys(NICKNAMES[name]) | marked
        elif name in TABLE:
            marked[name] = marked.get(name) or parameters or None
        else:
            near = did_you_mean(name, [*TABLE, *NICKNAMES])
            raise MeasureError(f"trec_eval: illegal measure '{text}'", hint=near or f"Measures are {', '.join(TABLE)}.")
    return [line for name in TABLE if name in marked for line in _lines(name, marked[name], level, docs)]


def _lines(name: str, parameters: str | None, level: int, docs: int) -> Iterator[Line]:
    entry = TABLE[name]
    long = f"{name}_{parameters}" if parameters else name
    match entry.parameters:
        case "length":
            yield Line(long, entry, None, max(0, int(min(_float(parameters), 1e9)) if parameters else 10))
        case "ranks" | "levels":
            read, shown = (_whole, "{}") if entry.parameters == "ranks" else (_float, "{:3.2f}")
            cutoffs = sorted(map(read, parameters.split(","))) if parameters else entry.default
            if len(set(cutoffs)) < len(cutoffs):
                raise MeasureError(f"trec_eval: {name}: a cut-off is given twice")
            if entry.parameters == "ranks" and cutoffs[0] <= 0:
                raise MeasureError(f"trec_eval: {name}: a cut-off must be above 0")
            for cutoff in cutoffs:
                yield Line(f"{name}_{shown.format(cutoff)}", entry, _measure(name, level, k=cutoff))
        case "numbers":
            numbers = [_float(part) for part in parameters.split(",")] if parameters else []
            yield Line(long, entry, _measure(name, level, options=_numbers(name, numbers, docs)))
        case "gains":
            yield Line(long, entry, _measure(name, level, options=_gains(name, parameters)))
        case _:
            yield Line(name, entry, None if name == "runid" else _measure(name, level))


def _measure(name: str, level: int, k: float | None = None, options: Mapping[str, Any] | None = None) -> Measure:
    from goldrank.measures import make
    from goldrank.measures.declare import lookup

    found = lookup(name)
    assert found is not None, name
    proper, implied = found
    given = {**implied, **(options or {})}
    made = make(proper, k, given)
    # Where rel is None unless given, it means something else: gains of 0 and 1.
    if made.declaration.defaults.get("rel") is not None:
        given["rel"] = level
    return make(proper, k, given)


def _numbers(name: str, numbers: Sequence[float], docs: int) -> dict[str, Any]:
    if name == "utility":
        if numbers and len(numbers) != 4:
            raise MeasureError(f"trec_eval: utility takes 4 numbers, not {len(numbers)}")
        return {"docs": docs, **dict(zip("abcd", numbers, strict=False))}
    if name == "set_F":
        return {"weight": numbers[0]} if numbers else {}
    return {"points": list(numbers)} if numbers else {}


def _gains(name: str, parameters: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    gain: dict[int, float] = {}
    for part in parameters.split(",") if parameters else ():
        key, sign, value = part.partition("=")
        if not sign:
            raise MeasureError(
                f"trec_eval: malformed pair parameters in '{parameters}'", hint="They look like 1=3,2=9."
            )
        if key == "p" and name in ("rbp", "rbp_resid"):
            options["p"] = _float(value)
        elif re.fullmatch(r"[+-]?\d+", key, re.ASCII) and name != "rbp_resid":
            gain[_whole(key)] = _float(value)
    return {**options, "gain": gain} if gain else options


def _whole(text: str) -> int:
    """The whole number that a text starts with, as C reads it: within 64 bits."""
    found = re.match(r"\s*[+-]?\d+", text, re.ASCII)
    if found is None:
        return 0
    most = (1 << 63) - 1
    value = int(found[0]) if len(found[0]) < 4_000 else -most if "-" in found[0] else most
    return max(-most, min(value, most))


def _float(text: str) -> float:
    """The number that a text starts with, as C reads it."""
    found = re.match(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII)
    return float(found[0]) if found else 0.0


def output(settings: Arguments, number: str = "%6.4f", told: list[Note] | None = None) -> Iterator[str]:
    """What trec_eval would print, query by query and then the summary; `number` formats values.

    `told` gets the notes on what was read, of which trec_eval says nothing.
    """
    from goldrank import conventions, io
    from goldrank.evaluation import footer, pipeline
    from goldrank.io import sources, trec
    from goldrank.measures.judged import grade_strings

    one_of(settings.format, FORMATS, "-R")
    lines = lines_of(settings.measures, settings.level, settings.docs)
    # trec_eval orders ties the other way round when it looks at preferences.
    ties = "docid-ascending" if settings.format in ("prefs", "qrels_prefs") else "docid"
    rules = conventions.TREC_EVAL_10.having(ties=ties, overlap="allow")
    source = sources.open_source(settings.run)
    judgements: Judgements
    if settings.format == "qrels":
        judgements = io.read_qrels(settings.qrels, format="trec")
    elif settings.format == "qrels_jg":
        judgements = io.read_aspects(settings.qrels)
    else:
        judgements = io.read_preferences(settings.qrels, format=settings.format)
    placed = pipeline.place(judgements, io.read_run(source, format="trec"), rules)
    measures = [line.measure for line in lines if line.measure is not None]
    tables = dict(pipeline.tables_of(placed, measures))
    placements = placed.placements
    answered = placements.answered
    if told is not None:
        numbers = footer.counts_of(placements, placed.counts)
        how = rules.having(missing="zero" if settings.complete else "skip")
        told += footer.notes_of(numbers, placed.counts, judgements.notes, placed.run, how, placements, {})
    chosen = np.ones(len(answered), bool) if settings.complete else answered.copy()
    if settings.only_query is not None:
        chosen &= np.array([query == settings.only_query for query in placements.queries], bool)
    if not chosen.any():
        raise InputError(
            "no query has both results and judgements",
            where=settings.run,
            hint="Are these the right two files? -c counts judged queries that are not in the run.",
        )
    # A query that is not in the run is measured as if it had returned one document that nobody judged.
    tables["placements"] = replace(placements, retrieved=np.where(answered, placements.retrieved, 1))
    if settings.depth is not None:
        tables = {key: table.cut(max(settings.depth, 0)) for key, table in tables.items()}
    if settings.judged_only:
        tables = {key: table.condensed for key, table in tables.items()}

    queries = list(compress(placements.queries, chosen))
    known = None if settings.zscores is None else _read_zscores(settings.zscores)
    values: list[np.ndarray | list[str]] = []
    for line in lines:
        if line.measure is None:
            strings = grade_strings(tables["placements"], line.length)
            if line.name == "relstring":
                strings = [text if there else "" for text, there in zip(strings, answered.tolist(), strict=True)]
            values.append(list(compress(strings, chosen)))
            continue
        needed = line.measure.declaration.over
        wrong = needed not in tables or (needed == "placements" and settings.format != "qrels")
        if wrong and line.name != "num_q":
            raise MeasureError(
                f"trec_eval: '{line.name}' cannot be measured with -R {settings.format}",
                hint="Preferences go with -R prefs or qrels_prefs, *_avgjg with -R qrels_jg, others with -R qrels.",
            )
        column = pipeline.values_of(line.measure, tables, rules)
        if line.measure.declaration.average == "geometric":
            column = np.array([math.log(value) for value in column.tolist()])
        if line.name in ("num_ret", "utility", "rbp_resid") or line.name.startswith("unj"):
            column = np.where(answered, column, 0.0)
        values.append(column[chosen] if known is None else _to_zscores(line.name, column[chosen], queries, known))

    prefix = "" if known is None else "Z"
    whole = known is None
    labels = [f"{prefix if line.measure is not None else ''}{line.name:<22}" for line in lines]
    if settings.by_query:
        yield from _by_query(queries, lines, labels, values, number, whole)
    if settings.summary:
        n = len(answered) if settings.complete else len(queries)
        for line, label, each in zip(lines, labels, values, strict=True):
            if line.name == "runid":
                yield f"{label}\tall\t{ids.decode(trec.last_tag(source))}\n"
            elif isinstance(each, np.ndarray):
                total = _summary(line, each, n, settings, placements)
                text = str(int(total)) if line.entry.count and whole else number % total
                yield f"{label}\tall\t{text}\n"


def _by_query(
    queries: Sequence[str],
    lines: Sequence[Line],
    labels: Sequence[str],
    values: Sequence[np.ndarray | list[str]],
    number: str,
    whole: bool,
) -> Iterator[str]:
    shown: list[tuple[str, list[str]]] = []
    for line, label, column in zip(lines, labels, values, strict=True):
        if not line.entry.single:
            continue
        if not isinstance(column, np.ndarray):
            shown.append((label, [f"'{text}'" for text in column]))
        elif line.entry.count and whole:
            shown.append((label, [str(int(value)) for value in column.tolist()]))
        else:
            shown.append((label, [number % value for value in column.tolist()]))
    for i, query in enumerate(queries):
        yield "".join([f"{label}\t{query}\t{texts[i]}\n" for label, texts in shown])


def _summary(line: Line, column: np.ndarray, n: int, settings: Arguments, placements: Any) -> float:
    if line.name == "num_q":
        return float(n)
    if line.name == "num_rel" and settings.complete and settings.zscores is None:
        # With -c trec_eval counts what is above 0 here, whatever -l says.
        return float((placements.judged > 0).sum())
    total = float(np.cumsum(column)[-1])
    if line.entry.count:
        return total
    assert line.measure is not None
    if line.measure.declaration.average == "geometric":
        return math.exp((total + (n - len(column)) * math.log(0.00001)) / n)
    return total / n


def _read_zscores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and standard deviation by query and measure."""
    from goldrank.io import sources

    known: dict[tuple[str, str], tuple[float, float]] = {}
    source = sources.open_source(path)
    for number, line in enumerate(source.read().split(b"\n"), 1):
        found = [ids.decode(part) for part in line.split()]
        if not found:
            continue
        if len(found) != 4:
            raise InputError(
                f"found {len(found)} columns, expected 4 (query, measure, mean, standard deviation)",
                where=f"{source.name}:{number}",
            )
        known[found[0], found[1]] = _float(found[2]), _float(found[3])
    return known


def _to_zscores(
    name: str, column: np.ndarray, queries: Sequence[str], known: Mapping[tuple[str, str], tuple[float, float]]
) -> np.ndarray:
    scores = []
    for query, value in zip(queries, column.tolist(), strict=True):
        mean, deviation = known.get((query, name), (math.nan, 0.0))
        scores.append((value - mean) / deviation if deviation else 0.0 if value == mean else MISSING_ZSCORE)
    return np.array(scores)


def _help(measures: Sequence[str]) -> str:
    from goldrank.data.table import plain
    from goldrank.report.measures import page

    text = [
        "goldrank trec_eval [options] QRELS RUN: measure a run as trec_eval 10 does.",
        "",
        "-q  a line for each query      -n  no summary             -c  judged queries not in the run count as 0",
        "-l N  lowest relevant grade    -M N  cut rankings at N    -J  only judged documents",
        "-N N  documents in collection  -R FORMAT  qrels, prefs, qrels_prefs, qrels_jg     -T trec_results",
        "-Z FILE  z-scores (query measure mean deviation)          -D N.QUERY  this query only",
        "-m NAME[.PARAMETERS]  measures; nicknames: " + ", ".join(NICKNAMES),
        "-h -m NAME  explain measures",
    ]
    pages: dict[str, Declaration] = {}
    for line in lines_of(measures) if measures else ():
        if line.measure is None:
            text += ["", line.name, "    The run's tag." if line.name == "runid" else "    The first grades as signs."]
        else:
            pages[line.measure.name] = line.measure.declaration
    for name, declaration in pages.items():
        text += ["", name, *(f"    {row}".rstrip() for row in plain(page(declaration)).splitlines())]
    return "\n".join(text) + "\n"


def _number_option(*names: str, default: str | None = None) -> Callable[[Any], Any]:
    return click.option(*names, default=default, callback=lambda _, __, text: text if text is None else _whole(text))


@click.command("trec_eval", add_help_option=False)
@click.option("-h", "--help", "help_wanted", is_flag=True)
@click.option("-v", "--version", "version", is_flag=True)
@click.option("-q", "--query_eval_wanted", "by_query", is_flag=True)
@click.option("-m", "--measure", "measures", multiple=True)
@click.option("-c", "--complete_rel_info_wanted", "complete", is_flag=True)
@_number_option("-l", "--level_for_rel", "level", default="1")
@click.option("-n", "--nosummary", "quiet", is_flag=True)
@click.option("-D", "--Debug_level", "debug", default="0")
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True)
@_number_option("-N", "--Number_docs_in_coll", "docs", default="0")
@_number_option("-M", "--Max_retrieved_per_topic", "depth")
@click.option("-R", "--Rel_info_format", "format", default="qrels")
@click.option("-T", "--Results_format", "run_format", default="trec_results")
@click.option("-o", is_flag=True, hidden=True, expose_value=False)
@click.option("-Z", "--Zscore", "zscores")
@click.argument("files", nargs=-1)
def command(
    files: tuple[str, ...],
    help_wanted: bool,
    version: bool,
    quiet: bool,
    debug: str,
    run_format: str,
    **options: Any,
) -> None:
    """Measure a run as trec_eval 10 does: same arguments, same output."""
    from goldrank import __version__

    if version:
        echo(f"goldrank {__version__}, as trec_eval 10.0", err=True)
        return
    if help_wanted:
        echo(_help(options["measures"]).encode())
        return
    if len(files) != 2:
        raise click.UsageError("trec_eval takes two files: QRELS RUN")
    if run_format != "trec_results":
        raise OptionError(f"-T is {run_format!r}; the only format of results is trec_results")
    settings = Arguments(*files, **options, summary=not quiet, only_query=debug.partition(".")[2] or None)
    # Files and programs get trec_eval's bytes; a terminal must not obey what is in an id.
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    told: list[Note] = []
    echo_all(text if is_terminal else ids.encode(text) for text in output(settings, told=told))
    show(note_sentences(told), err=True)
