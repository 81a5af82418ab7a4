"""What the commands about a history share: where it is, and what git says."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_DB = "history.db"


def db_option(function: Function) -> Function:
    """The option that names the history."""
    return click.option(
        "--db",
        type=click.Path(),
        default=lambda: os.environ.get("GOLDRANK_DB") or DEFAULT_DB,
        show_default=f"{DEFAULT_DB}, or the environment's GOLDRANK_DB",
        help="The history's file.",
    )(function)


def git_says(*arguments: str) -> tuple[str, str]:
    """What git answers in the current folder, or an empty text and the reason."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=10, errors="replace")  # noqa: S603, S607
    except FileNotFoundError:
        return "", "git is not installed"
    except (OSError, subprocess.SubprocessError) as error:
        return "", f"git does not answer ({type(error).__name__})"
    if done.returncode:
        return "", (done.stderr.strip().splitlines() or ["git failed"])[0]
    return done.stdout.strip(), ""


def commit_and_branch(commit: str) -> tuple[str, str]:
    """The commit to record, with git's answer for 'auto', and the branch it is on; trouble is told, not fatal."""
    if commit != "auto":
        return commit, ""
    found, trouble = git_says("rev-parse", "HEAD")
    if trouble:
        say(f"no commit is recorded: {trouble}")
        return "", ""
    changed, _ = git_says("status", "--porcelain", "--untracked-files=no")
    branch, _ = git_says("rev-parse", "--abbrev-ref", "HEAD")
    # A dirty tree is another state than the commit's; git's own describe marks it the same way.
    return found + ("-dirty" if changed else ""), "" if branch == "HEAD" else branch


def say(text: str) -> None:
    """A sentence on standard error, whatever is in it."""
    click.echo(text.encode("utf-8", "backslashreplace"), err=True)


def put(text: str) -> None:
    """Text on standard output, whatever is in it."""
    click.echo(text.encode("utf-8", "backslashreplace"), nl=not text.endswith("\n"))
