"""From what was asked for to a running server, or to a folder of files."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldrank import demo, io
from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, Position
from goldrank.base.packages import needed
from goldrank.base.types import MeasuresLike, QrelsLike, RunLike
from goldrank.base.writing import cache_folder
from goldrank.conventions import Convention
from goldrank.data.queries import Queries
from goldrank.data.run import Run
from goldrank.evaluation.text_settings import MatchingLike
from goldrank.explorer import serving
from goldrank.explorer.judging_session import Judging
from goldrank.explorer.security import new_secret
from goldrank.explorer.session import Criterion, Session
from goldrank.io.by_id.query_files import FILES_OF_BEIR, read_queries
from goldrank.io.sources import open_source
from goldrank.io.text.number_text import grade_of

DEMO_MEASURES = ("nDCG@10", "AP", "P@1")
DEMO_CRITERIA = (
    Criterion(0, "does not help", "another topic, or only the words"),
    Criterion(1, "helps", "part of an answer, or a detour to it"),
    Criterion(2, "answers it", "a reader needs nothing else"),
)


@dataclass
class Access:
    """Where the server listens, and who gets in."""

    host: str = "127.0.0.1"
    port: int | None = None
    token: str | None = None
    """None for a random one, '' for none."""
    browser: bool = True

    def checked(self) -> str | None:
        """The token that is asked for, None for none; an error where that would let everybody in."""
        if serving.is_loopback(self.host):
            if self.token == "":
                return None
            return self.token or new_secret()
        if not self.token:
            raise OptionError(
                f"{self.host} can be reached from other machines: the pages need a --token",
                hint="It goes over plain HTTP; an ssh tunnel to 127.0.0.1 is safer.",
            )
        return self.token


def demo_session(measures: Any = None) -> Session:
    """The data of `goldrank demo`."""
    data, runs = demo.load(), demo.runs()
    opened = {name: io.as_run(runs[name]).renamed(name) for name in ("bm25", "overlap")}
    shown = {"docs": data["documents"], "queries": data["queries"], "criteria": DEMO_CRITERIA}
    return session_of(data["qrels"], opened, measures=measures or DEMO_MEASURES, title="Household tips", **shown)


def session_of(
    qrels: Any,
    runs: Mapping[str, Run],
    *,
    rules: Convention | None = None,
    measures: Any = None,
    docs: Any = None,
    queries: Any = None,
    title: str = "",
    criteria: str | Sequence[Criterion] | None = None,
    attributes: Queries | None = None,
    slice_by: Sequence[str] = (),
) -> Session:
    """A session of files: the queries' texts come from their file, or from the corpus' folder."""
    given = queries
    if given is None and isinstance(docs, str) and os.path.isdir(docs):
        given = docs if any(os.path.isfile(os.path.join(docs, name)) for name in FILES_OF_BEIR) else None

    known = attributes or Queries({})
    if given is not None:
        texts = read_queries(given)
        known = known.with_column("text", texts.column("text")) if attributes is not None else texts

    return Session(
        title,
        io.as_qrels(qrels),
        list(runs.values()),
        rules or Convention(),
        measures or None,
        docs=docs,
        known_queries=known,
        criteria=read_criteria(criteria) if isinstance(criteria, str) and criteria else criteria or (),
        slice_by=slice_by,
    )


def text_session_of(
    files: Sequence[tuple[str | None, str]],
    *,
    measures: Any = None,
    title: str = "",
    matching: MatchingLike = "rouge-l:0.7",
) -> Session:
    """A session of questions with retrieved texts: (name, file) of each system."""
    from goldrank.evaluation.texts import evaluate_texts
    from goldrank.explorer.text_session import TextSession
    from goldrank.io.questions.items import read_items
    from goldrank.rag.coverage_curves import with_names

    sets = [read_items(path, name=name) for name, path in files]
    scores = [evaluate_texts(items, measures or None, matching=matching) for items in sets]
    questions = {query: known.text for items in sets for query, known in items.queries.items() if known.text}
    return TextSession(with_names(scores), title, questions)


def serve(
    qrels: QrelsLike,
    runs: RunLike | Mapping[str, RunLike],
    measures: MeasuresLike = None,
    *,
    docs: Any = None,
    queries: Any = None,
    title: str = "",
    criteria: str | None = None,
    log: str | None = None,
    judge: str | None = None,
    read_only: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    browser: bool = True,
) -> None:
    """Serve runs from Python until Ctrl-C, as `goldrank serve` does.

    `docs` and `queries` are files, mappings by id, or objects shaped as datasets of ir_datasets (`docs_store`,
    `queries_iter`); such an object can be the `qrels` too. Without `log`, judgements go to `judgements.db` here.
    """
    access = Access(host, port, token, browser)
    access.checked()
    named: Mapping[Any, Any] = runs if isinstance(runs, Mapping) and not _is_run(runs) else {"run": runs}
    opened = {name: io.as_run(run).renamed(ids.as_text(name, "name of a run")) for name, run in named.items()}
    if queries is None and hasattr(docs, "queries_iter"):
        queries = docs
    session = session_of(qrels, opened, measures=measures, docs=docs, queries=queries, title=title, criteria=criteria)
    judging = None if read_only else judging_of(session, log or "judgements.db", judge, 1, None)
    run(session, access, judging, print)


def _is_run(given: Mapping[Any, Any]) -> bool:
    """Whether a mapping is the results of one run by query, and not runs by name."""
    first = next(iter(given.values()), None)
    if isinstance(first, Mapping):
        return not isinstance(next(iter(first.values()), None), Mapping | list | tuple)
    return isinstance(first, list | tuple)


def read_criteria(path: str) -> list[Criterion]:
    """What grades mean: a line for each with the grade, its name and a sentence, with tabs between them."""
    criteria = []
    for number, line in open_source(path).lines():
        grade, *cells = line.strip().split(b"\t", 2)
        if not grade:
            continue
        where = Position(path, number)
        if not cells:
            raise InputError("a line with no tab", where=where, hint="A line is: grade, name, sentence, with tabs.")
        name, sentence = (*(ids.decode(cell).strip() for cell in cells), "")[:2]
        criteria.append(Criterion(grade_of(grade, where), name, sentence))

    if not criteria:
        raise InputError("there are no grades in it", where=path)
    return criteria


def judging_of(session: Session, log: str | None, judge: str | None, per_pair: int, qrels: str | None) -> Judging:
    """The log of a session, with all that was judged before in the values."""
    folder = os.path.dirname(os.path.abspath(qrels)) if qrels else cache_folder()
    path = log or os.path.join(folder, "judgements.db" if qrels else "demo-judgements.db")
    if not log and not qrels:
        os.makedirs(folder, exist_ok=True)
    try:
        name = judge or getpass.getuser()
    except (OSError, KeyError):
        name = "me"
    return Judging(session, path, name, per_pair)


def export(session: Session, folder: str) -> str:
    """Write the pages of a session as files; a sentence that says what was written."""
    _needed()
    from goldrank.explorer.site import write

    return write(session, folder)


def _needed() -> None:
    """The parts that serve and draw pages, before anything is computed for them."""
    with needed("starlette"):
        import starlette  # noqa: F401 - is it there?
        import uvicorn  # noqa: F401
    with needed("jinja2"):
        import jinja2  # noqa: F401


def run(
    session: Session,
    access: Access,
    judging: Judging | None,
    say: Callable[[str], None],
    history: str | None = None,
    rules: str | None = None,
) -> None:
    """Serve a session until Ctrl-C."""
    _needed()
    from goldrank.explorer.app import Explorer, application

    explorer = Explorer(session, judging=judging, history=history, rules=_rules(rules))
    said = f"Judgements go to {judging.path}. Ctrl-C ends it." if judging is not None else "Ctrl-C ends it."
    _serve(lambda *gate: application(explorer, *gate), access, say, said)


def _rules(path: str | None) -> str | None:
    """The file of rules, if it is one: what is wrong with it is said here, not in the browser."""
    if path is not None:
        from goldrank.gating.rules import Rules

        Rules.load(path)
    return path


def run_history(history: str, access: Access, say: Callable[[str], None], rules: str | None = None) -> None:
    """Serve the pages of a history until Ctrl-C."""
    _needed()
    from goldrank.explorer.app import history_application
    from goldrank.history.store import History

    with History(history, mode="r") as opened:
        opened.records(limit=1)  # a file that is no history is complained of here, not in the browser
    _serve(lambda *gate: history_application(history, _rules(rules), *gate), access, say, "Ctrl-C ends it.")


def _serve(make: Callable[..., Any], access: Access, say: Callable[[str], None], said: str) -> None:
    token = access.checked()
    where = serving.listening(access.host, access.port)
    port = where.getsockname()[1]
    name = f"[{access.host}]" if ":" in access.host else access.host
    address = f"http://{name}:{port}/" + (f"?token={token}" if token else "")

    def opened() -> None:
        say(f"Open {address}")
        if not serving.is_loopback(access.host):
            say("Whoever has this address can read all queries, texts and judgements, and judge. It is not encrypted.")
        say(said)
        if access.browser:
            serving.open_browser(address, is_secret=token is not None)

    serving.run(make(token, port, serving.allowed_hosts(access.host)), where, opened)
