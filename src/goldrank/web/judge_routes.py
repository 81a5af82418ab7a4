"""Routes of judging: pages for judges, and the few addresses that write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from goldrank.errors import GoldrankError
from goldrank.packages import needed
from goldrank.web import addresses, judge_page
from goldrank.web.judging import Judging, RefusedError
from goldrank.web.pages import render

with needed("starlette"):
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

if TYPE_CHECKING:
    from goldrank.web.app import Explorer


def routes(explorer: Explorer) -> list[Route]:
    """Nothing if nobody may judge."""
    judging = explorer.judging
    if judging is None:
        return []

    def page(template: str, values: Callable[[Mapping[str, str]], dict[str, Any]]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            judging.look()
            try:
                text = render(template, values(addresses.parsed(request.scope["query_string"])))
            except GoldrankError as error:
                return Response(explorer.failed(error), 404, media_type="text/html")
            return Response(text, media_type="text/html", headers={"cache-control": "no-store"})

        return answer

    def judge(params: Mapping[str, str]) -> dict[str, Any]:
        return judge_values(explorer, judging, params)

    def judges(params: Mapping[str, str]) -> dict[str, Any]:
        frame = explorer.frame(explorer.view(params), "/judge", params)
        return {**frame, **judge_page.judges(explorer.session, judging), "title": "Judges"}

    def conflicts(params: Mapping[str, str]) -> dict[str, Any]:
        frame = explorer.frame(explorer.view(params), "/judge", params)
        return {**frame, "found": judge_page.conflicts(explorer.session, judging), "title": "Where judges differ"}

    def query_part(request: Request) -> Response:
        """The parts of a query page that a judgement changes."""
        judging.look()
        params = addresses.parsed(request.scope["query_string"])
        try:
            seq = explorer.session.seq  # what comes while this is made is not shown for sure
            values = explorer.query_values(params)
            values["before"] = _before(explorer, judging, params, values["query"])
            parts = {name: render(f"{name}.html.jinja", values) for name in ("values", "ladder")}
        except GoldrankError as error:
            return JSONResponse({"what": error.what}, 404)
        return JSONResponse({**parts, "seq": seq}, headers={"cache-control": "no-store"})

    async def write(request: Request) -> Response:
        try:
            given = json.loads(await request.body())
        except (ValueError, RecursionError):
            return JSONResponse({"what": "This is no JSON."}, 400)
        try:
            done = await run_in_threadpool(judging.add, given)
        except RefusedError as error:
            return JSONResponse({"what": error.what, **error.more}, error.status)
        except GoldrankError as error:
            return JSONResponse({"what": error.what, "hint": error.hint, "code": error.code}, 400)
        except OSError as error:
            return JSONResponse({"what": f"Not saved: {error.strerror or error}"}, 507)
        name = str(given.get("judge") or judging.judge)
        return JSONResponse({**done, **_numbers(explorer, judging, given, name)})

    return [
        Route("/judge", page("judge.html.jinja", judge), methods=["GET"]),
        Route("/judges", page("judges.html.jinja", judges), methods=["GET"]),
        Route("/conflicts", page("conflicts.html.jinja", conflicts), methods=["GET"]),
        Route("/part/judge", page("judge_part.html.jinja", judge), methods=["GET"]),
        Route("/part/query", query_part, methods=["GET"]),
        Route("/api/judgements", write, methods=["POST"]),
    ]


def judge_values(explorer: Explorer, judging: Judging, params: Mapping[str, str]) -> dict[str, Any]:
    """What the page of judging shows."""
    view = explorer.view(params)
    judge = judging.named(params.get("judge") or judging.judge)
    blind = params.get("blind") == "1"
    query = explorer.find_query(params["query"]) if params.get("query") else None
    # A queue that takes long is made by the worker; the page says so, and comes again.
    is_ready = explorer.session.ready(view)
    item, left = judging.next(judge, view, blind, query) if is_ready else (None, 0)
    frame = explorer.frame(view, "/judge", params)
    shown = judge_page.values(explorer.session, judging, view, judge, blind, query, item, left)
    if blind:
        # A page that is blind names no system, not even in what can be chosen.
        frame |= {"chooser": None, "said": f"{view.name}, systems hidden", "a_name": "", "b_name": ""}
    return {**frame, **shown, "title": "Judge", "preparing": not is_ready, "params": dict(params)}


def _before(explorer: Explorer, judging: Judging, params: Mapping[str, str], query: str) -> dict[str, str]:
    """The query's values when the judge began, where they are others now."""
    from goldrank.web.numbers import value

    found = judging.before(params.get("judge") or judging.judge)
    view = explorer.view(params)
    shown = {"a": "", "b": ""}
    for key, system in (("a", view.a), ("b", view.b)):
        if found is not None and system is not None:
            number = explorer.session.numbers[query]
            old, new = found.values[system.name, view.name][number], system.values[view.name][number]
            shown[key] = value(float(old)) if old != new else ""
    return shown


def _numbers(explorer: Explorer, judging: Judging, given: Mapping[str, Any], judge: str) -> dict[str, Any]:
    """What moved, for the page that wrote."""
    names = {"m": given.get("m"), "a": given.get("a"), "b": given.get("b")}
    try:
        view = explorer.view({key: text for key, text in names.items() if isinstance(text, str) and text})
    except GoldrankError:
        view = explorer.session.view()
    blind = bool(given.get("blind"))
    return {"changes": judge_page.changes(explorer.session, judging, view, judge, blind)}
