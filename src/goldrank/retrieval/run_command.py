"""`goldrank run`: ask a search engine every query."""

from __future__ import annotations

import os
from typing import Any

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import FILE, k_option, one_number
from goldrank.cli.output import Output, export_options

allow_commands_option = option(
    "--allow-commands", is_flag=True, help="Let an engine file run the program or function that it names."
)
allow_private_option = option(
    "--allow-private",
    "private_hosts",
    multiple=True,
    metavar="HOST",
    help="Let engines be at a private address; this machine is always allowed. May be repeated.",
)

allow_env_option = option(
    "--allow-env",
    "variables",
    multiple=True,
    metavar="NAME",
    help="Let engines be sent this variable of the environment, if a file names it. May be repeated.",
)


@declared(usual="--engine -o -k --max-failures --allow-commands --quiet")
@click.argument("queries", type=FILE)
@option("--engine", "engines", multiple=True, required=True, type=FILE, metavar="FILE", help="An engine file (TOML). "
        "Several are asked in turns, query by query, so that their latencies can be compared.")  # fmt: skip
@k_option
@option("--max-failures", default="0%", show_default=True, metavar="SHARE",
        help="Exit with 0 if at most this share of the queries failed.")  # fmt: skip
@allow_commands_option
@allow_private_option
@allow_env_option
@option("--restart", is_flag=True, help="Forget what was answered before the last stop.")
@export_options
def command(
    queries: str,
    engines: tuple[str, ...],
    k: tuple[int, ...] | None,
    max_failures: str,
    output: Output,
    **options: Any,
) -> None:
    """Ask a search engine every query, and write what it returns as a run.

    QUERIES is a file of ids and texts. A stopped command goes on where it was when it is called again. It exits with 1
    if queries failed: they are not in the run, and calling it again asks them again.
    """
    from goldrank.retrieval.engine_file import SearchEngine
    from goldrank.retrieval.engine_run import ProgressLines, run_engines

    outputs = output.files
    if len(outputs) != len(engines):
        raise click.UsageError(f"there are {len(engines)} engines and {len(outputs)} outputs: give one -o for each")
    if len({os.path.abspath(output) for output in outputs}) < len(outputs):
        raise click.UsageError("two engines cannot write the same output")
    most = _share(max_failures)

    search_engines = [
        SearchEngine.load(engine, allow_private=options["private_hosts"], allow_env=options["variables"])
        for engine in engines
    ]
    for engine in search_engines:
        if engine.sends:
            output.say(f"{engine.name} sends {', '.join(engine.sends)} of the environment to {engine.host}.")
    progress = None
    if not output.is_quiet:
        progress = ProgressLines()
    try:
        results = run_engines(
            queries,
            search_engines,
            k=one_number(k, "-k"),
            limits=None,
            outputs=outputs,
            allow_commands=options["allow_commands"],
            restart=options["restart"],
            progress=progress,
        )
    except BaseException as error:
        if not isinstance(error, Exception):  # Ctrl-C, or a signal to end
            output.say("Stopped. What was answered is kept: the same command goes on where it was.")
        raise

    for result, path in zip(results, outputs, strict=True):
        output.print_parts(result.parts())
        output.say(f"Written: {path} and {path}.jsonl")
    if any(len(result.failures) > most * len(result) for result in results):
        click.get_current_context().exit(1)


def _share(text: str) -> float:
    """A share such as 1% or 0.01."""
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        share = -1.0
    if text.endswith("%"):
        share /= 100
    if not 0 <= share <= 1:
        raise click.BadParameter(f"{text!r} is not a share such as 1%", param_hint="--max-failures")
    return share
