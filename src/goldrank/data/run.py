"""What a system returned: `Run`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goldrank.data import ids
from goldrank.errors import InputError

if TYPE_CHECKING:
    from goldrank.data.blocks import BlockSource


class Run(Mapping[str, Mapping[str, float]]):
    """A ranking per query: documents with scores, higher first.

    It either holds a mapping of mappings or reads a file or frame piece by piece; the second kind is
    turned into a mapping only when it is looked into.

    >>> run = Run({"q1": {"d1": 0.7, "d2": 1.3}})
    >>> run["q1"]["d2"]
    1.3
    """

    def __init__(
        self,
        results: Mapping[str, Mapping[str, float]] | None = None,
        *,
        name: str = "run",
        blocks: BlockSource | None = None,
        id_kind: str = "str",
        notes: tuple[str, ...] = (),
    ) -> None:
        if (results is None) == (blocks is None):
            raise InputError("a Run is made from results or from blocks", where=name)
        self.name = name
        self.blocks = blocks
        self.id_kind = id_kind
        """'int' or 'str' for ids given as Python objects, 'text' for ids from files."""
        self.notes = notes
        """What was tolerated when the run was made, in words."""
        self._results = results

    @property
    def results(self) -> Mapping[str, Mapping[str, float]]:
        """The whole run as a mapping of mappings."""
        if self._results is None:
            assert self.blocks is not None
            found: dict[str, dict[str, float]] = {}
            import numpy as np

            for piece in self.blocks.pieces():
                block = piece()
                docs = block.docs(np.arange(len(block)))
                for query, low, high in zip(block.queries, block.start[:-1], block.start[1:], strict=True):
                    row = found.setdefault(ids.decode(query), {})
                    pairs = zip(docs[low:high], block.score[low:high].tolist(), strict=True)
                    row.update((ids.decode(doc), score) for doc, score in pairs)
            self._results = found
        return self._results

    def renamed(self, name: str) -> Run:
        """The same run under another name."""
        return Run(
            None if self.blocks else self._results,
            name=name,
            blocks=self.blocks,
            id_kind=self.id_kind,
            notes=self.notes,
        )

    def ranking(self, query: str) -> list[str]:
        """The documents of a query, best first, by trec_eval's order."""
        row: Mapping[Any, Any] = self.results[query]
        return sorted(row, key=lambda doc: (row[doc], ids.encode(doc)), reverse=True)

    @cached_property
    def digest(self) -> str:
        """A hash of the input's bytes for a file, else of the rankings themselves."""
        if self.blocks is not None and (known := self.blocks.digest()) is not None:
            return known
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
        if self._results is None:
            return f"<Run {self.name}, read piece by piece>"
        return f"<Run {self.name}: {len(self._results):,} queries>"
