"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from goldrank.conventions import DEFAULT, NAMES, POLICIES
from goldrank.data.judgement_columns import JUDGED_BY
from goldrank.errors import OptionError
from goldrank.io.columns import Columns

if TYPE_CHECKING:
    from goldrank.comparison.build import CompareRequest
    from goldrank.comparison.settings import Statistics
    from goldrank.data.catalogue import Catalogue, UserHistory
    from goldrank.data.queries import Queries

Function = TypeVar("Function", bound=Callable[..., Any])

FILES = ("html", "markdown", "latex", "csv", "json")
"""Forms of a comparison that have an option for a file."""
DEFAULT_DB = "history.db"


def _split_measures(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Measures with commas between them; commas inside brackets and quotes belong to a measure."""
    return tuple(name for text in given for name in split_at_commas(text))


def split_at_commas(text: str) -> list[str]:
    """The parts between commas that stand outside of brackets and quotes.

    >>> split_at_commas('nDCG@10, P(rel=2, judged_only=True)@5')
    ['nDCG@10', 'P(rel=2, judged_only=True)@5']
    """
    parts, depth, quote, begin = [], 0, "", 0
    for i, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()] or [text]


def decimals(text: str, option: str, form: str = "with commas between them") -> list[float]:
    """The numbers of an option that takes several."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{option} {text!r} are not numbers {form}") from None


def alpha_of(level: float) -> float:
    """How often an interval of this level leaves the truth out; rounded, since 1 - 0.95 is not quite 0.05."""
    if not 0 < level < 1:
        raise click.UsageError(f"--level is {level}; it must be between 0 and 1, and 0.95 is usual")
    return round(1 - level, 12)


measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    callback=_split_measures,
    help="A measure such as nDCG@10, or several: nDCG@10,AP; may be repeated.",
)
format_option = click.option(
    "--format", "run_format", help="The runs' format, if it cannot be detected from their content."
)
fields_option = click.option(
    "--map",
    "fields",
    multiple=True,
    metavar="NAME=FIELD",
    help="Where a thing is, such as retrieved=outputs.docs or label=human; may be repeated.",
)


@dataclass(frozen=True)
class ReadingOptions:
    """How files of runs and qrels are to be read, as `reading_options` says."""

    columns: Columns = field(default_factory=Columns)
    real_grades: bool = False
    relevant_from: float | None = None
    train_file: str | None = None
    run_format: str | None = None

    @cached_property
    def train(self) -> UserHistory | None:
        """What users had before."""
        if self.train_file is None:
            return None
        from goldrank.io.user_history import as_history

        return as_history(self.train_file, self.columns)

    @property
    def catalogue(self) -> Catalogue | None:
        """What is known of items and users."""
        if self.train is None:
            return None
        from goldrank.data.catalogue import Catalogue

        return Catalogue(train=self.train)

    @property
    def of_judgements(self) -> dict[str, Any]:
        """What reading judgements takes."""
        return {"columns": self.columns, "real_grades": self.real_grades, "relevant_from": self.relevant_from}

    @property
    def given(self) -> str | None:
        """An option that was given, for the error where it has no meaning."""
        set_ = {"map": self.columns, "real-grades": self.real_grades, "relevant-from": self.relevant_from is not None,
                "train": self.train_file}  # fmt: skip
        return next((f"--{name}" for name, value in set_.items() if value), None)


def reading_options(function: Function) -> Function:
    """Options for files: which column is what, what grades are, what users had. The command gets them as `how`."""

    @wraps(function)
    def command(
        *args: Any,
        fields: tuple[str, ...],
        real_grades: bool,
        relevant_from: float | None,
        train: str | None,
        run_format: str | None = None,
        **more: Any,
    ) -> Any:
        from goldrank.cli.inputs import key_values

        columns = Columns(key_values(fields, "--map", "ROLE=COLUMN"))
        return function(*args, how=ReadingOptions(columns, real_grades, relevant_from, train, run_format), **more)

    options = [
        click.option("--map", "fields", multiple=True, metavar="ROLE=COLUMN",
                     help="Which column or field is what, such as query=qid,doc=docno; run.query=... and "
                     "qrels.query=... name one side; query=q{n} numbers search responses; may be repeated."),
        click.option("--real-grades", is_flag=True, help="Grades may have decimals, such as gains from clicks."),
        click.option("--relevant-from", type=float, metavar="X",
                     help="Grades are ratings: those from X on are relevant (1), the others not (0)."),
        click.option("--train", metavar="FILE", help="What users had before, by user and item: it is removed from the "
                     "runs before anything is cut, and a note says how much that was."),
    ]  # fmt: skip
    return with_options(options, command)  # type: ignore[return-value]


