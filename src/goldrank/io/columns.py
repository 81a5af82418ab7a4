"""The roles of the columns of a table: named by a user, else found by the names that tools use (`aliases`)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, did_you_mean
from goldrank.base.escaping import shown
from goldrank.base.notes import Note
from goldrank.data.grades import MAX_GRADE
from goldrank.data.run import column_choice
from goldrank.io import aliases
from goldrank.io.objects.field_values import absent
from goldrank.io.text.number_text import NUMBER

OF_RUN = ("query", "doc", "score", "rank", "distance", "tag", "retrieved_ids")
OF_QRELS = ("query", "doc", "grade", "reference_ids")
ROLES = tuple(dict.fromkeys((*OF_RUN, *OF_QRELS)))
"""Roles for which a user can name a column; `run.query` and `qrels.query` name it for one side only."""
EVERY_PAIR = "1"
"""Instead of a column for the grade: each pair has the grade 1."""
SAMPLED_ROWS = 1000
"""Rows whose values show what a column holds."""
_NO_GRADES = ("query", "doc", "judged_by", "tag")
_ID = re.compile(r"(^|[^a-z])(id|ids|index|uuid)$", re.IGNORECASE)
_VERDICTS = {
    *("true", "false", "yes", "no", "y", "n", "t", "f", "relevant", "irrelevant", "nonrelevant"),
    *("not relevant", "non relevant", "partially relevant", "highly relevant"),
}
_EXAMPLE = 'columns={"query": "qid", "doc": "docno"} (--map query=qid,doc=docno)'


@dataclass(frozen=True)
class FoundColumns:
    """The columns of a table, by role."""

    columns: dict[str, str]
    candidates: dict[str, tuple[str, ...]]
    """For ids, all columns that could hold them; the first is the one in `columns`."""

    @property
    def is_open(self) -> bool:
        """Whether several columns could hold the ids, so that their values must decide."""
        return any(len(names) > 1 for names in self.candidates.values())

    def notes(self) -> tuple[Note, ...]:
        """Notes on choices among several columns."""
        return tuple(column_choice(role, names[0], names) for role, names in self.candidates.items() if len(names) > 1)


class Columns:
    """Columns that a user named, for runs and for qrels.

    `query` and `doc` are for both; a name that one side does not have may be in the other. `check_used` is called
    when all sides were read.
    """

    needs_grades = True

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise OptionError(f"columns is {shown(columns, 60)}, not a dict", hint=f"For example {_EXAMPLE}.")
        self._names = dict(columns or {})
        self._used: set[str] = set()
        if not self._names:
            return

        known = [*ROLES]
        known += [f"run.{role}" for role in OF_RUN]
        known += [f"qrels.{role}" for role in OF_QRELS]
        for role, name in self._names.items():
            if role not in known:
                raise _unknown_role(role, known)
            if not isinstance(name, str) or not name:
                raise OptionError(f"the column for {role} is {shown(name)}", hint="It is the name of a column.")

    @classmethod
    def of(cls, columns: Columns | Mapping[str, str] | None) -> Columns:
        """`Columns` from the argument of a caller."""
        if isinstance(columns, Columns):
            return columns
        return cls(columns)

    def __bool__(self) -> bool:
        return bool(self._names)

    def named(self, role: str, thing: str) -> str | None:
        """The column that the user named for a role of a run or of qrels."""
        of_side = self._names.get(f"{thing}.{role}")
        if of_side is None:
            return self._names.get(role)
        return of_side

    def take(self, role: str, thing: str, present: Collection[str], where: str) -> str | None:
        """The column that the user named, if this table has it."""
        name = self.named(role, thing)
        if name is None:
            return None
        if name in present:
            self.mark_used(role, thing)
            return name
        role_of_side = f"{thing}.{role}"
        if role_of_side in self._names:
            raise self.missing(name, role_of_side, present, where)
        return None

    def mark_used(self, role: str, thing: str) -> None:
        """Note that a table has the user's column for a role."""
        role_of_side = f"{thing}.{role}"
        if role_of_side in self._names:
            role = role_of_side
        self._used.add(role)

    def find_all(self, present: Collection[str], roles: Iterable[str], thing: str, where: str) -> FoundColumns:
        """Columns for all `roles`; an error lists the columns if one is missing."""
        columns: dict[str, str] = {}
        candidates: dict[str, tuple[str, ...]] = {}
        for role in roles:
            named = self.take(role, thing, present, where)
            if named is not None:
                names: tuple[str, ...] = (named,)
            else:
                names = aliases.all_present(present, aliases.COLUMNS[role])
            if not names:
                users_name = self.named(role, thing)
                if users_name is not None:
                    raise self.missing(users_name, role, present, where)
                raise no_column(role, present, where)

            columns[role] = names[0]
            if role in ("query", "doc"):
                candidates[role] = names

        return FoundColumns(columns, candidates)

    def find_qrels(self, present: Collection[str], where: str) -> FoundColumns:
        """The columns of qrels; without a grade if all pairs are relevant."""
        if self.all_relevant() and EVERY_PAIR not in present:
            return self.find_all(present, ("query", "doc"), "qrels", where)
        has_grade = self.named("grade", "qrels") is not None or aliases.find(present, "grade") is not None
        is_run = aliases.ordered_by(present) != "score"
        roles: tuple[str, ...] = ("query", "doc")
        if has_grade or is_run:
            roles = ("query", "doc", "grade")
        return self.find_all(present, roles, "qrels", where)

    def all_relevant(self) -> bool:
        """Whether the user declared every pair relevant, instead of naming a column for the grade."""
        if self.named("grade", "qrels") != EVERY_PAIR:
            return False
        self.mark_used("grade", "qrels")
        return True

    def for_pairs(self) -> Columns:
        """A copy for pairs whose grades do not matter."""
        columns = copy(self)
        columns.needs_grades = False
        return columns

    def refuse_likely_grades(self, rows: Iterable[Mapping[str, Any]], where: str) -> None:
        """Raise if a table without a known column for the grade has a column that may hold it: the user must decide."""
        if not self.needs_grades or self.all_relevant():
            return

        samples = list(islice(rows, SAMPLED_ROWS))
        present = list(dict.fromkeys(name for row in samples for name in row if isinstance(name, str)))
        other_roles = {self.named("query", "qrels"), self.named("doc", "qrels")}
        for role in _NO_GRADES:
            other_roles.update(aliases.all_present(present, aliases.COLUMNS[role]))

        for name in present:
            if name in other_roles or _ID.search(name):
                continue
            values = [row.get(name) for row in samples if not absent(row.get(name))]
            if values and all(map(_may_be_grade, values)):
                raise _likely_grade(name, present, where)

    def ordered_by(self, present: Collection[str], where: str) -> str:
        """The role that orders the documents of a run: one that the user named, else scores, ranks or distances."""
        for role in aliases.ORDERED_BY:
            if self.take(role, "run", present, where) is not None:
                return role
        return aliases.ordered_by(present)

    def missing(self, name: str, role: str, present: Collection[str], where: str) -> InputError:
        """The error for a column that the user named and that the table does not have."""
        problem = f"has no column '{ids.show(name)}' for the {role}; columns are: {_listed(present)}"
        hint = did_you_mean(name, map(str, present))
        if hint is None and "." not in role:
            hint = f"If only one of the files has it, name that side: --map qrels.{role}=... or run.{role}=..."
        return InputError(problem, where=where, hint=hint, code="no-column")

    def check_used(self) -> None:
        """Raise if no table has a column that the user named: it is mistyped, or the files are not tables."""
        unused = [role for role in self._names if role not in self._used]
        if unused:
            pair = f"{unused[0]}={ids.show(self._names[unused[0]])}"
            hint = "Is the name right, and does the file have named columns? run.query and qrels.query name one side."
            raise OptionError(f"no table has the column of {pair}", hint=hint, code="no-column")


