"""`goldrank trec_eval`: the arguments of trec_eval 10 in, its output out."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError, OptionError, one_of
from goldrank.base.types import Ties
from goldrank.cli.output import echo, echo_all, show
from goldrank.data.table import note_sentences

if TYPE_CHECKING:
    from goldrank.base.notes import Note
    from goldrank.evaluation.inputs import Judgements
    from goldrank.measures import Measure
    from goldrank.measures.declare import Declaration
    from goldrank.measures.trec_names import OutputLine

MISSING_ZSCORE = -1000000.0
FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")


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


def output(settings: Arguments, number: str = "%6.4f", told: list[Note] | None = None) -> Iterator[str]:
    """What trec_eval would print, query by query and then the summary; `number` formats values.

    `told` gets the notes on what was read, of which trec_eval says nothing.
    """
    from goldrank import io
    from goldrank.conventions import Convention
    from goldrank.evaluation import pipeline
    from goldrank.evaluation import run_notes as footer
    from goldrank.io import sources
    from goldrank.io.text import trec
    from goldrank.measures import trec_names
    from goldrank.measures.apply import logarithms
    from goldrank.measures.judged import grade_strings
    from goldrank.measures.spelling import of_line

    one_of(settings.format, FORMATS, "-R")
    lines = trec_names.lines_of(settings.measures or ["official"])
    # trec_eval counts grades from 0 up: a negative one means pooled but unjudged, and is relevant at no level.
    measured = [of_line(line, max(settings.level, 0), settings.docs) for line in lines]
    # trec_eval orders ties the other way round when it looks at preferences.
    ties: Ties = "docid"
    if settings.format in ("prefs", "qrels_prefs"):
        ties = "docid-ascending"
    rules = Convention("trec_eval-10", ties=ties, overlap="allow")
    source = sources.open_source(settings.run)
    judgements: Judgements
    if settings.format == "qrels":
        judgements = io.read_qrels(settings.qrels, format="trec")
    elif settings.format == "qrels_jg":
        judgements = io.read_aspects(settings.qrels)
    else:
        judgements = io.read_preferences(settings.qrels, format=settings.format)
    placed = pipeline.place(judgements, io.read_run(source, format="trec"), rules)
    tables = dict(pipeline.tables_of(placed, [measure for measure in measured if measure is not None]))
    placements = placed.placements
    answered = placements.answered
    if told is not None:
        numbers = footer.counts_of(placements, placed.counts)
        how = rules.with_policies(missing="zero" if settings.complete else "skip")
        told += footer.notes_of(numbers, placed.counts, judgements.notes, placed.run.notes, how, placements, {})
    if settings.complete:
        chosen = np.ones(len(answered), bool)
    else:
        chosen = answered.copy()
    if settings.only_query is not None:
        chosen &= np.array([query == settings.only_query for query in placements.queries], bool)
    if not chosen.any():
        raise InputError(
            "no query has both results and judgements",
            where=settings.run,
            hint="Are these the right two files? -c counts judged queries that are not in the run.",
            code="no-common-queries",
        )
    # A query that is not in the run is measured as if it had returned one document that nobody judged.
    tables["placements"] = replace(placements, retrieved=np.where(answered, placements.retrieved, 1))
    if settings.depth is not None:
        tables = {key: table.cut(max(settings.depth, 0)) for key, table in tables.items()}
    if settings.judged_only:
        tables = {key: table.condensed for key, table in tables.items()}

    queries = list(compress(placements.queries, chosen))
    if settings.zscores is None:
        known = None
    else:
        known = _read_zscores(settings.zscores)
    values: list[np.ndarray | list[str]] = []
    for line, measure in zip(lines, measured, strict=True):
        if measure is None:
            strings = grade_strings(tables["placements"], line.length)
            if line.name == "relstring":
                strings = [text if there else "" for text, there in zip(strings, answered.tolist(), strict=True)]
            values.append(list(compress(strings, chosen)))
            continue
        needed = measure.declaration.over
        wrong = needed not in tables or (needed == "placements" and settings.format != "qrels")
        if wrong and line.name != "num_q":
            raise MeasureError(
                f"trec_eval: '{line.name}' cannot be measured with -R {settings.format}",
                hint="Preferences go with -R prefs or qrels_prefs, *_avgjg with -R qrels_jg, others with -R qrels.",
            )
        column = pipeline.values_of(measure, tables, rules)
        column = logarithms(measure, column)
        if line.name in ("num_ret", "utility", "rbp_resid") or line.name.startswith("unj"):
            column = np.where(answered, column, 0.0)
        values.append(column[chosen] if known is None else _to_zscores(line.name, column[chosen], queries, known))

    if known is None:
        prefix = ""
    else:
        prefix = "Z"
    whole = known is None
    labels = [f"{prefix if line.measure is not None else ''}{line.name:<22}" for line in lines]
    if settings.by_query:
        yield from _by_query(queries, lines, labels, values, number, whole)
    if settings.summary:
        if settings.complete:
            n = len(answered)
        else:
            n = len(queries)
        for line, measure, label, each in zip(lines, measured, labels, values, strict=True):
            if line.name == "runid":
                yield f"{label}\tall\t{ids.decode(trec.last_tag(source))}\n"
            elif isinstance(each, np.ndarray):
                total = _summary(line, measure, each, n, settings, placements)
                if line.entry.count and whole:
                    text = str(int(total))
                else:
                    text = number % total
                yield f"{label}\tall\t{text}\n"


def _by_query(
    queries: Sequence[str],
    lines: Sequence[OutputLine],
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


def _summary(
    line: OutputLine, measure: Measure | None, column: np.ndarray, n: int, settings: Arguments, placements: Any
) -> float:
    if line.name == "num_q":
        return float(n)
    if line.name == "num_rel" and settings.complete:
        # With -c trec_eval counts what is above 0 here, whatever -l and -Z say.
        return float((placements.judged > 0).sum())

    total = float(np.cumsum(column)[-1])
    if line.entry.count:
        return total

    assert measure is not None
    if measure.declaration.average == "geometric":
        return math.exp((total + (n - len(column)) * math.log(0.00001)) / n)
    return total / n


def _read_zscores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and standard deviation by query and measure."""
    from goldrank.io import sources
    from goldrank.io.text.number_text import score_of

    known: dict[tuple[str, str], tuple[float, float]] = {}
    source = sources.open_source(path)
    for number, line in enumerate(source.read(lines=True).split(b"\n"), 1):
        columns = line.split()
        if not columns:
            continue
        where = f"{source.name}:{number}"
        if len(columns) != 4:
            raise InputError(
                f"found {len(columns)} columns, expected 4 (query, measure, mean, standard deviation)", where=where
            )
        mean, deviation = (
            score_of(text, where, what=what)
            for text, what in zip(columns[2:], ("mean", "standard deviation"), strict=True)
        )
        key = ids.decode(columns[0]), ids.decode(columns[1])
        if known.setdefault(key, (mean, deviation)) != (mean, deviation):
            raise InputError(f"query '{key[0]}' has two z-scores of '{key[1]}'", where=where, hint="Leave one of them.")
    if not known:
        raise source.empty()
    return known


