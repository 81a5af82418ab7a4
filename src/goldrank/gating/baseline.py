"""What a run is held against: a `Baseline`, frozen and hashed, which only an explicit command changes."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Self, TypeAlias

from goldrank import __version__
from goldrank.base import ids
from goldrank.base.errors import BaselineError, cannot_open, file_name, of_type
from goldrank.base.notes import Note
from goldrank.base.types import Path
from goldrank.data.scores import Scores, format_value
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.gating.top_documents import KeptDocuments

FORMAT = "goldrank-baseline"
VERSION = 3
"""Since 3 the scores know the hashes of their judgements. Versions 1 and 2 are of before goldrank 1.0."""
_SET = "goldrank gate --update"
_MADE_BY = f"A baseline is made by `{_SET}`, or by Baseline(scores).save(path)."


@dataclass(frozen=True)
class Basis:
    """What scores rest on: two runs can be compared if theirs is the same."""

    qrels: str
    """SHA-256 of the judgements, '' if unknown."""
    criteria: str
    depth: int | None
    version: str
    """The goldrank that measured."""
    scores: Scores

    @classmethod
    def of(cls, scores: Scores) -> Basis:
        """The basis of scores. Of fresh ones the run is not asked: its hash would take reading it again."""
        placed = scores.placed
        if placed is not None:
            judgements = placed.judgements
            return cls(judgements.digest, judgements.criteria or "", placed.depth, __version__, scores)

        known = scores.provenance
        qrels = known.get("qrels") or {}
        return cls(
            qrels=str(qrels.get("sha256") or ""),
            criteria=str(qrels.get("criteria") or ""),
            depth=known.get("depth"),
            version=str(known.get("goldrank") or ""),
            scores=scores,
        )

    def other_judgements(self, now: Basis) -> list[str]:
        """How the judgements of `now` differ from these, in words; nothing if they do not."""
        differences = []
        if self.criteria != now.criteria:
            differences.append(f"the criteria were {_quoted(self.criteria)} and are {_quoted(now.criteria)}")
        if self.qrels == now.qrels:
            return differences

        then, present = self.scores.judgement_hashes, now.scores.judgement_hashes
        before = dict.fromkeys(self.scores.queries) if then is None or present is None else then
        after = dict.fromkeys(now.scores.queries) if then is None or present is None else present
        for text, these, others in (("added", after, before), ("removed", before, after)):
            names = [query for query in these if query not in others]
            if names:
                differences.append(f"{_count(names)} {text}: {ids.samples(names)}")

        if then is not None and present is not None:
            changed = [query for query, judged in then.items() if present.get(query, judged) != judged]
            if changed:
                differences.append(f"other judgements for {_count(changed)}: {ids.samples(changed)}")
        elif not differences:
            differences.append("the same queries, judged otherwise")
        return [*differences, f"hash {self.qrels[:12] or 'unknown'} before, {now.qrels[:12] or 'unknown'} now"]

    def other_rules(self, now: Basis) -> list[str]:
        """How the way of measuring differs, in words."""
        differences = []
        if self.scores.convention != now.scores.convention:
            then, present = self.scores.convention or "unknown", now.scores.convention or "unknown"
            differences.append(f"the convention was {then} and is {present}")
        if self.depth != now.depth:
            differences.append(f"rankings were cut at {self.depth or 'no depth'} and are at {now.depth or 'no depth'}")
        return differences


class Baseline(Result):
    """Scores that later ones are held against, with a hash by which a changed file is known.

    Parameters
    ----------
    scores : Scores
        The scores to freeze, just as they are. Fresh scores of documents bring the first documents of each query with
        them, so that a gate can score them again when judgements change, and say why a query lost.
    label : str
        What it is, such as a branch or a commit.

    Attributes
    ----------
    scores : Scores
    label : str
    frozen : str
        When it was made.
    digest : str
        SHA-256 of all of it.

    Examples
    --------
    >>> import tempfile
    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Baseline(scores, label="main").save(f"{folder}/main.json")
    ...     kept = Baseline.load(f"{folder}/main.json")
    >>> kept.label, kept.scores["RR"], kept == Baseline(scores, label="main")
    ('main', 0.5, True)
    """

    def __init__(self, scores: Scores, *, label: str = "") -> None:
        of_type(scores, Scores, "what a baseline is made of", "the scores of one run", "Evaluate it first.")
        of_type(label, str, "the label", "text")
        self.scores = scores
        self.label = label
        self.frozen = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.name = scores.run
        """The file, the name in a history, or that of the run."""
        self.is_kept = False
        """Whether it comes from a file or a history."""
        self.equal_runs = 0
        """How many records of a history are runs of this system, all with the same values: 2 or more, else 0."""

    @classmethod
    def of_record(cls, scores: Scores, name: str, digest: str, frozen: str, label: str) -> Self:
        """The baseline that a record of a history is."""
        baseline = cls._made(scores, name, digest, frozen, label)
        baseline.documents = None
        return baseline

    @classmethod
    def _made(cls, scores: Scores, name: str, digest: str, frozen: str, label: str) -> Self:
        baseline = cls(scores, label=label)
        baseline.name, baseline.digest, baseline.frozen, baseline.is_kept = name, digest, frozen, True
        return baseline

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all of it."""
        return content_hash(self._content)

    @cached_property
    def documents(self) -> KeptDocuments | None:
        """What was returned, as far as it is kept; None if it is not known."""
        placed = self.scores.placed
        if placed is None:
            return None
        return KeptDocuments.of(placed, self.scores.measures)

    @cached_property
    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "frozen": self.frozen,
            "label": self.label,
            "documents": None if self.documents is None else self.documents.to_dict(),
            "scores": json.loads(self.scores.to_json()),
        }

    @property
    def basis(self) -> Basis:
        """What the scores rest on."""
        return Basis.of(self.scores)

    @property
    def words(self) -> str:
        """The baseline for people: its name, label and hash."""
        label = f" ({ids.show(self.label)})" if self.label and self.label != self.name else ""
        digest = f", sha256 {self.digest[:12]}" if self.is_kept else ""
        return f"{ids.show(self.name, 200)}{label}{digest}"

    @property
    def title(self) -> str:
        """What a page of it is called."""
        return f"Baseline {self.words}"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Those of the scores."""
        return self.scores.notes

    def parts(self) -> list[Part]:
        """What it is, when it was set, and its values."""
        from goldrank.gating.baseline_report import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """The values of each query."""
        return self.scores.rows()

    def to_dict(self) -> dict[str, Any]:
        """Everything, with the hash by which a changed file is known, as plain Python values."""
        return {**self._content, "sha256": content_hash(self._content)}

    def to_json(self) -> str:
        """Everything, as JSON that `Baseline.load` reads back equal from a file."""
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.to_dict().items())
        return f"{{\n{lines}\n}}"

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or path
            A file that `save` or `goldrank gate --update` wrote.

        Returns
        -------
        Baseline

        Raises
        ------
        BaselineError
            If it cannot be read, is none, or is not what was written.
        """
        where = file_name(path, "a baseline")
        data = _read(where)
        digest = content_hash(data)
        if data.get("sha256") != digest:
            raise BaselineError(
                "was changed after it was written: its hash does not fit its content",
                where=where,
                hint=f"A baseline is not edited. Restore the file, or remove it and use `{_SET}`.",
                code="changed",
            )
        scores = Scores.from_dict(data.get("scores"), where)
        baseline = cls._made(scores, where, digest, str(data.get("frozen")), str(data.get("label")))
        documents = data.get("documents")
        baseline.documents = None if documents is None else KeptDocuments.from_dict(documents, where)
        return baseline

    def __eq__(self, other: object) -> bool:
        """Whether scores and label are equal; when they were frozen does not matter."""
        if not isinstance(other, Baseline):
            return NotImplemented
        return (self.scores, self.label) == (other.scores, other.label)

    __hash__ = None  # type: ignore[assignment]  # it holds scores

    def __repr__(self) -> str:
        return f"Baseline({self.words!r})"


