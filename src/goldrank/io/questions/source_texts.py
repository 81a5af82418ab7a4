"""What was searched: the sources' texts, and all chunks that an index holds."""

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
"""Files in a folder of sources that are no text."""


def read_sources(given: Any) -> dict[str, str]:
    """Texts by id: from a mapping, a folder of text files (by their paths in it), or a file of records.

    >>> read_sources({"guide": "It is so."})
    {'guide': 'It is so.'}
    """
    if isinstance(given, Mapping):
        return {ids.as_text(name, "source"): _text(text, f"source {name!r:.60}") for name, text in given.items()}
    if isinstance(given, str | os.PathLike) and os.path.isdir(given):
        return _folder(Path(given))
    if isinstance(given, str | os.PathLike) and Path(given).suffix.lower() in (".txt", ".md"):
        return {Path(given).name: _read(Path(given))}
    texts: dict[str, str] = {}
    for where, record in _records(given, "sources"):
        if not {"text", "content", "page_content"} & record.keys() and all(
            isinstance(text, str) for text in record.values()
        ):
            pairs = [(str(name), str(text)) for name, text in record.items()]  # one object, from ids to texts
        else:
            chunk = _chunk(record, where, "")
            if chunk.source is not None:
                name = chunk.source
            else:
                name = chunk.id
            if not name:
                raise InputError("has a text and no id", where=where, hint=SOURCE_HINT)
            pairs = [(name, chunk.text)]
        for name, text in pairs:
            if name in texts:
                raise InputError(f"source '{ids.show(name)}' is given twice", where=where)
            texts[name] = text
    if not texts:
        raise InputError("there are no sources", where=_name(given), hint=SOURCE_HINT)
    return texts


def read_chunks(given: Any) -> list[Chunk]:
    """All texts of an index: from a file of records, a list of these, or for each source its texts or their offsets.

    >>> read_chunks([{"id": "c1", "text": "It is so.", "source": "guide", "start": 4}])[0].span
    Span(source='guide', start=4, end=13)
    """
    if isinstance(given, Mapping):
        listed = {str(source): as_list(parts, f"chunks of source {source!r:.80}") for source, parts in given.items()}
        return [_part(part, source, i) for source, parts in listed.items() for i, part in enumerate(parts, 1)]
    chunks: list[Chunk] = []
    if not is_file(given) and isinstance(given, Iterable):
        given = list(given)
        if all(isinstance(chunk, Chunk) for chunk in given):
            chunks = given
        elif all(isinstance(row, tuple | list) and len(row) == 3 for row in given):
            chunks = [Chunk(str(i), "", str(row[0]), Span(str(row[0]), *row[1:])) for i, row in enumerate(given, 1)]
    chunks = chunks or [_chunk(record, where, str(i)) for i, (where, record) in enumerate(_records(given, "chunks"), 1)]
    if not chunks:
        raise InputError("there are no chunks", where=_name(given), hint=CHUNK_HINT)
    repeated = [name for name, count in Counter(chunk.id for chunk in chunks).items() if count > 1]
    if repeated:
        raise InputError(f"chunks have the same id: {ids.samples(repeated)}", where=_name(given))
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


def _records(given: Any, name: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    wanted = ItemFields({"query": None})
    records = open_records(given, wanted, name=name)
    for number, record in records.rows(Counter()):
        where = records.place(number)
        fields = as_mapping(record, where)
        yield where, {key: _number(key, cell) for key, cell in fields.items()} if records.cells else fields


def _number(key: str, cell: Any) -> Any:
    """A cell of a text table; those that say a place are whole numbers."""
    is_place = key in TEXT_FIELDS["start"] or key in TEXT_FIELDS["end"]
    if is_place and isinstance(cell, str) and cell.strip().isdecimal():
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
        # Line ends as they are: places count characters.
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


def _name(given: Any) -> str | None:
    if isinstance(given, str | os.PathLike):
        return os.fsdecode(given)
    return None
