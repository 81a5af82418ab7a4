"""Pages for judges: one document after the other, who judged how, where judges differ; and the routes that write."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base.errors import GoldrankError
from goldrank.base.packages import needed
from goldrank.data.qrels import Grade
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
"""Documents of the queue whose effect is shown."""
MOST_CONFLICTS = 200


def highest(session: Session) -> float:
    """The highest grade of the scale."""
    return max(criterion.grade for criterion in session.offered)


def judge_values(explorer: Explorer, judging: Judging, params: Mapping[str, str]) -> dict[str, Any]:
    """The values of the page of judging: the document to judge, what judgements changed, and the last ones."""
    session, view = explorer.session, explorer.view(params)
    judge = judging.named(params.get("judge") or judging.judge)
    blind = params.get("blind") == "1"
    query = None
    if params.get("query"):
        query = explorer.find_query(params["query"])

    # A queue that takes long is made by the worker; the page says so, and loads itself again.
    is_ready = session.ready(view)
    item, left = None, 0
    if is_ready:
        item, left = judging.next(judge, view, blind, query)
    frame = explorer.frame(view, "/judge", params)
    if blind:
        # A blind page names no system, not even among the choices.
        frame |= {"chooser": None, "said": f"{view.name}, systems hidden", "a_name": "", "b_name": ""}

    shown: dict[str, Any] = {}
    if item is not None:
        shown = doc_page.values(session, view, item.doc, item.query)
        shown |= {"knew": judging.last_seq(judge, item.query, item.doc), "worth": signed(item.move)}
        if blind:
            shown |= {"ranks": [], "worth": ""}

    done = judging.done(judge)
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
        "seconds": _seconds_text(judging.median_seconds(judge)),
        "changes": changes(session, judging, view, judge, blind),
        "last": _last(session, judging, judge),
        "offered": doc_page.offered(session, highest(session)),
        "has_criteria": bool(session.criteria),
    }


def changes(session: Session, judging: Judging, view: View, judge: str, blind: bool) -> dict[str, Any]:
    """Values and bounds as they were when the judge began, and as they are; none where people judge from zero."""
    if not session.is_judged:
        return {"rows": [], "room": None, "next": NEXT, "words": session.so_far(view)}

    before = judging.before(judge)
    rows = []
    old_widths: list[float] = []
    new_widths: list[float] = []
    for i, system in enumerate(view.systems):
        mean, bounds = system.mean(view.measure), system.mean_bounds(view.measure)
        old, old_bounds = mean, bounds
        if before:
            key = (system.name, view.name)
            old, old_bounds = before.means[key], before.bounds[key]
        rows.append(
            {
                "name": system.name,
                "number": i,
                "old": value(old),
                "new": value(mean),
                "delta": signed(mean - old),
                "moved": mean != old,
                "bounds": _range_text(bounds),
                "old_bounds": _range_text(old_bounds),
            }
        )
        if bounds and old_bounds:
            old_widths.append(old_bounds[1] - old_bounds[0])
            new_widths.append(bounds[1] - bounds[0])

    room = None
    if old_widths:
        old_width = sum(old_widths) / len(old_widths)
        new_width = sum(new_widths) / len(new_widths)
        room = _room(session, view, old_width, new_width)
    if blind:
        rows = []
    return {"rows": rows, "room": room, "next": NEXT, "words": ""}


def _room(session: Session, view: View, old_width: float, new_width: float) -> dict[str, Any]:
    """How wide bounds were and are, and how much of that the next judgements close."""
    width: float = 0
    if old_width:
        width = round(300 * min(1.0, new_width / old_width), 1)

    closes = ""
    after = bounds_after(session, view, NEXT)
    now = view.systems[-1].mean_bounds(view.measure)
    if after and now:
        closes = value(max(0.0, (now[1] - now[0]) - (after[1] - after[0])))
    return {"old": value(old_width), "new": value(new_width), "width": width, "closes": closes}


def _range_text(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return ""
    return f"{value(bounds[0])} to {value(bounds[1])}"


def _seconds_text(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return f"{seconds:.0f} s"


def _last(session: Session, judging: Judging, judge: str) -> list[dict[str, Any]]:
    rows = []
    for event in judging.last(judge):
        known = event.query in session.numbers
        title = visible(event.doc)
        if known:
            shown = shown_documents(session, event.query, highest(session))
            title = "".join(part.text for part in shown.title(event.doc))
        grade, grade_class = "–", "g"
        if event.action == "grade":
            grade, grade_class = grade_text(event.grade), ladder.grade_class(event.grade, highest(session))
        rows.append(
            {
                "grade": grade,
                "grade_class": grade_class,
                "title": title[:90],
                "query": event.query,
                "query_text": session.shown(event.query)[:60],
                "action": event.action,
                "known": known,
            }
        )

    return rows


def judges(session: Session, judging: Judging) -> dict[str, Any]:
    """How much and how quickly each judge judged, and how far judges agree."""
    table = judging.table()
    scale = [criterion.grade for criterion in session.offered]
    rows = []
    for judge in judging.judges():
        grades = Counter(table.get(judge, {}).values())
        rows.append(
            {
                "judge": judge,
                "open": bool(judging.last(judge, 1)),
                "count": grades.total(),
                "seconds": _seconds_text(judging.median_seconds(judge)) or "–",
                "grades": [grades[step] for step in scale],
            }
        )

    pairs = []
    for first, second in combinations(sorted(table), 2):
        shared = sorted(table[first].keys() & table[second].keys())
        if shared:
            first_grades = [table[first][pair] for pair in shared]
            second_grades = [table[second][pair] for pair in shared]
            every = sorted({*scale, *first_grades, *second_grades})
            kappa = agreement.kappa(agreement.confusion(first_grades, second_grades, every), "linear")
            pairs.append({"first": first, "second": second, "count": len(shared), "kappa": value(kappa)})

    return {
        "rows": rows,
        "pairs": pairs,
        "scale": [grade_text(step) for step in scale],
        "alpha": _alpha(table),
        "conflicts": len(judging.conflicts()),
        "title": "Judges",
    }


def _alpha(table: Mapping[str, Mapping[tuple[str, str], Grade]]) -> str:
    """Krippendorff's alpha of all judges; empty if there is no such value."""
    if len(table) < 2:
        return ""
    units = sorted({pair for grades in table.values() for pair in grades})
    matrix = np.full((len(table), len(units)), np.nan)
    for row, grades in enumerate(table.values()):
        matrix[row] = [grades.get(pair, np.nan) for pair in units]

    alpha = agreement.alpha(matrix)
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

        grades = []
        for judge, judgement in sorted(standing.items()):
            if judgement.grade is not None:
                style = ladder.grade_class(judgement.grade, top)
                row = {"judge": judge, "grade": grade_text(judgement.grade), "grade_class": style}
                grades.append({**row, "comment": visible(judgement.comment)})

        shown = shown_documents(session, query, top)
        differing.append(
            {
                "query": query,
                "doc": doc,
                "title": shown.title(doc),
                "snippet": shown.snippet(doc),
                "given": grades,
                "query_text": session.shown(query),
                "merged": grade_text(session.judged(query).get(doc)),
            }
        )

    return {"found": differing, "title": "Where judges differ"}


