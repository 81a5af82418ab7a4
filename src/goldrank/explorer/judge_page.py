"""Pages for judges: one document after the other, who judged how, where judges differ; and the routes that write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base.errors import GoldrankError
from goldrank.base.packages import needed
from goldrank.explorer import addresses, doc_page, ladder
from goldrank.explorer.judging_session import Judging, RefusedError
from goldrank.explorer.overview_page import bounds_after
from goldrank.explorer.page_numbers import grade_text, signed, value
from goldrank.explorer.pages import render
from goldrank.explorer.query_page import shown_documents
from goldrank.explorer.session import Session, View
from goldrank.explorer.snippets import visible
from goldrank.judging import coefficients as agreement

with needed("starlette"):
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

if TYPE_CHECKING:
    from goldrank.explorer.app import Explorer

NEXT = 10
"""Documents of the queue whose effect is told."""
MOST_CONFLICTS = 200


def highest(session: Session) -> float:
    """The highest grade of the scale."""
    return max(criterion.grade for criterion in session.offered)


def judge_values(explorer: Explorer, judging: Judging, params: Mapping[str, str]) -> dict[str, Any]:
    """What the page of judging shows: the document to judge, what judgements changed, and the last ones."""
    session, view = explorer.session, explorer.view(params)
    judge = judging.named(params.get("judge") or judging.judge)
    blind = params.get("blind") == "1"
    if params.get("query"):
        query = explorer.find_query(params["query"])
    else:
        query = None

    # A queue that takes long is made by the worker; the page says so, and comes again.
    is_ready = session.ready(view)
    item, left = judging.next(judge, view, blind, query) if is_ready else (None, 0)
    frame = explorer.frame(view, "/judge", params)
    if blind:
        # A page that is blind names no system, not even in what can be chosen.
        frame |= {"chooser": None, "said": f"{view.name}, systems hidden", "a_name": "", "b_name": ""}

    done = judging.done(judge)
    seconds = judging.median_seconds(judge)
    shown: dict[str, Any] = {}
    if item is not None:
        shown = doc_page.values(session, view, item.doc, item.query)
        shown |= {
            "knew": judging.last_seq(judge, item.query, item.doc),
            "ranks": [] if blind else shown["ranks"],
            "worth": "" if blind else signed(item.move),
        }

    return {
        **frame,
        **shown,
        "title": "Judge",
        "preparing": not is_ready,
        "params": dict(params),
        "item": item,
        "judge": judge,
        "blind": blind,
        "only": query,
        "left": left,
        "done": done,
        "whole": done + left,
        "progress": round(300 * done / max(1, done + left), 1),
        "seconds": None if seconds is None else f"{seconds:.0f} s",
        "changes": changes(session, judging, view, judge, blind),
        "last": _last(session, judging, judge),
        "offered": doc_page.offered(session, highest(session)),
        "has_criteria": bool(session.criteria),
    }


def changes(session: Session, judging: Judging, view: View, judge: str, blind: bool) -> dict[str, Any]:
    """Values and bounds as they were when the judge began, and as they are."""
    before = judging.before(judge)
    rows = []
    rooms: list[tuple[float, float]] = []
    for i, system in enumerate(view.systems):
        key = (system.name, view.name)
        mean, bounds = system.mean(view.measure), system.mean_bounds(view.measure)
        if before:
            old = before.means[key]
        else:
            old = mean
        if before:
            old_bounds = before.bounds[key]
        else:
            old_bounds = bounds
        rows.append(
            {
                "name": system.name,
                "number": i,
                "old": value(old),
                "new": value(mean),
                "delta": signed(mean - old),
                "moved": mean != old,
                "bounds": f"{value(bounds[0])} to {value(bounds[1])}" if bounds else "",
                "old_bounds": f"{value(old_bounds[0])} to {value(old_bounds[1])}" if old_bounds else "",
            }
        )
        if bounds and old_bounds:
            rooms.append((old_bounds[1] - old_bounds[0], bounds[1] - bounds[0]))

    room = None
    if rooms:
        then, now = (sum(pair[i] for pair in rooms) / len(rooms) for i in (0, 1))
        after = bounds_after(session, view, NEXT)
        main = view.systems[-1].mean_bounds(view.measure)
        if after and main:
            closes = (main[1] - main[0]) - (after[1] - after[0])
        else:
            closes = None
        room = {"old": value(then), "new": value(now), "width": round(300 * min(1.0, now / then), 1) if then else 0,
                "closes": value(max(0.0, closes)) if closes is not None else ""}  # fmt: skip

    return {"rows": [] if blind else rows, "room": room, "next": NEXT}


def _last(session: Session, judging: Judging, judge: str) -> list[dict[str, Any]]:
    made = []
    for event in judging.last(judge):
        known = event.query in session.numbers
        if known:
            shown = shown_documents(session, event.query, highest(session))
        else:
            shown = None
        if shown:
            title = "".join(part.text for part in shown.title(event.doc))
        else:
            title = visible(event.doc)
        made.append(
            {
                "grade": grade_text(event.grade) if event.action == "grade" else "–",
                "grade_class": ladder.grade_class(event.grade, highest(session)) if event.action == "grade" else "g",
                "title": title[:90],
                "query": event.query,
                "query_text": session.shown(event.query)[:60],
                "action": event.action,
                "known": known,
            }
        )

    return made


def judges(session: Session, judging: Judging) -> dict[str, Any]:
    """Who judged how much, how quickly, and how alike judges are."""
    table = judging.table()
    scale = [criterion.grade for criterion in session.offered]
    rows = []
    for judge in judging.judges():
        seconds = judging.median_seconds(judge)
        grades = list(table.get(judge, {}).values())
        rows.append(
            {
                "judge": judge,
                "open": bool(judging.last(judge, 1)),
                "count": len(grades),
                "seconds": "–" if seconds is None else f"{seconds:.0f} s",
                "grades": [sum(grade == step for grade in grades) for step in scale],
            }
        )

    pairs = []
    for first, second in combinations(sorted(table), 2):
        both = sorted(table[first].keys() & table[second].keys())
        if both:
            ours, theirs = ([table[judge][pair] for pair in both] for judge in (first, second))
            every = sorted({*scale, *ours, *theirs})
            kappa = agreement.kappa(agreement.confusion(ours, theirs, every), "linear")
            pairs.append({"first": first, "second": second, "count": len(both), "kappa": value(kappa)})

    units = sorted({pair for grades in table.values() for pair in grades})
    alpha = _alpha(np.array([[grades.get(pair, np.nan) for pair in units] for grades in table.values()], float))
    return {"rows": rows, "pairs": pairs, "scale": [grade_text(step) for step in scale], "alpha": alpha,
            "conflicts": len(judging.conflicts()), "title": "Judges"}  # fmt: skip


def _alpha(grades: np.ndarray) -> str:
    if len(grades) > 1:
        alpha = agreement.alpha(grades)
    else:
        alpha = np.nan
    if np.isnan(alpha):
        return ""
    return value(alpha)


def conflicts(session: Session, judging: Judging) -> dict[str, Any]:
    """Documents on which judges differ, with both grades and comments."""
    differing = []
    top = highest(session)
    for query, doc, standing in judging.conflicts()[:MOST_CONFLICTS]:
        if query not in session.numbers:
            continue
        shown = shown_documents(session, query, top)
        given = [
            {"judge": judge, "grade": grade_text(stands.grade), "grade_class": ladder.grade_class(stands.grade, top),
             "comment": visible(stands.comment)}
            for judge, stands in sorted(standing.items())
            if stands.grade is not None
        ]  # fmt: skip
        differing.append(
            {"query": query, "doc": doc, "title": shown.title(doc), "snippet": shown.snippet(doc), "given": given,
             "query_text": session.shown(query),
             "merged": grade_text(session.judged(query).get(doc))}
        )  # fmt: skip

    return {"found": differing, "title": "Where judges differ"}


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

    def framed(make: Callable[[Session, Judging], dict[str, Any]]) -> Callable[[Mapping[str, str]], dict[str, Any]]:
        """What a page shows that depends on nothing in its address but the view."""
        return lambda params: {
            **explorer.frame(explorer.view(params), "/judge", params), **make(explorer.session, judging)
        }  # fmt: skip

    def query_part(request: Request) -> Response:
        """The parts of a query page that a judgement changes."""
        judging.look()
        params = addresses.parsed(request.scope["query_string"])
        try:
            seq = explorer.session.seq  # what comes while this is made is not shown for sure
            values = explorer.query_values(params, explorer.find_query(params.get("id", "")))
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
        Route("/judges", page("judges.html.jinja", framed(judges)), methods=["GET"]),
        Route("/conflicts", page("conflicts.html.jinja", framed(conflicts)), methods=["GET"]),
        Route("/part/judge", page("judge_part.html.jinja", judge), methods=["GET"]),
        Route("/part/query", query_part, methods=["GET"]),
        Route("/api/judgements", write, methods=["POST"]),
    ]


def _before(explorer: Explorer, judging: Judging, params: Mapping[str, str], query: str) -> dict[str, str]:
    """The query's values when the judge began, where they are others now."""
    before = judging.before(params.get("judge") or judging.judge)
    view = explorer.view(params)
    shown = {"a": "", "b": ""}
    for key, system in (("a", view.a), ("b", view.b)):
        if before is not None and system is not None:
            number = explorer.session.numbers[query]
            old, new = before.values[system.name, view.name][number], system.values[view.name][number]
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
    return {"changes": changes(explorer.session, judging, view, judge, blind)}
