"""Texts and attributes of queries: `Queries`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, did_you_mean, of_type
from goldrank.base.frozen import Frozen

ROLES = ("text", "cluster", "weight", "stratum")
"""Fields that goldrank itself reads; all others are attributes."""
TEXT_FIELDS = ("text", "title", "question")
"""Names of the field of the text; the first that a record has counts."""


class Query(NamedTuple):
    """One query: its text, how it counts, and its other attributes."""

    text: str = ""
    cluster: str | None = None
    """Queries of one cluster belong together: paraphrases, or the queries of one user."""
    weight: float = 1.0
    """How much it counts, for example its traffic."""
    stratum: str | None = None
    """The group from which it was drawn for people to judge."""
    attributes: Mapping[str, Any] = MappingProxyType({})


class Queries(Frozen, Mapping[str, Query]):
    """Texts and attributes of queries by their ids.

    Parameters
    ----------
    queries : mapping
        For each query id its text, or a mapping of fields. The fields "text" (or "title", "question"), "cluster",
        "weight" and "stratum" have a special meaning; all others are attributes.
    name : str
        Their name in messages.

    Raises
    ------
    InputError
        If a query is neither a text nor a mapping, or its weight is not a number.

    Examples
    --------
    >>> queries = Queries({"q1": {"text": "why?", "kind": "short"}, "q2": {"text": "how long is it?", "kind": "long"}})
    >>> queries["q1"].text, queries.attributes
    ('why?', ('kind',))
    >>> queries.with_column("weight", {"q1": 3, "q2": 1})["q1"].weight
    3.0
    """

    name: str
    fields: Mapping[str, dict[str, Any]]
    """The values of each query, by role or attribute."""

    def __init__(self, queries: Mapping[Any, str] | Mapping[Any, Mapping[str, Any]], *, name: str = "queries") -> None:
        of_type(queries, Mapping, name, "a mapping from query ids to texts or fields")
        fields: dict[str, dict[str, Any]] = {}
        for key, value in queries.items():
            query = ids.as_text(key, "query id", name)
            fields[query] = _fields_of(value, f"{name}: query '{ids.show(query)}'")
        self._keep(name=name, fields=fields)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of all attributes, in the order of their first query."""
        names = dict.fromkeys(name for fields in self.fields.values() for name in fields)
        return tuple(name for name in names if name not in ROLES)

    def has(self, name: str) -> bool:
        """Whether any query has a value of a role or attribute.

        Parameters
        ----------
        name : str
            A role such as "text" or "cluster", or the name of an attribute.

        Returns
        -------
        bool
        """
        return any(name in fields for fields in self.fields.values())

    def column(self, name: str) -> Mapping[str, Any]:
        """The values of a role or an attribute, by query.

        Parameters
        ----------
        name : str
            "text", "cluster", "weight", "stratum" or the name of an attribute.

        Returns
        -------
        mapping
            Only the queries that have a value.

        Raises
        ------
        OptionError
            If no query has such a field.
        """
        values = {query: fields[name] for query, fields in self.fields.items() if name in fields}
        if not values:
            raise self._no_column(name)
        return MappingProxyType(values)

    def with_column(self, name: str, values: Mapping[Any, Any]) -> Queries:
        """A copy with one more role or attribute; new queries are added.

        Parameters
        ----------
        name : str
            The role or attribute.
        values : mapping
            Its value by query id.

        Returns
        -------
        Queries
        """
        of_type(values, Mapping, f"the column {name!r}", "a mapping from query ids to values")
        fields = {query: dict(known) for query, known in self.fields.items()}
        for known in fields.values():
            known.pop(name, None)
        for key, value in values.items():
            fields.setdefault(ids.as_text(key, "query id", self.name), {})[name] = value
        return Queries(fields, name=self.name)

    def _no_column(self, name: str) -> OptionError:
        known = [role for role in ROLES if self.has(role)] + list(self.attributes)
        listed = ", ".join(map(ids.show, known)) or "none"
        problem = f"no query has a field {ids.show(str(name))!r}; there are: {listed}"
        return OptionError(problem, hint=did_you_mean(str(name), known), code="unknown-column")

    def __getitem__(self, query: str) -> Query:
        fields = self.fields[query]
        known = {role: fields[role] for role in ROLES if role in fields}
        attributes = {name: value for name, value in fields.items() if name not in ROLES}
        return Query(**known, attributes=MappingProxyType(attributes))

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"Queries({self.name!r})"


def is_missing(value: object) -> bool:
    """Whether a value means that there is none: None, NaN of data frames, or pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)


def _fields_of(record: Any, where: str) -> dict[str, Any]:
    """The fields of a query without missing values, with text and weight of the right types."""
    if isinstance(record, Query):
        record = {**record._asdict(), **record.attributes}
        del record["attributes"]
    if isinstance(record, str):
        return {"text": record}
    if not isinstance(record, Mapping):
        hint = 'For example {"q1": "some words"} or {"q1": {"text": "some words", "kind": "short"}}.'
        raise InputError(f"is {record!r:.80}, neither a text nor fields", where=where, hint=hint, code="wrong-type")

    fields = {str(name): value for name, value in record.items() if not is_missing(value)}
    text = next((fields.pop(name) for name in TEXT_FIELDS if name in fields), None)
    if text is not None:
        fields["text"] = str(text)
    for role in ("cluster", "stratum"):
        if role in fields:
            fields[role] = str(fields[role])
    if "weight" in fields:
        fields["weight"] = _weight(fields["weight"], where)
    return fields


def _weight(value: Any, where: str) -> float:
    try:
        if isinstance(value, bool):
            weight = math.nan
        else:
            weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if math.isfinite(weight) and weight >= 0:
        return weight
    hint = "Give every query a weight, 0 to leave it out."
    raise InputError(f"its weight is {value!r:.80}; it must be a number, 0 or more", where=where, hint=hint)
