"""From files and options to a running server, or to a folder of pages."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from goldrank.evaluation.text_settings import EvidenceLike, MatchingLike
from goldrank.explorer import serving
from goldrank.explorer.judging_session import Judging
from goldrank.explorer.security import new_secret
from goldrank.explorer.session import Criterion, Session
from goldrank.explorer.unjudged_session import UnjudgedSession, without_judgements
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
        """The token that opens the pages, None for none; raise if that would let other machines in."""
        if serving.is_loopback(self.host):
            if self.token == "":
                return None
            return self.token or new_secret()
        if not self.token:
            message = f"{self.host} can be reached from other machines: the pages need a --token"
            raise OptionError(message, hint="It goes over plain HTTP; an ssh tunnel to 127.0.0.1 is safer.")
        return self.token


@dataclass(frozen=True)
class PageTexts:
    """The texts that pages show beside the values. `Any`: files, mappings by id or objects shaped as datasets."""

    docs: Any = None
    queries: Any = None
    title: str = ""
    criteria: str | Sequence[Criterion] | None = None
    """The meaning of the grades, or its file."""


def demo_session(measures: Any = None) -> Session:
    """The data of `goldrank demo`."""
    data, runs = demo.load(), demo.runs()
    opened = {name: io.as_run(runs[name]).renamed(name) for name in ("bm25", "overlap")}
    texts = PageTexts(data["documents"], data["queries"], "Household tips", DEMO_CRITERIA)
    return session_of(data["qrels"], opened, texts, measures=measures or DEMO_MEASURES, slice_by=("kind",))


def session_of(
    qrels: Any,
    runs: Mapping[str, Run],
    texts: PageTexts | None = None,
    *,
    rules: Convention | None = None,
    measures: Any = None,
    attributes: Queries | None = None,
    slice_by: Sequence[str] = (),
    paths: Sequence[str] = (),
) -> Session:
    """A session of files: texts of queries come from their file, or from the folder of the corpus.

    Without qrels it shows what changed between the runs, whose `paths` have records beside them, and lets people judge.
    """
    texts = texts or PageTexts()
    query_source = texts.queries
    if query_source is None and isinstance(texts.docs, str) and _has_query_file(texts.docs):
        query_source = texts.docs

    known = attributes or Queries({})
    if query_source is not None:
        known = read_queries(query_source)
        if attributes is not None:
            known = attributes.with_column("text", known.column("text"))

    criteria = texts.criteria
    if isinstance(criteria, str) and criteria:
        criteria = read_criteria(criteria)
    options: dict[str, Any] = {"known_queries": known, "criteria": criteria or (), "slice_by": slice_by}
    every_run = list(runs.values())
    if qrels is None:
        unjudged = without_judgements(every_run)
        docs = texts.docs or recorded_texts(paths) or None
        return UnjudgedSession(
            texts.title, unjudged, every_run, rules or Convention(), measures or None, docs=docs, paths=paths, **options
        )
    return Session(
        texts.title,
        io.as_qrels(qrels),
        every_run,
        rules or Convention(),
        measures or None,
        docs=texts.docs,
        **options,
    )


def recorded_texts(paths: Sequence[str]) -> dict[str, str]:
    """The texts of documents that engines sent with their results, from the records beside runs."""
    from goldrank.retrieval.run_records import records_beside

    texts: dict[str, str] = {}
    for path in paths:
        texts |= records_beside(path).texts
    return texts


def _has_query_file(folder: str) -> bool:
    """Whether a path is a folder in the layout of BEIR, with a file of queries."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in FILES_OF_BEIR)


def text_session_of(
    files: Sequence[tuple[str | None, str]],
    *,
    measures: Any = None,
    title: str = "",
    matching: MatchingLike = "rouge-l:0.7",
    gold: str | None = None,
    evidence: EvidenceLike | None = None,
) -> Session:
    """A session of questions with retrieved texts: (name, file) of each system; `gold` has what is needed."""
    from goldrank.evaluation.texts import evaluate_texts
    from goldrank.explorer.text_session import TextSession
    from goldrank.io.questions.items import read_items
    from goldrank.rag.coverage_curves import with_names

    sets = [read_items(path, name=name, gold=gold) for name, path in files]
    scores = [evaluate_texts(items, measures or None, matching=matching, evidence=evidence) for items in sets]
    questions = {query: known.text for items in sets for query, known in items.queries.items() if known.text}
    return TextSession(with_names(scores), title, questions)


