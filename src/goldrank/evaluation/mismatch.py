"""Why can a run not be scored? Errors for ids that do not match, and for several runs in one file."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, MismatchError
from goldrank.data.blocks import BlockSource
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine.counts import RunCounts

_TESTS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("they differ in upper and lower case", str.casefold),
    ("they differ in leading zeros", lambda text: re.sub(r"(?<!\d)0+(?=\d)", "", text)),
    ("they differ in Unicode normal form (NFC, NFD)", lambda text: unicodedata.normalize("NFC", text)),
    ("they differ in white space or quotes around them", lambda text: text.strip(" \t'\"")),
)
_DECIMALS = (
    "One side has decimals (12.0 for 12), which pandas writes for integers where some are missing. Write that file "
    "anew, with integers: frame.astype({'column': 'Int64'}).to_csv(...)."
)
_ADDED_AT_LEAST = 2
"""Fewest ids that must have the same addition: one id may begin another by chance."""
PIECES = 8
"""Pieces of a file that are read to see whether it holds several runs."""
_SEPARATORS = ("#", "::", ":", "@", "|", "/", "_", "-", ".")
"""Separators between a document and the number of its chunk."""
_PART = re.compile(r"[A-Za-z]{0,10}[ _-]?[0-9]+(?:[-:_.][0-9]+)*")
"""The number of a chunk, a turn, a passage: 3, p3, chunk-3, 0-512."""


def explain_mismatch(qrels: Qrels, run: str, placements: Placements, counts: RunCounts) -> None:
    """Raise if no query, or no document of any query, is on both sides."""
    if len(placements.query):
        return
    if not placements.answered.any():
        if counts.lines == 0 and not counts.unjudged_queries:
            hint = "Did the system return anything?"
            raise MismatchError("the run is empty", where=run, hint=hint, code="empty-input")
        raise _error("query", run, counts.unjudged_examples, list(placements.queries), code="no-judged-query")
    if placements.retrieved.any() and len(placements.judged):
        index = int(np.flatnonzero(placements.retrieved)[0])
        judged = list(qrels[placements.queries[index]]) or [doc for docs in qrels.text.values() for doc in docs]
        raise _error("document", run, counts.example_docs, judged, code="no-judged-document")


def explain_id_mismatch(name: str, retrieved: list[str], expected: list[str]) -> None:
    """Raise: no retrieved id of any question is expected."""
    raise _error("document", name, retrieved, expected, code="no-judged-document")


def explain_repeats(error: InputError, run: Run) -> InputError:
    """The error for a document that a ranking has twice; if its file holds several runs, the hint says so."""
    if error.code == "duplicate-document" and isinstance(run.source, BlockSource):
        tags = _first_tags(run.source)
        if len(tags) > 1:
            error.hint = (
                f"The file holds several runs, with the tags {ids.samples(tags)}: read_runs(source) reads them."
            )
    return error


def _first_tags(source: BlockSource) -> Sequence[str]:
    """The tags of the first pieces of a file; nothing where it cannot be read."""
    tags: dict[bytes, None] = {}
    try:
        for piece in islice(source.pieces(), PIECES):
            in_piece = piece().tags
            if in_piece is not None:
                tags.update(dict.fromkeys(in_piece.names(in_piece.starts()[:-1])))
            if len(tags) > 1:
                break
    except InputError:
        return ()
    return ids.decode_all(tags)


def _error(noun: str, run: str, run_ids: list[str], judged_ids: list[str], *, code: str) -> MismatchError:
    return MismatchError(
        f"no {noun} id of the run is judged. Run: {ids.samples(run_ids)}; judged: {ids.samples(judged_ids)}",
        where=run,
        hint=_hint(noun, run_ids, judged_ids),
        code=code,
    )


def _hint(noun: str, run_ids: list[str], judged_ids: list[str]) -> str:
    anyway = "overlap='allow' scores it as it is: nothing is found."
    spelling = next((text for text, fold in _TESTS if _equal_if_folded(run_ids, judged_ids, fold)), None)
    if _differ_in_decimals(run_ids, judged_ids):
        return _DECIMALS
    if spelling is not None:
        return f"It seems that {spelling}. Write them alike on both sides. {anyway}"

    if noun == "document":
        separator = _separator(run_ids, judged_ids)
        if separator is not None:
            return f"The run names chunks of judged documents: run.rolled_up('{separator}') scores the documents."
        separator = _separator(judged_ids, run_ids)
        if separator is not None:
            return f"Chunks are judged, and the run has documents: qrels.rolled_up('{separator}') judges the documents."

    addition = _addition(run_ids, judged_ids)
    if addition is not None:
        return f"It seems that {addition}. Write them alike on both sides. {anyway}"
    return f"Are these the judgements for this collection? {anyway}"


def _equal_if_folded(run_ids: Iterable[str], judged_ids: Iterable[str], fold: Callable[[str], str]) -> bool:
    folded = {fold(judged_id) for judged_id in judged_ids}
    return any(fold(run_id) in folded for run_id in run_ids)


def _differ_in_decimals(run_ids: list[str], judged_ids: list[str]) -> bool:
    """Whether all ids of one side are integers, and all of the other integers with `.0` behind."""
    forms = [re.compile(r"[0-9]+"), re.compile(r"[0-9]+\.0")]
    for one_form, other_form in (forms, forms[::-1]):
        if all(map(one_form.fullmatch, run_ids)) and all(map(other_form.fullmatch, judged_ids)):
            return True
    return False


def _separator(parts: Iterable[str], documents: Iterable[str]) -> str | None:
    """The separator between documents and the numbers of their parts, if some ids are parts of others."""
    known = set(documents)
    for separator in _SEPARATORS:
        for part in parts:
            document, _, number = part.rpartition(separator)
            if document in known and _PART.fullmatch(number):
                return separator
    return None


def _addition(run_ids: list[str], judged_ids: list[str]) -> str | None:
    """What the ids of one side have before or behind the ids of the other, if most have it."""
    for side, long_ids, short_ids in (("run", run_ids, judged_ids), ("judgements", judged_ids[:1000], run_ids)):
        if all(map(str.isdigit, long_ids)):
            continue  # one number ends another by chance

        additions = Counter(addition for long in long_ids for addition in set(_additions(long, short_ids)))
        if not additions:
            continue
        (place, extra), count = additions.most_common(1)[0]
        is_shared = _is_shared(place, extra, long_ids)
        if is_shared and count >= min(_ADDED_AT_LEAST, len(long_ids), len(short_ids)):
            return f"ids of the {side} have '{ids.show(extra)}' {place} in addition"

    return None


def _additions(long: str, short_ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What an id has before or behind each of the shorter ids that it contains."""
    for short in short_ids:
        if short and short != long and long.endswith(short):
            yield "before", long[: -len(short)]
        if short and short != long and long.startswith(short):
            yield "behind", long[len(short) :]


def _is_shared(place: str, extra: str, long_ids: list[str]) -> bool:
    """Whether most ids of a side begin or end with an addition."""
    if place == "before":
        having = sum(long.startswith(extra) for long in long_ids)
    else:
        having = sum(long.endswith(extra) for long in long_ids)
    return 2 * having > len(long_ids)
