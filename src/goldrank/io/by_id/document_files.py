"""`Documents` from files, folders of BEIR, data frames, functions and data sets."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError
from goldrank.base.keywords import named_arguments
from goldrank.base.types import Columns, DocumentsLike
from goldrank.data.documents import Document, Documents, document_of
from goldrank.io.by_id.plain_records import AllFields, NamedColumns, id_of, in_folder, is_records, records_of
from goldrank.io.by_id.text_index import LineFile, ParquetFile, document_of_columns, plain_copy
from goldrank.io.sources import open_source

ID_FIELDS = ("doc", "doc_id", "docid", "docno", "document", "_id", "id", "pid")
"""Names of the field with the id of a document; the first that a record has counts."""
FILES_OF_BEIR = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst", "corpus.parquet")


@named_arguments
def read_documents(source: DocumentsLike, *, format: str | None = None, columns: Columns | None = None) -> Documents:
    """Open texts and titles of documents. A file is read when a document is first needed.

    Parameters
    ----------
    source : Documents, path, open binary file, data frame, mapping or function
        A file of JSON Lines, Parquet, CSV or TSV with an id in each record; lines of id, tab and text; the folder of a
        BEIR data set; a mapping from ids to texts or to records; a function of an id that returns its text or None; or
        a data set of ir_datasets.
    format : str, optional
        The format of a file, if its content does not show it.
    columns : mapping, optional
        The names of fields by their role, for example {"doc": "sku", "title": "name", "text": "description"}.

    Returns
    -------
    Documents

    Raises
    ------
    InputError
        If the source cannot be read.

    Examples
    --------
    >>> read_documents({"d1": "Rinse it."})["d1"].text
    'Rinse it.'
    """
    if isinstance(source, Documents):
        if columns is not None or format is not None:
            raise OptionError("these documents were opened before", hint="Pass format= and columns= to their reader.")
        return source

    named = NamedColumns(columns, ("doc", "text", "title"))
    if isinstance(source, Mapping):
        return Documents(dict(source))
    if hasattr(source, "docs_store"):  # a data set of ir_datasets
        return Documents(_Store(source))
    if callable(source) and not hasattr(source, "columns"):
        return Documents(_Function(source))

    path = corpus_of(source)
    if not is_records(path):
        hint = "Give a path, a dict from ids to texts, a list of dicts, a data frame or a function of an id."
        problem = f"{type(source).__name__} cannot be read as documents"
        raise InputError(problem, hint=hint, code="unreadable-object")

    name = "documents"
    if isinstance(path, str | os.PathLike):
        name = os.fspath(path)
    return Documents(_Records(path, named, format, name), name=name)


def corpus_of(source: Any) -> Any:
    """The file with the documents of a BEIR folder; any other source unchanged."""
    return in_folder(source, FILES_OF_BEIR, "corpus")


class _Function:
    """Documents from a function of an id."""

    name = "documents"

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function

    def get(self, doc: str) -> Document | None:
        value = self._function(doc)
        if value is None:
            return None
        return document_of(value, f"document '{ids.show(doc)}'")

    def some(self, wanted: Collection[str]) -> dict[str, Document]:
        known = {doc: self.get(doc) for doc in wanted}
        return {doc: document for doc, document in known.items() if document is not None}

    def ids(self) -> Iterator[str]:
        hint = "Ask for single documents: documents['d1']."
        raise InputError("documents behind a function cannot be listed", hint=hint, code="cannot-list")


class _Store:
    """The documents of a data set with the interface of ir_datasets."""

    name = "documents"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._store = dataset.docs_store()

    def get(self, doc: str) -> Document | None:
        try:
            stored = self._store.get(doc)
        except KeyError:
            return None
        texts = {name: value for name, value in stored._asdict().items() if isinstance(value, str)}
        document = document_of(texts, f"document '{ids.show(doc)}'")
        if not document.text and hasattr(stored, "default_text"):
            return Document(str(stored.default_text()), document.title)
        return document

    def some(self, wanted: Collection[str]) -> dict[str, Document]:
        known = {doc: self.get(doc) for doc in wanted}
        return {doc: document for doc, document in known.items() if document is not None}

    def ids(self) -> Iterator[str]:
        return (record.doc_id for record in self._dataset.docs_iter())


class _Records:
    """Documents in a file, a data frame or a list of records."""

    def __init__(self, source: Any, named: NamedColumns, format: str | None, name: str) -> None:
        self.name = name
        if isinstance(source, Iterator):
            source = list(source)
        self._source = source
        self._named = named
        self._format = format
        self._indexed: LineFile | ParquetFile | dict[str, Document] | None = None

    def get(self, doc: str) -> Document | None:
        if self._indexed is None:
            self._indexed = self._index()
        return self._indexed.get(doc)

    def _index(self) -> LineFile | ParquetFile | dict[str, Document]:
        """An index of a file, so that its texts stay on the disk; texts of other sources are held in memory."""
        path = self._source
        if not isinstance(path, str | os.PathLike) or self._named.columns or self._format is not None:
            return dict(self._all())
        return indexed(Path(path), None)

    def some(self, wanted: Collection[str]) -> dict[str, Document]:
        doc_ids = set(wanted)
        return {doc: document for doc, document in self._all() if doc in doc_ids}

    def ids(self) -> Iterator[str]:
        return (doc for doc, _ in self._all())

    def _all(self) -> Iterator[tuple[str, Document]]:
        if isinstance(self._source, str | os.PathLike) and _is_plain_lines(self._source, self._named):
            yield from _of_lines(self._source)
            return

        for where, record in records_of(self._source, AllFields(ID_FIELDS), self.name, self._format):
            fields = self._named.renamed(record, where)
            _, doc = id_of(fields, ID_FIELDS, where, "document")
            yield doc, document_of(fields, where)


def _is_plain_lines(path: Any, named: NamedColumns) -> bool:
    """Whether lines are an id and a text, or an id, a title and a text, with tabs between them and no header."""
    if named.columns:
        return False
    source = open_source(path)
    if source.head.lstrip()[:1] in (b"{", b"[", b"") or source.head.startswith((b"PAR1", b"ARROW1")):
        return False
    first_line = source.head.lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    cells = {cell.strip().strip('"').casefold() for cell in first_line.split("\t")}
    return "\t" in first_line and not cells & set(ID_FIELDS)


def _of_lines(path: Any) -> Iterator[tuple[str, Document]]:
    for _, line in open_source(path).filled_lines():
        doc, *columns = ids.decode(line.rstrip(b"\r")).split("\t", 2)
        yield doc, document_of_columns(columns)


def indexed(path: Path, needed_docs: Callable[[], Collection[str]] | None) -> LineFile | ParquetFile:
    """The documents of a file by an index, which is cached for later runs.

    `needed_docs` returns the ids of the documents that matter; of a compressed file only these are unpacked.
    """
    source = open_source(path)
    doc_ids = None
    if needed_docs is not None:
        doc_ids = needed_docs()

    if source.head.startswith(b"PAR1"):
        if source.compression is not None:
            problem = f"is Parquet that was compressed once more ({source.compression.name})"
            raise InputError(problem, where=source.name, hint="Unpack it first: Parquet is compressed inside.")
        return ParquetFile(path, doc_ids)

    if source.compression is not None:
        source = plain_copy(source, doc_ids)
    return LineFile(source, doc_ids)
