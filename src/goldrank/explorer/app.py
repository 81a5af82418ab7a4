"""Routes: from an address to a page. Nothing is computed here."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from goldrank import __version__
from goldrank.base import ids
from goldrank.base.errors import GoldrankError, InputError, did_you_mean
from goldrank.base.packages import needed
from goldrank.data.table import count
from goldrank.explorer import (
    addresses,
    doc_page,
    judge_page,
    notes_page,
    overview_page,
    queries_page,
    query_page,
    take,
    texts_page,
    unjudged_page,
)
from goldrank.explorer.judging_session import Judging
from goldrank.explorer.pages import ASSETS, NAV, Links, asset, assets_hash, base_values, render
from goldrank.explorer.security import Guard, new_secret
from goldrank.explorer.session import Session, View
from goldrank.explorer.snippets import visible

with needed("starlette"):
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FIRST_WAIT = 0.5
"""Seconds that the first page waits for the verdict; without it the page says that it follows."""

MOST_CACHED = 64
"""Pages of each kind in the cache."""

Handler = Callable[[Request], Awaitable[Response]]


def _chooser(session: Session, view: View, systems: list[tuple[str, str]]) -> dict[str, Any]:
    """The choices at the top of a page, and the chosen ones."""
    b = ""
    if view.b:
        b = addresses.spelled(view.b.name)
    return {
        "measures": [str(measure) for measure in session.measures],
        "measure": view.name,
        "systems": systems,
        "a": addresses.spelled(view.a.name),
        "b": b,
    }


def _view_in_words(view: View) -> str:
    if view.b is None:
        return view.name
    return f"{view.name}: B − A, {ids.show(view.b.name)} − {ids.show(view.a.name)}"


@dataclass
class Explorer:
    """The pages of one session."""

    session: Session
    write_secret: str = field(default_factory=new_secret)
    static: bool = False
    wait: float | None = FIRST_WAIT
    assets: str = field(default_factory=lambda: f"/assets/{assets_hash()}/")
    judging: Judging | None = None
    history: str | None = None
    """The file of a history, whose pages are offered too."""
    rules: str | None = None
    """A file of rules, which decide about the records of the history."""

    @property
    def can_judge(self) -> bool:
        """Whether pages offer to judge."""
        return self.judging is not None and not self.static

    # What every page has.

    def frame(self, view: View, path: str, params: Mapping[str, str]) -> dict[str, Any]:
        """Values of the base template."""
        session = self.session
        link = self.links(view)
        data_asked = params.get("data", "")
        # The first page of a large session does not wait for the hash, unless the link has one to compare it with.
        if path == "/" and not data_asked and not session.is_small:
            data = session.known_hash
        else:
            data = session.data_hash
        other_data = ""
        if data_asked != data:
            other_data = data_asked[:8]

        chooser, b_name = None, ""
        if not self.static:
            systems = [(addresses.spelled(system.name), ids.show(system.name, 40)) for system in session.systems]
            chooser = _chooser(session, view, systems)
        if view.b:
            b_name = view.b.name

        kept_params = [(name, text) for name, text in params.items() if name not in {"m", "a", "b", "data"}]
        view_params = [(name, text) for name, text in link.view_params.items() if text]
        nav = [(page, name) for page, name in NAV.items() if self._offers(page)]
        grades = [f"{criterion.grade:g}" for criterion in session.offered]
        return {
            **base_values(),
            "link": link,
            "nav": nav,
            "here": path,
            "path": path,
            "kept": kept_params,
            "view_kept": view_params,
            "chooser": chooser,
            "said": _view_in_words(view),
            "assets": self.assets,
            "static": self.static,
            "write_secret": self.write_secret,
            "data_hash": data,
            "seq": session.seq,
            "made": session.work.done,
            "other_data": other_data,
            "measure": view.name,
            "a_name": view.a.name,
            "b_name": b_name,
            "can_judge": self.can_judge,
            "grades": grades,
            "footer": f"{count(len(session.queries), 'query')}, convention {session.rules.name}. "
            "Numbers are those of the command line.",
        }

    def links(self, view: View) -> Links:
        """Addresses that keep the view."""
        return Links(self.session, view)

    def _offers(self, path: str) -> bool:
        if path == "/history":
            return self.history is not None and not self.static
        if path == "/judge":
            return self.can_judge
        return path in ("/", "/queries", "/notes")

    def view(self, params: Mapping[str, str]) -> View:
        """The measure and the systems of an address."""
        return self.session.view(params.get("m") or None, self._system(params, "a"), self._system(params, "b"))

    def _system(self, params: Mapping[str, str], key: str) -> str | None:
        """The name of a system in an address; an unknown spelling as it is, so that an error can name it."""
        spelling = params.get(key)
        if not spelling:
            return None
        return addresses.find_id(spelling, [system.name for system in self.session.systems]) or spelling

    # Pages, as HTML.

    def overview(self, params: Mapping[str, str]) -> str:
        """The first page; as long as nothing is judged, what changed."""
        view = self.view(params)
        if not self.session.is_judged:
            return self._unjudged(params, view)
        frame = self.frame(view, "/", params)
        against = ids.show(view.a.name)
        forms = [("md", "Markdown"), ("csv", "CSV"), ("tex", "LaTeX")]
        if view.b:
            against = f"{ids.show(view.b.name)} against {against}"
            forms.append(("svg", "SVG"))
        heading = against
        if self.session.title:
            heading = f"{visible(self.session.title)}: {against}"

        values = overview_page.values(self.session, view, frame["link"], self.wait)
        more = {"title": against, "heading": heading, "forms": forms}
        return render("overview.html.jinja", {**frame, **values, **more})

    def queries(self, params: Mapping[str, str]) -> str:
        """The list of queries; as long as nothing is judged, those that moved most first."""
        view = self.view(params)
        if not self.session.is_judged:
            return self._moved(params, view)
        frame = self.frame(view, "/queries", params)
        values = queries_page.page(self.session, view, dict(params), frame["link"])
        state = {name: text for name, text in params.items() if name not in ("m", "a", "b", "page", "data")}
        more = {"state": state, "title": "Queries"}
        return render("queries.html.jinja", {**frame, **values, **more})

    def _unjudged(self, params: Mapping[str, str], view: View) -> str:
        """What changed between unjudged runs."""
        frame = self.frame(view, "/", params)
        values = unjudged_page.values(self.session, view, frame["link"], wait=self.wait is None)
        ladder = {}
        if values["moved"]:
            ladder = query_page.values(self.session, view, values["moved"][0]["query"])
        return render("unjudged.html.jinja", {**frame, **ladder, **values})

    def _moved(self, params: Mapping[str, str], view: View) -> str:
        """All queries of unjudged runs."""
        frame = self.frame(view, "/queries", params)
        values = unjudged_page.list_values(self.session, view, params, wait=self.wait is None)
        return render("moved.html.jinja", {**frame, **values, "title": "Queries"})

    def _texts(self, query: str, params: Mapping[str, str]) -> str:
        """One question of texts."""
        view = self.view(params)
        shown = texts_page.values(self.session, view, query)
        frame = self.frame(view, "/query", params)
        title = (shown["text"] or ids.show(query))[:120]
        return render("texts.html.jinja", {**frame, **shown, "title": title, "here": "/queries"})

    def query_values(self, params: Mapping[str, str], query: str) -> dict[str, Any]:
        """The values of a query's page."""
        view = self.view(params)
        start = min(addresses.positive_number(params, "from"), 91)
        frame = self.frame(view, "/query", params)
        shown = query_page.values(self.session, view, query, start, bool(params.get("ideal")))
        title = shown["text"] or ids.show(query)
        more = {
            "slices": self._slices(query, frame["link"]),
            "title": title[:120],
            "text_shown": shown["text"],
            "here": "/queries",
            "before": {"a": "", "b": ""},
        }
        offered = [(criterion.grade, criterion.name) for criterion in self.session.offered]

        return {**frame, **shown, **more, "offered": offered}

    def _slices(self, query: str, link: Links) -> list[tuple[str, str, str]]:
        """The slices of a query: attribute, value and address."""
        number = self.session.numbers[query]
        slices = []
        for attribute, parts in self.session.groups.items():
            label = attribute
            if attribute == "length":
                label = "words"
            for name, mask in parts.items():
                if mask[number]:
                    slices.append((label, name, link("/queries", slice=f"{attribute}:{name}")))
        return slices

    def query(self, params: Mapping[str, str], query: str | None = None) -> str:
        """The page of a query, which an address names unless its id is an argument."""
        if query is None:
            query = self.find_query(params.get("id", ""))
        if not self.session.has_rankings:
            return self._texts(query, params)
        return render("query.html.jinja", self.query_values(params, query))

    def find_query(self, spelling: str) -> str:
        """The query that an address names; raise an error with a similar id if there is none."""
        query = addresses.find_id(spelling, self.session.numbers)
        if query is None:
            near = did_you_mean(spelling, self.session.queries[:20_000])
            raise InputError(f"no query {ids.show(spelling)}", hint=near, code="no-query")
        return query

    def doc(self, params: Mapping[str, str], template: str = "doc.html.jinja") -> str:
        """The whole text of a document."""
        query = None
        if params.get("query"):
            query = self.find_query(params["query"])

        spelling = params.get("id", "")
        doc = addresses.find_id(spelling, doc_page.known_documents(self.session, query))
        is_plain = query is None and not spelling.startswith("~")
        if doc is None and is_plain and self.session.texts.get(spelling):
            doc = spelling
        if doc is None:
            raise InputError(f"no document {ids.show(spelling)}", hint="Open it from a query.", code="no-doc")

        return self.doc_of(doc, query, params, template)

    def doc_of(self, doc: str, query: str | None, params: Mapping[str, str], template: str = "doc.html.jinja") -> str:
        """The page of a document that is known by its id."""
        view = self.view(params)
        frame = self.frame(view, "/doc", params)
        values = doc_page.values(self.session, view, doc, query, addresses.positive_number(params, "piece"))
        title = "".join(part.text for part in values["heading"])
        return render(template, {**frame, **values, "title": title[:120], "here": ""})

    def notes(self, params: Mapping[str, str]) -> str:
        """Notes and conventions."""
        view = self.view(params)
        frame = self.frame(view, "/notes", params)
        return render("notes.html.jinja", {**frame, **notes_page.values(self.session, frame["link"]), "title": "Notes"})

    def failed(self, error: GoldrankError) -> str:
        """A page with an error; the other pages work."""
        frame = self.frame(self.session.view(), "", {})
        return render("error.html.jinja", {**frame, "title": "Not found", "what": error.what, "hint": error.hint or ""})

    def etag(self, path: str, query: bytes) -> str:
        """A text that changes whenever the page does; judgements of other processes are read first."""
        s = self.session
        if self.judging is not None:
            self.judging.look()
        state = (s.known_hash, s.seq, s.verdicts.seq, s.work.done, s.texts.state, __version__, assets_hash())
        known = repr((state, self.write_secret, path)).encode()
        return f'"{hashlib.blake2b(known + query, digest_size=12).hexdigest()}"'


