"""The files of a gate: rules, an engine file, a workflow for CI, and a first baseline. A file that exists is kept."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import NamedTuple, get_args

from goldrank.base import ids
from goldrank.base.errors import OptionError, RetrievalError, did_you_mean
from goldrank.base.writing import write_whole
from goldrank.conventions import Convention
from goldrank.measures import parse
from goldrank.retrieval.engine_file import Kind, SearchEngine

RULES = "rules.toml"
ENGINE = "engine.toml"
QRELS = "qrels.txt"
"""The judgements, where there are none yet."""
RUN = "current.run"
BASELINE = "baseline.json"
WORKFLOW = os.path.join(".github", "workflows", "ranking.yml")
_URL_LINE = re.compile(r'^url = ".*"$', re.MULTILINE)


class Outcome(NamedTuple):
    """What became of a file."""

    path: str
    happened: str
    """'written', 'kept' or 'not made'."""
    why: str = ""


@dataclass(frozen=True)
class Project:
    """The answers to the four questions, in the folder where the files go."""

    folder: str
    queries: str
    qrels: str
    """The file of judgements; empty if there is none yet."""
    source: str
    """Where results come from: KIND ADDRESS, an engine file, or a run."""
    measure: str

    @property
    def run(self) -> str:
        """The run that is measured."""
        if self._has_run:
            return self.source
        return RUN

    @property
    def engine(self) -> str:
        """The engine file; empty if results come from a run."""
        if self._has_run:
            return ""
        if self.source.endswith(".toml"):
            return self.source
        return ENGINE

    @property
    def _has_run(self) -> bool:
        return not self.source.endswith(".toml") and os.path.isfile(os.path.join(self.folder, self.source))

    @property
    def gate_command(self) -> str:
        """The command that checks the run."""
        return f"goldrank gate {quote(self.qrels or QRELS)} {quote(self.run)} --rules {RULES} --baseline {BASELINE}"

    @property
    def run_command(self) -> str:
        """The command that asks the engine."""
        return f"goldrank run {quote(self.queries)} --engine {quote(self.engine)} -o {quote(self.run)}"

    def check(self) -> None:
        """Raise if an answer cannot be used, before anything is written."""
        parse(self.measure)
        for path in (self.queries, self.qrels, self.source):
            if not path.isprintable():
                raise OptionError(f"{ids.show(path)} cannot be written into a file", code="bad-name")
        for path in (self.queries, self.qrels):
            if path and not os.path.isfile(os.path.join(self.folder, path)):
                hint = "Name a file that is there. Judgements may be left out: they can be made later."
                raise OptionError(f"there is no file {ids.show(path)}", hint=hint, code="cannot-open")
        if self.engine == ENGINE:
            engine_text(self.source)
        elif self.engine:
            SearchEngine.load(os.path.join(self.folder, self.engine))

    def write(
        self, *, allow_commands: bool, allow_private: Sequence[str] = (), allow_env: Sequence[str] = ()
    ) -> Iterator[Outcome]:
        """Write each file that is not there; the baseline needs judgements, and an engine that answers."""
        self.check()
        yield self._put(RULES, rules_text(self.measure))
        if self.engine == ENGINE:
            yield self._put(ENGINE, engine_text(self.source))
        flags = ["--allow-commands"] * allow_commands
        flags += [f"--allow-private {quote(host)}" for host in allow_private]
        flags += [f"--allow-env {quote(variable)}" for variable in allow_env]
        yield self._put(WORKFLOW, self._workflow(flags))
        yield self._baseline(allow_commands, allow_private, allow_env)

    def _put(self, name: str, text: str) -> Outcome:
        path = os.path.join(self.folder, name)
        if os.path.lexists(path):
            return Outcome(name, "kept", "it was there")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_whole(path, text.encode())
        return Outcome(name, "written")

    def _workflow(self, flags: Sequence[str]) -> str:
        make = "# Put the command here that writes the run."
        if self.engine:
            make = " ".join((self.run_command, *flags))
        template = (resources.files("goldrank.starting") / "workflow.yml").read_text("utf-8")
        return template.replace("@MAKE@", make).replace("@GATE@", self.gate_command)

    def _baseline(self, allow_commands: bool, allow_private: Sequence[str], allow_env: Sequence[str]) -> Outcome:
        path = os.path.join(self.folder, BASELINE)
        if os.path.lexists(path):
            return Outcome(BASELINE, "kept", "it was there")
        if not self.qrels:
            return Outcome(BASELINE, "not made", "there are no judgements yet")

        try:
            self._ask(allow_commands, allow_private, allow_env)
        except (RetrievalError, OptionError) as error:
            return Outcome(BASELINE, "not made", f"the engine gave no run: {error.what}")
        self._freeze(path)
        return Outcome(BASELINE, "written")

    def _ask(self, allow_commands: bool, allow_private: Sequence[str], allow_env: Sequence[str]) -> None:
        """Make the run, if it is not there."""
        from goldrank.retrieval.engine_run import run_engine

        run = os.path.join(self.folder, self.run)
        if not os.path.lexists(run):
            path = os.path.join(self.folder, self.engine)
            engine = SearchEngine.load(path, allow_private=allow_private, allow_env=allow_env)
            run_engine(os.path.join(self.folder, self.queries), engine, output=run, allow_commands=allow_commands)

    def _freeze(self, path: str) -> None:
        from goldrank.gating.baseline import Baseline
        from goldrank.gating.measuring import MeasuringOptions, scores_to_freeze
        from goldrank.gating.rules import Rules
        from goldrank.io import read_qrels, read_run

        qrels, run = (os.path.join(self.folder, name) for name in (self.qrels, self.run))
        measures = Rules.load(os.path.join(self.folder, RULES)).measures
        options = MeasuringOptions(Convention())
        scores = scores_to_freeze(read_qrels(qrels), read_run(run), list(measures) or [self.measure], options)
        Baseline(scores).save(path)


def rules_text(measure: str) -> str:
    """A file of rules."""
    return (
        "# What must hold: goldrank gate QRELS RUN --rules rules.toml --baseline baseline.json\n"
        "rules = [\n"
        f"  {json.dumps(f'{measure}: -1%')},  # fails if it surely dropped by more than 1% below the baseline\n"
        f"  # {json.dumps(f'{measure} >= 0.40')},  # a floor, whatever the baseline is\n"
        '  # "missing <= 0%",  # every judged query must get a result\n'
        "]\n"
    )


def engine_text(source: str) -> str:
    """An engine file to begin with, from KIND, KIND ADDRESS, 'python MODULE:FUNCTION' or 'command PROGRAM ...'."""
    kind, _, rest = source.strip().partition(" ")
    words = rest.split()
    kinds = get_args(Kind)
    if kind not in kinds:
        hint = did_you_mean(kind, kinds) or f"Kinds are: {', '.join(kinds)}; or name an engine file or a run."
        raise OptionError(f"{ids.show(kind)} is no kind of engine, and no file", hint=hint, code="unknown-engine")

    head = f'format = "goldrank-engine/1"\nkind = "{kind}"\n'
    if kind in ("python", "command"):
        if not words:
            hint = "For example: python my_search:search, or command node search.mjs."
            raise OptionError(f"{kind} needs what to call", hint=hint, code="missing-key")
        if kind == "python":
            return f"{head}function = {json.dumps(words[0])}  # search(query, k); the module stands beside this file\n"
        return f"{head}argv = {json.dumps(words)}  # reads a query a line, writes results a line: docs/engines.md\n"

    if kind == "http":
        address = (words or ["http://localhost:8000/search"])[0]
        request = '\n[request]\nparams = { q = "{query}", k = "{k}" }\n'
        return f'{head}url = {json.dumps(address)}\n{request}\n[response]\nhits = "hits"\nid = "id"\n'
    text = (resources.files("goldrank.starting") / "engines" / f"{kind}.toml").read_text("utf-8")
    if words:
        text = _URL_LINE.sub(lambda _: f"url = {json.dumps(words[0])}", text)
    return text


def usual_file(folder: str, names: tuple[str, ...]) -> str:
    """The first of some files that is in a folder; empty if none is."""
    return next((name for name in names if (Path(folder) / name).is_file()), "")
