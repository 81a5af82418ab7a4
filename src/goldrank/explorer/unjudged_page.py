"""The first page without judgements: how much changed, which queries moved, and what to judge first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from goldrank.base import ids
from goldrank.data.table import count
from goldrank.explorer.addresses import positive_number
from goldrank.explorer.overview_page import minus
from goldrank.explorer.page_numbers import signed, value
from goldrank.explorer.query_page import titled
from goldrank.explorer.session import QUEUE, Session, View
from goldrank.explorer.snippets import visible
from goldrank.explorer.unjudged_session import BUDGET, UnjudgedSession

if TYPE_CHECKING:
    from goldrank.retrieval.churn import Churn, JudgeNext, QueryChurn

FIRST = 8
LISTED = 6
"""Documents to judge that are shown at once; the others of the 40 are folded."""
PER_PAGE = 100
BAR = 96
TITLE = 80
HISTOGRAM = (300, 110)
"""Width and height of the bars."""


def values(session: Session, view: View, link: Any, wait: bool) -> dict[str, Any]:
    """The values of the template."""
    unjudged = cast(UnjudgedSession, session)
    names = [ids.show(system.name) for system in view.systems]
    shown: dict[str, Any] = {
        "title": " against ".join(reversed(names)),
        "heading": f"{visible(session.title)}: " * bool(session.title) + _heading(names),
        "under": f"{count(len(session.queries), 'query')}, no judgements.",
        "preparing": False,
        "facts": [],
        "moved": [],
        "to_judge": [],
        "more_to_judge": [],
        "judge_of": 0,
        "steps": [],
        "histogram": None,
        "slices": [],
        "remarks": [],
        "budget": BUDGET,
        "same": False,
        "lead": "Nothing is judged, so it is not known how good this is.",
        "style": "judge",
        "chip": "judge first",
        "standing": [],
        "begin": "Begin to judge",
        "so_far": session.so_far(view),
    }
    if view.b is None:
        shown["facts"] = _facts_of_one(unjudged, view)
        return shown
    if not _is_ready(unjudged, view, wait):
        return {**shown, "preparing": True}

    churn = unjudged.churn(view)
    judged = unjudged.judged_queries
    left = [pair for pair in churn.judge_first(QUEUE) if pair.doc not in judged.get(pair.query, {})]
    pairs = left[:BUDGET]
    rows = [_judging_row(session, churn, pair) for pair in pairs]
    moved = churn.moved_most(FIRST)
    return {
        **shown,
        **_standing(unjudged, view, churn),
        "under": f"{count(len(churn), 'query')}, first {churn.k} results of each.",
        "facts": facts(churn),
        "moved": [_moved_row(session, change) for change in moved],
        "to_judge": rows[:LISTED],
        "more_to_judge": rows[LISTED:],
        "judge_of": len({pair.query for pair in pairs}),
        "budget": len(pairs),
        "steps": churn.judging_steps,
        "histogram": _histogram(churn),
        "slices": churn.slices,
        "remarks": _remarks(churn),
        "same": not moved,
    }


def _standing(session: UnjudgedSession, view: View, churn: Churn) -> dict[str, Any]:
    """What the judgements of now say about A and B: the first sentence of the page and the lines below it."""
    judged = churn.judged(session.judged_queries, max(criterion.grade for criterion in session.offered))
    pair = session.decision(view)
    if not churn.judge_first(1):
        return {"lead": "Both runs have the same first results: there is nothing to judge between them."}
    if pair is None:
        begin = f"Judge these {len(churn.judge_first(BUDGET))} first"
        return {"begin": begin, "lead": "Nothing is judged, so it is not known which is better. This is what changed."}

    certain = "can still turn it round, if they all are against it"
    if judged.is_decided:
        certain = "cannot turn it round"
    ends = f"{signed(judged.low)} to {signed(judged.high)}"
    lines = [
        f"{session.so_far(view)} {minus(' '.join(pair.reasons))}",
        f"Of the documents that tell A from B, {judged.judged:,} are judged; the {judged.open:,} others {certain}: "
        f"the sums of DCG@{churn.k} differ by {signed(judged.difference)} on average, at the end by {ends}.",
    ]
    style = pair.word.partition(" ")[0]
    return {"begin": "Judge on", "lead": minus(pair.sentence), "style": style, "chip": pair.word, "standing": lines}


def list_values(session: Session, view: View, params: Mapping[str, str], wait: bool) -> dict[str, Any]:
    """All queries, those that moved most first."""
    unjudged = cast(UnjudgedSession, session)
    shown: dict[str, Any] = {"rows": [], "preparing": False, "whole": len(session.queries), "before": 0, "after": 0}
    start = positive_number(params, "from")
    if view.b is None:
        queries = session.queries[start - 1 : start - 1 + PER_PAGE]
        rows = [{"query": query, "text": session.shown(query), "results": _results(view, query)} for query in queries]
    elif not _is_ready(unjudged, view, wait):
        return {**shown, "preparing": True}
    else:
        churn = unjudged.churn(view)
        order = session.loss_order(view)[0].tolist()
        chosen = [session.queries[i] for i in order]
        if not wait:
            chosen = chosen[start - 1 : start - 1 + PER_PAGE]
        rows = [_moved_row(session, churn[query]) for query in chosen if query in churn]

    if start > 1:
        shown["before"] = max(1, start - PER_PAGE)
    if start - 1 + PER_PAGE < len(session.queries) and not wait:
        shown["after"] = start + PER_PAGE
    return {**shown, "rows": rows}


def _heading(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]}, without judgements"
    return f"{names[1]} (B) against {names[0]} (A), without judgements"


def _is_ready(session: UnjudgedSession, view: View, wait: bool) -> bool:
    """Whether it is known what changed; with many queries a worker finds it out."""
    if session.is_small or wait:
        session.churn(view)
        return True
    key = ("churn", *view.key)
    session.work.ask(key, lambda: session.churn(view))
    return session.work.is_made(key)


def _results(view: View, query: str) -> int:
    return int(view.a.original.placements.retrieved[view.a.numbers[query]])


def _facts_of_one(session: UnjudgedSession, view: View) -> list[dict[str, str]]:
    retrieved = view.a.original.placements.retrieved
    empty = int((retrieved == 0).sum())
    return [
        _fact("queries", f"{len(session.queries):,}", ""),
        _fact("results of a query", f"{np.median(retrieved):g}", "in the middle"),
        _fact("nothing returned", f"{empty:,}", ""),
    ]


def _fact(name: str, number: str, small: str) -> dict[str, str]:
    return {"name": name, "number": number, "small": small}


def facts(churn: Churn) -> list[dict[str, str]]:
    """Five numbers that say how much changed."""
    total = len(churn)
    changed_first = sum(change.first_changed for change in churn.changes)
    same = sum(change.before == change.after for change in churn.changes)
    alike = sum(change.overlap == 1 for change in churn.changes)
    nothing = [sum(not docs for docs in side) for side in _rankings(churn)]
    sample = ""
    if churn.vanished:
        sample = ids.samples(churn.vanished)
    listed = [
        _fact("queries with another first result", f"{changed_first:,} of {total:,}", f"{churn.first_changed:.0%}"),
        _fact(
            f"shared in the first {churn.k}",
            f"{churn.overlap:.0%}",
            f"{count(alike, 'query')} share all; {churn.churn:.1%} churn",
        ),
        _fact("same results in the same order", f"{same:,} of {total:,}", f"first {churn.k}"),
        _fact("alike (RBO, p = 0.9)", value(churn.rbo), "1 is the same ranking"),
        _fact("nothing returned", f"A {nothing[0]:,}, B {nothing[1]:,}", sample),
    ]
    if churn.latency is not None:
        before, after = churn.latency.before[1], churn.latency.after[1]
        listed.append(_fact("slow queries (p95)", f"{before:,.1f} to {after:,.1f} ms", _ratio(churn)))
    return [{name: text.replace("%", "\u00a0%") for name, text in fact.items()} for fact in listed]


def _ratio(churn: Churn) -> str:
    latency = churn.latency
    assert latency is not None
    return f"{latency.ratio:.2f} times on average ({latency.interval.low:.2f} to {latency.interval.high:.2f})"


def _rankings(churn: Churn) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    return [change.before for change in churn.changes], [change.after for change in churn.changes]


def _remarks(churn: Churn) -> list[str]:
    remarks = []
    if churn.failed:
        listed = Counter(churn.failed.values()).most_common(4)
        reasons = ", ".join(f"{ids.show(reason)} {times:,}" for reason, times in listed)
        remarks.append(f"{count(len(churn.failed), 'query')} failed ({reasons}): they are in no figure.")
    lacking = sum(bool(change.lacking) for change in churn.changes)
    if lacking:
        remarks.append(f"{count(lacking, 'query')} are in one run only.")
    shorter = sum(change.shorter_by > 0 for change in churn.changes)
    if shorter:
        remarks.append(f"{count(shorter, 'query')} have fewer results in all than before.")
    return remarks


def _moved_row(session: Session, change: QueryChurn) -> dict[str, Any]:
    longer = max(len(change.before), len(change.after))
    return {
        "query": change.query,
        "text": session.shown(change.query),
        "shared": f"{len(change.before) - len(change.went)} of {longer}",
        "rbo": value(change.rbo),
        "width": round(BAR * change.rbo, 1),
        "moved": _moved_words(change),
    }


def _moved_words(change: QueryChurn) -> str:
    """What happened to a query, in a few words."""
    if change.lacking == "before":
        return "only B has this query"
    if change.lacking == "after":
        return "only A has this query"
    if change.vanished:
        return "nothing is returned now"
    if change.before == change.after:
        return "nothing in the first results"

    words = []
    if change.first_changed and change.before and change.after:
        words.append(_first_words(change))
    if change.came:
        words.append(f"{len(change.came)} new")
    elif change.went:
        words.append(f"{len(change.went)} left")
    return ", ".join(words) or "another order"


def _first_words(change: QueryChurn) -> str:
    first = change.before[0]
    if first in change.after:
        return f"first fell to {change.after.index(first) + 1}"
    return "first fell out"


def _judging_row(session: Session, churn: Churn, pair: JudgeNext) -> dict[str, Any]:
    document = session.texts.get(pair.doc)
    title = churn.titles.get(pair.doc, "")
    if document is not None:
        title = titled(document)[0] or document.line(TITLE)
    return {
        "query": pair.query,
        "doc": pair.doc,
        "title": visible(title)[:TITLE] or ids.show(pair.doc),
        "query_text": session.shown(pair.query)[:TITLE],
        "where": _where(pair),
        "worth": f"±{abs(pair.weight) / len(churn):.4f}",
    }


def _where(pair: JudgeNext) -> str:
    if pair.rank_before is None:
        return f"new at {pair.rank_after} in B"
    if pair.rank_after is None:
        return f"{pair.rank_before} in A, left"
    return f"{pair.rank_before} in A, {pair.rank_after} in B"


def _histogram(churn: Churn) -> dict[str, Any]:
    """How many queries share how many of their first results."""
    shared = Counter(min(churn.k, len(change.before) - len(change.went)) for change in churn.changes)
    width, height = HISTOGRAM
    most = max(shared.values())
    step = width / (churn.k + 1)
    bars = []
    for number in range(churn.k + 1):
        style = "fill-even"
        if number == churn.k:
            style = "fill-accent"
        times = shared.get(number, 0)
        bar_height = round((height - 16) * times / most, 1)
        bars.append(
            {
                "number": number,
                "times": times,
                "middle": round((number + 0.5) * step, 1),
                "y": round(height - bar_height, 1),
                "path": f"M{number * step + 1:.1f} {height}v-{bar_height}h{step - 2:.1f}v{bar_height}z",
                "class": style,
            }
        )
    return {"bars": bars, "width": width, "height": height, "every": 1 + churn.k // 20, "k": churn.k}
