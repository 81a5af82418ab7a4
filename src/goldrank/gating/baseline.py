"""What a run is compared with: a `Baseline`, frozen and hashed, which only an explicit command changes."""

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
from goldrank.data.scores import Column, Scores, format_value
from goldrank.data.showing import Result
from goldrank.data.table import Part, count
from goldrank.gating.top_documents import KeptDocuments

FORMAT = "goldrank-baseline"
VERSION = 3
"""Since 3 the scores know the hashes of their judgements. Versions 1 and 2 were written before goldrank 1.0."""
_SET = "goldrank gate --update"
_MADE_BY = f"A baseline is made by `{_SET}`, or by Baseline(scores).save(path)."


@dataclass(frozen=True)
class Basis:
    """What scores rest on: two runs can be compared if they rest on the same."""

    qrels: str
    """SHA-256 of the judgements, '' if unknown."""
    criteria: str
    depth: int | None
    version: str
    """The goldrank that measured."""
    scores: Scores

    @classmethod
    def of(cls, scores: Scores) -> Basis:
        """The basis of scores. The run of fresh scores is not part of it: to hash it, it would be read again."""
        placed = scores.placed
        if placed is not None:
            judgements = placed.judgements
            return cls(judgements.digest, judgements.criteria or "", placed.depth, __version__, scores)

        provenance = scores.provenance
        qrels = provenance.get("qrels") or {}
        return cls(
            qrels=str(qrels.get("sha256") or ""),
            criteria=str(qrels.get("criteria") or ""),
            depth=provenance.get("depth"),
            version=str(provenance.get("goldrank") or ""),
            scores=scores,
        )

    def other_judgements(self, later: Basis) -> list[str]:
        """How the judgements of `later` differ from these, in words; an empty list if they do not."""
        differences = []
        if self.criteria != later.criteria:
            differences.append(f"the criteria were {_quoted(self.criteria)} and are {_quoted(later.criteria)}")
        if self.qrels == later.qrels:
            return differences

        old_hashes, new_hashes = self.scores.judgement_hashes, later.scores.judgement_hashes
        if old_hashes is not None and new_hashes is not None:
            differences += _other_queries(list(old_hashes), list(new_hashes))
            changed = [query for query, digest in old_hashes.items() if new_hashes.get(query, digest) != digest]
            if changed:
                differences.append(f"other judgements for {_count(changed)}: {ids.samples(changed)}")
        else:
            differences += _other_queries(self.scores.queries, later.scores.queries)
            if not differences:
                differences.append("the same queries, judged otherwise")
        return [*differences, f"hash {self.qrels[:12] or 'unknown'} before, {later.qrels[:12] or 'unknown'} now"]

    def other_rules(self, later: Basis) -> list[str]:
        """How the way of measuring differs, in words."""
        differences = []
        if self.scores.convention != later.scores.convention:
            old_convention, new_convention = self.scores.convention or "unknown", later.scores.convention or "unknown"
            differences.append(f"the convention was {old_convention} and is {new_convention}")
        if self.depth != later.depth:
            differences.append(
                f"rankings were cut at {self.depth or 'no depth'} and are at {later.depth or 'no depth'}"
            )
        return differences