def page_route(explorer: Explorer, path: str, make: Callable[[Mapping[str, str]], str]) -> Route:
    """The route of a page, with an ETag, by which it is cached, and with an error page for what is not found.

    A plain function runs in a thread: a slow page does not stop the others.
    """
    cache: dict[str, str] = {}

    def answer(request: Request) -> Response:
        query = request.scope["query_string"]
        # The state before the page is made: if it changes meanwhile, the next request makes the page again.
        etag = explorer.etag(path, query)
        headers = {"cache-control": "private, no-cache", "etag": etag}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)

        text = cache.get(etag)
        if text is None:
            try:
                text = make(addresses.parsed(query))
            except GoldrankError as error:
                shown = explorer.failed(error)
                return Response(shown, 404, media_type="text/html", headers={"cache-control": "no-store"})
            while len(cache) >= MOST_CACHED:
                cache.pop(next(iter(cache), ""), None)
            cache[etag] = text

        return Response(text, media_type="text/html", headers=headers)

    return Route(path, answer, methods=["GET"])


def _inline(answer: Callable[[Request], Response]) -> Handler:
    """A handler that runs in the loop: for answers that need no computation."""

    async def handler(request: Request) -> Response:
        return answer(request)

    return handler


def routes(explorer: Explorer) -> list[Route]:
    """All addresses that are read."""
    pages = {
        "/": explorer.overview,
        "/queries": explorer.queries,
        "/query": explorer.query,
        "/doc": explorer.doc,
        "/notes": explorer.notes,
        "/part/doc": lambda params: explorer.doc(params, "doc_part.html.jinja"),
    }
    all_routes = [page_route(explorer, path, make) for path, make in pages.items()]

    def numbers(request: Request) -> Response:
        session = explorer.session
        if explorer.judging is not None:
            explorer.judging.look()
        state = {"seq": session.seq, "data": session.data_hash, "made": session.work.done}
        return JSONResponse(state, headers={"cache-control": "no-store"})

    def take_away(request: Request) -> Response:
        params = addresses.parsed(request.scope["query_string"])
        form = request.path_params["form"]
        try:
            text, kind = take.written(explorer, form, params)
        except GoldrankError as error:
            return Response(str(error), 404, media_type="text/plain")
        name = f"goldrank.{form}"
        return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})

    all_routes += [
        *_always(),
        Route("/api/numbers", numbers, methods=["GET"]),
        Route("/take.{form}", take_away, methods=["GET"]),
    ]
    return all_routes


