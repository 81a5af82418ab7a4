"""White space in sources: splitters drop it between texts, and that loses nothing of a source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=1)
def _space_codes() -> np.ndarray:
    return np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)


class WhiteSpace:
    """The positions of white space in sources; each source is searched when it is first needed."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._positions: dict[str, np.ndarray] = {}

    def solid(self, source: str, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How many characters of stretches of a source are not white space; all if the source is not known.

        >>> WhiteSpace({"doc": "a b\\n c"}).solid("doc", np.array([0, 1]), np.array([6, 5])).tolist()
        [3, 1]
        """
        length: np.ndarray = end - start
        if source not in self._sources:
            return length

        if source not in self._positions:
            codes = np.frombuffer(self._sources[source].encode("utf-32-le", "surrogatepass"), np.uint32)
            self._positions[source] = np.flatnonzero(np.isin(codes, _space_codes()))
        positions = self._positions[source]
        spaces = np.searchsorted(positions, end) - np.searchsorted(positions, start)
        solid: np.ndarray = length - spaces
        return solid