def _other_queries(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Which queries were added and which removed, in words."""
    old, new = set(before), set(after)
    words = []
    added = [query for query in after if query not in old]
    if added:
        words.append(f"{_count(added)} added: {ids.samples(added)}")
    removed = [query for query in before if query not in new]
    if removed:
        words.append(f"{_count(removed)} removed: {ids.samples(removed)}")
    return words


class Baseline(Result):
    """Scores that later ones are compared with, with a hash by which a changed file is known.

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
        """The file, the name in a history, or the run's name."""
        self.is_kept = False
        """Whether it comes from a file or a history."""
        self.equal_runs = 0
        """How many records of a history are runs of this system, all with the same values: 2 or more, else 0."""

    @classmethod
    def of_record(cls, scores: Scores, name: str, digest: str, frozen: str, label: str) -> Self:
        """The baseline of a record in a history."""
        baseline = cls._stored(scores, name, digest, frozen, label)
        baseline.documents = None
        return baseline

    @classmethod
    def _stored(cls, scores: Scores, name: str, digest: str, frozen: str, label: str) -> Self:
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
        documents = None
        if self.documents is not None:
            documents = self.documents.to_dict()
        return {
            "format": FORMAT,
            "version": VERSION,
            "frozen": self.frozen,
            "label": self.label,
            "documents": documents,
            "scores": json.loads(self.scores.to_json()),
        }

    @property
    def basis(self) -> Basis:
        """What the scores rest on."""
        return Basis.of(self.scores)

    @property
    def words(self) -> str:
        """The baseline for people: its name, label and hash."""
        words = ids.show(self.name, 200)
        if self.label and self.label != self.name:
            words += f" ({ids.show(self.label)})"
        if self.is_kept:
            words += f", sha256 {self.digest[:12]}"
        return words

    @property
    def title(self) -> str:
        """What a page of it is called."""
        return f"Baseline {self.words}"

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of the scores."""
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
            If it cannot be read, is not a baseline, or was changed after it was written.
        """
        file = file_name(path, "a baseline")
        data = _read(file)
        digest = content_hash(data)
        if data.get("sha256") != digest:
            raise BaselineError(
                "was changed after it was written: its hash does not fit its content",
                where=file,
                hint=f"A baseline is not edited. Restore the file, or remove it and use `{_SET}`.",
                code="changed",
            )
        scores = Scores.from_dict(data.get("scores"), file)
        baseline = cls._stored(scores, file, digest, str(data.get("frozen")), str(data.get("label")))

        baseline.documents = None
        if data.get("documents") is not None:
            baseline.documents = KeptDocuments.from_dict(data["documents"], file)
        return baseline

    def __eq__(self, other: object) -> bool:
        """Whether scores and label are equal; when they were frozen does not matter."""
        if not isinstance(other, Baseline):
            return NotImplemented
        return (self.scores, self.label) == (other.scores, other.label)

    __hash__ = None  # it holds scores

    def __repr__(self) -> str:
        return f"Baseline({self.words!r})"


BaselineLike: TypeAlias = Baseline | Scores | Path
"""A `Baseline`, `Scores`, or the file of either."""


def as_baseline(source: BaselineLike) -> Baseline:
    """A baseline from what callers pass."""
    if isinstance(source, Baseline):
        return source
    if isinstance(source, Scores):
        return Baseline(source)
    kinds = "a Baseline, Scores or a file"
    of_type(source, (str, os.PathLike), "the baseline", kinds, "Of a history: History('h.db').baseline('main').")
    if _holds(source, b'"goldrank-scores-by-run"'):
        raise BaselineError(
            "has the scores of several runs; a baseline is one",
            where=os.fspath(source),
            hint="Save the scores of one run: goldrank eval QRELS RUN -o baseline.json.",
            code="one-run-needed",
        )
    if _holds(source, b'"goldrank-scores"'):
        return Baseline(Scores.load(FilePath(source)))
    return Baseline.load(source)


def _holds(path: Path, form: bytes) -> bool:
    """Whether a file begins with the name of a format."""
    try:
        with FilePath(path).open("rb") as file:
            return form in file.read(100)
    except (OSError, ValueError):
        return False


def _read(file: str) -> dict[str, Any]:
    """The content of a baseline file, of a version that this goldrank reads."""
    try:
        data = json.loads(FilePath(file).read_bytes(), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise cannot_open(error, file, BaselineError, _MADE_BY) from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"is not a baseline: {error}", where=file, code="not-a-baseline") from None

    if not isinstance(data, dict) or data.get("format") != FORMAT:
        hint = _MADE_BY
        if isinstance(data, dict) and data.get("format") == "goldrank-scores":
            hint = "These are saved scores: Baseline(Scores.load(path))."
        raise BaselineError("is not a baseline of goldrank", where=file, hint=hint, code="not-a-baseline")

    version = data.get("version")
    if version != VERSION:
        message = f"was written in version {version!r} of the format; this goldrank reads version {VERSION}"
        if version in (1, 2):
            hint = f"It was written before goldrank 1.0: set the baseline anew, with `{_SET}`."
            raise BaselineError(message, where=file, hint=hint, code="older-version")
        hint = "Use the goldrank that wrote it, or a newer one."
        raise BaselineError(message, where=file, hint=hint, code="newer-version")
    return data


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything in a baseline but the hash itself, whatever its layout."""
    import hashlib

    hashed = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def changes(old: Baseline | None, new: Scores) -> list[str]:
    """What setting a baseline anew changes, in words."""
    if old is None:
        values = [f"{name} {format_value(column.summary, column.average)}" for name, column in new.columns.items()]
        return [f"new, {len(new.queries):,} queries", *values]

    lines = []
    before, after = old.scores.columns, new.columns
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            lines.append(f"{name}: not measured any more")
        elif name not in before:
            lines.append(f"{name}: new, {format_value(after[name].summary, after[name].average)}")
        else:
            lines.append(f"{name}: {_value_change(before[name], after[name])}")

    basis = Basis.of(new)
    old_queries, new_queries = set(old.scores.queries), set(new.queries)
    if old_queries != new_queries:
        lines.append(f"queries added: {len(new_queries - old_queries):,}")
        lines.append(f"queries removed: {len(old_queries - new_queries):,}")

    lines += [f"judgements: {text}" for text in old.basis.other_judgements(basis)]
    return lines + old.basis.other_rules(basis)


def _value_change(before: Column, after: Column) -> str:
    """How the value of a measure changed, in words."""
    old_value, new_value = (format_value(column.summary, after.average) for column in (before, after))
    change = after.summary - before.summary
    if not change:
        return f"{new_value}, as before"
    if after.average == "sum":
        return f"{old_value} -> {new_value} ({change:+,.0f})"
    return f"{old_value} -> {new_value} ({change:+.4f})"


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key is duplicated")
    return table


def _count(names: Sequence[str]) -> str:
    return count(len(names), "query")


def _quoted(text: str) -> str:
    if text:
        return f"'{ids.show(text)}'"
    return "not stated"


def scores_of_file(path: str) -> Scores:
    """The scores of a baseline's file."""
    return Baseline.load(path).scores
