"""Pages of a history and their routes: measures over time, two records compared, a new baseline."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank.base.errors import GoldrankError, OptionError
from goldrank.base.packages import needed
from goldrank.comparison.build import compare
from goldrank.data.scores import Scores
from goldrank.data.table import Cells, Head, Part, Sentence, Table
from goldrank.explorer import addresses
from goldrank.explorer.addresses import address, positive_number
from goldrank.explorer.overview_page import minus
from goldrank.explorer.page_numbers import signed, value, way
from goldrank.explorer.pages import render
from goldrank.explorer.snippets import visible
from goldrank.gating import verdict_report as gate_report
from goldrank.gating.decide import gate
from goldrank.gating.rules import Rules
from goldrank.gating.verdict import Verdict
from goldrank.history import trend_chart
from goldrank.history import trend_report as trend
from goldrank.history.comparing import record_scores
from goldrank.history.history_file import can_be_written
from goldrank.history.over_time import TrendRequest, trend_of
from goldrank.history.store import History
from goldrank.history.trends import TrendChange
from goldrank.report import comparison as comparison_report
from goldrank.report import separated

with needed("starlette"):
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, RedirectResponse, Response
    from starlette.routing import Route

MOST_RECORDS = 500
MOST_MEASURES = 12
MOST_QUERIES = 200
MOST_GATED = 20
"""The newest records of a line that rules decide about."""


@dataclass(frozen=True)
class HistoryPages:
    """The pages of one history, in the frame of a session or alone."""

    path: str
    frame: Callable[[], dict[str, Any]]
    rules: str | None = None
    """A file of rules, which decide about records."""

    def open(self, write: bool = False) -> History:
        """The history; it can be written if its file can, or if it must be."""
        if write or can_be_written(self.path):
            return History(self.path, mode="a")
        return History(self.path, mode="r")

    def _read_rules(self) -> Rules:
        """The rules, read each time, so that a changed file counts."""
        return Rules.load(str(self.rules))

    def history(self, params: Mapping[str, str]) -> str:
        """Measures over time."""
        measure_asked, label = params.get("m") or None, params.get("line") or None
        with self.open() as history:
            measured = history.trend(measure_asked, label=label)
            details = measured.lines
            lines = [detail.line for detail in details]
            baselines = measured.baselines
            verdicts: dict[int, Verdict | str] = {}
            if self.rules:
                newest = [record.id for line in lines for record in line.records[::-1][:MOST_GATED]]
                verdicts = {number: self._gated(history, number, baselines) for number in newest}
            names = list(dict.fromkeys(name for r in history.records() for name in r.mean))[:MOST_MEASURES]
            labels = list(dict.fromkeys(record.label or record.run for record in history.records()))

        sentences: list[Part] = [
            Sentence(minus(f"{line.name}: {change.words}"), trend.change_style(change))
            for line in lines
            for change in line.changes
        ]
        shown = [
            {
                "name": detail.line.name,
                "why": detail.line.new_because,
                "remarks": trend.remarks(detail.line),
                "records": _records(detail, baselines, verdicts),
            }
            for detail in details
        ]

        measure = lines[0].measure
        measures = [(name, address("/history", {"m": name, "line": label}), name == measure) for name in names]
        line_links = [(name, address("/history", {"m": measure_asked, "line": name}), name == label) for name in labels]
        values = {
            "title": f"History: {measure}",
            "chart": trend_chart.detailed(details, trend_chart.WIDE).inline(),
            "narrow": trend_chart.detailed(details, trend_chart.NARROW).inline(),
            "lines": shown,
            "measures": measures,
            "labels": line_links,
            "all_lines": address("/history", {"m": measure_asked}),
            "method": trend.method(measured.statistics.alpha),
            "measure_name": measure,
            "gated": bool(self.rules),
        }
        return render("history.html.jinja", {**self.frame(), **values, "here": "/history", "said_parts": sentences})

    def records(self, params: Mapping[str, str]) -> str:
        """Two records as a comparison, query by query."""
        refs = [positive_number(params, name, 0) for name in "ab"]
        if not all(refs) or refs[0] == refs[1]:
            raise OptionError("two different records are compared, by their numbers", hint="/records?a=1&b=2")

        with self.open() as history:
            records = [history[ref] for ref in refs]
            scores = record_scores(history, refs)

        comparison = compare(scores)
        parts: list[Part] = list(comparison_report.parts(comparison))
        measure = params.get("m") or comparison.primary
        values = comparison.values[comparison.measure(measure)]
        delta = values[1] - values[0]
        better = -1.0
        if comparison.higher_is_better(comparison.measure(measure)):
            better = 1.0

        losses_first = np.nan_to_num(delta * better, nan=np.inf)
        rows = []
        for i in np.argsort(losses_first, kind="stable").tolist()[:MOST_QUERIES]:
            row = {"query": comparison.queries[i], "a": value(float(values[0][i])), "b": value(float(values[1][i]))}
            rows.append({**row, "delta": signed(float(delta[i])), "way": way(float(delta[i]), better)})
        shown = {
            "title": f"Records {refs[0]} and {refs[1]}",
            "records": [trend.brief(record) for record in records],
            "parts": parts,
            "verdict": self._verdict(scores),
            "rows": rows,
            "more": max(0, len(delta) - len(rows)),
            "names": list(comparison.runs),
            "measure": measure,
        }
        return render("records.html.jinja", {**self.frame(), **shown, "here": "/history"})

    def _gated(self, history: History, number: int, baselines: Mapping[str, int]) -> Verdict | str:
        """The verdict on a record, compared with the newest baseline before it; or why there is no verdict."""
        earlier = [record for record in baselines.values() if record < number]
        try:
            if not earlier:
                (scores,) = record_scores(history, [number]).values()
                return gate(scores, self._read_rules(), None)
            scores, baseline = record_scores(history, [number, max(earlier)]).values()
            return gate(scores, self._read_rules(), baseline)
        except GoldrankError as error:
            return error.what

    def _verdict(self, scores: Mapping[str, Scores]) -> list[Part]:
        """The verdict of the rules on the second of two records, with the first as the baseline."""
        if not self.rules:
            return []
        first, second = scores.values()
        try:
            return list(gate_report.parts(gate(second, self._read_rules(), first)))
        except GoldrankError as error:
            return [Sentence(f"The gate cannot decide: {error.what}.", "warning")]

    def set_baseline(self, request: Any) -> dict[str, Any]:
        """Give a record a name; the name is typed twice, so that no slip changes the baseline of gates."""
        if not isinstance(request, Mapping):
            raise OptionError("a baseline is a JSON object")
        name, confirmed, record = request.get("name"), request.get("confirm"), request.get("record")
        if not isinstance(name, str) or not name.strip() or name != confirmed:
            raise OptionError("type the baseline's name to confirm it")
        if not isinstance(record, int) or isinstance(record, bool):
            raise OptionError("the record is not a number")

        with self.open(write=True) as history:
            history.set_baseline(name, record)
            return {"name": name, "record": history.baselines()[name]}


def _records(details: Any, baselines: Mapping[str, int], verdicts: Mapping[int, Verdict | str]) -> list[dict[str, Any]]:
    """The records of a line, newest first, each with the one before it to compare with."""
    line = details.line
    named: dict[int, list[str]] = {}
    for name, number in baselines.items():
        named.setdefault(number, []).append(name)

    changed = {change.record.id: change for change in line.changes}
    rows = []
    for i, record in enumerate(line.records):
        delta, compare_address = "", None
        if i > 0:
            delta = signed(line.values[i] - line.values[i - 1])
            pair = {"a": line.records[i - 1].id, "b": record.id, "m": line.measure}
            compare_address = address("/records", pair)
        interval = details.intervals[i]
        rows.append(
            {
                "id": record.id,
                "when": trend.when(record),
                "commit": trend.commit_of(record),
                "run": visible(record.run),
                "value": value(line.values[i]),
                "interval": f"{value(interval.low)} to {value(interval.high)}",
                "delta": delta,
                "change": _change_word(changed.get(record.id)),
                "compare": compare_address,
                "baselines": named.get(record.id, []),
                "note": visible(record.note or ""),
                "verdict": _verdict_words(verdicts.get(record.id)),
            }
        )

    return rows[::-1][:MOST_RECORDS]


def _change_word(change: TrendChange | None) -> str:
    if change is None:
        return ""
    if change.better:
        return "better"
    return "worse"


def _verdict_words(verdict: Verdict | str | None) -> tuple[str, str, str]:
    """Class, word and sentence of a verdict."""
    if verdict is None or isinstance(verdict, str):
        return "", "–", visible(verdict or "")
    return {"pass": "better", "fail": "worse"}.get(verdict.status, ""), verdict.status, visible(verdict.words)


def table_of(pages: HistoryPages, params: Mapping[str, str]) -> Table:
    """The records of a measure as a table: for CSV and Markdown."""
    request = TrendRequest(label=params.get("line") or None, detailed=False)
    with pages.open() as history:
        measured = trend_of(history, params.get("m") or None, request)
    lines = [detail.line for detail in measured.lines]
    rows: list[Cells] = [
        [line.name, str(r.id), trend.when(r), line.values[i]] for line in lines for i, r in enumerate(line.records)
    ]
    return Table([*Head.names("line"), *Head.texts("record", "time"), *Head.numbers(measured.measure)], rows)


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
            body = json.loads(await request.body())
            return JSONResponse(await run_in_threadpool(pages.set_baseline, body))
        except GoldrankError as error:
            return JSONResponse({"what": error.what, "hint": error.hint}, 400)
        except (ValueError, RecursionError):
            return JSONResponse({"what": "This is not JSON."}, 400)

    def csv(request: Request) -> Response:
        params = addresses.parsed(request.scope["query_string"])
        try:
            return Response(separated.write(table_of(pages, params)), media_type="text/csv")
        except GoldrankError as error:
            return Response(str(error), 404, media_type="text/plain")

    routes = [
        Route("/history", page(pages.history), methods=["GET"]),
        Route("/records", page(pages.records), methods=["GET"]),
        Route("/history.csv", csv, methods=["GET"]),
        Route("/api/baseline", baseline, methods=["POST"]),
    ]
    if alone:
        routes.append(Route("/", lambda request: RedirectResponse("/history"), methods=["GET"]))
    return routes
