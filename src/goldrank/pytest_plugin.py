"""The gate in pytest: the fixture `goldrank_gate` holds a run to rules and shows what got worse.

pytest loads this module in every session of everybody who has goldrank installed, so it imports nothing until the
fixture is called.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from goldrank.gating.baseline import Baseline
    from goldrank.gating.verdict import Verdict

_PROPERTY = "goldrank_baseline_set"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and settings, all of them with the prefix goldrank."""
    group = parser.getgroup("goldrank", "goldrank: gate on ranking quality")
    group.addoption("--goldrank-rules", metavar="FILE", help="TOML file with the rules of the gate.")
    group.addoption("--goldrank-baseline", metavar="FILE|NAME", help="What runs are held against.")
    group.addoption("--goldrank-db", metavar="FILE", help="The history that has the baseline of that name.")
    group.addoption(
        "--goldrank-update",
        action="store_true",
        help="Set the baseline files of the gates that run to what they measure now. Never happens by itself.",
    )
    for name in ("rules", "baseline", "db"):
        parser.addini(f"goldrank_{name}", f"The same as --goldrank-{name}, relative to the root folder.", default="")


@pytest.fixture
def goldrank_gate(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """A function that holds a run to rules: `goldrank_gate(qrels, run, rules=None, baseline=None, ...)`.

    With scores in place of a run: `goldrank_gate(scores, ...)`. Rules and baseline are those of the call, else of the
    command line, else of pytest's settings; other arguments are those of `goldrank.gate`. The test fails if the run
    does, and the report shows the queries that lost most.
    """
    config = request.config

    # What tests see is `Callable[..., Verdict]`; `goldrank.gate` says what each argument may be, and checks it.
    def gate(qrels: Any, run: Any = None, rules: Any = None, baseline: Any = None, **options: Any) -> Verdict:
        __tracebackhide__ = True
        from goldrank.errors import GoldrankError
        from goldrank.gating.decide import gate as decide
        from goldrank.gating.rules import Rules
        from goldrank.report.gate import render

        if rules is None:
            rules = _named(config, "rules")
        elif isinstance(rules, str) and rules.endswith(".toml"):
            rules = config.rootpath / rules
        if rules is None:
            pytest.fail("goldrank_gate has no rules: give rules=[...], or --goldrank-rules FILE", pytrace=False)
        if "db" not in options:
            options["db"] = _named(config, "db")
        if baseline is None:
            baseline = _named(config, "baseline", is_file=options["db"] is None)
        elif isinstance(baseline, str) and options["db"] is None:
            baseline = config.rootpath / baseline
        try:
            held_to = Rules.of(rules)
            if config.getoption("goldrank_update") and baseline is not None:
                baseline = _update(request, qrels, run, held_to, baseline, options)
            verdict = decide(qrels, run, held_to, baseline, **options)
        except GoldrankError as error:
            is_absent = isinstance(baseline, Path) and not baseline.exists()
            hint = "\n  To make the baseline: pytest --goldrank-update" if is_absent else ""
            pytest.fail(f"goldrank gate: {error}{hint}", pytrace=False)
        if not verdict:
            pytest.fail(f"goldrank gate: {render(verdict, 'text')}", pytrace=False)
        return verdict

    return gate


def _named(config: pytest.Config, name: str, is_file: bool = True) -> Any:
    """What the command line names, relative to where pytest was called, else what the settings name."""
    given, folder = config.getoption(f"goldrank_{name}"), config.invocation_params.dir
    if not given:
        given, folder = config.getini(f"goldrank_{name}"), config.rootpath
    return None if not given else folder / given if is_file else given


def _update(
    request: pytest.FixtureRequest, qrels: Any, run: Any, rules: Any, baseline: Any, options: dict[str, Any]
) -> Baseline:
    """Set a baseline file anew and leave a note for the end of the session, which xdist carries to the main process."""
    from goldrank import conventions, io
    from goldrank.data.scores import Scores
    from goldrank.errors import OptionError
    from goldrank.evaluation.documents import evaluate
    from goldrank.gating.baseline import Baseline, changes, judgement_hashes
    from goldrank.gating.decide import measures_for

    if not isinstance(baseline, Path):
        raise OptionError("--goldrank-update sets baseline files only", hint="For a history: goldrank baseline set.")
    scores, judged = qrels, None
    if not isinstance(qrels, Scores):
        policies = {key: value for key, value in options.items() if key in conventions.POLICIES}
        policy = conventions.get(options.get("convention", conventions.DEFAULT)).with_policies(**policies)
        judged = io.as_qrels(qrels, judgements=policy.judgements)
        more = {key: options[key] for key in ("format", "depth") if key in options}
        scores = evaluate(judged, run, measures_for(rules, policy), convention=policy, **more)
    old = Baseline.load(baseline) if baseline.exists() else None
    changed = changes(old, scores, judgement_hashes(judged))
    new = Baseline.freeze(scores, baseline, label=request.node.nodeid, qrels=judged)
    request.node.user_properties.append((_PROPERTY, [str(baseline), new.digest, request.node.nodeid, changed]))
    return new


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which baselines were set, and whether two tests set the same one."""
    by_file: dict[str, list[list[Any]]] = {}
    for report in chain.from_iterable(terminalreporter.stats.values()):
        for name, value in report.user_properties if getattr(report, "when", "") == "call" else ():
            if name == _PROPERTY:
                by_file.setdefault(value[0], []).append(value)
    if not by_file:
        return
    terminalreporter.section("goldrank baselines")
    for path, values in by_file.items():
        for _, digest, test, changed in values:
            terminalreporter.write_line(f"{path} is set by {test} (sha256 {digest[:12]})")
            for line in changed:
                terminalreporter.write_line(f"  {line}")
        if len(values) > 1:
            terminalreporter.write_line(f"  {len(values)} tests set this baseline; give each its own", red=True)