def judges_options(function: Function) -> Function:
    """Options for whose judgements count."""
    options = [
        click.option("--judged-by", type=click.Choice(list(JUDGED_BY)),
                     help=f"Whose judgements count, where people's and a model's are in one: {explained(JUDGED_BY)}. "
                     "`goldrank corrected` uses both."),
        file_option("--model-qrels", help="A model's judgements, beside those of people in QRELS."),
    ]  # fmt: skip
    return with_options(options, function)


def parse_shard(context: click.Context, option: click.Parameter, given: str | None) -> tuple[int, int] | None:
    """Which of how many, from I/N."""
    if given is None:
        return None
    matched = re.fullmatch(r"(\d{1,9})/(\d{1,9})", given)
    number, of = (int(matched[1]), int(matched[2])) if matched else (0, 0)
    if not 1 <= number <= of:
        raise OptionError(f"shard is {given!r:.80}", hint="For example 2/8, the second of eight.")
    return number, of


file_option = partial(click.option, type=click.Path(dir_okay=False))
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="The same seed gives the same numbers."
)
db_option = click.option(
    "--db",
    type=click.Path(),
    default=lambda: os.environ.get("GOLDRANK_DB") or DEFAULT_DB,
    show_default=f"{DEFAULT_DB}, or the environment's GOLDRANK_DB",
    help="The history's file.",
)


slice_option = click.option(
    "--slice",
    "slices",
    multiple=True,
    metavar="FIELD",
    help="Slice by a field of --metadata, or by relevant, judged or length; may be repeated.",
)


def slice_options(function: Function) -> Function:
    """Options for slices of queries, where there is no comparison."""
    about = "JSONL with an object per query: its id and the fields named by --slice."
    return with_options([file_option("--metadata", help=about), slice_option], function)


def slice_queries(metadata: str | None, slices: tuple[str, ...]) -> Queries | None:
    """What is known of the queries that --slice names fields of."""
    from goldrank.comparison.slices import AUTOMATIC
    from goldrank.io.queries import read_queries

    if metadata is not None:
        return read_queries(metadata)
    if any(name not in AUTOMATIC for name in slices):
        raise click.UsageError("--slice by a field needs --metadata")
    return None


def choice_option(flags: str, choices: Iterable[str], default: str, help: str) -> Callable[[Function], Function]:
    """An option that takes one of a few words; `flags` have blanks between them."""
    words = click.Choice(list(choices))
    return click.option(*flags.split(), type=words, default=default, show_default=True, help=help)


convention_option = choice_option("--convention", NAMES, DEFAULT, "Whose rules to follow.")


def policy_options(function: Function) -> Function:
    """Options for the convention and for each policy."""
    options = [convention_option]
    for policy, meanings in POLICIES.items():
        flag, words = f"--{policy.replace('_', '-')}", click.Choice(list(meanings))
        options.append(click.option(flag, policy, type=words, help=explained(meanings)))
    return with_options(options, with_chosen_policies(function))


