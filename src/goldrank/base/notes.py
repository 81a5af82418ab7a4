"""Every remark and warning about a result: a code, facts and samples; words are made from them in one place.

Merging, gating, filtering and tests go by the code. `str(note)` is what people read. A new kind of note is one
entry of `KINDS` in `note_kinds.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from goldrank.base import ids
from goldrank.base.note_kinds import KINDS, NoteKind

MOST_SAMPLES = 3
MOST_WORDS = 2_000
"""Characters of a note."""
SHOWN_WORDS = 100
"""Characters of its words in a `repr`."""


@dataclass(frozen=True, repr=False)
class Note:
    """One thing to know about a result. Make one with `Note.of`.

    >>> from goldrank.base.notes import Note
    >>> print(Note.of("repeated-documents", count=2, about="run"))
    run: 2 repeated documents were dropped
    """

    code: str
    facts: tuple[tuple[str, Any], ...] = ()
    samples: tuple[str, ...] = ()
    about: str = ""
    """Whose it is: "qrels", "run", a file, a system."""

    @classmethod
    def of(cls, code: str, *, samples: Iterable[str] = (), about: str = "", **facts: Any) -> Note:
        """A note of a declared kind. A few of the samples are kept, and one more to show that there are others."""
        return cls(code, tuple(sorted(facts.items())), tuple(islice(samples, MOST_SAMPLES + 1)), about)

    @property
    def kind(self) -> NoteKind:
        """What is declared of its code."""
        return KINDS[self.code]

    @property
    def is_warning(self) -> bool:
        """Whether it may make the numbers misleading."""
        return self.kind.warning

    @property
    def counts(self) -> dict[str, int]:
        """The facts that add up over shards."""
        return {key: value for key, value in self.facts if key in self.kind.counts}

    def fact(self, name: str) -> Any:
        """One of the facts."""
        return dict(self.facts)[name]

    def with_about(self, about: str) -> Note:
        """The same note about somebody."""
        return replace(self, about=f"{about}: {self.about}" if self.about else about)

    def __repr__(self) -> str:
        return f"Note({self.code!r}, {ids.show(str(self), SHOWN_WORDS)!r})"

    def __str__(self) -> str:
        facts = {**dict(self.facts), "samples": ids.samples(self.samples, MOST_SAMPLES)}
        if "whole" in facts:
            facts["share"] = facts["part"] / facts["whole"]
        words = self.kind.one if self.kind.one and facts.get("count") == 1 else self.kind.words
        text = words.format(**facts) if isinstance(words, str) else words(facts)
        return ids.show(f"{self.about}: {text}" if self.about else text, MOST_WORDS)

    @property
    def sentence(self) -> str:
        """The words as a sentence of their own."""
        text = str(self)
        return text[:1].upper() + text[1:] + ("" if text.endswith("...") else ".")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for saved files. `words` are there for people; reading makes them anew."""
        return {
            "code": self.code,
            "severity": "warning" if self.is_warning else "remark",
            "facts": dict(self.facts),
            "samples": list(self.samples),
            "about": self.about,
            "words": str(self),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Note:
        """The inverse of `to_dict`. Text alone, and codes of a later version, become notes of free words."""
        import json

        if isinstance(data, str):
            return cls.of("text", text=data)
        if data["code"] not in KINDS:
            return cls.of("text", text=str(data["words"]))
        facts = {key: _as_tuples(value) for key, value in data["facts"].items()}
        json.dumps(data["facts"], allow_nan=False)  # NaN and infinity could not be written again
        if not all(isinstance(text, str) for text in (data["about"], *data["samples"])):
            raise TypeError("what a note is about and its samples are texts")
        note = cls.of(data["code"], samples=data["samples"], about=data["about"], **facts)
        str(note)  # a fact that is missing or of another type is found now, not when somebody prints it
        return note


def _as_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_as_tuples, value))
    return value


def from_counts(counts: Mapping[str, int], about: str = "") -> tuple[Note, ...]:
    """Notes that say no more than how often something was, from counts by code."""
    return tuple(Note.of(code, count=count, about=about) for code, count in counts.items() if count)


def merged(
    shards: Sequence[Sequence[Note]], names: Sequence[str], totals: Mapping[str, int], limit: int = 20
) -> tuple[Note, ...]:
    """The notes of a whole from those of its shards, whose counts come to `totals`.

    Notes of one code and with the same other facts become one, their counts added and their samples joined. What
    cannot be added up is said once if all shards say it, else of the shards that do; of such notes `limit` are kept.
    """
    groups: dict[Any, list[tuple[int, Note]]] = {}
    for i, notes in enumerate(shards):
        for note in notes:
            if not note.kind.of_values:
                added = {*note.kind.counts, *dict(note.kind.whole)}
                other = tuple(fact for fact in note.facts if fact[0] not in added)
                groups.setdefault((note.code, other, note.about), []).append((i, note))
    whole: list[Note] = []
    single: list[Note] = []
    for group in groups.values():
        first = group[0][1]
        if first.counts:
            total = {key: sum(note.fact(key) for _, note in group) for key in first.counts}
            total |= {fact: totals[count] for fact, count in first.kind.whole}
            samples = dict.fromkeys(sample for _, note in group for sample in note.samples)
            facts = tuple(sorted({**dict(first.facts), **total}.items()))
            whole.append(replace(first, facts=facts, samples=tuple(samples)[: MOST_SAMPLES + 1]))
        elif len(group) == len(shards):
            whole.append(first)
        else:
            more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
            single.append(first.with_about(names[group[0][0]] + more))
    if len(single) > limit:
        single = [*single[:limit], Note.of("more-notes", count=len(single) - limit)]
    return (*whole, *single)
