"""Which column of a table is what: as a user says, else by the names that tools use (`aliases`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import islice
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
"""What a user can name a column for; `run.query` and `qrels.query` are about one side alone."""
EVERY_PAIR = "1"
"""In place of a column for the grade: each pair has the grade 1."""
LOOKED_AT = 1000
"""Rows that tell what a column holds."""
_NO_GRADES = ("query", "doc", "judged_by", "tag")
_ID = re.compile(r"(^|[^a-z])(id|ids|index|uuid)$", re.IGNORECASE)
_VERDICTS = {
    *("true", "false", "yes", "no", "y", "n", "t", "f", "relevant", "irrelevant", "nonrelevant"),
    *("not relevant", "non relevant", "partially relevant", "highly relevant"),
}
_EXAMPLE = 'columns={"query": "qid", "doc": "docno"} (--map query=qid,doc=docno)'


@dataclass(frozen=True)
class FoundColumns:
    """The columns that were found, by what they hold."""

    columns: dict[str, str]
    candidates: dict[str, tuple[str, ...]]
    """For ids, every column that could hold them; the first is the one in `columns`."""

    @property
    def is_open(self) -> bool:
        """Whether values can tell better than names which column holds the ids."""
        return any(len(names) > 1 for names in self.candidates.values())

    def notes(self) -> tuple[Note, ...]:
        """What was chosen by name where there was a choice."""
        return tuple(column_choice(role, names[0], names) for role, names in self.candidates.items() if len(names) > 1)


class Columns:
    """Columns that a user named, for runs and for qrels.

    `query` and `doc` are in both; a name that one side does not have is looked for in the other. `check_used` is
    called when all sides were read.
    """

    needs_grades = True

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise OptionError(f"columns is {shown(given, 60)}, not a dict", hint=f"For example {_EXAMPLE}.")
        self._given = dict(given or {})
        self._used: set[str] = set()
        if not self._given:
            return
        known = [*ROLES, *(f"run.{role}" for role in OF_RUN), *(f"qrels.{role}" for role in OF_QRELS)]
        for role, name in self._given.items():
            if role not in known:
                hint = did_you_mean(str(role), known) or f"For example {_EXAMPLE}."
                raise OptionError(f"columns has no role {shown(role)}; there are: {', '.join(ROLES)}", hint=hint)
            if not isinstance(name, str) or not name:
                raise OptionError(f"the column for {role} is {shown(name)}", hint="It is the name of a column.")

    @classmethod
    def of(cls, given: Columns | Mapping[str, str] | None) -> Columns:
        """What a caller gave, as `Columns`."""
        if isinstance(given, Columns):
            return given
        return cls(given)

    def __bool__(self) -> bool:
        return bool(self._given)

    def named(self, role: str, thing: str) -> str | None:
        """The column that the user named for a role of a run or of qrels."""
        own = self._given.get(f"{thing}.{role}")
        if own is None:
            return self._given.get(role)
        return own

    def take(self, role: str, thing: str, present: Collection[str], where: str) -> str | None:
        """The column that the user named, if this table has it."""
        name = self.named(role, thing)
        if name is None:
            return None
        own = f"{thing}.{role}"
        if name in present:
            self.mark_used(role, thing)
            return name
        if own in self._given:
            raise self.missing(name, own, present, where)
        return None

    def mark_used(self, role: str, thing: str) -> None:
        """The user's name for a role was of use."""
        self._used.add(f"{thing}.{role}" if f"{thing}.{role}" in self._given else role)

    def find_all(self, present: Collection[str], wanted: Iterable[str], thing: str, where: str) -> FoundColumns:
        """Columns for all of `wanted`, or the error that lists what there is."""
        columns: dict[str, str] = {}
        candidates: dict[str, tuple[str, ...]] = {}
        for role in wanted:
            named = self.take(role, thing, present, where)
            names = (named,) if named is not None else aliases.all_present(present, aliases.COLUMNS[role])
            if not names:
                given = self.named(role, thing)
                if given is not None:
                    raise self.missing(given, role, present, where)
                raise no_column(role, present, where)
            columns[role] = names[0]
            if role in ("query", "doc"):
                candidates[role] = names

        return FoundColumns(columns, candidates)

    def find_qrels(self, present: Collection[str], where: str) -> FoundColumns:
        """The columns of qrels; of pairs without a grade, which are all relevant, there is none for it."""
        if self.all_relevant() and EVERY_PAIR not in present:
            return self.find_all(present, ("query", "doc"), "qrels", where)
        has_grade = self.named("grade", "qrels") is not None or aliases.find(present, "grade") is not None
        is_run = aliases.ordered_by(present) != "score"
        return self.find_all(present, ("query", "doc", "grade")[: 3 if has_grade or is_run else 2], "qrels", where)

    def all_relevant(self) -> bool:
        """Whether the user said that every pair is relevant, in place of a column for the grade."""
        if self.named("grade", "qrels") != EVERY_PAIR:
            return False
        self.mark_used("grade", "qrels")
        return True

    def for_pairs(self) -> Columns:
        """The same for pairs whose grades do not matter."""
        same = copy(self)
        same.needs_grades = False
        return same

    def refuse_likely_grades(self, rows: Iterable[Mapping[str, Any]], where: str) -> None:
        """Raises if pairs without a known grade have a column that may hold it: none may count as relevant unasked."""
        if not self.needs_grades or self.all_relevant():
            return

        first = list(islice(rows, LOOKED_AT))
        present = list(dict.fromkeys(name for row in first for name in row if isinstance(name, str)))
        others = {name for role in _NO_GRADES for name in aliases.all_present(present, aliases.COLUMNS[role])}
        others |= {name for role in ("query", "doc") if (name := self.named(role, "qrels"))}
        for name in present:
            values = [value for row in first if not absent(value := row.get(name))]
            if name not in others and not _ID.search(name) and values and all(map(_may_be_grade, values)):
                known, shown = ", ".join(aliases.COLUMNS["grade"][:6]), ids.show(name, 60)
                what = f"no column for the grade, and '{shown}' may be it; columns are: {_listed(present)}"
                hint = (
                    f"Say --map grade={shown}, or columns={{'grade': '{shown}'}}; known names are {known}. If it holds "
                    f"something else and every pair is relevant, say grade={EVERY_PAIR}."
                )
                raise InputError(what, where=where, hint=hint, code="no-column")

    def ordered_by(self, present: Collection[str], where: str) -> str:
        """What orders the documents of a run: what the user named, else its scores or what is in their place."""
        named = (word for word in aliases.ORDERED_BY if self.take(word, "run", present, where) is not None)
        return next(named, None) or aliases.ordered_by(present)

    def missing(self, name: str, role: str, present: Collection[str], where: str) -> InputError:
        """The error for a column that the user named and that is not there."""
        what = f"has no column '{ids.show(name)}' for the {role}; columns are: {_listed(present)}"
        return InputError(what, where=where, hint=did_you_mean(name, map(str, present)), code="no-column")

    def check_used(self) -> None:
        """Raise if a name was of no use to any table: it is mistyped, or the files are no tables."""
        unused = [role for role in self._given if role not in self._used]
        if unused:
            shown = f"{unused[0]}={ids.show(self._given[unused[0]])}"
            hint = "Is the name right, and does the file have named columns? run.query and qrels.query name one side."
            raise OptionError(f"no table has the column of {shown}", hint=hint, code="no-column")