def serve(
    qrels: QrelsLike | None,
    runs: RunLike | Mapping[str, RunLike],
    measures: MeasuresLike = None,
    *,
    texts: PageTexts | None = None,
    log: str | None = None,
    me: str | None = None,
    read_only: bool = False,
    access: Access | None = None,
) -> None:
    """Serve runs from Python until Ctrl-C, as `goldrank serve` does.

    The documents and queries of `texts` are files, mappings by id, or objects shaped as datasets of ir_datasets
    (`docs_store`, `queries_iter`); such an object can be the `qrels` too. Without qrels (None) people judge from zero.
    Judgements are those of `me`. They go to
    `log`, or without it to `judgements.db` here.
    """
    access = access or Access()
    access.checked()
    named: Mapping[Any, Any] = {"run": runs}
    if isinstance(runs, Mapping) and not _is_run(runs):
        named = runs
    opened = {name: io.as_run(run).renamed(ids.as_text(name, "name of a run")) for name, run in named.items()}

    texts = texts or PageTexts()
    if texts.queries is None and hasattr(texts.docs, "queries_iter"):
        texts = replace(texts, queries=texts.docs)
    session = session_of(qrels, opened, texts, measures=measures)
    judging = None
    if not read_only:
        judging = judging_of(session, log or "judgements.db", me, 1, None)
    run(session, access, judging, print)


def _is_run(results: Mapping[Any, Any]) -> bool:
    """Whether a mapping is the results of one run by query, and not runs by name."""
    first = next(iter(results.values()), None)
    if isinstance(first, Mapping):
        return not isinstance(next(iter(first.values()), None), Mapping | list | tuple)
    return isinstance(first, list | tuple)


def read_criteria(path: str) -> list[Criterion]:
    """The meaning of grades: a line for each with the grade, its name and a sentence, with tabs between them."""
    criteria = []
    for number, line in open_source(path).lines():
        grade, *cells = line.strip().split(b"\t", 2)
        if not grade:
            continue
        where = Position(path, number)
        if not cells:
            raise InputError("a line with no tab", where=where, hint="A line is: grade, name, sentence, with tabs.")
        words = [ids.decode(cell).strip() for cell in cells]
        criteria.append(Criterion(grade_of(grade, where), *words))

    if not criteria:
        raise InputError("there are no grades in it", where=path)
    return criteria


def judging_of(session: Session, log: str | None, judge: str | None, per_pair: int, beside: str | None) -> Judging:
    """The log of a session, by default in the folder of a file; its judgements are in the values."""
    if log:
        path = log
    elif beside:
        path = os.path.join(os.path.dirname(os.path.abspath(beside)), "judgements.db")
    else:
        folder = cache_folder()
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "demo-judgements.db")

    try:
        name = judge or getpass.getuser()
    except (OSError, KeyError):
        name = "me"
    return Judging(session, path, name, per_pair)


def export(session: Session, folder: str) -> str:
    """Write the pages of a session as files; return a sentence that says what was written."""
    _needed()
    from goldrank.explorer.site import write

    return write(session, folder)


def _needed() -> None:
    """Import the packages that serve and render pages, before anything is computed for them."""
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
    last_line = "Ctrl-C ends it."
    if judging is not None:
        last_line = f"Judgements go to {judging.path}. Ctrl-C ends it."
    _serve(lambda *gate: application(explorer, *gate), access, say, last_line)


def _rules(path: str | None) -> str | None:
    """The file of rules; raise if it is wrong, before the browser opens."""
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
        opened.records(limit=1)  # a file that is not a history is an error before the browser opens
    _serve(lambda *gate: history_application(history, _rules(rules), *gate), access, say, "Ctrl-C ends it.")


def _serve(make: Callable[..., Any], access: Access, say: Callable[[str], None], last_line: str) -> None:
    token = access.checked()
    where = serving.listening(access.host, access.port)
    port = where.getsockname()[1]
    host = access.host
    if ":" in host:
        host = f"[{host}]"
    address = f"http://{host}:{port}/"
    if token:
        address += f"?token={token}"

    def opened() -> None:
        say(f"Open {address}")
        if not serving.is_loopback(access.host):
            say(
                "Everyone with this address can read all queries, texts and judgements, and judge. It is not encrypted."
            )
        say(last_line)
        if access.browser:
            serving.open_browser(address, is_secret=token is not None)

    serving.run(make(token, port, serving.allowed_hosts(access.host)), where, opened)
