"""Several searches for a question as a page: did each search pay, and what was never found?"""

from __future__ import annotations

from typing import Any

from goldrank.agents.question import KINDS, QuestionSearches, Search, WantedThing
from goldrank.agents.searches import SearchScores
from goldrank.base import ids
from goldrank.data.table import count, note_sentences
from goldrank.report import html
from goldrank.report.numbers import number

MOST_QUESTIONS = 30


def render(result: SearchScores) -> str:
    """One file for any browser: the answer, then the questions with the largest gaps, search by search."""
    worst = sorted(result.per_question, key=lambda each: (each.union_recall, -each.wasted, each.query))
    left_out = ""
    if len(worst) > MOST_QUESTIONS:
        left_out = f"{len(worst) - MOST_QUESTIONS:,} more questions miss no more."
    values = {
        "subtitle": f"{len(worst):,} questions, {ids.show(result.run)}. Those with the largest gaps come first.",
        "word": _word(result),
        "sentence": result.words,
        "figures": _figures(result),
        "questions": [_question(each) for each in worst[:MOST_QUESTIONS]],
        "left_out": left_out,
        "more": [*result.parts()[1 : -len(result.notes) or None], *note_sentences(result.notes)],
    }
    return html.render("searches.html.jinja", "Searches", values, scripted=False, styles=["now.css"])


def _word(result: SearchScores) -> str:
    covered = sum(each.union_recall == 1 for each in result.per_question)
    return f"{covered:,} of {len(result.per_question):,} covered"


def _figures(result: SearchScores) -> list[dict[str, str]]:
    searches = sum(each.searches for each in result.per_question)
    wasted = sum(each.wasted for each in result.per_question)
    share, middle = result.reached("searches_to_cover")
    figures = [
        {"name": "evidence covered", "value": number(_covered(result)), "more": "mean over questions"},
        {"name": "searches that added", "value": f"{searches - wasted:,} of {searches:,}", "more": _wasted(result)},
        {"name": "all found", "value": f"{share:.0%} of questions", "more": f"median {middle:g} searches"},
    ]
    tokens = [each.tokens for each in result.per_question if each.tokens is not None]
    if len(tokens) == len(result.per_question):
        per_1000 = result.recall_per_1000_tokens or 0.0
        more = f"tokens of results; recall {per_1000:.3f} for 1,000"
        figures.append({"name": "tokens a question", "value": f"{sum(tokens) / len(tokens):,.0f}", "more": more})
    return figures


def _covered(result: SearchScores) -> float:
    """The mean share of what is expected that all searches of a question found."""
    return sum(each.union_recall for each in result.per_question) / len(result.per_question)


def _wasted(result: SearchScores) -> str:
    counts = {kind: sum(each.kinds.count(kind) for each in result.per_question) for kind in KINDS if kind != "useful"}
    return ", ".join(f"{size:,} {kind}" for kind, size in counts.items() if size)


def _question(each: QuestionSearches) -> dict[str, Any]:
    covered = 0
    if each.found:
        covered = each.found[-1]
    never = [thing.name for thing in each.evidence if thing.search is None]
    words = f"{count(each.searches, 'search')} found {covered} of {each.wanted}"
    if each.wasted:
        words += f"; {each.wasted} added nothing"
    if never:
        words += f"; never found: {ids.samples(never)}"
    title = each.query
    if each.about.text:
        title = f"{each.query}: {each.about.text}"
    return {
        "title": title,
        "words": f"{words}.",
        "steps": [_step(each, i, search) for i, search in enumerate(each.trajectory)],
        "evidence": [_evidence(each, thing) for thing in each.evidence],
    }


def _step(each: QuestionSearches, i: int, search: Search) -> dict[str, Any]:
    kind = each.kinds[i]
    words = f"{count(len(search.retrieved), 'result')}."
    style = "won"
    if kind != "useful":
        style = "lost"
        words += f" Wasted ({kind}): {KINDS[kind]}."

    pieces = []
    for thing in each.evidence:
        if thing.search == i + 1:
            pieces.append({"text": thing.name, "style": ""})
        elif thing.ids.intersection(search.retrieved):
            pieces.append({"text": thing.name, "style": "again"})
    return {
        "style": style,
        "query": search.query or f"search {i + 1}",
        "words": words,
        "pieces": pieces,
        "covered": f"{each.found[i]} of {each.wanted} covered",
        "share": f"{100 * each.found[i] / each.wanted:.1f}",
        "cost": _cost(search),
    }


def _cost(search: Search) -> str:
    costs = []
    if search.tokens is not None:
        costs.append(f"{search.tokens:,.0f} tokens")
    if search.latency is not None:
        costs.append(f"{1000 * search.latency:,.0f} ms")
    return ", ".join(costs)


def _evidence(each: QuestionSearches, thing: WantedThing) -> dict[str, Any]:
    marks = []
    for search_number, search in enumerate(each.trajectory, 1):
        if search_number == thing.search:
            marks.append("●")
        elif thing.ids.intersection(search.retrieved):
            marks.append("○")
        else:
            marks.append("·")
    style = ""
    if thing.search is None:
        style = "never"
    return {"name": thing.name, "style": style, "marks": marks}
