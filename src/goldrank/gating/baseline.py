"""What a run is held against: a `Baseline`, frozen and hashed, which only an explicit command changes."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

from goldrank import ids
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Scores, format_value
from goldrank.errors import BaselineError, cannot_open, file_name, of_type
from goldrank.gating.documents import KeptDocuments
from goldrank.writing import write_whole

BaselineLike: TypeAlias = "Baseline | Scores | str | int | Path"
"""A `Baseline`, `Scores`, a file, or the name or number of one in a history."""

FORMAT = "goldrank-baseline"
VERSION = 2
READABLE = (1, 2)
"""Version 1 kept no documents."""
_SET = "goldrank baseline set"


@dataclass(frozen=True)
class Basis:
    """What scores rest on: two runs can be compared if theirs is the same."""

    qrels: str
    """SHA-256 of the judgements, '' if unknown."""
    criteria: str
    convention: str
    depth: int | None
    queries: tuple[str, ...]
    judgements: Mapping[str, str] | None = None
    """By query, a short hash of its judgements."""
    version: str = ""
    """The goldrank that measured."""

    @classmethod
    def of(cls, scores: Scores, judgements: Mapping[str, str] | None = None) -> Basis:
        """The basis that the scores' own provenance tells."""
        known = scores.provenance
        qrels = known.get("qrels") or {}
        return cls(
            str(qrels.get("sha256") or ""),
            str(qrels.get("criteria") or ""),
            scores.convention,
            known.get("depth"),
            scores.queries,
            judgements,
            str(known.get("goldrank") or ""),
        )

    def other_judgements(self, now: Basis) -> list[str]:
        """How the judgements of `now` differ from these, in words; nothing if they do not."""
        differences = []
        if self.criteria != now.criteria:
            differences.append(f"the criteria were {_quoted(self.criteria)} and are {_quoted(now.criteria)}")
        if self.qrels == now.qrels:
            return differences
        before, after = self._judged(), now._judged()
        for text, these, others in (("added", after, before), ("removed", before, after)):
            names = [query for query in these if query not in others]
            if names:
                differences.append(f"{_count(names)} {text}: {ids.samples(names)}")
        if self.judgements is not None and now.judgements is not None:
            changed = [q for q, judged in self.judgements.items() if now.judgements.get(q, judged) != judged]
            if changed:
                differences.append(f"other judgements for {_count(changed)}: {ids.samples(changed)}")
        elif not differences:
            differences.append("the same queries, judged otherwise")
        return [*differences, f"hash {self.qrels[:12] or 'unknown'} before, {now.qrels[:12] or 'unknown'} now"]

    def _judged(self) -> Mapping[str, object]:
        return self.judgements if self.judgements is not None else dict.fromkeys(self.queries)

    def other_rules(self, now: Basis) -> list[str]:
        """How the way of measuring differs, in words."""
        differences = []
        if self.convention != now.convention:
            then, present = self.convention or "unknown", now.convention or "unknown"
            differences.append(f"the convention was {then} and is {present}")
        if self.depth != now.depth:
            differences.append(f"rankings were cut at {self.depth or 'no depth'} and are at {now.depth or 'no depth'}")
        return differences


def judgement_hashes(qrels: object) -> dict[str, str] | None:
    """By query, a short hash of its judgements; None for judgements that are more than a grade per document."""
    if not isinstance(qrels, Qrels):
        return None
    import hashlib

    hashes = {}
    for query, docs in qrels.raw.items():
        lines = b"".join(b"%b\x00%r\n" % (doc, grade) for doc, grade in sorted(docs.items()))
        hashes[ids.decode(query)] = hashlib.sha256(lines).hexdigest()[:8]
    return hashes


