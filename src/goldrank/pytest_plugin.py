"""The gate in pytest: the fixture `goldrank_gate` checks scores against rules and shows what got worse.

pytest loads this module in every session wherever goldrank is installed, so it imports nothing until the fixture is
called.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from goldrank.base.types import QueriesLike
    from goldrank.data.scores import Scores
    from goldrank.gating.baseline import Baseline, BaselineLike
    from goldrank.gating.rules import Rules, RulesLike
    from goldrank.gating.verdict import Verdict

_PROPERTY = "goldrank_baseline_set"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and settings, all of them with the prefix goldrank."""
    group = parser.getgroup("goldrank", "goldrank: gate on ranking quality")
    group.addoption("--goldrank-rules", metavar="FILE", help="TOML file with the rules of the gate.")
    group.addoption("--goldrank-baseline", metavar="FILE|NAME", help="What runs are compared with.")
    group.addoption("--goldrank-db", metavar="FILE", help="The history that has the baseline of that name.")
    group.addoption(
        "--goldrank-update",
        action="store_true",
        help="Set the baseline files of the gates that run to what they measure now. Never happens by itself.",
    )
    for name in ("rules", "baseline", "db"):
        parser.addini(f"goldrank_{name}", f"As --goldrank-{name}, relative to the root folder.", default="")


class GateFixture(Protocol):
    """What the fixture `goldrank_gate` is: `gate` that fails the test."""

    def __call__(
        self,
        scores: Scores,
        rules: RulesLike | None = None,
        baseline: BaselineLike | None = None,
        *,
        queries: QueriesLike | None = None,
    ) -> Verdict: ...


@pytest.fixture
def goldrank_gate(request: pytest.FixtureRequest) -> GateFixture:
    """Check scores against rules: `goldrank_gate(scores, rules=None, baseline=None, *, queries=None)`.

    It is `goldrank.gate`, and the test fails if the scores do; the report shows the queries that lost most. Rules and
    baseline are those of the call, else of the command line, else of pytest's settings. With --goldrank-update these
    very scores are frozen as the baseline.
    """
    config = request.config

    def gate(
        scores: Scores,
        rules: RulesLike | None = None,
        baseline: BaselineLike | None = None,
        *,
        queries: QueriesLike | None = None,
    ) -> Verdict:
        __tracebackhide__ = True
        from goldrank.base.errors import GoldrankError
        from goldrank.gating.decide import gate as decide

        chosen_baseline = None
        try:
            chosen_rules = _rules(config, rules)
            chosen_baseline = _baseline(config, baseline)
            if config.getoption("goldrank_update") and chosen_baseline is not None:
                chosen_baseline = _update(request, scores, chosen_rules, chosen_baseline)
            verdict = decide(scores, chosen_rules, chosen_baseline, queries=queries)
        except GoldrankError as error:
            hint = ""
            if isinstance(chosen_baseline, Path) and not chosen_baseline.exists():
                hint = "\n  To make the baseline: pytest --goldrank-update"
            pytest.fail(f"goldrank gate: {error}{hint}", pytrace=False)
        if not verdict:
            pytest.fail(f"goldrank gate: {verdict}", pytrace=False)
        return verdict

    return gate


def _rules(config: pytest.Config, rules: RulesLike | None) -> Rules:
    """The rules of the call, else of the command line or the settings."""
    from goldrank.gating.rules import as_rules

    if rules is None:
        rules = _named(config, "rules")
    elif isinstance(rules, str) and rules.endswith(".toml"):
        rules = config.rootpath / rules
    if rules is None:
        pytest.fail("goldrank_gate has no rules: give rules=[...], or --goldrank-rules FILE", pytrace=False)
    return as_rules(rules)


def _baseline(config: pytest.Config, baseline: BaselineLike | None) -> BaselineLike | None:
    """The baseline of the call, else of the command line or the settings: a file, or a name in a history."""
    if isinstance(baseline, Path):
        return config.rootpath / baseline
    if baseline is not None and not isinstance(baseline, str):
        return baseline

    db = _named(config, "db")
    if db is None:
        if baseline is None:
            return _named(config, "baseline")
        return config.rootpath / baseline

    from goldrank.history.store import History

    name = baseline or config.getoption("goldrank_baseline") or config.getini("goldrank_baseline")
    if not name:
        return None
    with History(db, mode="r") as history:
        return history.baseline(name)


def _named(config: pytest.Config, name: str) -> Path | None:
    """The file that the command line names, relative to where pytest was called, else the one of the settings."""
    file, folder = config.getoption(f"goldrank_{name}"), config.invocation_params.dir
    if not file:
        file, folder = config.getini(f"goldrank_{name}"), config.rootpath
    if not file:
        return None
    return Path(folder / file)


def _update(request: pytest.FixtureRequest, scores: Scores, rules: Rules, file: BaselineLike) -> Baseline:
    """Freeze the scores in a file, and leave a note for the end of the session, which xdist carries to the main one."""
    from goldrank.base.errors import OptionError
    from goldrank.gating.baseline import Baseline, changes

    if not isinstance(file, Path):
        raise OptionError(
            "--goldrank-update sets baseline files only",
            hint="For a history: goldrank gate --db history.db --baseline NAME --update.",
        )
    for measure in rules.measures:
        scores.column(measure)  # an error here: scores without these measures cannot be a baseline for the rules

    old = None
    if file.exists():
        old = Baseline.load(file)
    changed = changes(old, scores)
    Baseline(scores, label=request.node.nodeid).save(file)
    new = Baseline.load(file)
    request.node.user_properties.append((_PROPERTY, [str(file), new.digest, request.node.nodeid, changed]))
    return new


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which baselines were set, and whether two tests set the same one."""
    by_file: dict[str, list[list[Any]]] = {}
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if getattr(report, "when", "") != "call":
            continue
        for name, value in report.user_properties:
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
