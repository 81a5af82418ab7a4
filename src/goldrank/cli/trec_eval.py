"""`goldrank trec_eval`: the arguments of trec_eval 10 in, its output out."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    from goldrank.conventions import Convention
    from goldrank.data.placements import Placements
    from goldrank.evaluation.inputs import Judgements
    from goldrank.evaluation.pipeline import Placed
    from goldrank.measures import Measure
    from goldrank.measures.declare import Declaration
    from goldrank.measures.trec_names import OutputLine

MISSING_ZSCORE = -1000000.0
FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")


@dataclass(frozen=True)
class Arguments:
    """The arguments, parsed."""

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


def output(settings: Arguments, number: str = "%6.4f", notes: list[Note] | None = None) -> Iterator[str]:
    """What trec_eval would print, query by query and then the summary; `number` formats values.

    `notes` gets the notes on what was read, which trec_eval does not print.
    """
    from goldrank import io
    from goldrank.evaluation import pipeline
    from goldrank.io import sources
    from goldrank.io.text import trec
    from goldrank.measures import trec_names
    from goldrank.measures.spelling import of_line

    one_of(settings.format, FORMATS, "-R")
    lines = trec_names.lines_of(settings.measures or ["official"])
    # trec_eval counts grades from 0 up: a negative one means pooled but unjudged, and is relevant at no level.
    measures = [of_line(line, max(settings.level, 0), settings.docs) for line in lines]
    rules = _rules(settings)
    source = sources.open_source(settings.run)
    judgements = _judgements(settings)
    placed = pipeline.place(judgements, io.read_run(source, format="trec"), rules)
    tables = dict(pipeline.tables_of(placed, [measure for measure in measures if measure is not None]))
    placements = placed.placements
    if notes is not None:
        notes += _notes(settings, judgements, placed, rules)

    chosen = _chosen_queries(settings, placements)
    tables = _with_settings(settings, tables, placements)
    queries = list(compress(placements.queries, chosen))
    zscores = None
    if settings.zscores is not None:
        zscores = _read_zscores(settings.zscores)

    values: list[np.ndarray | list[str]] = []
    for line, measure in zip(lines, measures, strict=True):
        if measure is None:
            values.append(list(compress(_strings(line, tables, placements.answered), chosen)))
            continue
        _check_format(line, measure, tables, settings)
        column = _column(line, measure, tables, rules, placements.answered)[chosen]
        if zscores is not None:
            column = _to_zscores(line.name, column, queries, zscores)
        values.append(column)

    shows_counts = zscores is None
    labels = [_label(line, is_zscore=zscores is not None) for line in lines]
    if settings.by_query:
        yield from _by_query(queries, lines, labels, values, number, shows_counts)
    if not settings.summary:
        return

    n = len(queries)
    if settings.complete:
        n = len(placements.answered)
    for line, measure, label, column_values in zip(lines, measures, labels, values, strict=True):
        if line.name == "runid":
            yield f"{label}\tall\t{ids.decode(trec.last_tag(source))}\n"
        elif isinstance(column_values, np.ndarray):
            total = _summary(line, measure, column_values, n, settings, placements)
            text = number % total
            if line.entry.count and shows_counts:
                text = str(int(total))
            yield f"{label}\tall\t{text}\n"


def _rules(settings: Arguments) -> Convention:
    from goldrank.conventions import Convention

    # trec_eval orders ties the other way round when it looks at preferences.
    ties: Ties = "docid"
    if settings.format in ("prefs", "qrels_prefs"):
        ties = "docid-ascending"
    return Convention("trec_eval-10", ties=ties, overlap="allow")


def _judgements(settings: Arguments) -> Judgements:
    """The judgements, in the format of -R."""
    from goldrank import io

    if settings.format == "qrels":
        return io.read_qrels(settings.qrels, format="trec")
    if settings.format == "qrels_jg":
        return io.read_aspects(settings.qrels)
    return io.read_preferences(settings.qrels, format=settings.format)


def _notes(settings: Arguments, judgements: Judgements, placed: Placed, rules: Convention) -> Iterable[Note]:
    """The notes on what was read."""
    from goldrank.evaluation import run_notes

    rules = rules.with_policies(missing="skip")
    if settings.complete:
        rules = rules.with_policies(missing="zero")
    numbers = run_notes.counts_of(placed.placements, placed.counts)
    scored = run_notes.ScoredRun(placed.counts, judgements.notes, placed.run.notes, rules, placed.placements)
    return run_notes.notes_of(numbers, scored)


def _chosen_queries(settings: Arguments, placements: Placements) -> np.ndarray:
    """Which queries are measured."""
    chosen = placements.answered.copy()
    if settings.complete:
        chosen = np.ones(len(chosen), bool)
    if settings.only_query is not None:
        chosen &= np.array([query == settings.only_query for query in placements.queries], bool)

    if not chosen.any():
        raise InputError(
            "no query has both results and judgements",
            where=settings.run,
            hint="Are these the right two files? -c counts judged queries that are not in the run.",
            code="no-common-queries",
        )
    return chosen


def _with_settings(settings: Arguments, tables: dict[str, Any], placements: Placements) -> dict[str, Any]:
    """The tables that measures read, cut and condensed by -M and -J."""
    # A query that is not in the run is measured as if it had returned one unjudged document.
    retrieved = np.where(placements.answered, placements.retrieved, 1)
    tables["placements"] = replace(placements, retrieved=retrieved)
    if settings.depth is not None:
        tables = {key: table.cut(max(settings.depth, 0)) for key, table in tables.items()}
    if settings.judged_only:
        tables = {key: table.condensed for key, table in tables.items()}
    return tables


def _strings(line: OutputLine, tables: Mapping[str, Any], answered: np.ndarray) -> list[str]:
    """The text of each query for a line that is not a number."""
    from goldrank.measures.judged import grade_strings

    strings = grade_strings(tables["placements"], line.length)
    if line.name == "relstring":
        strings = [text if is_answered else "" for text, is_answered in zip(strings, answered.tolist(), strict=True)]
    return strings


def _check_format(line: OutputLine, measure: Measure, tables: Mapping[str, Any], settings: Arguments) -> None:
    """Refuse a measure that the format of the judgements does not allow."""
    needed = measure.declaration.over
    is_wrong = needed not in tables
    if needed == "placements" and settings.format != "qrels":
        is_wrong = True
    if is_wrong and line.name != "num_q":
        raise MeasureError(
            f"trec_eval: '{line.name}' cannot be measured with -R {settings.format}",
            hint="Preferences go with -R prefs or qrels_prefs, *_avgjg with -R qrels_jg, others with -R qrels.",
        )


def _column(
    line: OutputLine, measure: Measure, tables: Mapping[str, Any], rules: Convention, answered: np.ndarray
) -> np.ndarray:
    """The value of each query."""
    from goldrank.evaluation import pipeline
    from goldrank.measures.apply import logarithms

    column = logarithms(measure, pipeline.values_of(measure, tables, rules))
    if line.name in ("num_ret", "utility", "rbp_resid") or line.name.startswith("unj"):
        return np.where(answered, column, 0.0)
    return column


def _label(line: OutputLine, is_zscore: bool) -> str:
    label = f"{line.name:<22}"
    if is_zscore and line.measure is not None:
        return f"Z{label}"
    return label


def _by_query(
    queries: Sequence[str],
    lines: Sequence[OutputLine],
    labels: Sequence[str],
    values: Sequence[np.ndarray | list[str]],
    number: str,
    shows_counts: bool,
) -> Iterator[str]:
    texts_of_lines: list[tuple[str, list[str]]] = []
    for line, label, column in zip(lines, labels, values, strict=True):
        if not line.entry.single:
            continue
        if not isinstance(column, np.ndarray):
            texts_of_lines.append((label, [f"'{text}'" for text in column]))
        elif line.entry.count and shows_counts:
            texts_of_lines.append((label, [str(int(value)) for value in column.tolist()]))
        else:
            texts_of_lines.append((label, [number % value for value in column.tolist()]))

    for i, query in enumerate(queries):
        yield "".join([f"{label}\t{query}\t{texts[i]}\n" for label, texts in texts_of_lines])


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

    zscores: dict[tuple[str, str], tuple[float, float]] = {}
    source = sources.open_source(path)
    for number, line in enumerate(source.read(lines=True).split(b"\n"), 1):
        columns = line.split()
        if not columns:
            continue
        position = f"{source.name}:{number}"
        if len(columns) != 4:
            raise InputError(
                f"found {len(columns)} columns, expected 4 (query, measure, mean, standard deviation)", where=position
            )
        mean, deviation = (
            score_of(text, position, noun=label)
            for text, label in zip(columns[2:], ("mean", "standard deviation"), strict=True)
        )
        key = ids.decode(columns[0]), ids.decode(columns[1])
        if zscores.setdefault(key, (mean, deviation)) != (mean, deviation):
            raise InputError(
                f"query '{key[0]}' has two z-scores of '{key[1]}'", where=position, hint="Leave one of them."
            )
    if not zscores:
        raise source.empty()
    return zscores


def _to_zscores(
    name: str, column: np.ndarray, queries: Sequence[str], zscores: Mapping[tuple[str, str], tuple[float, float]]
) -> np.ndarray:
    scores = []
    for query, value in zip(queries, column.tolist(), strict=True):
        mean, deviation = zscores.get((query, name), (math.nan, 0.0))
        if deviation:
            scores.append((value - mean) / deviation)
        elif value == mean:
            scores.append(0.0)
        else:
            scores.append(MISSING_ZSCORE)
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
        if line.name == "runid":
            text += ["", line.name, "    The run's tag."]
        elif line.measure is None:
            text += ["", line.name, "    The first grades as signs."]
        else:
            pages[line.measure] = REGISTRY[line.measure]
    for name, declaration in pages.items():
        text += ["", name, *(f"    {row}".rstrip() for row in plain(page(declaration)).splitlines())]
    return "\n".join(text) + "\n"


def _number_option(*names: str, default: str | None = None) -> Callable[[Any], Any]:
    return click.option(*names, default=default, callback=_leading_number)


def _leading_number(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """The number that an option starts with, as C reads it."""
    from goldrank.measures.trec_names import to_whole

    if text is None:
        return None
    return to_whole(text)


class _Abbreviating(click.Command):
    """A command whose long options may be cut short, as trec_eval's may, as long as only one begins so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        long_options = [name for parameter in self.params for name in parameter.opts if name.startswith("--")]
        full_arguments = []
        for argument in args:
            name, sign, value = argument.partition("=")
            matching = []
            if name.startswith("--") and name != "--":
                matching = [full for full in long_options if full.startswith(name)]
            if len(matching) == 1:
                argument = f"{matching[0]}{sign}{value}"
            full_arguments.append(argument)
        return super().parse_args(ctx, full_arguments)


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
    only_query = None
    if point:
        only_query = query
    settings = Arguments(*files, **options, summary=not quiet, only_query=only_query)
    # Files and programs get trec_eval's bytes; a terminal must not obey what is in an id.
    notes: list[Note] = []
    texts = output(settings, notes=notes)
    if sys.stdout is not None and sys.stdout.isatty():
        echo_all(texts)
    else:
        echo_all(map(ids.encode, texts))
    show(note_sentences(notes), err=True)
