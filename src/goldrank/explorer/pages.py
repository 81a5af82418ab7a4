"""Templates, and the parts of every page: navigation, the choice of measure and systems, addresses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from goldrank import __version__
from goldrank.base import ids
from goldrank.base.packages import needed
from goldrank.data import table
from goldrank.explorer.addresses import address, spelled
from goldrank.explorer.page_numbers import value, way
from goldrank.explorer.session import Session, View
from goldrank.report.templates import without_line_breaks

with needed("jinja2"):
    import jinja2
    import markupsafe

ASSETS = ("goldrank.css", "explorer.css", "explorer.js", "judge.js", "parts.js", "confirm.js")
SHARED = "goldrank.css"
"""The style sheet of all pages and of reports."""
NAV = {"/": "Overview", "/queries": "Queries", "/judge": "Judge", "/history": "History", "/notes": "Notes"}


@cache
def asset(name: str) -> bytes:
    """A file that pages load."""
    package = "goldrank.explorer"
    if name == SHARED:
        package = "goldrank.report"
    return (resources.files(package) / "assets" / name).read_bytes()


@cache
def assets_hash() -> str:
    """A hash that changes whenever one of the files does."""
    return hashlib.sha256(b"\0".join(asset(name) for name in ASSETS)).hexdigest()[:16]


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files("goldrank.explorer") / "assets"
    templates = {}
    for file in folder.iterdir():
        if file.name.endswith(".jinja"):
            templates[file.name] = without_line_breaks(file.read_text("utf-8"))

    environment = jinja2.Environment(
        loader=jinja2.DictLoader(templates),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    filters: dict[str, Callable[..., Any]] = {
        "id": lambda text: ids.show(text, 80),
        "long_id": lambda text: ids.show(text, 500),
        "value": value,
        "parts": lambda parts: markupsafe.Markup(table.html(parts)),  # noqa: S704 - escaped there
    }
    environment.filters |= filters
    environment.globals |= {"way": way, "version": __version__}

    return environment


class Links:
    """Addresses of pages, which keep the measure and the systems of the view."""

    def __init__(self, session: Session | None = None, view: View | None = None) -> None:
        self.view_params: dict[str, str | None] = {}
        if session is None or view is None:
            return

        self.view_params = {"m": None, "a": None, "b": None}
        usual = session.view()
        if view.name != usual.name:
            self.view_params["m"] = view.name
        if view.a is not usual.a:
            self.view_params["a"] = spelled(view.a.name)
        if view.b is not None and view.b is not usual.b:
            self.view_params["b"] = spelled(view.b.name)

    spell = staticmethod(spelled)

    def __call__(self, path: str, **values: Any) -> str:
        """The address of a page."""
        return address(path, {**self.view_params, **values})

    def query(self, query: str, **values: Any) -> str:
        """The page of a query."""
        return self("/query", id=spelled(query), **values)

    def doc(self, doc: str, query: str | None = None, **values: Any) -> str:
        """The page of a document."""
        query_id = None
        if query is not None:
            query_id = spelled(query)
        return self("/doc", id=spelled(doc), query=query_id, **values)


def base_values() -> dict[str, Any]:
    """The values of the base template on a page without a view."""
    return {
        "link": Links(),
        "nav": [],
        "here": "",
        "path": "",
        "kept": [],
        "view_kept": [],
        "chooser": None,
        "said": "",
        "assets": f"/assets/{assets_hash()}/",
        "static": False,
        "write_secret": "",
        "data_hash": "",
        "seq": 0,
        "made": 0,
        "other_data": "",
        "measure": "",
        "a_name": "",
        "b_name": "",
        "can_judge": False,
        "grades": [],
        "footer": "",
    }


def render(template: str, values: Mapping[str, Any]) -> str:
    """A page, or a part of one."""
    text = _environment().get_template(template).render(values)
    if "##" in text:
        text = text.replace("##", "#&#35;")  # build servers act on `##[`, wherever a log shows a page
    # Half of a surrogate pair cannot be encoded; texts of users were escaped before.
    return text.encode("utf-8", "backslashreplace").decode()