def routes(explorer: Explorer) -> list[Route]:
    """The addresses of judging; none if the session is read-only."""
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
        """The values of a page that depends only on the view in its address."""

        def values(params: Mapping[str, str]) -> dict[str, Any]:
            frame = explorer.frame(explorer.view(params), "/judge", params)
            return {**frame, **make(explorer.session, judging)}

        return values

    def query_part(request: Request) -> Response:
        """The parts of a query page that a judgement changes."""
        judging.look()
        params = addresses.parsed(request.scope["query_string"])
        try:
            seq = explorer.session.seq  # judgements that come meanwhile may not be in the page
            values = explorer.query_values(params, explorer.find_query(params.get("id", "")))
            values["before"] = _before(explorer, judging, params, values["query"])
            parts = {name: render(f"{name}.html.jinja", values) for name in ("values", "ladder")}
        except GoldrankError as error:
            return JSONResponse({"what": error.what}, 404)
        return JSONResponse({**parts, "seq": seq}, headers={"cache-control": "no-store"})

    async def write(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            return JSONResponse({"what": "This is not JSON."}, 400)

        try:
            done = await run_in_threadpool(judging.add, body)
        except RefusedError as error:
            return JSONResponse({"what": error.what, **error.more}, error.status)
        except GoldrankError as error:
            return JSONResponse({"what": error.what, "hint": error.hint, "code": error.code}, 400)
        except OSError as error:
            return JSONResponse({"what": f"Not saved: {error.strerror or error}"}, 507)

        name = str(body.get("judge") or judging.judge)
        return JSONResponse({**done, **_numbers(explorer, judging, body, name)})

    return [
        Route("/judge", page("judge.html.jinja", judge), methods=["GET"]),
        Route("/judges", page("judges.html.jinja", framed(judges)), methods=["GET"]),
        Route("/conflicts", page("conflicts.html.jinja", framed(conflicts)), methods=["GET"]),
        Route("/part/judge", page("judge_part.html.jinja", judge), methods=["GET"]),
        Route("/part/query", query_part, methods=["GET"]),
        Route("/api/judgements", write, methods=["POST"]),
    ]


def _before(explorer: Explorer, judging: Judging, params: Mapping[str, str], query: str) -> dict[str, str]:
    """The query's values when the judge began, where they differ from those of now."""
    before = judging.before(params.get("judge") or judging.judge)
    view = explorer.view(params)
    shown = {"a": "", "b": ""}
    if before is None:
        return shown

    number = explorer.session.numbers[query]
    for key, system in (("a", view.a), ("b", view.b)):
        if system is not None:
            old, new = before.values[system.name, view.name][number], system.values[view.name][number]
            if old != new:
                shown[key] = value(float(old))
    return shown


def _numbers(explorer: Explorer, judging: Judging, body: Mapping[str, Any], judge: str) -> dict[str, Any]:
    """The values that changed, for the page that sent the judgement."""
    names = {"m": body.get("m"), "a": body.get("a"), "b": body.get("b")}
    try:
        view = explorer.view({key: text for key, text in names.items() if isinstance(text, str) and text})
    except GoldrankError:
        view = explorer.session.view()
    blind = bool(body.get("blind"))
    return {"changes": changes(explorer.session, judging, view, judge, blind)}
