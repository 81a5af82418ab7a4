"""Texts of documents and queries by id, from wherever they are: files, folders of BEIR, mappings, ir_datasets."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from goldrank import ids
from goldrank.errors import GoldrankError, InputError
from goldrank.io.sources import open_source
from goldrank.web.text_index import LineFile, ParquetFile, Text, plain_copy, text_of

BEIR = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst", "corpus.parquet")
BEIR_QUERIES = ("queries.jsonl", "queries.jsonl.gz", "queries.tsv")


class TextSource(Protocol):
    """Something that has texts by id."""

    def get(self, doc: str) -> Text | None:
        """The text of an id; None if there is none."""
        ...

    def is_stale(self) -> bool:
        """Whether it changed since it was opened."""
        return False


class MappedTexts(TextSource):
    """Texts in a mapping: a text, or a mapping with 'title' and 'text', by id."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts

    def get(self, doc: str) -> Text | None:
        value = self._texts.get(doc)
        if value is None or isinstance(value, Text):
            return value
        return text_of(dict(value)) if isinstance(value, Mapping) else Text("", str(value))


class StoredTexts(TextSource):
    """The documents of an object shaped as a dataset of ir_datasets."""

    def __init__(self, dataset: Any) -> None:
        self._store = dataset.docs_store()

    def get(self, doc: str) -> Text | None:
        try:
            stored = self._store.get(doc)
        except KeyError:
            return None
        named = stored._asdict()
        shown = text_of({name: value for name, value in named.items() if isinstance(value, str)})
        if not shown.text and hasattr(stored, "default_text"):
            shown = Text(shown.title, str(stored.default_text()))
        return shown


def open_texts(given: Any, wanted: Callable[[], Collection[str]]) -> TextSource:
    """Texts by id. `wanted` says which documents the runs name, where a file cannot be kept as it is."""
    if isinstance(given, Mapping):
        return MappedTexts(given)
    if hasattr(given, "docs_store"):
        return StoredTexts(given)
    path = Path(given)
    if path.is_dir():
        path = next((path / name for name in BEIR if (path / name).is_file()), path)
        if path.is_dir():
            raise InputError("the folder has no corpus", where=str(path), hint=f"Looked for: {', '.join(BEIR)}.")
    source = open_source(path)
    if source.head.startswith(b"PAR1"):
        return ParquetFile(path, wanted())
    if source.compression is not None:
        source = plain_copy(source, wanted())
    return LineFile(source, wanted())


def read_queries(given: Any) -> dict[str, str]:
    """The texts of queries, all of them: there are few."""
    if isinstance(given, Mapping):
        return {ids.as_text(query, "query id"): str(text) for query, text in given.items()}
    if hasattr(given, "queries_iter"):
        return {ids.as_text(record.query_id, "query id"): _query_text(record) for record in given.queries_iter()}
    path = Path(given)
    if path.is_dir():
        path = next((path / name for name in BEIR_QUERIES if (path / name).is_file()), path / BEIR_QUERIES[0])
    source = open_source(path)
    if source.head.lstrip()[:1] in (b"{", b"["):
        from goldrank.comparison.metadata import QUERY_FIELDS, read_objects

        by_id = {}
        for row in read_objects(path):
            key = next((row[name] for name in QUERY_FIELDS if name in row), None)
            text = next((row[name] for name in ("text", "title", "question") if row.get(name)), None)
            if key is None or text is None:
                raise InputError(f"a query has no id or no text: {list(row)[:8]}", where=str(path))
            by_id[ids.as_text(key, "query id")] = str(text)
        return by_id
    texts = {}
    for number, line in source.lines():
        query, tab, text = ids.decode(line).partition("\t")
        if not tab and line.strip():
            raise InputError("a line without a tab", where=f"{path}:{number}", hint="Lines are: id, tab, text.")
        if query:
            texts[query] = text.strip()
    return texts


def _query_text(query: Any) -> str:
    """The text of a query of ir_datasets: its own choice, or the first field that has one."""
    if hasattr(query, "default_text"):
        return str(query.default_text())
    text = next((getattr(query, name) for name in ("text", "title", "query") if hasattr(query, name)), None)
    if text is None:
        raise InputError(f"a query has no text: {query!r:.80}", hint="Its fields are: query_id, text.")
    return str(text)


class Texts:
    """The texts of a session: opened in a thread, because a large file is indexed first; pages work meanwhile."""

    def __init__(self, given: Any, wanted: Callable[[], Collection[str]]) -> None:
        self._source: TextSource | None = None
        self._lock = threading.Lock()
        self.trouble = ""
        """Why there are no texts."""
        self.name = os.fspath(given) if isinstance(given, str | os.PathLike) else ""
        self.is_given = given is not None
        self._ready = threading.Event()
        self._kept = lru_cache(maxsize=4_096)(self._read)
        if given is None:
            self._ready.set()
        elif isinstance(given, Mapping):
            self._open(given, wanted)
        else:
            threading.Thread(target=self._open, args=(given, wanted), daemon=True, name="goldrank-texts").start()

    def _open(self, given: Any, wanted: Callable[[], Collection[str]]) -> None:
        try:
            self._source = open_texts(given, wanted)
        except (GoldrankError, OSError) as error:
            self.trouble = str(error)
        except Exception as error:  # a thread that dies in silence would leave pages without texts and without a word
            self.trouble = f"{type(error).__name__}: {error}"
        finally:
            self._ready.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether texts can be had, after so many seconds at most."""
        return self._ready.wait(seconds)

    @property
    def state(self) -> str:
        """What a page must say of the texts; '' if nothing."""
        if not self.is_given:
            return "No texts were given; `--docs FILE` brings them."
        if not self._ready.is_set():
            return "Texts are being indexed; reload the page in a moment."
        if self.trouble:
            return self.trouble
        if self._source is not None and self._source.is_stale():
            return f"{self.name} changed since it was indexed; texts are hidden. Start goldrank serve again."
        return ""

    def get(self, doc: str) -> Text | None:
        """The text of a document, None if there is none or it cannot be read now."""
        if self._source is None or self._source.is_stale():
            return None
        return self._kept(doc)

    def _read(self, doc: str) -> Text | None:
        assert self._source is not None
        with self._lock:
            try:
                return self._source.get(doc)
            except (GoldrankError, OSError, ValueError) as error:
                self.trouble = str(error)
                return None