BaselineLike: TypeAlias = Baseline | Scores | Path
"""A `Baseline`, `Scores`, or the file of either."""


def as_baseline(given: BaselineLike) -> Baseline:
    """A baseline from what callers give."""
    if isinstance(given, Baseline):
        return given
    if isinstance(given, Scores):
        return Baseline(given)
    wanted = "a Baseline, Scores or a file"
    of_type(given, (str, os.PathLike), "the baseline", wanted, "Of a history: History('h.db').baseline('main').")
    if _holds_scores(given):
        return Baseline(Scores.load(FilePath(given)))
    return Baseline.load(given)


def _holds_scores(path: Path) -> bool:
    """Whether a file holds saved scores."""
    try:
        with FilePath(path).open("rb") as file:
            return b'"goldrank-scores"' in file.read(100)
    except (OSError, ValueError):
        return False


def _read(where: str) -> dict[str, Any]:
    """The content of a baseline file, of a version that this goldrank reads."""
    try:
        data = json.loads(FilePath(where).read_bytes(), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise cannot_open(error, where, BaselineError, _MADE_BY) from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"is not a baseline: {error}", where=where, code="not-a-baseline") from None

    if not isinstance(data, dict) or data.get("format") != FORMAT:
        is_scores = isinstance(data, dict) and data.get("format") == "goldrank-scores"
        hint = "These are saved scores: Baseline(Scores.load(path))." if is_scores else _MADE_BY
        raise BaselineError("is not a baseline of goldrank", where=where, hint=hint, code="not-a-baseline")
    version = data.get("version")
    if version != VERSION:
        what = f"was written in version {version!r} of the format; this goldrank reads version {VERSION}"
        if version in (1, 2):
            hint = f"It is of before goldrank 1.0: set the baseline anew, with `{_SET}`."
            raise BaselineError(what, where=where, hint=hint, code="older-version")
        hint = "Use the goldrank that wrote it, or a newer one."
        raise BaselineError(what, where=where, hint=hint, code="newer-version")
    return data


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything in a baseline but the hash itself, whatever its layout."""
    import hashlib

    hashed = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def changes(old: Baseline | None, new: Scores) -> list[str]:
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

    basis = Basis.of(new)
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
    if text:
        return f"'{ids.show(text)}'"
    return "not stated"


def scores_of_file(path: str) -> Scores:
    """The scores of a baseline's file."""
    return Baseline.load(path).scores