def _unknown_role(role: object, known: Collection[str]) -> OptionError:
    """The error for a role that does not exist; its hint knows names that tools have for a role."""
    hint = did_you_mean(str(role), known) or f"For example {_EXAMPLE}."
    for proper_role, names in chain(aliases.COLUMNS.items(), aliases.ID_LISTS.items()):
        if aliases.normal(str(role)) in names and proper_role in known:
            hint = f"Did you mean {proper_role}?"
    ids_role = {"retrieved": "retrieved_ids", "references": "reference_ids"}.get(str(role))
    if ids_role is not None:
        hint = f"Ids are {ids_role}=FIELD; `goldrank texts` measures texts, and takes {role}=FIELD."
    return OptionError(f"no role is called {shown(role)}; roles are: {', '.join(ROLES)}", hint=hint)


def _likely_grade(name: str, present: Collection[str], where: str) -> InputError:
    """The error for a column that may hold grades, in a table without a known column for them."""
    known = ", ".join(aliases.COLUMNS["grade"][:6])
    column = ids.show(name, 60)
    return InputError(
        f"no column for the grade, and '{column}' may be it; columns are: {_listed(present)}",
        where=where,
        hint=f"Say --map grade={column}, or columns={{'grade': '{column}'}}; known names are {known}. If it holds "
        f"something else and every pair is relevant, say grade={EVERY_PAIR}.",
        code="no-column",
    )


