"""Every option that several commands have, each declared once: one name, one meaning."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from goldrank.base.errors import OptionError
from goldrank.cli.commands import option
from goldrank.cli.completing import MapWords, MeasureNames
from goldrank.cli.nouns import NounOption, NounType, split_at_commas
from goldrank.conventions import NAMES as CONVENTION_NAMES
from goldrank.conventions import Convention
from goldrank.data.judgement_columns import JUDGED_BY
from goldrank.io.columns import Columns

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.data.queries import Queries

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_DB = "history.db"
MEASURE = "What to measure"
OUTPUT = "Output"
HISTORY = "History"

FILE = click.Path(allow_dash=True)
"""A file to read: paths complete, and patterns and NAME=FILE are accepted."""


def with_options(options: Iterable[Callable[[Function], Function]], function: Function) -> Function:
    """A command with options, in the order of its help page."""
    return reduce(lambda decorated, decorate: decorate(decorated), reversed(list(options)), function)


def explained(meanings: Mapping[str, str]) -> str:
    """Words and what they mean, for a page of help."""
    return "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())


# Measures and numbers.


def _split_measures(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for text in texts for name in split_at_commas(text))


measures_option = option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    callback=_split_measures,
    type=MeasureNames(),
    metavar="A,B",
    heading=MEASURE,
    help="Measures such as nDCG@10,AP; may be repeated.",
)


def one_measure(measures: tuple[str, ...]) -> str | None:
    """The measure of a command that takes one."""
    if len(measures) > 1:
        raise click.UsageError(f"-m takes one measure here, not {len(measures)}")
    if measures:
        return measures[0]
    return None


class WholeNumbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers from 1 with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The numbers."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            numbers = tuple(int(word.replace("_", "")) for word in value.split(",") if word.strip())
        except ValueError:
            numbers = ()
        if not numbers or min(numbers) < 1:
            self.fail(f"{value!r} is not whole numbers from 1, with commas: 500,1000", param, ctx)
        return numbers


def one_number(numbers: tuple[int, ...] | None, flag: str) -> int | None:
    """The number of a command that takes one."""
    if not numbers:
        return None
    if len(numbers) > 1:
        raise click.UsageError(f"{flag} takes one number here, not {len(numbers)}")
    return numbers[0]


def decimals(text: str, flag: str, form: str = "with commas between them") -> list[float]:
    """The numbers of an option that takes several."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{flag} {text!r} are not numbers {form}") from None


k_option = option(
    "-k",
    type=WholeNumbers(),
    metavar="N,N",
    heading=MEASURE,
    help="How many of the first documents or texts count; several where the command compares them.",
)
budget_option = option(
    "--budget",
    type=WholeNumbers(),
    metavar="N,N",
    heading=MEASURE,
    help="How many tokens the context holds; several where the command compares them.",
)
count_option = option(
    "-n",
    "--count",
    type=click.IntRange(0),
    heading=OUTPUT,
    help="How many rows to show, or how many things to make.",
)
signature_option = option(
    "--signature",
    "signed",
    type=click.Choice(["short", "full"]),
    is_flag=False,
    flag_value="short",
    heading=OUTPUT,
    help="Show a line that says where the numbers come from; full: with the run. `goldrank explain` reads it.",
)
by_query_option = option("-q", "--by-query", is_flag=True, heading=OUTPUT, help="Show the value of every query.")


def choice_option(
    flag: str, choices: Iterable[str], default: str | None, help: str, heading: str = "Input"
) -> Callable[[Function], Function]:
    """An option that takes one of a few words."""
    words = click.Choice(list(choices))
    return option(flag, type=words, default=default, show_default=default is not None, help=help, heading=heading)


def file_option(*flags: str, **more: Any) -> Callable[[Function], Function]:
    """An option that takes a file."""
    return option(*flags, type=click.Path(dir_okay=False), metavar="FILE", **more)


# Nouns.

CONVENTION = NounOption("--convention", "goldrank.conventions:Convention", "name")
STATISTICS = NounOption("--statistics", "goldrank.comparison.settings:Statistics")
CATALOGUE = NounOption("--catalogue", "goldrank.data.catalogue:Catalogue", "items")


def _convention(text: str) -> Any:
    """A convention, or the reader of a satellite that the text names."""
    from goldrank.cli.readers import as_reader

    if text in CONVENTION_NAMES:
        return CONVENTION.parse(text)
    return as_reader(text) or CONVENTION.parse(text)


