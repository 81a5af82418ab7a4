"""The pages as files that open from a disk: for reading, without scripts, in a folder that can be sent to others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import GoldrankError
from goldrank.base.writing import new_folder, write_whole
from goldrank.data.table import count
from goldrank.explorer.addresses import id_hash
from goldrank.explorer.app import Explorer
from goldrank.explorer.pages import SHARED, Links, asset
from goldrank.explorer.session import Session, View

MOST_QUERIES = 2_000
"""The most queries that get a page: those that lost or gained most."""
NAMES = {"/": "index.html", "/queries": "queries.html", "/notes": "notes.html"}


class FileLinks(Links):
    """Addresses of files in one folder; it collects the documents that pages link to, which get a file too."""

    def __init__(self, session: Session, view: View, written: Mapping[str, str], docs: dict[str, str]) -> None:
        super().__init__(session, view)
        self._written, self._docs = written, docs

    def __call__(self, path: str, **values: Any) -> str:
        return NAMES.get(path, "index.html")

    def query(self, query: str, **values: Any) -> str:
        return self._written.get(query, "queries.html")

    def doc(self, doc: str, query: str | None = None, **values: Any) -> str:
        return self._docs.setdefault(doc, f"doc-{id_hash(doc)[1:17]}.html")


class StaticExplorer(Explorer):
    """Pages whose links lead to files."""

    written: Mapping[str, str]
    docs: dict[str, str]

    def links(self, view: View) -> Links:
        return FileLinks(self.session, view, self.written, self.docs)


def write(session: Session, folder: str) -> str:
    """Write the pages into a folder that is new or empty; return a sentence that says what was written."""
    target = new_folder(folder)
    if os.listdir(target):
        raise GoldrankError("the folder is not empty", where=str(target), hint="Name a new one.", code="not-empty")

    session.texts.wait()
    view = session.view()
    order = session.loss_order(view)[0].tolist()
    deltas = session.deltas(view)
    most_changed = sorted(order, key=lambda i: -abs(float(deltas[i])))[:MOST_QUERIES]
    names = {session.queries[i]: f"query-{id_hash(session.queries[i])[1:17]}.html" for i in most_changed}
    explorer = StaticExplorer(session, static=True, wait=None, assets="")
    explorer.written, explorer.docs = names, {}

    def put(name: str, text: str | bytes) -> None:
        if isinstance(text, str):
            text = text.encode("utf-8", "backslashreplace")
        write_whole(target / name, text)

    put(SHARED, asset(SHARED))
    put("explorer.css", asset("explorer.css"))
    put("icon.svg", asset("icon.svg"))
    put("index.html", explorer.overview({}))
    put("queries.html", explorer.queries({"all": "1"}))
    put("notes.html", explorer.notes({}))
    for query, name in names.items():
        put(name, explorer.query({}, query))
    for doc, name in list(explorer.docs.items()):
        put(name, explorer.doc_of(doc, None, {}))

    files = f"{count(len(names), 'query')} and {count(len(explorer.docs), 'document')}"
    left = len(order) - len(names)
    if left:
        files += f"; {count(left, 'query')} without a page, those that changed least"
    return f"{ids.show(str(target / 'index.html'), 200)}: {files}."
