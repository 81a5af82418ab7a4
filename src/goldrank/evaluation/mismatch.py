"""Why do no ids match? The error for run and qrels that have nothing in common."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from goldrank import ids
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.engine.counts import RunCounts
from goldrank.errors import MismatchError

_TESTS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("they differ in upper and lower case", str.casefold),
    ("they differ in leading zeros", lambda text: re.sub(r"(?<!\d)0+(?=\d)", "", text)),
    ("they differ in Unicode normal form (NFC, NFD)", lambda text: unicodedata.normalize("NFC", text)),
    ("they differ in white space or quotes around them", lambda text: text.strip(" \t'\"")),
    ("one side has decimals (1.0 for 1), as pandas makes of integers", lambda text: text.removesuffix(".0")),
    ("one side names chunks (doc#3), the other whole documents", lambda text: re.split(r"[#:@|]", text)[0]),
)


def explain_mismatch(qrels: Qrels, run: str, placements: Placements, counts: RunCounts) -> None:
    """Raise if no query, or no document of any query, is on both sides."""
    if len(placements.query):
        return
    if not placements.answered.any():
        if counts.lines == 0 and not counts.unjudged_queries:
            hint = "Did the system return anything?"
            raise MismatchError("the run is empty", where=run, hint=hint, code="empty-input")
        raise _error("query", run, counts.unjudged_examples, list(placements.queries))
    if placements.retrieved.any() and len(placements.judged):
        at = next(i for i, there in enumerate(placements.retrieved) if there)
        judged = list(qrels[placements.queries[at]]) or [doc for docs in qrels.text.values() for doc in docs]
        raise _error("document", run, counts.example_docs, judged)


def explain_id_mismatch(name: str, retrieved: list[str], expected: list[str]) -> None:
    """Raise: no retrieved id of any question is expected."""
    raise _error("document", name, retrieved, expected)


def _error(what: str, run: str, ours: list[str], theirs: list[str]) -> MismatchError:
    cause = _cause(ours, theirs)
    hint = f"It seems that {cause}." if cause else "Are these the judgements for this collection?"
    return MismatchError(
        f"no {what} id of the run is judged. Run: {ids.samples(ours)}; judged: {ids.samples(theirs)}",
        where=run,
        hint=f"{hint} To score it all the same: overlap='allow'.",
        code="no-judged-query" if what == "query" else "no-judged-document",
    )


def _cause(ours: Iterable[str], theirs: list[str]) -> str | None:
    for text, fold in _TESTS:
        folded = {fold(other) for other in theirs}
        if any(fold(id_) in folded for id_ in ours):
            return text
    for our_id in ours:
        for other in theirs[:1000]:
            short, long = sorted((our_id, other), key=len)
            if long.isdigit():
                continue  # one number ends another by chance
            if short and short != long and (long.endswith(short) or long.startswith(short)):
                extra = long[: -len(short)] if long.endswith(short) else long[len(short) :]
                side = "run" if long == our_id else "judgements"
                return f"ids of the {side} have '{ids.show(extra)}' in addition"
    return None
