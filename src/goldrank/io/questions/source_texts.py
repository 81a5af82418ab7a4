"""The searched texts: the texts of sources, and all chunks of an index."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, as_list, cannot_open
from goldrank.data.text_item import Chunk, Span
from goldrank.io.aliases import TEXT_FIELDS
from goldrank.io.files import is_file
from goldrank.io.questions import text_values
from goldrank.io.records import ItemFields, as_mapping, open_records

SOURCE_HINT = (
    'Sources are a folder of text files, or records such as {"source": "guide", "text": "..."}, or one object '
    "from ids to texts."
)
CHUNK_HINT = 'A chunk is {"id": ..., "text": ..., "source": ...}, best with "start" and "end".'
NO_TEXT = (".gz", ".zst", ".zip", ".parquet", ".pdf", ".png", ".jpg", ".docx")
"""Endings of files in a folder of sources that are not text."""


def read_sources(source: Any) -> dict[str, str]:
    """Texts by id: from a mapping, a folder of text files (by their paths in it), or a file of records.

    >>> read_sources({"guide": "It is so."})
    {'guide': 'It is so.'}
    """
    if isinstance(source, Mapping):
        return {ids.as_text(name, "source"): _text(text, f"source {name!r:.60}") for name, text in source.items()}
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        return _folder(Path(source))
    if isinstance(source, str | os.PathLike) and Path(source).suffix.lower() in (".txt", ".md"):
        return {Path(source).name: _read(Path(source))}

    texts: dict[str, str] = {}
    for where, record in _records(source, "sources"):
        for name, text in _source_texts(record, where):
            if name in texts:
                raise InputError(f"source '{ids.show(name)}' is given twice", where=where)
            texts[name] = text
    if not texts:
        raise InputError("there are no sources", where=_name(source), hint=SOURCE_HINT)
    return texts


def _source_texts(record: Mapping[str, Any], where: str) -> list[tuple[str, str]]:
    """The sources of a record, which is one source, or an object from ids to texts."""
    has_text = bool({"text", "content", "page_content"} & record.keys())
    if not has_text and all(isinstance(text, str) for text in record.values()):
        return [(str(name), str(text)) for name, text in record.items()]

    chunk = _chunk(record, where, "")
    name = chunk.source
    if name is None:
        name = chunk.id
    if not name:
        raise InputError("has a text and no id", where=where, hint=SOURCE_HINT)
    return [(name, chunk.text)]


def read_chunks(index: Any) -> list[Chunk]:
    """All texts of an index: from a file or a list of records, or by source as texts or pairs of start and end.

    >>> read_chunks([{"id": "c1", "text": "It is so.", "source": "guide", "start": 4}])[0].span
    Span(source='guide', start=4, end=13)
    """
    chunks: list[Chunk] = []
    if isinstance(index, Mapping):
        for source, parts in index.items():
            entries = as_list(parts, f"chunks of source {source!r:.80}")
            chunks += [_part(part, str(source), i) for i, part in enumerate(entries, 1)]
        return chunks

    if not is_file(index) and isinstance(index, Iterable):
        index = list(index)
        if all(isinstance(chunk, Chunk) for chunk in index):
            chunks = index
        elif all(isinstance(row, tuple | list) and len(row) == 3 for row in index):
            chunks = [Chunk(str(i), "", str(row[0]), Span(str(row[0]), *row[1:])) for i, row in enumerate(index, 1)]
    if not chunks:
        records = enumerate(_records(index, "chunks"), 1)
        chunks = [_chunk(record, where, str(i)) for i, (where, record) in records]
    if not chunks:
        raise InputError("there are no chunks", where=_name(index), hint=CHUNK_HINT)

    counts = Counter(chunk.id for chunk in chunks)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise InputError(f"chunks have the same id: {ids.samples(repeated)}", where=_name(index))
    return chunks


def _part(part: Any, source: str, number: int) -> Chunk:
    name = f"{source}#{number}"
    if isinstance(part, str):
        return Chunk(name, part, source)
    if not isinstance(part, list | tuple) or len(part) != 2:
        raise InputError("a chunk is a text, or a start and an end", where=f"source '{ids.show(source)}', {number}")
    return Chunk(name, "", source, Span(source, *part))


def _chunk(record: Mapping[str, Any], where: str, number: str) -> Chunk:
    content = text_values.retrieved_text(record, where)
    if content.text is None:
        raise InputError("has no text", where=where, hint=CHUNK_HINT)
    return Chunk(content.id or number, content.text, content.source, content.span)


def _records(source: Any, name: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    records = open_records(source, ItemFields({"query": None}), name=name)
    for number, record in records.rows(Counter()):
        where = records.position(number)
        fields = as_mapping(record, where)
        if records.cells:
            fields = {key: _number(key, cell) for key, cell in fields.items()}
        yield where, fields


def _number(key: str, cell: Any) -> Any:
    """A cell of a text table; positions become integers."""
    is_position = key in TEXT_FIELDS["start"] or key in TEXT_FIELDS["end"]
    if is_position and isinstance(cell, str) and cell.strip().isdecimal():
        return int(cell)
    return cell


def _folder(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith((".", "_"))]
    files = [path for path in files if path.suffix.lower() not in NO_TEXT]
    if not files:
        raise InputError("is a folder without texts", where=str(folder), hint=SOURCE_HINT)
    return {path.relative_to(folder).as_posix(): _read(path) for path in files}


def _read(path: Path) -> str:
    try:
        # Line ends stay as they are, because positions count characters.
        with path.open(encoding="utf-8", newline="") as file:
            return file.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 at byte {error.start:,}", where=str(path), hint="Save it as UTF-8, or move it elsewhere."
        ) from None
    except OSError as error:
        raise cannot_open(error, str(path)) from None


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"is {text_values.shown(value)}, not a text", where=where, hint=SOURCE_HINT)
    return value


def _name(source: Any) -> str | None:
    if isinstance(source, str | os.PathLike):
        return os.fsdecode(source)
    return None