def _may_be_grade(value: Any) -> bool:
    """Whether a value says how relevant something is: a number that a grade could be, a flag or such a word."""
    text = str(value).strip().casefold()
    if NUMBER.fullmatch(ids.encode(text)):
        return abs(float(text)) <= MAX_GRADE
    return text.replace("-", " ").replace("_", " ") in _VERDICTS


def no_column(role: str, present: Collection[Any], where: str) -> InputError:
    """The error for a table without a column for something."""
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
    """The error for a table of which no name of a column is known."""
    number = "score" if thing == "run" else "grade"
    query = aliases.find(present, "query")
    unknown = ["the document"] if query else ["the query", "the document"]
    roles = ["doc=COLUMN", f"{number}=COLUMN"] if query else ["query=COLUMN", "doc=COLUMN", f"{number}=COLUMN"]

    hint = f"Say which column is what: --map {','.join(roles)}, or columns={{'query': ..., 'doc': ...}}."
    if thing == "run":
        hint += " A column with a list of ids in each cell is retrieved_ids=COLUMN."
    what = f"has no column with a known name for {' and '.join(unknown)}; columns are: {_listed(present)}"
    return InputError(what, where=where, hint=hint, code="no-column")


def _listed(present: Collection[Any]) -> str:
    shown = [ids.show(str(name), 60) for name in list(present)[:30]]
    return ", ".join(shown) + (f" and {len(present) - 30} more" if len(present) > 30 else "") or "none"
