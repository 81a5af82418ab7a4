"""Evidence by place: items with all that is known of places, the table of spans, and one question explained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from goldrank.data.explanation import Explanation
from goldrank.data.spans import Spans
from goldrank.data.texts import TextItem
from goldrank.errors import InputError
from goldrank.io.corpus import read_chunks
from goldrank.io.files import is_file
from goldrank.io.items import Items, ReadItem
from goldrank.notes import Note


class Places(NamedTuple):
    """What is known of places beside the items."""

    items: list[TextItem]
    quotes: dict[str, Sequence[Any]]
    places: dict[str, Sequence[str | None]]
    texts: dict[str, str]


def places_of(given_items: Iterable[ReadItem], sources: Mapping[str, str] | None) -> Places:
    """What items say of places, beside sources that are given."""
    found = Places([], {}, {}, dict(sources or {}))
    for given in given_items:
        found.items.append(given.item)
        if not given.item.evidence and given.evidence is not None:
            single = isinstance(given.evidence, Mapping)
            found.quotes[given.item.query] = [given.evidence] if single else given.evidence
        if given.sources is not None:
            found.places[given.item.query] = given.sources
        found.texts.update(given.source_texts or {})
    return found


def spans_by(found: Places, chunks: Any, lengths: str, finding: Mapping[str, Any]) -> tuple[Spans, Sequence[Note]]:
    """The table that measures of spans read."""
    from goldrank.match.span_table import spans_of

    if is_file(chunks) or (isinstance(chunks, list | tuple) and any(isinstance(one, Mapping) for one in chunks)):
        chunks = read_chunks(chunks)
    places = {"quotes": found.quotes, "chunk_sources": found.places, "chunks": chunks}
    return spans_of(found.items, found.texts or None, unit=lengths, **places, **finding)


def place_explainer(
    data: Items, sources: Mapping[str, str] | None, finding: Mapping[str, Any]
) -> Callable[[str], Explanation]:
    """What explains a question by the places of its texts and its evidence."""

    def explain(query: str) -> Explanation:
        from goldrank.match.evidence import Finder, resolve
        from goldrank.match.explain_places import explain_places

        texts = places_of(data.given(), sources).texts  # a source may be told of with any question
        given = next((given for given in data.given() if given.item.query == query), None)
        if given is None:
            raise InputError(f"question {query!r} is no longer in {data.name}")
        found = places_of([given], texts)
        asked = {key: finding[key] for key in ("several", "unlocated", "similarity")}
        finder = Finder(found.texts, **asked)
        (item,) = resolve(found.items, finder, found.quotes, found.places)
        return explain_places(item, found.texts)

    return explain