convention_option = option(
    "--convention",
    type=NounType(CONVENTION, _convention),
    default=Convention,
    show_default="trec_eval-10",
    metavar="NAME,KEY=VALUE",
    heading=MEASURE,
    help="Whose rules to follow, and changed rules: ranx,missing=skip.",
)
statistics_option = option(
    "--statistics",
    type=NounType(STATISTICS),
    metavar="KEY=VALUE,...",
    heading=MEASURE,
    help="How to test and decide: alpha=0.01,test=t,correction=holm,samples=1000,seed=1 and others.",
)
catalogue_option = option(
    "--catalogue",
    type=NounType(CATALOGUE, CATALOGUE.arguments),
    metavar="ITEMS,KEY=VALUE",
    heading=MEASURE,
    help="What is known of items and users: items.csv,train=ratings.csv. What users had before is removed from runs.",
)


def statistics_of(statistics: Statistics | None) -> Statistics:
    """The statistics of --statistics, else the usual ones."""
    from goldrank.comparison.settings import Statistics

    return statistics or Statistics()


# What is read.


@dataclass(frozen=True)
class ReadingOptions:
    """How judgements and runs are read and scored, from options (`reading_options`)."""

    columns: Columns = field(default_factory=Columns)
    qrels_format: str | None = None
    run_format: str | None = None
    real_grades: bool = False
    relevant_from: float | None = None
    judged_by: Literal["human", "model"] | None = None
    model_qrels: str | None = None
    by_tag: bool = False
    doc_of: Mapping[str, str] = field(default_factory=dict)
    """By side, how the document of a chunk follows from its id (`Run.rolled_up`)."""
    shard: tuple[int, int] | None = None
    depth: int | None = None
    catalogue: Mapping[str, Any] | None = None
    """The arguments of a `Catalogue`, as text."""
    convention: Convention = field(default_factory=Convention)
    reader: str | None = None
    """The satellite's reader that --convention names instead, for result files of a benchmark."""
    flags: tuple[str, ...] = ()
    """The flags of these that were used."""

    def refuse(self, instead: str) -> None:
        """Raise an error if any of these options was used, where there is nothing to read or to score by them."""
        if self.flags:
            raise click.UsageError(f"{self.flags[0]} is for judgements and runs; {instead}")


