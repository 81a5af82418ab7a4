"""The step of the action that measures and decides: inputs by environment, reports and outputs in files.

It exits with 0 whatever it finds; its output `exit-code` is 0 pass, 1 fail, 2 nothing could be decided, 4 unclear.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
from pathlib import Path

from goldrank import (
    Baseline,
    GoldrankError,
    InputError,
    OptionError,
    Rules,
    Scores,
    evaluate,
    gate,
    read_qrels,
    read_run,
)
from goldrank.data.table import Head, Sentence, Table
from goldrank.gating.verdict import Verdict
from goldrank.gating.verdict_report import github, junit
from goldrank.gating.verdict_report import parts as parts_of_verdict
from goldrank.report import markdown
from goldrank.report.scores import long_table

FAIL_ON = ("fail", "unclear", "never")


def given(name: str) -> str:
    """An input; a name that begins with - is refused, since programs would take it for an option."""
    value = os.environ.get(f"GOLDRANK_{name}", "")
    if value.startswith("-"):
        raise OptionError(f"the input {name.lower()} begins with '-'", hint="Write ./ before the name of the file.")
    return value


def scored(rules: Rules | None) -> Scores:
    """The scores of the records, or of judgements and a run."""
    records, qrels, run = given("RECORDS"), given("QRELS"), given("RUN")
    if bool(records) == bool(qrels and run) or bool(qrels) != bool(run):
        raise OptionError("the inputs are either records, or qrels and run", hint="Give one of both.")
    wanted = [name.strip() for name in given("MEASURES").split(",") if name.strip()]
    if rules is not None:
        wanted += [str(measure) for measure in rules.measures]
    for name in filter(None, (records, qrels, run)):
        if not Path(name).exists():
            raise InputError(
                "there is no such file", where=name, hint="Is it made before this step?", code="cannot-open"
            )
    return evaluate(read_qrels(records or qrels), read_run(records or run), list(dict.fromkeys(wanted)) or None)


def output(name: str, value: str) -> None:
    """An output of the step; nothing in the value can end it early, since nobody knows the delimiter."""
    delimiter = f"end-{secrets.token_hex(16)}"
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def before_and_after(baseline: Baseline, scores: Scores) -> str:
    """A table of what measures were in the baseline, and are now."""
    rows = []
    for measure, after in scores.items():
        before = baseline.scores.mean.get(measure)
        if before is not None:
            rows.append([measure, f"{before:.4f}", f"{after:.4f}", f"{after - before:+.4f}"])
    if not rows:
        return ""
    return markdown.write([Table([*Head.texts("measure"), *Head.numbers("before", "after", "change")], rows)])


def main() -> None:
    """Measure, decide, write."""
    report = Path(os.environ["RUNNER_TEMP"]) / "goldrank-report"
    report.mkdir(parents=True, exist_ok=True)
    title = " ".join(os.environ.get("GOLDRANK_TITLE", "").split()) or "Ranking quality"
    scores: Scores | None = None
    verdict: Verdict | None = None
    baseline: Baseline | None = None
    try:
        if os.environ.get("GOLDRANK_FAIL_ON", "fail") not in FAIL_ON:
            raise OptionError(f"fail-on must be one of {', '.join(FAIL_ON)}")
        rules = Rules.load(given("RULES")) if given("RULES") else None
        baseline = Baseline.load(given("BASELINE")) if given("BASELINE") else None
        scores = scored(rules)
        if rules is not None:
            verdict = gate(scores, rules, baseline)
    except GoldrankError as error:
        verdict = Verdict.undecided("run", error)
        sys.stderr.write(f"goldrank: {error}\n")

    parts = [f"## {title}\n"]
    if verdict is not None:
        sys.stdout.write(github(verdict) + "\n")
        (report / "report.xml").write_text(junit(verdict), encoding="utf-8")
        (report / "report.json").write_text(json.dumps(verdict.to_dict(), default=str), encoding="utf-8")
        parts.append(markdown.write([Sentence(verdict.words), *parts_of_verdict(verdict)[1:]]))
    signature = ""
    if scores is not None:
        signature = scores.signature()
        scores.save(report / "scores.json")
        if verdict is None:
            parts.append(markdown.write([long_table([scores])]))
        parts.append(f"\n`{signature}`\n")
        if baseline is not None:
            parts.insert(1, before_and_after(baseline, scores))
    if verdict is not None:
        verdict.save(report / "report.html")
    elif scores is not None:
        scores.save(report / "report.html")
    text = "\n".join(parts)
    (report / "report.md").write_text(text, encoding="utf-8")
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as summary:
        summary.write(text)

    values = {} if scores is None else {name: value if math.isfinite(value) else None for name, value in scores.items()}
    output("status", "pass" if verdict is None else verdict.status)
    output("exit-code", "0" if verdict is None else str(verdict.exit_code))
    output("scores", json.dumps(values))
    output("signature", signature)
    output("report", str(report))


if __name__ == "__main__":
    main()
