"""Groups of expected ids: every group is needed, and any alternative of a group suffices.

    [["a1", "a2"], ["b"]]                                          a1 or a2, and b
    [[["h1", "h2"], "s"], ["b"]]                                   h1 and h2 together, or s; and b
    [{"id": "a1", "group": 1}, {"id": "a2", "group": 1}, "b"]      a1 or a2, and b
    [{"any_of": ["a1", "a2"], "grade": 2}, {"all_of": ["h1", "h2"]}]

A group is covered at the rank at which the best of its alternatives is complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.grades import check_grade
from goldrank.data.text_item import Reference
from goldrank.io.aliases import ENTRY_GRADE, first_present

HINT = 'Groups look like [["a1", "a2"], ["b"]]: a1 or a2, and b.'


@dataclass(frozen=True)
class IdGroup:
    """Ids that a question needs. An alternative is one id, or several ids that are needed together."""

    alternatives: tuple[tuple[str, ...], ...]
    grade: float = 1

    def reference(self, ranks: Mapping[str, int]) -> Reference:
        """The group as a reference: each alternative becomes the id that completes it in a ranking."""
        last = [max(alternative, key=lambda doc: ranks.get(doc, len(ranks) + 1)) for alternative in self.alternatives]
        return Reference(tuple(dict.fromkeys(last)), self.grade)


def has_groups(value: Any) -> bool:
    """Whether a list of expected ids has groups in it."""
    if not isinstance(value, list | tuple):
        return False
    return any(isinstance(entry, list | tuple) or _names_group(entry) for entry in value)


def _names_group(entry: Any) -> bool:
    return isinstance(entry, Mapping) and bool({"any_of", "all_of", "group"} & entry.keys())


def id_groups(value: Sequence[Any], where: str) -> list[IdGroup]:
    """The groups of a list of expected ids; a single id is a group."""
    groups: dict[Any, IdGroup] = {}
    for i, entry in enumerate(value):
        group = _group(entry, f"{where}[{i}]")
        key: Any = ("alone", i)
        if isinstance(entry, Mapping) and entry.get("group") is not None:
            key = ("named", str(entry["group"]))
        if key in groups:
            before = groups[key]
            group = IdGroup(before.alternatives + group.alternatives, max(before.grade, group.grade))
        groups[key] = group
    return list(groups.values())


def _group(entry: Any, where: str) -> IdGroup:
    if isinstance(entry, list | tuple):
        return IdGroup(_alternatives(entry, where))
    if not isinstance(entry, Mapping):
        return IdGroup(_alternatives([entry], where))

    grade = 1.0
    name = first_present(entry, ENTRY_GRADE)
    if name is not None and entry[name] is not None:
        grade = check_grade(entry[name], where, real_grades=True)
    if "any_of" in entry:
        return IdGroup(_alternatives(entry["any_of"], f"{where}.any_of"), grade)
    if "all_of" in entry:
        return IdGroup(_alternatives([entry["all_of"]], f"{where}.all_of"), grade)
    if "id" in entry:
        return IdGroup(_alternatives([entry["id"]], f"{where}.id"), grade)
    raise InputError("has no id", where=where, hint=HINT)


def _alternatives(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"is {ids.show(repr(value), 60)}, not a list of ids", where=where, hint=HINT)
    if not value:
        raise InputError("the group is empty", where=where, hint=f"A group has at least one id. {HINT}")
    return tuple(_together(alternative, f"{where}[{i}]") for i, alternative in enumerate(value))


def _together(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, Mapping) and "all_of" in value:
        value = value["all_of"]
    if not isinstance(value, list | tuple):
        return (ids.as_text(value, "document id", where),)
    if not value:
        raise InputError("the group is empty", where=where, hint=f"A group has at least one id. {HINT}")
    return tuple(ids.as_text(doc, "document id", where) for doc in value)


def references_of(groups: Sequence[IdGroup], retrieved: Sequence[str]) -> tuple[Reference, ...]:
    """The groups as references, for a ranking of distinct ids."""
    ranks = {doc: rank for rank, doc in enumerate(retrieved, 1)}
    return tuple(group.reference(ranks) for group in groups)
