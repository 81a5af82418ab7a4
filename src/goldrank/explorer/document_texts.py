"""The texts of documents that a session shows, opened while its pages work."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from goldrank.base.errors import GoldrankError
from goldrank.data.documents import Document
from goldrank.io.by_id.document_files import corpus_of, indexed, read_documents
from goldrank.io.by_id.text_index import LineFile, ParquetFile


class TextSource(Protocol):
    """Something that has documents by id."""

    def get(self, doc: str) -> Document | None:
        """The document of an id; None if there is no such document."""
        ...


def open_texts(documents: Any, named_docs: Callable[[], Collection[str]]) -> TextSource:
    """Documents by id. `named_docs` gives the documents that the runs name, where a file cannot be indexed."""
    if isinstance(documents, str | os.PathLike):
        return indexed(Path(corpus_of(documents)), named_docs)
    return read_documents(documents).source


class Texts:
    """The texts of a session: opened in a thread, because a large file is indexed first; pages work meanwhile."""

    def __init__(self, documents: Any, named_docs: Callable[[], Collection[str]]) -> None:
        self._source: TextSource | None = None
        self._lock = threading.Lock()
        self.trouble = ""
        """Why there are no texts."""
        self.name = ""
        if isinstance(documents, str | os.PathLike):
            self.name = os.fspath(documents)

        self.is_given = documents is not None
        self._ready = threading.Event()
        self._cached_read = lru_cache(maxsize=4_096)(self._read)
        if documents is None:
            self._ready.set()
        elif isinstance(documents, Mapping):
            self._open(documents, named_docs)
        else:
            threading.Thread(
                target=self._open, args=(documents, named_docs), daemon=True, name="goldrank-texts"
            ).start()

    def _open(self, documents: Any, named_docs: Callable[[], Collection[str]]) -> None:
        try:
            self._source = open_texts(documents, named_docs)
        except (GoldrankError, OSError) as error:
            self.trouble = str(error)
        except Exception as error:  # if the thread died silently, pages would have no texts and no explanation
            self.trouble = f"{type(error).__name__}: {error}"
        finally:
            self._ready.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until texts are ready, at most some seconds; return whether they are."""
        return self._ready.wait(seconds)

    @property
    def state(self) -> str:
        """A sentence about the texts that a page must show; '' if there is nothing to say."""
        if not self.is_given:
            return "No texts were given; `--documents FILE` brings them."
        if not self._ready.is_set():
            return "Texts are being indexed; reload the page in a moment."
        if self.trouble:
            return self.trouble
        if self._source is not None and _is_stale(self._source):
            return f"{self.name} changed since it was indexed; texts are hidden. Start goldrank serve again."
        return ""

    def get(self, doc: str) -> Document | None:
        """The text of a document, None if it has no text or it cannot be read now."""
        if self._source is None or _is_stale(self._source):
            return None
        return self._cached_read(doc)

    def _read(self, doc: str) -> Document | None:
        assert self._source is not None
        with self._lock:
            try:
                return self._source.get(doc)
            except (GoldrankError, OSError, ValueError) as error:
                self.trouble = str(error)
                return None


def _is_stale(source: TextSource) -> bool:
    """Whether a file changed since it was indexed."""
    return isinstance(source, LineFile | ParquetFile) and source.is_stale()
