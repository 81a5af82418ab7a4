"""User Behavior Insights, the events that OpenSearch and Solr keep of searches: page views from their records.

A log has the records of `ubi_events`, of `ubi_queries`, or both, one a line, as the index holds them or as a search
returns them (below `_source`). A search has one `query_id`: its `user_query` is the query, its documents are those of
its impressions by their `position.ordinal`, else `query_response_hit_ids`, and events whose name ends in "click" are
its clicks. Interleaved lists say in `object.search_config` which team each document is from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.io.objects.field_values import value_at

_IMPRESSIONS = ("impression", "view", "item_impression", "product_impression")
_HINT = "Put the records of ubi_queries into the log too: they have user_query and query_response_hit_ids."
_TEAMS = {"a": "a", "teama": "a", "b": "b", "teamb": "b"}


def unwrapped(record: object) -> object:
    """A record as it was indexed, without what a search puts around it."""
    if isinstance(record, Mapping) and isinstance(record.get("_source"), Mapping):
        return record["_source"]
    return record


def is_ubi(record: object) -> bool:
    """Whether a record is of UBI's events or queries."""
    source = unwrapped(record)
    if not isinstance(source, Mapping) or "query_id" not in source:
        return False
    return "action_name" in source or "query_response_hit_ids" in source


@dataclass
class _Search:
    """What is known of one search so far."""

    where: str
    query: str | None = None
    user: str | None = None
    hits: list[str] = field(default_factory=list)
    shown: dict[str, float] = field(default_factory=dict)
    """Documents that were seen, with their position."""
    clicks: list[str] = field(default_factory=list)
    teams: dict[str, str] = field(default_factory=dict)

    def documents(self) -> list[str]:
        """What was shown, best first: what users saw, else what the engine returned."""
        if self.shown:
            return sorted(self.shown, key=self.shown.__getitem__)
        return self.hits


def page_views(records: Iterable[tuple[str, object]], counts: Counter[str]) -> list[dict[str, Any]]:
    """A record with `query`, `shown` and `clicks` for each search, from records with their positions.

    `counts` gets what was left out: clicks on documents that were not shown, other events, and searches of which
    nothing was shown.
    """
    searches: dict[str, _Search] = {}
    for where, record in records:
        source = unwrapped(record)
        if not isinstance(source, Mapping) or not is_ubi(record):
            raise InputError("is not a record of UBI, and those above are", where=where, hint=_HINT)
        search_id = ids.as_text(source["query_id"], "query_id", where)
        search = searches.setdefault(search_id, _Search(where))
        _add(search, source, where, counts)

    views = []
    for search_id, search in searches.items():
        view = _page_view(search_id, search, counts)
        if view is not None:
            views.append(view)
    return views


def _add(search: _Search, source: Mapping[str, Any], where: str, counts: Counter[str]) -> None:
    """Add what one record says of a search."""
    user = source.get("client_id") or source.get("session_id")
    if user is not None:
        search.user = ids.as_text(user, "client_id", where)
    if source.get("user_query"):
        search.query = ids.as_text(source["user_query"], "user_query", where)
    hits = source.get("query_response_hit_ids")
    if isinstance(hits, list):
        search.hits = [ids.as_text(doc, "document id", where) for doc in hits]
    if "action_name" not in source:
        return

    doc_value = value_at(source, "event_attributes.object.object_id")
    action = str(source["action_name"]).casefold()
    is_impression, is_click = action in _IMPRESSIONS, action.endswith("click")
    if doc_value is None or not (is_impression or is_click):
        counts["ubi-other-events"] += 1
        return

    doc = ids.as_text(doc_value, "document id", where)
    team = value_at(source, "event_attributes.object.search_config")
    if team is not None:
        search.teams[doc] = _team(team, where)
    if is_click:
        search.clicks.append(doc)
    else:
        search.shown.setdefault(doc, _ordinal(source, len(search.shown), where))


def _ordinal(source: Mapping[str, Any], following: int, where: str) -> float:
    """The position of a document in its list; the order of events where they do not say it."""
    ordinal = value_at(source, "event_attributes.position.ordinal")
    if ordinal is None:
        return following
    try:
        return float(ordinal)
    except (TypeError, ValueError):
        problem = f"position.ordinal is {ids.show(repr(ordinal), 40)}, not a number"
        raise InputError(problem, where=where, hint="It is the position of the document in its list.") from None


def _team(team: object, where: str) -> str:
    name = _TEAMS.get(str(team).casefold())
    if name is None:
        problem = f"search_config is {ids.show(repr(team), 40)}"
        raise InputError(problem, where=where, hint="Interleaved lists have teamA and teamB.")
    return name


def _page_view(search_id: str, search: _Search, counts: Counter[str]) -> dict[str, Any] | None:
    shown = search.documents()
    if not shown:
        if search.clicks:
            raise InputError("has clicks, and nothing says what was shown", where=search.where, hint=_HINT)
        counts["ubi-nothing-shown"] += 1
        return None
    if search.query is None:
        raise InputError("has no user_query", where=search.where, hint=_HINT)

    on_page = set(shown)
    clicks = [doc for doc in search.clicks if doc in on_page]
    counts["ubi-clicks-elsewhere"] += len(search.clicks) - len(clicks)
    view: dict[str, Any] = {"page": search_id, "query": search.query, "shown": shown, "clicks": clicks}
    if search.user is not None:
        view["user"] = search.user
    if search.teams:
        view["team"] = [search.teams.get(doc) for doc in shown]
    return view