def _formats(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """The format by side, from FORMAT, qrels.FORMAT and run.FORMAT; one without a side is for all that is read."""
    by_side: dict[str, str] = {}
    for text in texts:
        side, dot, name = text.partition(".")
        if not dot or side not in ("qrels", "run"):
            side, name = "", text
        if side in by_side:
            raise click.UsageError(f"--input {text} is the second format for {side or 'all that is read'}")
        by_side[side] = name
    return by_side


def _parents(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """The rule by side: RULE is for runs, qrels.RULE for judgements."""
    by_side: dict[str, str] = {}
    for text in texts:
        if text.startswith("qrels."):
            by_side["qrels"] = text.removeprefix("qrels.")
        else:
            by_side["run"] = text
    return by_side


doc_of_option = option(
    "--doc-of",
    multiple=True,
    metavar="RULE",
    callback=_parents,
    help="Ids are of chunks, and documents count: a separator ('#' makes doc of doc#3), a regular expression with one "
    "group, or a file of two columns; qrels.RULE for judgements.",
)
input_option = option(
    "--input",
    "formats",
    multiple=True,
    metavar="FORMAT",
    callback=_formats,
    help="The format of what is read, if its content does not show it; qrels.FORMAT or run.FORMAT for one side.",
)
map_option = option(
    "--map",
    "fields",
    multiple=True,
    type=MapWords(),
    metavar="ROLE=COLUMN,...",
    help="Which column or field is what: query=qid,doc=docno. run.query=... and qrels.query=... name one side; "
    "query=q{n} numbers search responses; may be repeated.",
)


def parse_shard(context: click.Context, option: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """Which of how many, from I/N."""
    if text is None:
        return None
    matched = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    number, count = 0, 0
    if matched:
        number, count = int(matched[1]), int(matched[2])
    if not 1 <= number <= count:
        raise OptionError(f"shard is {text!r:.80}", hint="For example 2/8, the second of eight.")
    return number, count


model_qrels_option = file_option("--model-qrels", help="A model's judgements, beside those of people in QRELS.")

OF_QRELS = [
    option("--relevant-from", type=float, metavar="X",
           help="Grades are ratings: those from X on are relevant (1), the others not (0)."),
    option("--real-grades", is_flag=True, help="Grades may have decimals, such as gains from clicks."),
    option("--judged-by", type=click.Choice(list(JUDGED_BY)),
           help=f"Whose judgements count, where people's and a model's are in one: {explained(JUDGED_BY)}."),
    model_qrels_option,
]  # fmt: skip
"""Options about judgements."""

OF_SCORED_RUNS = [
    option("--by-tag", is_flag=True,
           help="RUN holds several runs: each tag (column 6 of TREC) is a separate run."),
    option("--shard", metavar="I/N", callback=parse_shard,
           help="Score part I of N parts of the queries; eval puts saved parts together."),
    option("--depth", type=click.IntRange(1), metavar="N", heading=MEASURE,
           help="Look at no more than this many documents of a query."),
]  # fmt: skip
"""Options about runs that are scored."""

_FIELDS = {
    "qrels_format": "--input",
    "run_format": "--input",
    "columns": "--map",
    "real_grades": "--real-grades",
    "relevant_from": "--relevant-from",
    "judged_by": "--judged-by",
    "model_qrels": "--model-qrels",
    "by_tag": "--by-tag",
    "doc_of": "--doc-of",
    "shard": "--shard",
    "depth": "--depth",
    "catalogue": "--catalogue",
}


def reading_options(*, qrels: bool = True, scored: bool = False, convention: bool = True) -> Callable[[Any], Any]:
    """Options for judgements and runs. The command gets them as `reading`.

    `qrels`: there are judgements; `scored`: the command scores runs, which may be cut and sharded; `convention`: it
    follows the rules of one.
    """
    options = [input_option, map_option, doc_of_option]
    if qrels:
        options += OF_QRELS
    if scored:
        options += OF_SCORED_RUNS
    options.append(catalogue_option)
    if convention:
        options.append(convention_option)

    def decorate(function: Function) -> Function:
        @wraps(function)
        def command(*args: Any, fields: tuple[str, ...], formats: dict[str, str], **more: Any) -> Any:
            from goldrank.cli.inputs import key_values

            values: dict[str, Any] = {
                "columns": Columns(key_values(fields, "--map", "ROLE=COLUMN")),
                "qrels_format": formats.get("qrels", formats.get("")),
                "run_format": formats.get("run", formats.get("")),
            }
            chosen = more.get("convention")
            for name in (*_FIELDS, "convention"):
                if name in more:
                    values[name] = more.pop(name)

            reader = getattr(chosen, "reader", None)
            if reader is not None:
                values |= {"reader": reader, "convention": Convention()}

            flags = [flag for name, flag in _FIELDS.items() if values.get(name)]
            if chosen is not None and chosen != Convention():
                flags.append("--convention")
            reading = ReadingOptions(**values, flags=tuple(dict.fromkeys(flags)))
            return function(*args, reading=reading, **more)

        return with_options(options, command)  # type: ignore[return-value]

    return decorate


# Queries and documents.

queries_option = option(
    "--queries",
    type=FILE,
    metavar="FILE",
    help="A file about the queries, by id: text, and columns such as cluster, weight, stratum, latency or any others "
    "(JSON Lines, TSV, CSV, Parquet or a BEIR folder).",
)
documents_option = option(
    "--documents",
    type=FILE,
    metavar="FILE",
    help="Texts of documents, by id: JSON Lines, TSV, Parquet or a BEIR folder.",
)
slice_option = option(
    "--slice",
    "slices",
    multiple=True,
    metavar="FIELD",
    heading=MEASURE,
    help="Also by slices of queries: a field of --queries or of the items, or relevant, judged, length or history; may "
    "be repeated.",
)


def known_queries(path: str | None, slices: tuple[str, ...] = ()) -> Queries | None:
    """The queries of --queries; a --slice by one of its fields needs it."""
    from goldrank.comparison.slices import AUTOMATIC
    from goldrank.io.by_id.query_files import read_queries

    if path is not None:
        return read_queries(path)
    if any(name not in AUTOMATIC for name in slices):
        raise click.UsageError("--slice by a field needs --queries, the file that has it")
    return None


# Systems, histories, logs.

baseline_option = option(
    "--baseline",
    metavar="NAME|FILE",
    heading=MEASURE,
    help="What the others are compared with: a system, a setting or a record, or a baseline's file or name.",
)
primary_option = option(
    "--primary", metavar="MEASURE", heading=MEASURE, help="The measure that decides; the others are secondary."
)
same_queries_option = option(
    "--same-queries",
    is_flag=True,
    heading=MEASURE,
    help="An error if not all systems have the same queries; else those that all have are compared.",
)
dry_run_option = option("--dry-run", is_flag=True, heading=OUTPUT, help="Say what would be done, and change nothing.")
label_option = option("--label", heading=HISTORY, help="The line of records, such as main.")
log_option = file_option("--log", heading=HISTORY, help="The log that judgements are kept in.")


def _usual_db() -> str:
    return os.environ.get("GOLDRANK_DB") or DEFAULT_DB


def db_option(usual: bool = True) -> Callable[[Function], Function]:
    """The history; `usual` if the command uses the usual one where none is named."""
    more: dict[str, Any] = {}
    if usual:
        more = {"default": _usual_db, "show_default": f"{DEFAULT_DB}, or the environment's GOLDRANK_DB"}
    return option("--db", type=click.Path(), metavar="FILE", heading=HISTORY, help="The history's file.", **more)