def _may_be_grade(value: Any) -> bool:
    """Whether a value may be a grade: a number within the limits of grades, a flag or a word such as 'relevant'."""
    text = str(value).strip().casefold()
    if NUMBER.fullmatch(ids.encode(text)):
        return abs(float(text)) <= MAX_GRADE
    return text.replace("-", " ").replace("_", " ") in _VERDICTS


def no_column(role: str, present: Collection[Any], where: str) -> InputError:
    """The error for a table without a column for a role."""
    known = ", ".join(aliases.COLUMNS[role][:6])
    hint = f"Say which it is: --map {role}=NAME, or columns={{'{role}': ...}}; known names are {known}."
    if role in aliases.ORDERED_BY and aliases.find(present, "grade"):
        hint = f"Are these judgements? Then say --qrels (convert) or give them first. {hint}"
    if role == "grade" and aliases.ordered_by(present) != "score":
        hint = f"Is this a run? Then it comes after the judgements. {hint}"
    return InputError(
        f"no column for the {role}; columns are: {_listed(present)}", where=where, hint=hint, code="no-column"
    )


def no_known_columns(thing: str, present: Collection[Any], where: str) -> InputError:
    """The error for a table without any known column name."""
    number = "grade"
    if thing == "run":
        number = "score"
    unknown = "the document"
    needed = ["doc", number]
    if not aliases.find(present, "query"):
        unknown = "the query and the document"
        needed = ["query", *needed]

    likely = likely_columns(present, needed)
    roles = ",".join(f"{thing}.{role}={likely.get(role, 'COLUMN')}" for role in needed)
    hint = f"Say which column is what: --map {shlex.quote(roles)}, or columns={{'query': ..., 'doc': ...}}."
    if thing == "run":
        hint += " A column with a list of ids in each cell is retrieved_ids=COLUMN."
    problem = f"has no column with a known name for {unknown}; columns are: {_listed(present)}"
    return InputError(problem, where=where, hint=hint, code="no-column")


_LIKELY_WORDS = {
    "query": ("query", "queries", "search", "term", "keyword", "keywords", "question", "topic", "user", "customer"),
    "doc": ("doc", "document", "item", "product", "sku", "url", "movie", "article", "book", "song", "track", "page"),
    "grade": ("grade", "rating", "relevance", "label", "judgement", "judgment", "stars"),
    "score": ("score", "similarity", "prediction", "points"),
}
"""Words in the names of columns that people make up."""


def likely_columns(present: Collection[Any], roles: Iterable[str]) -> dict[str, str]:
    """The column that a word in its name makes likely, for each role that has exactly one.

    >>> likely_columns(["Search term", "SKU", "Rating (0-3)", "Comment"], ["query", "doc", "grade"])
    {'query': 'Search term', 'doc': 'SKU', 'grade': 'Rating (0-3)'}
    """
    likely: dict[str, str] = {}
    for role in roles:
        named = [
            str(name) for name in present if set(re.findall(r"[a-z]+", str(name).lower())) & set(_LIKELY_WORDS[role])
        ]
        if len(named) == 1 and named[0] not in likely.values():
            likely[role] = named[0]
    return likely


def _listed(present: Collection[Any]) -> str:
    present = [name for name in present if name != ""]
    if not present:
        return "none"
    listed = ", ".join(ids.show(str(name), 60) for name in list(present)[:30])
    if len(present) > 30:
        return f"{listed} and {len(present) - 30} more"
    return listed
