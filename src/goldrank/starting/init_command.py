"""`goldrank init`: four questions, and the files of a gate."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import FILE, measures_option, one_measure, queries_option
from goldrank.cli.output import Output, notes_options
from goldrank.retrieval.run_command import allow_commands_option, allow_env_option, allow_private_option

if TYPE_CHECKING:
    from goldrank.starting.project import Project

USUAL_QUERIES = ("queries.tsv", "queries.jsonl", "queries.csv")
USUAL_QRELS = ("qrels.txt", "qrels.tsv", "qrels.csv", "judgements.qrels")
FOLDER = "."


@declared(usual="--queries --judgement-file --source -m --allow-commands")
@queries_option
@option("--judgement-file", type=FILE, metavar="FILE", help="The judgements; '' if there are none yet.")
@option(
    "--source",
    metavar="TEXT",
    help="What returns results: a kind and an address ('elasticsearch http://localhost:9200/products/_search'), "
    "'python MODULE:FUNCTION', 'command PROGRAM', an engine file, or a run.",
)
@measures_option
@allow_commands_option
@allow_private_option
@allow_env_option
@notes_options
def command(
    queries: str | None,
    judgement_file: str | None,
    source: str | None,
    measures: tuple[str, ...],
    allow_commands: bool,
    private_hosts: tuple[str, ...],
    variables: tuple[str, ...],
    output: Output,
) -> None:
    """Begin a gate: write rules.toml, an engine file, a workflow for CI and a first baseline into this folder.

    It asks four questions; options answer them beforehand. A file that exists is never changed, so that the command
    can be called again when there are judgements, or when the engine answers.
    """
    from goldrank.data.table import Head, Part, Sentence, Table
    from goldrank.starting.project import Project, usual_file

    questions = (
        _Question("--queries", "File of queries", usual_file(FOLDER, USUAL_QUERIES)),
        _Question(
            "--judgement-file", "File of judgements (empty: none)", usual_file(FOLDER, USUAL_QRELS), can_be_empty=True
        ),
        _Question("--source", "Engine: kind and address, an engine file, or a run", ""),
        _Question("--measure", "Measure that must not drop", "nDCG@10"),
    )
    from_options = (queries, judgement_file, source, one_measure(measures))
    answers = [_answer(text, question) for text, question in zip(from_options, questions, strict=True)]
    project = Project(FOLDER, *answers)
    written = project.write(allow_commands=allow_commands, allow_private=private_hosts, allow_env=variables)
    outcomes = list(written)
    rows = [[outcome.path, outcome.happened, outcome.why] for outcome in outcomes]
    parts: list[Part] = [Table(Head.texts("file", "", "why"), rows)]
    parts += map(Sentence, _following(project, outcomes[-1].happened))
    output.print_parts(parts)


class _Question(NamedTuple):
    option: str
    text: str
    usual: str
    can_be_empty: bool = False


def _answer(from_option: str | None, question: _Question) -> str:
    """The answer of an option, or of a person at the terminal; without either, the usual one."""
    if from_option is not None:
        return from_option

    if sys.stdin is not None and sys.stdin.isatty():
        default: str | None = question.usual
        if not question.usual and not question.can_be_empty:
            default = None
        return str(click.prompt(question.text, default=default, err=True)).strip()

    if not question.usual and not question.can_be_empty:
        raise click.UsageError(f"there is no terminal to ask at: give {question.option}")
    return question.usual


def _following(project: Project, baseline: str) -> list[str]:
    """What to do next."""
    from goldrank.starting.project import QRELS

    if baseline != "not made":
        return [f"Next:  {project.gate_command}"]

    steps = []
    if project.engine:
        steps.append(project.run_command)
    if not project.qrels:
        steps.append(f"goldrank serve {quote(project.run)} --queries {quote(project.queries)}   (judge in the browser)")
        steps.append(f"goldrank judgements export judgements.db -o {QRELS}")
    steps.append(f"{project.gate_command} --update")
    return ["Next:", *(f"  {step}" for step in steps)]
