"""What a system returned: `Run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from goldrank import ids
from goldrank.errors import InputError, Place

if TYPE_CHECKING:
    from goldrank.data.blocks import BlockSource
    from goldrank.data.spark import SparkLines


class Run(Mapping[str, Mapping[str, float]]):
    """A ranking per query: documents with scores, higher first.

    It either holds a mapping of mappings, or reads a file or frame piece by piece, or stays in Spark; the second
    kind is turned into a mapping only when it is looked into, the third never.

    >>> run = Run({"q1": {"d1": 0.7, "d2": 1.3}})
    >>> run["q1"]["d2"]
    1.3
    """

    def __init__(
        self,
        results: Mapping[Any, Mapping[Any, Any]] | None = None,
        *,
        name: str = "run",
        blocks: BlockSource | None = None,
        remote: SparkLines | None = None,
        id_kind: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        if (results is not None) + (blocks is not None) + (remote is not None) != 1:
            raise InputError("a Run is made from results, from blocks or from lines in Spark", where=name)
        if results is not None and id_kind is None:
            results, id_kind = _with_text_ids(results, name)
            if "int" in id_kind:
                notes = (*notes, "integer ids are compared as text")
        self.name = name
        self.blocks = blocks
        self.remote = remote
        self.id_kind = id_kind or "text"
        """'int', 'str' or for example 'str/int' for ids given as Python objects, 'text' for ids from files."""
        self.notes = notes
        """What was tolerated when the run was made, in words."""
        self._results = results

    @property
    def results(self) -> Mapping[str, Mapping[str, float]]:
        """The whole run as a mapping of mappings."""
        if self._results is None:
            if self.blocks is None:
                raise InputError(
                    "the run is in Spark and cannot be looked into",
                    where=self.name,
                    hint="goldrank.evaluate takes it as it is. For anything else bring it here: run.toArrow().",
                )
            import numpy as np

            found: dict[str, dict[str, float]] = {}
            for piece in self.blocks.pieces():
                block = piece()
                docs = block.docs(np.arange(len(block)))
                for query, low, high in zip(block.queries, block.start[:-1], block.start[1:], strict=True):
                    row = found.setdefault(ids.decode(query), {})
                    before = len(row)
                    pairs = zip(docs[low:high], block.score[low:high].tolist(), strict=True)
                    row.update((ids.decode(doc), score) for doc, score in pairs)
                    if len(row) < before + int(high - low):
                        raise InputError(
                            f"a document is twice in the ranking of query '{ids.show(ids.decode(query))}'",
                            where=self.name,
                            hint="A mapping holds each document once: remove the others.",
                        )
            self._results = found
        return self._results

    def renamed(self, name: str) -> Run:
        """The same run under another name."""
        return Run(
            None if self.blocks else self._results,
            name=name,
            blocks=self.blocks,
            remote=self.remote,
            id_kind=self.id_kind,
            notes=self.notes,
        )

    def ranking(self, query: str) -> list[str]:
        """The documents of a query, best first, by trec_eval's order."""
        row: Mapping[Any, Any] = self.results[query]
        return sorted(row, key=lambda doc: (row[doc], ids.encode(doc)), reverse=True)

    @cached_property
    def digest(self) -> str | None:
        """A hash of the input's bytes for a file, else of the rankings themselves; None if they are in Spark."""
        if self.remote is not None:
            return None
        if self.blocks is not None and (known := self.blocks.digest()) is not None:
            return known
        import hashlib

        digest = hashlib.sha256()
        for query in sorted(self.results, key=ids.encode):
            row = self.results[query]
            for doc in sorted(row, key=ids.encode):
                digest.update(
                    b"%b\x00%b\x00%b\n" % (ids.encode(query), ids.encode(doc), float(row[doc]).hex().encode())
                )
        return digest.hexdigest()

    def __getitem__(self, query: str) -> Mapping[str, float]:
        return self.results[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        if self.remote is not None:
            return f"<Run {self.name}, in Spark>"
        if self._results is None:
            return f"<Run {self.name}, read piece by piece>"
        return f"<Run {self.name}: {len(self._results):,} queries>"


class Runs(Mapping[str, Run]):
    """Several runs in one file or set of files, told apart by their tags.

    `goldrank.evaluate` reads the files once for all of them. A run that is taken out by its tag is a `Run` like any
    other, which reads all of the files and passes over the lines of the others.
    """

    def __init__(self, source: BlockSource, *, name: str, notes: tuple[str, ...] = ()) -> None:
        self.source = source
        self.name = name
        self.notes = notes

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the order of their first lines; found by reading everything once."""
        found: dict[bytes, None] = {}
        for piece in self.source.pieces():
            tags = piece().tags
            if tags is not None:
                found.update(dict.fromkeys(tags.names(tags.starts()[:-1])))
        return ids.decode_all(found)

    def run(self, tag: str) -> Run:
        """The run of a tag, which is not looked for yet."""
        from goldrank.data.blocks import OneTag

        return Run(blocks=OneTag(self.source, ids.encode(tag)), name=tag, id_kind="text", notes=self.notes)

    def __getitem__(self, tag: str) -> Run:
        if tag not in self.tags:
            raise KeyError(f"{tag!r}; there are: {', '.join(self.tags)}")
        return self.run(tag)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tags)

    def __len__(self) -> int:
        return len(self.tags)

    def __repr__(self) -> str:
        return f"<Runs in {self.name}, told apart by tag>"


def _with_text_ids(results: Mapping[Any, Any], name: str) -> tuple[Mapping[str, Mapping[str, Any]], str]:
    """The same results under text ids, and what the ids were."""
    query_types: set[type] = set()
    doc_types: set[type] = set()
    for query, row in results.items():
        if not isinstance(row, Mapping):
            raise InputError(
                f"results of query {query!r} are of type {type(row).__name__}, not a mapping",
                where=name,
                hint='Results look like {"d1": 0.9, "d2": 0.4}.',
            )
        query_types.add(type(query))
        # A mixture of types within one ranking is found by its first and last document.
        doc_types.update(type(doc) for doc in (*islice(row, 1), *islice(_reversed(row), 1)))
    kind = ids.kind(query_types, doc_types, name)
    if query_types <= {str} and doc_types <= {str}:
        return results, kind
    text = ids.as_text
    return {
        text(query, "query id"): {text(doc, "document id"): score for doc, score in row.items()}
        for query, row in results.items()
    }, kind


def _reversed(row: Mapping[Any, Any]) -> Iterator[Any]:
    return reversed(row) if isinstance(row, dict) else iter(row)


def check_score(value: Any, where: Place | str) -> float:
    """`value` as a score, or the error that says why it is none."""
    if type(value) is not float:
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            value = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"score {value!r:.80} is of type {type(value).__name__}"
                if not isinstance(value, int)
                else "score is too large for a double",
                where=where,
                hint="Scores are numbers.",
            ) from None
    if value != value:
        raise InputError(
            "score is NaN",
            where=where,
            hint="A document that was not scored has no place in a ranking: leave it out.",
        )
    return float(value)