@dataclass(frozen=True)
class Baseline:
    """Scores with which later runs are compared."""

    scores: Scores
    name: str
    """The file, or the name in a history."""
    digest: str = ""
    """SHA-256 of all of it; '' for scores in memory."""
    frozen: str = ""
    """When it was set."""
    label: str = ""
    judgements: Mapping[str, str] | None = field(default=None, repr=False)
    documents: KeptDocuments | None = field(default=None, repr=False)
    """What was returned, as far as it is kept; None for old files and records of a history."""

    @property
    def basis(self) -> Basis:
        """What the scores rest on."""
        return Basis.of(self.scores, self.judgements)

    @property
    def words(self) -> str:
        """The baseline for people: its name, label and hash."""
        label = f" ({ids.show(self.label)})" if self.label and self.label != self.name else ""
        return f"{ids.show(self.name, 200)}{label}" + (f", sha256 {self.digest[:12]}" if self.digest else "")

    @classmethod
    def freeze(cls, scores: Scores, path: str | Path, *, label: str = "", qrels: object = None) -> Baseline:
        """Write scores to a baseline file, whole or not at all, and read it back.

        Fresh scores of documents bring the first documents of each query with them.
        """
        kept = None if scores.placed is None else KeptDocuments.of(scores.placed, scores.measures)
        content: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "frozen": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "label": label,
            "judgements": judgement_hashes(qrels),
            "documents": None if kept is None else kept.to_dict(),
            "scores": json.loads(scores.to_json()),
        }
        content["sha256"] = content_hash(content)
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
        write_whole(path, f"{{\n{lines}\n}}\n".encode("ascii"), make_folder=True)
        return cls.load(path)

    @classmethod
    def load(cls, path: str | Path) -> Baseline:
        """Read a baseline file, and refuse one whose content is not what was written."""
        where, made_by = file_name(path, "a baseline"), f"A baseline is made by `{_SET}`."
        try:
            data = json.loads(Path(path).read_bytes(), object_pairs_hook=_without_repeats)
        except OSError as error:
            raise cannot_open(error, where, BaselineError, made_by) from None
        except (ValueError, RecursionError) as error:
            raise BaselineError(f"is not a baseline: {error}", where=where, code="not-a-baseline") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise BaselineError("is not a baseline of goldrank", where=where, hint=made_by, code="not-a-baseline")
        if data.get("version") not in READABLE:
            raise BaselineError(
                f"was written in version {data.get('version')!r} of the format; this goldrank reads up to {VERSION}",
                where=where,
                hint="Use the goldrank that wrote it, or a newer one.",
                code="newer-version",
            )
        digest = content_hash(data)
        if data.get("sha256") != digest:
            raise BaselineError(
                "was changed after it was written: its hash does not fit its content",
                where=where,
                hint=f"A baseline is not edited. Restore the file, or remove it and use `{_SET}`.",
                code="changed",
            )
        scores = Scores.from_dict(data.get("scores"), where)
        documents = data.get("documents")
        kept = None if documents is None else KeptDocuments.from_dict(documents, where)
        frozen, label = str(data.get("frozen")), str(data.get("label"))
        return cls(scores, where, digest, frozen, label, data.get("judgements"), kept)

    @classmethod
    def of(cls, given: BaselineLike, db: str | Path | None = None) -> Baseline:
        """A baseline from a file, `Scores`, or the name or number that it has in a history."""
        if isinstance(given, Baseline):
            return given
        if isinstance(given, Scores):
            return cls(given, given.run)
        wanted = "saved scores, a file, or a name or number in a history"
        name = str(of_type(given, (str, Integral, os.PathLike), "the baseline", wanted))
        if isinstance(given, os.PathLike) or name.endswith(".json") or os.sep in name or os.path.isfile(name):
            return cls.load(name)
        if db is None:
            raise BaselineError(
                f"there is no file {ids.show(name)!r}",
                hint="Name a baseline's file, or the history that has a baseline of that name: --db history.db.",
            )
        from goldrank.history.store import History

        with History.open(db, read_only=True) as history:
            is_number = name.isdigit() and name not in history.baselines()
            record = history.get(int(name)) if is_number else history.baseline(name)
            return cls(history.scores(record), name, record.digest, record.time.isoformat(), record.label)


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything in a baseline but the hash itself, whatever its layout."""
    import hashlib

    hashed = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def changes(old: Baseline | None, new: Scores, judgements: Mapping[str, str] | None = None) -> list[str]:
    """What setting a baseline anew changes, in words."""
    if old is None:
        shown = [f"{name} {format_value(column.summary, column.average)}" for name, column in new.columns.items()]
        return [f"new, {len(new.queries):,} queries", *shown]
    lines = []
    before, after = old.scores.columns, new.columns
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            lines.append(f"{name}: not measured any more")
        elif name not in before:
            lines.append(f"{name}: new, {format_value(after[name].summary, after[name].average)}")
        else:
            kind = after[name].average
            then, now = (format_value(column.summary, kind) for column in (before[name], after[name]))
            change = after[name].summary - before[name].summary
            size = f"{change:+,.0f}" if kind == "sum" else f"{change:+.4f}"
            lines.append(f"{name}: {then} -> {now} ({size})" if change else f"{name}: {now}, as before")
    basis = Basis.of(new, judgements)
    old_queries, new_queries = set(old.scores.queries), set(new.queries)
    if old_queries != new_queries:
        lines.append(f"queries added: {len(new_queries - old_queries):,}")
        lines.append(f"queries removed: {len(old_queries - new_queries):,}")
    lines += [f"judgements: {text}" for text in old.basis.other_judgements(basis)]
    return lines + old.basis.other_rules(basis)


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key is duplicated")
    return table


def _count(names: Sequence[str]) -> str:
    return f"{len(names):,} quer{'y' if len(names) == 1 else 'ies'}"


def _quoted(text: str) -> str:
    return f"'{ids.show(text)}'" if text else "not stated"
