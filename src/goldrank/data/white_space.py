"""White space in sources: splitters drop it between texts, and nothing of a source is lost there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=1)
def _signs() -> np.ndarray:
    return np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)


class WhiteSpace:
    """Where white space stands in the sources; each source is looked at when it is first asked for."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._places: dict[str, np.ndarray] = {}

    def solid(self, source: str, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How many characters other than white space stretches of a source have; all of them if it is not known.

        >>> WhiteSpace({"doc": "a b\\n c"}).solid("doc", np.array([0, 1]), np.array([6, 5])).tolist()
        [3, 1]
        """
        length: np.ndarray = end - start
        if source not in self._sources:
            return length
        if source not in self._places:
            codes = np.frombuffer(self._sources[source].encode("utf-32-le", "surrogatepass"), np.uint32)
            self._places[source] = np.flatnonzero(np.isin(codes, _signs()))
        places = self._places[source]
        solid: np.ndarray = length - (np.searchsorted(places, end) - np.searchsorted(places, start))
        return solid
