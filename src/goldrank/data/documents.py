"""Texts and titles of documents by their ids: `Documents`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from goldrank.base import ids
from goldrank.base.errors import InputError, of_type
from goldrank.base.frozen import Frozen

TITLE_FIELDS = ("title", "headline")
TEXT_FIELDS = ("text", "contents", "body", "passage", "segment")
"""Names of the fields of titles and texts; the first that a record has counts."""


class Document(NamedTuple):
    """A document as people read it."""

    text: str = ""
    title: str = ""

    @property
    def whole(self) -> str:
        """The title, and the text after it."""
        return ". ".join(part for part in (self.title, self.text) if part)

    def line(self, length: int = 300) -> str:
        """The beginning as one line of at most `length` characters."""
        return " ".join(self.whole[: 2 * length].split())[:length]


class DocumentSource(Protocol):
    """A source of documents: a file that is indexed when first needed, or a function."""

    name: str

    def get(self, doc: str) -> Document | None:
        """The document of an id; None if it is not there."""
        ...

    def some(self, wanted: Collection[str]) -> dict[str, Document]:
        """The documents of some ids that the source has, read in one pass."""
        ...

    def ids(self) -> Iterator[str]:
        """All ids; an error where they cannot be listed."""
        ...


class Documents(Frozen, Mapping[str, Document]):
    """Texts and titles of documents, by id.

    Parameters
    ----------
    documents : mapping
        For each document id its text, or a mapping with "text" and perhaps "title".
    name : str
        Their name in messages.

    Raises
    ------
    InputError
        If a document is neither a text nor a mapping.

    Examples
    --------
    >>> documents = Documents({"d1": "Rinse it.", "d2": {"title": "Stains", "text": "Use salt."}})
    >>> documents["d2"].title
    'Stains'
    """

    name: str
    source: DocumentSource

    def __init__(
        self,
        documents: Mapping[Any, str] | Mapping[Any, Mapping[str, str]] | DocumentSource,
        *,
        name: str = "documents",
    ) -> None:
        if isinstance(documents, Mapping):
            documents = _InMemory(documents, name)
        self._keep(source=documents, name=name)

    def some(self, wanted: Collection[str]) -> dict[str, Document]:
        """The documents of some ids, as far as the source has them. A file is read once, and only these are kept.

        Parameters
        ----------
        wanted : collection of str
            Document ids.

        Returns
        -------
        dict
            Documents by id, in the order of `wanted`.

        Raises
        ------
        InputError
            If the source has none of them.
        """
        known = self.source.some(wanted)
        if wanted and not known:
            problem = f"none of {len(wanted):,} documents has a text, for example {ids.samples(wanted)}"
            raise InputError(problem, where=self.name, hint="Are the ids the same?", code="no-texts")
        return {doc: known[doc] for doc in wanted if doc in known}

    def __getitem__(self, doc: str) -> Document:
        document = self.source.get(doc)
        if document is None:
            raise KeyError(doc)
        return document

    def __iter__(self) -> Iterator[str]:
        return self.source.ids()

    def __len__(self) -> int:
        return sum(1 for _ in self.source.ids())

    def __repr__(self) -> str:
        return f"Documents({self.name!r})"


class _InMemory:
    """Documents in a mapping."""

    def __init__(self, documents: Mapping[Any, Any], name: str) -> None:
        self.name = name
        self.documents: dict[str, Document] = {}
        for key, value in documents.items():
            doc = ids.as_text(key, "document id", name)
            self.documents[doc] = document_of(value, f"{name}: document {key!r:.80}")

    def get(self, doc: str) -> Document | None:
        return self.documents.get(doc)

    def some(self, wanted: Collection[str]) -> dict[str, Document]:
        return {doc: self.documents[doc] for doc in wanted if doc in self.documents}

    def ids(self) -> Iterator[str]:
        return iter(self.documents)


def document_of(record: Any, where: str) -> Document:
    """A document from its text, or from a record with title and text."""
    if isinstance(record, Document):
        return record
    if isinstance(record, str):
        return Document(record)
    of_type(record, Mapping, f"{where}: what was given", "a text, or a mapping with 'text' and 'title'")

    if not any(name in record for name in (*TITLE_FIELDS, *TEXT_FIELDS)):
        listed = ", ".join(ids.show(str(name)) for name in list(record)[:20])
        hint = f"Texts are in one of: {', '.join(TEXT_FIELDS)}; or name the field with columns={{'text': ...}}."
        raise InputError(f"has no text of a document; there are: {listed}", where=where, hint=hint, code="no-texts")

    text = _first_value(record, TEXT_FIELDS)
    title = _first_value(record, TITLE_FIELDS)
    return Document(str(text), str(title))


def _first_value(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these fields that a record has; '' if it has none of them."""
    for name in names:
        if record.get(name) is not None:
            return record[name]
    return ""
