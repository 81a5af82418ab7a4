"""What commands and options of 1.0.0rc1 are called now. To be deleted in 1.1."""

from __future__ import annotations

import click

COMMANDS = {
    "leaderboard": "compare",
    "report": "compare",
    "explain-difference": "explain",
    "show": "history show",
    "export": "history export",
    "check": "history check",
    "prune": "history prune",
    "baseline": "gate --baseline FILE --update, or history baseline; eval FILE shows one",
    "interleave": "judgements interleave",
    "agree": "judge agree",
    "corrected": "judge corrected",
    "questions": "judge questions",
    "merge": "eval, which takes saved scores: eval part1.json part2.json -o whole.json",
    "completion": "click's own: _GOLDRANK_COMPLETE=bash_source goldrank (or zsh_source, fish_source)",
}

OPTIONS = {
    "--abstain-below": "--answers abstain_below=X",
    "--agreement": "diff --agreement",
    "--align": "--same-queries",
    "--all": "--pool which=all",
    "--alpha": "--statistics alpha=X",
    "--base-url": "--judge MODEL@URL",
    "--bounds": "--convention bounds=WORD",
    "--budgets": "--budget N,N",
    "--by-query-file": "-q -o FILE.csv",
    "--check": "a second --judge",
    "--chunks": "--evidence chunks=FILE",
    "--clusters": "--queries FILE with a field 'cluster'",
    "--command": "--judge command:PROGRAM",
    "--concurrency": "--calls concurrency=N",
    "--conventions": "--convention A --convention B",
    "--correction": "--statistics correction=WORD",
    "--coverage": "--evidence coverage=X",
    "--credit": "--matching credit=WORD",
    "--criteria": "--judge MODEL@URL,criteria=TEXT; Qrels(criteria=...) in Python",
    "--csv": "-o FILE.csv",
    "--curves": "goldrank sweep, which shows the curves",
    "--docs": "--documents",
    "--drop": "--judge MODEL@URL,request.FIELD=none",
    "--duplicates": "--convention duplicates=WORD",
    "--empty": "--convention empty=WORD",
    "--export": "-o FOLDER",
    "--format": "--input FORMAT; in gate --as FORM",
    "--from": "--input FORMAT",
    "--gamma": "--model dbn,gamma=X",
    "--guards": "--matching guards=A+B",
    "--history": "--db FILE",
    "--holes": "--statistics unjudged=check or unjudged=ignore",
    "--html": "-o FILE.html",
    "--json": "--as json, or -o FILE.json",
    "--judged": "--pool which=judged",
    "--judgements": "--convention judgements=WORD",
    "--key-variable": "--judge MODEL@URL,key_variable=NAME",
    "--latency": "--queries FILE with a field 'latency'",
    "--latex": "-o FILE.tex",
    "--lengths": "--evidence lengths=WORD",
    "--level": "--statistics alpha=X, which is 1 - level",
    "--limit": "-n N, or --pool limit=N",
    "--margin": "--statistics margin=X",
    "--markdown": "-o FILE.md",
    "--match": "--matching WORD",
    "--max-calls": "--calls max_calls=N",
    "--max-memory": "gone: the machine is asked",
    "--max-tokens": "--judge MODEL@URL,request.max_tokens=N",
    "--metadata": "--queries FILE",
    "--method": "--fusion METHOD",
    "--missing": "--convention missing=WORD",
    "--model": "--judge MODEL@URL; in judge agree --model-qrels FILE",
    "--n": "-n N",
    "--name": "NAME=FILE",
    "--next-by": "--queries FILE with a field 'stratum'",
    "--none": "--nulls WORD",
    "--normalise": "--fusion METHOD,normalization=WORD",
    "--overlap": "--convention overlap=WORD",
    "--parameter": "--fusion METHOD,NAME=VALUE",
    "--power": "--statistics power=X",
    "--prices": "--calls prices=IN+OUT",
    "--prior": "--model ctr,prior=A+B",
    "--prompt": "--judge MODEL@URL,prompt=NAME",
    "--propensities": "--model propensity,propensities=P+P",
    "--qrels-format": "--input qrels.FORMAT",
    "--rate": "--calls rate=N",
    "--reanalyse": "history --dry-run",
    "--record": "history baseline NAME REF",
    "--repeats": "--pool repeats=N",
    "--run": "an argument: NAME=FILE",
    "--run-format": "--input run.FORMAT",
    "--samples": "--statistics samples=N",
    "--save": "-o FILE.json",
    "--score-type": "--convention score_type=WORD",
    "--seed": "--statistics seed=N; where a model is asked --calls seed=N",
    "--several": "--evidence several=WORD",
    "--show": "-n N",
    "--similarity": "--evidence similarity=X",
    "--sources": "--evidence PATH",
    "--strata": "--queries FILE with a field 'stratum'",
    "--summaries": "history export without -q",
    "--svg": "-o FILE.svg",
    "--table": "--as csv",
    "--test": "--statistics test=WORD",
    "--ties": "--convention ties=WORD",
    "--tokens": "--matching tokens=WORD",
    "--train": "--catalogue train=FILE",
    "--unbiased": "--model propensity,unbiased=true",
    "--unit": "--matching unit=WORD",
    "--unlocated": "--evidence unlocated=WORD",
    "--weights": "--queries FILE with a field 'weight'; in fuse --fusion METHOD,weights=1+2",
    "-p": "--fusion METHOD,NAME=VALUE",
}


def renamed_command(name: str, context: click.Context) -> click.UsageError | None:
    """The error for a command of an old version; None for any other word."""
    if name not in COMMANDS:
        return None
    return click.UsageError(f"`goldrank {name}` is now: {COMMANDS[name]}", context)


def explained(error: click.NoSuchOption) -> click.UsageError:
    """The error for an option that does not exist, with its new name."""
    new_name = OPTIONS.get(error.option_name)
    if new_name is None:
        return error
    return click.UsageError(f"{error.option_name} is now: {new_name}", error.ctx)