def _always() -> list[Route]:
    """Addresses that every server has."""

    def give_asset(request: Request) -> Response:
        name = request.path_params["name"]
        if request.path_params["hash"] != assets_hash() or name not in (*ASSETS, "icon.svg"):
            return Response("There is no such file.", 404, media_type="text/plain")
        kind = TYPES["." + name.rpartition(".")[2]]
        return Response(asset(name), media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"})

    return [
        Route("/assets/{hash}/{name}", _inline(give_asset), methods=["GET"]),
        Route("/healthz", _inline(lambda _: Response("ok\n", media_type="text/plain")), methods=["GET"]),
        Route("/favicon.ico", _inline(lambda _: Response(status_code=204)), methods=["GET"]),
    ]


def history_application(
    path: str, rules: str | None, token: str | None, port: int, hosts: Collection[str] | None
) -> Guard:
    """The pages of a history alone, behind a gate."""
    from goldrank.explorer.history_page import HistoryPages, history_routes

    secret = new_secret()

    def frame() -> dict[str, Any]:
        return {**base_values(), "write_secret": secret, "nav": [("/history", NAV["/history"])]}

    app = Starlette(routes=[*_always(), *history_routes(HistoryPages(path, frame, rules), alone=True)])
    return Guard(app, token, f"goldrank_{port}", secret, hosts)


def application(explorer: Explorer, token: str | None, port: int, hosts: Collection[str] | None) -> Guard:
    """The application behind its gate."""

    async def missing(request: Request, error: Exception) -> Response:
        no_page = InputError("there is no such page", hint="The pages are in the bar above.")
        return Response(explorer.failed(no_page), 404, media_type="text/html")

    async def broken(request: Request, error: Exception) -> Response:
        text = f"This page failed: {type(error).__name__}. That is a bug of goldrank; the other pages work.\n"
        return Response(text, 500, media_type="text/plain")

    more = []
    if explorer.history is not None:
        from goldrank.explorer.history_page import HistoryPages, history_routes

        def frame() -> dict[str, Any]:
            return explorer.frame(explorer.session.view(), "/history", {})

        more = history_routes(HistoryPages(explorer.history, frame, explorer.rules))

    handlers: Any = {404: missing, 500: broken}
    app = Starlette(routes=[*routes(explorer), *judge_page.routes(explorer), *more], exception_handlers=handlers)
    return Guard(app, token, f"goldrank_{port}", explorer.write_secret, hosts)