def _to_zscores(
    name: str, column: np.ndarray, queries: Sequence[str], known: Mapping[tuple[str, str], tuple[float, float]]
) -> np.ndarray:
    scores = []
    for query, value in zip(queries, column.tolist(), strict=True):
        mean, deviation = known.get((query, name), (math.nan, 0.0))
        if deviation:
            scores.append((value - mean) / deviation)
        else:
            scores.append(0.0 if value == mean else MISSING_ZSCORE)
    return np.array(scores)


def _help(measures: Sequence[str]) -> str:
    from goldrank.data.table import plain
    from goldrank.measures import REGISTRY, trec_names
    from goldrank.report.measures import page

    text = [
        "goldrank trec_eval [options] QRELS RUN: measure a run as trec_eval 10 does.",
        "",
        "-q  a line for each query      -n  no summary             -c  judged queries not in the run count as 0",
        "-l N  lowest relevant grade    -M N  cut rankings at N    -J  only judged documents",
        "-N N  documents in collection  -R FORMAT  qrels, prefs, qrels_prefs, qrels_jg     -T trec_results",
        "-Z FILE  z-scores (query measure mean deviation)          -D N.QUERY  this query only",
        "-m NAME[.PARAMETERS]  measures; nicknames: " + ", ".join(trec_names.NICKNAMES),
        "-h -m NAME  explain measures",
    ]
    pages: dict[str, Declaration] = {}
    for line in trec_names.lines_of(measures):
        if line.measure is None:
            text += ["", line.name, "    The run's tag." if line.name == "runid" else "    The first grades as signs."]
        else:
            pages[line.measure] = REGISTRY[line.measure]
    for name, declaration in pages.items():
        text += ["", name, *(f"    {row}".rstrip() for row in plain(page(declaration)).splitlines())]
    return "\n".join(text) + "\n"


def _number_option(*names: str, default: str | None = None) -> Callable[[Any], Any]:
    return click.option(*names, default=default, callback=_whole)


def _whole(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """The number that an option starts with, as C reads it."""
    from goldrank.measures.trec_names import to_whole

    if text is None:
        return None
    return to_whole(text)


class _Abbreviating(click.Command):
    """A command whose long options may be cut short, as trec_eval's may, as long as only one begins so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = [name for parameter in self.params for name in parameter.opts if name.startswith("--")]
        written = []
        for argument in args:
            name, sign, value = argument.partition("=")
            if name.startswith("--") and name != "--":
                meant = [full for full in known if full.startswith(name)]
            else:
                meant = []
            written.append(meant[0] + sign + value if len(meant) == 1 else argument)
        return super().parse_args(ctx, written)


@click.command("trec_eval", cls=_Abbreviating, add_help_option=False)
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
@click.option("--Output_old_results_format", hidden=True, expose_value=False)
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
    _, point, query = debug.partition(".")
    settings = Arguments(*files, **options, summary=not quiet, only_query=query if point else None)
    # Files and programs get trec_eval's bytes; a terminal must not obey what is in an id.
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    told: list[Note] = []
    echo_all(text if is_terminal else ids.encode(text) for text in output(settings, told=told))
    show(note_sentences(told), err=True)
