"""Routes of a history."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from goldrank.errors import GoldrankError
from goldrank.packages import needed
from goldrank.report import separated
from goldrank.web import addresses
from goldrank.web.history_page import HistoryPages, table_of
from goldrank.web.pages import render

with needed("starlette"):
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, RedirectResponse, Response
    from starlette.routing import Route


def history_routes(pages: HistoryPages, alone: bool = False) -> list[Route]:
    """The addresses of a history; `alone` if there is no session beside it."""

    def page(make: Callable[[Mapping[str, str]], str]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            headers = {"cache-control": "no-store"}
            try:
                text = make(addresses.parsed(request.scope["query_string"]))
            except GoldrankError as error:
                shown = {**pages.frame(), "title": "Not found", "what": error.what, "hint": error.hint or ""}
                return Response(render("error.html.jinja", shown), 404, media_type="text/html", headers=headers)
            return Response(text, media_type="text/html", headers=headers)

        return answer

    async def baseline(request: Request) -> Response:
        try:
            given = json.loads(await request.body())
            return JSONResponse(await run_in_threadpool(pages.set_baseline, given))
        except GoldrankError as error:
            return JSONResponse({"what": error.what, "hint": error.hint}, 400)
        except (ValueError, RecursionError):
            return JSONResponse({"what": "This is no JSON."}, 400)

    def csv(request: Request) -> Response:
        params = addresses.parsed(request.scope["query_string"])
        try:
            return Response(separated.write(table_of(pages, params)), media_type="text/csv")
        except GoldrankError as error:
            return Response(str(error), 404, media_type="text/plain")

    made = [
        Route("/history", page(pages.history), methods=["GET"]),
        Route("/records", page(pages.records), methods=["GET"]),
        Route("/history.csv", csv, methods=["GET"]),
        Route("/api/baseline", baseline, methods=["POST"]),
    ]
    if alone:
        made.append(Route("/", lambda request: RedirectResponse("/history"), methods=["GET"]))
    return made
