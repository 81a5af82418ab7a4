"""Several runs by name: `Runs`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, did_you_mean
from goldrank.base.frozen import Frozen
from goldrank.base.notes import Note
from goldrank.data.run import Run, TaggedRuns
from goldrank.data.scores import names_of_runs, numbered

if TYPE_CHECKING:
    from goldrank.base.types import DocumentOf, RunLike, RunsLike, SeenLike

HINT = 'Give {"bm25": run, "dense": other}, a list of paths or runs, or a list of (name, run).'


class Runs(Frozen):
    """Several runs by name. It is not a subclass of Mapping, so that no type checker takes it for one run.

    Parameters
    ----------
    runs : mapping or iterable
        Runs by name, a list of paths or of `Run`s, or a list of (name, run). A name that such pairs give several times
        is one system that was run several times: its runs are called "dense#1", "dense#2" and so on.
    **named : run
        More runs, by name.

    Raises
    ------
    InputError
        If an entry cannot be a run.

    Examples
    --------
    >>> runs = Runs(bm25={"q1": ["a", "b"]}, dense={"q1": ["b", "a"]})
    >>> runs.names, runs["dense"].ranking("q1")
    (('bm25', 'dense'), ['b', 'a'])
    """

    tagged: TaggedRuns | None
    """The file that holds all of them, distinguished by tag; then there are no entries."""

    def __init__(self, runs: RunsLike | TaggedRuns = (), /, **named: RunLike) -> None:
        self._keep(tagged=None)
        self._opened: dict[str, Run] = {}
        if isinstance(runs, TaggedRuns):
            self._keep(tagged=runs)
            self._sources: dict[str, Any] = {}
            self._systems: dict[str, tuple[str, ...]] = {}
            return

        pairs = [*_pairs(runs), *named.items()]
        names = [name for name, _ in pairs]
        for name in names:
            ids.check_text(name, "name of a run")

        self._sources = dict(zip(numbered(names), (source for _, source in pairs), strict=True))
        self._systems = names_of_runs(names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs. Tags of runs in one file are found by reading the file."""
        if self.tagged is not None:
            return self.tagged.tags
        return tuple(self._sources)

    @property
    def systems(self) -> Mapping[str, tuple[str, ...]]:
        """For each system the names of its runs: one, unless it was run several times."""
        if self.tagged is not None:
            return {name: (name,) for name in self.names}
        return self._systems

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the readers tolerated."""
        if self.tagged is not None:
            return self.tagged.notes
        return tuple(dict.fromkeys(note for run in self._opened.values() for note in run.notes))

    def __getitem__(self, name: str) -> Run:
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _open(self, name: str) -> Run:
        if name not in self.names:
            problem = f"{name!r}; there are: {', '.join(self.names)}."
            hint = did_you_mean(str(name), self.names)
            if hint:
                problem += f" {hint}"
            raise KeyError(problem)
        if self.tagged is not None:
            return self.tagged.run(name)
        from goldrank.io import as_run

        return as_run(self._sources[name], name=name).renamed(name)

    def items(self) -> ItemsView[str, Run]:
        """Names and runs; each is opened now."""
        return {name: self[name] for name in self.names}.items()

    def only(self, *names: str) -> Runs:
        """Some of these runs.

        Parameters
        ----------
        *names : str
            Their names.

        Returns
        -------
        Runs
        """
        return Runs([(name, self[name]) for name in names])

    def rolled_up(self, doc_of: DocumentOf) -> Runs:
        """Every run with documents instead of their parts (`Run.rolled_up`).

        Parameters
        ----------
        doc_of : str, pattern, mapping, path or function
            How to find the document from the id of a part.

        Returns
        -------
        Runs
        """
        return Runs([(name, run.rolled_up(doc_of)) for name, run in self.items()])

    def without(self, seen: SeenLike) -> Runs:
        """These runs without the items that users had before.

        Parameters
        ----------
        seen : mapping, file or rows
            By user what they had, as `Run.without` takes it.

        Returns
        -------
        Runs
            New runs of the same names.
        """
        return Runs([(name, run.without(seen)) for name, run in self.items()])

    def renamed(self, names: Mapping[str, str]) -> Runs:
        """These runs with some of them renamed.

        Parameters
        ----------
        names : mapping
            New names by old ones.

        Returns
        -------
        Runs
        """
        for name in names:
            if name not in self.names:
                raise KeyError(f"{name!r}; there are: {', '.join(self.names)}")
        return Runs([(names.get(name, name), run) for name, run in self.items()])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]  # runs may be large

    def __repr__(self) -> str:
        if self.tagged is not None:
            return f"Runs({self.tagged.name!r}, by tag)"
        return f"Runs({', '.join(map(repr, self._sources))})"


def _pairs(source: Any) -> list[tuple[str, Any]]:
    """Names of runs, each with its run or the source of its run."""
    if isinstance(source, Runs):
        return [(system, source[run]) for system, runs in source.systems.items() for run in runs]
    if isinstance(source, Run):
        raise InputError("is one run, not several", where=source.name, hint="Give a list: [run, other].")
    if isinstance(source, str | os.PathLike):
        hint = "Give a list of paths, or read_runs(path, by='file') for a pattern."
        raise InputError("is one path, not several runs", where=os.fspath(source), hint=hint, code="one-path")
    if isinstance(source, Mapping):
        pairs = [(str(name), run) for name, run in source.items()]
        for name, run in pairs:
            _check_entry(name, run)
        return pairs
    if not isinstance(source, Iterable):
        raise InputError(f"{type(source).__name__} cannot be read as several runs", hint=HINT, code="unreadable-object")

    entries = list(source)
    if all(isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) for entry in entries):
        return entries
    if all(isinstance(entry, Run | str | os.PathLike) for entry in entries):
        return list(zip(_distinct_names(entries), entries, strict=True))

    wrong = next(entry for entry in entries if not isinstance(entry, Run | str | os.PathLike))
    problem = f"an entry is {wrong!r:.60}, neither a path nor a Run"
    raise InputError(problem, where="runs", hint=HINT, code="unreadable-object")


def _check_entry(name: str, entry: object) -> None:
    """Refuse a list of runs, or the results of one query, as a run."""
    first: object = None
    if isinstance(entry, list | tuple):
        first = next(iter(entry), None)
    elif isinstance(entry, Mapping) and not isinstance(entry, Run):
        first = next(iter(entry.values()), None)
    where = f"runs: '{ids.show(name)}'"

    if isinstance(entry, Mapping):
        if isinstance(first, int | float | np.number):
            hint = f"These are the results of a query, and their mapping is one run. {HINT}"
            raise InputError(f"is {entry!r:.60}, not a run", where=where, hint=hint, code="one-run")
    elif isinstance(first, Run | str | os.PathLike) or _is_mapping_of_rankings(first):
        hint = f"Runs of one system are pairs: [({name!r:.40}, run), ({name!r:.40}, other)]."
        if isinstance(first, str):
            hint += f" If these are the results of a query, their mapping is one run. {HINT}"
        raise InputError("is a list, not a run", where=where, hint=hint, code="list-of-runs")


def _is_mapping_of_rankings(value: object) -> bool:
    """Whether a value is a run and not a row of a run: the values of a row are not mappings or lists."""
    if not isinstance(value, Mapping):
        return False
    return isinstance(next(iter(value.values()), None), Mapping | list | tuple)


def _distinct_names(entries: list[Any]) -> list[str]:
    """Names of runs and files: a run's name, or a file's stem with as much of its path as distinguishes it."""
    paths = [_path_of(entry) for entry in entries]
    stems = _stems(paths)
    depth = [1] * len(entries)
    for _ in range(max((len(path.parts) for path in paths if path is not None), default=0)):
        names = list(map(_name, entries, paths, stems, depth))
        counts = Counter(names)
        clashing = [i for i, path in enumerate(paths) if counts[names[i]] > 1 and path is not None]
        if not clashing:
            break
        for i in clashing:
            depth[i] += 1

    names = list(map(_name, entries, paths, stems, depth))
    distinct = []
    for i, name in enumerate(names):
        earlier = names[:i].count(name)
        if earlier:
            name = f"{name} ({earlier + 1})"
        distinct.append(name)
    return distinct


def _path_of(entry: Any) -> PurePath | None:
    if isinstance(entry, Run):
        return None
    return PurePath(os.fspath(entry))


def _stems(paths: list[PurePath | None]) -> list[str]:
    """The stem of each file; the whole name where files of one folder differ in their endings only."""
    files = {path for path in paths if path is not None}
    alike = Counter((path.parent, stem_of(path.name)) for path in files)
    stems = []
    for path in paths:
        if path is None:
            stems.append("")
        elif alike[path.parent, stem_of(path.name)] > 1:
            stems.append(path.name)
        else:
            stems.append(stem_of(path.name))
    return stems


def _name(entry: Any, path: PurePath | None, stem: str, parts: int) -> str:
    if path is None:
        return str(entry.name)
    folders = path.parts[:-1]
    shown: tuple[str, ...] = ()
    if parts > 1:
        shown = folders[max(0, len(folders) - parts + 1) :]
    return "/".join([*shown, stem])


def stem_of(file: str) -> str:
    """The name of a file without its ending, and without the ending of its compression."""
    for ending in (".gz", ".bz2", ".xz", ".zst", ".lz4"):
        file = file.removesuffix(ending)
    stem, dot, _ = file.rpartition(".")
    if dot and stem.strip("."):
        return stem
    return file