def with_chosen_policies(function: Function) -> Function:
    """A command that is given the policies alone that somebody chose."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        chosen = {name: value for name, value in options.items() if name not in POLICIES or value is not None}
        return function(*arguments, **chosen)

    return cast(Function, call)


def run_options(function: Function) -> Function:
    """Options for reading and scoring runs: the end of most pages of help. The command gets `how`, and policies."""
    return format_option(reading_options(policy_options(function)))


def explained(meanings: Mapping[str, str]) -> str:
    """Words and what they mean, for a page of help."""
    return "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())


def with_options(options: Iterable[Callable[[Function], Function]], function: Function) -> Function:
    """A command with options, in the order of its help page."""
    return reduce(lambda made, option: option(made), reversed(list(options)), function)


HOLES = {
    "look": "a verdict that unjudged documents could change is withheld until they are judged",
    "ignore": "unjudged documents count as not relevant",
}
"""What is made of unjudged documents."""
UNJUDGED: dict[str, Any] = {"look": "check", "ignore": "ignore"}
"""The same as a field of `Statistics`."""


def statistics_options(function: Function) -> Function:
    """Options for tests, corrections and intervals."""
    from goldrank.comparison.correction import CORRECTIONS
    from goldrank.comparison.paired import TESTS
    from goldrank.comparison.settings import INTERVALS

    options = [
        click.option("--baseline", metavar="NAME", help="Compare every other system with this one only."),
        choice_option("--test", TESTS, "randomization", "; ".join(TESTS.values())),
        click.option("--primary", metavar="MEASURE", help="The measure that decides; the others are secondary."),
        click.option("--correction", type=click.Choice(list(CORRECTIONS)),
                     help=f"Default max-t; holm for other tests. {'; '.join(CORRECTIONS.values())}"),
        choice_option("--interval", INTERVALS, "standard", explained(INTERVALS)),
        choice_option("--holes", HOLES, "look", f"Unjudged documents: {explained(HOLES)}"),
        click.option("--margin", type=float, help="Call systems equivalent if they surely differ by less than this."),
        file_option("--queries", help="The queries' texts: JSONL with an object per query, its id and 'text'."),
        file_option("--documents", help="Texts of documents, for --html: JSONL with ids, and 'title' or 'text'."),
        slice_option,
    ]  # fmt: skip
    return with_options(options, leaderboard_options(function))


def leaderboard_options(function: Function) -> Function:
    """Options for samples, and for how queries belong together: what every comparison of systems needs."""
    options = [
        click.option("--alpha", type=float, default=0.05, show_default=True, help="1 - the confidence of intervals."),
        click.option("--samples", type=int, default=10_000, show_default=True, help="Flips of signs."),
        seed_option,
        choice_option("--align", ["common", "error"], "common", "What to do about queries that not all systems have."),
        file_option("--metadata", help="JSONL with an object per query: its id and the fields named by other options."),
        click.option("--clusters", metavar="FIELD or FILE",
                     help="Queries that belong together: a field of --metadata, or JSONL with a field 'cluster'."),
        click.option("--weights", metavar="FIELD or FILE",
                     help="What each query counts: a field of --metadata, or JSONL with a field 'weight'."),
    ]  # fmt: skip
    return with_options(options, function)


def file_options(function: Function) -> Function:
    """Options for the files of a comparison."""
    folder = click.Path(file_okay=False)
    options = [
        click.option("--save", type=folder, help="Save each system's scores into this folder."),
        click.option("--svg", type=folder, help="Write each chart into this folder."),
        *(file_option(f"--{form}", f"{form}_file", help=f"Write the comparison as {form}.") for form in FILES),
    ]
    return with_options(options, function)


def comparison_files(svg: str | None, save: str | None, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `file_options` say, for `show_comparison`, and the other options."""
    files = {form: options.pop(f"{form}_file") for form in FILES}
    return {"files": files, "svg": svg, "save": save}, options


class AskedComparison(NamedTuple):
    """What the options of a comparison ask for, and how runs are scored for it."""

    request: CompareRequest
    same_queries: bool
    documents: str | None
    policies: dict[str, Any]
    """The convention and its policies."""


def asked_comparison(
    measures: tuple[str, ...] = (), baseline: str | None = None, primary: str | None = None, **options: Any
) -> AskedComparison:
    """The options of a command by `statistics_options` or `leaderboard_options`."""
    from goldrank.comparison.build import CompareRequest

    slices = options.pop("slices", ())
    queries = _queries_of(
        options.pop("metadata"), options.pop("queries", None), options.pop("clusters"), options.pop("weights")
    )
    if queries is None:
        slice_queries(None, slices)
    documents = options.pop("documents", None)
    same_queries = options.pop("align") == "error"
    statistics = _statistics_of(options)
    request = CompareRequest(baseline, primary, queries, slices, statistics, measures or None)
    return AskedComparison(request, same_queries, documents, options)


def _statistics_of(options: dict[str, Any]) -> Statistics:
    """The statistics that options ask for; these are taken out of them."""
    from goldrank.comparison.settings import Statistics

    names = ("test", "correction", "interval", "alpha", "margin", "samples", "seed")
    fields = {name: options.pop(name) for name in names if name in options}
    return Statistics(**fields, unjudged=UNJUDGED[options.pop("holes", "look")])


def _queries_of(metadata: str | None, texts: str | None, clusters: str | None, weights: str | None) -> Queries | None:
    """What is known of queries, from --metadata and files of their own for texts, clusters and weights."""
    from goldrank.data.queries import Queries
    from goldrank.io.queries import read_queries

    if metadata is None and texts is None and clusters is None and weights is None:
        return None
    known = Queries({}) if metadata is None else read_queries(metadata)
    if texts is not None:
        known = known.with_column("text", read_queries(texts).column("text"))
    for role, given in {"cluster": clusters, "weight": weights}.items():
        if given is None:
            continue
        if os.path.exists(given):
            known = known.with_column(role, read_queries(given).column(role))
        elif metadata is None:
            raise click.UsageError(f"{given!r} is no file; a field of that name needs --metadata")
        else:
            known = known.with_column(role, known.column(given))
    return known
